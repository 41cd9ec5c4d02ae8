"""The finished runs of a suite that is not finished itself: of one that ended early, or of a shard.

A run counts if its bundle passes every check but replay. Where the suite asks for replay, the run is replayed again.
Everything else is removed and run again.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any

from specledger.compile.suite import DeferredPlan
from specledger.core.diagnostics import code
from specledger.evidence.layout import FOLDERS, MANIFEST, MORE
from specledger.evidence.resume import remove
from specledger.evidence.transport import copy_files
from specledger.evidence.workplace import WORKING
from specledger.kinds.shard_merging import Shard
from specledger.kinds.shards import refused
from specledger.run.executor import Executor, spread
from specledger.run.workers import ALONE
from specledger.suites.plan import Case
from specledger.verify.checks import E_MANIFEST, Broken
from specledger.verify.manifest import MAX_MANIFEST, check_files, read_document
from specledger.verify.suite_runs import DIFFERS, NAMED, RunChecks

E_CLUSTER_RESULT = code("E_CLUSTER_RESULT", "a cluster returned something else than the work's result")


def read_finished(
    folder: Path, deferred: DeferredPlan, numbers: Sequence[int], executor: Executor
) -> Iterator[tuple[Case, Any, str | None]]:
    """Check runs of a suite in a folder that holds no links; the executor shares the files of this process.

    Yields:
        Of each run in turn its case, what is known of it, and why it does not count, or None.
    """
    cases = [deferred.plan.cases[number][1] for number in numbers]
    whole = [(folder / case.place / MANIFEST).is_file() for case in cases]
    there = [number for number, present in zip(numbers, whole, strict=True) if present]
    checks = RunChecks(str(folder), deferred, deferred.bundle.kinds, replay=False, tried=True)
    outcomes = spread(checks, there, executor)
    for case, present in zip(cases, whole, strict=True):
        known = next(outcomes) if present else {"broken": "it is missing"}
        yield case, known, known.get("broken", known.get(DIFFERS))


def take_runs(shards: Sequence[Shard], deferred: DeferredPlan, folder: Path) -> dict[str, Any]:
    """Copy the runs of all shards to a folder; what is known of them, by their places, as their receipts say it."""
    outcomes: dict[str, Any] = {}
    for shard in shards:
        own = range(len(deferred.plan.cases))[shard.number - 1 :: shard.of]
        for case, known, fault in read_finished(shard.place, deferred, own, ALONE):
            if fault is not None:
                raise refused(f"{shard.place}: the run {case.place} is missing or changed: {fault}")
            copy_files(shard.place / case.place, folder / case.place)
            outcomes[case.place] = known
    return outcomes


def remove_unfinished(folder: Path, cases: Sequence[Case], finished: Collection[str], *, working: bool = True) -> None:
    """Remove what is no finished run from the folders of runs; with `working` not the working folders of others."""
    kept = {case.place for case in cases} - {*finished} if working else set()
    above = {str(parent) for case in cases for parent in PurePosixPath(case.place).parents}

    def clear(inside: Path, path: str) -> None:
        for entry in inside.iterdir():
            location, name = f"{path}/{entry.name}", WORKING.fullmatch(entry.name)
            if location in above and entry.is_dir():
                clear(entry, location)
            elif location not in finished and (name is None or f"{path}/{name[1]}" not in kept):
                remove(entry)

    for name in sorted(FOLDERS):
        if (folder / name).is_dir():
            clear(folder / name, name)


def fault_of(folder: Path, specs: str, outcome: Mapping[str, Any]) -> str | None:
    """Why the run that a cluster returned is not the one with these specs and this outcome; None if it is."""
    try:
        manifest = read_document(folder / MANIFEST, MAX_MANIFEST, E_MANIFEST)
        check_files(folder, manifest["files"], MORE)
        if manifest["specs"] != specs:
            return "it was made from other specs"
        return None if all(outcome[name] == manifest[name] for name in NAMED) else "its manifest says something else"
    except Broken as broken:
        return broken.message
    except (LookupError, TypeError, ValueError) as error:
        return f"its manifest is malformed ({type(error).__name__})"
