"""A model that chooses by labels: each choice is a letter, and the one that is most probable as its answer is taken.

A call of a function is chosen step by step: the function, then each of its arguments that has finitely many values. An
argument of any other kind is left out, or empty where it is required. The log probabilities stay in the answer's text.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from string import ascii_letters, ascii_uppercase
from typing import Any, Final

from msgspec.structs import replace

from specledger.core.canonical import canonical_bytes, parse_json
from specledger.oracles.answer_forms import close_model
from specledger.oracles.failures import EMPTY, MALFORMED
from specledger.oracles.model import Call, Model, ModelAnswer, ModelRequest, TokenUsage, Tool, answered, failed

LETTERS: Final = (*ascii_uppercase, *ascii_letters[:26])
"""The labels, in the order in which choices get them."""
_DEFAULTS: Final[Mapping[str, Any]] = {
    "string": "",
    "integer": 0,
    "number": 0,
    "boolean": False,
    "array": [],
    "object": {},
}
_ASKED: Final = "\n\n# Your answer\n\n{what} Answer with one letter and nothing else.\n{options}\n"


class LabelCalls:
    """A model that is asked for a call by labels."""

    def __init__(self, model: Model) -> None:
        self._model = model

    def ask(self, request: ModelRequest) -> ModelAnswer:
        """The call that the most probable labels amount to; a request without functions is passed on."""
        return _Choice(self._model, request).answer() if request.tools else self._model.ask(request)

    def close(self) -> None:
        """Close the model, if it holds a connection."""
        close_model(self._model)


class _Undecided(Exception):  # noqa: N818 - an outcome of a question
    """No label was chosen; the answer says why."""

    def __init__(self, answer: ModelAnswer) -> None:
        self.answer = answer
        super().__init__(answer.failure)


class _Choice:
    """The questions by which one call is chosen."""

    def __init__(self, model: Model, request: ModelRequest) -> None:
        self._model, self._request = model, request
        self._usage: list[TokenUsage] = []
        self._said: list[dict[str, Any]] = []

    def answer(self) -> ModelAnswer:
        tools = {tool.name: tool for tool in self._request.tools}
        options = [f"{tool.name}: {tool.description}" for tool in self._request.tools]
        try:
            number = self._choose("Which function do you call?", options) if len(tools) > 1 else 0
            tool = self._request.tools[number]
            arguments = self._object(tool, tool.parameters, "")
        except _Undecided as undecided:
            answer = undecided.answer
            return failed(answer.failure or EMPTY, answer.detail, self._total(), answer.finish, answer.text)
        call = Call(tool.name, canonical_bytes(arguments).decode())
        return answered(canonical_bytes({"labels": self._said}).decode(), self._total(), None, [call])

    def _object(self, tool: Tool, schema: Mapping[str, Any], path: str) -> dict[str, Any]:
        """An object that has the properties of a schema that can be chosen, or that are required."""
        chosen: dict[str, Any] = {}
        for name, wanted in schema.get("properties", {}).items():
            where = f"{path}{name}"
            values = _values(wanted)
            if values:
                about = f" {wanted['description']}" if "description" in wanted else ""
                number = self._choose(
                    f"You call {tool.name}. What is its `{where}`?{about}", [_shown(v) for v in values]
                )
                chosen[name] = values[number]
            elif wanted.get("items", {}).get("properties"):
                chosen[name] = [self._object(tool, wanted["items"], f"{where}.")]
            elif name in schema.get("required", ()):
                chosen[name] = _DEFAULTS.get(wanted.get("type", "string"), "")
        return chosen

    def _choose(self, what: str, options: Sequence[str]) -> int:
        """The number of the option whose label is most probable.

        Raises:
            _Undecided: The model failed, or none of the labels is its answer.
        """
        if len(options) > len(LETTERS):
            raise _Undecided(failed(MALFORMED, f"{len(options)} choices, more than {len(LETTERS)}"))
        labels = LETTERS[: len(options)]
        listed = "\n".join(f"{label}. {option}" for label, option in zip(labels, options, strict=True))
        prompt = self._request.prompt.rstrip() + _ASKED.format(what=what, options=listed)
        answer = self._model.ask(replace(self._request, prompt=prompt, tools=(), schema=None, labels=labels))
        self._usage.append(answer.usage)
        if not answer.usable or answer.text is None:
            raise _Undecided(answer)
        label, probabilities = read_label(answer.text, labels)
        if label is None:
            raise _Undecided(failed(EMPTY, "no label", answer.usage, answer.finish, answer.text))
        self._said.append({"asked": what, "label": label, "logprobs": probabilities})
        return labels.index(label)

    def _total(self) -> TokenUsage:
        usage = self._usage
        return TokenUsage(
            sum(used.prompt_tokens for used in usage),
            sum(used.output_tokens for used in usage),
            sum(used.thinking_tokens for used in usage),
            any(used.estimated for used in usage),
        )


def label_text(label: str, logprobs: Mapping[str, int]) -> str:
    """The text of a service's answer by labels: the one that is most probable, and all log probabilities in 1e-6."""
    return canonical_bytes({"label": label, "logprobs": dict(logprobs)}).decode()


def read_label(text: str, labels: Sequence[str]) -> tuple[str | None, dict[str, int]]:
    """The label that a text is, or begins with, and the log probabilities that it holds; None where it is none."""
    try:
        document: Any = parse_json(text.encode())
        if isinstance(document, dict) and document.get("label") in labels and isinstance(document["logprobs"], dict):
            return document["label"], document["logprobs"]
    except (ValueError, KeyError):
        pass
    word = text.strip().split(" ", 1)[0].strip("().:\"'*\n")
    return (word if word in labels else None), {}


def most_probable(tokens: Sequence[tuple[str, float]], labels: Sequence[str]) -> str | None:
    """The text of an answer by labels, of a service that gives the likeliest tokens; None if no label is among them."""
    found: dict[str, int] = {}
    for token, logprob in tokens:
        label = token.strip()
        if label in labels:
            found[label] = max(found.get(label, -(10**12)), round(logprob * 1_000_000))
    best = max(found, key=lambda label: (found[label], -labels.index(label)), default=None)
    return None if best is None else label_text(best, found)


def _values(schema: Mapping[str, Any]) -> list[Any]:
    """The values that a schema allows, where it lists them."""
    if "enum" in schema:
        return list(schema["enum"])
    if schema.get("type") == "boolean":
        return [True, False]
    return []


def _shown(value: Any) -> str:
    return value if isinstance(value, str) else canonical_bytes(value).decode()


def logprob_tokens(choice: Any) -> Iterator[tuple[str, float]]:
    """The likeliest first tokens of a chat completion's choice, with their log probabilities, as far as it has them."""
    content = (choice.get("logprobs") or {}).get("content") if isinstance(choice, dict) else None
    first = content[0] if isinstance(content, list) and content and isinstance(content[0], dict) else {}
    for entry in first.get("top_logprobs") or (first,):
        if (
            isinstance(entry, dict)
            and isinstance(entry.get("token"), str)
            and type(entry.get("logprob")) in (int, float)
        ):
            yield entry["token"], float(entry["logprob"])
