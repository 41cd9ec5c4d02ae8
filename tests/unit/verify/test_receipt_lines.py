"""Lines of receipts: which is refused first, with its number and in which words."""

import json
from typing import Any

import pytest

from specledger.core.canonical import canonical_bytes
from specledger.core.merkle import Tree, leaf_hash
from specledger.evidence.layout import MAX_LINE
from specledger.verify.checks import Broken
from specledger.verify.receipts import Head, Receipts, Unlinked, follow, link, linked

RUN, OTHER, ZEROS = "ab" * 16, "cd" * 16, "0" * 64
TYPES = ("start", "step", "step", "end")


def sealed(types=TYPES, run=RUN, bodies=()):
    """Receipts that follow one another, each a line."""
    lines: list[bytes] = []
    for number, type_ in enumerate(types):
        body = bodies[number] if number < len(bodies) else {"specs": "s"} if type_ == "start" else {"n": number}
        prev = leaf_hash(lines[-1]).hex() if lines else ZEROS
        lines.append(canonical_bytes({"body": body, "prev": prev, "run": run, "seq": number, "type": type_}))
    return lines


def changed(number, **fields):
    """The lines, of which one says other than it did."""
    lines = sealed()
    lines[number] = canonical_bytes({**json.loads(lines[number]), **fields})
    return lines


def written(tmp_path, lines, end=b"\n"):
    path = tmp_path / "receipts.jsonl"
    path.write_bytes(b"".join(line + b"\n" for line in lines).removesuffix(b"\n") + end if lines else b"")
    return Receipts(path, RUN)


def test_the_head_of_a_chain(tmp_path):
    lines, tree = sealed(), Tree()
    for line in lines:
        tree.append_hash(leaf_hash(line))
    receipts = written(tmp_path, lines)
    assert link(receipts) == Head(4, leaf_hash(lines[3]).hex(), tree.root().hex())
    assert list(linked(receipts)) == [(line, leaf_hash(line)) for line in lines]
    assert list(receipts.contents()) == [
        ("start", {"specs": "s"}), ("step", {"n": 1}), ("step", {"n": 2}), ("end", {"n": 3}),
    ]  # fmt: skip


def test_the_head_of_no_chain(tmp_path):
    assert link(written(tmp_path, [])) == Head(0, ZEROS, Tree().root().hex())


NO_RECEIPT = "is no receipt: it needs exactly body, prev, run, seq, type"
# the lines, and which one is refused: its number, the code, the words, whether one of two was changed
UNLINKED: dict[str, tuple[list[bytes], int, str, str, bool]] = {
    "another body": (changed(1, body={"n": 9}), 2, "E_CHAIN", "receipt 2 does not follow receipt 1", True),
    "another digest": (changed(1, prev=ZEROS), 1, "E_CHAIN", "receipt 1 does not follow receipt 0", True),
    "another digest of the first": (changed(0, prev="1" * 64), 0, "E_CHAIN", "the `prev` of receipt 0 is not 64 zeros", False),
    "another run": (changed(1, run=OTHER), 1, "E_CHAIN", "receipt 1 belongs to another run", False),
    "another run from the start": (sealed(run=OTHER), 0, "E_CHAIN", "receipt 0 belongs to another run", False),
    "another number": (changed(2, seq=3), 2, "E_CHAIN", "receipt 2 has the number 3", False),
    "a number that is true": (changed(1, seq=True), 1, "E_CHAIN", "receipt 1 has the number True", False),
    "a number that is a text": (changed(1, seq="1"), 1, "E_CHAIN", "receipt 1 has the number '1'", False),
    "a type that is a number": (changed(1, type=1), 1, "E_LINE", f"line 2 {NO_RECEIPT}", False),
    "a list": ([*sealed()[:1], b"[1]"], 1, "E_LINE", f"line 2 {NO_RECEIPT}", False),
    "a line left out": ([*sealed()[:1], *sealed()[2:]], 1, "E_CHAIN", "receipt 1 has the number 2", False),
    "the first left out": (sealed()[1:], 0, "E_CHAIN", "receipt 0 has the number 1", False),
    "two lines in another order": ([sealed()[number] for number in (0, 2, 1, 3)], 1, "E_CHAIN", "receipt 1 has the number 2", False),
}  # fmt: skip


@pytest.mark.parametrize("case", UNLINKED)
def test_the_first_line_that_does_not_follow_is_named(case, tmp_path):
    lines, number, code, message, between = UNLINKED[case]
    with pytest.raises(Unlinked) as refused:
        link(written(tmp_path, lines))
    found = refused.value
    assert (found.number, found.code, found.message, found.between) == (number, code, message, between)


def test_a_line_before_that_is_no_receipt_is_named_itself(tmp_path):
    lines = changed(1, more=1)
    with pytest.raises(Unlinked) as refused:
        link(written(tmp_path, lines))
    assert (refused.value.number, refused.value.message) == (1, f"line 2 {NO_RECEIPT}")


@pytest.mark.parametrize(
    ("lines", "end", "message"),
    [
        ([b"x"], b"", "line 1 is torn: it has no newline"),
        ([b"a", b"x"], b"", "line 2 is torn: it has no newline"),
        ([b"x" * (MAX_LINE + 1)], b"\n", "line 1 is longer than any receipt"),
        ([b"x" * MAX_LINE], b"", "line 1 is torn: it has no newline"),
        ([b"x" * MAX_LINE], b"\n", None),
    ],
    ids=["torn", "torn later", "a byte too long", "as long as can be, and torn", "as long as can be"],
)
def test_a_line_ends_in_time(lines, end, message, tmp_path):
    receipts = written(tmp_path, lines, end)
    if message is None:
        assert list(receipts.lines()) == lines
        return
    with pytest.raises(Broken) as refused:
        list(receipts.lines())
    assert (refused.value.code, refused.value.message) == ("E_LINE", message)


class Taken:
    """Takes receipts, and fails at those of a type."""

    def __init__(self, fails_at="", error=KeyError, result=None):
        self.taken: list[Any] = []
        self._fails_at, self._error, self._result = fails_at, error, result

    def add(self, type_, body):
        self.taken.append((type_, body))
        if type_ == self._fails_at:
            raise self._error("n")

    def result(self):
        if self._result is not None:
            raise self._result("n")
        return {}


def test_all_that_follow_take_each_receipt(tmp_path):
    order, tally, cases = Taken(), Taken(), Taken()
    assert follow(written(tmp_path, sealed()), order, tally, cases) == "s"  # type: ignore[arg-type]
    assert [type_ for type_, _ in order.taken] == list(TYPES)
    assert order.taken == tally.taken == cases.taken


FOLLOWED: dict[str, tuple[list[bytes], Taken, str, str]] = {
    "no receipt": ([], Taken(), "E_ENDS", "there are no receipts"),
    "no end": (sealed(TYPES[:3]), Taken(), "E_ENDS", "the last receipt is 'step', not 'end'"),
    "no start": (sealed(("step", "end")), Taken(), "E_ENDS", "receipt 0 is 'step'"),
    "a second start": (sealed(("start", "start", "end")), Taken(), "E_ENDS", "receipt 1 is 'start'"),
    "a start without specs": (sealed(bodies=[{}]), Taken(), "E_LINE", "receipt 0 (start) is malformed: the field 'specs' is missing, or there is nothing of that name"),
    "a body that lacks something": (sealed(), Taken("step"), "E_LINE", "receipt 1 (step) is malformed: the field 'n' is missing, or there is nothing of that name"),
    "no result": (sealed(), Taken(result=KeyError), "E_LINE", "a receipt is malformed, so that no result follows: the field 'n' is missing, or there is nothing of that name"),
}  # fmt: skip


@pytest.mark.parametrize("case", FOLLOWED)
def test_receipts_follow_the_rules_of_their_kind(case, tmp_path):
    lines, tally, code, message = FOLLOWED[case]
    with pytest.raises(Broken) as refused:
        follow(written(tmp_path, lines), Taken(), tally)
    assert (refused.value.code, refused.value.message) == (code, message)


@pytest.mark.parametrize("error", [KeyError, TypeError, IndexError, AttributeError, ValueError])
def test_whatever_a_malformed_receipt_raises_is_a_finding(error, tmp_path):
    for order in (Taken("step", error), Taken(result=error)):
        with pytest.raises(Broken, match="malformed"):
            follow(written(tmp_path, sealed()), Taken(), order)
