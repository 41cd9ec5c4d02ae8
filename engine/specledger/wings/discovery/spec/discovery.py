"""The `discovery` kind: which model is asked what, how often, and what becomes of the laws that it proposes.

Source: law proposer, sections 3, 10, 11 and 12.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from specledger.spec.base import INTEGER_LIMIT, Model, Name, QFixed, Reference, RefTo, Spec
from specledger.wings.laws.spec.law import CASES, MUTATIONS, SEED

Limit = Annotated[int, Field(ge=1, le=10_000)]
Number = Annotated[int, Field(ge=1, le=INTEGER_LIMIT)]
Steps = Annotated[int, Field(ge=1, le=200)]
Share = Annotated[QFixed, Field(ge=0, le=1_000_000)]
Templates = Annotated[list[Name], Field(max_length=64)]


class Request(Model):
    """What is asked for in each iteration.

    Attributes:
        count: How many laws are asked for.
        target_templates: The forms that are asked for; all, if left out.
        exclude_templates: The forms that are not asked for.
        temperature: How the model samples; its own setting, if left out.
    """

    count: Annotated[int, Field(ge=1, le=100)] = 5
    target_templates: Templates | None = None
    exclude_templates: Templates | None = None
    temperature: Annotated[QFixed, Field(ge=0, le=2_000_000)] | None = None


class Proposer(Model):
    """How an answer is asked for and read.

    Attributes:
        max_token_budget: How many tokens a prompt may have.
        include_counterexamples: Whether the prompt shows counterexamples.
        strict_parsing: Whether an answer that would have to be mended is rejected.
        add_to_redundancy_filter: Whether every law that was tried counts as known; else only accepted ones do.
    """

    max_token_budget: Annotated[int, Field(ge=1, le=10_000_000)] = 8000
    include_counterexamples: bool = True
    strict_parsing: bool = False
    add_to_redundancy_filter: bool = True


class Redundancy(Model):
    """From which similarity on a law is left out.

    Attributes:
        threshold: The similarity from which on a law is left out.
    """

    threshold: Share = 900_000


class MemoryLimits(Model):
    """How many of each are remembered; the oldest go first.

    Attributes:
        max_accepted: How many accepted laws are remembered.
        max_falsified: How many falsified laws are remembered.
        max_unknown: How many undecided laws are remembered.
        max_counterexamples: How many counterexamples are remembered.
    """

    max_accepted: Limit = 30
    max_falsified: Limit = 20
    max_unknown: Limit = 20
    max_counterexamples: Limit = 20


class Effort(Model):
    """How hard a law is tried: cases, changed cases, and the last step where the law names none.

    Attributes:
        cases: How many cases are tried.
        mutations: How many changed cases are tried after them.
        T: The last step, where the law names none.
    """

    cases: Annotated[int, Field(ge=1, le=10_000)] = CASES
    mutations: Annotated[int, Field(ge=0, le=100_000)] = MUTATIONS
    T: Steps = 50


class Escalation(Model):
    """After how many iterations the laws accepted meanwhile are tried again, and how hard; all are at the end.

    Attributes:
        every: After how many iterations accepted laws are tried again.
        cases: How many cases are tried then.
        mutations: How many changed cases are tried then.
        T: The least last step then.
    """

    every: Number = 5
    cases: Annotated[int, Field(ge=1, le=10_000)] = 2000
    mutations: Annotated[int, Field(ge=0, le=100_000)] = 5000
    T: Steps = 200


class HeldOut(Model):
    """Universes that no prompt speaks of: some rules that differ in one entry, and others by name.

    Attributes:
        mutants: How many rules that differ in one entry are tried.
        universes: Other universes that are tried.
        cases: How many cases are tried in each.
        mutations: How many changed cases are tried in each.
    """

    mutants: Annotated[int, Field(ge=0, le=4096)] = 0
    universes: Annotated[list[Annotated[Reference, RefTo("universe")]], Field(max_length=16)] = Field(
        default_factory=list
    )
    cases: Annotated[int, Field(ge=1, le=10_000)] = 100
    mutations: Annotated[int, Field(ge=0, le=100_000)] = 0


class Stop(Model):
    """What ends a discovery before its last iteration: the first of these that is reached.

    Attributes:
        accepted: So many accepted laws end it.
        evaluations: So many trials end it.
        dry: So many iterations in a row without an accepted law end it.
        tokens: So many tokens end it.
    """

    accepted: Number | None = None
    evaluations: Number | None = None
    dry: Number | None = None
    tokens: Number | None = None


class Discovery(Spec):
    """A discovery/v1 document.

    Attributes:
        universe: What laws are about.
        model: Who is asked.
        prompt: The prompt that it is sent.
        ranking: In which order its laws are tried.
        templates: The forms of laws that there are.
        iterations: How often it is asked at most.
        seed: The seed of the exchange of symbols, where the prompt asks for one.
        lag: Iteration i knows what came of the iterations up to i - lag.
        request: What is asked for in each iteration.
        proposer: How an answer is asked for and read.
        redundancy: Which laws are left out as too similar.
        memory: What is remembered; the oldest go first.
        trial: How hard a proposed law is tried.
        escalation: When accepted laws are tried again, and how hard.
        held_out: Under which other rules accepted laws are tried.
        stop: What ends it before the last iteration.
        expect: Laws that must be found.
    """

    spec: Literal["discovery/v1"]
    universe: Annotated[Reference, RefTo("universe")]
    model: Annotated[Reference, RefTo("model")]
    prompt: Annotated[Reference, RefTo("prompt")]
    ranking: Annotated[Reference, RefTo("ranking")]
    templates: Annotated[list[Annotated[Reference, RefTo("template")]], Field(min_length=1, max_length=64)]
    iterations: Annotated[int, Field(ge=1, le=100_000)] = 20
    seed: Annotated[int, Field(ge=0, le=INTEGER_LIMIT)] = SEED
    lag: Annotated[int, Field(ge=1, le=1000)] = 1
    request: Request = Field(default_factory=Request)
    proposer: Proposer = Field(default_factory=Proposer)
    redundancy: Redundancy = Field(default_factory=Redundancy)
    memory: MemoryLimits = Field(default_factory=MemoryLimits)
    trial: Effort = Field(default_factory=Effort)
    escalation: Escalation = Field(default_factory=Escalation)
    held_out: HeldOut = Field(default_factory=HeldOut)
    stop: Stop = Field(default_factory=Stop)
    expect: Annotated[list[Annotated[Reference, RefTo("law")]], Field(max_length=64)] = Field(default_factory=list)
