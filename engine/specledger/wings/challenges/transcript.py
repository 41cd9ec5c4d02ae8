"""What came before a recorded call, as the sentences of it that can be changed.

Sentences of what the model was told (the request, and results of tools) can be changed, its own words and calls cannot.
A call is challenged where its message began: what the model said with it, and calls beside it, belong to the decision.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from msgspec import UNSET, Struct

from specledger.wings.trajectories.model import Call, Entry, Message, Result, Speaker, Withheld, text_of

MOST_SENTENCES: Final = 512
MOST_CHARACTERS: Final = 262_144
"""Of what came before a call that is challenged."""
_MOST_OF_ENTRY: Final = 64  # sentences of one entry; the rest of it stays in one piece
_END: Final = re.compile(r"(?<=[.!?])\s+|\s*\n\s*")


class Sentence(Struct, frozen=True):
    """A piece of what came before a call.

    Attributes:
        id: `3.2` is the second sentence of the third entry.
        who: Whose it is, such as `user` or `result of read_mail`.
        told: Whether the model was told it, so that it can be changed.
    """

    id: str
    who: str
    text: str
    told: bool


def first_of_batch(entries: Sequence[Entry], call: Call) -> bool:
    """Whether a call is the first one of its message."""
    beside = [entry for entry in entries if _beside(entry, call)]
    return beside[0] is call


def _beside(entry: Entry, call: Call) -> bool:
    return isinstance(entry, Call) and (entry.batch, entry.actor) == (call.batch, call.actor)


def _is_of(entry: Entry, actor: str) -> bool:
    return isinstance(entry, Message | Call) and entry.actor == actor


def before(entries: Sequence[Entry], call: Call) -> list[Entry]:
    """What the actor of a call had heard, said and called when it decided."""
    kept: list[Entry] = []
    own = {entry.id for entry in entries if isinstance(entry, Call) and entry.actor == call.actor}
    for entry in entries:
        if _beside(entry, call):
            break
        heard = entry.call in own if isinstance(entry, Result) else _is_of(entry, call.actor)
        if heard:
            kept.append(entry)
    while kept and isinstance(kept[-1], Message) and kept[-1].speaker is Speaker.ASSISTANT:
        kept.pop()
    return kept


def sentences(entries: Sequence[Entry]) -> list[Sentence] | None:
    """The sentences of entries; None where they are too many or too long to be asked about."""
    found: list[Sentence] = []
    tools = {entry.id: entry.tool for entry in entries if isinstance(entry, Call)}
    for number, entry in enumerate(entries, start=1):
        found += _sentences(number, entry, tools)
        if len(found) > MOST_SENTENCES:
            return None
    return found if sum(len(sentence.text) for sentence in found) <= MOST_CHARACTERS else None


def with_added(sentences: Sequence[Sentence], texts: Mapping[str, str]) -> Iterator[Sentence]:
    """The sentences, with those among the texts that were added to an entry at the end of it."""
    known = {sentence.id for sentence in sentences}
    for index, sentence in enumerate(sentences):
        yield sentence
        entry = sentence.id.partition(".")[0]
        if index + 1 < len(sentences) and sentences[index + 1].id.partition(".")[0] == entry:
            continue
        added = (id_ for id_ in texts if id_ not in known and id_.partition(".")[0] == entry)
        yield from (Sentence(id_, sentence.who, texts[id_], True) for id_ in added)


def _sentences(number: int, entry: Entry, tools: dict[str, str]) -> Iterator[Sentence]:
    if isinstance(entry, Call):
        yield Sentence(str(number), f"assistant calls {entry.tool}", text_of(entry.arguments), False)
        return
    if isinstance(entry, Result):
        who = f"result of {tools.get(entry.call, 'a call')}"
        text, told = text_of(entry.content), _is_known(entry.content)
    else:
        assert isinstance(entry, Message)  # noqa: S101 - `before` keeps nothing else
        who, text = entry.speaker.value, text_of(entry.text)
        told = entry.speaker is not Speaker.ASSISTANT and _is_known(entry.text)
    if isinstance(entry, Result) and not told:
        yield Sentence(str(number), who, text, False)
        return
    for index, piece in enumerate(_pieces(text), start=1):
        yield Sentence(f"{number}.{index}", who, piece, told)


def _pieces(text: str) -> list[str]:
    """The sentences of a text; a text that is JSON stays whole."""
    if text.lstrip().startswith(("{", "[")):
        return [text]
    return [piece for piece in _END.split(text, maxsplit=_MOST_OF_ENTRY - 1) if piece.strip()] or [text]


def _is_known(value: Any) -> bool:
    return value is not UNSET and not isinstance(value, Withheld)
