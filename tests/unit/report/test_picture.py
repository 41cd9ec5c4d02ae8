"""What a world's picture names must be there: each mistake is a finding at its place, with the name that was meant."""

import copy
from pathlib import Path
from typing import Any

import pytest
import yaml

from specledger.core.diagnostics import Rejected
from specledger.pipeline.checking import check

WORLD: dict[str, Any] = {
    "spec": "world/v1",
    "name": "room",
    "constants": {"FREE": 0, "BLOCK": 1, "SAME": 1, "YES": True},
    "state": {"at": "cell", "grid": "field", "n": "int"},
    "start": {"at": "{'x': 0, 'y': 0}", "grid": "[[0]]", "n": 0},
    "actions": {"wait": {}},
    "record": {"where": "at", "number": "at.y * 256 + at.x", "far": "n > 1"},
    "picture": {
        "cells": "grid",
        "colours": {"FREE": "#ffffff", "BLOCK": {"light": "#000000", "dark": "#888888"}},
        "tokens": {
            "one": {"start": "at", "each": "where", "colour": "#ff0000"},
            "other": {"start": "at", "each": "number", "colour": "#00ff00", "shape": "square"},
        },
        "charts": {"n": "number", "half": {"of": "number", "unit": 2}},
    },
}

MISTAKES = {
    "cells is no field": ("cells", "n", "E_EXPR_TYPE", None),
    "cells is misspelt": ("cells", "grd", "E_EXPR_UNKNOWN_NAME", "grid"),
    "cells is no map": ("cells", "[n]", "E_EXPR_TYPE", None),
    "cells reads what is not there": ("cells", "[[m]]", "E_EXPR_UNKNOWN_NAME", None),
    "no constant": ("colours", {"FREEE": "#000000"}, "E_PICTURE", "FREE"),
    "no int": ("colours", {"YES": "#000000"}, "E_PICTURE", None),
    "the same int": ("colours", {"BLOCK": "#000000", "SAME": "#000000"}, "E_PICTURE", None),
    "no colour": ("colours", {"FREE": "red"}, "E_SPEC_VALUE", None),
    "a colour that ends its rule": ("colours", {"FREE": "#000000}*{"}, "E_SPEC_VALUE", None),
    "start is no cell": ("tokens", {"one": {"start": "n", "colour": "#000000"}}, "E_PICTURE", None),
    "start is misspelt": ("tokens", {"one": {"start": "att", "colour": "#000000"}}, "E_PICTURE", "at"),
    "each is misspelt": ("tokens", {"o": {"start": "at", "each": "wher", "colour": "#000000"}}, "E_PICTURE", "where"),
    "each is no place": ("tokens", {"o": {"start": "at", "each": "far", "colour": "#000000"}}, "E_PICTURE", None),
    "no such shape": ("tokens", {"o": {"start": "at", "colour": "#000000", "shape": "cat"}}, "E_SPEC_VALUE", None),
    "a chart of no int": ("charts", {"c": "where"}, "E_PICTURE", None),
    "a chart of what is misspelt": ("charts", {"c": {"of": "numbr"}}, "E_PICTURE", "number"),
    "no unit": ("charts", {"c": {"of": "number", "unit": 0}}, "E_SPEC_VALUE", None),
    "an unknown key": ("cell", "grid", "E_SPEC_UNKNOWN_KEY", None),
}


def findings(world, folder: Path):
    (folder / "room.yaml").write_text(yaml.safe_dump(world, sort_keys=False), encoding="utf-8")
    return check([str(folder / "room.yaml")])[1]


def test_a_picture_that_fits_is_no_finding(tmp_path):
    assert findings(WORLD, tmp_path) == ()


def test_a_map_may_be_computed_of_the_state(tmp_path):
    computed = {**WORLD["picture"], "cells": "[range(3).map(x, x == at.x ? BLOCK : FREE)]"}
    assert findings({**WORLD, "picture": computed}, tmp_path) == ()


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_found_at_its_place(mistake, tmp_path):
    key, value, code, meant = MISTAKES[mistake]
    world = copy.deepcopy(WORLD)
    world["picture"][key] = value
    found = findings(world, tmp_path)
    assert {one.code for one in found} == {code}
    text = (tmp_path / "room.yaml").read_text(encoding="utf-8").splitlines()
    first = text.index("picture:") + 1
    assert all(one.span is not None and one.span.start.line > first for one in found)
    if meant is not None:
        assert [str(one.hint).replace("`", "'") for one in found] == [f"did you mean '{meant}'?"]


def test_a_label_whose_expression_is_wrong_is_told_of_once(tmp_path):
    world = copy.deepcopy(WORLD)
    world["record"]["number"] = "missing + 1"
    assert {one.code for one in findings(world, tmp_path)} == {"E_EXPR_UNKNOWN_NAME"}


def test_a_picture_is_compiled_with_its_scenario():
    from specledger.pipeline.checking import load_runs

    with pytest.raises(Rejected, match="E_PICTURE"):
        load_runs(["concave"], ["world.picture.charts.budget.of=bb"])
