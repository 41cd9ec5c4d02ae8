"""Names that an expression reads or mentions, as far as its syntax shows."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from specledger.core.diagnostics import Diagnostics
from specledger.core.spans import Text
from specledger.expr.parse.parser import parse
from specledger.expr.parse.syntax import Binary, Call, Has, Literal, Name, Node, Select, binding, children

_ORDER: Final = frozenset({"<", "<=", ">", ">="})


@lru_cache(maxsize=4096)
def named_in(source: str) -> tuple[frozenset[str], frozenset[str]]:
    """The identifiers that an expression reads, and the functions that it calls; none, if it is no expression."""
    ast = parse(Text.inline(source), Diagnostics())
    return (frozenset(), frozenset()) if ast is None else (frozenset(free_names(ast.root)), frozenset(_calls(ast.root)))


@lru_cache(maxsize=4096)
def mentioned_in(source: str) -> frozenset[str]:
    """Every word of an expression that could lead to a function or a derived value; none, if it is no expression."""
    ast = parse(Text.inline(source), Diagnostics())
    words, waiting = set[str](), [] if ast is None else [ast.root]
    while waiting:
        node = waiting.pop()
        waiting += children(node)
        match node:
            case Name(name=word) | Call(function=word) | Select(key=word) | Has(key=word) | Literal(value=str(word)):
                words.add(word)
    return frozenset(words)


@lru_cache(maxsize=4096)
def selected_in(source: str) -> frozenset[tuple[str, str]]:
    """The fields that an expression selects of a plain name, as `(name, field)`; none, if it is no expression."""
    ast = parse(Text.inline(source), Diagnostics())
    found, waiting = set[tuple[str, str]](), [] if ast is None else [ast.root]
    while waiting:
        node = waiting.pop()
        waiting += children(node)
        match node:
            case Select(operand=Name(name=name), key=key) | Has(operand=Name(name=name), key=key):
                found.add((name, key))
    return frozenset(found)


@lru_cache(maxsize=4096)
def chained_in(source: str) -> tuple[tuple[str, str, str], ...]:
    """Chained comparisons: of `a < b < c` the first comparison, the second operator, and the second comparison."""
    ast = parse(Text.inline(source), Diagnostics())
    found, waiting = list[tuple[str, str, str]](), [] if ast is None else [ast.root]
    while waiting:
        node = waiting.pop()
        waiting += children(node)
        match node:
            case Binary(operator=second, left=Binary(operator=first) as left) if {first, second} <= _ORDER:
                middle = source[left.right.start : node.right.end]
                found.append((source[left.start : left.end], second, middle))
    return tuple(found)


def free_names(node: Node) -> set[str]:
    """Every identifier that a syntax tree reads from outside; the variables of its macros are its own."""
    if isinstance(node, Name):
        return {node.name}
    outer, own, inner = binding(node)
    return set[str]().union(*map(free_names, outer)) | (set[str]().union(*map(free_names, inner)) - {*own})


def _calls(node: Node) -> set[str]:
    """The functions that a syntax tree calls by their bare names."""
    own = {node.function} if isinstance(node, Call) else set[str]()
    return own.union(*map(_calls, children(node)))
