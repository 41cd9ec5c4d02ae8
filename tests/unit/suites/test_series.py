"""The functions over series: by hand, as expressions, and where they have no value."""

import pytest

from specledger.core.diagnostics import Diagnostics
from specledger.core.spans import Text
from specledger.expr import Environment, EvaluationError, compile_expression, evaluate
from specledger.expr.check.checker import check
from specledger.suites.series import SERIES

CASES = {
    "rolling([1, 2, 6], 2)": [1_000_000, 1_500_000, 4_000_000],
    "rolling([1, 0, 0], 9)": [1_000_000, 500_000, 333_333],
    "size(rolling(range(0), 3))": 0,
    "prefix_sums([3, -1, 4])": [3, 2, 6],
    "differences([3, -1, 4])": [-4, 5],
    "size(differences([3]))": 0,
    "trend([1, 3, 5])": 2_000_000,
    "trend([5, 5, 5, 4])": -300_000,
    "trend([7])": 0,
    "first([false, true, true])": 1,
    "first([1, 2].map(n, n > 2))": -1,
    "last([4, 9], 0)": 9,
    "last(range(0), 7)": 7,
    "count([true, false, true])": 2,
    "distinct([{'x': 1, 'y': 2}, {'x': 1, 'y': 2}, {'x': 2, 'y': 1}])": 2,
    "distinct([9007199254740993, 9007199254740992, 9007199254740993])": 2,
    "slice([1, 2, 3, 4], 1, 3)": [2, 3],
    "slice([1, 2, 3], -5, 99)": [1, 2, 3],
    "size(slice([1, 2, 3], 2, 1))": 0,
    "flatten([[1], [2, 3]])": [1, 2, 3],
    "power(50000, 1000000, 1)": 50_000,
    "power(500000, 500000, 2)": 437_500,
    "power(50000, 1000000, 7)": 301_663,
    "power(1000000, 1000000, 3)": 1_000_000,
    "power(0, 1000000, 9)": 0,
    "power(1000000, 1000000, 0)": 0,
    "sum(slice([1, 2, 3], 0, 2).map(n, n * n))": 5,
}
ENVIRONMENT = Environment(functions=SERIES)


def checked(text):
    found = Diagnostics()
    expression = check(Text.inline(text), ENVIRONMENT, found)
    assert expression is not None, found.sorted()
    return expression


@pytest.mark.parametrize(("text", "value"), CASES.items())
def test_values_by_hand(text, value):
    expression = checked(text)
    assert compile_expression(expression, ())() == value
    assert evaluate(expression, {}) == value


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("rolling([1], 0)", "E_EVAL_ARGUMENT"),
        ("prefix_sums([9223372036854775807, 1])", "E_EVAL_OVERFLOW"),
        ("differences([-9223372036854775807, 9])", "E_EVAL_OVERFLOW"),
        ("rolling([9223372036854775807], 1)", "E_EVAL_OVERFLOW"),
        ("size(flatten([range(65536), [1]]))", "E_EVAL_LIMIT"),
    ],
)
def test_where_there_is_no_value(text, code):
    with pytest.raises(EvaluationError) as error:
        compile_expression(checked(text), ())()
    assert error.value.code == code


@pytest.mark.parametrize("text", ["first([1])", "count([1])", "rolling([true], 1)", "last([1])", "flatten([1])"])
def test_wrong_types_are_findings(text):
    found = Diagnostics()
    assert check(Text.inline(text), ENVIRONMENT, found) is None
    assert found.has_errors
