"""What reports read from the resolved specs of a bundle: gates, probes, prices, charts, pictures and requirements."""

from types import SimpleNamespace
from typing import Any

import pytest

from specledger.report.sections import NOTHING, Code, Expression, Joined, Prose, Words
from specledger.report.specs import Specs, only_spec, requirement, spec_details

GOVERNOR = {"name": "g", "gates": [{"id": "high", "deny": "x"}, {"id": "few", "deny": "y"}]}
FEW, MANY = {"name": "few", "require": "z"}, {"name": "many", "require": "w"}
ONE = {"governor": "governor/g@1", "agent": "agent/a@1", "probes": ["probe/p@1", "probe/q@1"], "world": "world/w@1"}
KNOWN: dict[str, Any] = {
    "governor/g@1": GOVERNOR,
    "governor/h@1": {"name": "h"},
    "agent/a@1": {"name": "a"},
    "agent/b@1": {"name": "b"},
    "invariant/few@1": FEW,
    "invariant/many@1": MANY,
    "probe/p@1": {"name": "p"},
    "probe/q@1": {"name": "q"},
    "world/w@1": {"name": "w"},
}
TWO = {
    "agents": {
        "hare": {"governor": "governor/g@1", "agent": "agent/a@1", "probes": ["probe/q@1"]},
        "fox": {"governor": "governor/h@1", "agent": "agent/b@1"},
    }
}


def specs_of(root: Any = None, **changes):
    known = {**KNOWN, "root": ONE if root is None else root}
    return Specs(
        {"root": "root", "specs": {**known, **{key.replace("__", "/") + "@1": data for key, data in changes.items()}}}
    )


def test_gates_are_the_governors_own_before_invariants_of_their_name():
    assert specs_of().gates() == {"few": GOVERNOR["gates"][1], "many": MANY, "high": GOVERNOR["gates"][0]}
    assert specs_of(TWO).gates() == {
        "hare.few": GOVERNOR["gates"][1],
        "hare.many": MANY,
        "hare.high": GOVERNOR["gates"][0],
        "fox.few": FEW,
        "fox.many": MANY,
    }
    assert specs_of({**ONE, "governor": "governor/none@1"}).gates() == {"few": FEW, "many": MANY}


def test_probes_and_agents_of_one_and_of_several():
    one, two = specs_of(), specs_of(TWO)
    assert (one.probes(), one.agent()) == ({"p": {"name": "p"}, "q": {"name": "q"}}, "a")
    assert (two.probes(), two.agent()) == ({"hare.q": {"name": "q"}}, "a+b")
    assert specs_of({**ONE, "agent": "agent/none@1"}).agent() == ""
    assert [data["name"] for data in one.of_kind("invariant")] == ["few", "many"]
    assert list(one.of_kind("inv")) == []


# Whether there are metrics: probes, or an agent outside.
METERED: dict[str, tuple[Any, dict[str, Any], bool]] = {
    "probes": (ONE, {}, True),
    "neither": ({**ONE, "probes": []}, {}, False),
    "an agent outside": ({**ONE, "probes": []}, {"agent__a": {"name": "a", "outside": {}}}, True),
    "one of several outside": (
        {"agents": {"hare": {**ONE, "probes": []}, "fox": {**ONE, "agent": "agent/b@1", "probes": []}}},
        {"agent__b": {"name": "b", "outside": {}}},
        True,
    ),
    "an agent outside that has no role": ({**ONE, "probes": []}, {"agent__c": {"name": "c", "outside": {}}}, False),
}


@pytest.mark.parametrize(("root", "changes", "metered"), METERED.values(), ids=METERED)
def test_what_has_metrics(root, changes, metered):
    assert specs_of(root, **changes).metered() is metered


@pytest.mark.parametrize(
    ("root", "found"),
    [
        (ONE, {"name": "w"}),
        ({**ONE, "world": "world/none@1"}, None),
        ({**ONE, "world": {}}, None),
        ({"agents": {}}, None),
    ],
)
def test_the_spec_that_the_root_refers_to(root, found):
    assert specs_of(root).referred("world") == found


# What models state of their prices, by service, and what is told.
PRICES: dict[str, tuple[list[Any], str]] = {
    "none": ([{"openai": {}}], ""),
    "no service": ([{"scripted": {"price": {"as_of": "2025-01-01"}}}], ""),
    "one": ([{"openai": {"price": {"as_of": "2025-01-01"}}}], "2025-01-01"),
    "two on one day": (
        [{"openai": {"price": {"as_of": "2025-01-01"}}}, {"gemini": {"price": {"as_of": "2025-01-01"}}}],
        "2025-01-01",
    ),
    "two, the first day first": (
        [{"openai": {"price": {"as_of": "2025-02-01"}}}, {"openai": {"price": {"as_of": "2025-01-01"}}}],
        "2025-01-01, 2025-02-01",
    ),
    "without a day": ([{"openai": {"price": {"input": 1}}}], "no date"),
}


@pytest.mark.parametrize(("models", "told"), PRICES.values(), ids=PRICES)
def test_the_days_of_prices(models, told):
    assert specs_of(**{f"model__m{number}": model for number, model in enumerate(models)}).prices() == told


CHARTS = {"heat": "warmth", "cost": {"of": "paid"}, "share": {"of": "part", "unit": 100}}
UNITS: Any = {"step": {"record": {"warmth": 1000, "part": 10}}}


def test_charts_have_a_label_and_a_unit_which_the_picture_may_say():
    drawn = specs_of(world__w={"picture": {"charts": CHARTS}})
    assert drawn.charts(UNITS) == {"heat": ("warmth", 1000), "cost": ("paid", 1), "share": ("part", 100)}
    worlds: list[Any] = [{}, {"picture": None}, {"picture": {}}]
    for world in worlds:
        assert specs_of(world__w=world).charts(UNITS) == {}
    assert specs_of(TWO).charts(UNITS) == {}


def test_how_an_episode_is_drawn():
    picture: Any = {
        "cells": "map",
        "colours": {"WALL": "#111", "WATER": {"light": "#00f", "dark": "#00a"}},
        "tokens": {"self": {"at": "at", "colour": "#f00"}, "all": {"shape": "ring", "each": "i", "colour": "#0f0"}},
        "charts": {"heat": "warmth"},
    }
    world = {"picture": picture, "constants": {"WALL": 1, "WATER": 2}, "state": {"map": "int"}}
    drawn = {
        "cells": "map",
        "colours": [[1, "WALL", "#111", "#111"], [2, "WATER", "#00f", "#00a"]],
        "tokens": [
            {"name": "self", "shape": "disc", "each": None, "at": "at", "colour": ["#f00", "#f00"]},
            {"name": "all", "shape": "ring", "each": "i", "colour": ["#0f0", "#0f0"]},
        ],
        "charts": [{"name": "heat", "unit": 1000, "of": "warmth"}],
    }
    assert specs_of(world__w=world).drawing(UNITS) == drawn
    assert specs_of(world__w={**world, "state": {}}).drawing(UNITS) == {**drawn, "cells": None}
    bare = {key: value for key, value in picture.items() if key not in ("tokens", "charts")}
    assert specs_of(world__w={**world, "picture": bare}).drawing(UNITS) == {**drawn, "tokens": [], "charts": []}
    assert specs_of().drawing(UNITS) is None
    assert specs_of(TWO).drawing(UNITS) is None


# What a row shows of a gate, an invariant, a probe or a check.
REQUIREMENTS: dict[str, tuple[dict[str, Any], Any]] = {
    "its doc": ({"doc": "Stay low.", "require": "x"}, Prose("Stay low.", 300)),
    "no doc": ({"doc": "", "require": "x"}, Code("x")),
    "the longest expression that is shown": ({"require": "x" * 60}, Code("x" * 60)),
    "a longer one": ({"require": "x" * 61}, Expression("require", "x" * 61)),
    "what is denied": ({"deny": "x"}, Joined((Words("denied if"), Code("x")))),
    "what is denied, at length": ({"deny": "x" * 61}, Expression("deny", "x" * 61)),
    "what is expected": ({"expect": "x", "when": "y"}, Expression("expect", "x")),
    "what is required before what is denied": ({"deny": "x", "require": "y"}, Code("y")),
    "nothing": ({"when": "y"}, NOTHING),
}


@pytest.mark.parametrize(("data", "cell"), REQUIREMENTS.values(), ids=REQUIREMENTS)
def test_the_requirement_of_a_row(data, cell):
    assert requirement(data) == cell


def test_details_are_the_doc_and_the_expressions_in_their_order():
    names = ["challenge", "offer", "opportunities", "expect", "deny", "require", "when"]
    data = {"id": "a", **{name: name.upper() for name in names}, "doc": "Stay low."}
    told = [(name, Code(name.upper())) for name in reversed(names)]
    order = ["when", "require", "deny", "expect", "opportunities", "offer", "challenge"]
    assert spec_details(data) == [("says", Prose("Stay low.")), *sorted(told, key=lambda each: order.index(each[0]))]
    assert spec_details({"doc": "", "deny": "x"}) == [("deny", Code("x"))]


@pytest.mark.parametrize(
    ("kind", "name", "found"), [("probe", "p", "1"), ("probe", "q", None), ("probe", "none", None), ("agent", "p", "4")]
)
def test_a_spec_is_found_by_kind_and_name_only_where_there_is_one(kind, name, found):
    listed = [("1", "probe", "p"), ("2", "probe", "q"), ("3", "probe", "q"), ("4", "agent", "p")]
    bundle: Any = SimpleNamespace(
        specs={key: SimpleNamespace(kind=kind, name=name, key=key) for key, kind, name in listed}
    )
    spec = only_spec(bundle, kind, name)
    assert (None if spec is None else spec.key) == found
