"""Draws are fair, independent and reproducible from any position."""

from collections import Counter
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specledger.core.rng import Stream

SEEDS = st.integers(-(2**53) + 1, 2**53 - 1)
NAMES = st.lists(st.one_of(SEEDS, st.text(st.characters(exclude_categories=["Cs"]), max_size=5)), max_size=3)


def chi_squared(counts, cells, draws):
    expected = draws / cells
    return sum((counts[cell] - expected) ** 2 / expected for cell in range(cells))


def limit(cells):
    """Six standard deviations above the mean of chi-squared with cells - 1 degrees of freedom."""
    return (cells - 1) + 6 * (2 * (cells - 1)) ** 0.5


@given(SEEDS, NAMES, st.integers(-(2**80), 2**80), st.integers(0, 2**80))
def test_an_integer_lies_in_its_range(seed, names, low, width):
    stream = Stream.named(seed, *names)
    assert low <= stream.integer(low, low + width) <= low + width


@given(SEEDS, NAMES, st.lists(st.integers(0, 80), max_size=6))
def test_bytes_are_one_sequence_however_they_are_drawn(seed, names, counts):
    stream = Stream.named(seed, *names)
    assert b"".join(stream.bytes(count) for count in counts) == Stream.named(seed, *names).bytes(sum(counts))
    assert stream.position == sum(counts)


@given(SEEDS, st.integers(0, 200), st.lists(st.integers(0, 1000), max_size=8))
def test_a_run_can_be_replayed_from_any_position(seed, start, ranges):
    first = Stream(Stream.named(seed).key, start)
    again = Stream(first.key, start)
    again.bytes(100)
    again.position = start
    assert [first.integer(0, high) for high in ranges] == [again.integer(0, high) for high in ranges]
    assert first.position == again.position


@given(SEEDS, st.lists(st.integers(), max_size=30))
def test_shuffling_keeps_every_item(seed, items):
    assert Counter(Stream.named(seed).shuffle(items)) == Counter(items)


@given(SEEDS, st.integers(0, 30), st.data())
def test_a_sample_takes_different_places(seed, size, data):
    count = data.draw(st.integers(0, size))
    drawn = Stream.named(seed).sample(range(size), count)
    assert len(set(drawn)) == len(drawn) == count
    assert set(drawn) <= set(range(size))


@given(SEEDS, NAMES, NAMES)
def test_streams_with_other_names_are_others(seed, names, others):
    same = Stream.named(seed, *names).bytes(16) == Stream.named(seed, *others).bytes(16)
    assert same == (names == others)


def test_integers_are_uniform_where_a_remainder_would_not_be():
    """171 of the 256 values of a byte: a remainder would give 0..84 twice the chance of 85..170."""
    cells, draws = 171, 20_000
    stream = Stream.named(2024, "uniform")
    fair = Counter(stream.integer(0, cells - 1) for _ in range(draws))
    biased = Counter(byte % cells for byte in Stream.named(2024, "uniform").bytes(draws))
    assert chi_squared(fair, cells, draws) < limit(cells) < chi_squared(biased, cells, draws)


@pytest.mark.medium
def test_orders_are_uniform_where_a_naive_shuffle_would_not_be():
    cells, draws = 24, 12_000
    place = {order: index for index, order in enumerate(permutations(range(4)))}

    def naive(stream):
        items = list(range(4))
        for index in range(4):
            other = stream.integer(0, 3)
            items[index], items[other] = items[other], items[index]
        return items

    stream = Stream.named(2024, "orders")
    fair = Counter(place[tuple(stream.shuffle(range(4)))] for _ in range(draws))
    biased = Counter(place[tuple(naive(stream))] for _ in range(draws))
    assert chi_squared(fair, cells, draws) < limit(cells) < chi_squared(biased, cells, draws)


def test_streams_with_other_names_are_independent():
    """The exclusive or of two streams is as uniform as each; of one stream with itself it is all zeros."""
    draws = 20_000
    one, other = (Stream.named(2024, "pair", name).bytes(draws) for name in range(2))
    mixed = Counter(a ^ b for a, b in zip(one, other, strict=True))
    assert chi_squared(mixed, 256, draws) < limit(256)
