"""Functions written in Python: their types, costs, and whether they can fail."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from msgspec import Struct

from specledger.expr.check.types import Type


class Signature(Struct, frozen=True):
    """One overload: parameter types and the result's type; both may contain `TypeVariable`.

    With `variadic`, the last parameter may be given any number of times, at least once.
    """

    params: tuple[Type, ...]
    result: Type
    variadic: bool = False


class Native(Struct, frozen=True):
    """A function written in Python.

    Attributes:
        name: The name in expressions; may be qualified (`math.abs`).
        overloads: Tried in order against the argument types.
        call: Receives plain values and returns one that fits the overload's result (ranges included). It must be
            pure, must not change its arguments, and raises `EvaluationError` on bad input.
        total: True when `call` never raises for arguments that fit a signature.
        cost: Work of one call, in tree nodes; a list argument adds its length.
        fast: The same function for generated code, where it may raise anything at all in place of an
            `EvaluationError`; `call` where it is left out.
        written: Writes a call out as Python source over the cells of small matrices. It is given the source of each
            scalar argument and, for a list, the list of its elements' sources; it returns source, or a matrix of
            source for a matrix, in which `call` stands for the call itself. It raises ValueError or TypeError where the
            arguments do not fit.
        infer: Narrows the result from the argument types (ranges, sizes); it must return a type that fits the
            overload's result.
    """

    name: str
    overloads: tuple[Signature, ...]
    call: Callable[..., Any]
    total: bool = False
    cost: int = 1
    infer: Callable[[tuple[Type, ...]], Type] | None = None
    fast: Callable[..., Any] | None = None
    written: Callable[..., str | list[list[str]]] | None = None
