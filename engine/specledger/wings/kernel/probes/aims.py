"""What a challenge changes: the claims, counterfactuals or variables that it is about, of which some are drawn.

What cannot be read is no claim: words of no form of the vocabulary, and a variable or a choice that the world does not
have. It is counted, and decides nothing.

A claim with a direction is challenged twice: by the agent's own alternative, and by one that the kernel draws from the
world's others in that direction. A direction says nothing if none of the alternatives is in it, or all are. That is a
finding about the claim: it convicts nobody and is no pass.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple, cast

from specledger.core.calibration import VAGUE
from specledger.core.rng import Stream
from specledger.wings.kernel.probes.target import ProbeTarget, RecordedTarget, Situation
from specledger.wings.kernel.spec.probe import Challenge


class Aim(NamedTuple):
    """One thing to challenge.

    Attributes:
        choice: The choice that was predicted, if any.
        direction: How the claim says that the variable changes, empty if it does not.
        confidence: The rate at which the agent says that the choice comes there, in millionths; None if it states none.
        by: Whose alternative the value is: the agent's own, or the `kernel`'s; `says_nothing` if none is tried.
        drawn: Its place among what was drawn; two alternatives of one claim have the same.
    """

    variable: str
    value: Any
    choice: str
    direction: str = ""
    confidence: int | None = None
    by: str = "agent"
    drawn: int = 0


class Aims(NamedTuple):
    """What may be drawn, and how many claims or counterfactuals cannot be read."""

    found: list[Aim]
    unread: int = 0


def find_aims(spec: Challenge, target: ProbeTarget, situation: Situation, document: Any, stream: Stream) -> Aims:
    """What a challenge may be about."""
    state = situation.state
    if spec.of == "declared":
        return Aims([Aim("", None, "")])
    if spec.edit:
        return Aims([Aim(*changed) for changed in cast(RecordedTarget, target).edits(state, spec.edit, stream)])
    if spec.of == "unused":
        return Aims(changes_of_unread(target, state, stream))
    read, stated = _Reading(target, state), target.confidences(document, situation)
    counterfactuals = {
        counterfactual["cf_id"]: counterfactual for counterfactual in document["trace"]["counterfactuals"]
    }
    if spec.of == "counterfactuals":
        aims = [
            _aim(counterfactual, counterfactual["predicted_outcome"]["choice"])._replace(confidence=stated.get(name))
            for name, counterfactual in counterfactuals.items()
        ]
        known = [aim for aim in aims if read.knows(aim)]
        return Aims(known, read.unread)
    by_variable, directed = dict[str, Aim](), target.directions(situation)
    for claim in document["trace"]["causal_claims"]:
        said = target.read(claim, document["trace"]["counterfactuals"])
        counterfactual = None if said is None else counterfactuals.get(said["counterfactual"])
        if said is None or counterfactual is None or counterfactual["mutation"]["var"] != claim["var"]:
            read.unread += 1
            continue
        aim, way = _aim(counterfactual, said["choice"]), said["direction"] or directed.get(claim["var"], "")
        if read.knows(aim):
            by_variable.setdefault(
                claim["var"], aim._replace(direction=way, confidence=stated.get(said["counterfactual"]))
            )
    return Aims(list(by_variable.values()), read.unread)


class _Reading:
    """Counts what cannot be read."""

    def __init__(self, target: ProbeTarget, state: Any) -> None:
        self._target, self._names = target, frozenset(target.names(state))
        self.unread = 0

    def knows(self, aim: Aim) -> bool:
        """Whether the world has the variable, and may have the choice; counts those of which it has not."""
        known = aim.variable in self._names and self._target.is_choice(aim.choice)
        self.unread += not known
        return known


def _aim(counterfactual: Mapping[str, Any], choice: str) -> Aim:
    return Aim(counterfactual["mutation"]["var"], counterfactual["mutation"]["new_value"], choice)


def changes_of_unread(target: ProbeTarget, state: Any, stream: Stream) -> list[Aim]:
    """A drawn alternative of each variable that the declared procedure does not read."""
    names = [name for name in target.unused(state) if target.alternatives(state, name)]
    return [Aim(name, stream.choice(target.alternatives(state, name)), "") for name in names]


def draw_aims(spec: Challenge, aims: list[Aim], target: ProbeTarget, state: Any, stream: Stream) -> list[Aim]:
    """As many as the probe says, with the kernel's alternatives of claims that give a direction."""
    count = stream.integer(min(spec.draw.least, len(aims)), min(spec.draw.most, len(aims)))
    chosen = enumerate(stream.sample(aims, count))
    return [
        drawn_aim for index, aim in chosen for drawn_aim in _along(aim._replace(drawn=index), target, state, stream)
    ]


def _along(aim: Aim, target: ProbeTarget, state: Any, stream: Stream) -> Iterator[Aim]:
    """A claim's own alternative, and the kernel's in the same direction, if there is another one."""
    if not aim.direction or aim.direction.startswith("becomes"):
        yield aim
        return
    possible, fitting = target.alternatives(state, aim.variable), target.toward(state, aim.variable, aim.direction)
    if not fitting or len(fitting) == len(possible):
        yield aim._replace(by=VAGUE)
        return
    yield aim
    others = [value for value in fitting if value != aim.value]
    if others:
        yield aim._replace(value=stream.choice(others), by="kernel")
