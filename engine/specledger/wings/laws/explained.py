"""What a law says, in sentences made from the tree of its claim."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from specledger.lang.english import condition, definition, value
from specledger.lang.english_words import COMPARISONS, INFIX, NOUNS, OPPOSITES
from specledger.lang.phrases import code, quoted
from specledger.lang.statement import Statement, listed
from specledger.load import Bundle
from specledger.wings.laws.claim import IMAGE, STATE, TRANSFORMED, Binary, Const, Node, Not, Observe, Time
from specledger.wings.laws.compile import compile_law
from specledger.wings.laws.spec.law import Law as LawSpec
from specledger.wings.laws.spec.law import Precondition

CELLS: Final = {
    STATE: "the symbol of the cell",
    IMAGE: "the symbol of the cell that evolves from the transformed start",
    TRANSFORMED: "the symbol of the cell that the evolved start has when it is transformed",
}


def law(bundle: Bundle) -> Iterator[Statement]:
    """Where it is judged, what it claims, what would refute it."""
    model = bundle.main.model
    assert isinstance(model, LawSpec)  # noqa: S101 - it was loaded as one
    compiled = compile_law(bundle).law
    universe = compiled.universe
    symbols = listed(quoted(universe.text([symbol])) for symbol in compiled.starts)
    lengths = f"rings of {universe.shortest} to {universe.longest} cells"
    yield Statement(
        f"It is about {lengths} of the universe {code(universe.name)} that start with the symbols {symbols}"
    )
    if model.says is not None:
        yield Statement(f"In words: {quoted(model.says)}")
    if compiled.unknown is not None:
        yield Statement(f"It says {quoted(compiled.said)}, and nothing is decided: {compiled.unknown.detail}")
        return
    every = "At every step" if compiled.template.first == 0 else "At every step after the start"
    cells = " and in every cell" if compiled.template.cells else ""
    until = f" up to step {_steps(model.quantifiers.T)}"
    head = f"{every}{until}{cells}"
    if compiled.antecedent is not None:
        head += f" at which {_inline(compiled.antecedent)}"
    if compiled.template.within and model.quantifiers.H is not None:
        head += f", there or at most {_steps(model.quantifiers.H)} steps later"
    yield _clause(compiled.holds).after(f"{head}, it must be so that ")
    if compiled.image is not None:
        yield Statement(f"The transformation is {code(str(model.transform))}")
    for precondition in model.preconditions:
        yield _precondition(precondition).after("Only starts count for which ")
    yield Statement(f"It is refuted by {quoted(model.forbidden)}")
    for observable in model.observables:
        yield definition(observable.name, observable.expr)


def _steps(steps: int | str) -> str:
    return str(steps) if isinstance(steps, int) else code(steps)


def _precondition(given: Precondition | str) -> Statement:
    if isinstance(given, str):
        return condition(given)
    return Statement(f"{value(given.lhs)} {COMPARISONS[given.op]} {value(given.rhs)}")


def _clause(node: Node) -> Statement:
    if isinstance(node, Binary) and node.op in ("and", "or"):
        parts = tuple(_clause(part) for part in _operands(node, node.op))
        if len(parts) == 2 and not any(part.parts for part in parts) and not _several(node):
            return Statement(f" {node.op} ".join(part.text for part in parts))
        return Statement("all of these hold" if node.op == "and" else "at least one of these holds", parts)
    if isinstance(node, Binary) and node.op == "=>":
        return _clause(node.right).after(f"if {_inline(node.left)}, then ")
    return Statement(_inline(node))


def _several(node: Binary) -> bool:
    return any(isinstance(part, Binary) and part.op in ("and", "or", "=>") for part in (node.left, node.right))


def _operands(node: Node, op: str) -> list[Node]:
    if isinstance(node, Binary) and node.op == op:
        return [*_operands(node.left, op), *_operands(node.right, op)]
    return [node]


def _inline(node: Node) -> str:
    if isinstance(node, Not):
        if isinstance(node.operand, Binary) and node.operand.op in OPPOSITES:
            return _compared(OPPOSITES[node.operand.op], node.operand)
        return f"it is not so that {_inline(node.operand)}"
    if isinstance(node, Binary) and node.op in COMPARISONS:
        return _compared(node.op, node)
    if isinstance(node, Binary) and node.op in ("and", "or"):
        word = "both" if node.op == "and" else "either"
        return f"{word} {f' {node.op} '.join(_inline(part) for part in _operands(node, node.op))}"
    if isinstance(node, Binary) and node.op == "=>":
        return f"if {_inline(node.left)} then {_inline(node.right)}"
    if isinstance(node, Const):
        return "it always holds" if node.value else "it never holds"
    return _phrase(node)


def _compared(op: str, node: Binary) -> str:
    return f"{_phrase(node.left)} {COMPARISONS[op]} {_phrase(node.right)}"


def _phrase(node: Node) -> str:
    if isinstance(node, Observe):
        return f"{CELLS.get(node.name) or code(node.name)}{when(node.time)}"
    if isinstance(node, Const):
        if isinstance(node.value, str):
            return f"the symbol {quoted(node.value)}"
        return str(node.value) if node.value >= 0 else f"minus {-node.value}"
    if isinstance(node, Binary) and node.op in INFIX:
        return f"{_operand(node.left, node.op)} {INFIX[node.op]} {_operand(node.right, '*')}"
    return f"whether {_inline(node)}"


def _operand(node: Node, outer: str) -> str:
    """An operand: sums are said from left to right, a sum inside a product is named as one."""
    if isinstance(node, Binary) and node.op in NOUNS and outer == "*" and node.op != "*":
        return f"{NOUNS[node.op]} {_operand(node.left, '*')} and {_operand(node.right, '*')}"
    return _phrase(node)


def when(time: Time) -> str:
    """The step at which something is read, after it."""
    if time.fixed:
        return " at the start" if time.offset == 0 else f" at step {time.offset}"
    later = f" {time.offset} step{'s' if time.offset > 1 else ''} later"
    return later if time.offset else ""
