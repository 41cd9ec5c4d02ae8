"""The functions of expressions: those of CEL, of its math extension, and of lists (docs/authoring.md)."""

import math
import re

from tools.verifier.basis import BIG, tagged, write
from tools.verifier.fields import FIELD_FUNCTIONS
from tools.verifier.paths import PATH_FUNCTIONS
from tools.verifier.values import Failed, Limited, checked_int

INTEGER_TEXT = re.compile(r"[+-]?[0-9]{1,40}\Z")
DOUBLE_TEXT = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*(?:e[+-]?[0-9]+)?|\.[0-9]+(?:e[+-]?[0-9]+)?|inf|infinity|nan)\Z")
TRUE_TEXTS, FALSE_TEXTS = ("1", "t", "true", "TRUE", "True"), ("0", "f", "false", "FALSE", "False")
BITS_64 = 1 << 64


def to_int(value):
    """Of a double truncated, of a text in decimals."""
    if type(value) is int:
        return value
    if type(value) is float:
        if not -(2.0**63) < value < 2.0**63:
            raise Failed("E_EVAL_OVERFLOW")
        return int(value)
    if type(value) is not str:
        raise Failed("E_EVAL_TYPE")
    if not INTEGER_TEXT.match(value):
        raise Failed("E_EVAL_ARGUMENT")
    return checked_int(int(value))


def to_double(value):
    """Of an int rounded to the nearest, of a text."""
    if type(value) in (int, float):
        return float(value)
    if type(value) is not str:
        raise Failed("E_EVAL_TYPE")
    if not DOUBLE_TEXT.match(value.lower()):
        raise Failed("E_EVAL_ARGUMENT")
    return float(value)


def to_string(value):
    """Of an int, a bool or a text."""
    if type(value) is bool:
        return "true" if value else "false"
    if type(value) in (int, str):
        return str(value)
    raise Failed("E_EVAL_TYPE")


def to_bool(value):
    """Of one of the spellings of a bool."""
    if type(value) is bool:
        return value
    if type(value) is not str:
        raise Failed("E_EVAL_TYPE")
    if value not in TRUE_TEXTS + FALSE_TEXTS:
        raise Failed("E_EVAL_ARGUMENT")
    return value in TRUE_TEXTS


def absolute(value):
    """The distance from 0."""
    return checked_int(abs(value)) if type(value) is int else abs(value)


def extreme(*values, greatest):
    """The greatest or least of numbers, or of one list of them; the first of equals, and NaN never better."""
    values = values[0] if len(values) == 1 and type(values[0]) is list else values
    if not values:
        raise Failed("E_EVAL_ARGUMENT")
    best = values[0]
    for value in values:
        if (value > best) if greatest else (value < best):
            best = value
    return best


def greatest_of(*values):
    """The greatest."""
    return extreme(*values, greatest=True)


def least_of(*values):
    """The least."""
    return extreme(*values, greatest=False)


def rounded(value, how):
    """A double rounded to a whole one; what is not finite stays, and so does the sign of zero."""
    return math.copysign(float(how(value)), value) if math.isfinite(value) else value


def half_away(value):
    """To the nearest whole number, halves away from zero."""
    whole = math.trunc(value)
    return whole + int(math.copysign(1, value)) if abs(value - whole) >= 0.5 else whole


def sign_of(value):
    """-1, 0 or 1."""
    if type(value) is int:
        return (value > 0) - (value < 0)
    return value if math.isnan(value) else float((value > 0) - (value < 0))


def shifted(value, count, left):
    """64 bits moved, zeros coming in."""
    if count < 0:
        raise Failed("E_EVAL_ARGUMENT")
    bits = 0 if count > 63 else (value % BITS_64 << count) % BITS_64 if left else value % BITS_64 >> count
    return bits - BITS_64 if bits >= BITS_64 // 2 else bits


def square_root(value):
    """Of an int, rounded down."""
    if value < 0:
        raise Failed("E_EVAL_ARGUMENT")
    return math.isqrt(value)


def position_of(values, least):
    """The index of the first least or greatest number, -1 if there is none."""
    best = -1
    for index, value in enumerate(values):
        if best < 0 or ((value < values[best]) if least else (value > values[best])):
            best = index
    return best


def counted_up(count):
    """0, 1, … below a number."""
    if count > 65_536:
        raise Limited
    return list(range(count))


def sort_records(records, keys):
    """Records in ascending order of the named fields."""
    if any(key not in record for record in records for key in keys):
        raise Failed("E_EVAL_NO_SUCH_KEY")
    return sorted(records, key=lambda record: [record[key] for key in keys])


def value_digest(value):
    """The digest of a value; what has no canonical form has none."""
    todo = [(value, 0)]
    while todo:
        one, depth = todo.pop()
        if isinstance(one, (dict, list)):
            if depth == 64:
                raise Failed("E_EVAL_ARGUMENT")
            todo += [(inner, depth + 1) for inner in (one.values() if isinstance(one, dict) else one)]
        elif type(one) is float or (type(one) is int and not -BIG <= one <= BIG):
            raise Failed("E_EVAL_ARGUMENT")
    return tagged("value", write(value))


FUNCTIONS = {
    "size": len,
    "int": to_int,
    "double": to_double,
    "string": to_string,
    "bool": to_bool,
    "math.abs": absolute,
    "math.greatest": greatest_of,
    "math.least": least_of,
    "math.ceil": lambda value: rounded(value, math.ceil),
    "math.floor": lambda value: rounded(value, math.floor),
    "math.round": lambda value: rounded(value, half_away),
    "math.trunc": lambda value: rounded(value, math.trunc),
    "math.sign": sign_of,
    "math.isNaN": math.isnan,
    "math.isInf": math.isinf,
    "math.isFinite": math.isfinite,
    "math.bitAnd": lambda a, b: a & b,
    "math.bitOr": lambda a, b: a | b,
    "math.bitXor": lambda a, b: a ^ b,
    "math.bitNot": lambda a: ~a,
    "math.bitShiftLeft": lambda a, b: shifted(a, b, left=True),
    "math.bitShiftRight": lambda a, b: shifted(a, b, left=False),
    "sum": lambda values: checked_int(sum(values)),
    "isqrt": square_root,
    "argmin": lambda values: position_of(values, least=True),
    "argmax": lambda values: position_of(values, least=False),
    "minimum": lambda values, other: least_of(values) if values else other,
    "maximum": lambda values, other: greatest_of(values) if values else other,
    "range": counted_up,
    "sort_by": sort_records,
    "digest_of": value_digest,
    **FIELD_FUNCTIONS,
    **PATH_FUNCTIONS,
}
METHODS = {
    "size": len,
    "contains": lambda text, part: part in text,
    "startsWith": lambda text, part: text.startswith(part),
    "endsWith": lambda text, part: text.endswith(part),
}
SIGNATURES = {
    "size": ("s", "l", "m"),
    "int": ("i", "d", "s"),
    "double": ("i", "d", "s"),
    "string": ("s", "i", "b"),
    "bool": ("b", "s"),
    "math.greatest": ("l", "i+", "d+"),
    "math.least": ("l", "i+", "d+"),
    **dict.fromkeys(("math.abs", "math.sign"), ("i", "d")),
    **dict.fromkeys(("math.ceil", "math.floor", "math.round", "math.trunc"), ("d",)),
    **dict.fromkeys(("math.isNaN", "math.isInf", "math.isFinite"), ("d",)),
    **dict.fromkeys(("math.bitAnd", "math.bitOr", "math.bitXor"), ("ii",)),
    **dict.fromkeys(("math.bitShiftLeft", "math.bitShiftRight"), ("ii",)),
    **dict.fromkeys(("math.bitNot", "isqrt", "range"), ("i",)),
    **dict.fromkeys(("sum", "argmin", "argmax"), ("l",)),
    **dict.fromkeys(("minimum", "maximum"), ("li", "ld")),
    "sort_by": ("ll",),
    **dict.fromkeys(("contains", "startsWith", "endsWith"), ("ss",)),
    **dict.fromkeys(("field_scale",), ("il",)),
    **dict.fromkeys(("field_clamp",), ("lii",)),
    **dict.fromkeys(("field_floor", "field_over", "cells_at_least", "cells_at_most"), ("li",)),
    **dict.fromkeys(("field_at", "beside", "field_put"), ("lmi",)),
    "window": ("lmii",),
    "field_paste": ("llmi",),
    "distances": ("lm",),
    "open_distances": ("llm",),
    "path_length": ("llmm",),
    **dict.fromkeys(("ring", "cells_by_distance"), ("mi",)),
    "cells_mask": ("lii",),
    "dilate": ("li",),
    "reach": ("lmi",),
    "wall_edits": ("llmiil",),
    "fresh": ("sl",),
}
TAKEN = {}
VALUE_LETTERS = {int: "i", float: "d", str: "s", bool: "b", list: "l", dict: "m", type(None): "0"}


def takes(name, values):
    """Whether a function takes values of these types, lists by the outside; what has no row takes lists alone."""
    question = (name, *map(type, values))
    if question not in TAKEN:
        TAKEN[question] = fitting_row(name, values)
    return TAKEN[question]


def fitting_row(name, values):
    """The same, looked up; types alone decide."""
    letters = "".join("m" if isinstance(one, dict) else VALUE_LETTERS.get(type(one), "?") for one in values)
    if name == "digest_of":
        return len(values) == 1
    for row in SIGNATURES.get(name, ("l" * len(values),)):
        if letters == row or (row.endswith("+") and letters and set(letters) == {row[0]}):
            return True
    return False
