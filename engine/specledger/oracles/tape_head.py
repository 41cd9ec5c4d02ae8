"""The form of the first line of the tape of a run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal

from msgspec import UNSET, Meta, Struct, UnsetType, convert

from specledger.core.binding import GENESIS
from specledger.core.entries import Mode

FORMAT: Final = "specledger/tape/v2"

_Digest = Annotated[str, Meta(pattern=r"^[0-9a-f]{64}\Z")]


class _Head(Struct, forbid_unknown_fields=True):
    """Of a simulated log `head` is where every log begins; `programs` are at most as many as a command has words."""

    format: Literal["specledger/tape/v2"]
    head: _Digest
    mode: Mode
    programs: Annotated[dict[str, _Digest], Meta(min_length=1, max_length=64)] | UnsetType = UNSET


def head_of(line: Any) -> tuple[Mode, str, Mapping[str, str]]:
    """The mode of the run's audit log, the hash that its first entry follows, and the files of its agent.

    Raises:
        ValueError: It is no first line of a tape.
    """
    head = convert(line, _Head)
    if head.mode is not Mode.LIVE and head.head != GENESIS:
        raise ValueError("a simulated log begins with its run")
    return head.mode, head.head, head.programs or {}
