"""Which receipt differs, of a file of receipts that is not the one that the manifest lists.

Nothing is decided by this: the evidence is refuted already, and the words are for whoever looks for the change.
"""

from __future__ import annotations

from itertools import islice
from typing import Any

from msgspec.structs import asdict

from specledger.core.canonical import canonical_bytes
from specledger.core.diagnostics import counted
from specledger.core.merkle import leaf_hash
from specledger.evidence.layout import MAX_SPECS, SPECS
from specledger.expr import EvaluationError
from specledger.verify.checks import E_REPLAY, E_SPECS, Broken, require_equal
from specledger.verify.kind import Checked, Read, Resources, Verifiable
from specledger.verify.manifest import other_maker, read_document
from specledger.verify.rebuilding import rebuild
from specledger.verify.receipts import MALFORMED, Head, Receipts, Unlinked, linked, read_receipt


def first_other(read: Read[Any, Any], resources: Resources | None) -> str:
    """Words for the first receipt that differs: by the chain, and with resources by replay, which names the field."""
    recorded = read.manifest["receipts"]
    by_chain = _by_chain(read.receipts, recorded.get("head") if isinstance(recorded, dict) else None)
    by_replay = "" if resources is None or other_maker(read.manifest) is not None else _by_replay(read, resources)
    return f"{by_chain}; by replay, {by_replay}" if by_replay else by_chain


def _by_chain(receipts: Receipts, head: Any) -> str:
    """As far as the chain tells: a forger can have sealed all that follow a change again."""
    count, last = 0, b""
    try:
        for _, hashed in linked(receipts):
            count, last = count + 1, hashed
    except Unlinked as unlinked:
        if unlinked.between:
            return _of_two(receipts, unlinked, head)
        return f"by the chain, receipt {unlinked.number} is the first that differs: {unlinked.message}"
    except Broken as broken:  # a line that is torn, or longer than any receipt
        return f"by the chain, receipt {count} is the first that differs: {broken.message}"
    if last.hex() == head:
        return "every receipt is as it was"
    return f"its {counted(count, 'receipt')} follow each other, and the last is not the one that the manifest names"


def _of_two(receipts: Receipts, unlinked: Unlinked, head: Any) -> str:
    """Which of two receipts that do not follow each other differs, by the digest that what follows has of the second.

    That is in the receipt after it, or in the manifest, as the `head`.
    """
    number = unlinked.number
    lines = islice(receipts.lines(), number - 1, None)
    digest, second = leaf_hash(next(lines)).hex(), next(lines)
    receipt = dict(read_receipt(second, number))
    try:
        after = next(lines, None)
        wanted = head if after is None else read_receipt(after, number + 1)["prev"]
    except Broken:
        wanted = None
    if leaf_hash(second).hex() == wanted:
        why = f"its digest is not the one that receipt {number} names"
        return f"by the chain, receipt {number - 1} is the first that differs: {why}"
    if leaf_hash(canonical_bytes({**receipt, "prev": digest})).hex() == wanted:
        why = f"its `prev` is not the digest of receipt {number - 1}, and nothing else of it differs"
        return f"by the chain, receipt {number} is the first that differs: {why}"
    return f"by the chain, receipt {number - 1} or {number} is the first that differs: {unlinked.message}"


def _by_replay(read: Read[Any, Any], resources: Resources) -> str:
    """As replay tells, if the specs are those that the manifest names."""
    kind = read.kind
    try:
        specs = rebuild(read_document(read.folder / SPECS, MAX_SPECS, E_SPECS), resources.kinds, kind.receipts.name)
        require_equal(read.manifest, {"specs": specs.digest}, "the manifest", E_SPECS)
        checked = Checked(**asdict(read), head=Head(0, "", ""), order=kind.order(), stated=None, cases=())
        content = kind.content(checked, specs, resources)
        if isinstance(content, Verifiable):
            content.replay()
    except Broken as broken:
        return broken.message if broken.code == E_REPLAY else ""
    except (EvaluationError, *MALFORMED):  # what was changed may be read before it is compared
        return ""
    return ""
