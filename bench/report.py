"""`python -m bench.report [episodes]`: what the report of a suite takes, in a process of its own, and how large it is.

The suite has two arms over the scenario of the other measurements, forty steps an episode. The aim is that of 200
episodes in 3 seconds and less than 1 MB; seconds of the processor count, since others may use the machine.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter
from typing import Final

from specledger.evidence.layout import RECEIPTS
from specledger.kinds import load
from specledger.pipeline.executing import execute

_SEEDS: Final = (1, 2, 3, 4)
_ARMS: Final = ("one", "other")
_SECONDS: Final = 3.0
_BYTES: Final = 1_000_000

_SUITE: Final = """
spec: suite/v1
name: reported
runs: {{{arms}}}
figures:
  arrives: {{rate: success, by: arm}}
checks:
  - {{id: arrives, require: "arrives.all(f, f.of > 0)", opportunities: size(arrives)}}
"""


def main() -> int:
    """Make the suite's evidence, report it, and print; 1 if an aim for 200 episodes is missed."""
    parser = argparse.ArgumentParser(prog="python -m bench.report", description=__doc__)
    parser.add_argument("episodes", nargs="?", type=int, default=200, help="episodes in all (default 200)")
    parser.add_argument("--rounds", type=int, default=3, help="reports that are made; the quickest counts (default 3)")
    options = parser.parse_args()
    runs = len(_SEEDS) * len(_ARMS)
    if options.episodes < runs or options.episodes % runs or options.rounds < 1:
        parser.error(f"episodes are a multiple of {runs}, rounds at least 1")
    with tempfile.TemporaryDirectory(prefix="bench-") as work:
        folder = Path(work)
        arm = f"{{scenarios: [hazard], seeds: {list(_SEEDS)}, set: {{episodes: {options.episodes // runs}, horizon: 40}}}}"
        arms = ", ".join(f"{name}: {arm}" for name in _ARMS)
        (folder / "reported.yaml").write_text(_SUITE.format(arms=arms))
        (bundle,) = load(str(folder / "reported.yaml"))
        execute(bundle, folder / "evidence")
        receipts = sum(path.stat().st_size for path in (folder / "evidence").glob(f"**/{RECEIPTS}"))
        took = [_report(folder) for _ in range(options.rounds)]
        processor, wall = min(took)
        size = (folder / "page.html").stat().st_size
    print(f"report of {options.episodes} episodes in {runs} runs, {receipts:,} bytes of receipts, as one page")
    print(f"  {processor:.2f} s of the processor, {wall:.2f} s by the clock (aim for 200 episodes: {_SECONDS:.0f} s)")
    print(f"  {size:,} bytes (aim: less than {_BYTES:,})")
    return int(options.episodes <= 200 and (processor > _SECONDS or size >= _BYTES))


def _report(folder: Path) -> tuple[float, float]:
    """Seconds of the processor and by the clock that one report takes, with everything that its process does."""
    command = [sys.executable, "-m", "specledger", "report", str(folder / "evidence")]
    before, began = os.times(), perf_counter()
    subprocess.run([*command, "--format", "html", "--out", str(folder / "page.html")], check=True)
    after = os.times()
    used = after.children_user + after.children_system - before.children_user - before.children_system
    return used, perf_counter() - began


if __name__ == "__main__":
    sys.exit(main())
