"""`spec diff` and `spec trace`: compare two bundles, and look into a run step by step."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer
from msgspec import to_builtins

from specledger.cli import completion
from specledger.cli.options import Format, TextOrJson, Workers
from specledger.cli.output import fitted, print_json, print_text, with_short_digests
from specledger.cli.report import open_all
from specledger.core.canonical import pretty
from specledger.core.diagnostics import printable
from specledger.core.verdict import Exit

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from specledger.report.diff import Difference
    from specledger.report.receipt_diff import Change, ReceiptDiff
    from specledger.report.trace import StepLine, Trace
    from specledger.report.units import Tree

_DIGITS: Final = 10  # at most, of the number of a step
_POSITION: Final = ("episode", "t")
_SHOWN: Final = 20  # fields of a receipt in text output


Bundle = Annotated[Path, typer.Argument(autocompletion=completion.bundles, help="A folder that `spec run` wrote.")]
Compared = Annotated[
    Path,
    typer.Argument(
        autocompletion=completion.bundles, help="A folder that `spec run` wrote; with --logs a spec, such as a policy."
    ),
]
Logs = Annotated[
    list[Path] | None,
    typer.Option("--logs", metavar="PATH", help="Logs, or a folder of them, over which two specs are compared."),
]


LogFormat = Annotated[
    str | None,
    typer.Option(
        "--log-format",
        metavar="FORMAT",
        show_default="recognised by content",
        help="The format of all logs: one that is built in, or a spec of the kind format by its name or file.",
    ),
]


def diff(
    first: Compared,
    second: Compared,
    logs: Logs = None,
    log_format: LogFormat = None,
    workers: Workers = None,
    format_: TextOrJson = Format.HUMAN,
) -> None:
    """Compare two bundles: specs, results, starts, receipts, sources; or two policies: verdicts that flip over logs."""
    from specledger.kinds import KINDS
    from specledger.report.diff import compare
    from specledger.report.units import units_of

    if logs or any(path.suffix in (".yaml", ".yml") and path.is_file() for path in (first, second)):
        _diff_specs(str(first), str(second), logs or [], log_format, format_)
    if log_format is not None:
        raise typer.BadParameter("--log-format is for --logs")
    left, right = open_all([first, second], workers)
    difference = compare(left, right, KINDS)
    if format_ is Format.JSON:
        print_json(difference_json(difference))
    else:
        print_text("\n".join(_lines(difference, units_of(left.specs))))
    raise typer.Exit(Exit.CONFORMS if difference.same else Exit.FINDINGS)


def _diff_specs(first: str, second: str, logs: Sequence[Path], log_format: str | None, format_: Format) -> None:
    """Compare two specs over logs, and exit."""
    from specledger.kinds import KINDS, load

    missing = next((path for path in logs if not path.exists()), None)
    if missing is not None:
        raise typer.BadParameter(f"there is no file {printable(str(missing))}")
    before = load(first)[0]
    after = load(second, kind=before.main.kind)[0]
    try:
        compare = KINDS[before.main.kind].compare
    except LookupError as error:
        raise typer.BadParameter(f"{error}; what is compared are bundles, and policies with --logs") from None
    if not logs:
        raise typer.BadParameter("specs are compared over logs: name them by --logs PATH")
    try:
        compared = compare(before, after, logs, log_format)
    except LookupError as error:
        raise typer.BadParameter(str(error)) from None
    if format_ is Format.JSON:
        print_json(compared.document)
    else:
        print_text("\n".join(map(printable, compared.lines)))
    raise typer.Exit(compared.status)


def difference_json(difference: Difference) -> dict[str, Any]:
    """A difference as JSON values; its schema is `schemas/results/diff.schema.json`."""
    from specledger.report.diff import FORMAT

    known = to_builtins(difference)
    receipts, run = known.pop("receipts"), known.pop("run")
    kinds, names = known.pop("kinds"), known.pop("names")
    return {
        **known,
        "format": FORMAT,
        "same": difference.same,
        "subjects": [{"kind": kind, "name": name} for kind, name in zip(kinds, names, strict=True)],
        "start": receipts["start"],
        "receipts": receipts["receipts"],
        "run": run and {"place": run[0], **run[1]},
        "more": {**difference.more, "start": difference.receipts.more},
    }


def _lines(difference: Difference, units: Tree) -> Iterator[str]:
    if difference.same:
        others = ", from other sources" if difference.sources else ""
        yield f"{printable(difference.names[0])}: the same specs, receipts and result{others}"
        yield from _listed("sources", difference.sources, difference.more["sources"])
        return
    yield from _listed("sources", difference.sources, difference.more["sources"])
    yield from _listed("specs", difference.specs, difference.more["specs"])
    yield from _listed("checks", difference.checks, difference.more["checks"])
    yield from _listed("result", difference.results, difference.more["results"])
    yield from _listed("start", difference.receipts.start, difference.receipts.more)
    yield from _parted("receipts", difference.receipts, units)
    if difference.run is not None:
        run = printable(difference.run[0])
        yield from _listed(f"start of {run}", difference.run[1].start, difference.run[1].more)
        yield from _parted(run, difference.run[1], None)


def _listed(title: str, changes: Sequence[Change], left: int) -> Iterator[str]:
    if changes:
        yield title
        yield from (f"  {_line(change)}" for change in changes)
    if left:
        yield f"  and {left} more"


def _parted(what: str, parting: ReceiptDiff, units: Tree) -> Iterator[str]:
    parted = parting.receipts
    if parted is None:
        yield f"{what}{' after the start' if parting.start else ''}: the same"
        return
    where = "".join(
        f", {word} {value}" for word, value in (("episode", parted.episode), ("step", parted.t)) if value is not None
    )
    yield f"{what} part at {parted.seq} ({printable(parted.type)}{where})"
    yield from (f"  {_line(change.in_units(units, parted.type))}" for change in parted.changes[:_SHOWN])
    left = parted.more + max(0, len(parted.changes) - _SHOWN)
    if left:
        yield f"  and {left} more"


def _line(change: Change) -> str:
    sides = ("nothing" if side is None else printable(side) for side in (change.first, change.second))
    return f"{printable(change.path)}: {' -> '.join(sides)}"


def trace(
    bundle: Annotated[
        Path,
        typer.Argument(metavar="BUNDLE", autocompletion=completion.bundles, help="A folder that `spec run` wrote."),
    ],
    episode: Annotated[int | None, typer.Option(min=0, help="The only episode that is shown.")] = None,
    step: Annotated[
        str | None, typer.Option(metavar="[EPISODE:]STEP", help="The one step that is shown whole: 22, or 0:22.")
    ] = None,
    field: Annotated[
        str | None,
        typer.Option(metavar="PATH", help="The field that is shown: step.cost.total, commit.proposals.0, state.level."),
    ] = None,
    most: Annotated[int, typer.Option(min=1, max=10_000, help="How many lines are shown at most.")] = 200,
    format_: TextOrJson = Format.HUMAN,
) -> None:
    """Show the steps of a run after checking its chain: proposals, rejections, choices and costs."""
    from specledger.report.trace import step_in_units, trace_run, trace_step, value_in_units

    position = None if step is None else _parse_step(step, episode)
    (evidence,) = open_all([bundle], None)
    if position is not None:
        value = trace_step(evidence, *position, field)
        if field is not None and format_ is Format.HUMAN:
            value = value_in_units(value, evidence.specs, field)
        if field is None and format_ is Format.HUMAN:
            value = step_in_units(value, evidence.specs)
        _print_step(value, field, format_)
    else:
        result = trace_run(evidence, episode, most, field)
        _print_trace(result if format_ is Format.JSON else result.in_units(evidence.specs, field), format_)


def _parse_step(step: str, episode: int | None) -> tuple[int, int]:
    """The episode and the step that `--step` names, as `22` or as traces print it, `0:22`."""
    before, colon, t = step.rpartition(":")
    if not all(word.isascii() and word.isdigit() and len(word) < _DIGITS for word in [t, *([before] if colon else [])]):
        raise typer.BadParameter(f"--step {printable(step)} is no step such as 22 or 0:22")
    if colon and episode not in (None, int(before)):
        raise typer.BadParameter(f"--step {printable(step)} is not in --episode {episode}")
    return int(before) if colon else episode or 0, int(t)


def _print_step(value: Any, field: str | None, format_: Format) -> None:
    from specledger.report.trace import FORMAT

    if format_ is Format.JSON:
        print_json({"format": FORMAT, "field": field, "value": value} if field else {"format": FORMAT, "step": value})
    elif field is not None:
        print_text(_escaped(value))
    else:
        note = "digests and long texts are shortened: --format json has the receipts as they are"
        lines = "\n".join([*(line for receipt in value for line in _receipt(receipt)), note])
        print_text(fitted(with_short_digests(lines)))


def _receipt(receipt: Mapping[str, Any]) -> Iterator[str]:
    """The lines of a receipt without its place, which was asked for."""
    from specledger.report.value_words import laid_out

    recorded = f"receipt {receipt['seq']}, {receipt.get('digest')}"
    source = recorded if "digest" in receipt else f"after receipt {receipt['seq']}, recomputed"
    yield f"{receipt['type']}  {source}"
    body = {
        name: value for name, value in receipt["body"].items() if name not in _POSITION or receipt["type"] == "state"
    }
    yield from laid_out(body, "  ")
    yield ""


def _escaped(value: Any) -> str:
    """A value as JSON over several lines, with invisible characters escaped."""
    return "\n".join(map(printable, pretty(value).removesuffix("\n").split("\n")))


def _print_trace(result: Trace, format_: Format) -> None:
    from specledger.report.trace import FORMAT

    if format_ is Format.JSON:
        lines = [
            {"type": line.kind, "episode": line.episode, "t": line.t, "seq": line.seq, **line.facts}
            for line in result.lines
        ]
        print_json({"format": FORMAT, "lines": lines, "more": result.more})
        return
    more = [f"and {result.more} more lines (--most, --episode)"] if result.more else []
    print_text("\n".join([*map(_trace_line, result.lines), *more]))


def _trace_line(line: StepLine) -> str:
    from specledger.report.trace import shown

    position = f"{line.episode}:{'-' if line.t is None else line.t}"
    if set(line.facts) == {"value"}:
        return printable(f"{position:>8}  {shown(line.facts['value'])}")
    named = [] if line.kind in line.facts else [line.kind]  # `drift slip`, not `drift  drift slip`
    others = (f"{name} {shown(value)}" for name, value in line.facts.items() if value not in (None, ""))
    words = list(_step_words(line.facts)) if line.kind == "step" else [*named, *others]
    return printable(f"{position:>8}  {'  '.join(words)}")


def _step_words(facts: Mapping[str, Any]) -> Iterator[str]:
    from specledger.report.trace import MOST_REASONS, shown

    if "agent" in facts:
        yield str(facts["agent"])
    yield f"proposed {facts['proposed']}"
    if facts["rejected"]:
        reasons = [
            f"{rejection['gate']}: {rejection['reason']} {rejection['count']}"
            for rejection in facts["rejected"][:MOST_REASONS]
        ]
        left = len(facts["rejected"]) - len(reasons)
        yield f"admitted {facts['admitted']} ({'; '.join([*reasons, f'{left} more'] if left else reasons)})"
    if facts["errors"]:
        yield f"errors {facts['errors']}"
    yield "chose nothing" if facts["chosen"] is None else f"chose {facts['chosen']} {shown(facts['action'])}"
    if facts["cost"] is not None:
        yield f"cost {shown(facts['cost'])}"
    if facts["success"]:
        yield "success"
    if facts["violations"]:
        yield f"VIOLATES {shown(', '.join(map(str, facts['violations'])))}"
