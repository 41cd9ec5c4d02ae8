"""What the measures of a suite read of a run: episodes, steps, drifts and probes, and their types in expressions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Final, NotRequired, TypedDict

from msgspec import Struct

from specledger.core.events import Severity
from specledger.core.verdict import Verdict
from specledger.evidence.receipts.places import Change, Rebase
from specledger.expr import BOOL, INT, ListType, MapType, RecordType, Type
from specledger.expr.typed_dicts import record_type


class Grammar(Struct, frozen=True):
    """The types of what the receipts of one world and governor hold.

    Attributes:
        action: Of an action: `op` and the arguments of all actions.
        record: The world's figures of a step.
        cost: The type of a price: its items, and their sum; of several agents each has items of its own.
        parts: The receipts of the parts that keep any.
        changed: The fields of the state, as a drift may change them.
    """

    state: RecordType
    action: RecordType
    record: Mapping[str, Type]
    cost: RecordType
    parts: Mapping[str, Mapping[str, Type]]
    changed: Mapping[str, Type]


class Breach(TypedDict):
    """A broken invariant."""

    invariant: str
    severity: Annotated[str, Severity]


class Rejection(TypedDict):
    """The gate that rejected a proposal, by the index of the proposal."""

    proposal: int
    gate: str
    reason: str


class StepFacts(TypedDict):
    """One decision. Numbers of proposals, of those that were admitted, and of those that could not be evaluated."""

    t: int
    agent: str
    chosen: int
    proposals: int
    admitted: int
    errors: int
    rejections: list[Rejection]
    bound: bool
    success: bool
    violations: list[Breach]
    action: NotRequired[Any]
    cost: NotRequired[Any]
    record: NotRequired[Any]
    parts: dict[str, Any]
    potentials: dict[str, Any]
    rebases: list[Rebase]


class DriftFacts(TypedDict):
    """A drift before step `t`; its stretch ends before step `end`."""

    drift: str
    t: int
    end: int
    changed: dict[str, Any]
    rebases: list[Rebase]


class Stretch(TypedDict):
    """The steps from `t` to before `end`, after a drift; of those before the first drift it is empty."""

    drift: str
    t: int
    end: int


class Claim(TypedDict):
    """A claim that was tested: the stated confidence in millionths, and whether it held."""

    confidence: int
    held: bool


class ArmFacts(TypedDict):
    """The answers in an arm of a challenge, and how many of them are not the choice before."""

    asked: int
    moved: int


class ChangeFacts(ArmFacts):
    """The answers after a change; `missed` are those that are not as the probe expects."""

    missed: int


class ProbeFacts(TypedDict):
    """A probe; see `read_probe`."""

    probe: str
    agent: str
    t: int
    verdict: Annotated[str, Verdict]
    cause: str
    answers: str
    nodes: int
    equal: int
    questions: int
    unmoved: int
    vague: int
    held: int
    tested: int
    claims: list[Claim]
    changes: ChangeFacts
    same: ArmFacts
    placebo: ArmFacts


class Witness(TypedDict):
    """An invariant that a document breaks."""

    invariant: str
    severity: Annotated[str, Severity]


class EntryFacts(TypedDict):
    """An entry of the audit log; see `read_entry`."""

    event: str
    verdict: str
    codes: list[str]
    witnesses: list[Witness]


class RuleFacts(TypedDict):
    """A rule of a policy: how many opportunities it had and how they came out, and the calls at which it was broken."""

    rule: str
    severity: Annotated[str, Severity]
    held: int
    broken: int
    unjudged: int
    calls: list[str]


class TrajectoryFacts(TypedDict):
    """The trajectory that an episode goes through; all empty, and without a label, of an agent that decides.

    `gap` is why the world could not follow it, `unread` how much of it could not be read.
    """

    id: str
    file: str
    format: str
    gap: str
    unread: int
    label: NotRequired[str]


class Spent(TypedDict):
    """What asking agents cost; see `evidence.receipts.run.Spent`."""

    messages: int
    sent: int
    received: int
    calls: int
    input_tokens: int
    output_tokens: int
    cost: int


class EpisodeFacts(TypedDict):
    """An episode, with the heading of its run."""

    run: str
    arm: str
    scenario: str
    seed: int
    horizon: int
    episode: int
    ended: str
    success: bool
    first_success: int
    breaches: list[Breach]
    start: Any
    steps: list[StepFacts]
    drifts: list[DriftFacts]
    stretches: list[Stretch]
    probes: list[ProbeFacts]
    entries: list[EntryFacts]
    trajectory: TrajectoryFacts
    rules: list[RuleFacts]
    spent: Spent


_NAMES: Final = {
    ArmFacts: "answers",
    Breach: "breach",
    ChangeFacts: "answers",
    Claim: "claim",
    EntryFacts: "entry",
    ProbeFacts: "probe",
    Rejection: "rejection",
    RuleFacts: "rule",
    Rebase: "rebase",
    Stretch: "stretch",
    TrajectoryFacts: "trajectory",
    Witness: "witness",
}
"""What messages call the records of an episode."""


def types_of(grammar: Grammar) -> dict[str, Type]:
    """The variables of a measure and their types."""
    drift = record_type(DriftFacts, "drift", {"changed": _changes(grammar.changed)}, _NAMES)
    steps, drifts = ListType(_step(grammar)), ListType(drift)
    known = {"start": grammar.state, "steps": steps, "drifts": drifts}
    return dict(record_type(EpisodeFacts, "episode", known, _NAMES).fields)


def _changes(fields: Mapping[str, Type]) -> RecordType:
    inner = {name: _change(type_, "change") for name, type_ in fields.items()}
    return RecordType("changed", inner, optional=frozenset(inner))


def _change(type_: Type, name: str) -> RecordType:
    return record_type(Change, name, {"from": type_, "to": type_})


def _step(grammar: Grammar) -> RecordType:
    parts = {name: RecordType(name, {**types, "accepted": BOOL}) for name, types in grammar.parts.items()}
    known: dict[str, Type] = {
        "action": grammar.action,
        "cost": grammar.cost,
        "record": RecordType("record", grammar.record),
        "parts": RecordType("parts", parts, optional=frozenset(parts)),
        "potentials": MapType(_change(INT, "potential")),
    }
    return record_type(StepFacts, "step", known, _NAMES)
