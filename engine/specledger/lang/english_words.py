"""The words for operators, functions and well-known names of expressions, as sentences use them."""

from __future__ import annotations

from typing import Final

COMPARISONS: Final = {
    "==": "is",
    "!=": "is not",
    "<": "is less than",
    "<=": "is at most",
    ">": "is more than",
    ">=": "is at least",
    "in": "is in",
    "not in": "is not in",
}
"""What is said between the sides of a comparison."""

OPPOSITES: Final = {
    "==": "!=",
    "!=": "==",
    "<": ">=",
    "<=": ">",
    ">": "<=",
    ">=": "<",
    "in": "not in",
    "not in": "in",
}
"""The comparison that holds where another one does not."""

INFIX: Final = {"+": "plus", "-": "minus", "*": "times", "/": "divided by", "%": "modulo"}
"""What is said between the sides of an operation."""

NOUNS: Final = {"+": "the sum of", "-": "the difference of", "*": "the product of", "/": "the quotient of"}
"""What is said of an operation inside another one."""

ADDITIVE: Final = frozenset({"+", "-"})

MULTIPLES: Final = {"==": "is a multiple of", "!=": "is no multiple of"}
"""What is said of the rest of a division that is compared with 0."""

OWNERS: Final = {
    "next": "the next {}",
    "previous": "the previous {}",
    "action": "{} of the action",
    "proposal": "{} of the proposal",
    "outcome": "{} of the outcome",
    "body": "{} of the receipt",
    "start": "{} of the first receipt",
    "bundle": "{} of the bundle",
}
"""Names of the engine whose fields are said with a word of their own."""

STATES: Final = {
    "next": "the next state",
    "previous": "the previous state",
    "now": "the present state",
    "action": "the action",
    "proposal": "the proposal",
    "body": "the receipt",
    "bundle": "the bundle",
}
"""What the same names are by themselves."""

TESTS: Final = {
    "startsWith": ("starts with", "does not start with"),
    "endsWith": ("ends with", "does not end with"),
    "contains": ("contains", "does not contain"),
    "matches": ("matches the pattern", "does not match the pattern"),
}
"""Functions that test a text, and what is said where they hold and where they do not."""

FUNCTIONS: Final = {
    "size": "the number of entries of {}",
    "sum": "the sum of {}",
    "count": "how many of {} hold",
    "minimum": "the least of {}",
    "maximum": "the greatest of {}",
    "greatest": "the greatest of {}",
    "least": "the least of {}",
    "distinct": "the number of different values of {}",
    "first": "the place of the first that holds of {}",
    "last": "the last of {}",
    "range": "the numbers from 0 to below {}",
    "abs": "the absolute value of {}",
}
"""Functions of one argument with a phrase of their own; a second argument is what they give of nothing."""

SEVERAL: Final = frozenset({"greatest", "least"})
"""Those of them that take several values as well."""

CONVERSIONS: Final = frozenset({"int", "double", "string", "qfixed"})
"""Functions that change a type and no value."""
