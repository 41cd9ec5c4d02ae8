"""A test of replay on one run: the run is reproduced, and an altered copy is noticed.

The copy has another success in one step of the middle and is sealed again from there, so that its chain is valid.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from specledger.compile.scenario import compile_scenario
from specledger.core.canonical import parse_canonical
from specledger.core.events import Event
from specledger.evidence.chain import Chain
from specledger.evidence.layout import MANIFEST, MAX_LINE, RECEIPTS, SPECS
from specledger.evidence.result import Tally
from specledger.spec.base import Models
from specledger.verify.checks import E_MANIFEST, E_SPECS, Broken
from specledger.verify.documents import MAX_MANIFEST, MAX_SPECS, read_document
from specledger.verify.receipts import Receipts, follow, link
from specledger.verify.replay import compare, make_again, rebuild
from specledger.verify.run import made_again
from specledger.verify.run_order import RunOrder


def try_replay(place: Path, models: Models) -> dict[str, Any]:
    """Read a run back from its evidence, check its chain, make it again, and compare; then an altered copy.

    Returns:
        What `try_lines` returns, and `intact`: the chain is valid.
    """
    manifest = read_document(place / MANIFEST, MAX_MANIFEST, E_MANIFEST)
    receipts = Receipts(place / RECEIPTS, manifest["run"])
    intact = True
    try:
        link(receipts)
        follow(receipts, RunOrder(), Tally())
    except Broken:
        intact = False
    specs = rebuild(read_document(place / SPECS, MAX_SPECS, E_SPECS), models)
    made = make_again(made_again(compile_scenario(specs), specs, place, receipts), specs.digest)
    return {"intact": intact, **try_lines(made, list(receipts.lines()), manifest["run"])}


def try_lines(made: Iterable[bytes], recorded: Sequence[bytes], run: str) -> dict[str, Any]:
    """Compare a run with what making it again gives, and then an altered copy of it.

    Args:
        made: The lines that making it again gives.
        recorded: The lines of the run.
        run: Its identifier.

    Returns:
        `exact`: no difference was found. `compared`: how many receipts were compared. `noticed`: that the bytes of the
        altered copy are others was found.
    """
    again = list(made)
    found: dict[str, Any] = {"exact": True, "compared": 0, "noticed": False}
    try:
        found["compared"] = compare(again, recorded)
    except Broken:
        found["exact"] = False
    try:
        compare(again, altered(recorded, run))
    except Broken:
        found["noticed"] = True
    return found


def altered(lines: Sequence[bytes], run: str) -> list[bytes]:
    """A copy of a run in which one step claims the opposite of its success, sealed again from there on."""
    receipts: list[Any] = [parse_canonical(line, limit=MAX_LINE) for line in lines]
    steps = [number for number, receipt in enumerate(receipts) if receipt["type"] == "step"]
    for number in islice(steps, len(steps) // 2, len(steps) // 2 + 1):
        receipts[number]["body"]["success"] = not receipts[number]["body"]["success"]
    chain = Chain(run)
    return [chain.seal(Event(receipt["type"], receipt["body"])) for receipt in receipts]
