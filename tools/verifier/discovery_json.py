"""JSON in the answer of a model: found anywhere in a text, mended where it is nearly JSON (docs/prompts.md, Answers).

What a text holds is a list of pieces: `("value", value, mends)` or `("broken", text, reason)`. Every character is
looked at a bounded number of times, whatever the text.
"""

import json
import re
from math import isfinite

from tools.verifier.basis import BIG, DEPTH

ANSWER_BEGINS = re.compile(r"\{(?=[ \t\r\n]*[\"'}/`])|\[(?=[ \t\r\n]*[\[{\]/`])")
ANSWER_SPACE = re.compile(r"[ \t\r\n]+")
ANSWER_TEXT = re.compile(r'"(?:[^"\\\x00-\x1f]|\\[^\x00-\x1f])*')
ANSWER_DIGITS = re.compile(r"-?[0-9][0-9eE.+-]*")
ANSWER_WORD = re.compile(r"[A-Za-z_$][A-Za-z0-9_$]*")
ANSWER_LINE = re.compile(r"//[^\n]*")
ANSWER_TICKS = re.compile(r"`+")
ANSWER_INTEGER = re.compile(r"-?(?:0|[1-9][0-9]*)")
ANSWER_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
HALF_CHARACTER = re.compile("[\ud800-\udfff]")
MENDED_COMMA, MENDED_COMMENT, MENDED_TICK = "a comma before a closing bracket", "a comment", "a backtick"
MENDED_DROPPED, MENDED_OPEN = "something that is no JSON, or a missing comma", "a bracket that is not closed"
ANSWER_SHOWN = 1000  # characters of a broken piece


class NoValue(ValueError):
    """A token that is no value."""


class Shelf:
    """A bracket that is open: what it holds so far, what is due next, and what is wrong or was mended in it."""

    def __init__(self, start, is_list):
        self.start, self.is_list = start, is_list
        self.held = [] if is_list else {}
        self.due = "value" if is_list else "key"
        self.key, self.reason = "", ""
        self.mends, self.inner, self.saved = {}, {}, []

    def put(self, value):
        """Take a value at the place where one is due."""
        if self.is_list:
            self.held.append(value)
        else:
            self.held[self.key] = value
        self.due = "comma"


class Shard(tuple):
    """A broken piece inside a list: `("broken", text, reason)`."""

    __slots__ = ()


def worth(kind, token, closed):
    """What a scalar token is worth."""
    if kind == "text":
        if not closed:
            raise NoValue("a text that is not closed on its line")
        try:
            value = json.loads(token)
        except ValueError:
            raise NoValue("a text with an escape that there is not") from None
        if HALF_CHARACTER.search(value):
            raise NoValue("a text with half of a character")
        return value
    if token in ("true", "false", "null"):
        return {"true": True, "false": False, "null": None}[token]
    if kind == "number" and len(token) <= 40 and ANSWER_NUMBER.fullmatch(token):
        value = int(token) if ANSWER_INTEGER.fullmatch(token) else float(token)
        if isfinite(value) and abs(value) <= BIG:
            return value
    shown = token[:24] + ("..." if len(token) > 24 else "")
    raise NoValue(f"`{shown}` is no value" + (" within 2^53 - 1" if kind == "number" else ""))


class AnswerReader:
    """Reads one text; `wrapper` is the key of an object that holds the list of objects, `mark` one that they have."""

    def __init__(self, text, wrapper="laws", mark="template"):
        self.text, self.wrapper, self.mark = text, wrapper, mark
        self.at, self.open, self.beyond = 0, [], 0
        self.mended, self.found = {}, []

    def pieces(self):
        """All pieces of the text, in its order."""
        while True:
            if self.open:
                if self.at < len(self.text):
                    self.token()
                else:
                    self.close_to(0)
                continue
            begins = ANSWER_BEGINS.search(self.text, self.at)
            if begins is None:
                return self.found
            self.at = begins.end()
            self.opened(begins.group(), begins.start())

    # Tokens

    def next(self):
        """The kind of the next token, the token, and whether a text is closed; the place moves behind it."""
        text, at = self.text, self.at
        if text.startswith("/*", at):
            end = text.find("*/", at + 2)
            self.at = len(text) if end < 0 else end + 2
            return "comment", "", True
        tried = (("space", ANSWER_SPACE), ("text", ANSWER_TEXT), ("number", ANSWER_DIGITS), ("word", ANSWER_WORD))
        for kind, form in (*tried, ("comment", ANSWER_LINE), ("tick", ANSWER_TICKS)):
            match = form.match(text, at)
            if match is not None:
                closed = kind == "text" and text.startswith('"', match.end())
                self.at = match.end() + closed
                return kind, text[at : self.at], closed
        self.at = at + 1
        return "mark" if text[at] in "[]{},:" else "other", text[at], True

    def token(self):
        """Take the next token inside brackets."""
        start = self.at
        kind, token, closed = self.next()
        if kind in ("comment", "tick"):
            self.open[-1].mends[MENDED_TICK if kind == "tick" else MENDED_COMMENT] = None
        elif kind == "mark":
            self.bracket(token, start)
        elif kind != "space" and not self.beyond:
            try:
                self.scalar(worth(kind, token, closed), kind == "text", start)
            except NoValue as wrong:
                self.misplaced(str(wrong), start)

    def bracket(self, mark, start):
        """Take a bracket, a comma or a colon."""
        if self.beyond:
            self.beyond += (mark in "[{") - (mark in "]}")
            return
        top = self.open[-1]
        if mark in "[{":
            if top.due != "value":
                self.misplaced(f"`{mark}` where a {top.due} is due", start)
            self.opened(mark, start)
            return
        if mark in "]}":
            same = [depth for depth, shelf in enumerate(self.open, 1) if shelf.is_list == (mark == "]")]
            if same:
                self.close_to(same[-1])
                return
        if mark == "," and top.due == "comma":
            top.due, top.key = "value" if top.is_list else "key", ""
        elif mark == ":" and top.due == "colon":
            top.due = "value"
        else:
            self.misplaced(f"`{mark}` where a {top.due} is due", start)

    def scalar(self, value, is_text, start):
        """Take a scalar: a key, a value, or what has no place here."""
        top = self.open[-1]
        if top.due == "value":
            top.put(value)
        elif top.due == "key" and is_text:
            if value in top.held and not top.reason:
                top.reason = f"the key `{value[:24]}` stands twice"
            top.key, top.due = value, "colon"
        else:
            self.misplaced(f"a {'text' if is_text else 'value'} where a {top.due} is due", start)

    def misplaced(self, what, start):
        """A list goes on without what has no place in it, an object is broken by it."""
        top = self.open[-1]
        if top.is_list:
            top.mends[MENDED_DROPPED] = None
        else:
            top.reason = top.reason or f"no JSON: {what}, at character {start}"

    # Brackets

    def opened(self, mark, start):
        """A bracket opens, unless too many are open."""
        if len(self.open) < DEPTH:
            self.open.append(Shelf(start, mark == "["))
        else:
            self.beyond = 1
            self.misplaced(f"more than {DEPTH} brackets inside one another", start)

    def close_to(self, depth):
        """The bracket at this depth is closed by its own, all deeper ones by nothing; at depth 0 the text ends."""
        self.beyond = 0
        while len(self.open) > max(depth, 1):
            self.close(False)
        if self.open:
            self.close(depth > 0)

    def close(self, closed):
        """The innermost bracket ends."""
        shelf = self.open.pop()
        if not closed:
            shelf.mends[MENDED_OPEN] = None
        elif shelf.held and shelf.due == ("value" if shelf.is_list else "key"):
            shelf.mends[MENDED_COMMA] = None
        if not shelf.is_list:
            self.judge(shelf, closed)
        if not self.open:
            self.tell(shelf)
        elif shelf.reason:
            self.hand_broken(shelf, self.open[-1])
        else:
            self.hand(shelf, self.open[-1])

    def judge(self, shelf, closed):
        """Whether an object is broken by how it ends, or by what it holds."""
        if shelf.due in ("colon", "value"):
            shelf.reason = shelf.reason or f"no JSON: the key `{shelf.key[:24]}` has no value"
        if self.wraps(shelf.held):
            return
        if not closed:
            shelf.reason = shelf.reason or "no JSON: the object is not closed"
        if not shelf.reason:
            shards = [one for value in shelf.held.values() for one in shards_of(value)]
            shelf.reason = shards[0][2] if shards else ""

    def wraps(self, value):
        """Whether an object is no law itself and holds a list of laws."""
        return isinstance(value, dict) and self.mark not in value and isinstance(value.get(self.wrapper), list)

    def hand(self, shelf, above):
        """Give a whole container to the one around it."""
        if above.is_list and not shelf.is_list:
            self.mended[id(shelf.held)] = (shelf.held, shelf.mends)  # the object is held, so that its id stays its own
            above.inner.update(shelf.mends)
        else:
            above.mends.update(shelf.mends)
            if above.is_list:
                above.inner.update(shelf.inner)
            elif above.key != self.wrapper:
                above.mends.update(shelf.inner)
        above.saved += shelf.saved
        if above.is_list or above.due == "value":
            above.put(shelf.held)
        else:
            above.saved += self.marked(shelf.held)

    def hand_broken(self, shelf, above):
        """Give a broken object to the container around it, and what can be saved of it."""
        if above.is_list:
            above.held.append(self.shard(shelf))
        else:
            above.reason = above.reason or shelf.reason
        above.due = "comma"
        above.saved += shelf.saved + self.inside(shelf.held)

    def shard(self, shelf):
        return Shard(("broken", self.text[shelf.start : min(self.at, shelf.start + ANSWER_SHOWN)], shelf.reason))

    # What is found

    def tell(self, shelf):
        """An outermost container is done."""
        if shelf.reason:
            self.found += [self.shard(shelf), *shelf.saved, *self.inside(shelf.held)]
            return
        if shelf.is_list or self.wraps(shelf.held):
            self.found += self.elements(shelf.held, shelf.mends)
        else:
            self.found.append(("value", shelf.held, tuple(shelf.mends)))
        self.found += shelf.saved

    def elements(self, value, around):
        """What a list holds, or an object that wraps one."""
        if isinstance(value, Shard):
            return [value]
        mends = {**around, **self.mends_of(value)}
        inner = value[self.wrapper] if self.wraps(value) else value
        if isinstance(inner, list):
            return [one for element in inner for one in self.elements(element, mends)]
        return [("value", value, tuple(mends))]

    def mends_of(self, value):
        return self.mended.get(id(value), (None, {}))[1] if isinstance(value, dict) else {}

    def marked(self, value):
        """The objects with the mark, in what a broken object held."""
        if isinstance(value, dict) and self.mark in value:
            return [("value", value, tuple({**self.mends_of(value), MENDED_DROPPED: None}))]
        return self.inside(value)

    def inside(self, value):
        members = value.values() if isinstance(value, dict) else value if type(value) is list else ()
        return [one for member in members for one in self.marked(member)]


def shards_of(value):
    """The broken pieces in a list."""
    if type(value) is list:
        return [one for element in value for one in shards_of(element)]
    return [value] if isinstance(value, Shard) else []
