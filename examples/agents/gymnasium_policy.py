"""A Gymnasium policy in an agent slot: tabular Q-learning on `specledger.gym.make("two-tank")`, then its greedy values.

The governor of the run still judges every proposal, so what the policy has not learnt to avoid is rejected.
"""

from specledger import gym

SCENARIO, EPISODES, RATE, DISCOUNT = "two-tank", 30, 0.3, 0.9


def cell(seen):  # the row of the table that an observation belongs to
    return int(seen["h1"]) // 100, int(seen["h2"]) // 50


class Policy:
    """What a class in `python:` is: made once, then called with each message."""

    def __init__(self):
        self.env = gym.make(SCENARIO, reward="0 - task_performance", ends_at_success=False)
        self.actions, self.values = int(self.env.action_space.n), {}
        self.env.action_space.seed(1)
        for episode in range(EPISODES):
            seen, _ = self.env.reset(seed=episode)
            ended = False
            while not ended:
                action = self.env.action_space.sample()
                after, reward, terminated, truncated, _ = self.env.step(action)
                row, ended = self.row(seen), terminated or truncated
                row[action] += RATE * (reward + DISCOUNT * max(self.row(after)) - row[action])
                seen = after

    def row(self, seen):
        return self.values.setdefault(cell(seen), [0.0] * self.actions)

    def __call__(self, message):
        if message["type"] == "hello":
            return {"type": "hello", "name": "q-table", "state": "none", "deterministic": True}
        if message["type"] != "decide":
            return {"type": "ready"}
        row = self.row(self.env.observations.encode(message["observation"]))
        proposals = [{"action": self.env.actions.decode(n), "score": round(row[n])} for n in range(self.actions)]
        return {"type": "proposals", "proposals": proposals}
