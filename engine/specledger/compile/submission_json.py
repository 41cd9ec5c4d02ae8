"""What a receipt says of a submission: the action that is committed to, and the document or its hash."""

from __future__ import annotations

from typing import Any, Final

from specledger.core.canonical import parse_canonical
from specledger.gates.digests import Submission

MOST_SHOWN: Final = 1 << 18
"""Bytes of a document that a receipt holds; a longer one is shown as its hash."""


def first_action(submission: Submission) -> dict[str, Any]:
    """The action of a plan's first step, as it is committed to; an operation that no world has, if there is none."""
    form = next(iter(submission.actions), b"")
    if not form:
        return {"op": ""}
    action: Any = parse_canonical(form)
    return dict(action)


def shown(submission: Submission) -> str:
    """A submission as a receipt holds it: its canonical form, or the hash that stands for what has none, or is long."""
    form = submission.form
    return submission.proposal_hash if form is None or len(form) > MOST_SHOWN else form.decode()
