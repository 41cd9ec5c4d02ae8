"""The whole episodes among the receipts of an unfinished run or of a shard.

They are checked as the receipts of a bundle are without replay: chain, form, order, commitments and states.
"""

from __future__ import annotations

from collections.abc import Iterator

from specledger.core.canonical import parse_written
from specledger.core.events import Event
from specledger.verify.checks import Broken
from specledger.verify.receipts import MALFORMED, Receipts, linked, read_receipt
from specledger.verify.run_order import RunOrder


def whole_episodes(receipts: Receipts, start: bytes, first: int) -> int:
    """How many episodes a file of receipts holds from a number on, one after the other; what follows is not looked at.

    Args:
        receipts: The file; it may be missing, torn, or anything else.
        start: The first receipt of the run.
        first: The number of the first episode.

    Raises:
        OSError: It cannot be read.
    """
    if receipts.path.is_symlink() or not receipts.path.is_file():
        return 0
    order, count = RunOrder(first=first), 0
    try:
        for number, (line, _) in enumerate(linked(receipts)):
            receipt = read_receipt(line, number)
            if (number == 0 and line != start) or receipt["type"] == "end":
                break
            order.add(receipt["type"], receipt["body"])
            count += receipt["type"] == "episode_end"
    except (Broken, *MALFORMED):
        pass  # what was before it counts
    return count


def episodes_of(receipts: Receipts, count: int) -> Iterator[Event]:
    """The events of the first episodes of a file of receipts that was looked at, without the one before them."""
    for line in receipts.lines() if count else ():
        receipt = parse_written(line)
        if receipt["type"] != "start":
            yield Event(receipt["type"], receipt["body"])
            count -= receipt["type"] == "episode_end"
        if not count:
            return
