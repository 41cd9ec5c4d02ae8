"""A plan under way: which of its steps comes next, as long as nothing came between.

A token covers the steps of its plan up to `max_calls`, each once; a decision executes one of them. So a plan of n steps
takes n decisions, in all but the first of which nobody is asked: each is committed to, judged by the governor's gates,
entered, and executed by the token that was issued for the first. A refusal ends the plan, and so does a state that is
not the one that its last step led to; then the agent is asked again.

Decides what comes next. Refuses to know whether it may be executed: the token says.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from specledger.compile.decision_controller import Moment
from specledger.compile.plan import Proposal
from specledger.core.canonical import parse_canonical
from specledger.gates.digests import Submission


@dataclass(frozen=True, slots=True)
class Underway:
    """A plan of which a step was executed, and another one is left.

    Attributes:
        token: The token that covers it.
        submission: What it was issued for.
        index: The place of the next step.
        score: What the agent gave its first step.
        state: What the last step led to.
    """

    token: dict[str, Any]
    submission: Submission
    index: int
    score: int
    state: Any

    def fits(self, moment: Moment) -> bool:
        """Whether nothing changed the state since; a drift makes another one, be it equal."""
        return moment.state is self.state

    def proposal(self) -> Proposal:
        """The next step as a proposal; its document is the one that was received already, so that its hash will do."""
        action = parse_canonical(self.submission.actions[self.index])
        return {"action": action, "score": self.score, "document": self.submission.proposal_hash}


def follow(token: Mapping[str, Any], submission: Submission, index: int, score: int, state: Any) -> Underway | None:
    """What comes after a step that was executed, None where the plan ends or its token covers no more of it."""
    covered = min(len(submission.actions), token["scope"]["rate_limit"]["max_calls"])
    if index >= covered or not submission.actions[index]:
        return None
    return Underway(dict(token), submission, index, score, state)
