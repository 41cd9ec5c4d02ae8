"""Where values come from: sources with an ordered past, indexed by type as they are asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

import re2
from msgspec import UNSET, Struct

from specledger.core.unknown import Unknown, graver
from specledger.wings.trajectories.model import Withheld
from specledger.wings.trajectories.rules.conditions import TOO_MUCH, Condition, Event, bind
from specledger.wings.trajectories.rules.firsts import Firsts
from specledger.wings.trajectories.rules.leaks import Leaves, SpelledText, first_spelled, runs
from specledger.wings.trajectories.rules.paths import is_withheld, leaves
from specledger.wings.trajectories.rules.phrases import HeardText, Phrases
from specledger.wings.trajectories.rules.same import Pair
from specledger.wings.trajectories.rules.structured import at_fields, structured
from specledger.wings.trajectories.rules.values import INSIDE, WHOLE, text_of, words

_AS_WORDS: Final = ("name", "text")
_MOST_TEXT: Final = 2_000_000
"""Characters of a text that is searched."""
_VALUE: Final = 200
"""Bytes of memory that a value takes beside its text, about."""


class SourcePlan(Struct, frozen=True, eq=False):
    """A source as a policy writes it.

    Attributes:
        sort: request, system, set, field, text, or any (all that was heard).
        elements: The values of a set by type.
        same: What the call of a result must have in common with the call now.
    """

    sort: str
    label: str
    matches: Callable[[str], bool] = bool
    fields: tuple[tuple[str, ...], ...] = ()
    condition: Condition | None = None
    elements: Mapping[str, frozenset[str]] = {}
    least: int = 3
    same: tuple[Pair, ...] = ()


class _Index:
    """The values of one type that a source has: the events in which each was first.

    Attributes:
        seen: How many events of the source were read.
    """

    __slots__ = ("exact", "phrases", "seen")

    def __init__(self) -> None:
        self.exact = Firsts(Event.parallel_to)
        self.phrases = Phrases(Event.parallel_to)
        self.seen = 0


class _Leaks:
    """What of a source is looked for inside texts, once a rule has asked.

    Attributes:
        learned: How many events of the source `parts` has.
        tokenized: How many events of the source `tokens` has.
    """

    __slots__ = ("learned", "leaves", "parts", "tokenized", "tokens")

    def __init__(self) -> None:
        self.leaves = Leaves()
        self.parts = Firsts(Event.parallel_to)
        self.learned = 0
        self.tokens = Phrases(Event.parallel_to)
        self.tokenized = 0


_NO_REQUEST: Final = Unknown("the request is not recorded")


class Source:
    """A source in one trajectory: what was heard before a call, and so in no call that is parallel to it."""

    def __init__(self, plan: SourcePlan, session: Any) -> None:
        self.plan = plan
        self._session = session
        self.events: list[Event] = []
        self._pending: dict[int, Event] = {}
        self._waiting: list[Event] = []
        self._unknown: list[tuple[Unknown, Event]] = []
        self._indexes: dict[str, _Index] = {}
        self._leaks: _Leaks | None = None

    def call(self, event: Event) -> None:
        """Remember a call of the source's tools, whose result is not there yet."""
        self._pending[event.number] = event

    def forget(self, event: Event) -> None:
        """Forget a call that was not made."""
        self._pending.pop(event.number, None)

    def result(self, event: Event) -> None:
        """Remember what came back, or a message."""
        self._pending.pop(event.number, None)
        self._waiting.append(event)

    def _take(self) -> None:
        """Judge the conditions of what was heard since."""
        condition, sort = self.plan.condition, self.plan.sort
        for event in self._waiting:
            if event.message is not None and type(event.message.text) is Withheld:
                self._doubt(Unknown(f"{_described(event)} is withheld", withheld=True), event)
                continue
            if event.call is not None:
                wanted: Any = True
                if condition is not None:
                    wanted = condition.decide(bind(condition.readers, self._session, event))
                    if wanted is False:
                        continue
                reason = wanted if type(wanted) is Unknown else _unreadable(event, sort)
                if reason is not None:
                    self._doubt(reason, event)
                    continue
            self.events.append(event)
        self._waiting.clear()

    def _doubt(self, reason: Unknown, event: Event) -> None:
        """Keep the first reasons of both sorts for which a value could be here: one at least is of no parallel call."""
        alike = [doubted for known, doubted in self._unknown if known.withheld == reason.withheld]
        if len(alike) < 2 and not any(event.parallel_to(doubted) for doubted in alike):
            self._unknown.append((reason, event))

    def has_heard(self, now: Event) -> bool:
        """Whether there is anything that a call now may have taken a value from."""
        self._take()
        heard = (*self.events, *self._pending.values(), *(event for _, event in self._unknown))
        return any(event is not now and not event.parallel_to(now) for event in heard)

    def unknown(self, now: Event) -> Unknown | None:
        """Why a value that is not here could be here all the same."""
        self._take()
        reasons = [reason for reason, event in self._unknown if not event.parallel_to(now)]
        if reasons:
            return graver(*reasons)
        if not self._session.messages and self.plan.sort in ("request", "system"):
            return _NO_REQUEST
        for event in self._pending.values():
            if event is not now and not event.parallel_to(now):
                return Unknown(f"the result of {_called(event)} is not recorded")
        return None

    def find(self, type_: str, value: str, now: Event, *, stems: bool = False) -> str | None:
        """In words the first origin of a value in the form in which values of its type are compared."""
        if self.plan.sort == "set":
            elements = self.plan.elements[type_]
            domain = f"*@{value.rpartition('@')[2]}" if type_ == "email" else value
            return self.plan.label if value in elements or domain in elements else None
        index = self._index(type_)
        event = index.exact.before(value, now)
        if event is None and type_ == "date":
            event = index.exact.before("-" + value[4:], now)
        if event is None and type_ in _AS_WORDS:
            plain = value if value.isascii() else words(value)
            event = index.phrases.first(plain, now)
            if event is None and stems:
                self._session.room.take_bytes(index.phrases.learn_stems())
                event = index.phrases.all_stems(plain, now)
        return None if event is None else self._origin(event)

    def _origin(self, event: Event) -> str:
        """An event as the origin of a value."""
        field = self.plan.sort == "field"
        return f"{self.plan.label} ({_called(event)})" if field else _described(event)

    def _index(self, type_: str) -> _Index:
        if self._waiting:
            self._take()
        index = self._indexes.get(type_)
        if index is None:
            index = self._indexes[type_] = _Index()
        if index.seen < len(self.events):
            for event in self.events[index.seen :]:
                self._session.room.take_bytes(self._read(index, type_, event))
            index.seen = len(self.events)
        return index

    def _texts(self, event: Event) -> list[str]:
        """What of an event is searched: its texts, or those at the fields of its result.

        None of them where there is no room for what is found in them: then what is not found is unknown.
        """
        if self.plan.sort != "field":
            texts = event_texts(event)
        else:
            texts = [t for t in map(text_of, at_fields(event.root("result"), self.plan.fields)) if t is not None]
        if not self._session.room.full and max(map(len, texts), default=0) <= _MOST_TEXT:
            return texts
        self._doubt(TOO_MUCH, event)
        return []

    def _read(self, index: _Index, type_: str, event: Event) -> int:
        """Add an event to an index; the bytes that are kept of it, about."""
        texts, field = self._texts(event), self.plan.sort == "field"
        if type_ in _AS_WORDS and not field:
            return sum(index.phrases.add(heard, event) for heard in heard_texts(event)) if texts else 0
        kept = 0
        for text in texts:
            for value in (WHOLE[type_](text),) if field else INSIDE[type_](text):
                if value is not None and index.exact.add(value, event):
                    kept += _VALUE + len(value)
        return kept

    def flows(self, plain: str, now: Event) -> str | Unknown | None:
        """In words the origin of something of this source that is inside a text of words, or that such a text is.

        Unknown if the text stands here, but is too short to tell whether it was taken from here.
        """
        self._take()
        leaks = self._leaks = self._leaks or _Leaks()
        for event in self.events[leaks.learned :]:
            self._session.room.take_bytes(self._learn(leaks, event))
        leaks.learned = len(self.events)
        parts = self._parts_in(leaks, plain)
        found = next((e for part in parts if (e := leaks.parts.before(part, now)) is not None), None)
        if found is not None or len(plain) >= self.plan.least:
            return None if found is None else self._origin(found)
        whole = self.find("text", plain, now) or self._spelled(leaks, plain, now)
        return None if whole is None else Unknown(f"{plain!r} is in {whole}, but is shorter than `least`")

    def _spelled(self, leaks: _Leaks, plain: str, now: Event) -> str | None:
        """In words the first text in which a text of words stands, however its words are joined there."""
        if self.plan.sort == "field":
            return None
        for event in self.events[leaks.tokenized :]:
            for heard in heard_texts(event) if self._texts(event) else ():
                tokens = SpelledText(heard.words)
                self._session.room.take_bytes(2 * len(tokens.text) + leaks.tokens.add(tokens, event))
        leaks.tokenized = len(self.events)
        found = first_spelled(leaks.tokens, plain, now)
        return None if found is None else self._origin(found)

    def _parts_in(self, leaks: _Leaks, plain: str) -> Iterator[str]:
        """What of a text of words may be a part of this source."""
        if self.plan.sort == "field":
            return leaks.leaves.inside(plain)
        return runs(plain, self.plan.least) if len(leaks.parts) else iter(())

    def _learn(self, leaks: _Leaks, event: Event) -> int:
        """Keep what is looked for inside texts; the bytes that it takes, about."""
        texts, kept = self._texts(event), 0
        if self.plan.sort == "field":
            for plain in map(words, texts):
                if len(plain) >= self.plan.least:
                    leaks.parts.add(leaks.leaves.add(plain), event)
                    kept += 2 * _VALUE + len(plain)
            return kept
        for heard in heard_texts(event) if texts else ():
            for run in runs(heard.words, self.plan.least):
                if leaks.parts.add(run, event):
                    kept += _VALUE + len(run)
        return kept


def event_texts(event: Event) -> list[str]:
    """The texts of a message or a result."""
    if event.message is not None:
        text = event.message.text
        return [text] if type(text) is str else []
    return [text for leaf in leaves(event.content) for text in _readings(leaf, event)]


def _readings(leaf: Any, event: Event) -> list[str]:
    """The texts of a value of a result: what is JSON or YAML in a text is read, too, if something is escaped there."""
    text = text_of(leaf)
    if text is None or "\\" not in text:
        return [] if text is None else [text]
    value = event.root("result") if leaf is event.content else structured(leaf)
    return [text, *filter(None, map(text_of, leaves(value)))] if type(value) in (dict, list) else [text]


def heard_texts(event: Event) -> list[HeardText]:
    """These texts, made once for all sources of a trajectory."""
    if event.heard is None:
        texts = event_texts(event)
        event.heard = list(map(HeardText, texts))
        event.room.take_bytes(_VALUE * len(texts) + 2 * sum(map(len, texts)))
    return event.heard


def _unreadable(event: Event, sort: str) -> Unknown | None:
    """Why nobody can tell what a result says; None if it can be read."""
    content = event.content
    if type(content) is not str:
        if any(map(is_withheld, (content,) if type(content) is Withheld else leaves(content))):
            return Unknown(f"the result of {_called(event)} is withheld", withheld=True)
        if content is UNSET:
            return Unknown(f"the result of {_called(event)} is not recorded")
    value = event.root("result") if sort == "field" else None
    return value if type(value) is Unknown else None


def _called(event: Event) -> str:
    return "" if event.call is None else f"{event.call.tool}, call {event.call.id}"


def _described(event: Event) -> str:
    if event.message is not None:
        return f"a message of the {event.message.speaker.value}"
    return f"the result of {_called(event)}"


def tool_matcher(names: tuple[str, ...]) -> Callable[[str], bool]:
    """Whether a tool is one of some names, in which `*` stands for any characters."""
    plain = frozenset(name for name in names if "*" not in name)
    if "any" in plain or "*" in names:
        return lambda tool: True
    # of RE2, since names of tools are a stranger's, and many stars take other engines for ever
    wild = [re2.compile("(?s)" + ".*".join(map(re2.escape, name.split("*")))) for name in names if "*" in name]
    return lambda tool: tool in plain or any(pattern.fullmatch(tool) is not None for pattern in wild)
