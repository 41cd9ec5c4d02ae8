"""Agents outside the engine: a program that answers lines of JSON, or a Python function.

Both run only with the user's consent, and see no environment variable but `PATH` and those that their spec lists. There
is no deadline here: a watchdog ends the process that asks, with the program in its group.
"""

from __future__ import annotations

import os
import select
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from threading import Thread
from traceback import walk_tb
from typing import IO, Any, Final, Protocol

from specledger.core.canonical import NotCanonical, canonical_bytes, is_plain, parse_canonical
from specledger.core.diagnostics import Diagnostic, Rejected, code, printable
from specledger.core.digest import sha256_hex
from specledger.core.floats import FLOATS_ANYWHERE, is_exact
from specledger.core.written_numbers import write_plainly
from specledger.oracles.answer import CLOSED, MOST_ANSWER, NOT_JSON, RAISED, TOO_LONG, Answer, received
from specledger.spec.agent import Outside

ALWAYS: Final = ("PATH",)
"""Environment variables that an agent sees without listing them."""

E_AGENT_UNTRUSTED = code("E_AGENT_UNTRUSTED", "an agent from outside is run only if you say so")
E_AGENT_START = code("E_AGENT_START", "an agent from outside cannot be started")

FAREWELL_S: Final = 0.2
MOST_TEXT: Final = 200
"""Characters of an exception that are shown."""

MOST_ERRORS: Final = 4_096
"""Bytes of the end of a program's standard error that are kept, if they are asked for."""
_ENDING_S: Final = 0.1  # how long the status of a program that closed its output is waited for
_PATIENCE_MS: Final = 1_000  # how often a reader looks whether anybody still waits for it


class Transport(Protocol):
    """One session with an agent from outside: messages go out, one answer comes back for each."""

    @property
    def started(self) -> bool:
        """Whether the agent runs, so that an answer takes no more than its own time."""

    def exchange(self, message: bytes) -> Answer:
        """Send one message, the canonical JSON of an object, and wait for its answer; start the agent if need be."""

    def close(self, *, bye: bool = False) -> None:
        """End the agent; one that is told `bye` may end itself first, for `FAREWELL_S` seconds."""


def transport_of(outside: Outside, errors: Path | None = None) -> Transport:
    """A session with the agent that a spec names; it is not started yet.

    The end of the standard error of a program, or what a function raised, goes to the file `errors`, or is dropped.
    """
    kept = {name: os.environ[name] for name in (*ALWAYS, *outside.environment) if name in os.environ}
    if outside.command is not None:
        return Program(outside.command, kept, errors)
    assert outside.python is not None  # noqa: S101 - the model has one of the two
    return Function(outside.python, kept, errors)


class Program:
    """A program: one line of JSON in, one line of JSON out."""

    def __init__(self, command: list[str], environment: dict[str, str], errors: Path | None = None) -> None:
        """Prepare to start it in the current folder; no shell reads the command.

        The end of its standard error goes to the file `errors`, or is dropped.
        """
        self._errors = errors
        self._reader: Thread | None = None
        self._leaving = False
        self._command = command
        self._environment = environment
        self._process: subprocess.Popen[bytes] | None = None
        self._poll = select.poll()
        self._parent = os.getppid()

    @property
    def started(self) -> bool:
        """Whether it runs, as far as is known."""
        return self._process is not None

    def exchange(self, message: bytes) -> Answer:
        """Write a line and read one; a program that closed its output, or wrote too much, is ended."""
        process = self._process or self._start()
        data, size, failure = b"", 0, CLOSED
        try:
            self._drop(process)
            assert process.stdin is not None  # noqa: S101 - it was started with a pipe
            process.stdin.write(message + b"\n")
            process.stdin.flush()
            data, size, failure = self._read(process)
        except OSError:
            failure = CLOSED
        if failure:
            reason = _ending(process) if failure == CLOSED else ""
            self.close()
            digest = sha256_hex(data) if data else ""
            return Answer(None, failure, reason, size, digest)
        return received(data)

    def close(self, *, bye: bool = False) -> None:
        """End it, and wait until it is gone."""
        process, self._process = self._process, None
        if process is None:
            return
        if bye:
            self._leaving = True
            with suppress(OSError, subprocess.TimeoutExpired):
                process.communicate(b'{"type":"bye"}\n', FAREWELL_S)
        process.kill()
        for stream in (process.stdin, process.stdout):
            if stream is not None:
                with suppress(OSError):  # what it did not read is lost with it
                    stream.close()
        process.wait()
        if self._reader is not None:
            self._reader.join(FAREWELL_S)  # another process may hold its standard error open

    def _start(self) -> subprocess.Popen[bytes]:
        try:
            self._process = subprocess.Popen(  # noqa: S603 - the user said that it is trusted
                self._command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL if self._errors is None else subprocess.PIPE,
                env=self._environment,
            )
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or "it cannot be executed"
            raise Rejected([Diagnostic(E_AGENT_START, f"{self._command[0]!a}: {reason}")]) from error
        assert self._process.stdout is not None  # noqa: S101 - it was started with a pipe
        self._poll = select.poll()
        self._poll.register(self._process.stdout, select.POLLIN)
        if self._errors is not None and self._process.stderr is not None:
            stream, self._process.stderr = self._process.stderr, None  # `communicate` would read it too
            self._reader = Thread(target=self._keep_end, args=(stream, self._errors), daemon=True)
            self._reader.start()
        return self._process

    def _keep_end(self, stream: IO[bytes], path: Path) -> None:
        """Read a stream, and keep its end in a file, except for what is written after `bye`."""
        end = b""
        with stream, suppress(OSError):
            while more := os.read(stream.fileno(), 1 << 16):
                end = (end + more)[-MOST_ERRORS:]
                if not self._leaving:
                    path.write_bytes(end)

    def _drop(self, process: subprocess.Popen[bytes]) -> None:
        """Drop what was said before anything was asked: it answers nothing."""
        assert process.stdout is not None  # noqa: S101 - it was started with a pipe
        while self._poll.poll(0):
            if not os.read(process.stdout.fileno(), 1 << 16):
                raise BrokenPipeError("it has closed its output")

    def _read(self, process: subprocess.Popen[bytes]) -> tuple[bytes, int, str]:
        """The next line without its end, how many bytes were read, and why there is none."""
        assert process.stdout is not None  # noqa: S101 - it was started with a pipe
        pipe, data = process.stdout.fileno(), bytearray()
        while True:
            while not self._poll.poll(_PATIENCE_MS):
                if os.getppid() != self._parent:
                    raise BrokenPipeError("the asking process has ended")
            more = os.read(pipe, 1 << 16)
            line, end, _ = more.partition(b"\n")
            data += line
            if len(data) > MOST_ANSWER:
                return bytes(data[: MOST_ANSWER + 1]), MOST_ANSWER + 1, TOO_LONG
            if end:
                return bytes(data), len(data), ""
            if not more:
                return bytes(data), len(data), CLOSED


def _ending(process: subprocess.Popen[bytes]) -> str:
    """How a program ended: `exit:3`, `signal:9`; empty if it runs without its output."""
    try:
        status = process.wait(_ENDING_S)
    except subprocess.TimeoutExpired:
        return ""
    return f"exit:{status}" if status >= 0 else f"signal:{-status}"


class Function:
    """A function or a class of a Python module, in this process: what it is called with is the message as a dict.

    A class is instantiated once for each session, and its instance is called.
    """

    def __init__(self, target: str, environment: dict[str, str], errors: Path | None = None) -> None:
        """Prepare to import it; from then on this process has no other environment than the one given.

        What it raises first goes to the file `errors`, or is dropped: an answer holds the class of an exception alone.
        """
        self._target = target
        self._errors = errors
        self._environment = environment
        self._call: Callable[[Any], object] | None = None

    @property
    def started(self) -> bool:
        """Whether it was imported."""
        return self._call is not None

    def exchange(self, message: bytes) -> Answer:
        """Call it once. Bytes and text are the answer, None is an empty one, another value is written as JSON.

        A dict without an `id` gets that of the message: a call cannot answer another one.
        """
        call = self._call or self._start()
        try:
            asked: Any = parse_canonical(message, limit=len(message), most=len(message))
            given = call(asked)
            if type(given) is dict:
                given = {"id": asked["id"], **given}
        except BaseException as error:
            if self._errors is not None and not self._errors.exists():
                self._errors.write_text(_described(error, self._target), encoding="utf-8")
            return Answer(None, RAISED, _class_name(error))
        try:
            data = _bytes(given)
        except NotCanonical as error:
            return Answer(None, NOT_JSON, error.code)
        except Exception as error:
            return Answer(None, RAISED, _class_name(error))
        return received(data)

    def close(self, *, bye: bool = False) -> None:
        """Forget it."""
        self._call = None

    def _start(self) -> Callable[[Any], object]:
        os.environ.clear()
        os.environ.update(self._environment)
        if os.getcwd() not in sys.path:
            sys.path.append(os.getcwd())
        module, _, name = self._target.partition(":")
        try:
            target = getattr(import_module(module), name)
        except BaseException as error:
            message = f"{self._target} cannot be imported: {_described(error, self._target)}"
            raise Rejected([Diagnostic(E_AGENT_START, message)]) from error
        if not callable(target):
            raise Rejected([Diagnostic(E_AGENT_START, f"{self._target} is not a function")])
        try:
            call: Callable[[Any], object] = target() if isinstance(target, type) else target
        except BaseException as error:
            message = f"{self._target} cannot be instantiated: {_described(error, self._target)}"
            raise Rejected([Diagnostic(E_AGENT_START, message)]) from error
        self._call = call
        return call


def _bytes(given: object) -> bytes:
    """What a function gave, as bytes.

    Raises:
        NotCanonical: It is no JSON value; `not_exact`, if its canonical form would round it.
        UnicodeEncodeError: It is a text that has no bytes.
    """
    if given is None:
        return b""
    if isinstance(given, bytes | bytearray):
        return bytes(given)
    if isinstance(given, str):
        return given.encode()
    data = canonical_bytes(given, FLOATS_ANYWHERE)
    if not is_exact(given):
        raise NotCanonical("not_exact", "$", "a fraction has more than 8 decimals")
    return data if is_plain(given) else write_plainly(given)


def _class_name(error: BaseException) -> str:
    """The class of an exception as a short word; never its text."""
    name = type(error).__name__
    return name[:100] if name.isascii() and name.isidentifier() else "Exception"


def _described(error: BaseException, target: str) -> str:
    """The class and the text of an exception, and the last line of the agent's own file in its traceback, escaped."""
    try:
        text = printable(str(error)[:MOST_TEXT])
    except BaseException:
        text = ""
    module = target.partition(":")[0].replace(".", "/")
    own = [
        f" ({module}.py:{line})"
        for frame, line in walk_tb(error.__traceback__)
        if frame.f_code.co_filename.endswith((f"/{module}.py", f"/{module}/__init__.py"))
    ]
    location = "".join(own[-1:])
    shown = f"{_class_name(error)}: {text}" if text else _class_name(error)
    return shown[: max(0, MOST_TEXT - len(location))] + location
