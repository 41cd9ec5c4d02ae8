"""Values of a call or a message by their types; each is read once, however many rules are about it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from msgspec import UNSET

from specledger.core.unknown import Unknown, graver
from specledger.wings.trajectories.model import Withheld
from specledger.wings.trajectories.rules.conditions import Event, Reader, typed
from specledger.wings.trajectories.rules.paths import Path, compile_path, is_withheld
from specledger.wings.trajectories.rules.values import PLURAL, WHOLE, text_of
from specledger.wings.trajectories.spec.policy import Read

Value = tuple[str, str, str]
"""The type of a value, the value as it is shown, and the form in which it is compared."""
Values = tuple[list[Value], Unknown | None]
"""The values that are known, and why there may be others."""
ValueReader = Callable[[Event], Values]

_LASTING: Final = ("args", "text", "tool")
"""What never changes after a call or a message was heard."""
_AS_WORDS: Final = ("text", "name")


def compile_reader(path: Path, read: Read, pattern: Any) -> Reader:
    """Reads one value by its type, or whether a pattern occurs in it."""
    values, root, text, as_ = compile_path(path, gaps=True), path.root, path.text, read.as_
    missing = Unknown(f"{text} is absent")

    def reader(_: Any, event: Event) -> Any:
        value = event.root(root)
        if type(value) is Unknown:
            return value
        leaves = values(value)
        if isinstance(leaves, Unknown):
            return leaves
        if pattern is not None:
            return _occurs(pattern, leaves, read) if leaves else missing
        if len(leaves) != 1:
            return Unknown(f"{text} has several values") if leaves else missing
        return typed(leaves[0], as_ or "text", text)

    def reader_once(session: Any, event: Event) -> Any:
        known = event.known
        if reader not in known:
            known[reader] = reader(session, event)
        return known[reader]

    return reader_once if root in _LASTING else reader


def _occurs(pattern: Any, leaves: Sequence[Any], read: Read) -> bool | Unknown:
    """Whether a pattern occurs in the values at a path, of which some may be null or no text."""
    texts = [text_of(leaf) for leaf in leaves]
    # RE2 takes a third of the time on bytes, of which it does not count the characters
    truths = {None if text is None else pattern.search(text.encode()) is not None for text in texts}
    if read.several is not None:
        decisive = read.several == "any"
        if decisive in truths:
            return decisive
    if None in truths:
        return Unknown(
            f"{read.path} has a value that is null or absent" if None in leaves else f"{read.path} is no text"
        )
    if len(truths) > 1:
        advice = "write `several: all` or `several: any`"
        return Unknown(f"{read.path} has several values, and only some match: {advice}")
    return truths == {True}


def compile_values(path: Path, types: Sequence[str]) -> ValueReader:
    """Reads the values at a path, each as the first of some types that it is of."""
    read, root = compile_path(path, digests=True), path.root
    withheld = Unknown(f"{path.text} is withheld", withheld=True)

    def values(event: Event) -> Values:
        top = event.root(root)
        if root == "args" and top is not UNSET and type(top) is not dict and type(top) is not Withheld:
            return [], Unknown("the arguments are no object")
        leaves = read(top)
        if isinstance(leaves, Unknown):
            return [], leaves
        result: list[Value] = []
        unknown: Unknown | None = None
        for leaf in leaves:
            text = None if is_withheld(leaf) else text_of(leaf)
            inner = None if text is None else _values_in(text, types)
            if inner is not None:
                result += inner
            elif is_withheld(leaf):
                unknown = graver(unknown, withheld)
            elif text is None:
                unknown = graver(unknown, Unknown("a value is neither a text nor a number"))
            else:
                unknown = graver(unknown, Unknown(f"{text[:80]!r} is no {' or '.join(types)}"))
        return result, unknown

    def values_once(event: Event) -> Values:
        known: dict[Any, Any] = event.known
        if values not in known:
            known[values] = values(event)
        result: Values = known[values]
        return result

    return values_once


def in_turn(readers: Sequence[ValueReader]) -> ValueReader:
    """Reads what each of some readers does."""

    def values(event: Event) -> Values:
        found = [reader(event) for reader in readers]
        return [value for known, _ in found for value in known], graver(*(unknown for _, unknown in found))

    return values


def _values_in(text: str, types: Sequence[str]) -> list[Value] | None:
    """The values that a text is, or has, by the first of some types that it is of; None if it is of none."""
    values: list[Value] = []
    known = not text.strip()
    for type_ in types:
        if type_ in PLURAL:
            known = True
            name, inside = PLURAL[type_]
            values += [(name, inner, inner) for inner in inside(text)]
        elif (whole := WHOLE[type_](text)) is not None:
            values.append((type_, text if type_ in _AS_WORDS else whole, whole))
            return values
    return values if known else None
