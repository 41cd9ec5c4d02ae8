"""`python -m bench.trajectories [calls]`: rules over logs: alone, as a recording run with evidence, and replayed.

All by processor time, in one process and in turns, beside the same rules by hand in plain Python, which must come to
the same outcomes, and beside other programs where `make peers` has installed them. Then how time and memory grow
(`--sizes`), and how fast each reader imports logs (`--megabytes`). `--profile` shows where a recording run spends its time.
"""

from __future__ import annotations

import argparse
import cProfile
import pstats
import sys
import tempfile
from collections import Counter
from pathlib import Path
from statistics import median
from typing import Any, Final

from bench.clock import Measured, Piece, measure
from bench.results import machine, record
from bench.trajectories_formats import FORMATS, write_format
from bench.trajectories_growth import collect_rarely, measure_apart, table
from bench.trajectories_handwritten import Recording
from bench.trajectories_peers import PEERS, measured
from bench.trajectories_rules import by_hand, write_logs
from bench.trajectories_work import events_of, policy_of, run_logs, seal_and_check, verify_run, write_specs
from specledger.core.events import Event
from specledger.wings.trajectories.reading import read_logs
from specledger.wings.trajectories.rules.policy import Policy
from specledger.wings.trajectories.scan import scan

AIM: Final = 20_000
"""Calls a second of processor time, replay included, with twenty rules."""
AIM_IMPORT: Final = 50
"""Megabytes a second."""
_PEER_CALLS: Final = {"invariant-ai": 100, "atif-scan": 2_000}
"""Calls that a peer judges: what takes it some seconds."""


class Work:
    """Logs of so many calls in a folder, and what is done with them under so many rules."""

    def __init__(self, folder: Path, calls: int, number: int) -> None:
        """Write the logs, the policy and a scenario, and read them."""
        self.calls, self.copies, self.folder, self.log = calls, number // 10, folder, folder / "log.jsonl"
        write_specs(folder, number)
        write_logs(self.log, calls)
        self.policy: Policy = policy_of(folder)
        self.trajectories = tuple(read_logs([self.log]))
        self.events: list[Event] = []

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
        run_logs(self.log, self.folder)
        return self.calls

    def replay(self) -> int:
        """The verification of the last run, replay included."""
        verify_run(self.folder)
        return self.calls

    def receipts_by_hand(self) -> int:
        """The receipts of the last run by a hand-written loop that is told what the rules say."""
        self.events = self.events or events_of(self.folder)
        for _ in Recording(self.events, self.trajectories).receipts():
            pass
        return self.calls

    def least(self) -> int:
        """What no evidence of the last run's form can leave out."""
        self.events = self.events or events_of(self.folder)
        seal_and_check(self.events)
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
    parser.add_argument("--sizes", type=int, nargs="*", default=[10_000, 100_000], help="calls, for growth")
    parser.add_argument("--evidence", type=int, default=100_000, help="calls of the largest run that is verified")
    parser.add_argument("--megabytes", type=int, nargs="*", default=[3, 30], help="of logs that each reader imports")
    parser.add_argument("--profile", action="store_true", help="profile one recording run and its replay instead")
    options = parser.parse_args()
    collect_rarely()
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
        figures["growth"] = _growth(folder, options.sizes, options.evidence)
        figures["import"] = _import(folder, options.megabytes)
    record("trajectories", figures)
    return 0


def _table(number: int, work: Work, rounds: int) -> dict[str, float]:
    pieces = [
        Piece("by hand", work.hand),
        Piece("rules alone", work.rules),
        Piece("read and judged (scan)", work.read_and_judge),
        Piece("recording run with evidence", work.run),
        Piece("verified with replay", work.replay),
        Piece("receipts of a run by hand, rules told", work.receipts_by_hand),
        Piece("digests, lines and parsing alone, for both", work.least),
    ]
    work.run()
    work.least()
    times = measure(pieces, rounds)
    print(f"\n{number} rules, {work.calls:,} calls, {machine()}, median of {rounds} rounds, processor time")
    print(f"{'':44}{'calls/s':>10}{'x by hand':>12}")
    rows = {piece.name: (piece.cpu_rate, piece.against(times[0])) for piece in times}
    both = work.calls / (median(times[3].cpu) + median(times[4].cpu))
    rows[f"run and verified, aim {AIM:,}"] = both, both / times[0].cpu_rate
    rows |= _peers(work.folder, times[0]) if number == 20 else {}
    for name, (rate, ratio) in rows.items():
        print(f"{name:44}{rate:10,.0f}{ratio:12.4f}")
    return {name: round(rate) for name, (rate, _) in rows.items()}


def _peers(folder: Path, hand: Measured) -> dict[str, tuple[float, float]]:
    """The rates of other programs, each on as many calls as take it some seconds."""
    rows = {}
    for name in PEERS:
        log = folder / f"{name}.jsonl"
        write_logs(log, _PEER_CALLS[name])
        figures = measured(name, log)
        if figures is None:
            print(f"{name} is not installed: `make peers`")
            continue
        rate = figures["calls"] / figures["seconds"]
        rules = f"{figures['rules']} rules" if figures["rules"] else "its own checks"
        rows[f"{name} {figures['version']}, {rules}"] = rate, rate / hand.cpu_rate
    return rows


def _growth(folder: Path, sizes: list[int], evidence: int) -> dict[str, Any]:
    rows: dict[str, dict[int, dict[str, float]]] = {}
    for size in sizes:
        own = folder / f"growth-{size}"
        write_specs(own, 20)
        write_logs(own / "log.jsonl", size)
        for name in ("import", "scan", "run", "verify") if size <= evidence else ("import", "scan"):
            rows.setdefault(name, {})[size] = measure_apart(name, own / "log.jsonl", own)
    return table(rows, "calls")


def _import(folder: Path, sizes: list[int]) -> dict[str, Any]:
    """Megabytes of logs that are read and written as canonical lines in a second, and the memory that takes."""
    print(f"\n{f'import, aim {AIM_IMPORT} MB/s':40}" + "".join(f"{f'{size} MB':>22}" for size in sizes))
    results: dict[str, Any] = {}
    for name in (*FORMATS, "canonical"):
        cells = []
        for size in sizes:
            logs = folder / f"import-{name}-{size}" / "logs"
            write_format(name, logs, size)
            figures = measure_apart("import", logs)
            bytes_ = sum(file.stat().st_size for file in logs.iterdir())
            figures["rate"] = bytes_ / figures["cpu"] / 1e6
            results.setdefault(name, {})[str(size)] = figures
            cells.append(f"{figures['rate']:8.1f} MB/s{figures['megabytes']:6,.0f} MB")
        print(f"{name:40}" + "".join(f"{cell:>22}" for cell in cells))
    return results


def _profile(work: Work) -> int:
    for piece in (work.run, work.replay):
        profiler = cProfile.Profile()
        profiler.runcall(piece)
        pstats.Stats(profiler, stream=sys.stdout).strip_dirs().sort_stats("tottime").print_stats(40)
    return 0


if __name__ == "__main__":
    sys.exit(main())
