"""The receipts of a suite."""

from typing import Annotated, Any, Final, NotRequired, TypedDict

from specledger.core.verdict import Verdict
from specledger.evidence.receipts import ReceiptTypes
from specledger.evidence.receipts.run import RunResult


class Start(TypedDict):
    """The first receipt: the suite's own runs, its figures, checks and mutants.

    `allowed` is by verdict and arm how many runs may end so; the empty name is of all other arms.
    """

    suite: str
    specs: str
    runs: int
    figures: list[str]
    checks: list[str]
    mutants: list[str]
    allowed: dict[str, dict[str, int]]


class Chain(TypedDict):
    """The receipts of a run: their number, the digest of the last one, and the Merkle root over all."""

    count: int
    head: str
    root: str


class Replay(TypedDict):
    """What replay of a run showed: it is intact and exact, it notices a changed receipt, and how many it compared."""

    intact: bool
    exact: bool
    noticed: bool
    compared: int


class Run(TypedDict):
    """A run: its folder in the bundle, what it is a run of, and what its manifest says."""

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
    """The ends of an interval of 95 %, in the unit of its figure."""

    low: int
    high: int


class Position(TypedDict):
    """An episode of a run."""

    run: str
    episode: int


class Group(TypedDict):
    """The value of a figure for one group of runs.

    `of` counts the values, `count` those that hold. Rates, effects, means, slopes and differences are in millionths.
    `bound` is the upper bound of a rate that never held; `against` what holds of the other rate of an effect.
    `cluster` is the interval over `clusters` that differ.
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


class FigureFailure(TypedDict):
    """An expression without a value; `run` and `episode` say where a measure failed."""

    code: str
    expression: str | None
    offset: int | None
    run: NotRequired[str]
    episode: NotRequired[int]


class Figure(TypedDict):
    """A figure; `clusters` says what makes episodes alike: `scenario`, `seed` or `run`."""

    figure: str
    statistic: str
    clusters: str
    groups: list[Group]
    error: FigureFailure | None


class Check(TypedDict):
    """A check of the suite: how often it could have failed, of how often at `least`."""

    check: str
    verdict: Annotated[str, Verdict]
    opportunities: int
    least: int
    witness: dict[str, Any]
    error: FigureFailure | None


class Mutant(TypedDict):
    """A mutant: the checks that noticed it, and the verdicts of all checks without it and with it."""

    mutant: str
    suite: str
    caught: list[str]
    verdict: Annotated[str, Verdict]
    control: dict[str, str]
    mutated: dict[str, str]


class End(TypedDict):
    """The last receipt; `runs` counts those of mutants, too.

    `absent` has by label the ids of the suite's `truth` that no trajectory of its own runs has.
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
