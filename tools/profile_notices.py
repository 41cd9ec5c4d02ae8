"""What is written down about constants: why no row needs to notice one, and which test of a row notices one.

A reason is of a file, or a glob, and of a regular expression; it is about the constants that a match of it holds.
"""

import re
from collections.abc import Iterable, Mapping
from fnmatch import fnmatch
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from tools.profile_constants import Constant, line_of

REASONS = Path(__file__).with_name("profile_reasons.yaml")
NOTICED = Path(__file__).with_name("profile_noticed.yaml")


class Place(NamedTuple):
    """Where a constant stands: a line of a file, which of equal lines, and from which character of it on."""

    file: str
    line: str
    occurrence: int
    column: int


def place_of(file: str, text: str, constant: Constant) -> Place:
    """Where a constant of a file stands."""
    line = line_of(text, constant)
    return Place(file, line.text, line.occurrence, line.column)


def reasons() -> list[dict[str, str]]:
    """The reasons, in their order."""
    known: list[dict[str, str]] = yaml.safe_load(REASONS.read_text(encoding="utf-8")) or []
    return known


def is_about(reason: Mapping[str, str], place: Place) -> bool:
    """Whether a reason is about the constant at a place."""
    matches = re.finditer(reason["matches"], place.line)
    return fnmatch(place.file, reason["file"]) and any(one.start() <= place.column < one.end() for one in matches)


def reason_for(place: Place, known: Iterable[Mapping[str, str]]) -> str:
    """Why no row needs to notice a constant; empty if nobody has said so."""
    return next((reason["reason"] for reason in known if is_about(reason, place)), "")


def noticed() -> dict[Place, str]:
    """The tests and the evidence that noticed constants when they were last changed, by the places of these."""
    known: dict[str, list[Any]] = yaml.safe_load(NOTICED.read_text(encoding="utf-8")) or {}
    return {
        Place(file, line, occurrence, column): by
        for file, lines in known.items()
        for line, occurrence, column, by in lines
    }


def write(known: Mapping[Place, str]) -> None:
    """Write what noticed constants, in the order of files and lines."""
    by_file: dict[str, list[list[Any]]] = {}
    for place, by in sorted(known.items()):
        by_file.setdefault(place.file, []).append([*place[1:], by])
    head = "# Line, which of equal ones, column, who noticed it. Written by `tools.profile_mutation --record`.\n"
    body = "".join(
        f"{file}:\n"
        + "".join(f"  - {yaml.safe_dump(one, default_flow_style=True, width=10**6).strip()}\n" for one in lines)
        for file, lines in by_file.items()
    )
    NOTICED.write_text(head + body, encoding="utf-8")
