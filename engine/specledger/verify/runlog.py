"""The verification of a run log, alone and for one bundle: which attempt the bundle is, and how the others ended.

Attempts at the same thing have the same kind and name. A valid chain alone proves little, because its writer can write
another log; a reader who saw its head earlier passes it, and the log must still contain it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

from msgspec import Struct

from specledger.core.diagnostics import code
from specledger.evidence.runlog import (
    E_RUNLOG,
    FORMAT,
    MAX_LOG,
    Attempt,
    InvalidLog,
    RunLog,
    manifest_digest,
    read_runlog,
    result_of,
)
from specledger.verify import check_names
from specledger.verify.checks import Broken, Level, Verification

E_RUNLOG_UNLISTED = code("E_RUNLOG_UNLISTED", "the run log does not hold this bundle")
E_RUNLOG_REWRITTEN = code("E_RUNLOG_REWRITTEN", "the run log is not the one that you saw")


_BEGINS: Final = 1024
"""Bytes in which the first line of a log says its format."""


def is_runlog(path: Path) -> bool:
    """Whether a file begins as a run log does, whole or not; one that is not there or cannot be read does not."""
    try:
        with path.open("rb") as file:
            return FORMAT.encode() in file.read(_BEGINS).partition(b"\n")[0]
    except OSError:
        return False


def verify_runlog(path: Path, seen: str | None = None) -> Verification:
    """Check a run log by itself: its chain, and that it goes on from a head that the reader saw."""
    verification, again = Verification(), check_names.LOG_HEAD
    try:
        log = _read(path)
    except Broken as broken:
        verification.failed(check_names.LOG_CHAIN, broken)
        if seen is not None:
            verification.not_made(again, "an earlier check failed", Level.UNFORKED)
        return verification
    torn = f"; the last line is torn: {len(log.torn)} bytes were not read" if log.torn else ""
    verification.passed(check_names.LOG_CHAIN, f"{len(log.heads)} lines, head {log.head}{torn}")
    listed = [
        f"line {attempt.seq} {attempt.announced['kind']} {attempt.announced['name']} {_ended(attempt)}"
        for attempt in log.attempts
    ]
    number = f"{len(listed)} attempt{'' if len(listed) == 1 else 's'}"
    if listed:
        verification.passed(check_names.LOG_RESULTS, f"{number}: {_first(listed)}")
    else:
        verification.nothing(check_names.LOG_RESULTS, "nothing was announced")
    if seen is not None and seen in log.heads:
        verification.passed(again, f"line {log.heads.index(seen)} of {len(log.heads)}", Level.UNFORKED)
    elif seen is not None:
        other = Broken(E_RUNLOG_REWRITTEN, f"no line of {path.name} has the digest {seen}")
        verification.failed(again, other, Level.UNFORKED)
    verification.facts["runlog"] = {
        "head": log.head,
        "lines": len(log.heads),
        "torn": len(log.torn),
        "attempts": [
            {
                **{key: attempt.announced[key] for key in ("kind", "name", "specs", "run", "purpose")},
                "line": attempt.seq,
                "verdict": None if attempt.result is None else attempt.result["verdict"],
                "manifest": None if attempt.result is None else attempt.result["manifest"],
            }
            for attempt in log.attempts
        ],
    }
    return verification


def _ended(attempt: Attempt) -> str:
    return "without a result" if attempt.result is None else str(attempt.result["verdict"])


class LogSubject(Struct, frozen=True):
    """What was run, as the specs of a bundle say it: kind, name of the spec, and all seeds, ascending."""

    kind: str
    name: str
    seeds: Sequence[int]

    def named(self, attempt: Attempt) -> bool:
        """Whether an attempt is one of this, in whatever case of its matrix and with whatever specs."""
        announced = attempt.announced
        return bool(announced["kind"] == self.kind and announced["name"].partition(".")[0] == self.name)


def check_runlog(path: Path, manifest: Mapping[str, Any], subject: LogSubject, seen: str | None = None) -> str:
    """Find a bundle in a log, and check that the log and the bundle agree.

    Raises:
        Broken: E_RUNLOG, E_RUNLOG_UNLISTED, E_RUNLOG_REWRITTEN.
    """
    log = _read(path)
    if seen is not None and seen not in log.heads:
        raise Broken(E_RUNLOG_REWRITTEN, f"no line of {path.name} has the digest {seen}")
    wanted = manifest_digest(manifest)
    matches = [entry for entry in log.attempts if entry.result is not None and entry.result["manifest"] == wanted]
    if not matches:
        raise Broken(E_RUNLOG_UNLISTED, f"{path.name} has no result with the manifest {wanted}")
    attempt = matches[0]
    announced: Mapping[str, Any] = attempt.announced
    for name, own in (("specs", manifest["specs"]), ("run", manifest["run"]), ("seeds", list(subject.seeds))):
        if announced[name] != own:
            raise Broken(E_RUNLOG_UNLISTED, f"attempt {attempt.seq} announced other {name}: {announced[name]}")
    if not subject.named(attempt):
        other = f"{attempt.announced['kind']} {attempt.announced['name']}"
        raise Broken(
            E_RUNLOG_UNLISTED, f"attempt {attempt.seq} announced {other}, this is {subject.kind} {subject.name}"
        )
    if attempt.result != result_of(attempt.seq, manifest):
        raise Broken(E_RUNLOG_UNLISTED, f"the result of attempt {attempt.seq} is not what the bundle says of itself")
    words = position_of(log, attempt, subject)
    if len(matches) > 1:
        words += f"; the same bundle was entered {len(matches)} times"
    return f"{words}; head {log.head}"


def _read(path: Path) -> RunLog:
    try:
        with path.open("rb") as file:
            return read_runlog(file.read(MAX_LOG + 1))
    except InvalidLog as error:
        raise Broken(E_RUNLOG, f"{path.name}: {error}") from None
    except OSError as error:
        raise Broken(E_RUNLOG, f"{path.name} cannot be read: {error.strerror or error}") from None


def position_of(log: RunLog, attempt: Attempt, subject: LogSubject) -> str:
    """The position of an attempt among those at the same thing."""
    alike = [entry for entry in log.attempts if subject.named(entry)]
    number = alike.index(attempt)
    same = [entry for entry in alike if entry.announced["specs"] == attempt.announced["specs"]]
    parts = [f"attempt {number + 1} of {len(alike)} of {subject.kind} {subject.name}"]
    parts.append(f"number {same.index(attempt) + 1} of {len(same)} with these specs")
    parts += _others(alike, attempt)
    if log.torn:
        parts.append(f"the last line is torn: {len(log.torn)} bytes were not read")
    return "; ".join(parts)


def _others(alike: Sequence[Attempt], attempt: Attempt) -> list[str]:
    """What is to be known of the other attempts: results, those without one, and where the specs changed."""
    others = [other for other in alike if other is not attempt]
    unfinished = [other for other in others if other.result is None]
    verdicts = [f"{other.result['verdict']} in line {other.seq}" for other in others if other.result is not None]
    changed = [
        f"{later.seq}{'' if earlier.announced['seeds'] == later.announced['seeds'] else ' (with other seeds)'}"
        for earlier, later in pairwise(alike)
        if earlier.announced["specs"] != later.announced["specs"]
    ]
    parts = []
    if verdicts:
        parts.append(f"others came to {_first(verdicts)}")
    if unfinished:
        parts.append(f"{len(unfinished)} without a result, in line {_first([str(other.seq) for other in unfinished])}")
    if changed:
        parts.append(f"the specs are others from line {_first(changed)} on")
    if attempt.announced["purpose"] is not None:
        parts.append(f"it was announced for: {attempt.announced['purpose']}")
    return parts


def _first(words: Sequence[str], most: int = 10) -> str:
    return ", ".join(words[:most]) + (f" and {len(words) - most} more" if len(words) > most else "")
