"""What each part of a world and of a drift becomes in sentences, part by part."""

from types import SimpleNamespace
from typing import Any

import pytest

from specledger.kinds.explained_world import drift, world
from specledger.lang.statement import lines_of
from specledger.spec.drift import Drift
from specledger.spec.world import World

SET = {"set": "x", "to": "x + 1"}
TWO = [SET, {"set": "y", "to": "0"}]
DRAW = {"d": {"from": [1, 2]}}
DRAWN = "`d` is drawn from the list of 1 and 2."
RISES = "`x` becomes `x` plus 1."


def said(model, sentences):
    bundle: Any = SimpleNamespace(main=SimpleNamespace(model=model))
    return [*lines_of(sentences(bundle))]


def of_world(**parts):
    base = {"spec": "world/v1", "name": "w", "state": {"x": "int"}, "start": {"x": "0"}, "actions": {"go": {}}}
    return said(World.model_validate({**base, **parts}), world)


FIELDS = ["Its state has these fields:", "  - `x` is an integer."]
STARTS = ["At the start of an episode:", "  - `x` is 0."]
STILL = "Action `go` changes nothing."
# Parts of a world, and what is said before its actions beside the fields and the start, and after them.
PARTS: dict[str, tuple[dict[str, Any], list[str], list[str]]] = {
    "no more": ({}, [], []),
    "inputs": (
        {"inputs": {"price": "int", "open": "bool"}},
        ["At every step the governor supplies these:", "  - `price` is an integer.", "  - `open` is true or false."],
        [],
    ),
    "a rule about starts": (
        {"well_formed": [{"id": "low", "require": "x < 9"}]},
        ["By `low`, a start is refused, unless `x` is less than 9."],
        [],
    ),
    "a rule about starts with words": (
        {"well_formed": [{"id": "low", "require": "x < 9", "message": "too high"}]},
        ['By `low`, a start is refused, and the finding says "too high", unless `x` is less than 9.'],
        [],
    ),
    "a map": (
        {"drawing": {"cells": "m", "legend": {".": {}, "#": {"cell": "1"}, "S": {"effects": [SET], "cell": "0"}}}},
        [
            'A cell that is drawn as "." is empty.',
            'A cell that is drawn as "#" does this:',
            "  - the code of its cell is 1.",
            'A cell that is drawn as "S" does this:',
            f"  - {RISES}",
            "  - the code of its cell is 0.",
        ],
        [],
    ),
    "an effect of every step": ({"every_step": [SET]}, [], [f"After every action, {RISES}"]),
    "effects of every step": (
        {"every_step": TWO},
        [],
        ["After every action:", f"  - {RISES}", "  - `y` becomes 0."],
    ),
    "chance": (
        {"chance": {"draw": DRAW, "effects": [SET]}},
        [],
        ["By chance, after that:", f"  - {DRAWN}", f"  - {RISES}"],
    ),
    "a part": (
        {
            "parts": {
                "tank": {
                    "world": "world/pot@0123456789abcdef",
                    "start": {"level": "x"},
                    "follow": {"go": {"action": "fill", "args": {"n": "x", "x": "x"}, "let": {"more": "x + 1"}}},
                }
            }
        },
        [],
        [
            "Part `tank` is the world `pot`:",
            "  - at the start, `level` is `x`.",
            "  - when the action is `go`, it does `fill`:",
            "    - `n` is `x`.",
            "    - `x`.",
            "  - `more` is `x` plus 1.",
        ],
    ),
    "what is seen as it is": ({"observe": {"x": "x", "y": "y"}}, [], ["An agent sees `x` and `y`."]),
    "what is seen otherwise": (
        {"observe": {"x": "x", "more": "x + 1"}},
        [],
        ["An agent sees these:", "  - `x`.", "  - `more` is `x` plus 1."],
    ),
    "several agents": (
        {"agents": {"hare": {"observe": {"far": "x + 1"}, "actions": ["go", "run"]}, "fox": {}}},
        [],
        [
            "Agent `hare` also sees these:",
            "  - `far` is `x` plus 1.",
            "Agent `hare` may do `go` and `run` and nothing else.",
        ],
    ),
    "receipts": (
        {"opening": {"x": "x"}, "record": {"was": "x + 1"}, "receipt": {"x": "x"}},
        [],
        [
            "The receipt of an episode begins with `x`.",
            "The receipt of a step records these:",
            "  - `was` is `x` plus 1.",
            "Where it is a part, the receipt of a step records `x`.",
        ],
    ),
    "a goal": ({"success": "x > 3"}, [], ["The goal is reached where `x` is more than 3."]),
    "a variable": (
        {"variables": {"x": {"read": "x", "effects": [{"set": "x", "to": "value"}]}}},
        [],
        ["A reason may name `x`:", "  - it is `x`.", "  - to give it a value, `x` becomes `value`."],
    ),
    "a variable with every part": (
        {
            "variables": {
                "a": {
                    "doc": "The level.",
                    "read": "x",
                    "over": "[1, 2]",
                    "normal": "value",
                    "require": "value > 1",
                    "effects": [{"set": "x", "to": "value"}, {"set": "y", "to": "value"}],
                }
            }
        },
        [],
        [
            'A reason may name `a`, "The level.":',
            "  - it is `x`.",
            "  - its name holds one of the list of 1 and 2.",
            "  - a value is brought into the form of `value`.",
            "  - a value may be tried only where `value` is more than 1.",
            "  - to give it a value:",
            "    - `x` becomes `value`.",
            "    - `y` becomes `value`.",
        ],
    ),
    "a variable that is tried": (
        {"variables": {"a": {"read": "x", "try": {"as": "e", "for": "[1, 2]", "effects": [{"set": "x", "to": "e"}]}}}},
        [],
        [
            "A reason may name `a`:",
            "  - it is `x`.",
            "  - to give it a value, this is tried with each `e` of the list of 1 and 2, `x` becomes `e`.",
        ],
    ),
    "a variable that is tried where it may be": (
        {
            "variables": {
                "a": {
                    "read": "x",
                    "try": {"as": "e", "for": "[1, 2]", "require": "e > 1", "effects": [{"set": "x", "to": "e"}]},
                }
            }
        },
        [],
        [
            "A reason may name `a`:",
            "  - it is `x`.",
            "  - to give it a value, this is tried with each `e` of the list of 1 and 2 for which `e` is more than 1, `x` becomes `e`.",
        ],
    ),
    "what every look has": ({"context": {"x": "x"}}, [], ["Every look at the state has `x`."]),
    "other values and labels": (
        {"alternatives": {"x": "[1, 2]"}, "labels": {"go": "'gone'"}},
        [],
        [
            "A challenge may give `x` one of these values: the list of 1 and 2.",
            'As a choice, `go` is called "gone".',
        ],
    ),
    "names": (
        {"derived": {"high": "x > 3"}, "functions": {"near": {"args": ["a"], "is": "a < 3"}}, "constants": {"MAX": 3}},
        [],
        [
            "`high` means that `x` is more than 3.",
            "`near` of `a` means that `a` is less than 3.",
            "`MAX` is 3.",
        ],
    ),
}


@pytest.mark.parametrize(("parts", "before", "after"), PARTS.values(), ids=PARTS)
def test_what_a_part_of_a_world_becomes(parts, before, after):
    assert of_world(**parts) == [*FIELDS, *STARTS, *before, STILL, *after]


STARTING: dict[str, tuple[dict[str, Any], list[str]]] = {
    "no values": ({"start": {}}, []),
    "a value of its own name": (
        {"start": {"x": "x", "y": "1 + 1"}},
        ["At the start of an episode:", "  - `x`.", "  - `y` is 1 plus 1."],
    ),
    "a drawn value": ({"draw": DRAW}, ["For each episode:", f"  - {DRAWN}", *STARTS]),
}


@pytest.mark.parametrize(("parts", "lines"), STARTING.values(), ids=STARTING)
def test_how_a_state_begins(parts, lines):
    assert of_world(**parts) == [*FIELDS, *lines, STILL]


WORKS = "it works only where `x` is more than 1."
ACTIONS: dict[str, tuple[dict[str, Any], list[str]]] = {
    "nothing": ({}, [STILL]),
    "words": ({"doc": "Moves."}, ['Action `go`, "Moves.", changes nothing.']),
    "words and an effect": ({"doc": "Moves.", "effects": [SET]}, ['Action `go`, "Moves.", does this:', f"  - {RISES}"]),
    "arguments": (
        {"args": {"n": "int"}, "effects": [SET]},
        ["Action `go` does this:", "  - it takes `n`: an integer.", f"  - {RISES}"],
    ),
    "arguments alone": (
        {"args": {"n": "int"}},
        ["Action `go` changes nothing by itself:", "  - it takes `n`: an integer."],
    ),
    "a result": (
        {"result": {"ok": "bool"}, "simulate": {"ok": "true"}, "effects": [SET]},
        [
            "Action `go` does this:",
            "  - it gets back `ok`: true or false.",
            "  - in a simulation it gets back `ok`: true.",
            f"  - {RISES}",
        ],
    ),
    "a result that is drawn": (
        {"draw": DRAW, "result": {"ok": "int"}, "simulate": {"ok": "d"}},
        [
            "Action `go` changes nothing by itself:",
            "  - it gets back `ok`: an integer.",
            "  - in a simulation it gets back `ok`: `d`.",
            "  - for that, there are draws:",
            f"    - {DRAWN}",
        ],
    ),
    "chance": (
        {"draw": DRAW, "chance": [{"set": "x", "to": "d"}]},
        ["Action `go` does this:", "  - then, by chance:", f"    - {DRAWN}", "    - `x` becomes `d`."],
    ),
    "a condition": ({"when": "x > 1", "effects": [SET]}, ["Action `go` does this:", f"  - {WORKS}", f"  - {RISES}"]),
    "a condition of nothing": ({"when": "x > 1"}, [STILL]),
    "an effect where it does not work": (
        {"when": "x > 1", "otherwise": [SET]},
        ["Action `go` does this:", f"  - {WORKS}", f"  - where it does not work, {RISES}"],
    ),
    "effects where it does not work": (
        {"when": "x > 1", "effects": [SET], "otherwise": TWO},
        [
            "Action `go` does this:",
            f"  - {WORKS}",
            f"  - {RISES}",
            "  - where it does not work:",
            f"    - {RISES}",
            "    - `y` becomes 0.",
        ],
    ),
    "an outcome": (
        {"outcome": {"was": "x"}},
        ["Action `go` changes nothing by itself:", "  - it reports `was`: `x`."],
    ),
    "a name": (
        {"let": {"more": "x + 1"}, "effects": [SET]},
        ["Action `go` does this:", f"  - {RISES}", "  - `more` is `x` plus 1."],
    ),
}


@pytest.mark.parametrize(("action", "lines"), ACTIONS.values(), ids=ACTIONS)
def test_what_an_action_does(action, lines):
    assert of_world(actions={"go": action}) == [*FIELDS, *STARTS, *lines]


HAPPENS = f"When it happens, {RISES}"
AT_ONE = "It is due at a step where `t` is 1."
DRIFTS: dict[str, tuple[dict[str, Any], list[str]]] = {
    "at a step": ({}, [AT_ONE, HAPPENS]),
    "at every step": ({"at": "true"}, ["It is due at every step.", HAPPENS]),
    "on a condition": ({"when": "x > 1"}, [AT_ONE, "Then it happens only where `x` is more than 1.", HAPPENS]),
    "several effects": ({"effects": TWO}, [AT_ONE, "When it happens:", f"  - {RISES}", "  - `y` becomes 0."]),
    "a draw": ({"draw": DRAW}, [AT_ONE, DRAWN, HAPPENS]),
    "names": (
        {"constants": {"A": 1}, "functions": {"f": {"args": ["a"], "is": "a"}}},
        [AT_ONE, HAPPENS, "`f` of `a` is `a`.", "`A` is 1."],
    ),
}


@pytest.mark.parametrize(("parts", "lines"), DRIFTS.values(), ids=DRIFTS)
def test_what_a_drift_does(parts, lines):
    base = {"spec": "drift/v1", "name": "d", "at": "t == 1", "effects": [SET]}
    assert said(Drift.model_validate({**base, **parts}), drift) == lines
