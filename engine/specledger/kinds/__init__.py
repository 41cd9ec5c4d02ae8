"""The kinds of spec: `KINDS` has those of the core and of the wings, with everything that depends on the kind.

Packages below this one take it as an argument.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from specledger.core.diagnostics import Diagnostics
from specledger.core.spans import Text
from specledger.kinds.case import case_name
from specledger.kinds.kind import Kind, Runnable
from specledger.kinds.registry import Registry
from specledger.kinds.table import KINDS
from specledger.load import Bundle, Search
from specledger.load import load as _load

__all__ = [
    "KINDS",
    "Kind",
    "Registry",
    "Runnable",
    "bundle_from_document",
    "case_name",
    "load",
]


def load(
    target: str | Path,
    *,
    kind: str | None = None,
    set: Sequence[str] = (),  # noqa: A002 - the word of the command line
    search: Search | None = None,
    see: Callable[[Text, Diagnostics], object] | None = None,
    allow_outside: bool = False,
    case: str | None = None,
) -> tuple[Bundle, ...]:
    """Load a spec of one of `KINDS`; see `specledger.load.load`."""
    return _load(target, KINDS, kind=kind, set=set, search=search, see=see, allow_outside=allow_outside, case=case)


def bundle_from_document(data: object) -> Bundle:
    """Rebuild a bundle of `KINDS` from its resolved form; see `specledger.load.from_document`."""
    from specledger.load import from_document

    return from_document.bundle_from_document(data, KINDS)
