"""A worker is killed anywhere, and nothing is lost, asked again, or counted twice."""

import os
import signal
import sqlite3
import subprocess
import sys
import time

import pytest

from specledger.core.rng import Stream
from specledger.discovery import pool
from specledger.discovery.store import Store
from specledger.discovery.worker import Worker
from specledger.evidence.chain import Chain, run_id
from specledger.run.workers import WorkerDied
from tests.toys import SMALL

pytestmark = pytest.mark.slow

OPERATIONS = ("claim", "keep_answer", "finish")


class Killed(BaseException):
    """The process is gone: nothing that it would still do is done."""


class Dying:
    """A store whose worker dies at its n-th operation on it, before or after the database has done it."""

    def __init__(self, store, at, after):
        self._store, self._left, self._after, self._dead = store, at, after, False

    def __getattr__(self, name):
        found = getattr(self._store, name)
        if name not in (*OPERATIONS, "release", "renew"):
            return found

        def operate(*arguments):
            if self._dead:
                raise Killed
            self._left -= name in OPERATIONS
            if self._left >= 0:
                return found(*arguments)
            self._dead = True
            if self._after:
                found(*arguments)
            raise Killed

        return operate


def mended(small):
    """A worker who takes over at once what a dead one has left."""
    bundle, workbench, model = small

    def asked(store, owner):
        return Worker(store, workbench, model.identity, lambda: model.open(False), owner, 60.0)

    return bundle, asked


# 4 iterations, an escalation and the end: 6 claims, 4 answers and 6 results. Before one is after the one before.
@pytest.mark.parametrize(("at", "after"), [(0, False), *((at, True) for at in range(16))])
def test_a_worker_that_dies_at_any_operation(small, quick, facts, told, tmp_path, at, after):
    bundle, worker = mended(small)
    dying = Store(str(tmp_path / "store"), bundle.digest, 0.0)
    with pytest.raises(Killed):
        worker(Dying(dying, at, after), "first").work()
    dying.close()
    store = Store(str(tmp_path / "store"), bundle.digest, 60.0)
    kept = len(store.answers())
    asked: list[int] = []
    second = worker(store, "second")
    answering = second._open_model
    second._open_model = lambda: Counting(answering(), asked)
    second.work()
    assert told(store) == facts
    assert len(asked) == 4 - kept  # what was answered is not asked again
    assert store.done() == 6
    store.close()


def test_there_are_no_more_operations_than_are_tried(small, quick, tmp_path):
    bundle, worker = mended(small)
    store = Store(str(tmp_path / "store"), bundle.digest, 60.0)
    worker(Dying(store, 16, False), "first").work()
    store.close()


class Counting:
    """A model that counts what it is asked."""

    def __init__(self, model, asked):
        self._model, self._asked = model, asked
        self.identity = model.identity

    def ask(self, request):
        self._asked.append(request.turn)
        return self._model.ask(request)


def results(path):
    """How many pieces of work of a store are done; none while there is no store."""
    if not path.exists():
        return 0
    connection = sqlite3.connect(f"file:{path}?mode=ro", uri=True, timeout=5)
    try:
        return connection.execute("SELECT count(digest) FROM specledger_work").fetchone()[0]
    except sqlite3.OperationalError:
        return 0
    finally:
        connection.close()


def test_where_a_worker_of_a_pool_is_killed_the_process_goes_on_alone(small, quick, facts, told, tmp_path, monkeypatch):
    bundle, worker = mended(small)

    def killed(work, given, workers):
        store = Store(str(tmp_path / "store"), bundle.digest, 60.0)
        with pytest.raises(Killed):
            worker(Dying(store, 4, True), work.args[1] + "/0").work()  # it held a lease, as one of this group
        yield from ()
        raise WorkerDied

    monkeypatch.setattr(pool, "spread", killed)
    store = Store(str(tmp_path / "store"), bundle.digest, 60.0)
    pool.work_all(pool.Job(bundle, str(tmp_path / "store"), 60.0), store, 2)
    assert told(store) == facts
    store.close()


def test_processes_that_are_killed_leave_what_others_go_on_with(small, facts, tmp_path, interruptible):
    stream = Stream.named(7, "kill")
    store, out = tmp_path / "store.sqlite", tmp_path / "out"
    command = [sys.executable, "-m", "specledger", "discover", str(SMALL / "small.yaml"), f"--store={store}"]

    def start(place):
        words, pipe = [*command, f"--out={place}", "--lease=0.5", "--workers=1"], subprocess.PIPE
        return subprocess.Popen(words, env=interruptible, start_new_session=True, stdout=pipe, stderr=pipe)

    for wanted, number in ((1, signal.SIGKILL), (3, signal.SIGINT)):
        killed = start(out)
        while results(store) < wanted and killed.poll() is None:
            time.sleep(0.01)
        time.sleep(stream.integer(0, 60) / 1000)
        os.killpg(killed.pid, number)
        said = killed.communicate()[1].decode()
        assert killed.returncode == (130 if number == signal.SIGINT else -number), said
        assert ("the same command goes on" in said) == (number == signal.SIGINT)
        assert not out.exists()
    both = [start(out), start(tmp_path / "other")]
    ends = [process.communicate(timeout=120) for process in both]
    assert [process.returncode for process in both] == [0, 0], ends
    made = [(place / "manifest.json").read_bytes() for place in (out, tmp_path / "other")]
    assert made[0] == made[1]
    chain = Chain(run_id(small[0].digest))
    assert (out / "receipts.jsonl").read_bytes() == b"".join(chain.seal(fact) + b"\n" for fact in facts)
