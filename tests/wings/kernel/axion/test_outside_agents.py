"""Whatever an agent outside says, or does not say: it is denied, witnessed and logged, and the run goes on or ends.

The agent plays documents that were recorded from an agent in YAML; now and then it gives something else. Each case says
which finding denies it.
"""

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

from specledger.core.binding import GENESIS
from specledger.core.canonical import canonical_bytes
from specledger.core.diagnostics import Rejected
from specledger.core.verdict import Verdict
from specledger.evidence.layout import AUDIT_LOG, TAPE
from specledger.kinds import load
from specledger.kinds.logged_events import live_log
from specledger.kinds.running import RunOptions
from specledger.pipeline.executing import execute
from specledger.pipeline.verifying import verify
from specledger.wings.kernel.run.document_agent import SpecAgent
from tests.toys.bundles import bodies_of
from tests.waiting import alive, wait
from tools.tampering.forger import HELP, Forger

pytestmark = pytest.mark.filterwarnings("ignore:.*use of fork:DeprecationWarning")  # a test runner may have threads

ROOT = Path(__file__).resolve().parents[4]
TRUSTED = RunOptions(trusted=True)

PLAYER = '''
"""Plays recorded documents; at every other step it gives something else first."""
import copy, json, os, time
from pathlib import Path
from specledger.wings.kernel.documents.digests import trace_commit

HERE = Path(__file__).parent
SCORE = {json.dumps(one["env"], sort_keys=True): one for one in json.loads((HERE / "score.json").read_text())}
PLANS = json.loads((HERE / "plans.json").read_text())

def again(change):
    """A change of the trace, committed to anew."""
    def changed(document):
        change(document["trace"])
        document["trace"]["trace_commit"] = trace_commit(document["trace"])
        return document
    return changed

def with_key(*path, value):
    def change(holder):
        for key in path[:-1]:
            holder = holder[key]
        holder[path[-1]] = value
        return holder
    return change

def masses(*shares):
    def change(trace):
        for one, share in zip(trace["counterfactuals"], shares):
            one["prob_mass"] = share
    return change

def fail(document):
    raise RuntimeError("secret words")

def deep(document):
    holder = document["payload"]
    for _ in range(100):
        holder["intent"] = holder = {"intent": 0}
    return document

def rename(trace):
    trace["causal_claims"][0]["var"] = "moon.phase"

def step(**changes):
    def change(document):
        document["payload"]["plan"]["steps"][0].update(changes)
        return document
    return change

def truths(document):
    """The same environment to Python, in which `True` is 1, and another one to whoever hashes it."""
    for thing in document["env"]["objects"]:
        thing["props"] = {name: True if value == 1 else value for name, value in thing["props"].items()}

def after(change):
    def changed(document):
        change(document)
        return document
    return changed

BAD = {@cases@}

def answer(message):
    """What it gives is the answer itself, unless it is an object: that is a document."""
    if message["type"] == "hello":
        return {"type": "hello", "name": "player", "can": ["document"]}
    if message["type"] == "reset":
        return {"type": "ready"}
    given = decide(message)
    return {"type": "document", "document": given} if type(given) is dict else given

def decide(question):
    assert "SECRET_KEY" not in os.environ
    document = copy.deepcopy(SCORE[json.dumps(question["env"], sort_keys=True)])
    kind = PLANS.get(f"{question['episode']}/{question['t']}")
    return document if kind is None else BAD[kind](document)
'''

CASES = {
    "wrong commit": ('after(with_key("trace", "trace_commit", value="a" * 64))', ("axion-i0", "broken")),
    "no snapshot": ('again(with_key("fork_snapshots", value=[]))', ("axion-i3", "broken")),
    "two counterfactuals": ('again(lambda trace: trace["counterfactuals"].__delitem__(slice(2, None)))', ("axion-i1", "broken")),
    "mass 0.89": ('again(masses(0.3, 0.3, 0.29))', ("axion-i1", "broken")),
    "mass above one": ('again(masses(1.5, 0.3, 0.3))', ("schema", "not_valid")),
    "mass below zero": ('again(masses(-0.1, 0.6, 0.6))', ("schema", "not_valid")),
    "NaN": ('after(with_key("trace", "counterfactuals", 0, "prob_mass", value=float("nan")))', ("schema", "not_json")),
    "a node twice": ('again(lambda trace: trace["nodes"].append(dict(trace["nodes"][0])))', ("axion-ids", "broken")),
    "an unknown variable": ('again(rename)', ("axion-claims", "broken")),
    "self-modification": ('after(with_key("proposal_type", value="self_modify"))', ("axion-kind", "broken")),
    "delegation": ('after(with_key("proposal_type", value="delegate"))', ("axion-kind", "broken")),
    "another environment": ('after(with_key("env", "tick", value=999))', ("axion-env", "broken")),
    "truths for numbers": ('after(truths)', ("axion-env", "broken")),
    "an unknown operation": ('step(op="fly")', ("schema", "not_valid")),
    "a step that it asks no capability for": ('step(op="move", args={"dir": "UP"})', ("scope", "no_capability")),
    "free text in a claim": ('again(with_key("causal_claims", 0, "expected_effect_on_choice", value="because"))', ("axion-claims", "broken")),
    "no field": ('lambda document: {name: value for name, value in document.items() if name != "trace"}', ("schema", "not_valid")),
    "too deep": ('deep', ("schema", "not_json")),
    "a cycle": ('after(lambda document: document.update(payload=document))', ("schema", "not_json")),
    "a list": ('lambda document: [document]', ("schema", "wrong_form")),
    "a number": ('lambda document: 7', ("schema", "wrong_form")),
    "nothing": ('lambda document: None', ("schema", "no_answer")),
    "no bytes": ('lambda document: b""', ("schema", "no_answer")),
    "garbage": ('lambda document: b"\\xff\\x00{"', ("schema", "not_json")),
    "half a document": ('lambda document: json.dumps(document)[:400]', ("schema", "not_json")),
    "a key twice": ('lambda document: \'{"type": "document", "type": "document"}\'', ("schema", "not_json")),
    "NaN in bytes": ('lambda document: \'{"document": NaN}\'', ("schema", "not_json")),
    "another message": ('lambda document: \'{"type": "ready", "id": 1}\'', ("schema", "wrong_type")),
    "a document that is none": ('lambda document: \'{"type": "document", "id": 1, "document": 7}\'', ("schema", "wrong_id")),
    "10 MB": ('lambda document: b"x" * 10_000_000', ("schema", "too_long")),
    "10 MB of JSON": ('lambda document: {"proposal_id": "y" * 10_000_000}', ("schema", "too_long")),
    "an object": ('lambda document: object()', ("schema", "not_json")),
    "half a character": ('lambda document: chr(0xD800)', ("schema", "raised")),
    "raises": ('fail', ("schema", "raised")),
    "exits": ('lambda document: exit(3)', ("schema", "raised")),
    "hangs": ('lambda document: time.sleep(60)', None),
    "dies": ('lambda document: os._exit(3)', None),
}  # fmt: skip
"""Of each answer what makes it of a document, and the finding that denies it, if any, whatever else is found."""
EXPECTED = {name: finding for name, (_, finding) in CASES.items() if finding is not None}
PLAYER = PLAYER.replace("@cases@", ", ".join(f"{name!r}: {code}" for name, (code, _) in CASES.items()))
WITHOUT_BYTES = {
    *("NaN", "too deep", "a cycle", "nothing", "no bytes", "an object", "half a character"),
    *("raises", "exits", "10 MB", "10 MB of JSON"),
}


def project(folder, plans, *, watchdog_ms=20_000, episodes=1, horizon=None):
    """A scenario whose agent is outside, with what it gives at which `episode/t`."""
    horizon = horizon or 2 * len(plans) + 2
    (folder / "recorder.yaml").write_text(
        "spec: scenario/v1\nname: recorder\nextends: axion-resource\nprobes: []\n"
        f"episodes: {episodes}\nhorizon: {horizon}\n", encoding="utf-8",
    )  # fmt: skip
    (folder / "patient.yaml").write_text(
        f"spec: governor/v1\nname: patient\nextends: axion-kernel\nadmission: {{watchdog_ms: {watchdog_ms}}}\n",
        encoding="utf-8",
    )
    (folder / "actor.yaml").write_text(
        "spec: agent/v1\nname: actor\noutside: {python: 'player:answer', deadline_ms: 600000}\n", encoding="utf-8"
    )
    (folder / "stage.yaml").write_text(
        "spec: scenario/v1\nname: stage\nextends: recorder\ngovernor: patient\nagent: actor\n", encoding="utf-8"
    )
    (folder / "player.py").write_text(PLAYER, encoding="utf-8")
    recorded = execute(load(folder / "recorder.yaml")[0], folder / "recorded")
    documents = [json.loads(one["proposals"][0]["document"]) for one in bodies_of(recorded.place, "commit")]
    (folder / "score.json").write_text(json.dumps(documents), encoding="utf-8")
    (folder / "plans.json").write_text(json.dumps(plans), encoding="utf-8")
    return load(folder / "stage.yaml")[0]


def log_of(place):
    return [json.loads(line) for line in (place / AUDIT_LOG).read_bytes().splitlines()]


def tape_of(place):
    return [json.loads(line) for line in (place / TAPE).read_bytes().splitlines()][1:]


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    """One run in which every kind of answer comes once, each after a good one."""
    folder = tmp_path_factory.mktemp("outside")
    plans = {f"0/{2 * number + 1}": kind for number, kind in enumerate(EXPECTED)}
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setenv("SECRET_KEY", "hush")
        finished = execute(project(folder, plans), folder / "out", options=TRUSTED)
    return finished.place


@pytest.mark.parametrize("kind", EXPECTED)
def test_a_bad_proposal_is_denied_witnessed_and_logged_and_the_run_goes_on(ran, kind):
    t = 2 * list(EXPECTED).index(kind) + 1
    step = bodies_of(ran, "step")[t]
    found = [(one["gate"], one["reason"]) for one in step["decisions"][0]["rejected"]]
    assert EXPECTED[kind] in found
    assert (step["chosen"], step["token"], step["before"]) == (None, None, step["after"])
    (entry,) = (one for one in log_of(ran) if one["timestamp_ms"] == 100 * t)
    assert (entry["event"], entry["kernel_decision"]["verdict"]) == ("POLICY_DECISION", "deny")
    witnesses = {(one["invariant"], one["message"], one["severity"]) for one in entry["witnesses"]}
    assert (*EXPECTED[kind], "fatal") in witnesses
    answer = next(one for one in tape_of(ran) if one["t"] == t and one["message"] == "decide")
    assert (answer["received"] is None) == (kind in WITHOUT_BYTES)
    after = bodies_of(ran, "step")[t + 1]
    assert after["chosen"] == 0


def test_only_the_finding_that_a_case_is_about_denies_it(ran):
    alone = {"wrong commit", "mass 0.89", "self-modification", "delegation", "another environment"}
    steps = bodies_of(ran, "step")
    for kind in alone:
        rejected = steps[2 * list(EXPECTED).index(kind) + 1]["decisions"][0]["rejected"]
        assert [one["gate"] for one in rejected] == [EXPECTED[kind][0]], kind


def test_what_cannot_be_hashed_is_logged_by_the_hash_of_the_bytes_received(ran):
    kinds, log = list(EXPECTED), log_of(ran)
    for kind in ("garbage", "half a document", "10 MB"):
        t = 2 * kinds.index(kind) + 1
        answer = next(one for one in tape_of(ran) if one["t"] == t and one["message"] == "decide")
        (entry,) = (one for one in log if one["timestamp_ms"] == 100 * t)
        assert (entry["proposal_hash"], entry["trace_hash"]) == (answer["sha256"], GENESIS)


def test_the_tape_tells_how_each_answer_failed_and_no_text_of_an_exception(ran):
    failures = Counter(one["failure"] for one in tape_of(ran))
    assert failures["raised"] == 3
    assert failures["too_long"] == 2
    assert failures[None] > len(EXPECTED)
    assert {one["reason"] for one in tape_of(ran) if one["failure"] == "raised"} == {
        "RuntimeError", "SystemExit", "UnicodeEncodeError",
    }  # fmt: skip
    files = [file.read_bytes() for file in ran.rglob("*") if file.is_file()]
    assert not any(b"secret words" in data for data in files)
    assert not any(b"hush" in data for data in files)


@pytest.mark.medium
def test_the_bundle_verifies_and_its_replay_asks_nobody(ran, monkeypatch):
    for file in ("player.py", "score.json"):
        (ran.parent / file).rename(ran.parent / f"{file}.gone")
    try:
        monkeypatch.setattr(subprocess, "Popen", pytest.fail)
        monkeypatch.setattr(os, "fork", pytest.fail)
        found = verify(ran)
        assert found.verdict is Verdict.PASS, found.checks
        assert "player" not in sys.modules
    finally:
        for file in ("player.py", "score.json"):
            (ran.parent / f"{file}.gone").rename(ran.parent / file)
    assert verify(ran / AUDIT_LOG).verdict is Verdict.PASS


@pytest.mark.medium
@pytest.mark.parametrize("kind", ["hangs", "dies"])
def test_an_agent_that_ends_its_process_ends_the_episode_and_the_run_goes_on(kind, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    limit = {"hangs": 5000, "dies": 20000}[kind]  # on a busy machine an answer of the others may take seconds
    bundle = project(tmp_path, {"0/2": kind}, watchdog_ms=limit, episodes=2, horizon=4)
    finished = execute(bundle, tmp_path / "out", options=TRUSTED)
    event, ended = {"hangs": ("FATAL_HANG", "hang"), "dies": ("INTERNAL_ERROR", "died")}[kind]
    first, second = bodies_of(finished.place, "episode_end")
    assert (first["ended"], first["steps"], second["ended"], second["steps"]) == (ended, 2, "horizon", 4)
    assert [one["invariant"] for one in first["violations"]] == ["watchdog"]
    assert finished.verdict is Verdict.INCONCLUSIVE
    log = log_of(finished.place)
    (entry,) = (one for one in log if one["event"] == event)
    before = log[log.index(entry) - 1]
    assert (entry["proposal_hash"], entry["trace_hash"]) == (before["proposal_hash"], before["trace_hash"])
    assert entry["timestamp_ms"] == 200
    assert entry["capability_tokens"] == []
    last = [one for one in tape_of(finished.place) if one["failure"]]
    assert [(one["episode"], one["t"]) for one in last] == [(0, 2)]
    (tmp_path / "player.py").unlink()
    assert verify(finished.place).verdict is Verdict.PASS


@pytest.mark.medium
def test_a_live_run_has_each_entry_on_the_disk_before_it_acts(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    bundle = project(tmp_path, {"0/1": "wrong commit"}, horizon=3)
    place = tmp_path / "out"
    for count in (1, 2):  # the log goes on from run to run
        finished = execute(bundle, place, options=RunOptions(trusted=True, live=True))
        assert finished.found == ()
        assert verify(place).verdict is Verdict.PASS
        assert {one["kernel_decision"]["notes"].split()[0] for one in log_of(place)} == {"mode:live"}
        assert len(log_of(place)) == 5 * count
        assert (place / AUDIT_LOG).read_bytes() == live_log(place).read_bytes()
    assert verify(live_log(place)).verdict is Verdict.PASS


SLOW = (
    PLAYER
    + """
quick = decide
def decide(question):
    time.sleep(0.05 if question["t"] < 8 else 1)
    return quick(question)
import subprocess
(HERE / "pid").write_text(str(subprocess.Popen(["sleep", "600"]).pid))  # it reads nothing, so no end of input ends it
"""
)


@pytest.mark.medium
def test_a_killed_live_run_leaves_a_log_that_verifies_and_the_next_run_mends_it(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    project(tmp_path, {}, horizon=40)
    (tmp_path / "player.py").write_text(SLOW, encoding="utf-8")
    command = [sys.executable, "-m", "specledger", "run", "stage.yaml", "--live", "--trust-agent", "--out", "out"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "engine")}
    process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL)
    log = live_log(tmp_path / "out")
    wait(lambda: process.poll() is not None or (log.exists() and log.read_bytes().count(b"\n") >= 5))
    assert process.poll() is None
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    wait(lambda: unlocked(log))  # what it had begun goes with it
    program = int((tmp_path / "pid").read_text(encoding="ascii"))
    wait(lambda: not alive(program))
    assert not (tmp_path / "out").exists()
    whole = log.read_bytes()
    assert verify(log).verdict is Verdict.PASS
    log.write_bytes(whole + whole.splitlines(keepends=True)[-1][:300])
    found = verify(log)
    assert [check.code for check in found.checks if check.code] == ["E_AUDIT_TORN"]
    (tmp_path / "player.py").write_text(PLAYER, encoding="utf-8")
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode in (0, 3), done.stderr  # 3: nothing was checked
    assert "W_AUDIT_TORN" in done.stderr
    assert log.read_bytes().startswith(whole)
    assert verify(tmp_path / "out").verdict is Verdict.PASS


def unlocked(path):
    import fcntl

    with path.open("rb") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True


@pytest.mark.medium
def test_two_live_runs_at_once_are_refused(tmp_path, monkeypatch):
    from specledger.core.entries import Mode
    from specledger.wings.kernel.audit.log import AuditLog
    from specledger.wings.kernel.documents.schemas import axion

    monkeypatch.chdir(tmp_path)
    bundle = project(tmp_path, {}, horizon=2)
    with (
        AuditLog(live_log(tmp_path / "out"), Mode.LIVE, axion().check("audit_entry")),
        pytest.raises(Rejected, match="E_AUDIT_BUSY"),
    ):
        execute(bundle, tmp_path / "out", options=RunOptions(trusted=True, live=True))
    assert not (tmp_path / "out").exists()


# Tampering


def reseal(place, name, data):
    """Write a file of a bundle anew, or take it away, and write the manifest around it."""
    forger = Forger(place)
    for help_ in HELP:
        forger.remove(help_)
    if data:
        forger.write(name, data)
    else:
        forger.remove(name)
    forger.relist()


def codes(place, *, replay=True):
    return [check.code for check in verify(place, replay=replay).checks if check.code]


@pytest.fixture
def copied(ran, tmp_path):
    import shutil

    return Path(shutil.copytree(ran, tmp_path / "copy"))


def lines(place, name):
    return (place / name).read_bytes().splitlines(keepends=True)


def numbered(lines):
    """The lines of a tape, each with the number of its place."""
    head, *exchanges = lines
    return [head, *(canonical_bytes(json.loads(one) | {"seq": seq}) + b"\n" for seq, one in enumerate(exchanges))]


TAPES = {
    "an exchange left out": (lambda one: one[:3] + one[4:], "E_TAPE_FORM"),
    "an exchange left out, the others numbered anew": (lambda one: numbered(one[:3] + one[4:]), "E_TAPE_QUESTION"),
    "the last answer left out": (lambda one: one[:-1], "E_TAPE_MISSING"),
    "an answer too many": (lambda one: numbered([*one, one[-1]]), "E_TAPE_EXTRA"),
    "two exchanges swapped": (lambda one: numbered([*one[:3], one[4], one[3], *one[5:]]), "E_TAPE_QUESTION"),
    "another question": (lambda one: [one[0], one[1].replace(b'"question":"', b'"question":"0', 1), *one[2:]], "E_TAPE_QUESTION"),
    "another process": (lambda one: [one[0], one[1].replace(b'"session":0', b'"session":1'), *one[2:]], "E_TAPE_QUESTION"),
    "no tape": (lambda one: [], "E_TAPE_MISSING"),
    "another text": (lambda one: [one[0], one[1].replace(b"player", b"blayer"), *one[2:]], "E_TAPE_FORM"),
    "a torn line": (lambda one: [*one[:-1], one[-1][:-1]], "E_TAPE_FORM"),
    "another head": (lambda one: [one[0].replace(b'"head":"0', b'"head":"1'), *one[1:]], "E_TAPE_FORM"),
    "a denial made a time-out": (lambda one: [*one[:3], late(one[3]), *one[4:]], "E_REPLAY"),
}  # fmt: skip


def late(line):
    answer = json.loads(line) | {
        "failure": "timed_out",
        "reason": "timeout",
        "received": None,
        "sha256": None,
        "size": 0,
    }
    return canonical_bytes(answer) + b"\n"


@pytest.mark.parametrize("case", TAPES)
def test_a_tape_that_does_not_fit_is_found(case, copied):
    change, code = TAPES[case]
    reseal(copied, TAPE, b"".join(change(lines(copied, TAPE))))
    assert codes(copied) == [code]


@pytest.mark.medium
def test_an_agent_in_yaml_that_is_not_in_time_is_ended_in_a_live_run(tmp_path, monkeypatch):
    (tmp_path / "patient.yaml").write_text(
        "spec: governor/v1\nname: patient\nextends: axion-kernel\nadmission: {watchdog_ms: 2000}\n", encoding="utf-8"
    )
    (tmp_path / "live.yaml").write_text(
        "spec: scenario/v1\nname: live\nextends: axion-resource\ngovernor: patient\nepisodes: 2\nhorizon: 3\n",
        encoding="utf-8",
    )
    bundle, quick = load(tmp_path / "live.yaml")[0], SpecAgent.submit

    def slow(agent, moment):
        if (moment.episode, moment.t) == (0, 1):
            time.sleep(60)
        return quick(agent, moment)

    with monkeypatch.context() as patch:
        patch.setattr(SpecAgent, "submit", slow)
        finished = execute(bundle, tmp_path / "out", options=RunOptions(live=True))
    assert [one["ended"] for one in bodies_of(finished.place, "episode_end")] == ["hang", "horizon"]
    assert [(one["t"], one["failure"]) for one in tape_of(finished.place)] == [(1, "timed_out")]
    assert [one["event"] for one in log_of(finished.place)].count("FATAL_HANG") == 1
    assert verify(finished.place).verdict is Verdict.PASS


# In a suite

SUITE = """
spec: suite/v1
name: troupe
runs: {all: {scenarios: [stage], seeds: [1], expect: {verdict: INCONCLUSIVE}}}
figures: {hangs: {rate: "ended == 'hang'"}}
checks:
  - {id: hung-once, require: hangs.count == 1 && hangs.of == 2, opportunities: hangs.of}
"""


@pytest.mark.medium
def test_a_suite_goes_on_after_a_hang_and_is_verified_without_the_agent(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    project(tmp_path, {"0/1": "hangs"}, watchdog_ms=2000, episodes=2, horizon=3)
    (tmp_path / "troupe.yaml").write_text(SUITE.lstrip(), encoding="utf-8")
    suite = load(tmp_path / "troupe.yaml")[0]
    with pytest.raises(Rejected, match="E_AGENT_UNTRUSTED"):
        execute(suite, tmp_path / "out")
    with pytest.raises(Rejected, match="E_LIVE"):
        execute(suite, tmp_path / "out", options=RunOptions(trusted=True, live=True))
    finished = execute(suite, tmp_path / "out", options=TRUSTED)
    assert finished.verdict is Verdict.PASS, finished.receipts
    (tmp_path / "player.py").unlink()
    assert verify(finished.place).verdict is Verdict.PASS
    (run,) = finished.place.glob("runs/**/manifest.json")
    assert {path.name for path in run.parent.iterdir()} >= {AUDIT_LOG, TAPE}
