"""Run commands of Python, each in a fork of a process that has imported the engine and pytest once.

Reads lines `{"words": [module, argument...], "limit": seconds}` and answers each with `{"status", "printed"}`; the
status is 124 after the limit. What a command has started ends with it. `tools.profile_witnesses` starts it in a copy.
"""

import importlib
import json
import os
import runpy
import signal
import sys
import tempfile
import time
from contextlib import suppress

WARM = ("pytest", "specledger.cli.main", "specledger.pipeline.executing", "specledger.pipeline.reporting")
LATE = 124


def main() -> None:
    """Answer each line of the standard input."""
    for module in WARM:
        importlib.import_module(module)
    for line in sys.stdin:
        asked = json.loads(line)
        with tempfile.TemporaryFile() as printed:
            status = run(asked["words"], asked["limit"], printed.fileno())
            printed.seek(0)
            answer = {"status": status, "printed": printed.read().decode("utf-8", "replace")}
        print(json.dumps(answer), flush=True)


def run(words: list[str], limit: float, output: int) -> int:
    """Run a module with its arguments in a fork; its status."""
    child = os.fork()
    if child == 0:
        os.setsid()
        nothing = os.open(os.devnull, os.O_RDWR)
        os.dup2(nothing, 0)
        os.dup2(output, 1)
        os.dup2(nothing, 2)
        os._exit(status_of(words))
    end = time.monotonic() + limit
    pid = status = 0
    while pid == 0 and time.monotonic() < end:
        pid, status = os.waitpid(child, os.WNOHANG)
        time.sleep(0.01)
    with suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)  # with what it has started
    if pid == 0:
        os.waitpid(child, 0)
        return LATE
    return os.waitstatus_to_exitcode(status)


def status_of(words: list[str]) -> int:
    """Run a module as the main one; the status with which it ends."""
    sys.argv = words
    try:
        runpy.run_module(words[0], run_name="__main__", alter_sys=True)
    except SystemExit as ended:
        return ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    except BaseException:
        return 1
    finally:
        sys.stdout.flush()
    return 0


if __name__ == "__main__":
    main()
