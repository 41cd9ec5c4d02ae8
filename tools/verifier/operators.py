"""What the binary operators of expressions do to values; each is given the place that a failure tells."""

import math

from tools.verifier.values import Failed, Limited, checked_int, equal_values, member_of, ordered_pair

LONGEST_LIST, LONGEST_STRING = 65_536, 65_536


def plus(a, b, start):
    if type(a) is type(b):
        if type(a) is int:
            return checked_int(a + b, start)
        if type(a) is float:
            return a + b
        if type(a) in (str, list):
            if len(a) + len(b) > (LONGEST_STRING if type(a) is str else LONGEST_LIST):
                raise Limited(start)
            return a + b
    raise Failed("E_EVAL_TYPE", start)


def minus(a, b, start):
    if type(a) is type(b) is int:
        return checked_int(a - b, start)
    if type(a) is type(b) is float:
        return a - b
    raise Failed("E_EVAL_TYPE", start)


def times(a, b, start):
    if type(a) is type(b) is int:
        return checked_int(a * b, start)
    if type(a) is type(b) is float:
        return a * b
    raise Failed("E_EVAL_TYPE", start)


def quotient(a, b, start):
    """Integers truncate towards zero; doubles follow IEEE 754."""
    if type(a) is type(b) is int:
        if b == 0:
            raise Failed("E_EVAL_DIVISION_BY_ZERO", start)
        whole = abs(a) // abs(b)
        return checked_int(whole if (a < 0) == (b < 0) else -whole, start)
    if type(a) is type(b) is float:
        if b:
            return a / b
        return math.nan if a == 0.0 or math.isnan(a) else math.copysign(math.inf, a) * math.copysign(1.0, b)
    raise Failed("E_EVAL_TYPE", start)


def rest(a, b, start):
    """The remainder has the sign of the left side."""
    if type(a) is type(b) is int:
        if b == 0:
            raise Failed("E_EVAL_DIVISION_BY_ZERO", start)
        if (a, b) == (-(2**63), -1):
            raise Failed("E_EVAL_OVERFLOW", start)
        left = abs(a) % abs(b)
        return -left if a < 0 else left
    raise Failed("E_EVAL_TYPE", start)


def contains_value(a, b, start):
    if type(b) is list:
        return any(equal_values(a, one) for one in b)
    if isinstance(b, dict):
        return member_of(a, b) is not None
    raise Failed("E_EVAL_TYPE", start)


def below(a, b, start):
    a, b = ordered_pair(a, b, start)
    return a < b


def at_most(a, b, start):
    a, b = ordered_pair(a, b, start)
    return a <= b


OPERATIONS = {
    "+": plus,
    "-": minus,
    "*": times,
    "/": quotient,
    "%": rest,
    "in": contains_value,
    "==": lambda a, b, start: equal_values(a, b),
    "!=": lambda a, b, start: not equal_values(a, b),
    "<": below,
    "<=": at_most,
    ">": lambda a, b, start: below(b, a, start),
    ">=": lambda a, b, start: at_most(b, a, start),
}
