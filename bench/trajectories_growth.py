"""`python -m bench.trajectories_growth WORK LOG [POLICY]`: one piece of work over logs, and the most memory it took.

The works are `import`, `scan`, `run` and `verify`; each is measured in a process of its own, whose start is not counted.
"""

from __future__ import annotations

import gc
import json
import subprocess
import sys
from math import log
from pathlib import Path
from time import process_time
from typing import Any, Final

WORKS: Final = ("import", "scan", "run", "verify")


def collect_rarely() -> None:
    """Collect garbage as rarely as the commands do (`specledger.__main__`)."""
    gc.set_threshold(200_000, 20, 100)


def work(name: str, logs: Path, folder: Path | None) -> dict[str, float]:
    """Do a piece of work; `folder` has the policy and the scenario, and gets the evidence."""
    from bench import trajectories_work as works

    began = process_time()
    works.do(name, logs, folder)
    seconds = process_time() - began
    return {"cpu": seconds, "megabytes": peak()}


def peak() -> float:
    """The most megabytes that this process held; on Linux only, since others count what was before its program."""
    status = Path("/proc/self/status")
    lines = status.read_text().splitlines() if status.exists() else []
    return next((int(line.split()[1]) / 1000 for line in lines if line.startswith("VmHWM")), 0.0)


def measure_apart(name: str, logs: Path, folder: Path | None = None) -> dict[str, float]:
    """The same in a process of its own."""
    command = [sys.executable, "-m", "bench.trajectories_growth", name, str(logs), *([str(folder)] if folder else [])]
    figures: dict[str, float] = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    return figures


def exponent(sizes: list[int], seconds: list[float]) -> float:
    """The slope of time over size, both as logarithms, between the least and the greatest size."""
    return round(log(seconds[-1] / seconds[0]) / log(sizes[-1] / sizes[0]), 2) if len(sizes) > 1 else 1.0


def table(rows: dict[str, dict[int, dict[str, float]]], unit: str) -> dict[str, Any]:
    """Print figures by work and size, with their exponents, and give them."""
    sizes = sorted({size for row in rows.values() for size in row})
    print(f"\n{'microseconds of CPU and megabytes held':40}" + "".join(f"{f'{size:,} {unit}':>22}" for size in sizes))
    results: dict[str, Any] = {}
    for name, row in rows.items():
        cells = [f"{row[size]['cpu'] / size * 1e6:10,.1f}{row[size]['megabytes']:9,.0f} MB" for size in row]
        slope = exponent(list(row), [figures["cpu"] for figures in row.values()])
        print(f"{name:40}" + "".join(f"{cell:>22}" for cell in cells) + f"   exponent {slope}")
        results[name] = {"exponent": slope, **{str(size): figures for size, figures in row.items()}}
    return results


if __name__ == "__main__":
    collect_rarely()
    target = Path(sys.argv[3]) if len(sys.argv) > 3 else None
    print(json.dumps(work(sys.argv[1], Path(sys.argv[2]), target)))
