"""The vectors of the Certificate Transparency reference implementation for RFC 6962."""

import pytest

from specledger.core.merkle import (
    root,
)
from specledger.core.merkle_proofs import verify_inclusion
from tests.toys.trees import consistency_proof, inclusion_proof, verify_consistency

LEAVES = [
    bytes.fromhex(leaf)
    for leaf in ["", "00", "10", "2021", "3031", "40414243", "5051525354555657", "606162636465666768696a6b6c6d6e6f"]
]
ROOTS = [
    bytes.fromhex(digest)
    for digest in [
        "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
        "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
        "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
        "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
        "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
        "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
        "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
        "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
        "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
    ]
]
A = "96a296d224f285c67bee93c30f8a309157f0daa35dc5b87e410b78630a09cfc7"
B = "5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e"
C = "6b47aaf29ee3c2af9af889bc1fb9254dabd31177f16232dd6aab035ca39bf6e4"
D = "bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b"
E = "ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0"
F = "0ebc5d3437fbe2db158b9f126a1d118e308181031d0a949f8dededebc558ef6a"

INCLUSION = {  # (index, size)
    (0, 1): [],
    (0, 8): [A, B, C],
    (5, 8): [D, E, ROOTS[4].hex()],
    (2, 3): [ROOTS[2].hex()],
    (1, 5): [ROOTS[1].hex(), B, D],
}
CONSISTENCY = {  # (old size, new size)
    (1, 1): [],
    (1, 8): [A, B, C],
    (6, 8): [F, E, ROOTS[4].hex()],
    (2, 5): [B, D],
}


@pytest.mark.parametrize("size", range(9))
def test_roots(size):
    assert root(LEAVES[:size]) == ROOTS[size]


@pytest.mark.parametrize(("index", "size"), INCLUSION)
def test_inclusion(index, size):
    proof = inclusion_proof(LEAVES[:size], index)
    assert [element.hex() for element in proof] == INCLUSION[index, size]
    assert verify_inclusion(LEAVES[index], index, size, proof, ROOTS[size])


@pytest.mark.parametrize(("old", "new"), CONSISTENCY)
def test_consistency(old, new):
    proof = consistency_proof(LEAVES[:new], old)
    assert [element.hex() for element in proof] == CONSISTENCY[old, new]
    assert verify_consistency(old, new, ROOTS[old], ROOTS[new], proof)


@pytest.mark.parametrize("index", [-1, 3])
def test_no_leaf_with_this_index(index):
    with pytest.raises(IndexError):
        inclusion_proof(LEAVES[:3], index)
    assert not verify_inclusion(LEAVES[0], index, 3, [], ROOTS[3])


@pytest.mark.parametrize("old", [-1, 4])
def test_no_older_tree_with_this_size(old):
    with pytest.raises(ValueError, match="no tree"):
        consistency_proof(LEAVES[:3], old)
    assert not verify_consistency(old, 3, ROOTS[3], ROOTS[3], [])


EMPTY = {
    "extends to anything": (0, 3, ROOTS[0], ROOTS[3], [], True),
    "is itself": (0, 0, ROOTS[0], ROOTS[0], [], True),
    "has one root only": (0, 3, ROOTS[1], ROOTS[3], [], False),
    "is not of another root": (0, 0, ROOTS[0], ROOTS[1], [], False),
    "needs no proof": (0, 3, ROOTS[0], ROOTS[3], [ROOTS[3]], False),
    "is what nothing shrinks to": (3, 0, ROOTS[3], ROOTS[0], [], False),
}


@pytest.mark.parametrize(("old", "new", "old_root", "new_root", "proof", "good"), EMPTY.values(), ids=EMPTY)
def test_the_empty_tree(old, new, old_root, new_root, proof, good):
    assert verify_consistency(old, new, old_root, new_root, proof) is good


def test_elements_of_another_length_prove_nothing():
    proof = inclusion_proof(LEAVES[:3], 0)
    for bad in [[proof[0] + proof[1]], [proof[0], proof[1][:-1]], [b"", *proof]]:
        assert not verify_inclusion(LEAVES[0], 0, 3, bad, ROOTS[3])
    old = consistency_proof(LEAVES[:3], 2)
    assert not verify_consistency(2, 3, ROOTS[2], ROOTS[3], [old[0] + b"\0"])


def test_a_path_longer_than_the_claimed_tree_proves_nothing():
    """Without the bound, the last leaf of a larger tree would pass for the only leaf of a tree with its root."""
    assert not verify_inclusion(LEAVES[1], 0, 1, inclusion_proof(LEAVES[:2], 1), ROOTS[2])
    assert not verify_inclusion(LEAVES[2], 1, 2, [ROOTS[2], *inclusion_proof(LEAVES[:3], 2)], ROOTS[3])


def test_a_growth_of_larger_trees_proves_nothing():
    """Without the bound, growing from seven leaves to eight would pass for growing from three to four."""
    proof = consistency_proof(LEAVES, 7)
    assert verify_consistency(7, 8, ROOTS[7], ROOTS[8], proof)
    assert not verify_consistency(3, 4, ROOTS[7], ROOTS[8], proof)
