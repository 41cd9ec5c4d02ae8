"""Values by type: what is one, how it is compared, and which occur in a text. Never by sub-string.

Every pattern takes linear time: runs are bounded or possessive and begin where no run can have begun before.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from decimal import Context, InvalidOperation
from typing import Any, Final
from unicodedata import normalize

from specledger.core.log_json import as_text
from specledger.wings.trajectories.rules.links import link_of, links_in, links_of_source

_WORD: Final = re.compile(r"\w+")
_FEW_BYTES: Final = 10_000
_ASCII_WORDS: Final = bytes(
    ord(character.lower()) if _WORD.match(character) else ord(" ") for character in map(chr, range(128))
) + bytes(128)
"""What each ASCII character is in the words of a text: itself in lower case, or the end of a word."""
_MAIL: Final = re.compile(
    r"(?<![\w.!#$%&*+/=?^{|}~-])(?<![\w.!#$%&*+/=?^{|}~-]['`])(?!['`])"
    r"[\w.!#$%&'*+/=?^`{|}~-]{1,64}+@[\w-]{1,63}+(?:\.[\w-]{1,63}+){1,8}+"
)
"""A quote may stand within the first part, and does not begin it: `'ann@b.org'` is an address in quotes.

A full stop behind an address ends a sentence.
"""
_IBAN: Final = re.compile(
    r"(?<![A-Z0-9])[A-Z]{2}[0-9]{2}(?:[A-Z0-9]{11,30}+(?![A-Z0-9])|(?:[ -][A-Z0-9]{4}){2,7}+(?:[ -][A-Z0-9]{1,4})?)",
    re.IGNORECASE,
)
_NUMBER: Final = re.compile(
    r"(?<![\w.,])[-+]?[0-9]{1,3}(?:,[0-9]{3})++(?:\.[0-9]{1,40}+)?"
    r"|(?<![\w.,])[-+]?[0-9]{1,40}+(?:\.[0-9]{1,40}+)?"
)
_PATHS: Final = re.compile(r"[^\s\"'<>|,;()`]{1,4096}+")
_MONTHS: Final = {
    name: index // 2 + 1
    for index, name in enumerate(
        [
            "january",
            "jan",
            "february",
            "feb",
            "march",
            "mar",
            "april",
            "apr",
            "may",
            "may",
            "june",
            "jun",
            "july",
            "jul",
            "august",
            "aug",
            "september",
            "sep",
            "october",
            "oct",
            "november",
            "nov",
            "december",
            "dec",
        ]
    )
}
_MONTH: Final = "(" + "|".join(sorted(_MONTHS, key=len, reverse=True)) + r")\.?"
_ISO: Final = re.compile(r"(?<![0-9])([0-9]{4})[-/]([0-9]{1,2})[-/]([0-9]{1,2})(?![0-9])")
_DAYS: Final = (
    re.compile(rf"\b{_MONTH} ([0-9]{{1,2}})(?:st|nd|rd|th)?\b(?:,? ([0-9]{{4}}))?", re.IGNORECASE),
    re.compile(rf"\b([0-9]{{1,2}})(?:st|nd|rd|th)?(?: of)? {_MONTH}(?:,? ([0-9]{{4}}))?\b", re.IGNORECASE),
)
_SLASHED: Final = re.compile(r"(?<![0-9/.])([0-9]{1,2})[/.]([0-9]{1,2})[/.]([0-9]{4})(?![0-9])")
_EXACT: Final = Context(prec=100)
"""More digits than a number has that is read: what differs in the last one is not equal."""
_ADDRESSED: Final = re.compile(r"\s*([^<>]*?)\s*<([^<>]*)>\s*")


def text_of(value: Any) -> str | None:
    """A value of JSON as text; None for a list or an object."""
    if type(value) is str:
        return value
    if type(value) is bool:
        return "true" if value else "false"
    return as_text(value)


def words(text: str) -> str:
    """The words of a text in one spelling, with a space between: letter case, marks and white space do not count."""
    if text.isascii():
        spaced = text.encode().translate(_ASCII_WORDS)
        if len(text) <= _FEW_BYTES:
            return b" ".join(spaced.split()).decode()
        while b"  " in spaced:  # a list of all words would take many times the memory of the text
            spaced = spaced.replace(b"  ", b" ")
        return spaced.strip().decode()
    return " ".join(_WORD.findall(normalize("NFKC", text).casefold()))


def _email(text: str) -> str | None:
    addressed = _ADDRESSED.fullmatch(text) if len(text) < 1000 else None
    plain = (addressed[2] if addressed else text).strip()
    return plain.casefold() if _MAIL.fullmatch(plain) else None


def _iban(text: str) -> str | None:
    plain = re.sub(r"[\s-]", "", text).upper() if len(text) < 100 else ""
    return plain if re.fullmatch(r"[A-Z]{2}[0-9]{2}[A-Z0-9]{11,30}", plain) else None


def _name(text: str) -> str | None:
    addressed = _ADDRESSED.fullmatch(text) if len(text) < 1000 else None
    return words((addressed[1] if addressed else text).strip().lstrip("@#")) or None


def _number(text: str) -> str | None:
    plain = text.strip().strip("$€£¥ ").replace(" ", "")
    if re.fullmatch(r"[-+]?[0-9]{1,3}(,[0-9]{3})+(\.[0-9]+)?", plain):
        plain = plain.replace(",", "")
    if len(plain) > 60 or not re.fullmatch(r"[-+]?[0-9]*\.?[0-9]+([eE][-+]?[0-9]{1,3})?", plain):
        return None
    try:
        return format(_EXACT.add(_EXACT.normalize(_EXACT.create_decimal(plain)), 0), "f")
    except InvalidOperation:
        return None


def _path(text: str) -> str | None:
    plain = text.strip().removeprefix("file://")
    if not plain or "\0" in plain or "\n" in plain:
        return None
    if re.match(r"[A-Za-z]:[\\/]|\\\\", plain):
        plain = plain.replace("\\", "/")
    parts: list[str] = []
    for part in plain.split("/"):
        if part == ".." and parts and parts[-1] != "..":
            parts.pop()
        elif part == ".." and plain.startswith("/"):
            continue
        elif part not in ("", "."):
            parts.append(part)
    return ("/" if plain.startswith("/") else "") + "/".join(parts) or "."


def _day(year: int, month: int, day: int) -> str | None:
    if not (1 <= month <= 12 and 1 <= day <= 31):
        return None
    return f"{year:04d}-{month:02d}-{day:02d}" if year else f"--{month:02d}-{day:02d}"


def _dates(text: str) -> Iterator[str]:
    days = [_day(*map(int, match.groups())) for match in _ISO.finditer(text)]
    days += [_day(int(m[3] or 0), _MONTHS[m[1].lower()], int(m[2])) for m in _DAYS[0].finditer(text)]
    days += [_day(int(m[3] or 0), _MONTHS[m[2].lower()], int(m[1])) for m in _DAYS[1].finditer(text)]
    for match in _SLASHED.finditer(text):
        first, second, year = map(int, match.groups())
        days += [_day(year, first, second), _day(year, second, first)]
    yield from filter(None, days)


def _date(text: str) -> str | None:
    plain = text.strip()
    days = {day for day in _dates(plain) if not day.startswith("--")} if len(plain) < 60 else set()
    return days.pop() if len(days) == 1 else None


def _source_ibans(text: str) -> Iterator[str]:
    for match in _IBAN.findall(text):
        groups = re.split("[ -]", match)
        for end in range(1, len(groups) + 1):
            if iban := _iban("".join(groups[:end])):
                yield iban


def _checked_ibans(text: str) -> Iterator[str]:
    for match in _IBAN.findall(text):
        spellings = list(_source_ibans(match))
        yield next((iban for iban in spellings if _adds_up(iban)), spellings[-1])


def _adds_up(iban: str) -> bool:
    return int("".join(str(int(character, 36)) for character in iban[4:] + iban[:4])) % 97 == 1


def _mails(text: str) -> Iterator[str]:
    return (mail.casefold() for mail in _MAIL.findall(text))


WHOLE: Final[dict[str, Callable[[str], str | None]]] = {
    "url": link_of,
    "email": _email,
    "iban": _iban,
    "name": _name,
    "date": _date,
    "number": _number,
    "text": lambda text: words(text) or None,
    "path": _path,
}
"""The form in which a value of each type is compared; None if a text is none."""

INSIDE: Final[dict[str, Callable[[str], Iterable[str]]]] = {
    "url": links_of_source,
    "email": _mails,
    "iban": _source_ibans,
    "date": _dates,
    "number": lambda text: filter(None, map(_number, _NUMBER.findall(text))),
    "path": lambda text: filter(None, map(_path, (t.rstrip(".:!?") for t in _PATHS.findall(text)))),
}
"""What occurs in a text, for the types that have a form of their own; names and texts are looked for as words."""

PLURAL: Final[dict[str, tuple[str, Callable[[str], Iterable[str]]]]] = {
    "urls": ("url", links_in),
    "emails": ("email", _mails),
    "ibans": ("iban", _checked_ibans),
    "dates": ("date", lambda text: (day for day in _dates(text) if not day.startswith("--"))),
}
"""The type of each value, and the values that a text is taken to have."""

_ENDINGS: Final = ("ations", "ation", "ings", "ing", "ies", "ed", "es", "ly", "er", "s", "e")


def stem(word: str) -> str:
    """An English word without its ending: what remains has three characters at least."""
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word[: -len(ending)]
    return word
