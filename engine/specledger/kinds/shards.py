"""Shards: parts of a run, made anywhere, and merged into the bytes of the run that is made at once.

A shard has every n-th run of a suite, or a range of the episodes of a scenario. It is a folder with these runs or
receipts, the specs, and `shard.json`, which says which shard of what it is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from specledger.compile.plan import Plan
from specledger.core.canonical import canonical_bytes
from specledger.core.diagnostics import Diagnostic, Rejected, code
from specledger.core.events import Event
from specledger.core.floats import FLOATS_ANYWHERE
from specledger.core.verdict import Verdict
from specledger.evidence.bundle import BundleWriter
from specledger.evidence.chain import run_id
from specledger.evidence.disk import write_file
from specledger.evidence.engine import engine_digest
from specledger.evidence.layout import MAX_SOURCES, RECEIPTS, SOURCES
from specledger.evidence.workplace import SHARD
from specledger.kinds.kind import case_name
from specledger.kinds.running import Finished
from specledger.kinds.table import MODELS
from specledger.load import Bundle, bundle_from_document
from specledger.verify.checks import Broken
from specledger.verify.manifest import MAX_MANIFEST, MAX_SPECS, read_document
from specledger.verify.receipts import Receipts
from specledger.verify.replay import first_line, join_run
from specledger.verify.whole_episodes import episodes_of, whole_episodes

FORMAT: Final = "specledger/shard/v1"
_RESOLVED: Final = "resolved.json"  # the specs; not called as in a bundle, which a shard is not

E_SHARD = code(
    "E_SHARD",
    "this is no shard that can be merged",
    "`spec merge` takes the folders that `spec run SPEC --shard i/n` wrote: all n of them, each once, unchanged, of "
    "the same specs by the same engine. The message says what is missing, doubled or different. Make that shard again. "
    "Suites have shards, and scenarios whose episodes do not depend on one another.",
)


class Shard(Struct, frozen=True):
    """A shard that was read.

    Attributes:
        place: Its folder.
        number, of: It is the `number`-th of so many.
        specs: The digest of the specs.
        case: The id of the matrix case.
    """

    place: Path
    number: int
    of: int
    specs: str
    case: str


def write_shard(
    writer: BundleWriter, bundle: Bundle, shard: tuple[int, int], made: int, of: int, what: str
) -> Finished:
    """Write what goes with the runs or episodes of a shard, and move it to its place.

    Args:
        writer: Where they are.
        bundle: The specs.
        shard: Its number, and how many there are.
        made: How many runs or episodes it has.
        of: How many there are in all shards.
        what: What they are.

    Raises:
        Rejected: The place cannot be written.
    """
    files = {f"{SOURCES}/{name}": data for name, data in bundle.sources.items()}
    files[_RESOLVED] = canonical_bytes(bundle.document(), FLOATS_ANYWHERE) + b"\n"
    known = {"format": FORMAT, "engine": engine_digest(), "specs": bundle.digest, "case": bundle.case}
    files[SHARD] = canonical_bytes({**known, "shard": list(shard)}) + b"\n"

    def fill(folder: Path) -> None:
        for name, data in files.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            write_file(folder / name, data)

    writer.finish_unsealed(fill)
    result = {"verdict": Verdict.PASS.value, "shard": list(shard), "made": made, "of": of, "what": what}
    return Finished(case_name(bundle), bundle.main.kind, writer.place, {"result": result})


def read_shards(folders: Sequence[Path]) -> tuple[tuple[Shard, ...], Bundle]:
    """All shards of one run, and its specs.

    Raises:
        Rejected: E_SHARD.
    """
    for place in folders:
        odd = next(
            (path for path in place.rglob("*") if path.is_symlink() or not (path.is_dir() or path.is_file())), None
        )
        if odd is not None:
            raise refused(f"{odd} is a link or no file")
    shards = tuple(_read(folder) for folder in folders)
    first = shards[0]
    for shard in shards:
        if (shard.specs, shard.case, shard.of) != (first.specs, first.case, first.of):
            raise refused(f"{shard.place} is a shard of other specs, or of another number, than {first.place}")
    numbers = [shard.number for shard in shards]
    doubled = [number for number in sorted(set(numbers)) if numbers.count(number) > 1]
    missing = next((number for number in range(1, first.of + 1) if number not in numbers), None)  # `of` may be huge
    if doubled or missing:
        number, fault = (doubled[0], "there twice") if doubled else (missing, "missing")
        raise refused(f"shard {number} of {first.of} is {fault}")
    try:
        document = read_document(first.place / _RESOLVED, MAX_SPECS, E_SHARD)
        bundle = bundle_from_document(document, MODELS)
    except Broken as broken:
        raise refused(f"{first.place}: {broken.message}") from None
    if bundle.digest != first.specs:
        raise refused(f"{first.place}: its specs are others than it says")
    return shards, replace(bundle, case=first.case, sources=_sources(first.place / SOURCES))


def take_episodes(shards: Sequence[Shard], bundle: Bundle, plan: Plan) -> Iterator[Event]:
    """The events of a run whose episodes are in shards; all of them are checked before the first event.

    Raises:
        Rejected: E_SHARD, if one is missing or changed.
    """
    start, found = first_line(bundle, plan), []
    for shard in sorted(shards, key=lambda one: one.number):
        own = episodes_of_shard(plan.episodes, (shard.number, shard.of))
        receipts = Receipts(shard.place / RECEIPTS, run_id(bundle.digest))
        count = whole_episodes(receipts, start, own.start)
        if count < len(own):
            raise refused(f"{shard.place}: episode {own.start + count} is missing or changed")
        found.append(episodes_of(receipts, len(own)))
    return join_run(bundle, plan, chain.from_iterable(found))


def episodes_of_shard(episodes: int, shard: tuple[int, int]) -> range:
    """The numbers of the episodes in a shard of a run."""
    number, of = shard
    return range(episodes * (number - 1) // of, episodes * number // of)


def _read(place: Path) -> Shard:
    try:
        known: Mapping[str, Any] = read_document(place / SHARD, MAX_MANIFEST, E_SHARD)
        number, of = known["shard"]
        if known["format"] != FORMAT or not 1 <= number <= of:
            raise ValueError
        shard = Shard(place, number, of, str(known["specs"]), str(known["case"]))
    except Broken as broken:
        raise refused(f"{place}: {broken.message}") from None
    except (LookupError, TypeError, ValueError):
        raise refused(f"{place}: {SHARD} is malformed") from None
    if known["engine"] != engine_digest():
        raise refused(f"{place} was made by an engine with other source files")
    return shard


def _sources(folder: Path) -> dict[str, bytes]:
    """The files that the specs were resolved from; a verifier resolves them again."""
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    if sum(path.stat().st_size for path in paths) > MAX_SOURCES:
        raise refused(f"{folder} is too large")
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}


def refused(message: str) -> Rejected:
    """What is wrong with a shard, or with what there are no shards of."""
    return Rejected([Diagnostic(E_SHARD, message)])
