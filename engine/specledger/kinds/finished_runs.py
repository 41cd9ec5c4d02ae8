"""The finished runs of a suite that is not finished itself: of one that ended early, or of a shard.

Beside the folder of the runs there is a record of each finished one. A run counts if its record is whole and its files
are those that its manifest lists; everything else is removed and run again.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from specledger.core.diagnostics import code
from specledger.core.digest import tagged
from specledger.evidence.disk import write_file
from specledger.evidence.layout import MANIFEST, MORE
from specledger.kinds.wire import from_bytes, to_bytes
from specledger.suites.plan import Case
from specledger.verify.checks import E_MANIFEST, Broken
from specledger.verify.listing import check_files
from specledger.verify.manifest import MAX_MANIFEST, read_document

FINISHED: Final = "finished"
"""The folder of the records."""
_TAG: Final = "specledger/finished-run/v1"
_DIGEST: Final = 64
_RUNS: Final = ("runs/*", "controls/*/*", "mutants/*/*")

E_CLUSTER_RESULT = code(
    "E_CLUSTER_RESULT",
    "a cluster returned something else than the work's result",
    "Results are checked by their digests when they arrive: the files of a run by its manifest, everything else by the "
    "digest of the result. One was damaged on its way or made by other software. Nothing of it counts; look at the "
    "worker, and run again.",
)


def keep_finished(folder: Path, case: Case, outcome: Mapping[str, Any]) -> None:
    """Record that a run is finished; its bundle is at its place.

    Raises:
        OSError: It cannot be written.
    """
    folder.mkdir(exist_ok=True)
    data = to_bytes({"place": case.place, "outcome": outcome})
    write_file(folder / case.place.replace("/", "+"), tagged(_TAG, data).encode() + data)


def read_finished(folder: Path, runs: Path, cases: Sequence[Case]) -> dict[str, Any]:
    """What is known of the finished runs, by their places.

    Args:
        folder: The records.
        runs: The folder in which the runs are.
        cases: The runs of the suite.
    """
    found = {}
    for case in cases:
        outcome = _outcome(folder / case.place.replace("/", "+"), case)
        if outcome is not None and fault_of(runs / case.place, case.bundle.digest, outcome) is None:
            found[case.place] = outcome
    return found


def remove_unfinished(runs: Path, finished: Mapping[str, Any], partial: bool = True) -> None:
    """Remove the runs that do not count.

    Args:
        runs: The folder in which the runs are.
        finished: The places of those that count.
        partial: Whether the working folders of runs are kept, since whole episodes in them count.
    """
    for place in [place for pattern in _RUNS for place in runs.glob(pattern)]:
        working = place.name.startswith(".")
        if place.relative_to(runs).as_posix() not in finished and not (working and partial):
            shutil.rmtree(place)


def _outcome(file: Path, case: Case) -> Any:
    """The outcome in a record; None if there is none, or it is not whole."""
    if not file.is_file():
        return None
    record = file.read_bytes()
    data = record[_DIGEST:]
    if record[:_DIGEST] != tagged(_TAG, data).encode():
        return None
    try:
        known = from_bytes(data)
        return known["outcome"] if known["place"] == case.place else None
    except (LookupError, TypeError, ValueError, RecursionError):
        return None


def fault_of(place: Path, specs: str, outcome: Mapping[str, Any]) -> str | None:
    """Why the run at a place does not count as the one with these specs and this outcome; None if it does."""
    try:
        manifest = read_document(place / MANIFEST, MAX_MANIFEST, E_MANIFEST)
        check_files(place, manifest["files"], MORE)
        if manifest["specs"] != specs:
            return "it was made from other specs"
        same = all(outcome[name] == manifest[name] for name in ("specs", "receipts", "result"))
        return None if same else "its manifest says something else"
    except Broken as broken:
        return broken.message
    except (LookupError, TypeError, ValueError) as error:
        return f"its manifest is malformed ({type(error).__name__})"
