"""How often the probes of a run ask its agent, counted before the run: they are made with an agent that is not asked.

It stands for one whose statements hold: as many claims as the kernel demands, each about an alternative of the world,
and in each changed state the choice that it predicted. So nothing has to be explained. Probes are made at the start
states of episodes, by the draws of the run's seed.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from specledger.compile.plan import Plan
from specledger.core.canonical import canonical_bytes
from specledger.core.floats import FLOATS_ANYWHERE
from specledger.wings.kernel.plan import KernelPlan
from specledger.wings.kernel.probes.planned_offer import PlannedOffer
from specledger.wings.kernel.probes.runner import ProbeRunner
from specledger.wings.kernel.probes.target import PLACES, Answer, Attempt, Reply, Situation

MOST_EPISODES: Final = 32
"""Episodes whose probes are made; the count of a longer run is in proportion."""

_HERE: Final = Answer("stays", 0)
_THERE: Final = "changes"


class Counted(NamedTuple):
    """What the probes of a run ask: questions, commitments to be opened, and the bytes of one answer's reasons."""

    asked: int
    opened: int
    reasons: int


def count_questions(kernel: KernelPlan, plan: Plan, *, deterministic: bool) -> Counted:
    """What the probes of a kernel would ask in a run."""
    episodes = min(plan.episodes, MOST_EPISODES)
    runner = ProbeRunner(kernel.probes, plan.seed, plan.horizon)
    agent = RehearsedAgent(kernel, plan, deterministic=deterministic)
    for episode in range(episodes):
        state = plan.start(episode)
        for t in range(plan.horizon):
            situation = Situation(episode, t, state, None)
            for place in PLACES:
                for _ in runner.events_at(place, situation, agent):
                    pass
    scale = plan.episodes / episodes
    stated = [{"variable": name, "becomes": value, "choice": _THERE} for name, value in agent.claims(plan.start(0))]
    size = len(canonical_bytes(stated, FLOATS_ANYWHERE))
    return Counted(round(agent.asked * scale), round(agent.opened * scale), size)


class RehearsedAgent:
    """What probes ask of a run, answered without anybody being asked.

    Attributes:
        asked: The questions so far.
        opened: The commitments that were to be opened.
    """

    def __init__(self, kernel: KernelPlan, plan: Plan, *, deterministic: bool) -> None:
        """Stand for the agent of a run."""
        self._kernel, self._plan, self._views = kernel, plan, kernel.narration.views
        self.deterministic, self.promised = deterministic, True
        self.declares = kernel.narration.declared is not None
        self.asked = self.opened = 0
        self._changed: dict[int, Any] = {}  # states in which a claim predicts another choice, by their identity
        self._claims: dict[int, tuple[Any, list[tuple[str, Any]]]] = {}

    def claims(self, state: Any) -> list[tuple[str, Any]]:
        """The variables and values of as many claims as the kernel demands, or as the world has alternatives for."""
        known = self._claims.get(id(state))
        if known is None or known[0] is not state:
            known = self._claims[id(state)] = state, self._possible(state)
        return known[1]

    def _possible(self, state: Any) -> list[tuple[str, Any]]:
        claims: list[tuple[str, Any]] = []
        for name in self._views.names(state):
            for value in self._views.alternatives(state, name):
                mutation = self._views.mutate(state, name, value)
                if mutation is not None and mutation[1]["changed"]:
                    claims.append((name, value))
                    break
            if len(claims) >= max(1, self._kernel.narration.least):
                break
        return claims

    def document(self, situation: Situation) -> Any:
        """A document with these claims, as far as challenges read it."""
        claims = list(enumerate(self.claims(situation.state)))
        return {
            "trace": {
                "causal_claims": [{"var": name, "cf": f"cf-{number}"} for number, (name, _) in claims],
                "counterfactuals": [
                    {
                        "cf_id": f"cf-{number}",
                        "mutation": {"var": name, "new_value": value},
                        "predicted_outcome": {"choice": _THERE, "score": 0},
                    }
                    for number, (name, value) in claims
                ],
            }
        }

    def valid(self, document: Any) -> bool:
        """Whether a document is valid: these are."""
        return True

    def choose(self, situation: Situation, asked: int) -> Answer:
        """What was predicted there; the decision itself is no question, unless it is of an episode of its own."""
        self.asked += asked > 0 or situation.episode >= self._plan.episodes
        return self.declared(situation, asked)

    def declared(self, situation: Situation, asked: int) -> Answer:
        """The same, without a question."""
        return Answer(_THERE, 0) if id(situation.state) in self._changed else _HERE

    def read(self, claim: Mapping[str, Any], counterfactuals: list[Mapping[str, Any]]) -> dict[str, str] | None:
        """What a claim says."""
        return {"counterfactual": claim["cf"], "choice": _THERE, "direction": ""}

    def directions(self, situation: Situation) -> Mapping[str, str]:
        """The directions of the statement: it gives values."""
        return {}

    def confidences(self, document: Any, situation: Situation) -> Mapping[str, int]:
        """The confidences of the statement: it gives none."""
        return {}

    def is_choice(self, label: str) -> bool:
        """Whether a label may be one of the world: those of this agent stand for such."""
        return True

    def names(self, state: Any) -> list[str]:
        """The variables that there are."""
        return self._views.names(state)

    def alternatives(self, state: Any, variable: str) -> list[Any]:
        """The world's alternatives."""
        return self._views.alternatives(state, variable)

    def toward(self, state: Any, variable: str, direction: str) -> list[Any]:
        """The world's alternatives in a direction, of which this agent speaks in no claim."""
        return []

    def mutate(self, state: Any, variable: str, value: Any) -> tuple[Any, dict[str, Any]] | None:
        """The world's edit; what a claim predicts of the state is known from here on."""
        mutation = self._views.mutate(state, variable, value)
        if mutation is not None and (variable, value) in self.claims(state):
            self._changed[id(mutation[0])] = mutation[0]
        return mutation

    def unused(self, state: Any) -> list[str]:
        """The variables that the declared procedure does not read."""
        return self._kernel.unused(state)

    def fresh(self, number: int) -> Situation:
        """The start of an episode that is never played."""
        episode = self._plan.episodes + number
        return Situation(episode, 0, self._plan.start(episode), None)

    def reveal(self, document: Any, variables: list[str]) -> bool:
        """The commitment is opened."""
        self.opened += 1
        return True

    def replay(self, document: Any, situation: Situation) -> dict[str, Any]:
        """The trace comes out equal."""
        return {"equal": 1, "nodes": 1, "ends": True}

    def restate(self, document: Any, situation: Situation) -> bool:
        """The reasons are the same when they are asked for again."""
        self.asked += 1
        return True

    def token(self, sort: str) -> Mapping[str, Any] | None:
        """A token of any sort."""
        return {}

    def offer(self, situation: Situation, offer: PlannedOffer, token: Mapping[str, Any] | None) -> Reply:
        """The offer is declined."""
        self.asked += 1
        return Reply()

    def attempt(self, situation: Situation, reply: Reply) -> Attempt:
        """Nothing is attempted."""
        return Attempt(True, (), True)
