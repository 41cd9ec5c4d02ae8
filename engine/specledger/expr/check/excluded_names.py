"""Names of CEL that the profile excludes, with hints for their replacement."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from specledger.expr.errors import E_EXPR_OUTSIDE_PROFILE

if TYPE_CHECKING:
    from specledger.core.spans import Text
    from specledger.expr.parse.syntax import Call

_FUNCTIONS = {
    "unsigned integers": ("uint",),
    "bytes": ("bytes", "base64.encode", "base64.decode"),
    "timestamps and durations": ("timestamp", "duration", "now"),
    "types as values": ("type", "dyn"),
    "optionals": ("optional.of", "optional.none", "optional.ofNonZeroValue"),
    "bindings inside an expression": ("cel.bind", "cel.block", "cel.index"),
    "sets": ("sets.contains", "sets.equivalent", "sets.intersects"),
    "square roots of doubles": ("math.sqrt",),
    "functions of protobuf": ("proto.hasExt", "proto.getExt"),
    "networks": ("ip", "cidr", "isIP", "url", "isURL", "quantity", "isQuantity", "semver"),
    "other ways to make a list": ("lists.range",),
}
_METHODS = {
    "regular expressions": ("matches", "find", "findAll", "regex.extract", "regex.extractAll", "regex.replace"),
    "timestamps and durations": (
        *("getFullYear", "getMonth", "getDate", "getDayOfMonth", "getDayOfWeek", "getDayOfYear"),
        *("getHours", "getMinutes", "getSeconds", "getMilliseconds"),
    ),
    "the string extension": (
        *("charAt", "format", "indexOf", "join", "lastIndexOf", "lowerAscii", "quote", "replace", "reverse", "split"),
        *("substring", "trim", "upperAscii"),
    ),
    "the list extension": ("distinct", "flatten", "first", "last", "slice", "sort", "sortBy"),
    "optionals": ("hasValue", "value", "or", "orValue", "optMap", "optFlatMap", "optIndex"),
    "macros with two variables": ("existsOne", "transformList", "transformMap", "transformMapEntry"),
}


def _by_name(groups: Mapping[str, tuple[str, ...]]) -> dict[str, str]:
    return {name: group for group, names in groups.items() for name in names}


FUNCTIONS = _by_name(_FUNCTIONS) | {"matches": "regular expressions"}
"""Function -> the group it belongs to."""

METHODS: Mapping[str, str] = _by_name(_METHODS)
"""Member function -> the group it belongs to."""

TYPE_NAMES = frozenset(
    {"bool", "bytes", "double", "dyn", "int", "list", "map", "null_type", "string", "type", "uint", "optional_type"}
)
"""Names that stand for types in CEL."""

NOT_DEFINED = frozenset({"uint", "bytes", "timestamp", "duration", "type", "dyn", "matches"})
"""Functions of CEL's own standard that the profile leaves out: no spec can define one of its own by such a name."""

HINTS = {
    "matches": "use `contains`, `startsWith`, `endsWith`",
    "existsOne": "write `exists_one`",
    "sortBy": "write `sort_by(list, ['field'])`",
    "lists.range": "write `range(n)`",
    "cel.bind": "name the part with `let`",
    "dyn": "the profile is checked statically",
    "uint": "integers are signed: `int`",
}
"""What to write instead."""

FOREIGN = {
    **dict.fromkeys(("len", "length", "count", "card"), "write `size({})`"),
    "eventually": "by which step is said by `within`: `spec explain invariant.within`",
    **dict.fromkeys(("random", "rand", "randint", "choice", "uniform"), "`draw` draws a value: `spec explain draw`"),
    "abs": "write `math.abs({})`",
    **dict.fromkeys(("max", "fmax"), "write `math.greatest(a, b)`; of a list `maximum(list, default)`"),
    **dict.fromkeys(("min", "fmin"), "write `math.least(a, b)`; of a list `minimum(list, default)`"),
    **dict.fromkeys(("clamp", "clip", "bound"), "write `math.greatest(low, math.least(high, n))`"),
    "sqrt": "write `isqrt({})`, the integer square root",
    **dict.fromkeys(("pow", "power"), "a power is written as a product: `n * n`"),
    "mod": "write `a % b`",
    **dict.fromkeys(("float", "decimal"), "write `double({})`"),
    **dict.fromkeys(("str", "text", "toString"), "write `string({})`"),
    **dict.fromkeys(("integer", "Number", "parseInt"), "write `int({})`"),
    **dict.fromkeys(("any", "some"), "write `list.exists(x, condition)`"),
    **dict.fromkeys(("all", "every", "forall"), "write `list.all(x, condition)`"),
    "exists": "write `list.exists(x, condition)`",
    "filter": "write `list.filter(x, condition)`",
    "map": "write `list.map(x, value)`",
    **dict.fromkeys(("reduce", "fold", "foldl", "foldLeft"), "write `list.reduce(sum, x, 0, sum + x)`"),
    "sorted": "write `sort_by(list, ['field'])`",
    **dict.fromkeys(("includes", "has_key", "hasKey"), "write `x in list`, or `'key' in map`"),
    **dict.fromkeys(("append", "push", "add"), "write `list + [x]`"),
    "not": "write `!`",
    "and": "write `a && b`",
    "or": "write `a || b`",
    "iff": "write `a == b`",
    **dict.fromkeys(("If", "iif", "ifelse", "cond"), "write `condition ? a : b`"),
    **dict.fromkeys(
        ("None", "nil", "NULL", "undefined"), "write `null`; `has(record.field)` asks whether a field is there"
    ),
}
"""Names of other languages, and what the profile has instead; `{}` is what they are applied to."""


OTHER_ARGUMENTS = {
    "range": "it counts from 0: `range(3)` is `[0, 1, 2]`, and `range(3).map(i, i + 1)` is `[1, 2, 3]`",
}
"""What to write where a function of a name that other languages have takes other arguments there."""


def refuse(node: Call, name: str, group: str, text: Text, report: Callable[..., None]) -> None:
    """Reports a call of what the profile leaves out, by `name`, at its place in the text."""
    start = node.start if "." in name else node.function_start
    span = text.span(start, node.function_start + len(node.function))
    message = f"`{name}` ({group}) is CEL, but outside the profile"
    report(E_EXPR_OUTSIDE_PROFILE, message, span, hint=HINTS.get(name))
