"""What a plan says of itself where its scenario says nothing, and how many plans are kept."""

import threading

import pytest

from specledger.compile import plan_cache
from specledger.compile.plan import Actor, Plan, PlannedInvariant, Questions
from specledger.compile.plan_cache import PlanCache
from specledger.compile.scenario import compile_scenario
from specledger.core.clock import CLOCK, READERS
from specledger.kinds import load
from tests.toys import number_scenario, plan_of


def defaults(kind):
    """The plain values that stand for attributes which are left out, the last ones."""
    names = kind.__struct_fields__[-len(kind.__struct_defaults__) :]
    given = zip(names, kind.__struct_defaults__, strict=True)
    return {name: value for name, value in given if isinstance(value, bool | int | str)}


def test_what_a_plan_is_unless_something_is_said():
    assert defaults(Plan) == {
        "simultaneous": False,
        "agent_faults": "inconclusive",
        "on_denied": "fatal",
        "check_weights": True,
    }
    assert defaults(Actor) == {"keyed": False, "memory": 0}
    assert defaults(PlannedInvariant) == {"after_fatal": True}
    assert Questions() == (0, 0, 0, 0, 0, ())


def test_one_agent_has_no_name_in_receipts_and_counts(tmp_path):
    plan = plan_of(number_scenario(tmp_path, governor={"gates": [{"id": "g", "deny": "x > 2", "reason": "r"}]}))
    assert (plan.actors[0].label, plan.gates) == ({}, ("schema", "g"))
    assert (plan.simultaneous, plan.oracle, plan.watchdog, plan.recording, plan.policies) == (
        False,
        None,
        None,
        None,
        None,
    )


@pytest.mark.medium
def test_sixteen_plans_are_kept_and_the_one_that_was_used_longest_ago_goes(tmp_path, monkeypatch):
    compiled = []

    def counted(bundle):
        compiled.append(bundle.main.model.horizon)
        return compile_scenario(bundle)

    monkeypatch.setattr(plan_cache, "compile_scenario", counted)
    path = str(number_scenario(tmp_path))
    cases = [load(path, set=[f"horizon={steps}"])[0] for steps in range(1, 18)]
    plans = PlanCache()
    for case in (*cases[:16], cases[0], cases[15]):
        plans(case)
    assert compiled == [*range(1, 17)]
    plans(cases[16])
    plans(cases[0])
    assert compiled == [*range(1, 18)]
    plans(cases[1])
    assert compiled == [*range(1, 18), 2]


def test_the_clock_of_a_thread_begins_at_the_first_step():
    read = []
    CLOCK.set(3, 4, "ann")
    try:
        thread = threading.Thread(target=lambda: read.append({name: reader() for name, reader in READERS.items()}))
        thread.start()
        thread.join()
        assert read == [{"t": 0, "episode": 0, "actor": ""}]
        assert {name: reader() for name, reader in READERS.items()} == {"t": 4, "episode": 3, "actor": "ann"}
    finally:
        CLOCK.set(0, 0, "")
