"""The trial of a law as events, from which evidence is made.

numpy is imported only if a law is tried.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from specledger.core.canonical import NotCanonical, canonical_bytes
from specledger.core.diagnostics import missing_package
from specledger.core.events import Event
from specledger.wings.laws.findings import E_LAW_PACKAGE
from specledger.wings.laws.generators import Case, digest_cases, make_cases
from specledger.wings.laws.law import Law, LawPlan
from specledger.wings.laws.receipts import LawStatus
from specledger.wings.laws.verdict import Verdict, digest_verdict

KIND: Final = "law"

MAX_VERDICT: Final = 4_194_304
"""Bytes of a verdict: a receipt holds it."""


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
    document = _document(law, cases)
    expected = None if plan.expected is None else dict(plan.expected)
    yield Event("verdict", {"verdict": document, "digest": digest_verdict(document), "expected": expected})
    yield Event("end", {"status": document["status"], "met": meets(document, expected)})


def verdict_document(plan: LawPlan, *, content: bool = True) -> dict[str, Any]:
    """The verdict on a law as it is recorded; ERROR if the prover and the cases disagree."""
    return _document(plan.law, _cases(plan.law), content=content)


def _document(law: Law, cases: tuple[Case, ...], *, content: bool = True) -> dict[str, Any]:
    try:
        from specledger.wings.laws.harness import Contradiction  # noqa: PLC0415 - imports numpy, if a law is tried
    except ModuleNotFoundError as error:
        if error.name != "numpy":
            raise
        raise missing_package(E_LAW_PACKAGE, "numpy", "laws") from None
    try:
        document = _decided(law, cases, content=content).to_json(law)
        size = len(canonical_bytes(document))
    except Contradiction as error:
        return Verdict(LawStatus.ERROR, "none", detail=str(error)).to_json(law)
    except NotCanonical:
        unsaid = "an integer of the verdict is beyond 2^53 - 1"
        return Verdict(LawStatus.UNKNOWN, "none", "evaluation_error", unsaid).to_json(law)
    if size > MAX_VERDICT:
        unsaid = f"the verdict has {size} bytes, of at most {MAX_VERDICT}"
        return Verdict(LawStatus.UNKNOWN, "none", "resource_limit", unsaid).to_json(law)
    return document


def meets(document: Mapping[str, Any], expected: Mapping[str, Any] | None) -> bool | None:
    """Whether a verdict is as expected; None if nothing is expected or there is an error."""
    if expected is None or document["status"] == LawStatus.ERROR:
        return None
    return all(document[key] == value for key, value in expected.items())


def _cases(law: Law) -> tuple[Case, ...]:
    return () if law.unknown is not None else make_cases(law)


def _decided(law: Law, cases: tuple[Case, ...], *, content: bool = True) -> Verdict:
    from specledger.wings.laws.decision import decide  # noqa: PLC0415 - likewise

    return decide(law, cases, content=content)
