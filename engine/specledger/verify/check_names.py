"""The names and the numbers of the checks of the core, as verifications print them and as profiles demand them.

Those of a wing stand in its module that makes them (`Wing.checks`).
"""

from __future__ import annotations

from typing import Final

from specledger.core.wing import wings


class CheckName(str):
    """The sentence of a check.

    Attributes:
        number: Its number, the same in every verification of a bundle; None of a check of anything else, which is
            numbered by its position.
    """

    __slots__ = ("number",)

    number: int | None

    def __new__(cls, sentence: str, number: int | None = None) -> CheckName:
        """A sentence with a number."""
        name = super().__new__(cls, sentence)
        name.number = number
        return name

    def of(self, where: str) -> CheckName:
        """The name of this check of a place, which is put into the sentence."""
        return CheckName(self.format(place=where), self.number)


# Every bundle
MANIFEST: Final = CheckName("the manifest is canonical JSON of a known format", 1)
FILES: Final = CheckName("every file is listed and unchanged", 2)
CHAIN: Final = CheckName("receipts form one hash chain", 3)
HEAD: Final = CheckName("chain head, count and Merkle root match the manifest", 4)
ORDER: Final = CheckName("state transitions are continuous; decisions match commitments", 5)
RESULT: Final = CheckName("the result equals the recomputed one", 6)
SPECS: Final = CheckName("specs match their digest and compile", 7)
FAILING_CASES: Final = CheckName("counterexample files match the receipts", 8)
SOURCES: Final = CheckName("source files resolve to the recorded specs", 9)
REPLAY: Final = CheckName("replay gives the same bytes", 20)
JUDGE: Final = CheckName("an independent evaluator agrees with every verdict of an expression", 21)

# Runs
AUDIT_LOG: Final = CheckName("the audit log is valid and ends with the entries of the run", 10)
START: Final = CheckName("the first receipt matches the specs", 11)

# Suites
RUNS: Final = CheckName("every run is intact and made from the specs of its case", 10)
ASSESSMENT: Final = CheckName("figures, checks and mutants equal the recomputed ones", 11)
REPLAY_OF_RUNS: Final = CheckName("replay of every run gives the same bytes", 20)

# Detached files, and what the reader brings
DETACHED: Final = CheckName("detached files refer to this manifest", 14)
EXPECTED: Final = CheckName("the evidence is the expected one", 15)
SIGNATURES: Final = CheckName("enough trusted keys signed the manifest and the checkpoint", 16)
TIME: Final = CheckName("a trusted authority issued the time stamp", 17)
EXTENDS: Final = CheckName("the log extends the checkpoint in {place}", 18)
ANNOUNCED: Final = CheckName("the run log announced this run before it recorded this result", 19)

# Inclusion proofs
PROOF_RECEIPT: Final = CheckName("the receipt is canonical and matches the leaf and the number in the proof")
PROOF_PATH: Final = CheckName("the path leads from the leaf to the root")
PROOF_EXPECTED: Final = CheckName("the run is the expected one")
PROOF_SIGNED: Final = CheckName("enough trusted keys signed a checkpoint of this head")
PROOF_HEAD: Final = CheckName("size and root match the checkpoint in {place}")
PROOF_UNKNOWN_HEAD: Final = CheckName("size and root match a known checkpoint")

# Run logs
LOG_CHAIN: Final = CheckName("every line is an entry, and the entries form one hash chain")
LOG_RESULTS: Final = CheckName("every result follows its attempt")
LOG_HEAD: Final = CheckName("the previously seen head is the digest of a line")


def all_names() -> frozenset[CheckName]:
    """The names of all checks, those of the wings too."""
    own = (value for value in globals().values() if isinstance(value, CheckName))
    return frozenset([*own, *(name for wing in wings() for name in wing.checks())])
