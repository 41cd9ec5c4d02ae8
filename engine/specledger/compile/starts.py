"""The start states of a scenario's episodes."""

from __future__ import annotations

from typing import Any

from specledger.compile.plan import State
from specledger.core.rng import Stream
from specledger.expr import EvaluationError
from specledger.spec.scenario import Map
from specledger.worlds.maps import MapError, make
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
