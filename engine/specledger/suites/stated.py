"""Where a suite states a change: the arm or the mutant, and the path, for findings about what comes of it."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from specledger.core.diagnostics import Diagnostic
from specledger.core.spans import Span
from specledger.load import Resolved
from specledger.spec.suite import Suite

_PLACES = ("set", "under")


def stated_by(suite: Resolved, at: Sequence[str | int]) -> str:
    """The arm or the mutant at a path of a suite."""
    if at[0] == "runs":
        return f"arm `{at[1]}` of `{suite.name}`"
    assert isinstance(suite.model, Suite)  # noqa: S101 - a reference of kind suite holds nothing else
    return f"mutant `{suite.model.mutants[int(at[1])].id}` of `{suite.name}`"


def with_change(suite: Resolved, finding: Diagnostic, mutant: int | None = None) -> Diagnostic:
    """A finding about the value of a change, with the arm or mutant that states it and the path.

    Where another file is named in a run of a `mutant`, by its place among the mutants, all of its changes follow.
    """
    for path, node in suite.origins.items():
        if len(path) == 4 and path[2] in _PLACES and finding.span is not None and _is_in(finding.span, node.span):
            text = f"set by {stated_by(suite, path)}: `{path[3]}`"
            return replace(finding, related=(*finding.related, (text, node.key_span)))
    changes = () if mutant is None else suite.origins.items()
    related = [
        (f"set by {stated_by(suite, path)}: `{path[3]}`", node.key_span)
        for path, node in changes
        if len(path) == 4 and path[:2] == ("mutants", mutant) and path[2] in _PLACES
    ]
    return replace(finding, related=(*related, *finding.related)) if related else finding


def _is_in(inner: Span, outer: Span) -> bool:
    return inner.file == outer.file and outer.start <= inner.start and inner.end <= outer.end
