"""The public CEL conformance suite: each case passes, or is refused as outside the profile; none fails.

The data lies beside the checkout (or where SPECLEDGER_CEL_CONFORMANCE says) and is not part of the project.
"""

import json
import os
from collections import Counter
from pathlib import Path

import pytest

from specledger.core.diagnostics import Diagnostics
from specledger.core.spans import Text
from specledger.expr import (
    BOOL,
    DOUBLE,
    INT,
    NULL,
    STRING,
    Environment,
    EvaluationError,
    ListType,
    MapType,
    check,
    compile_expression,
    evaluate,
    join,
)
from specledger.expr.check.types import NOTHING, Type
from specledger.expr.unparse import to_cel
from specledger.load.doc_pages import page_of
from tests.properties.test_expr_agreement import same

BESIDE = Path(__file__).resolve().parents[3] / "shared" / "conformance" / "cel-spec-core.json"
DATA = Path(os.environ.get("SPECLEDGER_CEL_CONFORMANCE", BESIDE))

# (passed, refused as outside the profile, refused because the suite switches the checker off) by file: a case that
# moves from passed to refused shows here.
EXPECTED = {
    "basic": (32, 0, 2),
    "comparisons": (140, 189, 3),
    "conversions": (46, 28, 0),
    "fields": (32, 25, 0),
    "fp_math": (30, 0, 0),
    "integer_math": (42, 12, 0),
    "lists": (19, 20, 0),
    "logic": (25, 0, 5),
    "macros": (36, 8, 0),
    "math_ext": (102, 72, 0),
    "parse": (111, 1, 17),
    "plumbing": (4, 1, 0),
    "string": (36, 11, 0),
}
OUTSIDE = {"E_EXPR_OUTSIDE_PROFILE", "E_EXPR_LIMIT"}
UNCHECKED = {"E_EXPR_TYPE", "E_EXPR_NO_PROMOTION", "E_EXPR_UNKNOWN_NAME"}  # their pages say that the profile types all
CONSTANTS = {"true", "false", "null"}


def read(tagged):
    """A value of the suite's notation, `{"int": "5"}`."""
    ((kind, value),) = tagged.items()
    if kind == "list":
        return [read(each) for each in value]
    if kind == "map":
        return {read(key): read(each) for key, each in value}
    return {"int": int, "double": float}.get(kind, lambda same: None if kind == "null" else same)(value)


def type_of(value):
    if isinstance(value, list):
        item: Type | None = NOTHING
        for each in value:
            item = item and join(item, type_of(each))
        return ListType(item or NOTHING)
    if isinstance(value, dict):
        return MapType(type_of(next(iter(value.values()))))
    return {bool: BOOL, int: INT, float: DOUBLE, str: STRING, type(None): NULL}[type(value)]


def written_and_read(checked, environment):
    again = check(Text.inline(to_cel(checked)), environment, Diagnostics())
    assert again is not None, to_cel(checked)
    return again


def verdict(case):
    """Passed, refused, unchecked or failed."""
    bindings = {name: read(value) for name, value in case["bindings"].items() if name not in CONSTANTS}
    environment = Environment({name: type_of(value) for name, value in bindings.items()})
    diagnostics = Diagnostics()
    checked = check(Text.inline(case["expr"]), environment, diagnostics)
    fails = "error" in case["result"]
    if checked is None:
        codes = [found.code for found in diagnostics.sorted()]
        if OUTSIDE & set(codes):
            return "refused"
        if fails:
            return "passed"
        return "unchecked" if case["disable_check"] and set(codes) <= UNCHECKED else f"failed: {codes}"
    args = [bindings[name] for name in sorted(checked.variables)]
    ways = {
        "exact": lambda: evaluate(checked, bindings),
        "compiled": lambda: compile_expression(checked, sorted(checked.variables))(*args),
        "written and read": lambda: evaluate(written_and_read(checked, environment), bindings),
    }
    for way, run in ways.items():
        try:
            value = run()
        except EvaluationError as error:
            if not fails:
                return f"failed: {way} gives {error}"
        else:
            if fails or not same(value, read(case["result"]["value"])):
                return f"failed: {way} gives {value!r}"
    return "passed"


@pytest.fixture(scope="module")
def verdicts():
    if not DATA.is_file():
        pytest.skip(f"the conformance data is not at {DATA}; SPECLEDGER_CEL_CONFORMANCE can name it")
    cases = json.loads(DATA.read_text(encoding="utf-8"))["tests"]
    return [(case, verdict(case)) for case in cases]


def test_no_case_fails(verdicts):
    failed = [
        f"{case['file']}/{case['section']}/{case['name']}: {case['expr'][:80]!r}: {found}"
        for case, found in verdicts
        if found.startswith("failed")
    ]
    assert failed == []


def test_as_many_cases_pass_as_before(verdicts):
    counted = Counter((case["file"], found.split(":")[0]) for case, found in verdicts)
    table = {
        name: tuple(counted[name, kind] for kind in ("passed", "refused", "unchecked"))
        for name in sorted({case["file"] for case, _ in verdicts})
    }
    for name, (passed, refused, unchecked) in table.items():
        print(f"{name:14} {passed:4} passed {refused:4} outside the profile {unchecked:4} need an unchecked evaluation")
    assert table == EXPECTED


def test_a_refusal_says_that_it_is_cel(verdicts):
    for case, found in verdicts:
        if found == "refused":
            diagnostics = Diagnostics()
            check(Text.inline(case["expr"]), Environment(), diagnostics)
            messages = [each.message for each in diagnostics.sorted() if each.code == "E_EXPR_OUTSIDE_PROFILE"]
            assert all("CEL, but outside the profile" in message for message in messages), messages


@pytest.mark.parametrize("name", sorted(UNCHECKED))
def test_what_needs_an_unchecked_evaluation_is_said_to_be_outside_the_profile(name):
    about = page_of(name).about
    assert "unchecked evaluation" in about
    assert "profile" in about
