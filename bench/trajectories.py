"""`python -m bench.trajectories [calls]`: rules over logs: alone, as a recording run with evidence, and replayed.

All by processor time, in one process and in turns, beside the same rules by hand in plain Python, which must come to
the same outcomes; then how it grows, and how fast logs are imported. `--profile` shows where a recording run spends its time.
"""

from __future__ import annotations

import argparse
import cProfile
import json
import pstats
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from statistics import median
from time import process_time
from typing import Any, Final

from bench.clock import Piece, measure
from bench.results import machine, record
from bench.trajectories_rules import by_hand, rules, write_logs
from specledger.core.diagnostics import Diagnostics
from specledger.kinds import load
from specledger.kinds.running import RunOptions
from specledger.pipeline.executing import execute
from specledger.pipeline.verifying import verify
from specledger.wings.trajectories.lines import write_lines
from specledger.wings.trajectories.reading import read_logs
from specledger.wings.trajectories.rules.compile import compile_policy
from specledger.wings.trajectories.rules.policy import Policy
from specledger.wings.trajectories.scan import scan

AIM: Final = 20_000
"""Calls a second of processor time, replay included, with twenty rules."""
AIM_IMPORT: Final = 50
"""Megabytes a second."""


class Work:
    """Logs of so many calls in a folder, and what is done with them under so many rules."""

    def __init__(self, folder: Path, calls: int, number: int) -> None:
        """Write the logs, the policy and a scenario, and read them."""
        self.calls, self.copies, self.log = calls, number // 10, folder / "log.jsonl"
        folder.mkdir(parents=True)
        write_logs(self.log, calls)
        self._write(folder / "policy.yaml", {"spec": "policy/v1", "name": "policy", **rules(number)})
        scenario = {"extends": "recorded-calls", "policies": ["policy.yaml"]}
        self._write(folder / "scenario.yaml", {"spec": "scenario/v1", "name": "scenario", **scenario})
        self.bundle = load(str(folder / "scenario.yaml"))[0]
        self.policy: Policy = compile_policy(load(str(folder / "policy.yaml"))[0].main, Diagnostics())
        self.out = folder / "out"
        self.trajectories = tuple(read_logs([self.log]))

    @staticmethod
    def _write(path: Path, document: dict[str, Any]) -> None:
        path.write_text(json.dumps(document), encoding="utf-8")

    def hand(self) -> int:
        """The rules by hand on what was read."""
        by_hand(self.trajectories, self.copies)
        return self.calls

    def rules(self) -> int:
        """The rules alone on what was read."""
        scan(self.policy, self.trajectories)
        return self.calls

    def read_and_judge(self) -> int:
        """What `spec scan` does."""
        scan(self.policy, read_logs([self.log]))
        return self.calls

    def run(self) -> int:
        """A recording run with its evidence."""
        shutil.rmtree(self.out, ignore_errors=True)
        execute(self.bundle, self.out, RunOptions(trajectories=(self.log,)))
        return self.calls

    def replay(self) -> int:
        """The verification of the last run, replay included."""
        verdict = verify(self.out).verdict
        if verdict != "PASS":
            sys.exit(f"the evidence is {verdict}")
        return self.calls

    def differences(self) -> list[str]:
        """Where the rules and those by hand come to other outcomes."""
        counts: Counter[tuple[str, bool]] = Counter()
        for name, count in scan(self.policy, self.trajectories).rules.items():
            rule = name.partition("-")[0]
            counts[rule, True] += count.held
            counts[rule, False] += count.broken
            if count.unjudged:
                return [f"{name}: {count.unjudged} not judged"]
        hand = by_hand(self.trajectories, self.copies)
        return [f"{key}: {counts[key]} and {hand[key]} by hand" for key in {*counts, *hand} if counts[key] != hand[key]]


def main() -> int:
    """Measure and print; 1 if the rules by hand come to other outcomes, so that no ratio means anything."""
    parser = argparse.ArgumentParser(prog="python -m bench.trajectories", description=__doc__)
    parser.add_argument("calls", nargs="?", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--profile", action="store_true", help="profile one recording run and its replay instead")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="bench-") as name:
        folder = Path(name)
        works = {number: Work(folder / str(number), options.calls, number) for number in (10, 20)}
        for work in works.values():
            if differences := work.differences():
                print("\n".join(differences))
                return 1
        if options.profile:
            return _profile(works[20])
        figures: dict[str, Any] = {str(number): _table(number, work, options.rounds) for number, work in works.items()}
        figures["growth"] = _growth(folder, options.calls)
        figures["import"] = _import(works[20].log)
    record("trajectories", figures)
    return 0


def _table(number: int, work: Work, rounds: int) -> dict[str, float]:
    pieces = [
        Piece("by hand", work.hand),
        Piece("rules alone", work.rules),
        Piece("read and judged (scan)", work.read_and_judge),
        Piece("recording run with evidence", work.run),
        Piece("verified with replay", work.replay),
    ]
    work.run()
    measured = measure(pieces, rounds)
    print(f"\n{number} rules, {work.calls:,} calls, {machine()}, median of {rounds} rounds, processor time")
    print(f"{'':30}{'calls/s':>10}{'x by hand':>12}")
    for each in measured:
        print(f"{each.name:30}{each.cpu_rate:10,.0f}{each.against(measured[0]):12.2f}")
    both = work.calls / (median(measured[3].cpu) + median(measured[4].cpu))
    print(f"{'run and verified':30}{both:10,.0f}{'':12}  aim {AIM:,}")
    return {**{each.name: round(each.cpu_rate) for each in measured}, "run and verified": round(both)}


def _growth(folder: Path, calls: int) -> dict[str, list[float]]:
    """Microseconds a call at a quarter, at all and at four times the calls, of twenty rules."""
    found: dict[str, list[float]] = {"scan": [], "run": [], "verify": []}
    print(f"\n{'microseconds a call':30}{'scan':>8}{'run':>8}{'verify':>8}")
    for size in (calls // 4, calls, calls * 4):
        work = Work(folder / f"growth-{size}", size, 20)
        for name, piece in (("scan", work.read_and_judge), ("run", work.run), ("verify", work.replay)):
            found[name].append(round(min(_seconds(piece) for _ in range(2)) / size * 1e6, 1))
        print(f"{size:>30,}" + "".join(f"{found[name][-1]:8.1f}" for name in found))
    return found


def _import(log: Path) -> float:
    """Megabytes of a log that are read and written as canonical lines in a second."""
    megabytes = log.stat().st_size / 1e6
    rate = megabytes / min(_seconds(lambda: sum(map(len, write_lines(read_logs([log]))))) for _ in range(3))
    print(f"\nimport: {rate:.1f} MB/s of {megabytes:.1f} MB, aim {AIM_IMPORT}")
    return round(rate, 1)


def _seconds(work: Callable[[], object]) -> float:
    began = process_time()
    work()
    return process_time() - began


def _profile(work: Work) -> int:
    for piece in (work.run, work.replay):
        profiler = cProfile.Profile()
        profiler.runcall(piece)
        pstats.Stats(profiler, stream=sys.stdout).strip_dirs().sort_stats("tottime").print_stats(40)
    return 0


if __name__ == "__main__":
    sys.exit(main())
