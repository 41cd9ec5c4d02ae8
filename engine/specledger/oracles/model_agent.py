"""A language model as an agent: messages become questions, and calls of functions become statements.

Each operation of the world is a function that the model may call, with its reasons as one more argument. The session
makes the commitments: the nonces come from a stream of the run's seed and stay here until they are asked for. Nothing
that a model answers is trusted: a call that is no statement is a failure of the agent, a reason that cannot be read is
no claim. The first call is the action; calls of other actions beside it are counted, and never executed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

from msgspec import Struct
from msgspec.structs import asdict, replace

from specledger.core.canonical import NotCanonical, canonical_bytes, parse_canonical, parse_json
from specledger.core.digest import sha256_hex
from specledger.core.floats import FLOATS_ANYWHERE
from specledger.core.rng import Stream
from specledger.lang.choices import Choices
from specledger.lang.notation import Notation, texts_in
from specledger.oracles.action_tools import ACCEPT, CLAIMS, MOST_REASONS, REASONS, tools_of, with_offer
from specledger.oracles.answer import NOT_JSON, RAISED, Answer, received
from specledger.oracles.decision_prompt import DecisionPrompt
from specledger.oracles.model import Call, Model, ModelAnswer, ModelRequest, Tool, estimate_tokens
from specledger.oracles.reason_reading import Known, ReasonReader
from specledger.oracles.service_client import pricing
from specledger.oracles.statement import FURTHER
from specledger.spec.model import Service
from specledger.spec.prompt import Prompt

_NONCE: Final = 32
_MOST_NAME: Final = 80
_SETTINGS: Final = 200  # bytes of a request that say how to answer: temperature, seed, ...


class ModelPlan(Struct, frozen=True):
    """A model that was checked as an agent and not opened yet.

    Attributes:
        model: Opens the model; given True, a cassette records what it does not hold.
        readings: `text -> {variable, direction, choice}` of each of the forms that the text is in.
        notation: Reads what names an action of the world.
        schemas: For each operation the JSON Schemas of its arguments.
        choices: For each operation the labels of its actions.
        service: How the service is asked that answers, or that was recorded; None for a model that is no service.
        record: Whether a cassette asks for what it does not hold.
    """

    name: str
    model: Callable[[bool], Model]
    identity: Mapping[str, Any]
    prompt: Prompt
    forms: list[str]
    readings: Callable[[str], list[dict[str, str]]]
    notation: Notation
    schemas: Mapping[str, Mapping[str, Any]]
    choices: Mapping[str, Choices]
    seed: int
    deterministic: bool
    service: Service | None = None
    record: bool = False

    @property
    def price(self) -> Callable[[int, int], int] | None:
        """What tokens of questions and of answers cost, in millionths; None without a price."""
        return pricing(self.service)


class NoStatementError(Exception):
    """A model's answer is no statement; `failure` is one of `answer.FAILURES`, `reason` says why in a word."""

    def __init__(self, failure: str, reason: str) -> None:
        self.failure, self.reason = failure, reason
        super().__init__(reason)


class Question(NamedTuple):
    """What a model is asked: a text and the functions that it may call."""

    text: str
    tools: tuple[Tool, ...]


class Called(NamedTuple):
    """What a model called: an operation with its arguments, its reasons, and how many calls are of other actions."""

    op: str
    arguments: dict[str, Any]
    reasons: list[Any]
    others: int


class ModelAgent:
    """One session with a model."""

    def __init__(self, plan: ModelPlan) -> None:
        """Prepare; the model is opened when the first question is asked."""
        self._plan = plan
        self._model: Model | None = None
        self._asking: Asking | None = None
        self._reader = ReasonReader(plan.readings, plan.notation)
        self._source: dict[str, Any] = {}  # of what the answer was made: a request's key, and what the model answered
        self._turn = 0
        self._asked: dict[int, tuple[Question, Mapping[str, Any]]] = {}  # questions, by the number of their message
        self._committed: dict[str, tuple[str, dict[str, Any]]] = {}

    @property
    def started(self) -> bool:
        """Whether the model was opened."""
        return self._model is not None

    def exchange(self, message: bytes) -> Answer:
        """Answer one message."""
        self._source = {}
        asked: Any = parse_canonical(message, limit=len(message), most=len(message))
        try:
            answer = self._answer(asked)
            return received(canonical_bytes({"id": asked["id"], **answer, **self._source}, FLOATS_ANYWHERE))
        except NoStatementError as error:
            failure, reason = error.failure, error.reason
        except NotCanonical as error:
            failure, reason = NOT_JSON, error.code
        return replace(received(canonical_bytes(self._source)), failure=failure, reason=reason)

    def close(self, *, bye: bool = False) -> None:
        """Forget the session; a model that holds a connection closes it."""
        close = getattr(self._model, "close", None)
        if close is not None:
            close()
        self._model = None

    def _answer(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        kind = asked["type"]
        if kind == "hello":
            return self._hello(asked)
        if kind == "reveal":
            return self._reveal(asked["commitment"])
        if kind in ("decide", "ask", "restate", "offer"):
            return self._decide(asked)
        return {"type": "ready"}

    def _hello(self, hello: Mapping[str, Any]) -> dict[str, Any]:
        plan = self._plan
        self._asking = Asking(plan, hello)
        answers = {"state": "none", "deterministic": plan.deterministic, "can": ["claims", "commit"]}
        return {"type": "hello", "name": plan.name, **answers}

    def _decide(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        assert self._asking is not None  # noqa: S101 - a session begins with `hello`
        kind = asked["type"]
        question, shown = self._asked[asked["of"]] if kind == "restate" else (self._asking.question(asked), asked)
        answer = self._ask(question)
        self._asked[asked["id"]] = question, shown
        called = called_in(answer)
        arguments = called.arguments
        accepts, claims = arguments.pop(ACCEPT, None), arguments.pop(CLAIMS, {})
        if kind == "offer" and accepts is not True:
            if accepts is not False:
                raise NoStatementError(NOT_JSON, ACCEPT)
            return {"type": "declined"}
        action = {**arguments, "op": called.op}
        others = {FURTHER: called.others} if called.others else {}
        if kind == "decide" and "env" not in asked:
            typed = claims if isinstance(claims, dict) else {}
            return {"type": "proposals", "proposals": [{**typed, "action": action, "score": 0}], **others}
        if kind == "offer" and asked["offer"]["does"] == "call":
            return {"type": "call", "action": action, "token": asked["offer"]["call"]["token"]}
        known = Known(self._asking.variables(shown), {*texts_in(shown["observation"])})
        read = self._reader.read(called.reasons, answer.text or "", known)
        payload = {"action": action, "claims": read.claims}
        more: dict[str, Any] = {"unread": min(read.unread, MOST_REASONS)} if read.unread else {}
        more |= {"commitment": self._commit(asked["id"], payload)} if kind in ("decide", "offer") else {}
        return {"type": "statement", **payload, **more, **others, **({"takes": True} if kind == "offer" else {})}

    def _ask(self, question: Question) -> ModelAnswer:
        assert self._asking is not None  # noqa: S101 - see `_decide`
        if self._model is None:
            self._model = self._plan.model(self._plan.record)
        request = ModelRequest(self._turn, self._asking.system, question.text, tools=question.tools)
        answer = self._model.ask(request)
        self._turn += 1
        self._source = {"source": {"request": request.key(self._plan.identity), "answer": answer.document()}}
        if not answer.usable:
            raise NoStatementError(RAISED, answer.failure or "")
        return answer

    def _commit(self, number: int, payload: dict[str, Any]) -> str:
        nonce = Stream.named(self._plan.seed, "model-nonce", number).bytes(_NONCE)
        commitment = sha256_hex(nonce + canonical_bytes(payload, FLOATS_ANYWHERE))
        self._committed[commitment] = (nonce.hex(), payload)
        return commitment

    def _reveal(self, commitment: str) -> dict[str, Any]:
        if commitment not in self._committed:
            raise NoStatementError(RAISED, "unknown_commitment")
        nonce, payload = self._committed[commitment]
        return {"type": "reveal", "nonce": nonce, "payload": payload}


class Asking:
    """Makes the questions of a run whose `hello` is known.

    Attributes:
        system: The system instruction of every question.
    """

    def __init__(self, plan: ModelPlan, hello: Mapping[str, Any]) -> None:
        """Word what stays the same."""
        self._plan, self._hello = plan, hello
        self._prompt = DecisionPrompt(plan.prompt, plan.forms, hello, plan.choices)
        self._tools: dict[tuple[str, ...], tuple[Tool, ...]] = {}
        self.system = self._prompt.system

    def variables(self, asked: Mapping[str, Any]) -> list[str]:
        """The variables that reasons may name in the answer to a message."""
        return list(asked.get("variables") or self._hello["variables"])

    def question(self, asked: Mapping[str, Any]) -> Question:
        """The question that a message amounts to."""
        names = tuple(self.variables(asked))
        if names not in self._tools:
            self._tools[names] = tools_of(self._hello, self._plan.schemas, self._plan.choices, names)
        tools = self._tools[names]
        return Question(self._prompt.text(asked), tuple(map(with_offer, tools)) if "offer" in asked else tools)

    def tokens(self, question: Question) -> int:
        """About how many tokens a question has, with the system instruction and the functions that are offered."""
        offered = canonical_bytes([asdict(tool) for tool in question.tools]).decode()
        return sum(map(estimate_tokens, (self.system, question.text, offered)))

    def request_bytes(self, question: Question) -> int:
        """About how many bytes a service receives that is asked: the same as JSON, in the shape of its interface."""
        functions = [{"type": "function", "function": asdict(tool)} for tool in question.tools]
        messages = [{"role": "system", "content": self.system}, {"role": "user", "content": question.text}]
        return len(canonical_bytes({"messages": messages, "tools": functions})) + _SETTINGS


def called_in(answer: ModelAnswer) -> Called:
    """What an answer calls: the first call, with the reasons of every call of the same action.

    Raises:
        NoStatementError: There is none, or its arguments are no JSON object, or hold the name of the operation.
    """
    if not answer.calls:
        raise NoStatementError(RAISED, "no_call")
    first = arguments_of(answer.calls[0])
    if first is None:
        raise NoStatementError(NOT_JSON, "arguments")
    name, reasons, others = answer.calls[0].name, [first.pop(REASONS, [])], 0
    for call in answer.calls[1:]:
        arguments = arguments_of(call)
        more = {} if arguments is None else arguments
        stated = more.pop(REASONS, [])
        if arguments is None or call.name != name or _without_answers(more) != _without_answers(first):
            others += 1
        else:
            reasons.append(stated)
    return Called(name, first, reasons, others)


def arguments_of(call: Call) -> dict[str, Any] | None:
    """The arguments of a call; None if it is of no operation that a statement may name."""
    try:
        arguments = parse_json(call.arguments.encode() or b"{}")
    except ValueError:
        return None
    usable = isinstance(arguments, dict) and "op" not in arguments and 0 < len(call.name) <= _MOST_NAME
    return arguments if usable else None


def _without_answers(arguments: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in arguments.items() if name not in (ACCEPT, CLAIMS)}
