"""Faults of runs of several agents: whose turn it is, and what is judged when.

Each line is a case; `Case` says what the columns are.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from tools.tampering.case import Case, seal
from tools.tampering.faults_chain import exchanged

COMMIT_A, COMMIT_B, STEP_A = range(2, 5)
"""Where the receipts of the first turn of the base `together` stand."""
ACT_A = 3
"""Where the first decision stands in the base `in-turn`."""


def inserted(type_: str, number: int, fields: Mapping[str, Any]) -> Any:
    """A receipt of the first step stands where there was none."""
    receipt = {"episode": 0, "t": 0, **fields}
    return lambda f: f.receipts.insert(number, {"type": type_, "body": receipt})


PROBE: Final = {"agent": "prey", "probe": "p", "at": "after_commit", "verdict": "PASS", "cause": "", "evidence": {}}

FAULTS: Final = (
    Case("turn-judged-early", "An agent's set was judged before every agent had committed.", "together", exchanged(COMMIT_B, STEP_A), seal, "E_COMMITMENT"),
    Case("turn-order-of-commitments", "The agents committed in another order than the run's.", "together", exchanged(COMMIT_A, COMMIT_B), seal, "E_STATE"),
    Case("turn-probe-of-another", "A probe challenges an agent whose turn it is not.", "in-turn", inserted("probe", ACT_A, PROBE), seal, "E_STATE"),
)  # fmt: skip
