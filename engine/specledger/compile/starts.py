"""The start states of a scenario's episodes, and the chance of its world's actions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from specledger.compile.plan import PlannedChance, State
from specledger.core.rng import Stream
from specledger.expr import EvaluationError
from specledger.lang.scope import Scope
from specledger.spec.scenario import Map
from specledger.worlds.chance import E_CHANCE, compile_change, compile_sources
from specledger.worlds.maps import MapError, make
from specledger.worlds.model import World
from specledger.worlds.start import E_MAP, IllFormedError, Starter


class Start:
    """`episode -> start state`; a map that does not vary is made once."""

    def __init__(self, make_state: Starter, map_: Map | None, seed: int) -> None:
        self._starter = make_state
        self._map = map_
        self._seed = seed
        self._made: State | None = None

    def with_map(self, map_: Map | None, seed: int) -> Start:
        """The same on other maps."""
        return Start(self._starter, map_, seed)

    def __call__(self, episode: int) -> State:
        """The start state of an episode.

        Raises:
            EvaluationError: The world refuses the map of this episode; the first one's was looked at when compiling.
        """
        try:
            return self.make(episode)
        except IllFormedError as error:
            raise EvaluationError(error.code, str(error)) from None
        except MapError as error:
            raise EvaluationError(E_MAP, str(error)) from None

    def make(self, episode: int) -> State:
        """The same, with errors as the world gives them: IllFormedError, MapError or EvaluationError."""
        varies = self._map is not None and self._map.vary == "episode"
        if self._made is None or varies or self._starter.draws:
            number = episode if varies else 0
            grid = None if self._map is None else make(self._map, Stream.named(self._seed, "map", number))
            self._made = self._starter.state(grid, list(self.drawn(episode).values()))
        return self._made

    def drawn(self, episode: int) -> dict[str, Any]:
        """What is drawn for the start of an episode, by name."""
        lists = zip(self._starter.draws, self._starter.lists(), strict=True)
        named = (((stream, episode, name), items) for (name, stream, _), items in lists)
        return {names[-1]: Stream.named(self._seed, "start", *names).choice(items) for names, items in named}


def refuse_chance(world: World, scope: Scope) -> None:
    """Report an action that draws, of a world under a kernel."""
    drawing = [op for op, action in world.actions.items() if action.draws]
    if drawing:
        message = f"the action {drawing[0]!r} of the world {world.name!r} draws, and the governor is a kernel"
        scope.wrong(E_CHANCE, message, "governor")


def start_fields(start: Start, world: World) -> dict[str, Any]:
    """The fields of a plan about starts and chance."""
    return {"start": start, "drawn": start.drawn, "chance": _chance(world)}


def _chance(world: World) -> Mapping[str, PlannedChance]:
    """What is drawn after each action that draws, by its op."""
    return {
        op: PlannedChance(
            tuple((stream, name) for name, stream, _ in action.draws),
            compile_sources(action.draws, world, op=op),
            compile_change(action.draws, action.chance, world, op),
        )
        for op, action in world.actions.items()
        if action.draws
    }
