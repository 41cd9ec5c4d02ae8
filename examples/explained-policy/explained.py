"""A policy of Q-learning in a shipped world, explained in five ways: `spec run explained.yaml --trust-agent`."""

from functools import cache

from trees import grow, ranked

from specledger import gym

RATE, DISCOUNT, EPISODES, FAR = 0.2, 0.9, 1500, 3
OPS = ("N", "E", "S", "W", "pickup", "wait")
STEPS = {"N": (0, -1), "E": (1, 0), "S": (0, 1), "W": (-1, 0), "here": (0, 0)}
CELLS = {"dx": range(-FAR, FAR + 2), "dy": range(-FAR, FAR + 2), "energy": range(2)}


@cache
def table():
    """Values of operations by what is seen: where the nearest object is, and whether there is energy to move."""
    env, values = gym.make("toy-basic", reward="objects_held > 0 ? 100 : -1"), {}
    env.action_space.seed(1)
    seen, _ = env.reset(seed=1)
    for _ in range(EPISODES):
        ended = False
        while not ended:
            op = OPS[env.np_random.integers(len(OPS))]
            here, nothing = cell(shown(seen)), dict.fromkeys(OPS, 0.0)
            seen, reward, done, late, _ = env.step(act(op, shown(seen)))
            row, ended = values.setdefault(here, nothing), done or late
            then = 0 if done else max(values.get(cell(shown(seen)), nothing).values())
            row[op] += RATE * (float(reward) + DISCOUNT * then - row[op])
        seen, _ = env.reset()
    return values


def shown(seen):
    """What an element of the observation space says of the variables that the policy reads."""
    place = {"x": int(seen["self"]["x"]), "y": int(seen["self"]["y"])}
    objects = [{"id": thing["id"], "x": int(thing["x"]), "y": int(thing["y"])} for thing in seen["objects"]]
    return {"self.pos": place, "objects.at": objects, "self.energy": int(seen["self"]["energy"])}


def nearest(seen):
    """The way to the nearest object, and its id."""
    here = seen["self.pos"]
    ways = [(thing["x"] - here["x"], thing["y"] - here["y"], thing["id"]) for thing in seen["objects.at"]]
    return min(ways, key=lambda way: (abs(way[0]) + abs(way[1]), way), default=None)


def cell(seen):
    way, energy = nearest(seen), int(seen["self.energy"] > 0)
    if way is None:
        return FAR + 1, FAR + 1, energy
    return (*(max(-FAR, min(FAR, steps)) for steps in way[:2]), energy)


def act(op, seen):
    way = nearest(seen)
    if op == "pickup":
        return {"op": "pickup", "id": way[2]} if way else {"op": "wait"}
    return {"op": "wait"} if op == "wait" else {"op": "move", "dir": op}


def best(here):
    row = table().get(tuple(here), {})
    return max(OPS, key=lambda op: row.get(op, -1000))


def policy(seen):
    return act(best(cell(seen)), seen)


# The glue: what could be otherwise, and each way to explain the policy as an agent.
def values(seen):
    """Other values of each variable, the nearest first: no energy, the object elsewhere or gone, another cell."""
    here, things = seen["self.pos"], seen["objects.at"]
    near = [{"x": here["x"] + x, "y": here["y"] + y} for x, y in STEPS.values()]
    inside = [place for place in near if 0 <= place["x"] < 12 and 0 <= place["y"] < 12]
    moved = [[{**things[0], **place}, *things[1:]] for place in inside if things]
    return {
        "objects.at": [*moved, []],
        "self.pos": [place for place in inside if place != here],
        "self.energy": [0, 60],
    }


def surrogate(depth):
    tree = grow(best, CELLS, depth)
    return gym.Explained(policy, gym.by_asking(lambda seen: act(tree(cell(seen)), seen), values))


perturbing = gym.Explained(policy, gym.by_asking(policy, values))
tree_8, tree_4, tree_2 = (surrogate(depth) for depth in (8, 4, 2))
ranking = gym.Explained(policy, ranked(policy, values, [{"op": "move", "dir": way} for way in "NESW"]))
