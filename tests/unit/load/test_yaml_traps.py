"""What a plain scalar shows of an expression that YAML cut, and which bracket is open at the end of a text."""

from types import SimpleNamespace
from typing import Any

import pytest

from specledger.core.diagnostics import Diagnostics
from specledger.load.document import Range
from specledger.load.yaml_errors import QUOTE, _diagnose, _opened_last, find_trap
from specledger.load.yaml_reader import parse

PARENTHESES = "an unquoted value with half a pair of parentheses"
QUOTES = "an unquoted value with half a pair of quotes"
CHOICE = "`?` in an unquoted value inside brackets"
# A scalar, what follows it, whether it stands inside brackets, and what is wrong with it.
SCALARS: dict[str, tuple[str, str, bool, Any]] = {
    "in brackets": ("a", ", b]", True, None),
    "half a call": ("f(a", ", b)]", True, PARENTHESES),
    "a whole call": ("f(a)", "]", True, None),
    "the other half": ("a)", "]", True, PARENTHESES),
    "half a text": ("'a", ", b']", True, QUOTES),
    "half a text in the other quotes": ('x == "a', "]", True, QUOTES),
    "a whole text": ("x == 'a'", "]", True, None),
    "a choice": ("a ? b", "]", True, CHOICE),
    "a choice in half a call": ("f(a ? b", "]", True, CHOICE),
    "outside of brackets": ("f(a", "\n", False, None),
    "outside, before a comment": ("f(a", " # b)\n", False, PARENTHESES),
    "outside, before a comment after spaces": ("f(a", "   # b)\n", False, PARENTHESES),
    "outside, half a text before a comment": ("x == 'a", " # b'\n", False, QUOTES),
    "outside, a choice before a comment": ("a ? b", " # c\n", False, None),
    "outside, before no comment": ("f(a", "#b)\n", False, None),
    "outside, at the end": ("f(a", "", False, None),
}


@pytest.mark.parametrize(("scalar", "after", "flow", "wrong"), SCALARS.values(), ids=SCALARS)
def test_what_is_wrong_with_a_scalar(scalar, after, flow, wrong):
    before = "key: "
    assert find_trap(f"{before}{scalar}{after}", len(before), len(before) + len(scalar), flow=flow) == wrong


BRACKETS = {
    "none": ("a: b", ""),
    "a list": ("a: [b", "["),
    "a mapping": ("a: {b", "{"),
    "a closed one": ("a: [b]", ""),
    "one in another": ("a: [b, {c", "{"),
    "one in another that is closed": ("a: [b, {c}", "["),
    "in a text": ("a: '[' [b", "["),
    "in a text alone": ('a: "["', ""),
    "on the line before": ("a: [\nb", ""),
    "one that was never opened": ("a: ] [b", "["),
    "one too many": ("a: [b]]", ""),
}


@pytest.mark.parametrize(("text", "bracket"), BRACKETS.values(), ids=BRACKETS)
def test_which_bracket_is_open(text, bracket):
    assert _opened_last(text) == bracket


def said(text):
    diagnostics = Diagnostics()
    parse(text, "a.yaml", diagnostics)
    return [
        (
            found.code,
            f"{found.span.start.line}:{found.span.start.column}-{found.span.end.line}:{found.span.end.column}",
            found.message,
            found.hint,
        )
        for found in diagnostics.sorted()
        if found.span is not None
    ]


WHOLE = f"{QUOTE} as a whole, with the other kind of quotes"
UP_TO_HERE = "check brackets, quotes, commas and indentation up to this place"
# Texts that are no YAML, and all that is said of them.
REFUSED: dict[str, tuple[str, list[tuple[str, str, str, Any]]]] = {
    "a brace that closes a list": (
        "a: {b: [1, 2}\n",
        [("E_YAML_SYNTAX", "1:13-1:14", "`}` where a list is open", "close the list first, by `]`")],
    ),
    "text after a text": ("a: 'b' + c\n", [("E_YAML_EXPRESSION", "1:4-1:9", "text after the closing quote", WHOLE)]),
    "no space after a colon": (
        "a:1\nb: 2\n",
        [
            (
                "E_YAML_SYNTAX",
                "2:2-2:3",
                "a key where none can be",
                "check the indentation of this line and of those before it",
            )
        ],
    ),
    "a percent sign": ("a: %b\n", [("E_YAML_EXPRESSION", "1:4-1:5", "an unquoted value cannot begin with `%`", QUOTE)]),
    "a colon in a value": (
        "a: b ? c : d\n",
        [("E_YAML_EXPRESSION", "1:4-1:11", "`: ` inside an unquoted value", QUOTE)],
    ),
}


@pytest.mark.parametrize(("text", "told"), REFUSED.values(), ids=REFUSED)
def test_what_is_said_of_a_text_that_is_no_yaml(text, told):
    assert said(text) == told


def placed(text, start, end) -> Range:
    made: Any = SimpleNamespace(source=SimpleNamespace(text=text), start=start, end=end)
    return made


# A text, the last scalar in it, what the parser says and where: the code, the message and the hint.
DIAGNOSED: dict[str, tuple[str, tuple[int, int], str, str, int, tuple[str, str, Any]]] = {
    "an escape": ('a: "\\q"', (0, 0), "", "found unknown escape character", 5, ("E_YAML_ESCAPE", "an escape that names no character", "double the backslash, or use single quotes")),
    "a misspelt escape": ("", (0, 0), "", "expected escape sequence of hexdecimal numbers", 0, ("E_YAML_ESCAPE", "an escape that names no character", "double the backslash, or use single quotes")),
    "a directive": ("%YAML", (0, 0), "while scanning a directive", "x", 0, ("E_YAML_DIRECTIVE", "a directive (`%...`)", "delete the line")),
    "an alias": ("a: *b", (0, 2), "", "x", 4, ("E_YAML_ALIAS", "an alias (`*name`)", QUOTE)),
    "a tag": ("a: !b", (0, 2), "", "x", 4, ("E_YAML_TAG", "a tag (`!name`)", QUOTE)),
    "a tag at the place itself": ("a: !b", (0, 2), "", "x", 3, ("E_YAML_SYNTAX", "this is not YAML", UP_TO_HERE)),
    "a key on the same line": ("a: b : c", (3, 4), "", "mapping values are not allowed here", 5, ("E_YAML_EXPRESSION", "`: ` inside an unquoted value", QUOTE)),
    "a bracket in a list": ("[a[0]]", (1, 2), "while parsing a flow sequence", "x", 2, ("E_YAML_EXPRESSION", "`[` inside an unquoted value, or a comma is missing before it", QUOTE)),
    "a letter in a list": ("[a b]", (1, 2), "while parsing a flow sequence", "x", 3, ("E_YAML_SYNTAX", "this is not YAML", UP_TO_HERE)),
    "the end": ("a: [b", (4, 5), "", "x", 5, ("E_YAML_SYNTAX", "the file ends in the middle of a value", "close the bracket or quote that is open")),
    "no space after the colon before": ("a:b c\nd", (0, 0), "", "x", 5, ("E_YAML_SYNTAX", "this is not YAML", "a space belongs after the colon before it: `a: b c`")),
    "a dash": ("a: - b", (0, 2), "", "block sequence entries are not allowed here", 3, ("E_YAML_EXPRESSION", "an unquoted value cannot begin with `- `", QUOTE)),
}  # fmt: skip


@pytest.mark.parametrize(("text", "last", "context", "problem", "at", "told"), DIAGNOSED.values(), ids=DIAGNOSED)
def test_what_a_complaint_of_the_parser_means(text, last, context, problem, at, told):
    assert _diagnose(context, problem, at, placed(text, *last)) == told
