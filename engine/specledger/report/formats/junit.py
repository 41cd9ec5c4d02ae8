"""Writes a report as JUnit XML: a test suite for each group of items, a test case for each item.

Only what passed is a passed test: what cannot be decided is an error; what was not tested, differs, does not apply or
is waived is skipped with the reason. Times are 0, since no clock is read.

Source: the JUnit schema of the Apache Ant task, as continuous integration services read it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from specledger.core.diagnostics import printable
from specledger.report.formats.output import DEFAULTS, Options, Output
from specledger.report.items import Group, Item, groups_of
from specledger.report.markup import escape
from specledger.report.model import Report
from specledger.report.outcome import WAIVED, Outcome

_HEAD: Final = '<?xml version="1.0" encoding="UTF-8"?>\n'
_ENDS: Final = {Outcome.PASSED: "", Outcome.FAILED: "failure", Outcome.CANNOT_TELL: "error"}


def write(report: Report, options: Options = DEFAULTS) -> Output:
    """The report as JUnit XML."""
    suites = [_suite(group) for group in groups_of(report)]
    ended = sum((counts for counts, _ in suites), Counter[str]())
    inner = [_lines(text for _, text in suites)]
    return Output(_HEAD + _element("testsuites", inner, name="specledger", **_counts(ended)) + "\n")


def _suite(group: Group) -> tuple[Counter[str], str]:
    """A test suite, with the counts of how its cases ended."""
    cases = [_case(group.name, item) for item in group.items]
    ended = Counter(end or "passed" for end, _ in cases)
    known = {"engine": " ".join(group.engine.values()), **group.properties} if group.properties else {}
    listed = [_element("property", [], name=key, value=value) for key, value in _flat("specledger", known)]
    about = [_element("properties", [_lines(listed)])] if listed else []
    inner = [*about, *(text for _, text in cases)]
    return ended, _element("testsuite", [_lines(inner)], name=group.name, **_counts(ended))


def _flat(name: str, value: Any) -> Iterator[tuple[str, str]]:
    """Properties by dotted names; lists of anything but text are left out."""
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _flat(f"{name}.{key}", inner)
    elif not isinstance(value, list):
        yield name, str(value)
    elif value and all(isinstance(item, str) for item in value):
        yield name, "; ".join(value)


def _counts(ended: Counter[str]) -> dict[str, str | int]:
    counts = {"failures": ended["failure"], "errors": ended["error"], "skipped": ended["skipped"]}
    return {"tests": sum(ended.values()), **counts, "time": "0"}


def _case(suite: str, item: Item) -> tuple[str, str]:
    """How the case of an item ended, and its element."""
    end = _ENDS.get(item.outcome, "skipped")
    message, type_ = item.text, item.type
    if end == "failure":
        end = "" if item.warning else "error" if item.error else end
    if end and item.waiver is not None:
        end, message, type_ = "skipped", item.covered_text, WAIVED
    properties = [_element("property", [], name=key, value=value) for key, value in item.properties.items()]
    inner = [_element("properties", [_lines(properties)])] if properties else []
    shown = [_lines([escape(line) for line in item.lines])] if item.lines else []
    if end:
        inner.append(_element(end, shown, message=message, type=type_))
    elif shown:
        inner.append(_element("system-out", shown))
    return end, _element("testcase", inner, classname=suite, name=item.id, time="0")


def _element(name: str, inner: Sequence[str], /, **attributes: str | int) -> str:
    """An element; its attributes hold no invisible character and none that XML forbids."""
    written = "".join(f' {key}="{escape(printable(str(value)))}"' for key, value in attributes.items())
    return f"<{name}{written}>{''.join(inner)}</{name}>" if inner else f"<{name}{written}/>"


def _lines(elements: Iterator[str] | Sequence[str]) -> str:
    return "\n" + "\n".join(elements) + "\n"
