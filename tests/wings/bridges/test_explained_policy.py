"""A trained policy under a kernel: what explains it gives claims, and how many of them hold is a degree."""

import json
from typing import Any

import pytest

from specledger import gym
from specledger.core.canonical import canonical_bytes
from specledger.core.digest import sha256_hex
from specledger.kinds import load
from specledger.kinds.running import RunOptions
from specledger.pipeline.executing import execute
from tests.toys import ROOT

EXAMPLE = ROOT / "examples/explained-policy"


def policy(seen):
    return {"op": "charge" if seen["battery"] < 3 else "clean" if seen["dirt"] else "wait"}


def values(seen):
    return {name: [n for n in range(5) if n != seen[name]] for name in ("dirt", "guests", "battery")}


SEEN = {"battery": 4, "dirt": 2, "guests": 1}
CLAIMS = [
    {"variable": "dirt", "becomes": 0, "choice": {"op": "wait"}},
    {"variable": "battery", "becomes": 0, "choice": {"op": "charge"}},
    {"variable": "guests", "becomes": 0, "choice": {"op": "clean"}},
]


def test_what_moves_the_choice_is_claimed_first_and_the_rest_fills_up():
    assert gym.by_asking(policy, values)(SEEN) == CLAIMS
    assert gym.by_asking(policy, values, most=2)(SEEN) == CLAIMS[:2]


def test_of_a_variable_that_moves_nothing_the_first_value_alone_is_claimed():
    stays = gym.by_asking(
        lambda seen: {"op": "wait"}, lambda seen: {"dirt": [0, 1, 2], "guests": [], "battery": [5, 6]}
    )
    claims = [(claim["variable"], claim["becomes"]) for claim in stays(SEEN)]
    assert claims == [("dirt", 0), ("battery", 5)]


def test_what_a_policy_does_most_often_is_claimed():
    asked: list[int] = []

    def slips(seen):
        asked.append(seen["guests"])
        return {"op": "rest"} if len(asked) % 5 == 0 else policy(seen)  # one answer in five is another one

    assert gym.by_asking(slips, values)(SEEN) == CLAIMS
    assert len(asked) == 25 * (1 + 1 + 4 + 1)  # here, the first value of `dirt` and of `battery`, all of `guests`
    asked.clear()

    def settled(seen):
        asked.append(seen["guests"])
        return policy(seen)

    assert gym.by_asking(settled, values, times=1)(SEEN) == CLAIMS
    assert len(asked) == 1 + 1 + 4 + 1


@pytest.mark.parametrize(("answers", "usual"), [("aaaaa", "a"), ("abbbb" + "b" * 20, "b"), ("ab" * 12 + "a", "a")])
def test_of_as_many_choices_the_first_one_is_claimed(answers, usual):
    left = iter(answers)
    claims = gym.by_asking(lambda seen: {"op": next(left)}, lambda seen: {})
    assert claims(SEEN) == []
    assert next(left, "") == ""
    other = iter(answers * 2)
    (claim,) = gym.by_asking(lambda seen: {"op": next(other)}, lambda seen: {"dirt": [0]})(SEEN)
    assert claim["choice"] == {"op": usual}


def test_a_surrogate_claims_what_it_would_choose_itself():
    surrogate = gym.by_asking(lambda seen: {"op": "wait" if seen["guests"] else "clean"}, values)
    assert surrogate(SEEN)[0] == {"variable": "guests", "becomes": 0, "choice": {"op": "clean"}}


def test_a_decision_is_committed_to_and_can_be_opened_and_restated():
    agent = gym.Explained(policy, gym.by_asking(policy, values))
    said = [agent({"type": "decide", "id": number, "observation": SEEN}) for number in (1, 2)]
    assert said[0]["commitment"] != said[1]["commitment"]
    opened = agent({"type": "reveal", "id": 3, "commitment": said[0]["commitment"]})
    payload: Any = {"action": {"op": "clean"}, "claims": CLAIMS}
    assert opened["payload"] == payload
    assert sha256_hex(bytes.fromhex(opened["nonce"]) + canonical_bytes(payload)) == said[0]["commitment"]
    assert agent({"type": "restate", "id": 4, "of": 1}) == {"type": "statement", **payload}
    asked = agent({"type": "ask", "id": 5, "observation": {**SEEN, "battery": 0}})
    assert (asked["action"], "commitment" in asked) == ({"op": "charge"}, False)


def test_an_agent_that_is_started_again_uses_no_nonce_twice():
    nonces = set()
    for started in range(3):  # its first messages are of another decision each time
        agent = gym.Explained(policy, gym.by_asking(policy, values))
        said = agent({"type": "decide", "id": 1, "episode": started, "t": 5 - started, "observation": SEEN})
        nonces.add(agent({"type": "reveal", "id": 2, "commitment": said["commitment"]})["nonce"])
    assert len(nonces) == 3


def test_a_claim_may_say_how_sure_it_is():
    claims = [{**CLAIMS[0], "confidence": 0.75}]
    agent = gym.Explained(policy, lambda seen: claims)
    said = agent({"type": "decide", "id": 1, "observation": SEEN})
    opened = agent({"type": "reveal", "id": 2, "commitment": said["commitment"]})
    text = (
        b'{"action":{"op":"clean"},"claims":[{"becomes":0,"choice":{"op":"wait"},"confidence":0.75,"variable":"dirt"}]}'
    )
    assert (said["claims"], opened["payload"]["claims"]) == (claims, claims)
    assert sha256_hex(bytes.fromhex(opened["nonce"]) + text) == said["commitment"]


@pytest.mark.parametrize("promised", [{}, {"deterministic": True}, {"deterministic": False}])
def test_a_policy_that_draws_promises_nothing(promised):
    agent = gym.Explained(policy, gym.by_asking(policy, values), **promised)
    assert agent({"type": "hello", "id": 0})["deterministic"] is promised.get("deterministic", True)


def test_a_policy_sees_each_variable_of_the_world_under_its_own_name():
    shown: list[Any] = []

    def watched(seen):
        shown.append(seen)
        return {"op": "wait"}

    agent = gym.Explained(watched, lambda seen: [])
    variables = {"self.energy": {"type": {}, "doc": "", "value": 7}, "unread": {"type": {}}}
    agent({"type": "decide", "id": 1, "observation": {"tick": 3}, "variables": variables})
    assert shown == [{"tick": 3, "self.energy": 7}]


def test_the_glue_of_the_example_is_short():
    lines = (EXAMPLE / "explained.py").read_text(encoding="utf-8").splitlines()
    glue = lines[next(number for number, line in enumerate(lines) if line.startswith("# The glue")) :]
    assert len(glue) < 30


@pytest.mark.slow
def test_how_well_a_policy_is_explained_is_a_degree(tmp_path, monkeypatch):
    monkeypatch.chdir(EXAMPLE)
    finished = execute(load("explained.yaml")[0], tmp_path / "out", RunOptions(trusted=True))
    assert finished.manifest["result"]["verdict"] == "PASS"
    results = {
        file.parent.name: json.loads(file.read_bytes())["result"]
        for file in finished.place.glob("runs/*/manifest.json")
    }
    claims = {name.partition(".")[0]: result["claims"]["held"] for name, result in results.items()}
    shares = {name: claim["held"] / claim["tested"] for name, claim in claims.items()}
    assert shares["perturbing"] == 1
    assert shares["perturbing"] > shares["tree_8"] > shares["tree_4"] > shares["tree_2"] > shares["ranking"]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: gym.by_asking(policy, {"dirt": [0]}), "values is dict, expected a function .*lambda seen"),  # type: ignore[arg-type]
        (lambda: gym.by_asking("walk", values), "policy is str, expected a function observation -> action"),  # type: ignore[arg-type]
        (lambda: gym.Explained(policy, CLAIMS), "explain is list, expected a function .*`by_asking` makes"),  # type: ignore[arg-type]
    ],
)
def test_what_is_no_function_is_refused_when_the_agent_is_made(make, message):
    with pytest.raises(TypeError, match=message):
        make()
