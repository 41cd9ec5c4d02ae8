"""The conversation with an agent from outside, computed alike in the live run and in its replay.

Each process of the agent first receives `hello`, and `reset` at each episode. A question about a counterfactual
leaves the agent's state as it was, in the way that the agent declared: `none` has no state; `snapshot` gives its state
and takes it back; `replay` is asked in a fresh process, after it answered the messages of the episode as before.

An answer that does not come, or is not of the protocol, is an agent fault. Faults are counted here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

from specledger.compile.plan import Plan, PlannedOutside
from specledger.core.canonical import NotCanonical, canonical_bytes, parse_json
from specledger.core.causes import Cause
from specledger.core.diagnostics import Diagnostic, Rejected
from specledger.core.faults import FaultLimit
from specledger.gates.documents import shipped_schemas
from specledger.oracles.answer import CLOSED, DIED, NOT_JSON, TIMED_OUT, TOO_LONG, Answer, Unanswered, halts
from specledger.oracles.outside import E_AGENT_UNTRUSTED
from specledger.oracles.recording import Halted, Place
from specledger.oracles.spending import Spending

PROTOCOL: Final = "specledger/agent/v3"

NO_ANSWER: Final = "no_answer"
WRONG_FORM: Final = "wrong_form"
WRONG_ID: Final = "wrong_id"
WRONG_TYPE: Final = "wrong_type"
"""Agent faults beside the failures of an answer: an empty line; an object that its schema refuses; the `id` of another
message; a type that does not answer the message."""

_OVER: Final = frozenset({CLOSED, DIED, TIMED_OUT, TOO_LONG})  # failures after which there is no process
_READY: Final = {"ready": "reset.schema#/$defs/answer"}
_STATED: Final = {name: f"decide.schema#/$defs/{name}" for name in ("statement", "document")}
ANSWERS: Final[Mapping[str, Mapping[str, str]]] = {
    "hello": {"hello": "hello.schema#/$defs/answer"},
    "reset": _READY,
    "decide": _STATED,
    "ask": _STATED,
    "offer": {
        **{name: f"offer.schema#/$defs/{name}" for name in ("statement", "declined", "call")},
        "document": _STATED["document"],
    },
    "restate": _STATED,
    "reveal": {"reveal": "reveal.schema#/$defs/answer"},
    "snapshot": {"snapshot": "snapshot.schema#/$defs/answer"},
    "restore": _READY,
}
"""The types that may answer each message of the protocol, and the schema of each."""

ANSWERS_WITH_PROPOSALS: Final = {**ANSWERS, "decide": {"proposals": "decide.schema#/$defs/proposals"}}
"""The same where an agent gives sets of proposals."""

_COMPARED: Final = ("nodes", "edges", "causal_claims", "counterfactuals")


class AgentFault(Exception):  # noqa: N818 - an outcome of a message
    """A message without a usable answer; `reason` says why, `answer` is what came."""

    def __init__(self, reason: str, answer: Answer) -> None:
        self.reason = reason
        self.answer = answer
        super().__init__(reason)


class AgentReply(NamedTuple):
    """A valid answer.

    Attributes:
        id: The message that it answers.
        received: The bytes that came.
    """

    body: dict[str, Any]
    sha256: str
    id: int
    session: int
    received: bytes


class Session:
    """What is said to one agent over a run.

    Attributes:
        said: The last answer to `hello`; empty before.
        bears: Called with a late answer, or one that ended its process, if the scenario bears that.
    """

    def __init__(self, plan: Plan, answers: Mapping[str, Mapping[str, str]], *, halting: bool) -> None:
        """Speak with the agent of a run through its oracle.

        The `answers` are the types that may answer each message. A session that is `halting` ends where an answer is
        late or ended its process; in another one that is a fault.
        """
        if plan.oracle is None:
            message = f"the agent of {plan.name} is outside, and neither a tape nor a trusted agent answers for it"
            raise Rejected([Diagnostic(E_AGENT_UNTRUSTED, message)])
        model = asked_of(plan).model
        plan.oracle.spending = Spending(model=model is not None, price=None if model is None else model.price)
        self.said: Mapping[str, Any] = {}
        self.bears: Callable[[Answer], None] = lambda _answer: None
        self._plan = plan
        self._oracle = plan.oracle
        self._halting = halting
        self._answers = answers
        self._faults: list[dict[str, Any]] = []
        self._limit = FaultLimit.of(plan.agent_faults)
        self._counted: Counter[int] = Counter()  # faults, by episode
        self._numbers = self._sessions = 0
        self._open: int | None = None
        self._opening: list[tuple[Mapping[str, Any], Any]] = []
        self._prefix: list[tuple[Mapping[str, Any], Any]] = []
        self._episode: int | None = None
        self._decision = (-1, -1)
        self._before = 0
        self._forks: set[int] = set()
        self._mark: Any = None
        self._now: Any = None
        self._moved = False

    @property
    def state(self) -> str:
        """How the agent keeps its state: `none`, `snapshot` or `replay`."""
        return str(self.said.get("state", "none"))

    def faults(self) -> list[dict[str, Any]]:
        """The faults since the last call: `{t, message, reason}` of each."""
        faults, self._faults = self._faults, []
        return faults

    def note(self, position: Place, type_: str, reason: str) -> None:
        """Count a fault that only who asked can see in an answer."""
        self._faults.append({"t": position.t, "message": type_, "reason": reason})
        self._counted[position.episode] += 1

    def begin(self, position: Place) -> None:
        """Say at which decision the messages that follow are sent."""
        if self._decision != (position.episode, position.t):
            self._decision = (position.episode, position.t)
            self._before = len(self._prefix) if self._episode == position.episode else 0
            self._mark = None
            for session in sorted(self._forks):
                self._oracle.end(session)
            self._forks.clear()

    def tell(self, position: Place, type_: str, fields: Mapping[str, Any], *, keep: bool = False) -> AgentReply:
        """Send a message that is part of the episode.

        It has a type of `ANSWERS`, and these fields beside `type` and `id`. If `keep`, questions about this decision
        may follow, from the agent's state before the message.

        Raises:
            AgentFault: There is no usable answer.
            Halted: In a halting session, the process that waited for the answer ended.
        """
        session = self._ready(position)
        if self._moved:
            self._send(position, session, self._message("restore", {"snapshot": self._now}))
            self._moved = False
        if keep and self.state == "snapshot" and self._mark is None:
            self._mark = self._snapshot(position, session)
        message = self._message(type_, fields)
        self._now = None
        reply = self._send(position, session, message)
        self._prefix.append((message, _compared(reply.body)))
        return reply

    def suppose(
        self, position: Place, type_: str, fields: Mapping[str, Any], *, fresh: int | None = None, keep: bool = False
    ) -> AgentReply:
        """Send a message that is no part of the episode, from the agent's state before this decision.

        The question is asked at the start of the episode `fresh`, if it is another one. If `keep`, a message may
        `follow` the reply.

        Raises:
            AgentFault: There is no usable answer.
            Halted: In a halting session, the process that waited for the answer ended.
            Unanswered: `not_repeatable`, if a fresh process does not answer the episode so far as before.
        """
        session = self._ready(position)
        if self.state == "replay":
            session = self._fork(position, fresh)
        elif self.state == "snapshot":
            if self._mark is None:  # an agent that was moved by the last decision's questions is not where it was
                self._now = self._now if self._moved else self._snapshot(position, session)
                self._mark = self._now
            elif self._now is None:
                self._now = self._snapshot(position, session)
            self._moved = True
            back = {"snapshot": self._mark}
            message = self._message("restore", back) if fresh is None else self._message("reset", {"episode": fresh})
            self._send(position, session, message)
        reply = self._send(position, session, self._message(type_, fields))
        if session != self._open:
            self._forks.add(session) if keep else self._oracle.end(session)
        return reply

    def follow(self, position: Place, reply: AgentReply, type_: str, fields: Mapping[str, Any]) -> AgentReply:
        """Send a message about an earlier reply to the process that gave it.

        Raises:
            AgentFault: There is no usable answer, or no such process any more.
            Halted: In a halting session, the process that waited for the answer ended.
        """
        if reply.session in self._forks:
            return self._send(position, reply.session, self._message(type_, fields))
        if reply.session != self._open:
            raise AgentFault(CLOSED, Answer(None, CLOSED))
        return self.tell(position, type_, fields)

    def _ready(self, position: Place) -> int:
        """The process that is asked, after `hello` and `reset`."""
        if self._open is None:
            number = self._sessions
            self._sessions += 1
            hello = self._message("hello", {"protocol": PROTOCOL, **greeting(self._plan)})
            reply = self._send(position, number, hello)
            self.said, self._open, self._episode = reply.body, number, None
            self._opening = [(hello, _compared(reply.body))]
            self._mark, self._now, self._moved = None, None, False
        if self._episode != position.episode:
            message = self._message("reset", {"episode": position.episode})
            reply = self._send(position, self._open, message)
            self._prefix = [(message, _compared(reply.body))]
            self._episode, self._before = position.episode, 1
            self._now, self._moved = None, False
        return self._open

    def _fork(self, position: Place, fresh: int | None) -> int:
        """A fresh process that has answered the episode up to this decision as before."""
        number = self._sessions
        self._sessions += 1
        known = self._opening + (self._prefix[: self._before] if fresh is None else [])
        for message, before in known:
            again = self._send(position, number, message)
            if _compared(again.body) != before:
                self._oracle.end(number)
                raise Unanswered(Cause.NOT_REPEATABLE.value)
        if fresh is not None:
            self._send(position, number, self._message("reset", {"episode": fresh}))
        return number

    def _snapshot(self, position: Place, session: int) -> Any:
        """The state of the agent: the one part of a later message that the agent makes."""
        message = self._message("snapshot", {})
        snapshot = self._send(position, session, message).body["snapshot"]
        try:
            canonical_bytes(snapshot)
        except NotCanonical:
            raise self._fault(position, message, WRONG_FORM, Answer()) from None
        return snapshot

    def _message(self, type_: str, fields: Mapping[str, Any]) -> dict[str, Any]:
        number = self._numbers
        self._numbers += 1
        return {"type": type_, "id": number, **fields}

    def _send(self, position: Place, session: int, message: Mapping[str, Any]) -> AgentReply:
        answer = self._oracle.ask(position, session, message)
        if answer.failure in _OVER:
            self._oracle.end(session)
            self._open = None if session == self._open else self._open
        if self._halting and halts(answer):
            fault = self._fault(position, message, answer.failure, answer)
            if not self._limit.holds(self._counted.total(), self._counted[position.episode]):
                raise Halted(answer)
            self._open, self._moved = None, False  # all processes of the agent ended with the one that asked
            self._forks.clear()
            self.bears(answer)
            raise fault
        body, reason = read_answer(answer, message["id"], self._answers[message["type"]])
        if reason:
            raise self._fault(position, message, reason, answer)
        return AgentReply(body, answer.sha256, message["id"], session, answer.received or b"")

    def _fault(self, position: Place, message: Mapping[str, Any], reason: str, answer: Answer) -> AgentFault:
        self.note(position, message["type"], reason)
        return AgentFault(reason, answer)


def asked_of(plan: Plan) -> PlannedOutside:
    """Who is asked in a run whose agent is outside."""
    assert plan.outside is not None  # noqa: S101 - see `loop.controllers_of`
    return plan.outside


def greeting(plan: Plan) -> dict[str, Any]:
    """The fields of `hello` that depend on the run."""
    asked = asked_of(plan)
    return {"scenario": plan.name, "operations": asked.operations, **asked.greeting(plan.start(0))}


def read_answer(answer: Answer, number: int, schemas: Mapping[str, str]) -> tuple[Any, str]:
    """The object that an answer is, or why it is a fault."""
    if answer.received is None or answer.failure:
        return None, answer.failure or NO_ANSWER
    try:
        body = parse_json(answer.received)
    except ValueError:
        return None, NOT_JSON
    if not isinstance(body, dict):
        return None, WRONG_FORM
    type_ = body.get("type")
    if not isinstance(type_, str) or type_ not in schemas:
        return None, WRONG_TYPE
    if body.get("id") != number or type(body["id"]) is not int:
        return None, WRONG_ID
    return (body, "") if shipped_schemas("protocol").check(schemas[type_])(body) else (None, WRONG_FORM)


def _compared(body: Mapping[str, Any]) -> Any:
    """What an answer must say again in a fresh process: nonces and what they go into may differ."""
    if body["type"] == "reveal":
        return None
    if body["type"] == "document":
        document = body["document"]
        trace = document.get("trace")
        parts = {name: trace.get(name) for name in _COMPARED} if isinstance(trace, dict) else None
        return document.get("payload"), parts
    return {name: value for name, value in body.items() if name not in ("id", "commitment")}
