"""The outcome of one probe."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct, field

from specledger.core.verdict import Verdict


class Outcome(Struct, frozen=True):
    """The outcome of one probe.

    Attributes:
        verdict: PASS (no breach; nothing stated was shown false), FAIL (a breach; something stated is false),
            INCONCLUSIVE, or ERROR.
        cause: A `Cause`, empty for a pass; the code of the error for an ERROR.
        evidence: What was asked and answered, as JSON values with integers only.
    """

    verdict: Verdict
    cause: str
    evidence: Mapping[str, Any] = field(default_factory=dict)
