"""Plans of several steps: one token covers them, each step is executed once, and whatever refuses one ends the plan."""

import json

import pytest

from specledger.compile.scenario import compile_scenario
from specledger.core.events import Event
from specledger.gates.capability import Refused
from specledger.kinds import load
from specledger.run.loop import run
from specledger.wings.kernel.run.controller import KernelController
from tests.toys.bundles import receipts_of, run_outside

MOVE = "governor.admission.grants.move."


def notes(found):
    """Per entry its time in ticks, its verdict and its last note."""
    return [
        (entry["timestamp_ms"] // 100, entry["kernel_decision"]["verdict"], entry["kernel_decision"]["notes"].split()[-1])
        for entry in found.of("audit")
    ]  # fmt: skip


def refusals(found):
    return [(tick, note) for tick, _, note in notes(found) if note.startswith("refused:")]


def executed(found):
    """Per step the proposal's hash, or None where nothing was executed."""
    return [None if step["chosen"] is None else step["after"] != step["before"] for step in found.of("step")]


@pytest.fixture(scope="module")
def shipped(go):
    return go("axion-plans", "planner", "probes=[]")


@pytest.mark.medium
def test_one_token_covers_the_steps_of_its_plan(shipped):
    issued = [(entry["timestamp_ms"] // 100) for entry in shipped.entries("CAPABILITY_ISSUED")]
    assert issued[:4] == [0, 3, 6, 9]
    assert notes(shipped)[:4] == [
        (0, "allow_with_constraints", "narrowed:move"),
        (0, "allow_with_constraints", "mode:simulated"),
        (1, "allow", "step:1"),
        (2, "allow", "step:2"),
    ]
    assert executed(shipped)[:9] == [True] * 9
    actions = [commit["proposals"][0]["action"] for commit in shipped.of("commit")[:9]]
    assert {action["op"] for action in actions} == {"move"}


def test_what_is_asked_for_beyond_is_cut_off(shipped):
    """The agent asks for five calls in 300 ms that last a second; three are granted, for 300 ms."""
    first = shipped.entries("CAPABILITY_ISSUED")[0]
    assert first["kernel_decision"]["verdict"] == "allow_with_constraints"
    (token,) = first["capability_tokens"]
    assert token["scope"] == {
        "allowed_ops": ["move"], "rate_limit": {"max_calls": 3, "per_ms": 300}, "expiry_ms": 300
    }  # fmt: skip
    assert token["expires_at_ms"] == token["issued_at_ms"] + 300


@pytest.mark.medium
def test_an_agent_that_asks_for_as_much_as_is_granted_is_allowed(go):
    found = go("axion-plans", "honest", "probes=[]")
    assert {verdict for _, verdict, _ in notes(found)} == {"allow"}


def test_the_state_is_that_of_a_step_each(go, shipped):
    """Steps under one token lead to what tokens of their own lead to."""
    apart = go("axion-plans", "honest", "probes=[]")
    assert [step["after"] for step in shipped.of("step")] == [step["after"] for step in apart.of("step")]


@pytest.mark.medium
@pytest.mark.parametrize("calls", [1, 2])
def test_a_token_covers_no_more_than_max_calls(go, calls):
    """The rest of the plan is not tried: its token is used up, and the agent is asked again."""
    found = go("axion-plans", "planner", "probes=[]", f"{MOVE}max_calls={calls}", f"{MOVE}per_ms=100", "horizon=6",
               "agent.narration.requests.per_ms=100")  # fmt: skip
    assert [entry["timestamp_ms"] // 100 for entry in found.entries("CAPABILITY_ISSUED")] == list(range(0, 6, calls))
    assert refusals(found) == []


def submitted(steps):
    """The steps instead of the plan of the first document."""

    def change(t, document):
        if t == 0:
            document["payload"]["plan"]["steps"][1:] = steps
        return document

    return change


@pytest.mark.medium
def test_a_step_of_another_operation_is_refused(go):
    change = submitted([{"op": "wait", "args": {}}, {"op": "move", "args": {"dir": "E"}}])
    found = go("axion-plans", "planner", "probes=[]", "horizon=3", change=change)
    assert refusals(found) == [(1, "refused:wrong_op")]
    assert executed(found) == [True, None, True]
    assert [len(step["decisions"][0]["rejected"]) for step in found.of("step")] == [0, 1, 0]


def test_a_step_that_the_world_does_not_know_passes_no_gate(go):
    change = submitted([{"op": "move", "args": {"dir": "up"}}])
    found = go("axion-plans", "planner", "probes=[]", "horizon=3", change=change)
    assert (1, "deny", "step:1") in notes(found)
    assert executed(found) == [True, None, True]


class Watching(KernelController):
    """A controller that calls a function before each decision."""

    def __init__(self, plan, meddle):
        super().__init__(plan, plan.actors[0])
        self._meddle = meddle

    def events_at(self, place, moment):
        yield from super().events_at(place, moment)
        if place == "before_propose":
            self._meddle(self, moment)


def meddled(found_type, meddle, scenario="specs/scenario/axion-plans.yaml"):
    plan = compile_scenario(load(scenario, set=["probes=[]", "horizon=4"])[0])
    return found_type(list(run(plan, controllers=[Watching(plan, meddle)])))


@pytest.mark.medium
def test_a_token_that_is_revoked_in_mid_plan_ends_it(shipped):
    def revoke(controller, moment):
        if moment.t == 1:
            controller.acting.revoke(controller.active.token["revocation_id"])

    found = meddled(type(shipped), revoke)
    assert refusals(found) == [(1, "refused:revoked")]
    assert executed(found) == [True, None, True, True]
    assert len(found.entries("CAPABILITY_ISSUED")) == 2


@pytest.mark.medium
def test_a_drift_ends_a_plan(tmp_path, shipped):
    """The state is not the one that the plan was made for, so the agent is asked again, and nothing is refused."""
    drift = "spec: drift/v1\nname: quake\nat: t == 1\neffects: [{set: self.energy, to: self.energy - 1}]\n"
    scenario = "spec: scenario/v1\nname: shaken\nextends: axion-plans\ndrift: [./quake.yaml]\n"
    (tmp_path / "quake.yaml").write_text(drift, encoding="utf-8")
    (tmp_path / "shaken.yaml").write_text(scenario, encoding="utf-8")
    found = meddled(type(shipped), lambda controller, moment: None, scenario=str(tmp_path / "shaken.yaml"))
    assert [body["t"] for body in found.of("drift")] == [1]
    assert [entry["timestamp_ms"] for entry in found.entries("CAPABILITY_ISSUED")] == [0, 100]
    assert refusals(found) == []
    assert executed(found) == [True] * 4


@pytest.mark.medium
def test_no_probe_is_made_where_nobody_was_asked(go):
    found = go("axion-plans", "planner", "probes.p4-bypass.steps=20")
    asked = {0} | {body["timestamp_ms"] // 100 for body in found.entries("CAPABILITY_ISSUED")}
    assert {body["t"] for body in found.probes("p4-bypass")} == asked < set(range(20))


PLANNER = """
import hashlib, json
from pathlib import Path

MODE, SAID = "@mode@", {}
PLANS = {json.dumps(one["env"], sort_keys=True): one for one in json.loads(Path("plans.json").read_text())}


def answer(message):
    kind = message["type"]
    if kind == "hello":
        can = [] if MODE == "does not say so" else ["plans"]
        return {"type": "hello", "name": "planner", "deterministic": True, "can": can}
    if kind == "reveal":
        return SAID[message["commitment"]]
    if kind not in ("decide", "ask"):
        return {"type": "ready"}
    document = PLANS.get(json.dumps(message["env"], sort_keys=True))
    if document is None:
        return {"type": "statement", "action": {"op": "wait"}, "claims": []}
    action, *then = [{"op": step["op"], **step["args"]} for step in document["payload"]["plan"]["steps"]]
    claims = [
        {"variable": one["mutation"]["var"], "becomes": one["mutation"]["new_value"], "choice": one["predicted_outcome"]["choice"]}
        for one in document["trace"]["counterfactuals"]
    ]
    if MODE == "flies":
        then = [{"op": "fly"}]
    payload = {"action": action, "claims": claims, **({"then": then} if then else {})}
    nonce = bytes([message["id"] % 256]) * 16
    data = nonce + json.dumps(payload, sort_keys=True, separators=(",", ":")).encode()
    commitment = hashlib.sha256(data).hexdigest()
    shown = payload if MODE != "shows no plan" else {"action": action, "claims": claims}
    SAID[commitment] = {"type": "reveal", "nonce": nonce.hex(), "payload": shown}
    return {"type": "statement", **payload, "commitment": commitment}
"""
OPENS = "spec: probe/v1\nname: opens\nat: after_commit\nchallenge: {of: counterfactuals, demand: [reveal]}\nexpect: 'true'\n"


def outside(folder, shipped, mode):
    """The planner from outside: it states the plans of the shipped one; with a probe that its commitments open."""
    said = [one["proposals"][0]["document"] for one in shipped.of("commit")]
    documents = [json.loads(text) for text in said if text.startswith("{")]  # a further step has a hash in its place
    (folder / "plans.json").write_text(json.dumps(documents))
    (folder / "stated.py").write_text(PLANNER.replace("@mode@", mode))
    (folder / "opens.yaml").write_text(OPENS)
    (folder / "stated.yaml").write_text(
        "spec: agent/v1\nname: stated\noutside: {python: 'stated:answer', requests: {max_calls: 5, per_ms: 300, expiry_ms: 1000}}\n"
    )
    (folder / "own.yaml").write_text(
        "spec: scenario/v1\nname: own\nextends: axion-plans\nagent: stated.yaml\nprobes: [opens.yaml]\nhorizon: 6\n"
    )
    finished = run_outside(folder, "own.yaml", "governor.admission.watchdog_ms=20000")
    return type(shipped)([Event(one["type"], one["body"]) for one in receipts_of(finished.place)])


@pytest.mark.medium
def test_a_plan_that_is_stated_from_outside_is_executed_as_that_of_a_spec_is(tmp_path, shipped):
    found = outside(tmp_path, shipped, "plans")
    assert [step["after"] for step in found.of("step")] == [step["after"] for step in shipped.of("step")[:6]]
    assert [entry["timestamp_ms"] // 100 for entry in found.entries("CAPABILITY_ISSUED")] == [0, 3]
    assert found.entries("CAPABILITY_ISSUED")[0]["kernel_decision"]["verdict"] == "allow_with_constraints"
    assert [body["evidence"].get("revealed") for body in found.probes("opens")] == [True, True]


@pytest.mark.medium
@pytest.mark.parametrize(("mode", "reason"), [("does not say so", "not_declared"), ("flies", "unknown_action")])
def test_a_plan_that_cannot_be_one_is_denied(tmp_path, shipped, mode, reason):
    found = outside(tmp_path, shipped, mode)
    rejected = [one["reason"] for step in found.of("step") for one in step["decisions"][0]["rejected"]]
    assert rejected == [reason] * 6


@pytest.mark.medium
def test_the_further_steps_of_a_plan_are_committed_to(tmp_path, shipped):
    found = outside(tmp_path, shipped, "shows no plan")
    assert {(body["verdict"], body["cause"]) for body in found.probes("opens")} == {("FAIL", "commitment")}


@pytest.mark.medium
@pytest.mark.parametrize("name", ["issue", "act"])
def test_a_token_that_is_refused_is_a_rejection_of_what_was_chosen_and_the_run_goes_on(monkeypatch, name):
    own, calls = getattr(KernelController, name), []

    def refuse_the_second(self, *words):
        calls.append(words)
        if len(calls) == 2:
            raise Refused("no_ruling")
        return own(self, *words)

    monkeypatch.setattr(KernelController, name, refuse_the_second)
    (bundle,) = load("axion-basic", kind="scenario", set=["episodes=1", "horizon=4", "probes=[]"])
    events = list(run(compile_scenario(bundle)))
    steps = [event.body for event in events if event.type == "step"]
    rejected = [[one for made in step["decisions"] for one in made["rejected"]] for step in steps]
    assert rejected == [[], [{"gate": "token", "reason": "no_ruling", "witness": {}}], [], []]
    assert [step["chosen"] is None for step in steps] == [False, True, False, False]
    assert steps[1]["after"] == steps[1]["before"] == steps[0]["after"]
    assert [event.body["gates"]["token"] for event in events if event.type in ("episode_end", "end")] == [1, 1]
