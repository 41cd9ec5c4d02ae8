"""Comparison with a head of the log that was seen before: the log was extended, not forked and not rolled back.

Heads of the same size have the same root; a smaller one is a prefix. The root over the first receipts is recomputed
from the receipts themselves. The consistency proof is for readers who have only the two heads.

Source: RFC 6962, sections 2.1.2 and 5 (gossip of tree heads); C2SP tlog-checkpoint.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from msgspec import Struct

from specledger.core.diagnostics import Diagnostic, Rejected, code
from specledger.core.merkle import leaf_hash, root_of
from specledger.core.merkle_proofs import consistency_path
from specledger.evidence.checkpoint import MAX_NOTE, Note, read_note
from specledger.evidence.layout import CHECKPOINT, MANIFEST
from specledger.verify.checks import Broken, Lacking
from specledger.verify.manifest import MAX_MANIFEST, read_document
from specledger.verify.trust import Seen, read_bounded

E_FORK = code("E_FORK", "the log has forked")
E_ROLLBACK = code("E_ROLLBACK", "the log was longer before")
E_OTHER_LOG = code("E_OTHER_LOG", "the head is that of another log")
E_AGAINST = code("E_AGAINST", "there is nothing to compare with")


class Against(Struct, frozen=True):
    """A head that was seen before, and what is known of its log.

    Attributes:
        note: The checkpoint that states it, if one does.
        run: The run that it is a head of, if that was said.
        trusted: Whether the reader's trust file says so.
    """

    seen: Seen
    where: str
    note: Note | None = None
    run: str | None = None
    trusted: bool = False


def read_against(path: Path) -> Against:
    """Read a checkpoint file, or the head of a bundle, of which nothing else is looked at."""
    try:
        if path.is_dir():
            return _against_bundle(path, str(path))
        note = read_note(read_bounded(path, MAX_NOTE))
        return Against(Seen(note.size, note.root), str(path), note)
    except Broken as broken:
        raise _nothing(path, broken.message) from None
    except OSError as error:
        raise _nothing(path, error.strerror or "operating system error") from error
    except (ValueError, LookupError, TypeError) as error:
        raise _nothing(path, str(error)) from error


def _against_bundle(folder: Path, where: str) -> Against:
    """The head of a bundle in a folder."""
    manifest = read_document(folder / MANIFEST, MAX_MANIFEST, E_AGAINST)
    head, run = manifest["receipts"], manifest["run"]
    if type(head["count"]) is not int or not isinstance(run, str):
        raise ValueError("its head is none")
    seen = Seen(head["count"], bytes.fromhex(head["root"]))
    note = read_note(read_bounded(folder / CHECKPOINT, MAX_NOTE)) if (folder / CHECKPOINT).is_file() else None
    if note is not None and (note.size, note.root) != (seen.size, seen.root):
        raise ValueError("its checkpoint and its manifest state two heads")
    return Against(seen, where, note, run)


def _nothing(path: Path, why: str) -> Rejected:
    return Rejected([Diagnostic(E_AGAINST, f"{path} states no head: {why}")])


def compare_heads(lines: Iterable[bytes], now: Seen, before: Against) -> tuple[str, dict[str, Any]]:
    """Check that a log extends a head seen before; gives words, and as facts the heads and a consistency proof."""
    seen, both = before.seen, f"seen: {before.seen} ({before.where}); here: {now}"
    if seen.size > now.size:
        raise Broken(E_ROLLBACK, f"the log was longer before. {both}")
    hashes = [leaf_hash(line) for line in lines]
    if root_of(hashes[: seen.size]) != seen.root:
        raise Broken(E_FORK, f"the log does not go on from the head that was seen. {both}")
    proof = consistency_path(hashes, seen.size)
    facts = {
        "seen": {"size": seen.size, "root": seen.root.hex()},
        "here": {"size": now.size, "root": now.root.hex()},
        "proof": [part.hex() for part in proof],
    }
    if seen.size == now.size:
        return "the head is the one that was seen", facts
    return f"the first {seen.size} of {now.size} receipts are those that were seen", facts


def same_log(before: Against, run: str, origin: str | None) -> str:
    """What shows that a head is one of this log."""
    if before.run is not None and before.run != run:
        raise Lacking(f"{before.where} is evidence of the run {before.run}, this of {run}", E_OTHER_LOG)
    if before.note is not None and origin is not None and before.note.origin != origin:
        raise Lacking(f"{before.where} is of the log {before.note.origin!a}, this of {origin!a}", E_OTHER_LOG)
    return "" if before.run is not None or origin is not None else "; that it is of this log, only you can know"
