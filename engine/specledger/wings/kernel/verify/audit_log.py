"""The verification of an audit log: its entries, their hash chain, and the bindings of its tokens.

One pass over the file, line by line; memory does not grow with the number of entries. Whether the decisions were right
is not checked here. Only a head that was kept elsewhere shows that nothing was cut off the end.

Source: toy-pseudo-axion, Audit log hashing rules.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import IO, Any, Final

from specledger.core.binding import GENESIS
from specledger.core.canonical import NotCanonical, parse_canonical
from specledger.core.diagnostics import Diagnostic, Rejected, code
from specledger.core.digest import hash_json
from specledger.core.entries import entry_hash, mode_of
from specledger.evidence.layout import AUDIT_LOG
from specledger.evidence.workplace import holds_bundle
from specledger.verify.check_names import CheckName
from specledger.verify.checks import Broken, Verification
from specledger.wings.kernel.audit.log import MAX_ENTRY
from specledger.wings.kernel.documents.schemas import axion

E_AUDIT_NO_LOG = code("E_AUDIT_NO_LOG", "the file is no audit log")
E_AUDIT_LINE = code("E_AUDIT_LINE", "a line of the audit log is no entry")
E_AUDIT_TORN = code("E_AUDIT_TORN", "the last line of the audit log is torn")
E_AUDIT_CHAIN = code("E_AUDIT_CHAIN", "the chain of the audit log is broken")
E_AUDIT_TOKEN = code("E_AUDIT_TOKEN", "a token in the audit log is not bound as it must be")

E_AUDIT_DIFFERS = code("E_AUDIT_DIFFERS", "the audit log is not that of the run")

ENTRIES: Final = CheckName("every line is the canonical JSON of a schema-valid entry")
CHAIN: Final = CheckName("the entries form one hash chain that begins with 64 zeros")
TOKENS: Final = CheckName("issued tokens are bound to their entry, scope and time")
CHECKS: Final = (ENTRIES, CHAIN, TOKENS)

_KEY: Final = b'"prev_entry_hash"'
_CHECKS: Final = {
    ENTRIES: (E_AUDIT_LINE, E_AUDIT_TORN),
    CHAIN: (E_AUDIT_CHAIN,),
    TOKENS: (E_AUDIT_TOKEN,),
}


def verify_audit(path: Path) -> Verification:
    """Check an audit log from its first entry to its last, or to the first that fails."""
    return _read_through(path)[0]


def _read_through(path: Path) -> tuple[Verification, _Log]:
    try:
        if not path.is_file():
            raise _no_log(path, "it is no plain file")
        with path.open("rb") as file:
            if not any(_KEY in line for line in islice(_read(file), 2)):
                raise _no_log(path, "it does not begin with entries")
            file.seek(0)
            return _verify(_read(file))
    except OSError as error:
        raise _no_log(path, error.strerror or "operating system error") from error


def check_log(path: Path, entries: int, head: str) -> str:
    """Check a bundle's audit log, and that it ends with so many entries of the run, of which `head` is the last hash.

    Each hash is also over the hash before it, so the last one tells them all.
    """
    if not path.is_file():
        raise Broken(E_AUDIT_DIFFERS, f"the receipts hold {entries} audit entries, and there is no log")
    try:
        verification, log = _read_through(path)
    except Rejected as rejected:
        raise Broken(E_AUDIT_NO_LOG, rejected.diagnostics[0].message) from None
    failed = next((check for check in verification.checks if check.code is not None), None)
    if failed is not None:
        raise Broken(failed.code or "", failed.message or "")
    if entries and (entries > log.count or log.head != head):
        raise Broken(E_AUDIT_DIFFERS, "the log does not end with the entries of the run")
    return f"{entries} entries of the run, head {head if entries else GENESIS}"


def _verify(lines: Iterator[bytes]) -> tuple[Verification, _Log]:
    log, verification = _Log(), Verification()
    broken: Broken | None = None
    try:
        for line in lines:
            log.take(line)
    except Broken as error:
        broken = error
    messages = iter((f"{log.count} entries, {log.modes()}", f"head {log.head}", f"{log.tokens} tokens"))
    for name, codes in _CHECKS.items():
        if broken is None and name is TOKENS and not log.tokens:
            verification.nothing(name, "no token was issued")
        elif broken is None:
            verification.passed(name, next(messages))
        elif broken.code in codes:
            verification.failed(name, broken)
        else:
            verification.not_made(name, f"reading stopped at line {log.count + 1}")
    return verification, log


class _Log:
    """The entries that were read so far."""

    def __init__(self) -> None:
        self.count = 0
        self.head = GENESIS
        self.tokens = 0
        self._modes: Counter[str] = Counter()
        self._accepts = axion().check("audit_entry")

    def take(self, line: bytes) -> None:
        """Check the next line, its newline included."""
        entry = self._entry(line)
        if entry["prev_entry_hash"] != self.head:
            raise self._broken(E_AUDIT_CHAIN, "does not follow the entry before it")
        if entry_hash(entry) != entry["entry_hash"]:
            raise self._broken(E_AUDIT_CHAIN, "does not have its own hash")
        if entry["event"] == "CAPABILITY_ISSUED":
            for token in entry["capability_tokens"]:
                self._check_token(entry, token)
        self._modes[mode_of(entry) or "unknown"] += 1
        self.head = entry["entry_hash"]
        self.count += 1

    def modes(self) -> str:
        """How many entries tell which mode."""
        return ", ".join(f"{count} of mode {mode}" for mode, count in sorted(self._modes.items()))

    def _entry(self, line: bytes) -> Mapping[str, Any]:
        if len(line) > MAX_ENTRY:
            raise self._broken(E_AUDIT_LINE, f"has more than {MAX_ENTRY} bytes")
        if not line.endswith(b"\n"):
            raise self._broken(E_AUDIT_TORN, "has no newline")
        try:
            entry: Any = parse_canonical(line[:-1], limit=MAX_ENTRY)
        except NotCanonical as error:
            raise self._broken(E_AUDIT_LINE, f"is no entry: {error}") from None
        if not self._accepts(entry):
            _, location = axion().explain("audit_entry", entry)[0]
            raise self._broken(E_AUDIT_LINE, f"does not fit the schema of an entry at {location!a}")
        mapping: Mapping[str, Any] = entry
        return mapping

    def _check_token(self, entry: Mapping[str, Any], token: Mapping[str, Any]) -> None:
        binding, at_ms = token["binding"], entry["timestamp_ms"]
        bound = {"proposal_hash": entry["proposal_hash"], "trace_hash": entry["trace_hash"]}
        if binding != {**bound, "scope_hash": hash_json(token["scope"])}:
            raise self._broken(E_AUDIT_TOKEN, "issues a token that is bound to something else")
        if (token["issued_at_ms"], token["expires_at_ms"]) != (at_ms, at_ms + token["scope"]["expiry_ms"]):
            raise self._broken(E_AUDIT_TOKEN, "issues a token for another time")
        self.tokens += 1

    def _broken(self, code_: str, what: str) -> Broken:
        return Broken(code_, f"line {self.count + 1} {what}")


def _read(file: IO[bytes]) -> Iterator[bytes]:
    """The lines of a file; one that is too long comes in pieces longer than any entry."""
    while line := file.readline(MAX_ENTRY + 1):
        yield line


def _no_log(path: Path, why: str) -> Rejected:
    if path.name != AUDIT_LOG and holds_bundle(path.parent):
        hint = f"it is part of a bundle: verify the folder `{path.parent}`"
    elif path.suffix in (".yaml", ".yml"):
        hint = f"a spec is checked by `spec check {path}`, and run by `spec run {path}`, whose evidence is verified"
    elif path.suffix == ".zip":
        hint = "a bundle is a folder: unpack the file, and verify the folder"
    else:
        hint = "`spec verify` takes what `spec run` wrote: a folder, an audit log, or a run log"
    return Rejected([Diagnostic(E_AUDIT_NO_LOG, f"{path} is no evidence: {why}", hint=hint)])
