"""What a challenge changes: which claims can be read, and which alternatives a direction leaves."""

from types import SimpleNamespace
from typing import Any

import pytest

from specledger.core.calibration import VAGUE
from specledger.core.rng import Stream
from specledger.wings.kernel.probes.aims import Aim, changes_of_unread, draw_aims, find_aims
from specledger.wings.kernel.spec.probe import Challenge

ALTERNATIVES = {"x": [1, 2, 3], "y": [5], "z": []}
HERE: Any = SimpleNamespace(state={})


class Target:
    """Three variables and two choices; `up` is any value above 1."""

    def __init__(self, **directions):
        self._directions = directions

    def names(self, state):
        return [*ALTERNATIVES]

    def is_choice(self, label):
        return label in ("go", "stay")

    def alternatives(self, state, variable):
        return ALTERNATIVES[variable]

    def toward(self, state, variable, direction):
        return [value for value in ALTERNATIVES[variable] if direction == "up" and value > 1]

    def unused(self, state):
        return ["y", "z"]

    def directions(self, situation):
        return self._directions

    def confidences(self, document, situation):
        return {"c1": 900_000}

    def read(self, claim, counterfactuals):
        return claim.get("said")


def stream():
    return Stream.named(1, "aims")


def challenge(of, **more):
    return Challenge.model_validate({"of": of, **more})


def counterfactual(name, variable, value, choice):
    return {"cf_id": name, "mutation": {"var": variable, "new_value": value}, "predicted_outcome": {"choice": choice}}


def claim(variable, name=None, choice="go", direction=""):
    said = None if name is None else {"counterfactual": name, "choice": choice, "direction": direction}
    return {"var": variable, "said": said}


def document(claims, *stated):
    return {"trace": {"causal_claims": claims, "counterfactuals": list(stated)}}


X, Y = counterfactual("c1", "x", 2, "go"), counterfactual("c2", "y", 5, "stay")
CLAIMS = {
    "read, with the confidence": ([claim("x", "c1")], [Aim("x", 2, "go", "", 900_000)], 0),
    "the claim's own choice": ([claim("x", "c1", "stay")], [Aim("x", 2, "stay", "", 900_000)], 0),
    "no confidence": ([claim("y", "c2", "stay")], [Aim("y", 5, "stay")], 0),
    "its own direction": ([claim("x", "c1", direction="up")], [Aim("x", 2, "go", "up", 900_000)], 0),
    "words of no form": ([claim("x")], [], 1),
    "of no counterfactual": ([claim("x", "c9")], [], 1),
    "a counterfactual of another variable": ([claim("y", "c1")], [], 1),
    "no such choice": ([claim("x", "c1", "fly")], [], 1),
    "of each variable the first": ([claim("x", "c1"), claim("x", "c1", "stay")], [Aim("x", 2, "go", "", 900_000)], 0),
    "those that can be read": ([claim("x"), claim("y", "c2", "stay"), claim("x")], [Aim("y", 5, "stay")], 2),
}


@pytest.mark.parametrize(("claims", "aims", "unread"), CLAIMS.values(), ids=CLAIMS)
def test_what_cannot_be_read_is_no_claim(claims, aims, unread):
    target: Any = Target()
    found = find_aims(challenge("claims"), target, HERE, document(claims, X, Y), stream())
    assert (found.found, found.unread) == (aims, unread)


def test_the_direction_of_the_document_holds_where_a_claim_gives_none():
    target: Any = Target(x="down")
    claims = [claim("x", "c1")]
    (aim,) = find_aims(challenge("claims"), target, HERE, document(claims, X), stream()).found
    assert aim.direction == "down"
    claims = [claim("x", "c1", direction="up")]
    (aim,) = find_aims(challenge("claims"), target, HERE, document(claims, X), stream()).found
    assert aim.direction == "up"


def test_counterfactuals_are_challenged_without_claims():
    target: Any = Target()
    unknown = counterfactual("c3", "w", 1, "go")
    found = find_aims(challenge("counterfactuals"), target, HERE, document([], X, Y, unknown), stream())
    assert found == ([Aim("x", 2, "go", "", 900_000), Aim("y", 5, "stay")], 1)


def test_a_declared_procedure_is_asked_about_nothing_else():
    target: Any = Target()
    assert find_aims(challenge("declared"), target, HERE, None, stream()) == ([Aim("", None, "")], 0)


def test_a_variable_that_is_not_read_is_changed_if_it_has_an_alternative():
    target: Any = Target()
    assert changes_of_unread(target, {}, stream()) == [Aim("y", 5, "")]
    assert find_aims(challenge("unused"), target, HERE, None, stream()) == ([Aim("y", 5, "")], 0)


WAYS = {
    "no direction": (Aim("x", 2, "go"), [("agent", 2)]),
    "it becomes a value": (Aim("x", 2, "go", "becomes 2"), [("agent", 2)]),
    "the kernel's own in the same direction": (Aim("x", 2, "go", "up"), [("agent", 2), ("kernel", 3)]),
    "no other in the direction": (Aim("y", 5, "go", "up"), [(VAGUE, 5)]),
    "none in the direction": (Aim("x", 2, "go", "down"), [(VAGUE, 2)]),
}


@pytest.mark.parametrize(("aim", "asked"), WAYS.values(), ids=WAYS)
def test_a_claim_with_a_direction_is_challenged_by_two_alternatives(aim, asked):
    target: Any = Target()
    drawn = draw_aims(challenge("claims"), [aim], target, {}, stream())
    assert [(each.by, each.value) for each in drawn] == asked
    assert {each.drawn for each in drawn} == {0}


@pytest.mark.parametrize(
    ("draw", "counts"),
    [({}, {1}), ({"least": 2, "most": 2}, {2}), ({"most": 3}, {1, 2, 3}), ({"most": 9}, {1, 2, 3, 4})],
)
def test_as_many_are_drawn_as_the_probe_says(draw, counts):
    target: Any = Target()
    aims = [Aim("x", value, "go") for value in range(4)]
    seen = set()
    for number in range(60):
        drawn = draw_aims(challenge("claims", draw=draw), aims, target, {}, Stream.named(number, "aims"))
        assert [aim.drawn for aim in drawn] == list(range(len(drawn)))
        assert len({aim.value for aim in drawn}) == len(drawn)
        seen.add(len(drawn))
    assert seen == counts
    assert draw_aims(challenge("claims", draw={"least": 2, "most": 2}), [], target, {}, stream()) == []
