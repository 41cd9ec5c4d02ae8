"""The hash chain of receipts: one canonical JSON line per event, each naming the digest of the line before it.

A line is `{"body", "prev", "run", "seq", "type"}`. Its digest is its leaf hash in the Merkle tree over all lines,
which is that of RFC 6962: one hash of a line serves chain, root and proofs. The first line's `prev` is 64 zeros.
"""

from __future__ import annotations

from typing import Final

from specledger.core.binding import GENESIS
from specledger.core.canonical import Written, canonical_ints
from specledger.core.digest import tagger
from specledger.core.events import Event
from specledger.core.merkle import Tree, leaf_hash

RUN_TAG: Final = "specledger/run/v1"


def run_id(specs_digest: str) -> str:
    """The identifier of the run that the resolved specs define: 32 hex digits. The seed is part of the specs."""
    return tagger(RUN_TAG)(specs_digest.encode("ascii"))[:32]


def receipt_digest(line: bytes) -> str:
    """The digest of a receipt's line (bytes without its newline), as lower-case hex: its leaf hash."""
    return leaf_hash(line).hex()


class Chain:
    """Seals events into lines and keeps the head of what it sealed, and its Merkle tree unless that is not `rooted`."""

    def __init__(self, run: str, *, rooted: bool = True) -> None:
        self.run = run
        self.count = 0
        self.head = GENESIS
        self._tree = Tree() if rooted else None

    def seal(self, event: Event) -> bytes:
        """Append one event and return its line without the newline.

        Raises:
            NotCanonical: If the body is not JSON. That it holds no floats is a promise of its types: what compiles has
                none in whatever is sealed (E_NOT_SEALABLE), and a receipt that had one would be refused when read.
        """
        body = event.body if event.form is None else Written(event.form)
        line = canonical_ints({"body": body, "prev": self.head, "run": self.run, "seq": self.count, "type": event.type})
        hashed = leaf_hash(line)
        self.head = hashed.hex()
        self.count += 1
        if self._tree is not None:
            self._tree.append_hash(hashed)
        return line

    @property
    def root(self) -> str:
        """The RFC 6962 Merkle root over the lines sealed so far, as hex."""
        assert self._tree is not None, "nobody asks for the root of this chain"  # noqa: S101 - a programmer's mistake
        return self._tree.root().hex()
