"""`python -m bench.memory [--megabytes N] [--place FOLDER]`: the most memory that commands hold, at the worst input of each.

The memory is that of the process and all its workers together: the sum of their proportional shares (Pss), read often
while they run. Large inputs are made first: a bundle of so many megabytes, a log of as many, a spec at the bounds of what
is read.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

_PAUSE: Final = 0.02  # seconds between two readings
_STEPS_OF_A_MEGABYTE: Final = 342
"""Steps of `hazard` whose receipts take a megabyte."""
_HORIZON: Final = 100


def processes(pid: int) -> Iterator[int]:
    """A process and those that it started."""
    yield pid
    try:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii").split()
    except OSError:
        return
    for child in children:
        yield from processes(int(child))


def share(pid: int) -> int:
    """The proportional share of a process, in bytes; 0 if it ended."""
    try:
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="ascii").splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) * 1024
    except OSError:
        pass
    return 0


def most_memory(words: list[str]) -> tuple[int, int]:
    """The most memory that `spec` and its workers hold with these words, in bytes, and its status."""
    process = subprocess.Popen(
        [sys.executable, "-m", "specledger", *words], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    most = 0
    while process.poll() is None:
        most = max(most, sum(map(share, processes(process.pid))))
        time.sleep(_PAUSE)
    return most, process.returncode


def log_of(megabytes: int, path: Path) -> Path:
    """A log of a chat of a size, one conversation a line."""
    line = json.dumps({"messages": [{"role": "user", "content": "word " * 200}] * 4}) + "\n"
    with path.open("w", encoding="utf-8") as file:
        for _ in range(megabytes * 1_000_000 // len(line)):
            file.write(line)
    return path


def nested_spec(path: Path) -> Path:
    """A spec whose expression and mappings are as deep and long as a file of its size allows."""
    terms = " + ".join(["n"] * 4000)
    path.write_text(f"spec: invariant/v1\nname: deep\nrequire: {terms} < 1\n", encoding="utf-8")
    return path


def main() -> None:
    """Make the inputs, and print a row for each command."""
    parser = argparse.ArgumentParser(prog="python -m bench.memory")
    parser.add_argument("--megabytes", type=int, default=350)
    parser.add_argument("--place", type=Path)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=given.place) as name:
        folder = Path(name)
        episodes = given.megabytes * _STEPS_OF_A_MEGABYTE // _HORIZON
        bundle, log, spec = (
            folder / "bundle",
            log_of(given.megabytes // 10, folder / "log.jsonl"),
            nested_spec(folder / "deep.yaml"),
        )
        run = ["run", "hazard", f"--set=horizon={_HORIZON}", f"--episodes={episodes}"]
        rows = [
            ("run, two workers", [*run, "--workers=2", f"--out={bundle}"]),
            ("verify, two workers", ["verify", str(bundle), "--workers=2"]),
            ("verify without replay", ["verify", str(bundle), "--no-replay"]),
            ("report as a page", ["report", str(bundle), "--format=html", f"--out={folder / 'page.html'}"]),
            ("report as JSON", ["report", str(bundle), "--format=json", f"--out={folder / 'report.json'}"]),
            ("diff with itself", ["diff", str(bundle), str(bundle)]),
            ("import of a log of a tenth of the size", ["import", str(log), f"--out={folder / 'lines.jsonl'}"]),
            ("check of a deep spec", ["check", str(spec)]),
        ]
        print("| command | status | memory |\n| --- | --- | --- |")
        for title, words in rows:
            most, status = most_memory(words)
            print(f"| {title} | {status} | {most / 1e6:.0f} MB |", flush=True)
        size = sum(path.stat().st_size for path in bundle.rglob("*") if path.is_file())
        print(f"the bundle has {size / 1e6:.0f} MB")


if __name__ == "__main__":
    main()
