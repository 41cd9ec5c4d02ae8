"""How work reaches a cluster and comes back, with stand-ins for a scheduler and for the classes of Dask."""

import logging
import sys
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any, cast

import pytest

from specledger.core.diagnostics import Rejected
from specledger.evidence.resume import engine_digest
from specledger.run.executor import Done, Lost, Work
from specledger.wings.bridges.cluster import connection
from specledger.wings.bridges.cluster import task as cluster_task
from specledger.wings.bridges.cluster.connection import Cluster
from specledger.wings.bridges.cluster.task import from_bytes, perform, to_bytes


class Scheduler:
    """A scheduler of two workers."""

    def scheduler_info(self):
        return {"workers": {"tcp://a:1": {"nthreads": 2}, "tcp://b:1": {"nthreads": 4}}}


def test_a_worker_that_refused_is_named_in_a_warning():
    cluster = Cluster(cast("Any", Scheduler()))
    assert (cluster.found, cluster.width) == ((), 6)
    cluster.refused.add("tcp://b:1")
    assert [(warning.code, warning.message) for warning in cluster.found] == [
        ("W_CLUSTER_ENGINE", "tcp://b:1 has another engine")
    ]
    assert cluster.width == 2


class Asked(Scheduler):
    """A client of that scheduler whose pieces of work are never done; `given` says who may do each."""

    id = "client"

    def __init__(self):
        self.given = []

    def submit(self, *_, workers, **__):
        self.given.append(workers)
        return Pending()

    def cancel(self, pieces, **_):
        self.given.append(len(pieces))


class Pending:
    def add_done_callback(self, _):
        pass


class Nothing(Work):
    entry = "nothing"

    def __call__(self, item):
        raise NotImplementedError

    def document(self):
        return {}


def test_a_piece_of_work_goes_to_workers_that_did_not_refuse():
    client = Asked()
    cluster = Cluster(cast("Any", client))
    with cluster.open(Nothing()) as crew:
        crew.submit(0, 0)
        cluster.refused.add("tcp://b:1")
        crew.submit(1, 1)
        assert client.given == [None, ["tcp://a:1"]]
        cluster.refused.add("tcp://a:1")
        with pytest.raises(Rejected) as rejected:
            crew.submit(2, 2)
    assert rejected.value.diagnostics[0].code == "E_CLUSTER_ENGINE"
    assert client.given[2:] == [2]  # what is outstanding is given up


class Emptying(Asked):
    """A client whose workers are gone after some looks."""

    def __init__(self, looks):
        super().__init__()
        self.looks, self.seen = looks, 0

    def scheduler_info(self):
        self.seen += 1
        return super().scheduler_info() if self.seen <= self.looks else {"workers": {}}


def test_a_cluster_without_workers_is_lost_after_some_looks(monkeypatch):
    monkeypatch.setattr(connection, "_LOOK", 0)
    monkeypatch.setattr(connection, "_ALONE", 3)
    client = Emptying(4)
    with Cluster(cast("Any", client)).open(Nothing()) as crew:
        crew.submit(0, 0)
        with pytest.raises(Lost) as lost:
            crew.wait()
    assert lost.value.diagnostics[0].message == "the cluster was lost (it has no worker any more)"
    assert client.seen == 8  # at the start, at the first piece, two with workers, four without


class Leaving(Asked):
    """A client one of whose workers leaves after some looks."""

    left = False

    def scheduler_info(self):
        workers = super().scheduler_info()["workers"]
        return {"workers": {"tcp://c:1": {"nthreads": 1}} if self.left else workers}


def test_a_piece_whose_workers_are_gone_is_given_to_others():
    client = Leaving()
    cluster = Cluster(cast("Any", client))
    with cluster.open(Nothing()) as crew:
        cluster.refused.add("tcp://b:1")
        crew.submit(0, 0)
        crew._look()
        client.left = True
        crew._look()
        crew._look()
    assert client.given == [["tcp://a:1"], ["tcp://c:1"], 1]


class Future:
    """A piece of work that has ended."""

    def __init__(self, sent, status="finished", result=None, raises=None):
        self.sent, self.status, self._result, self._raises = sent, status, result, raises

    def add_done_callback(self, callback):
        self.callback = callback

    def exception(self):
        return self._raises

    def result(self):
        if self._raises is not None:
            raise self._raises
        return self._result(self.sent) if callable(self._result) else self._result


class Answering(Scheduler):
    """A client whose pieces of work end at once, each as the next of `ends` says; `sent` is what it was asked for."""

    id = "client"

    def __init__(self, *ends):
        self.ends, self.sent = list(ends), []

    def submit(self, function, engine, entry, document, item, *, key, workers, pure):
        self.sent.append((function, engine, entry, from_bytes(document), from_bytes(item), key, workers, pure))
        end = self.ends.pop(0)
        if isinstance(end, Exception):
            raise end
        future = Future((entry, item), **end)
        future.add_done_callback = lambda callback: callback(future)  # type: ignore[method-assign]
        return future

    def who_has(self, futures):
        return dict.fromkeys(futures, ("tcp://b:1",))


class Doubling(Nothing):
    entry = "doubling"

    def document(self):
        return {"by": 2}

    def sent(self, item):
        return [item]

    def made(self, item, result):
        return item, result


def replied(**reply):
    """A reply with its digest."""

    def make(sent):
        (entry, item), data = sent, to_bytes(reply)
        return cluster_task.reply_digest(entry, item, data).encode() + data

    return {"result": make}


def test_pieces_of_work_are_sent_by_name_each_under_a_key_of_its_own_and_return_in_any_order():
    client = Answering(replied(made=14), replied(made=1 << 80))
    with Cluster(cast("Any", client)).open(Doubling()) as crew:
        crew.submit(5, 7)
        crew.submit(6, 8)
        assert crew.ready() == [Done(5, (7, 14), None), Done(6, (8, 1 << 80), None)]
        assert crew.ready() == []
    first, second = client.sent
    assert first[:5] == (perform, engine_digest(), "doubling", {"by": 2}, [7])
    assert (second[4], first[6:], second[6:]) == ([8], (None, False), (None, False))
    assert first[5].startswith("specledger-client-")
    assert first[5] != second[5]


def submit_and_wait(crew):
    crew.submit(0, 0)
    crew.wait()


@pytest.mark.parametrize(
    ("end", "error", "message"),
    [
        ({"status": "error", "raises": KeyError("k")}, Lost, "the cluster was lost (KeyError: 'k')"),
        ({"status": "cancelled", "raises": TimeoutError("late")}, Lost, "the cluster was lost (TimeoutError)"),
        ({"result": b"0" * 64 + b"{}"}, Rejected, "a result does not have the digest that came with it"),
        (OSError("closed"), Lost, "the cluster was lost (OSError: closed)"),
    ],
    ids=["an error of the cluster", "a result that cannot be fetched", "a changed result", "nothing can be sent"],
)
def test_what_a_cluster_loses_or_changes_ends_the_work(end, error, message):
    with Cluster(cast("Any", Answering(end))).open(Doubling()) as crew, pytest.raises(error) as raised:
        submit_and_wait(crew)
    (finding,) = raised.value.diagnostics
    assert finding.message == message
    assert finding.code == ("E_CLUSTER_LOST" if error is Lost else "E_CLUSTER_RESULT")


def test_an_error_in_the_work_is_the_result_of_its_piece():
    client = Answering(replied(failed="ValueError: no"), replied(made=1))
    with Cluster(cast("Any", client)).open(Doubling()) as crew:
        crew.submit(3, 7)
        done = crew.wait()
        crew.submit(4, 8)
        assert crew.wait() == Done(4, (8, 1), None)
    assert (done.index, done.result, type(done.error)) == (3, None, RuntimeError)
    assert str(done.error) == "in a worker of the cluster: ValueError: no"


def test_a_piece_that_a_worker_refuses_is_sent_to_the_others():
    client = Answering(replied(refused="0" * 64), replied(made=14))
    cluster = Cluster(cast("Any", client))
    with cluster.open(Doubling()) as crew:
        crew.submit(9, 7)
        assert crew.wait() == Done(9, (7, 14), None)
    assert [sent[6] for sent in client.sent] == [None, ["tcp://a:1"]]
    assert [finding.message for finding in cluster.found] == ["tcp://b:1 has another engine"]


def test_a_piece_that_was_sent_again_counts_once():
    client = Answering(replied(made=14), replied(made=15))
    with Cluster(cast("Any", client)).open(Doubling()) as crew:
        crew.submit(0, 7)
        (again,) = crew._outstanding
        del crew._outstanding[again]
        assert crew.ready() == []
        crew.submit(0, 7)
        assert crew.ready() == [Done(0, (7, 15), None)]


class Silent:
    def scheduler_info(self):
        raise OSError("closed")


def test_a_scheduler_that_does_not_answer_is_lost():
    with pytest.raises(Lost) as lost:
        Cluster(cast("Any", Silent()))
    assert lost.value.diagnostics[0].message == "the cluster was lost (the scheduler does not answer)"


def test_workers_are_looked_for_at_the_first_piece_and_every_sixty_fourth():
    looks = []

    class Looked(Answering):
        def scheduler_info(self):
            looks.append(len(self.sent))
            return {"workers": {}}

    client = Looked(*[replied(made=0)] * 130)
    cluster = Cluster(cast("Any", client))
    with cluster.open(Doubling()) as crew:
        for number in range(130):
            crew.submit(number, 0)
    assert looks == [0, 0, 64, 128]
    assert (cluster.width, cluster.remote) == (1, True)


def test_giving_up_where_the_scheduler_is_gone_is_no_error():
    client = Asked()
    client.cancel = lambda *_, **__: 1 / 0  # type: ignore[method-assign]
    with Cluster(cast("Any", client)).open(Nothing()) as crew:
        crew.submit(0, 0)


@pytest.mark.parametrize(
    "address",
    ["localhost", "local:0", "local:1000", "local:01", "local:", "udp://a:1", "tcp://", "tcp://a b", f"tcp://{'a' * 256}", "xtcp://a"],
)  # fmt: skip
def test_what_is_no_address_is_refused(address):
    with pytest.raises(Rejected) as refused, connection.connect(address):
        raise AssertionError
    (finding,) = refused.value.diagnostics
    message = f"{address!r} is no address: tcp://host:port, or local:N"
    assert (finding.code, finding.message) == ("E_CLUSTER_ADDRESS", message)


class Connecting(Scheduler):
    """A class of clients as `distributed` has it, which keeps what is done with it."""

    done: list[Any]

    def __init__(self, target, *, timeout, set_as_default):
        self.done.append((target, timeout, set_as_default))
        if target in ("tcp://closed:1", "tcp://bad:1"):
            raise OSError if target == "tcp://closed:1" else ValueError
        self.target = target

    def wait_for_workers(self, count, *, timeout):
        self.done.append((count, timeout))
        if self.target == "tcp://empty:1":
            raise TimeoutError

    def close(self, *, timeout):
        self.done.append(("closed", timeout))
        raise OSError


class OwnCluster:
    def __init__(self, workers, **settings):
        Connecting.done.append((workers, settings))

    def __enter__(self):
        return "own"

    def __exit__(self, *_):
        Connecting.done.append("ended")


@pytest.fixture
def connecting(monkeypatch):
    """What is done with stand-ins for the classes of Dask, and the settings under which."""
    Connecting.done, settings = [], {}

    @contextmanager
    def set_(values):
        settings.update(values)
        yield

    monkeypatch.setitem(sys.modules, "dask", cast("Any", SimpleNamespace(config=SimpleNamespace(set=set_))))
    stand_ins: Any = SimpleNamespace(Client=Connecting, LocalCluster=OwnCluster)
    monkeypatch.setitem(sys.modules, "distributed", stand_ins)
    yield Connecting.done
    assert not Connecting.done or settings["distributed.comm.timeouts.connect"] == "10s"


@pytest.mark.parametrize("address", ["tcp://a:1", "tls://a:1", f"tcp://{'a' * 255}"])
def test_a_scheduler_is_connected_to_and_left(connecting, address):
    with connection.connect(address) as cluster:
        assert cluster.width == 6
    assert connecting == [(address, 10, False), (1, 10), ("closed", 10)]


def test_dask_says_nothing_itself(connecting):
    own, other = (logging.getLogger(f"{name}.test_cluster") for name in ("distributed", "other"))
    own.setLevel(logging.DEBUG)
    with connection.connect("tcp://a:1"):
        assert not own.isEnabledFor(logging.CRITICAL)
    assert other.isEnabledFor(logging.CRITICAL)


@pytest.mark.parametrize("number", [1, 7, 999])
def test_workers_of_this_machine_end_with_the_work(connecting, number):
    with connection.connect(f"local:{number}") as cluster:
        assert cluster.width == 6
    started, *rest = connecting
    settings = {"threads_per_worker": 1, "dashboard_address": "127.0.0.1:0", "host": "127.0.0.1"}
    assert started == (number, settings)
    assert rest == [("own", 10, False), (1, 10), ("closed", 10), "ended"]


@pytest.mark.parametrize(
    ("address", "message", "closed"),
    [
        ("tcp://closed:1", "tcp://closed:1: no scheduler answers (OSError)", False),
        ("tcp://bad:1", "tcp://bad:1: no scheduler answers (ValueError)", False),
        ("tcp://empty:1", "tcp://empty:1: the scheduler has no worker", True),
    ],
)
def test_where_nobody_answers_or_works_is_told(connecting, address, message, closed):
    with pytest.raises(Rejected) as refused, connection.connect(address):
        raise AssertionError
    (finding,) = refused.value.diagnostics
    assert (finding.code, finding.message) == ("E_CLUSTER_ADDRESS", message)
    assert (("closed", 10) in connecting) == closed


def test_without_dask_a_diagnostic_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(Rejected) as refused, connection.connect("tcp://a:1"):
        raise AssertionError
    (finding,) = refused.value.diagnostics
    assert finding.code == "E_CLUSTER_PACKAGE"
    assert "pip install 'specledger[cluster]'" in finding.message
