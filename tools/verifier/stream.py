"""Named random streams: draws that follow from a seed and names alone (docs/evidence.md).

A stream's bytes are SHA-256 blocks under a key that the seed and the names give. An integer takes the fewest whole
bytes, keeps the fewest bits, and is drawn again while it is too large.
"""

import hashlib

from tools.verifier.basis import tagged, write

STREAM_BLOCK = b"specledger/stream-block/v1\0"


class Stream:
    """One stream, read from its beginning."""

    def __init__(self, seed, *names):
        self.key = bytes.fromhex(tagged("stream", write([seed, *names])))
        self.held, self.blocks = b"", 0

    def bytes(self, count):
        """The next bytes."""
        while len(self.held) < count:
            self.held += hashlib.sha256(STREAM_BLOCK + self.key + self.blocks.to_bytes(8, "big")).digest()
            self.blocks += 1
        found, self.held = self.held[:count], self.held[count:]
        return found

    def integer(self, low, high):
        """An integer from low to high, both included."""
        bits = (high - low).bit_length()
        while True:
            drawn = int.from_bytes(self.bytes((bits + 7) // 8), "big") & ((1 << bits) - 1)
            if drawn <= high - low:
                return low + drawn

    def choice(self, items):
        """One of the items."""
        return items[self.integer(0, len(items) - 1)]

    def sample(self, items, count):
        """So many of the items, in any order (Fisher and Yates)."""
        drawn = list(items)
        for place in range(count):
            other = self.integer(place, len(drawn) - 1)
            drawn[place], drawn[other] = drawn[other], drawn[place]
        return drawn[:count]

    def shuffle(self, items):
        """All items, in any order."""
        return self.sample(items, len(items))
