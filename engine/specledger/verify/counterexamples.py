"""The failing cases of a bundle: folded from its receipts again, and compared byte for byte."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from specledger.core.canonical import NotCanonical
from specledger.core.diagnostics import code
from specledger.evidence.counterexamples import Finder, find_cases, parts_of
from specledger.verify.checks import Broken

E_COUNTEREXAMPLES = code(
    "E_COUNTEREXAMPLES",
    "the failing cases are not those of the receipts",
    "`counterexamples/` holds the receipts that show a failure for the first time: a probe, an invariant, an error, a "
    "step without a choice, a refuted law. They are taken from the receipts again. One is missing, is one too many, or "
    "says something else.",
)


def check_counterexamples(place: Path, paths: Sequence[str], find: Finder, read: Callable[[], Iterable[bytes]]) -> str:
    """Check that the failing cases of a bundle are those that its receipts show.

    Args:
        place: The bundle.
        paths: The files of the cases, which are plain ones.
        find: Finds the failing cases of the kind.
        read: Gives the receipts from the first to the last, which are read twice.

    Returns:
        How many there are.

    Raises:
        Broken: E_COUNTEREXAMPLES.
    """
    try:
        cases = find_cases(find, read())
    except (NotCanonical, LookupError, TypeError, AttributeError) as error:
        raise Broken(E_COUNTEREXAMPLES, f"a receipt is malformed: {error!r}") from None
    expected = {case.path for case in cases}
    if expected != {*paths}:
        other = min(expected ^ {*paths})
        raise Broken(E_COUNTEREXAMPLES, f"{other} {'is missing' if other in expected else 'shows no new failure'}")
    for path, parts in parts_of(cases, read()):
        if not _holds(place / path, parts):
            raise Broken(E_COUNTEREXAMPLES, f"{path} is not what the receipts show")
    return f"{len(cases)} files"


def _holds(path: Path, parts: Iterator[bytes]) -> bool:
    """Whether a file holds these bytes and no others."""
    with path.open("rb") as file:
        return all(file.read(len(part)) == part for part in parts) and not file.read(1)
