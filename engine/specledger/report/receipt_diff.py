"""Compares two sequences of receipts: the fields of their starts, then the first later receipt that differs.

Lines are read in step, and equal ones are not kept. A difference that follows from the specs alone is left out.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice, zip_longest
from typing import Any, Final

from msgspec import Struct

from specledger.core.canonical import NotCanonical, canonical_bytes, parse_canonical
from specledger.core.floats import FLOATS_ANYWHERE
from specledger.evidence.layout import MAX_LINE
from specledger.report.markup import shorten
from specledger.report.model import LONGEST
from specledger.report.units import Tree, within
from specledger.spec.base import format_qfixed
from specledger.verify.replay import is_digest

MOST_CHANGES: Final = 200
"""Changes of one sort that are listed; the others are counted."""

ABSENT: Final = object()
"""Stands where one side has nothing."""

_PIN: Final = re.compile(r"([a-z]+/[^@]+)@[0-9a-f]{16}")
_STEP: Final = re.compile(r"[^.\[\]]+")  # a key or an index of a path
_INTEGER: Final = re.compile(r"-?[0-9]{1,18}")
_NAMES_SPECS: Final = frozenset({"specs", "receipts.head", "receipts.root"})
_OF_WHAT_IS_THERE: Final = frozenset(
    {"start", "verdict", "law", "escalation"}
)  # `digest`: of a spec, or of a verdict that is listed
_LABELS: Final = ("id", "name", "drift")  # by which things in lists are told apart
_BEFORE: Final = 60  # characters that are shown before the first difference of two long texts
_AUDIT: Final = b'"type":"audit"}'


class Change(Struct, frozen=True):
    """One thing that is another on the second side, as text of a bounded length; None where a side says nothing."""

    path: str
    first: str | None
    second: str | None

    def in_units(self, units: Tree, type_: str) -> Change:
        """The change of a receipt of a type, as people read it: with fixed-point numbers in units."""
        if not isinstance(within(units, [type_, *_STEP.findall(self.path)[1:]]), int):
            return self
        return Change(self.path, *map(_number_in_units, (self.first, self.second)))


class Divergence(Struct, frozen=True):
    """The first receipt after the start that is not the same in both.

    Attributes:
        type: Its type on the first side, or on the second if the first has ended.
        episode, t: When in the run; of an entry of the audit log the step that it was made in.
        changes: The fields that differ; digests only if nothing else does. Of two types only these and their places.
        ended: Which side has no such receipt: `first`, `second`, or None.
    """

    seq: int
    type: str
    episode: int | None
    t: int | None
    changes: tuple[Change, ...]
    more: int
    ended: str | None


class ReceiptDiff(Struct, frozen=True):
    """How two sequences of receipts differ: fields of the first ones and how many more, and the first later receipt."""

    start: tuple[Change, ...]
    more: int
    receipts: Divergence | None

    @property
    def same(self) -> bool:
        """Whether nothing differs."""
        return self.receipts is None and not self.start


def diff_receipts(first: Iterable[bytes], second: Iterable[bytes], alike: bool) -> ReceiptDiff:
    """Find where the lines of two sequences of receipts part; `alike` if both are made from the same specs.

    A line names the run and the line before it, so it differs as soon as an earlier one does. Types and bodies are
    compared. Where specs differ, so do all digests that name them, which says nothing that the specs do not say.
    """
    start: tuple[tuple[Change, ...], int] = (), 0
    last: bytes | None = None
    for seq, (left, right) in enumerate(zip_longest(first, second)):
        if left != right:
            sides = [None if line is None else parse_canonical(line, limit=MAX_LINE) for line in (left, right)]
            if seq == 0 and None not in sides:
                start = first_changes(_parted(sides, alike))
            elif (divergence := _divergence(seq, sides, alike, last)) is not None:
                return ReceiptDiff(*start, divergence)
        if left is not None and not left.endswith(_AUDIT):
            last = left
    return ReceiptDiff(*start, None)


def walk(left: Any, right: Any, path: str) -> Iterator[Change]:
    """Every place at or below a path in which two JSON values differ, in canonical order."""
    if isinstance(left, Mapping) and isinstance(right, Mapping):
        for key in sorted({*left, *right}):
            inner = f"{path}.{key}" if path else str(key)
            yield from walk(left.get(key, ABSENT), right.get(key, ABSENT), inner)
    elif (labelled := _matched(left, right)) is not None:
        yield from walk(*labelled, path)
    elif isinstance(left, list) and isinstance(right, list):
        for index, (item, other) in enumerate(zip_longest(left, right, fillvalue=ABSENT)):
            yield from walk(item, other, f"{path}[{index}]")
    elif type(left) is not type(right) or left != right:
        yield Change(shorten(path, LONGEST), *_shown(left, right))


def _shown(left: Any, right: Any) -> Iterator[str | None]:
    """Two values as texts of a bounded length; of long ones that begin alike, what is around the first difference."""
    texts = [_text(value) for value in (left, right)]
    first, second = (text or "" for text in texts)
    alike = next((at for at, pair in enumerate(zip(first, second, strict=False)) if pair[0] != pair[1]), 0)
    cut = max(0, alike - _BEFORE) if None not in texts and max(len(first), len(second)) > LONGEST else 0
    return (text and shorten(("\u2026" if cut else "") + text[cut:], LONGEST) for text in texts)


def _number_in_units(text: str | None) -> str | None:
    return text if text is None or not _INTEGER.fullmatch(text) else format_qfixed(int(text))


def _text(value: Any) -> str | None:
    if value is ABSENT:
        return None
    try:
        return value if isinstance(value, str) else canonical_bytes(value, FLOATS_ANYWHERE).decode()
    except NotCanonical:
        return repr(value)


def first_changes(changes: Iterable[Change]) -> tuple[tuple[Change, ...], int]:
    """The first changes, and how many more there are: two receipts may differ in a million values, so none is kept."""
    remaining = iter(changes)
    return tuple(islice(remaining, MOST_CHANGES)), sum(1 for _ in remaining)


def _parted(sides: Sequence[Any], alike: bool) -> Iterator[Change]:
    """What differs between two receipts, of which one may be missing."""
    if None in sides:
        yield Change("the receipt", *(None if side is None else "there is one" for side in sides))
        return
    types, bodies = [side["type"] for side in sides], [side["body"] for side in sides]
    if types[0] != types[1]:
        yield Change("type", *(shorten(str(type_), LONGEST) for type_ in types))
        bodies = [{key: body[key] for key in ("episode", "t") if key in body} for body in bodies]
    elif types[0] == "start":
        bodies = _labelled(*bodies)
    if not alike:
        bodies = [unpinned(body) for body in bodies]
    for change in walk(bodies[0], bodies[1], ""):
        named = change.path in _NAMES_SPECS or (change.path == "digest" and types[0] in _OF_WHAT_IS_THERE)
        if alike or not named:
            yield change if types[0] == "start" else Change(f"body.{change.path}", change.first, change.second)


def _labelled(left: Mapping[str, Any], right: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Two starts, with lists as mappings from the names in them: one that is left out does not move the others."""
    sides: list[dict[str, Any]] = [dict(left), dict(right)]
    for key in {*left} & {*right}:
        pair = _same_order(*(_by_label(side[key]) for side in sides))
        if pair is not None:
            sides[0][key], sides[1][key] = pair
    return sides


def _matched(left: Any, right: Any) -> tuple[dict[str, Any], dict[str, Any]] | None:
    """Two lists of named things, or of texts to which some were added or of which some were taken, by their names."""
    pair = _same_order(_by_label(left), _by_label(right))
    if pair is None or not left or not right:
        return None
    texts = any(isinstance(item, str) for item in (*left, *right))
    return None if texts and not (pair[0].keys() <= pair[1].keys() or pair[1].keys() <= pair[0].keys()) else pair


def _same_order(
    first: dict[str, Any] | None, other: dict[str, Any] | None
) -> tuple[dict[str, Any], dict[str, Any]] | None:
    """Two mappings whose common keys come in the same order, else None: the order of a list can mean something."""
    if first is None or other is None or [*filter(other.get, first)] != [*filter(first.get, other)]:
        return None
    return first, other


def _by_label(value: Any) -> dict[str, Any] | None:
    """The items of a list by their names; None if it is no list, or not of things that have one each."""
    if not isinstance(value, list):
        return None
    labelled: dict[str, Any] = {}
    for item in value:
        named = isinstance(item, Mapping)
        label = next((item[key] for key in _LABELS if key in item), None) if named else item
        if not isinstance(label, str) or label in labelled:
            return None
        labelled[label] = item if named else "there is one"
    return labelled


def _without_digest(text: str) -> str:
    match = _PIN.fullmatch(text)
    return match[1] if match else text


def unpinned(value: Any, rename: Callable[[str], str] = _without_digest) -> Any:
    """A JSON value whose references to specs have no digests; `rename` gives a text without one."""
    if isinstance(value, str):
        return rename(value)
    if isinstance(value, Mapping):
        return {key: unpinned(inner, rename) for key, inner in value.items()}
    return [unpinned(inner, rename) for inner in value] if isinstance(value, list | tuple) else value


def _divergence(seq: int, sides: list[Any], alike: bool, last: bytes | None) -> Divergence | None:
    """How two receipts after the start differ, if they do."""
    telling = (change for change in _parted(sides, alike) if not is_digest((change.path, change.first, change.second)))
    changes, more = first_changes(telling)
    if not changes:
        changes, more = first_changes(_parted(sides, alike))
    if not changes:
        return None
    side = sides[0] or sides[1]
    ended = None if None not in sides else ("first", "second")[sides.index(None)]
    shown: Any = side if side["type"] != "audit" or last is None else parse_canonical(last, limit=MAX_LINE)
    position = [shown["body"].get(name) for name in ("episode", "t")]
    episode, t = (value if type(value) is int else None for value in position)
    return Divergence(seq, shorten(str(side["type"]), 80), episode, t, changes, more, ended)
