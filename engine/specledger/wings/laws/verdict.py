"""The verdict on a law: status, method, reason, certificate, counterexample and figures of the trial.

Source: kinetic grid facts, Verdicts.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from msgspec import Struct

from specledger.core.canonical import canonical_bytes
from specledger.core.digest import tagged
from specledger.wings.laws.law import Law
from specledger.wings.laws.receipts import LawStatus

if TYPE_CHECKING:
    from specledger.wings.laws.power import Power

VERDICT_TAG: Final = "specledger/law-verdict/v1"

REASONS: Final[Mapping[str, str]] = {
    "missing_observable": "the universe lacks an observable that the law measures",
    "missing_transform": "the universe lacks the transform that the law is about",
    "missing_generator": "the universe lacks a family of cases that the law asks for",
    "ambiguous_claim": "the string claim leaves open what is claimed",
    "unmet_preconditions": "too few cases meet the preconditions",
    "vacuous_pass": "the antecedent never held",
    "inconclusive_low_power": "the antecedent held too seldom, in too few families of cases, or coverage is low",
    "resource_limit": "T, H or the work of the law is above its limit",
    "evaluation_error": "an integer of the claim left 64 bits",
}
"""Why nothing is said, by reason code."""


class Counterexample(Struct, frozen=True):
    """A start that violates a law.

    Attributes:
        t: The first step of the violation.
        first: The step of the first state of the excerpt.
        states: The states around the violation, one after the other.
        observables: What the claim reads, at each of the law's `moments`.
        judged: Candidates that were judged to make it small.
    """

    start: str
    t: int
    first: int
    states: tuple[str, ...]
    observables: Mapping[str, Mapping[str, int]]
    judged: int

    def to_json(self) -> dict[str, Any]:
        """The counterexample for a receipt."""
        return {
            "start": self.start,
            "t": self.t,
            "excerpt": {"from": self.first, "states": list(self.states)},
            "observables": {key: dict(values) for key, values in self.observables.items()},
            "minimised": self.judged,
        }


class Verdict(Struct, frozen=True):
    """What is said of a law.

    Attributes:
        status: A `LawStatus`.
        method: `proof`, `refutation`, `sample`, or `none` where nothing was tried.
        reason: One of `REASONS`, with a UNKNOWN.
        detail: What the reason is about, or how the proof or refutation was found.
        certificate: What a checker re-checks, if there is a proof.
        proved_for: The starts and rings that a proof is about, if there is one.
        up_to: The longest ring up to which all were tried, if that is all that was proved.
        counterexample: With a FAIL.
        power: What the trial saw, if there was one.
        content: How much the law says, if it was not refuted.
        work: Cells that were read, updates included.
    """

    status: LawStatus
    method: str
    reason: str | None = None
    detail: str | None = None
    certificate: Mapping[str, Any] | None = None
    proved_for: str | None = None
    up_to: int | None = None
    counterexample: Counterexample | None = None
    power: Power | None = None
    content: Mapping[str, int] | None = None
    work: int = 0

    def to_json(self, law: Law) -> dict[str, Any]:
        """The whole verdict for a receipt: JSON with integers only."""
        sampled = self.status is LawStatus.PASS and self.power is not None
        return {
            "law": law.name,
            "key": law.key,
            "universe": law.universe.key,
            "template": law.template.name,
            "claim": law.said,
            "forbidden": law.forbidden,
            "contract": law.contract,
            "status": self.status.value,
            "method": self.method,
            "reason": self.reason,
            "detail": self.detail,
            "proved_for": self.proved_for,
            "up_to": self.up_to,
            "certificate": self.certificate,
            "counterexample": None if self.counterexample is None else self.counterexample.to_json(),
            "power": None if self.power is None else self.power.to_json(),
            "violation_bound": self.power.bound if sampled and self.power is not None else None,
            "content": self.content,
            "work": self.work,
        }


def digest_verdict(document: Mapping[str, Any]) -> str:
    """The digest of a verdict as JSON."""
    return tagged(VERDICT_TAG, canonical_bytes(document))


def status_text(verdict: Mapping[str, Any]) -> str:
    """The status of a verdict as JSON, or of what is expected of one, with the reason if there is one."""
    status, reason = str(verdict["status"]), verdict.get("reason")
    return status if reason is None else f"{status} ({reason})"
