"""The codes of what is wrong in a log, and the exception of canonical lines that are none."""

from __future__ import annotations

from specledger.core.diagnostics import Diagnostic, Rejected, code
from specledger.core.spans import Position, Span

E_LOG_FILE = code("E_LOG_FILE", "A log that cannot be read, or holds nothing")
E_LOG_FORMAT = code("E_LOG_FORMAT", "A log of an unknown format")
E_LOG_JSON = code("E_LOG_JSON", "A line or a document of a log that is not JSON")
E_LOG_SIZE = code("E_LOG_SIZE", "A part of a log that is too large")
E_LOG_RECORD = code("E_LOG_RECORD", "A record of a log that is not as its format says")
E_LOG_MESSAGE = code("E_LOG_MESSAGE", "A message of a log that cannot be read")
E_LOG_ARGUMENTS = code("E_LOG_ARGUMENTS", "Arguments of a call that are no JSON")
E_LOG_DUPLICATE = code("E_LOG_DUPLICATE", "An id of two calls")
E_LOG_NO_RESULT = code("E_LOG_NO_RESULT", "A call without a result")
E_LOG_NO_CALL = code("E_LOG_NO_CALL", "A result without a call")
E_LOG_FAILED = code("E_LOG_FAILED", "A log that says that something failed")
E_LOG_WITHHOLD = code("E_LOG_WITHHOLD", "A value to withhold that no log holds")
E_LOG_CANONICAL = code("E_LOG_CANONICAL", "Lines that are no canonical trajectories")


class MalformedLine(ValueError):  # noqa: N818 - says what the line is, not that the engine failed
    """A line of canonical trajectories that is none.

    Attributes:
        code: E_LOG_CANONICAL.
        line: Its number, from 1.
    """

    def __init__(self, line: int, message: str) -> None:
        super().__init__(line, message)
        self.code = E_LOG_CANONICAL
        self.line = line
        self.message = message

    def __str__(self) -> str:
        return f"line {self.line}: {self.message}"


def located(file: str, line: int, trajectory: str, call: str) -> str:
    """Where a call or a message is, as people read it: the line, else the trajectory; and the call, by its id."""
    named = [f"call {call}"] if call else []
    if line:
        return ", ".join([f"{file}:{line}", *named])
    own = trajectory.removeprefix(file).removeprefix(":")
    within = [f"trajectory {own}"] if own not in ("", "1") else []
    return ", ".join([file, *within, *named])


def shown(code: str, message: str, file: str, line: int) -> str:
    """A finding of a log as people read it: file, line, code and reason."""
    start = Position(max(line, 1), 1)
    return str(Rejected([Diagnostic(code, message, Span(file, start, start))]))
