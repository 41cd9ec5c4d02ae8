"""What the searched gridworld tells of a drift is what a search over all ways finds, written without fields."""

import json

import pytest

from specledger.kinds import load
from specledger.pipeline.executing import execute

STEPS = ((0, 0), (0, -1), (1, 0), (0, 1), (-1, 0))
WITHIN, WINDOW = 20, 5
MAPS = {
    "a room": "#####\\n#S..#\\n#..G#\\n#####\\n",
    "a way around": "########\\n#S.#...#\\n#..#.#.#\\n#....#G#\\n########\\n",
    "hazards in the way": "#######\\n#S.!..#\\n#..!..#\\n#.....#\\n#.!!!.#\\n#....G#\\n#######\\n",
}


def least_sum(grid, start, goal, others, counted):
    """The least sum of distances from the goal over the last `counted` steps of a way of `others + counted`."""
    reached = {start}
    for _ in range(others):
        reached = {cell for each in reached for cell in near(grid, each)}
    sums = dict.fromkeys(reached, 0)
    for _ in range(counted):
        after: dict[tuple[int, int], int] = {}
        for each, total in sums.items():
            for x, y in near(grid, each):
                found = total + abs(x - goal["x"]) + abs(y - goal["y"])
                after[x, y] = min(found, after.get((x, y), found))
        sums = after
    return min(sums.values())


def near(grid, cell):
    x, y = cell
    return [(x + dx, y + dy) for dx, dy in STEPS if grid[y + dy][x + dx] not in (1, 2)]


@pytest.mark.medium
@pytest.mark.parametrize("drawing", MAPS.values(), ids=MAPS)
def test_the_least_sums_are_those_of_all_ways(drawing, tmp_path):
    changes = ["world=searched-gridworld", f'map.drawing="{drawing}"', "drift=[{use: goal-drift, with: {every: 9}}]"]
    bundle = load("hazard", kind="scenario", set=[*changes, "episodes=2", "horizon=40"])[0]
    grid = start = goal = None
    compared = 0
    for line in (execute(bundle, tmp_path / "out").place / "receipts.jsonl").read_text().splitlines():
        receipt = json.loads(line)
        kind, body = receipt["type"], receipt["body"]
        if kind == "episode":
            grid, at = body["state"]["grid"], body["state"]["position"]
            start = at["x"], at["y"]
        elif kind == "drift":
            goal = body["changed"]["goal"]["to"]
        elif kind == "step":
            record = body["record"]
            if body["t"] % 9 or not body["t"]:
                assert record["least_sums"] == []
            else:
                first = [least_sum(grid, start, goal, 0, n) for n in range(1, WINDOW)]
                assert record["least_sums"] == [*first, least_sum(grid, start, goal, WITHIN - WINDOW, WINDOW)]
                compared += 1
            start = record["place"] % 256, record["place"] // 256
    assert compared == 8
