"""Names in a suite's expressions that no run of the suite can have: gates, rules, drifts, probes, labels, arms, others.

Only literal texts count, directly or as the argument of a function of the suite.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from msgspec import Struct

from specledger.core.diagnostics import Diagnostics, code, suggest
from specledger.core.spans import Span, Text
from specledger.expr import Checked, RecordType
from specledger.expr.check.tree import (
    DefinedCall,
    Field,
    Local,
    MakeList,
    Operation,
    Slot,
    Typed,
    Value,
    Variable,
    walk,
)

W_SUITE_NAME = code("W_SUITE_NAME", "a comparison with a name that no run of the suite can have")

_FIELDS: Final[Mapping[tuple[str, str], str]] = {
    ("rejection", "gate"): "gate",
    ("rejection", "reason"): "reason",
    ("breach", "invariant"): "invariant",
    ("drift", "drift"): "drift",
    ("stretch", "drift"): "drift",
    ("probe", "probe"): "probe",
    ("rule", "rule"): "rule",
    ("trajectory", "label"): "label",
    ("run", "arm"): "arm",
    ("run", "scenario"): "scenario",
}
"""By the record of a receipt and its field what the field names."""

_BESIDE: Final[Mapping[str, str]] = {
    "rejection": "proposal",
    "breach": "severity",
    "drift": "rebases",
    "stretch": "end",
    "probe": "answers",
    "rule": "unjudged",
    "trajectory": "format",
    "run": "rejections",
}
"""A field that tells these records from others of the same name."""


class Compared(Struct, frozen=True):
    """A text that is compared with a name of a kind of `_FIELDS`, and where it is written."""

    what: str
    text: str
    span: Span


def find_compared(checked: Checked) -> tuple[Compared, ...]:
    """The texts that an expression compares with names, each where it is written, be it in a function."""
    return tuple(_in(_Written(checked.root, checked.text), {}))


class _Written(Struct, frozen=True):
    """A part of a tree, and the text that it is written in."""

    node: Typed
    text: Text


_Given = Mapping[Slot, _Written]


def _in(root: _Written, given: _Given) -> Iterator[Compared]:
    """What a tree compares, where the parameters of the function that it is the body of are given."""
    for node in walk(root.node):
        match node:
            case Operation(operator="==" | "!=", args=(left, right)):
                yield from _pairs(left, [right], root.text, given)
                yield from _pairs(right, [left], root.text, given)
            case Operation(operator="in", args=(subject, MakeList(items=items))):
                yield from _pairs(subject, items, root.text, given)
            case DefinedCall(instance=instance, args=args, record=None):
                known = (_resolve(arg, root.text, given) for arg in args)
                inner = dict(zip(instance.params, known, strict=True))
                yield from _in(_Written(instance.body, instance.text), inner)
            case _:
                pass


def _pairs(subject: Typed, others: Iterable[Typed], text: Text, given: _Given) -> Iterator[Compared]:
    what = _named(_resolve(subject, text, given).node)
    for other in others:
        known = _resolve(other, text, given)
        if what is not None and isinstance(known.node, Value) and isinstance(known.node.value, str):
            yield Compared(what, known.node.value, known.text.span(known.node.start, known.node.end))


def _resolve(node: Typed, text: Text, given: _Given) -> _Written:
    """What a parameter is given; of anything else the node itself."""
    written = _Written(node, text)
    return given.get(node.slot, written) if isinstance(node, Local) else written


def _named(node: Typed) -> str | None:
    """What a node is the name of, if it is one."""
    if isinstance(node, Variable) and node.name in ("arm", "scenario"):
        return node.name
    if isinstance(node, Field) and isinstance(node.operand.type, RecordType):
        record = node.operand.type
        if _BESIDE.get(record.name) in record.fields:
            return _FIELDS.get((record.name, node.key))
    return None


def report_unknown(
    compared: Iterable[Compared], names: Mapping[str, set[str] | None], diagnostics: Diagnostics
) -> None:
    """Warn of texts that no run can have as such a name, if names are known; of a reason only if it is nearly one."""
    for comparison in compared:
        known = names[comparison.what]
        if known is None or comparison.text in known:
            continue
        near = suggest(comparison.text, known)
        if near is None and comparison.what == "reason":
            continue  # the engine has reasons of its own
        hint = f"did you mean `{near}`?" if near else f"there is {', '.join(sorted(known - {''})) or 'none'}"
        diagnostics.warn(
            W_SUITE_NAME,
            f"no run of the suite has the {comparison.what} {comparison.text!r}",
            comparison.span,
            hint=hint,
        )
