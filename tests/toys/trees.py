"""Proofs about the leaves of a Merkle tree."""

from hashlib import sha256

from specledger.core.merkle import EMPTY_ROOT, leaf_hash
from specledger.core.merkle_proofs import consistency_path, inclusion_path


def inclusion_proof(leaves, index):
    return inclusion_path(list(map(leaf_hash, leaves)), index)


def consistency_proof(leaves, old_size):
    return consistency_path(list(map(leaf_hash, leaves)), old_size)


def node_hash(left, right):
    return sha256(b"\x01" + left + right).digest()


def verify_consistency(old_size, new_size, old_root, new_root, proof):
    """Whether the proof shows that the new tree begins with the leaves of the old one (RFC 9162, 2.1.4.2)."""
    if not 0 <= old_size <= new_size:
        return False
    if old_size == 0:
        return not proof and old_root == EMPTY_ROOT and (new_size > 0 or new_root == EMPTY_ROOT)
    if old_size == new_size:
        return not proof and old_root == new_root
    path = list(proof) if old_size & (old_size - 1) else [old_root, *proof]
    if not path:
        return False
    position, last = old_size - 1, new_size - 1
    while position & 1:
        position, last = position >> 1, last >> 1
    old_found = new_found = path[0]
    for sibling in path[1:]:
        if last == 0:
            return False
        if position & 1 or position == last:
            old_found, new_found = node_hash(sibling, old_found), node_hash(sibling, new_found)
            while not position & 1 and position:
                position, last = position >> 1, last >> 1
        else:
            new_found = node_hash(new_found, sibling)
        position, last = position >> 1, last >> 1
    return last == 0 and old_found == old_root and new_found == new_root
