"""Faults of form: JSON, numbers, text, limits, digests, manifests, paths.

Each line is a case; `Case` says what the columns are.
"""

from __future__ import annotations

from typing import Any, Final

from tools.tampering.case import Case, Change, nothing, recount, rehead, relist, resign, seal, sign, unsigned
from tools.tampering.faults_chain import (
    COMMIT,
    END,
    LAST,
    MANIFEST,
    RECEIPTS,
    SPECS,
    START,
    STEP,
    body,
    decision,
    inside,
    line,
    manifest,
    swap,
    uppercase_run,
    uppercase_specs,
)
from tools.tampering.forger import sha256
from tools.tampering.signer import Signer


def listing(change: Any) -> Change:
    """The file list of the manifest says something else."""
    return lambda f: change(f.manifest["files"])


def whole(name: str, change: Any) -> Change:
    """The bytes of a file are others."""
    return lambda f: f.write(name, change(f.read(name)))


def linked(name: str, target: str = "elsewhere") -> Change:
    """A file is a link, which is made when the case is laid out: not every checkout can hold one.

    Args:
        name: The file.
        target: `elsewhere`, where it lies beside the bundle, or `nowhere`.
    """
    return lambda f: f.recipe.update(links={name: target})


def padded(name: str, size: int) -> Change:
    """So many bytes more follow in a file; they are written when the case is laid out."""

    def change(f: Signer) -> None:
        f.recipe["pad"] = {name: size}

    return change


def added(name: str, data: bytes = b"") -> Change:
    """A file more lies in the bundle."""
    return lambda f: f.write(name, data)


def folded(f: Signer) -> None:
    f.remove(SPECS)
    f.write(f"{SPECS}/x", b"")


def plain_digest(f: Signer) -> str:
    """SHA-256 of the last line but one, without a domain tag."""
    return sha256(f.lines[-2])


MIB: Final = 1 << 20
BIG: Final = b"9007199254740993"

JSON: Final = [
    Case("json-key-twice-in-a-receipt", "A key stands twice in a receipt; readers differ in which one counts.", "short", line(LAST, b'"episodes":1', b'"episodes":9,"episodes":1'), resign, "E_LINE"),
    Case("json-key-twice-in-the-manifest", "A key stands twice in the manifest.", "climb", swap(MANIFEST, b'"format":', b'"format":0,"format":'), nothing, "E_MANIFEST"),
    Case("json-key-twice-in-the-specs", "A key stands twice in the specs.", "climb", swap(SPECS, b'{"root":', b'{"root":0,"root":'), relist, "E_SPECS"),
    Case("json-no-json", "A line is no JSON.", "short", line(LAST, b'{"body"', b'["body"'), resign, "E_LINE"),
    Case("json-two-documents", "There are two documents in the manifest's file.", "climb", whole(MANIFEST, lambda data: data + data), nothing, "E_MANIFEST"),
    Case("json-no-object", "The manifest is a list.", "climb", whole(MANIFEST, lambda data: b"[]\n"), nothing, "E_MANIFEST"),
    Case("json-no-receipt", "A line is JSON, but no receipt.", "climb", lambda f: f.write(RECEIPTS, f.read(RECEIPTS) + b"[]\n"), rehead, "E_LINE"),
    Case("json-further-field", "A receipt has a field beside the five.", "short", line(LAST, b'{"body"', b'{"a":0,"body"'), resign, "E_LINE"),
    Case("json-unknown-type", "A receipt is of a type that nobody knows.", "short", lambda f: f.receipts[STEP].update(type="leap"), seal, "E_LINE"),
    Case("json-type-no-text", "The type of a receipt is a number.", "short", line(LAST, b'"type":"end"', b'"type":1'), resign, "E_LINE"),
    Case("json-missing-field", "A step has no decisions.", "short", lambda f: f.receipts[STEP]["body"].pop("decisions"), seal, "E_LINE"),
    Case("json-body-no-object", "The body of a receipt is a list.", "climb", lambda f: f.receipts[END].update(body=[]), seal, "E_LINE"),
    Case("canonical-white-space", "There is a blank in a receipt.", "short", line(LAST, b'"episodes":1', b'"episodes": 1'), resign, "E_LINE"),
    Case("canonical-escape", "A letter of a receipt is written as an escape.", "short", line(LAST, b'"episodes"', b'"\\u0065pisodes"'), resign, "E_LINE"),
    Case("canonical-solidus", "A slash of a receipt is escaped.", "short", line(LAST, b'"episodes":1', b'"a":"\\/","episodes":1'), resign, "E_LINE"),
    Case("canonical-upper-case-escape", "A control character is written with upper-case digits.", "short", line(LAST, b'"episodes":1', b'"a":"\\u001F","episodes":1'), resign, "E_LINE"),
    Case("canonical-key-order", "The keys of a receipt stand in another order.", "short", line(LAST, b'"episodes":1,', b'"z":0,"episodes":1,'), resign, "E_LINE"),
    Case("canonical-carriage-return", "A line ends with a carriage return.", "short", line(LAST, b'"end"}', b'"end"}\r'), resign, "E_LINE"),
    Case("canonical-manifest-white-space", "There is a blank in the manifest.", "climb", swap(MANIFEST, b'"format":', b'"format": '), nothing, "E_MANIFEST"),
    Case("canonical-manifest-newline", "The manifest does not end with a newline.", "climb", whole(MANIFEST, lambda data: data[:-1]), nothing, "E_MANIFEST"),
    Case("canonical-manifest-two-newlines", "The manifest ends with two newlines.", "climb", whole(MANIFEST, lambda data: data + b"\n"), nothing, "E_MANIFEST"),
    Case("canonical-specs-white-space", "There is a blank in the specs.", "climb", swap(SPECS, b'"root":', b'"root": '), relist, "E_SPECS"),
    Case("canonical-specs-newline", "The specs do not end with a newline.", "climb", whole(SPECS, lambda data: data[:-1]), relist, "E_SPECS"),
    Case("number-float", "An integer is written as 2.0.", "short", line(LAST, b'"episodes":1', b'"episodes":1.0'), resign, "E_LINE"),
    Case("number-exponent", "An integer is written as 2e0.", "short", line(LAST, b'"episodes":1', b'"episodes":1e0'), resign, "E_LINE"),
    Case("number-minus-zero", "A zero is written as -0.", "short", line(LAST, b'"calm":0', b'"calm":-0'), resign, "E_LINE"),
    Case("number-leading-zero", "A number is written with a leading zero.", "short", line(LAST, b'"episodes":1', b'"episodes":01'), resign, "E_LINE"),
    Case("number-too-large", "A number is 2^53 + 1, which some readers take for 2^53.", "short", line(LAST, b'"episodes":1', b'"a":' + BIG + b',"episodes":1'), resign, "E_LINE"),
    Case("number-too-small", "A number is -2^53 - 1.", "short", line(LAST, b'"episodes":1', b'"a":-' + BIG + b',"episodes":1'), resign, "E_LINE"),
    Case("number-huge", "A number has 5000 digits.", "short", line(LAST, b'"episodes":1', b'"a":' + b"9" * 5000 + b',"episodes":1'), resign, "E_LINE"),
    Case("number-nan", "A number in the receipts is NaN.", "short", line(LAST, b'"episodes":1', b'"a":NaN,"episodes":1'), resign, "E_LINE"),
    Case("number-true", "The number of a step is `false`, which some readers take for 0.", "short", body(COMMIT, t=False), seal, "E_STATE"),
    Case("number-text", "The number of receipts in the manifest is text.", "climb", inside("receipts", count="20"), unsigned, "E_HEAD"),
    Case("number-manifest-float", "The number of receipts in the manifest is written as 20.0.", "climb", swap(MANIFEST, b'"count":20', b'"count":20.0'), nothing, "E_MANIFEST"),
    Case("number-specs-float", "A number in the specs has a fraction, and is not written as an object.", "climb", swap(SPECS, b'"seed":3', b'"seed":3.0'), relist, "E_SPECS"),
    Case("unicode-byte-order-mark", "The manifest begins with a byte order mark.", "climb", whole(MANIFEST, lambda data: b"\xef\xbb\xbf" + data), nothing, "E_MANIFEST"),
    Case("unicode-byte-order-mark-in-receipts", "The receipts begin with a byte order mark.", "climb", line(START, b'{"body"', b'\xef\xbb\xbf{"body"'), resign, "E_LINE"),
    Case("unicode-lone-surrogate", "An escape stands for half of a pair.", "short", line(LAST, b'"episodes":1', b'"a":"\\ud800","episodes":1'), resign, "E_LINE"),
    Case("unicode-raw-surrogate", "Half of a pair is encoded as if it were a character.", "short", line(LAST, b'"episodes":1', b'"a":"\xed\xa0\x80","episodes":1'), resign, "E_LINE"),
    Case("unicode-overlong", "A slash is encoded in two bytes.", "short", line(LAST, b'"episodes":1', b'"a":"\xc0\xaf","episodes":1'), resign, "E_LINE"),
    Case("unicode-not-utf8", "A text is Latin-1.", "short", line(LAST, b'"episodes":1', b'"a":"\xe9","episodes":1'), resign, "E_LINE"),
    Case("unicode-beyond", "A character lies beyond U+10FFFF.", "short", line(LAST, b'"episodes":1', b'"a":"\xf4\x90\x80\x80","episodes":1'), resign, "E_LINE"),
    Case("unicode-control", "A control character is not escaped.", "short", line(LAST, b'"episodes":1', b'"a":"\x01","episodes":1'), resign, "E_LINE"),
    Case("unicode-separator", "A character above ASCII is written as an escape.", "short", line(LAST, b'"episodes":1', b'"a":"\\u2028","episodes":1'), resign, "E_LINE"),
    Case("unicode-utf16", "The manifest is encoded in UTF-16.", "climb", whole(MANIFEST, lambda data: data.decode().encode("utf-16")), nothing, "E_MANIFEST"),
    Case("unicode-bidi-name", "A file that is not listed has a name that turns the direction of writing.", "climb", added("receipts.jsonl\u202e"), nothing, "E_FILES"),
    Case("unicode-bidi-version", "The version of the engine has a character that turns the direction of writing.", "climb", inside("engine", version="0.1.0\u202e"), sign, "E_MANIFEST"),
    Case("unicode-digits", "The version of the engine has digits of another script.", "climb", inside("engine", version="\u0661.0"), sign, "E_MANIFEST"),
]  # fmt: skip

LIMITS: Final = [
    Case("limit-depth", "A receipt is nested 65 deep, its own two objects included.", "short", line(LAST, b'"episodes":1', b'"a":' + b"[" * 63 + b"]" * 63 + b',"episodes":1'), resign, "E_LINE"),
    Case("limit-depth-hostile", "A receipt is nested 20,000 deep.", "short", lambda f: f.respell(8, b'"episodes":1', b'"a":' + b"[" * 20_000 + b"]" * 20_000 + b',"episodes":1'), resign, "E_LINE"),
    Case("limit-depth-manifest", "The manifest is nested 100 deep.", "climb", swap(MANIFEST, b'"count":20', b'"count":' + b"[" * 100 + b"]" * 100), nothing, "E_MANIFEST"),
    Case("limit-depth-specs", "The specs are nested 100 deep.", "climb", swap(SPECS, b'"root":', b'"a":' + b"[" * 100 + b"]" * 100 + b',"root":'), relist, "E_SPECS"),
    Case("limit-line", "A line has more than 8 MiB.", "climb", padded(RECEIPTS, 8 * MIB + 1), relist, "E_LINE"),
    Case("limit-manifest", "The manifest has more than 1 MiB.", "climb", padded(MANIFEST, MIB), nothing, "E_MANIFEST"),
    Case("limit-specs", "The specs have more than 16 MiB.", "climb", padded(SPECS, 16 * MIB), relist, "E_SPECS"),
    Case("limit-envelope", "An envelope has more than 1 MiB.", "climb", padded("attestation.dsse.json", MIB), nothing, "E_ENVELOPE"),
    Case("limit-audit-entry", "An audit entry has more than 4 MiB.", "kernel", padded("audit.log.jsonl", 4 * MIB + 1), relist, "E_AUDIT_LINE"),
]  # fmt: skip

HASHES: Final = [
    Case("hash-upper-case-file", "The digest of a file is written in upper case.", "climb", listing(lambda files: files[0].update(sha256=files[0]["sha256"].upper())), sign, "E_FILES"),
    Case("hash-upper-case-head", "The head is written in upper case.", "climb", lambda f: f.manifest["receipts"].update(head=f.manifest["receipts"]["head"].upper()), sign, "E_HEAD"),
    Case("hash-upper-case-root", "The root of a set is written in upper case.", "short", decision(lambda commit, step: commit.update(root=commit["root"].upper())), seal, "E_COMMITMENT"),
    Case("hash-upper-case-run", "The run is written in upper case.", "climb", uppercase_run, seal, "E_SPECS"),
    Case("hash-upper-case-specs", "The digest of the specs is written in upper case.", "climb", uppercase_specs, seal, "E_SPECS"),
    Case("hash-short", "The root has 63 digits.", "climb", lambda f: f.manifest["receipts"].update(root=f.manifest["receipts"]["root"][:-1]), unsigned, "E_HEAD"),
    Case("hash-no-digits", "The head is no number.", "climb", inside("receipts", head="z" * 64), sign, "E_HEAD"),
    Case("hash-prefixed", "The digest of a file has its algorithm before it.", "climb", listing(lambda files: files[0].update(sha256="sha256:" + files[0]["sha256"])), sign, "E_FILES"),
    Case("hash-null", "The digest of a file is null.", "climb", listing(lambda files: files[0].update(sha256=None)), sign, "E_FILES"),
    Case("hash-untagged", "A receipt names the plain SHA-256 of the one before it.", "climb", lambda f: f.seal(END, prev=plain_digest(f)), resign, "E_CHAIN"),
]  # fmt: skip


MANIFESTS: Final = [
    Case("manifest-further-field", "The manifest has a field more than it must.", "climb", manifest(trusted=True), sign, "E_MANIFEST"),
    Case("manifest-missing-field", "The manifest does not say what made it.", "climb", lambda f: f.manifest.pop("engine"), sign, "E_MANIFEST"),
    Case("manifest-format", "The manifest is of a format that does not exist.", "climb", manifest(format="specledger/bundle/v2"), sign, "E_MANIFEST"),
    Case("manifest-engine", "Another engine made the bundle.", "climb", inside("engine", name="other"), sign, "E_MANIFEST"),
    Case("manifest-engine-field", "The manifest says more of its engine than it must.", "climb", inside("engine", commit="x"), sign, "E_MANIFEST"),
    Case("manifest-evaluator", "Another language gave expressions their meaning.", "climb", inside("evaluator", name="other"), sign, "E_MANIFEST"),
    Case("manifest-evaluator-field", "The manifest says more of the evaluator than it must.", "climb", inside("evaluator", by="x"), sign, "E_MANIFEST"),
    Case("manifest-evaluator-version", "The version of the evaluator is none.", "climb", inside("evaluator", version="01"), sign, "E_MANIFEST"),
    Case("manifest-evaluator-number", "The version of the evaluator is a number.", "climb", inside("evaluator", version=1), sign, "E_MANIFEST"),
    Case("manifest-evaluator-missing", "The manifest does not say what gave expressions their meaning.", "climb", lambda f: f.manifest.pop("evaluator"), sign, "E_MANIFEST"),
    Case("manifest-version", "The version of the engine is none.", "climb", inside("engine", version="new\n"), sign, "E_MANIFEST"),
    Case("manifest-version-number", "The version of the engine is a number.", "climb", inside("engine", version=1), sign, "E_MANIFEST"),
    Case("manifest-kind", "The manifest is of a kind that does not exist.", "climb", manifest(kind="story"), sign, "E_MANIFEST"),
    Case("manifest-kind-named", "The manifest of a scenario says that it is one.", "climb", manifest(kind="scenario"), sign, "E_MANIFEST"),
    Case("manifest-kind-list", "The kind of the manifest is a list.", "climb", manifest(kind=["law"]), sign, "E_MANIFEST"),
    Case("manifest-other-kind", "The manifest says that a scenario is a law.", "climb", manifest(kind="law"), sign, "E_ENDS"),
    Case("manifest-lists-itself", "The manifest lists itself.", "climb", listing(lambda files: files.insert(0, {"path": MANIFEST, "sha256": "ab" * 32, "size": 1})), sign, "E_FILES"),
    Case("manifest-lists-twice", "The manifest lists a file twice.", "climb", listing(lambda files: files.append(dict(files[0]))), sign, "E_FILES"),
    Case("manifest-list-field", "The manifest says more of a file than it must.", "climb", listing(lambda files: files[0].update(mode=420)), sign, "E_FILES"),
    Case("manifest-list-no-list", "The list of files is an object.", "climb", manifest(files={}), unsigned, "E_FILES"),
    Case("manifest-head-field", "The manifest says more of the head than it must.", "climb", inside("receipts", more=1), sign, "E_HEAD"),
    Case("manifest-count", "The manifest counts a receipt more than there is.", "climb", inside("receipts", count=21), sign, "E_HEAD"),
    Case("manifest-root", "The root of the manifest is that of other receipts.", "climb", inside("receipts", root="ab" * 32), sign, "E_HEAD"),
    Case("manifest-head-null", "The head of the manifest is null.", "climb", manifest(receipts=None), unsigned, "E_HEAD"),
    Case("manifest-result-list", "The result of the manifest is a list.", "climb", manifest(result=["PASS"]), unsigned, "E_RESULT"),
    Case("manifest-result-null", "The result of the manifest is null.", "climb", manifest(result=None), unsigned, "E_RESULT"),
    Case("path-foreign-file", "A file lies in the bundle that nothing lists.", "climb", added("notes.txt"), nothing, "E_FILES"),
    Case("path-hidden-file", "A hidden file lies in the bundle.", "climb", added(".notes"), nothing, "E_FILES"),
    Case("path-foreign-folder", "A folder lies in the bundle.", "climb", added("more/notes.txt"), nothing, "E_FILES"),
    Case("path-runs", "A run lies in the bundle of a run.", "climb", added("runs/a/manifest.json"), nothing, "E_FILES"),
    Case("path-trust", "A trust file lies in the bundle.", "climb", added("trust.json"), nothing, "E_FILES"),
    Case("path-traversal", "The manifest lists a path that leaves the bundle.", "climb", listing(lambda files: files[1].update(path="../specs.json")), unsigned, "E_FILES"),
    Case("path-absolute", "The manifest lists an absolute path.", "climb", listing(lambda files: files[1].update(path="/etc/passwd")), unsigned, "E_FILES"),
    Case("path-dotted", "The manifest lists a file by a path with a dot in it.", "climb", listing(lambda files: files[0].update(path="./receipts.jsonl")), sign, "E_FILES"),
    Case("path-backslash", "The manifest lists a file by a path with a backslash.", "climb", listing(lambda files: files[0].update(path=".\\receipts.jsonl")), sign, "E_FILES"),
    Case("path-null", "The manifest lists a file without a name.", "climb", listing(lambda files: files[0].update(path=None)), sign, "E_FILES"),
    Case("path-folder-for-a-file", "A listed file is a folder.", "climb", folded, nothing, "E_FILES"),
    Case("path-link-specs", "A listed file is a link.", "climb", linked(SPECS), nothing, "E_FILES"),
    Case("path-link-receipts", "A listed file is a link.", "climb", linked(RECEIPTS), nothing, "E_FILES"),
    Case("path-link-manifest", "The manifest is a link.", "climb", linked(MANIFEST), nothing, "E_MANIFEST"),
    Case("path-link-checkpoint", "The checkpoint is a link.", "climb", linked("checkpoint"), nothing, "E_CHECKPOINT"),
    Case("path-link-envelope", "An envelope is a link.", "climb", linked("attestation.dsse.json"), nothing, "E_ENVELOPE"),
    Case("path-link-broken", "A listed file is a link to nothing.", "climb", linked(SPECS, "nowhere"), nothing, "E_FILES"),
    Case("path-link-run", "A run of a suite is a link.", "suite", linked("runs/long.climb.3"), nothing, "E_FILES"),
    Case("path-link-runs", "The folder of a suite's runs is a link.", "suite", linked("runs"), nothing, "E_FILES"),
]  # fmt: skip

SPECS_FORM: Final = [
    Case("specs-further-field", "The specs have a field beside `root` and `specs`.", "climb", lambda f: f.respec(lambda document: document.update(more=1)), recount, "E_SPECS"),
    Case("specs-no-root", "The root of the specs is none of them.", "climb", lambda f: f.respec(lambda document: document.update(root="scenario/gone@0000000000000000")), recount, "E_SPECS"),
    Case("specs-list", "The specs are a list.", "climb", lambda f: f.write(SPECS, b"[]\n"), relist, "E_SPECS"),
    Case("specs-of-another-kind", "The root of the specs is a world.", "climb", lambda f: f.respec(lambda document: document.update(root=next(key for key in document["specs"] if key.startswith("world/stairs@")))), recount, "E_SPECS"),
]  # fmt: skip

FAULTS: Final = (*JSON, *LIMITS, *HASHES, *MANIFESTS, *SPECS_FORM)
