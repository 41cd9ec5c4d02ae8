"""`spec diff`: where two bundles part."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from specledger.cli import show
from specledger.cli.options import Format, Shown, Workers
from specledger.cli.report import open_all
from specledger.core.diagnostics import printable
from specledger.core.verdict import Exit

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from specledger.report.diff import Difference
    from specledger.report.receipt_diff import Change, Divergence, Parting


_SHOWN: Final = 20  # fields of a receipt that people are shown


Bundle = Annotated[Path, typer.Argument(help="A folder or zip file that `spec run` wrote.")]


def diff(
    first: Bundle,
    second: Bundle,
    workers: Workers = None,
    shown: Shown = Format.HUMAN,
) -> None:
    """Compare two bundles: specs, results, verdicts, starts, the first later receipt that differs, and sources."""
    from specledger.kinds import KINDS, report_kinds
    from specledger.report.diff import compare

    with ExitStack() as held:
        left, right = open_all([first, second], workers, held)
        found = compare(left, right, report_kinds(KINDS))
    if shown is Format.JSON:
        show.say_json(difference_json(found))
    else:
        show.say("\n".join(_lines(found)))
    raise typer.Exit(Exit.CONFORMS if found.same else Exit.FINDINGS)


def difference_json(found: Difference) -> dict[str, Any]:
    """A difference as JSON values; its schema is `schemas/results/diff.schema.json`."""
    from specledger.report.diff import FORMAT

    run = None if found.run is None else {"place": found.run[0], **_parting(found.run[1]), "more": found.run[1].more}
    return {
        "format": FORMAT,
        "same": found.same,
        "subjects": [{"kind": kind, "name": name} for kind, name in zip(found.kinds, found.names, strict=True)],
        "specs": _changes(found.specs),
        "results": _changes(found.results),
        "checks": _changes(found.checks),
        **_parting(found.receipts),
        "run": run,
        "sources": _changes(found.sources),
        "more": {**found.more, "start": found.receipts.more},
    }


def _changes(changes: Sequence[Change]) -> list[dict[str, str | None]]:
    return [{"path": one.path, "first": one.first, "second": one.second} for one in changes]


def _parting(parted: Parting) -> dict[str, Any]:
    later = None if parted.receipts is None else _divergence(parted.receipts)
    return {"start": _changes(parted.start), "receipts": later}


def _divergence(parted: Divergence) -> dict[str, Any]:
    place = {"seq": parted.seq, "type": parted.type, "episode": parted.episode, "t": parted.t}
    return {**place, "ended": parted.ended, "changes": _changes(parted.changes), "more": parted.more}


def _lines(found: Difference) -> Iterator[str]:
    if found.same:
        others = ", from other sources" if found.sources else ""
        yield f"{printable(found.names[0])}: the same specs, receipts and result{others}"
        yield from _listed("sources", found.sources, found.more["sources"])
        return
    yield from _listed("sources", found.sources, found.more["sources"])
    yield from _listed("specs", found.specs, found.more["specs"])
    yield from _listed("checks", found.checks, found.more["checks"])
    yield from _listed("result", found.results, found.more["results"])
    yield from _listed("start", found.receipts.start, found.receipts.more)
    yield from _parted("receipts", found.receipts)
    if found.run is not None:
        place = printable(found.run[0])
        yield from _listed(f"start of {place}", found.run[1].start, found.run[1].more)
        yield from _parted(place, found.run[1])


def _listed(title: str, changes: Sequence[Change], left: int) -> Iterator[str]:
    if changes:
        yield title
        yield from (f"  {_line(change)}" for change in changes)
    if left:
        yield f"  and {left} more"


def _parted(what: str, parting: Parting) -> Iterator[str]:
    parted = parting.receipts
    if parted is None:
        yield f"{what}{' after the start' if parting.start else ''}: the same"
        return
    where = "".join(
        f", {word} {value}" for word, value in (("episode", parted.episode), ("step", parted.t)) if value is not None
    )
    yield f"{what} part at {parted.seq} ({printable(parted.type)}{where})"
    yield from (f"  {_line(change)}" for change in parted.changes[:_SHOWN])
    left = parted.more + max(0, len(parted.changes) - _SHOWN)
    if left:
        yield f"  and {left} more"


def _line(change: Change) -> str:
    sides = ("nothing" if side is None else printable(side) for side in (change.first, change.second))
    return f"{printable(change.path)}: {' -> '.join(sides)}"
