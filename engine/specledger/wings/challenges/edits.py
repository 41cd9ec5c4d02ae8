"""Edits of what came before a call, as a probe lists them: a sentence is added, a text becomes another, or is cut."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from specledger.core.rng import Stream
from specledger.spec.base import QFIXED_ONE
from specledger.wings.challenges.transcript import Sentence
from specledger.wings.kernel.spec.probe import EventEdit

OTHER: Final = "{other}"
"""The place of a choice that is not the present one."""
_WHO: Final = {"request": ("user", "system"), "words": ("assistant",)}


def edited(
    edit: EventEdit, sentences: Sequence[Sentence], others: Sequence[str], stream: Stream
) -> tuple[str, dict[str, str], str] | None:
    """What an edit changes: the entry, new texts by sentence, and the choice that it speaks for, which may be empty.

    None where there is no entry of its sort.
    """
    entries = [sentence.id.partition(".")[0] for sentence in sentences if _is_meant(edit, sentence)]
    if not entries:
        return None
    entry = entries[-1]
    own = [sentence for sentence in sentences if sentence.id.partition(".")[0] == entry]
    text, other = edit.adds or edit.becomes or "", ""
    if OTHER in text:
        other = stream.choice(list(others))
        text = text.replace(OTHER, other)
    if edit.adds is not None:
        return entry, {f"{entry}.{len(own) + 1}": text}, other
    if edit.becomes is not None:
        return entry, {own[0].id: text, **dict.fromkeys((sentence.id for sentence in own[1:]), "")}, other
    keeps = len(own) * (edit.keeps or 0) // QFIXED_ONE
    return entry, dict.fromkeys((sentence.id for sentence in own[keeps:]), ""), other


def _is_meant(edit: EventEdit, sentence: Sentence) -> bool:
    if edit.of == "result":
        return sentence.who.startswith("result of ") and edit.tool in (None, sentence.who.removeprefix("result of "))
    return sentence.who in _WHO[edit.of]
