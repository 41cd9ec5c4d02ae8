"""How a run speaks with its agent from outside: the greeting, the oracle, and how what is asked is counted."""

from __future__ import annotations

from typing import Any

from specledger.compile.plan import Plan, PlannedOutside
from specledger.core.diagnostics import Diagnostic, Rejected
from specledger.oracles.outside import E_AGENT_UNTRUSTED
from specledger.oracles.recording import Oracle
from specledger.oracles.spending import Spending
from specledger.run.session import Session


def session_of(plan: Plan, *, kernel: bool) -> Session:
    """The conversation with the agent of a run.

    Raises:
        Rejected: E_AGENT_UNTRUSTED, if the plan has no oracle.
    """
    return Session(_oracle(plan), lambda: greeting(plan), kernel=kernel)


def _oracle(plan: Plan) -> Oracle:
    if plan.oracle is None:
        message = f"the agent of {plan.name} is outside, and neither a tape nor a trusted agent answers for it"
        raise Rejected([Diagnostic(E_AGENT_UNTRUSTED, message)])
    model = asked_of(plan).model
    plan.oracle.spending = Spending(model=model is not None, price=None if model is None else model.price)
    return plan.oracle


def asked_of(plan: Plan) -> PlannedOutside:
    """Who is asked in a run whose agent is outside."""
    assert plan.outside is not None  # noqa: S101 - see `loop.controllers_of`
    return plan.outside


def greeting(plan: Plan) -> dict[str, Any]:
    """The fields of `hello` that depend on the run."""
    asked, kernel = asked_of(plan), plan.actors[0].kernel
    return {
        "scenario": plan.name,
        "operations": asked.operations,
        "variables": [] if kernel is None else kernel.narration.views.names(plan.start(0)),
        "claims": {name: str(type_) for name, type_ in sorted(asked.claims.items())} if kernel is None else {},
        "forms": [] if kernel is None else list(kernel.vocabulary.forms),
        "document": kernel is not None,
    }
