"""Parts of a page by hand: its list of sections, cover, lines about checks, facts, rings, links and data."""

import html
import json
import re
from types import SimpleNamespace
from typing import Any

import pytest
from msgspec.structs import replace

from specledger.evidence.checkpoint import MAX_NOTE
from specledger.report.control import Judgement
from specledger.report.formats.html import page
from specledger.report.formats.html.page import (
    checked_line,
    cover,
    digests,
    replayed_words,
    signed_note,
    written_section,
)
from specledger.report.model import Check as ReportCheck
from specledger.report.model import Report
from specledger.report.outcome import Outcome
from specledger.report.overview import Headline
from specledger.report.sections import Code, Count, EpisodeLink, Quoted, ReceiptLink, Row, RowLink, Section, Words
from specledger.verify.assurance_levels import level_statuses
from specledger.verify.checks import Check, Level, Status, Verification
from tests.unit.report.rendering import made_up, subject_of, text_of


def text_in(markup):
    """The words of markup, in which elements do not run together."""
    return re.sub(" +", " ", html.unescape(re.sub("<[^>]*>", " ", str(markup)))).strip()


def section(id_, title="", group="", *rows):
    return Section(id_, title or id_.title(), "", ("a",), [*rows], group=group)


GROUPED = [section("a"), *(section(f"g{n}", f"One {n}", "Many") for n in range(3)), section("b")]
# Sections, and how a list names them: a group of more than three by the id of its first one.
TITLES = {
    "none": ([], []),
    "single ones": ([section("a"), section("b", "Bee")], [("a", "A"), ("b", "Bee")]),
    "a group of three": (GROUPED, [("a", "A"), ("g0", "One 0"), ("g1", "One 1"), ("g2", "One 2"), ("b", "B")]),
    "a group of four": ([*GROUPED, section("g3", "One 3", "Many")], [("a", "A"), ("g0", "Many"), ("b", "B")]),
    "two of one id": ([section("a", "First"), section("a", "Second")], [("a", "First")]),
}


@pytest.mark.parametrize(("sections", "titles"), TITLES.values(), ids=TITLES)
def test_the_list_of_sections(sections, titles):
    assert page._titles(sections) == titles


@pytest.mark.parametrize(
    ("verdict", "replay", "said"),
    [
        ("PASS", "replayed", "replayed"),
        ("FAIL", "not replayed", "not replayed: this is what the receipts say"),
        (
            "PASS",
            "not replayed",
            "not replayed: this is what the receipts say; ? stands for a tick until `spec report --replay` makes the "
            "runs again",
        ),
    ],
)
def test_beside_the_verdict_it_says_whether_runs_were_made_again(verdict, replay, said):
    assert replayed_words(Headline("kind", "title", verdict, replay, [])) == said


def test_data_of_a_page_are_ascii_in_which_nothing_ends_an_element():
    data = {"a": "</script>&\x7f\u00e9\u2028\U0001f600~"}
    written = page._inert(data)
    assert written == '{"a":"\\u003c/script\\u003e\\u0026\\u007f\\u00e9\\u2028\\ud83d\\ude00~"}'
    assert json.loads(written) == data


def chain(name="", folder="", seqs=(), count=3, held=(), stepped=()):
    return SimpleNamespace(
        name=name, folder=folder, seqs=seqs, count=count, holds=lambda seq: seq in held, steps=lambda t: t in stepped
    )


REST = "; the others enter the root as hashes made when the page was written"
EMBEDDED = {
    "all of a bundle": ([chain(seqs=(0, 1, 2))], "3 of 3 receipts of the bundle are embedded."),
    "some of it": ([chain(seqs=(0, 2))], f"2 of 3 receipts of the bundle are embedded{REST}."),
    "of runs": (
        [chain(seqs=(0, 1, 2)), chain("runs/a", "runs/a", (), 2)],
        f"3 of 3 receipts of the bundle are embedded. 0 of 2 receipts of run runs/a are embedded{REST}.",
    ),
}


@pytest.mark.parametrize(("chains", "said"), EMBEDDED.values(), ids=EMBEDDED)
def test_how_many_receipts_are_embedded(chains, said):
    assert page._embedded(chains) == said


def test_a_page_contains_rows_of_its_tables_embedded_receipts_and_whole_episodes():
    chains: Any = [chain(held=(4,), stepped=(0,)), chain(stepped=(7,))]
    contains = page._contents(chains, [section("checks", "", "", Row("one", "", ()))])
    assert [contains(RowLink("checks.one", "one")), contains(RowLink("checks.two", "two"))] == [True, False]
    assert [contains(ReceiptLink(4)), contains(ReceiptLink(5))] == [True, False]
    links = [EpisodeLink(0, 0), EpisodeLink(0, 7), EpisodeLink(1, 7), EpisodeLink(1, 0)]
    assert [contains(link) for link in links] == [True, False, True, False]


class Told:
    """A reading with facts and rings."""

    def __init__(self, *rings):
        self.rings = rings

    def facts(self):
        yield "steps", Count(3)

    def spacetimes(self):
        return iter(self.rings)


def law(name, *rings):
    reading: Any = Told(*rings)
    return replace(made_up(name), kind="law", reading=reading)


def test_facts_name_the_bundle_where_the_page_is_of_more_than_one(monkeypatch):
    one, two = made_up("one"), made_up("two")
    reading: Any = Told()
    judgement: Any = "a judgement"
    facts: Any = [("steps", Count(3))]
    named = [("bundle shown in full", Quoted("one")), *facts]
    monkeypatch.setattr(page, "in_one_table", lambda subjects: False)
    assert page._facts(Report((one,)), reading) == facts
    assert page._facts(Report((one, two)), reading) == named
    assert page._facts(Report((one,), judgement=judgement), reading) == named
    monkeypatch.setattr(page, "in_one_table", lambda subjects: True)
    assert page._facts(Report((one, two)), reading) == []
    assert page._facts(Report((one, two), judgement=judgement), reading) == named


def test_rings_of_bundles_in_one_table_are_those_of_all_with_counterexamples_first(monkeypatch):
    rings = [{"t": None, "n": number} for number in range(39)]
    subjects = (law("a", *rings), law("b", {"t": 0, "n": 50}, {"t": 5, "n": 51}))
    reading: Any = Told({"t": None, "n": 9})
    monkeypatch.setattr(page, "in_one_table", lambda subjects: True)
    shown = [ring["n"] for ring in page._spacetimes(Report(subjects), reading)]
    assert shown == [50, 51, *range(38)]
    judgement: Any = "a judgement"
    assert page._spacetimes(Report(subjects, judgement=judgement), reading) == [{"t": None, "n": 9}]


def test_rows_of_a_common_table_have_the_digests_of_their_bundle_and_no_links():
    one, two = made_up("one"), replace(made_up("two"), manifest={"specs": "s2", "receipts": {"root": "r2"}})
    rows = [Row("x", "", (), [("says", Words("a"))], (ReceiptLink(1),)), Row("y", "", (), [], (ReceiptLink(2),))]
    made = page._of_all(section("laws", "", "", *rows), [1, 0], [one, two])
    assert [(row.name, row.places, row.details) for row in made.rows] == [
        ("x", (), [("says", Words("a")), ("specs", Code("s2")), ("Merkle root", Code("r2"))]),
        ("y", (), [("specs", Code("ab" * 32)), ("Merkle root", Code("ef" * 32))]),
    ]


@pytest.mark.parametrize(
    ("size", "note"), [(0, ""), (5, "xxxxx"), (MAX_NOTE, "x" * MAX_NOTE), (MAX_NOTE + 1, None), (None, None)]
)
def test_the_signed_note_of_a_bundle(tmp_path, size, note):
    if size is not None:
        (tmp_path / "checkpoint").write_bytes(b"x" * size)
    evidence: Any = SimpleNamespace(place=tmp_path)
    assert signed_note(evidence) == note


def test_a_note_that_is_a_link_or_no_text_is_not_taken_as_one(tmp_path):
    evidence: Any = SimpleNamespace(place=tmp_path)
    (tmp_path / "elsewhere").write_bytes(b"note")
    (tmp_path / "checkpoint").symlink_to("elsewhere")
    assert signed_note(evidence) is None
    (tmp_path / "checkpoint").unlink()
    (tmp_path / "checkpoint").write_bytes(b"a\xffb")
    assert signed_note(evidence) == "a\ufffdb"


CHECKS = (
    Check(1, "manifest", Status.PASSED),
    Check(2, "chain", Status.PASSED, message="12 receipts"),
    Check(3, "replay", Status.NOT_MADE, message="not asked for", level=Level.REPLAYED),
    Check(4, "signature", Status.NOT_MADE, message="no keys", level=Level.SIGNED),
)


def evidence_of(place, checks=CHECKS, facts: Any = None):
    manifest = made_up("x").manifest
    verification: Any = Verification([*checks], facts=facts or {})
    made: Any = SimpleNamespace(place=place, manifest=manifest, verification=verification, name="")
    return made


def test_what_was_checked_and_what_not_is_a_row_each(tmp_path):
    evidence = evidence_of(tmp_path)
    rows = written_section(evidence).rows
    assert [(row.name, row.mark, row.cells[0]) for row in rows[:4]] == [
        ("manifest", "passed", Quoted("")),
        ("chain", "passed", Quoted("12 receipts")),
        ("replay", Status.NOT_MADE.value, Quoted("not asked for")),
        ("signature", Status.NOT_MADE.value, Quoted("no keys")),
    ]
    rungs = level_statuses(evidence.verification)
    assert [(row.name, row.mark) for row in rows[4 : 4 + len(rungs)]] == [
        (f"{rung.level}: {rung.name}", rung.status.value) for rung in rungs
    ]
    rest = rows[4 + len(rungs) :]
    assert rest
    assert {row.mark for row in rest} == {"not checked"}


@pytest.mark.parametrize(
    ("checks", "of", "said"),
    [
        (CHECKS, "", "Checks of the evidence: 2 passed, 2 not run (replay, signature); "),
        (CHECKS[:2], "", "Checks of the evidence: 2 passed; "),
        (
            CHECKS[:3],
            "a, the first of 2 bundles",
            "Checks of the evidence of a, the first of 2 bundles: 2 passed, 1 not run (replay); ",
        ),
    ],
)
def test_the_line_about_checks_counts_what_passed_and_names_what_was_not_run(tmp_path, checks, of, said):
    evidence = evidence_of(tmp_path, checks)
    written = written_section(evidence)
    more = sum(row.mark == "not checked" for row in written.rows)
    assert text_in(checked_line(evidence, written, of)) == (
        f"{said}{more} more points need more than the bundle: which, and why ."
    )


def test_the_digests_of_a_bundle(tmp_path):
    (tmp_path / "manifest.json").write_bytes(b"{}\n")
    shown = digests(evidence_of(tmp_path, facts={"recorded": {"recording": ["11" * 32]}}))
    assert [(name, text_in(value)) for name, value in shown] == [
        ("run", "cd" * 16),
        ("specs", "ab" * 32),
        ("recording", "11" * 32),
        ("Merkle root", "ef" * 32),
        ("head", "ab" * 32),
        ("receipts", "9"),
        ("made by", "specledger 0.1.0"),
        ("manifest.json, SHA-256", "ca3d163bab055381827226140568f3bef7eaac187cebd76878e0b63e9e442356"),
    ]
    assert [name for name, _ in digests(evidence_of(tmp_path))][:3] == ["run", "specs", "Merkle root"]


def listed(markup):
    """The lists of a cover: by their title the text of each item."""
    parts = re.split(r"<h2[^>]*>(.*?)</h2>", str(markup))
    items = [[text_in(item) for item in re.findall(r"<li>(.*?)</li>", part, re.DOTALL)] for part in parts[2::2]]
    return dict(zip(parts[1::2], items, strict=True))


@pytest.mark.parametrize(("number", "more"), [(1, []), (20, []), (21, ["1 more bundles"]), (23, ["3 more bundles"])])
def test_the_cover_lists_the_first_bundles(tmp_path, number, more):
    evidence = evidence_of(tmp_path)
    subjects = [made_up(f"b{index}") for index in range(number)]
    scope = listed(cover(subjects, evidence, written_section(evidence), []))["Scope"]
    digest = "ab" * 32
    assert scope == [*(f"b{index} , scenario, specs {digest}" for index in range(min(number, 20))), *more]


def test_the_cover_says_who_signed_what_was_not_checked_and_what_follows(tmp_path):
    evidence = evidence_of(tmp_path)
    written = written_section(evidence)
    lists = listed(cover([made_up("b")], evidence, written, [("checks", "Checks"), ("plots", "Plots")]))
    assert [*lists] == ["Scope", "Signatures", "Not checked", "Contents"]
    assert lists["Signatures"][0] == "The bundle has no signed checkpoint."
    signing = [
        rung
        for rung in level_statuses(evidence.verification)
        if rung.level in (Level.SIGNED, Level.TIMED, Level.UNFORKED)
    ]
    assert lists["Signatures"][1:] == [f"{rung.name}: {rung.status} ({rung.why})" for rung in signing]
    names = {f"{rung.level}: {rung.name}" for rung in signing}
    open_ = [row for row in written.rows if row.mark in ("not made", "not checked") and row.name not in names]
    assert {row.mark for row in open_} == {"not made", "not checked"}
    assert [text.startswith(f"{row.name}: ") for text, row in zip(lists["Not checked"], open_, strict=True)] == [
        True
    ] * len(open_)
    assert lists["Contents"] == ["Checks", "Plots"]
    (tmp_path / "checkpoint").write_bytes(b"note")
    assert (
        listed(cover([made_up("b")], evidence, written, []))["Signatures"][0] == "The bundle has a signed checkpoint."
    )


def rows(id_, number=1):
    return section(id_, "", "", *(Row(f"r{index}", "", ()) for index in range(number)))


OWN = [
    rows("gates"),
    rows("invariants"),
    rows("probes"),
    rows("answers"),
    rows("offers"),
    rows("empty", 0),
    rows("checks"),
    rows("runs"),
]
FAILING = ReportCheck("invariant/a", "a", None, Outcome.FAILED, 1, 1)
OPEN = ReportCheck("probe/p", "p", None, Outcome.CANNOT_TELL, 1)
HELD = ReportCheck("check/c", "c", None, Outcome.PASSED, 1)
# Checks of a bundle, its embedded runs, and the tables of the whole report or of what failed, then the others.
TABLES: dict[str, tuple[list[ReportCheck], list[str], list[str], list[str]]] = {
    "all held": ([HELD], [], [], ["gates", "invariants", "probes", "answers", "offers", "checks", "runs"]),
    "an invariant was broken": (
        [FAILING],
        [],
        ["invariants"],
        ["gates", "probes", "answers", "offers", "checks", "runs"],
    ),
    "a probe is open": (
        [OPEN],
        [],
        ["probes", "answers", "offers"],
        ["gates", "invariants", "checks", "runs"],
    ),
    "both": (
        [OPEN, FAILING],
        [],
        ["failed", "invariants", "probes", "answers", "offers"],
        ["gates", "checks", "runs"],
    ),
    "a suite": ([HELD], ["runs/a"], ["checks"], ["gates", "invariants", "probes", "answers", "offers", "runs"]),
}


@pytest.fixture
def laid(monkeypatch):
    """A page of tables that are given."""
    monkeypatch.setattr(page, "in_one_table", lambda subjects: False)
    monkeypatch.setattr(page, "compared_sections", lambda reading, agents: [*OWN])
    monkeypatch.setattr(page, "control_sections", lambda report: iter([rows("controls")] if report.judgement else []))
    monkeypatch.setattr(page, "changed_section", lambda subjects: rows("changed"))
    monkeypatch.setattr(page, "failed_section", lambda subject: rows("failed", max(0, len(subject.checks) - 1)))
    monkeypatch.setattr(page, "waived_section", lambda each, report: each)
    monkeypatch.setattr(page, "agents_of", lambda subjects: {})
    common = (section("checks", "Checks of all", "", Row("x", "", ())), [0])
    monkeypatch.setattr(page, "common_tables", lambda subjects: [common])

    def tables(report, runs=()):
        reading: Any = SimpleNamespace(runs=[*runs])
        return page._tables(report, report.subjects[0], reading)

    return tables


@pytest.mark.parametrize(("checks", "runs", "first", "others"), TABLES.values(), ids=TABLES)
def test_tables_of_what_failed_stand_first(laid, checks, runs, first, others):
    about, own = laid(Report((made_up("a", *checks),)), runs)
    assert [each.id for each in about] == first
    assert [each.id for each in own] == others


def test_tables_of_several_bundles_and_of_a_profile(laid, monkeypatch):
    two = (made_up("a", FAILING, OPEN), made_up("b"))
    about, own = laid(Report(two))
    assert [each.id for each in about] == ["changed", "invariants", "probes", "answers", "offers"]
    assert [(each.id, each.title) for each in own] == [
        ("gates", "Gates"),
        ("checks", "Checks of all"),
        ("runs", "Runs"),
    ]
    judgement: Any = SimpleNamespace(controls=())
    about, own = laid(Report((two[0],), judgement=judgement))
    assert [each.id for each in about] == ["controls", "invariants", "probes", "answers", "offers"]
    assert [(each.id, each.title) for each in own][-2:] == [("checks", "Checks"), ("runs", "Runs")]
    monkeypatch.setattr(page, "in_one_table", lambda subjects: True)
    about, own = laid(Report(two))
    assert ([each.title for each in about], own) == (["Checks of all"], [])


def test_a_waived_check_is_not_what_failed(laid, monkeypatch):
    waivers: Any = {"invariant/a": "a control"}
    monkeypatch.setattr(Report, "waivers", lambda report, index: waivers)
    about, _ = laid(Report((made_up("a", FAILING),)))
    assert about == []


DOCS: dict[str, tuple[int, Any, list[str]]] = {
    "a bundle": (1, None, ["A spec says this."]),
    "a bundle under a profile": (1, "A profile says that.", ["A profile says that."]),
    "a bundle under a profile that says nothing": (1, "", []),
    "two bundles": (2, None, []),
    "two bundles under a profile": (2, "A profile says that.", ["A profile says that."]),
}


@pytest.mark.parametrize(("number", "doc", "shown"), DOCS.values(), ids=DOCS)
def test_a_page_begins_with_what_its_profile_or_its_only_spec_says(monkeypatch, trap, number, doc, shown):
    monkeypatch.setattr(page, "doc_of", lambda subject: "A spec says this.")
    judgement = None if doc is None else Judgement("ours", "a source", doc, "0" * 16, None, ())
    text = text_of("html", Report((subject_of(trap),) * number, judgement))
    assert re.findall(r'<p class="doc"><bdi>([^<]*)</bdi></p>', text) == shown


def test_the_drawing_of_episodes_is_that_of_their_specs(trap):
    evidence = subject_of(trap).evidence
    drawn = page._drawing(evidence.specs, [])
    assert (drawn["drawing"]["cells"], drawn["maps"], drawn["recorded"]) == ("grid", {}, False)
    assert [colour[1] for colour in drawn["drawing"]["colours"]]
    assert isinstance(drawn["units"], dict)
