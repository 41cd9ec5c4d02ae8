"""What a model that is an agent would receive at its first decision, without asking it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import asdict

from specledger.compile.scenario import compile_scenario
from specledger.core.canonical import canonical_bytes
from specledger.core.diagnostics import Rejected
from specledger.kinds import load
from specledger.load import Bundle, Resolved
from specledger.oracles.model import estimate_tokens
from specledger.oracles.model_agent import Asking
from specledger.pipeline.checking import annotated
from specledger.pipeline.trying import one_of
from specledger.run.session import greeting
from specledger.spec.agent import Agent

_ANNOTATION: Final = "asks"
"""The shipped scenario with this annotation is that in which an agent is asked that is named without one."""


class AskedModel(Struct, frozen=True):
    """The first question to a model.

    Attributes:
        tools: The functions that it is offered, as JSON, one on a line.
        tokens: Of each part, estimated.
    """

    agent: str
    scenario: str
    system: str
    question: str
    tools: str
    tokens: dict[str, int]

    def document(self) -> dict[str, Any]:
        """The question as JSON values."""
        return asdict(self)


def is_spec(target: str) -> bool:
    """Whether something names an agent or a scenario, by a file or by a name."""
    return any(_read(target, kind) is not None for kind in ("agent", "scenario"))


def first_question(target: str, scenario: str | None, overrides: Sequence[str]) -> AskedModel | None:
    """What the model receives that is the agent `target`, or the agent of the scenario `target`; None for other agents.

    Raises:
        Rejected: There is no such spec, or it is wrong.
    """
    agent = _read(target, "agent")
    if agent is not None and scenario is None and not _is_model(agent):
        return None
    if agent is not None:  # of this project, while the scenario may be of another one
        file = str(Path(agent.span("name").file).resolve())
        sets = [f"agent={canonical_bytes(file).decode()}", *overrides]
        return _asked(
            one_of(scenario or annotated("scenario", _ANNOTATION).main.name, "scenario", sets, allow_outside=True)
        )
    return _asked(one_of(target, "scenario", overrides))


def _read(target: str, kind: str) -> Resolved | None:
    """The spec of a kind that a name or a file is, if it can be read."""
    try:
        return load(target, kind=kind)[0].main
    except Rejected:
        return None


def _is_model(agent: Resolved) -> bool:
    outside = agent.model.outside if isinstance(agent.model, Agent) else None
    return outside is not None and outside.model is not None


def _asked(bundle: Bundle) -> AskedModel | None:
    plan = compile_scenario(bundle)
    outside = plan.outside
    if outside is None or outside.model is None:
        return None
    start = plan.start(0)
    asking = Asking(outside.model, greeting(plan))
    question = asking.question({"observation": plan.actors[0].observe(start), **outside.shown(start)})
    tools = "\n".join(canonical_bytes(asdict(tool)).decode() for tool in question.tools)
    tokens = {"system": estimate_tokens(asking.system), "question": estimate_tokens(question.text)}
    tokens |= {"all": asking.tokens(question)}
    tokens["functions"] = tokens["all"] - tokens["system"] - tokens["question"]
    return AskedModel(outside.model.name, plan.name, asking.system, question.text, tools, tokens)
