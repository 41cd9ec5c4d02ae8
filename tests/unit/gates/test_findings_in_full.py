"""Mistakes in governors, invariants and agents: each finding with its place, its words and its hint."""

from pathlib import Path

import pytest

from tests.toys import number_scenario, plan_of, told_of

# what is changed in the world of one number, and all that is said about it
MISTAKES = {
    "a claim of the name of an action": (
        {"governor": {"claims": {"score": "int", "action": "int", "sure": "int"}}, "agent": {"claims": {"score": "1", "action": "1", "sure": "1"}}},
        [
            "E_DECLARATION at `int`: a claim cannot be named 'score'",
            "E_DECLARATION at `int`: a claim cannot be named 'action'",
        ],
    ),
    "an item of the cost that is their sum": (
        {"governor": {"cost": {"total": "1"}}},
        ["E_DECLARATION at `'1'`: an item of the cost cannot be named 'total', which is their sum"],
    ),
    "an input that is not supplied": (
        {"governor": {"supply": {}}},
        ["E_DECLARATION at `governor`: the world's input 'price' is not supplied | hint: write `supply: {price: ...}`, an expression of the type int"],
    ),
    "an input that is not supplied beside one that is": (
        {"world": {"inputs": {"price": "int", "more": "bool"}}, "governor": {"supply": {"price": "0"}}},
        ["E_DECLARATION at `supply`: the world's input 'more' is not supplied | hint: write `supply: {more: ...}`, an expression of the type bool"],
    ),
    "an input that the world lacks": (
        {"governor": {"supply": {"price": "0", "zeal": "1", "air": "1"}}},
        [
            "E_DECLARATION at `'1'`: the world has no input 'zeal'",
            "E_DECLARATION at `'1'`: the world has no input 'air'",
        ],
    ),
    "two gates of one id": (
        {"governor": {"gates": [{"id": "a", "deny": "x > 2", "reason": "r"}, {"id": "b", "deny": "x > 2", "reason": "r"}, {"id": "a", "deny": "x > 2", "reason": "r"}]}},
        ["E_DECLARATION at `a`: two gates have the id 'a'"],
    ),
    "a gate of the engine's id": (
        {"governor": {"gates": [{"id": "schema", "deny": "x > 2", "reason": "r"}]}},
        ["E_DECLARATION at `schema`: two gates have the id 'schema'"],
    ),
    "a potential that is no integer": (
        {"governor": {"potentials": {"p": {"is": "x > 1"}}}},
        ["E_EXPR_TYPE at `x > 1`: the value does not fit its place: expected int, found bool | expected: int | found: bool | hint: write `x > 1 ? 1 : 0`"],
    ),
    "a value to maximise that is no integer": (
        {"governor": {"choose": {"maximise": "x > 1"}}},
        ["E_EXPR_TYPE at `x > 1`: the value does not fit its place: expected int, found bool | expected: int | found: bool | hint: write `x > 1 ? 1 : 0`"],
    ),
    "a gate that is no condition": (
        {"governor": {"gates": [{"id": "a", "require": "x", "reason": "r"}]}},
        ["E_EXPR_TYPE at `x`: the value does not fit its place: expected bool, found int | expected: bool | found: int | hint: compare it: `x != 0`"],
    ),
    "a condition of a gate that is none": (
        {"governor": {"gates": [{"id": "a", "when": "x", "require": "x > 0", "reason": "r"}]}},
        ["E_EXPR_TYPE at `x`: the value does not fit its place: expected bool, found int | expected: bool | found: int | hint: compare it: `x != 0`"],
    ),
    "a memory of the governor that reads the state": (
        {"governor": {"memory": {"fields": {"n": {"type": "int", "start": "purse"}}}}},
        ["E_EXPR_UNKNOWN_NAME at `purse`: unknown name `purse` | hint: here can be read `x`, `t`, `episode`; a text is in quotes: `'purse'`"],
    ),
    "a function of the governor that reads what is nowhere": (
        {"governor": {"functions": {"f": {"args": [], "is": "nowhere"}}}},
        ["E_EXPR_UNKNOWN_NAME at `nowhere`: unknown name `nowhere` | hint: did you mean `now`?"],
    ),
    "a condition in an effect of a memory": (
        {"governor": {"memory": {"fields": {"n": {"type": "int", "start": "0"}}}, "remember": [{"id": "w", "effect": {"set": "n", "to": "1", "when": "x > 0"}}]}},
        ["E_MEMORY at `x > 0`: move this condition up to the write"],
    ),
    "an invariant of the name of a result": (
        {"governor": {"invariants": ["progress"]}, "invariant/progress": {"require": "x >= 0"}},
        ["E_NAME_TAKEN at `progress`: 'progress' is what results call something that no invariant finds"],
    ),
    "an invariant of the watchdog's name": (
        {"governor": {"invariants": ["watchdog"]}, "invariant/watchdog": {"require": "x >= 0"}},
        ["E_NAME_TAKEN at `watchdog`: 'watchdog' is what results call something that no invariant finds"],
    ),
    "a short form whose name is taken": (
        {"world": {"state": {"x": "int", "purse": "int", "at_most_count": "int"}, "start": {"x": 0, "purse": 100, "at_most_count": 0}}, "governor": {"invariants": ["few"]}, "invariant/few": {"at_most": {"count": "x > 2", "times": 1}}},
        ["E_NAME_TAKEN at `at_most`: the memory of `at_most` has the name 'at_most_count', which is in use here"],
    ),
    "an invariant that reads no state": (
        {"governor": {"invariants": ["few"]}, "invariant/few": {"require": "x > y", "when": "x", "witness": {"w": "0.5"}}},
        [
            "E_EXPR_UNKNOWN_NAME at `y`: unknown name `y` | hint: here can be read `purse`, `x`, `now`, `previous`, `t`, `episode`; a text is in quotes: `'y'`",
            "E_EXPR_TYPE at `x`: the value does not fit its place: expected bool, found int | expected: bool | found: int | hint: compare it: `x != 0`",
            "E_NOT_SEALABLE at `'0.5'`: 'w' is double | hint: write `qfixed`, a number with six decimals that is held exactly",
        ],
    ),
    "a value within that is no condition": (
        {"governor": {"invariants": ["few"]}, "invariant/few": {"within": {"after": "x", "require": "x > 1", "steps": 2}}},
        ["E_EXPR_TYPE at `x`: the value does not fit its place: expected bool, found int | expected: bool | found: int | hint: compare it: `x != 0`"],
    ),
    "a mean of no number": (
        {"governor": {"invariants": ["few"]}, "invariant/few": {"scope": "episode", "mean": {"of": "x > 1", "max": "3"}}},
        ["E_EXPR_TYPE at `x > 1`: the value does not fit its place: expected int, found bool | expected: int | found: bool | hint: write `x > 1 ? 1 : 0`"],
    ),
    "a memory of an invariant that no receipt holds": (
        {"governor": {"invariants": ["few"]}, "invariant/few": {"memory": {"fields": {"d": {"type": "double", "start": "0.5"}}}, "require": "d > 0.0"}},
        ["E_NOT_SEALABLE at `d`: 'd' is double | hint: write `qfixed`, a number with six decimals that is held exactly"],
    ),
    "an invariant of documents without them": (
        {"governor": {"invariants": ["few"]}, "invariant/few": {"scope": "proposal", "require": "x > 0"}},
        ["E_ADMISSION at `proposal`: the governor has no `admission`: there are no documents to judge | hint: write in the governor `admission: {document: open_proposal, env: now, vocabulary: NAME, free: {add: {allowed_ops: [add], max_calls: 1, per_ms: 100, expiry_ms: 100}}}`; `spec ls vocabulary` lists the names, and `spec init DIR --start reasons` writes an example of all that probes need"],
    ),
    "a candidate that is no action": (
        {"agent": {"candidates": [{"op": "ad"}, {"op": "zzz"}]}},
        [
            "E_AGENT_CANDIDATE at `ad`: the world has no action 'ad' | expected: one of add | hint: did you mean 'add'?",
            "E_AGENT_CANDIDATE at `zzz`: the world has no action 'zzz' | expected: one of add",
        ],
    ),
    "a candidate without its arguments": (
        {"agent": {"candidates": [{"op": "add"}]}},
        ['E_AGENT_CANDIDATE at `op: add`: \'add\' takes n | hint: list the values of each: `{op: add, for_each: {n: "[...]"}}`'],
    ),
    "a candidate with others": (
        {"agent": {"candidates": [{"op": "add", "for_each": {"n": "[1]", "m": "[1]"}}]}},
        ['E_AGENT_CANDIDATE at `op: add`: \'add\' takes n | hint: list the values of each: `{op: add, for_each: {n: "[...]"}}`'],
    ),
    "a candidate with arguments of an action that takes none": (
        {"world": {"actions": {"rest": {"effects": []}, "add": {"args": {"n": "int"}, "effects": [], "outcome": {"was": "x"}}}}, "agent": {"candidates": [{"op": "rest", "for_each": {"n": "[1]"}}], "score": "1"}},
        ["E_AGENT_CANDIDATE at `op: rest`: 'rest' takes no arguments | hint: leave out its `for_each`"],
    ),
    "a list of one argument of an action of two": (
        {"world": {"actions": {"move": {"args": {"by": "int", "at": "int"}, "effects": []}}}, "agent": {"candidates": [{"op": "move", "for_each": {"by": "[1]"}}], "score": "1"}},
        ['E_AGENT_CANDIDATE at `op: move`: \'move\' takes at, by | hint: list the values of each: `{op: move, for_each: {at: "[...]", by: "[...]"}}`'],
    ),
    "a list that is none": (
        {"agent": {"candidates": [{"op": "add", "for_each": {"n": "1"}}]}},
        ["E_EXPR_TYPE at `1`: the value does not fit its place: expected list<int>, found int | expected: list<int> | found: int"],
    ),
    "claims that the governor does not ask for": (
        {"agent": {"claims": {"zeal": "1", "air": "2"}}},
        [
            "E_AGENT_CLAIMS at `'1'`: the governor asks for no claim 'zeal'",
            "E_AGENT_CLAIMS at `'2'`: the governor asks for no claim 'air'",
        ],
    ),
    "claims that the agent does not give": (
        {"governor": {"claims": {"zeal": "int", "air": "int"}}},
        ["E_AGENT_CLAIMS at `agent`: the governor also asks for air, zeal"],
    ),
    "an agent that predicts with hidden fields": (
        {"agent": {"predicts": True}},
        ["E_AGENT_PREDICTS at `true`: the agent cannot know the next state: its `observe` does not show `purse` and its step needs the input `price` | hint: let the world show every field of its `state` in `observe` as it is (`x: x`), and have no `inputs`"],
    ),
    "an agent that predicts with inputs": (
        {"world": {"observe": {"x": "x", "purse": "purse"}}, "agent": {"predicts": True}},
        ["E_AGENT_PREDICTS at `true`: the agent cannot know the next state: its step needs the input `price` | hint: let the world show every field of its `state` in `observe` as it is (`x: x`), and have no `inputs`"],
    ),
    "a score that is none": (
        {"agent": {"score": "x > 1"}},
        ["E_EXPR_TYPE at `x > 1`: the value does not fit its place: expected int, found bool | expected: int | found: bool | hint: write `x > 1 ? 1 : 0`"],
    ),
    "a name of a prediction": (
        {"world": {"observe": {"x": "x", "purse": "purse", "breach": "x"}, "inputs": {}}, "governor": {"supply": {}}, "agent": {"predicts": True}},
        ["E_NAME_TAKEN at `true`: 'breach' is already a variable"],
    ),
    "a claim that nothing reads": (
        {"governor": {"claims": {"sure": "int", "else": "int"}, "gates": [{"id": "a", "deny": "proposal.sure > 2", "reason": "r"}, {"id": "b", "deny": "y > 2", "reason": "r"}]}, "agent": {"claims": {"sure": "1", "else": "1"}}},
        ["E_EXPR_UNKNOWN_NAME at `y`: unknown name `y` | hint: here can be read `purse`, `x`, `now`, `proposals`, `rejected`, `action`, `proposal`, `writes`, `cost`, `next`, `outcome`, `t`; a text is in quotes: `'y'`"],
    ),
    "an argument that some candidate lacks": (
        {"world": {"actions": {"rest": {"effects": []}, "add": {"args": {"n": "int"}, "effects": [], "outcome": {"was": "x"}}}}, "agent": {"candidates": [{"op": "add", "for_each": {"n": "[1]"}}, {"op": "rest"}], "score": "action.n + y"}},
        [
            "W_AGENT_READS at `action.n`: `action.n` is read of every proposal, and 'rest' has none | hint: write `has(action.n) ? ... : 0`, or look at `action.op` first",
            "E_EXPR_UNKNOWN_NAME at `y`: unknown name `y` | hint: here can be read `x`, `action`, `claims`, `t`, `episode`; a text is in quotes: `'y'`",
        ],
    ),
    "a literal that is not allowed": (
        {"world": {"actions": {"go": {"args": {"to": {"enum": ["north", "east"]}, "n": {"enum": [1, 2]}}, "effects": []}}}, "agent": {"candidates": [{"op": "go", "for_each": {"to": "['nort', 'zz', 'east']", "n": "[1, 3]"}}], "score": "y"}},
        [
            "W_AGENT_ARGUMENT at `''nort''`: 'to' is never 'nort', so this proposal would be rejected | hint: did you mean 'north'?",
            "W_AGENT_ARGUMENT at `''zz''`: 'to' is never 'zz', so this proposal would be rejected | hint: it is one of 'north', 'east'",
            "W_AGENT_ARGUMENT at `3`: 'n' is never 3, so this proposal would be rejected | hint: it is one of 1, 2",
            "E_EXPR_UNKNOWN_NAME at `y`: unknown name `y` | hint: here can be read `x`, `action`, `claims`, `t`, `episode`; a text is in quotes: `'y'`",
        ],
    ),
}  # fmt: skip


@pytest.mark.parametrize(("changes", "said"), MISTAKES.values(), ids=MISTAKES)
def test_a_mistake_is_told_in_full(tmp_path, monkeypatch, changes, said):
    monkeypatch.chdir(tmp_path)
    assert told_of(plan_of, number_scenario(Path(), **changes)) == said
