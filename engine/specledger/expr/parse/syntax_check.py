"""What is wrong with an expression whatever its names mean: no expression at all, too large, or outside the profile.

Decides what can be found without types, in the words of the checker, so that both tell of it once. Refuses to know any
environment.
"""

from __future__ import annotations

from specledger.core.diagnostics import Diagnostics
from specledger.core.spans import Text
from specledger.expr.check.excluded_names import FUNCTIONS, METHODS, NOT_DEFINED, refuse
from specledger.expr.check.names import dotted
from specledger.expr.eval.builtins import STANDARD
from specledger.expr.parse.parser import parse
from specledger.expr.parse.syntax import Call, children


def look(text: Text, diagnostics: Diagnostics) -> None:
    """Reports what is wrong with an expression that cannot be typed here."""
    ast = parse(text, diagnostics)
    waiting = [] if ast is None else [ast.root]
    while waiting:
        node = waiting.pop()
        waiting += children(node)
        if isinstance(node, Call):
            name, group = _called(node)
            if group is not None:
                refuse(node, name, group, text, diagnostics.error)


def _called(node: Call) -> tuple[str, str | None]:
    """The name by which a function is called, and its group where it is certain that the profile leaves it out."""
    if node.target is None:
        return node.function, FUNCTIONS[node.function] if node.function in NOT_DEFINED else None
    prefix = dotted(node.target)
    qualified = f"{prefix}.{node.function}"
    if prefix is not None and (qualified in FUNCTIONS or qualified in STANDARD):
        return qualified, FUNCTIONS.get(qualified)
    return node.function, METHODS.get(node.function)
