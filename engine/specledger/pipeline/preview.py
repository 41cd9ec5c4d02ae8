"""What a run would do, told without running it.

Decides which figures of each kind are told: all of them follow from the resolved specs. Refuses to estimate time.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from specledger.compile.law import compile_law
from specledger.compile.plan import Plan
from specledger.compile.scenario import compile_scenario
from specledger.compile.suite import compile_suite
from specledger.discovery.plan import KIND as DISCOVERY
from specledger.evidence.layout import SCENARIO, SUITE
from specledger.laws.trial import KIND as LAW
from specledger.load import Bundle
from specledger.pipeline.discovery import check_discovery
from specledger.spec.discovery import Discovery
from specledger.spec.invariant import Invariant
from specledger.spec.scenario import Scenario
from specledger.suites.plan import Case, Trial

MOST_STEPS_TOLD: Final = 20
"""Steps at which a drift is due that are told one by one; the others are counted."""


def preview(bundle: Bundle) -> dict[str, Any]:
    """What running one case would do, as JSON values.

    Args:
        bundle: A case of a kind that is run.

    Returns:
        `kind`, `name`, `case`, `digest`, and what `PREVIEWS` tells of the kind.

    Raises:
        Rejected: If it does not compile.
    """
    main = bundle.main
    head = {"kind": main.kind, "name": main.name, "case": bundle.case, "digest": bundle.digest}
    return {**head, **PREVIEWS[main.kind](bundle)}


def _scenario(bundle: Bundle) -> dict[str, Any]:
    plan, refs = compile_scenario(bundle), bundle.main.refs
    named = {key: None for spec in (refs["governor",], bundle.root) for key in _listed(bundle, spec, "invariants")}
    invariants = []
    for key in named:
        model = bundle.specs[key].model
        assert isinstance(model, Invariant)  # noqa: S101 - a reference of kind invariant holds nothing else
        invariants.append({"invariant": model.name, "scope": model.scope, "severity": model.severity})
    return {
        **{role: bundle.specs[refs[role,]].name for role in ("world", "governor", "agent")},
        "seed": plan.seed,
        "episodes": plan.episodes,
        "horizon": plan.horizon,
        "most_steps": plan.episodes * plan.horizon,
        "gates": list(plan.gates),
        "invariants": invariants,
        "drifts": _drifts(plan),
        "probes": [bundle.specs[key].name for key in _listed(bundle, bundle.root, "probes")],
    }


def _drifts(plan: Plan) -> list[dict[str, Any]]:
    """How often each drift is due in an episode of full length, and when first; whether it happens shows the run."""
    return [
        {"drift": drift.name, "due": len(drift.schedule), "at": sorted(drift.schedule)[:MOST_STEPS_TOLD]}
        for drift in plan.drifts
    ]


def _listed(bundle: Bundle, key: str, name: str) -> list[str]:
    """The keys of the specs in one list of references, in its order."""
    refs = bundle.specs[key].refs
    return [refs[path] for path in sorted(path for path in refs if path[0] == name and len(path) == 2)]


def _suite(bundle: Bundle) -> dict[str, Any]:
    plan = compile_suite(bundle)
    own, others = plan.trial, plan.trials[1:]
    return {
        "runs": [_run(case) for case in own.cases],
        **_totals(own),
        "replay": own.replay,
        "figures": [figure.name for figure in own.figures],
        "checks": [check.id for check in own.checks],
        "mutants": [
            {"mutant": one.id, "suite": one.mutated.suite, "runs": len(one.mutated.cases)} for one in plan.mutants
        ],
        "trials": sum(len(trial.cases) for trial in others),
        "most_trial_steps": sum(_totals(trial)["most_steps"] for trial in others),
    }


def _run(case: Case) -> dict[str, Any]:
    model = case.bundle.main.model
    assert isinstance(model, Scenario)  # noqa: S101 - a suite runs nothing else
    return {
        "run": case.run,
        "arm": case.arm,
        "scenario": case.scenario,
        "seed": case.seed,
        "episodes": model.episodes,
        "horizon": model.horizon,
        "most_steps": model.episodes * model.horizon,
        "digest": case.bundle.digest,
    }


def _totals(trial: Trial) -> dict[str, int]:
    runs = [_run(case) for case in trial.cases]
    return {name: sum(run[name] for run in runs) for name in ("episodes", "most_steps")}


def _law(bundle: Bundle) -> dict[str, Any]:
    plan = compile_law(bundle)
    law = plan.law
    return {
        "universe": bundle.specs[bundle.main.refs["universe",]].name,
        "template": law.template.name,
        "seed": law.seed,
        "cases": law.cases,
        "mutations": law.mutations,
        "T": law.T,
        "unknown": None if law.unknown is None else str(law.unknown),
        "expected": None if plan.expected is None else dict(plan.expected),
    }


def _discovery(bundle: Bundle) -> dict[str, Any]:
    check_discovery(bundle)
    model, refs = bundle.main.model, bundle.main.refs
    assert isinstance(model, Discovery)  # noqa: S101 - the table below dispatches by kind
    return {
        **{role: bundle.specs[refs[role,]].name for role in ("universe", "model", "prompt", "ranking")},
        "seed": model.seed,
        "iterations": model.iterations,
        "most_laws": model.iterations * model.request.count,
        "templates": [bundle.specs[key].name for key in _listed(bundle, bundle.root, "templates")],
        "trial": model.trial.model_dump(),
        "escalation": model.escalation.model_dump(),
        "expect": [bundle.specs[key].name for key in _listed(bundle, bundle.root, "expect")],
    }


PREVIEWS: Final[Mapping[str, Callable[[Bundle], dict[str, Any]]]] = {
    SCENARIO: _scenario,
    SUITE: _suite,
    LAW: _law,
    DISCOVERY: _discovery,
}
"""By the kind of a spec what is told of its run."""
