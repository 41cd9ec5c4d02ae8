"""How a model is asked about a recorded call: the prompt, the functions that it is offered, and its choices."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from specledger.core.canonical import canonical_bytes, parse_json
from specledger.core.diagnostics import Diagnostics
from specledger.lang.prompt_template import check_about, check_sections, fill_sections
from specledger.load import Resolved
from specledger.oracles.model import ModelAnswer, Tool
from specledger.spec.agent import AskedAgain
from specledger.spec.base import QFIXED_ONE
from specledger.spec.prompt import Prompt
from specledger.wings.challenges.transcript import Sentence, with_added
from specledger.wings.trajectories.model import Call, Entry

NO_CALL: Final = "no_call"
"""The function that a model calls which calls no tool."""
BECAUSE: Final = "because"
"""The function by which a model states its reasons."""
MOST_REASONS: Final = 3
"""Reasons that a model is asked for at most, and that are read."""

_TOLD: Final[Mapping[str, Any]] = {"tools": [{"name": "", "about": ""}]}
_ASKED: Final[Mapping[str, Any]] = {**_TOLD, "entries": [{"id": "", "who": "", "text": ""}]}
_EXPLAINED: Final[Mapping[str, Any]] = {**_ASKED, "choice": "", "arguments": {}, "most": MOST_REASONS}


def check_call_prompt(spec: Resolved, diagnostics: Diagnostics) -> None:
    """Find the places of a prompt about calls that nothing fills."""
    model = spec.model
    assert isinstance(model, Prompt)  # noqa: S101 - a reference of kind prompt holds nothing else
    check_about(spec, "calls", diagnostics)
    check_sections(model.system, _TOLD, spec, "system", diagnostics)
    check_sections(model.static, _ASKED, spec, "static", diagnostics)
    check_sections(model.reasons, _EXPLAINED, spec, "reasons", diagnostics)


class Wording:
    """Words the questions about one call, and reads the answers."""

    def __init__(self, asked: AskedAgain, prompt: Prompt, entries: Sequence[Entry]) -> None:
        """Offer the tools of a trajectory, and those that the agent names."""
        self._prompt, self._compare = prompt, asked.compare
        called = (entry for entry in entries if isinstance(entry, Call))
        arguments: dict[str, set[str]] = {name: set() for name in asked.tools}
        for call in called:
            keys = call.arguments if isinstance(call.arguments, dict) else {}
            arguments.setdefault(call.tool, set()).update(keys)
        self._about = {name: asked.tools.get(name, "") for name in sorted(arguments)}
        self.tools = (
            *(Tool(name, about or f"{name}: a tool.", _schema(arguments[name])) for name, about in self._about.items()),
            Tool(NO_CALL, "Call no tool: answer in words, or end.", _schema(())),
        )
        self._facts = {"tools": [{"name": name, "about": about} for name, about in self._about.items()]}
        self.system = fill_sections(prompt.system, self._facts)

    def question(self, sentences: Sequence[Sentence], texts: Mapping[str, str]) -> str:
        """Which call comes next, where the sentences have these texts; what is empty is left out."""
        return fill_sections(self._prompt.static, self._asked(sentences, texts))

    def why(self, sentences: Sequence[Sentence], texts: Mapping[str, str], call: Mapping[str, Any]) -> str:
        """The same question, with the answer to it, and the request to give its reasons."""
        facts = self._asked(sentences, texts)
        asked = fill_sections(self._prompt.static, facts)
        return asked + fill_sections(self._prompt.reasons, {**facts, **call, "most": MOST_REASONS})

    def _asked(self, sentences: Sequence[Sentence], texts: Mapping[str, str]) -> dict[str, Any]:
        shown = ((sentence, texts.get(sentence.id, sentence.text)) for sentence in with_added(sentences, texts))
        entries = [{"id": sentence.id, "who": sentence.who, "text": text} for sentence, text in shown if text]
        return {**self._facts, "entries": entries}

    def because(self, told: Sequence[str], chosen: str) -> Tool:
        """The function for the reasons: each names a sentence, what it becomes, and the other choice that follows."""
        others = [name for name in self.choices if name != chosen or name in self._compare]
        reason = {
            "event": {"type": "string", "enum": list(told), "description": "The number of the sentence."},
            "becomes": {"type": "string", "description": "What the sentence would say instead; empty: it is left out."},
            "choice": {"type": "string", "enum": others, "description": "What you would call then."},
            "confidence": {"type": "number", "description": "How sure you are, from 0 to 1."},
        }
        if self._compare:
            reason["arguments"] = {"type": "object", "description": "The arguments of that call."}
        item = {"type": "object", "properties": reason, "required": ["event", "becomes", "choice"]}
        reasons = {"type": "array", "items": item, "minItems": 1, "maxItems": MOST_REASONS}
        schema = {"type": "object", "properties": {"reasons": reasons}, "required": ["reasons"]}
        return Tool(BECAUSE, "State what made you choose.", schema)

    @property
    def choices(self) -> list[str]:
        """The tools that may be called, and none of them."""
        return [tool.name for tool in self.tools]

    def label(self, tool: str, arguments: Any) -> str:
        """A choice: the tool, and those of its arguments that are compared."""
        compared = self._compare.get(tool)
        if not compared:
            return tool
        given = arguments if isinstance(arguments, dict) else {}
        return f"{tool} {canonical_bytes({name: _plain(given.get(name)) for name in sorted(compared)}).decode()}"

    def is_choice(self, label: str) -> bool:
        """Whether a label is that of a call of one of the tools."""
        return label.partition(" ")[0] in self.choices


def called(answer: ModelAnswer) -> tuple[str, Any] | None:
    """The first call of an answer; None where it has none, or no arguments that can be read."""
    if not answer.usable or not answer.calls:
        return None
    first = answer.calls[0]
    try:
        arguments = parse_json(first.arguments.encode() or b"{}")
    except ValueError:
        return None
    return (first.name, arguments) if isinstance(arguments, dict) else None


def reasons_of(answer: ModelAnswer) -> list[Any]:
    """The reasons of an answer as they came, whatever they are; none where it states none."""
    call = called(answer)
    reasons = None if call is None or call[0] != BECAUSE else call[1].get("reasons")
    return reasons[:MOST_REASONS] if isinstance(reasons, list) else []


def stated_rate(value: Any) -> int | None:
    """A stated confidence in millionths; None where it is no number from 0 to 1."""
    known = isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1
    return round(value * QFIXED_ONE) if known else None


def _plain(value: Any) -> Any:
    """An argument as it is compared: numbers and other values by their text, so that 250 and 250.0 differ in none."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value if isinstance(value, str | int | bool | None) else repr(value)


def _schema(names: Sequence[str] | set[str]) -> dict[str, Any]:
    return {"type": "object", "properties": {name: {} for name in sorted(names)}, "required": []}
