"""The summary of a bundle: its figures are those of the receipts, and what evidence says is never markup."""

import re
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specledger.kinds import load
from specledger.pipeline.executing import execute
from specledger.report.figures import decimal, share
from specledger.report.formats.markdown import MOST_ROWS, quote, table
from specledger.report.model import Report
from specledger.report.overview import reason_text
from tests.toys import CLIMB
from tests.unit.report.rendering import altered, made_up, report_of, summary_of, text_of
from tests.unit.report.rendering import read as read_bundle

HOSTILE = "<script>alert(1)</script>|`` ` [x](javascript:1) \u202e\x1b[31m\n# x"


def rows(text, title):
    section = text.partition(f"\n## {title}\n")[2].partition("\n## ")[0]
    table = [line for line in section.splitlines() if line.startswith("|")]
    return [[cell.strip().strip("`*") for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in table[2:]]


def outside_code(line):
    """What of a line stands in no code span, after CommonMark 6.1."""
    opening = re.search("`+", line)
    if opening is None:
        return line
    closing = re.compile(f"(?<!`){opening[0]}(?!`)").search(line, opening.end())
    if closing is None:
        return line[: opening.end()] + outside_code(line[opening.end() :])
    return line[: opening.start()] + outside_code(line[closing.end() :])


@pytest.fixture(scope="module")
def of_run(trap):
    return text_of("markdown", report_of(trap))


@pytest.fixture(scope="module")
def of_suite(heights):
    return text_of("markdown", report_of(heights))


@pytest.fixture
def changed(trap):
    """The summary of a run after a change of its receipts."""
    return lambda change: text_of("markdown", report_of(altered(read_bundle(trap), change)))


@pytest.mark.parametrize(("doc", "shown"), [("To `x` | y.", ["``To `x` \\| y.``"]), ("", [])], ids=["a doc", "no doc"])
def test_a_page_begins_with_its_title_and_the_doc_of_its_spec(doc, shown):
    report = Report((made_up("walk", doc=doc),))
    for text, below in ((text_of("markdown", report), "`No check failed: .`"), (summary_of(report), ".")):
        assert text.split("\n\n")[: 2 + len(shown)] == ["# `walk`: PASS (replayed)", *shown, below]


def test_a_suite_is_summed_up(of_suite, heights, read):
    bodies: dict[str, list] = {}
    for one in read(heights):
        bodies.setdefault(one["type"], []).append(one["body"])
    assert of_suite.startswith("# `heights`: PASS (not replayed)\n")
    [climbs] = rows(of_suite, "Checks")
    assert climbs == [
        "PASS",
        "climbs",
        "high.value > 0",
        "height 2.000",
        str(bodies["check"][0]["opportunities"]),
        "1",
    ]
    assert rows(of_suite, "Mutants") == [["caught", "no-bound", "climbs", "heights"]]
    assert [row[1] for row in rows(of_suite, "Runs")] == ["long.climb.3", "long.climb.4"]
    figures = {row[0]: row[1:] for row in rows(of_suite, "Figures")}
    groups = {one["figure"]: one["groups"][0] for one in bodies["figure"]}
    arrives = groups["arrives"]
    low, high = (share(arrives["wilson"][end]) for end in ("low", "high"))
    assert figures["arrives"][1:4] == ["rate", share(arrives["value"]), f"{arrives['count']} of {arrives['of']}"]
    assert figures["arrives"][4].startswith(f"{low.removesuffix(' %')} to {high}")
    assert figures["high"][1:4] == ["mean", decimal(groups["high"]["value"]), str(groups["high"]["of"])]
    assert figures["never"][4].endswith(f"; below {share(groups['never']['bound'])}")
    assert figures["nothing"][2] == "none"
    own = [one["result"]["rejections"] for one in bodies["run"][:2]]
    assert {row[1]: int(row[3]) for row in rows(of_suite, "Gates")} == {
        gate: sum(one[gate] for one in own) for gate in own[0]
    }


def test_text_in_receipts_stays_text(changed):
    def change(bodies):
        bodies["episode_end"][0]["ended"] = HOSTILE
        bodies["start"][0]["invariants"][0]["name"] = HOSTILE
        for decision in bodies["step"][0]["decisions"]:
            for one in decision["rejected"]:
                one |= {"gate": HOSTILE}

    text = changed(change)
    assert "script" in text
    for line in text.splitlines():
        assert not set(outside_code(line)) & set("<>[]\u202e\x1b"), line
    assert [row[3] for row in rows(text, "Episodes")] == ["in step 30"]


@given(st.text(min_size=1))
def test_a_quoted_text_is_one_code_span(text):
    shown = quote(text)
    assert outside_code(shown) == ""
    assert "\n" not in shown
    assert len(shown) < 5000
    assert not re.search(r"(?<!\\)\|", shown)


def test_long_tables_are_cut():
    text = "\n".join(table("Rows", ("row",), [(str(number),) for number in range(MOST_ROWS + 1)]))
    assert len(rows(f"\n{text}", "Rows")) == MOST_ROWS
    assert text.endswith("\n1 more rows are left out.")


@pytest.mark.parametrize(
    ("millionths", "places", "shown"),
    [
        (0, 3, "0.000"),
        (1, 3, "0.000"),
        (500, 3, "0.001"),
        (-1, 3, "0.000"),
        (-1_500_000, 3, "-1.500"),
        (999_999, 2, "1.00"),
    ],
)
def test_decimals(millionths, places, shown):
    assert decimal(millionths, places) == shown


@pytest.mark.medium
def test_a_law_that_passed_rests_on_its_cases_and_is_proved_no_further_than_it_was(tmp_path):
    report = report_of(execute(load("last-place", kind="law", set=["mutations=0"])[0], tmp_path / "law").place)
    text = text_of("markdown", report)
    (row,) = rows(text, "Laws")
    assert re.fullmatch(r"\d+ hits in 300 cases; proved only up to 7 cells", row[3])
    assert "| proved only up to | 7 cells |" in text
    assert "proved for" not in text


def test_an_unknown_law_says_its_detail_once(tmp_path):
    bundle = load("particles-for-a-million-steps", kind="law", set=["expect=null"])[0]
    report = report_of(execute(bundle, tmp_path / "law").place)
    why = "UNKNOWN (resource_limit): T = 1000000 is above 200"
    for name in ("junit", "github"):
        assert re.search(re.escape(f"cannot tell: {why} (first: receipt ") + r"\d+\)", text_of(name, report))
    assert f"cannot be decided: {why}, first in receipt " in reason_text(report)


@pytest.fixture(scope="module")
def erring(tmp_path_factory):
    """A run in which every proposal leaves the range of a field from the second step on."""
    by, top = "agent.candidates=[{op: climb, for_each: {by: '[1]'}}]", "world.state.n={type: integer, maximum: 1}"
    bundle = load(CLIMB / "climb.yaml", set=[by, top])[0]
    return execute(bundle, tmp_path_factory.mktemp("erring") / "run").place


def test_a_run_with_errors_leads_with_the_first_error_and_where_it_is_written(erring):
    report = report_of(erring)
    where = 'world/stairs actions.climb.effects.0.to, which sets n: {"maximum":1,"type":"integer"}'
    why = f"4 errors, the first E_EVAL_STATE n + by ({where})"
    assert [check.outcome for check in report.subjects[0].checks if check.id == "progress"] == ["failed"]
    assert reason_text(report).startswith(f"evaluation cannot be decided: {why}, first in episode 0, step 1, receipt ")
    text = text_of("markdown", report)
    expected = ["error", "E_EVAL_STATE", "n + by", where, "4"]
    assert rows(text, "Evaluation errors") == [expected]
    junit = ElementTree.fromstring(text_of("junit", report))
    error, _ = junit.iter("error")  # the other one is of replay, which was not made
    assert f"cannot tell: {why} (first: receipt " in error.get("message", "")
    assert (error.text or "").strip().splitlines()[1:] == [
        "receipt 6, episode 0, step 1: E_EVAL_STATE  n + by  (and 3 more, the last in receipt 17)"
    ]
    assert "<bdi>episode 0, step 1: 4 errors, the first E_EVAL_STATE n + by" in text_of("html", report)


def test_markdown_leads_with_the_verdict_and_its_reason(erring, tmp_path):
    calm = execute(load(CLIMB / "climb.yaml")[0], tmp_path / "calm").place
    one, several = report_of(erring), report_of(calm, erring)
    first = text_of("markdown", one).splitlines()
    assert first[0] == "# `climb`: ERROR (not replayed)"
    assert any(line.startswith("`evaluation cannot be decided: 4 errors, the first E_EVAL_STATE") for line in first[:6])
    lines = text_of("markdown", several).splitlines()
    assert lines[0] == "# 2 bundles: ERROR (not replayed)"
    assert lines[2].startswith("`2 bundles: 1 PASS, 1 ERROR. ")
