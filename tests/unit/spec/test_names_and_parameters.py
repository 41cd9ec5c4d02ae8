"""Names that authors give: which are refused, where, and how often; parameters that are expressions."""

from typing import Any

import pytest

from specledger.expr.check.environment import ENGINE_NAMES
from specledger.kinds import load
from specledger.pipeline.checking import check
from specledger.suites.figures import PlannedFigure, compute
from tests.toys import FREE, bodies, compile_specs, documents_of, findings_of, plan_of, write_specs

WORLD: dict[str, Any] = {
    "state": {"n": "int"},
    "start": {"n": "0"},
    "actions": {"go": {"effects": [{"set": "n", "to": "n + 1"}]}},
    "observe": {"n": "n"},
    "record": {"n": "next.n"},
}
AGENT: dict[str, Any] = {"candidates": [{"op": "go"}], "score": "n"}


def test_ids_of_gates_conditions_and_writes_have_hyphens(tmp_path):
    world = {**WORLD, "well_formed": [{"id": "no-debt", "require": "n >= 0"}]}
    governor = {
        **FREE,
        "memory": {"fields": {"seen_most": {"type": "int", "start": "n"}}},
        "remember": [{"id": "write-it", "effect": {"set": "seen_most", "to": "seen.n"}}],
        "gates": [{"id": "not-much", "deny": "next.n > 2", "reason": "much"}],
    }
    path = write_specs(tmp_path, documents_of(world, AGENT, governor, horizon=4, on_denied="tell"))
    assert [bool(step["decisions"][0]["rejected"]) for step in bodies(plan_of(path))] == [False, False, True, True]
    changed = plan_of(path, "governor.gates.not-much.deny=next.n > 3")
    assert [bool(step["decisions"][0]["rejected"]) for step in bodies(changed)] == [False, False, False, True]


@pytest.mark.parametrize("name", sorted(ENGINE_NAMES))
def test_a_reserved_name_is_refused_in_a_lone_spec_as_in_its_scenario(tmp_path, name):
    agent = {**AGENT, "memory": {"fields": {name: {"type": "int", "start": "0"}}}}
    path = write_specs(tmp_path, documents_of(WORLD, agent))
    found = findings_of(plan_of, path, code="E_NAME_TAKEN", words=f"{name!r} is a name that the engine gives")
    lone = check([str(tmp_path / "agent" / "agent.yaml")])[1]
    assert [(one.code, one.message, one.span) for one in lone] == [
        (one.code, one.message, one.span) for one in found if one.code == "E_NAME_TAKEN"
    ]


@pytest.mark.parametrize("name", ["here", "beside", "size", "op", "args", "inputs", "range", "t", "actor"])
def test_other_words_of_the_engine_are_free(tmp_path, name):
    world = {**WORLD, "state": {"n": "int", name: "int"}, "start": {"n": "0", name: "7"}}
    world["actions"] = {"go": {"effects": [{"set": "n", "to": f"n + {name} + size([1])"}]}}
    world["observe"] = {"n": "n", name: name}
    agent = {**AGENT, "score": f"n + {name}"}
    assert bodies(compile_specs(tmp_path, documents_of(world, agent)))[0]["record"] == {"n": 8}


def test_a_function_cannot_have_the_name_of_one_of_the_engine(tmp_path):
    world = {**WORLD, "functions": {"beside": {"args": ["x"], "is": "x"}}}
    findings_of(compile_specs, tmp_path, documents_of(world, AGENT), code="E_NAME_TAKEN", words="'beside' is already")


def test_what_is_wrong_in_a_derived_value_is_reported_once(tmp_path):
    world = {
        **WORLD,
        "derived": {"left": "10 - m", "half": "left / 2"},
        "observe": {"n": "n", "left": "left"},
        "record": {"left": "next.left", "half": "half"},
        "success": "left == 0",
    }
    found = findings_of(compile_specs, tmp_path, documents_of(world, AGENT))
    assert [(one.code, "`m`" in one.message) for one in found] == [("E_EXPR_CAPTURE", True)]


COUNTED = {"is": "x + 1", "args": ["x"]}

REFUSED: dict[str, tuple[dict[str, Any], dict[str, Any], str]] = {
    "a function": ({"functions": {"cost": COUNTED}, "success": "cost(n) > 3"}, {}, "cost"),
    "a function that another one calls": (
        {"functions": {"cost": COUNTED, "more": {"args": ["x"], "is": "cost(x)"}}, "success": "more(n) > 3"}, {}, "cost",
    ),
    "a function that nothing calls": ({"functions": {"cost": COUNTED, "more": {"args": [], "is": "cost(1)"}}}, {}, "cost"),
    "a function with a standard name": (
        {"functions": {"size": COUNTED}, "success": "size(n) > 3"}, {}, "size",
    ),
    "a function with a parameter twice": (
        {"functions": {"up": {"args": ["x", "x"], "is": "x"}}, "success": "up(n, n) > 3"}, {}, "x",
    ),
    "a function that the agent calls": ({"functions": {"cost": COUNTED}}, {"score": "cost(n)"}, "cost"),
    "a constant": ({"constants": {"cost": 3}, "success": "n > cost"}, {}, "cost"),
    "a constant that the agent reads": ({"constants": {"cost": 3}}, {"score": "n + cost"}, "cost"),
    "a field": ({"state": {"n": "int", "seen": "int"}, "start": {"n": "0", "seen": "0"}, "success": "n > seen"}, {}, "seen"),
    "a derived value": ({"derived": {"cost": "n + 1"}, "success": "cost > 3"}, {}, "cost"),
    "a let": ({"actions": {"go": {"let": {"cost": "n > 1"}, "when": "cost"}}}, {}, "cost"),
    "a let of another type than the field": ({"actions": {"go": {"let": {"n": "n > 1"}, "when": "n"}}}, {}, "n"),
    "an argument": (
        {"actions": {"go": {"args": {"cost": {"enum": [1]}}, "when": "n < cost"}}},
        {"candidates": [{"op": "go", "for_each": {"cost": "[1]"}}]},
        "cost",
    ),
    "a field of a memory": (
        {},
        {
            "memory": {"fields": {"cost": {"type": "bool", "start": "false"}}},
            "remember": [{"id": "up", "when": "cost", "effect": {"set": "cost", "to": "!cost"}}],
            "score": "cost ? 1 : 0",
        },
        "cost",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("world", "agent", "name"), REFUSED.values(), ids=REFUSED)
def test_a_refused_name_is_reported_once_whatever_reads_it(tmp_path, world, agent, name):
    path = write_specs(tmp_path, documents_of({**WORLD, **world}, {**AGENT, **agent}))
    found = findings_of(plan_of, path)
    assert [(one.code, repr(name) in one.message) for one in found] == [("E_NAME_TAKEN", True)]
    assert [one.code for one in check([str(path)])[1]] == ["E_NAME_TAKEN"]


def test_beside_a_refused_name_other_unknown_names_are_reported(tmp_path):
    world = {**WORLD, "constants": {"cost": 3}, "success": "n + missing > cost"}
    found = findings_of(compile_specs, tmp_path, documents_of(world, AGENT))
    assert [one.code for one in found] == ["E_NAME_TAKEN", "E_EXPR_UNKNOWN_NAME"]


def test_groups_of_a_figure_are_sorted_as_numbers():
    values = {"by-n.n=10": 10, "by-n.n=9": 9, "by-n.n=-1": -1, "by-n.n=100": 100}
    cases = {arm: {"n": value} for arm, value in values.items()}
    figure = PlannedFigure("f", "sum", tuple(values), "arm", 0, cases)
    runs = [{"run": arm, "arm": arm, "scenario": "s", "seed": 1, "samples": {"f": [[1]]}} for arm in values]
    assert [record["case"]["n"] for record in compute(figure, runs)] == [-1, 9, 10, 100]
    seeds = PlannedFigure("f", "sum", ("a",), "seed", 0)
    runs = [
        {"run": str(seed), "arm": "a", "scenario": "s", "seed": seed, "samples": {"f": [[1]]}} for seed in (10, 9, 2)
    ]
    assert [record["name"] for record in compute(seeds, runs)] == ["2", "9", "10"]


RULES: dict[str, Any] = {
    **FREE,
    "params": {"risky": {"type": "expression", "default": "false"}, "most": "int"},
    "constants": {"MOST": "${most}"},
    "gates": [
        {"id": "risky", "deny": "${risky}", "reason": "risky"},
        {"id": "most", "deny": "next.n > MOST", "reason": "much"},
    ],
}


def with_rules(folder, **arguments):
    found = documents_of(WORLD, AGENT, RULES, horizon=4, on_denied="tell")
    found["scenario"]["governor"] = {"use": "governor", "with": arguments}
    return write_specs(folder, found)


def test_a_parameter_is_an_expression_that_is_typed_where_it_stands(tmp_path):
    steps = bodies(plan_of(with_rules(tmp_path, most=9, risky="next.n == 2 && t == 1")))
    assert [bool(step["decisions"][0]["rejected"]) for step in steps] == [False, True, False, False]
    assert bodies(plan_of(with_rules(tmp_path, most=9, risky=True)))[0]["chosen"] is None


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        ({"risky": "next.m > 2", "most": 1}, "E_EXPR_UNKNOWN_FIELD", "no field `m`"),
        ({"risky": "1 +", "most": 1}, "E_EXPR_SYNTAX", "ends too early"),
        ({"risky": "next.n", "most": 1}, "E_EXPR_TYPE", "does not fit"),
        ({"risky": [1], "most": 1}, "E_PARAM_TYPE", "of the type expression"),
        ({"risky": "false"}, "E_PARAM_MISSING", "needs a value for its parameter `most`"),
    ],
)
def test_what_is_wrong_in_an_argument_is_found_where_it_was_given(tmp_path, arguments, code, words):
    findings_of(plan_of, with_rules(tmp_path, **arguments), code=code, words=words, file="scenario.yaml")


def test_a_parameter_that_its_only_user_gives_is_no_finding_of_a_folder(tmp_path):
    with_rules(tmp_path / "specs", most=9)
    files = sorted(str(path) for path in tmp_path.rglob("*.yaml"))
    specs, found = check(files)
    assert found == ()
    assert sorted(spec.file for spec in specs) == files
    (alone,), found = check([str(tmp_path / "specs" / "governor" / "governor.yaml")])
    assert (found, alone.typed) == ((), True), "its user beside it is looked at"


def test_an_expression_has_no_bounds(tmp_path):
    rules = {**RULES, "params": {**RULES["params"], "risky": {"type": "expression", "minimum": 1}}}
    found = documents_of(WORLD, AGENT, rules)
    findings_of(load, str(write_specs(tmp_path, found)), code="E_PARAM_DECLARATION", words="expression has no bounds")


LIMITED: dict[str, Any] = {
    **FREE,
    "params": {"limit": {"type": "expression"}},
    "gates": [{"id": "over", "deny": "${limit}", "reason": "over"}],
}


@pytest.mark.parametrize(
    ("param", "given", "code", "file"),
    [
        ("expression", {"limit": "next.m > 2"}, "E_EXPR_UNKNOWN_FIELD", "scenario"),
        ("expression", {"limit": "next.n > > 2"}, "E_EXPR_SYNTAX", "scenario"),
        ("expression", {}, "E_PARAM_MISSING", "scenario"),
        ("expresion", {"limit": "next.n > 2"}, "E_PARAM_DECLARATION", "governor"),
    ],
)
def test_a_mistake_of_a_parameter_is_reported_where_it_was_made_alone(tmp_path, param, given, code, file):
    governor = {**LIMITED, "params": {"limit": {"type": param}}}
    documents = documents_of(WORLD, AGENT, governor)
    documents["scenario"]["governor"] = {"use": "governor", "with": given}
    path = write_specs(tmp_path / "specs", documents)
    files = sorted(map(str, (tmp_path / "specs").glob("*/*.yaml")))
    checked, found = check(files)
    assert [(one.code, str(one.span).partition(":")[0]) for one in found] == [
        (code, str(tmp_path / "specs" / file / f"{file}.yaml"))
    ]
    assert str(path) not in {spec.file for spec in checked}


def test_a_parameter_that_nothing_gives_is_missing(tmp_path):
    write_specs(tmp_path / "specs", documents_of(WORLD, AGENT, others={"governor/other": LIMITED}))
    files = sorted(map(str, (tmp_path / "specs").glob("*/*.yaml")))
    assert [one.code for one in check(files)[1]] == ["E_PARAM_MISSING"]
