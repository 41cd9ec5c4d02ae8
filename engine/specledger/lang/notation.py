"""What agents outside write in another notation than the world's: actions, labels, names of variables, numbers.

`move(dir=E)`, `MOVE: E`, a full stop at the end, back-ticks, quotes, a bullet and `1.0` mean what they would mean in
the world's own notation, where exactly one action, name or value of the world can be meant. Where none can, or several,
nothing is read. What is written exactly is never read as something else.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import islice, permutations, product
from typing import Any, Final

from msgspec import Struct

from specledger.core.canonical import canonical_bytes, parse_json
from specledger.expr import BOOL, JSON, STRING, IntType, ListType, MapType, RecordType, Type, conforms

MOST_TEXT: Final = 400
"""Characters of a text that is read as an action or a name."""
MOST_READINGS: Final = 512
"""Actions that a text is compared with."""

Action = dict[str, Any]

_BULLET: Final = re.compile(r"^(?:[-*+\u2022\u2013]|\d{1,3}[.)])\s+")
_PAIRS: Final = ("``", '""', "''", "\u201c\u201d", "\u2018\u2019", "**")
_END: Final = ".,;!"
_BETWEEN: Final = re.compile(r"(?:(?!-\d)[\W_])+")
_WHOLE: Final = re.compile(r"-?\d{1,16}(?:\.0+)?")


class Taken(Struct, frozen=True):
    """The arguments of an operation: their types, and of some the only values that they may have."""

    args: RecordType
    allowed: Mapping[str, tuple[Any, ...]]


class Notation(Struct, frozen=True):
    """Reads what names an action of one world.

    The `texts` of a question are those that are known there, such as the identifiers of things: where a text could be
    several actions, the one that speaks of known things is meant.

    Attributes:
        operations: By name.
        label: The world's label of one of its actions.
    """

    operations: Mapping[str, Taken]
    label: Callable[[Action], str]

    def action(self, given: Any, texts: Collection[str]) -> Action | None:
        """The one action that is meant; None if it is none, or could be several."""
        if isinstance(given, Mapping) and self._is_exact(given):
            return dict(given)
        matches = self._readings(given, texts)
        return matches[0] if len(matches) == 1 else None

    def choice(self, given: Any, texts: Collection[str]) -> str | None:
        """The label of the action that is meant; None if several labels could be meant, or none."""
        if isinstance(given, Mapping) and self._is_exact(given):
            return self.label(dict(given))
        labels = {self.label(action) for action in self._readings(given, texts)}
        return labels.pop() if len(labels) == 1 else None

    def _is_exact(self, given: Mapping[str, Any]) -> bool:
        taken = self.operations.get(given["op"]) if isinstance(given.get("op"), str) else None
        args = {name: value for name, value in given.items() if name != "op"}
        return (
            taken is not None
            and conforms(args, taken.args)
            and all(args[name] in values for name, values in taken.allowed.items())
        )

    def _readings(self, given: Any, texts: Collection[str]) -> list[Action]:
        return _Reader(self, texts).actions(given)


class _Reader(Struct, frozen=True):
    """Reads in one question, in which some texts are known."""

    notation: Notation
    texts: Collection[str]

    def actions(self, given: Any) -> list[Action]:
        """The actions that can be meant; of several those about known things, then those with that label."""
        if isinstance(given, str):
            matches = self._of_text(given) if len(given) <= MOST_TEXT else []
        else:
            matches = self._of_mapping(given) if isinstance(given, Mapping) else []
        matches = _once(matches)
        if len(matches) > 1:
            matches = [action for action in matches if self._is_known(action)]
        if len(matches) > 1 and isinstance(given, str):
            exact = [action for action in matches if self.notation.label(action) == given]
            matches = (
                exact or [action for action in matches if fold(self.notation.label(action)) == fold(given)] or matches
            )
        return matches

    def _is_known(self, action: Action) -> bool:
        """Whether the texts that an action may choose freely are known ones."""
        taken = self.notation.operations[action["op"]]
        free = [name for name, type_ in taken.args.fields.items() if type_ == STRING and name not in taken.allowed]
        return all(action[name] in self.texts for name in free)

    def _of_mapping(self, given: Mapping[str, Any]) -> list[Action]:
        op, args = given.get("op"), {name: value for name, value in given.items() if name != "op"}
        if not isinstance(op, str) or len(op) > MOST_TEXT:
            return []
        ops = [known for known in self.notation.operations if known == op] or self._named(op)
        if not ops and not args:
            return self._of_text(op)
        return [action for known in ops for action in self._filled(known, args)]

    def _named(self, text: str) -> list[str]:
        return [name for plain in spellings(text) for name in self.notation.operations if fold(name) == fold(plain)]

    def _filled(self, op: str, given: Mapping[str, Any]) -> Iterator[Action]:
        """The actions of an operation whose arguments can be meant by these."""
        taken = self.notation.operations[op]
        names = {key: name(key, taken.args.fields) for key in given}
        if None in names.values() or sorted(filter(None, names.values())) != sorted(taken.args.fields):
            return
        by_name = {known: given[key] for key, known in names.items() if known is not None}
        values = [
            _values(by_name[argument], type_, taken.allowed.get(argument), self.texts)
            for argument, type_ in taken.args.fields.items()
        ]
        for chosen in islice(product(*values), MOST_READINGS):
            yield {"op": op, **dict(zip(taken.args.fields, chosen, strict=True))}

    def _of_text(self, text: str) -> list[Action]:
        matches = [action for plain in spellings(text) for action in self._spelled(plain)]
        return matches or [
            action for action in self._all() if fold(self.notation.label(action)) in set(map(fold, spellings(text)))
        ]

    def _spelled(self, text: str) -> Iterator[Action]:
        """The actions that a text spells as an operation with its arguments, or as JSON."""
        if text.startswith("{"):
            document = _json(text)
            yield from self._of_mapping(document) if isinstance(document, Mapping) and "op" in document else ()
        for op, taken in self.notation.operations.items():
            words = r"[\s_-]*".join(map(re.escape, re.split(r"[_-]", op)))
            begins = re.match(rf"{words}(?![A-Za-z0-9])", text, re.IGNORECASE)
            if begins is not None:
                rest = _inside(text[begins.end() :])
                for args in _arguments(rest, taken.args.fields):
                    yield from self._filled(op, args)

    def _all(self) -> Iterator[Action]:
        """Actions of every operation whose arguments are texts, truth values, or one of some values."""
        for op, taken in self.notation.operations.items():
            ranges = [
                taken.allowed.get(name) or (tuple(sorted(self.texts)) if type_ == STRING else (False, True))
                for name, type_ in taken.args.fields.items()
                if name in taken.allowed or type_ in (STRING, BOOL)
            ]
            if len(ranges) == len(taken.args.fields):
                for chosen in islice(product(*ranges), MOST_READINGS):
                    yield {"op": op, **dict(zip(taken.args.fields, chosen, strict=True))}


def name(given: str, known: Iterable[str]) -> str | None:
    """The one of the known names that is meant; None if none, or several."""
    known = [*known]
    if given in known or len(given) > MOST_TEXT:
        return given if given in known else None
    folded = {fold(plain) for plain in spellings(given)}
    matches = [candidate for candidate in known if fold(candidate) in folded]
    return matches[0] if len(matches) == 1 else None


def value(given: Any, type_: Type) -> Any:
    """What is meant as a value of a type: `4.0` and `"4"` as an int are 4; what is meant otherwise stays as it is."""
    matches = _values(given, type_, None, None)
    return matches[0] if len(matches) == 1 else given


def fold(text: str) -> str:
    """A text without what notations differ in: the case of letters, and what stands between words."""
    return _BETWEEN.sub(" ", text.casefold()).strip()


def spellings(text: str) -> list[str]:
    """A text, and the same without white space, a bullet, quotes or a stop around it, each once."""
    texts = [text]
    while True:
        last = texts[-1]
        bare = _BULLET.sub("", last.strip())
        if bare == last and len(bare) > 1 and bare[0] + bare[-1] in _PAIRS:
            bare = bare[1:-1]
        if bare == last:
            bare = bare[:-1] if bare[-1:] and bare[-1] in _END else bare
        if bare == last or not bare:
            return texts
        texts.append(bare)


def texts_in(value: Any) -> Iterator[str]:
    """Every text in a JSON value, keys of objects aside."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping | list):
        for inner in value.values() if isinstance(value, Mapping) else value:
            yield from texts_in(inner)


def _once(actions: Iterable[Action]) -> list[Action]:
    return [*{canonical_bytes(action): action for action in actions}.values()]


def _json(text: str) -> Any:
    try:
        return parse_json(text.encode())
    except (ValueError, UnicodeEncodeError):
        return None


def _inside(rest: str) -> str:
    """What follows an operation's name, without its brackets or the colon before it."""
    rest = rest.strip().lstrip(":=@/ ").strip()
    return rest[1:-1].strip() if rest[:1] == "(" and rest[-1:] == ")" else rest


def _arguments(rest: str, fields: Mapping[str, Type]) -> Iterator[Mapping[str, Any]]:
    """What may be meant as the arguments of these names: by their names, as JSON, or by their places."""
    if not fields:
        if not rest:
            yield {}
        return
    if not rest:
        return
    if rest.startswith("{") and isinstance(document := _json(rest), dict):
        yield document
        return
    marks = re.compile(rf"(?:^|[\s,;(])[\"'`]?({'|'.join(map(re.escape, fields))})[\"'`]?\s*[:=]", re.IGNORECASE)
    places = [*marks.finditer(rest)]
    if len(places) == len(fields) and not rest[: places[0].start()].strip():
        ends = [*(match.start() for match in places[1:]), len(rest)]
        yield {match[1]: rest[match.end() : end].strip(" ,;") for match, end in zip(places, ends, strict=True)}
        return
    if len(fields) == 1:
        yield dict.fromkeys(fields, rest)
        return
    words = [word for word in re.split(r"[\s,;:@]+", rest) if word]
    for order in islice(permutations(fields), MOST_READINGS):
        yield from _by_place(words, order, fields)


def _by_place(words: Sequence[str], order: Sequence[str], fields: Mapping[str, Type]) -> Iterator[Mapping[str, Any]]:
    """The words as arguments in an order: one for each, and one for each field of an argument that is a record."""
    widths = [len(type_.fields) if isinstance(type_ := fields[name], RecordType) else 1 for name in order]
    if sum(widths) != len(words):
        return
    arguments, at = dict[str, Any](), 0
    for name, width in zip(order, widths, strict=True):
        arguments[name] = " ".join(words[at : at + width])
        at += width
    yield arguments


def _values(given: Any, type_: Type, allowed: tuple[Any, ...] | None, texts: Collection[str] | None) -> list[Any]:
    """The values of a type that can be meant; a text is meant as it is written where no `texts` are known."""
    if allowed:
        exact = [candidate for candidate in allowed if type(candidate) is type(given) and candidate == given]
        folded = {fold(plain) for plain in spellings(given)} if isinstance(given, str) else set()
        return exact or [candidate for candidate in allowed if isinstance(candidate, str) and fold(candidate) in folded]
    if type_ == STRING:
        return _texts(given, texts) if isinstance(given, str) else []
    if isinstance(type_, IntType):
        return _whole(given)
    if isinstance(given, str) and type_ != JSON:
        return _written(given, type_, texts)
    if isinstance(type_, RecordType) and isinstance(given, Mapping):
        names = {key: name(key, type_.fields) for key in given}
        if None in names.values() or len({*names.values()}) != len(names):
            return []
        parts = [_values(given[key], type_.fields[known], None, texts) for key, known in names.items() if known]
        records = [dict(zip(names.values(), chosen, strict=True)) for chosen in islice(product(*parts), MOST_READINGS)]
        return [candidate for candidate in records if conforms(candidate, type_)]
    if isinstance(type_, ListType) and isinstance(given, list):
        items = [_values(candidate, type_.item, None, texts) for candidate in given]
        return [[candidate[0] for candidate in items]] if all(map(_is_one, items)) else []
    if isinstance(type_, MapType) and isinstance(given, Mapping):
        inner = {key: _values(candidate, type_.value, None, texts) for key, candidate in given.items()}
        return [{key: candidate[0] for key, candidate in inner.items()}] if all(map(_is_one, inner.values())) else []
    return [given] if conforms(given, type_) else []


def _texts(given: str, texts: Collection[str] | None) -> list[str]:
    if texts is None:
        return [given]
    spelled = spellings(given)
    folded = {*map(fold, spelled)}
    return list(dict.fromkeys([*filter(None, spelled), *sorted(text for text in texts if fold(text) in folded)]))


def _written(given: str, type_: Type, texts: Collection[str] | None) -> list[Any]:
    """The values of a type without texts that a text can mean: JSON, or the fields of a record one after the other."""
    for plain in spellings(given):
        document = _json(plain.lower() if type_ == BOOL else plain)
        if document is not None and not isinstance(document, str) and (values := _values(document, type_, None, texts)):
            return values
    if not isinstance(type_, RecordType):
        return []
    words = [word for word in re.split(r"[\s,;:()]+", given) if word]
    if len(words) != len(type_.fields):
        return []
    parts = [_values(word, field, None, texts) for field, word in zip(type_.fields.values(), words, strict=True)]
    return (
        [dict(zip(type_.fields, (candidates[0] for candidates in parts), strict=True))]
        if all(map(_is_one, parts))
        else []
    )


def _is_one(values: Sequence[Any]) -> bool:
    return len(values) == 1


def _whole(given: Any) -> list[int]:
    """The whole number that is meant, if one is."""
    if type(given) is int:
        return [given]
    if type(given) is float and given.is_integer():
        return [int(given)]
    plain = spellings(given)[-1] if isinstance(given, str) else ""
    return [int(plain.partition(".")[0])] if _WHOLE.fullmatch(plain) else []
