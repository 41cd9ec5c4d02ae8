"""The labels of trajectories: what a pattern fits, which label counts, and what is about no trajectory."""

import re
from itertools import product
from types import SimpleNamespace
from typing import Any

import pytest

from specledger.core.diagnostics import Diagnostics
from specledger.suites.truth import Truth, check_truth

TEXTS = ["".join(letters) for size in range(6) for letters in product("ab", repeat=size)]
PATTERNS = ["".join(letters) for size in range(6) for letters in product("ab*", repeat=size)]


def test_a_star_stands_for_any_characters():
    """All short patterns and texts: of drawn ones few differ between two stars alone."""
    for pattern in PATTERNS:
        truth, expected = Truth({"label": [pattern]}), re.compile(".*".join(map(re.escape, pattern.split("*"))))
        wanted = [text for text in TEXTS if expected.fullmatch(text)]
        assert [text for text in TEXTS if truth.label(text) == "label"] == wanted, pattern
        assert truth.absent(TEXTS) == ({} if wanted else {"label": [pattern]}), pattern


def test_an_id_counts_before_patterns():
    truth = Truth({"one": ["a*", "b"], "other": ["ab", "a*"]})
    assert [truth.label(text) for text in ("ab", "b", "ac", "c")] == ["other", "one", None, None]


ABSENT = {
    "nothing is listed": ({"one": []}, {}),
    "all are there": ({"one": ["ab", "a*"], "two": ["b"]}, {}),
    "an id is not": ({"two": ["c", "b"], "one": ["ab", "aa"]}, {"one": ["aa"], "two": ["c"]}),
    "a pattern fits none": ({"one": ["a*", "*c*", "b*b"]}, {"one": ["*c*", "b*b"]}),
}


@pytest.mark.parametrize(("labels", "absent"), ABSENT.values(), ids=ABSENT)
def test_what_is_about_no_trajectory_is_named(labels, absent):
    found = Truth(labels).absent(iter(["ab", "b"]))
    assert (found, list(found)) == (absent, sorted(absent))


WRONG = {
    "no recording": ({"a": ["1"]}, False, [("E_SUITE_TRUTH", "`truth` is about trajectories, and no agent of this suite is a recording")]),
    "nothing, without a recording": ({}, False, []),
    "each once": ({"a": ["1", "2"], "b": ["3"]}, True, []),
    "twice under one label": ({"a": ["1", "1"]}, True, []),
    "under two labels": ({"a": ["1", "2"], "b": ["2", "3", "1"]}, True, [("E_SUITE_TRUTH", "'2' is b, and a as well"), ("E_SUITE_TRUTH", "'1' is b, and a as well")]),
}  # fmt: skip


@pytest.mark.parametrize(("labels", "recorded", "expected"), WRONG.values(), ids=WRONG)
def test_what_is_wrong_with_labels(labels, recorded, expected):
    diagnostics = Diagnostics()
    spec: Any = SimpleNamespace(span=lambda *path: None)
    check_truth(spec, labels, diagnostics, recorded=recorded)
    assert [(found.code, found.message) for found in diagnostics.sorted()] == sorted(expected)
