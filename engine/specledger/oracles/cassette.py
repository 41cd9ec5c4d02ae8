"""A cassette: a file of a model's answers, each found by the digest of its request and of the model.

Replay never asks the model; recording asks only what the file does not hold. The first line is `{"format", "model"}`,
the identity of the model; every other line is `{"answer", "key", "request"}`, the request with its texts as digests.
All are canonical JSON. Failures are recorded too. A failure on the way to the model is no answer: recording asks again,
and a later line replaces it. Delete the line of an answer to have its question asked again. The recorder works on
answers, never on HTTP exchanges, which hold the key.
"""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final

from specledger.core import disk
from specledger.core.canonical import LINE_LIMIT, NotCanonical, canonical_bytes, parse_canonical
from specledger.core.diagnostics import Diagnostic, Rejected, code
from specledger.core.disk import begins_like
from specledger.core.spans import Position, Span
from specledger.oracles.failures import UNASKED
from specledger.oracles.model import Model, ModelAnswer, ModelRequest, request_key

if sys.platform != "win32":
    import fcntl

FORMAT: Final = "specledger/cassette/v1"

MOST_FILE: Final = 67_108_864
"""Bytes of a cassette at most."""

E_CASSETTE_MISS = code("E_CASSETTE_MISS", "a cassette does not hold the answer to a question")
E_CASSETTE_FILE = code("E_CASSETTE_FILE", "a cassette cannot be opened")
E_CASSETTE_FORM = code("E_CASSETTE_FORM", "a cassette is damaged, or not a cassette")
E_CASSETTE_TWICE = code("E_CASSETTE_TWICE", "a cassette holds two answers to one question")
E_CASSETTE_MODEL = code("E_CASSETTE_MODEL", "a cassette was recorded from another model")

_HINT: Final = "`--record` asks the model what is missing"
_MAKE_HINT: Final = "`--record` asks the model, and makes the file"
_HINTS: Final = {
    E_CASSETTE_FORM: "`--record` mends an unfinished end; delete any other damaged line first",
    E_CASSETTE_TWICE: "delete one of the two",
}


class CassetteModel:
    """Answers from a record, and extends it when recording."""

    def __init__(self, path: Path, identity: Mapping[str, Any], source: Callable[[], Model] | None = None) -> None:
        """Read a record.

        An answer is found under the same key as if the model of this `identity` were asked. To record, `source` opens
        that model, and the file is made if it is not there; None to replay.
        """
        self._identity = identity
        self._path = path
        self._source = source
        self._model: Model | None = None
        self._answers: dict[str, ModelAnswer] = {}
        self._asked: dict[int, Mapping[str, Any]] = {}
        self._read, self._lines, self._synced = 0, 0, 0
        with _opened(path, write=source is not None) as file:
            self._catch_up(file)

    def ask(self, request: ModelRequest) -> ModelAnswer:
        """What is recorded; what is not is asked and recorded, or is an error in replay.

        Recording asks again, too, what failed on the way to the model.
        """
        key = request.key(self._identity)
        if self._source is not None and not self._is_answered(key):
            return self._record(key, request, self._source)
        return self._answers[key] if key in self._answers else self._miss(request)

    def _is_answered(self, key: str) -> bool:
        """Whether the record has an answer, or a failure of the model itself."""
        return key in self._answers and self._answers[key].failure not in UNASKED

    def _miss(self, request: ModelRequest) -> ModelAnswer:
        asked, wanted = self._asked.get(request.turn), request.document()
        if asked is None:
            message = f"turn {request.turn} is not recorded"
        else:
            other = [name for name in wanted if asked.get(name) != wanted[name]]
            message = f"turn {request.turn} was recorded with another {' and '.join(other)}"
        raise Rejected([Diagnostic(E_CASSETTE_MISS, message, _line(self._path, 1), hint=_HINT)])

    def _record(self, key: str, request: ModelRequest, source: Callable[[], Model]) -> ModelAnswer:
        """Ask, unless another process has done so in the meantime, and add the answer; the first one counts.

        A failure that is there already is not added again.
        """
        with _opened(self._path, write=True) as file:
            self._catch_up(file)
        if not self._is_answered(key):
            self._model = self._model or source()
            answer = self._model.ask(request)
            line = canonical_bytes({"answer": answer.document(), "key": key, "request": request.document()}) + b"\n"
            with _opened(self._path, write=True) as file:
                self._catch_up(file)
                if not self._is_answered(key) and self._answers.get(key) != answer:
                    self._append(file, line)
        return self._answers[key]

    def _append(self, file: int, line: bytes) -> None:
        if self._read + len(line) > MOST_FILE:
            raise _unopened(self._path, f"it would have more than {MOST_FILE} bytes")
        self._write(file, self._read, line)
        self._catch_up(file)

    def _write(self, file: int, size: int, data: bytes) -> None:
        """Write at the end of a file of a size, and force all to the disk; what cannot be written does not stay."""
        try:
            disk.write_all(file, data)
            disk.SYSTEM.sync(file)
            self._synced = size + len(data)
        except OSError:
            with suppress(OSError):  # who records next cuts it off
                disk.SYSTEM.truncate(file, size)
            raise

    def _catch_up(self, file: int) -> None:
        """Read what stands in the file behind what was read already; the file is locked.

        Who records begins an empty file, and cuts an unfinished last line off.
        """
        size = os.fstat(file).st_size
        if size > MOST_FILE or size < self._read:
            raise _unopened(self._path, "it is too large" if size > MOST_FILE else "it became shorter")
        data = _bytes(file, self._read, size)
        if self._source is not None and self._lines == 0:
            disk.SYSTEM.sync_folder(self._path.parent)
        if self._source is not None and size > self._synced:  # by a process that may have ended before it did so
            disk.SYSTEM.sync(file)
            self._synced = size
        lost = data.find(b"\0")  # where a crash of the machine lost a part
        whole, end, rest = data[: lost if lost >= 0 else size].rpartition(b"\n")
        rest += data[lost:] if lost >= 0 else b""
        head = canonical_bytes({"format": FORMAT, "model": dict(self._identity)})
        if self._lines == 0 and not end and self._source is not None and begins_like(rest, head + b"\n"):
            disk.SYSTEM.truncate(file, 0)
            self._write(file, 0, head + b"\n")
            whole, end, rest = head, b"\n", b""
        for line in whole.split(b"\n") if end else []:
            self._lines += 1
            self._take(line, head)
            self._read += len(line) + 1
        if self._lines == 0 or (rest and self._source is None):
            message = "the last line is unfinished" if size else "the file is empty"
            raise self._wrong(E_CASSETTE_FORM, message, self._lines + 1)
        if rest:
            disk.SYSTEM.truncate(file, self._read)

    def _take(self, line: bytes, head: bytes) -> None:
        """Take the next line."""
        number = self._lines
        try:
            record = parse_canonical(line, limit=LINE_LIMIT)
            if number == 1:
                if not isinstance(record, dict) or record.keys() != {"format", "model"} or record["format"] != FORMAT:
                    raise ValueError("no cassette")
                if line != head:
                    raise self._wrong(E_CASSETTE_MODEL, "another model was recorded", number)
                return
            if not isinstance(record, dict) or record.keys() != {"answer", "key", "request"}:
                raise ValueError("no exchange")
            request, answer = record["request"], ModelAnswer.read(record["answer"])
            if not isinstance(request, dict) or request_key(self._identity, request) != record["key"]:
                raise ValueError("the key is that of another request")
        except NotCanonical as error:
            raise self._wrong(E_CASSETTE_FORM, f"the line is not a record: {error.message}", number) from None
        except ValueError as error:
            raise self._wrong(E_CASSETTE_FORM, f"the line is not a record: {error}", number) from None
        key = record["key"]
        if self._is_answered(key) and self._answers[key] != answer:
            raise self._wrong(E_CASSETTE_TWICE, "the line answers a question in another way than one before", number)
        self._answers[key] = answer
        if type(request.get("turn")) is int:
            self._asked[request["turn"]] = request

    def _wrong(self, code_: str, message: str, line: int) -> Rejected:
        hint = _HINTS.get(code_)
        return Rejected([Diagnostic(code_, message, _line(self._path, line), hint=hint)])


def _unopened(path: Path, reason: str, hint: str | None = None) -> Rejected:
    return Rejected([Diagnostic(E_CASSETTE_FILE, f"{path}: {reason}", hint=hint)])


def _line(path: Path, number: int) -> Span:
    return Span(str(path), Position(number, 1), Position(number, 1))


@contextmanager
def _opened(path: Path, *, write: bool) -> Iterator[int]:
    """The file, locked: shared to read, alone to write; made, if it is to be written and is not there."""
    if sys.platform == "win32":
        raise _unopened(path, "cassettes need file locks as POSIX systems have them")
    flags = os.O_NONBLOCK | os.O_CLOEXEC
    flags |= os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW if write else os.O_RDONLY
    try:
        file = disk.SYSTEM.open(path, flags)
    except FileNotFoundError as error:
        raise _unopened(path, error.strerror or "it is not there", None if write else _MAKE_HINT) from None
    except OSError as error:
        raise _unopened(path, error.strerror or "it cannot be opened") from None
    try:
        if not stat.S_ISREG(os.fstat(file).st_mode):
            raise _unopened(path, "it is not a plain file")
        fcntl.flock(file, fcntl.LOCK_EX if write else fcntl.LOCK_SH)
        yield file
    except OSError as error:
        raise _unopened(path, error.strerror or "operating system error") from None
    finally:
        os.close(file)


def _bytes(file: int, start: int, end: int) -> bytes:
    content = bytearray()
    while start + len(content) < end and (more := os.pread(file, end - start - len(content), start + len(content))):
        content += more
    return bytes(content)
