"""Fingerprints: what a proposed law states, independent of how it is written.

The *content* is the candidate as it came, without its id. The *meaning* is what is judged: the steps, the starts, and a
tree in which every integer is a polynomial over what the universe measures, so that names of observables, the order of
operands and the split of a sum among observables do not matter. The *normal form* is the text with its observables
sorted, in lower case and without white space; it serves for laws that cannot be measured. The pieces of a law are
compared where two laws differ. Source: law proposer, section 9.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, Final

from msgspec import Struct, field

from specledger.core.canonical import canonical_bytes
from specledger.core.digest import tagged, tagger
from specledger.wings.laws.claim import ARITHMETIC, CELLWISE, NOW, TRUE, Binary, Const, Node, Not, Observe
from specledger.wings.laws.claim_parser import read_claim
from specledger.wings.laws.law import Law
from specledger.wings.laws.observable import Combined, Measured, Number, Part
from specledger.wings.laws.primitive import Measure, Scan

CONTENT_TAG: Final = "specledger/law-content/v1"
PART_TAG: Final = "specledger/law-part/v1"
DIGITS: Final = 16
"""Hexadecimal digits of a part's digest that are kept."""

MOST_MONOMIALS: Final = 256
"""Terms of a sum whose products are multiplied out; a larger one is compared as it was written."""

MOST_PRODUCTS: Final = 4_096
"""Products of two terms that are made to multiply two sums."""

MOST_DEGREE: Final = 16
"""Things that one term multiplies."""

Polynomial = dict[tuple[str, ...], int]
"""Integer factors by the sorted things that are multiplied; that of () is the constant."""

_MIRRORED: Final = {">": "<", ">=": "<="}
_UNORDERED: Final = frozenset({"+", "*", "and", "or", "==", "!="})
_CHAINED: Final = frozenset({"+", "*", "and", "or"})
_QUOTED: Final = re.compile(r"('[^']*'|\"[^\"]*\")")
_SYMBOLS: Final = ("trigger_symbol", "result_symbol")
_SAID: Final = ("template", "quantifiers", "starts", "transform", "direction", "bound_op", "bound_value", "result_op")


class Fingerprint(Struct, frozen=True):
    """What is compared of a law.

    Attributes:
        content: Digest of the candidate without its id.
        meaning: Digest of what is judged; None if the universe cannot measure it.
        normal: Digest of the normal form.
        pieces: How often each part of it occurs, by digest.
    """

    content: str
    meaning: str | None
    normal: str
    pieces: Mapping[str, int]


def fingerprint(law: Law, document: Mapping[str, Any]) -> Fingerprint:
    """The fingerprint of a checked candidate: of the law, and of the document as it was proposed."""
    said = {key: value for key, value in document.items() if key != "law_id" and value is not None}
    content = tagged(CONTENT_TAG, canonical_bytes(said))
    normal, written = _normal(said)
    if law.unknown is not None:
        return Fingerprint(content, None, normal, written)
    meaning, measured = _meaning(law)
    return Fingerprint(content, meaning, normal, measured)


def measure_of(law: Law, name: str) -> str:
    """The digest of what an observable of a law measures: equal for equal ones, whatever they are called."""
    return _measured(law).node(Observe(name, NOW))


def _meaning(law: Law) -> tuple[str, Counter[str]]:
    tree, template = _measured(law), law.template
    counts = law.antecedent
    antecedent = None if counts is None or counts == TRUE else tree.node(counts)
    judged = [antecedent, tree.node(law.holds)]
    where = None if law.where == TRUE else tree.node(law.where)
    starts = tree.piece("starts", law.universe.key, *law.starts)
    per_cell = (law.T_cells, law.H_cells) if law.T_cells or law.H_cells else ()
    steps = tree.piece("steps", template.first, law.last, (law.H or 0) * template.within, template.cells, *per_cell)
    image = law.image
    turned = None if image is None else tree.piece("image", image.reflect, image.shift, *image.symbol_map)
    meaning = tree.piece("law", starts, steps, where, turned, *judged)
    tree.piece("template", template.name)
    return meaning, tree.pieces


def _normal(said: Mapping[str, Any]) -> tuple[str, Counter[str]]:
    """The digest of the normal form, and its parts."""
    names = [entry["name"] for entry in said.get("observables", ())]
    lowered = {name: name.lower() for name in names}
    if len(set(lowered.values())) < len(names):  # lower case would make one of two
        lowered = {name: name for name in names}
    tree = _Tree(lambda entry: {(lowered.get(entry, entry),): 1})
    parts = [tree.piece(key, _plain(said.get(key))) for key in _SAID] + [said.get(key) for key in _SYMBOLS]
    observables = [[lowered[entry["name"]], _plain(entry["expr"])] for entry in said.get("observables", ())]
    parts += [tree.piece("observable", *entry) for entry in sorted(observables)]
    parts += sorted(tree.piece("precondition", _plain(entry)) for entry in said.get("preconditions", ()))
    claim = said.get("claim_ast")
    parts.append(tree.piece("claim", _plain(said.get("claim"))) if claim is None else tree.node(read_claim(claim)))
    return tree.piece("law", *parts), tree.pieces


def _plain(value: Any) -> Any:
    """A value with every text in lower case and without white space, except inside quotation marks."""
    if isinstance(value, str):
        halves = _QUOTED.split(value)
        return "".join(part if index % 2 else "".join(part.split()).lower() for index, part in enumerate(halves))
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, list) else value


def _measured(law: Law) -> _Tree:
    return _Tree(lambda name: polynomial_of(law.observables[name].root))


class _Tree(Struct):
    """Digests of trees, each made of those of its parts."""

    read: Callable[[str], Polynomial]
    pieces: Counter[str] = field(default_factory=Counter)

    def piece(self, *parts: Any) -> str:
        """The digest of a part; it is counted."""
        digest = _digest(list(parts))
        self.pieces[digest] += 1
        return digest

    def node(self, node: Node) -> str:
        """The digest of a claim or of a part of one."""
        if _is_integer(node):
            total = _sum(node, self.read)
            if total is not None:
                return self._polynomial(total)
        if isinstance(node, Const):
            return self.piece("const", node.value)
        if isinstance(node, Observe):
            return self.piece("cell", node.name, str(node.time))
        if isinstance(node, Not):
            return self.piece("not", self.node(node.operand))
        op, left, right = node.op, node.left, node.right
        if op in _MIRRORED:
            op, left, right = _MIRRORED[op], right, left
        parts = [self.node(operand) for operand in (_chain(op, node) if op in _CHAINED else (left, right))]
        return self.piece(op, *(sorted(parts) if op in _UNORDERED else parts))

    def _polynomial(self, total: Polynomial) -> str:
        terms = sorted(self.piece("term", f"{factor:x}", *things) for things, factor in total.items() if factor)
        return self.piece("sum", *terms)


def _is_integer(node: Node) -> bool:
    if isinstance(node, Const):
        return type(node.value) is int
    if isinstance(node, Observe):
        return node.name not in CELLWISE
    return isinstance(node, Binary) and node.op in ARITHMETIC


def _chain(op: str, node: Node) -> list[Node]:
    """The operands of `a op b op c`, however it is bracketed."""
    if isinstance(node, Binary) and node.op == op:
        return _chain(op, node.left) + _chain(op, node.right)
    return [node]


def _sum(node: Node, read: Callable[[str], Polynomial]) -> Polynomial | None:
    """An integer as a polynomial over what is measured at a step; None if it is too large."""
    if isinstance(node, Const):
        return {(): int(node.value)}
    if isinstance(node, Observe):
        of = read(node.name).items()
        return {tuple(sorted(f"{thing}@{node.time}" for thing in things)): factor for things, factor in of}
    assert isinstance(node, Binary)  # noqa: S101 - integers are constants, observables and arithmetic
    return combined(node.op, _sum(node.left, read), _sum(node.right, read))


def combined(op: str, left: Polynomial | None, right: Polynomial | None) -> Polynomial | None:
    """`+`, `-` or `*` of two polynomials; None if the result is too large."""
    if left is None or right is None:
        return None
    result: Polynomial = {}
    if op == "*":
        if len(left) * len(right) > MOST_PRODUCTS or _degree(left) + _degree(right) > MOST_DEGREE:
            return None
        for ours, factor in left.items():
            for theirs, other in right.items():
                things = tuple(sorted(ours + theirs))
                result[things] = result.get(things, 0) + factor * other
    else:
        result = dict(left)
        for things, factor in right.items():
            result[things] = result.get(things, 0) + (factor if op == "+" else -factor)
    result = {things: factor for things, factor in result.items() if factor}
    return result if len(result) <= MOST_MONOMIALS else None


def _degree(total: Polynomial) -> int:
    return max(map(len, total), default=0)


def polynomial_of(part: Part) -> Polynomial:
    """An observable as a polynomial over measures; one that is too large is one thing of its own."""
    expanded = _expanded(part)
    return {(_structure(part),): 1} if expanded is None else expanded


def _expanded(part: Part) -> Polynomial | None:
    if isinstance(part, Number):
        return {(): part.value} if part.value else {}
    if isinstance(part, Measured):
        return {(_measure(part.measure),): 1}
    return combined(part.op, _expanded(part.left), _expanded(part.right))


def _structure(part: Part) -> str:
    """The digest of an observable as it was written."""
    if isinstance(part, Number):
        return _digest(["number", f"{part.value:x}"])
    if isinstance(part, Measured):
        return _measure(part.measure)
    assert isinstance(part, Combined)  # noqa: S101 - the third and last form of a part
    parts = [_structure(part.left), _structure(part.right)]
    return _digest([part.op, *(sorted(parts) if part.op in _UNORDERED else parts)])


@lru_cache(maxsize=1024)
def _measure(measure: Measure) -> str:
    if isinstance(measure, Scan):
        return _digest(["scan", measure.form, *measure.wanted])
    return _digest(
        ["sum", measure.width, f"{measure.constant:x}", ",".join(f"{weight:x}" for weight in measure.weights)]
    )


def _digest(parts: list[Any]) -> str:
    return tagger(PART_TAG)(canonical_bytes(parts))[:DIGITS]
