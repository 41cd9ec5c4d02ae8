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
Excerpt.__doc__ = """States around a violation.

Attributes:
    from: The step of the first state.
    states: The rings, a character for each cell.
"""


class Counterexample(TypedDict):
    """A start that violates a law.

    Attributes:
        start: The ring at the start, a character for each cell.
        t: The step at which it violates the law.
        excerpt: The states around that step.
        observables: What the claim reads, by moment (`t`, `t_plus_1`, and so on) and name.
        minimised: How many candidates for a shorter start were judged.
    """

    start: str
    t: int
    excerpt: Excerpt
    observables: dict[str, dict[str, int]]
    minimised: int


class ViolationBound(TypedDict):
    """At most this share of such cases violates the law, with a confidence of 95 %.

    Attributes:
        share: The share, in millionths.
        drawn: How many drawn cases it rests on.
        families: The families that these cases are from.
    """

    share: int
    drawn: int
    families: list[str]


class Verdict(TypedDict):
    """The verdict on a law.

    Attributes:
        law: The name of the law.
        key: The key of the spec of the law.
        universe: The key of the spec of the universe.
        template: The name of the template.
        claim: The claim, as a formula.
        forbidden: What the claim forbids, in the words of its author.
        contract: The rings and starts that the verdict is about.
        status: PROVED, PASS, FAIL, UNKNOWN or ERROR.
        method: `proof`, `refutation`, `sample`, or `none` where nothing was tried.
        reason: Why the status is UNKNOWN, in a word; null with another one.
        detail: What the reason is about, or how the proof or refutation was found.
        proved_for: The rings and starts that a proof is about.
        up_to: The longest ring that a proof covers; null if it covers all.
        certificate: What a checker checks again, if there is a proof.
        counterexample: A start that violates the law, with the status FAIL.
        power: What the trial saw: counts of cases, and coverage in millionths.
        violation_bound: With the status PASS, how large the share of violations may be.
        content: How many mutants of the rule break the law, of how many, and the share in millionths.
        work: How many cells were read, updates included.
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
    """The first receipt of the trial of a law.

    Attributes:
        kind: `law`.
        law: The name of the law.
        digest: The first 16 digits of the digest of the law.
        specs: The digest of the resolved specs.
        universe: The key of the spec of the universe.
        template: The name of the template.
        seed: The seed of all that is drawn.
        warnings: The codes of the findings about the law.
    """

    kind: str
    law: str
    digest: str
    specs: str
    universe: str
    template: str
    seed: int
    warnings: list[str]


class Cases(TypedDict):
    """The starts on which the law was tried.

    Attributes:
        digest: The digest of all starts with their families.
        count: How many starts there are.
        families: By family how many starts there are.
    """

    digest: str
    count: int
    families: dict[str, int]


class Judged(TypedDict):
    """The verdict, and what was expected.

    Attributes:
        verdict: The verdict.
        digest: The digest of the verdict.
        expected: The status and the reason that are expected, or null.
    """

    verdict: Verdict
    digest: str
    expected: dict[str, Any] | None


class End(TypedDict):
    """The last receipt of the trial of a law.

    Attributes:
        status: PROVED, PASS, FAIL, UNKNOWN or ERROR.
        met: Whether the verdict is the expected one; null where none is expected.
    """

    status: Annotated[str, LawStatus]
    met: bool | None


LAW: Final[ReceiptTypes] = {"start": Start, "cases": Cases, "verdict": Judged, "end": End}
"""The receipts of the trial of a law."""
