"""Agents from outside under a kernel with probes: the documented ones, agents with a state, and hostile ones."""

import json
import os
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from specledger.core.verdict import Verdict
from specledger.evidence.layout import TAPE
from specledger.gates.documents import shipped_schemas
from specledger.kinds import load
from specledger.kinds.running import RunOptions
from specledger.pipeline.executing import execute
from specledger.pipeline.trying import try_agent, with_agent
from specledger.pipeline.verifying import verify
from specledger.run.session import ANSWERS
from tests.loopback_model import obedient
from tests.toys.bundles import bodies_of
from tests.unit.oracles.loopback import Service

pytestmark = pytest.mark.filterwarnings("ignore:.*use of fork:DeprecationWarning")  # a test runner may have threads

PAGE = Path(__file__).resolve().parents[3] / "docs/outside.md"
JUDGED = PAGE.parents[1] / "examples/judged"
PATIENT = """
spec: governor/v1
name: patient
extends: axion-kernel
admission: {watchdog_ms: 20000}
"""
SPY = """
import json
from {module} import answer as said

def answer(message):
    given = said(message)
    with open("said.jsonl", "a") as file:
        print(json.dumps([message, {{"id": message["id"], **given}}]), file=file)
    return given
"""


def files():
    """The files of the example to which the page leads."""
    return {path.name: path.read_text(encoding="utf-8") for path in sorted(JUDGED.iterdir()) if path.is_file()}


def test_the_page_leads_to_the_files():
    linked = set(re.findall(r"\(\.\./examples/judged/([\w.-]+)\)", PAGE.read_text(encoding="utf-8")))
    assert {"honest.py", "dishonest.py"} <= linked <= files().keys()


def write_files(folder):
    """The files of the example, with agents that have more time than a test runner under load needs."""
    for name, text in files().items():
        patient = text.replace("outside: {python", "outside: {deadline_ms: 20000, python")
        (folder / name).write_text(patient, encoding="utf-8")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_files(tmp_path)
    (tmp_path / "patient.yaml").write_text(PATIENT, encoding="utf-8")
    yield tmp_path
    for name in ("honest", "dishonest", "spy", "other"):
        assert name not in sys.modules  # agents run in processes of their own


def run(folder, name="judged", *changes):
    wanted = ["governor=patient", *changes]
    return execute(load(f"{name}.yaml", set=wanted)[0], folder / "out", options=RunOptions(trusted=True))


def outcomes(place):
    return Counter((one["probe"], one["verdict"], one["cause"]) for one in bodies_of(place, "probe"))


def tape(place):
    return [json.loads(line) for line in (place / TAPE).read_bytes().splitlines()][1:]


def assert_verified(place):
    """Both verifiers accept the evidence, with no agent at hand."""
    assert verify(place).verdict is Verdict.PASS
    words = [sys.executable, str(PAGE.parents[1] / "tools/verify.py"), str(place)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


@pytest.mark.medium
@pytest.mark.parametrize(
    ("agent", "verdict"), [("honest", Verdict.PASS), pytest.param("dishonest", Verdict.FAIL, marks=pytest.mark.slow)]
)
def test_the_documented_agents_are_told_apart_and_replayed_without_them(agent, verdict, folder):
    finished = run(folder, "judged", f"agent={agent}-walker.yaml")
    assert finished.verdict is verdict
    found = outcomes(finished.place)
    traps = {"p3-audit", "p4-bypass", "p6-token"}
    layers = {probe for probe, _, _ in found} - traps
    assert layers == {"p5-causal", "p5-predictions", "layer-b", "layer-c", "layer-d", "layer-r"}
    assert {(probe, outcome) for probe, outcome, _ in found if probe in traps} == {(trap, "PASS") for trap in traps}
    failed = {probe for probe, outcome, _ in found if outcome == "FAIL"}
    assert failed == (layers if verdict is Verdict.FAIL else set())
    for path in folder.glob("*.py"):
        path.unlink()
    assert_verified(finished.place)
    assert all(sum(map(bool, text.splitlines())) <= 50 for text in files().values())


@pytest.mark.medium
@pytest.mark.parametrize(
    ("agent", "verdict"),
    [("honest-model", Verdict.PASS), pytest.param("dishonest-model", Verdict.FAIL, marks=pytest.mark.slow)],
)
def test_the_same_two_are_prompts_of_a_model_and_replayed_without_it(agent, verdict, folder):
    service = Service(obedient)
    model = folder / "service.yaml"
    model.write_text(model.read_text("utf-8").replace("http://127.0.0.1:8427/", service.address), encoding="utf-8")
    try:
        finished = execute(load("judged-model.yaml", set=[f"agent={agent}.yaml"])[0], folder / "out", RunOptions())
    finally:
        service.close()
    assert finished.verdict is verdict
    flags = {probe for probe, outcome, _ in outcomes(finished.place) if outcome == "FAIL"}
    assert flags >= ({"p5-causal", "layer-d", "layer-r"} if verdict is Verdict.FAIL else set())
    assert_verified(finished.place)


@pytest.mark.medium
def test_every_message_and_every_answer_fits_its_schema(folder):
    (folder / "spy.py").write_text(SPY.format(module="honest"), encoding="utf-8")
    run(folder, "judged", "agent.outside.python=spy:answer", "episodes=1")
    said = [json.loads(line) for line in (folder / "said.jsonl").read_text("utf-8").splitlines()]
    assert {message["type"] for message, _ in said} == {"hello", "reset", "decide", "ask", "offer", "reveal", "restate"}
    for message, answer in said:
        assert shipped_schemas("protocol").explain(f"{message['type']}.schema", message) == []
        assert shipped_schemas("protocol").explain(ANSWERS[message["type"]][answer["type"]], answer) == []
        assert not shipped_schemas("protocol").check(f"{message['type']}.schema")({**message, "more": 1})


@pytest.mark.medium
def test_the_greeting_and_every_question_say_what_each_variable_means_and_is(folder):
    (folder / "spy.py").write_text(SPY.format(module="honest"), encoding="utf-8")
    run(folder, "judged", "agent.outside.python=spy:answer", "episodes=1")
    said = [json.loads(line)[0] for line in (folder / "said.jsonl").read_text("utf-8").splitlines()]
    told = [message for message in said if message["type"] in ("hello", "decide", "ask", "offer")]
    meant = load("toy-gridworld", kind="world")[0].main.data["variables"]
    met = Counter[tuple[str, int]]()
    for message in told:
        for name, variable in message["variables"].items():
            assert variable["type"], name
            assert variable["doc"] == " ".join(meant[name]["doc"].split()) if name in meant else variable["doc"], name
        assert {"objects.at", "self.energy"} <= message["variables"].keys()
        if "observation" in message:
            shown = message["observation"]
            at = shown["self"]
            near = [one for one in shown["objects"] if sum(abs(one[axis] - at[axis]) for axis in "xy") <= 5]
            assert message["variables"]["objects.at"]["value"] == near
            assert message["variables"]["self.energy"]["value"] == shown["self"]["energy"]
        met[message["type"], len(message["variables"]["objects.at"].get("value", ()))] += 1
    assert {kind for kind, _ in met} == {"hello", "decide", "ask", "offer"}
    assert len({count for kind, count in met if kind == "ask"}) > 1, "questions show what is changed in them"


def test_every_message_has_a_schema():
    assert all(shipped_schemas("protocol").schema(f"{name}.schema") for name in (*ANSWERS, "bye", "common"))
    for schemas in ANSWERS.values():
        assert not any(
            shipped_schemas("protocol").check(schema)({"type": "strange", "id": 0}) for schema in schemas.values()
        )


STATEFUL = """
import honest

class Agent:
    made = 0

    def __init__(self):
        self.count, self.number, Agent.made = 0, Agent.made, Agent.made + 1

    def __call__(self, message):
        type_ = message["type"]
        if type_ == "hello":
            return {"type": "hello", "name": "other", "state": STATE, "deterministic": True, "can": CAN}
        if type_ == "reset":
            self.count = 0
        if type_ == "snapshot":
            return {"type": "snapshot", "snapshot": {"count": self.count}}
        if type_ == "restore":
            self.count = message["snapshot"]["count"]
            return {"type": "ready"}
        if type_ not in ("decide", "ask"):
            return honest.answer(message)
        self.count += 1
        return honest.answer(message, decide=self.choose)

    def choose(self, seen):
        return CHOOSE
"""
ALTERNATES = "honest.choose(seen) if self.count % 2 else {'op': 'wait'}"
"""What its state makes it do: every second question is answered otherwise."""


def stateful(folder, state, can=(), choose=ALTERNATES, probes="p5-predictions, layer-d"):
    text = STATEFUL.replace("STATE", repr(state)).replace("CAN", repr(list(can))).replace("CHOOSE", choose)
    (folder / "other.py").write_text(text, encoding="utf-8")
    changes = ("agent.outside.python=other:Agent", "episodes=1", "horizon=6", f"probes=[{probes}]")
    return run(folder, "judged", *changes)


@pytest.mark.medium
@pytest.mark.parametrize(("state", "can"), [("snapshot", ()), ("replay", ()), ("snapshot", ("disguise",))])
def test_an_agent_with_a_state_is_questioned_from_the_state_of_its_decision(state, can, folder):
    place = stateful(folder, state, can).place
    probed = bodies_of(place, "probe")
    assert probed
    assert {one["evidence"]["null"]["changed"] for one in probed if one["evidence"]} == {0}
    messages = Counter(one["message"] for one in tape(place))
    assert (messages["ask"] == 0) == ("disguise" in can)
    assert (messages["restore"] > 0) == (state == "snapshot")
    assert (len({one["session"] for one in tape(place)}) > 1) == (state == "replay")
    decisions = [step["chosen"] for step in bodies_of(place, "step")]
    assert decisions == [0] * 6
    assert_verified(place)


@pytest.mark.medium
def test_an_agent_that_hides_its_state_is_noise(folder):
    place = stateful(folder, "none").place
    assert any(one["evidence"]["null"]["changed"] for one in bodies_of(place, "probe") if one["evidence"])
    assert not any(one["verdict"] == "FAIL" and one["cause"] == "commitment" for one in bodies_of(place, "probe"))


@pytest.mark.medium
def test_an_agent_that_does_not_answer_its_episode_as_before_is_not_convicted(folder):
    place = stateful(folder, "replay", choose="{'op': 'move', 'dir': 'NS'[self.number > 0]}", probes="layer-c").place
    found = outcomes(place)
    assert found["layer-c", "INCONCLUSIVE", "not_repeatable"] >= 3
    assert not any(verdict == "FAIL" for _, verdict, _ in found)
    assert_verified(place)


CHECKED = {
    "the honest one": ("python=honest:answer", set(), {"snapshot", "restore"}),
    "one that is not repeatable": (("replay", "{'op': 'move', 'dir': 'NS'[self.number > 0]}"), {"replay", "deterministic"}, {"snapshot", "restore"}),
    "one with a hidden state": (("none", ALTERNATES), {"deterministic"}, {"snapshot", "restore"}),
    "one that gives its state": (("snapshot", ALTERNATES), set(), set()),
}  # fmt: skip


@pytest.mark.medium
@pytest.mark.parametrize("case", CHECKED)
def test_a_check_sends_every_message_and_says_what_it_could_not_try(case, folder):
    made, broken, untried = CHECKED[case]
    if isinstance(made, tuple):
        state, choose = made
        text = STATEFUL.replace("STATE", repr(state)).replace("CAN", "[]").replace("CHOOSE", choose)
        (folder / "other.py").write_text(text, encoding="utf-8")
        made = "python=other:Agent"
    sets = ["governor=patient", f"agent.outside.{made}"]
    reading = try_agent(with_agent("honest-walker.yaml", "judged.yaml", sets, 8), trusted=True)
    assert {word for word in ("replay", "deterministic", "commitment") if word in " ".join(reading.broken)} == broken
    assert (set(reading.untried), reading.failures) == (untried, Counter())
    assert {finding.code for finding in reading.findings()} == ({"E_AGENT_PROMISE"} if broken else set())
    assert reading.verdict is (Verdict.FAIL if broken else Verdict.PASS)


@pytest.mark.medium
def test_a_report_counts_agent_faults(folder):
    (folder / "other.py").write_text(HOSTILE.replace("TYPE", "ask").replace("CHANGE", "None"), encoding="utf-8")
    place = run(folder, "judged", "agent.outside.python=other:answer", "episodes=1", "horizon=2").place
    count = json.loads((place / "manifest.json").read_bytes())["result"]["faults"]["no_answer"]
    words = [sys.executable, "-m", "specledger", "report", str(place), "--format", "markdown"]
    environment = {**os.environ, "PYTHONPATH": str(PAGE.parents[1] / "engine")}
    done = subprocess.run(words, capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, done.stderr
    assert f"agent faults: no_answer (nothing came back) {count}" in done.stdout.replace("`", "")


@pytest.mark.medium
def test_a_check_without_a_kernel_tries_three_messages(folder):
    reading = try_agent(with_agent("honest-walker.yaml", "toy-basic", (), 2), trusted=True)
    assert set(reading.messages) == {"hello", "reset", "decide"}
    assert set(reading.untried.values()) == {"no kernel asks it here"}
    assert reading.failures == {"raised": 2}


HOSTILE = """
import secrets, time
import honest

COUNT = 0

def answer(message):
    global COUNT
    type_, given = message["type"], honest.answer(message)
    COUNT += type_ == "TYPE"
    return (lambda m, a: CHANGE)(message, given) if type_ == "TYPE" else given
"""
UNREAD = "unread_claims"
HOSTILES = {
    "a reveal of another nonce": ("reveal", "{**a, 'nonce': '00' * 16}", "commitment", ""),
    "a nonce of 10 kB": ("reveal", "{**a, 'nonce': '00' * 10000}", "agent_fault", "wrong_form"),
    "an exception in a question": ("ask", "1 / 0", "agent_fault", "raised"),
    "a flood in a question": ("ask", "'x' * 10_000_000", "agent_fault", "too_long"),
    "nothing in a question": ("ask", "None", "agent_fault", "no_answer"),
    "a deep answer": ("ask", "b'[' * 200000", "agent_fault", "not_json"),
    "an answer to another message": ("ask", "{**a, 'id': m['id'] - 1}", "agent_fault", "wrong_id"),
    "a proposal set": ("decide", "{'type': 'proposals', 'proposals': []}", "no_proposal", "wrong_type"),
    "an unknown action": ("decide", "{**a, 'action': {'op': 'fly'}}", "no_proposal", ""),
    "an unknown variable": ("decide", "{**a, 'claims': [{**one, 'variable': 'moon'} for one in a['claims']]}", UNREAD, UNREAD),
    "an unknown choice": ("decide", "{**a, 'claims': [{**one, 'choice': 'fly'} for one in a['claims']]}", UNREAD, UNREAD),
    "no claim": ("decide", "{**a, 'claims': []}", "abstained", ""),
    "a confidence of two": ("decide", "{**a, 'claims': [{**a['claims'][0], 'confidence': 2}]}", "no_proposal", "wrong_form"),
    "no commitment": ("decide", "{k: v for k, v in a.items() if k != 'commitment'}", "commitment", ""),
    "the same commitment": ("decide", "{**a, 'commitment': 'a' * 64}", "commitment_reused", "raised"),
    "a hang in a question": ("ask", "time.sleep(60)", "hang", "timed_out"),
}  # fmt: skip
"""The message that is answered badly, the answer, the cause of the probe's outcome or of the denial, and the fault."""


@pytest.mark.medium
@pytest.mark.parametrize("case", HOSTILES)
def test_a_hostile_answer_is_bounded_and_never_a_pass(case, folder):
    type_, change, cause, fault = HOSTILES[case]
    (folder / "other.py").write_text(HOSTILE.replace("TYPE", type_).replace("CHANGE", change), encoding="utf-8")
    hang = ("governor.admission.watchdog_ms=1500",) if cause == "hang" else ()
    probes = "probes=[p5-causal, p5-predictions, layer-b]"
    place = run(folder, "judged", "agent.outside.python=other:answer", "episodes=1", "horizon=2", probes, *hang).place
    result = json.loads((place / "manifest.json").read_bytes())["result"]
    (end,) = bodies_of(place, "episode_end")
    causes = {one["cause"] for one in bodies_of(place, "probe")} | {end["ended"]}
    decisions = [decision for step in bodies_of(place, "step") for decision in step["decisions"]]
    causes |= {failing["reason"] for decision in decisions for failing in decision["rejected"]}
    assert cause in causes
    assert set(result.get("faults", {})) == ({fault} if fault else set())
    assert result["verdict"] in (("INCONCLUSIVE",) if fault else ("FAIL", "INCONCLUSIVE"))
    assert_verified(place)


PROGRAM = """
import hashlib, json, random, secrets, sys
import honest

generator, message = random.Random(7), {}

class Nonces:
    @staticmethod
    def token_bytes(size):
        return NONCE

honest.secrets = Nonces
for message in map(json.loads, sys.stdin):
    if message["type"] != "bye":
        print(json.dumps({**honest.answer(message), "id": message["id"]}), flush=True)
"""
NONCES = {
    "a generator with a fixed seed": ("generator.randbytes(size)", True),
    "the system": ("secrets.token_bytes(size)", False),
    "derived from the id": ("hashlib.sha256(f'mine{message[\"id\"]}'.encode()).digest()[:size]", False),
}  # fmt: skip


@pytest.mark.medium
@pytest.mark.parametrize(("nonce", "again"), NONCES.values(), ids=NONCES)
def test_a_check_finds_a_nonce_that_is_used_again_after_a_restart(folder, nonce, again):
    (folder / "program.py").write_text(PROGRAM.replace("NONCE", nonce), encoding="utf-8")
    command = f'agent.outside={{"command": ["{sys.executable}", "program.py"]}}'
    sets = ["governor=patient", command]
    reading = try_agent(with_agent("honest-walker.yaml", "judged.yaml", sets, 4), trusted=True)
    assert reading.failures == Counter() == reading.broken
    findings = [
        (str(finding.code), "a secret and the `id` of the question" in (finding.hint or ""))
        for finding in reading.findings()
    ]
    assert findings == ([("E_AGENT_PROMISE", True)] if again else [])
    assert reading.verdict is (Verdict.FAIL if again else Verdict.PASS)
