"""A page of several bundles: what changed, plots side by side, and tables by agent of all of them."""

import pytest

from specledger.kinds import load
from specledger.pipeline.executing import execute
from specledger.report import comparison
from specledger.report.comparison import agents_of, changed_section, in_one_table
from specledger.report.diff import changes
from specledger.report.model import Report
from specledger.report.overview import headline_of, reason_text
from specledger.report.plots import Rates, probe_plots, table_of
from specledger.report.titles import bundle_names
from tests.conformance.browser.pages import data_of
from tests.unit.report.rendering import report_of, subject_of, text_of

CASES = {
    "two agents": (["agent=pseudo"], ["honest", "pseudo"]),
    "one agent": (["seed=5"], ["honest in axion-basic (0)", "honest in axion-basic (1)"]),
}


def probed(place, *changes):
    """A run of one step under probes."""
    settings = ["horizon=1", "probes=[p4-bypass, p5-causal]", *changes]
    return subject_of(execute(load("axion-basic", kind="scenario", set=settings)[0], place).place)


@pytest.fixture(scope="module")
def first(tmp_path_factory):
    return probed(tmp_path_factory.mktemp("first") / "0")


@pytest.mark.medium
@pytest.mark.parametrize(("change", "named"), CASES.values(), ids=CASES)
def test_each_bundle_has_a_row_for_each_probe(tmp_path, first, change, named):
    second = probed(tmp_path / "1", *change)
    agents = agents_of((first, second))
    assert list(agents) == named
    (plot,) = (plot for plot in probe_plots(agents) if plot.title == "Failures of probes")
    assert isinstance(plot, Rates)
    rows = [row[0] for row in table_of(plot)[1]]
    assert rows == [f"{probe}: {name}" for probe in ("p4-bypass", "p5-causal") for name in named]
    page = text_of("html", Report((first, second)))
    for name in rows:
        assert name in page
    for name in named:
        assert f"{name}: p4-bypass" in page  # the table of probes by agent
    assert page.index("bundle shown in full") < page.index('id="plots"')


@pytest.mark.medium
def test_what_changed_is_a_row_with_a_cell_for_each_bundle(tmp_path, monkeypatch):
    options: list[list[str]] = [[], ["seed=5"], ["seed=5", "horizon=4"]]
    subjects = [
        subject_of(execute(load("simple", kind="scenario", set=["horizon=3", *more])[0], tmp_path / str(at)).place)
        for at, more in enumerate(options)
    ]
    section = changed_section(subjects)
    rows = {row.name: [getattr(cell, "value", None) for cell in row.cells] for row in section.rows}
    seed, *_ = rows["scenario/simple.seed"]
    assert rows["scenario/simple.seed"] == [seed, "5", "5"]
    assert rows["scenario/simple.horizon"] == ["3", "3", "4"]
    assert rows["result: steps"] == ["9", "9", "12"]
    assert changed_section([subjects[0], subjects[0]]).rows == []
    monkeypatch.setattr(comparison, "_MOST_CHANGED", 1)
    (row,) = (bounded := changed_section(subjects)).rows
    assert row == section.rows[0]  # what is listed has the cells of all bundles
    count = sum(
        len(differences)
        for subject in subjects[1:]
        for differences in map(list, changes(subjects[0], subject).values())
    )
    assert bounded.intro.endswith(f" {count - 2} more differences are not listed.")
    page = text_of("html", Report(tuple(subjects)))
    assert page.index('id="changed"') < page.index('id="plots"') < page.index('id="replay"') < page.index('id="gates"')
    for place in range(3):
        assert f"simple ({place})" in page[page.index('id="plot0-title"') :]


@pytest.mark.medium
def test_runs_of_different_scenarios_are_compared(tmp_path):
    subjects = [
        subject_of(execute(load(name, kind="scenario", set=["horizon=3"])[0], tmp_path / name).place)
        for name in ("simple", "hazard")
    ]
    section = changed_section(subjects)
    assert section.heads == ("", "simple", "hazard")
    rows = {row.name: [getattr(cell, "value", getattr(cell, "text", "")) for cell in row.cells] for row in section.rows}
    missing = "not in this bundle"
    assert rows == {"scenario/simple": ["there is one", missing], "scenario/hazard": [missing, "there is one"]}
    law = subject_of(execute(load("momentum", kind="law", set=["cases=30", "mutations=0"])[0], tmp_path / "law").place)
    alone = changed_section([subjects[0], law])  # of another kind
    assert (alone.rows, alone.intro.endswith("of another kind or spec: momentum.")) == ([], True)


LAWS: dict[str, tuple[list[str], bool, list[str]]] = {
    "different laws": (["momentum", "collisions-apart"], True, []),
    "one law twice": (["momentum", "momentum"], False, ["law/momentum.cases", "law/momentum.seed"]),
}


@pytest.mark.medium
@pytest.mark.parametrize(("laws", "listed", "changed"), LAWS.values(), ids=LAWS)
def test_laws_are_one_table_and_only_those_of_one_spec_are_compared(tmp_path, laws, listed, changed):
    small = [["cases=30", "mutations=0"], ["cases=40", "mutations=0", "seed=7"]]
    places = [
        execute(load(law, kind="law", set=more)[0], tmp_path / str(at)).place
        for at, (law, more) in enumerate(zip(laws, small, strict=True))
    ]
    report = report_of(*places)
    assert in_one_table(report.subjects) is listed
    assert [row.name for row in changed_section(report.subjects).rows if row.name.startswith("law/")] == changed
    page, markdown = text_of("html", report), text_of("markdown", report)
    rows = page[page.index('id="laws"') :].partition("</section>")[0]
    assert rows.count('class="item"') == 2
    assert all(subject.manifest["receipts"]["root"] in rows for subject in report.subjects)
    assert [f'id="{id_}"' in page for id_ in ("bundles", "changed", "cases")] == [not listed] * 3
    assert ("## Cases" in markdown) is not listed


@pytest.mark.medium
def test_one_table_has_the_rings_of_all_laws_those_with_a_counterexample_first(tmp_path):
    places = [
        execute(load(law, kind="law", set=["cases=30", "mutations=0"])[0], tmp_path / law).place
        for law in ("momentum", "collisions-apart")
    ]
    drawn = data_of(text_of("html", report_of(*places)))["spacetimes"]
    assert [(ring["law"], ring["t"] is None) for ring in drawn] == [("collisions-apart", False), ("momentum", True)]
    headline = headline_of(report_of(*places))
    assert headline.title == "momentum, collisions-apart"
    assert reason_text(report_of(*places)) == "2 laws: 1 PROVED, 1 FAIL as expected. No check failed: 4 passed."


@pytest.mark.medium
def test_bundles_in_folders_of_one_name_are_numbered(tmp_path):
    place = execute(load("simple", kind="scenario", set=["horizon=2", "episodes=1"])[0], tmp_path / "one").place
    subject = subject_of(place)
    assert bundle_names([subject]) == ["simple"]
    assert bundle_names([subject] * 3) == ["simple (one)", "simple (one) 2", "simple (one) 3"]
