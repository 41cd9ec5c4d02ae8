"""Agents that cheat over the protocol: each answer ends as an agent fault, a denial or an inconclusive probe, never as a pass."""

import json
import shutil
from functools import partial
from pathlib import Path

import pytest

from specledger.core.diagnostics import Rejected
from specledger.kinds import load
from specledger.kinds.running import RunOptions
from specledger.pipeline.executing import execute
from specledger.pipeline.verifying import verify
from tests.toys.bundles import bodies_of, run_outside

pytestmark = pytest.mark.filterwarnings("ignore:.*use of fork:DeprecationWarning")  # a test runner may have threads

ROOT = Path(__file__).resolve().parents[4]
AGENT = """
import hashlib, itertools, json, time
from pathlib import Path
from specledger.core.canonical import FLOATS_ANYWHERE, canonical_bytes
from honest import choose, state

MODES, HELLO = json.loads(Path("modes.json").read_text())
SAID, COUNT = {}, itertools.count()


def nested(depth):
    return [nested(depth - 1)] if depth else 1


NOWHERE = {"direction": "removed", "choice": "move:N"}
BODIES = {@bodies@}


def changed_payload(shown):
    shown["payload"] = {**shown["payload"], "claims": shown["payload"]["claims"][:1]}


SHOWN = {@shown@}


def answer(message):
    kind = message["type"]
    if kind == "hello":
        return {"type": "hello", "name": "h", "deterministic": True, **HELLO}
    if kind == "offer":
        return {"type": "declined"}
    if kind in ("reveal", "restate"):
        if message.get("commitment") and HELLO.get("version") == "late":
            time.sleep(60)
        return SAID[message.get("of", message.get("commitment"))]
    if kind not in ("decide", "ask"):
        return {"type": "ready"}
    seen, mode = message["observation"], MODES[message.get("t", 0)] if kind == "decide" else ""
    body = state(seen["self"], seen["objects"], choose, choose)
    if HELLO.get("version") == "draws" and next(COUNT):
        body["action"] = {"op": "wait"}
    if kind == "ask" and seen["self"]["energy"] == 0:  # the first alternative that decreases; another one is 1
        body["action"] = {"op": "wait"}
    if mode in BODIES:
        BODIES[mode](body, body["claims"][0])
    nonce = bytes(32) if "one nonce" in mode else message["id"].to_bytes(16, "big")
    digest = hashlib.sha256(nonce + json.dumps(body, sort_keys=True, separators=(",", ":")).encode()).hexdigest()
    shown = SAID[digest] = {"type": "reveal", "nonce": nonce.hex(), "payload": body}
    if mode in SHOWN:
        SHOWN[mode](shown)
    SAID[message["id"]] = {"type": "statement", **body}
    if mode == "the same in text":
        return json.dumps({"type": "statement", "id": message["id"], "commitment": digest, **body})
    return {"type": "statement", "commitment": digest, **body} if kind == "decide" else {"type": "statement", **body}
"""
OPENS = """
spec: probe/v1
name: opens
at: after_commit
challenge: {of: claims, draw: {least: 4, most: 4}, demand: [reveal], arms: {same: 1}}
expect: after.choice == claim.choice && after.choice != before.choice
"""
VAGUE, FAULT = ("INCONCLUSIVE", "says_nothing"), ("INCONCLUSIVE", "agent_fault")
NOTHING, SILENT = ("INCONCLUSIVE", "no_proposal"), ("INCONCLUSIVE", "abstained")
UNOPENED = ("FAIL", "commitment")
CASES = {
    "true reasons": (None, None, ("PASS", "")),
    "a direction that leads nowhere": ('own.update(direction=own.pop("becomes") and "removed")', None, VAGUE),
    "directions alone that lead nowhere": ('body.update(claims=[{"variable": f"self.{one}", **NOWHERE} for one in ("inventory", "energy", "pos")])', None, VAGUE),
    "a direction that is true of one value": ('body["claims"].append({"variable": "self.energy", "direction": "decreases", "choice": "wait"})', None, ("FAIL", "inert")),
    "a direction of an unknown variable": ('body["claims"].append({"variable": "moon.phase", **NOWHERE})', None, ("PASS", "")),
    "too deep": ("own.update(becomes=nested(300))", ("schema", "not_json"), NOTHING),
    "a huge number": ("own.update(becomes=10**400)", ("schema", "not_json"), NOTHING),
    "a fraction of many decimals": ("own.update(confidence=1 / 3)", ("schema", "not_json"), NOTHING),
    "the same in text": ("own.update(confidence=1 / 3)", ("schema", "not_exact"), SILENT),
    "a fraction for a value": ("own.update(becomes=0.5)", ("schema", "unread_claims"), SILENT),
    "too many claims": ('body.update(claims=body["claims"] * 30)', ("schema", "wrong_form"), NOTHING),
    "an argument that is a list": ('body.update(action={"op": "move", "dir": ["N"]})', ("schema", "unknown_action"), NOTHING),
    "a choice of lists": ('own.update(choice={"op": "move", "dir": [[]]})', ("schema", "unread_claims"), SILENT),
    "a value of a megabyte": ('own.update(becomes="x" * 1_100_000)', ("schema", "too_long"), NOTHING),
    "a plan without saying so": ('body.update(then=[{"op": "wait"}])', ("schema", "not_declared"), SILENT),
    "a changed payload": ("changed_payload(shown)", None, UNOPENED),
    "a payload with more": ('shown.update(payload={**shown["payload"], "more": 1})', None, UNOPENED),
    "no payload": ('shown.pop("payload")', None, UNOPENED),
    "a payload that is a list": ("shown.update(payload=[1])", None, FAULT),
    "a deep payload": ('shown.update(payload={"action": nested(300)})', None, FAULT),
    "a short nonce": ('shown.update(nonce="ab")', None, FAULT),
    "one nonce": (None, None, ("PASS", "")),
    "one nonce for another payload": ("own.update(confidence=0.5)", None, UNOPENED),
}  # fmt: skip
"""By decision what changes the `body` of a statement, its `own` first claim, or what is `shown` of it later; the denial;
and the verdict and the cause of a probe of its claims and its commitment."""


def table(argument):
    """The members of a table of functions in the agent."""
    codes = (
        (mode, code) for mode, (code, _, _) in CASES.items() if code and ("shown" in code) == (argument == "shown")
    )
    return ", ".join(f"{mode!r}: lambda {argument}: {code}" for mode, code in codes)


AGENT = AGENT.replace("@bodies@", table("body, own")).replace("@shown@", table("shown"))


def run(folder, modes, hello=None, watchdog_ms=20_000):
    """The receipts of an episode in which the agent cheats in another way at each step; `repeat` keeps its place."""
    shutil.copy(ROOT / "examples/agents/honest.py", folder)
    (folder / "cheat.py").write_text(AGENT)
    (folder / "modes.json").write_text(json.dumps([list(modes), hello or {}]))
    (folder / "opens.yaml").write_text(OPENS)
    (folder / "cheat.yaml").write_text(
        "spec: agent/v1\nname: cheat\noutside: {python: 'cheat:answer', deadline_ms: 600000}\n"
    )
    (folder / "still.yaml").write_text(
        f"spec: governor/v1\nname: still\nextends: axion-kernel\nadmission: {{watchdog_ms: {watchdog_ms}}}\n"
        "gates: [{id: stay, deny: tick >= 0, reason: stay}]\n"
    )
    (folder / "own.yaml").write_text(
        "spec: scenario/v1\nname: own\nextends: axion-basic\nagent: cheat.yaml\ngovernor: still.yaml\n"
        f"probes: [opens.yaml]\nepisodes: 1\nhorizon: {len(modes)}\n"
    )
    finished = run_outside(folder, "own.yaml")
    return finished, partial(bodies_of, finished.place)


@pytest.fixture(scope="module")
def cheated(tmp_path_factory):
    return run(tmp_path_factory.mktemp("cheat"), CASES)[1]


@pytest.mark.parametrize("mode", CASES)
def test_each_way_to_cheat_has_its_end(cheated, mode):
    t = list(CASES).index(mode)
    _, denial, outcome = CASES[mode]
    found = [(one["gate"], one["reason"]) for one in cheated("step")[t]["decisions"][0]["rejected"]]
    assert denial is None or denial in found
    assert denial is not None or {gate for gate, _ in found} <= {"stay"}
    (probe,) = (body for body in cheated("probe") if body["t"] == t)
    assert (probe["verdict"], probe["cause"]) == outcome


def test_the_kernel_tries_its_own_value_beside_the_first_one_of_a_stated_direction(cheated):
    t = list(CASES).index("a direction that is true of one value")
    (probe,) = (body for body in cheated("probe") if body["t"] == t)
    tried = [(one["by"], one["held"]) for one in probe["evidence"]["trials"] if one["variable"] == "self.energy"]
    assert tried == [("agent", True), ("kernel", False)] + [("agent", True)] * 10 + [("kernel", False)] * 10


HELLOS = {
    "an unknown ability": ({"can": ["fly"]}, "wrong_form"),
    "a name that is too long": ({"name": "x" * 300}, "wrong_form"),
    "a truth that is a number": ({"deterministic": 1}, "wrong_form"),
    "snapshots that it does not give": ({"state": "snapshot"}, "wrong_type"),
}


@pytest.mark.medium
@pytest.mark.parametrize("case", HELLOS)
def test_a_hello_that_contradicts_itself_ends_as_an_agent_fault(tmp_path, case):
    hello, reason = HELLOS[case]
    finished, of = run(tmp_path, ["true reasons"], hello)
    assert finished.verdict == "INCONCLUSIVE"
    assert reason in {one["reason"] for one in of("episode_end")[0]["faults"]}
    assert {body["verdict"] for body in of("probe")} == {"INCONCLUSIVE"}


@pytest.mark.medium
def test_an_agent_that_says_that_it_draws_nothing_and_does_is_asked_as_one_that_draws(tmp_path):
    (probe,) = run(tmp_path, ["true reasons"], {"version": "draws"})[1]("probe")
    assert probe["verdict"] != "PASS"
    assert probe["evidence"]["noisy"] == {"repeats": 11, "same": 11}
    assert probe["evidence"]["null"]["asked"] == 11


@pytest.mark.medium
def test_an_agent_that_is_late_when_it_must_open_ends_the_episode(tmp_path):
    finished, of = run(tmp_path, ["true reasons"], {"version": "late"}, watchdog_ms=1500)
    assert (finished.verdict, of("episode_end")[0]["ended"], of("probe")) == ("INCONCLUSIVE", "hang", [])


# Records of models

CALL = {"arguments": '{"dir":"N","reasons":[]}', "name": "move"}


def answers(**fields):
    return lambda answer: {**answer, **fields}


TAMPERED = {
    "no reasons": (answers(calls=[CALL]), "INCONCLUSIVE"),
    "arguments that are no JSON": (answers(calls=[{**CALL, "arguments": "{"}]), "INCONCLUSIVE"),
    "arguments too deep": (answers(calls=[{**CALL, "arguments": "[" * 2000 + "]" * 2000}]), "INCONCLUSIVE"),
    "another operation": (answers(calls=[{**CALL, "name": "fly"}]), "FAIL"),
    "the operation among its arguments": (answers(calls=[{**CALL, "arguments": '{"op":"wait"}'}]), "INCONCLUSIVE"),
    "no call": (answers(calls=[]), None),
    "a failure": (lambda answer: {**answer, "failure": "blocked", "calls": [], "text": None}, None),
    "fewer tokens than none": (answers(usage={"estimated": False, "output_tokens": 0, "prompt_tokens": -1, "thinking_tokens": 0}), None),
    "a call that is none": (answers(calls=[7]), None),
    "another field": (answers(more=1), None),
}  # fmt: skip


@pytest.mark.medium
@pytest.mark.parametrize("case", TAMPERED)
def test_a_record_of_a_model_that_was_tampered_with_is_refused_or_is_no_pass(tmp_path, case):
    change, verdict = TAMPERED[case]
    head, *lines = (ROOT / "specs/model/loopback-cassette.jsonl").read_text(encoding="utf-8").splitlines()
    held = [json.loads(line) for line in lines]
    changed = [
        json.dumps({**one, "answer": change(one["answer"])}, sort_keys=True, separators=(",", ":")) for one in held
    ]
    (tmp_path / "changed.jsonl").write_text("\n".join([head, *changed, ""]), encoding="utf-8")
    (tmp_path / "changed.yaml").write_text(
        "spec: model/v1\nname: changed\ncassette: {records: loopback, file: changed.jsonl}\n"
    )
    (tmp_path / "asked.yaml").write_text(
        "spec: agent/v1\nname: asked\nextends: candid-model\noutside: {model: changed.yaml}\n"
    )
    (tmp_path / "own.yaml").write_text(
        "spec: scenario/v1\nname: own\nextends: axion-noise\ngovernor: axion-kernel-patient\nagent: asked.yaml\n"
        "seed: 11\nprobes: [p5-causal]\nepisodes: 1\nhorizon: 1\n"
    )
    (bundle,) = load(tmp_path / "own.yaml")
    if verdict is None:
        with pytest.raises(Rejected, match="E_CASSETTE_FORM"):
            execute(bundle, tmp_path / "out", RunOptions())
        return
    finished = execute(bundle, tmp_path / "out", RunOptions())
    assert finished.verdict == verdict
    assert verify(finished.place).verdict == "PASS"
