"""The checked tree: every node has a type, every name is resolved. Nodes are compared by identity."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from msgspec import Struct

from specledger.core.spans import Text
from specledger.expr.check.types import Native, Type

Path = tuple[str, ...]


class Slot:
    """A place for the value of a parameter or of a macro's variable; identity tells slots apart."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name


class Typed(Struct, frozen=True, eq=False, kw_only=True):
    """A checked part of an expression; `start` is its offset in the text that it was written in."""

    type: Type
    start: int = 0
    end: int = 0


class Value(Typed, frozen=True, eq=False):
    """A literal or a constant of the environment; `name` is the constant's."""

    value: Any
    name: str = ""


class Variable(Typed, frozen=True, eq=False):
    """A variable of the environment, or a field of the record that a derived value belongs to.

    It is not `sure` when it is a field that the record may lack.
    """

    name: str
    sure: bool


class ClockRead(Typed, frozen=True, eq=False):
    """A name of the clock of the run, `t`, `episode` or `actor`, which no caller binds."""

    name: str


class Local(Typed, frozen=True, eq=False):
    """A parameter of a function or the variable of a macro."""

    slot: Slot


class Field(Typed, frozen=True, eq=False):
    """`operand.key` of a record (or of a dynamic value); `sure` when every value of the record's type has the key."""

    operand: Typed
    key: str
    sure: bool


class Present(Typed, frozen=True, eq=False):
    """`has(operand.key)`."""

    operand: Typed
    key: str


class Item(Typed, frozen=True, eq=False):
    """`operand[index]` of a list, a map or a dynamic value."""

    operand: Typed
    index: Typed


class Operation(Typed, frozen=True, eq=False):
    """A strict operator: `+ - * / %`, comparisons, `in`, `!`, `neg`."""

    operator: str
    args: tuple[Typed, ...]


class Junction(Typed, frozen=True, eq=False):
    """`&&` or `||`, whose deciding operand absorbs the errors of the others."""

    operator: str
    args: tuple[Typed, ...]


class Choice(Typed, frozen=True, eq=False):
    """`condition ? then : otherwise`."""

    condition: Typed
    then: Typed
    otherwise: Typed


class MakeList(Typed, frozen=True, eq=False):
    """`[a, b]`."""

    items: tuple[Typed, ...]


class MakeMap(Typed, frozen=True, eq=False):
    """`{key: value}`."""

    entries: tuple[tuple[Typed, Typed], ...]


class Loop(Typed, frozen=True, eq=False):
    """A macro; `weight` is the work of one iteration without the loops inside it."""

    kind: str
    target: Typed
    slot: Slot
    body: Typed
    condition: Typed | None
    weight: int


class Fold(Typed, frozen=True, eq=False):
    """`target.reduce(accumulator, item, initial, body)`; `weight` as of a `Loop`."""

    target: Typed
    initial: Typed
    accumulator: Slot
    slot: Slot
    body: Typed
    weight: int


class Search(Typed, frozen=True, eq=False):
    """`closure(origins, item, body, limit)`; `weight` as of a `Loop`."""

    origins: Typed
    slot: Slot
    body: Typed
    limit: int
    weight: int


class NativeCall(Typed, frozen=True, eq=False):
    """A call of a Python function; when `accepts` has rows of types, dynamic arguments must fit one of them."""

    native: Native
    args: tuple[Typed, ...]
    accepts: tuple[tuple[Type, ...], ...]


class Instance(Struct, frozen=True, eq=False):
    """A defined function checked for one combination of argument types in one environment.

    Attributes:
        text: Its body's source.
        captures: Variables of the environment that it reads, those of the functions it calls included.
        weight: Work of one call without loops.
        work: Work of one call at most, loops included.
    """

    name: str
    text: Text
    params: tuple[Slot, ...]
    body: Typed
    captures: tuple[Variable, ...]
    weight: int
    height: int
    nodes: int
    work: int


class DefinedCall(Typed, frozen=True, eq=False):
    """A call of a defined function or the use of a derived value.

    With a `record`, the instance's variables are the fields of that record; without, those of the place of the call.
    """

    instance: Instance
    args: tuple[Typed, ...] = ()
    record: Typed | None = None


PARTS: Final[Mapping[type[Typed], Callable[[Any], tuple[Typed, ...]]]] = {
    **dict.fromkeys((Field, Present), lambda node: (node.operand,)),
    **dict.fromkeys((Operation, Junction, NativeCall), lambda node: node.args),
    Item: lambda node: (node.operand, node.index),
    Choice: lambda node: (node.condition, node.then, node.otherwise),
    MakeList: lambda node: node.items,
    MakeMap: lambda node: tuple(part for entry in node.entries for part in entry),
    Loop: lambda node: (node.target, *((node.condition,) if node.condition else ()), node.body),
    Fold: lambda node: (node.target, node.initial, node.body),
    Search: lambda node: (node.origins, node.body),
    DefinedCall: lambda node: node.args if node.record is None else (node.record, *node.args),
}
"""By the type of a node how its parts are read, unless it never has any; to try each class in turn would be slow."""


def parts(node: Typed) -> tuple[Typed, ...]:
    """The direct parts of a node, in order of evaluation; the body of a defined function is none of them."""
    read = PARTS.get(type(node))
    return () if read is None else read(node)


def walk(node: Typed) -> Iterator[Typed]:
    """The node and everything below it, bodies of defined functions left out."""
    waiting = [node]
    while waiting:
        current = waiting.pop()
        yield current
        waiting.extend(parts(current))


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
