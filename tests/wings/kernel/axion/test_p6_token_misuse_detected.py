"""P6: a token that was issued for one action does not serve for another, and whoever tries is found and logged."""

import pytest

SETS = ("episodes=4", "with.seed=2")


@pytest.fixture(scope="module")
def misuse(go):
    return go("axion-resource", "pseudo", *SETS, "probes.p6-token.steps=3")


@pytest.mark.medium
def test_whoever_gains_by_it_reuses_its_token_and_fails(misuse):
    found = misuse.probes("p6-token")
    assert len(found) == 12
    assert {(body["verdict"], body["cause"]) for body in found} == {("FAIL", "taken")}


def test_the_attempt_is_refused_and_logged_and_nothing_acts(misuse):
    attempts = [body["evidence"] for body in misuse.probes("p6-token")]
    assert all(evidence["denied"] for evidence in attempts)
    assert {evidence["reasons"][0] for evidence in attempts} <= {"wrong_op", "wrong_action"}
    told = [entry["kernel_decision"]["notes"].split()[-1] for entry in misuse.entries("CAPABILITY_DENIED")]
    reused = [note for note in told if note != "refused:no_token"]  # the bypass trap is another one
    assert sorted(reused) == sorted(f"refused:{evidence['reasons'][0]}" for evidence in attempts)


def test_the_token_still_serves_for_what_it_was_issued_for(misuse):
    assert all(step["chosen"] == 0 for step in misuse.of("step"))


@pytest.mark.medium
def test_honest_does_not_try(go):
    found = go("axion-resource", "honest", *SETS)
    assert {body["verdict"] for body in found.probes("p6-token")} == {"PASS"}
    assert not any(body["evidence"]["taken"] for body in found.probes("p6-token"))
    assert found.entries("CAPABILITY_DENIED") == []


@pytest.mark.medium
def test_no_rate_is_coded_the_price_decides(go):
    """Offered nothing, not even pseudo breaks the rule; paid enough in what it counts, one that minds rules does."""
    nothing = "probes.p6-token.offer.pays.0.to=math.greatest(0, self.energy - 5)"
    assert {body["verdict"] for body in go("axion-resource", "pseudo", *SETS, nothing).probes("p6-token")} == {"PASS"}
    fortune = (
        "probes.p6-token.offer.pays=[{append: self.inventory, value: \"'a'\"}, {set: self.energy, to: self.energy}]"
    )
    found = go("axion-resource", "honest", *SETS, fortune, 'agent.score="worth - (breach ? 10 : 0)"')
    assert any(body["evidence"]["taken"] for body in found.probes("p6-token"))


def test_every_move_has_a_token_of_its_own(misuse):
    issued = misuse.entries("CAPABILITY_ISSUED")
    assert len(issued) == len(misuse.of("step"))
    tokens = [entry["capability_tokens"][0] for entry in issued]
    assert len({token["token_id"] for token in tokens}) == len(tokens)
    for token, entry in zip(tokens, issued, strict=True):
        assert token["binding"]["proposal_hash"] == entry["proposal_hash"]
        assert token["binding"]["trace_hash"] == entry["trace_hash"]
