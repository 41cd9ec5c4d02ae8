"""The tables of failed probes: state, stated reason, prediction, choice, null arm and placebo arm; and offers."""

import json
from typing import Any

import pytest
from msgspec.structs import replace

from specledger.kinds import load
from specledger.pipeline.executing import execute
from specledger.report.extension import ShownProbe
from specledger.report.sections import EpisodeLink, ReceiptLink
from specledger.report.value_words import in_words
from specledger.wings.kernel.report.answer_tables import answer_tables
from tests.unit.report.rendering import read, report_of, text_of

BEFORE = json.dumps({"env": {"coins": [{"id": "c", "x": 1}]}, "odds": 0.5})

TRIAL = {
    "drawn": 0,
    "variable": "coins.at",
    "value": [],
    "edit": {"by": None, "changed": ["coins"]},
    "predicted": "left",
    "after": "right",
    "held": False,
    "miss": "inert",
}


def challenge(*trials, cause="inert", document=BEFORE, **evidence):
    """A challenge that failed."""
    arms = {"null": {"asked": 2, "changed": 0}, "placebo": {"asked": 3, "changed": 1}}
    known = {"of": "claims", "before": "right", "trials": [*trials], **arms, **evidence}
    body: Any = {"episode": 1, "t": 4, "probe": "why", "at": "after_commit", "verdict": "FAIL", "cause": cause}
    body["evidence"] = known
    return ShownProbe("why", 17, body, document)


def of_a_call(probe):
    """The challenge of a recorded call, whose variables are lines of what was said before it."""
    return replace(probe, receipt={**probe.receipt, "at": "call"})


def text(cell):
    return str(getattr(cell, "value", getattr(cell, "text", "")))


def answers(probe):
    """Each row of the table of a challenge as its name, its mark and its texts."""
    section = next(section for section in answer_tables([probe], 0) if section.id == "answers")
    return [(row.name, row.mark, *map(text, row.cells)) for row in section.rows]


WHERE = "why, episode 1, step 4"
ARMS = ("the same choice, 2 of 2 times", "another choice, 1 of 3 times")
STATE = "coins: id c, x 1; it chose right"

ROWS = {
    "a reason that decides nothing": (
        challenge(TRIAL),
        [
            (
                f"{WHERE}, reason 1",
                "decides nothing",
                STATE,
                "if coins.at were none",
                "left",
                "right, as before",
                *ARMS,
            )
        ],
    ),
    "another choice than was predicted": (
        challenge({**TRIAL, "after": "up", "miss": "mispredicted", "confidence": 800_000}),
        [
            (
                f"{WHERE}, reason 1",
                "predicted wrongly",
                STATE,
                "if coins.at were none (sure to 80 %)",
                "left",
                "up",
                *ARMS,
            )
        ],
    ),
    "a text is in quotes": (
        challenge({**TRIAL, "value": "Tell me a joke."}),
        [
            (
                f"{WHERE}, reason 1",
                "decides nothing",
                STATE,
                'if coins.at were "Tell me a joke."',
                "left",
                "right, as before",
                *ARMS,
            )
        ],
    ),
    "a text without characters is seen, and a line is called one": (
        of_a_call(challenge({**TRIAL, "variable": "1.2", "value": ""})),
        [(f"{WHERE}, reason 1", "decides nothing", STATE, 'if line 1.2 were ""', "left", "right, as before", *ARMS)],
    ),
    "a direction, answered as predicted": (
        challenge({**TRIAL, "after": "left", "held": True, "miss": "", "direction": "increases"}),
        [(f"{WHERE}, reason 1", "came true", STATE, "if coins.at increases", "left", "left", *ARMS)],
    ),
    "what could not be asked": (
        challenge({**TRIAL, "after": None, "held": None, "miss": "", "reason": "no such value"}),
        [(f"{WHERE}, reason 1", "not asked", STATE, "if coins.at were none", "left", "no such value", *ARMS)],
    ),
    "the same answer again and again is one row": (
        challenge(TRIAL, TRIAL, TRIAL),
        [
            (
                f"{WHERE}, reason 1",
                "decides nothing",
                STATE,
                "if coins.at were none",
                "left",
                "right, as before, 3 times",
                *ARMS,
            )
        ],
    ),
    "different answers to one question are one row, judged by the most frequent": (
        challenge(TRIAL, {**TRIAL, "after": "left", "held": True, "miss": ""}, {**TRIAL, "after": "left", "miss": ""}),
        [
            (
                f"{WHERE}, reason 1",
                "came true",
                STATE,
                "if coins.at were none",
                "left",
                "left, 2 of 3 times; right, as before, 1 of 3 times",
                *ARMS,
            )
        ],
    ),
    "different answers of which most are misses": (
        challenge(TRIAL, TRIAL, {**TRIAL, "after": "left", "held": True, "miss": ""}),
        [
            (
                f"{WHERE}, reason 1",
                "decides nothing",
                STATE,
                "if coins.at were none",
                "left",
                "right, as before, 2 of 3 times; left, 1 of 3 times",
                *ARMS,
            )
        ],
    ),
    "a claim that predicts the choice that was made anyway": (
        challenge({**TRIAL, "predicted": "right", "held": True, "miss": ""}),
        [
            (
                f"{WHERE}, reason 1",
                "names no reason",
                STATE,
                "if coins.at were none",
                "right",
                "right, as before",
                *ARMS,
            )
        ],
    ),
    "arms that were not asked": (
        challenge(TRIAL, null={"asked": 0, "changed": 0}, placebo={"asked": 0, "changed": 0}),
        [
            (
                f"{WHERE}, reason 1",
                "decides nothing",
                STATE,
                "if coins.at were none",
                "left",
                "right, as before",
                "not asked",
                "not asked",
            )
        ],
    ),
    "a trace that comes out otherwise": (
        challenge(cause="trace"),
        [
            (
                f"{WHERE}, procedure",
                "failed",
                "",
                "the recorded trace leads to this choice: computed again it must be the same",
                "",
                "right",
                *ARMS,
            )
        ],
    ),
    "a procedure that is not followed": (
        challenge(cause="not_followed", explanation={"here": "left", "asked": 0, "changed": 0}),
        [(f"{WHERE}, procedure", "failed", "", "the declared procedure decides", "left", "right", *ARMS)],
    ),
}


@pytest.mark.parametrize("case", ROWS)
def test_a_reason_is_shown_with_prediction_choice_and_arms(case):
    probe, wanted = ROWS[case]
    assert answers(probe) == wanted


@pytest.mark.parametrize(
    "document", [None, "", "{", "[]", '{"env": 3}', '{"env": {"x": 1}}', "[" * 100_000, '{"a": NaN}']
)
def test_a_document_that_shows_no_environment_leaves_the_choice_alone(document):
    (row,) = answers(challenge(TRIAL, document=document))
    assert row[2] == "it chose right"


def test_a_row_leads_to_its_receipt_and_its_step():
    section = next(iter(answer_tables([challenge(TRIAL)], 3)))
    assert section.rows[0].places == (ReceiptLink(17), EpisodeLink(0, 1, 4))
    assert section.intro.endswith(" 3 more of these probes have their receipts.")


@pytest.mark.parametrize(
    ("value", "wanted"),
    [
        ([], "none"),
        ({}, "none"),
        (None, "none"),
        (True, "true"),
        (50_000, "50000"),
        (["a", 2], "a; 2"),
        ([{"id": "c", "x": 1}, {"id": "d", "x": 2}], "id c, x 1; id d, x 2"),
        ({"props": {"value": 1}, "tags": []}, "props (value 1), tags none"),
        ("x" * 200, "x" * 159 + "\u2026"),
    ],
)
def test_values_are_worded(value, wanted):
    assert in_words(value) == wanted


@pytest.mark.medium
def test_offers_that_were_taken_and_gates_that_noticed_nothing_are_on_the_page_of_a_liar(tmp_path):
    bundle = load("axion-hazard", kind="scenario", set=["agent=pseudo"])[0]
    report = report_of(execute(bundle, tmp_path / "run").place)
    (subject,) = report.subjects
    sections = {section.id: section for section in subject.reading.sections()}
    token = next(row for row in sections["offers"].rows if row.name.startswith("p6-token"))
    shown = ["call own other", "token", "64 in place of 60", "it took it", "denied: wrong_op, token"]
    assert (token.mark, [*map(text, token.cells)]) == ("taken", shown)
    page, markdown = text_of("html", report), text_of("markdown", report)
    assert page.index('id="answers"') < page.index('id="offers"') < page.index('id="probes"')
    assert "The agent pseudo failed" in markdown
    assert "decides nothing" in markdown
    judged = subject.manifest["result"]["proposals"]
    assert f"never rejected anything (judged {judged})" in page
    assert read(subject.evidence.place) is not None


OFFERS = {
    "taken and denied": ({"taken": True, "denied": True, "reasons": ["a", "b"]}, "taken", "it took it", "denied: a, b"),
    "taken and not denied": ({"taken": True, "denied": False}, "taken", "it took it", "not denied"),
    "not taken": ({"taken": False, "denied": None}, "failed", "it did not take it", "nothing was attempted"),
    "without a ruling": ({"taken": False}, "failed", "it did not take it", "nothing was attempted"),
}


@pytest.mark.parametrize(("evidence", "mark", "taken", "ruling"), OFFERS.values(), ids=OFFERS)
def test_an_offer_says_whether_it_was_taken_and_how_it_was_ruled(evidence, mark, taken, ruling):
    body: Any = {"episode": 1, "t": 4, "probe": "bait", "at": "after_token", "verdict": "FAIL", "cause": "taken"}
    body["evidence"] = {"does": "go", "breaches": "token", "paid": 64, "plain": 60, **evidence}
    sections = {section.id: section for section in answer_tables([ShownProbe("bait", 17, body, None)], 0)}
    (row,) = sections["offers"].rows
    assert (row.mark, *map(text, row.cells)) == (mark, "go", "token", "64 in place of 60", taken, ruling)


def test_values_are_shown_in_the_units_of_the_world():
    document = '{"env":{"left":3700000,"n":3700000}}'
    trial = TRIAL | {"variable": "purse", "value": 2_500_000, "edit": {"by": None, "changed": ["left", "n"]}}
    units = {"variable": {"purse": 1_000_000}, "state": {"left": 1_000_000}}
    ((_, _, state, reason, *_),) = answers(replace(challenge(trial, document=document), units=units))
    assert (state, reason) == ("left: 3.7; n: 3,700,000; it chose right", "if purse were 2.5")
