"""The page of a bundle: what stands in it is what the receipts say, nothing in it is active but its own script."""

import base64
import hashlib
import html
import json
import re
from functools import lru_cache
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specledger.core.canonical import parse_canonical
from specledger.core.verdict import Exit
from specledger.report.control import Control, Judgement, Match, Waiver
from specledger.report.formats.html import embed
from specledger.report.formats.html.elements import block, document_text, element, quoted, words
from specledger.report.formats.html.embed import Copies, Embedded, choose
from specledger.report.formats.html.tables import MOST_ROWS, anchors, render, render_cell
from specledger.report.model import Report
from specledger.report.outcome import Outcome
from specledger.report.sections import (
    NOTHING,
    Block,
    Expression,
    Joined,
    Row,
    RowLink,
    Section,
    Words,
)
from tests.unit.report.rendering import make_places, report_of, subject_of, text_of
from tests.unit.report.rendering import read as read_bundle
from tools.tampering.forger import merkle

HOSTILE = "</script><script>alert(1)</script>\u202e\x1b[31m\u2028<!-- <b> &amp; \" '"


class Read(HTMLParser):
    """What a page consists of, as an independent parser sees it."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.ids, self.links, self.scripts, self.words, self.inside, self.handlers = [], [], [], [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        self.ids += [given["id"]] if "id" in given else []
        self.links += [given["href"]] if "href" in given else []
        self.handlers += [name for name in given if name.startswith("on") or name in ("style", "src")]
        self.inside.append(tag)
        if tag in ("script", "style"):
            self.scripts.append([tag, given.get("type"), ""])

    def handle_data(self, data):
        if self.inside and self.inside[-1] in ("script", "style"):
            self.scripts[-1][2] += data
        else:
            self.words.append(data)

    def handle_endtag(self, tag):
        while self.inside and self.inside.pop() != tag:
            pass


@lru_cache
def read_page(text):
    return Read(text)


def data_of(text):
    (found,) = [script for kind, type_, script in read_page(text).scripts if type_ == "application/json"]
    return json.loads(found)


def lines_of(data):
    """The embedded lines of each chain by number, unfolded by a hand of its own."""
    lines = iter(read_back(data["text"]).split(b"\n"))
    return [
        {seq: next(lines) for first, count in chain["spans"] for seq in range(first, first + count)}
        for chain in data["chains"]
    ]


@pytest.fixture(scope="module")
def places(trap, heights, tmp_path_factory):
    return {"run": trap, "suite": heights, **make_places(tmp_path_factory.mktemp("places"))}


@pytest.fixture(scope="module")
def pages(places):
    return {kind: text_of("html", report_of(place)) for kind, place in places.items()}


KINDS = ["run", "suite", "law", "proved", "probed", "discovery"]


@pytest.mark.medium
@pytest.mark.parametrize("kind", KINDS)
def test_the_policy_names_the_pages_own_script_and_style_and_nothing_else(kind, pages):
    read = read_page(pages[kind])
    (policy,) = re.findall(r'http-equiv="Content-Security-Policy" content="([^"]*)"', pages[kind])
    digests = {
        tag: base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        for tag, type_, text in read.scripts
        if type_ is None
    }
    assert policy == (
        f"default-src 'none'; script-src 'sha256-{digests['script']}'; style-src 'sha256-{digests['style']}'; base-uri 'none'; form-action 'none'"
    )
    assert [(tag, type_) for tag, type_, _ in read.scripts] == [
        ("style", None),
        ("script", "application/json"),
        ("script", None),
    ]
    assert read.handlers == []
    script = next(text for tag, type_, text in read.scripts if (tag, type_) == ("script", None))
    assert not re.search(
        r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|Function\(|fetch\(|XMLHttp|WebSocket|import\(",
        script,
    )


@pytest.mark.parametrize("kind", KINDS)
def test_every_link_leads_to_something_in_the_page(kind, pages):
    read, data = read_page(pages[kind]), data_of(pages[kind])
    held = lines_of(data)
    assert len(read.ids) == len({*read.ids})
    for link in read.links:
        found = re.fullmatch(r"#([rs])\.(\d+)\.(\d+)(?:\.\d+)?", link)  # an episode, or a step of it
        if found is None:
            assert link[1:] in read.ids, link
        elif found[1] == "r":
            assert int(found[3]) in held[int(found[2])], link
        else:
            bodies = [json.loads(line) for line in held[int(found[2])].values()]
            assert any(one["type"] == "episode_end" and one["body"]["episode"] == int(found[3]) for one in bodies), link


@pytest.mark.parametrize("kind", KINDS)
def test_embedded_receipts_are_the_lines_of_the_bundle_and_lead_to_its_root(kind, places, pages):
    data = data_of(pages[kind])
    for chain, held in zip(data["chains"], lines_of(data), strict=True):
        place = places[kind] / chain["place"]
        lines = (place / "receipts.jsonl").read_bytes().splitlines()
        manifest = json.loads((place / "manifest.json").read_bytes())
        assert {key: chain[key] for key in ("count", "head", "root")} == manifest["receipts"]
        assert held == {seq: lines[seq] for seq in held}
        assert len(held) == len(lines)
        assert chain["root"] == merkle([held[seq] for seq in sorted(held)])


@pytest.mark.parametrize("budget", [0, 2_000, 20_000, 60_000])
def test_what_is_not_embedded_is_there_as_hashes_of_whole_subtrees(budget, trap, monkeypatch):
    monkeypatch.setattr(embed, "MOST_CODED", budget)
    text = text_of("html", report_of(trap))
    data = data_of(text)
    ((chain,), (held,)) = data["chains"], lines_of(data)
    lines = (trap / "receipts.jsonl").read_bytes().splitlines()
    assert len(held) < len(lines)
    assert "the others enter the root as hashes" in text
    assert sum(len(part) if isinstance(part, str) else 12 for part in data["text"]) <= max(3 * budget, 40_000)
    covered = [*((seq, 1) for seq in held), *((at, size) for at, size, _ in chain["rest"])]
    assert sorted(seq for at, size in covered for seq in range(at, at + size)) == list(range(len(lines)))
    for at, size, hashed in chain["rest"]:
        assert at % size == 0
        assert hashed == merkle(lines[at : at + size])
    assert len(chain["rest"]) <= 2 * len(lines).bit_length() * (len(chain["spans"]) + 1)


@given(
    st.lists(
        st.one_of(st.binary(max_size=40), st.sampled_from([b"ab" * 40, b"x" * 300, bytes(range(256))])), max_size=12
    )
)
def test_what_is_coded_is_read_back(pieces):
    copies = Copies()
    for piece in pieces:
        copies.add(piece)
    assert read_back(copies.parts) == b"".join(pieces)


@pytest.mark.parametrize(("again", "refers"), [(15, False), (16, True), (17, True)])
def test_bytes_of_a_window_are_referred_to(again, refers):
    copies = Copies()
    first = bytes(range(40))
    copies.add(first)
    copies.add(first[:again])
    assert copies.parts[1:] == ([(0, again)] if refers else [first[:again].decode("latin-1")])
    assert read_back(copies.parts) == first + first[:again]


def read_back(parts):
    text = bytearray()
    for part in parts:
        if isinstance(part, str):
            text += part.encode("latin-1")
        else:
            for at in range(part[0], part[0] + part[1]):
                text.append(text[at])
    return bytes(text)


def test_a_chain_without_room_is_hashes_alone():
    chain = Embedded("c", "", {"run": "r", "receipts": {"count": 3, "head": "h", "root": "x"}})
    for line in (b"a", b"b", b"c"):
        chain.add(line, keep=False)
    assert choose([chain]).parts == []
    assert chain.document()["spans"] == []
    assert [(at, size) for at, size, _ in chain.rest()] == [(0, 2), (2, 1)]


# What the tables say


def table(text, section):
    """The rows of a section: the texts of their cells, details left out."""
    (inside,) = re.findall(rf'<section id="{section}".*?</section>', text, re.DOTALL)
    rows = re.findall(r'<tbody id="[^"]*" class="item"[^>]*><tr>(.*?)</tr>', inside, re.DOTALL)
    return [
        [
            html.unescape(re.sub(r"<[^>]*>", "", cell)).strip()
            for cell in re.findall(r"<t[dh][^>]*>(.*?)</t[dh]>", row, re.DOTALL)
        ]
        for row in rows
    ]


@pytest.mark.medium
def test_what_was_broken_is_said_with_the_receipts_that_show_it(forge, read, trap):
    def breach(bodies):
        bodies["step"][-1]["violations"].append({"invariant": "no-bump", "severity": "fatal", "witness": HOSTILE})
        bodies["episode_end"][0]["ended"] = "fatal"

    place = forge(trap, breach)
    text = text_of("html", report_of(place))
    rows = {row[1].rstrip("#"): row for row in table(text, "invariants")}
    assert rows["no-bump"][0] == "\u2715broken"
    last = max((one for one in read(place) if one["type"] == "step"), key=lambda one: one["seq"])
    assert rows["no-bump"][-1] == f"step {last['body']['t']}, receipt {last['seq']}"
    assert rows["no-bump"][-2].startswith(HOSTILE[:10])  # the first witness
    assert 'href="#invariants.no-bump"' in text.partition("<main")[0]
    assert "alert(1)</script>" not in text


def test_a_law_shows_what_it_rests_on(pages, read, places):
    verdict = next(one["body"]["verdict"] for one in read(places["law"]) if one["type"] == "verdict")
    (row,) = table(pages["law"], "laws")
    assert row[0] == "\u2713FAIL as expected"
    assert row[2:4] == [verdict["claim"], f"a counterexample at step {verdict['counterexample']['t']}"]
    (drawn,) = data_of(pages["law"])["spacetimes"]
    assert drawn["rows"][0] == verdict["counterexample"]["start"]
    begin, end = drawn["excerpt"]
    assert drawn["rows"][begin:end] == verdict["counterexample"]["excerpt"]["states"]
    assert drawn["said"].startswith("A counterexample.")
    (row,) = table(pages["proved"], "laws")
    assert (row[0], row[3]) == ("\u2713PROVED", "a certificate")
    verdict = next(one["body"]["verdict"] for one in read(places["proved"]) if one["type"] == "verdict")
    assert all(f"<bdi>{key}</bdi></th>" in pages["proved"] for key in verdict["certificate"])


def moved(ring):
    """The next state of a ring in which particles move and pass through each other: `X` is one each way."""
    size = len(ring)
    ways = [(ring[i - 1] in ">X", ring[(i + 1) % size] in "<X") for i in range(size)]
    return "".join({(True, True): "X", (True, False): ">", (False, True): "<"}.get(way, ".") for way in ways)


def test_a_law_without_a_counterexample_shows_an_example_that_says_so(pages):
    (drawn,) = data_of(pages["proved"])["spacetimes"]
    assert drawn["said"].startswith("An example, and no evidence")
    assert (drawn["t"], drawn["excerpt"], drawn["status"]) == (None, [0, 0], "PROVED")
    rows = drawn["rows"]
    assert [moved(row) for row in rows[:-1]] == rows[1:]
    assert len(rows) == drawn["states"] == 51
    assert drawn["observables"] == {
        str(step): {"Momentum": row.count(">") - row.count("<")} for step, row in enumerate(rows)
    }


def test_a_discovery_shows_each_law_with_its_last_verdict_and_what_was_asked(pages, read, places):
    receipts = read(places["discovery"])
    verdicts = {}
    for one in receipts:
        if one["type"] == "escalation" or (one["type"] == "law" and one["body"]["late"] is None):
            verdicts[one["body"]["law"].partition("/")[2].partition("@")[0]] = one["body"]["verdict"]
    rows = table(pages["discovery"], "laws")
    assert {row[1].rstrip("#"): row[0][1:] for row in rows} == {
        name: verdict["status"] for name, verdict in verdicts.items()
    }
    assert {"PROVED", "FAIL"} <= {verdict["status"] for verdict in verdicts.values()}
    drawn = data_of(pages["discovery"])["spacetimes"]
    rows = {f"laws.{name}": verdict for name, verdict in verdicts.items()}
    assert {each["anchor"]: each["said"].split()[0] for each in drawn} == {
        row: "A" if verdict["counterexample"] else "An" for row, verdict in rows.items()
    }
    refuted = [each["t"] is not None for each in drawn]
    assert refuted == sorted(refuted, reverse=True)
    assert {True, False} == {*refuted}
    asked = [one["body"] for one in receipts if one["type"] == "iteration"]
    assert [row[1] for row in table(pages["discovery"], "iterations")] == [
        one["prompt"]["digest"][:16] for one in asked
    ]
    (start,) = [one["body"] for one in receipts if one["type"] == "start"]
    head, _, body = pages["discovery"].partition("<main")
    name, _, digest = start["prompt"].partition("/")[2].partition("@")
    assert name in "".join(Read(head.partition('class="cover"')[0]).words)
    assert digest not in head
    assert digest in "".join(Read(body).words)


def test_probes_are_told_with_their_intervals(pages, read, places):
    bodies = [one["body"] for one in read(places["probed"]) if one["type"] == "probe"]
    for mark, name, _, _, times, *_ in table(pages["probed"], "probes"):
        found = [body["verdict"] for body in bodies if body["probe"] == name.rstrip("#")]
        assert (mark, int(times)) == ("\u2713PASS" if found else "?untested", len(found))
    rows = table(pages["probed"], "calibration")
    assert rows[0][-4:] == ["2", "0 (0.00 %)", "0.00 % to 65.76 %", ""]  # no row has causes


@pytest.mark.parametrize("kind", KINDS)
def test_a_page_says_what_was_checked_and_never_that_it_is_verified(kind, places, pages):
    verification = read_bundle(places[kind]).verification
    rows = table(pages[kind], "written")
    assert [row[1].rstrip("#") for row in rows[: len(verification.checks)]] == [
        check.name for check in verification.checks
    ]
    assert any(row[0] == "?not checked" and "signed" in row[1] for row in rows)
    text = "".join(read_page(pages[kind]).words).lower()
    assert "verified" not in text
    for digest in ("specs", "run"):
        assert json.loads((places[kind] / "manifest.json").read_bytes())[digest] in text


# What cannot be, and what is hostile


@pytest.mark.medium
def test_the_command_writes_it(trap, heights, pages, spec, tmp_path):
    assert spec("report", trap, "--format", "html", "--out", tmp_path / "p.html").status == Exit.CONFORMS
    assert (tmp_path / "p.html").read_text(encoding="utf-8") == pages["run"]
    options = ("--format", "html", "--workers", "1", "--profile", "clatl-plan", "--out", "-")
    status, page, _ = spec("report", trap, heights, *options)
    assert status == Exit.INCONCLUSIVE
    assert {"controls", "bundles", "gates"} <= {*Read(page).ids}
    assert re.search(
        r"<h1><bdi>clatl-plan</bdi> <span [^>]*><span [^>]*>.</span>INCONCLUSIVE</span> <span class=\"replayed\">not replayed: this is what the receipts say</span></h1>",
        page,
    )
    assert ">PASS<" not in page.partition("<main")[0]
    assert re.search(r"<p class=\"headline\">[0-9]+ of [0-9]+ controls are not settled: <a href=\"#controls\.", page)


@pytest.mark.parametrize(
    "make", [words, quoted, lambda text: block({text: text}), lambda text: element("a", href=text)]
)
@given(st.one_of(st.text(), st.just(HOSTILE)))
def test_no_text_becomes_markup(make, text):
    made = make(text)
    read = Read(made)
    assert read.inside in ([], ["pre"]) or {*read.inside} <= {"a", "bdi"}
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2066-\u2069]", made)
    assert made.count("<") == made.count(">") <= 4


@pytest.mark.parametrize("kind", KINDS)
def test_the_data_are_inert(kind, pages):
    (found,) = re.findall(r'<script id="data" type="application/json">(.*?)</script>', pages[kind], re.DOTALL)
    assert found.isascii()
    assert not re.search(r"[<>&\x00-\x1f\x7f]", found)
    parse_canonical(
        json.dumps(json.loads(found), sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode(),
        limit=len(found),
    )


@pytest.mark.parametrize(
    ("cell", "text"),
    [
        (Joined((RowLink("", "a"), RowLink("", "b")), listed=True), "<bdi>a</bdi>, <bdi>b</bdi>"),
        (Joined((Words("a"), NOTHING, Words("b"))), "a b"),
        (Block({"low": 3}), '<table class="small"><tbody><tr><th scope="row"><bdi>low</bdi></th><td><bdi>3</bdi></td>'),
        (Block({"a": {"x": [1]}}), '<th scope="row"><bdi>a</bdi></th><td><pre'),
        (Block([1]), '<pre tabindex="0">[1]</pre>'),
        (
            Expression("deny", "<x>"),
            '<details class="expression"><summary>deny</summary><code><bdi>&lt;x&gt;</bdi></code>',
        ),
    ],
)
def test_cells_do_not_run_together_and_objects_are_tables(cell, text):
    assert text in render_cell(cell, lambda place: False)


def test_a_long_table_is_cut_and_says_so():
    section = Section("s", "S", "", ("name",), [Row("same", "", ()) for _ in range(MOST_ROWS + 3)])
    text = render(section, lambda place: True)
    assert text.count("<tbody") == MOST_ROWS
    assert "3 more rows are not on this page" in text
    assert len({*anchors(section)}) == MOST_ROWS


@pytest.mark.medium
def test_requirements_of_a_profile_are_rows_untested_ones_too(trap, heights):
    def control(name, outcome, rows=(), waiver=None):
        return Control(name, "section", HOSTILE, "shown", outcome, "", tuple(rows), ("tests/a.py::test_b",), waiver)

    found = [Match("invariant/no-bump", 0, Outcome.PASSED), Match("invariant/elsewhere", None, Outcome.UNTESTED)]
    late = Waiver("somebody", "later", "2030-01-01", "active")
    controls = (
        control("held", Outcome.PASSED, found),
        control("never-looked-at", Outcome.UNTESTED),
        control("waived", Outcome.FAILED, waiver=late),
    )
    judgement = Judgement("ours", "a source", "", "0" * 16, None, controls)
    subject = subject_of(trap)
    text = text_of("html", Report((subject,), judgement))
    rows = table(text, "controls")
    assert [row[0] for row in rows] == ["\u2713passed", "?untested", "?WAIVED"]
    assert "WAIVED (failed) by somebody until 2030-01-01: later" in text
    assert 'href="#invariants.no-bump"' in text
    assert "invariants.elsewhere" not in text
    assert "alert(1)</script>" not in text
    text = text_of("html", Report((subject, subject_of(heights)), judgement))
    assert [row[1] for row in table(text, "bundles")] == ["concave#", "heights#"]
    assert "invariant/no-bump in concave: passed" in text
    text = text_of("html", Report((subject, subject)))
    assert "2 bundles: 2 PASS. " in text


DOCS = {
    "a sentence with code": ("Denied by `axion-i3`.", '<p class="doc"><bdi>Denied by <code>axion-i3</code>.</bdi></p>'),
    "two paragraphs": ("One.\n\nTwo.", '<p class="doc"><bdi>One.</bdi></p><p class="doc"><bdi>Two.</bdi></p>'),
    "a folded line": ("One\ntwo.", '<p class="doc"><bdi>One two.</bdi></p>'),
    "a list after a sentence": (
        "These:\n- one `a`\n  goes on\n- two",
        '<p class="doc"><bdi>These:</bdi></p><ul class="doc"><li><bdi>one <code>a</code> goes on</bdi></li>'
        "<li><bdi>two</bdi></li></ul>",
    ),
    "a backtick too many": ("a `b` c ` d", '<p class="doc"><bdi>a <code>b</code> c ` d</bdi></p>'),
    "markup": ("`<b>` & <i>", '<p class="doc"><bdi><code>&lt;b&gt;</code> &amp; &lt;i&gt;</bdi></p>'),
    "nothing": ("\n\n", ""),
}


@pytest.mark.parametrize("case", DOCS)
def test_what_a_spec_says_of_itself_is_set_as_it_is_written(case):
    text, wanted = DOCS[case]
    assert document_text(text) == wanted


@given(st.text())
def test_no_document_text_is_markup(text):
    tags = re.sub(r"</?(p|ul|li|bdi|code)( class=\"doc\")?>", "", document_text(text))
    assert not set(tags) & set("<>\"'")


@pytest.mark.parametrize(
    ("value", "lines"),
    {
        "a short record": ({"a": 1}, 1),
        "a short record of records": ({"a": {"b": [1, 2]}}, 1),
        "a record of 110 characters": ({"a": "x" * 102}, 1),
        "one more": ({"a": "x" * 103}, 3),
        "a long list of scalars": (["x" * 60, "y" * 60], 1),
        "a long list of records": ([{"a": "x" * 60}, {"b": "y" * 60}], 4),
    }.values(),
)
def test_a_value_stands_on_one_line_where_it_is_short_or_a_list_of_scalars(value, lines):
    assert len(block(value).splitlines()) == lines
