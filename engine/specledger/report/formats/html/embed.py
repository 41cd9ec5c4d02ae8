"""The receipts that a page holds: a bounded choice of them, from which its script recomputes chain and root.

Receipts that are not embedded enter the Merkle root as the hashes of whole subtrees, so that a page of any size can be
compared with a root that its reader got elsewhere. Text is written with references to earlier text. A general
compressor is not used, since its bytes depend on its build.

Source: RFC 6962, section 2.1.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from msgspec import Struct, field

from specledger.core.canonical import parse_canonical
from specledger.core.merkle import leaf_hash, root_of
from specledger.evidence.layout import MAX_LINE as MAX_RECEIPT

MOST_TEXT: Final = 2_000_000
"""Bytes of receipts that are considered for a page, over all its chains."""

MOST_CODED: Final = 480_000
"""Characters that embedded receipts take in a page, about."""

MOST_LINE: Final = 200_000
"""Bytes of a receipt that is embedded at most."""

_GROUP: Final = 16  # lines after which the remaining space is checked
_WINDOW: Final = 16  # bytes that must be equal before a reference pays
_STRIDE: Final = 4  # one of so many offsets can be referred to

Part = str | tuple[int, int]
Subtree = tuple[int, int, bytes]
"""A whole subtree: its first line, the number of its lines, its hash."""


class Copies:
    """Bytes as literal texts, a character for each byte, and references: (offset of equal bytes, their number)."""

    def __init__(self) -> None:
        self.parts: list[Part] = []
        self.size = 0
        self._data = bytearray()
        self._places: dict[bytes, int] = {}

    def add(self, more: bytes) -> None:
        """Add some bytes; references may reach back to all that was added before."""
        at, known = len(self._data), max(0, (len(self._data) - _WINDOW) // _STRIDE * _STRIDE)
        self._data += more
        data, end, literal = bytes(self._data), len(self._data), at
        while at + _WINDOW <= end:
            while known + _WINDOW <= at:
                self._places.setdefault(data[known : known + _WINDOW], known)
                known += _STRIDE
            start = self._places.get(data[at : at + _WINDOW])
            if start is None:
                at += 1
                continue
            length = _common(data, start, at)
            self._literal(data[literal:at])
            self.parts.append((start, length))
            self.size += 12
            at += length
            literal = at
        self._literal(data[literal:end])

    def _literal(self, literal: bytes) -> None:
        if literal:
            self.parts.append(literal.decode("latin-1"))
            self.size += len(literal) + literal.count(b'"') + 6


def _common(data: bytes, first: int, second: int) -> int:
    """The number of equal bytes from two offsets on, at least a window of which is known to be equal."""
    length, stride = _WINDOW, 256
    while stride:
        step = data[second + length : second + length + stride]
        while len(step) == stride and data[first + length : first + length + stride] == step:
            length += stride
            step = data[second + length : second + length + stride]
        stride //= 4
    return length


class Embedded(Struct):
    """A chain of the page.

    Attributes:
        folder: The folder of its bundle inside the reported one; empty for that one itself.
        kept: Lines that may be embedded, by number.
        hashes: Subtrees of the lines in order, as `rest` gives them: each line that is kept, and the largest of others.
        episodes: The numbers of the lines of each episode, first and last.
        first: The numbers of the lines that are embedded before all others.
        seqs: The numbers of the lines that are embedded, in the order of the text.
    """

    name: str
    folder: str
    manifest: Mapping[str, Any]
    kept: dict[int, bytes] = field(default_factory=dict)
    count: int = 0
    hashes: list[Subtree] = field(default_factory=list)
    episodes: dict[int, tuple[int, int]] = field(default_factory=dict)
    first: set[int] = field(default_factory=set)
    seqs: list[int] = field(default_factory=list)
    extra: Mapping[str, Any] = field(default_factory=dict)

    def add(self, line: bytes, keep: bool) -> None:
        """Add the next line, and keep it as a candidate or only its hash."""
        whole = (self.count, 1, leaf_hash(line))
        if keep and len(line) <= MOST_LINE:
            self.kept[self.count] = line
            self._last = len(self.hashes) + 1
            self.hashes.append(whole)
        else:
            _append(self.hashes, whole, self._last)
        self.count += 1

    def read(self, lines: Iterable[bytes], cited: Container[int], most: int) -> None:
        """Add all lines of the chain; those that are cited, and as many as fit into `most` bytes, may be embedded."""
        kept, began = 0, 0
        for seq, line in enumerate(lines):
            kept += len(line)
            if seq in cited or line.endswith((b'"type":"end"}', b'"type":"start"}')):
                self.first.add(seq)
            self.add(line, kept < most or seq in self.first)
            if line.endswith(b'"type":"episode"}'):
                began = seq
            elif line.endswith(b'"type":"episode_end"}'):
                receipt: Any = parse_canonical(line, limit=MAX_RECEIPT)
                self.episodes[receipt["body"]["episode"]] = (began, seq)

    def holds(self, seq: int) -> bool:
        """Whether a line is embedded."""
        return seq in self._embedded

    def steps(self, episode: int) -> bool:
        """Whether all lines of an episode are embedded, and it can be stepped through; a recording has no steps."""
        if self.extra.get("recorded"):
            return False
        first, last = self.episodes.get(episode, (0, -1))
        return last >= first and all(map(self.holds, range(first, last + 1)))

    def select(self, seqs: Iterable[int]) -> None:
        """Set which lines are embedded, in the order of the text."""
        self.seqs = list(seqs)
        self._embedded = frozenset(self.seqs)

    _embedded: frozenset[int] = frozenset()
    _last: int = 0  # how many hashes there were with the last line that is kept

    def document(self) -> dict[str, Any]:
        """The data by which the page's script reads the chain from the text and computes its root."""
        receipts = self.manifest["receipts"]
        spans: list[list[int]] = []
        for seq in self.seqs:
            if spans and sum(spans[-1]) == seq:
                spans[-1][1] += 1
            else:
                spans.append([seq, 1])
        rest = [[start, size, hashed.hex()] for start, size, hashed in self.rest()]
        known = {"name": self.name, "place": self.folder, "run": self.manifest["run"], **receipts}
        return {**known, "spans": spans, "rest": rest, **self.extra}

    def rest(self) -> Iterator[Subtree]:
        """The largest whole subtrees of lines that are not embedded."""
        waiting: list[Subtree] = []
        for subtree in self.hashes:
            if self.holds(subtree[0]):
                yield from waiting
                waiting = []
            else:
                _append(waiting, subtree)
        yield from waiting


def _append(subtrees: list[Subtree], subtree: Subtree, first: int = 0) -> None:
    """Add a subtree and merge it with those before it, from an index on, that it makes a larger one with."""
    subtrees.append(subtree)
    while len(subtrees) > first + 1:
        (start, size, left), (after, other, right) = subtrees[-2:]
        if size != other or start % (2 * size) or start + size != after:
            return
        subtrees[-2:] = [(start, 2 * size, root_of([left, right]))]


def choose(chains: Iterable[Embedded]) -> Copies:
    """Choose what is embedded, chain by chain: cited lines first, then whole episodes while they fit."""
    copies, listed = Copies(), list(chains)
    for index, chain in enumerate(listed):
        most = MOST_CODED * (index + 1) // len(listed)  # what one chain leaves over is for the next ones
        chosen: dict[int, None] = {}
        for group in _groups(chain):
            new = [seq for seq in group if seq not in chosen]
            if copies.size >= most or not all(seq in chain.kept for seq in new):
                break
            copies.add(b"".join(chain.kept[seq] + b"\n" for seq in new))
            chosen |= dict.fromkeys(new)
        chain.select(chosen)
    return copies


def _groups(chain: Embedded) -> Iterator[Sequence[int]]:
    """The lines in the order in which they are embedded, a few at a time."""
    spans: list[Sequence[int]] = [sorted(chain.first & chain.kept.keys())]
    spans += [range(first, last + 1) for first, last in sorted(chain.episodes.values())]
    for span in spans if chain.episodes else [*spans, range(chain.count)]:
        yield from (span[at : at + _GROUP] for at in range(0, len(span), _GROUP))
