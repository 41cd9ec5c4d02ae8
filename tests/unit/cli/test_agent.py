"""`spec agent check`: whether an agent answers in time and with valid proposals."""

import json
import sys

import pytest

from specledger.core.events import Event
from specledger.core.verdict import Exit, Verdict
from specledger.oracles.answer import Answer, Asked, Exchange
from specledger.report.agent import read_agent
from specledger.report.agent_trial import NO_CLAIMS, Trial

pytestmark = pytest.mark.filterwarnings("ignore:.*use of fork:DeprecationWarning")  # a test runner may have threads

FUNCTIONS = """
def speaking(propose):
    def answer(message):
        if message["type"] != "decide":
            return {"type": "hello", "name": "a"} if message["type"] == "hello" else {"type": "ready"}
        return {"type": "proposals", "proposals": propose(message)}
    return answer

def step(n):
    return {"action": {"op": "climb", "by": 1}, "score": 0, "top": n + 1}

@speaking
def good(question):
    return [step(question["observation"]["n"])]

@speaking
def silent(question):
    return []

@speaking
def mute(question):
    t, right = question["t"], step(question["observation"]["n"])
    less = {"action": right["action"], "score": 0}
    return [[right, less], [less], [right, {**right, "top": "one"}]][t]

@speaking
def wrong(question):
    t, right = question["t"], step(question["observation"]["n"])
    if t == 1:
        raise ValueError("secret")
    return [7, [], [{**right, "action": {"op": "fly"}}, right]][t]
"""


@pytest.fixture
def folder(project):
    (project / "upward.py").write_text(FUNCTIONS, encoding="utf-8")
    for name in ("good", "silent", "mute", "wrong"):
        text = f"spec: agent/v1\nname: {name}\noutside: {{python: 'upward:{name}', deadline_ms: 20000}}\n"
        (project / f"{name}.yaml").write_text(text, encoding="utf-8")
    return project


def check(spec, *words):
    return spec("agent", "check", *words, "--scenario", "climb.yaml", "--trust-agent")


@pytest.mark.parametrize(
    ("name", "status", "verdict"),
    [("good", Exit.CONFORMS, "PASS"), ("silent", Exit.INCONCLUSIVE, "INCONCLUSIVE"), ("wrong", Exit.FINDINGS, "FAIL")],
)
def test_how_an_agent_answers_is_how_the_command_ends(spec, folder, name, status, verdict):
    done = check(spec, f"{name}.yaml", "--format", "json")
    assert (done.status, done.json["verdict"], done.json["agent"]) == (status, verdict, name)
    assert (done.json["decisions"], done.json["outside"]) == (3, True)
    assert done.codes == {"wrong": ["E_AGENT_PROTOCOL", "E_AGENT_PROTOCOL", "E_AGENT_PROPOSAL"]}.get(name, [])
    if name == "wrong":
        assert (done.json["failures"], done.json["malformed"]) == (
            {"raised": 1, "wrong_form": 1},
            {"unknown_action": 1},
        )
        line = FUNCTIONS[: FUNCTIONS.index('raise ValueError("secret")')].count("\n") + 1
        assert done.json["details"]["raised"] == f"ValueError: secret (upward.py:{line})"
        assert "(first in `decide` of episode 0, step 1)" in done.err.replace("\n", " ")


@pytest.mark.parametrize("format_", ["human", "json", "junit", "sarif", "github"])
def test_a_claim_that_is_missing_is_named(spec, folder, format_):
    done = check(spec, "mute.yaml", "--format", format_)
    assert done.status == Exit.FINDINGS
    said = "malformed_proposal, `[1].top` is missing in episode 0, step 0, expected int"
    assert said in done.err.replace("\n", " ")
    if format_ == "json":
        assert (done.json["lacking"], done.json["malformed"]) == (["top"], {"malformed_proposal": 3})
    assert format_ == "human" or said in done.out


def test_arguments_that_an_operation_does_not_take_are_named(spec, folder):
    text = FUNCTIONS.replace('"by": ', '"bye": ')
    assert text != FUNCTIONS
    (folder / "upward.py").write_text(text, encoding="utf-8")
    done = check(spec, "good.yaml")
    assert done.status == Exit.FINDINGS
    assert "malformed_proposal (`[0].action` has `bye`, and 'climb' takes `by`)" in done.err.replace("\n", " ")


@pytest.mark.medium
def test_messages_that_were_not_tried_are_told_together(spec, folder):
    told = "  not tried: `ask`, `offer`, `restate`, `reveal`, `snapshot`, `restore`: no kernel asks it here"
    assert told in check(spec, "good.yaml").out.splitlines()
    done = check(spec, "--command", "true", "--deadline-ms", "120000", "--decisions", "1")
    assert "`reset`, `decide`, `ask`" in done.out
    assert "`hello` has no valid answer" in done.out


def test_an_agent_that_is_a_spec_needs_no_leave(spec, folder):
    done = spec("agent", "check", "climber.yaml", "--scenario", "climb.yaml", "--decisions", "2")
    assert (done.status, done.err) == (Exit.CONFORMS, "")
    assert done.out.startswith("climber in climb: answers in time and with valid proposals\n")


@pytest.mark.parametrize(
    "words",
    [
        ("--scenario", "climb.yaml"),
        ("climber.yaml", "--command", "x", "--scenario", "climb.yaml"),
        ("climber.yaml", "--deadline-ms", "3", "--scenario", "climb.yaml"),
        ("--command", "'", "--scenario", "climb.yaml"),
        ("--command", "", "--scenario", "climb.yaml"),
        ("climb.yaml", "--scenario", "climb.yaml"),
        ("climber.yaml",),
    ],
)
def test_what_cannot_be_tried_is_refused(spec, folder, words):
    assert spec("agent", "check", *words).status == Exit.INVALID


def end(*faults):
    told = [{"t": t, "message": "decide", "reason": reason} for t, reason in faults]
    return "episode_end", {"episode": 0, "faults": told}


EXCHANGE = Exchange(0, 0, Asked(0, "decide", "0" * 64), Answer())


def test_nothing_in_time_has_a_code_of_its_own():
    reading = read_agent([end((0, "timed_out"), (1, "timed_out"))], [EXCHANGE, EXCHANGE])
    (late,) = reading.findings()
    assert late.code == "E_AGENT_LATE"
    assert "2 (first in `decide` of episode 0, step 0) of 2 messages" in late.message


def test_a_kernel_s_ruling_on_what_never_came_is_not_told_twice():
    failing = [{"gate": "schema", "reason": "E_CANON_JSON", "witness": None}]
    step = Event("step", {"episode": 0, "t": 0, "decisions": [{"rejected": failing, "error": None}]})
    reading = read_agent([(step.type, step.body), end((0, "not_json"))], [EXCHANGE])
    assert (reading.decisions, reading.failures, reading.malformed) == (1, {"not_json": 1}, {})
    assert read_agent([], None).verdict is Verdict.INCONCLUSIVE


PROGRAM = """import json, sys, time

for line in sys.stdin:
    message = json.loads(line)
    answer = {"id": message["id"], "type": "ready"}
    if message["type"] == "hello":
        answer |= {"type": "hello", "name": "a"}
    if message["type"] == "decide":
        @act@
    print(json.dumps(answer), flush=True)
"""
STATED = "answer |= {'type': 'statement', 'action': {'op': 'wait'}, 'claims': [{'variable': 'VARIABLE', 'becomes': [], 'choice': CHOICE}], 'commitment': '0' * 64}"


def stated(variable="objects.at", choice="{'op': 'wait'}"):
    return STATED.replace("VARIABLE", variable).replace("CHOICE", choice)


MISTAKES = {
    "an exception": ("raise SystemExit(3)", "closed", "exit:3"),
    "another id": (stated() + "; answer['id'] = -1", "wrong_id", "expected `id` 2, found -1"),
    "another type": ("pass", "wrong_type", "expected `type` statement or document, found 'ready'"),
    "no JSON": ("print('ready')", "not_json", "the answer begins 'ready'"),
    "another form": (
        stated().replace("'becomes': []", "'becomes': [], 'confidence': 'x'"),
        "wrong_form",
        '$.claims[0].confidence: "x" is not of type "number"',
    ),
    "an unknown variable": (
        stated("object.at"),
        "unread_claims",
        "'object.at' is none of the `variables` of `hello`, did you mean 'objects.at'?",
    ),
    "no claims": (
        STATED.partition(", 'claims'")[0] + ", 'claims': [], 'commitment': '0' * 64}",
        "not_valid",
        "`claims` is empty: a statement needs at least one, also where no value would change the choice",
    ),
    "an unknown choice": (
        stated(choice="{'op': 'fly'}"),
        "unread_claims",
        "{'op': 'fly'} is none of the `operations` of `hello`",
    ),
}


@pytest.mark.medium
@pytest.mark.parametrize(("act", "reason", "detail"), MISTAKES.values(), ids=MISTAKES)
def test_what_is_wrong_with_an_answer_is_said(spec, tmp_path, act, reason, detail):
    done = tried(spec, tmp_path, PROGRAM.replace("@act@", act))
    assert done.json["details"][reason] == detail


REFUSED = {
    "a place that the schema refuses": ({"proposal_id": 3}, '$: "env" is a required property'),
    "no claims": (None, NO_CLAIMS),
    "what is no JSON": ("{", ""),
}


@pytest.mark.parametrize(("document", "said"), REFUSED.values(), ids=REFUSED)
def test_what_the_schema_refuses_of_the_document_of_a_statement_is_said(document, said):
    claims = [] if document is None else [{"variable": "x", "becomes": 1, "choice": {"op": "wait"}}]
    received = json.dumps({"type": "statement", "action": {"op": "wait"}, "claims": claims}).encode()
    text = document if isinstance(document, str) else json.dumps(document or {})
    commit = "commit", {"episode": 0, "t": 0, "proposals": [{"action": {"op": "wait"}, "document": text}]}
    rejected = [{"gate": "schema", "reason": "not_valid", "witness": {}}]
    step = "step", {"episode": 0, "t": 0, "decisions": [{"rejected": rejected, "error": None}]}
    exchange = Exchange(0, 0, Asked(0, "decide", "0" * 64), Answer(received))
    trial = Trial([{"type": "decide", "id": 1}], "", "open_proposal")
    detail = read_agent([commit, step], [exchange], trial=trial).details["not_valid"]
    assert detail == said


def test_the_reasons_of_the_gate_schema_under_a_kernel_are_explained(spec):
    assert "needs at least one claim" in spec("explain", "not_valid").out.replace("\n", " ")
    assert spec("explain", "commitment_reused").status == 0


@pytest.mark.medium
def test_a_late_answer_names_the_limit_that_was_applied(spec, tmp_path):
    done = tried(spec, tmp_path, PROGRAM.replace("@act@", "time.sleep(60)"), "--deadline-ms", "100")
    assert done.json["details"]["timed_out"].startswith("the limit is 100 ms, `deadline_ms` of the agent; 2000 ms more")
    done = tried(spec, tmp_path, PROGRAM.replace("@act@", "time.sleep(60)"), "--deadline-ms", "20000")
    assert done.json["details"]["timed_out"].startswith("the limit is 200 ms, `watchdog_ms` of the governor; ")


@pytest.mark.medium
def test_the_end_of_the_standard_error_is_shown_escaped(spec, tmp_path):
    act = "sys.stderr.write('x' * 100000 + '\\n\\x1b[31mred\\n'); sys.exit('no idea')"
    words = ("--command", program(tmp_path, PROGRAM.replace("@act@", act)), *JUDGED)
    done = spec("agent", "check", *words)
    assert "    | \\x1b[31mred\n    | no idea\n" in f"{done.out}\n"
    assert len(done.out) < 5000
    assert "decisions 1\n" in done.out


CLIMBS = """import json, sys
import upward

for line in sys.stdin:
    message = json.loads(line)
    print(json.dumps({**upward.good(message), "id": message["id"]}), flush=True)
"""


@pytest.mark.medium
@pytest.mark.parametrize("target", ["climbs.py", "upward:good"])
def test_a_program_or_a_function_in_place_of_a_spec_is_an_agent(spec, folder, target):
    (folder / "climbs.py").write_text(CLIMBS, encoding="utf-8")
    done = check(spec, target, "--deadline-ms", "20000", "--format", "json")
    assert (done.status, done.json["agent"], done.json["decisions"]) == (Exit.CONFORMS, "commanded", 3)


@pytest.mark.medium
def test_the_agent_of_the_scenario_need_not_exist(spec, folder, edit):
    edit("climb.yaml", "agent: climber", "agent: ./gone.yaml")
    assert spec("check", "climb.yaml").status == Exit.INVALID
    assert check(spec, "good.yaml").status == Exit.CONFORMS


@pytest.mark.medium
def test_a_model_is_tried_by_its_record(spec, tmp_path):
    words = (
        "--scenario",
        "axion-noise",
        "--set",
        "governor=axion-kernel-patient",
        "--decisions",
        "1",
        "--format",
        "json",
    )
    done = spec("agent", "check", "candid-model", *words)
    assert done.codes == ["E_CASSETTE_MISS"]  # the record is of another map; it is found, and read


JUDGED = ("--scenario", "axion-basic", "--set", "probes=[]", "--decisions", "1", "--trust-agent")


def program(folder, text):
    (folder / "program.py").write_text(text, encoding="utf-8")
    return f"{sys.executable} {folder / 'program.py'}"


def tried(spec, folder, text, *words):
    return spec("agent", "check", "--command", program(folder, text), *words, *JUDGED, "--format", "json")


def test_a_scenario_of_several_cases_says_what_to_name(spec, folder):
    text = (folder / "climb.yaml").read_text(encoding="utf-8")
    (folder / "climb.yaml").write_text(text + "\nparams: {s: int}\nmatrix: {s: [1, 2]}\n", encoding="utf-8")
    done = check(spec, "good.yaml")
    assert done.status == Exit.INVALID
    assert "2 cases" in done.err
    assert "without a `matrix`" in done.err


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(("name", "named"), [("good", False), ("wrong", True)])
def test_a_run_names_the_command_that_shows_what_an_agent_with_faults_answers(spec, name, named):
    done = spec("run", "climb.yaml", "--set", f"agent=./{name}.yaml", "--trust-agent")
    assert done.out.startswith("climb  ")
    assert ("`spec agent check`" in done.out) is named
