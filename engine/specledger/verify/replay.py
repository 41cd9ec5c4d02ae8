"""Replay: the run made again from its recorded specs, and its receipts compared byte for byte.

The whole episodes of an unfinished run or of a shard are checked as receipts are without replay, and are not run again.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import zip_longest
from pathlib import Path
from typing import Any, Final

from specledger.compile.plan import Plan
from specledger.core.canonical import NotCanonical, parse_canonical, parse_written
from specledger.core.events import Event
from specledger.evidence.chain import Chain, run_id
from specledger.evidence.result import Tally
from specledger.load import Bundle
from specledger.run.scenario_run import Progress, join_run
from specledger.verify.checks import E_REPLAY, Broken, short
from specledger.verify.held import Kept
from specledger.verify.receipts import MALFORMED, Receipts, linked, read_receipt
from specledger.verify.run_order import RunOrder

Made = Callable[[Progress | None], Iterator[Event]]
"""Makes the events of a run, each time that it is called; it may report progress as (done, total)."""


def first_line(bundle: Bundle, plan: Plan) -> bytes:
    """The first receipt of a run."""
    return Chain(run_id(bundle.digest)).seal(next(join_run(bundle, plan, iter(()))))


def finished_episodes(bundle: Bundle, plan: Plan, before: Path, episodes: range) -> tuple[int, Iterator[Event]]:
    """How many of the first episodes of a run the receipts of an attempt that ended early hold, and their events."""
    receipts = Receipts(before, run_id(bundle.digest))
    count = min(whole_episodes(receipts, first_line(bundle, plan), episodes.start), len(episodes))
    return count, episodes_of(receipts, count)


def whole_episodes(receipts: Receipts, start: bytes, first: int, tally: Tally | None = None) -> int:
    """How many episodes a file, which may hold anything, has from the number `first` on; what follows is not looked at.

    They are added to the tally of the files before it, if there is one.

    Raises:
        OSError: It cannot be read.
        Rejected: E_EVIDENCE_SIZE, if what must be kept of its receipts takes too much memory.
    """
    if receipts.path.is_symlink() or not receipts.path.is_file():
        return 0
    order, tally, count = RunOrder(first=first), tally or Tally(), 0
    kept = Kept(order, tally)
    try:
        for number, (line, _) in enumerate(linked(receipts)):
            receipt = read_receipt(line, number)
            if (number == 0 and line != start) or receipt["type"] == "end":
                break
            order.add(receipt["type"], receipt["body"])
            tally.add(receipt["type"], receipt["body"])
            kept.look(len(line))
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


_DIGEST: Final = re.compile(r"[0-9a-f]{32}|[0-9a-f]{64}")


class _Absent:
    """Stands for a field that only one of two receipts has."""

    def __repr__(self) -> str:
        return "nothing"


_ABSENT: Final = _Absent()


def make_again(make: Made, digest: str) -> Iterator[bytes]:
    """The lines of a run that is made again from specs of this digest."""
    chain = Chain(run_id(digest), rooted=False)
    return (chain.seal(event) for event in make(None))


def compare(replayed: Iterable[bytes], recorded: Iterable[bytes]) -> int:
    """Compare every receipt of two runs, and give their number.

    Raises:
        Broken: E_REPLAY, naming the first receipt and field that differ.
    """
    count = 0
    for new, given in zip_longest(replayed, recorded):
        if new != given:
            raise Broken(E_REPLAY, first_difference(count, new, given))
        count += 1
    return count


def first_difference(number: int, replayed: bytes | None, given: bytes | None) -> str:
    """Words for how a recorded receipt differs from the one that replay made, None being beyond the last one."""
    if given is None:
        return f"receipt {number} is missing: replay goes on"
    if replayed is None:
        return f"receipt {number} is one too many: replay has ended"
    fields = list(differences(replayed, given))
    path, left, right = min(fields, key=lambda difference: (difference[0] != "type", is_digest(difference)))
    return f"receipt {number} differs at {path}: recorded {short(right)}, replayed {short(left)}"


def differences(replayed: bytes, given: bytes) -> Iterator[tuple[str, Any, Any]]:
    """Each field in which two different receipts differ, in canonical order: path, replayed, given."""
    try:
        recorded = parse_canonical(given, limit=len(given))
    except NotCanonical:
        recorded = given
    return _differ(parse_canonical(replayed, limit=len(replayed), most=len(replayed)), recorded, "")


def is_digest(difference: tuple[str, Any, Any]) -> bool:
    """Whether two digests differ: something that follows from another difference and says nothing by itself."""
    return all(isinstance(value, str) and _DIGEST.fullmatch(value) for value in difference[1:])


def _differ(replayed: Any, given: Any, path: str) -> Iterator[tuple[str, Any, Any]]:
    if isinstance(replayed, Mapping) and isinstance(given, Mapping):
        for key in sorted({*replayed, *given}):
            yield from _differ(replayed.get(key, _ABSENT), given.get(key, _ABSENT), f"{path}.{key}" if path else key)
    elif isinstance(replayed, list) and isinstance(given, list):
        for index, (left, right) in enumerate(zip_longest(replayed, given, fillvalue=_ABSENT)):
            yield from _differ(left, right, f"{path}[{index}]")
    elif type(replayed) is not type(given) or replayed != given:
        yield path or "its form", replayed, given
