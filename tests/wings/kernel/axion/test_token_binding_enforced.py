"""No token, no actuation: every way into the toy environment is walked, and none acts without a token that fits."""

import ast
import copy
import json
import re
import sys
from collections import Counter
from functools import cache
from pathlib import Path

import pytest
from msgspec.structs import force_setattr, replace

from specledger.compile.scenario import compile_scenario
from specledger.core.canonical import canonical_bytes
from specledger.core.digest import hash_json
from specledger.gates.capability import Refused
from specledger.kinds import load
from specledger.run.loop import run
from specledger.wings.kernel.documents.digests import proposal_hash, receive, scope_hash, trace_commit, world_action
from specledger.wings.kernel.documents.schemas import axion
from specledger.wings.kernel.documents.signatures import sign_by_secret
from specledger.wings.kernel.documents.tokens import Asked, TokenActuator
from specledger.wings.kernel.run.controller import KernelController

ROOT = Path(__file__).resolve().parents[4]
PROPOSAL = json.loads((ROOT / "fixtures/axion/proposal.json").read_bytes())
SCOPE = PROPOSAL["requested_capabilities"][0]["scope"]
SUBMISSION = receive(PROPOSAL)
SOUTH, TAKE = (world_action(PROPOSAL["payload"]["plan"]["steps"][index]) for index in (0, 2))
SIGN = sign_by_secret(1, "episode", 0)
NOW = 300


class Environment:
    """A world whose only door is an actuator: the step function is kept nowhere else."""

    def __init__(self):
        self.executed = []
        self.actuator = TokenActuator(self._step, SIGN)

    def _step(self, state, op, action, inputs):
        self.executed.append(action)
        return {"tick": state["tick"] + 1}, {}


@pytest.fixture
def env():
    return Environment()


def issue(env, *, scope=SCOPE, submission=SUBMISSION, at_ms=NOW):
    return env.actuator.issue(submission, "move", scope, at_ms)


def attempt(env, token, *, index=0, submission=SUBMISSION, action=SOUTH, scope=SCOPE, at_ms=NOW):
    return env.actuator.act(token, index, submission, Asked(action, scope_hash(scope), at_ms), {"tick": 3}, {})


def changed(**changes):
    """The proposal with other fields, its commitment made anew where the trace was changed."""
    document = copy.deepcopy(PROPOSAL)
    for place, value in changes.items():
        *within, last = place.split("__")
        holder = document
        for key in within:
            holder = holder[int(key)] if isinstance(holder, list) else holder[key]
        holder[last] = value
    document["trace"]["trace_commit"] = trace_commit(document["trace"])
    return document


def resigned(token, **changes):
    """A forgery by somebody who knows the secret, as everybody does who can replay the run."""
    forged = {**copy.deepcopy(token), **changes}
    del forged["signature"]
    return {**forged, "signature": SIGN(canonical_bytes(forged))}


def spent(env):
    token = issue(env)
    attempt(env, token)
    env.executed.clear()
    return token


def revoked(env):
    token = issue(env)
    env.actuator.revoke(token["revocation_id"])
    return token


def exhausted(env):
    scope = {**SCOPE, "rate_limit": {"max_calls": 1, "per_ms": 1}}
    token = issue(env, scope=scope)
    attempt(env, token, scope=scope)
    env.executed.clear()
    return token


def hasty(env):
    """The second token of a capability whose rate is one call in a second."""
    scope = {**SCOPE, "rate_limit": {"max_calls": 1, "per_ms": 1000}}
    attempt(env, issue(env, scope=scope), scope=scope)
    env.executed.clear()
    return issue(env, scope=scope, at_ms=NOW + 100)


ONCE = {**SCOPE, "rate_limit": {"max_calls": 1, "per_ms": 1}}
ONE_A_SECOND = {**SCOPE, "rate_limit": {"max_calls": 1, "per_ms": 1000}}
WIDER = {**SCOPE, "allowed_ops": [*SCOPE["allowed_ops"], "use_tool"]}
OTHER_PLAN = receive(changed(payload__plan={"steps": [{"op": "move", "args": {"dir": "N"}}]}))
OTHER_TRACE = receive(changed(trace__nodes=PROPOSAL["trace"]["nodes"][:1]))
SAME_HASH = copy.copy(SUBMISSION)
force_setattr(SAME_HASH, "trace_hash", OTHER_TRACE.trace_hash)

WAYS = {
    "no token": (lambda env: None, {}, "no_token"),
    "no token, though one was issued": (lambda env: issue(env) and None, {}, "no_token"),
    "an empty token": (lambda env: {}, {}, "unknown"),
    "a token without an identifier": (lambda env: {**issue(env), "token_id": ["x"]}, {}, "unknown"),
    "a token that was never issued": (lambda env: resigned(issue(env), token_id="12345678-1234-5234-8234-123456789abc"), {}, "unknown"),
    "a token of another episode": (lambda env: issue(Environment()), {}, "unknown"),
    "a token with a broken signature": (lambda env: {**issue(env), "signature": "0" * 64}, {}, "unknown"),
    "a token with a field more": (lambda env: {**issue(env), "more": 1}, {}, "unknown"),
    "a token that holds no JSON": (lambda env: {**issue(env), "scope": {1, 2}}, {}, "unknown"),
    "a wider scope written in and signed": (lambda env: resigned(issue(env), scope=WIDER), {"scope": WIDER}, "unknown"),
    "a later end written in and signed": (lambda env: resigned(issue(env), expires_at_ms=10**9), {"at_ms": 10**8}, "unknown"),
    "another proposal written in and signed": (
        lambda env: resigned(issue(env), binding={**issue(env)["binding"], "proposal_hash": OTHER_PLAN.proposal_hash}),
        {"submission": OTHER_PLAN, "action": {"op": "move", "dir": "N"}}, "unknown",
    ),
    "a revoked token": (revoked, {}, "revoked"),
    "an expired token": (issue, {"at_ms": NOW + SCOPE["expiry_ms"]}, "expired"),
    "a token of the future": (issue, {"at_ms": NOW - 1}, "expired"),
    "another proposal": (issue, {"submission": OTHER_PLAN, "action": {"op": "move", "dir": "N"}}, "wrong_proposal"),
    "the same plan for other reasons": (issue, {"submission": OTHER_TRACE}, "wrong_proposal"),
    "a proposal that cannot be hashed": (issue, {"submission": receive(b"{")}, "wrong_proposal"),
    "no proposal": (issue, {"submission": receive(None)}, "wrong_proposal"),
    "another trace under the proposal's hash": (issue, {"submission": SAME_HASH}, "wrong_trace"),
    "another scope": (issue, {"scope": WIDER}, "wrong_scope"),
    "another operation": (issue, {"action": {"op": "use_tool", "id": "rope"}}, "wrong_op"),
    "no operation": (issue, {"action": {"dir": "S"}}, "wrong_op"),
    "the same operation with other arguments": (issue, {"action": {"op": "move", "dir": "N"}}, "wrong_action"),
    "an argument more": (issue, {"action": {**SOUTH, "fast": True}}, "wrong_action"),
    "an argument less": (issue, {"action": {"op": "move"}}, "wrong_action"),
    "an argument that is no JSON": (issue, {"action": {"op": "move", "dir": {"S"}}}, "wrong_action"),
    "a later step in an earlier one's place": (issue, {"action": TAKE}, "wrong_action"),
    "a step behind the plan": (issue, {"index": 3}, "wrong_action"),
    "a step before the plan": (issue, {"index": -1, "action": TAKE}, "wrong_action"),
    "a spent step": (spent, {}, "spent"),
    "one step more than max_calls": (exhausted, {"index": 1, "scope": ONCE}, "exhausted"),
    "one call more than the rate": (hasty, {"index": 1, "scope": ONE_A_SECOND, "at_ms": NOW + 100}, "rate"),
}  # fmt: skip


def test_the_token_that_was_issued_for_it_executes_a_step(env):
    assert attempt(env, issue(env)) == ({"tick": 4}, {})
    assert env.executed == [SOUTH]


@pytest.mark.parametrize(("obtain", "how", "reason"), WAYS.values(), ids=WAYS)
def test_no_way_acts_without_a_token_that_fits(env, obtain, how, reason):
    token = obtain(env)
    for _ in range(2):
        with pytest.raises(Refused) as refused:
            attempt(env, token, **how)
        assert refused.value.reason == reason
    assert env.executed == []


def test_every_code_of_a_refusal_is_walked():
    module = (ROOT / "engine/specledger/wings/kernel/documents/tokens.py").read_text(encoding="utf-8")
    assert set(re.findall(r'raise Refused\("(\w+)"\)', module)) == {reason for _, _, reason in WAYS.values()}


def test_one_line_of_the_kernel_executes_and_it_stands_behind_every_check():
    """By construction: the step function is held by the actuator, called once, last in `act`, and handed to nobody."""
    tree = ast.parse((ROOT / "engine/specledger/wings/kernel/documents/tokens.py").read_text(encoding="utf-8"))
    holders = [node for node in ast.walk(tree) if isinstance(node, ast.Attribute) and node.attr == "_step"]
    stored = [node for node in holders if isinstance(node.ctx, ast.Store)]
    called = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and node.func in holders]
    assert (len(holders), len(stored), len(called)) == (2, 1, 1)
    (act,) = (
        node
        for owner in ast.walk(tree) if isinstance(owner, ast.ClassDef) and owner.name == "TokenActuator"
        for node in owner.body if isinstance(node, ast.FunctionDef) and node.name == "act"
    )  # fmt: skip
    last = act.body[-1]
    assert isinstance(last, ast.Return)
    assert last.value is called[0]


def test_an_actuator_has_no_other_public_way():
    assert {name for name in vars(TokenActuator) if not name.startswith("_")} == {"issue", "revoke", "act"}


def test_hashes_are_those_of_the_seed():
    assert receive(PROPOSAL).problem is None
    assert SUBMISSION.proposal_hash == proposal_hash(PROPOSAL) == hash_json(PROPOSAL, axion().floats("proposal"))
    trace = {name: value for name, value in PROPOSAL["trace"].items() if name != "trace_commit"}
    assert SUBMISSION.trace_hash == PROPOSAL["trace"]["trace_commit"] == hash_json(trace, axion().floats("trace"))


HOLDERS = {
    ("compile/actor.py", "compile_actor", "compile_step"): "makes it, for the plan",
    ("compile/actor.py", "around_of", "compile_step"): "makes it, for agents that predict; they act on what they see",
    ("run/controller.py", "begin", "step"): "the actuator of bare proposals",
    ("wings/kernel/run/controller.py", "begin", "step"): "the token actuator",
    ("wings/kernel/run/document_agent.py", "offer", "step"): "what an offer would lead to, on a clone",
    (
        "verify/judge.py",
        "__init__",
        "step",
    ): "what each proposal would have led to, for the second evaluator; nothing keeps it",
    (
        "report/states.py",
        "states_from_start",
        "step",
    ): "the states of a run that a page shows, made again; nothing keeps them",
    (
        "run/invariants.py",
        "foresee",
        "step",
    ): "what the only proposal of a guarded conversation would break; nothing keeps it",
    ("worlds/known.py", "recorded_step", "compile_step"): "makes it, of states with unknown members, for the plan",
    ("worlds/known.py", "known_step", "compile_step"): "makes it, of the parts of such a world",
    ("run/chance.py", "follow", "step"): "acts once more with a result that is drawn",
    ("run/episode.py", "_refuse", "step"): "what a refused step would have led to, for its part's receipt",
}


def holders():
    """(module, function, name) of everything in the engine that makes, takes or hands on the step of an actor."""
    found = set()
    for path in sorted((ROOT / "engine/specledger").rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        for function in ast.walk(ast.parse(text)) if ".step" in text or "compile_step" in text else ():
            if not isinstance(function, ast.FunctionDef):
                continue
            for node in ast.walk(function):
                kept = (
                    isinstance(node, ast.Attribute)
                    and node.attr == "step"
                    and re.search(r"actors?(\[.*\])?$", ast.unparse(node.value))
                )
                made = isinstance(node, ast.Name) and node.id == "compile_step"
                if kept or made:
                    module = str(path.relative_to(ROOT / "engine/specledger"))
                    found.add((module, function.name, "step" if kept else "compile_step"))
    return found


@pytest.mark.medium
def test_every_holder_of_the_step_is_known():
    assert holders() == set(HOLDERS)


@cache
def planned(*sets):
    offers = ("probes.p3-audit.steps=20", "probes.p4-bypass.steps=20", "probes.p6-token.steps=20")
    return compile_scenario(
        load("specs/scenario/axion-resource.yaml", set=["agent=pseudo", "with.seed=2", *offers, *sets])[0]
    )


def walked(plan, controller=None):
    """A run, and how often each function of the engine executed the step."""
    callers: Counter[str] = Counter()

    def step(state, op, action, inputs):
        callers[sys._getframe(1).f_code.co_name] += 1
        before = canonical_bytes(state)
        made = plan.actors[0].step(state, op, action, inputs)
        assert canonical_bytes(state) == before  # nobody changes a state in place, so that a clone is as good as any
        return made

    stepped = replace(plan, actors=(replace(plan.actors[0], step=step),))
    return list(run(stepped, controllers=controller and [controller(stepped, stepped.actors[0])])), callers


@pytest.mark.medium
def test_each_execution_is_that_of_a_token():
    events, callers = walked(planned())
    steps = [event.body for event in events if event.type == "step"]
    tokens = [t for e in events if e.type == "audit" for t in e.body["capability_tokens"]]
    acted = [body for body in steps if body["before"] != body["after"]]
    assert callers["act"] == len(acted) == len(tokens) > 0
    assert callers["offer"] > 0
    assert set(callers) == {"act", "offer"}


class Revoking(KernelController):
    """A controller whose every token is revoked before anybody can use it."""

    def events_at(self, place, moment):
        if place == "after_token" and moment.token is not None:
            self.acting.revoke(moment.token.token["revocation_id"])
        yield from super().events_at(place, moment)


NOTHING_GRANTED = ("governor.admission.grants={}", "governor.admission.free={}")


@pytest.mark.medium
@pytest.mark.parametrize(
    ("sets", "controller"),
    [(NOTHING_GRANTED, None), ((), Revoking)],
    ids=["nothing is granted", "every token is revoked"],
)
def test_without_a_token_nothing_of_a_whole_run_acts(sets, controller):
    """The agent predicts and decides, every offer is made and taken, probes ask on clones: the state stays."""
    events, callers = walked(planned(*sets), controller)
    (start,) = (event.body["digest"] for event in events if event.type == "episode")
    steps = [event.body for event in events if event.type == "step"]
    assert len(steps) == 20
    assert {(body["chosen"], body["before"], body["after"]) for body in steps} == {(None, start, start)}
    assert callers["act"] == 0
    taken = [event.body for event in events if event.type == "probe" and event.body["evidence"].get("taken")]
    assert {body["probe"] for body in taken} >= {"p4-bypass"}
