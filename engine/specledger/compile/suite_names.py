"""The names that the receipts of a suite's runs can hold, with which its expressions compare texts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from specledger.compile.roles import roles
from specledger.core.diagnostics import Diagnostics, code
from specledger.core.events import PROGRESS
from specledger.gates.capability import TOKEN
from specledger.gates.governor import SCHEMA
from specledger.gates.invariant import WATCHDOG
from specledger.load import Bundle, Resolved
from specledger.suites.plan import Case


def names_of(cases: Sequence[Case]) -> dict[str, set[str] | None]:
    """The names that the receipts of runs can hold, by what is named; None where they cannot be listed."""
    known: dict[str, set[str]] = {
        "arm": {case.arm for case in cases},
        "scenario": {case.scenario for case in cases},
        "gate": {SCHEMA, TOKEN},
        "reason": set(),
        "invariant": {PROGRESS, WATCHDOG},
        "drift": {""},
        "probe": set(),
        "rule": set(),
        "label": {label for case in cases for label in case.truth.labels},
    }
    open_: set[str] = set()
    for bundle in (case.bundle for case in cases):
        known["invariant"] |= _listed(bundle, bundle.main, "invariants")
        known["drift"] |= _listed(bundle, bundle.main, "drift")
        for role in roles(bundle):
            if role.rules.admission is not None:
                open_ |= {"gate", "reason"}  # a kernel finds more
            if role.decider.trajectories is not None:
                known["rule"] |= _rules(bundle)
            known["gate"] |= {gate.id for gate in role.rules.gates}
            known["reason"] |= {gate.reason for gate in role.rules.gates}
            known["invariant"] |= _listed(bundle, role.governor, "invariants")
            known["probe"] |= {probe.name for probe in role.probes}
    return {what: None if what in open_ else names for what, names in known.items()}


def _rules(bundle: Bundle) -> set[str]:
    """The rules of the policies of a scenario, as receipts call them."""
    policies = [bundle.specs[key] for path, key in bundle.main.refs.items() if path[0] == "policies"]
    return {f"{policy.name}.{rule}" for policy in policies for rule in policy.data["rules"]}


def _listed(bundle: Bundle, spec: Resolved, key: str) -> set[str]:
    return {bundle.specs[reference].name for path, reference in spec.refs.items() if path[0] == key}


W_SUITE_MODELS = code("W_SUITE_MODELS", "arms of a suite ask different models")


def report_models(cases: Iterable[Case], spec: Resolved, diagnostics: Diagnostics) -> None:
    """Warn if the arms that ask a model do not all ask the same: what differs between them is also the model."""
    arms: dict[str, list[str]] = {}
    for case in cases:
        for model in _models(case.bundle):
            if case.arm not in arms.setdefault(model, []):
                arms[model].append(case.arm)
    if len(arms) > 1:
        asked = "; ".join(f"{', '.join(names)}: {model}" for model, names in sorted(arms.items()))
        diagnostics.warn(
            W_SUITE_MODELS,
            f"the arms ask different models ({asked})",
            spec.span("runs"),
            hint="what differs between these arms is also the model: name one in all, or say so of the result",
        )


def _models(bundle: Bundle) -> Iterator[str]:
    """The models that the agents of a scenario ask; of a record the model whose answers it has."""
    for role in roles(bundle):
        key = role.agent.refs.get(("outside", "model"))
        if key is not None:
            while ("cassette", "records") in bundle.specs[key].refs:
                key = bundle.specs[key].refs["cassette", "records"]
            yield bundle.specs[key].name
