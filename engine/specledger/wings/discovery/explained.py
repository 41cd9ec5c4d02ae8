"""How a ranking scores proposed laws, in sentences made from its rules."""

from __future__ import annotations

from collections.abc import Iterator

from specledger.kinds.explained_rules import names
from specledger.lang.english import condition, value
from specledger.lang.phrases import code, quoted
from specledger.lang.statement import Statement
from specledger.load import Bundle
from specledger.spec.base import format_qfixed
from specledger.wings.discovery.spec.ranking import Factor, Ranking, Rule


def ranking(bundle: Bundle) -> Iterator[Statement]:
    """Each factor with what adds to it, and how much it counts."""
    model = bundle.main.model
    assert isinstance(model, Ranking)  # noqa: S101 - it was loaded as one
    for name, factor in model.factors.items():
        yield _factor(name, factor)
    yield Statement(f"Each weight is tried greater and smaller by {_share(model.sensitivity)} of itself")
    yield from names(model.let, model.functions, model.constants)


def _factor(name: str, factor: Factor) -> Statement:
    counts = "is subtracted from" if factor.subtract else "is added to"
    doc = "" if factor.doc is None else f", {quoted(factor.doc)},"
    bounds = f"starts at {_number(factor.start)} and stays from {_number(factor.least)} to {_number(factor.most)}"
    head = f"Factor {code(name)}{doc} {bounds}; {_number(factor.weight)} times it {counts} the score"
    return Statement(head, tuple(map(_rule, factor.rules)))


def _rule(rule: Rule) -> Statement:
    verb = "subtracted" if rule.add < 0 else "added"
    doc = "" if rule.doc is None else f" as {quoted(rule.doc)}"
    if rule.when is not None:
        return condition(rule.when).after(f"{_number(abs(rule.add))} is {verb}{doc} if ")
    times = value(str(rule.per if rule.per is not None else rule.share))
    return Statement(f"{_number(abs(rule.add))} times {times} is {verb}{doc}")


def _number(units: int) -> str:
    text = format_qfixed(abs(units))
    return f"minus {text}" if units < 0 else text


def _share(units: int) -> str:
    return f"{units // 10_000} percent"
