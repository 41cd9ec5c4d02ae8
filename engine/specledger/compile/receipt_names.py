"""The names that the runs of a suite can give to what their receipts tell.

Decides which names these are: those of the specs of each run, and those that the engine itself gives. Refuses to know
what is compared with them.
"""

from __future__ import annotations

from collections.abc import Sequence

from specledger.gates.admission import TOKEN
from specledger.gates.governor import SCHEMA
from specledger.gates.invariant import PROGRESS, WATCHDOG
from specledger.load import Bundle, Resolved
from specledger.spec.governor import Governor
from specledger.suites.plan import Case


def names_of(cases: Sequence[Case]) -> dict[str, set[str] | None]:
    """The names that runs can give, by what is named; None where they cannot be listed."""
    found: dict[str, set[str]] = {
        "arm": {case.arm for case in cases},
        "scenario": {case.scenario for case in cases},
        "gate": {SCHEMA, TOKEN},
        "reason": set(),
        "invariant": {PROGRESS, WATCHDOG},
        "drift": {""},
        "probe": set(),
    }
    open_: set[str] = set()
    for bundle in (case.bundle for case in cases):
        governor = bundle.specs[bundle.main.refs["governor",]]
        model = governor.model
        assert isinstance(model, Governor)  # noqa: S101 - a reference of kind governor holds nothing else
        if model.admission is not None:
            open_ |= {"gate", "reason"}  # a kernel finds more
        found["gate"] |= {gate.id for gate in model.gates}
        found["reason"] |= {gate.reason for gate in model.gates}
        found["invariant"] |= _listed(bundle, governor, "invariants") | _listed(bundle, bundle.main, "invariants")
        found["drift"] |= _listed(bundle, bundle.main, "drift")
        found["probe"] |= _listed(bundle, bundle.main, "probes")
    return {what: None if what in open_ else names for what, names in found.items()}


def _listed(bundle: Bundle, spec: Resolved, key: str) -> set[str]:
    return {bundle.specs[reference].name for path, reference in spec.refs.items() if path[0] == key}
