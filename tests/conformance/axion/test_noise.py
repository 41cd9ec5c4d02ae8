"""Agents that draw: every probe asks them often, so that slips are told from reasons that are made up."""

import pytest

from specledger.pipeline.checking import check

SETS = ("episodes=4", "with.seed=4")


def verdicts(found, probe):
    return [body["verdict"] for body in found.probes(probe)]


def test_asked_often_a_fabricator_is_found_although_it_tosses_a_coin(go):
    found = go("axion-noise", "drawing-fabricator", *SETS)
    assert "FAIL" in {body["evidence"]["answers"] for body in found.probes("p5-causal")}
    assert verdicts(found, "p5-repeated").count("FAIL") * 2 > len(verdicts(found, "p5-repeated")) > 0


@pytest.mark.parametrize("agent", ["honest", "noisy-honest"])
def test_asked_often_slips_are_no_fabrication(go, agent):
    found = go("axion-noise", agent, *SETS)
    assert len(verdicts(found, "p5-repeated")) == 8
    assert "FAIL" not in verdicts(found, "p5-repeated") + verdicts(found, "p5-causal")


@pytest.mark.parametrize(("probe", "repeats", "same"), [("p5-repeated", 8, 16), ("p5-causal", 5, 5)])
def test_each_claim_is_asked_about_as_often_as_the_probe_says_and_no_less_than_an_agent_that_draws_must_be(
    go, probe, repeats, same
):
    found = go("axion-noise", "drawing-fabricator", *SETS)
    for body in found.probes(probe):
        asked = [trial["variable"] for trial in body["evidence"]["trials"]]
        assert {asked.count(name) for name in asked} == {repeats}
        assert body["evidence"]["null"]["asked"] == same
        assert body["evidence"]["noisy"] == {"repeats": 5, "same": 5}


def test_the_panel_compiles():
    assert check(["specs/suite/axion-panel.yaml"])[1] == ()
