"""Checks on figures.

FAIL if a check does not hold, INCONCLUSIVE if it had too few opportunities to fail, ERROR if it could not be evaluated.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from specledger.core.diagnostics import Diagnostic, Diagnostics, code
from specledger.core.verdict import Verdict
from specledger.expr import BOOL, INT, STRING, Environment, EvaluationError, ListType, MissingFieldError, RecordType
from specledger.expr.errors import E_EXPR_NO_PROMOTION
from specledger.lang.scope import E_DECLARATION, Scope
from specledger.load import Resolved
from specledger.spec.suite import Suite
from specledger.suites.figures import OF_SOMETHING, FigureError, PlannedFigure
from specledger.suites.literals import Compared, find_compared
from specledger.suites.measures import Reading
from specledger.suites.series import SERIES

_DECIMAL: Final = re.compile(r"(?<![\w.])0?\.[0-9]{1,6}\b")

W_SUITE_CONSTANT = code("W_SUITE_CONSTANT", "a check that always comes out the same")

_COUNTED: Final = RecordType("counted", {"name": STRING, "count": INT})
_NUMBERS: Final = ("episodes", "successes", "steps", "proposals", "drifts", "checks", "errors")
RUN: Final = RecordType(
    "run",
    {
        **dict.fromkeys(("run", "arm", "scenario", "verdict", "root"), STRING),
        **dict.fromkeys(("seed", "receipts", "compared", *_NUMBERS), INT),
        **dict.fromkeys(("intact", "exact", "noticed"), BOOL),
        **dict.fromkeys(("violations", "warnings", "rejections"), ListType(_COUNTED)),
    },
)
"""What a check reads of a run, as an element of `runs`."""


class PlannedCheck(Struct, frozen=True):
    """One check, and the texts that it compares with names."""

    id: str
    require: Reading
    opportunities: Reading
    least: int
    witness: Mapping[str, Reading]
    compared: tuple[Compared, ...] = ()


def run_record(run: Mapping[str, Any]) -> dict[str, Any]:
    """What checks read of a run, from what is known of it."""
    result, replay = run["result"], run["replay"]
    return {
        **{name: run[name] for name in ("run", "arm", "scenario", "seed")},
        **{name: result[name] for name in ("verdict", *_NUMBERS)},
        **{
            name: [{"name": item, "count": count} for item, count in sorted(result[name].items())]
            for name in ("violations", "warnings", "rejections")
        },
        **{name: replay[name] for name in ("intact", "exact", "noticed", "compared")},
        "receipts": run["receipts"]["count"],
        "root": run["receipts"]["root"],
    }


def check_checks(
    spec: Resolved, figures: Sequence[PlannedFigure], diagnostics: Diagnostics
) -> tuple[PlannedCheck, ...]:
    """Check the checks of a suite against its figures; those that are wrong are left out, with findings."""
    model = spec.model
    assert isinstance(model, Suite)  # noqa: S101 - a bundle of the kind suite holds nothing else
    findings = Diagnostics()
    scope = Scope(Environment({"runs": ListType(RUN)}, functions=SERIES), spec, findings)
    scope = scope.constants(model.constants, "constants")
    scope = scope.declare({figure.name: figure.type for figure in figures}, "figures")
    scope = scope.functions(model.functions, "functions")
    planned = []
    for index, check in enumerate(model.checks):
        if check.id in {other.id for other in model.checks[:index]}:
            scope.wrong(E_DECLARATION, f"two checks have the id {check.id!r}", "checks", index, "id")
        require = scope.expression("checks", index, "require", expect=BOOL)
        opportunities = scope.expression("checks", index, "opportunities", expect=INT)
        if require is not None and not require.variables:
            message = f"the check {check.id!r} reads neither a figure nor `runs`, so it always comes out the same"
            findings.warn(W_SUITE_CONSTANT, message, spec.span("checks", index, "require"))
        witness = scope.each(check.witness, "checks", index, "witness")
        scope.sealed(witness.types, "checks", index, "witness")
        if require is not None and opportunities is not None:
            readings = {name: Reading.of(checked) for name, checked in witness}
            expressions = [require, opportunities, *(checked for _, checked in witness)]
            compared = tuple(comparison for checked in expressions for comparison in find_compared(checked))
            planned.append(
                PlannedCheck(check.id, Reading.of(require), Reading.of(opportunities), check.least, readings, compared)
            )
    written = {str(spec.span("checks", index, "require")): check.require for index, check in enumerate(model.checks)}
    diagnostics.extend(_in_millionths(finding, written) for finding in findings.sorted())
    return tuple(planned)


def _in_millionths(finding: Diagnostic, written: Mapping[str, Any]) -> Diagnostic:
    """A finding about an int beside a decimal, with what to write: rates are counted in millionths.

    `written` are the requirements by where they stand.
    """
    if finding.code != E_EXPR_NO_PROMOTION:
        return finding
    decimal = _DECIMAL.search(str(written.get(str(finding.span), "")))
    share, count = ("0.9", 900_000) if decimal is None else (decimal[0], int(Decimal(decimal[0]) * 1_000_000))
    hint = f"rates are counted in millionths: write {count} for {share}; a fixed-point `x` as `millionths(x)`"
    return replace(finding, hint=hint)


def judge(check: PlannedCheck, values: Mapping[str, Any]) -> dict[str, Any]:
    """What a check amounts to, as its receipt says it; a figure without a value is given as its FigureError.

    What cannot be evaluated is an ERROR, the witness included. A figure of nothing has no value: to read that is none
    where the check had no opportunities.
    """
    opportunities, holds, valueless = 0, False, False
    cause: dict[str, Any] | None = None
    try:
        opportunities = _read(check.opportunities, values)
        holds = _read(check.require, values)
    except (EvaluationError, FigureError) as error:
        valueless = not opportunities and is_of_nothing(error, (check.opportunities, check.require), values)
        cause = None if valueless else _cause(error)
    witness = {}
    for name, reading in check.witness.items():
        try:
            witness[name] = _read(reading, values)
        except (EvaluationError, FigureError) as error:
            if cause is None and not is_of_nothing(error, (reading,), values):
                cause = _cause(error)
    verdict = Verdict.PASS if holds else Verdict.FAIL
    if cause is not None:
        verdict = Verdict.ERROR
    elif valueless or (holds and opportunities < check.least):
        verdict = Verdict.INCONCLUSIVE
    return {
        "check": check.id,
        "verdict": verdict.value,
        "opportunities": opportunities,
        "least": check.least,
        "witness": witness,
        "error": cause,
    }


def _cause(error: EvaluationError | FigureError) -> dict[str, Any]:
    """What a receipt says of an error."""
    if isinstance(error, FigureError):
        return dict(error.cause)
    return {"code": error.code, "expression": None if error.text is None else error.text.value, "offset": error.offset}


def is_of_nothing(error: EvaluationError | FigureError, readings: Sequence[Reading], values: Mapping[str, Any]) -> bool:
    """Whether an error is that a figure was read which has no values, or no interval over clusters, in some group."""
    if not isinstance(error, MissingFieldError) or error.field not in OF_SOMETHING:
        return False
    figures = [values[name] for reading in readings for name in reading.names if name != "runs"]
    groups = [group for figure in figures for group in (figure if isinstance(figure, list) else [figure])]
    return any(error.field not in group for group in groups)


def _read(reading: Reading, values: Mapping[str, Any]) -> Any:
    for name in reading.names:
        if isinstance(values[name], FigureError):
            raise values[name]
    return reading.read(values)
