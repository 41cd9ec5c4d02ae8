"""A file of receipts that was changed and not sealed again: which digest is whose, and the first receipt that differs."""

import json

import pytest

from specledger.core.canonical import canonical_bytes
from specledger.core.digest import sha256_hex
from specledger.kinds import KINDS
from specledger.verify.assurance_levels import Reader
from specledger.verify.run import RUN
from tests.verifying import verify_bundle


def edited(number, old, new):
    def change(lines):
        assert old in lines[number]
        lines[number] = lines[number].replace(old, new, 1)

    return change


def another_prev(number, body=None):
    """Another digest of the receipt before, and perhaps another body."""

    def change(lines):
        receipt = json.loads(lines[number])
        receipt["prev"] = "ab" * 32
        receipt["body"].update(body or {})
        lines[number] = canonical_bytes(receipt) + b"\n"

    return change


def both(*changes):
    def change(lines):
        for one in changes:
            one(lines)

    return change


# how the lines are changed, and what is said of it: by the chain alone, and by replay
CHANGES = {
    "a value": (
        edited(3, b'"chosen":1', b'"chosen":0'),
        "receipt 3 is the first that differs: its digest is not the one that receipt 4 names",
        "by replay, receipt 3 differs at body.chosen: recorded 0, replayed 1",
    ),
    "the first one": (
        edited(0, b'"horizon":3', b'"horizon":4'),
        "receipt 0 is the first that differs: its digest is not the one that receipt 1 names",
        "by replay, receipt 0 differs at body.horizon: recorded 4, replayed 3",
    ),
    "the last one": (
        edited(-1, b'"episodes":2', b'"episodes":1'),
        "follow each other, and the last is not the one that the manifest names",
        "differs at body.episodes: recorded 1, replayed 2",
    ),
    "the digest of the one before alone": (
        another_prev(6),
        "by the chain, receipt 6 is the first that differs: its `prev` is not the digest of receipt 5, and nothing else of it differs",
        "by replay, receipt 6 differs at prev: recorded 'abab",
    ),
    "that of the last one alone": (
        another_prev(-1),
        ", and nothing else of it differs",
        " differs at prev: recorded 'abab",
    ),
    "that of the first one": (
        another_prev(0),
        "receipt 0 is the first that differs: the `prev` of receipt 0 is not 64 zeros",
        "by replay, receipt 0 differs at prev: recorded 'abab",
    ),
    "more than the digest of the one before": (
        another_prev(6, {"t": 9}),
        "receipt 5 or 6 is the first that differs: receipt 6 does not follow receipt 5",
        "by replay, receipt 6 differs at body.t: recorded 9",
    ),
    "two that follow each other no longer": (
        both(edited(5, b'"t":', b'"t":1'), another_prev(6)),
        "by the chain, receipt 5 or 6 is the first that differs: receipt 6 does not follow receipt 5",
        "by replay, receipt 5 differs at body.t: ",
    ),
    "the next one torn": (
        lambda lines: (another_prev(3)(lines), lines.__setitem__(slice(4, None), [lines[4][:-1]])),
        "receipt 2 or 3 is the first that differs: receipt 3 does not follow receipt 2",
        "by replay, receipt 3 differs at prev",
    ),
    "its form": (
        edited(5, b"{", b"{ "),
        "receipt 5 is the first that differs: line 6: ",
        "by replay, receipt 5 differs",
    ),
    "one line less": (
        lambda lines: lines.pop(7),
        "receipt 7 is the first that differs: receipt 7 has the number 8",
        "by replay, receipt 7 differs at ",
    ),
    "nothing": (lambda lines: lines.clear(), "its 0 receipts follow each other", "by replay, receipt 0 is missing"),
    "no newline at the end": (
        lambda lines: lines.append(lines.pop()[:-1]),
        "is the first that differs: line ",
        "is torn: it has no newline",
    ),
}


@pytest.mark.parametrize("replay", [False, True], ids=["by the chain", "by replay"])
@pytest.mark.parametrize("change", CHANGES)
def test_the_first_receipt_that_differs_is_named(forge, change, replay):
    folder = forge().folder
    file = folder / "receipts.jsonl"
    listed, lines = file.read_bytes(), file.read_bytes().splitlines(keepends=True)
    alter, by_chain, by_replay = CHANGES[change]
    alter(lines)
    file.write_bytes(b"".join(lines))
    refused = verify_bundle(folder, RUN, KINDS, Reader(replay=replay)).checks[1]
    assert (refused.code, by_chain in str(refused.message)) == ("E_FILES", True)
    if replay:
        assert by_replay in str(refused.message)
    if len(listed) == file.stat().st_size:
        said = f"has the SHA-256 {sha256_hex(file.read_bytes())}, and the manifest lists {sha256_hex(listed)}"
    else:
        said = f"has {file.stat().st_size} bytes, and the manifest lists {len(listed)}"
    assert f"receipts.jsonl {said}; " in str(refused.message)


def test_another_file_says_nothing_of_receipts(forge):
    folder = forge().folder
    (folder / "specs.json").write_bytes((folder / "specs.json").read_bytes().replace(b"climb", b"clomb", 1))
    refused = verify_bundle(folder, RUN, KINDS).checks[1]
    assert refused.code == "E_FILES"
    assert "specs.json has the SHA-256 " in str(refused.message)
    assert "receipt " not in str(refused.message)
