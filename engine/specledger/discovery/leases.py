"""Keeping a lease while its work is done.

Decides how often a lease is renewed. Refuses to know the work; whether a lease was lost is found when the result is
refused.
"""

from __future__ import annotations

from threading import Event, Thread
from types import TracebackType
from typing import TYPE_CHECKING, Final, Self

from specledger.core.diagnostics import Rejected

if TYPE_CHECKING:
    from specledger.discovery.store import Claim, Store

RENEWALS: Final = 3
"""How often a lease is renewed in the time that it lasts."""


class Kept:
    """Renews the lease of a piece of work until the context is left, in a thread of its own."""

    def __init__(self, store: Store, claim: Claim, lease: float) -> None:
        """Prepare to keep a claim whose lease lasts so many seconds."""
        self._store = store
        self._claim = claim
        self._every = lease / RENEWALS
        self._over = Event()
        self._thread = Thread(target=self._renew, daemon=True)

    def __enter__(self) -> Self:
        """Begin to renew."""
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Renew no more."""
        self._over.set()
        self._thread.join()

    def _renew(self) -> None:
        while not self._over.wait(self._every):
            try:
                if not self._store.renew(self._claim):
                    return
            except Rejected:
                continue  # the database is busy now; the next time is soon enough, or the lease runs out
