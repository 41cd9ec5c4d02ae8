"""What a run puts into a receipt: the canonical bytes, or the place of what no receipt can hold."""

import json
import re

from tools.verifier.basis import BIG, DEPTH, Open, tagged, write

MOST_WEIGHT = 8 << 20
PLAIN_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


class Unsealable(Exception):
    """A number beyond 2^53 - 1, and the path of what holds it; or too much."""

    def __init__(self, code, path):
        self.code, self.path = code, path
        super().__init__(code)

    def told(self):
        """The failure as a receipt holds it."""
        shown = "$"
        for key in self.path:
            key = key[:64] if isinstance(key, str) else key
            plain_key = isinstance(key, str) and PLAIN_KEY.fullmatch(key)
            shown += f".{key}" if plain_key else f"[{json.dumps(key)}]"
        return {"code": self.code, "expression": shown, "offset": None}


def weighed(value):
    """A value that holds no more than may be told: members and characters, looked at no further than to the bound."""
    weight, todo = 0, [value]
    while todo and weight <= MOST_WEIGHT:  # what is still to be looked at was counted, so it is bounded too
        one = todo.pop()
        if isinstance(one, str):
            weight += len(one)
        elif isinstance(one, dict):
            weight += len(one) + sum(map(len, one))
            todo.extend(one.values())
        elif isinstance(one, list):
            weight += len(one)
            todo.extend(one)
    if weight > MOST_WEIGHT:
        raise Unsealable("E_CANON_SIZE", ())
    return value


def state_hash(state):
    """The digest of a state, or of a part's."""
    return tagged("state", sealed(weighed(state)))


def sealed(value):
    """The canonical bytes of a value of which every number fits a receipt."""
    check_sealable(value, ())
    return write(value)


def check_sealable(value, path):
    """See that a value can stand in a receipt; the first place in order that cannot is told."""
    if type(value) is int:
        if not -BIG <= value <= BIG:
            raise Unsealable("E_CANON_RANGE", path)
    elif isinstance(value, (dict, list)):
        if len(path) >= DEPTH:
            raise Unsealable("E_CANON_DEPTH", path)
        members = value.items() if isinstance(value, dict) else enumerate(value)
        for key, one in members:
            if type(one) not in (str, bool, type(None)):
                check_sealable(one, (*path, key))
    elif type(value) is float:
        raise Open("E_SPECS", "a double would stand in a receipt")
