"""The run log: a file in which a run is announced before it is made, and in which its result is recorded after.

A line is `{"body", "prev", "seq", "type"}` in canonical form and a newline; its digest is `SHA-256(
"specledger/runlog/v1" || 0x00 || line)`, and the next line names it. The first line is of type `log`. An `attempt` says
what will be run: kind, name, digest of the resolved specs, run identifier, seeds, purpose. A `result` names the attempt
and states the SHA-256 of the manifest, the receipts' count, head and root, and the verdict. An attempt is on the disk
before anything runs for it, so an attempt that was interrupted, or whose result was unwanted, remains without a result.
No log can show that nothing was run before without an announcement.

The next writer cuts off a torn last line and reports it. Writers take turns by the operating system's locks, each for
as long as it takes to read the log and append one line.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, Final, Literal, TypedDict, cast

from msgspec import Meta, Struct, ValidationError, convert
from msgspec.structs import replace

from specledger.core.canonical import NotCanonical, canonical_bytes, parse_canonical
from specledger.core.diagnostics import Diagnostic, Rejected, Severity, code
from specledger.core.digest import sha256_hex, tagged
from specledger.core.disk import begins_like
from specledger.evidence.append_file import AppendFile, NotPlain
from specledger.evidence.layout import Count

FORMAT: Final = "specledger/runlog/v1"
GENESIS: Final = "0" * 64
MAX_LOG: Final = 67_108_864
"""Bytes of a log at most."""
MAX_ENTRY: Final = 1_048_576
"""Bytes of a line at most, its newline included."""

E_RUNLOG = code("E_RUNLOG", "the file is no run log whose entries are whole")
E_RUNLOG_UNWRITABLE = code("E_RUNLOG_UNWRITABLE", "the run log cannot be written")
W_RUNLOG_TORN = code("W_RUNLOG_TORN", "the last line of the run log was torn")


class InvalidLog(ValueError):  # noqa: N818 - says what the bytes are, not that the engine failed
    """The bytes are no run log; the message says which line is malformed."""


class AttemptBody(TypedDict):
    """What will be run; `purpose` is what it is announced for."""

    kind: str
    name: str
    specs: str
    run: str
    seeds: list[int]
    purpose: str | None


class ReceiptsHead(TypedDict):
    """The number of receipts, the digest of the last one, and the Merkle root."""

    count: int
    head: str
    root: str


class ResultBody(TypedDict):
    """What came of the attempt in a line; `manifest` is the SHA-256 of the manifest's file."""

    attempt: int
    manifest: str
    receipts: ReceiptsHead
    verdict: str


class Attempt(Struct, frozen=True):
    """The number and the body of a line that announced something, and the body of its result, or None."""

    seq: int
    announced: AttemptBody
    result: ResultBody | None = None


class RunLog(Struct, frozen=True):
    """A log that was read and whose chain is whole; `torn` is what follows its last whole line."""

    attempts: tuple[Attempt, ...]
    heads: tuple[str, ...]
    torn: bytes = b""

    @property
    def head(self) -> str:
        """The digest of the last line, `GENESIS` of an empty log."""
        return self.heads[-1] if self.heads else GENESIS


_Text = Annotated[str, Meta(max_length=4096)]
_Hex = Annotated[str, Meta(pattern=r"^([0-9a-f]{32}|[0-9a-f]{64})\Z")]


class _LogBody(Struct, forbid_unknown_fields=True):
    format: Literal["specledger/runlog/v1"]


class _AttemptBody(Struct, forbid_unknown_fields=True):
    kind: _Text
    name: _Text
    specs: _Hex
    run: _Hex
    seeds: list[Count]
    purpose: _Text | None


class _Head(Struct, forbid_unknown_fields=True):
    count: Count
    head: _Hex
    root: _Hex


class _ResultBody(Struct, forbid_unknown_fields=True):
    attempt: Count
    manifest: _Hex
    receipts: _Head
    verdict: _Text


_BODIES: Final[Mapping[str, type[Struct]]] = {"log": _LogBody, "attempt": _AttemptBody, "result": _ResultBody}
"""By the type of a line the form of its body."""


def read_runlog(data: bytes) -> RunLog:
    """Read a log and check its chain."""
    if len(data) > MAX_LOG:
        raise InvalidLog(f"it has more than {MAX_LOG} bytes")
    *lines, torn = data.split(b"\n")
    heads: list[str] = []
    attempts: dict[int, Attempt] = {}
    for seq, line in enumerate(lines):
        type_, body = _read_line(seq, line, heads[-1] if heads else GENESIS)
        heads.append(tagged(FORMAT, line))
        if type_ == "attempt":
            attempts[seq] = Attempt(seq, cast(AttemptBody, body))
        elif type_ == "result":
            result = cast(ResultBody, body)
            attempt = attempts.get(result["attempt"])
            if attempt is None or attempt.result is not None:
                raise InvalidLog(f"line {seq} is a result of no attempt that waits for one")
            attempts[attempt.seq] = Attempt(attempt.seq, attempt.announced, result)
    return RunLog(tuple(attempts.values()), tuple(heads), torn)


def _read_line(seq: int, line: bytes, prev: str) -> tuple[str, Mapping[str, Any]]:
    try:
        entry: Any = parse_canonical(line, limit=MAX_ENTRY - 1)
    except NotCanonical as error:
        raise InvalidLog(f"line {seq}: {error}") from None
    if not isinstance(entry, dict) or entry.keys() != {"body", "prev", "seq", "type"}:
        raise InvalidLog(f"line {seq} is no entry")
    if canonical_bytes(entry) != line:
        raise InvalidLog(f"line {seq} is not in canonical form")
    type_, body = entry["type"], entry["body"]
    if type(entry["seq"]) is not int or entry["seq"] != seq or entry["prev"] != prev:
        raise InvalidLog(f"line {seq} does not follow the one before it")
    if type(type_) is not str or type_ not in _BODIES or (type_ == "log") != (seq == 0):
        raise InvalidLog(f"line {seq} has no place here")
    try:
        convert(body, _BODIES[type_])
    except ValidationError as error:
        raise InvalidLog(f"line {seq} is no {type_}: {error}") from None
    return type_, body


def announce(path: Path, attempt: Mapping[str, Any]) -> tuple[int, tuple[Diagnostic, ...]]:
    """Enter what will be run; when this returns, the line is on the disk and it may be run.

    Returns:
        The number of its line, and a warning W_RUNLOG_TORN if a torn line was cut off.
    """
    with _opened(path) as (file, log):
        return _append(file, log, "attempt", attempt), _warning(path, log)


def enter(path: Path, result: Mapping[str, Any]) -> tuple[int, tuple[Diagnostic, ...]]:
    """Enter what came of an attempt; as `announce`, with the body of a `result`."""
    with _opened(path) as (file, log):
        waits = any(attempt.seq == result["attempt"] and attempt.result is None for attempt in log.attempts)
        if not waits:
            raise Rejected(
                [Diagnostic(E_RUNLOG, f"{path} holds no attempt {result['attempt']} that waits for a result")]
            )
        return _append(file, log, "result", result), _warning(path, log)


def _warning(path: Path, log: RunLog) -> tuple[Diagnostic, ...]:
    if not log.torn:
        return ()
    message = f"{len(log.torn)} bytes (SHA-256 {sha256_hex(log.torn)}) were cut off the end of {path}"
    return (Diagnostic(W_RUNLOG_TORN, message, severity=Severity.WARNING),)


@contextmanager
def _opened(path: Path) -> Iterator[tuple[AppendFile, RunLog]]:
    """A log that no other process writes meanwhile, without a torn line."""
    try:
        with AppendFile(path, wait=True) as file:
            yield file, _read(file)
    except NotPlain:
        raise Rejected([Diagnostic(E_RUNLOG, f"{path} cannot be continued: it is no plain file")]) from None
    except InvalidLog as error:
        raise Rejected([Diagnostic(E_RUNLOG, f"{path} cannot be continued: {error}")]) from None
    except OSError as error:
        message = f"cannot write {path}: {error.strerror or error}"
        raise Rejected([Diagnostic(E_RUNLOG_UNWRITABLE, message)]) from error


def _read(file: AppendFile) -> RunLog:
    """The log in an open file; a torn line is cut off, and an empty log is begun."""
    if file.size > MAX_LOG:
        raise InvalidLog(f"it has more than {MAX_LOG} bytes")
    whole = file.whole
    log, torn = read_runlog(file.read(0, whole)), file.read(whole)
    if not log.heads and not begins_like(torn, _LINE + b"\n"):
        raise InvalidLog("it has no line that could be an entry")
    if torn:
        file.cut(whole)
    if log.heads:
        return replace(log, torn=torn)
    file.append(_LINE + b"\n", sync=False)
    return RunLog((), (tagged(FORMAT, _LINE),), torn)


_LINE: Final = canonical_bytes({"body": {"format": FORMAT}, "prev": GENESIS, "seq": 0, "type": "log"})


def _append(file: AppendFile, log: RunLog, type_: str, body: Mapping[str, Any]) -> int:
    """Append one line and force it to the disk; its number."""
    seq = len(log.heads)
    line = canonical_bytes({"body": dict(body), "prev": log.head, "seq": seq, "type": type_})
    _read_line(seq, line, log.head)
    file.append(line + b"\n", sync=True)
    return seq


def attempt_of(kind: str, name: str, specs: str, run: str, seeds: Sequence[int], purpose: str | None) -> dict[str, Any]:
    """The body of an `attempt`."""
    seeds = sorted(set(seeds))
    return {"kind": kind, "name": name, "specs": specs, "run": run, "seeds": seeds, "purpose": purpose}


def result_of(attempt: int, manifest: Mapping[str, Any]) -> dict[str, Any]:
    """The body of a `result`: what a manifest says, and the SHA-256 of its file."""
    return {
        "attempt": attempt,
        "manifest": manifest_digest(manifest),
        "receipts": dict(manifest["receipts"]),
        "verdict": manifest["result"]["verdict"],
    }


def manifest_digest(manifest: Mapping[str, Any]) -> str:
    """The SHA-256 of a manifest's file, which is its canonical form and a newline."""
    return sha256_hex(canonical_bytes(manifest) + b"\n")
