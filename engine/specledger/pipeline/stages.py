"""The stages in their order: what `run`, `check` and `verify` do."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from specledger.compile.model import compile_model
from specledger.core.diagnostics import MOST_FINDINGS, Diagnostic, Diagnostics, Rejected, Severity, code
from specledger.discovery.prompt import check_prompt
from specledger.discovery.ranking import check_ranking
from specledger.evidence.archive import SUFFIX, InvalidArchive
from specledger.evidence.layout import MANIFEST, RECEIPTS, SPECS
from specledger.evidence.places import covers_of
from specledger.evidence.seal import Seal, seal_bundle
from specledger.evidence.workplace import E_OUT_FOREIGN
from specledger.expr.check.checker import check_syntax
from specledger.kinds import MODELS, load
from specledger.laws.template import check_template
from specledger.laws.universe import check_universe
from specledger.load import Bundle
from specledger.load.library import E_REF_MISSING, E_SPEC_WRONG_KIND, SUFFIXES
from specledger.load.shipped import find_specs
from specledger.pipeline.live import SIMULATED, RunOptions
from specledger.pipeline.runners import RUNNERS, Finished
from specledger.report.profile_rules import check_profile
from specledger.verify import check_names
from specledger.verify.assurance_levels import Reader
from specledger.verify.audit import verify_audit
from specledger.verify.bundle import verify_evidence
from specledger.verify.checks import E_ARCHIVE, Broken, Level, Verification
from specledger.verify.reference import require_reference
from specledger.verify.runlog import is_runlog, verify_runlog
from specledger.verify.shipped import EVIDENCE
from specledger.verify.unpack import is_archive, unpacked
from specledger.worlds.check import check_world

OUT: Final = Path("out")
"""Where evidence goes unless the user says otherwise."""

E_CASE_TWICE = code(
    "E_CASE_TWICE",
    "two cases of one name in one call",
    "The evidence and the golden of a case are named after its scenario, so two cases of one name would overwrite each "
    "other. Run them in two calls with different --out, or give one scenario another name.",
)


W_COVER_LOST = code(
    "W_COVER_LOST",
    "a signed bundle was replaced by an unsigned one",
    "A run replaces the bundle at its place. The earlier one held signatures or a time stamp and the new one does not, "
    "so they are gone: who signed must sign again, and an earlier time cannot be had again. Nothing is wrong with the "
    "new bundle.",
)

CHECKED_ALONE: Final[Mapping[str, Callable[[Bundle, Diagnostics], object]]] = {
    "world": lambda bundle, found: check_world(bundle.main, bundle, found),
    "universe": lambda bundle, found: check_universe(bundle.main, bundle, found),
    "template": lambda bundle, found: check_template(bundle.main, found),
    "model": lambda bundle, found: compile_model(bundle, bundle.root),
    "ranking": lambda bundle, found: check_ranking(bundle.main, found),
    "prompt": lambda bundle, found: check_prompt(bundle.main, found),
    "profile": lambda bundle, found: check_profile(bundle.main, found),
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

    @property
    def typed(self) -> bool:
        """Whether its expressions were typed, as far as it has any."""
        return self.depth == "compiled"


def load_cases(target: str, overrides: Sequence[str] = ()) -> tuple[Bundle, ...]:
    """Load a spec of any kind with everything it refers to, one bundle for each case of its matrix.

    Raises:
        Rejected: With every finding in every file.
    """
    return load(target, set=overrides, see=check_syntax)


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
        bundles = load(target, set=overrides, see=check_syntax)
        wrong = [bundle.main for bundle in bundles if bundle.main.kind not in RUNNERS]
        if wrong:
            expected = " or ".join(f"{kind}/v1" for kind in RUNNERS)
            message = f"specs of the kind {wrong[0].kind} cannot be run"
            raise Rejected([Diagnostic(E_SPEC_WRONG_KIND, message, wrong[0].span("spec"), expected=expected)])
        return bundles
    missing: Rejected | None = None
    for kind in RUNNERS:
        try:
            return load(target, kind=kind, set=overrides, see=check_syntax)
        except Rejected as rejected:
            if [found.code for found in rejected.diagnostics if found.span is None] != [E_REF_MISSING]:
                raise
            missing = missing or rejected
    assert missing is not None  # noqa: S101 - there are kinds that are run
    raise missing


def case_name(bundle: Bundle) -> str:
    """What the files of a case are called: its scenario's name, and its id where there is a matrix."""
    return f"{bundle.main.name}.{bundle.case}" if bundle.case else bundle.main.name


def place_cases(cases: Sequence[Bundle], out: Path | None, *, packed: bool = False) -> tuple[Path, ...]:
    """Where the evidence of each case goes: `out` itself for a single one, else a place of its own in `out`.

    Args:
        cases: The cases, each with a name of its own.
        out: What the user asked for; without it `out/<case>`.
        packed: Whether each is one zip file; a place whose name says so already is one in any case.

    Raises:
        Rejected: E_OUT_FOREIGN, if that is inside a bundle, which has room for its own files only.
    """
    places = (out,) if out is not None and len(cases) == 1 else tuple((out or OUT) / case_name(one) for one in cases)
    if packed:
        places = tuple(place if place.suffix == SUFFIX else place.with_name(place.name + SUFFIX) for place in places)
    for folder in dict.fromkeys(place.parent for place in places):
        if all((folder / name).is_file() for name in (MANIFEST, RECEIPTS, SPECS)):
            message = f"{folder} is a bundle, so nothing else can be written into it"
            raise Rejected([Diagnostic(E_OUT_FOREIGN, message, hint="name another folder by --out")])
    return places


def check(
    targets: Sequence[str],
    overrides: Sequence[str] = (),
    crashed: Callable[[str, Exception], Diagnostic] | None = None,
) -> tuple[list[CheckedSpec], tuple[Diagnostic, ...]]:
    """Look at specs as deeply as can be done without running them.

    Scenarios and worlds are compiled; other kinds are typed in the scenarios that use them, so alone only their shape,
    their references and the syntax of their expressions are checked.

    Args:
        targets: Files, or names of shipped specs.
        overrides: Changes of each.
        crashed: Makes a finding of a defect of the engine that checking one target meets, so that it hides nothing of
            the others; without it the defect raises.

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
        except Exception as error:
            if crashed is None:
                raise
            diagnostics.add(crashed(target, error))
    return checked, diagnostics.sorted()


def _check_case(bundle: Bundle, diagnostics: Diagnostics) -> str | None:
    """How deeply a case was looked at, or None after its findings were collected.

    Every expression is parsed, whatever is typed: what is no expression at all does not wait for other findings.
    """
    found = Diagnostics(MOST_FINDINGS)
    for spec in bundle.specs.values():
        for path, _ in spec.expressions():
            check_syntax(spec.text(*path), found)
    try:
        if bundle.main.kind in RUNNERS:
            found.extend(RUNNERS[bundle.main.kind].inspect(bundle))
        elif bundle.main.kind in CHECKED_ALONE:
            CHECKED_ALONE[bundle.main.kind](bundle, found)
            found.raise_if_errors()
    except Rejected as rejected:
        found.extend(one for one in rejected.diagnostics if not found.tells(one.code, one.message, one.span))
    diagnostics.extend(found.sorted())
    if found.has_errors:
        return None
    return "compiled" if bundle.main.kind in {*RUNNERS, *CHECKED_ALONE} else "shape"


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
    conduct: RunOptions = SIMULATED,
) -> Finished:
    """Run one case and write its evidence.

    Args:
        bundle: The case.
        place: Where its bundle goes; a bundle that is there is replaced at the end.
        progress: Called with what is done and what there is to do, in steps of a run or runs of a suite.
        workers: How many processes share the runs of a suite, the episodes of a run or the work of a discovery; the
            evidence does not depend on it.
        conduct: Whether agents from outside are trusted, and whether a kernel's run is live.

    Raises:
        Rejected: If it does not compile, or the place cannot be written.
    """
    before = covers_of(place)
    finished = RUNNERS[bundle.main.kind].execute(bundle, case_name(bundle), place, workers, progress, conduct)
    lost = sorted(before - covers_of(place))
    if not lost:
        return finished
    message = f"the bundle that was at {place} held {', '.join(lost)}; the one that is there now does not"
    hint = "name another --out to keep both; `spec seal` covers the new one"
    warning = Diagnostic(W_COVER_LOST, message, hint=hint, severity=Severity.WARNING)
    return replace(finished, found=(*finished.found, warning))


def verify(place: Path, *, replay: bool = True, workers: int = 1, reader: Reader | None = None) -> Verification:
    """Verify the bundle at a place, a folder or a zip file, or the audit log or run log that a file is.

    Args:
        place: The evidence.
        replay: Whether runs are made again.
        workers: How many processes share the runs of a suite.
        reader: What else the reader brings and asks for; it says itself whether to replay.

    Raises:
        Rejected: If there is neither, or if what the reader asks for needs a package that is not installed.
    """
    reader = Reader(replay=replay) if reader is None else reader
    if reader.judge:
        require_reference()
    if not place.is_file():
        return verify_evidence(place, reader, EVIDENCE, MODELS, workers)
    if not is_archive(place):
        verification = verify_runlog(place, reader.log_head) if is_runlog(place) else verify_audit(place)
        verification.ask(reader.asked - {Level.REPLAYED} | reader.levels)
        return verification
    try:
        with unpacked(place) as folder:
            return verify_evidence(folder, reader, EVIDENCE, MODELS, workers)
    except InvalidArchive as invalid:
        refused = Verification()
        refused.failed(check_names.ARCHIVE, Broken(E_ARCHIVE, str(invalid)))
        return refused


def seal_evidence(place: Path, seal: Seal) -> Verification:
    """Cover the bundle at a place, unless a check of it fails; it is not replayed.

    Returns:
        The checks that were made before; if one of them failed, nothing was written.

    Raises:
        Rejected: If there is no bundle, or the seal is not one for it.
    """
    verification = verify(place, replay=False)
    if verification.intact:
        seal_bundle(place, seal)
    return verification
