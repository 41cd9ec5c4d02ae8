"""Codes of findings in expressions and of evaluation errors."""

from __future__ import annotations

from typing import TYPE_CHECKING

from specledger.core.diagnostics import code

if TYPE_CHECKING:
    from specledger.core.spans import Span, Text

E_EXPR_SYNTAX = code(
    "E_EXPR_SYNTAX",
    "not an expression",
    "The text does not follow the grammar of CEL. In YAML, quote expressions that contain `: ` or `#`, or begin with"
    " one of `! * & @ [ { \" '`.",
)
E_EXPR_UNKNOWN_NAME = code(
    "E_EXPR_UNKNOWN_NAME",
    "undefined name",
    "No variable, constant, derived value or function of this name is visible at this place. The profile types every"
    " expression before it runs: CEL that only an unchecked evaluation accepts is outside it.",
)
E_EXPR_UNKNOWN_FIELD = code(
    "E_EXPR_UNKNOWN_FIELD",
    "unknown field of a record",
    "The record's type is known and has neither a field nor a derived value of this name.",
)
E_EXPR_TYPE = code(
    "E_EXPR_TYPE",
    "type mismatch",
    "Every expression is typed before anything runs: CEL that only an unchecked evaluation accepts is outside the"
    " profile. The message names what was found and what the place accepts.",
)
E_EXPR_NO_PROMOTION = code(
    "E_EXPR_NO_PROMOTION",
    "numbers of different sorts are mixed",
    "CEL never turns an int into a double by itself, and where its unchecked evaluation compares the two, the profile"
    " does not. Write `double(n)` or `int(x)`, or give a literal a point: `2.0`. Fixed point is a sort of its own:"
    " write `qfixed(n)` of an int, or `millionths(q)`; a literal there has a point: `19.0`.",
)
E_EXPR_OUTSIDE_PROFILE = code(
    "E_EXPR_OUTSIDE_PROFILE",
    "valid CEL, but outside the profile",
    "This is CEL that other engines may accept, but no part of profile v1: unsigned integers, bytes, timestamps,"
    " regular expressions, messages, optionals, `string(double)`, macros with two variables, maps iterated into lists,"
    " `type()` and `dyn()`, lists and maps of mixed types.",
)
E_EXPR_RECURSION = code(
    "E_EXPR_RECURSION",
    "a function calls itself",
    "Functions and derived values must not reach themselves, directly or through others: every evaluation ends.",
)
E_EXPR_LIMIT = code(
    "E_EXPR_LIMIT",
    "an expression is too large",
    "Expressions are bounded in length, depth, chains of operators and expanded size. Name a part with `let` or a"
    " function.",
)
E_EXPR_ARGUMENTS = code(
    "E_EXPR_ARGUMENTS",
    "a function is called with the wrong number of arguments",
    "The message says how many arguments the function or macro takes, or which form an argument must have.",
)
E_EXPR_CAPTURE = code(
    "E_EXPR_CAPTURE",
    "a function reads a variable that is not visible where it is called",
    "The body of a function may read variables of the place where it is called, such as fields of the state. Here there"
    " is none of that name: pass it as a parameter, or call the function where the variable is visible.",
)

E_EVAL_OVERFLOW = code(
    "E_EVAL_OVERFLOW", "integer overflow", "Integers are 64-bit and signed; CEL makes overflow an error."
)
E_EVAL_DIVISION_BY_ZERO = code(
    "E_EVAL_DIVISION_BY_ZERO", "integer division by zero", "`/` or `%` of integers with a zero on the right."
)
E_EVAL_NO_SUCH_KEY = code("E_EVAL_NO_SUCH_KEY", "no such key", "Ask with `has(record.key)` or `'key' in map` first.")
E_EVAL_INDEX = code(
    "E_EVAL_INDEX", "list index out of range", "Indices run from 0 to `size(list) - 1`; negative ones are errors."
)
E_EVAL_ARGUMENT = code(
    "E_EVAL_ARGUMENT", "invalid argument", "For example `int('x')`, or a shift by a negative number."
)
E_EVAL_TYPE = code(
    "E_EVAL_TYPE",
    "a dynamic value has the wrong type",
    "A value of type dyn had a type that the operation cannot take.",
)
E_EVAL_LIMIT = code(
    "E_EVAL_LIMIT", "evaluation too expensive", "Loops, lists and strings of one evaluation are bounded."
)


class EvaluationError(Exception):
    """The result of an evaluation that has no value; never a verdict.

    Attributes:
        code: One of the `E_EVAL_` codes.
        message: One sentence without values of the context.
        offset: Offset in `text` of the part that failed, when known.
        text: The expression (or function body) that failed, when known.
    """

    def __init__(self, code: str, message: str, offset: int | None = None, text: Text | None = None) -> None:
        super().__init__(code, message)
        self.code = code
        self.message = message
        self.offset = offset
        self.text = text

    @property
    def span(self) -> Span | None:
        """Where the failing part was written, when known."""
        return None if self.text is None or self.offset is None else self.text.span(self.offset, self.offset)

    def __str__(self) -> str:
        return f"{self.code}: {self.message}" + (f" at {self.span}" if self.span else "")
