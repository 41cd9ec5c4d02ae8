"""Proofs about the leaves of a Merkle tree."""

from specledger.core.merkle import consistency_path, inclusion_path, leaf_hash


def inclusion_proof(leaves, index):
    return inclusion_path(list(map(leaf_hash, leaves)), index)


def consistency_proof(leaves, old_size):
    return consistency_path(list(map(leaf_hash, leaves)), old_size)
