"""A checked law and its compiled plan. Source: law proposer, section 6, CandidateLaw."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct, field
from msgspec.structs import replace

from specledger.core.diagnostics import Diagnostic
from specledger.wings.laws.claim import TRUE, Node, latest, reads, show
from specledger.wings.laws.observable import Observable
from specledger.wings.laws.spec.law import CASES, MUTATIONS, SEED, Trial
from specledger.wings.laws.template import Template
from specledger.wings.laws.transform import Image
from specledger.wings.laws.universe import Universe


class Unknown(Struct, frozen=True):
    """Why nothing can be said: a reason code, and what it is about."""

    reason: str
    detail: str


class Test(Struct, frozen=True):
    """A family of cases that the law asks for."""

    family: str
    cases: int | None
    lengths: tuple[int, ...]
    beyond: bool


class Law(Struct, frozen=True):
    """A checked law.

    Attributes:
        name, key: Of its spec.
        universe, template: What it is about, and its form.
        T, H: The last step that it is judged at, and how long something may take to come true.
        T_cells, H_cells: How many steps more each of them is for each cell of the ring; see `on`.
        claim: The whole claim.
        antecedent: When a step counts; None if every step does.
        holds: What must hold there.
        observables: What the claim and the preconditions read.
        where: What an initial state must satisfy.
        image: What a symmetry is about, and how the law names it.
        starts: The symbols that initial states may have.
        tests: The families that it asks for; without any, the universe's own mix is made.
        seed, cases, mutations: How cases are made and how many.
        trial: Limits, and what a trial must show for a PASS.
        unknown: Why nothing can be said, if so; then the claim may be missing.
        preconditions: How many preconditions there are.
        words: The claim as its writer put it, if it came as a text.
        missing: What its expressions measure and its universe lacks.
    """

    name: str
    key: str
    universe: Universe
    template: Template
    T: int
    H: int | None
    claim: Node
    antecedent: Node | None
    holds: Node
    observables: Mapping[str, Observable]
    where: Node
    image: Image | None
    starts: tuple[int, ...]
    tests: tuple[Test, ...] = ()
    seed: int = SEED
    cases: int = CASES
    mutations: int = MUTATIONS
    trial: Trial = field(default_factory=Trial)
    unknown: Unknown | None = None
    preconditions: int = 0
    T_cells: int = 0
    H_cells: int = 0
    forbidden: str = ""
    words: str = ""
    missing: tuple[str, ...] = ()

    def on(self, length: int) -> Law:
        """The law as it is judged on rings of so many cells: T and H are numbers."""
        if not (self.T_cells or self.H_cells):
            return self
        waits = None if self.H is None else self.H + self.H_cells * length
        return replace(self, T=self.T + self.T_cells * length, H=waits, T_cells=0, H_cells=0)

    @property
    def said(self) -> str:
        """The claim for people: its writer's own words, if nothing could be read from them."""
        unread = self.unknown is not None and self.claim == TRUE
        return self.words if unread and self.words else show(self.claim)

    @property
    def last(self) -> int:
        """The last step that is judged."""
        return self.T - self.template.short

    @property
    def reach(self) -> int:
        """How many steps after the one that is judged are looked at."""
        own = max(latest(self.holds), 0 if self.antecedent is None else latest(self.antecedent))
        return own + (self.H or 0) * self.template.within

    @property
    def steps(self) -> int:
        """How many steps must be evolved."""
        return max(self.last + self.reach, self.fixed)

    @property
    def fixed(self) -> int:
        """The latest step counted from the start that the claim reads."""
        return max((time.offset for _, time in reads(self.claim) if time.fixed), default=0)

    @property
    def moments(self) -> dict[str, int]:
        """The steps after a violation at t whose observables a counterexample shows, by the key of each."""
        later = {time.offset for _, time in reads(self.claim) if not time.fixed and time.offset > 1}
        return {"t": 0, "t_plus_1": 1, **{f"t_plus_{steps}": steps for steps in sorted(later)}}

    @property
    def contract(self) -> str:
        """The initial states that the verdict is about, in words."""
        universe = self.universe
        all_symbols = len(self.starts) == len(universe.alphabet)
        symbols = "all symbols" if all_symbols else "the symbols " + " ".join(universe.text([s]) for s in self.starts)
        met = " that meet the preconditions" if self.where != TRUE else ""
        return f"rings of {universe.shortest} to {universe.longest} cells of {symbols}{met}"


class LawPlan(Struct, frozen=True):
    """A compiled law.

    Attributes:
        digest: Of its resolved form alone: the digits of its key.
        expected: The verdict that its writer expects, `{status, reason}`, if any.
        warnings: What was found and did not stop it.
    """

    law: Law
    digest: str
    specs: str
    expected: Mapping[str, str] | None = None
    warnings: tuple[Diagnostic, ...] = ()
