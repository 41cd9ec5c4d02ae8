"""Merkle trees over byte strings; `core.merkle_proofs` proves that a leaf is in one, or that one extends another.

Shape and hashes follow RFC 6962, section 2.1. Leaves are hashed with the prefix 0x00 and nodes with 0x01, so that a
node never passes for a leaf; a lone last subtree moves up and is never duplicated. Hashes are 32 bytes.
"""

from collections.abc import Sequence

from specledger.core.digest import sha256_pairs, sha256_raw

EMPTY_ROOT = sha256_raw(b"")
"""The root of a tree without leaves."""


def leaf_hash(leaf: bytes) -> bytes:
    """The hash of a leaf: SHA-256(0x00 || leaf)."""
    return sha256_raw(b"\x00" + leaf)


def node_hash(left: bytes, right: bytes) -> bytes:
    """The hash of a node: SHA-256(0x01 || left || right)."""
    return sha256_raw(b"\x01" + left + right)


class Tree:
    """A tree that grows leaf by leaf, in memory logarithmic in its size.

    It keeps the roots of the full subtrees that the leaves so far divide into, from the left, as a binary counter does.
    """

    __slots__ = ("_peaks", "_size")

    def __init__(self) -> None:
        self._size = 0
        self._peaks: list[bytes] = []

    def append_hash(self, hashed: bytes) -> None:
        """Add a leaf by its `leaf_hash`, in amortised constant time."""
        peaks, carry = self._peaks, self._size
        while carry & 1:
            hashed = node_hash(peaks.pop(), hashed)
            carry >>= 1
        peaks.append(hashed)
        self._size += 1

    def root(self) -> bytes:
        """The root over the leaves so far; the tree may grow on."""
        if not self._peaks:
            return EMPTY_ROOT
        *rest, result = self._peaks
        for peak in reversed(rest):
            result = node_hash(peak, result)
        return result


def root(leaves: Sequence[bytes]) -> bytes:
    """The root of the tree over all leaves, in their order."""
    return root_of([*map(leaf_hash, leaves)])


def root_of(hashes: Sequence[bytes]) -> bytes:
    """The root of the tree over leaves of which only the `leaf_hash` is at hand, in their order."""
    level = hashes
    while len(level) > 1:
        above = sha256_pairs(b"\x01", level)
        if len(level) & 1:
            above.append(level[-1])
        level = above
    return level[0] if level else EMPTY_ROOT
