"""Evidence of laws: what was forged and sealed again is caught by what the verdict rests on, or by replay."""

import copy

import pytest

from specledger.core.events import Event
from specledger.core.verdict import Verdict
from specledger.kinds import KINDS
from specledger.verify.assurance_levels import Reader, level_statuses
from specledger.wings.laws.compile import compile_law
from specledger.wings.laws.law_question import questions_of
from specledger.wings.laws.result import LawTally
from specledger.wings.laws.verdict import digest_verdict
from specledger.wings.laws.verify.verdicts import LAW
from tests.toys.claims import measured, obs
from tests.unit.verify.conftest import tried, write_evidence
from tests.verifying import verify_bundle

LAWS = {
    "conserved": ("kinetic_grid_v1", measured("count('>') + count('X')")),
    "lost": ("kinetic_grid_v1", measured("count('>') + count('<')")),
    "scanned": ("kinetic_grid_v1", {**measured("leftmost('>')"), "claim_ast": {"op": ">=", "lhs": obs("N"), "rhs": {"const": -1}}}),
    "scanned and lost": ("kinetic_grid_v1", measured("spread('>') - 2 * leftmost('<')")),
    "up to": ("kinetic_grid_v1", {**measured("count('X')"), "claim_ast": {"op": ">=", "lhs": {"op": "*", "lhs": obs("N"), "rhs": obs("N")}, "rhs": obs("N")}}),
    "mirrored": ("kinetic_grid_v1", {"template": "symmetry_commutation", "transform": "mirror_swap"}),
    "mirrored only": ("kinetic_grid_v1", {"template": "symmetry_commutation", "transform": "mirror_only"}),
    "a symbol that stays": ("spin_tide", {"template": "local_transition", "trigger_symbol": "+", "result_op": "==", "result_symbol": "+"}),
    "an X that stays": ("kinetic_grid_v1", {"template": "local_transition", "transform": "mirror_swap", "trigger_symbol": "X", "result_op": "==", "result_symbol": "X"}),
    "comes back": ("kinetic_grid_v1", {
        "template": "eventually",
        "quantifiers": {"T": 9, "H": 3},
        "preconditions": ["count('X') == 0"],
        "observables": [{"name": "N", "expr": "count('X')"}],
        "claim_ast": {"op": "=>", "lhs": {"op": "==", "lhs": obs("N"), "rhs": {"const": 0}}, "rhs": {"op": ">", "lhs": obs("N"), "rhs": {"const": 0}}},
    }),
    "unknown": ("kinetic_grid_v1", measured("count('X')", quantifiers={"T": 201})),
}  # fmt: skip


@pytest.fixture(scope="module")
def trials():
    return tried(LAWS)


def resealed(bodies, type_):
    """What follows from a verdict and stands elsewhere."""
    verdict = bodies["verdict"]["verdict"]
    return {"verdict": {"digest": digest_verdict(verdict)}, "end": {"status": verdict["status"]}}.get(type_, {})


@pytest.fixture
def sealed(trials, tmp_path):
    """Writes the evidence of a law, after a forger had its facts in hand."""

    def write(name, forge=None):
        specs, events = trials[name]
        facts = [Event(each.type, copy.deepcopy(dict(each.body))) for each in events]
        bodies = {each.type: each.body for each in facts}
        if forge is not None:
            forge(bodies)
            facts = [Event(each.type, dict(each.body) | resealed(bodies, each.type)) for each in facts]
        return write_evidence(tmp_path / "law", specs, facts, LAW)

    return write


def failures(place, *, replay):
    verification = verify_bundle(place, LAW, KINDS, Reader(replay=replay))
    return [check.code for check in verification.checks if check.code is not None]


@pytest.mark.medium
@pytest.mark.parametrize("name", LAWS)
def test_honest_evidence_is_intact(sealed, trials, name):
    place = sealed(name)
    verdict = trials[name][1][-2].body["verdict"]
    verification = verify_bundle(place, LAW, KINDS)
    assert verification.verdict == Verdict.PASS, [check for check in verification.checks if check.code]
    names = {check.name.split()[1] for check in verification.checks}
    assert ("certificate" in names) == (verdict["certificate"] is not None)
    assert ("counterexample" in names) == (verdict["status"] == "FAIL")


def test_the_second_evaluator_does_not_judge_laws(sealed):
    verification = verify_bundle(sealed("conserved"), LAW, KINDS, Reader(judge=True))
    (rung,) = [rung for rung in level_statuses(verification) if rung.level == "L5"]
    assert (verification.verdict, rung.status) == (Verdict.INCONCLUSIVE, "not checked")
    assert rung.why.endswith("the second evaluator judges expressions of scenarios, not verdicts on laws")


def said(bodies):
    return bodies["verdict"]["verdict"]


def found(bodies):
    return said(bodies)["counterexample"]


def set_(**fields):
    return lambda bodies: said(bodies).update(fields)


def at(*path, **fields):
    """A change of some fields at a place in the verdict."""

    def change(bodies):
        place = said(bodies)
        for key in path:
            place = place[key]
        place.update(fields)

    return change


NO_PROOF = {"format": "proof/v1", "question": {}, "proof": {"kind": "current", "potential": []}}
ALL_LENGTHS = {"up_to": None, "reason": None, "violation_bound": None}


def bend_the_potential(bodies):
    said(bodies)["certificate"]["proof"]["later"]["links"][0]["potential"][1] += 1


def moved(steps):
    """The violation is said to be that many steps later."""
    return lambda bodies: found(bodies).update(t=found(bodies)["t"] + steps)


def another_start(make):
    return lambda bodies: found(bodies).update(start=make(found(bodies)["start"]))


def hide_the_violation(bodies):
    del found(bodies)["excerpt"]["states"][1:]
    found(bodies)["excerpt"]["from"] = 0


def change_an_observable(bodies):
    found(bodies)["observables"]["t"]["N"] += 1


FORGED = {
    "a proof of what fails": ("lost", set_(status="PROVED", method="proof", detail=None, counterexample=None, certificate=NO_PROOF), "E_CERTIFICATE"),
    "a proof for another rule": ("conserved", at("certificate", "question", "rule", table=[0] * 64), "E_CERTIFICATE"),
    "a proof for another contract": ("conserved", set_(proved_for="all rings of one cell"), "E_CERTIFICATE"),
    "a wrong potential": ("conserved", bend_the_potential, "E_CERTIFICATE"),
    "a longer reach": ("scanned", lambda bodies: said(bodies).update(up_to=said(bodies)["up_to"] + 1), "E_CERTIFICATE"),
    "every length": ("scanned", set_(status="PROVED", method="proof", **ALL_LENGTHS), "E_CERTIFICATE"),
    "an earlier step": ("lost", moved(-1), "E_COUNTEREXAMPLE"),
    "a later step": ("lost", moved(1), "E_COUNTEREXAMPLE"),
    "a step that is not judged": ("lost", moved(10**9), "E_COUNTEREXAMPLE"),
    "too short a ring": ("lost", another_start(lambda start: ">"), "E_COUNTEREXAMPLE"),
    "no start of the law": ("comes back", another_start(lambda start: "X" + start[1:]), "E_COUNTEREXAMPLE"),
    "an excerpt of something else": ("lost", hide_the_violation, "E_COUNTEREXAMPLE"),
    "another value": ("lost", change_an_observable, "E_COUNTEREXAMPLE"),
    "other observables": ("lost", at("counterexample", "observables", t={}), "E_COUNTEREXAMPLE"),
    "nonsense": ("lost", at("counterexample", excerpt=None), "E_COUNTEREXAMPLE"),
    "a symmetry's start": ("mirrored only", another_start(lambda start: "." * len(start)), "E_COUNTEREXAMPLE"),
    "a transition's start": ("a symbol that stays", another_start(lambda start: ">"), "E_COUNTEREXAMPLE"),
    "an unknown reason": ("unknown", set_(reason="tired"), "E_VERDICT"),
    "another claim": ("conserved", set_(claim="true"), "E_VERDICT"),
    "another contract": ("conserved", set_(contract="all rings"), "E_VERDICT"),
    "no method": ("conserved", lambda bodies: said(bodies).pop("method"), "E_VERDICT"),
    "an unknown law passes": ("unknown", set_(status="PASS", reason=None, method="sample"), "E_VERDICT"),
}  # fmt: skip


@pytest.mark.parametrize(("name", "forge", "code"), FORGED.values(), ids=FORGED)
def test_a_forged_verdict_is_caught_without_replay(sealed, name, forge, code):
    assert failures(sealed(name, forge), replay=False) == [code]


@pytest.mark.parametrize("believed", [False, True])
def test_a_proof_of_another_law_is_caught_even_by_who_asks_as_its_writer_did(trials, sealed, monkeypatch, believed):
    """An X that stays, which is false, is said to be proved as the symmetry that its stray transform names."""
    (_, told), (_, symmetric) = trials["an X that stays"], trials["mirrored"]
    assert told[0].body["warnings"] == ["W_LAW_FIELD"]
    other = symmetric[-2].body["verdict"]
    names = ("status", "method", "reason", "detail", "certificate", "proved_for", "counterexample", "content")

    def forge(bodies):
        said(bodies).update({name: other[name] for name in names})

    place = sealed("an X that stays", forge)
    if believed:
        specs = compile_law(trials["mirrored"][0]).law
        monkeypatch.setattr("specledger.wings.laws.verify.verdicts.questions_of", lambda law: questions_of(specs))
    (check,) = [
        check for check in verify_bundle(place, LAW, KINDS, Reader(replay=False)).checks if check.code is not None
    ]
    assert check.code == "E_CERTIFICATE"
    assert ("is violated at step" in (check.message or "")) == believed


UNSEEN = {
    "more hits": ("scanned", at("power", hits=10**6)),
    "a proof forgotten": ("conserved", set_(status="PASS", method="sample", certificate=None, proved_for=None)),
    "other cases": ("conserved", lambda bodies: bodies["cases"].update(digest="0" * 64)),
    "another counterexample's effort": ("lost", at("counterexample", minimised=3)),
}


@pytest.mark.medium
@pytest.mark.parametrize(("name", "forge"), UNSEEN.values(), ids=UNSEEN)
def test_what_only_replay_can_tell(sealed, name, forge):
    place = sealed(name, forge)
    assert failures(place, replay=False) == []
    assert failures(place, replay=True) == ["E_REPLAY"]


TALLIED = {
    "proved": ("PROVED", None, Verdict.PASS),
    "passed": ("PASS", None, Verdict.PASS),
    "failed": ("FAIL", None, Verdict.FAIL),
    "unknown": ("UNKNOWN", None, Verdict.INCONCLUSIVE),
    "failed as expected": ("FAIL", True, Verdict.PASS),
    "unknown as expected": ("UNKNOWN", True, Verdict.PASS),
    "proved against expectation": ("PROVED", False, Verdict.FAIL),
    "a status that does not exist": ("SURE", True, Verdict.ERROR),
}


@pytest.mark.parametrize(("status", "met", "verdict"), TALLIED.values(), ids=TALLIED)
def test_what_a_status_amounts_to(status, met, verdict):
    tally = LawTally()
    tally.add("start", {})
    tally.add("cases", {"count": 300})
    tally.add("verdict", {"verdict": {"status": status, "reason": None}})
    assert tally.verdict is Verdict.ERROR
    tally.add("end", {"met": met})
    assert (tally.verdict, tally.result()["cases"]) == (verdict, 300)
