"""The files that an agent from outside is started from, by their digests.

A digest says which file was there when the run began. It does not cover what the program imports, loads or downloads,
its interpreter, or an installed module; and the file can be replaced before it is started.
"""

from __future__ import annotations

from pathlib import Path

from specledger.core.digest import file_digest
from specledger.spec.agent import Outside


def program_files(outside: Outside) -> dict[str, str]:
    """The SHA-256 of each file that a command names, and of a function's module in the current folder, by its path."""
    digests = {}
    for path in _named(outside):
        try:
            if Path(path).is_file():
                digests[path] = file_digest(Path(path))
        except OSError:  # too long for a path, or not readable
            continue
    return digests


def _named(outside: Outside) -> list[str]:
    """The paths that may be files of it; the first word of a command without a slash is looked up in PATH instead."""
    if outside.python is not None:
        module = outside.python.partition(":")[0].replace(".", "/")
        return [f"{module}.py", f"{module}/__init__.py"]
    return [word for number, word in enumerate(outside.command or ()) if number or "/" in word]
