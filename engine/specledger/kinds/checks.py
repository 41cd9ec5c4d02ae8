"""The checks of specs that are not run, where they are more than a call of one function, which `table` names.

Each function imports what it needs, so that checking a world does not import the discovery loop.
"""

from __future__ import annotations

from collections.abc import Iterator

from specledger.core.diagnostics import Diagnostic, Diagnostics, Rejected, Severity
from specledger.load import Bundle


def check_model(bundle: Bundle) -> None:
    """Check a language model; Rejected with every finding."""
    from specledger.compile.model import compile_model

    compile_model(bundle, bundle.root)


def check_prompt(bundle: Bundle, found: Diagnostics) -> None:
    """Check a prompt."""
    from specledger.discovery import prompt
    from specledger.oracles.model_agent import check_decision_prompt
    from specledger.spec.prompt import Prompt

    model = bundle.main.model
    assert isinstance(model, Prompt)  # noqa: S101 - the table says so
    check = prompt.check_prompt if model.about == "laws" else check_decision_prompt
    check(bundle.main, found)


def check_scenario(bundle: Bundle, found: Diagnostics) -> None:
    """Compile a scenario and add its warnings; Rejected if it does not compile."""
    from specledger.compile.scenario import inspect_scenario

    found.extend(inspect_scenario(bundle))


def check_suite(bundle: Bundle, found: Diagnostics) -> None:
    """Compile a suite and every scenario that it runs, each of them once; add the warnings of those of its own runs."""
    from specledger.compile.scenario import inspect_scenario
    from specledger.compile.suite import compile_suite

    plan = compile_suite(bundle)
    found.extend(plan.warnings)
    errors = Diagnostics()
    seen = set()
    for trial, case in plan.cases:
        model = case.bundle.main.model.model_copy(update={"seed": 0, "episodes": 1})
        alike = repr((model, case.bundle.main.refs))
        if alike not in seen:
            seen.add(alike)
            try:
                warnings = inspect_scenario(case.bundle)
                found.extend(warnings if trial is plan.trial else ())
            except Rejected as rejected:
                errors.extend(rejected.diagnostics)
    errors.raise_if_errors()


def check_law(bundle: Bundle, found: Diagnostics) -> None:
    """Compile a law, and add findings if it cannot be decided although its author does not expect that."""
    from specledger.compile.law import compile_law
    from specledger.laws.findings import undecided

    plan = compile_law(bundle)
    found.extend(plan.warnings)
    if (plan.expected or {}).get("status") != "UNKNOWN":
        found.extend(undecided(bundle.main, plan.law))


def check_discovery(bundle: Bundle, found: Diagnostics) -> None:
    """Compile a discovery with its model, prompt and ranking, and add its warnings."""
    from specledger.discovery.worker import open_all

    open_all(bundle)
    found.extend(_scrambled(bundle))


def _scrambled(bundle: Bundle) -> Iterator[Diagnostic]:
    """Warn if a prompt renames symbols and the answers are fixed, because they were written without the new names."""
    from specledger.discovery.prompt import W_DISCOVERY_SCRAMBLED
    from specledger.spec.model import LanguageModel
    from specledger.spec.prompt import Prompt

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
