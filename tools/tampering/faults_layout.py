"""Faults of what lies beside receipts and specs: the files that the specs were resolved from, and failing cases.

Each line is a case; `Case` says what the columns are.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, Final

from tools.tampering.case import Case, Change, nothing, relist
from tools.tampering.faults_chain import swap
from tools.tampering.faults_form import added, linked, padded
from tools.tampering.faults_kinds import removed
from tools.tampering.forger import canonical
from tools.tampering.signer import Signer

ORIGIN, POT, STAIRS = "specs/origin.json", "specs/world/pot.yaml", "specs/world/stairs.yaml"
LINK: Final = {"from": "scenario/climb.yaml", "kind": "world", "target": "stairs", "to": "world/pot.yaml"}


def origin(**fields: Any) -> Change:
    """What says how the files are resolved says something else."""
    return lambda f: f.write(ORIGIN, canonical(json.loads(f.read(ORIGIN)) | fields) + b"\n")


def renamed(name: str, to: str) -> Change:
    """A file has another name."""

    def change(f: Signer) -> None:
        data = f.read(name)
        f.remove(name)
        f.write(to, data)

    return change


def led(to: str, *, times: int = 1) -> Change:
    """A file has another name, and the reference to it is told to lead there."""
    link = {"from": "world/stairs.yaml", "kind": "world", "target": "pot", "to": to}

    def change(f: Signer) -> None:
        renamed(POT, f"specs/{to}")(f)
        origin(links=[link] * times)(f)

    return change


def first(f: Signer) -> str:
    """The path of the first failing case."""
    return min(path.relative_to(f.folder).as_posix() for path in (f.folder / "counterexamples").iterdir())


def told(change: Callable[[Any], Any]) -> Change:
    """The first failing case says something else."""

    def make(f: Signer) -> None:
        document = json.loads(f.read(first(f)))
        change(document)
        f.write(first(f), canonical(document) + b"\n")

    return make


def kept(f: Signer) -> bytes:
    """The bytes of the first failing case."""
    return f.read(first(f))


SOURCES: Final = [
    Case("sources-loosened", "A file says less than the spec that ran.", "climb", swap("specs/invariant/bounded.yaml", b"require:", b"require: true ||"), relist, "E_SOURCES", needs="specs"),
    Case("sources-other-seed", "The file of the scenario says another seed.", "climb", swap("specs/scenario/climb.yaml", b"seed: 3", b"seed: 4"), relist, "E_SOURCES", needs="specs"),
    Case("sources-no-yaml", "A file is no YAML.", "climb", swap(POT, b"spec:", b"{spec:"), relist, "E_SOURCES", needs="specs"),
    Case("sources-byte", "A byte of a file was changed; the manifest lists the digest of before.", "climb", swap(POT, b"pot", b"pan"), nothing, "E_FILES"),
    Case("sources-missing", "A file that others refer to is missing.", "climb", removed(POT), relist, "E_SOURCES", needs="specs"),
    Case("sources-gone", "A listed file is not there.", "climb", lambda f: f.remove(POT), nothing, "E_FILES"),
    Case("sources-foreign", "A file is there that nothing refers to.", "climb", lambda f: f.write("specs/world/more.yaml", f.read(POT)), relist, "E_SOURCES", needs="specs"),
    Case("sources-unlisted", "A file lies among the others that the manifest does not list.", "climb", added("specs/world/more.yaml"), nothing, "E_FILES"),
    Case("sources-renamed", "A file has another name than the reference to it.", "climb", renamed(POT, "specs/world/kettle.yaml"), relist, "E_SOURCES", needs="specs"),
    Case("sources-other-kind", "A file lies in the folder of another kind, and the reference to it leads there.", "climb", led("agent/pot.yaml"), relist, "E_SOURCES", needs="specs"),
    Case("sources-notes", "A file among them is no YAML by its name.", "climb", added("specs/world/notes.txt", b""), relist, "E_FILES"),
    Case("sources-deep", "A file lies deeper among them than any does.", "climb", added("specs/world/more/pot.yaml", b""), relist, "E_FILES"),
    Case("sources-link", "A file among them is a link.", "climb", linked(POT), nothing, "E_FILES"),
    Case("sources-origin-missing", "Nothing says how the files are resolved.", "climb", removed(ORIGIN), relist, "E_SOURCES"),
    Case("sources-origin-alone", "There is no file, only how it is resolved.", "climb", lambda f: (f.leave_out("specs"), f.write(ORIGIN, canonical({"case": "", "format": "specledger/sources/v1", "links": [], "main": "scenario/climb.yaml", "set": []}) + b"\n")), relist, "E_SOURCES"),
    Case("sources-origin-field", "How the files are resolved is told in a field more.", "climb", origin(more=1), relist, "E_SOURCES"),
    Case("sources-origin-format", "How the files are resolved is told in a format that does not exist.", "climb", origin(format="specledger/sources/v2"), relist, "E_SOURCES"),
    Case("sources-origin-white-space", "There is a blank in how the files are resolved.", "climb", swap(ORIGIN, b":", b": "), relist, "E_SOURCES"),
    Case("sources-main", "The main file is none of those that are there.", "climb", origin(main="scenario/other.yaml"), relist, "E_SOURCES"),
    Case("sources-main-number", "The main file is a number.", "climb", origin(main=1), relist, "E_SOURCES"),
    Case("sources-main-elsewhere", "The main file lies outside the bundle.", "climb", origin(main="../climb.yaml"), relist, "E_SOURCES"),
    Case("sources-setting", "A setting is told that was not made.", "climb", origin(set=["seed=4"]), relist, "E_SOURCES", needs="specs"),
    Case("sources-setting-dropped", "A setting that was made is not told.", "other", origin(set=[]), relist, "E_SOURCES", needs="specs"),
    Case("sources-setting-text", "The settings are a text.", "climb", origin(set="seed=3"), relist, "E_SOURCES"),
    Case("sources-case", "A case of a matrix is told, and there is none.", "climb", origin(case="seed=3"), relist, "E_SOURCES", needs="specs"),
    Case("sources-link-elsewhere", "A reference is said to lead out of the bundle.", "climb", origin(links=[LINK | {"to": "../stairs.yaml"}]), relist, "E_SOURCES"),
    Case("sources-link-idle", "A reference is told that nobody makes.", "climb", origin(links=[LINK | {"target": "ladder"}]), relist, "E_SOURCES", needs="specs"),
    Case("sources-link-needless", "A reference is said to lead where its name leads.", "climb", origin(links=[LINK | {"to": "world/stairs.yaml"}]), relist, "E_SOURCES", needs="specs"),
    Case("sources-link-twice", "Where a reference leads is told twice.", "climb", led("world/kettle.yaml", times=2), relist, "E_SOURCES"),
    Case("sources-links-object", "Where references lead is told by an object.", "climb", origin(links={}), relist, "E_SOURCES"),
    Case("sources-setting-number", "A setting is a number.", "climb", origin(set=[5]), relist, "E_SOURCES"),
    Case("sources-link-form", "A reference is told without where it leads.", "climb", origin(links=[{"from": "scenario/climb.yaml"}]), relist, "E_SOURCES"),
    Case("sources-large", "A file has more than 1 MiB.", "climb", padded(POT, 1 << 20), relist, "E_SOURCES"),
    Case("sources-of-a-suite", "A file of a suite says something else.", "suite", swap("specs/suite/heights.yaml", b"highest.value > 1", b"highest.value > 0"), relist, "E_SOURCES", needs="specs"),
    Case("sources-of-a-law", "A file of a law says something else.", "proved", swap("specs/law/total-particles.yaml", b"forbidden:", b"forbidden: never"), relist, "E_SOURCES", needs="specs"),
]  # fmt: skip

COUNTEREXAMPLES: Final = [
    Case("counterexamples-changed", "A failing case shows a receipt that says something else.", "failing", told(lambda document: document["receipts"][-1]["body"].update(softer=1)), relist, "E_COUNTEREXAMPLES"),
    Case("counterexamples-causes", "A failing case names another cause.", "stuck", told(lambda document: document.update(causes=["probe:none"])), relist, "E_COUNTEREXAMPLES"),
    Case("counterexamples-shortened", "A failing case lacks a receipt of its step.", "stuck", told(lambda document: document["receipts"].pop(0)), relist, "E_COUNTEREXAMPLES"),
    Case("counterexamples-white-space", "A failing case ends with two newlines.", "stuck", lambda f: f.write(first(f), kept(f) + b"\n"), relist, "E_COUNTEREXAMPLES"),
    Case("counterexamples-missing", "The failing cases are missing.", "stuck", lambda f: f.leave_out("counterexamples"), relist, "E_COUNTEREXAMPLES"),
    Case("counterexamples-gone", "A failing case that is listed is not there.", "stuck", lambda f: f.remove(first(f)), nothing, "E_FILES"),
    Case("counterexamples-renamed", "A failing case has the number of another receipt.", "stuck", lambda f: renamed(first(f), "counterexamples/00000001.json")(f), relist, "E_COUNTEREXAMPLES"),
    Case("counterexamples-name", "A failing case has a name that is no number.", "stuck", lambda f: renamed(first(f), "counterexamples/first.json")(f), relist, "E_FILES"),
    Case("counterexamples-further", "A step that did not fail is shown.", "stuck", lambda f: f.write("counterexamples/00000003.json", kept(f)), relist, "E_COUNTEREXAMPLES"),
    Case("counterexamples-unlisted", "A file lies among the failing cases that the manifest does not list.", "stuck", added("counterexamples/00000001.json", b"{}\n"), nothing, "E_FILES"),
    Case("counterexamples-of-nothing", "A run in which nothing failed shows a failing case.", "climb", added("counterexamples/00000003.json", b"{}\n"), relist, "E_COUNTEREXAMPLES"),
    Case("counterexamples-of-a-suite", "A suite shows a failing case; only its runs do.", "suite", added("counterexamples/00000003.json", b"{}\n"), relist, "E_COUNTEREXAMPLES"),
    Case("counterexamples-of-a-law", "The failing case of a refuted law shows another start.", "refuted", told(lambda document: document["receipts"][0]["body"]["verdict"]["counterexample"].update(start="....")), relist, "E_COUNTEREXAMPLES"),
    Case("counterexamples-of-a-discovery", "A refuted law of a discovery is not shown.", "discovery", lambda f: f.remove(first(f)), relist, "E_COUNTEREXAMPLES"),
]  # fmt: skip

HONEST: Final = [
    Case("honest-without-sources", "A run whose specs came from no file.", "climb", lambda f: f.leave_out("specs"), relist, None, exit=0),
    Case("honest-renamed", "A file has another name, and it is told where the reference to it leads.", "climb", led("world/kettle.yaml"), relist, None, exit=0),
    Case("honest-comment", "A comment in a file is another one; it resolves to the same specs.", "climb", lambda f: f.write(POT, f.read(POT) + b"# another\n"), relist, None, exit=0),
]  # fmt: skip

FAULTS: Final = (*SOURCES, *COUNTEREXAMPLES, *HONEST)
