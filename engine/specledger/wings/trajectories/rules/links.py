"""Links: the form in which they are compared, and where one ends in a text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

_ENDS: Final = (
    r"\s<>\"`|\\()\[\]{}\u00ab\u00bb\u2018\u2019\u201c-\u201f\u2026\u3001\u3002\u300c-\u300f\uff0c\uff1a\uff1b"
)
"""What ends a link wherever it stands, and brackets, which end one that did not open them, as in Markdown."""
_MARK: Final = rf"(?:[^{_ENDS}']++|'(?=\w))"
_INNER: Final = rf"(?:\({_MARK}*+\)|\[{_MARK}*+\]|{{{_MARK}*+}}|{_MARK})"
_REST: Final = rf"(?:{_MARK}++|\({_INNER}*+\)|\[{_INNER}*+\]|{{{_INNER}*+}}|[(\[{{])"
_USER: Final = r"(?:[^\s<>\"`/?#@]{0,256}+@){0,4}+"
"""What stands before the host and its `@`: any mark may stand there, and none of it is the host."""
_LINK: Final = re.compile(rf"(?<![^\W_]|[@.-])(?:https?://|www\.){_USER}{_REST}++", re.IGNORECASE)
_PORT: Final = r":[0-9]{1,5}(?![0-9])"
_NAMED: Final = r"(?:[\w-]{1,63}+\.){1,8}+(?:xn--[\w-]{1,59}|[^\W\d_]{2,24}+)"
_WITHOUT_DOT: Final = rf"(?:localhost(?:{_PORT})?|(?![\d_-]*:)[\w-]{{1,63}}+{_PORT})"
_ADDRESS: Final = rf"(?:(?:[0-9]{{1,3}}\.){{3}}[0-9]{{1,3}}|\[[0-9a-f:.]{{2,45}}\])(?:{_PORT})?(?!\.\w)"
_BARE: Final = re.compile(
    rf"(?<![\w@./:-])(?:{_ADDRESS}|{_NAMED}|{_WITHOUT_DOT})(?![\w@])(?:[/?:#]{_REST}*+)?", re.IGNORECASE
)
_GLUED: Final = re.compile(r"((?:https?://)?(?:[A-Za-z0-9-]{1,63}+\.){1,8}[a-z]{2,24})\.[A-Z][a-z]*")
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
    return (user + at + host + slash + rest).rstrip("/")


def links_in(text: str) -> Iterator[str]:
    """The links that a text is taken to have: those with a scheme or `www.`."""
    return filter(None, (link_of(_unmarked(link, text)) for link in _LINK.finditer(text)))


def links_of_source(text: str) -> Iterator[str]:
    """The links that a text names, in each way in which it can be read."""
    for pattern in (_LINK, _BARE):
        for link in pattern.finditer(text):
            readings = {link[0], _unmarked(link, text), _before_a_sentence(link[0])} - {""}
            yield from filter(None, map(link_of, readings))


def _unmarked(link: re.Match[str], text: str) -> str:
    """A link without the marks of Markdown that stand on both sides of it: `**https://a.com**`."""
    mark = text[max(link.start() - 1, 0)]
    return link[0].rstrip(mark) if mark in "*_~" else link[0]


def _before_a_sentence(link: str) -> str:
    """A host without the word of the next sentence, where the space after the full stop is missing: `a.com.They`."""
    host = _GLUED.fullmatch(link)
    return host[1] if host else ""
