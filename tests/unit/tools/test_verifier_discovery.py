"""The second verifier's discoveries: what the engine made is accepted, and whatever else is said is refused."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest

from specledger.compile.model import compile_model
from specledger.discovery.features import facts_of
from specledger.discovery.json_recovery import Broken, read_values
from specledger.discovery.parser import ResponseParser
from specledger.discovery.ranking import RankingModel, compile_ranking, sensitivity
from specledger.discovery.redundancy import RedundancyDetector
from specledger.discovery.response_schema import answer_form as form_of_engine
from specledger.discovery.scramble import make_scramble
from specledger.load import load
from specledger.oracles.enumerated import EnumeratedModel
from specledger.oracles.model import Known, ModelRequest
from tests.unit.discovery import shipped
from tools.verifier.basis import Refuted, tagged, write
from tools.verifier.discovery_again import remade_discovery
from tools.verifier.discovery_answer import AnswerParser
from tools.verifier.discovery_apart import told_apart
from tools.verifier.discovery_check import DiscoveryTrials
from tools.verifier.discovery_json import AnswerReader
from tools.verifier.discovery_law import LawBook
from tools.verifier.discovery_model import Grammar, Question, answer_form, model_identity
from tools.verifier.discovery_prompt import Scramble
from tools.verifier.discovery_rank import Ranking
from tools.verifier.discovery_replay import DiscoveryReplay
from tools.verifier.discovery_same import KnownLaws, near_match, same_match

SMALL = Path(__file__).resolve().parents[3] / "fixtures" / "tampered" / "bases" / "discovery"
Receipts = list[tuple[str, dict[str, Any]]]


@lru_cache(maxsize=1)
def recorded() -> tuple[dict[str, Any], Receipts]:
    """The specs of a small discovery, and what the engine made of them."""
    lines = map(json.loads, (SMALL / "receipts.jsonl").read_text().splitlines())
    return json.loads((SMALL / "specs.json").read_text()), [(one["type"], one["body"]) for one in lines]


def replayed(receipts: Receipts, tape: Any = None) -> set[str]:
    """What is not checked when receipts are made again."""
    notes: set[str] = set()
    DiscoveryReplay(recorded()[0], tape, receipts, notes).run()
    return notes


def trials() -> DiscoveryTrials:
    document = recorded()[0]
    return DiscoveryTrials(document["specs"][document["root"]], document["specs"], set())


def first(receipts: Receipts, kind: str, which: int = 0) -> dict[str, Any]:
    return [body for type_, body in receipts if type_ == kind][which]


def test_an_honest_discovery_is_accepted_and_says_what_only_a_prover_can_tell() -> None:
    assert any("follow from each other" in note for note in replayed(recorded()[1]))


def test_its_verdicts_hold_and_its_laws_come_to_the_same_again() -> None:
    receipts = recorded()[1]
    few = [one for one in receipts if one[0] in ("law", "escalation")]
    looked = trials()
    for kind, body in few:
        looked.check(kind, body)
    looked.again("law", first(receipts, "law", 1))
    looked.again("escalation", {**first(receipts, "escalation"), "verdict": None})


def changed(*path: str | int, to: Any) -> Callable[[Any], None]:
    """A change of a body: another value at a path."""

    def change(body: Any) -> None:
        for step in path[:-1]:
            body = body[step]
        body[path[-1]] = to

    return change


REPLAYED: dict[str, tuple[str, int, Callable[[Any], None]]] = {
    "other specs": ("start", 0, changed("specs", to="ab" * 32)),
    "another model": ("start", 0, changed("model", "identity", "oracle", to="gemini")),
    "another order of templates": ("start", 0, lambda body: body["templates"].reverse()),
    "another answer": ("iteration", 0, changed("answer", "digest", to="ab" * 32)),
    "a failure that was none": ("iteration", 0, changed("answer", "failure", to="blocked")),
    "fewer tokens": ("iteration", 1, changed("answer", "usage", "output_tokens", to=0)),
    "another prompt": ("iteration", 0, changed("prompt", "digest", to="ab" * 32)),
    "a shorter prompt": ("iteration", 0, changed("prompt", "tokens", to=1)),
    "memory left out": ("iteration", 3, changed("prompt", "dropped", "accepted_laws", to=1)),
    "another question": ("iteration", 0, changed("request", to="ab" * 32)),
    "another memory": ("iteration", 3, changed("snapshot", to="ab" * 32)),
    "another rejected object": ("iteration", 0, changed("rejections", 0, "object", to={})),
    "another reason": ("iteration", 0, changed("rejections", 0, "reason", to="E_ANSWER_FIELD: x")),
    "a rejection too few": ("iteration", 0, lambda body: body["rejections"].clear()),
    "rejections in another form": ("iteration", 0, changed("rejections", to=5)),
    "a law that was left out": ("iteration", 1, lambda body: body["redundant"].append({"law": "x", "match_type": "y"})),
    "a warning too few": ("iteration", 0, lambda body: body["warnings"].clear()),
    "another sensitivity": ("iteration", 1, changed("sensitivity", 0, "at", to=1)),
    "another score": ("law", 0, changed("features", "overall", to=1)),
    "another law": ("law", 0, changed("law", to="law/x@0000000000000000")),
    "another document": ("law", 0, changed("document", "forbidden", to="x")),
    "a late law that is new": ("law", 2, changed("late", to=None)),
    "late for another reason": ("law", 2, changed("late", "match_type", to="exact")),
    "equal by a proof that is none": ("law", 2, changed("late", "match_type", to="equivalent")),
    "another status before": ("escalation", 0, changed("before", to="PASS")),
    "another reason to stop": ("stop", 0, changed("reason", to="dry")),
    "a ledger without a law": ("ledger", 0, lambda body: body["refuted"].pop()),
    "a law not found": ("expected", 0, changed("found", to=None)),
    "found in another law": ("expected", 0, changed("found", to="law/gap@6fe8d2e052932efb")),
    "another expectation": ("expected", 0, changed("status", to="PASS")),
    "no word of what was found": ("expected", 0, lambda body: body.pop("found")),
    "another memory at the end": ("end", 0, changed("memory", to="ab" * 32)),
    "fewer trials": ("end", 0, changed("evaluations", to=4)),
    "a field more": ("end", 0, changed("more", to=1)),
}


@pytest.mark.parametrize("name", REPLAYED)
def test_a_changed_receipt_is_refuted(name: str) -> None:
    kind, which, change = REPLAYED[name]
    receipts = copy.deepcopy(recorded()[1])
    change(first(receipts, kind, which))
    with pytest.raises(Refuted, match="E_REPLAY"):
        replayed(receipts)


def test_a_receipt_too_few_or_too_many_is_refuted() -> None:
    receipts = recorded()[1]
    for wrong in (receipts[:-1], [*receipts, receipts[-1]], [receipts[0], *receipts[2:]]):
        with pytest.raises(Refuted, match="E_REPLAY"):
            replayed(wrong)


def test_a_tape_of_answers_that_follow_from_the_specs_is_refuted() -> None:
    with pytest.raises(Refuted, match="E_TAPE_EXTRA"):
        replayed(recorded()[1], [{"format": "specledger/model-tape/v1"}])


CHECKED: dict[str, tuple[str, int, str, Callable[[Any], None]]] = {
    "another claim": ("law", 0, "E_VERDICT", changed("verdict", "claim", to="R(t) == R(1)")),
    "another key": ("law", 0, "E_VERDICT", changed("verdict", "key", to="law/right@0000000000000000")),
    "a law that is none": ("law", 0, "E_VERDICT", changed("document", "template", to="none")),
    "a document of another law": ("law", 0, "E_VERDICT", changed("document", "law_id", to="other")),
    "a verdict of another form": ("law", 0, "E_VERDICT", changed("verdict", to={})),
    "a verdict and an error": ("law", 0, "E_VERDICT", changed("error", to="x")),
    "an unknown certificate": ("law", 0, "E_CERTIFICATE", changed("verdict", "certificate", "format", to="proof/v2")),
    "a proof of something else": (
        "law",
        0,
        "E_CERTIFICATE",
        changed("verdict", "certificate", "question", "horizon", to=2),
    ),
    "a proof that fails": (
        "law",
        0,
        "E_CERTIFICATE",
        lambda body: body["verdict"]["certificate"]["proof"]["later"]["links"][0]["potential"].__setitem__(2, 5),
    ),
    "a counterexample that is none": ("law", 1, "E_COUNTEREXAMPLE", changed("verdict", "counterexample", "t", to=3)),
    "a counterexample with more": ("law", 1, "E_COUNTEREXAMPLE", changed("verdict", "counterexample", "x", to=3)),
    "another excerpt": (
        "law",
        1,
        "E_COUNTEREXAMPLE",
        changed("verdict", "counterexample", "excerpt", "states", 1, to="...."),
    ),
    "a counterexample elsewhere": (
        "escalation",
        0,
        "E_COUNTEREXAMPLE",
        changed("held_out", 0, "counterexample", "start", to=">>>>>"),
    ),
    "another mutant": ("escalation", 0, "E_REPLAY", changed("held_out", 0, "mutant", to=5)),
    "a rule left out": ("escalation", 0, "E_REPLAY", changed("held_out", to=[])),
    "a law that is said not to apply": (
        "escalation",
        1,
        "E_REPLAY",
        lambda body: body["held_out"][0].update(status="INAPPLICABLE", reason="E_X", method=None, up_to=None),
    ),
}


@pytest.mark.parametrize("name", CHECKED)
def test_a_changed_verdict_is_refuted(name: str) -> None:
    kind, which, code, change = CHECKED[name]
    receipts = copy.deepcopy(recorded()[1])
    body = first(receipts, kind, which)
    change(body)
    with pytest.raises(Refuted, match=code):
        trials().check(kind, body)


AGAIN: dict[str, tuple[str, int, Callable[[Any], None]]] = {
    "more work": ("law", 0, changed("verdict", "work", to=1)),
    "more coverage": ("law", 0, changed("verdict", "power", "coverage", to=999_999)),
    "a smaller ring than there is": ("law", 1, changed("verdict", "counterexample", "minimised", to=99)),
    "another status elsewhere": ("escalation", 1, lambda body: body["held_out"][0].update(status="PASS", reason=None)),
}


@pytest.mark.parametrize("name", AGAIN)
def test_a_changed_figure_is_refuted(name: str) -> None:
    kind, which, change = AGAIN[name]
    receipts = copy.deepcopy(recorded()[1])
    body = first(receipts, kind, which)
    change(body)
    if kind == "escalation":
        body["verdict"] = None  # what is told of the law itself is not looked at here
    with pytest.raises(Refuted, match="E_REPLAY"):
        trials().again(kind, body)


def test_verdicts_come_before_what_rests_on_them() -> None:
    document, receipts = recorded()
    wrong = copy.deepcopy(receipts)
    body = first(wrong, "law", 1)
    body["verdict"]["counterexample"]["excerpt"]["states"][1] = "...."
    body["digest"] = tagged("law-verdict", write(body["verdict"]))
    with pytest.raises(Refuted, match="E_COUNTEREXAMPLE"):
        remade_discovery(document, None, wrong)


# Both implementations read alike


PIECES = [
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    '"a"',
    '"template"',
    '"laws"',
    "1",
    "-",
    "true",
    "tru",
    "//x\n",
    "/* c */",
    "/*",
]
PIECES += ["`", "```json", '"x', "\n", "1.5", "1e999", '"\\q"', '"\\ud800"', "'", '{"template":1}', '"laws":[', "[["]
PIECES += ['{"template":"x","b":[1,{"template":3}]}', ",]", '{"a":{"template":2}', '"a":', "[" * 70]


def test_any_text_is_taken_apart_alike() -> None:
    drawn = random.Random(3)
    for _ in range(800):
        text = "".join(drawn.choice(PIECES) for _ in range(drawn.randint(1, 30)))
        wanted = [
            ("broken", one.text, one.reason) if isinstance(one, Broken) else ("value", one.value, one.mends)
            for one in read_values(text, "laws", "template")
        ]
        assert list(map(tuple, AnswerReader(text).pieces())) == wanted, text


@lru_cache(maxsize=1)
def book() -> LawBook:
    """The kinetic grid and all templates, as the second verifier reads laws about it."""
    universe, forms = shipped.universe()[0], shipped.templates()
    specs = dict(universe.document()["specs"])
    for form in forms.values():
        specs.update(form.document()["specs"])
    return LawBook(specs, universe.root, [form.root for form in forms.values()])


CHANGES: dict[str, list[Any]] = {
    "transform": ["mirror_swap", "shift_k(3)", "shift_k(1, 2)", "none", 5],
    "quantifiers": [{"T": 5}, {"T": 0}, {"T": 500, "H": 2}, {"T": 9, "H": None}, []],
    "preconditions": [["count('>') > 0"], ["count('>')"], [{"lhs": "entropy", "op": ">", "rhs": True}], "x"],
    "observables": [
        [{"name": "X", "expr": e}] for e in ("count('X')", "count('Z')", "entropy", "count('X') / 2", "1.5")
    ],
    "claim_ast": [None, {"const": True}, {"obs": "X", "t": {"var": "t"}}, {"op": "/", "lhs": 1, "rhs": 2}],
    "claim": [None, "X(t+1) == X(t)", "forever", "X(t) <= 3"],
    "starts": [{"symbols": [">", "<"]}, {"symbols": [">"]}, {"symbols": None}],
    "proposed_tests": [[{"family": "edge_wrapping_cases", "params": {"cases": 3}}], [{"family": "none"}], [{}]],
    "capability_requirements": [{"transforms": ["x(k)"]}, {"transforms": [""]}],
    "template": ["bound", "monotone", "nothing", "local_transition"],
    "law_id": ["Two Words!", "9", ""],
    "bound_value": [1, True, None],
    "forbidden": ["", "  ", 5],
    "extra": [1],
}


@pytest.mark.parametrize("strict", [False, True])
def test_answers_are_read_alike(strict: bool) -> None:
    drawn, known = random.Random(5), KnownLaws()
    engine = ResponseParser(shipped.universe()[0], shipped.templates(), strict)
    detector = RedundancyDetector(equivalent=False)
    names = shipped.about_kinetic()
    for _ in range(90):
        document = dict(shipped.proposal(shipped.law(drawn.choice(names))))
        for key in drawn.sample(sorted(CHANGES), drawn.choice([0, 1, 1, 2])):
            document[key] = drawn.choice(CHANGES[key])
        wanted = engine.parse(json.dumps([document]))
        told = [{"object": dict(value), "reason": reason} for value, reason in wanted.rejections]
        laws, rejections, warnings = AnswerParser(book(), strict, None, set()).parsed(json.dumps([document]), told)
        assert (rejections, warnings) == (told, list(wanted.warnings)), document
        assert [law.key for law in laws] == [law.bundle.root for law in wanted.laws], document
        for mine, own in zip(laws, wanted.laws, strict=True):
            assert mine.facts == facts_of(own)
            match = detector.nearest(own)
            found = same_match(mine, [(known, 999)]) or near_match(mine, [(known, 999)])
            assert found == (None if match is None else match.document()), document
            detector.add_known_law(own)
            known.add(mine)


def conserved(expr: str, **more: Any) -> Any:
    """The law that an expression never changes, as the second verifier reads it."""
    observables = [{"name": "N", "expr": expr}]
    claim = {"op": "==", "lhs": {"obs": "N", "t": {"var": "t"}}, "rhs": {"obs": "N", "t": {"const": 0}}}
    document = {"template": "invariant", "forbidden": "x", "observables": observables, "claim_ast": claim, **more}
    return book().proposed(document).law


@pytest.mark.parametrize(
    ("expr", "more", "apart"),
    [
        ("3 * count('X') - 1 + 3 * count('>')", {}, False),
        ("count('<') + count('X')", {}, True),
        ("count('>') + count('X') + leftmost('X')", {}, True),
        ("count('>') + count('X') + entropy", {}, True),
        ("count('>') + count('X')", {"quantifiers": {"T": 9}}, True),
        ("count('>') + count('X')", {"preconditions": ["count('X') > 0"]}, True),
        ("count('>') + count('X')", {"starts": {"symbols": [".", ">"]}}, True),
    ],
)
def test_what_samples_tell_apart_no_receipt_can_call_equal(expr: str, more: dict[str, Any], apart: bool) -> None:
    assert told_apart(conserved("count('>') + count('X')"), conserved(expr, **more)) is apart


def test_laws_are_ranked_alike() -> None:
    bundle = load("specs/ranking/scientific-value.yaml")[0]
    theirs, ours = RankingModel(compile_ranking(bundle, bundle.root)), Ranking(bundle.main.data)
    documents = [shipped.proposal(shipped.law(name)) for name in shipped.about_kinetic()[:20]]
    parsed = ResponseParser(shipped.universe()[0], shipped.templates()).parse(json.dumps(documents)).laws
    ranked = theirs.rank(parsed)
    blank: dict[str, list[Any]] = {"accepted_laws": [], "falsified_laws": [], "unknown_laws": []}
    proposals = [book().proposed(dict(law.document)) for law in parsed]
    scored, warnings = ours.ranked(proposals, [None] * len(proposals), blank)
    assert [law.key for law, _, _ in scored] == [law.bundle.root for law in ranked.laws]
    assert [features for _, features, _ in scored] == [one.document() for one in ranked.features]
    assert warnings == list(ranked.warnings)
    assert ours.sensitivity(scored) == [one.document() for one in sensitivity(theirs.plan, ranked.features)]


@pytest.mark.parametrize("what", [["symbols"], ["names"], ["symbols", "names"]])
def test_symbols_and_names_are_exchanged_alike(what: list[str]) -> None:
    bundle, universe = shipped.universe()
    theirs, ours = make_scramble(universe, what, 7), Scramble(bundle.main.data, what, 7)
    assert theirs is not None
    assert (dict(theirs.symbols), dict(theirs.names)) == (ours.symbols, ours.names)
    for name in shipped.about_kinetic()[:10]:
        document = shipped.proposal(shipped.law(name))
        assert theirs.law(document) == ours.law(document)


def test_questions_and_enumerated_answers_are_alike() -> None:
    assert answer_form(["invariant", "bound"]) == form_of_engine(["invariant", "bound"])
    bundle = load("specs/model/kinetic-grammar.yaml")[0]

    model = compile_model(bundle, bundle.root)
    assert model_identity({bundle.root: bundle.main.data}, bundle.root) == model.identity
    theirs, ours = model.open(False), Grammar(bundle.main.data["enumerate"])
    assert isinstance(theirs, EnumeratedModel)
    known = {"count": 7, "accepted": ["a"], "falsified": [], "unknown": []}
    for turn in (0, 3, 40, 10**9):
        asked = ModelRequest(turn, "system", "prompt\u00e9", {"x": 1}, None, Known(7, ("a",)))
        question = Question(turn, "system", "prompt\u00e9", asked.document()["schema"], None, known)
        assert question.document == asked.document()
        assert ours.ask(question) == theirs.ask(asked).document()
