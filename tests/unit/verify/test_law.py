"""Evidence of laws: what was forged and sealed again is caught by what the verdict rests on, or by replay."""

import copy
from pathlib import Path

import pytest

from specledger.compile.law import compile_law
from specledger.core.events import Event
from specledger.core.verdict import Verdict
from specledger.evidence.bundle import BundleWriter
from specledger.evidence.chain import run_id
from specledger.evidence.result import LawTally
from specledger.kinds import MODELS, load
from specledger.laws.candidate import bundle_of
from specledger.laws.law_question import questions_of
from specledger.laws.trial import run_law
from specledger.laws.verdict import digest_verdict
from specledger.verify.assurance_levels import Reader
from specledger.verify.bundle import verify_bundle
from specledger.verify.law import LAW
from tests.toys.claims import measured, obs

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
    """By name the bundle of specs of a law and the facts of its trial."""
    templates = {path.stem: load(path)[0] for path in sorted(Path("specs/template").glob("*.yaml"))}
    found = {}
    for name, (universe, candidate) in LAWS.items():
        specs = bundle_of({"forbidden": "x", **candidate}, load(f"specs/universe/{universe}.yaml")[0], templates)
        found[name] = specs, list(run_law(compile_law(specs)))
    return found


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
        place = tmp_path / "law"
        with BundleWriter(place, run_id(specs.digest), specs.document(), specs.digest, LAW.receipts) as writer:
            for event in facts:
                writer.add(event)
            writer.finish()
        return place

    return write


def failures(place, *, replay):
    verification = verify_bundle(place, LAW, MODELS, Reader(replay=replay))
    return [check.code for check in verification.checks if check.code is not None]


@pytest.mark.parametrize("name", LAWS)
def test_honest_evidence_is_intact(sealed, trials, name):
    place = sealed(name)
    verdict = trials[name][1][-2].body["verdict"]
    verification = verify_bundle(place, LAW, MODELS)
    assert verification.verdict == Verdict.PASS, [check for check in verification.checks if check.code]
    names = {check.name.split()[1] for check in verification.checks}
    assert ("certificate" in names) == (verdict["certificate"] is not None)
    assert ("counterexample" in names) == (verdict["status"] == "FAIL")


def test_without_replay_nothing_is_concluded(sealed):
    assert verify_bundle(sealed("conserved"), LAW, MODELS, Reader(replay=False)).verdict == Verdict.INCONCLUSIVE


def said(bodies):
    return bodies["verdict"]["verdict"]


def claim_a_proof(bodies):
    """A law that fails is said to be proved, with the certificate's form but nothing behind it."""
    said(bodies).update(
        status="PROVED",
        method="proof",
        detail=None,
        counterexample=None,
        certificate={"format": "proof/v1", "question": {}, "proof": {"kind": "current", "potential": []}},
    )


def prove_something_else(bodies):
    """The rule in the certificate's question is another one, of which the proof may well hold."""
    said(bodies)["certificate"]["question"]["rule"]["table"] = [0] * 64


def weaken_the_contract(bodies):
    said(bodies)["proved_for"] = "all rings of one cell"


def bend_the_potential(bodies):
    later = said(bodies)["certificate"]["proof"]["later"]
    later["links"][0]["potential"][1] += 1


def reach_further(bodies):
    said(bodies)["up_to"] += 1


def prove_further(bodies):
    """The rings up to a length are said to be all."""
    said(bodies).update(status="PROVED", method="proof", up_to=None, reason=None, violation_bound=None)


CERTIFICATES = {
    "a proof of what fails": ("lost", claim_a_proof),
    "another question": ("conserved", prove_something_else),
    "another contract": ("conserved", weaken_the_contract),
    "a wrong potential": ("conserved", bend_the_potential),
    "a longer reach": ("scanned", reach_further),
    "every length": ("scanned", prove_further),
}


@pytest.mark.parametrize(("name", "forge"), CERTIFICATES.values(), ids=CERTIFICATES)
def test_a_forged_proof_is_caught_without_replay(sealed, name, forge):
    assert failures(sealed(name, forge), replay=False) == ["E_CERTIFICATE"]


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
        monkeypatch.setattr("specledger.verify.law.questions_of", lambda law: questions_of(specs))
    (check,) = [
        check for check in verify_bundle(place, LAW, MODELS, Reader(replay=False)).checks if check.code is not None
    ]
    assert check.code == "E_CERTIFICATE"
    assert ("is violated at step" in (check.message or "")) == believed


def found(bodies):
    return said(bodies)["counterexample"]


def take_another_start(bodies):
    found(bodies)["start"] = "." * len(found(bodies)["start"])


def say_earlier(bodies):
    found(bodies)["t"] -= 1


def say_later(bodies):
    found(bodies)["t"] += 1


def say_never(bodies):
    found(bodies)["t"] = 10**9


def shorten_the_ring(bodies):
    found(bodies)["start"] = ">"


def break_the_preconditions(bodies):
    found(bodies)["start"] = "X" + found(bodies)["start"][1:]


def hide_the_violation(bodies):
    del found(bodies)["excerpt"]["states"][1:]
    found(bodies)["excerpt"]["from"] = 0


def change_an_observable(bodies):
    found(bodies)["observables"]["t"]["N"] += 1


def measure_something_else(bodies):
    found(bodies)["observables"]["t"] = {}


def write_nonsense(bodies):
    found(bodies)["excerpt"] = None


COUNTEREXAMPLES = {
    "an earlier step": ("lost", say_earlier),
    "a later step": ("lost", say_later),
    "a step that is not judged": ("lost", say_never),
    "too short a ring": ("lost", shorten_the_ring),
    "no start of the law": ("comes back", break_the_preconditions),
    "an excerpt of something else": ("lost", hide_the_violation),
    "another value": ("lost", change_an_observable),
    "other observables": ("lost", measure_something_else),
    "nonsense": ("lost", write_nonsense),
    "a symmetry's start": ("mirrored only", take_another_start),
    "a transition's start": ("a symbol that stays", shorten_the_ring),
}


@pytest.mark.parametrize(("name", "forge"), COUNTEREXAMPLES.values(), ids=COUNTEREXAMPLES)
def test_a_forged_counterexample_is_caught_without_replay(sealed, name, forge):
    assert failures(sealed(name, forge), replay=False) == ["E_COUNTEREXAMPLE"]


def set_(**fields):
    return lambda bodies: said(bodies).update(fields)


VERDICTS = {
    "an unknown reason": ("unknown", set_(reason="tired")),
    "another claim": ("conserved", set_(claim="true")),
    "another contract": ("conserved", set_(contract="all rings")),
    "no method": ("conserved", lambda bodies: said(bodies).pop("method")),
    "an unknown law passes": ("unknown", set_(status="PASS", reason=None, method="sample")),
}


@pytest.mark.parametrize(("name", "forge"), VERDICTS.values(), ids=VERDICTS)
def test_a_verdict_that_rests_on_nothing_is_caught_without_replay(sealed, name, forge):
    assert failures(sealed(name, forge), replay=False) == ["E_VERDICT"]


UNSEEN = {
    "more hits": ("scanned", lambda bodies: said(bodies)["power"].update(hits=10**6)),
    "a proof forgotten": ("conserved", set_(status="PASS", method="sample", certificate=None, proved_for=None)),
    "other cases": ("conserved", lambda bodies: bodies["cases"].update(digest="0" * 64)),
    "another counterexample's effort": ("lost", lambda bodies: found(bodies).update(minimised=3)),
}


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
