"""Writes the hook into the settings of Claude Code, and takes it out again; everything else stays as it is."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import Any, Final

from specledger.core import disk
from specledger.core.diagnostics import Diagnostic, Rejected
from specledger.wings.guard.client import from_json, to_json
from specledger.wings.guard.codes import E_GUARD_INSTALL
from specledger.wings.guard.hook import EVENTS, MODULE

SETTINGS: Final = Path(".claude/settings.local.json")
"""The settings of one user in one project."""
_MATCHED: Final = ("PreToolUse", "PostToolUse", "PostToolUseFailure")
"""The events whose hooks are for tools of some names."""
_TIMEOUT: Final = 60  # seconds


def install(settings: Path, socket: Path, fail: str) -> None:
    """Write the hook for every event that it takes, in the place of an earlier one; the settings before it are kept.

    Raises:
        Rejected: E_GUARD_INSTALL: the settings are not what Claude Code reads.
    """
    present = _read(settings)
    document = _without(from_json(to_json(present)), settings)
    if document == present:  # without a hook, so that these are the settings to which an uninstallation goes back
        _keep(settings)
    # The agent writes to the working folder, so that no module may come from there.
    words = [sys.executable, "-P", "-m", MODULE, "--socket", str(socket.absolute()), "--fail", fail]
    hook = {"type": "command", "command": shlex.join(words), "timeout": _TIMEOUT}
    hooks = document.setdefault("hooks", {})
    for event in EVENTS:
        matcher = {"matcher": "*"} if event in _MATCHED else {}
        hooks.setdefault(event, []).append({**matcher, "hooks": [hook]})
    _write(settings, to_json(document, indent=True) + b"\n")


def uninstall(settings: Path) -> bool:
    """Take the hook out; whether there was one.

    The settings are then byte for byte what they were before it, unless they were changed since.

    Raises:
        Rejected: E_GUARD_INSTALL, as above.
    """
    before = _read(settings)
    after = _without(from_json(to_json(before)), settings)
    if after == before:
        return False
    kept = _kept(settings)
    earlier = kept.read_bytes() if kept.exists() else None
    if earlier is not None and _document(earlier) == after:
        _write(settings, earlier)
    elif after or earlier is not None:
        _write(settings, to_json(after, indent=True) + b"\n")
    else:
        settings.resolve().unlink()
    kept.unlink(missing_ok=True)
    return True


def _kept(settings: Path) -> Path:
    """Where the settings are as they were before the hook."""
    place = settings.resolve()
    return place.with_name(f"{place.name}.before-guard")


def _keep(settings: Path) -> None:
    kept = _kept(settings)
    if settings.exists():
        _put(kept, settings.read_bytes(), settings.stat().st_mode & 0o777)
    else:
        kept.unlink(missing_ok=True)


def _document(data: bytes) -> Any:
    """The JSON value of bytes; None if they are no JSON."""
    try:
        return from_json(data)
    except ValueError:
        return None


def _read(settings: Path) -> dict[str, Any]:
    if not settings.exists():
        return {}
    try:
        document = from_json(settings.read_bytes())
    except ValueError as error:
        raise _refused(settings, f"they are no JSON, which has no comments: {error}") from None
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


def _write(settings: Path, data: bytes) -> None:
    """Put new settings in the place of the present ones, or of the file that a link to them leads to."""
    settings.parent.mkdir(parents=True, exist_ok=True)
    place = settings.resolve()
    _put(place, data, place.stat().st_mode & 0o777 if place.exists() else 0o600)


def _put(place: Path, data: bytes, mode: int) -> None:
    """Write a file whole, or leave what is there."""
    part = place.with_name(f"{place.name}.part")
    try:
        disk.write_file(part, data)
        part.chmod(mode)
        part.replace(place)
    finally:
        part.unlink(missing_ok=True)


def _refused(settings: Path, message: str) -> Rejected:
    text = f"the settings {settings} are left as they are: {message}"
    return Rejected([Diagnostic(E_GUARD_INSTALL, text, hint="mend them, or name others by --settings")])
