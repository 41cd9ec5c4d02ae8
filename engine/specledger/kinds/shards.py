"""Shards: parts of a run, made anywhere, and merged into the bytes of the run that is made at once.

A shard has every n-th run of a suite, or a range of the episodes of a scenario. It is a folder with these runs or
receipts, the sources of the specs, and `shard.json`, which says which shard of what it is.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from specledger.core import disk
from specledger.core.canonical import canonical_bytes
from specledger.core.diagnostics import Diagnostic, Rejected, code
from specledger.core.verdict import Verdict
from specledger.evidence.bundle import BundleWriter
from specledger.evidence.layout import SOURCES
from specledger.evidence.resume import engine_digest
from specledger.evidence.workplace import SHARD
from specledger.kinds.case import case_name
from specledger.kinds.running import Finished
from specledger.load import Bundle

FORMAT: Final = "specledger/shard/v1"
E_SHARD = code("E_SHARD", "this is no shard that can be merged")


def write_shard(
    writer: BundleWriter, bundle: Bundle, shard: tuple[int, int], count: int, of: int, what: str
) -> Finished:
    """Write what goes with `count` of the runs or episodes of a shard (`what` they are), and move it to its place."""
    files = {f"{SOURCES}/{name}": data for name, data in bundle.sources.items()}
    known = {"format": FORMAT, "engine": engine_digest(), "specs": bundle.digest, "shard": list(shard)}
    files[SHARD] = canonical_bytes(known) + b"\n"

    def fill(folder: Path) -> None:
        for name, data in files.items():
            disk.make_folders((folder / name).parent)
            disk.write_file(folder / name, data)

    writer.finish_unsealed(fill)
    result = {"verdict": Verdict.PASS.value, "shard": list(shard), "made": count, "of": of, "what": what}
    return Finished(case_name(bundle), bundle.main.kind, writer.place, {"result": result})


def episodes_of_shard(episodes: int, shard: tuple[int, int]) -> range:
    """The numbers of the episodes in a shard of a run."""
    number, of = shard
    return range(episodes * (number - 1) // of, episodes * number // of)


def refused(message: str, hint: str | None = None) -> Rejected:
    """What is wrong with a shard, or with what there are no shards of."""
    return Rejected([Diagnostic(E_SHARD, message, hint=hint)])
