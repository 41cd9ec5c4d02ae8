"""Mutants of a trajectory for a rule: a call is dropped, repeated, swapped with another or made at another time.

Or a value of it is changed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from specledger.core.log_json import NUMBER, as_text
from specledger.core.rng import Stream
from specledger.spec.base import QFIXED_ONE
from specledger.wings.trajectories.model import Call, Entry, Message, Result, Speaker, Trajectory
from specledger.wings.trajectories.rules.accesses import Access, Steps, argument_steps
from specledger.wings.trajectories.rules.nested import json_inside, json_text
from specledger.wings.trajectories.rules.paths import ANY
from specledger.wings.trajectories.rules.values import PLURAL, WHOLE

COPY: Final = "~"
"""What stands between the id of a call and the number of a copy."""
REPEATS: Final = (1, 4, 50)
"""How often a call may be repeated."""
DELAYS: Final = (0, 60, 3_600, 86_400)
"""How many seconds later a call may be made; 0 is at once after what was before it."""
_STRANGERS: Final = {
    "email": "mallory@mutant.example",
    "iban": "DE75512108001245126199",
    "url": "https://mutant.example/mallory",
    "date": "2099-12-30",
}
_STRANGER: Final = "Mallory Mutant"
_STRANGE_PATH: Final = "/mutant/mallory"


class Focus(Struct, frozen=True, eq=False):
    """What a rule looks at.

    Attributes:
        accesses: The tools and arguments that it reads.
        request: Whether it reads what the user wrote.
        types: The types by which it compares values.
        timed: Whether it reads when calls were made.
    """

    accesses: tuple[Access, ...]
    request: bool = False
    types: tuple[str, ...] = ()
    timed: bool = False


Mutate = Callable[[Trajectory, Focus, Stream], Trajectory | None]


def dropped(trajectory: Trajectory, focus: Focus, stream: Stream) -> Trajectory | None:
    """Without a call that the rule looks for before others, or without a message of the user where it reads these."""
    needed = [a for a in focus.accesses if a.key not in ("when", "not_after", "not_from")]
    entries = trajectory.entries
    places = [
        index
        for index, entry in enumerate(entries)
        if (isinstance(entry, Call) and any(a.matches(entry.tool) for a in needed))
        or (focus.request and isinstance(entry, Message) and entry.speaker is Speaker.USER)
    ]
    if not places:
        return None
    chosen = entries[stream.choice(places)]
    gone = chosen.id if isinstance(chosen, Call) else None
    kept = [e for e in entries if e is not chosen and not (isinstance(e, Result) and e.call == gone)]
    return replace(trajectory, entries=tuple(kept))


def swapped(trajectory: Trajectory, focus: Focus, stream: Stream) -> Trajectory | None:
    """With a call that the rule is about in the place of another one that it names, and that one in its place."""
    entries = list(trajectory.entries)
    about = _about(entries, focus.accesses)
    others = [
        i for i, e in enumerate(entries) if isinstance(e, Call) and any(a.matches(e.tool) for a in focus.accesses[1:])
    ]
    others = others or [i for i, e in enumerate(entries) if isinstance(e, Call)]
    pairs = [(i, j) for i in about[:_MOST_PLACES] for j in others[:_MOST_PLACES] if i != j]
    if not pairs:
        return None
    first, second = stream.choice(pairs)
    results = {e.call: i for i, e in enumerate(entries) if isinstance(e, Result)}
    one, other = entries[first], entries[second]
    assert isinstance(one, Call)  # noqa: S101 - both places are those of calls
    assert isinstance(other, Call)  # noqa: S101 - see above
    entries[first] = replace(other, batch=one.batch, actor=one.actor, parent=one.parent)
    entries[second] = replace(one, batch=other.batch, actor=other.actor, parent=other.parent)
    here, there = results.get(one.id), results.get(other.id)
    if here is not None and there is not None:
        entries[here], entries[there] = entries[there], entries[here]
    return replace(trajectory, entries=tuple(_in_order(entries)))


def _in_order(entries: list[Entry]) -> Iterator[Entry]:
    """The entries, with a result that stands before its call put right behind it."""
    early: dict[str, Result] = {}
    seen = set()
    calls = {entry.id for entry in entries if isinstance(entry, Call)}
    for entry in entries:
        if isinstance(entry, Result) and entry.call in calls and entry.call not in seen:
            early[entry.call] = entry
            continue
        yield entry
        if isinstance(entry, Call):
            seen.add(entry.id)
            if entry.id in early:
                yield early.pop(entry.id)


def revalued(trajectory: Trajectory, focus: Focus, stream: Stream) -> Trajectory | None:
    """With another value at an argument that the rule reads: one that stands nowhere else."""
    entries = list(trajectory.entries)
    places = [
        (index, steps)
        for index in _about(entries, focus.accesses)[:_MOST_PLACES]
        for steps in argument_steps(_arguments(entries[index]))
        if focus.accesses[0].reads(steps)
    ]
    if not places:
        return None
    index, steps = stream.choice(places)
    call = entries[index]
    assert isinstance(call, Call)  # noqa: S101 - the place is that of a call
    entries[index] = replace(call, arguments=_changed(call.arguments, steps, focus.types))
    return replace(trajectory, entries=tuple(entries))


def repeated(trajectory: Trajectory, focus: Focus, stream: Stream) -> Trajectory | None:
    """With a call that the rule is about, and its result, once, four times or fifty times more."""
    entries = list(trajectory.entries)
    about = _about(entries, focus.accesses)
    if not about:
        return None
    index, times = stream.choice(about), stream.choice(REPEATS)
    call = entries[index]
    assert isinstance(call, Call)  # noqa: S101 - the place is that of a call
    end, result = next(
        ((i + 1, e) for i, e in enumerate(entries) if isinstance(e, Result) and e.call == call.id), (index + 1, None)
    )
    fresh: list[Entry] = []
    for number in range(times):
        copy = replace(call, id=f"{call.id}{COPY}{number + 1}", batch=0)
        fresh += [copy] if result is None else [copy, replace(result, call=copy.id)]
    return replace(trajectory, entries=(*entries[:end], *fresh, *entries[end:]))


def retimed(trajectory: Trajectory, focus: Focus, stream: Stream) -> Trajectory | None:
    """With a call that a rule about times is about, and all after it, later, or as early as what was before it."""
    entries = list(trajectory.entries)
    places = [i for i in _about(entries, focus.accesses)[:_MOST_PLACES] if _time(entries[i]) is not None]
    if not focus.timed or not places:
        return None
    index, seconds = stream.choice(places), stream.choice(DELAYS)
    known = [time for entry in entries[:index] if (time := _time(entry)) is not None]
    time = _time(entries[index])
    assert time is not None  # noqa: S101 - the place has a time
    moved = seconds * QFIXED_ONE if seconds else min(max(known, default=time) - time, 0)
    if not moved:
        return None
    later = [_moved(entry, moved) for entry in entries[index:]]
    return replace(trajectory, entries=(*entries[:index], *later))


def _time(entry: Entry) -> int | None:
    time = entry.time if isinstance(entry, Message | Call | Result) else None
    return time if isinstance(time, int) else None


def _moved(entry: Entry, microseconds: int) -> Entry:
    time = _time(entry)
    return entry if time is None else replace(entry, time=time + microseconds)


OPERATORS: Final[Mapping[str, Mutate]] = {
    "drop": dropped,
    "repeat": repeated,
    "swap": swapped,
    "time": retimed,
    "value": revalued,
}
"""The operators by their names in tables."""
_MOST_PLACES: Final = 60


def _about(entries: Sequence[Entry], accesses: Sequence[Access]) -> list[int]:
    """The places of the calls that a rule is about; none for a rule about messages."""
    if not accesses or accesses[0].key != "when":
        return []
    return [i for i, entry in enumerate(entries) if isinstance(entry, Call) and accesses[0].matches(entry.tool)]


def _arguments(entry: Entry) -> Any:
    return entry.arguments if isinstance(entry, Call) else None


def _changed(value: Any, steps: Steps, types: Sequence[str]) -> Any:
    """A value with another one at steps, in the first element of each list on the way."""
    if not steps:
        return _stranger(value, types)
    step, *rest = steps
    if type(value) is str:  # it is JSON
        return json_text(_changed(json_inside(value), steps, types))
    if step == ANY:
        return [_changed(value[0], tuple(rest), types), *value[1:]]
    return {**value, step: _changed(value[step], tuple(rest), types)}


def _stranger(value: Any, types: Sequence[str]) -> Any:
    """A value of the same form that is not the same; a text in which values are looked for gets a further one."""
    if type(value) is bool:
        return not value
    number = as_text(value)
    if number is not None:
        return value * 1000 + 7 if type(value) is int and abs(value) < 10**9 else {NUMBER: "987654321.5"}
    if type(value) is not str:
        return _STRANGER
    plural = next((PLURAL[type_][0] for type_ in types if type_ in PLURAL), None)
    if plural is not None:
        return f"{value} {_STRANGERS[plural]}"
    for type_, stranger in _STRANGERS.items():
        if WHOLE[type_](value) is not None:
            return stranger
    return _STRANGE_PATH if "/" in value and " " not in value else _STRANGER
