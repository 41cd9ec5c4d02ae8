"""Interval arithmetic is sound: the exact result lies in the range, whatever the operands."""

from hypothesis import given
from hypothesis import strategies as st

from specledger.expr import IntType
from specledger.expr.check import ranges
from specledger.expr.eval.values import OPERATORS
from specledger.expr.limits import INT_MAX, INT_MIN

numbers = st.integers(INT_MIN, INT_MAX) | st.integers(-5, 5) | st.sampled_from([INT_MIN, INT_MAX, INT_MIN + 1])


@st.composite
def members(draw):
    """A range and a number in it."""
    low, value, high = sorted(draw(st.tuples(numbers, numbers, numbers)))
    return IntType(low, high), value


def mathematical(operator, a, b):
    if operator in "+-*":
        return {"+": a + b, "-": a - b, "*": a * b}[operator]
    quotient = abs(a) // abs(b) if (a >= 0) == (b > 0) else -(abs(a) // abs(b))
    return quotient if operator == "/" else a - quotient * b


@given(st.sampled_from("+-*/%"), members(), members())
def test_binary_operators(operator, left, right):
    (a_range, a), (b_range, b) = left, right
    if b == 0 and operator in "/%":
        return
    raw = ranges.arithmetic(operator, a_range, b_range)
    exact = mathematical(operator, a, b)
    assert raw.low <= exact <= raw.high
    if INT_MIN <= exact <= INT_MAX and not (operator == "%" and (a, b) == (INT_MIN, -1)):
        assert OPERATORS[operator](a, b) == exact
        assert ranges.clipped(raw).low <= exact <= ranges.clipped(raw).high
    if ranges.fits(raw) and operator != "%":
        assert OPERATORS[operator](a, b) == exact


@given(members())
def test_unary_operators(member):
    within, value = member
    for raw, exact in [(ranges.arithmetic("neg", within), -value), (ranges.absolute(within), abs(value))]:
        assert raw.low <= exact <= raw.high


@given(st.lists(members(), min_size=1, max_size=4))
def test_extremes(parts):
    bounds, values = tuple(part for part, _ in parts), [value for _, value in parts]
    for raw, exact in [(ranges.greatest(bounds), max(values)), (ranges.least(bounds), min(values))]:
        assert raw.low <= exact <= raw.high


@given(members(), st.lists(st.integers(0, 10), max_size=5))
def test_sums(member, picks):
    within, value = member
    values = [min(within.high, value + pick) for pick in picks]
    raw = ranges.total(within, len(values) + 1)
    assert raw.low <= sum(values) <= raw.high


@given(members(), members())
def test_narrowing_keeps_what_is_in_both(member, bounds):
    within, value = member
    (other, _) = bounds
    narrow = ranges.narrowed(within, other.low, other.high)
    if other.low <= value <= other.high:
        assert narrow.low <= value <= narrow.high
    assert within.low <= narrow.low <= narrow.high <= within.high
