"""The `law` kind: a candidate law, with everything that says when it is true and how it is tried.

Source: law proposer, section 6, CandidateLaw.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Final, Literal

from pydantic import AfterValidator, Field, StringConstraints

from specledger.spec.base import INTEGER_LIMIT, Expression, Identifier, Model, Reference, RefTo, Spec
from specledger.spec.renames import Rename
from specledger.wings.laws.spec.universe import Starts, Symbol

Comparison = Literal["==", "!=", "<", "<=", ">", ">="]
Sentence = Annotated[str, StringConstraints(min_length=1, max_length=4000, pattern=r"\S")]
Count = Annotated[int, Field(ge=1, le=INTEGER_LIMIT)]
Label = Annotated[str, StringConstraints(min_length=1, max_length=120)]
Labels = Annotated[list[Label], Field(max_length=64)]

SEED: Final = 42
CASES: Final = 300
MUTATIONS: Final = 1500
"""What a trial draws, unless its spec says otherwise: from which seed, how many cases, and how many changed ones."""

PER_LENGTH: Final = re.compile(r"^(?:([1-9][0-9]?) \* )?grid_length(?: ([-+]) ([1-9][0-9]{0,3}))?$", re.ASCII)


def _per_length(text: str) -> str:
    if PER_LENGTH.fullmatch(text) is None:
        raise ValueError(f"{text!r} is no number of steps: write a number, `grid_length` or `2 * grid_length - 1`")
    return text


PerLength = Annotated[str, AfterValidator(_per_length), Field(json_schema_extra={"pattern": PER_LENGTH.pattern})]
"""A number of steps that depends on the ring, up to 99 for each cell and up to 9999 more or less."""


class Quantifiers(Model):
    """T: the last step that a law is judged at. H: how long something may take to come true.

    Attributes:
        T: The last step that the law is judged at.
        H: How many steps something may take to come true.
    """

    T: Count | PerLength = 50
    H: Annotated[int, Field(ge=0, le=INTEGER_LIMIT)] | PerLength | None = None


class Precondition(Model):
    """What the initial state must satisfy for a case to count: `{lhs: count('>'), op: ">", rhs: 0}`.

    Attributes:
        lhs: The left side.
        op: The comparison.
        rhs: The right side.
    """

    lhs: Expression
    op: Comparison
    rhs: Expression


class Observable(Model):
    """A named expression over the universe's observables and the observables named before.

    Attributes:
        name: The name that the claim reads.
        expr: Its value at a step.
    """

    name: Identifier
    expr: Expression


class ProposedTest(Model):
    """A family of cases that the proposer asks for, with parameters.

    Attributes:
        family: The family of initial states.
        params: Parameters of the family, such as `cases` and `lengths`.
    """

    family: Label
    params: Annotated[Mapping[Identifier, Any], Field(max_length=16)] = Field(default_factory=dict)


class CapabilityRequirements(Model):
    """What the proposer believes that a universe must offer.

    Attributes:
        primitive_observables: The observables that it needs.
        transforms: The transforms that it needs.
        generator_families: The families of initial states that it needs.
    """

    primitive_observables: Labels = Field(default_factory=list)
    transforms: Labels = Field(default_factory=list)
    generator_families: Labels = Field(default_factory=list)


class Expectation(Model):
    """The verdict that the writer of a law expects.

    Attributes:
        status: The verdict.
        reason: The reason of the verdict.
    """

    status: Literal["PROVED", "PASS", "FAIL", "UNKNOWN"]
    reason: Label | None = None


class Trial(Model):
    """The limits of a trial, and what it must show for a PASS.

    `steps` is the most that T and H may be; `usable` cases meet the preconditions, in which the antecedent holds at
    `hits` steps of cases of so many `families`, and `coverage` is in millionths. `candidates` are judged at most to
    minimise a counterexample, of which `excerpt` states are shown.

    Attributes:
        steps: How great T and H may be.
        usable: How many cases must meet the preconditions.
        hits: At how many steps the antecedent must hold.
        families: Of how many families these cases must be.
        coverage: How much of the universe must be covered, in millionths.
        candidates: How many smaller cases are judged at most to minimise a counterexample.
        excerpt: How many states of a counterexample are shown.
    """

    steps: Annotated[int, Field(ge=1, le=2_000)] = 200
    usable: Annotated[int, Field(ge=1, le=10_000)] = 50
    hits: Annotated[int, Field(ge=1, le=INTEGER_LIMIT)] = 20
    families: Annotated[int, Field(ge=1, le=32)] = 2
    coverage: Annotated[int, Field(ge=0, le=1_000_000)] = 300_000
    candidates: Annotated[int, Field(ge=0, le=100_000)] = 300
    excerpt: Annotated[int, Field(ge=1, le=2_000)] = 12


class Law(Spec):
    """A law/v1 document.

    Attributes:
        schema_version: The version of the form of laws.
        law_id: Another name of the law, as its proposer has it.
        universe: What the law is about.
        template: The form of the law.
        quantifiers: The steps that the law is judged at.
        starts: The symbols of initial states, in place of the universe's.
        preconditions: What the initial state must satisfy for a case to count.
        observables: Named values that the claim reads; each may use those before it.
        transform: The transform of a symmetry, such as `shift_k(3)`.
        direction: In which direction a monotone law goes.
        bound_op: The comparison of a bound.
        bound_value: The number of a bound.
        trigger_symbol: The symbol that a transition begins with.
        result_op: The comparison with the symbol that a transition leads to.
        result_symbol: The symbol that a transition leads to.
        says: The claim in words, for readers.
        claim: The claim as a formula, such as `X(t) == X(0)`; beside a `claim_ast` it may be in words.
        forbidden: What would falsify the law, in words.
        claim_ast: The claim as a tree.
        proposed_tests: The only families of cases to try, in place of the universe's mix.
        capability_requirements: What the proposer believes that the universe offers.
        strict: Whether a claim in words, or a field that the template does not need, is rejected.
        seed: The seed by which cases are drawn.
        cases: How many cases are tried.
        mutations: How many changed cases are tried after them.
        trial: What the trial may cost, and what it must show for a PASS.
        expect: The verdict that its writer expects.
    """

    renames: ClassVar[tuple[Rename, ...]] = (
        Rename(
            "claim", "says", beside="claim_ast", why="beside a tree the claim is judged by it, and the text is words"
        ),
    )

    spec: Literal["law/v1"]
    schema_version: Literal["1.0.0"] = "1.0.0"
    law_id: Label | None = None
    template: Annotated[Reference, RefTo("template")]
    universe: Annotated[Reference, RefTo("universe")]
    quantifiers: Quantifiers = Field(default_factory=Quantifiers)
    starts: Starts | None = None
    preconditions: Annotated[list[Precondition | Expression], Field(max_length=32)] = Field(default_factory=list)
    observables: Annotated[list[Observable], Field(max_length=64)] = Field(default_factory=list)
    transform: Label | None = None
    direction: Literal["<=", ">="] | None = None
    bound_op: Comparison | None = None
    bound_value: Annotated[int, Field(ge=-INTEGER_LIMIT, le=INTEGER_LIMIT)] | None = None
    trigger_symbol: Symbol | None = None
    result_op: Literal["==", "!="] | None = None
    result_symbol: Symbol | None = None
    says: Sentence | None = None
    claim: Sentence | None = None
    claim_ast: Mapping[str, Any] | None = None
    forbidden: Sentence
    proposed_tests: Annotated[list[ProposedTest], Field(max_length=16)] = Field(default_factory=list)
    capability_requirements: CapabilityRequirements = Field(default_factory=CapabilityRequirements)
    strict: bool = False
    seed: Annotated[int, Field(ge=0, le=INTEGER_LIMIT)] = SEED
    cases: Annotated[int, Field(ge=1, le=10_000)] = CASES
    mutations: Annotated[int, Field(ge=0, le=100_000)] = MUTATIONS
    trial: Trial = Field(default_factory=Trial)
    expect: Expectation | None = None
