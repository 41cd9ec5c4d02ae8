"""What a wing adds to the compilation of a scenario: admission of documents, recordings, and probes of these.

Keys of the core whose meaning a wing gives are `governor.admission`, `scenario.probes`, `scenario.policies`,
`agent.narration` and `agent.trajectories`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, Protocol

from msgspec import Struct

from specledger.agents.agent import Agent, Around
from specledger.compile.plan import ControllerFactory, Plan, PlannedPolicies, PlannedRecording, Questions, State
from specledger.compile.roles import Role
from specledger.core.diagnostics import Diagnostics
from specledger.core.wing import part_of
from specledger.expr import Checked
from specledger.lang.statement import Statement
from specledger.load import Bundle, Resolved
from specledger.oracles.model import Model
from specledger.oracles.spending import AskedCalls
from specledger.worlds.model import World


class Stage(Struct, frozen=True):
    """What the actors of a scenario have in common.

    Attributes:
        like: A start state; None if there is none, with findings.
    """

    bundle: Bundle
    seed: int
    world: World
    like: State | None
    diagnostics: Diagnostics


class Attachment(Struct, frozen=True):
    """What decides for an actor in the place of the loop.

    Attributes:
        gates: Its own gates, which come before the governor's.
        keyed: Whether it signs with a key.
        too_few_repeats: Names of what asks the actor too seldom to find anything.
        greeting: `start state -> fields` of the first message to an agent from outside.
        shown: `state -> fields` that a question to such an agent shows beside the observation.
        questions: How much such an agent is asked in an episode beside its decisions.
        asks: Opens the model that is asked about recorded calls (`plan.Actor`); None where none is.
        rehearse: Counts before a run what it is asked; None where that is not known.
    """

    gates: tuple[str, ...]
    controller: ControllerFactory
    keyed: bool
    too_few_repeats: tuple[str, ...]
    greeting: Callable[[State], dict[str, Any]]
    shown: Callable[[State], dict[str, Any]]
    questions: Callable[[Plan], Questions]
    asks: Callable[[bool, Model | None], Any] | None = None
    rehearse: Callable[[Plan], AskedCalls] | None = None


class Words(Protocol):
    """The vocabulary in which the reasons of a model are read.

    Attributes:
        forms: The forms of a reason.
    """

    forms: list[str]

    def readings(self, text: str, /) -> list[dict[str, str]]:
        """Everything that a text says in one of the forms: `variable`, `direction` and `choice` of each."""


class Admission(Struct, frozen=True):
    """How a wing compiles what belongs to the admission of documents.

    Attributes:
        attach: `(stage, role, world, around, agent, declared) -> attachment` of a role whose governor has `admission`;
            None, with findings, if it is wrong. The `world` is as the agent meets it; the checked `agent` is None if it
            is asked outside, and then `declared` may be the procedure that it declares.
        check_words: The vocabulary of a model's reasons; None, with findings, if it is wrong.
    """

    attach: Callable[[Stage, Role, World, Around, Agent | None, Agent | None], Attachment | None]
    check_words: Callable[[Resolved, Diagnostics], Words | None]


class Recordings(Struct, frozen=True):
    """How a wing compiles an agent that is a recording, and policies over calls.

    Attributes:
        compile: `(stage, role)`: the recording of a role whose agent has `trajectories`, with the scenario's
            `policies`; None, with findings, if it is wrong.
        policies: `(stage, time)`: the scenario's `policies` over what agents do that decide; None, with findings, if
            they are wrong. The time is the seconds at a state.
        misfits: `(bundle, logs)`: which calls do not fit the actions of a world, or of a scenario's; without logs those
            of its agent, nothing where that is no recording.
    """

    compile: Callable[[Stage, Role], PlannedRecording | None]
    policies: Callable[[Stage, Checked | None], PlannedPolicies | None]
    misfits: Callable[[Bundle, Sequence[Path]], Iterable[Statement]]


class CallProbes(Struct, frozen=True):
    """How a wing compiles the probes of a recorded agent.

    Attributes:
        attach: `(stage, role)`: what asks about the calls of a role whose agent has `trajectories`; None, with
            findings, if its probes or who is asked are wrong.
    """

    attach: Callable[[Stage, Role], Attachment | None]


def call_probes() -> CallProbes | None:
    """The part of the wing that challenges recorded calls; None if no installed wing does."""
    part: CallProbes | None = part_of("call_probes")
    return part


def recordings() -> Recordings | None:
    """The part of the wing that reads trajectories; None if no installed wing does."""
    part: Recordings | None = part_of("recordings")
    return part


def admission() -> Admission | None:
    """The admission of the wing that has one; None if no installed wing has."""
    part: Admission | None = part_of("admission")
    return part
