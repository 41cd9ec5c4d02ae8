"""Conditions that are always true or never, whatever a log holds.

A condition that compares names with constants is decided at the values around each constant: no others can make a
difference. Of any other condition it is only known whether it reads anything.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from itertools import product
from math import prod
from typing import Any, Final

from specledger.core.diagnostics import Diagnostics
from specledger.expr.check.checker import Checked
from specledger.expr.errors import EvaluationError
from specledger.expr.eval.evaluator import evaluate_within
from specledger.expr.parse.parser import parse
from specledger.expr.parse.syntax import Binary, ListLiteral, Literal, Logical, Name, Node, Unary
from specledger.load import Resolved
from specledger.spec.base import QFIXED_ONE
from specledger.wings.trajectories.rules.codes import W_POLICY_CONSTANT
from specledger.wings.trajectories.rules.policy import Policy
from specledger.wings.trajectories.spec.policy import Count, Repeats, Rule
from specledger.wings.trajectories.spec.policy import Policy as PolicySpec

_MOST: Final = 4096
_WORK: Final = 100_000
_COMPARED: Final = frozenset({"==", "!=", "<", "<=", ">", ">="})
_NEXT: Final = "\0"  # what is after a text in the order of texts, but before any other


def sorts_of(rule: Rule) -> dict[str, str]:
    """The sort of each name of a rule: bool, int, number, text, or counted for an int of at least one."""
    sorts: dict[str, str] = {
        name: "bool" if read.matches is not None else read.as_ or "text" for name, read in rule.read.items()
    }
    for name, term in rule.memory.items():
        sorts[name] = "counted" if isinstance(term, Count | Repeats) else "sum"
    return {**sorts, "value": "text"}


def warn_of_constants(resolved: Resolved, policy: Policy, diagnostics: Diagnostics) -> None:
    """Warn of rules that can never have an opportunity, or never be broken, by their conditions alone."""
    model = resolved.model
    assert isinstance(model, PolicySpec)  # noqa: S101 - the kind's own model
    for plan in policy.rules:
        sorts = sorts_of(model.rules[plan.name])
        if constant(plan.when.checked, sorts) is False:
            message = "the condition is never true, so the rule is about no call"
            span = resolved.span("rules", plan.name, "when", "if")
            diagnostics.warn(W_POLICY_CONSTANT, message, span, hint="its parts exclude each other")
        demand = None if plan.require is None else plan.require.checked
        value = constant(demand, sorts)
        if demand is not None and value is not None and (value or demand.variables):  # `false` alone forbids the calls
            message = f"the demand is always {'true, so it can never be broken' if value else 'false'}"
            diagnostics.warn(W_POLICY_CONSTANT, message, resolved.span("rules", plan.name, "require"))


def constant(checked: Checked | None, sorts: Mapping[str, str]) -> bool | None:
    """The value that a condition always has; None if it can have both, or nothing is known."""
    if checked is None:
        return None
    values = _values(checked, sorts)
    if values is None or prod(map(len, values.values())) > _MOST:
        values = {}
    outcomes = {_evaluated(checked, dict(zip(values, row, strict=True))) for row in product(*values.values())}
    return outcomes.pop() if len(outcomes) == 1 else None


def _evaluated(checked: Checked, known: Mapping[str, Any]) -> bool | None:
    try:
        value = evaluate_within(checked, known, _WORK)[0]
    except EvaluationError:
        return None
    return value if isinstance(value, bool) else None


def _values(checked: Checked, sorts: Mapping[str, str]) -> dict[str, list[Any]] | None:
    """The values of each name at which a condition may change; None if it does more than compare with constants."""
    tree = parse(checked.text, Diagnostics())
    constants: dict[str, list[Any]] = {name: [] for name in checked.variables}
    if tree is None or not _collect(tree.root, constants):
        return None
    values = {name: _around(constants[name], sorts.get(name, "")) for name in constants}
    return None if any(around is None for around in values.values()) else {n: v or [] for n, v in values.items()}


def _collect(node: Node, constants: dict[str, list[Any]]) -> bool:
    """Note the constants that names are compared with; whether nothing else is done with them."""
    match node:
        case Logical():
            return all(_collect(operand, constants) for operand in node.operands)
        case Unary(operator="!"):
            return _collect(node.operand, constants)
        case Literal() | Name():
            return not isinstance(node, Name) or node.name in constants
        case Binary(operator="in", left=Name() as name, right=ListLiteral() as listed):
            constants.setdefault(name.name, []).extend(item.value for item in listed.items if isinstance(item, Literal))
            return all(isinstance(item, Literal) for item in listed.items)
        case Binary(left=Name() as name, right=Literal() as literal) if node.operator in _COMPARED:
            constants.setdefault(name.name, []).append(literal.value)
            return True
        case Binary(left=Literal() as literal, right=Name() as name) if node.operator in _COMPARED:
            constants.setdefault(name.name, []).append(literal.value)
            return True
    return False


def _around(constants: list[Any], sort: str) -> list[Any] | None:
    if sort == "bool":
        return [False, True]
    if sort in ("number", "int", "counted"):
        scale = QFIXED_ONE if sort == "number" else 1
        if any(isinstance(value, bool) or not isinstance(value, int | float) for value in constants):
            return None
        exact = [int(Decimal(str(value)) * scale) for value in constants]
        near = sorted({number + shift for number in exact or [1] for shift in (-1, 0, 1)})
        return [number for number in near if sort != "counted" or number >= 1] or [1]
    if sort in ("text", "url", "email", "iban", "name", "date", "path"):
        if any(not isinstance(value, str) for value in constants):
            return None
        return sorted({"", *constants, *(f"{value}{_NEXT}" for value in constants)})
    return None
