"""Sentences and statements of made-up bundles: outcomes that are rare in runs, and what is cut from long lists."""

import json
from types import SimpleNamespace
from typing import Any
from xml.etree import ElementTree

import pytest
from msgspec.structs import replace

from specledger.report.comparison import _rates, _trend, in_one_table, marks_of
from specledger.report.control import Control, Judgement, Match, Waiver
from specledger.report.formats import FORMATS
from specledger.report.left_open import LeftOpen, mark_of
from specledger.report.model import Check, Observation, Replay, Report
from specledger.report.not_shown import not_shown, replay_text
from specledger.report.outcome import WAIVED, Outcome
from specledger.report.overview import _asked, _bundle, _link, headline_of, parts_text, reason_text
from specledger.report.sections import Count, Grid, Quoted, ReceiptLink, RowLink
from tests.unit.report.rendering import made_up, text_of


def check(name, outcome=Outcome.PASSED, opportunities=9, failures=0, **more):
    return Check(name, f"{name} holds", None, outcome, opportunities, failures, **more)


FIRST = Observation("broken", '{"n":1}', None, 0, 3, 7, "ab" * 32)

REASONS: dict[str, tuple[str, list[Check], str]] = {
    "all passed": ("PASS", [check("invariant/a"), check("invariant/b")], "No check failed: 2 passed."),
    "one without an opportunity": (
        "PASS",
        [check("invariant/a"), check("invariant/b", Outcome.NOT_APPLICABLE)],
        "No check failed: 1 passed, 1 not applicable; without an opportunity: invariant/b.",
    ),
    "one was not tested": (
        "PASS",
        [check("invariant/a"), check("invariant/b", Outcome.UNTESTED, 0)],
        "No check failed: 1 passed, 1 untested; untested: invariant/b.",
    ),
    "four were not tested": (
        "INCONCLUSIVE",
        [check(f"invariant/{name}", Outcome.UNTESTED, 0) for name in "abcd"],
        "No check failed, but the verdict is INCONCLUSIVE: 4 untested; untested: invariant/a, invariant/b, invariant/c.",
    ),
    "one failed": (
        "FAIL",
        [check("invariant/a", Outcome.FAILED, 9, 2, observations=(FIRST,)), check("invariant/b")],
        "invariant/a failed: 2 of 9 times, first in episode 0, step 3, receipt 7.",
    ),
    "two failed, one of them a warning": (
        "FAIL",
        [check("invariant/a", Outcome.FAILED, 9, 2, warning=True), check("invariant/b", Outcome.FAILED, 9, 1)],
        "invariant/b failed: 1 of 9 times. 2 of 2 checks failed.",
    ),
    "a warning": (
        "PASS",
        [check("invariant/a", Outcome.FAILED, 9, 2, warning=True)],
        "invariant/a failed (a warning): 2 of 9 times.",
    ),
    "one cannot be decided": (
        "INCONCLUSIVE",
        [check("check/a", Outcome.CANNOT_TELL, 1, why="too few")],
        "check/a cannot be decided: too few. Checks: 1 cannot tell.",
    ),
    "one cannot be decided and nobody knows why": (
        "INCONCLUSIVE",
        [check("check/a", Outcome.CANNOT_TELL, 1)],
        "check/a cannot be decided: over 1 opportunity. Checks: 1 cannot tell.",
    ),
    "an error goes before what failed and what is unknown": (
        "ERROR",
        [check("a/f", Outcome.FAILED, 2, 1), check("a/u", Outcome.CANNOT_TELL, 2), check("a/e", Outcome.CANNOT_TELL, 2, error=True, why="1 / 0")],
        "a/e cannot be decided: 1 / 0. Checks: 1 failed, 2 cannot tell.",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("verdict", "checks", "sentence"), REASONS.values(), ids=REASONS)
def test_the_reason_of_a_verdict_in_one_sentence(verdict, checks, sentence):
    assert reason_text(Report((made_up("run", *checks, verdict=verdict),))) == sentence


ENDED = {
    "passed": (check("a/x"), "passedTests"),
    "failed": (check("a/x", Outcome.FAILED, 9, 1), "failedTests"),
    "failed with a warning": (check("a/x", Outcome.FAILED, 9, 1, warning=True), "warnedTests"),
    "unknown": (check("a/x", Outcome.CANNOT_TELL, 9), "warnedTests"),
    "unknown with a warning": (check("a/x", Outcome.CANNOT_TELL, 9, warning=True), "warnedTests"),
    "unknown by an error": (check("a/x", Outcome.CANNOT_TELL, 9, error=True), "failedTests"),
    "not tested": (check("a/x", Outcome.UNTESTED, 0), "warnedTests"),
    "not applicable": (check("a/x", Outcome.NOT_APPLICABLE, 0), None),
}


@pytest.mark.parametrize(("one", "listed"), ENDED.values(), ids=ENDED)
def test_a_check_is_a_test_of_a_statement(one, listed):
    predicate = json.loads(text_of("in-toto", Report((stated(made_up("run", one)),))))["predicate"]
    kept = {name: predicate[name] for name in ("passedTests", "failedTests", "warnedTests") if predicate[name]}
    assert kept == ({} if listed is None else {listed: ["a/x"]})
    assert predicate["configuration"][0]["annotations"] == {"replay": "replayed"}


RESULTS = {
    "replayed": ("PASS", Replay.DONE, [check("a/x")], "PASSED"),
    "made by the command": ("PASS", Replay.OWN, [check("a/x")], "PASSED"),
    "not replayed": ("PASS", Replay.NONE, [check("a/x")], "WARNED"),
    "a warning": ("PASS", Replay.DONE, [check("a/x", Outcome.FAILED, 9, 1, warning=True)], "WARNED"),
    "not tested": ("PASS", Replay.DONE, [check("a/x"), check("a/y", Outcome.UNTESTED, 0)], "WARNED"),
    "nothing concluded": ("INCONCLUSIVE", Replay.DONE, [check("a/x")], "WARNED"),
    "a check is open": ("INCONCLUSIVE", Replay.DONE, [check("a/x", Outcome.CANNOT_TELL, 9)], "WARNED"),
    "a failure": ("FAIL", Replay.DONE, [check("a/x")], "FAILED"),
    "an error": ("ERROR", Replay.DONE, [check("a/x")], "FAILED"),
}


@pytest.mark.parametrize(("verdict", "replay", "checks", "result"), RESULTS.values(), ids=RESULTS)
def test_the_result_of_a_statement(verdict, replay, checks, result):
    subject = replace(stated(made_up("run", *checks, verdict=verdict)), replay=replay)
    assert json.loads(text_of("in-toto", Report((subject,))))["predicate"]["result"] == result


def test_what_is_not_decided_is_stated_with_its_reason():
    subject = stated(made_up("run", check("a/x"), check("evidence"), verdict="INCONCLUSIVE"))
    result, verification = text_of("in-toto", Report((subject,)), date="2026-05-14").splitlines()
    (configuration,) = json.loads(result)["predicate"]["configuration"]
    assert configuration["annotations"] == {
        "reason": "No check failed, but the verdict is INCONCLUSIVE: 2 passed.",
        "replay": "replayed",
        "verdict": "INCONCLUSIVE",
    }
    assert json.loads(verification)["predicate"]["properties"] == ["SPECLEDGER_REPLAYED", "SPECLEDGER_evidence"]


UNTOLD = {
    "nothing was tested": ("INCONCLUSIVE", [check("a/x", Outcome.UNTESTED, 0)], True),
    "all passed": ("INCONCLUSIVE", [check("a/x")], True),
    "an error that no check has": ("ERROR", [check("a/x")], True),
    "a failure that no check has": ("FAIL", [check("a/x")], True),
    "a check says it": ("INCONCLUSIVE", [check("a/x", Outcome.CANNOT_TELL, 9)], False),
    "a check failed": ("FAIL", [check("a/x", Outcome.FAILED, 9, 1)], False),
    "a pass": ("PASS", [check("a/x"), check("a/y", Outcome.UNTESTED, 0)], False),
}


@pytest.mark.parametrize(("verdict", "checks", "told"), UNTOLD.values(), ids=UNTOLD)
def test_no_format_looks_passed_where_the_verdict_is_none(verdict, checks, told):
    subject = stated(made_up("run", *checks, verdict=verdict))
    junit = ElementTree.fromstring(text_of("junit", Report((subject,))))
    cases = [case[0].tag for case in junit.iter("testcase") if case.get("name") == "verdict"]
    failed = verdict == "FAIL"
    assert cases == ["failure" if failed else "error"] * told
    assert ((junit.get("errors"), junit.get("failures")) != ("0", "0")) is (verdict != "PASS")
    (run,) = json.loads(text_of("sarif", Report((subject,))))["runs"]
    kinds = [result["kind"] for result in run["results"] if result["ruleId"] == "verdict"]
    assert kinds == ["fail" if failed else "open"] * told
    annotated = [
        line.split(" ")[0] for line in text_of("github", Report((subject,))).splitlines() if "verdict::" in line
    ]
    assert annotated == ["::error" if failed else "::warning"] * told


@pytest.mark.parametrize(
    ("replay", "first"), [(Replay.DONE, ["SPECLEDGER_REPLAYED"]), (Replay.OWN, []), (Replay.NONE, [])]
)
def test_with_a_date_what_holds_is_stated(replay, first):
    subject = replace(
        stated(made_up("run", check("a/x"), check("a/y", Outcome.FAILED, 9, 1), verdict="FAIL")), replay=replay
    )
    lines = text_of("in-toto", Report((subject,)), date="2026-05-14").splitlines()
    predicate = json.loads(lines[1])["predicate"]
    assert (len(lines), predicate["properties"]) == (2, [*first, "SPECLEDGER_a/x"])
    assert predicate["timeCreated"] == "2026-05-14T00:00:00Z"


def stated(subject):
    """A bundle whose manifest lists its specs."""
    return replace(subject, manifest={**subject.manifest, "files": [{"path": "specs.json", "sha256": "12" * 32}]})


def control(number, outcome=Outcome.FAILED, waiver=None, rows=()):
    return Control(f"c{number}", "1", "says so", "met", outcome, "", tuple(rows), (), waiver)


def judged(*controls):
    return Judgement("rules", "a book", "", "0" * 64, "2026-05-14", tuple(controls))


ROW = Match("invariant/a", 0, Outcome.FAILED)
GIVEN = Waiver("ann", "soon", "2026-12-31", "active")
JUDGED = {
    "one of two failed": (
        [control(1, rows=[ROW]), control(2, Outcome.PASSED)],
        "1 of 2 controls failed: c1 (invariant/a of run, 2 of 9 times). All controls: 1 passed, 1 failed.",
    ),
    "as many as are named": (
        [control(number) for number in range(3)],
        "3 of 3 controls failed: c0; c1; c2. All controls: 3 failed.",
    ),
    "more than are named": (
        [control(number) for number in range(5)],
        "5 of 5 controls failed: c0; c1; c2; and 2 more. All controls: 5 failed.",
    ),
    "what is not settled": (
        [control(1, Outcome.UNTESTED), control(2, Outcome.PASSED)],
        "1 of 2 controls are not settled: c1. All controls: 1 passed, 1 untested.",
    ),
    "all are settled": ([control(1, Outcome.PASSED)], "All 1 controls are settled: 1 passed."),
    "a waiver": (
        [control(1, waiver=GIVEN), control(2, Outcome.PASSED)],
        "All 2 controls are settled: 1 passed, 1 WAIVED. c1 WAIVED (failed) by ann until 2026-12-31: soon.",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("controls", "sentence"), JUDGED.values(), ids=JUDGED)
def test_the_reason_of_a_judgement_in_one_sentence(controls, sentence):
    subject = made_up("run", check("invariant/a", Outcome.FAILED, 9, 2), verdict="FAIL")
    headline = headline_of(Report((subject,), judgement=judged(*controls)))
    assert parts_text(headline.reason) == sentence
    assert (headline.kind, headline.title) == ("Profile judged by evidence", "rules")


def test_a_bundle_lists_what_did_not_pass_up_to_a_number():
    checks = [check(f"a/{number:02}", Outcome.UNTESTED, 0, why="why") for number in range(26)]
    row = _bundle(Report((made_up("run", check("a/ok"), *checks),)), 0, "run")
    label, grid = row.details[0]
    assert isinstance(grid, Grid)
    assert (label, len(grid.rows), grid.more) == ("not passed", 24, 2)
    assert grid.rows[0] == ("a/00", "untested", "0 of 0 times", "why")
    assert [label for label, _ in row.details[1:]] == ["specs", "Merkle root"]
    row = _bundle(Report((made_up("run", check("a/ok")),)), 0, "run")
    assert [label for label, _ in row.details] == ["specs", "Merkle root"]


def test_the_row_of_a_rule_of_a_profile():
    one = check("receipts/r", Outcome.FAILED, 9, 1, why="late", observations=(FIRST,), more=3)
    row = _asked(one, None)
    assert (row.name, row.mark, row.of) == ("r", "failed", 4)
    assert row.cells == (Quoted("receipts/r holds"), Count(9))
    assert (list(row.details), row.places) == ([("reason", Quoted("late"))], [ReceiptLink(7)])
    waived = _asked(one, control(1, waiver=GIVEN))
    assert (waived.mark, [label for label, _ in waived.details]) == (WAIVED, ["waiver", "reason"])
    assert _asked(check("receipts/r"), None).details == []


@pytest.mark.parametrize(
    ("match", "bundles", "link"),
    [
        (ROW, 1, RowLink("invariants.a", "invariant/a: failed")),
        (replace(ROW, subject=None), 2, RowLink("", "invariant/a: failed")),
    ],
)
def test_where_the_row_of_a_check_is(match, bundles, link):
    assert _link(match, [made_up(f"run{number}", check("invariant/a")) for number in range(bundles)]) == link


REPLAYS = {
    "all": ([Replay.DONE, Replay.DONE], "replayed"),
    "none": ([Replay.NONE, Replay.NONE], "not replayed"),
    "one of three": (
        [Replay.DONE, Replay.NONE, Replay.NONE],
        "1 of 3 bundles replayed, 2 of 3 bundles not replayed",
    ),
    "own": ([Replay.OWN], "made by this command, not replayed"),
}


@pytest.mark.parametrize(("replays", "words"), REPLAYS.values(), ids=REPLAYS)
def test_whether_bundles_were_replayed_in_words(replays, words):
    subjects = [replace(made_up(f"run{number}"), replay=replay) for number, replay in enumerate(replays)]
    assert replay_text(subjects) == words
    first = f"{words[0].upper()}{words[1:]}: `spec verify` makes the runs again and compares every byte."
    assert not_shown(subjects)[:-2] == (() if set(replays) == {Replay.DONE} else (first,))


def figure(name, groups=1, **more):
    group = {"value": 500_000, "wilson": {"low": 400_000, "high": 600_000}}
    return {"figure": name, "statistic": "rate", "error": None, "groups": [group] * groups} | more


def test_the_rates_of_a_trend_are_those_of_one_group_that_were_computed():
    figures = [
        figure("a"), figure("b", 2), figure("c", statistic="mean"), figure("d", error="E_X"),
        figure("e", groups=0), figure("f") | {"groups": [{"of": 0}]},
    ]  # fmt: skip
    subject: Any = SimpleNamespace(reading=SimpleNamespace(figures=figures))
    assert [name for name, _ in _rates(subject)] == ["a"]


def test_a_trend_has_the_checks_the_first_rates_and_marks_where_the_verdict_changes():
    def bundle(verdict, outcomes, names):
        checks = [check(f"a/{number}", outcome) for number, outcome in enumerate(outcomes)]
        reading: Any = SimpleNamespace(figures=[figure(name) for name in names])
        return replace(made_up("run", *checks, verdict=verdict), reading=reading)

    passed, failed = Outcome.PASSED, Outcome.FAILED
    plot: Any = _trend("T", [
        bundle("PASS", [passed, passed, passed], "abcdefgh"),
        bundle("PASS", [passed, passed, failed], "b"),
        bundle("FAIL", [failed, failed, failed], ""),
        bundle("PASS", [passed, passed, passed], "a"),
    ])  # fmt: skip
    assert [line.name for line in plot.lines] == ["checks passed", "a", "b", "c", "d", "e", "f"]
    assert list(plot.lines[0].values) == [1_000_000, 666_666, 0, 1_000_000]
    assert list(plot.lines[1].values) == [500_000, None, None, 500_000]
    assert [list(edge) for edge in (plot.lines[2].low, plot.lines[2].high)] == [
        [400_000, 400_000, None, None],
        [600_000, 600_000, None, None],
    ]
    assert list(plot.marks) == [(3, "PASS to FAIL"), (4, "FAIL to PASS")]


def test_verdicts_are_counted_the_commonest_first():
    subjects = [made_up(f"run{number}", verdict=verdict) for number, verdict in enumerate(["FAIL", "PASS", "PASS"])]
    assert marks_of(subjects) == [("PASS", 2), ("FAIL", 1)]
    assert not in_one_table(subjects)
    rows = [replace(subject, reading=SimpleNamespace(is_row=True, sections=tuple)) for subject in subjects]
    assert in_one_table(rows)
    assert not in_one_table(rows[:1])
    assert not in_one_table([rows[0], rows[0]])


MARKS = [
    (check("a/x", Outcome.FAILED, 9, 1), "fatal", "broken"),
    (check("a/x", Outcome.CANNOT_TELL, 9), "fatal", "cannot tell"),
    (check("a/x", Outcome.PASSED, 1), "fatal", "held"),
    (check("a/x", Outcome.NOT_APPLICABLE, 0), "fatal", "its condition never held"),
    (check("a/x", Outcome.UNTESTED, 0), "fatal", "never checked"),
]


@pytest.mark.parametrize(("one", "severity", "mark"), MARKS)
def test_what_became_of_an_invariant(one, severity, mark):
    assert mark_of(one, severity) == mark


def test_the_most_frequent_reasons_are_named():
    left = LeftOpen()
    for number in range(7):
        for _ in range(number + 1):
            body: Any = {"unjudged": [{"invariant": "a", "reason": f"r{number}"}]}
            left.add(body)
    assert left.times("a") == 28
    assert left.why("a") == "r6 (7); r5 (6); r4 (5); r3 (4); r2 (3)"
    assert (left.times("b"), left.why("b"), list(left.gates())) == (0, "", [])


def test_which_formats_write_folders_and_which_take_several_bundles():
    assert {name for name, format_ in FORMATS.items() if format_.folder} == {"folder", "index"}
    assert {name for name, format_ in FORMATS.items() if not format_.several} == {"svg", "folder"}
