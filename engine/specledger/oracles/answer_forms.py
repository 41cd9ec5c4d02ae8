"""Models that make no calls of functions, asked in another form: one JSON object, or labels of choices.

What comes back is an answer with the call that it amounts to, so that nobody who asks needs to know of the form. A
request without functions is passed on as it is.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from msgspec.structs import asdict, replace

from specledger.core.canonical import NotCanonical, canonical_bytes, parse_json
from specledger.core.floats import FLOATS_ANYWHERE
from specledger.oracles.model import Call, Model, ModelAnswer, ModelRequest, answered

_AS_JSON: Final = """

# The form of your answer

Answer with one JSON object and nothing else: {"call": NAME, "arguments": {...}}. NAME is one of these functions:
"""


class JsonCalls:
    """A model that is asked for a call as a JSON object."""

    def __init__(self, model: Model) -> None:
        self._model = model

    def ask(self, request: ModelRequest) -> ModelAnswer:
        """What the model answers; the call that its JSON object is, where it is one."""
        if not request.tools:
            return self._model.ask(request)
        offered = "\n".join(canonical_bytes(asdict(tool)).decode() for tool in request.tools)
        prompt = f"{request.prompt.rstrip()}{_AS_JSON}{offered}\n"
        asked = replace(request, prompt=prompt, schema=_schema(request), tools=())
        answer = self._model.ask(asked)
        call = None if answer.text is None or not answer.usable else read_call(answer.text)
        return answer if call is None else answered("", answer.usage, answer.finish, [call])

    def close(self) -> None:
        """Close the model, if it holds a connection."""
        close_model(self._model)


def _schema(request: ModelRequest) -> dict[str, Any]:
    """The JSON Schema of an object that is a call of one of the functions."""
    calls = [
        {
            "type": "object",
            "properties": {"call": {"type": "string", "enum": [tool.name]}, "arguments": dict(tool.parameters)},
            "required": ["call", "arguments"],
        }
        for tool in request.tools
    ]
    return calls[0] if len(calls) == 1 else {"anyOf": calls}


def read_call(text: str) -> Call | None:
    """The call that a JSON object amounts to, whatever words stand around it; None if there is none."""
    start, end = text.find("{"), text.rfind("}")
    try:
        document: Any = parse_json(text[start : end + 1].encode())
        name = document.get("call") if isinstance(document, Mapping) else None
        arguments = document.get("arguments", {}) if isinstance(document, Mapping) else None
        if not isinstance(name, str) or not isinstance(arguments, Mapping):
            return None
        return Call(name, canonical_bytes(dict(arguments), FLOATS_ANYWHERE).decode())
    except (ValueError, NotCanonical):
        return None


def close_model(model: Model) -> None:
    """Close a model that holds a connection."""
    close = getattr(model, "close", None)
    if close is not None:
        close()
