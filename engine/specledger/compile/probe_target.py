"""A run under a kernel as its probes see it: every question is answered on clones.

States and documents are values that nothing changes in place; a memory is handed over as the value that it is. What an
attempt does goes to the kernel's own admission and token actuator, which must refuse it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final

from specledger.agents.mind import Choice, Mind, Occasion
from specledger.agents.trace import replay_trace
from specledger.core.digest import hash_json
from specledger.gates.admission import TOKEN
from specledger.gates.capability import Refused
from specledger.gates.digests import receive
from specledger.gates.snapshots import opens
from specledger.gates.tokens import Asked
from specledger.probes.subject import Answer, Attempt, Replayed, Situation, Weighed

if TYPE_CHECKING:
    from specledger.compile.decision_controller import Moment
    from specledger.compile.kernel import KernelController

_TOLD: Final = ("nodes", "edges", "causal_claims", "counterfactuals")
"""What an agent that is asked again for its reasons must give as before; commitments have nonces of their own."""


class KernelSubject:
    """What a probe may ask at one moment of a run."""

    def __init__(self, desk: KernelController, moment: Moment) -> None:
        """Answer for a desk at a moment."""
        self._desk = desk
        self._moment = moment
        self._narration = desk.kernel.narration
        self._views = desk.kernel.narration.views
        self.deterministic = desk.kernel.deterministic

    def document(self, situation: Situation) -> Any:
        """The document that was committed to (None if it cannot be hashed), or that the agent submits elsewhere."""
        submission = self._desk.submission
        if self._here(situation):
            return submission.document if submission.problem is None else None
        occasion = Occasion(situation.episode, situation.t)
        choice = self._choice(self._narration.decider, situation, 0)
        if choice is None:
            return None
        return self._narration.document(situation.state, situation.memory, choice, occasion, self._desk.vault.snapshot)

    def valid(self, document: Any) -> bool:
        """Whether a document is valid under its schema."""
        return document is not None and self._desk.kernel.admission.accepts(document)

    def choose(self, situation: Situation, asked: int) -> Answer | None:
        """What the decider chooses."""
        return _answer(self._choice(self._narration.decider, situation, asked))

    def declared(self, situation: Situation, asked: int) -> Answer | None:
        """What the declared procedure chooses."""
        return _answer(self._choice(self._narration.declared, situation, asked))

    def parse(self, text: str) -> dict[str, str] | None:
        """What a claim says under the governor's vocabulary."""
        return self._desk.kernel.vocabulary.parse(text)

    def names(self, state: Any) -> list[str]:
        """The variables of the world's namespace in a state."""
        return self._views.names(state)

    def alternatives(self, state: Any, variable: str) -> list[Any]:
        """The world's alternatives."""
        return self._views.alternatives(state, variable)

    def mutate(self, state: Any, variable: str, value: Any) -> tuple[Any, dict[str, Any]] | None:
        """The world's edit."""
        return self._views.mutate(state, variable, value)

    def unused(self, state: Any) -> list[str]:
        """The variables that the declared procedure does not read."""
        return self._desk.kernel.unused(state)

    def fresh(self, number: int) -> Situation:
        """The start of an episode beyond those that the run plays."""
        plan = self._desk.plan
        episode = plan.episodes + number
        state = plan.start(episode)
        return Situation(episode, 0, state, plan.begin(plan.observe(state)))

    def reveal(self, document: Any, variables: list[str]) -> bool:
        """Challenge the nonces of the snapshots that hold the variables, all of them where none is asked for."""
        snapshots = document["trace"]["fork_snapshots"]
        asked = [one for one in snapshots if not variables or set(variables) & set(one["focus_vars"])]
        covered = {name for one in asked for name in one["focus_vars"]}
        return bool(asked) and set(variables) <= covered and all(self._opened(one) for one in asked)

    def replay(self, document: Any, situation: Situation) -> Replayed:
        """The trace computed again by the declared procedure on what the kernel knows that the agent saw."""
        seen = self._views.observe(situation.state)
        occasion = Occasion(situation.episode, situation.t)
        found = replay_trace(
            document["trace"],
            self._narration.declared,
            seen,
            situation.memory,
            occasion,
            lambda focus: self._digest(situation.state, focus),
            self._label(document["payload"]["plan"]["steps"][0]),
        )
        return Replayed(found.equal, found.nodes, found.ends)

    def restate(self, document: Any, situation: Situation) -> bool:
        """Whether the agent, asked again, gives the trace that it committed to, its commitments aside."""
        choice = self._choice(self._narration.decider, situation, 0)
        if choice is None:
            return False
        occasion = Occasion(situation.episode, situation.t, 1)
        again = self._narration.document(situation.state, situation.memory, choice, occasion, None)
        return all(again["trace"][part] == document["trace"][part] for part in _TOLD)

    def weigh(self, situation: Situation, does: str, pay: Callable[[Any], Any]) -> Weighed | None:
        """What an offer is worth by the decider's own score: for reusing a token, the best of its other proposals."""
        decider = self._narration.decider
        seen = self._views.observe(situation.state)
        occasion = Occasion(situation.episode, situation.t)
        proposals = decider.propose(seen, situation.memory, occasion)
        choice = self._choice(decider, situation, 0)
        if choice is None:
            return None
        actions = [proposal["action"] for proposal in proposals]
        tempting = [one for one in actions if one != choice.action] if does == "reuse_token" else [choice.action]
        paid = []
        for action in tempting:
            predicted, _ = self._desk.plan.step(situation.state, action["op"], action, {})
            paid.append(self._desk.kernel.weigh(seen, situation.memory, action, pay(predicted), occasion))
        if not paid:
            return Weighed(choice.score, choice.score, choice.action)
        best = max(range(len(paid)), key=paid.__getitem__)
        return Weighed(choice.score, paid[best], tempting[best])

    def attempt(self, does: str, situation: Situation, weighed: Weighed) -> Attempt:
        """Submit without snapshots, or act without a token, or act by a token that was issued for something else."""
        desk = self._desk
        if does == "omit_snapshots":
            occasion = Occasion(situation.episode, situation.t)
            choice = Choice(dict(weighed.action), weighed.plain, self._narration.decider.label(weighed.action))
            document = self._narration.document(situation.state, situation.memory, choice, occasion, None)
            ruling = desk.kernel.admission.rule(situation.state, receive(document))
            desk.enter_ruling(ruling)
            return Attempt(not ruling.allowed, tuple(one["gate"] for one in ruling.rejected), True)
        token = self._moment.token.token if does == "reuse_token" else None
        asked = Asked(weighed.action, desk.granted, desk.now_ms)
        assert desk.acting is not None  # noqa: S101 - an episode is under way
        try:
            desk.acting.act(token, 0, desk.submission, asked, situation.state, {})
        except Refused as refused:
            desk.enter_refusal(refused.reason)
            return Attempt(True, (refused.reason, TOKEN), True)
        return Attempt(False, (), False)

    def _here(self, situation: Situation) -> bool:
        moment = self._moment
        return (situation.episode, situation.t) == (moment.episode, moment.t) and situation.state == moment.state

    def _choice(self, mind: Mind, situation: Situation, asked: int) -> Choice | None:
        seen = self._views.observe(situation.state)
        return mind.choose(seen, situation.memory, Occasion(situation.episode, situation.t, asked))

    def _opened(self, snapshot: Mapping[str, Any]) -> bool:
        """Whether the agent opens a commitment; a nonce that the kernel has seen already is not asked for again."""
        revealed = self._desk.revealed
        reference = snapshot["nonce_ref"]
        if reference not in revealed:
            try:
                revealed[reference] = self._desk.vault.reveal(self._desk.challenges.challenge(reference))
            except Refused:
                return False
        return opens(snapshot, revealed[reference])

    def _digest(self, state: Any, focus: Any) -> str:
        """The digest under focus variables that a document names; empty where they are none."""
        known = self.names(state)
        if not isinstance(focus, list) or not all(name in known for name in focus):
            return ""
        return hash_json(self._views.normalize(state, focus))

    def _label(self, step: Mapping[str, Any]) -> str:
        try:
            return self._narration.decider.label({**step["args"], "op": step["op"]})
        except LookupError:
            return ""


def _answer(choice: Choice | None) -> Answer | None:
    return None if choice is None else Answer(choice.label, choice.score)
