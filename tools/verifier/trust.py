"""What the reader brings: whom they trust, and what they expect."""

import hashlib
import json
from pathlib import Path

from tools.verifier.basis import BIG, HEX32, HEX64, MEBI, ZEROS, Refuted, _none, _object, demand, unbase64
from tools.verifier.covers import NAME


def read_trust(path):
    """The trust file; everything in it is checked, since a misread trust is worse than none."""
    code = "E_TRUST"
    try:
        with Path(path).open("rb") as file:
            data = file.read(MEBI + 1)
        demand(len(data) <= MEBI, code, "the trust file has more than 1 MiB")
        trust = json.loads(data.decode(), object_pairs_hook=_object, parse_float=_none, parse_constant=_none)
    except (OSError, ValueError, RecursionError) as error:
        raise Refuted(code, f"{path} is no trust file: {error}") from None
    needed, more = {"format", "origin", "keys", "threshold"}, {"run", "specs", "checkpoint"}
    shaped = isinstance(trust, dict) and needed <= trust.keys() <= needed | more
    demand(shaped and trust["format"] == "specledger/trust/v1", code, "the trust file has other fields than it must")
    origin, keys = trust["origin"], trust["keys"]
    demand(isinstance(origin, str) and NAME.fullmatch(origin.replace("{run}", "0" * 32)), code, "its origin is none")
    demand(isinstance(keys, list) and 1 <= len(keys) <= 16, code, "it has 1 to 16 keys")
    for one in keys:
        demand(isinstance(one, dict) and one.keys() == {"id", "public"}, code, "a key is {id, public}")
        raw = unbase64(one["public"], code, "a key")
        demand(len(raw) == 32 and one["id"] == hashlib.sha256(raw).hexdigest(), code, "an id is not SHA-256 of its key")
    demand(len({one["id"] for one in keys}) == len(keys), code, "a key stands there twice")
    demand(type(trust["threshold"]) is int and 1 <= trust["threshold"] <= len(keys), code, "its threshold is none")
    for name, form in (("run", HEX32), ("specs", HEX64)):
        fits = name not in trust or (isinstance(trust[name], str) and form.fullmatch(trust[name]))
        demand(fits, code, f"its `{name}` is none")
    seen = trust.get("checkpoint", {"size": 0, "root": ZEROS})
    demand(isinstance(seen, dict) and seen.keys() == {"size", "root"}, code, "its checkpoint is {size, root}")
    size, root = seen["size"], seen["root"]
    fits = type(size) is int and 0 <= size <= BIG and isinstance(root, str) and HEX64.fullmatch(root)
    demand(fits, code, "its checkpoint is none")
    return trust
