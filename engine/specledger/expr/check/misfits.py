"""What to write where the type of a value does not fit its place."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from specledger.core.diagnostics import suggest
from specledger.expr.check.tree import Typed, Value
from specledger.expr.check.types import BOOL, STRING, IntType, ListType, RecordType, Type

_MOST_FIELDS = 3  # fields that are named as examples
_LONGEST = 60  # characters of a source that is repeated


def hint_of_misfit(root: Typed, expect: Type, source: str) -> str | None:
    """How to turn a value into what its place expects, if that is known."""
    if "//" in source:
        return "`//` begins a comment; `a / b` of integers is an integer"
    if len(source) > _LONGEST:
        return None
    if "?" in source:
        source = f"({source})"
    if expect == BOOL and isinstance(root.type, ListType):
        return f"ask whether something is in it: `t in {source}`"
    if expect == BOOL and isinstance(root, Value) and isinstance(root.type, IntType) and not root.name:
        return f"compare something with it: `t == {source}`, `t % {source} == 0`"
    if expect == BOOL and isinstance(root.type, IntType):
        return f"compare it: `{source} != 0`"
    if expect == BOOL and isinstance(root, Value) and root.type == STRING and not root.name:
        return f"it is a text in quotes; without them it is the expression `{root.value}`"
    if isinstance(expect, IntType) and root.type == BOOL:
        return f"write `{source} ? 1 : 0`"
    return None


def hint_of_unequal(a: Type, b: Type) -> str | None:
    """Which field of a record can be compared with a text or a number; what to write for a comparison of a bool."""
    record, other = (a, b) if isinstance(a, RecordType) else (b, a)
    if isinstance(record, RecordType) and (other == STRING or isinstance(other, IntType)):
        texts = other == STRING
        fields = [
            name for name, type_ in record.fields.items() if (type_ == STRING if texts else type(type_) is IntType)
        ]
        named = ", ".join(f"`.{name}`" for name in sorted(fields)[:_MOST_FIELDS])
        return f"compare a field of it, such as {named}" if fields else None
    if BOOL in (a, b) and (isinstance(a, IntType) or isinstance(b, IntType)):
        return "a condition stands alone: `x`, or `!x`"
    return None


def hint_of_text(operands: tuple[Typed, ...], constants: Mapping[str, tuple[Type, Any]]) -> str | None:
    """What to write for a text beside an int: a number in quotes, or a constant that was written as an expression."""
    text = next((item for item in operands if isinstance(item, Value) and isinstance(item.value, str)), None)
    if text is None or not any(isinstance(operand.type, IntType) for operand in operands):
        return None
    if text.value.lstrip("-").isdecimal():
        return f"write `{text.value}` without quotes"
    if text.name and any(character.isdigit() for character in text.value) and len(text.value) <= _LONGEST:
        return f"`{text.name}` is the text `{text.value}`: a constant is a number, and no expression"
    return hint_of_constant(text, constants)


def hint_of_constant(root: Typed, constants: Mapping[str, tuple[Type, Any]]) -> str | None:
    """Which constant was probably meant by a text, in quotes or as the value of another constant."""
    if not isinstance(root, Value) or not isinstance(root.value, str):
        return None
    others = [name for name, (type_, _) in constants.items() if type_ != STRING]
    near = root.value if root.value in others else suggest(root.value, others)
    if near is None:
        return None
    if root.name:
        return f"`{root.name}` is the text `{root.value}`; a constant names no other: read `{near}` here"
    return f"did you mean `{near}`? a constant is read without quotes"
