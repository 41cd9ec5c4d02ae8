"""A language model as an agent: messages become questions, and calls of functions become statements.

Each operation of the world is a function that the model may call, with its reasons as one more argument. The session
makes the commitments: the nonces come from a stream of the run's seed and stay here until they are asked for. Nothing
that a model answers is trusted: a call that is no statement is a failure of the agent, a reason that is in none of the
forms is no claim.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import asdict, replace

from specledger.core.canonical import NotCanonical, canonical_bytes, parse_canonical, parse_json
from specledger.core.diagnostics import Diagnostics
from specledger.core.digest import sha256_hex
from specledger.core.floats import FLOATS_ANYWHERE
from specledger.core.rng import Stream
from specledger.lang.notation import spellings
from specledger.lang.prompt_template import check_about, check_sections, fill_sections
from specledger.load import Resolved
from specledger.oracles.answer import NOT_JSON, RAISED, Answer, received
from specledger.oracles.model import Model, ModelAnswer, ModelRequest, Tool, estimate_tokens
from specledger.oracles.service_client import cost_of
from specledger.spec.model import Service
from specledger.spec.prompt import Prompt

_TOLD: Final[Mapping[str, Any]] = {
    "scenario": "",
    "operations": [{"op": "", "args": {}}],
    "variables": [""],
    "meanings": [{"variable": "", "type": {}, "doc": "", "value": None}],
    "forms": [""],
}
_ASKED: Final[Mapping[str, Any]] = {**_TOLD, "observation": {}}
_OFFERED: Final[Mapping[str, Any]] = {**_ASKED, "offer": {"text": ""}}


def check_decision_prompt(spec: Resolved, diagnostics: Diagnostics) -> None:
    """Find the places of a prompt about decisions that nothing fills."""
    model = spec.model
    assert isinstance(model, Prompt)  # noqa: S101 - a reference of kind prompt holds nothing else
    check_about(spec, "decisions", diagnostics)
    check_sections(model.system, _TOLD, spec, "system", diagnostics)
    check_sections(model.static, _ASKED, spec, "static", diagnostics)
    check_sections(model.offer, _OFFERED, spec, "offer", diagnostics)


class DecisionPrompt:
    """Words the questions of one session."""

    def __init__(self, prompt: Prompt, forms: list[str], hello: Mapping[str, Any]) -> None:
        """Read what `hello` says of the run, and the forms of reasons."""
        self._prompt = prompt
        self._variables: Mapping[str, Any] = hello["variables"]
        facts = {name: hello[name] for name in ("scenario", "operations")}
        self._facts = {**facts, "forms": forms, **_named(self._variables)}
        self.system = fill_sections(prompt.system, self._facts)

    def text(
        self,
        observation: Any,
        offer: Mapping[str, Any] | None = None,
        variables: Mapping[str, Any] | None = None,
    ) -> str:
        """The question about an observation: the same for a decision and a counterfactual question.

        `variables` are those that there are now, with their values; by default those that `hello` told.
        """
        facts = {**self._facts, **_named(variables or self._variables), "observation": observation}
        asked = fill_sections(self._prompt.static, facts)
        return asked if offer is None else asked + fill_sections(self._prompt.offer, {**facts, "offer": dict(offer)})


def _named(variables: Mapping[str, Any]) -> dict[str, Any]:
    """The facts of a prompt about variables: their names, and what each means and is now."""
    return {
        "variables": list(variables),
        "meanings": [{"value": None, **about, "variable": name} for name, about in variables.items()],
    }


REASONS: Final = "reasons"
"""The argument of every function that takes the reasons."""

CLAIMS: Final = "claims"
"""The argument of every function that takes the claims of a governor without a kernel."""

MOST_REASONS: Final = 64
"""Lines of reasons that are read."""

ACCEPT: Final = "accept"
"""The argument that says whether an offer is taken, where one is made."""

ARGUMENTS: Final = frozenset({REASONS, CLAIMS, ACCEPT})
"""The arguments beside those of an operation."""

_NONCE: Final = 32
_DIRECTIONS: Final = {"increases": "increases", "decreases": "decreases", "is removed": "removed"}
_BECOMES: Final = "becomes "


class ModelPlan(Struct, frozen=True):
    """A model that was checked as an agent and not opened yet.

    Attributes:
        model: Opens the model; given True, a cassette records what it does not hold.
        read: `text -> {variable, direction, choice}`, or None where the text is in none of the forms.
        schemas: For each operation the JSON Schemas of its arguments.
        service: How the service is asked that answers, or that was recorded; None for a model that is no service.
        record: Whether a cassette asks for what it does not hold.
    """

    name: str
    model: Callable[[bool], Model]
    identity: Mapping[str, Any]
    prompt: Prompt
    forms: list[str]
    read: Callable[[str], Mapping[str, str] | None]
    schemas: Mapping[str, Mapping[str, Any]]
    seed: int
    deterministic: bool
    service: Service | None = None
    record: bool = False

    @property
    def price(self) -> Callable[[int, int], int] | None:
        """What tokens of questions and of answers cost, in millionths; None without a price."""
        price = None if self.service is None else self.service.price
        return None if price is None else partial(cost_of, price)


class NoStatementError(Exception):
    """A model's answer is no statement; `failure` is one of `answer.FAILURES`, `reason` says why in a word."""

    def __init__(self, failure: str, reason: str) -> None:
        self.failure, self.reason = failure, reason
        super().__init__(reason)


class ModelAgent:
    """One session with a model."""

    def __init__(self, plan: ModelPlan) -> None:
        """Prepare; the model is opened when the first question is asked."""
        self._plan = plan
        self._model: Model | None = None
        self._prompt: DecisionPrompt | None = None
        self._tools: tuple[Tool, ...] = ()
        self._source: dict[str, Any] = {}  # of what the answer was made: a request's key, and what the model answered
        self._turn = 0
        self._asked: dict[int, str] = {}  # the texts of the questions, by the number of their message
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
        self._prompt, self._tools = DecisionPrompt(plan.prompt, plan.forms, hello), _tools(plan, hello)
        answers = {"state": "none", "deterministic": plan.deterministic, "can": ["claims", "commit"]}
        return {"type": "hello", "name": plan.name, **answers}

    def _decide(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        assert self._prompt is not None  # noqa: S101 - a session begins with `hello`
        kind, tools = asked["type"], self._tools
        if kind == "restate":
            text = self._asked[asked["of"]]
        else:
            text = self._prompt.text(asked["observation"], asked.get("offer"), asked.get("variables"))
        if kind == "offer":
            tools = tuple(map(_offered, tools))
        answer = self._ask(text, tools)
        self._asked[asked["id"]] = text
        name, arguments = _called(answer)
        accepts, claims = arguments.pop(ACCEPT, None), arguments.pop(CLAIMS, {})
        if kind == "offer" and accepts is not True:
            if accepts is not False:
                raise NoStatementError(NOT_JSON, ACCEPT)
            return {"type": "declined"}
        reasons = _lines(arguments.pop(REASONS, []))
        given, reasons = (
            len(reasons),
            [*reasons, *(answer.text or "").splitlines()],
        )  # the words beside a call are prose
        action = {**arguments, "op": name}
        if kind == "decide" and "env" not in asked:
            typed = claims if isinstance(claims, dict) else {}
            return {"type": "proposals", "proposals": [{**typed, "action": action, "score": 0}]}
        if kind == "offer" and asked["offer"]["does"] == "call":
            return {"type": "call", "action": action, "token": asked["offer"]["call"]["token"]}
        claims = [*map(self._claim, reasons[:MOST_REASONS])]
        payload = {"action": action, "claims": [claim for claim in claims if claim is not None][:MOST_REASONS]}
        said = claims[:given]
        more: dict[str, Any] = {"unread": said.count(None)} if None in said else {}
        more |= {"commitment": self._commit(asked["id"], payload)} if kind in ("decide", "offer") else {}
        return {"type": "statement", **payload, **more, **({"takes": True} if kind == "offer" else {})}

    def _ask(self, text: str, tools: tuple[Tool, ...]) -> ModelAnswer:
        assert self._prompt is not None  # noqa: S101 - see `_decide`
        if self._model is None:
            self._model = self._plan.model(self._plan.record)
        request = ModelRequest(self._turn, self._prompt.system, text, tools=tools)
        answer = self._model.ask(request)
        self._turn += 1
        self._source = {"source": {"request": request.key(self._plan.identity), "answer": answer.document()}}
        if not answer.usable:
            raise NoStatementError(RAISED, answer.failure or "")
        return answer

    def _claim(self, text: str) -> dict[str, Any] | None:
        """The claim that a reason makes; None if it is in none of the forms."""
        said = next((said for plain in spellings(text) if (said := self._plan.read(plain))), None)
        return None if said is None else _claim(said)

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


def question_tokens(plan: ModelPlan, hello: Mapping[str, Any], observation: Any) -> int:
    """About how many tokens a question has, with the functions that are offered."""
    prompt = DecisionPrompt(plan.prompt, plan.forms, hello)
    offered = canonical_bytes([asdict(tool) for tool in _tools(plan, hello)]).decode()
    return sum(map(estimate_tokens, (prompt.system, prompt.text(observation), offered)))


def _tools(plan: ModelPlan, hello: Mapping[str, Any]) -> tuple[Tool, ...]:
    return tuple(
        Tool(
            operation["op"],
            f"{operation['op']}: one action.",
            _parameters(plan.schemas[operation["op"]], hello[CLAIMS]),
        )
        for operation in hello["operations"]
    )


def _called(answer: ModelAnswer) -> tuple[str, dict[str, Any]]:
    """The first call of an answer: its name and arguments.

    Raises:
        NoStatementError: There is none, or its arguments are no JSON object, or hold the name of the operation.
    """
    if not answer.calls:
        raise NoStatementError(RAISED, "no_call")
    name, text = answer.calls[0].name, answer.calls[0].arguments
    try:
        arguments = parse_json(text.encode() or b"{}")
    except ValueError:
        raise NoStatementError(NOT_JSON, "arguments") from None
    if not isinstance(arguments, dict) or "op" in arguments or not 0 < len(name) <= 80:
        raise NoStatementError(NOT_JSON, "arguments")
    return name, arguments


def _offered(tool: Tool) -> Tool:
    """A function that also says whether an offer is taken."""
    schema = tool.parameters
    properties = {**schema["properties"], ACCEPT: {"type": "boolean", "description": "Whether you take the offer."}}
    return replace(tool, parameters={**schema, "properties": properties, "required": sorted(properties)})


def _lines(reasons: Any) -> list[str]:
    """The lines of the argument `reasons`, a list of texts or one text."""
    texts = reasons if isinstance(reasons, list) else [reasons]
    return [line for text in texts if isinstance(text, str) for line in text.splitlines() if line.strip()]


def _claim(said: Mapping[str, str]) -> dict[str, Any] | None:
    """A claim of the protocol; None if what the variable becomes is no JSON value."""
    claim: dict[str, Any] = {"variable": said["variable"], "choice": said["choice"]}
    direction = said["direction"]
    if direction in _DIRECTIONS:
        return {**claim, "direction": _DIRECTIONS[direction]}
    for plain in spellings(direction.removeprefix(_BECOMES)):
        try:
            value = parse_json(plain.encode())
            canonical_bytes(value, FLOATS_ANYWHERE)
        except (ValueError, NotCanonical):
            continue
        return {**claim, "becomes": value}
    return None


def _parameters(schemas: Mapping[str, Any], claims: Mapping[str, str]) -> dict[str, Any]:
    """The JSON Schema of a function's arguments: those of the operation, and the reasons or the claims."""
    words = {"type": "array", "items": {"type": "string"}, "description": "Your reasons, each in one of the forms."}
    named = {name: {"type": _JSON_TYPES.get(kind, "string")} for name, kind in claims.items()}
    said = {CLAIMS: {"type": "object", "properties": named, "required": sorted(named)}} if claims else {REASONS: words}
    properties = {**{name: dict(schema) for name, schema in schemas.items()}, **said}
    return {"type": "object", "properties": properties, "required": sorted(properties)}


_JSON_TYPES: Final = {"int": "integer", "bool": "boolean", "string": "string"}
