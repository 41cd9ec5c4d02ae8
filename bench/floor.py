"""`python -m bench.floor [steps] [--suite FILE [--first FOLDER]]`: what a step of the engine, or a suite, takes at least.

Measured in turns, by processor time: the hand-written loop, the engine, and what the engine calls in one run, called
again without the loop: the functions that it generates of expressions, and the digests and lines of its receipts. Then
the engine with every expression interpreted, in place of generated code. The hand-written loop makes the same receipts,
so it needs the same digests and lines. Of a suite, its runs are measured, with their replay, and of what they call the
expressions, and the digests, lines and parsing; beside them the whole command, and that of another version, whose
checkout is in a folder. Versions whose suites differ are compared for a receipt.
"""

from __future__ import annotations

import argparse
import gc
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial, wraps
from math import inf
from pathlib import Path
from time import process_time
from types import FunctionType
from typing import Any, Final
from unittest.mock import patch

from bench.clock import Piece, measure
from bench.pieces import run_engine, run_handwritten
from bench.results import machine
from bench.task import read_task
from specledger.compile.scenario import compile_scenario
from specledger.compile.suite import DeferredPlan
from specledger.core.digest import file_digest
from specledger.core.events import Event
from specledger.core.weight import write
from specledger.evidence.chain import Chain, run_id
from specledger.evidence.layout import RECEIPTS
from specledger.expr.generate import compiler
from specledger.expr.generate.emitter import Emitter
from specledger.kinds import load
from specledger.kinds.suite import SuiteRuns
from specledger.load import Bundle
from specledger.run.loop import run

SCENARIO: Final = "specs/scenario/hazard.yaml"
AIM: Final = 1.2
_DIGESTS: Final = tuple(f"specledger.core.{name}" for name in ("binding", "canonical", "digest", "merkle"))
Function = Callable[..., Any]


class Calls:
    """The outermost calls of some functions, in their order."""

    def __init__(self) -> None:
        """Record nothing yet."""
        self.kept: list[partial[Any]] = []
        self.wrapped: dict[Function, Function] = {}
        self._inside = True

    def wrap(self, function: Function) -> Function:
        """A function whose calls are recorded, unless they raise."""

        @wraps(function)
        def call(*given: Any, **named: Any) -> Any:
            if self._inside:
                return function(*given, **named)
            self._inside = True
            try:
                value = function(*given, **named)
                self.kept.append(partial(function, *given, **named))
                return value
            finally:
                self._inside = False

        self.wrapped[call] = function
        return call

    def record(self, work: Callable[[], object]) -> None:
        """Record what some work calls."""
        self._inside = False
        work()
        self._inside = True

    def again(self) -> None:
        """Call all of it again."""
        for call in self.kept:
            call()

    def split(self) -> tuple[Calls, Calls]:
        """The digests and canonical forms; all else."""
        parts = Calls(), Calls()
        for call in self.kept:
            parts[not _is_digest(call.func)].kept.append(call)
        return parts


def _is_digest(function: Function) -> bool:
    """Whether a function makes digests and canonical forms, or parses these; files are gone when it is called again."""
    digests = isinstance(function, FunctionType) and (function.__module__ in _DIGESTS or function is write)
    return digests and function is not file_digest


@contextmanager
def generated(calls: Calls) -> Iterator[None]:
    """Record calls of the functions that are generated meanwhile, as soon as `calls` records.

    At the end the functions call one another without what records them.
    """
    build = Emitter.build
    spaces: list[dict[str, Any]] = []

    def built(emitter: Emitter, slower: Mapping[str, Function] | None = None) -> Mapping[str, Function]:
        functions = build(emitter, slower)
        spaces.extend(function.__globals__ for function in functions.values())
        return {name: calls.wrap(function) for name, function in functions.items()}

    with patch.object(Emitter, "build", built):
        yield
    for space in spaces:
        space.update({n: calls.wrapped[f] for n, f in space.items() if callable(f) and f in calls.wrapped})


@contextmanager
def digesting(calls: Calls) -> Iterator[None]:
    """Record calls of the functions by which modules outside make digests and canonical forms, and parse these."""
    modules = [
        module for name, module in sys.modules.items() if name.startswith("specledger.") and name not in _DIGESTS
    ]
    changes = [
        patch.object(module, name, calls.wrap(function))
        for module in modules
        for name, function in vars(module).items()
        if _is_digest(function)
    ]
    for change in changes:
        change.start()
    yield
    for change in changes:
        change.stop()


def digests_of(work: Callable[[], list[Event]]) -> tuple[Calls, list[Event]]:
    """The calls by which some work makes digests and canonical forms, and its events."""
    calls, events = Calls(), list[Event]()
    with digesting(calls):
        calls.record(lambda: events.extend(work()))
    return calls, events


def pieces_of(bundle: Bundle) -> tuple[list[Piece], int]:
    """What is measured, and the steps of a round."""
    task, plan = read_task(bundle), compile_scenario(bundle)
    expressions = Calls()
    with generated(expressions):
        recorded = compile_scenario(load(SCENARIO, set=[f"episodes={task.episodes}"])[0])
        expressions.record(lambda: [*run(recorded)])
    with patch.object(compiler, "Emitter", lambda **_: Emitter(exact=True)):
        interpreted = compile_scenario(load(SCENARIO, set=[f"episodes={task.episodes}"])[0])
    digests, events = digests_of(lambda: [*run(plan)])
    steps: int = run_engine(plan)[1]["steps"]

    def seal() -> int:
        digests.again()
        chain = Chain(run_id(plan.specs))
        for event in events:
            chain.seal(event)
        return steps

    def evaluate() -> int:
        expressions.again()
        return steps

    return [
        Piece("hand-written loop", lambda: int(run_handwritten(task)[1]["steps"])),
        Piece("engine", lambda: int(run_engine(plan)[1]["steps"])),
        Piece("its expressions alone", evaluate),
        Piece("its digests and lines alone", seal),
        Piece("engine, expressions interpreted", lambda: int(run_engine(interpreted)[1]["steps"])),
    ], steps


def measure_suite(file: str, changes: Sequence[str], rounds: int, first: Path | None) -> None:
    """Measure the runs of a suite, then what they call, then whole commands, and print."""
    bundle = load(file, set=list(changes))[0]
    calls, least, receipts = Calls(), dict[str, float](), dict[str, int]()

    def run_all() -> None:
        deferred = DeferredPlan(bundle)
        with tempfile.TemporaryDirectory(prefix="bench-") as folder:
            runs = SuiteRuns(folder, deferred, trusted=False, record=False)
            for number in range(len(deferred.plan.cases)):
                runs(number)

    with generated(calls), digesting(calls):
        calls.record(run_all)
    digests, expressions = calls.split()
    words = ["run", file, *(f"--set={change}" for change in changes), "--workers=1"]
    trees = {"whole command": Path.cwd()} | ({} if first is None else {"whole command of the other version": first})
    for _ in range(rounds):
        for name, work in (
            ("runs of the suite", run_all),
            ("their expressions alone", expressions.again),
            ("their digests, lines and parsing alone", digests.again),
        ):
            gc.collect()
            began = process_time()
            work()
            least[name] = min(least.get(name, inf), process_time() - began)
        for name, tree in trees.items():
            seconds, receipts[name] = whole_command(tree, words)
            least[name] = min(least.get(name, inf), seconds)
    least["both parts: runs that take nothing else"] = sum([*least.values()][1:3])
    print(
        f"{Path(file).stem}: {len(calls.kept):,} calls; least of {rounds} rounds; {machine()}, load {os.getloadavg()[0]:.1f}"
    )
    own, other = receipts["whole command"], [*receipts.values()][-1]
    base = least[[*trees][-1]] / other
    print("| what | s of CPU | us a receipt | of the last command, a receipt |\n| --- | --- | --- | --- |")
    for name, seconds in least.items():
        part = seconds / receipts.get(name, own)
        print(f"| {name} | {seconds:.2f} | {part * 1e6:.0f} | {part / base:.2f} |")


def whole_command(tree: Path, words: Sequence[str]) -> tuple[float, int]:
    """The seconds of CPU of `spec` in the checkout of some version, and how many receipts its evidence has.

    Raises:
        RuntimeError: It did not run.
    """
    environment = {**os.environ, "PYTHONPATH": str(tree / "engine")}
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        command = [sys.executable, "-P", "-m", "specledger", *words, f"--out={folder}/out"]
        with subprocess.Popen(command, cwd=tree, env=environment, stdout=subprocess.DEVNULL) as process:
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
        lines = sum(path.read_bytes().count(b"\n") for path in Path(folder).rglob(RECEIPTS))
    if not lines:
        raise RuntimeError(f"{tree}: `spec {' '.join(words)}` ended with status {process.returncode}")
    return usage.ru_utime + usage.ru_stime, lines


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m bench.floor", description=__doc__)
    parser.add_argument("steps", nargs="?", type=int, default=2_000, help="steps of a round at least (default 2000)")
    parser.add_argument("--rounds", type=int, default=7, help="rounds that are counted (default 7)")
    parser.add_argument("--suite", metavar="FILE", help="measure the runs of a suite instead")
    parser.add_argument(
        "--set", action="append", default=[], metavar="PATH=VALUE", help="change the suite, as `spec run`"
    )
    parser.add_argument("--first", metavar="FOLDER", type=Path, help="measure the version in a checkout, too")
    options = parser.parse_args()
    if options.suite is not None:
        measure_suite(options.suite, options.set, options.rounds, options.first)
        return
    horizon = load(SCENARIO)[0].main.model.horizon  # type: ignore[attr-defined]
    made, steps = pieces_of(load(SCENARIO, set=[f"episodes={-(-options.steps // horizon)}"])[0])
    least = {measured.name: min(measured.cpu) / steps * 1e6 for measured in measure(made, options.rounds)}
    hand = least["hand-written loop"]
    print(f"{steps:,} steps a round, least of {options.rounds} rounds; {machine()}, load {os.getloadavg()[0]:.1f}")
    print("| what | us a step | of the hand-written loop's speed |\n| --- | --- | --- |")
    for name, micro in least.items():
        print(f"| {name} | {micro:.0f} | {hand / micro:.2f} |")
    floor = least["its expressions alone"] + least["its digests and lines alone"]
    print(f"| expressions, digests and lines: a loop that takes nothing | {floor:.0f} | {hand / floor:.2f} |")
    print(f"{AIM} of its speed are {hand / AIM:.0f} us a step")


if __name__ == "__main__":
    main()
