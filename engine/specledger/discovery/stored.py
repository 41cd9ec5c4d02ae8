"""What a store gives back, taken only as far as a step of this discovery can have stored it.

Decides that a result belongs to the step that it is committed as, and that an iteration's answer is the one that its
result was made from. Refuses to know whether a verdict is right: a store is trusted as far as the memory of the process
is, and verification judges what comes of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from specledger.core.canonical import canonical_bytes
from specledger.core.diagnostics import Diagnostic, Rejected
from specledger.core.digest import tagged
from specledger.core.events import Event
from specledger.discovery.codes import E_STORE_BROKEN
from specledger.discovery.discovery_state import Record
from specledger.discovery.plan import PROPOSE
from specledger.discovery.proposer import ask_for
from specledger.discovery.step import ANSWER_TAG, Workbench
from specledger.oracles.model import ModelAnswer

UNFIT: Final = (LookupError, TypeError, ValueError, AttributeError)
"""What reading a document raises that is not what it must be."""

_TRIED: Final = {"law", "document", "verdict", "error"}
_PROPOSAL: Final = {
    *("iteration", "snapshot", "prompt", "request", "answer"),
    *("rejections", "redundant", "warnings", "sensitivity"),
}


def take_stored(record: Record, kind: str, result: Any, shown: str) -> list[Event]:
    """Commit the result of the next step, as a store gives it.

    Args:
        record: What was committed before.
        kind: What the step is.
        result: What the store holds.
        shown: The store, in words.

    Raises:
        Rejected: E_STORE_BROKEN, if the step cannot have come to that.
    """
    position = record.position
    try:
        _check_result(record, kind, result)
        return record.take(kind, result)
    except UNFIT as error:
        why = f"{type(error).__name__}: {error}"
    except Rejected as rejected:
        why = rejected.diagnostics[0].message
    raise broken_step(shown, position, why)


def _check_result(record: Record, kind: str, result: Any) -> None:
    keys = {"features"} if kind == PROPOSE else {"held_out"}
    if result.keys() != ({"proposal", "laws"} if kind == PROPOSE else {"laws"}):
        raise ValueError("it is that of another kind of step")
    if any(entry.keys() != _TRIED | keys for entry in result["laws"]):
        raise ValueError("a law of it has other fields")
    if kind != PROPOSE:
        return
    proposal = result["proposal"]
    if proposal.keys() != _PROPOSAL:
        raise ValueError("its proposal has other fields")
    snapshot = record.view(record.position, kind).digest
    if proposal["iteration"] != record.iterations or proposal["snapshot"] != snapshot:
        raise ValueError("it is that of another step")


def check_answer(
    workbench: Workbench, identity: Mapping[str, Any], record: Record, result: Any, kept: Any, shown: str
) -> None:
    """See that the next iteration's answer is the one that its result was made from.

    Args:
        workbench: What the question is made with.
        identity: Of the model.
        record: What was committed before the iteration.
        result: Of the iteration.
        kept: What the store holds as its answer; None for nothing.
        shown: The store, in words.

    Raises:
        Rejected: E_STORE_BROKEN.
    """
    try:
        view = record.view(record.position, PROPOSE)
        _, request = ask_for(workbench.tools, view.memory, workbench.request, record.iterations)
        answer = read_answer(kept, request.key(identity), record.iterations)
        stated = result["proposal"]["request"], result["proposal"]["answer"]["digest"]
    except UNFIT as error:
        raise broken_step(shown, record.position, f"{type(error).__name__}: {error}") from None
    if stated != (_digest(request.document()), _digest(answer.document())):
        raise broken_step(shown, record.position, "it was made from another answer")


def read_answer(kept: Any, key: str | None, iteration: int) -> ModelAnswer:
    """An answer that was kept, if it is one to this request; to any, if none is named.

    Raises:
        Rejected: E_STORE_BROKEN.
    """
    try:
        if key is not None and kept["request"] != key:
            raise ValueError("it was given to another request")
        return ModelAnswer.read(kept["answer"])
    except UNFIT as error:
        message = f"the answer of iteration {iteration} cannot be used: {error}"
        raise Rejected([Diagnostic(E_STORE_BROKEN, message)]) from None


def broken_step(shown: str, position: int, why: str) -> Rejected:
    """What is said of a step whose result cannot be used."""
    return Rejected([Diagnostic(E_STORE_BROKEN, f"{shown}: the result of step {position} cannot be used: {why}")])


def _digest(document: Mapping[str, Any]) -> str:
    return tagged(ANSWER_TAG, canonical_bytes(document))
