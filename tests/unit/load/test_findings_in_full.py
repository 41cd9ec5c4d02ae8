"""Mistakes in the form of documents, parameters, matrices and cases: each finding with its place, its words and its hint."""

from pathlib import Path

import pytest

from tests.toys import number_scenario, plan_of, told_of

# what is changed in the world of one number, and all that is said about it
MISTAKES = {
    "a mapping for text": (
        {"world": {"doc": {"a": 1, "b": 2, "c": 3, "d": 4, "e": 5, "f": 6, "g": 7}}},
        ["E_SPEC_TYPE at `doc`: `doc` is of the wrong type | expected: text | found: a mapping with the keys a, b, c, d, e, f, ... | used at scenario/scenario.yaml:3: `world`"],
    ),
    "an empty mapping for text": (
        {"world": {"doc": {}}},
        ["E_SPEC_TYPE at `doc`: `doc` is of the wrong type | expected: text | found: an empty mapping | used at scenario/scenario.yaml:3: `world`"],
    ),
    "an empty list for text": (
        {"world": {"doc": []}},
        ["E_SPEC_TYPE at `doc`: `doc` is of the wrong type | expected: text | found: an empty list | hint: one value stands here; for several, declare a parameter in `params` and its values in `matrix` | used at scenario/scenario.yaml:3: `world`"],
    ),
    "a list for text": (
        {"world": {"doc": ["a", "b"]}},
        ["E_SPEC_TYPE at `doc`: `doc` is of the wrong type | expected: text | found: a list | hint: one value stands here; for several, declare a parameter in `params` and its values in `matrix` | used at scenario/scenario.yaml:3: `world`"],
    ),
    "a number for text": (
        {"world": {"doc": 5}},
        ['E_SPEC_TYPE at `5`: `doc` is of the wrong type | expected: text | found: the number 5 | hint: quote it: "5" | used at scenario/scenario.yaml:3: `world`'],
    ),
    "true for text": (
        {"world": {"doc": True}},
        ["E_SPEC_TYPE at `true`: `doc` is of the wrong type | expected: text | found: true | used at scenario/scenario.yaml:3: `world`"],
    ),
    "a long text for a list": (
        {"world": {"every_step": "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"}},
        ["E_SPEC_TYPE at `aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa`: `every_step` is of the wrong type | expected: a list | found: the text `aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa...` | hint: a list is `[a, b]`, or lines that begin with `- ` | used at scenario/scenario.yaml:3: `world`"],
    ),
    "a text of forty characters for a list": (
        {"world": {"every_step": "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"}},
        ["E_SPEC_TYPE at `aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa`: `every_step` is of the wrong type | expected: a list | found: the text `aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa` | hint: a list is `[a, b]`, or lines that begin with `- ` | used at scenario/scenario.yaml:3: `world`"],
    ),
    "a mapping for a list": (
        {"agent": {"candidates": [{"op": "add", "for_each": {"n": "[1]"}}]}, "governor": {"gates": {"id": "a"}}},
        ["E_SPEC_TYPE at `gates`: `gates` is of the wrong type | expected: a list | found: a mapping with the keys id | hint: a list is `[a, b]`, or lines that begin with `- ` | used at scenario/scenario.yaml:4: `governor`"],
    ),
    "a text for a mapping": (
        {"world": {"state": "int"}},
        ["E_SPEC_TYPE at `int`: `state` is of the wrong type | expected: a mapping | found: the text `int` | hint: a mapping is `{key: value}`, or lines of the form `key: value` | used at scenario/scenario.yaml:3: `world`"],
    ),
    "a text for a mapping of models": (
        {"world": {"functions": {"f": "x"}}},
        ["E_SPEC_TYPE at `x`: `f` is of the wrong type | expected: a mapping | found: the text `x` | hint: write for instance `{args: ..., is: ...}` | used at scenario/scenario.yaml:3: `world`"],
    ),
    "a text for an integer": (
        {"scenario": {"horizon": "12"}},
        ["E_SPEC_TYPE at `'12'`: `horizon` is of the wrong type | expected: an integer | found: the text `12` | hint: write 12 without quotes"],
    ),
    "another text for an integer": (
        {"scenario": {"horizon": "twelve"}},
        ["E_SPEC_TYPE at `twelve`: `horizon` is of the wrong type | expected: an integer | found: the text `twelve`"],
    ),
    "a number beyond its limit": (
        {"scenario": {"horizon": 0}},
        ["E_SPEC_VALUE at `0`: the value of `horizon` is not allowed | expected: at least 1 | found: the number 0"],
    ),
    "a number above its limit": (
        {"scenario": {"horizon": 1000000000}},
        ["E_SPEC_VALUE at `1000000000`: the value of `horizon` is not allowed | expected: at most 1000000 | found: the number 1000000000"],
    ),
    "a list for an integer": (
        {"scenario": {"horizon": [4, 5]}},
        ["E_SPEC_TYPE at `horizon`: `horizon` is of the wrong type | expected: an integer | found: a list | hint: one value stands here; for several, declare a parameter in `params` and its values in `matrix`"],
    ),
    "an expression as a list": (
        {"governor": {"choose": {"maximise": ["x"]}}},
        ["E_SPEC_TYPE at `maximise`: `maximise` is of the wrong type | expected: an expression, as text | found: a list | used at scenario/scenario.yaml:4: `governor`"],
    ),
    "an expression as a qfixed": (
        {"governor": {"choose": {"maximise": {"qfixed": 1.5}}}},
        ["E_SPEC_TYPE at `maximise`: `maximise` is of the wrong type | expected: an expression, as text | found: a mapping with the keys qfixed | hint: write the number alone: `1.5`; `{qfixed: ...}` is for constants | used at scenario/scenario.yaml:4: `governor`"],
    ),
    "an expression as a mapping": (
        {"governor": {"choose": {"maximise": {"x": "y"}}}},
        ["E_SPEC_TYPE at `maximise`: `maximise` is of the wrong type | expected: an expression, as text | found: a mapping with the keys x | used at scenario/scenario.yaml:4: `governor`"],
    ),
    "a list of references": (
        {"scenario": {"world": ["world"]}},
        ["E_SPEC_TYPE at `world`: `world` is of the wrong type | expected: text or a mapping | found: a list | hint: it is one alone: write `world`; of several, each has an entry of its own, such as an arm of a suite"],
    ),
    "an empty list of references": (
        {"scenario": {"world": []}},
        ["E_SPEC_TYPE at `world`: `world` is of the wrong type | expected: text or a mapping | found: an empty list"],
    ),
    "a list of choices for a type": (
        {"world": {"actions": {"add": {"args": {"n": ["a", "b"]}, "effects": [], "outcome": {"was": "x"}}}}},
        ["E_SPEC_TYPE at `n`: `n` is of the wrong type | expected: text or a mapping | found: a list | hint: write `{enum: [a, b]}` | used at scenario/scenario.yaml:3: `world`"],
    ),
    "a word that is not allowed": (
        {"scenario": {"turns": "simultan"}},
        ["E_SPEC_VALUE at `simultan`: `simultan` is not one of 'order', 'simultaneous' | expected: 'order' or 'simultaneous' | found: the text `simultan` | hint: did you mean `simultaneous`?"],
    ),
    "a word like no other": (
        {"scenario": {"turns": "zzz"}},
        ["E_SPEC_VALUE at `zzz`: `zzz` is not one of 'order', 'simultaneous' | expected: 'order' or 'simultaneous' | found: the text `zzz`"],
    ),
    "a name in capitals": (
        {"world": {"name": "My World"}},
        ["E_REF_NAME at `world`: the spec in world/world.yaml has the name `My World` | expected: the name `world` | hint: name the file as the spec, or refer to it by its path"],
    ),
    "a strange key and a missing one": (
        {"governor": {"gates": [{"id": "a", "deny": "x > 1", "because": "r"}]}},
        ["E_SPEC_UNKNOWN_KEY at `because`: unknown key `because` | hint: did you mean `reason`? | used at scenario/scenario.yaml:4: `governor`"],
    ),
    "a misspelt key and a missing one": (
        {"governor": {"gates": [{"id": "a", "deny": "x > 1", "reeson": "r"}]}},
        ["E_SPEC_UNKNOWN_KEY at `reeson`: unknown key `reeson` | hint: did you mean `reason`? | used at scenario/scenario.yaml:4: `governor`"],
    ),
    "two strange keys": (
        {"governor": {"gates": [{"id": "a", "deny": "x > 1", "zz": "r", "yy": 1, "reason": "r"}]}},
        [
            "E_SPEC_UNKNOWN_KEY at `zz`: unknown key `zz` | hint: a name of your own belongs in `witness`; known keys: id, when, deny, require, reason, witness | used at scenario/scenario.yaml:4: `governor`",
            "E_SPEC_UNKNOWN_KEY at `yy`: unknown key `yy` | hint: a name of your own belongs in `witness`; known keys: id, when, deny, require, reason, witness | used at scenario/scenario.yaml:4: `governor`",
        ],
    ),
    "a key with a hyphen": (
        {"world": {"derived": {"a-b": "x"}}},
        ["E_SPEC_VALUE at `a-b`: the key `a-b` is not allowed | expected: text that matches ^[A-Za-z][A-Za-z0-9_]*$ | used at scenario/scenario.yaml:3: `world`"],
    ),
    "a name of an effect": (
        {"world": {"every_step": [{"sett": "x", "to": "1"}, {"set": "x"}, {"zzz": 1}, 5]}},
        [
            "E_SPEC_VALUE at `sett: x`: the value of `every_step[0]` is not allowed | expected: one of the keys set, append, remove, put, each | found: a mapping with the keys sett, to | hint: did you mean `set`? | used at scenario/scenario.yaml:3: `world`",
            "E_SPEC_MISSING_KEY at `set: x`: `every_step[1]` lacks the key `to` | hint: write `to: ...`; `spec explain world.every_step.to` says what may stand there | used at scenario/scenario.yaml:3: `world`",
            "E_SPEC_VALUE at `zzz: 1`: the value of `every_step[2]` is not allowed | expected: one of the keys set, append, remove, put, each | found: a mapping with the keys zzz | hint: write for instance `{set: ..., to: ...}` | used at scenario/scenario.yaml:3: `world`",
            "E_SPEC_VALUE at `5`: the value of `every_step[3]` is not allowed | expected: one of the keys set, append, remove, put, each | found: the number 5 | hint: write for instance `{set: ..., to: ...}` | used at scenario/scenario.yaml:3: `world`",
        ],
    ),
    "a parameter that is not declared": (
        {"scenario": {"params": {"steps": "int"}, "horizon": "${stepss}"}},
        [
            "E_PARAM_UNKNOWN at `${stepss}`: there is no parameter `stepss` | hint: did you mean `steps`?",
            "E_PARAM_MISSING at `steps`: `scenario` needs a value for its parameter `steps` | expected: int | hint: give it a default: `steps: {type: int, default: ...}` | it is declared here: `steps`",
        ],
    ),
    "a parameter that nothing declares": (
        {"scenario": {"horizon": "${n}"}},
        ["E_PARAM_UNKNOWN at `${n}`: there is no parameter `n` | hint: declare it under `params`"],
    ),
    "a parameter without a value": (
        {"scenario": {"params": {"steps": "int"}, "horizon": "${steps}"}},
        ["E_PARAM_MISSING at `steps`: `scenario` needs a value for its parameter `steps` | expected: int | hint: give it a default: `steps: {type: int, default: ...}` | it is declared here: `steps`"],
    ),
    "a parameter of another type": (
        {"scenario": {"horizon": "${n}", "params": {"n": {"type": "int", "default": "a"}}}},
        ["E_PARAM_TYPE at `a`: `n` takes a value of the type int | expected: int | found: the text `a`"],
    ),
    "a parameter below its minimum": (
        {"scenario": {"horizon": "${n}", "params": {"n": {"type": "int", "default": 1, "minimum": 2, "maximum": 3}}}},
        ["E_PARAM_RANGE at `1`: `n` does not take this value | expected: at least 2 | found: the number 1"],
    ),
    "a parameter above its maximum": (
        {"scenario": {"horizon": "${n}", "params": {"n": {"type": "int", "default": 4, "minimum": 2, "maximum": 3}}}},
        ["E_PARAM_RANGE at `4`: `n` does not take this value | expected: at most 3 | found: the number 4"],
    ),
    "a parameter of an unknown type": (
        {"scenario": {"horizon": "${n}", "params": {"n": {"type": "integer", "default": 4}}}},
        ["E_PARAM_DECLARATION at `integer`: `n` has no type | expected: a type (int, bool, string, qfixed, double, expression) or {type, default, minimum, maximum, enum} | found: the text `integer` | hint: did you mean `int`?"],
    ),
    "a choice that is not among them": (
        {"scenario": {"horizon": "${n}", "params": {"n": {"type": "int", "enum": [1, 2], "default": 4}}}},
        ["E_PARAM_RANGE at `4`: `n` does not take this value | expected: one of 1, 2 | found: the number 4"],
    ),
    "a matrix that is a list": (
        {"scenario": {"params": {"n": "int"}, "matrix": [1], "horizon": "${n}"}},
        ["E_MATRIX_TYPE at `matrix`: `matrix` is no mapping of params to lists | found: a list"],
    ),
    "a matrix of nothing": (
        {"scenario": {"params": {"n": "int"}, "matrix": {}, "horizon": "${n}"}},
        ["E_MATRIX_EMPTY at `matrix`: the matrix has no case"],
    ),
    "an axis of no parameter": (
        {"scenario": {"params": {"n": "int"}, "matrix": {"m": [1]}, "horizon": "${n}"}},
        ["E_MATRIX_AXIS at `m`: `m` cannot vary here | hint: there is n"],
    ),
    "an axis like no parameter": (
        {"scenario": {"params": {"n": "int"}, "matrix": {"zzz": [1]}, "horizon": "${n}"}},
        ["E_MATRIX_AXIS at `zzz`: `zzz` cannot vary here | hint: there is n"],
    ),
    "an axis without parameters": (
        {"scenario": {"matrix": {"zzz": [1]}}},
        ["E_MATRIX_AXIS at `zzz`: `zzz` cannot vary here | hint: declare `params: {zzz: {type: ...}}`, and write `${zzz}` where it is used"],
    ),
    "an axis that is a number": (
        {"scenario": {"params": {"n": "int"}, "matrix": {"n": 3}, "horizon": "${n}"}},
        ["E_MATRIX_TYPE at `3`: the axis `n` is no list and no range `{from, to, step}` | found: the number 3"],
    ),
    "an axis without values": (
        {"scenario": {"params": {"n": "int"}, "matrix": {"n": []}, "horizon": "${n}"}},
        ["E_MATRIX_EMPTY at `n`: the axis `n` has no value"],
    ),
    "a range that is misspelt": (
        {"scenario": {"params": {"n": "int"}, "matrix": {"n": {"from": 1, "too": 3}}, "horizon": "${n}"}},
        ["E_MATRIX_TYPE at `n`: the axis `n` is no list and no range `{from, to, step}` | found: a mapping with the keys from, too | hint: `too`: did you mean `to`?"],
    ),
    "a range that ends before it begins": (
        {"scenario": {"params": {"n": "int"}, "matrix": {"n": {"from": 3, "to": 1}}, "horizon": "${n}"}},
        ["E_MATRIX_EMPTY at `n`: the range of `n` has no value: it ends before it begins | hint: write `{from: 1, to: 3, step: 1}`"],
    ),
    "a range of a step of 0": (
        {"scenario": {"params": {"n": "int"}, "matrix": {"n": {"from": 1, "to": 3, "step": 0}}, "horizon": "${n}"}},
        ["E_MATRIX_EMPTY at `n`: the range of `n` has no value: its step is less than 1 | hint: write `{from: 1, to: 3, step: 1}`"],
    ),
    "a range of too many": (
        {"scenario": {"params": {"n": "int"}, "matrix": {"n": {"from": 1, "to": 4097}}, "horizon": "${n}"}},
        ["E_MATRIX_SIZE at `n`: the axis `n` has 4097 values | expected: at most 4096"],
    ),
    "too many cases": (
        {"scenario": {"params": {"n": "int"}, "matrix": {"n": {"from": 1, "to": 4096}, "include": [{"n": 5000}]}, "horizon": "${n}"}},
        ["E_MATRIX_SIZE at `matrix`: the matrix has 4097 cases | expected: at most 4096"],
    ),
    "an exclusion of nothing": (
        {"scenario": {"params": {"n": "int"}, "matrix": {"n": [1, 2], "exclude": [{"n": 3}, {"n": 2}, {"n": 2}]}, "horizon": "${n}"}},
        [
            "E_MATRIX_EXCLUDE at `3`: this excludes nothing",
            "E_MATRIX_EXCLUDE at `2`: this excludes nothing",
        ],
    ),
    "all cases excluded": (
        {"scenario": {"params": {"n": "int"}, "matrix": {"n": [1], "exclude": [{"n": 1}]}, "horizon": "${n}"}},
        ["E_MATRIX_EMPTY at `matrix`: the matrix has no case"],
    ),
    "a case twice": (
        {"scenario": {"params": {"n": "int"}, "matrix": {"n": [1, 2, 1], "include": [{"n": 2}]}, "horizon": "${n}"}},
        [
            "E_MATRIX_DUPLICATE at `matrix`: the case `n=1` is there twice",
            "E_MATRIX_DUPLICATE at `matrix`: the case `n=2` is there twice",
        ],
    ),
    "an exclusion that is a mapping": (
        {"scenario": {"params": {"n": "int"}, "matrix": {"n": [1], "exclude": {"n": 1}}, "horizon": "${n}"}},
        ["E_MATRIX_TYPE at `exclude`: `include` and `exclude` are lists | found: a mapping with the keys n"],
    ),
    "an inclusion that is a number": (
        {"scenario": {"params": {"n": "int"}, "matrix": {"n": [1], "include": [3, {"mm": 4}, {"n": "a"}]}, "horizon": "${n}"}},
        [
            "E_MATRIX_TYPE at `3`: an entry of `include` or `exclude` is a mapping of params to values | found: the number 3",
            "E_MATRIX_AXIS at `mm`: `mm` cannot vary here | hint: there is n",
            "E_PARAM_TYPE at `a`: `n` takes a value of the type int | expected: int | found: the text `a`",
        ],
    ),
    "cases without a list": (
        {"agent": {"score": {"case": "x", "else": 0}}},
        ["E_CASE_FORM at `x`: `case` has no list of branches | hint: write `{case: [{when: near, then: 5}], else: 0}` | used at scenario/scenario.yaml:5: `agent`"],
    ),
    "cases without else": (
        {"agent": {"score": {"case": [{"when": "x > 1", "then": 5}]}}},
        ["E_CASE_FORM at `score`: `case` has no `else` | hint: write `{case: [{when: near, then: 5}], else: 0}` | used at scenario/scenario.yaml:5: `agent`"],
    ),
    "a misspelt branch": (
        {"agent": {"score": {"case": [{"wen": "x > 1", "then": 5}], "else": 0}}},
        ["E_CASE_FORM at `wen`: there is no key `wen` here | hint: did you mean `when`? | used at scenario/scenario.yaml:5: `agent`"],
    ),
    "a branch without then": (
        {"agent": {"score": {"case": [{"when": "x > 1"}], "else": 0}}},
        ["E_CASE_FORM at `when: x > 1`: a branch has `when` and `then` | hint: write `{case: [{when: near, then: 5}], else: 0}` | used at scenario/scenario.yaml:5: `agent`"],
    ),
    "a branch that is a text": (
        {"agent": {"score": {"case": ["x > 1"], "else": 0}}},
        ["E_CASE_FORM at `x > 1`: a branch has `when` and `then` | hint: write `{case: [{when: near, then: 5}], else: 0}` | used at scenario/scenario.yaml:5: `agent`"],
    ),
    "a branch of a list": (
        {"agent": {"score": {"case": [{"when": ["x"], "then": 5}], "else": 0}}},
        ["E_CASE_FORM at `when`: expected an expression, found a list | hint: write `{case: [{when: near, then: 5}], else: 0}` | used at scenario/scenario.yaml:5: `agent`"],
    ),
    "a key beside the cases": (
        {"agent": {"score": {"case": [{"when": "x > 1", "then": 5}], "else": 0, "els": 1, "zzz": 2}}},
        [
            "E_CASE_FORM at `els`: there is no key `els` here | hint: did you mean `else`? | used at scenario/scenario.yaml:5: `agent`",
            "E_CASE_FORM at `zzz`: there is no key `zzz` here | hint: write `{case: [{when: near, then: 5}], else: 0}` | used at scenario/scenario.yaml:5: `agent`",
        ],
    ),
    "a term without a value": (
        {"agent": {"score": [{"id": "a", "weight": 2}]}},
        ["E_SCORE_TERM at `id: a`: a term has `id` and `value` | hint: write `{id: worth, weight: 2, value: worth}` | used at scenario/scenario.yaml:5: `agent`"],
    ),
    "a misspelt key of a term": (
        {"agent": {"score": [{"id": "a", "wight": 2, "value": "x"}]}},
        ["E_SCORE_TERM at `wight`: there is no key `wight` here | hint: did you mean `weight`? | used at scenario/scenario.yaml:5: `agent`"],
    ),
    "two terms of one id": (
        {"agent": {"score": [{"id": "a", "value": "x"}, {"id": "a", "value": "x"}]}},
        ["E_SCORE_TERM at `a`: two terms have the id 'a' | hint: each term has its own id | used at scenario/scenario.yaml:5: `agent`"],
    ),
    "no terms": (
        {"agent": {"score": []}},
        ["E_SCORE_TERM at `score`: a score without terms | hint: write `{id: worth, weight: 2, value: worth}` | used at scenario/scenario.yaml:5: `agent`"],
    ),
    "a term that is a number": (
        {"agent": {"score": [5]}},
        ["E_SCORE_TERM at `5`: a term has `id` and `value` | hint: write `{id: worth, weight: 2, value: worth}` | used at scenario/scenario.yaml:5: `agent`"],
    ),
    "a weight of nothing": (
        {"agent": {"score": [{"id": "a", "weight": None, "value": "x"}]}},
        ["E_SCORE_TERM at `null`: expected an expression, found null | hint: write `{case: [{when: near, then: 5}], else: 0}` | used at scenario/scenario.yaml:5: `agent`"],
    ),
    "no such file": (
        {"scenario": {"world": "./absent.yaml"}},
        ["E_REF_MISSING at `./absent.yaml`: there is no file scenario/absent.yaml"],
    ),
    "a spec of another kind": (
        {"scenario": {"world": "world/world.yaml", "governor": "agent/agent.yaml"}},
        [
            "E_REF_MISSING at `world/world.yaml`: there is no file scenario/world/world.yaml",
            "E_REF_MISSING at `agent/agent.yaml`: there is no file scenario/agent/agent.yaml",
        ],
    ),
    "arguments that a spec does not take": (
        {"scenario": {"world": {"use": "world", "with": {"size": 3}}}},
        ["E_PARAM_UNKNOWN at `size`: `world` has no parameter `size` | hint: it has none"],
    ),
    "a spec that extends itself": (
        {"world": {"extends": "world"}},
        ["E_EXTENDS_CYCLE at `world`: documents extend one another: world -> world"],
    ),
}  # fmt: skip


@pytest.mark.parametrize(("changes", "said"), MISTAKES.values(), ids=MISTAKES)
def test_a_mistake_is_told_in_full(tmp_path, monkeypatch, changes, said):
    monkeypatch.chdir(tmp_path)
    assert told_of(plan_of, number_scenario(Path(), **changes)) == said
