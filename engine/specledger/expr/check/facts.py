"""What a condition proves about the ranges of integers that it compares.

Decides, from `p.x >= 0 && p.x < 8`, that `p.x` lies in 0..7 wherever the condition holds, through calls of defined
functions too. Only generated code relies on it: the exact evaluator checks everything. Refuses to know names.
"""

from __future__ import annotations

from collections.abc import Mapping

from specledger.expr.check.tree import DefinedCall, Junction, Operation, Path, Slot, Typed, path_of
from specledger.expr.check.types import IntType
from specledger.expr.limits import INT_MAX, INT_MIN

Place = tuple[Slot | str, Path]
Facts = Mapping[Place, tuple[int, int]]

_NEGATED = {"==": "!=", "!=": "==", "<": ">=", "<=": ">", ">": "<=", ">=": "<"}
_MIRRORED = {"==": "==", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}


def merged(known: Facts, more: Facts) -> Facts:
    """Both, with the intersection where both know the same place."""
    if not more:
        return known
    result = dict(known)
    for place, (low, high) in more.items():
        other = result.get(place, (INT_MIN, INT_MAX))
        result[place] = (max(low, other[0]), min(high, other[1]))
    return result


def proved(node: Typed, holds: bool = True) -> Facts:
    """What follows when a condition is true (or false, with `holds` False)."""
    if isinstance(node, Operation):
        if node.operator == "!":
            return proved(node.args[0], not holds)
        if node.operator in _NEGATED:
            operator = node.operator if holds else _NEGATED[node.operator]
            left, right = node.args
            return merged(_compared(left, operator, right), _compared(right, _MIRRORED[operator], left))
        return {}
    if isinstance(node, Junction) and holds == (node.operator == "&&"):
        known: Facts = {}
        for arg in node.args:
            known = merged(known, proved(arg, holds))
        return known
    if isinstance(node, DefinedCall):
        return _translated(node, proved(node.instance.body, holds))
    return {}


def _compared(subject: Typed, operator: str, other: Typed) -> Facts:
    if not isinstance(subject.type, IntType) or not isinstance(other.type, IntType):
        return {}
    place = path_of(subject)
    bounds = {
        "==": (other.type.low, other.type.high),
        "<": (INT_MIN, other.type.high - 1),
        "<=": (INT_MIN, other.type.high),
        ">": (other.type.low + 1, INT_MAX),
        ">=": (other.type.low, INT_MAX),
    }.get(operator)
    return {place: bounds} if place and bounds else {}


def _translated(call: DefinedCall, facts: Facts) -> Facts:
    """Facts about parameters and captured variables as facts about the places that the call gives them."""
    record = path_of(call.record) if call.record else None
    args = {slot: path_of(arg) for slot, arg in zip(call.instance.params, call.args, strict=True)}
    result: dict[Place, tuple[int, int]] = {}
    for (root, keys), bounds in facts.items():
        if isinstance(root, Slot):
            place = args.get(root)
            translated = place and (place[0], place[1] + keys)
        elif call.record is None:
            translated = (root, keys)
        else:
            translated = record and (record[0], (*record[1], root, *keys))
        if translated:
            result[translated] = bounds
    return result
