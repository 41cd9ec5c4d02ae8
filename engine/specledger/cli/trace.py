"""`spec trace`: what happened in a run, step by step."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from specledger.cli import show
from specledger.cli.options import Format, Shown
from specledger.cli.report import open_all
from specledger.core.canonical import pretty
from specledger.core.diagnostics import printable

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from specledger.report.trace import StepLine, Trace


def trace(
    bundle: Annotated[Path, typer.Argument(metavar="BUNDLE", help="A folder or zip file that `spec run` wrote.")],
    episode: Annotated[int | None, typer.Option(min=0, help="The only episode that is shown.")] = None,
    step: Annotated[int | None, typer.Option(min=0, help="The one step that is shown whole.")] = None,
    field: Annotated[
        str | None, typer.Option(metavar="PATH", help="The field that is shown: step.cost.total, commit.proposals.0.")
    ] = None,
    most: Annotated[int, typer.Option(min=1, max=10_000, help="How many lines are shown at most.")] = 200,
    shown: Shown = Format.HUMAN,
) -> None:
    """Look into a run, after checking its chain: what was proposed, rejected, chosen and paid, step by step."""
    from specledger.report.trace import trace_run, trace_step

    with ExitStack() as held:
        (evidence,) = open_all([bundle], None, held)
        if step is not None:
            _say_step(trace_step(evidence, episode or 0, step, field), field, shown)
        else:
            _say_lines(trace_run(evidence, episode, most, field), shown)


def _say_step(found: Any, field: str | None, shown: Format) -> None:
    from specledger.report.trace import FORMAT

    if shown is Format.JSON:
        show.say_json(
            {"format": FORMAT, "field": field, "value": found} if field else {"format": FORMAT, "step": found}
        )
    elif field is not None:
        show.say(_escaped(found))
    else:
        heads = (f"{one['type']}  receipt {one['seq']}, {one['digest']}\n{_escaped(one['body'])}" for one in found)
        show.say("\n".join(heads))


def _escaped(value: Any) -> str:
    """A value as JSON over several lines, in which no character can hide."""
    return "\n".join(map(printable, pretty(value).removesuffix("\n").split("\n")))


def _say_lines(found: Trace, shown: Format) -> None:
    from specledger.report.trace import FORMAT

    if shown is Format.JSON:
        lines = [
            {"type": line.kind, "episode": line.episode, "t": line.t, "seq": line.seq, **line.facts}
            for line in found.lines
        ]
        show.say_json({"format": FORMAT, "lines": lines, "more": found.more})
        return
    more = [f"and {found.more} more lines (--most, --episode)"] if found.more else []
    show.say("\n".join([*map(_line, found.lines), *more]))


def _line(line: StepLine) -> str:
    from specledger.report.trace import shown

    place = f"{line.episode}:{'-' if line.t is None else line.t}"
    if set(line.facts) == {"value"}:
        return printable(f"{place:>8}  {shown(line.facts['value'])}")
    words = list(_step_words(line.facts)) if line.kind == "step" else [line.kind, *_other_words(line.facts)]
    return printable(f"{place:>8}  {'  '.join(words)}")


def _other_words(facts: Mapping[str, Any]) -> Iterator[str]:
    from specledger.report.trace import shown

    return (f"{name} {shown(value)}" for name, value in facts.items() if value is not None)


def _step_words(facts: Mapping[str, Any]) -> Iterator[str]:
    from specledger.report.trace import MOST_REASONS, shown

    yield f"proposed {facts['proposed']}"
    if facts["rejected"]:
        told = [f"{one['gate']}: {one['reason']} {one['count']}" for one in facts["rejected"][:MOST_REASONS]]
        left = len(facts["rejected"]) - len(told)
        yield f"admitted {facts['admitted']} ({'; '.join([*told, f'{left} more'] if left else told)})"
    if facts["errors"]:
        yield f"errors {facts['errors']}"
    yield "chose nothing" if facts["chosen"] is None else f"chose {facts['chosen']} {shown(facts['action'])}"
    if facts["cost"] is not None:
        yield f"cost {shown(facts['cost'])}"
    if facts["success"]:
        yield "success"
    if facts["violations"]:
        yield f"VIOLATES {shown(', '.join(map(str, facts['violations'])))}"
