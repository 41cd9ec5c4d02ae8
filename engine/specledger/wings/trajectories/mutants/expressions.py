"""Mutants of an expression: a conjunct is dropped, a bound is shifted, the whole is negated."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from typing import Final

from specledger.core.diagnostics import Diagnostics
from specledger.core.spans import Text
from specledger.expr.parse.parser import parse
from specledger.expr.parse.syntax import Binary, Literal, Logical, Node, children

_OPERATORS: Final = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "=="}


def mutants_of(text: str) -> Iterator[tuple[str, str]]:
    """What was changed, in words, and the changed expression; none where the text is no expression."""
    tree = parse(Text.inline(text), Diagnostics())
    if tree is None:
        return
    waiting: list[Node] = [tree.root]
    while waiting:
        node = waiting.pop(0)
        for words, inner in _changed(text, node):
            yield words, text[: node.start] + inner + text[node.end :]
        waiting += children(node)
    yield "negated", f"!({text})"


def _changed(text: str, node: Node) -> Iterator[tuple[str, str]]:
    """The changes of one node, each as the text in its place."""
    match node:
        case Logical():
            parts = [text[operand.start : operand.end] for operand in node.operands]
            for index, part in enumerate(parts):
                left = [other for number, other in enumerate(parts) if number != index]
                yield f"without `{part}`", f"({f' {node.operator} '.join(left)})"
        case Binary() if node.operator in _OPERATORS:
            first, second = (text[part.start : part.end] for part in (node.left, node.right))
            other = _OPERATORS[node.operator]
            yield f"`{node.operator}` is `{other}`", f"{first} {other} {second}"
        case Literal() if isinstance(node.value, int | float) and not isinstance(node.value, bool):
            for shifted in _shifted(node.value):
                yield f"`{text[node.start : node.end]}` is `{shifted}`", shifted


def _shifted(value: int | float) -> tuple[str, str]:
    """A bound one lower and one higher; a number with a decimal point by a tenth of it, or by one where it is 0."""
    if isinstance(value, int):
        return str(value - 1), str(value + 1)
    exact = Decimal(str(value))
    step = (abs(exact) / 10).quantize(Decimal("0.000001")) or Decimal(1)
    return _decimal(exact - step), _decimal(exact + step)


def _decimal(value: Decimal) -> str:
    text = format(value.quantize(Decimal("0.000001")).normalize(), "f")
    return text if "." in text else f"{text}.0"
