"""What receipts of several types hold: where in a run they stand, changes of values, what has no value."""

from typing import Any, NotRequired, TypedDict

Change = TypedDict("Change", {"from": Any, "to": Any})
Change.__doc__ = """A value before and after.

Attributes:
    from: The value before.
    to: The value after.
"""

Rebase = TypedDict("Rebase", {"agent": NotRequired[str], "potential": str, "cause": str, "from": int, "to": int})
Rebase.__doc__ = """A potential whose zero moved.

Attributes:
    agent: The name of the agent, if there are several.
    potential: The name of the potential.
    cause: What moved it: a drift, an agent, `seen` or `chance`.
    from: The value before, in millionths.
    to: The value after, in millionths.
"""


class Position(TypedDict):
    """Where in a run a receipt stands.

    Attributes:
        episode: The episode, counted from 0.
        t: The step, counted from 0 in the episode.
    """

    episode: int
    t: int


class Turn(Position):
    """Whose turn of a step a receipt is about.

    Attributes:
        episode: The episode, counted from 0.
        t: The step, counted from 0 in the episode.
        agent: The name of the agent, if there are several.
    """

    agent: NotRequired[str]


class Decided(TypedDict):
    """What the receipts of an episode have in common, as far as each of them has it.

    Attributes:
        episode: The episode, counted from 0.
        t: The step, counted from 0 in the episode.
        agent: The name of the agent, if there are several.
    """

    episode: int
    t: NotRequired[int]
    agent: NotRequired[str]


class Failure(TypedDict):
    """An expression without a value; it never says a value of the run.

    Attributes:
        code: The code of the error.
        expression: The text of the expression, the path of a number out of range, or null.
        offset: The place in the expression, counted from 0, or null.
    """

    code: str
    expression: str | None
    offset: int | None
