"""Agents from outside: the question that they are asked, and what becomes of their answers.

No answer can stop a run. One that is not a list of proposals is rejected by the gate `schema`; one that is not a
document is received, hashed and denied by the kernel. The run continues with the next decision. A kernel's episode ends
only if the process that waited for the answer ended.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from specledger.agents.agent import MOST_PROPOSALS
from specledger.agents.procedure import Choice
from specledger.compile.plan import KernelPlan, Plan, PlannedOutside, Proposal
from specledger.core.binding import GENESIS
from specledger.core.canonical import NotCanonical, canonical_ints, parse_json
from specledger.core.diagnostics import Diagnostic, Rejected
from specledger.expr import INT, Type, conforms
from specledger.gates.capability import Refused
from specledger.gates.digests import Submission, receive
from specledger.gates.snapshots import Challenge, Challenges
from specledger.oracles.answer import NOT_JSON, Answer, halts
from specledger.oracles.outside import E_AGENT_UNTRUSTED
from specledger.oracles.recording import Halted, Oracle, Place
from specledger.probes.offer import PlannedOffer
from specledger.probes.target import Reply, Situation
from specledger.run.controller import Moment
from specledger.run.document_agent import Submitted

NOTHING: Final = ""
"""The operation of what is no proposal; no world has it."""

NO_ANSWER: Final = "no_answer"
NOT_A_LIST: Final = "not_a_list"
TOO_MANY: Final = "too_many_proposals"
MALFORMED: Final = "malformed_proposal"
"""Why the gate `schema` rejects what an agent outside answered, beside the failures of an answer."""


class OutsideProposals:
    """An agent from outside that gives sets of proposals."""

    def __init__(self, plan: Plan) -> None:
        """Answer for the agent of one run.

        Raises:
            Rejected: E_AGENT_UNTRUSTED, if the plan has no oracle.
        """
        self._oracle, self._asked = _oracle(plan), _asked(plan)
        self._horizon = plan.horizon

    def propose(self, moment: Moment) -> list[Proposal]:
        """The proposals of the answer; a malformed one is replaced by one that the gate `schema` rejects."""
        place = Place(moment.episode, moment.t, moment.episode * self._horizon + moment.t)
        answer = self._oracle.ask(place, lambda: question(moment, self._asked))
        return proposals_of(answer, self._asked.claims)


class OutsideDocuments:
    """An agent from outside that submits documents to a kernel. Probes cannot ask it: no scenario has both."""

    deterministic = False

    def __init__(self, plan: Plan, kernel: KernelPlan, challenges: Challenges) -> None:
        """Answer for the agent of one run.

        Raises:
            Rejected: E_AGENT_UNTRUSTED, if the plan has no oracle.
        """
        self._oracle, self._asked = _oracle(plan), _asked(plan)
        self._env = kernel.narration.views.env

    def decide(self, moment: Moment, place: Place) -> Submitted:
        """The answer, which is received and hashed whatever it is.

        Raises:
            Halted: The process that waited for it ended.
        """
        answer = self._oracle.ask(place, lambda: question(moment, self._asked) | {"env": self._env(moment.state)})
        if halts(answer):
            raise Halted(answer)
        return Submitted(_submission(answer), 0)

    def choose(self, situation: Situation, asked: int) -> Choice | None:
        """None: the agent cannot be asked about a clone."""
        return None

    def document(self, situation: Situation, choice: Choice, asked: int = 0, *, snapshots: bool = True) -> Any:
        """None: the agent cannot be asked about a clone."""
        return None

    def reveal(self, challenge: Challenge) -> bytes:
        """Refuse: the agent keeps its nonces.

        Raises:
            Refused: `unknown_nonce`.
        """
        raise Refused("unknown_nonce")

    def offer(self, situation: Situation, offer: PlannedOffer, token: Mapping[str, Any] | None) -> Reply | None:
        """None: the agent cannot be asked about a clone."""
        return None


def _oracle(plan: Plan) -> Oracle:
    if plan.oracle is None:
        message = f"the agent of {plan.name} is outside, and neither a tape nor a trusted agent answers for it"
        raise Rejected([Diagnostic(E_AGENT_UNTRUSTED, message)])
    return plan.oracle


def _asked(plan: Plan) -> PlannedOutside:
    assert plan.outside is not None  # noqa: S101 - see `loop.controller_of`
    return plan.outside


def question(moment: Moment, asked: PlannedOutside) -> dict[str, Any]:
    """What an agent from outside is sent for one decision."""
    return {
        "episode": moment.episode,
        "t": moment.t,
        "observation": moment.observation,
        "operations": asked.operations,
    }


def proposals_of(answer: Answer, claims: Mapping[str, Type]) -> list[Proposal]:
    """The proposals of an answer: all of them are of a form that a judge can look at."""
    if answer.received is None or answer.failure:
        return [_none(answer.failure or NO_ANSWER)]
    try:
        given = parse_json(answer.received)
    except ValueError:
        return [_none(NOT_JSON)]
    if not isinstance(given, list):
        return [_none(NOT_A_LIST)]
    if len(given) > MOST_PROPOSALS:
        return [_none(TOO_MANY)]
    return [one if _is_proposal(one, claims) else _none(MALFORMED) for one in given]


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


def _submission(answer: Answer) -> Submission:
    """What the kernel receives; where there are no bytes, the failure is what it denies."""
    if answer.received is not None:
        return receive(answer.received)
    if not answer.failure:
        return receive(None)
    return Submission(
        None, answer.sha256 or GENESIS, GENESIS, problem=NotCanonical(answer.failure, "$", "nothing to judge")
    )
