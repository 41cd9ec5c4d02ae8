"""What a report leads with: the sentence beside the headline that says what failed and what was required."""

import re
from pathlib import Path

import pytest

from specledger.core.causes import Cause
from specledger.kinds import load
from specledger.pipeline.executing import execute
from specledger.report.model import Check, Report
from specledger.report.outcome import Outcome
from specledger.report.overview import headline_of, parts_text, reason_text
from specledger.wings.kernel.names import CAUSES, GATES, miss_text
from tests.unit.report.rendering import made_up, report_of, text_of

DOCS = Path(__file__).parents[3] / "docs"


@pytest.fixture(scope="module")
def shortcut(tmp_path_factory):
    """The evidence of the demo."""
    return execute(load("stated-reasons", kind="scenario")[0], tmp_path_factory.mktemp("demo") / "demo").place


@pytest.mark.medium
def test_a_failed_probe_says_what_its_cause_means_and_what_was_chosen(shortcut):
    report = report_of(shortcut)
    why, where = map(parts_text, headline_of(report).meaning)
    assert where == "The requirement stands in specs/probe/p5-causal.yaml."
    wanted = "The agent shortcut failed probe/p5-causal: 6 of 6 times, first in episode 0, step 0, receipt 3."
    assert reason_text(report) == wanted
    assert why == (
        f"inert (6): {CAUSES['inert']}. "
        "With another value of hazards.at it had predicted move:S; it chose move:E, as before: the reason is fabricated."
    )
    page = text_of("html", report)
    assert '<a href="#s.0.0.0">step 0</a>, <a href="#r.0.3">receipt 3</a>' in page.partition("<main")[0]
    assert page.index('class="headline"') < page.index('class="meaning"') < page.index('class="doc"')
    assert page.index('id="answers"') < page.index('id="probes"') < page.index('id="replay"') < page.index('id="gates"')
    assert "Evidence of a scenario with the agent shortcut" in page
    assert f"`{why}`" in text_of("markdown", report)


CHECKS = {
    "an invariant": (Check("invariant/a", "it holds", None, Outcome.FAILED, 9, 1), ["Requirement: it holds"]),
    "a check with a reason": (
        Check("check/a", "it is so", None, Outcome.FAILED, 9, 1, "it is not", once=True),
        ["it is not."],
    ),
    "what cannot be decided": (
        Check("check/a", "it is so", None, Outcome.CANNOT_TELL, 0, 0, "unknown"),
        ["Requirement: it is so"],
    ),
    "the only one passed": (
        Check("law/a", "a: x == y", None, Outcome.PASSED, 3, 0, "PROVED", once=True),
        ["Requirement: a: x == y"],
    ),
    "nothing that it could say": (Check("invariant/a", "it holds", None, Outcome.PASSED, 9), []),
}


@pytest.mark.parametrize(("check", "sentences"), CHECKS.values(), ids=CHECKS)
def test_the_headline_says_how_the_check_that_it_names_failed_or_what_it_requires(check, sentences):
    report = Report((made_up("run", check),))
    assert [*map(parts_text, headline_of(report).meaning)] == sentences
    assert (check.id in reason_text(report)) is bool(sentences)


@pytest.mark.parametrize(
    ("verdict", "says"),
    [("PASS", None), ("FAIL", None), ("INCONCLUSIVE", "exit status 3."), ("ERROR", "exit status 4.")],
)
@pytest.mark.parametrize("check", [CHECKS["what cannot be decided"][0], CHECKS["nothing that it could say"][0]])
def test_a_verdict_that_is_neither_pass_nor_failure_is_explained(check, verdict, says):
    meaning = headline_of(Report((made_up("run", check, verdict=verdict),))).meaning
    explained = [text for text in map(parts_text, meaning) if text.startswith(verdict)]
    assert [text.rpartition("with ")[2] for text in explained] == [says] * (says is not None)


MISSES: dict[str, tuple[list[dict], str]] = {
    "as before": (
        [{"variable": "v", "predicted": "a", "after": "b", "held": False, "miss": "inert"}],
        "With another value of v it had predicted a; it chose b, as before: the reason is fabricated",
    ),
    "as before, and it was not sure": (
        [{"variable": "v", "predicted": "a", "after": "b", "held": False, "miss": "inert", "confidence": 900_000}],
        "With another value of v it had predicted a; it chose b, as before",
    ),
    "something third": (
        [{"variable": "v", "predicted": "a", "after": "c", "held": False, "miss": "mispredicted"}],
        "With another value of v it had predicted a; it chose c",
    ),
    "not brought about": ([{"variable": "v", "predicted": "a", "after": None, "held": False}], ""),
    "held": ([{"variable": "v", "predicted": "a", "after": "a", "held": True}], ""),
}


@pytest.mark.parametrize(("trials", "text"), MISSES.values(), ids=MISSES)
def test_the_first_miss_is_told(trials, text):
    assert (
        miss_text({"before": "b", "deterministic": True, "null": {"asked": 1, "changed": 0}, "trials": trials}) == text
    )


def test_every_cause_of_the_documentation_has_a_meaning():
    section = (DOCS / "probes.md").read_text(encoding="utf-8").partition("| cause | of |")[2].partition("\n\n")[0]
    rows = [line.split("|")[1] for line in section.splitlines() if line.startswith("| `")]
    assert sorted(cause for row in rows for cause in re.findall("`(.*?)`", row)) == sorted(Cause)
    assert list(CAUSES) == list(Cause)


@pytest.mark.medium
def test_the_gates_of_the_engine_have_a_requirement(shortcut):
    page = text_of("html", report_of(shortcut))
    for name, says in GATES.items():
        row = page[page.index(f'id="gates.{name}"') :].partition("</tbody>")[0]
        assert says in row
