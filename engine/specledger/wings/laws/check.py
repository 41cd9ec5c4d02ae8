"""The check of a law on its own."""

from __future__ import annotations

from specledger.core.diagnostics import Diagnostics
from specledger.load import Bundle
from specledger.wings.laws.compile import compile_law
from specledger.wings.laws.findings import undecided
from specledger.wings.laws.receipts import LawStatus


def check_law(bundle: Bundle, diagnostics: Diagnostics) -> None:
    """Compile a law, and add findings if it cannot be decided although its author does not expect that."""
    plan = compile_law(bundle)
    diagnostics.extend(plan.warnings)
    if (plan.expected or {}).get("status") != LawStatus.UNKNOWN:
        diagnostics.extend(undecided(bundle.main, plan.law))
