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
    """The model that is asked.

    Attributes:
        spec: The key of its spec.
        identity: What identifies it, by name.
    """

    spec: str
    identity: dict[str, Any]


class Start(TypedDict):
    """The first receipt of a discovery.

    Attributes:
        kind: `discovery`.
        discovery: The name of the discovery.
        specs: The digest of the resolved specs.
        universe: The key of the spec of the universe.
        model: The model that is asked for laws.
        prompt: The key of the spec of the prompt.
        ranking: The key of the spec of the ranking.
        templates: The names of the templates.
        iterations: How often a model is asked at most.
        lag: How many steps later an outcome may be looked at.
        seed: The seed of all that is drawn.
    """

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
    """A prompt that a model was given.

    Attributes:
        key: The key of its spec.
        digest: The digest of its text.
        tokens: Its size, in tokens.
        dropped: By part how many items were left out for its size.
    """

    key: str
    digest: str
    tokens: int
    dropped: dict[str, int]


class Usage(TypedDict):
    """The tokens of a call of a model.

    Attributes:
        prompt_tokens: The tokens that the model read.
        output_tokens: The tokens that the model wrote.
        thinking_tokens: The tokens that the model thought.
        estimated: Whether they were estimated, since the model did not state them.
    """

    prompt_tokens: int
    output_tokens: int
    thinking_tokens: int
    estimated: bool


class Answer(TypedDict):
    """An answer of a model, or why there is none.

    Attributes:
        digest: The digest of the answer.
        failure: Why there is no answer, in a word, or null.
        finish: Why the model ended its answer, in a word, or null.
        usage: The tokens of the call.
    """

    digest: str
    failure: str | None
    finish: str | None
    usage: Usage


class RejectedProposal(TypedDict):
    """A proposal that is no law.

    Attributes:
        object: The proposal, as it stood in the answer.
        reason: Why it is no law, in a word.
    """

    object: Any
    reason: str


class Redundant(TypedDict):
    """A proposal that says what a known law says.

    Attributes:
        law: The key of the proposed law.
        matched_law_id: The key of the law that says the same.
        match_type: How they are the same, in a word.
        similarity: How alike they are, in millionths.
        details: What is the same, in words.
    """

    law: str
    matched_law_id: str
    match_type: str
    similarity: int
    details: str


class Sensitivity(TypedDict):
    """Whether another weight of a factor changes which law is first.

    Attributes:
        factor: The name of the factor.
        changes: Whether another weight changes it.
        law: The key of the law that is first then, or null.
        at: The weight at which it is, in millionths, or null.
    """

    factor: str
    changes: bool
    law: Any
    at: Any


class Iteration(TypedDict):
    """A model was asked for laws.

    Attributes:
        iteration: The iteration, counted from 0.
        snapshot: The digest of what was known.
        prompt: The prompt that the model was given.
        request: The digest of the question.
        answer: The answer, or why there is none.
        rejections: Proposals that are no law.
        redundant: Proposals that say what a known law says.
        warnings: The codes of findings about the proposals.
        sensitivity: By factor whether another weight changes which law is first.
    """

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
    """The value of a law in the ranking.

    Attributes:
        overall: The value that laws are ranked by, in millionths.
        scores: By factor the score that it is made of, in millionths.
    """

    overall: int
    scores: dict[str, int]


class TriedLaw(TypedDict):
    """A proposed law was tried.

    Attributes:
        iteration: The iteration, counted from 0.
        number: Its place in the ranking of its iteration, from 0.
        law: The key of the law.
        document: The law as it was read.
        features: Its value in the ranking.
        verdict: The verdict, or null with an error.
        error: The code of the error, or null with a verdict.
        digest: The digest of the verdict, or null.
        late: The match of a law that came too late to be new, or null.
    """

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
    """A law under a rule that was held out.

    Attributes:
        universe: The key of the spec of the universe.
        mutant: The number of the mutant of its rule, or null for another universe.
        status: The status of the verdict, or INAPPLICABLE.
        method: `proof`, `refutation`, `sample` or `none`; null if inapplicable.
        reason: Why the status is UNKNOWN, in a word; null with another one.
        up_to: The longest ring that a proof covers; null if it covers all.
        counterexample: A start that violates the law, with the status FAIL.
    """

    universe: str
    mutant: int | None
    status: Annotated[str, HeldOutStatus]
    method: str | None
    reason: str | None
    up_to: int | None
    counterexample: Counterexample | None


class Escalation(TypedDict):
    """An accepted law was tried harder.

    Attributes:
        law: The key of the law.
        document: The law as it was read.
        verdict: The verdict, or null with an error.
        error: The code of the error, or null with a verdict.
        held_out: The law under each rule that was held out.
        before: The status of the law until then.
        digest: The digest of the verdict, or null.
    """

    law: str
    document: dict[str, Any]
    verdict: Verdict | None
    error: str | None
    held_out: list[HeldOut]
    before: Annotated[str, LawStatus]
    digest: str | None


class Stop(TypedDict):
    """Why no more laws are proposed.

    Attributes:
        reason: Why, in a word.
        iterations: How often a model was asked.
    """

    reason: str
    iterations: int


class Refuted(TypedDict):
    """A refuted law with the ring that refutes it.

    Attributes:
        law: The key of the law.
        claim: The claim, as a formula.
        iteration: The iteration, counted from 0.
        start: The ring at the start, a character for each cell.
        t: The step at which it violates the law.
        cells: The length of the ring.
    """

    law: str
    claim: str
    iteration: int
    start: str
    t: int
    cells: int


class Ledger(TypedDict):
    """Refuted laws, at most a thousand to a receipt.

    Attributes:
        refuted: The laws in the order in which they were proposed.
    """

    refuted: list[Refuted]


class Expected(TypedDict):
    """An expected law.

    Attributes:
        law: The name of the law.
        key: The key of the spec of the law.
        status: The status that it must have; null for any that is accepted.
        found: The key of the law that says the same, or null.
    """

    law: str
    key: str
    status: str | None
    found: str | None


class LawCounts(TypedDict):
    """The number of laws of each status.

    Attributes:
        PROVED: How many were proved for every ring of their contract.
        PASS: How many held on all their cases.
        FAIL: How many were refuted.
        UNKNOWN: How many of which nothing could be said.
        ERROR: How many of which the prover and the cases disagree.
    """

    PROVED: int
    PASS: int
    FAIL: int
    UNKNOWN: int
    ERROR: int


class End(TypedDict):
    """The last receipt of a discovery.

    Attributes:
        iterations: How often a model was asked.
        evaluations: How many laws were tried.
        escalations: How many accepted laws were tried harder.
        tokens: The tokens of all calls.
        late: How many laws came too late to be new.
        laws: The number of laws of each status.
        memory: The digest of what was learned.
    """

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
