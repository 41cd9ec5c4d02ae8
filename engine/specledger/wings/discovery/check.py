"""The check of a discovery on its own."""

from __future__ import annotations

from collections.abc import Iterator

from specledger.core.diagnostics import Diagnostic, Diagnostics, Severity
from specledger.load import Bundle
from specledger.spec.model import LanguageModel
from specledger.spec.prompt import Prompt
from specledger.wings.discovery.prompt import W_DISCOVERY_SCRAMBLED
from specledger.wings.discovery.worker import open_all


def check_discovery(bundle: Bundle, diagnostics: Diagnostics) -> None:
    """Compile a discovery with its model, prompt and ranking, and add its warnings."""
    open_all(bundle)
    diagnostics.extend(_scrambled(bundle))


def _scrambled(bundle: Bundle) -> Iterator[Diagnostic]:
    """Warn if a prompt renames symbols and the answers are fixed, because they were written without the new names."""
    key, prompt = bundle.main.refs["model",], bundle.specs[bundle.main.refs["prompt",]].model
    while ("cassette", "records") in bundle.specs[key].refs:
        key = bundle.specs[key].refs["cassette", "records"]
    model = bundle.specs[key].model
    assert isinstance(prompt, Prompt)  # noqa: S101 - a reference's kind was checked when it was resolved
    assert isinstance(model, LanguageModel)  # noqa: S101 - likewise
    if prompt.scramble and model.gemini is None and model.openai is None:
        message = f"the prompt exchanges {' and '.join(prompt.scramble)}, and {bundle.specs[key].name} does not read it"
        hint = "name another prompt, unless the answers are written in what it exchanges them for"
        span = bundle.main.span("prompt")
        yield Diagnostic(W_DISCOVERY_SCRAMBLED, message, span, hint=hint, severity=Severity.WARNING)
