"""Fixed-point numbers of a run are shown in units wherever people see steps; other programs get what was recorded."""

import html
import json

import pytest
import yaml

from specledger.core.verdict import Exit
from specledger.kinds import load
from specledger.report.trace import step_in_units
from specledger.report.units import express, of_variable, unit_at, units_of, within

WORLD = {
    "spec": "world/v1",
    "name": "purse",
    "constants": {"FREE": 0},
    "functions": {"twofold": {"args": ["a"], "is": "a * 2"}},
    "state": {
        "grid": "field",
        "left": "qfixed",
        "n": "int",
        "m": "int",
        "kept": {"type": "array", "items": "qfixed", "maxItems": 4},
    },
    "start": {"grid": "[[0]]", "left": "10.0", "n": "0", "m": "0", "kept": "[1.5]"},
    "observe": {"left": "left"},
    "actions": {
        "pay": {
            "effects": [
                {"set": "left", "to": "left - 0.25"},
                {"set": "n", "to": "n + 1000000"},
                {"set": "m", "to": "n + 1000000"},
            ]
        },
        "spend": {"args": {"sum": "qfixed"}, "effects": [{"set": "left", "to": "left - sum"}]},
    },
    "record": {
        "left": "next.left",
        "n": "next.n",
        "twice": "twofold(next.n)",
        "less": "100 - millionths(next.left)",
        "cents": "millionths(left) / 10000",
        "dimes": "next.n / 1000 + 5",
        "count": "next.n",
    },
    "opening": {"thousands": "n + 2500"},
    "variables": {
        "purse": {"read": "left"},
        "coins": {"read": "m"},
        "notes": {"read": "m"},
        "kept:<at>": {"over": "kept.map(k, string(millionths(k)))", "read": "kept[0]"},
    },
    "units": {"n": 10_000_000, "dimes": 10, "thousands": 1000, "twofold": 100, "coins": 1000},
    "picture": {
        "cells": "grid",
        "colours": {"FREE": "#ffffff"},
        "charts": {"purse": "left", "quarters": {"of": "left", "unit": 250000}},
    },
}
AGENT = {
    "spec": "agent/v1",
    "name": "payer",
    "candidates": [{"op": "pay"}, {"op": "spend", "for_each": {"sum": "[20.5]"}}],
    "score": "action.op == 'pay' ? millionths(left) : 0",
}
SUM = "n < 0 ? 0 : twofold(n) + 5"
GOVERNOR = {
    "spec": "governor/v1",
    "name": "payee",
    "gates": [
        {"id": "some", "deny": "next.left <= 0.0", "reason": "empty", "witness": {"left": "next.left", "sum": SUM}}
    ],
    "potentials": {"worth": {"is": "millionths(now.left)"}, "twice": {"is": "twofold(now.n)"}},
    "constants": {"FEE": {"qfixed": 0.05}, "MORE": {"qfixed": 2.0}},
    "cost": {"fee": "FEE", "more": "MORE"},
    "choose": {"maximise": "0"},
}
RULE = {
    "spec": "invariant/v1",
    "name": "rich",
    "scope": "step",
    "require": "left > 9.6",
    "witness": {"left": "left", "n": "n"},
}
SCENARIO = {
    "spec": "scenario/v1",
    "name": "paying",
    "world": "./purse.yaml",
    "agent": "./payer.yaml",
    "governor": "./payee.yaml",
    "invariants": ["./rich.yaml"],
    "seed": 1,
    "episodes": 1,
    "horizon": 3,
}


@pytest.fixture
def folder(tmp_path):
    for name, document in (("purse", WORLD), ("payer", AGENT), ("payee", GOVERNOR), ("rich", RULE), ("run", SCENARIO)):
        (tmp_path / f"{name}.yaml").write_text(yaml.safe_dump(document, sort_keys=False), encoding="utf-8")
    return tmp_path


@pytest.fixture
def bundle(spec, folder):
    ran = spec("run", folder / "run.yaml", "--out", folder / "out")
    assert ran.status == Exit.FINDINGS, ran
    return folder / "out"


SHOWN = {
    "a line": (["--most", 2], 'chose 0 {"op":"pay"}  cost 2.05'),
    "a figure": (["--field", "step.record.left"], "0:1  9.5"),
    "a count of millionths": (["--field", "step.record.less"], "0:1  -9.4999"),
    "what a quotient turns into another unit": (["--field", "step.record.cents"], "0:1  975"),
    "an argument": (["--step", "1", "--field", "commit.proposals"], '"sum": 20.5'),
    "a score": (["--step", "1", "--field", "commit.proposals.0.score"], "9.75\n"),
    "what a gate shows": (["--step", "1"], "witness (left -10.75, sum 20000.05)"),
    "a potential": (["--step", "1", "--field", "step.potentials.worth.to"], "9.5\n"),
    "a potential by a function of a declared unit": (["--step", "1", "--field", "step.potentials.twice.to"], "40000\n"),
    "an int of a declared unit": (["--field", "step.record.n"], "0:1  0.2"),
    "a figure of a declared unit": (["--field", "step.record.dimes"], "0:1  200.5"),
    "a state of a declared unit": (["--field", "state.n"], "0:1  0.2"),
    "an opening of a declared unit": (["--field", "episode.opening.thousands"], "0:-  2.5"),
    "digits in groups": (["--step", "1"], "m: 2,000,000"),
    "an int beside it": (["--field", "step.record.count"], "0:1  2000000"),
    "a record": (["--field", "step.cost"], '{"fee":0.05,"more":2,"total":2.05}'),
    "a list in the state": (["--field", "state.kept"], "[1.5]"),
    "an item of it": (["--field", "state.kept.0"], "0:0  1.5"),
    "one step": (["--step", "0:1", "--field", "step.record.left"], "9.5\n"),
}


@pytest.mark.parametrize(("options", "shown"), SHOWN.values(), ids=SHOWN)
def test_a_trace_for_people_is_in_units(options, shown, bundle, spec):
    assert shown in spec("trace", bundle, *options).out


VARIABLES = {
    "fixed point": ("purse", 3_700_000, 3.7),
    "an int of a declared unit": ("coins", 1500, 1.5),
    "an int": ("notes", 1500, 1500),
    "one of a family": ("kept:1500000", 2_250_000, 2.25),
    "none of the world": ("other", 1500, 1500),
}


@pytest.mark.parametrize(("name", "value", "shown"), VARIABLES.values(), ids=VARIABLES)
def test_the_value_of_a_variable_is_in_its_unit(name, value, shown, folder):
    units = units_of(load(folder / "run.yaml")[0])
    assert express(value, of_variable(units, name)) == shown


def test_a_run_without_units_shows_variables_as_they_are():
    assert of_variable({}, "purse") is None


def test_a_trace_shows_what_a_probe_changed_in_units(folder):
    trial = {"variable": "purse", "value": 3_700_000}
    receipts = [{"type": "probe", "body": {"evidence": {"of": "claims", "trials": [trial]}}}]
    (shown,) = step_in_units(receipts, load(folder / "run.yaml")[0])
    assert shown["body"] == {"evidence": {"of": "claims", "trials": [trial | {"value": 3.7}]}}
    assert trial["value"] == 3_700_000


def test_a_trace_for_programs_is_what_was_recorded(bundle, spec):
    lines = json.loads(spec("trace", bundle, "--format", "json").out)["lines"]
    assert [line["cost"] for line in lines if line["type"] == "step"] == [2_050_000] * len(lines[1:-1])


def test_reports_are_in_units(bundle, spec):
    assert "| `more` | 4 |" in spec("report", bundle).out
    assert '{"left":9.5,"n":0.2}' in html.unescape(spec("report", bundle, "--format", "junit").out)
    picture = spec("report", bundle, "--format", "svg").out
    assert ">9.6<" in picture
    assert "9750000" not in picture
    assert ">38.8<" in picture  # quarters: the unit that a chart names


@pytest.mark.medium
def test_a_difference_for_people_is_in_units(bundle, spec, tmp_path):
    path = tmp_path / "payee.yaml"
    path.write_text(path.read_text().replace("0.05", "0.15"), encoding="utf-8")
    spec("run", tmp_path / "run.yaml", "--out", tmp_path / "other")
    difference = spec("diff", bundle, tmp_path / "other")
    assert "body.cost.fee: 0.05 -> 0.15" in difference.out
    changes = json.loads(spec("diff", bundle, tmp_path / "other", "--format", "json").out)["receipts"]["changes"]
    assert {"path": "body.cost.fee", "first": "50000", "second": "150000"} in changes


TREE = {"a": 1_000_000, "b": {"*": {"c": 1_000_000}}}
VALUES = {
    "a number": (996_300_000, 1_000_000, 996.3),
    "whole": (3_000_000, 1_000_000, 3),
    "negative": (-50_000, 1_000_000, -0.05),
    "another unit": (-1_205, 100, -12.05),
    "no number": (True, 1_000_000, True),
    "nothing fixed": ([1_000_000], None, [1_000_000]),
    "too many digits for a double": (2**53 - 1, 1_000_000, "9007199254.740991"),
    "by field and by item": (
        {"a": 1_500_000, "b": [{"c": 1, "d": 1}], "e": 1},
        TREE,
        {"a": 1.5, "b": [{"c": 0.000001, "d": 1}], "e": 1},
    ),
    "another shape": ("text", TREE, "text"),
}


@pytest.mark.parametrize(("value", "units", "shown"), VALUES.values(), ids=VALUES)
def test_a_value_in_units(value, units, shown):
    assert express(value, units) == shown


def test_the_unit_of_a_place():
    assert (unit_at(TREE, ["b", "0", "c"]), unit_at(TREE, ["b"]), unit_at(TREE, ["e"])) == (1_000_000, 1, 1)
    assert within(TREE, ["a", "b"]) is None


WRONG_UNITS = {
    "no int of the world": (
        "thousand: 100",
        "'thousand' is no int of the state, `record`, `opening`, `receipt` or `variables`, and no function",
        "did you mean 'thousands'?",
    ),
    "fixed point has a unit of its own": ("left: 100", "'left' is no int", ""),
    "no power of ten": ("n: 250", "expected: 10, 100, 1000", ""),
    "one": ("n: 1", "10", ""),
    "text": ("n: cents", "found: the text `cents`", ""),
}


@pytest.mark.parametrize(("units", "says", "hint"), WRONG_UNITS.values(), ids=WRONG_UNITS)
def test_units_that_are_wrong_are_findings_at_their_line(units, says, hint, spec, tmp_path):
    document = {name: value for name, value in WORLD.items() if name != "units"}
    text = yaml.safe_dump(document, sort_keys=False) + f"units:\n  {units}\n"
    (tmp_path / "purse.yaml").write_text(text, encoding="utf-8")
    checked = spec("check", tmp_path / "purse.yaml")
    assert checked.status == Exit.INVALID, checked
    assert says in checked.out + checked.err
    assert hint in checked.out + checked.err
    assert f"purse.yaml:{len(text.splitlines())}:" in checked.out + checked.err


SCORES = {
    "the difference of a fraction and a million of each": ("bonus - ONE * claims.V_task_proposal", 1_000_000),
    "a million of each alone": ("claims.V_task_proposal * 1000000", 1_000_000),
    "in one case": ("action.dir == 'Stay' ? -1000000 : ONE * claims.V_task_proposal", 1_000_000),
    "another factor": ("1000 * claims.V_task_proposal", None),
    "no factor": ("claims.V_task_proposal", None),
}


@pytest.mark.parametrize(("score", "unit"), SCORES.values(), ids=SCORES)
def test_a_score_in_which_a_million_stands_for_one_is_shown_in_ones(score, unit):
    bundle = load("hazard", kind="scenario", set=[f"agent.score={json.dumps(score)}"])[0]
    assert within(units_of(bundle), ["commit", "proposals", "0", "score"]) == unit
