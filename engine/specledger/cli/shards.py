"""`spec merge`, and the shards that `spec run --shard I/N` makes: parts of the runs or episodes of a spec."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from specledger.cli.executors import executor_of
from specledger.cli.options import UNREPLAYED, Origin, Replayed, Sign, Stamp, Workers, seal_of
from specledger.cli.output import print_error, print_status, print_text
from specledger.cli.replaying import print_replay
from specledger.core.diagnostics import counted, printable
from specledger.core.verdict import Verdict, exit_code

if TYPE_CHECKING:
    from specledger.kinds.running import Finished
    from specledger.load import Bundle

_SHARD: Final = re.compile(r"([1-9][0-9]{0,3})/([1-9][0-9]{0,3})")

Shards = Annotated[
    list[Path], typer.Argument(metavar="FOLDER...", help="Every folder that `spec run … --shard I/N` wrote.")
]
OutFolder = Annotated[Path | None, typer.Option(show_default="out/<case>", help="The place of the evidence.")]


def merge(
    folders: Shards,
    out: OutFolder = None,
    sign: Sign = None,
    origin: Origin = None,
    timestamp: Stamp = None,
    replay: Replayed = False,
    workers: Workers = None,
) -> None:
    """Merge the shards of a suite or a scenario into the evidence of the whole; nothing is run again unless asked."""
    from specledger.evidence.seal import UNSIGNED
    from specledger.kinds import KINDS
    from specledger.kinds.running import RunOptions
    from specledger.kinds.shard_merging import read_shards
    from specledger.kinds.shards import refused
    from specledger.pipeline.executing import place_cases, replay_and_seal

    _, bundle = read_shards(folders, KINDS)
    (folder,) = place_cases([bundle], out)
    kind = KINDS[bundle.main.kind].run if bundle.main.kind in KINDS.runnable() else None
    if kind is None or kind.merge is None:
        raise refused(f"there are no shards of a {bundle.main.kind}")
    seal = seal_of(sign, origin, timestamp)
    if seal != UNSIGNED and not replay:
        print_error(f"{counted(len(folders), 'shard')}: merged and sealed {UNREPLAYED}")
    finished = kind.merge(folders, KINDS, folder, RunOptions(seal=UNSIGNED if replay else seal))
    with executor_of(workers, None) as executor:
        finished = replay_and_seal(finished, RunOptions(executor, seal=seal, replay=replay))
    (print_status if finished.verdict is Verdict.PASS else print_text)(kind.show([finished]))
    print_replay(finished)
    raise typer.Exit(exit_code(finished.ending))


def read_shard(text: str | None, cases: Sequence[Bundle], *, sealed: bool) -> tuple[int, int] | None:
    """Parse `--shard`; typer.BadParameter if it is malformed or the shard is empty, or a case has no shards."""
    from specledger.kinds import KINDS

    if text is None:
        return None
    match = _SHARD.fullmatch(text)
    if match is None or int(match[1]) > int(match[2]):
        raise typer.BadParameter(f"--shard is I/N, such as 2/4: from 1 to N, not {text!r}")
    if _are_separate(cases):
        if int(match[1]) > len(cases):
            raise typer.BadParameter(f"shard {text} is empty: there are only {len(cases)} to run")
        return int(match[1]), int(match[2])
    other = next((case for case in cases if KINDS[case.main.kind].run.merge is None), None)
    if other is not None:
        raise typer.BadParameter(
            f"{other.main.name} is a {other.main.kind}: --shard is for suites, scenarios and lists of laws"
        )
    if sealed:
        raise typer.BadParameter("a shard is no evidence yet: `spec merge` packs and signs; --log is for whole runs")
    return int(match[1]), int(match[2])


def _are_separate(cases: Sequence[Bundle]) -> bool:
    """Whether all cases are short runs, so that a shard of them is a part of the list, with nothing to merge."""
    from specledger.kinds import KINDS

    return all(KINDS[case.main.kind].run.work is not None for case in cases)


def take_shard(
    todo: list[tuple[Bundle, Path]], part: tuple[int, int] | None, *, named: bool
) -> tuple[list[tuple[Bundle, Path]], tuple[int, int] | None]:
    """The runs of a shard with their folders, and the part of each that is run; None for the whole."""
    if part is None:
        return todo, None
    number, of = part
    if _are_separate([bundle for bundle, _ in todo]):
        return todo[number - 1 :: of], None
    if named:
        return todo, part
    return [(bundle, folder.with_name(f"{folder.name}.shard-{number}-of-{of}")) for bundle, folder in todo], part


def print_shards(finished: Sequence[Finished]) -> None:
    """Print the number, the size and the folder of each shard."""
    for shard in finished:
        result = shard.manifest["result"]
        number, of = result["shard"]
        count = f"{result['made']} of {counted(result['of'], result['what'])}"
        print_status(f"{printable(shard.name)}  shard {number}/{of}: {count}, {printable(str(shard.place))}")
