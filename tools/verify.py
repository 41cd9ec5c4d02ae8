#!/usr/bin/env python3
"""Verify a bundle of evidence with Python alone: no package, no network, no code of the engine that made it.

    python3 verify.py BUNDLE [--trust TRUST.json] [--against CHECKPOINT] [--json]

BUNDLE is a folder or a zip file. Written from `docs/evidence.md`, `docs/signing.md` and the standards named there; it
shares no line with the engine, so that a mistake of one is noticed by the other. It needs Python 3.9 or newer.

It checks what follows from the evidence itself: files, canonical form, chain, order, commitments, joining states, the
result, the specs' digest, the audit log, and what covers the manifest; with --trust who signed it, with --against that
it goes on from a head seen before. It does *not* check what takes the engine: that the specs are valid and lead to the
receipts (replay), that figures and verdicts of a suite follow from its runs, and that certificates prove their laws.

Exit codes: 0 nothing that was asked for is refuted or open; 1 refuted; 2 wrong usage, or there is no evidence; 3 not
refuted, but something that was asked for could not be shown.
"""

import argparse
import base64
import hashlib
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
from pathlib import Path

MANIFEST, RECEIPTS, SPECS, LOG, TAPE = "manifest.json", "receipts.jsonl", "specs.json", "audit.log.jsonl", "tape.jsonl"
CHECKPOINT, ATTESTATION, PROVENANCE = "checkpoint", "attestation.dsse.json", "manifest.json.dsse.json"
TIMESTAMP, SUMS, GUIDE = "timestamp.tsr", "sha256sums", "VERIFY.md"
SIGNED = (CHECKPOINT, ATTESTATION, PROVENANCE)
ATTACHED = (*SIGNED, TIMESTAMP, SUMS, GUIDE)
FOLDERS = ("controls", "mutants", "runs")
KINDS = ("scenario", "suite", "law", "discovery")
BIG, DEPTH, LINE, ENTRY, MEBI = 2**53 - 1, 64, 8 << 20, 4 << 20, 1 << 20
ZEROS = "0" * 64
ENTRY_KEYS = {"entry_id", "timestamp_ms", "event", "prev_entry_hash", "entry_hash", "proposal_hash", "trace_hash"}
ENTRY_KEYS |= {"kernel_decision", "witnesses", "capability_tokens"}
HEX32, HEX64 = re.compile(r"[0-9a-f]{32}"), re.compile(r"[0-9a-f]{64}")


class Refuted(Exception):
    """Something in the evidence is not what it must be."""

    def __init__(self, code, message):
        self.code, self.message = code, message
        super().__init__(f"{code}: {message}")


class Open(Exception):
    """Something cannot be shown, and nothing is refuted by that."""

    def __init__(self, code, message):
        self.code, self.message = code, message
        super().__init__(f"{code}: {message}")


def demand(holds, code, message):
    """Refute the evidence unless something holds."""
    if not holds:
        raise Refuted(code, message)


# Canonical JSON


def write(value):
    """The one spelling of a value."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False, sort_keys=True, separators=(",", ":")).encode()


def read(data, code, what):
    """The value of a document, if these bytes are its one spelling; whoever has them has bounded them."""
    try:
        value = json.loads(data.decode(), object_pairs_hook=_object, parse_float=_none, parse_constant=_none)
        _bounded(value)
        same = write(value) == data
    except (ValueError, RecursionError) as error:  # UnicodeError is a ValueError
        raise Refuted(code, f"{what} is no canonical JSON: {str(error)[:200]}") from None
    demand(same, code, f"{what} differs from its canonical form")
    return value


def _object(pairs):
    made = dict(pairs)
    if len(made) != len(pairs):
        raise ValueError("a key stands twice")
    return made


def _none(text):
    raise ValueError(f"{text[:20]} is no integer")


def _bounded(value):
    todo = [(value, 0)]
    while todo:
        one, depth = todo.pop()
        if isinstance(one, (dict, list)):
            if depth == DEPTH:
                raise ValueError(f"more than {DEPTH} containers inside one another")
            todo += [(inner, depth + 1) for inner in (one.values() if isinstance(one, dict) else one)]
        elif isinstance(one, int) and not -BIG <= one <= BIG:
            raise ValueError("an integer beyond 2^53 - 1")


def plain(path, code, limit):
    """The bytes of a plain file that is no link."""
    demand(path.is_file() and not path.is_symlink(), code, f"{path.name} is missing")
    with path.open("rb") as file:
        data = file.read(limit + 1)
    demand(len(data) <= limit, code, f"{path.name} has more than {limit} bytes")
    return data


def document(path, code, limit):
    """The value of a file that holds one canonical document and a newline."""
    data = plain(path, code, limit + 1)
    demand(data.endswith(b"\n"), code, f"{path.name} does not end with a newline")
    return read(data[:-1], code, path.name)


# Digests


def tagged(tag, data):
    """SHA-256 under a domain tag of version 1, as 64 digits."""
    return hashlib.sha256(f"specledger/{tag}/v1".encode() + b"\0" + data).hexdigest()


def file_sha256(path):
    """SHA-256 of a file that may be large."""
    made = hashlib.sha256()
    with path.open("rb") as file:
        for part in iter(lambda: file.read(MEBI), b""):
            made.update(part)
    return made.hexdigest()


class Tree:
    """The Merkle root of RFC 6962 over leaves that come one by one."""

    def __init__(self):
        self.size, self.full = 0, []  # hashes of full subtrees, the largest first, with their sizes

    def add(self, leaf):
        """Take the next leaf."""
        node, size = hashlib.sha256(b"\0" + leaf).digest(), 1
        while self.full and self.full[-1][1] == size:
            node, size = hashlib.sha256(b"\1" + self.full.pop()[0] + node).digest(), size * 2
        self.full.append((node, size))
        self.size += 1

    def root(self):
        """The root over the leaves that came so far."""
        if not self.full:
            return hashlib.sha256(b"").hexdigest()
        node = self.full[-1][0]
        for left, _ in reversed(self.full[:-1]):
            node = hashlib.sha256(b"\1" + left + node).digest()
        return node.hex()


def merkle(leaves):
    """The Merkle root over leaves."""
    tree = Tree()
    for leaf in leaves:
        tree.add(leaf)
    return tree.root()


# Ed25519 (RFC 8032, section 5.1.7), as strict as OpenSSL: S below the group's order, R compared as bytes

P = 2**255 - 19
ORDER = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, P - 2, P) % P
HALF = pow(2, (P - 1) // 4, P)


def _sum(a, b):
    (x1, y1, z1, t1), (x2, y2, z2, t2) = a, b
    left, right = (y1 - x1) * (y2 - x2) % P, (y1 + x1) * (y2 + x2) % P
    c, d = 2 * t1 * t2 * D % P, 2 * z1 * z2 % P
    e, f, g, h = right - left, d - c, d + c, right + left
    return e * f % P, g * h % P, f * g % P, e * h % P


def _times(number, point):
    made = (0, 1, 1, 0)
    while number:
        if number & 1:
            made = _sum(made, point)
        point, number = _sum(point, point), number >> 1
    return made


def _point(raw):
    y = int.from_bytes(raw, "little")
    sign, y = y >> 255, y & (1 << 255) - 1
    if y >= P:
        return None
    square = (y * y - 1) * pow(D * y * y + 1, P - 2, P) % P
    x = pow(square, (P + 3) // 8, P)
    if x * x % P != square:
        x = x * HALF % P
    if x * x % P != square or (x == 0 and sign):
        return None
    x = P - x if x & 1 != sign else x
    return x, y, 1, x * y % P


BASE = _point((4 * pow(5, P - 2, P) % P).to_bytes(32, "little"))


def ed25519(public, signature, message):
    """Whether a signature is that of a public key, both raw, over a message."""
    key, s = _point(public), int.from_bytes(signature[32:], "little")
    if len(signature) != 64 or key is None or s >= ORDER:
        return False
    h = int.from_bytes(hashlib.sha512(signature[:32] + public + message).digest(), "little") % ORDER
    x, y, z, t = _sum(_times(s, BASE), _times(h, (P - key[0], key[1], 1, P - key[3])))
    inverse = pow(z, P - 2, P)
    x, y = x * inverse % P, y * inverse % P
    return (y | (x & 1) << 255).to_bytes(32, "little") == signature[:32]


def unbase64(text, code, what):
    """The bytes of a text that is their one standard base64."""
    try:
        data = base64.b64decode(text, validate=True) if isinstance(text, str) else b""
    except ValueError:
        data = b""
    demand(base64.b64encode(data).decode() == text, code, f"{what} is no standard base64")
    return data


# Receipts in their order


class Run:
    """The receipts of a scenario: each goes on from what those before it left."""

    def __init__(self):
        self.gates, self.invariants, self.due, self.tips = {}, {}, {}, {}
        self.episode, self.steps, self.t = -1, 0, -1
        self.open = self.fatal = self.ended = False
        self.commit, self.state, self.first = None, "", None
        self.entries, self.entry_head = [], ZEROS
        self.result = Figures()

    def add(self, kind, body):
        """Take the next receipt."""
        demand(not self.ended, "E_ENDS", f"{kind!r} after the end")
        demand(kind in self.TAKES, "E_LINE", f"there are no receipts of the type {kind!r}")
        self.TAKES[kind](self, body)
        self.result.add(kind, body)

    @staticmethod
    def need(holds, message):
        """Refute the evidence unless the receipt goes on from those before it."""
        demand(holds, "E_STATE", message)

    def start(self, body):
        """Keep what the run promises."""
        self.promised, self.horizon = body["episodes"], body["horizon"]
        self.commits = body.get("commit", "proposals") != "none"
        self.entry_head = body["audit"]["head"] if "audit" in body else ZEROS
        self.gates = dict.fromkeys(body["gates"], 0)
        self.invariants = {(one["scope"], one["name"]): one["severity"] for one in body["invariants"]}
        for drift in body["drifts"]:
            self.due.setdefault(drift["drift"], set()).update(drift["schedule"])

    def begin(self, body):
        """An episode begins where the one before it ended, in the state that it shows."""
        self.need(not self.open and number(body["episode"], self.episode + 1), "an episode begins out of order")
        self.need(body["digest"] == tagged("state", write(body["state"])), "the digest of the start state is wrong")
        self.episode, self.state, self.open = body["episode"], body["digest"], True
        self.t, self.commit, self.first, self.fatal = -1, None, None, False
        for name in body["parts"]:
            self.tips.setdefault(name, ZEROS)

    def placed(self, body):
        """See that a receipt belongs to the step that comes next."""
        here = self.open and number(body["episode"], self.episode) and number(body["t"], self.t + 1)
        self.need(here, "a receipt is out of order")

    def uncommitted(self):
        """See that no decision is due."""
        self.need(self.commit is None, "a commitment is not followed by its decision")

    def drift(self, body):
        """A drift is due, and begins in the last state."""
        self.placed(body)
        self.uncommitted()
        self.need(body["t"] in self.due.get(body["drift"], ()), f"the drift at t = {body['t']} was not due")
        self.need(body["before"] == self.state, "a drift begins in another state")
        self.state = body["after"]

    def audit(self, body):
        """An entry of the audit log follows the one before it."""
        own = {name: value for name, value in body.items() if name != "entry_hash"}
        self.need(body["prev_entry_hash"] == self.entry_head, "an audit entry does not follow the one before it")
        found = hashlib.sha256(write(own)).hexdigest()
        self.need(body["entry_hash"] == found, "the hash of an audit entry is not its own")
        self.entry_head = found
        self.entries.append(found)

    def probe(self, body):
        """A probe belongs to the step that is being decided."""
        here = self.open and number(body["episode"], self.episode) and number(body["t"], self.t + 1)
        self.need(here, "a probe is out of order")

    def committed(self, body):
        """A set of proposals is committed to."""
        self.placed(body)
        self.uncommitted()
        self.commit = body

    def step(self, body):
        """A decision is bound to its commitment, and begins in the last state."""
        self.placed(body)
        if self.commits:
            demand(self.commit is not None, "E_COMMITMENT", "no commitment precedes a decision")
            decided(self.commit, body)
        t = body["t"]
        self.need(body["before"] == self.state, f"the step at t = {t} begins in another state")
        still = body["after"] == body["before"]
        self.need(body["chosen"] is not None or still, f"nothing was done at t = {t}, but the state changed")
        for name, receipt in body["parts"].items():
            self.part(name, receipt)
        self.need(t < self.horizon and not self.fatal, f"there is a step at t = {t}, after the episode's end")
        for decision in body["decisions"]:
            for failing in decision["rejected"]:
                self.need(failing["gate"] in self.gates, "a gate is none of the run's")
                self.gates[failing["gate"]] += 1
        self.broken("step", body["violations"])
        if body["success"] is True and self.first is None:
            self.first = t
        self.state, self.t, self.commit, self.steps = body["after"], t, None, self.steps + 1

    def part(self, name, receipt):
        """A part's receipt goes on from its last tip."""
        self.need(receipt["tip"] == self.tips[name], f"the chain of {name!r} is broken")
        bare = {key: value for key, value in receipt.items() if key != "tip_after"}
        tip = tagged("part", receipt["tip"].encode() + write(bare))
        self.need(receipt["tip_after"] == tip, f"the tip of {name!r} is wrong")
        moved = receipt["before"] != receipt["after"]
        self.need(receipt["accepted"] or not moved, f"{name!r} moved, though it refused")
        self.tips[name] = tip

    def broken(self, scope, violations):
        """Broken invariants are some of the run's."""
        for one in violations:
            severity = self.invariants.get((scope, one["invariant"]))
            known = severity is not None and one["severity"] == severity
            self.need(known, "a broken invariant is none of the run's")
            self.fatal = self.fatal or (scope == "step" and severity == "fatal")

    def error(self, body):
        """An error happens in an episode, or where one would begin."""
        self.need(number(body["episode"], self.episode + (not self.open)), "an error outside an episode")

    def close(self, body):
        """An episode ends as its steps came to."""
        ended = body["ended"]
        begun = self.open and number(body["episode"], self.episode)
        failed = not self.open and number(body["episode"], self.episode + 1) and ended == "error"
        self.need(begun or failed, "an episode ends that was not begun")
        self.need(self.commit is None or ended == "error", "a commitment is not followed by its decision")
        self.need(failed or number(body["steps"], self.t + 1), "an episode counts other steps than it has")
        self.need(failed or body["state"] == self.state, "an episode ends in another state")
        steps = 0 if failed else self.t + 1
        first = None if failed else self.first
        self.need(
            type(body["first_success"]) is type(first) and body["first_success"] == first, "another first success"
        )
        self.need(body["success"] is (first is not None), "an episode claims another success")
        self.need((ended == "fatal") == (self.fatal and not failed), "an episode ended otherwise than it says")
        self.need(ended != "horizon" or steps == self.horizon, "an episode ended before its horizon")
        if ended in ("horizon", "until", "fatal"):
            self.broken("episode", body["violations"])
        self.need(counted(body["gates"], self.gates), "an episode counts other rejections")
        for name, idle in body["idle"].items():
            most = steps * (("step", name) in self.invariants) + (("episode", name) in self.invariants)
            self.need(type(idle) is int and 0 < idle <= most, "an invariant is idle too often")
        self.episode, self.open, self.fatal, self.first = body["episode"], False, False, None

    def end(self, body):
        """The run ends as long as it promised."""
        whole = not self.open and number(body["episodes"], self.episode + 1)
        self.need(whole and number(body["episodes"], self.promised), "the run ends in its middle")
        self.need(number(body["steps"], self.steps), "the run counts other steps than it has")
        self.need(counted(body["gates"], self.gates), "the run counts other rejections")
        self.ended = True

    TAKES = {
        "start": start,
        "episode": begin,
        "drift": drift,
        "audit": audit,
        "probe": probe,
        "commit": committed,
        "step": step,
        "error": error,
        "episode_end": close,
        "end": end,
    }


FAILURES = ("raised", "timed_out", "closed", "died", "too_long", "not_json")


def is_text(data):
    """Whether bytes are UTF-8."""
    try:
        return isinstance(data.decode(), str)
    except UnicodeDecodeError:
        return False


def number(value, wanted):
    """Whether a value is this integer; `False` is none."""
    return type(value) is int and value == wanted


def counted(recorded, found):
    """Whether counts by name are these, all of them integers."""
    return recorded == found and all(type(one) is int for one in recorded.values())


def decided(commit, step):
    """Everything that binds a decision to the set that was committed to before it."""
    proposals, chosen, t = commit["proposals"], step["chosen"], step["t"]
    leaves = [write({"index": index, "proposal": one}) for index, one in enumerate(proposals)]
    code = "E_COMMITMENT"
    demand(merkle(leaves) == commit["root"], code, f"the proposals at t = {t} are not those committed to")
    demand(len(step["decisions"]) == len(proposals), code, f"there is not one decision for each proposal at t = {t}")
    admitted = [not one["rejected"] and one["error"] is None for one in step["decisions"]]
    if chosen is None:
        none = not any(admitted) and step["token"] is None and step["chosen_hash"] is None
        demand(none, code, f"nothing was chosen at t = {t}, though something was admitted")
        return
    demand(type(chosen) is int and 0 <= chosen < len(proposals), code, f"the choice at t = {t} is outside the set")
    demand(admitted[chosen], code, f"the proposal chosen at t = {t} was rejected")
    digest = tagged("proposal", leaves[chosen])
    demand(step["chosen_hash"] == digest, code, f"the digest of the proposal chosen at t = {t} is wrong")
    scope = {"episode": step["episode"], "op": proposals[chosen]["action"]["op"], "t": t}
    binding = {"commitment": commit["root"], "proposal": digest, "scope": tagged("scope", write(scope))}
    token = {"id": tagged("token", write(binding)), **binding}
    demand(step["token"] == token, code, f"the token at t = {t} is bound to something else")


class Figures:
    """The result of a run, added up from its receipts."""

    def __init__(self):
        self.count, self.scopes, self.probes = Counter(), Counter(), {}
        self.gates, self.violations, self.warnings = {}, Counter(), Counter()
        self.failed = self.ended = False

    def add(self, kind, body):
        """Take the next receipt."""
        count = self.count
        if kind == "start":
            self.gates = dict.fromkeys(body["gates"], 0)
            self.scopes.update(one["scope"] for one in body["invariants"])
        elif kind == "drift":
            count["drifts"] += 1
        elif kind == "error":
            count["errors"] += 1
        elif kind == "step":
            count["steps"] += 1
            count["proposals"] += len(body["decisions"])
            count["checks"] += self.scopes["step"]
            count["errors"] += sum(one["error"] is not None for one in body["decisions"])
            for failing in (failing for one in body["decisions"] for failing in one["rejected"]):
                self.gates[failing["gate"]] += 1
            self.violations.update(["progress"] if body["chosen"] is None else [])
            self.breaches(body)
        elif kind == "probe":
            count["checks"] += 1
            count["errors"] += body["verdict"] == "ERROR"
            self.failed = self.failed or body["verdict"] == "FAIL"
            self.probes.setdefault(body["probe"], Counter())[body["verdict"]] += 1
        elif kind == "episode_end":
            count["episodes"] += 1
            count["successes"] += bool(body["success"])
            count["checks"] += self.scopes["episode"] - sum(body["idle"].values())
            self.breaches(body)
        elif kind == "end":
            self.ended = True

    def breaches(self, body):
        """Count broken invariants by their severity."""
        for one in body["violations"]:
            (self.violations if one["severity"] == "fatal" else self.warnings)[one["invariant"]] += 1

    def made(self):
        """The result so far."""
        count = self.count
        verdict = "PASS" if count["checks"] else "INCONCLUSIVE"
        verdict = "FAIL" if self.violations or self.failed else verdict
        verdict = "ERROR" if count["errors"] or not self.ended else verdict
        names = ("episodes", "successes", "steps", "proposals", "drifts", "checks", "errors")
        made = {"verdict": verdict, **{name: count[name] for name in names}}
        made.update(rejections=self.gates, violations=dict(self.violations), warnings=dict(self.warnings))
        return {**made, "probes": {name: dict(one) for name, one in self.probes.items()}} if self.probes else made


def judged(verdict, digest):
    """Everything in a verdict on a law that follows from the verdict itself."""
    code, status = "E_VERDICT", verdict["status"]
    demand(digest == tagged("law-verdict", write(verdict)), code, "the digest of a verdict is not its own")
    demand(status in ("PROVED", "PASS", "FAIL", "UNKNOWN"), code, "a status is none")
    demand(
        (status == "UNKNOWN") == (verdict["reason"] is not None), code, f"{status} and its reason do not go together"
    )
    refuted, proved = verdict["counterexample"] is not None, verdict["certificate"] is not None
    demand((status == "FAIL") == refuted, code, f"{status} and its counterexample do not go together")
    rests = proved and verdict["method"] == "proof"
    demand(status != "PROVED" or rests, code, "PROVED rests on no certificate")
    demand(status != "FAIL" or not proved, code, "FAIL has a certificate that the law holds")


class Law:
    """The receipts of a law's trial."""

    def __init__(self):
        self.seen, self.figures = [], {"status": None, "reason": None, "met": None, "cases": 0}
        self.entries = []
        self.result = self

    def add(self, kind, body):
        """Take the next receipt."""
        self.seen.append(kind)
        orders = (["start", "cases", "verdict", "end"], ["start", "verdict", "end"])
        demand(any(order[: len(self.seen)] == self.seen for order in orders), "E_ENDS", f"{kind!r} has no place here")
        if kind == "cases":
            self.figures["cases"] = body["count"]
        elif kind == "verdict":
            self.said = body
            self.figures.update(status=body["verdict"]["status"], reason=body["verdict"]["reason"])
        elif kind == "end":
            self.status, self.figures["met"] = body["status"], body["met"]

    def check_verdicts(self):
        """The verdict fits itself, and the end fits the verdict."""
        verdict, expected = self.said["verdict"], self.said["expected"]
        judged(verdict, self.said["digest"])
        demand(self.status == verdict["status"], "E_VERDICT", "the end tells another status")
        met = None if expected is None else all(verdict[name] == value for name, value in expected.items())
        demand(self.figures["met"] is met, "E_VERDICT", "whether the expectation was met is told wrongly")

    def made(self):
        """The result so far."""
        met, status = self.figures["met"], self.figures["status"]
        verdict = {"PROVED": "PASS", "PASS": "PASS", "FAIL": "FAIL", "UNKNOWN": "INCONCLUSIVE"}.get(status)
        if verdict is None or self.seen[-1] != "end":
            verdict = "ERROR"
        elif met is not None:
            verdict = "PASS" if met is True else "FAIL"
        return {"verdict": verdict, **self.figures}


class Suite:
    """The receipts of a suite, and what they say of the runs that it holds."""

    def __init__(self):
        self.count, self.checks, self.mutants, self.verdicts, self.runs = Counter(), {}, {}, [], {}
        self.own, self.ended, self.entries = 0, False, []
        self.result = self

    def add(self, kind, body):
        """Take the next receipt."""
        known = kind in ("start", "run", "figure", "check", "mutant", "end")
        demand(known and not self.ended, "E_ENDS", f"{kind!r} has no place here")
        if kind == "start":
            self.own = body["runs"]
        elif kind == "run":
            self.runs[body["place"]] = {name: body[name] for name in ("specs", "receipts", "result")}
            own = self.count["runs"] < self.own
            self.count["runs" if own else "trials"] += 1
            for name in ("episodes", "steps", "drifts", "errors") if own else ():
                self.count[name] += body["result"][name]
        elif kind == "check":
            self.checks[body["check"]] = body["verdict"]
            self.verdicts.append(body["verdict"])
        elif kind == "mutant":
            self.mutants[body["mutant"]] = body["caught"]
            self.verdicts.append(body["verdict"])
        self.ended = kind == "end"

    def made(self):
        """The result so far."""
        verdict = "ERROR"
        if self.ended and not self.count["errors"]:
            order = ("ERROR", "FAIL", "INCONCLUSIVE", "PASS")
            verdict = min(self.verdicts, key=order.index, default="INCONCLUSIVE")
        names = ("runs", "trials", "episodes", "steps", "drifts", "errors")
        figures = {name: self.count[name] for name in names}
        return {"verdict": verdict, **figures, "checks": self.checks, "mutants": self.mutants}


class Discovery:
    """The receipts of a discovery."""

    AFTER = {
        "": ("start",),
        "start": ("iteration",),
        "iteration": ("iteration", "law", "escalation", "stop"),
        "law": ("iteration", "law", "escalation", "stop"),
        "escalation": ("iteration", "escalation", "stop"),
        "stop": ("ledger",),
        "ledger": ("expected", "end"),
        "expected": ("expected", "end"),
        "end": (),
    }
    NAMES = ("iterations", "failures", "rejected", "redundant", "late", "evaluations", "escalations", "tokens")

    def __init__(self):
        self.last, self.iterations, self.number = "", 0, 0
        self.count, self.laws, self.shares, self.expected, self.stopped = Counter(), {}, {}, {}, None
        self.told, self.entries = [], []
        self.result = self

    def add(self, kind, body):
        """Take the next receipt."""
        demand(kind in self.AFTER[self.last], "E_ENDS", f"{kind!r} has no place after {self.last!r}")
        self.last = kind
        if kind == "iteration":
            demand(number(body["iteration"], self.iterations), "E_ENDS", "iterations count up")
            self.iterations, self.number = self.iterations + 1, 0
            self.iteration(body)
        elif kind == "law":
            placed = number(body["iteration"], self.iterations - 1) and number(body["number"], self.number)
            demand(placed, "E_ENDS", "the laws of an iteration count up")
            self.number += 1
            self.count["evaluations"] += 1
            self.count["late"] += body["late"] is not None
            if body["late"] is None:
                self.judged(body["law"], body["verdict"])
        elif kind == "escalation":
            self.count["escalations"] += 1
            self.judged(body["law"], body["verdict"])
        elif kind == "expected":
            self.expected[body["law"]] = body["found"] is not None
        if kind in ("law", "escalation", "ledger"):
            self.told.append((kind, body))
        if kind in ("stop", "end"):
            demand(number(body["iterations"], self.iterations), "E_ENDS", "the end counts the iterations")
        if kind == "stop":
            self.stopped = body["reason"]

    def iteration(self, body):
        """Count what an iteration tells."""
        usage = body["answer"]["usage"]
        self.count["iterations"] += 1
        self.count["failures"] += body["answer"]["failure"] is not None
        self.count["rejected"] += len(body["rejections"])
        self.count["redundant"] += len(body["redundant"])
        self.count["tokens"] += sum(usage[name] for name in ("prompt_tokens", "output_tokens", "thinking_tokens"))

    def check_verdicts(self):
        """Every verdict fits itself, and the ledger holds every refuted law with its ring, in order."""
        refuted, came, recorded = {}, {}, None
        for kind, body in self.told:
            if kind == "ledger":
                recorded = body["refuted"]
                continue
            law, verdict = body["law"], body["verdict"]
            demand(kind == "law" or law in came, "E_VERDICT", "an escalated law was not proposed before")
            demand((verdict is None) != (body["error"] is None), "E_VERDICT", "a verdict and an error, or neither")
            demand(verdict is not None or body["digest"] is None, "E_VERDICT", "there is a digest of no verdict")
            if verdict is not None:
                judged(verdict, body["digest"])
            if kind == "law" and body["late"] is not None:
                continue
            came.setdefault(law, body["iteration"] if kind == "law" else 0)
            if verdict is not None:
                refuted.pop(law, None)
            if verdict is not None and verdict["counterexample"] is not None:
                found = verdict["counterexample"]
                ring = {"start": found["start"], "t": found["t"], "cells": len(found["start"])}
                refuted[law] = {"law": law, "claim": verdict["claim"], "iteration": came[law], **ring}
        ordered = [refuted[law] for law in came if law in refuted]
        demand(write(recorded) == write(ordered), "E_DISCOVERY_LEDGER", "the ledger is not what the verdicts lead to")

    def judged(self, law, verdict):
        """Keep the last verdict on a law."""
        self.laws[law] = "ERROR" if verdict is None else verdict["status"]
        content = None if verdict is None else verdict["content"]
        self.shares[law] = 0 if content is None else content["share"]

    def made(self):
        """The result so far."""
        statuses = list(self.laws.values())
        accepted = [law for law, status in self.laws.items() if status in ("PROVED", "PASS")]
        verdict = "PASS" if accepted else "INCONCLUSIVE"
        if self.expected:
            verdict = "PASS" if all(self.expected.values()) else "FAIL"
        if self.last != "end" or "ERROR" in statuses:
            verdict = "ERROR"
        return {
            "verdict": verdict,
            **{name: self.count[name] for name in self.NAMES},
            "laws": {one: statuses.count(one) for one in ("PROVED", "PASS", "FAIL", "UNKNOWN", "ERROR")},
            "content": sum(self.shares[law] for law in accepted),
            "stopped": self.stopped,
            "expected": self.expected,
        }


ORDERS = {"scenario": Run, "suite": Suite, "law": Law, "discovery": Discovery}


# A bundle


class Bundle:
    """One folder, checked in the order in which its parts rest on one another."""

    VERSION = re.compile(r"[0-9]{1,9}(\.[0-9]{1,9}){0,3}([-.+]?[a-z0-9]{1,20}){0,3}")
    KEYS = {"format", "run", "specs", "result", "receipts", "files", "engine"}

    def __init__(self, place, inner=False):
        self.place, self.inner = place, inner
        self.roots, self.note, self.envelopes = [], None, {}

    def checks(self):
        """What is checked of it, in order: a name and a function."""
        yield "the manifest is canonical and of a known format", self.read_manifest, "E_MANIFEST"
        yield "every file is listed, whole and unchanged", self.check_files, "E_FILES"
        yield "receipts form one chain, and decisions match their commitments", self.check_receipts, "E_LINE"
        yield "head, count and Merkle root are those of the manifest", self.check_head, "E_HEAD"
        yield "the result is what the receipts add up to", self.check_result, "E_RESULT"
        yield "the specs are those that the run names", self.check_specs, "E_SPECS"
        if TAPE in self.listed:
            yield "the tape is one", self.check_tape, "E_TAPE_FORM"
        if self.order.entries or LOG in self.listed:
            yield "the audit log is whole, and ends with the entries of the run", self.check_log, "E_AUDIT_LINE"
        if self.attached:
            yield "what lies beside the manifest is about it", self.check_attached, "E_ENVELOPE"
        if self.kind in ("law", "discovery"):
            yield "every verdict fits itself, and what rests on it fits it", self.order.check_verdicts, "E_VERDICT"
        if self.kind == "suite":
            yield "every run is whole in itself, and the one that the suite speaks of", self.check_runs, "E_RUNS"

    def read_manifest(self):
        """The manifest has exactly its fields, and is of a known kind."""
        manifest = document(self.place / MANIFEST, "E_MANIFEST", MEBI)
        demand(isinstance(manifest, dict), "E_MANIFEST", "the manifest is no object")
        self.kind = manifest.get("kind", "scenario")
        keys = self.KEYS if "kind" not in manifest else {*self.KEYS, "kind"}
        known = self.kind in KINDS and (self.kind != "scenario" or "kind" not in manifest)
        demand(manifest.keys() == keys and known, "E_MANIFEST", "the manifest has not exactly the fields that it must")
        demand(manifest["format"] == "specledger/bundle/v1", "E_MANIFEST", "the format is unknown")
        engine = manifest["engine"]
        demand(
            isinstance(engine, dict) and engine.keys() == {"name", "version"}, "E_MANIFEST", "what made it is unknown"
        )
        made = engine["name"] == "specledger" and self.VERSION.fullmatch(engine["version"])
        demand(made, "E_MANIFEST", "what made it is unknown")
        self.manifest, self.order = manifest, ORDERS[self.kind]()

    def check_files(self):
        """What is listed is there, as listed, and nothing else is."""
        entries = self.manifest["files"]
        shaped = isinstance(entries, list) and all(e.keys() == {"path", "sha256", "size"} for e in entries)
        demand(shaped, "E_FILES", "`files` lists {path, sha256, size}")
        paths = [entry["path"] for entry in entries]
        further = {"scenario": (LOG, TAPE), "discovery": (TAPE,)}.get(self.kind, ())
        self.listed = [RECEIPTS, SPECS, *(name for name in further if name in paths)]
        self.held = self.bundles() if self.kind == "suite" else []
        wanted = [*self.listed, *(f"{place}/{MANIFEST}" for place in self.held)]
        demand(paths == wanted, "E_FILES", "the manifest lists other files than there must be")
        names = sorted(entry.name for entry in os.scandir(self.place))
        self.attached = [] if self.inner else [name for name in ATTACHED if name in names]
        folders = [folder for folder in FOLDERS if self.kind == "suite" and folder in names]
        demand(names == sorted([MANIFEST, *self.listed, *self.attached, *folders]), "E_FILES", "not listed, or missing")
        for entry in entries:
            path = self.place / entry["path"]
            demand(path.is_file() and not path.is_symlink(), "E_FILES", f"{entry['path']} is no plain file")
            same = number(entry["size"], path.stat().st_size) and entry["sha256"] == file_sha256(path)
            demand(same, "E_FILES", f"{entry['path']} differs from its size or SHA-256 in the manifest")

    def bundles(self):
        """The paths of the bundles inside a suite's, sorted; nothing else may lie in its folders."""
        found, todo = [], [(folder, 2) for folder in FOLDERS if os.path.lexists(self.place / folder)]
        while todo:
            path, depth = todo.pop()
            folder = self.place / path
            demand(folder.is_dir() and not folder.is_symlink(), "E_FILES", f"not listed: {path}")
            inside = sorted(os.listdir(folder))
            demand(inside and depth >= 0, "E_FILES", f"not listed: {path}")
            for name in inside:
                inner = f"{path}/{name}"
                if (self.place / inner / MANIFEST).exists():
                    demand(not (self.place / inner).is_symlink(), "E_FILES", f"{inner} is a link")
                    found.append(inner)
                else:
                    todo.append((inner, depth - 1))
        return sorted(found)

    def check_receipts(self):
        """Every line is canonical, follows the one before it, and goes on with what was told."""
        run, head, tree, count, kind = self.manifest["run"], ZEROS, Tree(), 0, ""
        for line in self.lines():
            receipt = read(line, "E_LINE", f"line {count + 1}")
            shaped = isinstance(receipt, dict) and receipt.keys() == {"body", "prev", "run", "seq", "type"}
            demand(shaped and isinstance(receipt["type"], str), "E_LINE", f"line {count + 1} is no receipt")
            kind = receipt["type"]
            follows = receipt["run"] == run and number(receipt["seq"], count) and receipt["prev"] == head
            demand(follows, "E_CHAIN", f"receipt {count} does not follow the one before it")
            demand((kind == "start") == (count == 0), "E_ENDS", f"receipt {count} is {kind!r}")
            self.order.add(kind, receipt["body"])
            if count == 0:
                self.named = receipt["body"]["specs"]
            head = tagged("receipt", line)
            tree.add(line)
            count += 1
        demand(kind == "end", "E_ENDS", "the last receipt is no `end`" if count else "there are no receipts")
        self.head = {"count": count, "head": head, "root": tree.root()}

    def lines(self):
        """The lines of the receipts without their newlines, one at a time."""
        with (self.place / RECEIPTS).open("rb") as file:
            while line := file.readline(LINE + 1):
                demand(line.endswith(b"\n"), "E_LINE", "a line is too long, or torn")
                yield line[:-1]

    def check_head(self):
        """The manifest tells the head that the receipts have."""
        same = isinstance(self.manifest["receipts"], dict) and write(self.manifest["receipts"]) == write(self.head)
        demand(same, "E_HEAD", f"the receipts have {self.head}")

    def check_result(self):
        """The manifest tells the result that the receipts come to."""
        same = write(self.manifest["result"]) == write(self.order.result.made())
        demand(same, "E_RESULT", "the receipts add up to another result")

    def check_specs(self):
        """Every spec is named by its digest, and all of them are those that the run names."""
        specs = document(self.place / SPECS, "E_SPECS", 16 * MEBI)
        shaped = isinstance(specs, dict) and specs.keys() == {"root", "specs"} and isinstance(specs["specs"], dict)
        demand(shaped and specs["root"] in specs["specs"], "E_SPECS", "specs.json is {root, specs}")
        for key, data in specs["specs"].items():
            kind, at, digits = key.rpartition("@")
            own = tagged("spec", write(data))[:16]
            named = isinstance(data, dict) and kind == f"{str(data.get('spec')).removesuffix('/v1')}/{data.get('name')}"
            demand(at and digits == own and named, "E_SPECS", f"{key} is not the key of its spec")
        digest = tagged("specs", write(specs))
        demand(self.manifest["specs"] == digest == self.named, "E_SPECS", f"the specs' digest is {digest}")
        demand(
            self.manifest["run"] == tagged("run", digest.encode())[:32], "E_SPECS", "the run is not that of its specs"
        )
        demand(specs["root"].startswith(f"{self.kind}/"), "E_SPECS", "the specs are those of something else")

    def check_tape(self):
        """Every line is an answer of its form; whether it is the one that was asked for, replay tells."""
        code, count = "E_TAPE_FORM", 0
        asked = self.kind == "discovery"
        with (self.place / TAPE).open("rb") as file:
            for line in iter(lambda: file.readline(LINE + 1), b""):
                demand(line.endswith(b"\n") and len(line) <= LINE, code, "a line of the tape is torn or too long")
                document = read(line[:-1], code, "a line of the tape")
                if count == 0:
                    known = document == {"format": "specledger/model-tape/v1"} if asked else self.begins(document)
                    demand(known, code, "the first line is no head of a tape")
                elif asked:
                    shaped = document.keys() == {"iteration", "request", "answer"}
                    demand(shaped and number(document["iteration"], count - 1), code, "a line of the tape is no answer")
                else:
                    self.answer(document)
                count += 1
        demand(count, code, "the tape is empty")

    @staticmethod
    def begins(document):
        """Whether a document is the head of the tape of a run."""
        shaped = document.keys() == {"format", "head", "mode"} and document["format"] == "specledger/tape/v1"
        return shaped and document["mode"] in ("live", "simulated") and isinstance(document["head"], str)

    @staticmethod
    def answer(document):
        """See that an answer on a tape has the size and the hash of its bytes, if it has any."""
        code, held = "E_TAPE_FORM", document["received"]
        keys = {"episode", "t", "failure", "reason", "received", "sha256", "size"}
        figures = [document[name] for name in ("episode", "t", "size")]
        shaped = document.keys() == keys and all(type(one) is int and one >= 0 for one in figures)
        known = document["failure"] is None or document["failure"] in FAILURES
        words = isinstance(document["reason"], str) and (document["sha256"] is None or document["sha256"] != "")
        words = words and isinstance(document["sha256"], (str, type(None)))
        demand(shaped and known and words, code, "a line of the tape is no answer")
        if held is not None:
            ((form, text),) = held.items()
            demand(form in ("text", "base64"), code, "an answer holds no bytes")
            data = text.encode() if form == "text" else unbase64(text, code, "an answer")
            plainly = form == "text" or not is_text(data)
            whole = number(document["size"], len(data)) and document["sha256"] == hashlib.sha256(data).hexdigest()
            demand(plainly and whole, code, "an answer has another hash than its bytes")

    def check_log(self):
        """The entries are one chain that begins with zeros, and the last ones are those among the receipts."""
        code, head, own = "E_AUDIT_LINE", ZEROS, self.order.entries
        last = deque(maxlen=len(own))
        demand((self.place / LOG).is_file(), "E_AUDIT_DIFFERS", "the receipts hold audit entries, and there is no log")
        with (self.place / LOG).open("rb") as file:
            begins = any(b'"prev_entry_hash"' in file.readline(ENTRY + 1) for _ in range(2))
            demand(begins, "E_AUDIT_NO_LOG", "the log does not begin with entries")
            file.seek(0)
            for line in iter(lambda: file.readline(ENTRY + 1), b""):
                demand(len(line) <= ENTRY, code, "an entry is too long")
                demand(line.endswith(b"\n"), "E_AUDIT_TORN", "the last entry is torn")
                head = self.entry(read(line[:-1], code, "an entry"), head)
                last.append(head)
        demand(list(last) == own, "E_AUDIT_DIFFERS", "the log does not end with the entries of the run")

    @staticmethod
    def entry(entry, head):
        """The hash of an entry that follows the one with the hash `head`."""
        demand(isinstance(entry, dict) and entry.keys() == ENTRY_KEYS, "E_AUDIT_LINE", "an entry has other fields")
        demand(entry["prev_entry_hash"] == head, "E_AUDIT_CHAIN", "an entry does not follow the one before it")
        own = {name: value for name, value in entry.items() if name != "entry_hash"}
        head = hashlib.sha256(write(own)).hexdigest()
        demand(entry["entry_hash"] == head, "E_AUDIT_CHAIN", "an entry does not have the hash that it tells")
        for token in entry["capability_tokens"] if entry["event"] == "CAPABILITY_ISSUED" else ():
            scope, at = token["scope"], entry["timestamp_ms"]
            bound = {"proposal_hash": entry["proposal_hash"], "trace_hash": entry["trace_hash"]}
            bound["scope_hash"] = hashlib.sha256(write(scope)).hexdigest()
            timed = (token["issued_at_ms"], token["expires_at_ms"]) == (at, at + scope["expiry_ms"])
            demand(token["binding"] == bound and timed, "E_AUDIT_TOKEN", "a token is bound to something else")
        return head

    def check_runs(self):
        """Every bundle inside is whole, and each is one that a receipt of the suite speaks of, and speaks truly."""
        told = self.order.runs
        demand(sorted(told) == self.held, "E_RUNS", "the suite speaks of other runs than it holds")
        for path in self.held:
            inner = Bundle(self.place / path, inner=True)
            try:
                for _, check, code in inner.checks():
                    guarded(check, code)
            except Refuted as refuted:
                raise Refuted("E_RUNS", f"{path}: {refuted.message} [{refuted.code}]") from None
            known = {name: inner.manifest[name] for name in ("specs", "receipts", "result")}
            demand(write(known) == write(told[path]), "E_RUNS", f"{path} is another run than the suite speaks of")

    # What covers the manifest

    def check_attached(self):
        """What covers the manifest says what follows from it, whoever signed it."""
        signed = [name for name in SIGNED if name in self.attached]
        demand(len(signed) in (0, len(SIGNED)), "E_FILES", f"a signed bundle holds {', '.join(SIGNED)}")
        if signed:
            self.note = note(plain(self.place / CHECKPOINT, "E_CHECKPOINT", 1 << 16))
            head = (self.head["count"], self.head["root"])
            demand(
                self.note["head"] == head, "E_CHECKPOINT", "the checkpoint states another head than the receipts have"
            )
            self.envelopes = {name: self.envelope(name, made) for name, made in self.statements().items()}
        if TIMESTAMP in self.attached:
            stamped = imprint(plain(self.place / TIMESTAMP, "E_TIMESTAMP", 1 << 16))
            own = hashlib.sha256(self.bytes()).digest()
            demand(stamped == own, "E_TIMESTAMP", "the time stamp is over another digest than that of manifest.json")
        if SUMS in self.attached:
            wanted = "".join(f"{digest}  {path}\n" for path, digest in sorted(self.sums("", self.attached).items()))
            found = plain(self.place / SUMS, "E_DIGESTS", 64 * MEBI)
            demand(found == wanted.encode(), "E_DIGESTS", f"{SUMS} is not that of these files")
        if GUIDE in self.attached:
            text = plain(self.place / GUIDE, "E_DIGESTS", MEBI).decode("utf-8", "replace")
            own = (hashlib.sha256(self.bytes()).hexdigest(), self.manifest["run"], self.head["root"])
            demand(all(digest in text for digest in own), "E_DIGESTS", f"{GUIDE} is about another bundle")

    def bytes(self):
        """The bytes of the manifest."""
        return plain(self.place / MANIFEST, "E_MANIFEST", MEBI + 1)

    def sums(self, prefix, more=()):
        """SHA-256 of every file by its path: here, and in the bundles inside."""
        folder = self.place / prefix if prefix else self.place
        names = [MANIFEST, *(name for name in more if name != SUMS)]
        found = {f"{prefix}{name}": file_sha256(folder / name) for name in names}
        for entry in document(folder / MANIFEST, "E_MANIFEST", MEBI)["files"]:
            path = f"{prefix}{entry['path']}"
            found[path] = entry["sha256"]
            if path.endswith(f"/{MANIFEST}"):
                found.update(self.sums(path[: -len(MANIFEST)]))
        return found

    def statements(self):
        """What the two envelopes must say, all of which follows from the manifest."""
        result, data = self.manifest["result"], self.bytes()
        outcome = "WARNED" if result.get("warnings") else "PASSED"
        outcome = outcome if result["verdict"] == "PASS" else "FAILED"
        specs = next(entry["sha256"] for entry in self.manifest["files"] if entry["path"] == SPECS)
        tested = {"configuration": [{"digest": {"sha256": specs}, "name": SPECS}], "result": outcome}
        canonical = {"canonicalization": "RFC8785", "digestAlgorithm": "sha256"}
        canonical.update(digestSource="canonical-json", tool="specledger")
        types = {
            ATTESTATION: ("https://in-toto.io/attestation/test-result/v0.1", data, tested),
            PROVENANCE: (
                "https://oscal-compass.github.io/compliance-trestle/predicates/oscal-signing/v1",
                data[:-1],
                canonical,
            ),
        }
        return {name: statement(*one) for name, one in types.items()}

    def envelope(self, name, payload):
        """The signatures of an envelope around exactly this payload, and what they are over."""
        code, media = "E_ENVELOPE", "application/vnd.in-toto+json"
        held = document(self.place / name, code, MEBI)
        shaped = isinstance(held, dict) and held.keys() == {"payload", "payloadType", "signatures"}
        demand(shaped and held["payloadType"] == media, code, f"{name} is no envelope of an in-toto statement")
        demand(unbase64(held["payload"], code, "the payload") == payload, code, f"{name} is about something else")
        signatures = []
        demand(isinstance(held["signatures"], list), code, f"{name} has no signatures")
        for one in held["signatures"]:
            demand(isinstance(one, dict) and one.keys() == {"keyid", "sig"}, code, "a signature is {keyid, sig}")
            known = isinstance(one["keyid"], str) and HEX64.fullmatch(one["keyid"])
            raw = unbase64(one["sig"], code, "a signature")
            demand(known and len(raw) == 64, code, "a signature is not of its form")
            signatures.append((one["keyid"], raw))
        keys = [key for key, _ in signatures]
        demand(1 <= len(keys) <= 16 and keys == sorted(set(keys)), code, f"{name} has 1 to 16 signatures, one of a key")
        return b"DSSEv1 %d %b %d %b" % (len(media), media.encode(), len(payload), payload), signatures

    # What the reader brings

    def check_expected(self, trust):
        """Run, specs and origin are those that the reader expects."""
        for name in ("run", "specs"):
            same = trust.get(name, self.manifest[name]) == self.manifest[name]
            demand(same, "E_EXPECTED", f"the {name} is {self.manifest[name]}, expected is {trust.get(name)}")
        origin = trust["origin"].replace("{run}", self.manifest["run"])
        demand(self.note is None or self.note["origin"] == origin, "E_EXPECTED", f"the origin is not {origin!r}")
        if self.note is None and not {"run", "specs"} & trust.keys():
            raise Open(None, "the trust file expects no run and no specs, and an unsigned bundle has no origin")

    def check_signatures(self, trust):
        """As many trusted keys as the reader asks for have signed everything that is signed."""
        if self.note is None:
            raise Open("E_UNSIGNED", "the bundle holds no signatures")
        keys = {one["id"]: unbase64(one["public"], "E_TRUST", "a key") for one in trust["keys"]}
        signers = [self.note_signers(keys)]
        for signed, signatures in self.envelopes.values():
            own = [(key, raw) for key, raw in signatures if key in keys]
            wrong = [key for key, raw in own if not ed25519(keys[key], raw, signed)]
            demand(not wrong, "E_SIGNATURE", f"a signature of the trusted key {''.join(wrong[:1])} is wrong")
            signers.append({key for key, _ in own})
        both = set.intersection(*signers)
        if len(both) < trust["threshold"]:
            raise Open("E_UNTRUSTED", f"{len(both)} trusted keys signed all of it, {trust['threshold']} must")

    def note_signers(self, keys):
        """The trusted keys that signed the checkpoint."""
        origin, found = self.note["origin"], set()
        for key, public in keys.items():
            hint = hashlib.sha256(origin.encode() + b"\n\x01" + public).digest()[:4]
            for name, raw in self.note["signatures"]:
                if (name, raw[:4]) == (origin, hint):
                    right = ed25519(public, raw[4:], self.note["text"])
                    demand(right, "E_SIGNATURE", f"the checkpoint's signature of the trusted key {key} is wrong")
                    found.add(key)
        return found

    def check_against(self, size, root, origin):
        """The receipts begin with those of a head that was seen before."""
        if origin is not None and self.note is not None and origin != self.note["origin"]:
            raise Open("E_OTHER_LOG", f"the head is that of {origin!r}")
        heads = f"seen: {size} receipts, root {root}; here: {self.head['count']}, root {self.head['root']}"
        demand(size <= self.head["count"], "E_ROLLBACK", f"the log was longer before. {heads}")
        tree = Tree()
        for line in self.lines():
            if tree.size == size:
                break
            tree.add(line)
        demand(tree.root() == root, "E_FORK", f"the log does not go on from the head that was seen. {heads}")


def statement(type_, subject, predicate):
    """An in-toto statement about the manifest, in canonical JSON."""
    digest = {"sha256": hashlib.sha256(subject).hexdigest()}
    kind = "https://in-toto.io/Statement/v1"
    return write(
        {
            "_type": kind,
            "predicate": predicate,
            "predicateType": type_,
            "subject": [{"digest": digest, "name": MANIFEST}],
        }
    )


NAME = re.compile(r"[!-*,-~]{1,255}")


def note(data, code="E_CHECKPOINT"):
    """A checkpoint: its origin, its head, its signatures, and the text that they are over."""
    try:
        lines = data.decode().split("\n")
    except UnicodeDecodeError:
        raise Refuted(code, "the checkpoint is not UTF-8") from None
    demand(len(lines) >= 6 and not lines[3] and not lines[-1], code, "a checkpoint is three lines and signatures")
    demand(NAME.fullmatch(lines[0]), code, "the origin is none")
    demand(re.fullmatch(r"0|[1-9][0-9]{0,15}", lines[1]) and int(lines[1]) <= BIG, code, "the size is none")
    root = unbase64(lines[2], code, "the root")
    demand(len(root) == 32, code, "the root has not 32 bytes")
    signatures = []
    for line in lines[4:-1]:
        parts = line.split(" ")
        demand(
            len(parts) == 3 and parts[0] == "\u2014" and NAME.fullmatch(parts[1]), code, "a signature line is malformed"
        )
        raw = unbase64(parts[2], code, "a signature")
        demand(len(raw) > 4, code, "a signature line is too short")
        signatures.append((parts[1], raw))
    own = {(name, raw[:4]) for name, raw in signatures}
    demand(len(own) == len(signatures) <= 16, code, "a key signed twice, or more than 16 did")
    text = "".join(f"{line}\n" for line in lines[:3]).encode()
    return {"origin": lines[0], "head": (int(lines[1]), root.hex()), "signatures": signatures, "text": text}


# Time stamps (RFC 3161): what is stamped; whether an authority signed it takes its certificates


class Der:
    """Reads the values of a constructed DER value in their order."""

    def __init__(self, data):
        self.data = data

    def take(self, tag):
        """The content of the next value, which has this tag."""
        code, data = "E_TIMESTAMP", self.data
        demand(len(data) >= 2 and data[0] == tag, code, "the time stamp is malformed")
        start, length = 2, data[1]
        if length >= 0x80:
            start = 2 + length - 0x80
            length = int.from_bytes(data[2:start], "big")
            short = length < 0x80 or data[2] == 0
            demand(3 <= start <= 5 and len(data) >= start and not short, code, "the time stamp is not DER")
        content, self.data = data[start : start + length], data[start + length :]
        demand(len(content) == length, code, "the time stamp is cut off")
        return content

    def into(self, tag):
        """A reader of the next value, which is constructed."""
        return Der(self.take(tag))


def imprint(data):
    """The SHA-256 digest that a granted response is over."""
    code = "E_TIMESTAMP"
    whole = Der(data)
    response = whole.into(0x30)
    status = response.into(0x30).take(0x02)
    demand(status in (b"\0", b"\1"), code, "the time stamp was not granted")
    token = response.into(0x30)
    demand(not whole.data and not response.data, code, "something follows the time stamp")
    kind = token.take(0x06).hex()
    demand(kind == "2a864886f70d010702", code, "the token is no SignedData")
    signed = token.into(0xA0).into(0x30)
    signed.take(0x02), signed.take(0x31)
    content = signed.into(0x30)
    kind = content.take(0x06).hex()
    demand(kind == "2a864886f70d0109100104", code, "the signed content is no TSTInfo")
    info = Der(content.into(0xA0).take(0x04)).into(0x30)
    version = info.take(0x02)
    demand(version == b"\1", code, "the version of the TSTInfo is not 1")
    info.take(0x06)
    stamped = info.into(0x30)
    kind = stamped.into(0x30).take(0x06).hex()
    demand(kind == "608648016503040201", code, "the digest is not one of SHA-256")
    digest = stamped.take(0x04)
    demand(len(digest) == 32 and not stamped.data, code, "the digest has not 32 bytes")
    info.take(0x02)
    when = info.take(0x18)
    demand(re.fullmatch(rb"\d{14}(\.\d*[1-9])?Z", when), code, "the time is none")
    return digest


# What the reader brings


def read_trust(path):
    """The trust file; everything in it is checked, since a misread trust is worse than none."""
    code = "E_TRUST"
    try:
        with Path(path).open("rb") as file:
            data = file.read(MEBI + 1)
        demand(len(data) <= MEBI, code, "the trust file has more than 1 MiB")
        trust = json.loads(data.decode(), object_pairs_hook=_object, parse_float=_none, parse_constant=_none)
    except (OSError, ValueError, RecursionError) as error:
        raise Refuted(code, f"{path} is no trust file: {error}") from None
    needed, more = {"format", "origin", "keys", "threshold"}, {"run", "specs", "checkpoint"}
    shaped = isinstance(trust, dict) and needed <= trust.keys() <= needed | more
    demand(shaped and trust["format"] == "specledger/trust/v1", code, "the trust file has other fields than it must")
    origin, keys = trust["origin"], trust["keys"]
    demand(isinstance(origin, str) and NAME.fullmatch(origin.replace("{run}", "0" * 32)), code, "its origin is none")
    demand(isinstance(keys, list) and 1 <= len(keys) <= 16, code, "it has 1 to 16 keys")
    for one in keys:
        demand(isinstance(one, dict) and one.keys() == {"id", "public"}, code, "a key is {id, public}")
        raw = unbase64(one["public"], code, "a key")
        demand(len(raw) == 32 and one["id"] == hashlib.sha256(raw).hexdigest(), code, "an id is not SHA-256 of its key")
    demand(len({one["id"] for one in keys}) == len(keys), code, "a key stands there twice")
    demand(type(trust["threshold"]) is int and 1 <= trust["threshold"] <= len(keys), code, "its threshold is none")
    for name, form in (("run", HEX32), ("specs", HEX64)):
        fits = name not in trust or (isinstance(trust[name], str) and form.fullmatch(trust[name]))
        demand(fits, code, f"its `{name}` is none")
    seen = trust.get("checkpoint", {"size": 0, "root": ZEROS})
    demand(isinstance(seen, dict) and seen.keys() == {"size", "root"}, code, "its checkpoint is {size, root}")
    size, root = seen["size"], seen["root"]
    fits = type(size) is int and 0 <= size <= BIG and isinstance(root, str) and HEX64.fullmatch(root)
    demand(fits, code, "its checkpoint is none")
    return trust


def unzip(file, folder):
    """Write the files of an archive of the one form that a bundle's has: any other byte is refused."""
    code, form = "E_ARCHIVE", re.compile(r"[A-Za-z0-9_][A-Za-z0-9._+=,@-]*(/[A-Za-z0-9_][A-Za-z0-9._+=,@-]*){0,7}")
    try:
        with zipfile.ZipFile(file) as archive:
            entries, size = archive.infolist(), file.stat().st_size
            demand(len(entries) <= 200_000 and sum(e.file_size for e in entries) <= size, code, "it is too large")
            names = {entry.filename.casefold() for entry in entries}
            demand(len(names) == len(entries), code, "two paths in it are the same but for their case")
            for entry in entries:
                stored = entry.compress_type == zipfile.ZIP_STORED and entry.compress_size == entry.file_size
                demand(
                    form.fullmatch(entry.filename) and stored, code, "a file in it is compressed, or has no plain path"
                )
                demand(0 <= entry.header_offset < size, code, "a file is not in it")
                path = folder / entry.filename
                path.parent.mkdir(parents=True, exist_ok=True)
                with archive.open(entry) as source, path.open("xb") as target:
                    shutil.copyfileobj(source, target, MEBI)
        again = folder.with_name("again")
        with zipfile.ZipFile(again, "w", zipfile.ZIP_STORED) as archive:
            for path in sorted(folder.rglob("*"), key=lambda one: one.relative_to(folder).as_posix()):
                if path.is_file():
                    entry = zipfile.ZipInfo(path.relative_to(folder).as_posix(), (1980, 1, 1, 0, 0, 0))
                    entry.create_system, entry.external_attr = 3, (stat.S_IFREG | 0o644) << 16
                    entry.file_size = path.stat().st_size
                    with path.open("rb") as source, archive.open(entry, "w") as target:
                        shutil.copyfileobj(source, target, MEBI)
        demand(file_sha256(again) == file_sha256(file), code, "it is not in the one form of such an archive")
    except (zipfile.BadZipFile, struct.error, *CRASHES, OSError, EOFError, NotImplementedError, RuntimeError) as error:
        raise Refuted(code, f"the archive is damaged: {str(error)[:200]}") from None


# The whole


CRASHES = (KeyError, TypeError, IndexError, AttributeError, ValueError, RecursionError, OverflowError)


def guarded(check, code):
    """Make a check; what is not of the form that it must be is refuted, never a crash."""
    try:
        check()
    except CRASHES as error:
        raise Refuted(code, f"something is not what it must be: {error!r}"[:300]) from None


def verify(place, trust=None, against=None):
    """All checks: {verdict, checks: [{name, status, code, message}]}; after a refutation none is made."""
    checks, bundle = [], Bundle(place)

    def make(name, check, code):
        said = {"name": name, "status": "passed", "code": None, "message": None}
        try:
            guarded(check, code)
        except Refuted as refuted:
            said.update(status="failed", code=refuted.code, message=refuted.message)
        except Open as lacking:
            said.update(status="not made", code=lacking.code, message=lacking.message)
        checks.append(said)
        return said["status"] != "failed"

    def further():
        yield from bundle.checks()
        if trust is not None:
            yield "it is the evidence that you expect", lambda: bundle.check_expected(trust), "E_EXPECTED"
            yield "enough keys that you trust have signed it", lambda: bundle.check_signatures(trust), "E_SIGNATURE"
        for head in [against] if against else []:
            yield "the log goes on from the head that you saw", lambda: bundle.check_against(*head), "E_FORK"
        if trust is not None and "checkpoint" in trust:
            seen = trust["checkpoint"]
            yield (
                "the log goes on from the head in the trust file",
                lambda: bundle.check_against(seen["size"], seen["root"], None),
                "E_FORK",
            )

    intact = all(make(*one) for one in further())
    complete = intact and all(one["status"] == "passed" for one in checks)
    return {"verdict": "PASS" if complete else "INCONCLUSIVE" if intact else "FAIL", "checks": checks}


UNCHECKED = (
    "Not checked here: that the specs are valid and lead to these receipts (replay), that a suite's figures follow "
    "from its runs, certificates, counterexamples and claims of laws, schemas, and the words of VERIFY.md."
)


def main(words=None):
    """Verify what the words of a command line name, print what was found, and give the exit code."""
    parser = argparse.ArgumentParser(description="Verify a bundle of evidence with Python alone.", epilog=UNCHECKED)
    parser.add_argument("bundle", type=Path)
    parser.add_argument("--trust", help="whom you trust: a trust.json that does not come from the bundle")
    parser.add_argument("--against", type=Path, help="a checkpoint that you saw before")
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    asked = parser.parse_args(words)
    with tempfile.TemporaryDirectory() as work:
        try:
            trust = read_trust(asked.trust) if asked.trust else None
            seen = note(plain(asked.against, "E_AGAINST", 1 << 16), "E_AGAINST") if asked.against else None
            place = asked.bundle
            if place.is_file():
                with place.open("rb") as file:
                    if file.read(4) not in (b"PK\3\4", b"PK\5\6"):
                        raise Refuted("E_NO_EVIDENCE", f"{place} is neither a folder nor a zip file")
                place = Path(work, "bundle")
                place.mkdir()
                unzip(asked.bundle, place)
            if not any((place / name).exists() for name in (MANIFEST, RECEIPTS, SPECS)):
                raise Refuted("E_NO_EVIDENCE", f"{place} is no bundle")
            found = verify(place, trust, (*seen["head"], seen["origin"]) if seen else None)
        except (Refuted, OSError) as error:
            code = getattr(error, "code", "E_NO_EVIDENCE")
            if code != "E_ARCHIVE":
                print(ascii(str(error)) if not asked.json else json.dumps({"verdict": None, "code": code}))
                return 2
            found = {
                "verdict": "FAIL",
                "checks": [{"name": "archive", "status": "failed", "code": code, "message": ""}],
            }
    if asked.json:
        print(json.dumps({**found, "unchecked": UNCHECKED}, indent=2))
    else:
        for index, one in enumerate(found["checks"], 1):
            said = f" [{one['code']}] {one['message']}" if one["status"] != "passed" else ""
            print(f"{index}. {one['status']:8} {one['name']}{ascii(said)[1:-1]}")
        print(f"{found['verdict']}. {UNCHECKED}")
    return {"PASS": 0, "FAIL": 1, "INCONCLUSIVE": 3}[found["verdict"]]


if __name__ == "__main__":
    sys.exit(main())
