"""Compiles a spec of the kind `model` to a model that can be opened and asked.

Nothing is opened, and no key is read, until then.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct

from specledger.core.diagnostics import Diagnostic, Diagnostics, Rejected
from specledger.load import Bundle, Resolved
from specledger.oracles import enumerated, gemini, openai, scripted
from specledger.oracles.cassette import E_CASSETTE_FILE, CassetteModel
from specledger.oracles.model import Model
from specledger.spec.model import LanguageModel, Service


class PlannedModel(Struct, frozen=True):
    """A model that was checked and not opened yet.

    Attributes:
        identity: What its answers depend on beside the request; the same as `Model.identity`.
        outside: Whether its answers must be on the tape; the same as `Model.outside`.
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
    """Check one model of a bundle.

    Raises:
        Rejected: With every finding.
    """
    diagnostics = Diagnostics()
    planned = _plan(bundle, bundle.specs[key], diagnostics)
    diagnostics.raise_if_errors()
    assert planned is not None  # noqa: S101 - it is missing only where there was a finding
    return planned


def _plan(bundle: Bundle, spec: Resolved, diagnostics: Diagnostics) -> PlannedModel | None:
    model = spec.model
    assert isinstance(model, LanguageModel)  # noqa: S101 - a reference's kind was checked when it was resolved
    if model.gemini is not None:
        config = model.gemini
        identity = gemini.identity_of(config)
        return PlannedModel(spec.name, identity, True, lambda _record: gemini.GeminiClient(config), config)
    if model.openai is not None:
        endpoint = model.openai
        identity = openai.identity_of(endpoint)
        return PlannedModel(spec.name, identity, True, lambda _record: openai.OpenAIClient(endpoint), endpoint)
    if model.scripted is not None:
        script = model.scripted
        conditions = scripted.check_script(script, spec, diagnostics)
        if conditions is None:
            return None
        identity = scripted.identity_of(script)
        return PlannedModel(spec.name, identity, False, lambda _record: scripted.ScriptedModel(script, conditions))
    if model.enumerate is not None:
        grammar = model.enumerate
        walk = enumerated.check_grammar(grammar, spec, diagnostics)
        if walk is None:
            return None
        identity = enumerated.identity_of(grammar)
        return PlannedModel(spec.name, identity, False, lambda _record: enumerated.EnumeratedModel(grammar, walk))
    assert model.cassette is not None  # noqa: S101 - the kind says that a model has one body
    recorded = _plan(bundle, bundle.specs[spec.refs["cassette", "records"]], diagnostics)
    return None if recorded is None else _cassette(spec, model.cassette.file, recorded)


def _cassette(spec: Resolved, file: str, recorded: PlannedModel) -> PlannedModel:
    def open_cassette(record: bool) -> Model:
        return CassetteModel(_place(spec, file), recorded.identity, (lambda: recorded.open(True)) if record else None)

    return PlannedModel(spec.name, recorded.identity, True, open_cassette, recorded.service)


def _place(spec: Resolved, file: str) -> Path:
    """Where a cassette is: beside the file in which a spec names it.

    Raises:
        Rejected: E_CASSETTE_FILE, if the spec comes from no file, since evidence names no file of this machine; or if a
            link leads out of its folder, since a spec from somebody else must not make this machine write elsewhere.
    """
    if ("cassette", "file") not in spec.origins:
        raise Rejected([Diagnostic(E_CASSETTE_FILE, f"{spec.name} comes from no file that a cassette could be beside")])
    folder = Path(spec.span("cassette", "file").file).parent
    path = folder / file
    if not Path(os.path.realpath(path.parent)).is_relative_to(os.path.realpath(folder)):
        message = f"{path} is outside the folder of its spec"
        raise Rejected([Diagnostic(E_CASSETTE_FILE, message, spec.span("cassette", "file"))])
    return path
