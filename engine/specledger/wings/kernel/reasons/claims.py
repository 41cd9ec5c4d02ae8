"""Counterfactuals and claims, derived by asking a procedure what would change its choice.

For each variable in order, the world's alternatives are tried until the choice differs from the submitted one. The
procedure need not be the decider: an agent may explain itself by another agent's reasons.

Source: toy-pseudo-axion, Probe suite P5'; a claim names the exact choice.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, NamedTuple

from msgspec import Struct

from specledger.agents.propose import KnownValues
from specledger.core.canonical import canonical_bytes
from specledger.expr import Type
from specledger.lang.notation import Notation
from specledger.wings.kernel.reasons.procedure import Choice, DecisionPoint, Procedure

MASS_UNIT: Final = 100_000_000
"""One, in units of 1e-8, in which probability masses are shared out and summed."""


class Views(Struct, frozen=True):
    """What may be asked about a state without acting in it.

    Attributes:
        env: `state -> the document that shows it`.
        names: `state -> the names of all its variables`.
        notation: Reads what agents outside write for the world's actions.
        type: `(state, variable) -> its type`.
        describe: `state -> {type, doc, value}` of each of them, by name.
        alternatives: `(state, variable) -> other values to try`.
        read: `(state, variable) -> its value`.
        mutate: `(state, variable, value) -> (state, edit)`, or None where no edit brings the value about.
        normalize: `(state, variables) -> the normal form that digests are taken of`.
    """

    observe: Callable[[Any], Any]
    env: Callable[[Any], dict[str, Any]]
    names: Callable[[Any], list[str]]
    notation: Notation
    type: Callable[[Any, str], Type]
    describe: Callable[[Any], dict[str, dict[str, Any]]]
    alternatives: Callable[[Any, str], list[Any]]
    read: Callable[[Any, str], Any]
    mutate: Callable[[Any, str, Any], tuple[Any, dict[str, Any]] | None]
    normalize: Callable[[Any, list[str]], dict[str, Any]]

    def shown(self, state: Any) -> dict[str, Any]:
        """What a question to an agent outside shows of a state."""
        return {"observation": self.observe(state), "env": self.env(state), "variables": self.describe(state)}


class Supposed(NamedTuple):
    """One change that was thought through: the variable, its value before and then, and what would be chosen."""

    variable: str
    before: Any
    value: Any
    choice: Choice


class Bounds(NamedTuple):
    """How much is derived.

    Attributes:
        claims: At most.
        counterfactuals: As many as the kernel demands of a proposal, at least.
    """

    claims: int
    counterfactuals: int


def suppose(
    procedure: Procedure, views: Views, state: Any, memory: Any, variable: str, point: DecisionPoint
) -> Iterator[Supposed]:
    """What a procedure would choose under each alternative of a variable; changes that change nothing are left out."""
    before = views.read(state, variable)
    for value in views.alternatives(state, variable):
        mutation = views.mutate(state, variable, value)
        if mutation is None or not mutation[1]["changed"]:
            continue
        choice = procedure.choose(views.observe(mutation[0]), memory, point)
        if choice is not None:
            yield Supposed(variable, before, value, choice)


def derive_claims(
    procedure: Procedure,
    views: Views,
    state: Any,
    memory: Any,
    submitted: str,
    vary: tuple[str, ...],
    bounds: Bounds,
    point: DecisionPoint,
) -> tuple[list[Supposed], list[Supposed]]:
    """Claims and further counterfactuals.

    The variables in `vary` are tried in their order; `submitted` is the label of the submitted choice.

    Returns:
        At most `bounds.claims` changes of different variables after each of which the choice differs from the submitted
        one, and as many changes that leave the choice as it is as are needed for `bounds.counterfactuals` in all, as
        far as the world has alternatives.
    """
    known = frozenset(views.names(state))
    claimed: list[Supposed] = []
    idle: list[Supposed] = []
    for variable in vary:
        if variable not in known:
            continue
        if len(claimed) >= bounds.claims and len(claimed) + len(idle) >= bounds.counterfactuals:
            break
        for supposed in suppose(procedure, views, state, memory, variable, point):
            if supposed.choice.label == submitted:
                idle.append(supposed)
            elif len(claimed) < bounds.claims:
                claimed.append(supposed)
                break
    return claimed, idle[: max(0, bounds.counterfactuals - len(claimed))]


Derived = tuple[list[Supposed], list[Supposed]]
Derivation = Callable[[Any, Any, str, DecisionPoint], Derived]


def compile_claims(
    procedure: Procedure, views: Views, vary: tuple[str, ...], bounds: Bounds, fields: list[str] | None
) -> Derivation:
    """`derive_claims` as `(state, memory, submitted, decision point) -> (claims, further counterfactuals)`.

    With the `fields` of the state that claims depend on they are kept, and found again where these fields are equal.
    """

    def derive(state: Any, memory: Any, submitted: str, point: DecisionPoint) -> Derived:
        return derive_claims(procedure, views, state, memory, submitted, vary, bounds, point)

    if fields is None or procedure.irrelevant is None:
        return derive
    known, harmless = KnownValues(by_value=True), procedure.irrelevant.harmless

    def find(state: Any, memory: Any, submitted: str, point: DecisionPoint) -> Derived:
        if harmless is not None and not harmless(state):
            return derive(state, memory, submitted, point)
        read = (*[state[field] for field in fields], *memory.values(), submitted)
        kept = known.find(read)
        if kept is None:
            derived = derive(state, memory, submitted, point)
            kept = known.keep(read, [[[*supposed[:3], *supposed.choice] for supposed in part] for part in derived])
        claimed, idle = ([Supposed(name, old, new, Choice(*row)) for name, old, new, *row in part] for part in kept[1])
        return claimed, idle

    return find


INCREASES: Final = "increases"
DECREASES: Final = "decreases"
REMOVED: Final = "is removed"
BECOMES: Final = "becomes"
"""How a variable changes, in the words of a claim; a list grows with its length, and what is empty was removed."""

_EMPTY: Final[tuple[Any, ...]] = ([], {}, "", None)
_SAID: Final = re.compile(r"[!-~]{1,400}")


def has_direction(way: str, before: Any, value: Any) -> bool:
    """Whether a change from one value to another has a direction."""
    if way == REMOVED:
        return value in _EMPTY and before not in _EMPTY
    now, then = (len(size_of) if isinstance(size_of, list) else size_of for size_of in (before, value))
    if type(now) is not int or type(then) is not int:
        return False
    return (way == INCREASES and then > now) or (way == DECREASES and then < now)


def toward(views: Views, state: Any, variable: str, way: str) -> list[Any]:
    """The world's alternatives of a variable in a direction."""
    before = views.read(state, variable)
    return [value for value in views.alternatives(state, variable) if has_direction(way, before, value)]


def word_change(
    procedure: Procedure, views: Views, state: Any, memory: Any, supposition: Supposed, point: DecisionPoint
) -> str:
    """How a claim words a change: by its direction, if each alternative in it leads to the choice, else by the value.

    A direction that all alternatives have says nothing, so the value is given then too. Empty if the value cannot be
    said: it has white space or characters beyond ASCII, or is longer than 400 characters.
    """
    way = next(
        (way for way in (REMOVED, INCREASES, DECREASES) if has_direction(way, supposition.before, supposition.value)),
        None,
    )
    possible = views.alternatives(state, supposition.variable)
    if way is not None and not all(has_direction(way, supposition.before, value) for value in possible):
        supposed = suppose(procedure, views, state, memory, supposition.variable, point)
        if all(
            other.choice.label == supposition.choice.label
            for other in supposed
            if has_direction(way, other.before, other.value)
        ):
            return way
    text = canonical_bytes(supposition.value).decode()
    return f"{BECOMES} {text}" if _SAID.fullmatch(text) else ""


def direction(before: Any, value: Any) -> str:
    """How a value changes, in the words of `causal_claim.json`."""
    numbers = type(before) is int and type(value) is int
    if not numbers:
        return "categorical"
    return "increase" if value > before else "decrease"


def equal_masses(count: int) -> list[float]:
    """Equal probability masses that sum to exactly one in units of 1e-8."""
    share, rest = divmod(MASS_UNIT, max(count, 1))
    return [(share + (index < rest)) / MASS_UNIT for index in range(count)]


def counterfactuals(supposed: list[Supposed], base: str) -> list[dict[str, Any]]:
    """Changes of the state with a digest as `counterfactual.json` documents."""
    masses = equal_masses(len(supposed))
    return [
        {
            "cf_id": f"cf-{number}",
            "base_state_digest": base,
            "mutation": {"var": supposition.variable, "new_value": supposition.value},
            "predicted_outcome": {"choice": supposition.choice.label, "score": supposition.choice.score},
            "prob_mass": mass,
        }
        for number, (supposition, mass) in enumerate(zip(supposed, masses, strict=True))
    ]


def claim(
    number: int,
    supposed: Supposed,
    nodes: list[int],
    say: Callable[[Mapping[str, str]], str],
    way: str = "",
    confidence: float = 1,
) -> dict[str, Any]:
    """A change as a `causal_claim.json` document.

    `number` is that of its counterfactual, `nodes` are those of the trace that it rests on, and `way` says how the
    variable changes, where the vocabulary asks for that.
    """
    effect = {"counterfactual": f"cf-{number}", "choice": supposed.choice.label}
    return {
        "var": supposed.variable,
        "direction": direction(supposed.before, supposed.value),
        "expected_effect_on_choice": say({**effect, "variable": supposed.variable, "direction": way}),
        "confidence": confidence,
        "supporting_nodes": nodes,
    }
