"""The stages in their order: what `run`, `check` and `verify` do."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from engine.compile.scenario import compile_scenario
from engine.core.diagnostics import Diagnostic, Diagnostics, Rejected, code
from engine.core.events import Event
from engine.core.verdict import Verdict
from engine.evidence.bundle import E_OUT_FOREIGN, MANIFEST, RECEIPTS, SPECS, BundleWriter
from engine.evidence.chain import run_id
from engine.gates.invariant import PROGRESS
from engine.load import Bundle, load
from engine.load.shipped import find_specs
from engine.run.loop import run
from engine.verify.bundle import verify_bundle
from engine.verify.checks import Verification
from engine.worlds.check import check_world

OUT: Final = Path("out")
"""Where evidence goes unless the user says otherwise."""

E_CASE_TWICE = code(
    "E_CASE_TWICE",
    "two cases of one name in one call",
    "The evidence and the golden of a case are named after its scenario, so two cases of one name would overwrite each "
    "other. Run them in two calls with different --out, or give one scenario another name.",
)


@dataclass(frozen=True, slots=True)
class CheckedSpec:
    """A spec that was found in order.

    Attributes:
        kind, name, case: What it is.
        digest: Of its resolved form, with everything that it refers to.
        depth: How far it was looked at: `compiled` if its expressions were typed, else `shape`.
    """

    kind: str
    name: str
    case: str
    digest: str
    depth: str


MOST_INCIDENTS: Final = 5
"""Incidents that a finished run carries, so that people see what happened first; the receipts hold all of them."""


@dataclass(frozen=True, slots=True)
class Incident:
    """One thing that went wrong in a run.

    Attributes:
        episode, t: When.
        what: An invariant's name, or the code of an error.
        detail: The witness, the expression that failed, or the reasons of each proposal.
    """

    episode: int
    t: int
    what: str
    detail: Any


def incidents_of(event: Event) -> list[Incident]:
    """What an event says went wrong: errors, broken invariants, and a step without an admissible action."""
    body = event.body
    if event.type == "error":
        return [Incident(body["episode"], body["t"], body["code"], body["expression"])]
    if event.type not in ("step", "episode_end"):
        return []
    t = body["t"] if event.type == "step" else body["steps"]
    causes = [decision["error"] for decision in body.get("decisions", ()) if decision["error"] is not None]
    found = [Incident(body["episode"], t, cause["code"], cause["expression"]) for cause in causes]
    found += [Incident(body["episode"], t, breach["invariant"], breach["witness"]) for breach in body["violations"]]
    if event.type == "step" and body["chosen"] is None:
        reasons = [[failing["reason"] for failing in decision["rejected"]] for decision in body["decisions"]]
        found.append(Incident(body["episode"], t, PROGRESS, reasons))
    return found


@dataclass(frozen=True, slots=True)
class Finished:
    """A run that was carried to its end and written.

    Attributes:
        name: What the case is called.
        place: The bundle's folder.
        manifest: Its manifest.
        incidents: The first errors and broken invariants, in the order of the run.
        replaced: Whether an earlier bundle was at the place.
    """

    name: str
    place: Path
    manifest: dict[str, Any]
    incidents: tuple[Incident, ...] = ()
    replaced: bool = False

    @property
    def verdict(self) -> Verdict:
        """The verdict of its result."""
        return Verdict(self.manifest["result"]["verdict"])


def load_cases(target: str, overrides: Sequence[str] = ()) -> tuple[Bundle, ...]:
    """Load a spec of any kind with everything it refers to, one bundle for each case of its matrix.

    Raises:
        Rejected: With every finding in every file.
    """
    return load(target, set=overrides)


def load_scenarios(targets: Sequence[str], overrides: Sequence[str] = ()) -> tuple[Bundle, ...]:
    """Load scenarios, one bundle for each case of each, and see that all of them compile before any is run.

    Raises:
        Rejected: With every finding in every file; E_CASE_TWICE, if two cases have one name.
    """
    diagnostics = Diagnostics()
    cases: dict[str, Bundle] = {}
    for target in targets:
        try:
            for bundle in load(target, kind="scenario", set=overrides):
                compile_scenario(bundle)
                name = case_name(bundle).casefold()  # not every file system tells `a` from `A`
                if name in cases:
                    message, first = f"there are two cases {case_name(bundle)}", cases[name].main.span("name")
                    diagnostics.error(
                        E_CASE_TWICE, message, bundle.main.span("name"), related=(("the other one", first),)
                    )
                cases[name] = bundle
        except Rejected as rejected:
            diagnostics.extend(rejected.diagnostics)
    diagnostics.raise_if_errors()
    return tuple(cases.values())


def case_name(bundle: Bundle) -> str:
    """What the files of a case are called: its scenario's name, and its id where there is a matrix."""
    return f"{bundle.main.name}.{bundle.case}" if bundle.case else bundle.main.name


def place_cases(cases: Sequence[Bundle], out: Path | None) -> tuple[Path, ...]:
    """Where the evidence of each case goes: `out` itself for a single one, else a folder of its own in `out`.

    Args:
        cases: The cases, each with a name of its own.
        out: What the user asked for; without it `out/<case>`.

    Raises:
        Rejected: E_OUT_FOREIGN, if that is inside a bundle, which has room for its own files only.
    """
    places = (out,) if out is not None and len(cases) == 1 else tuple((out or OUT) / case_name(one) for one in cases)
    for folder in dict.fromkeys(place.parent for place in places):
        if all((folder / name).is_file() for name in (MANIFEST, RECEIPTS, SPECS)):
            message = f"{folder} is a bundle, so nothing else can be written into it"
            raise Rejected([Diagnostic(E_OUT_FOREIGN, message, hint="name another folder by --out")])
    return places


def check(targets: Sequence[str], overrides: Sequence[str] = ()) -> tuple[list[CheckedSpec], tuple[Diagnostic, ...]]:
    """Look at specs as deeply as can be done without running them.

    Scenarios and worlds are compiled; other kinds are looked at in the scenarios that use them, so alone only their
    shape and their references are checked.

    Returns:
        The specs that are in order, and every finding in the others.
    """
    checked: list[CheckedSpec] = []
    diagnostics = Diagnostics()
    for target in targets:
        try:
            for bundle in load_cases(target, overrides):
                depth = _check_case(bundle, diagnostics)
                if depth is not None:
                    main = bundle.main
                    checked.append(CheckedSpec(main.kind, main.name, bundle.case, bundle.digest, depth))
        except Rejected as rejected:
            diagnostics.extend(rejected.diagnostics)
    return checked, diagnostics.sorted()


def _check_case(bundle: Bundle, diagnostics: Diagnostics) -> str | None:
    """How deeply a case was looked at, or None after its findings were collected."""
    found = Diagnostics()
    try:
        if bundle.main.kind == "scenario":
            compile_scenario(bundle)
        elif bundle.main.kind == "world":
            check_world(bundle.main, bundle, found)
            found.raise_if_errors()
        else:
            return "shape"
    except Rejected as rejected:
        diagnostics.extend(rejected.diagnostics)
        return None
    return "compiled"


def demo_case() -> Bundle:
    """The shipped scenario whose annotations say `demo: true`.

    Raises:
        LookupError: If none is shipped.
    """
    folder = find_specs()
    for file in sorted(folder.glob("scenario/*.yaml")) if folder is not None else ():
        bundle = load_cases(str(file))[0]
        metadata = bundle.main.model.metadata
        if metadata is not None and metadata.annotations.get("demo") is True:
            return bundle
    raise LookupError("no shipped scenario says `demo: true`")


def execute(bundle: Bundle, place: Path, progress: Callable[[int, int], None] | None = None) -> Finished:
    """Run one case and write its evidence.

    Args:
        bundle: The case.
        place: Where its bundle goes; a bundle that is there is replaced at the end.
        progress: Called with (steps done, steps at most).

    Raises:
        Rejected: If it does not compile, or the place cannot be written.
    """
    plan = compile_scenario(bundle)
    incidents: list[Incident] = []
    with BundleWriter(place, run_id(bundle.digest), bundle.document(), bundle.digest) as writer:
        for event in run(plan, progress):
            writer.add(event)
            if len(incidents) < MOST_INCIDENTS:
                incidents += incidents_of(event)
        replaced = (place / MANIFEST).exists()
        manifest = writer.finish()
    return Finished(case_name(bundle), place, manifest, tuple(incidents[:MOST_INCIDENTS]), replaced)


def verify(place: Path, *, replay: bool = True) -> Verification:
    """Verify the bundle at a place.

    Raises:
        Rejected: If there is no bundle.
    """
    return verify_bundle(place, replay=replay)
