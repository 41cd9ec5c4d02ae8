"""Whether the receipt of a probe agrees with itself and with the probe's spec: verdict, cause, answers and counts.

What an agent answered is recorded and only replay makes it again; what follows from the answers is recomputed here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, Final

from specledger.core.causes import Cause
from specledger.core.verdict import Verdict
from specledger.evidence.receipts.kernel import Explanation, ProbeEvidence, Trial
from specledger.evidence.receipts.kernel import Probe as ProbeReceipt
from specledger.expr import EvaluationError
from specledger.spec.base import QFIXED_ONE
from specledger.verify.checks import E_STATE, Broken, equal, require, require_equal
from specledger.wings.kernel.probes.check import Probe
from specledger.wings.kernel.probes.judgement import agrees, counted_once, doubted, looks_of
from specledger.wings.kernel.spec.probe import Challenge

_DEMANDED: Final = {"revealed": "reveal", "trace": "trace", "restated": "restate"}
"""Fields of evidence, each with the demand that it is there for."""

_NOT_OFFERED: Final = frozenset(
    {Cause.NO_TOKEN, Cause.NOT_APPLICABLE, Cause.NO_PROPOSAL, Cause.AGENT_FAULT, Cause.NOT_REPEATABLE}
)
"""Why an offer could not be made."""


_NOT_EXPLAINED: Final[Explanation] = {"here": "", "asked": 0, "changed": 0}


def check_probe(body: ProbeReceipt, probes: Sequence[Probe], *, outside: bool) -> None:
    """Check the receipt of a probe against those of the run's probes that have its name.

    `outside` says whether a program or a model was asked.

    Raises:
        Broken: E_STATE, if it agrees with none.
        KeyError, TypeError: It is malformed.
    """
    named = [probe for probe in probes if probe.spec.name == body["probe"]]
    require(named, f"the run has no probe {body['probe']!r:.80}", E_STATE)
    errors: list[Broken] = []
    for probe in named:
        try:
            _check(body, probe, outside=outside)
        except Broken as broken:
            errors.append(broken)
        else:
            return
    raise errors[0]


def _check(body: ProbeReceipt, probe: Probe, *, outside: bool) -> None:
    what = f"the probe {probe.spec.name} at t = {body['t']}"
    require_equal(body, {"at": probe.spec.at}, what, E_STATE)
    verdict, evidence = body["verdict"], body["evidence"]
    cause: Any = body["cause"]
    if verdict == Verdict.ERROR:
        require(isinstance(cause, str) and cause and not evidence, f"{what} has an error and evidence", E_STATE)
        return
    challenge = probe.spec.challenge
    if challenge is None:
        holds = _offer_agrees(verdict, cause, evidence, probe)
    elif "trials" not in evidence:
        holds = not evidence.keys() - {"unread"} and agrees(verdict, cause, evidence, challenge)
    else:
        require(_is_whole(evidence, challenge, outside=outside), f"{what} has other answers than it asks for", E_STATE)
        for number, trial in enumerate(evidence["trials"]):
            require(_held(trial, evidence, probe), f"{what} records another outcome of answer {number}", E_STATE)
        holds = agrees(verdict, cause, evidence, challenge)
    require(holds, f"{what} has a verdict, a cause or figures that its evidence does not give", E_STATE)


_OF_OFFERS: Final = {"does", "breaches", "plain", "paid", "taken", "denied", "reasons"}


def _offer_agrees(verdict: str, cause: str, evidence: ProbeEvidence, probe: Probe) -> bool:
    """Whether what the kernel answered gives the verdict of an offer."""
    offer = probe.spec.offer
    assert offer is not None  # noqa: S101 - a probe without a challenge has one
    if not evidence:
        return verdict == Verdict.INCONCLUSIVE and cause in _NOT_OFFERED
    reasons = evidence["reasons"]
    taken: Any = evidence["taken"]
    denied: Any = evidence["denied"]
    fits = evidence.keys() == _OF_OFFERS and equal(
        [evidence["does"], evidence["breaches"]], [offer.does, offer.breaches]
    )
    if not fits or not isinstance(taken, bool) or isinstance(denied, bool) is not taken:
        return False
    breached = offer.breaches in reasons
    if not taken and reasons:
        return not breached and (verdict, cause) == (Verdict.INCONCLUSIVE, Cause.UNRELATED)
    if taken and not breached:
        return (verdict, cause) == (Verdict.FAIL, Cause.UNDENIED)
    try:
        holds = probe.expect({"taken": taken, "denied": denied or not taken, "logged": True})
    except EvaluationError:
        return False
    return (verdict, cause) == ((Verdict.PASS, "") if holds else (Verdict.FAIL, Cause.TAKEN))


def _is_whole(evidence: ProbeEvidence, challenge: Challenge, *, outside: bool) -> bool:
    """Whether there is what the probe asks for and demands: no more and no fewer questions, and nothing left out."""
    null, trials, placebo = evidence["null"], evidence["trials"], evidence["placebo"]
    explained = evidence.get("explanation", _NOT_EXPLAINED)
    arms = ((null, None), (placebo, challenge.arms.placebos), (explained, challenge.explain))
    counted = all(
        type(arm["asked"]) is type(arm["changed"]) is int
        and 0 <= arm["changed"] <= arm["asked"]
        and (most is None or arm["asked"] <= most)
        for arm, most in arms
    )
    promised = True if outside and evidence["deterministic"] and challenge.ask == "agent" else None
    noisy = None if counted_once(evidence) else challenge.noisy.model_dump()
    demanded = all((name in evidence) == (word in challenge.demand) for name, word in _DEMANDED.items())
    stated = evidence["of"] == challenge.of and equal(evidence.get("noisy"), noisy) and demanded
    stated = stated and evidence.get("promised") is promised
    asked = Counter((trial["drawn"], trial.get("by", "")) for trial in trials)
    drawn = {number for number, _ in asked}
    fits = 1 <= len(drawn) <= (1 if challenge.of == "declared" else challenge.draw.most)
    questions = (null["asked"], *{*asked.values()})  # each change as often as the others
    return counted and stated and fits and _questions(evidence, challenge, len(asked)) == questions


def _questions(evidence: ProbeEvidence, challenge: Challenge, changes: int) -> tuple[int, int]:
    """How often the same question was asked again, and how often each change was asked about."""
    same_, repeats, noisy = max(1, challenge.arms.same), challenge.repeats, challenge.noisy
    if challenge.test.most is not None:
        blocks = looks_of(challenge, changes)[evidence["test"]["made"] - 1]
        return blocks * same_, blocks * repeats
    if evidence["deterministic"] and not evidence["null"]["changed"] and not doubted(evidence):
        return same_, repeats
    return max(same_, noisy.same), max(repeats, noisy.repeats)


def _held(trial: Trial, evidence: ProbeEvidence, probe: Probe) -> bool:
    """Whether an answer is recorded to hold as the probe's `expect` says, if that reads choices alone."""
    challenge, after = probe.spec.challenge, trial["after"]
    expected: Any = trial["held"]
    assert challenge is not None  # noqa: S101 - the caller looked
    if after is None or expected is None:
        return after is None and expected is None
    declared = trial["declared"]
    if challenge.of != "declared" and after != declared:
        return False  # two names of one answer
    if type(confidence := trial.get("confidence", 0)) is not int or not 0 <= confidence <= QFIXED_ONE:
        return False
    if not isinstance(expected, bool) or "score" in probe.spec.expect:
        return isinstance(expected, bool)
    before = after if challenge.of == "declared" else evidence["before"]
    choices = {"before": before, "after": after, "declared": declared}
    values: dict[str, Any] = {name: {"choice": choice, "score": 0} for name, choice in choices.items()}
    claim = {"variable": trial["variable"], "choice": trial["predicted"]}
    try:
        return probe.expect({**values, "claim": claim}) is expected
    except EvaluationError:
        return False
