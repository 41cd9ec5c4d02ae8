"""`python -m bench.growth [--receipts N]`: how time and memory grow with the size of the input.

Every command runs in a process of its own. The time of the first size is taken for the start, and subtracted from the
times of three sizes n, rn and r²n; the exponent is the slope of what is left, log(t3 / t1) / log(r²). The ratio is that
of the whole times at the greatest and the least of the three, start included. Times are those of the processor, the least of all rounds.
Memory is the most that the process held. The table is also written to `bench/results.json`.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import log
from pathlib import Path
from typing import Any, Final

import yaml

from bench.results import record

_STEPS: Final = 10_000
"""Steps of the runs whose size is not their number of steps."""

Words = list[str]


@dataclass(frozen=True, slots=True)
class Axis:
    """Something that can be larger.

    Attributes:
        name: What grows, and what is done with it.
        start: A size at which next to nothing is done.
        least: The first of three sizes at which the start matters little.
        ratio: How many times each size is the one before.
        expected: The exponent that the work itself has.
        command: `(folder, size) -> the words after spec` that are measured; it writes the specs that they need.
        before: The words after `spec` that make what the command reads; they are not measured.
    """

    name: str
    start: int
    least: int
    ratio: int
    expected: int
    command: Callable[[Path, int], Words]
    before: Callable[[Path, int], Words] | None = None

    @property
    def sizes(self) -> tuple[int, int, int, int]:
        """The size that is taken for the start, and the three."""
        return self.start, self.least, self.least * self.ratio, self.least * self.ratio**2


def _write(folder: Path, **documents: dict[str, Any]) -> str:
    """Write one spec of each kind, named after it, and give the file of the last."""
    file = folder
    for kind, document in documents.items():
        file = folder / f"{kind}.yaml"
        file.write_text(yaml.safe_dump({"spec": f"{kind}/v1", "name": kind, **document}, sort_keys=False))
    return str(file)


def _counter(folder: Path, proposals: int = 1, gates: int = 0) -> str:
    """A scenario whose world is one number, with so many proposals a step and so many gates."""
    return _write(
        folder,
        world={
            "state": {"x": "int"},
            "start": {"x": 0},
            "actions": {"add": {"args": {"n": "int"}, "effects": [{"set": "x", "to": "x + n"}]}},
            "observe": {"x": "x"},
        },
        agent={"candidates": [{"op": "add", "for_each": {"n": f"range({proposals})"}}], "score": "action.n"},
        governor={
            "gates": [{"id": f"g{i}", "deny": f"next.x < -{i}", "reason": f"low_{i}"} for i in range(gates)],
            "choose": {"maximise": "proposal.score"},
        },
        scenario={
            "world": "world",
            "governor": "governor",
            "agent": "agent",
            "horizon": 100,
            "episodes": _STEPS // 100,
        },
    )


def _grid(folder: Path, side: int) -> Words:
    inside = side - 2
    rows = ["S" + "." * (inside - 1), *["." * inside] * (inside - 2), "." * (inside - 1) + "G"]
    drawing = "\n".join(["#" * side, *(f"#{row}#" for row in rows), "#" * side]) + "\n"
    scenario = {
        "extends": "hazard", "map": {"drawing": drawing}, "drift": [], "episodes": 40, "horizon": 30, "invariants": ["no-bump"],
    }  # fmt: skip
    return ["run", _write(folder, scenario=scenario), "--out", f"{folder}/out"]


def _episodes(folder: Path, count: int) -> Words:
    return ["run", "hazard", "--set", f"episodes={count}", "--out", f"{folder}/out", "--workers", "1"]


def _receipts(folder: Path, count: int) -> Words:
    return [
        "run",
        _counter(folder),
        "--set",
        f"episodes={count // 202 + 1}",
        "--out",
        f"{folder}/out",
        "--workers",
        "1",
    ]


def _ring(folder: Path, length: int, cases: int = 300) -> Words:
    universe = {"extends": "kinetic_grid_v1", "ring": {"min": length, "max": length, "sizes": [length]}}
    law = {"extends": "collision-bridge", "universe": "universe", "cases": cases}
    return ["run", _write(folder, universe=universe, law=law), "--out", f"{folder}/out"]


def _cases(folder: Path, count: int) -> Words:
    return _ring(folder, 60, count)


def _names(folder: Path, count: int) -> Words:
    constants = {f"C{i}": i for i in range(count // 2)}
    functions = {f"f{i}": {"args": ["a"], "is": f"a + C{i}"} for i in range(count // 2)}
    world = {
        "constants": constants,
        "functions": functions,
        "state": {"x": "int"},
        "start": {"x": 0},
        "actions": {"add": {"effects": [{"set": "x", "to": "f0(x)"}]}},
        "observe": {"x": "x"},
    }
    return ["check", _write(folder, world=world)]


def _proposals(folder: Path, count: int) -> Words:
    return ["run", _counter(folder, proposals=count), "--out", f"{folder}/out"]


def _gates(folder: Path, count: int) -> Words:
    return ["run", _counter(folder, gates=count), "--out", f"{folder}/out"]


def _reader(*words: str) -> Callable[[Path, int], Words]:
    return lambda folder, _count: [word.replace("OUT", f"{folder}/out") for word in words]


_HTML: Final = _reader("report", "OUT", "--format", "html", "--out", "OUT.html")
AXES: Final = (
    Axis("grid side, run", 8, 64, 2, 2, _grid),
    Axis("episodes, run", 1, 100, 2, 1, _episodes),
    Axis("episodes, verify", 1, 100, 2, 1, _reader("verify", "OUT", "--workers", "1"), _episodes),
    Axis("episodes, report", 1, 100, 2, 1, _HTML, _episodes),
    Axis("episodes, diff", 1, 100, 2, 1, _reader("diff", "OUT", "OUT"), _episodes),
    Axis("receipts, run", 0, 15000, 2, 1, _receipts),
    Axis("receipts, verify", 0, 15000, 2, 1, _reader("verify", "OUT", "--workers", "1"), _receipts),
    Axis("receipts, report", 0, 15000, 2, 1, _HTML, _receipts),
    Axis("receipts, diff", 0, 15000, 2, 1, _reader("diff", "OUT", "OUT"), _receipts),
    Axis("proposals of a step, run", 1, 16, 2, 1, _proposals),
    Axis("gates, run", 0, 1000, 2, 1, _gates),
    Axis("ring length, law", 5, 200, 2, 1, _ring),
    Axis("cases, law", 1, 1000, 2, 1, _cases),
    Axis("names of a world, check", 2, 2000, 2, 1, _names),
)


def main() -> None:
    """Measure, print, and write the table."""
    parser = argparse.ArgumentParser(prog="python -m bench.growth", description=__doc__)
    parser.add_argument("--rounds", type=int, default=3, help="rounds; the least time counts (default 3)")
    parser.add_argument("--receipts", type=int, default=0, help="also the memory of a run with so many receipts")
    parser.add_argument("--only", default="", help="axes whose name holds this text")
    options = parser.parse_args()
    rows = []
    print(f"{'':28}{'sizes':>24}{'seconds':>30}{'MB':>20}{'ratio':>8}{'exponent':>10}{'expected':>10}")
    for axis in AXES:
        if options.only in axis.name:
            rows.append(grown(axis, options.rounds))
            _print(rows[-1])
    if options.receipts:
        rows += [_print(row) for row in large(options.receipts)]
    record("growth", rows)


def grown(axis: Axis, rounds: int) -> dict[str, Any]:
    """What one axis takes at its sizes."""
    times, most = [], []
    for size in axis.sizes:
        with tempfile.TemporaryDirectory(prefix="bench-") as work:
            if axis.before is not None:
                spent(axis.before(Path(work), size))
            found = [spent(axis.command(Path(work), size)) for _ in range(rounds)]
        times.append(min(seconds for seconds, _ in found))
        most.append(min(memory for _, memory in found))
    return _row(axis.name, axis.sizes, times, most, exponent(times, axis.ratio), axis.expected)


def exponent(times: Sequence[float], ratio: int) -> float | None:
    """The exponent of a start and three times; None where the start is most of the first of them."""
    start, first, _, last = times
    return None if first - start < start / 4 else log((last - start) / (first - start)) / log(ratio**2)


def large(receipts: int) -> list[dict[str, Any]]:
    """Time and memory of making and reading a tenth as many receipts, then so many."""
    found: dict[str, list[tuple[float, int]]] = {}
    sizes = (receipts // 10, receipts)
    for size in sizes:
        with tempfile.TemporaryDirectory(prefix="bench-") as work:
            folder = Path(work)
            readers = [axis.command(folder, 0) for axis in AXES if axis.before is _receipts]
            for words in (_receipts(folder, size), *readers):
                found.setdefault(f"receipts, {words[0]}", []).append(spent(words))
    return [
        _row(name, sizes, [each[0] for each in pair], [each[1] for each in pair], None, 1)
        for name, pair in found.items()
    ]


def spent(words: Words) -> tuple[float, int]:
    """Processor seconds and most resident megabytes of one command, which may end with any exit code but an error's."""
    command = [sys.executable, "-m", "specledger", *words]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as process:
        assert process.stderr is not None
        said = process.stderr.read().decode(errors="replace")
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in (0, 1, 3):
        sys.exit(f"spec {' '.join(words)} ended with {process.returncode}: {said}")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss // 1024


def _row(
    name: str, sizes: Sequence[int], times: Sequence[float], most: Sequence[int], found: float | None, expected: int
) -> dict[str, Any]:
    return {
        "axis": name,
        "sizes": list(sizes),
        "seconds": [round(each, 3) for each in times],
        "megabytes": list(most),
        "ratio": round(times[-1] / times[max(0, len(times) - 3)], 2),
        "exponent": None if found is None else round(found, 2),
        "expected": expected,
    }


def _print(row: dict[str, Any]) -> dict[str, Any]:
    texts = (" ".join(map(str, row[key])) for key in ("sizes", "seconds", "megabytes"))
    sizes, seconds, memory = texts
    print(
        f"{row['axis']:28}{sizes:>24}{seconds:>30}{memory:>20}{row['ratio']:>8}{row['exponent'] or '-':>10}{row['expected']:>10}",
        flush=True,
    )
    return row


if __name__ == "__main__":
    main()
