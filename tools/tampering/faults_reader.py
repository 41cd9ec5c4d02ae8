"""Faults that only show by what the reader brings: what he trusts and expects, and the heads that he saw.

Each line is a case; `Case` says what the columns are.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from tools.tampering.case import Case, Change, recount, resign
from tools.tampering.faults_chain import STEP, body
from tools.tampering.forger import merkle
from tools.tampering.signer import ONE, Signer, trust


def trusting(data: bytes, change: Change | None = None) -> Change:
    """The reader brings another trust file."""

    def make(f: Signer) -> None:
        f.options["trust"] = data
        if change is not None:
            change(f)

    return make


def seen(make: Callable[[Signer], bytes], change: Change | None = None) -> Change:
    """The reader brings a checkpoint that was seen before the fault."""

    def both(f: Signer) -> None:
        f.options["against"] = make(f)
        if change is not None:
            change(f)

    return both


def head(size: int) -> Callable[[Signer], bytes]:
    """The checkpoint over the first receipts of the bundle as it is."""

    def make(f: Signer) -> bytes:
        text = f.note(size=size, root=merkle(f.lines[:size]))
        return text + b"\n" + f.note_line(ONE, ONE.sign(text))

    return make


def of_another_log(f: Signer) -> bytes:
    text = f.note(origin="another.example/log")
    return text + b"\n" + f.note_line(ONE, ONE.sign(text), "another.example/log")


EXPECTED: Final = [
    Case("replayed-log", "The bundle is an honest one, of another log than the reader expects.", "climb", trusting(trust(ONE, origin="another.example/log")), resign, "E_EXPECTED", "L1"),
    Case("recording-other", "The bundle is about other logs than the reader expects.", "reading", trusting(trust(ONE, recording="ab" * 32)), resign, "E_EXPECTED", "L1"),
    Case("recording-none", "The reader expects logs, and the bundle is about none.", "climb", trusting(trust(ONE, recording="ab" * 32)), resign, "E_EXPECTED", "L1"),
    Case("fork-later", "The receipts do not begin with those of a head that the reader saw.", "climb", seen(head(5), body(STEP, record={"reached": 2})), recount, "E_FORK", "L3"),
    Case("fork-of-another-log", "The checkpoint that the reader brings is that of another log.", "climb", seen(of_another_log), resign, "E_OTHER_LOG", "L3", exit=3),
    Case("rollback-in-the-trust-file", "The log was longer when the reader wrote his trust file.", "climb", trusting(trust(ONE, checkpoint={"size": 21, "root": "ab" * 32})), resign, "E_ROLLBACK", "L3"),
]  # fmt: skip

USAGE: Final = [
    Case("trust-list", "The trust file is a list.", "climb", trusting(b"[]"), resign, "E_TRUST", exit=2),
    Case("against-none", "What the reader saw before is no checkpoint.", "climb", seen(lambda f: b"20 receipts\n"), resign, "E_AGAINST", "L3", exit=2),
]  # fmt: skip

FAULTS: Final = (*EXPECTED, *USAGE)
