"""The receipts of a suite."""

from typing import Annotated, Any, Final, NotRequired, TypedDict

from specledger.core.verdict import Verdict
from specledger.evidence.receipts import ReceiptTypes
from specledger.evidence.receipts.places import Failure
from specledger.evidence.receipts.result import RunResult


class Start(TypedDict):
    """The first receipt: the suite's own runs, its figures, checks and mutants.

    Attributes:
        suite: The name of the suite.
        specs: The digest of the resolved specs.
        runs: How many runs it has of its own.
        figures: The names of its figures.
        checks: The ids of its checks.
        mutants: The ids of its mutants.
        allowed: By verdict and arm how many runs may end so; the empty name is of all other arms.
    """

    suite: str
    specs: str
    runs: int
    figures: list[str]
    checks: list[str]
    mutants: list[str]
    allowed: dict[str, dict[str, int]]


class Chain(TypedDict):
    """The receipts of a run.

    Attributes:
        count: How many receipts there are.
        head: The digest of the last one.
        root: The Merkle root over all of them.
    """

    count: int
    head: str
    root: str


class Replay(TypedDict):
    """What replay of a run showed.

    Attributes:
        intact: Whether the evidence is intact.
        exact: Whether every receipt came out the same.
        noticed: Whether a receipt that was changed on purpose is noticed.
        compared: How many receipts were compared.
    """

    intact: bool
    exact: bool
    noticed: bool
    compared: int


class Run(TypedDict):
    """A run of the suite.

    Attributes:
        place: Its folder in the bundle.
        run: Its name: the arm, the scenario and the seed.
        arm: The arm that it is a run of.
        scenario: The name of the scenario.
        seed: The seed of all that is drawn.
        specs: The digest of the resolved specs.
        receipts: The number and the digests of its receipts.
        result: What its receipts add up to.
        replay: What its replay showed.
    """

    place: str
    run: str
    arm: str
    scenario: str
    seed: int
    specs: str
    receipts: Chain
    result: RunResult
    replay: Replay


class Interval(TypedDict):
    """The ends of an interval of 95 %.

    Attributes:
        low: The lower end, in the unit of the figure.
        high: The upper end, in the unit of the figure.
    """

    low: int
    high: int


class Position(TypedDict):
    """An episode of a run.

    Attributes:
        run: The name of the run.
        episode: The episode, counted from 0.
    """

    run: str
    episode: int


class Group(TypedDict):
    """The value of a figure for one group of runs; rates, effects, means, slopes and differences are in millionths.

    Attributes:
        name: The name of the group; empty if there is one group.
        of: How many values there are.
        value: The figure.
        count: How many values hold.
        sum: The sum of the values.
        against: How many values of the other rate of an effect hold.
        bound: The upper bound of a rate that never held, in millionths.
        case: The values of the axes of the matrix, by name.
        clusters: How many groups of episodes differ from each other.
        undecided: How many episodes decide nothing.
        wilson: The interval of a rate by the method of Wilson.
        exact: The interval of a rate by the method of Clopper and Pearson.
        newcombe: The interval of an effect by the method of Newcombe.
        cluster: The interval over groups of episodes that differ.
        held: Episodes in which it held, the first ones.
        failed: Episodes in which it did not hold, the first ones.
    """

    name: str
    of: int
    value: NotRequired[int]
    count: NotRequired[int]
    sum: NotRequired[int]
    against: NotRequired[int]
    bound: NotRequired[int]
    case: NotRequired[dict[str, Any]]
    clusters: NotRequired[int]
    undecided: NotRequired[int]
    wilson: NotRequired[Interval]
    exact: NotRequired[Interval]
    newcombe: NotRequired[Interval]
    cluster: NotRequired[Interval]
    held: NotRequired[list[Position]]
    failed: NotRequired[list[Position]]


class FigureFailure(Failure):
    """A measure or a figure without a value.

    Attributes:
        code: The code of the error.
        expression: The text of the expression, the path of a number out of range, or null.
        offset: The place in the expression, counted from 0, or null.
        run: The run in which a measure failed.
        episode: The episode in which a measure failed, counted from 0.
    """

    run: NotRequired[str]
    episode: NotRequired[int]


class Figure(TypedDict):
    """A figure of the suite.

    Attributes:
        figure: Its name.
        statistic: How values become one figure, such as `rate`.
        clusters: What makes episodes alike: `scenario`, `seed` or `run`.
        groups: Its value for each group of runs.
        error: The error for which it has no value, or null.
    """

    figure: str
    statistic: str
    clusters: str
    groups: list[Group]
    error: FigureFailure | None


class Check(TypedDict):
    """A check of the suite.

    Attributes:
        check: Its id.
        verdict: PASS, FAIL, INCONCLUSIVE or ERROR.
        opportunities: How often it could have failed.
        least: The number of opportunities that it needs.
        witness: The values that it states, by name.
        error: The error for which it could not be judged, or null.
    """

    check: str
    verdict: Annotated[str, Verdict]
    opportunities: int
    least: int
    witness: dict[str, Any]
    error: FigureFailure | None


class Mutant(TypedDict):
    """A mutant of the suite.

    Attributes:
        mutant: Its id.
        suite: The name of the suite that is run with it.
        caught: The checks that noticed it.
        verdict: PASS if it was noticed as it must be.
        control: By check the verdict without the mutant.
        mutated: By check the verdict with the mutant.
    """

    mutant: str
    suite: str
    caught: list[str]
    verdict: Annotated[str, Verdict]
    control: dict[str, str]
    mutated: dict[str, str]


class End(TypedDict):
    """The last receipt.

    Attributes:
        runs: How many runs there were, those of mutants included.
        checks: How many checks there were.
        mutants: How many mutants there were.
        absent: By label the ids of `truth` that no trajectory of the suite's own runs has.
    """

    runs: int
    checks: int
    mutants: int
    absent: NotRequired[dict[str, list[str]]]


SUITE: Final[ReceiptTypes] = {
    "start": Start,
    "run": Run,
    "figure": Figure,
    "check": Check,
    "mutant": Mutant,
    "end": End,
}
"""The receipts of a suite."""
