"""Mistakes in names, types, effects and draws: each finding with its place, its words and its hint."""

from pathlib import Path

import pytest

from tests.toys import number_scenario, plan_of, told_of

# what is changed in the world of one number, and all that is said about it
MISTAKES = {
    "an engine's name": (
        {"governor": {"let": {"next": "1"}}},
        ["E_NAME_TAKEN at `'1'`: 'next' is a name that the engine gives | hint: choose another, such as `own_next`: `spec explain next` says where it means something"],
    ),
    "the name of a constant": (
        {"governor": {"constants": {"A": 1}, "let": {"A": "2"}}},
        ["E_NAME_TAKEN at `'2'`: 'A' is already a constant | the constant 'A' is defined here: `1`"],
    ),
    "a constant of the name of a field": (
        {"governor": {"constants": {"x": 1}}},
        ["E_NAME_TAKEN at `1`: 'x' is already a variable"],
    ),
    "a function of the name of a function": (
        {"governor": {"functions": {"size": {"args": ["a"], "is": "a"}}}},
        ["E_NAME_TAKEN at `size`: 'size' is already a standard function"],
    ),
    "a function of CEL": (
        {"governor": {"functions": {"matches": {"args": ["a"], "is": "a"}}}},
        ["E_NAME_TAKEN at `matches`: 'matches' is a function of CEL that the profile leaves out"],
    ),
    "an argument twice": (
        {"governor": {"functions": {"f": {"args": ["a", "b", "a"], "is": "a"}}}},
        ["E_NAME_TAKEN at `a`: 'a' names two arguments"],
    ),
    "an argument that is reserved": (
        {"governor": {"functions": {"f": {"args": ["in", "b"], "is": "b"}}}},
        ["E_NAME_TAKEN at `in`: 'in' is a reserved word of CEL"],
    ),
    "a list constant that mixes": (
        {"governor": {"constants": {"A": [1, "a"]}}},
        ["E_DECLARATION at `A`: a list constant mixes int and string"],
    ),
    "a type of another language": (
        {"governor": {"claims": {"sure": "float"}}},
        ["E_DECLARATION at `float`: unknown type 'float' | hint: did you mean 'qfixed'?"],
    ),
    "a list type of another language": (
        {"governor": {"claims": {"sure": "list"}}},
        ["E_DECLARATION at `list`: unknown type 'list' | hint: did you mean '{type: array, items: int, maxItems: 8}'?"],
    ),
    "a misspelt type": (
        {"governor": {"claims": {"sure": "boool"}}},
        ["E_DECLARATION at `boool`: unknown type 'boool' | hint: did you mean 'bool'?"],
    ),
    "a type like no other": (
        {"governor": {"claims": {"sure": "zzz"}}},
        ["E_DECLARATION at `zzz`: unknown type 'zzz' | expected: one of int, bool, string, double, qfixed, cell, field"],
    ),
    "an item of an unknown type": (
        {"governor": {"claims": {"sure": {"type": "array", "items": "zzz"}}}},
        ["E_DECLARATION at `zzz`: unknown type 'zzz' | expected: one of int, bool, string, double, qfixed, cell, field"],
    ),
    "a claim that is a double": (
        {"governor": {"claims": {"sure": "double"}}},
        ["E_NOT_SEALABLE at `double`: 'sure' is double | hint: write `qfixed`, a number with six decimals that is held exactly"],
    ),
    "a witness that is a double": (
        {"governor": {"gates": [{"id": "a", "deny": "x > 2", "reason": "r", "witness": {"d": "0.5"}}]}},
        ["E_NOT_SEALABLE at `'0.5'`: 'd' is double | hint: write `qfixed`, a number with six decimals that is held exactly"],
    ),
    "a circle": (
        {"governor": {"let": {"b": "c + 1", "c": "d", "d": "b", "a": "b", "e": "5"}}},
        ["E_LET_CYCLE at `c + 1`: these read each other: b, c, d"],
    ),
    "a circle through a function": (
        {"governor": {"functions": {"f": {"args": ["n"], "is": "n + p"}}, "let": {"p": "f(1)"}}},
        ["E_LET_CYCLE at `f(1)`: these read each other: p"],
    ),
    "a function that nothing calls": (
        {"governor": {"functions": {"f": {"args": ["n"], "is": "n + absent"}, "g": {"args": ["n"], "is": "f(n)"}}}},
        ["E_EXPR_UNKNOWN_NAME at `absent`: unknown name `absent` | hint: did you mean `seen`?"],
    ),
    "a field that no effect can set": (
        {"world": {"every_step": [{"set": "y", "to": "1"}]}},
        ["E_EFFECT_TARGET at `y`: there is no field 'y' to change | expected: one of purse, x"],
    ),
    "a misspelt field": (
        {"world": {"every_step": [{"set": "purs", "to": "1"}]}},
        ["E_EFFECT_TARGET at `purs`: there is no field 'purs' to change | expected: one of purse, x | hint: did you mean 'purse'?"],
    ),
    "a field below a number": (
        {"world": {"every_step": [{"set": "x.deep", "to": "1"}]}},
        ["E_EFFECT_TARGET at `x.deep`: there is no field 'x.deep' to change | expected: a field of a record"],
    ),
    "append to a number": (
        {"world": {"every_step": [{"append": "x", "value": "1"}]}},
        ["E_EFFECT_TARGET at `x`: `append` needs a list, but 'x' is int"],
    ),
    "put into a number": (
        {"world": {"every_step": [{"put": "x", "key": "'a'", "value": "1"}]}},
        ["E_EFFECT_TARGET at `x`: `put` needs a map, but 'x' is int"],
    ),
    "each of numbers": (
        {"world": {"state": {"x": "int", "purse": "int", "l": {"items": "int"}}, "start": {"x": 0, "purse": 100, "l": "[]"}, "every_step": [{"each": "l", "as": "e", "where": "true", "update": {"n": "1"}}]}},
        ["E_EFFECT_TARGET at `each: l`: `each` updates fields, but the list's items have none"],
    ),
    "each with a field that is not there": (
        {"world": {"state": {"x": "int", "purse": "int", "l": {"items": {"properties": {"name": "int"}}}}, "start": {"x": 0, "purse": 100, "l": "[]"}, "every_step": [{"each": "l", "as": "e", "where": "true", "update": {"nam": "1"}}]}},
        ["E_EFFECT_TARGET at `'1'`: the list's items have no field 'nam' | hint: did you mean 'name'?"],
    ),
    "a part of what may be missing": (
        {"world": {"state": {"x": "int", "purse": "int", "o": {"properties": {"a": {"properties": {"b": "int"}}}, "required": []}}, "start": {"x": 0, "purse": 100, "o": "{}"}, "every_step": [{"set": "o.a.b", "to": "1"}]}},
        ["E_EFFECT_TARGET at `o.a.b`: 'a' may be missing: it can only be set, as a whole"],
    ),
    "append to what may be missing": (
        {"world": {"state": {"x": "int", "purse": "int", "o": {"properties": {"a": {"items": "int"}}, "required": []}}, "start": {"x": 0, "purse": 100, "o": "{}"}, "every_step": [{"append": "o.a", "value": "1"}]}},
        ["E_EFFECT_TARGET at `o.a`: 'a' may be missing: it can only be set, as a whole"],
    ),
    "an effect with a condition in a memory": (
        {"agent": {"memory": {"fields": {"n": {"type": "int", "start": "0"}}}, "remember": [{"id": "w", "effect": {"set": "n", "to": "1", "when": "x > 0"}}]}},
        ["E_MEMORY at `x > 0`: move this condition up to the write"],
    ),
    "a draw from a number": (
        {"agent": {"draw": {"d": {"stream": "d", "from": "x"}}}},
        ["E_DECLARATION at `x`: a value is drawn from a list, not from int"],
    ),
    "weights of another number": (
        {"world": {"draw": {"d": {"from": [1, 2], "weights": [1]}}}},
        ["E_DRAW_WEIGHTS at `weights`: there are 1 weights for 2 elements | hint: give each element of `from` one weight, in the same order: an integer from 0, not all of them 0"],
    ),
    "a weight below 0": (
        {"world": {"draw": {"d": {"from": [1, 2], "weights": [1, -1]}}}},
        ["E_DRAW_WEIGHTS at `weights`: a weight is below 0 | hint: give each element of `from` one weight, in the same order: an integer from 0, not all of them 0"],
    ),
    "weights that are all 0": (
        {"world": {"draw": {"d": {"from": [1, 2], "weights": [0, 0]}}}},
        ["E_DRAW_WEIGHTS at `weights`: the weights sum up to 0, not to 1..9007199254740991 | hint: give each element of `from` one weight, in the same order: an integer from 0, not all of them 0"],
    ),
    "weights that are too great": (
        {"world": {"draw": {"d": {"from": [1, 2], "weights": [9007199254740991, 1]}}}},
        ["E_DRAW_WEIGHTS at `weights`: the weights sum up to 9007199254740992, not to 1..9007199254740991 | hint: give each element of `from` one weight, in the same order: an integer from 0, not all of them 0"],
    ),
    "a list to draw from that mixes": (
        {"world": {"draw": {"d": {"from": [1, "a"]}}}},
        ["E_EXPR_OUTSIDE_PROFILE at `from`: a list of int and string is CEL, but outside the profile | hint: use one type"],
    ),
    "a function that reads another that is wrong": (
        {"governor": {"functions": {"f": {"args": ["n"], "is": "n + absent"}, "g": {"args": ["n"], "is": "f(n) + 1"}, "h": {"args": ["n"], "is": "g(n) && true"}}}},
        ["E_EXPR_UNKNOWN_NAME at `absent`: unknown name `absent` | hint: did you mean `seen`?"],
    ),
    "functions that call each other": (
        {"governor": {"functions": {"f": {"args": ["n"], "is": "g(n)"}, "g": {"args": ["n"], "is": "f(n)"}}}},
        ["E_EXPR_RECURSION at `g(n)`: `g` reaches itself: `g` -> `f` -> `g` | `f` is used here: `f(n)` | `g` is used here: `g(n)`"],
    ),
    "two that are wrong on their own": (
        {"governor": {"functions": {"f": {"args": ["n"], "is": "n + absent"}, "g": {"args": ["n"], "is": "missing - n"}}}},
        [
            "E_EXPR_UNKNOWN_NAME at `absent`: unknown name `absent` | hint: did you mean `seen`?",
            "E_EXPR_UNKNOWN_NAME at `missing`: unknown name `missing` | hint: here can be read `n`, `purse`, `x`, `now`, `proposals`, `rejected`, `action`, `proposal`, `writes`, `cost`, `next`, `outcome`; a text is in quotes: `'missing'`",
        ],
    ),
    "a schema of nothing": (
        {"world": {"types": {"T": {}}, "state": {"x": "int", "purse": "int", "y": "T"}, "start": {"x": 0, "purse": 100, "y": "0"}}},
        ["E_DECLARATION at `T`: a schema needs `type`, `enum`, `items`, `properties` or `additionalProperties`"],
    ),
    "a type of itself": (
        {"world": {"types": {"T": {"items": "T"}}, "state": {"x": "int", "purse": "int", "y": "T"}, "start": {"x": 0, "purse": 100, "y": "[]"}}},
        ["E_DECLARATION at `T`: type 'T' contains itself: T -> T"],
    ),
    "a misspelt type of the spec": (
        {"world": {"types": {"Size": "int"}, "state": {"x": "int", "purse": "int", "y": "Sise"}, "start": {"x": 0, "purse": 100, "y": "0"}}},
        ["E_DECLARATION at `Sise`: unknown type 'Sise' | hint: did you mean 'Size'?"],
    ),
    "a state of doubles": (
        {"world": {"state": {"x": "int", "purse": "int", "y": "double"}, "start": {"x": 0, "purse": 100, "y": "0.5"}}},
        ["E_NOT_SEALABLE at `double`: 'y' is double | hint: write `qfixed`, a number with six decimals that is held exactly"],
    ),
}  # fmt: skip


@pytest.mark.parametrize(("changes", "said"), MISTAKES.values(), ids=MISTAKES)
def test_a_mistake_is_told_in_full(tmp_path, monkeypatch, changes, said):
    monkeypatch.chdir(tmp_path)
    assert told_of(plan_of, number_scenario(Path(), **changes)) == said
