"""Faults that only show by what the reader brings: what he trusts and expects, and the heads that he saw.

Each line is a case; `Case` says what the columns are.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, Final

from tools.tampering.case import TRUST, Case, Change, nothing_signed, recount, resign
from tools.tampering.faults_chain import STEP, body
from tools.tampering.forger import COVERS, merkle
from tools.tampering.signer import ONE, Signer, TestKey, b64, trust


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


def longer(f: Signer) -> bytes:
    text = f.note(size=25, root="ab" * 32)
    return text + b"\n" + f.note_line(ONE, ONE.sign(text))


def of_another_log(f: Signer) -> bytes:
    text = f.note(origin="another.example/log")
    return text + b"\n" + f.note_line(ONE, ONE.sign(text), "another.example/log")


def trusting_head(size: int, root: str) -> Change:
    return trusting(trust(ONE, checkpoint={"size": size, "root": root}), body(STEP, record={"reached": 2}))


def document(**changes: Any) -> bytes:
    """The usual trust file with other fields; None takes one away."""
    made = json.loads(TRUST["one"]) | changes
    return json.dumps({name: value for name, value in made.items() if value is not None}).encode()


def key(**changes: Any) -> bytes:
    return document(keys=[{"id": ONE.id, "public": b64(ONE.public)} | changes])


EXPECTED: Final = [
    Case("replayed-run", "The bundle is an honest one, of another run than the reader expects.", "climb", trusting(trust(ONE, run="ab" * 16)), resign, "E_EXPECTED", "L1"),
    Case("replayed-specs", "The bundle is an honest one, of other specs than the reader expects.", "climb", trusting(trust(ONE, specs="ab" * 32)), resign, "E_EXPECTED", "L1"),
    Case("replayed-log", "The bundle is an honest one, of another log than the reader expects.", "climb", trusting(trust(ONE, origin="another.example/log")), resign, "E_EXPECTED", "L1"),
    Case("replayed-unsigned-run", "The bundle is unsigned, and of another run than the reader expects.", "climb", trusting(trust(ONE, run="ab" * 16)), nothing_signed, "E_EXPECTED", "L1"),
    Case("fork-later", "The receipts do not begin with those of a head that the reader saw.", "climb", seen(head(5), body(STEP, record={"reached": 2})), recount, "E_FORK", "L3"),
    Case("fork-same-size", "The log is as long as the one that the reader saw, and another one.", "climb", seen(head(20), body(STEP, record={"reached": 2})), recount, "E_FORK", "L3"),
    Case("fork-in-the-trust-file", "The receipts do not begin with those of the head in the trust file.", "climb", trusting_head(2, "ab" * 32), recount, "E_FORK", "L3"),
    Case("fork-of-nothing", "The head that the reader saw is of no receipts, and its root is not that of none.", "climb", trusting(trust(ONE, checkpoint={"size": 0, "root": "ab" * 32})), resign, "E_FORK", "L3"),
    Case("fork-of-another-log", "The checkpoint that the reader brings is that of another log.", "climb", seen(of_another_log), resign, "E_OTHER_LOG", "L3", exit=3),
    Case("rollback-checkpoint", "The log was longer when the reader saw it.", "climb", seen(longer), resign, "E_ROLLBACK", "L3"),
    Case("rollback-in-the-trust-file", "The log was longer when the reader wrote his trust file.", "climb", trusting(trust(ONE, checkpoint={"size": 21, "root": "ab" * 32})), resign, "E_ROLLBACK", "L3"),
]  # fmt: skip

USAGE: Final = [
    Case("trust-key-twice-in-json", "A field stands twice in the trust file.", "climb", trusting(b'{"threshold": 2, ' + TRUST["one"][1:]), resign, "E_TRUST", exit=2),
    Case("trust-key-twice", "A key stands twice in the trust file, so that a threshold of two means one.", "climb", trusting(trust(ONE, ONE, threshold=2)), resign, "E_TRUST", exit=2),
    Case("trust-no-threshold", "The threshold of the trust file is 0.", "climb", trusting(document(threshold=0)), resign, "E_TRUST", exit=2),
    Case("trust-true-threshold", "The threshold of the trust file is `true`.", "climb", trusting(document(threshold=True)), resign, "E_TRUST", exit=2),
    Case("trust-high-threshold", "The threshold of the trust file is higher than its number of keys.", "climb", trusting(document(threshold=2)), resign, "E_TRUST", exit=2),
    Case("trust-key-id", "An id in the trust file is not that of its key.", "climb", trusting(key(id="ab" * 32)), resign, "E_TRUST", exit=2),
    Case("trust-upper-case-id", "An id in the trust file is written in upper case.", "climb", trusting(key(id=ONE.id.upper())), resign, "E_TRUST", exit=2),
    Case("trust-key-field", "A key in the trust file has a field more.", "climb", trusting(key(name="x")), resign, "E_TRUST", exit=2),
    Case("trust-key-length", "A key in the trust file has 31 bytes.", "climb", trusting(key(public=b64(ONE.public[:31]))), resign, "E_TRUST", exit=2),
    Case("trust-field", "The trust file has an unknown field.", "climb", trusting(document(more=1)), resign, "E_TRUST", exit=2),
    Case("trust-missing-field", "The trust file has no threshold.", "climb", trusting(document(threshold=None)), resign, "E_TRUST", exit=2),
    Case("trust-format", "The trust file is of another format.", "climb", trusting(document(format="specledger/trust/v2")), resign, "E_TRUST", exit=2),
    Case("trust-no-keys", "The trust file has no keys.", "climb", trusting(document(keys=[], threshold=0)), resign, "E_TRUST", exit=2),
    Case("trust-too-many-keys", "The trust file has 17 keys.", "climb", trusting(trust(*(TestKey(str(at)) for at in range(17)))), resign, "E_TRUST", exit=2),
    Case("trust-origin", "The origin of the trust file has a blank.", "climb", trusting(document(origin="a b")), resign, "E_TRUST", exit=2),
    Case("trust-origin-null", "The origin of the trust file is a number.", "climb", trusting(document(origin=1)), resign, "E_TRUST", exit=2),
    Case("trust-run", "The run in the trust file is none.", "climb", trusting(document(run="x")), resign, "E_TRUST", exit=2),
    Case("trust-specs", "The specs in the trust file are none.", "climb", trusting(document(specs=1)), resign, "E_TRUST", exit=2),
    Case("trust-checkpoint", "The checkpoint in the trust file has a negative size.", "climb", trusting(document(checkpoint={"size": -1, "root": "ab" * 32})), resign, "E_TRUST", exit=2),
    Case("trust-checkpoint-root", "The checkpoint in the trust file has no root.", "climb", trusting(document(checkpoint={"size": 1})), resign, "E_TRUST", exit=2),
    Case("trust-checkpoint-number", "The root in the trust file is a number.", "climb", trusting(document(checkpoint={"size": 1, "root": int("1" * 64)})), resign, "E_TRUST", exit=2),
    Case("trust-no-json", "The trust file is no JSON.", "climb", trusting(b"origin: x\n"), resign, "E_TRUST", exit=2),
    Case("trust-list", "The trust file is a list.", "climb", trusting(b"[]"), resign, "E_TRUST", exit=2),
    Case("trust-fraction", "The trust file holds a fraction.", "climb", trusting(document(threshold=1.0)), resign, "E_TRUST", exit=2),
    Case("against-none", "What the reader saw before is no checkpoint.", "climb", seen(lambda f: b"20 receipts\n"), resign, "E_AGAINST", "L3", exit=2),
    Case("against-size", "The checkpoint that the reader saw before has a size that is none.", "climb", seen(lambda f: f.read(COVERS[0]).replace(b"\n20\n", b"\n-1\n", 1), lambda f: f.sign()), resign, "E_AGAINST", "L3", exit=2),
]  # fmt: skip

HONEST: Final = [
    Case("honest-head", "The log goes on from the head that the reader saw.", "climb", seen(head(5)), resign, None, exit=0),
    Case("honest-same-head", "The head is the one that the reader saw.", "climb", seen(head(20)), resign, None, exit=0),
    Case("honest-trusted-head", "The log goes on from the head in the trust file, which is that of nothing.", "climb", trusting(trust(ONE, checkpoint={"size": 0, "root": "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"})), resign, None, exit=0),
    Case("honest-expected", "The run and the specs are those that the reader expects.", "climb", lambda f: trusting(trust(ONE, run=f.manifest["run"], specs=f.manifest["specs"]))(f), resign, None, exit=0),
]  # fmt: skip

FAULTS: Final = (*EXPECTED, *USAGE, *HONEST)
