"""Reading a scalar's source again: its value, and where in the file each character of the value stands.

Decides the map from offsets in a value to offsets in the text, for all five styles, by YAML's rules of folding,
escaping, indenting and chomping. The value is computed independently of PyYAML, so that the two can be compared.
Refuses to know files and nodes.

Source: YAML 1.1, sections 9.1 to 9.3, as libyaml reads them.
"""

import re
from typing import Final

Marks = list[tuple[int, int]]
"""Ascending (offset in the value, offset in the text) pairs; between them both advance one by one."""

_PLAIN: Final = re.compile(r"(?P<fold> *\n[ \n]*)|(?P<text>[^ \n]+| +)")
_SINGLE: Final = re.compile(r"(?P<fold> *\n[ \n]*)|(?P<quote>'')|(?P<text>[^' \n]+| +)")
_DOUBLE: Final = re.compile(
    r"(?P<fold> *\n[ \n]*)|(?P<join>\\\n[ \n]*)"
    r"|(?P<escape>\\(?:x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8}|.))|(?P<text>[^\\ \n]+| +)"
)
_ESCAPES: Final = {
    **dict(zip("0abt\tnvfre", "\0\a\b\t\t\n\v\f\r\x1b", strict=True)),
    **{" ": " ", '"': '"', "/": "/", "\\": "\\", "N": "\x85", "_": "\xa0", "L": "\u2028", "P": "\u2029"},
}


def scan(text: str, start: int, end: int, style: str) -> tuple[str, Marks]:
    """The value of a scalar and its marks.

    Args:
        text: The whole text, with LF line breaks.
        start: Offset of the scalar's first character: its quote, its `|` or `>`, or its own first one.
        end: Offset after its last character.
        style: One of plain, single, double, literal, folded.
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
        offset, place = self.marks[-1]
        after_break = bool(self.parts) and self.parts[-1] == "\n"
        if at - self.length != place - offset or after_break:
            if offset == self.length:
                self.marks.pop()
            self.marks.append((self.length, at))
        self.parts.append(piece)
        self.length += len(piece)

    def result(self, end: int) -> tuple[str, Marks]:
        """The value and its marks, one of them at the end if the last character is more than one wide in the text."""
        offset, place = self.marks[-1]
        if self.length > offset and end - self.length != place - offset:
            self.marks.append((self.length, end))
        return "".join(self.parts), self.marks


def _scan_flow(text: str, start: int, end: int, pattern: re.Pattern[str]) -> tuple[str, Marks]:
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
