"""The prompt of a model that decides as an agent: its texts are the spec's, filled with what a message says."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from specledger.core.diagnostics import Diagnostics
from specledger.lang.prompt_template import check_about, check_sections, fill_sections
from specledger.load import Resolved
from specledger.spec.prompt import Prompt

_TOLD: Final[Mapping[str, Any]] = {
    "scenario": "",
    "operations": [{"op": "", "args": {}}],
    "variables": [""],
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

    def __init__(self, prompt: Prompt, forms: list[str], told: Mapping[str, Any]) -> None:
        """Take what `hello` told of the run.

        Args:
            prompt: About decisions.
            forms: In which reasons are read.
            told: The message.
        """
        self._prompt = prompt
        self._facts = {**{name: told[name] for name in ("scenario", "operations", "variables")}, "forms": forms}
        self.system = fill_sections(prompt.system, self._facts)

    def text(self, observation: Any, offer: Mapping[str, Any] | None = None) -> str:
        """The question about an observation: the same for a decision and a counterfactual question."""
        facts = {**self._facts, "observation": observation}
        asked = fill_sections(self._prompt.static, facts)
        return asked if offer is None else asked + fill_sections(self._prompt.offer, {**facts, "offer": dict(offer)})
