"""Whatever a model answers, there is a result; and what is not broken is read as a plain reader of JSON reads it."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from specledger.core.canonical import canonical_bytes
from specledger.wings.discovery.json_recovery import Broken, Found, read_values
from specledger.wings.discovery.parser import ParseResult, ResponseParser
from tests.conftest import examples
from tests.wings.discovery.shipped import law, proposal, templates, universe

PIECES = [
    *"[]{},:\"'`/*\\\n ",
    *("//", "/*", "*/", "```json\n", "```", '"laws"', '"template"', '"forbidden"', '"claim"', "null", "NaN", "1e999"),
    *('"invariant"', '"x"', "-", "0", "12", "9" * 30, "true", "\\ud800", "\ud800", "\x00", "é", "[" * 70, "{" * 70),
]


@pytest.fixture(scope="module")
def parsers():
    return [ResponseParser(universe()[0], templates(), strict) for strict in (False, True)]


def check(result):
    assert isinstance(result, ParseResult)
    for shown, reason in result.rejections:
        canonical_bytes(shown)
        assert reason[:2] == "E_"
        canonical_bytes(reason)
    canonical_bytes(list(result.warnings))


@settings(max_examples=examples(150))
@given(answer=st.binary(max_size=300) | st.text(max_size=300) | st.lists(st.sampled_from(PIECES)).map("".join))
def test_any_answer_gives_a_result(parsers, answer):
    for parser in parsers:
        check(parser.parse(answer))


WHOLE = json.dumps([proposal(law("total-particles")), proposal(law("collision-bridge"))], indent=1)


@pytest.mark.medium
@settings(max_examples=50)
@given(data=st.data())
def test_a_damaged_answer_gives_a_result_and_never_more_laws_than_it_had(parsers, data):
    """One to four pieces are cut out, doubled or put in somewhere."""
    text = WHOLE
    for _ in range(data.draw(st.integers(1, 4))):
        start = data.draw(st.integers(0, len(text)))
        end = min(len(text), start + data.draw(st.integers(0, 40)))
        text = text[:start] + data.draw(st.sampled_from(["", text[start:end] * 2, *PIECES])) + text[end:]
    lenient, strict = (parser.parse(text) for parser in parsers)
    for result in (lenient, strict):
        check(result)
        assert len(result.laws) <= text.count('"template"')
    assert len(strict.laws) <= len(lenient.laws)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53) + 1, 2**53 - 1) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=4),
    max_leaves=12,
)
OBJECTS = st.lists(st.dictionaries(st.text(max_size=4), VALUES, max_size=4), max_size=4)


@pytest.mark.medium
@settings(max_examples=examples(60))
@given(
    objects=OBJECTS,
    indent=st.sampled_from([None, 0, 2]),
    ascii_only=st.booleans(),
    prose=st.sampled_from(["", "So: ", "```json\n"]),
)
def test_sound_json_is_read_as_it_is(objects, indent, ascii_only, prose):
    text = prose + json.dumps(objects, indent=indent, ensure_ascii=ascii_only)
    assert read_values(text, "laws", "template") == [Found(each) for each in objects]


@pytest.mark.medium
@settings(max_examples=50)
@given(objects=OBJECTS, cut=st.floats(0, 1))
def test_of_a_cut_list_the_whole_objects_are_read(objects, cut):
    text = json.dumps(objects)
    text = text[: int(len(text) * cut)]
    read = [each.value for each in read_values(text, "laws", "template") if not isinstance(each, Broken)]
    assert read == objects[: len(read)]
    assert len(read) >= text.count("}, {") - sum(json.dumps(each).count("}, {") for each in objects)
