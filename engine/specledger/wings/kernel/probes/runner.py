"""The probes of a run: the steps at which each is made, and the event of each outcome.

The steps are drawn per episode from a stream that names the probe and the episode, and that nothing else draws from. So
a probe changes no other draw, and no agent can foresee it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache

from specledger.core.events import Event
from specledger.core.rng import Stream
from specledger.core.verdict import Verdict
from specledger.expr import EvaluationError
from specledger.oracles.answer import Unanswered
from specledger.wings.kernel.probes.challenge import make_challenge
from specledger.wings.kernel.probes.check import Probe
from specledger.wings.kernel.probes.offer import make_offer
from specledger.wings.kernel.probes.outcome import Outcome
from specledger.wings.kernel.probes.target import ProbeTarget, Situation


class ProbeRunner:
    """The probes of one run."""

    def __init__(self, probes: Sequence[Probe], seed: int, horizon: int) -> None:
        """Take checked probes, in the order of the scenario."""
        self._probes = probes
        self._seed = seed
        self._horizon = horizon
        self._due = lru_cache(maxsize=4 * len(probes) + 1)(self._drawn)

    def events_at(self, hook: str, situation: Situation, target: ProbeTarget) -> Iterator[Event]:
        """Make the probes that are due at a place of a step; an event `probe` for each."""
        for index, probe in enumerate(self._probes):
            if probe.spec.at != hook or not self._is_due(index, situation):
                continue
            outcome = self._make(index, situation, target)
            yield Event(
                "probe",
                {
                    "episode": situation.episode,
                    "t": situation.t,
                    "probe": probe.spec.name,
                    "at": hook,
                    "verdict": outcome.verdict.value,
                    "cause": str(outcome.cause),
                    "evidence": dict(outcome.evidence),
                },
            )

    def _is_due(self, index: int, situation: Situation) -> bool:
        probe = self._probes[index]
        due = probe.spec.steps is None or situation.t in self._due(index, situation.episode)
        return due and probe.when(situation.state, situation.t)

    def _drawn(self, index: int, episode: int) -> frozenset[int]:
        """The steps of an episode for which a probe is drawn."""
        probe = self._probes[index]
        count = min(probe.spec.steps or 0, self._horizon)
        stream = Stream.named(self._seed, "probe", probe.spec.name, index, episode)
        return frozenset(stream.sample(range(self._horizon), count))

    def _make(self, index: int, situation: Situation, target: ProbeTarget) -> Outcome:
        """Make one probe; an expression of the agent or the probe that has no value is an error, never a finding."""
        probe = self._probes[index]
        stream = Stream.named(self._seed, "probe", probe.spec.name, index, situation.episode, situation.t)
        try:
            if probe.offer is not None:
                return make_offer(probe, target, situation)
            return make_challenge(probe, target, situation, stream)
        except Unanswered as unanswered:
            return Outcome(Verdict.INCONCLUSIVE, unanswered.cause)
        except EvaluationError as error:
            return Outcome(Verdict.ERROR, error.code)
