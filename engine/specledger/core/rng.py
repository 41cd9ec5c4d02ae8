"""Named random streams: the only randomness, a pure function of a seed and names.

How a seed and names become bytes, and bytes become fair draws, never changes, since every golden depends on it.

    key     = SHA-256("specledger/stream/v1" || 0x00 || canonical JSON of [seed, name, ...])
    block i = SHA-256("specledger/stream-block/v1" || 0x00 || key || i as 8 bytes, most significant first)

A stream is the concatenation of its blocks. Streams with other names are independent, so that a new draw in one place
changes none in another. There is no global stream and no seeding by a clock.
"""

import builtins
from collections.abc import Sequence
from typing import TypeVar

from specledger.core.canonical import canonical_bytes
from specledger.core.digest import DIGEST_SIZE, tagged_raw

T = TypeVar("T")

_STREAM = "specledger/stream/v1"
_BLOCK = "specledger/stream-block/v1"


class Stream:
    """One stream and a place in it.

    Attributes:
        key: What the blocks depend on; 32 bytes.
        position: How many bytes were drawn; setting it goes back or ahead, so that a run can be replayed from there.
    """

    __slots__ = ("_block", "_index", "key", "position")

    def __init__(self, key: builtins.bytes, position: int = 0) -> None:
        self.key = key
        self.position = position
        self._index = -1  # which block _block is
        self._block = b""

    @classmethod
    def named(cls, seed: int, *names: str | int) -> "Stream":
        """The beginning of the stream that a seed and names stand for; 1 and "1" are different names.

        Raises:
            NotCanonical: The seed or a name is beyond ±(2^53 - 1), or holds a lone surrogate.
        """
        return cls(tagged_raw(_STREAM, canonical_bytes([seed, *names])))

    def bytes(self, count: int) -> builtins.bytes:
        """The next `count` bytes.

        Raises:
            ValueError: The count is negative.
        """
        if count < 0:
            raise ValueError(f"cannot draw {count} bytes")
        offset = self.position - self._index * DIGEST_SIZE
        if 0 <= offset <= DIGEST_SIZE - count:  # within the block that is known
            self.position += count
            return self._block[offset : offset + count]
        parts = []
        while count:
            index, offset = divmod(self.position, DIGEST_SIZE)
            if index != self._index:
                self._index, self._block = index, tagged_raw(_BLOCK, self.key + index.to_bytes(8, "big"))
            part = self._block[offset : offset + count]
            parts.append(part)
            self.position += len(part)
            count -= len(part)
        return b"".join(parts)

    def integer(self, low: int, high: int) -> int:
        """An integer from `low` to `high`, both included, each equally likely.

        Takes the fewest whole bytes that can hold high - low, most significant first, keeps the fewest low bits, and
        takes again while the number is too large. A remainder instead of taking again would prefer small numbers.

        Raises:
            ValueError: The range is empty.
        """
        if high < low:
            raise ValueError(f"no integer from {low} to {high}")
        bits = (high - low).bit_length()
        size, mask = (bits + 7) // 8, (1 << bits) - 1
        while True:
            drawn = int.from_bytes(self.bytes(size), "big") & mask
            if drawn <= high - low:
                return low + drawn

    def choice(self, items: Sequence[T]) -> T:
        """One of the items, each equally likely.

        Raises:
            ValueError: There are no items.
        """
        return items[self.integer(0, len(items) - 1)]

    def shuffle(self, items: Sequence[T]) -> list[T]:
        """A new list of the items in any order, each equally likely (Fisher-Yates)."""
        return self.sample(items, len(items))

    def sample(self, items: Sequence[T], count: int) -> list[T]:
        """A new list of `count` items from different places, in any order, each such list equally likely.

        Raises:
            ValueError: There are fewer items, or the count is negative.
        """
        if not 0 <= count <= len(items):
            raise ValueError(f"cannot draw {count} of {len(items)} items")
        drawn = list(items)
        for index in range(count):
            other = self.integer(index, len(drawn) - 1)
            drawn[index], drawn[other] = drawn[other], drawn[index]
        return drawn[:count]
