"""A second evaluator on verdicts about laws: it agrees with honest ones, and notices whatever else is recorded."""

import copy
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from specledger.compile.law import compile_law
from specledger.core.verdict import Verdict
from specledger.expr import EvaluationError
from specledger.kinds import MODELS
from specledger.laws.claim import COMPARISONS, Binary, Const, Not, Observe, Time, evaluator
from specledger.laws.generators import make_cases
from specledger.verify import judge_law as judging
from specledger.verify.assurance_levels import Reader, level_statuses
from specledger.verify.bundle import verify_bundle
from specledger.verify.judge_law import Work, judge_law
from specledger.verify.judged import BEYOND_WORK, NO_EXPRESSION, Count
from specledger.verify.law import LAW
from specledger.verify.law_cel import CelLaw, CelUniverse, cel_of
from specledger.verify.reference import Reference, Unjudged
from tests.conftest import examples
from tests.toys.claims import T1, measured, obs, op
from tests.unit.verify.conftest import tried, write_evidence

pytest.importorskip("cel_expr_python", reason="the extra `judge`")


QUICK = {"cases": 80, "mutations": 0, "quantifiers": {"T": 6}}
LATER = {"quantifiers": {"T": 6, "H": 3}, "preconditions": ["count('X') == 0 && grid_length > 3"]}

LAWS = {
    "proved": ("kinetic_grid_v1", measured("count('>') + count('X')")),
    "proved, by cells": ("kinetic_grid_v1", {
        "template": "local_transition", "trigger_symbol": ".", "result_op": "!=", "result_symbol": "<", "starts": {"symbols": [".", ">"]},
    }),
    "proved, of images": ("kinetic_grid_v1", {"template": "symmetry_commutation", "transform": "shift_k(-3)"}),
    "refuted": ("kinetic_grid_v1", measured("count('>') + count('<')")),
    "refuted, by cells": ("spin_tide", {"template": "local_transition", "trigger_symbol": "0", "result_op": "==", "result_symbol": "0"}),
    "refuted, of images": ("kinetic_grid_v1", {"template": "symmetry_commutation", "transform": "mirror_only"}),
    "refuted, later": ("kinetic_grid_v1", {
        "template": "eventually", "observables": [{"name": "N", "expr": "count('X')"}],
        "claim_ast": op("=>", op("==", obs("N"), {"const": 0}), op(">", obs("N"), {"const": 0})), **LATER,
    }),
    "refuted, from step 1": ("kinetic_grid_v1", {
        "template": "implication_step", "observables": [{"name": "N", "expr": "incoming_collisions"}],
        "claim_ast": op("=>", op(">", obs("N"), {"const": 0}), op(">", obs("N", T1), {"const": 0})),
    }),
    "passed": ("kinetic_grid_v1", measured("leftmost('>')", op(">=", obs("N"), {"const": -1}))),
    "passed, of gaps": ("kinetic_grid_v1", measured(
        "gap_pairs('>', '<', 1) * max_gap('.')", op(">=", op("*", obs("N"), obs("N")), obs("N")),
        preconditions=[{"lhs": "count('X')", "op": "<", "rhs": "3"}],
    )),
    "unknown": ("kinetic_grid_v1", measured("count('X')", quantifiers={"T": 201})),
}  # fmt: skip


@pytest.fixture(scope="module")
def trials():
    return tried(LAWS, **QUICK)


def verdict_of(trials, name):
    return copy.deepcopy(trials[name][1][-2].body["verdict"])


def judged(trials, name, verdict=None, work=None):
    specs = trials[name][0]
    main, law, count = specs.main, compile_law(specs).law, Count()
    universe = CelUniverse(Reference(), specs.specs[main.refs["universe",]])
    cases = [bytes(case.start) for case in make_cases(law)]
    said = verdict_of(trials, name) if verdict is None else verdict
    judge_law(lambda: CelLaw(universe, law, main), said, lambda: cases, count, work or Work(), name)
    return count


@pytest.mark.slow
@pytest.mark.parametrize("name", LAWS)
def test_it_agrees_with_every_honest_verdict(trials, name):
    status, count = verdict_of(trials, name)["status"], judged(trials, name)
    assert status == {"proved": "PROVED", "refuted": "FAIL", "passed": "PASS"}.get(name.split(",")[0], "UNKNOWN")
    if status == "UNKNOWN":
        assert (count.all, count.without) == (0, {judging.UNDECIDED: 1})
    else:
        assert (count.judged, count.all, count.against, count.open) == (1, 1, None, {})
        assert count.seen.total() == {"FAIL": 1, "PASS": 80}.get(status, count.seen.total()) > 0
    assert set(count.ours) == ({"range"} if name == "passed, of gaps" else set())


def ring(**changes):
    """Changes of the counterexample, each a function of what it was."""
    return lambda verdict: [
        verdict["counterexample"].update({name: change(verdict["counterexample"][name])})
        for name, change in changes.items()
    ]


def power(name, more):
    return lambda verdict: verdict["power"].update({name: verdict["power"][name] + more})


def show_another_state(verdict):
    states = verdict["counterexample"]["excerpt"]["states"]
    states[-1] = "X" * len(states[-1])


def measure_more(verdict):
    verdict["counterexample"]["observables"]["t_plus_1"]["N"] += 1


def prove(verdict):
    verdict.update(status="PROVED", counterexample=None)


FORGED = {
    "a start that violates nothing": ("refuted", ring(start=lambda start: "." * len(start)), "judged none up to there"),
    "a step that is not the first": ("refuted", ring(t=lambda t: t + 1), "judged one at step"),
    "a start that does not count": ("refuted, later", ring(start=lambda start: "X" + start[1:]), "meets no preconditions"),
    "another state": ("refuted", show_another_state, "recorded 'X"),
    "another value": ("refuted", measure_more, "recorded N ="),
    "a proof of what fails": ("refuted", prove, "recorded that it is proved"),
    "a proof of what fails by cells": ("refuted, by cells", prove, "recorded that it is proved"),
    "a proof of what fails of images": ("refuted, of images", prove, "recorded that it is proved"),
    "a pass of what fails": ("refuted", lambda verdict: verdict.update(status="PASS", counterexample=None, power=None), "recorded that no case violates it"),
    "more hits": ("passed", power("hits", 1), "hits, judged"),
    "no figures": ("passed", lambda verdict: verdict.update(power=[1]), "recorded None"),
    "fewer usable cases": ("passed, of gaps", power("usable", -1), "usable cases"),
}  # fmt: skip


@pytest.mark.parametrize(("name", "forge", "said"), FORGED.values(), ids=FORGED)
def test_another_verdict_is_noticed(trials, name, forge, said):
    verdict = verdict_of(trials, name)
    forge(verdict)
    count = judged(trials, name, verdict)
    assert count.judged == 0
    assert said in (count.against or "")


def wrong_rule(monkeypatch):
    honest = Reference.value

    def swapped(self, checked, given):
        value = honest(self, checked, given)
        return "<" if value == "." else value

    monkeypatch.setattr(Reference, "value", swapped)


def wrong_measure(monkeypatch):
    honest = CelUniverse.measure
    monkeypatch.setattr(CelUniverse, "measure", lambda self, *given: honest(self, *given) + (given[2][0] == 0))


def wrong_truth(monkeypatch):
    honest = Reference.say

    def opposite(self, text, values):
        return not honest(self, text, values)

    monkeypatch.setattr(Reference, "say", opposite)


@pytest.mark.parametrize(
    ("name", "wrong"),
    [("refuted", wrong_truth), ("passed", wrong_truth), ("proved", wrong_truth), ("refuted", wrong_measure), ("proved, by cells", wrong_rule)],
)  # fmt: skip
def test_a_wrong_evaluator_is_noticed(trials, monkeypatch, name, wrong):
    wrong(monkeypatch)
    assert judged(trials, name).against is not None


@pytest.mark.parametrize("name", ["refuted", "passed", "proved"])
def test_what_is_beyond_the_bound_of_work_is_not_judged(trials, name):
    count = judged(trials, name, work=Work(3))
    assert (count.judged, count.against, count.open) == (0, None, {BEYOND_WORK: 1})
    assert Counter({name: number for name, number in count.seen.items() if number}) == {}


def test_cases_beyond_the_bound_are_counted(trials):
    count = judged(trials, "passed", work=Work(2_000))
    looked, left = (counted["cases of laws that passed"] for counted in (count.seen, count.unseen))
    assert (looked > 0, looked + left) == (True, 80)
    assert count.judged == 0


# Evidence


@pytest.fixture
def sealed(trials, tmp_path):
    """Evidence of a law."""
    return lambda name: write_evidence(tmp_path / "law", trials[name][0], trials[name][1], LAW)


def verified(place):
    verification = verify_bundle(place, LAW, MODELS, Reader(judge=True))
    (rung,) = [rung for rung in level_statuses(verification) if rung.level == "L5"]
    return verification, rung


def test_where_there_is_too_much_work_the_level_says_so_with_a_code(sealed, monkeypatch):
    monkeypatch.setattr("specledger.verify.law.Work", lambda: Work(3))
    verification, rung = verified(sealed("refuted"))
    assert (verification.verdict, rung.status, rung.code) == (Verdict.INCONCLUSIVE, "not checked", "E_WORK")


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("refuted", "judged 1 of 1 verdicts of expressions; looked at: counterexamples 1"),
        ("passed", "looked at: cases of laws that passed 80"),
        ("proved", "not looked at: certificates, which another checker of ours checks 1"),
    ],
)
def test_the_level_is_reached_and_says_on_what(sealed, name, said):
    verification, rung = verified(sealed(name))
    assert (verification.verdict, rung.status) == (Verdict.PASS, "reached")
    assert said in rung.why
    assert verification.facts["judge"]["looked_at"]


def test_where_nothing_is_said_there_is_no_agreement(sealed):
    verification, rung = verified(sealed("unknown"))
    assert (verification.verdict, rung.status) == (Verdict.INCONCLUSIVE, "not checked")
    assert rung.why.startswith(NO_EXPRESSION)
    assert f"{judging.UNDECIDED} 1" in rung.why


def test_what_the_other_engine_does_not_say_is_open(sealed, monkeypatch):
    def silent(self, text, values):
        raise Unjudged("the other evaluator gives no value")

    monkeypatch.setattr(Reference, "say", silent)
    verification, rung = verified(sealed("refuted"))
    assert (verification.verdict, rung.status) == (Verdict.INCONCLUSIVE, "not checked")
    assert "judged 0 of 1" in rung.why


def test_other_cases_than_the_recorded_ones_are_not_judged(sealed, monkeypatch):
    monkeypatch.setattr("specledger.verify.law.digest_cases", lambda *given: "other")
    _, rung = verified(sealed("passed"))
    assert (rung.status, "not those that are recorded" in rung.why) == ("not checked", True)


# Claims as CEL


NUMBERS = st.recursive(
    st.one_of(st.integers(-9, 9).map(Const), st.sampled_from("ab").map(lambda name: Observe(name, Time(0)))),
    lambda inner: st.builds(Binary, st.sampled_from("+-*"), inner, inner),
    max_leaves=6,
)
CLAIMS = st.recursive(
    st.one_of(
        st.booleans().map(Const),
        st.builds(Binary, st.sampled_from(COMPARISONS), NUMBERS, NUMBERS),
        st.builds(Binary, st.sampled_from(["==", "!="]), st.just(Observe("state[i]", Time(1))), st.sampled_from(["\\", '"', ">"]).map(Const)),
    ),
    lambda inner: st.one_of(st.builds(Not, inner), st.builds(Binary, st.sampled_from(["and", "or", "=>", "==", "!="]), inner, inner)),
    max_leaves=8,
)  # fmt: skip


@pytest.fixture(scope="module")
def reference():
    return Reference()


@pytest.mark.slow
@settings(max_examples=examples(120), deadline=None)
@given(claim=CLAIMS, a=st.integers(-50, 50), b=st.integers(-50, 50), cell=st.sampled_from(["\\", '"', ">"]))
def test_a_claim_means_the_same_as_text(reference, claim, a, b, cell):
    values = {"a": a, "b": b, "state[i]": cell}
    text, reads = cel_of(claim)
    try:
        ours = evaluator(claim)(lambda name, time: values[name])
    except EvaluationError:
        return
    assert reference.say(text, {variable: values[name] for (name, _), variable in reads.items()}) is ours
