"""`python -m bench.commands [rounds]`: processor time of whole commands, from start to end, beside their aims."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage
from statistics import median

from bench.results import machine, record

ROOT = Path(__file__).resolve().parent.parent

COMMANDS = (
    (0.12, ("--version",)),
    (0.35, ("check", "specs/world/toy-gridworld.yaml")),
    (0.7, ("run", "hazard", "--out", "OUT/hazard")),
    (3.0, ("demo", "--out", "OUT/demo")),
)
"""The aim in seconds, and the words after `spec`; OUT is a temporary folder."""


def main() -> None:
    """Measure and print; rounds are interleaved, since others may use the machine."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    with tempfile.TemporaryDirectory() as folder:
        found = [
            [seconds([word.replace("OUT", folder) for word in words]) for _, words in COMMANDS] for _ in range(rounds)
        ]
    print(f"{machine()}, seconds of processor time, {rounds} rounds")
    print(f"{'':48}  aim  fastest  median")
    for (aim, words), spent in zip(COMMANDS, zip(*found, strict=True), strict=True):
        print(f"spec {' '.join(words):43} {aim:4.2f} {min(spent):8.2f} {median(spent):7.2f}")
    record(
        "commands",
        {
            " ".join(words): round(min(each), 3)
            for (_, words), each in zip(COMMANDS, zip(*found, strict=True), strict=True)
        },
    )


def seconds(words: list[str]) -> float:
    """Processor time of one command, with that of its children."""
    before = getrusage(RUSAGE_CHILDREN)
    command = [sys.executable, "-m", "specledger", *words]
    own = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    subprocess.run(command, cwd=ROOT, env=own, stdout=subprocess.DEVNULL, check=True)
    after = getrusage(RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


if __name__ == "__main__":
    main()
