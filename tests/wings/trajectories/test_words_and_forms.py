"""Small forms of logs and of what is said of them: stems, places, names with dots, schemas of tools, lines of a scan."""

from types import SimpleNamespace
from typing import Any

import pytest

from specledger.core.events import Severity
from specledger.core.spans import Position, Span
from specledger.core.unknown import Unknown
from specledger.wings.trajectories import coverage_text, scan_text
from specledger.wings.trajectories.coverage import AbsentField, Missing, Misspelt
from specledger.wings.trajectories.findings import located
from specledger.wings.trajectories.readers import dotted_names, span_records
from specledger.wings.trajectories.rules.values import stem
from specledger.wings.trajectories.rules.windows import Window
from specledger.wings.trajectories.scan import Breach, RuleCount
from specledger.wings.trajectories.tools.types import Types

STEMS = {
    "payments": "payment", "installations": "install", "installation": "install", "bookings": "book", "booking": "book",
    "parties": "part", "booked": "book", "boxes": "box", "quickly": "quick", "payer": "pay", "lives": "liv", "live": "liv",
    "as": "as", "used": "used", "ions": "ion", "sing": "sing", "bees": "bee", "": "",
}  # fmt: skip


@pytest.mark.parametrize(("word", "left"), STEMS.items())
def test_a_word_without_its_ending_has_three_characters(word, left):
    assert stem(word) == left


PLACES = [
    (("a.jsonl", 3, "t", "c1"), "a.jsonl:3, call c1"),
    (("a.jsonl", 3, "t", ""), "a.jsonl:3"),
    (("a.json", 0, "a.json:7", "c1"), "a.json, trajectory 7, call c1"),
    (("a.json", 0, "t", ""), "a.json, trajectory t"),
    (("a.json", 0, "a.json:1", ""), "a.json"),
    (("a.json", 0, "a.json", "c1"), "a.json, call c1"),
]


@pytest.mark.parametrize(("given", "text"), PLACES)
def test_where_a_call_is(given, text):
    assert located(*given) == text


TREES = {
    "names": ({"a.b": 1, "a.c.d": 2, "e": 3}, {"a": {"b": 1, "c": {"d": 2}}, "e": 3}, []),
    "a value and more than one": ({"a": 1, "a.b": 2}, {"a": 1}, ["`w.a.b` is both a value and more than one"]),
    "more than one and a value": ({"a.b": 2, "a": 1, "c": 3}, {"a": {"b": 2}, "c": 3}, ["`w.a` is both a value and more than one"]),
    "a long name": ({"a": 1, f"a.{'b' * 300}": 2}, {"a": 1}, [f"`w.a.{'b' * 198}` is both a value and more than one"]),
    "nothing": ({}, {}, []),
    "nine levels": ({"1.2.3.4.5.6.7.8.9.10": 1}, {"1": {"2": {"3": {"4": {"5": {"6": {"7": {"8": {"9.10": 1}}}}}}}}}, []),
}  # fmt: skip


@pytest.mark.parametrize(("values", "tree", "wrong"), TREES.values(), ids=TREES)
def test_names_with_dots_are_a_tree(values, tree, wrong):
    said: list[str] = []
    assert (dotted_names.grown(values, "w", said.append), said) == (tree, wrong)


@pytest.mark.parametrize(
    ("text", "is_"),
    [
        ("0", True),
        ("12", True),
        ("9" * 9, True),
        ("9" * 10, False),
        ("", False),
        ("-1", False),
        ("a", False),
        ("\u0663", False),
    ],
)
def test_an_index_has_nine_digits_at_most(text, is_):
    assert dotted_names.is_index(text) is is_


LISTS: dict[str, tuple[dict[str, Any], list[Any], list[str]]] = {
    "in order": (
        {"1": "b", "0": "a", "10": "k", **{str(n): n for n in range(2, 10)}},
        ["a", "b", *range(2, 10), "k"],
        [],
    ),
    "a gap": ({"0": "a", "2": "c", "5": "f"}, ["a", "c", "f"], ["`w` has no index 1, but 2"]),
    "other names": ({"0": "a", "count": 3}, ["a"], []),
    "objects in wrappers": ({"0": {"message": {"role": "user"}}}, [{"role": "user"}], []),
    "lists in objects": ({"0": {"calls": {"0": 1, "1": 2}, "none": {}}}, [{"calls": [1, 2], "none": {}}], []),
}


@pytest.mark.parametrize(("tree", "members", "wrong"), LISTS.values(), ids=LISTS)
def test_numbered_names_are_a_list(tree, members, wrong):
    said: list[str] = []
    assert (dotted_names.in_order(tree, "w", said.append), said) == (members, wrong)


@pytest.mark.parametrize(
    ("span", "id_"),
    [
        ({"spanId": "a", "span_id": "b"}, "a"),
        ({"span_id": "b", "context": {"span_id": "c"}}, "b"),
        ({"context": {"span_id": "c"}}, "c"),
        ({"spanId": 7, "context": {"span_id": "c"}}, "c"),
        ({"context": "c"}, ""),
        ({}, ""),
    ],
)
def test_the_id_of_a_span(span, id_):
    assert span_records.span_id(span) == id_


SCHEMAS: dict[str, tuple[Any, Any, list[str]]] = {
    "a text": ({"type": "string"}, "string", []),
    "texts to choose from": ({"enum": ["a", "b", "a"]}, {"type": "string", "enum": ["a", "b"]}, []),
    "a constant": ({"const": "a", "enum": ["b"]}, {"type": "string", "enum": ["a"]}, []),
    "numbers to choose from": ({"enum": [1, 2, 1]}, {"enum": [1, 2]}, []),
    "no choice": ({"type": "integer", "enum": []}, "int", []),
    "choices of several types": ({"type": "string", "enum": ["a", 1]}, "string", []),
    "two hundred choices": ({"enum": list(range(200))}, {"enum": list(range(200))}, []),
    "more choices": ({"type": "integer", "enum": list(range(201))}, "int", []),
    "or null": ({"type": ["integer", "null"]}, "int", []),
    "one of two": ({"type": ["integer", "string"]}, "json", ["of several types"]),
    "null or one": ({"anyOf": [{"type": "null"}, {"type": "boolean"}]}, "bool", []),
    "one of many": ({"oneOf": [{"type": "string"}, {"type": "boolean"}]}, "json", ["of several types"]),
    "a reference": ({"$ref": "#/$defs/a~1b"}, "qfixed", []),
    "a reference to nothing": ({"$ref": "#/$defs/c"}, "json", ["of several types"]),
    "a reference elsewhere": ({"$ref": "http://a"}, "json", ["of several types"]),
    "a list": ({"type": "array", "items": {"type": "number"}}, {"type": "array", "items": "qfixed"}, []),
    "a list of anything": ({"type": "array"}, {"type": "array", "items": "json"}, ["of any type"]),
    "a record": (
        {"properties": {"a": {"type": "string"}, "b": {"type": "integer"}}, "required": ["b", "x"]},
        {"type": "object", "properties": {"a": "string", "b": "int"}, "required": ["b"]}, [],
    ),
    "a record without needs": ({"type": "object", "properties": {"a": {"type": "string"}}}, {"type": "object", "properties": {"a": "string"}, "required": []}, []),
    "names that are none": ({"properties": {"a-b": {}}}, "json", ["an object whose names are no identifiers"]),
    "a map": ({"type": "object", "additionalProperties": {"type": "boolean"}}, {"type": "object", "additionalProperties": "bool"}, []),
    "any object": ({"type": "object", "additionalProperties": True}, "json", ["any object"]),
    "no schema": (True, "json", ["of any type"]),
}  # fmt: skip


@pytest.mark.parametrize(("schema", "type_", "remarks"), SCHEMAS.values(), ids=SCHEMAS)
def test_the_type_of_a_schema(schema, type_, remarks):
    types = Types({"$defs": {"a/b": {"type": "number"}}})
    assert (types.type_of(schema, 0), types.remarks) == (type_, remarks)


def test_members_have_types_needs_and_remarks():
    properties = {"id": {"type": "integer"}, "any": {}, "both": {"type": "array", "items": {}}}
    members = Types({"properties": properties, "required": ["id"]}).members()
    assert members == {
        "id": ("int", True, ""),
        "any": ("json", False, "of several types"),
        "both": ("json", False, "of several types"),
    }
    assert Types({"properties": None}).members() == {}


def breach(number, tool="pay"):
    return Breach("dear", "t", "a.jsonl", number, f"c{number}", tool, f"reason {number}")


@pytest.mark.parametrize("number", [0, 1, 5, 6, 9])
def test_the_first_five_breaches_are_listed_and_the_others_counted(number):
    count = RuleCount(Severity.WARN, broken=number, breaches=[breach(n) for n in range(1, number + 1)])
    lines = [f"  a.jsonl:{n}, call c{n} pay: reason {n}" for n in range(1, min(number, 5) + 1)]
    more = [f"  and {number - 5} more"] if number > 5 else []
    assert scan_text._breaches("dear", count) == (["", "dear: broken", *lines, *more] if number else [])


@pytest.mark.parametrize(
    ("tool", "said"), [("", ""), ("pay", " pay"), ("x" * 80, f" {'x' * 80}"), ("x" * 81, f" {'x' * 80}...")]
)
def test_a_breach_names_its_tool_if_there_is_one(tool, said):
    assert scan_text._place(breach(3, tool)) == f"a.jsonl:3, call c3{said}: "


def test_what_was_not_judged_is_told_by_how_often_then_by_its_words():
    counts = {
        "dear": RuleCount(Severity.WARN, unjudged=9, withheld=1),
        "never": RuleCount(Severity.WARN, held=2, breakable=False),
        "idle": RuleCount(Severity.WARN, breakable=False),
    }
    counts["dear"].reasons.update({"b": 1, "a": 1, "c": 4, "d": 1, "e": 1, "f": 1})
    scan: Any = SimpleNamespace(
        rules=counts, calls=SimpleNamespace(most_common=lambda most: [("pay", 4), ("x" * 90, 1)][:most])
    )
    assert scan_text._not_judged(scan) == [
        "",
        "dear was not judged 4 times: c",
        *(f"dear was not judged 1 time: {reason}" for reason in "abde"),
        "dear was judged 1 time before a value was withheld, and not checked again",
    ]
    assert scan_text._remarks(scan) == [
        "never could not be broken by these logs: no tool of its `not_after` was called",
        f"tools that were called: pay 4, {'x' * 80}... 1",
    ]
    nothing: Any = SimpleNamespace(rules={}, calls=SimpleNamespace(most_common=lambda most: []))
    assert scan_text._not_judged(nothing) == [""]
    assert scan_text._remarks(nothing) == []


def at(line):
    return Span("p.yaml", Position(line, 3), Position(line, 9))


def covered(**fields):
    rule = {
        "rule": "dear",
        "place": at(1),
        "broken": (),
        "reason": "",
        "hint": "",
        "able": True,
        "reachable": True,
        "missing": [],
        "misspelt": [],
        "fields": [],
    }
    return list(coverage_text._rule_text(SimpleNamespace(**(rule | fields))))  # type: ignore[arg-type]


COVERED: dict[str, tuple[dict[str, Any], list[str]]] = {
    "nothing": ({}, []),
    "which part was broken": (
        {"broken": (("after", at(2), 1), ("require", at(3), 4))},
        ["p.yaml:2:3: dear is broken 1 time by its `after`", "p.yaml:3:3: dear is broken 4 times by its `require`"],
    ),
    "no opportunity": ({"reason": "no call"}, ["p.yaml:1:3: dear has no opportunity yet: no call"]),
    "no breach": ({"reason": "true", "able": False, "hint": "leave it out"}, ["p.yaml:1:3: dear can never be broken: true; leave it out"]),
    "a tool that was meant": ({"missing": [Missing("after", "appove", at(4), "approve")]}, ["p.yaml:4:3: dear names appove (after), which was never called; did you mean approve?"]),
    "other tools": (
        {"missing": [Missing("after", f"t{number}", at(number), "") for number in range(2, 24)]},
        [f"p.yaml:2:3: dear names tools that were never called: {', '.join(f't{n} (after)' for n in range(2, 22))} and 2 more"],
    ),
    "a tool at the place of the rule": ({"missing": [Missing("after", "t", at(1), "")]}, []),
    "a tool that the reason names": ({"reason": "no call", "missing": [Missing("when", "t", at(2), "")]}, ["p.yaml:1:3: dear has no opportunity yet: no call"]),
    "a tool that no reason names": ({"missing": [Missing("when", "t", at(2), "")]}, ["p.yaml:2:3: dear names tools that were never called: t (when)"]),
    "misspelt": ({"misspelt": [Misspelt("args.sun", at(n), "args.sum") for n in range(2, 24)]}, [f"p.yaml:{n}:3: dear reads args.sun, which no call has; did you mean args.sum?" for n in range(2, 22)]),
    "a field": (
        {"fields": [AbsentField("totl", at(2), ("look", "view"), 3, "total", False), AbsentField("result.x", at(3), ("look",), 1, "", True)]},
        [
            "p.yaml:2:3: dear looks for the field totl, which none of 3 results of look or view has; did you mean total?",
            "p.yaml:3:3: dear reads result.x, which none of 1 result of look has",
        ],
    ),
}  # fmt: skip


@pytest.mark.parametrize(("fields", "lines"), COVERED.values(), ids=COVERED)
def test_what_logs_show_of_a_rule(fields, lines):
    assert covered(**fields) == lines


def test_a_window_counts_what_is_at_most_so_long_ago_and_a_call_can_be_taken_back():
    window = Window(10)
    added = [
        window.add(number, time, value)
        for number, (time, value) in enumerate([(0, 1), (10, 2), (11, 4), (21, 8), (30, 16)])
    ]
    assert added == [1, 3, 6, 12, 24]
    window.forget(3)
    assert window.add(5, 31, 1) == 25
    window.forget(5)
    assert window.add(6, 40, 1) == 17
    assert window.add(7, 41, 1) == 2


def test_what_is_not_known_stays_so_until_it_is_taken_back():
    window = Window(10)
    window.add(0, 0, 1)
    unknown = Unknown("no time")
    assert window.add(1, unknown, 1) is unknown
    window.forget(1)
    assert window.add(2, 1, 1) == 2
    other = Unknown("no value")
    assert window.add(3, 2, other) is other
    assert window.add(4, 3, 1) is other
    window.forget(4)
    assert window.add(5, 4, unknown) is other
