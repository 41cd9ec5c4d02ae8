"""The plan of a suite: its runs, and what their figures must satisfy."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from specledger.core.diagnostics import Diagnostic
from specledger.load import Bundle
from specledger.suites.checks import PlannedCheck
from specledger.suites.figures import PlannedFigure
from specledger.suites.measures import LEAST_VALUES, MAX_VALUES, Sampler
from specledger.suites.truth import Truth


class Case(Struct, frozen=True):
    """One run: a scenario with everything laid over it, its place in the evidence, what measures and labels it."""

    place: str
    run: str
    arm: str
    scenario: str
    seed: int
    bundle: Bundle
    sampler: Sampler
    truth: Truth

    @property
    def heading(self) -> dict[str, str | int]:
        """What each of its episodes is told of it."""
        return {"run": self.run, "arm": self.arm, "scenario": self.scenario, "seed": self.seed}


class Trial(Struct, frozen=True):
    """Runs together with what is asked of them.

    Attributes:
        replay: Whether each run is read back, made again, compared, and compared with an altered copy.
    """

    suite: str
    cases: tuple[Case, ...]
    figures: tuple[PlannedFigure, ...]
    checks: tuple[PlannedCheck, ...]
    replay: bool

    def wanted(self, case: Case) -> frozenset[str]:
        """The figures that a run contributes to."""
        return frozenset(figure.name for figure in self.figures if case.arm in figure.over)


class PlannedMutant(Struct, frozen=True):
    """One thing switched off: the trial without the change, which mutants may share, and the one with it."""

    id: str
    control: Trial
    mutated: Trial


class SuitePlan(Struct, frozen=True):
    """A compiled suite.

    Attributes:
        allowed: How many of its own runs may be INCONCLUSIVE, and how many FAIL: of an arm by its name, of all other
            arms together by the empty name.
    """

    name: str
    specs: str
    trial: Trial
    mutants: tuple[PlannedMutant, ...]
    allowed: Mapping[str, Mapping[str, int]]
    warnings: tuple[Diagnostic, ...] = ()

    @property
    def trials(self) -> tuple[Trial, ...]:
        """Every trial once: its own, then of each mutant the control, if it is another, and the mutated one."""
        trials: dict[int, Trial] = {id(self.trial): self.trial}
        for mutant in self.mutants:
            trials.setdefault(id(mutant.control), mutant.control)
            trials[id(mutant.mutated)] = mutant.mutated
        return tuple(trials.values())

    @property
    def cases(self) -> tuple[tuple[Trial, Case], ...]:
        """Every run, with its trial."""
        return tuple((trial, case) for trial in self.trials for case in trial.cases)

    @property
    def values_of_run(self) -> int:
        """How many values the figures may be made of in each run, so that memory is bounded for all of them."""
        return max(LEAST_VALUES, MAX_VALUES // max(1, sum(len(trial.cases) for trial in self.trials)))
