"""Faults of what lies beside receipts and specs: the files that the specs were resolved from, and failing cases.

Each line is a case; `Case` says what the columns are.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, Final

from tools.tampering.case import Case, Change, nothing, relist
from tools.tampering.faults_chain import swap
from tools.tampering.faults_form import added, linked
from tools.tampering.faults_kinds import removed
from tools.tampering.forger import canonical
from tools.tampering.signer import Signer

ORIGIN, POT = "specs/origin.json", "specs/world/pot.yaml"


def origin(**fields: Any) -> Change:
    """What says how the files are resolved says something else."""
    return lambda f: f.write(ORIGIN, canonical(json.loads(f.read(ORIGIN)) | fields) + b"\n")


def first(f: Signer) -> str:
    """The path of the first failing case."""
    return min(path.relative_to(f.folder).as_posix() for path in (f.folder / "counterexamples").iterdir())


def with_case(change: Callable[[Any], Any]) -> Change:
    """The first failing case says something else."""

    def make(f: Signer) -> None:
        document = json.loads(f.read(first(f)))
        change(document)
        f.write(first(f), canonical(document) + b"\n")

    return make


SOURCES: Final = [
    Case("sources-loosened", "A file says less than the spec that ran.", "climb", swap("specs/invariant/bounded.yaml", b"require:", b"require: true ||"), relist, "E_SOURCES", needs="specs"),
    Case("sources-missing", "A file that others refer to is missing.", "climb", removed(POT), relist, "E_SOURCES", needs="specs"),
    Case("sources-link", "A file among them is a link.", "climb", linked(POT), nothing, "E_FILES"),
    Case("sources-main-elsewhere", "The main file lies outside the bundle.", "climb", origin(main="../climb.yaml"), relist, "E_SOURCES", needs="specs"),
]  # fmt: skip

COUNTEREXAMPLES: Final = [
    Case("counterexamples-of-nothing", "A run in which nothing failed shows a failing case.", "climb", added("counterexamples/00000003.json", b"{}\n"), relist, "E_COUNTEREXAMPLES"),
    Case("counterexamples-of-a-law", "The failing case of a refuted law shows another start.", "refuted", with_case(lambda document: document["receipts"][0]["body"]["verdict"]["counterexample"].update(start="....")), relist, "E_COUNTEREXAMPLES"),
]  # fmt: skip

FAULTS: Final = (*SOURCES, *COUNTEREXAMPLES)
