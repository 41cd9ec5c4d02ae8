"""Trials: which verdict follows from what, and what the facts of a trial hold."""

import pytest
from msgspec.structs import replace

from specledger.core.canonical import canonical_bytes
from specledger.core.verdict import Verdict
from specledger.kinds import load
from specledger.wings.laws import decision
from specledger.wings.laws.candidate import bundle_of
from specledger.wings.laws.compile import compile_law
from specledger.wings.laws.generators import make_cases
from specledger.wings.laws.harness import Contradiction
from specledger.wings.laws.judge import judge
from specledger.wings.laws.power import Power
from specledger.wings.laws.proofs.question import Proved, ProvedUpTo, Refuted, Undecided
from specledger.wings.laws.result import LawTally
from specledger.wings.laws.trial import run_law
from specledger.wings.laws.verdict import REASONS, digest_verdict
from tests.toys.claims import T0, obs, op
from tests.toys.trials import try_law

X, LEFT = {"name": "X", "expr": "count('X')"}, {"name": "L", "expr": "leftmost('>')"}


def test_a_law_about_later_steps_is_not_refuted_by_the_start(tmp_path):
    """Rule 0 leaves nothing after one step; a law that is judged from then on holds, whatever stood there before."""
    own = tmp_path / "later.yaml"
    own.write_text(
        "spec: template/v1\nname: later\nfor_all: {t: {from: 1, to: T}}\nparts: {C: {reads: [t]}}\nclaim: {part: C}\n",
        encoding="utf-8",
    )
    universe = load("specs/universe/elementary_rule.yaml", set=["transition.number=0"])[0]
    candidate = {
        **invariant(op("==", obs("N"), {"const": 0}), {"name": "N", "expr": "count('1')"}),
        "template": "later",
    }
    law = bundle_of({**candidate, "forbidden": "a cell that lives on"}, universe, {"later": load(own)[0]})
    assert try_law(compile_law(law)).status == "PASS"


def invariant(claim, *observables, **fields):
    return {"template": "invariant", "observables": list(observables or (X,)), "claim_ast": claim, **fields}


POSITIVE = op(">=", obs("X"), {"const": 0})
SCANNED = invariant(op(">=", obs("L"), {"const": -1}), LEFT)
CONSERVED = invariant(op("==", obs("N"), obs("N", T0)), {"name": "N", "expr": "count('>') + count('X')"})
LOST = invariant(op("==", obs("N"), obs("N", T0)), {"name": "N", "expr": "count('>') + count('<')"})

VERDICTS = {
    "conserved": (CONSERVED, "PROVED", None),
    "not conserved": (LOST, "FAIL", None),
    "scans are tried": (SCANNED, "PASS", None),
    "one family only": ({**SCANNED, "proposed_tests": [{"family": "edge_wrapping_cases"}]}, "UNKNOWN", "inconclusive_low_power"),
    "every ring tried": ({**SCANNED, "preconditions": ["count('>') == 1 && grid_length == 5"]}, "PROVED", None),
    "a proof, and starts that are hard to find": ({**CONSERVED, "preconditions": ["count('>') == 29 && grid_length == 31"]}, "PROVED", None),
    "a scan as a precondition": ({**CONSERVED, "preconditions": ["max_gap('>') > 2"]}, "PROVED", None),
    "a product as a precondition": ({**CONSERVED, "preconditions": ["count('>') * count('<') > 2"]}, "PROVED", None),
    "a scan that the claim needs": ({**CONSERVED, "claim_ast": op(">=", obs("N"), {"const": 3}), "preconditions": ["max_gap('>') > 2"]}, "PASS", None),
    "preconditions that nothing meets": ({**SCANNED, "preconditions": ["count('>') == 12 && grid_length == 11"]}, "UNKNOWN", "unmet_preconditions"),
    "preconditions that nothing meets, with a proof": ({**CONSERVED, "preconditions": ["count('>') == 12 && grid_length == 11"]}, "UNKNOWN", "unmet_preconditions"),
    "a premise that never holds": (
        {"template": "implication_state", "observables": [LEFT], "claim_ast": op("=>", op(">", obs("L"), {"const": 300}), op("==", obs("L"), {"const": 1}))},
        "UNKNOWN",
        "vacuous_pass",
    ),
    "a premise that never holds, with a proof": (
        {"template": "implication_state", "observables": [X], "claim_ast": op("=>", op("<", obs("X"), {"const": 0}), op("==", obs("X"), {"const": 1}))},
        "UNKNOWN",
        "vacuous_pass",
    ),
    "overflow": (invariant(POSITIVE, {"name": "X", "expr": "(count('>') * 4000000000) * (count('>') * 4000000000)"}), "UNKNOWN", "evaluation_error"),
    "overflow in the claim": (invariant(op(">", op("*", op("*", obs("X"), {"const": 2**52}), {"const": 2**52}), {"const": -1}), {"name": "X", "expr": "grid_length"}), "UNKNOWN", "evaluation_error"),
    "T = 10^6": ({**CONSERVED, "quantifiers": {"T": 10**6}}, "UNKNOWN", "resource_limit"),
    "too much work": (
        {**CONSERVED, "cases": 10_000, "mutations": 100_000, "quantifiers": {"T": 200}, "proposed_tests": [{"family": "random_density_sweep", "params": {"lengths": [200]}}]},
        "UNKNOWN",
        "resource_limit",
    ),
    "a missing transform": ({"template": "symmetry_commutation", "transform": "turn"}, "UNKNOWN", "missing_transform"),
    "mirrored and swapped": ({"template": "symmetry_commutation", "transform": "mirror_swap"}, "PROVED", None),
    "mirrored only": ({"template": "symmetry_commutation", "transform": "mirror_only"}, "FAIL", None),
    "rotated": ({"template": "symmetry_commutation", "transform": "shift_k(7)"}, "PROVED", None),
    "an X never stays": ({"template": "local_transition", "trigger_symbol": "X", "result_op": "!=", "result_symbol": "X"}, "FAIL", None),
}  # fmt: skip


@pytest.mark.medium
@pytest.mark.parametrize(("candidate", "status", "reason"), VERDICTS.values(), ids=VERDICTS)
def test_verdicts(plan_of, candidate, status, reason):
    plan = plan_of(candidate)
    verdict = try_law(plan)
    assert (verdict.status, verdict.reason) == (status, reason)
    assert verdict.reason is None or verdict.reason in REASONS
    document = verdict.to_json(plan.law)
    assert canonical_bytes(document)
    assert (verdict.counterexample is not None) == (status == "FAIL")
    assert (document["violation_bound"] is not None) == (status == "PASS")
    assert (verdict.content is not None) == (status in ("PASS", "PROVED"))
    assert verdict.certificate is not None or status != "PROVED"
    assert verdict.detail or status not in ("PASS", "UNKNOWN")


MANY, LENGTH = {"name": "M", "expr": "count('>')"}, {"name": "L", "expr": "grid_length"}
CROWD = op("==", obs("M"), {"const": 151})


def premise(antecedent, consequent, *observables):
    return {
        "template": "implication_state",
        "observables": [*observables],
        "claim_ast": op("=>", antecedent, consequent),
    }


RARE = {
    "a proof": (premise(CROWD, op(">=", obs("L"), {"const": 151}), MANY, LENGTH), "PROVED", None),
    "no proof": (premise(CROWD, op(">=", obs("F"), {"const": 0}), MANY, {"name": "F", "expr": "leftmost('>')"}), "UNKNOWN", "inconclusive_low_power"),
    "a violation": (premise(CROWD, op(">", obs("F"), {"const": 5}), MANY, {"name": "F", "expr": "leftmost('>')"}), "FAIL", None),
    "one step later": (
        {
            "template": "implication_step",
            "observables": [MANY, X, {"name": "I", "expr": "incoming_collisions"}],
            "claim_ast": op("=>", op("and", op("==", obs("M"), {"const": 33}), op("==", obs("X"), {"const": 0})), op("==", obs("X", {"t_plus_1": True}), obs("I"))),
        },
        "PROVED",
        None,
    ),
}  # fmt: skip


@pytest.mark.medium
@pytest.mark.parametrize(("candidate", "status", "reason"), RARE.values(), ids=RARE)
def test_a_premise_that_no_case_meets_is_looked_for(plan_of, candidate, status, reason):
    """No family makes rings with exactly so many movers; cases are changed towards them."""
    plan = plan_of(candidate)
    verdict = try_law(plan)
    document = verdict.to_json(plan.law)
    assert (document["status"], document["reason"], document["power"]["hits"]) == (status, reason, 0)
    if status == "FAIL":
        assert document["counterexample"]["start"].count(">") == 151
    else:
        assert document["detail"].startswith("the antecedent holds in none of the cases, but from '")


WHY = {
    "a wait by the length": (
        {
            "template": "eventually",
            "quantifiers": {"T": 5, "H": "grid_length"},
            "observables": [X, LENGTH],
            "claim_ast": op("=>", op(">", obs("X"), {"const": 0}), op("<", obs("X"), obs("L"))),
        },
        "the wait depends on the length of the ring, and the shortest one is not proved to be enough",
    ),
    "a claim about a scan": (SCANNED, "the claim is not about additive observables"),
    "a precondition about a scan": (
        {**CONSERVED, "claim_ast": op(">=", obs("N"), {"const": 3}), "preconditions": ["max_gap('>') > 2"]},
        "a precondition is not about additive observables, and the claim is not proved without it",
    ),
}


@pytest.mark.medium
@pytest.mark.parametrize(("candidate", "why"), WHY.values(), ids=WHY)
def test_what_stands_in_the_way_of_a_proof(plan_of, candidate, why):
    verdict = try_law(plan_of(candidate))
    assert (verdict.status, verdict.detail) == ("PASS", why)


@pytest.mark.medium
def test_what_is_proved_says_that_preconditions_narrow_it(plan_of):
    candidate, _ = WHY["a precondition about a scan"]
    narrowed = "starts over {0, 1, 2} that meet the preconditions on rings of 4 or more cells"
    assert try_law(plan_of(candidate)).proved_for == narrowed


ONES = {"name": "N", "expr": "count('1')"}
FILLED = op("=>", op("==", obs("N"), {"const": 5}), op(">=", obs("N", T0), {"const": 2}))
AND_NOTHING = op("+", op("-", obs("N"), obs("N")), obs("N", T0))


@pytest.mark.parametrize("first", [obs("N", T0), AND_NOTHING], ids=["the start alone", "nothing else either"])
@pytest.mark.parametrize(("horizon", "status"), [(1, "PROVED"), (2, "FAIL")])
def test_the_prover_judges_the_steps_that_the_law_judges(plan_of, first, horizon, status):
    """One cell fills five under rule 254 at step 2, which is within T + H, but is judged only if it is within T."""
    claim = op("=>", FILLED["lhs"], op(">=", first, {"const": 2}))
    law = {"template": "eventually", "quantifiers": {"T": horizon, "H": 1}, "preconditions": ["grid_length == 5"]}
    plan = plan_of({**law, "observables": [ONES], "claim_ast": claim}, "elementary_rule", rule=254)
    assert try_law(plan).status == status


@pytest.mark.parametrize("cells", [9, 14, 15, 17, 27])
def test_a_length_that_no_family_makes_is_tried(plan_of, cells):
    law = {"template": "invariant", "observables": [ONES], "claim_ast": op("==", obs("N"), obs("N", T0))}
    plan = plan_of({**law, "preconditions": [f"grid_length == {cells}"]}, "elementary_rule", rule=204)
    verdict = try_law(plan)
    assert verdict.power is not None
    assert (verdict.status, verdict.power.usable) == ("PROVED", 300)
    assert {len(case.start) for case in make_cases(plan.law)} == {cells}


def test_a_verdict_that_cannot_be_recorded_is_unknown(plan_of):
    """The claim can be asked, but the counterexample's value is beyond 2^53 - 1."""
    huge = {"name": "N", "expr": "4503599627370496 * count('>')"}
    plan = plan_of(invariant(op("<=", obs("N"), {"const": 2**53 - 1}), huge))
    end = [each.body for each in run_law(plan)][-1]
    assert (end["status"], end["met"]) == ("UNKNOWN", None)


def test_a_disagreement_with_the_prover_is_an_error(plan_of, monkeypatch):
    monkeypatch.setattr(decision, "prove", lambda question, limits, tried: Proved({}, "all"))
    *_, verdict, end = run_law(plan_of({**LOST, "expect": {"status": "FAIL"}}))
    assert (end.body["status"], end.body["met"]) == ("ERROR", None)
    assert "proved, but violated" in verdict.body["verdict"]["detail"]
    tally = LawTally()
    for each in (verdict, end):
        tally.add(each.type, each.body)
    assert tally.verdict is Verdict.ERROR


LIMITS = {
    "cases that meet the preconditions": ({"usable": 301}, "unmet_preconditions"),
    "steps at which the antecedent holds": ({"hits": 10**6}, "inconclusive_low_power"),
    "families": ({"families": 9}, "inconclusive_low_power"),
    "coverage": ({"coverage": 10**6}, "inconclusive_low_power"),
    "steps": ({"steps": 49}, "resource_limit"),
}


@pytest.mark.medium
@pytest.mark.parametrize(("trial", "reason"), LIMITS.values(), ids=LIMITS)
def test_a_law_says_what_its_trial_must_show(plan_of, trial, reason):
    assert try_law(plan_of(SCANNED)).status == "PASS"
    assert try_law(plan_of({**SCANNED, "trial": trial})).reason == reason


def test_an_excerpt_has_so_many_states(plan_of):
    found = try_law(plan_of({**LOST, "trial": {"excerpt": 1}})).counterexample
    assert found is not None
    assert len(found.states) == 1


def test_the_facts_of_a_trial(plan_of):
    plan = plan_of(CONSERVED)
    start, cases, verdict, end = run_law(plan)
    assert [one.type for one in (start, cases, verdict, end)] == ["start", "cases", "verdict", "end"]
    assert (start.body["kind"], start.body["digest"], start.body["universe"]) == (
        "law",
        plan.digest,
        plan.law.universe.key,
    )
    assert (cases.body["count"], sum(cases.body["families"].values()), len(cases.body["digest"])) == (300, 300, 64)
    assert verdict.body["digest"] == digest_verdict(verdict.body["verdict"])
    assert (end.body["status"], end.body["met"]) == ("PROVED", None)
    assert [one.body for one in run_law(plan_of(CONSERVED))] == [one.body for one in (start, cases, verdict, end)]


def test_a_counterexample_is_small_and_tells_what_was_seen(plan_of):
    found = try_law(plan_of(LOST)).counterexample
    assert found is not None
    assert (len(found.start), found.t, found.first) == (4, 1, 0)
    assert found.states[0] == found.start
    assert found.observables == {"t": {"N": 0}, "t_plus_1": {"N": 2}}


@pytest.mark.parametrize(
    "answer",
    [Refuted((1, 0, 2, 0), 1, "made up", "all"), Proved({}, "all"), ProvedUpTo(9, {}, "all", "made up")],
    ids=lambda a: type(a).__name__,
)
def test_a_prover_that_the_definition_contradicts_gives_no_verdict(plan_of, monkeypatch, answer):
    monkeypatch.setattr(decision, "prove", lambda question, limits, tried: answer)
    with pytest.raises(Contradiction):
        try_law(plan_of(CONSERVED if isinstance(answer, Refuted) else LOST))


def test_without_a_proof_a_law_is_tried(plan_of, monkeypatch):
    monkeypatch.setattr(decision, "prove", lambda question, limits, tried: Undecided("made up", "all"))
    passed, failed = try_law(plan_of(CONSERVED)), try_law(plan_of(LOST))
    assert (passed.status, passed.method, failed.status, failed.method) == ("PASS", "sample", "FAIL", "sample")
    assert passed.power is not None
    assert passed.power.bound == {
        "share": -(-3_000_000 // passed.power.drawn),
        "drawn": passed.power.drawn,
        "families": list(passed.power.drawn_by),
    }


def test_the_window_of_eventually_is_not_cut_by_the_end(law_of):
    """A lone left-mover comes back to where it was after as many steps as there are cells: not before the last of T."""
    claim = op("=>", op("==", obs("L"), {"const": 0}), op("==", obs("L"), {"const": 1}))
    observables = [{"name": "L", "expr": "leftmost('<')"}]
    law = law_of(
        {"template": "eventually", "quantifiers": {"T": 4, "H": 4}, "observables": observables, "claim_ast": claim}
    )
    assert law.steps == 8
    judged = judge(law, [law.universe.cells("<....")])
    assert (judged.hits.tolist(), judged.violated.tolist()) == ([1], [-1])
    short = law_of(
        {"template": "eventually", "quantifiers": {"T": 4, "H": 3}, "observables": observables, "claim_ast": claim}
    )
    assert judge(short, [law.universe.cells("<....")]).violated.tolist() == [0]


def test_a_bound_is_three_in_as_many_as_were_drawn():
    power = Power(cases=300, usable=300, hits=900, hit_cases=300, families=3, interacting=300, wrapping=300, bins=5)
    assert (power.coverage, power.bound) == (1_000_000, None)
    assert replace(power, drawn=7).bound == {"share": 428_572, "drawn": 7, "families": []}
    assert replace(power, drawn=2).bound == {"share": 1_000_000, "drawn": 2, "families": []}
