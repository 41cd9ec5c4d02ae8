"""Bare steps of MiniGrid on the same drawing: what a widely used gridworld costs without rules, hashes and receipts.

The walks are drawn before the clock starts and never touch lava or the goal, so that every episode has all its steps.
"""

from __future__ import annotations

import os
import random
from collections.abc import Callable

from bench.task import Task

os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")

from minigrid.core.grid import Grid
from minigrid.core.mission import MissionSpace
from minigrid.core.world_object import Goal, Lava, Wall
from minigrid.minigrid_env import MiniGridEnv


class Drawn(MiniGridEnv):
    """The map of a task, hazards as lava; the agent sees as many cells as ours."""

    def __init__(self, task: Task) -> None:
        self._drawing = task.drawing
        super().__init__(
            mission_space=MissionSpace(mission_func=lambda: "reach the goal"),
            width=len(task.drawing[0]),
            height=len(task.drawing),
            max_steps=task.horizon + 1,
            agent_view_size=2 * task.world.SIGHT + 1,
        )

    def _gen_grid(self, width: int, height: int) -> None:
        self.grid = Grid(width, height)
        objects = {"#": Wall, "!": Lava, "G": Goal}
        for y, row in enumerate(self._drawing):
            for x, character in enumerate(row):
                if character in objects:
                    self.grid.set(x, y, objects[character]())
                elif character == "S":
                    self.agent_pos, self.agent_dir = (x, y), 0
        self.mission = "reach the goal"


def prepare(task: Task) -> Callable[[], int]:
    """A function that walks all episodes of a task and gives the number of steps."""
    env = Drawn(task)
    draws = random.Random(task.seed)
    walks = [_walk(env, draws, task.horizon) for _ in range(task.episodes)]

    def work() -> int:
        for walk in walks:
            env.reset()
            for action in walk:
                env.step(action)
        return sum(map(len, walks))

    return work


def _walk(env: Drawn, draws: random.Random, length: int) -> list[int]:
    """Random turns and moves that end no episode."""
    env.reset(seed=0)
    left, right, forward = env.actions.left, env.actions.right, env.actions.forward
    walk: list[int] = []
    for _ in range(length):
        ahead = env.grid.get(*env.front_pos)
        blocked = ahead is not None and ahead.type in ("lava", "goal")
        action = draws.choice((left, right) if blocked else (left, right, forward, forward))
        env.step(action)
        walk.append(action)
    return walk
