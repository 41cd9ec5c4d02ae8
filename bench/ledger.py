"""Hashing, random draws and the chain of receipts by hand: hashlib and orjson, nothing of the engine."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from hashlib import sha256
from typing import Any, Final

import orjson

GENESIS: Final = "0" * 64


def dumps(value: Any) -> bytes:
    """Canonical JSON of a value that holds integers, texts and booleans only."""
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS)


def hasher(noun: str) -> Callable[[bytes], str]:
    """The function that hashes under a domain tag."""
    tag = f"specledger/{noun}/v1\0".encode()
    return lambda data: sha256(tag + data).hexdigest()


hash_state = hasher("state")
hash_observation = hasher("observation")
hash_proposal = hasher("proposal")
hash_scope = hasher("scope")
hash_token = hasher("token")
hash_part = hasher("part")
hash_run = hasher("run")


def merkle_root(leaves: Sequence[bytes]) -> str:
    """The RFC 6962 root over some leaves, level by level; a lone last node moves up."""
    return _fold([sha256(b"\0" + leaf).digest() for leaf in leaves])


def _fold(level: list[bytes]) -> str:
    while len(level) > 1:
        above = [sha256(b"\1" + left + right).digest() for left, right in zip(level[::2], level[1::2], strict=False)]
        if len(level) % 2:
            above.append(level[-1])
        level = above
    return level[0].hex()


def draw(seed: int, names: Sequence[str | int], items: Sequence[Any]) -> Any:
    """One of at most 256 items, each equally likely: the first fitting byte of a named stream."""
    mask = (1 << (len(items) - 1).bit_length()) - 1
    key = sha256(b"specledger/stream/v1\0" + dumps([seed, *names])).digest()
    number = 0
    while True:
        for byte in sha256(b"specledger/stream-block/v1\0" + key + number.to_bytes(8, "big")).digest():
            if byte & mask < len(items):
                return items[byte & mask]
        number += 1


class Chain:
    """The chain of receipts and the leaves of its tree."""

    def __init__(self, specs: str) -> None:
        self.run = hash_run(specs.encode())[:32]
        self.head = GENESIS
        self._leaves: list[bytes] = []

    def seal(self, type_: str, body: dict[str, Any]) -> bytes:
        """The line of a receipt."""
        line = dumps({"body": body, "prev": self.head, "run": self.run, "seq": len(self._leaves), "type": type_})
        leaf = sha256(b"\0" + line)
        self.head = leaf.hexdigest()
        self._leaves.append(leaf.digest())
        return line

    def receipts(self) -> dict[str, Any]:
        """Count, head and root, as a manifest holds them."""
        return {"count": len(self._leaves), "head": self.head, "root": _fold(self._leaves)}
