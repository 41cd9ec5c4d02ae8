"""Words and signs of other languages in an expression, and what CEL has instead."""

from __future__ import annotations

WORDS = {
    "and": "write `&&`",
    "or": "write `||`",
    "not": "write `!`; `x not in list` is `!(x in list)`",
    "is": "write `==`",
    "mod": "write `%`",
    "div": "write `/`",
    "xor": "of two truth values write `a != b`",
    "implies": "write `!a || b`",
    "between": "write `a <= x && x <= b`",
    "like": "of texts write `text.contains(part)`, `text.startsWith(part)` or `text.endsWith(part)`",
    **dict.fromkeys(("if", "then", "else", "elif"), "write `condition ? a : b`"),
    **dict.fromkeys(("for", "where"), "write `list.filter(x, condition)` or `list.map(x, value)`"),
    **dict.fromkeys(("always", "never"), "an invariant always holds: leave the word out"),
}
"""Words of other languages, and what CEL has instead."""

UNEXPECTED = {
    "+": "a number has no `+` before it",
    ",": "a comma stands only between items and arguments, in brackets; a list is `[a, b]`",
    ")": "a bracket `(` is missing before it",
    "]": "a bracket `[` is missing before it",
    "}": "a bracket `{` is missing before it",
    "double": "a range is two comparisons: `1 <= n && n <= 3`",
    "string": "texts are joined by `+`, a number as `string(n)`",
}
"""What is probably wrong where a token of a kind is unexpected."""

AT_THE_END = {
    "%": "`%` is the remainder of a division; rates are counted in millionths: 90 % is 900000",
    "expected `:` between the two results of `?`": "write `condition ? a : b`",
}
"""What is probably wrong where an expression ends too early: after a sign, or where something was expected."""
