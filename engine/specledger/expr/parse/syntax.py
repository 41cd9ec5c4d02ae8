"""The syntax tree of CEL profile v1, as parsed.

Each node knows its offsets in the text. Consecutive `!` or `-` are folded in pairs, as the reference parsers do; macros
are nodes of their own.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from specledger.core.spans import Text


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """A part of an expression, read from `start..end` (exclusive) of the text; places do not count for equality."""

    start: int = field(compare=False, default=0)
    end: int = field(compare=False, default=0)


@dataclass(frozen=True, slots=True)
class Literal(Node):
    """null, a bool, an int, a double or a string; the Python type tells which."""

    value: bool | int | float | str | None


@dataclass(frozen=True, slots=True)
class Name(Node):
    """An identifier."""

    name: str


@dataclass(frozen=True, slots=True)
class Select(Node):
    """`operand.key`; `key_start` is where the key begins."""

    operand: Node
    key: str
    key_start: int = field(compare=False, default=0)


@dataclass(frozen=True, slots=True)
class Has(Node):
    """`has(operand.key)`."""

    operand: Node
    key: str
    key_start: int = field(compare=False, default=0)


@dataclass(frozen=True, slots=True)
class Index(Node):
    """`operand[index]`."""

    operand: Node
    index: Node


@dataclass(frozen=True, slots=True)
class Unary(Node):
    """`!` or `-` of an operand."""

    operator: str
    operand: Node


@dataclass(frozen=True, slots=True)
class Binary(Node):
    """`+ - * / %`, `== != < <= > >=` or `in`; chains lean to the left."""

    operator: str
    left: Node
    right: Node


@dataclass(frozen=True, slots=True)
class Logical(Node):
    """`&&` or `||` of two or more operands, in order."""

    operator: str
    operands: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Conditional(Node):
    """`condition ? then : otherwise`."""

    condition: Node
    then: Node
    otherwise: Node


@dataclass(frozen=True, slots=True)
class Call(Node):
    """`function(args)`, or `target.function(args)`; a qualified name such as `math.abs` arrives with a target."""

    function: str
    target: Node | None
    args: tuple[Node, ...]
    function_start: int = field(compare=False, default=0)


@dataclass(frozen=True, slots=True)
class ListLiteral(Node):
    """`[a, b]`."""

    items: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class MapLiteral(Node):
    """`{key: value}`."""

    entries: tuple[tuple[Node, Node], ...]


@dataclass(frozen=True, slots=True)
class Macro(Node):
    """`target.all(variable, body)` and its kin.

    `kind` is all, exists, exists_one, filter or map; for a `map` of three arguments `condition` is the second.
    """

    kind: str
    target: Node
    variable: str
    body: Node
    condition: Node | None = None
    variable_start: int = field(compare=False, default=0)


@dataclass(frozen=True, slots=True)
class Reduce(Node):
    """`target.reduce(accumulator, variable, initial, body)`."""

    target: Node
    accumulator: str
    variable: str
    initial: Node
    body: Node


@dataclass(frozen=True, slots=True)
class Closure(Node):
    """`closure(origins, variable, body, limit)`."""

    origins: Node
    variable: str
    body: Node
    limit: Node


@dataclass(frozen=True, slots=True)
class Ast:
    """One parsed expression with the text that its offsets refer to; equality ignores the text."""

    root: Node
    text: Text = field(compare=False)


def children(node: Node) -> tuple[Node, ...]:
    """The direct parts of a node, in the order of the text."""
    match node:
        case Select() | Has() | Unary():
            return (node.operand,)
        case Index():
            return (node.operand, node.index)
        case Binary():
            return (node.left, node.right)
        case Logical():
            return node.operands
        case Conditional():
            return (node.condition, node.then, node.otherwise)
        case Call():
            return node.args if node.target is None else (node.target, *node.args)
        case ListLiteral():
            return node.items
        case MapLiteral():
            return tuple(part for entry in node.entries for part in entry)
        case Macro():
            return (node.target, *((node.condition,) if node.condition else ()), node.body)
        case Reduce():
            return (node.target, node.initial, node.body)
        case Closure():
            return (node.origins, node.limit, node.body)
        case _:
            return ()


def binding(node: Node) -> tuple[tuple[Node, ...], tuple[str, ...], tuple[Node, ...]]:
    """What a node evaluates outside of its own variables, the names of these, and what it evaluates with them."""
    match node:
        case Macro():
            return (node.target,), (node.variable,), children(node)[1:]
        case Reduce():
            return (node.target, node.initial), (node.accumulator, node.variable), (node.body,)
        case Closure():
            return (node.origins, node.limit), (node.variable,), (node.body,)
        case _:
            return children(node), (), ()
