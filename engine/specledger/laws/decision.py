"""The verdict on a law: a proof if there is one, else cases.

If the prover and the cases disagree, there is no verdict but an error.
"""

from __future__ import annotations

from typing import Final

from specledger.expr import EvaluationError
from specledger.laws.generators import Case
from specledger.laws.harness import MAX_WORK, Contradiction, present, search, try_cases, work_of
from specledger.laws.law import Law
from specledger.laws.law_question import fits, questions_of, within_range
from specledger.laws.power import Power, content_of
from specledger.laws.proofs.prove import Tried, prove
from specledger.laws.proofs.question import (
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
from specledger.laws.verdict import Verdict

DEFAULT: Final = Limits()
ENUMERATED: Final = Limits(cells=100_000)
"""Limits of a proof that can only try one ring after another."""


def decide(law: Law, cases: tuple[Case, ...], *, content: bool = True) -> Verdict:
    """The verdict on a law, of which these are the cases; without its content if that is not wanted."""
    if law.unknown is not None:
        return Verdict("UNKNOWN", "none", law.unknown.reason, law.unknown.detail)
    work = work_of(law, cases)
    if work > MAX_WORK:
        return Verdict("UNKNOWN", "none", "resource_limit", f"the law would read {work} cells, of at most {MAX_WORK}")
    try:
        return _tried(law, cases, work, content)
    except EvaluationError as error:
        return Verdict("UNKNOWN", "sample", "evaluation_error", f"{error.code}: {error.message}")


def _tried(law: Law, cases: tuple[Case, ...], work: int, content: bool) -> Verdict:
    answer = answer_of(law)
    if isinstance(answer, Refuted):
        found = present(law, answer.ring)
        return Verdict("FAIL", "refutation", detail=answer.note, proved_for=answer.contract, counterexample=found)
    violation, power, judged = try_cases(law, cases)
    if violation is not None and isinstance(answer, Proved | ProvedUpTo):
        start, t = violation
        if isinstance(answer, Proved) or len(start) <= answer.length:
            raise Contradiction(f"{law.name}: proved, but violated at {t} from {law.universe.text(start)!r}")
    if isinstance(answer, Proved):
        return _proved(law, answer, power, work, content)
    violation = violation or search(law, cases, judged)
    if violation is not None:
        return Verdict("FAIL", "sample", counterexample=present(law, violation[0]), power=power, work=work)
    return _sampled(law, answer, power, work, content)


def _proved(law: Law, answer: Proved, power: Power, work: int, content: bool) -> Verdict:
    """A proof decides, unless there was nothing for the law to say."""
    reason = None if power.hits else "vacuous_pass" if power.usable else "unmet_preconditions"
    return Verdict(
        "PROVED" if reason is None else "UNKNOWN",
        "proof",
        reason=reason,
        detail=None if reason is None else _NOTHING_SAID[reason],
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


def _sampled(law: Law, answer: ProvedUpTo | Undecided, power: Power, work: int, content: bool) -> Verdict:
    up_to = answer if isinstance(answer, ProvedUpTo) else None
    weakness = power.weakness(law.trial)
    return Verdict(
        "PASS" if weakness is None else "UNKNOWN",
        "sample",
        reason=weakness,
        detail=answer.why,
        certificate=None if up_to is None else up_to.certificate,
        proved_for=None if up_to is None else up_to.contract,
        up_to=None if up_to is None else up_to.length,
        power=power,
        content=content_of(law) if content and weakness is None else None,
        work=work,
    )


def answer_of(law: Law) -> Answer:
    """What the prover says of a law: about rings of every length, or of the universe's lengths alone.

    A law whose integers may leave 64 bits is not asked about, because proofs count without bounds. A question is about
    every step from the start, so if a law is judged from a later one, only a proof answers it.
    """
    if law.unknown is not None:
        return Undecided(law.unknown.detail, law.contract)
    if not fits(law):
        return Undecided("its integers may leave 64 bits", law.contract)
    answer: Answer = Undecided(_NOT_ASKED, law.contract)
    for asked in questions_of(law):
        answer = _answered(asked.question, law)
        later = law.template.first > 0 and not isinstance(asked.question.claim, Commutes)
        if isinstance(answer, Refuted) and (later or not asked.exact):
            weaker = "the shortest wait alone" if law.H_cells else "starts that do not meet the preconditions"
            which = "the start" if later else weaker
            answer = Undecided(f"the claim does not hold for {which}", law.contract)
        if isinstance(answer, Proved):
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
