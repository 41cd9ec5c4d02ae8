"""The hazard gridworld and its greedy agent by hand."""

from __future__ import annotations

from math import isqrt
from types import SimpleNamespace
from typing import Any, Final

from bench import kernel

MILLION: Final = 1_000_000
MOVES: Final = {"N": (0, -1), "S": (0, 1), "E": (1, 0), "W": (-1, 0), "Stay": (0, 0)}
PHASES: Final = {"N": 1, "S": -1, "E": 2, "W": -2, "Stay": 0}
Json = dict[str, Any]
Visits = dict[tuple[int, int], int]


def cell(grid: kernel.Field, x: int, y: int, outside: int) -> int:
    """The code of a cell."""
    return grid[y][x] if 0 <= y < len(grid) and 0 <= x < len(grid[y]) else outside


def distance(p: Json, q: Json) -> int:
    """Steps between two cells on an empty grid."""
    there: int = abs(p["x"] - q["x"]) + abs(p["y"] - q["y"])
    return there


def reachable(state: Json, world: SimpleNamespace) -> list[Json]:
    """The other cells that the agent can walk to without touching a hazard, row by row."""
    grid, unsafe = state["grid"], (world.WALL, world.HAZARD)
    start = state["position"]["x"], state["position"]["y"]
    reached, front = {start}, [start]
    while front:
        x, y = front.pop()
        for place in ((x, y - 1), (x + 1, y), (x, y + 1), (x - 1, y)):
            if place not in reached and cell(grid, *place, world.WALL) not in unsafe:
                reached.add(place)
                front.append(place)
    return [{"x": x, "y": y} for y, x in sorted((y, x) for x, y in reached - {start})]


def observe(state: Json, world: SimpleNamespace, k: SimpleNamespace) -> Json:
    """What the agent is shown."""
    x, y = state["position"]["x"], state["position"]["y"]
    dx, dy = state["goal"]["x"] - x, state["goal"]["y"] - y
    grid, sight, wall = state["grid"], world.SIGHT, world.WALL
    height, width = len(grid), len(grid[0])
    patch = [
        [grid[b][a] if 0 <= b < height and 0 <= a < width else wall for a in range(x - sight, x + sight + 1)]
        for b in range(y - sight, y + sight + 1)
    ]
    if abs(dx) <= sight and abs(dy) <= sight:
        patch[sight + dy][sight + dx] = world.GOAL
    return {
        "position": state["position"],
        "local_patch": patch,
        "goal_delta": {"x": dx, "y": dy},
        "distance_to_goal": abs(dx) + abs(dy),
        "b": state["coherence"]["b"],
        "V_coh": kernel.potential(state["coherence"], k),
    }


def propose(seen: Json, visits: Visits, b_start: int, world: SimpleNamespace) -> list[Json]:
    """All five moves, scored by the distance that they would leave and a bonus for cells seldom visited."""
    x, y, delta, patch = seen["position"]["x"], seen["position"]["y"], seen["goal_delta"], seen["local_patch"]
    alpha = min(MILLION, seen["b"] * MILLION // b_start) if b_start > 0 else 0
    sight, wall = world.SIGHT, world.WALL
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


def step(
    state: Json, move: str, charge: int, world: SimpleNamespace, k: SimpleNamespace
) -> tuple[Json, kernel.Field, kernel.Field]:
    """The next state, and the kernel's rho and C before their projection."""
    grid, wall, hazard = state["grid"], world.WALL, world.HAZARD
    position, goal, coherence = state["position"], state["goal"], state["coherence"]
    dx, dy = MOVES[move]
    x, y = position["x"] + dx, position["y"] + dy
    aimed = {"x": x, "y": y}
    detour = exposed = 0
    if move != "Stay":
        exposed = sum([cell(grid, a, b, wall) == hazard for a, b in ((x, y - 1), (x + 1, y), (x, y + 1), (x - 1, y))])
    if distance(aimed, goal) > distance(position, goal):
        detour = world.DETOUR + world.STRAIN * exposed
    room = 0
    if exposed:
        room = -world.EXPOSURE * exposed
    elif coherence["rho"][0][0] + world.RECOVERY <= world.HEADROOM:
        room = world.RECOVERY
    phase = PHASES[move]
    inner, raw_rho, raw_c = kernel.step(coherence, [[room, 0]], [[phase, phase + detour]], charge, k)
    free = cell(grid, x, y, wall) != wall
    after = {
        "position": aimed if free else position,
        "goal": goal,
        "grid": grid,
        "bumps": state["bumps"] if free else state["bumps"] + 1,
        "t": state["t"] + 1,
        "coherence": inner,
    }
    return after, raw_rho, raw_c
