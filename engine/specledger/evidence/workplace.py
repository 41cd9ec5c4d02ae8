"""The folder beside a place in which a bundle is written until it is moved there whole."""

from __future__ import annotations

import os
import re
import shutil
import sys
from contextlib import suppress
from pathlib import Path
from typing import Final

from specledger.core.diagnostics import Diagnostic, Rejected, code
from specledger.evidence.archive import SUFFIX, pack
from specledger.evidence.places import replaceable

if sys.platform != "win32":
    import fcntl

_EARLIER: Final = "earlier"
_PARTIAL: Final = re.compile(r"\.(.+)\.[0-9]+\.partial", re.DOTALL)
"""What such a folder is called; the group is the name of the place."""

E_OUT_UNWRITABLE = code(
    "E_OUT_UNWRITABLE",
    "the output folder cannot be written",
    "Evidence could not be written where --out says. Nothing that was written before the failure counts as a result. "
    "Choose another folder, or make room and grant permission there.",
)
E_OUT_FOREIGN = code(
    "E_OUT_FOREIGN",
    "the output folder holds something else",
    "A run replaces an earlier bundle, but it never replaces a folder that is not one, or a file. Choose another "
    "--out, or remove what is there yourself.",
)


class Workplace:
    """Where one bundle grows."""

    def __init__(self, place: Path) -> None:
        """Name the folders; nothing is touched."""
        self.place = place
        self._work = place.parent / f".{place.name}.{os.getpid()}.partial"
        self.folder = self._work / "new"
        self._held: int | None = None

    def open(self) -> None:
        """Make the folder.

        Raises:
            Rejected: E_OUT_FOREIGN.
            OSError: The system refuses.
        """
        self._refuse_foreign()
        shutil.rmtree(self._work, ignore_errors=True)
        self._clear_abandoned()
        self.folder.mkdir(parents=True)
        self._held = _hold(self._work)

    def move(self) -> None:
        """Move the folder to its place, or the file that its bundle is there; an earlier bundle is set aside.

        Raises:
            Rejected: E_OUT_FOREIGN, if something else has come to the place since the folder was made.
            OSError: The system refuses.
        """
        whole = self._packed()
        self._refuse_foreign()
        if self.place.exists():
            self.place.rename(self._work / _EARLIER)
        whole.rename(self.place)

    def close(self) -> None:
        """Put an earlier bundle back if no new one took its place, and remove the folder."""
        self._clear(self._work, self._held)

    def unwritable(self, error: OSError) -> Rejected:
        """What a failure of the system is to people."""
        return Rejected([Diagnostic(E_OUT_UNWRITABLE, f"cannot write {self.place}: {error.strerror or error}")])

    def _packed(self) -> Path:
        """What goes to the place: the folder, or the file that its bundle is."""
        if self.place.suffix != SUFFIX:
            return self.folder
        file = self._work / "packed"
        pack(self.folder, file)
        return file

    def _clear(self, work: Path, held: int | None) -> None:
        """Remove a working folder, after putting back what it set aside."""
        with suppress(OSError):
            if (work / _EARLIER).exists() and not self.place.exists():
                (work / _EARLIER).rename(self.place)
            shutil.rmtree(work, ignore_errors=True)
        if held is not None:
            os.close(held)

    def _clear_abandoned(self) -> None:
        """Remove the working folders that processes left here when they were killed."""
        if not self.place.parent.is_dir():
            return
        for work in self.place.parent.iterdir():
            match = _PARTIAL.fullmatch(work.name)
            if match is not None and match[1] == self.place.name and work.is_dir() and not work.is_symlink():
                held = _hold(work)
                if held is not None:
                    self._clear(work, held)

    def _refuse_foreign(self) -> None:
        if not replaceable(self.place):
            raise Rejected([Diagnostic(E_OUT_FOREIGN, f"{self.place} exists and is no bundle that a run may replace")])


def explain_partial(folder: Path) -> str | None:
    """An explanation of a leftover working folder; None if a folder is not named like one."""
    match = _PARTIAL.fullmatch(folder.absolute().name)
    if match is None or not folder.is_dir():
        return None
    held = _hold(folder)
    if held is None:
        return f"a run is writing there what will be `{match[1]}` beside it, unless it was killed"
    os.close(held)
    if (folder / _EARLIER).exists():
        return f"`{_EARLIER}` in it was `{match[1]}` beside it until a run was killed; the next run there puts it back"
    return f"a run to `{match[1]}` beside it was killed and left it: nothing in it counts, and it may be deleted"


def _hold(folder: Path) -> int | None:
    """Lock a folder until the descriptor is closed, at the latest with this process.

    Returns:
        The descriptor, or None if another process holds the folder or the system has no such locks.
    """
    if sys.platform == "win32":
        return None
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        return None
    return descriptor
