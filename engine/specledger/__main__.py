"""The `spec` command. Interruptions are handled before anything else is imported, which takes a third of a second."""

import os
import signal
from types import FrameType
from typing import NoReturn


def main() -> None:
    """Run the command line and leave with its exit code."""
    for number in (signal.SIGINT, signal.SIGTERM):
        if signal.getsignal(number) not in (signal.SIG_IGN, None):
            signal.signal(number, _leave)
    from specledger.cli.main import main as run_command  # noqa: PLC0415 - an interruption meanwhile has a handler

    run_command()


def _leave(number: int, _frame: FrameType | None) -> NoReturn:
    """End at once: nothing was begun. An exception in the midst of an import would be shown as a traceback."""
    os.write(2, b"error[E_INTERRUPTED]: interrupted before the work began\n")
    os._exit(128 + number)


if __name__ == "__main__":
    main()
