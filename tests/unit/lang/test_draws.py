"""Draws as they are declared: each mistake is one finding at its place, and nothing that reads the value is another."""

import pytest

from specledger.core.diagnostics import Rejected
from specledger.lang.draws import misfit
from tests.toys import NUMBER, plan_of, write_specs

DRAWS = {
    "each alike": ({"from": "[1, 2]"}, []),
    "a written list": ({"from": [1, 2], "weights": [1, 3]}, []),
    "as many weights": ({"from": "[1, 2]", "weights": "[0, 3]"}, []),
    "computed weights": ({"from": "range(3)", "weights": "range(3)"}, []),
    "no list": ({"from": "3"}, [("from", "E_DECLARATION")]),
    "an unknown name": ({"from": "[nothing]"}, [("from", "E_EXPR_UNKNOWN_NAME")]),
    "an unknown name, weighted": ({"from": "[nothing]", "weights": "[1]"}, [("from", "E_EXPR_UNKNOWN_NAME")]),
    "no list, weighted": ({"from": "3", "weights": "[1]"}, [("from", "E_DECLARATION")]),
    "unknown weights": ({"from": "[1]", "weights": "[nothing]"}, [("weights", "E_EXPR_UNKNOWN_NAME")]),
    "weights that are texts": ({"from": "[1]", "weights": "['a']"}, [("weights", "E_EXPR_TYPE")]),
    "neither": (
        {"from": "[nothing]", "weights": "['a']"},
        [("from", "E_EXPR_UNKNOWN_NAME"), ("weights", "E_EXPR_TYPE")],
    ),
    "a weight too many": ({"from": "[1, 2]", "weights": "[1, 2, 3]"}, [("weights", "E_DRAW_WEIGHTS")]),
    "a written weight too few": ({"from": [1, 2], "weights": [1]}, [("weights", "E_DRAW_WEIGHTS")]),
    "a negative weight": ({"from": "[1, 2]", "weights": "[2, -1]"}, [("weights", "E_DRAW_WEIGHTS")]),
    "all weights 0": ({"from": "[1, 2]", "weights": "[0, 0]"}, [("weights", "E_DRAW_WEIGHTS")]),
}


@pytest.mark.parametrize(("draw", "expected"), DRAWS.values(), ids=DRAWS)
def test_a_mistake_in_a_draw_is_found_once(tmp_path, draw, expected):
    world = NUMBER["world"] | {"draw": {"first": draw}, "start": NUMBER["world"]["start"] | {"x": "first"}}
    path = write_specs(tmp_path, NUMBER | {"world": world})
    found = []
    try:
        plan_of(path)
    except Rejected as rejected:
        lines = (tmp_path / "world/world.yaml").read_text(encoding="utf-8").splitlines()
        for finding in rejected.diagnostics:
            assert finding.span is not None
            above = lines[: finding.span.start.line]
            keys = [line.partition(":")[0].strip() for line in above if line.strip().startswith(("from:", "weights:"))]
            found.append((keys[-1], finding.code))
    assert found == expected


@pytest.mark.parametrize(
    ("weights", "fits"),
    {(1, 1): True, (0, 1): True, (1,): False, (1, 1, 1): False, (0, 0): False, (2, -1): False, (-1, 2): False}.items(),
)
def test_weights_fit_a_list(weights, fits):
    assert (misfit(2, weights) is None) == fits


def test_an_empty_list_needs_no_weights():
    assert misfit(0, ()) is None
