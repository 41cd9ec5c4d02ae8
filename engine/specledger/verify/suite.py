"""The verification of a suite: its own chain, every run that it holds, and that the one follows from the others."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final

from specledger.compile.suite import DeferredPlan
from specledger.core.canonical import NotCanonical
from specledger.core.diagnostics import Rejected, code
from specledger.core.verdict import Verdict
from specledger.evidence.chain import Chain, run_id
from specledger.evidence.layout import FOLDERS, MANIFEST, RECEIPTS, SCENARIO
from specledger.evidence.result import SuiteTally
from specledger.expr import conforms
from specledger.load import Bundle
from specledger.run.workers import spread
from specledger.spec.base import Models
from specledger.suites.assessment import UNCOMPARED, assess
from specledger.suites.episodes import Episodes
from specledger.suites.measures import Samples
from specledger.suites.plan import Case, SuitePlan, Trial
from specledger.verify.assurance_levels import Reader
from specledger.verify.bundle import Verifier
from specledger.verify.checks import (
    E_ENDS,
    E_FILES,
    E_MANIFEST,
    E_REPLAY,
    E_SPECS,
    Broken,
    Lacking,
    Level,
    Status,
    Verification,
)
from specledger.verify.discovery import DiscoveryVerifier
from specledger.verify.documents import MAX_MANIFEST, read_document
from specledger.verify.judge import judge_lines
from specledger.verify.judge_checks import judge_checks
from specledger.verify.judged import Count, summary
from specledger.verify.law import LawVerifier
from specledger.verify.receipts import Receipts
from specledger.verify.replay import compare, make_again
from specledger.verify.replay_selftest import try_lines

SUITE: Final = "suite"

_NAMED: Final = ("specs", "receipts", "result")
"""What a suite's receipt of a run repeats from the run's manifest."""

_DIFFERS: Final = "differs"
"""Under what an outcome tells how replay of its run differs from it, where it does."""

E_RUNS = code(
    "E_RUNS",
    "a run of the suite is not what it must be",
    "A suite holds the evidence of every run in `runs`, `controls` and `mutants`, each a bundle of its own that is "
    "verified by itself. The message names the first one that is missing, was made from other specs, or is refuted.",
)
E_ASSESSMENT = code(
    "E_ASSESSMENT",
    "the suite's receipts are not what its runs lead to",
    "Figures, checks and what caught each mutant are computed again from the receipts of the runs, and the suite's own "
    "receipts are compared with them byte for byte.",
)


def verify_evidence(
    place: Path, models: Models, *, replay: bool = True, workers: int = 1, reader: Reader | None = None
) -> Verification:
    """Check the evidence at a place, of whatever kind its manifest names.

    Args:
        place: The folder.
        models: The model of each kind.
        replay: Whether runs are made again.
        workers: How many processes share the runs of a suite.
        reader: What else the reader brings and asks for; it says itself whether to replay.

    Raises:
        Rejected: E_NO_EVIDENCE, if there is none.
    """
    return verifier_of(place, models, Reader(replay=replay) if reader is None else reader, workers).verify()


def verifier_of(place: Path, models: Models, reader: Reader, workers: int = 1) -> Verifier:
    """What verifies the evidence at a place, by the kind that its manifest names; none is a run."""
    kind = kind_of(place)
    if kind == SUITE:
        return SuiteVerifier(place, models, reader.replay, workers, reader=reader)
    if kind == DiscoveryVerifier.kind:
        return DiscoveryVerifier(place, models, reader.replay, workers, reader=reader)
    return VERIFIERS.get(kind or SCENARIO, Verifier)(place, models, reader.replay, reader=reader, workers=workers)


VERIFIERS: Final[Mapping[str, type[Verifier]]] = {SCENARIO: Verifier, LawVerifier.kind: LawVerifier}
"""By the kind of a bundle what verifies it, where it is no other than that of a run."""


def kind_of(place: Path) -> str | None:
    """What the manifest at a place says that it is of, if there is one that says so."""
    try:
        manifest = read_document(place / MANIFEST, MAX_MANIFEST, E_MANIFEST)
    except (Broken, OSError):
        return None
    kind = manifest.get("kind") if isinstance(manifest, dict) else None
    return kind if isinstance(kind, str) else None


class SuiteOrder:
    """The receipts of a suite begin with `start`, end with `end`, and are of no type but its own.

    Attributes:
        runs: What they tell of each run, by its place.
    """

    _TYPES: Final = frozenset({"start", "run", "figure", "check", "mutant", "end"})

    def __init__(self) -> None:
        """Begin before the first receipt."""
        self.runs: dict[str, Mapping[str, Any]] = {}
        self._ended = False

    def add(self, type_: str, body: Mapping[str, Any]) -> None:
        """Take one receipt.

        Raises:
            Broken: It follows the end, or is of an unknown type.
        """
        if self._ended or type_ not in self._TYPES:
            raise Broken(E_ENDS, f"{type_!r} has no place here")
        self._ended = type_ == "end"
        if type_ == "run" and isinstance(body.get("place"), str):
            self.runs[body["place"]] = body


class SuiteVerifier(Verifier):
    """Makes the checks of a suite: those of its own bundle, then of its runs, and of what follows from them."""

    kind = SUITE
    further = ()
    folders = FOLDERS

    replays = "replay of every run gives the same bytes"

    def __init__(
        self, place: Path, models: Models, replay: bool, workers: int, *, reader: Reader | None = None
    ) -> None:
        """Prepare to verify with so many workers."""
        super().__init__(place, models, replay, reader=reader, workers=workers)
        self._plan: SuitePlan | None = None
        self._deferred: DeferredPlan | None = None
        self._outcomes: dict[str, Any] = {}
        self._order = SuiteOrder()

    def _make_further(self) -> None:
        self._make("every run is whole in itself, and made from the specs that the suite leads to", self._check_runs)
        self._make("figures, checks and mutants are what the runs lead to", self._check_assessment)

    def held(self) -> Sequence[str]:
        """The places of the runs, sorted.

        Raises:
            Broken: Something else lies in their folders.
        """
        found = []
        for folder in sorted(FOLDERS):
            inside = self.place / folder
            if os.path.lexists(inside):
                if inside.is_symlink() or not inside.is_dir():
                    raise Broken(E_FILES, f"{folder} is no plain folder")
                found += _places(inside, folder, 2)
        return sorted(found)

    def _open_receipts(self) -> Receipts:
        return Receipts(self.place / RECEIPTS, self.manifest["run"], self._order, SuiteTally())

    def compile(self, bundle: Bundle) -> None:
        """Compile the suite again.

        Raises:
            Broken: E_SPECS, if it does not compile.
        """
        try:
            self._deferred = DeferredPlan(bundle)
            self._plan = self._deferred.plan
        except Rejected as rejected:
            message = f"the recorded specs are invalid: {rejected.diagnostics[0].message}"
            raise Broken(E_SPECS, message) from None

    def _check_runs(self) -> str:
        assert self._plan is not None and self._deferred is not None  # noqa: S101, PT018 - set by an earlier check
        places = [case.place for _, case in self._plan.cases]
        if sorted(places) != list(self.held()):
            missing = sorted({*places} ^ {*self.held()})
            raise Broken(E_RUNS, f"the suite leads to other runs than it holds: {missing[0]}")
        look = partial(_look, str(self.place), self._deferred, self.models, self._unreplayable() is None)
        for place, outcome in zip(places, spread(look, range(len(places)), self._workers), strict=True):
            if "broken" in outcome:
                raise Broken(E_RUNS, f"{place}: {outcome['broken']}")
            told = self._order.runs.get(place, {})
            if any(told.get(name) != outcome[name] for name in _NAMED):
                raise Broken(E_RUNS, f"{place} is another run than the suite speaks of")
            self._outcomes[place] = outcome
        return f"{len(places)} runs"

    def _check_assessment(self) -> str:
        assert self._plan is not None and self.receipts is not None  # noqa: S101, PT018 - set by earlier checks
        unreplayed = self._unreplayable() is not None
        self._believe({place for place, known in self._outcomes.items() if unreplayed or _DIFFERS in known})
        chain = Chain(run_id(self._plan.specs))
        made = (chain.seal(event) for event in assess(self._plan, self._outcomes))
        try:
            return f"{compare(made, self.receipts.lines())} receipts"
        except (NotCanonical, KeyError, TypeError) as error:
            message = f"the runs lead to no receipts, since a recorded one is not of its form ({type(error).__name__})"
            raise Broken(E_ASSESSMENT, message) from None
        except Broken as broken:
            raise Broken(E_ASSESSMENT, broken.message.replace(", replayed ", ", computed ")) from None

    def _believe(self, places: Collection[str]) -> None:
        """Take from the receipts whether runs are exact, where that is another check's to refute, or nobody looks."""
        for place in places:
            self._outcomes[place] |= {"replay": self._order.runs[place].get("replay")}

    def _check_judged(self) -> str:
        """Every run is made once more, and judged where it is made."""
        assert self._plan is not None and self._deferred is not None  # noqa: S101, PT018 - set by an earlier check
        obstacle = self._unreplayable()
        if obstacle is not None:
            raise Lacking(f"what is judged are the states that replay makes, and {obstacle}")
        judge = partial(_judge, str(self.place), self._deferred)
        counts = judge_checks(self._plan, self._outcomes)
        places = [case.place for _, case in self._plan.cases]
        for place, found in zip(places, spread(judge, range(len(places)), self._workers), strict=True):
            counts.take(found, place)
        return summary(counts, self.verification)

    def _check_replay(self) -> str:
        """Each run was made again where it was looked at, since its specs were read there; what differed is told here.

        Raises:
            Broken: E_RUNS, naming the first run that is not what its specs lead to.
        """
        for place, known in self._outcomes.items():
            if _DIFFERS in known:
                raise Broken(E_RUNS, f"{place}: {known[_DIFFERS]}")
        return f"{len(self._outcomes)} runs"


def _places(folder: Path, path: str, depth: int) -> list[str]:
    """The bundles in a folder of a suite.

    Raises:
        Broken: Something else lies there.
    """
    found = []
    with os.scandir(folder) as entries:
        for entry in sorted(entries, key=lambda entry: entry.name):
            inner = f"{path}/{entry.name}"
            if not entry.is_dir(follow_symlinks=False) or depth == 0:
                raise Broken(E_FILES, f"not listed: {inner}")
            if (folder / entry.name / MANIFEST).exists():
                found.append(inner)
            else:
                found += _places(folder / entry.name, inner, depth - 1)
    if not found:
        raise Broken(E_FILES, f"not listed: {path} holds no run")
    return found


def _look(place: str, deferred: DeferredPlan, models: Models, replay: bool, number: int) -> dict[str, Any]:
    """Verify one run of a suite, in whatever process this is, and read its figures."""
    trial, case = deferred.plan.cases[number]
    folder = Path(place, *case.place.split("/"))
    try:
        return look_at(trial, case, folder, models, replay)
    except Broken as broken:
        return {"broken": f"{broken.message} [{broken.code}]"}
    except (KeyError, TypeError, IndexError, ValueError) as error:
        return {"broken": f"its receipts are not what they must be: {error!r}"}


def _judge(place: str, deferred: DeferredPlan, number: int) -> Count:
    """Judge one run of a suite, in whatever process this is."""
    _, case = deferred.plan.cases[number]
    folder = Path(place, *case.place.split("/"))
    return judge_lines(case.bundle, folder, Receipts(folder / RECEIPTS, "").lines())


def look_at(trial: Trial, case: Case, folder: Path, models: Models, replay: bool) -> dict[str, Any]:
    """What is known of a run from its evidence alone, and how replay differs from it, if that was asked for.

    Raises:
        Broken: A check of it fails that is not the one of replay, or it is not the run of this case.
    """
    episodes, samples = Episodes(case.heading, bound=True), Samples()  # it is told of receipts that were checked
    wanted = trial.wanted(case)

    def listen(type_: str, body: Mapping[str, Any]) -> None:
        episode = episodes.add(type_, body)
        if episode is not None:
            if not all(conforms(episode[name], type_) for name, type_ in case.sampler.types.items()):
                raise TypeError(f"episode {body['episode']} holds other values than its specs lead to")
            case.sampler.sample(episode, samples, wanted)

    compares = trial.replay and replay
    verifier = Verifier(folder, models, replay and not compares, listen, inner=True)
    found = verifier.verify()
    failed = next((check for check in found.checks if check.status is Status.FAILED), None)
    if failed is not None and failed.level is not Level.REPLAYED:
        raise Broken(failed.code or "", failed.message or "")
    if replay and not compares and found.verdict is Verdict.INCONCLUSIVE:
        raise Broken(E_REPLAY, "it cannot be made again: another version made it than the suite")
    if verifier.manifest["specs"] != case.bundle.digest:
        raise Broken(E_SPECS, "it was made from other specs than the suite leads to")
    differs = None if failed is None else f"{failed.message} [{failed.code}]"
    compared = UNCOMPARED
    if compares:
        try:
            compared = _compared(verifier)
        except Broken as broken:
            differs = f"{broken.message} [{broken.code}]"
    known = outcome_of(verifier.manifest, compared, samples)
    return known if differs is None else {**known, _DIFFERS: differs}


def _compared(verifier: Verifier) -> dict[str, Any]:
    """What a suite with `replay: bytes` says of a run whose chain was found whole.

    Raises:
        Broken: E_REPLAY, if replay gives other receipts; or the codes of a tape that does not fit.
    """
    assert verifier.make is not None and verifier.receipts is not None  # noqa: S101, PT018 - set by its checks
    made = make_again(verifier.make, verifier.manifest["specs"])
    found = try_lines(made, list(verifier.receipts.lines()), verifier.manifest["run"])
    if not found["exact"]:
        raise Broken(E_REPLAY, "replay gives other receipts")
    return {"intact": True, **found}


def outcome_of(manifest: Mapping[str, Any], replay: Mapping[str, Any], samples: Samples) -> dict[str, Any]:
    """What is known of a run, from its manifest and from what was read off its receipts."""
    known = {name: manifest[name] for name in _NAMED}
    return {**known, "replay": dict(replay), "samples": samples}
