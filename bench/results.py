"""`bench/results.json`: the figures of the last measurement of each kind, with the machine that they were made on."""

from __future__ import annotations

import json
import os
import platform
from pathlib import Path
from typing import Any, Final

RESULTS: Final = Path(__file__).resolve().parent / "results.json"


def machine() -> str:
    """The interpreter and the machine, as far as they matter for a figure."""
    return (
        f"{platform.python_implementation()} {platform.python_version()}, {platform.machine()}, {os.cpu_count()} cores"
    )


def record(section: str, figures: Any) -> None:
    """Replace one section of the file."""
    known = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    known[section] = {"machine": machine(), "figures": figures}
    RESULTS.write_text(json.dumps(known, indent=2, sort_keys=True) + "\n")
