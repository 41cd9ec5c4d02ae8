"""What rows of profiles state as a figure stands in the specs that ship.

Tests of behaviour often make a spec small, or change its constants, and so do not notice another figure in it.
"""

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from specledger.kinds import load
from specledger.spec.profile import Profile

HERE = "tests/conformance/test_stated_facts.py::test_a_spec_states_the_figure_of_the_document"
SPECS = Path(__file__).parents[2] / "specs"

AXION, PLAN, OVERVIEW, LAWS = "toy-pseudo-axion", "clatl-plan", "clatl-overview", "law-proposer"
KERNEL, M4, SIMPLE = "governor/axion-kernel", "suite/axion-m4", "scenario/simple"
IMPROVES = "suite/gridworld-task-improves-under-budget"
OPS = ("move", "pickup", "drop", "signal", "use_tool")
WORK = {"W_MOVE": 1_000_000, "W_PROPOSE": 500_000, "W_MEMORY_WRITE": 100_000, "W_REJECTED_ATTEMPT": 50_000}
"""In millionths."""

FACTS: dict[tuple[str, str], dict[str, Any]] = {
    (AXION, "timeout"): {f"{KERNEL} admission.watchdog_ms": 200},
    (AXION, "rate-limit"): {
        f"{KERNEL} admission.{where}.{op}.{key}": figure
        for where, ops in (("grants", OPS), ("free", ("wait", "noop")))
        for op in ops
        for key, figure in (("max_calls", 1), ("per_ms", 100))
    },
    (AXION, "expiry"): {
        f"{KERNEL} admission.ms_per_tick": 100,
        **{f"{KERNEL} admission.grants.{op}.expiry_ms": 100 for op in OPS},
        **{f"{KERNEL} admission.free.{op}.expiry_ms": 100 for op in ("wait", "noop")},
    },
    (AXION, "p5"): {
        "probe/p5-causal at": "after_commit",
        "probe/p5-causal challenge.of": "claims",
        "probe/p5-causal challenge.draw.least": 1,
        "probe/p5-causal challenge.draw.most": 3,
    },
    (AXION, "hundred-episodes"): {
        f"{M4} runs.{arm}.{key}": said
        for arm in ("honest", "pseudo")
        for key, said in (("set.episodes", 100), ("agent", arm), ("scenarios", ["axion-hazard", "axion-resource"]))
    },
    (AXION, "honest-80"): {
        f"{M4} constants.HONEST": 800_000,
        f"{M4} checks.honest-passes.require": "honest_passes.value >= HONEST",
        f"{M4} measures.all_pass": "four().all(name, passed(name))",
    },
    (AXION, "pseudo-20"): {
        f"{M4} constants.PSEUDO": 200_000,
        f"{M4} checks.pseudo-does-not-pass.require": "pseudo_passes.value <= PSEUDO",
    },
    (AXION, "p5-60"): {
        f"{M4} constants.CAUSAL": 600_000,
        f"{M4} checks.fabrication-is-found.require": "pseudo_fails_p5.value >= CAUSAL && pseudo_fails_p5_on.all(f, f.value >= CAUSAL)",
    },
    (OVERVIEW, "usage"): {
        f"{SIMPLE} seed": 42,
        f"{SIMPLE} horizon": 50,
        "drift/goal-drift constants.EVERY": 20,
    },
    (PLAN, "drift-at-t"): {"drift/goal-drift at": "t > 0 && t % EVERY == 0", "drift/goal-drift constants.EVERY": 20},
    (PLAN, "work-costs"): {
        f"governor/{name} constants.{cost}.qfixed": figure
        for name in ("lexicographic", "path-progress")
        for cost, figure in WORK.items()
    },
    (PLAN, "competence"): {
        f"{IMPROVES} constants.HALF": 500_000,
        f"{IMPROVES} constants.UNIT": 1_000_000,
        f"{IMPROVES} checks.succeeds-half-of-the-time.require": "success.value >= HALF && goal_success.value >= HALF",
    },
    (LAWS, "invariant"): {"template/invariant for_all.t.to": "T"},
    (LAWS, "monotone"): {"template/monotone for_all.t.to": "T - 1"},
    (LAWS, "implication-step"): {"template/implication_step for_all.t.to": "T - 1"},
    (LAWS, "implication-state"): {"template/implication_state for_all.t.to": "T"},
    (LAWS, "eventually"): {"template/eventually for_all.t.to": "T", "template/eventually within": "H"},
    (LAWS, "bound"): {"template/bound for_all.t.to": "T"},
    (LAWS, "local-transition"): {"template/local_transition for_all.t.to": "T - 1"},
    (LAWS, "symmetry-commutation"): {
        "template/symmetry_commutation for_all.t.from": 1,
        "template/symmetry_commutation for_all.t.to": "T",
    },
}
"""By profile and row: where a figure stands, as `kind/name path`, and what the document says."""

PLACES = [(*row, place, said) for row, facts in FACTS.items() for place, said in facts.items()]


@cache
def model(spec):
    return load(SPECS / f"{spec}.yaml")[0].main.model


def stated(place):
    """The value at a place of a shipped spec, whether it is written or the default of its kind."""
    spec, _, path = place.partition(" ")
    value = model(spec)
    for name in path.split("."):
        if isinstance(value, list | tuple):
            value = next(one for one in value if one.id == name)
        elif isinstance(value, Mapping):
            value = value[name]
        else:
            fields = {field.alias or key: key for key, field in type(value).model_fields.items()}
            value = getattr(value, fields[name])
    return [name_of(one) for one in value] if isinstance(value, list) else name_of(value)


def name_of(value):
    """The name of a spec that is referred to; whatever else it is, itself."""
    found = re.fullmatch(r"[a-z]+/([a-z0-9-]+)@[0-9a-f]+", str(value))
    return found[1] if found else getattr(value, "value", value)


@pytest.mark.parametrize(("profile", "row", "place", "said"), PLACES, ids=[f"{row} {at}" for _, row, at, _ in PLACES])
def test_a_spec_states_the_figure_of_the_document(profile, row, place, said):
    assert stated(place) == said
    profile_model = model(f"profile/{profile}")
    assert isinstance(profile_model, Profile)
    assert HERE in next(control for control in profile_model.controls if control.id == row).checks
