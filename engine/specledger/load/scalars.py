"""Scalars: the value of a plain one, and the place of each character of the value of any.

`resolve` reads null, true, false, decimal integers, decimal numbers and strings, and refuses spellings that YAML 1.1,
YAML 1.2 and people read differently. `scan` reads the source of a scalar again, in all five styles, independently of
PyYAML. Source: YAML 1.1, sections 9.1 to 9.3, as libyaml reads them.
"""

import re
from decimal import Decimal
from math import isfinite
from typing import Final

from msgspec import Struct

from specledger.core.diagnostics import code
from specledger.spec.base import INTEGER_LIMIT

E_YAML_AMBIGUOUS = code("E_YAML_AMBIGUOUS", "A value that YAML readers do not agree about")
E_YAML_NUMBER = code("E_YAML_NUMBER", "A number that cannot be held exactly")
E_YAML_KEY = code("E_YAML_KEY", "A key that is not text on one line")
E_YAML_EMPTY = code("E_YAML_EMPTY", "A key or a dash without a value")

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


class Flaw(Struct, frozen=True):
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
        return Flaw(E_YAML_AMBIGUOUS, f"`{_short(text)}` is ambiguous between YAML 1.1 and 1.2", hint)
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


Marks = list[tuple[int, int]]
"""Ascending (offset in the value, offset in the text) pairs; between them both advance one by one."""

_PLAIN: Final = re.compile(r"(?P<fold> *\n[ \n]*)|(?P<text>[^ \n]+| +)")
_SINGLE: Final = re.compile(r"(?P<fold> *\n[ \n]*)|(?P<quote>'')|(?P<text>[^' \n]+| +)")
_DOUBLE: Final = re.compile(
    r"(?P<fold> *\n[ \n]*)|(?P<join>\\\n[ \n]*)"
    r"|(?P<escape>\\(?:x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8}|.))|(?P<text>[^\\ \n]+| +)"
)
_VERBATIM: Final = re.compile(r"[^\n'\\]*")  # on one line, without escapes
_ESCAPES: Final = {
    **dict(zip("0abt\tnvfre", "\0\a\b\t\t\n\v\f\r\x1b", strict=True)),
    **{" ": " ", '"': '"', "/": "/", "\\": "\\", "N": "\x85", "_": "\xa0", "L": "\u2028", "P": "\u2029"},
}


def scan(text: str, start: int, end: int, style: str) -> tuple[str, Marks]:
    """The value of a scalar and its marks.

    It goes from the scalar's first character (its quote, its `|` or `>`, or its own first one) to the one after its
    last.
    """
    if style == "plain":
        return _scan_flow(text, start, end, _PLAIN)
    if style == "single":
        return _scan_flow(text, start + 1, end - 1, _SINGLE)
    if style == "double":
        return _scan_flow(text, start + 1, end - 1, _DOUBLE)
    return _scan_block(text, start, end, folded=style == "folded")


class _Writer:
    """A value that grows, with its marks; one begins after each line break, since columns do."""

    def __init__(self, start: int) -> None:
        self.parts: list[str] = []
        self.length = 0
        self.marks: Marks = [(0, start)]

    def put(self, piece: str, at: int) -> None:
        """Append a piece whose characters stand at `at` and after it."""
        if not piece:
            return
        offset, source_offset = self.marks[-1]
        after_break = bool(self.parts) and self.parts[-1] == "\n"
        if at - self.length != source_offset - offset or after_break:
            if offset == self.length:
                self.marks.pop()
            self.marks.append((self.length, at))
        self.parts.append(piece)
        self.length += len(piece)

    def result(self, end: int) -> tuple[str, Marks]:
        """The value and its marks, one of them at the end if the last character is more than one wide in the text."""
        offset, source_offset = self.marks[-1]
        if self.length > offset and end - self.length != source_offset - offset:
            self.marks.append((self.length, end))
        return "".join(self.parts), self.marks


def _scan_flow(text: str, start: int, end: int, pattern: re.Pattern[str]) -> tuple[str, Marks]:
    if _VERBATIM.fullmatch(text, start, end):
        return text[start:end], [(0, start)]
    writer = _Writer(start)
    for match in pattern.finditer(text, start, end):
        piece, at = match[0], match.start()
        match match.lastgroup:
            case "text":
                writer.put(piece, at)
            case "quote":
                writer.put("'", at)
            case "escape":
                writer.put(_unescape(piece), at)
            case "join":
                _put_breaks(writer, piece, at)
            case _ if piece.count("\n") == 1:
                writer.put(" ", at)
            case _:
                _put_breaks(writer, piece, at)
    return writer.result(end)


def _put_breaks(writer: _Writer, piece: str, at: int) -> None:
    """Write the line breaks of a fold except the first one."""
    for match in list(re.finditer("\n", piece))[1:]:
        writer.put("\n", at + match.start())


def _unescape(escape: str) -> str:
    """The character of an escape; of one that names no character, U+FFFF, which no value may hold."""
    if escape[1] in "xuU" and len(escape) > 2:
        number = int(escape[2:], 16)
        return chr(number) if number <= 0x10FFFF else "\uffff"
    return _ESCAPES.get(escape[1], "\uffff")


def _scan_block(text: str, start: int, end: int, *, folded: bool) -> tuple[str, Marks]:
    """Read a block scalar: a header line, then lines that lose the indentation of the first one that is not blank."""
    begin = text.find("\n", start, end) + 1
    lines = _lines(text, begin, end) if begin else []
    indent = next((len(line) - len(line.lstrip(" ")) for _, line in lines if line.strip(" ")), 0)
    rows = [line[indent:] for _, line in lines]
    count = max((index + 1 for index, row in enumerate(rows) if row), default=0)
    chomp = text[start + 1 : start + 2]
    writer = _Writer(begin + indent if count else start)
    joints = _fold(rows[:count]) if folded else ["\n"] * (count - 1)
    for (at, line), row, joint in zip(lines, rows, [*joints, ""], strict=False):
        writer.put(row, at + indent)
        writer.put(joint, at + len(line))
    kept = 0 if chomp == "-" else len(rows) if chomp == "+" else count
    for at, line in lines[max(count - 1, 0) : kept]:
        writer.put("\n", at + len(line))
    return "".join(writer.parts), writer.marks


def _lines(text: str, begin: int, end: int) -> list[tuple[int, str]]:
    """The whole lines in a range, each with its offset and without its break."""
    lines = []
    while begin < end and (stop := text.find("\n", begin, end)) >= 0:
        lines.append((begin, text[begin:stop]))
        begin = stop + 1
    return lines


def _fold(rows: list[str]) -> list[str]:
    """What the break after each row but the last becomes, in a folded scalar that ends with a row that is not blank.

    A newline stays next to a row that begins with a space; another one becomes a space, or nothing before blank rows,
    whose own newlines stay.
    """
    joints = []
    following = rows[-1] if rows else ""
    for index in range(len(rows) - 2, -1, -1):
        row = rows[index]
        if not row or row.startswith(" ") or following.startswith(" "):
            joints.append("\n")
        else:
            joints.append(" " if rows[index + 1] else "")
        following = row or following
    return joints[::-1]
