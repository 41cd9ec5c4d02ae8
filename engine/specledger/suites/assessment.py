"""The fold from runs to a suite's figures, checks and mutants, used both to make a suite and to verify one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from specledger.core.canonical import NotCanonical, canonical_ints
from specledger.core.events import Event
from specledger.core.verdict import Verdict
from specledger.suites.checks import PlannedCheck, judge, run_record
from specledger.suites.figures import FigureError, compute
from specledger.suites.plan import Case, PlannedMutant, SuitePlan, Trial

Outcome = Mapping[str, Any]
"""What is known of a run: `specs`, `receipts`, `result`, `replay`, `samples` and, if labelled, `trajectories`."""

UNCOMPARED: Mapping[str, Any] = {"intact": True, "exact": True, "noticed": False, "compared": 0}
"""`replay` of a run that was not compared: no fault was found, and none would have been."""


Judge = Callable[[PlannedCheck, Mapping[str, Any]], dict[str, Any]]
"""What a check amounts to, given `runs` and the figures; see `checks.judge`."""


def assess(plan: SuitePlan, outcomes: Mapping[str, Outcome], judge: Judge = judge) -> Iterator[Event]:
    """The facts of a suite.

    Yields:
        `start`; `run`*, `figure`*, `check`*; per mutant `run`* and `mutant`; `end`.
    """
    trial = plan.trial
    yield Event(
        "start",
        {
            "suite": plan.name,
            "specs": plan.specs,
            "runs": len(trial.cases),
            "figures": [figure.name for figure in trial.figures],
            "checks": [check.id for check in trial.checks],
            "mutants": [mutant.id for mutant in plan.mutants],
            "allowed": {verdict: dict(arms) for verdict, arms in plan.allowed.items()},
        },
    )
    facts, verdicts = _assess_trial(trial, outcomes, judge)
    yield from facts
    done = {id(trial): verdicts}
    for mutant in plan.mutants:
        for half in (mutant.control, mutant.mutated):
            if id(half) not in done:
                facts, done[id(half)] = _assess_trial(half, outcomes, judge)
                yield from (fact for fact in facts if fact.type == "run")
        yield Event("mutant", _judge_mutant(mutant, done[id(mutant.control)], done[id(mutant.mutated)]))
    absent = _absent(trial, outcomes)
    counts = {"runs": len(plan.cases), "checks": len(trial.checks), "mutants": len(plan.mutants)}
    yield Event("end", {**counts, **({"absent": absent} if absent else {})})


def _absent(trial: Trial, outcomes: Mapping[str, Outcome]) -> dict[str, list[str]]:
    """By label the ids that no trajectory of the runs has."""
    ids = [id_ for case in trial.cases for id_ in outcomes[case.place]["trajectories"]]
    return trial.cases[0].truth.absent(ids) if trial.cases else {}


def _assess_trial(trial: Trial, outcomes: Mapping[str, Outcome], judge: Judge) -> tuple[list[Event], dict[str, str]]:
    """The facts of one trial, and the verdict of each of its checks."""
    runs = [{**case.heading, **outcomes[case.place]} for case in trial.cases]
    facts = [Event("run", _run_body(case, run)) for case, run in zip(trial.cases, runs, strict=True)]
    values: dict[str, Any] = {"runs": [run_record(run) for run in runs]}
    for figure in trial.figures:
        groups: list[dict[str, Any]] = []
        error = None
        try:
            groups = compute(figure, runs)
            canonical_ints(groups)
            values[figure.name] = groups if figure.by is not None else _nameless(groups[0])
        except FigureError as failed:
            values[figure.name], error = failed, dict(failed.cause)
        except NotCanonical as failed:
            error = {"code": failed.code, "expression": None, "offset": None, "run": "", "episode": 0}
            values[figure.name], groups = FigureError(error), []
        body = {"figure": figure.name, "statistic": figure.statistic, "clusters": figure.clusters}
        facts.append(Event("figure", {**body, "groups": groups, "error": error}))
    judged = [judge(check, values) for check in trial.checks]
    facts += [Event("check", body) for body in judged]
    return facts, {body["check"]: body["verdict"] for body in judged}


def _nameless(group: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in group.items() if name != "name"}


def _run_body(case: Case, run: Mapping[str, Any]) -> dict[str, Any]:
    known = {name: run[name] for name in ("specs", "receipts", "result", "replay")}
    return {"place": case.place, **case.heading, **known}


def _judge_mutant(mutant: PlannedMutant, control: Mapping[str, str], mutated: Mapping[str, str]) -> dict[str, Any]:
    """A mutant is caught by a check that fails with it and passes without it; nothing else counts."""
    caught = sorted(check for check in mutated if mutated[check] == Verdict.FAIL and control[check] == Verdict.PASS)
    verdict = Verdict.PASS if caught else Verdict.FAIL
    if not caught and Verdict.ERROR in (*mutated.values(), *control.values()):
        verdict = Verdict.ERROR
    return {
        "mutant": mutant.id,
        "suite": mutant.mutated.suite,
        "caught": caught,
        "verdict": verdict.value,
        "control": dict(control),
        "mutated": dict(mutated),
    }
