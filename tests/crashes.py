"""Crashes of writers on a simulated disk, and what must hold after each.

    python -m tests.crashes WRITER SEED [PLANTED]      # one schedule again
    python -m tests.crashes WRITER FIRST..LAST         # many, with the processor time of each

A schedule is drawn from its seed: up to three processes do a writer's work one after another, each is killed or loses the
power at some operation, and an operation may fail before. After each end, nothing that was acknowledged may be missing and
nothing half-written may count; a last process finishes, and its bytes are those of a run without faults.
"""

import os
import random
import shutil
import sys
import tempfile
import time
from contextlib import contextmanager, nullcontext, suppress
from functools import cache
from pathlib import Path

from specledger.core import disk
from specledger.core.diagnostics import Rejected
from tests.crash_pipelines import PIPELINES
from tests.crash_writers import WRITERS
from tests.planted_faults import PLANTED
from tests.simulated_disk import Ended, SimulatedDisk

ALL = {**WRITERS, **PIPELINES}


class WrongError(AssertionError):
    """A schedule after which something does not hold, and how to repeat it."""


@contextmanager
def put_in(simulated):
    """Let the product write to a simulated disk."""
    real, disk.SYSTEM = disk.SYSTEM, simulated
    try:
        yield
    finally:
        disk.SYSTEM = real


@contextmanager
def leaving_nothing_open():
    """Close what an ended process left open, as the system does, and so release its locks."""
    before = open_descriptors()
    yield
    for left in open_descriptors() - before:
        os.close(left)


def open_descriptors():
    """What is open in this process, without what the listing opens for itself: its number is free again."""
    descriptors = set()
    for name in os.listdir("/proc/self/fd"):
        with suppress(OSError):
            os.fstat(int(name))
            descriptors.add(int(name))
    return descriptors


def attempt(writer, simulated):
    """A process does the work: whether it came to its end."""
    with leaving_nothing_open():
        try:
            writer.work()
        except Ended:
            return False
        except (OSError, Rejected):
            if simulated.fail_at is not None or not simulated.failed:
                raise
            return False
    return not simulated.ended


def measure(make):
    """How many operations the work of a writer has, and its bytes without a fault."""
    with tempfile.TemporaryDirectory() as place:
        simulated = SimulatedDisk(Path(place) / "root", 0)
        (Path(place) / "root").mkdir()
        with put_in(simulated):
            writer = make(simulated.root)
            simulated.adopt()
            simulated.start()
            writer.work()
            return simulated.operations, writer.content()


@cache
def measured(name):
    """The same by the name of a writer; to be asked for where no fault is planted."""
    return measure(ALL[name])


def schedule(name, seed, place):
    """Run the schedule of a seed; AssertionError if something does not hold. How often a process ended."""
    make = ALL[name]
    operations, expected = measured(name)
    chance = random.Random(f"{name} {seed}")
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir()
    simulated, ends = SimulatedDisk(place, chance.random()), 0
    with put_in(simulated):
        writer = make(place)
        simulated.adopt()
        lies = writer.survives_lies and chance.random() < 0.1
        for _ in range(chance.randint(1, 3)):
            simulated.lying = 0.5 if lies else 0.0
            failing = chance.randrange(1, operations + 1) if not lies and chance.random() < 0.3 else None
            simulated.start(chance.randrange(1, operations + 2), failing)
            attempt(writer, simulated)
            ends += 1
            stale = simulated.stale  # nobody answered the error
            simulated.start()
            if stale or chance.random() < 0.7:
                simulated.lose_power()
            if lies:
                writer.forget()
            if chance.random() < 0.7:
                writer.check(expected)
        simulated.lying = 0.0
        simulated.start()
        assert attempt(writer, simulated), "a process without faults does not finish"
        assert writer.content() == expected, "the bytes are other ones"
        simulated.lose_power()
        writer.check(expected)
        assert writer.content() == expected, "what was finished is not on the disk"
    return ends + 1


def explore(name, seeds, place, planted=None, *, run=schedule, faults=PLANTED, module=__name__):
    """Run the schedules of seeds; how many processes ended. WrongError names the first seed that fails."""
    ends = 0
    if run is schedule:
        measured(name)
    for seed in seeds:
        try:
            with faults[planted]() if planted else nullcontext():
                ends += run(name, seed, place)
        except Exception as error:
            again = f"python -m {module} '{name}' {seed}" + (f" '{planted}'" if planted else "")
            raise WrongError(f"{error!r}\n\nagain: {again}", seed) from error
    return ends


def find(name, planted, seeds, place, explore=explore):
    """The first seed at which a planted fault shows, or None."""
    try:
        explore(name, seeds, place, planted)
    except WrongError as error:
        seed: int = error.args[1]
        return seed
    return None


def main(name, seeds, planted=None):
    """Run what the command line says."""
    first, _, last = seeds.partition("..")
    with tempfile.TemporaryDirectory() as folder:
        began = time.process_time()
        ends = explore(name, range(int(first), int(last or first) + 1), Path(folder) / "root", planted)
        took = time.process_time() - began
    print(f"{name}: {ends} crashes, {took:.1f} s of processor time, {1000 * took / ends:.2f} ms each")


if __name__ == "__main__":
    main(*sys.argv[1:])
