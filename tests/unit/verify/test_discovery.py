"""Evidence of discoveries: what was forged and sealed again is caught by what the verdicts rest on, or by replay."""

import copy

import pytest

from specledger.core.events import Event
from specledger.core.verdict import Verdict
from specledger.kinds import KINDS, load
from specledger.oracles.recording import write_answers
from specledger.run.workers import Processes
from specledger.verify.assurance_levels import Reader
from specledger.wings.discovery.coordinator import run_discovery
from specledger.wings.discovery.verify import DISCOVERY
from specledger.wings.discovery.worker import open_all
from specledger.wings.laws.verdict import digest_verdict
from specledger.wings.laws.verify.certificates import check_certificate
from tests import toys
from tests.toys.trials import remember_trials
from tests.unit.verify.conftest import write_evidence
from tests.verifying import verify_bundle

SMALL = toys.SMALL / "small.yaml"


class Recorder:
    """Asks a model, and keeps what it says."""

    def __init__(self, planned):
        self._planned, self._model, self.kept = planned, planned.open(False), []

    def ask(self, request):
        answer = self._model.ask(request)
        self.kept.append((request.turn, {"request": request.key(self._planned.identity), "answer": answer.document()}))
        return answer


@pytest.fixture(scope="module", autouse=True)
def quick():
    """Certificates are pure, too: each is checked once in this process, if it holds."""
    held = {}

    def check_once(certificate, about, holds):
        key = repr((certificate, about))
        if key not in held:
            held[key] = check_certificate(certificate, about, holds)
        return held[key]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("specledger.wings.laws.verify.verdicts.check_certificate", check_once)
        remember_trials(patch, {})
        yield


@pytest.fixture(scope="module")
def made(quick):
    """By name a discovery: its specs, its facts, and what is on its tape; `taped` asks a cassette, which is outside."""
    found = {}
    for name in ("scripted", "taped"):
        changes = [f"model={'small-cassette' if name == 'taped' else 'small-script'}"]
        bundle = load(str(SMALL), set=changes)[0]
        workbench, planned = open_all(bundle)
        script = open_all(load(str(SMALL))[0])[1]
        recorder = Recorder(script)
        found[name] = bundle, list(run_discovery(workbench, planned.identity, recorder.ask)), recorder.kept
    return found


@pytest.fixture
def sealed(made, tmp_path):
    """Writes the evidence of a discovery, after a forger had its facts and its tape in hand."""

    def write(name="scripted", forge=None, tape=None):
        bundle, events, kept = made[name]
        facts = [Event(each.type, copy.deepcopy(dict(each.body))) for each in events]
        if forge is not None:
            facts = forge(facts) or facts
        answers = copy.deepcopy(kept)
        if tape is not None:
            answers = tape(answers)
        data = b"".join(write_answers(answers)) if name == "taped" else None
        return write_evidence(tmp_path / "bundle", bundle, facts, DISCOVERY, data)

    return write


def failed(place, replay=True, workers=1):
    """The code of the check that fails, or None."""
    verification = verify_bundle(place, DISCOVERY, KINDS, Reader(replay=replay), Processes(workers))
    codes = [check.code for check in verification.checks if check.status == "failed"]
    return codes[0] if codes else None


@pytest.mark.medium
@pytest.mark.parametrize("name", ["scripted", "taped"])
def test_honest_evidence_is_intact(sealed, name):
    verification = verify_bundle(sealed(name), DISCOVERY, KINDS)
    assert verification.verdict is Verdict.PASS, verification.checks


@pytest.mark.slow
def test_replay_by_several_workers_is_the_same(sealed):
    place = sealed("taped")
    assert failed(place, workers=2) is None


def bodies(facts, type_):
    return [fact.body for fact in facts if fact.type == type_]


def named(facts, type_, law):
    return next(body for body in bodies(facts, type_) if body["law"].startswith(f"law/{law}@"))


def verdict_of(facts, law, **changes):
    """Change the verdict on a law, with its digest, and what the end and the ledger say of it."""
    body = named(facts, "law", law)
    body["verdict"] |= changes
    body["digest"] = digest_verdict(body["verdict"])
    return body["verdict"]


def refuted_is_proved(facts):
    proof = named(facts, "law", "right")["verdict"]
    verdict_of(
        facts,
        "swap",
        status="PROVED",
        method="proof",
        counterexample=None,
        certificate=proof["certificate"],
        proved_for=proof["proved_for"],
    )
    ledger = bodies(facts, "ledger")[0]
    ledger["refuted"] = [line for line in ledger["refuted"] if not line["law"].startswith("law/swap@")]


def proved_is_refuted(facts):
    swapped = named(facts, "law", "swap")["verdict"]["counterexample"]
    verdict_of(
        facts, "right", status="FAIL", method="refutation", counterexample=swapped, certificate=None, content=None
    )
    for body in bodies(facts, "escalation"):  # it says what it escalates, and that is no longer proved
        if body["law"].startswith("law/right@"):
            body["before"] = "FAIL"


def held_out_ring(facts):
    for body in bodies(facts, "escalation"):
        for held in body["held_out"]:
            if held["counterexample"] is not None:
                held["counterexample"]["t"] += 1
                return
    raise AssertionError("no counterexample under another rule")


def held_out_elsewhere(facts):
    bodies(facts, "escalation")[0]["held_out"][0]["mutant"] = 5


def held_out_nowhere(facts):
    held = bodies(facts, "escalation")[0]["held_out"][0]
    held.update(universe="universe/none@0", mutant=None, status="PASS", counterexample=None)


def other_ranking(facts):
    features = bodies(facts, "law")[1]["features"]
    features["scores"]["risk"] += 100_000
    features["overall"] += 25_000


def other_answer(facts):
    bodies(facts, "iteration")[2]["answer"]["failure"] = None


def weaker_sample(facts):
    power = copy.deepcopy(named(facts, "law", "gap")["verdict"]["power"])
    power["hits"] += 1
    verdict_of(facts, "gap", power=power)


FORGED = {
    "a refuted law is proved": (refuted_is_proved, "E_CERTIFICATE"),
    "a proved law is refuted": (proved_is_refuted, "E_COUNTEREXAMPLE"),
    "another ring under another rule": (held_out_ring, "E_COUNTEREXAMPLE"),
    "another rule": (held_out_elsewhere, "E_VERDICT"),
    "a universe that there is not": (held_out_nowhere, "E_VERDICT"),
}

REPLAYED = {
    "another ranking": other_ranking,
    "another answer": other_answer,
    "another sample": weaker_sample,
}


@pytest.mark.parametrize("name", FORGED)
def test_a_forgery_is_caught_without_replay(sealed, name):
    forge, code = FORGED[name]
    assert failed(sealed(forge=forge), replay=False) == code


@pytest.mark.medium
@pytest.mark.parametrize("name", REPLAYED)
def test_a_forgery_is_caught_by_replay(sealed, name):
    assert failed(sealed(forge=REPLAYED[name])) == "E_REPLAY"  # every check before it has passed


def changed_answer(answers):
    answers[1][1]["answer"]["text"] = answers[1][1]["answer"]["text"].replace("swap_only", "mirror_only")
    return answers


TAPES = {
    "another text": (changed_answer, "E_REPLAY"),
    "to another request": (lambda told: [(0, {**told[0][1], "request": "0" * 64}), *told[1:]], "E_TAPE_MISSING"),
    "one too many": (lambda told: [*told, (4, told[0][1])], "E_TAPE_EXTRA"),
    "out of order": (lambda told: told[::-1], "E_TAPE_FORM"),
}


@pytest.mark.parametrize("name", TAPES)
def test_a_forged_tape_is_caught(sealed, name):
    tape, code = TAPES[name]
    assert failed(sealed("taped", tape=tape)) == code
