"""What a case of tampering is: an honest bundle, one fault, what is made to fit again, and what is expected.

After the fault a bundle is mended in one of the ways below, so that nothing but the fault is wrong.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tools.tampering.forger import COVERS, canonical
from tools.tampering.signer import ONE, Signer, trust

Change = Callable[[Signer], Any]


def nothing(f: Signer) -> None:
    """Leave it as it is, and give the bytes of the base: only a file was changed after everything was made."""


def sign(f: Signer) -> None:
    """Write the manifest as it is told, and sign it."""
    f.save()
    f.sign()


def unsigned(f: Signer) -> None:
    """Write the manifest as it is told; nothing can be signed about it, so the signatures are those of before."""
    f.save()


def nothing_signed(f: Signer) -> None:
    """Take away what the base was signed with."""
    for name in COVERS:
        f.remove(name)


def resign(f: Signer) -> None:
    """Sign the bytes that the manifest has now."""
    f.sign()


def relist(f: Signer) -> None:
    """List the files as they are now, and sign."""
    f.relist()
    f.sign()


def lines(f: Signer) -> None:
    """Write the receipts as they are told, chain and head as they were, list the files and sign."""
    f.lines = [canonical(receipt) for receipt in f.receipts]
    relist(f)


def rehead(f: Signer) -> None:
    """Make the head that of the lines as they are now, list the files and sign."""
    f.rehead()
    f.sign()


def seal(f: Signer) -> None:
    """Chain the receipts as they are told, add them up, list the files and sign."""
    f.seal()
    f.sign()


def recount(f: Signer) -> None:
    """Let episodes count their steps and parts chain theirs, then as `seal`."""
    f.recount()
    f.chain_parts()
    seal(f)


SIGNED = {"against", "checkpoint", "envelope", "fork", "help", "honest", "path", "replayed", "rollback"}
SIGNED |= {"signature", "time", "trust"}
"""Families whose bundles are signed."""


@dataclass(frozen=True, slots=True)
class Case:
    """One bundle, and what a verifier must say of it.

    Attributes:
        name: `<family>-<fault>`.
        fault: The one fact that is wrong, in a sentence.
        base: The honest bundle, one of `bases.BASES`.
        change: Makes the fault.
        mend: Makes everything else fit.
        code: What `spec verify` says; None where the bundle is honest.
        level: The level of the ladder that is refuted or not reached.
        exit: 0 accepted, 1 refuted, 2 wrong usage, 3 not refuted and not shown.
        needs: What a verifier must do to notice it beyond what `tools/verify.py` does: `replay`, `specs`, `tape`,
            `time` or `words`; empty where that file refuses it.
    """

    name: str
    fault: str
    base: str
    change: Change
    mend: Change
    code: str | None
    level: str = "L0"
    exit: int = 1
    needs: str = ""

    @property
    def family(self) -> str:
        """What stands before the first hyphen of its name."""
        return self.name.partition("-")[0]

    @property
    def signed(self) -> bool:
        """Whether the bundle is signed; only families that are about signatures and their readers are."""
        return self.family in SIGNED and self.base in ("climb", "short", "other")

    @property
    def base_folder(self) -> str:
        """The folder of the honest bundle."""
        return f"{self.base}-signed" if self.signed else self.base

    @property
    def folder(self) -> str:
        """Where it lies: its name, and whether it is to be accepted."""
        return f"{self.name}_{'pass' if self.exit == 0 else 'fail'}"


TRUST = {"one": trust(ONE)}
"""Trust files that several cases share, by their names."""
