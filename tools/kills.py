"""Kills `spec` at random points of a run, a suite, a suite on a cluster and a discovery, and resumes until it is done.

    python -m tools.kills [KILLS]       # 200 by default, shared among the four; prints a row for each

After each kill the place of the evidence must be empty or hold what is whole. A command that ends by itself must end
with 0 and without a traceback, and its evidence must have the bytes of one that was never killed. The points are seeded
fractions of the time that the command takes.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[1]
SUITE: Final = {
    "spec": "suite/v1",
    "name": "heights",
    "runs": {"long": {"scenarios": ["climb"], "seeds": list(range(8)), "set": {"episodes": 150}}},
    "figures": {"arrives": {"rate": "success"}},
    "checks": [{"id": "some", "require": "arrives.of > 0", "opportunities": "arrives.of"}],
}
COMMANDS: Final[Mapping[str, Sequence[str]]] = {
    "run": ("run", "climb.yaml", "--set=episodes=3000", "--resume"),
    "suite": ("run", "heights.yaml", "--resume", "--workers=2"),
    "suite on Dask": ("run", "heights.yaml", "--resume", "--cluster=local:2"),
    "discovery": ("discover", "small.yaml", "--workers=2"),
}
_PATIENCE: Final = 300  # seconds


def start(folder: Path, words: Sequence[str]) -> subprocess.Popen[str]:
    """Start a command in a process group of its own."""
    return subprocess.Popen(
        [sys.executable, "-m", "specledger", *words, "--out=out"],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(ROOT / "engine")},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def bytes_of(place: Path) -> dict[str, bytes]:
    """The files of a folder."""
    return {str(path.relative_to(place)): path.read_bytes() for path in place.rglob("*") if path.is_file()}


def finish(process: subprocess.Popen[str]) -> str | None:
    """Wait for a command; why its end is a fault, or None."""
    _, err = process.communicate(timeout=_PATIENCE)
    if process.returncode or "Traceback" in err:
        return f"ended with {process.returncode}: {err.strip()[-300:]}"
    return None


def clear(folder: Path) -> None:
    """Remove the evidence and the journal, so that the command begins again."""
    shutil.rmtree(folder / "out", ignore_errors=True)
    for journal in folder.glob("out.journal.*"):
        journal.unlink()


def kill_often(folder: Path, words: Sequence[str], kills: int, seed: int) -> tuple[dict[str, int], list[str]]:
    """Kill a command so many times: counts of what came of it, and the faults."""
    points, faults = random.Random(seed), []  # noqa: S311 - no secret
    began = time.monotonic()
    fault = finish(start(folder, words))
    lasts = time.monotonic() - began
    if fault is not None:
        return {}, [fault]
    expected = bytes_of(folder / "out")
    clear(folder)
    counts = {"kills": 0, "ended": 0}
    while counts["kills"] < kills:
        process = start(folder, words)
        try:
            process.wait(points.uniform(0, lasts))
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            counts["kills"] += 1
            if (folder / "out").exists() and bytes_of(folder / "out") != expected:
                faults.append("after a kill something half-written is at the place")
            continue
        faults += _ended(process, folder, expected)
        counts["ended"] += 1
    faults += _ended(start(folder, words), folder, expected)
    counts["ended"] += 1
    return counts, faults


def _ended(process: subprocess.Popen[str], folder: Path, expected: Mapping[str, bytes]) -> list[str]:
    fault = finish(process)
    if fault is None and bytes_of(folder / "out") != expected:
        fault = "the evidence has other bytes"
    if fault is None and list(folder.glob(".out.*")):
        fault = "a working folder is left"
    clear(folder)
    return [] if fault is None else [fault]


def main(kills: int, names: Sequence[str] = tuple(COMMANDS)) -> int:
    """Kill each command its share of times, and print what came of it; the number of faults."""
    total = 0
    print(f"{'command':15}  kills  ended by itself  faults")
    for seed, name in enumerate(names):
        with tempfile.TemporaryDirectory() as place:
            folder = Path(place) / "specs"
            for toy in ("climb", "small"):
                shutil.copytree(ROOT / "tests/toys" / toy, folder, dirs_exist_ok=True)
            (folder / "heights.yaml").write_text(json.dumps(SUITE), encoding="utf-8")
            counts, faults = kill_often(folder, COMMANDS[name], -(-kills // len(names)), seed)
        print(f"{name:15}  {counts.get('kills', 0):5}  {counts.get('ended', 0):15}  {len(faults):6}", flush=True)
        for fault in faults:
            print(f"  {fault}")
        total += len(faults)
    return total


if __name__ == "__main__":
    sys.exit(1 if main(int(sys.argv[1]) if len(sys.argv) > 1 else 200) else 0)
