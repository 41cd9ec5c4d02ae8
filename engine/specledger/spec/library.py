"""The `library` kind: functions, constants and types that specs of other kinds share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from pydantic import Field

from specledger.spec.base import Constant, Identifier, Spec
from specledger.spec.types import TypeSpec
from specledger.spec.world import Function


class Library(Spec):
    """A library/v1 document. A spec with `use: [<library>]` has these definitions beside its own.

    Attributes:
        types: Named types, for worlds.
        constants: Named values that expressions read.
        functions: Pure functions that expressions call.
    """

    spec: Literal["library/v1"]
    types: Mapping[Identifier, TypeSpec] = Field(default_factory=dict)
    constants: Mapping[Identifier, Constant] = Field(default_factory=dict)
    functions: Mapping[Identifier, Function] = Field(default_factory=dict)
