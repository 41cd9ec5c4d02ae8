"""What the processes of a run do between their start and their end, in this process: what they are told, answer and end."""

import ctypes
import os
import signal
from contextlib import contextmanager, suppress
from types import SimpleNamespace
from typing import Any

import pytest

from specledger.run import descendants, watchdog, workers


class Pipe:
    """An end of a pipe: what comes, and what was sent; exceptions are raised."""

    def __init__(self, *comes, refuses=()):
        self.comes, self.sent, self.refuses = list(comes), [], list(refuses)

    def recv(self):
        come = self.comes.pop(0)
        if isinstance(come, Exception):
            raise come
        return come

    def send(self, value):
        refused = self.refuses.pop(0) if self.refuses else None
        if refused is not None:
            raise refused
        self.sent.append(value)


@pytest.fixture(autouse=True)
def handlers():
    """Signals are handled as before afterwards."""
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGALRM)}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


def halve(item):
    return 10 // item


SERVED = {
    "until nothing comes": (Pipe((5,), (2,), ()), halve, [(2, None), (5, None)]),
    "until the other end is closed": (Pipe((5,), EOFError()), halve, [(2, None)]),
    "until the other end is broken": (Pipe((5,), OSError()), halve, [(2, None)]),
    "a work that comes first": (Pipe(halve, (5,), ()), None, [(2, None)]),
    "no work comes": (Pipe(EOFError()), None, []),
    "the end breaks before a work": (Pipe(OSError()), None, []),
    "nobody reads": (Pipe((5,), (2,), (), refuses=[OSError()]), halve, []),
}


@pytest.mark.parametrize(("pipe", "work", "sent"), SERVED.values(), ids=SERVED)
def test_a_worker_answers_items_in_order(pipe, work, sent):
    workers._serve(pipe, work)
    assert pipe.sent == sent
    assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL


def test_an_error_in_a_work_is_an_answer_with_its_place():
    pipe = Pipe((0,), (5,), ())
    workers._serve(pipe, halve)  # type: ignore[arg-type]
    (nothing, error), second = pipe.sent
    assert (nothing, type(error), second) == (None, ZeroDivisionError, (2, None))
    (note,) = error.__notes__
    assert note.startswith("In a worker: Traceback")
    assert "in halve" in note


def test_what_cannot_be_sent_is_an_error_of_its_item():
    error = TypeError("cannot pickle")
    pipe = Pipe((5,), (2,), (), refuses=[error])
    workers._serve(pipe, halve)  # type: ignore[arg-type]
    assert pipe.sent == [(None, error), (5, None)]
    lost = Pipe((5,), (2,), (), refuses=[error, OSError()])
    workers._serve(lost, halve)  # type: ignore[arg-type]
    assert lost.sent == [(5, None)]


class LeftError(BaseException):
    """A process that would have ended."""


@contextmanager
def noted(monkeypatch):
    """Calls of the operating system that would change this process, written down; pytest itself makes such, outside."""
    done: list[Any] = []

    def note(name, result=None):
        def call(*arguments):
            done.append((name, *arguments))
            return result

        return call

    def leave(status):
        done.append(("_exit", status))
        raise LeftError

    with monkeypatch.context() as patched:
        for name in ("setpgid", "dup2", "closerange", "kill", "killpg"):
            patched.setattr(os, name, note(name))
        patched.setattr(os, "open", note("open", 77))
        patched.setattr(os, "_exit", leave)
        patched.setattr(ctypes, "CDLL", lambda name: SimpleNamespace(prctl=note("prctl")))
        yield done


@pytest.mark.parametrize(("has_parent", "ended"), [(True, 1), (False, 0)])
def test_a_worker_ends_with_the_process_that_gave_the_work(monkeypatch, has_parent, ended):
    waited: list[str] = []
    process = SimpleNamespace(join=lambda: waited.append("joined")) if has_parent else None
    monkeypatch.setattr("multiprocessing.parent_process", lambda: process)
    with noted(monkeypatch) as system, suppress(LeftError):
        workers._end_with_parent()
    assert (system, waited) == ([("_exit", 1)] * ended, ["joined"] * ended)


@pytest.mark.parametrize("same", [True, False])
def test_a_kernel_ends_with_the_process_that_watches_it_also_one_that_has_ended(monkeypatch, same):
    monkeypatch.setattr("sys.platform", "linux")
    with noted(monkeypatch) as system:
        watchdog._end_with_parent(os.getppid() if same else os.getppid() + 1)
    killed = [] if same else [("kill", os.getpid(), signal.SIGKILL)]
    assert system == [("prctl", 1, signal.SIGKILL, 0, 0, 0), *killed]


@pytest.mark.parametrize(
    ("error", "failure", "status"),
    [(None, None, 0), (KeyError("k"), "KeyError", 70), (KeyboardInterrupt(), "KeyboardInterrupt", 70)],
)
def test_a_kernel_says_how_its_work_ended_and_has_a_status(monkeypatch, error, failure, status):
    said: list[Any] = []

    def work(pulse):
        if error is not None:
            raise error
        said.append("worked")

    signal.signal(signal.SIGALRM, signal.SIG_IGN)
    with noted(monkeypatch) as system, pytest.raises(LeftError):
        watchdog._work(work, SimpleNamespace(end=said.append), os.getppid())  # type: ignore[arg-type]
    assert said == ([] if error else ["worked"]) + [failure]
    assert [call for call in system if call[0] != "prctl"] == [
        ("setpgid", 0, 0), ("open", os.devnull, os.O_RDWR), ("dup2", 77, 0), ("dup2", 77, 1), ("_exit", status),
    ]  # fmt: skip
    assert {signal.getsignal(number) for number in (signal.SIGALRM, signal.SIGTERM)} == {signal.SIG_DFL}


def test_a_guard_waits_for_the_end_of_its_pipe_and_ends_the_group(monkeypatch):
    reads = [b"x", b"y", b""]
    with noted(monkeypatch) as system, monkeypatch.context() as patched:
        patched.setattr(os, "read", lambda descriptor, size: reads.pop(0) if (descriptor, size) == (0, 1) else b"")
        with pytest.raises(LeftError):
            descendants._guard(4711, 9)
    assert reads == []
    most = os.sysconf("SC_OPEN_MAX")
    assert system == [
        ("setpgid", 0, 4711), ("dup2", 9, 0), ("closerange", 1, most), ("killpg", 4711, signal.SIGKILL), ("_exit", 70),
    ]  # fmt: skip
