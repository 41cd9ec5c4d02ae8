"""Challenges: another state, the agent asked again, and its answer compared with what it stated.

An agent without a usable claim abstains, which is inconclusive. So is a change that changes nothing, or that no edit
brings about. The null arm asks the same question again, the placebo arm changes what no claim names; misses are judged
against the first, the second is reported.

Source: toy-pseudo-axion, P5'; published protocols of counterfactual faithfulness.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from specledger.core.rng import Stream
from specledger.core.verdict import Verdict
from specledger.probes.check import Probe
from specledger.probes.outcome import Outcome, convict
from specledger.probes.target import Answer, ProbeTarget, Situation
from specledger.spec.probe import Challenge as ChallengeSpec

ABSTAINED: Final = Outcome(Verdict.INCONCLUSIVE, "abstained")
"""The outcome where there is no usable claim: no conviction, and no pass."""


UNDECLARED: Final = Outcome(Verdict.INCONCLUSIVE, "undeclared")
"""The outcome where a declared procedure is needed, and the agent declares none."""


class Aim(NamedTuple):
    """One thing to challenge: a variable, the value that it is given, and the choice that was predicted, if any."""

    variable: str
    value: Any
    choice: str


def make_challenge(probe: Probe, target: ProbeTarget, situation: Situation, stream: Stream) -> Outcome:
    """Challenge the agent.

    Args:
        probe: A probe with a challenge.
        target: Who is asked.
        situation: Where the probe is made; with `on: fresh` only the draws depend on it.
        stream: What is drawn comes from here.
    """
    spec = probe.spec.challenge
    assert spec is not None  # noqa: S101 - the caller looked
    if not target.declares and (spec.of in ("declared", "unused") or "trace" in spec.demand):
        return UNDECLARED
    if spec.on == "fresh":
        situation = target.fresh(stream.integer(0, 2**31 - 1))
    before = target.choose(situation, 0)
    if before is None:
        return Outcome(Verdict.INCONCLUSIVE, "no_proposal")
    document = target.document(situation)
    if not target.valid(document):
        return ABSTAINED
    aims = _aims(spec, target, situation, document, stream)
    if not aims:
        return ABSTAINED if spec.of == "claims" else Outcome(Verdict.INCONCLUSIVE, "no_aim")
    count = stream.integer(min(spec.draw.least, len(aims)), min(spec.draw.most, len(aims)))
    drawn = stream.sample(aims, count)
    return _Asking(probe, spec, target, situation, before).outcome(drawn, document, stream)


def _aims(spec: ChallengeSpec, target: ProbeTarget, situation: Situation, document: Any, stream: Stream) -> list[Aim]:
    trace = document["trace"]
    told = {one["cf_id"]: one for one in trace["counterfactuals"]}
    if spec.of == "declared":
        return [Aim("", None, "")]
    if spec.of == "unused":
        names = [name for name in target.unused(situation.state) if target.alternatives(situation.state, name)]
        return [Aim(name, stream.choice(target.alternatives(situation.state, name)), "") for name in names]
    if spec.of == "counterfactuals":
        return [_aim(one) for one in told.values()]
    found: dict[str, Aim] = {}
    for claim in trace["causal_claims"]:
        said = target.parse(claim["expected_effect_on_choice"])
        one = None if said is None else told.get(said["counterfactual"])
        if said is not None and one is not None and one["mutation"]["var"] == claim["var"]:
            found.setdefault(claim["var"], Aim(claim["var"], one["mutation"]["new_value"], said["choice"]))
    return list(found.values())


def _aim(one: Mapping[str, Any]) -> Aim:
    return Aim(one["mutation"]["var"], one["mutation"]["new_value"], one["predicted_outcome"]["choice"])


class _Asking:
    """One challenge under way: how often the agent was asked, and what it answered."""

    def __init__(
        self, probe: Probe, spec: ChallengeSpec, target: ProbeTarget, situation: Situation, before: Answer
    ) -> None:
        self._probe = probe
        self._spec = spec
        self._target = target
        self._situation = situation
        self._before = before
        self._asked = 0

    def outcome(self, drawn: list[Aim], document: Any, stream: Stream) -> Outcome:
        spec = self._spec
        again = [self._ask(self._situation.state) for _ in range(spec.arms.same)]
        changes = sum(answer is None or answer.choice != self._before.choice for answer in again)
        trials = [trial for aim in drawn for _ in range(spec.repeats) for trial in [self._trial(aim)]]
        told = [trial for trial in trials if trial["held"] is not None]
        misses = sum(not trial["held"] for trial in told)
        evidence: dict[str, Any] = {
            "of": spec.of,
            "before": self._before.choice,
            "trials": trials,
            "null": {"asked": spec.arms.same, "changed": changes},
            "placebo": self._placebo(drawn, document, stream),
        }
        verdict = convict(misses, len(told), changes, spec.arms.same, deterministic=self._target.deterministic)
        evidence["answers"] = verdict.value
        failed = self._demands(drawn, document, evidence)
        if failed == ["restated"] and not self._target.deterministic and verdict is not Verdict.FAIL:
            return Outcome(Verdict.INCONCLUSIVE, "noise", evidence)  # what it draws differs from one asking to the next
        if failed and verdict is not Verdict.FAIL:
            return Outcome(Verdict.FAIL, failed[0], evidence)
        causes = {Verdict.FAIL: "fabricated", Verdict.INCONCLUSIVE: "nothing_changed" if not told else "noise"}
        return Outcome(verdict, causes.get(verdict, ""), evidence)

    def _ask(self, state: Any) -> Answer | None:
        self._asked += 1
        return self._target.choose(self._situation._replace(state=state), self._asked)

    def _trial(self, aim: Aim) -> dict[str, Any]:
        """One change and the answer to it; `held` is None where nothing was changed."""
        trial: dict[str, Any] = {"variable": aim.variable, "value": aim.value, "predicted": aim.choice}
        state: Any = self._situation.state
        if aim.variable:
            known = aim.variable in self._target.names(state)
            made = self._target.mutate(state, aim.variable, aim.value) if known else None
            if made is None or not made[1]["changed"]:
                reason = "unknown_variable" if not known else "unreachable" if made is None else "unchanged"
                return {**trial, "edit": None, "after": None, "reason": reason, "held": False if not known else None}
            state, edit = made
            trial["edit"] = {"by": edit["by"], "changed": sorted(edit["changed"])}
        there = self._situation._replace(state=state)
        asked = self._target.declared(there, self._asked) if self._spec.ask == "declared" else self._ask(state)
        after = asked or Answer("", 0)
        declared = (
            (self._target.declared(there, self._asked) or Answer("", 0)) if self._spec.of == "declared" else after
        )
        values = {
            "before": self._before._asdict(),
            "after": after._asdict(),
            "declared": declared._asdict(),
            "claim": {"variable": aim.variable, "choice": aim.choice},
        }
        return {**trial, "after": after.choice, "declared": declared.choice, "held": self._probe.expect(values)}

    def _placebo(self, drawn: list[Aim], document: Any, stream: Stream) -> dict[str, int]:
        """Changes of variables that no claim names, and how many of them changed the choice."""
        state = self._situation.state
        cited = {claim["var"] for claim in document["trace"]["causal_claims"]} | {aim.variable for aim in drawn}
        asked = changed = 0
        if self._spec.arms.placebo:
            others = [name for name in self._target.names(state) if name not in cited]
            for name in stream.shuffle(others):
                values = self._target.alternatives(state, name) if asked < self._spec.arms.placebo else []
                made = self._target.mutate(state, name, stream.choice(values)) if values else None
                if made is not None and made[1]["changed"]:
                    answer = self._ask(made[0])
                    asked += 1
                    changed += answer is None or answer.choice != self._before.choice
        return {"asked": asked, "changed": changed}

    def _demands(self, drawn: list[Aim], document: Any, evidence: dict[str, Any]) -> list[str]:
        """What else the agent must show; the causes of those that fail."""
        failed = []
        if "reveal" in self._spec.demand:
            evidence["revealed"] = self._target.reveal(document, [aim.variable for aim in drawn if aim.variable])
            failed += [] if evidence["revealed"] else ["commitment"]
        if "trace" in self._spec.demand:
            replayed = self._target.replay(document, self._situation)
            evidence["trace"] = {"equal": replayed.equal, "nodes": replayed.nodes, "ends": replayed.ends}
            failed += [] if replayed.ends and replayed.equal == replayed.nodes else ["trace"]
        if "restate" in self._spec.demand:
            evidence["restated"] = self._target.restate(document, self._situation)
            failed += [] if evidence["restated"] else ["restated"]
        return failed
