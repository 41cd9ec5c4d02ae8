"""A mutant that is caught only by unrelated checks, or in shorter episodes, is said to be in the text, the page and JSON."""

import json

import pytest

from specledger.evidence.receipts.suite import Mutant
from specledger.report.mutant_doubts import doubts
from tests.unit.report.rendering import report_of, text_of

SUITE = {
    "mutants": [
        {"id": "plain", "by": ["stays"]},
        {"id": "small", "arms": ["long"]},
        {"id": "alike", "arms": ["long"]},
        {"id": "unrelated", "by": ["stays", "moves"], "arms": ["long"]},
    ]
}


def run(place, steps):
    return {"place": place, "result": {"steps": steps}}


RUNS = [
    run("runs/a", 10),
    run("mutants/plain/a", 9),
    run("controls/small/a", 10),
    run("mutants/small/a", 10),
    run("mutants/alike/a", 4),
    run("mutants/unrelated/a", 12),
]
SHORTER = "its episodes are shorter ({} steps, without the mutant 10), which may be all that is noticed"
CASES = {
    "fewer steps than its control, the suite's own runs": ("plain", ["stays"], [SHORTER.format(9)]),
    "as many steps as its control": ("small", ["climbs"], []),
    "fewer steps than a control that mutants share": ("alike", ["climbs"], [SHORTER.format(4)]),
    "other checks than those that should": (
        "unrelated",
        ["climbs"],
        ["only by checks that are not meant to notice it, which stays, moves should"],
    ),
    "one of those that should": ("unrelated", ["climbs", "moves"], []),
    "one that survived": ("alike", [], []),
}


@pytest.mark.parametrize(("mutant", "caught", "said"), CASES.values(), ids=CASES)
def test_what_speaks_against_a_catch(mutant, caught, said):
    receipt = Mutant(mutant=mutant, suite="s", caught=caught, verdict="PASS", control={}, mutated={})
    assert doubts(receipt, SUITE, RUNS) == said


@pytest.mark.medium
def test_it_is_said_in_the_text_the_page_and_json(project, edit, spec, finished):
    edit("{id: no-bound, arms: [long], set: {", "{id: no-bound, arms: [long], by: [further], set: {horizon: 1, ")
    place = finished().place
    text = spec("run", "heights.yaml", "--out", "again").out
    assert "caught" in text
    said = ["its episodes are shorter", "only by checks that are not meant to notice it, which further should"]
    report = report_of(place)
    told = next(
        check
        for check in json.loads(text_of("json", report))["subjects"][0]["checks"]
        if check["id"] == "mutant/no-bound"
    )
    for sentence in said:
        assert sentence in text
        assert sentence in text_of("html", report)
        assert sentence in told["why"]


def test_a_check_that_there_is_not_is_no_check_that_should_notice_it(spec, project, edit):
    edit("{id: no-bound, arms", "{id: no-bound, by: [furthr], arms")
    told = spec("check", "heights.yaml").err
    assert "E_SUITE_BY" in told
    assert "mutant `no-bound` of `heights`" in told
    assert "did you mean `further`?" in told
