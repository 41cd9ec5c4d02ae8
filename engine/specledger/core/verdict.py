"""The four verdicts, how several are combined, and the exit code of each. Only checks that passed can be a pass."""

from collections.abc import Iterable
from enum import IntEnum, StrEnum


class Verdict(StrEnum):
    """The outcome of a check. An engine error is never a refutation and never a pass."""

    PASS = "PASS"
    FAIL = "FAIL"
    INCONCLUSIVE = "INCONCLUSIVE"
    ERROR = "ERROR"


class Exit(IntEnum):
    """The exit codes of the command line. ERROR: something could not be evaluated; INTERNAL: a defect of specledger."""

    CONFORMS = 0
    FINDINGS = 1
    INVALID = 2
    INCONCLUSIVE = 3
    ERROR = 4
    INTERNAL = 70
    INTERRUPTED = 130
    TERMINATED = 143


_DOMINANCE = (Verdict.ERROR, Verdict.FAIL, Verdict.INCONCLUSIVE, Verdict.PASS)

_EXITS = {
    Verdict.PASS: Exit.CONFORMS,
    Verdict.FAIL: Exit.FINDINGS,
    Verdict.INCONCLUSIVE: Exit.INCONCLUSIVE,
    Verdict.ERROR: Exit.ERROR,
}


def combine(verdicts: Iterable[Verdict]) -> Verdict:
    """The verdict of the whole: ERROR before FAIL before INCONCLUSIVE before PASS.

    No verdicts at all are INCONCLUSIVE, since a run that checked nothing is not a pass.
    """
    return min(verdicts, key=_DOMINANCE.index, default=Verdict.INCONCLUSIVE)


def exit_code(verdict: Verdict) -> Exit:
    """The exit code of a run whose combined verdict is `verdict`."""
    return _EXITS[verdict]
