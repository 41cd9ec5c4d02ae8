"""The trial of a law as events, from which evidence is made.

numpy is imported only if a law is tried.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from specledger.core.events import Event
from specledger.laws.generators import Case, digest_cases, make_cases
from specledger.laws.law import Law, LawPlan
from specledger.laws.verdict import Verdict, digest_verdict

KIND: Final = "law"


def try_law(plan: LawPlan, *, content: bool = True) -> Verdict:
    """The verdict on a law; without its content if that is not wanted."""
    law = plan.law
    return _decided(law, _cases(law), content=content)


def run_law(plan: LawPlan) -> Iterator[Event]:
    """The trial of a law as facts: `start`, `cases` where there are any, `verdict`, `end`."""
    law = plan.law
    yield Event(
        "start",
        {
            "kind": KIND,
            "law": law.name,
            "digest": plan.digest,
            "specs": plan.specs,
            "universe": law.universe.key,
            "template": law.template.name,
            "seed": law.seed,
            "warnings": [warning.code for warning in plan.warnings],
        },
    )
    cases = _cases(law)
    if cases:
        families: dict[str, int] = {}
        for case in cases:
            families[case.family] = families.get(case.family, 0) + 1
        yield Event("cases", {"digest": digest_cases(law.universe, cases), "count": len(cases), "families": families})
    document = _decided(law, cases).to_json(law)
    expected = None if plan.expected is None else dict(plan.expected)
    yield Event("verdict", {"verdict": document, "digest": digest_verdict(document), "expected": expected})
    yield Event("end", {"status": document["status"], "met": meets(document, expected)})


def meets(document: Mapping[str, Any], expected: Mapping[str, Any] | None) -> bool | None:
    """Whether a verdict is as expected; None if nothing is expected."""
    return None if expected is None else all(document[key] == value for key, value in expected.items())


def _cases(law: Law) -> tuple[Case, ...]:
    return () if law.unknown is not None else make_cases(law)


def _decided(law: Law, cases: tuple[Case, ...], *, content: bool = True) -> Verdict:
    from specledger.laws.decision import decide  # noqa: PLC0415 - numpy opens no door

    return decide(law, cases, content=content)
