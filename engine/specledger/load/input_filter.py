"""Checks of size, encoding and characters before YAML is parsed.

Both parsers of PyYAML see only text on whose lines they agree.
"""

import re
from typing import Final

from specledger.core.diagnostics import Diagnostics, code
from specledger.core.spans import Position, Span

MAX_BYTES: Final = 1 << 20
"""Bytes of one file."""
_REPORTED: Final = 20  # characters that are reported one by one

E_YAML_SIZE = code("E_YAML_SIZE", "The file is too large")
E_YAML_ENCODING = code("E_YAML_ENCODING", "The file is not UTF-8")
E_YAML_BOM = code("E_YAML_BOM", "The file has a byte order mark")
E_YAML_TAB = code("E_YAML_TAB", "A tab character")
E_YAML_CONTROL = code("E_YAML_CONTROL", "A control character")
E_YAML_LINE_BREAK = code("E_YAML_LINE_BREAK", "An unusual line break")
E_YAML_BIDI = code("E_YAML_BIDI", "A character that changes the direction of text")

_BIDI = "\u202a-\u202e\u2066-\u2069"
_BREAKS = "\x85\u2028\u2029"
_CONTROL = "\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\ufdd0-\ufdef\ufffe\uffff"
_FORBIDDEN = re.compile(f"[\t\ufeff{_BIDI}{_BREAKS}{_CONTROL}]|\r(?!\n)")
_FORBIDDEN_VALUE = re.compile(f"[\r\ufeff\ud800-\udfff{_BIDI}{_BREAKS}{_CONTROL}]")
_LINE_BREAK = re.compile("\r\n|\r|\n")


def read_text(data: bytes, file: str, diagnostics: Diagnostics) -> str | None:
    """The text of a file, if every byte of it may be looked at; CR LF becomes LF and the last line ends."""
    if len(data) > MAX_BYTES:
        diagnostics.error(
            E_YAML_SIZE, f"the file has {len(data)} bytes", _at(file, "", 0), expected=f"at most {MAX_BYTES}"
        )
        return None
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        diagnostics.error(E_YAML_ENCODING, "the file is UTF-16", _at(file, "", 0), hint="save it as UTF-8")
        return None
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        before = data[: error.start].decode("utf-8")
        message = f"the byte 0x{data[error.start]:02X} is not UTF-8 text"
        diagnostics.error(E_YAML_ENCODING, message, _at(file, before, len(before)), hint="save the file as UTF-8")
        return None
    return admit(text, file, diagnostics)


def admit(text: str, file: str, diagnostics: Diagnostics) -> str | None:
    """The same for text that is already decoded, such as the value of `--set`."""
    clean = True
    for count, match in enumerate(_FORBIDDEN.finditer(text)):
        clean = False
        if count == _REPORTED:
            break
        diagnostics.error(*_describe(match[0]), _at(file, text, match.start()))
    if not clean:
        return None
    text = text.replace("\r\n", "\n")
    return text if text.endswith("\n") or not text else text + "\n"


def find_forbidden(value: str) -> int | None:
    """The offset of the first character that no value may hold, not even by an escape; newline and tab are allowed."""
    match = None if value.isascii() and value.isprintable() else _FORBIDDEN_VALUE.search(value)
    return None if match is None else match.start()


def _describe(character: str) -> tuple[str, str]:
    name = f"U+{ord(character):04X}"
    if character == "\t":
        return E_YAML_TAB, "a tab character; use spaces"
    if character == "\ufeff":
        return E_YAML_BOM, f"the byte order mark {name}"
    if character == "\r":
        return E_YAML_LINE_BREAK, "a carriage return without a line feed"
    if character in _BREAKS:
        return E_YAML_LINE_BREAK, f"the line break {name}"
    if re.match(f"[{_BIDI}]", character):
        return E_YAML_BIDI, f"the character {name}, which changes the direction of text"
    return E_YAML_CONTROL, f"the control character {name}"


def _at(file: str, text: str, offset: int) -> Span:
    """The place of one character; lines are broken as excerpts break them."""
    line, begin = 1, 0
    for match in _LINE_BREAK.finditer(text, 0, offset):
        line, begin = line + 1, match.end()
    start = Position(line, offset - begin + 1)
    return Span(file, start, Position(line, start.column + 1))
