"""A worker: reads what was committed, claims a step that may begin, does it, and keeps the result.

Decides nothing about the discovery: which worker does which step changes no result. Refuses to know how many workers
there are, and in which processes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final

from specledger.discovery.clock import now_ms, pause
from specledger.discovery.discovery_state import Record
from specledger.discovery.leases import Kept
from specledger.discovery.step import Workbench, do_step
from specledger.discovery.stored import read_answer, take_stored
from specledger.oracles.model import Model, ModelAnswer, ModelRequest

if TYPE_CHECKING:
    from specledger.discovery.store import Claim, Store

SHORTEST: Final = 0.01
LONGEST: Final = 0.2
"""Seconds between two looks for work, while there is none."""

Watch = Callable[[Record], None]


class Worker:
    """Does the steps of one discovery, together with whoever else works on its store."""

    def __init__(
        self,
        store: Store,
        workbench: Workbench,
        identity: Mapping[str, Any],
        open_model: Callable[[], Model],
        owner: str,
        lease: float,
    ) -> None:
        """Prepare to work.

        Args:
            store: What the workers share.
            workbench: What steps are done with.
            identity: Of the model.
            open_model: Opens the model, which is asked only where the store has no answer yet.
            owner: Who works; no two workers have one name.
            lease: Seconds for which work is claimed.
        """
        self._store = store
        self._workbench = workbench
        self._identity = identity
        self._open_model = open_model
        self._model: Model | None = None
        self._owner = owner
        self._lease = lease

    def work(self, watch: Watch | None = None) -> Record:
        """Work until the discovery has ended.

        Args:
            watch: Told of the record whenever something was committed.

        Returns:
            The whole record.

        Raises:
            Rejected: The store fails, or asking the model does.
        """
        record = Record(self._workbench.plan)
        wait = SHORTEST
        while True:
            before = record.position
            commit(record, self._store)
            if watch is not None and record.position > before:
                watch(record)
            if record.closed:
                return record
            wait = SHORTEST if self._do_any(record) else min(LONGEST, 2 * wait)
            if wait > SHORTEST:
                pause(wait)

    def _do_any(self, record: Record) -> bool:
        """Do the first step that may begin and that nobody does; False if there is none."""
        for position, kind, iteration in record.steps():
            claim = self._store.claim(position, kind, self._owner)
            if claim is not None:
                self._do(claim, iteration, record)
                return True
        return False

    def _do(self, claim: Claim, iteration: int, record: Record) -> None:
        view = record.view(claim.position, claim.kind)
        try:
            with Kept(self._store, claim, self._lease):
                result = do_step(self._workbench, claim.kind, iteration, view, self._ask)
        except BaseException:
            self._store.release(self._owner)
            raise
        self._store.finish(claim, result)

    def _ask(self, request: ModelRequest) -> ModelAnswer:
        """The answer that is kept, or else a new one, which is kept before anybody looks at it."""
        key = request.key(self._identity)
        kept = self._store.answer(request.turn)
        if kept is None:
            spare = self._store.spare(request.turn)
            if not isinstance(spare, dict) or spare.get("request") != key:
                self._model = self._model or self._open_model()
                spare = {"request": key, "answer": self._model.ask(request).document()}
            kept = self._store.keep_answer(request.turn, spare)
        return read_answer(kept, key, request.turn)


def commit(record: Record, store: Store) -> None:
    """Commit what is done, as far as no step is missing.

    Raises:
        Rejected: E_STORE_BROKEN.
    """
    wanted = {(position, kind) for position, kind, _ in record.steps()}
    for position, kind, result in store.results(record.position):
        if position == record.position and (position, kind) in wanted:
            take_stored(record, kind, result, store.shown)
            wanted = {(position, kind) for position, kind, _ in record.steps()}


def owner_name(group: str, number: int) -> str:
    """The name of one of the workers of a group."""
    return f"{group}/{number}"


def group_name(host: str, process: int) -> str:
    """A name that no other group of workers has: of a process, and when it began."""
    return f"{host}:{process}:{now_ms()}"
