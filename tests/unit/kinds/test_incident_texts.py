"""What went wrong in a run, for people: which incidents are kept, in which order, and the lines about a run."""

import hashlib
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from specledger.core.events import Event
from specledger.core.verdict import Verdict
from specledger.kinds.incidents import WorstIncidents, incidents_of
from specledger.kinds.running import Finished, Incident, RunOptions, claims_table, footer, text_table

FATAL = {"invariant": "safe", "severity": "fatal", "witness": {"x": 1}}
WARNED = {"invariant": "calm", "severity": "warn", "witness": {}}
STUCK = {"invariant": "progress", "severity": "fatal", "witness": {}}


def step(t, *violations, errors=(), **more):
    decisions = [{"error": None}, *({"error": error} for error in errors)]
    return Event("step", {"episode": 1, "t": t, "violations": [*violations], "decisions": decisions, **more})


def probe(verdict, **more):
    return Event("probe", {"episode": 1, "t": 2, "probe": "p5", "verdict": verdict, "cause": "inert", **more})


def rules(broken=(), withheld=()):
    return Event("rules", {"episode": 1, "t": 2, "broken": [*broken], "withheld": [*withheld]})


ERROR = {"code": "E_EVAL_RANGE", "expression": "x + 1", "offset": 2}
FOUND: dict[str, tuple[Event, list[Incident]]] = {
    "a commitment": (Event("commit", {}), []),
    "a start": (Event("start", {}), []),
    "an error": (Event("error", {"episode": 1, "t": 2, **ERROR}), [Incident(1, 2, "E_EVAL_RANGE", "x + 1", 2)]),
    "a failed probe": (probe("FAIL"), [Incident(1, 2, "p5", "inert", rank=1)]),
    "a probe with an error": (probe("ERROR"), [Incident(1, 2, "p5", "inert", rank=1)]),
    "a probe of one agent of several": (probe("FAIL", agent="a"), [Incident(1, 2, "a.p5", "inert", rank=1)]),
    "a probe that passed": (probe("PASS"), []),
    "a probe that was not decided": (probe("INCONCLUSIVE"), []),
    "a broken rule": (
        rules([{"rule": "p.r", "reason": "too much", "severity": "fatal"}]),
        [Incident(1, 2, "p.r", "too much")],
    ),
    "a rule that warns": (
        rules([{"rule": "p.r", "reason": "too much", "severity": "warn"}]),
        [Incident(1, 2, "p.r", "too much", rank=2)],
    ),
    "before a value was withheld": (
        rules((), [{"rule": "a", "status": "held"}, {"rule": "b", "status": "broken"}]),
        [Incident(1, 2, "b", "broken before a value was withheld", rank=1)],
    ),
    "broken invariants": (
        step(3, FATAL, WARNED),
        [Incident(1, 3, "safe", {"x": 1}), Incident(1, 3, "calm", {}, rank=2)],
    ),
    "no progress of one agent": (step(3, STUCK, agent="a"), [Incident(1, 3, "a.progress", {})]),
    "an error in a decision": (step(3, errors=[ERROR]), [Incident(1, 3, "E_EVAL_RANGE", "x + 1", 2)]),
    "at the end of an episode": (
        Event("episode_end", {"episode": 1, "steps": 7, "violations": [FATAL]}),
        [Incident(1, 7, "safe", {"x": 1})],
    ),
}


@pytest.mark.parametrize(("event", "incidents"), FOUND.values(), ids=FOUND)
def test_the_failures_in_a_receipt(event, incidents):
    assert incidents_of(event) == incidents


def violation(t, name, severity="fatal"):
    return step(t, {"invariant": name, "severity": severity, "witness": {}})


def kept(*events):
    worst = WorstIncidents()
    for event in events:
        worst.add(event)
    return [(incident.t, incident.what) for incident in worst.kept]


def test_the_first_of_each_invariant_is_kept_before_a_second_one():
    many = [violation(t, "a") for t in range(6)]
    assert kept(*many) == [(t, "a") for t in range(5)]
    assert kept(*many, violation(9, "b")) == [*((t, "a") for t in range(4)), (9, "b")]


def test_the_most_severe_are_kept_and_come_first():
    events = [violation(0, "w", "warn"), probe("FAIL"), violation(5, "f")]
    assert kept(*events) == [(5, "f"), (2, "p5"), (0, "w")]
    fatal = [violation(t, f"f{t}") for t in range(5)]
    assert kept(*events[:2], *fatal) == [(t, f"f{t}") for t in range(5)]


def test_nothing_takes_the_place_of_the_first_of_as_many_invariants():
    fatal = [violation(t, f"f{t}") for t in range(5)]
    assert kept(*fatal, violation(9, "g"))[-1] == (4, "f4")


def test_expressions_that_failed_are_told_apart():
    other = {**ERROR, "expression": "y"}
    events = [step(0, errors=[ERROR]), *(step(t, errors=[ERROR]) for t in range(1, 5)), step(9, errors=[other])]
    assert [t for t, _ in kept(*events)] == [0, 1, 2, 3, 9]


@pytest.mark.parametrize(
    ("incident", "text"),
    [
        (Incident(0, 3, "safe", {"x": 1}), 'episode 0, step 3: safe  {"x":1}'),
        (Incident(0, 3, "E", "x + 1", at="a.yaml:1:2"), "episode 0, step 3: E  x + 1  (a.yaml:1:2)"),
        (Incident(0, 3, "E", "x", at="a:1:2", why="x is 9"), "episode 0, step 3: E  x  (a:1:2): x is 9"),
        (Incident(0, 3, "E", "\x1b"), "episode 0, step 3: E  \\x1b"),
    ],
)
def test_an_incident_on_a_line(incident, text):
    assert str(incident) == text


MANIFEST = {"result": {"verdict": "PASS"}, "specs": "s", "receipts": {"count": 3, "root": "r"}, "files": []}


@pytest.mark.parametrize(
    ("replayed", "ending"), [(None, "PASS"), ("PASS", "PASS"), ("FAIL", "FAIL"), ("INCONCLUSIVE", "INCONCLUSIVE")]
)
def test_a_run_ends_as_its_replay_does_if_that_is_worse(replayed, ending):
    verification: Any = None if replayed is None else SimpleNamespace(verdict=Verdict(replayed))
    finished = Finished("n", "scenario", Path("out"), MANIFEST, replayed=verification)
    assert (finished.verdict, finished.ending) == (Verdict.PASS, Verdict(ending))


@pytest.mark.parametrize(("replaced", "words"), [(False, ""), (True, " (replaces an earlier bundle)")])
def test_the_last_lines_about_a_run(replaced, words):
    finished = Finished("n", "scenario", Path("out/n"), MANIFEST, replaced=replaced)
    assert footer(finished) == ["  specs    s", "  receipts 3, root r", f"  evidence out/n{words}"]


def test_the_last_lines_about_a_run_of_logs_have_their_digest(tmp_path):
    manifest = {**MANIFEST, "files": [{"path": "trajectories.jsonl", "sha256": "d", "size": 1}]}
    (tmp_path / "trajectories.jsonl").write_bytes(b"a line\n")
    lines = footer(Finished("n", "scenario", tmp_path, manifest))
    digest = hashlib.sha256(b"a line\n").hexdigest()
    assert lines == ["  specs     s", f"  recording {digest}", "  receipts  3, root r", f"  evidence  {tmp_path}"]


def test_columns_of_a_table_are_aligned_but_for_the_last():
    rows = [["a", "bb", "last"], ["aaa", "b", "x"], ["a", "", ""]]
    assert text_table("t", rows) == ["  t", "    a    bb  last", "    aaa  b   x", "    a"]
    assert text_table("t", []) == []


def test_claims_are_said_with_what_they_do_not_show():
    assert claims_table({}) == []
    lines = claims_table({"p6": {"held": 1, "tested": 2}, "p5": {"held": 4, "tested": 4}})
    assert lines == [
        "  claims that held",
        "    p5  4 of 4  95 %: 51.01 % to 100.00 %  noticed with 80 %: 33.13 % false",
        "    p6  1 of 2  95 %: 9.45 % to 90.55 %    noticed with 80 %: 55.28 % false",
        "  That a challenge passes means that no tested reason was shown false; it is no proof of honesty.",
    ]


@pytest.mark.parametrize(("resume", "told"), [(True, [(1, 2, "run")]), (False, [])])
def test_what_a_resumed_run_takes_over_is_told(resume, told):
    heard: list[Any] = []
    RunOptions(resume=resume, tell=lambda *words: heard.append(words)).taken(1, 2, "run")
    RunOptions(resume=resume).taken(1, 2, "run")
    assert heard == told
