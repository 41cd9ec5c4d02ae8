"""Reads the reasons of a model: objects, JSON in a text, or words in a form of a vocabulary.

Whatever a model wrote gives claims, and the number of reasons that are none: nothing raises. A reason is read where one
thing alone can be meant, since what is read wrongly could convict a model that told the truth.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from specledger.core.canonical import NotCanonical, canonical_bytes, parse_json
from specledger.core.floats import FLOATS_ANYWHERE, MOST_DECIMALS, is_exact
from specledger.lang.notation import Notation, fold, name, spellings, texts_in
from specledger.oracles.action_tools import DIRECTIONS, MOST_REASONS

_FIELDS: Final = ("variable", "becomes", "value", "direction", "choice", "confidence")
_MOST_TEXT: Final = 400  # characters of a variable and of a choice, as the protocol allows them
_MOST_NAME: Final = 80
_BECOMES: Final = "becomes "
_WORDS: Final = {word: way for way in DIRECTIONS for word in (way, f"is {way}", way.removesuffix("s"))} | {
    "remove": "removed",
    "is removed": "removed",
}

Claim = dict[str, Any]


class Known(NamedTuple):
    """What reasons may name at one moment: variables, and texts such as the identifiers of things."""

    variables: Sequence[str]
    texts: Collection[str]


class Reasons(NamedTuple):
    """What was read: claims of the protocol, and how many of the given reasons are none."""

    claims: list[Claim]
    unread: int


class ReasonReader:
    """Reads the reasons of one model."""

    def __init__(self, readings: Callable[[str], list[dict[str, str]]], notation: Notation) -> None:
        """Take how a text is read by the vocabulary, and how a choice is."""
        self._readings, self._notation = readings, notation

    def read(self, given: Any, prose: str, known: Known) -> Reasons:
        """The claims of the argument `reasons`, and of the words beside the call.

        Prose is mostly no reason: what of it cannot be read is not counted, and what repeats a given reason is left
        out.
        """
        entries = [*_entries(given)]
        claims = [self._claim(entry, known) for entry in entries[:MOST_REASONS]]
        read = [claim for claim in claims if claim is not None]
        seen = {_change(claim) for claim in read}
        for entry in [*_entries(prose)][:MOST_REASONS]:
            claim = self._claim(entry, known)
            if claim is not None and _change(claim) not in seen:
                seen.add(_change(claim))
                read.append(claim)
        return Reasons(read[:MOST_REASONS], claims.count(None) + max(0, len(entries) - MOST_REASONS))

    def _claim(self, entry: Any, known: Known) -> Claim | None:
        """The claim that a reason makes; None if it makes none."""
        return _of_object(entry) if isinstance(entry, Mapping) else self._of_text(str(entry), known)

    def _of_text(self, text: str, known: Known) -> Claim | None:
        for plain in spellings(text):
            claims = [claim for said in self._readings(plain) if (claim := _of_words(said)) is not None]
            if len(claims) > 1:
                claims = [claim for claim in claims if self._can_be_meant(claim, known)]
            if claims:
                return claims[0] if len({canonical_bytes(each, FLOATS_ANYWHERE) for each in claims}) == 1 else None
        return None

    def _can_be_meant(self, claim: Claim, known: Known) -> bool:
        texts = {*known.texts, *texts_in(claim.get("becomes"))}
        variable = name(claim["variable"], known.variables)
        return variable is not None and self._notation.choice(claim["choice"], texts) is not None


def _entries(given: Any) -> Iterator[Any]:
    """Each reason: an object, or a line of a text; a text that is JSON holds reasons itself."""
    if isinstance(given, list):
        for entry in given:
            yield from _entries(entry)
    elif isinstance(given, str):
        document = _json(given)
        if isinstance(document, list | dict):
            yield from _entries(document)
        else:
            yield from (line for line in given.splitlines() if line.strip() and not line.startswith("```"))
    elif given is not None:
        yield given


def _json(text: str) -> Any:
    """The JSON document that a text is, in a fence of code or not; None if it is none."""
    plain = text.strip()
    if plain.startswith("```") and plain.endswith("```") and "\n" in plain:
        plain = plain.partition("\n")[2].removesuffix("```").strip()
    if plain[:1] not in ("[", "{"):
        return None
    try:
        return parse_json(plain.encode(errors="replace"))
    except ValueError:
        return None


def _of_object(entry: Mapping[str, Any]) -> Claim | None:
    """The claim of an object with the keys of a reason, in any notation that is certain."""
    keys = {key: name(key, _FIELDS) for key in entry}
    given = {known: entry[key] for key, known in keys.items() if known is not None}
    if "value" in given:
        given.setdefault("becomes", given.pop("value"))
    variable, choice = given.get("variable"), _choice(given.get("choice"))
    if (
        not isinstance(variable, str)
        or not 0 < len(variable) <= _MOST_TEXT
        or not _is_value(variable)
        or choice is None
    ):
        return None
    claim: Claim = {"variable": variable, "choice": choice}
    if "confidence" in given and given["confidence"] is not None:
        confidence = _confidence(given["confidence"])
        if confidence is None:
            return None
        claim["confidence"] = confidence
    way = _direction(given.get("direction"))
    if "becomes" in given and not (given["becomes"] is None and way is not None):
        return {**claim, "becomes": given["becomes"]} if _is_value(given["becomes"]) else None
    return None if way is None else {**claim, "direction": way}


def _of_words(said: Mapping[str, str]) -> Claim | None:
    """The claim of a text's slots; None if what the variable becomes is no JSON value."""
    claim: Claim = {"variable": said["variable"], "choice": said["choice"]}
    direction = said["direction"]
    if not direction.startswith(_BECOMES):
        way = _direction(direction)
        return None if way is None else {**claim, "direction": way}
    for plain in spellings(direction.removeprefix(_BECOMES)):
        try:
            value = parse_json(plain.encode(errors="replace"))
        except ValueError:
            continue
        return {**claim, "becomes": value} if _is_value(value) else None
    return None


def _direction(given: Any) -> str | None:
    return _WORDS.get(fold(given)) if isinstance(given, str) else None


def _choice(given: Any) -> Any:
    """A choice as the protocol has it, a text or an action; None if it is neither."""
    if isinstance(given, str):
        return given if 0 < len(given) <= _MOST_TEXT and _is_value(given) else None
    if not isinstance(given, Mapping):
        return None
    action = dict(given)
    if "op" not in action and action.keys() <= {"name", "arguments"}:  # as a call is written
        arguments = action.get("arguments")
        action = {**(arguments if isinstance(arguments, Mapping) else {}), "op": action.get("name")}
    op = action.get("op")
    return action if isinstance(op, str) and 0 < len(op) <= _MOST_NAME and _is_value(action) else None


def _confidence(given: Any) -> float | int | None:
    """A share from 0 to 1, with the decimals that are kept; None if it is none."""
    if isinstance(given, str):
        plain, percent = given.strip().removesuffix("%"), given.strip().endswith("%")
        try:
            given = float(plain) / (100 if percent else 1)
        except ValueError:
            return None
    if isinstance(given, bool) or not isinstance(given, int | float) or not 0 <= given <= 1:
        return None
    share = round(given, MOST_DECIMALS)
    return int(share) if share in (0, 1) else share


def _is_value(value: Any) -> bool:
    """Whether a value can be committed to."""
    try:
        canonical_bytes(value, FLOATS_ANYWHERE)
    except NotCanonical:
        return False
    return is_exact(value)


def _change(claim: Claim) -> bytes:
    """What a claim changes, whatever it says will be chosen."""
    return canonical_bytes({key: claim[key] for key in claim if key not in ("choice", "confidence")}, FLOATS_ANYWHERE)
