"""Faults that only show when several processes write at once."""

import fcntl
import os
from collections.abc import Callable
from contextlib import AbstractContextManager
from unittest.mock import patch

from specledger.core import disk
from specledger.evidence import append_file, workplace


def unlocked(file, operation):
    """No lock is taken."""


def opened_without_a_lock(folder):
    return os.open(folder, os.O_RDONLY)


def made_like_anothers(named):
    disk.make_folders(named(1))
    return named(1)


class Unlocked:
    """The locks of the system, which do nothing."""

    LOCK_EX, LOCK_NB, LOCK_UN, LOCK_SH = fcntl.LOCK_EX, fcntl.LOCK_NB, fcntl.LOCK_UN, fcntl.LOCK_SH
    flock = staticmethod(unlocked)


RACES: dict[str, tuple[str, Callable[[], AbstractContextManager]]] = {
    "a log is not locked": ("one run log", lambda: patch.object(append_file, "fcntl", Unlocked)),
    "an audit log is not locked": ("one audit log", lambda: patch.object(append_file, "fcntl", Unlocked)),
    "a working folder of another process is taken for abandoned": (
        "one place",
        lambda: patch.object(workplace, "_try_lock", opened_without_a_lock),
    ),
    "two processes use one working folder": (
        "one place",
        lambda: patch.object(disk, "make_own_folder", made_like_anothers),
    ),
}
PLANTED = {name: plant for name, (_, plant) in RACES.items()}
