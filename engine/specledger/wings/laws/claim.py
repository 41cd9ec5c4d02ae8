"""The typed tree of a claim, its exact 64-bit evaluation, its spelling as JSON and as text; numbers of steps.

A claim reads observables at the step `t` that it is judged at, up to `AHEAD` steps later, or at a fixed step. Every
operand is always evaluated: an integer that leaves 64 bits anywhere is an error, never a truth value. Source: law
proposer, section 6, Claim AST Format.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import reduce
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from specledger.expr import EvaluationError
from specledger.expr.errors import E_EVAL_OVERFLOW
from specledger.expr.limits import INT_MAX, INT_MIN
from specledger.wings.laws.spec.law import PER_LENGTH

ARITHMETIC: Final = ("+", "-", "*")
COMPARISONS: Final = ("==", "!=", "<", "<=", ">", ">=")
CONNECTIVES: Final = ("=>", "and", "or")
OPERATORS: Final = (*ARITHMETIC, *COMPARISONS, *CONNECTIVES)
"""The binary operators; `not` is the one unary one, and `/` is refused."""

STATE: Final = "state[i]"
"""Pseudo-observable: the symbol of cell i."""
IMAGE: Final = "evolve(transform(S))[i]"
"""Pseudo-observable: the symbol of cell i when the transformed start evolves."""
TRANSFORMED: Final = "transform(evolve(S))[i]"
"""Pseudo-observable: the symbol of cell i of the transformed state."""
IMAGES: Final = (IMAGE, TRANSFORMED)
"""What a claim may read only where a transform says which change is meant."""
AHEAD: Final = 8
"""How many steps after the one that it is judged at a claim may read."""
CELLWISE: Final = (STATE, *IMAGES)
"""What a claim may read of every cell; only templates write these names, for no observable can have them."""


class Time(Struct, frozen=True):
    """A step: `offset` after the step that the claim is judged at, or counted from the start where it is `fixed`."""

    offset: int
    fixed: bool = False

    def at(self, t: int) -> int:
        """The step that is meant when the claim is judged at `t`."""
        return self.offset if self.fixed else t + self.offset

    def __str__(self) -> str:
        return str(self.offset) if self.fixed else "t" if self.offset == 0 else f"t+{self.offset}"


NOW: Final = Time(0)
NEXT: Final = Time(1)
START: Final = Time(0, fixed=True)


class Const(Struct, frozen=True):
    """An integer, a truth value, or (in claims about single cells) a symbol as a text."""

    value: int | bool | str


class Observe(Struct, frozen=True):
    """An observable's value at a step."""

    name: str
    time: Time


class Binary(Struct, frozen=True):
    """One of `OPERATORS` of two operands."""

    op: str
    left: Node
    right: Node


class Not(Struct, frozen=True):
    """The denial of a truth value."""

    operand: Node


Node = Const | Observe | Binary | Not

TRUE: Final = Const(True)

Read = Callable[[str, Time], "int | str"]


def walk(node: Node) -> Iterator[Node]:
    """The node and everything below it, from left to right."""
    yield node
    for below in operands(node):
        yield from walk(below)


def operands(node: Node) -> tuple[Node, ...]:
    """The direct operands of a node."""
    if isinstance(node, Binary):
        return (node.left, node.right)
    return (node.operand,) if isinstance(node, Not) else ()


def conjunction(nodes: Sequence[Node]) -> Node:
    """All conditions at once; of none: true."""
    return reduce(lambda node, other: Binary("and", node, other), nodes) if nodes else TRUE


def reads(node: Node) -> dict[tuple[str, Time], None]:
    """What a claim reads, each once, in the order of the text."""
    return {(observe.name, observe.time): None for observe in walk(node) if isinstance(observe, Observe)}


def is_image(node: Node) -> bool:
    """Whether a node reads what a transform makes of a state."""
    return isinstance(node, Observe) and node.name in IMAGES


def latest(node: Node) -> int:
    """How many steps after the one that it is judged at a claim reads."""
    return max((time.offset for _, time in reads(node) if not time.fixed), default=0)


def move(node: Node, steps: int) -> Node:
    """The claim with every step that is not fixed moved by `steps`."""
    if isinstance(node, Observe):
        return node if node.time.fixed else replace(node, time=Time(node.time.offset + steps))
    if isinstance(node, Binary):
        return Binary(node.op, move(node.left, steps), move(node.right, steps))
    return Not(move(node.operand, steps)) if isinstance(node, Not) else node


class SortError(ValueError):
    """An operator has operands that it cannot take."""


def sort_of(node: Node) -> str:
    """What a claim's value is: `int`, `bool` or `cell` (a symbol).

    Raises:
        SortError: An operator has operands of the wrong sort.
    """
    if isinstance(node, Const):
        return "bool" if isinstance(node.value, bool) else "int" if isinstance(node.value, int) else "cell"
    if isinstance(node, Observe):
        return "cell" if node.name in CELLWISE else "int"
    if isinstance(node, Not):
        return _expect("not", sort_of(node.operand), ("bool",), "bool")
    sort, other = sort_of(node.left), sort_of(node.right)
    if sort != other:
        raise SortError(f"`{node.op}` has operands of two sorts, {sort} and {other}")
    if node.op in ARITHMETIC:
        return _expect(node.op, sort, ("int",), "int")
    if node.op in CONNECTIVES:
        return _expect(node.op, sort, ("bool",), "bool")
    return _expect(node.op, sort, ("int", "bool", "cell") if node.op in ("==", "!=") else ("int",), "bool")


def _expect(op: str, sort: str, allowed: tuple[str, ...], result: str) -> str:
    if sort not in allowed:
        raise SortError(f"`{op}` takes {' or '.join(allowed)}, not {sort}")
    return result


def placed(node: Node, path: tuple[str, ...] = ()) -> Iterator[tuple[Node, tuple[str, ...]]]:
    """The nodes of a claim, each with its path in the document of the claim, from the root down."""
    yield node, path
    keys = ("lhs", "rhs") if isinstance(node, Binary) else ("arg",)
    for key, below in zip(keys, operands(node), strict=False):
        yield from placed(below, (*path, key))


def first_wrong(claim: Node) -> tuple[str, ...]:
    """The path of the deepest node whose operands do not fit; of the root, if every node is sound."""
    for node, path in reversed([*placed(claim)]):
        try:
            sort_of(node)
        except SortError:
            return path
    return ()


def evaluator(node: Node) -> Callable[[Read], Any]:
    """The exact value of a claim of right sorts, as a function of what reads an observable at a time.

    It raises EvaluationError if an integer leaves 64 bits.
    """
    if isinstance(node, Const):
        value = node.value
        return lambda read: value
    if isinstance(node, Observe):
        name, time = node.name, node.time
        return lambda read: read(name, time)
    if isinstance(node, Not):
        denied = evaluator(node.operand)
        return lambda read: not denied(read)
    op, left, right = node.op, evaluator(node.left), evaluator(node.right)
    if op in ARITHMETIC:
        return lambda read: apply(op, left(read), right(read))
    compare = BINARY[op]
    return lambda read: compare(left(read), right(read))


def apply(op: str, left: Any, right: Any) -> Any:
    """A binary operator on plain values.

    Raises:
        EvaluationError: An integer leaves 64 bits.
    """
    value = BINARY[op](left, right)
    if op in ARITHMETIC and not INT_MIN <= value <= INT_MAX:
        raise EvaluationError(E_EVAL_OVERFLOW, f"the result of `{op}` is beyond 64 bits")
    return value


BINARY: Final[Mapping[str, Callable[[Any, Any], Any]]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "==": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
    "=>": lambda a, b: (not a) or b,
    "and": lambda a, b: a and b,
    "or": lambda a, b: a or b,
}

_LEVELS: Final = {"=>": 1, "or": 2, "and": 3, **dict.fromkeys(COMPARISONS, 5), "+": 6, "-": 6, "*": 7}
_NOT_LEVEL: Final = 4


def show(node: Node, level: int = 0) -> str:
    """The claim as text, with the brackets that reading it back needs."""
    if isinstance(node, Const):
        if isinstance(node.value, bool):
            return "true" if node.value else "false"
        return f"'{node.value}'" if isinstance(node.value, str) else str(node.value)
    if isinstance(node, Observe):
        return f"{node.name}({node.time})"
    if isinstance(node, Not):
        text, own = f"not {show(node.operand, _NOT_LEVEL)}", _NOT_LEVEL
    else:
        own = _LEVELS[node.op]
        left = own + (node.op in (*COMPARISONS, "=>"))
        right = own + (node.op != "=>")
        text = f"{show(node.left, left)} {node.op} {show(node.right, right)}"
    return f"({text})" if own < level else text


def to_json(node: Node) -> Any:
    """The claim in the JSON of law proposers."""
    if isinstance(node, Const):
        return {"const": node.value}
    if isinstance(node, Observe):
        return {"obs": node.name, "t": time_json(node.time)}
    if isinstance(node, Not):
        return {"op": "not", "arg": to_json(node.operand)}
    return {"op": node.op, "lhs": to_json(node.left), "rhs": to_json(node.right)}


def time_json(time: Time) -> dict[str, Any]:
    """A step as JSON."""
    if time.fixed:
        return {"const": time.offset}
    forms: dict[int, dict[str, Any]] = {0: {"var": "t"}, 1: {"t_plus_1": True}}
    return forms.get(time.offset, {"t_plus": time.offset})


class Duration(Struct, frozen=True):
    """`cells` steps for each cell of the ring, and `plus` more."""

    plus: int
    cells: int = 0

    @classmethod
    def read(cls, value: int | str) -> Duration:
        """A duration as a law has it: a number, or `2 * grid_length - 1`."""
        if isinstance(value, int):
            return cls(value)
        match = PER_LENGTH.fullmatch(value)
        assert match is not None  # noqa: S101 - the model of a law admits nothing else
        return cls(int(f"{match[2] or '+'}{match[3] or 0}"), int(match[1] or 1))

    def on(self, length: int) -> int:
        """The steps on a ring of so many cells."""
        return self.plus + self.cells * length

    def to_json(self) -> int | dict[str, int]:
        """The number, or `{cells, plus}`."""
        return {"cells": self.cells, "plus": self.plus} if self.cells else self.plus


Steps = int | Duration


def steps_on(steps: Steps, length: int) -> int:
    """The steps on a ring of so many cells."""
    return steps if isinstance(steps, int) else steps.on(length)


def steps_json(steps: Steps | None) -> int | dict[str, int] | None:
    """A number of steps as JSON."""
    return steps.to_json() if isinstance(steps, Duration) else steps
