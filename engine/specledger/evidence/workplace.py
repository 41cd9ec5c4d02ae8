"""The place of a bundle: what is there before it is written, and the folder beside it in which it is written.

Only the form of an earlier bundle is looked at; nothing is verified. A finished bundle is moved to its place whole.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Collection, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

from specledger.core import disk
from specledger.core.canonical import LINE_LIMIT, NotCanonical, parse_canonical
from specledger.core.diagnostics import Diagnostic, Rejected, code, suggest
from specledger.evidence.layout import (
    ATTACHED,
    ATTESTATION,
    CHECKPOINT,
    FOLDERS,
    FORMAT,
    MANIFEST,
    MORE,
    PROVENANCE,
    RECEIPTS,
    SPECS,
    TIMESTAMP,
    is_counterexample,
    is_source,
    walk,
)
from specledger.evidence.resume import BEFORE, IDENTITY, belongs, count_finished, remove

if sys.platform != "win32":
    import fcntl

SHARD: Final = "shard.json"
"""The file that makes a folder a shard of a suite."""
_EARLIER: Final = "earlier"
WORKING: Final = re.compile(r"\.(.+)\.[0-9]+\.partial", re.DOTALL)
"""What such a folder is called; the group is the name of the place."""

E_OUT_UNWRITABLE = code("E_OUT_UNWRITABLE", "the output folder cannot be written")
E_OUT_FOREIGN = code("E_OUT_FOREIGN", "the output folder holds something else")


class Workplace:
    """Where one bundle grows."""

    def __init__(self, target: Path) -> None:
        """Name the folders; nothing is touched."""
        self.target = target
        self._work = self._named(os.getpid())
        self._lock: int | None = None

    def open(self, identity: str = "", *, resume: bool = False, kept: Collection[str] = ()) -> None:
        """Make the folder, or continue in that of an unfinished run of the same identity; `kept` are its folders.

        Raises:
            Rejected: E_OUT_FOREIGN, E_RESUME_OTHER.
            OSError: The system refuses.
        """
        self._refuse_foreign()
        if resume:
            self._adopt(identity)
        for work, lock in self._abandoned():  # of processes that were killed, perhaps of the same number
            self._clear(work, lock)
        if self._lock is None:
            disk.make_folders(self.target.parent)
            self._work = disk.make_own_folder(self._named)
            self._lock = _try_lock(self._work)
            disk.replace_file(self._work / IDENTITY, identity.encode(), self._work / "unwritten")
        disk.make_folders(self.folder)
        _set_aside(self._work, kept)

    @property
    def folder(self) -> Path:
        """The folder in which the bundle grows."""
        return self._work / "new"

    @property
    def beside(self) -> Path:
        """The folder of what is no part of the bundle and goes with the working folder."""
        return self._work

    def move(self) -> None:
        """Move the folder to its place; an earlier bundle is set aside.

        Raises:
            Rejected: E_OUT_FOREIGN, if something else has come to the place since the folder was made.
            OSError: The system refuses.
        """
        self._refuse_foreign()
        disk.sync_names(self.folder)
        if self.target.exists():
            self._sync_above(self._work)
            disk.SYSTEM.rename(self.target, self._work / _EARLIER)
        disk.SYSTEM.rename(self.folder, self.target)
        try:
            self._sync_above(self._work)
        except OSError:
            disk.SYSTEM.rename(self.target, self.folder)  # the earlier one is not removed for what may be lost
            raise

    def _sync_above(self, work: Path) -> None:
        """Force the names of the place and in a working folder to the disk."""
        disk.SYSTEM.sync_folder(work)
        disk.SYSTEM.sync_folder(self.target.parent)

    def close(self, *, keep: bool = False) -> None:
        """Put an earlier bundle back if no new one took its place, and remove the folder unless it is kept."""
        self._clear(self._work, self._lock, keep=keep)

    def unwritable(self, error: OSError) -> Rejected:
        """What a failure of the system is to people."""
        return Rejected([Diagnostic(E_OUT_UNWRITABLE, f"cannot write {self.target}: {error.strerror or error}")])

    def _clear(self, work: Path, lock: int | None, *, keep: bool = False) -> None:
        """Remove a working folder, after putting back what it set aside."""
        with suppress(OSError):
            if (work / _EARLIER).exists():
                if self.target.exists():
                    self._sync_above(work)  # before the earlier one goes, the new one is there
                    disk.SYSTEM.rename(work / _EARLIER, work / "replaced")  # what is half removed is not put back
                else:
                    disk.SYSTEM.rename(work / _EARLIER, self.target)
                self._sync_above(work)
            if not keep:
                disk.remove_folder(work)
        if lock is not None:
            os.close(lock)

    def _named(self, number: int) -> Path:
        return self.target.parent / f".{self.target.name}.{number}.partial"

    def _adopt(self, identity: str) -> None:
        """Take over a working folder that can be continued, if there is one."""
        for work, lock in self._abandoned():
            try:
                mine = self._lock is None and belongs(work, identity)
            except BaseException:
                os.close(lock)
                raise
            self._clear(work, None if mine else lock, keep=True)
            if mine:
                self._work, self._lock = work, lock

    def _abandoned(self) -> Iterator[tuple[Path, int]]:
        """The working folders for this place that no process holds, each with a lock on it."""
        entries = list(self.target.parent.iterdir()) if self.target.parent.is_dir() else []
        for work in entries:
            match = WORKING.fullmatch(work.name)
            if match is not None and match[1] == self.target.name and work.is_dir() and not work.is_symlink():
                lock = _try_lock(work)
                if lock is not None:
                    yield work, lock

    def _refuse_foreign(self) -> None:
        if not replaceable(self.target):
            message = f"{self.target} exists and is no bundle that a run may replace"
            raise Rejected([Diagnostic(E_OUT_FOREIGN, message, hint="name another folder by --out")])


def count_kept(target: Path) -> dict[str, int]:
    """How many runs and episodes unfinished runs to a place left beside it."""
    counts: dict[str, int] = {}
    for work in target.parent.iterdir() if target.parent.is_dir() else ():
        match = WORKING.fullmatch(work.name)
        if match is not None and match[1] == target.name and work.is_dir():
            for noun, number in count_finished(work, FOLDERS).items():
                counts[noun] = counts.get(noun, 0) + number
    return counts


def explain_partial(folder: Path) -> str | None:
    """An explanation of a leftover working folder; None if a folder is not named like one."""
    match = WORKING.fullmatch(folder.absolute().name)
    if match is None or not folder.is_dir():
        return None
    if (lock := _try_lock(folder)) is None:
        return f"a run is writing there what will be `{match[1]}` beside it, unless it was killed"
    os.close(lock)
    if (folder / _EARLIER).exists():
        return f"`{_EARLIER}` in it was `{match[1]}` beside it until a run was killed; the next run there puts it back"
    left = f"a run to `{match[1]}` beside it was killed and left it: nothing in it counts, and it may be deleted"
    return f"{left}; the same run with --resume continues it"


def _try_lock(folder: Path) -> int | None:
    """Lock a folder until the descriptor is closed; None if another process holds it or there are no such locks."""
    if sys.platform == "win32":
        return None
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        return None
    return descriptor


_MOST_NAMED: Final = 5  # bundles that a hint lists


def replaceable(target: Path) -> bool:
    """Whether nothing is there, an empty folder, a shard, or a bundle with a manifest of this format and nothing else.

    `.` and `..` are never replaced: the working folder is created in them.
    """
    if target.name in ("", ".."):
        return False
    if not os.path.lexists(target):
        return True
    if target.is_symlink() or not target.is_dir():
        return False
    return not os.listdir(target) or (target / SHARD).is_file() or _is_bundle(target)


def holds_bundle(folder: Path) -> bool:
    """Whether there is a bundle at a place, by its looks: a folder with a manifest."""
    return (folder / MANIFEST).exists()


def suggest_bundle(folder: Path) -> str:
    """What to name instead of a place without a bundle."""
    if (folder / SHARD).is_file():
        return "it is a shard: `spec merge` makes evidence of all shards of a suite"
    if inside := _bundles(folder):
        return f"there are bundles in it: {', '.join(f'`{folder / name}`' for name in inside[:_MOST_NAMED])}"
    near = suggest(folder.name, _bundles(folder.parent))
    return f"did you mean `{folder.with_name(near)}`?" if near else "`spec run FILE --out DIR` writes a bundle"


def _bundles(folder: Path) -> list[str]:
    """The names of the bundles in a folder, of which not everything may be read."""
    try:
        return sorted(path.name for path in folder.iterdir() if (path / MANIFEST).exists())
    except OSError:
        return []


def covers_of(folder: Path) -> frozenset[str]:
    """What signs or stamps the bundle at a place, by the names of the files; empty if no bundle can be read there."""
    names = (CHECKPOINT, ATTESTATION, PROVENANCE, TIMESTAMP)
    return frozenset(name for name in names if os.path.lexists(folder / name))


def _is_bundle(folder: Path, more: Collection[str] = ATTACHED, folders: Collection[str] = FOLDERS) -> bool:
    """Whether a folder holds a bundle's own files and, in the folders of a suite, nothing but bundles."""
    own = {MANIFEST, RECEIPTS, SPECS, *MORE, *more}
    for path in walk(folder, folders):
        file = folder / path
        if file.is_symlink() or not file.is_file():
            return False
        inner = path.partition("/")[0] in folders
        known = path in own or is_source(path) or is_counterexample(path)
        if not (path.endswith(f"/{MANIFEST}") and _is_bundle(file.parent, (), ()) if inner else known):
            return False
    if not (folder / MANIFEST).is_file():
        return False
    with (folder / MANIFEST).open("rb") as manifest:
        return _is_manifest(manifest.read(LINE_LIMIT + 2))


def _is_manifest(data: bytes) -> bool:
    try:
        manifest = parse_canonical(data.removesuffix(b"\n"))
    except NotCanonical:
        return False
    return isinstance(manifest, dict) and manifest.get("format") == FORMAT


def _set_aside(work: Path, kept: Collection[str]) -> None:
    """Move the receipts of the last attempt aside, unless an earlier one came further, and remove what else it made."""
    last, before = work / "new" / RECEIPTS, work / BEFORE
    if last.is_file() and not (before.is_file() and before.stat().st_size >= last.stat().st_size):
        disk.SYSTEM.rename(last, before)
    for folder, names in ((work, {"new", IDENTITY, BEFORE}), (work / "new", {*kept})):
        for path in folder.iterdir():
            if path.name not in names:
                remove(path)
