"""The receipts of a bundle: one hash chain of canonical lines, read one line at a time.

Two passes over the file; memory does not grow with the number of receipts. The first pass compares bytes alone, since
the end of each line is known before the line is read. The second pass parses.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any, Final, Protocol, cast

from msgspec import Struct

from specledger.core.binding import GENESIS
from specledger.core.canonical import NotCanonical, canonical_bytes, parse_canonical
from specledger.core.disk import BUFFER
from specledger.core.merkle import Tree, leaf_hash
from specledger.evidence.counterexamples import Cases
from specledger.evidence.layout import MAX_LINE
from specledger.evidence.result import Fold
from specledger.verify.checks import E_CHAIN, E_ENDS, E_LINE, Broken, misformed
from specledger.verify.held import Kept

_NEWLINE: Final = ord("\n")
_KEYS: Final = {"body", "prev", "run", "seq", "type"}

MALFORMED: Final = (KeyError, TypeError, IndexError, AttributeError, ValueError)
"""What reading a receipt raises whose body is not of its type's form."""


class Order(Protocol):
    """The rules by which the receipts of one kind follow one another."""

    def add(self, type_: str, body: Mapping[str, Any]) -> None:
        """Take one receipt."""


class Unlinked(Broken):
    """A receipt, which the number names, is not the one that belongs there.

    Where `between`, it is well-formed and does not name the digest of the one before it: one of the two was changed.
    """

    def __init__(self, number: int, code: str, message: str, *, between: bool = False) -> None:
        self.number, self.between = number, between
        super().__init__(code, message)


class Head(Struct, frozen=True):
    """The head of a chain: number of receipts, digest of the last one, Merkle root, the last two as hex."""

    count: int
    head: str
    root: str


class Receipts(Struct, frozen=True):
    """The receipts of one run in a file."""

    path: Path
    run: str

    def lines(self) -> Iterator[bytes]:
        """The lines of the file without their newlines."""
        with self.path.open("rb", BUFFER) as file:
            for number, line in enumerate(iter(partial(file.readline, MAX_LINE + 1), b""), start=1):
                if line[-1] != _NEWLINE:
                    why = "longer than any receipt" if len(line) > MAX_LINE else "torn: it has no newline"
                    raise Broken(E_LINE, f"line {number} is {why}")
                yield line[:-1]

    def contents(self) -> Iterator[tuple[str, Mapping[str, Any]]]:
        """The type and the body of each receipt, in order; for receipts that were checked."""
        for line in self.lines():
            receipt = cast(Mapping[str, Any], parse_canonical(line, limit=MAX_LINE))
            yield receipt["type"], receipt["body"]


def link(receipts: Receipts) -> Head:
    """Read all lines as bytes: each ends with its number, the run, and the digest of the line before.

    Raises:
        Broken: At the first line that does not: it is no receipt, or does not follow the line before.
    """
    count, hashed, tree = 0, b"", Tree()
    for _, hashed in linked(receipts):
        count += 1
        tree.append_hash(hashed)
    return Head(count, hashed.hex() or GENESIS, tree.root().hex())


def linked(receipts: Receipts) -> Iterator[tuple[bytes, bytes]]:
    """Each line that follows the line before it, and its leaf hash."""
    run, head, before = canonical_bytes(receipts.run), GENESIS.encode(), b""
    for count, line in enumerate(receipts.lines()):
        tail = b',"prev":"%b","run":%b,"seq":%d' % (head, run, count)
        at = line.rfind(b',"type":"')
        if at < 0 or not line.endswith(tail, 0, at):
            raise _unlinked(receipts.run, before, line, count)
        before, hashed = line, leaf_hash(line)
        head = hashed.hex().encode()
        yield line, hashed


def follow(receipts: Receipts, order: Order, tally: Fold, cases: Cases | None = None) -> Any:
    """Parse all receipts, for the rules of their kind, the result and the cases; the specs' digest in the first one.

    Raises:
        Broken: They do not follow one another.
        Rejected: E_EVIDENCE_SIZE, if what must be kept of them takes too much memory.
    """
    last, specs = "", None
    takes = (order.add, tally.add) if cases is None else (order.add, tally.add, cases.add)
    kept = Kept(order, tally) if cases is None else Kept(order, tally, cases)
    for number, line in enumerate(receipts.lines()):
        receipt = read_receipt(line, number)
        last = receipt["type"]
        if (last == "start") != (number == 0):
            raise Broken(E_ENDS, f"receipt {number} is {last!r}")
        try:
            for take in takes:
                take(last, receipt["body"])
            if last == "start":
                specs = receipt["body"]["specs"]
        except MALFORMED as error:
            raise Broken(E_LINE, f"receipt {number} ({last}) is malformed: {misformed(error)}") from None
        kept.look(len(line))
    if last != "end":
        raise Broken(E_ENDS, f"the last receipt is {last!r}, not 'end'" if last else "there are no receipts")
    try:
        tally.result()
    except MALFORMED as error:
        raise Broken(E_LINE, f"a receipt is malformed, so that no result follows: {misformed(error)}") from None
    return specs


def _unlinked(run: str, before: bytes, line: bytes, number: int) -> Unlinked:
    """Why a line does not follow the one before, which may be the one that was changed."""
    position = number - 1
    try:
        if number:
            read_receipt(before, position)
        position = number
        receipt = read_receipt(line, position)
    except Broken as broken:
        return Unlinked(position, broken.code, broken.message)
    if receipt["run"] != run:
        return Unlinked(number, E_CHAIN, f"receipt {number} belongs to another run")
    if type(receipt["seq"]) is not int or receipt["seq"] != number:
        return Unlinked(number, E_CHAIN, f"receipt {number} has the number {receipt['seq']!r}")
    if number == 0:
        return Unlinked(0, E_CHAIN, "the `prev` of receipt 0 is not 64 zeros")
    message = f"receipt {number} does not follow receipt {number - 1}"
    return Unlinked(number, E_CHAIN, message, between=True)


def read_receipt(line: bytes, number: int) -> Mapping[str, Any]:
    """The receipt that a line is, in canonical form."""
    try:
        receipt = parse_canonical(line, limit=MAX_LINE)
    except NotCanonical as error:
        raise Broken(E_LINE, f"line {number + 1}: {error}") from None
    if not isinstance(receipt, dict) or receipt.keys() != _KEYS or not isinstance(receipt["type"], str):
        raise Broken(E_LINE, f"line {number + 1} is no receipt: it needs exactly {', '.join(sorted(_KEYS))}")
    return receipt
