"""The finished runs of a suite that is not finished itself: what makes one count."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from specledger.core.diagnostics import code
from specledger.evidence.layout import MANIFEST, MORE
from specledger.verify.checks import E_MANIFEST, Broken
from specledger.verify.listing import check_files
from specledger.verify.manifest import MAX_MANIFEST, read_document

E_CLUSTER_RESULT = code(
    "E_CLUSTER_RESULT",
    "a cluster returned something else than the work's result",
    "Results are checked by their digests when they arrive: the files of a run by its manifest, everything else by the "
    "digest of the result. One was damaged on its way or made by other software. Nothing of it counts; look at the "
    "worker, and run again.",
)


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
