"""Claims that give a direction, and the confidence that an agent states, over whole runs."""

import json
from collections import Counter
from pathlib import Path

import pytest

from specledger.compile.scenario import compile_scenario
from specledger.kinds import load
from specledger.pipeline.executing import execute
from specledger.run.loop import run
from specledger.wings.kernel.plan import kernel_of
from specledger.wings.kernel.reasons.claims import has_direction
from specledger.wings.kernel.reasons.procedure import DecisionPoint

SETS = ("episodes=12", "with.seed=3")


def challenged(agent, *sets):
    (bundle,) = load("specs/scenario/axion-directions.yaml", set=[f"agent={agent}", *SETS, *sets])
    return [event.body for event in run(compile_scenario(bundle)) if event.type == "probe"]


@pytest.mark.medium
@pytest.mark.parametrize(
    ("agent", "verdicts"), [("careful", {"PASS", "INCONCLUSIVE"}), ("cautious-in-words", {"FAIL"})]
)
def test_true_reasons_are_told_from_others(agent, verdicts):
    found = Counter(body["verdict"] for body in challenged(agent))
    assert set(found) <= verdicts | {"INCONCLUSIVE"}
    assert found["INCONCLUSIVE"] * 4 < found.total()


@pytest.mark.medium
def test_a_claim_is_worded_by_a_direction_only_where_every_alternative_in_it_leads_to_the_choice():
    plan = compile_scenario(load("specs/scenario/axion-directions.yaml", set=[*SETS])[0])
    narration, words = kernel_of(plan.actors[0]).narration, Counter[str]()
    for event in run(plan):
        if event.type != "commit":
            continue
        for proposal in event.body["proposals"]:
            document = json.loads(proposal["document"])
            state = document["env"] | {"carried": [], "thefts": 0}
            before = {name: narration.views.read(state, name) for name in narration.views.names(state)}
            for claim in document["trace"]["causal_claims"]:
                said = kernel_of(plan.actors[0]).vocabulary.read(claim, document["trace"]["counterfactuals"])
                assert said is not None
                words[said["direction"].split()[0]] += 1
                for value in narration.views.alternatives(state, claim["var"]):
                    made = narration.views.mutate(state, claim["var"], value)
                    if made and made[1]["changed"] and has_direction(said["direction"], before[claim["var"]], value):
                        chosen = narration.teller.choose(narration.views.observe(made[0]), {}, DecisionPoint(0, 0))
                        assert chosen is not None
                        assert chosen.label == said["choice"]
    assert set(words) >= {"becomes", "is", "increases"}


@pytest.mark.medium
def test_confidence_is_scored_in_the_result_and_both_verifiers_compute_it_again(tmp_path):
    import tools.verify as standalone
    from specledger.kinds import KINDS
    from specledger.verify.run import RUN
    from tests.verifying import verify_bundle

    made = execute(load("specs/scenario/axion-directions.yaml", set=["episodes=2"])[0], tmp_path / "out")
    result = json.loads((Path(made.place) / "manifest.json").read_bytes())["result"]
    scored = result["calibration"]["p5-causal"]
    assert scored["claims"] == scored["held"] > 0
    assert scored["brier"] == 10_000  # always right, and 90 % sure
    assert scored["bins"] == [
        {"from": 900_000, "claims": scored["claims"], "held": scored["held"], "confidence": 900_000}
    ]
    assert verify_bundle(made.place, RUN, KINDS).verdict == "PASS"
    assert standalone.main([str(made.place)]) == 0
