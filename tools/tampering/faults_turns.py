"""Faults of runs of several agents: whose turn it is, and what is judged when.

Each line is a case; `Case` says what the columns are.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from tools.tampering.case import Case, seal
from tools.tampering.faults_chain import body, exchanged, without
from tools.tampering.signer import Signer

COMMIT_A, COMMIT_B, STEP_A, STEP_B = range(2, 6)
"""Where the receipts of the first turn of the base `together` stand."""
TURN_A, ACT_A, TURN_B, ACT_B = range(2, 6)
"""Where they stand in the base `in-turn`."""


def early_breach(f: Signer) -> None:
    """A decision before the end of its turn has a violation."""
    breach = {"invariant": "one-stride-at-a-time", "severity": "fatal", "witness": {}}
    f.receipts[STEP_A]["body"]["violations"].append(breach)


def inserted(type_: str, number: int, fields: Mapping[str, Any]) -> Any:
    """A receipt of the first step stands where there was none."""
    told = {"episode": 0, "t": 0, **fields}
    return lambda f: f.receipts.insert(number, {"type": type_, "body": told})


def unfinished(f: Signer) -> None:
    """The last agent's turn of the last step is missing, and the episode ends at its horizon."""
    last = max(number for number, one in enumerate(f.receipts) if one["type"] == "step")
    f.first("episode_end")["state"] = f.receipts[last]["body"]["before"]
    without(last - 1, last)(f)


DRIFT: Final = {"drift": "gust", "drawn": {}, "changed": {}, "rebases": [], "before": "", "after": ""}
PROBE: Final = {"agent": "prey", "probe": "p", "at": "after_commit", "verdict": "PASS", "cause": "", "evidence": {}}

FAULTS: Final = (
    Case("turn-judged-early", "An agent's set was judged before every agent had committed.", "together", exchanged(COMMIT_B, STEP_A), seal, "E_COMMITMENT"),
    Case("turn-order-of-commitments", "The agents committed in another order than the run's.", "together", exchanged(COMMIT_A, COMMIT_B), seal, "E_STATE"),
    Case("turn-order-of-decisions", "A decision belongs to another agent than its place says.", "in-turn", body(ACT_A, agent="prey"), seal, "E_STATE"),
    Case("turn-looked-at-early", "A decision tells of success before its turn is over.", "together", body(STEP_A, success=False), seal, "E_STATE"),
    Case("turn-broken-early", "A decision tells of a violation before its turn is over.", "together", early_breach, seal, "E_STATE"),
    Case("turn-not-looked-at", "A turn ends, and nothing says whether the goal is reached.", "together", body(STEP_B, success=None), seal, "E_STATE"),
    Case("turn-unfinished", "An episode ends at its horizon before every agent acted.", "in-turn", unfinished, seal, "E_STATE"),
    Case("turn-drift-between", "A drift comes after an agent acted in the same step.", "in-turn", inserted("drift", TURN_B, DRIFT), seal, "E_STATE"),
    Case("turn-probe-of-another", "A probe challenges an agent whose turn it is not.", "in-turn", inserted("probe", ACT_A, PROBE), seal, "E_STATE"),
)  # fmt: skip
