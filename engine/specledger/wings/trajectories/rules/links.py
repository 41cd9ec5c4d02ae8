"""Links: the form in which they are compared, and where one ends in a text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final
from urllib.parse import quote

_ENDS: Final = (
    r"\s<>\"`|\\()\[\]{}\u00ab\u00bb\u2018\u2019\u201c-\u201f\u2026\u3001\u3002\u300c-\u300f\uff0c\uff1a\uff1b"
)
"""What ends a link wherever it stands, and brackets, which end one that did not open them, as in Markdown."""
_IN_A_ROW: Final = r"\\(?=[A-Za-z0-9])(?![nrt]|u[0-9a-fA-F]{4})"
"""What belongs to a link in the row of a table, too: a backslash before what it does not escape in JSON or Markdown."""
_ALONE: Final = rf"{_IN_A_ROW}|\|"


def _rest(more: str) -> str:
    """The pattern of a part of a link, in which some more may stand."""
    mark = rf"(?:[^{_ENDS}']++|'(?=\w){more})"
    inner = rf"(?:\({mark}*+\)|\[{mark}*+\]|{{{mark}*+}}|{mark})"
    return rf"(?:{mark}++|\({inner}*+\)|\[{inner}*+\]|{{{inner}*+}}|[(\[{{])"


_REST: Final = _rest("")
_LONGEST_REST: Final = _rest(r"|\||\\")
_USER: Final = r"(?:[^\s<>\"`/?#@]{0,256}+@){0,4}+"
"""What stands before the host and its `@`: any mark may stand there, and none of it is the host."""
_BEGIN: Final = rf"(?<![^\W_]|[@.-])(?:https?://|www\.){_USER}"
_LINK: Final = re.compile(rf"{_BEGIN}{_REST}++", re.IGNORECASE)
_LONGEST_LINK: Final = re.compile(rf"{_BEGIN}{_LONGEST_REST}++", re.IGNORECASE)
_LINK_IN_A_ROW: Final = re.compile(rf"{_BEGIN}{_rest(f'|{_IN_A_ROW}')}++", re.IGNORECASE)
_LINK_ALONE: Final = re.compile(rf"{_BEGIN}{_rest(f'|{_ALONE}')}++", re.IGNORECASE)
_PORT: Final = r":[0-9]{1,5}(?![0-9])"
_NAMED: Final = r"(?:[\w-]{1,63}+\.){1,8}+(?:xn--[\w-]{1,59}|[^\W\d_]{2,24}+)"
_WITHOUT_DOT: Final = rf"(?:localhost(?:{_PORT})?|(?![\d_-]*:)[\w-]{{1,63}}+{_PORT})"
_ADDRESS: Final = rf"(?:(?:[0-9]{{1,3}}\.){{3}}[0-9]{{1,3}}|\[[0-9a-f:.]{{2,45}}\])(?:{_PORT})?(?!\.\w)"
_BARE_BEGIN: Final = rf"(?<![\w@./:-])(?:{_ADDRESS}|{_NAMED}|{_WITHOUT_DOT})(?![\w@])"
_BARE: Final = re.compile(rf"{_BARE_BEGIN}(?:[/?:#]{_REST}*+)?", re.IGNORECASE)
_LONGEST_BARE: Final = re.compile(rf"{_BARE_BEGIN}[/?:#]{_LONGEST_REST}++", re.IGNORECASE)
_ROW: Final = 1000
"""Characters before a link in which a `|` shows that the link stands in the row of a table."""
_GLUED: Final = re.compile(r"((?:https?://)?(?:[A-Za-z0-9-]{1,63}+\.){1,8}[a-z]{2,24})\.[A-Z][a-z]*")
_ESCAPED: Final = re.compile(r"(?:%[0-9a-f]{2})+", re.IGNORECASE)
_PLAIN_MARKS: Final = "-._~|^{}"
"""Marks that are the same in a link whether they are escaped or not."""
_HOST: Final = re.compile(rf"(?:{_WITHOUT_DOT}|\[[0-9a-f:.]+\](?:{_PORT})?)", re.IGNORECASE)
"""A host without a dot that is one although no scheme stands before it."""


def link_of(text: str) -> str | None:
    """A text that is a link, in the form in which links are compared; None if it is none."""
    link = text.strip().rstrip(".,;:!?")
    plain = re.sub(r"^https?://", "", link, flags=re.IGNORECASE)
    if not plain or re.search(r"\s", plain) or "://" in plain.partition("/")[0]:
        return None
    before, slash, rest = re.match(r"([^/?#]*)(.?)(.*)", plain, re.DOTALL).groups()  # type: ignore[union-attr]
    user, at, host = before.rpartition("@")
    host = host.casefold().removeprefix("www.")
    if "." not in host and link == plain and not _HOST.fullmatch(host):
        return None
    host = re.sub(r":(80|443)$", "", host)
    return (user + at + host + slash + _unescaped(rest)).rstrip("/")


def _unescaped(rest: str) -> str:
    """What comes after a host, in which only characters are escaped that would mean something else otherwise."""
    return _ESCAPED.sub(_meant, rest) if "%" in rest else rest


def _meant(escaped: re.Match[str]) -> str:
    try:
        text = bytes.fromhex(escaped[0].replace("%", "")).decode()
    except UnicodeDecodeError:
        return escaped[0].upper()
    return "".join(character if _is_plain(character) else quote(character, safe="") for character in text)


def _is_plain(character: str) -> bool:
    if character.isascii():
        return character.isalnum() or character in _PLAIN_MARKS
    return character.isprintable()


def links_in(text: str) -> Iterator[str]:
    """The links that a text is taken to have: those with a scheme or `www.`.

    A `|` ends one in the row of a table and before a label.
    """
    if "|" not in text and "\\" not in text:
        found: Iterator[re.Match[str]] = _LINK.finditer(text)
    else:
        found = _ambiguous(text)
    return filter(None, (link_of(_unmarked(link, text)) for link in found))


def _ambiguous(text: str) -> Iterator[re.Match[str]]:
    """The links of a text with `|` or a backslash, which may belong to a link or to what is around it."""
    at = 0
    while (link := _LINK_IN_A_ROW.search(text, at)) is not None:
        before = text[max(link.start() - _ROW, 0) : link.start()]
        in_a_row = "|" in before.rpartition("\n")[2] or before.endswith(("<", "["))  # or before its label
        if text.startswith("|", link.end()) and not in_a_row:
            link = _LINK_ALONE.match(text, link.start()) or link
        yield link
        at = link.end()


def links_of_source(text: str) -> Iterator[str]:
    """The links that a text names, in each way in which it can be read."""
    patterns: tuple[re.Pattern[str], ...] = (_LINK, _BARE)
    if "|" in text or "\\" in text:
        yield from links_in(text)
        patterns = (*patterns, _LONGEST_LINK, _LONGEST_BARE)
    for pattern in patterns:
        for link in pattern.finditer(text):
            readings = {link[0], link[0].replace("&amp;", "&"), _unmarked(link, text), _before_a_sentence(link[0])} - {
                ""
            }
            yield from filter(None, map(link_of, readings))


def _unmarked(link: re.Match[str], text: str) -> str:
    """A link without the marks of Markdown that stand on both sides of it: `**https://a.com**`."""
    mark = text[max(link.start() - 1, 0)]
    return link[0].rstrip(mark) if mark in "*_~" else link[0]


def _before_a_sentence(link: str) -> str:
    """A host without the word of the next sentence, where the space after the full stop is missing: `a.com.They`."""
    host = _GLUED.fullmatch(link)
    return host[1] if host else ""
