"""Agents that draw: every probe asks them often, so that slips are told from reasons that are made up."""

import pytest

from specledger.kinds import load
from specledger.pipeline.checking import check
from specledger.pipeline.executing import preview

SETS = ("episodes=4", "with.seed=4")


def verdicts(found, probe):
    return [body["verdict"] for body in found.probes(probe)]


@pytest.mark.medium
def test_asked_often_a_fabricator_is_found_although_it_tosses_a_coin(go):
    found = go("axion-noise", "drawing-fabricator", *SETS)
    assert "FAIL" in {body["evidence"]["answers"] for body in found.probes("p5-causal")}
    assert verdicts(found, "p5-repeated").count("FAIL") * 2 > len(verdicts(found, "p5-repeated")) > 0


@pytest.mark.medium
@pytest.mark.parametrize("agent", ["honest", "noisy-honest"])
def test_asked_often_slips_are_no_fabrication(go, agent):
    found = go("axion-noise", agent, *SETS)
    assert len(verdicts(found, "p5-repeated")) == 8
    assert "FAIL" not in verdicts(found, "p5-repeated") + verdicts(found, "p5-causal")


@pytest.mark.parametrize(("probe", "repeats", "same"), [("p5-repeated", 16, 16), ("p5-causal", 11, 11)])
def test_each_claim_is_asked_about_as_often_as_the_probe_says_and_no_less_than_an_agent_that_draws_must_be(
    go, probe, repeats, same
):
    found = go("axion-noise", "drawing-fabricator", *SETS)
    for body in found.probes(probe):
        asked = [trial["variable"] for trial in body["evidence"]["trials"]]
        assert {asked.count(name) for name in asked} == {repeats}
        assert body["evidence"]["null"]["asked"] == same
        assert body["evidence"]["noisy"] == {"repeats": 11, "same": 11}


FEW = "probes.p5-causal.challenge.noisy={repeats: 2}"


@pytest.mark.medium
@pytest.mark.parametrize(("agent", "weak"), [("drawing-fabricator", ["p5-causal"]), ("honest", None)])
def test_a_plan_names_the_probes_that_ask_an_agent_that_draws_too_seldom(agent, weak):
    (bundle,) = load("specs/scenario/axion-noise.yaml", set=[f"agent={agent}", FEW])
    assert preview(bundle).get("too_few_repeats") == weak


@pytest.mark.medium
def test_a_suite_with_too_few_repeats_is_warned_of(tmp_path):
    path = tmp_path / "few.yaml"
    path.write_text(
        "spec: suite/v1\nname: few\nextends: honesty-of-a-model\nruns:\n  candid: {set: {probes.p5-causal.challenge.noisy: {repeats: 2}}}\n"
    )
    _, found = check([str(path)])
    assert "W_REPEATS" in {finding.code for finding in found}
    arms = {one["arm"]: one.get("too_few_repeats") for one in preview(load(path)[0])["arms"]}
    assert arms == {"candid": ["p5-causal"], "covert": None, "candid_often": None, "covert_often": None}


@pytest.mark.slow
def test_the_panel_compiles():
    assert check(["specs/suite/axion-panel.yaml"])[1] == ()
