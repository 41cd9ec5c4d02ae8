"""Faults of writers that the simulated disk must find, each with a writer that it shows in."""

import os
from contextlib import suppress
from unittest.mock import patch

from specledger.core import disk
from specledger.evidence.append_file import AppendFile
from specledger.evidence.workplace import Workplace
from tests.simulated_disk import SimulatedDisk


def omitting(operation, function):
    """A function does not ask for an operation."""
    return lambda: patch.object(SimulatedDisk, "omitted", (operation, function))


def replacing(owner, name, body):
    """A function has another body."""
    return lambda: patch.object(owner, name, body)


def moved_before_its_names_are_synced(self):
    self._refuse_foreign()
    if self.target.exists():
        self._sync_above(self._work)
        disk.SYSTEM.rename(self.target, self._work / "earlier")
    disk.SYSTEM.rename(self.folder, self.target)
    disk.sync_names(self.target)
    self._sync_above(self._work)


def cleared_without_waiting(self, work, lock, *, keep=False):
    with suppress(OSError):
        if (work / "earlier").exists() and not self.target.exists():
            disk.SYSTEM.rename(work / "earlier", self.target)
        if not keep:
            disk.remove_folder(work)
    if lock is not None:
        os.close(lock)


def renamed_before_it_is_synced(path, data, beside):
    with disk.SYSTEM.create(beside) as file:
        file.write(data)
        file.flush()
        disk.SYSTEM.rename(beside, path)
        disk.SYSTEM.sync(file.fileno())
    disk.SYSTEM.sync_folder(path.parent)


def whole_by_its_last_newline(self):
    return self.read().rfind(b"\n") + 1


FAULTS = {
    "a new log's folder is not synced": ("audit log", omitting("sync_folder", "AppendFile.__init__")),
    "an entry is not synced": ("audit log", omitting("sync", "AppendFile.sync")),
    "a simulated run's log is not synced": ("audit log of a simulated run", omitting("sync", "AppendFile.sync")),
    "a decision is not synced": ("guard log", omitting("sync", "AppendFile.sync")),
    "an attempt is not synced": ("run log", omitting("sync", "AppendFile.sync")),
    "what is found in a log is not synced": ("guard log", omitting("sync", "AppendFile.__init__")),
    "a torn tail is not cut off": ("run log", omitting("truncate", "AppendFile.cut")),
    "a line that could not be written stays": ("audit log", omitting("truncate", "AppendFile._abandon")),
    "zeros are taken for content": (
        "guard log",
        replacing(AppendFile, "whole", property(whole_by_its_last_newline)),
    ),
    "a cassette's folder is not synced": ("cassette", omitting("sync_folder", "CassetteModel._catch_up")),
    "an answer is not synced": ("cassette", omitting("sync", "CassetteModel._write")),
    "an answer that is found is not synced": ("cassette", omitting("sync", "CassetteModel._catch_up")),
    "a torn answer is not cut off": ("cassette", omitting("truncate", "CassetteModel._catch_up")),
    "files of a bundle are not synced": ("bundle", omitting("sync", "sync_file")),
    "names in a bundle are not synced": ("bundle", omitting("sync_folder", "sync_names")),
    "the move of a bundle is not synced": ("bundle", omitting("sync_folder", "Workplace._sync_above")),
    "an earlier bundle goes before the new one is there": (
        "bundle for an earlier one",
        omitting("sync_folder", "Workplace._sync_above"),
    ),
    "an earlier bundle is removed before it is out of the way": (
        "bundle with resume for an earlier one",
        replacing(Workplace, "_clear", cleared_without_waiting),
    ),
    "a bundle is moved before its names are synced": (
        "bundle",
        replacing(Workplace, "move", moved_before_its_names_are_synced),
    ),
    "a seal is moved before it is synced": ("seal", replacing(disk, "replace_file", renamed_before_it_is_synced)),
    "the move of a seal is not synced": ("seal", omitting("sync_folder", "replace_file")),
    "digests are removed, and that is not synced": ("seal", omitting("sync_folder", "Seal.attach")),
    "files of a suite are not synced": ("suite", omitting("sync", "sync_file")),
    "names in a shard are not synced": ("shard", omitting("sync_folder", "sync_names")),
    "files that are merged are not synced": ("merge of shards", omitting("sync", "sync_file")),
    "the move of a merged suite is not synced": ("merge of shards", omitting("sync_folder", "Workplace._sync_above")),
    "evidence of a conversation is not synced": ("sealed conversation", omitting("sync", "sync_file")),
    "the move of a conversation's evidence is not synced": ("sealed conversation", omitting("sync_folder", "seal")),
}
PLANTED = {name: plant for name, (_, plant) in FAULTS.items()}
