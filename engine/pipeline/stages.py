"""The stages in their order: what `run`, `check` and `verify` do."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engine.compile.plan import Plan
from engine.compile.scenario import compile_scenario
from engine.core.diagnostics import Diagnostic, Diagnostics, Rejected, code
from engine.core.verdict import Verdict
from engine.evidence.bundle import BundleWriter
from engine.evidence.chain import run_id
from engine.load import Bundle, load
from engine.load.shipped import find_specs
from engine.run.loop import run
from engine.verify.bundle import verify_bundle
from engine.verify.checks import Verification
from engine.worlds.check import check_world

E_RUN_KIND = code(
    "E_RUN_KIND",
    "this kind of spec cannot be run by itself",
    "`spec run` takes scenarios. A world, a governor or an agent is run by a scenario that names it.",
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


@dataclass(frozen=True, slots=True)
class Finished:
    """A run that was carried to its end and written.

    Attributes:
        case: The matrix case, empty where there is none.
        place: The bundle's folder.
        manifest: Its manifest.
    """

    case: str
    place: Path
    manifest: dict[str, Any]

    @property
    def verdict(self) -> Verdict:
        """The verdict of its result."""
        return Verdict(self.manifest["result"]["verdict"])


def load_cases(target: str, overrides: Sequence[str] = ()) -> tuple[Bundle, ...]:
    """Load a spec with everything it refers to, one bundle for each case of its matrix.

    Raises:
        Rejected: With every finding in every file.
    """
    return load(target, set=overrides)


def compile_case(bundle: Bundle) -> Plan:
    """Compile one case.

    Raises:
        Rejected: E_RUN_KIND, or with every finding in its specs.
    """
    if bundle.main.kind != "scenario":
        message = f"{bundle.main.name!r} is a {bundle.main.kind}, and only scenarios are run"
        raise Rejected([Diagnostic(E_RUN_KIND, message, bundle.main.span("spec"))])
    return compile_scenario(bundle)


def check(target: str, overrides: Sequence[str] = ()) -> tuple[CheckedSpec, ...]:
    """Look at a spec as deeply as can be done without running it.

    Scenarios and worlds are compiled; other kinds are looked at in the scenarios that use them, so alone only their
    shape and their references are checked.

    Raises:
        Rejected: With every finding.
    """
    checked = []
    for bundle in load_cases(target, overrides):
        depth = "compiled"
        if bundle.main.kind == "scenario":
            compile_scenario(bundle)
        elif bundle.main.kind == "world":
            diagnostics = Diagnostics()
            check_world(bundle.main, bundle, diagnostics)
            diagnostics.raise_if_errors()
        else:
            depth = "shape"
        checked.append(CheckedSpec(bundle.main.kind, bundle.main.name, bundle.case, bundle.digest, depth))
    return tuple(checked)


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
    plan = compile_case(bundle)
    with BundleWriter(place, run_id(bundle.digest), bundle.document(), bundle.digest) as writer:
        for event in run(plan, progress):
            writer.add(event)
        manifest = writer.finish()
    return Finished(bundle.case, place, manifest)


def verify(place: Path, *, replay: bool = True) -> Verification:
    """Verify the bundle at a place.

    Raises:
        Rejected: If there is no bundle.
    """
    return verify_bundle(place, replay=replay)
