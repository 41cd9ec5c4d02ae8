"""The receipts of the trial of a law."""

from enum import StrEnum
from typing import Annotated, Any, Final, TypedDict

from specledger.evidence.receipts import ReceiptTypes


class LawStatus(StrEnum):
    """What is said of a law. ERROR: the prover and the cases disagree."""

    PROVED = "PROVED"
    PASS = "PASS"
    FAIL = "FAIL"
    UNKNOWN = "UNKNOWN"
    ERROR = "ERROR"


ACCEPTED: Final = (LawStatus.PROVED, LawStatus.PASS)
"""The statuses of a law that was accepted."""


Excerpt = TypedDict("Excerpt", {"from": int, "states": list[str]})
"""States around a violation; `from` is the step of the first one."""


class Counterexample(TypedDict):
    """A start that violates a law, and the step `t` at which it does.

    `observables` are what the claim reads, by moment; `minimised` counts the candidates that were judged.
    """

    start: str
    t: int
    excerpt: Excerpt
    observables: dict[str, dict[str, int]]
    minimised: int


class ViolationBound(TypedDict):
    """At most this share of such cases violates the law, in millionths, by so many drawn cases of these families."""

    share: int
    drawn: int
    families: list[str]


class Verdict(TypedDict):
    """The verdict on a law.

    `method` is `proof`, `refutation`, `sample` or `none`; `reason` is there with UNKNOWN. `up_to` is the longest ring
    that a proof covers, None if it covers all. `content` says how much the law says, `power` what the trial saw, `work`
    how many cells were read.
    """

    law: str
    key: str
    universe: str
    template: str
    claim: str
    forbidden: str
    contract: str
    status: Annotated[str, LawStatus]
    method: str
    reason: str | None
    detail: str | None
    proved_for: str | None
    up_to: int | None
    certificate: dict[str, Any] | None
    counterexample: Counterexample | None
    power: dict[str, Any] | None
    violation_bound: ViolationBound | None
    content: dict[str, int] | None
    work: int


class Start(TypedDict):
    """The first receipt: the law, its universe and its template; `warnings` are codes of findings."""

    kind: str
    law: str
    digest: str
    specs: str
    universe: str
    template: str
    seed: int
    warnings: list[str]


class Cases(TypedDict):
    """The starts on which the law was tried, by family."""

    digest: str
    count: int
    families: dict[str, int]


class Judged(TypedDict):
    """The verdict with its digest, and what was expected."""

    verdict: Verdict
    digest: str
    expected: dict[str, Any] | None


class End(TypedDict):
    """The last receipt; `met` is None where nothing was expected."""

    status: Annotated[str, LawStatus]
    met: bool | None


LAW: Final[ReceiptTypes] = {"start": Start, "cases": Cases, "verdict": Judged, "end": End}
"""The receipts of the trial of a law."""
