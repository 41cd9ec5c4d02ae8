"""`python -m bench.suites [--receipts N] [--shards N] [--place FOLDER]`: a suite made in shards on Dask, merged and read.

The suite has runs of 20,000 receipts each, of a world of one number. Its shards are made one after another, each by a
cluster of two workers that is started for it. The whole is verified with and without replay, reported, and compared
with the same suite made at once. Printed are processor seconds, microseconds for each receipt, and the most memory
that the command and its workers held.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import yaml

from bench.peak import Spent, spent
from bench.results import record

RECEIPTS_OF_A_RUN: Final = 20_000
_SEEDS: Final = 250  # of one entry of `runs`
_EPISODES: Final = 99
_HORIZON: Final = 100
_PAUSE: Final = 0.25  # seconds; reading the memory of large processes takes time itself


def documents(runs: int) -> dict[str, dict[str, Any]]:
    """The specs of the suite, by their kinds."""
    return {
        "world": {
            "state": {"x": "int"},
            "start": {"x": 0},
            "actions": {"add": {"args": {"n": "int"}, "effects": [{"set": "x", "to": "x + n"}]}},
            "observe": {"x": "x"},
        },
        "agent": {"candidates": [{"op": "add", "for_each": {"n": "[1]"}}], "score": "action.n"},
        "governor": {
            "gates": [{"id": "bounded", "deny": f"next.x > {_HORIZON}", "reason": "too_far"}],
            "choose": {"maximise": "proposal.score"},
        },
        "invariant": {"scope": "step", "severity": "fatal", "require": f"x <= {_HORIZON}"},
        "scenario": {
            "world": "world",
            "governor": "governor",
            "agent": "agent",
            "invariants": ["invariant"],
            "horizon": _HORIZON,
            "episodes": _EPISODES,
        },
        "suite": {
            "runs": {
                f"from{first}": {"scenarios": ["scenario"], "seeds": list(range(first, min(first + _SEEDS, runs + 1)))}
                for first in range(1, runs + 1, _SEEDS)
            },
            "measures": {"moved": "steps.map(s, s.action.op == 'add')", "length": "steps.size()"},
            "figures": {
                "moves": {"rate": "moved", "clusters": "seed"},
                "lengths": {"mean": "length", "clusters": "seed"},
            },
            "checks": [
                {"id": "all-move", "require": "moves.count == moves.of", "opportunities": "moves.of"},
                {"id": "whole", "require": f"lengths.value == {_HORIZON * 1_000_000}", "opportunities": "lengths.of"},
            ],
        },
    }


def write_documents(folder: Path, specs: dict[str, dict[str, Any]]) -> Path:
    """Write specs, each named after its kind; their folder."""
    folder.mkdir()
    for kind, document in specs.items():
        text = yaml.safe_dump({"spec": f"{kind}/v1", "name": kind, **document}, sort_keys=False)
        (folder / f"{kind}.yaml").write_text(text, encoding="utf-8")
    return folder


def commands(folder: Path, suite: Path, shards: int) -> Iterator[tuple[str, list[str]]]:
    """Title and words of each command, in their order."""
    parts = [str(folder / f"shard-{number}") for number in range(1, shards + 1)]
    for number, part in enumerate(parts, start=1):
        words = ["run", str(suite), f"--shard={number}/{shards}", "--cluster=local:2", f"--out={part}"]
        yield f"shard {number} of {shards}, on Dask", words
    whole, other = str(folder / "whole"), str(folder / "at-once")
    yield "merge", ["merge", *parts, f"--out={whole}"]
    yield "verify without replay", ["verify", whole, "--no-replay"]
    yield "verify, on Dask", ["verify", whole, "--cluster=local:2"]
    yield "report as JSON", ["report", whole, "--format=json", f"--out={folder / 'report.json'}"]
    yield "report as a page", ["report", whole, "--format=html", f"--out={folder / 'report.html'}"]
    yield "run at once, two workers", ["run", str(suite), "--workers=2", f"--out={other}"]
    yield "diff of both", ["diff", whole, other]


def measured(receipts: int, shards: int, place: Path | None) -> list[dict[str, Any]]:
    """What each command takes, as rows that are printed."""
    rows = []
    with tempfile.TemporaryDirectory(prefix="bench-", dir=place) as name:
        folder = Path(name)
        runs = max(1, receipts // RECEIPTS_OF_A_RUN)
        print(f"\n{runs} runs, {runs * RECEIPTS_OF_A_RUN:,} receipts")
        print("| command | status | CPU | clock | a receipt | memory |\n| --- | --- | --- | --- | --- | --- |")
        for title, words in commands(folder, write_documents(folder / "specs", documents(runs)) / "suite.yaml", shards):
            took = spent(words, _PAUSE)
            rows.append(_row(title, runs * RECEIPTS_OF_A_RUN, took))
            if title == "merge":
                for part in folder.glob("shard-*"):
                    shutil.rmtree(part)
        size = sum(path.stat().st_size for path in (folder / "whole").rglob("*") if path.is_file())
        print(f"the suite has {size / 1e6:.0f} MB", flush=True)
    return rows


def _row(title: str, receipts: int, took: Spent) -> dict[str, Any]:
    micro = took.seconds / receipts * 1e6
    print(
        f"| {title} | {took.status} | {took.seconds:.1f} s | {took.clock:.1f} s | {micro:.1f} µs | {took.memory / 1e6:.0f} MB |",
        flush=True,
    )
    return {
        "command": title,
        "receipts": receipts,
        "status": took.status,
        "seconds": round(took.seconds, 2),
        "megabytes": round(took.memory / 1e6),
    }


def main() -> None:
    """Measure, print, and write the table."""
    parser = argparse.ArgumentParser(prog="python -m bench.suites", description=__doc__)
    parser.add_argument("--receipts", type=int, nargs="+", default=[100_000])
    parser.add_argument("--shards", type=int, default=4)
    parser.add_argument("--place", type=Path)
    given = parser.parse_args()
    record("suites", [row for size in given.receipts for row in measured(size, given.shards, given.place)])


if __name__ == "__main__":
    main()
