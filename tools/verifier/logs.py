"""The audit log of a kernel: one chain of entries that ends with those among the receipts (docs/kernel.md)."""

import hashlib
from collections import deque

from tools.verifier.basis import ENTRY, ENTRY_KEYS, LOG, ZEROS, demand, read, write


def check_log(bundle):
    """The entries are one chain that begins with zeros, and the last ones are those among the receipts."""
    code, head, own = "E_AUDIT_LINE", ZEROS, bundle.order.entries
    last = deque(maxlen=len(own))
    demand((bundle.place / LOG).is_file(), "E_AUDIT_DIFFERS", "the receipts hold audit entries, and there is no log")
    with (bundle.place / LOG).open("rb") as file:
        begins = any(b'"prev_entry_hash"' in file.readline(ENTRY + 1) for _ in range(2))
        demand(begins, "E_AUDIT_NO_LOG", "the log does not begin with entries")
        file.seek(0)
        for line in iter(lambda: file.readline(ENTRY + 1), b""):
            demand(len(line) <= ENTRY, code, "an entry is too long")
            demand(line.endswith(b"\n"), "E_AUDIT_TORN", "the last entry is torn")
            head = log_entry(read(line[:-1], code, "an entry"), head)
            last.append(head)
    demand(list(last) == own, "E_AUDIT_DIFFERS", "the log does not end with the entries of the run")


def log_entry(entry, head):
    """The hash of an entry that follows the one with the hash `head`."""
    demand(isinstance(entry, dict) and entry.keys() == ENTRY_KEYS, "E_AUDIT_LINE", "an entry has other fields")
    demand(entry["prev_entry_hash"] == head, "E_AUDIT_CHAIN", "an entry does not follow the one before it")
    own = {name: value for name, value in entry.items() if name != "entry_hash"}
    head = hashlib.sha256(write(own)).hexdigest()
    demand(entry["entry_hash"] == head, "E_AUDIT_CHAIN", "an entry does not have the hash that it tells")
    for token in entry["capability_tokens"] if entry["event"] == "CAPABILITY_ISSUED" else ():
        scope, at = token["scope"], entry["timestamp_ms"]
        bound = {"proposal_hash": entry["proposal_hash"], "trace_hash": entry["trace_hash"]}
        bound["scope_hash"] = hashlib.sha256(write(scope)).hexdigest()
        timed = (token["issued_at_ms"], token["expires_at_ms"]) == (at, at + scope["expiry_ms"])
        demand(token["binding"] == bound and timed, "E_AUDIT_TOKEN", "a token is bound to something else")
    return head
