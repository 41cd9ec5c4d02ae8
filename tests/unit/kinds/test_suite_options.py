"""What a suite answers to an option that its arms have, and which part of a run is in which shard."""

from types import SimpleNamespace
from typing import Any

import pytest

from specledger.core.spans import Position, Span
from specledger.kinds.shards import episodes_of_shard
from specledger.kinds.suite_options import refuse

PLACE = Span("s.yaml", Position(1, 1), Position(1, 9))


def bundle(**runs):
    return SimpleNamespace(main=SimpleNamespace(name="all", data={"runs": runs}, span=lambda key: PLACE))


CASES: dict[str, Any] = {
    "seeds": (
        "seed",
        {"a": {}, "b": {"set": {"seed": 1}}},
        "E_SEED_SUITE",
        "seed",
        "for its runs: --set 'runs.a.seeds=[7]' --set 'runs.b.seeds=[7]'",
    ),
    "episodes that an arm sets": (
        "episodes",
        {"a": {"set": {"episodes": 2, "horizon": 3}}},
        "E_EPISODES_SUITE",
        "episode",
        "for its runs: --set runs.a.set.episodes=7",
    ),
    "episodes beside others": (
        "episodes",
        {"a": {"set": {"horizon": 3}}, "b": {"set": None}},
        "E_EPISODES_SUITE",
        "episode",
        """for its runs: --set 'runs.a.set={"episodes":7,"horizon":3}' --set 'runs.b.set={"episodes":7}'""",
    ),
    "cases of one arm": (
        "seed",
        {"a.1": {}, "a.2": {}},
        "E_SEED_SUITE",
        "seed",
        "for its runs: --set 'runs.a.seeds=[7]'",
    ),
    "no arms": ("seed", {}, "E_SEED_SUITE", "seed", None),
}


@pytest.mark.parametrize(("key", "runs", "code", "noun", "hint"), CASES.values(), ids=CASES)
def test_a_refusal_says_what_sets_it_in_each_arm(key, runs, code, noun, hint):
    given: Any = bundle(**runs)
    found = refuse(given, key, 7)
    assert (found.code, found.span, found.hint) == (code, PLACE, hint)
    assert found.message == f"all is a suite, and each of its arms has its own {noun}s"


@pytest.mark.parametrize("episodes", [0, 1, 5, 12])
@pytest.mark.parametrize("of", [1, 2, 3, 7])
def test_shards_have_every_episode_once_in_order_and_differ_by_one_at_most(episodes, of):
    shards = [episodes_of_shard(episodes, (number, of)) for number in range(1, of + 1)]
    assert [episode for shard in shards for episode in shard] == list(range(episodes))
    assert max(map(len, shards)) - min(map(len, shards)) <= 1
