"""The index of several bundles: a row and a page for each, what changed since the one before, trends, laws together."""

import re

import pytest
from msgspec.structs import replace

from specledger.cli.report import bundles_in
from specledger.kinds import load
from specledger.pipeline.executing import execute
from specledger.report.comparison import trends
from specledger.report.formats import FORMATS
from specledger.report.model import Report
from specledger.report.plots import Lines
from tests.unit.report.rendering import subject_of

RUNS: dict[str, list[str]] = {
    "simple-2": [],
    "simple-3": ["seed=5"],
    "simple-10": ["seed=5", "governor.gates.hazard=null", "governor.gates.wall=null"],
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Bundles of one scenario and of two laws."""
    place = tmp_path_factory.mktemp("history")
    for name, more in RUNS.items():
        execute(load("simple", kind="scenario", set=["horizon=3", *more])[0], place / name)
    for law in ("momentum", "collisions-apart"):
        execute(load(law, kind="law", set=["cases=30", "mutations=0"])[0], place / law)
    (place / "notes.txt").write_text("no bundle", encoding="utf-8")
    return place


@pytest.fixture(scope="module")
def subjects(folder):
    return tuple(map(subject_of, bundles_in(folder)))


@pytest.fixture(scope="module")
def files(subjects):
    return FORMATS["index"].write(Report(subjects)).files


@pytest.mark.medium
def test_a_folder_stands_for_its_bundles_in_the_order_of_their_names(folder):
    assert [one.name for one in bundles_in(folder)] == ["collisions-apart", "momentum", *RUNS]
    assert bundles_in(folder / "momentum") == [folder / "momentum"]
    assert bundles_in(folder / "notes.txt") == [folder / "notes.txt"]


@pytest.mark.medium
def test_each_bundle_has_a_row_and_a_page(files, subjects):
    index = files["index.html"].decode()
    pages = re.findall(r'href="([^"#]+)"', index[: index.index('id="laws"')])
    assert len(pages) == len(subjects)
    assert {"index.html", *pages} == set(files)
    for page, subject in zip(pages, subjects, strict=True):
        assert subject.manifest["receipts"]["root"] in files[page].decode()


def test_the_index_says_what_changed_since_the_bundle_before(files, subjects):
    rows = re.findall(r'data-label="since the one before">(.*?)</td>', files["index.html"].decode())
    said = [re.sub("<.*?>", "", row) for row in rows]
    assert said[:3] == ["", "", ""]
    assert said[3].endswith("scenario/simple.seed")
    assert "gates" in said[4]


def test_laws_are_one_table(files):
    index = files["index.html"].decode()
    table = index[index.index('id="laws"') : index.index("</section>", index.index('id="laws"'))]
    assert table.count("<tbody") == 2
    assert "momentum.html" in table
    assert "collisions-apart.html" in table
    assert index.count("<table") >= 2


def test_a_trend_has_a_place_for_each_bundle_of_a_spec(subjects):
    (trend,) = trends(subjects)
    assert isinstance(trend, Lines)
    assert trend.title == "Trend: simple"
    assert len(trend.lines[0].values) == len(RUNS)


VERDICTS = {
    "never": (["PASS", "PASS", "PASS"], []),
    "at the second": (["PASS", "FAIL", "FAIL"], [(2, "PASS to FAIL")]),
    "at the last": (["FAIL", "FAIL", "PASS"], [(3, "FAIL to PASS")]),
    "twice": (["PASS", "INCONCLUSIVE", "PASS"], [(2, "PASS to INCONCLUSIVE"), (3, "INCONCLUSIVE to PASS")]),
}


def judged(subject, verdict):
    """A bundle with another verdict."""
    result = {**subject.manifest["result"], "verdict": verdict}
    return replace(subject, manifest={**subject.manifest, "result": result})


@pytest.mark.parametrize(("verdicts", "marks"), VERDICTS.values(), ids=VERDICTS)
def test_a_trend_is_marked_at_the_bundle_whose_verdict_is_another(subjects, verdicts, marks):
    """Bundles are counted from 1."""
    same = [subject for subject in subjects if subject.name == "simple"]
    (trend,) = trends([judged(one, verdict) for one, verdict in zip(same, verdicts, strict=True)])
    assert isinstance(trend, Lines)
    assert trend.marks == marks
