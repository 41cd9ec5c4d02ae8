"""A run whose agent is outside: what it says is judged like anything else, and replay makes the run again without it."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from msgspec.structs import replace

from specledger.compile.scenario import compile_scenario
from specledger.core.canonical import canonical_bytes
from specledger.core.diagnostics import Rejected
from specledger.core.verdict import Verdict
from specledger.evidence.layout import AUDIT_LOG, TAPE
from specledger.kinds import load
from specledger.kinds.running import RunOptions
from specledger.oracles.recording import Oracle, Tape, TapeError
from specledger.oracles.tape_file import read_tape
from specledger.pipeline.checking import check
from specledger.pipeline.executing import execute
from specledger.pipeline.golden import pin
from specledger.pipeline.verifying import verify
from specledger.run.live_run import run_watched
from specledger.run.loop import run
from tests.toys.bundles import bodies_of
from tests.waiting import alive, wait

pytestmark = pytest.mark.filterwarnings("ignore:.*use of fork:DeprecationWarning")  # a test runner may have threads

ROOT = Path(__file__).resolve().parents[3]
TRUSTED = RunOptions(trusted=True)
STAYER = """
import json, os, sys, time
def stay(question, **more):
    seen = question["observation"]
    delta = seen["goal_delta"]
    return {"action": {"op": "move", "dir": "Stay"}, "score": 0, "expected_next_position": seen["position"],
            "V_task_proposal": abs(delta["x"]) + abs(delta["y"])} | more

def fail():
    raise ValueError("secret")

BAD = {@cases@}
PLANS = {}

def decide(message):
    if message["type"] == "hello":
        assert [one["op"] for one in message["operations"]] == ["move"]
        assert message["operations"][0]["args"]["dir"] == ["N", "S", "E", "W", "Stay"]
        return {"id": message["id"], "type": "hello", "name": "stayer"}
    if message["type"] == "reset":
        return {"id": message["id"], "type": "ready"}
    kind = PLANS.get((message["episode"], message["t"]))
    given = [stay(message)] if kind is None else BAD[kind](message)
    return {"id": message["id"], "type": "proposals", "proposals": given} if type(given) is list else given
"""

CASES = {
    "a failure": ("fail()", "raised"),
    "nothing": ("None", "no_answer"),
    "garbage": ('b"{"', "not_json"),
    "an object": ("stay(q)", "wrong_type"),
    "10 MB": ('"x" * 10_000_000', "too_long"),
    "300 proposals": ("[stay(q)] * 300", "too_many_proposals"),
    "a number": ("[7]", "malformed_proposal"),
    "no action": ('[{"score": 1}]', "malformed_proposal"),
    "an action that is none": ('[stay(q, action="move")]', "malformed_proposal"),
    "no operation": ('[stay(q, action={"dir": "N"})]', "malformed_proposal"),
    "an empty operation": ('[stay(q, action={"op": "", "dir": "N"})]', "malformed_proposal"),
    "a claim too many": ("[stay(q, sure=True)]", "malformed_proposal"),
    "a claim of another type": ('[stay(q, V_task_proposal="far")]', "malformed_proposal"),
    "a score with a fraction": ("[stay(q, score=0.5)]", "malformed_proposal"),
    "a score without a canonical form": ("json.dumps([stay(q, score=2**60)])", "wrong_form"),
    "a truth for a score": ("[stay(q, score=True)]", "malformed_proposal"),
    "a huge score": ('\'{"type": "proposals", "id": %d, "proposals": [{"score": 1%s}]}\' % (q["id"], "0" * 40)', "malformed_proposal"),
    "an answer to another message": ('{"id": q["id"] - 1, "type": "proposals", "proposals": [stay(q)]}', "wrong_id"),
    "an answer to no message": ('{"id": True, "type": "proposals", "proposals": [stay(q)]}', "wrong_id"),
    "another type": ('{"id": q["id"], "type": "ready"}', "wrong_type"),
    "a statement": ('{"id": q["id"], "type": "statement", "action": {"op": "move"}, "claims": []}', "wrong_type"),
    "a list": ('b"[]"', "wrong_form"),
    "no proposals": ('{"id": q["id"], "type": "proposals"}', "wrong_form"),
    "an unknown operation": ('[stay(q, action={"op": "fly"})]', "unknown_action"),
    "an unknown argument": ('[stay(q, action={"op": "move", "dir": "Stay", "fast": True})]', "malformed_proposal"),
    "no argument": ('[stay(q, action={"op": "move"})]', "malformed_proposal"),
    "another argument": ('[stay(q, action={"op": "move", "dir": "UP"})]', "malformed_action"),
    "a list for an argument": ('[stay(q, action={"op": "move", "dir": ["N"]})]', "malformed_action"),
    "an answer of its own": ('[stay(q, action={"op": ""}, answer="fine")]', "malformed_proposal"),
    "a hang": ("time.sleep(60)", "timed_out"),
    "an end": ("os._exit(3)", "died"),
}  # fmt: skip
"""Of each bad answer what gives it for a question, and the reason for which it is rejected."""
REASONS = {kind: reason for kind, (_, reason) in CASES.items()}
STAYER = STAYER.replace("@cases@", ", ".join(f"{kind!r}: lambda q: {code}" for kind, (code, _) in CASES.items()))


def project(folder, plans=None, *, agent="python: 'stayer:decide'", deadline_ms=20_000, episodes=1, horizon=4):
    (folder / "stayer.py").write_text(f"{STAYER}\nPLANS.update({plans or {}!r})\n", encoding="utf-8")
    (folder / "bot.yaml").write_text(
        f"spec: agent/v1\nname: bot\noutside: {{{agent}, deadline_ms: {deadline_ms}}}\n", encoding="utf-8"
    )
    (folder / "errand.yaml").write_text(
        "spec: scenario/v1\nname: errand\nextends: hazard\nagent: bot\n"
        f"episodes: {episodes}\nhorizon: {horizon}\n", encoding="utf-8",
    )  # fmt: skip
    return load(folder / "errand.yaml")[0]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.medium
def test_every_bad_answer_is_rejected_by_the_schema_and_the_run_goes_on(folder):
    quick = [kind for kind in REASONS if kind not in ("a hang", "an end")]
    plans = {(0, 2 * number): kind for number, kind in enumerate(quick)}
    finished = execute(project(folder, plans, horizon=2 * len(quick)), folder / "out", options=TRUSTED)
    steps = bodies_of(finished.place, "step")
    for number, kind in enumerate(quick):
        step, after = steps[2 * number : 2 * number + 2]
        ((failing,),) = [decision["rejected"] for decision in step["decisions"]]
        assert (failing["gate"], failing["reason"]) == ("schema", REASONS[kind]), kind
        assert (step["chosen"], after["chosen"]) == (None, 0), kind
    assert b"secret" not in (finished.place / TAPE).read_bytes()
    (folder / "stayer.py").unlink()
    assert verify(finished.place).verdict is Verdict.PASS
    assert "stayer" not in sys.modules


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["a hang", "an end"])
def test_an_agent_that_ends_its_process_is_asked_again_at_the_next_step(kind, folder):
    deadline = 2000 if kind == "a hang" else 120_000
    bundle = project(folder, {(0, 1): kind, (1, 0): kind}, deadline_ms=deadline, episodes=2)
    finished = execute(bundle, folder / "out", options=TRUSTED)
    reasons = [
        [one["reason"] for one in step["decisions"][0]["rejected"]] for step in bodies_of(finished.place, "step")
    ]
    assert reasons == [[], [REASONS[kind]], [], [], [REASONS[kind]], [], [], []]
    assert not (finished.place / AUDIT_LOG).exists()
    assert verify(finished.place).verdict is Verdict.PASS


@pytest.mark.medium
@pytest.mark.parametrize(("start_ms", "horizon", "rejected"), [(60_000, 1, []), (0, 2, ["timed_out"])])
def test_an_agent_that_starts_slower_than_its_deadline_has_its_time_to_start(folder, start_ms, horizon, rejected):
    bundle = project(
        folder, agent=f"python: 'stayer:decide', start_ms: {start_ms}", deadline_ms=250, horizon=horizon, episodes=2
    )
    with (folder / "stayer.py").open("a", encoding="utf-8") as module:
        module.write("time.sleep(0.5)\n")
    steps = bodies_of(execute(bundle, folder / "out", options=TRUSTED).place, "step")
    assert [[one["reason"] for one in step["decisions"][0]["rejected"]] for step in steps] == [rejected] * 2 * horizon


PROGRAM = """
import json, sys
sys.path.insert(0, ".")
from stayer import decide
for line in sys.stdin:
    try:
        print(json.dumps(decide(json.loads(line))), flush=True)
    except ValueError:
        sys.exit(1)
"""


@pytest.mark.medium
def test_an_episode_says_what_an_agent_from_outside_spent_and_one_in_yaml_spends_nothing(folder):
    run = execute(project(folder), folder / "out", options=TRUSTED)
    for end in bodies_of(run.place, "episode_end"):
        assert end["spent"]["messages"] > 0 < end["spent"]["sent"]
    (bundle,) = load("hazard", kind="scenario", set=["episodes=1", "horizon=2"])
    plain = execute(bundle, folder / "plain")
    assert all("spent" not in end for end in bodies_of(plain.place, "episode_end"))


@pytest.mark.slow
def test_a_program_makes_the_same_run_as_a_function(folder):
    (folder / "program.py").write_text(PROGRAM, encoding="utf-8")
    plans = {(0, 1): "an unknown operation"}
    command = f"command: [{sys.executable}, program.py]"
    by_function = execute(project(folder, plans), folder / "function", options=TRUSTED)
    by_program = execute(project(folder, plans, agent=command), folder / "program", options=TRUSTED)
    for type_ in ("commit", "step"):
        assert bodies_of(by_function.place, type_) == bodies_of(by_program.place, type_)
    ends = [
        [{**body, "spent": None} for body in bodies_of(run.place, "episode_end")] for run in (by_function, by_program)
    ]  # what is sent differs by the `hello` of a program
    assert ends[0] == ends[1]
    assert verify(by_program.place).verdict is Verdict.PASS


@pytest.mark.slow
def test_the_example_of_the_documentation_runs(folder, monkeypatch):
    page = (ROOT / "docs/outside.md").read_text(encoding="utf-8")
    agent = re.findall(r"^```yaml\n(.*?)^```$", page, re.M | re.S)[0]
    program = re.findall(r"^```python\n(.*?)^```$", page, re.M | re.S)[1]
    (folder / "walker.yaml").write_text(agent, encoding="utf-8")
    (folder / "walker.py").write_text(program, encoding="utf-8")
    (folder / "walk.yaml").write_text(
        "spec: scenario/v1\nname: walk\nextends: toy-basic\nagent: walker\nepisodes: 1\nhorizon: 4\n", encoding="utf-8"
    )
    bundle = load(folder / "walk.yaml", set=["agent.outside.deadline_ms=20000"])[0]
    finished = execute(bundle, folder / "out", options=TRUSTED)
    assert [step["chosen"] is not None for step in bodies_of(finished.place, "step")] == [True] * 4


@pytest.mark.medium
def test_nothing_is_executed_unless_the_user_trusts_it(folder, monkeypatch):
    bundle = project(folder)
    monkeypatch.setattr(os, "fork", lambda: pytest.fail("something was begun"))
    with pytest.raises(Rejected, match="E_AGENT_UNTRUSTED") as rejected:
        execute(bundle, folder / "out")
    (finding,) = rejected.value.diagnostics
    assert "stayer:decide" in finding.message
    assert finding.span is not None
    assert finding.span.file.endswith("bot.yaml")
    assert not (folder / "out").exists()
    assert check([str(folder / "errand.yaml")])[1] == ()
    with pytest.raises(Rejected, match="E_AGENT_UNTRUSTED"):
        pin(bundle)
    with pytest.raises(Rejected, match="E_AGENT_UNTRUSTED"):
        list(run(compile_scenario(bundle)))


def test_what_it_would_see_of_the_environment_is_said(folder):
    bundle = project(folder, agent="python: 'stayer:decide', environment: [PATH_OF_KEYS, TOKEN]")
    with pytest.raises(Rejected, match="which would see PATH_OF_KEYS, TOKEN"):
        execute(bundle, folder / "out")


LASTING = """
import os, time
from pathlib import Path
Path("pid").write_text(str(os.getpid()))
time.sleep(3600)
"""


@pytest.mark.slow
def test_a_program_ends_with_a_run_that_is_killed(folder):
    """It would not end by itself before the test gives up."""
    (folder / "program.py").write_text(LASTING, encoding="utf-8")
    project(folder, agent=f"command: [{sys.executable}, program.py]", deadline_ms=60_000)
    words = ["-m", "specledger", "run", "errand.yaml", "--trust-agent", "--out", "out"]
    process = subprocess.Popen([sys.executable, *words], env={**os.environ, "PYTHONPATH": str(ROOT / "engine")})
    pid = folder / "pid"
    wait(lambda: process.poll() is not None or (pid.exists() and pid.read_text(encoding="ascii")))
    assert process.poll() is None
    process.kill()
    process.wait()
    wait(lambda: not alive(int(pid.read_text(encoding="ascii"))))


@pytest.mark.medium
def test_an_agent_that_cannot_be_started_leaves_no_bundle(folder):
    with pytest.raises(Rejected, match="E_AGENT_START"):
        execute(project(folder, agent="python: 'no_such_module:f'"), folder / "out", options=TRUSTED)
    assert not (folder / "out").exists()


@pytest.mark.medium
def test_an_agent_that_says_too_much_leaves_no_bundle(folder, monkeypatch):
    monkeypatch.setattr("specledger.oracles.recording.MOST_TAPE", 500)
    with pytest.raises(Rejected, match="E_TAPE_SIZE"):
        execute(project(folder), folder / "out", options=TRUSTED)
    assert not (folder / "out").exists()


@pytest.mark.medium
@pytest.mark.parametrize("name", ["hazard", "errand"])
def test_a_run_without_an_audit_log_is_not_live(name, folder):
    project(folder)
    with pytest.raises(Rejected, match="E_LIVE"):
        execute(
            load(f"{name}.yaml" if name == "errand" else name, kind="scenario")[0],
            folder / "out",
            options=RunOptions(live=True),
        )


@pytest.mark.medium
def test_a_tape_leads_to_the_same_events_as_often_as_it_is_played(folder):
    bundle = project(folder, {(0, 1): "garbage"}, episodes=2)
    finished = execute(bundle, folder / "out", options=TRUSTED)
    tape = read_tape(finished.place / TAPE)
    plan = compile_scenario(bundle)

    def played():
        return [(event.type, canonical_bytes(event.body)) for event in run(replace(plan, oracle=Oracle(tape)))]

    assert played() == played()
    with pytest.raises(TapeError, match="E_TAPE_MISSING"):
        list(run(replace(plan, oracle=Oracle(Tape()))))


# What only a defect leads to


@pytest.mark.medium
def test_a_kernel_that_is_ended_by_somebody_is_no_answer(folder):
    plan = compile_scenario(project(folder))

    def make(given):
        events = run(given)
        yield next(events)
        if given.oracle.live is not None:
            os._exit(9)
        yield from events

    with pytest.raises(Rejected, match="E_KERNEL_DIED"):
        list(run_watched(make, plan, Tape()))


@pytest.mark.medium
def test_a_kernel_that_comes_to_another_state_is_found(folder):
    plan = compile_scenario(project(folder))

    def make(given):
        for event in run(given):
            if event.type == "episode_end" and given.oracle.live is not None:
                yield event._replace(body={**event.body, "steps": 7})
            else:
                yield event

    with pytest.raises(Rejected, match="E_KERNEL_DIFFERS"):
        list(run_watched(make, plan, Tape()))


# What an agent outside cannot be


WRONG = {
    "two ways": ("outside: {python: 'a:b', command: [x]}", "exactly one of"),
    "no way": ("outside: {deadline_ms: 5}", "exactly one of"),
    "another body": ("outside: {python: 'a:b'}\nscore: 1", "no other body"),
    "no body": ("score: 1", "or it is asked `outside`"),
    "no function": ("outside: {python: 'a.b'}", "`python` is not allowed"),
    "no program": ("outside: {command: []}", "1 or more"),
    "no time": ("outside: {python: 'a:b', deadline_ms: 0}", "1"),
}


@pytest.mark.parametrize(("body", "words"), WRONG.values(), ids=WRONG)
def test_an_agent_has_one_body(body, words, folder):
    (folder / "wrong.yaml").write_text(f"spec: agent/v1\nname: wrong\n{body}\n", encoding="utf-8")
    with pytest.raises(Rejected) as rejected:
        load(folder / "wrong.yaml")
    assert any(words in f"{one.message} {one.expected}" for one in rejected.value.diagnostics), rejected.value


@pytest.mark.medium
@pytest.mark.wing("kernel")
def test_an_agent_outside_narrates_for_nobody(folder):
    project(folder)
    Path("teller.yaml").write_text(
        "spec: agent/v1\nname: teller\nextends: pseudo\nnarration: {by: bot}\n", encoding="utf-8"
    )
    Path("unfit.yaml").write_text(
        "spec: scenario/v1\nname: unfit\nextends: toy-basic\nagent: teller\ngovernor: axion-kernel\nprobes: []\n",
        encoding="utf-8",
    )
    with pytest.raises(Rejected, match="E_AGENT_OUTSIDE"):
        compile_scenario(load("unfit.yaml")[0])
