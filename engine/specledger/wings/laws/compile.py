"""Compiles a law, with its universe and its template."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec.structs import replace

from specledger.core.diagnostics import Diagnostics
from specledger.load import Bundle
from specledger.wings.laws.law import LawPlan
from specledger.wings.laws.law_check import check_law
from specledger.wings.laws.spec.law import Law as LawSpec
from specledger.wings.laws.template import Template, check_template
from specledger.wings.laws.universe import Universe, check_universe

Checked = dict[str, Universe | Template]
"""The universes and templates that were checked, by key: many laws have the same ones."""


def compile_law(
    bundle: Bundle, checked: Checked | None = None, *, strict: bool = False, proposed: bool = False
) -> LawPlan:
    """Compile the law that a bundle was loaded for.

    Universes and templates that were `checked` need not be checked again; it is added to. If `strict`, what is not
    needed is refused, and a string claim. One that was `proposed` by a model has a warning where its claim is a string.
    """
    diagnostics = Diagnostics()
    spec, model = bundle.main, bundle.main.model
    assert isinstance(model, LawSpec)  # noqa: S101 - the pipeline compiles what it dispatched by kind
    known: Mapping[str, Any] = checked or {}
    keys = [spec.refs[role,] for role in ("universe", "template")]
    universe = known.get(keys[0]) or check_universe(bundle.specs[keys[0]], bundle, diagnostics)
    template = known.get(keys[1]) or check_template(bundle.specs[keys[1]], diagnostics)
    law = None
    if universe is not None and template is not None:
        if checked is not None:
            checked |= {keys[0]: universe, keys[1]: template}
        law = check_law(spec, universe, template, diagnostics, strict=strict, proposed=proposed)
    diagnostics.raise_if_errors()
    assert law is not None  # noqa: S101 - it is missing only where there was a finding
    law = replace(law, words=model.claim or "")
    expected = None if model.expect is None else model.expect.model_dump(exclude_none=True)
    return LawPlan(law, spec.key.rpartition("@")[2], bundle.digest, expected, diagnostics.sorted())
