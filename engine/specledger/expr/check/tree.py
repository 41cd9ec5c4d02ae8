"""The checked tree: every node has a type, every name is resolved. Nodes are compared by identity."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from specledger.core.spans import Text
from specledger.expr.check.types import Type
from specledger.expr.functions import Native

Path = tuple[str, ...]


class Slot:
    """A place for the value of a parameter or of a macro's variable; identity tells slots apart."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Typed:
    """A checked part of an expression; `start` is its offset in the text that it was written in."""

    type: Type
    start: int = 0
    end: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class Value(Typed):
    """A literal or a constant of the environment; `name` is the constant's."""

    value: Any
    name: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Variable(Typed):
    """A variable of the environment, or a field of the record that a derived value belongs to.

    It is not `sure` when it is a field that the record may lack.
    """

    name: str
    sure: bool


@dataclass(frozen=True, slots=True, eq=False)
class Local(Typed):
    """A parameter of a function or the variable of a macro."""

    slot: Slot


@dataclass(frozen=True, slots=True, eq=False)
class Field(Typed):
    """`operand.key` of a record (or of a dynamic value); `sure` when every value of the record's type has the key."""

    operand: Typed
    key: str
    sure: bool


@dataclass(frozen=True, slots=True, eq=False)
class Present(Typed):
    """`has(operand.key)`."""

    operand: Typed
    key: str


@dataclass(frozen=True, slots=True, eq=False)
class Item(Typed):
    """`operand[index]` of a list, a map or a dynamic value."""

    operand: Typed
    index: Typed


@dataclass(frozen=True, slots=True, eq=False)
class Operation(Typed):
    """A strict operator: `+ - * / %`, comparisons, `in`, `!`, `neg`."""

    operator: str
    args: tuple[Typed, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Junction(Typed):
    """`&&` or `||`, whose deciding operand absorbs the errors of the others."""

    operator: str
    args: tuple[Typed, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Choice(Typed):
    """`condition ? then : otherwise`."""

    condition: Typed
    then: Typed
    otherwise: Typed


@dataclass(frozen=True, slots=True, eq=False)
class MakeList(Typed):
    """`[a, b]`."""

    items: tuple[Typed, ...]


@dataclass(frozen=True, slots=True, eq=False)
class MakeMap(Typed):
    """`{key: value}`."""

    entries: tuple[tuple[Typed, Typed], ...]


@dataclass(frozen=True, slots=True, eq=False)
class Loop(Typed):
    """A macro; `weight` is the work of one iteration without the loops inside it."""

    kind: str
    target: Typed
    slot: Slot
    body: Typed
    condition: Typed | None
    weight: int


@dataclass(frozen=True, slots=True, eq=False)
class Fold(Typed):
    """`target.reduce(accumulator, item, initial, body)`; `weight` as of a `Loop`."""

    target: Typed
    initial: Typed
    accumulator: Slot
    slot: Slot
    body: Typed
    weight: int


@dataclass(frozen=True, slots=True, eq=False)
class Search(Typed):
    """`closure(origins, item, body, limit)`; `weight` as of a `Loop`."""

    origins: Typed
    slot: Slot
    body: Typed
    limit: int
    weight: int


@dataclass(frozen=True, slots=True, eq=False)
class NativeCall(Typed):
    """A call of a Python function; when `accepts` has rows of types, dynamic arguments must fit one of them."""

    native: Native
    args: tuple[Typed, ...]
    accepts: tuple[tuple[Type, ...], ...]


@dataclass(frozen=True, slots=True, eq=False)
class Instance:
    """A defined function checked for one combination of argument types in one environment.

    Attributes:
        name: The function's name.
        text: Its body's source.
        params: The slots of its parameters.
        body: Its checked body.
        captures: Variables of the environment that it reads, those of the functions it calls included.
        weight: Work of one call without loops.
        height: Height of the expanded body.
        nodes: Nodes of the expanded body.
    """

    name: str
    text: Text
    params: tuple[Slot, ...]
    body: Typed
    captures: tuple[Variable, ...]
    weight: int
    height: int
    nodes: int


@dataclass(frozen=True, slots=True, eq=False)
class DefinedCall(Typed):
    """A call of a defined function or the use of a derived value.

    With a `record`, the instance's variables are the fields of that record; without, those of the place of the call.
    """

    instance: Instance
    args: tuple[Typed, ...] = ()
    record: Typed | None = None


def parts(node: Typed) -> tuple[Typed, ...]:
    """The direct parts of a node, in order of evaluation; the body of a defined function is none of them."""
    match node:
        case Field() | Present():
            return (node.operand,)
        case Item():
            return (node.operand, node.index)
        case Operation() | Junction() | NativeCall():
            return node.args
        case Choice():
            return (node.condition, node.then, node.otherwise)
        case MakeList():
            return node.items
        case MakeMap():
            return tuple(part for entry in node.entries for part in entry)
        case Loop():
            return (node.target, *((node.condition,) if node.condition else ()), node.body)
        case Fold():
            return (node.target, node.initial, node.body)
        case Search():
            return (node.origins, node.body)
        case DefinedCall():
            return node.args if node.record is None else (node.record, *node.args)
        case _:
            return ()


def walk(node: Typed) -> Iterator[Typed]:
    """The node and everything below it, bodies of defined functions left out."""
    waiting = [node]
    while waiting:
        found = waiting.pop()
        yield found
        waiting.extend(parts(found))


def path_of(node: Typed) -> tuple[Slot | str, Path] | None:
    """Where a node reads when it is a variable or a chain of record fields: (its root, the keys); else None."""
    keys: list[str] = []
    while isinstance(node, Field):
        keys.append(node.key)
        node = node.operand
    if isinstance(node, Variable):
        return node.name, tuple(reversed(keys))
    if isinstance(node, Local):
        return node.slot, tuple(reversed(keys))
    return None


def repeatable(node: Typed) -> bool:
    """Whether a node cannot fail and is a name, a constant, or a field of one."""
    while isinstance(node, Field) and node.sure:
        node = node.operand
    return isinstance(node, Local | Value) or (isinstance(node, Variable) and node.sure)
