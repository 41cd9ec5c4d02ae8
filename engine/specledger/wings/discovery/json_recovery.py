"""Reads JSON values from any text, and repairs what is nearly JSON, in one pass.

Everything outside of brackets is prose, code fences included. Inside, these are repaired: a comma before a closing
bracket, comments, backticks; in a list, what is not JSON is dropped, and the end may be missing. An object with another
defect is broken as a whole; objects inside it that have the known key are found all the same. Each character is read a
bounded number of times. Numbers and texts keep the bounds of canonical JSON.

Packages that repair JSON complete what is cut and drop one of two equal keys, so that a law could be read which was not
proposed: `"T": 64`, cut after the 6, would be a law about 6 steps.
Source: law proposer, section 7, Extraction and Sanitization; RFC 8259.
"""

from __future__ import annotations

import json
import re
from math import isfinite
from typing import Any, Final

from msgspec import Struct, field

from specledger.core.canonical import MAX_DEPTH, MAX_INTEGER

COMMA: Final = "a comma before a closing bracket"
COMMENT: Final = "a comment"
BACKTICK: Final = "a backtick"
DROPPED: Final = "something that is no JSON, or a missing comma"
UNCLOSED: Final = "a bracket that is not closed"

_OPENING: Final = re.compile(r"\{(?=[ \t\r\n]*[\"'}/`])|\[(?=[ \t\r\n]*[\[{\]/`])")
_SHOWN: Final = 24  # characters of a token or a key in a reason


TOKEN: Final = re.compile(
    r"(?P<space>[ \t\r\n]+)"
    r'|(?P<text>"[^"\\\x00-\x1f]*(?:\\[^\x00-\x1f][^"\\\x00-\x1f]*)*)(?P<end>"?)'
    r"|(?P<mark>[\[\]{},:])"
    r"|(?P<number>-?[0-9][0-9eE.+-]*)"
    r"|(?P<word>[A-Za-z_$][A-Za-z0-9_$]*)"
    r"|(?P<line>//[^\n]*)"
    r"|(?P<block>/\*)"
    r"|(?P<tick>`+)"
    r"|(?P<other>.)",
    re.DOTALL,
)
"""Its groups say what a token is; `end` is empty after a text that is not closed on its line."""

_INTEGER: Final = re.compile(r"-?(?:0|[1-9][0-9]*)")
_NUMBER: Final = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_DIGITS: Final = 40  # characters of a number
_SURROGATE: Final = re.compile("[\ud800-\udfff]")
_WORDS: Final = {"true": True, "false": False, "null": None}


class Found(Struct, frozen=True):
    """A value that was read."""

    value: Any
    mends: tuple[str, ...] = ()


class Broken(Struct, frozen=True):
    """A piece that is no JSON: its text, and why."""

    text: str
    reason: str


class _Frame(Struct):
    """A container that is open.

    Attributes:
        start: Where its bracket stands.
        members: Its values so far.
        due: What comes next: `value`, `comma`, and in an object `key` and `colon`.
        reason: Why the object is broken; empty if it is not.
        mends: What was mended in it; in a list that of its elements apart.
        inner: What was mended in the elements of a list.
        rescued: What was found in broken members.
    """

    start: int
    members: dict[str, Any] | list[Any]
    due: str
    key: str = ""
    reason: str = ""
    mends: dict[str, None] = field(default_factory=dict)
    inner: dict[str, None] = field(default_factory=dict)
    rescued: list[Found | Broken] = field(default_factory=list)

    @property
    def is_list(self) -> bool:
        return isinstance(self.members, list)


def read_values(text: str, wrapper: str, mark: str, shown: int = 1000) -> list[Found | Broken]:
    """The values in a text, in its order: each object by itself, each element of a list.

    An object may hold a list of them under the key `wrapper`; `mark` is the key that an object of interest has. Of a
    broken piece `shown` characters are kept.
    """
    return _Reader(text, wrapper, mark, shown).read()


class _Reader:
    def __init__(self, text: str, wrapper: str, mark: str, shown: int) -> None:
        self._text, self._wrapper, self._mark, self._shown = text, wrapper, mark, shown
        self._at = 0
        self._stack: list[_Frame] = []
        self._objects = 0  # open ones
        self._skipped = 0  # brackets open beyond the depth that is read
        self._mends: dict[
            int, tuple[Any, dict[str, None]]
        ] = {}  # by the identity of an object in a list, which it holds
        self._found: list[Found | Broken] = []

    def read(self) -> list[Found | Broken]:
        while True:
            if not self._stack:
                opening = _OPENING.search(self._text, self._at)
                if opening is None:
                    return self._found
                self._at = opening.end()
                self._open(opening[0], opening.start())
            elif self._at >= len(self._text):
                self._unwind(0)
            else:
                self._step()

    # Tokens

    def _step(self) -> None:
        match = TOKEN.match(self._text, self._at)
        assert match is not None  # noqa: S101 - every character is a token
        start, self._at = self._at, match.end()
        kind = match.lastgroup if match["text"] is None else "text"
        if kind == "block":
            end = self._text.find("*/", self._at)
            self._at = len(self._text) if end < 0 else end + 2
        if kind == "space":
            return
        if kind in ("line", "block", "tick"):
            self._stack[-1].mends[BACKTICK if kind == "tick" else COMMENT] = None
        elif kind == "mark":
            self._bracket(match[0], start)
        elif not self._skipped:
            try:
                self._scalar(scalar(kind, match), kind == "text", start)
            except Wrong as wrong:
                self._drop(str(wrong), start)

    def _bracket(self, mark: str, start: int) -> None:
        if self._skipped:
            self._skipped += (mark in "[{") - (mark in "]}")
            return
        frame = self._stack[-1]
        if mark in "[{":
            if frame.due != "value":
                self._drop(f"`{mark}` where a {frame.due} is due", start)
            self._open(mark, start)
        elif mark == "]" and len(self._stack) > self._objects:
            self._unwind(next(i for i in range(len(self._stack), 0, -1) if self._stack[i - 1].is_list))
        elif mark == "}" and self._objects:
            self._unwind(next(i for i in range(len(self._stack), 0, -1) if not self._stack[i - 1].is_list))
        elif mark == "," and frame.due == "comma":
            frame.due = "value" if frame.is_list else "key"
            frame.key = ""
        elif mark == ":" and frame.due == "colon":
            frame.due = "value"
        else:
            self._drop(f"`{mark}` where a {frame.due} is due", start)

    def _scalar(self, value: Any, is_text: bool, start: int) -> None:
        frame = self._stack[-1]
        if frame.due == "key" and is_text and not frame.is_list:
            if value in frame.members and not frame.reason:
                frame.reason = f"the key `{value[:_SHOWN]}` stands twice"
            frame.key, frame.due = value, "colon"
        elif frame.due == "value":
            self._put(value)
        else:
            self._drop(f"a {'text' if is_text else 'value'} where a {frame.due} is due", start)

    def _put(self, value: Any) -> None:
        frame = self._stack[-1]
        if isinstance(frame.members, list):
            frame.members.append(value)
        else:
            frame.members[frame.key] = value
        frame.due = "comma"

    def _drop(self, what: str, start: int) -> None:
        """Something stands where it cannot: a list goes on without it, an object is broken."""
        frame = self._stack[-1]
        if frame.is_list:
            frame.mends[DROPPED] = None
        elif not frame.reason:
            frame.reason = f"no JSON: {what}, at character {start}"

    # Containers

    def _open(self, mark: str, start: int) -> None:
        if len(self._stack) >= MAX_DEPTH:
            self._skipped = 1
            self._drop(f"more than {MAX_DEPTH} brackets inside one another", start)
            return
        self._objects += mark == "{"
        self._stack.append(_Frame(start, [], "value") if mark == "[" else _Frame(start, {}, "key"))

    def _unwind(self, depth: int) -> None:
        """Close the containers above a depth, and the one at it as it is meant to be closed."""
        self._skipped = 0
        while len(self._stack) > max(depth, 1):
            self._close(closed=False)
        if self._stack:
            self._close(closed=depth > 0)

    def _close(self, *, closed: bool) -> None:
        frame = self._stack.pop()
        self._objects -= not frame.is_list
        if not closed:
            frame.mends[UNCLOSED] = None
        elif frame.due == ("value" if frame.is_list else "key") and frame.members:
            frame.mends[COMMA] = None
        if isinstance(frame.members, dict):
            self._judge(frame, frame.members, closed)
        if not self._stack:
            self._emit(frame)
        elif frame.reason:
            self._deliver_broken(frame)
        else:
            self._deliver(frame)

    def _judge(self, frame: _Frame, members: dict[str, Any], closed: bool) -> None:
        """Find out whether an object is broken by how it ends."""
        wraps = self._wraps(members)
        if frame.due in ("colon", "value"):
            frame.reason = frame.reason or f"no JSON: the key `{frame.key[:_SHOWN]}` has no value"
        if not closed and not wraps:
            frame.reason = frame.reason or "no JSON: the object is not closed"
        if not wraps and not frame.reason:
            broken = next((problem for value in members.values() for problem in _broken_in(value)), None)
            frame.reason = "" if broken is None else broken.reason

    def _wraps(self, value: Any) -> bool:
        return isinstance(value, dict) and self._mark not in value and isinstance(value.get(self._wrapper), list)

    def _deliver(self, frame: _Frame) -> None:
        """Hand a whole container to the one that it stands in."""
        above = self._stack[-1]
        if above.is_list:
            if frame.is_list:
                above.mends |= frame.mends
                above.inner |= frame.inner
            else:
                self._mends[id(frame.members)] = (frame.members, frame.mends)
                above.inner |= frame.mends
        else:
            above.mends |= frame.mends
            if above.key != self._wrapper:
                above.mends |= frame.inner
        above.rescued += frame.rescued
        if above.is_list or above.due == "value":
            self._put(frame.members)
        else:
            above.rescued += self._marked(frame.members)

    def _deliver_broken(self, frame: _Frame) -> None:
        above = self._stack[-1]
        rescued = [*frame.rescued, *self._inside(frame.members)]
        if isinstance(above.members, list):
            above.members.append(self._broken(frame))
            above.due = "comma"
        else:
            above.reason = above.reason or frame.reason
            above.due = "comma"
        above.rescued += rescued

    def _broken(self, frame: _Frame) -> Broken:
        return Broken(self._text[frame.start : min(self._at, frame.start + self._shown)], frame.reason)

    # What is found

    def _emit(self, frame: _Frame) -> None:
        if frame.reason:
            self._found.append(self._broken(frame))
            self._found += [*frame.rescued, *self._inside(frame.members)]
            return
        if isinstance(frame.members, list) or self._wraps(frame.members):
            self._found += self._elements(frame.members, frame.mends)
        else:
            self._found.append(Found(frame.members, tuple(frame.mends)))
        self._found += frame.rescued

    def _elements(self, value: Any, outer: dict[str, None]) -> list[Found | Broken]:
        """What a list, or an object that wraps one, holds."""
        if isinstance(value, Broken):
            return [value]
        mends = outer | self._mended(value)
        if self._wraps(value):
            value = value[self._wrapper]
        if isinstance(value, list):
            return [item for element in value for item in self._elements(element, mends)]
        return [Found(value, tuple(mends))]

    def _mended(self, value: Any) -> dict[str, None]:
        return self._mends.get(id(value), (value, {}))[1] if isinstance(value, dict) else {}

    def _marked(self, value: Any) -> list[Found | Broken]:
        """The objects in a broken one that have the known key."""
        if isinstance(value, dict) and self._mark in value:
            return [Found(value, tuple(self._mended(value) | {DROPPED: None}))]
        return self._inside(value)

    def _inside(self, value: Any) -> list[Found | Broken]:
        members = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
        return [text for member in members for text in self._marked(member)]


def _broken_in(value: Any) -> list[Broken]:
    """The broken pieces in a list; an object holds none, for it would be broken itself."""
    if isinstance(value, list):
        return [problem for element in value for problem in _broken_in(element)]
    return [value] if isinstance(value, Broken) else []


class Wrong(ValueError):  # noqa: N818 - says what a token is
    """A token that is not a value."""


def scalar(kind: str | None, match: re.Match[str]) -> Any:
    """The value of a scalar token.

    Raises:
        Wrong: It is not a value.
    """
    if kind == "text":
        return _text(match)
    token = match[0]
    if kind == "word" and token in _WORDS:
        return _WORDS[token]
    if kind == "number" and len(token) <= _DIGITS and _NUMBER.fullmatch(token):
        value = int(token) if _INTEGER.fullmatch(token) else float(token)
        if isfinite(value) and abs(value) <= MAX_INTEGER:
            return value
    shown = token[:_SHOWN] + ("..." if len(token) > _SHOWN else "")
    limit = " within 2^53 - 1" if kind == "number" else ""
    raise Wrong(f"`{shown}` is no value{limit}")


def _text(match: re.Match[str]) -> str:
    """The value of a text token."""
    if not match["end"]:
        raise Wrong("a text that is not closed on its line")
    try:
        value: str = json.loads(match[0]) if "\\" in match[0] else match[0][1:-1]
    except ValueError:
        raise Wrong("a text with an escape that there is not") from None
    if not value.isascii() and _SURROGATE.search(value):
        raise Wrong("a text with half of a character")
    return value
