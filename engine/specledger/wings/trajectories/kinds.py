"""The kinds of the wing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from specledger.kinds.kind import Kind

KINDS: Final[tuple[Kind, ...]] = ()
