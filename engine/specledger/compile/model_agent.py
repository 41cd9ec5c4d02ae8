"""Compiles an agent that is a model: its prompt, the forms of its reasons, and the functions that it is offered."""

from __future__ import annotations

from typing import Any, Final

from specledger.compile.model import compile_model
from specledger.core.diagnostics import Diagnostics, code
from specledger.expr import BOOL, STRING, ListType, RecordType, Type
from specledger.expr.check.types import IntType
from specledger.gates.facts import check_reasons
from specledger.load import Bundle, Resolved
from specledger.oracles.model_agent import ARGUMENTS, ModelPlan, check_decision_prompt
from specledger.spec.agent import Outside
from specledger.spec.prompt import Prompt
from specledger.worlds.model import World

E_AGENT_ARGUMENT = code("E_AGENT_ARGUMENT", "an argument of an action that a model cannot be asked for")


def compile_model_agent(
    bundle: Bundle, spec: Resolved, outside: Outside, world: World, seed: int, diagnostics: Diagnostics
) -> ModelPlan | None:
    """The plan of an agent's model; None, with findings, if something is wrong.

    Args:
        bundle: Holds the model, the prompt and the vocabulary.
        spec: The agent.
        outside: What it says; its `model` is given.
        world: Whose operations it is offered.
        seed: Of the run.
        diagnostics: Receives every finding.

    Raises:
        Rejected: The model is wrong.
    """
    model = compile_model(bundle, spec.refs["outside", "model"])
    prompt = bundle.specs[spec.refs["outside", "prompt"]]
    check_decision_prompt(prompt, diagnostics)
    vocabulary = check_reasons(bundle.specs[spec.refs["outside", "reasons"]], diagnostics)
    for name, action in world.actions.items():
        for taken in sorted(ARGUMENTS & set(action.args.fields)):
            message = f"the operation {name} has an argument `{taken}`"
            diagnostics.error(E_AGENT_ARGUMENT, message, spec.span("outside", "model"))
    if vocabulary is None or diagnostics.has_errors:
        return None
    assert isinstance(prompt.model, Prompt)  # noqa: S101 - a reference of kind prompt holds nothing else
    return ModelPlan(
        name=spec.name,
        model=model.open,
        identity=model.identity,
        prompt=prompt.model,
        forms=vocabulary.forms,
        read=vocabulary.parse,
        schemas={
            name: {key: _schema(type_, action.allowed.get(key)) for key, type_ in action.args.fields.items()}
            for name, action in world.actions.items()
        },
        seed=seed,
        deterministic=outside.deterministic,
        service=model.service,
    )


_SCALARS: Final[dict[Type, str]] = {BOOL: "boolean", STRING: "string"}


def _schema(type_: Type, allowed: tuple[Any, ...] | None = None) -> dict[str, Any]:
    """The JSON Schema of an argument; of a type that has no simple one, any value."""
    if allowed:
        kind = _schema(type_)
        return {**kind, "enum": list(allowed)}
    if isinstance(type_, IntType):
        return {"type": "integer"}
    if isinstance(type_, ListType):
        return {"type": "array", "items": _schema(type_.item)}
    if isinstance(type_, RecordType):
        fields = {name: _schema(field) for name, field in type_.fields.items()}
        required = sorted(set(fields) - type_.optional)
        return {"type": "object", "properties": fields, "required": required, "additionalProperties": False}
    return {"type": _SCALARS[type_]} if type_ in _SCALARS else {}
