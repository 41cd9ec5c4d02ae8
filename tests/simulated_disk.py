"""A disk that loses what was not synced: a model of a POSIX file system under a folder, and of how its processes end.

Files are kept twice: as processes see them (the page cache), which is also a real folder, so that everything reads them as
usual; and as they would be found after a loss of power. Content reaches the second by `sync`, names by `sync_folder`.
When the power is lost, an arbitrary part of the rest does, too: a prefix of it, or any part in any order, whole or torn,
with zeros where a part of a file did not arrive. A moved name is atomic, names in one place keep their order, and a folder
vanishes after what was in it. A killed process loses what it has not given to the system, and nothing else.

An operation may fail: no space (some bytes may be written before), an error of the device, after which what was to be
synced may never arrive although the system shows it. A disk that lies says that it has synced, and has not.

Everything follows from a seed. After ALICE (Pillai et al., OSDI 2014), CrashMonkey, and SQLite's test VFS.
"""

import errno
import io
import os
import random
import shutil
import sys
from pathlib import Path

from specledger.core.disk import Disk


class Ended(BaseException):
    """The process is no more: it was killed, or the power was lost."""


class Raw(io.RawIOBase):
    """An open file without a buffer. What a process kept in a buffer when it ended goes nowhere."""

    def __init__(self, disk, descriptor):
        self.disk, self.descriptor, self.process = disk, descriptor, disk.process

    def writable(self):
        return True

    def fileno(self):
        return self.descriptor

    def write(self, data):
        if self.process != self.disk.process:
            return len(data)
        return self.disk.write(self.descriptor, bytes(data))

    def close(self):
        if not self.closed:
            super().close()
            os.close(self.descriptor)


class File:
    """A file: its durable content, and what was done to it since, as (offset, data) or (size, None)."""

    def __init__(self, durable=b""):
        self.durable, self.pending, self.size = durable, [], len(durable)

    def do(self, at, data):
        self.pending.append((at, data))
        self.size = at if data is None else max(self.size, at + len(data))

    def sync(self):
        for at, data in self.pending:
            self.durable = applied(self.durable, at, data)
        self.pending = []

    def lose(self, chance):
        """What is found after a loss of power."""
        way = chance.choice(["nothing", "all", "prefix", "parts", "parts"])
        if way == "all":
            self.sync()
        elif way == "prefix":
            kept = chance.randrange(len(self.pending) + 1)
            for at, data in self.pending[:kept]:
                self.durable = applied(self.durable, at, data)
            for at, data in self.pending[kept : kept + 1]:
                if data:
                    self.durable = applied(self.durable, at, data[: chance.randrange(len(data))])
        elif way == "parts":
            for at, data in self.pending:
                self._lose_parts(at, data, chance)
        self.pending, self.size = [], len(self.durable)

    def _lose_parts(self, at, data, chance):
        if data is None:
            if chance.random() < 0.5:
                self.durable = applied(self.durable, at, None)
            return
        unit = chance.choice([16, 512, 4096])
        for start in range(0, len(data), unit):
            if chance.random() < 0.5:
                self.durable = applied(self.durable, at + start, data[start : start + unit])
        if chance.random() < 0.25:  # the size arrived without the data
            self.durable = applied(self.durable, at + len(data), b"")


def applied(content, at, data):
    if data is None:
        return content[:at].ljust(at, b"\0")
    return content[:at].ljust(at, b"\0") + data + content[at + len(data) :]


class Folder:
    """A folder: names as they are seen, and durable ones."""

    def __init__(self):
        self.names, self.durable = {}, {}


class SimulatedDisk(Disk):
    """The disk under a root; elsewhere the real one."""

    omitted: tuple[str, str] | None = None
    """A planted fault: an operation that a function, by its qualified name, does not ask for."""

    def __init__(self, root, seed):
        self.root, self.chance = Path(root), random.Random(seed)
        self.top, self.changes = Folder(), []
        self.process, self.lying = 0, 0.0
        self.start()

    def start(self, end_at=None, fail_at=None):
        """A process begins; it ends before an operation of this number, and another one fails."""
        self.process += 1
        self.operations, self.ended = 0, False
        self.end_at, self.fail_at, self.failed = end_at, fail_at, False
        self.stale = False
        self.files = {}

    def adopt(self):
        """Take what is in the root as durable."""

        def read(place):
            folder = Folder()
            for path in place.iterdir():
                folder.names[path.name] = read(path) if path.is_dir() else File(path.read_bytes())
            folder.durable = dict(folder.names)
            return folder

        self.top, self.changes = read(self.root), []

    # How it ends

    def lose_power(self):
        """Forget what is not durable, by chance in part; what is found is what is seen from now on."""
        dropped: set = set()
        way = self.chance.choice(["nothing", "all", "prefix", "parts", "parts"])
        kept = {"nothing": 0, "all": len(self.changes)}.get(way, self.chance.randrange(len(self.changes) + 1))
        for number, change in enumerate(self.changes):
            stays = self.chance.random() < 0.5 if way == "parts" else number < kept
            if not stays or needs_of(change) & dropped:
                dropped |= marks_of(change)
            else:
                apply(change)
        self.changes = []
        shutil.rmtree(self.root)
        self._write_again(self.top, self.root)

    def _write_again(self, folder, place):
        place.mkdir()
        folder.names = dict(folder.durable)
        for name, node in folder.names.items():
            if isinstance(node, Folder):
                self._write_again(node, place / name)
            else:
                node.lose(self.chance)
                with open(place / name, "wb") as file:
                    file.write(node.durable)

    def _omits(self, operation):
        return self.omitted is not None and self.omitted == (operation, sys._getframe(2).f_code.co_qualname)

    def _step(self, *failing):
        """Count an operation, and end or fail at its number; whether it takes place."""
        if self.ended:
            return False
        self.operations += 1
        if self.operations == self.end_at:
            self.ended = True
            raise Ended
        if self.fail_at is not None and self.operations >= self.fail_at and failing:
            self.fail_at, self.failed = None, True
            kind = self.chance.choice(failing)
            raise OSError(kind, os.strerror(kind))
        return True

    # What is asked of it

    def create(self, path):
        if not self._inside(path):
            return super().create(path)
        self._step(errno.ENOSPC, errno.EIO)
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
        node = self._make(path, File)
        if node.size:
            node.do(0, None)
        self.files[descriptor] = node
        return io.BufferedWriter(Raw(self, descriptor))

    def open(self, path, flags):
        if not self._inside(path):
            return super().open(path, flags)
        if self.ended:
            raise Ended
        if flags & os.O_CREAT and not os.path.lexists(path):
            self._step(errno.ENOSPC, errno.EIO)
        descriptor = super().open(path, flags)
        self.files[descriptor] = self._make(path, File)
        return descriptor

    def write(self, file, data):
        node = self.files.get(file)
        if node is None:
            return super().write(file, data)
        try:
            if not self._step(errno.ENOSPC, errno.EIO):
                return len(data)
        except (OSError, Ended):
            if self.chance.random() < 0.5:
                self._write_some(node, file, data[: self.chance.randrange(len(data) + 1)])
            raise
        if self.chance.random() < 0.05:
            data = data[: self.chance.randrange(1, len(data) + 1)]
        return self._write_some(node, file, data)

    def _write_some(self, node, file, data):
        if data:
            os.write(file, data)
            node.do(node.size, data)
        return len(data)

    def truncate(self, file, size):
        omitted = self._omits("truncate")
        if omitted or self._step(errno.EIO):
            self.stale = False
        if not (omitted or self.ended):
            super().truncate(file, size)
            self.files[file].do(size, None)

    def sync(self, file):
        node = self.files.get(file)
        if node is None or self._omits("sync"):
            return
        try:
            if not self._step(errno.EIO):
                return
        except OSError:
            self.stale = True
            node.pending = [done for done in node.pending if self.chance.random() < 0.5]
            raise
        if self.chance.random() >= self.lying:
            node.sync()

    def sync_folder(self, folder):
        if not self._inside(folder) or self._omits("sync_folder"):
            return
        if self._step(errno.EIO) and self.chance.random() >= self.lying:
            node = self._node(folder)
            needed: set = set()
            arrived: set = set()
            for change in reversed(self.changes):
                if marks_of(change) & needed or any(folder is node for folder, *_ in change):
                    needed |= needs_of(change)
                    arrived.add(id(change))
            for change in self.changes:
                if id(change) in arrived:
                    apply(change)
            self.changes = [change for change in self.changes if id(change) not in arrived]

    def rename(self, path, to):
        if self._step(errno.EIO):
            super().rename(path, to)
            node = self._node(path)
            self._change((self._node(path.parent), path.name, None), (self._node(to.parent), to.name, node))

    def remove(self, path):
        if self._step(errno.EIO):
            super().remove(path)
            self._change((self._node(path.parent), path.name, None))

    def make_folder(self, folder):
        if not self._inside(folder):
            super().make_folder(folder)
        elif self._step(errno.ENOSPC):
            super().make_folder(folder)
            self._make(folder, Folder)

    def remove_tree(self, folder):
        for name in sorted(os.listdir(folder)):
            path = folder / name
            if path.is_dir():
                self.remove_tree(path)
            else:
                self.remove(path)
        if self._step(errno.EIO):
            folder.rmdir()
            self._change((self._node(folder.parent), folder.name, None))

    # The tree

    def _inside(self, path):
        return path == self.root or self.root in path.parents

    def _node(self, path):
        node = self.top
        for name in path.relative_to(self.root).parts:
            node = node.names[name]
        return node

    def _make(self, path, make):
        folder = self._node(path.parent)
        if path.name not in folder.names:
            self._change((folder, path.name, make()))
        return folder.names[path.name]

    def _change(self, *change):
        """Change names together; the last of each is what was there, for what depends on it."""
        full = [(folder, name, node, folder.names.get(name)) for folder, name, node in change]
        for folder, name, node, _ in full:
            if node is None:
                folder.names.pop(name, None)
            else:
                folder.names[name] = node
        self.changes.append(full)


def places_of(change):
    """The names that a change is of; changes of one name keep their order."""
    return {(id(folder), name) for folder, name, *_ in change}


def needs_of(change):
    """What must not come later than a change: others of the same names, and what was done in a folder that it removes."""
    gone = {id(was) for _, _, node, was in change if node is None and isinstance(was, Folder) and len(change) == 1}
    return places_of(change) | gone


def marks_of(change):
    """What others may need of a change."""
    return places_of(change) | {id(folder) for folder, *_ in change}


def apply(change):
    for folder, name, node, _ in change:
        if node is None:
            folder.durable.pop(name, None)
        else:
            folder.durable[name] = node
