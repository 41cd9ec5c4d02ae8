"""How what a log holds fits the types of a world: arguments of a call, and its result."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from msgspec import UNSET

from specledger.core.canonical import MAX_INTEGER
from specledger.core.log_json import LITERAL, MARKS, NUMBER
from specledger.core.unknown import Unknown
from specledger.expr import ListType, MapType, RecordType, Type, conforms
from specledger.expr.check.types import FixedType, IntType
from specledger.spec.base import format_qfixed
from specledger.wings.trajectories.model import Call, Result
from specledger.wings.trajectories.rules.conditions import qfixed_of
from specledger.wings.trajectories.rules.paths import is_number, is_withheld
from specledger.wings.trajectories.rules.structured import structured
from specledger.wings.trajectories.rules.values import text_of

NOT_RECORDED: Final = "not_recorded"
WITHHELD: Final = "withheld"
MISFIT: Final = "misfit"
"""Why a value does not fit."""


class Misfit(Exception):  # noqa: N818 - an outcome
    """A value that is not of its type; `reason` is one of the above, `path` is in the arguments or the result."""

    def __init__(self, reason: str, path: str) -> None:
        self.reason, self.path = reason, path
        super().__init__(f"{path}: {reason}")

    @property
    def unknown(self) -> Unknown:
        """What stands in its place."""
        return Unknown(f"{self.path} {_WORDS[self.reason]}", withheld=self.reason == WITHHELD)


_WORDS: Final = {
    NOT_RECORDED: "is not recorded",
    WITHHELD: "is withheld",
    MISFIT: "is of another type than its action declares",
}


def is_misfit(unknown: Unknown) -> bool:
    """Whether a value was recorded, but is of another type than its action declares."""
    return unknown.reason.endswith(_WORDS[MISFIT])


def fit(value: Any, type_: Type, path: str) -> Any:
    """A value of a log as expressions have it: a decimal in millionths, a record without fields that it does not name.

    Raises:
        Misfit: It is not of the type.
    """
    if value is UNSET:
        raise Misfit(NOT_RECORDED, path)
    if is_withheld(value):
        raise Misfit(WITHHELD, path)
    if isinstance(type_, FixedType):
        text = text_of(value) if type(value) is int or is_number(value) else None
        value = None if text is None else qfixed_of(text)
    elif isinstance(type_, RecordType) and type(value) is dict:
        value = _fit_fields(value, type_, path)
    elif isinstance(type_, ListType) and type(value) is list:
        value = [fit(item, type_.item, f"{path}[{index}]") for index, item in enumerate(value)]
    elif isinstance(type_, MapType) and type(value) is dict and not is_number(value):
        value = {key: fit(item, type_.value, f"{path}.{key}") for key, item in value.items()}
    if not conforms(value, type_):
        raise Misfit(MISFIT, path)
    return value


def _fit_fields(value: Mapping[str, Any], type_: RecordType, path: str) -> dict[str, Any]:
    wanted = {name: inner for name, inner in type_.fields.items() if name in value or name not in type_.optional}
    return {name: fit(value.get(name, UNSET), inner, f"{path}.{name}") for name, inner in wanted.items()}


def fit_arguments(call: Call, type_: RecordType) -> dict[str, Any]:
    """The arguments of a call that an action declares, each Unknown that does not fit; others are no part of it."""
    return _fit_members(call.arguments, type_, "args")


def fit_result(result: Result | None, type_: RecordType) -> dict[str, Any]:
    """The fields of the result of a call, each Unknown that was not recorded, or is not of its type.

    A result that is JSON or YAML as text is read. An action with the one field `text` takes any text as it is.
    """
    if result is None:
        return dict.fromkeys(type_.fields, Misfit(NOT_RECORDED, "the result").unknown)
    content = result.content
    if type_.fields.keys() == {"text"} and type(content) is str:
        content = {"text": content}
    content = structured(content)
    if type(content) is Unknown:
        return dict.fromkeys(type_.fields, content)
    return _fit_members(content, type_, "result")


def _fit_members(value: Any, type_: RecordType, path: str) -> dict[str, Any]:
    """The members of a record, of which the value of a log has some."""
    if type(value) is not dict or is_withheld(value):
        words = "arguments" if path == "args" else path
        return dict.fromkeys(type_.fields, Misfit(_reason(value), f"the {words}").unknown)
    members = {}
    for name, inner in type_.fields.items():
        if name in value or name not in type_.optional:
            try:
                members[name] = fit(value.get(name, UNSET), inner, f"{path}.{name}")
            except Misfit as misfit:
                members[name] = misfit.unknown
    return members


def as_logged(value: Any, type_: Type) -> Any:
    """A value of expressions as a log would hold it; the reverse of `fit`."""
    if isinstance(type_, FixedType):
        return _number(format_qfixed(value))
    if isinstance(type_, IntType):
        return value if abs(value) <= MAX_INTEGER else {NUMBER: str(value)}
    if isinstance(type_, RecordType):
        return {name: as_logged(value[name], inner) for name, inner in type_.fields.items() if name in value}
    if isinstance(type_, ListType):
        return [as_logged(item, type_.item) for item in value]
    if isinstance(type_, MapType):
        members = {str(key): as_logged(item, type_.value) for key, item in value.items()}
        return {LITERAL: members} if len(members) == 1 and not MARKS.isdisjoint(members) else members
    return value


def _number(text: str) -> Any:
    return int(text) if text.lstrip("-").isdigit() and abs(int(text)) <= MAX_INTEGER else {NUMBER: text}


def _reason(value: Any) -> str:
    """Why a value has no members."""
    return NOT_RECORDED if value is UNSET else WITHHELD if is_withheld(value) else MISFIT
