"""The receipts of what attaches to a run: audit entries, a chain inside the chain, and probes.

Decides whether they are in order. Refuses to know what they say: replay gives the same ones, or it does not.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from specledger.core.canonical import NotCanonical, parse_canonical
from specledger.core.entries import GENESIS, entry_hash
from specledger.evidence.audit import AUDIT
from specledger.evidence.layout import MAX_LINE
from specledger.verify.checks import E_STATE, Broken


def signatures_of(lines: Iterable[bytes]) -> tuple[str, ...]:
    """The signatures of the tokens that the entries in a run's receipts hold, in their order.

    Args:
        lines: The receipts; what is none holds none, and its finding is another check's.
    """
    found: list[str] = []
    for line in lines:
        try:
            receipt: Any = parse_canonical(line, limit=MAX_LINE)
            if receipt["type"] == AUDIT:
                found += [str(token["signature"]) for token in receipt["body"]["capability_tokens"]]
        except (NotCanonical, LookupError, TypeError):
            continue
    return tuple(found)


class EntryChain:
    """Follows the entries of one log through the receipts of a run."""

    def __init__(self, head: str = GENESIS) -> None:
        """Begin before the first entry, after what the log ended with."""
        self._head = head

    def add(self, entry: Mapping[str, Any]) -> None:
        """Take one entry.

        Raises:
            Broken: E_STATE, if it does not follow the one before it, or its hash is not its own.
            KeyError, NotCanonical: It is no entry.
        """
        if entry["prev_entry_hash"] != self._head:
            raise Broken(E_STATE, "an audit entry does not follow the one before it")
        if entry["entry_hash"] != entry_hash(entry):
            raise Broken(E_STATE, "the hash of an audit entry is not its own")
        self._head = entry["entry_hash"]


def check_place(body: Mapping[str, Any], episode: int | None, t: int) -> None:
    """See that a probe belongs to the step that is being decided.

    Args:
        body: The receipt.
        episode: The episode under way, None between two.
        t: The step that comes next.

    Raises:
        Broken: E_STATE, if it does not.
    """
    if (type(body["episode"]), type(body["t"])) != (int, int) or (body["episode"], body["t"]) != (episode, t):
        raise Broken(E_STATE, "a probe is out of order")
