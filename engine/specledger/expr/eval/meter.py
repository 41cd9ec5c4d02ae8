"""The count of the work that an evaluation of generated code may still do.

Decides when it has been too much. Refuses to know what is charged for (`measure` says that).
"""

from __future__ import annotations

from typing import Any

from specledger.expr.errors import E_EVAL_LIMIT, EvaluationError
from specledger.expr.limits import MAX_WORK


class Meter:
    """The work that a metered expression has left; shared by the functions of one module."""

    def __init__(self) -> None:
        self.left = MAX_WORK

    def begin(self) -> None:
        """A new evaluation begins."""
        self.left = MAX_WORK

    def spend(self, values: Any, each: int) -> Any:
        """Charges for a collection and returns it."""
        self.left -= len(values) * each
        if self.left < 0:
            raise EvaluationError(E_EVAL_LIMIT, "the evaluation takes too much work")
        return values
