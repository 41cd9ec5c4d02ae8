"""Names that an expression reads or mentions, as far as its syntax shows."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Final

from specledger.core.diagnostics import Diagnostics
from specledger.core.spans import Text
from specledger.expr.eval.builtins import STANDARD
from specledger.expr.parse.parser import parse
from specledger.expr.parse.syntax import (
    Binary,
    Call,
    Conditional,
    Has,
    ListLiteral,
    Literal,
    Logical,
    Macro,
    Name,
    Node,
    Reduce,
    Select,
    binding,
    children,
)

_ORDER: Final = frozenset({"<", "<=", ">", ">="})


@lru_cache(maxsize=4096)
def named_in(source: str) -> tuple[frozenset[str], frozenset[str]]:
    """The identifiers that an expression reads, and the functions that it calls; none, if it is no expression."""
    ast = parse(Text.inline(source), Diagnostics())
    names = set[str]() if ast is None else free_names(ast.root)
    return frozenset(names), frozenset(node.function for node in _nodes(source) if isinstance(node, Call))


def _nodes(source: str) -> Iterator[Node]:
    """Every node of the syntax tree of an expression; none, if it is no expression."""
    ast = parse(Text.inline(source), Diagnostics())
    waiting = [] if ast is None else [ast.root]
    while waiting:
        node = waiting.pop()
        waiting += children(node)
        yield node


@lru_cache(maxsize=4096)
def mentioned_in(source: str) -> frozenset[str]:
    """Every word of an expression that could lead to a function or a derived value; none, if it is no expression."""
    words = set[str]()
    for node in _nodes(source):
        match node:
            case Name(name=word) | Call(function=word) | Select(key=word) | Has(key=word) | Literal(value=str(word)):
                words.add(word)
    return frozenset(words)


def surely_selected(text: Text, name: str) -> dict[str, tuple[int, int]]:
    """The fields of a plain name that an expression reads whenever it is evaluated, with the first place of each.

    What stands in a branch, beside `&&` or `||`, in the body of a macro or in an argument of a spec's own function may
    not be read.
    """
    ast = parse(text, Diagnostics())
    positions: dict[str, tuple[int, int]] = {}
    waiting = [] if ast is None else [ast.root]
    while waiting:
        node = waiting.pop(0)
        match node:
            case Select(operand=Name(name=owner), key=key) if owner == name:
                positions.setdefault(key, (node.start, node.end))
            case Conditional():
                waiting.append(node.condition)
            case Macro() | Reduce():
                waiting.append(node.target)
            case Logical():
                pass
            case Call() if not _is_standard(node):
                pass
            case _:
                waiting += children(node)
    return positions


def listed_literals(text: Text) -> list[tuple[object, tuple[int, int]]]:
    """The literals that a list holds as its items, in any branch, with their places; none of a list made otherwise."""
    ast = parse(text, Diagnostics())
    literals: list[tuple[object, tuple[int, int]]] = []
    waiting: list[tuple[Node, bool]] = [] if ast is None else [(ast.root, False)]
    while waiting:
        node, item = waiting.pop(0)
        match node:
            case Literal(value=value) if item:
                literals.append((value, (node.start, node.end)))
            case ListLiteral(items=items) if not item:
                waiting += [(element, True) for element in items]
            case Conditional(then=then, otherwise=otherwise):
                waiting += [(then, item), (otherwise, item)]
            case Binary(operator="+", left=left, right=right) if not item:
                waiting += [(left, False), (right, False)]
    return literals


def _is_standard(call: Call) -> bool:
    owner = f"{call.target.name}." if isinstance(call.target, Name) else ""
    return call.function in STANDARD or owner + call.function in STANDARD


@lru_cache(maxsize=4096)
def selected_in(source: str) -> frozenset[tuple[str, str]]:
    """The fields that an expression selects of a plain name, as `(name, field)`; none, if it is no expression."""
    selections = set[tuple[str, str]]()
    for node in _nodes(source):
        match node:
            case Select(operand=Name(name=name), key=key) | Has(operand=Name(name=name), key=key):
                selections.add((name, key))
    return frozenset(selections)


@lru_cache(maxsize=4096)
def chained_in(source: str) -> tuple[tuple[str, str, str], ...]:
    """Chained comparisons: of `a < b < c` the first comparison, the second operator, and the second comparison."""
    chains = list[tuple[str, str, str]]()
    for node in _nodes(source):
        match node:
            case Binary(operator=second, left=Binary(operator=first) as left) if {first, second} <= _ORDER:
                middle = source[left.right.start : node.right.end]
                chains.append((source[left.start : left.end], second, middle))
    return tuple(chains)


def free_names(node: Node) -> set[str]:
    """Every identifier that a syntax tree reads from outside; the variables of its macros are its own."""
    if isinstance(node, Name):
        return {node.name}
    outer, own, inner = binding(node)
    return set[str]().union(*map(free_names, outer)) | (set[str]().union(*map(free_names, inner)) - {*own})
