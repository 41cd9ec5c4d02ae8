"""`python -m bench [steps]`: everything side by side in one run; `--profile` shows where the engine's time goes."""

from __future__ import annotations

import argparse
import cProfile
import os
import pstats
import sys
import tempfile
from pathlib import Path
from time import perf_counter

from bench import apart, pieces, table
from bench.clock import measure
from bench.results import machine, record
from bench.task import Task, read_task
from specledger.compile.plan import Plan
from specledger.compile.scenario import compile_scenario
from specledger.kinds import load
from specledger.load import Bundle

SCENARIO = Path(__file__).resolve().parent.parent / "specs" / "scenario" / "hazard.yaml"


def main() -> int:
    """Measure and print; 1 if the two loops did not do the same work, so that their ratio means nothing."""
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("steps", nargs="?", type=int, default=5_000, help="steps of a round at least (default 5000)")
    parser.add_argument("--rounds", type=int, default=7, help="rounds that are counted (default 7)")
    parser.add_argument("--many", type=int, default=100_000, help="steps of a round of several processes; 0: none")
    parser.add_argument("--profile", action="store_true", help="profile one run of the engine instead")
    options = parser.parse_args()
    if options.steps < 1 or options.rounds < 1:
        parser.error("steps and rounds are at least 1")
    horizon = read_task(load(str(SCENARIO))[0]).horizon
    began = perf_counter()
    bundle = load(str(SCENARIO), set=[f"episodes={-(-options.steps // horizon)}"])[0]
    plan = compile_scenario(bundle)
    prepared = perf_counter() - began
    if options.profile:
        return profile(plan)
    return compare(bundle, plan, read_task(bundle), options.rounds, prepared, options.many)


def profile(plan: Plan) -> int:
    """Print the 25 functions in which the engine spends most time."""
    profiler = cProfile.Profile()
    profiler.runcall(pieces.run_engine, plan)
    pstats.Stats(profiler, stream=sys.stdout).strip_dirs().sort_stats("tottime").print_stats(25)
    return 0


def load_of_machine() -> str:
    """How busy the machine was in the last minute, where it can be asked."""
    return f", load {os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else ""


def compare(bundle: Bundle, plan: Plan, task: Task, rounds: int, prepared: float, many: int) -> int:
    """Check that both loops do the same work, measure all pieces, and print."""
    receipts, result = pieces.run_engine(plan)
    if (receipts, result) != pieces.run_handwritten(task):
        print("The hand-written loop gives other receipts than the engine: it does other work, so nothing is measured.")
        return 1
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        made, absent = pieces.prepare(bundle, plan, task, Path(folder))
        size = pieces.size_of(Path(folder))
        measured = measure(made, rounds)
    by_name = {figures.name: figures for figures in measured}
    record("steps", {name: round(figures.against(by_name[pieces.HANDWRITTEN]), 3) for name, figures in by_name.items()})
    steps = result["steps"]
    rows = table.lines(measured)
    if absent is not None:
        rows.insert(2 + len(measured), f"{pieces.MINIGRID}: {absent}")
    print(
        table.titled(
            {
                f"Scenario {task.name}, {steps:,} steps a round, n = {rounds} rounds in turns, in one process": rows,
                "Both loops made the same receipts": [
                    f"{receipts['count']:,} receipts, root {receipts['root']}",
                    f"{result['proposals']:,} proposals, each against its schema and {len(plan.gates) - 1} gates,"
                    f" {sum(result['rejections'].values()):,} rejections, {result['drifts']:,} drifts",
                ],
                "Verifying": table.verifying(measured, receipts["count"], size),
                **many_processes(task, many, rounds),
                "Aims": table.aims(measured),
                "Not shown": table.limits(),
                "Machine": [f"{machine()}{load_of_machine()}; loading and compiling took {prepared * 1000:.0f} ms"],
            }
        )
    )
    return 0


def many_processes(task: Task, steps: int, rounds: int) -> dict[str, list[str]]:
    """The section on several processes, unless none was asked for."""
    if not steps:
        return {}
    bundle = load(str(SCENARIO), set=[f"episodes={-(-steps // task.horizon)}"])[0]
    return {"Separate episodes in several processes": apart.lines(bundle, min(rounds, 3))}


if __name__ == "__main__":
    sys.exit(main())
