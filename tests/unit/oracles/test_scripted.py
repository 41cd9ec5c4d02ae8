"""A scripted model does what its script says, again and again, and as badly as it says."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from specledger.compile.model import compile_model
from specledger.core.diagnostics import Rejected
from specledger.kinds import bundle_from_document, load
from specledger.oracles.failures import FAILURES, MOST_TEXT
from specledger.oracles.model import Known, ModelAnswer, ModelRequest, TokenUsage
from specledger.oracles.scripted import ScriptedModel
from specledger.spec.model import MOST_TIMES, Script
from tests.toys import findings_of


@pytest.fixture
def opened(tmp_path):
    """The model that some lines of YAML under `scripted` are."""

    def make(body):
        file = tmp_path / "made.yaml"
        file.write_text(f"spec: model/v1\nname: made\nscripted: {body}\n", encoding="utf-8")
        (bundle,) = load(file)
        return compile_model(bundle, bundle.root).open(False)

    return make


def texts(model, turns, **known):
    return [model.ask(ModelRequest(turn, "s", "p", known=Known(**known))).text for turn in range(turns)]


THREE = 'answers: [{text: "a"}, {text: "b"}, {text: "c"}]'


@pytest.mark.parametrize(
    ("then", "expected"),
    [("exhausted", "abc---"), ("repeat", "abcccc"), ("cycle", "abcabc")],
)
def test_answers_come_in_the_order_of_turns(then, expected, opened):
    model = opened(f"{{{THREE}, then: {then}}}")
    assert "".join(text or "-" for text in texts(model, 6)) == expected
    assert model.ask(ModelRequest(1, "", "")).text == "b"  # of the turn, whatever was asked before


def test_after_the_last_answer_there_is_none(opened):
    answer = opened(f"{{{THREE}}}").ask(ModelRequest(3, "", ""))
    assert (answer.failure, answer.detail) == ("exhausted", "the script has 3 answers")


RULES = {
    "turn >= 2": "ab!!",
    "count == 7": "!!!!",
    "count == 8": "abc-",
    "prompt.contains('p')": "!!!!",
    "'momentum' in accepted && turn == 0": "!bc-",
    "'momentum' in falsified": "abc-",
    "size(unknown) == 1 && unknown[0] == 'u'": "!!!!",
    "accepted.exists(name, name.startsWith('mom'))": "!!!!",
    "true": "!!!!",
}


@pytest.mark.parametrize(("when", "expected"), RULES.items())
def test_a_rule_answers_where_it_holds(when, expected, opened):
    model = opened(f'{{{THREE}, rules: [{{when: "{when}", answer: {{text: "!"}}}}]}}')
    given = texts(model, 4, count=7, accepted=("momentum",), falsified=("f", "g"), unknown=("u",))
    assert "".join(text or "-" for text in given) == expected


def test_the_first_rule_that_holds_answers(opened):
    model = opened("{rules: [{when: turn == 1, answer: {text: x}}, {when: turn < 3, answer: {text: z}}]}")
    assert texts(model, 4) == ["z", "x", "z", None]


def test_a_rule_without_a_value_is_a_mistake_of_the_user(opened):
    model = opened("{rules: [{when: \"accepted[3] == 'a'\", answer: {text: x}}]}")
    (found,) = findings_of(model.ask, ModelRequest(0, "", ""))
    assert found.code.startswith("E_EVAL")
    assert found.span is not None
    assert found.span.file.endswith("made.yaml")


WRONG = {
    '{rules: [{when: "turm > 1", answer: {text: x}}]}': "E_EXPR",
    '{rules: [{when: "turn", answer: {text: x}}]}': "E_EXPR",
    '{rules: [{when: "time() > 1", answer: {text: x}}]}': "E_EXPR",
    "{answers: [{laws: [{a: 1000000000000000000000.0}]}]}": "E_CANON_RANGE",
    "{rules: [{when: true, answer: {laws: [{a: -1000000000000000000000.0}]}}]}": "E_CANON_RANGE",
    "{answers: []}": "E_SPEC",
    "{rules: [{when: true, answer: {text: x}}], then: cycle}": "E_SPEC",
    "{answers: [{}]}": "E_SPEC",
    "{answers: [{failure: tired}]}": "E_SPEC",
    "{answers: [{text: x, laws: []}]}": "E_SPEC",
    f"{{answers: [{{text: x, times: {MOST_TIMES + 1}}}]}}": "E_SPEC",
    "{answers: [{text: x}], then: begin}": "E_SPEC",
}


@pytest.mark.parametrize(("body", "code"), WRONG.items())
def test_a_wrong_script_is_refused_with_a_place(body, code, opened):
    with pytest.raises(Rejected) as caught:
        opened(body)
    assert caught.value.diagnostics
    assert all(found.span is not None for found in caught.value.diagnostics)
    assert any(found.code.startswith(code) for found in caught.value.diagnostics), caught.value


def test_laws_are_written_as_json(opened):
    model = opened(
        "{answers: [{laws: [{template: invariant, forbidden: '\"<X>\"', weight: 0.5, n: 2.0}, {}], times: 2}]}"
    )
    law = {"template": "invariant", "forbidden": '"<X>"', "weight": 0.5, "n": 2}
    assert json.loads(texts(model, 1)[0]) == [law, {}, law, {}]


@pytest.mark.parametrize("laws", ["laws: []", "laws: [], times: 9"])
def test_no_laws_are_an_empty_array(laws, opened):
    assert texts(opened(f"{{answers: [{{{laws}}}]}}"), 1) == ["[]"]


def test_a_text_is_given_word_for_word(opened):
    model = opened('{answers: [{text: "```json\\n[{\\"a\\": 1,}, // x\\\\u001b[2J"}, {text: ""}]}')
    assert texts(model, 2) == ['```json\n[{"a": 1,}, // x\\u001b[2J', ""]


@pytest.mark.parametrize("failure", sorted(FAILURES))
def test_a_failure_can_be_scripted(failure, opened):
    model = opened(f"{{answers: [{{failure: {failure}, detail: why, text: '[{{'}}]}}")
    answer = model.ask(ModelRequest(0, "", ""))
    assert (answer.failure, answer.detail, answer.text) == (failure, "why", "[{")


@pytest.mark.parametrize("answer", ["text: x, times: 5000000", "laws: [{a: b}], times: 5000000"])
def test_five_megabytes_can_be_scripted(answer, opened):
    given = opened(f"{{answers: [{{{answer}}}]}}").ask(ModelRequest(0, "", ""))
    assert (given.failure, given.text) == ("too_large", None)
    assert ModelAnswer.read(given.document()) == given


def test_usage_is_estimated(opened):
    answer = opened('{answers: [{text: "12345678"}]}').ask(ModelRequest(0, "1234", "12345"))
    assert answer.usage == TokenUsage(3, 2, estimated=True)


def test_it_is_determined_by_its_spec_alone(tmp_path):
    file = tmp_path / "made.yaml"
    file.write_text("spec: model/v1\nname: made\nscripted: {answers: [{laws: [{a: 0.5, b: 1}]}]}\n", encoding="utf-8")
    (bundle,) = load(file)
    planned = compile_model(bundle, bundle.root)
    again = bundle_from_document(bundle.document())
    other = compile_model(again, again.root)
    assert not planned.outside
    assert planned.identity == other.identity
    assert other.open(False).ask(ModelRequest(0, "", "")) == planned.open(False).ask(ModelRequest(0, "", ""))


def test_it_can_be_made_without_a_file():
    script = Script.model_validate({"answers": [{"text": "[]"}]})
    assert ScriptedModel(script).ask(ModelRequest(0, "", "")).text == "[]"


def test_an_answer_that_would_be_too_long_is_not_written_and_its_size_is_told():
    model = ScriptedModel(Script.model_validate({"answers": [{"text": "x" * 1000, "times": 600}]}))
    answer = model.ask(ModelRequest(0, "s", "p"))
    assert (answer.failure, answer.detail, answer.text) == ("too_large", "about 600000 bytes", None)


PIECES = st.one_of(
    st.fixed_dictionaries({"text": st.text(max_size=40), "times": st.integers(1, 1000)}),
    st.fixed_dictionaries({"text": st.just("y" * 1000), "times": st.integers(400, 600)}),
    st.fixed_dictionaries({"failure": st.sampled_from(sorted(FAILURES)), "text": st.none() | st.text(max_size=40)}),
    st.fixed_dictionaries({"laws": st.lists(st.dictionaries(st.text(max_size=5), st.integers(-9, 9), max_size=2))}),
)


@settings(max_examples=25)
@given(st.lists(PIECES, min_size=1, max_size=5), st.sampled_from(["exhausted", "repeat", "cycle"]))
@pytest.mark.slow
def test_whatever_is_scripted_can_be_kept(answers, then):
    model = ScriptedModel(Script.model_validate({"answers": answers, "then": then}))
    for turn in range(len(answers) + 2):
        answer = model.ask(ModelRequest(turn, "s", "p"))
        assert ModelAnswer.read(answer.document()) == answer
        assert len((answer.text or "").encode()) <= MOST_TEXT
