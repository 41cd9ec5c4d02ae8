"""The `spec` command: every outcome has its exit code, and no traceback reaches a user."""

from __future__ import annotations

import os
import sys
from io import TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from typer.exceptions import TyperException

from specledger import __version__
from specledger.cli import show
from specledger.cli.agent import agent
from specledger.cli.announcing import Log, Purpose, check_purpose, make_run
from specledger.cli.check import check
from specledger.cli.codes import (
    DEFECT,
    E_INTERNAL,
    E_INTERRUPTED,
    E_SYSTEM,
    E_USAGE,
)
from specledger.cli.diff import diff
from specledger.cli.discover import Interrupted, discover
from specledger.cli.explain import explain
from specledger.cli.golden import golden, pin
from specledger.cli.interruption import interruptible
from specledger.cli.keys import keys
from specledger.cli.new import new
from specledger.cli.options import Files, Live, Out, OutputFormat, Overrides, ToldAs, TrustAgent, Workers, see_changes
from specledger.cli.outcomes import refuse, say_runs
from specledger.cli.plan import plan
from specledger.cli.report import report
from specledger.cli.sealing import Origin, Packed, Sign, Stamp, check_shared, seal, seal_of
from specledger.cli.trace import trace
from specledger.cli.verify import verify
from specledger.core.diagnostics import Diagnostic, Rejected, printable
from specledger.core.verdict import Exit, combine, exit_code

if TYPE_CHECKING:
    from collections.abc import Sequence

    from specledger.load import Bundle

app = typer.Typer(
    name="spec",
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    help="Write worlds, agents and rules as YAML, run them, and check the evidence without trusting anyone.",
    epilog="Exit codes: 0 conforms, 1 findings, 2 invalid input, 3 inconclusive, 4 something could not be evaluated, "
    "70 internal error, 130 interrupted, "
    "143 terminated.",
)

_USAGE = "`--help` after the name of a command shows how it is used"


File = Annotated[str, typer.Argument(metavar="FILE", help="A spec file, or the name of a shipped spec.")]


def _version(wanted: bool) -> None:
    if wanted:
        show.say(f"specledger {__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def options(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Options that come before a command; without a command, what there is."""
    if context.invoked_subcommand is None:
        show.say(context.get_help())
        raise typer.Exit(Exit.INVALID)


@app.command()
def run(  # noqa: PLR0913, PLR0917 - each is an option
    files: Files,
    seed: Annotated[int | None, typer.Option(min=0, help="Replace the seed.")] = None,
    episodes: Annotated[int | None, typer.Option(min=1, help="Replace the number of episodes.")] = None,
    out: Out = None,
    workers: Workers = None,
    trust_agent: TrustAgent = False,
    live: Live = False,
    sign: Sign = None,
    origin: Origin = None,
    timestamp: Stamp = None,
    packed: Packed = False,
    log: Log = None,
    purpose: Purpose = None,
    overrides: Overrides = None,
    shown: ToldAs = OutputFormat.HUMAN,
) -> None:
    """Run scenarios, suites, laws and discoveries, and write their evidence."""
    from specledger.kinds import KINDS
    from specledger.kinds.running import RunOptions
    from specledger.pipeline.checking import load_runs
    from specledger.pipeline.executing import place_cases
    from specledger.run.workers import available

    changes = list(overrides or [])
    changes += [f"seed={seed}"] if seed is not None else []
    changes += [f"episodes={episodes}"] if episodes is not None else []
    see_changes(changes)
    options = RunOptions(workers or available(), trust_agent, live, seal_of(sign, origin, timestamp))
    cases = load_runs(files, changes)
    _check_seed(seed, cases)
    check_shared(options.seal, len(cases))
    check_purpose(log, purpose)
    finished = []
    for bundle, place in zip(cases, place_cases(cases, out, packed=packed), strict=True):
        finished.append(make_run(log, bundle, purpose, place, options))
        if shown is OutputFormat.HUMAN and not KINDS[bundle.main.kind].run.table:
            show.say(KINDS[bundle.main.kind].run.show(finished[-1:]))
    if shown is OutputFormat.HUMAN:
        for kind in dict.fromkeys(one.kind for one in finished if KINDS[one.kind].run.table):
            show.say(KINDS[kind].run.show([one for one in finished if one.kind == kind]))
    else:
        say_runs(finished, shown, workers or available())
    raise typer.Exit(exit_code(combine(f.verdict for f in finished)))


def _check_seed(seed: int | None, cases: Sequence[Bundle]) -> None:
    """Refuse `--seed` for specs whose key `seed` is not the seed of their runs.

    Raises:
        Rejected: E_SEED_SUITE.
    """
    from specledger.kinds import KINDS

    if seed is not None:
        refusals = [(KINDS[one.main.kind].run.refuse_seed, one) for one in cases]
        found = [refuse_seed(one, seed) for refuse_seed, one in refusals if refuse_seed is not None]
        if found:
            raise Rejected(found)


app.command()(check)
app.command()(verify)
app.command(name="discover")(discover)
app.command(name="report")(report)
app.command()(diff)
app.command(name="seal")(seal)
app.command()(new)
app.command()(plan)
app.command()(explain)
app.command()(golden)
app.command(name="pin")(pin)
app.command()(trace)
app.add_typer(agent)
app.add_typer(keys)


@app.command(name="show")
def show_spec(
    file: File,
    resolved: Annotated[
        bool, typer.Option("--resolved/--origins", help="The resolved form as JSON, or where each value came from.")
    ] = True,
    overrides: Overrides = None,
) -> None:
    """Show what a spec amounts to after extends, params, matrix and references."""
    from specledger.pipeline.checking import load_cases

    for bundle in load_cases(file, overrides or ()):
        if resolved:
            show.say_json({"case": bundle.case, "digest": bundle.digest, **bundle.document()})
        else:
            show.say(show.origins_text(bundle))


@app.command()
def schema(
    kind: Annotated[
        str | None, typer.Argument(metavar="[KIND]", help="A kind, such as world; all if none is named.")
    ] = None,
) -> None:
    """Print the JSON Schema of a kind, for editors and other tools."""
    from specledger.kinds import MODELS
    from specledger.load.schemas import schema_for

    wanted = MODELS if kind is None else {kind: MODELS.get(kind)}
    schemas = {name: schema_for(name, model) for name, model in wanted.items() if model is not None}
    if not schemas:
        raise typer.BadParameter(f"{kind!r} is no kind; there are {', '.join(MODELS)}")
    show.say_json(schemas if kind is None else schemas[kind])


@app.command()
def demo(
    out: Annotated[Path, typer.Option(help="Folder for the evidence.")] = Path("out/demo"),
) -> None:
    """Run a shipped scenario and verify its evidence."""
    from specledger.cli.progress import progress_bar
    from specledger.kinds import KINDS
    from specledger.pipeline.checking import demo_case
    from specledger.pipeline.executing import execute
    from specledger.pipeline.verifying import verify as verify_bundle

    bundle = demo_case()
    show.say(f"$ spec run {bundle.main.name} --out {printable(str(out))}")
    with progress_bar(bundle.main.name) as progress:
        finished = execute(bundle, out, progress=progress)
    show.say(f"{KINDS[bundle.main.kind].run.show([finished])}\n\n$ spec verify {printable(str(out))}")
    verification = verify_bundle(out)
    show.say(show.verification_text(out, verification))
    raise typer.Exit(exit_code(combine([finished.verdict, verification.verdict])))


def main(command: typer.Typer = app) -> None:
    """Run a command line and exit with its exit code."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):  # a character that the terminal lacks is written as its escape
            stream.reconfigure(errors="backslashreplace")
    sys.exit(_guarded(command))


def _guarded(command: typer.Typer = app) -> int:
    with interruptible() as signals:
        status = _outcome(command)
    return 128 + signals[0] if signals and status == Exit.INTERRUPTED else status


def _outcome(command: typer.Typer) -> int:
    try:
        status = command(standalone_mode=False)
        if status == Exit.INTERRUPTED:  # typer makes a status of it
            raise KeyboardInterrupt
        return status if isinstance(status, int) else Exit.CONFORMS
    except Rejected as rejected:
        refuse(rejected.diagnostics)
        return Exit.INVALID
    except TyperException as error:
        message = error.format_message().replace("\n\t", " ")  # typer lists choices on lines of their own
        refuse([Diagnostic(E_USAGE, message, hint=_USAGE)])
        return Exit.INVALID
    except Interrupted as interrupted:
        refuse([interrupted.diagnostic])
        return Exit.INTERRUPTED
    except KeyboardInterrupt:
        refuse([Diagnostic(E_INTERRUPTED, "interrupted: nothing of the run under way was kept")])
        return Exit.INTERRUPTED
    except SystemExit:  # typer leaves so when nobody reads its help
        return Exit.CONFORMS
    except OSError as error:
        refuse([Diagnostic(E_SYSTEM, f"the system refuses: {error.strerror or error}")])
        return Exit.INVALID
    except Exception as error:
        if os.environ.get("SPECLEDGER_TRACEBACK"):
            raise
        refuse([Diagnostic(E_INTERNAL, f"internal error: {type(error).__name__}: {error}", hint=DEFECT)])
        return Exit.INTERNAL
