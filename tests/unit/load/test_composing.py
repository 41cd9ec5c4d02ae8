"""Values by cases and scores by terms: what they stand for, where mistakes are shown, what changes reach."""

import re

import pytest
from hypothesis import given, settings

from specledger.core.diagnostics import Diagnostics, Rejected
from specledger.core.spans import Text
from specledger.expr.parse.parser import parse
from specledger.kinds import load
from specledger.kinds.explained_rules import agent
from specledger.lang.statement import lines_of
from specledger.load.composed import Binding, Part, binding, joined, product, total
from tests.properties.test_expr_agreement import expressions

HEAD = """spec: agent/v1
name: mine
candidates: [{op: walk, for_each: {by: "[-1, 1]"}}]
"""


def loaded(tmp_path, score, *changes):
    (tmp_path / "mine.yaml").write_text(f"{HEAD}{score}\n", encoding="utf-8")
    return load(tmp_path / "mine.yaml", set=changes)[0]


def tree(text):
    return parse(Text.inline(text), Diagnostics())


FORMS = {
    "a case": ("score: {case: [{when: near, then: 5}], else: 0}", "near ? 5 : 0"),
    "several branches": (
        "score: {case: [{when: a == 1, then: x + 1}, {when: b, then: 2}], else: y}",
        "a == 1 ? x + 1 : b ? 2 : y",
    ),
    "a case in a branch": (
        "score: {case: [{when: a, then: {case: [{when: b, then: 1}], else: 2}}], else: 3}",
        "a ? (b ? 1 : 2) : 3",
    ),
    "terms": ("score: [{id: a, value: x}, {id: b, weight: 2, value: y + 1}]", "x + 2 * (y + 1)"),
    "a weight that is a name": ("score: [{id: a, weight: FAR, value: x}]", "FAR * x"),
    "a term by cases": (
        "score: [{id: a, weight: 3, value: {case: [{when: near, then: -1}], else: 0}}]",
        "3 * (near ? -1 : 0)",
    ),
    "a negative weight": ("score: [{id: a, value: x}, {id: b, weight: -50, value: near}]", "x - 50 * near"),
    "a negative weight of the first term": ("score: [{id: b, weight: -50, value: near}]", "-50 * near"),
    "a term that is a product": ("score: [{id: a, value: x}, {id: b, value: 2 * f(y)}]", "x + 2 * f(y)"),
    "a term that is a difference": ("score: [{id: a, value: x}, {id: b, value: y - z}]", "x + (y - z)"),
    "a term that is a conditional": (
        "score: [{id: a, value: 'near ? 1 : 0'}, {id: b, value: y}]",
        "(near ? 1 : 0) + y",
    ),
    "a text with an operator in it": ("score: [{id: a, weight: 2, value: \"f('a + b')\"}]", "2 * f('a + b')"),
    "what is unclear": ("score: [{id: a, weight: 2, value: \"f('(') + g('?')\"}]", "2 * (f('(') + g('?'))"),
    "an expression as ever": ("score: x", "x"),
}


@pytest.mark.parametrize(("score", "same"), FORMS.values(), ids=FORMS)
def test_it_is_written_as_somebody_would_write_it(score, same, tmp_path):
    assert loaded(tmp_path, score).main.data["score"] == same


@pytest.mark.parametrize(("score", "same"), FORMS.values(), ids=FORMS)
def test_it_is_the_tree_of_the_expression_that_it_stands_for(score, same, tmp_path):
    assert tree(loaded(tmp_path, score).main.data["score"]) == tree(same)


@pytest.mark.parametrize(
    "member",
    ["each: {far: {case: [{when: near, then: 1}], else: 0}}", "let: {far: {case: [{when: near, then: 1}], else: 0}}"],
)
def test_cases_stand_wherever_an_expression_may(member, tmp_path):
    data = loaded(tmp_path, f"score: x\n{member}").main.data
    assert tree((data.get("each") or data["let"])["far"]) == tree("near ? 1 : 0")


WRONG = {
    "no else": ("score: {case: [{when: near, then: 5}]}", "E_CASE_FORM", (4, 1), "write `{case:"),
    "no list": ("score: {case: near, else: 0}", "E_CASE_FORM", (4, 15), "write `{case:"),
    "no branch": ("score: {case: [], else: 0}", "E_CASE_FORM", (4, 9), "write `{case:"),
    "a branch without then": ("score: {case: [{when: near}], else: 0}", "E_CASE_FORM", (4, 16), "write `{case:"),
    "a branch that is a text": ("score: {case: [near], else: 0}", "E_CASE_FORM", (4, 16), "write `{case:"),
    "a misspelt key": ("score: {case: [{when: a, the: 1}], else: 0}", "E_CASE_FORM", (4, 26), "did you mean `then`?"),
    "a value that is a list": (
        "score: {case: [{when: a, then: [1]}], else: 0}",
        "E_CASE_FORM",
        (4, 26),
        "write `{case:",
    ),
    "a value that is nothing": (
        "score: {case: [{when: a, then: 1}], else: null}",
        "E_CASE_FORM",
        (4, 43),
        "write `{case:",
    ),
    "a term without an id": ("score: [{value: x}]", "E_SCORE_TERM", (4, 9), "write `{id:"),
    "a term without a value": ("score: [{id: a}]", "E_SCORE_TERM", (4, 9), "write `{id:"),
    "a term that is a text": ("score: [x]", "E_SCORE_TERM", (4, 9), "write `{id:"),
    "two terms of one id": ("score: [{id: a, value: x}, {id: a, value: y}]", "E_SCORE_TERM", (4, 33), "its own id"),
    "no term": ("score: []", "E_SCORE_TERM", (4, 1), "write `{id:"),
    "a misspelt weight": ("score: [{id: a, wieght: 2, value: x}]", "E_SCORE_TERM", (4, 17), "did you mean `weight`?"),
    "terms where none may be": ("score: x\nlet: {a: [{id: a, value: x}]}", "E_SPEC_TYPE", (5, 7), None),
}


@pytest.mark.parametrize(("score", "code", "place", "hint"), WRONG.values(), ids=WRONG)
def test_another_form_is_refused_with_its_place_and_a_hint(score, code, place, hint, tmp_path):
    with pytest.raises(Rejected) as rejected:
        loaded(tmp_path, score)
    told = [finding for finding in rejected.value.diagnostics if finding.code == code]
    assert ":".join(map(str, place)) in [str(finding.span).rpartition("mine.yaml:")[2] for finding in told]
    assert {finding.code for finding in rejected.value.diagnostics} == {code}
    assert hint is None or any(hint in (finding.hint or "") for finding in told)


def test_a_mistake_inside_is_shown_where_it_was_written(tmp_path, spec):
    (tmp_path / "mine.yaml").write_text(
        HEAD + "score:\n  - id: a\n    value:\n      case: [{when: near, then: 1 + +}]\n      else: 0\n",
        encoding="utf-8",
    )
    out = spec("check", tmp_path / "mine.yaml").err
    assert "mine.yaml:7:37: error[E_EXPR_SYNTAX]" in out


def test_terms_are_changed_by_their_ids(tmp_path):
    score = "score: [{id: a, value: x}, {id: b, weight: 2, value: y}]"
    changed = loaded(tmp_path, score, "score.b.weight=5", "score.a.value=z")
    assert tree(changed.main.data["score"]) == tree("z + 5 * y")
    (tmp_path / "other.yaml").write_text(
        "spec: agent/v1\nname: other\nextends: ./mine.yaml\nscore: {b: null, c: {value: w}}\n", encoding="utf-8"
    )
    assert tree(load(tmp_path / "other.yaml")[0].main.data["score"]) == tree("x + w")


def test_the_names_of_terms_are_said(tmp_path):
    bundle = loaded(
        tmp_path,
        "score: [{id: breach, value: {case: [{when: wrong, then: -9}], else: 0}}, {id: near, weight: 2, value: x}]",
    )
    assert list(lines_of(agent(bundle)))[1:] == [
        "It scores a proposal by the sum of these:",
        "  - `breach`: minus 9 if `wrong` is true, otherwise 0.",
        "  - `near`: 2 times `x`.",
    ]


def part(text):
    return Part((Text.inline(text),), binding(text))


@pytest.mark.medium
@given(expressions(), expressions(), expressions())
@settings(deadline=None, max_examples=300)
def test_fewer_parentheses_never_change_the_tree(first, second, third):
    terms = [part(first), product([part(second), part(third)])]
    subtracted = re.fullmatch(r"-\d[\d.]{0,15}", second)
    rest = f"- {second[1:]} * ({third})" if subtracted else f"+ ({second}) * ({third})"
    assert tree(joined(total(terms).pieces).value) == tree(f"({first}) {rest}")
    pieces = [" ? ", " : "]
    chosen = [
        piece
        for text, after in zip((first, second, third), [*pieces, ""], strict=True)
        for piece in (*part(text).inside(Binding.CONDITION), after)
    ]
    assert tree(joined(chosen).value) == tree(f"({first}) ? ({second}) : ({third})")


def test_a_value_by_cases_replaces_terms(tmp_path):
    terms, cases = "score: [{id: a, value: x}]", "score: {case: [{when: near, then: 1}], else: 0}"
    assert loaded(tmp_path, terms, cases.replace(": ", "=", 1)).main.data["score"] == "near ? 1 : 0"
    (tmp_path / "other.yaml").write_text(
        f"spec: agent/v1\nname: other\nextends: ./mine.yaml\n{cases}\n", encoding="utf-8"
    )
    assert load(tmp_path / "other.yaml")[0].main.data["score"] == "near ? 1 : 0"
