#!/usr/bin/env python3
"""Check a bundle of specledger evidence without specledger: `python3 verify.py BUNDLE`.

    python3 verify.py BUNDLE [--trust TRUST.json] [--against CHECKPOINT] [--log RUNLOG] [--level L1] [--json]

BUNDLE is a folder, a zip file, an audit log or a run log. This file needs Python 3.9 or newer and nothing else; with
the package `cryptography` it also checks Ed25519 signatures. It shares no code with the engine and is meant to be read:
the checks are numbered, each number stands at its code, and every check uses only what earlier checks established.

     1 manifest          7 specs              13 counterexamples      19 signatures
     2 files             8 first receipt      14 ledger               20 a checkpoint that the reader saw
     3 chain             9 failing cases      15 suite: runs          21 run log
     4 head and root    10 tape               16 suite: figures
     5 receipts         11 audit log          17 detached files (checkpoint, envelopes, sha256sums)
     6 result           12 verdicts on laws   18 what the reader expects

What it does not do: it does not replay a run, prove a law or evaluate an expression. It therefore cannot tell whether
gates judged correctly, whether states follow from actions, or whether a law that is recorded as PROVED, PASS or UNKNOWN
is so; nor whether an object on a tape has the right form and number (agent faults `wrong_form`, `wrong_id`), and was
asked for. Such verdicts are reported as "not decided here"; `spec verify` replays them. Every answer ends with the list
of what was not checked.

Exit codes: 0 all checks passed; 1 the evidence is refuted; 2 wrong usage, or there is no evidence; 3 nothing is
refuted, but something that was asked for could not be shown (a level, signatures), or the system failed; 130 it was
interrupted.

The formats are described in docs/evidence.md, docs/signing.md, docs/kernel.md, docs/suites.md and docs/runlog.md.
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import itertools
import json
import os
import re
import shutil
import stat
import struct
import sys
import tempfile
import zipfile
from collections import Counter, deque
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Callable, Dict, Iterable, Iterator, List, NamedTuple, NoReturn, Optional, Set, Tuple, TypeVar

try:
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    CAN_CHECK_SIGNATURES = True
except ImportError:
    CAN_CHECK_SIGNATURES = False

JSON = Any  # a parsed JSON value
Result = TypeVar("Result")

# Names of files

MANIFEST, RECEIPTS, SPECS = "manifest.json", "receipts.jsonl", "specs.json"
AUDIT_LOG, TAPE = "audit.log.jsonl", "tape.jsonl"
CHECKPOINT, ATTESTATION, PROVENANCE = "checkpoint", "attestation.dsse.json", "manifest.json.dsse.json"
TIMESTAMP, SUMS, GUIDE = "timestamp.tsr", "sha256sums", "VERIFY.md"
SIGNED_FILES = (CHECKPOINT, ATTESTATION, PROVENANCE)
DETACHED_FILES = (*SIGNED_FILES, TIMESTAMP, SUMS, GUIDE)
SOURCE_PATH = re.compile(r"specs/(origin\.json|[a-z]{1,40}/[A-Za-z0-9_][A-Za-z0-9_.-]{0,94}\.ya?ml)")
CASE_PATH = re.compile(r"counterexamples/[0-9]{8,16}\.json")
RUN_PATH = re.compile(r"(runs/[^/]+|controls/[^/]+/[^/]+|mutants/[^/]+/[^/]+)/manifest\.json")

# Limits

KIB, MIB = 1 << 10, 1 << 20
MAX_INTEGER = 2**53 - 1
MAX_DEPTH = 64
MAX_LINE = 8 * MIB  # a receipt or an answer on a tape
MAX_ENTRY = 4 * MIB  # an entry of an audit log
MAX_RUN_LOG = 64 * MIB
MAX_CASES = 100
MAX_WINDOWS = 65_536  # windows that the rule of a ring automaton tells apart
MAX_CELLS = 20_000_000  # cells of a ring automaton that are evolved for one counterexample

# Forms of values

ZEROS = "0" * 64
HEX32, HEX64 = re.compile(r"[0-9a-f]{32}"), re.compile(r"[0-9a-f]{64}")
ORIGIN_NAME = re.compile(r"[!-*,-~]{1,255}")
VERSION = re.compile(r"[0-9]{1,9}(\.[0-9]{1,9}){0,3}([-.+]?[a-z0-9]{1,20}){0,3}")
KINDS = ("scenario", "suite", "law", "discovery")
LEVELS = ("L0", "L1", "L2", "L3", "L4", "L5")
MALFORMED = (KeyError, TypeError, IndexError, AttributeError, ValueError, OverflowError)


class Finding(Exception):  # noqa: N818 - not an error of this program
    """A reason code, if there is one, and a message."""

    def __init__(self, code: Optional[str], message: str) -> None:
        super().__init__(message)
        self.code, self.message = code, message


class Refuted(Finding):
    """The evidence contradicts itself, or contradicts what the reader brings."""


class NotShown(Finding):
    """Something that was asked for cannot be shown here; nothing is refuted by that."""


class NoEvidence(Finding):
    """There is nothing to verify, or what the reader brings is malformed."""


def require(holds: object, code: str, message: str) -> None:
    """Refute the evidence unless something holds."""
    if not holds:
        raise Refuted(code, message)


# -------------------- Canonical JSON, as docs/evidence.md defines it: each value has exactly one spelling


def canonical(value: JSON) -> bytes:
    """The canonical bytes of a value: sorted keys, no white space, UTF-8."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False, sort_keys=True, separators=(",", ":")).encode()


def same(first: JSON, second: JSON) -> bool:
    """Whether two values are the same JSON; `false` is not 0."""
    return canonical(first) == canonical(second)


def is_count(value: JSON, wanted: int) -> bool:
    """Whether a value is exactly this integer; `false` is not 0."""
    return type(value) is int and value == wanted


def parse(data: bytes, code: str, what: str) -> JSON:
    """The value of a document whose bytes are canonical."""
    try:
        value = json.loads(data.decode(), object_pairs_hook=_unique_keys, parse_float=_refuse, parse_constant=_refuse)
        _check_bounds(value)
        is_same = canonical(value) == data
    except ValueError as error:  # includes UnicodeError
        raise Refuted(code, f"{what} is not canonical JSON: {str(error)[:200]}") from None
    except RecursionError:
        if data.count(b"[") + data.count(b"{") <= MAX_DEPTH:
            raise  # the system's limit, not the document, is too low
        raise Refuted(code, f"{what} is nested too deeply") from None
    require(is_same, code, f"{what} differs from its canonical form")
    return value


def _unique_keys(pairs: List[Tuple[str, JSON]]) -> Dict[str, JSON]:
    made = dict(pairs)
    if len(made) != len(pairs):
        raise ValueError("a key appears twice")
    return made


def _refuse(text: str) -> NoReturn:
    raise ValueError(f"{text[:20]} is not an integer")


def _check_bounds(value: JSON) -> None:
    """See that nesting and integers are within their limits."""
    waiting = [(value, 0)]
    while waiting:
        one, depth = waiting.pop()
        if isinstance(one, (dict, list)):
            if depth == MAX_DEPTH:
                raise ValueError(f"more than {MAX_DEPTH} nested containers")
            waiting += [(inner, depth + 1) for inner in (one.values() if isinstance(one, dict) else one)]
        elif isinstance(one, int) and not -MAX_INTEGER <= one <= MAX_INTEGER:
            raise ValueError("an integer is outside 2^53 - 1")


def read_bytes(path: Path, code: str, limit: int) -> bytes:
    """The bytes of a plain file of limited size."""
    require(path.is_file() and not path.is_symlink(), code, f"{path.name} is missing, or is not a plain file")
    with path.open("rb") as file:
        data = file.read(limit + 1)
    require(len(data) <= limit, code, f"{path.name} has more than {limit} bytes")
    return data


def read_document(path: Path, code: str, limit: int) -> JSON:
    """The value of a file that holds one canonical document and a newline."""
    data = read_bytes(path, code, limit + 1)
    require(data.endswith(b"\n"), code, f"{path.name} does not end with a newline")
    return parse(data[:-1], code, path.name)


def read_lines(path: Path, code: str, limit: int, torn: str = "") -> Iterator[bytes]:
    """The lines of a file without their newlines; `torn` is the code of a last line without one."""
    with path.open("rb") as file:
        for line in iter(lambda: file.readline(limit + 1), b""):
            require(len(line) <= limit, code, f"a line of {path.name} is too long")
            require(line.endswith(b"\n"), torn or code, f"the last line of {path.name} has no newline")
            yield line[:-1]


def from_base64(text: JSON, code: str, what: str) -> bytes:
    """The bytes of a text in standard base64 with padding."""
    try:
        data = base64.b64decode(text, validate=True) if isinstance(text, str) else b""
    except ValueError:
        data = b""
    require(base64.b64encode(data).decode() == text, code, f"{what} is not standard base64")
    return data


# -------------------- Digests, as docs/evidence.md defines them


def tagged(tag: str, data: bytes) -> str:
    """SHA-256 of a domain tag, a zero byte and data, as 64 hexadecimal digits."""
    return hashlib.sha256(f"specledger/{tag}/v1".encode() + b"\0" + data).hexdigest()


def file_sha256(path: Path) -> str:
    """SHA-256 of a file of any size."""
    made = hashlib.sha256()
    with path.open("rb") as file:
        for part in iter(lambda: file.read(MIB), b""):
            made.update(part)
    return made.hexdigest()


class MerkleTree:
    """The tree of RFC 6962, section 2.1, over leaves that are added one by one."""

    def __init__(self) -> None:
        self.size = 0
        self._complete: List[Tuple[bytes, int]] = []  # complete subtrees (hash, leaves), the largest first

    def add(self, leaf: bytes) -> None:
        """Add the next leaf."""
        node, size = hashlib.sha256(b"\0" + leaf).digest(), 1
        while self._complete and self._complete[-1][1] == size:
            node, size = hashlib.sha256(b"\1" + self._complete.pop()[0] + node).digest(), 2 * size
        self._complete.append((node, size))
        self.size += 1

    def root(self) -> str:
        """The root over the leaves so far."""
        if not self._complete:
            return hashlib.sha256(b"").hexdigest()
        node = self._complete[-1][0]
        for left, _ in reversed(self._complete[:-1]):
            node = hashlib.sha256(b"\1" + left + node).digest()
        return node.hex()


def merkle_root(leaves: Iterable[bytes]) -> str:
    """The Merkle root over leaves."""
    tree = MerkleTree()
    for leaf in leaves:
        tree.add(leaf)
    return tree.root()


# -------------------- Check 1: the manifest is canonical and of a known format

MANIFEST_KEYS = {"format", "run", "specs", "result", "receipts", "files", "engine", "evaluator"}


def check_manifest(folder: Path) -> JSON:
    """Check 1. The manifest has exactly its fields; a scenario's names no kind."""
    code = "E_MANIFEST"
    manifest = read_document(folder / MANIFEST, code, MIB)
    require(isinstance(manifest, dict), code, "the manifest is not an object")
    kind = manifest.get("kind")
    require(kind is None or (kind in KINDS and kind != "scenario"), code, f"the kind {kind!r} is unknown")
    keys = MANIFEST_KEYS if kind is None else {*MANIFEST_KEYS, "kind"}
    require(manifest.keys() == keys, code, "the manifest has other fields than it must have")
    require(manifest["format"] == "specledger/bundle/v1", code, "the format is unknown")
    for name, made_by, form in (("engine", "specledger", VERSION), ("evaluator", "cel-profile", r"[1-9][0-9]{0,8}")):
        maker = manifest[name]
        require(isinstance(maker, dict) and maker.keys() == {"name", "version"}, code, f"the {name} is unknown")
        known = maker["name"] == made_by and re.fullmatch(form, maker["version"])
        require(known, code, f"the {name} is unknown")
    return manifest


def kind_of(manifest: JSON) -> str:
    """What was run."""
    return str(manifest.get("kind", "scenario"))


# -------------------- Check 2: every file is listed, whole and unchanged


LISTED = {
    "scenario": (RECEIPTS, SPECS, TAPE, AUDIT_LOG),
    "suite": (RECEIPTS, SPECS),
    "law": (RECEIPTS, SPECS),
    "discovery": (RECEIPTS, SPECS, TAPE),
}


@dataclass
class Files:
    """The files of a bundle; all paths are relative and have slashes."""

    listed: List[str]
    runs: List[str]  # folders of the bundles inside a suite's
    detached: List[str]


def check_files(folder: Path, manifest: JSON, inner: bool) -> Files:
    """Check 2. The manifest lists every file, and each has the size and the SHA-256 that is listed.

    A run inside a suite (`inner`) has no detached files and no sources.
    """
    code, entries, kind, present = "E_FILES", manifest["files"], kind_of(manifest), walk(folder)
    shaped = isinstance(entries, list) and all(one.keys() == {"path", "sha256", "size"} for one in entries)
    require(shaped, code, "`files` is not a list of {path, sha256, size}")
    paths = [entry["path"] for entry in entries]
    require(paths == sorted(set(paths), key=str.encode), code, "`files` is not sorted, or lists a path twice")
    runs = [path[: -len(MANIFEST) - 1] for path in paths if kind == "suite" and RUN_PATH.fullmatch(path)]
    for path in paths:
        known = path in LISTED[kind] or CASE_PATH.fullmatch(path) or path[: -len(MANIFEST) - 1] in runs
        require(known or (not inner and SOURCE_PATH.fullmatch(path)), code, f"a {kind} has no file {path!r}")
    detached = [] if inner else [name for name in DETACHED_FILES if name in present]
    expected = {MANIFEST, RECEIPTS, SPECS, *paths, *detached}
    own = {path for path in present if path in expected or not path.startswith(tuple(f"{run}/" for run in runs))}
    require(own == expected, code, f"missing, or not listed: {', '.join(sorted(own ^ expected))[:200]}")
    for entry in entries:
        path = folder / entry["path"]
        unchanged = is_count(entry["size"], path.stat().st_size) and entry["sha256"] == file_sha256(path)
        require(unchanged, code, f"{entry['path']} differs from its size or SHA-256 in the manifest")
    require({RECEIPTS, SPECS} <= set(paths), code, f"{RECEIPTS} or {SPECS} is not listed")
    return Files(paths, runs, detached)


def walk(folder: Path) -> Set[str]:
    """The paths of all files in a folder; links, empty folders and anything that is not a plain file are refused."""
    found, waiting = set(), [""]
    while waiting:
        prefix = waiting.pop()
        with os.scandir(folder / prefix) as scan:
            entries = list(scan)
        require(entries or not prefix, "E_FILES", f"{prefix} is empty")
        for entry in entries:
            path = f"{prefix}{entry.name}"
            if entry.is_dir(follow_symlinks=False):
                waiting.append(f"{path}/")
                continue
            require(entry.is_file(follow_symlinks=False), "E_FILES", f"{path} is not a plain file")
            found.add(path)
    return found


# -------------------- Checks 3 and 4: the chain of receipts, its head and its Merkle root


@dataclass
class Head:
    """The number of receipts, the digest of the last one, and the Merkle root over all."""

    count: int
    head: str
    root: str


def receipts(folder: Path) -> Iterator[JSON]:
    """The receipts of a bundle whose lines were read by check 3."""
    for line in read_lines(folder / RECEIPTS, "E_LINE", MAX_LINE):
        yield json.loads(line)


def check_chain(folder: Path, run: str) -> Head:
    """Check 3. Every line is a canonical receipt that names the run, its number and the digest of the line before."""
    head, tree = ZEROS, MerkleTree()
    for line in read_lines(folder / RECEIPTS, "E_LINE", MAX_LINE):
        receipt = parse(line, "E_LINE", f"line {tree.size + 1}")
        shaped = isinstance(receipt, dict) and receipt.keys() == {"body", "prev", "run", "seq", "type"}
        require(shaped and isinstance(receipt["type"], str), "E_LINE", f"line {tree.size + 1} is not a receipt")
        follows = receipt["run"] == run and is_count(receipt["seq"], tree.size) and receipt["prev"] == head
        require(follows, "E_CHAIN", f"receipt {tree.size} does not follow the one before it")
        head = hashlib.sha256(b"\0" + line).hexdigest()
        tree.add(line)
    return Head(tree.size, head, tree.root())


def check_head(recorded: JSON, head: Head) -> None:
    """Check 4. The manifest records the count, the head and the root that the receipts have."""
    require(same(recorded, vars(head)), "E_HEAD", f"the receipts have {vars(head)}, the manifest differs")


# -------------------- Checks 5 and 6: receipts are in order and continue each other, and what they add up to


class Told(NamedTuple):
    """What receipts say: the body of `start`, hashes of audit entries, the result; the bodies of all but runs.

    Of a run the ends of episodes are kept that tell of an agent from outside.
    """

    first: JSON
    entries: List[str]
    result: JSON
    bodies: List[Tuple[str, JSON]]

    def of(self, *types: str) -> List[JSON]:
        """The bodies of the receipts of some types, in their order."""
        return [body for type_, body in self.bodies if type_ in types]


ORDERS = {
    "law": "start (cases )?verdict end ",
    "suite": "start ((run|figure|check|mutant) )*end ",
    "discovery": "start (iteration (law )*(escalation )*)+stop (ledger )+(expected )*end ",
}


def check_receipts(folder: Path, kind: str) -> Told:
    """Check 5. The receipts of a kind are in their order, and those of a run continue each other."""
    follower, bodies = RunFollower(), []
    for number, receipt in enumerate(receipts(folder)):
        type_, body = receipt["type"], receipt["body"]
        require((type_ == "start") == (number == 0), "E_ENDS", f"receipt {number} is {type_!r}")
        if kind == "scenario":
            follower.add(type_, body)
        else:
            bodies.append((type_, body))
    if kind == "scenario":
        require(follower.ended, "E_ENDS", "the last receipt is not `end`")
        return Told(follower.first, follower.entries, follower.result(), follower.faulty)
    order = "".join(f"{type_} " for type_, _ in bodies)
    require(re.fullmatch(ORDERS[kind], order), "E_ENDS", f"the receipts are not in the order of a {kind}")
    told = Told(bodies[0][1], [], None, bodies)
    return told._replace(result={"law": law_result, "suite": suite_result, "discovery": discovery_result}[kind](told))


def check_result(recorded: JSON, result: JSON) -> None:
    """Check 6. The recorded result, its verdict included, is the one that the receipts add up to."""
    require(same(recorded, result), "E_RESULT", f"the receipts add up to {canonical(result).decode()[:300]}")


def check_decision(commit: JSON, step: JSON) -> None:
    """The part of check 5 that binds a decision to the set of proposals that was committed to before it.

    The Merkle root is over the stored proposals; the chosen one was admitted; the token is bound to the proposal, to
    the commitment and to the scope (episode, step, operation).
    """
    code, t = "E_COMMITMENT", step["t"]
    proposals, chosen = commit["proposals"], step["chosen"]
    leaves = [canonical({"index": index, "proposal": one}) for index, one in enumerate(proposals)]
    require(merkle_root(leaves) == commit["root"], code, f"the proposals at t = {t} are not those committed to")
    require(len(step["decisions"]) == len(proposals), code, f"not one decision for each proposal at t = {t}")
    admitted = [not one["rejected"] and one["error"] is None for one in step["decisions"]]
    if chosen is None:
        nothing = not any(admitted) and step["token"] is None and step["chosen_hash"] is None
        require(nothing, code, f"nothing was chosen at t = {t}, but a proposal was admitted or a token was issued")
        return
    require(type(chosen) is int and 0 <= chosen < len(proposals), code, f"the choice at t = {t} is not in the set")
    require(admitted[chosen], code, f"the proposal chosen at t = {t} was rejected")
    digest = tagged("proposal", leaves[chosen])
    require(step["chosen_hash"] == digest, code, f"the digest of the proposal chosen at t = {t} is wrong")
    scope = {"episode": step["episode"], "op": proposals[chosen]["action"]["op"], "t": t}
    scope.update({"agent": step["agent"]} if "agent" in step else {})
    binding = {"commitment": commit["root"], "proposal": digest, "scope": tagged("scope", canonical(scope))}
    token = {"id": tagged("token", canonical(binding)), **binding}
    require(step["token"] == token, code, f"the token at t = {t} is bound to something else")


def calibrated(pairs: List[Tuple[int, bool]]) -> JSON:
    """The Brier score of stated confidences in millionths, and what came true by tenths of confidence."""
    square, bins = 0, []
    for confidence, held in pairs:
        square += (confidence - 10**6 * held) ** 2
    for tenth in range(10):
        inside = [(c, held) for c, held in pairs if min(9, c * 10 // 10**6) == tenth]
        count, true, mean = len(inside), sum(held for _, held in inside), sum(c for c, _ in inside)
        if inside:
            mean = (2 * mean + count) // (2 * count)
            bins.append({"from": tenth * 10**5, "claims": count, "held": true, "confidence": mean})
    whole = len(pairs) * 10**6
    true = sum(held for _, held in pairs)
    return {"claims": len(pairs), "held": true, "brier": (2 * square + whole) // (2 * whole), "bins": bins}


class RunFollower:
    """Follows the receipts of a scenario: `start`; episodes of `drift`*, `commit`, `step`; `end`.

    Of several agents each has a turn in every step, in the order of `start`, or all have one turn together. In a turn
    every commitment comes before the first decision, and the last decision has the judgement about the state after it.
    """

    def __init__(self) -> None:
        self.first: JSON = None
        self.entries: List[str] = []
        self.ended = self.is_open = self.fatal = False
        self.endings: Set[str] = set()
        self.episode, self.t, self.state = -1, -1, ""  # the last episode, its last step, the digest of its last state
        self.turns: List[List[str]] = [[""]]  # who decides together, in the order of a step; one agent has no name
        self.commits: List[JSON] = []  # of this turn
        self.turn, self.decided, self.judged = 0, 0, 0
        self.agents: Dict[str, Counter[str]] = {}
        self.first_success: Optional[int] = None
        self.tips: Dict[str, str] = {}  # by part, the digest of its last receipt
        self.rejected: Dict[str, int] = {}  # by gate, in this episode
        self.rejections: Dict[str, int] = {}
        self.count: Counter[str] = Counter()
        self.violations: Dict[str, Counter[str]] = {"fatal": Counter(), "warn": Counter()}
        self.probes: Dict[str, Counter[str]] = {}
        self.faults: Counter[str] = Counter()
        self.stated: Dict[str, List[Tuple[int, bool]]] = {}  # by probe, the confidence in each claim, and its outcome
        self.faulty: List[Tuple[str, JSON]] = []  # the ends of episodes that tell of an agent from outside

    def add(self, type_: str, body: JSON) -> None:
        """Take the next receipt."""
        types = ("start", "episode", "drift", "audit", "probe", "commit", "step", "error", "episode_end", "end")
        require(type_ in types, "E_LINE", f"a run has no receipts of type {type_!r}")
        require(not self.ended, "E_ENDS", f"{type_!r} follows the end")
        getattr(self, f"_{type_}")(body)

    def result(self) -> JSON:
        """What the receipts add up to (docs/evidence.md, "manifest.json")."""
        probed = [verdict for one in self.probes.values() for verdict in one]
        clear = all("PASS" in one for one in self.probes.values())
        verdict = "PASS" if self.count["checks"] and clear else "INCONCLUSIVE"
        verdict = "FAIL" if self.violations["fatal"] or "FAIL" in probed else verdict
        if self.faults:  # a verdict about rules is not drawn from an agent that did not answer
            verdict = "FAIL" if self.first.get("agent_faults") == "fail" else "INCONCLUSIVE"
        verdict = "ERROR" if self.count["errors"] else verdict
        judged: JSON = {"verdict": verdict}
        if "expect" in self.first:
            wanted = {"verdict": "PASS", **self.first["expect"]}
            met = wanted["verdict"] == verdict and ("ended" not in wanted or self.endings == {wanted["ended"]})
            judged = {"verdict": "PASS" if met else "FAIL", "status": verdict, "met": met}
        names = ("episodes", "successes", "steps", "proposals", "drifts", "checks", "errors")
        made = {**judged, **{name: self.count[name] for name in names}, "rejections": self.rejections}
        made.update(violations=self.violations["fatal"], warnings=self.violations["warn"])
        made.update({"agents": self.agents} if self.agents else {})
        made.update({"probes": self.probes} if self.probes else {})
        stated = {name: calibrated(one) for name, one in self.stated.items() if any(c != 10**6 for c, _ in one)}
        made.update({"calibration": stated} if stated else {})
        return {**made, "faults": self.faults} if self.faults else made

    @staticmethod
    def _need(holds: object, message: str) -> None:
        require(holds, "E_STATE", message)

    def _start(self, body: JSON) -> None:
        self.first = body
        self.entry_head = body["audit"]["head"] if "audit" in body else ZEROS
        self.rejected, self.rejections = dict.fromkeys(body["gates"], 0), dict.fromkeys(body["gates"], 0)
        self.invariants = {(one["scope"], one["name"]): one["severity"] for one in body["invariants"]}
        self.scopes = Counter(one["scope"] for one in body["invariants"])
        self.due = {(one["drift"], t) for one in body["drifts"] for t in one["schedule"]}
        agents = body.get("agents", [""])
        self.turns = [agents] if body.get("turns") == "simultaneous" else [[name] for name in agents]
        self.agents = {name: Counter(acted=0, proposals=0) for name in agents if name}

    def _episode(self, body: JSON) -> None:
        begins = not self.is_open and is_count(body["episode"], self.episode + 1)
        self._need(begins, "an episode begins out of order")
        self._need(body["digest"] == tagged("state", canonical(body["state"])), "the digest of a start state is wrong")
        self._need(isinstance(body.get("drawn", {}), dict), "what a start drew has another form")
        self.episode, self.state, self.is_open = body["episode"], body["digest"], True
        self.t, self.first_success, self.fatal = -1, None, False
        self.turn, self.commits, self.decided, self.judged = 0, [], 0, 0
        self.tips = dict.fromkeys(body["parts"], ZEROS)

    def _in_place(self, body: JSON) -> None:
        here = self.is_open and is_count(body["episode"], self.episode) and is_count(body["t"], self.t + 1)
        self._need(here, "a receipt is not of the step that comes next")

    def _drift(self, body: JSON) -> None:
        self._in_place(body)
        self._need(not self.commits and not self.decided, "a commitment is not followed by its decision")
        self._need(self.turn == 0, "a drift comes after an agent acted")
        self._need((body["drift"], body["t"]) in self.due, f"no drift was due at t = {body['t']}")
        self._need(body["before"] == self.state, "a drift begins in another state")
        self.state = body["after"]
        self.count["drifts"] += 1

    def _audit(self, body: JSON) -> None:
        self._need(body["prev_entry_hash"] == self.entry_head, "an audit entry does not follow the one before it")
        self._need(body["entry_hash"] == entry_hash(body), "an audit entry has another hash than it records")
        self.entry_head = body["entry_hash"]
        self.entries.append(self.entry_head)

    def _probe(self, body: JSON) -> None:
        self._in_place(body)
        self._need(body.get("agent", "") in self.turns[self.turn], "a probe challenges an agent that is not deciding")
        self.count.update({"checks": 1, "errors": int(body["verdict"] == "ERROR")})
        name = self._of(body) + body["probe"]
        self.probes.setdefault(name, Counter())[body["verdict"]] += 1
        if body["evidence"].get("of") == "claims":
            told = [one for one in body["evidence"].get("trials", ()) if one["held"] is not None]
            pairs = [(one.get("confidence", 10**6), one["held"]) for one in told]
            self.stated.setdefault(name, []).extend(pairs)

    def _commit(self, body: JSON) -> None:
        self._in_place(body)
        due, made = self.turns[self.turn], len(self.commits)
        self._need(made < len(due) and not self.decided, "a commitment is not followed by its decision")
        self._need(body.get("agent", "") == due[made], f"the next commitment is that of {due[made]!r}")
        self.commits.append(body)

    @staticmethod
    def _of(body: JSON) -> str:
        """What stands before a figure that belongs to one of several agents."""
        return f"{body['agent']}." if "agent" in body else ""

    def _decides(self, body: JSON) -> None:
        """The decision is the next one of its turn, all of whose sets are committed to."""
        due, commits = self.turns[self.turn], self.first.get("commit") != "none"
        whole = len(self.commits) == len(due) or not commits
        require(whole, "E_COMMITMENT", "a decision precedes a commitment of its turn")
        self._need(body.get("agent", "") == due[self.decided], f"the next decision is that of {due[self.decided]!r}")
        if commits:
            check_decision(self.commits[self.decided], body)
        self.decided += 1
        last = self.decided == len(due)
        self._need((body["success"] is not None) == last, "a decision is judged if it is the last of its turn")
        self._need(last or not body["violations"], "a decision before the end of its turn has violations")

    def _step(self, body: JSON) -> None:
        self._in_place(body)
        self._decides(body)
        t, decisions, of = body["t"], body["decisions"], self._of(body)
        self._need(body["before"] == self.state, f"the step at t = {t} begins in another state")
        changed = body["after"] != body["before"]
        self._need(body["chosen"] is not None or not changed, f"nothing was chosen at t = {t}, but the state changed")
        self._need(
            t < self.first["horizon"] and not self.fatal, f"there is a step at t = {t}, after the end of the episode"
        )
        for name, part in body["parts"].items():
            self._part(name, part)
        for rejection in (rejection for one in decisions for rejection in one["rejected"]):
            self._need(of + rejection["gate"] in self.rejected, "a gate rejected that the run does not have")
            self.rejected[of + rejection["gate"]] += 1
        chance = body.get("chance", {"drawn": {}, "changed": {}})
        formed = isinstance(chance, dict) and chance.keys() == {"drawn", "changed"}
        formed = formed and isinstance(chance["drawn"], dict) and isinstance(chance["changed"], dict)
        self._need(formed and ("chance" not in body or body["chosen"] is not None), "what chance did has another form")
        if body["chosen"] is None:
            self.violations["fatal"][of + "progress"] += 1
        if of:
            self.agents[body["agent"]].update(acted=body["chosen"] is not None, proposals=len(decisions))
        self._violations("step", body["violations"])
        if body["success"] is True and self.first_success is None:
            self.first_success = t
        self.state, judged = body["after"], body["success"] is not None
        errors = sum(one["error"] is not None for one in decisions)
        checks, first = judged * self.scopes["step"], self.turn == 0 and self.decided == 1
        self.count.update({"steps": int(first), "proposals": len(decisions), "checks": checks, "errors": errors})
        if judged:
            self.turn, self.commits, self.decided = self.turn + 1, [], 0
            self.judged += 1
        if self.turn == len(self.turns):
            self.turn, self.t = 0, t

    def _part(self, name: str, receipt: JSON) -> None:
        """A part's receipt continues the part's own chain."""
        self._need(receipt["tip"] == self.tips[name], f"the chain of {name!r} is broken")
        bare = {key: value for key, value in receipt.items() if key != "tip_after"}
        tip = tagged("part", receipt["tip"].encode() + canonical(bare))
        self._need(receipt["tip_after"] == tip, f"the tip of {name!r} is wrong")
        changed = receipt["before"] != receipt["after"]
        self._need(receipt["accepted"] or not changed, f"{name!r} refused, but its state changed")
        self.tips[name] = tip

    def _violations(self, scope: str, violations: JSON) -> None:
        for one in violations:
            severity = self.invariants.get((scope, one["invariant"]))
            known = severity is not None and one["severity"] == severity
            self._need(known, "a violated invariant is not one of the run's, or has another severity")
            self.violations[one["severity"]][one["invariant"]] += 1
            self.fatal = self.fatal or (scope == "step" and severity == "fatal")

    def _error(self, body: JSON) -> None:
        self._need(is_count(body["episode"], self.episode + (not self.is_open)), "an error outside of an episode")
        self.count["errors"] += 1

    def _episode_end(self, body: JSON) -> None:
        self.endings.add(body["ended"])
        ended, begun = body["ended"], self.is_open and is_count(body["episode"], self.episode)
        unbegun = not self.is_open and is_count(body["episode"], self.episode + 1) and ended == "error"
        self._need(begun or unbegun, "an episode ends that did not begin")
        broken_off = ended in ("error", "hang", "died")
        between = not self.commits and not self.decided
        self._need(between or broken_off, "a commitment is not followed by its decision")
        whole = self.turn == 0 or broken_off or ended in ("fatal", "until")
        self._need(whole, "an episode ends before every agent acted")
        begun_step = self.turn > 0 or self.decided > 0
        steps, success = (0, None) if unbegun else (self.t + 1 + begun_step, self.first_success)
        self._need(unbegun or is_count(body["steps"], steps), "an episode records another number of steps")
        self._need(unbegun or body["state"] == self.state, "an episode ends in another state")
        self._need(same(body["first_success"], success), "an episode records another first success")
        self._need(body["success"] is (success is not None), "an episode records another success")
        self._need((ended == "fatal") == (self.fatal and not unbegun), "an episode ended for another reason")
        self._need(ended != "horizon" or steps == self.first["horizon"], "an episode ended before its horizon")
        self._need(not body["violations"] or ended != "error", "an episode that ended in an error has violations")
        if ended in ("hang", "died"):  # the watchdog's violation is of no spec
            named = [(one["invariant"], one["severity"]) for one in body["violations"]]
            self._need(named == [("watchdog", "fatal")], "an episode that was broken off has other violations")
            self.violations["fatal"]["watchdog"] += 1
        else:
            self._violations("episode", body["violations"])
        self._need(same(body["gates"], self.rejected), "an episode records other rejections")
        for gate, count in self.rejected.items():
            self.rejections[gate] += count
        for name, idle in body["idle"].items():
            most = self.judged * (("step", name) in self.invariants) + (("episode", name) in self.invariants)
            self._need(type(idle) is int and 0 < idle <= most, "an invariant is idle more often than it is checked")
        for fault in body.get("faults", ()):
            self._need(0 <= fault["t"] <= steps, "an agent fault is after the end of its episode")
        self.faults.update(fault["reason"] for fault in body.get("faults", ()))
        self.faulty += [("episode_end", body)] if {"faults", "spent"} & body.keys() else []
        checks = self.scopes["episode"] - sum(body["idle"].values())
        self.count.update({"episodes": 1, "successes": int(success is not None), "checks": checks})
        self.rejected = dict.fromkeys(self.rejected, 0)
        self.episode, self.is_open, self.fatal, self.first_success = body["episode"], False, False, None

    def _end(self, body: JSON) -> None:
        whole = not self.is_open and is_count(body["episodes"], self.episode + 1)
        self._need(
            whole and is_count(body["episodes"], self.first["episodes"]), "the run has fewer episodes than it promised"
        )
        self._need(is_count(body["steps"], self.count["steps"]), "the run records another number of steps")
        self._need(same(body["gates"], self.rejections), "the run records other rejections")
        self.ended = True


def law_result(told: Told) -> JSON:
    """What the receipts of a law add up to."""
    (verdict,), (end,), cases = told.of("verdict"), told.of("end"), told.of("cases")
    status, met = verdict["verdict"]["status"], end["met"]
    reached = {"PROVED": "PASS", "PASS": "PASS", "FAIL": "FAIL", "UNKNOWN": "INCONCLUSIVE"}.get(status, "ERROR")
    if met is not None and reached != "ERROR":
        reached = "PASS" if met is True else "FAIL"
    made = {"verdict": reached, "status": status, "reason": verdict["verdict"]["reason"], "met": met}
    return {**made, "cases": cases[0]["count"] if cases else 0}


def suite_result(told: Told) -> JSON:
    """What the receipts of a suite add up to; the suite's own runs are told first."""
    runs, own = told.of("run"), told.of("run")[: told.first["runs"]]
    sums = {key: sum(one["result"][key] for one in own) for key in ("episodes", "steps", "drifts", "errors")}
    verdicts, order = [one["verdict"] for one in told.of("check", "mutant")], ("ERROR", "FAIL", "INCONCLUSIVE", "PASS")
    reached = [one["result"]["verdict"] for one in own]
    verdicts += ["FAIL"] * ("FAIL" in reached)  # a run that fails though nothing expects that
    verdict = "ERROR" if "ERROR" in reached else min(verdicts, key=order.index, default="INCONCLUSIVE")
    checks = {one["check"]: one["verdict"] for one in told.of("check")}
    mutants = {one["mutant"]: one["caught"] for one in told.of("mutant")}
    counts = {"runs": len(own), "trials": len(runs) - len(own), **sums}
    return {"verdict": verdict, **counts, "checks": checks, "mutants": mutants}


def last_verdicts(told: Told) -> Dict[str, JSON]:
    """The last verdict on each law of a discovery; None is an error. Late laws repeat others and are not judged."""
    return {one["law"]: one["verdict"] for one in told.of("law", "escalation") if one.get("late") is None}


def discovery_result(told: Told) -> JSON:
    """What the receipts of a discovery add up to."""
    iterations, laws = told.of("iteration"), told.of("law")
    usages = [one["answer"]["usage"] for one in iterations]
    tokens = sum(one[name] for one in usages for name in ("prompt_tokens", "output_tokens", "thinking_tokens"))
    verdicts = last_verdicts(told)
    statuses = ["ERROR" if one is None else one["status"] for one in verdicts.values()]
    accepted = [one for one in verdicts.values() if one is not None and one["status"] in ("PROVED", "PASS")]
    expected = {one["law"]: one["found"] is not None for one in told.of("expected")}
    verdict = "PASS" if accepted else "INCONCLUSIVE"
    verdict = ("PASS" if all(expected.values()) else "FAIL") if expected else verdict
    return {
        "verdict": "ERROR" if "ERROR" in statuses else verdict,
        "iterations": len(iterations),
        "failures": sum(one["answer"]["failure"] is not None for one in iterations),
        "rejected": sum(len(one["rejections"]) for one in iterations),
        "redundant": sum(len(one["redundant"]) for one in iterations),
        "late": sum(one["late"] is not None for one in laws),
        "evaluations": len(laws),
        "escalations": len(told.of("escalation")),
        "tokens": tokens,
        "laws": {one: statuses.count(one) for one in ("PROVED", "PASS", "FAIL", "UNKNOWN", "ERROR")},
        "content": sum(one["content"]["share"] for one in accepted if one["content"] is not None),
        "stopped": told.of("stop")[0]["reason"],
        "expected": expected,
    }


# -------------------- Checks 7 and 8: the specs, and what the first receipt says of them


def check_specs(folder: Path, manifest: JSON, first: JSON) -> JSON:
    """Check 7. Every spec is named by its digest; the run, the manifest and `start` name the digest of all of them."""
    code = "E_SPECS"
    specs = read_document(folder / SPECS, code, 16 * MIB)
    shaped = isinstance(specs, dict) and specs.keys() == {"root", "specs"} and isinstance(specs["specs"], dict)
    require(shaped and specs["root"] in specs["specs"], code, "specs.json is not {root, specs}")
    for key, data in specs["specs"].items():
        name, at, digits = key.rpartition("@")
        own = isinstance(data, dict) and name == f"{str(data.get('spec')).partition('/')[0]}/{data.get('name')}"
        require(
            own and at and digits == tagged("spec", canonical(data))[:16], code, f"{key} is not the key of its spec"
        )
    digest = tagged("specs", canonical(specs))
    require(manifest["specs"] == digest, code, f"the digest of the specs is {digest}, the manifest differs")
    require(first["specs"] == digest, code, f"the digest of the specs is {digest}, the first receipt differs")
    require(manifest["run"] == tagged("run", digest.encode())[:32], code, "the run is not that of its specs")
    require(specs["root"].startswith(f"{kind_of(manifest)}/"), code, "the specs are those of another kind")
    return specs


def check_start(kind: str, first: JSON, specs: JSON) -> None:
    """Check 8. The first receipt says what the specs say, as far as that needs no evaluation.

    A bundle that declares an invariant a warning, drops a gate or shortens a run in its receipts is refuted here.
    """
    known, root = specs["specs"], specs["specs"][specs["root"]]
    claimed = {"scenario": run_heading, "law": law_heading, "suite": suite_heading, "discovery": discovery_heading}
    for name, value in claimed[kind](known, specs["root"], root).items():
        recorded = first.get(name)
        require(same(recorded, value), "E_REPLAY", f"the first receipt has another `{name}` than the specs")


def run_heading(known: JSON, key: str, root: JSON) -> JSON:
    """What `start` of a run says, from the specs; values that equal their defaults are left out of specs."""
    order = root.get("order", [""])
    governors = {name: known[root["agents"][name]["governor"] if name else root["governor"]] for name in order}
    named = [one for governor in governors.values() for one in governor.get("invariants", ())]
    invariants = [known[one] for one in dict.fromkeys((*named, *root.get("invariants", ())))]
    gates = [
        (f"{name}." if name else "") + gate
        for name, governor in governors.items()
        for gate in ("schema", *(one["id"] for one in governor.get("gates", ())))
    ]
    made = {
        "scenario": root["name"],
        "seed": root.get("seed", 0),
        "episodes": root.get("episodes", 1),
        "horizon": root["horizon"],
        "expect": root.get("expect"),
        "agent_faults": root.get("agent_faults"),
        "agents": root.get("order"),
        "turns": root.get("turns", "order") if "agents" in root else None,
        "invariants": [
            {"name": one["name"], "scope": one.get("scope", "step"), "severity": one.get("severity", "fatal")}
            for one in invariants
            if one.get("scope", "step") != "proposal"
        ],
    }
    if not any("admission" in governor for governor in governors.values()):  # a kernel adds gates of its own
        made["gates"] = gates
    return {**made, "commit": "none"} if root.get("commit") == "none" else made


def law_heading(known: JSON, key: str, root: JSON) -> JSON:
    """What `start` of a law says, from the specs."""
    made = {"kind": "law", "law": root["name"], "digest": key.rpartition("@")[2], "seed": root.get("seed", 42)}
    return {**made, "universe": root["universe"], "template": known[root["template"]]["name"]}


def suite_heading(known: JSON, key: str, root: JSON) -> JSON:
    """What `start` of a suite says, from the specs."""
    checks, mutants = ([one["id"] for one in root.get(name, ())] for name in ("checks", "mutants"))
    return {"suite": root["name"], "figures": sorted(root.get("figures", {})), "checks": checks, "mutants": mutants}


def discovery_heading(known: JSON, key: str, root: JSON) -> JSON:
    """What `start` of a discovery says, from the specs."""
    return {"kind": "discovery", "discovery": root["name"], "universe": root["universe"], "seed": root.get("seed", 42)}


# -------------------- Check 9: the failing cases are those that the receipts show


def check_cases(folder: Path, kind: str, paths: List[str]) -> None:
    """Check 9. Each file has the bytes that follow from the receipts: the first receipts with a cause that is new."""
    code = "E_COUNTEREXAMPLES"
    found: List[str] = []
    pending: List[JSON] = []  # the receipts of the current step
    known: Set[str] = set()
    for seq, receipt in enumerate(receipts(folder)):
        type_ = receipt["type"]
        pending.append({"body": receipt["body"], "seq": seq, "type": type_})
        open_turn = type_ == "step" and receipt["body"]["success"] is None
        if kind == "scenario" and (open_turn or type_ not in ("step", "error", "episode_end")):
            pending = [] if type_ in ("start", "episode", "end") else pending
            continue
        causes = {cause for one in pending for cause in causes_of(kind, one["type"], one["body"])}
        if causes - known and len(found) < MAX_CASES:
            path = f"counterexamples/{seq:08d}.json"
            case = canonical({"causes": sorted(causes, key=str.encode), "receipts": pending}) + b"\n"
            require(path in paths, code, f"the receipts show a failing case that is missing: {path}")
            is_same = hashlib.sha256(case).hexdigest() == file_sha256(folder / path)
            require(is_same, code, f"{path} is not what the receipts show")
            found.append(path)
            known |= causes
        pending = []
    require(sorted(found) == sorted(paths), code, "there is a failing case that the receipts do not show")


def causes_of(kind: str, type_: str, body: JSON) -> Set[str]:
    """What a receipt says went wrong; a suite's own receipts say nothing, its runs have failing cases of their own."""
    if kind == "scenario":
        if type_ in ("probe", "error"):
            failed = type_ == "error" or body["verdict"] in ("FAIL", "ERROR")
            return {f"{type_}:{body['code' if type_ == 'error' else 'probe']}"} if failed else set()
        causes = {f"invariant:{one['invariant']}" for one in body.get("violations", ())}
        if type_ == "step":
            causes |= {f"error:{one['error']['code']}" for one in body["decisions"] if one["error"] is not None}
            causes |= {"progress"} if body["chosen"] is None else set()
        return causes
    judges = {"law": ("verdict",), "discovery": ("law", "escalation"), "suite": ()}
    verdict = body["verdict"] if type_ in judges[kind] else None
    if verdict is None or verdict["counterexample"] is None:
        return set()
    return {f"law:{body['law'] if kind == 'discovery' else verdict['law']}"}


# -------------------- Checks 10 and 11: the tape of answers from outside, and the audit log of a kernel


def check_tape(folder: Path, kind: str, present: bool, specs: JSON, told: Told) -> None:
    """Check 10. There is a tape where answers came from outside; a discovery's receipts name the answers on it."""
    code, known, root = "E_TAPE_FORM", specs["specs"], specs["specs"][specs["root"]]
    if kind == "discovery":
        outside = not {"scripted", "enumerate"} & known[root["model"]].keys()
        require(outside or not present, "E_TAPE_EXTRA", "the answers follow from the specs, and there is a tape")
    elif "agents" in root:
        outside = False
        require(not present, "E_TAPE_EXTRA", "none of several agents is asked outside, and there is a tape")
    else:
        outside = kind == "scenario" and "outside" in known[root["agent"]]
    require(present or not outside, "E_TAPE_MISSING", "answers came from outside, and there is no tape")
    if not present:
        return
    lines = [parse(line, code, "a line of the tape") for line in read_lines(folder / TAPE, code, MAX_LINE)]
    form = "specledger/model-tape/v1" if kind == "discovery" else "specledger/tape/v2"
    require(lines and lines[0]["format"] == form, code, "the first line is not that of a tape")
    if kind != "discovery":
        log = told.first.get("audit", {"mode": "simulated", "head": ZEROS})
        require(same(lines[0], {"format": form, **log}), code, "the tape names another audit log than the run")
        check_exchanges(lines[1:], told, "admission" in known[root["governor"]], outside)
        return
    count, answers = len(lines) - 1, [one["answer"] for one in told.of("iteration")]
    require(count >= len(answers), "E_TAPE_MISSING", f"the tape has no answer for iteration {count}")
    require(count <= len(answers), "E_TAPE_EXTRA", f"the tape has {count} answers, and there are fewer iterations")
    for number, (line, recorded) in enumerate(zip(lines[1:], answers)):
        answer = line["answer"]
        made = {name: answer[name] for name in ("failure", "finish", "usage")}
        made["digest"] = tagged("model-answer", canonical(answer))
        in_order = is_count(line["iteration"], number) and same(recorded, made)
        require(in_order, code, f"iteration {number} records another answer than the tape")


EXCHANGE_KEYS = {"seq", "session", "episode", "t", "message", "question"}
EXCHANGE_KEYS |= {"failure", "reason", "received", "sha256", "size"}
FAILURES = ("raised", "timed_out", "closed", "died", "too_long", "not_json")
REASON = re.compile(r"([a-z]{1,9}:)?[A-Za-z0-9_]{0,100}")
STATED = ("statement", "document")
ANSWERS: Dict[str, Tuple[str, ...]] = {
    "hello": ("hello",),
    "reset": ("ready",),
    "restore": ("ready",),
    "reveal": ("reveal",),
}
ANSWERS.update({"snapshot": ("snapshot",), "decide": STATED, "ask": STATED, "restate": STATED})
ANSWERS["offer"] = (*STATED, "declined", "call")


def check_exchanges(lines: List[JSON], told: Told, kernel: bool, outside: bool) -> None:
    """The exchanges are in order, and those that failed are exactly the agent faults of the run.

    Whether an object has the form of an answer, the number of its message and a message that the run asks, only replay
    can say: the receipts may have a fault `wrong_form` or `wrong_id` for it, and this file does not know if they must.
    """
    code = "E_TAPE_FORM"
    certain: Counter[Any] = Counter()
    spent: Counter[Any] = Counter()
    objects: Counter[Any] = Counter()
    before, sessions, asked = (0, 0), 0, set()
    for seq, line in enumerate(lines):
        require(line.keys() == EXCHANGE_KEYS and is_count(line["seq"], seq), code, f"exchange {seq} is out of order")
        place, message, session = (line["episode"], line["t"]), line["message"], line["session"]
        fault = fault_of(line, ANSWERS if kernel else {**ANSWERS, "decide": ("proposals",)}, seq)
        known = {type(one) for one in (*place, session)} == {int} and HEX64.fullmatch(line["question"])
        known = (
            known and before <= place and place[0] < told.first["episodes"] and 0 <= place[1] <= told.first["horizon"]
        )
        require(known, code, f"exchange {seq} is at another place than the one before it allows")
        before = place
        if message == "watch":  # an agent of the specs was at work
            ended = (
                not outside and fault in ("timed_out", "died") and is_count(session, 0) and line["question"] == ZEROS
            )
            require(ended, code, f"exchange {seq} does not end an agent at work")
            continue
        opens = is_count(session, sessions) if message == "hello" else 0 <= session < sessions
        new = opens and (session, line["question"]) not in asked
        require(new, code, f"exchange {seq} is of another session, or answers its message again")
        sessions += message == "hello"
        spent.update({(place[0], "messages"): 1, (place[0], "received"): line["size"]})
        asked.add((session, line["question"]))
        (certain if fault else objects)[(*place, message, fault)] += 1
    for end in told.of("episode_end") if outside else ():
        for name, lacks in (("messages", "E_TAPE_MISSING"), ("received", code)):
            count, said = spent[end["episode"], name], end.get("spent", {}).get(name)
            more = type(said) is int and said > count
            require(is_count(said, count), lacks if more else code, f"an episode counts other {name} than the tape")
    recorded = Counter(
        (end["episode"], one["t"], one["message"], one["reason"])
        for end in told.of("episode_end")
        for one in end.get("faults", ())
    )
    require(not certain - recorded, code, "an exchange failed, and the receipts have no agent fault for it")
    unknown: Counter[Any] = Counter()
    for (*where, reason), count in (recorded - certain).items():
        require(reason in ("wrong_form", "wrong_id"), code, f"no exchange on the tape is the agent fault {reason!r}")
        unknown[(*where, "")] += count
    require(not unknown - objects, code, "the receipts have more agent faults than the tape has answers")


def fault_of(line: JSON, answers: Dict[str, Tuple[str, ...]], seq: int) -> str:
    """The agent fault that an exchange is by itself; empty if it is none, or one that only replay can tell."""
    held, failure, size, digest = line["received"], line["failure"], line["size"], line["sha256"]
    worded = REASON.fullmatch(line["reason"]) if failure in FAILURES else failure is None and line["reason"] == ""
    empty = is_count(size, 0) and digest is None
    if held is None:
        gone = type(size) is int and size > 0 and HEX64.fullmatch(digest or "")
        formed, data = empty if failure in (None, "timed_out", "died") else empty or gone, b""
        formed = formed and (failure != "too_long" or size > MIB)
    else:
        ((form, text),) = held.items()
        data = text.encode() if form == "text" else from_base64(text, "E_TAPE_FORM", f"the answer of exchange {seq}")
        formed = form == "text" or (form == "base64" and not is_utf8(data))
        formed = formed and is_count(size, len(data)) and digest == hashlib.sha256(data).hexdigest()
        formed = formed and 0 < size <= MIB and failure in (None, "raised", "not_json")
    require(worded and formed, "E_TAPE_FORM", f"the answer of exchange {seq} has another form, size or hash")
    if failure or not data:
        return str(failure or "no_answer")
    try:
        body = json.loads(data.decode(), object_pairs_hook=_unique_keys, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return "not_json"
    if not isinstance(body, dict):
        return "wrong_form"
    if body.get("type") not in answers[line["message"]]:
        return "wrong_type"
    return "" if type(body.get("id")) is int else "wrong_id"


def is_utf8(data: bytes) -> bool:
    """Whether bytes are a text."""
    try:
        return bool(data.decode()) or not data
    except UnicodeDecodeError:
        return False


ENTRY_KEYS = {"entry_id", "timestamp_ms", "event", "prev_entry_hash", "entry_hash", "proposal_hash", "trace_hash"}
ENTRY_KEYS |= {"kernel_decision", "witnesses", "capability_tokens"}


def entry_hash(entry: JSON) -> str:
    """The hash of an audit entry: plain SHA-256 of all other fields."""
    own = {name: value for name, value in entry.items() if name != "entry_hash"}
    return hashlib.sha256(canonical(own)).hexdigest()


def read_audit_log(path: Path) -> Iterator[str]:
    """The hashes of the entries of an audit log; of each its form, its chain and its tokens are checked."""
    head, number = ZEROS, 0
    require(path.is_file(), "E_AUDIT_DIFFERS", "the receipts have audit entries, and there is no audit log")
    for number, line in enumerate(read_lines(path, "E_AUDIT_LINE", MAX_ENTRY, "E_AUDIT_TORN"), 1):
        entry = parse(line, "E_AUDIT_LINE", f"line {number} of the audit log")
        require(
            isinstance(entry, dict) and entry.keys() == ENTRY_KEYS, "E_AUDIT_LINE", f"line {number} is not an entry"
        )
        require(entry["prev_entry_hash"] == head, "E_AUDIT_CHAIN", f"line {number} does not follow the one before it")
        head = entry_hash(entry)
        require(entry["entry_hash"] == head, "E_AUDIT_CHAIN", f"line {number} has another hash than it records")
        for token in entry["capability_tokens"] if entry["event"] == "CAPABILITY_ISSUED" else ():
            check_capability(entry, token)
        yield head
    require(number, "E_AUDIT_NO_LOG", "the audit log is empty")


def check_capability(entry: JSON, token: JSON) -> None:
    """A token is bound to the proposal and the trace of its entry, to its own scope, and to the time of its entry."""
    scope, issued = token["scope"], entry["timestamp_ms"]
    bound = {"proposal_hash": entry["proposal_hash"], "trace_hash": entry["trace_hash"]}
    bound["scope_hash"] = hashlib.sha256(canonical(scope)).hexdigest()
    times = token["issued_at_ms"] == issued and token["expires_at_ms"] == issued + scope["expiry_ms"]
    require(same(token["binding"], bound) and times, "E_AUDIT_TOKEN", "a token is bound to something else")


def check_run_entries(folder: Path, entries: List[str]) -> None:
    """Check 11. The audit log is one chain, and it ends with the entries that the receipts have."""
    last = list(deque(read_audit_log(folder / AUDIT_LOG), maxlen=len(entries)))
    require(last == entries, "E_AUDIT_DIFFERS", "the audit log does not end with the entries of the run")


# -------------------- Check 12: a verdict on a law fits itself, its digest and the specs
# Whether a law that was not refuted is true is NOT decided here, whatever method the verdict names.


def check_verdict(verdict: JSON, digest: JSON) -> None:
    """A verdict has its own digest, and its status goes with its reason, its counterexample and its certificate."""
    code, status = "E_VERDICT", verdict["status"]
    require(digest == tagged("law-verdict", canonical(verdict)), code, "the digest of a verdict is wrong")
    require(status in ("PROVED", "PASS", "FAIL", "UNKNOWN"), code, f"the status {status!r} is unknown")
    require((status == "UNKNOWN") == (verdict["reason"] is not None), code, f"{status} does not go with its reason")
    refuted, proved = verdict["counterexample"] is not None, verdict["certificate"] is not None
    require((status == "FAIL") == refuted, code, f"{status} does not go with its counterexample")
    require(status != "FAIL" or not proved, code, "FAIL has a certificate that the law holds")
    rests = proved and verdict["method"] == "proof"
    require(status != "PROVED" or rests, code, "PROVED has no certificate")
    power = verdict["power"]
    says = proved or (isinstance(power, dict) and power["usable"] and power["hits"])
    require(status != "PASS" or says, code, "PASS rests on no case that met the law's conditions")


def check_law(specs: JSON, told: Told) -> List[str]:
    """Check 12 of a law. Its verdict is about the law of the specs, and the end agrees with it."""
    code, known = "E_VERDICT", specs["specs"]
    law, (body,), (end,) = known[specs["root"]], told.of("verdict"), told.of("end")
    verdict, expected = body["verdict"], body["expected"]
    check_verdict(verdict, body["digest"])
    about = {"law": law["name"], "key": specs["root"], "universe": law["universe"], "forbidden": law["forbidden"]}
    about["template"] = known[law["template"]]["name"]
    for name, value in about.items():
        require(same(verdict[name], value), code, f"the {name} of the verdict is not that of the specs")
    require(same(expected, law.get("expect")), code, "what is expected is not what the specs expect")
    require(end["status"] == verdict["status"], code, "the end records another status")
    met = None if expected is None else all(same(verdict[name], value) for name, value in expected.items())
    require(end["met"] is met, code, "whether the expectation is met is recorded wrongly")
    return undecided([(verdict["law"], verdict["status"])])


def check_discovery(specs: JSON, told: Told) -> List[str]:
    """Check 12 of a discovery. Each verdict fits itself and its law; counts and what was found are as recorded."""
    code, universe = "E_VERDICT", specs["specs"][specs["root"]]["universe"]
    statuses: Dict[str, str] = {}
    documents: Dict[str, JSON] = {}
    iteration, number = -1, 0
    for type_, body in told.bodies:
        if type_ == "iteration":
            iteration, number = iteration + 1, 0
            require(is_count(body["iteration"], iteration), "E_ENDS", "iterations are not numbered in order")
        if type_ not in ("law", "escalation"):
            continue
        law, document, verdict = body["law"], body["document"], body["verdict"]
        if type_ == "law":
            in_order = is_count(body["iteration"], iteration) and is_count(body["number"], number)
            require(in_order, "E_ENDS", "the laws of an iteration are not numbered in order")
            number += 1
            documents.setdefault(law, document)
        else:
            before = same(document, documents.get(law)) and body["before"] == statuses.get(law)
            require(before, code, f"{law} is escalated, but was proposed or judged otherwise")
        require((verdict is None) != (body["error"] is None), code, f"{law} has a verdict and an error, or neither")
        require(verdict is not None or body["digest"] is None, code, f"{law} has a digest and no verdict")
        if verdict is not None:
            check_verdict(verdict, body["digest"])
            about = (verdict["universe"], verdict["template"], verdict["forbidden"])
            wanted = (universe, document["template"], document["forbidden"])
            require(about == wanted, code, f"the verdict on {law} is about another law")
        if body.get("late") is None:
            statuses[law] = "ERROR" if verdict is None else verdict["status"]
    for one in told.of("expected"):
        status = one["status"] if one["found"] is None else statuses.get(one["found"])
        require(one["status"] == status, code, f"{one['law']} was expected, and found with another status")
    (end,), (stop,) = told.of("end"), told.of("stop")
    counts = {
        name: told.result[name] for name in ("iterations", "evaluations", "late", "laws", "escalations", "tokens")
    }
    agrees = all(same(end[name], value) for name, value in counts.items())
    require(agrees and is_count(stop["iterations"], iteration + 1), "E_ENDS", "the end records other counts")
    return undecided(statuses.items())


def undecided(statuses: Iterable[Tuple[str, str]]) -> List[str]:
    """The laws whose status is not decided here, as a line for the reader."""
    left = [f"{law} {status}" for law, status in statuses if status != "FAIL"]
    more = f" and {len(left) - 5} more" if len(left) > 5 else ""
    return [f"not decided here, only recorded: {', '.join(left[:5])}{more}"] if left else []


# -------------------- Check 13: counterexamples, evolved again cell by cell

Rule = Dict[str, str]  # the next symbol by the window: the symbols of a cell and its neighbours, from the left


def universe_rule(universe: JSON) -> Optional[Rule]:
    """The rule of a universe that gives it as a number or a table; None if it is an expression."""
    marks, transition = universe["alphabet"], universe["transition"]
    if "number" in transition:
        windows = every_window(marks, 1)
        return {window: marks[transition["number"] >> code & 1] for code, window in enumerate(windows)}
    return dict(transition["table"]) if "table" in transition else None


def every_window(marks: List[str], radius: int) -> List[str]:
    """All windows of a rule, in the order of the alphabet."""
    return ["".join(window) for window in itertools.product(marks, repeat=2 * radius + 1)]


def changed_rule(rule: Rule, marks: List[str], radius: int, number: int) -> Rule:
    """The mutant of a rule with this number: entries in the order of the alphabet, for each the other symbols."""
    entry, other = divmod(number, len(marks) - 1)
    window = every_window(marks, radius)[entry]
    old = marks.index(rule[window])
    return {**rule, window: marks[other + (other >= old)]}


class Evolution:
    """Evolves counterexamples again, and remembers what rules that are not evaluated must do."""

    def __init__(self, specs: JSON) -> None:
        self.specs = specs["specs"]
        self.seen: Dict[Tuple[str, JSON], Rule] = {}
        self.evolved = self.only_consistent = self.too_large = 0

    def check(self, key: str, mutant: JSON, recorded: JSON) -> None:
        """Check 13. A counterexample is an evolution of a ring of its universe.

        Where the rule is an expression, only this is checked: the same window always leads to the same symbol.

        Args:
            key: The universe.
            mutant: The number of a changed rule, or None.
            recorded: The counterexample.
        """
        code, universe = "E_COUNTEREXAMPLE", self.specs[key]
        marks, ring, start, t = universe["alphabet"], universe["ring"], recorded["start"], recorded["t"]
        fits = isinstance(start, str) and ring["min"] <= len(start) <= ring["max"] and set(start) <= set(marks)
        require(fits, code, "its start is not a ring of the universe")
        begin, states = recorded["excerpt"]["from"], recorded["excerpt"]["states"]
        shaped = type(t) is int and type(begin) is int and isinstance(states, list)
        require(shaped and 0 <= begin <= t < begin + len(states), code, "its excerpt does not show the step")
        fits = all(isinstance(one, str) and len(one) == len(start) and set(one) <= set(marks) for one in states)
        require(fits and (begin > 0 or states[0] == start), code, "its excerpt does not show rings of its start")
        radius = universe.get("radius", 1)
        fits = radius in (1, 2, 3) and len(marks) ** (2 * radius + 1) <= MAX_WINDOWS
        require(fits, code, "its universe has a rule of too many windows")
        rule = universe_rule(universe)
        if rule is None:
            self._check_consistent(self.seen.setdefault((key, mutant), {}), radius, states)
            self.only_consistent += 1
        elif (begin + len(states)) * len(start) > MAX_CELLS:
            self.too_large += 1
        else:
            rule = rule if mutant is None else changed_rule(rule, marks, radius, mutant)
            self._check_evolved(rule, radius, start, begin, states)
            self.evolved += 1

    @staticmethod
    def _check_evolved(rule: Rule, radius: int, state: str, begin: int, states: List[str]) -> None:
        for step in range(begin + len(states)):
            if step >= begin:
                recorded = states[step - begin]
                require(recorded == state, "E_COUNTEREXAMPLE", f"step {step} is {state}, recorded is {recorded}")
            state = "".join(rule[window] for window in windows_of(state, radius))

    @staticmethod
    def _check_consistent(seen: Rule, radius: int, states: List[str]) -> None:
        for now, later in zip(states, states[1:]):
            for window, symbol in zip(windows_of(now, radius), later):
                known = seen.setdefault(window, symbol)
                require(known == symbol, "E_COUNTEREXAMPLE", f"{window} becomes both {known} and {symbol}")

    def left_open(self) -> List[str]:
        """What was not checked of the counterexamples, as lines for the reader."""
        found = []
        if self.evolved or self.only_consistent or self.too_large:
            found.append("that a counterexample violates what its law claims (an expression)")
        if self.only_consistent:
            found.append(f"that {self.only_consistent} counterexamples follow their universe's rule (an expression)")
        if self.too_large:
            found.append(f"that {self.too_large} counterexamples follow their universe's rule (too many cells)")
        return found


def windows_of(state: str, radius: int) -> Iterator[str]:
    """Of each cell the symbols of it and of its neighbours within a radius, from the left, around the ring."""
    size = len(state)
    return ("".join(state[(i + k) % size] for k in range(-radius, radius + 1)) for i in range(size))


def check_counterexamples(specs: JSON, told: Told) -> List[str]:
    """Check 13. Every counterexample of a law or of a discovery is evolved again."""
    evolution = Evolution(specs)
    for body in told.of("verdict", "law", "escalation"):
        verdict = body["verdict"]
        if verdict is not None and verdict["counterexample"] is not None:
            evolution.check(verdict["universe"], None, verdict["counterexample"])
        for held in body.get("held_out", ()):
            failed = held["counterexample"] is not None
            require((held["status"] == "FAIL") == failed, "E_VERDICT", "a status does not go with its counterexample")
            if failed:
                evolution.check(held["universe"], held["mutant"], held["counterexample"])
    return evolution.left_open()


# -------------------- Check 14: the ledger of a discovery


def check_ledger(told: Told) -> None:
    """Check 14. The ledger has every refuted law with its counterexample, in the order in which they were proposed."""
    refuted: Dict[str, JSON] = {}
    proposed: Dict[str, int] = {}  # the iteration by law
    for body in told.of("law", "escalation"):
        law, verdict = body["law"], body["verdict"]
        if body.get("late") is not None:
            continue
        proposed.setdefault(law, body.get("iteration", 0))
        if verdict is None:
            continue
        refuted.pop(law, None)
        if verdict["counterexample"] is not None:
            found = verdict["counterexample"]
            line = {"law": law, "claim": verdict["claim"], "iteration": proposed[law]}
            refuted[law] = {**line, "start": found["start"], "t": found["t"], "cells": len(found["start"])}
    expected = [refuted[law] for law in proposed if law in refuted]
    recorded = [line for body in told.of("ledger") for line in body["refuted"]]
    require(same(recorded, expected), "E_DISCOVERY_LEDGER", "the ledger is not what the verdicts lead to")


# -------------------- Checks 15 and 16: the runs of a suite, and what the suite's receipts say of them


def check_runs(folder: Path, paths: List[str], told: Told) -> List[str]:
    """Check 15. Every run passes these checks itself, and the suite's receipt of it repeats its figures."""
    code, recorded = "E_RUNS", {body["place"]: body for body in told.of("run")}
    require(sorted(recorded) == sorted(paths), code, "the suite names other runs than it holds")
    require(len(recorded) == len(told.of("run")), code, "the suite names a run twice")
    left_open: List[str] = []
    for path in paths:
        inner_report = Report()
        try:
            inner = check_bundle(folder / path, inner_report, inner=True)
        except Refuted as refuted:
            raise Refuted(code, f"{path}: {refuted.message} [{refuted.code}]") from None
        manifest, root = inner.manifest, inner.specs["specs"][inner.specs["root"]]
        require(kind_of(manifest) == "scenario", code, f"{path} is not a run")
        known = {name: manifest[name] for name in ("specs", "receipts", "result")}
        known.update(scenario=root["name"], seed=root.get("seed", 0), run=path.rpartition("/")[2])
        for name, value in known.items():
            require(same(recorded[path].get(name), value), code, f"{path} has another `{name}` than the suite records")
        left_open += [line for line in inner_report.not_checked if line not in left_open]
    return left_open


def check_assessment(specs: JSON, told: Told) -> None:
    """Check 16. Figures, checks and mutants agree with one another and with the runs, where no expression decides."""
    code, root, first, runs = "E_ASSESSMENT", specs["specs"][specs["root"]], told.first, told.of("run")
    for name, type_ in (("figures", "figure"), ("checks", "check"), ("mutants", "mutant")):
        names = [body[type_] for body in told.of(type_)]
        require(same(names, first[name]), code, f"the suite has other {name} than its first receipt names")
    counts = {"runs": len(runs), "checks": len(first["checks"]), "mutants": len(first["mutants"])}
    require(same(told.bodies[-1][1], counts), code, "the end counts other runs, checks or mutants")
    own = [body for body in runs if body["place"].startswith("runs/")]
    require(own == runs[: first["runs"]], code, "the suite counts other runs as its own")
    for figure in told.of("figure"):
        check_figure(root["figures"][figure["figure"]], figure, own)
    for check in told.of("check"):
        verdict, errs = check["verdict"], check["error"] is not None
        require(verdict in ("PASS", "FAIL", "INCONCLUSIVE", "ERROR"), code, f"{check['check']} has no verdict")
        require((verdict == "ERROR") == errs, code, f"{check['check']} is {verdict}, which does not go with its error")
        require(verdict != "PASS" or check["opportunities"] > 0, code, f"{check['check']} passed without opportunity")
    controlled = any(run["place"].startswith("controls/") for run in runs)
    for mutant, spec in zip(told.of("mutant"), root.get("mutants", ())):
        own_control = mutant["suite"] == root["name"] and not {"arms", "scenarios", "under"} & spec.keys()
        check_mutant(mutant, told.result["checks"] if own_control and not controlled else None)


def check_figure(spec: JSON, figure: JSON, runs: List[JSON]) -> None:
    """A rate, mean or difference is its sum divided by its number; a rate of `success` follows from the runs."""
    code, name, statistic = "E_ASSESSMENT", figure["figure"], figure["statistic"]
    require(statistic in spec, code, f"{name} has another statistic than the specs")
    require(figure["error"] is None or not figure["groups"], code, f"{name} has an error and values")
    for group in figure["groups"] if statistic in ("rate", "mean", "difference") else ():
        of, total = group["of"], group["count" if statistic == "rate" else "sum"]
        value = rounded(total * 1_000_000, of) if of else None
        require(same(group.get("value"), value), code, f"the value of {name} does not follow from its sum")
        require(statistic != "rate" or 0 <= total <= of, code, f"{name} counts more than there is")
        if statistic == "rate" and spec["rate"] == "success":
            over, by = spec.get("over"), spec.get("by")
            arms = [over] if isinstance(over, str) else over  # an arm with `cases` means all of them
            named = [run for run in runs for arm in arms or () if f"{run['arm']}.".startswith(f"{arm}.")]
            chosen = runs if arms is None else named
            chosen = [run["result"] for run in chosen if by is None or str(run[by]) == group["name"]]
            episodes, successes = (sum(one[key] for one in chosen) for key in ("episodes", "successes"))
            require((of, total) == (episodes, successes), code, f"{name} counts other successes than the runs have")


def rounded(numerator: int, denominator: int) -> int:
    """A quotient, rounded to the nearest integer, halves away from zero."""
    made = (2 * abs(numerator) + abs(denominator)) // (2 * abs(denominator))
    return made if (numerator < 0) == (denominator < 0) else -made


def check_mutant(mutant: JSON, checks: JSON) -> None:
    """A mutant is caught by the checks that fail with it and pass without it, and by nothing else.

    Args:
        mutant: Its receipt.
        checks: The verdicts of the suite's own checks if they are its control, or None.
    """
    code, control, mutated = "E_ASSESSMENT", mutant["control"], mutant["mutated"]
    caught = sorted(one for one in mutated if mutated[one] == "FAIL" and control[one] == "PASS")
    verdict = "PASS" if caught else "ERROR" if "ERROR" in (*mutated.values(), *control.values()) else "FAIL"
    right = mutant["caught"] == caught and mutant["verdict"] == verdict and control.keys() == mutated.keys()
    require(right, code, f"{mutant['mutant']} is {verdict}, caught by {caught}; the receipt differs")
    require(checks is None or same(control, checks), code, "the control of a mutant has other verdicts than the suite")


# -------------------- Check 17: detached files refer to this manifest (docs/signing.md)


class Note(NamedTuple):
    """A checkpoint: a signed note (C2SP signed-note, tlog-checkpoint)."""

    origin: str
    size: int
    root: str
    text: bytes  # what the signatures are over
    signatures: List[Tuple[str, bytes]]  # the name, and the key hint followed by the signature


class Envelope(NamedTuple):
    """A DSSE envelope: what its signatures are over, and the signatures with the ids of their keys."""

    signed: bytes
    signatures: List[Tuple[str, bytes]]


@dataclass
class Signed:
    """What the signatures of a bundle are over."""

    note: Optional[Note] = None
    envelopes: List[Envelope] = field(default_factory=list)


def check_detached(folder: Path, manifest: JSON, head: Head, detached: List[str]) -> Signed:
    """Check 17. What covers the manifest follows from it, whoever signed it."""
    found, signed = Signed(), [name for name in SIGNED_FILES if name in detached]
    require(len(signed) in (0, len(SIGNED_FILES)), "E_FILES", f"a signed bundle has {', '.join(SIGNED_FILES)}")
    data = read_bytes(folder / MANIFEST, "E_MANIFEST", MIB + 1)
    if signed:
        found.note = read_note(read_bytes(folder / CHECKPOINT, "E_CHECKPOINT", 64 * KIB), "E_CHECKPOINT")
        states = (found.note.size, found.note.root) == (head.count, head.root)
        require(states, "E_CHECKPOINT", "the checkpoint states another size or root than the receipts have")
        found.envelopes = [read_envelope(folder / name, made) for name, made in statements(manifest, data).items()]
    if SUMS in detached:
        digests = sorted((path, file_sha256(folder / path)) for path in walk(folder) - {SUMS})
        wanted = "".join(f"{digest}  {path}\n" for path, digest in digests)
        recorded = read_bytes(folder / SUMS, "E_DIGESTS", 64 * MIB)
        require(recorded == wanted.encode(), "E_DIGESTS", f"{SUMS} has other digests than the files")
    return found


def statements(manifest: JSON, data: bytes) -> Dict[str, bytes]:
    """The in-toto statements of both envelopes; all of each follows from the manifest, whose bytes are `data`."""
    result = manifest["result"]
    passed = "WARNED" if result.get("warnings") else "PASSED"
    passed = passed if result["verdict"] == "PASS" else "FAILED"
    specs = next(entry["sha256"] for entry in manifest["files"] if entry["path"] == SPECS)
    tested = {"configuration": [{"digest": {"sha256": specs}, "name": SPECS}], "result": passed}
    form = {"canonicalization": "RFC8785", "digestAlgorithm": "sha256", "digestSource": "canonical-json"}
    test_result = "https://in-toto.io/attestation/test-result/v0.1"
    oscal = "https://oscal-compass.github.io/compliance-trestle/predicates/oscal-signing/v1"
    return {
        ATTESTATION: statement(test_result, data, tested),
        PROVENANCE: statement(oscal, data[:-1], {**form, "tool": "specledger"}),
    }


def statement(predicate_type: str, subject: bytes, predicate: JSON) -> bytes:
    """An in-toto statement about the manifest, in canonical JSON."""
    about = [{"digest": {"sha256": hashlib.sha256(subject).hexdigest()}, "name": MANIFEST}]
    made = {"_type": "https://in-toto.io/Statement/v1", "subject": about}
    return canonical({**made, "predicateType": predicate_type, "predicate": predicate})


def read_envelope(path: Path, payload: bytes) -> Envelope:
    """A DSSE envelope around exactly this payload."""
    code, media = "E_ENVELOPE", "application/vnd.in-toto+json"
    held = read_document(path, code, MIB)
    shaped = isinstance(held, dict) and held.keys() == {"payload", "payloadType", "signatures"}
    require(shaped and held["payloadType"] == media, code, f"{path.name} is not an envelope of a statement")
    about = from_base64(held["payload"], code, "the payload") == payload
    require(about, code, f"{path.name} holds another statement than the one that follows from the manifest")
    signatures = []
    for one in held["signatures"]:
        require(one.keys() == {"keyid", "sig"} and HEX64.fullmatch(one["keyid"]), code, "a signature is malformed")
        raw = from_base64(one["sig"], code, "a signature")
        require(len(raw) == 64, code, "a signature does not have 64 bytes")
        signatures.append((one["keyid"], raw))
    keys = [key for key, _ in signatures]
    require(1 <= len(keys) <= 16 and keys == sorted(set(keys)), code, f"{path.name} needs 1 to 16 sorted signatures")
    return Envelope(b"DSSEv1 %d %b %d %b" % (len(media), media.encode(), len(payload), payload), signatures)


def read_note(data: bytes, code: str) -> Note:
    """A checkpoint: origin, size and root on three lines, an empty line, and a line for each signature."""
    try:
        lines = data.decode().split("\n")
    except UnicodeDecodeError:
        raise Refuted(code, "the checkpoint is not UTF-8") from None
    require(len(lines) >= 6 and not lines[3] and not lines[-1], code, "a checkpoint has three lines and signatures")
    require(ORIGIN_NAME.fullmatch(lines[0]), code, "the origin is malformed")
    require(
        re.fullmatch(r"0|[1-9][0-9]{0,15}", lines[1]) and int(lines[1]) <= MAX_INTEGER, code, "the size is malformed"
    )
    root = from_base64(lines[2], code, "the root")
    require(len(root) == 32, code, "the root does not have 32 bytes")
    signatures = []
    for line in lines[4:-1]:
        parts = line.split(" ")
        shaped = len(parts) == 3 and parts[0] == "\u2014" and ORIGIN_NAME.fullmatch(parts[1])
        require(shaped, code, "a signature line is malformed")
        raw = from_base64(parts[2], code, "a signature")
        require(len(raw) > 4, code, "a signature is too short")
        signatures.append((parts[1], raw))
    by_key = {(name, raw[:4]) for name, raw in signatures}
    require(len(by_key) == len(signatures) <= 16, code, "a key signed twice, or more than 16 keys signed")
    text = "".join(f"{line}\n" for line in lines[:3]).encode()
    return Note(lines[0], int(lines[1]), root.hex(), text, signatures)


# -------------------- Checks 18 to 21: what the reader brings: a trust file, a checkpoint, a run log


def read_trust(path: Path) -> JSON:
    """A trust file: whom the reader trusts, and what the reader expects. Malformed trust ends the verification."""
    code = "E_TRUST"
    try:
        data = path.read_bytes()
        require(len(data) <= MIB, code, "it has more than 1 MiB")
        trust = json.loads(data.decode(), object_pairs_hook=_unique_keys, parse_float=_refuse, parse_constant=_refuse)
        needed, more = {"format", "origin", "keys", "threshold"}, {"run", "specs", "checkpoint"}
        require(needed <= trust.keys() <= needed | more, code, "it has other fields than it must have")
        require(trust["format"] == "specledger/trust/v1", code, "its format is unknown")
        require(ORIGIN_NAME.fullmatch(trust["origin"].replace("{run}", ZEROS[:32])), code, "its origin is malformed")
        for one in trust["keys"]:
            require(one.keys() == {"id", "public"}, code, "a key is not {id, public}")
            raw = from_base64(one["public"], code, "a key")
            require(len(raw) == 32 and one["id"] == hashlib.sha256(raw).hexdigest(), code, "a key has another id")
        ids = [one["id"] for one in trust["keys"]]
        require(isinstance(trust["keys"], list) and 1 <= len(set(ids)) == len(ids) <= 16, code, "it needs 1 to 16 keys")
        require(type(trust["threshold"]) is int and 1 <= trust["threshold"] <= len(ids), code, "its threshold is wrong")
        for name, form in (("run", HEX32), ("specs", HEX64)):
            require(name not in trust or form.fullmatch(trust[name]), code, f"its `{name}` is malformed")
        seen = trust.get("checkpoint", {"size": 0, "root": ZEROS})
        require(seen.keys() == {"size", "root"} and HEX64.fullmatch(seen["root"]), code, "its checkpoint is malformed")
        require(type(seen["size"]) is int and 0 <= seen["size"] <= MAX_INTEGER, code, "its checkpoint is malformed")
    except (Refuted, OSError, RecursionError, *MALFORMED) as error:
        raise NoEvidence(code, f"{path} is not a trust file: {error}") from None
    return trust


def check_expected(manifest: JSON, note: Optional[Note], trust: JSON) -> None:
    """Check 18. The run, the specs and the origin are those that the trust file names."""
    for name in ("run", "specs"):
        expected = trust.get(name, manifest[name])
        require(expected == manifest[name], "E_EXPECTED", f"the {name} is {manifest[name]}, expected is {expected}")
    origin = trust["origin"].replace("{run}", manifest["run"])
    require(note is None or note.origin == origin, "E_EXPECTED", f"the origin is not {origin!r}")
    if note is None and not {"run", "specs"} & trust.keys():
        raise NotShown("E_UNSIGNED", "the trust file names no run and no specs, and the bundle has no signed origin")


def check_signatures(signed: Signed, trust: JSON) -> None:
    """Check 19. As many trusted keys as the threshold asks for signed the checkpoint and both envelopes."""
    if signed.note is None:
        raise NotShown("E_UNSIGNED", "the bundle has no signatures")
    if not CAN_CHECK_SIGNATURES:
        raise NotShown(None, "signatures were not checked: the package `cryptography` is not installed")
    keys = {one["id"]: from_base64(one["public"], "E_TRUST", "a key") for one in trust["keys"]}
    signers = [note_signers(signed.note, keys)]
    for envelope in signed.envelopes:
        own = [(key, raw) for key, raw in envelope.signatures if key in keys]
        for key, raw in own:
            right = is_signature(keys[key], raw, envelope.signed)
            require(right, "E_SIGNATURE", f"a signature in the name of the trusted key {key} is wrong")
        signers.append({key for key, _ in own})
    everywhere = set.intersection(*signers)
    if len(everywhere) < trust["threshold"]:
        message = f"{len(everywhere)} trusted keys signed everything, the threshold is {trust['threshold']}"
        raise NotShown("E_UNTRUSTED", message)


def note_signers(note: Note, keys: Dict[str, bytes]) -> Set[str]:
    """The trusted keys that signed a checkpoint; a signature line names a key by a hint of four bytes."""
    found = set()
    for key, public in keys.items():
        hint = hashlib.sha256(note.origin.encode() + b"\n\x01" + public).digest()[:4]
        for name, raw in note.signatures:
            if (name, raw[:4]) == (note.origin, hint):
                right = is_signature(public, raw[4:], note.text)
                require(right, "E_SIGNATURE", f"the checkpoint's signature of the trusted key {key} is wrong")
                found.add(key)
    return found


def is_signature(public: bytes, signature: bytes, message: bytes) -> bool:
    """Whether a signature is that of an Ed25519 key over a message."""
    try:
        Ed25519PublicKey.from_public_bytes(public).verify(signature, message)
    except (InvalidSignature, ValueError):
        return False
    return True


def check_against(bundle: Bundle, size: int, root: str, origin: Optional[str]) -> None:
    """Check 20. The first receipts are those of a checkpoint that the reader saw before."""
    head, note = bundle.head, bundle.signed.note
    if origin is not None and note is not None and origin != note.origin:
        raise NotShown("E_OTHER_LOG", f"the checkpoint is of another log: {origin!r}")
    told = f"seen: {size} receipts, root {root}; here: {head.count} receipts, root {head.root}"
    require(size <= head.count, "E_ROLLBACK", f"the log was longer before. {told}")
    tree = MerkleTree()
    for line in read_lines(bundle.folder / RECEIPTS, "E_LINE", MAX_LINE) if size else ():
        tree.add(line)
        if tree.size == size:
            break
    require(tree.root() == root, "E_FORK", f"the log does not extend the checkpoint that was seen. {told}")


class Attempt(NamedTuple):
    """An attempt in a run log, and its result if there is one."""

    line: int
    body: JSON
    result: JSON


def read_run_log(path: Path) -> List[Attempt]:
    """The attempts of a run log whose lines are one chain; a torn last line was never reported as written."""
    code, head = "E_RUNLOG", ZEROS
    attempts: Dict[int, Attempt] = {}
    *lines, _ = read_bytes(path, code, MAX_RUN_LOG).split(b"\n")
    for seq, line in enumerate(lines):
        entry = parse(line, code, f"line {seq}")
        shaped = isinstance(entry, dict) and entry.keys() == {"body", "prev", "seq", "type"}
        follows = shaped and is_count(entry["seq"], seq) and entry["prev"] == head
        require(follows, code, f"line {seq} does not follow the one before it")
        head, type_, body = tagged("runlog", line), entry["type"], entry["body"]
        require((type_ == "log") == (seq == 0), code, f"line {seq} is out of place")
        if type_ == "log":
            require(same(body, {"format": "specledger/runlog/v1"}), code, "the format of the run log is unknown")
        elif type_ == "attempt":
            shaped = body.keys() == {"kind", "name", "specs", "run", "seeds", "purpose"}
            require(shaped, code, f"line {seq} is not an attempt")
            attempts[seq] = Attempt(seq, body, None)
        else:
            shaped = type_ == "result" and body.keys() == {"attempt", "manifest", "receipts", "verdict"}
            waiting = attempts.get(body["attempt"]) if shaped else None
            require(waiting is not None and waiting.result is None, code, f"line {seq} is the result of no attempt")
            attempts[body["attempt"]] = Attempt(body["attempt"], attempts[body["attempt"]].body, body)
    require(lines, code, "the run log is empty")
    return list(attempts.values())


def check_run_log(path: Path, manifest: JSON) -> str:
    """Check 21. The run log announced this run, and this bundle was entered as its result."""
    code, attempts = "E_RUNLOG_UNLISTED", read_run_log(path)
    digest = hashlib.sha256(canonical(manifest) + b"\n").hexdigest()
    found = [one for one in attempts if one.result is not None and one.result["manifest"] == digest]
    require(found, code, f"the run log has no result with the manifest {digest}")
    attempt = found[0]
    for name, own in (("specs", manifest["specs"]), ("run", manifest["run"]), ("kind", kind_of(manifest))):
        require(attempt.body[name] == own, code, f"the attempt on line {attempt.line} announced another {name}")
    recorded = {name: attempt.result[name] for name in ("receipts", "verdict")}
    own = {"receipts": manifest["receipts"], "verdict": manifest["result"]["verdict"]}
    require(same(recorded, own), code, "the result in the run log is not that of the bundle")
    alike = [
        one for one in attempts if (one.body["kind"], one.body["name"]) == (attempt.body["kind"], attempt.body["name"])
    ]
    return f"attempt {alike.index(attempt) + 1} of {len(alike)} of {attempt.body['kind']} {attempt.body['name']}"


# -------------------- All checks in their order


@dataclass
class Check:
    """One check and what came of it: passed, failed or not shown."""

    number: int
    name: str
    status: str
    code: Optional[str] = None
    message: Optional[str] = None


@dataclass
class Report:
    """The checks so far, and what was not checked."""

    checks: List[Check] = field(default_factory=list)
    not_checked: List[str] = field(default_factory=list)

    def check(self, number: int, name: str, code: str, function: Callable[..., Result], *args: Any) -> Result:
        """Make a check and return what it establishes; `code` is the reason if it meets a malformed value.

        Raises:
            Refuted: The check failed. No later check is made.
            NotShown: What was asked for cannot be shown here.
        """
        check = Check(number, name, "failed")
        self.checks.append(check)
        try:
            established = function(*args)
        except Finding as finding:
            check.code, check.message = finding.code, finding.message
            check.status = "not shown" if isinstance(finding, NotShown) else "failed"
            raise
        except MALFORMED as error:
            check.code, check.message = code, f"a value is missing or malformed: {error!r}"[:300]
            raise Refuted(check.code, check.message) from None
        check.status = "passed"
        return established

    def ask(self, number: int, name: str, code: str, function: Callable[..., Any], *args: Any) -> bool:
        """Make a check that the reader asked for; False if it cannot be shown here."""
        try:
            self.check(number, name, code, function, *args)
        except NotShown:
            return False
        return True


@dataclass
class Bundle:
    """A bundle that passed checks 1 to 17."""

    folder: Path
    manifest: JSON
    head: Head
    specs: JSON
    signed: Signed


def check_bundle(folder: Path, report: Report, inner: bool = False) -> Bundle:
    """Make checks 1 to 17; each uses what those before it returned. `inner` says that it is a run inside a suite.

    Raises:
        Refuted: At the first check that fails.
    """
    check = report.check
    manifest = check(1, "the manifest is canonical and of a known format", "E_MANIFEST", check_manifest, folder)
    kind = kind_of(manifest)
    files = check(2, "every file is listed, whole and unchanged", "E_FILES", check_files, folder, manifest, inner)
    head = check(3, "receipts form one chain", "E_LINE", check_chain, folder, manifest["run"])
    check(4, "count, head and Merkle root are as recorded", "E_HEAD", check_head, manifest["receipts"], head)
    name = "state transitions are continuous; decisions and tokens match commitments"
    told = check(5, name, "E_LINE", check_receipts, folder, kind)
    check(6, "the result equals the recomputed one", "E_RESULT", check_result, manifest["result"], told.result)
    specs = check(7, "the specs have the recorded digest", "E_SPECS", check_specs, folder, manifest, told.first)
    check(8, "the first receipt says what the specs say", "E_SPECS", check_start, kind, told.first, specs)
    cases = [path for path in files.listed if CASE_PATH.fullmatch(path)]
    check(9, "the failing cases are those of the receipts", "E_COUNTEREXAMPLES", check_cases, folder, kind, cases)
    name = "answers from outside are on the tape"
    check(10, name, "E_TAPE_FORM", check_tape, folder, kind, TAPE in files.listed, specs, told)
    if told.entries or AUDIT_LOG in files.listed:
        name = "the audit log is one chain and ends with the entries of the run"
        check(11, name, "E_AUDIT_LINE", check_run_entries, folder, told.entries)
    check_kind(folder, report, kind, files, specs, told)
    name = "detached files refer to this manifest"
    signed = check(17, name, "E_ENVELOPE", check_detached, folder, manifest, head, files.detached)
    note_open(report, kind, files, inner)
    return Bundle(folder, manifest, head, specs, signed)


def check_kind(folder: Path, report: Report, kind: str, files: Files, specs: JSON, told: Told) -> None:
    """Make checks 12 to 16, as far as the kind of the bundle has them."""
    check, left_open = report.check, report.not_checked
    if kind in ("law", "discovery"):
        check_verdicts = check_law if kind == "law" else check_discovery
        left_open += check(12, "verdicts on laws are consistent", "E_VERDICT", check_verdicts, specs, told)
        name = "counterexamples are evolutions of their universe"
        left_open += check(13, name, "E_COUNTEREXAMPLE", check_counterexamples, specs, told)
    if kind == "discovery":
        name = "the ledger holds every refuted law with its counterexample"
        check(14, name, "E_DISCOVERY_LEDGER", check_ledger, told)
    if kind == "suite":
        left_open += check(15, "every run passes these checks", "E_RUNS", check_runs, folder, files.runs, told)
        name = "figures, checks and mutants agree with the runs"
        check(16, name, "E_ASSESSMENT", check_assessment, specs, told)


def note_open(report: Report, kind: str, files: Files, inner: bool) -> None:
    """Note what no check of this file covers."""
    left_open = report.not_checked
    if not inner:
        left_open.append("replay: that the specs lead to these receipts (L4; use `spec verify`)")
        if TAPE in files.listed and kind == "scenario":
            left_open.append("agent faults `wrong_form`, `wrong_id`; which messages the run asks (L4; `spec verify`)")
        if kind == "suite":
            left_open.append(
                "what measures are of the episodes; figures are added up from what is recorded (`spec verify`)"
            )
        left_open.append("expressions: gates, invariants, probes, `success`, checks (L5; `spec verify --judge`)")
        sources = any(map(SOURCE_PATH.fullmatch, files.listed))
        none = "which documents specs.json was resolved from: there are none"
        left_open.append("that the documents in specs/ resolve to specs.json" if sources else none)
    if TIMESTAMP in files.detached:
        left_open.append("the time stamp (L2; use openssl, or `spec verify --tsa`)")
    if GUIDE in files.detached:
        left_open.append(f"the words of {GUIDE}")


@dataclass
class Reader:
    """What the reader brings and asks for."""

    trust: JSON = None
    seen: Optional[Note] = None
    run_log: Optional[Path] = None
    levels: Tuple[str, ...] = ()


def verify_bundle(folder: Path, reader: Reader) -> Report:
    """Make all checks of a bundle; a refutation is the last check of the report."""
    report = Report()
    try:
        bundle = check_bundle(folder, report)
        reached = check_reader(bundle, report, reader)
        for level in sorted(set(reader.levels) - reached):
            report.checks.append(Check(0, f"level {level} was demanded", "not shown", None, "it is not reached here"))
    except Refuted:
        report.not_checked.append("everything after the check that failed")
    return report


def check_reader(bundle: Bundle, report: Report, reader: Reader) -> Set[str]:
    """Make checks 18 to 21, as far as the reader asks for them; returns the levels that are reached."""
    note, trust, ask = bundle.signed.note, reader.trust, report.ask
    levels = {"L0"}
    heads: List[Tuple[int, str, Optional[str]]] = []
    if trust is not None:
        name = "run, specs and origin are the expected ones"
        expected = ask(18, name, "E_EXPECTED", check_expected, bundle.manifest, note, trust)
        signed = ask(19, "enough trusted keys signed", "E_SIGNATURE", check_signatures, bundle.signed, trust)
        levels |= {"L1"} if expected and signed else set()
        if "checkpoint" in trust:
            heads.append((trust["checkpoint"]["size"], trust["checkpoint"]["root"], None))
    elif note is not None:
        report.not_checked.append("who signed the bundle (L1; no trust file was given)")
    if reader.seen is not None:
        heads.append((reader.seen.size, reader.seen.root, reader.seen.origin))
    name = "the receipts extend a previously seen checkpoint"
    for head in heads:
        levels |= {"L3"} if ask(20, name, "E_FORK", check_against, bundle, *head) else set()
    if reader.run_log is not None:
        ask(21, "the run log announced this run", "E_RUNLOG", check_run_log, reader.run_log, bundle.manifest)
    return levels


def verify_log(path: Path, is_run_log: bool) -> Report:
    """Check an audit log or a run log that is not in a bundle."""
    report = Report()
    try:
        if is_run_log:
            report.check(21, "the run log is one chain", "E_RUNLOG", read_run_log, path)
            report.not_checked.append("the bundles that the run log names; that this is the only log")
        else:
            entries = lambda: sum(1 for _ in read_audit_log(path))  # noqa: E731
            report.check(11, "the audit log is one chain", "E_AUDIT_LINE", entries)
            report.not_checked.append("whether decisions were right; that nothing was cut off at the end")
    except Refuted:
        report.not_checked.append("everything after the check that failed")
    return report


# -------------------- Zip files: the one form that `spec run --zip` writes, so that an archive cannot hide bytes

ARCHIVE_PATH = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._+=,@-]*(/[A-Za-z0-9_][A-Za-z0-9._+=,@-]*){0,7}")
DAMAGED = (zipfile.BadZipFile, struct.error, EOFError, NotImplementedError, RuntimeError, *MALFORMED)


def unzip(archive: Path, folder: Path) -> None:
    """Unpack an archive, pack its files again, and refuse it unless the bytes are the same."""
    code = "E_ARCHIVE"
    try:
        with zipfile.ZipFile(archive) as source:
            entries, size = source.infolist(), archive.stat().st_size
            require(len(entries) <= 200_000, code, "it has too many files")
            require(sum(entry.file_size for entry in entries) <= size, code, "its files are larger than it is")
            names = {entry.filename.casefold() for entry in entries}
            require(len(names) == len(entries), code, "two paths are the same but for their case")
            for entry in entries:
                stored = entry.compress_type == zipfile.ZIP_STORED and entry.compress_size == entry.file_size
                require(
                    stored and ARCHIVE_PATH.fullmatch(entry.filename), code, "a file is compressed, or has a bad path"
                )
                require(0 <= entry.header_offset < size, code, "a file lies outside of it")
                target = folder / entry.filename
                target.parent.mkdir(parents=True, exist_ok=True)
                with source.open(entry) as member, target.open("xb") as file:
                    shutil.copyfileobj(member, file, MIB)
        again = folder.with_name("again.zip")
        pack(folder, again)
        require(file_sha256(again) == file_sha256(archive), code, "it is not in the form of a bundle's archive")
    except DAMAGED as error:
        raise Refuted(code, f"the archive is damaged: {str(error)[:200]}") from None
    except (FileExistsError, NotADirectoryError, IsADirectoryError):
        raise Refuted(code, "a path of the archive is a file and a folder") from None


def pack(folder: Path, archive: Path) -> None:
    """Write the files of a folder in the one form of an archive."""
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_STORED) as target:
        for name in sorted(walk(folder), key=str.encode):
            entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            entry.create_system, entry.external_attr = 3, (stat.S_IFREG | 0o644) << 16
            entry.file_size = (folder / name).stat().st_size
            with (folder / name).open("rb") as source, target.open(entry, "w") as member:
                shutil.copyfileobj(source, member, MIB)


# -------------------- The command


def verify(place: Path, reader: Reader) -> Report:
    """Verify whatever is at a place.

    Raises:
        NoEvidence: There is no bundle and no log.
    """
    if place.is_dir():
        if not any((place / name).exists() for name in (MANIFEST, RECEIPTS, SPECS)):
            raise NoEvidence("E_NO_EVIDENCE", f"{place} is not a bundle")
        return verify_bundle(place, reader)
    if not place.is_file():
        raise NoEvidence("E_NO_EVIDENCE", f"there is no bundle at {place}")
    with place.open("rb") as file:
        begins = file.read(64 * KIB)
    if begins[:4] not in (b"PK\3\4", b"PK\5\6"):
        is_run_log = b"specledger/runlog/v1" in begins.partition(b"\n")[0]
        if is_run_log or b'"prev_entry_hash"' in begins:
            return verify_log(place, is_run_log)
        raise NoEvidence("E_NO_EVIDENCE", f"{place} is not a folder, a zip file, an audit log or a run log")
    with tempfile.TemporaryDirectory(prefix="verify-") as work:
        folder = Path(work, "bundle")
        folder.mkdir()
        try:
            unzip(place, folder)
            holds = any((folder / name).exists() for name in (MANIFEST, RECEIPTS, SPECS))
            if not holds:
                raise NoEvidence("E_NO_EVIDENCE", f"{place} holds no bundle")
        except Refuted as refuted:
            report = Report()
            report.checks.append(Check(0, "the archive has the one form", "failed", refuted.code, refuted.message))
            report.not_checked.append("everything inside the archive")
            return report
        return verify_bundle(folder, reader)


def verdict_of(report: Report) -> Tuple[str, int]:
    """The verdict of a report and its exit code."""
    statuses = {check.status for check in report.checks}
    if "failed" in statuses:
        return "REFUTED", 1
    return ("INCONCLUSIVE", 3) if "not shown" in statuses else ("CONFORMS", 0)


def printable(text: str) -> str:
    """A text that may come from the evidence: printable ASCII, everything else escaped."""
    return "".join(one if " " <= one <= "~" else ascii(one)[1:-1] for one in text)


def render(report: Report, as_json: bool) -> str:
    """The report as text or as a JSON document."""
    verdict, _ = verdict_of(report)
    if as_json:
        checks = [vars(check) for check in report.checks]
        return json.dumps({"verdict": verdict, "checks": checks, "not_checked": report.not_checked}, indent=2) + "\n"
    lines = []
    for check in report.checks:
        reason = f" [{check.code}]" if check.code else ""
        message = f"{reason}: {check.message}" if check.message else reason
        lines.append(f"{check.number or '':>2} {check.status:9} {check.name}{message}")
    lines.append("Not checked here:")
    lines += [f"  - {line}" for line in report.not_checked]
    lines.append(f"{verdict}.")
    return "".join(f"{printable(line)}\n" for line in lines)


def parse_arguments(words: Optional[List[str]]) -> argparse.Namespace:
    """The arguments of the command line."""
    parser = argparse.ArgumentParser(description="Check a bundle of specledger evidence without specledger.")
    parser.add_argument("bundle", type=Path, help="a folder, a zip file, an audit log or a run log")
    parser.add_argument("--trust", type=Path, help="whom you trust: a trust.json that does not come from the bundle")
    parser.add_argument("--against", type=Path, help="a checkpoint that you saw before")
    parser.add_argument("--log", type=Path, help="the run log in which the run must be announced and entered")
    parser.add_argument("--level", action="append", choices=LEVELS, default=[], help="a level that must be reached")
    parser.add_argument("--json", action="store_true", help="print a JSON document")
    return parser.parse_args(words)


def run(asked: argparse.Namespace) -> Tuple[str, int]:
    """Verify what was asked for; what to print, and the exit code."""
    try:
        reader = Reader(run_log=asked.log, levels=tuple(asked.level))
        reader.trust = None if asked.trust is None else read_trust(asked.trust)
        if asked.against is not None:
            try:
                reader.seen = read_note(read_bytes(asked.against, "E_AGAINST", 64 * KIB), "E_AGAINST")
            except Refuted as refuted:
                raise NoEvidence(refuted.code, refuted.message) from None
        report = verify(asked.bundle, reader)
        return render(report, asked.json), verdict_of(report)[1]
    except NoEvidence as nothing:
        return failure(asked, nothing.code, nothing.message), 2
    except (MemoryError, OSError, RecursionError) as error:  # the system failed: that says nothing of the evidence
        return failure(asked, None, f"the system failed: {type(error).__name__}: {error}"), 3
    except Exception as error:  # a defect of this file must not look like a refutation
        return failure(asked, None, f"this program failed: {error!r}"), 3


def failure(asked: argparse.Namespace, code: Optional[str], message: str) -> str:
    """What is printed where no check was made."""
    if asked.json:
        return json.dumps({"verdict": None, "code": code, "message": message}) + "\n"
    return printable(f"[{code}] {message}" if code else message) + "\n"


def main(words: Optional[List[str]] = None) -> int:
    """Verify what a command line names, print what was found, and return the exit code."""
    asked = parse_arguments(words)
    try:
        output, exit_code = run(asked)
        sys.stdout.write(output)
        sys.stdout.flush()
    except KeyboardInterrupt:
        return 130
    except (OSError, ValueError):  # the output is closed: nobody could read the answer
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 - the interpreter flushes it at its end
        return 3
    return exit_code


if __name__ == "__main__":
    sys.exit(main())
