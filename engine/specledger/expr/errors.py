"""Codes of findings in expressions and of evaluation errors."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Final

from specledger.core.diagnostics import code

if TYPE_CHECKING:
    from specledger.core.spans import Span, Text

E_EXPR_SYNTAX = code("E_EXPR_SYNTAX", "not an expression")
E_EXPR_UNKNOWN_NAME = code("E_EXPR_UNKNOWN_NAME", "undefined name")
E_EXPR_UNKNOWN_FIELD = code("E_EXPR_UNKNOWN_FIELD", "unknown field of a record")
E_EXPR_TYPE = code("E_EXPR_TYPE", "type mismatch")
E_EXPR_NO_PROMOTION = code("E_EXPR_NO_PROMOTION", "numbers of different sorts are mixed")
E_EXPR_OUTSIDE_PROFILE = code("E_EXPR_OUTSIDE_PROFILE", "valid CEL, but outside the profile")
E_EXPR_RECURSION = code("E_EXPR_RECURSION", "a function calls itself")
E_EXPR_LIMIT = code("E_EXPR_LIMIT", "an expression is too large")
E_EXPR_ARGUMENTS = code("E_EXPR_ARGUMENTS", "a function is called with the wrong number of arguments")
E_EXPR_CAPTURE = code("E_EXPR_CAPTURE", "a function reads a variable that is not visible where it is called")

E_EVAL_OVERFLOW = code("E_EVAL_OVERFLOW", "integer overflow")
E_EVAL_DIVISION_BY_ZERO = code("E_EVAL_DIVISION_BY_ZERO", "integer division by zero")
E_EVAL_NO_SUCH_KEY = code("E_EVAL_NO_SUCH_KEY", "no such key")
E_EVAL_INDEX = code("E_EVAL_INDEX", "list index out of range")
E_EVAL_ARGUMENT = code("E_EVAL_ARGUMENT", "invalid argument")
E_EVAL_TYPE = code("E_EVAL_TYPE", "a dynamic value has the wrong type")
E_EVAL_LIMIT = code("E_EVAL_LIMIT", "evaluation too expensive")


_LISTENER: Final[ContextVar[Callable[[EvaluationError], None] | None]] = ContextVar("listener", default=None)


@contextmanager
def listening(listener: Callable[[EvaluationError], None]) -> Iterator[None]:
    """Call a listener with every evaluation error of this thread, also with those that are caught."""
    token = _LISTENER.set(listener)
    try:
        yield
    finally:
        _LISTENER.reset(token)


class EvaluationError(Exception):
    """The result of an evaluation that has no value; never a verdict.

    Attributes:
        code: One of the `E_EVAL_` codes.
        message: One sentence; receipts do not hold it, so it may name a value of the context.
        offset: Offset in `text` of the part that failed, when known.
        text: The expression (or function body) that failed, when known.
    """

    def __init__(self, code: str, message: str, offset: int | None = None, text: Text | None = None) -> None:
        super().__init__(code, message)
        self.code = code
        self.message = message
        self.offset = offset
        self.text = text
        listener = _LISTENER.get()
        if listener is not None:
            listener(self)

    def bare(self) -> EvaluationError:
        """The error, for whoever keeps it: without its traceback, which holds all values of what failed."""
        self.__traceback__ = self.__context__ = self.__cause__ = None
        return self

    @property
    def span(self) -> Span | None:
        """Where the failing part was written, when known."""
        return None if self.text is None or self.offset is None else self.text.span(self.offset, self.offset)

    def __str__(self) -> str:
        return f"{self.code}: {self.message}" + (f" at {self.span}" if self.span else "")


class MissingFieldError(EvaluationError):
    """A record or a map has no such `field`, by whose name it was read: `operand.field`."""

    def __init__(self, field: str) -> None:
        super().__init__(E_EVAL_NO_SUCH_KEY, f"there is no `{field}`")
        self.field = field
