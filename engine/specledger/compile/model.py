"""Compiles a spec of the kind `model` to a model that can be opened and asked, and an agent that is such a model.

Nothing is opened, and no key is read, until then.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from specledger.compile.extension import admission
from specledger.core.diagnostics import Diagnostic, Diagnostics, Rejected, code
from specledger.core.digest import hash_json
from specledger.core.wing import E_WING, missing_wing
from specledger.lang.choices import choices_of
from specledger.load import Bundle, Resolved
from specledger.load.bundle import encode
from specledger.oracles import enumerated, gemini, openai, scripted
from specledger.oracles.action_tools import ARGUMENTS
from specledger.oracles.answer_forms import JsonCalls
from specledger.oracles.cassette import E_CASSETTE_FILE, CassetteModel
from specledger.oracles.decision_prompt import check_decision_prompt
from specledger.oracles.labels import LabelCalls
from specledger.oracles.model import Model
from specledger.oracles.model_agent import ModelPlan
from specledger.oracles.service_client import service_identity
from specledger.spec.agent import Outside
from specledger.spec.model import Grammar, LanguageModel, Script, Service
from specledger.spec.prompt import Prompt
from specledger.worlds.json_schema import json_schema
from specledger.worlds.model import World
from specledger.worlds.variables import Variables

E_AGENT_ARGUMENT = code("E_AGENT_ARGUMENT", "an argument of an action that a model cannot be asked for")

Config = TypeVar("Config", bound=Service)


class PlannedModel(Struct, frozen=True):
    """A model that was checked and not opened yet.

    Attributes:
        identity: Who answers, as JSON values without floats: what its answers depend on beside the request.
        outside: Whether specs alone do not determine its answers, so that they must be on the tape.
        open: Opens it; given True, a cassette records what it does not hold. Raises Rejected: no key, no package, no
            file.
        service: How the service is asked that answers, or that was recorded; None for a model that is no service.
    """

    name: str
    identity: Mapping[str, Any]
    outside: bool
    open: Callable[[bool], Model]
    service: Service | None = None


def compile_model(bundle: Bundle, key: str) -> PlannedModel:
    """Check one model of a bundle."""
    diagnostics = Diagnostics()
    planned = _plan(bundle, bundle.specs[key], diagnostics)
    diagnostics.raise_if_errors()
    assert planned is not None  # noqa: S101 - it is missing only where there was a finding
    return planned


def _plan(bundle: Bundle, spec: Resolved, diagnostics: Diagnostics) -> PlannedModel | None:
    """The model of a spec, in the form in which it answers."""
    planned, model = _body(bundle, spec, diagnostics), spec.model
    assert isinstance(model, LanguageModel)  # noqa: S101 - a reference's kind was checked when it was resolved
    if planned is None or model.answers == "tools":
        return planned
    form: Callable[[Model], Model] = JsonCalls if model.answers == "json" else LabelCalls
    identity = {**planned.identity, "answers": model.answers}
    return replace(planned, identity=identity, open=lambda record: form(planned.open(record)))


def _body(bundle: Bundle, spec: Resolved, diagnostics: Diagnostics) -> PlannedModel | None:
    model = spec.model
    assert isinstance(model, LanguageModel)  # noqa: S101 - a reference's kind was checked when it was resolved
    if model.gemini is not None:
        return _service(spec, "gemini", model.gemini, gemini.GeminiClient)
    if model.openai is not None:
        return _service(spec, "openai", model.openai, openai.OpenAIClient)
    if model.scripted is not None:
        script = model.scripted
        conditions = scripted.check_script(script, spec, diagnostics)
        if conditions is None:
            return None
        return _inside(spec, "scripted", "script", script, scripted.ScriptedModel(script, conditions))
    if model.enumerate is not None:
        walk = enumerated.check_grammar(model.enumerate, spec, diagnostics)
        if walk is None:
            return None
        return _inside(spec, "enumerated", "grammar", model.enumerate, walk)
    assert model.cassette is not None  # noqa: S101 - the kind says that a model has one body
    recorded = _plan(bundle, bundle.specs[spec.refs["cassette", "records"]], diagnostics)
    return None if recorded is None else _cassette(spec, model.cassette.file, recorded)


def _service(spec: Resolved, oracle: str, config: Config, client: Callable[[Config], Model]) -> PlannedModel:
    return PlannedModel(spec.name, service_identity(oracle, config), True, lambda _record: client(config), config)


def _inside(spec: Resolved, oracle: str, part: str, body: Script | Grammar, model: Model) -> PlannedModel:
    data = encode(body.model_dump(mode="json", by_alias=True, exclude_defaults=True))
    return PlannedModel(spec.name, {"oracle": oracle, part: hash_json(data)}, False, lambda _record: model)


def _cassette(spec: Resolved, file: str, recorded: PlannedModel) -> PlannedModel:
    def open_cassette(record: bool) -> Model:
        return CassetteModel(_place(spec, file), recorded.identity, (lambda: recorded.open(True)) if record else None)

    return PlannedModel(spec.name, recorded.identity, True, open_cassette, recorded.service)


def _place(spec: Resolved, file: str) -> Path:
    """Where a cassette is: beside the file in which a spec names it.

    It is refused if the spec comes from no file, since evidence names no file of this machine, and if a link leads out
    of its folder, since a spec from somebody else must not make this machine write elsewhere.
    """
    if ("cassette", "file") not in spec.origins:
        raise Rejected([Diagnostic(E_CASSETTE_FILE, f"{spec.name} comes from no file that a cassette could be beside")])
    folder = Path(spec.span("cassette", "file").file).parent
    path = folder / file
    if not Path(os.path.realpath(path.parent)).is_relative_to(os.path.realpath(folder)):
        message = f"{path} is outside the folder of its spec"
        raise Rejected([Diagnostic(E_CASSETTE_FILE, message, spec.span("cassette", "file"))])
    return path


def compile_model_agent(
    bundle: Bundle, spec: Resolved, outside: Outside, world: World, seed: int, diagnostics: Diagnostics
) -> ModelPlan | None:
    """The plan of an agent that is a model; None, with findings, if it is wrong. `world` has what it is offered."""
    model = compile_model(bundle, spec.refs["outside", "model"])
    prompt = bundle.specs[spec.refs["outside", "prompt"]]
    check_decision_prompt(prompt, diagnostics)
    part = admission()
    if part is None:
        message, hint = missing_wing("kernel", "`reasons` of an agent")
        diagnostics.error(E_WING, message, spec.span("outside", "reasons"), hint=hint)
        return None
    vocabulary = part.check_words(bundle.specs[spec.refs["outside", "reasons"]], diagnostics)
    for name, action in world.actions.items():
        for taken in sorted(ARGUMENTS & set(action.args.fields)):
            message = f"the operation {name} has an argument `{taken}`"
            diagnostics.error(E_AGENT_ARGUMENT, message, spec.span("outside", "model"))
    if vocabulary is None or diagnostics.has_errors:
        return None
    assert isinstance(prompt.model, Prompt)  # noqa: S101 - a reference of kind prompt holds nothing else
    variables = Variables(world)
    return ModelPlan(
        name=spec.name,
        model=model.open,
        identity=model.identity,
        prompt=prompt.model,
        forms=vocabulary.forms,
        readings=vocabulary.readings,
        notation=variables.notation,
        schemas={
            name: {key: json_schema(type_, action.allowed.get(key)) for key, type_ in action.args.fields.items()}
            for name, action in world.actions.items()
        },
        choices=choices_of(variables.notation),
        seed=seed,
        deterministic=outside.deterministic,
        service=model.service,
    )
