"""The space-time of a law: the states of one ring, as the page's script draws them.

The ring is that of the counterexample, else an example, since the receipts of a trial hold only the digest of its
cases. It is evolved by the universe's table in the bundle; no trial is made again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice, product
from typing import Any, Final

from msgspec.structs import replace

from specledger.laws.law import Law
from specledger.verify.statements import InvalidCertificate
from specledger.verify.violation import State, Trajectory, measured

Body = Mapping[str, Any]

MOST_STATES: Final = 220
"""States of a counterexample that are drawn."""

EXAMPLE_STATES: Final = 60
"""States of an example that are drawn."""

LENGTHS: Final = 8
"""Lengths of rings among which an example is searched, from the shortest."""

STARTS: Final = 64
"""Starts of each length that are tried."""

STEPS: Final = 8
"""Steps over which they are compared."""

_EXAMPLE: Final = (
    "An example, and no evidence: receipts hold the digest of the tried cases and not their starts. The ring was "
    "chosen when the page was written and has the shortest length with a start that meets the preconditions. Of the "
    f"first {STARTS} starts in the order of the alphabet it is the one in which most of the first {STEPS} steps are "
    "tested, then the one with the most symbols, then the most states, then the first. It was evolved by the "
    "universe's table in the bundle; the law was not judged on it."
)
_FOUND: Final = (
    "A counterexample. Its start and the marked rows are in the receipt; the other rows were evolved from the start "
    "when the page was written, by the universe's table in the bundle."
)


def spacetime(law: Law, verdict: Body, row: str) -> dict[str, Any] | None:
    """What is drawn of a law; None if no start of it can be shown.

    Args:
        law: The law.
        verdict: Its verdict.
        row: The anchor of its row.
    """
    drawn = _example(law) if verdict["counterexample"] is None else _found(law, verdict["counterexample"])
    if drawn is None:
        return None
    alphabet = law.universe.alphabet
    known = {"law": verdict["law"], "anchor": row, "claim": verdict["claim"], "status": verdict["status"]}
    return {**known, "symbols": "".join(alphabet), "empty": alphabet[law.universe.empty], **drawn}


def _found(law: Law, found: Body) -> dict[str, Any]:
    """A counterexample, from the start to just after the violation."""
    t, begin = found["t"], found["excerpt"]["from"]
    evolved = Trajectory(law, [law.universe.alphabet.index(symbol) for symbol in found["start"]]).states
    states = evolved[: t + 1 + max(law.moments.values())]
    return {
        "t": t,
        "excerpt": [begin, begin + len(found["excerpt"]["states"])],
        "observables": {str(t + steps): found["observables"][key] for key, steps in law.moments.items()},
        "rows": _rows(law, states[:MOST_STATES]),
        "states": len(states),
        "said": _FOUND,
    }


def _example(law: Law) -> dict[str, Any] | None:
    """An example over the steps of the law; None if the law is UNKNOWN, or no start can be used."""
    if law.unknown is not None:
        return None
    try:
        start = example_start(law)
        if start is None:
            return None
        states = Trajectory(law, start).states[: law.on(len(start)).steps + 1]
        drawn = states[:EXAMPLE_STATES]
        symbols, observables = law.universe.rule.symbols, sorted(law.observables.items())
        values = [{name: measured(each.root, state, symbols) for name, each in observables} for state in drawn]
    except InvalidCertificate:  # a figure leaves 64 bits
        return None
    return {
        "t": None,
        "excerpt": [0, 0],
        "observables": {str(step): each for step, each in enumerate(values)},
        "rows": _rows(law, drawn),
        "states": len(states),
        "said": _EXAMPLE,
    }


def example_start(law: Law) -> State | None:
    """The start of the example, the same for the same law; None if no tried start can be used."""
    for starts in _starts(law):
        tried = (Trajectory(_short(law.on(len(start))), start) for start in starts)
        usable = [trajectory for trajectory in tried if trajectory.usable()]
        if usable:
            return max(usable, key=_shows).states[0]
    return None


def _short(law: Law) -> Law:
    return replace(law, T=min(law.T, STEPS))


def _starts(law: Law) -> Iterator[Iterator[State]]:
    """The first starts of each length, from the shortest."""
    shortest = law.universe.shortest
    for length in range(shortest, min(shortest + LENGTHS - 1, law.universe.longest) + 1):
        yield (list(start) for start in islice(product(law.starts, repeat=length), STARTS))


def _shows(trajectory: Trajectory) -> tuple[int, int, int]:
    """The number of tested steps, of different symbols and of different states."""
    law, places = trajectory.law, range(len(trajectory.states[0]) if trajectory.law.template.cells else 1)
    judged = range(law.template.first, law.T - law.template.short + 1)
    asked = law.antecedent
    tested = sum(asked is None or any(trajectory.value(asked, t, cell) for cell in places) for t in judged)
    states = {*map(tuple, trajectory.states[: STEPS + 1])}
    return tested, len({cell for state in states for cell in state}), len(states)


def _rows(law: Law, states: Sequence[State]) -> list[str]:
    return ["".join(law.universe.alphabet[cell] for cell in state) for state in states]
