"""Writers of one place that run at once: processes whose turns follow from a seed, and what must hold after them.

    python -m tests.crash_processes CONTEST SEED [PLANTED]    # one schedule again

A process has its turn until its next operation of the disk, or until it waits for a lock. One of them may be killed, all
of them lose the power, or all come to their end. A process may be refused, because the place is another one's; what was
acknowledged to any of them is there, and whole.
"""

import fcntl
import random
import shutil
import sys
import tempfile
import threading
from contextlib import suppress
from functools import partial
from pathlib import Path
from unittest.mock import patch

from specledger.core.diagnostics import Rejected
from specledger.evidence.bundle import BundleWriter
from specledger.evidence.runlog import announce, attempt_of, enter, read_runlog, result_of
from specledger.evidence.seal import UNSIGNED
from specledger.wings.guard.protocol import Refusal
from tests import crashes
from tests.crash_pipelines import Pipeline, SealedConversation, WholeSuite
from tests.crash_writers import DIGEST, EVENTS, SPECS, LiveAudit, RunLog, Writer
from tests.crashes import leaving_nothing_open, put_in
from tests.planted_races import PLANTED
from tests.simulated_disk import Ended, SimulatedDisk


class Process:
    """A thread that runs only while it has the turn."""

    def __init__(self, turns, number, work):
        self.turns, self.number, self.work = turns, number, work
        self.go = threading.Semaphore(0)
        self.ended, self.noticed, self.over, self.wrong = False, False, False, None
        self.thread = threading.Thread(target=self._run, daemon=True)

    def _run(self):
        self.go.acquire()
        try:
            self.work()
        except (Ended, OSError, Rejected, Refusal):
            pass  # it was killed or refused, or the disk failed
        except BaseException as error:
            self.wrong = error
        finally:
            self.over = True
            self.turns.release_locks(self)
            self.turns.back.release()


class Turns:
    """Whose turn it is."""

    def __init__(self, chance, works):
        self.chance, self.back, self.locks = chance, threading.Semaphore(0), {}
        self.processes = [Process(self, number, work) for number, work in enumerate(works, 1)]
        self.current = self.processes[0]
        self.real_flock = fcntl.flock

    def run(self):
        with patch.object(fcntl, "flock", self.flock):
            for process in self.processes:
                process.thread.start()
            while left := [process for process in self.processes if not process.over]:
                self.current = self.chance.choice(left)
                self.current.go.release()
                self.back.acquire()
        for process in self.processes:
            if process.wrong is not None:
                raise process.wrong

    def pause(self):
        """Let others have a turn."""
        mine = self.current
        self.back.release()
        mine.go.acquire()

    def flock(self, file, operation):
        """Lock as the system does, but wait by letting others go on."""
        mine = self.current
        while True:
            try:
                self.real_flock(file, operation | fcntl.LOCK_NB)
            except BlockingIOError:
                if operation & fcntl.LOCK_NB:
                    raise
                if mine.ended:
                    raise Ended from None
                self.pause()
            else:
                self.locks[file] = mine
                return

    def release_locks(self, process):
        """Release the locks of a process that ended, as the system does."""
        for file in [file for file, owner in self.locks.items() if owner is process]:
            del self.locks[file]
            with suppress(OSError):
                self.real_flock(file, fcntl.LOCK_UN)


class SharedDisk(SimulatedDisk):
    """A disk that several processes use; each operation is somebody's turn."""

    turns: Turns | None = None

    @property
    def ended(self):
        return self.turns is not None and self.turns.current.ended

    @ended.setter
    def ended(self, value):
        if self.turns is not None:
            for process in self.turns.processes if self.all_end else [self.turns.current]:
                process.ended = value

    @property
    def process(self):
        return 0 if self.turns is None else self.turns.current.number

    @process.setter
    def process(self, value):
        pass

    all_end = False

    def _step(self, *failing):
        if self.turns is not None:
            self.turns.pause()
            mine = self.turns.current
            if mine.ended and not mine.noticed:  # another one's operation ended it, too
                mine.noticed = True
                raise Ended
        try:
            return super()._step(*failing)
        except Ended:
            if self.turns is not None:
                self.turns.current.noticed = True
            raise

    def _omits(self, operation):
        return False


class Contest(Writer):
    """Work of several processes at once, and of one alone that finishes."""

    def works(self):
        """What each process does."""
        raise NotImplementedError

    def work(self):
        """What a process alone does in the end."""
        raise NotImplementedError

    def whole(self):
        """What `check` expects: made once, without faults."""
        raise NotImplementedError


class OneBundle(Contest):
    """Two runs write evidence to one place."""

    RUNS = ("aa" * 16, "bb" * 16)

    def _write(self, run):
        with BundleWriter(self.root / "out", run, SPECS, DIGEST, sources={}, identity=run) as writer:
            for event in EVENTS:
                writer.add(event)
            writer.finish(attach=UNSIGNED.attach)
        self.acknowledged = 1

    def works(self):
        return [lambda run=run: self._write(run) for run in self.RUNS]

    def work(self):
        self._write(self.RUNS[0])

    def whole(self):
        """The bytes of each run alone."""
        found = []
        for run in self.RUNS:
            with tempfile.TemporaryDirectory() as folder:
                alone = OneBundle(Path(folder))
                alone._write(run)
                found.append(alone.content())
        return found

    def check(self, whole):
        there = {path: data for path, data in self.content().items() if path.startswith("out/")}
        aside = [
            {f"out/{path.relative_to(folder)}": path.read_bytes() for path in folder.rglob("*") if path.is_file()}
            for folder in self.root.glob(".out.*/earlier")
        ]
        assert not there or there in whole, "what is at the place is of both"
        assert all(files in whole for files in aside), "what was set aside is of both"
        assert not self.acknowledged or there or aside, "finished evidence is lost"


class OneRunLog(Contest):
    """Two processes announce attempts and enter their results."""

    def __init__(self, root):
        super().__init__(root)
        self.announced = []

    def _enter(self, purpose):
        attempt = attempt_of("suite", "heights", "c" * 64, "d" * 32, [2, 1], purpose)
        number, _ = announce(self.root / "log", attempt)
        self.announced.append((purpose, number))
        enter(self.root / "log", result_of(number, RunLog.MANIFEST))

    def works(self):
        return [lambda purpose=purpose: self._enter(purpose) for purpose in ("to see", "to be sure")]

    def work(self):
        self._enter("in the end")

    def whole(self):
        return None

    def check(self, _):
        RunLog.reopen(RunLog(self.root))
        lines = (self.root / "log").read_bytes().splitlines() if (self.root / "log").exists() else []
        if lines:
            read_runlog((self.root / "log").read_bytes())
        for purpose, number in self.announced:
            assert any(purpose.encode() in line for line in lines[number : number + 1]), "an attempt is lost"


class OneAuditLog(Contest):
    """Two runs append to one audit log: one of them is refused while the other one has it."""

    def __init__(self, root):
        super().__init__(root)
        self.logs = [LiveAudit(root) for _ in range(2)]

    def works(self):
        return [log.work for log in self.logs]

    def work(self):
        self.logs[0].work()

    def whole(self):
        with tempfile.TemporaryDirectory() as folder:
            alone = LiveAudit(Path(folder))
            alone.work()
            return alone.content()

    def check(self, whole):
        for log in self.logs:
            log.check(whole)


class OneConversation(Contest):
    """Two guards seal one conversation."""

    def __init__(self, root):
        super().__init__(root)
        first = SealedConversation(root)
        self.guards: list[Pipeline] = [first, first.beside()]

    def works(self):
        return [guard.work for guard in self.guards]

    def work(self):
        self.guards[0].work()

    def whole(self):
        with tempfile.TemporaryDirectory() as folder:
            alone = SealedConversation(Path(folder))
            alone.work()
            return alone.content()

    def check(self, whole):
        for guard in self.guards:
            guard.check(whole)


class OneSuite(OneConversation):
    """Two processes run one suite to one place."""

    def __init__(self, root):
        Contest.__init__(self, root)
        self.guards = [WholeSuite(root), WholeSuite(root)]

    def whole(self):
        with tempfile.TemporaryDirectory() as folder:
            alone = WholeSuite(Path(folder))
            alone.work()
            return alone.content()

    def check(self, whole):
        kept = [path for path in self.root.glob(".out.*/earlier") if path.is_dir()]
        for suite in self.guards:
            if not suite.content() and kept:
                continue  # the next run puts it back
            suite.check(whole)


CONTESTS: dict[str, type[Contest]] = {
    "one place": OneBundle,
    "one run log": OneRunLog,
    "one audit log": OneAuditLog,
    "one conversation": OneConversation,
    "one suite": OneSuite,
}
_WHOLE: dict = {}


def schedule(name, seed, place):
    """Let the processes of a contest run as a seed says; AssertionError if something does not hold."""
    chance = random.Random(f"{name} {seed}")
    if name not in _WHOLE:
        with tempfile.TemporaryDirectory() as folder:
            _WHOLE[name] = CONTESTS[name](Path(folder)).whole()
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir()
    simulated = SharedDisk(place, chance.random())
    with put_in(simulated), leaving_nothing_open():
        contest = CONTESTS[name](place)
        simulated.adopt()
        simulated.start(chance.randrange(1, 250) if chance.random() < 0.7 else None)
        simulated.all_end = chance.random() < 0.5
        turns = simulated.turns = Turns(chance, contest.works())
        try:
            turns.run()
        finally:
            simulated.turns = None
        simulated.start()
    with put_in(simulated), leaving_nothing_open():
        if simulated.all_end or chance.random() < 0.5:
            simulated.lose_power()
        contest.check(_WHOLE[name])
        simulated.start()
        contest.work()
        simulated.lose_power()
        contest.check(_WHOLE[name])
    return len(contest.works())


explore = partial(crashes.explore, run=schedule, faults=PLANTED, module="tests.crash_processes")
find = partial(crashes.find, explore=explore)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        explore(sys.argv[1], [int(sys.argv[2])], Path(folder) / "root", *sys.argv[3:])
