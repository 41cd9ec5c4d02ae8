"""Scalars of the YAML that spec files are written in: what a plain one is, and the text of quoted ones and blocks.

What the language surely refuses is refuted; what this file is not sure of stays open, and is never refuted.
"""

import math
import re
from decimal import Decimal

from tools.verifier.basis import BIG, Open, Refuted

LONGEST_FIGURE = 40
BIDI = "\u202a-\u202e\u2066-\u2069"
ODD_BREAKS = "\x85\u2028\u2029"
UNSEEN = "\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\ufdd0-\ufdef\ufffe\uffff\ufeff"
NO_BYTES = re.compile(f"[\t{BIDI}{ODD_BREAKS}{UNSEEN}]|\r(?!\n)")
NO_VALUE = re.compile(f"[\r\ud800-\udfff{BIDI}{ODD_BREAKS}{UNSEEN}]")
WHOLE_NUMBER = re.compile(r"0|-?[1-9][0-9]*")
FRACTION = re.compile(r"-?(?:0|[1-9][0-9]*)\.[0-9]+")
# What some readers of YAML take for a number, a date or a constant, and others for a text.
DISPUTED_WORDS = ("null", "true", "false", "yes", "no", "on", "off", "~", "<<", "=")
DISPUTED = (
    re.compile(r"[-+]?[0-9][0-9_]*(?:\.[0-9_]*)?(?:[eE][-+]?[0-9]+)?"),
    re.compile(r"[-+]?\.[0-9][0-9_]*(?:[eE][-+]?[0-9]+)?"),
    re.compile(r"[-+]?0(?:[xX][0-9a-fA-F_]+|[oO][0-7_]+|[bB][01_]+)"),
    re.compile(r"[-+]?[0-9][0-9_]*(?::[0-9]?[0-9])+(?:\.[0-9_]*)?"),
    re.compile(r"[-+]?\.(?:[iI][nN][fF]|[nN][aA][nN])"),
    re.compile(r"[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}"),
)
ESCAPED = re.compile(r"\\(?:x([0-9A-Fa-f]{2})|u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|(.))", re.DOTALL)
ESCAPES = {"0": "\0", "a": "\a", "b": "\b", "t": "\t", "n": "\n", "v": "\v", "f": "\f", "r": "\r", "e": "\x1b"}
ESCAPES.update({" ": " ", '"': '"', "/": "/", "\\": "\\", "N": "\x85", "_": "\xa0", "L": "\u2028", "P": "\u2029"})
BLOCK_HEAD = re.compile(r"[|>]([-+]?)(?: +#[^\n]*| *)\n")


class Word(str):
    """A text with the file that it is written in; `None` for one that was set."""

    file = None


def word(text, file):
    """A text of a file."""
    made = Word(text)
    made.file = file
    return made


def unreadable(message):
    """A file, or what says how files are resolved, is not what it must be."""
    raise Refuted("E_SOURCES", message)


def unjudged(message):
    """Something is written in a way that this file does not judge."""
    raise Open("E_SOURCES", message)


def decoded(data, name):
    """The text of a file with LF line breaks, the last line ended, if every byte of it may be looked at."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        unreadable(f"{name} is no UTF-8")
    return admitted(text, name)


def admitted(text, name):
    """The same for a text."""
    if NO_BYTES.search(text):
        unreadable(f"{name} holds a tab, a control character or an unusual line break")
    text = text.replace("\r\n", "\n")
    return text if text.endswith("\n") else text + "\n"


def typed_scalar(text):
    """The value of a plain scalar: null, a boolean, an integer, a number with a fraction, or text."""
    if text in ("null", "true", "false"):
        return {"null": None, "true": True, "false": False}[text]
    if WHOLE_NUMBER.fullmatch(text):
        held = len(text) <= LONGEST_FIGURE and -BIG <= int(text) <= BIG
        return int(text) if held else unreadable(f"{text[:LONGEST_FIGURE]} is beyond 2^53 - 1")
    if FRACTION.fullmatch(text):
        found = float(text) if len(text) <= LONGEST_FIGURE else math.inf
        exact = math.isfinite(found) and Decimal(repr(found)) == Decimal(text)
        return found if exact else unreadable(f"{text[:LONGEST_FIGURE]} has more digits than a double")
    if text.lower() in DISPUTED_WORDS or any(one.fullmatch(text) for one in DISPUTED):
        unreadable(f"{text[:LONGEST_FIGURE]} is not the same for all readers of YAML")
    return text


def plain_key(text):
    """The text of a plain key; words that are constants of other readers are texts here."""
    if text.lower() in ("yes", "no", "on", "off"):
        return text
    return text if isinstance(typed_scalar(text), str) else unreadable(f"the key {text[:LONGEST_FIGURE]} is no text")


def folded_lines(lines):
    """Lines of a flow scalar as one text: a break is a space, and blank lines are as many breaks.

    A line is (text, whether the break after it is escaped).
    """
    made, blank, joint = [lines[0][0]], 0, "" if lines[0][1] else " "
    for index, (text, escaped) in enumerate(lines[1:], 1):
        if not text and not escaped and index < len(lines) - 1:
            blank += 1
            continue
        made += ["\n" * blank or joint, text]
        blank, joint = 0, "" if escaped else " "
    return "".join(made)


def single_text(inner):
    """The text between single quotes."""
    return folded_lines([(line, False) for line in stripped_lines(inner)]).replace("''", "'")


def stripped_lines(text):
    """The lines of a text without the blanks around its breaks."""
    lines = text.split("\n")
    last = len(lines) - 1
    return [cut(line, index > 0, index < last) for index, line in enumerate(lines)]


def cut(line, before, after):
    """A line without the blanks on some of its sides."""
    line = line.lstrip(" ") if before else line
    return line.rstrip(" ") if after else line


def double_text(inner):
    """The text between double quotes."""
    lines = inner.split("\n")
    made = []
    for index, line in enumerate(lines):
        line = cut(line, index > 0, False)
        escaped = index < len(lines) - 1 and odd_end(line)
        if escaped:
            line = line[:-1]
        elif index < len(lines) - 1:
            bare = line.rstrip(" ")
            line = line[: len(bare) + 1] if odd_end(bare) else bare
        made.append((ESCAPED.sub(unescaped, line), escaped))
    text = folded_lines(made)
    return unreadable("an escape names a character that no value may hold") if NO_VALUE.search(text) else text


def odd_end(line):
    """Whether a line ends with a backslash that is not escaped itself."""
    return (len(line) - len(line.rstrip("\\"))) % 2 == 1


def unescaped(match):
    """The character of an escape."""
    digits = match[1] or match[2] or match[3]
    if digits:
        number = int(digits, 16)
        return chr(number) if number <= 0x10FFFF else unreadable("an escape beyond U+10FFFF")
    return ESCAPES[match[4]] if match[4] in ESCAPES else unreadable(f"an escape {match[0]!r} that names no character")


def block_text(text, at, indent):
    """The value of a block scalar in a collection at a column, and where the text goes on.

    The first line that is not blank says how far it is indented.
    """
    head = BLOCK_HEAD.match(text, at) or unreadable("after | or > stand only - or + and a comment")
    lines, place = [], head.end()
    own = None
    while place < len(text):
        end = text.index("\n", place)
        line = text[place:end]
        bare = line.lstrip(" ")
        if bare and own is None:
            own = len(line) - len(bare)
            if own <= indent or own == 0:
                break
        if bare and len(line) - len(bare) < own:
            break
        lines.append(line)
        place = end + 1
    if own is None or own <= indent or own == 0:
        empty = not any(lines) and head[1] != "+"
        return ("", place) if empty else unjudged("a block of blank lines")
    first = next(index for index, line in enumerate(lines) if line.strip(" "))
    if any(len(line) > own for line in lines[:first]):
        unjudged("a block whose first lines are blank and longer than the next")
    rows = [line[own:] for line in lines]
    return chomped(rows, text[at] == ">", head[1]), place


def chomped(rows, folded, chomp):
    """The rows of a block as one text."""
    count = max(index for index, row in enumerate(rows) if row) + 1
    made, blank, before = [], 0, None
    for row in rows[:count]:
        if not row:
            blank += 1
            continue
        if not folded:
            breaks = "\n" * (blank + (before is not None))
        elif before is None:
            breaks = "\n" * blank
        elif before[0] == " " or row[0] == " ":
            breaks = "\n" * (blank + 1)
        else:
            breaks = "\n" * blank or " "
        made += [breaks, row]
        blank, before = 0, row
    ending = {"-": "", "": "\n", "+": "\n" * (len(rows) - count + 1)}[chomp]
    return "".join(made) + ending
