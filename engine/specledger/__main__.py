"""The entry points of the commands. They handle interruptions before the other imports, which take 0.3 s."""

import gc
import os
import signal
from types import FrameType
from typing import NoReturn


def main() -> None:
    """Run `spec` and exit with its exit code."""
    _begin()
    from specledger.cli.main import main as run_command  # noqa: PLC0415 - an interruption meanwhile has a handler

    run_command()


def document_commands() -> None:
    """Run `toy_pseudo_axion`, the commands of a source document, and exit with its exit code."""
    _begin()
    from specledger.cli.document_commands import run_command  # noqa: PLC0415 - as above

    run_command()


def _begin() -> None:
    """Handle interruptions, and collect garbage rarely: a command mostly makes what it keeps, classes and specs.

    Plugins of pydantic would be code of other packages in every check.
    """
    gc.set_threshold(200_000, 20, 100)
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    for number in (signal.SIGINT, signal.SIGTERM):
        if signal.getsignal(number) not in (signal.SIG_IGN, None):
            signal.signal(number, _leave)


def _leave(number: int, _frame: FrameType | None) -> NoReturn:
    """End at once: nothing was begun. An exception in the midst of an import would be shown as a traceback."""
    os.write(2, b"error[E_INTERRUPTED]: interrupted before the work began\n")
    os._exit(128 + number)


if __name__ == "__main__":
    main()
