"""Paths whose values `same` compares: by the type with which the rules of the policy read them, where that is one."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from specledger.core.unknown import Unknown, graver
from specledger.wings.trajectories.rules.conditions import Event
from specledger.wings.trajectories.rules.paths import Path, compile_path
from specledger.wings.trajectories.rules.paths import Reader as PathReader
from specledger.wings.trajectories.rules.values import WHOLE, text_of
from specledger.wings.trajectories.spec.policy import FieldSource, Policy, Rule, TextSource

Pair = tuple[PathReader, PathReader]
"""What reads the values of an earlier call, and of this one."""
_PLAIN: Final = "text"
"""The type that says nothing of the form of a value."""


class Compared:
    """How values are compared at the paths of a policy."""

    def __init__(self, policy: Policy) -> None:
        """Read with which types its rules read each path."""
        types: dict[str, set[str]] = defaultdict(set)
        for rule in policy.rules.values():
            for path, type_ in _readings(rule):
                if type_ in WHOLE and type_ != _PLAIN:
                    types[path].add(type_)
        self._types: Mapping[str, set[str]] = types

    def pair(self, theirs: Path, ours: Path) -> Pair:
        """What reads values to compare; of this call an absent value is not known."""
        types = self._types.get(theirs.text, set()) | self._types.get(ours.text, set())
        type_ = next(iter(types)) if len(types) == 1 else None
        return _reader(theirs, type_, needed=False), _reader(ours, type_, needed=True)


def compared_in(rule: Rule) -> Iterator[tuple[str | int, ...]]:
    """Where a rule compares earlier calls with the one that it is about."""
    for key, earlier in (("after", rule.after), ("not_after", rule.not_after)):
        yield from ((key,),) if earlier is not None and earlier.same is not None else ()
    for name, read in rule.read.items():
        yield from (("read", name),) if read.same is not None else ()
    for key, sources in (("from", rule.from_), ("not_from", rule.not_from)):
        for index, source in enumerate(sources or ()):
            if isinstance(source, FieldSource | TextSource) and source.same is not None:
                yield key, index


def _readings(rule: Rule) -> Iterator[tuple[str, str | None]]:
    """The paths of calls that a rule reads, each with its type."""
    if isinstance(rule.as_, str):
        yield from ((path, rule.as_) for path in rule.judged)
    reads = [read for read in rule.read.values() if read.of is None]
    for earlier in (rule.after, rule.not_after):
        reads += [] if earlier is None else earlier.read.values()
    yield from ((read.path, read.as_) for read in reads)


def _reader(path: Path, type_: str | None, *, needed: bool) -> PathReader:
    read, missing = compile_path(path), Unknown(f"{path.text} is absent")

    def reader(value: Any) -> list[Any] | Unknown:
        values = read(value)
        if needed and values == []:
            return missing
        return values if isinstance(values, Unknown) else [_form(each, type_) for each in values]

    return reader


def are_same(earlier: Event, pairs: Sequence[Pair], own: Sequence[Any]) -> bool | Unknown:
    """Whether an earlier call has the values of this one at paths; unknown where they are not there to compare."""
    unknown: Unknown | None = None
    for (theirs, _), value in zip(pairs, own, strict=True):
        found = theirs(earlier.root("args"))
        if isinstance(found, Unknown):
            unknown = graver(unknown, found)
        elif found != value:
            return False
    return True if unknown is None else unknown


def _form(value: Any, type_: str | None) -> Any:
    """The form in which a value is compared: by its type, if it is of it, else as a text, so that `"7"` is 7."""
    text = text_of(value)
    if text is None:
        return value
    return text if type_ is None else WHOLE[type_](text) or text
