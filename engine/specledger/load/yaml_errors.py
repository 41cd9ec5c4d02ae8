"""Findings about YAML that could not be read, with the likely cause.

Errors of both parsers of PyYAML lead to the same codes and messages.
"""

import re
from typing import Any, Final

from specledger.core.diagnostics import Diagnostic, Diagnostics, code
from specledger.core.spans import Span
from specledger.load.document import Range

E_YAML_SYNTAX = code("E_YAML_SYNTAX", "Not YAML")
E_YAML_EXPRESSION = code("E_YAML_EXPRESSION", "An unquoted expression that YAML reads as something else")
E_YAML_ANCHOR = code("E_YAML_ANCHOR", "An anchor")
E_YAML_ALIAS = code("E_YAML_ALIAS", "An alias")
E_YAML_TAG = code("E_YAML_TAG", "A tag")
E_YAML_DIRECTIVE = code("E_YAML_DIRECTIVE", "A directive")
E_YAML_ESCAPE = code("E_YAML_ESCAPE", "A backslash escape that names no character")

QUOTE: Final = "quote the expression"
_CONTEXTS: Final = (
    ("alias", "*", E_YAML_ALIAS, "an alias (`*name`)"),
    ("anchor", "&", E_YAML_ANCHOR, "an anchor (`&name`)"),
    ("directive", "%", E_YAML_DIRECTIVE, "a directive (`%...`)"),
    ("tag", "!", E_YAML_TAG, "a tag (`!name`)"),
)
_ESCAPE: Final = re.compile(r"escape|hexdecimal|hexadecimal")
_LEAD: Final = re.compile(r"[\s:,\[{-]*")  # what stands between a scalar and the next one
_TIGHT_COLON: Final = "unexpected ':'"  # the parser in C, of `{a:{b: c}}`
_PROPERTIES: Final = frozenset("*&!")
_OPENED: Final = re.compile(r"flow sequence|flow mapping|quoted")
_INSIDE_FLOW: Final = frozenset("?[]{}\"':|>&*!%@`")  # what an expression goes on with where a comma or bracket is due


def report_error(error: Any, last: Range, diagnostics: Diagnostics) -> None:
    """Report an error of PyYAML's parser."""
    source = last.source
    mark = error.problem_mark or error.context_mark
    if _TIGHT_COLON in str(error.problem):
        mark = error.context_mark  # where the text with the colon begins
    at = len(source.text) if mark is None else min(mark.index, len(source.text))
    name, message, hint = _diagnose(str(error.context or ""), str(error.problem or ""), at, last)
    span = source.span(*_extent(name, message, at, last))
    if any(_explains(other, name, span, last) for other in diagnostics.sorted()):
        return
    related: tuple[tuple[str, Span], ...] = ()
    if name == E_YAML_SYNTAX and error.context_mark is not None and _OPENED.search(str(error.context)):
        related = (("it was opened here", source.span(error.context_mark.index, error.context_mark.index + 1)),)
    diagnostics.error(name, message, span, hint=hint, related=related)


def _extent(name: str, message: str, at: int, last: Range) -> tuple[int, int]:
    """Where a mistake begins and ends that the parser noticed at an offset."""
    text = last.source.text
    if name == E_YAML_ESCAPE:
        return max(text.rfind("\\", 0, at + 1), 0), at + 1
    if name == E_YAML_DIRECTIVE:
        return text.rfind("\n", 0, at) + 1, at + 1
    lead = _LEAD.match(text, last.end)
    if lead is not None and lead.end() < at and text[lead.end()] in _PROPERTIES:
        return lead.end(), at + 1
    within = last.start < last.end <= at and "\n" not in text[last.start : at]
    return last.start if name == E_YAML_EXPRESSION and within and "begin with" not in message else at, at + 1


def _explains(other: Diagnostic, name: str, span: Span, last: Range) -> bool:
    """Whether a finding that was reported already is the cause of the parser's complaint."""
    other_span = other.span
    if other_span is None or other_span.file != span.file:
        return False
    same_trap = name == other.code == E_YAML_EXPRESSION and other_span.start.line == span.start.line
    return same_trap or (last.start < last.end and other_span.start == last.span.start)


def _diagnose(context: str, problem: str, at: int, last: Range) -> tuple[str, str, str | None]:
    text = last.source.text
    character = text[at : at + 1]
    if _ESCAPE.search(problem):
        return E_YAML_ESCAPE, "an escape that names no character", "double the backslash, or use single quotes"
    lead = _LEAD.match(text, last.end)
    first = text[lead.end() : lead.end() + 1] if lead is not None and lead.end() < at else ""
    for word, property_, error_code, message in _CONTEXTS:
        if word in context or word in problem or first == property_:
            return error_code, message, "delete the line" if error_code == E_YAML_DIRECTIVE else QUOTE
    same_line = last.start < last.end and "\n" not in text[last.start : at]
    if _TIGHT_COLON in problem:
        return E_YAML_EXPRESSION, "a colon without a space after it", QUOTE
    if "cannot start any token" in problem:
        return E_YAML_EXPRESSION, f"an unquoted value cannot begin with `{character}`", QUOTE
    if "mapping values are not allowed" in problem:
        if same_line:
            return E_YAML_EXPRESSION, "`: ` inside an unquoted value", QUOTE
        return E_YAML_SYNTAX, "a key where none can be", "check the indentation of this line and of those before it"
    if character == "}" and _opened_last(text[:at]) == "[":
        return E_YAML_SYNTAX, "`}` where a list is open", "close the list first, by `]`"
    if "flow" in context and same_line and character in _INSIDE_FLOW:
        return E_YAML_EXPRESSION, f"`{character}` inside an unquoted value, or a comma is missing before it", QUOTE
    if same_line and text[last.start : last.start + 1] in ("'", '"') and last.end <= at and character not in ("", "\n"):
        return E_YAML_EXPRESSION, "text after the closing quote", f"{QUOTE} as a whole, with the other kind of quotes"
    if character in "?-" and "not allowed" in problem:
        return E_YAML_EXPRESSION, f"an unquoted value cannot begin with `{character} `", QUOTE
    before = text[:at].rstrip("\n ").rpartition("\n")[2]
    if (tight := re.fullmatch(r"\s*([\w-]+):(\S.*)", before)) is not None:
        return E_YAML_SYNTAX, "this is not YAML", f"a space belongs after the colon before it: `{tight[1]}: {tight[2]}`"
    if at >= len(text.rstrip()):
        return E_YAML_SYNTAX, "the file ends in the middle of a value", "close the bracket or quote that is open"
    return E_YAML_SYNTAX, "this is not YAML", "check brackets, quotes, commas and indentation up to this place"


def _opened_last(before: str) -> str:
    """The bracket that is open at the end of a text, as far as its last line shows it; empty if none is."""
    open_: list[str] = []
    for bracket in re.findall(r"\"[^\"]*\"|'[^']*'|[\[\]{}]", before.rpartition("\n")[2]):
        if bracket in "[{":
            open_.append(bracket)
        elif bracket in "]}" and open_:
            open_.pop()
    return open_[-1] if open_ else ""


def find_trap(text: str, start: int, end: int, *, flow: bool) -> str | None:
    """What is wrong with a plain scalar if it is a piece of an expression that YAML cut, or None."""
    scalar = text[start:end]
    if not flow and not _cut_by_comment(text, end):
        return None
    if flow and "?" in scalar:
        return "`?` in an unquoted value inside brackets"
    if scalar.count("(") != scalar.count(")"):
        return "an unquoted value with half a pair of parentheses"
    if scalar.count("'") % 2 or scalar.count('"') % 2:
        return "an unquoted value with half a pair of quotes"
    return None


def _cut_by_comment(text: str, end: int) -> bool:
    stop = end
    while text[stop : stop + 1] == " ":
        stop += 1
    return stop > end and text[stop : stop + 1] == "#"
