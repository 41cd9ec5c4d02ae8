"""What the one file makes again is compared as a whole: no field of a receipt of any kind of bundle is free to change.

Only the last check is asked, with everything before it passed for the honest bundle: neither the chain nor the joining
of states can help it.
"""

import json
import random
import shutil

import pytest

from tools import verify
from tools.conformance import PLACE

SAMPLES = {"climb": 12, "stuck": 12, "failing": 12, "outside": 12, "kernel": 16, "proved": 3, "refuted": 12, "suite": 24, "discovery": 2, "taped": 8}  # fmt: skip
"""How many fields are changed, by the base; a discovery takes long."""

LEFT = {"certificate"}
"""What is checked for what it proves, and may differ where it proves the same; `unchecked` says so."""


@pytest.mark.parametrize("base", SAMPLES)
def test_a_changed_field_of_a_receipt_is_refuted(tmp_path, base):
    draw = random.Random(base)
    place = shutil.copytree(PLACE / "bases" / base, tmp_path / "bundle")
    bundle = verify.Bundle(place)
    verify.BUDGET.begin()
    for _, check, _ in bundle.checks():
        check()
    files = sorted(place.rglob("receipts.jsonl"))
    for _ in range(SAMPLES[base]):
        path = draw.choice(files)
        data = path.read_bytes()
        lines = data.splitlines(keepends=True)
        at = draw.randrange(len(lines))
        receipt = json.loads(lines[at])
        changed = change(receipt["body"], draw)
        lines[at] = verify.write(receipt) + b"\n"
        path.write_bytes(b"".join(lines))
        assert made_again(bundle), (path, at, changed)
        path.write_bytes(data)
    assert not made_again(bundle)


def made_again(bundle):
    """The code for which it is refuted; None where it is accepted."""
    verify.BUDGET.begin()
    try:
        verify.guarded(lambda: verify.made_again(bundle), "E_REPLAY")
    except verify.Refuted as refuted:
        return refuted.code
    return None


def change(body, draw):
    """Change one value in a body, and keep its type; gives the path to it."""
    places = list(leaves(body, ()))
    *path, last = draw.choice(places)
    holder = body
    for key in path:
        holder = holder[key]
    holder[last] = other(holder[last])
    return (*path, last)


def leaves(value, path):
    """The paths to all values that hold no others."""
    pairs = value.items() if isinstance(value, dict) else enumerate(value)
    for key, inner in pairs:
        if isinstance(inner, (dict, list)) and inner and key not in LEFT:
            yield from leaves(inner, (*path, key))
        elif key not in LEFT:
            yield (*path, key)


def other(value):
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return value + 1
    if isinstance(value, str):
        return f"{value}x"
    if isinstance(value, dict):
        return {"a": 0}
    return [0] if isinstance(value, list) else 0
