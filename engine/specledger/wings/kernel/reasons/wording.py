"""Reads reasons in the words of a model, by the forms of a vocabulary.

A form is read more widely than a claim of a document: in any case of letters, with any white space between words, and
with every word that the vocabulary has for a direction. What a variable becomes is one JSON value. A text may be of
several forms; who reads it decides which of the readings can be meant.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Final

from specledger.core.diagnostics import Diagnostics
from specledger.load import Resolved
from specledger.wings.kernel.documents.facts import E_VOCABULARY, PLAIN, SLOT, check_vocabulary
from specledger.wings.kernel.spec.vocabulary import Directions
from specledger.wings.kernel.spec.vocabulary import Vocabulary as VocabularySpec

MOST_TEXT: Final = 5000
"""Characters of a text that is read as a reason."""

_MOST_NAME: Final = 80
_MOST_CHOICE: Final = 200
_SCALAR: Final = re.compile(r"-?\d{1,20}(?:\.\d{1,20})?(?![\w.])|(?:true|false|null)\b")
_STRING: Final = re.compile(r'"(?:[^"\\\n]|\\.)*"')
_QUOTED: Final = re.compile(r"`[^`\n]*`|'[^'\n]*'")
_LEFT: Final = "[{"
_CLOSES: Final = {"[": "]", "{": "}"}

Reading = dict[str, str]
"""`variable`, `direction` and `choice` of a reason; a direction in the default words, the last one with its value."""


class Wording:
    """The forms in which the reasons of a model are read.

    Attributes:
        forms: As the vocabulary has them.
    """

    def __init__(self, forms: Sequence[str], directions: Directions) -> None:
        """Take checked forms."""
        self.forms = list(forms)
        self._parts = [SLOT.split(form) for form in forms]
        words = directions.words()
        self._changes = [
            (name, _literal(word)) for name in PLAIN if name != "becomes" for word in sorted(words[name], key=_longest)
        ]
        self._becomes = [_literal(word) for word in sorted(words["becomes"], key=_longest)]
        literals = {part.strip() for parts in self._parts for part in parts[::2]}
        self._rests = {literal: _rests(literal, literals) for literal in literals}
        worded = sorted(literal for literal in literals if len(literal.split()) > 1 and literal[0].isalpha())
        self._never = re.compile("|".join([rf"\b{re.escape(literal)}\b" for literal in worded] or [r"(?!)"]), re.I)

    def readings(self, text: str) -> list[Reading]:
        """Everything that a text says in one of the forms, each once; nothing if it is in none."""
        if len(text) > MOST_TEXT or "\n" in text:
            return []
        found = [reading for parts in self._parts if (reading := self._first(parts, text)) is not None]
        return [reading for index, reading in enumerate(found) if reading not in found[:index]]

    def _first(self, parts: Sequence[str], text: str) -> Reading | None:
        return next(self._matches(parts, 0, text, 0, {}), None)

    def _matches(
        self, parts: Sequence[str], index: int, text: str, at: int, read: Mapping[str, str]
    ) -> Iterator[Reading]:
        """The slots of a form from one of its parts on, which begins at a place of the text."""
        if index == len(parts):
            if at == len(text):
                yield dict(read)
        elif index % 2:
            for value, end in self._slot(parts, index, text, at):
                yield from self._matches(parts, index + 1, text, end, {**read, parts[index]: value})
        elif not parts[index].strip():
            yield from self._matches(parts, index + 1, text, at, read)
        elif match := _literal(parts[index]).match(text, at):
            yield from self._matches(parts, index + 1, text, match.end(), read)

    def _slot(self, parts: Sequence[str], index: int, text: str, at: int) -> Iterator[tuple[str, int]]:
        """What a slot may hold, and where that ends."""
        at += len(text[at:]) - len(text[at:].lstrip())
        if parts[index] == "variable":
            yield from _names(text, at)
        elif parts[index] == "direction":
            yield from self._directions(text, at)
        else:
            yield from self._choices(parts, index, text, at)

    def _directions(self, text: str, at: int) -> Iterator[tuple[str, int]]:
        for name, word in self._changes:
            if match := word.match(text, at):
                yield PLAIN[name], match.end()
        for word in self._becomes:
            match = word.match(text, at)
            end = None if match is None else value_end(text, match.end())
            if match is not None and end is not None:
                yield f"{PLAIN['becomes']} {text[match.end() : end]}", end

    def _choices(self, parts: Sequence[str], index: int, text: str, at: int) -> Iterator[tuple[str, int]]:
        """A choice ends where the next literal text begins, or with the text."""
        following = parts[index + 1]
        if following.strip():
            match = _literal(following).search(text, at)
            end = -1 if match is None else match.start()
        elif index + 2 < len(parts):
            end = -1  # nothing says where it ends
        else:
            end = len(text)
        choice = text[at : max(end, at)].strip()
        rest = self._rests[parts[index - 1].strip()]  # of a longer literal, which another form has here
        if 0 < len(choice) <= _MOST_CHOICE and not self._never.search(choice) and not rest.match(choice):
            yield choice, end


def value_end(text: str, at: int) -> int | None:
    """Where the JSON value ends that begins at a place of a text, in quotes or back-ticks or not; None without one."""
    for pattern in (_SCALAR, _STRING, _QUOTED):
        if match := pattern.match(text, at):
            return match.end()
    open_: list[str] = []
    while at < len(text):
        character = text[at]
        if character == '"':
            match = _STRING.match(text, at)
            if match is None:
                return None
            at = match.end()
            continue
        if character in _LEFT:
            open_.append(_CLOSES[character])
        elif open_ and character == open_[-1]:
            open_.pop()
        elif not open_ or character in "]}":
            return None
        at += 1
        if not open_:
            return at
    return None


def check_reasons(spec: Resolved, diagnostics: Diagnostics) -> Wording | None:
    """The wording in which a model's reasons are read; None, with findings, if a form does not suffice."""
    vocabulary, model = check_vocabulary(spec, diagnostics), spec.model
    assert isinstance(model, VocabularySpec)  # noqa: S101 - a reference of kind vocabulary holds nothing else
    if vocabulary is None:
        return None
    wrong = [
        index for index, form in enumerate(vocabulary.forms) if "<variable>" not in form or "<counterfactual>" in form
    ]
    for index in wrong:
        message = "in the words of a model a form has the slots <variable>, <direction> and <choice>"
        diagnostics.error(E_VOCABULARY, message, spec.span("forms", index))
    return None if wrong else Wording(vocabulary.forms, model.directions)


def _names(text: str, at: int) -> Iterator[tuple[str, int]]:
    """The names that may begin at a place; back-ticks and quotes around one are none of it."""
    for end in range(at + 1, min(len(text), at + _MOST_NAME) + 1):
        if text[end - 1].isspace():
            return
        yield text[at:end].strip("`'\"*"), end


def _rests(literal: str, literals: Iterable[str]) -> re.Pattern[str]:
    """What follows a literal text in the longer ones that begin with it."""
    rests = [longer[len(literal) :].strip() for longer in literals if longer != literal and longer.startswith(literal)]
    words = [rest for rest in rests if rest and literal and rest[0].isalpha()]
    return re.compile("|".join([rf"{re.escape(word)}\b" for word in sorted(words)] or [r"(?!)"]), re.IGNORECASE)


def _longest(word: str) -> tuple[int, str]:
    return -len(word), word


@lru_cache(maxsize=512)
def _literal(words: str) -> re.Pattern[str]:
    """A pattern of words in any case, with any white space between and around them; no part of a longer word."""
    core = r"\s+".join(map(re.escape, words.split()))
    left = r"(?<!\w)" if words.strip()[:1].isalnum() else ""
    right = r"(?!\w)" if words.strip()[-1:].isalnum() else ""
    return re.compile(rf"\s*{left}{core}{right}\s*", re.IGNORECASE)
