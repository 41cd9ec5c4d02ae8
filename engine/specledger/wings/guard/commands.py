"""`spec guard`: decides the calls of live agents by a scenario, or says how it would have decided those of logs."""

from __future__ import annotations

import sys
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from specledger.cli.options import Format
from specledger.cli.output import print_error, print_json, print_text
from specledger.core.diagnostics import printable
from specledger.core.verdict import Exit

if TYPE_CHECKING:
    from specledger.load import Bundle
    from specledger.spec.scenario import Guard

_SOCKET: Final = "guard.sock"
_CLIENT: Final = "claude-code"

Target = Annotated[
    str,
    typer.Argument(
        metavar="SCENARIO",
        help=f"A scenario whose agent is a recording; or `install {_CLIENT} SCENARIO`, the hook of a client.",
    ),
]
Words = Annotated[list[str] | None, typer.Argument(metavar="[FILE...]", help="Logs, with --dry-run.")]
Out = Annotated[
    Path, typer.Option("--out", "-o", metavar="DIR", help="The folder of logs and evidence; nobody else may read it.")
]
Socket = Annotated[
    Path | None, typer.Option("--socket", metavar="PATH", show_default="guard.sock in --out", help="Where to listen.")
]
Stdio = Annotated[bool, typer.Option("--stdio", help="Answer messages on standard input, for one client.")]
Mcp = Annotated[bool, typer.Option("--mcp", help="Guard an MCP server: its command, or its URL, follows after `--`.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Say what would have been decided of the calls of logs.")]
Seal = Annotated[
    bool, typer.Option("--seal", help="Seal the conversations that did not end, and that no guard has open.")
]
Settings = Annotated[
    Path | None,
    typer.Option(
        "--settings",
        metavar="FILE",
        show_default=".claude/settings.local.json",
        help="The settings that `install` changes.",
    ),
]
Uninstall = Annotated[bool, typer.Option("--uninstall", help="Take the hook out of the settings.")]
Results = Annotated[Format, typer.Option("--output", help="The format of the results of --dry-run.")]


def guard(  # noqa: PLR0913, PLR0917 - each is an option
    target: Target,
    words: Words = None,
    out: Out = Path("guard"),
    socket: Socket = None,
    stdio: Stdio = False,
    dry_run: DryRun = False,
    mcp: Mcp = False,
    settings: Settings = None,
    uninstall: Uninstall = False,
    seal: Seal = False,
    output: Results = Format.HUMAN,
) -> None:
    """Decide the calls of live agents before they are made, by the world, gates, invariants and rules of a scenario."""
    listens = socket or out / _SOCKET
    if target == "install":
        _install(words or [], listens, settings, uninstall=uninstall)
        return
    bundle = _scenario(target)
    if mcp:
        _guard_server(bundle, words or [], out, output, dry_run=dry_run)
        return
    if dry_run:
        _decide_logs(bundle, words or [], output)
        return
    if seal:
        _seal_left(bundle, out)
        return
    if words:
        raise typer.BadParameter(f"unexpected {printable(words[0])}; logs are for --dry-run")
    from specledger.wings.guard.server import answer_stream, prepare_folder, serve
    from specledger.wings.guard.service import GuardService

    prepare_folder(out)
    service = GuardService(bundle, out)
    if stdio:
        answer_stream(service, sys.stdin.buffer, sys.stdout.buffer)
        return
    said = f"guard of {bundle.main.name} at {printable(str(listens))}, fails {service.settings.fail}"
    serve(service, listens, lambda: print_error(said))


def _seal_left(bundle: Bundle, out: Path) -> None:
    """End the conversations that a guard left which was killed."""
    import asyncio

    from specledger.wings.guard.server import prepare_folder
    from specledger.wings.guard.service import GuardService

    prepare_folder(out)
    service = GuardService(bundle, out)
    answers = asyncio.run(service.seal_left())
    service.close()
    for name, answer in answers.items():
        if answer["type"] == "ended":
            print_text(printable(f"{name}: {answer['verdict']}, evidence {answer['evidence']}"))
        else:
            print_error(printable(f"{name} is not sealed: {answer['code']}: {answer['message']}"))
    if any(answer["type"] != "ended" for answer in answers.values()):
        raise typer.Exit(Exit.ERROR)


def _guard_server(bundle: Bundle, words: list[str], out: Path, output: Format, *, dry_run: bool) -> None:
    """Guard a server of tools, or list its tools."""
    from specledger.core.diagnostics import missing_package
    from specledger.wings.guard.codes import E_GUARD_MCP

    if not words:
        raise typer.BadParameter("--mcp needs the command of a server after `--`, or its URL")
    if find_spec("fastmcp") is None:
        raise missing_package(E_GUARD_MCP, "fastmcp", "mcp")
    from specledger.wings.guard.proxy import list_tools, serve_proxy

    if dry_run:
        _show_tools(bundle, list_tools(words), output)
        return
    serve_proxy(bundle, words, out, print_error)


def _show_tools(bundle: Bundle, tools: list[dict[str, Any]], output: Format) -> None:
    """List the tools of a server with those that are never allowed; as JSON what `spec new --tools` reads."""
    from specledger.compile.scenario import compile_scenario
    from specledger.core.diagnostics import Diagnostic, Rejected
    from specledger.wings.guard.tools import E_GUARD_TOOLS, misfits

    if output is Format.JSON:
        print_json({"tools": tools})
        return
    found = [
        Diagnostic(E_GUARD_TOOLS, misfit) for misfit in misfits(bundle, {t["name"]: t["inputSchema"] for t in tools})
    ]
    if found:
        raise Rejected(found)
    recording = compile_scenario(bundle).recording
    for tool in tools:
        why = "" if recording is None else recording.forbids(tool["name"])
        arguments = ", ".join(tool.get("inputSchema", {}).get("properties", {}))
        print_text(printable(f"{tool['name']}({arguments}){f': never allowed, {why}' if why else ''}"))


def _install(words: list[str], socket: Path, settings: Path | None, *, uninstall: bool) -> None:
    """Write the hook of a client, or take it out."""
    from specledger.wings.guard import claude_code

    if words[:1] != [_CLIENT] or len(words) != (1 if uninstall else 2):
        raise typer.BadParameter(f"`spec guard install {_CLIENT} SCENARIO`, or `install {_CLIENT} --uninstall`")
    place = settings or claude_code.SETTINGS
    if uninstall:
        there = claude_code.uninstall(place)
        print_text(f"{printable(str(place))} {'has the hook no more' if there else 'had no hook'}")
        return
    fail = _settings_of(_scenario(words[1])).fail
    claude_code.install(place, socket, fail)
    print_text(f"{printable(str(place))} has the hook of {printable(str(socket.absolute()))}, which fails {fail}")


def _settings_of(bundle: Bundle) -> Guard:
    from specledger.spec.scenario import Guard, Scenario

    model = bundle.main.model
    assert isinstance(model, Scenario)  # noqa: S101 - it was loaded as one
    return model.guard or Guard()


def _scenario(target: str) -> Bundle:
    """The scenario, whose agent is a recording."""
    from specledger.compile.scenario import compile_scenario
    from specledger.core.diagnostics import Diagnostic, Rejected
    from specledger.kinds import load
    from specledger.wings.guard.codes import E_GUARD_SCENARIO

    bundle = load(target, kind="scenario")[0]
    if compile_scenario(bundle).recording is None:
        hint = "an agent with `trajectories: {otherwise: call}` takes any call"
        message = "a guard decides what a recording is judged by, and this agent is none"
        at = bundle.main.span("agents" if "agents" in bundle.main.data else "agent")
        raise Rejected([Diagnostic(E_GUARD_SCENARIO, message, at, hint=hint)])
    return bundle


def _decide_logs(bundle: Bundle, words: list[str], output: Format) -> None:
    from specledger.wings.guard.dry_run import dry_run, dry_run_text
    from specledger.wings.trajectories.reading import read_logs

    files = [Path(word) for word in words]
    missing = next((file for file in files if not file.exists()), None)
    if not files:
        raise typer.BadParameter("--dry-run needs logs")
    if missing is not None:
        raise typer.BadParameter(f"there is no file {printable(str(missing))}")
    result = dry_run(bundle, read_logs(files))
    if output is Format.JSON:
        print_json(result)
    else:
        print_text("\n".join(dry_run_text(result)))
    whole = result["calls"] and not result["not_read"]
    raise typer.Exit(Exit.FINDINGS if result["denied"] else Exit.CONFORMS if whole else Exit.INCONCLUSIVE)
