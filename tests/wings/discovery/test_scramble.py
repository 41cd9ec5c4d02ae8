"""Scrambling exchanges symbols and names, and translating there and back changes nothing."""

import json

import pytest

from specledger.wings.discovery.contract import make_scramble
from specledger.wings.discovery.parser import ResponseParser
from specledger.wings.laws.compile import compile_law
from tests.wings.discovery.shipped import NAMES, checked, law, proposal, snapshot, templates, universe, universe_of

UNIVERSES = ["kinetic_grid_v1", "elementary_rule", "traffic", "spin_tide"]
BOTH = ["symbols", "names"]


def scramble(name="kinetic_grid_v1", what=BOTH, seed=42):
    return make_scramble(universe(name)[1], what, seed)


def meaning(one):
    """What a law says, apart from what it is called."""
    fields = ("T", "H", "claim", "antecedent", "holds", "observables", "where", "image", "starts", "tests", "unknown")
    return one.template.name, {name: getattr(one, name) for name in fields}


@pytest.mark.medium
def test_a_law_comes_back_as_it_was():
    """The claim and observables that a scrambled answer is read as are those of the law itself."""
    for bundle in map(law, NAMES):
        world = universe_of(bundle)
        exchange = make_scramble(checked(world), BOTH, 42)
        assert exchange is not None
        document = proposal(bundle)
        told = exchange.law(document)
        assert exchange.law(told) == document
        result = ResponseParser(world, templates(), scramble=exchange).parse(json.dumps([told]))
        assert result.rejections == ()
        assert result.laws[0].document == document
        assert meaning(result.laws[0].plan.law) == meaning(compile_law(bundle).law)


def test_what_a_law_measures_is_not_to_be_seen():
    told = scramble().law(proposal(law("collision-bridge-of-collision-states")))
    shown = json.dumps(told)
    assert "incoming_collisions" not in shown
    assert "'X'" not in shown


def test_what_is_remembered_comes_back_as_it_was():
    remembered = snapshot().document()
    exchange = scramble()
    assert exchange.law(exchange.law(remembered)) == remembered


@pytest.mark.parametrize("world", UNIVERSES)
def test_an_exchange_swaps_what_does_not_overlap(world):
    exchange, offered = scramble(world), universe(world)[1]
    for pairs in (exchange.symbols, exchange.names):
        assert all(pairs[other] == one != other for one, other in pairs.items())
    assert set(offered.alphabet) < set(exchange.symbols)
    assert {*offered.primitives, *offered.transforms, *offered.generators, offered.name} < set(exchange.names)


def test_the_seed_says_which_exchange_it_is():
    assert scramble(seed=1) == scramble(seed=1)
    assert len({str(scramble(seed=seed)) for seed in range(20)}) > 10


def test_only_what_is_asked_for_is_exchanged():
    assert scramble(what=[]) is None
    assert scramble(what=["symbols"]).names == {}
    assert scramble(what=["names"]).symbols == {}


TEXTS = {
    "a symbol in quotes": ("count('>') - count('X')", "count('a') - count('d')"),
    "in double quotes": ('count(">")', 'count("a")'),
    "a name of one's own": ("X(t+1) == In(t)", "X(t+1) == In(t)"),
    "prose with an apostrophe": ("it isn't > or X; it's '<'", "it isn't > or X; it's 'b'"),
}


@pytest.mark.parametrize(("text", "told"), TEXTS.values(), ids=TEXTS)
def test_texts(text, told):
    exchange = scramble(what=["symbols"])
    fixed = type(exchange)(dict(zip(">abcd<.X", "a><.Xbcd", strict=True)), {})
    assert fixed.text(text) == told
    assert fixed.text(told) == text


def test_names_are_exchanged_as_whole_words():
    exchange = scramble(what=["names"])
    told = exchange.law({"expr": "count('>') + recount", "transform": "shift_k(3)", "observables": {"grid_length": 5}})
    assert told["expr"] == f"{exchange.names['count']}('>') + recount"
    assert told["transform"] == f"{exchange.names['shift_k']}(3)"
    assert told["observables"] == {exchange.names["grid_length"]: 5}
