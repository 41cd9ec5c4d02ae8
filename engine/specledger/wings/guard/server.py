"""The socket of a guard: private to its user, for lines of JSON; each is answered before the next is read."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import stat
from asyncio import IncompleteReadError, LimitOverrunError, StreamReader, StreamWriter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, Final

from specledger.cli.codes import DEFECT, E_INTERNAL
from specledger.core.canonical import canonical_bytes
from specledger.core.diagnostics import Diagnostic, Rejected, code
from specledger.core.volume import volume
from specledger.wings.guard.client import MAX_MESSAGE
from specledger.wings.guard.protocol import E_GUARD_MESSAGE, Refusal, error_answer, read_message
from specledger.wings.guard.service import LOGS, SEALED, GuardService

MOST_CONNECTIONS: Final = 256
MOST_UNANSWERED: Final = 64 << 20
"""Bytes of memory, about, that messages take which are read and not yet answered."""
_VALUE: Final = 50
"""Bytes of memory that a unit of the volume of a message takes once it is read, about."""
_PIECE: Final = 1 << 16
_LONGEST_PATH: Final = 100  # bytes; the operating system has about that

E_GUARD_SOCKET = code("E_GUARD_SOCKET", "a guard cannot listen at this path")
E_GUARD_FOLDER = code("E_GUARD_FOLDER", "the folder of a guard is not private")

Charge = Callable[[int], None]
"""Counts bytes of memory; Refusal if there are too many."""


def prepare_folder(folder: Path) -> None:
    """Make the folder of a guard, which only its user may read.

    Raises:
        Rejected: E_GUARD_FOLDER.
    """
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    require_private(folder)
    for name in (LOGS, SEALED):
        (folder / name).mkdir(mode=0o700, exist_ok=True)


def require_private(folder: Path) -> None:
    """See that a folder belongs to this user, and that nobody else may use it.

    Raises:
        Rejected: E_GUARD_FOLDER.
    """
    status = folder.stat()
    if status.st_uid != os.getuid() or stat.S_IMODE(status.st_mode) & 0o077:
        message = f"others may use the folder {folder}"
        raise Rejected([Diagnostic(E_GUARD_FOLDER, message, hint=f"`chmod 700 {folder}`, or name another one")])


def listening_socket(path: Path) -> socket.socket:
    """A socket at a path in a private folder, in the place of one that nobody serves any more.

    Raises:
        Rejected: E_GUARD_SOCKET, E_GUARD_FOLDER.
    """
    if len(os.fsencode(path)) > _LONGEST_PATH:
        raise _no_socket(f"{path} is longer than {_LONGEST_PATH} bytes", "name a shorter path by --socket")
    require_private(path.parent)
    if os.path.lexists(path):
        if not stat.S_ISSOCK(path.lstat().st_mode):
            raise _no_socket(f"{path} is there, and is no socket", "name another path by --socket")
        with socket.socket(socket.AF_UNIX) as other:
            if other.connect_ex(str(path)) == 0:
                raise _no_socket(f"another guard listens at {path}", "end it, or name another path by --socket")
        path.unlink()
    listening = socket.socket(socket.AF_UNIX)
    before = os.umask(0o177)
    try:
        listening.bind(str(path))
    finally:
        os.umask(before)
    return listening


def serve(service: GuardService, path: Path, ready: Callable[[], None]) -> None:
    """Answer at a path until SIGINT or SIGTERM; `ready` is called once that is possible."""
    listening = listening_socket(path)
    try:
        asyncio.run(_serve(service, listening, ready))
    finally:
        path.unlink(missing_ok=True)


def answer_stream(service: GuardService, messages: BinaryIO, answers: BinaryIO) -> None:
    """Answer the lines of a stream until it ends, or until one does not end within the limit."""
    try:
        with asyncio.Runner() as runner:
            for line in iter(lambda: messages.readline(MAX_MESSAGE + 1), b""):
                if not line.endswith(b"\n"):
                    return
                answers.write(runner.run(answer_line(service, line)))
                answers.flush()
    finally:
        service.close()


async def _serve(service: GuardService, listening: socket.socket, ready: Callable[[], None]) -> None:
    ended, loop = asyncio.Event(), asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, ended.set)
    connections = Connections(service)
    server = await asyncio.start_unix_server(connections.take, sock=listening, limit=_PIECE)
    try:
        ready()
        await ended.wait()
    finally:
        server.close()
        connections.end()
        await asyncio.to_thread(service.close)


class Connections:
    """The connections of a guard."""

    def __init__(self, service: GuardService) -> None:
        self._service = service
        self._open: set[asyncio.Task[None]] = set()
        self._unanswered = 0

    async def take(self, reader: StreamReader, writer: StreamWriter) -> None:
        """Answer every line of a connection until it ends; what is no whole line has no effect."""
        task = asyncio.current_task()
        assert task is not None  # noqa: S101 - the server runs this in a task
        if len(self._open) < MOST_CONNECTIONS:
            self._open.add(task)
            with suppress(ConnectionError, asyncio.CancelledError):
                await self._answer_lines(reader, writer)
            self._open.discard(task)
        with suppress(ConnectionError, OSError):
            writer.close()

    async def _answer_lines(self, reader: StreamReader, writer: StreamWriter) -> None:
        while True:
            with self._charged() as charge:
                try:
                    line = await _read_line(reader, charge)
                except Refusal as refusal:
                    writer.write(canonical_bytes({**error_answer(refusal), "id": None}) + b"\n")
                    await writer.drain()
                    return
                if not line.endswith(b"\n"):
                    return
                writer.write(await answer_line(self._service, line))
                await writer.drain()

    @contextmanager
    def _charged(self) -> Iterator[Charge]:
        """Count what a message takes until it is answered."""
        size = 0

        def charge(count: int) -> None:
            nonlocal size
            size += count
            self._unanswered += count
            if self._unanswered > MOST_UNANSWERED:
                message = f"messages that are not yet answered take more than {MOST_UNANSWERED} bytes of memory"
                raise Refusal(E_GUARD_MESSAGE, f"{message}; ask again")

        try:
            yield charge
        finally:
            self._unanswered -= size

    def end(self) -> None:
        """End all connections."""
        for task in self._open:
            task.cancel()


async def _read_line(reader: StreamReader, charge: Charge) -> bytes:
    """The next line, or what there is of it at the end of the stream.

    Raises:
        Refusal: It does not end within the limit, or too much is not yet answered.
    """
    pieces: list[bytes] = []
    while not pieces or not pieces[-1].endswith(b"\n"):
        try:
            piece = await reader.readuntil(b"\n")
        except LimitOverrunError as longer:
            piece = await reader.readexactly(longer.consumed)
        except IncompleteReadError as end:
            return b"".join([*pieces, end.partial])
        charge(len(piece))
        pieces.append(piece)
        if sum(map(len, pieces)) > MAX_MESSAGE:
            raise Refusal(E_GUARD_MESSAGE, f"a message has more than {MAX_MESSAGE} bytes")
    line = b"".join(pieces)
    charge(_VALUE * volume(line))
    return line


async def answer_line(service: GuardService, line: bytes) -> bytes:
    """The line that answers a line."""
    number: int | str | None = None
    try:
        message = read_message(line)
        number = message.id
        answer = await service.answer(message)
    except Refusal as refusal:
        answer = error_answer(refusal)
    except Exception as error:  # a defect answers too, and allows nothing
        answer = error_answer(Refusal(E_INTERNAL, f"{DEFECT}: {type(error).__name__}"))
    return canonical_bytes({**answer, "id": number}) + b"\n"


def _no_socket(message: str, hint: str) -> Rejected:
    return Rejected([Diagnostic(E_GUARD_SOCKET, message, hint=hint)])
