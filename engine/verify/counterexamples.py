"""The failing cases of a bundle: folded from its receipts again, and compared byte for byte."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from engine.core.canonical import NotCanonical
from engine.core.diagnostics import code
from engine.evidence.counterexamples import counterexamples
from engine.verify.checks import Broken
from engine.verify.documents import read_plain

E_COUNTEREXAMPLES = code(
    "E_COUNTEREXAMPLES",
    "the failing cases are not those of the receipts",
    "`counterexamples/` holds the receipts that show a failure for the first time: a probe, an invariant, an error, a "
    "step without a choice, a refuted law. They are taken from the receipts again. One is missing, is one too many, or "
    "says something else.",
)


def check_counterexamples(place: Path, paths: Sequence[str], kind: str, lines: Iterable[bytes]) -> str:
    """See that the failing cases of a bundle are those that its receipts show.

    Args:
        place: The bundle.
        paths: The files of the cases, which are plain ones.
        kind: What was run.
        lines: The receipts.

    Returns:
        How many there are, in words.

    Raises:
        Broken: E_COUNTEREXAMPLES.
    """
    try:
        expected = counterexamples(kind, lines)
    except (NotCanonical, LookupError, TypeError, AttributeError) as error:
        raise Broken(E_COUNTEREXAMPLES, f"a receipt is not what it must be: {error!r}") from None
    if expected.keys() != {*paths}:
        other = min(expected.keys() ^ {*paths})
        raise Broken(E_COUNTEREXAMPLES, f"{other} {'is missing' if other in expected else 'shows no new failure'}")
    for path, data in expected.items():
        if read_plain(place / path, len(data), E_COUNTEREXAMPLES) != data:
            raise Broken(E_COUNTEREXAMPLES, f"{path} is not what the receipts show")
    return f"{len(expected)} files"
