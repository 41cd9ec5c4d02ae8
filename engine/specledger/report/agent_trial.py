"""What is wrong with the answers of an agent on trial, in words: beside the evidence, its messages are known."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from msgspec import Struct

from specledger.core.canonical import parse_json
from specledger.core.diagnostics import printable, suggest
from specledger.gates.documents import Validator, shipped_schemas
from specledger.oracles.answer import NOT_JSON, RAISED, TIMED_OUT, Exchange
from specledger.oracles.statement import UNREAD
from specledger.run.session import ANSWERS, ANSWERS_WITH_PROPOSALS, WRONG_FORM, WRONG_ID, WRONG_TYPE, read_answer

NOT_VALID: Final = "not_valid"
"""Why the gate `schema` rejects a document that its schema refuses."""
NO_CLAIMS: Final = "`claims` is empty: a statement needs at least one, also where no value would change the choice"

_SHOWN: Final = 200  # characters of what an agent wrote


class Trial(Struct, frozen=True):
    """What was seen of an agent on trial, beside the evidence.

    Attributes:
        questions: Its messages, in the order of the exchanges.
        limit: The time limit of an answer, in words.
        document: The schema of documents; None where no kernel asks.
        errors: The end of the standard error of its program, or what its function raised first.
    """

    questions: Sequence[Mapping[str, Any]]
    limit: str
    document: str | None
    errors: str = ""

    @property
    def _hello(self) -> Mapping[str, Any]:
        """The message that greets it; empty if there was none."""
        return next((question for question in self.questions if question["type"] == "hello"), {})

    def faults(self, exchanges: Iterable[Exchange]) -> dict[str, str]:
        """What is wrong with the first answer of each agent fault."""
        answers = ANSWERS_WITH_PROPOSALS if self.document is None else ANSWERS
        faults: dict[str, str] = {}
        for exchange, question in zip(exchanges, self.questions, strict=False):
            schemas = answers[exchange.asked.message]
            _, reason = read_answer(exchange.answer, question["id"], schemas)
            if reason and reason not in faults:
                faults[reason] = _shown(self._fault(reason, exchange, question, schemas))
        return faults

    def submission(
        self, reason: str, position: tuple[int, int], exchanges: Iterable[Exchange], document: str | None = None
    ) -> str:
        """What is wrong with what was submitted at a decision; empty if it is not known.

        `document` is what the kernel made of a statement, as text.
        """
        for exchange in exchanges:
            if (exchange.episode, exchange.t) == position and exchange.asked.message == "decide":
                message = body_of(exchange)
                if reason == NOT_VALID and message.get("type") == "statement" and document is not None:
                    return _shown(self._stated(message, document))
                return _shown(self._submitted(reason, message))
        return ""

    def _stated(self, message: Mapping[str, Any], document: str) -> str:
        """What the schema refuses of the document that the kernel made of a statement."""
        if not message.get("claims"):
            return NO_CLAIMS
        if self.document is None:
            return ""
        try:
            return _refused_place(shipped_schemas("axion"), self.document, parse_json(document.encode()))
        except ValueError:
            return ""

    def _fault(self, reason: str, exchange: Exchange, question: Mapping[str, Any], schemas: Mapping[str, str]) -> str:
        answer = exchange.answer
        if reason == TIMED_OUT:
            return self.limit
        if reason == RAISED and self.errors:
            return self.errors
        if reason == NOT_JSON and answer.received is not None:
            return f"the answer begins {answer.received[:60].decode(errors='replace')!r}"
        message = body_of(exchange)
        if reason == WRONG_ID:
            return f"expected `id` {question['id']}, found {message.get('id')!r}"
        if reason == WRONG_TYPE:
            return f"expected `type` {' or '.join(schemas)}, found {message.get('type')!r}"
        if reason == WRONG_FORM:
            return (
                _refused_place(shipped_schemas("protocol"), schemas[message["type"]], message)
                if message
                else "expected an object"
            )
        return answer.reason

    def _submitted(self, reason: str, message: Mapping[str, Any]) -> str:
        if message.get("type") == "document":
            return (
                ""
                if self.document is None
                else _refused_place(shipped_schemas("axion"), self.document, message["document"])
            )
        claims = message.get("claims", [])
        if reason == UNREAD:
            named = self._unknown_variable([claim["variable"] for claim in claims])
            return named or self._unknown_action(claim["choice"] for claim in claims)
        if reason == "unknown_action":
            proposals = message.get("proposals", [message])
            return self._unknown_action(proposal.get("action") for proposal in proposals if isinstance(proposal, dict))
        proposals = message.get("proposals", []) if reason == "malformed_proposal" else []
        return next(
            (words for index, proposal in enumerate(proposals) if (words := self._malformed(index, proposal))), ""
        )

    def _malformed(self, index: int, proposal: Any) -> str:
        """What is wrong with a proposal beside claims that are missing; empty if nothing is seen."""
        if not isinstance(proposal, dict):
            return f"`[{index}]` is {proposal!r}, expected an object"
        if type(proposal.get("score")) is not int:
            return f"`[{index}].score` is {proposal.get('score', 'missing')!r}, expected a whole number"
        others = sorted(proposal.keys() - {"action", "score", *self._hello.get("claims", {})})
        if others:
            return f"`[{index}].{others[0]}` is no claim of the governor"
        action = proposal.get("action", {})
        known = {operation["op"]: {*operation["args"]} for operation in self._hello.get("operations", ())}
        op = action.get("op") if isinstance(action, dict) else None
        taken = known.get(op) if isinstance(op, str) else None
        if taken is None or action.keys() - {"op"} == taken:
            return ""
        return f"`[{index}].action` has {_list(action.keys() - {'op'})}, and {op!r} takes {_list(taken)}"

    def _unknown_variable(self, named: Sequence[str]) -> str:
        known: list[str] = [*self._hello.get("variables", ())]
        for name in named:
            if name not in known:
                near = suggest(name, known)
                return f"{name!r} is none of the `variables` of `hello`" + (f", did you mean {near!r}?" if near else "")
        return "" if named else "no claim names a variable"

    def _unknown_action(self, actions: Iterable[Any]) -> str:
        known = {operation["op"]: operation["args"] for operation in self._hello.get("operations", ())}
        for action in actions:
            if isinstance(action, dict) and not _is_known(action, known):
                return f"{action!r} is none of the `operations` of `hello`"
        return ""


def _is_known(action: Mapping[str, Any], known: Mapping[str, Mapping[str, Any]]) -> bool:
    """Whether an action is an operation with its arguments, as far as they are lists of values."""
    op, given = action.get("op"), {name: value for name, value in action.items() if name != "op"}
    args = known.get(op) if isinstance(op, str) else None
    return (
        args is not None
        and given.keys() == args.keys()
        and all(not isinstance(values, list) or given[name] in values for name, values in args.items())
    )


def _refused_place(validator: Validator, schema: str, document: Any) -> str:
    """The first place of a document that its schema refuses."""
    return next((f"{path}: {message}" for message, path in validator.explain(schema, document)), "")


def body_of(exchange: Exchange) -> dict[str, Any]:
    """The object that an answer is; empty if it is none."""
    try:
        body = parse_json(exchange.answer.received or b"")
    except ValueError:
        return {}
    return body if isinstance(body, dict) else {}


def _shown(text: str) -> str:
    return printable(text if len(text) <= _SHOWN else f"{text[:_SHOWN]}...")


def _list(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in sorted(names)) or "no argument"
