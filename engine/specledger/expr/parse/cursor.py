"""A walk over tokens, with words for a token that cannot stand where it is.

Decides how a place in the token list is looked at and left. Refuses to know grammar.
"""

from __future__ import annotations

from specledger.expr.errors import E_EXPR_SYNTAX
from specledger.expr.parse.lexer import Problem, Token

WORDS = {"and": "write `&&`", "or": "write `||`", "not": "write `!`", "if": "write `condition ? a : b`"}
"""Words of other languages, and what CEL has instead."""


class Cursor:
    """A place in a list of tokens that ends with `end`."""

    def __init__(self, tokens: list[Token]) -> None:
        self._tokens = tokens
        self._at = 0

    @property
    def next(self) -> Token:
        """The token at hand."""
        return self._tokens[self._at]

    @property
    def before(self) -> int:
        """The offset where the last taken token ended."""
        return self._tokens[self._at - 1].end

    def take(self) -> Token:
        """The token at hand, left behind unless it is the end."""
        token = self._tokens[self._at]
        self._at += token.kind != "end"
        return token

    def taken(self, kind: str) -> bool:
        """Whether the token at hand was of a kind, and if so left behind."""
        if self.next.kind != kind:
            return False
        self._at += 1
        return True

    def expect(self, kind: str, purpose: str) -> Token:
        """The token at hand, left behind.

        Raises:
            Problem: It is of another kind.
        """
        if self.next.kind != kind:
            raise self.unexpected(f"expected `{kind}` {purpose}")
        return self.take()

    def operator(self, operators: tuple[str, ...]) -> str | None:
        """The operator at hand when it is one of these, not left behind."""
        token = self.next
        found = str(token.value) if token.kind in operators or (token.kind == "name" and token.value == "in") else ""
        return found if found in operators else None

    def unexpected(self, wanted: str) -> Problem:
        """What to say of the token at hand."""
        token = self.next
        if token.kind == "end":
            return Problem(E_EXPR_SYNTAX, f"the expression ends too early: {wanted}", token.start, token.end)
        named = token.kind in {"name", token.value}
        kind = "name" if token.kind == "quoted" else token.kind
        shown = f"`{str(token.value)[:40]}`" if named else f"this {kind}"
        hint = WORDS.get(str(token.value)) if token.kind == "name" else None
        return Problem(E_EXPR_SYNTAX, f"{shown} cannot stand here: {wanted}", token.start, token.end, hint)
