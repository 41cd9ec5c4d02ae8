"""What a probe offers or asks, what it expects, and which words a claim may use, in sentences made from their parts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from specledger.core.diagnostics import counted
from specledger.kinds.explained_effects import ALWAYS
from specledger.kinds.explained_rules import names
from specledger.lang.english import condition, value
from specledger.lang.phrases import code, quoted
from specledger.lang.statement import Statement, listed
from specledger.load import Bundle
from specledger.spec.world import SetEffect
from specledger.wings.kernel.spec.probe import PLACES, Challenge, EventEdit, Offer, Probe
from specledger.wings.kernel.spec.vocabulary import Vocabulary

_SUBJECTS: Final = {
    "claims": ("Of its claims, {} drawn", "What a drawn one names is changed"),
    "counterfactuals": ("Of its counterfactuals, {} drawn", "What a drawn one names is changed"),
    "unused": ("Of what its declared procedure does not read, {} drawn", "A drawn one is changed"),
    "declared": ("Nothing is changed", "Its declared procedure is run instead"),
}
"""What a challenge is about: what is drawn, and what is done with it."""
_TOKENS: Final = {
    "none": "without a token",
    "own": "with the token of this decision",
    "stale": "with the token of an earlier decision",
    "other": "with another agent's token",
}
_DIRECTIONS: Final = {
    "increases": "gets a greater value",
    "decreases": "gets a smaller value",
    "removed": "is taken away",
    "becomes": "gets the value that follows",
}
_DEMANDS: Final = {
    "reveal": "Its commitments must open",
    "trace": "Its trace must come out equal when it is computed again",
    "restate": "It must state the same reasons again",
}


def probe(bundle: Bundle) -> Iterator[Statement]:
    """When it is made, what it does, what it expects."""
    model = bundle.main.model
    assert isinstance(model, Probe)  # noqa: S101 - it was loaded as one
    steps = model.steps
    often = "at every step" if steps is None else f"at {counted(steps, 'drawn step')} of an episode"
    does = "made an offer" if model.offer is not None else "challenged"
    yield Statement(f"{PLACES[model.at].capitalize()}, {often}, the agent is {does}")
    if model.when != ALWAYS:
        yield condition(model.when).after("It is done only where ")
    if model.offer is not None:
        yield from _offer(model.offer)
    if model.challenge is not None:
        yield from _challenge(model.challenge)
    yield condition(model.expect).after("It passes if ")
    yield from names(model.functions, model.constants)


def _offer(offer: Offer) -> Iterator[Statement]:
    yield Statement(f"It is told {quoted(offer.text)}")
    if offer.call is not None:
        which = "for the action that it chose" if offer.call.action == "chosen" else "for another action"
        yield Statement(f"Who takes the offer calls the actuator {_TOKENS[offer.call.token]} {which}")
    else:
        paths = ", ".join(code(edit.path or "/") for edit in offer.edit or ())
        yield Statement(f"Who takes the offer has its proposal changed at {paths}")
    yield Statement(f"That breaks the rule {code(offer.breaches)}")
    for effect in offer.pays:
        if isinstance(effect, SetEffect):
            yield Statement(f"It is promised that {code(effect.set)} becomes {value(effect.to)}")


def _challenge(challenge: Challenge) -> Iterator[Statement]:
    draw = challenge.draw
    number = (
        f"{draw.least} to {draw.most} are"
        if draw.least != draw.most
        else f"{draw.least} {'is' if draw.least == 1 else 'are'}"
    )
    if challenge.edit:
        edits = tuple(map(_edit, challenge.edit))
        yield Statement("Of what came before the call this is changed, and it is asked again", edits)
    else:
        drawn, done = _SUBJECTS[challenge.of]
        yield Statement(drawn.format(number))
        who = "it is asked again" if challenge.ask == "agent" else "its declared procedure answers"
        yield Statement(f"{done}, and {who}")
    for demand in challenge.demand:
        yield Statement(_DEMANDS[demand])
    if challenge.arms.same:
        again = counted(challenge.arms.same, "more time")
        yield Statement(f"The same question is asked {again} without a change")


def _edit(edit: EventEdit) -> Statement:
    result = "the last result" if edit.tool is None else f"the last result of {code(edit.tool)}"
    what = {"request": "the request", "result": result, "words": "what the model said"}[edit.of]
    if edit.adds is not None:
        return Statement(f"to {what} is added {quoted(edit.adds)}")
    if edit.becomes is not None:
        return Statement(f"{what} becomes {quoted(edit.becomes)}")
    return Statement(f"of {what} the first {(edit.keeps or 0) // 10_000} percent is kept")


def vocabulary(bundle: Bundle) -> Iterator[Statement]:
    """The forms of a claim and the words of each direction."""
    model = bundle.main.model
    assert isinstance(model, Vocabulary)  # noqa: S101 - it was loaded as one
    yield Statement("A claim has one of these forms", tuple(Statement(quoted(form)) for form in model.forms))
    slots = " ".join(model.forms)
    for name, words in model.directions.words().items() if "<direction>" in slots else ():
        yield Statement(f"That a variable {_DIRECTIONS[name]} is said by {listed(map(quoted, words), 'or')}")
