"""Shards that are read and merged into the bytes of the run that is made at once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from specledger.compile.plan import Plan
from specledger.core.events import Event
from specledger.evidence.chain import run_id
from specledger.evidence.layout import MAX_SOURCES, RECEIPTS, SOURCES, is_source
from specledger.evidence.result import Tally
from specledger.evidence.resume import engine_digest
from specledger.evidence.workplace import SHARD
from specledger.kinds.shards import E_SHARD, FORMAT, episodes_of_shard, refused
from specledger.load import Bundle
from specledger.run.scenario_run import join_run
from specledger.spec.base import SpecKinds
from specledger.verify.checks import Broken
from specledger.verify.derived_files import resolve_sources
from specledger.verify.manifest import MAX_MANIFEST, read_document
from specledger.verify.receipts import Receipts
from specledger.verify.replay import episodes_of, first_line, whole_episodes

_KEYS: Final = {"format", "engine", "specs", "shard"}

_ALIKE: Final = "make every shard from the same files, with the same options but for --shard and --out"


class Shard(Struct, frozen=True):
    """A shard that was read, of so many, with its folder and the digest of the specs."""

    place: Path
    number: int
    of: int
    specs: str


def read_shards(folders: Sequence[Path], kinds: SpecKinds) -> tuple[tuple[Shard, ...], Bundle]:
    """All shards of one run, and its specs; Rejected as E_SHARD."""
    for source in folders:
        odd = next(
            (path for path in source.rglob("*") if path.is_symlink() or not (path.is_dir() or path.is_file())), None
        )
        if odd is not None:
            raise refused(f"{odd} is a link or no file")
    shards = tuple(_read(folder) for folder in folders)
    first = shards[0]
    for shard in shards:
        if (shard.specs, shard.of) != (first.specs, first.of):
            raise refused(f"{shard.place} is a shard of other specs, or of another number, than {first.place}", _ALIKE)
    numbers = [shard.number for shard in shards]
    doubled = [number for number in sorted(set(numbers)) if numbers.count(number) > 1]
    missing = next((number for number in range(1, first.of + 1) if number not in numbers), None)  # `of` may be huge
    if doubled or missing:
        number, fault = (doubled[0], "there twice") if doubled else (missing, "missing")
        origin = f"the same `spec run` with --shard {number}/{first.of} makes it"
        raise refused(f"shard {number} of {first.of} is {fault}", "leave one of the two out" if doubled else origin)
    sources = _sources(first)
    other = next((shard.place for shard in shards if _sources(shard) != sources), None)
    if other is not None:
        raise refused(f"{other} has other files in {SOURCES}/ than {first.place}", _ALIKE)
    try:
        bundle = resolve_sources(first.place, sorted(sources), kinds)
    except Broken as broken:
        raise refused(f"{first.place}: {SOURCES}/: {broken.message}") from None
    if bundle.digest != first.specs:
        raise refused(f"{first.place}: its specs are others than it says")
    return shards, replace(bundle, sources={path.removeprefix(f"{SOURCES}/"): sources[path] for path in sources})


def take_episodes(shards: Sequence[Shard], bundle: Bundle, plan: Plan) -> Iterator[Event]:
    """The events of a run whose episodes are in shards; all of them are checked before the first event."""
    start, episodes, tally = first_line(bundle, plan), [], Tally()
    for shard in sorted(shards, key=lambda part: part.number):
        own = episodes_of_shard(plan.episodes, (shard.number, shard.of))
        receipts = Receipts(shard.place / RECEIPTS, run_id(bundle.digest))
        count = whole_episodes(receipts, start, own.start, tally)
        if count < len(own):
            raise refused(f"{shard.place}: episode {own.start + count} is missing or changed")
        episodes.append(episodes_of(receipts, len(own)))
    return join_run(bundle, plan, chain.from_iterable(episodes))


def _read(folder: Path) -> Shard:
    try:
        known: Mapping[str, Any] = read_document(folder / SHARD, MAX_MANIFEST, E_SHARD)
        number, of = known["shard"]
        if known.keys() != _KEYS or known["format"] != FORMAT or not 1 <= number <= of:
            raise ValueError
        shard = Shard(folder, number, of, str(known["specs"]))
    except Broken as broken:
        raise refused(f"{folder}: {broken.message}") from None
    except (LookupError, TypeError, ValueError):
        raise refused(f"{folder}: {SHARD} is malformed") from None
    if known["engine"] != engine_digest():
        raise refused(f"{folder} was made by an engine with other source files")
    return shard


def _sources(shard: Shard) -> dict[str, bytes]:
    """The files that the specs were resolved from, by their paths in the shard; a verifier resolves them again."""
    files = sorted(path for path in (shard.place / SOURCES).rglob("*") if path.is_file())
    if sum(path.stat().st_size for path in files) > MAX_SOURCES:
        raise refused(f"{shard.place}: {SOURCES}/ is too large")
    paths = {path.relative_to(shard.place).as_posix(): path for path in files}
    foreign = next((path for path in paths if not is_source(path)), None)
    if foreign is not None:
        raise refused(f"{shard.place}: {foreign} is none of the files that specs are resolved from")
    return {path: file.read_bytes() for path, file in paths.items()}
