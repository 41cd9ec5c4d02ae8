"""Compiling a law: its universe, its template and itself, from a bundle.

Decides which findings stop a law. Refuses to know how it is tried.
"""

from __future__ import annotations

from engine.core.diagnostics import Diagnostics
from engine.laws.candidate import check_law
from engine.laws.law import LawPlan
from engine.laws.template import check_template
from engine.laws.universe import check_universe
from engine.load import Bundle
from engine.spec.law import Law as LawSpec


def compile_law(bundle: Bundle, *, strict: bool = False) -> LawPlan:
    """Compile the law that a bundle was loaded for.

    Args:
        bundle: A bundle whose main spec is a law.
        strict: Whether a string claim is refused.

    Raises:
        Rejected: With every finding in the law, its universe and its template.
    """
    diagnostics = Diagnostics()
    spec, model = bundle.main, bundle.main.model
    assert isinstance(model, LawSpec)  # noqa: S101 - the pipeline compiles what it dispatched by kind
    universe = check_universe(bundle.specs[spec.refs[("universe",)]], bundle, diagnostics)
    template = check_template(bundle.specs[spec.refs[("template",)]], diagnostics)
    law = None
    if universe is not None and template is not None:
        law = check_law(spec, universe, template, diagnostics, strict=strict)
    diagnostics.raise_if_errors()
    assert law is not None  # noqa: S101 - it is missing only where there was a finding
    expected = None if model.expect is None else model.expect.model_dump(exclude_none=True)
    return LawPlan(law, spec.key.rpartition("@")[2], bundle.digest, expected, diagnostics.sorted())
