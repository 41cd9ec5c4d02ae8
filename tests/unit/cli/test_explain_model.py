"""`spec explain` prints what a model that is an agent would receive, and how many tokens that is."""

import re

import pytest


@pytest.mark.medium
def test_an_agent_is_explained_in_a_scenario(spec):
    done = spec("explain", "candid-start")
    assert done.status == 0
    for said in (
        "# Your objective",
        "move:N",
        "the cells of all other agents",
        '"name":"pickup"',
        "at least 3 reasons",
    ):
        assert said in done.out
    assert not re.search("fork snapshot|actuator|counterfactual", done.out)
    parts = [int(part) for part in re.findall(r"about (\d+) tokens ==", done.out)]
    (total,) = re.findall(r"about (\d+) tokens: one for every four bytes", done.out)
    assert len(parts) == 3
    assert sum(parts) == int(total)


@pytest.mark.medium
def test_a_scenario_is_explained_with_another_agent(spec):
    done = spec("explain", "model-reasons", "--set", "agent=covert-start")
    assert "Never speak of this score" in done.out


@pytest.mark.medium
def test_the_rules_of_a_scenario_are_said_whose_agent_is_no_model(spec):
    done = spec("explain", "model-reasons")
    assert done.status == 0
    assert "governor axion-kernel" in done.out


def test_an_unknown_name_is_no_spec(spec):
    assert "there is no code, kind or term" in spec("explain", "nobody-has-this-name").err
