"""Compiles a law, with its universe and its template."""

from __future__ import annotations

from msgspec.structs import replace

from specledger.core.diagnostics import Diagnostics
from specledger.laws.law import LawPlan
from specledger.laws.law_check import check_law
from specledger.laws.template import check_template
from specledger.laws.universe import Universe, check_universe
from specledger.load import Bundle
from specledger.spec.law import Law as LawSpec


def compile_law(bundle: Bundle, *, strict: bool = False, universe: Universe | None = None) -> LawPlan:
    """Compile the law that a bundle was loaded for.

    Args:
        bundle: A bundle whose main spec is a law.
        strict: Whether what is not needed, or a string claim, is refused.
        universe: The universe of the bundle, if it was checked before: many laws have the same one.

    Raises:
        Rejected: With every finding in the law, its universe and its template.
    """
    diagnostics = Diagnostics()
    spec, model = bundle.main, bundle.main.model
    assert isinstance(model, LawSpec)  # noqa: S101 - the pipeline compiles what it dispatched by kind
    if universe is None:
        universe = check_universe(bundle.specs[spec.refs[("universe",)]], bundle, diagnostics)
    template = check_template(bundle.specs[spec.refs[("template",)]], diagnostics)
    law = None
    if universe is not None and template is not None:
        law = check_law(spec, universe, template, diagnostics, strict=strict)
    diagnostics.raise_if_errors()
    assert law is not None  # noqa: S101 - it is missing only where there was a finding
    law = replace(law, words=model.claim or "")
    expected = None if model.expect is None else model.expect.model_dump(exclude_none=True)
    return LawPlan(law, spec.key.rpartition("@")[2], bundle.digest, expected, diagnostics.sorted())
