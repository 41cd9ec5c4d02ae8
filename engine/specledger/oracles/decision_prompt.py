"""The words of a question to a model that is an agent: a prompt about decisions, filled with the facts of a moment."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from specledger.core.canonical import canonical_bytes
from specledger.core.diagnostics import Diagnostics
from specledger.lang.choices import Choices
from specledger.lang.prompt_template import JsonText, check_about, check_sections, fill_sections
from specledger.load import Resolved
from specledger.spec.prompt import Prompt

_TOLD: Final[Mapping[str, Any]] = {
    "scenario": "",
    "operations": [{"op": "", "args": {}, "doc": "", "choices": ""}],
    "choices": [""],
    "variables": [""],
    "meanings": [{"variable": "", "type": {}, "doc": "", "value": ""}],
    "forms": [""],
    "reasons_needed": 0,
}
_ASKED: Final[Mapping[str, Any]] = {
    **_TOLD,
    "observation": {},
    "denied": [{"gate": "", "reason": "", "doc": ""}],
}
_OFFERED: Final[Mapping[str, Any]] = {**_ASKED, "offer": {"text": ""}}

_OPEN: Final[Choices] = Choices((), listed=False)


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

    def __init__(
        self, prompt: Prompt, forms: Sequence[str], hello: Mapping[str, Any], choices: Mapping[str, Choices]
    ) -> None:
        """Read what `hello` says of the run, the forms of reasons, and what may be chosen by each operation."""
        self._prompt = prompt
        self._variables: Mapping[str, Any] = hello["variables"]
        self._facts = {
            "scenario": hello["scenario"],
            "operations": [_operation(each, choices) for each in hello["operations"]],
            "choices": [label for each in hello["operations"] for label in choices.get(each["op"], _OPEN).labels],
            "forms": list(forms),
            "reasons_needed": hello.get("counterfactuals", 0),
            **_named(self._variables),
        }
        self.system = fill_sections(prompt.system, self._facts)

    def text(self, asked: Mapping[str, Any]) -> str:
        """The question that a message amounts to: the same for a decision and a counterfactual question.

        A message without `variables` is about those that `hello` told.
        """
        facts = {
            **self._facts,
            **_named(asked.get("variables") or self._variables),
            "observation": asked["observation"],
            "denied": [{"doc": "", **each} for each in asked.get("denied", ())],
        }
        text, offer = fill_sections(self._prompt.static, facts), asked.get("offer")
        return text if offer is None else text + fill_sections(self._prompt.offer, {**facts, "offer": dict(offer)})


def _operation(operation: Mapping[str, Any], choices: Mapping[str, Choices]) -> dict[str, Any]:
    labels = choices.get(operation["op"], _OPEN).labels
    return {"doc": "", **operation, "choices": ", ".join(labels)}


def _named(variables: Mapping[str, Any]) -> dict[str, Any]:
    """The facts of a prompt about variables: their names, and what each means and is now."""
    return {
        "variables": list(variables),
        "meanings": [{**about, "value": _value(about), "variable": name} for name, about in variables.items()],
    }


def _value(about: Mapping[str, Any]) -> JsonText | None:
    """The present value of a variable as JSON, so that an empty list is shown too; None if it cannot be read."""
    return JsonText(canonical_bytes(about["value"]).decode()) if "value" in about else None
