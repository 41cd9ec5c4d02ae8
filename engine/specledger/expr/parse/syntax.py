"""The syntax tree of CEL profile v1, as parsed.

Each node knows its offsets in the text. Consecutive `!` or `-` are folded in pairs, as the reference parsers do; macros
are nodes of their own.
"""

from __future__ import annotations

from typing import Any, Final

from msgspec import Struct

from specledger.core.spans import Text

OFFSETS: Final = frozenset({"start", "end", "key_start", "function_start", "variable_start"})
"""Fields that tell where a part stands; they do not count for equality."""


class Node(Struct, frozen=True, eq=False, kw_only=True):
    """A part of an expression, read from `start..end` (exclusive) of the text."""

    start: int = 0
    end: int = 0

    @property
    def parts(self) -> tuple[Any, ...]:
        """The values of its fields but for the offsets."""
        return tuple(getattr(self, name) for name in self.__struct_fields__ if name not in OFFSETS)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Node) and type(self) is type(other) and self.parts == other.parts

    def __hash__(self) -> int:
        return hash(self.parts)


class Literal(Node, frozen=True, eq=False):
    """null, a bool, an int, a double or a string; the Python type tells which."""

    value: bool | int | float | str | None


class Name(Node, frozen=True, eq=False):
    """An identifier."""

    name: str


class Select(Node, frozen=True, eq=False):
    """`operand.key`; `key_start` is where the key begins."""

    operand: Node
    key: str
    key_start: int = 0


class Has(Node, frozen=True, eq=False):
    """`has(operand.key)`."""

    operand: Node
    key: str
    key_start: int = 0


class Index(Node, frozen=True, eq=False):
    """`operand[index]`."""

    operand: Node
    index: Node


class Unary(Node, frozen=True, eq=False):
    """`!` or `-` of an operand."""

    operator: str
    operand: Node


class Binary(Node, frozen=True, eq=False):
    """`+ - * / %`, `== != < <= > >=` or `in`; chains lean to the left."""

    operator: str
    left: Node
    right: Node


class Logical(Node, frozen=True, eq=False):
    """`&&` or `||` of two or more operands, in order."""

    operator: str
    operands: tuple[Node, ...]


class Conditional(Node, frozen=True, eq=False):
    """`condition ? then : otherwise`."""

    condition: Node
    then: Node
    otherwise: Node


class Call(Node, frozen=True, eq=False):
    """`function(args)`, or `target.function(args)`; a qualified name such as `math.abs` arrives with a target."""

    function: str
    target: Node | None
    args: tuple[Node, ...]
    function_start: int = 0


class ListLiteral(Node, frozen=True, eq=False):
    """`[a, b]`."""

    items: tuple[Node, ...]


class MapLiteral(Node, frozen=True, eq=False):
    """`{key: value}`."""

    entries: tuple[tuple[Node, Node], ...]


class Macro(Node, frozen=True, eq=False):
    """`target.all(variable, body)` and its kin.

    `kind` is all, exists, exists_one, filter or map; for a `map` of three arguments `condition` is the second.
    """

    kind: str
    target: Node
    variable: str
    body: Node
    condition: Node | None = None
    variable_start: int = 0


class Reduce(Node, frozen=True, eq=False):
    """`target.reduce(accumulator, variable, initial, body)`."""

    target: Node
    accumulator: str
    variable: str
    initial: Node
    body: Node


class Closure(Node, frozen=True, eq=False):
    """`closure(origins, variable, body, limit)`."""

    origins: Node
    variable: str
    body: Node
    limit: Node


class Ast(Struct, frozen=True, eq=False):
    """One parsed expression with the text that its offsets refer to; equality ignores the text."""

    root: Node
    text: Text

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Ast) and self.root == other.root

    def __hash__(self) -> int:
        return hash(self.root)


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
