"""What reasons of a model are read as: each notation that is certain, and nothing else."""

from types import SimpleNamespace
from typing import Any

import pytest

from specledger.oracles.reason_reading import Known, ReasonReader

KNOWN = Known(("heat", "cold"), ("a",))
GIVEN = {"variable": "heat", "choice": "a", "becomes": 1}
READ = {"variable": "heat", "choice": "a"}


def readings(text):
    """`heat -> DIRECTION -> CHOICE`; with `?` in front also `cold` for another variable."""
    parts = text.removeprefix("?").split(" -> ")
    if len(parts) != 3 or not parts[0].isalpha():
        return []
    said = dict(zip(("variable", "direction", "choice"), parts, strict=True))
    return [said, {**said, "variable": "cold"}] if text.startswith("?") else [said]


@pytest.fixture
def read():
    notation: Any = SimpleNamespace(choice=lambda given, texts: given if given in texts else None)
    reader = ReasonReader(readings, notation)

    def call(given, prose="", known=KNOWN):
        return tuple(reader.read(given, prose, known))

    return call


OBJECTS = {
    "as it is": (GIVEN, {**READ, "becomes": 1}),
    "`value` for `becomes`": ({**READ, "value": 2}, {**READ, "becomes": 2}),
    "both": ({**GIVEN, "value": 2}, {**READ, "becomes": 1}),
    "a key in capitals": ({"Variable": "heat", "CHOICE": "a", "becomes": 1}, {**READ, "becomes": 1}),
    "a key beside": ({**GIVEN, "note": 1}, {**READ, "becomes": 1}),
    "becomes nothing": ({**READ, "becomes": None}, {**READ, "becomes": None}),
    "a direction": ({**READ, "direction": "increases"}, {**READ, "direction": "increases"}),
    "a direction in other words": ({**READ, "direction": "is removed"}, {**READ, "direction": "removed"}),
    "a direction in short": ({**READ, "direction": "Decrease"}, {**READ, "direction": "decreases"}),
    "a direction, and becomes nothing": (
        {**READ, "direction": "removed", "becomes": None},
        {**READ, "direction": "removed"},
    ),
    "a direction and a value": ({**GIVEN, "direction": "removed"}, {**READ, "becomes": 1}),
    "no such direction": ({**READ, "direction": "sideways"}, None),
    "a direction that is a number": ({**READ, "direction": 1}, None),
    "neither": (READ, None),
    "no variable": ({"choice": "a", "becomes": 1}, None),
    "an empty variable": ({**GIVEN, "variable": ""}, None),
    "a variable of 400": ({**GIVEN, "variable": "v" * 400}, {"variable": "v" * 400, "choice": "a", "becomes": 1}),
    "a variable of 401": ({**GIVEN, "variable": "v" * 401}, None),
    "half a character": ({**GIVEN, "variable": "\ud800"}, None),
    "a variable that is a number": ({**GIVEN, "variable": 1}, None),
    "no choice": ({"variable": "heat", "becomes": 1}, None),
    "an empty choice": ({**GIVEN, "choice": ""}, None),
    "a choice of 400": ({**GIVEN, "choice": "c" * 400}, {"variable": "heat", "choice": "c" * 400, "becomes": 1}),
    "a choice of 401": ({**GIVEN, "choice": "c" * 401}, None),
    "a choice that is a number": ({**GIVEN, "choice": 3}, None),
    "an action": ({**GIVEN, "choice": {"op": "go", "n": 1}}, {**READ, "choice": {"op": "go", "n": 1}, "becomes": 1}),
    "a call": (
        {**GIVEN, "choice": {"name": "go", "arguments": {"n": 1}}},
        {**READ, "choice": {"op": "go", "n": 1}, "becomes": 1},
    ),
    "a call without arguments": ({**GIVEN, "choice": {"name": "go"}}, {**READ, "choice": {"op": "go"}, "becomes": 1}),
    "a call with no object": (
        {**GIVEN, "choice": {"name": "go", "arguments": 3}},
        {**READ, "choice": {"op": "go"}, "becomes": 1},
    ),
    "more than a call": ({**GIVEN, "choice": {"name": "go", "n": 1}}, None),
    "an operation of 80": ({**GIVEN, "choice": {"op": "o" * 80}}, {**READ, "choice": {"op": "o" * 80}, "becomes": 1}),
    "an operation of 81": ({**GIVEN, "choice": {"op": "o" * 81}}, None),
    "no operation": ({**GIVEN, "choice": {"op": ""}}, None),
    "a value beyond all": ({**READ, "becomes": 2**60}, None),
    "a value of nine decimals": ({**READ, "becomes": 0.123456789}, None),
    "of nine decimals inside": ({**READ, "becomes": {"a": [0.123456789]}}, None),
    "of eight decimals inside": ({**READ, "becomes": {"a": [0.25]}}, {**READ, "becomes": {"a": [0.25]}}),
    "no number": ({**READ, "becomes": float("nan")}, None),
}


@pytest.mark.parametrize(("given", "claim"), OBJECTS.values(), ids=OBJECTS)
def test_an_object_is_read_in_any_notation_that_is_certain(read, given, claim):
    assert read([given]) == (([], 1) if claim is None else ([claim], 0))


@pytest.mark.parametrize(
    ("given", "share"),
    [(0, 0), (1, 1), (1.0, 1), (0.5, 0.5), ("0.5", 0.5), ("50%", 0.5), (" 50 % ", 0.5), ("100%", 1), (0.123456789, 0.12345679)],
)  # fmt: skip
def test_a_confidence_is_a_share(read, given, share):
    ((claim,), unread) = read([{**GIVEN, "confidence": given}])
    assert (claim["confidence"], type(claim["confidence"]), unread) == (share, type(share), 0)


@pytest.mark.parametrize("given", [True, -0.01, 1.01, "101%", "much", "-1%", [1], "nan"])
def test_what_is_no_share_makes_no_reason(read, given):
    assert read([{**GIVEN, "confidence": given}]) == ([], 1)


def test_no_confidence_is_none(read):
    assert read([{**GIVEN, "confidence": None}]) == ([{**READ, "becomes": 1}], 0)


WORDS = {
    "a value": ("heat -> becomes 3 -> a", {**READ, "becomes": 3}),
    "a value with a stop": ("heat -> becomes 3. -> a", {**READ, "becomes": 3}),
    "a text": ('heat -> becomes "x" -> a', {**READ, "becomes": "x"}),
    "a value that is none": ("heat -> becomes x -> a", None),
    "a value beyond all": (f"heat -> becomes {2**60} -> a", None),
    "a direction": ("heat -> is increases -> a", {**READ, "direction": "increases"}),
    "no direction": ("heat -> turns -> a", None),
    "in quotes, with a bullet": ("- 'heat -> increases -> a'", {**READ, "direction": "increases"}),
    "of two variables": ("?heat -> increases -> a", None),
    "of two, with a choice that is not known": ("?heat -> increases -> b", None),
    "no reason": ("I like heat", None),
}


@pytest.mark.parametrize(("text", "claim"), WORDS.values(), ids=WORDS)
def test_a_text_is_read_where_one_thing_alone_can_be_meant(read, text, claim):
    assert read(text) == (([], 1) if claim is None else ([claim], 0))


def test_of_two_readings_the_one_with_a_known_variable_counts(read):
    known = Known(("heat",), ("a",))
    assert read("?heat -> increases -> a", known=known) == ([{**READ, "direction": "increases"}], 0)
    assert read("?heat -> increases -> b", known=known) == ([], 1)
    assert read('?heat -> becomes "b" -> b', known=known)[0] == [{"variable": "heat", "choice": "b", "becomes": "b"}]


LINES = "heat -> increases -> a\n\nnothing\n"
FENCED = '```json\n[{"variable": "heat", "choice": "a", "becomes": 1}]\n```'


def test_reasons_stand_in_lists_and_texts_and_documents(read):
    up, one = {**READ, "direction": "increases"}, {**READ, "becomes": 1}
    assert read(None) == ([], 0)
    assert read(LINES) == ([up], 1)
    assert read([LINES, [GIVEN, [GIVEN]], 3, None]) == ([up, one, one], 2)
    assert read(FENCED) == ([one], 0)
    assert read(FENCED.replace("```json", "```").replace("\n```", "```")) == ([one], 0)
    assert read('{"variable": "heat", "choice": "a", "becomes": 1}') == ([one], 0)
    assert read("```\nheat -> increases -> a\n```") == ([up], 0)
    assert read("[1, 2") == ([], 1)


def test_prose_adds_what_is_not_said_already(read):
    up = {**READ, "direction": "increases"}
    assert read([GIVEN], LINES) == ([{**READ, "becomes": 1}, up], 0)
    assert read("heat -> increases -> a", LINES) == ([up], 0)
    assert read("heat -> increases -> b", LINES) == ([{**up, "choice": "b"}], 0)
    assert read(None, LINES + LINES) == ([up], 0)


def test_of_very_many_reasons_the_first_are_read(read):
    assert [len(read([GIVEN] * size)[0]) for size in (63, 64, 65)] == [63, 64, 64]
    assert [read([GIVEN] * size)[1] for size in (63, 64, 66)] == [0, 0, 2]
    prose = [{**READ, "becomes": number} for number in range(70)]
    assert len(read(None, str(prose).replace("'", '"'))[0]) == 64
    assert len(read([GIVEN] * 63, LINES + "cold -> increases -> a")[0]) == 64
