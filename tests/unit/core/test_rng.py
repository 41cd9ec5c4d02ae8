"""Pinned draws, which never change since every golden depends on them, and the mistakes that are refused."""

import copy
import hashlib

import pytest

from specledger.core.canonical import NotCanonical
from specledger.core.rng import Stream


def test_bytes_are_those_of_the_definition():
    key = hashlib.sha256(b'specledger/stream/v1\0[7,"world",3]').digest()
    blocks = [
        hashlib.sha256(b"specledger/stream-block/v1\0" + key + index.to_bytes(8, "big")).digest() for index in range(4)
    ]
    stream = Stream.named(7, "world", 3)
    assert stream.key == key
    assert stream.bytes(100) == b"".join(blocks)[:100]


def test_pinned_draws():
    stream = Stream.named(7, "world", 3)
    drawn = [
        [stream.integer(0, 3) for _ in range(12)],
        [stream.integer(-5, 5) for _ in range(12)],
        [stream.integer(1, 1000) for _ in range(8)],
        [stream.integer(0, 2**70) for _ in range(2)],
        stream.choice("abcdef"),
        stream.shuffle(range(8)),
        stream.sample("abcdefgh", 3),
        stream.position,
    ]
    assert drawn == [
        [2, 0, 3, 2, 0, 1, 1, 1, 2, 2, 1, 2],
        [4, -5, -5, -3, -5, 4, 3, 2, -1, -4, -3, -2],
        [445, 850, 113, 132, 705, 410, 558, 682],
        [1037756844077076749423, 216340896262711595026],
        "b",
        [2, 7, 3, 1, 4, 0, 6, 5],
        ["b", "h", "d"],
        99,
    ]


def test_a_certain_draw_takes_no_bytes():
    stream = Stream.named(1)
    assert (stream.integer(5, 5), stream.choice("x"), stream.shuffle("y"), stream.sample("z", 0)) == (5, "x", ["y"], [])
    assert (stream.bytes(0), stream.shuffle([]), stream.position) == (b"", [], 0)


def test_a_copy_goes_its_own_way():
    stream = Stream.named(1, "a")
    stream.bytes(5)
    for clone in (copy.copy(stream), copy.deepcopy(stream)):
        assert clone.bytes(70) == Stream(stream.key, 5).bytes(70)
    assert stream.position == 5


def test_shuffling_leaves_the_items_as_they_were():
    items = [1, 2, 3, 4]
    Stream.named(1).shuffle(items)
    assert items == [1, 2, 3, 4]


MISTAKES = {
    "an empty range": lambda stream: stream.integer(1, 0),
    "a choice of nothing": lambda stream: stream.choice([]),
    "a negative count of bytes": lambda stream: stream.bytes(-1),
    "a sample larger than its source": lambda stream: stream.sample("ab", 3),
    "a negative sample": lambda stream: stream.sample("ab", -1),
}


@pytest.mark.parametrize("draw", MISTAKES.values(), ids=MISTAKES)
def test_a_draw_that_cannot_be_made_is_refused(draw):
    with pytest.raises(ValueError, match=r"cannot draw|no integer"):
        draw(Stream.named(1))


@pytest.mark.parametrize("names", [(2**53,), (0, "\ud800"), (0, 1.5), (0, b"x"), (0, 2**53)])
def test_a_seed_or_name_without_canonical_form_is_refused(names):
    with pytest.raises(NotCanonical):
        Stream.named(*names)


def test_streams_differ_by_seed_and_by_each_name():
    names: list[tuple] = [
        (0,),
        (1,),
        (0, "a"),
        (0, "b"),
        (0, "a", "b"),
        (0, "ab"),
        (0, "b", "a"),
        (0, 1),
        (0, "1"),
        (0, "a", ""),
        (0, True),
    ]
    blocks = {Stream.named(*name).bytes(32) for name in names}
    assert len(blocks) == len(names)
