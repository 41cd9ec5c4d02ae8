"""What a run of a suite would do: its runs, what asking its agents costs, its figures, checks and mutants."""

from __future__ import annotations

from typing import Any

from specledger.compile.roles import roles
from specledger.compile.scenario import compile_scenario
from specledger.compile.suite import compile_suite
from specledger.kinds.asking_cost import asking_cost, weak_probes
from specledger.load import Bundle
from specledger.spec.agent import Agent
from specledger.spec.scenario import Scenario
from specledger.suites.plan import Case, Trial


def suite_preview(bundle: Bundle) -> dict[str, Any]:
    """What a run of a suite would do, as JSON values."""
    plan = compile_suite(bundle)
    own, others = plan.trial, plan.trials[1:]
    return {
        "runs": [_case_preview(case) for case in own.cases],
        **_totals(own),
        **_asking([case for case in own.cases if _is_asked(roles(case.bundle)[0].decider)]),
        "replay": own.replay,
        "figures": [figure.name for figure in own.figures],
        "checks": [check.id for check in own.checks],
        "mutants": [
            {"mutant": mutant.id, "suite": mutant.mutated.suite, "runs": len(mutant.mutated.cases)}
            for mutant in plan.mutants
        ],
        "trials": sum(len(trial.cases) for trial in others),
        "most_trial_steps": sum(_totals(trial).get("most_steps", 0) for trial in others),
    }


def _case_preview(case: Case) -> dict[str, Any]:
    model = case.bundle.main.model
    assert isinstance(model, Scenario)  # noqa: S101 - a suite runs nothing else
    length = {
        "episodes": model.episodes,
        "horizon": model.horizon,
        "most_steps": model.episodes * (model.horizon or 0),
    }
    recorded = roles(case.bundle)[0].decider.trajectories
    return {
        "run": case.run,
        "arm": case.arm,
        "scenario": case.scenario,
        "seed": case.seed,
        **(length if recorded is None else {"trajectories": list(recorded.files)}),  # its logs say how long it is
        "digest": case.bundle.digest,
    }


def _is_asked(agent: Agent) -> bool:
    """Whether an agent is outside, or a model is asked about what it did."""
    return agent.outside is not None or (agent.trajectories is not None and agent.trajectories.asks is not None)


def _asking(cases: list[Case]) -> dict[str, Any]:
    """What asking the agents of these cases costs together, and for each arm."""
    plans = [(case.arm, compile_scenario(case.bundle)) for case in cases]
    total = asking_cost(plan for _, plan in plans)
    arms = {arm: asking_cost(plan for of, plan in plans if of == arm) for arm, _ in plans}
    weak = {arm: sorted({name for of, plan in plans if of == arm for name in weak_probes(plan)}) for arm in arms}
    rows = [
        {"arm": arm, **cost["asked"], **cost.get("model", {})} | ({"too_few_repeats": weak[arm]} if weak[arm] else {})
        for arm, cost in arms.items()
        if cost
    ]
    return {**total, "arms": rows} if rows else {}


def _totals(trial: Trial) -> dict[str, int]:
    runs = [run for run in map(_case_preview, trial.cases) if "trajectories" not in run]
    return {name: sum(run[name] for run in runs) for name in ("episodes", "most_steps") if runs}
