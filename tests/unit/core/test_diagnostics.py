"""Findings are collected, ordered, explained, and shown so that no text can steer a terminal."""

import pickle

import pytest

from specledger.core.diagnostics import (
    Diagnostic,
    Diagnostics,
    Rejected,
    Severity,
    code,
    codes,
    printable,
    render,
    suggest,
    title_of,
)
from specledger.core.spans import Position, Span

E_ONE = code("E_TEST_ONE", "One")
E_TWO = code("E_TEST_TWO", "Two")
W_ONE = code("W_TEST_ONE", "Perhaps")


def span(line, column, width=1, file="a.yaml"):
    return Span(file, Position(line, column), Position(line, column + width))


class TestCodes:
    def test_a_code_has_one_title(self):
        assert code("E_TEST_ONE", "One") == E_ONE
        with pytest.raises(ValueError, match="twice"):
            code("E_TEST_ONE", "Uno")
        assert title_of(E_ONE) == "One" == codes()["E_TEST_ONE"]
        assert title_of("E_TEST_UNKNOWN") is None

    @pytest.mark.parametrize("name", ["", "E_", "E", "E_x", "X_A", "E_A-B", "E_A\n", "E__A"])
    def test_a_malformed_name_is_refused(self, name):
        with pytest.raises(ValueError, match="looks like"):
            code(name, "t")

    def test_titles_are_in_the_order_of_their_codes_and_cannot_be_changed(self):
        assert list(codes()) == sorted(codes())
        with pytest.raises(TypeError):
            codes()["E_TEST_ONE"] = ""  # type: ignore[index]

    def test_a_finding_needs_a_registered_code(self):
        with pytest.raises(ValueError, match="not registered"):
            Diagnostic("E_TEST_UNKNOWN", "m")


class TestCollector:
    def test_findings_are_read_by_file_position_code_and_message_once_each(self):
        expected = [
            Diagnostic(E_TWO, "no place"),
            Diagnostic(E_TWO, "z", span(2, 9)),
            Diagnostic(E_ONE, "a", span(10, 1)),
            Diagnostic(E_ONE, "b", span(10, 1)),
            Diagnostic(E_TWO, "a", span(10, 1), hint="one"),
            Diagnostic(E_TWO, "a", span(10, 1), hint="two"),
            Diagnostic(E_ONE, "a", span(10, 1, width=2)),
            Diagnostic(E_ONE, "a", span(1, 1, file="b.yaml")),
        ]
        collector = Diagnostics()
        collector.extend(reversed(expected))
        collector.extend(expected)
        assert list(collector.sorted()) == expected

    def test_error_and_warn_take_the_same_details(self):
        place = span(1, 2)
        details: dict = {"hint": "h", "expected": "e", "found": "f", "related": (("r", place),)}
        collector = Diagnostics()
        collector.error(E_ONE, "m", place, **details)
        collector.warn(W_ONE, "m", place, **details)
        assert collector.sorted() == (
            Diagnostic("E_TEST_ONE", "m", place, "h", Severity.ERROR, "e", "f", (("r", place),)),
            Diagnostic("W_TEST_ONE", "m", place, "h", Severity.WARNING, "e", "f", (("r", place),)),
        )

    @pytest.mark.parametrize(
        ("message", "place", "told"),
        [("m", span(1, 2), True), ("n", span(1, 2), False), ("m", span(1, 3), False), ("m", None, False)],
    )
    def test_a_finding_is_told_whatever_else_it_says(self, message, place, told):
        collector = Diagnostics()
        collector.error(E_ONE, "m", span(1, 2), hint="h")
        assert collector.contains(E_ONE, message, place) is told
        assert not collector.contains(E_TWO, message, place)

    def test_an_error_stops_and_carries_everything(self):
        collector = Diagnostics()
        collector.warn(W_ONE, "perhaps", span(2, 1))
        collector.raise_if_errors()
        assert not collector.has_errors
        collector.error(E_ONE, "bad", span(1, 1))
        assert collector.has_errors
        with pytest.raises(Rejected) as caught:
            collector.raise_if_errors()
        assert caught.value.diagnostics == collector.sorted()
        assert str(caught.value) == "a.yaml:1:1: error[E_TEST_ONE]: bad\na.yaml:2:1: warning[W_TEST_ONE]: perhaps"

    def test_a_rejection_crosses_processes(self):
        rejected = Rejected([Diagnostic(E_ONE, "m", span(1, 1))])
        assert pickle.loads(pickle.dumps(rejected)).diagnostics == rejected.diagnostics


SUGGESTIONS = {
    "transposed": ("mvoe", ["move", "wait"], "move"),
    "missing letter": ("scenaro", ["scenario", "universe"], "scenario"),
    "letter case": ("STAY", ["stay", "start"], "stay"),
    "singular": ("effect", ["effects", "every_step"], "effects"),
    "nothing near": ("zebra", ["move", "wait"], None),
    "no candidates": ("move", [], None),
    "a word too long to compare": ("a" * 65, ["a" * 65], None),
    "a candidate too long to compare": ("a" * 64, ["a" * 65], None),
    "equally near": ("cat", ["car", "cap"], "car"),
    "near but for letter case": ("MOVE", ["Move", "move"], "Move"),
}


@pytest.mark.parametrize(("word", "candidates", "meant"), SUGGESTIONS.values(), ids=SUGGESTIONS)
def test_suggest(word, candidates, meant):
    assert suggest(word, candidates) == suggest(word, reversed(candidates)) == meant


PRINTABLE = {
    "plain": ("a b", "a b"),
    "letters of any script": ("\xe9\u4e2d\U0001f600", "\xe9\u4e2d\U0001f600"),
    "ANSI colour": ("\x1b[31mred", "\\x1b[31mred"),
    "one-byte ANSI": ("\x9b31m", "\\x9b31m"),
    "line breaks": ("a\nb\r\n", "a\\nb\\r\\n"),
    "tab, null, delete": ("\t\0\x7f", "\\t\\x00\\x7f"),
    "bidirectional overrides": ("\u202e\u2066\u200f", "\\u202e\\u2066\\u200f"),
    "zero width": ("a\u200bb\ufeff\xad", "a\\u200bb\\ufeff\\xad"),
    "line separators": ("\u2028\u2029\x85", "\\u2028\\u2029\\x85"),
    "lone surrogate": ("\ud800", "\\ud800"),
    "tag characters": ("\U000e0041", "\\U000e0041"),
    "long": ("x" * 1001, "x" * 1000 + "..."),
}


@pytest.mark.parametrize(("text", "shown"), PRINTABLE.values(), ids=PRINTABLE)
def test_printable(text, shown):
    assert printable(text) == shown


def shown(diagnostic, text):
    return render(diagnostic, {"a.yaml": text}.get).split("\n")


CARETS = {
    "an empty range has one caret": ("abc", 2, 0, "abc", " ^"),
    "the end of the line": ("abc", 4, 1, "abc", "   ^"),
    "beyond the line": ("abc", 9, 5, "abc", "   ^"),
    "the range is cut at the line's end": ("abc", 2, 90, "abc", " ^^"),
    "tab before": ("\tab", 2, 1, "    ab", "    ^"),
    "tab inside": ("a\tb", 1, 3, "a    b", "^^^^^^"),
    "wide before": ("\u4e2d\u6587x", 3, 1, "\u4e2d\u6587x", "    ^"),
    "wide inside": ("\u4e2dx", 1, 1, "\u4e2dx", "^^"),
    "combining before": ("e\u0301x", 3, 1, "e\u0301x", " ^"),
    "control before": ("\x1bx", 2, 1, "\\x1bx", "    ^"),
    "control inside": ("\u202ex", 1, 1, "\\u202ex", "^^^^^^"),
    "carriage return ends the line": ("ab\r\ncd", 1, 1, "ab", "^"),
}


class TestRender:
    def test_everything(self):
        diagnostic = Diagnostic(
            E_ONE,
            "unknown action",
            span(2, 4, width=4),
            hint="did you mean move?",
            expected="one of move, wait",
            found="mvoe",
            related=(("actions are declared here", span(1, 1, width=7)),),
        )
        assert shown(diagnostic, "actions:\n - mvoe\n") == [
            "a.yaml:2:4: error[E_TEST_ONE]: unknown action",
            "2 |  - mvoe",
            "  |    ^^^^",
            "  expected: one of move, wait",
            "  found: mvoe",
            "  hint: did you mean move?",
            "a.yaml:1:1: note: actions are declared here",
            "1 | actions:",
            "  | ^^^^^^^",
        ]

    def test_without_a_place_or_its_line(self):
        assert shown(Diagnostic(W_ONE, "m", severity=Severity.WARNING), "") == ["warning[W_TEST_ONE]: m"]
        assert [shown(Diagnostic(E_ONE, "m", span(3, 1)), text)[1:] for text in (None, "", "one line")] == [[]] * 3

    @pytest.mark.parametrize(("text", "column", "width", "line", "carets"), CARETS.values(), ids=CARETS)
    def test_carets_stand_below_the_range(self, text, column, width, line, carets):
        assert shown(Diagnostic(E_ONE, "m", span(1, column, width)), text)[1:] == [f"1 | {line}", f"  | {carets}"]

    @pytest.mark.parametrize("break_", ["\n", "\r\n", "\r"])
    def test_lines_are_counted_like_the_yaml_reader_counts_them(self, break_):
        text = break_.join(["x", "y\x0by", "z"])
        assert shown(Diagnostic(E_ONE, "m", span(3, 1)), text)[1] == "3 | z"

    def test_a_range_over_lines_shows_the_first(self):
        over = Span("a.yaml", Position(1, 2), Position(2, 1))
        assert shown(Diagnostic(E_ONE, "m", over), "abc\ndef")[1:] == ["1 | abc", "  |  ^^"]

    @pytest.mark.parametrize(
        ("column", "line", "at"),
        [
            (1, "A" + "x" * 99 + "...", 0),
            (5000, "..." + "x" * 40 + "A" + "x" * 59 + "...", 43),
            (10000, "..." + "x" * 99 + "A", 102),
        ],
    )
    def test_a_long_line_is_cut_around_the_caret(self, column, line, at):
        text = "x" * (column - 1) + "A" + "x" * (10000 - column)
        assert shown(Diagnostic(E_ONE, "m", span(1, column)), text)[1:] == [f"1 | {line}", "  | " + " " * at + "^"]
        assert shown(Diagnostic(E_ONE, "m", span(1, 1, 9000)), text)[2] == "  | " + "^" * 100

    def test_no_text_reaches_a_terminal_raw(self):
        evil = "\x1b]0;x\x07\u202e\n"
        place = Span(evil, Position(1, 1), Position(1, 2))
        diagnostic = Diagnostic(E_ONE, evil, place, evil, expected=evil, found=evil, related=((evil, place),))
        text = render(diagnostic, lambda file: evil)
        assert set(text) & set("\x1b\x07\u202e") == set()
        assert len(text.split("\n")) == 9


@pytest.mark.parametrize(("names", "meant"), [(500, "name7"), (501, None)])
def test_among_very_many_names_none_is_suggested(names, meant):
    assert suggest("nmae7", [f"name{number}" for number in range(names)]) == meant
