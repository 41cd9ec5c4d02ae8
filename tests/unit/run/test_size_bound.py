"""Values that share their parts: a run says that they are too much, and needs no memory for saying so."""

import json

import pytest

from specledger.compile.scenario import compile_scenario
from specledger.compile.size_bounds import may_exceed_limit
from specledger.core.verdict import Verdict
from specledger.expr import INT, STRING, ListType, RecordType, Type
from specledger.expr.check.types import DYN
from specledger.kinds import load
from specledger.pipeline.executing import execute
from specledger.pipeline.verifying import verify
from specledger.run.loop import run
from tests.toys import FREE, documents_of, findings_of, write_specs

WIDE = "range(200)"
ROWS = {"type": "array", "items": {"type": "array", "items": "int"}}
WORLD = {
    "state": {"x": "int", "rows": ROWS},
    "start": {"x": "0", "rows": "[[0]]"},
    "actions": {"rest": {"let": {"w": WIDE}, "effects": [{"set": "x", "to": "x + 1"}]}},
    "observe": {"x": "x"},
}
GROW = {"let": {"w": WIDE}, "effects": [{"set": "rows", "to": "w.map(n, w)"}]}
SQUARE = f"[{WIDE}].map(w, w.map(n, w))"
WARN = {"severity": "warn", "require": "x < 0", "witness": {"w": SQUARE}}
CASES = {  # what is laid over the world, the drift, the invariant; the types of receipts up to the error; heavy or not
    "nothing": ({}, None, None, ["start", "episode", "commit", "step", "episode_end", "end"], True),
    "light types": ({"state": {"x": "int"}, "start": {"x": "0"}}, None, None, ["start", "episode", "commit", "step", "episode_end", "end"], False),
    "a state": ({"actions": {"rest": GROW}}, None, None, ["start", "episode", "commit", "error", "episode_end", "end"], True),
    "an opening": ({"opening": {"w": SQUARE}}, None, None, ["start", "error", "episode_end", "end"], True),
    "an observation": ({"observe": {"w": SQUARE}}, None, None, ["start", "episode", "error", "episode_end", "end"], True),
    "a record": ({"record": {"w": SQUARE}}, None, None, ["start", "episode", "commit", "error", "episode_end", "end"], True),
    "a drift": ({}, {"at": "t == 0", "effects": [{"set": "rows", "to": SQUARE + "[0]"}]}, None, ["start", "episode", "error", "episode_end", "end"], True),
    "a witness": ({}, None, WARN, ["start", "episode", "commit", "error", "episode_end", "end"], True),
    "a witness of an episode": ({}, None, {**WARN, "scope": "episode"}, ["start", "episode", "commit", "step", "error", "episode_end", "end"], True),
}  # fmt: skip


TEXT = "'0123456789'"
MANY = {  # of light values, so many that together they are too much: what is laid over the agent and the governor
    "claims": (
        {"candidates": [{"op": "rest", "for_each": {"n": "range(250)"}}], "claims": {"s": f"{TEXT} + {TEXT} + {TEXT} + {TEXT}"}},
        {"claims": {"s": "string"}},
        ["start", "episode", "error", "episode_end", "end"],
    ),
    "witnesses": (
        {"candidates": [{"op": "rest", "for_each": {"n": "range(50)"}}]},
        {"gates": [{"id": "no", "deny": "true", "reason": "no", "witness": {"s": f"{TEXT} + {TEXT} + {TEXT} + {TEXT}"}}]},
        ["start", "episode", "commit", "error", "episode_end", "end"],
    ),
}  # fmt: skip


def bundle_of(folder, world, drift=None, invariant=None, agent=(), governor=()):
    more = {"drift": ["drift"]} if drift else {}
    more |= {"invariants": ["invariant"]} if invariant else {}
    others = {kind: one for kind, one in (("drift", drift), ("invariant", invariant)) if one}
    idle = {"candidates": [{"op": "rest"}], "score": "0", **dict(agent)}
    documents = documents_of({**WORLD, **world}, idle, {**FREE, **dict(governor)}, others, **more)
    (bundle,) = load(str(write_specs(folder, documents)))
    return bundle


@pytest.fixture(autouse=True)
def narrow(monkeypatch):
    monkeypatch.setattr("specledger.core.weight.MAX_WEIGHT", 10_000)


@pytest.mark.parametrize("name", CASES)
def test_a_value_that_is_too_large_ends_the_episode(tmp_path, name):
    world, drift, invariant, expected, heavy = CASES[name]
    bundle = bundle_of(tmp_path, world, drift, invariant)
    plan = compile_scenario(bundle)
    found = [(event.type, event.body) for event in run(plan)]
    assert plan.check_weights is heavy
    assert [type_ for type_, _ in found] == expected
    assert {(body["code"], body["expression"]) for type_, body in found if type_ == "error"} <= {("E_CANON_SIZE", "$")}


@pytest.mark.parametrize("name", MANY)
def test_what_is_made_of_many_light_values_is_weighed_by_its_form(tmp_path, name):
    agent, governor, expected = MANY[name]
    rest = {"rest": {"args": {"n": "int"}, "effects": [{"set": "x", "to": "x + 1"}]}}
    light = {"state": {"x": "int"}, "start": {"x": "0"}, "actions": rest}
    bundle = bundle_of(tmp_path, light, agent=agent, governor=governor)
    plan = compile_scenario(bundle)
    found = [(event.type, event.body) for event in run(plan)]
    assert not plan.check_weights
    assert [type_ for type_, _ in found] == expected
    assert {(body["code"], body["expression"]) for type_, body in found if type_ == "error"} == {("E_CANON_SIZE", "$")}


def test_a_start_state_that_is_too_much_is_none(tmp_path):
    bundle = bundle_of(tmp_path, {"start": {"x": "0", "rows": SQUARE + "[0]"}})
    (found,) = findings_of(compile_scenario, bundle)
    assert found.code == "E_START_ILL_FORMED"
    assert "too much" in found.message


DIGITS = "[range(750).map(i, 9007199254740991 - i)].map(w, w.map(n, w))"
LONG = {  # light values with more than 8 MiB of digits; the types of receipts up to the error
    "an opening": ({"opening": {"w": DIGITS}}, None, ["start", "error", "episode_end", "end"]),
    "a record": ({"record": {"w": DIGITS}}, None, ["start", "episode", "commit", "error", "episode_end", "end"]),
    "a drift": ({}, {"at": "t == 0", "effects": [{"set": "rows", "to": DIGITS + "[0]"}]}, ["start", "episode", "error", "episode_end", "end"]),
    "a witness of an episode": ({}, None, ["start", "episode", "commit", "step", "error", "episode_end", "end"]),
}  # fmt: skip


@pytest.mark.medium
@pytest.mark.parametrize("name", LONG)
def test_a_receipt_that_would_be_too_long_to_be_read_is_an_error_with_evidence(tmp_path, monkeypatch, name):
    monkeypatch.setattr("specledger.core.weight.MAX_WEIGHT", 8_388_608)
    world, drift, expected = LONG[name]
    invariant = {**WARN, "scope": "episode", "witness": {"w": DIGITS}} if "witness" in name else None
    bundle = bundle_of(tmp_path / "specs", world, drift, invariant)
    assert execute(bundle, tmp_path / "out").verdict is Verdict.ERROR
    receipts = [json.loads(line) for line in (tmp_path / "out" / "receipts.jsonl").read_bytes().splitlines()]
    assert [one["type"] for one in receipts] == expected
    assert [one["body"]["code"] for one in receipts if one["type"] == "error"] == ["E_CANON_SIZE"]
    assert verify(tmp_path / "out").verdict is Verdict.PASS  # evidence of an error


CELLS = ListType(RecordType("cell", {"x": INT, "y": INT}))  # weighs 3.8 million at most, of 8.4 that may be hashed
TEXTS = ListType(STRING)
BOUNDS: dict[
    str, tuple[list[Type], list[Type], bool]
] = {  # the types of what is hashed, of what is written; whether one may exceed the limit
    "a list of cells": ([CELLS], [CELLS], False),
    "two lists of cells in a state": ([RecordType("state", {"a": CELLS, "b": CELLS})], [], False),
    "three lists of cells in a state": ([RecordType("state", {"a": CELLS, "b": CELLS, "c": CELLS})], [], True),
    "four lists of cells in a value that is written": ([], [RecordType("", dict.fromkeys("abcd", CELLS))], False),
    "five lists of cells in a value that is written": ([], [RecordType("", dict.fromkeys("abcde", CELLS))], True),
    "a list of texts": ([], [TEXTS], True),
    "anything": ([], [DYN], True),
}


@pytest.mark.parametrize("name", BOUNDS)
def test_values_are_weighed_first_only_where_their_types_allow_too_much(name):
    hashed, written, heavy = BOUNDS[name]
    assert may_exceed_limit(hashed, written) is heavy


@pytest.mark.parametrize(("count", "heavy"), [(4, False), (5, True)])
def test_what_is_written_in_one_table_counts_together(tmp_path, count, heavy):
    cells = "range(3).map(n, {'x': n, 'y': n})"
    light = {
        "state": {"x": "int", "walls": {"type": "array", "items": "cell"}},
        "start": {"x": "0", "walls": cells},
        "record": {f"r{n}": f"walls.filter(w, w.x != {n})" for n in range(count)},
    }
    assert compile_scenario(bundle_of(tmp_path, light)).check_weights is heavy
