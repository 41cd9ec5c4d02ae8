"""Expressions as English sentences: a condition as a clause, a value as an amount, both made from the tree.

Nothing is told by precedence: what does not read unambiguously on one line becomes a list of clauses.
"""

from __future__ import annotations

from specledger.core.diagnostics import Diagnostics, Rejected
from specledger.core.spans import Text
from specledger.expr import parse
from specledger.expr.parse.syntax import (
    Binary,
    Call,
    Conditional,
    Logical,
    Macro,
    MapLiteral,
    Name,
    Node,
    Unary,
    children,
)
from specledger.lang.english_words import ADDITIVE
from specledger.lang.phrases import DENIED_QUANTIFIERS, QUANTIFIERS, atom, code, inline, is_condition, phrase
from specledger.lang.statement import LONGEST_LINE, Statement


def condition(text: str) -> Statement:
    """What a condition demands, as a clause: `the action is "walk" and the next `at` is at most `HOLE``."""
    return _clause(_tree(text))


def denial(text: str) -> Statement:
    """What holds where a condition does not."""
    return _clause(_tree(text), holds=False)


def one_line(text: str) -> str:
    """A condition inside a sentence, on one line whatever it is."""
    return inline(_tree(text))


def value(text: str) -> str:
    """A value as a phrase: `the sum of `cost` over every `c` of `chases``."""
    return phrase(_tree(text))


def says_condition(text: str) -> bool:
    """Whether an expression is a condition by its form."""
    return is_condition(_tree(text))


def names_in(text: str) -> frozenset[str]:
    """The names that an expression reads, binds or calls."""
    nodes, names = [_tree(text)], set()
    for node in nodes:
        nodes.extend(children(node))
        if isinstance(node, Name):
            names.add(node.name)
        elif isinstance(node, Call):
            names.add(node.function)
    return frozenset(names)


def amount(text: str) -> Statement:
    """A value that may be long: a sum or a choice has a line for each of its terms or cases."""
    return _amount(_tree(text))


def definition(name: str, text: str) -> Statement:
    """What a name stands for: `exhausted` means that ..., `cheapest` is ..."""
    node = _tree(text)
    if is_condition(node):
        return _clause(node).after(f"{code(name)} means that ")
    return _amount(node).after(f"{code(name)} is ")


def _tree(text: str) -> Node:
    diagnostics = Diagnostics()
    ast = parse(Text.inline(str(text)), diagnostics)
    if ast is None:
        raise Rejected(diagnostics.sorted())
    return ast.root


def _clause(node: Node, *, holds: bool = True) -> Statement:
    """That a condition holds, or that it does not."""
    match node:
        case Logical():
            clauses = [_clause(operand, holds=holds) for operand in node.operands]
            return _several(node.operands, "and" if (node.operator == "&&") is holds else "or", clauses)
        case Unary() if node.operator == "!":
            return _clause(node.operand, holds=not holds)
        case Macro() if node.kind in QUANTIFIERS:
            return _quantified(node, holds=holds)
        case Conditional():
            return _chosen(node, _clause(node.then, holds=holds), _clause(node.otherwise, holds=holds))
        case _:
            return Statement(atom(node, holds=holds))


def _several(nodes: tuple[Node, ...], word: str, clauses: list[Statement]) -> Statement:
    """Two short clauses on a line, of which none is itself of several; more of them as a list."""
    text = f" {word} ".join(clause.text for clause in clauses)
    nested = any(isinstance(node, Logical | Conditional) for node in nodes)
    binds = any(isinstance(node, Macro) for node in nodes[:-1])
    if (
        len(clauses) == 2
        and len(text) <= LONGEST_LINE
        and not (nested or binds or any(clause.parts for clause in clauses))
    ):
        return Statement(text)
    return Statement("all of these hold" if word == "and" else "at least one of these holds", tuple(clauses))


def _quantified(node: Macro, *, holds: bool) -> Statement:
    """`for every`, `for some`, `for exactly one`; a denied `for every` is one for which the condition does not hold."""
    inside = holds or node.kind != "all"
    words = (QUANTIFIERS if holds else DENIED_QUANTIFIERS)[node.kind]
    return _clause(node.body, holds=inside).after(f"{words} {code(node.variable)} of {phrase(node.target)}, ")


def _chosen(node: Conditional, then: Statement, otherwise: Statement) -> Statement:
    first = _clause(node.condition)
    if first.parts or then.parts or otherwise.parts or isinstance(node.otherwise, Conditional):
        return Statement(
            "what the first condition that holds demands",
            (Statement(f"if {inline(node.condition)}", (then,)), Statement("otherwise", (otherwise,))),
        )
    return Statement(f"if {first.text}, {then.text}, and otherwise {otherwise.text}")


def _amount(node: Node) -> Statement:
    if isinstance(node, Conditional):
        plain = phrase(node)
        if len(plain) <= LONGEST_LINE // 2 and not isinstance(node.otherwise, Conditional):
            return Statement(plain)
        parts: list[Statement] = []
        at: Node = node
        while isinstance(at, Conditional):
            parts.append(_amount(at.then).after(f"if {inline(at.condition)}: "))
            at = at.otherwise
        parts.append(_amount(at).after("otherwise: "))
        return Statement("the first of these that applies", tuple(parts))
    if isinstance(node, MapLiteral) and len(phrase(node)) > LONGEST_LINE:
        return Statement("a record", tuple(_amount(entry).after(f"{phrase(key)}: ") for key, entry in node.entries))
    terms = _terms(node)
    if len(terms) < 2 or not (len(terms) > 2 or any(isinstance(term, Conditional) for _, term in terms)):
        return Statement(phrase(node))
    return Statement("the sum of these", tuple(_amount(term).after(sign) for sign, term in terms))


def _terms(node: Node) -> list[tuple[str, Node]]:
    """The terms of a sum, each with `minus ` where it is subtracted."""
    if isinstance(node, Binary) and node.operator in ADDITIVE:
        return [*_terms(node.left), ("minus " if node.operator == "-" else "", node.right)]
    return [("", node)]
