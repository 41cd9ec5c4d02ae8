"""The `spec` command: every outcome has its exit code, and no traceback reaches a user."""

from __future__ import annotations

import os
import shlex
import sys
from enum import StrEnum
from io import TextIOWrapper
from itertools import pairwise
from pathlib import Path
from typing import Annotated

import typer
from typer.exceptions import TyperException

from engine import __version__
from engine.cli import show
from engine.cli.codes import E_GOLDEN_DIFFERS, E_GOLDEN_NONE, E_INTERNAL, E_INTERRUPTED, E_SYSTEM, E_USAGE
from engine.cli.report import report
from engine.core.diagnostics import Diagnostic, Rejected, explain, printable
from engine.core.verdict import Exit, Verdict, combine, exit_code

app = typer.Typer(
    name="spec",
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    help="Write worlds, agents and rules as YAML, run them, and check the evidence without trusting anyone.",
    epilog="Exit codes: 0 conforms, 1 findings, 2 invalid input, 3 inconclusive, 70 internal error, 130 interrupted.",
)

_USAGE = "`spec --help` and `spec COMMAND --help` show how it is used"
_DEFECT = "this is a defect of specledger; with SPECLEDGER_TRACEBACK=1 in the environment it shows where"


class Format(StrEnum):
    """How results are shown."""

    HUMAN = "human"
    JSON = "json"


Files = Annotated[list[str], typer.Argument(metavar="FILE...", help="Spec files, or names of shipped specs.")]
File = Annotated[str, typer.Argument(metavar="FILE", help="A spec file, or the name of a shipped spec.")]
Overrides = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="PATH=VALUE", help="Override a field of the resolved spec; may be repeated."),
]
Workers = Annotated[
    int | None,
    typer.Option(min=1, max=256, help="Processes that share the runs of a suite.  [default: one for each processor]"),
]
Shown = Annotated[Format, typer.Option("--format", help="How results are shown.")]


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
    out: Annotated[
        Path | None,
        typer.Option(
            help="Where the evidence of a single case goes; several get a folder each in it.  [default: out/<case>]"
        ),
    ] = None,
    workers: Workers = None,
    trust_agent: Annotated[
        bool, typer.Option("--trust-agent", help="Execute the programs and functions that specs name as agents.")
    ] = False,
    live: Annotated[
        bool, typer.Option("--live", help="Have each entry of the audit log on the disk before its action.")
    ] = False,
    overrides: Overrides = None,
    shown: Shown = Format.HUMAN,
) -> None:
    """Run scenarios, suites and laws, and write their evidence."""
    from engine.cli.progress import progress_bar
    from engine.pipeline import Conduct, execute, load_runs, place_cases
    from engine.run.workers import available

    changes = list(overrides or [])
    changes += [f"seed={seed}"] if seed is not None else []
    changes += [f"episodes={episodes}"] if episodes is not None else []
    cases = load_runs(files, changes)
    finished, laws = [], []
    for bundle, place in zip(cases, place_cases(cases, out), strict=True):
        with progress_bar(bundle.main.name) as progress:
            conduct = Conduct(trusted=trust_agent, live=live)
            finished.append(execute(bundle, place, progress, workers or available(), conduct))
        if finished[-1].found:
            show.complain(show.diagnostics_text(finished[-1].found))
        if bundle.main.kind == "law":
            laws.append(finished[-1])
        elif shown is Format.HUMAN:
            show.say(show.finished_text(finished[-1]))
    if laws and shown is Format.HUMAN:
        show.say(show.laws_text(laws))
    if shown is Format.JSON:
        show.say_json({"runs": [show.finished_json(one) for one in finished]})
    raise typer.Exit(exit_code(combine(f.verdict for f in finished)))


@app.command()
def check(files: Files, overrides: Overrides = None, shown: Shown = Format.HUMAN) -> None:
    """Check specs without running them; every finding of every file at once."""
    from engine.pipeline import check as check_specs

    checked, findings = check_specs(files, overrides or ())
    if shown is Format.JSON:
        ok = [{"kind": one.kind, "name": one.name, "case": one.case, "digest": one.digest} for one in checked]
        show.say_json({"checked": ok, "diagnostics": show.diagnostics_json(findings)})
    elif checked:
        show.say(show.checked_text(checked))
    if findings:
        show.complain(show.diagnostics_text(findings))
    raise typer.Exit(Exit.INVALID if findings else Exit.CONFORMS)


@app.command()
def verify(
    bundle: Annotated[Path, typer.Argument(metavar="BUNDLE", help="A folder that `spec run` wrote, or an audit log.")],
    replay: Annotated[bool, typer.Option(help="Make the run again and compare every byte.")] = True,
    workers: Workers = None,
    shown: Shown = Format.HUMAN,
) -> None:
    """Check evidence: the chain without the engine, then replay from the recorded specs."""
    from engine.pipeline import verify as verify_bundle
    from engine.run.workers import available

    verification = verify_bundle(bundle, replay=replay, workers=workers or available())
    if shown is Format.JSON:
        show.say_json(show.verification_json(verification))
    else:
        show.say(show.verification_text(bundle, verification))
    raise typer.Exit(exit_code(verification.verdict))


app.command(name="report")(report)


@app.command()
def golden(
    files: Annotated[
        list[str] | None,
        typer.Argument(metavar="[FILE...]", help="Scenarios and suites; all of specs/scenario/ if none is named."),
    ] = None,
    update: Annotated[bool, typer.Option("--update", help="Accept what they give now.")] = False,
    folder: Annotated[Path, typer.Option("--dir", help="Where the goldens are.")] = Path("fixtures/golden"),
    workers: Workers = None,
) -> None:
    """Compare scenarios and suites with their pinned digests and receipts, or accept a change."""
    from engine.pipeline import load_runs, pin, pin_matches
    from engine.run.workers import available

    named = files or sorted(str(path) for path in Path("specs/scenario").glob("*.yaml"))
    if not named:
        show.complain(show.diagnostics_text([Diagnostic(E_GOLDEN_NONE, "there is no specs/scenario/*.yaml here")]))
        raise typer.Exit(Exit.INCONCLUSIVE)
    findings = []
    for bundle in load_runs(named):
        made = pin(bundle, workers or available())
        difference = pin_matches(made, folder)
        if difference is not None and update:
            made.write(folder)
        elif difference is not None:
            accept = shlex.join(["spec", "golden", "--update", f"--dir={folder}", bundle.main.span("spec").file])
            findings.append(Diagnostic(E_GOLDEN_DIFFERS, f"{made.name}: {difference}", hint=f"to accept it: {accept}"))
        word = "same" if difference is None else "accepted" if update else "differs"
        verdict = made.tree["result"]["verdict"]
        show.say(f"{made.name}: {word}{'' if verdict == Verdict.PASS else f', and its verdict is {verdict}'}")
    if findings:
        show.complain(show.diagnostics_text(findings))
    raise typer.Exit(Exit.FINDINGS if findings else Exit.CONFORMS)


@app.command(name="show")
def show_spec(
    file: File,
    resolved: Annotated[
        bool, typer.Option("--resolved/--origins", help="The resolved form as JSON, or where each value came from.")
    ] = True,
    overrides: Overrides = None,
) -> None:
    """Show what a spec amounts to after extends, params, matrix and references."""
    from engine.pipeline import load_cases

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
    from engine.load.schemas import schema_for
    from engine.spec.kinds import KINDS

    if kind is not None and kind not in KINDS:
        raise typer.BadParameter(f"{kind!r} is no kind; there are {', '.join(KINDS)}")
    show.say_json(schema_for(kind) if kind is not None else {name: schema_for(name) for name in KINDS})


@app.command(name="explain")
def explain_code(
    what: Annotated[
        str, typer.Argument(metavar="CODE", help="A code from a message, such as E_CHAIN; or `kinds`, for those.")
    ],
) -> None:
    """Say what a code means and what to do about it."""
    import engine.pipeline  # noqa: F401 - registers the codes of every room
    from engine.core.diagnostics import codes, suggest

    if what == "kinds":
        show.say(show.kinds_text())
        return
    page = explain(what.upper())
    if page is None:
        near = suggest(what.upper(), codes())
        raise typer.BadParameter(f"there is no code {what!r}" + (f"; did you mean {near}?" if near else ""))
    show.say(f"{page.name}: {page.title}\n\n{page.text}")


@app.command()
def demo(
    out: Annotated[Path, typer.Option(help="Folder for the evidence.")] = Path("out/demo"),
) -> None:
    """Run a shipped scenario and verify its evidence."""
    from engine.cli.progress import progress_bar
    from engine.pipeline import demo_case, execute
    from engine.pipeline import verify as verify_bundle

    bundle = demo_case()
    show.say(f"$ spec run {bundle.main.name} --out {printable(str(out))}")
    with progress_bar(bundle.main.name) as progress:
        finished = execute(bundle, out, progress)
    show.say(f"{show.finished_text(finished)}\n\n$ spec verify {printable(str(out))}")
    verification = verify_bundle(out)
    show.say(show.verification_text(out, verification))
    raise typer.Exit(exit_code(combine([finished.verdict, verification.verdict])))


def main() -> None:
    """Run the command line and leave with its exit code."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):  # a character that the terminal lacks is written as its escape
            stream.reconfigure(errors="backslashreplace")
    sys.exit(_guarded())


def _guarded() -> int:
    as_json = "--format=json" in sys.argv or ("--format", "json") in pairwise(sys.argv)
    try:
        status = app(standalone_mode=False)
        if status == Exit.INTERRUPTED:  # typer makes a status of it
            raise KeyboardInterrupt
        return status if isinstance(status, int) else Exit.CONFORMS
    except Rejected as rejected:
        show.refuse(rejected.diagnostics, as_json)
        return Exit.INVALID
    except TyperException as error:
        show.refuse([Diagnostic(E_USAGE, error.format_message(), hint=_USAGE)], as_json)
        return Exit.INVALID
    except KeyboardInterrupt:
        show.refuse([Diagnostic(E_INTERRUPTED, "interrupted: nothing of the run under way was kept")], as_json)
        return Exit.INTERRUPTED
    except SystemExit:  # typer leaves so when nobody reads its help
        return Exit.CONFORMS
    except OSError as error:
        show.refuse([Diagnostic(E_SYSTEM, f"the system refuses: {error.strerror or error}")], as_json)
        return Exit.INVALID
    except Exception as error:
        if os.environ.get("SPECLEDGER_TRACEBACK"):
            raise
        show.refuse([Diagnostic(E_INTERNAL, f"internal error: {type(error).__name__}: {error}", hint=_DEFECT)], as_json)
        return Exit.INTERNAL


if __name__ == "__main__":
    main()
