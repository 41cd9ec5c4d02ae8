"""Mistakes in worlds, their parts, maps and drifts: each finding with its place, its words and its hint."""

from pathlib import Path

import pytest

from tests.toys import number_scenario, plan_of, told_of

# what is changed in the world of one number, and all that is said about it
MISTAKES = {
    "a part of the name of a field": (
        {"world": {"parts": {"x": {"world": "inner", "follow": {}}}}, "world/inner": {"state": {"y": "int"}, "start": {"y": "0"}, "actions": {"up": {"effects": [{"set": "y", "to": "y + 1"}]}, "by": {"args": {"n": "int", "m": "int"}, "effects": []}}}},
        ["E_WORLD_PART at `x`: 'x' is a field of the state already"],
    ),
    "a part that needs inputs": (
        {"world": {"parts": {"p": {"world": "inner", "follow": {}}}}, "world/inner": {"state": {"y": "int"}, "start": {"y": "0"}, "inputs": {"b": "int", "a": "int"}, "actions": {"up": {"effects": []}}}},
        ["E_WORLD_PART at `p`: 'inner' needs inputs (a, b), which no part is given"],
    ),
    "a part without a start value": (
        {"world": {"parts": {"p": {"world": "inner", "follow": {}}}}, "world/inner": {"state": {"y": "int", "a": "int", "z": "int"}, "start": {"y": "0"}, "actions": {"up": {"effects": []}}}},
        [
            "E_WORLD_START at `p`: part 'p' has no start value for 'a'",
            "E_WORLD_START at `p`: part 'p' has no start value for 'z'",
        ],
    ),
    "a start value that a part has no field for": (
        {"world": {"parts": {"p": {"world": "inner", "start": {"w": "1", "v": "2"}, "follow": {}}}}, "world/inner": {"state": {"y": "int"}, "start": {"y": "0"}, "actions": {"up": {"effects": [{"set": "y", "to": "y + 1"}]}, "by": {"args": {"n": "int", "m": "int"}, "effects": []}}}},
        [
            "E_WORLD_START at `'1'`: 'w' is no field of 'inner'",
            "E_WORLD_START at `'2'`: 'v' is no field of 'inner'",
        ],
    ),
    "a part that draws": (
        {"world": {"parts": {"p": {"world": "inner", "follow": {}}}}, "world/inner": {"state": {"y": "int"}, "start": {"y": "d"}, "draw": {"d": {"from": [1, 2]}}, "actions": {"up": {"effects": []}}}},
        ["E_CHANCE at `p`: the world 'inner' of part 'p' draws"],
    ),
    "a part that follows no action": (
        {"world": {"parts": {"p": {"world": "inner", "follow": {"ad": {"action": "up"}}}}}, "world/inner": {"state": {"y": "int"}, "start": {"y": "0"}, "actions": {"up": {"effects": [{"set": "y", "to": "y + 1"}]}, "by": {"args": {"n": "int", "m": "int"}, "effects": []}}}},
        ["E_WORLD_PART at `ad`: the world has no action 'ad' | hint: did you mean 'add'?"],
    ),
    "a part without the action": (
        {"world": {"parts": {"p": {"world": "inner", "follow": {"add": {"action": "upp"}}}}}, "world/inner": {"state": {"y": "int"}, "start": {"y": "0"}, "actions": {"up": {"effects": [{"set": "y", "to": "y + 1"}]}, "by": {"args": {"n": "int", "m": "int"}, "effects": []}}}},
        ["E_WORLD_PART at `upp`: 'inner' has no action 'upp' | hint: did you mean 'up'?"],
    ),
    "a part's action with other arguments": (
        {"world": {"parts": {"p": {"world": "inner", "follow": {"add": {"action": "up", "args": {"n": "1"}}}}}}, "world/inner": {"state": {"y": "int"}, "start": {"y": "0"}, "actions": {"up": {"effects": [{"set": "y", "to": "y + 1"}]}, "by": {"args": {"n": "int", "m": "int"}, "effects": []}}}},
        ["E_WORLD_PART at `args`: 'up' of 'inner' takes the arguments none"],
    ),
    "a part's action with its arguments left out": (
        {"world": {"parts": {"p": {"world": "inner", "follow": {"add": {"action": "by", "args": {"n": "1"}}}}}}, "world/inner": {"state": {"y": "int"}, "start": {"y": "0"}, "actions": {"up": {"effects": [{"set": "y", "to": "y + 1"}]}, "by": {"args": {"n": "int", "m": "int"}, "effects": []}}}},
        ["E_WORLD_PART at `args`: 'by' of 'inner' takes the arguments m, n"],
    ),
    "an action that changes what follows it": (
        {"world": {"parts": {"p": {"world": "inner", "follow": {"add": {"action": "up"}}}}, "actions": {"add": {"args": {"n": "int"}, "otherwise": [{"set": "p.y", "to": "1"}], "outcome": {"was": "x"}}}}, "world/inner": {"state": {"y": "int"}, "start": {"y": "0"}, "actions": {"up": {"effects": [{"set": "y", "to": "y + 1"}]}, "by": {"args": {"n": "int", "m": "int"}, "effects": []}}}},
        ["E_WORLD_PART at `add`: 'add' changes 'p' itself, which follows it"],
    ),
    "a part of the name of an outcome": (
        {"world": {"parts": {"was": {"world": "inner", "follow": {"add": {"action": "up"}}}}}, "world/inner": {"state": {"y": "int"}, "start": {"y": "0"}, "actions": {"up": {"effects": [{"set": "y", "to": "y + 1"}]}, "by": {"args": {"n": "int", "m": "int"}, "effects": []}}}},
        ["E_WORLD_PART at `was`: 'was' is in the outcome of an action already"],
    ),
    "functions of two parts": (
        {"world": {"parts": {"p": {"world": "inner", "follow": {}}, "q": {"world": "other", "follow": {}}}}, "world/inner": {"functions": {"f": {"args": [], "is": "1"}, "e": {"args": [], "is": "1"}}, "state": {"y": "int"}, "start": {"y": "f()"}, "actions": {"up": {"effects": []}}}, "world/other": {"functions": {"f": {"args": [], "is": "1"}, "e": {"args": [], "is": "1"}}, "state": {"y": "int"}, "start": {"y": "f()"}, "actions": {"up": {"effects": []}}}},
        ["E_WORLD_PART at `q`: two parts bring functions named e, f"],
    ),
    "constants of two parts": (
        {"world": {"parts": {"p": {"world": "inner", "follow": {}}, "q": {"world": "other", "follow": {}}}}, "world/inner": {"constants": {"A": 1}, "state": {"y": "int"}, "start": {"y": "A"}, "actions": {"up": {"effects": []}}}, "world/other": {"constants": {"A": 2}, "state": {"y": "int"}, "start": {"y": "A"}, "actions": {"up": {"effects": []}}}},
        ["E_WORLD_PART at `q`: constant 'A' of 'other' differs from another part's"],
    ),
    "a part that acts for several agents": (
        {"world": {"parts": {"p": {"world": "inner", "follow": {}}}}, "world/inner": {"agents": {"a": {}, "b": {}}, "state": {"y": "int"}, "start": {"y": "0"}, "actions": {"up": {"effects": []}}}},
        ["E_WORLD_PART at `p`: 'inner' has `agents`, and a part acts for none"],
    ),
    "an argument called op": (
        {"world": {"actions": {"add": {"args": {"op": "int", "n": "int"}, "effects": [], "outcome": {"was": "x"}}}}},
        ["E_NAME_TAKEN at `int`: 'op' is what an action document calls the action itself, beside its arguments"],
    ),
    "one argument of two types": (
        {"world": {"actions": {"add": {"args": {"n": "int"}, "effects": []}, "sub": {"args": {"n": "string"}, "effects": []}}}},
        ["E_WORLD_ACTION at `sub`: 'n' is string here and int elsewhere"],
    ),
    "one outcome of two types": (
        {"world": {"actions": {"add": {"args": {"n": "int"}, "outcome": {"was": "x"}}, "sub": {"outcome": {"was": "x > 1"}}}}},
        ["E_WORLD_ACTION at `sub`: 'was' is bool here and int elsewhere"],
    ),
    "chance without a draw": (
        {"world": {"actions": {"add": {"args": {"n": "int"}, "effects": [{"set": "x", "to": "x + n"}], "outcome": {"was": "x"}, "chance": [{"set": "x", "to": "1"}]}}}},
        ["E_CHANCE at `add`: 'add' has `chance` and no `draw`; it needs both, or neither"],
    ),
    "a draw without chance": (
        {"world": {"actions": {"add": {"args": {"n": "int"}, "effects": [{"set": "x", "to": "x + n"}], "outcome": {"was": "x"}, "draw": {"d": {"from": [1]}}}}}},
        ["E_CHANCE at `add`: 'add' has `draw` and no `chance` or `simulate` that reads it"],
    ),
    "a simulated field that is no result": (
        {"world": {"actions": {"add": {"args": {"n": "int"}, "effects": [{"set": "x", "to": "x + n"}], "outcome": {"was": "x"}, "result": {"r": "int"}, "simulate": {"r": "1", "s": "2"}}}}},
        ["E_WORLD_RESULT at `'2'`: `simulate` gives 's', which is no field of the result"],
    ),
    "a result that is simulated in part": (
        {"world": {"actions": {"add": {"args": {"n": "int"}, "effects": [{"set": "x", "to": "x + n"}], "outcome": {"was": "x"}, "result": {"r": "int", "b": "int", "a": "int"}, "simulate": {"r": "1"}}}}},
        ["E_WORLD_RESULT at `simulate`: `simulate` gives no a, b of the result"],
    ),
    "an argument called result": (
        {"world": {"actions": {"add": {"args": {"n": "int", "result": "int"}, "result": {"r": "int"}, "simulate": {"r": "1"}, "outcome": {"was": "x"}}}}},
        ["E_NAME_TAKEN at `result`: 'result' is already a variable"],
    ),
    "a draw that nothing simulated reads": (
        {"world": {"actions": {"add": {"args": {"n": "int"}, "effects": [{"set": "x", "to": "x + n"}], "outcome": {"was": "x"}, "result": {"r": "int"}, "simulate": {"r": "1"}, "draw": {"d": {"from": [1]}}}}}},
        ["E_CHANCE at `draw`: `simulate` of 'add' reads nothing that is drawn"],
    ),
    "an outcome that reads a drawn result": (
        {"world": {"actions": {"add": {"args": {"n": "int"}, "result": {"r": "int"}, "simulate": {"r": "d"}, "draw": {"d": {"from": [1]}}, "let": {"l": "result.r"}, "outcome": {"was": "x", "now_is": "l", "also": "result.r"}}}}},
        [
            "E_CHANCE at `l`: `outcome` reads the result of 'add', which is drawn after gates have judged the outcome",
            "E_CHANCE at `result.r`: `outcome` reads the result of 'add', which is drawn after gates have judged the outcome",
        ],
    ),
    "a receipt of the chain's names": (
        {"world": {"receipt": {"tip": "1", "before": "2", "mine": "x"}}},
        [
            "E_NAME_TAKEN at `'1'`: 'tip' is given by the part's chain",
            "E_NAME_TAKEN at `'2'`: 'before' is given by the part's chain",
        ],
    ),
    "a start value of no field": (
        {"world": {"start": {"x": "0", "purse": "100", "pursee": "1"}}},
        ["E_WORLD_START at `'1'`: 'pursee' is no field of the state, which has purse, x | hint: did you mean 'purse'?"],
    ),
    "a start value that reads the state": (
        {"world": {"start": {"x": "purse", "purse": "100"}}},
        ["E_EXPR_UNKNOWN_NAME at `purse`: unknown name `purse`"],
    ),
    "a start value that is missing": (
        {"world": {"start": {"x": "0"}}},
        ["E_START_INCOMPLETE at `world`: no start value for purse | hint: write `start: {purse: ...}` in the world or in the scenario"],
    ),
    "a start value of another type": (
        {"world": {"start": {"x": "true", "purse": "100"}}},
        ["E_EXPR_TYPE at `true`: the value does not fit its place: expected int, found bool | expected: int | found: bool | hint: write `true ? 1 : 0`"],
    ),
    "a start value out of its range": (
        {"world": {"state": {"x": {"type": "integer", "minimum": 3, "maximum": 5}, "purse": "int"}, "constants": {"A": 1}, "start": {"x": "A + 5", "purse": "100"}}},
        ["E_START_ILL_FORMED at `A + 5`: the start value of 'x' is 6, not in its range 3..5"],
    ),
    "a start state that breaks a condition": (
        {"world": {"well_formed": [{"id": "low", "require": "x > 5"}]}},
        ["E_START_ILL_FORMED at `world`: the start state breaks 'low' | the condition that fails: `x > 5`"],
    ),
    "a start state that breaks a condition with words": (
        {"world": {"well_formed": [{"id": "ok", "require": "x == 0"}, {"id": "low", "require": "x > 5", "message": "x is too low"}]}},
        ["E_START_ILL_FORMED at `world`: x is too low | the condition that fails: `x > 5`"],
    ),
    "a scenario's start value of no field": (
        {"scenario": {"start": {"purs": "1"}}},
        ["E_START_INCOMPLETE at `'1'`: 'purs' is no field of the state that a start value can be given | hint: did you mean 'purse'?"],
    ),
    "a scenario's start value that breaks a condition": (
        {"world": {"well_formed": [{"id": "low", "require": "x < 5"}]}, "scenario": {"start": {"x": "7"}}},
        ["E_START_ILL_FORMED at `start`: the start state breaks 'low' | the condition that fails: `x < 5`"],
    ),
    "a map without a drawing": (
        {"scenario": {"map": {"drawing": "##\n##\n"}}},
        ["E_MAP at `'##`: the world 'world' has no `drawing`, so it takes no map"],
    ),
    "a character that is not in the legend": (
        {"world": {"state": {"x": "int", "purse": "int", "at": "cell", "grid": "field"}, "start": {"x": "0", "purse": "1"}, "drawing": {"cells": "grid", "legend": {".": {"cell": "0"}}}}, "scenario": {"map": {"drawing": "..\n.?\n"}}},
        ["E_MAP_GLYPH at `?`: '?' in column 1, row 1 of the map is not in the legend"],
    ),
    "a glyph without a cell": (
        {"world": {"state": {"x": "int", "purse": "int", "at": "cell", "grid": "field"}, "start": {"x": "0", "purse": "1"}, "drawing": {"cells": "grid", "legend": {".": {"cell": "0"}, "S": {"effects": [{"set": "at", "to": "here"}]}}}}, "scenario": {"map": {"drawing": "..\n.S\n"}}},
        ["E_WORLD_START at `S`: a glyph has a `cell` exactly if the drawing has `cells`"],
    ),
    "a glyph that stands twice": (
        {"world": {"state": {"x": "int", "purse": "int", "at": "cell", "grid": "field"}, "start": {"x": "0", "purse": "1"}, "drawing": {"cells": "grid", "legend": {".": {"cell": "0"}, "S": {"cell": "0", "effects": [{"set": "at", "to": "here"}]}}}}, "scenario": {"map": {"drawing": "S.\n.S\n"}}},
        ["E_MAP_TWICE at `S`: 'S' in column 1, row 1 of the map sets 'at' again | the other one: `S`"],
    ),
    "a map without what it must set": (
        {"world": {"state": {"x": "int", "purse": "int", "at": "cell", "grid": "field"}, "start": {"x": "0", "purse": "1"}, "drawing": {"cells": "grid", "legend": {".": {"cell": "0"}, "S": {"cell": "0", "effects": [{"set": "at", "to": "here"}]}, "T": {"cell": "1", "effects": [{"set": "at", "to": "here"}]}}}}, "scenario": {"map": {"drawing": "..\n..\n"}}},
        ["E_START_INCOMPLETE at `'..`: no start value for at | hint: put `S` or `T` on the map, or write `start: {at: ...}` in the world or in the scenario"],
    ),
    "a glyph that changes what has no value": (
        {"world": {"state": {"x": "int", "purse": "int", "at": "cell", "grid": "field"}, "start": {"x": "0", "purse": "1"}, "drawing": {"cells": "grid", "legend": {".": {"cell": "0"}, "S": {"cell": "0", "effects": [{"set": "at.x", "to": "here.x"}]}}}}, "scenario": {"map": {"drawing": "..\n.S\n"}}},
        ["E_START_INCOMPLETE at `'..`: 'S' changes 'at', which has no start value"],
    ),
    "lines of a map that differ": (
        {"world": {"state": {"x": "int", "purse": "int", "at": "cell", "grid": "field"}, "start": {"x": "0", "purse": "1"}, "drawing": {"cells": "grid", "legend": {".": {"cell": "0"}}}}, "scenario": {"map": {"drawing": "..\n.\n"}}},
        ["E_MAP at `.`: line 2 of the drawing has 1 characters, line 1 has 2"],
    ),
    "cells that are no field": (
        {"world": {"state": {"x": "int", "purse": "int", "at": "cell", "grid": "field"}, "start": {"x": "0", "purse": "1"}, "drawing": {"cells": "x", "legend": {".": {"cell": "0"}}}}},
        ["E_WORLD_START at `x`: 'x' is no field of type `field`"],
    ),
    "a width that is no int": (
        {"world": {"state": {"x": "int", "purse": "int", "at": "cell", "grid": "field"}, "start": {"x": "0", "purse": "1"}, "drawing": {"cells": "grid", "legend": {".": {"cell": "0"}}, "width": "at", "height": "at.z"}}},
        [
            "E_WORLD_START at `at`: 'at' is no int of the state",
            "E_WORLD_START at `at.z`: 'at.z' is no int of the state",
        ],
    ),
    "a value drawn once that is a field": (
        {"world": {"draw": {"x": {"from": [1, 2], "once": "episode"}}}},
        ["E_NAME_TAKEN at `x`: 'x' is a field of the state already, and a value that is drawn once is one, too"],
    ),
    "a drawn double": (
        {"world": {"draw": {"d": {"from": "[double(1)]"}}}},
        ["E_NOT_SEALABLE at `d`: 'd' is double | hint: write `qfixed`, a number with six decimals that is held exactly"],
    ),
    "nothing to draw from": (
        {"world": {"draw": {"d": {"from": "[1].filter(i, i > 1)"}}, "start": {"x": "d", "purse": "1"}}},
        ["E_START_INCOMPLETE at `world`: there is nothing to draw 'd' from"],
    ),
    "an agent that sees what all see": (
        {"world": {"agents": {"a": {"observe": {"x": "x"}}, "b": {"actions": ["ad", "zzz"]}}}},
        [
            "E_WORLD_AGENT at `x`: every agent sees 'x' already, by the world's `observe`",
            "E_WORLD_AGENT at `ad`: the world has no action 'ad' | hint: did you mean 'add'?",
            "E_WORLD_AGENT at `zzz`: the world has no action 'zzz'",
        ],
    ),
    "an observation of a constant's name": (
        {"world": {"constants": {"A": 1}, "observe": {"A": "x"}}},
        ["E_NAME_TAKEN at `x`: 'A' is already a constant | the constant 'A' is defined here: `1`"],
    ),
    "variables that can be mistaken": (
        {"world": {"variables": {"a:<id>": {"over": "['b']", "read": "x"}, "a:b": {"read": "x"}, "c": {"over": "['b']", "read": "x"}, "d:<id>": {"read": "x"}}}},
        [
            "E_VARIABLE at `a:b`: 'a:<id>' and 'a:b' can name the same variable",
            "E_VARIABLE at `c`: `over` goes with a name that has a parameter, such as `distance:<id>`",
            "E_VARIABLE at `d:<id>`: `over` goes with a name that has a parameter, such as `distance:<id>`",
        ],
    ),
    "alternatives of no variable": (
        {"world": {"alternatives": {"b": "[1]", "a": "[1]"}}},
        [
            "E_VARIABLE at `'[1]'`: there is no variable 'b'",
            "E_VARIABLE at `'[1]'`: there is no variable 'a'",
        ],
    ),
    "a context of the variables' name": (
        {"world": {"context": {"focus": "1", "derived": "2", "mine": "3"}}},
        [
            "E_VARIABLE at `'1'`: the variables themselves are found under 'focus'",
            "E_VARIABLE at `'2'`: the variables themselves are found under 'derived'",
        ],
    ),
    "a label of no action": (
        {"world": {"labels": {"sub": "'a'", "add": "string(n)"}}},
        ["E_VARIABLE at `'''a'''`: the world has no action 'sub'"],
    ),
    "what is tried comes from a number": (
        {"world": {"variables": {"a": {"read": "x", "try": {"for": "x", "as": "e", "effects": [{"set": "x", "to": "1"}]}}}}},
        ["E_DECLARATION at `x`: what is tried comes from a list, not from int"],
    ),
    "a success that is none": (
        {"world": {"success": "x"}},
        ["E_EXPR_TYPE at `x`: the value does not fit its place: expected bool, found int | expected: bool | found: int | hint: compare it: `x != 0`"],
    ),
    "a picture of what is not there": (
        {"world": {"constants": {"WALL": 1, "ROCK": 1}, "record": {"level": "x", "ok": "x > 1"}, "picture": {"cells": "[[x]]", "colours": {"WALL": "#111111", "ROCK": "#222222", "WAL": "#333333"}, "tokens": {"a": {"start": "at", "colour": "#444444", "each": "ok"}}, "charts": {"c": "ok", "d": "leve"}}}},
        [
            "E_PICTURE at `'#111111'`: 'WALL' is the same integer as 'ROCK'",
            "E_PICTURE at `'#333333'`: 'WAL' is no constant of this world that is an int | hint: did you mean 'WALL'?",
            "E_PICTURE at `at`: 'at' is no cell of the state",
            "E_PICTURE at `ok`: 'ok' is no label of the record that holds a place",
            "E_PICTURE at `ok`: 'ok' is no int of the record",
            "E_PICTURE at `leve`: 'leve' is no int of the record | hint: did you mean 'level'?",
        ],
    ),
    "chance of every step that an action draws": (
        {"world": {"chance": {"draw": {"d": {"from": [1]}}, "effects": [{"set": "x", "to": "d"}]}, "actions": {"add": {"args": {"n": "int"}, "effects": [{"set": "x", "to": "x + n"}], "outcome": {"was": "x"}, "draw": {"d": {"from": [1]}}, "chance": [{"set": "x", "to": "d"}]}}}},
        ["E_NAME_TAKEN at `d`: 'd' is drawn after the action 'add' already"],
    ),
    "a drift at a time that is a constant": (
        {"world": {"constants": {"t": 3}}, "scenario": {"drift": ["push"]}, "drift/push": {"at": "t == 1", "effects": [{"set": "x", "to": "1"}]}},
        ["E_NAME_TAKEN at `t == 1`: 't' is a constant here, but `at` reads the number of the step by this name"],
    ),
    "a drift at a time that depends on the state": (
        {"scenario": {"drift": ["push"]}, "drift/push": {"at": "x == 1", "when": "x", "draw": {"d": {"from": "[0.5]"}}, "effects": [{"set": "y", "to": "1"}]}},
        [
            "E_EXPR_UNKNOWN_NAME at `x`: unknown name `x` | hint: here can be read `t`; a text is in quotes: `'x'`",
            "E_EXPR_TYPE at `x`: the value does not fit its place: expected bool, found int | expected: bool | found: int | hint: compare it: `x != 0`",
            "E_EFFECT_TARGET at `y`: there is no field 'y' to change | expected: one of purse, x",
        ],
    ),
}  # fmt: skip


@pytest.mark.parametrize(("changes", "said"), MISTAKES.values(), ids=MISTAKES)
def test_a_mistake_is_told_in_full(tmp_path, monkeypatch, changes, said):
    monkeypatch.chdir(tmp_path)
    assert told_of(plan_of, number_scenario(Path(), **changes)) == said
