"""The neutral form of a law for the prover, its JSON, the answers of the prover and the limits on its work.

No template, name, symbol character or expression occurs in it. A claim is about every ring that `Question` admits and
every t. Observables are `Additive`; at a `Term` they are read at t + `at`, or in the initial state if `at` is None. An
instance whose last state is beyond the horizon is no instance.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import inf
from typing import Any, Literal, TypeAlias

from msgspec import Struct

from specledger.wings.laws.automaton import Additive, Rule
from specledger.wings.laws.claim import Steps, steps_json, steps_on

Comparison: TypeAlias = Literal["<=", ">=", "==", "!=", "<", ">"]
State: TypeAlias = tuple[int, ...]


class Term(Struct, frozen=True):
    """An integer multiple of an observable at a time.

    Attributes:
        at: Steps after t, from 0; None for the initial state, whatever t is.
    """

    coefficient: int
    observable: Additive
    at: int | None = 0


class Linear(Struct, frozen=True):
    """The sum of terms, compared with an integer: `sum(terms) op bound`."""

    terms: tuple[Term, ...]
    op: Comparison
    bound: int


class Not(Struct, frozen=True):
    """The negation."""

    part: Condition


class And(Struct, frozen=True):
    """All parts; of none: true."""

    parts: tuple[Condition, ...]


class Or(Struct, frozen=True):
    """At least one part; of none: false."""

    parts: tuple[Condition, ...]


Condition: TypeAlias = Linear | Not | And | Or


def implies(antecedent: Condition, consequent: Condition) -> Condition:
    """The implication as `Or`."""
    return Or((Not(antecedent), consequent))


class Conserved(Struct, frozen=True):
    """observable(t + 1) == observable(t) for every t; the same as observable(t) == observable(0)."""

    observable: Additive


class Monotone(Struct, frozen=True):
    """observable(t + 1) `direction` observable(t) for every t."""

    observable: Additive
    direction: Literal["<=", ">="]


class Always(Struct, frozen=True):
    """The condition for every t: bounds, invariants, implications within a state or a step."""

    condition: Condition


class Eventually(Struct, frozen=True):
    """Whenever the antecedent holds at t, the consequent holds at one of t, t + 1, … t + `within`."""

    antecedent: Condition
    consequent: Condition
    within: int


class Commutes(Struct, frozen=True):
    """evolve(transform(start), n) == transform(evolve(start, n)) for every n.

    The transform reflects the ring if `reflect`, then rotates it right by `shift`, then maps every symbol.

    Attributes:
        reflect: Whether the order of cells is reversed.
        shift: Cells; any integer.
    """

    reflect: bool
    shift: int
    symbol_map: tuple[int, ...]

    def image(self, cells: Sequence[int]) -> State:
        """The transformed ring."""
        turned = tuple(reversed(cells)) if self.reflect else tuple(cells)
        size = len(turned)
        return tuple(self.symbol_map[turned[(i - self.shift) % size]] for i in range(size))


class Local(Struct, frozen=True):
    """Every cell that holds `trigger` at t holds one of `results` at t + 1."""

    trigger: int
    results: frozenset[int]


class Opaque(Struct, frozen=True):
    """A claim that only a function can judge; it is decided for one ring length after another.

    Attributes:
        name: What the claim says, so that its certificate names it; a digest of the law will do.
        span: Steps after t that the function looks at; on a ring of each length, if it is a `Duration`.
        holds: Judges one instance: of (the initial state, the states at t, … t + span), whether the claim holds there.
        from_start: Whether it looks at the initial state for t > 0.
        why: Why there is no proof for rings of every length.
        guarded: Whether it holds where preconditions that are no `Condition` are not met.
    """

    name: str
    span: Steps
    holds: Callable[[State, Sequence[State]], bool]
    from_start: bool = True
    why: str = "the claim is not about additive observables"
    guarded: bool = False


Claim: TypeAlias = Conserved | Monotone | Always | Eventually | Commutes | Local | Opaque


class Question(Struct, frozen=True):
    """A claim about a rule, with its start contract.

    Attributes:
        rule: The automaton.
        claim: What is claimed.
        shortest: Fewest cells of a ring, from 1.
        longest: Most cells, or None for all lengths.
        start: Symbols that an initial state may hold, or None for all.
        where: What else holds of initial states; its terms are read at None.
        horizon: The last step of a trajectory that is looked at, or None for all; on a ring of each length, if it is a
            `Duration`. A proof holds for every horizon.
    """

    rule: Rule
    claim: Claim
    shortest: int = 1
    longest: int | None = None
    start: frozenset[int] | None = None
    where: Condition = And(())
    horizon: Steps | None = None

    def until(self, length: int) -> float:
        """The last step that is looked at on a ring of so many cells; infinity for all."""
        return inf if self.horizon is None else steps_on(self.horizon, length)

    @property
    def contract(self) -> str:
        """The starts and rings that are meant, in words; symbols by number."""
        rings = f"{self.shortest} or more" if self.longest is None else f"{self.shortest} to {self.longest}"
        starts = "all states" if self.start is None else f"starts over {{{', '.join(map(str, sorted(self.start)))}}}"
        guarded = isinstance(self.claim, Opaque) and self.claim.guarded
        narrowed = " that meet the preconditions" if guarded or self.where != And(()) else ""
        return f"{starts}{narrowed} on rings of {rings} cells"


def facts(question: Question) -> dict[str, Any]:
    """The question as a JSON value with integers only; docs/proofs.md lists its fields."""
    return {
        "rule": {"symbols": question.rule.symbols, "table": list(question.rule.table)},
        "rings": [question.shortest, question.longest],
        "start": {
            "symbols": None if question.start is None else sorted(question.start),
            "where": condition_facts(question.where),
        },
        "horizon": steps_json(question.horizon),
        "claim": claim_facts(question.claim),
    }


def claim_facts(claim: Claim) -> dict[str, Any]:
    """The claim as JSON."""
    match claim:
        case Conserved(observable):
            return {"kind": "conserved", "observable": additive_facts(observable)}
        case Monotone(observable, direction):
            return {"kind": "monotone", "observable": additive_facts(observable), "direction": direction}
        case Always(condition):
            return {"kind": "always", "condition": condition_facts(condition)}
        case Eventually(antecedent, consequent, within):
            parts = {"antecedent": condition_facts(antecedent), "consequent": condition_facts(consequent)}
            return {"kind": "eventually", **parts, "within": within}
        case Commutes(reflect, shift, symbol_map):
            return {"kind": "commutes", "reflect": reflect, "shift": shift, "map": list(symbol_map)}
        case Local(trigger, results):
            return {"kind": "local", "trigger": trigger, "results": sorted(results)}
        case Opaque(name, span, from_start=from_start):
            return {"kind": "opaque", "name": name, "span": steps_json(span), "from_start": from_start}


def condition_facts(condition: Condition) -> dict[str, Any]:
    """The condition as JSON."""
    match condition:
        case Linear(terms, op, bound):
            read = [
                {"times": term.coefficient, "observable": additive_facts(term.observable), "at": term.at}
                for term in terms
            ]
            return {"sum": read, "op": op, "bound": bound}
        case Not(part):
            return {"not": condition_facts(part)}
        case And(parts):
            return {"and": [condition_facts(part) for part in parts]}
        case _:
            return {"or": [condition_facts(part) for part in condition.parts]}


def additive_facts(observable: Additive) -> dict[str, Any]:
    """The observable as JSON."""
    return {"width": observable.width, "weights": list(observable.weights), "constant": observable.constant}


_STANDARD = 1 << 14  # windows with which all cases may be distinguished


class Limits(Struct, frozen=True):
    """Bounds on the work of one question, counted and not timed.

    Attributes:
        windows: Most windows of one width: edges of a de Bruijn graph.
        wide: The same of a claim about every state, whose windows are then swept over in arrays.
        swept: Most windows that these sweeps visit, all together.
        tables: Most bytes of what the terms of the claim weigh there.
        nodes: Most cases that a proof by circulations distinguishes, leaves included; fewer where windows are many.
        conjuncts: Most conjunctions of the negated claim.
        cells: Most cells that are updated or read when rings are enumerated.
        ring: Most cells of a counterexample that is built from a circulation.
        check: Most work of the checker of a certificate, as it counts it.
        certificate: Most bytes of a certificate.
    """

    windows: int = 1 << 16
    wide: int = 3**16
    swept: int = 1 << 31
    tables: int = 1 << 26
    nodes: int = 48
    conjuncts: int = 32
    cells: int = 400_000
    ring: int = 400
    check: int = 1 << 24
    certificate: int = 1 << 23

    def cases(self, windows: int) -> int:
        """Most cases that are distinguished where there are so many windows: as much work as with 2^14 of them."""
        return max(2, self.nodes * min(windows, _STANDARD) // windows)


class Proved(Struct, frozen=True):
    """The claim holds under its contract, the starts and rings that are meant: for every ring and t.

    The certificate is canonical JSON, for `specledger.wings.laws.verify.certificates`.
    """

    certificate: dict[str, Any]
    contract: str


class ProvedUpTo(Struct, frozen=True):
    """The claim holds on every admitted ring of at most `length` cells; of longer ones nothing is known.

    Attributes:
        certificate: Canonical JSON; it says `exhaustive`.
        why: What stood in the way of a proof for every length.
    """

    length: int
    certificate: dict[str, Any]
    contract: str
    why: str


class Refuted(Struct, frozen=True):
    """The claim fails.

    Attributes:
        ring: The initial state: the smallest that was found.
        t: The first t at which an instance of the claim fails.
        note: How it was found, and whether it is the smallest of all.
    """

    ring: State
    t: int
    note: str
    contract: str


class Undecided(Struct, frozen=True):
    """Nothing is known; `why` is the limit that was met, or why the question makes no sense."""

    why: str
    contract: str


Answer: TypeAlias = Proved | ProvedUpTo | Refuted | Undecided
