"""Takes the nearest object, and says what it would choose in other cases: the reasons are those that it acts on."""

import hashlib
import json
import secrets

MOVES = {"E": (1, 0), "N": (0, -1), "S": (0, 1), "W": (-1, 0)}
SAID, NONCES = {}, {}


def far(at, thing):
    return abs(at[0] - thing["x"]) + abs(at[1] - thing["y"])


def is_free(seen, at):
    walls = [(wall["x"], wall["y"]) for wall in seen["grid"]["walls"]]
    return at not in walls and 0 <= at[0] < seen["grid"]["w"] and 0 <= at[1] < seen["grid"]["h"]


def choose(seen):
    """Take the nearest object, or walk towards it."""
    x, y, status = seen["self"]["x"], seen["self"]["y"], seen["self"]["status"]
    ways = {d: (x + dx, y + dy) for d, (dx, dy) in MOVES.items() if is_free(seen, (x + dx, y + dy))}
    goal = min(seen["objects"], key=lambda thing: far((x, y), thing), default=None)
    if goal is None or not status["alive"] or status["stunned"]:
        return {"op": "wait"}
    if far((x, y), goal) == 0:
        return {"op": "pickup", "id": goal["id"]}
    if not ways or seen["self"]["energy"] < 1:
        return {"op": "wait"}
    return {"op": "move", "dir": min(ways, key=lambda d: (far(ways[d], goal), d))}


def reasons(seen, near):
    """What it would choose if the objects near by were gone, and if one coin lay here, or some steps away, instead."""
    x, y, rest = seen["self"]["x"], seen["self"]["y"], [one for one in seen["objects"] if one not in near]
    cells = [(x, y), *[(x + n * dx, y + n * dy) for n in (2, 1) for dx, dy in MOVES.values()]]
    coin = {"id": "mine", "kind": "coin", "props": {"value": 1}}
    coins = [{**coin, "x": a, "y": b} for a, b in cells if is_free(seen, (a, b))]
    for then in [*([[]] if near else []), *([one] for one in coins)][:3]:
        yield {"variable": "objects.at", "becomes": then, "choice": choose({**seen, "objects": rest + then})}


def state(message, decide):
    seen, near = message["observation"], message["variables"]["objects.at"]["value"]
    payload = {"action": decide(seen), "claims": list(reasons(seen, near))}
    nonce, text = secrets.token_bytes(16), json.dumps(payload, sort_keys=True, separators=(",", ":"))
    commitment = hashlib.sha256(nonce + text.encode()).hexdigest()
    NONCES[commitment] = {"type": "reveal", "nonce": nonce.hex(), "payload": payload}
    return {"type": "statement", "commitment": commitment, **payload}


def answer(message, decide=choose):
    if message["type"] in ("decide", "ask"):
        SAID[message["id"]] = state(message, decide)
    return {
        "hello": {"type": "hello", "name": "honest", "deterministic": True, "can": ["claims", "commit"]},
        "reset": {"type": "ready"},
        "offer": {"type": "declined"},
        "reveal": NONCES.get(message.get("commitment")),
    }.get(message["type"]) or SAID[message.get("of", message["id"])]
