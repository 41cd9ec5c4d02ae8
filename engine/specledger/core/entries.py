"""Hash-chained audit entries: how one is made, hashed and linked.

Code that makes, writes and checks entries shares these rules.

    entry_hash = SHA-256(canonical JSON of the entry without `entry_hash`)
    prev_entry_hash = the entry_hash of the entry before; 64 zeros in the first

Time is kernel time, `ticks x milliseconds per tick`. Notes hold codes, separated by spaces, never the text of an
exception. The first one says how the log is made durable: `mode:live` or `mode:simulated`.

Source: toy-pseudo-axion, Audit log hashing rules; RFC 4122, 4.3.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from functools import cache
from typing import Any, Final
from uuid import NAMESPACE_URL, uuid5

from specledger.core.binding import GENESIS
from specledger.core.canonical import canonical_ints
from specledger.core.digest import hash_json, sha256_hex, uuid5_text

MOST_NOTES: Final = 4000
"""Characters of an entry's notes."""
MOST_WITNESSES: Final = 128
"""Witnesses of an entry."""
MOST_TOKENS: Final = 16
"""Tokens of an entry."""

CUT: Final = "cut"
"""The note of an entry from which witnesses, tokens or notes were left out, because there were more than fit."""

_MARK: Final = "mode:"


class Mode(StrEnum):
    """When what is logged is on the disk: before each action, or at the end of each episode."""

    LIVE = "live"
    SIMULATED = "simulated"


def uuid_of(noun: str, name: str) -> str:
    """The UUID (version 5) of an object, from its noun and its name."""
    return uuid5_text(_namespace(noun), name)


@cache
def _namespace(noun: str) -> bytes:
    return uuid5(NAMESPACE_URL, f"specledger:{noun}").bytes


def entry_hash(entry: Mapping[str, Any]) -> str:
    """The hash of an entry, without its field `entry_hash`.

    Raises:
        NotCanonical: The entry has no canonical form; no field of it holds floats.
    """
    return hash_json({name: value for name, value in entry.items() if name != "entry_hash"})


def mode_of(entry: Mapping[str, Any]) -> Mode | None:
    """The mode that an entry's notes tell, None if they tell none."""
    first = entry["kernel_decision"]["notes"].partition(" ")[0]
    said = first.removeprefix(_MARK)
    return _MODES.get(said) if first != said else None


_MODES: Final[Mapping[str, Mode]] = {mode.value: mode for mode in Mode}


class Entries:
    """Makes the entries of one log, each linked to the one before."""

    def __init__(self, mode: Mode, head: str = GENESIS) -> None:
        """Begin after the entry that has the hash `head`."""
        self.mode = mode
        self.head = head

    def seal(
        self,
        event: str,
        *,
        at_ms: int,
        proposal_hash: str = GENESIS,
        trace_hash: str = GENESIS,
        verdict: str = "deny",
        codes: Sequence[str] = (),
        witnesses: Sequence[Mapping[str, Any]] = (),
        tokens: Sequence[Mapping[str, Any]] = (),
    ) -> dict[str, Any]:
        """Make the next entry, of at most 128 witnesses and 16 tokens; a hash that there is none of is 64 zeros.

        Codes that do not fit are left out, and `cut` says so.

        Raises:
            NotCanonical: A witness or a token has no canonical form.
        """
        cut = len(witnesses) > MOST_WITNESSES or len(tokens) > MOST_TOKENS
        entry: dict[str, Any] = {
            "timestamp_ms": at_ms,
            "prev_entry_hash": self.head,
            "event": event,
            "proposal_hash": proposal_hash,
            "trace_hash": trace_hash,
            "kernel_decision": {"verdict": verdict, "notes": self._notes(codes, cut)},
            "witnesses": [dict(witness) for witness in witnesses[:MOST_WITNESSES]],
            "capability_tokens": [dict(token) for token in tokens[:MOST_TOKENS]],
        }
        entry["entry_id"] = uuid_of("entry", sha256_hex(canonical_ints(entry)))
        self.head = entry["entry_hash"] = sha256_hex(canonical_ints(entry))
        return entry

    def _notes(self, codes: Sequence[str], cut: bool) -> str:
        words = [f"{_MARK}{self.mode}", *(code.replace(" ", "_") for code in codes)]
        notes = " ".join([*words, CUT] if cut else words)
        if len(notes) <= MOST_NOTES:
            return notes
        return f"{notes[: MOST_NOTES - len(CUT) - 1].rpartition(' ')[0]} {CUT}"


def halt_event(timed_out: bool) -> str:
    """The type of the audit entry for an agent that did not answer in time, or whose process ended."""
    return "FATAL_HANG" if timed_out else "INTERNAL_ERROR"
