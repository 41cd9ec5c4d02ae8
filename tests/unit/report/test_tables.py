"""Tables of reports: columns without anything, anchors, tones of marks; lines of sources that differ; a timeline."""

from typing import Any

import pytest

from specledger.report.diff import _first_line, _read
from specledger.report.receipt_diff import Change
from specledger.report.sections import (
    NOTHING,
    Count,
    Joined,
    Prose,
    Quoted,
    Row,
    Section,
    Words,
    anchor,
    check_anchor,
    tone,
)
from specledger.wings.discovery.timeline import timeline

HEADS = ("name", "a", "b", "c")


def section(*rows):
    return Section("s", "S", "", HEADS, [Row(f"r{number}", "", cells) for number, cells in enumerate(rows)])


@pytest.mark.parametrize("empty", [NOTHING, Quoted(""), Prose(""), Joined(())])
def test_a_column_in_which_no_row_has_anything_is_left_out(empty):
    full = Words("x")
    trimmed = section((empty, full, empty), (full, empty, empty)).trimmed()
    assert trimmed.heads == ("name", "a", "b")
    assert [list(row.cells) for row in trimmed.rows] == [[empty, full], [full, empty]]


def test_a_zero_is_something_and_a_row_may_have_fewer_cells():
    whole = section((Count(0), Quoted(0), Words("x")), (Count(1),))
    assert whole.trimmed() is whole
    trimmed = section((Count(1),), (Count(2), NOTHING, Words("x"))).trimmed()
    assert trimmed.heads == ("name", "a", "c")
    assert [list(row.cells) for row in trimmed.rows] == [[Count(1)], [Count(2), Words("x")]]
    assert section().trimmed().heads == ("name",)


@pytest.mark.parametrize(
    ("check", "anchored"),
    [
        ("gate/strict", "gates.strict"),
        ("invariant/a b/c", "invariants.a_b_c"),
        ("progress", "invariants.progress"),
        ("rule/p.r", "rules.p.r"),
        ("receipts", "asked.receipts"),
        ("else/x", "else.x"),
    ],
)
def test_the_anchor_of_a_check(check, anchored):
    assert check_anchor(check) == anchored


def test_an_anchor_is_bounded():
    assert anchor("s", "\u00e4" + "x" * 100) == "s._" + "x" * 79


@pytest.mark.parametrize(
    ("mark", "meant"),
    [
        ("PASS", "good"),
        ("came true", "good"),
        ("FAIL", "bad"),
        ("decides nothing", "bad"),
        ("never rejected anything (judged 4)", "open"),
        ("its condition never held", "open"),
        ("something else", ""),
        ("", ""),
    ],
)
def test_the_tone_of_a_mark(mark, meant):
    assert tone(mark) == meant


@pytest.mark.parametrize(
    ("left", "right", "change"),
    [
        (b"a\nb", b"a\nc", Change("f:2", "b", "c")),
        (b"a", b"a\nc", Change("f:2", None, "c")),
        (b"x\nb", b"", Change("f:1", "x", None)),
        (b"a\r\n", b"a\n", Change("f", "the same lines", "with other ends")),
        (b"\xff", b"a", Change("f:1", "\ufffd", "a")),
    ],
)
def test_the_first_line_of_a_source_that_differs(left, right, change):
    assert _first_line("f", left.splitlines(), right.splitlines()) == change


def test_lines_are_read_without_their_ends(tmp_path):
    (tmp_path / "r").write_bytes(b"{}\n[1]\n")
    assert list(_read(tmp_path / "r")) == [b"{}", b"[1]"]


def test_laws_are_added_up_by_the_iteration_that_proposed_them():
    plot: Any = timeline(
        4, [(0, "PASS"), (0, "FAIL"), (2, "PROVED"), (3, "UNKNOWN"), (3, "PASS")], [(2, "b"), (1, "a")]
    )[0]
    lines = {line.name: list(line.values) for line in plot.lines}
    assert lines == {"accepted": [1, 1, 2, 3], "refuted": [1, 1, 1, 1], "undecided": [0, 0, 0, 1]}
    assert plot.description.endswith(" A dashed line is an expected law.")
    plain: Any = timeline(1, [(0, "PASS")], [])[0]
    assert [line.name for line in plain.lines] == ["accepted"]
    assert "dashed" not in plain.description
    assert timeline(3, [], [(1, "a")]) == []
