"""Is a run the same when it is made again, and would it be noticed if it were not?

Decides how a copy is altered: one step of the middle says something else, and everything after it is sealed again, so
that the copy is whole in itself. Refuses to know suites.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

from specledger.core.canonical import parse_canonical
from specledger.core.events import Event
from specledger.evidence.chain import Chain
from specledger.evidence.layout import MANIFEST, MAX_LINE, RECEIPTS, SPECS
from specledger.spec.base import Models
from specledger.verify.audit_chain import signatures_of
from specledger.verify.checks import E_MANIFEST, E_SPECS, Broken
from specledger.verify.documents import MAX_MANIFEST, MAX_SPECS, read_document
from specledger.verify.receipts import Receipts
from specledger.verify.replay import compare, make_again, plan_again, rebuild
from specledger.verify.tape import tape_at


def try_replay(place: Path, models: Models) -> dict[str, Any]:
    """Read a run back from its evidence, check its chain, make it again, and compare; then an altered copy.

    Returns:
        What `try_lines` says, and `intact`: its chain was found whole.
    """
    manifest = read_document(place / MANIFEST, MAX_MANIFEST, E_MANIFEST)
    receipts = Receipts(place / RECEIPTS, manifest["run"])
    intact = True
    try:
        receipts.link()
        receipts.check()
    except Broken:
        intact = False
    bundle = rebuild(read_document(place / SPECS, MAX_SPECS, E_SPECS), models)
    made = make_again(plan_again(bundle, tape_at(place), partial(signatures_of, receipts.lines())), bundle.digest)
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
