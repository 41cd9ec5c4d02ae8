"""The `spec` command: every outcome has its exit code, and no traceback reaches a user."""

from __future__ import annotations

import os
import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from typer.exceptions import TyperException

from engine import __version__
from engine.core.diagnostics import Diagnostic, Rejected, code, explain
from engine.core.verdict import Exit, Verdict, combine, exit_code

if TYPE_CHECKING:
    from engine.pipeline import CheckedSpec

app = typer.Typer(
    name="spec",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    help="Write worlds, agents and rules as YAML, run them, and check the evidence without trusting anyone.",
    epilog="Exit codes: 0 conforms, 1 findings, 2 invalid input, 3 inconclusive, 70 internal error, 130 interrupted.",
)

E_GOLDEN_DIFFERS = code(
    "E_GOLDEN_DIFFERS",
    "a golden differs",
    "A scenario gives other receipts than the pinned ones. If the change is meant, accept it with the command that the "
    "message names, and commit the files.",
)


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
Shown = Annotated[Format, typer.Option("--format", help="How results are shown.")]


def _version(wanted: bool) -> None:
    if wanted:
        print(f"specledger {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Options that come before a command."""


@app.command()
def run(
    files: Files,
    seed: Annotated[int | None, typer.Option(min=0, help="Replace the seed.")] = None,
    episodes: Annotated[int | None, typer.Option(min=1, help="Replace the number of episodes.")] = None,
    out: Annotated[
        Path, typer.Option(help="Folder for the evidence; each case gets a folder of its own in it.")
    ] = Path("out"),
    overrides: Overrides = None,
    shown: Shown = Format.HUMAN,
) -> None:
    """Run scenarios and write their evidence."""
    from engine.cli import show
    from engine.cli.progress import progress_bar
    from engine.pipeline import compile_case, execute, load_cases

    changes = list(overrides or [])
    changes += [f"seed={seed}"] if seed is not None else []
    changes += [f"episodes={episodes}"] if episodes is not None else []
    cases = [bundle for file in files for bundle in load_cases(file, changes)]
    for bundle in cases:
        compile_case(bundle)
    finished = []
    for bundle in cases:
        name = bundle.main.name if not bundle.case else f"{bundle.main.name}.{bundle.case}"
        place = out if len(cases) == 1 and out != Path("out") else out / name
        with progress_bar(name) as progress:
            finished.append(execute(bundle, place, progress))
        if shown is Format.HUMAN:
            show.say(f"{name}  {show.finished_text(finished[-1])}")
    if shown is Format.JSON:
        show.say_json([{"case": f.case, "evidence": str(f.place), "manifest": f.manifest} for f in finished])
    raise typer.Exit(exit_code(combine(f.verdict for f in finished)))


@app.command()
def check(files: Files, overrides: Overrides = None, shown: Shown = Format.HUMAN) -> None:
    """Check specs without running them; every finding of every file at once."""
    from engine.cli import show
    from engine.pipeline import check as check_spec

    checked: list[CheckedSpec] = []
    findings: list[Diagnostic] = []
    for file in files:
        try:
            checked += check_spec(file, overrides or ())
        except Rejected as rejected:
            findings += rejected.diagnostics
    if shown is Format.JSON:
        ok = [{"kind": one.kind, "name": one.name, "case": one.case, "digest": one.digest} for one in checked]
        show.say_json({"checked": ok, "diagnostics": show.diagnostics_json(findings)})
    else:
        if checked:
            show.say(show.checked_text(checked))
        if findings:
            show.complain(show.diagnostics_text(findings))
    raise typer.Exit(Exit.INVALID if findings else Exit.CONFORMS)


@app.command()
def verify(
    bundle: Annotated[Path, typer.Argument(metavar="BUNDLE", help="A folder that `spec run` wrote.")],
    replay: Annotated[bool, typer.Option(help="Make the run again and compare every byte.")] = True,
    shown: Shown = Format.HUMAN,
) -> None:
    """Check evidence: the chain without the engine, then replay from the recorded specs."""
    from engine.cli import show
    from engine.pipeline import verify as verify_bundle

    verification = verify_bundle(bundle, replay=replay)
    if shown is Format.JSON:
        show.say_json(show.verification_json(verification))
    else:
        show.say(show.verification_text(bundle, verification))
    raise typer.Exit(exit_code(verification.verdict))


@app.command()
def golden(
    files: Annotated[
        list[str] | None,
        typer.Argument(metavar="[FILE...]", help="Scenarios; all of specs/scenario/ if none is named."),
    ] = None,
    update: Annotated[bool, typer.Option("--update", help="Accept what the scenarios give now.")] = False,
    folder: Annotated[Path, typer.Option("--dir", help="Where the goldens are.")] = Path("fixtures/golden"),
) -> None:
    """Compare scenarios with their pinned digests and receipts, or accept a change."""
    from engine.cli import show
    from engine.pipeline import load_cases, pin, pin_matches

    named = files or sorted(str(path) for path in Path("specs/scenario").glob("*.yaml"))
    differing = 0
    for file in named:
        for bundle in load_cases(file):
            made = pin(bundle)
            difference = pin_matches(made, folder)
            if difference is not None and update:
                made.write(folder)
            elif difference is not None:
                differing += 1
                show.complain(
                    f"{made.name}: error[{E_GOLDEN_DIFFERS}]: {difference}\n  accept: spec golden --update {file}"
                )
            word = "same" if difference is None else "accepted" if update else "differs"
            show.say(f"{made.name}: {word}")
    raise typer.Exit(Exit.INCONCLUSIVE if not named else Exit.FINDINGS if differing else Exit.CONFORMS)


@app.command(name="show")
def show_spec(
    file: File,
    resolved: Annotated[
        bool, typer.Option("--resolved/--origins", help="The resolved form as JSON, or where each value came from.")
    ] = True,
    overrides: Overrides = None,
) -> None:
    """Show what a spec amounts to after extends, params, matrix and references."""
    from engine.cli import show
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
    from engine.cli import show
    from engine.load.schemas import schema_for
    from engine.spec.kinds import KINDS

    if kind is not None and kind not in KINDS:
        raise typer.BadParameter(f"{kind!r} is no kind; there are {', '.join(KINDS)}")
    show.say_json(schema_for(kind) if kind is not None else {name: schema_for(name) for name in KINDS})


@app.command(name="explain")
def explain_code(
    what: Annotated[str, typer.Argument(metavar="CODE", help="A code from a message, such as E_CHAIN.")],
) -> None:
    """Say what a code means and what to do about it."""
    import engine.pipeline  # noqa: F401 - registers the codes of every room
    from engine.cli import show
    from engine.core.diagnostics import codes, suggest

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
    from engine.cli import show
    from engine.cli.progress import progress_bar
    from engine.pipeline import demo_case, execute
    from engine.pipeline import verify as verify_bundle

    bundle = demo_case()
    show.say(f"$ spec run {bundle.main.name} --out {out}")
    with progress_bar(bundle.main.name) as progress:
        finished = execute(bundle, out, progress)
    show.say(f"{bundle.main.name}  {show.finished_text(finished)}\n\n$ spec verify {out}")
    verification = verify_bundle(out)
    show.say(show.verification_text(out, verification))
    raise typer.Exit(exit_code(combine([finished.verdict, verification.verdict])))


def main() -> None:
    """Run the command line and leave with its exit code."""
    sys.exit(_guarded())


def _guarded() -> int:
    from engine.cli import show

    try:
        status = app(standalone_mode=False)
        return status if isinstance(status, int) else Exit.CONFORMS
    except Rejected as rejected:
        if "--format=json" in sys.argv or ("--format" in sys.argv and "json" in sys.argv):
            show.say_json({"diagnostics": show.diagnostics_json(rejected.diagnostics)})
        show.complain(show.diagnostics_text(rejected.diagnostics))
        return Exit.INVALID
    except TyperException as error:
        show.complain(f"{error.format_message()}\n`spec --help` and `spec COMMAND --help` show how it is used.")
        return Exit.INVALID
    except (KeyboardInterrupt, typer.Abort):
        show.complain("interrupted: nothing of this run was kept")
        return Exit.INTERRUPTED
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return exit_code(Verdict.ERROR)
    except Exception as error:
        if os.environ.get("SPECLEDGER_TRACEBACK"):
            raise
        name = type(error).__name__
        show.complain(
            f"internal error: {name}: {error}\nThis is a defect of specledger. SPECLEDGER_TRACEBACK=1 shows where."
        )
        return Exit.INTERNAL


if __name__ == "__main__":
    main()
