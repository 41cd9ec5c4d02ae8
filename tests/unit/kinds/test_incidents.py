"""Why expressions had no value in a run: each error with its own message."""

import pytest

from specledger.kinds import load
from specledger.kinds.incidents import explained, incidents_of
from specledger.kinds.running import Incident
from specledger.run.loop import run
from tests.toys import NUMBER, number_scenario, plan_of

STATE = NUMBER["world"]["state"] | {"x": {"type": "integer", "minimum": 0, "maximum": 9}}


def test_errors_of_one_expression_have_their_own_messages_in_their_order(tmp_path):
    candidates = [{"op": "add", "for_each": {"n": "[1, 20, 30]"}}]
    path = number_scenario(tmp_path, world={"state": STATE}, agent={"candidates": candidates})
    (bundle,) = load(path)
    incidents = [incident for event in run(plan_of(path)) for incident in incidents_of(event)]
    assert len({(incident.what, incident.detail, incident.offset) for incident in incidents}) == 1
    explanations = explained(bundle, incidents)
    assert {str(incident.at).partition(":")[0] for incident in explanations} == {str(tmp_path / "world" / "world.yaml")}
    found = [(incident.t, incident.why) for incident in explanations]
    assert found == [(t, f"x would be {t + n}, outside 0..9") for t in range(4) for n in (20, 30)]


REFUSED = "the start value of 'x' is 12, not in its range 0..9"
DETAILS = {
    "a start of which receipts hold the code alone": (Incident(1, 0, "E_START_ILL_FORMED", None), REFUSED),
    "another error without an expression": (Incident(1, 0, "E_EVAL_COST", None), None),
    "a start that the world takes": (Incident(0, 0, "E_START_ILL_FORMED", None), None),
    "a witness": (Incident(1, 2, "safe", {"x": 1}), {"x": 1}),
}


@pytest.mark.parametrize(("incident", "detail"), DETAILS.values(), ids=DETAILS)
def test_only_a_start_that_the_world_refuses_is_made_again_to_say_why(tmp_path, incident, detail):
    start = {"start": {"x": "k", "purse": 100}, "draw": {"k": {"from": "[0, 12]", "stream": "k"}}}
    path = number_scenario(tmp_path, world={"state": STATE, **start}, scenario={"episodes": 2, "seed": 2})
    (bundle,) = load(path)
    (explanation,) = explained(bundle, [incident])
    assert (explanation.detail, explanation.at, explanation.why) == (detail, None, None)
