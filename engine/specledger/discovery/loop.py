"""The loop of a discovery: its steps, one after the other, as facts.

Decides nothing that `record` and `step` do not: here they meet. `run_discovery` makes every step; `retell` reads what
workers have made of them. Both give the same facts. Source: law proposer, section 11.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from specledger.core.diagnostics import Diagnostic, Rejected
from specledger.core.events import Event
from specledger.discovery.codes import E_STORE_BROKEN
from specledger.discovery.discovery_state import Record, start_event
from specledger.discovery.plan import PROPOSE, DiscoveryPlan
from specledger.discovery.step import Ask, Workbench, do_step
from specledger.discovery.stored import check_answer, take_stored

if TYPE_CHECKING:
    from specledger.discovery.store import Store

Progress = Callable[[int, int], None]


def run_discovery(
    workbench: Workbench, identity: Mapping[str, Any], ask: Ask, progress: Progress | None = None
) -> Iterator[Event]:
    """Make a discovery in this process.

    Args:
        workbench: What steps are done with.
        identity: Of the model.
        ask: Gives the answer to a request.
        progress: Called with (steps done, steps at most).

    Raises:
        Rejected: The model cannot be asked.
    """
    record = Record(workbench.plan)
    yield start_event(workbench.plan, identity)
    while not record.closed:
        position, kind, iteration = next(record.steps())
        yield from record.take(kind, do_step(workbench, kind, iteration, record.view(position, kind), ask))
        if progress is not None:
            progress(*reached(workbench.plan, record))


def retell(workbench: Workbench, identity: Mapping[str, Any], store: Store) -> Iterator[Event]:
    """Tell the facts of a discovery that has ended, from what its workers have stored.

    Raises:
        Rejected: E_STORE_BROKEN, if it has not ended, since a result is missing, or if a result cannot be used, or was
            made from another answer than the one that is kept.
    """
    record, answers = Record(workbench.plan), dict(store.answers())
    yield start_event(workbench.plan, identity)
    for position, kind, result in store.results(0):
        if not record.closed and (position, kind) == next(record.steps())[:2]:
            if kind == PROPOSE:
                check_answer(workbench, identity, record, result, answers.get(record.iterations), store.shown)
            yield from take_stored(record, kind, result, store.shown)
    if not record.closed:
        message = f"{store.shown}: the result of step {record.position} is missing"
        raise Rejected([Diagnostic(E_STORE_BROKEN, message)])


def reached(plan: DiscoveryPlan, record: Record) -> tuple[int, int]:
    """How many steps are done, and how many there are at most."""
    return (plan.most_steps if record.closed else min(record.position, plan.most_steps - 1)), plan.most_steps
