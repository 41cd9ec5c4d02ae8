"""The names of all checks, as verifications print them and as profiles demand them."""

from __future__ import annotations

from typing import Final

# Every bundle
MANIFEST: Final = "the manifest is canonical and of a known format"
FILES: Final = "every file is listed, whole and unchanged"
CHAIN: Final = "receipts form one chain of lines"
HEAD: Final = "head, count and Merkle root are those of the manifest"
ORDER: Final = "each receipt goes on from those before it, and decisions match their commitments"
RESULT: Final = "the result is what the receipts add up to"
SPECS: Final = "the specs are those that the run names"
FAILING_CASES: Final = "the failing cases are those that the receipts show"
SOURCES: Final = "the spec files resolve to the specs"
REPLAY: Final = "replay gives the same bytes"
JUDGE: Final = "an independent evaluator agrees with every verdict of an expression"
ARCHIVE: Final = "the file is the archive of a bundle"

# Runs
AUDIT_LOG: Final = "the audit log is whole, and ends with the entries of the run"
START: Final = "the run begins as its specs lead to"

# Suites
RUNS: Final = "every run is whole in itself, and made from the specs that the suite leads to"
ASSESSMENT: Final = "figures, checks and mutants are what the runs lead to"
REPLAY_OF_RUNS: Final = "replay of every run gives the same bytes"

# Laws
VERDICT: Final = "the verdict is about the law of the specs, and fits itself"
CERTIFICATE: Final = "the certificate proves what the specs ask"
COUNTEREXAMPLE: Final = "the counterexample violates the law when it is evolved again"

# Discoveries
VERDICTS: Final = "every verdict is about its law, and fits itself"
CERTIFICATES: Final = "every certificate proves what its law asks"
COUNTEREXAMPLES: Final = "every counterexample violates its law when it is evolved again"
LEDGER: Final = "the ledger holds every refuted law with its ring"

# Detached files, and what the reader brings
DETACHED: Final = "what lies beside the manifest is about it"
EXPECTED: Final = "it is the evidence that you expect"
SIGNATURES: Final = "enough keys that you trust have signed the manifest and the checkpoint"
TIME: Final = "an authority that you trust stamped the time"
EXTENDS: Final = "the log goes on from the head in {place}"
ANNOUNCED: Final = "the run log announced this run, and these bytes were entered after"

# Inclusion proofs
PROOF_RECEIPT: Final = "the receipt is canonical, and its leaf and its number are those of the proof"
PROOF_PATH: Final = "the path leads from the leaf to the root"
PROOF_EXPECTED: Final = "it is of the run that you expect"
PROOF_SIGNED: Final = "enough keys that you trust have signed a checkpoint of this head"
PROOF_HEAD: Final = "size and root are those of the head in {place}"
PROOF_UNKNOWN_HEAD: Final = "size and root are those of a head that is known from elsewhere"

# Run logs
LOG_CHAIN: Final = "every line is an entry, and the entries form one chain"
LOG_RESULTS: Final = "a result follows the one attempt that it is of"
LOG_HEAD: Final = "the head that you saw is the digest of one of its lines"

# Audit logs
AUDIT_ENTRIES: Final = "every line is the canonical form of a schema-valid entry"
AUDIT_CHAIN: Final = "the entries form one chain that begins with 64 zeros"
AUDIT_TOKENS: Final = "issued tokens are bound to their entry, their scope and their time"
