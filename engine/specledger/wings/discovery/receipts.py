"""The receipts of a discovery."""

from enum import StrEnum
from typing import Annotated, Any, Final, TypedDict

from specledger.evidence.receipts import ReceiptTypes
from specledger.wings.laws.receipts import Counterexample, LawStatus, Verdict


class HeldOutStatus(StrEnum):
    """What is said of a law under a rule that was held out."""

    PROVED = "PROVED"
    PASS = "PASS"
    FAIL = "FAIL"
    UNKNOWN = "UNKNOWN"
    ERROR = "ERROR"
    INAPPLICABLE = "INAPPLICABLE"


class AskedModel(TypedDict):
    """The model that is asked: the key of its spec, and what identifies it."""

    spec: str
    identity: dict[str, Any]


class Start(TypedDict):
    """The first receipt; `universe`, `prompt` and `ranking` are keys of specs."""

    kind: str
    discovery: str
    specs: str
    universe: str
    model: AskedModel
    prompt: str
    ranking: str
    templates: list[str]
    iterations: int
    lag: int
    seed: int


class Prompt(TypedDict):
    """A prompt: its size in tokens, and how many items of each part were left out."""

    key: str
    digest: str
    tokens: int
    dropped: dict[str, int]


class Usage(TypedDict):
    """The tokens of a call of a model; `estimated` says whether the model did not state them."""

    prompt_tokens: int
    output_tokens: int
    thinking_tokens: int
    estimated: bool


class Answer(TypedDict):
    """An answer of a model, or why there is none."""

    digest: str
    failure: str | None
    finish: str | None
    usage: Usage


class RejectedProposal(TypedDict):
    """A proposal that is no law: its number in the answer, and why."""

    object: Any
    reason: str


class Redundant(TypedDict):
    """A proposal that says what a known law says; `similarity` is in millionths."""

    law: str
    matched_law_id: str
    match_type: str
    similarity: int
    details: str


class Sensitivity(TypedDict):
    """Whether another weight of a factor changes which law is first, which one then is, and at which weight."""

    factor: str
    changes: bool
    law: Any
    at: Any


class Iteration(TypedDict):
    """A model was asked for laws; `snapshot` is the digest of what was known."""

    iteration: int
    snapshot: str
    prompt: Prompt
    request: str
    answer: Answer
    rejections: list[RejectedProposal]
    redundant: list[Redundant]
    warnings: list[str]
    sensitivity: list[Sensitivity]


class Features(TypedDict):
    """The value of a law in the ranking, and the scores that it is made of."""

    overall: int
    scores: dict[str, int]


class TriedLaw(TypedDict):
    """A proposed law was tried: it has a verdict or an `error`; `late` is the law that it equals."""

    iteration: int
    number: int
    law: str
    document: dict[str, Any]
    features: Features
    verdict: Verdict | None
    error: str | None
    digest: str | None
    late: Any


class HeldOut(TypedDict):
    """A law under a rule that was held out: the mutant of that number, or another universe."""

    universe: str
    mutant: int | None
    status: Annotated[str, HeldOutStatus]
    method: str | None
    reason: str | None
    up_to: int | None
    counterexample: Counterexample | None


class Escalation(TypedDict):
    """An accepted law was tried harder; `before` is its status before."""

    law: str
    document: dict[str, Any]
    verdict: Verdict | None
    error: str | None
    held_out: list[HeldOut]
    before: Annotated[str, LawStatus]
    digest: str | None


class Stop(TypedDict):
    """Why no more laws are proposed."""

    reason: str
    iterations: int


class Refuted(TypedDict):
    """A refuted law with the ring that refutes it, the step at which it does, and the ring's length."""

    law: str
    claim: str
    iteration: int
    start: str
    t: int
    cells: int


class Ledger(TypedDict):
    """Refuted laws, in the order in which they were proposed."""

    refuted: list[Refuted]


class Expected(TypedDict):
    """An expected law: the status that it must have, None for any accepted one, and the law that says the same."""

    law: str
    key: str
    status: str | None
    found: str | None


class LawCounts(TypedDict):
    """The number of laws of each status."""

    PROVED: int
    PASS: int
    FAIL: int
    UNKNOWN: int
    ERROR: int


class End(TypedDict):
    """The last receipt; `memory` is the digest of what was learned."""

    iterations: int
    evaluations: int
    escalations: int
    tokens: int
    late: int
    laws: LawCounts
    memory: str


DISCOVERY: Final[ReceiptTypes] = {
    "start": Start,
    "iteration": Iteration,
    "law": TriedLaw,
    "escalation": Escalation,
    "stop": Stop,
    "ledger": Ledger,
    "expected": Expected,
    "end": End,
}
"""The receipts of a discovery."""
