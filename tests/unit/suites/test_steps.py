"""What is read of a step: what became of each proposal, and what there is of a choice and of what a log leaves out."""

from typing import Any

import pytest

from specledger.core.unknown import UNKNOWN, Unknown
from specledger.suites.episodes import NOT_YET, Episodes

GATES = ({"gate": "wall", "reason": "in the way", "witness": {}}, {"gate": "late", "reason": "too late", "witness": {}})
FAILED = {"code": "E_EVAL_OVERFLOW", "message": "too large"}
SEEN = [{"invariant": "dry", "severity": "warn", "witness": {}}]
END = {"episode": 0, "ended": "horizon", "success": False, "first_success": None, "violations": []}
CHOICE = {"chosen": 1, "cost": {"total": 3}, "record": {"x": 2}}
GO: dict[str, Any] = {"op": "go", "n": 1}


def read(action=GO, commit=True, **changed):
    """What is read of one step: of a choice of the second of two proposals, unless something is changed."""
    body = {
        "episode": 0,
        "t": 4,
        "chosen_hash": "",
        "token": None,
        "decisions": [decision(), decision()],
        "success": None,
        "violations": [],
        "parts": {},
        **CHOICE,
        **changed,
    }
    proposals = [{"action": {"op": "wait"}}, {"action": action}]
    receipts: list[tuple[str, Any]] = [("episode", {"episode": 0, "state": {}})]
    receipts += [
        ("commit", {"episode": 0, "t": 4, "agent": changed.get("agent", ""), "root": "", "proposals": proposals})
    ] * commit
    (episode,) = Episodes({"run": "r"}).read([*receipts, ("step", body), ("episode_end", END)])
    (step,) = episode["steps"]
    return step


def decision(*rejected, error=None):
    return {"rejected": list(rejected), "error": error}


FREE, WALL, BOTH, WRONG = decision(), decision(GATES[0]), decision(*GATES), decision(error=FAILED)
# decisions: how many are admitted, how many failed, and which gates rejected which
DECISIONS = {
    "none": ([], 0, 0, []),
    "all are admitted": ([FREE, FREE, FREE], 3, 0, []),
    "all are rejected": ([WALL, BOTH], 0, 0, [(0, "wall"), (1, "wall"), (1, "late")]),
    "all failed": ([WRONG, WRONG], 0, 2, []),
    "rejected, then failed": ([decision(GATES[1], error=FAILED)], 0, 1, [(0, "late")]),
    "some of each": ([FREE, WRONG, BOTH, FREE, WALL, FREE], 3, 1, [(2, "wall"), (2, "late"), (4, "wall")]),
}


@pytest.mark.parametrize(("decisions", "admitted", "errors", "rejections"), DECISIONS.values(), ids=DECISIONS)
def test_what_became_of_proposals_is_counted(decisions, admitted, errors, rejections):
    step = read(decisions=decisions, chosen=None, cost=None, record=None)
    assert (step["proposals"], step["admitted"], step["errors"]) == (len(decisions), admitted, errors)
    assert [(found["proposal"], found["gate"]) for found in step["rejections"]] == rejections
    reasons = {gate["gate"]: gate["reason"] for gate in GATES}
    assert all(found["reason"] == reasons[found["gate"]] for found in step["rejections"])


LEFT_OUT = ({UNKNOWN: "not recorded"}, Unknown("not recorded"))
WHOLE = {"action", "cost", "record"}
# what is changed, and what there is of the choice
CHOICES = {
    "a choice": ({}, WHOLE),
    "no choice": ({"chosen": None, "cost": None, "record": None}, set()),
    "no commitment": ({"commit": False}, WHOLE - {"action"}),
    **{f"an argument is left out, {n}": ({"action": GO | {"n": gap}}, WHOLE - {"action"}) for n, gap in enumerate(LEFT_OUT)},
    **{f"a figure is left out, {n}": ({"record": {"x": 2, "y": gap}}, WHOLE - {"record"}) for n, gap in enumerate(LEFT_OUT)},
    "an argument that is a record": ({"action": GO | {"n": {"m": 1}}}, WHOLE),
}  # fmt: skip


@pytest.mark.parametrize(("changed", "there"), CHOICES.values(), ids=CHOICES)
def test_what_a_log_leaves_out_of_a_choice_is_not_there(changed, there):
    step = read(**changed)
    expected = {"action": GO, **CHOICE, **changed}
    assert {name: value for name, value in step.items() if name in WHOLE} == {name: expected[name] for name in there}
    assert step["chosen"] == (NOT_YET if expected["chosen"] is None else 1)


def test_only_a_step_without_a_choice_is_bound_without_a_commitment():
    assert [read(commit=False, chosen=chosen)["bound"] for chosen in (None, 0)] == [True, False]


@pytest.mark.parametrize("gap", LEFT_OUT, ids=["as evidence has it", "here"])
def test_what_a_log_leaves_out_of_potentials_is_not_there(gap):
    change, rebase = {"before": 1, "after": 2}, {"part": "budget", "to": 3}
    step = read(
        potentials={"far": change, "near": {"before": 1, "after": gap}}, rebases=[rebase, {**rebase, "to": gap}]
    )
    assert (step["potentials"], step["rebases"]) == ({"far": change}, [rebase])
    assert (read()["potentials"], read()["rebases"]) == ({}, [])


@pytest.mark.parametrize(("success", "read_as"), [(True, True), (False, False), (None, False)])
def test_a_success_is_one_that_is_known(success, read_as):
    assert read(success=success)["success"] is read_as


def test_a_step_names_its_agent_its_breaches_and_its_parts():
    step = read(agent="a", violations=SEEN, parts={"budget": {"left": 1, "tip": "0", "tip_after": "1"}})
    assert (step["t"], step["agent"], read()["agent"]) == (4, "a", "")
    assert step["violations"] == [{"invariant": "dry", "severity": "warn"}]
    assert step["parts"] == {"budget": {"left": 1}}
