"""JSON of other programs: what is kept as it is, what is marked, and what is refused."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specledger.core.canonical import MAX_INTEGER, NotCanonical
from specledger.core.log_json import LITERAL, MARKS, MAX_VALUE_DEPTH, NUMBER, log_value, parse_log_json

AS_READ = [
    "{}",
    '{"a": 1}',
    '{"a": 1, "$number": "1"}',
    "[true, null, -1]",
    '"$number"',
    str(MAX_INTEGER),
    str(-MAX_INTEGER),
]
MARKED = {
    "0.1": {NUMBER: "0.1"},
    "1.0": {NUMBER: "1.0"},
    "-0.0": {NUMBER: "-0.0"},
    str(MAX_INTEGER + 1): {NUMBER: str(MAX_INTEGER + 1)},
    str(-MAX_INTEGER - 1): {NUMBER: str(-MAX_INTEGER - 1)},
    '[1, {"a": 2.5}]': [1, {"a": {NUMBER: "2.5"}}],
    **{json.dumps({mark: "1"}): {LITERAL: {mark: "1"}} for mark in sorted(MARKS)},
    '{"a": {"$number": "1"}}': {"a": {LITERAL: {NUMBER: "1"}}},
    '{"$literal": {"$literal": 1}}': {LITERAL: {LITERAL: {LITERAL: {LITERAL: 1}}}},
}
REFUSED = {
    "a number that is too large": "1e400",
    "no JSON": "{",
    "no number of JSON": "[NaN]",
    "a key twice": '{"a": 1, "a": 1}',
    "a key twice in another spelling": '{"a": 1, "\\u0061": 2}',
    "a key twice beside an escaped quotation mark": '{"a": "\\u0022", "a": 1}',
    "a number that is too long": "0." + "1" * 400,
    "an integer that is too long": "1" * 401,
}


@pytest.mark.parametrize("text", AS_READ)
def test_what_has_no_other_meaning_is_kept(text):
    assert parse_log_json(text.encode()) == json.loads(text)


@pytest.mark.parametrize("text", [*AS_READ, *MARKED])
def test_a_value_of_python_is_as_its_text_is_read(text):
    assert log_value(json.loads(text)) == parse_log_json(text.encode())


DEEP: Any = []
for _ in range(5_000):
    DEEP = [DEEP]
NO_VALUES = {"no number": float("nan"), "a set": {1}, "a key that is no text": {1: 2}, "half a character": "\ud800", "an integer too long": 10**401,
    "an integer that Python does not write": 10**9_999, "too deep": DEEP}  # fmt: skip


@pytest.mark.parametrize("value", NO_VALUES.values(), ids=NO_VALUES)
def test_what_has_no_text_is_no_value(value):
    with pytest.raises((ValueError, NotCanonical)):
        log_value(value)


@pytest.mark.parametrize("text", MARKED)
def test_what_would_be_taken_for_something_else_is_marked(text):
    assert parse_log_json(text.encode()) == MARKED[text]


@pytest.mark.parametrize("case", REFUSED)
def test_a_document_that_is_refused(case):
    with pytest.raises(ValueError):  # noqa: PT011 - the words are of the parser
        parse_log_json(REFUSED[case].encode())


@pytest.mark.parametrize(("before", "after"), [("[", "]"), ('{"a":', "}")])
@pytest.mark.parametrize(
    ("inner", "depth"),
    [
        ("1", MAX_VALUE_DEPTH),
        ("0.5", MAX_VALUE_DEPTH - 1),  # a mark is a container
        (f'"{"[{" * 40}"', MAX_VALUE_DEPTH),
        (f'"{"x" * 5_000}"', MAX_VALUE_DEPTH),
    ],
)
def test_containers_are_bounded(before, after, inner, depth):
    deepest = before * depth + inner + after * depth
    value = parse_log_json(deepest.encode())
    for _ in range(depth):
        value = value["a"] if isinstance(value, dict) else value[0]
    assert value == ({NUMBER: inner} if inner == "0.5" else json.loads(inner))
    with pytest.raises(NotCanonical):
        parse_log_json((before + deepest + after).encode())


def restored(value):
    """The document of a value, by the definition of the marks."""
    if isinstance(value, dict):
        if value.keys() == {NUMBER}:
            return float(value[NUMBER])
        inner = value[LITERAL] if value.keys() == {LITERAL} else value
        return {name: restored(member) for name, member in inner.items()}
    return [restored(member) for member in value] if isinstance(value, list) else value


KEYS = st.sampled_from([*sorted(MARKS), "a", "b", ""])
SCALARS = (
    st.none()
    | st.booleans()
    | st.text(max_size=3)
    | st.integers(-MAX_INTEGER, MAX_INTEGER)
    | st.floats(allow_nan=False, allow_infinity=False)
)
DOCUMENTS = st.recursive(SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=2))


@given(DOCUMENTS)
def test_a_document_can_be_told_from_its_value(document):
    assert restored(parse_log_json(json.dumps(document).encode())) == document
