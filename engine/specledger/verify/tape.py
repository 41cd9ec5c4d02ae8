"""Replay of a run that asked outside: its answers are read off the tape, and nobody is asked.

Decides that a tape fits its run: every decision finds its answer there, and every answer its decision.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from specledger.compile.plan import Plan
from specledger.core.events import Event
from specledger.evidence.layout import TAPE
from specledger.oracles.tape import E_TAPE_MISSING, Oracle, Tape, TapeError, read_tape
from specledger.verify.checks import Broken


def tape_at(place: Path) -> Tape | None:
    """The tape of a bundle, if it has one.

    Raises:
        Broken: E_TAPE_FORM.
    """
    try:
        return read_tape(place / TAPE) if (place / TAPE).exists() else None
    except TapeError as error:
        raise Broken(error.code, error.message) from None


def played(
    plan: Plan, tape: Tape | None, run: Callable[[Plan, Any], Iterator[Event]]
) -> Callable[[Any], Iterator[Event]]:
    """What makes a run from its plan and its tape, as often as it is called; it takes what is told of its progress.

    Raises:
        Broken: E_TAPE_MISSING, if the agent is outside and there is no tape.
    """
    if tape is not None:
        return lambda progress: _play(plan, tape, lambda again: run(again, progress))
    if plan.outside is not None:
        raise Broken(E_TAPE_MISSING, "the agent is outside, and the evidence holds no tape of what it answered")
    return lambda progress: run(plan, progress)


def _play(plan: Plan, tape: Tape, run: Callable[[Plan], Iterator[Event]]) -> Iterator[Event]:
    """The events of a run whose answers are read off its tape.

    Raises:
        Broken: E_TAPE_MISSING, E_TAPE_EXTRA.
    """
    oracle = Oracle(tape)
    try:
        yield from run(replace(plan, oracle=oracle))
        oracle.finish()
    except TapeError as error:
        raise Broken(error.code, error.message) from None
