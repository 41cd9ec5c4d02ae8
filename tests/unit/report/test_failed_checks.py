"""The table of what failed: what was required, what was found first, where, and in which file it is written."""

from types import SimpleNamespace
from typing import Any

import pytest
from msgspec.structs import replace

from specledger.report.failed_checks import failed_section, written_in
from specledger.report.figures import figure_titles
from specledger.report.model import Check, Observation
from specledger.report.outcome import Outcome
from specledger.report.sections import Code, EpisodeLink, Prose, Quoted, ReceiptLink, Row, RowLink, open_first
from tests.unit.report.rendering import made_up

SEEN = Observation("broken", "x 1", None, 2, 5, 7, "ab" * 32)


def failed(name, *seen, **more):
    return Check(name, "it holds", None, Outcome.FAILED, 9, 2, observations=seen, **more)


def row_of(check):
    return failed_section(made_up("run", check, failed("invariant/z"))).rows[0]


def test_one_check_is_told_by_the_head_alone_and_those_of_a_suite_by_their_table():
    assert failed_section(made_up("run", failed("invariant/a"))).rows == []
    assert failed_section(made_up("run", failed("check/a"), failed("check/b"))).rows == []
    passed = Check("invariant/b", "", None, Outcome.PASSED, 1)
    rows = failed_section(made_up("run", failed("check/a"), failed("mutant/b"), passed)).rows
    assert [row.name for row in rows] == ["mutant/b"]


@pytest.mark.parametrize(
    ("seen", "found", "step"),
    [
        (SEEN, "episode 2, step 5: broken x 1", [EpisodeLink(0, 2, 5)]),
        (replace(SEEN, ended=True), "episode 2, step 5: broken x 1", []),
        (replace(SEEN, run="r"), "run r, episode 2, step 5: broken x 1", []),
        (replace(SEEN, trajectory="a.json"), "a.json: broken x 1", []),
        (replace(SEEN, what="broken by x 1"), "episode 2, step 5: broken by x 1", [EpisodeLink(0, 2, 5)]),
        (replace(SEEN, what="call 1: it holds", detail=""), "episode 2, step 5: call 1: it is not so", [EpisodeLink(0, 2, 5)]),
    ],
)  # fmt: skip
def test_what_was_found_first_is_told_with_its_step_and_its_receipt(seen, found, step):
    row = row_of(failed("invariant/a", seen))
    assert row.cells == (Prose("it holds", 240), Quoted(found, 240), Quoted("2 of 9 times"))
    assert row.places == [RowLink("invariants.a", "its row"), *step, ReceiptLink(7)]


def test_a_reason_goes_before_what_was_observed():
    assert row_of(failed("check/a", SEEN, why="too few")).name == "invariant/z"
    assert row_of(failed("invariant/a", SEEN, why="too few")).cells[1] == Quoted("episode 2, step 5: too few", 240)
    assert row_of(failed("invariant/a")).places == [RowLink("invariants.a", "its row")]


def test_a_requirement_is_written_in_a_file_of_the_bundle(tmp_path):
    """One that the bundle has no file of is named by its place in the resolved specs; the engine's own are nowhere."""
    evidence: Any = SimpleNamespace(place=tmp_path)
    subject = replace(made_up("run"), evidence=evidence)
    check = failed("invariant/a")
    assert written_in(subject, check) == ""
    check = replace(check, spec="invariant/a@0123456789abcdef")
    assert written_in(subject, check) == "specs.json: invariant/a"
    (tmp_path / "specs" / "invariant").mkdir(parents=True)
    (tmp_path / "specs" / "invariant" / "a.yaml").write_text("", encoding="utf-8")
    assert written_in(subject, check) == "specs/invariant/a.yaml"
    section = failed_section(replace(made_up("run", check, failed("invariant/z")), evidence=evidence))
    assert [row.details for row in section.rows] == [[("stands in", Code("specs/invariant/a.yaml"))], []]


@pytest.mark.parametrize(
    ("figure", "title"),
    [
        ({"rate": "flagged"}, "how often flagged"),
        ({"rate": "!flagged"}, "how often not flagged"),
        ({"rate": "!flagged || late"}, "how often !flagged || late"),
        ({"mean": "work_done", "over": ["a", "b"]}, "mean of work done of a, b"),
        ({"mean": "work", "by": "seed", "doc": "Work."}, "Work."),
    ],
)
def test_a_figure_is_called_by_what_it_is_made_of(figure, title):
    assert figure_titles({"f": figure}) == {"f": title}


def test_rows_of_what_failed_come_first_then_those_that_are_open():
    rows = [
        Row(name, mark, ()) for name, mark in zip("abcde", ("held", "cannot tell", "broken", "", "FAIL"), strict=True)
    ]
    assert [row.name for row in open_first(rows)] == ["c", "e", "b", "a", "d"]
