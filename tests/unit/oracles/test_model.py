"""The port: what is kept of an answer, what can be read back, and what a request's key depends on."""

from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from specledger.core.canonical import canonical_bytes, parse_canonical
from specledger.core.diagnostics import title_of
from specledger.oracles.failures import FAILURES, MOST_TEXT
from specledger.oracles.model import (
    MOST_CALLS,
    MOST_DETAIL,
    NO_TOKENS,
    Call,
    Known,
    ModelAnswer,
    ModelRequest,
    TokenUsage,
    Tool,
    answered,
    estimate_tokens,
    estimated_usage,
    failed,
    request_key,
)
from specledger.spec.model import Failure

ANY_TEXT = st.text(st.characters(codec=None, exclude_categories=()), max_size=60)
COUNTS = st.integers(0, 2**53 - 1)
USAGES = st.builds(TokenUsage, COUNTS, COUNTS, COUNTS, st.booleans())
FINISHES = st.none() | ANY_TEXT
ANSWERS = st.builds(answered, ANY_TEXT, USAGES, FINISHES) | st.builds(
    failed, st.sampled_from(sorted(FAILURES)), ANY_TEXT, USAGES, FINISHES, st.none() | ANY_TEXT
)
REQUEST = ModelRequest(1, "system", "prompt", {"type": "array"}, 500_000, Known(5, ("a",), ("b",), ("c",)))


@given(ANSWERS)
def test_an_answer_is_read_as_it_was_written(answer):
    written = canonical_bytes(answer.document())
    assert ModelAnswer.read(parse_canonical(written)) == answer


@given(ANY_TEXT)
def test_a_text_is_kept_but_for_what_has_no_utf8_form(text):
    kept = answered(text).text or ""
    kept.encode()
    pairs = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "ignore")
    assert kept.replace("\ufffd", "") == pairs.replace("\ufffd", "")


@given(ANSWERS, st.data())
def test_nothing_else_is_read(answer, data):
    document = answer.document()
    name = data.draw(st.sampled_from(sorted(document)))
    other = data.draw(
        st.none() | st.booleans() | st.integers() | st.floats() | st.lists(st.integers(), max_size=2) | ANY_TEXT
    )
    changed = {**document, name: other}
    try:
        read = ModelAnswer.read(changed)
    except ValueError:
        return
    assert canonical_bytes(read.document()) == canonical_bytes(changed)
    assert [type(value) for value in read.document().values()] == [type(value) for value in changed.values()]


GOOD = answered("[]", TokenUsage(1, 2), "STOP").document()
FORGED = {
    "no object": [],
    "no text and no failure": {**GOOD, "text": None},
    "a failure of another kind": {**GOOD, "failure": "tired"},
    "a detail without a failure": {**GOOD, "detail": "x"},
    "a long detail": {**failed("empty").document(), "detail": "x" * (MOST_DETAIL + 1)},
    "a long finish": {**GOOD, "finish": "x" * 65},
    "too much text": {**GOOD, "text": "x" * MOST_TEXT},
    "a lone surrogate": {**GOOD, "text": "\ud800"},
    "a key too many": {**GOOD, "more": 1},
    "a key too few": {key: value for key, value in GOOD.items() if key != "finish"},
    "a text that is none": {**GOOD, "text": 7},
    "usage of another shape": {**GOOD, "usage": {"prompt_tokens": 1}},
    "negative usage": {**GOOD, "usage": {**GOOD["usage"], "prompt_tokens": -1}},
    "usage that is true": {**GOOD, "usage": {**GOOD["usage"], "prompt_tokens": True}},
    "usage in parts": {**GOOD, "usage": {**GOOD["usage"], "output_tokens": 1.0}},
    "an estimate that is a number": {**GOOD, "usage": {**GOOD["usage"], "estimated": 0}},
    "no usage": {**GOOD, "usage": None},
}


@pytest.mark.parametrize("name", FORGED)
def test_a_forged_document_is_refused(name):
    assert ModelAnswer.read(GOOD) == answered("[]", TokenUsage(1, 2), "STOP")
    with pytest.raises(ValueError, match=r"no answer of a model|no usage of tokens"):
        ModelAnswer.read(FORGED[name])


def test_what_is_kept_beside_a_text_has_bounds():
    answer = answered("x", finish="f" * 65, calls=[Call("n" * 201, "{}")] * (MOST_CALLS + 1))
    assert answer.finish == "f" * 64
    assert answer.calls == (Call("n" * 200, "{}"),) * 8
    assert failed("empty", "d" * (MOST_DETAIL + 1), finish="f" * 65).finish == "f" * 64
    assert len(failed("empty", "d" * (MOST_DETAIL + 1)).detail) == MOST_DETAIL == 500


def test_arguments_of_calls_count_to_the_bound_of_a_text():
    whole = MOST_TEXT - len('"",""')  # a list of both texts, without its brackets
    assert answered("x" * (whole - 7), calls=[Call("f", "y" * 7)]).usable
    assert answered("x" * (whole - 7), calls=[Call("f", "y" * 8)]).failure == "too_large"


def test_a_failure_keeps_a_text_up_to_its_bound():
    assert failed("truncated", text="x" * (MOST_TEXT - 2)).text == "x" * (MOST_TEXT - 2)
    assert failed("truncated", text="x" * (MOST_TEXT - 1)).text is None


def test_a_call_that_did_not_reach_the_service_costs_nothing():
    assert (NO_TOKENS.total, NO_TOKENS.thinking_tokens, NO_TOKENS.estimated) == (0, 0, False)
    assert answered("x").usage == failed("empty").usage == NO_TOKENS


def test_functions_and_labels_are_part_of_a_request_only_where_there_are_some():
    assert {"tools", "labels"}.isdisjoint(REQUEST.document())
    tools = (Tool("f", "", {}),)
    assert replace(REQUEST, tools=tools).key({}) != replace(REQUEST, tools=tools * 2).key({}) != REQUEST.key({})
    assert replace(REQUEST, labels=("b", "a")).document()["labels"] == ["b", "a"]


@pytest.mark.parametrize("letter", ["x", '"', "\x00", "\u00fc", "\U0001f600"])
def test_a_text_has_a_bound_in_the_bytes_that_are_written(letter):
    each = len(canonical_bytes(letter)) - 2
    fits = (MOST_TEXT - 2) // each
    assert answered(letter * fits).usable
    answer = answered(letter * (fits + 1))
    assert (answer.failure, answer.text) == ("too_large", None)
    assert failed("truncated", text=letter * (fits + 1)).text is None
    assert len(canonical_bytes(answered(letter * fits).document())) < 1 << 20


def test_an_unknown_failure_is_a_mistake_of_the_programmer():
    with pytest.raises(ValueError, match="not a failure"):
        failed("tired")


def test_every_failure_has_its_page_and_can_be_scripted():
    assert set(get_args(Failure)) == set(FAILURES)
    assert all(title_of(code) is not None for code in FAILURES.values())


OTHERS: dict[str, Any] = {
    "turn": 2,
    "system": "other",
    "prompt": "other",
    "schema": None,
    "temperature": 0,
    "known": Known(5, ("a", "b")),
}


@pytest.mark.parametrize("name", OTHERS)
def test_a_key_depends_on_all_that_is_asked(name):
    other = replace(REQUEST, **{name: OTHERS[name]})
    assert other.key({"m": 1}) != REQUEST.key({"m": 1})
    assert [part for part in REQUEST.document() if REQUEST.document()[part] != other.document()[part]] == [name]


def test_a_key_depends_on_who_is_asked_and_on_nothing_else():
    assert REQUEST.key({"m": 1}) != REQUEST.key({"m": 2})
    assert replace(REQUEST).key({"m": 1, "n": 2}) == REQUEST.key({"n": 2, "m": 1})
    assert request_key({"m": 1}, REQUEST.document()) == REQUEST.key({"m": 1})


def test_a_request_that_has_no_utf8_form_has_a_key():
    assert ModelRequest(0, "\ud800", "").key({}) != ModelRequest(0, "\ud801", "").key({})


@pytest.mark.parametrize(
    ("text", "tokens"), [("", 0), ("a", 1), ("abcd", 1), ("abcde", 2), ("\u00fc\u00fc\u00fc", 2), ("\ud800", 1)]
)
def test_tokens_are_estimated_from_bytes(text, tokens):
    assert estimate_tokens(text) == tokens


def test_an_estimated_usage_says_so():
    assert estimated_usage(ModelRequest(0, "abcd", "abcde"), "x") == TokenUsage(3, 1, estimated=True)
    assert TokenUsage(1, 2, 4).total == 7
