"""The texts and expressions of the resolved specs of a bundle, by name, read from the JSON that their digest covers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from specledger.core.canonical import MAX_INTEGER, canonical_bytes, parse_canonical
from specledger.core.floats import FLOATS_ANYWHERE
from specledger.evidence.layout import MAX_SPECS, MAX_SPECS_VOLUME, SPECS
from specledger.load import Bundle, Resolved
from specledger.load.from_document import bundle_from_document
from specledger.report.sections import NOTHING, Cell, Code, Expression, Joined, Prose, Words
from specledger.report.units import Tree, unit_at
from specledger.spec.agent import Agent
from specledger.spec.model import NO_DATE, SERVICES

Data = Mapping[str, Any]

_SHORT: Final = 60  # characters of an expression that a row shows at once
_LINE: Final = 300  # characters of a requirement in a row

_EXPRESSIONS: Final = ("when", "require", "deny", "expect", "opportunities", "offer", "challenge")


class Specs:
    """The resolved specs of one bundle; `root` is the spec that was run."""

    def __init__(self, document: Data) -> None:
        """Take the content of a verified `specs.json`."""
        self._specs: Data = document["specs"]
        self.root: Data = self._specs[document["root"]]

    @classmethod
    def of(cls, bundle: Bundle) -> Specs:
        """The specs of a resolved bundle."""
        form = canonical_bytes(bundle.document(), FLOATS_ANYWHERE)
        data: Any = parse_canonical(form, limit=MAX_INTEGER, most=MAX_INTEGER)
        return cls(data)

    @classmethod
    def read(cls, folder: Path) -> Specs:
        """The specs of a verified bundle."""
        data: Any = _recorded(folder)
        return cls(data)

    def of_kind(self, kind: str) -> Iterator[Data]:
        """The data of each spec of a kind."""
        return (data for key, data in self._specs.items() if key.startswith(f"{kind}/"))

    def referred(self, name: str) -> Data | None:
        """The spec that the root refers to under a key."""
        key = self.root.get(name)
        return self._specs.get(key) if isinstance(key, str) else None

    def roles(self) -> dict[str, Data]:
        """The entry of each of several agents, by what stands before its figures; of one agent the root itself."""
        return {f"{name}.": entry for name, entry in self.root.get("agents", {}).items()} or {"": self.root}

    def gates(self) -> dict[str, Data]:
        """The data of each gate by name: the governors' own gates, and invariants of proposals."""
        gates: dict[str, Data] = {}
        for of, role in self.roles().items():
            governor = self._specs.get(role["governor"], {})
            gates |= {of + data["name"]: data for data in self.of_kind("invariant")}
            gates |= {of + gate["id"]: gate for gate in governor.get("gates", ())}
        return gates

    def probes(self) -> dict[str, Data]:
        """The data of each probe, by the name under which it is counted."""
        listed = ((of, key) for of, role in self.roles().items() for key in role.get("probes", ()))
        return {of + self._specs[key]["name"]: self._specs[key] for of, key in listed}

    def agent(self) -> str:
        """The name of the agent; of several all, joined by `+`."""
        return "+".join(self._specs.get(role["agent"], {}).get("name", "") for role in self.roles().values())

    def prices(self) -> str:
        """The days of the prices that models state, each once; empty where none states a price."""
        services = (model[name] for model in self.of_kind("model") for name in SERVICES if name in model)
        stated = (service["price"] for service in services if service.get("price"))
        return ", ".join(sorted({price.get("as_of") or NO_DATE for price in stated}))

    def metered(self) -> bool:
        """Whether there are metrics of the run: it has probes, or an agent outside."""
        agents = (self._specs.get(role["agent"], {}) for role in self.roles().values())
        return bool(self.probes()) or any("outside" in agent for agent in agents)

    def charts(self, units: Mapping[str, Tree]) -> dict[str, tuple[str, int]]:
        """The label in the record and the unit of each chart of the world's picture, by name."""
        charts = ((self.referred("world") or {}).get("picture") or {}).get("charts", {})
        of = {name: chart if isinstance(chart, str) else chart["of"] for name, chart in charts.items()}
        unit = {name: unit_at(units, ["step", "record", label]) for name, label in of.items()}
        unit |= {name: chart["unit"] for name, chart in charts.items() if "unit" in chart}
        return {name: (label, unit[name]) for name, label in of.items()}

    def drawing(self, units: Mapping[str, Tree]) -> dict[str, Any] | None:
        """How the page's script draws an episode; None if the world has no picture.

        `cells` is the field of the state that is the map; None where an expression gives the map of each state.
        """
        world = self.referred("world") or {}
        picture = world.get("picture")
        if picture is None:
            return None
        constants = world.get("constants", {})
        field = picture["cells"] if picture["cells"] in world.get("state", {}) else None
        charts = [{"name": name, "unit": unit, "of": label} for name, (label, unit) in self.charts(units).items()]
        return {
            "cells": field,
            "colours": [[constants[name], name, *_shades(colour)] for name, colour in picture["colours"].items()],
            "tokens": [
                {"name": name, "shape": "disc", "each": None, **token, "colour": _shades(token["colour"])}
                for name, token in picture.get("tokens", {}).items()
            ],
            "charts": charts,
        }


def read_specs(folder: Path, suite: Bundle) -> Bundle:
    """The specs of a run of a suite, whose bundle was checked."""
    return bundle_from_document(_recorded(folder), suite.kinds, suite.specs)


def is_recorded(specs: Bundle) -> bool:
    """Whether an agent is a recording: trajectories, which have calls instead of steps."""
    models = (spec.model for spec in specs.specs.values())
    return any(isinstance(model, Agent) and model.trajectories is not None for model in models)


def all_recorded(specs: Bundle) -> bool:
    """Whether every agent is a recording."""
    agents = [spec.model for spec in specs.specs.values() if isinstance(spec.model, Agent)]
    return bool(agents) and all(agent.trajectories is not None for agent in agents)


def _recorded(folder: Path) -> object:
    """The specs of a bundle that was checked, as a document."""
    form = (folder / SPECS).read_bytes().removesuffix(b"\n")
    return parse_canonical(form, limit=MAX_SPECS, most=MAX_SPECS_VOLUME)


def _shades(colour: Any) -> list[str]:
    return [colour, colour] if isinstance(colour, str) else [colour["light"], colour["dark"]]


def requirement(data: Data) -> Cell:
    """The requirement of a gate, an invariant, a probe or a check in one line: its `doc`, else an expression."""
    if data.get("doc"):
        return Prose(str(data["doc"]), _LINE)
    keyword = next((name for name in ("require", "deny", "expect") if name in data), None)
    text = "" if keyword is None else str(data[keyword])
    if keyword in ("require", "deny") and len(text) <= _SHORT:
        return Code(text) if keyword == "require" else Joined((Words("denied if"), Code(text)))
    return NOTHING if keyword is None else Expression(keyword, text)


def spec_details(data: Data) -> list[tuple[str, Cell]]:
    """The `doc` and the expressions of a gate, an invariant, a probe or a check."""
    details: list[tuple[str, Cell]] = [("says", Prose(str(data["doc"])))] if data.get("doc") else []
    details += [(name, Code(data[name])) for name in _EXPRESSIONS if name in data]
    return details


def only_spec(specs: Bundle, kind: str, name: str) -> Resolved | None:
    """The spec of a kind and name; None if there are several, since it is not known which one is meant."""
    matches = [spec for spec in specs.specs.values() if (spec.kind, spec.name) == (kind, name)]
    return matches[0] if len(matches) == 1 else None
