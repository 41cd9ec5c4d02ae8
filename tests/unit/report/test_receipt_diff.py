"""Where receipts part: what the starts list, which digests say nothing, and when in the run it was."""

import json
import tracemalloc

import pytest

from specledger.report import receipt_diff
from specledger.report.receipt_diff import MOST_CHANGES, diff_receipts

START = {"gates": ["wall", "hazard", "progress"], "horizon": 3, "invariants": [], "seed": 1, "specs": "a" * 64}
KEYS = ("law/one@" + "0" * 16, "law/one@" + "1" * 16)
DIGESTS = ("a" * 64, "b" * 64)


def lines(*receipts):
    return [
        json.dumps({"body": body, "seq": seq, "type": type_}, sort_keys=True, separators=(",", ":")).encode()
        for seq, (type_, body) in enumerate(receipts)
    ]


def parted(sides, alike):
    first, second = sides
    return diff_receipts(first, second, alike)


def listed(changes):
    return [(one.path, one.first, one.second) for one in changes]


LISTED = {
    "a gate that is left out moves no other": (
        {"gates": ["wall", "progress"]},
        [("gates.hazard", "there is one", None)],
    ),
    "another order of gates": (
        {"gates": ["hazard", "wall", "progress"]},
        [("gates[0]", "wall", "hazard"), ("gates[1]", "hazard", "wall")],
    ),
    "an invariant more": (
        {"invariants": [{"name": "kept", "severity": "fatal"}]},
        [("invariants.kept", None, '{"name":"kept","severity":"fatal"}')],
    ),
    "two of one name": ({"gates": ["wall", "wall", "progress"]}, [("gates[1]", "hazard", "wall")]),
    "figures": ({"seed": 2, "horizon": 4}, [("horizon", "3", "4"), ("seed", "1", "2")]),
    "another kind of value": ({"gates": None}, [("gates", '["wall","hazard","progress"]', "null")]),
    "digests alone": ({"specs": "b" * 64, "digest": "c" * 64}, []),
}


@pytest.mark.parametrize(("changes", "expected"), LISTED.values(), ids=LISTED)
def test_the_start_lists_by_name(changes, expected):
    other = {**START, "digest": "d" * 64, **changes}
    found = parted([lines(("start", {**START, "digest": "d" * 64})), lines(("start", other))], alike=False)
    assert listed(found.start) == expected
    assert (found.receipts, found.more, found.same) == (None, 0, not expected)


def test_of_many_changes_of_the_start_some_are_counted():
    bodies = [{**START, "drifts": [n * sign for n in range(1, MOST_CHANGES + 6)]} for sign in (1, -1)]
    found = parted([lines(("start", body)) for body in bodies], alike=False)
    assert (len(found.start), found.more) == (MOST_CHANGES, 5)


# type and bodies of a receipt of two runs of other specs, and what of it is a difference
FOLLOWS = {
    "what pins a spec": ("verdict", [{"key": key} for key in KEYS], []),
    "what pins another spec": ("verdict", [{"key": KEYS[0]}, {"key": "law/two@" + "0" * 16}], ["body.key"]),
    "a pin in a list": ("expected", [{"found": [key]} for key in KEYS], []),
    "the digest of a verdict that is listed": ("verdict", [{"digest": digest} for digest in DIGESTS], []),
    "the digest of a state": ("episode_end", [{"state": digest} for digest in DIGESTS], ["body.state"]),
    "the digest of cases": ("cases", [{"digest": digest} for digest in DIGESTS], ["body.digest"]),
    "the chain of a run": ("run", [{"receipts": {"head": one, "root": one}, "specs": one} for one in DIGESTS], []),
    "how long it is": ("run", [{"receipts": {"count": one}} for one in (3, 4)], ["body.receipts.count"]),
}


@pytest.mark.parametrize(("type_", "bodies", "paths"), FOLLOWS.values(), ids=FOLLOWS)
def test_digests_that_follow_from_specs_are_told_only_where_specs_are_alike(type_, bodies, paths):
    sides = [lines(("start", START), (type_, body)) for body in bodies]
    found = parted(sides, alike=False).receipts
    assert ([] if found is None else [one.path for one in found.changes]) == paths
    assert parted(sides, alike=True).receipts is not None


STEP = ("step", {"episode": 1, "t": 7})
ENTRY = ("audit", {"event": "ISSUED"})
PLACES = {
    "a step": ([STEP], [("step", {"episode": 1, "t": 7, "chosen": 2})], ("step", 1, 7), ["body.chosen"]),
    "an entry of the audit log": ([STEP, ENTRY, ENTRY], [STEP, ENTRY, ("audit", {})], ("audit", 1, 7), ["body.event"]),
    "an entry at first": ([ENTRY], [("audit", {})], ("audit", None, None), ["body.event"]),
    "another type": ([STEP], [("drift", {"episode": 2, "t": 7})], ("step", 1, 7), ["type", "body.episode"]),
    "one that has ended": ([STEP], [], ("step", 1, 7), ["the receipt"]),
}


@pytest.mark.parametrize(("first", "second", "place", "paths"), PLACES.values(), ids=PLACES)
def test_the_place_of_the_first_difference_is_told(first, second, place, paths):
    found = parted([lines(("start", START), *first), lines(("start", START), *second)], alike=True).receipts
    assert (found.type, found.episode, found.t) == place
    assert [one.path for one in found.changes] == paths
    assert found.ended == (None if second else "second")


@pytest.mark.medium
@pytest.mark.parametrize("type_", ["start", "step"])
def test_changes_that_are_only_counted_take_no_memory(monkeypatch, type_):
    monkeypatch.setattr(receipt_diff, "parse_canonical", lambda line, limit: json.loads(line))  # without its checks
    count = 10_000
    begun = [] if type_ == "start" else [("start", START)]
    sides = [lines(*begun, (type_, {"drifts": [value] * count})) for value in (0, 1)]
    tracemalloc.start()
    try:
        found = parted(sides, alike=True)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    changes, more = (found.start, found.more) if type_ == "start" else (found.receipts.changes, found.receipts.more)
    assert (len(changes), more) == (MOST_CHANGES, count - MOST_CHANGES)
    assert peak < 60 * count  # a change takes 130, and the two receipts 8 for each number
