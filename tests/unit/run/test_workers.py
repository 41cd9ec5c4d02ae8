"""Workers give their results in order, and neither their end nor an interruption leaves anybody waiting."""

import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Sequence

import pytest

from specledger.core.diagnostics import Diagnostic, Rejected, code, title_of
from specledger.run.executor import spread
from specledger.run.workers import Processes, WorkerDied, _undisturbed

LARGE = 8_000_000  # bytes: more than any pipe holds, so that whoever sends them waits until they are read


def slow_first(item):
    time.sleep(0.2 if item == 0 else 0)
    return item, os.getpid()


def refuse_odd(item):
    if item % 2:
        raise ValueError(item)
    return item


def fill(size):
    return bytes(size)


def unsendable(_item):
    return threading.Lock()


def reject(item):
    """Refuse an item with a code of a module that only this process has imported."""
    raise Rejected([Diagnostic(code("E_OF_ONE_WORKER", "known to one process"), f"item {item}", hint="none")])


def interrupted(_item):
    os.kill(os.getpid(), signal.SIGINT)
    return "went on"


def long_after(path):
    """Say that it was begun; the file of the other name is there if nobody ended this process."""
    path.touch()
    time.sleep(3)
    path.with_suffix(".end").touch()


class Counted(Sequence):
    """Items that say how many of them were asked for."""

    def __init__(self, number):
        self.asked = 0
        self.number = number

    def __len__(self):
        return self.number

    def __getitem__(self, index):
        self.asked += 1
        return index


@pytest.mark.medium
def test_results_come_in_the_order_of_the_items_whoever_made_them():
    made = list(spread(slow_first, range(20), Processes(2)))
    assert [item for item, _ in made] == list(range(20))
    assert len({process for _, process in made}) == 2
    assert os.getpid() not in {process for _, process in made}
    assert not multiprocessing.active_children()


@pytest.mark.parametrize(("given", "workers"), [([], 2), ([0], 2), ([0, 1], 1)], ids=["none", "one item", "one worker"])
def test_what_needs_no_process_is_made_here(given, workers):
    assert [process for _, process in spread(slow_first, given, Processes(workers))] == [os.getpid()] * len(given)


@pytest.mark.medium
def test_a_rejection_with_a_code_that_the_parent_does_not_know_arrives_whole():
    assert title_of("E_OF_ONE_WORKER") is None
    with pytest.raises(Rejected, match="E_OF_ONE_WORKER") as caught:
        list(spread(reject, [0, 1], Processes(2)))
    assert caught.value.diagnostics == (Diagnostic("E_OF_ONE_WORKER", "item 0", hint="none"),)
    assert title_of("E_OF_ONE_WORKER") == "known to one process"


@pytest.mark.slow
def test_no_more_is_begun_than_may_wait():
    given = Counted(50)
    results = spread(slow_first, given, Processes(2))
    assert next(results)[0] == 0
    assert given.asked < 10
    assert len(list(results)) == 49
    assert given.asked == 50


@pytest.mark.medium
def test_an_error_is_raised_at_its_item():
    results = spread(refuse_odd, [0, 2, 3, 4], Processes(2))
    assert (next(results), next(results)) == (0, 2)
    with pytest.raises(ValueError, match="3") as raised:
        next(results)
    assert "in refuse_odd" in "".join(raised.value.__notes__), "where it was raised, too"
    assert not multiprocessing.active_children()


@pytest.mark.medium
def test_what_cannot_be_sent_is_an_error_of_the_work_and_no_death():
    with pytest.raises(TypeError, match="lock"):
        list(spread(unsendable, [0, 1], Processes(2)))


def test_a_worker_that_is_ended_by_somebody_is_said_to_be_so():
    with pytest.raises(WorkerDied) as died:
        list(spread(os._exit, [3, 3], Processes(2)))
    assert [found.code for found in died.value.diagnostics] == ["E_WORKER_DIED"]


def in_the_midst_of_a_result():
    """A spread whose workers both wait, with a part of their next result in the pipe, for somebody to read the rest."""
    # More than may be made ahead: where one worker starts late, the other one makes all of that meanwhile.
    results = spread(fill, [1, 1, *[LARGE] * 20], Processes(2))
    assert len(next(results)) == 1
    assert len(next(results)) == 1
    time.sleep(1)
    return results


@pytest.mark.slow
def test_a_worker_that_is_killed_in_the_midst_of_a_result_leaves_nobody_waiting():
    results = in_the_midst_of_a_result()
    for process in multiprocessing.active_children():
        process.kill()
    with pytest.raises(WorkerDied):
        list(results)


@pytest.mark.slow
def test_whoever_stops_reading_in_the_midst_of_a_result_does_not_wait():
    in_the_midst_of_a_result().close()
    assert not multiprocessing.active_children()


@pytest.mark.slow
def test_an_interruption_is_for_whoever_gave_the_work():
    assert list(spread(interrupted, [0, 1], Processes(2))) == ["went on"] * 2


@pytest.fixture
def interrupted_at_once():
    """An interruption is raised here; tests that a shell put into the background ignore it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("interrupted_at_once")
def test_an_interruption_waits_until_processes_are_started_and_they_never_see_one():
    started = []

    def start():
        with _undisturbed():
            os.kill(os.getpid(), signal.SIGINT)
            started.append(signal.pthread_sigmask(signal.SIG_BLOCK, []))

    with pytest.raises(KeyboardInterrupt):
        start()
    (mask,) = started
    assert signal.SIGINT in mask, "what is started inherits this"
    assert signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, [])


MASKS = """
import signal
from functools import partial
from specledger.core.diagnostics import Diagnostic, Rejected, code, title_of
from specledger.run.executor import spread
from specledger.run.workers import Processes
masks = spread(partial(signal.pthread_sigmask, signal.SIG_BLOCK), [[], []], Processes(2))
print([signal.SIGINT in mask for mask in masks])
"""
IGNORED = """
import os, signal
from specledger.run.workers import _undisturbed
signal.signal(signal.SIGINT, signal.SIG_IGN)
with _undisturbed():
    os.kill(os.getpid(), signal.SIGINT)
print("went on")
"""
UNCLOSED = """
from specledger.core.diagnostics import Diagnostic, Rejected, code, title_of
from specledger.run.executor import spread
from specledger.run.workers import Processes
results = spread(abs, range(9), Processes(2))
print(next(results))
"""


LATE = """
import time
from specledger.run import workers

def late(pipe, work, serve=workers._serve):
    time.sleep(1)
    serve(pipe, work)

workers._serve = late
pool = workers.Processes(2).open(abs)
pool.submit(0, 1)
print(len(pool._crew))
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("program", "said"), [(MASKS, "[True, True]\n"), (IGNORED, "went on\n"), (UNCLOSED, "0\n"), (LATE, "2\n")],
    ids=["the first processes never see an interruption", "who ignores it goes on", "what nobody closed is ended", "what has not begun yet is ended"],
)  # fmt: skip
def test_a_program_of_its_own(program, said, interruptible):
    done = subprocess.run(
        [sys.executable, "-c", program], env=interruptible, capture_output=True, text=True, timeout=120, check=False
    )
    assert (done.returncode, done.stdout) == (0, said), done.stderr


KILLED = """
import os, signal, threading, time
from functools import partial
from pathlib import Path
from specledger.core.diagnostics import Diagnostic, Rejected, code, title_of
from specledger.run.executor import spread
from specledger.run.workers import Processes

def work(held, item):
    return item

def die():
    while len(Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()) < 3:  # two workers, and a tracker
        time.sleep(0.001)
    time.sleep(0.05)
    os.kill(os.getpid(), signal.SIGKILL)

if __name__ == "__main__":
    threading.Thread(target=die, daemon=True).start()
    list(spread(partial(work, bytes(SIZE)), range(1_000_000), Processes(2)))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="it reads /proc")
def test_workers_of_a_killed_process_end_without_a_word(tmp_path, interruptible):
    (tmp_path / "killed.py").write_text(KILLED.replace("SIZE", str(LARGE)), encoding="utf-8")
    line = [sys.executable, "killed.py"]
    done = subprocess.run(line, check=False, cwd=tmp_path, env=interruptible, capture_output=True, timeout=120)
    assert (done.returncode, done.stdout, done.stderr) == (-signal.SIGKILL, b"", b"")


@pytest.mark.medium
def test_who_leaves_with_work_underway_ends_it(tmp_path):
    begun = tmp_path / "work.begun"
    with Processes(2).open(long_after) as crew:
        crew.submit(0, begun)
        while not begun.exists():
            time.sleep(0.01)
    assert not begun.with_suffix(".end").exists()
