"""A Dask cluster as an executor: `--cluster tcp://host:port`, or `local:N` for one on this machine.

The cluster is inside the trust boundary: Dask itself pickles what it sends, so whoever controls the scheduler or a
worker controls this process. What this module sends are the name of one function of the package, canonical bytes and
indices; what comes back is checked by its digest.
"""

from __future__ import annotations

import logging
import queue
import re
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from specledger.core.diagnostics import Diagnostic, Rejected, Severity, code, missing_package
from specledger.evidence.resume import engine_digest
from specledger.kinds.finished_runs import E_CLUSTER_RESULT
from specledger.run.executor import CONTINUES, Done, Lost, Work
from specledger.wings.bridges.cluster.task import REFUSED, done_of, perform, read_reply, to_bytes

if TYPE_CHECKING:
    from distributed import Client, Future

_ADDRESS: Final = re.compile(r"local:([1-9][0-9]{0,2})|(tcp|tls)://[^\s]{1,255}")
_PATIENCE: Final = 10
"""Seconds to wait for a scheduler's answer, and for its first worker."""
_OFTEN: Final = 64
"""Pieces of work after which one looks again which workers there are."""
_ALONE: Final = 30
"""Looks in a row without a worker after which the cluster is lost."""
_LOOK: Final = 1.0
"""Seconds between two looks at which workers there are, while nothing finishes."""

E_CLUSTER_PACKAGE = code("E_CLUSTER_PACKAGE", "Dask is not installed")
E_CLUSTER_ADDRESS = code("E_CLUSTER_ADDRESS", "no cluster there")
E_CLUSTER_LOST = code("E_CLUSTER_LOST", "the cluster was lost during the work")
E_CLUSTER_ENGINE = code("E_CLUSTER_ENGINE", "no worker of the cluster has this engine")
W_CLUSTER_ENGINE = code("W_CLUSTER_ENGINE", "a worker of the cluster has another engine")


class _Piece(NamedTuple):
    """An outstanding piece of work: its number here, what is done on, the request, and who may do it (None: any)."""

    number: int
    item: Any
    sent: bytes
    allowed: frozenset[str] | None


class Cluster:
    """A connected cluster as an executor; `refused` are the addresses of workers that have another engine."""

    def __init__(self, client: Client) -> None:
        self.client = client
        self.refused: set[str] = set()
        self._threads: dict[str, int] = {}
        self.look()

    @property
    def width(self) -> int:
        """The number of threads of its workers."""
        return max(1, sum(self.workers.values()))

    @property
    def remote(self) -> bool:
        """Its machines share no files with this one."""
        return True

    @property
    def found(self) -> tuple[Diagnostic, ...]:
        """A warning for each worker that was given no work."""
        return tuple(
            Diagnostic(W_CLUSTER_ENGINE, f"{address} has another engine", severity=Severity.WARNING)
            for address in sorted(self.refused)
        )

    @property
    def workers(self) -> dict[str, int]:
        """The number of threads of each worker that was there at the last look and did not refuse."""
        return {address: threads for address, threads in self._threads.items() if address not in self.refused}

    def look(self) -> None:
        """Look which workers there are.

        Raises:
            Lost: The scheduler does not answer.
        """
        try:
            known = self.client.scheduler_info()["workers"]
        except Exception:  # of many types, as the connection may be closed, be closing, or time out
            raise _lost("the scheduler does not answer") from None
        self._threads = {address: worker["nthreads"] for address, worker in known.items()}

    @contextmanager
    def open(self, work: Callable[[Any], Any], pieces: int | None = None) -> Iterator[_ClusterCrew]:
        """The workers of the cluster for one work."""
        assert isinstance(work, Work)  # noqa: S101 - a programmer's mistake
        crew = _ClusterCrew(self, work)
        try:
            yield crew
        finally:
            crew.close()


class _ClusterCrew:
    """The workers of a cluster that are doing one work."""

    def __init__(self, cluster: Cluster, work: Work) -> None:
        self._cluster = cluster
        self._work = work
        self._document = to_bytes(work.document())
        self._begun = 0
        self._alone = 0  # looks in a row at which there was no worker
        self._outstanding: dict[Future[Any], _Piece] = {}
        self._finished: queue.SimpleQueue[Future[Any]] = queue.SimpleQueue()
        self._done: deque[Done] = deque()

    def submit(self, index: int, item: Any) -> None:
        """Queue a piece of work."""
        if self._begun % _OFTEN == 0:
            self._cluster.look()
        self._send(index, item, to_bytes(self._work.sent(item)))

    def ready(self) -> list[Done]:
        """What is finished and was not returned yet."""
        with suppress(queue.Empty):
            while True:
                self._take(self._finished.get_nowait())
        done = list(self._done)
        self._done.clear()
        return done

    def wait(self) -> Done:
        """Wait for the next finished piece of work."""
        while not self._done:
            try:
                self._take(self._finished.get(timeout=_LOOK))
            except queue.Empty:
                self._look()
        return self._done.popleft()

    def close(self) -> None:
        """Give up what is outstanding."""
        if self._outstanding:
            with suppress(Exception):  # there may be no scheduler any more
                self._cluster.client.cancel(list(self._outstanding), asynchronous=False)

    def _send(self, index: int, item: Any, sent: bytes) -> None:
        allowed = None
        if self._cluster.refused:
            allowed = frozenset(self._cluster.workers)
            if not allowed:
                named = ", ".join(sorted(self._cluster.refused))
                raise Rejected([Diagnostic(E_CLUSTER_ENGINE, f"{named}: another engine than {engine_digest()[:16]}")])
        client = self._cluster.client
        self._begun += 1
        try:
            future = client.submit(
                *(perform, engine_digest(), self._work.entry, self._document, sent),
                key=f"specledger-{client.id}-{id(self)}-{self._begun}",
                workers=None if allowed is None else sorted(allowed),
                pure=False,
            )
        except Exception as error:
            raise _lost(f"{type(error).__name__}: {error}") from None
        self._outstanding[future] = _Piece(index, item, sent, allowed)
        future.add_done_callback(self._finished.put)

    def _take(self, future: Future[Any]) -> None:
        """Take what became of a piece of work."""
        piece = self._outstanding.pop(future, None)
        if piece is None:
            return  # it was sent again meanwhile
        if future.status == "error":
            error = future.exception()
            raise _lost(f"{type(error).__name__}: {error}")
        try:
            reply = read_reply(self._work.entry, piece.sent, future.result())
        except Exception as error:  # cancelled, since the scheduler is gone; or the result cannot be fetched
            raise _lost(f"{type(error).__name__}") from None
        if reply is None:
            raise Rejected([Diagnostic(E_CLUSTER_RESULT, "a result does not have the digest that came with it")])
        if REFUSED in reply:
            self._refuse(future)
            self._send(piece.number, piece.item, piece.sent)
        else:
            self._done.append(done_of(self._work, piece.number, piece.item, reply))

    def _refuse(self, future: Future[Any]) -> None:
        """Note who has another engine: whoever has the result."""
        for holders in self._cluster.client.who_has([future]).values():
            self._cluster.refused.update(holders)

    def _look(self) -> None:
        """Look after pieces whose workers are all gone; Dask itself moves a piece from a lost worker to another one."""
        self._cluster.look()
        present = self._cluster.workers.keys()
        self._alone = 0 if present else self._alone + 1
        if self._alone > _ALONE:
            raise _lost("it has no worker any more")
        stuck = [future for future, piece in self._outstanding.items() if piece.allowed and not piece.allowed & present]
        for future in stuck:
            piece = self._outstanding.pop(future)
            self._send(piece.number, piece.item, piece.sent)


def _lost(why: str) -> Lost:
    return Lost(E_CLUSTER_LOST, f"the cluster was lost ({why})", CONTINUES)


@contextmanager
def connect(address: str) -> Iterator[Cluster]:
    """A connected cluster: `tcp://host:port` or `tls://host:port` of a scheduler, or `local:N`."""
    match = _ADDRESS.fullmatch(address)
    if match is None:
        raise _nobody(f"{address!r} is no address: tcp://host:port, or local:N")
    try:
        import dask
        from distributed import Client, LocalCluster
    except ImportError:
        raise missing_package(E_CLUSTER_PACKAGE, "distributed", "cluster") from None
    for name in [name for name in logging.root.manager.loggerDict if name.startswith("distributed")]:
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)  # what goes wrong is said once, as a diagnostic
    settings = {
        "distributed.admin.large-graph-warning-threshold": "1GiB",
        "distributed.comm.timeouts.connect": f"{_PATIENCE}s",
        "distributed.nanny.pre-spawn-environ.DASK_LOGGING__DISTRIBUTED": "critical",  # of the workers started here
    }
    with dask.config.set(settings):
        if match[1] is None:
            with _client(Client, address, address) as client:
                yield Cluster(client)
            return
        workers = int(match[1])
        with (
            LocalCluster(workers, threads_per_worker=1, dashboard_address="127.0.0.1:0", host="127.0.0.1") as own,
            _client(Client, own, address) as client,
        ):
            yield Cluster(client)


@contextmanager
def _client(make: Callable[..., Client], target: Any, address: str) -> Iterator[Client]:
    try:
        client = make(target, timeout=_PATIENCE, set_as_default=False)
    except (OSError, TimeoutError, ValueError) as error:
        raise _nobody(f"{address}: no scheduler answers ({type(error).__name__})") from None
    try:
        try:
            client.wait_for_workers(1, timeout=_PATIENCE)
        except TimeoutError:
            raise _nobody(f"{address}: the scheduler has no worker") from None
        yield client
    finally:
        with suppress(Exception):  # there may be no scheduler any more
            client.close(timeout=_PATIENCE)


def _nobody(message: str) -> Rejected:
    return Rejected([Diagnostic(E_CLUSTER_ADDRESS, message)])
