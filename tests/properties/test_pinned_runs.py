"""What the receipts of every pinned run satisfy, whatever was accepted as a golden; recomputed without the engine."""

import hashlib
import json
from collections import Counter
from itertools import pairwise
from pathlib import Path

import pytest

FIXTURES = Path(__file__).parents[2] / "fixtures"
RUNS = sorted(path for folder in ("golden", "misbehaviour") for path in (FIXTURES / folder).glob("*.jsonl"))


def digest(data):
    """The digest of a line: its leaf hash in a tree of RFC 6962."""
    return hashlib.sha256(b"\0" + data).hexdigest()


@pytest.fixture(scope="module", params=RUNS, ids=lambda path: path.stem)
def pinned(request):
    """The tree of digests, the lines, and the receipts of a run."""
    lines = request.param.read_bytes().splitlines()
    return json.loads(request.param.with_suffix(".json").read_bytes()), lines, list(map(json.loads, lines))


def test_receipts_are_chained_and_counted(pinned):
    tree, lines, receipts = pinned
    assert [one["seq"] for one in receipts] == list(range(len(lines)))
    assert [one["prev"] for one in receipts] == ["0" * 64, *map(digest, lines[:-1])]
    assert (tree["receipts"]["count"], tree["receipts"]["head"]) == (len(lines), digest(lines[-1]))
    assert [receipts[0]["type"], receipts[-1]["type"]] == ["start", "end"]


def test_a_step_executes_an_admitted_proposal_of_its_commitment_or_none(pinned):
    _, _, receipts = pinned
    commitments = {}
    for body in (one["body"] for one in receipts):
        if "proposals" in body:
            commitments[body.get("agent")] = body
        if "chosen" not in body:
            continue
        committed = commitments[body.get("agent")]
        admitted = [not one["rejected"] and one["error"] is None for one in body["decisions"]]
        assert len(admitted) == len(committed["proposals"])
        assert (body["episode"], body["t"]) == (committed["episode"], committed["t"])
        if body["chosen"] is None:
            assert body["cost"] is None
            assert body["token"] is None
            assert body["before"] == body["after"]
        else:
            assert admitted[body["chosen"]]
            assert sum(body["cost"].values()) == 2 * body["cost"]["total"]
            assert body["token"]["commitment"] == committed["root"]
            assert body["token"]["proposal"] == body["chosen_hash"]


def test_nothing_but_steps_and_drifts_changes_the_state(pinned):
    _, _, receipts = pinned
    states = {"episode": ("digest", "digest"), "drift": ("before", "after"), "step": ("before", "after")}
    seen = [
        (one["type"], *(one["body"][key] for key in states[one["type"]])) for one in receipts if one["type"] in states
    ]
    for (_, _, after), (type_, before, _) in pairwise(seen):
        assert type_ == "episode" or before == after


def test_the_result_adds_the_receipts_up(pinned):
    tree, _, receipts = pinned
    steps = [one["body"] for one in receipts if one["type"] == "step"]
    ends = [one["body"] for one in receipts if one["type"] == "episode_end"]
    result = tree["result"]
    decisions = [decision for step in steps for decision in step["decisions"]]
    rejected = Counter(
        f"{step['agent']}.{failing['gate']}" if "agent" in step else failing["gate"]
        for step in steps
        for decision in step["decisions"]
        for failing in decision["rejected"]
    )
    times = {(step["episode"], step["t"]) for step in steps}  # of several agents, each has a receipt of a step
    assert (result["steps"], result["proposals"], result["episodes"]) == (len(times), len(decisions), len(ends))
    assert {gate: count for gate, count in result["rejections"].items() if count} == rejected
    assert result["successes"] == sum(one["success"] for one in ends)
    broken = Counter(
        one["invariant"] for body in (*steps, *ends) for one in body["violations"] if one["severity"] == "fatal"
    )
    assert broken["progress"] == sum(step["chosen"] is None for step in steps)
    judged = [one["body"] for one in receipts if one["type"] == "rules"]
    rules = {one["name"]: Counter(broken=0, held=0, unjudged=0) for one in receipts[0]["body"].get("rules", ())}
    for body in judged:
        broken.update(one["rule"] for one in body["broken"] if one["severity"] == "fatal")
        for name, times in body["held"].items():
            rules[name]["held"] += times
        for outcome in ("broken", "unjudged"):
            for one in body[outcome]:
                rules[one["rule"]][outcome] += 1
    assert result.get("rules", {}) == rules
    assert {**result["violations"], "watchdog": 0} == {**+broken, "watchdog": 0}
    assert result.get("status", result["verdict"]) != "PASS" or not +broken
