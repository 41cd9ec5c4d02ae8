"""What an unfinished run left beside its place, so that the next one with `--resume` continues it.

A run that is killed leaves its working folder; one that ends early leaves it if that was asked for, or if what did the
work was lost. The folder is continued only by a run of the same specs with the same engine.
"""

from __future__ import annotations

from collections.abc import Collection
from functools import cache
from pathlib import Path
from typing import Final

import specledger
from specledger.core import disk
from specledger.core.diagnostics import Diagnostic, Rejected, code
from specledger.core.digest import tagged
from specledger.evidence.layout import MANIFEST, RECEIPTS

IDENTITY: Final = "identity"
"""The file of a working folder that says whose it is."""
BEFORE: Final = "before.jsonl"
"""The file of a working folder with the receipts of an earlier attempt."""
_MOST_IDENTITY: Final = 200  # bytes
_EPISODE_END: Final = b'"type":"episode_end"}\n'
"""The end of the receipt of a whole episode, of which the keys are sorted."""

E_RESUME_OTHER = code("E_RESUME_OTHER", "what can be resumed is another run")

ENGINE_TAG: Final = "specledger/engine/v1"


@cache
def engine_digest() -> str:
    """The digest of the package's source files."""
    root = Path(specledger.__file__).parent
    files = {path.relative_to(root).as_posix(): path.read_bytes() for path in root.rglob("*.py")}
    parts = [b"%s %d\n%s" % (name.encode(), len(data), data) for name, data in sorted(files.items())]
    return tagged(ENGINE_TAG, b"".join(parts))


def identity_of(specs: str) -> str:
    """What an unfinished run must have in common with the one that continues it: specs and engine."""
    return f"{specs} {engine_digest()}"


def belongs(work: Path, identity: str) -> bool:
    """Whether a working folder can be continued by a run with this identity; False if it holds nothing of use.

    Raises:
        Rejected: E_RESUME_OTHER.
        OSError: It cannot be read.
    """
    odd = next((path for path in work.rglob("*") if path.is_symlink() or not (path.is_dir() or path.is_file())), None)
    if odd is not None:
        raise _other(f"{odd} is a link or no file, which no run leaves there")
    if not (work / IDENTITY).is_file() or not (work / "new").is_dir():
        return False
    with (work / IDENTITY).open("rb") as file:
        stored = file.read(_MOST_IDENTITY)
    if stored and stored != identity.encode():
        raise _other(f"{work} is an unfinished run of other specs or by another engine")
    return bool(stored)


def count_finished(work: Path, folders: Collection[str]) -> dict[str, int]:
    """How many runs of a suite and, of what is no suite, whole episodes a working folder holds; nothing is verified."""
    runs = sum(1 for folder in folders for _ in (work / "new" / folder).rglob(MANIFEST))
    files = [file for file in (work / "new" / RECEIPTS, work / BEFORE) if file.is_file()]
    return {"run": runs, "episode": max(map(_count_episodes, files), default=0)}


def _count_episodes(file: Path) -> int:
    with file.open("rb") as lines:
        return sum(line.endswith(_EPISODE_END) for line in lines)


def remove(path: Path) -> None:
    """Remove a file or a folder."""
    if path.is_dir() and not path.is_symlink():
        disk.SYSTEM.remove_tree(path)
    else:
        disk.SYSTEM.remove(path)


def _other(message: str) -> Rejected:
    return Rejected([Diagnostic(E_RESUME_OTHER, message, hint="run without --resume to discard it")])
