"""A policy that Q-learning found, explained in five ways: `spec run explained.yaml --trust-agent`."""

from functools import cache
from pathlib import Path

from trees import grow, ranked

from specledger import gym

OPS, RATE, DISCOUNT, EPISODES, STEPS = ("charge", "clean", "wait"), 0.2, 0.9, 300, 20
SIZES = {"battery": 10, "dirt": 10, "guests": 4}


@cache
def table():
    env = gym.make(str(Path(__file__).with_name("cleaner.yaml")), horizon=STEPS)
    env.action_space.seed(1)
    values = {}
    for episode in range(EPISODES):
        seen, _ = env.reset(seed=episode)
        for _ in range(STEPS):
            n = env.action_space.sample()
            after, reward, *_ = env.step(n)
            row, best = (values.setdefault(cell(place), {}) for place in (seen, after))
            op = env.actions.decode(n)["op"]
            row[op] = row.get(op, 0) + RATE * (reward + DISCOUNT * max(best.values(), default=0) - row.get(op, 0))
            seen = after
    return values


def cell(seen):
    return tuple(int(seen[name]) for name in SIZES)


def policy(seen):
    row = table().get(cell(seen), {})
    return {"op": max(OPS, key=lambda op: row.get(op, -1000))}


def values(seen):
    """Every other value of each variable, the nearest first."""
    return {
        name: sorted(set(range(size)) - {seen[name]}, key=lambda n, here=seen[name]: abs(n - here))
        for name, size in SIZES.items()
    }


# The glue: each of these is an agent.
perturbing = gym.Explained(policy, gym.by_asking(policy, values))
tree_8, tree_4, tree_2 = (
    gym.Explained(policy, gym.by_asking(grow(policy, SIZES, depth), values)) for depth in (8, 4, 2)
)
ranking = gym.Explained(policy, ranked(policy, values, OPS))
