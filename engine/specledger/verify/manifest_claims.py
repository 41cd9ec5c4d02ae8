"""What a manifest claims of its receipts: how many there are, their head and root, and what they add up to."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from specledger.core.canonical import NotCanonical, canonical_bytes
from specledger.verify.checks import E_HEAD, E_RESULT, Broken
from specledger.verify.receipts import Receipts


def check_head(recorded: Any, receipts: Receipts) -> str:
    """See that head, count and root are those of the receipts.

    Returns:
        The root, in words.

    Raises:
        Broken: E_HEAD.
    """
    found = {"count": receipts.count, "head": receipts.head, "root": receipts.root}
    if not isinstance(recorded, dict) or recorded.keys() != found.keys():
        raise Broken(E_HEAD, f"`receipts` says {', '.join(found)}")
    for key, value in found.items():
        if recorded[key] != value:
            raise Broken(E_HEAD, f"the receipts' {key} is {value}, the manifest says otherwise")
    return f"root {receipts.root}"


def check_result(recorded: Any, result: Mapping[str, Any]) -> str:
    """See that a result is what the receipts add up to.

    Returns:
        The verdict, in words.

    Raises:
        Broken: E_RESULT.
    """
    if not _same(recorded, result):
        raise Broken(E_RESULT, "the manifest's result is not what the receipts add up to")
    return f"verdict {result['verdict']}"


def _same(recorded: Any, found: Any) -> bool:
    """Whether two values are the same JSON; Python's `==` takes `false` for 0."""
    try:
        return canonical_bytes(recorded) == canonical_bytes(found)
    except NotCanonical:  # hostile receipts can add up to what is no JSON
        return False
