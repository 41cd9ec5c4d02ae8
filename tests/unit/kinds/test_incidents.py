"""Why expressions had no value in a run: each error with its own message."""

from specledger.kinds import load
from specledger.kinds.incidents import explained, incidents_of
from specledger.run.loop import run
from tests.toys import NUMBER, number_scenario, plan_of

STATE = NUMBER["world"]["state"] | {"x": {"type": "integer", "minimum": 0, "maximum": 9}}


def test_errors_of_one_expression_have_their_own_messages_in_their_order(tmp_path):
    candidates = [{"op": "add", "for_each": {"n": "[1, 20, 30]"}}]
    path = number_scenario(tmp_path, world={"state": STATE}, agent={"candidates": candidates})
    (bundle,) = load(path)
    incidents = [incident for event in run(plan_of(path)) for incident in incidents_of(event)]
    assert len({(incident.what, incident.detail, incident.offset) for incident in incidents}) == 1
    found = [(incident.t, incident.why) for incident in explained(bundle, incidents)]
    assert found == [(t, f"x would be {t + n}, outside 0..9") for t in range(4) for n in (20, 30)]
