"""Canonical lines: trajectories as JSON lines in canonical form, which evidence holds and every rule reads.

The first line names the format. For each trajectory follow a line that begins it, its entries in order, and a line
with the number of them. Fields that have their default are left out, so that equal trajectories have equal bytes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from msgspec import UNSET, MsgspecError, ValidationError, convert, to_builtins
from msgspec.json import Decoder, Encoder
from msgspec.structs import fields, replace

from specledger.core.canonical import (
    MAX_DEPTH,
    NotCanonical,
    canonical_bytes,
    canonical_ints,
    check_volume,
    parse_canonical,
    refuse_float,
)
from specledger.core.log_json import WITHHELD
from specledger.wings.trajectories.findings import E_LOG_SIZE, MalformedLine
from specledger.wings.trajectories.model import Call, Entry, Finding, Kept, Message, Result, Trajectory, Withheld
from specledger.wings.trajectories.room import MOST_KEPT, Room

FORMAT: Final = "specledger/trajectories/v1"
HEADER: Final = canonical_bytes({"format": FORMAT}) + b"\n"
"""The first line."""
MAX_LINE: Final = 72 << 20
"""The most bytes of a line; a log's own bound is lower, so that whatever was read can be written."""
MAX_LINE_VOLUME: Final = 8 << 20
MOST_OF_LINES: Final = MOST_KEPT + (32 << 20)
"""The most that is kept of one trajectory: what a reader kept of a log, and what `spec import` adds to that."""

_NAMES: Final[dict[type[Entry], str]] = {
    Message: "message",
    Call: "call",
    Result: "result",
    Finding: "finding",
    Kept: "kept",
}
_TYPES: Final = {name: kind for kind, name in _NAMES.items()}
_FIELDS: Final[dict[type[Entry], tuple[tuple[str, Any, bool], ...]]] = {
    kind: tuple((field.name, field.default, field.required) for field in fields(kind))
    for kind in (Message, Call, Result, Finding, Kept)
}
_KEYS: Final = {kind: frozenset(name for name, _, _ in members) for kind, members in _FIELDS.items()}
_DEFAULTS: Final = {
    kind: tuple((name, default) for name, default, required in members if not required and default is not UNSET)
    for kind, members in _FIELDS.items()
}
"""By kind the fields that a line may leave out, with the values that it must not state."""
_VALUES: Final = {Call: "arguments", Result: "content"}
_DECODERS: Final[dict[bytes, tuple[Decoder[Entry], str]]] = {
    b'{"%b"' % name.encode(): (Decoder(kind, float_hook=refuse_float), _VALUES.get(kind, ""))
    for name, kind in _TYPES.items()
}
"""By how a line begins."""
_BEGINNINGS: Final = {kind: b'{"%b":' % name.encode() for name, kind in _TYPES.items()}
_SORTED: Final = Encoder(order="sorted")
"""Writes the canonical form of an entry that a reader made, in half the time of `canonical_ints`."""
_HEAD: Final = frozenset({"id", "file", "format"})


def write_lines(trajectories: Iterable[Trajectory]) -> Iterator[bytes]:
    """The lines of trajectories, each with its newline.

    Raises:
        NotCanonical: A value of a call or a result has no canonical form; no reader makes such a one.
    """
    yield HEADER
    for trajectory in trajectories:
        head = {"id": trajectory.id, "file": trajectory.file, "format": trajectory.format}
        yield _line({"trajectory": head})
        for entry in trajectory.entries:
            yield entry_line(entry)
        yield _line({"end": len(trajectory.entries)})


def readable(entries: Iterable[Entry]) -> Iterator[Entry]:
    """As many entries of a trajectory as are kept when their lines are read, and a finding if those are not all."""
    room = Room(MOST_OF_LINES)
    for entry in entries:
        if not room.take(entry):
            yield room.finding(entry.line)
            return
        yield entry


def entry_line(entry: Entry) -> bytes:
    """The line of one entry whose values hold no integer beyond 2^53 - 1, with its newline."""
    try:
        return _BEGINNINGS[type(entry)] + _SORTED.encode(entry) + b"}\n"
    except UnicodeEncodeError:  # half a character, which `canonical_ints` refuses with its place
        return _line(entry_document(entry))


def entry_document(entry: Entry) -> dict[str, Any]:
    """What the line of one entry holds."""
    return {_NAMES[type(entry)]: to_builtins(entry)}


def entry_of(document: Mapping[str, Any]) -> Entry:
    """The entry of what its line holds.

    Raises:
        MalformedLine: It holds no entry.
    """
    name, value = next(iter(document.items()), ("", None))
    return _Lines(checked=True).read_entry(name, value)


def _line(value: dict[str, Any]) -> bytes:
    return canonical_ints(value) + b"\n"


def read_lines(lines: Iterable[bytes], *, checked: bool = False) -> Iterator[Trajectory]:
    """The trajectories of canonical lines, one in memory at a time; a file opened for bytes gives such lines.

    Whether they were `checked`, or written, by this process before: then their form is not checked again.

    Raises:
        MalformedLine: A line is not what stands there; nothing is repaired.
    """
    reader = _Lines(checked=checked)
    for number, line in enumerate(lines, start=1):
        trajectory = reader.take(number, line)
        if trajectory is not None:
            yield trajectory
    reader.close()


def read_entry(line: bytes, *, checked: bool = False) -> Entry | None:
    """The entry of a line that `entry_line` gives for it; None for any other line, and for one that is rare.

    Writing what was read again shows at once that the line is canonical and leaves out what has its default.
    """
    decoder, key = _DECODERS.get(line.partition(b":")[0], (None, ""))
    if decoder is None or not line.endswith(b"}\n") or len(line) > MAX_LINE_VOLUME:
        return None
    if not checked and line.count(b"[") + line.count(b"{") > MAX_DEPTH:
        return None
    try:
        entry = decoder.decode(memoryview(line)[line.index(b":") + 1 : -2])
        value = getattr(entry, key) if key else None
        if type(value) is dict and value.keys() == {WITHHELD}:
            entry = replace(entry, **{key: Withheld(value[WITHHELD])})
        return entry if checked or _line(entry_document(entry)) == line else None
    except (MsgspecError, ValueError):
        return None


def _is_small(line: bytes) -> bool:
    """Whether a line is within the bounds of bytes and of volume."""
    try:
        check_volume(line, MAX_LINE_VOLUME)
    except NotCanonical:
        return False
    return len(line) <= MAX_LINE + 1


class _Lines:
    """Where the reading of canonical lines stands."""

    def __init__(self, *, checked: bool) -> None:
        self._checked = checked
        self._number = 0
        self._head: dict[str, Any] | None = None
        self._entries: list[Entry] = []
        self._count = 0
        self._unread: Finding | None = None
        self._room = Room(MOST_OF_LINES)

    def take(self, number: int, line: bytes) -> Trajectory | None:
        """Read the next line; the trajectory that it ends, if it ends one."""
        self._number = number
        if number == 1:
            if line != HEADER:
                raise self._malformed(f"the first line is {HEADER.decode().strip()}")
            return None
        if self._head is not None and (entry := read_entry(line, checked=self._checked)) is not None:
            self._keep(entry)
            return None
        if self._head is not None and not _is_small(line):
            self._count += 1
            self._unread = self._unread or Finding(E_LOG_SIZE, "a line is too large, so the rest is not read")
            return None
        name, value = self._split(line)
        if self._head is None:
            if name != "trajectory":
                raise self._malformed(f"`{name}` where a trajectory begins")
            self._head = self._read_head(value)
            return None
        if name != "end":
            self._keep(self.read_entry(name, value))
            return None
        if type(value) is not int or value != self._count:
            raise self._malformed(f"the trajectory has {self._count} entries, not {value}")
        unread = () if self._unread is None else (self._unread,)
        trajectory = Trajectory(**self._head, entries=(*self._entries, *unread))
        self._head, self._entries, self._room = None, [], Room(MOST_OF_LINES)
        self._count, self._unread = 0, None
        return trajectory

    def _keep(self, entry: Entry) -> None:
        """Keep an entry if there is room for it; what comes after the first one without room is checked only."""
        self._count += 1
        if self._unread is None and not self._room.take(entry):
            self._unread = self._room.finding(entry.line)
        if self._unread is None:
            self._entries.append(entry)

    def close(self) -> None:
        """See that nothing is missing at the end."""
        self._number += 1
        if self._number == 1:
            raise self._malformed("there is no line")
        if self._head is not None:
            raise self._malformed(f"the trajectory {self._head['id']!r} does not end")

    def _split(self, line: bytes) -> tuple[str, Any]:
        """The key and the value of a line."""
        if not line.endswith(b"\n"):
            raise self._malformed("the line does not end")
        try:
            record = parse_canonical(line[:-1], limit=MAX_LINE, most=MAX_LINE_VOLUME)
        except NotCanonical as error:
            raise self._malformed(str(error)) from None
        if type(record) is not dict or len(record) != 1:
            raise self._malformed("a line is an object with one key")
        return next(iter(record.items()))

    def _read_head(self, value: object) -> dict[str, Any]:
        if type(value) is not dict or value.keys() != _HEAD or not all(type(text) is str for text in value.values()):
            raise self._malformed("a trajectory has the texts `id`, `file` and `format`")
        return value

    def read_entry(self, name: str, value: Any) -> Entry:
        """The entry of the key and the value of a line."""
        kind = _TYPES.get(name)
        if kind is None:
            raise self._malformed(f"`{name}` is no entry: {', '.join(_TYPES)}")
        if type(value) is not dict or not value.keys() <= _KEYS[kind]:
            raise self._malformed(f"a {name} has the keys {', '.join(sorted(_KEYS[kind]))}")
        key = _VALUES.get(kind, "")
        inner = value.get(key, UNSET)
        if type(inner) is dict and inner.keys() == {WITHHELD}:
            value = {**value, key: Withheld(inner[WITHHELD])}
        try:
            entry: Entry = convert(value, kind)
        except ValidationError as error:
            raise self._malformed(f"{name}: {error}") from None
        absent = object()
        if any(value.get(field, absent) == default for field, default in _DEFAULTS[kind]):
            raise self._malformed(f"a {name} leaves out what has its default")
        return entry

    def _malformed(self, message: str) -> MalformedLine:
        return MalformedLine(self._number, message)
