"""The `spec` command: each outcome has an exit code, and users see no tracebacks."""

from __future__ import annotations

import _thread
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from io import TextIOWrapper
from types import FrameType
from typing import Annotated, Final

import typer
from typer.exceptions import TyperException
from typer.main import get_command

from specledger import __version__
from specledger.cli.codes import COMPARED, DEFECT, E_INTERNAL, E_INTERRUPTED, E_SYSTEM, E_USAGE, PAGE, Interrupted
from specledger.cli.commands import add_command, add_commands, names
from specledger.cli.output import print_error, print_refusal, print_text
from specledger.core.diagnostics import Diagnostic, Rejected
from specledger.core.verdict import Exit
from specledger.core.wing import missing_wings, wings

SIGNALS: Final = (signal.SIGINT, signal.SIGTERM)

_PATIENCE: Final = 2  # `timeout` sends a signal to the process and to its group, so a second one is not impatience


_IMPORTS: Final = "<frozen importlib._bootstrap>"
_SOON: Final = 0.01  # seconds
_LONGEST_IMPORT: Final = 300  # times that long


class _Interruption:
    """The handler of signals; `received` has those that came, in order."""

    def __init__(self) -> None:
        self.received: list[int] = []
        self._again, self._waited = False, 0

    def __call__(self, number: int, frame: FrameType | None) -> None:
        """Handle a signal, or its repetition after an import."""
        if not self._again:
            self.received.append(number)
            if len(self.received) > _PATIENCE:
                os._exit(128 + self.received[0])
            if len(self.received) > 1:
                return
        self._again = _imports(frame) and self._waited < _LONGEST_IMPORT
        if not self._again:
            raise KeyboardInterrupt
        self._waited += 1
        repeat = threading.Timer(_SOON, _thread.interrupt_main, [number])
        repeat.daemon = True
        repeat.start()


def _imports(frame: FrameType | None) -> bool:
    """Whether a module is being imported."""
    while frame is not None:
        if frame.f_code.co_filename == _IMPORTS:
            return True
        frame = frame.f_back
    return False


@contextmanager
def interruptible() -> Iterator[list[int]]:
    """Raise KeyboardInterrupt at the first SIGINT or SIGTERM; the third one ends the process at once.

    While a module is imported the exception waits for the end of the import: there Python may report it as ignored
    and drop it. Signals that are ignored stay ignored. In another thread than the main one nothing is changed.

    Yields:
        The signals that came, in order.
    """
    interrupt = _Interruption()
    received = interrupt.received
    if threading.current_thread() is not threading.main_thread():
        yield received
        return
    before = {number: signal.getsignal(number) for number in SIGNALS}
    handled = {number: handler for number, handler in before.items() if handler not in {signal.SIG_IGN, None}}
    try:
        for number in handled:
            signal.signal(number, interrupt)
        yield received
    finally:
        for number, handler in handled.items():
            signal.signal(number, handler)


_MOST_CHOICES: Final = 20
UNDECIDED: Final = "not decided: exit 3, neither a pass nor a failure"
"""What every command says that ends with this code."""
_USAGE: Final = "`--help` after the name of a command shows how it is used"


def _version(wanted: bool) -> None:
    if wanted:
        print_text(f"specledger {__version__}")
        raise typer.Exit


def _options(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Options before a command; without a command, the help."""
    if context.invoked_subcommand is None:
        context.get_help()  # typer prints it
        raise typer.Exit(Exit.INVALID)


def command_line(name: str | None = None) -> typer.Typer:
    """The command line with one command of the core alone, or with all commands, also those of wings."""
    app = typer.Typer(
        name="spec",
        rich_markup_mode="rich",
        pretty_exceptions_enable=False,
        help="Write worlds, agents and rules as YAML, run them, and check the evidence without trusting anyone.",
        epilog="Exit codes: 0 conforms, 1 findings, 2 invalid input, 3 inconclusive, 4 something could not be "
        "evaluated, 70 internal error, 130 interrupted, 143 terminated.",
    )
    app.callback(invoke_without_command=True)(_options)
    add_commands(app, name)
    for wing in wings() if name is None else ():
        for panel, commands in wing.commands().items():
            for known, command in commands.items():
                add_command(app, panel, known, command)
    return app


def main(app: typer.Typer | None = None) -> None:
    """Run a command line, that of `spec` if none is given, and exit with its exit code."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):  # a character that the terminal lacks is written as its escape
            stream.reconfigure(errors="backslashreplace")
    sys.exit(_guarded(app))


def _guarded(app: typer.Typer | None = None) -> int:
    """The exit code of a command line; what a command raises becomes findings."""
    with interruptible() as signals:
        try:
            if app is None:
                result = _parser(_only(sys.argv[1:2]))(standalone_mode=False, prog_name="spec")
            else:
                result = get_command(app)(standalone_mode=False)
            if result == Exit.INTERRUPTED:  # typer turns it into a status
                raise KeyboardInterrupt
            status = result if isinstance(result, int) else Exit.CONFORMS
        except SystemExit:  # raised by typer when standard output is closed
            status = Exit.CONFORMS
        except (Exception, KeyboardInterrupt) as error:
            status = _print_failure(error)
    if status == Exit.INCONCLUSIVE:
        print_error(UNDECIDED)
    return 128 + signals[0] if signals and status == Exit.INTERRUPTED else status


def _only(words: list[str]) -> str | None:
    """The first word of a command line where it alone says which command is needed; with `--version` it is none."""
    return next((word for word in words if word == "--version" or word in names()), None)


def _choices(error: TyperException) -> str | None:
    """The words that could stand for a missing argument."""
    parameter, context = getattr(error, "param", None), getattr(error, "ctx", None)
    if not isinstance(error, typer.BadParameter) or error.message or parameter is None or context is None:
        return None
    words: list[str] = []
    with suppress(OSError):  # as in a working folder that was deleted
        words = [item.value for item in parameter.shell_complete(context, "")]
    more = f" and {len(words) - _MOST_CHOICES} more" if len(words) > _MOST_CHOICES else ""
    return f"one of {', '.join(words[:_MOST_CHOICES])}{more}; {_USAGE}" if words else None


@cache
def _parser(name: str | None) -> Callable[..., object]:
    """The parser of the command line with one command, or with all; it takes 17 ms to build with all."""
    return get_command(command_line(name))


def _print_failure(error: Exception | KeyboardInterrupt) -> Exit:
    """Print what a command raised, and give its exit code; with SPECLEDGER_TRACEBACK a defect is raised again."""
    match error:
        case Rejected():
            print_refusal(error.diagnostics)
        case TyperException():
            print_refusal([_usage(error)])
        case Interrupted():
            print_refusal([error.diagnostic])
            return Exit.INTERRUPTED
        case KeyboardInterrupt():
            print_refusal([Diagnostic(E_INTERRUPTED, "interrupted: the unfinished run was discarded")])
            return Exit.INTERRUPTED
        case OSError():
            where = f" at {error.filename}" if isinstance(error.filename, str) else ""
            print_refusal([Diagnostic(E_SYSTEM, f"operating system error{where}: {error.strerror or error}")])
        case MemoryError():
            print_refusal([Diagnostic(E_SYSTEM, "operating system error: memory is short")])
        case _:
            if os.environ.get("SPECLEDGER_TRACEBACK"):
                raise error
            message = f"internal error: {type(error).__name__}: {error}"
            print_refusal([Diagnostic(E_INTERNAL, message, hint=DEFECT)])
            return Exit.INTERNAL
    return Exit.INVALID


def _usage(error: TyperException) -> Diagnostic:
    """The finding about a command line; typer lists choices on lines of their own, and names the library it uses."""
    message = error.format_message().replace("\n\t", " ").replace("Value error, ", "")
    unknown, page = message.startswith("No such command"), "'html' is not one of" in message
    instead = COMPARED if getattr(getattr(error, "ctx", None), "info_name", None) == "diff" else PAGE
    hint = _choices(error) or (missing_wings() if unknown else instead if page else "") or _USAGE
    return Diagnostic(E_USAGE, message, hint=hint)
