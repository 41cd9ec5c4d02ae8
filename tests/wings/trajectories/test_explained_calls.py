"""`spec explain` of a world or a scenario: which recorded calls do not fit its actions, how many, and where first."""

import json
from typing import Any

import pytest

from specledger.core.diagnostics import Rejected
from specledger.lang.statement import lines_of
from specledger.pipeline.explaining import explain, explain_name
from tests.toys import documents_of, findings_of, write_specs

WORLD: dict[str, Any] = {
    "state": {"n": "int"},
    "start": {"n": "0"},
    "actions": {
        "pay": {
            "args": {"amount": "qfixed", "to": "string", "currency": {"type": "string", "enum": ["EUR", "CHF"]}},
            "result": {"ok": "bool"},
        },
        "list": {"args": {"ids": {"type": "array", "items": "int", "maxItems": 9}}},
        "wait": {},
    },
    "observe": {"n": "n"},
}
FINE = {"amount": 5, "to": "Ann", "currency": "EUR"}


def logged(calls):
    """A chat of calls: `(tool, arguments as JSON, result)`, each on a line of its own."""
    lines = []
    for number, (tool, arguments, result) in enumerate(calls):
        id_ = f"c{number}"
        function = {"name": tool, "arguments": arguments if isinstance(arguments, str) else json.dumps(arguments)}
        lines.append({"role": "assistant", "tool_calls": [{"id": id_, "type": "function", "function": function}]})
        if result is not None:
            lines.append({"role": "tool", "tool_call_id": id_, "content": result})
    return "\n".join(map(json.dumps, lines))


def written(folder, calls, **recording):
    (folder / "logs").mkdir()
    (folder / "logs/day.jsonl").write_text(logged(calls), encoding="utf-8")
    agent = {"trajectories": {"files": ["logs/*.jsonl"], **recording}}
    documents = documents_of(WORLD, agent)
    del documents["scenario"]["horizon"]
    return write_specs(folder / "specs", documents)


def calls_of(specs):
    (block,) = (spec for spec in specs if spec.kind == "calls")
    return list(lines_of(block.statements))


MISFITS: dict[str, Any] = {
    "an unknown tool": ([("transfer", FINE, None)], "there is no such action"),
    "an unknown tool, misspelt": ([("lisst", {"ids": []}, None)], "there is no such action; did you mean list?"),
    "a missing argument": ([("pay", {"amount": 5, "currency": "EUR"}, None)], "`args.to` is missing"),
    "an argument of another name": (
        [("list", {"idss": [1]}, None)],
        "`args.ids` is missing; did you mean `args.idss`?",
    ),
    "a text for a number": ([("pay", {**FINE, "amount": "5"}, None)], "`args.amount` is a text, not qfixed"),
    "null": ([("pay", {**FINE, "to": None}, None)], "`args.to` is null, not string"),
    "no choice": ([("pay", {**FINE, "currency": "USD"}, None)], "`args.currency` is none of its choices"),
    "an element": ([("list", {"ids": [1, "2"]}, None)], "`args.ids[1]` is of another type than list<int> has there"),
    "a result": ([("pay", FINE, '{"ok": "yes"}')], "result.ok is of another type than its action declares"),
    "a result that is prose": ([("pay", FINE, "paid")], "the result is of another type than its action declares"),
}


@pytest.mark.parametrize("name", MISFITS)
def test_a_call_that_does_not_fit_is_told_with_its_first_place(tmp_path, name):
    calls, words = MISFITS[name]
    path = written(tmp_path, [("wait", {}, None), *calls, *calls])
    head, first = calls_of(explain(str(path)))
    assert head == "2 of 3 calls do not fit the actions of the world world:"
    assert (
        first
        == f"  - day.jsonl:2, call c1: 2 calls of {calls[0][0]} that do not fit: {words}{'' if words[-1] == '?' else '.'}"
    )


def test_what_fits_and_what_was_left_out_is_no_misfit(tmp_path):
    more = {**FINE, "memo": "an argument that the action does not declare"}
    path = written(tmp_path, [("pay", FINE, '{"ok": true}'), ("pay", more, None), ("wait", {}, "done")])
    assert calls_of(explain(str(path))) == ["All calls fit the actions of the world world: 3 of 3."]


def test_a_tool_without_an_action_is_the_other_one(tmp_path):
    path = written(tmp_path, [("search", {"q": "x"}, None)], otherwise="wait")
    assert calls_of(explain(str(path))) == ["All calls fit the actions of the world world: 1 of 1."]


def test_other_logs_are_named_for_a_world(tmp_path):
    path = written(tmp_path, [])
    other = tmp_path / "other.jsonl"
    other.write_text(logged([("wait", {}, None), ("sleep", {}, None)]), encoding="utf-8")
    world = path.parents[1] / "world/world.yaml"
    assert calls_of(explain(str(world), logs=[other]))[0].startswith("1 of 2 calls does not fit the actions of")
    assert calls_of(explain(str(path), logs=[other]))[0].startswith("1 of 2 calls does not fit the actions of")
    assert [spec.kind for spec in explain(str(world))] == ["world"]


def test_logs_that_are_gone_are_said_to_be(tmp_path):
    path = written(tmp_path, [])
    (tmp_path / "logs/day.jsonl").unlink()
    (line,) = calls_of(explain(str(path)))
    assert line.startswith("No call is compared with actions: no file matches 'logs/*.jsonl'")


def test_a_spec_without_actions_takes_no_logs(tmp_path):
    path = written(tmp_path, [("wait", {}, None)])
    governor = path.parents[1] / "governor/governor.yaml"
    log = tmp_path / "logs/day.jsonl"
    findings_of(explain, str(governor), logs=[log], code="E_EXPLAIN_RULES", words="no actions that calls could fit")
    assert explain_name("no-such-spec", (), [log]) == ()
    with pytest.raises(Rejected):
        explain(str(tmp_path / "nothing.yaml"), logs=[log])
