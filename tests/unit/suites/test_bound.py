"""`bound` of a step: whether its choice is one of the set that was committed to before, recomputed from the digests."""

import copy
import json
from pathlib import Path
from typing import Any

import pytest

from specledger.suites.episodes import Episodes, is_bound

RECEIPTS = Path(__file__).parents[3] / "fixtures" / "golden" / "hazard.jsonl"
HEADING = {"run": "r", "arm": "a", "scenario": "s", "seed": 1}


def bodies(last=60):
    """The first receipts of a recorded run, up to a step, and an end of its episode."""
    told = [json.loads(line) for line in RECEIPTS.read_bytes().splitlines()[:last]]
    while told[-1]["type"] != "step":
        told.pop()
    end = {"episode": 0, "ended": "horizon", "success": False, "first_success": None, "violations": []}
    return [(one["type"], one["body"]) for one in told] + [("episode_end", end)]


def bound(receipts):
    (episode,) = Episodes(HEADING).read(receipts)
    return [step["bound"] for step in episode["steps"] if step["chosen"] >= 0]


def change(type_, edit):
    changed = copy.deepcopy(bodies())
    edit(next(body for found, body in changed if found == type_))
    return changed


CHOICES = {
    "those of a true run": (bodies(), True),
    "without a commitment": ([each for each in bodies() if each[0] != "commit"], False),
    "another root": (change("commit", lambda body: body.update(root="0" * 64)), False),
    "another choice": (change("step", lambda body: body.update(chosen=0 if body["chosen"] else 1)), False),
    "another step": (change("commit", lambda body: body.update(t=body["t"] + 1)), False),
    "another proposal": (change("commit", lambda body: body["proposals"].reverse()), False),
    "another episode": (change("step", lambda body: body.update(episode=body["episode"] + 1)), False),
    "another digest": (change("step", lambda body: body.update(chosen_hash="0" * 64)), False),
    "another token": (change("step", lambda body: body["token"].update(scope="0" * 64)), False),
}


@pytest.mark.parametrize(("receipts", "first"), CHOICES.values(), ids=CHOICES)
def test_a_choice_is_bound_by_every_digest(receipts, first):
    assert bound(receipts)[0] is first


@pytest.mark.parametrize(
    "edit", [lambda n: -n, lambda n: -1, lambda n: n, lambda n: True], ids=["-n", "-1", "n", "bool"]
)
def test_a_choice_outside_the_set_is_not_bound(edit):
    """With an index from the end the digests would fit."""
    receipts = bodies()
    commit = next(body for found, body in receipts if found == "commit")
    step: Any = next(body for found, body in receipts if found == "step")
    assert is_bound(commit, step)
    many = len(commit["proposals"])
    for chosen in (edit(many), step["chosen"] - many):
        other: Any = {**step, "chosen": chosen}
        assert not is_bound(commit, other)
