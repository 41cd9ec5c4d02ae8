"""One environment with every kind of name, and what tests do with expressions in it."""

from collections.abc import Callable

import pytest

from specledger.core.diagnostics import Diagnostic, Diagnostics
from specledger.core.spans import Text
from specledger.expr import (
    BOOL,
    DOUBLE,
    DYN,
    INT,
    NULL,
    STRING,
    Checked,
    Defined,
    Environment,
    EvaluationError,
    IntType,
    ListType,
    MapType,
    Native,
    RecordType,
    Signature,
    Type,
    check,
)

CELL = RecordType("cell", {"x": INT, "y": INT})
HAZARD = RecordType("hazard", {"id": STRING, "kind": STRING, "x": INT, "y": INT})
STATE = RecordType(
    "state",
    {"here": CELL, "hazards": ListType(HAZARD, 8), "grid": ListType(ListType(INT)), "energy": IntType(0, 100)},
    derived={
        "threat": Defined((), Text.inline("minimum(hazards.map(h, dist(h, here)), 99)", "state.yaml")),
        "danger": Defined((), Text.inline("threat <= 1", "state.yaml")),
        "strong": Defined((), Text.inline("energy > 90", "state.yaml")),
    },
)

MAYBE = RecordType("maybe", {"a": INT, "o": INT}, frozenset({"o"}))


def field_sum(matrix):
    total = sum(map(sum, matrix))
    if total > 1000:
        raise EvaluationError("E_EVAL_ARGUMENT", "too much")
    return total


def define(params, body):
    return Defined(tuple(params), Text.inline(body, "functions.yaml"))


ENVIRONMENT = Environment(
    variables={
        "i": INT, "n": IntType(0, 9), "x": DOUBLE, "b": BOOL, "s": STRING, "nothing": NULL, "d": DYN,
        "ints": ListType(INT), "doubles": ListType(DOUBLE), "strings": ListType(STRING), "m": MapType(INT),
        "p": CELL, "q": CELL, "hazards": ListType(HAZARD, 8), "here": CELL, "grid": ListType(ListType(INT)),
        "next": STATE, "maybe": MAYBE, "full": MAYBE,
        "mixed": RecordType("mixed", {"a": INT, "b": STRING}), "deep.er.name": INT,
    },
    constants={"WALL": (INT, 1), "NAMES": (ListType(STRING), ["N", "E"]), "HALF": (DOUBLE, 0.5)},
    functions={
        "dist": define("ab", "math.abs(a.x - b.x) + math.abs(a.y - b.y)"),
        "inside": define("c", "c.x >= 0 && c.y >= 0 && c.y < size(grid) && c.x < size(grid[0])"),
        "at": define("c", "inside(c) ? grid[c.y][c.x] : WALL"),
        "twice": define("v", "v + v"),
        "ready": define("", "n > 3"),
        "needy": define("v", "v + absent"),
        "needier": define("v", "needy(v)"),
        "again": define("v", "again(v)"),
        "ping": define("v", "pong(v)"),
        "pong": define("v", "ping(v)"),
        "broken": define("v", "v +"),
        "field_sum": Native("field_sum", (Signature((ListType(ListType(INT)),), INT),), field_sum),
        "near": Native("near", (Signature((CELL, INT), BOOL),), lambda c, r: abs(c["x"]) + abs(c["y"]) <= r, total=True),
    },
    derived={"threat": define("", "minimum(hazards.map(h, dist(h, here)), 99)"), "self_made": define("", "self_made")},
)  # fmt: skip

VALUES = {
    "i": 7, "n": 3, "x": 2.5, "b": True, "s": "héllo", "nothing": None, "d": {"k": [1, 2.0, "z"]},
    "ints": [3, 1, 2], "doubles": [0.5, -1.5], "strings": ["b", "a"], "m": {"a": 1, "b": 2},
    "p": {"x": 1, "y": 0}, "q": {"x": -2, "y": 4}, "here": {"x": 0, "y": 0}, "grid": [[5, 6], [7, 8]],
    "hazards": [{"id": "h1", "kind": "lava", "x": 1, "y": 1}, {"id": "h2", "kind": "acid", "x": 4, "y": 0}],
    "next": {"here": {"x": 1, "y": 0}, "grid": [[9]], "energy": 50,
             "hazards": [{"id": "h1", "kind": "lava", "x": 1, "y": 1}]},
    "maybe": {"a": 1}, "full": {"a": 1, "o": 2}, "mixed": {"a": 1, "b": "z"}, "deep.er.name": 12,
}  # fmt: skip


@pytest.fixture
def environment() -> Environment:
    return ENVIRONMENT


@pytest.fixture
def values() -> dict[str, object]:
    return VALUES


@pytest.fixture
def checked() -> Callable[..., Checked]:
    """Check a text that must be right."""

    def right(text: str, environment: Environment = ENVIRONMENT, expect: Type | None = None) -> Checked:
        diagnostics = Diagnostics()
        found = check(Text.inline(text), environment, diagnostics, expect)
        assert found is not None, diagnostics.sorted()
        assert not diagnostics.has_errors
        return found

    return right


@pytest.fixture
def findings() -> Callable[..., tuple[Diagnostic, ...]]:
    """Check a text that must be wrong."""

    def wrong(text: str, environment: Environment = ENVIRONMENT, expect: Type | None = None) -> tuple[Diagnostic, ...]:
        diagnostics = Diagnostics()
        assert check(Text.inline(text), environment, diagnostics, expect) is None
        assert diagnostics.has_errors
        return diagnostics.sorted()

    return wrong
