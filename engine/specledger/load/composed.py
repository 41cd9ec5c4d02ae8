"""One expression made of several: parentheses only where an operator would bind otherwise, and the places of its parts.

So a value that was written as one expression can be written by cases or terms and stays the same, with its digest.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import IntEnum
from typing import Final

from msgspec import Struct

from specledger.core.spans import Position, Text

Piece = str | Text

_QUOTED: Final = re.compile(r"'(?:[^'\\\n]|\\.)*'|\"(?:[^\"\\\n]|\\.)*\"")
_GROUP: Final = re.compile(r"\([^()\[\]{}]*\)|\[[^()\[\]{}]*\]|\{[^()\[\]{}]*\}")
_OPERAND: Final = r"-?[\w.]+"
_ATOM: Final = re.compile(_OPERAND)
_PRODUCT: Final = re.compile(rf"{_OPERAND}(?:\s*[*/%]\s*{_OPERAND})*")
_NEVER: Final = re.compile(r"[?:'\"()\[\]{}]|//")
_NEGATIVE: Final = re.compile(r"-\d[\d.]{0,15}")


class Binding(IntEnum):
    """How tightly the parts of an expression hang together: what binds tighter needs no parentheses there."""

    LOOSE = 0
    CONDITION = 1
    PRODUCT = 2
    ATOM = 3


class Part(Struct, frozen=True):
    """A piece of an expression, how tightly it binds, and whether it is the product of a weight and a value."""

    pieces: tuple[Piece, ...]
    binding: Binding
    weighted: bool = False

    def inside(self, least: Binding) -> tuple[Piece, ...]:
        """Its pieces, in parentheses if it binds less tightly than its place asks."""
        return self.pieces if self.binding >= least else ("(", *self.pieces, ")")


def binding(written: str) -> Binding:
    """How tightly a text binds, from its operators outside of brackets and quotes; loosely where that is unclear."""
    text, before = _QUOTED.sub("q", written).strip(), ""
    while text != before:
        text, before = _GROUP.sub("g", text), text
    if _ATOM.fullmatch(text):
        return Binding.ATOM
    if _PRODUCT.fullmatch(text):
        return Binding.PRODUCT
    return Binding.LOOSE if _NEVER.search(text) else Binding.CONDITION


def product(factors: Sequence[Part]) -> Part:
    """The product of a weight and a value, or the value alone."""
    if len(factors) == 1:
        return factors[0]
    first, second = (factor.inside(Binding.ATOM) for factor in factors)
    return Part((*first, " * ", *second), Binding.PRODUCT, weighted=True)


def total(terms: Sequence[Part]) -> Part:
    """The sum of terms; one whose weight is a negative number is subtracted."""
    if len(terms) == 1:
        return terms[0]
    pieces = [*terms[0].inside(Binding.PRODUCT)]
    for term in terms[1:]:
        first = term.pieces[0]
        if term.weighted and isinstance(first, Text) and _NEGATIVE.fullmatch(first.value):
            pieces += [" - ", _without_sign(first), *term.pieces[1:]]
        else:
            pieces += [" + ", *term.inside(Binding.PRODUCT)]
    return Part(tuple(pieces), Binding.CONDITION)


def _without_sign(text: Text) -> Text:
    marks = [(offset - 1, place) for offset, place in text.marks if offset > 1]
    return Text(text.value[1:], text.file, ((0, text.span(1).start), *marks))


def joined(pieces: Sequence[Piece]) -> Text:
    """One text of several; what was not written stands where the next written piece does."""
    written = [piece for piece in pieces if isinstance(piece, Text)]
    value, file = "", written[0].file
    marks: dict[int, Position] = {}
    for index, piece in enumerate(pieces):
        if isinstance(piece, str):
            following = next((other for other in pieces[index:] if isinstance(other, Text)), written[-1])
            marks[len(value)] = following.marks[0][1]
            value += piece
        else:
            marks |= {len(value) + offset: position for offset, position in piece.marks}
            value += piece.value
    return Text(value, file, tuple(sorted(marks.items())))
