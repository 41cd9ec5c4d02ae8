"""The size of a value, bounded before anything is written of it.

Values made by expressions share their parts: a list of 65,536 times the same list is made at once and would take
gigabytes when written.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from typing import Any, Final

from specledger.core.canonical import E_CANON_SIZE, NotCanonical, canonical_ints
from specledger.core.volume import volume

MAX_WEIGHT: Final = 8_388_608
"""What a value may weigh: a character of a text or a key 1, a member 8, a list 16 more, an object 32 more. Its memory,
without shared parts, is about six times as much."""
MEMBER: Final = 8
LIST: Final = 16
OBJECT: Final = 32
_MOST_OF_BYTE: Final = 24
"""What a byte of a form weighs at most: `[]` in a list weighs 24, `{}` 40."""

MAX_FORM: Final = 8_323_072
"""Bytes of the form of what a receipt holds. A line has 8 MiB; the rest of it is for names, counts and the chain."""
MAX_FORM_VOLUME: Final = 1_040_384
"""The volume of that form, likewise."""


def check_weight(value: Any) -> None:
    """See that a value may be hashed or told.

    Raises:
        NotCanonical: E_CANON_SIZE, if it weighs more than `MAX_WEIGHT`; no more of it is looked at than that.
    """
    if _left(value, MAX_WEIGHT) < 0:
        raise NotCanonical(E_CANON_SIZE, "$", f"it weighs more than {MAX_WEIGHT}")


def weigh(value: Any) -> int:
    """What a value weighs; of one that weighs more than `MAX_WEIGHT`, any number above that."""
    return MAX_WEIGHT - _left(value, MAX_WEIGHT)


def _left(value: Any, left: int) -> int:
    """What is left of a bound after a value's weight; less than 0 once it is exceeded."""
    kind = type(value)
    members: Iterable[Any] = ()
    if kind is str:
        left -= len(value)
    elif kind is dict:
        left -= OBJECT + MEMBER * len(value) + sum([len(key) for key in value if type(key) is str])
        members = value.values()
    elif kind is list or kind is tuple:
        left -= LIST + MEMBER * len(value)
        members = value
        if value and type(value[0]) is int and left >= 0:
            with suppress(TypeError, OverflowError):
                sum(value)  # takes numbers alone, and is the fastest look at all of a row
                return left
    for member in members if left >= 0 else ():
        kind = type(member)
        if kind is int:
            continue
        if kind is str:
            left -= len(member)
        elif kind is dict or kind is list or kind is tuple:
            left = _left(member, left)
        if left < 0:
            break
    return left


def write(value: Any, weighed: Any) -> bytes:
    """The canonical form of a value of which it is known that it can be written, if what it tells is not too much.

    `weighed` is weighed, first as always, where there are enough bytes for that to come to too much.

    Raises:
        NotCanonical: As from `canonical_ints` and `check_weight`; E_CANON_SIZE, if the form is longer than `MAX_FORM`,
            or has more volume than `MAX_FORM_VOLUME`.
    """
    try:
        form = canonical_ints(value)
    except NotCanonical:
        check_weight(weighed)
        raise
    if _MOST_OF_BYTE * len(form) <= MAX_WEIGHT:
        return form  # which is within the other bounds, too
    check_weight(weighed)
    if len(form) > MAX_FORM:
        raise NotCanonical(E_CANON_SIZE, "$", f"{len(form)} bytes, more than {MAX_FORM}")
    if len(form) > MAX_FORM_VOLUME and (actual := volume(form)) > MAX_FORM_VOLUME:
        raise NotCanonical(E_CANON_SIZE, "$", f"a volume of {actual}, more than {MAX_FORM_VOLUME}")
    return form


class Allowance:
    """What may still be kept until a receipt is written of it, so that memory is bounded too.

    Charged are the bytes of its canonical form; for a member 8 at least, for a list 16 more, for an object 32 more.

    A value that is kept several times counts once. What is charged for a judgement that fails is given back.
    """

    def __init__(self) -> None:
        """Begin with all that one receipt may hold."""
        self.renew()

    def renew(self) -> None:
        """Nothing is kept any more."""
        self._left = self._settled = MAX_FORM
        self._kept: set[int] = set()

    def begin(self) -> None:
        """Nothing is kept but what was settled: the same is made anew, or something else in its place."""
        self._left = self._settled
        self._kept = set()

    def settle(self) -> None:
        """What was kept stays kept."""
        self._settled = self._left

    def keep(self, value: Any, room: int = 0) -> Any:
        """Charge for a value, and return it; its `room`, where its type says that.

        Raises:
            NotCanonical: E_CANON_SIZE, if no receipt could hold all that is kept.
        """
        if type(value) is int or type(value) is bool or id(value) in self._kept:
            return value
        self._left = self._left - room if room else _room(value, self._left)
        if self._left < 0:
            raise NotCanonical(E_CANON_SIZE, "$", f"more than {MAX_FORM} bytes, a value being 8 at least")
        self._kept.add(id(value))  # no other value has its identity while it is kept
        return value


def room_of_key(key: str) -> int:
    """What a key of an object is charged."""
    return max(MEMBER, len(key) + 3)


def _room(value: Any, left: int) -> int:
    """What is left of a bound after the bytes and the volume of a value; less than 0 once it is exceeded."""
    kind = type(value)
    if kind is str:
        return left - max(MEMBER, len(value) + 3)
    members: Iterable[Any] = ()
    if kind is dict:
        left -= MEMBER + OBJECT + sum([room_of_key(key) for key in value if type(key) is str])
        members = value.values()
    elif kind is list or kind is tuple:
        left -= MEMBER + LIST
        members = value
    else:
        return left - MEMBER
    for member in members:
        left = _room(member, left)
        if left < 0:
            break
    return left


def footprint(value: Any, most: int, known: set[int] | None = None) -> int:
    """The bytes of memory that a value without cycles takes, about; no more of it is looked at than `most` allows.

    A part that it shares with itself counts once. Keys do not count: they are names of fields, or texts of the value.
    """
    kind = type(value)
    if kind is str:
        return 64 + 2 * len(value)
    if kind is not dict and kind is not list:
        return 32
    known = set() if known is None else known
    if id(value) in known:
        return 0
    known.add(id(value))
    total = 64 + (8 if kind is list else 32) * len(value)
    for member in value.values() if kind is dict else value:
        if type(member) is not bool and (type(member) is not int or not -5 <= member <= 256):
            total += footprint(member, most - total, known)
        if total > most:
            break
    return total
