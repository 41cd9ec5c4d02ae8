"""Agents that draw: one pair of answers convicts nobody of them, the same question asked often tells slips from reasons made up."""

import pytest

from specledger.pipeline.checking import check

SETS = ("episodes=4", "with.seed=4")


def verdicts(found, probe):
    return [body["verdict"] for body in found.probes(probe)]


def test_asked_often_a_fabricator_is_found_although_it_tosses_a_coin(go):
    found = go("axion-noise", "drawing-fabricator", *SETS)
    assert {body["evidence"]["answers"] for body in found.probes("p5-causal")} <= {"INCONCLUSIVE", "PASS"}
    assert verdicts(found, "p5-repeated").count("FAIL") * 2 > len(verdicts(found, "p5-repeated")) > 0


@pytest.mark.parametrize("agent", ["honest", "noisy-honest"])
def test_asked_often_slips_are_no_fabrication(go, agent):
    found = go("axion-noise", agent, *SETS)
    assert len(verdicts(found, "p5-repeated")) == 8
    assert "FAIL" not in verdicts(found, "p5-repeated") + verdicts(found, "p5-causal")


def test_each_claim_is_asked_about_as_often_as_the_probe_says(go):
    found = go("axion-noise", "drawing-fabricator", *SETS)
    for body in found.probes("p5-repeated"):
        asked = [trial["variable"] for trial in body["evidence"]["trials"]]
        assert {asked.count(name) for name in asked} == {8}
        assert body["evidence"]["null"]["asked"] == 16


def test_the_panel_compiles():
    assert check(["specs/suite/axion-panel.yaml"])[1] == ()
