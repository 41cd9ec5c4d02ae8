"""`spec plan`: what `spec run` would do, without doing it."""

from __future__ import annotations

from typing import Any, Final

import typer

from specledger.cli import show
from specledger.cli.options import Files, Format, Overrides, Shown
from specledger.core.canonical import canonical_bytes
from specledger.core.diagnostics import printable
from specledger.core.verdict import Exit

_TOLD: Final = 12
"""Rows of a list that people are shown; programs get all."""

_HEAD: Final = ("kind", "name", "case", "digest")


def plan(
    files: Files,
    overrides: Overrides = None,
    shown: Shown = Format.HUMAN,
) -> None:
    """Show what would run, without running: cases, seeds, episodes, steps at most, and what is looked at."""
    from specledger.pipeline.checking import load_runs
    from specledger.pipeline.executing import preview

    found = [preview(bundle) for bundle in load_runs(files, overrides or ())]
    if shown is Format.JSON:
        show.say_json({"plans": found})
    else:
        show.say("\n".join(_text(one) for one in found))
        steps = sum(one.get("most_steps", 0) + one.get("most_trial_steps", 0) for one in found)
        show.say(f"{_count(len(found), 'case')}, {_count(steps, 'step')} at most; nothing was run")
    raise typer.Exit(Exit.CONFORMS)


def _text(found: dict[str, Any]) -> str:
    """One case: a line of what it is, then a line for each thing that is known."""
    name = found["name"] + (f" {found['case']}" if found["case"] else "")
    lines = [f"{found['kind']} {printable(name)}", f"  digest: {found['digest']}"]
    for key, value in found.items():
        if key in _HEAD:
            continue
        label = key.replace("_", " ")
        if isinstance(value, list) and value and isinstance(value[0], dict):
            lines.append(f"  {label}: {len(value)}")
            lines += [f"    {_row(row)}" for row in value[:_TOLD]]
            lines += [f"    and {len(value) - _TOLD} more"] if len(value) > _TOLD else []
        else:
            lines.append(f"  {label}: {_value(value)}")
    if found.get("invariants") == []:
        lines.append("  no invariant is checked, so the verdict can be no PASS")
    return "\n".join(lines)


def _row(row: dict[str, Any]) -> str:
    """A mapping on a line: what it is called first, the rest as `key value`."""
    first, *rest = row.items()
    return " ".join([_value(first[1]), *(f"{key} {_value(value)}" for key, value in rest)])


def _value(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(_value(each) for each in value) or "none"
    if isinstance(value, dict):
        return _row({"": "", **value}).strip()
    if value is None:
        return "none"
    return printable(value) if isinstance(value, str) else canonical_bytes(value).decode()


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
