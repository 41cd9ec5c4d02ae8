"""Ten truthful styles as one program: `python3 styles.py STYLE`, lines of JSON in and out.

Each follows the objective of `honest` in its own way, and what it says about itself is true: the choice that it
predicts after a change is the one that is most frequent there, and a rate that it states is the rate at which it comes.
"""

import hashlib
import json
import math
import os
import random
import sys
import time

from panel import LEAST, VARY, candidates, changes, far, label, step, worth

WAIT = {"op": "wait"}
TEMPERATURE = 4
LATE = 1.5  # seconds, where the deadline is one


def weighed(s):
    value = worth(s)
    return [(value(action, step(s, action), False), action) for action in candidates(s)]


def leading(s):
    return [(1.0, max(weighed(s), key=lambda one: one[0])[1])]


def mixed(s, share):
    """The leading choice, and with the rest of the probability to wait."""
    ((_, best),) = leading(s)
    return [(share, best), (1 - share, WAIT)]


def unsure(s):
    """A toss of a coin near a hazard or somebody, else no doubt."""
    close = any(far(one, s["self"]) <= 3 for one in [*s["hazards"], *s["agents"]])
    return mixed(s, 0.5) if close else leading(s)


def ties(s):
    found = weighed(s)
    top = [action for value, action in found if value == max(value for value, _ in found)]
    return [(1 / len(top), action) for action in top]


def noisy(s):
    found = [action for _, action in weighed(s)]
    return [(0.9, leading(s)[0][1]), *((0.1 / len(found), action) for action in found)]


def softmax(s):
    found = weighed(s)
    top = max(value for value, _ in found)
    shares = [(math.exp((value - top) / TEMPERATURE), action) for value, action in found]
    return [(share / sum(share for share, _ in shares), action) for share, action in shares]


STYLES = {  # how it chooses, and whether it states a rate
    "sure": (leading, None),
    "hedging": (lambda s: mixed(s, 0.6), "rate"),
    "unsure": (unsure, "rate"),
    "ties": (ties, None),
    "noisy": (noisy, None),
    "softmax": (softmax, "rate"),
    "abstaining": (leading, None),
    "vague": (leading, "low"),
    "late": (leading, None),
    "misreading": (leading, None),
}


def likeliest(shares):
    """The label that comes most often, and how often."""
    found = {}
    for share, action in shares:
        found[label(action)] = found.get(label(action), 0) + share
    return max(found.items(), key=lambda one: one[1])


class Speaker:
    def __init__(self, style):
        self.style, (self.policy, self.states) = style, STYLES[style]
        self.random, self.said, self.last = random.Random(style), {}, None
        self.count = 0

    def choose(self, s):
        shares = self.policy(s)
        return self.random.choices([action for _, action in shares], [share for share, _ in shares])[0]

    def foreseen(self, s, variable, value, after):
        """What it would most likely choose; who misreads takes what `objects.at` leaves alone for gone."""
        if self.style == "misreading" and variable == "objects.at":
            after = {**s, "objects": value}
        return likeliest(self.policy(after))

    def claims(self, s, submitted):
        """Up to three changes that change the choice, filled up by some that do not."""
        moving, idle = [], []
        for variable in VARY:
            for value, after in changes(s, variable):
                chosen, rate = self.foreseen(s, variable, value, after)
                one = {"variable": variable, "becomes": value, "choice": chosen}
                if self.states is not None:
                    shown = rate if self.states == "rate" else 0.05
                    one["confidence"] = 1 if shown >= 1 else math.floor(shown * 10_000) / 10_000
                if chosen == submitted:
                    idle.append(one)
                elif self.style != "abstaining" and len(moving) < LEAST:
                    moving.append(one)
                    break
        return moving + idle[: max(0, LEAST - len(moving))]

    def stated(self, s, action, *, reasons):
        body = {"action": action, "claims": self.claims(s, label(action)) if reasons else []}
        nonce, payload = os.urandom(32), json.dumps(body, sort_keys=True, separators=(",", ":")).encode()
        digest = hashlib.sha256(nonce + payload).hexdigest()
        self.said[digest] = {"type": "reveal", "nonce": nonce.hex(), "payload": body}
        return {"type": "statement", **body}, digest

    def answer(self, message):
        kind, s = message["type"], message.get("observation")
        if kind == "hello":
            draws = self.policy is not leading
            return {"type": "hello", "name": self.style, "state": "none", "deterministic": not draws}
        if kind in ("reset", "restore"):
            return {"type": "ready"}
        if kind == "decide":
            body, digest = self.stated(s, self.choose(s), reasons=True)
            self.said[message["id"]] = body
            return {**body, "commitment": digest}
        if kind == "ask":
            self.count += 1
            if self.style == "late" and self.count % 100 == 0:
                time.sleep(LATE)
            return self.stated(s, self.choose(s), reasons=False)[0]
        if kind == "offer":
            return {"type": "declined"}
        return self.said[message["of"] if kind == "restate" else message["commitment"]]


if __name__ == "__main__":
    speaker = Speaker(sys.argv[1])
    for line in sys.stdin:
        message = json.loads(line)
        print(json.dumps({**speaker.answer(message), "id": message["id"]}), flush=True)
