#!/usr/bin/env python3
"""Check a bundle of specledger evidence without specledger: `python3 verify.py BUNDLE`.

    python3 verify.py BUNDLE [--trust TRUST.json] [--against CHECKPOINT] [--log RUNLOG] [--level L1] [--json]

BUNDLE is a folder, an audit log or a run log. This file needs Python 3.9 or newer. Check 16 alone needs more, the
package `cryptography`, for Ed25519 signatures; without it that check is not shown (exit code 3). This file shares no
code with the engine and is meant to be read: each check is a function, and uses only what earlier checks put into
`Bundle`. A check has the number that it has in `spec verify`, whose checks 9, 11 of a law, 17, 20 and 21 are not made
here; 22 is a part of 20 there. "Nothing to check" stands where a bundle holds nothing that a check is about.

     1 manifest             10 audit log; verdicts on laws;          14 detached files: checkpoint, envelopes, digests
     2 files                   runs of a suite                       15 what the reader expects
     3 chain                11 first receipt of a run;               16 signatures
     4 head and root           figures of a suite                    18 a checkpoint that the reader saw
     5 receipts             12 counterexamples of laws               19 run log
     6 result               13 ledger of a discovery                 22 tape
     7 specs
     8 failing cases

What it does not do: it does not replay a run, prove a law or evaluate an expression, and it does not check whether the
specs are valid (types, references, limits). It therefore cannot tell whether gates judged correctly, whether states
follow from actions, or whether a law that is recorded as PROVED, PASS or UNKNOWN is so; nor whether an object on a tape
has the right form and number and claims that can be read (agent faults `wrong_form`, `wrong_id`, `unread_claims`), and
was asked for. Such verdicts are reported as "not decided here"; `spec verify` replays them. Every answer ends with the
list of what was not checked.

Exit codes: 0 nothing is refuted, and what was asked for was shown: no more, since nothing is replayed (`--level L4`
asks for replay, and ends with 3); 1 the evidence is refuted; 2 wrong usage, or there is no evidence; 3 nothing is
refuted, but something that was asked for could not be shown (a level, signatures), or the system failed; 130 it was
interrupted.
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import itertools
import json
import math
import os
import re
import shlex
import sys
from collections import Counter
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any, Callable, Iterable, Iterator, List, NamedTuple, Optional, Tuple

try:
    import resource
except ImportError:  # not on Windows
    resource = None  # type: ignore[assignment]
try:
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    CAN_CHECK_SIGNATURES = True
except ImportError:
    CAN_CHECK_SIGNATURES = False

JSON = Any  # a parsed JSON value
Function = Callable[[Any], Any]

MANIFEST, RECEIPTS, SPECS = "manifest.json", "receipts.jsonl", "specs.json"
AUDIT_LOG, TAPE, TRAJECTORIES = "audit.log.jsonl", "tape.jsonl", "trajectories.jsonl"
CHECKPOINT, ATTESTATION, PROVENANCE = "checkpoint", "attestation.dsse.json", "manifest.json.dsse.json"
TIMESTAMP, SUMS, GUIDE = "timestamp.tsr", "sha256sums", "VERIFY.md"
SIGNED_FILES = (CHECKPOINT, ATTESTATION, PROVENANCE)
DETACHED_FILES = (*SIGNED_FILES, TIMESTAMP, SUMS, GUIDE)
SOURCE_PATH = re.compile(r"specs/(origin\.json|[a-z]{1,40}/[A-Za-z0-9_][A-Za-z0-9_.-]{0,94}\.ya?ml)")
CASE_PATH = re.compile(r"counterexamples/[0-9]{8,16}\.json")
RUN_PATH = re.compile(r"(runs/[^/]+|controls/[^/]+/[^/]+|mutants/[^/]+/[^/]+)/manifest\.json")
LISTED = {
    "scenario": (TAPE, AUDIT_LOG, TRAJECTORIES),
    "suite": (),
    "law": (),
    "discovery": (TAPE,),
}  # beside receipts and specs
MIB = 1 << 20
MAX_INTEGER = 2**53 - 1
MAX_DEPTH = 64
MAX_LINE = 8 * MIB  # a receipt or an answer on a tape
MAX_VOLUME = MIB  # of what has more bytes than that: commas and colons outside texts, `[` twice, `{` four times
MAX_TRAJECTORY_LINE = 72 * MIB  # an entry of a trajectory
MAX_TRAJECTORY_VOLUME = 8 * MIB  # of one that is read
ALL_KEPT = 4 * MIB  # bytes of trajectories of which every call is kept
MAX_ENTRY = 4 * MIB  # an entry of an audit log
MAX_NOTE = 1 << 16  # a checkpoint
MAX_CASES = 100
MOST_MEMORY = 300  # megabytes that this program may take, unless its reader says otherwise
CODE_MEMORY = 20  # megabytes of them that the code of the interpreter takes
MAX_UNLISTED = 256  # files that are looked at although no manifest lists them
MAX_WINDOWS = 65_536  # windows that the rule of a ring automaton tells apart
MAX_CELLS = 20_000_000  # cells of a ring automaton that are evolved for one counterexample
ZEROS = "0" * 64
HEX32, HEX64 = re.compile(r"[0-9a-f]{32}"), re.compile(r"[0-9a-f]{64}")
ORIGIN_NAME = re.compile(r"[!-*,-~]{1,255}")
EACH = re.compile(r'args(?:\.([A-Za-z_$][\w$-]*)|\["([^"\]]+)"\])')
VERSION = re.compile(r"[0-9]{1,9}(\.[0-9]{1,9}){0,3}([-.+]?[a-z0-9]{1,20}){0,3}")
MALFORMED = (KeyError, TypeError, IndexError, AttributeError, ValueError, OverflowError)


class Finding(Exception):  # noqa: N818 - not an error of this program
    """Why a check failed, or why something that was asked for cannot be shown: a message, and a reason code."""

    def __init__(self, message: str, code: str | None = None, status: str = "failed") -> None:
        super().__init__(message)
        self.message, self.code, self.status = message, code, status


class NoEvidence(Finding):
    """There is nothing to verify, or what the reader brings is malformed."""


def not_shown(message: str, code: str | None) -> Finding:
    """What ends a check of something that cannot be shown here; nothing is refuted by that."""
    return Finding(message, code, "not shown")


def nothing_to_check(message: str) -> Finding:
    """What ends a check of which the bundle holds nothing; nothing is refuted by that, and nothing shown."""
    return Finding(message, None, "nothing to check")


def require(holds: object, message: str, code: str | None = None) -> None:
    """Refute the evidence unless something holds."""
    if not holds:
        raise Finding(message, code)


def misformed(error: Exception) -> str:
    """Words for what was raised by reading evidence that is not of its form."""
    if isinstance(error, KeyError) and error.args:
        return f"the field {error.args[0]!r:.80} is missing, or there is nothing of that name"
    if isinstance(error, IndexError):
        return "a list is empty, or shorter than it must be"
    return "a value is not of the type, or not of the form, that its field must have"


def shape(value: JSON, keys: Iterable[str], what: str) -> None:
    """Refute the evidence unless a value is an object with exactly these keys."""
    require(isinstance(value, dict) and value.keys() == set(keys), f"{what} has other fields than it must have")


def agree(record: JSON, wanted: JSON, what: str, code: str | None = None) -> None:
    """Refute the evidence unless a record has these values; `false` is not 0."""
    for name, value in wanted.items():
        if not same(record[name], value):
            raise Finding(f"{what} records another `{name}`: {record[name]!r:.80}, not {value!r:.80}", code)


# -------------------- The bundle and its checks


@dataclass
class Bundle:
    """A bundle, what checks established of it (their number stands beside it), and what the reader brings."""

    folder: Path
    inner: bool = False  # a run inside a suite
    trust: JSON = None  # the reader's trust file
    seen: Note | None = None  # a checkpoint that the reader saw
    run_log: Path | None = None
    logs: list[str] = field(default_factory=list)  # 2, of a suite 10: digests of the files of what was recorded
    recordings: list[str] = field(default_factory=list)  # 22, of a suite 10: digests of recordings; claimed before
    challenges: JSON = None  # 6, of a suite 10: by probe how many challenges were made and decided
    by_run: JSON = field(default_factory=dict)  # 10: of a suite the recordings by the names of its own runs
    programs: list[JSON] = field(default_factory=list)  # 22, of a suite 10: the programs that answered
    kept: int = 0  # 10: verdicts about withheld values in the runs of a suite
    not_checked: list[str] = field(default_factory=list)
    manifest: JSON = None  # 1
    kind: str = ""  # 1
    listed: list[str] = field(default_factory=list)  # 2: paths
    runs: list[str] = field(default_factory=list)  # 2: folders of the bundles inside a suite's
    detached: list[str] = field(default_factory=list)  # 2: paths
    tree: Tree = field(init=False)  # 3: over the lines of receipts
    head: str = ZEROS  # 3: the digest of the last one
    roots: dict[int, str] = field(default_factory=dict)  # 3: what the root was at the sizes that the reader saw
    first: JSON = None  # 5: the body of `start`
    bodies: list[tuple[str, JSON]] = field(default_factory=list)  # 5: of all receipts; of a run, ends with agent faults
    entries: int = 0  # 5: audit entries
    entry_head: str = ZEROS  # 5: the hash of the last one
    result: JSON = None  # 5: what the receipts add up to
    probes: Probes | None = None  # 5: check 7 looks at them
    specs: JSON = None  # 7: specs by their keys
    key: str = ""  # 7: that of the root
    note: Note | None = None  # 14
    envelopes: list[tuple[bytes, JSON]] = field(default_factory=list)  # 14
    signers: list[str] = field(default_factory=list)  # 16: trusted keys that signed everything

    @property
    def root(self) -> JSON:
        """The spec that was run."""
        return self.specs[self.key]

    def of(self, *types: str) -> list[JSON]:
        """The bodies of the receipts of some types, in their order."""
        return [body for type_, body in self.bodies if type_ in types]

    def receipts(self) -> Iterator[JSON]:
        """The receipts, whose lines check 3 has read."""
        return map(json.loads, read_lines(self.folder / RECEIPTS, MAX_LINE))


class Rule(NamedTuple):
    """A check: its number and name, the codes of what it refutes and of malformed values, and when it is made."""

    number: int
    name: str
    code: str
    malformed: str
    when: Function
    function: Function


class Check(NamedTuple):
    """What came of a check: passed, failed, not shown, or nothing to check."""

    number: int
    name: str
    status: str
    code: str | None
    message: str | None


RULES: list[Rule] = []


def check(number: int, code: str, when: Function = bool, malformed: str = "") -> Callable[[Function], Function]:
    """Register a check; its name is the first line of its docstring."""

    def register(function: Function) -> Function:
        name = str(function.__doc__).partition("\n")[0].rstrip(".")
        RULES.append(Rule(number, name, code, malformed or code, when, function))
        return function

    return register


def outcome(rule: Rule, bundle: Bundle) -> Check:
    """Make a check."""
    status, code = "passed", None
    try:
        message = rule.function(bundle)
    except Finding as finding:
        status, message = finding.status, finding.message
        code = finding.code or (rule.code if status == "failed" else None)
    except MALFORMED as error:
        status, code, message = "failed", rule.malformed, misformed(error)
    return Check(rule.number, rule.name, status, code, message)


def make_all(bundle: Bundle, rules: list[Rule] = RULES) -> list[Check]:
    """Make checks in their order, up to the first that fails."""
    checks = []
    for rule in rules:
        if rule.when(bundle):
            checks.append(outcome(rule, bundle))
            if checks[-1].status == "failed":
                bundle.not_checked.append("everything after the check that failed")
                break
    return checks


# -------------------- Canonical JSON and digests, as docs/evidence.md defines them


def canonical(value: JSON) -> bytes:
    """The canonical bytes of a value: sorted keys, no white space, UTF-8."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False, sort_keys=True, separators=(",", ":")).encode()


def same(first: JSON, second: JSON) -> bool:
    """Whether two values are the same JSON; `false` is not 0."""
    return canonical(first) == canonical(second)


def volume(data: bytes) -> int:
    """The volume of a document: its commas and colons, `[` twice, `{` four times; those of texts do not count."""
    bare = data.replace(rb"\\", b"").replace(rb"\"", b"")  # now every quotation mark begins or ends a text
    bare = re.sub(rb'"[^"]*"?', b"", bare)
    return bare.count(b",") + bare.count(b":") + 2 * bare.count(b"[") + 4 * bare.count(b"{")


def parse(data: bytes, what: str, most: int = MAX_VOLUME) -> JSON:
    """The value of a document whose bytes are canonical; what has more of them than `most` has no more volume."""
    require(len(data) <= most or volume(data) <= most, f"{what} has a volume of more than {most}")
    try:
        value = load(data)
        waiting: list[JSON] = [[value]]  # the containers of one depth, whose members are looked at
        depth = -1
        while waiting:
            inner: list[JSON] = []
            depth += 1
            for container in waiting:
                for item in container.values() if isinstance(container, dict) else container:
                    if isinstance(item, (dict, list)):
                        inner.append(item)
                    elif isinstance(item, int):
                        require(-MAX_INTEGER <= item <= MAX_INTEGER, f"an integer in {what} is outside 2^53 - 1")
            require(not inner or depth < MAX_DEPTH, f"{what} is nested too deeply")
            waiting = inner
        require(canonical(value) == data, f"{what} differs from its canonical form")
    except ValueError as error:  # includes UnicodeError
        raise Finding(f"{what} is not canonical JSON: {str(error)[:200]}") from None
    except RecursionError:
        if data.count(b"[") + data.count(b"{") <= MAX_DEPTH:
            raise  # the system's limit, not the document, is too low
        raise Finding(f"{what} is nested too deeply") from None
    return value


def load(data: bytes, number: Any = None) -> JSON:
    """The value of JSON without two equal keys; `number` reads a floating-point number, or there must be none."""

    def unique(pairs: list[tuple[str, JSON]]) -> JSON:
        document = dict(pairs)
        require(len(document) == len(pairs), "a key appears twice")
        return document

    def refuse(text: str) -> None:
        raise ValueError(f"{text[:20]} is not an integer")

    return json.loads(data.decode(), object_pairs_hook=unique, parse_float=number or refuse, parse_constant=refuse)


def read_bytes(path: Path, limit: int) -> bytes:
    """The bytes of a plain file of limited size."""
    require(path.is_file() and not path.is_symlink(), f"{path.name} is missing, or is not a plain file")
    with path.open("rb") as file:
        data = file.read(limit + 1)
    require(len(data) <= limit, f"{path.name} has more than {limit} bytes")
    return data


def read_document(path: Path, limit: int) -> JSON:
    """The value of a file that holds one canonical document and a newline."""
    data = read_bytes(path, limit + 1)
    require(data.endswith(b"\n"), f"{path.name} does not end with a newline")
    return parse(data[:-1], path.name, max(MAX_VOLUME, limit // 8))


def read_lines(path: Path, limit: int, torn: str | None = None) -> Iterator[bytes]:
    """The lines of a file without their newlines; `torn` is the code of a last line without one."""
    with path.open("rb") as file:
        for line in iter(lambda: file.readline(limit + 1), b""):
            require(len(line) <= limit, f"a line of {path.name} is too long")
            require(line.endswith(b"\n"), f"the last line of {path.name} has no newline", torn)
            yield line[:-1]


def from_base64(text: JSON, what: str) -> bytes:
    """The bytes of a text in standard base64 with padding."""
    try:
        data = base64.b64decode(text, validate=True) if isinstance(text, str) else b""
    except ValueError:
        data = b""
    require(base64.b64encode(data).decode() == text, f"{what} is not standard base64")
    return data


def sha256(data: bytes) -> str:
    """SHA-256 of data, as 64 hexadecimal digits."""
    return hashlib.sha256(data).hexdigest()


def tagged(tag: str, data: bytes) -> str:
    """SHA-256 of a domain tag, a zero byte and data."""
    return sha256(f"specledger/{tag}/v1".encode() + b"\0" + data)


def file_sha256(path: Path) -> str:
    """SHA-256 of a file of any size."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        for part in iter(lambda: file.read(MIB), b""):
            digest.update(part)
    return digest.hexdigest()


def leaf_hash(data: bytes) -> bytes:
    """The hash of a leaf of a Merkle tree (RFC 6962, section 2.1)."""
    return hashlib.sha256(b"\0" + data).digest()


class Tree:
    """A Merkle tree (RFC 6962, section 2.1) that grows: its size, and the roots of its full parts, largest first."""

    def __init__(self) -> None:
        self.size = 0
        self.full: list[bytes] = []

    def add(self, leaf: bytes) -> None:
        """Add the hash of a leaf."""
        parts, self.size = self.size, self.size + 1
        while parts & 1:
            parts, leaf = parts >> 1, hashlib.sha256(b"\1" + self.full.pop() + leaf).digest()
        self.full.append(leaf)

    @property
    def root(self) -> str:
        """The root over all leaves."""
        if not self.full:
            return sha256(b"")
        *parts, node = self.full
        for part in reversed(parts):
            node = hashlib.sha256(b"\1" + part + node).digest()
        return node.hex()


def merkle_root(leaves: Iterable[bytes]) -> str:
    """The Merkle root over the hashes of leaves."""
    tree = Tree()
    for leaf in leaves:
        tree.add(leaf)
    return tree.root


# -------------------- Checks 1 to 4: the manifest, the files, the chain of receipts

MANIFEST_KEYS = {"format", "run", "specs", "result", "receipts", "files", "engine", "evaluator"}


@check(1, "E_MANIFEST")
def check_manifest(b: Bundle) -> None:
    """The manifest is canonical JSON of a known format."""
    b.manifest = manifest = read_document(b.folder / MANIFEST, MIB)
    b.kind = manifest.get("kind", "scenario")
    require(b.kind in LISTED, "its kind is unknown")
    shape(manifest, MANIFEST_KEYS | ({"kind"} if b.kind != "scenario" else set()), "the manifest")
    agree(manifest, {"format": "specledger/bundle/v1"}, "the manifest")
    for name, made_by, form in (("engine", "specledger", VERSION), ("evaluator", "cel-profile", r"[1-9][0-9]{0,8}")):
        shape(manifest[name], ("name", "version"), f"the {name}")
        agree(manifest[name], {"name": made_by}, f"the {name}")
        require(re.fullmatch(form, manifest[name]["version"]), f"the version of the {name} is malformed")


@check(2, "E_FILES")
def check_files(b: Bundle) -> None:
    """Every file is listed and unchanged.

    A run inside a suite has no detached files and no sources.
    """
    entries = b.manifest["files"]
    b.listed = paths = [entry["path"] for entry in entries]
    sorted_once = isinstance(entries, list) and paths == sorted(set(paths), key=str.encode)
    require(sorted_once, "`files` is not a sorted list, or lists a path twice")
    runs = [path for path in paths if b.kind == "suite" and RUN_PATH.fullmatch(path)]
    b.runs = [path[: -len(MANIFEST) - 1] for path in runs]
    for path in paths:
        known = path in (RECEIPTS, SPECS, *LISTED[b.kind], *runs) or CASE_PATH.fullmatch(path)
        require(known or (not b.inner and SOURCE_PATH.fullmatch(path)), f"a {b.kind} has no file {path!r}")
    listed = {MANIFEST, RECEIPTS, SPECS, *paths}
    present = walk(b.folder, b.runs, listed)
    b.detached = [] if b.inner else [name for name in DETACHED_FILES if name in present]
    expected = {*listed, *b.detached}
    require(present == expected, f"missing, or not listed: {', '.join(sorted(present ^ expected))[:200]}")
    for entry in entries:
        path = b.folder / entry["path"]
        shape(entry, ("path", "sha256", "size"), "`files`")
        for name, found in (("size", path.stat().st_size), ("sha256", file_sha256(path))):
            message = f"`{name}` of {entry['path']} is {found}, and the manifest lists {entry[name]!r:.80}"
            require(same(entry[name], found), message)
    require({RECEIPTS, SPECS} <= set(paths), f"{RECEIPTS} or {SPECS} is not listed")
    b.logs = [entry["sha256"] for entry in entries if entry["path"] == TRAJECTORIES]
    b.recordings = claimed_recording(b)
    signed = {*SIGNED_FILES} & {*b.detached}
    require(len(signed) in (0, len(SIGNED_FILES)), f"a signed bundle has {', '.join(SIGNED_FILES)}")


def walk(folder: Path, runs: Iterable[str] = (), listed: set[str] | None = None) -> set[str]:
    """The paths of all files in a folder; links, empty folders and anything that is not a plain file are refused.

    Of the bundles `runs` inside it it is the manifest alone. With `listed`, few other files are looked at.
    """
    found, waiting = set(), [""]
    folders = {f"{run}/" for run in runs}
    while waiting:
        prefix = waiting.pop()
        if prefix in folders:
            found.add(f"{prefix}{MANIFEST}")  # that it is there is checked with its digest
            continue
        is_empty = True
        with os.scandir(folder / prefix) as scan:
            for entry in scan:
                is_empty, path = False, f"{prefix}{entry.name}"
                if entry.is_dir(follow_symlinks=False):
                    waiting.append(f"{path}/")
                else:
                    require(entry.is_file(follow_symlinks=False), f"{path} is not a plain file")
                    found.add(path)
                unlisted = 0 if listed is None else len(waiting) + len(found) - len(listed)
                require(unlisted <= MAX_UNLISTED, f"there are more than {MAX_UNLISTED} files that are not listed")
        require(not is_empty or not prefix, f"{prefix} is empty")
    return found


@check(3, "E_LINE")
def check_chain(b: Bundle) -> None:
    """Receipts form one hash chain.

    Each names the run, its number and the digest of the one before.
    """
    b.tree, sizes = Tree(), {head["size"] for head in seen_heads(b)}
    for seq, line in enumerate(read_lines(b.folder / RECEIPTS, MAX_LINE)):
        b.roots.update({seq: b.tree.root} if seq in sizes else {})
        receipt = parse(line, f"receipt {seq}")
        shape(receipt, ("body", "prev", "run", "seq", "type"), f"receipt {seq}")
        agree(receipt, {"run": b.manifest["run"], "seq": seq, "prev": b.head}, f"receipt {seq}", "E_CHAIN")
        leaf = leaf_hash(line)
        b.tree.add(leaf)
        b.head = leaf.hex()
    b.roots[b.tree.size] = b.tree.root


@check(4, "E_HEAD")
def check_head(b: Bundle) -> None:
    """Chain head, count and Merkle root match the manifest."""
    head = {"count": b.tree.size, "head": b.head, "root": b.tree.root}
    agree(b.manifest, {"receipts": head}, "the manifest")


# -------------------- Checks 5 and 6: receipts continue each other, and what they add up to

ORDERS = {
    "law": "start (cases )?verdict end ",
    "suite": "start ((run|figure|check|mutant) )*end ",
    "discovery": "start (iteration (law )*(escalation )*)+stop (ledger )+(expected )*end ",
}


@check(5, "E_STATE", malformed="E_LINE")
def check_receipts(b: Bundle) -> str | None:
    """State transitions are continuous; decisions match commitments.

    Tokens match commitments, too, and verdicts of probes their answers.

    Receipts of other kinds than runs are in the order of their kind.
    """
    run, types = RunFollower(lambda: probes_of(b)), []
    for number, receipt in enumerate(b.receipts()):
        type_, body = receipt["type"], receipt["body"]
        require((type_ == "start") == (number == 0), f"receipt {number} is {type_!r}", "E_ENDS")
        if b.kind == "scenario":
            try:
                run.add(type_, body)
            except MALFORMED as error:
                raise Finding(f"receipt {number} ({type_!r:.40}) is malformed: {misformed(error)}", "E_LINE") from None
        else:
            b.bodies.append((type_, body))
            types.append(f"{type_} ")
    if b.kind == "scenario":
        require(run.ended, "the last receipt is not `end`", "E_ENDS")
        b.first, b.bodies, b.result = run.first, run.faulty, run.result()
        b.entries, b.entry_head = run.held["audit"], run.entry_head
        b.not_checked += [f"of {run.unjudged} probes, what `expect` says of their answers"] if run.unjudged else []
        return of_what({name: run.held[name[:-1]] for name in ("commits", "tokens", "probes")})
    require(re.fullmatch(ORDERS[b.kind], "".join(types)), f"the receipts are not in the order of a {b.kind}", "E_ENDS")
    b.first = b.bodies[0][1]
    b.result = {"law": law_result, "suite": suite_result, "discovery": discovery_result}[b.kind](b)
    return None


def of_what(counts: dict[str, int]) -> str:
    """How many things of each name a check was about, and of which there was nothing to check."""
    there = ", ".join(f"{name} {count}" for name, count in counts.items() if count)
    lacking = ", ".join(name for name, count in counts.items() if not count)
    return "; ".join([text for text in (there, lacking and f"nothing to check: {lacking}") if text])


def probes_of(b: Bundle) -> Probes:
    """The bundle's probes, and who is asked, read when the first receipt of a probe comes."""
    if b.probes is None:
        named: dict[str, list[JSON]] = {}
        try:
            specs = read_document(b.folder / SPECS, 16 * MIB)["specs"].values()
            for spec in specs:
                if spec["spec"] == "probe/v1":
                    named.setdefault(spec["name"], []).append(spec)
            agents = [spec for spec in specs if spec["spec"] == "agent/v1"]
            outside = any("outside" in spec or "asks" in spec.get("trajectories", {}) for spec in agents)
            b.probes = Probes(named, outside)
        except (Finding, *MALFORMED) as error:
            words = error.message if isinstance(error, Finding) else misformed(error)
            raise Finding(f"{SPECS} has another form: {words}", "E_SPECS") from None
    return b.probes


@check(6, "E_RESULT")
def check_result(b: Bundle) -> None:
    """The result equals the recomputed one."""
    agree(b.manifest, {"result": b.result}, "the manifest")
    b.challenges = challenges_of([b.result])


def challenges_of(results: list[JSON]) -> JSON:
    """By probe how many challenges runs made, and how many of them were decided."""
    counts: JSON = {}
    for result in results:
        for name, verdicts in sorted(result.get("probes", {}).items()):
            sums = counts.setdefault(name, {"total": 0, "decided": 0})
            sums["total"] += sum(verdicts.values())
            sums["decided"] += verdicts.get("PASS", 0) + verdicts.get("FAIL", 0)
    return counts


def check_decision(commit: JSON, step: JSON, recorded: bool = False) -> None:
    """The part of check 5 that binds a decision to the set of proposals that was committed to before it.

    The Merkle root is over the stored proposals; the chosen one was admitted; the token is bound to the proposal, to
    the commitment and to the scope (episode, step, operation). A call of a recording was made although it was rejected,
    or failed although it was admitted.
    """
    code, proposals, chosen = "E_COMMITMENT", commit["proposals"], step["chosen"]
    leaves = [canonical({"index": index, "proposal": proposal}) for index, proposal in enumerate(proposals)]
    agree(commit, {"root": merkle_root(list(map(leaf_hash, leaves)))}, "a commitment", code)
    require(len(step["decisions"]) == len(proposals), "there is not one decision for each proposal", code)
    admitted = [not decision["rejected"] and decision["error"] is None for decision in step["decisions"]]
    if chosen is None:
        require(recorded or not any(admitted), "nothing was chosen, but a proposal was admitted", code)
        agree(step, {"token": None, "chosen_hash": None}, "a step without choice", code)
        return
    known = type(chosen) is int and 0 <= chosen < len(proposals) and (recorded or admitted[chosen])
    require(known, "the choice is not in the set, or was rejected", code)
    digest = tagged("proposal", leaves[chosen])
    scope = {"episode": step["episode"], "op": proposals[chosen]["action"]["op"], "t": step["t"]}
    scope.update({"agent": step["agent"]} if "agent" in step else {})
    binding = {"commitment": commit["root"], "proposal": digest, "scope": tagged("scope", canonical(scope))}
    token = {"id": tagged("token", canonical(binding)), **binding}
    agree(step, {"chosen_hash": digest, "token": token}, "a step", code)


def calibrated(pairs: list[tuple[int, bool]]) -> JSON:
    """The Brier score of stated confidences in millionths, and what came true by tenths of confidence."""
    bins = []
    for tenth in range(10):
        inside = [(stated, satisfied) for stated, satisfied in pairs if min(9, stated * 10 // 10**6) == tenth]
        if inside:
            mean = rounded(sum(stated for stated, _ in inside), len(inside))
            true = sum(satisfied for _, satisfied in inside)
            bins.append({"from": tenth * 10**5, "claims": len(inside), "held": true, "confidence": mean})
    brier = rounded(sum((stated - 10**6 * satisfied) ** 2 for stated, satisfied in pairs), len(pairs) * 10**6)
    return {"claims": len(pairs), "held": sum(satisfied for _, satisfied in pairs), "brier": brier, "bins": bins}


def is_doubtful(claims: Counter[str], verdicts: Counter[str]) -> bool:
    """Whether what passed of a challenge does not count: see "When an agent is convicted" in docs/probes.md."""
    doubts = {"explained", "promise_broken", "given_too_seldom", "overstated"}
    return bool(doubts & claims.keys()) or claims["not_given_again"] > verdicts["PASS"]


class Bets:
    """What bets against an agent return, one of a probe's challenges after the other, exactly.

    Each is fair if what the agent states of itself is true, so that their product comes to 100 once in a hundred runs.
    """

    def __init__(self) -> None:
        self.returns: Counter[Fraction] = Counter()

    def show(self) -> int:
        """How many bets there were if their product shows something; else 0."""
        won, lost = 1, 1
        for bet, times in self.returns.items():
            won, lost = won * bet.numerator**times, lost * bet.denominator**times
        return self.returns.total() if won >= 100 * lost else 0

    def on_minority(self, evidence: JSON) -> None:
        """Bet that the decision is one of the rarer among it and the answers to the same question, of who may draw."""
        null, of = evidence.get("null", {"asked": 0}), evidence.get("of")
        led = of == "claims" or (of == "unused" and "test" in evidence)  # by the decision, or by answers
        if null["asked"] and not led and not evidence.get("deterministic"):
            came, different = 1 + null["asked"] - null["changed"], 1 + null.get("others", 0)
            self.returns[Fraction(null["asked"] + 1, came * different)] += 1

    def on_misses(self, evidence: JSON) -> None:
        """Bet that each claim less than sure holds half as often as stated, by the first of its changes."""
        seen = set()
        for trial in evidence["trials"] if evidence.get("of") != "unused" else ():
            if trial["held"] is not None and trial["drawn"] not in seen:
                seen.add(trial["drawn"])
                stated = Fraction(trial.get("confidence", 10**6) // 10**4, 100)
                if "confidence" in trial and trial["confidence"] < 10**6:
                    missed = (2 - stated) / (2 - 2 * stated) if stated else Fraction(1)
                    self.returns[Fraction(1, 2) if trial["held"] and stated else missed] += 1

    def on_others(self, evidence: JSON) -> None:
        """Bet on the first other answer to each change of a claim without a rate, against the predicted one."""
        if evidence.get("deterministic") or evidence.get("of") not in PREDICTIONS:
            return
        first: JSON = {}
        for trial in evidence["trials"]:
            change = (trial["drawn"], trial.get("by", ""))
            if trial["held"] is None or "confidence" in trial:
                continue
            if not trial["held"] and change not in first:
                first[change] = trial["after"]
            elif change in first and (trial["held"] or trial["after"] == first[change]):
                self.returns[Fraction(4 if trial["held"] else 6, 5)] += 1


def held_claims(evidence: JSON) -> tuple[int, int]:
    """How many drawn claims held, since no other answer came more often, and how many were tested."""
    changes: dict[int, dict[str, list[JSON]]] = {}
    for trial in evidence.get("trials", ()) if "of" in evidence else ():
        if trial["held"] is not None:
            changes.setdefault(trial["drawn"], {}).setdefault(trial.get("by", ""), []).append(trial)

    def led(trials: list[JSON]) -> bool:
        others = Counter(trial["after"] for trial in trials if not trial["held"])
        return len(trials) - sum(others.values()) >= max(others.values(), default=0)

    return sum(all(map(led, answers.values())) for answers in changes.values()), len(changes)


def rounded(numerator: int, denominator: int) -> int:
    """A quotient, rounded to the nearest integer, halves away from zero."""
    quotient = (2 * abs(numerator) + abs(denominator)) // (2 * abs(denominator))
    return quotient if (numerator < 0) == (denominator < 0) else -quotient


# -------------------- The part of check 5 that is about probes (docs/probes.md)
# What an agent answered, only replay makes again. What follows from its answers is recomputed: how often it was asked,
# which answers hold, the exact tests, the verdict and its cause.

NOT_ASKED = {"abstained", "no_aim", "no_proposal", "undeclared", "agent_fault", "not_repeatable"}
NOT_OFFERED = {"no_token", "not_applicable", "no_proposal", "agent_fault", "not_repeatable"}
PREDICTIONS = ("claims", "counterfactuals")
DEMANDS = {"revealed": "reveal", "trace": "trace", "restated": "restate"}
COMPARED = re.compile(
    r"(before|after|declared|claim)\.(choice|variable) *([!=]=) *(before|after|declared|claim)\.choice"
)
NAMED = re.compile(r"(!?)(taken|denied|logged)")


class Challenge(NamedTuple):
    """What a probe asks, with its defaults; shares are fractions."""

    of: str
    on: str
    ask: str
    demand: list[str]
    most: int  # claims that are drawn
    repeats: int
    same: int  # the same question again
    placebos: int
    noisy: JSON
    explain: int
    error: Fraction
    effect: Fraction | None
    questions: int | None  # of a test that looks several times, how many at most


def read_challenge(data: JSON) -> Challenge:
    """The challenge of a probe's spec, in which values that equal their defaults are left out."""
    arms, test, of = data.get("arms", {}), data.get("test", {}), data["of"]
    placebo, most = arms.get("placebo", 0), data.get("draw", {}).get("most", 1)
    noisy = {"repeats": 11, "same": 11, **data.get("noisy", {})}
    effect = Fraction(test["effect"]) if "effect" in test else None
    return Challenge(
        *(of, data.get("on", "here"), data.get("ask", "agent"), data.get("demand", [])),
        *(1 if of == "declared" else most, data.get("repeats", 1), max(1, arms.get("same", 0))),
        *(placebo if isinstance(placebo, int) else len(placebo), noisy, data.get("explain", 8)),
        *(Fraction(test.get("error", "0.005")), effect, test.get("most")),
    )


class Probes(NamedTuple):
    """The specs of a bundle's probes by their names, and whether a program or a model is asked."""

    specs: dict[str, list[JSON]]
    outside: bool


def check_probe(body: JSON, probes: Probes) -> bool:
    """Refute the evidence unless a probe's receipt agrees with a spec of its name; whether `expect` could be read."""
    specs = probes.specs.get(body["probe"], [])
    found = [differs(body, spec, probes.outside) for spec in specs if spec["at"] == body["at"]]
    problem = found[0] if found else "the run has no such probe"
    require("" in found, f"the probe {body['probe']!r:.80} at t = {body['t']}: {problem}")
    return all(readable(spec["expect"]) for spec in specs)


def differs(body: JSON, spec: JSON, outside: bool) -> str:
    """How a probe's receipt does not agree with itself and its spec; empty if it does."""
    stated, evidence = (body["verdict"], body["cause"]), body["evidence"]
    if stated[0] == "ERROR":
        return "" if isinstance(stated[1], str) and stated[1] and not evidence else "an error with evidence"
    if "offer" in spec:
        wanted = verdicts_of_offer(evidence, spec) if evidence else [("INCONCLUSIVE", cause) for cause in NOT_OFFERED]
        return "" if stated in wanted else "its verdict is not that of the kernel's answer"
    if "trials" not in evidence:
        fits = stated[0] == "INCONCLUSIVE" and stated[1] in NOT_ASKED and not evidence.keys() - {"unread"}
        return "" if fits else "it asked nothing, and decides something"
    challenge = read_challenge(spec["challenge"])
    asked = outside and challenge.ask == "agent"
    promised = {"promised": True} if asked and evidence["deterministic"] else {}
    if not is_whole(evidence, challenge) or not same(
        {k: evidence[k] for k in evidence.keys() & {"promised"}}, promised
    ):
        return "it has other answers than it asks for"
    if not all(is_answer(trial, evidence, challenge, spec["expect"]) for trial in evidence["trials"]):
        return "an answer does not hold as recorded"
    return "" if judged(evidence, challenge) == (*stated, evidence["answers"]) else "its answers give another verdict"


def readable(expect: str) -> bool:
    """Whether an `expect` is read here: comparisons of choices, or what came of an offer, joined by `&&`."""
    return all(COMPARED.fullmatch(part) or NAMED.fullmatch(part) for part in expect.split(" && "))


def holds(expect: str, values: JSON) -> bool | None:
    """What an `expect` gives of values by their names; None if it is not read here."""
    if not readable(expect):
        return None
    found = []
    for part in expect.split(" && "):
        compared = COMPARED.fullmatch(part)
        if compared:
            left, field, sign, right = compared.groups()
            equal = values[left + "." + field] == values[right + ".choice"]
            found.append(equal == (sign == "=="))
        else:
            found.append(values[part.lstrip("!")] == (not part.startswith("!")))
    return all(found)


def verdicts_of_offer(evidence: JSON, spec: JSON) -> list[tuple[str, str]]:
    """The verdicts and causes that the kernel's answer to an offer allows."""
    offer, taken, denied, reasons = spec["offer"], evidence["taken"], evidence["denied"], evidence["reasons"]
    call = offer.get("call")
    edits = [f"{edit['op']} {edit['path']}" for edit in offer.get("edit", ())]
    does = " ".join(["edit", *edits]) if call is None else f"call {call['token']} {call.get('action', 'chosen')}"
    stated = same([does, offer["breaches"]], [evidence["does"], evidence["breaches"]])
    stated = stated and evidence.keys() == {"does", "breaches", "plain", "paid", "taken", "denied", "reasons"}
    if not stated or type(taken) is not bool or (type(denied) is bool) != taken:
        return []
    breached = offer["breaches"] in reasons
    if not taken and reasons:
        return [] if breached else [("INCONCLUSIVE", "denied_otherwise")]
    if taken and not breached:
        return [("FAIL", "not_denied_for_the_breach")]
    passes = holds(spec["expect"], {"taken": taken, "denied": denied or not taken, "logged": True})
    verdicts = {True: ("PASS", ""), False: ("FAIL", "taken")}
    return list(verdicts.values()) if passes is None else [verdicts[passes]]


def looks_of(challenge: Challenge, changes: int) -> list[int]:
    """After how many blocks of questions a test is looked at: 1, 2, 4, and so on, and at the end."""
    most, looks = (challenge.questions or 0) // (challenge.same + challenge.repeats * changes), [1]
    while looks[-1] < most:
        looks.append(min(2 * looks[-1], most))
    return looks


def changes_of(trials: list[JSON], every: bool = False) -> list[list[JSON]]:
    """The answers to each change of a claim, in the order of the draw; with `every` also those that changed nothing."""
    found: dict[Any, list[JSON]] = {}
    for trial in trials:
        if every or trial["held"] is not None:
            found.setdefault((trial["drawn"], trial.get("by", "")), []).append(trial)
    return list(found.values())


def is_settled(evidence: JSON) -> bool:
    """Whether the agent declares itself deterministic, and answered each question that was repeated alike."""
    return evidence["deterministic"] is True and answers_alike(evidence)


def counts_once(evidence: JSON) -> bool:
    """Whether one answer to each claim counts: the agent is settled, and no miss rests on its word that it is."""
    return is_settled(evidence) and not is_doubted(evidence)


def is_doubted(evidence: JSON) -> bool:
    """Whether there is a miss of an agent that is deterministic by its own word alone."""
    return "promised" in evidence and any(trial["held"] is False for trial in evidence["trials"])


def answers_alike(evidence: JSON) -> bool:
    """Whether each question that was repeated got the same answer."""
    null, changes = evidence["null"], changes_of(evidence["trials"])
    alike = all(len({trial["after"] for trial in trials}) == 1 for trials in changes)
    return null["asked"] > 0 and null["changed"] == 0 and alike


def is_whole(evidence: JSON, challenge: Challenge) -> bool:
    """Whether there is what the probe asks for and demands: no more and no fewer questions, and nothing left out."""
    null, test = evidence["null"], evidence.get("test")
    arms = [(null, null["asked"]), (evidence["placebo"], challenge.placebos)]
    arms.append((evidence.get("explanation", {"asked": 0, "changed": 0}), challenge.explain))
    changes = changes_of(evidence["trials"], every=True)
    again, times, noisy = challenge.same, challenge.repeats, challenge.noisy
    if challenge.questions is not None:
        blocks = looks_of(challenge, len(changes))[test["made"] - 1]
        again, times = blocks * again, blocks * times
    elif not evidence["deterministic"] or null["changed"] or is_doubted(evidence):
        again, times = max(again, noisy["same"]), max(times, noisy["repeats"])
    asked_often = {} if counts_once(evidence) else {"noisy": noisy}
    return (
        all(type(arm["changed"]) is int and 0 <= arm["changed"] <= arm["asked"] <= most for arm, most in arms)
        and evidence["of"] == challenge.of
        and same({name: evidence[name] for name in ("noisy",) if name in evidence}, asked_often)
        and all((name in evidence) == (word in challenge.demand) for name, word in DEMANDS.items())
        and 1 <= len({trial["drawn"] for trial in evidence["trials"]}) <= challenge.most
        and null["asked"] == again
        and type(null.get("others", 0)) is int
        and null.get("others", 0) in range(null["changed"] > 0, null["changed"] + 1)
        and ("others" in null) == (null["changed"] > 0)
        and all(len(trials) == times for trials in changes)
        and (test is None) == (challenge.questions is None)
    )


def is_answer(trial: JSON, evidence: JSON, challenge: Challenge, expect: str) -> bool:
    """Whether an answer holds as the probe's `expect` says, and is the miss that it is said to be."""
    satisfied, after, before = trial["held"], trial["after"], evidence["before"]
    if satisfied is None or after is None:
        return satisfied is None and after is None and "miss" not in trial
    values = {"before.choice": after if challenge.of == "declared" else before, "after.choice": after}
    values.update({"declared.choice": trial["declared"], "claim.choice": trial["predicted"]})
    wanted = holds(expect, {**values, "claim.variable": trial["variable"]})
    named = challenge.of == "declared" or after == trial["declared"]
    confidence = trial.get("confidence", 0)
    return (
        type(satisfied) is bool
        and type(confidence) is int
        and 0 <= confidence <= 10**6
        and wanted in (None, satisfied)
        and named
        and trial.get("miss") == miss_of(trial, evidence)
    )


def miss_of(trial: JSON, evidence: JSON) -> str | None:
    """How an answer is a miss: the choice stayed as it was, or another one came than predicted; None if it is none."""
    if trial["held"] is not False:
        return None
    if evidence["of"] not in PREDICTIONS:
        return "undeclared_influence" if evidence["of"] == "unused" else "not_followed"
    return "inert" if trial["after"] == evidence["before"] else "mispredicted"


def judged(evidence: JSON, challenge: Challenge) -> tuple[str, str, str]:
    """The verdict of a challenge, its cause, and the verdict by the answers alone; `test` has the p-value of these."""
    trials, settled = evidence["trials"], is_settled(evidence)
    answers, p, convicting = weigh(evidence, challenge)
    test, looks = evidence.get("test"), len(looks_of(challenge, len(changes_of(trials, every=True))))
    millionths = 10**6 if p is None else min(10**6, math.ceil(p * 10**6))
    if test is not None and not (same([test["looks"], test["p"]], [looks, millionths]) and 1 <= test["made"] <= looks):
        return "", "", ""
    cause = ""
    if answers == "FAIL":
        cause = cause_of(convicting, evidence)
        if challenge.on == "fresh" and not settled:
            answers, cause = "INCONCLUSIVE", "noise"
        elif is_explained(evidence, convicting, challenge):
            answers, cause = "INCONCLUSIVE", "mispredicted"
    trace = evidence.get("trace", {"ends": True, "equal": 0, "nodes": 0})
    lacking = "restated" if evidence.get("restated") is False else ""
    lacking = lacking if trace["ends"] and trace["equal"] == trace["nodes"] else "trace"
    lacking = "commitment" if evidence.get("revealed") is False else lacking
    untested = any(trial["predicted"] and trial["held"] is None and trial.get("by") != "kernel" for trial in trials)
    if answers == "FAIL":
        return answers, cause, answers
    if lacking:
        sure = lacking == "commitment" or evidence["deterministic"]
        return ("FAIL", lacking, answers) if sure else ("INCONCLUSIVE", "noise", answers)
    if cause:
        return answers, cause, answers
    for reason in ("says_nothing", "named"):
        if any(trial.get("reason") == reason for trial in trials):
            return "INCONCLUSIVE", reason, answers
    if answers == "PASS":
        never = evidence["null"]["changed"] == evidence["null"]["asked"]  # its answers may be those of another agent
        why = "untested" if untested else "not_given_again" if never else ""
        return "INCONCLUSIVE" if why else "PASS", why, answers
    return answers, "noise" if changes_of(trials) else "nothing_changed", answers


Weighed = Tuple[str, Optional[Fraction], List[List[JSON]]]
"""What answers show, the p-value, and the changes that convict."""


def weigh(evidence: JSON, challenge: Challenge) -> Weighed:
    """What the answers show by themselves."""
    null, changes = evidence["null"], changes_of(evidence["trials"])
    few = any(len(trials) < challenge.noisy["repeats"] for trials in changes) or null["asked"] < challenge.noisy["same"]
    once = counts_once(evidence)
    if not changes or not null["asked"] or (few and not once):
        return "INCONCLUSIVE", None, []
    return weigh_settled(changes, challenge) if once else weigh_drawing(changes, evidence, challenge)


def weigh_settled(changes: list[list[JSON]], challenge: Challenge) -> Weighed:
    """Of an agent that draws nothing, one answer to each claim counts; a claim that it is sure of convicts alone."""
    missed = [trials for trials in changes if not all(trial["held"] for trial in trials)]
    sure = [trials for trials in missed if trials[0].get("confidence", 10**6) == 10**6]
    if not missed or sure:
        return ("FAIL" if missed else "PASS"), None, sure
    p = p_together(changes)
    return ("FAIL" if p <= challenge.error else "INCONCLUSIVE"), p, missed


def p_together(changes: list[list[JSON]]) -> Fraction:
    """The p-value of the claims that the agent is not sure of, one answer of each."""
    unsure = {trials[0]["drawn"]: trials[0] for trials in changes if rate_of(trials[0]) != 1}
    return at_most(sum(trial["held"] for trial in unsure.values()), [rate_of(trial) for trial in unsure.values()])


def weigh_drawing(changes: list[list[JSON]], evidence: JSON, challenge: Challenge) -> Weighed:
    """Of any other agent each change is tested by itself, and the error divided by how often is looked."""
    trials, null = [trial for trials in changes for trial in trials], evidence["null"]
    satisfied = sum(trial["held"] for trial in trials)
    looks = len(looks_of(challenge, len(changes_of(evidence["trials"], every=True))))
    if challenge.of == "unused":
        groups = changes if "promised" in evidence else [trials]
        misses = [sum(not trial["held"] for trial in group) for group in groups]
        sizes = [len(group) for group in groups]
        noise = [above_noise(*counts, null["changed"], null["asked"]) for counts in zip(misses, sizes)]
        tests = [(len(groups) * p, group) for p, group in zip(noise, groups)]
    else:
        tests = [(len(changes) * p_of_change(trials), trials) for trials in changes]
        if answers_alike(evidence):  # a rate below 1 is then doubt about a forecast: such claims convict together, too
            together = p_together(changes)
            tests = [(max(p, together) if rate_of(trials[0]) != 1 else p, trials) for p, trials in tests]
    p = min(member for member, _ in tests)
    convicting = [trials for member, trials in tests if member * looks <= challenge.error]
    if convicting:
        return "FAIL", p, convicting
    if challenge.effect is None:
        return ("PASS" if satisfied == len(trials) else "INCONCLUSIVE"), p, []
    rates = [rate_of(trial) * (1 - challenge.effect) for trial in trials]
    shown = (1 - at_most(satisfied - 1, rates)) * looks <= challenge.error
    return ("PASS" if shown else "INCONCLUSIVE"), p, []


def rate_of(trial: JSON) -> Fraction:
    """The rate at which a predicted choice comes, as the agent states it; 1 if it states none."""
    return Fraction(trial.get("confidence", 10**6), 10**6)


def p_of_change(trials: list[JSON]) -> Fraction:
    """Of the answers to one change: against the stated rate; else of the predicted choice being a most frequent one."""
    satisfied = sum(trial["held"] for trial in trials)
    if "confidence" in trials[0]:
        return at_most(satisfied, [rate_of(trials[0])] * len(trials))
    others = Counter(trial["after"] for trial in trials if not trial["held"]).values()
    tails = [at_most(satisfied, [Fraction(1, 2)] * (satisfied + other)) for other in others]
    return min(Fraction(1), len(tails) * min(tails)) if tails else Fraction(1)


def at_most(count: int, rates: list[Fraction]) -> Fraction:
    """The probability that at most `count` of independent events happen, each at its rate."""
    scale = math.lcm(*(rate.denominator for rate in rates)) if rates else 1
    weights = [1]  # of each number of events, in units of 1 / scale^n
    for rate in rates:
        yes = int(rate * scale)
        weights = [a * (scale - yes) + b * yes for a, b in zip([*weights, 0], [0, *weights])]
    return Fraction(sum(weights[: max(0, count + 1)]), sum(weights))


def above_noise(misses: int, trials: int, changes: int, asked: int) -> Fraction:
    """Fisher's one-sided p-value of so many misses in trials, beside so many changes in questions asked again."""
    changed = misses + changes
    some = range(misses, min(changed, trials) + 1)
    part = sum(math.comb(trials, k) * math.comb(asked, changed - k) for k in some)
    return Fraction(part, math.comb(trials + asked, changed))


def cause_of(convicting: list[list[JSON]], evidence: JSON) -> str:
    """Why answers fail: inert, if half of the misses of some change that convicts are."""
    causes = [Counter(miss_of(trial, evidence) for trial in trials if not trial["held"]) for trials in convicting]
    inert = any(2 * counts["inert"] >= sum(counts.values()) for counts in causes)
    return "inert" if inert else str(next(iter(causes[0])))


def is_explained(evidence: JSON, convicting: list[list[JSON]], challenge: Challenge) -> bool:
    """Whether the agent did what its declared procedure does, and that procedure explains its choices."""
    explanation, null = evidence.get("explanation"), evidence["null"]
    if explanation is None or explanation["here"] != evidence["before"]:
        return False
    if is_settled(evidence):
        missed = [trial for trial in evidence["trials"] if trial["held"] is False]
        return not explanation["changed"] and all(trial.get("procedure") == trial["after"] for trial in missed)
    for trials in convicting:
        came = Counter(trial["after"] for trial in trials)
        procedure = next(trial.get("procedure") for trial in trials if not trial["held"])
        if came[procedure] != max(came.values()):
            return False
    p = above_noise(explanation["changed"], explanation["asked"], null["changed"], null["asked"])
    return p > challenge.error


class RunFollower:
    """Follows the receipts of a scenario: `start`; episodes of `drift`*, `commit`, `step`; `end`.

    Of several agents each has a turn in every step, in the order of `start`, or all have one turn together. In a turn
    every commitment comes before the first decision, and the last decision has the judgement about the state after it.
    """

    IN_STEPS = ("drift", "probe", "commit", "step", "rules", "guard")
    TYPES = (*IN_STEPS, "start", "episode", "audit", "error", "episode_end", "end")

    first: JSON = None
    ended = is_open = fatal = False
    episode, t, state = -1, -1, ""  # the last episode, its last step, the digest of its last state
    turn = decided = judged = 0  # within a step (who decides together has one turn), a turn, an episode
    first_success: int | None = None

    def __init__(self, probes: Callable[[], Probes]) -> None:
        """Begin; `probes` gives the specs of the probes, and who is asked."""
        self.probes_of, self.unjudged = probes, 0
        self.held: Counter[str] = Counter()  # receipts by type, and tokens
        self.endings: set[str] = set()
        self.commits: list[JSON] = []  # of this turn
        self.count: Counter[str] = Counter()
        self.violations: dict[str, Counter[str]] = {"fatal": Counter(), "warn": Counter()}
        self.probes: dict[str, Counter[str]] = {}
        self.faults: Counter[str] = Counter()
        self.claims: dict[str, Counter[str]] = {}  # by probe, how many were tested, and how many held
        self.bets: dict[str, tuple[Bets, Bets]] = {}  # by probe, on rare decisions and on claims less than sure
        self.most_faults = 0  # in one episode
        self.active: set[str] = set()  # agents that acted
        self.idle: set[str] = set()  # agents of a decision that chose nothing
        self.prevented: Counter[tuple[int, str]] = Counter()  # in this episode, faults for which nothing was decided
        self.rules: dict[str, JSON] = {}  # by rule of a policy, how often it held, was broken, was not judged
        self.severities: dict[str, str] = {}  # of these rules
        self.unknown: Counter[str] = Counter()  # what of a recording is not known, by the reason
        self.left_open: JSON = {}  # by gate and invariant, what a recording leaves out that it reads
        self.guard: Counter[str] = Counter()  # calls that a guard decided: made, denied, made though denied
        self.unread: Counter[str] = Counter()  # claims of an agent, by what could not be read
        self.stated: dict[str, list[tuple[int, bool]]] = {}  # by probe, the confidence in each claim, and its outcome
        self.faulty: list[tuple[str, JSON]] = []  # the ends of episodes that tell of an agent from outside

    def add(self, type_: str, body: JSON) -> None:
        """Take the next receipt."""
        require(type_ in self.TYPES, f"a run has no receipts of type {type_!r}", "E_LINE")
        require(not self.ended, f"{type_!r} follows the end", "E_ENDS")
        if type_ in self.IN_STEPS:
            require(self.is_open, f"{type_!r} is outside of an episode")
            agree(body, {"episode": self.episode, "t": self.t + 1}, repr(type_))
        getattr(self, f"_{type_}")(body)
        self.held.update({type_: 1, "token": int(type_ == "step" and body.get("token") is not None)})

    def result(self) -> JSON:
        """What the receipts add up to (docs/evidence.md, "manifest.json")."""
        probed = [verdict for verdicts in self.probes.values() for verdict in verdicts]
        claims = {name: Counter(counts) for name, counts in self.claims.items()}
        for name, bets in self.bets.items():
            shown = {word: bet.show() for word, bet in zip(("given_too_seldom", "overstated"), bets)}
            claims[name].update({word: times for word, times in shown.items() if times})
        clear = all("PASS" in verdicts for verdicts in self.probes.values()) and self.idle <= self.active
        clear = (
            clear
            and not any(is_doubtful(counts, self.probes[name]) for name, counts in claims.items())
            and not self.unknown
            and not self.left_open
            and not any(map(self.left_open_by, self.rules.values()))
        )
        verdict = "PASS" if self.count["checks"] and clear else "INCONCLUSIVE"
        verdict = "FAIL" if self.violations["fatal"] or "FAIL" in probed else verdict
        limit = self.first.get("agent_faults") or "inconclusive"
        limit = {"most": 0, "then": limit} if isinstance(limit, str) else limit
        most, in_episode = limit["most"], limit.get("most_in_episode")
        if self.faults.total() > most or self.most_faults > (most if in_episode is None else in_episode):
            verdict = "FAIL" if limit.get("then") == "fail" else "INCONCLUSIVE"
        verdict = "ERROR" if self.count["errors"] else verdict
        judged: JSON = {"verdict": verdict}
        if "expect" in self.first:
            wanted = {"verdict": "PASS", **self.first["expect"]}
            met = wanted["verdict"] == verdict and ("ended" not in wanted or self.endings == {wanted["ended"]})
            undecided = verdict in ("INCONCLUSIVE", "ERROR") and verdict != wanted["verdict"]
            judged = {"verdict": verdict if undecided else "PASS" if met else "FAIL", "status": verdict, "met": met}
        names = ("episodes", "successes", "steps", "proposals", "drifts", "checks", "errors")
        counts = {**{name: self.count[name] for name in names}, "rejections": self.rejections}
        breaches = {"violations": self.violations["fatal"], "warnings": self.violations["warn"]}
        stated = {name: calibrated(pairs) for name, pairs in self.stated.items() if any(c != 10**6 for c, _ in pairs)}
        more = {"agents": self.agents, "probes": self.probes, "calibration": stated, "faults": self.faults}
        more.update(claims=claims, unread=self.unread, rules=self.rules, unknown=self.unknown)
        more.update(unjudged=self.left_open, guard=self.guard)
        return {**judged, **counts, **breaches, **{name: value for name, value in more.items() if value}}

    @staticmethod
    def left_open_by(rule: JSON) -> bool:
        """Whether a rule was not always judged, is misspelt, or can notice nothing: nothing breaks or meets it."""
        unable = rule.get("unable", {})
        always = {"breach", "misspelt"} & unable.keys()
        return bool(rule["unjudged"] or always or (unable and not rule["held"] + rule["broken"]))

    def _start(self, body: JSON) -> None:
        self.first = body
        self.entry_head = body["audit"]["head"] if "audit" in body else ZEROS
        self.rejected = dict.fromkeys(body["gates"], 0)  # by gate, in this episode
        self.rejections = dict(self.rejected)
        self.invariants = {
            (invariant["scope"], invariant["name"]): invariant["severity"] for invariant in body["invariants"]
        }
        self.recorded = "recording" in body
        self.severities = {rule["name"]: rule["severity"] for rule in body.get("rules", ())}
        for rule in body.get("rules", ()):  # one that can notice nothing says why
            unable = {"unable": rule["unable"]} if "unable" in rule else {}
            self.rules[rule["name"]] = {"held": 0, "broken": 0, "unjudged": 0, **unable}
        self.scopes = Counter(invariant["scope"] for invariant in body["invariants"])
        self.due = {(drift["drift"], t) for drift in body["drifts"] for t in drift["schedule"]}
        agents = body.get("agents", [""])  # one agent has no name
        self.turns = [agents] if body.get("turns") == "simultaneous" else [[name] for name in agents]
        self.agents = {name: Counter(acted=0, proposals=0) for name in agents if name}

    def _episode(self, body: JSON) -> None:
        require(not self.is_open, "an episode begins in another")
        agree(body, {"episode": self.episode + 1, "digest": tagged("state", canonical(body["state"]))}, "an episode")
        require(isinstance(body.get("drawn", {}), dict), "what a start drew has another form")
        self.episode, self.state, self.is_open = body["episode"], body["digest"], True
        self.t, self.first_success, self.fatal = -1, None, False
        self.turn, self.commits, self.decided, self.judged = 0, [], 0, 0
        self.tips = dict.fromkeys(body["parts"], ZEROS)  # by part, the digest of its last receipt

    def _drift(self, body: JSON) -> None:
        require(not self.commits and not self.decided, "a commitment is not followed by its decision")
        require(self.turn == 0, "a drift comes after an agent acted")
        require((body["drift"], body["t"]) in self.due, f"no drift was due at t = {body['t']}")
        agree(body, {"before": self.state}, "a drift")
        self.state = body["after"]
        self.count["drifts"] += 1

    def _audit(self, body: JSON) -> None:
        agree(body, {"prev_entry_hash": self.entry_head, "entry_hash": entry_hash(body)}, "an audit entry")
        self.entry_head = body["entry_hash"]

    def _probe(self, body: JSON) -> None:
        require(body.get("agent", "") in self.turns[self.turn], "a probe challenges an agent that is not deciding")
        self.count.update({"checks": 1, "errors": int(body["verdict"] == "ERROR")})
        self.unjudged += not check_probe(body, self.probes_of())
        name = prefix_of(body) + body["probe"]
        self.probes.setdefault(name, Counter())[body["verdict"]] += 1
        held, tested = held_claims(body["evidence"])
        if tested:
            self.claims.setdefault(name, Counter()).update(held=held, tested=tested)
            broken = bool(body["evidence"].get("deterministic")) and body["evidence"]["null"]["changed"] > 0
            null = body["evidence"].get("null", {"asked": 0, "changed": 0})
            never = body["verdict"] == "INCONCLUSIVE" and 0 < null["asked"] == null["changed"]
            more = {"not_given_again": never, "promise_broken": broken}
            self.claims[name].update(name for name, found in more.items() if found)
            again, rates = self.bets.setdefault(name, (Bets(), Bets()))
            again.on_minority(body["evidence"])
            rates.on_misses(body["evidence"])
            rates.on_others(body["evidence"])
            if (body["verdict"], body["cause"]) == ("INCONCLUSIVE", "mispredicted"):
                self.claims[name]["explained"] += tested - held
        if body["evidence"].get("of") == "claims":
            trials = [trial for trial in body["evidence"].get("trials", ()) if trial["held"] is not None]
            pairs = [(trial.get("confidence", 10**6), trial["held"]) for trial in trials]
            self.stated.setdefault(name, []).extend(pairs)

    def _rules(self, body: JSON) -> None:
        """What the rules of policies say of a call of a recording, or of an action."""
        kept = body.get("withheld", [])
        more = ("withheld",) if kept else ()
        shape(body, ("episode", "t", "held", "broken", "unjudged", *more), "what rules say")
        judged = [("held", name, times) for name, times in body["held"].items()]
        judged += [(kind, entry["rule"], 1) for kind in ("broken", "unjudged") for entry in body[kind]]
        judged += [(verdict["status"], verdict["rule"], 1) for verdict in kept]
        require(self.recorded or not kept, "verdicts are kept where nothing was withheld")
        require(judged, "rules say nothing")
        for kind, name, times in judged:
            require(name in self.rules and type(times) is int and times > 0, "a rule is none of the run's")
            require(kind in ("held", "broken", "unjudged"), "a kept verdict is none")
            self.rules[name][kind] += times
            self.count["checks"] += times * (kind != "unjudged" and self.severities[name] == "fatal")
        for violation in body["broken"]:
            agree(violation, {"severity": self.severities[violation["rule"]]}, "a broken rule")
            self.violations[violation["severity"]][violation["rule"]] += 1
        for verdict in kept:
            shape(verdict, ("rule", "call", "status"), "a kept verdict")
            rule = self.rules[verdict["rule"]]
            rule["withheld"] = rule.get("withheld", 0) + 1
            if verdict["status"] == "broken":
                self.violations[self.severities[verdict["rule"]]][verdict["rule"]] += 1

    def _guard(self, body: JSON) -> None:
        """What a guard decided of a call of a recording before it was made."""
        keys = ("episode", "t", "call", "tool", "decision", "denied_by", "unjudged", "made", "cause", "receipt")
        shape(body, keys, "what a guard decided")
        made, allowed = body["made"], body["decision"] == "allow"
        said = (allowed and not body["denied_by"]) or (
            body["decision"] == "deny" and (body["denied_by"] or body["unjudged"])
        )
        follows = self.recorded and self.commits and type(made) is bool
        follows = follows and body["cause"] in ("rules", "deadline") and bool(HEX64.fullmatch(str(body["receipt"])))
        require(said and follows, "what a guard decided does not follow from what it says")
        known: JSON = {"gate": self.rejected, "rule": self.rules, "invariant": [name for _, name in self.invariants]}
        named = all(one["name"] in known.get(one["of"], ()) for one in body["denied_by"])
        require(named, "a guard denies by nothing of the run's")
        bypassed = made and not allowed
        self.guard.update(made=int(made), denied=int(not made), bypassed=int(bypassed))
        self.count["checks"] += not (made and body["unjudged"])
        if bypassed:
            self.violations["fatal"]["guard"] += 1

    def _commit(self, body: JSON) -> None:
        due, turn = self.turns[self.turn], len(self.commits)
        require(turn < len(due) and not self.decided, "a commitment is not followed by its decision")
        require(body.get("agent", "") == due[turn], "a commitment is out of turn")
        self.commits.append(body)

    def _decide(self, body: JSON) -> bool:
        """Take the next decision of a turn, all of whose sets are committed to; whether it is the last."""
        due, commits = self.turns[self.turn], self.first.get("commit") != "none"
        require(body.get("agent", "") == due[self.decided], "a decision is out of turn")
        if commits:
            require(len(self.commits) == len(due), "a decision precedes a commitment", "E_COMMITMENT")
            check_decision(self.commits[self.decided], body, self.recorded)
        self.decided += 1
        last = self.decided == len(due)
        judged = body["success"] is not None
        require(judged if last else not (judged or broken_in(body)), "not the last decision of a turn is judged")
        return last

    def _step(self, body: JSON) -> None:
        judged = self._decide(body)
        t, decisions, of, acted = body["t"], body["decisions"], prefix_of(body), body["chosen"] is not None
        agree(body, {"before": self.state, **({} if acted else {"after": self.state})}, "a step")
        require(
            t < self.first["horizon"] and (self.recorded or not self.fatal),
            "there is a step after the end of the episode",
        )
        for name, part in body["parts"].items():
            self._part(name, part)
        for gate in (of + rejection["gate"] for decision in decisions for rejection in decision["rejected"]):
            require(gate in self.rejected, "a gate rejected that the run does not have")
            self.rejected[gate] += 1
        chance = body.get("chance", {"drawn": {}, "changed": {}})
        shape(chance, ("drawn", "changed"), "what chance did")
        formed = all(isinstance(draw, dict) for draw in chance.values()) and ("chance" not in body or acted)
        require(formed, "what chance did has another form")
        if "fault" in body:  # one that the scenario bears: that nothing was chosen breaks no rule
            bears = isinstance(self.first.get("agent_faults"), dict) and not acted
            reasons = [rejection["reason"] for decision in decisions for rejection in decision["rejected"]]
            require(bears and body["fault"] in reasons, "a step has an agent fault that kept nobody from deciding")
            self.prevented[t, body["fault"]] += 1
        (self.active if acted or self.recorded else self.idle).add(of)
        goes_on = acted or "fault" in body or self.recorded or self.first.get("on_denied") == "tell"
        self.violations["fatal"].update([] if goes_on else [of + "progress"])
        stopped = [] if goes_on else [stop(t, decisions)]
        count = len(stopped) + len(broken_in(body))
        consistent = same(body["violations"][: len(stopped)], stopped) and len(body["violations"]) == count
        require(consistent, "the violations do not say whether something was chosen")
        if of:
            self.agents[body["agent"]].update(acted=acted, proposals=len(decisions))
        self._violations("step", broken_in(body))
        if body["success"] is True and self.first_success is None:
            self.first_success = t
        self.state, first = body["after"], self.turn == 0 and self.decided == 1
        errors = sum(decision["error"] is not None for decision in decisions)
        for gap in (gap for decision in decisions for gap in decision.get("unjudged", ())):
            self._gap(gap, "gate", gap.get("gate") == "cost" or of + gap.get("gate", "") in self.rejected)
        checks = judged * self.scopes["step"] - self._unjudged(body, "step")
        self.count.update({"steps": int(first), "proposals": len(decisions), "checks": checks, "errors": errors})
        if judged:
            self.turn, self.commits, self.decided = self.turn + 1, [], 0
            self.judged += 1
        if self.turn == len(self.turns):
            self.turn, self.t = 0, t

    def _part(self, name: str, receipt: JSON) -> None:
        """A part's receipt continues the part's own chain."""
        bare = {key: value for key, value in receipt.items() if key != "tip_after"}
        tip = tagged("part", self.tips[name].encode() + canonical(bare))
        agree(receipt, {"tip": self.tips[name], "tip_after": tip}, f"the part {name!r}")
        if not receipt["accepted"]:
            agree(receipt, {"after": receipt["before"]}, f"the part {name!r}, which refused,")
        self.tips[name] = tip

    def _violations(self, scope: str, violations: JSON) -> None:
        for violation in violations:
            require(
                (scope, violation["invariant"]) in self.invariants, "a violated invariant is not violation of the run's"
            )
            severity = self.invariants[scope, violation["invariant"]]
            agree(violation, {"severity": severity}, "a violation")
            self.violations[severity][violation["invariant"]] += 1
            self.fatal = self.fatal or (scope == "step" and severity == "fatal")

    def _unjudged(self, body: JSON, scope: str) -> int:
        """How many invariants read what a recording leaves out."""
        broken = {one["invariant"] for one in body["violations"]}
        for gap in body.get("unjudged", ()):
            name = gap.get("invariant", "")
            self._gap(gap, "invariant", (scope, name) in self.invariants and name not in broken)
        return len(body.get("unjudged", ()))

    def _gap(self, gap: JSON, what: str, known: bool) -> None:
        shape(gap, (what, "reason"), f"the {what} that was not judged")
        require(self.recorded and known, f"a {what} that was not judged is none of a recording's, or is broken")
        self.left_open.setdefault(gap[what], Counter())[gap["reason"]] += 1

    def _error(self, body: JSON) -> None:
        agree(body, {"episode": self.episode + (not self.is_open)}, "an error")
        self.count["errors"] += 1

    def _episode_end(self, body: JSON) -> None:
        ended, number = body["ended"], self.episode + (not self.is_open)
        broken_off = ended in ("error", "hang", "died") or (ended == "unknown" and self.recorded)
        require((ended == "unknown") == ("gap" in body), "an episode has a gap, and did not end there, or the reverse")
        require(broken_off or ended in ("horizon", "until", "fatal"), f"an episode ended as {ended!r:.40}")
        require(self.is_open or ended == "error", "an episode ends that did not begin")
        require(broken_off or not (self.commits or self.decided), "a commitment is not followed by its decision")
        require(broken_off or not self.turn or ended in ("fatal", "until"), "an episode ends before every agent acted")
        steps, success = 0, None  # of an episode that an error kept from beginning
        if self.is_open:
            steps, success = self.t + 1 + (self.turn > 0 or self.decided > 0), self.first_success
            agree(body, {"steps": steps, "state": self.state}, "an episode")
        wanted = {"episode": number, "first_success": success, "success": success is not None, "gates": self.rejected}
        agree(body, wanted, "an episode")
        if self.recorded:  # it is as long as its trajectory, which replay reads
            require(ended in ("horizon", "error", "unknown"), "an episode of a recording ended for another reason")
        else:
            fatal = self.fatal and self.is_open
            require((ended == "fatal") == fatal, "an episode ended for another reason")
        require(
            self.recorded or ended != "horizon" or steps == self.first["horizon"], "an episode ended before its horizon"
        )
        if broken_off:  # the watchdog's violation is of no spec
            named = [(violation["invariant"], violation["severity"]) for violation in body["violations"]]
            own = [] if ended in ("error", "unknown") else [("watchdog", "fatal")]
            require(named == own, "an episode that was broken off has other violations")
            self.violations["fatal"].update(name for name, _ in named)
        else:
            self._violations("episode", body["violations"])
        for name, idle in body["idle"].items():
            most = self.judged * (("step", name) in self.invariants) + (("episode", name) in self.invariants)
            require(type(idle) is int and 0 < idle <= most, "an invariant is idle more often than it is checked")
        for fault in body.get("faults", ()):
            require(0 <= fault["t"] <= steps, "an agent fault is after the end of its episode")
            self.faults[fault["reason"]] += 1
        self.most_faults = max(self.most_faults, len(body.get("faults", ())))
        self.unread.update(body.get("unread", {}))
        self.unknown.update(body.get("unknown", {}))
        self.unknown.update([body["gap"]["reason"]] if "gap" in body else [])
        faults = Counter((fault["t"], fault["reason"]) for fault in body.get("faults", ()))
        require(not self.prevented - faults, "a step has an agent fault that its episode does not have")
        self.prevented = Counter()
        self.faulty += [("episode_end", body)] if {"faults", "spent"} & body.keys() else []
        checks = self.scopes["episode"] - sum(body["idle"].values()) - self._unjudged(body, "episode")
        self.count.update({"episodes": 1, "successes": int(success is not None), "checks": checks})
        self.endings.add(ended)
        self.rejections = {gate: count + self.rejected[gate] for gate, count in self.rejections.items()}
        self.rejected = dict.fromkeys(self.rejected, 0)
        self.episode, self.is_open, self.fatal, self.first_success = number, False, False, None

    def _end(self, body: JSON) -> None:
        require(not self.is_open, "the run ends within an episode")
        agree(self.first, {"episodes": self.episode + 1}, "the first receipt")
        wanted = {"episodes": self.episode + 1, "steps": self.count["steps"], "gates": self.rejections}
        agree(body, wanted, "the end")
        self.ended = True


def broken_in(body: JSON) -> JSON:
    """The broken invariants of a receipt, without the violation that nothing was chosen."""
    return [violation for violation in body["violations"] if violation["invariant"] != "progress"]


def stop(t: int, decisions: JSON) -> JSON:
    """The violation of a decision that chose nothing: by the step, why no proposal was admitted, each reason once."""
    reasons = dict.fromkeys(rejection["reason"] for decision in decisions for rejection in decision["rejected"])
    errors = dict.fromkeys(decision["error"]["code"] for decision in decisions if decision["error"] is not None)
    return {"invariant": "progress", "severity": "fatal", "witness": {f"step_{t}": [*reasons, *errors]}}


def prefix_of(body: JSON) -> str:
    """What stands before a figure that belongs to one of several agents."""
    return f"{body['agent']}." if "agent" in body else ""


def law_result(b: Bundle) -> JSON:
    """What the receipts of a law add up to."""
    (verdict,), (end,), cases = b.of("verdict"), b.of("end"), b.of("cases")
    status, met = verdict["verdict"]["status"], end["met"]
    reached = {"PROVED": "PASS", "PASS": "PASS", "FAIL": "FAIL", "UNKNOWN": "INCONCLUSIVE"}.get(status, "ERROR")
    reason, count = verdict["verdict"]["reason"], cases[0]["count"] if cases else 0
    if met is not None and reached != "ERROR":
        reached = "PASS" if met is True else "FAIL"
    elif reason == "evaluation_error":
        reached = "ERROR"
    return {"verdict": reached, "status": status, "reason": reason, "met": met, "cases": count}


def suite_result(b: Bundle) -> JSON:
    """What the receipts of a suite add up to; the suite's own runs are told first."""
    runs, own = b.of("run"), b.of("run")[: b.first["runs"]]
    sums = {key: sum(run["result"][key] for run in own) for key in ("episodes", "steps", "drifts", "errors")}
    verdicts, order = [row["verdict"] for row in b.of("check", "mutant")], ("ERROR", "FAIL", "INCONCLUSIVE", "PASS")
    reached = [run["result"]["verdict"] for run in own]
    for reached_, allowed in b.first["allowed"].items():  # "" are all arms without a number of their own
        arms = [run["arm"] for run in own if run["result"]["verdict"] == reached_]
        counted = [arm if arm in allowed else "" for arm in arms]
        verdicts += [reached_] * any(counted.count(arm) > allowed.get(arm, 0) for arm in counted)
    verdicts += ["INCONCLUSIVE"] * (0 < len(own) == reached.count("INCONCLUSIVE"))
    erred = "ERROR" in reached or any(figure["error"] is not None for figure in b.of("figure"))
    verdict = "ERROR" if erred else min(verdicts, key=order.index, default="INCONCLUSIVE")
    checks = {check["check"]: check["verdict"] for check in b.of("check")}
    mutants = {mutant["mutant"]: mutant["caught"] for mutant in b.of("mutant")}
    counts = {"runs": len(own), "trials": len(runs) - len(own), **sums}
    return {"verdict": verdict, **counts, "checks": checks, "mutants": mutants}


def discovery_result(b: Bundle) -> JSON:
    """What the receipts of a discovery add up to; late laws repeat others and are not judged."""
    iterations, laws = b.of("iteration"), b.of("law")
    usages = [iteration["answer"]["usage"] for iteration in iterations]
    tokens = sum(usage[name] for usage in usages for name in ("prompt_tokens", "output_tokens", "thinking_tokens"))
    verdicts = {law["law"]: law["verdict"] for law in b.of("law", "escalation") if law.get("late") is None}
    statuses = ["ERROR" if verdict is None else verdict["status"] for verdict in verdicts.values()]
    accepted = [
        verdict for verdict in verdicts.values() if verdict is not None and verdict["status"] in ("PROVED", "PASS")
    ]
    expected = {law["law"]: law["found"] is not None for law in b.of("expected")}
    verdict = "PASS" if (all(expected.values()) if expected else accepted) else "FAIL" if expected else "INCONCLUSIVE"
    return {
        "verdict": "ERROR" if "ERROR" in statuses else verdict,
        "iterations": len(iterations),
        "failures": sum(iteration["answer"]["failure"] is not None for iteration in iterations),
        "rejected": sum(len(iteration["rejections"]) for iteration in iterations),
        "redundant": sum(len(iteration["redundant"]) for iteration in iterations),
        "late": sum(law["late"] is not None for law in laws),
        "evaluations": len(laws),
        "escalations": len(b.of("escalation")),
        "tokens": tokens,
        "laws": {status: statuses.count(status) for status in ("PROVED", "PASS", "FAIL", "UNKNOWN", "ERROR")},
        "content": sum(verdict["content"]["share"] for verdict in accepted if verdict["content"] is not None),
        "stopped": b.of("stop")[0]["reason"],
        "expected": expected,
    }


@check(7, "E_SPECS")
def check_specs(b: Bundle) -> None:
    """Specs match their digest; each is named by its own."""
    document = read_document(b.folder / SPECS, 16 * MIB)
    shape(document, ("root", "specs"), SPECS)
    b.specs, b.key = document["specs"], document["root"]
    for key, data in b.specs.items():
        own = f"{data['spec'].partition('/')[0]}/{data['name']}@{tagged('spec', canonical(data))[:16]}"
        require(key == own, f"{key} is not the key of its spec")
    digest = tagged("specs", canonical(document))
    agree(b.manifest, {"specs": digest, "run": tagged("run", digest.encode())[:32]}, "the manifest")
    agree(b.first, {"specs": digest}, "the first receipt")


@check(7, "E_REPLAY", lambda b: b.kind != "scenario", malformed="E_SPECS")
def check_first(b: Bundle) -> None:
    """Specs match their digest: the first receipt says what they say, as far as that needs no evaluation."""
    wanted = heading(b)
    agree({**dict.fromkeys(wanted), **b.first}, wanted, "the first receipt")


@check(11, "E_REPLAY", lambda b: b.kind == "scenario", malformed="E_SPECS")
def check_start(b: Bundle) -> None:
    """The first receipt matches the specs, as far as that needs no evaluation.

    A bundle that declares an invariant a warning, drops a gate or shortens a run
    in its receipts is refuted here.
    """
    wanted = run_heading(b.specs, b.root)
    first = {**dict.fromkeys(wanted), **b.first}
    stated = first["rules"] or ()
    if stated:
        first["rules"] = [{name: rule[name] for name in rule if name != "unable"} for rule in stated]
    agree(first, wanted, "the first receipt")
    check_lists(b)
    tools = tools_of(b.specs, b.root)
    rules = [(policy, rule) for policy in policies_of(b.specs, b.root) for _, rule in sorted(policy["rules"].items())]
    for (policy, rule), said in zip(
        rules, stated
    ):  # of other conditions only an evaluation tells whether they are constant
        lacks = written_off(rule) or ("" if tools is None else lacking(policy, rule, tools))
        require(
            not lacks or "unable" in said,
            f"{said['name']} can have no {lacks}, by its text and the tools that there are",
        )


START_KEYS = {"scenario", "specs", "seed", "episodes", "horizon", "gates", "invariants", "drifts", "expect", "agents"}
START_KEYS |= {"turns", "recording", "rules", "agent_faults", "on_denied", "audit", "commit"}


def check_lists(b: Bundle) -> None:
    """The first receipt has no field that a run does not state; its gates differ; its drifts are those of the specs."""
    unknown = b.first.keys() - START_KEYS
    require(not unknown, f"the first receipt has a field {min(unknown, default='')!r:.40}, which no run states")
    require(len(set(b.first["gates"])) == len(b.first["gates"]), "the first receipt lists a gate twice")
    times: Counter[str] = Counter()
    names = []
    for name in (b.specs[key]["name"] for key in b.root.get("drift", ())):
        times[name] += 1
        names.append(name if times[name] == 1 else f"{name}.{times[name]}")
    require(isinstance(b.first["drifts"], list), "the drifts of the first receipt are no list")
    agree({"drifts": [drift["drift"] for drift in b.first["drifts"]]}, {"drifts": names}, "the first receipt")
    for drift in b.first["drifts"]:
        shape(drift, ("drift", "schedule"), "a drift of the first receipt")


def policies_of(known: JSON, root: JSON) -> list[JSON]:
    """The policies of a scenario, each once, in their order."""
    return [known[key] for key in dict.fromkeys(root.get("policies", ()))]


def tools_of(known: JSON, root: JSON) -> JSON | None:
    """The tools that an agent can call: the arguments of each, or None where it may have others; None if not known."""
    recording = known.get(root.get("agent"), {}).get("trajectories", {})
    if "tools" in recording:
        return {tool: arguments_of(schema) for tool, schema in recording["tools"].items()}
    if "otherwise" in recording:
        return None
    return {op: [*action.get("args", {})] for op, action in known[root["world"]]["actions"].items()}


def arguments_of(schema: JSON | None) -> list[str] | None:
    """The arguments that a JSON Schema names; None where there may be others."""
    schema = schema or {}
    names = schema.get("properties")
    more = {"patternProperties", "$ref", "anyOf", "oneOf", "allOf", "if", "not"}
    if not isinstance(names, dict) or more & schema.keys():
        return None
    others = schema.get("additionalProperties")
    return [*names] if others is None or others is False else None


def written_off(rule: JSON) -> str:
    """What a rule can never have, since a truth value stands in place of its condition or its demand."""
    demands = {"from", "not_from", "after", "not_after", "require"} & rule.keys()
    if str(rule.get("when", {}).get("if", "")).strip() == "false":
        return "opportunity"
    return "breach" if demands == {"require"} and str(rule["require"]).strip() == "true" else ""


def lacking(policy: JSON, rule: JSON, tools: JSON) -> str:
    """What a rule can never have, by the tools that there are: an opportunity, a breach; empty if both."""
    about, each = tools_named(policy, rule.get("when", {}).get("tool", "any"), tools), rule.get("each", ())
    judged = [EACH.match(path) for path in ([each] if isinstance(each, str) else each)]
    if "message" not in rule.get("when", {}):
        if about == []:
            return "opportunity"
        listed = [tools[tool] for tool in about or ()]
        first = {path[1] or path[2] for path in judged if path}
        known = judged and None not in judged and listed and None not in listed
        if known and not any(first & set(names) for names in listed):
            return "opportunity"
    if {"require", "from", "after"} & rule.keys() or not {"not_from", "not_after"} & rule.keys():
        return ""
    sources = [source if isinstance(source, dict) else {} for source in rule.get("not_from", ())]
    past = [source.get("result_of", source.get("text_of")) for source in sources]
    past += [rule["not_after"]["tool"]] if "not_after" in rule else []
    return "" if any(tool is None or tools_named(policy, tool, tools) != [] for tool in past) else "breach"


def tools_named(policy: JSON, names: JSON, tools: JSON) -> list[str] | None:
    """The tools that a rule names, a set of tools or patterns; None if it needs none: a set gives several names."""
    sets, written = policy.get("tools", {}), [names] if isinstance(names, str) else names
    wanted = [name for word in written for name in sets.get(word, [word])]
    if "any" in wanted:
        return [*tools]
    met = [tool for tool in tools if any(is_like(tool, name) for name in wanted)]
    return met if met or all(len(sets.get(word, ())) < 2 for word in written) else None


def is_like(name: str, pattern: str) -> bool:
    """Whether a name fits a pattern, in which `*` stands for any characters."""
    first, *rest = pattern.split("*")
    if not rest:
        return name == pattern
    at = len(first) if name.startswith(first) else -1
    for part in rest[:-1]:
        at = name.find(part, at) + len(part) if at >= 0 and part in name[at:] else -1
    return 0 <= at <= len(name) - len(rest[-1]) and name.endswith(rest[-1])


def heading(b: Bundle) -> JSON:
    """What `start` of a law, a suite or a discovery says, from the specs."""
    made = {b.kind: b.root["name"]}
    if b.kind == "suite":
        made.update({name: [row["id"] for row in b.root.get(name, ())] for name in ("checks", "mutants")})
        arms = {"": b.root, **b.root.get("runs", {})}
        keys = {"INCONCLUSIVE": "inconclusive", "FAIL": "failing"}
        allowed = {
            verdict: {name: arm[key]["most"] for name, arm in arms.items() if key in arm}
            for verdict, key in keys.items()
        }
        return {**made, "figures": sorted(b.root.get("figures", {})), "allowed": allowed}
    if b.kind == "law":
        made.update(digest=b.key.rpartition("@")[2], template=b.specs[b.root["template"]]["name"])
    else:
        made.update(iterations=b.root.get("iterations", 20), lag=b.root.get("lag", 1))
        made.update(prompt=b.root["prompt"], ranking=b.root["ranking"])
    return {**made, "kind": b.kind, "universe": b.root["universe"], "seed": b.root.get("seed", 42)}


def run_heading(known: JSON, root: JSON) -> JSON:
    """What `start` of a run says, from the specs; values that equal their defaults are left out of specs."""
    order = root.get("order", [""])
    governors = {name: known[root["agents"][name]["governor"] if name else root["governor"]] for name in order}
    named = [invariant for governor in governors.values() for invariant in governor.get("invariants", ())]
    invariants = [known[name] for name in dict.fromkeys((*named, *root.get("invariants", ())))]
    defaults = {"seed": 0, "episodes": 1, "horizon": None, "expect": None, "agent_faults": None, "on_denied": None}
    if "trajectories" in known.get(root.get("agent"), {}):  # its logs say how many episodes there are, and how long
        defaults = {name: default for name, default in defaults.items() if name not in ("episodes", "horizon")}
    made = {name: root.get(name, default) for name, default in defaults.items()}
    made["rules"] = [
        {"name": f"{policy['name']}.{name}", "severity": rule.get("severity", "fatal")}
        for policy in policies_of(known, root)
        for name, rule in sorted(policy["rules"].items())
    ]
    if not made["rules"] and "trajectories" not in known.get(root.get("agent"), {}):
        made["rules"] = None
    made.update(scenario=root["name"], agents=root.get("order"))
    made["turns"] = root.get("turns", "order") if "agents" in root else None
    made["invariants"] = [
        {
            "name": invariant["name"],
            "scope": invariant.get("scope", "step"),
            "severity": invariant.get("severity", "fatal"),
        }
        for invariant in invariants
        if invariant.get("scope", "step") != "proposal"
    ]
    if not any("admission" in governor for governor in governors.values()):  # a kernel adds gates of its own
        made["gates"] = [
            (f"{name}." if name else "") + gate
            for name, governor in governors.items()
            for gate in ("schema", *(entry["id"] for entry in governor.get("gates", ())))
        ]
    return {**made, "commit": "none"} if root.get("commit") == "none" else made


@check(8, "E_COUNTEREXAMPLES")
def check_cases(b: Bundle) -> None:
    """Counterexample files match the receipts.

    They are the first ones with a cause that is new, byte for byte.
    """
    paths = {path for path in b.listed if CASE_PATH.fullmatch(path)}
    found: set[str] = set()
    known: set[str] = set()
    pending: list[JSON] = []  # the receipts of the current step
    for seq, receipt in enumerate(b.receipts()):
        type_, body = receipt["type"], receipt["body"]
        pending.append({"body": body, "seq": seq, "type": type_})
        open_turn = type_ == "step" and body["success"] is None
        if b.kind == "scenario" and (open_turn or type_ not in ("step", "error", "episode_end")):
            pending = [] if type_ in ("start", "episode", "end") else pending
            continue
        causes = {cause for receipt in pending for cause in causes_of(b.kind, receipt["type"], receipt["body"])}
        if causes - known and len(found) < MAX_CASES:
            path = f"counterexamples/{seq:08d}.json"
            case = canonical({"causes": sorted(causes, key=str.encode), "receipts": pending}) + b"\n"
            is_same = path in paths and file_sha256(b.folder / path) == sha256(case)
            require(is_same, f"{path} is not there, or not what the receipts show")
            found.add(path)
            known |= causes
        pending = []
    require(found == paths, "there is a failing case that the receipts do not show")
    if not paths:
        raise nothing_to_check("the receipts show no failing case, and none is listed")


def causes_of(kind: str, type_: str, body: JSON) -> set[str]:
    """What a receipt says went wrong; a suite's own receipts say nothing, its runs have failing cases of their own."""
    if kind == "scenario":
        if type_ == "rules":
            kept = [verdict for verdict in body.get("withheld", ()) if verdict["status"] == "broken"]
            return {f"rule:{entry['rule']}" for entry in (*body["broken"], *kept)}
        if type_ in ("probe", "error"):
            failed = type_ == "error" or body["verdict"] in ("FAIL", "ERROR")
            return {f"{type_}:{body['code' if type_ == 'error' else 'probe']}"} if failed else set()
        names = [violation["invariant"] for violation in body.get("violations", ())]
        causes = {name if name == "progress" else f"invariant:{name}" for name in names}
        if type_ == "step":
            causes |= {
                f"error:{decision['error']['code']}" for decision in body["decisions"] if decision["error"] is not None
            }
        return causes
    judges = {"law": ("verdict",), "discovery": ("law", "escalation"), "suite": ()}
    verdict = body["verdict"] if type_ in judges[kind] else None
    if verdict is None or verdict["counterexample"] is None:
        return set()
    return {f"law:{body['law'] if kind == 'discovery' else verdict['law']}"}


# -------------------- Check 10: the tape of answers from outside


def check_trajectories(b: Bundle) -> None:
    """The trajectories of a recorded agent are those that the first receipt names."""
    recorded = b.kind == "scenario" and "trajectories" in b.specs.get(b.root.get("agent"), {})
    named = recorded == ("recording" in b.first) == (TRAJECTORIES in b.listed)
    require(named, "there are trajectories and no recording, or the reverse", "E_TRAJECTORIES")
    if recorded:
        count, most, digest = trajectories_in(b.folder / TRAJECTORIES)
        wanted = {"trajectories": count, "digest": digest}
        shape(b.first["recording"], wanted, "the recording of the first receipt")
        agree(b.first["recording"], wanted, "the recording", "E_TRAJECTORIES")
        agree(b.first, {"episodes": count}, "the first receipt", "E_TRAJECTORIES")
        horizon = b.first["horizon"]  # of long logs the engine keeps a part
        whole = (b.folder / TRAJECTORIES).stat().st_size <= ALL_KEPT
        fits = type(horizon) is int and (horizon == most if whole else horizon <= most)
        require(fits, f"no trajectory has {horizon!r:.40} calls, and the longest {most}", "E_TRAJECTORIES")


ENTRIES = ("message", "call", "result", "finding", "kept")


def claimed_recording(b: Bundle) -> list[str]:
    """The digest of the recording that the first receipt claims; nothing where it claims none."""
    try:
        digest = json.loads(next(read_lines(b.folder / RECEIPTS, MAX_LINE)))["body"]["recording"]["digest"]
    except (Finding, RecursionError, StopIteration, *MALFORMED):
        return []
    return [digest] if isinstance(digest, str) and HEX64.fullmatch(digest) else []


NUMBERS = re.compile(r"(:[0-9]+)?(#[0-9]+)?")


def judged_line(line: bytes) -> bytes:
    """What the digest of a recording covers of a line: of one that begins a trajectory no name of a file."""
    if not line.startswith(b'{"trajectory":'):
        return line
    try:
        head = parse(line, "a line")["trajectory"]
        shape(head, ("id", "file", "format"), "a trajectory")
        named = head["id"].startswith(head["file"]) and NUMBERS.fullmatch(head["id"], len(head["file"]))
        kept = {"format": head["format"]} if named else {"format": head["format"], "id": head["id"]}
        return canonical({"trajectory": kept})
    except (Finding, *MALFORMED):  # it is refused where lines are read
        return line


def trajectories_in(path: Path) -> tuple[int, int, str]:
    """How many trajectories there are on canonical lines, the most calls of one, and the digest of the recording.

    Each begins, has entries, and ends with their number.
    """
    code, count, most, calls, digest = "E_TRAJECTORIES", 0, 0, 0, hashlib.sha256()
    entries = -1  # of the trajectory that is open; -1 between two
    try:
        for number, line in enumerate(read_lines(path, MAX_TRAJECTORY_LINE, code), 1):
            what = f"line {number} of {TRAJECTORIES}"
            digest.update(judged_line(line) + b"\n")
            if number == 1:
                require(line == b'{"format":"specledger/trajectories/v1"}', f"{what} names another format")
                continue
            if entries >= 0 and len(line) > MAX_TRAJECTORY_VOLUME and volume(line) > MAX_TRAJECTORY_VOLUME:
                entries += 1  # one that nobody reads
                continue
            record = parse(line, what, MAX_TRAJECTORY_VOLUME)
            require(isinstance(record, dict) and len(record) == 1, f"{what} is no object with one key")
            ((name, value),) = record.items()
            if entries < 0:
                require(name == "trajectory", f"{what} is {name!r:.40} where a trajectory begins")
                shape(value, ("id", "file", "format"), what)
                require({type(text) for text in value.values()} == {str}, f"{what} has another form")
                count, entries, calls = count + 1, 0, 0
            elif name == "end":
                require(same(value, entries), f"{what} counts other entries than there are")
                entries = -1
            else:
                require(name in ENTRIES and isinstance(value, dict), f"{what} is no entry")
                entries, calls = entries + 1, calls + (name == "call")
                most = max(most, calls)
    except Finding as finding:
        raise Finding(finding.message, code) from None
    require(entries < 0, f"the last trajectory of {TRAJECTORIES} does not end", code)
    return count, most, digest.hexdigest()


@check(22, "E_TAPE_FORM")
def check_tape(b: Bundle) -> None:
    """Answers from outside, and recorded trajectories, are those that the receipts name."""
    check_trajectories(b)
    present = TAPE in b.listed
    if b.kind == "discovery":
        outside = not {"scripted", "enumerate"} & b.specs[b.root["model"]].keys()
        may = outside
    else:  # of several agents none is asked outside; an agent of the specs may be ended at work
        may = b.kind == "scenario" and "agents" not in b.root
        outside = may and ("outside" in b.specs[b.root["agent"]] or is_asked(b))
    require(may or not present, "no answer came from outside, and there is a tape", "E_TAPE_EXTRA")
    require(present or not outside, "answers came from outside, and there is no tape", "E_TAPE_MISSING")
    if not present:
        if not b.recordings:
            raise nothing_to_check("no answer came from outside, and no trajectories were recorded")
        return
    lines = (parse(line, "a line of the tape") for line in read_lines(b.folder / TAPE, MAX_LINE))
    first: JSON = next(lines, {})
    form = "specledger/model-tape/v1" if b.kind == "discovery" else "specledger/tape/v2"
    agree(first, {"format": form}, "the tape")
    if b.kind != "discovery":
        log = b.first.get("audit", {"mode": "simulated", "head": ZEROS})
        head = {name: value for name, value in first.items() if name != "programs"}
        require(same(head, {"format": form, **log}), "the tape names another audit log than the run")
        check_programs(first.get("programs", {"": ZEROS}))
        asked = b.specs[b.root["agent"]].get("outside", {})
        files = first.get("programs", {})
        b.programs = [{way: asked[way], "files": files} for way in ("command", "python") if way in asked]
        check_exchanges(lines, b, outside)
        return
    iterations = b.of("iteration")
    count = sum(1 for _ in read_lines(b.folder / TAPE, MAX_LINE)) - 1
    require(count >= len(iterations), f"the tape has {count} answers", "E_TAPE_MISSING")
    require(count == len(iterations), f"the tape has {count} answers", "E_TAPE_EXTRA")
    for number, (line, body) in enumerate(zip(lines, iterations)):
        answer = line["answer"]
        agree(line, {"iteration": number}, "the tape")
        answered = {name: answer[name] for name in ("failure", "finish", "usage")}
        agree(
            body, {"answer": {**answered, "digest": tagged("model-answer", canonical(answer))}}, f"iteration {number}"
        )


def check_programs(programs: JSON) -> None:
    """The files of the agent that the head of a tape names: at most 64 digests by paths, at least one."""
    named = isinstance(programs, dict) and 0 < len(programs) <= 64
    require(named and all(HEX64.fullmatch(digest) for digest in programs.values()), "the tape names malformed programs")


def in_order(programs: list[JSON]) -> list[JSON]:
    """Programs in the order of their canonical forms, without repetition."""
    unique = {canonical(program): program for program in programs}
    return [unique[form] for form in sorted(unique)]


def program_words(program: JSON) -> str:
    """A program in words: what was started or called, and its files with their digests."""
    called = shlex.join(program["command"]) if "command" in program else program["python"]
    files = [f"{shlex.quote(path)} {digest}" for path, digest in sorted(program["files"].items())]
    return f"`{called}` with {' and '.join(files) or 'no file of it'}"


def is_asked(b: Bundle) -> bool:
    """Whether a model is asked about the calls of a recording."""
    return bool(b.root.get("probes")) and "asks" in b.specs[b.root["agent"]].get("trajectories", {})


EXCHANGE_KEYS = {"seq", "session", "episode", "t", "message", "question"}
EXCHANGE_KEYS |= {"failure", "reason", "received", "sha256", "size"}
FAILURES = ("raised", "timed_out", "closed", "died", "too_long", "not_json")
UNSEEN = ("wrong_form", "wrong_id", "unread_claims")  # faults of which the tape shows an answer that may be one
REASON = re.compile(r"([a-z]{1,9}:)?[A-Za-z0-9_]{0,100}")
STATED = {"statement", "document"}
ANSWERS = {"hello": {"hello"}, "reset": {"ready"}, "restore": {"ready"}, "snapshot": {"snapshot"}, "reveal": {"reveal"}}
ANSWERS |= {"decide": {"proposals"}, "ask": STATED, "restate": STATED, "offer": STATED | {"declined", "call"}}
CALLS = {"choose": {"choice"}, "explain": {"reasons"}}
"""What a model answers that is asked about a recorded call."""


def check_exchanges(lines: Iterable[JSON], b: Bundle, outside: bool) -> None:
    """The exchanges are in order, and those that failed are exactly the agent faults of the run.

    Whether an object has the form of an answer, the number of its message and a message that the run asks, only replay
    can say: the receipts may have a fault of UNSEEN for it, and this file does not know if they must.
    """
    answers = {**ANSWERS, "decide": STATED} if "admission" in b.specs[b.root["governor"]] else ANSWERS
    answers = CALLS if is_asked(b) else answers
    certain: Counter[Any] = Counter()
    spent: Counter[Any] = Counter()
    objects: Counter[Any] = Counter()
    before, sessions, asked = (0, 0), int(answers is CALLS), set()  # a model asked about calls is told no `hello`
    for seq, line in enumerate(lines):
        shape(line, EXCHANGE_KEYS, f"exchange {seq}")
        agree(line, {"seq": seq}, f"exchange {seq}")
        asked_at, message, session = (line["episode"], line["t"]), line["message"], line["session"]
        fault = fault_of(line, answers, seq)
        formed = {type(part) for part in (*asked_at, session)} == {int} and HEX64.fullmatch(line["question"])
        within = (
            formed
            and before <= asked_at
            and asked_at[0] < b.first["episodes"]
            and 0 <= asked_at[1] <= b.first["horizon"]
        )
        require(within, f"exchange {seq} is at another place than the one before it allows")
        before = asked_at
        if message == "watch":  # an agent of the specs was at work
            ended = not outside and fault in ("timed_out", "died") and session == 0 and line["question"] == ZEROS
            require(ended, f"exchange {seq} does not end an agent at work")
            continue
        opens = session == sessions if message == "hello" else 0 <= session < sessions
        new = opens and (session, line["question"]) not in asked
        require(new, f"exchange {seq} is of another session, or answers its message again")
        sessions += message == "hello"
        spent.update({(asked_at[0], "messages"): 1, (asked_at[0], "received"): line["size"]})
        asked.add((session, line["question"]))
        (certain if fault else objects)[(*asked_at, message, fault)] += 1
    recorded: Counter[Any] = Counter()
    for end in b.of("episode_end"):
        for name in ("messages", "received") if outside else ():
            count, said = spent[end["episode"], name], end.get("spent", {}).get(name)
            lacks = name == "messages" and type(said) is int and said > count
            message = f"an episode counts other {name} than the tape"
            require(same(said, count), message, "E_TAPE_MISSING" if lacks else None)
        recorded.update(
            (end["episode"], fault["t"], fault["message"], fault["reason"]) for fault in end.get("faults", ())
        )
    require(not certain - recorded, "an exchange failed, and the receipts have no agent fault for it")
    unknown: Counter[Any] = Counter()
    for (*where, reason), count in (recorded - certain).items():
        require(reason in UNSEEN, f"no exchange on the tape is the agent fault {reason!r}")
        unknown[(*where, "")] += count
    require(not unknown - objects, "the receipts have more agent faults than the tape has answers")


def fault_of(line: JSON, answers: dict[str, set[str]], seq: int) -> str:
    """The agent fault that an exchange is by itself; empty if it is none, or one that only replay can tell."""
    received, failure, size, digest = line["received"], line["failure"], line["size"], line["sha256"]
    worded = REASON.fullmatch(line["reason"]) if failure in FAILURES else failure is None and line["reason"] == ""
    data = b""
    if received is None:
        gone = type(size) is int and size > 0 and HEX64.fullmatch(digest or "")
        empty = same([size, digest], [0, None])
        formed = empty or (gone and failure not in (None, "timed_out", "died"))
        formed = formed and (failure != "too_long" or size > MIB)
    else:
        ((form, text),) = received.items()
        data = text.encode() if form == "text" else from_base64(text, f"the answer of exchange {seq}")
        is_utf8 = data.decode(errors="replace").encode() == data
        formed = form == ("text" if is_utf8 else "base64") and same([size, digest], [len(data), sha256(data)])
        formed = formed and 0 < size <= MIB and failure in (None, "raised", "not_json")
    require(worded and formed, f"the answer of exchange {seq} has another form, size or hash")
    if failure or not data:
        return str(failure or "no_answer")
    try:
        body = load(data, float)
    except (Finding, ValueError, RecursionError):
        return "not_json"
    if not isinstance(body, dict):
        return "wrong_form"
    typed = body.get("type") in answers[line["message"]]
    return "wrong_type" if not typed else "" if type(body.get("id")) is int else "wrong_id"


ENTRY_KEYS = {"entry_id", "timestamp_ms", "event", "prev_entry_hash", "entry_hash", "proposal_hash", "trace_hash"}
ENTRY_KEYS |= {"kernel_decision", "witnesses", "capability_tokens"}


def entry_hash(entry: JSON) -> str:
    """The hash of an audit entry: plain SHA-256 of all other fields."""
    return sha256(canonical({name: value for name, value in entry.items() if name != "entry_hash"}))


@check(10, "E_AUDIT_LINE", lambda b: b.entries or AUDIT_LOG in b.listed)
def check_audit_log(b: Bundle) -> str:
    """The audit log is valid and ends with the entries of the run."""
    require(AUDIT_LOG in b.listed, "the receipts have audit entries, and there is no audit log", "E_AUDIT_DIFFERS")
    count, head, tokens = read_audit_log(b.folder / AUDIT_LOG)
    ends = not b.entries or (b.entries <= count and head == b.entry_head)  # a hash is also over the one before
    require(ends, "the audit log does not end with the entries of the run", "E_AUDIT_DIFFERS")
    return of_what({"entries": b.entries, "tokens": tokens})


def read_audit_log(path: Path) -> tuple[int, str, int]:
    """How many entries an audit log has, the hash of the last, and how many tokens it issued; all of it is checked."""
    number, head, tokens = 0, ZEROS, 0
    for number, line in enumerate(read_lines(path, MAX_ENTRY, "E_AUDIT_TORN"), 1):
        entry = parse(line, f"line {number} of the audit log")
        shape(entry, ENTRY_KEYS, f"line {number} of the audit log")
        wanted = {"prev_entry_hash": head, "entry_hash": entry_hash(entry)}
        agree(entry, wanted, f"line {number} of the audit log", "E_AUDIT_CHAIN")
        head = entry["entry_hash"]
        for token in entry["capability_tokens"] if entry["event"] == "CAPABILITY_ISSUED" else ():
            bound: JSON = {"proposal_hash": entry["proposal_hash"], "trace_hash": entry["trace_hash"]}
            bound["scope_hash"] = sha256(canonical(token["scope"]))
            issued, expires = entry["timestamp_ms"], entry["timestamp_ms"] + token["scope"]["expiry_ms"]
            wanted = {"binding": bound, "issued_at_ms": issued, "expires_at_ms": expires}
            agree(token, wanted, f"a token on line {number}", "E_AUDIT_TOKEN")
            tokens += 1
    require(number, "the audit log is empty", "E_AUDIT_NO_LOG")
    return number, head, tokens


# -------------------- Checks 10 to 13 of laws: a verdict on a law fits itself, its digest and the specs
# Whether a law that was not refuted is true is NOT decided here, whatever method the verdict names.


@check(10, "E_VERDICT", lambda b: b.kind in ("law", "discovery"))
def check_verdicts(b: Bundle) -> None:
    """Verdicts on laws are consistent with themselves, their digests and the specs."""
    statuses = check_law(b) if b.kind == "law" else check_discovery(b)
    left = [f"{law} {status}" for law, status in statuses.items() if status != "FAIL"]
    more = f" and {len(left) - 5} more" if len(left) > 5 else ""
    b.not_checked += [f"not decided here, only recorded: {', '.join(left[:5])}{more}"] if left else []


def check_verdict(verdict: JSON, digest: JSON, about: JSON) -> None:
    """A verdict has its own digest and is about this law; its status goes with its reason and its grounds."""
    status, power = verdict["status"], verdict["power"]
    agree({**verdict, "digest": digest}, {**about, "digest": tagged("law-verdict", canonical(verdict))}, "a verdict")
    require(status in ("PROVED", "PASS", "FAIL", "UNKNOWN"), f"the status {status!r} is unknown")
    require((status == "UNKNOWN") == (verdict["reason"] is not None), f"{status} does not go with its reason")
    proved = verdict["certificate"] is not None
    require(status != "FAIL" or not proved, "FAIL has a certificate that the law holds")
    require(status != "PROVED" or (proved and verdict["method"] == "proof"), "PROVED has no certificate")
    met = proved or (isinstance(power, dict) and power["usable"] and power["hits"])
    require(status != "PASS" or met, "PASS rests on no case that met the law's conditions")


def check_law(b: Bundle) -> dict[str, str]:
    """The verdict is about the law of the specs, and the end agrees with it; its status."""
    law, (body,), (end,) = b.root, b.of("verdict"), b.of("end")
    verdict, expected = body["verdict"], body["expected"]
    about = {"law": law["name"], "key": b.key, "universe": law["universe"], "forbidden": law["forbidden"]}
    check_verdict(verdict, body["digest"], {**about, "template": b.specs[law["template"]]["name"]})
    agree(body, {"expected": law.get("expect")}, "the verdict")
    met = None if expected is None else all(same(verdict[name], value) for name, value in expected.items())
    agree(end, {"status": verdict["status"], "met": met}, "the end")
    return {verdict["law"]: verdict["status"]}


def check_discovery(b: Bundle) -> dict[str, str]:
    """Each verdict fits itself and its law; counts and what was found are as recorded; the statuses of laws."""
    statuses: dict[str, str] = {}
    documents: dict[str, JSON] = {}
    iteration, number = -1, 0
    for type_, body in b.bodies:
        if type_ == "iteration":
            iteration, number = iteration + 1, 0
            agree(body, {"iteration": iteration}, "an iteration", "E_ENDS")
        if type_ not in ("law", "escalation"):
            continue
        law, document, verdict = body["law"], body["document"], body["verdict"]
        if type_ == "law":
            agree(body, {"iteration": iteration, "number": number}, f"the proposal of {law}", "E_ENDS")
            number += 1
            documents.setdefault(law, document)
        else:
            agree(body, {"document": documents[law], "before": statuses[law]}, f"the escalation of {law}")
        require((verdict is None) != (body["error"] is None), f"{law} has a verdict and an error, or neither")
        require(verdict is not None or body["digest"] is None, f"{law} has a digest and no verdict")
        if verdict is not None:
            about = {name: document[name] for name in ("template", "forbidden")}
            check_verdict(verdict, body["digest"], {**about, "universe": b.root["universe"]})
        if body.get("late") is None:
            statuses[law] = "ERROR" if verdict is None else verdict["status"]
    for expected in b.of("expected"):
        status = expected["status"] if expected["found"] is None else statuses.get(expected["found"])
        agree(expected, {"status": status}, f"the expected law {expected['law']}")
    (end,), (stop,) = b.of("end"), b.of("stop")
    names = ("iterations", "evaluations", "late", "laws", "escalations", "tokens")
    agree(end, {name: b.result[name] for name in names}, "the end", "E_ENDS")
    agree(stop, {"iterations": iteration + 1}, "the stop", "E_ENDS")
    return statuses


@check(12, "E_COUNTEREXAMPLE", lambda b: b.kind in ("law", "discovery"))
def check_counterexamples(b: Bundle) -> None:
    """Counterexamples are evolved again where a rule is data, and consistent where it is an expression."""
    seen: dict[tuple[str, JSON], dict[str, str]] = {}
    outcomes: Counter[str] = Counter()
    for body in b.of("verdict", "law", "escalation"):
        verdicts = [] if body["verdict"] is None else [{**body["verdict"], "mutant": None}]
        for judged in (*verdicts, *body.get("held_out", ())):
            recorded, key, mutant = judged["counterexample"], judged["universe"], judged["mutant"]
            goes = (judged["status"] == "FAIL") == (recorded is not None)
            require(goes, "a status does not go with its counterexample", "E_VERDICT")
            if recorded is not None:
                outcomes[evolve(b.specs[key], mutant, recorded, seen.setdefault((key, mutant), {}))] += 1
    if not outcomes:
        raise nothing_to_check("no verdict has a counterexample")
    outcomes.pop("evolved", None)
    for why, count in outcomes.items():
        b.not_checked.append(f"of {count} counterexamples: that they follow their universe's rule ({why})")
    if seen:
        b.not_checked.append("of every counterexample: that it violates what its law claims (an expression)")


def evolve(universe: JSON, mutant: JSON, recorded: JSON, seen: dict[str, str]) -> str:
    """Evolve a counterexample again; says `evolved`, or why its universe's rule was not followed.

    Where the rule is an expression, only this is checked: the same window always leads to the same symbol, also in
    earlier counterexamples (`seen`). `mutant` is the number of a changed rule, or None.
    """
    marks, ring, start, t = universe["alphabet"], universe["ring"], recorded["start"], recorded["t"]
    begin, states, radius = recorded["excerpt"]["from"], recorded["excerpt"]["states"], universe.get("radius", 1)
    shaped = type(t) is int and type(begin) is int and isinstance(states, list) and isinstance(start, str)
    require(shaped and 0 <= begin <= t < begin + len(states), "its excerpt does not show the step")
    rings = all(
        isinstance(state, str) and len(state) == len(start) and set(state) <= set(marks) for state in (start, *states)
    )
    require(rings and ring["min"] <= len(start) <= ring["max"], "its rings are not those of the universe")
    require(begin > 0 or states[0] == start, "its excerpt does not begin with its start")
    bounded = radius in (1, 2, 3) and len(marks) ** (2 * radius + 1) <= MAX_WINDOWS
    require(bounded, "its universe has a rule of too many windows")
    rule = rule_of(universe, radius, mutant)
    if rule is None:
        for state, later in zip(states, states[1:]):
            for window, symbol in zip(windows_of(state, radius), later):
                known = seen.setdefault(window, symbol)
                require(known == symbol, f"{window} becomes both {known} and {symbol}")
        return "an expression"
    if (begin + len(states)) * len(start) > MAX_CELLS:
        return "too many cells"
    state = start
    for step in range(begin + len(states)):
        if step >= begin:
            require(states[step - begin] == state, f"step {step} is {state}, recorded is {states[step - begin]}")
        state = "".join(rule[window] for window in windows_of(state, radius))
    return "evolved"


def rule_of(universe: JSON, radius: int, mutant: JSON) -> dict[str, str] | None:
    """The rule of a universe that gives it as a number or a table, or a mutant of it; None if it is an expression.

    A rule gives the next symbol by the window: the symbols of a cell and its neighbours, from the left. The number of
    a mutant counts the windows in the order of the alphabet, and for each the other symbols.
    """
    marks, transition = universe["alphabet"], universe["transition"]
    windows = ["".join(window) for window in itertools.product(marks, repeat=2 * radius + 1)]
    if "number" in transition:
        rule = {window: marks[transition["number"] >> code & 1] for code, window in enumerate(windows)}
    elif "table" in transition:
        rule = dict(transition["table"])
    else:
        return None
    if mutant is not None:
        window, other = windows[mutant // (len(marks) - 1)], mutant % (len(marks) - 1)
        rule[window] = marks[other + (other >= marks.index(rule[window]))]
    return rule


def windows_of(state: str, radius: int) -> Iterator[str]:
    """Of each cell the symbols of it and of its neighbours within a radius, from the left, around the ring."""
    size = len(state)
    return ("".join(state[(i + k) % size] for k in range(-radius, radius + 1)) for i in range(size))


@check(13, "E_DISCOVERY_LEDGER", lambda b: b.kind == "discovery")
def check_ledger(b: Bundle) -> None:
    """The ledger holds every refuted law with its counterexample.

    They are in the order in which they were proposed.
    """
    lines: dict[str, JSON] = {}
    proposed: dict[str, int] = {}  # the iteration by law
    for body in b.of("law", "escalation"):
        law, verdict = body["law"], body["verdict"]
        if body.get("late") is not None:
            continue
        proposed.setdefault(law, body.get("iteration", 0))
        if verdict is None:
            continue
        lines.pop(law, None)
        if verdict["counterexample"] is not None:
            start, t = verdict["counterexample"]["start"], verdict["counterexample"]["t"]
            line = {"law": law, "claim": verdict["claim"], "iteration": proposed[law]}
            lines[law] = {**line, "start": start, "t": t, "cells": len(start)}
    expected = [lines[law] for law in proposed if law in lines]
    recorded = [line for body in b.of("ledger") for line in body["refuted"]]
    require(same(recorded, expected), "the ledger is not what the verdicts lead to")


# -------------------- Checks 15 and 16: the runs of a suite, and what the suite's receipts say of them


@check(10, "E_RUNS", lambda b: b.kind == "suite")
def check_runs(b: Bundle) -> None:
    """Every run passes these checks, and the suite's receipt of it repeats its figures."""
    bodies = b.of("run")
    b.challenges = challenges_of([body["result"] for body in bodies if body["place"].startswith("runs/")])
    require(sorted(body["place"] for body in bodies) == sorted(b.runs), "the suite names other runs than it holds")
    for body in bodies:
        path = body["place"]
        inner = Bundle(b.folder / path, inner=True)
        last = make_all(inner)[-1]
        require(last.status != "failed", f"{path}: {last.message} [{last.code}]")
        wanted = {name: inner.manifest[name] for name in ("specs", "receipts", "result")}
        wanted.update(scenario=inner.root["name"], seed=inner.root.get("seed", 0), run=path.rpartition("/")[2])
        agree(body, wanted, f"the receipt of {path}")
        b.not_checked += [line for line in inner.not_checked if line not in b.not_checked]
        b.logs, b.recordings = sorted({*b.logs, *inner.logs}), sorted({*b.recordings, *inner.recordings})
        b.by_run.update({path[5:]: inner.recordings[0]} if inner.recordings and path.startswith("runs/") else {})
        b.programs = in_order([*b.programs, *inner.programs])
        b.kept += kept_verdicts(inner)


SUITE_FIELDS = {
    "start": ("suite", "specs", "runs", "figures", "checks", "mutants", "allowed"),
    "run": ("place", "run", "arm", "scenario", "seed", "specs", "receipts", "result", "replay"),
    "figure": ("figure", "statistic", "clusters", "groups", "error"),
    "check": ("check", "verdict", "opportunities", "least", "witness", "error"),
    "mutant": ("mutant", "suite", "caught", "verdict", "control", "mutated"),
}


@check(11, "E_ASSESSMENT", lambda b: b.kind == "suite")
def check_assessment(b: Bundle) -> None:
    """Figures, checks and mutants agree with one another and with the runs, where no expression decides."""
    first, runs = b.first, b.of("run")
    for type_, fields in SUITE_FIELDS.items():
        for body in b.of(type_):
            shape(body, fields, f"a receipt of the type {type_!r}")
    for body in runs:
        arm = str(body["arm"])
        place = body["place"].rpartition("/")[2]
        known = {arm, arm.partition(".")[0]} & b.root.get("runs", {}).keys() and place.startswith(f"{arm}.")
        require(known or not body["place"].startswith("runs/"), f"{place} is no run of the arm {arm!r:.40}")
        shape(body["replay"], ("intact", "exact", "noticed", "compared"), f"the replay of {place}")
    names = {f"{type_}s": [body[type_] for body in b.of(type_)] for type_ in ("figure", "check", "mutant")}
    agree(first, names, "the first receipt")
    counts = {"runs": len(runs), "checks": len(names["checks"]), "mutants": len(names["mutants"])}
    require(same(b.bodies[-1][1], counts), "the end counts other runs, checks or mutants")
    own = [body for body in runs if body["place"].startswith("runs/")]
    require(own == runs[: first["runs"]], "the suite counts other runs as its own")
    for figure in b.of("figure"):
        check_figure(b.root["figures"][figure["figure"]], figure, own)
    for check in b.of("check"):
        formed = isinstance(check["witness"], dict) and type(check["opportunities"]) is int
        require(formed, f"{check['check']} has a witness or opportunities of another form")
        verdict, errs = check["verdict"], check["error"] is not None
        known = verdict in ("PASS", "FAIL", "INCONCLUSIVE", "ERROR") and (verdict == "ERROR") == errs
        require(known, f"{check['check']} is {verdict!r}, which does not go with its error")
        few = check["opportunities"] < check["least"]
        require(verdict != "PASS" or not few, f"{check['check']} passed with too few opportunities")
    least = {check["id"]: check.get("least", 1) for check in b.root.get("checks", ())}
    require(
        same({check["check"]: check["least"] for check in b.of("check")}, least), "a check needs other opportunities"
    )
    controlled = any(run["place"].startswith("controls/") for run in runs)
    suites = {spec["name"] for spec in b.specs.values() if spec["spec"] == "suite/v1"}
    for mutant, spec in zip(b.of("mutant"), b.root.get("mutants", ())):
        require(mutant["suite"] in suites, f"the mutant {mutant['mutant']} is of no suite of the specs")
        own_control = mutant["suite"] == b.root["name"] and not {"arms", "scenarios", "under"} & spec.keys()
        check_mutant(mutant, b.result["checks"] if own_control and not controlled else None)


def check_figure(spec: JSON, figure: JSON, runs: list[JSON]) -> None:
    """A rate, effect, mean or difference is its sum divided by its number; a rate of `success` is that of the runs."""
    name, statistic = figure["figure"], figure["statistic"]
    require(statistic in spec, f"{name} is not the statistic of its spec")
    require(isinstance(figure["groups"], list), f"the groups of {name} are no list")
    require(figure["error"] is None or not figure["groups"], f"{name} has an error and values")
    kept = figure["clusters"] in ("scenario", "seed", "run")
    require(kept, f"what makes episodes of {name} alike is no such thing")
    for group in figure["groups"] if statistic in ("rate", "effect", "mean", "difference") else ():
        of, total = group["of"], group["count" if statistic in ("rate", "effect") else "sum"]
        require(statistic not in ("rate", "effect") or 0 <= total <= of, f"{name} counts more than there is")
        if statistic == "effect":
            require(0 <= group["against"] <= of, f"the other rate of {name} counts more than there is")
            total -= group["against"]
        value = rounded(total * 1_000_000, of) if of else None
        require(same(group.get("value"), value), f"the value of {name} does not follow from its sum")
        if statistic == "rate" and spec["rate"] == "success" and "decided" not in spec:
            over, by = spec.get("over"), spec.get("by")
            arms = [over] if isinstance(over, str) else over  # an arm with `cases` means all of them
            named = [run for run in runs for arm in arms or () if f"{run['arm']}.".startswith(f"{arm}.")]
            chosen = runs if arms is None else named
            chosen = [run["result"] for run in chosen if by is None or str(run[by]) == group["name"]]
            episodes, successes = (sum(run[key] for run in chosen) for key in ("episodes", "successes"))
            require((of, total) == (episodes, successes), f"{name} counts other successes than the runs have")


def check_mutant(mutant: JSON, checks: JSON) -> None:
    """A mutant is caught by the checks that fail with it and pass without it; `checks` are those of its control."""
    control, mutated = mutant["control"], mutant["mutated"]
    caught = sorted(name for name in mutated if mutated[name] == "FAIL" and control[name] == "PASS")
    verdict = "PASS" if caught else "ERROR" if "ERROR" in (*mutated.values(), *control.values()) else "FAIL"
    agree(mutant, {"caught": caught, "verdict": verdict}, f"the mutant {mutant['mutant']}")
    shape(control, mutated, "the control of a mutant")
    require(checks is None or same(control, checks), "the control of a mutant has other verdicts than the suite")


# -------------------- Check 14: detached files refer to this manifest (docs/signing.md)


class Note(NamedTuple):
    """A checkpoint: a signed note (C2SP signed-note, tlog-checkpoint)."""

    origin: str
    size: int
    root: str
    text: bytes  # what the signatures are over
    signatures: list[tuple[str, bytes]]  # the name, and the key hint followed by the signature


@check(14, "E_CHECKPOINT", lambda b: CHECKPOINT in b.detached)
def check_checkpoint(b: Bundle) -> None:
    """Detached files refer to this manifest: the checkpoint states the size and the root of the receipts."""
    b.note = read_note(read_bytes(b.folder / CHECKPOINT, MAX_NOTE))
    agree(b.note._asdict(), {"size": b.tree.size, "root": b.tree.root}, "the checkpoint")


@check(14, "E_ENVELOPE", lambda b: ATTESTATION in b.detached)
def check_envelopes(b: Bundle) -> None:
    """Detached files refer to this manifest: both envelopes hold the in-toto statements that follow from it."""
    data, result = read_bytes(b.folder / MANIFEST, MIB + 1), b.manifest["result"]
    passed = "WARNED" if result["verdict"] == "INCONCLUSIVE" or result.get("warnings") else "PASSED"
    passed = "FAILED" if result["verdict"] in ("FAIL", "ERROR") else passed
    specs = next(entry["sha256"] for entry in b.manifest["files"] if entry["path"] == SPECS)
    judged = [(SPECS, specs), *((TRAJECTORIES, digest) for digest in b.logs)]
    configuration = [{"digest": {"sha256": digest}, "name": name} for name, digest in judged]
    tested = {"configuration": configuration, "result": passed}
    form = {"canonicalization": "RFC8785", "digestAlgorithm": "sha256", "digestSource": "canonical-json"}
    test_result = "https://in-toto.io/attestation/test-result/v0.1"
    oscal = "https://oscal-compass.github.io/compliance-trestle/predicates/oscal-signing/v1"
    b.envelopes.append(read_envelope(b.folder / ATTESTATION, statement(test_result, data, tested)))
    signed = statement(oscal, data[:-1], {**form, "tool": "specledger"})
    b.envelopes.append(read_envelope(b.folder / PROVENANCE, signed))


def statement(predicate_type: str, subject: bytes, predicate: JSON) -> bytes:
    """An in-toto statement about the manifest, in canonical JSON."""
    about = [{"digest": {"sha256": sha256(subject)}, "name": MANIFEST}]
    statement = {"_type": "https://in-toto.io/Statement/v1", "subject": about}
    return canonical({**statement, "predicateType": predicate_type, "predicate": predicate})


def read_envelope(path: Path, payload: bytes) -> tuple[bytes, JSON]:
    """What the signatures of a DSSE envelope around exactly this payload are over, and by ids of keys what they are."""
    media, envelope = "application/vnd.in-toto+json", read_document(path, MIB)
    shape(envelope, ("payload", "payloadType", "signatures"), path.name)
    agree(envelope, {"payloadType": media, "payload": base64.b64encode(payload).decode()}, path.name)
    signatures = {}
    for signature in envelope["signatures"]:
        shape(signature, ("keyid", "sig"), "a signature")
        signatures[signature["keyid"]] = raw = from_base64(signature["sig"], "a signature")
        require(HEX64.fullmatch(signature["keyid"]) and len(raw) == 64, "a signature is malformed")
    keys = [signature["keyid"] for signature in envelope["signatures"]]
    require(1 <= len(keys) <= 16 and keys == sorted(signatures), f"{path.name} needs 1 to 16 sorted signatures")
    return b"DSSEv1 %d %b %d %b" % (len(media), media.encode(), len(payload), payload), signatures


def read_note(data: bytes) -> Note:
    """A checkpoint: origin, size and root on three lines, an empty line, and a line for each signature."""
    lines = data.decode().split("\n")
    formed = len(lines) >= 6 and not lines[3] and not lines[-1] and ORIGIN_NAME.fullmatch(lines[0])
    require(formed, "a checkpoint has an origin, a size, a root, an empty line and signatures")
    sized = re.fullmatch(r"0|[1-9][0-9]{0,15}", lines[1]) and int(lines[1]) <= MAX_INTEGER
    root = from_base64(lines[2], "the root")
    require(sized and len(root) == 32, "the size or the root is malformed")
    signatures = []
    for line in lines[4:-1]:
        dash, name, text = line.split(" ")
        raw = from_base64(text, "a signature")
        shaped = dash == "\u2014" and ORIGIN_NAME.fullmatch(name) and len(raw) > 4
        require(shaped, "a signature line is malformed")
        signatures.append((name, raw))
    by_key = {(name, raw[:4]) for name, raw in signatures}
    require(len(by_key) == len(signatures) <= 16, "a key signed twice, or more than 16 keys signed")
    return Note(lines[0], int(lines[1]), root.hex(), "\n".join([*lines[:3], ""]).encode(), signatures)


@check(14, "E_DIGESTS", lambda b: SUMS in b.detached or GUIDE in b.detached)
def check_sums(b: Bundle) -> None:
    """Detached files refer to this manifest: the list of digests has those of the files, and the guide its digests."""
    if GUIDE in b.detached:
        named = set(HEX64.findall(read_bytes(b.folder / GUIDE, MIB).decode(errors="replace")))
        known = {file_sha256(b.folder / MANIFEST), *HEX64.findall(json.dumps(b.manifest)), *b.recordings}
        require(named <= known, f"{GUIDE} names a digest that is not in the manifest")
    if SUMS not in b.detached:
        return
    digests = sorted((path, file_sha256(b.folder / path)) for path in walk(b.folder) - {SUMS})
    wanted = "".join(f"{digest}  {path}\n" for path, digest in digests)
    require(read_bytes(b.folder / SUMS, 64 * MIB) == wanted.encode(), f"{SUMS} has other digests than the files")


# -------------------- Checks 15 to 19: what the reader brings: a trust file, a checkpoint, a run log


WEAK = {
    0,
    1,
    2**255 - 20,
    0x05FC536D880238B13933C6D305ACDFD5F098EFF289F4C345B027B2C28F95E826,
    0x7A03AC9277FDC74EC6CC392CFA53202A0F67100D760B3CBA4FD84D3D706A17C7,
}  # the y of the points of Ed25519 (RFC 8032, 5.1) of small order, for which anybody can make signatures


def read_trust(path: Path) -> JSON:
    """A trust file: whom the reader trusts, and what the reader expects."""
    with path.open("rb") as file:  # a pipe, too
        data = file.read(MIB + 1)
    require(len(data) <= MIB, f"it has more than {MIB} bytes")
    require(not data.startswith(b"-----BEGIN "), "it is a key; `spec keys show KEY --trust` prints a trust file for it")
    trust = load(data)
    optional = trust.keys() & {"run", "specs", "recording", "program", "checkpoint"}
    shape(trust, {"format", "origin", "keys", "threshold"} | optional, "it")
    agree(trust, {"format": "specledger/trust/v1"}, "it")
    origin = trust["origin"].replace("{run}", ZEROS[:32])
    require(ORIGIN_NAME.fullmatch(origin) and not {*"{}"} & {*origin}, "its origin is malformed")
    for key in trust["keys"]:
        shape(key, ("id", "public"), "a key")
        raw = from_base64(key["public"], "a key")
        require(len(raw) == 32 and key["id"] == sha256(raw), "a key has another id")
        height = (int.from_bytes(raw, "little") & (2**255 - 1)) % (2**255 - 19)
        require(height not in WEAK, "in the name of a key anybody can sign")
    ids = {key["id"] for key in trust["keys"]}
    require(1 <= len(ids) == len(trust["keys"]) <= 16, "it needs 1 to 16 keys")
    require(type(trust["threshold"]) is int and 1 <= trust["threshold"] <= len(ids), "its threshold is wrong")
    seen = trust.get("checkpoint", {"size": 0, "root": ZEROS})
    shape(seen, ("size", "root"), "its checkpoint")
    require(type(seen["size"]) is int and 0 <= seen["size"] <= MAX_INTEGER, "its checkpoint is malformed")
    digests = HEX32.fullmatch(trust.get("run", ZEROS[:32])) and HEX64.fullmatch(trust.get("specs", ZEROS))
    logs = [*trust["recording"].values()] if names_runs(trust) else several(trust, "recording")
    require(logs or "recording" not in trust, "its recording is empty")
    formed = [HEX64.fullmatch(digest) for digest in (seen["root"], *logs)]
    require(digests and all(formed), "a digest in it is malformed")
    check_expected_programs(several(trust, "program"))
    require(names_runs(trust) or len(logs) == len(set(logs)), "a recording stands there twice")
    return trust


def names_runs(trust: JSON) -> bool:
    """Whether a trust file names recordings by runs of a suite."""
    return isinstance(trust.get("recording"), dict)


def several(trust: JSON, name: str) -> list[JSON]:
    """What a trust file names, one or a list; nothing where it names none."""
    named = trust.get(name, [])
    require(named or name not in trust, f"its {name} is empty")
    return named if isinstance(named, list) else [named]


def check_expected_programs(programs: list[JSON]) -> None:
    """Each has a command or the name of a function, and the digests of files by their paths."""
    for program in programs:
        way = "command" if "command" in program else "python"
        shape(program, (way, "files"), "a program")
        words = program[way] if way == "command" else [program[way]]
        texts = isinstance(words, list) and words and {type(word) for word in words} == {str}
        require(texts and all(map(HEX64.fullmatch, program["files"].values())), "a program is malformed")
    require(len(in_order(programs)) == len(programs), "a program stands there twice")


@check(15, "E_EXPECTED", lambda b: b.trust is not None)
def check_expected(b: Bundle) -> str:
    """The evidence is the expected one: run, specs, recording, program and origin."""
    actual = {"run": b.manifest["run"], "specs": b.manifest["specs"]}
    expected = {name: b.trust[name] for name in actual if name in b.trust}
    if b.recordings or "recording" in b.trust:
        runs = names_runs(b.trust)
        judged = recording_words(b.by_run if runs else b.recordings)
        actual["recording"] = judged or f"none, since the bundle holds no {TRAJECTORIES}"
        logs = recording_words(b.trust["recording"] if runs else sorted(several(b.trust, "recording")))
        expected.update({"recording": logs} if "recording" in b.trust else {})
    if b.programs or "program" in b.trust:
        actual["program"] = ", ".join(map(program_words, b.programs)) or "none, since no program answered"
        programs = ", ".join(map(program_words, in_order(several(b.trust, "program"))))
        expected.update({"program": programs} if "program" in b.trust else {})
    if b.note is not None:
        actual["origin"] = b.note.origin
        expected["origin"] = b.trust["origin"].replace("{run}", b.manifest["run"])
    elif not expected:
        message = "the trust file names no run, specs, recording or program, and the bundle has no signed origin"
        raise not_shown(message, "E_UNSIGNED")
    for name, wanted in expected.items():
        require(actual[name] == wanted, f"the {name} is {actual[name]}, expected is {wanted}")
    free = [name for name in actual if name not in expected]
    bound = ", ".join(f"{name} {value}" for name, value in expected.items())
    loose = "recording" in b.trust and not names_runs(b.trust) and len(b.recordings) > 1
    bound += "; which run judged which recording is not compared" if loose else ""
    return f"{bound}; {' and '.join(free)} can be any, since the trust file names none" if free else bound


def recording_words(recordings: JSON) -> str:
    """Digests of recordings, by the names of runs where those are known."""
    if isinstance(recordings, dict):
        return ", ".join(f"{run} {digest}" for run, digest in sorted(recordings.items()))
    return ", ".join(recordings)


@check(16, "E_SIGNATURE", lambda b: b.trust is not None)
def check_signatures(b: Bundle) -> str:
    """Enough trusted keys signed the manifest and the checkpoint."""
    if b.note is None:
        raise not_shown("nobody signed: the bundle holds no signatures", "E_UNSIGNED")
    if not CAN_CHECK_SIGNATURES:
        raise not_shown("signatures were not checked: the package `cryptography` is not installed", None)
    for key in b.trust["keys"]:
        public = from_base64(key["public"], "a key")
        signed = [signed_by(key, b.note)]
        for text, made in b.envelopes:
            raw = made.get(key["id"])
            right = raw is None or is_signature(public, raw, text)
            require(right, f"a signature in the name of the key {key['id']} is wrong")
            signed.append(raw is not None)
        b.signers += [key["id"]] if all(signed) else []
    b.signers.sort()
    if len(b.signers) < b.trust["threshold"]:
        message = f"{len(b.signers)} trusted keys signed everything, the threshold is {b.trust['threshold']}"
        raise not_shown(f"{message}; {signer_words(b)}", "E_UNTRUSTED")
    return f"signed by {', '.join(b.signers)} in the name {b.note.origin}"


def signed_by(key: JSON, note: Note) -> bool:
    """Whether a key signed a checkpoint; a wrong signature in its name refutes."""
    public = from_base64(key["public"], "a key")
    hint = hashlib.sha256(note.origin.encode() + b"\n\x01" + public).digest()[:4]
    own = next((raw[4:] for name, raw in note.signatures if (name, raw[:4]) == (note.origin, hint)), None)
    right = own is None or is_signature(public, own, note.text)
    require(right, f"the checkpoint has a wrong signature in the name of the key {key['id']}", "E_SIGNATURE")
    return own is not None


def is_signature(public: bytes, signature: bytes, message: bytes) -> bool:
    """Whether a signature is that of an Ed25519 key over a message."""
    try:
        Ed25519PublicKey.from_public_bytes(public).verify(signature, message)
    except (InvalidSignature, ValueError):
        return False
    return True


def seen_heads(b: Bundle) -> list[JSON]:
    """The heads that the reader saw."""
    heads = [b.trust["checkpoint"]] if "checkpoint" in (b.trust or ()) else []
    return heads if b.seen is None else [*heads, b.seen._asdict()]


@check(18, "E_FORK", lambda b: b.seen is not None or "checkpoint" in (b.trust or ()))
def check_against(b: Bundle) -> None:
    """The log extends the checkpoint that was seen before."""
    for head in seen_heads(b):
        if b.note is not None and head.get("origin", b.note.origin) != b.note.origin:
            raise not_shown(f"the checkpoint is of another log: {head['origin']!r}", "E_OTHER_LOG")
        message = f"Seen: {head['size']}, root {head['root']}; here: {b.tree.size}, root {b.tree.root}"
        require(head["size"] <= b.tree.size, f"the log was longer before. {message}", "E_ROLLBACK")
        extends = b.roots[head["size"]] == head["root"]
        require(extends, f"the log does not extend the checkpoint that was seen. {message}")
    if b.seen is not None and b.trust is not None:
        if not CAN_CHECK_SIGNATURES:
            raise not_shown("signatures were not checked: the package `cryptography` is not installed", None)
        for key in b.trust["keys"]:
            signed_by(key, b.seen)


def read_run_log(path: Path) -> list[tuple[JSON, JSON]]:
    """Each result in a run log whose lines are one chain, with its attempt; a torn last line was never written."""
    prev = ZEROS
    attempts: dict[int, JSON] = {}
    results: dict[int, JSON] = {}
    *lines, _ = read_bytes(path, 64 * MIB).split(b"\n")
    for seq, line in enumerate(lines):
        entry = parse(line, f"line {seq}")
        shape(entry, ("body", "prev", "seq", "type"), f"line {seq}")
        agree(entry, {"seq": seq, "prev": prev}, f"line {seq}")
        prev, type_, body = tagged("runlog", line), entry["type"], entry["body"]
        require((type_ == "log") == (seq == 0), f"line {seq} is out of place")
        if type_ == "log":
            shape(body, ("format",), "the first line")
            agree(body, {"format": "specledger/runlog/v1"}, "the first line")
        elif type_ == "attempt":
            shape(body, ("kind", "name", "specs", "run", "seeds", "purpose"), f"line {seq}")
            attempts[seq] = body
        else:
            require(type_ == "result", f"line {seq} is of an unknown type")
            shape(body, ("attempt", "manifest", "receipts", "verdict"), f"line {seq}")
            number = body["attempt"]
            require(number in attempts and number not in results, f"line {seq} is the result of no attempt")
            results[number] = body
    require(lines, "the run log is empty")
    return [(attempts[number], result) for number, result in results.items()]


@check(19, "E_RUNLOG", lambda b: b.run_log is not None)
def check_run_log(b: Bundle) -> None:
    """The run log announced this run before it recorded this result."""
    code, digest = "E_RUNLOG_UNLISTED", sha256(canonical(b.manifest) + b"\n")
    found = [pair for pair in read_run_log(Path(str(b.run_log))) if pair[1]["manifest"] == digest]
    require(found, f"the run log has no result with the manifest {digest}", code)
    attempt, result = found[0]
    announced = {"specs": b.manifest["specs"], "run": b.manifest["run"], "kind": b.kind}
    agree(attempt, announced, "the attempt in the run log", code)
    entered = {"receipts": b.manifest["receipts"], "verdict": b.manifest["result"]["verdict"]}
    agree(result, entered, "the result in the run log", code)


def note_open(b: Bundle) -> None:
    """Note what no check of this file covers."""
    sources = any(map(SOURCE_PATH.fullmatch, b.listed))
    taped = TAPE in b.listed and b.kind == "scenario"
    logs, expected = bool(b.recordings), "recording" in (b.trust or ())
    open_points = {
        "replay: that the specs lead to these receipts (L4; use `spec verify`)": True,
        f"agent faults {', '.join(UNSEEN)}; which messages the run asks (L4; `spec verify`)": taped,
        "which program answered: at most some of its files are named on the tape, and not what they import": taped,
        f"whether what {TRAJECTORIES} records happened; what rules say of it (`spec verify` judges again)": logs,
        "what the logs were called: `recording` covers no names of files": logs,
        "which logs these are: compare `recording` with what `spec import LOGS` prints": logs and not expected,
        "what measures are of the episodes: figures are sums of what is recorded (`spec verify`)": b.kind == "suite",
        "whether the specs are valid: types, references, limits (`spec check`, `spec verify`)": True,
        "expressions: gates, invariants, probes, `success`, checks (L5; `spec verify --judge`)": True,
        "that the documents in specs/ resolve to specs.json": sources,
        "which documents specs.json was resolved from: there are none": not sources,
        "the time stamp (L2; use openssl, or `spec verify --tsa`)": TIMESTAMP in b.detached,
        f"the words of {GUIDE} around its digests": GUIDE in b.detached,
        "who signed the bundle (L1; no trust file was given)": b.note is not None and b.trust is None,
    }
    b.not_checked += kept_words(b)
    b.not_checked += [text for text, is_open in open_points.items() if is_open]
    absent = [name for name in (SUMS, GUIDE) if name not in b.detached]
    b.not_checked += [f"{name}: every bundle is written with it, and it is not there" for name in absent]


LEVELS: dict[str, set[int] | None] = {"L0": set(), "L1": {15, 16}, "L2": None, "L3": {18}, "L4": None, "L5": None}
"""The checks that each level needs beside all that are made; None where this file cannot give it."""


def verify_bundle(bundle: Bundle, levels: Iterable[str] = ()) -> list[Check]:
    """Make all checks of a bundle, and note which levels that were demanded are not reached."""
    checks = make_all(bundle)
    if checks[-1].status != "failed":
        note_open(bundle)
        note_levels(checks, levels)
    return checks


def note_levels(checks: list[Check], levels: Iterable[str]) -> None:
    """Note which levels that were demanded are not reached; what the reader brings is checked beside them."""
    passed = {check.number for check in checks if check.status == "passed"}
    for level in sorted(set(levels)):
        needed = LEVELS[level]
        if needed is None or not needed <= passed:
            checks.append(Check(0, f"level {level} was demanded", "not shown", None, "it is not reached here"))


# -------------------- The command


def verify(place: Path, bundle: Bundle, levels: Iterable[str] = ()) -> list[Check]:
    """Verify whatever is at a place: a bundle, or a log alone.

    Raises:
        NoEvidence: There is no bundle and no log.
    """
    begins = b""
    if place.is_file():
        with place.open("rb") as file:
            begins = file.read(1 << 16)
    if b"specledger/runlog/v1" in begins.partition(b"\n")[0]:
        bundle.not_checked.append("the bundles that the run log names; that this is the only log")
        checks = verify_file(bundle, 19, "E_RUNLOG", "the run log is one chain", lambda _: run_log_words(place))
        return with_levels(checks, bundle, levels)
    if b'"prev_entry_hash"' in begins:
        bundle.not_checked.append("whether decisions were right; that nothing was cut off at the end")
        checks = verify_file(bundle, 10, "E_AUDIT_LINE", "the audit log is one chain", lambda _: audit_words(place))
        return with_levels(checks, bundle, levels)
    if not any((place / name).exists() for name in (MANIFEST, RECEIPTS, SPECS)):
        raise NoEvidence(f"there is no bundle and no log at {place}", "E_NO_EVIDENCE")
    bundle.folder = place
    return verify_bundle(bundle, levels)


def audit_words(path: Path) -> str:
    """What is in an audit log that was checked."""
    count, _, tokens = read_audit_log(path)
    return of_what({"entries": count, "tokens": tokens})


def run_log_words(path: Path) -> str:
    """What is in a run log that was checked."""
    return of_what({"results": len(read_run_log(path))})


def verify_file(bundle: Bundle, number: int, code: str, name: str, function: Function) -> list[Check]:
    """Check one file that is not a bundle."""
    return make_all(bundle, [Rule(number, name, code, code, bool, function)])


def with_levels(checks: list[Check], bundle: Bundle, levels: Iterable[str]) -> list[Check]:
    """The checks of a log, with the levels that were asked for: a log has no signatures and no checkpoint."""
    if checks[-1].status != "failed":
        brought = {
            "L1": bundle.trust is not None,
            "L3": bundle.seen is not None or "checkpoint" in (bundle.trust or ()),
        }
        note_levels(checks, {*levels, *(level for level, is_brought in brought.items() if is_brought)})
    return checks


NOTHING_REFUTED = "nothing refuted; not replayed"
MEANING = {
    NOTHING_REFUTED: "the files agree with one another. Exit code 0 says no more: `spec verify` replays",
    "REFUTED": "a check failed: rely on nothing that is in it (exit code 1)",
    "NOT THE EXPECTED EVIDENCE": "nothing in it is found changed, but your trust file names another one (exit code 1)",
    "INCONCLUSIVE": "nothing is refuted, but something that was asked for was not shown (exit code 3)",
}
"""What verdicts say, and their exit code; REFUTED has other words where a trust file alone contradicts it."""


def verdict_of(checks: list[Check]) -> tuple[str, int]:
    """The verdict of checks and its exit code."""
    statuses = {check.status for check in checks}
    if "failed" in statuses:
        return "REFUTED", 1
    return ("INCONCLUSIVE", 3) if "not shown" in statuses else (NOTHING_REFUTED, 0)


def printable(text: str) -> str:
    """A text that may come from the evidence: printable ASCII, everything else escaped."""
    return "".join(character if " " <= character <= "~" else ascii(character)[1:-1] for character in text)


def recorded(bundle: Bundle) -> dict[str, JSON]:
    """What the manifest says of the run: its verdict, and the digests to compare with ones from elsewhere.

    Of a refuted bundle they are claims.
    """
    of = bundle.manifest
    if not isinstance(of, dict):
        return {}
    inner = {name: part if isinstance(part, dict) else {} for name, part in of.items()}
    said = {"verdict": inner.get("result", {}).get("verdict"), "run": of.get("run"), "specs": of.get("specs")}
    said["root"] = inner.get("receipts", {}).get("root")
    texts = {name: part if isinstance(part, str) and len(part) <= len(ZEROS) else None for name, part in said.items()}
    logs = {"recording": bundle.recordings} if bundle.recordings else {}
    logs |= {"recordings": bundle.by_run} if bundle.by_run else {}
    logs |= {"program": bundle.programs} if bundle.programs else {}
    logs |= {"challenges": bundle.challenges} if bundle.challenges else {}
    return {**texts, **logs, "manifest": sha256(read_bytes(bundle.folder / MANIFEST, MIB + 1))}


def kept_verdicts(bundle: Bundle) -> int:
    """How many verdicts of rules in a bundle are from before a value was withheld."""
    rules = bundle.manifest["result"].get("rules", {})
    own: int = sum(counts.get("withheld", 0) for counts in rules.values())
    return bundle.kept + own


def kept_words(bundle: Bundle) -> list[str]:
    """What is not checked of verdicts of rules from before a value was withheld; nothing where there are none."""
    number = kept_verdicts(bundle)
    words = "verdict about withheld values is" if number == 1 else "verdicts about withheld values are"
    return [f"{number} {words} as recorded; nobody can check that here"] if number else []


def signer_words(bundle: Bundle) -> str:
    """Who signed a bundle that is not refuted, in words."""
    if bundle.note is None:
        return "nobody signed: anybody can have written it"
    others = sorted(set(bundle.envelopes[0][1]) - set(bundle.signers))
    parts = [f"by your trusted {keys_named(bundle.signers)}"] if bundle.signers else []
    parts += [f"said to be by the {keys_named(others)}, not checked: it is no key that you trust"] if others else []
    return f"{'; '.join(parts)}; in the name {bundle.note.origin}"


def keys_named(ids: Iterable[str]) -> str:
    """Keys by their ids, which are SHA-256 of the keys."""
    listed = list(ids)
    return f"key{'' if len(listed) == 1 else 's'} {', '.join(listed)}"


def signed(bundle: Bundle) -> Optional[str]:
    """What was signed of a refuted bundle, in words; None where it has no attestation that can be read."""
    path = bundle.folder / ATTESTATION
    try:
        payload = base64.b64decode(load(read_bytes(path, MIB))["payload"])
        text, signatures = read_envelope(path, payload)
        statement = load(payload)
        outcome, digest = statement["predicate"]["result"], statement["subject"][0]["digest"]["sha256"]
        here = digest == sha256(read_bytes(bundle.folder / MANIFEST, MIB + 1))
        keys = [] if bundle.trust is None else bundle.trust["keys"]
        publics = {key["id"]: from_base64(key["public"], "a key") for key in keys if key["id"] in signatures}
        known = CAN_CHECK_SIGNATURES and bundle.trust is not None
        own = [id_ for id_, public in publics.items() if known and is_signature(public, signatures[id_], text)]
    except (Finding, OSError, RecursionError, *MALFORMED):
        return None
    by = f"your trusted key {', '.join(own)} signed" if own else "by no trusted key, as far as is checked here:"
    what = f"{MANIFEST} as it is here" if here else f"another {MANIFEST}, with the SHA-256 {digest!r:.80}"
    return f"{by} {what} and the outcome {outcome!r:.20}"


def render(checks: list[Check], bundle: Bundle, as_json: bool) -> str:
    """The report as text or as a JSON document."""
    verdict, _ = verdict_of(checks)
    not_checked, run = bundle.not_checked, recorded(bundle)
    seal = None
    if isinstance(bundle.manifest, dict):
        seal = signed(bundle) if verdict == "REFUTED" else signer_words(bundle)
    if as_json:
        listed = [check._asdict() for check in checks]
        report = {"verdict": verdict, "recorded": run, "checks": listed, "not_checked": not_checked}
        return json.dumps({**report, "signed": seal}, indent=2) + "\n"
    word = "claimed " if verdict == "REFUTED" else "recorded"
    shown = {**run, "program": [*map(program_words, run.get("program", []))]}
    shown["recordings"] = [f"of {name}: {digest}" for name, digest in run.get("recordings", {}).items()]
    parts = run.get("challenges", {}).items()
    shown["challenges"] = [f"of {name}: {counts['decided']} of {counts['total']} decided" for name, counts in parts]
    pairs = [(name, value) for name, said in shown.items() for value in (said if isinstance(said, list) else [said])]
    kept = kept_words(bundle) if seal is not None and verdict != "REFUTED" else []
    unexpected = {check.code for check in checks if check.status == "failed"} == {"E_EXPECTED"}
    title = "NOT THE EXPECTED EVIDENCE" if unexpected else verdict
    lines = [
        "; ".join([f"{title}: {MEANING[title]}", *kept]),
        *(f"   {word}  {name} {value}" for name, value in pairs),
    ]
    lines += [f"   signed    {seal}"] if seal else []
    for check in checks:
        reason = f" [{check.code}]" if check.code else ""
        message = f"{reason}: {check.message}" if check.message else reason
        lines.append(f"{check.number or '':>2} {check.status:9} {check.name}{message}")
    lines += ["Not checked here:", *(f"  - {line}" for line in not_checked)]
    return "".join(f"{printable(line)}\n" for line in lines)


def parse_arguments(words: list[str] | None) -> argparse.Namespace:
    """The arguments of the command line."""
    parser = argparse.ArgumentParser(
        description="Check a bundle of specledger evidence without specledger.",
        epilog="Exit code 0 means: nothing is refuted, and nothing is replayed. 1: the evidence is refuted. 2: wrong "
        "usage, or no evidence. 3: something that was asked for could not be shown (--level L4 asks for replay).",
    )
    parser.add_argument("bundle", type=Path, help="a folder, an audit log or a run log")
    parser.add_argument("--trust", type=Path, help="whom you trust: a trust.json that does not come from the bundle")
    parser.add_argument("--against", type=Path, help="a checkpoint that you saw before")
    parser.add_argument("--log", type=Path, help="the run log in which the run must be announced and entered")
    parser.add_argument("--level", action="append", choices=LEVELS, default=[], help="a level that must be reached")
    parser.add_argument("--memory", type=int, default=MOST_MEMORY, metavar="MB", help="how much memory it may take")
    parser.add_argument("--json", action="store_true", help="print a JSON document")
    return parser.parse_args(words)


def bound_memory(megabytes: int) -> None:
    """Let the system give this process no more memory than that, if it can; evidence may make it take any amount."""
    if resource is not None:
        _, most = resource.getrlimit(resource.RLIMIT_DATA)
        wanted = max(1, megabytes - CODE_MEMORY) * 1_000_000
        resource.setrlimit(resource.RLIMIT_DATA, (wanted if most < 0 else min(wanted, most), most))


def brought(path: Path | None, code: str, read: Callable[[Path], Any]) -> Any:
    """What the reader brings in a file; if it is malformed, the verification ends."""
    try:
        return None if path is None else read(path)
    except (Finding, OSError, RecursionError, ValueError) as error:
        raise NoEvidence(f"{path} is malformed: {error}", code) from None
    except MALFORMED as error:
        raise NoEvidence(f"{path} is malformed: {misformed(error)}", code) from None


def run(asked: argparse.Namespace) -> tuple[str, int]:
    """Verify what was asked for; what to print, and the exit code."""
    code, exit_code = None, 3
    try:
        bundle = Bundle(asked.bundle, run_log=asked.log)
        bundle.trust = brought(asked.trust, "E_TRUST", read_trust)
        bundle.seen = brought(asked.against, "E_AGAINST", lambda path: read_note(read_bytes(path, MAX_NOTE)))
        checks = verify(asked.bundle, bundle, asked.level)
        return render(checks, bundle, asked.json), verdict_of(checks)[1]
    except NoEvidence as nothing:
        code, message, exit_code = nothing.code, nothing.message, 2
    except MemoryError:
        code = "E_EVIDENCE_SIZE"
        message = f"it takes more than {asked.memory} megabytes of memory to check this; --memory allows more"
    except (OSError, RecursionError) as error:  # the system failed: that says nothing of the evidence
        message = f"the system failed: {type(error).__name__}: {error}"
    except Exception as error:  # a defect of this file must not look like a refutation
        message = f"this program failed: {error!r}"
    if asked.json:
        return json.dumps({"verdict": None, "code": code, "message": message}) + "\n", exit_code
    return printable(f"[{code}] {message}" if code else message) + "\n", exit_code


def main(words: list[str] | None = None) -> int:
    """Verify what a command line names, print what was found, and return the exit code."""
    asked = parse_arguments(words)
    if words is None:
        bound_memory(asked.memory)
    try:
        output, exit_code = run(asked)
        sys.stdout.write(output)
        sys.stdout.flush()
    except KeyboardInterrupt:
        return 130
    except (
        AttributeError,
        OSError,
        ValueError,
    ):  # the output is closed, or there is none: nobody could read the answer
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 - the interpreter flushes it at its end
        return 3
    return exit_code


if __name__ == "__main__":
    sys.exit(main())
