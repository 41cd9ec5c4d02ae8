"""An agent from outside that gives sets of proposals, and what becomes of malformed ones.

A proposal of the wrong form is rejected by the gate `schema`; so is the one that takes the place of an agent fault.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from typing import Any, Final

from specledger.agents.agent import MOST_PROPOSALS
from specledger.compile.plan import Actor, Judgement, Plan, Proposal
from specledger.core.canonical import NotCanonical, canonical_ints
from specledger.expr import INT, Type, conforms
from specledger.lang import notation
from specledger.oracles.recording import Place
from specledger.oracles.statement import FURTHER
from specledger.run.controller import DecisionController, Moment
from specledger.run.session import ANSWERS_WITH_PROPOSALS, AgentFault, Session, asked_of

NOTHING: Final = ""
"""The operation of what is no proposal; no world has it."""

TOO_MANY: Final = "too_many_proposals"
MALFORMED: Final = "malformed_proposal"
"""Why the gate `schema` rejects what an agent outside proposed, beside agent faults."""


class OutsideProposals(DecisionController):
    """The controller of an agent from outside that gives sets of proposals."""

    def __init__(self, plan: Plan, actor: Actor) -> None:
        """Ask the agent of one run."""
        super().__init__(actor)
        self._claims, self._horizon = asked_of(plan).claims, plan.horizon
        self._notation = asked_of(plan).notation
        self._session = Session(plan, ANSWERS_WITH_PROPOSALS, halting=False)
        self._prevented, self._unread = "", Counter[str]()
        self._tells, self._denied = plan.on_denied == "tell", list[dict[str, str]]()

    def begin(self) -> None:
        """Begin an episode: nothing was denied in it."""
        super().begin()
        self._denied = []

    def propose(self, moment: Moment) -> list[Proposal]:
        """The proposals of the answer; one that the gate `schema` rejects takes the place of a malformed one."""
        position = Place(moment.episode, moment.t, moment.episode * self._horizon + moment.t)
        fields = {"episode": moment.episode, "t": moment.t, "observation": moment.observation}
        fields |= {"denied": self._denied} if self._denied else {}
        self._prevented, self._denied = "", []
        try:
            reply = self._session.tell(position, "decide", fields)
        except AgentFault as fault:
            self._prevented = fault.reason
            return [_none(fault.reason)]
        self._unread["call"] += reply.body.get(FURTHER, 0)
        given = reply.body["proposals"]
        if len(given) > MOST_PROPOSALS:
            return [_none(TOO_MANY)]
        texts = {*notation.texts_in(moment.state)}
        read = [self._read(entry, texts) for entry in given]
        return [entry if _is_proposal(entry, self._claims) else _none(MALFORMED) for entry in read]

    def choose(self, judgements: list[Judgement]) -> int | None:
        """The choice; if there is none, the agent is told the gates and their reasons with the next question."""
        chosen = super().choose(judgements)
        if chosen is None and self._tells:
            failing = [each for judgement in judgements for each in judgement.rejected]
            self._denied = [{"gate": each["gate"], "reason": each["reason"]} for each in failing]
        return chosen

    def _read(self, given: Any, texts: Collection[str]) -> Any:
        """A proposal in the world's notation, as far as it is certain what is meant."""
        if not isinstance(given, dict):
            return given
        types = {"score": INT, **self._claims}
        read = {name: notation.value(text, types[name]) if name in types else text for name, text in given.items()}
        action = self._notation.action(given.get("action"), texts)
        return read if action is None else {**read, "action": action}

    def prevented(self) -> str:
        """The agent fault for which the last decision is none; empty if it is one."""
        return self._prevented

    def unread(self) -> dict[str, int]:
        """How many calls of a model were beside the first one since the last call of this method."""
        unread, self._unread = +self._unread, Counter()
        return dict(unread)

    def faults(self) -> list[dict[str, Any]]:
        """The agent faults since the last call: `{t, message, reason}` of each."""
        return self._session.faults()


def _none(reason: str) -> Proposal:
    return {"action": {"op": NOTHING}, "score": 0, "answer": reason}


def _is_proposal(given: Any, claims: Mapping[str, Type]) -> bool:
    """Whether something has the form of a proposal; whether its action is one of the world's, a judge says."""
    if not isinstance(given, dict) or given.keys() != {"action", "score", *claims}:
        return False
    action = given["action"]
    if not isinstance(action, dict) or not isinstance(action.get("op"), str) or action["op"] == NOTHING:
        return False
    try:
        canonical_ints([given])
    except NotCanonical:
        return False
    return conforms(given["score"], INT) and all(conforms(given[name], type_) for name, type_ in claims.items())
