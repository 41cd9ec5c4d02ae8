"""Walks to the nearest object and takes it. The reasons it gives are the ones that it acts on."""

import hashlib
import json
import os
import sys


def choose(me, things):
    if me["inventory"] or not things:
        return {"op": "wait"}
    goal = min(things, key=lambda thing: abs(thing["x"] - me["x"]) + abs(thing["y"] - me["y"]))
    if (goal["x"], goal["y"]) == (me["x"], me["y"]):
        return {"op": "pickup", "id": goal["id"]}
    moves = {"N": (0, -1), "E": (1, 0), "S": (0, 1), "W": (-1, 0)}
    left = {d: abs(goal["x"] - me["x"] - x) + abs(goal["y"] - me["y"] - y) for d, (x, y) in moves.items()}
    return {"op": "move", "dir": min(left, key=left.get)}


def state(me, things, decide, explain):  # the choice, and what `explain` would choose with another value of a variable
    place = {key: things[0][key] if things else 0 for key in "xy"}
    ideas = {"inventory": [] if me["inventory"] else ["coin-9"], "energy": 0, "pos": place}
    claims = [
        {"variable": f"self.{n}", "becomes": new, "choice": explain(me | (new if n == "pos" else {n: new}), things)}
        for n, new in ideas.items()
    ]
    return {"action": decide(me, things), "claims": claims}


def serve(name, decide, explain):
    said = {}
    for message in map(json.loads, sys.stdin):
        answer = {"type": {"hello": "hello", "offer": "declined"}.get(message["type"], "ready")}
        if message["type"] == "hello":
            answer |= {"name": name, "deterministic": True}
        elif message["type"] in ("decide", "ask"):
            body = state(message["observation"]["self"], message["observation"]["objects"], decide, explain)
            nonce, payload = os.urandom(16), json.dumps(body, sort_keys=True, separators=(",", ":")).encode()
            digest = hashlib.sha256(nonce + payload).hexdigest()
            said[digest] = {"type": "reveal", "nonce": nonce.hex(), "payload": body}
            answer = said[message["id"]] = {"type": "statement", **body}
            answer = answer | {"commitment": digest} if message["type"] == "decide" else answer
        elif message["type"] in ("restate", "reveal"):
            answer = said[message.get("of", message.get("commitment"))]
        print(json.dumps({**answer, "id": message["id"]}), flush=True)


if __name__ == "__main__":
    serve("honest", choose, choose)
