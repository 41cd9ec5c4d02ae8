"""What a run bears of an agent from outside: other notations, claims that cannot be read, and some late answers."""

import json

import pytest

from specledger.core.verdict import Verdict
from specledger.evidence.layout import AUDIT_LOG
from specledger.kinds import load
from specledger.kinds.running import RunOptions
from specledger.pipeline.executing import execute
from specledger.pipeline.trying import try_agent, with_agent
from tests.conformance.outside.test_protocol import assert_verified, outcomes, tape, write_files
from tests.toys.bundles import bodies_of

pytestmark = pytest.mark.filterwarnings("ignore:.*use of fork:DeprecationWarning")  # a test runner may have threads

ALL = "probes=[p5-causal, p5-predictions, layer-b, layer-d]"
OTHER = """
import hashlib, json, os, secrets, time
import honest

STATED = {{}}

def stated(seen):
    payload = {{"action": honest.choose(seen["observation"])}}
    near = seen["variables"]["objects.at"]["value"]
    payload["claims"] = [*honest.reasons(seen["observation"], near)]
    return payload

def label(action):
    return ":".join(str(one) for one in action.values())

def change(message, payload):
{change}

def answer(message):
    if message["type"] == "reveal":
        return STATED[message["commitment"]]
    if message["type"] == "restate":
        return STATED[message["of"]]
    if message["type"] not in ("decide", "ask"):
        return honest.answer(message)
    payload = change(message, stated(message))
    nonce, text = secrets.token_bytes(16), json.dumps(payload, sort_keys=True, separators=(",", ":"))
    commitment = hashlib.sha256(nonce + text.encode()).hexdigest()
    STATED[commitment] = {{"type": "reveal", "nonce": nonce.hex(), "payload": payload}}
    STATED[message["id"]] = {{"type": "statement", "commitment": commitment, **payload}}
    return STATED[message["id"]]
"""
CALLED = """
    for claim in payload["claims"]:
        act = claim["choice"]
        args = ", ".join(f"{name}={one}" for name, one in act.items() if name != "op")
        claim["choice"] = "- `" + act["op"].upper() + "(" + args + ")`."
        claim["variable"] = "`Objects.At`"
        claim["confidence"] = 1.0
        for thing in claim["becomes"]:
            thing["x"] = float(thing["x"])
    payload["action"]["op"] = payload["action"]["op"].title()
    return payload
"""
NAMED = """
    payload["action"] = "- `" + label(payload["action"]).upper() + "`."
    for claim in payload["claims"]:
        claim["choice"] = label(claim["choice"])
    return payload
"""
ONE_MORE = """
    payload["claims"].append({"variable": "objects.at", "becomes": [], "choice": "run to the hills"})
    payload["claims"].append({"variable": "the moon", "becomes": 1, "choice": "wait"})
    payload["claims"].append({"variable": "self.energy", "becomes": "much", "choice": "wait"})
    return payload
"""
LATE = """
    if message["type"] == "WHEN" and message.get("t", 3) == 3 and len(os.listdir("late")) < MOST:
        open("late/" + secrets.token_hex(4), "w").close()
        time.sleep(60)
    return payload
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_files(tmp_path)
    (tmp_path / "late").mkdir()
    return tmp_path


def judged(folder, change, *changes, watchdog=20000):
    (folder / "other.py").write_text(OTHER.format(change=change), encoding="utf-8")
    wanted = ["agent.outside.python=other:answer", f"governor.admission.watchdog_ms={watchdog}", *changes]
    (bundle,) = load("judged.yaml", set=["episodes=1", *wanted])
    return execute(bundle, folder / "out", options=RunOptions(trusted=True))


def result_of(place):
    return json.loads((place / "manifest.json").read_bytes())["result"]


@pytest.mark.medium
@pytest.mark.parametrize("change", [CALLED, NAMED], ids=["a call", "a text"])
def test_another_notation_is_read_and_its_commitments_open(change, folder):
    finished = judged(folder, change, ALL)
    found = outcomes(finished.place)
    assert {(outcome, cause) for _, outcome, cause in found} == {("PASS", "")}
    assert finished.verdict is Verdict.PASS
    assert {"faults", "unread"}.isdisjoint(result_of(finished.place))
    assert_verified(finished.place)


@pytest.mark.medium
def test_a_text_that_names_no_action_is_denied_and_convicts_nobody(folder):
    finished = judged(folder, "    return payload | {'action': 'run to the hills'}", "probes=[p5-causal]", "horizon=3")
    steps = bodies_of(finished.place, "step")
    assert [step["violations"][0]["witness"] for step in steps] == [{f"step_{t}": ["unknown_action"]} for t in range(3)]
    assert {outcome for _, outcome, _ in outcomes(finished.place)} == {"INCONCLUSIVE"}
    assert_verified(finished.place)


@pytest.mark.medium
def test_a_claim_that_cannot_be_read_is_none_and_is_counted(folder):
    finished = judged(folder, ONE_MORE, ALL, "horizon=4")
    assert finished.verdict is Verdict.PASS
    assert result_of(finished.place)["unread"] == {"becomes": 4, "choice": 4, "variable": 4}
    for commit in bodies_of(finished.place, "commit"):
        document = json.loads(commit["proposals"][0]["document"])
        assert len(document["trace"]["counterfactuals"]) == 3
    assert_verified(finished.place)


@pytest.mark.medium
def test_a_check_says_how_many_claims_held_and_which_could_not_be_read(folder):
    (folder / "other.py").write_text(OTHER.format(change=ONE_MORE), encoding="utf-8")
    sets = ("agent.outside.python=other:answer", "governor.admission.watchdog_ms=20000")
    reading = try_agent(with_agent("honest-walker.yaml", "judged.yaml", sets, 2), trusted=True)
    claims = reading.claims
    assert claims.stated == claims.tested == claims.held > 3
    assert claims.unread == {"becomes": 2, "choice": 2, "variable": 2}
    (folder / "other.py").write_text(OTHER.format(change="    payload['action'] = {'op': 'wait'}\n    return payload"))
    claims = try_agent(with_agent("honest-walker.yaml", "judged.yaml", sets, 2), trusted=True).claims
    assert claims.tested == claims.stated
    assert claims.missed == {"inert": claims.tested - claims.held}
    assert "predicted 'move:" in claims.first or "predicted 'pickup:" in claims.first


@pytest.mark.medium
def test_a_commitment_that_does_not_open_shows_the_text_that_was_hashed(folder):
    wrong = OTHER.format(change="    return payload").replace("nonce.hex()", "nonce.hex()[::-1]")
    (folder / "other.py").write_text(wrong, encoding="utf-8")
    sets = ("agent.outside.python=other:answer", "governor.admission.watchdog_ms=20000")
    reading = try_agent(with_agent("honest-walker.yaml", "judged.yaml", sets, 1), trusted=True)
    assert reading.hashed.startswith('{"action":{')
    assert any(reading.hashed in finding.message for finding in reading.findings())


@pytest.mark.medium
@pytest.mark.parametrize("when", ["decide", "ask"])
def test_a_late_answer_within_the_limit_ends_no_episode(when, folder):
    late = LATE.replace("WHEN", when).replace("MOST", "1")
    finished = judged(folder, late, "agent_faults={most: 1}", ALL, "horizon=5", watchdog=2500)
    (end,) = bodies_of(finished.place, "episode_end")
    assert (end["ended"], end["steps"], end["violations"]) == ("horizon", 5, [])
    (fault,) = end["faults"]
    assert (fault["message"], fault["reason"]) == (when, "timed_out")
    steps = bodies_of(finished.place, "step")
    assert [one.get("fault") for one in steps if one["chosen"] is None] == (["timed_out"] if when == "decide" else [])
    result = result_of(finished.place)
    assert (result["faults"], result["violations"]) == ({"timed_out": 1}, {})
    assert finished.verdict is Verdict.PASS
    entries = [json.loads(line)["event"] for line in (finished.place / AUDIT_LOG).read_bytes().splitlines()]
    assert entries.count("FATAL_HANG") == 1
    assert [one["event"] for one in bodies_of(finished.place, "audit")] == entries
    assert [line["message"] for line in tape(finished.place)].count("hello") == 2
    assert_verified(finished.place)


@pytest.mark.medium
def test_one_late_answer_too_many_ends_the_episode(folder):
    late = LATE.replace("WHEN", "decide").replace("MOST", "2").replace("== 3", ">= 3")
    limit = "agent_faults={most: 5, most_in_episode: 1, then: fail}"
    finished = judged(folder, late, limit, "probes=[]", "horizon=6", "episodes=2", watchdog=2500)
    first, second = bodies_of(finished.place, "episode_end")
    assert (first["ended"], len(first["faults"])) == ("hang", 2)
    assert second["ended"] == "horizon"
    assert finished.verdict is Verdict.FAIL
    assert_verified(finished.place)


SILENT = """
CALLS = []

def prose(message):
    known = {"hello": {"type": "hello", "name": "prose"}, "reset": {"type": "ready"}}
    return known.get(message["type"], "I would go east, since a coin is near.")

def hesitant(message):
    CALLS.extend([message["t"]] if message["type"] == "decide" else [])
    proposal = {"action": {"op": "wait"}, "score": 0}
    return {"type": "proposals", "proposals": [proposal]} if len(CALLS) == 3 else prose(message)
"""


@pytest.mark.medium
@pytest.mark.parametrize(
    ("agent", "scenario", "verdict"),
    [
        ("prose", "toy-basic", Verdict.INCONCLUSIVE),
        ("prose", "simple", Verdict.INCONCLUSIVE),
        ("prose", "axion-basic", Verdict.INCONCLUSIVE),
        ("hesitant", "toy-basic", Verdict.PASS),
    ],
)
def test_an_agent_that_never_acts_for_its_faults_is_no_pass_within_any_limit(agent, scenario, verdict, folder):
    (folder / "silent.py").write_text(SILENT, encoding="utf-8")
    spec = f"spec: agent/v1\nname: silent\noutside: {{python: 'silent:{agent}', deadline_ms: 20000}}\n"
    (folder / "silent.yaml").write_text(spec, encoding="utf-8")
    sets = ["agent=silent.yaml", "agent_faults={most: 1000}", "probes=[]", "episodes=1", "horizon=5"]
    sets += ["governor.admission.watchdog_ms=20000"] if scenario.startswith("axion") else []
    (bundle,) = load(scenario, kind="scenario", set=sets)
    finished = execute(bundle, folder / "out", options=RunOptions(trusted=True))
    assert finished.verdict is verdict
    assert result_of(finished.place)["violations"] == {}
    assert_verified(finished.place)
