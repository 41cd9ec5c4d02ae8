"""The numbers of the shipped hazard scenario, read from its resolved specs, and its start state built by hand."""

from __future__ import annotations

from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, Final

from specledger.load import Bundle
from specledger.spec.base import FixedConstant

MILLION: Final = 1_000_000
Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Task:
    """What the hand-written loop needs to know.

    Attributes:
        name, specs, seed, episodes, horizon: Of the scenario.
        drawing: The lines of its map.
        drift: The name of its drift.
        invariants: Names and severities in the order in which they are looked at.
        world, kernel, governor, every: The constants by name, fixed-point ones in millionths; steps between drifts.
    """

    name: str
    specs: str
    seed: int
    episodes: int
    horizon: int
    drawing: tuple[str, ...]
    drift: str
    invariants: tuple[tuple[str, str], ...]
    world: SimpleNamespace
    kernel: SimpleNamespace
    governor: SimpleNamespace
    every: int

    @property
    def schedule(self) -> list[int]:
        """The steps at which the goal moves."""
        return [t for t in range(1, self.horizon) if t % self.every == 0]

    def weight(self, t: int) -> int:
        """Lambda at a step, in millionths."""
        found: int = self.world.LAMBDA[sum(since <= t for since in self.world.LAMBDA_FROM) - 1]
        return found

    def start(self) -> Json:
        """The state in which every episode starts."""
        world, places = self.world, {}
        codes = {"#": world.WALL, "!": world.HAZARD}
        for y, row in enumerate(self.drawing):
            for x, character in enumerate(row):
                places[character] = {"x": x, "y": y}
        return {
            "position": places["S"],
            "goal": places["G"],
            "grid": [[codes.get(character, world.EMPTY) for character in row] for row in self.drawing],
            "bumps": 0,
            "heading": "Stay",
            "t": 0,
            "coherence": {
                "rho": [[world.HEADROOM, world.HEADROOM]],
                "theta": [[0, -world.RESERVE]],
                "C": [[0, 0]],
                "b": world.BUDGET,
                "t": 0,
            },
        }


def read_task(bundle: Bundle) -> Task:
    """The task that a bundle of the hazard scenario describes."""
    by_kind: dict[str, list[Any]] = {}
    for spec in bundle.specs.values():
        by_kind.setdefault(spec.kind, []).append(spec)
    scenario: Any = bundle.main.model
    world = bundle.specs[scenario.world]
    governor: Any = bundle.specs[scenario.governor].model
    (drift,) = by_kind["drift"]
    (kernel,) = (spec for spec in by_kind["world"] if spec is not world)
    invariants: list[Any] = [bundle.specs[key].model for key in (*governor.invariants, *scenario.invariants)]
    return Task(
        name=scenario.name,
        specs=bundle.digest,
        seed=scenario.seed,
        episodes=scenario.episodes,
        horizon=scenario.horizon,
        drawing=tuple(scenario.map.drawing.split()),
        drift=drift.name,
        invariants=tuple((invariant.name, invariant.severity) for invariant in invariants),
        world=_constants(world.model),
        kernel=_constants(kernel.model),
        governor=_constants(governor),
        every=drift.model.constants["EVERY"],
    )


def _constants(model: Any) -> SimpleNamespace:
    return SimpleNamespace(
        **{name: value.qfixed if isinstance(value, FixedConstant) else value for name, value in model.constants.items()}
    )
