"""The verdict on a law: a proof if there is one, else cases.

If the prover and the cases disagree, there is no verdict but an error.
"""

from __future__ import annotations

from typing import Final

from specledger.expr import EvaluationError
from specledger.wings.laws.generators import Case
from specledger.wings.laws.harness import MAX_WORK, Contradiction, present, search, try_cases, work_of
from specledger.wings.laws.law import Law
from specledger.wings.laws.law_question import MAX_CELLS, fits, questions_of, within_range
from specledger.wings.laws.power import Power, content_of
from specledger.wings.laws.proofs.prove import Tried, prove, try_rings
from specledger.wings.laws.proofs.question import (
    Answer,
    Commutes,
    Limits,
    Opaque,
    Proved,
    ProvedUpTo,
    Question,
    Refuted,
    Undecided,
)
from specledger.wings.laws.receipts import LawStatus
from specledger.wings.laws.run import State
from specledger.wings.laws.verdict import Verdict
from specledger.wings.laws.witness import Witness, find_witness

DEFAULT: Final = Limits()
ENUMERATED: Final = Limits(cells=MAX_CELLS)
"""Limits of a proof that can only try one ring after another."""


def decide(law: Law, cases: tuple[Case, ...], *, content: bool = True) -> Verdict:
    """The verdict on a law, of which these are the cases; without its content if that is not wanted."""
    if law.unknown is not None:
        return Verdict(LawStatus.UNKNOWN, "none", law.unknown.reason, law.unknown.detail)
    work = work_of(law, cases)
    if work > MAX_WORK:
        return Verdict(
            LawStatus.UNKNOWN, "none", "resource_limit", f"the law would read {work} cells, of at most {MAX_WORK}"
        )
    try:
        return _tried(law, cases, work, content)
    except EvaluationError as error:
        return Verdict(LawStatus.UNKNOWN, "sample", "evaluation_error", f"{error.code}: {error.message}")


def _tried(law: Law, cases: tuple[Case, ...], work: int, content: bool) -> Verdict:
    answer = answer_of(law)
    if isinstance(answer, Refuted):
        counterexample = present(law, answer.ring)
        return Verdict(
            LawStatus.FAIL, "refutation", detail=answer.note, proved_for=answer.contract, counterexample=counterexample
        )
    violation, power, judged = try_cases(law, cases)
    if violation is not None:
        _contradicts(law, answer, violation)
    if not isinstance(answer, Proved):
        violation = violation or search(law, cases, judged)
    witness = None if violation is not None or power.hits else find_witness(law, cases)
    if witness is not None and witness.violated:
        violation = witness.start, witness.t
        _contradicts(law, answer, violation)
    if violation is not None:
        return Verdict(LawStatus.FAIL, "sample", counterexample=present(law, violation[0]), power=power, work=work)
    seen = None if witness is None else _seen(law, witness, power)
    if isinstance(answer, Proved):
        return _proved(law, answer, seen, power, work, content)
    return _sampled(law, answer, seen, power, work, content)


def _seen(law: Law, witness: Witness, power: Power) -> str:
    start = law.universe.text(witness.start)
    if not power.usable:
        return f"none of the cases meets the preconditions, but {start!r} does"
    return f"the antecedent holds in none of the cases, but from {start!r} at step {witness.t}"


def _contradicts(law: Law, answer: Answer, violation: tuple[State, int]) -> None:
    """Raise an error if a start that violates a law is one for which the law is proved."""
    start, t = violation
    covered = isinstance(answer, Proved) or (isinstance(answer, ProvedUpTo) and len(start) <= answer.length)
    if covered:
        raise Contradiction(f"{law.name}: proved, but violated at {t} from {law.universe.text(start)!r}")


def _proved(law: Law, answer: Proved, seen: str | None, power: Power, work: int, content: bool) -> Verdict:
    """A proof decides, unless there was nothing for the law to say."""
    reason = None if power.hits or seen else "vacuous_pass" if power.usable else "unmet_preconditions"
    return Verdict(
        LawStatus.PROVED if reason is None else LawStatus.UNKNOWN,
        "proof",
        reason=reason,
        detail=seen if reason is None else _NOTHING_SAID[reason],
        certificate=answer.certificate,
        proved_for=answer.contract,
        power=power,
        content=content_of(law) if content and reason is None else None,
        work=work,
    )


_NOTHING_SAID: Final = {
    "vacuous_pass": "there is a proof, but the antecedent holds in none of the cases",
    "unmet_preconditions": "there is a proof, but no start was found that meets the preconditions",
}


def _sampled(
    law: Law, answer: ProvedUpTo | Undecided, seen: str | None, power: Power, work: int, content: bool
) -> Verdict:
    up_to = answer if isinstance(answer, ProvedUpTo) else None
    weakness = power.weakness(law.trial)
    if weakness == "vacuous_pass" and seen is not None:
        weakness = "inconclusive_low_power"
    return Verdict(
        LawStatus.PASS if weakness is None else LawStatus.UNKNOWN,
        "sample",
        reason=weakness,
        detail=answer.why if seen is None else f"{seen}; {answer.why}",
        certificate=None if up_to is None else up_to.certificate,
        proved_for=None if up_to is None else up_to.contract,
        up_to=None if up_to is None else up_to.length,
        power=power,
        content=content_of(law) if content and weakness is None else None,
        work=work,
    )


def answer_of(law: Law) -> Answer:
    """What the prover says of a law: about rings of every length, or of the universe's lengths alone.

    A law whose integers may leave 64 bits is asked about as whole runs alone, because proofs count without bounds. A
    question is about every step from the start, so if a law is judged from a later one, only a proof answers it.

    Raises:
        EvaluationError: An integer leaves 64 bits on one of few rings that are all tried.
    """
    if law.unknown is not None:
        return Undecided(law.unknown.detail, law.contract)
    bounded = fits(law)
    answer: Answer = Undecided(_NOT_ASKED if bounded else "its integers may leave 64 bits", law.contract)
    for asked in questions_of(law):
        if asked.whole:
            return try_rings(asked.question, ENUMERATED)
        if not bounded:
            continue
        answer = _answered(asked.question, law)
        later = law.template.first > 0 and not isinstance(asked.question.claim, Commutes)
        if isinstance(answer, Refuted) and (later or not asked.exact):
            weaker = "the shortest wait alone" if law.H_cells else "starts that do not meet the preconditions"
            which = "the start" if later else weaker
            answer = Undecided(f"the claim does not hold for {which}", law.contract)
        if isinstance(answer, Proved | Refuted):
            break
    return answer


_NOT_ASKED: Final = "the claim reads a fixed step other than 0, or is about single cells in a form that has no proof"


def _answered(question: Question, law: Law) -> Answer:
    opaque = isinstance(question.claim, Opaque)
    limits = ENUMERATED if opaque else DEFAULT
    longest = law.universe.longest
    tried: Tried = {}
    answer = prove(question, limits, tried)
    if isinstance(answer, Proved) or (isinstance(answer, Refuted) and len(answer.ring) <= longest):
        return answer
    covers = isinstance(answer, ProvedUpTo) and answer.length >= longest
    if opaque and not covers and not isinstance(answer, Refuted):
        return answer  # ring by ring: a narrower range would be the same search again
    narrower = prove(within_range(question, law), limits, tried)
    if isinstance(narrower, Refuted) and len(narrower.ring) > longest:
        return Undecided(f"only rings of more than {longest} cells are known to violate it", law.contract)
    return narrower
