"""An agent of your own: write `policy`, and in `values` what its reasons may speak of.

spec run round --set agent=mine --set probes='[p5-predictions, layer-b]' --trust-agent
"""

from specledger import gym


def policy(seen):
    """Choose by what the agent sees: the queue, and how many were treated."""
    if not seen["queue"]:
        return {"op": "rest"}
    return {"op": "treat", "id": max(seen["queue"], key=lambda patient: patient["urgency"])["id"]}


def values(seen):
    """By variable of the world the values that are tried: here each patient in turn is the most urgent."""
    queue = seen["queue"]
    return {"queue": [[{**other, "urgency": 5 if other == one else 1} for other in queue] for one in queue]}


answer = gym.Explained(policy, gym.by_asking(policy, values))  # its reasons: what `policy` says of these values
