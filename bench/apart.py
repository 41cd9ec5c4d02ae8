"""The same scenario with more episodes, made by several processes: what a whole machine does, by the wall clock."""

from __future__ import annotations

from statistics import median
from time import perf_counter
from typing import Any

from bench.pieces import seal
from bench.table import AIM_PUBLISHED, PUBLISHED, reached
from specledger.compile.scenario import compile_scenario
from specledger.load import Bundle
from specledger.run.loop import run_parallel
from specledger.run.scenario_run import EpisodeChunks
from specledger.run.workers import Processes, available


def together(bundle: Bundle, workers: int) -> tuple[float, dict[str, Any], int]:
    """Run, seal and count every event: seconds that passed, head and root, steps. The start of processes counts."""
    plan = compile_scenario(bundle)
    began = perf_counter()
    head, result = seal(plan.specs, run_parallel(plan, EpisodeChunks(bundle), Processes(workers), worth=0))
    return perf_counter() - began, head, result["steps"]


def lines(bundle: Bundle, rounds: int) -> list[str]:
    """Text of what is measured; the receipts of every round must be those of one process.

    Raises:
        RuntimeError: They are not.
    """
    workers = available()
    alone, expected, steps = together(bundle, 1)
    times = []
    for _ in range(rounds):
        passed, made, _ = together(bundle, workers)
        if made != expected:
            raise RuntimeError("several processes made other receipts than one")
        times.append(passed)
    rates = sorted(steps / passed for passed in times)
    rate = median(rates)
    return [
        f"{steps:,} steps a round, n = {rounds} rounds, the start of the processes included; the same receipts each time",
        f"{workers} processes: {rate:,.0f} steps/s ({rates[0]:,.0f} - {rates[-1]:,.0f}), {rate / PUBLISHED:.1f} x 1,675",
        f"1 process, one round: {steps / alone:,.0f} steps/s; {workers} processes are {alone * rate / steps:.2f} times as fast",
        f"at least {AIM_PUBLISHED:g} x 1,675 = {AIM_PUBLISHED * PUBLISHED:,.0f} steps/s on this machine:"
        f" {reached(rate >= AIM_PUBLISHED * PUBLISHED)}, {rate / PUBLISHED:.2f}",
    ]
