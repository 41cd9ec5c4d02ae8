"""Every proof verifies, and nothing else does."""

import hashlib
from itertools import product

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from specledger.core.merkle import (
    Tree,
    leaf_hash,
    root,
)
from specledger.core.merkle_proofs import verify_inclusion
from tests.toys.trees import consistency_proof, inclusion_proof, verify_consistency

LEAVES = st.lists(st.binary(max_size=4), min_size=1, max_size=40)
DISTINCT = st.integers(1, 40).map(lambda size: [b"leaf %d" % index for index in range(size)])


def defined_root(leaves):
    """RFC 6962, 2.1, word for word."""
    if not leaves:
        return hashlib.sha256(b"").digest()
    if len(leaves) == 1:
        return hashlib.sha256(b"\x00" + leaves[0]).digest()
    k = 1
    while k * 2 < len(leaves):
        k *= 2
    return hashlib.sha256(b"\x01" + defined_root(leaves[:k]) + defined_root(leaves[k:])).digest()


def flipped(data, bit):
    return bytes(byte ^ (1 << bit % 8 if index == bit // 8 else 0) for index, byte in enumerate(data))


@given(LEAVES)
def test_the_root_is_that_of_the_definition_at_every_size(leaves):
    tree = Tree()
    for size, leaf in enumerate(leaves, start=1):
        tree.append_hash(leaf_hash(leaf))
        assert tree.root() == root(leaves[:size]) == defined_root(leaves[:size])


SIZES = range(1, 34)


@pytest.mark.medium
def test_every_proof_verifies():
    for size in SIZES:
        leaves = [b"leaf %d" % index for index in range(size)]
        for index in range(size):
            proof = inclusion_proof(leaves, index)
            assert len(proof) <= (size - 1).bit_length()
            assert verify_inclusion(leaves[index], index, size, proof, root(leaves))
        for old in range(size + 1):
            proof = consistency_proof(leaves, old)
            assert len(proof) <= (size - 1).bit_length() + 1
            assert verify_consistency(old, size, root(leaves[:old]), root(leaves), proof)


@given(DISTINCT, st.data())
def test_an_inclusion_proof_is_bound_to_leaf_and_index(leaves, data):
    index = data.draw(st.integers(0, len(leaves) - 1))
    proof, top = inclusion_proof(leaves, index), root(leaves)
    for other in range(-1, len(leaves) + 1):
        assert verify_inclusion(leaves[index], other, len(leaves), proof, top) == (other == index)
        if 0 <= other < len(leaves):
            assert verify_inclusion(leaves[other], index, len(leaves), proof, top) == (other == index)


@given(st.integers(1, 12), st.data())
def test_an_inclusion_proof_with_another_shape_fails(count, data):
    """A size with the same path shape is not noticed here: size and root belong together, and are given together."""
    leaves = [b"leaf %d" % index for index in range(count)]
    index = data.draw(st.integers(0, len(leaves) - 1))
    proof, top = inclusion_proof(leaves, index), root(leaves)
    longer, shorter = [*proof, data.draw(st.binary(min_size=32, max_size=32))], proof[:-1]
    assert not verify_inclusion(leaves[index], index, len(leaves), longer, top)
    assert not proof or not verify_inclusion(leaves[index], index, len(leaves), shorter, top)
    for other, size in product(range(2 * count), repeat=2):
        if _shape(other, size) != _shape(index, count):
            assert not verify_inclusion(leaves[index], other, size, proof, top)


def _shape(index, size):
    """On which sides the siblings of a leaf lie, from the root down."""
    sides = ""
    while size > 1:
        split = 1 << ((size - 1).bit_length() - 1)
        left = index < split
        sides += "R" if left else "L"
        index, size = (index, split) if left else (index - split, size - split)
    return sides if index < size else None


@given(LEAVES, st.data())
def test_a_flipped_bit_breaks_an_inclusion_proof(leaves, data):
    index = data.draw(st.integers(0, len(leaves) - 1))
    proof, top, leaf = inclusion_proof(leaves, index), root(leaves), leaves[index]
    bit = data.draw(st.integers(0, 255))
    assert not verify_inclusion(leaf, index, len(leaves), proof, flipped(top, bit))
    assert not verify_inclusion(leaf + b"\0", index, len(leaves), proof, top)
    for place in range(len(proof)):
        bad = [*proof[:place], flipped(proof[place], bit), *proof[place + 1 :]]
        assert not verify_inclusion(leaf, index, len(leaves), bad, top)


@given(LEAVES, st.data())
def test_a_flipped_bit_breaks_a_consistency_proof(leaves, data):
    old = data.draw(st.integers(1, len(leaves)))
    before, after, proof = root(leaves[:old]), root(leaves), consistency_proof(leaves, old)
    bit = data.draw(st.integers(0, 255))
    assert not verify_consistency(old, len(leaves), flipped(before, bit), after, proof)
    assert not verify_consistency(old, len(leaves), before, flipped(after, bit), proof)
    for place in range(len(proof)):
        bad = [*proof[:place], flipped(proof[place], bit), *proof[place + 1 :]]
        assert not verify_consistency(old, len(leaves), before, after, bad)
    assert not verify_consistency(old, len(leaves), before, after, [*proof, before])
    assert not proof or not verify_consistency(old, len(leaves), before, after, proof[:-1])


@given(DISTINCT, st.data())
def test_a_rewritten_past_has_no_consistency_proof(leaves, data):
    old = data.draw(st.integers(1, len(leaves)))
    place = data.draw(st.integers(0, old - 1))
    forked = [*leaves[:place], b"forged", *leaves[place + 1 :]]
    proof = consistency_proof(forked, old)
    assert not verify_consistency(old, len(leaves), root(leaves[:old]), root(forked), proof)


@given(DISTINCT, st.data())
def test_a_consistency_proof_is_bound_to_the_older_size(leaves, data):
    old, other = data.draw(st.integers(0, len(leaves))), data.draw(st.integers(0, len(leaves)))
    assume(old != other)
    proof = consistency_proof(leaves, old)
    assert not verify_consistency(other, len(leaves), root(leaves[:old]), root(leaves), proof)


@given(
    st.integers(-1, 2**70),
    st.integers(-1, 2**70),
    st.lists(st.one_of(st.binary(min_size=32, max_size=32), st.binary(max_size=40)), max_size=8),
    st.binary(min_size=32, max_size=32),
)
def test_any_proof_is_answered(first, second, proof, top):
    assert verify_inclusion(b"x", first, second, proof, top) is False
    assert verify_consistency(first, second, top, leaf_hash(top), proof) is False
