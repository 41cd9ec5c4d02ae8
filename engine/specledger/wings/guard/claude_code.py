"""Writes the hook into the settings of Claude Code, and takes it out again; everything else stays as it is."""

from __future__ import annotations

import os
import shlex
import sys
from pathlib import Path
from typing import Any, Final

from specledger.core.diagnostics import Diagnostic, Rejected
from specledger.evidence.disk import write_file
from specledger.wings.guard.client import from_json, to_json
from specledger.wings.guard.codes import E_GUARD_INSTALL
from specledger.wings.guard.hook import EVENTS, MODULE

SETTINGS: Final = Path(".claude/settings.local.json")
"""The settings of one user in one project."""
_MATCHED: Final = ("PreToolUse", "PostToolUse", "PostToolUseFailure")
"""The events whose hooks are for tools of some names."""
_TIMEOUT: Final = 60  # seconds


def install(settings: Path, socket: Path, fail: str) -> None:
    """Write the hook for every event that it takes, in the place of an earlier one.

    Raises:
        Rejected: E_GUARD_INSTALL: the settings are not what Claude Code reads.
    """
    document = _without(_read(settings), settings)
    # The agent writes to the working folder, so that no module may come from there.
    words = [sys.executable, "-P", "-m", MODULE, "--socket", str(socket.absolute()), "--fail", fail]
    hook = {"type": "command", "command": shlex.join(words), "timeout": _TIMEOUT}
    hooks = document.setdefault("hooks", {})
    for event in EVENTS:
        matcher = {"matcher": "*"} if event in _MATCHED else {}
        hooks.setdefault(event, []).append({**matcher, "hooks": [hook]})
    _write(settings, document)


def uninstall(settings: Path) -> bool:
    """Take the hook out; whether there was one.

    Raises:
        Rejected: E_GUARD_INSTALL, as above.
    """
    before = _read(settings)
    after = _without(from_json(to_json(before)), settings)
    if after == before:
        return False
    if after:
        _write(settings, after)
    else:
        settings.unlink()
    return True


def _read(settings: Path) -> dict[str, Any]:
    if not settings.exists():
        return {}
    try:
        document = from_json(settings.read_bytes())
    except ValueError as error:
        raise _refused(settings, f"they are no JSON: {error}") from None
    if not isinstance(document, dict):
        raise _refused(settings, "they are no JSON object")
    return document


def _without(document: dict[str, Any], settings: Path) -> dict[str, Any]:
    """The settings without hooks of this module."""
    hooks = document.get("hooks", {})
    if not isinstance(hooks, dict) or not all(isinstance(groups, list) for groups in hooks.values()):
        raise _refused(settings, "`hooks` is no object of lists")
    for event, groups in [*hooks.items()]:
        kept = [group for group in groups if not _is_own(group)]
        if kept:
            hooks[event] = kept
        elif groups:
            del hooks[event]
    if "hooks" in document and not hooks:
        del document["hooks"]
    return document


def _is_own(group: Any) -> bool:
    """Whether a group of hooks was written here."""
    inner = group.get("hooks") if isinstance(group, dict) else None
    if not isinstance(inner, list) or len(inner) != 1 or not isinstance(inner[0], dict):
        return False
    command = inner[0].get("command")
    return isinstance(command, str) and f" -m {MODULE} " in command


def _write(settings: Path, document: dict[str, Any]) -> None:
    """Put new settings in the place of the present ones, whole."""
    settings.parent.mkdir(parents=True, exist_ok=True)
    place = settings.resolve()
    part = place.with_name(f"{place.name}.part")
    try:
        write_file(part, to_json(document, indent=True) + b"\n")
        if place.exists():
            part.chmod(place.stat().st_mode & 0o777)
        os.replace(part, place)
    finally:
        part.unlink(missing_ok=True)


def _refused(settings: Path, message: str) -> Rejected:
    text = f"the settings {settings} are left as they are: {message}"
    return Rejected([Diagnostic(E_GUARD_INSTALL, text, hint="mend them, or name others by --settings")])
