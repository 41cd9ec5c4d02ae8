"""Focus variables of any world, on shelves of jars: names, reading, edits and what is no edit, normal forms, labels."""

import copy
import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from specledger.core.diagnostics import Diagnostics, Rejected
from specledger.expr import EvaluationError
from specledger.kinds import load
from specledger.worlds.check import check_world
from specledger.worlds.emit import UnknownActionError
from specledger.worlds.model import World
from specledger.worlds.variables import MOST_NAME, MOST_TRIES, UnknownVariableError, Variables

Document = dict[str, Any]

JAR: Document = {
    "type": "object",
    "properties": {"id": "string", "level": {"type": "integer", "minimum": 0, "maximum": 9}},
}
JARS: Document = {
    "constants": {"ROOM": 20},
    "types": {"jar": JAR},
    "state": {"jars": {"type": "array", "items": "jar", "maxItems": 4}, "hour": {"type": "integer", "minimum": 0}},
    "start": {"jars": "[]", "hour": 0},
    "functions": {"level": {"args": ["id"], "is": "jars.filter(j, j.id == id)[0].level"}},
    "derived": {"total": "sum(jars.map(j, j.level))"},
    "well_formed": [{"id": "room", "require": "total <= ROOM"}, {"id": "week", "require": "now.hour <= 99999"}],
    "actions": {
        "fill": {"args": {"id": "string", "by": "int"}},
        "pour": {"args": {"source": "string", "target": "string"}},
        "stir": {"args": {"id": "string"}},
        "wait": {},
    },
    "context": {"hour": "hour"},
    "variables": {
        "hour": {"doc": "the hour of the day", "read": "hour", "effects": [{"set": "hour", "to": "value"}]},
        "even": {"read": "hour % 2 == 0", "require": "hour > 0", "effects": [{"set": "hour", "to": "hour + 1"}]},
        "jars.all": {
            "read": "sort_by(jars, ['id'])",
            "normal": "sort_by(value, ['id'])",
            "effects": [{"set": "jars", "to": "value"}],
        },
        "weight": {"read": "3 * total"},
        "later": {
            "read": "hour - 100",
            "require": "hour + value < 99",
            "effects": [{"set": "hour", "to": "hour / (value + 1)"}],
        },
        "level:<id>": {
            "doc": "what is in <id>",
            "over": "jars.map(j, j.id)",
            "read": "level(id)",
            "effects": [{"each": "jars", "as": "j", "where": "j.id == id", "update": {"level": "value"}}],
        },
        "total": {
            "read": "total",
            "try": {
                "for": "jars.map(j, j.id)",
                "as": "which",
                "require": "level(which) + value - total >= 0",
                "effects": [
                    {
                        "each": "jars",
                        "as": "j",
                        "where": "j.id == which",
                        "update": {"level": "j.level + value - total"},
                    }
                ],
            },
        },
    },
    "alternatives": {"hour": "[hour, hour + 1, 5, 5, -1]", "level:<id>": "[value - 1, 0]"},
    "labels": {"fill": "'fill ' + id + ' by ' + string(by)"},
}
STATE: Document = {"jars": [{"id": "b", "level": 2}, {"id": "a", "level": 7}], "hour": 4}


def checked(folder: Path, **changes: Any) -> tuple[World | None, tuple[str, ...]]:
    document = json.loads(json.dumps({"spec": "world/v1", "name": "shelf", **JARS, **changes}))
    (folder / "shelf.yaml").write_text(yaml.safe_dump(document, sort_keys=False), encoding="utf-8")
    bundle = load(folder / "shelf.yaml")[0]
    found = Diagnostics()
    world = check_world(bundle.main, bundle, found)
    return world, tuple(f"{one.code}: {one.message}" for one in found.sorted())


def variables_of(folder: Path, **changes: Any) -> Variables:
    world, found = checked(folder, **changes)
    assert found == ()
    assert world is not None
    return Variables(world)


@pytest.fixture
def jars(tmp_path: Path) -> Variables:
    return variables_of(tmp_path)


def test_names_are_those_of_the_state_sorted(jars: Variables) -> None:
    plain = ["even", "hour", "jars.all", "later", "total", "weight"]
    assert jars.names(STATE) == sorted([*plain, "level:a", "level:b"])
    assert jars.names({"jars": [], "hour": 0}) == plain


def test_each_variable_is_described_by_its_type_its_meaning_and_its_present_value(jars: Variables) -> None:
    found = jars.describe(STATE)
    assert sorted(found) == jars.names(STATE)
    assert found["hour"] == {"type": {"type": "integer"}, "doc": "the hour of the day", "value": 4}
    assert found["level:a"] == {"type": {"type": "integer"}, "doc": "what is in a", "value": 7}
    assert found["even"] == {"type": {"type": "boolean"}, "doc": "", "value": True}
    assert found["jars.all"]["type"]["items"]["required"] == ["id", "level"]
    assert all(found[name]["value"] == jars.read(STATE, name) for name in found)


def test_a_variable_that_cannot_be_read_now_has_no_value(tmp_path: Path) -> None:
    given = variables_of(tmp_path, variables={"share": {"doc": "of an hour", "read": "60 / hour"}}, alternatives={})
    assert given.describe({"jars": [], "hour": 0}) == {"share": {"type": {"type": "integer"}, "doc": "of an hour"}}


@pytest.mark.medium
def test_every_shipped_variable_says_what_it_means() -> None:
    worlds = [load(path)[0].main.data for path in sorted(Path("specs/world").glob("*.yaml"))]
    named = [(one["name"], name, about) for one in worlds for name, about in one.get("variables", {}).items()]
    assert len(named) > 20
    assert [(world, name) for world, name, about in named if not about.get("doc")] == []


def test_a_name_that_no_proposal_can_hold_is_left_out(jars: Variables) -> None:
    fits, long = "x" * (MOST_NAME - len("level:")), "x" * (MOST_NAME - len("level:") + 1)
    state = {"jars": [{"id": fits, "level": 1}, {"id": long, "level": 1}, {"id": "", "level": 1}], "hour": 0}
    assert [name for name in jars.names(state) if name.startswith("level:")] == [f"level:{fits}"]


READINGS = {"hour": 4, "even": True, "total": 9, "weight": 27, "level:a": 7, "jars.all": STATE["jars"][::-1]}


@pytest.mark.parametrize(("name", "value"), READINGS.items(), ids=READINGS)
def test_a_variable_is_read(jars: Variables, name: str, value: object) -> None:
    assert jars.read(STATE, name) == value


@pytest.mark.parametrize(
    "name", ["level:c", "level:", "level", "levels:a", "", "now", "jars", "total:<id>", "level:<id>"]
)
def test_what_is_no_variable_is_told(jars: Variables, name: str) -> None:
    for ask in (
        lambda: jars.read(STATE, name),
        lambda: jars.mutate(STATE, name, 1),
        lambda: jars.alternatives(STATE, name),
        lambda: jars.normalize(STATE, ["hour", name]),
    ):
        with pytest.raises(UnknownVariableError):
            ask()


EDITS: dict[str, tuple[str, Any, Any, Document]] = {
    "a plain one": ("hour", 9, None, {"hour": {"from": 4, "to": 9}}),
    "what it is already": ("hour", 4, None, {}),
    "another value than is set": ("even", False, None, {"hour": {"from": 4, "to": 5}}),
    "one of many": (
        "level:a",
        0,
        None,
        {"jars": {"from": STATE["jars"], "to": [{"id": "b", "level": 2}, {"id": "a", "level": 0}]}},
    ),
    "a derived one by its first edit": (
        "total",
        8,
        "b",
        {"jars": {"from": STATE["jars"], "to": [{"id": "b", "level": 1}, {"id": "a", "level": 7}]}},
    ),
    "a derived one by a later edit": (
        "total",
        5,
        "a",
        {"jars": {"from": STATE["jars"], "to": [{"id": "b", "level": 2}, {"id": "a", "level": 3}]}},
    ),
}


@pytest.mark.parametrize(("name", "value", "by", "changed"), EDITS.values(), ids=EDITS)
def test_an_edit_is_made_and_recorded(jars: Variables, name: str, value: Any, by: Any, changed: Document) -> None:
    before = copy.deepcopy(STATE)
    found = jars.mutate(STATE, name, value)
    assert found is not None
    after, edit = found
    assert edit == {"variable": name, "value": value, "by": by, "changed": changed}
    assert after == {**STATE, **{field: change["to"] for field, change in changed.items()}}
    assert jars.read(after, name) == value
    assert before == STATE


def test_a_value_is_wanted_in_its_normal_form(jars: Variables) -> None:
    given = [{"id": "z", "level": 1}, {"id": "c", "level": 2}]
    found = jars.mutate(STATE, "jars.all", given)
    assert found is not None
    assert found[1]["value"] == jars.read(found[0], "jars.all") == given[::-1]


UNREACHABLE: dict[str, tuple[str, Any]] = {
    "another type": ("hour", "4"),
    "a bool for an int": ("hour", True),
    "a double for an int": ("hour", 4.0),
    "outside the declared range": ("hour", -1),
    "beyond 64 bits": ("hour", 2**70),
    "nothing": ("hour", None),
    "a record with another field": ("jars.all", [{"id": "a", "level": 1, "lid": True}]),
    "more elements than there may be": ("jars.all", [{"id": str(n), "level": 0} for n in range(5)]),
    "no edit at all": ("weight", 6),
    "an edit that gives something else": ("even", True),
    "a level that no jar holds": ("level:a", 10),
    "no edit of the list does it": ("total", 19),
    "a condition of the world would break": ("jars.all", [{"id": str(n), "level": 9} for n in range(3)]),
    "a condition of the whole state would break": ("hour", 100_000),
    "more than it can ever be": ("total", 2**63 - 1),
    "its condition cannot be computed": ("later", 2**63 - 1),
    "its edit cannot be computed": ("later", -1),
}


@pytest.mark.parametrize(("name", "value"), UNREACHABLE.values(), ids=UNREACHABLE)
def test_an_unreachable_value_is_none(jars: Variables, name: str, value: Any) -> None:
    assert jars.mutate(STATE, name, value) is None
    assert jars.mutate({**STATE, "hour": 0}, "even", False) is None  # it may not be tried


def test_a_condition_that_was_broken_before_may_stay_broken(jars: Variables) -> None:
    """Whether an edit changes something else or what the condition reads."""
    heavy = {"jars": [{"id": str(n), "level": 9} for n in range(3)], "hour": 1}
    still = [{"id": str(n), "level": 8 if n == 0 else 9} for n in range(3)]
    for name, value, field in (("hour", 2, "hour"), ("jars.all", still, "jars")):
        found = jars.mutate(heavy, name, value)
        assert found is not None
        assert found[0] == {**heavy, field: value}


def test_an_edit_that_is_tried_for_each_element_breaks_no_condition_either(jars: Variables) -> None:
    full = {"jars": [{"id": "a", "level": 9}, {"id": "b", "level": 9}, {"id": "c", "level": 2}], "hour": 1}
    assert jars.mutate(full, "total", 19) is not None
    assert jars.mutate(full, "total", 21) is None  # the third jar could hold it


def test_an_edit_may_not_take_away_what_is_edited(tmp_path: Path) -> None:
    gone = {
        "level:<id>": {
            "over": "jars.map(j, j.id)",
            "read": "sum(jars.filter(j, j.id == id).map(j, j.level))",
            "effects": [{"remove": "jars", "as": "j", "where": "j.id == id"}],
        }
    }
    assert variables_of(tmp_path, variables=gone, alternatives={}).mutate(STATE, "level:a", 0) is None


def test_only_so_many_edits_are_tried(tmp_path: Path) -> None:
    tried = {"for": "range(9999)", "as": "n", "require": "n == value", "effects": [{"set": "hour", "to": "n"}]}
    variables = variables_of(tmp_path, variables={"hour": {"read": "hour", "try": tried}}, alternatives={})
    assert variables.mutate(STATE, "hour", MOST_TRIES - 1) is not None
    assert variables.mutate(STATE, "hour", MOST_TRIES) is None


def test_alternatives_are_others_that_fit_each_once(jars: Variables) -> None:
    assert jars.alternatives(STATE, "hour") == [5]
    assert jars.alternatives({**STATE, "hour": 8}, "hour") == [9, 5]
    assert jars.alternatives(STATE, "level:a") == [6, 0]
    assert jars.alternatives({"jars": [{"id": "a", "level": 0}], "hour": 0}, "level:a") == []
    assert jars.alternatives(STATE, "total") == []


def test_a_normal_form_has_the_context_and_what_was_asked_for(jars: Variables) -> None:
    seen = jars.normalize(STATE, ["total", "level:b", "level:b", "hour"])
    assert seen == {"hour": 4, "focus": {"hour": 4, "level:b": 2}, "derived": {"total": 9}}
    assert seen == jars.normalize(STATE, ("hour", "total", "level:b"))
    assert jars.normalize(STATE, []) == {"hour": 4, "focus": {}, "derived": {}}


LABELS: dict[str, tuple[Document, str]] = {
    "as the world says": ({"op": "fill", "id": "a", "by": 2}, "fill a by 2"),
    "no arguments": ({"op": "wait"}, "wait"),
    "its arguments by name": ({"target": "b", "op": "pour", "source": "a"}, 'pour:"a":"b"'),
    "arguments that look like two": ({"op": "pour", "source": 'a":"b', "target": ""}, 'pour:"a\\":\\"b":""'),
}


@pytest.mark.parametrize(("action", "label"), LABELS.values(), ids=LABELS)
def test_a_choice_has_a_label(jars: Variables, action: Document, label: str) -> None:
    assert jars.label(action) == label


def test_a_long_label_is_cut_and_stays_its_own(jars: Variables) -> None:
    one, other = (jars.label({"op": "stir", "id": "x" * 200 + end}) for end in "ab")
    assert len(one) == len(other) == MOST_NAME
    assert one != other
    assert one.startswith('stir:"xxx')


@pytest.mark.parametrize(
    "action",
    [{}, {"op": "boil"}, {"op": "fill"}, {"op": "wait", "id": "a"}, {"op": "fill", "id": 1, "by": 1}, {"op": ["wait"]}],
)
def test_what_is_no_action_has_no_label(jars: Variables, action: Document) -> None:
    with pytest.raises(UnknownActionError):
        jars.label(action)


def test_a_reading_that_fails_is_an_evaluation_error(tmp_path: Path) -> None:
    variables = variables_of(tmp_path, variables={"share": {"read": "total / size(jars)"}}, alternatives={})
    with pytest.raises(EvaluationError):
        variables.read({"jars": [], "hour": 0}, "share")


HOUR: Document = {"read": "hour"}
WRONG: dict[str, tuple[Document, str]] = {
    "a parameter without texts": ({"variables": {"h:<id>": HOUR}}, "E_VARIABLE: `over` goes with a name"),
    "texts without a parameter": ({"variables": {"h": {**HOUR, "over": "['a']"}}}, "E_VARIABLE: `over` goes with a name"),
    "texts that are none": ({"variables": {"h:<id>": {**HOUR, "over": "[1]"}}}, "E_EXPR_TYPE"),
    "two families of one name": (
        {"variables": {"h:<id>": {**HOUR, "over": "['a']"}, "h:b<id>": {**HOUR, "over": "['a']"}}},
        "E_VARIABLE: 'h:<id>' and 'h:b<id>' can name the same",
    ),
    "a member of a family by its own": (
        {"variables": {"h:<id>": {**HOUR, "over": "['a']"}, "h:noon": HOUR}},
        "E_VARIABLE: 'h:<id>' and 'h:noon' can name the same",
    ),
    "a parameter that is a field": ({"variables": {"h:<hour>": {**HOUR, "over": "['a']"}}}, "E_NAME_TAKEN"),
    "an element that is a field": (
        {"variables": {"h": {**HOUR, "try": {"for": "[1]", "as": "hour", "effects": [{"set": "hour", "to": 1}]}}}},
        "E_NAME_TAKEN",
    ),
    "a value of another type": ({"variables": {"h": {**HOUR, "effects": [{"set": "hour", "to": "''"}]}}}, "E_EXPR_TYPE"),
    "a field that is not there": ({"variables": {"h": {**HOUR, "effects": [{"set": "day", "to": "value"}]}}}, "E_EFFECT_TARGET"),
    "what is tried is no list": (
        {"variables": {"h": {**HOUR, "try": {"for": "1", "as": "n", "effects": [{"set": "hour", "to": 1}]}}}},
        "E_DECLARATION: what is tried comes from a list",
    ),
    "a normal form of another type": ({"variables": {"h": {**HOUR, "normal": "[value]"}}}, "E_EXPR_TYPE"),
    "a double": ({"variables": {"h": {"read": "double(hour)"}}}, "E_NOT_SEALABLE"),
    "a context that is a double": ({"context": {"c": "0.5"}}, "E_NOT_SEALABLE"),
    "a context that hides the variables": ({"context": {"derived": "hour"}}, "E_VARIABLE: the variables themselves"),
    "alternatives of nothing": ({"alternatives": {"day": "[1]"}}, "E_VARIABLE: there is no variable 'day'"),
    "alternatives of another type": ({"alternatives": {"hour": "['noon']"}}, "E_EXPR_TYPE"),
    "a label of nothing": ({"labels": {"boil": "'x'"}}, "E_VARIABLE: the world has no action 'boil'"),
    "a label that is no text": ({"labels": {"fill": "by"}}, "E_EXPR_TYPE"),
    "a label that reads the state": ({"labels": {"fill": "string(hour)"}}, "E_EXPR_UNKNOWN_NAME"),
}  # fmt: skip


@pytest.mark.parametrize(("changes", "finding"), WRONG.values(), ids=WRONG)
def test_a_mistake_is_one_finding(tmp_path: Path, changes: Document, finding: str) -> None:
    if "variables" in changes:
        changes = {"alternatives": {}, **changes}
    _, found = checked(tmp_path, **changes)
    assert len(found) == 1, found
    assert found[0].startswith(finding), found


@pytest.mark.parametrize(
    "variable",
    [
        {"read": "hour", "effects": [{"set": "hour", "to": "1"}], "try": {"for": "[1]", "as": "n", "effects": []}},
        {"effects": [{"set": "hour", "to": "1"}]},
        {"read": "hour", "effects": []},
    ],
    ids=["two ways", "no reading", "no effects"],
)
def test_a_malformed_variable_is_refused_by_its_shape(tmp_path: Path, variable: Document) -> None:
    with pytest.raises(Rejected):
        checked(tmp_path, variables={"h": variable}, alternatives={})


@pytest.mark.parametrize("name", ["1h", "h<>", "h<a><b>", "h:<id", "h b", "h" * 81, "<id>"])
def test_a_malformed_name_is_refused_by_its_shape(tmp_path: Path, name: str) -> None:
    with pytest.raises(Rejected):
        checked(tmp_path, variables={name: HOUR}, alternatives={})
