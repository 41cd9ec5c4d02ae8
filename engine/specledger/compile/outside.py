"""Agents from outside at the desk: what they are told, and what becomes of what they answer.

Decides that nothing which an agent outside says can stop a run: an answer that is no set of proposals is rejected by
the gate `schema`, one that is no document is received, hashed and denied by the kernel, and the next decision comes.
Only where the process that waited is no more, the kernel's episode ends. Refuses to know who is asked, and how.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from specledger.agents.agent import MOST_PROPOSALS
from specledger.compile.decision_controller import DecisionController, Moment
from specledger.compile.kernel import KernelController
from specledger.compile.plan import Plan, Proposal
from specledger.compile.submission_json import first_action, shown
from specledger.core.binding import GENESIS
from specledger.core.canonical import NotCanonical, canonical_ints
from specledger.core.diagnostics import Diagnostic, Rejected
from specledger.core.json_text import parse_json
from specledger.expr import INT, Type, conforms
from specledger.gates.digests import Submission, receive
from specledger.oracles.answer import NOT_JSON, Answer
from specledger.oracles.outside import E_AGENT_UNTRUSTED
from specledger.oracles.tape import Halted, Oracle, Place, halts
from specledger.worlds.model import World

NOTHING: Final = ""
"""The operation of what is no proposal; no world has it."""

NO_ANSWER: Final = "no_answer"
NOT_A_LIST: Final = "not_a_list"
TOO_MANY: Final = "too_many_proposals"
MALFORMED: Final = "malformed_proposal"
"""Why the gate `schema` rejects what an agent outside answered, beside the failures of an answer."""


class OutsideController(DecisionController):
    """The desk of a run whose agent gives sets of proposals from outside."""

    def __init__(self, plan: Plan, operations: list[dict[str, Any]], claims: Mapping[str, Type]) -> None:
        """Serve one run.

        Args:
            plan: With its oracle.
            operations: What the agent is offered.
            claims: What each proposal must claim.
        """
        super().__init__(plan)
        self._oracle = oracle_of(plan)
        self._operations = operations
        self._claims = claims

    def propose(self, moment: Moment) -> list[Proposal]:
        """What came, a proposal for each of the set; what is none stands as one that the gate `schema` rejects."""
        place = Place(moment.episode, moment.t, moment.episode * self._plan.horizon + moment.t)
        answer = self._oracle.ask(place, lambda: question(moment, self._operations))
        return proposals_of(answer, self._claims)


class OutsideKernelDesk(KernelController):
    """The desk of a kernel whose agent gives documents from outside."""

    def __init__(self, plan: Plan, operations: list[dict[str, Any]]) -> None:
        """Serve one run; the plan has its kernel and its oracle."""
        super().__init__(plan)
        self._oracle = oracle_of(plan)
        self._operations = operations

    def decide(self, moment: Moment) -> list[Proposal]:
        """What came, as a set of one: whatever it is, it is received, hashed and judged.

        Raises:
            Halted: The process that waited for it is no more.
        """
        views = self.kernel.narration.views
        answer = self._oracle.ask(
            self.place(moment), lambda: question(moment, self._operations) | {"env": views.env(moment.state)}
        )
        if halts(answer):
            self.enter_halt(answer)
            raise Halted(answer)
        self.submission = _submitted(answer)
        return [{"action": first_action(self.submission), "score": 0, "document": shown(self.submission)}]


def oracle_of(plan: Plan) -> Oracle:
    """Who answers for the agent of a plan.

    Raises:
        Rejected: E_AGENT_UNTRUSTED, if nobody may.
    """
    if plan.oracle is None:
        message = f"the agent of {plan.name} is outside, and neither a tape nor a trusted agent answers for it"
        raise Rejected([Diagnostic(E_AGENT_UNTRUSTED, message)])
    return plan.oracle


def offered(world: World) -> list[dict[str, Any]]:
    """The operations of a world: `{op, args}`, for each argument its values, or the name of its type."""
    return [
        {
            "op": name,
            "args": {key: list(action.allowed.get(key, ())) or str(type_) for key, type_ in action.args.fields.items()},
        }
        for name, action in sorted(world.actions.items())
    ]


def question(moment: Moment, operations: list[dict[str, Any]]) -> dict[str, Any]:
    """What an agent outside is told for one decision."""
    return {
        "episode": moment.episode,
        "t": moment.t,
        "observation": moment.observation,
        "operations": operations,
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


def _submitted(answer: Answer) -> Submission:
    """What the kernel receives; where there are no bytes, the failure is what it denies."""
    if answer.received is not None:
        return receive(answer.received)
    if not answer.failure:
        return receive(None)
    return Submission(
        None, answer.sha256 or GENESIS, GENESIS, problem=NotCanonical(answer.failure, "$", "nothing to judge")
    )


def unmoved() -> dict[str, Callable[..., Any]]:
    """What a plan calls for an agent that keeps its memory to itself."""
    return {
        "begin": lambda _observation: {},
        "propose": lambda _observation, _memory: [],
        "writes": lambda _observation, _memory, _action: 0,
        "remember": lambda _observation, memory, _action, _seen: memory,
    }
