"""Withholding values: in place of one stands its digest under a salt, by which it can later be shown."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

from msgspec import UNSET
from msgspec.structs import replace

from specledger.core.canonical import canonical_bytes
from specledger.core.diagnostics import Diagnostic, counted, printable, suggest
from specledger.core.digest import hmac_sha256
from specledger.core.log_json import WITHHELD
from specledger.wings.trajectories.findings import E_LOG_WITHHOLD
from specledger.wings.trajectories.left_readable import LeftReadable
from specledger.wings.trajectories.model import Call, Entry, Message, Result, Speaker, Trajectory, Withheld
from specledger.wings.trajectories.rules.structured import structured

ROOTS: Final[dict[str, type[Entry]]] = {"arguments": Call, "result": Result}
"""What a path begins with that leads to a value of a call."""
MESSAGES: Final = "messages"
"""The path to the text of every message; with the name of a speaker, to the texts of that one."""
_SPEAKERS: Final = {MESSAGES: tuple(Speaker), **{f"{MESSAGES}.{speaker}": (speaker,) for speaker in Speaker}}
_MEANT: Final = {"request": "messages.user", "system": "messages.system", "text": MESSAGES, "message": MESSAGES}
"""The paths that are meant by words of rules."""
_MOST_KNOWN: Final = 2000
"""Paths that are kept for hints."""


class Withholding:
    """Paths of values that are withheld, and the salt of their digests: 32 bytes."""

    def __init__(self, paths: Sequence[str], salt: bytes) -> None:
        """Check the paths.

        Raises:
            ValueError: One is no path of a call's arguments or of a result.
        """
        self._paths: dict[type[Entry], dict[str, list[str]]] = {Call: {}, Result: {}}
        self._messages = [path for path in paths if path in _SPEAKERS]
        self._salt = salt
        self._elsewhere = LeftReadable()
        self._hidden = 0
        self._counts = dict.fromkeys(paths, 0)
        self._before: set[str] = set()
        self._known: dict[str, None] = dict.fromkeys(ROOTS)
        for path in paths:
            root, *rest = path.split(".")
            if (root not in ROOTS and root != MESSAGES) or not all(rest):
                nearest = _MEANT.get(root) or suggest(path, [*_SPEAKERS, *ROOTS])
                hint = f"; did you mean {nearest}?" if nearest else ""
                raise ValueError(f"{path!r} is no path such as arguments.password, result or messages.user{hint}")
            if root in ROOTS:
                self._paths[ROOTS[root]][path] = rest

    def apply(self, trajectory: Trajectory) -> Trajectory:
        """The trajectory without the values."""
        shown = replace(trajectory, entries=tuple(map(self._entry, trajectory.entries)))
        self._elsewhere.look(shown)
        return shown

    def remarks(self) -> Iterator[str]:
        """How many values each path withheld, and how many of them can still be read, for people."""
        for path, count in self._counts.items():
            yield f"withheld {printable(path)}: {counted(count, 'value')}"
        yield from self._elsewhere.remarks()

    def absent(self) -> Iterator[Diagnostic]:
        """A finding for each path that led to no value: what it was meant to withhold may still be there.

        Nobody can say of a value that was withheld before whether a path leads into it.
        """
        for path, count in self._counts.items():
            if not count and path not in self._before:
                nearest = suggest(path, self._known)
                hint = "did you mean" if nearest else "there are, for example,"
                named = nearest or ", ".join(list(self._known)[len(ROOTS) :][:5]) or ", ".join(ROOTS)
                message = f"--withhold {printable(path)} leads to no value of these logs, so nothing was written"
                yield Diagnostic(E_LOG_WITHHOLD, message, hint=f"{hint} {printable(named)}{'?' if nearest else ''}")

    def _message(self, message: Message) -> Message:
        """A message; nothing is found by a part of its text, so all of it is withheld."""
        self._known.setdefault(f"{MESSAGES}.{message.speaker}")
        paths = [path for path in self._messages if message.speaker in _SPEAKERS[path]]
        if isinstance(message.text, Withheld):
            self._before.update(paths)
            return message
        for path in paths:
            self._counts[path] += 1
        return replace(message, text=self._digest(message.text)) if paths else message

    def _entry(self, entry: Entry) -> Entry:
        if isinstance(entry, Message):
            return self._message(entry)
        key = "arguments" if isinstance(entry, Call) else "content"
        shown = entry
        for text, path in self._paths.get(type(entry), {}).items():
            given, current = getattr(entry, key), getattr(shown, key)
            self._hidden = 0
            value = self._value(given, path, whole=True)
            self._counts[text] += self._hidden
            if self._is_withheld_before(given, path):
                self._before.add(text)
            elif not self._counts[text]:
                self._learn(text.partition(".")[0], given)
            shown = replace(shown, **{key: value if current is given else self._value(current, path, whole=True)})
        return shown

    def _is_withheld_before(self, value: Any, path: list[str]) -> bool:
        """Whether a path leads to, or into, a value that was withheld before."""
        if isinstance(value, Withheld) or (type(value) is dict and value.keys() == {WITHHELD}):
            return True
        if isinstance(value, list):
            return any(self._is_withheld_before(member, path) for member in value)
        return bool(path) and isinstance(value, dict) and self._is_withheld_before(value.get(path[0]), path[1:])

    def _learn(self, path: str, value: Any) -> None:
        """Remember the paths of a value."""
        inner = structured(value) if type(value) is str else value
        if isinstance(inner, list):
            for member in inner:
                self._learn(path, member)
        elif isinstance(inner, dict):
            for name, member in inner.items():
                if len(self._known) < _MOST_KNOWN and name != WITHHELD:
                    self._known[f"{path}.{name}"] = None
                    self._learn(f"{path}.{name}", member)

    def _is_inside(self, text: str, path: list[str]) -> bool:
        """Whether a path leads to a value of JSON or YAML that is a text: then all of the text is withheld."""
        value, hidden = structured(text), self._hidden
        found = type(value) in (dict, list) and self._value(value, path) != value
        self._hidden = hidden
        return found

    def _digest(self, value: Any) -> Withheld:
        self._elsewhere.add(value)
        return Withheld(hmac_sha256(self._salt, canonical_bytes(value)))

    def _value(self, value: Any, path: list[str], *, whole: bool = False) -> Any:
        """A value with what is at a path withheld; members of lists are meant one by one."""
        if value is UNSET or isinstance(value, Withheld):
            return value
        if not path or (type(value) is str and self._is_inside(value, path)):
            self._hidden += 1
            withheld = self._digest(value)
            return withheld if whole else {WITHHELD: withheld.digest}
        if isinstance(value, list):
            return [self._value(member, path) for member in value]
        if isinstance(value, dict) and path[0] in value:
            return {**value, path[0]: self._value(value[path[0]], path[1:])}
        return value
