"""`python -m bench.floor [steps]`: what a step of the engine takes at least, beside the hand-written loop.

Measured in turns, by processor time: the hand-written loop, the engine, and what the engine calls in one run, called
again without the loop: the functions that it generates of expressions, and the digests and lines of its receipts. Then
the engine with every expression interpreted, in place of generated code. The hand-written loop makes the same receipts,
so it needs the same digests and lines.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import wraps
from typing import Any, Final
from unittest.mock import patch

from bench.clock import Piece, measure
from bench.pieces import run_engine, run_handwritten
from bench.results import machine
from bench.task import read_task
from specledger.compile.scenario import compile_scenario
from specledger.core.events import Event
from specledger.evidence.chain import Chain, run_id
from specledger.expr.generate import compiler
from specledger.expr.generate.emitter import Emitter
from specledger.gates import capability
from specledger.kinds import load
from specledger.load import Bundle
from specledger.run import decision, episode
from specledger.run.loop import run

SCENARIO: Final = "specs/scenario/hazard.yaml"
AIM: Final = 1.2
_DIGESTS: Final = {
    episode: (
        "leaves_of",
        "observation_digest",
        "proposal_digest",
        "scope_digest",
        "set_root",
        "state_digest",
        "write",
    ),
    decision: ("part_tip", "state_digest"),
    capability: ("leaf", "proposal_digest", "token_id"),
}
Function = Callable[..., Any]


class Calls:
    """The outermost calls of some functions, in their order."""

    def __init__(self) -> None:
        """Record nothing yet."""
        self.kept: list[tuple[Function, tuple[Any, ...]]] = []
        self.wrapped: dict[Function, Function] = {}
        self._inside = True

    def wrap(self, function: Function) -> Function:
        """A function whose calls are recorded."""

        @wraps(function)
        def call(*given: Any) -> Any:
            if self._inside:
                return function(*given)
            self._inside = True
            try:
                self.kept.append((function, given))
                return function(*given)
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
        for function, given in self.kept:
            function(*given)


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


def digests_of(work: Callable[[], list[Event]]) -> tuple[Calls, list[Event]]:
    """The calls by which some work makes digests and canonical forms, and its events."""
    calls, events = Calls(), list[Event]()
    patches = [patch.object(m, name, calls.wrap(getattr(m, name))) for m, names in _DIGESTS.items() for name in names]
    for change in patches:
        change.start()
    calls.record(lambda: events.extend(work()))
    for change in patches:
        change.stop()
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


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m bench.floor", description=__doc__)
    parser.add_argument("steps", nargs="?", type=int, default=2_000, help="steps of a round at least (default 2000)")
    parser.add_argument("--rounds", type=int, default=7, help="rounds that are counted (default 7)")
    options = parser.parse_args()
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
