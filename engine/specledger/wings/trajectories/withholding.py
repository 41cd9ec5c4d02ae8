"""Withholding values: in place of one stands its digest under a salt, by which it can later be shown."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from msgspec import UNSET
from msgspec.structs import replace

from specledger.core.canonical import canonical_bytes
from specledger.core.digest import hmac_sha256
from specledger.core.log_json import WITHHELD
from specledger.wings.trajectories.model import Call, Entry, Result, Trajectory, Withheld
from specledger.wings.trajectories.rules.structured import structured

ROOTS: Final[dict[str, type[Entry]]] = {"arguments": Call, "result": Result}
"""What a path begins with."""


class Withholding:
    """Paths of values that are withheld, and the salt of their digests: 32 bytes."""

    def __init__(self, paths: Sequence[str], salt: bytes) -> None:
        """Check the paths.

        Raises:
            ValueError: One is no path of a call's arguments or of a result.
        """
        self._paths: dict[type[Entry], list[list[str]]] = {Call: [], Result: []}
        self._salt = salt
        for path in paths:
            root, *rest = path.split(".")
            if root not in ROOTS or not all(rest):
                raise ValueError(f"{path!r} is no path such as arguments.password or result")
            self._paths[ROOTS[root]].append(rest)

    def apply(self, trajectory: Trajectory) -> Trajectory:
        """The trajectory without the values."""
        return replace(trajectory, entries=tuple(map(self._entry, trajectory.entries)))

    def _entry(self, entry: Entry) -> Entry:
        for path in self._paths.get(type(entry), ()):
            if isinstance(entry, Call):
                entry = replace(entry, arguments=self._value(entry.arguments, path, whole=True))
            elif isinstance(entry, Result):
                entry = replace(entry, content=self._value(entry.content, path, whole=True))
        return entry

    def _is_inside(self, text: str, path: list[str]) -> bool:
        """Whether a path leads to a value of JSON or YAML that is a text: then all of the text is withheld."""
        value = structured(text)
        return type(value) in (dict, list) and self._value(value, path) != value

    def _value(self, value: Any, path: list[str], *, whole: bool = False) -> Any:
        """A value with what is at a path withheld; members of lists are meant one by one."""
        if value is UNSET or isinstance(value, Withheld):
            return value
        if not path or (type(value) is str and self._is_inside(value, path)):
            digest = hmac_sha256(self._salt, canonical_bytes(value))
            return Withheld(digest) if whole else {WITHHELD: digest}
        if isinstance(value, list):
            return [self._value(member, path) for member in value]
        if isinstance(value, dict) and path[0] in value:
            return {**value, path[0]: self._value(value[path[0]], path[1:])}
        return value
