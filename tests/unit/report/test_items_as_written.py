"""How an item of each outcome is written in full: as a case of JUnit, a result of SARIF and a command of GitHub."""

import json
import re

import pytest

from specledger.report.control import Control, Judgement, Match, Waiver
from specledger.report.model import Report
from specledger.report.outcome import Outcome
from tests.unit.report.rendering import made_up, text_of
from tests.unit.report.test_items_in_full import DIGEST, KEY, check, seen

STEP, ACCEPTED = (
    "episode 0/step 3/receipt 7",
    [{"kind": "external", "status": "accepted", "justification": "Ann, until 2026-12-31: later"}],
)

# a check and the state of a waiver that covers it: what stands in its case, its results, its commands
WRITTEN = {
    "passed": (
        check(), None,
        '/>',
        [],
        [],
    ),
    "passed with an observation": (
        check(seen=[seen()]), None,
        '/>',
        [],
        [],
    ),
    "failed": (
        check(Outcome.FAILED), None,
        '><failure message="failed 1 of 9 times: it is kept" type="failed">\nit is kept\n</failure></testcase>',
        [('invariant/kept', 0, 'fail', 'error', 'failed: it is kept', [KEY], None)],
        ['::error title=walk%3A invariant/kept::failed 1 of 9 times: it is kept'],
    ),
    "failed and seen": (
        check(Outcome.FAILED, "it broke", [seen(), seen(t=4, seq=9)], more=2), None,
        '><failure message="failed 1 of 9 times: it broke (first: receipt 7, broken x is 1)" type="failed">\nit is kept\nreceipt 7, episode 0, step 3: broken  x is 1  (and 1 more, the last in receipt 9)\nand 2 more\n</failure></testcase>',
        [('invariant/kept', 0, 'fail', 'error', 'failed: broken x is 1', [KEY, STEP], None), ('invariant/kept', 0, 'fail', 'error', 'failed: broken x is 1', [KEY, 'episode 0/step 4/receipt 9'], None)],
        ['::error title=walk%3A invariant/kept::failed 1 of 9 times: it broke (first: receipt 7, broken x is 1)'],
    ),
    "a warning": (
        check(Outcome.FAILED, warning=True), None,
        '><system-out>\nit is kept\n</system-out></testcase>',
        [('invariant/kept', 0, 'fail', 'warning', 'failed: it is kept', [KEY], None)],
        ['::warning title=walk%3A invariant/kept::failed 1 of 9 times: it is kept'],
    ),
    "a warning that is seen": (
        check(Outcome.FAILED, seen=[seen()], warning=True), None,
        '><system-out>\nit is kept\nreceipt 7, episode 0, step 3: broken  x is 1\n</system-out></testcase>',
        [('invariant/kept', 0, 'fail', 'warning', 'failed: broken x is 1', [KEY, STEP], None)],
        ['::warning title=walk%3A invariant/kept::failed 1 of 9 times: it is kept (first: receipt 7, broken x is 1)'],
    ),
    "waived": (
        check(Outcome.FAILED), 'active',
        '><skipped message="WAIVED (failed) by Ann until 2026-12-31: later (control c-1); failed 1 of 9 times: it is kept" type="WAIVED">\nit is kept\n</skipped></testcase>',
        [('invariant/kept', 0, 'fail', 'error', 'WAIVED (failed) by Ann until 2026-12-31: later; failed: it is kept', [KEY], ACCEPTED)],
        ['::notice title=walk%3A invariant/kept::WAIVED (failed) by Ann until 2026-12-31: later (control c-1); failed 1 of 9 times: it is kept'],
    ),
    "waived too late": (
        check(Outcome.FAILED), 'expired',
        '><failure message="failed 1 of 9 times: it is kept" type="failed">\nit is kept\n</failure></testcase>',
        [('invariant/kept', 0, 'fail', 'error', 'failed: it is kept', [KEY], None)],
        ['::error title=walk%3A invariant/kept::failed 1 of 9 times: it is kept'],
    ),
    "cannot tell": (
        check(Outcome.CANNOT_TELL, "no sum"), None,
        '><error message="cannot tell: no sum" type="cannot tell">\nit is kept\n</error></testcase>',
        [('invariant/kept', 0, 'open', 'none', 'cannot tell: no sum', [KEY], None)],
        ['::warning title=walk%3A invariant/kept::cannot tell: no sum'],
    ),
    "untested": (
        check(Outcome.UNTESTED, "there was no step"), None,
        '><skipped message="untested: there was no step" type="untested"/></testcase>',
        [('invariant/kept', 0, 'open', 'none', 'untested: there was no step', [KEY], None)],
        ['::notice title=walk%3A invariant/kept::untested: there was no step'],
    ),
    "differs": (
        check(Outcome.DIFFERS, seen=[seen()]), None,
        '><skipped message="differs: it is kept (first: receipt 7, broken x is 1)" type="differs"/></testcase>',
        [('invariant/kept', 0, 'review', 'none', 'differs: broken x is 1', [KEY, STEP], None)],
        ['::notice title=walk%3A invariant/kept::differs: it is kept (first: receipt 7, broken x is 1)'],
    ),
    "does not apply": (
        check(Outcome.NOT_APPLICABLE, "never"), None,
        '><skipped message="not applicable: never" type="not applicable"/></testcase>',
        [],
        [],
    ),
}  # fmt: skip


def report(made, waiver):
    if waiver is None:
        return Report((made_up("walk", made),))
    given, row = Waiver("Ann", "later", "2026-12-31", waiver), Match(made.id, 0, made.outcome)
    control = Control("c-1", "Care", "it must", "shown", made.outcome, "", (row,), (), given, ())
    return Report((made_up("walk", made),), judgement=Judgement("care", "", "", DIGEST, "2026-01-31", (control,)))


@pytest.mark.parametrize("case", WRITTEN)
def test_a_case_of_junit(case):
    made, waiver, inner, _, _ = WRITTEN[case]
    begin = '<testcase classname="scenario.walk" name="invariant/kept" time="0"'
    (written,) = re.findall(rf"{begin}(/>|>.*?</testcase>)", text_of("junit", report(made, waiver)), re.DOTALL)
    assert written == inner


@pytest.mark.parametrize("case", WRITTEN)
def test_the_results_of_sarif(case):
    made, waiver, _, results, _ = WRITTEN[case]
    run = json.loads(text_of("sarif", report(made, waiver)))["runs"][0]
    assert [
        (
            result["ruleId"],
            result["ruleIndex"],
            result["kind"],
            result["level"],
            result["message"]["text"],
            [place["fullyQualifiedName"] for place in result["locations"][0]["logicalLocations"]],
            result.get("suppressions"),
        )
        for result in run["results"]
    ] == results
    assert [rule["id"] for rule in run["tool"]["driver"]["rules"]] == ["invariant/kept", "replay"]


@pytest.mark.parametrize("case", WRITTEN)
def test_the_commands_of_github(case):
    made, waiver, _, _, commands = WRITTEN[case]
    told = [line for line in text_of("github", report(made, waiver)).splitlines() if "title=walk" in line]
    assert told == commands


COUNTS = [
    ([], 'tests="1" failures="0" errors="0" skipped="0"'),
    ([check(Outcome.FAILED), check()], 'tests="3" failures="1" errors="0" skipped="0"'),
    ([check(Outcome.FAILED, warning=True)], 'tests="2" failures="0" errors="0" skipped="0"'),
    ([check(Outcome.CANNOT_TELL), check(Outcome.FAILED)], 'tests="3" failures="1" errors="1" skipped="0"'),
    ([check(outcome) for outcome in Outcome], 'tests="7" failures="1" errors="1" skipped="3"'),
]


@pytest.mark.parametrize(("checks", "counts"), COUNTS)
def test_junit_counts_how_cases_ended(checks, counts):
    text = text_of("junit", Report((made_up("walk", *checks),)))
    assert f'<testsuites name="specledger" {counts} time="0">' in text
    assert f'<testsuite name="scenario.walk" {counts} time="0">' in text


@pytest.mark.parametrize(("number", "lines", "last"), [(10, 10, "::error title=walk"), (11, 10, "::error title=more")])
def test_github_shows_ten_commands_of_a_type(number, lines, last):
    commands = text_of("github", Report((made_up("walk", *[check(Outcome.FAILED)] * number),))).splitlines()
    assert len(commands) == lines
    assert commands[-1].startswith(last)
    assert number == lines or commands[-1] == "::error title=more findings::2 more findings of this type"
