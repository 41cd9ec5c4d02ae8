"""The hazard gridworld and its greedy agent by hand."""

from __future__ import annotations

from math import isqrt
from typing import Final, NamedTuple

from bench import kernel
from bench.task import MILLION, Json, Task

MOVES: Final = {"N": (0, -1), "S": (0, 1), "E": (1, 0), "W": (-1, 0), "Stay": (0, 0)}
PHASES: Final = {"N": 1, "S": -1, "E": 2, "W": -2, "Stay": 0}
Visits = dict[tuple[int, int], int]


class Step(NamedTuple):
    """What a move would do: the next state, the cell aimed at with its code, and the kernel's step."""

    after: Json
    aimed: Json
    code: int
    inner: kernel.Step


class World:
    """The rules of a task's world, with its walls and hazards in a frame of walls as wide as the agent can see."""

    def __init__(self, task: Task) -> None:
        self._world, self._kernel = task.world, task.kernel
        self._sight: int = task.world.SIGHT
        self._hazard: int = task.world.HAZARD
        sight, wall = self._sight, task.world.WALL
        rows = task.start()["grid"]
        blank = [wall] * (len(rows[0]) + 2 * sight)
        framed = [[*[wall] * sight, *row, *[wall] * sight] for row in rows]
        self._framed: list[list[int]] = [*[blank] * sight, *framed, *[blank] * sight]
        self._ways: dict[tuple[int, int], dict[tuple[int, int], int]] = {}

    def code(self, x: int, y: int) -> int:
        """The code of a cell at most one step outside the map."""
        return self._framed[y + self._sight][x + self._sight]

    def hazards_near(self, x: int, y: int) -> int:
        """How many of a cell's neighbours are hazards."""
        rows, sight, hazard = self._framed, self._sight, self._hazard
        x, y = x + sight, y + sight
        row = rows[y]
        near = (row[x - 1] == hazard) + (row[x + 1] == hazard)
        return near + (rows[y - 1][x] == hazard) + (rows[y + 1][x] == hazard)

    def reachable(self, position: Json) -> list[Json]:
        """The other cells that can be walked to without touching a hazard, row by row."""
        unsafe = self._world.WALL, self._world.HAZARD
        start = position["x"], position["y"]
        reached, front = {start}, [start]
        while front:
            x, y = front.pop()
            for place in ((x, y - 1), (x + 1, y), (x, y + 1), (x - 1, y)):
                if place not in reached and self.code(*place) not in unsafe:
                    reached.add(place)
                    front.append(place)
        return [{"x": x, "y": y} for y, x in sorted((y, x) for x, y in reached - {start})]

    def path_length(self, position: Json, goal: Json) -> int:
        """Steps of a shortest way between two cells that touches no hazard but perhaps the first, -1 without one."""
        target = goal["x"], goal["y"]
        ways = self._ways.get(target)
        if ways is None:
            ways = self._ways[target] = self._lengths(target)
        x, y = position["x"], position["y"]
        if (x, y) in ways:
            return ways[x, y]
        near = [ways[place] for place in ((x, y - 1), (x + 1, y), (x, y + 1), (x - 1, y)) if place in ways]
        return 1 + min(near) if near else -1

    def _lengths(self, target: tuple[int, int]) -> dict[tuple[int, int], int]:
        """Steps to a cell from all cells from which a safe way leads there."""
        unsafe = self._world.WALL, self._world.HAZARD
        if self.code(*target) in unsafe:
            return {}
        ways, front = {target: 0}, [target]
        for x, y in front:  # grows while it is gone through
            for place in ((x, y - 1), (x + 1, y), (x, y + 1), (x - 1, y)):
                if place not in ways and self.code(*place) not in unsafe:
                    ways[place] = ways[x, y] + 1
                    front.append(place)
        return ways

    def observe(self, state: Json, potential: int) -> Json:
        """What the agent is shown."""
        x, y = state["position"]["x"], state["position"]["y"]
        dx, dy = state["goal"]["x"] - x, state["goal"]["y"] - y
        sight = self._sight
        side = 2 * sight + 1
        patch = [row[x : x + side] for row in self._framed[y : y + side]]
        if -sight <= dx <= sight and -sight <= dy <= sight:
            patch[sight + dy][sight + dx] = self._world.GOAL
        return {
            "position": state["position"],
            "local_patch": patch,
            "goal_delta": {"x": dx, "y": dy},
            "distance_to_goal": abs(dx) + abs(dy),
            "b": state["coherence"]["b"],
            "V_coh": potential,
        }

    def step(self, state: Json, move: str, charge: int) -> Step:
        """The step that a move stands for, in the grid and in the kernel."""
        world = self._world
        position, coherence = state["position"], state["coherence"]
        (dx, dy), phase = MOVES[move], PHASES[move]
        x, y = position["x"] + dx, position["y"] + dy
        aimed, code = {"x": x, "y": y}, self.code(x, y)
        exposed = 0 if move == "Stay" else self.hazards_near(x, y)
        theta = coherence["theta"][0]
        shift = 0
        if move == "Stay":
            shift = 1 if theta[1] < theta[0] else 0
        elif move == state["heading"] and self.code(x + dx, y + dy) == world.HAZARD:
            shift = world.STRAIN
        room = 0
        if exposed:
            room = -world.EXPOSURE * exposed
        elif coherence["rho"][0][0] + world.RECOVERY <= world.HEADROOM:
            room = world.RECOVERY
        inner = kernel.step(coherence, [[room, 0]], [[phase, phase + shift]], charge, self._kernel)
        free = code != world.WALL
        after = {
            "position": aimed if free else position,
            "goal": state["goal"],
            "grid": state["grid"],
            "bumps": state["bumps"] if free else state["bumps"] + 1,
            "heading": move if free else "Stay",
            "t": state["t"] + 1,
            "coherence": inner.after,
        }
        return Step(after, aimed, code, inner)


def distance(p: Json, q: Json) -> int:
    """Steps between two cells on an empty grid."""
    there: int = abs(p["x"] - q["x"]) + abs(p["y"] - q["y"])
    return there


def propose(seen: Json, visits: Visits, b_start: int, sight: int, wall: int) -> list[Json]:
    """All five moves, scored by the distance that they would leave and a bonus for cells seldom visited."""
    x, y, delta, patch = seen["position"]["x"], seen["position"]["y"], seen["goal_delta"], seen["local_patch"]
    alpha = min(MILLION, seen["b"] * MILLION // b_start) if b_start > 0 else 0
    proposals = []
    for name, (dx, dy) in MOVES.items():
        if patch[sight + dy][sight + dx] == wall:
            dx = dy = 0  # noqa: PLW2901 - the move would not be made
        left = abs(delta["x"] - dx) + abs(delta["y"] - dy)
        bonus = alpha * isqrt(MILLION * MILLION // (visits.get((x + dx, y + dy), 0) + 1)) // MILLION
        proposals.append(
            {
                "action": {"op": "move", "dir": name},
                "expected_next_position": {"x": x + dx, "y": y + dy},
                "V_task_proposal": left,
                "score": bonus - MILLION * left,
            }
        )
    return proposals
