"""The stages in their order: what `run`, `check` and `verify` do."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from engine.core.diagnostics import Diagnostic, Diagnostics, Rejected, code
from engine.evidence.bundle import E_OUT_FOREIGN, MANIFEST, RECEIPTS, SPECS
from engine.laws.template import check_template
from engine.laws.universe import check_universe
from engine.load import Bundle, load
from engine.load.library import E_REF_MISSING, E_SPEC_WRONG_KIND, SUFFIXES
from engine.load.shipped import find_specs
from engine.pipeline.live import SIMULATED, Conduct
from engine.pipeline.runners import RUNNERS, Finished
from engine.verify.audit import verify_audit
from engine.verify.checks import Verification
from engine.verify.suite import verify_evidence
from engine.worlds.check import check_world

OUT: Final = Path("out")
"""Where evidence goes unless the user says otherwise."""

E_CASE_TWICE = code(
    "E_CASE_TWICE",
    "two cases of one name in one call",
    "The evidence and the golden of a case are named after its scenario, so two cases of one name would overwrite each "
    "other. Run them in two calls with different --out, or give one scenario another name.",
)


CHECKED_ALONE: Final[Mapping[str, Callable[[Bundle, Diagnostics], object]]] = {
    "world": lambda bundle, found: check_world(bundle.main, bundle, found),
    "universe": lambda bundle, found: check_universe(bundle.main, bundle, found),
    "template": lambda bundle, found: check_template(bundle.main, found),
}
"""Kinds that are no runs but whose expressions are typed by themselves."""


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


def load_cases(target: str, overrides: Sequence[str] = ()) -> tuple[Bundle, ...]:
    """Load a spec of any kind with everything it refers to, one bundle for each case of its matrix.

    Raises:
        Rejected: With every finding in every file.
    """
    return load(target, set=overrides)


def load_runs(targets: Sequence[str], overrides: Sequence[str] = ()) -> tuple[Bundle, ...]:
    """Load what can be run, one bundle for each case of each, and see that all of them compile before any is run.

    Raises:
        Rejected: With every finding in every file; E_CASE_TWICE, if two cases have one name.
    """
    diagnostics = Diagnostics()
    cases: dict[str, Bundle] = {}
    for target in targets:
        try:
            for bundle in _load_run(target, overrides):
                RUNNERS[bundle.main.kind].check(bundle)
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


def _load_run(target: str, overrides: Sequence[str]) -> tuple[Bundle, ...]:
    """A file, or a name of any of the kinds that are run; of specs of one name a kind named first comes first.

    Raises:
        Rejected: As `load`; E_SPEC_WRONG_KIND.
    """
    if "/" in target or target.endswith(SUFFIXES) or Path(target).is_file():
        bundles = load(target, set=overrides)
        wrong = [bundle.main for bundle in bundles if bundle.main.kind not in RUNNERS]
        if wrong:
            expected = " or ".join(f"{kind}/v1" for kind in RUNNERS)
            message = f"specs of the kind {wrong[0].kind} cannot be run"
            raise Rejected([Diagnostic(E_SPEC_WRONG_KIND, message, wrong[0].span("spec"), expected=expected)])
        return bundles
    missing: Rejected | None = None
    for kind in RUNNERS:
        try:
            return load(target, kind=kind, set=overrides)
        except Rejected as rejected:
            if [found.code for found in rejected.diagnostics if found.span is None] != [E_REF_MISSING]:
                raise
            missing = missing or rejected
    assert missing is not None  # noqa: S101 - there are kinds that are run
    raise missing


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
        if bundle.main.kind in RUNNERS:
            RUNNERS[bundle.main.kind].inspect(bundle)
        elif bundle.main.kind in CHECKED_ALONE:
            CHECKED_ALONE[bundle.main.kind](bundle, found)
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


def execute(
    bundle: Bundle,
    place: Path,
    progress: Callable[[int, int], None] | None = None,
    workers: int = 1,
    conduct: Conduct = SIMULATED,
) -> Finished:
    """Run one case and write its evidence.

    Args:
        bundle: The case.
        place: Where its bundle goes; a bundle that is there is replaced at the end.
        progress: Called with what is done and what there is to do, in steps of a run or runs of a suite.
        workers: How many processes share the runs of a suite; the evidence does not depend on it.
        conduct: Whether agents from outside are trusted, and whether a kernel's run is live.

    Raises:
        Rejected: If it does not compile, or the place cannot be written.
    """
    return RUNNERS[bundle.main.kind].execute(bundle, case_name(bundle), place, workers, progress, conduct)


def verify(place: Path, *, replay: bool = True, workers: int = 1) -> Verification:
    """Verify the bundle at a place, or the audit log that a file is.

    Raises:
        Rejected: If there is neither.
    """
    if place.is_file():
        return verify_audit(place)
    return verify_evidence(place, replay=replay, workers=workers)
