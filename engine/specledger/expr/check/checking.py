"""What the checker knows while it walks one text.

Decides how a finding is reported and how locals and proved facts are in scope. Refuses to know the forms
of expressions.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from specledger.core.spans import Span, Text
from specledger.expr.check.facts import Facts, merged
from specledger.expr.check.operators import Refusal
from specledger.expr.check.ranges import narrowed
from specledger.expr.check.scope import Scope, Session
from specledger.expr.check.tree import Slot, Typed, Value, path_of
from specledger.expr.check.types import IntType, Type
from specledger.expr.errors import E_EXPR_NO_PROMOTION
from specledger.expr.parse.syntax import Node


class Checking(ABC):
    """One walk: over an expression, or over the body of a function for one combination of argument types."""

    def __init__(self, session: Session, scope: Scope, text: Text, names: Mapping[str, tuple[Slot, Type]]) -> None:
        self.session = session
        self.scope = scope
        self.text = text
        self.names = dict(names)
        self.facts: Facts = {}

    @abstractmethod
    def check(self, node: Node) -> Typed | None:
        """The checked node; None when something in it is wrong, which has been reported."""

    def check_all(self, nodes: tuple[Node, ...]) -> tuple[Typed, ...] | None:
        """All of them, so that every mistake is reported; None when one is wrong."""
        found = [self.check(node) for node in nodes]
        typed = tuple(node for node in found if node is not None)
        return typed if len(typed) == len(found) else None

    @contextmanager
    def knowing(self, facts: Facts) -> Iterator[None]:
        """Facts that hold while a part is checked."""
        before = self.facts
        self.facts = merged(before, facts)
        yield
        self.facts = before

    @contextmanager
    def naming(self, name: str, slot: Slot, type_: Type) -> Iterator[None]:
        """A macro's variable, visible while its body is checked."""
        before = self.names
        self.names = {**before, name: (slot, type_)}
        yield
        self.names = before

    def known(self, node: Typed, type_: Type) -> Type:
        """The type of a place with what conditions around it have proved."""
        if not self.facts or not isinstance(type_, IntType):
            return type_
        place = path_of(node)
        bounds = self.facts.get(place) if place else None
        return narrowed(type_, *bounds) if bounds else type_

    def span(self, node: Node | Typed) -> Span:
        """Where a node was written."""
        return self.text.span(node.start, node.end)

    def source(self, node: Node | Typed) -> str:
        """How a node was written, for a hint."""
        text = " ".join(self.text.value[node.start : node.end].split())
        return text if len(text) <= 40 else "..."

    def refuse(self, node: Node | Typed, code: str, message: str, hint: str | None = None) -> None:
        """Reports a mistake at a node."""
        self.session.error(code, message, self.span(node), hint=hint)

    def refuse_operands(self, node: Node, refusal: Refusal, operands: tuple[Typed, ...]) -> None:
        """Reports operands that do not go together; for ints beside doubles, says what to write."""
        hint = refusal.hint
        if refusal.code == E_EXPR_NO_PROMOTION:
            hint = "write `double(n)` for the ints"
            whole = next((operand for operand in operands if isinstance(operand.type, IntType)), None)
            if whole is not None:
                literal = isinstance(whole, Value) and not whole.name
                hint = f"write `{self.source(whole)}.0`" if literal else f"write `double({self.source(whole)})`"
        self.refuse(node, refusal.code, refusal.message, hint)
