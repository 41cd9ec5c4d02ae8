"""YAML values with their places, and the interface by which documents are read and referred to."""

from array import array
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from pathlib import Path as FilePath
from typing import Any, Final, Literal, Protocol

from msgspec import Struct
from msgspec.structs import replace

from specledger.core.spans import Position, Span, Text
from specledger.load.scalars import scan

Path = tuple[str | int, ...]
"""Keys and indices from the root of a spec to a value."""

Style = Literal["plain", "single", "double", "literal", "folded", "block", "flow"]
"""How a value is written: five styles of scalars, two of collections."""

_BITS: Final = 30  # of an offset; two of them take as much memory as one
_MASK: Final = (1 << _BITS) - 1

Value = str | int | float | bool | None | tuple["Node", ...] | Mapping[str, "Node"]


class Source:
    """A file's text with the places of its lines."""

    def __init__(self, file: str, text: str) -> None:
        self.file = file
        self.text = text
        self._lines = array("i", [0])  # a small number for each line, of which there may be as many as values
        at = text.find("\n")
        while at >= 0:
            self._lines.append(at + 1)
            at = text.find("\n", at + 1)

    def position(self, offset: int) -> Position:
        """The place of a character."""
        line = bisect_right(self._lines, offset)
        return Position(line, offset - self._lines[line - 1] + 1)

    def span(self, start: int, end: int) -> Span:
        """The place of a range of characters."""
        return Span(self.file, self.position(start), self.position(end))


class Range(Struct, frozen=True, eq=False, gc=False):
    """Characters of a source; equality ignores the source.

    Attributes:
        packed: Both offsets in one number: there are two ranges for each key and its value.
    """

    source: Source
    packed: int

    @classmethod
    def of(cls, source: Source, start: int, end: int) -> "Range":
        """The characters from `start` up to but without `end`."""
        return cls(source, start << _BITS | end)

    @property
    def start(self) -> int:
        """The offset of the first character."""
        return self.packed >> _BITS

    @property
    def end(self) -> int:
        """The offset after the last character."""
        return self.packed & _MASK

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Range) and self.packed == other.packed

    def __hash__(self) -> int:
        return hash(self.packed)

    @property
    def span(self) -> Span:
        """Its place."""
        return self.source.span(self.start, self.end)


class Composed(Struct, frozen=True):
    """An expression that was written in parts.

    Attributes:
        text: The whole of it, whose characters stand where they were written.
        terms: The expressions of its terms by their ids, in order; empty where it has none.
    """

    text: Text
    terms: tuple[tuple[str, str], ...] = ()


class Node(Struct, frozen=True, gc=False):
    """A value of a document. A tree of them has no circles, so that nothing has to look for one.

    Attributes:
        place: The characters it is written with, quotes included.
        value: A scalar's value, a tuple of nodes, or a mapping of keys to nodes.
        key: The characters of its key, if it is a member of a mapping.
        flawed: Whether a finding about its writing was reported already, so that others about its value are noise.
        composed: The expression that it stands for, if it was written in parts.
    """

    place: Range
    style: Style
    value: Value
    key: Range | None = None
    flawed: bool = False
    composed: Composed | None = None

    @property
    def span(self) -> Span:
        """The place of the value."""
        return self.place.span

    @property
    def key_span(self) -> Span:
        """The place of the key, or of the value where there is no key."""
        return self.place.span if self.key is None else self.key.span

    @property
    def text(self) -> Text:
        """A scalar's written value with the place of each of its characters.

        Of a number, null or boolean it is the text as written: `3.60`. A number that is not written, such as one inside
        a range, has its shortest text, at the place that it follows from.

        Raises:
            TypeError: The node is no scalar.
        """
        if self.composed is not None:
            return self.composed.text
        if self.style in ("block", "flow"):
            raise TypeError(f"a {self.style} collection has no text")
        source = self.place.source
        value, marks = scan(source.text, self.place.start, self.place.end, self.style)
        if isinstance(self.value, int | float) and not _spells(value, self.value):
            return Text(repr(self.value), source.file, ((0, source.position(self.place.start)),))
        return Text(value, source.file, tuple((offset, source.position(at)) for offset, at in marks))

    @property
    def members(self) -> Mapping[str, "Node"]:
        """The members of a mapping; of anything else none."""
        return self.value if isinstance(self.value, Mapping) else {}

    @property
    def elements(self) -> tuple["Node", ...]:
        """The elements of a list; of anything else none."""
        return self.value if isinstance(self.value, tuple) else ()

    @property
    def is_mapping(self) -> bool:
        """Whether it is a mapping, perhaps an empty one."""
        return isinstance(self.value, Mapping)

    @property
    def is_list(self) -> bool:
        """Whether it is a list, perhaps an empty one."""
        return isinstance(self.value, tuple)

    def plain(self) -> Any:
        """The value as dicts, lists and scalars."""
        if self.is_mapping:
            return {key: node.plain() for key, node in self.members.items()}
        return [node.plain() for node in self.elements] if self.is_list else self.value

    def at(self, path: Path) -> "Node":
        """The value at a path below this one.

        Raises:
            KeyError: There is none.
        """
        node = self
        for step in path:
            child = node.child(step)
            if child is None:
                raise KeyError(path)
            node = child
        return node

    def child(self, step: str | int) -> "Node | None":
        """The member or element of that name, or None."""
        if isinstance(step, str):
            return self.members.get(step)
        return self.elements[step] if step in range(len(self.elements)) else None

    def put(self, path: Path, node: "Node") -> "Node":
        """This tree with another value at a path that it has.

        Raises:
            KeyError: It does not have the path.
        """
        return self.put_all({path: node})

    def put_all(self, nodes: Mapping[Path, "Node"]) -> "Node":
        """This tree with other values at paths that it has, none below another; each node is made again once.

        Raises:
            KeyError: It does not have one of the paths.
        """
        if () in nodes:
            return nodes[()]
        below: dict[str | int, dict[Path, Node]] = {}
        for path, node in nodes.items():
            below.setdefault(path[0], {})[path[1:]] = node
        inner = {step: self.at((step,)).put_all(found) for step, found in below.items()}
        if not inner:
            return self
        if self.is_mapping:
            return replace(self, value={key: inner.get(key, node) for key, node in self.members.items()})
        return replace(self, value=tuple(inner.get(index, node) for index, node in enumerate(self.elements)))

    def walk(self, path: Path = ()) -> Iterator[tuple[Path, "Node"]]:
        """This node and all below it with their paths."""
        yield path, self
        for key, node in self.members.items():
            yield from node.walk((*path, key))
        for index, node in enumerate(self.elements):
            yield from node.walk((*path, index))


class Origins(Mapping[Path, Node]):
    """The nodes of a tree by their paths, which are looked up in the tree."""

    def __init__(self, root: Node) -> None:
        self._root = root

    def __getitem__(self, path: Path) -> Node:
        return self._root.at(path)

    def __iter__(self) -> Iterator[Path]:
        return (path for path, _ in self._root.walk())

    def __len__(self) -> int:
        return sum(1 for _ in self._root.walk())

    def __bool__(self) -> bool:
        return True  # without counting


def _spells(text: str, number: int | float) -> bool:
    """Whether a text is a number, of its type; of a boolean it is."""
    if isinstance(number, bool):
        return True
    whole = text.lstrip("-").isdecimal()
    return whole == isinstance(number, int) and type(number)(text) == number


class Document(Struct, frozen=True):
    """One file."""

    path: str
    text: str
    root: Node


class ResolvedRef(Struct, frozen=True):
    """Where a reference leads.

    Attributes:
        source: The identity of the document in which the reference is written; of one in `--set`, of the first.
        kind: The kind of the spec that it means.
        target: Its text.
        path: The document that it leads to, to be read.
        real: The identity of that document.
    """

    source: FilePath
    kind: str
    target: str
    path: FilePath
    real: FilePath


class DocumentSource(Protocol):
    """What documents are read from."""

    def read(self, path: FilePath, span: Span | None = None) -> Document | None:
        """A document with a right head, or None after its findings were reported."""

    def find(self, node: Node, kind: str) -> ResolvedRef | None:
        """Where a reference leads, or None after a finding was reported."""

    def real(self, path: FilePath) -> FilePath:
        """What two paths of the same document have in common."""
