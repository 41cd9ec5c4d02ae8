"""Sentences that say what a rule demands: a text with the parts that it introduces, and how they are printed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec import Struct

LONGEST_LINE = 110
"""Characters of a sentence up to which it stands on one line; a longer one has a line for each part."""


class Statement(Struct, frozen=True):
    """A sentence or clause; one with parts ends in a colon, and each part is a line below it."""

    text: str
    parts: tuple[Statement, ...] = ()

    def after(self, before: str) -> Statement:
        """The same, with words before its text."""
        return Statement(f"{before}{self.text}", self.parts)

    def sentence(self) -> Statement:
        """The same, with a capital letter at its start unless a name stands there."""
        return Statement(self.text[:1].upper() + self.text[1:], self.parts)


def lines_of(statements: Iterable[Statement], indent: int = 0) -> Iterator[str]:
    """Each statement as a line, its parts as items below it."""
    for statement in statements:
        mark = "  " * indent + ("- " if indent else "")
        end = ":" if statement.parts else "" if statement.text.endswith((".", ":", "?")) else "."
        yield f"{mark}{statement.text}{end}"
        yield from lines_of(statement.parts, indent + 1)


def in_one_line(statement: Statement) -> str:
    """A statement as one sentence, with its parts after a colon."""
    parts = "; ".join(in_one_line(part).removesuffix(".") for part in statement.parts)
    return f"{statement.text.removesuffix('.')}{f': {parts}' if parts else ''}."


def listed(items: Iterable[str], word: str = "and") -> str:
    """`a, b and c`; the only item by itself."""
    *most, last = items
    return f"{', '.join(most)} {word} {last}" if most else last
