"""What an episode is given to go on with, and what one decision of it leads to."""

from __future__ import annotations

from typing import Any, NamedTuple

from specledger.compile.plan import Looked, State
from specledger.run.controller import DecisionController
from specledger.run.governor_state import Watch, Watched


class Kept(NamedTuple):
    """What goes on from episode to episode: the governor's watch and the decision controller."""

    watch: Watch
    controller: DecisionController


class Taken(NamedTuple):
    """What a decision leads to, before any of it is kept.

    Attributes:
        state, seen, memory, watched: After it; `seen` is what is observed then.
        accepted: Whether an action was taken, or every proposal refused.
        body: The part of its receipt that only the decision knows.
        told: Per part that keeps receipts, what its world says of the step.
        looked: What was seen of it at once, if anything was.
    """

    state: State
    seen: Any
    memory: Any
    watched: Watched
    accepted: bool
    body: dict[str, Any]
    told: dict[str, dict[str, Any]]
    looked: Looked | None = None
