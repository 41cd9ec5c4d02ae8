"""What the writer and the verifier of a bundle need to know about its kind: the result and the failing cases."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from msgspec import Struct

from specledger.core.verdict import Verdict
from specledger.evidence import layout
from specledger.evidence.counterexamples import Finder, no_cases, run_cases
from specledger.evidence.result import Fold, Tally
from specledger.evidence.suite_result import SuiteTally


class ReceiptKind(Struct, frozen=True):
    """How the receipts of one kind of evidence are summarised."""

    name: str
    tally: Callable[[], Fold]
    cases: Finder
    may_fail: Callable[[Mapping[str, Any]], bool]


def _run_may_fail(result: Mapping[str, Any]) -> bool:
    return result.get("status", result["verdict"]) != Verdict.PASS or bool(result["warnings"])


RUN: Final = ReceiptKind(layout.SCENARIO, Tally, run_cases, _run_may_fail)
SUITE: Final = ReceiptKind(layout.SUITE, SuiteTally, no_cases, lambda _: False)
"""The failing cases of a suite are those of its runs."""
