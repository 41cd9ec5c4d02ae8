"""The steps of a discovery: iterations, an escalation after every so many, a closing one; and when each may begin."""

from types import SimpleNamespace
from typing import Any

import pytest

from specledger.core.diagnostics import Rejected
from specledger.kinds import load
from specledger.wings.discovery.discovery_state import DiscoveryState, _Judged
from specledger.wings.discovery.plan import ESCALATE, PROPOSE, compile_discovery
from tests.toys import SMALL


@pytest.fixture(scope="module")
def plan_of():
    def plan(**changes):
        set_ = [f"{path.replace('__', '.')}={value}" for path, value in changes.items()]
        (bundle,) = load(str(SMALL / "small.yaml"), set=set_)
        return compile_discovery(bundle)

    return plan


REQUESTS: dict[str, tuple[dict[str, str], list[tuple[str, str]]]] = {
    "asked for": (
        {"request": "{target_templates: [invariant, invariants, zzz]}"},
        [("E_DISCOVERY_TEMPLATE", "`templates` leads to no 'invariants'"), ("E_DISCOVERY_TEMPLATE", "`templates` leads to no 'zzz'")],
    ),
    "left out": ({"request": "{exclude_templates: [bound]}"}, [("E_DISCOVERY_TEMPLATE", "`templates` leads to no 'bound'")]),
    "none left": (
        {"request": "{exclude_templates: [invariant, symmetry_commutation, local_transition]}"},
        [("E_DISCOVERY_TEMPLATE", "no template is left to propose")],
    ),
    "an expected law of a form that is not listed": (
        {"templates": "[local_transition]"},
        [("E_DISCOVERY_LAW", "right-component is about another universe, or has a form that `templates` does not list")],
    ),
    "an expected law of another universe": (
        {"universe": "bouncing-grid"},
        [("E_DISCOVERY_LAW", "right-component is about another universe, or has a form that `templates` does not list")],
    ),
}  # fmt: skip


@pytest.mark.parametrize(("changes", "findings"), REQUESTS.values(), ids=REQUESTS)
def test_templates_and_laws_that_a_discovery_does_not_list_are_refused_at_their_word(changes, findings):
    set_ = [f"{path}={value}" for path, value in changes.items()]
    with pytest.raises(Rejected) as refused:
        compile_discovery(load(str(SMALL / "small.yaml"), set=set_)[0])
    assert [(one.code, one.message) for one in refused.value.diagnostics] == findings


@pytest.mark.parametrize("every", [1, 2, 3, 5])
@pytest.mark.parametrize("iterations", [1, 2, 3, 4, 5, 6, 10, 11])
def test_steps_are_the_iterations_and_an_escalation_after_every_so_many(plan_of, iterations, every):
    plan = plan_of(iterations=iterations, escalation__every=every)
    kinds: list[tuple[str, int]] = []
    proposed = 0
    while proposed < iterations:
        kinds.append(plan.kind_of(len(kinds)))
        proposed += kinds[-1][0] == PROPOSE
        assert kinds[-1][1] == proposed - (kinds[-1][0] == PROPOSE)
    positions = [place for place, (kind, _) in enumerate(kinds) if kind == PROPOSE]
    assert [plan.position_of(iteration) for iteration in range(iterations)] == positions
    assert all(before % every == 0 for kind, before in kinds if kind == ESCALATE)
    assert plan.most_steps == len(kinds) + 1  # the closing step


@pytest.mark.parametrize("lag", [1, 2, 3])
def test_a_step_begins_when_as_many_as_the_lag_says_are_still_open(plan_of, lag):
    plan = plan_of(lag=lag)
    assert [plan.needs(position) for position in range(5)] == [max(0, position + 1 - lag) for position in range(5)]


def test_of_two_escalations_of_a_law_the_first_counts():
    """Two may be under way at once: both were begun before the first was taken."""
    verdicts: list[Any] = [{"status": "PASS"}, {"status": "FAIL"}]
    proved: Any = {"status": "PROVED"}
    judged: Any = _Judged({}, 0, proved)
    state: Any = DiscoveryState.__new__(DiscoveryState)
    state._judged, state._waiting, state._figures = {"a": judged}, {"a": {}}, {"escalations": 0}
    state._laws, remembered = SimpleNamespace(read=lambda document: document), list[Any]()
    state._memory = SimpleNamespace(record_evaluation=lambda law, verdict: remembered.append(verdict))
    first, second = (state._escalated({"laws": [{"law": "a", "verdict": verdict}]}) for verdict in verdicts)
    assert ([event.type for event in first], second) == (["escalation"], [])
    assert (first[0].body["before"], first[0].body["verdict"]) == ("PROVED", verdicts[0])
    assert (state._waiting, state._figures, remembered) == ({}, {"escalations": 1}, verdicts[:1])
    assert judged.verdict == verdicts[0]
