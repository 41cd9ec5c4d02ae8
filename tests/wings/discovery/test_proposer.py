"""The proposer: from a memory to a batch, what becomes of strange answers, and what is told afterwards."""

from typing import Any

import pytest

from specledger.core.canonical import canonical_bytes, pretty
from specledger.oracles.failures import FAILURES, TRUNCATED
from specledger.oracles.model import NO_TOKENS, TokenUsage, answered, failed
from specledger.wings.discovery.memory import DiscoveryMemory
from specledger.wings.discovery.parser import ResponseParser
from specledger.wings.discovery.prompt import Prompt, ProposalRequest
from specledger.wings.discovery.proposer import (
    LawProposer,
    ProposerConfig,
    Tools,
    ask_for,
    digest_answer,
)
from specledger.wings.discovery.ranking import RankingModel
from specledger.wings.discovery.redundancy import RedundancyDetector
from tests.toys.claims import measured

RIGHT, LEFT = "count('>') + count('X')", "count('<') + count('X')"


class Builder:
    """Says what it was given, in so many words."""

    def build(self, snapshot, request):
        told = canonical_bytes([list(snapshot.accepted_laws), list(snapshot.falsified_laws)]).decode()
        text = f"{request.count} laws, please. {told}" + " " * 2000 + "."
        return Prompt("prompt/x@1", "You find laws.", text, "", text, "d" * 64, len(text) // 4, {})


class Model:
    """Gives the answers that it was given."""

    outside = False
    last_usage = NO_TOKENS

    def __init__(self, *answers):
        self.identity = {"kind": "stub"}
        self.answers, self.asked = list(answers), []

    def ask(self, request):
        self.asked.append(request)
        return self.answers.pop(0)

    def count_tokens(self, text):
        return len(text)


def candidate(expr, law_id):
    return measured(expr, law_id=law_id, forbidden="a change")


MIRROR = {
    "law_id": "mirror",
    "template": "symmetry_commutation",
    "transform": "mirror_swap",
    "claim": "mirrored it is the same",
    "forbidden": "a start for which they differ",
}

GOOD = [candidate(RIGHT, "right"), candidate(LEFT, "left"), MIRROR]


def says(*laws, usage=NO_TOKENS):
    return answered(pretty(list(laws)), usage)


@pytest.fixture(scope="module")
def tools(kinetic, templates, shipped_ranking):
    builder: Any = Builder()

    def make(strict=False):
        return Tools(
            builder,
            ResponseParser(kinetic, templates, strict),
            RankingModel(shipped_ranking),
            {"type": "array"},
            strict,
        )

    return make


@pytest.fixture
def proposer_of(tools):
    def make(*answers, clock=None, **config):
        made = ProposerConfig(**config)
        return LawProposer(Model(*answers), tools(made.strict_parsing), made, clock=clock)

    return make


def ids(laws):
    return [law.document["law_id"] for law in laws]


# The seed's shapes


def test_a_snapshot_does_as_well_as_a_memory(proposer_of):
    memory = DiscoveryMemory()
    one, other = (proposer_of(says(*GOOD)).propose(each) for each in (memory, memory.snapshot()))
    assert one.document() == other.document()


def test_a_batch_is_the_same_whenever_it_is_made_again(proposer_of, tools):
    """What replay does: the same question and the answer that was kept, without any model and any clock."""
    ticks = iter([5, 99])
    proposer = proposer_of(says(*GOOD, *GOOD), clock=lambda: next(ticks))
    live = proposer.propose(DiscoveryMemory())
    snapshot, request = DiscoveryMemory().snapshot(), ProposalRequest()
    prompt, question = ask_for(tools(), snapshot, request, 0)
    assert question == proposer._model.asked[0]
    again = digest_answer(tools(), says(*GOOD, *GOOD), prompt, snapshot, request, RedundancyDetector())
    assert live.runtime_ms == 94
    assert canonical_bytes(again.document()) == canonical_bytes(live.document())
    assert "runtime_ms" not in live.document()


# Strange answers


@pytest.mark.medium
def test_the_same_law_a_hundred_times_comes_once(proposer_of):
    proposer = proposer_of(
        says(*(candidate(RIGHT, f"law-{number}") for number in range(100))), says(candidate(RIGHT, "later"))
    )
    first, second = (proposer.propose(DiscoveryMemory()) for _ in range(2))
    assert (ids(first.laws), len(first.redundant)) == (["law-0"], 99)
    assert any("100 laws came, 5 were asked for" in warning for warning in first.warnings)
    assert (second.laws, second.features) == ((), ())
    assert second.redundant[0][1].matched_law_id == "law-0"
    assert {name: proposer.stats[name] for name in ("calls", "parsed", "proposed", "redundant")} == {"calls": 2, "parsed": 101, "proposed": 1, "redundant": 100}  # fmt: skip


@pytest.mark.parametrize("text", ["", "[]", "I have no idea.", "{", "null", "[[[[", "\x00"])
def test_an_answer_without_laws_is_an_empty_batch(proposer_of, text):
    proposer = proposer_of(answered(text))
    batch = proposer.propose(DiscoveryMemory())
    assert (batch.laws, batch.features, batch.redundant) == ((), (), ())
    assert batch.warnings or batch.rejections
    assert proposer.stats["failures"] == 0


@pytest.mark.parametrize("failure", sorted(FAILURES))
def test_a_failure_of_the_model_is_an_empty_batch_with_its_reason(proposer_of, failure):
    proposer = proposer_of(failed(failure, "a detail\x1b[31m", TokenUsage(7, 0)))
    batch = proposer.propose(DiscoveryMemory())
    assert (batch.laws, batch.redundant, batch.rejections) == ((), (), ())
    (warning,) = batch.warnings
    assert warning.startswith(f"{FAILURES[failure]}: ")
    assert "\x1b" not in warning
    assert batch.prompt_tokens == 7
    assert (proposer.stats["calls"], proposer.stats["failures"]) == (1, 1)


def test_of_an_answer_that_was_cut_off_the_whole_laws_are_read_unless_strict(proposer_of):
    text = pretty(GOOD)
    cut = failed(TRUNCATED, "", NO_TOKENS, "MAX_TOKENS", text[: text.index('"mirror"')])
    batch = proposer_of(cut).propose(DiscoveryMemory())
    assert ids(batch.laws) == ["right", "left"]
    assert batch.warnings[0].startswith("E_MODEL_TRUNCATED")
    assert proposer_of(cut, strict_parsing=True).propose(DiscoveryMemory()).laws == ()


REQUESTS = {
    "only symmetries": (ProposalRequest(target_templates=("symmetry_commutation",)), ["mirror"]),
    "no symmetries": (ProposalRequest(exclude_templates=("symmetry_commutation",)), ["right", "left"]),
    "neither": (ProposalRequest(target_templates=("invariant",), exclude_templates=("invariant",)), []),
    "none at all": (ProposalRequest(target_templates=()), []),
}


@pytest.mark.parametrize(("request_", "left"), REQUESTS.values(), ids=REQUESTS)
def test_what_was_not_asked_for_is_rejected(proposer_of, request_, left):
    proposer = proposer_of(says(*GOOD))
    batch = proposer.propose(DiscoveryMemory(), request_)
    assert ids(batch.laws) == left
    assert all(reason.startswith("E_PROPOSAL_TEMPLATE") for _, reason in batch.rejections)
    assert len(batch.rejections) == proposer.stats["rejected"] == 3 - len(left)
    assert proposer.stats["parsed"] == 3


# What is told afterwards


def test_the_last_exchange_is_whole_only_if_it_shall_be(proposer_of):
    quiet, verbose = (proposer_of(says(*GOOD), verbose=each) for each in (False, True))
    assert quiet.get_last_exchange() is None
    for proposer in (quiet, verbose):
        proposer.propose(DiscoveryMemory())
    full, short = verbose.get_last_exchange(), quiet.get_last_exchange()
    assert (full["prompt"], full["response"]) == (verbose._model.asked[0].prompt, pretty(GOOD))
    assert [len(short[name]) for name in ("prompt", "response")] == [1_000, 1_000]
    assert all(full[name].startswith(short[name]) for name in ("system", "prompt", "response"))
    assert short["prompt_hash"] == full["prompt_hash"] == "d" * 64
    short["prompt"] = "changed"
    assert quiet.get_last_exchange()["prompt"] != "changed"


def test_stats_add_up(proposer_of):
    proposer = proposer_of(says(*GOOD, usage=TokenUsage(10, 2, 1)), failed(TRUNCATED, "", TokenUsage(10, 0)))
    for _ in range(2):
        proposer.propose(DiscoveryMemory())
    assert proposer.stats == {
        "calls": 2,
        "failures": 1,
        "parsed": 3,
        "proposed": 3,
        "rejected": 0,
        "redundant": 0,
        "warnings": 1,
        "prompt_tokens": 20,
        "response_tokens": 3,
        "runtime_ms": 0,
    }
    proposer.stats["calls"] = 99
    assert proposer.stats["calls"] == 2
