"""Whatever a policy does to its process, the watchdog ends it, records that, and can do nothing else."""

import ast
import gc
import mmap
import os
import re
import signal
import subprocess
import sys
import time
from itertools import count
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from specledger.core.binding import GENESIS
from specledger.core.diagnostics import Rejected
from specledger.run import watchdog as watchdog_module
from specledger.run.watchdog import MAX_MESSAGE, Ending, Watchdog
from specledger.spec.governor import Admission
from tests.waiting import alive, wait

pytestmark = pytest.mark.filterwarnings("ignore:.*use of fork:DeprecationWarning")  # a test runner may have threads

ROOT = Path(__file__).resolve().parents[3]
KNOWN = ("a" * 64, "b" * 64)


@pytest.fixture
def watchdog():
    return Watchdog(timeout_ms=100)


@pytest.fixture
def patient():
    """For kernels that are in time, on a busy machine too, where a test takes longer than that."""
    return Watchdog(timeout_ms=2000)


@pytest.fixture
def unhurried():
    """For kernels that are in time on any machine."""
    return Watchdog(timeout_ms=120_000)


def policy(act):
    """A kernel that evaluates one policy and then says so."""

    def work(pulse):
        pulse.send(b"before")
        pulse.enter(7, *KNOWN)
        act()
        pulse.leave()
        pulse.send(b"after")

    return work


def test_a_kernel_that_is_in_time_sends_what_it_has_to_say(unhurried):
    assert list(unhurried.watch(policy(lambda: None))) == [b"before", b"after"]
    assert unhurried.ending == Ending("finished", "", 1, 7, *KNOWN)


def backtrack():
    re.fullmatch("(a|a)*b", "a" * 60)


def ignore_signals():
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGALRM):
        signal.signal(number, signal.SIG_IGN)
    while True:
        pass


def close_everything():
    for descriptor in range(3):
        os.close(descriptor)
    time.sleep(60)


def leave_the_group():
    os.setpgid(0, os.getpgid(os.getppid()))
    time.sleep(60)


BLOCKING = {
    "a loop": lambda: all(True for _ in iter(int, 1)),
    "sleep": lambda: time.sleep(60),
    "a sum inside the interpreter": lambda: sum(range(10**11)),
    "a pattern that never ends": backtrack,
    "a power of huge numbers": lambda: pow(3, 10**9),
    "a lock": lambda: __import__("threading").Semaphore(0).acquire(),
    "reading what nobody writes": lambda: os.read(os.pipe()[0], 1),
    "ignoring signals": ignore_signals,
    "stopping itself": lambda: os.kill(os.getpid(), signal.SIGSTOP),
    "closing its streams": close_everything,
    "leaving its group": leave_the_group,
}


@pytest.mark.parametrize("act", BLOCKING.values(), ids=BLOCKING)
def test_a_policy_that_blocks_is_ended_and_recorded(watchdog, act):
    assert list(watchdog.watch(policy(act))) == [b"before"]
    assert watchdog.ending == Ending("hang", "timeout", 1, 7, *KNOWN)


def test_the_group_of_a_hanging_kernel_is_ended_with_it(watchdog):
    def work(pulse):
        child = os.fork()
        if child == 0:
            time.sleep(600)
            os._exit(0)
        pulse.send(str(child).encode())
        pulse.enter(7)
        time.sleep(600)

    (child,) = watchdog.watch(work)
    wait(lambda: not alive(int(child)))


def daemonise(pulse):
    """Become a daemon in the usual way, from a child, while the kernel goes on."""
    if os.fork():
        return
    os.setsid()
    if os.fork() == 0:
        pulse.send(str(os.getpid()).encode())
        os.closerange(3, 256)
        time.sleep(600)
    os._exit(0)


DAEMONS = {
    "finished": lambda: None,
    "hang": lambda: time.sleep(600),
    "died": lambda: os._exit(3),
}


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux lets a process adopt orphans")
@pytest.mark.parametrize("kind", DAEMONS)
def test_a_daemon_ends_with_the_kernel_whose_group_it_left(kind):
    def work(pulse):
        daemonise(pulse)
        time.sleep(0.5)
        pulse.enter(7)
        DAEMONS[kind]()
        pulse.leave()

    watchdog = Watchdog(timeout_ms=1000)
    (daemon,) = watchdog.watch(work)
    assert watchdog.ending is not None
    assert watchdog.ending.kind == kind
    assert not alive(int(daemon))


def test_what_the_watching_process_starts_meanwhile_is_left_alone(patient):
    messages = patient.watch(policy(lambda: None))
    next(messages)
    own = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    list(messages)
    assert own.poll() is None
    own.communicate(b"\n", timeout=120)
    assert own.returncode == 0


def fail():
    raise ArithmeticError("never told")


DYING = {
    "raising": (fail, "raised:ArithmeticError"),
    "raising to exit": (lambda: sys.exit(3), "raised:SystemExit"),
    "exiting": (lambda: os._exit(3), "exit:3"),
    "exiting as if all were well": (lambda: os._exit(0), "exit:0"),
    "a signal": (lambda: os.kill(os.getpid(), signal.SIGTERM), "signal:15"),
    "closing the pipe": (lambda: os.closerange(3, 256), "raised"),
}


@pytest.mark.parametrize(("act", "reason"), DYING.values(), ids=DYING)
def test_a_kernel_that_dies_has_not_finished(unhurried, act, reason):
    assert list(unhurried.watch(policy(act))) == [b"before"]
    assert unhurried.ending.kind == "died"
    assert unhurried.ending.reason == reason or (reason == "raised" and unhurried.ending.reason)


@pytest.mark.slow
def test_only_the_evaluation_of_a_policy_is_timed(patient):
    def work(pulse):
        for tick in range(3):
            pulse.enter(tick)
            pulse.leave()
        time.sleep(2.2)

    assert list(patient.watch(work)) == []
    assert patient.ending == Ending("finished", "", 3, 2, GENESIS, GENESIS)


@pytest.mark.slow
def test_each_evaluation_has_the_whole_time(patient):
    def work(pulse):
        for tick in range(4):
            pulse.enter(tick)
            time.sleep(0.55)
            pulse.leave()

    list(patient.watch(work))
    assert patient.ending.kind == "finished"


def test_a_slow_reader_does_not_make_a_kernel_late(unhurried, monkeypatch):
    """By a clock that stands still but for the reader, who takes longer than the kernel may."""
    now = [0.0]
    monkeypatch.setattr(watchdog_module, "time", SimpleNamespace(monotonic=lambda: now[0]))

    def work(pulse):
        pulse.enter(0)
        pulse.send(b"slowly read")
        time.sleep(0.5)  # the reader looks for the next message before there is one
        pulse.leave(b"in time")

    read = []
    for message in unhurried.watch(work):
        read.append(message)
        now[0] += 1_000
    assert (unhurried.ending.kind, read) == ("finished", [b"slowly read", b"in time"])


@pytest.fixture
def passes(monkeypatch):
    """Lets seconds pass on a clock that stands still otherwise, for the kernel and whoever watches it."""
    shared = mmap.mmap(-1, 8)
    now = memoryview(shared).cast("Q")
    monkeypatch.setattr(watchdog_module, "time", SimpleNamespace(monotonic=lambda: float(now[0])))

    def let_pass(seconds):
        now[0] += seconds

    yield let_pass
    now.release()


def send_slowly(pulse):
    """Whoever watches looks for the second message when the first one is read, and at his clock before that."""
    for message in (b"first", b"second"):
        time.sleep(0.3)
        pulse.send(message)


def test_what_follows_an_evaluation_is_not_timed(unhurried, passes):
    def work(pulse):
        pulse.enter(0)
        pulse.leave(b"in time")
        passes(1_000)
        send_slowly(pulse)

    assert list(unhurried.watch(work)) == [b"in time", b"first", b"second"]
    assert unhurried.ending == Ending("finished", "", 1)


def test_a_start_may_take_longer_than_an_evaluation(unhurried, passes):
    def work(pulse):
        pulse.enter(0)
        pulse.leave()
        pulse.enter(1, more_ms=1_000_000)
        time.sleep(0.3)  # its deadline is known
        passes(1_000)
        send_slowly(pulse)
        pulse.leave()

    assert list(unhurried.watch(work)) == [b"first", b"second"]
    assert unhurried.ending == Ending("finished", "", 2, 1)


def test_a_message_gives_an_evaluation_no_more_time(unhurried, monkeypatch):
    """By a clock on which 50 s pass whenever it is read: less than half of the time-out, but not ten times."""
    seconds = count(step=50)
    monkeypatch.setattr(watchdog_module, "time", SimpleNamespace(monotonic=lambda: float(next(seconds))))

    def work(pulse):
        pulse.enter(0)
        for _ in range(10):
            pulse.send(b"still there")
        time.sleep(5)  # it is ended before
        pulse.leave()

    list(unhurried.watch(work))
    assert unhurried.ending == Ending("hang", "timeout", 1)


def test_messages_of_any_size_come_whole_and_in_order(patient):
    sizes = [0, 1, 65_535, 65_536, 3_000_000, 5]

    def work(pulse):
        for number, size in enumerate(sizes):
            pulse.send(bytes([number]) * size)
        with pytest.raises(ValueError, match="at most"):
            pulse.send(bytes(MAX_MESSAGE + 1))

    assert list(patient.watch(work)) == [bytes([number]) * size for number, size in enumerate(sizes)]
    assert patient.ending.kind == "finished"


def test_a_kernel_that_hangs_while_nobody_reads_is_ended_when_somebody_does(watchdog):
    def work(pulse):
        pulse.enter(0)
        pulse.send(b"last")
        time.sleep(60)

    for _ in watchdog.watch(work):
        time.sleep(0.3)
    assert watchdog.ending.kind == "hang"


def test_a_reader_that_stops_reading_ends_the_kernel(watchdog):
    def work(pulse):
        pulse.send(str(os.getpid()).encode())
        time.sleep(60)

    messages = watchdog.watch(work)
    pid = int(next(messages))
    messages.close()
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
    assert watchdog.ending is None


@pytest.mark.medium
def test_no_process_and_no_descriptor_is_left_behind(watchdog):
    def open_files():
        return len(os.listdir("/dev/fd"))

    def children():  # a process of the tests may have others, such as the one that tracks what pools share
        return Path(f"/proc/self/task/{os.getpid()}/children").read_text(encoding="ascii").split()

    gc.collect()  # what earlier tests have left open is closed before it is counted
    before = open_files(), children()
    for act in (lambda: None, lambda: time.sleep(60), fail):
        list(watchdog.watch(policy(act)))
    assert (open_files(), children()) == before


def test_a_kernel_shares_no_stream_with_whoever_watches(unhurried, capfd):
    def act():
        os.write(1, b"noise")
        assert os.read(0, 1) == b""

    own, (end, begin) = os.dup(0), os.pipe()
    os.write(begin, b"typed by the user")
    os.dup2(end, 0)
    try:
        list(unhurried.watch(policy(act)))
    finally:
        os.dup2(own, 0)
        for descriptor in (own, end, begin):
            os.close(descriptor)
    assert unhurried.ending.kind == "finished"
    assert capfd.readouterr().out == ""


def test_the_default_is_the_seeds():
    assert Admission.model_fields["watchdog_ms"].default == 200


def test_a_system_without_process_groups_is_said_so(watchdog, monkeypatch):
    monkeypatch.setattr(sys, "platform", "win32")
    with pytest.raises(Rejected, match="E_WATCHDOG_SYSTEM"):
        list(watchdog.watch(policy(lambda: None)))


ORPHAN = """
import os, sys, time
from specledger.run import watchdog
watchdog._ORPHANED_MS, asked = map(int, sys.argv[1:])
def work(pulse):
    pulse.send(str(os.getpid()).encode())
    if asked:
        pulse.enter(0)
    while True:
        time.sleep(1) if not asked else None
print(int(next(watchdog.Watchdog(100).watch(work))), flush=True)
os._exit(0)
"""


@pytest.mark.parametrize(
    ("orphaned_ms", "asked"),
    [
        pytest.param(200, 1, id="by its timer"),
        *(
            [pytest.param(10**7, each, id=f"with it, {each} asked") for each in (0, 1)]
            if sys.platform == "linux"
            else []
        ),
    ],
)
def test_a_kernel_whose_watchdog_is_gone_ends_by_itself(orphaned_ms, asked):
    words = [sys.executable, "-c", ORPHAN, str(orphaned_ms), str(asked)]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, timeout=120, check=True)
    wait(lambda: not alive(int(done.stdout)))


ABANDONED = """
import os, subprocess, sys, time
from specledger.run import watchdog as watchdog_module
from specledger.run.watchdog import Watchdog
def work(pulse):
    program = subprocess.Popen(["sh", "-c", "sleep 600 & echo $!; wait"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    pulse.send(f"{os.getpid()} {program.pid} {int(program.stdout.readline())}".encode())
    pulse.enter(0)
    time.sleep(600)
messages = Watchdog(10**6).watch(work)
print(next(messages).decode(), flush=True)
next(messages)
"""


def test_what_a_kernel_has_started_ends_with_a_watching_process_that_is_killed():
    """The programs read nothing, so that the end of their input does not end them."""
    watching = subprocess.Popen([sys.executable, "-c", ABANDONED], cwd=ROOT, stdout=subprocess.PIPE, text=True)
    assert watching.stdout is not None
    with watching:
        started = list(map(int, watching.stdout.readline().split()))
        running = [alive(pid) for pid in started]
        watching.kill()
    assert running == [True] * 3
    for pid in started:
        wait(lambda pid=pid: not alive(pid))


# It can neither issue a token nor act


def test_by_construction_it_imports_nothing_that_could_act():
    tree = ast.parse((ROOT / "engine/specledger/run/watchdog.py").read_text(encoding="utf-8"))
    ours = {
        node.module
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and str(node.module).startswith("specledger")
    }
    assert ours <= {"specledger.core.binding", "specledger.core.diagnostics", "specledger.run.descendants"}
    assert not any(
        alias.name.startswith("specledger")
        for node in ast.walk(tree)
        if isinstance(node, ast.Import)
        for alias in node.names
    )
    program = "import sys, specledger.run.watchdog; print(*sorted({m.split('.')[1] for m in sys.modules if m.startswith('specledger.')}))"
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["core", "run"]


def test_by_trying_nothing_that_it_holds_is_a_token_or_a_way_to_act(watchdog):
    """Everything that can be reached from a watchdog, its time-out over, is a figure or a text."""
    acted: list[Any] = []

    class World:
        def step(self, *arguments):
            acted.append(arguments)

    world = World()

    def act():
        time.sleep(60)
        world.step()

    list(watchdog.watch(policy(act)))
    held = {name: getattr(watchdog, name) for name in vars(watchdog)}
    assert held == {"_timeout_ms": 100, "ending": Ending("hang", "timeout", 1, 7, *KNOWN), "note": b""}
    assert acted == []
