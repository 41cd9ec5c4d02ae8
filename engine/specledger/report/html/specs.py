"""What the resolved specs of a bundle say about what rows are named after: texts and expressions, by name.

Decides nothing; the specs are read as the JSON that their digest is of.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from specledger.report.html.elements import NOTHING, Markup, code, element, quoted

Data = Mapping[str, Any]

_LINE: Final = 140  # characters of a requirement in a table

_EXPRESSIONS: Final = ("when", "require", "deny", "expect", "opportunities", "offer", "challenge")


class Specs:
    """The resolved specs of one bundle.

    Attributes:
        root: The spec that was run.
    """

    def __init__(self, document: Data) -> None:
        """Take `specs.json`, which was verified."""
        self._specs: Data = document["specs"]
        self.root: Data = self._specs[document["root"]]

    def of_kind(self, kind: str) -> Iterator[Data]:
        """The data of each spec of a kind."""
        return (data for key, data in self._specs.items() if key.startswith(f"{kind}/"))

    def referred(self, name: str) -> Data | None:
        """The spec that the root refers to under a key."""
        key = self.root.get(name)
        return self._specs.get(key) if isinstance(key, str) else None

    def gates(self) -> dict[str, Data]:
        """What each gate demands: the governor's own ones, and invariants of proposals under their names."""
        governor = self.referred("governor") or {}
        own = {gate["id"]: gate for gate in governor.get("gates", ())}
        return {data["name"]: data for data in self.of_kind("invariant")} | own

    def drawing(self) -> dict[str, Any] | None:
        """How an episode is drawn, as the page's script reads it; None if the world does not say."""
        world = self.referred("world") or {}
        picture = world.get("picture")
        if picture is None:
            return None
        constants = world.get("constants", {})
        charts = [
            {"name": name, "unit": 1, **({"of": chart} if isinstance(chart, str) else chart)}
            for name, chart in picture.get("charts", {}).items()
        ]
        return {
            "cells": picture["cells"],
            "colours": [[constants[name], name, *_shades(colour)] for name, colour in picture["colours"].items()],
            "tokens": [
                {"name": name, "shape": "disc", "each": None, **token, "colour": _shades(token["colour"])}
                for name, token in picture.get("tokens", {}).items()
            ],
            "charts": charts,
        }


def _shades(colour: Any) -> list[str]:
    return [colour, colour] if isinstance(colour, str) else [colour["light"], colour["dark"]]


def requirement(data: Data) -> Markup:
    """What a gate, an invariant, a probe or a check asks for, in a line: its text, else its first expression."""
    if data.get("doc"):
        return quoted(data["doc"], _LINE)
    found = next((name for name in ("require", "deny", "expect") if name in data), None)
    return NOTHING if found is None else element("code", quoted(f"{found}: {data[found]}", _LINE))


def demand(data: Data) -> list[tuple[str, Markup]]:
    """What a gate, an invariant, a probe or a check says of itself: its text, then its expressions."""
    found = [("says", quoted(data["doc"]))] if data.get("doc") else []
    found += [(name, code(data[name])) for name in _EXPRESSIONS if name in data]
    return found
