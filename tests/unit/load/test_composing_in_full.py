"""Values by cases and scores by terms that are wrong: each finding with its place, its words and its hint."""

import pytest

from specledger.core.diagnostics import Rejected
from tests.unit.load.test_composing import loaded

CASE = "write `{case: [{when: near, then: 5}], else: 0}`"
TERM = "write `{id: worth, weight: 2, value: worth}`"

FINDINGS = {
    "no else": (
        "score: {case: [{when: near, then: 5}]}",
        [("E_CASE_FORM", "4:1", "`case` has no `else`", CASE)],
    ),
    "no list": (
        "score: {case: near, else: 0}",
        [("E_CASE_FORM", "4:15", "`case` has no list of branches", CASE)],
    ),
    "no branch": (
        "score: {case: [], else: 0}",
        [("E_CASE_FORM", "4:9", "`case` has no list of branches", CASE)],
    ),
    "a branch without then": (
        "score: {case: [{when: near}], else: 0}",
        [("E_CASE_FORM", "4:16", "a branch has `when` and `then`", CASE)],
    ),
    "a branch that is a text": (
        "score: {case: [near], else: 0}",
        [("E_CASE_FORM", "4:16", "a branch has `when` and `then`", CASE)],
    ),
    "a misspelt key": (
        "score: {case: [{when: a, the: 1}], else: 0}",
        [("E_CASE_FORM", "4:26", "there is no key `the` here", "did you mean `then`?")],
    ),
    "a value that is a list": (
        "score: {case: [{when: a, then: [1]}], else: 0}",
        [("E_CASE_FORM", "4:26", "expected an expression, found a list", CASE)],
    ),
    "a value that is nothing": (
        "score: {case: [{when: a, then: 1}], else: null}",
        [("E_CASE_FORM", "4:43", "expected an expression, found null", CASE)],
    ),
    "a term without an id": (
        "score: [{value: x}]",
        [("E_SCORE_TERM", "4:9", "a term has `id` and `value`", TERM)],
    ),
    "a term without a value": (
        "score: [{id: a}]",
        [("E_SCORE_TERM", "4:9", "a term has `id` and `value`", TERM)],
    ),
    "a term that is a text": (
        "score: [x]",
        [("E_SCORE_TERM", "4:9", "a term has `id` and `value`", TERM)],
    ),
    "two terms of one id": (
        "score: [{id: a, value: x}, {id: a, value: y}]",
        [("E_SCORE_TERM", "4:33", "two terms have the id 'a'", "each term has its own id")],
    ),
    "no term": (
        "score: []",
        [("E_SCORE_TERM", "4:1", "a score without terms", TERM)],
    ),
    "a misspelt weight": (
        "score: [{id: a, wieght: 2, value: x}]",
        [("E_SCORE_TERM", "4:17", "there is no key `wieght` here", "did you mean `weight`?")],
    ),
    "terms where none may be": (
        "score: x\nlet: {a: [{id: a, value: x}]}",
        [("E_SPEC_TYPE", "5:7", "`a` is of the wrong type", 'quote the expression: "[{id: a, value: x}]"')],
    ),
    "two unknown keys": (
        "score: {case: [{when: a, then: 1}], else: 0, wen: 1, zzz: 2}",
        [
            ("E_CASE_FORM", "4:46", "there is no key `wen` here", CASE),
            ("E_CASE_FORM", "4:54", "there is no key `zzz` here", CASE),
        ],
    ),
    "an unknown key of a branch": (
        "score: {case: [{when: a, then: 1, zzz: 1}], else: 0}",
        [("E_CASE_FORM", "4:35", "there is no key `zzz` here", CASE)],
    ),
    "no else and no branch": (
        "score: {case: []}",
        [("E_CASE_FORM", "4:1", "`case` has no `else`", CASE)],
    ),
    "a branch in a branch that is wrong": (
        "score: {case: [{when: a, then: {case: [], else: 1}}], else: 0}",
        [("E_CASE_FORM", "4:33", "`case` has no list of branches", CASE)],
    ),
    "a term whose id is a number": (
        "score: [{id: 1, value: x}]",
        [("E_SCORE_TERM", "4:9", "a term has `id` and `value`", TERM)],
    ),
    "a term by an unknown key": (
        "score: [{id: a, value: x, zzz: 2}]",
        [("E_SCORE_TERM", "4:27", "there is no key `zzz` here", TERM)],
    ),
    "a weight that is a list": (
        "score: [{id: a, weight: [1], value: x}]",
        [("E_SCORE_TERM", "4:17", "expected an expression, found a list", CASE)],
    ),
    "a weight that is null": (
        "score: [{id: a, weight: null, value: x}]",
        [("E_SCORE_TERM", "4:25", "expected an expression, found null", CASE)],
    ),
    "three terms of one id": (
        "score: [{id: a, value: x}, {id: a, value: y}, {id: a, value: z}]",
        [
            ("E_SCORE_TERM", "4:33", "two terms have the id 'a'", "each term has its own id"),
            ("E_SCORE_TERM", "4:52", "two terms have the id 'a'", "each term has its own id"),
        ],
    ),
}


@pytest.mark.parametrize("case", FINDINGS)
def test_all_that_is_said_of_another_form(case, tmp_path):
    score, findings = FINDINGS[case]
    with pytest.raises(Rejected) as rejected:
        loaded(tmp_path, score)
    assert [
        (found.code, str(found.span).rpartition("mine.yaml:")[2], found.message, found.hint)
        for found in rejected.value.diagnostics
    ] == findings


FINE = {
    "an else by cases": (
        "score: {case: [{when: a, then: 1}], else: {case: [{when: b, then: 2}], else: 3}}",
        "a ? 1 : (b ? 2 : 3)",
    ),
    "weights of 1 and 0": ("score: [{id: a, weight: 1, value: x}, {id: b, weight: 0, value: y}]", "1 * x + 0 * y"),
    "a when that is a number": ("score: {case: [{when: true, then: 1}], else: 0}", "true ? 1 : 0"),
    "a when by cases": (
        "score: {case: [{when: {case: [{when: a, then: b}], else: c}, then: 1}], else: 0}",
        "(a ? b : c) ? 1 : 0",
    ),
}


@pytest.mark.parametrize("case", FINE)
def test_what_a_form_stands_for(case, tmp_path):
    score, text = FINE[case]
    assert loaded(tmp_path, score).main.data["score"] == text
