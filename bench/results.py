"""`bench/results.json`: the figures of the last measurement of each kind, with the machine that they were made on.

Processors differ, and a machine that others use is slower: beside its figures each kind has the time of one fixed loop,
measured just before and after. Figures of two machines are compared as multiples of it.
"""

from __future__ import annotations

import json
import os
import platform
from pathlib import Path
from time import process_time
from typing import Any, Final

_ROUNDS: Final = 3_000_000

RESULTS: Final = Path(__file__).resolve().parent / "results.json"


def machine() -> str:
    """The interpreter and the machine, as far as they matter for a figure."""
    return (
        f"{platform.python_implementation()} {platform.python_version()}, {platform.machine()}, {os.cpu_count()} cores"
    )


def fixed_loop() -> float:
    """Seconds of processor time of one fixed loop of Python, the least of three."""
    found = []
    for _ in range(3):
        began, value = process_time(), 0
        for number in range(_ROUNDS):
            value = (31 * value + number) & 0xFFFF
        found.append(process_time() - began)
    return min(found)


STARTED: Final = fixed_loop()


def record(section: str, figures: Any) -> None:
    """Replace one section of the file, and print what the fixed loop took."""
    known = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    loop = [round(STARTED, 3), round(fixed_loop(), 3)]
    print(f"{machine()}; the fixed loop of bench.results took {loop[0]} s before and {loop[1]} s after")
    known[section] = {"machine": machine(), "fixed_loop": loop, "figures": figures}
    RESULTS.write_text(json.dumps(known, indent=2, sort_keys=True) + "\n")
