"""Conditions over typed values: Kleene logic, in which what a recording leaves out is unknown."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any, Final

from msgspec import UNSET, Struct, field

from specledger.core.unknown import Unknown, graver
from specledger.expr.check.checker import Checked
from specledger.expr.errors import EvaluationError
from specledger.expr.eval.evaluator import evaluate_within
from specledger.expr.generate.compiler import compile_expression
from specledger.spec.base import INTEGER_LIMIT, QFIXED_ONE
from specledger.wings.trajectories.model import Call, Message
from specledger.wings.trajectories.room import Room
from specledger.wings.trajectories.rules.phrases import HeardText
from specledger.wings.trajectories.rules.structured import structured
from specledger.wings.trajectories.rules.values import WHOLE, text_of
from specledger.wings.trajectories.stamps import stamp_of

_WORK: Final = 1_000_000
TOO_MUCH: Final = Unknown("more was heard than rules search")
_TRUTHS: Final = {"true": True, "yes": True, "false": False, "no": False}


class Event(Struct, eq=False):
    """A call with its result, or a message, as rules read it.

    Attributes:
        parsed: The result as `structured` reads it, once a rule has asked.
        heard: Its texts as `past.heard_texts` gives them, likewise.
        known: What was read of it that never changes, by what reads it.
        room: What may be kept of the trajectory that it is of.
    """

    number: int
    call: Call | None = None
    message: Message | None = None
    content: Any = UNSET
    error: bool | None = None
    answered: bool = False
    parsed: Any = UNSET
    heard: list[HeardText] | None = None
    known: dict[Any, Any] = {}
    room: Room = field(default_factory=Room)

    def root(self, name: str) -> Any:
        """What a path with this root begins at; UNSET where it is not recorded."""
        if name == "args":
            return UNSET if self.call is None else self.call.arguments
        if name == "result":
            if self.parsed is UNSET:
                self.parsed = structured(self.content)
                if self.parsed is not self.content and not self.room.take_value(self.parsed):
                    self.parsed = TOO_MUCH
            return self.parsed
        if name == "text":
            return UNSET if self.message is None else self.message.text
        if name == "tool":
            return UNSET if self.call is None else self.call.tool
        return UNSET if self.error is None else self.error

    @property
    def time(self) -> int | Unknown:
        """When it was, in microseconds since 1970: that is `number` in seconds, as expressions have it."""
        entry = self.call or self.message
        stamp = "" if entry is None else entry.time if isinstance(entry.time, int) else stamp_of(entry.time)
        if isinstance(stamp, int):
            return stamp
        return Unknown(f"time is no time stamp: {stamp[:80]!r}" if stamp else "time is not recorded")

    def parallel_to(self, other: Event) -> bool:
        """Whether both are calls of one message."""
        one, two = self.call, other.call
        return one is not None and two is not None and 0 != one.batch == two.batch and one.actor == two.actor


def qfixed_of(text: str) -> int | None:
    """A number in millionths, if that is exact."""
    scaled = Decimal(text) * QFIXED_ONE
    return int(scaled) if scaled == scaled.to_integral_value() and abs(scaled) <= INTEGER_LIMIT else None


def typed(value: Any, as_: str, path: str) -> Any:
    """A value by its type, as expressions have it, or why it is unknown."""
    if type(value) is int:
        if as_ == "int" and -INTEGER_LIMIT <= value <= INTEGER_LIMIT:
            return value
        if as_ == "number" and -INTEGER_LIMIT <= value * QFIXED_ONE <= INTEGER_LIMIT:
            return value * QFIXED_ONE
    if as_ == "bool":
        word = value if type(value) is bool else _TRUTHS.get(str(text_of(value)).casefold())
        return Unknown(f"{path} is no truth value") if word is None else word
    text = text_of(value)
    if text is None or (type(value) is bool and as_ != "text"):
        return Unknown(f"{path} is no {as_}")
    if as_ == "text":
        return text
    whole = WHOLE["number" if as_ == "int" else as_](text)
    if whole is None:
        return Unknown(f"{path} is no {as_}")
    if as_ == "number":
        scaled = qfixed_of(whole)
        return Unknown(f"{path} has more than six decimals, or is too large") if scaled is None else scaled
    if as_ == "int":
        number = Decimal(whole)
        exact = number == number.to_integral_value() and abs(number) <= INTEGER_LIMIT
        return int(number) if exact else Unknown(f"{path} is no int")
    return whole


Reader = Callable[[Any, Event], Any]
"""`(session, event)`: a typed value, or Unknown."""


Bound = Mapping[str, Any]
"""By name what readers and memory gave for a call, Unknown included."""


class Condition(Struct, frozen=True):
    """A condition over named readers; without an expression it always holds.

    Attributes:
        decide: Its value where names are bound: True, False, a number of a sum, or Unknown with the first reason.
        outer: Names that it reads of the rule that it belongs to.
    """

    checked: Checked | None
    names: tuple[str, ...]
    readers: Mapping[str, Reader]
    decide: Callable[[Bound], Any]
    outer: frozenset[str] = frozenset()
    reads_result: bool = False


def compile_condition(
    checked: Checked | None,
    readers: Mapping[str, Reader],
    outer: frozenset[str] = frozenset(),
    *,
    reads_result: bool = False,
) -> Condition:
    """The condition of a checked expression."""
    names = () if checked is None else tuple(sorted(checked.variables))
    return Condition(checked, names, readers, _decider(checked, names), outer, reads_result)


def _decider(checked: Checked | None, names: tuple[str, ...]) -> Callable[[Bound], Any]:
    """What decides a condition: a generated function, unless something that it reads is unknown."""
    if checked is None:
        return lambda bound: True

    def exactly(bound: Bound) -> Any:
        known = {name: bound[name] for name in names if type(bound[name]) is not Unknown}
        try:
            return evaluate_within(checked, known, _WORK)[0]
        except EvaluationError as error:
            return graver(*(bound[name] for name in names if name not in known)) or Unknown(error.message)

    if not names:
        return exactly
    run = compile_expression(checked, names)

    def decide(bound: Bound) -> Any:
        values = [bound[name] for name in names]
        if Unknown in map(type, values):
            return exactly(bound)
        try:
            return run(*values)
        except EvaluationError as error:
            return Unknown(error.message)

    if len(names) > 1:
        return decide
    (only,) = names

    def decide_one(bound: Bound) -> Any:
        value = bound[only]
        if type(value) is Unknown:
            return exactly(bound)
        try:
            return run(value)
        except EvaluationError as error:
            return Unknown(error.message)

    return decide_one


def request_reader(pattern: Any, as_: str) -> Reader:
    """Reads what the user wrote until now: whether a pattern occurs in it, or all of it by its type."""

    def reader(session: Any, _: Event) -> Any:
        if not session.request:
            return Unknown("no request is recorded")
        texts = [text for text in session.request if type(text) is str]
        if pattern is not None and any(pattern.search(text) is not None for text in texts):
            return True
        if len(texts) < len(session.request):
            return Unknown("request is withheld", withheld=True)
        return False if pattern is not None else typed("\n".join(texts), as_, "request")

    return reader


def time_reader(_: Any, event: Event) -> Any:
    """Reads when a call or a message was."""
    return event.time


def bind(readers: Mapping[str, Reader], session: Any, event: Event) -> dict[str, Any]:
    """The values of readers, Unknown included."""
    bound = {}
    for name, reader in readers.items():
        bound[name] = reader(session, event)
    return bound
