"""What a plain scalar means: null, true, false, a decimal integer, a decimal number, or a string.

Decides which spellings are ambiguous, that is, read differently by YAML 1.1, YAML 1.2 and people, and refuses those.
Refuses to know places and nodes.
"""

import re
from dataclasses import dataclass
from decimal import Decimal
from math import isfinite
from typing import Final

from specledger.core.diagnostics import code
from specledger.spec.base import INTEGER_LIMIT

E_YAML_AMBIGUOUS = code(
    "E_YAML_AMBIGUOUS",
    "A value that YAML readers do not agree about",
    "Unquoted, `NO`, `off` and `Yes` are booleans for some readers, `010` is 8, `1_000` is 1000, `12:30:45` is 45045, "
    '`1e3` is a string or a number, `2024-01-01` a date, `~` null. Quote the value if it is text, as in "NO". Numbers '
    "are written in plain decimals: 8, 1000, 0.5; the constants are null, true and false.",
)
E_YAML_NUMBER = code(
    "E_YAML_NUMBER",
    "A number that cannot be held exactly",
    "Integers lie within 2^53 - 1, so that every JSON reader reads the same one, and a number with a decimal point "
    "has no more digits than a binary64 keeps. Quote the value if it is text or a fixed-point number with many digits.",
)
E_YAML_KEY = code(
    "E_YAML_KEY",
    "A key that is not text on one line",
    "Keys are strings, written before their colon on one line. Quote a key that looks like a number, a date, null, "
    "true or false. Complex keys (`? key`), empty keys and the merge key `<<` are not used; `extends` merges "
    "documents.",
)
E_YAML_EMPTY = code(
    "E_YAML_EMPTY",
    "A key or a dash without a value",
    "YAML reads a missing value as null, which is seldom meant. Write the value, or null, {} or [] if that is meant.",
)

_INTEGER: Final = re.compile(r"-?(?:0|[1-9][0-9]*)")
_DECIMAL: Final = re.compile(r"-?(?:0|[1-9][0-9]*)\.[0-9]+")
_WORDS: Final = {"null": None, "true": True, "false": False}
_TROUBLED_WORDS: Final = frozenset({"null", "true", "false", "yes", "no", "on", "off", "~"})
# All other spellings that a resolver of YAML 1.1 or 1.2 takes for a number, a date, a merge key or a default value.
_TROUBLED: Final = re.compile(
    r"""[-+]?0b[0-1_]+ | [-+]?0o?[0-7_]+ | [-+]?[0-9][0-9_]* | [-+]?0x[0-9a-fA-F_]+
      | [-+]?[0-9][0-9_]*(?::[0-9]?[0-9])+(?:\.[0-9_]*)?
      | [-+]?(?:\.[0-9][0-9_]*|[0-9][0-9_]*(?:\.[0-9_]*)?)(?:[eE][-+]?[0-9]+)?
      | [-+]?\.(?:inf|nan)
      | [0-9]{4}-[0-9]{1,2}-[0-9]{1,2}(?:(?:[Tt]|\ +)[0-9]{1,2}:[0-9:.]+(?:\ *(?:Z|[-+][0-9:]+))?)?
      | << | =""",
    re.VERBOSE | re.IGNORECASE,
)
_FIRST: Final = frozenset("+-.0123456789nNtTfFyYoO~<=")  # what those begin with
_MAX_DIGITS: Final = 40  # characters of a number


@dataclass(frozen=True, slots=True)
class Flaw:
    """Why a plain scalar has no value: a code and the parts of its message."""

    code: str
    message: str
    hint: str


def resolve(text: str) -> str | int | float | bool | Flaw | None:
    """The value of a plain scalar.

    Plain `y` and `n` are strings: PyYAML reads them so, and worlds have coordinates and directions of these names.
    """
    if text in _WORDS:
        return _WORDS[text]
    if text[0] not in _FIRST:
        return text
    if _INTEGER.fullmatch(text) and text != "-0":
        number = int(text) if len(text) <= _MAX_DIGITS else INTEGER_LIMIT + 1
        return number if abs(number) <= INTEGER_LIMIT else _inexact(text)
    if _DECIMAL.fullmatch(text):
        decimal = float(text)
        exact = len(text) <= _MAX_DIGITS and isfinite(decimal) and Decimal(repr(decimal)) == Decimal(text)
        return decimal if exact else _inexact(text)
    if text.lower() in _TROUBLED_WORDS or _TROUBLED.fullmatch(text):
        hint = f'quote it: "{_short(text)}"{_meaning(text)}'
        return Flaw(E_YAML_AMBIGUOUS, f"`{_short(text)}` is not the same for all YAML readers", hint)
    return text


def resolve_key(text: str) -> str | Flaw:
    """The text of a plain key. `y`, `n`, `on` and the like are fine: keys are always strings."""
    if text.lower() in ("yes", "no", "on", "off"):
        return text
    value = resolve(text)
    if isinstance(value, str):
        return value
    if text == "<<":
        return Flaw(E_YAML_KEY, "the merge key `<<` is not used", "use `extends` to build on another document")
    return Flaw(E_YAML_KEY, f"the key `{_short(text)}` is not text", f'quote it: "{_short(text)}"')


def _inexact(text: str) -> Flaw:
    hint = f'quote it if it is text or fixed point: "{_short(text)}"'
    return Flaw(E_YAML_NUMBER, f"`{_short(text)}` cannot be held exactly", hint)


def _short(text: str) -> str:
    return text if len(text) <= _MAX_DIGITS else text[:_MAX_DIGITS] + "..."


def _meaning(text: str) -> str:
    """The plain spelling of what was perhaps meant, for a hint."""
    word = {"yes": "true", "on": "true", "no": "false", "off": "false", "~": "null"}.get(text.lower(), text.lower())
    if word in _WORDS:
        return f" if it is text, or write {word}"
    return " if it is text, or write a number in plain decimals" if text[0] in "+-.0123456789" else ""
