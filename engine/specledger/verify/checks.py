"""A verification: a numbered list of checks, each passed, failed or not made, and each of one level."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from enum import StrEnum
from typing import Any

from msgspec import Struct, field

from specledger.core.canonical import NotCanonical, canonical_bytes
from specledger.core.diagnostics import code
from specledger.core.verdict import Verdict
from specledger.verify.check_names import CheckName


class Status(StrEnum):
    """The outcome of one check."""

    PASSED = "passed"
    FAILED = "failed"
    NOTHING = "nothing to check"
    NOT_MADE = "not made"


class Level(StrEnum):
    """What a check contributes to: what can be shown about evidence, from the nearest to the furthest."""

    INTACT = "L0"
    SIGNED = "L1"
    TIMED = "L2"
    UNFORKED = "L3"
    REPLAYED = "L4"
    JUDGED = "L5"


class Check(Struct, frozen=True):
    """One line of a verification.

    Attributes:
        status: `nothing to check` where the evidence holds nothing that the check is about.
        code: Why it failed, or what is missing where it was not made: a registered code.
        message: What was found, with its place in the evidence; or why the check was not made.
    """

    number: int
    name: str
    status: Status
    code: str | None = None
    message: str | None = None
    level: Level = Level.INTACT


class Broken(Exception):  # noqa: N818 - a finding about evidence, not an engine error
    """A check that fails, raised where it is noticed."""

    def __init__(self, code_: str, message: str) -> None:
        self.code = code_
        self.message = message
        super().__init__(f"{code_}: {message}")


def require(holds: object, message: str, code_: str) -> None:
    """Raise `Broken` unless a condition holds."""
    if not holds:
        raise Broken(code_, message)


def equal(recorded: Any, computed: Any) -> bool:
    """Whether two values are the same JSON; Python's `==` takes `false` for 0."""
    kind = type(computed)
    if kind is str or kind is int or kind is bool or computed is None:
        return type(recorded) is kind and bool(recorded == computed)
    if isinstance(recorded, dict) and isinstance(computed, dict):
        return recorded.keys() == computed.keys() and all(
            equal(recorded[name], value) for name, value in computed.items()
        )
    try:
        return canonical_bytes(recorded) == canonical_bytes(computed)
    except NotCanonical:  # hostile receipts can give a result that is no JSON
        return False


def require_equal(record: Mapping[str, Any], computed: Mapping[str, Any], what: str, code_: str) -> None:
    """Raise `Broken` unless a record has the computed values.

    Raises:
        Broken: It has another one.
        KeyError: It lacks one.
    """
    for name, value in computed.items():
        if not equal(record[name], value):
            raise Broken(code_, f"{what} records another `{name}`: {short(record[name])}, not {short(value)}")


def misformed(error: Exception) -> str:
    """Words for what was raised by reading evidence that is not of its form."""
    if isinstance(error, KeyError) and error.args:
        return f"the field {short(error.args[0])} is missing, or there is nothing of that name"
    if isinstance(error, IndexError):
        return "a list is empty, or shorter than it must be"
    if isinstance(error, NotCanonical):
        return str(error)
    return "a value is not of the type, or not of the form, that its field must have"


def short(value: Any) -> str:
    """A value as text, eighty characters at most."""
    text = repr(value)
    return text if len(text) <= 80 else text[:77] + "..."


class Lacking(Exception):  # noqa: N818 - as above
    """A check that cannot be made, since something that it needs is not there; nothing is refuted by that."""

    def __init__(self, message: str, code_: str | None = None) -> None:
        self.code = code_
        self.message = message
        super().__init__(message)


class Nothing(Exception):  # noqa: N818 - as above
    """A check that the evidence holds nothing for: it refutes nothing, and shows nothing."""

    def __init__(self, message: str) -> None:
        self.message = message
        super().__init__(message)


class Stopped(Exception):  # noqa: N818 - as above
    """A check failed and was recorded; the checks after it are not made."""


class Note(Struct):
    """What a check found, if that says more than that it passed."""

    message: str | None = None


class Verification(Struct):
    """The checks made so far, in order.

    Attributes:
        asked: The levels that the verdict is about; None for all that there are checks of.
        demanded: Those of them of which a check must have been made.
        signed: Whether the evidence holds signature files, by whatever key.
        facts: Results of checks that need more than a sentence, as JSON, by name.
        unchecked: What was not checked because the evidence does not hold it; evidence need not hold it.
    """

    checks: list[Check] = field(default_factory=list)
    asked: frozenset[Level] | None = None
    demanded: frozenset[Level] = frozenset()
    signed: bool = False
    facts: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    unchecked: list[str] = field(default_factory=list)

    def ask(self, levels: frozenset[Level]) -> None:
        """Demand that levels be reached."""
        self.asked = self.demanded = levels

    @contextmanager
    def check(self, name: CheckName, level: Level = Level.INTACT) -> Iterator[Note]:
        """Record a check that the body makes by raising Broken or not.

        Raises:
            Stopped: The check failed.
        """
        note = Note()
        try:
            yield note
        except Broken as broken:
            self.failed(name, broken, level)
            raise Stopped from None
        self.passed(name, note.message, level)

    def attempt(self, name: CheckName, step: Callable[[], str | None], level: Level = Level.INTACT) -> None:
        """Record a check that `step` makes: it raises Broken, Lacking or Nothing, or returns a message."""
        try:
            with self.check(name, level) as note:
                note.message = step()
        except Lacking as lacking:
            self.not_made(name, lacking.message, level, lacking.code)
        except Nothing as nothing:
            self.nothing(name, nothing.message, level)

    def stop(self, planned: Iterable[tuple[CheckName, Level]]) -> None:
        """Record those planned checks that were not reached because an earlier one failed."""
        checked = {check.name for check in self.checks}
        for name, level in planned:
            if name not in checked:
                self.not_made(name, "an earlier check failed", level)

    def passed(self, name: CheckName, message: str | None = None, level: Level = Level.INTACT) -> None:
        """Record a check that passed."""
        self._add(name, Status.PASSED, None, message, level)

    def failed(self, name: CheckName, broken: Broken, level: Level = Level.INTACT) -> None:
        """Record a check that failed."""
        self._add(name, Status.FAILED, broken.code, broken.message, level)

    def nothing(self, name: CheckName, why: str, level: Level = Level.INTACT) -> None:
        """Record a check that the evidence holds nothing for."""
        self._add(name, Status.NOTHING, None, why, level)

    def not_made(self, name: CheckName, why: str, level: Level = Level.INTACT, code_: str | None = None) -> None:
        """Record a check that was not made."""
        self._add(name, Status.NOT_MADE, code_, why, level)

    def _add(self, name: CheckName, status: Status, code_: str | None, message: str | None, level: Level) -> None:
        number = len(self.checks) + 1 if name.number is None else name.number
        self.checks.append(Check(number, str(name), status, code_, message, level))

    @property
    def intact(self) -> bool:
        """Whether no check has failed."""
        return all(check.status is not Status.FAILED for check in self.checks)

    @property
    def complete(self) -> bool:
        """Whether checks of every level that was asked for passed, and none was not made or failed."""
        counted = [check for check in self.checks if self.asked is None or check.level in self.asked]
        passed = [check for check in counted if check.status is Status.PASSED]
        missing = (self.demanded | {check.level for check in counted}) - {check.level for check in passed}
        held = (Status.PASSED, Status.NOTHING)
        return bool(passed) and not missing and all(check.status in held for check in counted)

    @property
    def verdict(self) -> Verdict:
        """FAIL if a check failed, PASS if every check that was asked for was made and passed, else INCONCLUSIVE."""
        if not self.intact:
            return Verdict.FAIL
        return Verdict.PASS if self.complete else Verdict.INCONCLUSIVE


E_MANIFEST = code("E_MANIFEST", "the manifest is missing or malformed")
E_FILES = code("E_FILES", "a file of the bundle is missing, foreign or changed")
E_SPECS = code("E_SPECS", "the recorded specs are not those that the manifest names")
E_LINE = code("E_LINE", "a receipt is not a canonical line")
E_CHAIN = code("E_CHAIN", "the chain of receipts is broken")
E_ENDS = code("E_ENDS", "the receipts do not begin and end as a run does")
E_HEAD = code("E_HEAD", "head, count or root differ from the manifest")
E_COMMITMENT = code("E_COMMITMENT", "a decision does not match what was committed to")
E_STATE = code("E_STATE", "the states of successive receipts do not join")
E_RESULT = code("E_RESULT", "the recorded result is not what the receipts say")
E_REPLAY = code("E_REPLAY", "replay gives other receipts")
E_TRAJECTORIES = code("E_TRAJECTORIES", "the trajectories of evidence are missing, foreign or malformed")
E_NO_EVIDENCE = code("E_NO_EVIDENCE", "there is no evidence there")
