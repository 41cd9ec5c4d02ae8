"""Shards: every n-th run of a suite, made anywhere, and merged into the bytes of the suite that is made at once.

A shard is a folder with the runs, a record of each, the specs, and `shard.json`, which says which shard of what it is.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from specledger.compile.suite import DeferredPlan
from specledger.core.canonical import canonical_bytes
from specledger.core.diagnostics import Diagnostic, Rejected, code
from specledger.core.floats import FLOATS_ANYWHERE
from specledger.evidence.bundle import BundleWriter
from specledger.evidence.disk import write_file
from specledger.evidence.engine import engine_digest
from specledger.evidence.layout import MAX_SOURCES, SOURCES
from specledger.evidence.workplace import SHARD
from specledger.kinds.finished_runs import FINISHED, read_finished
from specledger.kinds.table import MODELS
from specledger.kinds.wire import to_bytes
from specledger.load import Bundle, bundle_from_document
from specledger.suites.assessment import UNCOMPARED
from specledger.verify.checks import Broken
from specledger.verify.manifest import MAX_MANIFEST, MAX_SPECS, read_document
from specledger.verify.suite_runs import RunChecks

FORMAT: Final = "specledger/shard/v1"
_SUITE: Final = "suite.json"  # the resolved specs; not called as in a bundle, which a shard is not

E_SHARD = code(
    "E_SHARD",
    "this is no shard that can be merged",
    "`spec merge` takes the folders that `spec run SUITE --shard i/n` wrote: all n of them, each once, unchanged, of "
    "the same specs by the same engine. The message says what is missing, doubled or different. Make that shard again.",
)


class Shard(Struct, frozen=True):
    """A shard that was read.

    Attributes:
        place: Its folder.
        number, of: It has every `of`-th run, from the `number`-th on.
        specs: The digest of the suite's specs.
        case: The id of the matrix case of the suite.
    """

    place: Path
    number: int
    of: int
    specs: str
    case: str


def write_shard(writer: BundleWriter, bundle: Bundle, shard: tuple[int, int]) -> None:
    """Write what goes with the finished runs of a shard, and move it to its place."""
    files = {f"{SOURCES}/{name}": data for name, data in bundle.sources.items()}
    files[_SUITE] = canonical_bytes(bundle.document(), FLOATS_ANYWHERE) + b"\n"
    known = {"format": FORMAT, "engine": engine_digest(), "specs": bundle.digest, "case": bundle.case}
    files[SHARD] = canonical_bytes({**known, "shard": list(shard)}) + b"\n"

    def fill(folder: Path) -> None:
        (writer.beside / FINISHED).mkdir(exist_ok=True)  # a shard may have no run
        (writer.beside / FINISHED).rename(folder / FINISHED)
        for name, data in files.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            write_file(folder / name, data)

    writer.finish_unsealed(fill)


def read_shards(folders: Sequence[Path]) -> tuple[tuple[Shard, ...], Bundle]:
    """All shards of one suite, and the suite.

    Raises:
        Rejected: E_SHARD.
    """
    shards = tuple(_read(folder) for folder in folders)
    for place in folders:
        linked = next((path for path in place.rglob("*") if path.is_symlink()), None)
        if linked is not None:
            raise _refused(f"{linked} is a link")
    first = shards[0]
    for shard in shards:
        if (shard.specs, shard.case, shard.of) != (first.specs, first.case, first.of):
            raise _refused(f"{shard.place} is a shard of other specs, or of another number, than {first.place}")
    numbers = [shard.number for shard in shards]
    doubled = [number for number in sorted(set(numbers)) if numbers.count(number) > 1]
    missing = sorted({*range(1, first.of + 1)} - {*numbers})
    if doubled or missing:
        number, fault = (doubled[0], "there twice") if doubled else (missing[0], "missing")
        raise _refused(f"shard {number} of {first.of} is {fault}")
    try:
        document = read_document(first.place / _SUITE, MAX_SPECS, E_SHARD)
        bundle = bundle_from_document(document, MODELS)
    except Broken as broken:
        raise _refused(f"{first.place}: {broken.message}") from None
    if bundle.digest != first.specs:
        raise _refused(f"{first.place}: its specs are others than it says")
    return shards, replace(bundle, case=first.case, sources=_sources(first.place / SOURCES))


def take_runs(shards: Sequence[Shard], deferred: DeferredPlan, folder: Path) -> dict[str, Any]:
    """Copy the runs of all shards to a folder; what is known of them, by their places, as their receipts say it too.

    Whether a run was replayed is taken from its record.

    Raises:
        Rejected: E_SHARD, if one is missing or changed.
    """
    cases = [case for _, case in deferred.plan.cases]
    outcomes: dict[str, Any] = {}
    for shard in shards:
        own = cases[shard.number - 1 :: shard.of]
        found = read_finished(shard.place / FINISHED, shard.place, own)
        lost = [case.place for case in own if case.place not in found]
        if lost:
            raise _refused(f"{shard.place}: the run {lost[0]} is missing or changed")
        for place in found:
            (folder / place).parent.mkdir(parents=True, exist_ok=True)
            shutil.copytree(shard.place / place, folder / place)
        outcomes |= found
    checks = RunChecks(str(folder), deferred, MODELS, replay=False)
    for number, case in enumerate(cases):
        known, said = checks(number), outcomes[case.place]
        if "broken" in known:
            raise _refused(f"{case.place}: {known['broken']}")
        if to_bytes(known) != to_bytes({**said, "replay": known["replay"]}) or not _is_replay(said["replay"]):
            raise _refused(f"{case.place}: its record says something else than its receipts")
    return outcomes


def _is_replay(said: Any) -> bool:
    """Whether a record says of replay what a run can say of it."""
    form = {name: type(value) for name, value in UNCOMPARED.items()}
    return isinstance(said, dict) and {name: type(value) for name, value in said.items()} == form


def _read(place: Path) -> Shard:
    try:
        known: Mapping[str, Any] = read_document(place / SHARD, MAX_MANIFEST, E_SHARD)
        number, of = known["shard"]
        if known["format"] != FORMAT or not 1 <= number <= of:
            raise ValueError
        shard = Shard(place, number, of, str(known["specs"]), str(known["case"]))
    except Broken as broken:
        raise _refused(f"{place}: {broken.message}") from None
    except (LookupError, TypeError, ValueError):
        raise _refused(f"{place}: {SHARD} is malformed") from None
    if known["engine"] != engine_digest():
        raise _refused(f"{place} was made by an engine with other source files")
    return shard


def _sources(folder: Path) -> dict[str, bytes]:
    """The files that the specs were resolved from; a verifier resolves them again."""
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    if sum(path.stat().st_size for path in paths) > MAX_SOURCES:
        raise _refused(f"{folder} is too large")
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}


def _refused(message: str) -> Rejected:
    return Rejected([Diagnostic(E_SHARD, message)])
