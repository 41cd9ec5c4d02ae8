"""Where a kernel's private key lies: in a file or an environment variable that its governor names.

Decides whether what lies there is the key of the public key that the governor states. Refuses to show it: neither a
finding nor a receipt holds any part of it, and a replay never reads it.

Source: RFC 8032; toy-pseudo-axion, Capability tokens.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from specledger.core.diagnostics import Diagnostic, Rejected, code
from specledger.gates.signatures import Ed25519Signer, RecordedSigner, Signer

E_SIGN_KEY = code(
    "E_SIGN_KEY",
    "the key that tokens are to be signed with is not there",
    "With `signature: ed25519` a governor states its public key, and names the file or the environment variable that "
    "holds the private one: 64 hexadecimal digits. It is read when a run begins, and never shown.",
)

_KEY: Final = re.compile(r"[0-9a-fA-F]{64}")
_MOST: Final = 4096  # characters of a file that are looked at


@dataclass(frozen=True, slots=True)
class Signing:
    """How a kernel signs by Ed25519.

    Attributes:
        public: The public key, 32 bytes.
        file, variable: Where the private one lies; one of the two.
    """

    public: bytes
    file: str | None = None
    variable: str | None = None

    def signer(self, recorded: Sequence[str] | None) -> Signer:
        """Who signs a run.

        Args:
            recorded: The signatures of the run that is made again; None where there is none to be made again.

        Raises:
            Rejected: E_SIGN_KEY, E_SIGN_MISSING.
        """
        if recorded is not None:
            return RecordedSigner(self.public, recorded)
        signer = Ed25519Signer(bytes.fromhex(self._text()))
        if signer.public != self.public:
            raise _wrong(f"{self._place} holds the key of another public key than the governor's")
        return signer

    @property
    def _place(self) -> str:
        return f"the file {self.file!r}" if self.variable is None else f"the environment variable {self.variable}"

    def _text(self) -> str:
        text = _read(self.file or "") if self.variable is None else os.environ.get(self.variable)
        if text is None:
            raise _wrong(f"{self._place} is not there, or cannot be read")
        if not _KEY.fullmatch(text.strip()):
            raise _wrong(f"{self._place} does not hold 64 hexadecimal digits")
        return text.strip()


def _read(path: str) -> str | None:
    try:
        with Path(path).open(encoding="ascii") as file:
            return file.read(_MOST)
    except (OSError, ValueError):
        return None


def _wrong(message: str) -> Rejected:
    return Rejected([Diagnostic(E_SIGN_KEY, message)])
