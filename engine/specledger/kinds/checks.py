"""The checks of specs that are not run, where they are more than a call of one function, which `table` names.

Each function imports what it needs, so that checking a world does not import the discovery loop.
"""

from __future__ import annotations

from specledger.core.diagnostics import Diagnostic, Diagnostics, Rejected
from specledger.core.wing import E_WING, missing_wings, wings
from specledger.load import Bundle


def check_model(bundle: Bundle) -> None:
    """Check a language model; Rejected with every finding."""
    from specledger.compile.model import compile_model

    compile_model(bundle, bundle.root)


def check_prompt(bundle: Bundle, diagnostics: Diagnostics) -> None:
    """Check a prompt."""
    from specledger.oracles.decision_prompt import check_decision_prompt
    from specledger.spec.prompt import Prompt

    model = bundle.main.model
    assert isinstance(model, Prompt)  # noqa: S101 - the table says so
    if model.about == "decisions":
        check_decision_prompt(bundle.main, diagnostics)
        return
    check = next((wing.prompts()[model.about] for wing in wings() if model.about in wing.prompts()), None)
    if check is None:
        message, span = f"no wing reads a prompt about {model.about}", bundle.main.span("name")
        raise Rejected([Diagnostic(E_WING, message, span, hint=missing_wings() or None)])
    check(bundle.main, diagnostics)


def check_suite(bundle: Bundle, diagnostics: Diagnostics) -> None:
    """Compile a suite and every scenario that it runs, each of them once; add the warnings of those of its own runs."""
    from specledger.compile.scenario import compile_with_findings
    from specledger.compile.suite import compile_suite
    from specledger.suites.stated import with_change

    plan = compile_suite(bundle)
    diagnostics.extend(plan.warnings)
    errors = Diagnostics()
    seen = set()
    for trial, case in plan.cases:
        model = case.bundle.main.model.model_copy(update={"seed": 0, "episodes": 1})
        alike = repr((model, case.bundle.main.refs))
        if alike not in seen:
            seen.add(alike)
            try:
                _, warnings = compile_with_findings(case.bundle)
                diagnostics.extend(warnings if trial is plan.trial else ())
            except Rejected as rejected:
                mutant = next((index for index, mutant in enumerate(plan.mutants) if mutant.mutated is trial), None)
                errors.extend(with_change(bundle.main, diagnostic, mutant) for diagnostic in rejected.diagnostics)
    errors.raise_if_errors()
