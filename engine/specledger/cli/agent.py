"""`spec agent check`: try an agent in a scenario."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from specledger.cli import completion
from specledger.cli.options import AnyFormat, OutputFormat, Overrides, TrustAgent
from specledger.cli.output import (
    diagnostics_json,
    diagnostics_text,
    print_error,
    print_json,
    print_text,
    with_output_options,
    write_findings,
)
from specledger.core.diagnostics import printable
from specledger.core.verdict import Verdict, exit_code

if TYPE_CHECKING:
    from specledger.report.agent import AgentReading

agent = typer.Typer(
    name="agent",
    help="Agents, from specs and from outside.",
    no_args_is_help=True,
    rich_markup_mode="rich",
    add_completion=False,
)

MOST_LINES: Final = 20
"""Lines of the standard error of a program that are shown."""


@agent.callback()
def agents() -> None:
    """Agents, from specs and from outside."""


@agent.command()
@with_output_options
def check(
    scenario: Annotated[
        str,
        typer.Option(
            metavar="SCENARIO", autocompletion=completion.scenarios, help="The scenario: a spec file or a name."
        ),
    ],
    target: Annotated[
        str | None,
        typer.Argument(
            metavar="[AGENT]",
            autocompletion=completion.specs,
            help="The agent: a spec (a file, or the name of a shipped one), a program (.py, .js, .sh), or module:name.",
        ),
    ] = None,
    command: Annotated[
        str | None, typer.Option(metavar="'WORDS'", help="The agent as a program, instead of a spec.")
    ] = None,
    deadline: Annotated[
        int | None, typer.Option("--deadline-ms", min=1, help="The time limit for an answer of the --command.")
    ] = None,
    decisions: Annotated[int, typer.Option(min=1, max=1000, help="The largest number of decisions.")] = 8,
    trust_agent: TrustAgent = False,
    overrides: Overrides = None,
    format_: AnyFormat = OutputFormat.HUMAN,
) -> None:
    """Let an agent make a few decisions in a scenario, and report whether it follows the protocol."""
    from tempfile import TemporaryDirectory

    from specledger.pipeline.trying import commanded, outside_of, try_agent, with_agent

    if (target is None) == (command is None):
        raise typer.BadParameter("name an agent by its spec or by --command, not by both")
    outside = {"command": _words(command or "")} if target is None else outside_of(target)
    if deadline is not None and outside is None:
        raise typer.BadParameter("--deadline-ms needs a program; a spec has its own `deadline_ms`")
    with TemporaryDirectory(prefix="specledger-") as folder:
        limit = {} if deadline is None else {"deadline_ms": deadline}
        agent_ = target or "" if outside is None else commanded({**outside, **limit}, Path(folder))
        bundle = with_agent(agent_, scenario, overrides or (), decisions)
    reading = try_agent(bundle, trusted=trust_agent)
    _print_reading(reading, bundle.specs[bundle.main.refs["agent",]].name, bundle.main.name, format_)
    raise typer.Exit(exit_code(reading.verdict))


def _words(command: str) -> list[str]:
    try:
        return shlex.split(command)
    except ValueError as error:
        raise typer.BadParameter(f"--command: {error}") from None


def _print_reading(reading: AgentReading, agent_name: str, scenario: str, format_: OutputFormat) -> None:
    findings = reading.findings()
    if format_ is OutputFormat.JSON:
        diagnostics = {"diagnostics": diagnostics_json(findings)}
        print_json({**reading.document(agent_name, scenario), **diagnostics})
    elif format_ is OutputFormat.HUMAN:
        print_text(_text(reading, agent_name, scenario))
    else:
        passed = [f"agent {agent_name}"] if reading.verdict is Verdict.PASS else []
        write_findings(format_, findings, passed, about="specledger/check")
    if findings:
        print_error(diagnostics_text(findings))


def _text(reading: AgentReading, agent_name: str, scenario: str) -> str:
    summaries = {
        Verdict.PASS: "answers in time and with valid proposals",
        Verdict.FAIL: "does not follow the protocol",
        Verdict.INCONCLUSIVE: "proposed nothing" if reading.decisions else "was never asked",
    }
    failed, formless = reading.failures.total(), reading.malformed.total()
    lines = [
        f"{printable(agent_name)} in {printable(scenario)}: {summaries[reading.verdict]}",
        f"  decisions {reading.decisions}",
        f"  proposals {reading.proposals}, of which {formless} malformed and {reading.admitted} admitted by every gate",
    ]
    if reading.messages:
        sent = ", ".join(f"{name} {count}" for name, count in sorted(reading.messages.items()))
        total = reading.messages.total()
        lines.append(f"  messages {total}, of which {failed} without a valid answer in time: {sent}")
    for why in dict.fromkeys(reading.untried.values()):
        names = ", ".join(f"`{name}`" for name, other in reading.untried.items() if other == why)
        lines.append(f"  not tried: {names}: {printable(why)}")
    lines += reading.claims.lines()
    gates = ", ".join(f"{printable(gate)} {count}" for gate, count in sorted(reading.rejected.items()))
    lines += [f"  rejected by gates: {gates}"] if gates else []
    if reading.errors.strip() and reading.verdict is Verdict.FAIL:
        lines += ["  end of its standard error:"]
        lines += [f"    | {printable(line)}" for line in reading.errors.splitlines()[-MOST_LINES:]]
    return "\n".join(lines)
