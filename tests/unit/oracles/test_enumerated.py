"""An enumeration makes every document of its grammar once, the cheap ones first, and each from its number alone."""

import json
from contextlib import suppress
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from specledger.compile.model import compile_model
from specledger.core.canonical import canonical_bytes
from specledger.core.diagnostics import Diagnostics
from specledger.kinds import load
from specledger.oracles.enumerated import MOST_COST, check_grammar
from specledger.oracles.model import Known, ModelRequest, estimate_tokens
from specledger.wings.laws.candidate import bundle_of
from specledger.wings.laws.compile import compile_law
from specledger.wings.laws.decision import answer_of
from specledger.wings.laws.proofs.question import Proved
from tests.wings.discovery.shipped import offered

SHIPPED = "specs/model/kinetic-grammar.yaml"

PAIRS = {
    "start": ["{{word}}", {"cost": 2, "is": {"pair": ["{{word}}", "{{number}}"]}}],
    "word": ["a", {"cost": 3, "is": "b"}, "<{{number}}>"],
    "number": [1, 2],
}


@pytest.fixture
def spec_of(tmp_path):
    def read(grammar, start="start"):
        body = json.dumps({"start": start, "grammar": grammar})
        path = tmp_path / "walk.yaml"
        path.write_text(f"spec: model/v1\nname: walk\nenumerate: {body}\n", encoding="utf-8")
        return load(path)[0]

    return read


@pytest.fixture
def walk_of(spec_of):
    def check(grammar, start="start"):
        spec, found = spec_of(grammar, start).main, Diagnostics()
        return check_grammar(spec.model.enumerate, spec, found), found.sorted()

    return check


def everything(walk):
    documents: list[Any] = []
    with suppress(IndexError):
        while True:
            documents.append(walk.document(len(documents)))
    return documents


def test_documents_come_by_cost_and_then_in_the_order_of_the_grammar(walk_of):
    walk, _ = walk_of(PAIRS)
    words = [(1, "a"), (3, "b"), (2, "<1>"), (2, "<2>")]
    made: list[tuple[int, Any]] = [(1 + cost, word) for cost, word in words]
    made += [(3 + cost, {"pair": [word, number]}) for (cost, word), number in product(words, (1, 2))]
    documents = everything(walk)
    assert sorted(map(canonical_bytes, documents)) == sorted(canonical_bytes(document) for _, document in made)
    costs = {canonical_bytes(document): cost for cost, document in made}
    assert [costs[canonical_bytes(each)] for each in documents] == sorted(cost for cost, _ in made)
    assert documents[:4] == ["a", "<1>", "<2>", "b"]


def test_a_grammar_without_end_is_walked_without_end(walk_of):
    walk, _ = walk_of({"start": ["x", "({{start}})", "{{start}}+{{start}}"]})
    documents = [walk.document(number) for number in range(200)]
    assert documents[:6] == ["x", "(x)", "((x))", "x+x", "(((x)))", "(x+x)"]
    assert len(walk.document(10**15)) < 2 * MOST_COST


def test_places_of_a_mapping_are_filled_in_the_order_of_its_keys(walk_of):
    walk, _ = walk_of({"start": [{"b": "{{one}}", "a": "{{one}}"}], "one": [1, 2]})
    assert everything(walk) == [{"a": a, "b": b} for a, b in product((1, 2), repeat=2)]


def test_a_value_stays_what_it_is_and_is_written_out_inside_a_text(walk_of):
    walk, _ = walk_of({"start": ["{{value}}", "is {{value}}"], "value": [None, True, -3, {"a": [1]}, "t"]})
    values = [None, True, -3, {"a": [1]}, "t"]
    assert everything(walk) == [*values, "is null", "is true", "is -3", 'is {"a":[1]}', "is t"]


WRONG = {
    "no start": ({"begin": [1]}, "there is no rule `start`"),
    "an unknown rule": ({"start": ["{{ward}}"], "word": [1]}, "there is no rule `ward`"),
    "no end": ({"start": ["{{start}}"]}, "never ends"),
    "too dear": ({"start": [{"cost": 40, "is": "{{one}}"}], "one": [1]}, "costs more than 40"),
    "a cost of nothing": ({"start": [{"cost": 0, "is": 1}]}, "a cost is an integer"),
    "many places": ({"start": ["{{one}}" * 9], "one": [1]}, "more than 8 places"),
    "a float": ({"start": [0.5]}, "no document"),
    "many alternatives": ({f"r{number}": [*range(500)] for number in range(5)} | {"start": [1]}, "more than 2000"),
}


@pytest.mark.parametrize(("grammar", "message"), WRONG.values(), ids=WRONG)
def test_a_grammar_that_makes_nothing_is_a_finding_with_its_place(walk_of, grammar, message):
    walk, findings = walk_of(grammar)
    assert walk is None
    assert {finding.code for finding in findings} == {"E_GRAMMAR"}
    assert any(message in finding.message for finding in findings)
    assert all(finding.span.start.line == 3 for finding in findings)


def model_of(bundle):
    return compile_model(bundle, bundle.root).open(False)


def asked(turn, count):
    return ModelRequest(turn, "system", "prompt", known=Known(count))


def test_each_answer_goes_on_where_the_last_one_ended(spec_of, walk_of):
    model = model_of(spec_of(PAIRS))
    answers = [json.loads(model.ask(asked(turn, 5)).text) for turn in range(3)]
    assert list(map(len, answers)) == [5, 5, 2]
    assert [document for answer in answers for document in answer] == everything(walk_of(PAIRS)[0])
    assert json.loads(model.ask(asked(1, 5)).text) == answers[1]


def test_at_its_end_there_is_a_failure_and_no_exception(spec_of):
    answer = model_of(spec_of(PAIRS)).ask(asked(3, 5))
    assert (answer.text, answer.failure) == (None, "exhausted")


def test_usage_is_estimated(spec_of):
    answer = model_of(spec_of(PAIRS)).ask(asked(0, 5))
    assert answer.usage.estimated
    assert answer.usage.output_tokens == estimate_tokens(answer.text) > 0


def test_who_answers_is_the_grammar(spec_of):
    bundles = spec_of(PAIRS), spec_of(PAIRS | {"number": [1, 2, 3]})
    first, other = (compile_model(bundle, bundle.root).identity for bundle in bundles)
    assert first["oracle"] == other["oracle"] == "enumerated"
    assert first != other


# The shipped grammar


@pytest.fixture(scope="module")
def proposed():
    """The first documents of the shipped grammar, as a model of 24 turns of 5 would answer."""
    model = model_of(load(SHIPPED)[0])
    return [law for turn in range(24) for law in json.loads(model.ask(asked(turn, 5)).text)]


def test_the_shipped_grammar_finds_what_is_conserved_without_any_model(proposed):
    universe = load("specs/universe/kinetic_grid_v1.yaml")[0]
    templates = {path.stem: load(path)[0] for path in sorted(Path("specs/template").glob("*.yaml"))}
    wanted = {
        "count('>') + count('<') + 2 * count('X')",
        "count('>') + count('X')",
        "count('<') + count('X')",
        "count('>') - count('<')",
        "mirror_swap",
    }
    for document in proposed:
        name = document["transform"] if "transform" in document else document["observables"][0]["expr"]
        if name in wanted and document["template"] in ("invariant", "symmetry_commutation"):
            assert isinstance(answer_of(compile_law(bundle_of(document, universe, templates)).law), Proved)
            wanted.remove(name)
    assert wanted == set()


def test_the_shipped_grammar_has_all_forms_and_repeats_nothing():
    spec: Any = load(SHIPPED)[0].main
    walk = check_grammar(spec.model.enumerate, spec, Diagnostics())
    assert walk is not None
    documents = [walk.document(number) for number in range(300)]
    assert {each["template"] for each in documents} == set(offered("kinetic-enumerated"))
    assert len(set(map(canonical_bytes, documents))) == 300
