"""Proofs over Merkle trees: that a leaf is in a tree, and that a tree extends another (RFC 6962, 2.1; RFC 9162, 2.1).

Roots, hashes and the elements of proofs are 32 bytes. Making a proof takes time linear in the number of leaves;
verifying one takes logarithmic time. Proofs are untrusted: whatever bytes they hold, verifying says yes or no.
"""

from collections.abc import Sequence

from specledger.core.merkle import leaf_hash, node_hash, root_of


def inclusion_path(hashes: Sequence[bytes], index: int) -> list[bytes]:
    """The audit path of one leaf, from its sibling up to the root's child (RFC 6962, 2.1.1).

    Each leaf is given by its `leaf_hash`.

    Raises:
        IndexError: There is no leaf with this index (0-based, not negative).
    """
    if not 0 <= index < len(hashes):
        raise IndexError(f"no leaf {index} among {len(hashes)}")
    proof: list[bytes] = []
    while len(hashes) > 1:
        split = _split(len(hashes))
        left, right = hashes[:split], hashes[split:]
        if index < split:
            proof.append(root_of(right))
            hashes = left
        else:
            proof.append(root_of(left))
            hashes, index = right, index - split
    return proof[::-1]


def verify_inclusion(leaf: bytes, index: int, size: int, proof: Sequence[bytes], root: bytes) -> bool:
    """Whether the proof shows the leaf at this index of the tree with this size and root (RFC 9162, 2.1.3.2)."""
    if not 0 <= index < size:
        return False
    position, last, root_hash = index, size - 1, leaf_hash(leaf)
    for sibling in proof:
        if last == 0:
            return False
        if position & 1 or position == last:
            root_hash = node_hash(sibling, root_hash)
            while not position & 1 and position:
                position, last = position >> 1, last >> 1
        else:
            root_hash = node_hash(root_hash, sibling)
        position, last = position >> 1, last >> 1
    return last == 0 and root_hash == root


def consistency_path(hashes: Sequence[bytes], old_size: int) -> list[bytes]:
    """The proof that the tree over all leaves extends the tree over the first `old_size` of them (RFC 6962, 2.1.2).

    Each leaf is given by its `leaf_hash`. The proof is empty if the old tree is empty or is the whole.

    Raises:
        ValueError: Not 0 <= old_size <= number of leaves.
    """
    if not 0 <= old_size <= len(hashes):
        raise ValueError(f"no tree of {old_size} leaves within one of {len(hashes)}")
    proof: list[bytes] = []
    known, old = True, old_size  # known: the verifier has the root of the subtree in hand, as the old root
    while 0 < old < len(hashes):
        split = _split(len(hashes))
        left, right = hashes[:split], hashes[split:]
        if old <= split:
            proof.append(root_of(right))
            hashes = left
        else:
            proof.append(root_of(left))
            hashes, old, known = right, old - split, False
    if not known:
        proof.append(root_of(hashes))
    return proof[::-1]


def _split(size: int) -> int:
    """The largest power of two below the size, which is at least 2: how many leaves go left."""
    return 1 << ((size - 1).bit_length() - 1)
