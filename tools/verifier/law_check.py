"""Verdicts on laws: that each is about its law and fits itself, that what it rests on holds, and that trying the law
again gives the same figures.

Proofs are checked and not looked for: whether a prover could have said more is left open, and said.
"""

import json
import re

from tools.verifier.basis import CRASHES, Open, Refuted, demand, guarded, tagged, write
from tools.verifier.certificate import check_certificate
from tools.verifier.certificate_claim import ProofQuestion
from tools.verifier.law_ask import AskedLaw, question_contract
from tools.verifier.law_cases import law_cases, law_cases_digest
from tools.verifier.law_quantity import IntegerLost
from tools.verifier.law_read import RingLaw
from tools.verifier.law_try import (
    LAW_LIMIT_CELLS,
    Trial,
    Tried,
    counterexample_of,
    law_content,
    law_work,
    presented,
)

LAW_STATUSES = ("PROVED", "PASS", "FAIL", "UNKNOWN")
LAW_REASONS = (
    "missing_observable",
    "missing_transform",
    "missing_generator",
    "ambiguous_claim",
    "unmet_preconditions",
    "vacuous_pass",
    "inconclusive_low_power",
    "resource_limit",
    "evaluation_error",
)
SMALLEST_NOTE = "no smaller ring fails: all were tried"
BUILT_NOTE = re.compile(r"built from a circulation; of shorter rings, those of up to ([0-9]{1,4}) cells were all tried")
MOST_RINGS_AGAIN = 400_000
EMPTY_VERDICT = {
    **dict.fromkeys(("reason", "detail", "proved_for", "up_to", "certificate", "counterexample", "power")),
    **dict.fromkeys(("violation_bound", "content")),
    "work": 0,
}


def law_of(specs, key):
    """The law of a key among specs by key."""
    demand(isinstance(specs.get(key), dict), "E_SPECS", f"there is no law {key}")
    try:
        return RingLaw(specs, key)
    except CRASHES as error:
        raise Open("E_SPECS", f"this file cannot read the law: {error!r}"[:200]) from None


def law_about(law):
    """What a verdict on a law repeats of it."""
    return {
        "law": law.name,
        "key": law.key,
        "universe": law.universe.key,
        "template": law.form,
        "claim": law.said,
        "forbidden": law.forbidden,
        "contract": law.contract,
    }


def check_verdict(law, verdict):
    """See that a verdict is about a law and fits itself, and that its certificate or counterexample holds."""
    guarded(lambda: check_said(law, verdict), "E_VERDICT")
    if verdict["certificate"] is not None:
        guarded(lambda: check_law_proof(law, verdict), "E_CERTIFICATE")
    if verdict["counterexample"] is not None:
        guarded(lambda: check_counterexample(law, verdict["counterexample"]), "E_COUNTEREXAMPLE")


def check_said(law, verdict):
    """See that a verdict is about a law, and that its status rests on what it must rest on."""
    for name, value in law_about(law).items():
        same = write(verdict[name]) == write(value)
        demand(same, "E_VERDICT", f"its {name} is not that of the recorded specs")
    status, reason = verdict["status"], verdict["reason"]
    known = status in LAW_STATUSES and reason in (None, *LAW_REASONS) and (status == "UNKNOWN") == (reason is not None)
    demand(known, "E_VERDICT", f"{status!r} has the reason {reason!r}")
    refuted, proved = verdict["counterexample"] is not None, verdict["certificate"] is not None
    demand((status == "FAIL") == refuted, "E_VERDICT", f"{status} and its counterexample do not go together")
    rests = proved and verdict["method"] == "proof"
    demand(status != "PROVED" or rests, "E_VERDICT", "PROVED rests on no certificate")
    demand(not (status == "FAIL" and proved), "E_VERDICT", "FAIL has a certificate that the law holds")
    power = verdict["power"]
    says = proved or (isinstance(power, dict) and power["usable"] and power["hits"])
    demand(status != "PASS" or says, "E_VERDICT", "PASS rests on no case that says anything")


def check_law_proof(law, verdict):
    """See that a certificate proves what the law asks, and reaches as far as the verdict says."""
    asked, held, code = AskedLaw(law), verdict["certificate"], "E_CERTIFICATE"
    demand(asked.facts is not None, code, "the law asks nothing that could be proved")
    question = asked.facts
    if isinstance(held, dict) and write(held.get("question")) == write(asked.within_range()):
        question = asked.within_range()
    try:
        up_to = check_certificate(held, question, asked.holds if question["claim"]["kind"] == "opaque" else None)
    except IntegerLost:
        raise Refuted(code, "an integer of the claim leaves 64 bits") from None
    reaches = write(up_to) == write(verdict["up_to"]) and (up_to is None or verdict["status"] != "PROVED")
    demand(reaches, code, "it proves the law for other rings than the verdict says")
    same = verdict["proved_for"] == question_contract(question)
    demand(same, code, f"it is about {question_contract(question)}, the verdict says otherwise")


def check_counterexample(law, recorded):
    """Evolve a counterexample again: a start of the law, violated at its step and at none before, told as it is."""
    code, marks, universe = "E_COUNTEREXAMPLE", law.universe.alphabet, law.universe
    text, t = recorded["start"], recorded["t"]
    shaped = isinstance(text, str) and universe.shortest <= len(text) <= universe.longest
    demand(shaped and set(text) <= {marks[one] for one in law.starts}, code, "its start is no start of the law")
    demand(type(t) is int and law.first <= t <= law.last, code, f"step {t!r} is not judged")
    start = bytes(marks.index(one) for one in text)
    try:
        tried = Tried(law, start)
        demand(tried.usable(), code, "its start does not meet the preconditions")
        found = tried.looked(law.first, t)[1]
        demand(found == t, code, f"the law holds at step {t}" if found is None else f"it is violated at step {found}")
        made = counterexample_of(law, start, t, None)
    except IntegerLost:
        raise Refuted(code, "an integer of the claim leaves 64 bits") from None
    excerpt, whole = recorded["excerpt"], [universe.text(one) for one in tried.states]
    begin, shown = excerpt["from"], excerpt["states"]
    seen = type(begin) is int and isinstance(shown, list) and 0 <= begin <= t < begin + len(shown)
    demand(seen and shown == whole[begin : begin + len(shown)], code, "the excerpt is not what happens")
    same = write(recorded["observables"]) == write(made["observables"])
    demand(same, code, "the observables are not what is measured")


def replay_verdict(law, verdict, cases):
    """Try a law again and compare every figure of its verdict.

    Args:
        law: The law.
        verdict: What is recorded; it was checked before.
        cases: The cases of the law.

    Returns:
        Sentences that say what was not made again.
    """
    try:
        made, notes = remade_verdict(law, verdict, cases)
    except CRASHES as error:
        raise Open("E_REPLAY", f"this file cannot try the law again: {error!r}"[:200]) from None
    whole = {**law_about(law), **EMPTY_VERDICT, **made}
    for name in sorted({*whole, *verdict}):
        same = name in whole and name in verdict and write(whole[name]) == write(verdict[name])
        shown = write(verdict.get(name)).decode()[:60], write(whole.get(name)).decode()[:60]
        demand(same, "E_REPLAY", f"{name} of the verdict: recorded {shown[0]}, made {shown[1]}")
    return notes


def remade_verdict(law, verdict, cases, told=True):
    """What a verdict must hold, as far as it is no mere description of its law; and what was not made again.

    Where it is not told, how many other rules break a law is computed only if an integer may be lost on the way.
    """
    if law.unknown is not None:
        return {"status": "UNKNOWN", "method": "none", "reason": law.unknown[0], "detail": law.unknown[1]}, []
    work = law_work(law, cases)
    if work > LAW_LIMIT_CELLS:
        detail = f"the law would read {work} cells, of at most {LAW_LIMIT_CELLS}"
        return {"status": "UNKNOWN", "method": "none", "reason": "resource_limit", "detail": detail}, []
    if verdict["method"] == "refutation":
        return remade_refutation(law, verdict)
    try:
        return remade_trial(law, verdict, Trial(law, cases), work, told)
    except IntegerLost:
        lost = {"reason": "evaluation_error", "detail": "E_EVAL_OVERFLOW"}
        return {"status": "UNKNOWN", "method": "sample", **lost}, []


def remade_trial(law, verdict, trial, work, told):
    """What a trial leads to, with a proof or without one."""
    found = trial.violation()
    made, notes = {"power": trial.power, "work": work}, []
    if verdict["method"] == "proof":
        demand(found is None, "E_CERTIFICATE", "the law is proved, and one of its cases violates it")
        reason = None if trial.power["hits"] else "vacuous_pass" if trial.power["usable"] else "unmet_preconditions"
        made.update(method="proof", status="UNKNOWN" if reason else "PROVED", reason=reason)
        made.update(certificate=verdict["certificate"], proved_for=verdict["proved_for"])
    else:
        found = found or trial.searched()
        if found is not None:
            return {**made, "status": "FAIL", "method": "sample", "counterexample": presented(law, found)}, notes
        notes.append("whether a prover could have decided the law")
        reason = trial.weakness()
        made.update(method="sample", status="UNKNOWN" if reason else "PASS", reason=reason)
        made["violation_bound"] = None if reason else trial.bound()
        if verdict["certificate"] is not None:
            demand(isinstance(verdict["detail"], str), "E_REPLAY", "why no proof reaches further is not said")
            made.update({name: verdict[name] for name in ("certificate", "proved_for", "up_to", "detail")})
    made["content"] = law_content(law) if not reason and (told or not law.fitting) else None
    return made, notes


def remade_refutation(law, verdict):
    """A refutation that a prover found: its ring is looked for again where all smaller ones were tried."""
    asked, detail, recorded = AskedLaw(law), verdict["detail"], verdict["counterexample"]
    demand(asked.facts is not None, "E_REPLAY", "the law asks nothing that could be refuted")
    contracts = [question_contract(one) for one in (asked.facts, asked.within_range())]
    demand(verdict["proved_for"] in contracts, "E_REPLAY", "the refutation is about other rings")
    made = {"status": "FAIL", "method": "refutation", "detail": detail, "proved_for": verdict["proved_for"]}
    law.fitting = law.fits(law.claim) is not None and law.fits(law.where) is not None
    demand(law.fitting, "E_REPLAY", "a law whose integers may leave 64 bits is given to no prover")
    built = BUILT_NOTE.fullmatch(detail) if isinstance(detail, str) else None
    demand(detail == SMALLEST_NOTE or built, "E_REPLAY", "how the refutation was found is not said")
    question = ProofQuestion(asked.facts, asked.holds if asked.facts["claim"]["kind"] == "opaque" else None)
    longest = int(built[1]) if built else len(recorded["start"])
    symbols, notes = len(question.start), []
    for length in range(question.shortest, longest + 1):
        if symbols**length * length > MOST_RINGS_AGAIN * length:
            notes.append("that no smaller ring violates the law")
            break
        failing = question.failing(length)
        if failing is not None:
            demand(not built, "E_REPLAY", f"a ring of {length} cells violates the law, and was said not to")
            return {**made, "counterexample": presented(law, failing[0])}, notes
    demand(built or notes, "E_REPLAY", "no ring of that length violates the law")
    notes.append("how the counterexample was made small")
    return {**made, "counterexample": counterexample_of_text(law, recorded)}, notes


def counterexample_of_text(law, recorded):
    """A recorded counterexample, told again; how many candidates were judged is believed."""
    start = bytes(law.universe.alphabet.index(one) for one in recorded["start"])
    demand(type(recorded["minimised"]) is int, "E_REPLAY", "how many candidates were judged is no number")
    return counterexample_of(law, start, Tried(law, start).judged()[2], recorded["minimised"])


def law_receipts(specs, recorded):
    """The receipts of a trial, made again: [(type, body)], and what was not made again.

    Args:
        specs: The document of specs.
        recorded: The receipts that there are: [(type, body)], in the order that they must have.
    """
    key, bodies = specs["root"], dict(recorded)
    law, said = law_of(specs["specs"], key), bodies["verdict"]["verdict"]
    check_verdict(law, said)
    cases = [] if law.unknown is not None else law_cases(law)
    notes = replay_verdict(law, said, cases)
    families = {}
    for family, _ in cases:
        families[family] = families.get(family, 0) + 1
    start = {"kind": "law", "law": law.name, "digest": key.rpartition("@")[2], "universe": law.universe.key}
    start.update(specs=tagged("specs", write(specs)), template=law.form, seed=law.seed, warnings=sorted(law.warnings))
    made = [("start", start)]
    if cases:
        digest = law_cases_digest(law, cases)
        made.append(("cases", {"digest": digest, "count": len(cases), "families": families}))
    expected = law.data.get("expect")
    made.append(("verdict", {"verdict": said, "digest": tagged("law-verdict", write(said)), "expected": expected}))
    met = None if expected is None else all(said[name] == value for name, value in expected.items())
    return [*made, ("end", {"status": said["status"], "met": met})], notes


def replay_law(specs, recorded):
    """See that the receipts of a law's trial are those that its specs lead to; give back what was not made again."""
    made, notes = law_receipts(specs, recorded)
    for place, ((kind, body), (was, held)) in enumerate(zip(made, recorded)):
        shown = {**held, "warnings": sorted(held["warnings"])} if was == "start" else held
        same = kind == was and body.keys() == shown.keys()
        code = "E_VERDICT" if kind in ("verdict", "end") else "E_REPLAY"
        demand(same, code, f"receipt {place} is not what the specs lead to")
        for name in body:
            told = write(shown[name]) == write(body[name])
            demand(told, code, f"receipt {place}, {name}: another than the specs lead to")
    demand(len(made) == len(recorded), "E_REPLAY", "there are other receipts than the specs lead to")
    return notes


def law_again(bundle):
    """Try the law of a bundle again; what was not made again joins what the bundle says so of."""
    receipts = map(json.loads, bundle.lines())
    bundle.unmade += replay_law(bundle.specs, [(one["type"], one["body"]) for one in receipts])
