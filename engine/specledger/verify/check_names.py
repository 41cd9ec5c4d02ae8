"""The names of all checks, as verifications print them and as profiles demand them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Final

# Every bundle
MANIFEST: Final = "the manifest is canonical JSON of a known format"
FILES: Final = "every file is listed and unchanged"
CHAIN: Final = "receipts form one hash chain"
HEAD: Final = "chain head, count and Merkle root match the manifest"
ORDER: Final = "state transitions are continuous; decisions match commitments"
RESULT: Final = "the result equals the recomputed one"
SPECS: Final = "specs match their digest and compile"
FAILING_CASES: Final = "counterexample files match the receipts"
SOURCES: Final = "source files resolve to the recorded specs"
REPLAY: Final = "replay gives the same bytes"
JUDGE: Final = "an independent evaluator agrees with every verdict of an expression"

# Runs
AUDIT_LOG: Final = "the audit log is valid and ends with the entries of the run"
START: Final = "the first receipt matches the specs"

# Suites
RUNS: Final = "every run is intact and made from the specs of its case"
ASSESSMENT: Final = "figures, checks and mutants equal the recomputed ones"
REPLAY_OF_RUNS: Final = "replay of every run gives the same bytes"

# Laws
VERDICT: Final = "the verdict matches its law and is consistent"
CERTIFICATE: Final = "the certificate proves the law"
COUNTEREXAMPLE: Final = "the counterexample violates the law when evolved again"

# Discoveries
VERDICTS: Final = "every verdict matches its law and is consistent"
CERTIFICATES: Final = "every certificate proves its law"
COUNTEREXAMPLES: Final = "every counterexample violates its law when evolved again"
LEDGER: Final = "the ledger holds every refuted law with its counterexample"

# Detached files, and what the reader brings
DETACHED: Final = "detached files refer to this manifest"
EXPECTED: Final = "the evidence is the expected one"
SIGNATURES: Final = "enough trusted keys signed the manifest and the checkpoint"
TIME: Final = "a trusted authority issued the time stamp"
EXTENDS: Final = "the log extends the checkpoint in {place}"
ANNOUNCED: Final = "the run log announced this run before it recorded this result"

# Inclusion proofs
PROOF_RECEIPT: Final = "the receipt is canonical and matches the leaf and the number in the proof"
PROOF_PATH: Final = "the path leads from the leaf to the root"
PROOF_EXPECTED: Final = "the run is the expected one"
PROOF_SIGNED: Final = "enough trusted keys signed a checkpoint of this head"
PROOF_HEAD: Final = "size and root match the checkpoint in {place}"
PROOF_UNKNOWN_HEAD: Final = "size and root match a known checkpoint"

# Run logs
LOG_CHAIN: Final = "every line is an entry, and the entries form one hash chain"
LOG_RESULTS: Final = "every result follows its attempt"
LOG_HEAD: Final = "the previously seen head is the digest of a line"

# Audit logs
AUDIT_ENTRIES: Final = "every line is the canonical JSON of a schema-valid entry"
AUDIT_CHAIN: Final = "the entries form one hash chain that begins with 64 zeros"
AUDIT_TOKENS: Final = "issued tokens are bound to their entry, scope and time"


def number_of(name: str, otherwise: int) -> int:
    """The number of a check of bundles, the same in every verification; of another check, the place in its list."""
    extends = name.startswith(EXTENDS.partition("{")[0])
    return _numbers().get(EXTENDS if extends else name, otherwise)


@cache
def _numbers() -> Mapping[str, int]:
    return {
        **{MANIFEST: 1, FILES: 2, CHAIN: 3, HEAD: 4, ORDER: 5, RESULT: 6, SPECS: 7, FAILING_CASES: 8, SOURCES: 9},
        **{AUDIT_LOG: 10, START: 11},
        **{RUNS: 10, ASSESSMENT: 11},
        **{VERDICT: 10, CERTIFICATE: 11, COUNTEREXAMPLE: 12},
        **{VERDICTS: 10, CERTIFICATES: 11, COUNTEREXAMPLES: 12, LEDGER: 13},
        **{DETACHED: 14, EXPECTED: 15, SIGNATURES: 16, TIME: 17, EXTENDS: 18, ANNOUNCED: 19},
        **{REPLAY: 20, REPLAY_OF_RUNS: 20, JUDGE: 21},
    }
