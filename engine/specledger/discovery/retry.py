"""Asking again: what is taken back of a discovery some of whose questions were not answered.

Decides which failures say nothing about the model, and what rests on one: its own iteration, and every step that could
look at it. What rests on none of them stays as it is. Refuses to know who asks again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from specledger.discovery.plan import DiscoveryPlan
from specledger.discovery.stored import read_answer
from specledger.oracles.failures import CUT_OFF, LASTING, RATE_LIMITED, REFUSED, TIMED_OUT, UNAVAILABLE

if TYPE_CHECKING:
    from specledger.discovery.store import Store

UNASKED: Final = LASTING | {TIMED_OUT, REFUSED, CUT_OFF, RATE_LIMITED, UNAVAILABLE}
"""Failures that tell of the way to a model or of its account, and may be gone the next time."""


def forget_failures(plan: DiscoveryPlan, store: Store) -> int:
    """Take back the failed answers, and what rests on them, so that whoever goes on asks again.

    Later answers are kept apart: each is used again where the same is asked.

    Args:
        plan: The discovery.
        store: Its store, on which nobody works.

    Returns:
        How many answers failed.

    Raises:
        Rejected: E_STORE_BUSY, if somebody works on it; E_STORE_BROKEN.
    """
    failed = [iteration for iteration, kept in store.answers() if read_answer(kept, None, iteration).failure in UNASKED]
    if failed:
        positions = [plan.position_of(iteration) for iteration in failed]
        beyond = positions[0] + plan.model.lag
        later = [iteration for iteration, _ in store.answers() if plan.position_of(iteration) >= beyond]
        store.forget(failed, [one for one in later if one not in failed], positions, beyond)
    return len(failed)
