"""Challenges: another state, the agent asked again, and its answer compared with what it stated.

An agent without a usable claim abstains, which is inconclusive. So is a change that changes nothing, or that no edit
brings about. The null arm asks the same question again, the placebo arm changes what no claim names and is reported.
What the answers amount to is said in `judgement`.

Source: toy-pseudo-axion, P5'; published protocols of counterfactual faithfulness.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from specledger.core.calibration import VAGUE
from specledger.core.causes import Cause
from specledger.core.rng import Stream
from specledger.core.verdict import Verdict
from specledger.evidence.receipts import typed
from specledger.evidence.receipts.kernel import Asked, Noisy, Placebo, ProbeEvidence, TraceReplay, Trial
from specledger.wings.kernel.probes.aims import Aim, changes_of_unread, draw_aims, find_aims
from specledger.wings.kernel.probes.check import Probe
from specledger.wings.kernel.probes.judgement import (
    PREDICTIONS,
    Judgement,
    counted_once,
    doubted,
    follows_declared,
    judge,
    looks_of,
    may_draw_there,
    millionths,
    miss_of,
    weigh,
)
from specledger.wings.kernel.probes.outcome import Outcome
from specledger.wings.kernel.probes.target import Answer, ProbeTarget, RecordedTarget, Situation
from specledger.wings.kernel.spec.probe import Challenge as ChallengeSpec
from specledger.wings.kernel.spec.probe import compares_with_declared

_NOTHING = Answer("", 0)
"""The answer of an agent that proposes nothing."""


def make_challenge(probe: Probe, target: ProbeTarget, situation: Situation, stream: Stream) -> Outcome:
    """Challenge the agent.

    With `on: fresh` only the draws depend on the situation.
    """
    spec = probe.spec.challenge
    assert spec is not None  # noqa: S101 - the caller looked
    if compares_with_declared(spec) and not target.declares:
        return Outcome(Verdict.INCONCLUSIVE, Cause.UNDECLARED)
    if spec.on == "fresh":
        situation = target.fresh(stream.integer(0, 2**31 - 1))
    before = target.choose(situation, 0)
    if before is None:
        return Outcome(Verdict.INCONCLUSIVE, Cause.NO_PROPOSAL)
    document = {"trace": {"causal_claims": []}} if spec.edit else target.document(situation)
    if not target.valid(document):
        return Outcome(Verdict.INCONCLUSIVE, Cause.ABSTAINED)
    aims, unread = find_aims(spec, target, situation, document, stream)
    details = {"unread": unread} if unread else {}
    if not aims:
        cause = Cause.NO_AIM if spec.of == "unused" or not (details or spec.of == "claims") else Cause.ABSTAINED
        return Outcome(Verdict.INCONCLUSIVE, cause, details)
    drawn = draw_aims(spec, aims, target, situation.state, stream)
    return _Asking(probe, spec, target, situation, before).outcome(drawn, document, stream, details)


_Change = tuple[Aim, dict[str, Any], Any]


class _Asking:
    """One challenge under way: what was asked and answered so far is in its evidence."""

    def __init__(
        self, probe: Probe, spec: ChallengeSpec, target: ProbeTarget, situation: Situation, before: Answer
    ) -> None:
        self._probe = probe
        self._spec = spec
        self._target = target
        self._situation = situation
        self._before = before
        self._asked = 0
        self._trials: list[Trial] = []
        self._null: Asked = {"asked": 0, "changed": 0}
        self._others: set[str] = set()
        self._evidence: ProbeEvidence = {
            "of": spec.of,
            "deterministic": target.deterministic,
            **({"promised": True} if target.deterministic and target.promised and spec.ask == "agent" else {}),
            "before": before.choice,
            "trials": self._trials,
            "null": self._null,
        }

    def outcome(self, drawn: list[Aim], document: Any, stream: Stream, details: Mapping[str, Any]) -> Outcome:
        spec, evidence = self._spec, self._evidence
        looks, changes = looks_of(spec, len(drawn)), [self._change(aim) for aim in drawn]
        done = blocks = 0
        while done < len(looks) and not (done and self._is_over()):
            while blocks < looks[done]:
                self._block(changes)
                blocks += 1
            done += 1
        evidence.update(typed(ProbeEvidence, details))
        evidence["placebo"] = typed(Placebo, self._placebo(drawn, document, stream))
        self._explain(stream)
        if not counted_once(evidence):
            evidence["noisy"] = typed(Noisy, spec.noisy.model_dump())
        self._demand(drawn, document)
        judgement: Judgement = judge(evidence, spec)
        if spec.test.most is not None:
            evidence["test"] = {"looks": len(looks), "made": done, "p": millionths(judgement.p)}
        evidence["answers"] = judgement.answers.value
        return Outcome(judgement.verdict, judgement.cause, evidence)

    def _is_over(self) -> bool:
        """Whether further questions change nothing: it is decided, or the answers would be the same again."""
        untried = all(trial["held"] is None for trial in self._trials)
        return (
            untried
            or counted_once(self._evidence)
            or weigh(self._evidence, self._spec).verdict is not Verdict.INCONCLUSIVE
        )

    def _block(self, changes: list[_Change]) -> None:
        """Ask the null arm, then about each change, as often as the probe says.

        With one block only, an agent whose answers may differ is asked as often as `noisy` says; one that only says
        that they do not differ is so after a miss.
        """
        spec, null = self._spec, self._null
        self._again(max(1, spec.arms.same))
        drawing = not self._target.deterministic or null["changed"] > 0
        asked = 0 if spec.test.most is None and drawing else spec.repeats
        self._try(changes, range(asked))
        if spec.test.most is None and (drawing or doubted(self._evidence)):
            self._again(spec.noisy.same - null["asked"])
            self._try(changes, range(asked, max(spec.repeats, spec.noisy.repeats)))

    def _try(self, changes: list[_Change], numbers: range) -> None:
        """Ask about each change, once for each number."""
        self._trials += [typed(Trial, self._trial(*change, number)) for change in changes for number in numbers]

    def _again(self, times: int) -> None:
        """Ask the same question again."""
        answers = [self._ask(self._situation.state) for _ in range(times)]
        self._null["asked"] += len(answers)
        others = [answer.choice for answer in answers if answer.choice != self._before.choice]
        self._null["changed"] += len(others)
        self._others.update(others)
        if self._others:
            self._null["others"] = len(self._others)

    def _ask(self, state: Any) -> Answer:
        self._asked += 1
        return self._target.choose(self._situation._replace(state=state), self._asked) or _NOTHING

    def _change(self, aim: Aim) -> _Change:
        """What an aim changes: the record of it, and the state to ask in; None where nothing is changed."""
        trial: dict[str, Any] = {"drawn": aim.drawn, "variable": aim.variable, "value": aim.value}
        trial |= {"predicted": aim.choice}
        trial |= {"direction": aim.direction, "by": aim.by} if aim.direction else {}
        trial |= {} if aim.confidence is None else {"confidence": aim.confidence}
        state: Any = self._situation.state
        if aim.by == VAGUE:
            trial |= {"by": "agent", "edit": None, "after": None, "reason": VAGUE, "held": None}
            return aim, trial, None
        if not aim.variable:
            return aim, trial, state
        mutation = self._target.mutate(state, aim.variable, aim.value)
        if mutation is None or not mutation[1]["changed"]:
            reason = "unreachable" if mutation is None else "unchanged"
            return aim, {**trial, "edit": None, "after": None, "reason": reason, "held": None}, None
        return aim, {**trial, "edit": {"by": mutation[1]["by"], "changed": sorted(mutation[1]["changed"])}}, mutation[0]

    def _trial(self, aim: Aim, trial: dict[str, Any], state: Any, number: int) -> dict[str, Any]:
        """The answer to one change; `held` is None where nothing was changed.

        Where nothing is changed but the declared procedure is run, the first answer is the choice that was made.
        """
        if state is None:
            return trial
        there, before = self._situation._replace(state=state), self._before
        if self._spec.of == "declared":
            after = before if number == 0 else self._ask(state)
            before, declared = after, self._declared(there, 0 if number == 0 else self._asked)
        elif self._spec.ask == "declared":
            after = declared = self._declared(there, self._asked)
        else:
            after = declared = self._ask(state)
        values = {
            "before": before._asdict(),
            "after": after._asdict(),
            "declared": declared._asdict(),
            "claim": {"variable": aim.variable, "choice": aim.choice},
        }
        satisfied = self._probe.expect(values)
        if not satisfied and self._spec.edit and cast(RecordedTarget, self._target).named(there, aim.variable):
            return {**trial, "after": None, "reason": str(Cause.NAMED), "held": None}
        entry = {**trial, "after": after.choice, "declared": declared.choice, "held": satisfied}
        miss = miss_of(typed(Trial, entry), self._before.choice, self._spec.of)
        if miss is not None:
            entry["miss"] = str(miss)
            if self._may_be_explained:
                entry["procedure"] = self._declared(there, self._asked).choice
        return entry

    def _declared(self, there: Situation, asked: int) -> Answer:
        return self._target.declared(there, asked) or _NOTHING

    @property
    def _may_be_explained(self) -> bool:
        """Whether the agent is asked about predictions, and declares a procedure that may explain its misses."""
        spec = self._spec
        return spec.of in PREDICTIONS and spec.ask == "agent" and spec.explain > 0 and self._target.declares

    def _explain(self, stream: Stream) -> None:
        """Where all misses are what the declared procedure does, ask whether that procedure explains the agent.

        It does if it gives the choice before, and what it does not read does not move the choice.
        """
        evidence, state = self._evidence, self._situation.state
        weighed = weigh(evidence, self._spec)
        if weighed.verdict is not Verdict.FAIL or not self._may_be_explained or may_draw_there(evidence, self._spec):
            return
        here = self._declared(self._situation, 0).choice
        if here != self._before.choice or not follows_declared(evidence, weighed):
            return
        asked = changed = 0
        for aim in stream.shuffle(changes_of_unread(self._target, state, stream)):
            mutation = self._target.mutate(state, aim.variable, aim.value) if asked < self._spec.explain else None
            if mutation is not None and mutation[1]["changed"]:
                changed += self._ask(mutation[0]).choice != self._before.choice
                asked += 1
        evidence["explanation"] = {"here": here, "asked": asked, "changed": changed}

    def _placebo(self, drawn: list[Aim], document: Any, stream: Stream) -> dict[str, Any]:
        """Changes of variables that no claim names, and how many of them changed the choice.

        The variables are given where the probe names them; they are drawn otherwise.
        """
        state, arms = self._situation.state, self._spec.arms
        cited = {claim["var"] for claim in document["trace"]["causal_claims"]} | {aim.variable for aim in drawn}
        asked = changed = 0
        given: list[str] = []
        if arms.placebos:
            others = [name for name in self._target.names(state) if name not in cited]
            if not isinstance(arms.placebo, int):
                others = [name for name in arms.placebo if name in others]
            for name in stream.shuffle(others):
                values = self._target.alternatives(state, name) if asked < arms.placebos else []
                mutation = self._target.mutate(state, name, stream.choice(values)) if values else None
                if mutation is not None and mutation[1]["changed"]:
                    changed += self._ask(mutation[0]).choice != self._before.choice
                    asked += 1
                    given.append(name)
        named = {} if isinstance(arms.placebo, int) else {"variables": given}
        return {"asked": asked, "changed": changed, **named}

    def _demand(self, drawn: list[Aim], document: Any) -> None:
        """What else the agent must show."""
        evidence, demand = self._evidence, self._spec.demand
        if "reveal" in demand:
            evidence["revealed"] = self._target.reveal(document, [aim.variable for aim in drawn if aim.variable])
        if "trace" in demand:
            evidence["trace"] = typed(TraceReplay, self._target.replay(document, self._situation))
        if "restate" in demand:
            evidence["restated"] = self._target.restate(document, self._situation)
