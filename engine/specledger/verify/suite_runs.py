"""The runs of a suite as they are verified, each by itself, in whatever process that is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from msgspec.structs import replace

from specledger.compile.suite import DeferredPlan
from specledger.evidence.transport import read_files, write_files
from specledger.expr import EvaluationError, Type, conforms
from specledger.run.executor import Work
from specledger.spec.base import SpecKinds
from specledger.suites.assessment import UNCOMPARED
from specledger.suites.episodes import Episodes
from specledger.suites.measures import Samples
from specledger.suites.plan import Case, Trial
from specledger.verify.bundle import compile_bundle, obstacle_to_replay
from specledger.verify.checks import E_REPLAY, E_SPECS, Broken, Status, Stopped, Verification, misformed
from specledger.verify.kind import Compiled, EvidenceKind, Resources
from specledger.verify.manifest import other_maker
from specledger.verify.receipts import MALFORMED
from specledger.verify.run import RUN, RunContent, try_lines
from specledger.verify.run_order import RunOrder

NAMED: Final = ("specs", "receipts", "result")
"""What a suite's receipt of a run repeats from the run's manifest."""

DIFFERS: Final = "differs"
"""The key of an outcome that describes how replay of the run differs, if it does."""


@dataclass(frozen=True)
class HeldRuns(Work):
    """Work on the runs that the evidence of a suite holds; a cluster receives the files of each run."""

    root: str
    deferred: DeferredPlan

    def document(self) -> dict[str, Any]:
        """The specs."""
        return {"specs": self.deferred.bundle.document()}

    def sent(self, item: int) -> tuple[int, dict[str, bytes]]:
        """The number and the files of a run."""
        return item, read_files(self.folder(item))

    def perform_remotely(self, item: tuple[int, dict[str, bytes]]) -> Any:
        """What the work gives of a run that was sent; it is written to where the run of its number belongs."""
        folder = self.folder(item[0])
        folder.parent.mkdir(parents=True)
        write_files(item[1], folder)
        return self(item[0])

    def folder(self, number: int) -> Path:
        """Where the run of a number is."""
        return Path(self.root, *self.deferred.plan.cases[number][1].place.split("/"))


@dataclass(frozen=True)
class RunChecks(HeldRuns):
    """Verifies runs and reads their figures; where `tried`, runs whose suite tests replay are replayed in any case."""

    entry = "checks"

    kinds: SpecKinds
    replay: bool
    tried: bool = False

    def __call__(self, item: int) -> dict[str, Any]:
        """What is known of the run of a number, or why it is `broken`."""
        trial, case = self.deferred.plan.cases[item]
        try:
            resources = Resources(self.kinds, plan=self.deferred.plans)
            replay, values = self.replay or (self.tried and trial.replay), self.deferred.plan.values_of_run
            return look_at(trial, case, self.folder(item), resources, replay=replay, values=values)
        except Broken as broken:
            return {"broken": f"{broken.message} [{broken.code}]"}
        except MALFORMED as error:
            return {"broken": f"its receipts are malformed: {misformed(error)}"}

    def document(self) -> dict[str, Any]:
        """The specs, and whether to replay."""
        return {**HeldRuns.document(self), "replay": self.replay}


def look_at(
    trial: Trial, case: Case, folder: Path, resources: Resources, *, replay: bool, values: int
) -> dict[str, Any]:
    """What is known of a run from its evidence alone, and how replay differs from it, if that was asked for.

    Its figures may be made of so many `values`.

    Raises:
        Broken: A check of it fails that is not the one of replay, or it is not the run of this case.
    """
    episodes, samples = Episodes(case.heading, case.truth), Samples()
    wanted, left = trial.wanted(case), values

    def listen(type_: str, body: Mapping[str, Any]) -> None:
        nonlocal left
        episode: Mapping[str, Any] | None = episodes.add(type_, body)
        if episode is not None:
            if not all(_is_of_type(episode[name], type_) for name, type_ in case.sampler.types.items()):
                raise TypeError(f"episode {episode['episode']} holds other values than its specs lead to")
            left = case.sampler.sample(episode, samples, wanted, left)

    compares = trial.replay and replay
    kind = replace(RUN, order=lambda: RunOrder(listen))
    compiled = _opened(folder, kind, resources, replay=replay and not compares)
    manifest, differs = compiled.manifest, None
    if replay and not compares and other_maker(manifest) is not None:
        raise Broken(E_REPLAY, "it cannot be made again: another version made it than the suite")
    if manifest["specs"] != case.bundle.digest:
        raise Broken(E_SPECS, "it was made from other specs than the suite leads to")
    compared = UNCOMPARED
    try:
        if compares:
            compared = _compared(compiled.content)
        elif replay:
            compiled.content.replay()
    except Broken as broken:
        differs = f"{broken.message} [{broken.code}]"
    known = outcome_of(manifest, compared, samples, episodes.trajectories)
    return known if differs is None else {**known, DIFFERS: differs}


def _is_of_type(value: Any, type_: Type) -> bool:
    """Whether a name of an episode holds what it is typed as, or nothing because that would be too much."""
    return isinstance(value, EvaluationError) or conforms(value, type_)


def _opened(
    folder: Path, kind: EvidenceKind[RunOrder, RunContent], resources: Resources, *, replay: bool
) -> Compiled[RunOrder, RunContent]:
    """A run of a suite, of which no check but that of replay is left."""
    verification = Verification()
    try:
        compiled = compile_bundle(folder, kind, resources, verification, inner=True)
        compiled.content.check(verification, obstacle_to_replay(compiled, replay=replay))
    except Stopped:
        failed = next(check for check in verification.checks if check.status is Status.FAILED)
        raise Broken(failed.code or "", failed.message or "") from None
    return compiled


def _compared(content: RunContent) -> dict[str, Any]:
    """The entry of a run in the receipts of a suite with `replay: bytes`."""
    receipts = content.checked.receipts
    comparison = try_lines(content.lines(), list(receipts.lines()), receipts.run)
    if not comparison["exact"]:
        raise Broken(E_REPLAY, "replay gives other receipts")
    return {"intact": True, **comparison}


def outcome_of(
    manifest: Mapping[str, Any], replay: Mapping[str, Any], samples: Samples, trajectories: Sequence[str]
) -> dict[str, Any]:
    """What is known of a run, from its manifest and from what was read off its receipts."""
    known = {name: manifest[name] for name in NAMED}
    return {**known, "replay": dict(replay), "samples": samples, "trajectories": list(trajectories)}
