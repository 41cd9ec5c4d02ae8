"""Reasons in words are read by the forms of a vocabulary, and as nothing that they may not mean."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specledger.core.diagnostics import Diagnostics
from specledger.kinds import load
from specledger.wings.kernel.reasons.wording import MOST_TEXT, check_reasons, value_end


def wording():
    (bundle,) = load("plain-reasons", kind="vocabulary")
    read = check_reasons(bundle.main, Diagnostics())
    assert read is not None
    return read


PLAIN = wording()
WAIT = {"variable": "self.energy", "direction": "becomes 5", "choice": "wait"}

READ = {
    "the form": ("IF self.energy becomes 5 THEN CHOICE wait", WAIT),
    "lower case": ("if self.energy becomes 5 then choice wait", WAIT),
    "white space": ("IF  self.energy\tbecomes   5 THEN CHOICE wait", WAIT),
    "another verb": ("If self.energy were 5, I would choose wait", WAIT),
    "a sign": ("self.energy = 5 -> wait", WAIT),
    "a sign without white space": ("self.energy=5: wait", WAIT),
    "back-ticks": ("If `self.energy` is 5 then wait", WAIT),
    "the choice first": ("wait if self.energy is 5", WAIT),
    "a direction": ("If self.energy rises, wait", {**WAIT, "direction": "increases"}),
    "removed": ("when self.energy is gone, wait", {**WAIT, "direction": "is removed"}),
    "a value with every sign": (
        'IF objects.at becomes [{"id": "a, then: b -> c", "x": 1}] THEN CHOICE move:E',
        {"variable": "objects.at", "direction": 'becomes [{"id": "a, then: b -> c", "x": 1}]', "choice": "move:E"},
    ),
}


@pytest.mark.parametrize("name", READ)
def test_what_can_be_meant_is_read(name):
    text, said = READ[name]
    assert said in PLAIN.readings(text)


NOTHING = ["", "It is near.", "IF a becomes 5 THEN CHOICE", "IF a becomes THEN CHOICE b", "IF becomes 5 THEN CHOICE b",
           "IF a becomes [1 THEN CHOICE b", "IF a becomes 5\nTHEN CHOICE b", "IF a increases" + " " * MOST_TEXT + "THEN b",
           "IF a increases THEN CHOICE b IF a increases THEN CHOICE c"]  # fmt: skip


@pytest.mark.parametrize("text", NOTHING)
def test_what_says_nothing_is_not_read(text):
    assert PLAIN.readings(text) == []


@given(st.text(max_size=300))
def test_any_text_is_read_or_not(text):
    for reading in PLAIN.readings(text):
        assert set(reading) == {"variable", "direction", "choice"}


@given(st.recursive(st.integers(0, 9) | st.booleans() | st.just("]}\\\\"), lambda inner: st.lists(inner, max_size=3)))
def test_a_value_ends_where_its_json_does(value):
    text = json.dumps(value)
    assert value_end(f"{text} THEN", 0) == len(text)
