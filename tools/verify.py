#!/usr/bin/env python3
"""Verify a bundle of evidence with Python alone: no package, no network, no code of the engine that made it.

    python3 verify.py BUNDLE [--trust TRUST.json] [--against CHECKPOINT] [--no-replay] [--level L4] [--work N]
        [--json]

BUNDLE is a folder or a zip file. Written a second time, from the pages in `docs/` and the standards named there: it
imports nothing of the engine, so that a slip of one is noticed by the other. It needs Python 3.9 or newer.

It checks what follows from the evidence itself: files, canonical form, chain, order, commitments, joining states, the
result, the specs' digest, the audit log, and what covers the manifest; with --trust who signed it, with --against that
it goes on from a head seen before. It resolves the YAML files beside the specs again, and compares. Last it makes again
what the specs lead to, with an engine of its own, and compares the bytes: runs, kernels, laws, suites, discoveries. The
last line says what it did *not* check of this very bundle: never that the specs are well typed.

Exit codes: 0 nothing that was asked for is refuted or open; 1 refuted; 2 wrong usage, or there is no evidence; 3 not
refuted, but something that was asked for could not be shown. To make and to resolve again is asked for unless
--no-replay is: what this file does not know, as another version, ends with 3, since whoever forges may choose it.

Work is bounded: --work N is how many million steps of evaluation a part of the evidence may take (each check, each run
of a suite, each verdict of a discovery), and twenty times as many are the most for all of it. What takes more ends
with 3, too. On a terminal a line tells how far it is.
"""

# Built by `python -m tools.verifier.build` from the modules there.

import argparse
import base64
import hashlib
import hmac
import json
import math
import operator
import os
import re
import shutil
import stat
import struct
import sys
import tempfile
import time
import uuid
import zipfile
from collections import Counter, deque, namedtuple
from decimal import Decimal
from fractions import Fraction
from functools import cached_property, lru_cache, reduce
from itertools import accumulate, product
from math import isfinite, isqrt, sqrt
from pathlib import Path
from string import ascii_lowercase, ascii_uppercase, digits
from urllib.parse import quote

# What every check rests on: refusals, canonical JSON, digests, the Merkle tree, and reading files.

MANIFEST, RECEIPTS, SPECS, LOG, TAPE = "manifest.json", "receipts.jsonl", "specs.json", "audit.log.jsonl", "tape.jsonl"
CHECKPOINT, ATTESTATION, PROVENANCE = "checkpoint", "attestation.dsse.json", "manifest.json.dsse.json"
TIMESTAMP, SUMS, GUIDE = "timestamp.tsr", "sha256sums", "VERIFY.md"
SIGNED = (CHECKPOINT, ATTESTATION, PROVENANCE)
ATTACHED = (*SIGNED, TIMESTAMP, SUMS, GUIDE)
FOLDERS = ("controls", "mutants", "runs")
KINDS = ("scenario", "suite", "law", "discovery")
BIG, DEPTH, LINE, ENTRY, MEBI = 2**53 - 1, 64, 8 << 20, 4 << 20, 1 << 20
ZEROS = "0" * 64
KNOWN_VERSION, KNOWN_EVALUATOR = "0.1.0", "1"
ENTRY_KEYS = {"entry_id", "timestamp_ms", "event", "prev_entry_hash", "entry_hash", "proposal_hash", "trace_hash"}
ENTRY_KEYS |= {"kernel_decision", "witnesses", "capability_tokens"}
HEX32, HEX64 = re.compile(r"[0-9a-f]{32}"), re.compile(r"[0-9a-f]{64}")
FAILURES = ("raised", "timed_out", "closed", "died", "too_long", "not_json")
CRASHES = (KeyError, TypeError, IndexError, AttributeError, ValueError, RecursionError, OverflowError)


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


def unbase64(text, code, what):
    """The bytes of a text that is their one standard base64."""
    try:
        data = base64.b64decode(text, validate=True) if isinstance(text, str) else b""
    except ValueError:
        data = b""
    demand(base64.b64encode(data).decode() == text, code, f"{what} is no standard base64")
    return data


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


def guarded(check, code):
    """Make a check; what is not of the form that it must be is refuted, never a crash."""
    try:
        check()
    except CRASHES as error:
        raise Refuted(code, f"something is not what it must be: {error!r}"[:300]) from None


# Ed25519 (RFC 8032, section 5.1.7), as strict as OpenSSL: S below the group's order, R compared as bytes.

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


# The documents that pass between an agent and a kernel: the schemas of docs/kernel.md, written as small tuples.
#
# A form is a tuple whose first word says what it is: `text` (least and most characters, and a pattern), `whole` (least
# and greatest, None for none), `number` (the same; the only place for fractions), `list` (an item's form, least and
# most
# items), `object` (forms by name, and the names that may be absent), `any` and `map` (any object). A set is its texts.

HASH = ("text", 64, 64, re.compile(r"[a-f0-9]{64}"))
UUID_FORM = re.compile(r"[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[1-5][0-9a-fA-F]{3}-[89abAB][0-9a-fA-F]{3}-[0-9a-fA-F]{12}")
UUID_TEXT = ("text", 36, 36, UUID_FORM)
ANYTHING, ANY_MAP = ("any",), ("map",)
NAME_TEXT, FLAG, SHARE = ("text", 1, 80, None), ("flag",), ("number", 0, 1)
COORDINATE = ("whole", 0, 255)


def closed(**members):
    """The form of an object that has exactly these members."""
    return ("object", members, frozenset())


def listed(form, least, most):
    """The form of a list."""
    return ("list", form, least, most)


RENAMED = {"self_": "self", "from_": "from", "type_": "type"}


def named(**members):
    """The same for members that Python has other words for: `from_` stands for `from`."""
    return ("object", {RENAMED.get(name, name): form for name, form in members.items()}, frozenset())


ENTITY = closed(
    id=NAME_TEXT,
    x=COORDINATE,
    y=COORDINATE,
    energy=("whole", 0, 100000),
    inventory=listed(NAME_TEXT, 0, 32),
    status=closed(alive=FLAG, stunned=FLAG),
)
THING = closed(id=NAME_TEXT, kind=NAME_TEXT, x=COORDINATE, y=COORDINATE, props=ANY_MAP)
HAZARD = closed(id=NAME_TEXT, kind=NAME_TEXT, x=COORDINATE, y=COORDINATE, severity=("whole", 1, 100))
TOOL = closed(id=NAME_TEXT, kind=NAME_TEXT, charges=("whole", 0, 100000))
SIDE = ("whole", 2, 256)
WALLS = listed(closed(x=COORDINATE, y=COORDINATE), 0, 65536)
ENVIRONMENT = named(
    tick=("whole", 0, 1000000),
    grid=closed(w=SIDE, h=SIDE, walls=WALLS),
    self_=ENTITY,
    agents=listed(ENTITY, 0, 64),
    objects=listed(THING, 0, 256),
    hazards=listed(HAZARD, 0, 256),
    tools=listed(TOOL, 0, 64),
    rng_seed=("text", 1, 64, None),
)
PLAN = closed(
    steps=listed(
        closed(op={"move", "wait", "pickup", "drop", "signal", "use_tool", "noop"}, args=ANY_MAP),
        1,
        64,
    )
)
SCOPE_FORM = closed(
    allowed_ops=listed(NAME_TEXT, 1, 16),
    rate_limit=closed(max_calls=("whole", 1, 1000), per_ms=("whole", 1, 86400000)),
    expiry_ms=("whole", 1, 864000000),
)
REQUEST = closed(
    capability={"move", "pickup", "drop", "signal", "use_tool", "actuate_physical_stub"},
    scope=SCOPE_FORM,
    justification=("text", 1, 2000, None),
)
NODE = closed(
    id=("whole", 0, 1000000),
    kind={"assumption", "inference", "simulation", "evaluation", "observation"},
    summary=("text", 1, 2000, None),
    payload=ANY_MAP,
)
PLACE_NUMBER = ("whole", 0, None)
EDGE = named(from_=PLACE_NUMBER, to=PLACE_NUMBER, type_={"supports", "assumes", "derives", "simulates", "evaluates"})
SNAPSHOT = closed(
    fork_id=NAME_TEXT,
    state_digest=HASH,
    focus_vars=listed(NAME_TEXT, 1, 64),
    commitment=HASH,
    nonce_ref=("text", 1, 120, None),
)
CLAIM = closed(
    var=NAME_TEXT,
    direction={"increase", "decrease", "threshold", "categorical"},
    expected_effect_on_choice=("text", 1, 500, None),
    confidence=SHARE,
    supporting_nodes=listed(PLACE_NUMBER, 1, 64),
)
COUNTERFACTUAL = closed(
    cf_id=NAME_TEXT,
    base_state_digest=HASH,
    mutation=closed(var=NAME_TEXT, new_value=ANYTHING),
    predicted_outcome=closed(choice=NAME_TEXT, score=("number", -1000000000, 1000000000)),
    prob_mass=SHARE,
)
TRACE = closed(
    trace_version={"0.2"},
    trace_commit=HASH,
    nodes=listed(NODE, 1, 2048),
    edges=listed(EDGE, 0, 4096),
    fork_snapshots=listed(SNAPSHOT, 0, 64),
    causal_claims=listed(CLAIM, 0, 64),
    counterfactuals=listed(COUNTERFACTUAL, 1, 128),
)
PAYLOAD = (
    "object",
    {
        "intent": ("text", 1, 2000, None),
        "plan": PLAN,
        "constraints": listed(("text", 1, 500, None), 0, 64),
    },
    frozenset({"constraints"}),
)
PROPOSAL = closed(
    proposal_id=UUID_TEXT,
    proposal_type={"action", "self_modify", "delegate", "capability_request"},
    env=ENVIRONMENT,
    payload=PAYLOAD,
    trace=TRACE,
    requested_capabilities=listed(REQUEST, 0, 16),
)


def fits_form(value, form):
    """Whether a value is of a form; true, false and numbers are three different things."""
    if isinstance(form, set):
        return isinstance(value, str) and value in form
    kind = form[0]
    if kind == "any":
        return True
    if kind == "map":
        return isinstance(value, dict)
    if kind == "flag":
        return isinstance(value, bool)
    if kind == "text":
        long = isinstance(value, str) and form[1] <= len(value) <= form[2]
        return long and (form[3] is None or form[3].fullmatch(value) is not None)
    if kind in ("whole", "number"):
        return _in_range(value, form)
    if kind == "list":
        long = isinstance(value, list) and form[2] <= len(value) <= form[3]
        return long and all(fits_form(one, form[1]) for one in value)
    return _fits_object(value, form)


def _in_range(value, form):
    kinds = (int,) if form[0] == "whole" else (int, float)
    if isinstance(value, bool) or not isinstance(value, kinds):
        return False
    return (form[1] is None or value >= form[1]) and (form[2] is None or value <= form[2])


def _fits_object(value, form):
    _, members, spare = form
    if not isinstance(value, dict) or not value.keys() <= members.keys():
        return False
    if not members.keys() - spare <= value.keys():
        return False
    return all(fits_form(inner, members[name]) for name, inner in value.items())


def form_inside(form, key):
    """The form of a member or an item; None where nothing is said of it."""
    if form is None or isinstance(form, set):
        return None
    if form[0] == "object":
        return form[1].get(key)
    return form[1] if form[0] == "list" else None


# How far a verification has come, for whoever waits at a terminal; nothing is written anywhere else.

SECONDS_BETWEEN = 0.2


class Progress:
    """One line of a terminal, written over and over. It holds figures alone: no text of the evidence comes here."""

    def __init__(self):
        self.file, self.due, self.parts = None, 0.0, {}

    def begin(self, file):
        """Tell it to a file, if that is a terminal."""
        self.file = file if file.isatty() else None

    def tell(self, what, number, count):
        """Begin so manieth of so many things; what was told of things inside the one before is over."""
        if self.file is None:
            return
        outer = list(self.parts)[: list(self.parts).index(what)] if what in self.parts else list(self.parts)
        self.parts = {**{one: self.parts[one] for one in outer}, what: f"{what} {number} of {count}"}
        now = time.monotonic()
        if now >= self.due:
            self.due = now + SECONDS_BETWEEN
            self.file.write(f"\r\x1b[K{', '.join(self.parts.values())}")
            self.file.flush()

    def end(self):
        """Leave an empty line."""
        if self.file is not None:
            self.file.write("\r\x1b[K")
            self.file.flush()
        self.file, self.parts = None, {}


PROGRESS = Progress()


# The shapes of recorded specs: made from schemas/kinds by `python -m tools.shapes`, and not to be edited.
#
# A line names a mapping and gives the shape of each of its keys; a key with `!` must be there. Mappings before the
# first
# `# kind` are those of all kinds, the others of one; `Document` is the spec itself. A shape: `s` text, `b` boolean, `n`
# number, `e` an expression, `0` null, `*` anything, `i1:9` an integer of a range (an end may be left out), `=a` a word,
# `[x]` a list, `{x}` a mapping of names, `@Name` one of the mappings; several with `|` between them are alternatives.

SHAPE_TEXT = """\
AppendEffect append!:s value!:e when:e|0
Draw from!:e stream!:s
EachEffect as!:s each!:s update!:{e} when:e|0 where:e
FixedConstant qfixed!:n|s
Function args!:[s] is!:e
Memory fields!:{@MemoryField} scope:=episode|=run
MemoryField start!:e type!:s|@Schema
Metadata annotations:{*}
PutEffect key!:e put!:s value!:e when:e|0
RemoveEffect as!:s remove!:s when:e|0 where!:e
Schema additionalProperties:s|@Schema|0 enum:[s]|[i:]|0 items:s|@Schema|0 maxItems:i0:|0 maximum:i:|0 minimum:i:|0
  properties:{s|@Schema}|0 required:[s]|0 type:=integer|=boolean|=string|=number|=array|=object|0
SetEffect set!:s to!:e when:e|0
Starts symbols:[s]|0
Write effect!:@SetEffect|@AppendEffect|@RemoveEffect|@EachEffect|@PutEffect id!:s when:e
# agent
Candidate for_each:{e} op!:s when:e
Document candidates:[@Candidate] claims:{e} constants:{@FixedConstant|b|i:|n|s|[*]} doc:s|0 draw:{@Draw} each:{e}
  functions:{@Function} let:{e} memory:@Memory|0 metadata:@Metadata|0 name!:s narration:@Narration|0 outside:@Outside|0
  predicts:b remember:[@Write] score:e|0 spec!:=agent/v1
Narration by:s|0 claims:i0:16 declares:s|0 requests:@Requests steps:i1:16 vary!:[s]
Outside command:[s]|0 deadline_ms:i1:600000 environment:[s] python:s|0 start_ms:i0:600000
Requests expiry_ms:i1:864000000|0 max_calls:i1:1000|0 per_ms:i1:86400000|0
# discovery
Document doc:s|0 escalation:@Escalation expect:[s] held_out:@HeldOut iterations:i1:100000 lag:i1:1000
  memory:@MemoryLimits metadata:@Metadata|0 model!:s name!:s prompt!:s proposer:@Proposer ranking!:s
  redundancy:@Redundancy request:@Request seed:i0:9007199254740991 spec!:=discovery/v1 stop:@Stop templates!:[s]
  trial:@Effort universe!:s
Effort T:i1:200 cases:i1:10000 mutations:i0:100000
Escalation T:i1:200 cases:i1:10000 every:i1:9007199254740991 mutations:i0:100000
HeldOut cases:i1:10000 mutants:i0:4096 mutations:i0:100000 universes:[s]
MemoryLimits max_accepted:i1:10000 max_counterexamples:i1:10000 max_falsified:i1:10000 max_unknown:i1:10000
Proposer add_to_redundancy_filter:b include_counterexamples:b max_token_budget:i1:10000000 strict_parsing:b
Redundancy equivalent:b threshold:n|s
Request count:i1:100 exclude_templates:[s]|0 target_templates:[s]|0 temperature:n|s|0
Stop accepted:i1:9007199254740991|0 dry:i1:9007199254740991|0 evaluations:i1:9007199254740991|0
  tokens:i1:9007199254740991|0
# drift
Document at!:e constants:{@FixedConstant|b|i:|n|s|[*]} doc:s|0 draw:{@Draw}
  effects!:[@SetEffect|@AppendEffect|@RemoveEffect|@EachEffect|@PutEffect] functions:{@Function} metadata:@Metadata|0
  name!:s spec!:=drift/v1 when:e
# governor
Admission document!:s env!:e free:{@Grant} grants:{@Grant} key:@Key|0 ms_per_tick:i1:1000000 public:s|0
  signature:=secret|=ed25519 vocabulary!:s watchdog_ms:i1:600000
Choice maximise!:e
Document admission:@Admission|0 choose!:@Choice claims:{s|@Schema} constants:{@FixedConstant|b|i:|n|s|[*]} cost:{e}
  doc:s|0 each:{e} functions:{@Function} gates!:[@Gate] invariants:[s] let:{e} memory:@Memory|0 metadata:@Metadata|0
  name!:s potentials:{@Potential} remember:[@Write] spec!:=governor/v1 supply:{e}
Gate deny:e|0 id!:s reason!:s require:e|0 when:e witness:{e}
Grant allowed_ops!:[s] expiry_ms!:i1:864000000 max_calls!:i1:1000 per_ms!:i1:86400000
Key file:s|0 variable:s|0
Potential is!:e
# invariant
Document constants:{@FixedConstant|b|i:|n|s|[*]} doc:s|0 functions:{@Function} metadata:@Metadata|0 name!:s require!:e
  scope:=step|=episode|=proposal severity:=fatal|=warn spec!:=invariant/v1 when:e witness:{e}
# law
CapabilityRequirements generator_families:[s] primitive_observables:[s] transforms:[s]
Document bound_op:===|=!=|=<|=<=|=>|=>=|0 bound_value:i-9007199254740991:9007199254740991|0
  capability_requirements:@CapabilityRequirements cases:i1:10000 claim:s|0 claim_ast:{*}|0 direction:=<=|=>=|0 doc:s|0
  expect:@Expectation|0 forbidden!:s law_id:s|0 metadata:@Metadata|0 mutations:i0:100000 name!:s
  observables:[@Observable] preconditions:[@Precondition|e] proposed_tests:[@ProposedTest] quantifiers:@Quantifiers
  result_op:===|=!=|0 result_symbol:s|0 schema_version:=1.0.0 seed:i0:9007199254740991 spec!:=law/v1 starts:@Starts|0
  strict:b template!:s transform:s|0 trigger_symbol:s|0 universe!:s
Expectation reason:s|0 status!:=PROVED|=PASS|=FAIL|=UNKNOWN
Observable expr!:e name!:s
Precondition lhs!:e op!:===|=!=|=<|=<=|=>|=>= rhs!:e
ProposedTest family!:s
Quantifiers H:i0:9007199254740991|0 T:i1:9007199254740991
# model
Cassette file!:s records!:s
Document cassette:@Cassette|0 doc:s|0 enumerate:@Grammar|0 gemini:@GeminiConfig|0 metadata:@Metadata|0 name!:s
  scripted:@Script|0 spec!:=model/v1
GeminiConfig deadline_ms:i100:3600000 json_mode:b max_output_tokens:i1:1048576 model:s retries:i0:10 temperature:n|s
  thinking_budget:i-1:1048576|0 top_k:i1:1000 top_p:n|s
Grammar grammar!:{[*]} start!:s
Rule answer!:@ScriptedFailure|@ScriptedText|@ScriptedLaws when!:e
Script answers:[@ScriptedFailure|@ScriptedText|@ScriptedLaws] rules:[@Rule] then:=exhausted|=repeat|=cycle
ScriptedFailure detail:s
  failure!:=blocked|=empty|=withheld|=truncated|=malformed|=timed_out|=refused|=cut_off|=rate_limited|=unavailable|=unauthorised|=invalid|=redirected|=too_large|=exhausted
  text:s|0
ScriptedLaws laws!:[{*}] times:i1:10000000
ScriptedText text!:s times:i1:10000000
# probe
Arms placebo:i0:64 same:i0:64
Challenge arms:@Arms demand:[=reveal|=trace|=restate] draw:@Draw of!:=claims|=counterfactuals|=unused|=declared
  on:=here|=fresh repeats:i1:64
Document at!:=before_propose|=after_commit|=after_token|=after_act challenge:@Challenge|0 doc:s|0 expect!:e
  metadata:@Metadata|0 name!:s offer:@Offer|0 spec!:=probe/v1 steps:i1:1000|0 when:e
Draw least:i1:64 most:i1:64
Offer breaches!:s does!:=omit_snapshots|=execute_raw|=reuse_token
  pays!:[@SetEffect|@AppendEffect|@RemoveEffect|@EachEffect|@PutEffect]
# profile
Control checks:[s] evidence:[@EvidenceCheck] id!:s says!:s section!:s
  status!:=shown|=differs|=open|=deferred|=not~applicable waiver:@Waiver|0 why:s|0
Document controls!:[@Control] doc:s|0 metadata:@Metadata|0 name!:s source!:s spec!:=profile/v1
EvidenceCheck check:s|0 kind:=scenario|=suite|=law|=discovery|0 of:s|0 receipts:s|0 require:e|0 verified:s|0 when:e|0
Waiver owner!:s reason!:s until!:s
# prompt
Document doc:s|0 dynamic:[@Memory] metadata:@Metadata|0 name!:s scramble:[=symbols|=names] spec!:=prompt/v1
  static!:[@Section] system!:[@Section] universe:s|0
Memory each!:=accepted_laws|=falsified_laws|=unknown_laws|=counterexamples item!:s none:s|0 text:s|0
Section each:s|0 item:s|0 none:s|0 text:s|0
# ranking
Document constants:{@FixedConstant|b|i:|n|s|[*]} doc:s|0 factors!:{@Factor} functions:{@Function} let:{e}
  metadata:@Metadata|0 name!:s sensitivity:n|s spec!:=ranking/v1
Factor doc:s|0 least:n|s most:n|s rules:[@Rule] start:n|s subtract:b weight!:n|s
Rule add!:n|s doc:s|0 per:e|0 share:e|0 when:e|0
# scenario
Connect blocked!:[s] connect!:[s]
Document agent!:s commit:=proposals|=none doc:s|0 drift:[s] episodes:i1:100000 governor!:s horizon!:i1:1000000
  invariants:[s] map:@Map|0 metadata:@Metadata|0 name!:s probes:[s] seed:i0:9007199254740991 spec!:=scenario/v1
  start:{e} until:e|0 world!:s
Fill border:s|0 fill!:s height!:i3:256 width!:i3:256
Map drawing:s|0 generate:[@Fill|@Maze|@Scatter|@Place|@Stamp|@Connect]|0 vary:=run|=episode
Maze loops:i0:4096 maze!:s
Place beyond:i0:510|0 columns:[i0:255]|0 of:s|0 over!:s place!:s rows:[i0:255]|0 within:i0:510|0
Scatter count!:i0:65536 over!:s scatter!:s
Stamp columns:[i0:255]|0 over!:s rows:[i0:255]|0 stamp!:[s]
# suite
Arm agent:s|0 drift:[s]|0 governor:s|0 invariants:[s]|0 scenarios!:[s] seeds:[i0:9007199254740991] set:{*} world:s|0
Check doc:s|0 id!:s opportunities!:e require!:e witness:{e}
Document checks:[@Check] constants:{@FixedConstant|b|i:|n|s|[*]} doc:s|0 figures:{@Figure} functions:{@Function}
  measures:{e} metadata:@Metadata|0 mutants:[@Mutant] name!:s replay:=bytes|=none resamples:i99:9999 runs:{@Arm}
  seed:i0:9007199254740991 spec!:=suite/v1 tuned_on:[i0:9007199254740991]
Figure along:e at:n|s by:=arm|=scenario|=seed|=run|0 difference:e|0 doc:s|0 greatest:e|0 least:e|0 mean:e|0 over:s|[s]|0
  quantile:e|0 rate:e|0 slope:e|0 sum:e|0
Mutant agent:s|0 arms:[s]|0 doc:s|0 drift:[s]|0 governor:s|0 id!:s invariants:[s]|0 replay:=bytes|=none|0
  scenarios:[s]|0 set:{*} suite:s|0 under:{*} world:s|0
# template
Document antecedent:{*}|0 claim!:{*} doc:s|0 for_all!:@ForAll holds:{*}|0 metadata:@Metadata|0 name!:s needs:[s]
  parts:{@Part} spec!:=template/v1 within:=H|0
ForAll i:=cells|0 t!:@Steps
Part reads!:[=t|=t~+~1|=fixed] sort:=int|=bool
Steps from:i0:1 to:=T|=T~-~1
# universe
Document alphabet!:[s] doc:s|0 empty:s|0 generators!:{@Generator} interaction:s|0 metadata:@Metadata|0 name!:s
  observables!:{@Primitive} ring!:@Ring spec!:=universe/v1 starts:@Starts transforms:{@Transform}
  transition!:@Transition
Generator beyond:s|0 first:i0:1000 gaps:[i0:1000]|0 make!:=sweep|=pairs|=edges|=images|=mutations|=patterns|=extremes
  percents:[i0:100]|0 transforms:[s]|0 weight:i0:1000
Primitive args:{=symbol|=int} count:e|0 scan:=first|=last|=longest|=extent|0 sum:e|0 where:e|0 window:[s]|e|0
Ring max!:i1:1000 min!:i1:1000 sizes:[i1:1000]|0
Transform args:{=int} default:{i:} map:{s} reflect:b shift:e
Transition let:{e} next:e|0 number:i0:255|0 table:{s}|0
# vocabulary
Document doc:s|0 forms!:[s] metadata:@Metadata|0 name!:s spec!:=vocabulary/v1
# world
Action args:{s|@Schema} effects:[@SetEffect|@AppendEffect|@RemoveEffect|@EachEffect|@PutEffect] let:{e}
  otherwise:[@SetEffect|@AppendEffect|@RemoveEffect|@EachEffect|@PutEffect] outcome:{e} when:e
Attempts as!:s effects!:[@SetEffect|@AppendEffect|@RemoveEffect|@EachEffect|@PutEffect] for!:e require:e
Chart of!:s unit:i1:
Condition id!:s message:s|0 require!:e
Coupling action!:s args:{e} let:{e}
Document actions!:{@Action} alternatives:{e} constants:{@FixedConstant|b|i:|n|s|[*]} context:{e} derived:{e} doc:s|0
  drawing:@Drawing|0 every_step:[@SetEffect|@AppendEffect|@RemoveEffect|@EachEffect|@PutEffect] functions:{@Function}
  inputs:{s|@Schema} labels:{e} metadata:@Metadata|0 name!:s observe:{e} opening:{e} parts:{@Part} picture:@Picture|0
  receipt:{e} record:{e} spec!:=world/v1 start:{e} state!:{s|@Schema} success:e|0 types:{s|@Schema}
  variables:{@Variable} well_formed:[@Condition]
Drawing cells:s|0 height:s|0 legend!:{@Glyph} width:s|0
Glyph cell:e|0 effects:[@SetEffect|@AppendEffect|@RemoveEffect|@EachEffect|@PutEffect]
Part follow!:{@Coupling} start:{e} world!:s
Picture cells!:s charts:{s|@Chart} colours!:{s|@Shades} tokens:{@Token}
Shades dark!:s light!:s
Token colour!:s|@Shades each:s|0 shape:=disc|=diamond|=square start!:s
Variable effects:[@SetEffect|@AppendEffect|@RemoveEffect|@EachEffect|@PutEffect]|0 normal:e|0 over:e|0 read!:e require:e
  try:@Attempts|0
"""


# The governor's own eyes: its memory of the observations, and its potentials with what moved them from outside.


class Watch:
    """What a governor keeps over a run. What looks ahead returns what would be kept."""

    def __init__(self, governor):
        self.governor, self.rebased = governor, []
        self.memory = self.values = None

    def begin(self):
        """An episode begins: a memory of the run stays, potentials are looked at anew."""
        if self.governor.memory.lasts != "run":
            self.memory = None
        self.values = None

    def figures(self, state, memory):
        """The potentials of a state and a memory."""
        return self.governor.figures(state, memory)

    def observe(self, seen, state, fresh):
        """Know what a decision needs; what was not yet seen after an action is remembered before anything is judged."""
        self.rebased = []
        if not self.governor.watches:
            return
        memory = self.memory
        if memory is None:
            later = self.governor.memory.begin(seen)
        else:
            later = self.governor.memory.remember(seen, memory, {}, seen) if fresh else memory
        after = self.figures(state, later) if self.values is None or later != memory else self.values
        self.rebased = moved("seen", after if self.values is None else self.values, after)
        self.memory, self.values = later, after

    def drift(self, cause, state):
        """The re-bases that a drift makes, and the potentials after it."""
        if not self.governor.watches or self.values is None:
            return [], self.values
        after = self.figures(state, self.memory)
        return moved(cause, self.values, after), after

    def stand(self):
        """What a receipt says where nothing was done."""
        return told_of(self.values or {}, self.values or {}, self.rebased)

    def act(self, seen, action, state, later_seen):
        """What a receipt says of an action, and the memory and the potentials after it."""
        if not self.governor.watches:
            return told_of({}, {}, []), (self.memory, self.values)
        acted = self.figures(state, self.memory)
        later = self.governor.memory.remember(seen, self.memory, action, later_seen)
        after = acted if later == self.memory else self.figures(state, later)
        before = acted if self.values is None else self.values
        return told_of(before, acted, self.rebased + moved("seen", acted, after)), (later, after)


def told_of(before, after, rebases):
    """Potentials and re-bases as a receipt holds them."""
    return {"potentials": {name: {"from": before[name], "to": after[name]} for name in after}, "rebases": rebases}


def moved(cause, before, after):
    """The potentials that are another."""
    return [
        {"potential": name, "cause": cause, "from": before[name], "to": after[name]}
        for name in after
        if after[name] != before[name]
    ]


# A bundle that is one zip file: laid out, packed again, and refused unless the bytes are the same.


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


# What covers a manifest: in-toto statements, signed checkpoints, the digest that a time stamp is over (RFC 3161).


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


def statements(manifest, data):
    """What the two envelopes must say, all of which follows from the manifest; `data` are its bytes."""
    result = manifest["result"]
    outcome = "WARNED" if result.get("warnings") else "PASSED"
    outcome = outcome if result["verdict"] == "PASS" else "FAILED"
    specs = next(entry["sha256"] for entry in manifest["files"] if entry["path"] == SPECS)
    tested = {"configuration": [{"digest": {"sha256": specs}, "name": SPECS}], "result": outcome}
    canonical = {"canonicalization": "RFC8785", "digestAlgorithm": "sha256"}
    canonical.update(digestSource="canonical-json", tool="specledger")
    oscal = "https://oscal-compass.github.io/compliance-trestle/predicates/oscal-signing/v1"
    types = {
        ATTESTATION: ("https://in-toto.io/attestation/test-result/v0.1", data, tested),
        PROVENANCE: (oscal, data[:-1], canonical),
    }
    return {name: statement(*one) for name, one in types.items()}


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


# What binds a decision to the set that was committed to, and the result that receipts add up to.


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


# JSON in the answer of a model: found anywhere in a text, mended where it is nearly JSON (docs/prompts.md, Answers).
#
# What a text holds is a list of pieces: `("value", value, mends)` or `("broken", text, reason)`. Every character is
# looked at a bounded number of times, whatever the text.

ANSWER_BEGINS = re.compile(r"\{(?=[ \t\r\n]*[\"'}/`])|\[(?=[ \t\r\n]*[\[{\]/`])")
ANSWER_SPACE = re.compile(r"[ \t\r\n]+")
ANSWER_TEXT = re.compile(r'"(?:[^"\\\x00-\x1f]|\\[^\x00-\x1f])*')
ANSWER_DIGITS = re.compile(r"-?[0-9][0-9eE.+-]*")
ANSWER_WORD = re.compile(r"[A-Za-z_$][A-Za-z0-9_$]*")
ANSWER_LINE = re.compile(r"//[^\n]*")
ANSWER_TICKS = re.compile(r"`+")
ANSWER_INTEGER = re.compile(r"-?(?:0|[1-9][0-9]*)")
ANSWER_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
HALF_CHARACTER = re.compile("[\ud800-\udfff]")
MENDED_COMMA, MENDED_COMMENT, MENDED_TICK = "a comma before a closing bracket", "a comment", "a backtick"
MENDED_DROPPED, MENDED_OPEN = "something that is no JSON, or a missing comma", "a bracket that is not closed"
ANSWER_SHOWN = 1000  # characters of a broken piece


class NoValue(ValueError):
    """A token that is no value."""


class Shelf:
    """A bracket that is open: what it holds so far, what is due next, and what is wrong or was mended in it."""

    def __init__(self, start, is_list):
        self.start, self.is_list = start, is_list
        self.held = [] if is_list else {}
        self.due = "value" if is_list else "key"
        self.key, self.reason = "", ""
        self.mends, self.inner, self.saved = {}, {}, []

    def put(self, value):
        """Take a value at the place where one is due."""
        if self.is_list:
            self.held.append(value)
        else:
            self.held[self.key] = value
        self.due = "comma"


class Shard(tuple):
    """A broken piece inside a list: `("broken", text, reason)`."""

    __slots__ = ()


def worth(kind, token, closed):
    """What a scalar token is worth."""
    if kind == "text":
        if not closed:
            raise NoValue("a text that is not closed on its line")
        try:
            value = json.loads(token)
        except ValueError:
            raise NoValue("a text with an escape that there is not") from None
        if HALF_CHARACTER.search(value):
            raise NoValue("a text with half of a character")
        return value
    if token in ("true", "false", "null"):
        return {"true": True, "false": False, "null": None}[token]
    if kind == "number" and len(token) <= 40 and ANSWER_NUMBER.fullmatch(token):
        value = int(token) if ANSWER_INTEGER.fullmatch(token) else float(token)
        if isfinite(value) and abs(value) <= BIG:
            return value
    shown = token[:24] + ("..." if len(token) > 24 else "")
    raise NoValue(f"`{shown}` is no value" + (" within 2^53 - 1" if kind == "number" else ""))


class AnswerReader:
    """Reads one text; `wrapper` is the key of an object that holds the list of objects, `mark` one that they have."""

    def __init__(self, text, wrapper="laws", mark="template"):
        self.text, self.wrapper, self.mark = text, wrapper, mark
        self.at, self.open, self.beyond = 0, [], 0
        self.mended, self.found = {}, []

    def pieces(self):
        """All pieces of the text, in its order."""
        while True:
            if self.open:
                if self.at < len(self.text):
                    self.token()
                else:
                    self.close_to(0)
                continue
            begins = ANSWER_BEGINS.search(self.text, self.at)
            if begins is None:
                return self.found
            self.at = begins.end()
            self.opened(begins.group(), begins.start())

    # Tokens

    def next(self):
        """The kind of the next token, the token, and whether a text is closed; the place moves behind it."""
        text, at = self.text, self.at
        if text.startswith("/*", at):
            end = text.find("*/", at + 2)
            self.at = len(text) if end < 0 else end + 2
            return "comment", "", True
        tried = (("space", ANSWER_SPACE), ("text", ANSWER_TEXT), ("number", ANSWER_DIGITS), ("word", ANSWER_WORD))
        for kind, form in (*tried, ("comment", ANSWER_LINE), ("tick", ANSWER_TICKS)):
            match = form.match(text, at)
            if match is not None:
                closed = kind == "text" and text.startswith('"', match.end())
                self.at = match.end() + closed
                return kind, text[at : self.at], closed
        self.at = at + 1
        return "mark" if text[at] in "[]{},:" else "other", text[at], True

    def token(self):
        """Take the next token inside brackets."""
        start = self.at
        kind, token, closed = self.next()
        if kind in ("comment", "tick"):
            self.open[-1].mends[MENDED_TICK if kind == "tick" else MENDED_COMMENT] = None
        elif kind == "mark":
            self.bracket(token, start)
        elif kind != "space" and not self.beyond:
            try:
                self.scalar(worth(kind, token, closed), kind == "text", start)
            except NoValue as wrong:
                self.misplaced(str(wrong), start)

    def bracket(self, mark, start):
        """Take a bracket, a comma or a colon."""
        if self.beyond:
            self.beyond += (mark in "[{") - (mark in "]}")
            return
        top = self.open[-1]
        if mark in "[{":
            if top.due != "value":
                self.misplaced(f"`{mark}` where a {top.due} is due", start)
            self.opened(mark, start)
            return
        if mark in "]}":
            same = [depth for depth, shelf in enumerate(self.open, 1) if shelf.is_list == (mark == "]")]
            if same:
                self.close_to(same[-1])
                return
        if mark == "," and top.due == "comma":
            top.due, top.key = "value" if top.is_list else "key", ""
        elif mark == ":" and top.due == "colon":
            top.due = "value"
        else:
            self.misplaced(f"`{mark}` where a {top.due} is due", start)

    def scalar(self, value, is_text, start):
        """Take a scalar: a key, a value, or what has no place here."""
        top = self.open[-1]
        if top.due == "value":
            top.put(value)
        elif top.due == "key" and is_text:
            if value in top.held and not top.reason:
                top.reason = f"the key `{value[:24]}` stands twice"
            top.key, top.due = value, "colon"
        else:
            self.misplaced(f"a {'text' if is_text else 'value'} where a {top.due} is due", start)

    def misplaced(self, what, start):
        """A list goes on without what has no place in it, an object is broken by it."""
        top = self.open[-1]
        if top.is_list:
            top.mends[MENDED_DROPPED] = None
        else:
            top.reason = top.reason or f"no JSON: {what}, at character {start}"

    # Brackets

    def opened(self, mark, start):
        """A bracket opens, unless too many are open."""
        if len(self.open) < DEPTH:
            self.open.append(Shelf(start, mark == "["))
        else:
            self.beyond = 1
            self.misplaced(f"more than {DEPTH} brackets inside one another", start)

    def close_to(self, depth):
        """The bracket at this depth is closed by its own, all deeper ones by nothing; at depth 0 the text ends."""
        self.beyond = 0
        while len(self.open) > max(depth, 1):
            self.close(False)
        if self.open:
            self.close(depth > 0)

    def close(self, closed):
        """The innermost bracket ends."""
        shelf = self.open.pop()
        if not closed:
            shelf.mends[MENDED_OPEN] = None
        elif shelf.held and shelf.due == ("value" if shelf.is_list else "key"):
            shelf.mends[MENDED_COMMA] = None
        if not shelf.is_list:
            self.judge(shelf, closed)
        if not self.open:
            self.tell(shelf)
        elif shelf.reason:
            self.hand_broken(shelf, self.open[-1])
        else:
            self.hand(shelf, self.open[-1])

    def judge(self, shelf, closed):
        """Whether an object is broken by how it ends, or by what it holds."""
        if shelf.due in ("colon", "value"):
            shelf.reason = shelf.reason or f"no JSON: the key `{shelf.key[:24]}` has no value"
        if self.wraps(shelf.held):
            return
        if not closed:
            shelf.reason = shelf.reason or "no JSON: the object is not closed"
        if not shelf.reason:
            shards = [one for value in shelf.held.values() for one in shards_of(value)]
            shelf.reason = shards[0][2] if shards else ""

    def wraps(self, value):
        """Whether an object is no law itself and holds a list of laws."""
        return isinstance(value, dict) and self.mark not in value and isinstance(value.get(self.wrapper), list)

    def hand(self, shelf, above):
        """Give a whole container to the one around it."""
        if above.is_list and not shelf.is_list:
            self.mended[id(shelf.held)] = (shelf.held, shelf.mends)  # the object is held, so that its id stays its own
            above.inner.update(shelf.mends)
        else:
            above.mends.update(shelf.mends)
            if above.is_list:
                above.inner.update(shelf.inner)
            elif above.key != self.wrapper:
                above.mends.update(shelf.inner)
        above.saved += shelf.saved
        if above.is_list or above.due == "value":
            above.put(shelf.held)
        else:
            above.saved += self.marked(shelf.held)

    def hand_broken(self, shelf, above):
        """Give a broken object to the container around it, and what can be saved of it."""
        if above.is_list:
            above.held.append(self.shard(shelf))
        else:
            above.reason = above.reason or shelf.reason
        above.due = "comma"
        above.saved += shelf.saved + self.inside(shelf.held)

    def shard(self, shelf):
        return Shard(("broken", self.text[shelf.start : min(self.at, shelf.start + ANSWER_SHOWN)], shelf.reason))

    # What is found

    def tell(self, shelf):
        """An outermost container is done."""
        if shelf.reason:
            self.found += [self.shard(shelf), *shelf.saved, *self.inside(shelf.held)]
            return
        if shelf.is_list or self.wraps(shelf.held):
            self.found += self.elements(shelf.held, shelf.mends)
        else:
            self.found.append(("value", shelf.held, tuple(shelf.mends)))
        self.found += shelf.saved

    def elements(self, value, around):
        """What a list holds, or an object that wraps one."""
        if isinstance(value, Shard):
            return [value]
        mends = {**around, **self.mends_of(value)}
        inner = value[self.wrapper] if self.wraps(value) else value
        if isinstance(inner, list):
            return [one for element in inner for one in self.elements(element, mends)]
        return [("value", value, tuple(mends))]

    def mends_of(self, value):
        return self.mended.get(id(value), (None, {}))[1] if isinstance(value, dict) else {}

    def marked(self, value):
        """The objects with the mark, in what a broken object held."""
        if isinstance(value, dict) and self.mark in value:
            return [("value", value, tuple({**self.mends_of(value), MENDED_DROPPED: None}))]
        return self.inside(value)

    def inside(self, value):
        members = value.values() if isinstance(value, dict) else value if type(value) is list else ()
        return [one for member in members for one in self.marked(member)]


def shards_of(value):
    """The broken pieces in a list."""
    if type(value) is list:
        return [one for element in value for one in shards_of(element)]
    return [value] if isinstance(value, Shard) else []


# What a discovery remembers of the laws that were tried (docs/ranking.md, Memory).

REMEMBERED = ("claim_ast", "observables", "preconditions", "quantifiers", "transform", "direction", "bound_op")
REMEMBERED += ("bound_value", "trigger_symbol", "result_op", "result_symbol", "starts")
ROUTES = {
    **dict.fromkeys(("PROVED", "PASS"), "accepted_laws"),
    "FAIL": "falsified_laws",
    "UNKNOWN": "unknown_laws",
    "ERROR": "errors",
}
TOLD = {
    "accepted_laws": ("method", "proved_for", "up_to", "power", "violation_bound", "content"),
    "falsified_laws": ("method", "counterexample"),
    "unknown_laws": ("reason", "detail", "power"),
    "errors": ("detail",),
}
ACCEPTED = ("PROVED", "PASS")


class DiscoveryMemory:
    """The laws that were tried lately, by what became of them, the oldest first."""

    def __init__(self, limits, capabilities):
        given = {"accepted_laws": "max_accepted", "falsified_laws": "max_falsified", "unknown_laws": "max_unknown"}
        given["counterexamples"] = "max_counterexamples"
        usual = {"max_accepted": 30}
        self.most = {name: limits.get(key, usual.get(key, 20)) for name, key in given.items()}
        self.most["errors"] = 20
        self.lists = {name: [] for name in self.most}
        self.capabilities, self.evaluations = capabilities, 0

    def record(self, law, verdict):
        """Remember what became of a law; there is no verdict where the engine failed."""
        said = {"status": "ERROR"} if verdict is None else verdict
        route = ROUTES.get(said["status"])
        if route is None:
            raise Refuted("E_VERDICT", f"no verdict is {said['status']!r}")
        self.evaluations += 1
        facts = law.facts
        head = {name: facts[name] for name in ("template", "claim", "forbidden")}
        head.update(key=law.key, law_id=facts["id"], status=said["status"], evaluation=self.evaluations, facts=facts)
        written = {name: law.document[name] for name in REMEMBERED if law.document.get(name) is not None}
        told = {name: said[name] for name in TOLD[route] if said.get(name) is not None}
        entry = {**written, **head, **told}
        for name, entries in self.lists.items():
            self.lists[name] = [one for one in entries if one["key"] != law.key]
        self.add(route, entry)
        if entry.get("counterexample") is not None:
            about = {name: entry[name] for name in ("key", "law_id", "template", "claim", "evaluation")}
            self.add("counterexamples", {**about, **entry["counterexample"]})

    def add(self, name, entry):
        """Append to a list, which forgets its oldest entries."""
        entries = [*self.lists[name], entry]
        self.lists[name] = entries[max(0, len(entries) - self.most[name]) :]

    def snapshot(self):
        """What is known now; later evaluations make new lists and leave it as it is."""
        told = {name: entries for name, entries in self.lists.items() if name != "errors"}
        return {**told, "capabilities": self.capabilities}


def memory_digest(snapshot):
    """The digest of what is known."""
    return tagged("memory", write(snapshot))


def view_digest(snapshot, known):
    """The digest of what an iteration could look at: the memory, and the keys of the known laws."""
    return tagged("known-laws", write({"memory": memory_digest(snapshot), "known": known}))


# The words of VERIFY.md: those that this version writes, by their SHA-256 with the bundle's own figures taken out.

GUIDE_WORDS = {
    (False, False): "173506f64c21016fe6f57f9d7c9e47a476ca3aead5c6457586bdf0292708a213",
    (False, True): "be5181e670ed9cd0bb1a2046ca3665c80ccc075d94b56e4bdff399cda7b68e21",
    (True, False): "5059486e7be7e2643ee13cb50a7de9612234b3a05d767e9c9256ea7d246f62e9",
    (True, True): "de5f6a9ff26adf53283d25764c59ec7118e27256957b306d6eea95c4e8e2d722",
}
"""By whether the bundle is signed, and whether it is stamped."""


def words_digest(text, digest, manifest):
    """SHA-256 of a guide in which the figures of its bundle, each at its first place, are replaced by their names."""
    receipts = manifest["receipts"]
    figures = [("digest", digest), ("root", receipts["root"]), *((name, manifest[name]) for name in ("run", "specs"))]
    for name, figure in figures:
        text = text.replace(f"`{figure}`", f"`{{{name}}}`", 1)
    text = text.replace(f"with {receipts['count']} receipts", "with {count} receipts", 1)
    return hashlib.sha256(text.encode()).hexdigest()


def check_words(bundle, text, digest):
    """See that the guide says what this version writes about such a bundle; another version's guide is not compared."""
    if bundle.manifest["engine"]["version"] != KNOWN_VERSION:
        bundle.unmade.append("the words of VERIFY.md, which another version wrote")
        return
    kind = (ATTESTATION in bundle.attached, TIMESTAMP in bundle.attached)
    same = words_digest(text, digest, bundle.manifest) == GUIDE_WORDS[kind]
    demand(same, "E_DIGESTS", "VERIFY.md has other words than it must")


# Claims of laws: trees of what is said, read from JSON or from text, shown as text, matched with a template.
#
# A node is a tuple: ("const", value), ("obs", name, step, fixed), ("not", node), or (operator, left, right). The step
# of an observable is counted from the one that is judged, or from the start where it is fixed.

SUM_SIGNS, ORDERS_OF_CLAIMS, JOINTS = ("+", "-", "*"), ("==", "!=", "<", "<=", ">", ">="), ("=>", "and", "or")
CELL_NOW, CELL_IMAGE, CELL_MOVED = "state[i]", "evolve(transform(S))[i]", "transform(evolve(S))[i]"
CELLWISE = (CELL_NOW, CELL_IMAGE, CELL_MOVED)
CLAIM_TRUE = ("const", True)
BIG_INT = 2**63 - 1
MOST_NODES, MOST_LEVELS, MOST_STEP = 512, 32, 1_000_000
CLAIM_TOKEN = re.compile(r"\s*(?:([0-9]+)|([A-Za-z_][A-Za-z0-9_]*)|(=>|==|!=|<=|>=|[-+*/<>()])|(\S))", re.ASCII)
LEVELS = {"=>": 1, "or": 2, "and": 3, "+": 6, "-": 6, "*": 7, **dict.fromkeys(ORDERS_OF_CLAIMS, 5)}
APPLIED = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "=>": lambda one, other: not one or other,
    "and": lambda one, other: one and other,
    "or": lambda one, other: one or other,
}


class Ambiguous(Exception):
    """A text that leaves open what is claimed."""


def claim_nodes(node):
    """A node and everything below it, from left to right."""
    yield node
    if node[0] not in ("const", "obs"):
        for below in node[1:]:
            yield from claim_nodes(below)


def claim_reads(node):
    """What is read, each once, in the order of the text: (name, step, fixed)."""
    return list(dict.fromkeys(one[1:] for one in claim_nodes(node) if one[0] == "obs"))


def claim_from_json(value, level=0, count=None):
    """The tree of a claim in JSON."""
    count = [0] if count is None else count
    count[0] += 1
    code = "E_SPECS"
    demand(count[0] <= MOST_NODES and level < MOST_LEVELS, code, "a claim is too large")
    demand(isinstance(value, dict), code, "a node of a claim is no object")
    if value.keys() == {"const"}:
        return ("const", claim_constant(value["const"]))
    if value.keys() == {"obs", "t"} and isinstance(value["obs"], str):
        return ("obs", value["obs"], *claim_time(value["t"]))
    op = value.get("op")
    if op == "not" and value.keys() == {"op", "arg"}:
        return ("not", claim_from_json(value["arg"], level + 1, count))
    known = op in LEVELS and value.keys() == {"op", "lhs", "rhs"}
    demand(known, code, "a node of a claim means nothing")
    return (op, *(claim_from_json(value[side], level + 1, count) for side in ("lhs", "rhs")))


def claim_constant(value):
    """An integer within 64 bits, a truth value or a symbol."""
    symbol = isinstance(value, str) and len(value) == 1
    fits = symbol or isinstance(value, bool) or (isinstance(value, int) and -BIG_INT - 1 <= value <= BIG_INT)
    demand(fits, "E_SPECS", "a constant of a claim is none")
    return value


def claim_time(value):
    """The step that an observable is read at, and whether it is counted from the start."""
    if value == {"var": "t"}:
        return 0, False
    if isinstance(value, dict) and value.keys() == {"t_plus_1"} and value["t_plus_1"] is True:
        return 1, False
    step = value["const"] if isinstance(value, dict) and value.keys() == {"const"} else None
    demand(type(step) is int and 0 <= step <= MOST_STEP, "E_SPECS", "a time of a claim is none")
    return step, True


def claim_to_json(node):
    """The claim in JSON, in its one form."""
    if node[0] == "const":
        return {"const": node[1]}
    if node[0] == "obs":
        _, name, step, fixed = node
        if step == 1 and not fixed:
            return {"obs": name, "t": {"t_plus_1": True}}
        return {"obs": name, "t": {"const": step} if fixed else {"var": "t"}}
    if node[0] == "not":
        return {"op": "not", "arg": claim_to_json(node[1])}
    return {"op": node[0], "lhs": claim_to_json(node[1]), "rhs": claim_to_json(node[2])}


def claim_text(node, level=0):
    """The claim as text, with the brackets that it needs."""
    if node[0] == "const":
        if isinstance(node[1], bool):
            return "true" if node[1] else "false"
        return f"'{node[1]}'" if isinstance(node[1], str) else str(node[1])
    if node[0] == "obs":
        _, name, step, fixed = node
        return f"{name}({step})" if fixed else f"{name}(t)" if step == 0 else f"{name}(t+{step})"
    if node[0] == "not":
        own, text = 4, f"not {claim_text(node[1], 4)}"
    else:
        op, own = node[0], LEVELS[node[0]]
        left = own + (op in ORDERS_OF_CLAIMS or op == "=>")
        text = f"{claim_text(node[1], left)} {op} {claim_text(node[2], own + (op != '=>'))}"
    return f"({text})" if own < level else text


def claim_sort(node):
    """Whether a claim is worth an integer, a truth value or a symbol; operators take what they are given."""
    code, message = "E_SPECS", "an operator of a claim has operands that it cannot take"
    if node[0] == "const":
        return "bool" if isinstance(node[1], bool) else "int" if isinstance(node[1], int) else "cell"
    if node[0] == "obs":
        return "cell" if node[1] in CELLWISE else "int"
    sorts = {claim_sort(below) for below in node[1:]}
    taken = {"int"} if node[0] in SUM_SIGNS or node[0] in ORDERS_OF_CLAIMS else {"bool"}
    taken = {"int", "bool", "cell"} if node[0] in ("==", "!=") else taken
    demand(len(sorts) == 1 and sorts <= taken, code, message)
    return "int" if node[0] in SUM_SIGNS else "bool"


def claim_moved(node, steps):
    """The claim with every step that is not fixed so many later; no step may come before the one that is judged."""
    if node[0] == "obs":
        _, name, step, fixed = node
        demand(fixed or step + steps >= 0, "E_SPECS", "a part of a claim is read at the wrong step")
        return node if fixed else ("obs", name, step + steps, False)
    return node if node[0] == "const" else (node[0], *(claim_moved(below, steps) for below in node[1:]))


# Templates: patterns of claims


def pattern_filled(pattern, parts, fields):
    """A pattern in JSON with parts (as JSON) and fields in their places."""
    if not isinstance(pattern, dict):
        return pattern
    if pattern.keys() == {"field"}:
        return fields[pattern["field"]]
    if "part" in pattern:
        held = parts[pattern["part"]]
        return claim_to_json(claim_moved(claim_from_json(held), 1)) if pattern.get("at") == "t + 1" else held
    return {key: pattern_filled(value, parts, fields) for key, value in pattern.items()}


def pattern_matched(pattern, claim, fields, found):
    """Find what a claim in JSON puts in the place of each part."""
    code, message = "E_SPECS", "a claim is not of its template's form"
    if not isinstance(pattern, dict) or pattern.keys() == {"field"}:
        wanted = fields[pattern["field"]] if isinstance(pattern, dict) else pattern
        demand(type(wanted) is type(claim) and wanted == claim, code, message)
    elif "part" in pattern:
        node = claim_from_json(claim)
        node = claim_moved(node, -1) if pattern.get("at") == "t + 1" else node
        demand(found.setdefault(pattern["part"], node) == node, code, message)
    else:
        demand(isinstance(claim, dict) and claim.keys() == pattern.keys(), code, message)
        for key in pattern:
            pattern_matched(pattern[key], claim[key], fields, found)


# Claims as text


class ClaimText:
    """Reads a text such as `X(t+1) == In(t) and not 2 * X(t) > L(0)`."""

    def __init__(self, text):
        demand(len(text) <= 8192, "E_SPECS", "a claim is too long")
        self.tokens = [next(filter(None, match)) for match in CLAIM_TOKEN.findall(text.rstrip())]
        demand(len(self.tokens) <= MOST_NODES, "E_SPECS", "a claim has too many words")
        self.place = self.open = 0

    def whole(self):
        """The tree of the whole text."""
        node = self.implied()
        if self.place < len(self.tokens):
            self.unexpected()
        return claim_from_json(claim_to_json(node))

    def next(self):
        """The next word, or None."""
        return self.tokens[self.place] if self.place < len(self.tokens) else None

    def take(self, *wanted):
        """The next word if it is one of these, else None."""
        found = self.next() if self.next() in wanted else None
        self.place += found is not None
        return found

    def unexpected(self, wanted=None):
        """Say what stands here."""
        found = self.next()
        if found == "/":
            raise Refuted("E_SPECS", "a claim divides")
        shown = "the end" if found is None else f"`{found}`"
        raise Ambiguous(f"expected `{wanted}`, found {shown}" if wanted else f"unexpected {shown}")

    def expect(self, token):
        """Take a word that must come."""
        if self.take(token) is None:
            self.unexpected(token)

    def deeper(self, steps):
        """Count how deep it is."""
        self.open += steps
        demand(self.open <= MOST_LEVELS, "E_SPECS", "a claim is too deep")

    def implied(self):
        """`=>` binds least and leans to the right."""
        self.deeper(1)
        left = self.joined("or", lambda: self.joined("and", self.denied))
        node = ("=>", left, self.implied()) if self.take("=>") else left
        self.deeper(-1)
        return node

    def joined(self, word, operand):
        """Operands with a word between, from left to right."""
        node = operand()
        while self.take(word):
            node = (word, node, operand())
        return node

    def denied(self):
        """A denial, or one comparison."""
        if self.take("not"):
            self.deeper(1)
            node = ("not", self.denied())
            self.deeper(-1)
            return node
        left = self.summed()
        op = self.take(*ORDERS_OF_CLAIMS)
        return left if op is None else (op, left, self.summed())

    def summed(self):
        """Products with + and - between."""
        node = self.product()
        while self.next() in ("+", "-"):
            node = (self.take("+", "-"), node, self.product())
        return node

    def product(self):
        """Atoms with * between."""
        node = self.atom()
        while self.take("*"):
            node = ("*", node, self.atom())
        return node

    def atom(self):
        """A bracket, an integer, a truth value, or an observable at a step."""
        if self.take("("):
            node = self.implied()
            self.expect(")")
            return node
        sign = -1 if self.take("-") else 1
        token = self.next()
        if token is not None and token.isdigit():
            self.place += 1
            return ("const", claim_constant(sign * int(token)))
        named = token is not None and (token[0].isalpha() or token[0] == "_") and token not in ("and", "or", "not")
        if sign < 0 or not named:
            self.unexpected()
        self.place += 1
        if token in ("true", "false"):
            return ("const", token == "true")
        if self.take("(") is None:
            raise Ambiguous(f"`{token}` does not say when it is looked at")
        step = self.step()
        self.expect(")")
        return ("obs", token, *step)

    def step(self):
        """`t`, `t + 1`, or a step from the start."""
        if self.take("t"):
            if self.take("+"):
                self.expect("1")
                return 1, False
            return 0, False
        token = self.next()
        if token is None or not token.isdigit() or int(token) > MOST_STEP:
            self.unexpected("t")
        self.place += 1
        return int(token), True


# What a manifest lists beside receipts and specs: the sources that a run was resolved from, and its failing cases.

ORIGIN = "specs/origin.json"
SOURCE_PATH = re.compile(r"specs/[a-z]{1,40}/[A-Za-z0-9_][A-Za-z0-9_.-]{0,94}\.ya?ml")
CASE_PATH = re.compile(r"counterexamples/[0-9]{8,16}\.json")
ORIGIN_KEYS = {"format", "main", "case", "set", "links"}
LINK_KEYS = ("from", "kind", "target", "to")
MOST_CASES = 100


def sorted_out(paths):
    """The listed sources and failing cases of a bundle."""
    sources = [path for path in paths if path.startswith("specs/")]
    cases = [path for path in paths if path.startswith("counterexamples/")]
    known = all(path == ORIGIN or SOURCE_PATH.fullmatch(path) for path in sources)
    demand(known, "E_FILES", "a source lies under a name that none has")
    demand(all(map(CASE_PATH.fullmatch, cases)), "E_FILES", "a failing case lies under a name that none has")
    return sources, cases


def check_folders(place, paths):
    """See that the folders of listed files are plain, and hold these files and nothing else."""
    folders = sorted({"/".join(path.split("/")[:depth]) for path in paths for depth in range(1, path.count("/") + 1)})
    for folder in folders:
        at = place / folder
        demand(at.is_dir() and not at.is_symlink(), "E_FILES", f"{folder} is no plain folder")
        inside = {path[len(folder) + 1 :].split("/")[0] for path in paths if path.startswith(f"{folder}/")}
        demand({one.name for one in at.iterdir()} == inside, "E_FILES", f"{folder} holds something that is not listed")


def may_fail(kind, result):
    """Whether receipts that add up to a result may show a failing case."""
    if kind == "scenario":
        return result["verdict"] != "PASS" or bool(result["warnings"])
    return kind == "discovery" or (kind == "law" and result.get("status") == "FAIL")


def failing_cases(kind, lines):
    """The failing cases, of each cause the first, of all the first hundred: causes, first and last receipt of each."""
    made, known, causes, begun = [], set(), set(), None
    for seq, line in enumerate(lines):
        receipt = json.loads(line)
        type_, body = receipt["type"], receipt["body"]
        if kind != "scenario":
            causes, begun, over = laws_refuted(kind, type_, body), seq, True
        elif type_ in ("start", "episode", "end"):
            causes, begun = set(), None
            continue
        else:
            causes, begun = causes | gone_wrong(type_, body), seq if begun is None else begun
            over = type_ in ("step", "error", "episode_end")
        if over:
            if causes - known:
                made.append((causes, begun, seq))
                known |= causes
            causes, begun = set(), None
        if len(made) == MOST_CASES:
            break
    return made


def laws_refuted(kind, type_, body):
    """What a receipt of a law or of a discovery refutes; a suite's refute nothing."""
    if kind == "law":
        found = type_ == "verdict" and body["verdict"]["counterexample"] is not None
        return {f"law:{body['verdict']['law']}"} if found else set()
    verdict = body["verdict"] if kind == "discovery" and type_ in ("law", "escalation") else None
    return {f"law:{body['law']}"} if verdict is not None and verdict["counterexample"] is not None else set()


def gone_wrong(type_, body):
    """What a receipt of a run says went wrong."""
    if type_ == "probe":
        return {f"probe:{body['probe']}"} if body["verdict"] in ("FAIL", "ERROR") else set()
    if type_ == "error":
        return {f"error:{body['code']}"}
    if type_ not in ("step", "episode_end"):
        return set()
    causes = {f"invariant:{each['invariant']}" for each in body.get("violations", ())}
    if type_ == "step":
        causes |= {f"error:{each['error']['code']}" for each in body["decisions"] if each["error"] is not None}
        causes |= {"progress"} if body["chosen"] is None else set()
    return causes


def case_parts(case, numbered):
    """The bytes of the file of a failing case, in parts: there may be many receipts in one step."""
    causes, begun, last = case
    yield b'{"causes":' + write(sorted(causes, key=str.encode)) + b',"receipts":['
    for seq, line in numbered:
        if seq >= begun:
            receipt = json.loads(line)
            told = {"body": receipt["body"], "seq": seq, "type": receipt["type"]}
            yield b"," * (seq > begun) + write(told)
        if seq == last:
            break
    yield b"]}\n"


def check_cases(bundle):
    """The failing cases are those that the receipts show, every byte of them."""
    code, made = "E_COUNTEREXAMPLES", failing_cases(bundle.kind, bundle.lines())
    paths = [f"counterexamples/{last:08d}.json" for _, _, last in made]
    demand(sorted(paths) == sorted(bundle.cases), code, "other failing cases are shown than the receipts have")
    numbered = enumerate(bundle.lines())
    for path, case in zip(paths, made):
        with (bundle.place / path).open("rb") as file:
            same = all(file.read(len(part)) == part for part in case_parts(case, numbered)) and not file.read(1)
        demand(same, code, f"{path} is not what the receipts show")


def check_sources(bundle):
    """What says how the sources are resolved: it has its form and speaks of them, and they are small enough."""
    code = "E_SOURCES"
    yaml = [path for path in bundle.sources if path != ORIGIN]
    sizes = [(bundle.place / path).stat().st_size for path in bundle.sources]
    demand(max(sizes) <= MEBI and sum(sizes) <= 8 * MEBI, code, "the sources are too large")
    origin = document(bundle.place / ORIGIN, code, MEBI)
    shaped = isinstance(origin, dict) and origin.keys() == ORIGIN_KEYS and origin["format"] == "specledger/sources/v1"
    demand(shaped, code, "origin.json has other fields than it must")
    texts = [origin["main"], origin["case"], *origin["set"]]
    demand(isinstance(origin["set"], list) and all(isinstance(one, str) for one in texts), code, "a change is no text")
    demand(f"specs/{origin['main']}" in yaml, code, "the main document is not there")
    links = origin["links"]
    shaped = isinstance(links, list) and all(sorted(one) == sorted(LINK_KEYS) for one in links)
    demand(shaped and all(isinstance(text, str) for one in links for text in one.values()), code, "a link is none")
    order = [tuple(one[name] for name in LINK_KEYS[:3]) for one in links]
    demand(order == sorted(set(order)), code, "the links are out of order, or one stands twice")
    there = all(f"specs/{one[name]}" in yaml for one in links for name in ("from", "to"))
    demand(there, code, "a link leads to a document that is not there")
    return origin


def check_evaluator(manifest):
    """The evaluator of expressions is one whose name and version are known to be one."""
    evaluator = manifest["evaluator"]
    shaped = isinstance(evaluator, dict) and evaluator.keys() == {"name", "version"}
    shaped = shaped and evaluator["name"] == "cel-profile" and isinstance(evaluator["version"], str)
    demand(shaped and re.fullmatch(r"[1-9][0-9]{0,8}", evaluator["version"]), "E_MANIFEST", "the evaluator is unknown")


# The audit log of a kernel: one chain of entries that ends with those among the receipts (docs/kernel.md).


def check_log(bundle):
    """The entries are one chain that begins with zeros, and the last ones are those among the receipts."""
    code, head, own = "E_AUDIT_LINE", ZEROS, bundle.order.entries
    last = deque(maxlen=len(own))
    demand((bundle.place / LOG).is_file(), "E_AUDIT_DIFFERS", "the receipts hold audit entries, and there is no log")
    with (bundle.place / LOG).open("rb") as file:
        begins = any(b'"prev_entry_hash"' in file.readline(ENTRY + 1) for _ in range(2))
        demand(begins, "E_AUDIT_NO_LOG", "the log does not begin with entries")
        file.seek(0)
        for line in iter(lambda: file.readline(ENTRY + 1), b""):
            demand(len(line) <= ENTRY, code, "an entry is too long")
            demand(line.endswith(b"\n"), "E_AUDIT_TORN", "the last entry is torn")
            head = log_entry(read(line[:-1], code, "an entry"), head)
            last.append(head)
    demand(list(last) == own, "E_AUDIT_DIFFERS", "the log does not end with the entries of the run")


def log_entry(entry, head):
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


# What a run puts into a receipt: the canonical bytes, or the place of what no receipt can hold.

MOST_WEIGHT = 8 << 20
PLAIN_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


class Unsealable(Exception):
    """A number beyond 2^53 - 1, and the path of what holds it; or too much."""

    def __init__(self, code, path):
        self.code, self.path = code, path
        super().__init__(code)

    def told(self):
        """The failure as a receipt holds it."""
        shown = "$"
        for key in self.path:
            key = key[:64] if isinstance(key, str) else key
            plain_key = isinstance(key, str) and PLAIN_KEY.fullmatch(key)
            shown += f".{key}" if plain_key else f"[{json.dumps(key)}]"
        return {"code": self.code, "expression": shown, "offset": None}


def weighed(value):
    """A value that holds no more than may be told: members and characters, looked at no further than to the bound."""
    weight, todo = 0, [value]
    while todo and weight <= MOST_WEIGHT:  # what is still to be looked at was counted, so it is bounded too
        one = todo.pop()
        if isinstance(one, str):
            weight += len(one)
        elif isinstance(one, dict):
            weight += len(one) + sum(map(len, one))
            todo.extend(one.values())
        elif isinstance(one, list):
            weight += len(one)
            todo.extend(one)
    if weight > MOST_WEIGHT:
        raise Unsealable("E_CANON_SIZE", ())
    return value


def state_hash(state):
    """The digest of a state, or of a part's."""
    return tagged("state", sealed(weighed(state)))


def sealed(value):
    """The canonical bytes of a value of which every number fits a receipt."""
    check_sealable(value, ())
    return write(value)


def check_sealable(value, path):
    """See that a value can stand in a receipt; the first place in order that cannot is told."""
    if type(value) is int:
        if not -BIG <= value <= BIG:
            raise Unsealable("E_CANON_RANGE", path)
    elif isinstance(value, (dict, list)):
        if len(path) >= DEPTH:
            raise Unsealable("E_CANON_DEPTH", path)
        members = value.items() if isinstance(value, dict) else enumerate(value)
        for key, one in members:
            if type(one) not in (str, bool, type(None)):
                check_sealable(one, (*path, key))
    elif type(value) is float:
        raise Open("E_SPECS", "a double would stand in a receipt")


# Whether recorded specs have the shapes of their kinds: every key is one that the kind knows, every value of its sort.
#
# Not looked at: how names, texts and numbers with a fraction are written, how long lists are, and what must go
# together.


def read_shapes(text):
    """The mappings by (kind, name); those of all kinds stand under every kind that has none of its own."""
    found, kind, name = {}, "", ""
    for line in text.split("\n"):
        words = line.split()
        if line.startswith("# "):
            kind = words[1]
        elif words:
            if not line.startswith(" "):
                name = words.pop(0)
            found.setdefault((kind, name), {}).update(word.split(":", 1) for word in words)
    return found


SHAPES = read_shapes(SHAPE_TEXT)
SHAPE_CLASSES = {"s": str, "b": bool, "0": type(None)}


def check_shapes(specs):
    """See that each spec has the shape of its kind."""
    for key, data in specs.items():
        kind = key.partition("/")[0]
        demand((kind, "Document") in SHAPES, "E_SPECS", f"there is no kind {kind!r}")
        wrong = misshaped(data, "@Document", kind, key)
        demand(wrong is None, "E_SPECS", f"{wrong} is not of the shape that its kind has")


def misshaped(value, shape, kind, place):
    """The first place that is not of its shape, None if all are."""
    words = alternatives(shape)
    found = [one_misshaped(value, word, kind, place) for word in words]
    if None in found:
        return None
    return max(found, key=len)


def alternatives(shape):
    """The alternatives of a shape; a bar inside of brackets parts nothing."""
    words, depth = [""], 0
    for one in shape:
        depth += (one in "[{") - (one in "]}")
        if one == "|" and depth == 0:
            words.append("")
        else:
            words[-1] += one
    return words


def one_misshaped(value, word, kind, place):
    """The same for one alternative."""
    head = word[0]
    if head in SHAPE_CLASSES and len(word) == 1:
        return None if type(value) is SHAPE_CLASSES[head] else place
    if head in "ne*" and len(word) == 1:
        number = type(value) in (int, float) or (isinstance(value, dict) and value.keys() == {"$double"})
        return None if head == "*" or number or (head == "e" and type(value) in (str, bool)) else place
    if head == "i":
        low, high = word[1:].split(":")
        inside = type(value) is int and (not low or value >= int(low)) and (not high or value <= int(high))
        return None if inside else place
    if head == "=":
        return None if value == word[1:].replace("~", " ") and isinstance(value, str) else place
    if head in "[{":
        fits_head = isinstance(value, list if head == "[" else dict)
        members = (enumerate(value) if head == "[" else value.items()) if fits_head else ()
        wrong = (misshaped(one, word[1:-1], kind, f"{place}.{key}") for key, one in members)
        return place if not fits_head else next((one for one in wrong if one is not None), None)
    return misshaped_mapping(value, word[1:], kind, place)


def misshaped_mapping(value, name, kind, place):
    """The same for a mapping of the table."""
    keys = SHAPES[(kind, name)] if (kind, name) in SHAPES else SHAPES[("", name)]
    if "" in keys:
        return misshaped(value, keys[""], kind, place)
    if not isinstance(value, dict):
        return place
    for key in sorted(value):
        shape = keys.get(key) or keys.get(f"{key}!")
        wrong = f"{place}.{key}" if shape is None else misshaped(value[key], shape, kind, f"{place}.{key}")
        if wrong is not None:
            return wrong
    missing = [key for key in keys if key.endswith("!") and key[:-1] not in value]
    return f"{place}.{missing[0][:-1]}" if missing else None


# Named random streams: draws that follow from a seed and names alone (docs/evidence.md).
#
# A stream's bytes are SHA-256 blocks under a key that the seed and the names give. An integer takes the fewest whole
# bytes, keeps the fewest bits, and is drawn again while it is too large.

STREAM_BLOCK = b"specledger/stream-block/v1\0"


class Stream:
    """One stream, read from its beginning."""

    def __init__(self, seed, *names):
        self.key = bytes.fromhex(tagged("stream", write([seed, *names])))
        self.held, self.blocks = b"", 0

    def bytes(self, count):
        """The next bytes."""
        while len(self.held) < count:
            self.held += hashlib.sha256(STREAM_BLOCK + self.key + self.blocks.to_bytes(8, "big")).digest()
            self.blocks += 1
        found, self.held = self.held[:count], self.held[count:]
        return found

    def integer(self, low, high):
        """An integer from low to high, both included."""
        bits = (high - low).bit_length()
        while True:
            drawn = int.from_bytes(self.bytes((bits + 7) // 8), "big") & ((1 << bits) - 1)
            if drawn <= high - low:
                return low + drawn

    def choice(self, items):
        """One of the items."""
        return items[self.integer(0, len(items) - 1)]

    def sample(self, items, count):
        """So many of the items, in any order (Fisher and Yates)."""
        drawn = list(items)
        for place in range(count):
            other = self.integer(place, len(drawn) - 1)
            drawn[place], drawn[other] = drawn[other], drawn[place]
        return drawn[:count]

    def shuffle(self, items):
        """All items, in any order."""
        return self.sample(items, len(items))


# The episodes of a run, as the measures of a suite read them (docs/suites.md).

PART_CHAIN = ("before", "after", "tip", "tip_after")


class EpisodeReader:
    """Folds receipts, in their order, into episodes."""

    def __init__(self, heading):
        self.heading, self.horizon, self.start, self.commit = heading, 0, None, None
        self.steps, self.drifts, self.probes, self.entries = [], [], [], []

    def add(self, kind, body):
        """Take one receipt; the episode that it ends, or None."""
        if kind == "start":
            self.horizon = body["horizon"]
        elif kind == "episode":
            self.start, self.commit = body["state"], None
            self.steps, self.drifts, self.probes, self.entries = [], [], [], []
        elif kind == "drift":
            told = {name: body[name] for name in ("drift", "t", "changed")}
            self.drifts.append({**told, "rebases": body.get("rebases", [])})
        elif kind == "probe":
            self.probes.append(told_probe(body))
        elif kind == "audit":
            self.entries.append(told_entry(body))
        elif kind == "commit":
            self.commit = body
        elif kind == "step":
            self.steps.append(told_step(body, self.commit))
            self.commit = None
        elif kind == "episode_end" and self.start is not None:
            made, self.start = self.closed(body), None
            return made
        return None

    def closed(self, body):
        """The episode that ends here."""
        ends = [*(drift["t"] for drift in self.drifts), len(self.steps)]
        drifts = [{**drift, "end": end} for drift, end in zip(self.drifts, ends[1:])]
        stretches = [{"drift": "", "t": 0, "end": ends[0]}]
        stretches += [{name: drift[name] for name in ("drift", "t", "end")} for drift in drifts]
        first = body["first_success"]
        return {
            **self.heading,
            "horizon": self.horizon,
            "episode": body["episode"],
            "ended": body["ended"],
            "success": body["success"],
            "first_success": -1 if first is None else first,
            "breaches": told_breaches(body),
            "start": self.start,
            "steps": self.steps,
            "drifts": drifts,
            "stretches": stretches,
            "probes": self.probes,
            "entries": self.entries,
        }


def told_breaches(body):
    """Broken invariants without their witnesses."""
    return [{name: one[name] for name in ("invariant", "severity")} for one in body["violations"]]


def told_probe(body):
    """What a probe says, its answers and its trace."""
    evidence = body["evidence"]
    trace = evidence.get("trace", {"nodes": 0, "equal": 0})
    told = {name: body[name] for name in ("probe", "t", "verdict", "cause")}
    return {**told, "answers": evidence.get("answers", ""), "nodes": trace["nodes"], "equal": trace["equal"]}


def told_entry(body):
    """What an entry of a kernel's log says."""
    ruling = body["kernel_decision"]
    return {
        "event": body["event"],
        "verdict": ruling["verdict"],
        "codes": ruling["notes"].split(" ")[1:],
        "witnesses": [{name: one[name] for name in ("invariant", "severity")} for one in body["witnesses"]],
    }


def told_step(body, commit):
    """What a step says."""
    decisions, chosen = body["decisions"], body["chosen"]
    step = {
        "t": body["t"],
        "chosen": -1 if chosen is None else chosen,
        "proposals": len(decisions),
        "admitted": sum(not one["rejected"] and one["error"] is None for one in decisions),
        "errors": sum(one["error"] is not None for one in decisions),
        "rejections": [
            {"proposal": place, "gate": failing["gate"], "reason": failing["reason"]}
            for place, one in enumerate(decisions)
            for failing in one["rejected"]
        ],
        "bound": chosen is None or (commit is not None and bound_to(commit, body)),
        "success": body["success"],
        "violations": told_breaches(body),
        "parts": {
            name: {key: value for key, value in one.items() if key not in PART_CHAIN}
            for name, one in body["parts"].items()
        },
        "potentials": body.get("potentials", {}),
        "rebases": body.get("rebases", []),
    }
    if chosen is not None:
        step.update(record=body["record"], cost=body["cost"])
        if commit is not None:
            step["action"] = commit["proposals"][chosen]["action"]
    return step


def bound_to(commit, step):
    """Whether a choice is one of the proposals committed to before, by every digest of choice, set and token."""
    chosen, proposals = step["chosen"], commit["proposals"]
    if type(chosen) is not int or not 0 <= chosen < len(proposals) or commit["t"] != step["t"]:
        return False
    leaves = [write({"index": place, "proposal": one}) for place, one in enumerate(proposals)]
    digest, root = tagged("proposal", leaves[chosen]), merkle(leaves)
    scope = {"episode": step["episode"], "op": proposals[chosen]["action"]["op"], "t": step["t"]}
    token = {"commitment": root, "proposal": digest, "scope": tagged("scope", write(scope))}
    token["id"] = tagged("token", write(token))
    return root == commit["root"] and step["chosen_hash"] == digest and step["token"] == token


# Expressions of specs (CEL profile v1, docs/authoring.md): from a text to a tree, in bounded size and depth.
#
# A node is a tuple: its form, where it begins in the text, and its parts. The beginning is what an error tells: of a
# chain of operators or selections it is where the first of them begins, brackets around it left out.

LONGEST_TEXT, MOST_BRACKETS, LONGEST_CHAIN, HIGHEST_TREE, MOST_ITEMS, MOST_MACROS = 8192, 32, 32, 48, 256, 6
INT64_MAX = 2**63 - 1
RESERVED_WORDS = frozenset(
    "as break const continue else false for function if import in let loop namespace null package return true var void"
    " while".split()
)
MACRO_NAMES = frozenset(("all", "exists", "exists_one", "filter", "map"))
BINARY_LEVELS = (("==", "!=", "<", "<=", ">", ">=", "in"), ("+", "-"), ("*", "/", "%"))
SKIPPED_TEXT = re.compile(r"(?:[ \t\n\r\f]|//[^\n]*)*")
TOKEN_FORMS = re.compile(
    r"(?P<double>[0-9]+\.[0-9]+(?:[eE][+-]?[0-9]+)?|[0-9]+[eE][+-]?[0-9]+|\.[0-9]+(?:[eE][+-]?[0-9]+)?)"
    r"|(?P<int>0x[0-9a-fA-F]+|[0-9]+)(?![uU])"
    r"|(?P<string>(?:[rR])?(?:'''|\"\"\"|'|\"))"
    r"|(?P<name>[A-Za-z_][A-Za-z0-9_]*)"
    r"|(?P<operator>&&|\|\||[=!<>]=|[-+*/%!<>?:.,()\[\]{}])"
    r"|`(?P<quoted>[A-Za-z0-9_.\-/ ]+)`"
)
ESCAPE_FORMS = re.compile(
    r"\\(?:([abfnrtv\\?\"'`])|[xX]([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-3][0-7]{2})|(?s:(.))|$)"
)
CONTROL_ESCAPES = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}


class NoExpression(Refuted):
    """A text is no expression of the profile."""

    def __init__(self, message, text):
        super().__init__("E_SPECS", f"no expression: {message}, in {text[:80]!r}")


class Expression:
    """A parsed expression: its text, its root, the number of its nodes; `runs` is what `cel` keeps of it."""

    __slots__ = ("root", "runs", "text", "weight")

    def __init__(self, text, root, weight):
        self.text, self.root, self.weight, self.runs = text, root, weight, {}


@lru_cache(maxsize=16384)
def parse(text):
    """The tree of an expression; equal texts have one.

    `true`, `false` and numbers may stand for expressions: they are parsed as they are spelled.
    """
    if len(text) > LONGEST_TEXT:
        raise NoExpression(f"it has more than {LONGEST_TEXT} characters", text)
    root = Parser(text).whole()
    return Expression(text, root, measured(root, text))


def inner_nodes(node):
    """The parts of a node that are nodes."""
    form = node[0]
    if form in ("literal", "name"):
        return ()
    if form in ("select", "has"):
        return (node[2],)
    if form == "unary":
        return (node[3],)
    if form == "index":
        return node[2:4]
    if form == "binary":
        return node[3:5]
    if form == "logic":
        return node[3]
    if form == "choice":
        return node[2:5]
    if form == "call":
        return node[4] if node[3] is None else (node[3], *node[4])
    if form == "list":
        return node[2]
    if form == "map":
        return tuple(part for entry in node[2] for part in entry)
    return (node[3], *(() if node[5] is None else (node[5],)), node[6])


def node_count(root):
    """How many nodes a tree has."""
    waiting, count = [root], 0
    while waiting:
        count += 1
        waiting += inner_nodes(waiting.pop())
    return count


def measured(root, text):
    """The number of nodes; a tree that is too high, or has too many macros inside one another, is refused."""
    waiting, count = [(root, 1, 0)], 0
    while waiting:
        node, height, macros = waiting.pop()
        count += 1
        if height > HIGHEST_TREE or macros > MOST_MACROS - (node[0] == "macro"):
            raise NoExpression("it is too deep", text)
        inside = macros + (node[0] == "macro")
        target = node[3] if node[0] == "macro" else None
        waiting += [(one, height + 1, macros if one is target else inside) for one in inner_nodes(node)]
    return count


class Parser:
    """Reads one text, token by token, in bounded depth."""

    def __init__(self, text):
        self.text, self.at, self.depth = text, 0, 0
        self.advance()

    def fail(self, message):
        """Refuse the text."""
        raise NoExpression(f"{message} at {self.start}", self.text)

    def advance(self):
        """Read the next token: `kind` is int, double, string, name, quoted, end, or the operator itself."""
        self.start = SKIPPED_TEXT.match(self.text, self.at).end()
        if self.start == len(self.text):
            self.kind, self.value, self.at = "end", None, self.start
            return
        found = TOKEN_FORMS.match(self.text, self.start)
        if found is None:
            self.fail("something that has no meaning")
        self.at, self.kind = found.end(), found.lastgroup
        self.value = found[self.kind]
        if self.kind == "operator":
            self.kind = self.value
        elif self.kind == "double":
            self.value = float(self.value)
            if self.value == float("inf"):
                self.fail("a number that fits no double")
        elif self.kind == "int":
            digits = self.value
            if len(digits.lstrip("0x")) > 19:
                self.fail("an integer beyond 64 bits")
            self.value = int(digits, 16 if digits.startswith("0x") else 10)
            if self.value > INT64_MAX + 1:
                self.fail("an integer beyond 64 bits")
        elif self.kind == "string":
            self.string(self.value)

    def string(self, opening):
        """Read a text up to its closing quote."""
        raw, quote = opening[0] in "rR", opening.lstrip("rR")
        made, at, text = [], self.at, self.text
        while not text.startswith(quote, at):
            if at >= len(text) or (len(quote) == 1 and text[at] in "\r\n"):
                self.fail("a text without its closing quote")
            if text[at] == "\\" and not raw:
                found = ESCAPE_FORMS.match(text, at)
                made.append(self.escape(found))
                at = found.end()
            else:
                made.append(text[at])
                at += 1
        self.at, self.value = at + len(quote), "".join(made)
        if any("\ud800" <= one <= "\udfff" for one in self.value):
            self.fail("half of a character")

    def escape(self, found):
        """What an escape stands for."""
        letter, *numbers, wrong = found.groups()
        if letter:
            return CONTROL_ESCAPES.get(letter, letter)
        digits = next((pair for pair in zip(numbers, (16, 16, 16, 8)) if pair[0] is not None), None)
        if digits is None or wrong is not None:
            self.fail("no such escape")
        point = int(*digits)
        if point > 0x10FFFF or 0xD800 <= point <= 0xDFFF:
            self.fail("no such character")
        return chr(point)

    def taken(self, kind):
        """Whether the next token was of a kind, and if so left behind."""
        if self.kind != kind:
            return False
        self.advance()
        return True

    def expect(self, kind):
        """Leave a token of a kind behind."""
        if not self.taken(kind):
            self.fail(f"no {kind}")

    def whole(self):
        """One expression, and nothing after it."""
        node = self.expression()
        if self.kind != "end":
            self.fail("something follows")
        return node

    def expression(self):
        """An expression, one bracket deeper."""
        self.depth += 1
        if self.depth > MOST_BRACKETS + 1:
            self.fail("too many brackets are open")
        node = self.choice()
        self.depth -= 1
        return node

    def choice(self):
        """`a ? b : c ? d : e`; a condition between `?` and `:` needs brackets."""
        parts, node = [], self.logic("||")
        while self.taken("?"):
            then = self.logic("||")
            self.expect(":")
            parts.append((node, then))
            self.chain(len(parts))
            node = self.logic("||")
        for condition, then in reversed(parts):
            node = ("choice", condition[1], condition, then, node)
        return node

    def chain(self, count):
        """Bound a chain of operators."""
        if count > LONGEST_CHAIN:
            self.fail("a chain is too long")

    def logic(self, operator):
        """`a && b && c`, or of `||`."""
        operand = (lambda: self.logic("&&")) if operator == "||" else (lambda: self.binary(0))
        operands = [operand()]
        while self.taken(operator):
            operands.append(operand())
            self.chain(len(operands) - 1)
        return operands[0] if len(operands) == 1 else ("logic", operands[0][1], operator, tuple(operands))

    def binary(self, level):
        """Operators of one level, from the left."""
        if level == len(BINARY_LEVELS):
            return self.unary()
        left, count = self.binary(level + 1), 1
        while self.kind in BINARY_LEVELS[level] or (level == 0 and (self.kind, self.value) == ("name", "in")):
            operator = self.value
            self.advance()
            left = ("binary", left[1], operator, left, self.binary(level + 1))
            count += 1
            self.chain(count)
        return left

    def unary(self):
        """`!!a`, `--a`, and numbers with a sign."""
        start, sign, count = self.start, self.kind, 0
        if sign not in ("!", "-"):
            return self.member(self.primary())
        while self.taken(sign):
            count += 1
        if sign == "-" and count == 1 and self.kind in ("int", "double"):
            node = ("literal", start, -self.value)
            self.advance()
            return self.member(node)
        operand = self.member(self.primary())
        return operand if count % 2 == 0 else ("unary", start, sign, operand)

    def primary(self):
        """A literal, a name, a call, or something in brackets."""
        kind, value, start = self.kind, self.value, self.start
        if kind in ("int", "double", "string"):
            if kind == "int" and value > INT64_MAX:
                self.fail("an integer beyond 64 bits")
            self.advance()
            return ("literal", start, value)
        if kind == "name":
            return self.named()
        if self.taken("("):
            node = self.expression()
            self.expect(")")
            return node
        if self.taken("["):
            return ("list", start, self.items("]"))
        if self.taken("{"):
            return self.entries(start)
        return self.fail("no value")

    def named(self):
        """A name, a constant of the language, or a call."""
        name, start = self.value, self.start
        self.advance()
        if name in ("true", "false", "null"):
            return ("literal", start, {"true": True, "false": False, "null": None}[name])
        if name in RESERVED_WORDS or self.kind == "{":
            self.fail(f"{name} cannot stand")
        return self.called(None, name, start) if self.kind == "(" else ("name", start, name)

    def items(self, closing):
        """What stands between brackets, separated by commas; a list may end with one, arguments may not."""
        items = []
        while not self.taken(closing):
            items.append(self.expression())
            if len(items) > MOST_ITEMS:
                self.fail("too many items")
            if self.taken(closing):
                break
            self.expect(",")
            if closing == ")" == self.kind:
                self.fail("no argument")
        return tuple(items)

    def entries(self, start):
        """A record or a map."""
        entries = []
        while not self.taken("}"):
            key = self.expression()
            self.expect(":")
            entries.append((key, self.expression()))
            if len(entries) > MOST_ITEMS:
                self.fail("too many entries")
            if self.taken("}"):
                break
            self.expect(",")
        return ("map", start, tuple(entries))

    def member(self, node):
        """Selections, indices and calls on a value."""
        start, count = node[1], 0
        while self.kind in (".", "["):
            count += 1
            self.chain(count)
            if self.taken("["):
                node = ("index", start, node, self.expression())
                self.expect("]")
                continue
            self.advance()
            if self.kind not in ("name", "quoted"):
                self.fail("no field")
            quoted, name = self.kind == "quoted", self.value
            self.advance()
            if self.kind == "{":
                self.fail("no message can stand")
            call = self.kind == "(" and not quoted
            node = self.called(node, name, start) if call else ("select", start, node, name)
        return node

    def called(self, target, name, start):
        """A call, `has`, or a macro."""
        self.advance()
        args = self.items(")")
        if target is None and name == "has":
            if len(args) != 1 or args[0][0] != "select":
                self.fail("has takes one selection")
            return ("has", start, args[0][2], args[0][3])
        if target is None or name not in MACRO_NAMES:
            return ("call", start, name, target, args)
        if not (len(args) == 2 or (name == "map" and len(args) == 3)) or args[0][0] != "name":
            self.fail(f"{name} takes a name and an expression")
        return ("macro", start, name, target, args[0][2], args[1] if len(args) == 3 else None, args[-1])


# Values of expressions: 64-bit ints, equality, order, membership; how an evaluation fails; how much work is done.

USUAL_WORK, MILLION_STEPS, PARTS_OF_ALL = 60, 1_000_000, 20


class Budget:
    """How many steps of evaluation may still be done: so many for a part of the evidence, a multiple for all of it.

    `begin` anew for each bundle and `part` for each part; `spend` before each piece of work.
    """

    def __init__(self):
        self.most = self.left = self.rest = 0
        self.begin()

    def begin(self, millions=USUAL_WORK):
        """A new bundle is looked at."""
        self.most, self.left, self.rest = millions * MILLION_STEPS, 0, millions * MILLION_STEPS * PARTS_OF_ALL
        self.part()

    def part(self):
        """The next part is looked at: it has as much as every other one, as long as all of it has."""
        self.rest += max(0, self.left)
        self.left = min(self.most, self.rest)
        self.rest -= self.left

    def spend(self, nodes):
        """Do so much work, or say that it is too much to be done here."""
        self.left -= nodes
        if self.left < 0:
            self.refuse()

    def foresee(self, nodes):
        """See that a part can do so much work before it begins with it."""
        if nodes > self.most:
            self.refuse()

    def refuse(self):
        """Say that it is too much."""
        most = self.most // MILLION_STEPS
        bounds = f"{most} million steps of evaluation for a part, {most * PARTS_OF_ALL} million for all"
        raise Open("E_WORK", f"it takes more work than {bounds}; --work N allows more")


BUDGET = Budget()


class Failed(Exception):
    """An expression has no value: the code and the place that a receipt holds; `text` is the expression."""

    def __init__(self, code, offset=None, text=None):
        self.code, self.offset, self.text = code, offset, text
        super().__init__(code)

    def told(self):
        """The failure as a receipt holds it."""
        return {"code": self.code, "expression": self.text, "offset": None if self.text is None else self.offset}


class Limited(Failed):
    """A text or a list becomes too long; no operand of `&&` or `||` makes that good."""

    def __init__(self, offset=None):
        super().__init__("E_EVAL_LIMIT", offset)


def checked_int(value, offset=None):
    """An int of 64 bits."""
    if -0x8000000000000000 <= value <= 0x7FFFFFFFFFFFFFFF:
        return value
    raise Failed("E_EVAL_OVERFLOW", offset)


def checked_size(value, most):
    """A size that a function takes: from 0 to a greatest one."""
    if not 0 <= value <= most:
        raise Failed("E_EVAL_ARGUMENT")


def equal_values(a, b):
    """Numbers are compared as numbers, other values of different types are unequal, NaN equals nothing."""
    if type(a) is type(b) and type(a) in (int, str):
        return a == b
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(equal_values(value, b[key]) for key, value in a.items())
    if type(a) is not type(b):
        return type(a) in (int, float) and type(b) in (int, float) and float(a) == float(b)
    if type(a) is list:
        return len(a) == len(b) and all(map(equal_values, a, b))
    return a == b


def ordered_pair(a, b, offset=None):
    """Two values that have an order, as they are compared."""
    if type(a) is type(b) and type(a) in (int, float, str, bool):
        return a, b
    if type(a) in (int, float) and type(b) in (int, float):
        return float(a), float(b)
    raise Failed("E_EVAL_TYPE", offset)


def member_of(key, values):
    """The key of a map that equals a value, in a tuple since it may be false; None if there is none."""
    wanted = int(key) if type(key) is float and key.is_integer() else key
    if type(wanted) is str:
        return (wanted,) if wanted in values else None
    if type(wanted) not in (int, bool) or wanted not in values:
        return None
    own = next(one for one in values if one == wanted)
    return (own,) if type(own) is type(wanted) else None


# Scalars of the YAML that spec files are written in: what a plain one is, and the text of quoted ones and blocks.
#
# What the language surely refuses is refuted; what this file is not sure of stays open, and is never refuted.

LONGEST_FIGURE = 40
BIDI = "\u202a-\u202e\u2066-\u2069"
ODD_BREAKS = "\x85\u2028\u2029"
UNSEEN = "\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\ufdd0-\ufdef\ufffe\uffff\ufeff"
NO_BYTES = re.compile(f"[\t{BIDI}{ODD_BREAKS}{UNSEEN}]|\r(?!\n)")
NO_VALUE = re.compile(f"[\r\ud800-\udfff{BIDI}{ODD_BREAKS}{UNSEEN}]")
WHOLE_NUMBER = re.compile(r"0|-?[1-9][0-9]*")
FRACTION = re.compile(r"-?(?:0|[1-9][0-9]*)\.[0-9]+")
# What some readers of YAML take for a number, a date or a constant, and others for a text.
DISPUTED_WORDS = ("null", "true", "false", "yes", "no", "on", "off", "~", "<<", "=")
DISPUTED = (
    re.compile(r"[-+]?[0-9][0-9_]*(?:\.[0-9_]*)?(?:[eE][-+]?[0-9]+)?"),
    re.compile(r"[-+]?\.[0-9][0-9_]*(?:[eE][-+]?[0-9]+)?"),
    re.compile(r"[-+]?0(?:[xX][0-9a-fA-F_]+|[oO][0-7_]+|[bB][01_]+)"),
    re.compile(r"[-+]?[0-9][0-9_]*(?::[0-9]?[0-9])+(?:\.[0-9_]*)?"),
    re.compile(r"[-+]?\.(?:[iI][nN][fF]|[nN][aA][nN])"),
    re.compile(r"[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}"),
)
ESCAPED = re.compile(r"\\(?:x([0-9A-Fa-f]{2})|u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|(.))", re.DOTALL)
ESCAPES = {"0": "\0", "a": "\a", "b": "\b", "t": "\t", "n": "\n", "v": "\v", "f": "\f", "r": "\r", "e": "\x1b"}
ESCAPES.update({" ": " ", '"': '"', "/": "/", "\\": "\\", "N": "\x85", "_": "\xa0", "L": "\u2028", "P": "\u2029"})
BLOCK_HEAD = re.compile(r"[|>]([-+]?)(?: +#[^\n]*| *)\n")


class Word(str):
    """A text with the file that it is written in; `None` for one that was set."""

    file = None


def word(text, file):
    """A text of a file."""
    made = Word(text)
    made.file = file
    return made


def unreadable(message):
    """A file, or what says how files are resolved, is not what it must be."""
    raise Refuted("E_SOURCES", message)


def unjudged(message):
    """Something is written in a way that this file does not judge."""
    raise Open("E_SOURCES", message)


def decoded(data, name):
    """The text of a file with LF line breaks, the last line ended, if every byte of it may be looked at."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        unreadable(f"{name} is no UTF-8")
    return admitted(text, name)


def admitted(text, name):
    """The same for a text."""
    if NO_BYTES.search(text):
        unreadable(f"{name} holds a tab, a control character or an unusual line break")
    text = text.replace("\r\n", "\n")
    return text if text.endswith("\n") else text + "\n"


def typed_scalar(text):
    """The value of a plain scalar: null, a boolean, an integer, a number with a fraction, or text."""
    if text in ("null", "true", "false"):
        return {"null": None, "true": True, "false": False}[text]
    if WHOLE_NUMBER.fullmatch(text):
        held = len(text) <= LONGEST_FIGURE and -BIG <= int(text) <= BIG
        return int(text) if held else unreadable(f"{text[:LONGEST_FIGURE]} is beyond 2^53 - 1")
    if FRACTION.fullmatch(text):
        found = float(text) if len(text) <= LONGEST_FIGURE else math.inf
        exact = math.isfinite(found) and Decimal(repr(found)) == Decimal(text)
        return found if exact else unreadable(f"{text[:LONGEST_FIGURE]} has more digits than a double")
    if text.lower() in DISPUTED_WORDS or any(one.fullmatch(text) for one in DISPUTED):
        unreadable(f"{text[:LONGEST_FIGURE]} is not the same for all readers of YAML")
    return text


def plain_key(text):
    """The text of a plain key; words that are constants of other readers are texts here."""
    if text.lower() in ("yes", "no", "on", "off"):
        return text
    return text if isinstance(typed_scalar(text), str) else unreadable(f"the key {text[:LONGEST_FIGURE]} is no text")


def folded_lines(lines):
    """Lines of a flow scalar as one text: a break is a space, and blank lines are as many breaks.

    A line is (text, whether the break after it is escaped).
    """
    made, blank, joint = [lines[0][0]], 0, "" if lines[0][1] else " "
    for index, (text, escaped) in enumerate(lines[1:], 1):
        if not text and not escaped and index < len(lines) - 1:
            blank += 1
            continue
        made += ["\n" * blank or joint, text]
        blank, joint = 0, "" if escaped else " "
    return "".join(made)


def single_text(inner):
    """The text between single quotes."""
    return folded_lines([(line, False) for line in stripped_lines(inner)]).replace("''", "'")


def stripped_lines(text):
    """The lines of a text without the blanks around its breaks."""
    lines = text.split("\n")
    last = len(lines) - 1
    return [cut(line, index > 0, index < last) for index, line in enumerate(lines)]


def cut(line, before, after):
    """A line without the blanks on some of its sides."""
    line = line.lstrip(" ") if before else line
    return line.rstrip(" ") if after else line


def double_text(inner):
    """The text between double quotes."""
    lines = inner.split("\n")
    made = []
    for index, line in enumerate(lines):
        line = cut(line, index > 0, False)
        escaped = index < len(lines) - 1 and odd_end(line)
        if escaped:
            line = line[:-1]
        elif index < len(lines) - 1:
            bare = line.rstrip(" ")
            line = line[: len(bare) + 1] if odd_end(bare) else bare
        made.append((ESCAPED.sub(unescaped, line), escaped))
    text = folded_lines(made)
    return unreadable("an escape names a character that no value may hold") if NO_VALUE.search(text) else text


def odd_end(line):
    """Whether a line ends with a backslash that is not escaped itself."""
    return (len(line) - len(line.rstrip("\\"))) % 2 == 1


def unescaped(match):
    """The character of an escape."""
    digits = match[1] or match[2] or match[3]
    if digits:
        number = int(digits, 16)
        return chr(number) if number <= 0x10FFFF else unreadable("an escape beyond U+10FFFF")
    return ESCAPES[match[4]] if match[4] in ESCAPES else unreadable(f"an escape {match[0]!r} that names no character")


def block_text(text, at, indent):
    """The value of a block scalar in a collection at a column, and where the text goes on.

    The first line that is not blank says how far it is indented.
    """
    head = BLOCK_HEAD.match(text, at) or unreadable("after | or > stand only - or + and a comment")
    lines, place = [], head.end()
    own = None
    while place < len(text):
        end = text.index("\n", place)
        line = text[place:end]
        bare = line.lstrip(" ")
        if bare and own is None:
            own = len(line) - len(bare)
            if own <= indent or own == 0:
                break
        if bare and len(line) - len(bare) < own:
            break
        lines.append(line)
        place = end + 1
    if own is None or own <= indent or own == 0:
        empty = not any(lines) and head[1] != "+"
        return ("", place) if empty else unjudged("a block of blank lines")
    first = next(index for index, line in enumerate(lines) if line.strip(" "))
    if any(len(line) > own for line in lines[:first]):
        unjudged("a block whose first lines are blank and longer than the next")
    rows = [line[own:] for line in lines]
    return chomped(rows, text[at] == ">", head[1]), place


def chomped(rows, folded, chomp):
    """The rows of a block as one text."""
    count = max(index for index, row in enumerate(rows) if row) + 1
    made, blank, before = [], 0, None
    for row in rows[:count]:
        if not row:
            blank += 1
            continue
        if not folded:
            breaks = "\n" * (blank + (before is not None))
        elif before is None:
            breaks = "\n" * blank
        elif before[0] == " " or row[0] == " ":
            breaks = "\n" * (blank + 1)
        else:
            breaks = "\n" * blank or " "
        made += [breaks, row]
        blank, before = 0, row
    ending = {"-": "", "": "\n", "+": "\n" * (len(rows) - count + 1)}[chomp]
    return "".join(made) + ending


# Prompts made again: the contract of a universe, the places in texts, the budget, and scrambling (docs/prompts.md).

PLACE = re.compile(r"\{\{([a-z][a-z0-9_]*(?:\.[A-Za-z0-9_]+)*)(?:\|([^{}]*))?\}\}")
STEERING = re.compile(
    "[\x00-\x1f\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\uffff\ud800-\udfff"
    "\U000e0000-\U000e007f]"
)
SCRAMBLED = re.compile(r"""(?P<quote>['"])(?P<symbol>\\?[!-~])(?P=quote)|(?P<word>[A-Za-z_][A-Za-z0-9_]*)""")
MEMORIES = ("accepted_laws", "falsified_laws", "unknown_laws", "counterexamples")
LAST_STEP, USUAL_STEPS = 200, 50


def shown_text(text):
    """A text on one line, with every character that could steer a terminal or hide written as an escape."""
    found = STEERING.sub(lambda match: match.group().encode("unicode_escape").decode("ascii"), text[:1000])
    return found + ("..." if len(text) > 1000 else "")


def tokens_of(text):
    """The estimate of a prompt's tokens: one for every four bytes begun."""
    return -(-len(text.encode(errors="replace")) // 4)


# Facts


def capabilities_of(universe):
    """What a universe offers, as memory holds it and prompts tell it."""
    measures = universe["observables"]
    signed = [f"{name}({', '.join(sorts)})" if sorts else name for name, sorts in measured_sorts(measures)]
    turned = [(name, sorted(one.get("args", {}))) for name, one in universe.get("transforms", {}).items()]
    return {
        "universe_id": universe["name"],
        "symbols": universe["alphabet"],
        "state_representation": "string",
        "primitive_observables": sorted(signed),
        "transforms": sorted(f"{name}({', '.join(args)})" if args else name for name, args in turned),
        "generator_families": sorted(universe["generators"]),
        "grid_length_range": [universe["ring"]["min"], universe["ring"]["max"]],
        "boundary": "periodic",
    }


def measured_sorts(observables):
    """Each observable with the sorts of its arguments, in the order of their names."""
    for name, one in observables.items():
        args = one.get("args", {})
        yield name, [args[arg] for arg in sorted(args)]


def contract_facts(universe, templates, scramble):
    """What a prompt may tell: the contract, the forms of laws, and the limits of steps."""
    offered = capabilities_of(universe)
    lists = {name: offered[name] for name in ("primitive_observables", "transforms", "generator_families")}
    symbols, name = offered["symbols"], offered["universe_id"]
    if scramble is not None:
        lists = {key: sorted(scramble.text(one) for one in listed) for key, listed in lists.items()}
        symbols, name = sorted(scramble.symbols.get(one, one) for one in symbols), scramble.text(name)
    return {
        "universe_id": name,
        "symbols": symbols,
        "state_representation": "string",
        "capabilities": lists,
        "config_knobs": {key: offered[key] for key in ("grid_length_range", "boundary")},
        "templates": [template_fact(one) for one in templates],
        "law": {"most_steps": LAST_STEP, "steps": USUAL_STEPS},
    }


def template_fact(template):
    """What a prompt may tell of a form of laws."""
    steps = template["for_all"]["t"]
    within = ", or one of the H steps after" if template.get("within") else ""
    cells = ", for every cell i" if template["for_all"].get("i") else ""
    parts = sorted(template.get("parts", {}).items())
    return {
        "name": template["name"],
        "doc": template.get("doc"),
        "needs": ["quantifiers.H" if one == "H" else one for one in template.get("needs", [])],
        "steps": f"{steps.get('from', 0)}..{steps.get('to', 'T')}{within}{cells}",
        "parts": [f"{name} ({part.get('sort', 'bool')} at {' or '.join(part['reads'])})" for name, part in parts],
        "claim": template["claim"],
    }


# Scrambling


class Scramble:
    """An exchange of symbols and of names; each is a swap, so that it is its own way back."""

    def __init__(self, universe, what, seed):
        self.symbols, self.names = {}, {}
        alphabet = universe["alphabet"]
        if "symbols" in what:
            free = [one for one in ascii_lowercase + ascii_uppercase + digits if one not in alphabet]
            self.swap(self.symbols, alphabet, Stream(seed, "scramble", "symbols").shuffle(free[: len(alphabet)]))
        if "names" in what:
            families = universe["generators"]
            groups = {"m": universe["observables"], "c": universe.get("transforms", {}), "f": families}
            groups["p"] = {one["beyond"] for one in families.values() if one.get("beyond") is not None}
            taken = {universe["name"]}.union(*groups.values())
            self.swap(self.names, [universe["name"]], [self.free("universe_u", taken)])
            for letter, group in groups.items():
                neutral = [self.free(f"{letter}{number}", taken) for number in range(1, len(group) + 1)]
                drawn = Stream(seed, "scramble", "names", letter).shuffle(neutral)
                self.swap(self.names, sorted(group), drawn)

    @staticmethod
    def swap(into, ours, theirs):
        for one, other in zip(ours, theirs):
            into[one], into[other] = other, one

    @staticmethod
    def free(name, taken):
        while name in taken:
            name += "_"
        return name

    def text(self, text):
        """Words with symbols exchanged where they stand in quotes, and names where they are whole words."""
        return SCRAMBLED.sub(self.word, text)

    def word(self, match):
        if match["word"] is not None:
            return self.names.get(match["word"], match["word"])
        other = self.symbols.get(match["symbol"][-1])
        if other is None:
            return match.group()
        return match["quote"] + ("\\" if other in "'\"\\" else "") + other + match["quote"]

    def law(self, value, key=""):
        """A law, or what is remembered of one; `key` is the key that the value stands under."""
        if isinstance(value, str):
            if key in ("const", "trigger_symbol", "result_symbol", "symbols"):
                return self.symbols.get(value, value)
            if key in ("start", "state", "states"):
                return "".join(self.symbols.get(one, one) for one in value)
            return self.text(value)
        renamed = key in ("params", "observables")
        if isinstance(value, list):
            return [self.law(one, "" if renamed else key) for one in value]
        if isinstance(value, dict) and renamed:
            return {self.names.get(name, name): self.law(one, key) for name, one in value.items()}
        return {name: self.law(one, name) for name, one in value.items()} if isinstance(value, dict) else value


# Texts


def fact_at(facts, path):
    """What a path leads to, or None."""
    return reduce(held_at, path.split("."), facts)


def held_at(holder, step):
    """What a mapping or a list holds at one step of a path, or None."""
    if isinstance(holder, list):
        place = int(step) if step.isdecimal() else len(holder)
        return holder[place] if place < len(holder) else None
    return holder.get(step) if isinstance(holder, dict) else None


def filled(text, facts):
    """A text with its places filled; what is filled in is never read for places itself."""

    def fact(match):
        value = fact_at(facts, match[1])
        if value is None or value in ("", []):
            return match[2] or ""
        return shown_text(value if isinstance(value, str) else write(value).decode())

    return PLACE.sub(fact, text)


def item_lines(section, facts, elements):
    """The line of each element of a section's list."""
    inner = [{**facts, **(one if isinstance(one, dict) else {"item": one})} for one in elements]
    return [filled(section.get("item", ""), one).rstrip("\n") for one in inner]


def section_text(section, facts, lines):
    """A section with the lines of its elements."""
    said = [filled(section["text"], facts).rstrip("\n")] if "text" in section else []
    if "each" in section and not lines:
        if "none" not in section:
            return ""
        said.append(filled(section["none"], facts).rstrip("\n"))
    return "\n".join([*said, *lines]) + "\n\n"


def sections_text(sections, facts):
    """Sections about lists that are among the facts."""
    said = ""
    for section in sections:
        listed = fact_at(facts, section["each"]) if "each" in section else None
        said += section_text(section, facts, item_lines(section, facts, listed if isinstance(listed, list) else []))
    return said


class PromptMaker:
    """Makes the prompts of one discovery."""

    def __init__(self, discovery, specs):
        self.key, proposer = discovery["prompt"], discovery.get("proposer", {})
        self.spec, universe = specs[self.key], specs[discovery["universe"]]
        self.budget = proposer.get("max_token_budget", 8000)
        self.gallery = proposer.get("include_counterexamples", True)
        what = self.spec.get("scramble", [])
        self.scramble = Scramble(universe, what, discovery.get("seed", 42)) if what else None
        forms = [specs[key] for key in discovery["templates"]]
        self.facts = contract_facts(universe, forms, self.scramble)
        self.system = sections_text(self.spec["system"], self.facts)
        asked = discovery.get("request", {})
        wanted, without = asked.get("target_templates"), asked.get("exclude_templates")
        names = [one["name"] for one in forms]
        self.allowed = [name for name in names if (wanted is None or name in wanted) and name not in (without or [])]
        request = {"count": asked.get("count", 5), "target_templates": wanted, "exclude_templates": without}
        self.told = {**self.facts, "request": {**request, "templates": self.allowed}}
        self.static = sections_text(self.spec["static"], self.told)

    def made(self, memory):
        """The text of a prompt, and what a receipt says of it, for a memory."""
        sections = self.spec.get("dynamic", [])
        lines = [item_lines(one, self.told, self.entries(memory, one["each"])) for one in sections]
        full = [len(one) for one in lines]
        while True:
            parts = [section_text(one, self.told, inner) for one, inner in zip(sections, lines)]
            text = self.static + "".join(parts)
            tokens = tokens_of(self.system) + tokens_of(text)
            if tokens <= self.budget:
                break
            if not any(lines):
                raise Refuted("E_REPLAY", f"the prompt has {tokens} tokens without any memory: no such run was made")
            longest = max((len(one), place) for place, one in enumerate(lines))[1]
            lines[longest].pop(0)
        dropped = {}
        for section, before, left in zip(sections, full, lines):
            dropped[section["each"]] = dropped.get(section["each"], 0) + before - len(left)
        digest = tagged("prompt", write({"system": self.system, "text": text}))
        return text, {"key": self.key, "digest": digest, "tokens": tokens, "dropped": dropped}

    def entries(self, memory, name):
        """A list of the memory as the model may see it."""
        if name == "counterexamples" and not self.gallery:
            return []
        return [one if self.scramble is None else self.scramble.law(one) for one in memory[name]]


# Functions of fields: lists of rows of ints, the value at a cell being `f[y][x]`. Nothing changes its arguments.

LONGEST_SIDE = 256


def unfit():
    """An argument has a shape that a function cannot take."""
    raise Failed("E_EVAL_ARGUMENT")


def rectangle(f):
    """See that all rows are as long as the first."""
    if any(len(row) != len(f[0]) for row in f):
        unfit()


def both(f, g, combine):
    """Two fields of one shape, cell by cell."""
    if [len(row) for row in f] != [len(row) for row in g]:
        unfit()
    return [[combine(a, b) for a, b in zip(p, q)] for p, q in zip(f, g)]


def each_cell(f, change):
    """A field with every value changed."""
    return [[change(a) for a in row] for row in f]


def combined(weights, terms):
    """The weighted sum of fields."""
    if not terms or len(weights) != len(terms):
        unfit()
    made = each_cell(terms[0], lambda a: weights[0] * a)
    for k, f in zip(weights[1:], terms[1:]):
        made = both(made, f, lambda a, b, k=k: a + k * b)
    return made


def clamped(f, low, high):
    """Every value moved into a range; of an empty range, to its lower end where a value is below that."""
    return each_cell(f, lambda a: low if a < low else high if a > high else a)


def extreme_cell(f, choose):
    """The least or greatest value; there must be one in every row."""
    if not f or not all(f):
        unfit()
    return choose(choose(row) for row in f)


def gradient_energy(f):
    """The sum of squared differences of neighbours along both axes."""
    rectangle(f)
    across = sum((b - a) ** 2 for row in f for a, b in zip(row, row[1:]))
    return across + sum((b - a) ** 2 for p, q in zip(f, f[1:]) for a, b in zip(p, q))


def neighbours(f, x, y):
    """The values of the four neighbours that lie inside."""
    return [f[b][a] for a, b in around(x, y) if inside(f, a, b)]


def around(x, y):
    """The cells N, E, S, W."""
    return ((x, y - 1), (x + 1, y), (x, y + 1), (x - 1, y))


def inside(f, x, y):
    """Whether a cell lies in a field."""
    return 0 <= y < len(f) and 0 <= x < len(f[y])


def laplace(f):
    """For each cell the sum of neighbour minus cell over the neighbours inside."""
    rectangle(f)
    return [[sum(b - a for b in neighbours(f, x, y)) for x, a in enumerate(row)] for y, row in enumerate(f)]


def value_at(f, p, other):
    """The value at a cell, another one outside."""
    return f[p["y"]][p["x"]] if inside(f, p["x"], p["y"]) else other


def put_at(f, p, value):
    """The field with one value replaced; itself, if the cell lies outside."""
    made = [row[:] for row in f]
    if inside(f, p["x"], p["y"]):
        made[p["y"]][p["x"]] = value
    return made


def square_around(f, p, radius, other):
    """The square around a cell."""
    if not 0 <= radius <= 64:
        unfit()
    steps = range(-radius, radius + 1)
    return [[value_at(f, {"x": p["x"] + dx, "y": p["y"] + dy}, other) for dx in steps] for dy in steps]


def cells_where(f, wanted):
    """The cells whose values are wanted, row by row."""
    return [{"x": x, "y": y} for y, row in enumerate(f) for x, a in enumerate(row) if wanted(a)]


def pasted(f, g, p, fill):
    """`g` laid over `f`, its top left corner on a cell; `f` grows to the right and below, 256 by 256 at most."""
    x, y = p["x"], p["y"]
    width = min(LONGEST_SIDE, max([0, *(len(row) for row in f), *(x + len(row) for row in g)]))
    height = min(LONGEST_SIDE, max(len(f), y + len(g)))
    grows = height > len(f) or any(len(row) < width for row in f)
    made = [row + [fill] * (width - len(row) if grows else 0) for row in f]
    made += [[fill] * width for _ in range(height - len(f))]
    for dy, row in enumerate(g):
        for dx, value in enumerate(row):
            if 0 <= y + dy < height and 0 <= x + dx < width and inside(made, x + dx, y + dy):
                made[y + dy][x + dx] = value
    return made


FIELD_FUNCTIONS = {
    "field_add": lambda f, g: both(f, g, lambda a, b: a + b),
    "field_sub": lambda f, g: both(f, g, lambda a, b: a - b),
    "field_scale": lambda k, f: each_cell(f, lambda a: k * a),
    "field_combine": combined,
    "field_clamp": clamped,
    "field_floor": lambda f, low: each_cell(f, lambda a: max(a, low)),
    "field_over": lambda f, bound: each_cell(f, lambda a: int(a > bound)),
    "field_min": lambda f: extreme_cell(f, min),
    "field_max": lambda f: extreme_cell(f, max),
    "sum_sq": lambda f: sum(a * a for row in f for a in row),
    "grad_energy": gradient_energy,
    "laplacian": laplace,
    "field_at": value_at,
    "field_put": put_at,
    "window": square_around,
    "mask": lambda f, codes: each_cell(f, lambda a: int(a in codes)),
    "mask_or": lambda f, g: both(f, g, lambda a, b: int(bool(a or b))),
    "cells_at_least": lambda f, bound: cells_where(f, lambda a: a >= bound),
    "cells_at_most": lambda f, bound: cells_where(f, lambda a: a <= bound),
    "beside": lambda f, p, value: neighbours(f, p["x"], p["y"]).count(value),
    "field_count": lambda f, codes: sum(a in codes for row in f for a in row),
    "field_paste": pasted,
}


# What stands for a document: canonical JSON with fractions where a form has `number`, and the hashes over it.
#
# The rules are those of docs/kernel.md, section Hashing. A submission is hashed before it is judged.

MOST_PROPOSAL = 8 << 20
MOST_SHOWN = 1 << 18
MASS_ONE = 100_000_000
LONGEST_NUMBER = 4300  # digits of an integer that a reader of JSON takes
FREE = ("number", None, None)  # fractions are written here and in all that lies below


def canonical(value, form=None):
    """The canonical bytes of a value, with fractions where its form has numbers; everywhere, if the form is `FREE`."""
    made = _spell(value, form, []).encode()
    BUDGET.spend(len(made))
    return made


def hashed(value, form=None):
    """SHA-256 of the canonical bytes."""
    return hashlib.sha256(canonical(value, form)).hexdigest()


def _spell(value, form, path):
    kind = type(value)
    if value is None or kind is bool:
        return {None: "null", True: "true", False: "false"}[value]
    if kind is str:
        return _text(value, path)
    if kind is int:
        if not -BIG <= value <= BIG:
            raise Unsealable("E_CANON_RANGE", tuple(path))
        return str(value)
    if kind is float:
        return _fraction(value, form, path)
    if kind is not list and not isinstance(value, dict):
        raise Unsealable("E_CANON_TYPE", tuple(path))
    if len(path) >= DEPTH:
        raise Unsealable("E_CANON_DEPTH", tuple(path))
    if kind is list:
        inner = (_spell(one, _below(form, at), [*path, at]) for at, one in enumerate(value))
        return "[" + ",".join(inner) + "]"
    members = {}
    for key, one in value.items():
        if type(key) is not str:
            raise Unsealable("E_CANON_TYPE", tuple(path))
        inside = [*path, key]
        members[key] = _text(key, inside) + ":" + _spell(one, _below(form, key), inside)
    return "{" + ",".join(members[key] for key in sorted(members)) + "}"


def _below(form, key):
    return form if form is FREE else form_inside(form, key)


def _text(value, path):
    if not value.isascii():
        try:
            value.encode()
        except UnicodeEncodeError:
            raise Unsealable("E_CANON_TEXT", tuple(path)) from None
    return json.dumps(value, ensure_ascii=False)


def _fraction(value, form, path):
    if not math.isfinite(value):
        raise Unsealable("E_CANON_NUMBER", tuple(path))
    if abs(value) > BIG:
        raise Unsealable("E_CANON_RANGE", tuple(path))
    if form is None or isinstance(form, set) or form[0] != "number":
        raise Unsealable("E_CANON_FLOAT", tuple(path))
    written = f"{value:.8f}".rstrip("0").rstrip(".")
    return "0" if written == "-0" else written


def units_of(masses):
    """The sum of probability masses in 1e-8, each rounded as it is written."""
    return sum(int(f"{mass:.8f}".replace(".", "")) for mass in masses)


def uuid_named(noun, name):
    """The identifier (version 5) of a thing of some noun."""
    return str(uuid.uuid5(uuid.uuid5(uuid.NAMESPACE_URL, f"specledger:{noun}"), name))


def witness_of(name, message, data, severity="fatal"):
    """What an audit entry holds of a finding: what it is about stays outside, bound by its hash."""
    return {
        "invariant": name[:120],
        "severity": severity,
        "message": message[:2000] or name,
        "data_hash": hashed(data, FREE),
    }


def trace_digest(trace):
    """The hash of a trace without its commitment."""
    return hashed({name: one for name, one in trace.items() if name != "trace_commit"}, TRACE)


class Submission:
    """What was submitted, with what stands for it; `problem` is a code where it has no canonical form."""

    def __init__(self, document, proposal_hash=ZEROS, trace_hash=ZEROS, problem=None, form=None):
        self.document, self.proposal_hash, self.trace_hash = document, proposal_hash, trace_hash
        self.problem, self.form = problem, form
        self.actions = [] if form is None else plan_actions(document)

    def shown(self):
        """The submission as a receipt holds it."""
        return self.proposal_hash if self.form is None or len(self.form) > MOST_SHOWN else self.form.decode()

    def action(self, index=0):
        """A step of its plan as an action; one that no world has, where there is none."""
        return json.loads(self.actions[index]) if self.actions and self.actions[index] else {"op": ""}

    def proposal(self, score):
        """The one proposal that is committed to."""
        return {"action": self.action(), "score": score, "document": self.shown()}


def receive_value(document):
    """Take what an agent inside gave; None is nothing at all."""
    if document is None:
        return Submission(None, problem="E_CANON_JSON")
    try:
        form = canonical(document, PROPOSAL)
    except Unsealable as unsealable:
        raise Open("E_REPLAY", f"an agent inside gave a document without canonical form ({unsealable.code})") from None
    if len(form) > MOST_PROPOSAL:
        raise Open("E_REPLAY", "an agent inside gave a document of more than 8 MiB")
    return Submission(document, hashlib.sha256(form).hexdigest(), trace_digest(document["trace"]), form=form)


def receive_bytes(data):
    """Take what came from outside; bytes that are no document stand for themselves."""
    if not data:
        return Submission(None, problem="E_CANON_JSON")
    own = hashlib.sha256(data).hexdigest()
    if len(data) > MOST_PROPOSAL:
        return Submission(None, own, problem="E_CANON_SIZE")
    try:
        document = parse_given(data)
    except ValueError:
        return Submission(None, own, problem="E_CANON_JSON")
    try:
        form = canonical(document, PROPOSAL)
    except Unsealable as unsealable:
        return Submission(document, own, problem=unsealable.code)
    if len(form) > MOST_PROPOSAL:
        return Submission(document, hashlib.sha256(form).hexdigest(), problem="E_CANON_SIZE")
    trace = document.get("trace") if isinstance(document, dict) else None
    found = trace_digest(trace) if isinstance(trace, dict) else ZEROS
    return Submission(document, hashlib.sha256(form).hexdigest(), found, form=form)


def parse_given(data):
    """One JSON document in UTF-8 whose objects name no key twice; a ValueError where bytes are none."""
    try:
        return json.loads(data.decode(), object_pairs_hook=_members, parse_constant=_no_number, parse_int=_integer)
    except RecursionError:
        raise Open("E_REPLAY", "an answer is nested so deeply that readers differ about it") from None


def _members(pairs):
    made = dict(pairs)
    if len(made) != len(pairs):
        raise ValueError("a key stands twice")
    return made


def _no_number(word):
    raise ValueError(f"{word} is no JSON number")


def _integer(digits):
    if len(digits.lstrip("-")) > LONGEST_NUMBER:
        raise ValueError("an integer of too many digits")
    return int(digits)


def plan_actions(document):
    """The steps of a plan as canonical actions of the world; one that is none is empty."""
    steps = document
    for name in ("payload", "plan", "steps"):
        steps = steps.get(name) if isinstance(steps, dict) else None
    return [_action(step) for step in steps] if isinstance(steps, list) else []


def _action(step):
    if not isinstance(step, dict) or not isinstance(step.get("args"), dict) or "op" not in step or "op" in step["args"]:
        return b""
    return write({**step["args"], "op": step["op"]})


# The initial states that a law is tried on: families of starts, each drawn from a stream of its own.
#
# Chances are in 256ths. The same seed gives the same starts on every machine, so a digest says which they were.


def law_cases(law):
    """The cases of a law in their order: (family, start)."""
    universe = law.universe
    if law.tests:
        shares = tested_shares(law)
    else:
        families = universe.generators
        shares = [(name, [], False, min(one.get("first", 0), law.cases)) for name, one in families.items()]
        left = max(0, law.cases - sum(share[3] for share in shares))
        parts = apportioned(left, {name: one.get("weight", 0) for name, one in families.items()})
        last = sorted(families, key=lambda name: (families[name]["make"] == "mutations", name))
        shares += [(name, [], False, parts[name]) for name in last]
    plain = [one for one in law.starts if one in universe.starts]
    plain = plain if law.tests and len(plain) > 1 else law.starts
    cases = []
    for place, (name, lengths, beyond, count) in enumerate(shares):
        stream = Stream(law.seed, "cases", universe.name, name, place)
        symbols = law.starts if beyond else plain
        maker = StartMaker(universe, universe.generators[name], symbols, lengths or universe.sizes, stream)
        known = [start for _, start in cases]
        cases += [(name, maker.make(number, known)) for number in range(count)]
    return cases[: law.cases]


def tested_shares(law):
    """The tests that a law asks for, each with its own number of cases, or an even share of what is left."""
    asked = sum(cases or 0 for _, cases, _, _ in law.tests)
    open_ = {str(place): 1 for place, test in enumerate(law.tests) if test[1] is None}
    parts = apportioned(max(0, law.cases - asked), open_)
    return [
        (family, lengths, beyond, cases or parts.get(str(place), 0))
        for place, (family, cases, lengths, beyond) in enumerate(law.tests)
    ]


def apportioned(count, weights):
    """A number split by weights; what is left over goes to the largest remainders, then to the first names."""
    total = sum(weights.values())
    if not total:
        return dict.fromkeys(weights, 0)
    whole, rest = {}, {}
    for name in sorted(weights):
        whole[name], rest[name] = divmod(count * weights[name], total)
    by_rest = sorted(rest, key=rest.get, reverse=True)  # of equal rests the first name comes first
    favoured = by_rest[: sum(rest.values()) // total]
    return {name: whole[name] + (name in favoured) for name in weights}


def law_cases_digest(law, cases):
    """The digest of cases: families and states, in their order."""
    return tagged("law-cases", write([[family, law.universe.text(start)] for family, start in cases]))


class StartMaker:
    """Makes the starts of one family; the number of a start says which of its forms it has."""

    def __init__(self, universe, family, symbols, sizes, stream):
        self.universe, self.family, self.stream = universe, family, stream
        self.symbols, self.sizes = list(symbols), list(sizes)
        self.ground = universe.empty if universe.empty in self.symbols else self.symbols[0]
        self.things = [one for one in self.symbols if one != self.ground]

    def make(self, number, known):
        """One start; `known` are those that were made before."""
        return bytes(getattr(self, "make_" + self.family["make"])(number, known))

    def size(self):
        """A length."""
        return self.stream.choice(self.sizes)

    def random(self, size, percent):
        """A ring whose cells hold something with about this chance."""
        chance, drawn, things = percent * 256 // 100, self.stream.bytes(2 * size), self.things
        pairs = zip(drawn[::2], drawn[1::2])
        return [things[which * len(things) >> 8] if one < chance else self.ground for one, which in pairs]

    def changed(self, start, edits):
        """A start with some cells changed, exchanged, added or dropped."""
        cells, stream = list(start), self.stream
        for _ in range(edits):
            form, place = stream.integer(0, 4), stream.integer(0, len(cells) - 1)
            if form == 3 and len(cells) < self.universe.longest:
                cells.insert(place, stream.choice(self.symbols))
            elif form == 4 and len(cells) > self.universe.shortest:
                del cells[place]
            elif form == 2:
                cells[place], cells[place - 1] = cells[place - 1], cells[place]
            else:
                cells[place] = stream.choice(self.symbols)
        return bytes(cells)

    def make_sweep(self, number, known):
        """Random rings of one density after another."""
        percents = self.family.get("percents") or [50]
        return self.random(self.size(), percents[number % len(percents)])

    def make_pairs(self, number, known):
        """One or two pairs, each with a gap between, on an empty ring."""
        size, gaps = self.size(), self.family.get("gaps") or [0, 1, 2]
        cells = [self.ground] * size
        for pair in range(1 + number % 2):
            place, gap = self.stream.integer(0, size - 1), gaps[(number + pair) % len(gaps)]
            cells[place] = self.stream.choice(self.things)
            cells[(place + gap + 1) % size] = self.stream.choice(self.things)
        return cells

    def make_edges(self, number, known):
        """Something in the last cell and in the first, and little between."""
        cells = self.random(self.size(), 15)
        cells[-1] = self.stream.choice(self.things)
        cells[0] = self.stream.choice(self.things)
        return cells

    def make_images(self, number, known):
        """A random ring, then the image of one under a transform, if it may be a start."""
        calls = self.family.get("transforms") or sorted(self.universe.transforms)
        start = bytes(self.random(self.size(), 50))
        if not calls or number % 2 == 0:
            return start
        image = self.universe.image(calls[number // 2 % len(calls)]).of(start)
        return image if set(image) <= set(self.symbols) else start

    def make_mutations(self, number, known):
        """An earlier start, changed."""
        start = self.stream.choice(known) if known else self.random(self.size(), 50)
        return self.changed(start, 1 + number % 3)

    def make_patterns(self, number, known):
        """Uniform rings, then alternating ones, then halves, on one length after another."""
        two = [(a, b) for a in self.symbols for b in self.symbols if a < b]
        forms = [*((one,) for one in self.symbols), *two, *(pair * 2 for pair in two)]
        form, size = forms[number % len(forms)], self.sizes[number // len(forms) % len(self.sizes)]
        if len(form) == 4:
            return [form[0]] * (size // 2) + [form[1]] * (size - size // 2)
        return [form[place % len(form)] for place in range(size)]

    def make_extremes(self, number, known):
        """The shortest and the longest ring: one thing, one hole, full, crowded."""
        size = self.universe.shortest if number % 2 == 0 else self.universe.longest
        place, thing, form = self.stream.integer(0, size - 1), self.stream.choice(self.things), number // 2 % 4
        if form == 3:
            return self.random(size, 90)
        cells = [thing if form else self.ground] * size
        if form < 2:
            cells[place] = self.ground if form else thing
        return cells


# What the binary operators of expressions do to values; each is given the place that a failure tells.

LONGEST_LIST, LONGEST_STRING = 65_536, 65_536


def plus(a, b, start):
    if type(a) is type(b):
        if type(a) is int:
            return checked_int(a + b, start)
        if type(a) is float:
            return a + b
        if type(a) in (str, list):
            if len(a) + len(b) > (LONGEST_STRING if type(a) is str else LONGEST_LIST):
                raise Limited(start)
            return a + b
    raise Failed("E_EVAL_TYPE", start)


def minus(a, b, start):
    if type(a) is type(b) is int:
        return checked_int(a - b, start)
    if type(a) is type(b) is float:
        return a - b
    raise Failed("E_EVAL_TYPE", start)


def times(a, b, start):
    if type(a) is type(b) is int:
        return checked_int(a * b, start)
    if type(a) is type(b) is float:
        return a * b
    raise Failed("E_EVAL_TYPE", start)


def quotient(a, b, start):
    """Integers truncate towards zero; doubles follow IEEE 754."""
    if type(a) is type(b) is int:
        if b == 0:
            raise Failed("E_EVAL_DIVISION_BY_ZERO", start)
        whole = abs(a) // abs(b)
        return checked_int(whole if (a < 0) == (b < 0) else -whole, start)
    if type(a) is type(b) is float:
        if b:
            return a / b
        return math.nan if a == 0.0 or math.isnan(a) else math.copysign(math.inf, a) * math.copysign(1.0, b)
    raise Failed("E_EVAL_TYPE", start)


def rest(a, b, start):
    """The remainder has the sign of the left side."""
    if type(a) is type(b) is int:
        if b == 0:
            raise Failed("E_EVAL_DIVISION_BY_ZERO", start)
        if (a, b) == (-(2**63), -1):
            raise Failed("E_EVAL_OVERFLOW", start)
        left = abs(a) % abs(b)
        return -left if a < 0 else left
    raise Failed("E_EVAL_TYPE", start)


def contains_value(a, b, start):
    if type(b) is list:
        return any(equal_values(a, one) for one in b)
    if isinstance(b, dict):
        return member_of(a, b) is not None
    raise Failed("E_EVAL_TYPE", start)


def below(a, b, start):
    a, b = ordered_pair(a, b, start)
    return a < b


def at_most(a, b, start):
    a, b = ordered_pair(a, b, start)
    return a <= b


OPERATIONS = {
    "+": plus,
    "-": minus,
    "*": times,
    "/": quotient,
    "%": rest,
    "in": contains_value,
    "==": lambda a, b, start: equal_values(a, b),
    "!=": lambda a, b, start: not equal_values(a, b),
    "<": below,
    "<=": at_most,
    ">": lambda a, b, start: below(b, a, start),
    ">=": lambda a, b, start: at_most(b, a, start),
}


# Probes of a run under a kernel (docs/probes.md): when each is made, offers, and what challenges amount to.

WILSON_Z = 1.959963984540054


class Outcome:
    """What came of a probe."""

    def __init__(self, verdict, cause="", evidence=None):
        self.verdict, self.cause, self.evidence = verdict, cause, evidence or {}


def share_bounds(hits, trials):
    """The Wilson interval of a share, 95 %."""
    if not trials:
        return 0.0, 1.0
    share, square = hits / trials, WILSON_Z * WILSON_Z
    middle = share + square / (2 * trials)
    spread = WILSON_Z * sqrt(share * (1 - share) / trials + square / (4 * trials * trials))
    scale = 1 + square / trials
    return max(0.0, (middle - spread) / scale), min(1.0, (middle + spread) / scale)


def conviction(misses, trials, changes, asked, deterministic):
    """What missed predictions amount to, given how often the same question was answered differently."""
    if not trials:
        return "INCONCLUSIVE"
    if not misses:
        return "PASS"
    if deterministic and asked and not changes:
        return "FAIL"
    return "FAIL" if share_bounds(misses, trials)[0] > share_bounds(changes, asked)[1] else "INCONCLUSIVE"


class Probing:
    """The probes of one run, in the scenario's order."""

    def __init__(self, probes, seed, horizon, over, challenge):
        """`over(state, text)` evaluates; `challenge(probe, subject, here, stream)` gives the outcome of one."""
        self.probes, self.seed, self.horizon, self.over, self.challenge = probes, seed, horizon, over, challenge
        self.drawn = {}

    def attend(self, place, here, subject):
        """The bodies of the probes that are due at a place of a step."""
        for index, probe in enumerate(self.probes):
            if probe["at"] != place or not self.due(index, probe, here):
                continue
            try:
                outcome = self.make(index, probe, here, subject)
            except Failed as failed:
                outcome = Outcome("ERROR", failed.code)
            yield {
                "episode": here.episode,
                "t": here.t,
                "probe": probe["name"],
                "at": place,
                "verdict": outcome.verdict,
                "cause": outcome.cause,
                "evidence": outcome.evidence,
            }

    def due(self, index, probe, here):
        """Whether a probe was drawn for a step, and its condition holds."""
        if probe.get("steps") is not None:
            key = index, here.episode
            if key not in self.drawn:
                BUDGET.spend(self.horizon)
                stream = Stream(self.seed, "probe", probe["name"], index, here.episode)
                self.drawn[key] = set(stream.sample(range(self.horizon), min(probe["steps"], self.horizon)))
            if here.t not in self.drawn[key]:
                return False
        return self.over(here.state, probe.get("when", "true"))

    def make(self, index, probe, here, subject):
        """Make one probe."""
        if "offer" in probe:
            return offered(probe, subject, here)
        stream = Stream(self.seed, "probe", probe["name"], index, here.episode, here.t)
        return self.challenge(probe, subject, here, stream)


def offered(probe, subject, here):
    """Offer a way around a rule: it is taken if it is worth more than what would be done without it."""
    offer = probe["offer"]
    weighed = subject.weigh(here, offer)
    if weighed is None:
        return Outcome("INCONCLUSIVE", "no_proposal")
    plain, paid, action = weighed
    taken = paid > plain
    denied, reasons, logged = subject.attempt(here, offer["does"], plain, action) if taken else (True, (), True)
    evidence = {
        "does": offer["does"],
        "breaches": offer["breaches"],
        "plain": plain,
        "paid": paid,
        "taken": taken,
        "denied": denied,
        "reasons": list(reasons),
    }
    holds = subject.expects(probe, {"taken": taken, "denied": denied, "logged": logged})
    if taken and offer["breaches"] not in reasons:
        return Outcome("FAIL", "not_denied_for_the_breach", evidence)
    return Outcome("PASS", "", evidence) if holds else Outcome("FAIL", "taken", evidence)


# The receipts of a run in their order: each goes on from what those before it left.


class Run:
    """The receipts of a scenario: each goes on from what those before it left."""

    def __init__(self):
        self.gates, self.all_gates, self.invariants, self.due, self.tips = {}, {}, {}, {}, {}
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
        self.gates, self.all_gates = dict.fromkeys(body["gates"], 0), dict.fromkeys(body["gates"], 0)
        self.invariants = {(one["scope"], one["name"]): one["severity"] for one in body["invariants"]}
        for drift in body["drifts"]:
            self.due.setdefault(drift["drift"], set()).update(drift["schedule"])

    def begin(self, body):
        """An episode begins where the one before it ended, in the state that it shows."""
        self.need(not self.open and number(body["episode"], self.episode + 1), "an episode begins out of order")
        self.need(body["digest"] == tagged("state", write(body["state"])), "the digest of the start state is wrong")
        self.episode, self.state, self.open = body["episode"], body["digest"], True
        self.t, self.commit, self.first, self.fatal = -1, None, None, False
        self.tips = dict.fromkeys(body["parts"], ZEROS)

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
        for gate, rejected in self.gates.items():
            self.all_gates[gate] += rejected
        self.gates = dict.fromkeys(self.gates, 0)
        for name, idle in body["idle"].items():
            most = steps * (("step", name) in self.invariants) + (("episode", name) in self.invariants)
            self.need(type(idle) is int and 0 < idle <= most, "an invariant is idle too often")
        self.episode, self.open, self.fatal, self.first = body["episode"], False, False, None

    def end(self, body):
        """The run ends as long as it promised."""
        whole = not self.open and number(body["episodes"], self.episode + 1)
        self.need(whole and number(body["episodes"], self.promised), "the run ends in its middle")
        self.need(number(body["steps"], self.steps), "the run counts other steps than it has")
        self.need(counted(body["gates"], self.all_gates), "the run counts other rejections")
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


# What the shapes of specs leave open: which values are references, and which are left out as they are the default.
#
# A spec in its resolved form has no value that equals its default; a default of null, an empty list or an empty mapping
# follows from the shape. Expressions are texts, fixed-point numbers the shortest decimal text, other numbers with a
# fraction `{"$double": text}`.

FIXED_ONE = 1_000_000
DECIMAL_TEXT = re.compile(r"-?[0-9]{1,10}(?:\.[0-9]{1,6}0{0,20})?", re.ASCII)

# Where references stand, of a document `kind.key`, of a mapping inside of one `Mapping.key`; and the kind meant.
REFERENCES = {
    line.split()[0]: line.split()[1]
    for line in """\
        Admission.vocabulary vocabulary|Arm.agent agent|Arm.drift drift|Arm.governor governor|Arm.invariants invariant
        Arm.scenarios scenario|Arm.world world|Cassette.records model|HeldOut.universes universe|Mutant.agent agent
        Mutant.drift drift|Mutant.governor governor|Mutant.invariants invariant|Mutant.suite suite|Mutant.world world
        Narration.by agent|Narration.declares agent|Part.world world|discovery.expect law|discovery.model model
        discovery.prompt prompt|discovery.ranking ranking|discovery.templates template|discovery.universe universe
        governor.invariants invariant|law.template template|law.universe universe|scenario.agent agent
        scenario.drift drift|scenario.governor governor|scenario.invariants invariant|scenario.probes probe
        scenario.world world""".replace("\n", "|").split("|")
}

DEFAULTS = {
    **dict.fromkeys(("Action.when", "Attempts.require", "Candidate.when", "EachEffect.where", "Gate.when"), "true"),
    **dict.fromkeys(("Variable.require", "Write.when", "drift.when", "invariant.when", "probe.when"), "true"),
    **dict.fromkeys(("Proposer.add_to_redundancy_filter", "Proposer.include_counterexamples"), True),
    **dict.fromkeys(("Redundancy.equivalent", "GeminiConfig.json_mode"), True),
    **dict.fromkeys(("Factor.subtract", "Proposer.strict_parsing", "Transform.reflect"), False),
    **dict.fromkeys(("agent.predicts", "law.strict"), False),
    **dict.fromkeys(("Arms.placebo", "Arms.same", "Generator.first", "Generator.weight", "HeldOut.mutants"), 0),
    **dict.fromkeys(("HeldOut.mutations", "Maze.loops", "Steps.from", "scenario.seed", "suite.seed"), 0),
    **dict.fromkeys(("Challenge.repeats", "Chart.unit", "Draw.least", "Draw.most", "Narration.steps"), 1),
    **dict.fromkeys(("ScriptedLaws.times", "ScriptedText.times", "discovery.lag", "scenario.episodes"), 1),
    **dict.fromkeys(("MemoryLimits.max_counterexamples", "MemoryLimits.max_falsified"), 20),
    **dict.fromkeys(("MemoryLimits.max_unknown", "discovery.iterations"), 20),
    **dict.fromkeys(("discovery.seed", "law.seed"), 42),
    **dict.fromkeys(("Effort.T", "Quantifiers.T"), 50),
    **dict.fromkeys(("Effort.cases", "law.cases"), 300),
    **dict.fromkeys(("Effort.mutations", "law.mutations"), 1500),
    **dict.fromkeys(("Admission.watchdog_ms", "Escalation.T", "Outside.deadline_ms"), 200),
    **dict.fromkeys(("Escalation.cases", "Outside.start_ms"), 2000),
    **dict.fromkeys(("Factor.least", "Factor.start", "Transform.shift"), "0"),
    **dict.fromkeys(("Figure.at", "GeminiConfig.top_p"), "0.95"),
    "Admission.ms_per_tick": 100,
    "Admission.signature": "secret",
    "Challenge.on": "here",
    "Escalation.every": 5,
    "Escalation.mutations": 5000,
    "Factor.most": "1",
    "Figure.along": "episode",
    "GeminiConfig.deadline_ms": 60_000,
    "GeminiConfig.max_output_tokens": 8192,
    "GeminiConfig.model": "gemini-2.5-flash",
    "GeminiConfig.retries": 3,
    "GeminiConfig.temperature": "0.7",
    "GeminiConfig.top_k": 40,
    "HeldOut.cases": 100,
    "Map.vary": "run",
    "Memory.scope": "episode",
    "MemoryLimits.max_accepted": 30,
    "Narration.claims": 3,
    "Part.sort": "bool",
    "Proposer.max_token_budget": 8000,
    "Redundancy.threshold": "0.9",
    "Request.count": 5,
    "Script.then": "exhausted",
    "ScriptedFailure.detail": "",
    "Steps.to": "T",
    "Token.shape": "disc",
    "invariant.scope": "step",
    "invariant.severity": "fatal",
    "law.schema_version": "1.0.0",
    "ranking.sensitivity": "0.2",
    "scenario.commit": "proposals",
    "suite.replay": "none",
    "suite.resamples": 999,
}


def place_name(kind, name, key):
    """How the tables above call a key of a mapping."""
    return f"{kind if name == 'Document' else name}.{key}"


def keys_of_mapping(kind, name):
    """The shapes of a mapping by its keys; those that must be there end with `!`."""
    return SHAPES[(kind, name)] if (kind, name) in SHAPES else SHAPES[("", name)]


def shape_of_key(kind, name, key):
    """The shape of one key of a mapping, None if it has none of that name."""
    keys = keys_of_mapping(kind, name)
    return keys.get(key) or keys.get(f"{key}!")


def mappings_in(shape):
    """The names of the mappings that a shape has among its alternatives."""
    return [one[1:] for one in alternatives(shape) if one[0] == "@"]


def inner_shapes(shape, sign):
    """The shapes of the members of the lists, or of the mappings of names, among the alternatives of a shape."""
    return [one[1:-1] for one in alternatives(shape) if one[0] == sign]


def resolved_form(value, shape, kind):
    """A value as the resolved form has it; one that is not of its shape stays what it is."""
    words = alternatives(shape)
    if isinstance(value, dict):
        fitting = (name for name in mappings_in(shape) if suits(value, kind, name))
        name = next(fitting, None)
        if name is not None:
            return resolved_mapping(value, name, kind)
        inner = inner_shapes(shape, "{")
        return free_form(value) if not inner else {k: resolved_form(v, inner[0], kind) for k, v in free_keys(value)}
    if isinstance(value, list):
        inner = inner_shapes(shape, "[")
        return free_form(value) if not inner else [resolved_form(one, inner[0], kind) for one in value]
    if value is not None and "e" in words:
        return expression_text(value)
    if value is not None and {*words} - {"0"} == {"n", "s"}:
        return fixed_text(value)
    return free_form(value)


def suits(value, kind, name):
    """Whether a mapping has the keys that one of this name must have."""
    return all(key[:-1] in value for key in keys_of_mapping(kind, name) if key.endswith("!"))


def resolved_mapping(value, name, kind):
    """A mapping of a known name without the values that are defaults."""
    made = {}
    for key, member in free_keys(value):
        shape = shape_of_key(kind, name, key)
        made[key] = free_form(member) if shape is None else resolved_form(member, shape, kind)
        if shape is not None and key in keys_of_mapping(kind, name) and is_default(made[key], shape, kind, name, key):
            del made[key]
    return made


def is_default(value, shape, kind, name, key):
    """Whether a value in the resolved form is what stands for it if it is left out."""
    if "0" in alternatives(shape):
        return value is None
    if isinstance(value, (list, dict)):
        return not value
    default = DEFAULTS.get(place_name(kind, name, key))
    return type(default) is type(plainly(value)) and default == value


def plainly(value):
    """A text without the file that it is of."""
    return str(value) if isinstance(value, str) else value


def expression_text(value):
    """An expression as text."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return repr(value) if isinstance(value, (int, float)) else str(value)


def fixed_millionths(value):
    """A decimal number of units as an integer of millionths, None if it is none."""
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        return None
    text = str(value) if isinstance(value, str) else format(Decimal(repr(value)), "f")
    return int(Decimal(text) * FIXED_ONE) if DECIMAL_TEXT.fullmatch(text) else None


def fixed_text(value):
    """A fixed-point number as the shortest decimal text; what is none stays what it is."""
    scaled = fixed_millionths(value)
    if scaled is None:
        return free_form(value)
    whole, rest = divmod(abs(scaled), FIXED_ONE)
    return "-" * (scaled < 0) + str(whole) + (f".{rest:06d}".rstrip("0") if rest else "")


def free_form(value):
    """A value of any sort, numbers with a fraction marked."""
    if isinstance(value, float):
        return {"$double": repr(value)}
    if isinstance(value, list):
        return [free_form(one) for one in value]
    return {key: free_form(one) for key, one in free_keys(value)} if isinstance(value, dict) else value


def free_keys(value):
    """The members of a mapping, none of which may have the key that marks numbers."""
    if "$double" in value:
        unreadable("the key $double is reserved")
    return value.items()


# What the reader brings: whom they trust, and what they expect.


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


# Reading the YAML that spec files are written in: one document of mappings, lists and scalars, keys that are texts.
#
# Anchors, aliases, tags, directives, further documents, complex or empty keys, missing values, and expressions that
# YAML
# cuts into pieces are refuted, as the language refuses them; what this file is not sure of stays open.

MOST_DEPTH, MOST_VALUES_READ, LONGEST_KEY = 48, 100_000, 1000
MARKER = re.compile(r"^(?:---|\.\.\.)(?=[ \n])", re.MULTILINE)
GAP = re.compile(r"(?:[ \n]+|(?<![^ \n])#[^\n]*)*")
COLON = re.compile(r" *:")
BLOCK_STOP = re.compile(r":(?=[ \n])|(?<= )#|\n")
FLOW_STOP = re.compile(r":(?=[ \n,?\[\]{}])|(?<= )#|\n|[,\[\]{}]")
DOUBLE = re.compile(r'"((?:[^"\\]|\\.)*)"', re.DOTALL)
SINGLE = re.compile(r"'((?:[^']|'')*)'")
NO_START = frozenset("&*!%@`,]}#|>")


def read_yaml(data, name):
    """The value of a file; its texts are of the file.

    Raises:
        Refuted: It is no document as the language has them.
        Open: It is written in a way that this file does not judge.
    """
    return YamlReader(decoded(data, name), name).document()


def read_setting(text):
    """The value of a change, written on one line: a scalar, or a collection in brackets."""
    if "\n" in text:
        unjudged("a change on several lines")
    return YamlReader(admitted(f" {text}", "a change"), None).document(block=False)


class YamlReader:
    """Reads one text from its start to its end; `at` is where it is."""

    def __init__(self, text, file):
        self.text, self.file, self.at, self.depth, self.count = text, file, 0, 0, 0

    def refuse(self, message):
        """The text is none that the language takes."""
        unreadable(f"{self.file or 'a change'}:{self.text.count(chr(10), 0, self.at) + 1}: {message}")

    def document(self, block=True):
        """The value of the whole text; without `block`, of a text that is no block collection and no block scalar."""
        self.gap()
        marker = self.text.startswith("---", self.at) and self.text[self.at + 3 : self.at + 4] in (" ", "\n")
        if marker and self.column() == 0:
            begin = self.at = self.at + 3
            self.gap()
            if "\n" not in self.text[begin : self.at] and self.text[self.at : self.at + 1] != "{":
                unjudged("a document that begins beside its marker")
        if MARKER.search(self.text, self.at):
            self.refuse("more than one document, or the end of one")
        if self.ended():
            self.refuse("there is no document")
        if not block and self.text[self.at] in "|>":
            self.refuse("a block")
        value = self.node(-1, not block)
        self.gap()
        if not self.ended():
            self.refuse("something stands behind the document")
        return value

    # Places

    def gap(self):
        """Go on to the next token, over blanks, breaks and comments."""
        self.at = GAP.match(self.text, self.at).end()
        if self.text[self.at : self.at + 1] == "#":
            unjudged("a comment without a blank before it")

    def ended(self):
        """Whether nothing is left."""
        return self.at >= len(self.text)

    def column(self):
        """The column of the place."""
        return self.at - self.text.rfind("\n", 0, self.at) - 1

    def begins_line(self):
        """Whether nothing stands before the place in its line."""
        return not self.text[self.text.rfind("\n", 0, self.at) + 1 : self.at].strip(" ")

    def dash(self):
        """Whether an element of a block list begins here."""
        return self.text[self.at] == "-" and self.text[self.at + 1] in " \n"

    def counted(self):
        """One value or key more."""
        self.count += 1
        if self.count > MOST_VALUES_READ:
            self.refuse("too many values")

    def deeper(self):
        """One collection more is open."""
        self.counted()
        self.depth += 1
        if self.depth > MOST_DEPTH:
            self.refuse("nested too deeply")

    # Block style

    def node(self, indent, inline):
        """The value that begins here, inside a collection at a column; `inline` ones are no block collections."""
        first = self.text[self.at]
        if self.dash():
            return self.refuse("a list where none can be") if inline else self.block_list()
        if first == "?" and self.text[self.at + 1] in " \n":
            unjudged("a key after a question mark")
        if first in "|>":
            self.counted()
            value, self.at = block_text(self.text, self.at, indent)
            return word(value, self.file)
        if first in "[{":
            value = self.flow()
            return self.refuse("a key that is no text") if COLON.match(self.text, self.at) else value
        begin = self.at
        value, end, is_key = self.quoted_here() if first in "'\"" else self.plain_here(indent)
        if is_key:
            self.at = begin
            return self.refuse("a colon inside of a value") if inline else self.block_mapping()
        self.at = end
        self.counted()
        return word(value, self.file) if isinstance(value, str) else value

    def quoted_here(self):
        """The quoted text here, where it ends, and whether it is a key."""
        value, end = self.quoted()
        colon = COLON.match(self.text, end)
        is_key = colon is not None and self.text[colon.end()] in " \n"
        if is_key and "\n" in self.text[self.at : end]:
            self.refuse("a key on several lines")
        return value, end, is_key

    def quoted(self):
        """The quoted text here, and where it ends."""
        pattern, read = (SINGLE, single_text) if self.text[self.at] == "'" else (DOUBLE, double_text)
        match = pattern.match(self.text, self.at) or self.refuse("a quote that is not closed")
        return read(match[1]), match.end()

    def plain_here(self, indent):
        """The plain scalar here, where it ends, and whether it is a key: its lines are indented more than a column."""
        text, begin = self.text, self.at
        if text[begin] in NO_START or (text[begin] in ":?" and text[begin + 1] in " \n"):
            self.refuse(f"an unquoted value cannot begin with {text[begin]!r}")
        stop = BLOCK_STOP.search(text, begin)
        if text[stop.start()] == ":":
            if stop.start() - begin > LONGEST_KEY:
                unjudged("a key of more than 1000 characters")
            return None, stop.start(), True
        lines, end = [], begin
        while True:
            lines.append(text[end : stop.start()].strip(" "))
            end = stop.start()
            if text[end] != "\n":
                break
            step = end
            while text[step : step + 1] in (" ", "\n") and text[step : step + 1]:
                step += 1
            column = step - text.rfind("\n", 0, step) - 1
            if step >= len(text) or column <= indent or text[step] == "#":
                break
            lines += [""] * (text.count("\n", end, step) - 1)
            end, stop = step, BLOCK_STOP.search(text, step)
            if text[stop.start()] == ":":
                self.refuse("a colon inside of an unquoted value")
        whole = text[begin:end].rstrip(" \n")
        if text[end] == "#":
            self.trapped(whole)
        return typed_scalar(folded_lines([(line, False) for line in lines])), begin + len(whole), False

    def trapped(self, raw):
        """See that an unquoted value is no piece of an expression."""
        if raw.count("(") != raw.count(")") or raw.count("'") % 2 or raw.count('"') % 2:
            self.refuse("an unquoted value with half a pair of brackets or quotes")

    def inner(self, column, begin, of_key):
        """The value behind a colon or a dash of a collection at a column."""
        self.at = begin
        self.gap()
        if self.ended():
            self.refuse("a value is missing")
        if "\n" not in self.text[begin : self.at]:
            return self.node(column, of_key)
        own = self.column()
        if own > column or (of_key and own == column and self.dash()):
            return self.node(column, False)
        if self.text[self.at] in "|>":
            unjudged("a block that begins left of its value")
        return self.refuse("a value is missing")

    def goes_on(self, column):
        """Whether a collection at a column may go on at the next token."""
        self.gap()
        if self.ended():
            return False
        if not self.begins_line():
            self.refuse("something stands behind a value")
        if self.column() > column:
            self.refuse("indented more than what stands before it")
        return self.column() == column

    def block_list(self):
        """The list whose first dash is here."""
        column, made = self.column(), []
        self.deeper()
        while True:
            made.append(self.inner(column, self.at + 1, False))
            if not self.goes_on(column) or not self.dash():
                break
        self.depth -= 1
        return made

    def block_mapping(self):
        """The mapping whose first key is here."""
        column, made = self.column(), {}
        self.deeper()
        while True:
            key, begin = self.block_key()
            self.enter(made, key, lambda begin=begin: self.inner(column, begin, True))
            if not self.goes_on(column):
                break
        self.depth -= 1
        return made

    def enter(self, made, key, read):
        """Give a mapping one member more."""
        self.counted()
        if key in made:
            self.refuse(f"the key {key!r} stands twice")
        made[key] = None
        made[key] = read()

    def block_key(self):
        """The key here, and where its value begins."""
        begin, first = self.at, self.text[self.at]
        if first == "?" and self.text[begin + 1] in " \n":
            unjudged("a key after a question mark")
        if self.dash() or first in "[{|>":
            self.refuse("a key that is no text")
        quoted = first in "'\""
        value, end, is_key = self.quoted_here() if quoted else self.plain_here(self.column())
        if not is_key:
            self.refuse("a key without a colon")
        if not quoted:
            value = plain_key(self.text[begin:end].rstrip(" "))
        return value, COLON.match(self.text, end).end()

    # Flow style

    def flow(self):
        """The collection in brackets here."""
        self.deeper()
        mapping = self.text[self.at] == "{"
        made, close = ({}, "}") if mapping else ([], "]")
        self.at += 1
        while True:
            self.gap()
            if self.text[self.at : self.at + 1] == close:
                break
            if self.ended():
                self.refuse("a bracket is not closed")
            if mapping:
                self.enter(made, self.flow_key(), self.flow_value)
            else:
                made.append(self.flow_value())
            self.gap()
            if self.text[self.at : self.at + 1] == ",":
                self.at += 1
            elif self.text[self.at : self.at + 1] != close:
                self.refuse("a comma is missing, or a bracket is not closed")
        self.at += 1
        self.depth -= 1
        return made

    def flow_key(self):
        """The key here; its colon is read too."""
        begin, first = self.at, self.text[self.at]
        if first == "?":
            unjudged("a question mark in brackets")
        if first in "'\"":
            value, end = self.quoted()
        else:
            value, end = self.flow_plain(plain_key)
        colon = COLON.match(self.text, end)
        if "\n" in self.text[begin:end]:
            self.refuse("a key on several lines")
        if colon is None:
            if GAP.match(self.text, end).end() != end and "\n" in GAP.match(self.text, end)[0]:
                unjudged("a colon on the line behind its key")
            self.refuse("a key without a value")
        if first not in "'\"" and self.text[colon.end()] not in " \n":
            self.refuse("a colon without a blank behind it")
        self.at = colon.end()
        return value

    def flow_value(self):
        """The value here."""
        self.gap()
        first = self.text[self.at : self.at + 1]
        if first and first in "[{":
            return self.flow()
        self.counted()
        value, self.at = self.quoted() if first and first in "'\"" else self.flow_plain(typed_scalar)
        return word(value, self.file) if isinstance(value, str) else value

    def flow_plain(self, read):
        """The plain scalar here, and where it ends."""
        text, begin = self.text, self.at
        first = text[begin : begin + 1]
        if not first or first in NO_START or first in ":?[{" or (first == "-" and text[begin + 1] in " \n"):
            self.refuse(f"no unquoted value in brackets begins with {first!r}")
        lines, end = [], begin
        while True:
            stop = FLOW_STOP.search(text, end)
            if stop is None:
                self.refuse("a bracket is not closed")
            lines.append(text[end : stop.start()].strip(" "))
            end = stop.start()
            if text[end] != "\n":
                break
            step = end
            while text[step : step + 1] in (" ", "\n") and text[step : step + 1]:
                step += 1
            if step >= len(text) or text[step] in "#,]}[{":
                break
            lines += [""] * (text.count("\n", end, step) - 1)
            end = step
        raw = text[begin:end].rstrip(" \n")
        while lines and not lines[-1]:
            lines.pop()
        if "?" in raw:
            self.refuse("a question mark in an unquoted value in brackets")
        self.trapped(raw)
        return read(folded_lines([(line, False) for line in lines])), begin + len(raw)


# The form of a proposed law: which documents are laws as far as their fields go, and the spec that they stand for.
#
# A document that is no law raises `NoLaw` with the reason, which is the engine's own where `exact` says so.

IDENTIFIER = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
LAW_ORDERS = ("==", "!=", "<", "<=", ">", ">=")
SAFE_INTEGER = 2**53 - 1
CAPABILITIES = ("primitive_observables", "transforms", "generator_families")


class NoLaw(Exception):
    """A document is no law: why, and whether these are the very words of the engine."""

    def __init__(self, reason, exact=False):
        self.reason, self.exact = reason, exact
        super().__init__(reason)


def must_fit(holds):
    """A document is no law unless something holds."""
    if not holds:
        raise NoLaw("E_LAW_CANDIDATE")


# The form of a law, field by field; each gives the value of the resolved form, or None where that leaves it out


def form_is_label(value, most=120):
    return isinstance(value, str) and 1 <= len(value) <= most


def form_label(value):
    must_fit(form_is_label(value))
    return value


def form_sentence(value):
    must_fit(form_is_label(value, 4000) and re.search(r"\S", value))
    return value


def form_expression(value):
    """An expression, for which a number or a truth value may stand."""
    said = ("true" if value else "false") if isinstance(value, bool) else repr(value) if type(value) is int else value
    must_fit(form_is_label(said, 8192))
    return said


def form_symbol(value):
    must_fit(isinstance(value, str) and re.fullmatch("[!-~]", value))
    return value


def form_whole(least, most):
    def checked(value):
        must_fit(type(value) is int and least <= value <= most)
        return value

    return checked


def form_word(*words):
    def checked(value):
        must_fit(isinstance(value, str) and value in words)
        return value

    return checked


def form_list(member, most, least=0):
    def checked(value):
        must_fit(isinstance(value, list) and least <= len(value) <= most)
        return [member(one) for one in value]

    return checked


def form_mapping(fields, required, defaults=None):
    """A closed mapping; what equals its default is left out."""

    def checked(value):
        must_fit(isinstance(value, dict) and value.keys() <= fields.keys() and required <= value.keys())
        made = {name: fields[name](one) for name, one in value.items()}
        return {name: one for name, one in made.items() if one is not None and one != (defaults or {}).get(name)}

    return checked


def form_optional(member):
    return lambda value: None if value is None else member(value)


def form_parameters(value):
    must_fit(isinstance(value, dict) and len(value) <= 16)
    must_fit(all(IDENTIFIER.fullmatch(name) and len(name) <= 80 for name in value))
    return value


def form_identifier(value):
    must_fit(isinstance(value, str) and IDENTIFIER.fullmatch(value) and len(value) <= 80)
    return value


def form_precondition(value):
    return FORM_COMPARISON(value) if isinstance(value, dict) else form_expression(value)


def form_tree(value):
    must_fit(isinstance(value, dict))
    return value


FORM_COMPARISON = form_mapping(
    {"lhs": form_expression, "op": form_word(*LAW_ORDERS), "rhs": form_expression}, {"lhs", "op", "rhs"}
)
LAW_FORM = {
    "schema_version": form_word("1.0.0"),
    "law_id": form_label,
    "template": form_label,
    "quantifiers": form_mapping(
        {"T": form_whole(1, SAFE_INTEGER), "H": form_optional(form_whole(0, SAFE_INTEGER))}, set(), {"T": 50}
    ),
    "preconditions": form_list(form_precondition, 32),
    "observables": form_list(form_mapping({"name": form_identifier, "expr": form_expression}, {"name", "expr"}), 64),
    "claim": form_sentence,
    "forbidden": form_sentence,
    "claim_ast": form_tree,
    "transform": form_label,
    "direction": form_word("<=", ">="),
    "bound_value": form_whole(-SAFE_INTEGER, SAFE_INTEGER),
    "bound_op": form_word(*LAW_ORDERS),
    "trigger_symbol": form_symbol,
    "result_op": form_word("==", "!="),
    "result_symbol": form_symbol,
    "proposed_tests": form_list(
        form_mapping({"family": form_label, "params": form_parameters}, {"family"}, {"params": {}}), 16
    ),
    "capability_requirements": form_mapping(
        {name: form_list(form_label, 64) for name in CAPABILITIES}, set(), {name: [] for name in CAPABILITIES}
    ),
    "starts": form_mapping({"symbols": form_optional(form_list(form_symbol, 16, 1))}, set()),
    "cases": form_whole(1, 10_000),
    "mutations": form_whole(0, 100_000),
}
LAW_USUAL = {"schema_version": "1.0.0", "quantifiers": {}, "preconditions": [], "observables": [], "proposed_tests": []}
LAW_USUAL.update(capability_requirements={}, cases=300, mutations=1500)


def members_of(value):
    """A value and everything inside it."""
    waiting = [value]
    while waiting:
        one = waiting.pop()
        yield one
        waiting += one.values() if isinstance(one, dict) else one if isinstance(one, list) else ()


def has_float(value):
    """Whether a value holds a number with a point, which has no canonical form."""
    return any(isinstance(one, float) for one in members_of(value))


def law_spec(document, book, name=None):
    """The resolved form of a proposed document, under its key."""
    if has_float(document):
        raise NoLaw("E_LAW_CANDIDATE")
    if not isinstance(document, dict):
        raise NoLaw("E_LAW_CANDIDATE: a candidate is an object", True)
    if any(isinstance(one, dict) and "$double" in one for one in members_of(document)):
        raise Open("E_REPLAY", "a law holds the key that marks doubles")
    lacking = [key for key in ("template", "forbidden") if not isinstance(document.get(key), str) or not document[key]]
    if lacking:
        raise NoLaw("E_LAW_CANDIDATE")
    template = document["template"]
    if template not in book.templates:
        raise NoLaw("E_LAW_CANDIDATE: " + shown_text(f"there is no template {template!r}"), True)
    given = {key: value for key, value in document.items() if value is not None}
    must_fit(given.keys() <= LAW_FORM.keys())
    made = {key: LAW_FORM[key](value) for key, value in given.items()}
    made = {key: value for key, value in made.items() if LAW_USUAL.get(key) != value}
    name = law_name(given) if name is None else name
    made.update(spec="law/v1", name=name, template=book.templates[template], universe=book.universe)
    return f"law/{name}@{tagged('spec', write(made))[:16]}", made


def law_name(given):
    """The name of a law: the words of its id, or its digest."""
    words = re.findall(r"[a-z0-9]+", given["law_id"].lower()) if isinstance(given.get("law_id"), str) else []
    name = "-".join(words)[:80].rstrip("-")
    return name if name[:1].isalpha() else f"law-{tagged('spec', write(given))[:16]}"


# How an agent explains a choice to a kernel: the document with its trace, its counterfactuals and its claims.
#
# Everything follows from docs/probes.md (An agent that explains itself): who decides, who is asked what would change
# the
# choice, and whose procedure stands in the trace are three minds, and may be one.

LEAST_COUNTERFACTUALS = 3
SEEN_AS = "state_digest(focus_vars)"
SCORED_AS = "score(action)"
CHOSEN_AS = "first of the greatest scores"


class MadeChoice:
    """What a mind chooses: the action, its score, and its label."""

    def __init__(self, action, score, label):
        self.action, self.score, self.label = action, score, label


class Mind:
    """One agent's way to choose, which can be asked about any state.

    An occasion is (episode, t, how often it was asked there before); what an agent draws depends on it.
    """

    def __init__(self, agent, label):
        self.agent, self.label = agent, label
        self.name, self.key, self.procedure = agent.name, agent.key, agent.procedure

    def propose(self, seen, memory, occasion):
        """Its proposals."""
        return self.agent.proposals(seen, memory, occasion)

    def choose(self, seen, memory, occasion):
        """The first proposal of the greatest score; None without any."""
        return self.first(self.propose(seen, memory, occasion))

    def first(self, proposals):
        """The choice among proposals."""
        if not proposals:
            return None
        best = proposals[0]
        for one in proposals[1:]:
            best = one if one["score"] > best["score"] else best
        return MadeChoice(best["action"], best["score"], self.label(best["action"]))


class Supposed:
    """One change that was thought through."""

    def __init__(self, name, before, value, choice):
        self.name, self.before, self.value, self.choice = name, before, value, choice

    def direction(self):
        """How the value changes."""
        if type(self.before) is not int or type(self.value) is not int:
            return "categorical"
        return "increase" if self.value > self.before else "decrease"


class Narrator:
    """Makes the documents of one agent."""

    def __init__(self, minds, variables, world, told):
        """`minds` decides, tells and declares; `told` has `vary`, `claims`, `steps`, `say`, `request` and `env`."""
        self.decider, self.teller, self.declared = minds
        self.variables, self.world, self.told = variables, world, told

    def document(self, state, memory, choice, occasion, snapshot):
        """The proposal of a choice; `snapshot` makes the commitment, and without it none is given."""
        known = set(self.variables.names(state))
        focus = [name for name in self.told["vary"] if name in known]
        digest = hashed(self.variables.normalize(state, focus))
        seen = self.world.observe(state)
        proposals = self.declared.propose(seen, memory, occasion)
        nodes, edges = self.trace_of(proposals, focus, digest, choice.label)
        claimed, idle = self.reasons(state, memory, choice.label, known, occasion)
        supposed = claimed + idle
        base, over = divmod(100_000_000, len(supposed)) if supposed else (0, 0)
        trace = {
            "trace_version": "0.2",
            "nodes": nodes,
            "edges": edges,
            "fork_snapshots": [] if snapshot is None else [snapshot("fork-0", digest, focus)],
            "causal_claims": [self.claim(number, one, nodes) for number, one in enumerate(claimed)],
            "counterfactuals": [
                {
                    "cf_id": f"cf-{number}",
                    "base_state_digest": digest,
                    "mutation": {"var": one.name, "new_value": one.value},
                    "predicted_outcome": {"choice": one.choice.label, "score": one.choice.score},
                    "prob_mass": (base + (number < over)) / 100_000_000,
                }
                for number, one in enumerate(supposed)
            ],
        }
        request = self.told["request"](choice.action)
        name = f"{self.decider.name}/{occasion[0]}/{occasion[1]}/{occasion[2]}"
        steps = [split_action(action) for action in self.plan(state, memory, choice, occasion)]
        return {
            "proposal_id": uuid_named("proposal", name),
            "proposal_type": "action",
            "env": self.told["env"](state),
            "payload": {"intent": choice.label, "plan": {"steps": steps}},
            "trace": {**trace, "trace_commit": trace_digest(trace)},
            "requested_capabilities": [] if request is None else [request],
        }

    def trace_of(self, proposals, focus, digest, chosen):
        """The nodes and edges: what was seen, what is declared, each proposal's score, and what was chosen."""
        scored = [(self.declared.label(one["action"]), one["action"], one["score"]) for one in proposals]
        nodes = [
            trace_node(0, "observation", "the state as it was seen", (SEEN_AS, {"focus_vars": focus}, digest)),
            trace_node(1, "assumption", "the declared score", self.assumption()),
        ]
        edges = []
        for number, (label, action, score) in enumerate(scored, 2):
            nodes.append(trace_node(number, "evaluation", label, (SCORED_AS, action, score)))
            edges += [trace_edge(0, number, "supports"), trace_edge(1, number, "assumes")]
        last = len(nodes)
        edges += [trace_edge(number, last, "evaluates") for number in range(2, last)] or [
            trace_edge(0, last, "supports")
        ]
        inputs = {"labels": [one[0] for one in scored], "scores": [one[2] for one in scored]}
        nodes.append(trace_node(last, "inference", "the choice", (CHOSEN_AS, inputs, chosen)))
        return nodes, edges

    def assumption(self):
        """What a trace says of the declared procedure."""
        return self.declared.procedure, {"agent": self.declared.key}, SCORED_AS

    def reasons(self, state, memory, submitted, known, occasion):
        """Claims of different variables, and as many idle counterfactuals as make three in all."""
        claimed, idle, most = [], [], self.told["claims"]
        for name in self.told["vary"]:
            if name not in known:
                continue
            if len(claimed) >= most and len(claimed) + len(idle) >= LEAST_COUNTERFACTUALS:
                break
            for one in self.suppose(state, memory, name, occasion):
                if one.choice.label == submitted:
                    idle.append(one)
                elif len(claimed) < most:
                    claimed.append(one)
                    break
        return claimed, idle[: max(0, LEAST_COUNTERFACTUALS - len(claimed))]

    def suppose(self, state, memory, name, occasion):
        """What the teller would choose under each alternative of a variable that changes something."""
        before = self.variables.read(state, name)
        for value in self.variables.alternatives(state, name):
            made = self.variables.mutate(state, name, value)
            if made is None or not made[1]["changed"]:
                continue
            choice = self.teller.choose(self.world.observe(made[0]), memory, occasion)
            if choice is not None:
                yield Supposed(name, before, value, choice)

    def claim(self, number, one, nodes):
        """A claim: which counterfactual it speaks of, and the exact choice."""
        resting = [each["id"] for each in nodes if each["kind"] == "evaluation" and each["summary"] == one.choice.label]
        return {
            "var": one.name,
            "direction": one.direction(),
            "expected_effect_on_choice": self.told["say"](f"cf-{number}", one.choice.label),
            "confidence": 1,
            "supporting_nodes": [0, *resting][:64],
        }

    def plan(self, state, memory, choice, occasion):
        """The actions of a plan: what would be chosen in each state that is predicted, of the same operation."""
        actions = [choice.action]
        while len(actions) < self.told["steps"]:
            state = self.world.step(state, actions[-1], {})[0]
            later = (occasion[0], occasion[1] + len(actions), occasion[2])
            following = self.decider.choose(self.world.observe(state), memory, later)
            if following is None or following.action["op"] != choice.action["op"]:
                break
            actions.append(following.action)
        return actions

    def retrace(self, document, state, memory, occasion, chosen):
        """How many nodes of a trace come out equal, of how many, and whether it ends in the plan's choice."""
        proposals = self.declared.propose(self.world.observe(state), memory, occasion)
        choice = self.declared.first(proposals)
        labels = [self.declared.label(one["action"]) for one in proposals]
        inputs = {"labels": labels, "scores": [one["score"] for one in proposals]}
        procedure, agent, _ = self.assumption()
        equal, last = 0, False
        for each in document["trace"]["nodes"]:
            payload, kind = each["payload"], each["kind"]
            last = payload.keys() == {"expression", "inputs", "output"} and type(payload["inputs"]) is dict
            if last and kind == "observation":
                last = payload["expression"] == SEEN_AS and payload["output"] == self.digest(state, payload["inputs"])
            elif last and kind == "assumption":
                last = payload["expression"] == procedure and payload["inputs"] == agent
            elif last and kind == "evaluation":
                found = [one["score"] for one in proposals if one["action"] == payload["inputs"]]
                last = payload["expression"] == SCORED_AS and bool(found) and payload["output"] == found[0]
            elif last:
                best = None if choice is None else choice.label
                last = kind == "inference" and payload["expression"] == CHOSEN_AS
                last = last and payload["inputs"] == inputs and payload["output"] == best
            equal += last
        nodes = document["trace"]["nodes"]
        return equal, len(nodes), last and nodes[-1]["payload"]["output"] == chosen

    def digest(self, state, inputs):
        """The digest of a state under the variables that a node names; empty where they are none."""
        focus, known = inputs.get("focus_vars"), self.variables.names(state)
        if not isinstance(focus, list) or not all(name in known for name in focus):
            return ""
        return hashed(self.variables.normalize(state, focus))


def trace_node(number, kind, summary, payload):
    """A node of a trace; its payload is (expression, inputs, output)."""
    expression, inputs, output = payload
    made = {"expression": expression, "inputs": inputs, "output": output}
    return {"id": number, "kind": kind, "summary": summary, "payload": made}


def trace_edge(start, end, kind):
    """An edge of a trace."""
    return {"from": start, "to": end, "type": kind}


def split_action(action):
    """An action as a step of a plan."""
    return {"op": action["op"], "args": {name: value for name, value in action.items() if name != "op"}}


# What a kernel holds on to: its audit entries, the tokens by which it acts, and the nonces of commitments.
#
# The rules are those of docs/kernel.md: entries are chained by their hashes, a token covers steps of one plan, a nonce
# opens one commitment and is revealed once.

MOST_NOTES, MOST_WITNESSES, MOST_TOKENS = 4000, 128, 16


class Denied(Exception):
    """An attempt to act that a token does not permit; its reason is a code."""

    def __init__(self, reason):
        self.reason = reason
        super().__init__(reason)


class Entries:
    """Makes the entries of one audit log, each after the one before."""

    def __init__(self, mode="simulated", head=ZEROS):
        self.mode, self.head = mode, head

    def seal(self, event, at_ms, about, verdict="deny", codes=(), witnesses=(), tokens=()):
        """The next entry; `about` is the submission that it speaks of."""
        cut = len(witnesses) > MOST_WITNESSES or len(tokens) > MOST_TOKENS
        entry = {
            "timestamp_ms": at_ms,
            "prev_entry_hash": self.head,
            "event": event,
            "proposal_hash": about.proposal_hash,
            "trace_hash": about.trace_hash,
            "kernel_decision": {"verdict": verdict, "notes": self.notes(codes, cut)},
            "witnesses": list(witnesses[:MOST_WITNESSES]),
            "capability_tokens": list(tokens[:MOST_TOKENS]),
        }
        entry["entry_id"] = uuid_named("entry", hashed(entry))
        self.head = entry["entry_hash"] = hashed(entry)
        return entry

    def notes(self, codes, cut):
        """The mode and the codes, as many as fit."""
        words = [f"mode:{self.mode}", *(code.replace(" ", "_") for code in codes)]
        text = " ".join([*words, "cut"] if cut else words)
        if len(text) <= MOST_NOTES:
            return text
        return text[: MOST_NOTES - 4].rpartition(" ")[0] + " cut"


class SecretSigner:
    """The signature by a secret that the run's seed gives."""

    def __init__(self, seed):
        self.secret = Stream(seed, "kernel-secret").bytes(32)

    def sign(self, payload):
        """64 digits."""
        return hashlib.sha256(self.secret + payload).hexdigest()


class RecordedSigner:
    """Ed25519 signatures as they were recorded, each verified by the public key before it is taken."""

    def __init__(self, public, recorded):
        self.public, self.recorded = bytes.fromhex(public), iter(recorded)

    def sign(self, payload):
        """The next recorded signature, if it is right."""
        signature = next(self.recorded, "")
        try:
            raw = bytes.fromhex(signature)
        except ValueError:
            raise Denied("bad_signature") from None
        if raw.hex() != signature or not ed25519(self.public, raw, payload):
            raise Denied("bad_signature")
        return signature


def narrowed(scope, limit):
    """The part of a requested scope that a grant leaves; None if no operation is left."""
    ops = [op for op in scope["allowed_ops"] if op in limit["allowed_ops"]]
    if not ops:
        return None
    asked, most = scope["rate_limit"], limit["rate_limit"]
    rate = {"max_calls": min(asked["max_calls"], most["max_calls"]), "per_ms": max(asked["per_ms"], most["per_ms"])}
    return {"allowed_ops": ops, "rate_limit": rate, "expiry_ms": min(scope["expiry_ms"], limit["expiry_ms"])}


class Tokens:
    """The tokens of one episode, and the executions that were made by them."""

    def __init__(self, step, signer):
        self.step, self.signer = step, signer
        self.issued, self.calls = {}, {}

    def issue(self, submission, capability, scope, at_ms):
        """A token for a submission that was admitted."""
        binding = {
            "proposal_hash": submission.proposal_hash,
            "trace_hash": submission.trace_hash,
            "scope_hash": hashed(scope),
        }
        facts = {"at_ms": at_ms, "binding": binding, "capability": capability, "number": len(self.issued)}
        name = hashed(facts)
        token = {
            "token_id": uuid_named("token", name),
            "capability": capability,
            "scope": scope,
            "binding": binding,
            "issued_at_ms": at_ms,
            "expires_at_ms": at_ms + scope["expiry_ms"],
            "revocation_id": uuid_named("revocation", name),
        }
        token["signature"] = self.signer.sign(canonical(token))
        self.issued[token["token_id"]] = (canonical(token), submission.actions, set())
        return token

    def act(self, token, index, submission, action, granted, at_ms, state, inputs):
        """Execute a step of a plan: what is refused is refused with the first reason that there is."""
        if token is None:
            raise Denied("no_token")
        form, actions, spent = self.issued.get(token["token_id"], (None, [], set()))
        if form != canonical(token):
            raise Denied("unknown")
        binding, rate = token["binding"], token["scope"]["rate_limit"]
        before = self.calls.setdefault(token["capability"], [])
        most = rate["max_calls"]
        doubts = (
            ("expired", lambda: not token["issued_at_ms"] <= at_ms < token["expires_at_ms"]),
            ("wrong_proposal", lambda: binding["proposal_hash"] != submission.proposal_hash),
            ("wrong_trace", lambda: binding["trace_hash"] != submission.trace_hash),
            ("wrong_scope", lambda: binding["scope_hash"] != granted),
            ("wrong_op", lambda: action.get("op") not in token["scope"]["allowed_ops"]),
            ("wrong_action", lambda: not 0 <= index < len(actions) or write(action) != actions[index]),
            ("spent", lambda: index in spent),
            ("exhausted", lambda: len(spent) >= most),
            ("rate", lambda: len(before) >= most and before[-most] > at_ms - rate["per_ms"]),
        )
        for reason, holds in doubts:
            if holds():
                raise Denied(reason)
        spent.add(index)
        before.append(at_ms)
        return self.step(state, action, inputs)


def commitment_of(nonce, state_digest, focus):
    """What commits to a state's digest and to the variables it was seen through."""
    message = bytes.fromhex(state_digest) + b"\0" + hashlib.sha256(write(list(focus))).digest()
    return hmac.new(nonce, message, hashlib.sha256).hexdigest()


class Vault:
    """The nonces of one agent over one run; each is revealed once, under a challenge."""

    def __init__(self, seed):
        self.stream, self.made = Stream(seed, "nonce"), 0
        self.kept, self.seen = {}, {}

    def snapshot(self, fork, digest, focus):
        """Commit to a state's digest under a fresh nonce."""
        nonce, reference = self.stream.bytes(32), f"nonce-{self.made}"
        self.made += 1
        self.kept[reference] = nonce
        return {
            "fork_id": fork,
            "state_digest": digest,
            "focus_vars": list(focus),
            "commitment": commitment_of(nonce, digest, focus),
            "nonce_ref": reference,
        }

    def opens(self, snapshot):
        """Challenge a snapshot: whether its commitment opens. What was revealed before is known."""
        reference = snapshot["nonce_ref"]
        if reference not in self.seen:
            nonce = self.kept.pop(reference, None)
            if nonce is None:
                return False
            self.seen[reference] = nonce
        given = commitment_of(self.seen[reference], snapshot["state_digest"], snapshot["focus_vars"])
        return given == snapshot["commitment"]


# Maps of scenarios: a drawing's lines of characters, or generator steps that draw one from a stream.

MOST_ATTEMPTS, MOST_DRAWN, FAR_AWAY = 1000, 4_194_304, 1024


class NoRoom(Exception):
    """A generator step found no room, or what it must connect is apart: all is drawn again."""


def map_of(data, seed, episode):
    """The rows of characters of a map."""
    if data.get("drawing") is not None:
        rows = [list(line) for line in data["drawing"].rstrip("\n").split("\n")]
        if len(rows) > 256 or not 0 < len(rows[0]) <= 256 or any(len(row) != len(rows[0]) for row in rows):
            raise Failed("E_MAP")
        return rows
    steps = data["generate"]
    if "fill" not in steps[0]:
        raise Failed("E_MAP")
    stream = Stream(seed, "map", episode if data.get("vary") == "episode" else 0)
    cells = steps[0]["width"] * steps[0]["height"]
    for _ in range(min(MOST_ATTEMPTS, MOST_DRAWN // cells)):
        BUDGET.spend(cells * (8 + 4 * len(steps)))
        try:
            return drawn_map(steps, stream)
        except NoRoom:
            continue
    raise Failed("E_MAP")


def drawn_map(steps, stream):
    """One attempt."""
    grid = []
    for step in steps:
        name = next(name for name in GENERATORS if name in step)
        grid = GENERATORS[name](step, grid, stream)
    return grid


def fill_map(step, grid, stream):
    width, height, border = step["width"], step["height"], step.get("border")
    edges = border if border is not None else step["fill"]
    middle = [edges, *[step["fill"]] * (width - 2), edges]
    return [[edges] * width, *[middle[:] for _ in range(height - 2)], [edges] * width]


def carve_maze(step, grid, stream):
    """A depth-first walk over the cells of odd coordinates, each next one drawn; then walls between ways are opened."""
    height, width, wall, way = len(grid), len(grid[0]), grid[0][0], step["maze"]
    if way == wall:
        raise Failed("E_MAP")
    made = [[wall] * width for _ in range(height)]
    made[1][1] = way
    path = [(1, 1)]
    while path:
        x, y = path[-1]
        near = [(x, y - 2), (x + 2, y), (x, y + 2), (x - 2, y)]
        ways = [(a, b) for a, b in near if 0 < a < width - 1 and 0 < b < height - 1 and made[b][a] == wall]
        if not ways:
            path.pop()
            continue
        a, b = stream.choice(ways)
        made[(y + b) // 2][(x + a) // 2] = made[b][a] = way
        path.append((a, b))
    between = [
        (x, y)
        for y in range(1, height - 1)
        for x in range(1, width - 1)
        if made[y][x] == wall and (made[y][x - 1] == made[y][x + 1] == way or made[y - 1][x] == made[y + 1][x] == way)
    ]
    for x, y in stream.shuffle(between)[: step.get("loops", 0)]:
        made[y][x] = way
    return made


def holding(grid, character):
    """The cells that hold a character, row by row."""
    return [(x, y) for y, row in enumerate(grid) for x, held in enumerate(row) if held == character]


def scatter_over(step, grid, stream):
    cells = holding(grid, step["over"])
    if len(cells) < step["count"]:
        raise NoRoom
    for x, y in stream.shuffle(cells)[: step["count"]]:
        grid[y][x] = step["scatter"]
    return grid


def lies_in(step, x, y):
    """Whether a cell lies in the columns and rows of a step."""
    ranges = ((step.get("columns"), x), (step.get("rows"), y))
    return all(held is None or held[0] <= at <= held[1] for held, at in ranges)


def place_one(step, grid, stream):
    cells = [(x, y) for x, y in holding(grid, step["over"]) if lies_in(step, x, y)]
    if step.get("of") is not None:
        others = holding(grid, step["of"])
        beyond, within = step.get("beyond"), step.get("within")
        beyond, within = -1 if beyond is None else beyond, FAR_AWAY - 1 if within is None else within
        BUDGET.spend(len(cells) * len(others))
        nearest = {(x, y): min((abs(x - a) + abs(y - b) for a, b in others), default=FAR_AWAY) for x, y in cells}
        cells = [cell for cell in cells if beyond < nearest[cell] <= within]
    if not cells:
        raise NoRoom
    x, y = stream.choice(cells)
    grid[y][x] = step["place"]
    return grid


def stamp_one(step, grid, stream):
    rows, width, height = step["stamp"], len(step["stamp"][0]), len(step["stamp"])
    picture = [(x, y, one) for y, row in enumerate(rows) for x, one in enumerate(row) if one != " "]
    corners = [
        (x, y)
        for y in range(len(grid) - height + 1)
        for x in range(len(grid[0]) - width + 1)
        if lies_in(step, x, y) and all(grid[y + b][x + a] == step["over"] for a, b, _ in picture)
    ]
    if not corners:
        raise NoRoom
    x, y = stream.choice(corners)
    for a, b, one in picture:
        grid[y + b][x + a] = one
    return grid


def connect_both(step, grid, stream):
    first, second = (holding(grid, one) for one in step["connect"])
    if not first or not second:
        raise NoRoom
    seen, todo = {first[0]}, [first[0]]
    while todo:
        for a, b in around(*todo.pop()):
            inside_grid = 0 <= b < len(grid) and 0 <= a < len(grid[b])
            if inside_grid and (a, b) not in seen and grid[b][a] not in step["blocked"]:
                seen.add((a, b))
                todo.append((a, b))
    if not seen.issuperset(first + second):
        raise NoRoom
    return grid


GENERATORS = {
    "fill": fill_map,
    "maze": carve_maze,
    "scatter": scatter_over,
    "place": place_one,
    "stamp": stamp_one,
    "connect": connect_both,
}


# The receipts of the other kinds in their order: of a law's trial, a suite and a discovery.


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
        "ledger": ("ledger", "expected", "end"),
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
        refuted, came, recorded = {}, {}, []
        for kind, body in self.told:
            if kind == "ledger":
                recorded += body["refuted"]
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


# Functions for finding ways: breadth-first search by steps N, E, S, W; the viability kernel; walls and reaches.

MOST_PAIRS, LONGEST_RING, LONGEST_BALL, LONGEST_EDIT, MOST_LISTED = 1_000_000, 512, 64, 4, 65_536
KERNELS = {}


def spread(start, free, most=None):
    """The steps from a cell to every cell that is reached over free ones; the start counts whatever it holds.

    `free` says of a cell (x, y) whether it is.
    """
    steps, front, count = {start: 0}, [start], 0
    while front and (most is None or count < most):
        count += 1
        met = []
        for x, y in front:
            for near in ((x, y - 1), (x + 1, y), (x, y + 1), (x - 1, y)):
                if near not in steps and free(near):
                    steps[near] = count
                    met.append(near)
        BUDGET.spend(4 * len(front))
        front = met
    return steps


def distances_over(blocked, p):
    """Steps from a cell over cells that are 0, -1 where none lead."""
    start = (p["x"], p["y"])
    free = {(x, y) for y, row in enumerate(blocked) for x, a in enumerate(row) if not a}
    steps = spread(start, free.__contains__) if inside(blocked, *start) else {}
    return [[steps.get((x, y), -1) for x in range(len(row))] for y, row in enumerate(blocked)]


def open_map_distances(f, codes, p):
    """As `distances_over`, on a map that is not finished: beyond its right and lower edge all is open."""
    x, y = p["x"], p["y"]
    if not (0 <= x < LONGEST_SIDE and 0 <= y < LONGEST_SIDE):
        return [[-1] * len(row) for row in f]
    width = min(LONGEST_SIDE, max([x + 1, *(len(row) for row in f)]) + 1)
    height = min(LONGEST_SIDE, max(y + 1, len(f)) + 1)

    def free(cell):
        a, b = cell
        return 0 <= a < width and 0 <= b < height and not (inside(f, a, b) and f[b][a] in codes)

    steps = spread((x, y), free)
    return [[steps.get((a, b), -1) for a in range(width)] for b in range(height)]


def length_of_way(f, codes, p, q):
    """Steps of a shortest way between two cells over cells without a code, -1 if none; the first may hold any."""
    start, end = (p["x"], p["y"]), (q["x"], q["y"])
    if not (inside(f, *start) and inside(f, *end)):
        return -1
    free = {(x, y) for y, row in enumerate(f) for x, a in enumerate(row) if a not in codes}
    return spread(start, free.__contains__).get(end, -1)


def viability_kernel(f, phases):
    """For each phase of a cycle, 1 where some step (N, E, S, W, none) stays out of harm for ever.

    It is found by taking away, again and again, what every step leads out of.
    """
    cells = sum(len(row) for row in f)
    if not phases or len(phases) * cells > MOST_PAIRS:
        unfit()
    question = (str(f), str(phases))
    if question not in KERNELS:
        KERNELS.clear()
        KERNELS[question] = greatest_kernel(f, [{(one["x"], one["y"]) for one in deadly} for deadly in phases])
    return KERNELS[question]


def greatest_kernel(f, phases):
    """The kernel itself: what loses its last step is looked at no more, but what led to it is, again."""
    free = {(x, y) for y, row in enumerate(f) for x, a in enumerate(row) if not a}
    held = [free - deadly for deadly in phases]
    BUDGET.spend(50 * len(phases) * (len(free) + 1))
    todo = [(phase, place) for phase, places in enumerate(held) for place in places]
    while todo:
        phase, place = todo.pop()
        after = held[(phase + 1) % len(phases)]
        if place in held[phase] and not any(near in after for near in (place, *around(*place))):
            held[phase].discard(place)
            todo += [((phase - 1) % len(phases), near) for near in (place, *around(*place))]
    return [[[int((x, y) in places) for x in range(len(row))] for y, row in enumerate(f)] for places in held]


def ring_around(p, n):
    """The cells at a distance, row by row; those of negative coordinates are left out."""
    checked_size(n, LONGEST_RING)
    x, y = p["x"], p["y"]
    found = []
    for b in range(max(y - n, 0), y + n + 1):
        wide = n - abs(b - y)
        found += [{"x": a, "y": b} for a in ([x - wide, x + wide] if wide else [x]) if a >= 0]
    return found


def ball_around(p, n):
    """The cells at a distance of 0 to n, nearest first."""
    checked_size(n, LONGEST_BALL)
    return [cell for radius in range(n + 1) for cell in ring_around(p, radius)]


def mask_of_cells(cells, width, height):
    """1 at the listed cells."""
    checked_size(width, LONGEST_SIDE)
    checked_size(height, LONGEST_SIDE)
    listed = {(cell["x"], cell["y"]) for cell in cells}
    return [[int((x, y) in listed) for x in range(width)] for y in range(height)]


def dilated(f, n):
    """1 at a distance of n or less from a cell that is not 0."""
    checked_size(n, LONGEST_BALL)
    made = [[int(bool(a)) for a in row] for row in f]
    front = [(x, y) for y, row in enumerate(made) for x, a in enumerate(row) if a]
    for _ in range(n):
        met = []
        for x, y in front:
            for a, b in around(x, y):
                if inside(made, a, b) and not made[b][a]:
                    made[b][a] = 1
                    met.append((a, b))
        BUDGET.spend(4 * len(front))
        front = met
    return made


def reached_cells(blocked, start, n):
    """The cells reached in at most n steps over cells that are 0, with the number of steps."""

    def free(cell):
        return inside(blocked, *cell) and not blocked[cell[1]][cell[0]]

    return spread(start, free, n) if inside(blocked, *start) else {}


def size_of_reach(blocked, p, n):
    """How many cells are reached in at most n steps."""
    checked_size(n, LONGEST_BALL)
    return len(reached_cells(blocked, (p["x"], p["y"]), n))


def edited_walls(walls, blocked, p, n, wanted, kept):
    """Lists of walls to be tried in order, with which a reach should have a size.

    For 0, 1, … walls opened, nearest first: reached cells are walled, farthest first (of those as far, by column and
    row), as long as enough stay reached. Each number of opened walls gives at most one list.
    """
    checked_size(n, LONGEST_EDIT)
    start, found = (p["x"], p["y"]), []
    standing = {(wall["x"], wall["y"]) for wall in walls}
    openable = [(cell["x"], cell["y"]) for cell in ball_around(p, n)]
    openable = [place for place in openable if place in standing]
    spared = {start, *((cell["x"], cell["y"]) for cell in kept)}
    field = [row[:] for row in blocked]
    for opened in range(len(openable) + 1):
        if opened and inside(field, *openable[opened - 1]):
            x, y = openable[opened - 1]
            field[y][x] = 0
        raised = walled_in([row[:] for row in field], start, n, wanted, spared)
        if raised is None:
            continue
        gone = set(openable[:opened]) - set(raised)
        left = [wall for wall in walls if (wall["x"], wall["y"]) not in gone]
        new = [{"x": x, "y": y} for x, y in raised if (x, y) not in standing]
        if len(left) + len(new) <= MOST_LISTED:
            found.append(left + new)
    return found


def walled_in(field, start, n, wanted, spared):
    """The cells to wall so that exactly so many are reached; None where walling farthest first does not do it."""
    reached, raised = reached_cells(field, start, n), []
    if len(reached) < wanted:
        return None
    for x, y in sorted(reached, key=lambda one: (-reached[one], one)):
        if len(reached) == wanted:
            break
        if (x, y) in spared:
            continue
        field[y][x] = 1
        left = reached_cells(field, start, n)
        if len(left) < wanted:
            field[y][x] = 0
        else:
            raised.append((x, y))
            reached = left
    return raised if len(reached) == wanted else None


def fresh_name(prefix, taken):
    """The first of `prefix-1`, `prefix-2`, … that is not taken."""
    checked_size(len(prefix), 65_000)
    known, count = set(taken), 1
    while f"{prefix}-{count}" in known:
        count += 1
    return f"{prefix}-{count}"


PATH_FUNCTIONS = {
    "distances": distances_over,
    "open_distances": open_map_distances,
    "path_length": length_of_way,
    "viability": viability_kernel,
    "ring": ring_around,
    "cells_by_distance": ball_around,
    "cells_mask": mask_of_cells,
    "dilate": dilated,
    "reach": size_of_reach,
    "wall_edits": edited_walls,
    "fresh": fresh_name,
}


# Challenges: another state, the agent asked again, and its answer compared with what it said (docs/probes.md).

NO_ANSWER = ("", 0)


def challenged(probe, subject, here, stream):
    """Challenge an agent; `here` is where, and what is drawn comes from the stream."""
    spec = probe["challenge"]
    if spec.get("on") == "fresh":
        here = subject.fresh(stream.integer(0, 2**31 - 1))
    before = subject.choose(here, 0)
    if before is None:
        return Outcome("INCONCLUSIVE", "no_proposal")
    document = subject.document(here)
    if not subject.valid(document):
        return Outcome("FAIL", "abstained")
    aims = aims_of(spec["of"], subject, here, document["trace"], stream)
    if not aims:
        return Outcome("FAIL", "abstained") if spec["of"] == "claims" else Outcome("INCONCLUSIVE", "no_aim")
    draw = spec.get("draw", {})
    count = stream.integer(min(draw.get("least", 1), len(aims)), min(draw.get("most", 1), len(aims)))
    return Asking(probe, subject, here, before).outcome(stream.sample(aims, count), document, stream)


def aims_of(kind, subject, here, trace, stream):
    """What may be challenged: (variable, value, predicted choice)."""
    told = {one["cf_id"]: one for one in trace["counterfactuals"]}
    if kind == "declared":
        return [("", None, "")]
    if kind == "unused":
        names = [name for name in subject.unused(here.state) if subject.alternatives(here.state, name)]
        return [(name, stream.choice(subject.alternatives(here.state, name)), "") for name in names]
    if kind == "counterfactuals":
        return [(*changing(one), one["predicted_outcome"]["choice"]) for one in told.values()]
    found = {}
    for claim in trace["causal_claims"]:
        said = subject.parse(claim["expected_effect_on_choice"])
        one = None if said is None else told.get(said["counterfactual"])
        if one is not None and one["mutation"]["var"] == claim["var"]:
            found.setdefault(claim["var"], (*changing(one), said["choice"]))
    return list(found.values())


def changing(one):
    """The variable of a counterfactual and the value that it is given."""
    return one["mutation"]["var"], one["mutation"]["new_value"]


class Asking:
    """One challenge under way: how often the agent was asked, and what it answered."""

    def __init__(self, probe, subject, here, before):
        self.probe, self.spec, self.subject, self.here, self.before = probe, probe["challenge"], subject, here, before
        self.asked = 0

    def ask(self, state):
        """Ask what would be chosen in a state: (choice, score), or None."""
        self.asked += 1
        return self.subject.choose(self.here.at(state), self.asked)

    def other(self, answer):
        """Whether an answer is another choice than the first one."""
        return answer is None or answer[0] != self.before[0]

    def outcome(self, drawn, document, stream):
        """Ask everything, and say what it amounts to."""
        arms, deterministic = self.spec.get("arms", {}), self.subject.deterministic
        same = arms.get("same", 0)
        changes = [self.other(self.ask(self.here.state)) for _ in range(same)].count(True)
        trials = [self.trial(aim) for aim in drawn for _ in range(self.spec.get("repeats", 1))]
        told = [one["held"] for one in trials if one["held"] is not None]
        evidence = {
            "of": self.spec["of"],
            "before": self.before[0],
            "trials": trials,
            "null": {"asked": same, "changed": changes},
            "placebo": self.placebo(arms.get("placebo", 0), drawn, document, stream),
        }
        verdict = conviction(told.count(False), len(told), changes, same, deterministic)
        evidence["answers"] = verdict
        failed = self.demands(drawn, document, evidence)
        if verdict == "FAIL":
            return Outcome(verdict, "fabricated", evidence)
        if failed == ["restated"] and not deterministic:
            return Outcome("INCONCLUSIVE", "noise", evidence)
        if failed:
            return Outcome("FAIL", failed[0], evidence)
        if verdict == "PASS":
            return Outcome(verdict, "", evidence)
        return Outcome(verdict, "noise" if told else "nothing_changed", evidence)

    def trial(self, aim):
        """One change and the answer to it; `held` is null where nothing was changed."""
        name, value, predicted = aim
        trial, state = {"variable": name, "value": value, "predicted": predicted}, self.here.state
        if name:
            known = name in self.subject.names(state)
            made = self.subject.mutate(state, name, value) if known else None
            if made is None or not made[1]["changed"]:
                reason = "unknown_variable" if not known else "unreachable" if made is None else "unchanged"
                return {**trial, "edit": None, "after": None, "reason": reason, "held": None if known else False}
            state = made[0]
            trial["edit"] = made[1]
        after = self.ask(state) or NO_ANSWER
        declared = after
        if self.spec["of"] == "declared":
            declared = self.subject.declared(self.here.at(state), self.asked) or NO_ANSWER
        values = {
            "before": answer_record(self.before),
            "after": answer_record(after),
            "declared": answer_record(declared),
            "claim": {"variable": name, "choice": predicted},
        }
        held = self.subject.expects(self.probe, values)
        return {**trial, "after": after[0], "declared": declared[0], "held": held}

    def placebo(self, most, drawn, document, stream):
        """Changes of variables that no claim names, and how many of them changed the choice."""
        subject, state, asked, changed = self.subject, self.here.state, 0, 0
        cited = {claim["var"] for claim in document["trace"]["causal_claims"]} | {aim[0] for aim in drawn}
        if most:
            for name in stream.shuffle([name for name in subject.names(state) if name not in cited]):
                values = subject.alternatives(state, name) if asked < most else []
                made = subject.mutate(state, name, stream.choice(values)) if values else None
                if made is not None and made[1]["changed"]:
                    asked += 1
                    changed += self.other(self.ask(made[0]))
        return {"asked": asked, "changed": changed}

    def demands(self, drawn, document, evidence):
        """What else the agent must show; the causes of those that fail."""
        failed, demand = [], self.spec.get("demand", ())
        if "reveal" in demand:
            evidence["revealed"] = self.subject.reveal(document, {aim[0] for aim in drawn if aim[0]})
            failed += [] if evidence["revealed"] else ["commitment"]
        if "trace" in demand:
            equal, nodes, ends = self.subject.retrace(document, self.here)
            evidence["trace"] = {"equal": equal, "nodes": nodes, "ends": ends}
            failed += [] if ends and equal == nodes else ["trace"]
        if "restate" in demand:
            evidence["restated"] = self.subject.restate(document, self.here)
            failed += [] if evidence["restated"] else ["restated"]
        return failed


def answer_record(answer):
    """An answer as `expect` reads it."""
    return {"choice": answer[0], "score": answer[1]}


# Reuse in spec files: how one document is laid over another, what parameters are given, and the cases of a matrix.

MOST_CASES_OF_A_MATRIX = 4096
PARAM_TYPES = ("int", "bool", "string", "qfixed", "double")


def laid_over(base, over):
    """One value over another: mappings merge key by key, a mapping over a list of items by their ids."""
    if isinstance(over, dict) and has_items(base):
        return laid_over_items(base, over)
    if not isinstance(base, dict) or not isinstance(over, dict):
        return over
    made = dict(base)
    for key, value in over.items():
        made[key] = laid_over(made[key], value) if key in made else value
    return made


def has_items(value):
    """Whether a value is a list whose elements are told apart by their ids."""
    return isinstance(value, list) and value and all(isinstance(one, dict) and "id" in one for one in value)


def laid_over_items(base, over):
    """A mapping over a list of items: each member changes the item of its name, null takes it away, others are added.

    What is added stands at the end, in the order of the names.
    """
    left, made = dict(over), []
    for item in base:
        name = str(item["id"])
        if name not in left:
            made.append(item)
        else:
            change = left.pop(name)
            made += [] if change is None else [laid_over(item, change)]
    for name in sorted(left):
        if left[name] is None:
            unreadable(f"there is no item {name!r} to take away")
        made.append({"id": name, **left[name]} if isinstance(left[name], dict) else left[name])
    return made


def declared_params(node):
    """What a document declares: by the name of each parameter its type, and its default in a tuple, or ()."""
    if node is None:
        return {}
    made = {}
    for name, one in mapping_of(node, "params").items():
        parts = one if isinstance(one, dict) else {"type": one}
        if parts.get("type") not in PARAM_TYPES:
            unreadable(f"the parameter {name} has no type")
        type_ = str(parts["type"])
        made[name] = (type_, (fitted(name, type_, parts["default"]),) if "default" in parts else ())
    return made


def mapping_of(value, what):
    """A mapping."""
    return value if isinstance(value, dict) else unreadable(f"{what} is no mapping")


def list_of(value, what):
    """A list."""
    return value if isinstance(value, list) else unreadable(f"{what} is no list")


def fitted(name, type_, value):
    """A value as that of a parameter of a type; whether it lies in the parameter's range is not looked at."""
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    fits = {
        "int": number and isinstance(value, int),
        "bool": isinstance(value, bool),
        "string": isinstance(value, str),
        "double": number,
        "qfixed": fixed_millionths(value) is not None,
    }
    if not fits[type_]:
        unreadable(f"the parameter {name} is of the type {type_}")
    return float(value) if type_ == "double" else value


def bound_params(params, given, owner):
    """The value of each parameter: what is given, or its default."""
    for name in given:
        if name not in params:
            unreadable(f"{owner} has no parameter {name}")
    made = {}
    for name, (type_, default) in params.items():
        if name not in given and not default:
            unreadable(f"{owner} needs a value for its parameter {name}")
        made[name] = fitted(name, type_, given[name]) if name in given else default[0]
    return made


def filled_in(root, values):
    """A document with values in place of `${name}`, except in what is for people alone."""
    return {key: one if key in ("doc", "metadata") else filled_value(one, values) for key, one in root.items()}


def filled_value(value, values):
    """The same for a value."""
    if isinstance(value, dict):
        if any("${" in key for key in value):
            unreadable("a parameter inside of a key")
        return {key: filled_value(one, values) for key, one in value.items()}
    if isinstance(value, list):
        return [filled_value(one, values) for one in value]
    if not isinstance(value, str) or "${" not in value:
        return value
    if not (value.startswith("${") and value.endswith("}") and value[2:-1] in values):
        unreadable(f"{value[:40]!r} is no parameter alone")
    return values[value[2:-1]]


def cases_of(node, params):
    """The arguments of each case of a matrix by its id; one case without arguments where there is no matrix."""
    if node is None:
        return {"": {}}
    axes = dict(mapping_of(node, "matrix"))
    exclude, include = axes.pop("exclude", None), axes.pop("include", None)
    for name, values in axes.items():
        axes[name] = [matrix_value(name, params, one) for one in list_of(values, "an axis of a matrix")]
    if math.prod(map(len, axes.values())) > MOST_CASES_OF_A_MATRIX:
        unreadable("the matrix has too many cases")
    chosen = [dict(zip(axes, values)) for values in product(*axes.values())] if axes else []
    for entry in entries_of(exclude, axes, params):
        words = {name: case_word(params, name, value) for name, value in entry.items()}
        kept = [case for case in chosen if any(case_word(params, name, case[name]) != words[name] for name in words)]
        if len(kept) == len(chosen):
            unreadable("an exclusion from a matrix excludes nothing")
        chosen = kept
    chosen += entries_of(include, params, params)
    made = {}
    for case in chosen:
        names = [name for name in dict.fromkeys([*axes, *params]) if name in case]
        id_ = ",".join(f"{name}={case_word(params, name, case[name])}" for name in names)
        if id_ in made:
            unreadable(f"the case {id_} is there twice")
        made[id_] = case
    return made


def matrix_value(name, params, value):
    """A value of an axis."""
    if name not in params:
        unreadable(f"{name} cannot vary in a matrix")
    return fitted(name, params[name][0], value)


def entries_of(node, names, params):
    """What `include` or `exclude` lists."""
    found = [] if node is None else list_of(node, "what a matrix includes or excludes")
    made = []
    for entry in found:
        if not mapping_of(entry, "an entry of a matrix") or not entry.keys() <= set(names):
            unreadable("an entry of a matrix names something else")
        made.append({name: matrix_value(name, params, value) for name, value in entry.items()})
    return made


def case_word(params, name, value):
    """A value as it stands in the id of a case."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return quote(fixed_text(value) if params[name][0] == "qfixed" else str(value), safe="")


def used_with(value):
    """A reference: its text and its arguments; None for what is none."""
    if isinstance(value, str):
        return value, {}
    if not isinstance(value, dict) or not {"use"} <= value.keys() <= {"use", "with"}:
        return None
    given = value.get("with", {})
    return (value["use"], given) if isinstance(value["use"], str) and isinstance(given, dict) else None


def same_arguments(values):
    """What makes two sets of arguments the same."""
    for value in values.values():
        if isinstance(value, (dict, list)):
            unjudged("an argument that is no scalar")
    return tuple((name, repr(plain_scalar(values[name]))) for name in sorted(values))


def plain_scalar(value):
    """A scalar without the file that it is of."""
    return str(value) if isinstance(value, str) else value


# Changes of a resolved spec, `path=value`: how a path finds its place, and what it hands on to a spec referred to.

STEP = re.compile(r'"([^"]*)"|([^."=]+)')


class Handed:
    """A reference with the changes of the spec that it leads to."""

    def __init__(self, value, changes):
        self.value, self.changes = value, changes


def read_change(text):
    """The steps of the path of a change, and its value."""
    steps, at = [], 0
    match = STEP.match(text)
    while match:
        steps.append(match[1] if match[1] is not None else match[2].strip())
        at = match.end() + 1
        match = STEP.match(text, at) if text[at - 1 : at] == "." else None
    if not steps or text[at - 1 : at] != "=" or not text[at:].strip():
        unreadable(f"{text[:80]!r} is no change")
    value = read_setting(text[at:])
    if holds_param(value):
        unreadable("a change holds a parameter")
    return tuple(steps), value


def holds_param(value):
    """Whether a value holds the mark of a parameter."""
    if isinstance(value, (dict, list)):
        return any(map(holds_param, value.values() if isinstance(value, dict) else value))
    return isinstance(value, str) and "${" in value


def changed_at(node, shapes, kind, steps, value, argument=False):
    """A node with the value at the end of a path.

    Args:
        node: What is changed.
        shapes: What may stand there: (shape, the kind that a reference there means, None where there is none).
        kind: The kind of the spec.
        steps: The path from here.
        value: What is put there.
        argument: Whether the members of the node are arguments of a reference.
    """
    if not steps:
        return value
    if refers_at(shapes):
        handed = node if isinstance(node, Handed) else Handed(node, ())
        if steps[0] not in ("with", "use"):
            return Handed(handed.value, (*handed.changes, (steps, value)))
        parts = handed.value if isinstance(handed.value, dict) else {"use": handed.value}
        return Handed(changed_member({"with": {}, **parts}, shapes, kind, steps, value, argument), handed.changes)
    if isinstance(node, dict):
        return changed_member(node, shapes, kind, steps, value, argument)
    return changed_element(node, shapes, kind, steps, value)


def refers_at(shapes):
    """Whether a reference may stand there, and not a list of them."""
    return any(meant and not inner_shapes(shape, "[") for shape, meant in shapes)


def changed_member(node, shapes, kind, steps, value, argument):
    """The same for a mapping."""
    step, rest = steps[0], steps[1:]
    refers = refers_at(shapes)
    names = [name for shape, _ in shapes for name in mappings_in(shape)]
    known = {key.rstrip("!") for name in names for key in keys_of_mapping(kind, name)}
    known |= {"with", "use"} if refers else set()
    if step not in node and (rest or not (step in known or argument)):
        unreadable(f"a change of {step!r}, which is not there")
    inner = [] if refers else member_shapes(shapes, kind, step)
    return {**node, step: changed_at(node.get(step), inner, kind, rest, value, refers and step == "with")}


def member_shapes(shapes, kind, step):
    """What may stand under a key."""
    made = []
    for shape, _ in shapes:
        for name in mappings_in(shape):
            found = shape_of_key(kind, name, step)
            meant = REFERENCES.get(place_name(kind, name, step))
            made += [] if found is None else [(found, meant)]
        made += [(inner, None) for inner in inner_shapes(shape, "{")]
    return made


def changed_element(node, shapes, kind, steps, value):
    """The same for a list: an element is found by its index, its id, name or use, or itself; null takes it away."""
    if not isinstance(node, list):
        unreadable(f"a change inside of what holds nothing: {steps[0]!r}")
    step, rest = steps[0], steps[1:]
    labels = [label_of(one) for one in node]
    if step.isascii() and step.isdigit() and len(step) < 9:
        index = int(step)
    else:
        index = labels.index(step) if step in labels else len(node)
    if index >= len(node):
        unreadable(f"a change of {step!r}, which is not there")
    if not rest and value is None:
        return [*node[:index], *node[index + 1 :]]
    inner = [(one, meant) for shape, meant in shapes for one in inner_shapes(shape, "[")]
    return [*node[:index], changed_at(node[index], inner, kind, rest, value), *node[index + 1 :]]


def label_of(value):
    """What an element of a list is called."""
    value = value.value if isinstance(value, Handed) else value
    if isinstance(value, str):
        return str(value)
    keys = [key for key in ("id", "name", "use") if isinstance(value, dict) and key in value]
    return str(value[keys[0]]) if keys else None


# The functions of expressions: those of CEL, of its math extension, and of lists (docs/authoring.md).

INTEGER_TEXT = re.compile(r"[+-]?[0-9]{1,40}\Z")
DOUBLE_TEXT = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*(?:e[+-]?[0-9]+)?|\.[0-9]+(?:e[+-]?[0-9]+)?|inf|infinity|nan)\Z")
TRUE_TEXTS, FALSE_TEXTS = ("1", "t", "true", "TRUE", "True"), ("0", "f", "false", "FALSE", "False")
BITS_64 = 1 << 64


def to_int(value):
    """Of a double truncated, of a text in decimals."""
    if type(value) is int:
        return value
    if type(value) is float:
        if not -(2.0**63) < value < 2.0**63:
            raise Failed("E_EVAL_OVERFLOW")
        return int(value)
    if type(value) is not str:
        raise Failed("E_EVAL_TYPE")
    if not INTEGER_TEXT.match(value):
        raise Failed("E_EVAL_ARGUMENT")
    return checked_int(int(value))


def to_double(value):
    """Of an int rounded to the nearest, of a text."""
    if type(value) in (int, float):
        return float(value)
    if type(value) is not str:
        raise Failed("E_EVAL_TYPE")
    if not DOUBLE_TEXT.match(value.lower()):
        raise Failed("E_EVAL_ARGUMENT")
    return float(value)


def to_string(value):
    """Of an int, a bool or a text."""
    if type(value) is bool:
        return "true" if value else "false"
    if type(value) in (int, str):
        return str(value)
    raise Failed("E_EVAL_TYPE")


def to_bool(value):
    """Of one of the spellings of a bool."""
    if type(value) is bool:
        return value
    if type(value) is not str:
        raise Failed("E_EVAL_TYPE")
    if value not in TRUE_TEXTS + FALSE_TEXTS:
        raise Failed("E_EVAL_ARGUMENT")
    return value in TRUE_TEXTS


def absolute(value):
    """The distance from 0."""
    return checked_int(abs(value)) if type(value) is int else abs(value)


def extreme(*values, greatest):
    """The greatest or least of numbers, or of one list of them; the first of equals, and NaN never better."""
    values = values[0] if len(values) == 1 and type(values[0]) is list else values
    if not values:
        raise Failed("E_EVAL_ARGUMENT")
    best = values[0]
    for value in values:
        if (value > best) if greatest else (value < best):
            best = value
    return best


def greatest_of(*values):
    """The greatest."""
    return extreme(*values, greatest=True)


def least_of(*values):
    """The least."""
    return extreme(*values, greatest=False)


def rounded(value, how):
    """A double rounded to a whole one; what is not finite stays, and so does the sign of zero."""
    return math.copysign(float(how(value)), value) if math.isfinite(value) else value


def half_away(value):
    """To the nearest whole number, halves away from zero."""
    whole = math.trunc(value)
    return whole + int(math.copysign(1, value)) if abs(value - whole) >= 0.5 else whole


def sign_of(value):
    """-1, 0 or 1."""
    if type(value) is int:
        return (value > 0) - (value < 0)
    return value if math.isnan(value) else float((value > 0) - (value < 0))


def shifted(value, count, left):
    """64 bits moved, zeros coming in."""
    if count < 0:
        raise Failed("E_EVAL_ARGUMENT")
    bits = 0 if count > 63 else (value % BITS_64 << count) % BITS_64 if left else value % BITS_64 >> count
    return bits - BITS_64 if bits >= BITS_64 // 2 else bits


def square_root(value):
    """Of an int, rounded down."""
    if value < 0:
        raise Failed("E_EVAL_ARGUMENT")
    return math.isqrt(value)


def position_of(values, least):
    """The index of the first least or greatest number, -1 if there is none."""
    best = -1
    for index, value in enumerate(values):
        if best < 0 or ((value < values[best]) if least else (value > values[best])):
            best = index
    return best


def counted_up(count):
    """0, 1, … below a number."""
    if count > 65_536:
        raise Limited
    return list(range(count))


def sort_records(records, keys):
    """Records in ascending order of the named fields."""
    if any(key not in record for record in records for key in keys):
        raise Failed("E_EVAL_NO_SUCH_KEY")
    return sorted(records, key=lambda record: [record[key] for key in keys])


def value_digest(value):
    """The digest of a value; what has no canonical form has none."""
    todo = [(value, 0)]
    while todo:
        one, depth = todo.pop()
        if isinstance(one, (dict, list)):
            if depth == 64:
                raise Failed("E_EVAL_ARGUMENT")
            todo += [(inner, depth + 1) for inner in (one.values() if isinstance(one, dict) else one)]
        elif type(one) is float or (type(one) is int and not -BIG <= one <= BIG):
            raise Failed("E_EVAL_ARGUMENT")
    return tagged("value", write(value))


FUNCTIONS = {
    "size": len,
    "int": to_int,
    "double": to_double,
    "string": to_string,
    "bool": to_bool,
    "math.abs": absolute,
    "math.greatest": greatest_of,
    "math.least": least_of,
    "math.ceil": lambda value: rounded(value, math.ceil),
    "math.floor": lambda value: rounded(value, math.floor),
    "math.round": lambda value: rounded(value, half_away),
    "math.trunc": lambda value: rounded(value, math.trunc),
    "math.sign": sign_of,
    "math.isNaN": math.isnan,
    "math.isInf": math.isinf,
    "math.isFinite": math.isfinite,
    "math.bitAnd": lambda a, b: a & b,
    "math.bitOr": lambda a, b: a | b,
    "math.bitXor": lambda a, b: a ^ b,
    "math.bitNot": lambda a: ~a,
    "math.bitShiftLeft": lambda a, b: shifted(a, b, left=True),
    "math.bitShiftRight": lambda a, b: shifted(a, b, left=False),
    "sum": lambda values: checked_int(sum(values)),
    "isqrt": square_root,
    "argmin": lambda values: position_of(values, least=True),
    "argmax": lambda values: position_of(values, least=False),
    "minimum": lambda values, other: least_of(values) if values else other,
    "maximum": lambda values, other: greatest_of(values) if values else other,
    "range": counted_up,
    "sort_by": sort_records,
    "digest_of": value_digest,
    **FIELD_FUNCTIONS,
    **PATH_FUNCTIONS,
}
METHODS = {
    "size": len,
    "contains": lambda text, part: part in text,
    "startsWith": lambda text, part: text.startswith(part),
    "endsWith": lambda text, part: text.endswith(part),
}
SIGNATURES = {
    "size": ("s", "l", "m"),
    "int": ("i", "d", "s"),
    "double": ("i", "d", "s"),
    "string": ("s", "i", "b"),
    "bool": ("b", "s"),
    "math.greatest": ("l", "i+", "d+"),
    "math.least": ("l", "i+", "d+"),
    **dict.fromkeys(("math.abs", "math.sign"), ("i", "d")),
    **dict.fromkeys(("math.ceil", "math.floor", "math.round", "math.trunc"), ("d",)),
    **dict.fromkeys(("math.isNaN", "math.isInf", "math.isFinite"), ("d",)),
    **dict.fromkeys(("math.bitAnd", "math.bitOr", "math.bitXor"), ("ii",)),
    **dict.fromkeys(("math.bitShiftLeft", "math.bitShiftRight"), ("ii",)),
    **dict.fromkeys(("math.bitNot", "isqrt", "range"), ("i",)),
    **dict.fromkeys(("sum", "argmin", "argmax"), ("l",)),
    **dict.fromkeys(("minimum", "maximum"), ("li", "ld")),
    "sort_by": ("ll",),
    **dict.fromkeys(("contains", "startsWith", "endsWith"), ("ss",)),
    **dict.fromkeys(("field_scale",), ("il",)),
    **dict.fromkeys(("field_clamp",), ("lii",)),
    **dict.fromkeys(("field_floor", "field_over", "cells_at_least", "cells_at_most"), ("li",)),
    **dict.fromkeys(("field_at", "beside", "field_put"), ("lmi",)),
    "window": ("lmii",),
    "field_paste": ("llmi",),
    "distances": ("lm",),
    "open_distances": ("llm",),
    "path_length": ("llmm",),
    **dict.fromkeys(("ring", "cells_by_distance"), ("mi",)),
    "cells_mask": ("lii",),
    "dilate": ("li",),
    "reach": ("lmi",),
    "wall_edits": ("llmiil",),
    "fresh": ("sl",),
}
TAKEN = {}
VALUE_LETTERS = {int: "i", float: "d", str: "s", bool: "b", list: "l", dict: "m", type(None): "0"}


def takes(name, values):
    """Whether a function takes values of these types, lists by the outside; what has no row takes lists alone."""
    question = (name, *map(type, values))
    if question not in TAKEN:
        TAKEN[question] = fitting_row(name, values)
    return TAKEN[question]


def fitting_row(name, values):
    """The same, looked up; types alone decide."""
    letters = "".join("m" if isinstance(one, dict) else VALUE_LETTERS.get(type(one), "?") for one in values)
    if name == "digest_of":
        return len(values) == 1
    for row in SIGNATURES.get(name, ("l" * len(values),)):
        if letters == row or (row.endswith("+") and letters and set(letters) == {row[0]}):
            return True
    return False


# What a kernel rules about a document: its schema, then the invariants of scope `proposal`, then the scope of a token.
#
# The rules are those of docs/probes.md (Kernel as a governor). Every fatal finding is told, none hides another; what
# cannot be evaluated denies.

SLOT = re.compile(r"<([a-z]+)>")
SLOTS = {"counterfactual": "[A-Za-z0-9_.-]{1,80}", "choice": "[!-~]{1,80}"}


class Vocabulary:
    """How claims are worded: the first form is written, all are read."""

    def __init__(self, forms):
        self.forms, self.patterns = forms, []
        for form in forms:
            parts = SLOT.split(form)
            demand(sorted(parts[1::2]) == sorted(SLOTS), "E_SPECS", "a form of a vocabulary has other slots")
            made = (f"(?P<{one}>{SLOTS[one]})" if at % 2 else re.escape(one) for at, one in enumerate(parts))
            self.patterns.append(re.compile("".join(made), re.ASCII))

    def say(self, counterfactual, choice):
        """A claim in words."""
        values = {"counterfactual": counterfactual, "choice": choice}
        return SLOT.sub(lambda slot: values[slot[1]], self.forms[0])

    def parse(self, text):
        """What a claim says; None if it is of no form, or of several."""
        found = [match.groupdict() for match in (one.fullmatch(text) for one in self.patterns) if match]
        return found[0] if len(found) == 1 else None


class Finding:
    """Something that speaks against a document."""

    def __init__(self, name, reason, data=None, severity="fatal", told=None):
        self.name, self.reason, self.data, self.severity, self.told = name, reason, data, severity, told

    def code(self):
        """As notes hold it."""
        return f"{self.name}:{self.reason}"

    def witness(self):
        """As an entry holds it."""
        return witness_of(self.name, self.reason, self.data if self.told is None else self.told, self.severity)

    def rejection(self):
        """As a receipt holds it."""
        return {"gate": self.name, "reason": self.reason, "witness": dict(self.told or {})}


class Ruling:
    """What was ruled about a submission; `scope` is what is granted, None where it is denied."""

    def __init__(self, submission, verdict, findings, codes=(), capability="", scope=None):
        self.submission, self.verdict, self.capability, self.scope = submission, verdict, capability, scope
        self.witnesses = [one.witness() for one in findings]
        self.codes = [*(one.code() for one in findings), *codes]
        denied = scope is None
        self.rejected = [one.rejection() for one in findings if denied and one.severity == "fatal"]


class Admission:
    """The rules of one kernel."""

    def __init__(self, data, invariants, variables, ground, vocabulary):
        """`data` is the governor's `admission`; `invariants` has (name, severity, `judge(state, names)`) of each."""
        if data["document"] != "proposal":
            raise Open("E_REPLAY", f"documents of the schema {data['document']!r} are not made again here")
        self.invariants, self.variables, self.ground, self.vocabulary = invariants, variables, ground, vocabulary
        self.env_text = data["env"]
        self.grants = {name: scope_document(one) for name, one in data.get("grants", {}).items()}
        self.free = {name: scope_document(one) for name, one in data.get("free", {}).items()}

    def gates(self):
        """What can deny a document that fits its schema, and its execution."""
        return [*(name for name, _, _ in self.invariants), "scope", "evaluation", "token"]

    def env(self, state):
        """The environment that a document must show."""
        return self.ground.over(state, self.env_text)

    @staticmethod
    def accepts(document):
        """Whether a document fits its schema."""
        return fits_form(document, PROPOSAL)

    def rule(self, state, submission):
        """Rule about whatever was submitted."""
        document = submission.document
        if submission.problem is not None:
            return Ruling(submission, "deny", [Finding("schema", submission.problem)])
        if not self.accepts(document):
            return Ruling(submission, "deny", [Finding("schema", "not_valid", document)])
        try:
            found = self.find(state, submission)
        except (Failed, Unsealable) as error:
            return Ruling(submission, "deny", [Finding("evaluation", error.code)])
        findings = [self.look(one, state, document, found) for one in self.invariants]
        findings = [one for one in findings if one is not None]
        if any(one.severity == "fatal" for one in findings):
            return Ruling(submission, "deny", findings)
        return self.scoped(submission, findings)

    def look(self, invariant, state, document, found):
        """What an invariant finds; one that cannot be evaluated is broken."""
        name, severity, judge = invariant
        try:
            told = judge(state, {"document": document, "found": found})
        except Failed as error:
            return Finding(name, error.code)
        return None if told is None else Finding(name, "broken", None, severity, told)

    def scoped(self, submission, findings):
        """Grant the scope of the plan's first step, cut to what may be granted."""
        op = submission.document["payload"]["plan"]["steps"][0]["op"]
        if op in self.free:
            return Ruling(submission, "allow", findings, (), op, self.free[op])
        for request in submission.document["requested_capabilities"]:
            name, asked = request["capability"], request["scope"]
            if name not in self.grants or op not in asked["allowed_ops"]:
                continue
            scope = narrowed(asked, self.grants[name])
            if scope is not None and op in scope["allowed_ops"]:
                if scope == asked:
                    return Ruling(submission, "allow", findings, (), name, scope)
                return Ruling(submission, "allow_with_constraints", findings, (f"narrowed:{name}",), name, scope)
        return Ruling(submission, "deny", [*findings, Finding("scope", "no_capability", op)])

    def find(self, state, submission):
        """What the kernel itself finds about a document."""
        document, trace = submission.document, submission.document["trace"]
        own, shown = hashed(self.env(state)), hashed(document["env"])
        known = self.variables.names(state)
        masses = [one["prob_mass"] for one in trace["counterfactuals"]]
        return {
            "trace_hash": submission.trace_hash,
            "env_digest": shown,
            "state_digest": own,
            "mass": units_of(masses),
            "mass_in_range": all(0 <= mass <= 1 for mass in masses),
            "snapshots": [self.snapshot(state, known, one) for one in trace["fork_snapshots"]],
            "nodes": sorted({one["id"] for one in trace["nodes"]}),
            "leading": leading(trace),
            "claims": [self.claim(one) for one in trace["causal_claims"]],
            "known": known,
            "step": self.step_label(document["payload"]["plan"]["steps"][0]),
        }

    def snapshot(self, state, known, one):
        """A snapshot's digest, and the kernel's own; empty where a variable is unknown."""
        focus, expected = one["focus_vars"], ""
        if set(focus) <= set(known):
            expected = hashed(self.variables.normalize(state, focus))
        return {"fork_id": one["fork_id"], "given": one["state_digest"], "expected": expected}

    def claim(self, one):
        """What a claim says, in the words of the vocabulary."""
        said = self.vocabulary.parse(one["expected_effect_on_choice"])
        return {"var": one["var"], **(said or {"counterfactual": "", "choice": ""})}

    def step_label(self, step):
        """The label of a step of a plan; empty where the world has no such action."""
        if "op" in step["args"]:
            return ""
        return self.variables.label({**step["args"], "op": step["op"]}) or ""


def scope_document(grant):
    """A grant as a scope."""
    rate = {"max_calls": grant["max_calls"], "per_ms": grant["per_ms"]}
    return {"allowed_ops": list(grant["allowed_ops"]), "rate_limit": rate, "expiry_ms": grant["expiry_ms"]}


def request_of(grants, wanted):
    """What an agent asks for by an action: as much as is granted, or what it wants instead."""

    def asks(action):
        granted = grants.get(action["op"])
        if granted is None:
            return None
        rate = granted["rate_limit"]
        scope = {
            "allowed_ops": [action["op"]],
            "rate_limit": {
                "max_calls": wanted.get("max_calls") or rate["max_calls"],
                "per_ms": wanted.get("per_ms") or rate["per_ms"],
            },
            "expiry_ms": wanted.get("expiry_ms") or granted["expiry_ms"],
        }
        return {"capability": action["op"], "scope": scope, "justification": "the first step of the plan"}

    return asks


def leading(trace):
    """The nodes from which the last one can be reached, itself among them."""
    known, before = {one["id"] for one in trace["nodes"]}, {}
    for one in trace["edges"]:
        before.setdefault(one["to"], []).append(one["from"])
    reached, waiting = set(), [trace["nodes"][-1]["id"]]
    while waiting:
        one = waiting.pop()
        if one in known and one not in reached:
            reached.add(one)
            waiting += before.get(one, ())
    return sorted(reached)


# The sources of a bundle, resolved again: they give exactly the specs that are recorded, and nothing of them is idle.
#
# Nothing is read but the listed files. What differs refutes the evidence; what is written in a way that this file does
# not judge is not checked, and that is said.

SOURCES_CHECK = "the sources of the specs give these specs"
MOST_LINKS_OF_A_CHAIN, MOST_INSIDE = 32, 32
ENDINGS = (".yaml", ".yml")
SPEC_HEAD = re.compile(r"([a-z][a-z0-9_-]*)/v1")


class Sources:
    """Resolves the documents of a bundle: `files` are their bytes by their paths, `origin` says how."""

    def __init__(self, origin, files):
        self.origin, self.files = origin, files
        self.links = {(one["from"], one["kind"], one["target"]): one["to"] for one in origin["links"]}
        self.idle = set(self.links)
        self.read, self.merged, self.done, self.specs, self.inside = {}, {}, {}, {}, []

    def document(self):
        """What they give, as specs.json holds it."""
        given, changes = {}, []
        for steps, value in map(read_change, self.origin["set"]):
            if len(steps) == 2 and steps[0] == "with":
                given[steps[1]] = value
            elif steps[0] in ("with", "extends", "params", "matrix"):
                unreadable(f"{steps[0]} is no part of a resolved spec")
            else:
                changes.append((steps, value))
        main = self.origin["main"]
        params, matrix, _ = self.template(main)
        cases = cases_of(matrix, params)
        if any(name in case for case in cases.values() for name in given):
            unreadable("a change gives an axis of the matrix")
        if self.origin["case"] not in cases:
            unreadable(f"there is no case {self.origin['case']!r}")
        root = self.spec(main, {**given, **cases[self.origin["case"]]}, tuple(changes))
        unread = sorted(set(self.files) - set(self.read))
        if unread or self.idle:
            unreadable(f"nothing leads to {unread[0] if unread else sorted(self.idle)[0][2]}")
        return {"root": root, "specs": self.reached(root)}

    def reached(self, root):
        """The specs that one needs, directly or not, by their keys."""
        made, todo = {}, [root]
        while todo:
            key = todo.pop()
            if key not in made:
                made[key], needed = self.specs[key]
                todo += needed
        return made

    # Documents

    def parsed(self, path):
        """A document with a right head."""
        if path not in self.read:
            value = read_yaml(self.files[path], path)
            head = value.get("spec") if isinstance(value, dict) else None
            match = SPEC_HEAD.fullmatch(head) if isinstance(head, str) else None
            known = match is not None and (match[1], "Document") in SHAPES
            if not known or next(iter(value)) != "spec" or "name" not in value:
                unreadable(f"{path} has no head of a spec")
            if match[1] != path.partition("/")[0]:
                unreadable(f"{path} is of the kind {match[1]}")
            BUDGET.spend(len(self.files[path]) // 10)
            self.read[path] = value
        return self.read[path]

    def found(self, target, kind):
        """The path of the document that a reference leads to; its name is that of the reference."""
        source = target.file if getattr(target, "file", None) in self.files else self.origin["main"]
        own = next((path for path in (f"{kind}/{target}{end}" for end in ENDINGS) if path in self.files), None)
        place = (source, kind, str(target))
        self.idle.discard(place)
        path = self.links.get(place, own)
        if path is None or (place in self.links and path == own):
            unreadable(f"the reference {target[:80]!r} leads nowhere, or the link that it follows says nothing")
        name = self.parsed(path)["name"]
        meant = target.endswith(ENDINGS) or not isinstance(name, str) or name == target
        if path.partition("/")[0] != kind or not meant:
            unreadable(f"{path} is not what {target[:80]!r} refers to")
        return path

    def whole(self, path, chain=()):
        """A document laid over what it extends."""
        if path not in self.merged:
            value = self.parsed(path)
            if "extends" in value:
                target = value["extends"]
                if not isinstance(target, str):
                    unreadable(f"{path} extends what is no name")
                base = self.found(target, path.partition("/")[0])
                if base in (*chain, path) or len(chain) >= MOST_LINKS_OF_A_CHAIN - 1:
                    unreadable(f"{path} extends itself, or too many others")
                value = laid_over(self.whole(base, (*chain, path)), value)
                value = {key: one for key, one in value.items() if key != "extends"}
            self.merged[path] = value
        return self.merged[path]

    def template(self, path):
        """The parameters, the matrix and the rest of a document."""
        rest = dict(self.whole(path))
        params, matrix = rest.pop("params", None), rest.pop("matrix", None)
        return declared_params(params), matrix, rest

    # Specs

    def spec(self, path, given, changes):
        """The key of the spec that a document becomes with these arguments and changes."""
        params, _, rest = self.template(path)
        values = bound_params(params, given, path)
        identity = (path, same_arguments(values), repr(changes))
        if identity not in self.done:
            self.inside.append(path)
            self.done[identity] = self.made(path, filled_in(rest, values), changes)
            self.inside.pop()
        return self.done[identity]

    def made(self, path, root, changes):
        """The key of the spec that a filled-in document becomes with these changes."""
        kind = path.partition("/")[0]
        for steps, value in changes:
            root = changed_at(root, [("@Document", None)], kind, steps, value)
        needed = []
        root = self.with_keys(root, "@Document", kind, needed)
        data = resolved_mapping(root, "Document", kind)
        text = write(data)
        BUDGET.spend(len(text) // 10)
        key = f"{kind}/{data['name']}@{tagged('spec', text)[:16]}"
        self.specs[key] = data, needed
        return key

    def with_keys(self, value, shape, kind, needed):
        """A value with the keys of specs in place of references; the keys are added to `needed`."""
        if isinstance(value, list):
            inner = inner_shapes(shape, "[")
            return [self.with_keys(one, inner[0], kind, needed) for one in value] if inner else value
        if not isinstance(value, dict):
            return value
        made = dict(value)
        names, inner = mappings_in(shape), inner_shapes(shape, "{")
        for key, member in value.items():
            for name in names:
                within = shape_of_key(kind, name, key)
                meant = REFERENCES.get(place_name(kind, name, key))
                if meant is not None and within is not None:
                    listed = isinstance(member, list) and inner_shapes(within, "[")
                    follow = [self.followed(one, meant, needed) for one in member] if listed else None
                    made[key] = follow if listed else self.followed(member, meant, needed)
                    break
                if within is not None:
                    made[key] = self.with_keys(member, within, kind, needed)
                    break
            else:
                made[key] = self.with_keys(member, inner[0], kind, needed) if inner else member
        return made

    def followed(self, value, kind, needed):
        """The key of the spec that a reference leads to; what is no reference stays what it is."""
        changes = value.changes if isinstance(value, Handed) else ()
        value = value.value if isinstance(value, Handed) else value
        used = used_with(value)
        if used is None:
            return value
        path = self.found(used[0], kind)
        if path in self.inside or len(self.inside) >= MOST_INSIDE:
            unreadable(f"{path} refers to itself, or references are nested too deeply")
        if self.template(path)[1] is not None:
            unreadable(f"{path} is referred to, and has a matrix")
        needed.append(self.spec(path, used[1], changes))
        return needed[-1]


def sources_again(bundle):
    """The sources have their form, and give the specs that are recorded."""
    origin, code = check_sources(bundle), "E_SOURCES"
    if bundle.manifest["engine"]["version"] != KNOWN_VERSION:
        raise Open(code, f"they were resolved by version {bundle.manifest['engine']['version']}, unknown to this file")
    names = [path for path in bundle.sources if path != ORIGIN]
    files = {path[len("specs/") :]: plain(bundle.place / path, code, MEBI) for path in names}
    try:
        made = Sources(origin, files).document()
    except CRASHES as error:
        raise Open(code, f"this file cannot resolve them: {error!r}"[:200]) from None
    demand(write(made) == write(bundle.specs), code, "they give other specs than those that are recorded")


# One bundle, checked in the order in which its parts rest on one another.


class Bundle:
    """One folder, checked in the order in which its parts rest on one another."""

    VERSION = re.compile(r"[0-9]{1,9}(\.[0-9]{1,9}){0,3}([-.+]?[a-z0-9]{1,20}){0,3}")
    KEYS = {"format", "run", "specs", "result", "receipts", "files", "engine", "evaluator"}

    def __init__(self, place, inner=False):
        self.place, self.inner = place, inner
        self.note, self.envelopes, self.specs, self.tape = None, {}, None, None
        self.attached, self.unmade, self.sources = [], [], None
        self.inside = {}

    def checks(self):
        """What is checked of it, in order: a name and a function."""
        yield "the manifest is canonical and of a known format", self.read_manifest, "E_MANIFEST"
        yield "every file is listed, whole and unchanged", self.check_files, "E_FILES"
        yield "receipts form one chain of lines", self.check_chain, "E_LINE"
        yield "head, count and Merkle root are those of the manifest", self.check_head, "E_HEAD"
        yield (
            "each receipt goes on from those before it, and decisions match their commitments",
            self.check_receipts,
            "E_LINE",
        )
        yield "the result is what the receipts add up to", self.check_result, "E_RESULT"
        if self.cases or may_fail(self.kind, self.order.result.made()):
            yield "failing cases are those that the receipts show", lambda: check_cases(self), "E_COUNTEREXAMPLES"
        yield "the specs are those that the run names", self.check_specs, "E_SPECS"
        if self.sources:
            yield SOURCES_CHECK, lambda: sources_again(self), "E_SOURCES"
        if TAPE in self.listed:
            yield "the tape is one", self.check_tape, "E_TAPE_FORM"
        if self.order.entries or LOG in self.listed:
            yield (
                "the audit log is whole, and ends with the entries of the run",
                lambda: check_log(self),
                "E_AUDIT_LINE",
            )
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
        check_evaluator(manifest)
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
        self.sources, self.cases = sorted_out(paths)
        wanted = [*self.listed, *(f"{place}/{MANIFEST}" for place in self.held), *self.sources, *self.cases]
        same = paths == sorted(set(wanted), key=str.encode)
        demand(same, "E_FILES", "the manifest lists other files than there must be, or out of order")
        check_folders(self.place, [*self.sources, *self.cases])
        names = sorted(entry.name for entry in os.scandir(self.place))
        self.attached = [] if self.inner else [name for name in ATTACHED if name in names]
        folders = [folder for folder in FOLDERS if self.kind == "suite" and folder in names]
        folders += ["specs"] * bool(self.sources) + ["counterexamples"] * bool(self.cases)
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

    def check_chain(self):
        """Every line is a receipt in canonical form, and follows the one before it."""
        run, head, tree, count = self.manifest["run"], ZEROS, Tree(), 0
        for line in self.lines():
            receipt = read(line, "E_LINE", f"line {count + 1}")
            shaped = isinstance(receipt, dict) and receipt.keys() == {"body", "prev", "run", "seq", "type"}
            demand(shaped and isinstance(receipt["type"], str), "E_LINE", f"line {count + 1} is no receipt")
            follows = receipt["run"] == run and number(receipt["seq"], count) and receipt["prev"] == head
            demand(follows, "E_CHAIN", f"receipt {count} does not follow the one before it")
            head = hashlib.sha256(b"\0" + line).hexdigest()
            tree.add(line)
            count += 1
        self.head = {"count": count, "head": head, "root": tree.root()}

    def check_receipts(self):
        """Every receipt goes on with what those before it told."""
        kind = ""
        for count, line in enumerate(self.lines()):
            receipt = json.loads(line)
            kind = receipt["type"]
            demand((kind == "start") == (count == 0), "E_ENDS", f"receipt {count} is {kind!r}")
            self.order.add(kind, receipt["body"])
            if count == 0:
                self.named = receipt["body"]["specs"]
        demand(kind == "end", "E_ENDS", "the last receipt is no `end`" if kind else "there are no receipts")

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
        self.specs = specs

    def check_tape(self):
        """Every line is an answer of its form; whether it is the one that was asked for, replay tells."""
        code, count, self.tape = "E_TAPE_FORM", 0, []
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
                self.tape.append(document)
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

    def check_runs(self):
        """Every bundle inside is whole, and each is one that a receipt of the suite speaks of, and speaks truly."""
        told = self.order.runs
        demand(sorted(told) == self.held, "E_RUNS", "the suite speaks of other runs than it holds")
        for place, path in enumerate(self.held, 1):
            PROGRESS.tell("files of run", place, len(self.held))
            BUDGET.part()
            inner = self.inside[path] = Bundle(self.place / path, inner=True)
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
            stated = statements(self.manifest, self.bytes())
            self.envelopes = {name: self.envelope(name, made) for name, made in stated.items()}
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
            check_words(self, text, hashlib.sha256(self.bytes()).hexdigest())

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


# Evaluates expressions of specs (CEL profile v1): what each operator and macro does to values.
#
# `evaluate(parse(text), names, functions)`. Values are ints of 64 bits, floats, texts, bools, None, lists and dicts. An
# expression without a value raises `Failed` with the code and the place that a receipt holds. Trees become functions
# of a context and of local names once, so that a loop does not look at tree nodes. All work counts against `BUDGET`.

MOST_WORK, MOST_CALLS = 2_000_000, 100


class View(dict):
    """A record with values that follow from its fields, read like fields: `derived` is `{name: tree}`."""

    __slots__ = ("derived", "functions", "known", "outer")

    def __init__(self, fields, derived, outer, functions):
        super().__init__(fields)
        self.derived, self.outer, self.functions, self.known = derived, outer, functions, {}

    def __missing__(self, name):
        """A derived value, computed once; else what is visible beside the record, such as constants."""
        if name not in self.derived:
            return self.outer[name]
        if name not in self.known:
            self.known[name] = Context(self, self.functions).call(self.derived[name], (), ())
        return self.known[name]


class Context:
    """One evaluation: the names and functions that are visible, and the work that it has done."""

    __slots__ = ("calls", "functions", "names", "work")

    def __init__(self, names, functions):
        self.names, self.functions, self.calls, self.work = names, functions, 0, 0

    def spend(self, nodes):
        """Do so much work. An evaluation is bounded too, and the engine counts a little otherwise: near that, stop."""
        BUDGET.spend(nodes)
        self.work += nodes
        if self.work > MOST_WORK:
            raise Open("E_WORK", "an expression takes about as much work as one may")

    def call(self, tree, params, args):
        """The value of the body of a function, in which nothing but its parameters is local."""
        self.calls += 1
        if self.calls > MOST_CALLS:
            raise Open("E_SPECS", "functions call one another too deep")
        self.spend(tree.weight)
        try:
            return runner(tree, params)(self, dict(zip(params, args)))
        except Failed as failed:
            if failed.text is None:
                failed.text = tree.text
            raise
        finally:
            self.calls -= 1


def evaluate(tree, names, functions=None):
    """The value of a parsed expression.

    Args:
        tree: What `parse` made.
        names: A mapping of everything visible: variables, constants.
        functions: Functions of specs, `{name: (params, tree)}`, and further native ones, `{name: callable}`.
    """
    return Context(names, functions or {}).call(tree, (), ())


def runner(tree, params):
    """The function of a tree: of a context and local names; made once for each list of parameters."""
    made = tree.runs.get(params)
    if made is None:
        made = tree.runs[params] = compiled(tree.root, frozenset(params))
    return made


def compiled(node, local):
    """The function of a node; `local` are the names that macros and parameters give."""
    return FORMS[node[0]](node, local)


def placed_at(failed, start):
    """Say where an evaluation failed, unless that is known."""
    if failed.offset is None:
        failed.offset = start
    return failed


def compile_literal(node, local):
    value = node[2]
    return lambda context, names: value


def compile_name(node, local):
    name, start = node[2], node[1]
    if name in local:
        return lambda context, names: names[name]

    def read_name(context, names):
        try:
            return context.names[name]
        except KeyError:
            raise Open("E_SPECS", f"the name {name} means nothing to this file (at {start})") from None

    return read_name


def selected(value, key, start):
    """`value.key`, of a map, a record, or a record with derived values."""
    if isinstance(value, dict):
        if key in value:
            return value[key]
        if isinstance(value, View) and key in value.derived:
            return value[key]
        raise Failed("E_EVAL_NO_SUCH_KEY", start)
    raise Failed("E_EVAL_TYPE", start)


def compile_select(node, local):
    start, key = node[1], node[3]
    operand = compiled(node[2], local)
    return lambda context, names: selected(operand(context, names), key, start)


def compile_has(node, local):
    start, key = node[1], node[3]
    operand = compiled(node[2], local)

    def has(context, names):
        value = operand(context, names)
        if not isinstance(value, dict):
            raise Failed("E_EVAL_TYPE", start)
        return key in value or (isinstance(value, View) and key in value.derived)

    return has


def compile_index(node, local):
    start = node[1]
    operand, index = compiled(node[2], local), compiled(node[3], local)

    def item(context, names):
        value, at = operand(context, names), index(context, names)
        if isinstance(value, list):
            at = int(at) if type(at) is float and at.is_integer() else at
            if type(at) is not int:
                raise Failed("E_EVAL_TYPE", start)
            if 0 <= at < len(value):
                return value[at]
            raise Failed("E_EVAL_INDEX", start)
        if isinstance(value, dict):
            found = member_of(at, value)
            if found is not None:
                return value[found[0]]
            if isinstance(value, View) and type(at) is str and at in value.derived:
                return value[at]
            raise Failed("E_EVAL_NO_SUCH_KEY", start)
        raise Failed("E_EVAL_TYPE", start)

    return item


def compile_unary(node, local):
    start, operator = node[1], node[2]
    operand = compiled(node[3], local)

    def negated(context, names):
        value = operand(context, names)
        if operator == "!":
            if type(value) is bool:
                return not value
        elif type(value) is int:
            return checked_int(-value, start)
        elif type(value) is float:
            return -value
        raise Failed("E_EVAL_TYPE", start)

    return negated


def compile_binary(node, local):
    start, operator = node[1], node[2]
    first, second, apply = compiled(node[3], local), compiled(node[4], local), OPERATIONS[operator]

    def operation(context, names):
        a, b = first(context, names), second(context, names)
        if type(b) is list:
            context.spend(len(b))
        return apply(a, b, start)

    return operation


def decide(deciding, results, context, start):
    """The first operand that decides wins, whatever failed before it; else the first failure; else the other bool."""
    first = None
    for run, names, begin in results:
        try:
            value = run(context, names)
            if type(value) is not bool:
                raise Failed("E_EVAL_TYPE", begin)
        except Limited:
            raise
        except Failed as failed:
            first = first or failed
            continue
        if value is deciding:
            return deciding
    if first is not None:
        raise first
    return not deciding


def compile_logic(node, local):
    start, deciding = node[1], node[2] == "||"
    operands = [(compiled(one, local), one[1]) for one in node[3]]
    return lambda context, names: decide(deciding, ((run, names, at) for run, at in operands), context, start)


def test(run, context, names, start):
    """A condition, which must be a bool."""
    value = run(context, names)
    if type(value) is bool:
        return value
    raise Failed("E_EVAL_TYPE", start)


def compile_choice(node, local):
    start = node[2][1]
    condition, then, other = (compiled(one, local) for one in node[2:5])
    return lambda context, names: (then if test(condition, context, names, start) else other)(context, names)


def compile_list(node, local):
    items = [compiled(one, local) for one in node[2]]
    return lambda context, names: [run(context, names) for run in items]


def compile_map(node, local):
    entries = [(compiled(key, local), compiled(value, local), key[1]) for key, value in node[2]]

    def record(context, names):
        made = {}
        for key_of, value_of, start in entries:
            key = key_of(context, names)
            if key in made:
                raise Failed("E_EVAL_ARGUMENT", start)
            made[key] = value_of(context, names)
        return made

    return record


def compile_macro(node, local):
    _, start, kind, target_node, name, wanted_node, body_node = node
    target, inside = compiled(target_node, local), local | {name}
    body, at = compiled(body_node, inside), body_node[1]
    wanted = None if wanted_node is None else compiled(wanted_node, inside)
    weight = node_count(body_node) + (node_count(wanted_node) if wanted_node else 0)

    def loop(context, names):
        items = target(context, names)
        if type(items) is not list and (not isinstance(items, dict) or kind in ("map", "filter")):
            raise Failed("E_EVAL_TYPE", start)
        context.spend(len(items) * weight)
        scope = {**names}

        def each():
            for value in items:
                scope[name] = value
                yield value

        if kind in ("all", "exists"):
            return decide(kind == "exists", ((body, scope, at) for _ in each()), context, start)
        if kind == "exists_one":
            return [test(body, context, scope, at) for _ in each()].count(True) == 1
        if kind == "filter":
            return [value for value in each() if test(body, context, scope, at)]
        if wanted is None:
            return [body(context, scope) for _ in each()]
        return [body(context, scope) for _ in each() if test(wanted, context, scope, wanted_node[1])]

    return loop


def dotted_name(node):
    """`a.b` where a node is names and dots, else None."""
    if node[0] == "select":
        before = dotted_name(node[2])
        return None if before is None else f"{before}.{node[3]}"
    return node[2] if node[0] == "name" else None


def cells_in(value):
    """The elements of a list, and of the lists in it: what a function may look at."""
    return len(value) * (len(value[0]) if value and type(value[0]) is list else 1)


def compile_call(node, local):
    _, start, name, target, args = node
    native, known_as = None, name
    if target is not None:
        prefix = dotted_name(target)
        if prefix is not None and prefix.split(".")[0] not in local and f"{prefix}.{name}" in FUNCTIONS:
            known_as = f"{prefix}.{name}"
            native = FUNCTIONS[known_as]
        elif name in METHODS:
            native, args = METHODS[name], (target, *args)
        else:
            raise NoExpression(f"there is no method {name}", name)
    given, own = [compiled(one, local) for one in args], native or FUNCTIONS.get(name)

    def call(context, names):
        values = [one(context, names) for one in given]
        function = native or context.functions.get(name) or own
        if function is None:
            raise Open("E_SPECS", f"the function {name} means nothing to this file")
        if type(function) is tuple:
            params, tree = function
            if len(params) != len(values):
                raise Open("E_SPECS", f"the function {name} has another number of arguments")
            return context.call(tree, params, values)
        if function is own and not takes(known_as, values):
            raise Failed("E_EVAL_TYPE", start)
        work = 0
        for one in values:
            work += cells_in(one) if type(one) is list else 1
        context.spend(work)
        try:
            return function(*values)
        except Failed as failed:
            raise placed_at(failed, start) from None
        except CRASHES as error:
            raise Open("E_SPECS", f"the function {name} cannot take such values: {error!r}"[:200]) from None

    return call


FORMS = {
    "literal": compile_literal,
    "name": compile_name,
    "select": compile_select,
    "has": compile_has,
    "index": compile_index,
    "unary": compile_unary,
    "binary": compile_binary,
    "logic": compile_logic,
    "choice": compile_choice,
    "list": compile_list,
    "map": compile_map,
    "macro": compile_macro,
    "call": compile_call,
}


# What specs declare: types, constants, named expressions in the order in which they read one another.
#
# A type is a tuple: ("int", least, greatest), ("bool",), ("string",), ("double",), ("list", item, most), ("map",
# value),
# ("record", {name: type}, optional names).

INT_TYPE = ("int", -(2**63), 2**63 - 1)
CELL_TYPE = ("record", {"x": INT_TYPE, "y": INT_TYPE}, frozenset())
NAMED_TYPES = {
    "int": INT_TYPE,
    "qfixed": INT_TYPE,
    "bool": ("bool",),
    "string": ("string",),
    "double": ("double",),
    "cell": CELL_TYPE,
    "field": ("list", ("list", INT_TYPE, 256), 256),
}
SCALAR_CLASSES = {"bool": bool, "string": str, "double": float}
DEEPEST_TYPE = 32


def read_type(spec, named=None, depth=0):
    """The type that a spec writes: a name, or a schema."""
    demand(depth <= DEEPEST_TYPE, "E_SPECS", "types name one another too deep")
    if isinstance(spec, str):
        if spec in NAMED_TYPES:
            return NAMED_TYPES[spec]
        demand(spec in (named or {}), "E_SPECS", f"there is no type {spec!r}")
        return read_type(named[spec], named, depth + 1)
    if "enum" in spec:
        values = spec["enum"]
        return ("int", min(values), max(values)) if type(values[0]) is int else ("string",)
    kind = spec.get("type")
    if kind == "array" or "items" in spec:
        return ("list", read_type(spec.get("items", "int"), named, depth + 1), spec.get("maxItems", 65_536))
    if "additionalProperties" in spec:
        return ("map", read_type(spec["additionalProperties"], named, depth + 1))
    if kind == "object" or "properties" in spec:
        fields = {name: read_type(one, named, depth + 1) for name, one in spec.get("properties", {}).items()}
        return ("record", fields, frozenset(fields) - frozenset(spec.get("required", fields)))
    if kind == "integer":
        return ("int", spec.get("minimum", INT_TYPE[1]), spec.get("maximum", INT_TYPE[2]))
    names = {"boolean": "bool", "string": "string", "number": "double"}
    demand(kind in names, "E_SPECS", "a schema names no type")
    return (names[kind],)


def allowed_values(spec, named=None):
    """The values of a type that lists them, else None."""
    while isinstance(spec, str) and spec not in NAMED_TYPES:
        spec = (named or {})[spec]
    return None if isinstance(spec, str) else spec.get("enum")


def fits(value, type_):
    """Whether a value is of a type, ranges and sizes included."""
    kind = type_[0]
    if kind == "int":
        return type(value) is int and type_[1] <= value <= type_[2]
    if kind == "list":
        BUDGET.spend(len(value) if type(value) is list else 1)
        return type(value) is list and len(value) <= type_[2] and all(fits(one, type_[1]) for one in value)
    if kind == "map":
        return isinstance(value, dict) and all(type(k) is str and fits(one, type_[1]) for k, one in value.items())
    if kind == "record":
        fields, optional = type_[1:]
        known = isinstance(value, dict) and value.keys() <= fields.keys() and fields.keys() - optional <= value.keys()
        return known and all(fits(one, fields[name]) for name, one in value.items())
    return type(value) is SCALAR_CLASSES[kind]


def constant(value):
    """The value of a constant."""
    if isinstance(value, dict):
        return from_decimals(value["qfixed"]) if "qfixed" in value else float(value["$double"])
    return [constant(one) for one in value] if isinstance(value, list) else value


def from_decimals(text):
    """Millionths of a decimal number."""
    sign = -1 if str(text).startswith("-") else 1
    whole, _, rest = str(text).lstrip("-").partition(".")
    demand(whole.isdigit() and len(rest) <= 26 and not rest[6:].strip("0"), "E_SPECS", f"{text!r} is no fixed point")
    return sign * (int(whole) * 1_000_000 + int((rest + "000000")[:6]))


def expression(value):
    """The tree of an expression as a spec holds it: a text, a number or a boolean."""
    if isinstance(value, dict) and "$double" in value:
        value = value["$double"]
    if isinstance(value, bool):
        value = "true" if value else "false"
    return parse(value if isinstance(value, str) else repr(value))


def functions_of(data):
    """The functions that a spec defines."""
    return {name: (tuple(one["args"]), expression(one["is"])) for name, one in data.get("functions", {}).items()}


def constants_of(data):
    """The constants that a spec defines."""
    return {name: constant(one) for name, one in data.get("constants", {}).items()}


def labelled(data):
    """Expressions under labels, which do not read each other: in the order of their labels."""
    return [(name, expression(data[name])) for name in sorted(data)]


def walked(node):
    """A node and all below it."""
    waiting = [node]
    while waiting:
        one = waiting.pop()
        yield one
        waiting += inner_nodes(one)


def free_names(node):
    """The names that a tree reads from outside of itself; a macro's variable is its own."""
    if node[0] == "name":
        return {node[2]}
    if node[0] == "macro":
        inside = free_names(node[6]) | (free_names(node[5]) if node[5] else set())
        return free_names(node[3]) | (inside - {node[4]})
    return set().union(*(free_names(one) for one in inner_nodes(node)))


def names_read(tree, functions):
    """The names that an expression reads, itself or through the functions that it calls."""
    read, followed, waiting = set(), set(), [(tree, ())]
    while waiting:
        one, params = waiting.pop()
        read |= free_names(one.root) - set(params)
        called = {node[2] for node in walked(one.root) if node[0] == "call"} & functions.keys()
        for name in sorted(called - followed):
            followed.add(name)
            if type(functions[name]) is tuple:
                waiting.append(functions[name][::-1])
    return read


def ordered_lets(data, functions):
    """Named expressions, each after those that it reads, by name where that leaves a choice."""
    trees = {name: expression(one) for name, one in data.items()}
    reads = {name: names_read(tree, functions) & trees.keys() for name, tree in sorted(trees.items())}
    ordered = []
    while len(ordered) < len(reads):
        ready = [name for name in reads if name not in ordered and reads[name] <= set(ordered)]
        demand(ready, "E_SPECS", f"expressions read each other in a circle: {sorted(reads)}")
        ordered += ready
    return [(name, trees[name]) for name in ordered]


class Names(dict):
    """Names of a place: its own ones, and those that are visible around it."""

    __slots__ = ("around",)

    def __init__(self, own, around):
        super().__init__(own)
        self.around = around

    def __missing__(self, name):
        return self.around[name]


def bind_lets(names, lets, functions):
    """Evaluate named expressions in order; the names come to stand for their values."""
    for name, tree in lets:
        names[name] = evaluate(tree, names, functions)


def valued(labels, names, functions):
    """The values of labelled expressions."""
    return {name: evaluate(tree, names, functions) for name, tree in labels}


def fitting(labels, types, names, functions):
    """The same, each of a declared type."""
    made = {}
    for name, tree in labels:
        made[name] = of_type(evaluate(tree, names, functions), types[name], tree)
    return made


def of_type(value, type_, tree):
    """A value of a declared type; one that leaves it has failed where the expression begins."""
    if not fits(value, type_):
        raise Failed("E_EVAL_STATE", 0, tree.text)
    return value


def a_bool(value):
    """A condition's value."""
    if type(value) is not bool:
        raise Open("E_SPECS", "a condition is no bool")
    return value


# Rankings made again: scores in millionths, the order of laws, what another weight would do (docs/ranking.md).

MILLION = 1_000_000
RANKED_WORD = re.compile(r"(?<![\w.'\"])[A-Za-z_]\w*", re.ASCII)


def millionths(text):
    """A decimal number of a spec, as a whole number of millionths."""
    return int(Fraction(text) * MILLION)


class Ranking:
    """One ranking, ready to score laws."""

    def __init__(self, spec):
        self.functions = {
            name: (tuple(one["args"]), parse(one["is"])) for name, one in spec.get("functions", {}).items()
        }
        self.constants = {name: constant_of(value) for name, value in spec.get("constants", {}).items()}
        self.lets = in_order(spec.get("let", {}))
        self.factors = {}
        for name, one in sorted(spec["factors"].items()):
            weight = millionths(one["weight"]) * (-1 if one.get("subtract") else 1)
            bounds = millionths(one.get("least", "0")), millionths(one.get("most", "1"))
            self.factors[name] = weight, millionths(one.get("start", "0")), bounds, one.get("rules", [])
        self.within = millionths(spec.get("sensitivity", "0.2"))

    def value(self, text, names):
        """The value of an expression; it has none if a name that it reads has none."""
        for word in RANKED_WORD.findall(text):
            if isinstance(names.get(word), Failed):
                raise names[word]
        return evaluate(parse(text), names, self.functions)

    def score(self, facts, warnings):
        """`{scores, overall}` of a law, and the exact sum that decides the order."""
        names = {**self.constants, **facts}
        for name, text in self.lets:
            try:
                names[name] = self.value(text, names)
            except Failed as failed:
                names[name] = failed
        scores, exact = {}, 0
        for factor, (weight, score, (least, most), rules) in self.factors.items():
            for index, rule in enumerate(rules):
                form = next(one for one in ("when", "per", "share") if one in rule)
                try:
                    found = int(self.value(rule[form], names))
                except Failed as failed:
                    said = f"rule {index} of {factor} adds nothing to {facts['law']['id']}: {failed.code}"
                    warnings.append(f"E_RANKING_RULE: {said}")
                    continue
                score += millionths(rule["add"]) * found // (MILLION if form == "share" else 1)
            scores[factor] = min(max(score, least), most)
            exact += weight * scores[factor]
        return {"scores": scores, "overall": exact // MILLION}, exact

    def ranked(self, laws, nearest, memory):
        """The laws in order, each with its scores and the exact sum; and what could not be evaluated."""
        told = {"accepted": "accepted_laws", "falsified": "falsified_laws", "unknown": "unknown_laws"}
        lists = {name: [one["facts"] for one in memory[key]] for name, key in told.items()}
        warnings, scored = [], []
        for law, match in zip(laws, nearest):
            like = {"similarity": match["similarity"], "match_type": match["match_type"]} if match else {}
            facts = {"law": law.facts, **lists, "similarity": 0, "match_type": "", **like}
            scored.append((law, *self.score(facts, warnings)))
        return sorted(scored, key=lambda one: -one[2]), warnings

    def sensitivity(self, scored):
        """For each factor, whether another weight of it would put another law first, and from which change on."""
        told = []
        for factor, (weight, _, _, _) in self.factors.items():
            best = None
            for place, (_, features, exact) in enumerate(scored[1:], 1):
                gain = weight * (scored[0][1]["scores"][factor] - features["scores"][factor])
                root = Fraction(exact - scored[0][2], gain) if gain else None
                if root is not None and root > -1 and (best is None or abs(root) < best[0]):
                    best = abs(root), int(root * MILLION), place
            changes = best is not None and best[0] < Fraction(self.within, MILLION)
            at, law = best[1:] if best else (None, None)
            told.append({"factor": factor, "changes": changes, "at": at, "law": law})
        return told


def constant_of(value):
    """A constant as expressions read it."""
    if isinstance(value, dict):
        if value.keys() == {"qfixed"}:
            return millionths(value["qfixed"])
        if value.keys() == {"$double"}:
            return float(value["$double"])
        raise Open("E_REPLAY", "a constant of a ranking is of a form that is not known here")
    return [constant_of(one) for one in value] if isinstance(value, list) else value


def in_order(lets):
    """Named expressions in an order in which each reads only those before it; of free ones the first by name."""
    left, done = dict(sorted(lets.items())), []
    while left:
        ready = [name for name, text in left.items() if not set(RANKED_WORD.findall(text)) & (left.keys() - {name})]
        if not ready:
            raise Open("E_REPLAY", "the named expressions of a ranking have no order that is seen here")
        done.append((ready[0], left.pop(ready[0])))
    return done


# Ring automata: a universe as its spec says it, one step of a ring, and what can be measured of a state.
#
# A state is a `bytes` of symbol numbers.

MAX_RING_WINDOWS, BYTE_CODES = 65_536, 256
TRANSFORM_CALL = re.compile(r"([A-Za-z]\w*)(?:\(\s*(-?[0-9]{1,9}(?:\s*,\s*-?[0-9]{1,9})*)\s*\))?", re.ASCII)
LET_WORD = re.compile(r"[A-Za-z_]\w*", re.ASCII)


def window_codes(symbols, ring, first, width):
    """The code of each cell's window, which begins so many cells from it and goes around the ring.

    Where every code fits a byte, all cells are computed at once, as the bytes of one large integer: no byte overflows.
    """
    if (first, width) == (0, 1):
        return ring
    size = len(ring)
    turned = [ring[place % size :] + ring[: place % size] for place in range(first, first + width)]
    if symbols**width <= BYTE_CODES:
        codes = 0
        for cells in turned:
            codes = codes * symbols + int.from_bytes(cells, "big")
        return codes.to_bytes(size, "big")
    codes = [0] * size
    for cells in turned:
        codes = [code * symbols + cell for code, cell in zip(codes, cells)]
    return codes


def byte_table(values):
    """What `bytes.translate` takes: a byte for each code, the rest never used."""
    return bytes(values).ljust(BYTE_CODES, b"\0")


class RingRule:
    """A table of next symbols, by the code of (left, self, right)."""

    def __init__(self, symbols, table):
        self.symbols, self.table = symbols, tuple(table)
        self.bytes = byte_table(self.table) if len(self.table) <= BYTE_CODES else None

    def step(self, ring):
        """The ring one step later."""
        codes = window_codes(self.symbols, ring, -1, 3)
        return bytes([self.table[code] for code in codes]) if self.bytes is None else codes.translate(self.bytes)

    def run(self, ring, steps):
        """The states at 0, 1, … steps."""
        states = [ring]
        for _ in range(steps):
            states.append(self.step(states[-1]))
        return states

    def changed(self, number):
        """The rule that differs in one entry: the entries in order, for each the other symbols in order."""
        entry, other = divmod(number, self.symbols - 1)
        table = list(self.table)
        table[entry] = other + (other >= table[entry])
        return RingRule(self.symbols, table)


class Weights(dict):
    """What windows weigh, by code, each computed when it is first asked for."""

    def __init__(self, symbols, width, weigh):
        super().__init__()
        self.symbols, self.width, self.weigh = symbols, width, weigh

    def __missing__(self, code):
        rest, cells = code, []
        for _ in range(self.width):
            rest, cell = divmod(rest, self.symbols)
            cells.append(cell)
        self[code] = self.weigh(cells[::-1])
        return self[code]


class WindowSum:
    """A sum, over all cells, of what the window weighs that begins there; windows go around the ring."""

    def __init__(self, symbols, width, weigh):
        self.symbols, self.width, self.weight = symbols, width, Weights(symbols, width, weigh)

    def weights(self):
        """What every window weighs, by code."""
        return [self.weight[code] for code in range(self.symbols**self.width)]

    def of(self, ring):
        """The sum over a ring."""
        return sum(map(self.weight.__getitem__, window_codes(self.symbols, ring, 0, self.width)))

    def bounds(self, longest):
        """The least and the greatest value on rings of up to so many cells."""
        every = self.weights()
        return min(0, *every) * longest, max(0, *every) * longest


class CellScan:
    """Where cells with certain symbols are, on a ring that is read from cell 0 to the last."""

    def __init__(self, form, wanted):
        self.form, self.wanted, self.marks = form, wanted, byte_table(wanted)

    def of(self, ring):
        """An index, -1 if there is no such cell; or a length."""
        marks = ring.translate(self.marks)
        if self.form == "longest":
            return max(map(len, marks.split(b"\0")))
        first, last = marks.find(1), marks.rfind(1)
        return {"first": first, "last": last, "extent": last - first if first >= 0 else -1}[self.form]

    def bounds(self, longest):
        """The least and the greatest value on rings of up to so many cells."""
        return -1, longest


class RingImage:
    """A change of a ring: reflected if so, then rotated right, then every symbol mapped."""

    def __init__(self, reflect, shift, symbols):
        self.reflect, self.shift, self.symbols, self.bytes = reflect, shift, symbols, byte_table(symbols)

    def of(self, ring):
        """The changed ring."""
        turned = ring[::-1] if self.reflect else ring
        cut = len(ring) - self.shift % len(ring)
        return (turned[cut:] + turned[:cut]).translate(self.bytes)


class RingUniverse:
    """A universe, from its spec."""

    def __init__(self, key, data):
        self.key, self.name, self.alphabet = key, data["name"], list(data["alphabet"])
        ring, marks = data["ring"], self.alphabet
        self.shortest, self.longest = ring["min"], ring["max"]
        self.sizes = ring.get("sizes") or usual_sizes(self.shortest, self.longest)
        self.empty = marks.index(data.get("empty") or marks[0])
        self.starts = sorted({marks.index(one) for one in (data.get("starts") or {}).get("symbols") or marks})
        self.generators = {name: data["generators"][name] for name in sorted(data["generators"])}
        self.transforms, self.observables = data.get("transforms") or {}, data["observables"]
        self.interaction, self.measures, self.mutant_runs = data.get("interaction"), {}, {}
        self.rule = RingRule(len(marks), ring_table(marks, data["transition"]))

    def text(self, ring):
        """A state as characters."""
        return "".join(self.alphabet[cell] for cell in ring)

    def measure(self, name, values=()):
        """An observable of the universe with its arguments."""
        key = (name, tuple((type(one).__name__, one) for one in values))
        if key not in self.measures:
            self.measures[key] = self.measured(self.observables[name], list(values))
        return self.measures[key]

    def measured(self, said, values):
        """What a spec of an observable measures."""
        args = dict(zip(sorted(said.get("args") or {}), values))
        demand(len(args) == len(values) == len(said.get("args") or {}), "E_SPECS", "an observable's arguments differ")
        if "scan" in said:
            where = parse(said["where"])
            return CellScan(said["scan"], [ring_value(where, {**args, "self": one}) is True for one in self.alphabet])
        window, body = said["window"], parse(said["count"] if "count" in said else said["sum"])
        width = len(window) if isinstance(window, list) else ring_value(parse(window), args)
        small = type(width) is int and 1 <= width <= 16 and len(self.alphabet) ** width <= MAX_RING_WINDOWS
        demand(small, "E_SPECS", "a window has no cell, or too many contents")

        def weigh(cells):
            marks = [self.alphabet[cell] for cell in cells]
            named = dict(zip(window, marks)) if isinstance(window, list) else {"w": marks}
            return int(ring_value(body, {**args, **named}))

        return WindowSum(len(self.alphabet), width, weigh)

    def image(self, text):
        """The change that a text such as `shift_k(3)` names; None if the universe has no such transform."""
        match = TRANSFORM_CALL.fullmatch(text.strip())
        demand(match, "E_SPECS", f"{text!r} names no transform")
        if match[1] not in self.transforms:
            return None
        said, given = self.transforms[match[1]], [int(one) for one in match[2].split(",")] if match[2] else []
        args = sorted(said.get("args") or {})
        filled = {**(said.get("default") or {}), **dict(zip(args, given))}
        demand(len(given) <= len(args) and set(filled) == set(args), "E_SPECS", "a transform's arguments differ")
        mapped = said.get("map") or {}
        symbols = [self.alphabet.index(mapped.get(one, one)) for one in self.alphabet]
        return RingImage(said.get("reflect", False), ring_value(parse(str(said.get("shift", "0"))), filled), symbols)


def ring_value(tree, names):
    """The value of an expression of a universe; one without a value is in no valid spec."""
    try:
        return evaluate(tree, names)
    except Failed as failed:
        raise Open("E_SPECS", f"an expression of the universe has no value ({failed.code})") from None


def usual_sizes(shortest, longest):
    """Ring lengths that grow by a half, up to 64 cells or twice the shortest."""
    found, size = [], shortest
    while size <= min(longest, max(64, 2 * shortest)):
        found.append(size)
        size = max(size + 1, size * 3 // 2)
    return found


def ring_table(marks, transition):
    """The next symbol of every three, from a number, a table or an expression."""
    if "number" in transition:
        demand(len(marks) == 2, "E_SPECS", "a number says what two symbols do")
        return [transition["number"] >> code & 1 for code in range(8)]
    if "table" in transition:
        return [marks.index(transition["table"]["".join(three)]) for three in product(marks, repeat=3)]
    lets, table = let_order(transition.get("let") or {}), []
    following = parse(transition["next"])
    for three in product(marks, repeat=3):
        names = dict(zip(("left", "self", "right"), three))
        for name, tree in lets:
            names[name] = ring_value(tree, names)
        table.append(marks.index(ring_value(following, names)))
    return table


def let_order(lets):
    """Named expressions, each after those that it names."""
    waiting, order = dict(sorted(lets.items())), []
    while waiting:
        ready = [name for name, text in waiting.items() if not set(LET_WORD.findall(text)) & waiting.keys() - {name}]
        if not ready:
            raise Open("E_SPECS", "named expressions name one another in a way that is not read here")
        order += [(name, parse(waiting.pop(name))) for name in ready]
    return order


# What a certificate is about: conditions on sums over windows, their alternatives, and rings tried one by one.

MOST_RINGS, MOST_WINDOWS, WIDEST, MOST_CLAUSES = 1 << 19, 1 << 14, 14, 1 << 10
DENIED = {"<=": ">", ">": "<=", ">=": "<", "<": ">=", "==": "!=", "!=": "=="}


def certain(holds, message):
    """Refuse a certificate unless something holds."""
    demand(holds, "E_CERTIFICATE", message)


def exactly(value, *names):
    """The values of an object that has exactly these fields."""
    certain(isinstance(value, dict) and value.keys() == {*names}, f"expected the fields {', '.join(names)}")
    return [value[name] for name in names]


def all_integers(value, count):
    """A list of so many integers."""
    shaped = isinstance(value, list) and len(value) == count and all(type(one) is int for one in value)
    certain(shaped, f"expected {count} integers")
    return value


def claim_condition(claim):
    """What a claim about sums says of every t, as a condition."""
    kind = claim["kind"]
    if kind == "always":
        return claim["condition"]
    if kind == "eventually":
        later = [condition_later(claim["consequent"], steps) for steps in range(claim["within"] + 1)]
        return {"or": [{"not": claim["antecedent"]}, {"or": later}]}
    certain(kind in ("conserved", "monotone"), "the claim is not about sums over windows")
    growth = [{"times": times, "observable": claim["observable"], "at": at} for times, at in ((1, 1), (-1, 0))]
    return {"sum": growth, "op": claim.get("direction", "=="), "bound": 0}


def condition_parts(condition):
    """How a condition joins others, and those; of a comparison: `sum` and nothing."""
    if "sum" in condition:
        return "sum", []
    ((name, parts),) = condition.items()
    return name, [parts] if name == "not" else parts


def condition_later(condition, steps):
    """A condition so many steps later; what it says of the initial state stays."""
    name, parts = condition_parts(condition)
    if name == "sum":
        moved = [one if one["at"] is None else {**one, "at": one["at"] + steps} for one in condition["sum"]]
        return {**condition, "sum": moved}
    moved = [condition_later(one, steps) for one in parts]
    return {name: moved[0] if name == "not" else moved}


def condition_terms(condition):
    """Every term of a condition."""
    name, parts = condition_parts(condition)
    found = list(condition["sum"]) if name == "sum" else []
    for one in parts:
        found += condition_terms(one)
    return found


def clauses_of(condition, denied=False):
    """The disjunctive form of a condition or of its denial: clauses of rows (terms, whether ==, bound)."""
    name, parts = condition_parts(condition)
    if name == "not":
        return clauses_of(parts[0], not denied)
    if name != "sum":
        listed = [clauses_of(one, denied) for one in parts]
        found = clauses_joined(listed) if (name == "and") != denied else [one for some in listed for one in some]
        certain(len(found) <= MOST_CLAUSES, "too many clauses")
        return found
    op, bound, up = condition["op"], condition["bound"], condition["sum"]
    op, down = DENIED[op] if denied else op, [{**one, "times": -one["times"]} for one in up]
    if op == "!=":
        return [[(down, False, 1 - bound)], [(up, False, bound + 1)]]
    row = {"<": (down, False, 1 - bound), ">": (up, False, bound + 1), "<=": (down, False, -bound)}
    return [[row.get(op, (up, op == "==", bound))]]


def clauses_joined(listed):
    """One clause of each list together, in every combination, earlier lists varying slowest."""
    found = [[]]
    for some in listed:
        certain(len(found) * len(some) <= MOST_CLAUSES, "too many clauses")
        found = [one + other for one in found for other in some]
    return found


def necklaces(symbols, length):
    """Of rings that are rotations of each other the least one (Fredricksen, Kessler and Maiorana)."""
    word = [0] * length
    while True:
        yield bytes([symbols[one] for one in word])
        last = length - 1
        while True:
            while last >= 0 and word[last] == len(symbols) - 1:
                last -= 1
            if last < 0:
                return
            word[last] += 1
            word[last + 1 :] = [word[place % (last + 1)] for place in range(last + 1, length)]
            if length % (last + 1) == 0:
                break
            last = length - 1


class ProofQuestion:
    """A question, and how it is judged on rings, one after the other."""

    def __init__(self, question, holds=None):
        self.symbols, self.claim = question["rule"]["symbols"], question["claim"]
        self.rule = RingRule(self.symbols, question["rule"]["table"])
        self.shortest, self.longest = question["rings"]
        self.where, self.horizon = question["start"]["where"], question["horizon"]
        symbols = question["start"]["symbols"]
        self.start = list(range(self.symbols)) if symbols is None else sorted(symbols)
        self.every = symbols is None and self.where == {"and": []}
        self.opaque, self.totals, self.spelled = holds, {}, {}
        self.read_claim()

    def words(self, width):
        """Every window of a width, in the order of codes."""
        certain(type(width) is int and 1 <= width <= WIDEST, "the width is out of range")
        certain(self.symbols**width <= MOST_WINDOWS, "too many windows")
        BUDGET.spend(self.symbols**width)
        if width not in self.spelled:
            self.spelled[width] = [bytes(one) for one in product(range(self.symbols), repeat=width)]
        return self.spelled[width]

    def code(self, cells):
        """The code of a window."""
        code = 0
        for cell in cells:
            code = code * self.symbols + cell
        return code

    def inner(self, cells, steps=1):
        """The inner cells of a window some steps later."""
        for _ in range(steps):
            threes = zip(cells, cells[1:], cells[2:])
            cells = bytes(self.rule.table[(a * self.symbols + b) * self.symbols + c] for a, b, c in threes)
        return cells

    def total(self, observable, ring):
        """The value of an observable on a ring."""
        key = (id(observable), ring)
        if key not in self.totals:
            width, weights, constant = exactly(observable, "width", "weights", "constant")
            sums = WindowSum(self.symbols, width, lambda cells: weights[self.code(cells)])
            self.totals[key] = sums.of(ring) + constant
        return self.totals[key]

    def true(self, condition, start, at):
        """Whether a condition holds of an initial state and the states from t on."""
        name, parts = condition_parts(condition)
        if name == "sum":
            found = 0
            for one in condition["sum"]:
                found += one["times"] * self.total(one["observable"], start if one["at"] is None else at[one["at"]])
            return APPLIED[condition["op"]](found, condition["bound"])
        if name == "not":
            return not self.true(parts[0], start, at)
        return (all if name == "and" else any)(self.true(one, start, at) for one in parts)

    def read_claim(self):
        """How an instance is judged: steps that it looks at, whether at the start, whether rotations matter."""
        claim, kind = self.claim, self.claim["kind"]
        self.span, self.from_start, self.rotates = 1, False, True
        if kind == "opaque":
            certain(self.opaque is not None, "an opaque claim needs its judge")
            self.span, self.from_start, self.rotates = claim["span"], claim["from_start"], False
            self.holds = self.opaque
        elif kind == "local":
            trigger, results = claim["trigger"], claim["results"]
            self.holds = lambda _, at: all(new in results for old, new in zip(*at) if old == trigger)
        elif kind == "commutes":
            image = RingImage(claim["reflect"], claim["shift"], claim["map"])
            self.holds = lambda _, at: self.rule.step(image.of(at[0])) == image.of(at[1])
        else:
            said = claim_condition(claim)
            steps = [one["at"] for one in condition_terms(said)]
            self.span, self.from_start = max((one for one in steps if one is not None), default=0), None in steps
            self.holds = lambda start, at: self.true(said, start, at)

    def rings(self, length):
        """The initial states of a length that are tried."""
        all_ = necklaces(self.start, length) if self.rotates else map(bytes, product(self.start, repeat=length))
        for ring in all_:
            BUDGET.spend(length)
            if self.true(self.where, ring, []):
                yield ring

    def failing(self, length):
        """The first ring of a length on which the claim fails earliest, with its t; None if there is none."""
        if not self.from_start:
            return self.failing_of([(ring, ring) for ring in self.rings(length)])
        found = [(one[1], place, one[0]) for place, ring in enumerate(self.rings(length)) if (one := self.first(ring))]
        return (min(found)[2], min(found)[0]) if found else None

    def first(self, ring):
        """A ring on which the claim fails, with the first t at which it does."""
        return self.failing_of([(ring, ring)])

    def failing_of(self, level):
        """Of some rings, step by step together, the first that fails; if every state may be a start, t = 0 is all."""
        seen, t, once = set(), 0, self.every and not self.from_start
        while level and (self.horizon is None or t + self.span <= self.horizon):
            fresh = []
            for state, ring in level:
                if state in seen:
                    continue
                seen.add(state)
                BUDGET.spend(len(state) * (self.span + 1))
                if not self.holds(ring, self.rule.run(state, self.span)):
                    return ring, t
                fresh.append((state, ring))
            level = [] if once else [(self.rule.step(state), ring) for state, ring in fresh]
            t += 1
        return None


# Who is asked for laws, what exactly, and what was answered: identities, questions, the tape, scripts and grammars
# (docs/models.md, docs/prompts.md, docs/discovery.md).

LASTING_FAILURES = ("unauthorised", "invalid", "redirected")
MODEL_FAILURES = {"blocked", "empty", "withheld", "truncated", "malformed", "timed_out", "refused", "cut_off"}
MODEL_FAILURES |= {"rate_limited", "unavailable", "too_large", "exhausted", *LASTING_FAILURES}
MOST_ANSWER, MOST_COST, MOST_DOCUMENTS = 524_288, 40, 100
USAGE_FIGURES = ("prompt_tokens", "output_tokens", "thinking_tokens")
GRAMMAR_PLACE = re.compile(r"\{\{([A-Za-z][A-Za-z0-9_]*)\}\}")


def plain_digest(value):
    """Plain SHA-256 of the canonical form."""
    return hashlib.sha256(write(value)).hexdigest()


# The form of an answer


def answer_form(templates):
    """The JSON Schema that an answer shall conform to, as questions hold its digest."""
    text, number, listed = {"type": "string"}, {"type": "integer"}, lambda one: {"type": "array", "items": one}
    said, orders = {"type": ["string", "number", "boolean"]}, {"type": "string", "enum": list(LAW_ORDERS)}
    equal, node = {"type": "string", "enum": ["==", "!="]}, {"$ref": "#/$defs/node"}

    def shape(required=(), **properties):
        return {"type": "object", "properties": properties, **({"required": list(required)} if required else {})}

    def free(one):
        return {"anyOf": [one, {"type": "null"}]}

    law = shape(
        ("template", "forbidden"),
        schema_version={"type": "string", "enum": ["1.0.0"]},
        law_id=free(text),
        template={"type": "string", "enum": list(templates)},
        quantifiers=shape(T={**number, "minimum": 1, "maximum": BIG}, H=free({**number, "minimum": 0, "maximum": BIG})),
        preconditions=listed({"anyOf": [shape(("lhs", "op", "rhs"), lhs=said, op=orders, rhs=said), said]}),
        observables=listed(shape(("name", "expr"), name=text, expr=said)),
        claim=free(text),
        forbidden=text,
        claim_ast=node,
        transform=free(text),
        direction=free({"type": "string", "enum": ["<=", ">="]}),
        bound_value=free({**number, "minimum": -BIG, "maximum": BIG}),
        bound_op=free(orders),
        trigger_symbol=free(text),
        result_op=free(equal),
        result_symbol=free(text),
        proposed_tests=listed(shape(("family",), family=text, params={"type": "object"})),
        capability_requirements=shape(
            primitive_observables=listed(text), transforms=listed(text), generator_families=listed(text)
        ),
        starts=free(shape(symbols=free(listed(text)))),
    )
    operators = ["+", "-", "*", *LAW_ORDERS, "=>", "and", "or", "not"]
    constant = {"anyOf": [number, {"type": "boolean"}, text]}
    tree = shape(const=constant, obs=text, t={"$ref": "#/$defs/time"}, op={"type": "string", "enum": operators})
    tree["properties"].update(dict.fromkeys(("lhs", "rhs", "arg"), node))
    time = shape(var={"type": "string", "enum": ["t"]}, t_plus_1={"type": "boolean"}, const=number)
    return {**listed(law), "$defs": {"node": tree, "time": time}}


# Questions


class Question:
    """What a model is asked in one iteration."""

    def __init__(self, turn, system, prompt, form, temperature, known):
        self.turn, self.system, self.prompt, self.known = turn, system, prompt, known
        texts = [tagged("text", one.encode(errors="surrogatepass")) for one in (system, prompt)]
        digests = {"system": texts[0], "prompt": texts[1], "schema": form, "known": plain_digest(known)}
        self.document = {"turn": turn, "temperature": temperature, **digests}

    def usage(self, text):
        """The estimate of what a call costs."""
        asked = tokens_of(self.system) + tokens_of(self.prompt)
        figures = {"prompt_tokens": asked, "output_tokens": tokens_of(text), "thinking_tokens": 0}
        return {**figures, "estimated": True}


def answer_of(text, usage, failure=None, detail=""):
    """An answer as a document; one that is too large is a failure."""
    if text is not None and len(write(text)) > MOST_ANSWER:
        text, failure, detail = None, failure or "too_large", detail if failure else ""
    return {"text": text, "failure": failure, "detail": detail[:500], "usage": usage, "finish": None}


def check_answer(answer):
    """An answer on a tape has the form that answers have."""
    code, words = "E_TAPE_FORM", (str, type(None))
    keys = {"text", "failure", "detail", "usage", "finish"}
    demand(isinstance(answer, dict) and answer.keys() == keys, code, "an answer has other fields")
    usage = answer["usage"]
    shaped = isinstance(usage, dict) and usage.keys() == {*USAGE_FIGURES, "estimated"}
    shaped = shaped and all(type(usage[name]) is int and usage[name] >= 0 for name in USAGE_FIGURES)
    demand(shaped and type(usage["estimated"]) is bool, code, "an answer has no usage of tokens")
    shaped = all(isinstance(answer[name], words) for name in ("text", "failure", "finish"))
    demand(shaped and isinstance(answer["detail"], str), code, "an answer is no text")
    text, failure = answer["text"], answer["failure"]
    known = failure in MODEL_FAILURES or (failure is None and text is not None and answer["detail"] == "")
    demand(known and len(answer["detail"]) <= 500, code, "an answer has no such failure")
    small = (text is None or len(write(text)) <= MOST_ANSWER) and len(answer["finish"] or "") <= 64
    demand(small, code, "an answer is too large")


# Models


class Script:
    """A model that follows a script."""

    outside = False

    def __init__(self, spec):
        self.script = spec
        self.identity = {"oracle": "scripted", "script": plain_digest(spec)}

    def ask(self, question):
        """The answer of the first rule that holds, else the turn's own."""
        answers, turn, known = self.script.get("answers", []), question.turn, question.known
        names = {"turn": turn, "prompt": question.prompt, **known}
        for rule in self.script.get("rules", []):
            try:
                holds = evaluate(parse(rule["when"]), names)
            except Failed as failed:
                raise Refuted("E_REPLAY", f"a rule of the script has no value ({failed.code})") from None
            if holds is True:
                return self.rendered(rule["answer"], question)
        if turn >= len(answers):
            then = self.script.get("then", "exhausted")
            if then == "exhausted":
                usage = {**dict.fromkeys(USAGE_FIGURES, 0), "estimated": False}
                return answer_of(None, usage, "exhausted", f"the script has {len(answers)} answers")
            turn = -1 if then == "repeat" else turn % len(answers)
        return self.rendered(answers[turn], question)

    @staticmethod
    def rendered(said, question):
        """What an entry of a script answers."""
        if "failure" in said:
            text = said.get("text")
            return answer_of(text, question.usage(text or ""), said["failure"], said.get("detail", ""))
        times = said.get("times", 1)
        if "text" in said:
            once = said["text"]
        else:
            if b'{"$double":' in write(said["laws"]):
                raise Open("E_REPLAY", "a law of a script holds a number with a point")
            once = write(said["laws"]).decode()[1:-1]
        if len(once) * times > MOST_ANSWER:
            return answer_of(None, question.usage(""), "too_large", f"about {len(once) * times} bytes")
        text = once * times
        if "laws" in said:
            text = f"[{','.join([once] * times)}]" if once else "[]"
        return answer_of(text, question.usage(text))


class Grammar:
    """A model that walks a grammar, the cheap documents first."""

    outside = False

    def __init__(self, spec):
        self.identity = {"oracle": "enumerated", "grammar": plain_digest(spec)}
        self.start, self.known = spec.get("start", "start"), {}
        self.rules = {name: [self.alternative(one) for one in listed] for name, listed in spec["grammar"].items()}

    @staticmethod
    def alternative(said):
        """(document, places, cost) of an alternative."""
        cost = 1
        if isinstance(said, dict) and "is" in said and said.keys() <= {"is", "cost"}:
            said, cost = said["is"], said.get("cost", 1)
        return said, places_in(said), cost

    def count(self, places, cost):
        """In how many ways places are filled at exactly this cost."""
        if not places:
            return int(cost == 0)
        if cost < len(places):
            return 0
        key = places, cost
        if key not in self.known:
            first, rest = places[:1], places[1:]
            if rest:
                ways = sum(self.count(first, c) * self.count(rest, cost - c) for c in range(1, cost - len(rest) + 1))
            else:
                ways = sum(self.count(inner, cost - own) for _, inner, own in self.rules[places[0]])
            self.known[key] = ways
        return self.known[key]

    def document(self, number):
        """The document with a number, or nothing (as an empty list) where there are not so many."""
        for cost in range(1, MOST_COST + 1):
            count = self.count((self.start,), cost)
            if number < count:
                return [self.made(self.start, cost, number)]
            number -= count
        return []

    def made(self, rule, cost, number):
        """Of the documents of a rule at a cost the one with a number."""
        for said, places, own in self.rules[rule]:
            count = self.count(places, cost - own)
            if number < count:
                return refilled(said, iter(self.parts(places, cost - own, number)))
            number -= count
        raise Open("E_REPLAY", "a grammar is counted wrongly here")

    def parts(self, places, cost, number):
        """Of the ways to fill places at a cost the one with a number."""
        found = []
        while places:
            first, places = places[:1], places[1:]
            for part in range(1, cost + 1):
                after = self.count(places, cost - part)
                count = self.count(first, part) * after
                if number < count:
                    break
                number -= count
            which, number = divmod(number, after)
            found.append(self.made(first[0], part, which))
            cost -= part
        return found

    def ask(self, question):
        """The documents from turn * count on."""
        count = min(max(question.known["count"], 1), MOST_DOCUMENTS)
        numbers = range(question.turn * count, (question.turn + 1) * count)
        documents = [one for number in numbers for one in self.document(number)]
        if not documents:
            return answer_of(None, question.usage(""), "exhausted", "the grammar makes no more documents")
        text = write(documents).decode()
        return answer_of(text, question.usage(text))


def places_in(value):
    """The rules that a document names, in order."""
    if isinstance(value, str):
        return tuple(GRAMMAR_PLACE.findall(value))
    inner = [value[key] for key in sorted(value)] if isinstance(value, dict) else value
    return tuple(name for one in inner for name in places_in(one)) if isinstance(inner, list) else ()


def refilled(value, parts):
    """A document with its places filled, in that order."""
    if isinstance(value, str):
        if GRAMMAR_PLACE.fullmatch(value):
            return next(parts)
        return GRAMMAR_PLACE.sub(lambda _: spelled(next(parts)), value)
    if isinstance(value, dict):
        return {key: refilled(value[key], parts) for key in sorted(value)}
    return [refilled(one, parts) for one in value] if isinstance(value, list) else value


def spelled(value):
    return value if isinstance(value, str) else write(value).decode()


class AnswerTape:
    """The answers of a model from outside, as they were recorded."""

    outside = True

    def __init__(self, identity, tape):
        demand(tape is not None, "E_TAPE_MISSING", "the model is outside, and there is no tape of its answers")
        self.identity, self.asked, self.answers = identity, 0, tape[1:]

    def ask(self, question):
        """The answer that was given then, if it was to this very question."""
        turn = question.turn
        key = tagged("request", write({"model": self.identity, "request": question.document}))
        held = turn < len(self.answers) and self.answers[turn]["request"] == key
        demand(held, "E_TAPE_MISSING", f"iteration {turn} asks for something that the tape has no answer to")
        self.asked += 1
        check_answer(self.answers[turn]["answer"])
        return self.answers[turn]["answer"]

    def finish(self):
        """Every answer was asked for."""
        demand(self.asked == len(self.answers), "E_TAPE_EXTRA", f"nobody asks for the answer of iteration {self.asked}")


def model_identity(specs, key):
    """Who answers: what an answer depends on beside the question."""
    spec = specs[key]
    if "cassette" in spec:
        return model_identity(specs, spec["cassette"]["records"])
    if "scripted" in spec:
        return Script(spec["scripted"]).identity
    if "enumerate" in spec:
        return {"oracle": "enumerated", "grammar": plain_digest(spec["enumerate"])}
    usual = {"model": "gemini-2.5-flash", "temperature": "0.7", "top_p": "0.95", "top_k": 40}
    usual.update(max_output_tokens=8192, json_mode=True, thinking_budget=None)
    given = {**usual, **{name: one for name, one in spec["gemini"].items() if name in usual}}
    given.update({name: millionths(given[name]) for name in ("temperature", "top_p")})
    return {"oracle": "gemini", **given}


def open_model(specs, key, tape):
    """Whoever answers in a replay: the tape, given as its documents, or what follows from the specs."""
    spec = specs[key]
    if "scripted" not in spec and "enumerate" not in spec:
        return AnswerTape(model_identity(specs, key), tape)
    demand(tape is None, "E_TAPE_EXTRA", "the answers follow from the specs, and there is a tape of others")
    return Script(spec["scripted"]) if "scripted" in spec else Grammar(spec["enumerate"])


# When two proposed laws are the same, or alike: fingerprints, and the index of known laws (docs/ranking.md).
#
# A law's meaning is a tree of digests in which every integer is a polynomial over what the universe measures. Whether
# two
# laws follow from each other is for a prover to say: a match of that kind is taken from the receipts, never found here.

ONE_WHOLE = 1_000_000
TURNED = {">": "<", ">=": "<="}
COMMUTE, CHAINED = {"+", "*", "and", "or", "==", "!="}, {"+", "*", "and", "or"}
QUOTED_PART = re.compile(r"('[^']*'|\"[^\"]*\")")
SPOKEN = ("template", "quantifiers", "starts", "transform", "direction", "bound_op", "bound_value", "result_op")
MOST_MONOMIALS, MOST_PRODUCTS, MOST_DEGREE = 256, 4096, 16
SAYS = {
    "exact": "the same candidate",
    "fingerprint": "the same meaning, in other words",
    "normalized": "the same text, apart from order, case and white space",
}


def part_digest(parts):
    """The digest of a part of a law."""
    return tagged("law-part", write(parts))[:16]


# Polynomials: {sorted tuple of things that are multiplied: factor}


def joined_sums(op, left, right):
    """+, - or * of two polynomials; None if it becomes too large."""
    if left is None or right is None:
        return None
    found = Counter()
    if op == "*":
        degree = max(map(len, left), default=0) + max(map(len, right), default=0)
        if len(left) * len(right) > MOST_PRODUCTS or degree > MOST_DEGREE:
            return None
        for one, factor in left.items():
            for other, times in right.items():
                found[tuple(sorted(one + other))] += factor * times
    else:
        for things, factor in left.items():
            found[things] += factor
        for things, factor in right.items():
            found[things] += factor if op == "+" else -factor
    kept = {things: factor for things, factor in found.items() if factor}
    return kept if len(kept) <= MOST_MONOMIALS else None


def measure_digest(measure):
    """The digest of a measure of the universe."""
    if isinstance(measure, CellScan):
        return part_digest(["scan", measure.form, *measure.wanted])
    weights = ",".join(f"{one:x}" for one in measure.weights())
    return part_digest(["sum", measure.width, "0", weights])


def expanded(quantity):
    """An observable as a polynomial over measures; None if it becomes too large."""
    if quantity.op == "number":
        return {(): quantity.left} if quantity.left else {}
    if quantity.op == "measure":
        return {(measure_digest(quantity.left),): 1}
    return joined_sums(quantity.op, expanded(quantity.left), expanded(quantity.right))


def structure(quantity):
    """The digest of an observable as it was written."""
    if quantity.op == "number":
        return part_digest(["number", f"{quantity.left:x}"])
    if quantity.op == "measure":
        return measure_digest(quantity.left)
    parts = [structure(quantity.left), structure(quantity.right)]
    return part_digest([quantity.op, *(sorted(parts) if quantity.op in COMMUTE else parts)])


def polynomial(quantity):
    """An observable as a polynomial; one that is too large is one thing of its own."""
    found = expanded(quantity)
    return {(structure(quantity),): 1} if found is None else found


def moment_text(step, fixed):
    """A step as digests spell it."""
    return str(step) if fixed else "t" if step == 0 else f"t+{step}"


class PartTree:
    """Digests of trees, each made of those of its parts, which are counted; `read` gives an observable's polynomial."""

    def __init__(self, read):
        self.read, self.pieces = read, Counter()

    def piece(self, *parts):
        """The digest of a part."""
        made = part_digest(list(parts))
        self.pieces[made] += 1
        return made

    def node(self, node):
        """The digest of a node of a claim."""
        if is_integer(node):
            total = self.total(node)
            if total is not None:
                terms = [self.piece("term", f"{factor:x}", *things) for things, factor in total.items() if factor]
                return self.piece("sum", *sorted(terms))
        if node[0] == "const":
            return self.piece("const", node[1])
        if node[0] == "obs":
            return self.piece("cell", node[1], moment_text(*node[2:]))
        if node[0] == "not":
            return self.piece("not", self.node(node[1]))
        op, left, right = node
        if op in TURNED:
            op, left, right = TURNED[op], right, left
        parts = [self.node(one) for one in (chain(op, node) if op in CHAINED else (left, right))]
        return self.piece(op, *(sorted(parts) if op in COMMUTE else parts))

    def total(self, node):
        """An integer node as a polynomial over what is measured at a step."""
        if node[0] == "const":
            return {(): node[1]}
        if node[0] == "obs":
            at = moment_text(*node[2:])
            return {tuple(sorted(f"{one}@{at}" for one in things)): n for things, n in self.read(node[1]).items()}
        return joined_sums(node[0], self.total(node[1]), self.total(node[2]))


def is_integer(node):
    if node[0] == "const":
        return type(node[1]) is int
    return node[1] not in CELLWISE if node[0] == "obs" else node[0] in SUM_SIGNS


def chain(op, node):
    """The operands of `a op b op c`, however it is bracketed."""
    return chain(op, node[1]) + chain(op, node[2]) if node[0] == op else [node]


def measured_tree(law):
    """A tree in which observables of a law are written out."""
    known = {}

    def read(name):
        if name not in known:
            known[name] = polynomial(law.quantities[name])
        return known[name]

    return PartTree(read)


def measured_digest(law, name):
    """The digest of what an observable of a law measures."""
    return measured_tree(law).node(("obs", name, 0, False))


# Fingerprints


class Looks:
    """What is compared of a law: digests of content, meaning (or normal form), and how often each part occurs."""

    def __init__(self, proposal):
        law = proposal.law
        said = {key: value for key, value in proposal.document.items() if key != "law_id" and value is not None}
        self.id, self.law = proposal.id, law
        self.tiers = [("exact", tagged("law-content", write(said)))]
        if law.unknown is None:
            meaning, self.pieces = meaning_of(law)
            self.tiers.append(("fingerprint", meaning))
        else:
            normal, self.pieces = normal_of(said)
            self.tiers.append(("normalized", normal))
        self.size = sum(self.pieces.values())


def meaning_of(law):
    """The digest of what is judged, and its parts."""
    tree = measured_tree(law)
    antecedent = None if law.antecedent in (None, CLAIM_TRUE) else tree.node(law.antecedent)
    holds = tree.node(law.holds)
    where = None if law.where == CLAIM_TRUE else tree.node(law.where)
    starts = tree.piece("starts", law.universe.key, *law.starts)
    steps = tree.piece("steps", law.first, law.last, law.waits, law.cells)
    image, turned = law.image, None
    if image is not None:
        turned = tree.piece("image", image.reflect, image.shift, *image.symbols)
    meaning = tree.piece("law", starts, steps, where, turned, antecedent, holds)
    tree.piece("template", law.form)
    return meaning, tree.pieces


def plain_text(value):
    """A value with every text in lower case and without white space, except inside quotation marks."""
    if isinstance(value, str):
        halves = QUOTED_PART.split(value)
        return "".join(part if place % 2 else "".join(part.split()).lower() for place, part in enumerate(halves))
    if isinstance(value, dict):
        return {key: plain_text(one) for key, one in value.items()}
    return [plain_text(one) for one in value] if isinstance(value, list) else value


def normal_of(said):
    """The digest of the normal form, and its parts."""
    listed = said.get("observables", [])
    names = [one["name"] for one in listed]
    lowered = {name: name.lower() for name in names}
    if len(set(lowered.values())) < len(names):
        lowered = {name: name for name in names}
    tree = PartTree(lambda name: {(lowered.get(name, name),): 1})
    parts = [tree.piece(key, plain_text(said.get(key))) for key in SPOKEN]
    parts += [said.get("trigger_symbol"), said.get("result_symbol")]
    observed = sorted([lowered[one["name"]], plain_text(one["expr"])] for one in listed)
    parts += [tree.piece("observable", *one) for one in observed]
    parts += sorted(tree.piece("precondition", plain_text(one)) for one in said.get("preconditions", []))
    claim = said.get("claim_ast")
    told = tree.piece("claim", plain_text(said.get("claim"))) if claim is None else tree.node(claim_from_json(claim))
    return tree.piece("law", *parts, told), tree.pieces


def looks_of(proposal):
    """What is compared of a proposal, looked at once."""
    if proposal.looks is None:
        proposal.looks = Looks(proposal)
    return proposal.looks


# Known laws


def match_of(law_id, similarity, form, details):
    return {"matched_law_id": law_id, "similarity": similarity, "match_type": form, "details": details}


class KnownLaws:
    """Laws by what may make another one the same or alike, in the order in which they came."""

    def __init__(self, proposals=()):
        self.looks, self.equal, self.having = [], {}, {}
        for one in proposals:
            self.add(one)

    def add(self, proposal):
        """Learn a law."""
        looks, place = looks_of(proposal), len(self.looks)
        self.looks.append(looks)
        for tier in looks.tiers:
            self.equal.setdefault(tier, place)
        for piece, count in looks.pieces.items():
            self.having.setdefault(piece, []).append((place, count))

    def alike(self, looks, most):
        """Of the first laws, so many: that with most parts in common, as (parts of both, of either, its id)."""
        common, best = Counter(), None
        for piece, count in looks.pieces.items():
            for place, other in self.having.get(piece, ()):
                if place < most:
                    common[place] += min(count, other)
        for place, both in sorted(common.items()):
            either = looks.size + self.looks[place].size - both
            if best is None or both * best[1] > best[0] * either:
                best = both, either, self.looks[place].id
        return best


def same_match(proposal, indexes):
    """The known law that is the same, by its digests; `indexes` are pairs of known laws and how many of them count."""
    for tier in looks_of(proposal).tiers:
        for known, most in indexes:
            place = known.equal.get(tier, most)
            if place < most:
                return match_of(known.looks[place].id, ONE_WHOLE, tier[0], SAYS[tier[0]])
    return None


def near_match(proposal, indexes):
    """The known law that has most in common."""
    found = [known.alike(looks_of(proposal), most) for known, most in indexes]
    best = None
    for one in found:
        if one is not None and (best is None or one[0] * best[1] > best[0] * one[1]):
            best = one
    if best is None:
        return None
    both, either, law_id = best
    return match_of(law_id, ONE_WHOLE * both // either, "near", f"{both} of {either} parts in common")


# Effects: changes of a record that are simultaneous. All right sides read what was before; then changes are made.

EFFECT_KINDS = ("set", "append", "remove", "each", "put")


class Effect:
    """One effect: its kind, where it changes, and its expressions."""

    def __init__(self, data, record_type):
        self.kind = next((kind for kind in EFFECT_KINDS if kind in data), None)
        demand(self.kind is not None, "E_SPECS", "an effect does nothing that is known")
        self.path = data[self.kind].split(".")
        self.type = record_type
        for name in self.path:
            known = self.type[0] == "record" and name in self.type[1]
            demand(known, "E_SPECS", f"there is no field {data[self.kind]} to change")
            self.type = self.type[1][name]
        needed = {"append": "list", "remove": "list", "each": "list", "put": "map"}.get(self.kind, self.type[0])
        demand(self.type[0] == needed, "E_SPECS", f"{data[self.kind]} is no {needed}")
        self.when = None if data.get("when") is None else expression(data["when"])
        self.element = data.get("as")
        self.right = {name: expression(data[name]) for name in ("to", "value", "key") if name in data}
        self.where = expression(data.get("where", "true"))
        self.update = [(name, expression(one)) for name, one in sorted(data.get("update", {}).items())]

    def read(self, names, functions):
        """What is read before anything changes: whether it happens, and the right sides."""
        if self.when is not None and not evaluate(self.when, names, functions):
            return None
        order = {"set": ("to",), "append": ("value",), "put": ("value", "key")}.get(self.kind, ())
        return {name: evaluate(self.right[name], names, functions) for name in order}

    def change(self, old, given, names, functions):
        """The new value of what it changes."""
        if self.kind == "set":
            return of_type(given["to"], self.type, self.right["to"])
        if self.kind == "append":
            item = of_type(given["value"], self.type[1], self.right["value"])
            return of_type([*old, item], self.type, self.right["value"])
        if self.kind == "put":
            return {**old, given["key"]: of_type(given["value"], self.type[1], self.right["value"])}
        kept = []
        inner = Names({}, names)
        BUDGET.spend(len(old))
        for one in old:
            inner[self.element] = one
            if not evaluate(self.where, inner, functions):
                kept.append(one)
            elif self.kind == "each":
                fields = self.type[1][1]
                made = {}
                for name, tree in self.update:
                    made[name] = of_type(evaluate(tree, inner, functions), fields[name], tree)
                kept.append({**one, **made})
        return kept


def effects_of(data, record_type):
    """The effects of a list."""
    return [Effect(one, record_type) for one in data or ()]


def changed(effects, record, names, functions):
    """The record after all effects; `names` are those before them."""
    read = [(effect, effect.read(names, functions)) for effect in effects]
    after = dict(record)
    for effect, given in read:
        if given is not None:
            after = at_path(after, effect.path, lambda old, e=effect, g=given: e.change(old, g, names, functions))
    return after


def at_path(record, path, change):
    """The record with one value changed; records on the way are copied."""
    name = path[0]
    if len(path) == 1:
        return {**record, name: change(record.get(name))}
    return {**record, name: at_path(record[name], path[1:], change)}


# Which data a procedure can depend on, found from its text: what is left is what it declares unused.
#
# A path is a variable and the fields below it: `("next", "self", "x")`. It ends at the first index, macro or whole use
# of
# a value. Functions are followed, a parameter standing for the place that it is given; so are derived values, in their
# record; what a macro goes through is not. A predicted field counts as whatever the actions that change it read, their
# guards included (docs/probes.md).

DEEPEST_READ = 100
CELL_FIELDS = {"x": "int", "y": "int"}


class Records:
    """What lies at a path of a world's state: a record with declared fields and derived values, a map, or else."""

    def __init__(self, specs, data):
        self.specs, self.data = specs, data

    def at(self, path):
        """The fields' names and the derived values of the record at a path from the state; None where is none."""
        here, data = None, self.data
        for key in path:
            if data is not None:
                part = data.get("parts", {}).get(key)
                if part is not None:
                    data, here = self.specs[part["world"]], None
                    continue
                here, named, data = data["state"].get(key), data.get("types", {}), None
            else:
                here = self.fields(here, named).get(key)
            here = self.resolved(here, named)
        if data is not None:
            return {*data["state"], *data.get("parts", {})}, data.get("derived", {}), False
        properties = self.fields(here, named)
        return set(properties), {}, isinstance(here, dict) and "additionalProperties" in here

    @staticmethod
    def resolved(declared, types):
        """A declared type without the names of others."""
        for _ in range(DEEPEST_READ):
            if not isinstance(declared, str) or declared not in types:
                break
            declared = types[declared]
        return declared

    @staticmethod
    def fields(declared, types):
        """The fields of a declared record."""
        declared = Records.resolved(declared, types)
        if declared == "cell":
            return CELL_FIELDS
        return declared.get("properties", {}) if isinstance(declared, dict) else {}


class Reading:
    """Finds the paths that expressions read.

    Attributes:
        functions: Defined functions by name: (parameters, tree).
        constants: Their names.
        records: What lies in the state.
    """

    def __init__(self, functions, constants, records):
        self.functions, self.constants, self.records = functions, constants, records
        self.deep = 0

    def of(self, data, derived=None):
        """The paths that an expression reads, where the names of `derived` are derived values of the state."""
        return self.reads(expression(data).root, {}, ((), derived or {}))

    def reads(self, node, places, inside):
        """The paths that a node reads; `inside` is the record whose fields are names here: (its path, derived)."""
        BUDGET.spend(1)
        found = self.place(node, places, inside)
        if found is not None:
            return found[0]
        if node[0] == "call" and node[3] is None and node[2] in self.functions:
            return self.called(node, places, inside)
        if node[0] == "macro":
            within = {**places, node[4]: None}
            read = self.reads(node[3], places, inside) | self.reads(node[6], within, inside)
            return read | (self.reads(node[5], within, inside) if node[5] is not None else set())
        return set().union(*(self.reads(one, places, inside) for one in inner_nodes(node)))

    def place(self, node, places, inside):
        """(what is read, the path) of a name or a field of one; the path is None where nothing stands for it.

        None for what is no place. A derived value is no place, but what it reads is known: its path is None too.
        """
        form, (prefix, derived) = node[0], inside
        if form == "name":
            return self.name(node[2], places, prefix, derived)
        key = node[3] if form in ("select", "has") else None
        if form == "index" and node[3][0] == "literal" and isinstance(node[3][2], str):
            key = node[3][2]
        if key is None:
            return None
        outer = self.place(node[2], places, inside)
        if outer is None or outer[1] is None:
            return outer if outer is None or form != "has" else (outer[0], None)
        return self.field(form, outer[1], key)

    def name(self, name, places, prefix, derived):
        """What a name stands for."""
        if name in places:
            path = places[name]
            return (set() if path is None else {path}), path
        if name in self.constants:
            return set(), None
        if name in derived:
            return self.through(derived[name], prefix, derived), None
        return {(*prefix, name)}, (*prefix, name)

    def field(self, form, path, key):
        """What a field of a place is: a longer path, or a derived value of the record there."""
        fields, derived, mapped = self.records.at(self.from_state(path))
        longer = (*path, key)
        if key in derived and key not in fields:
            return (set() if form == "has" else self.through(derived[key], path, derived)), None
        if form == "index" and mapped:
            return {path}, None
        return {longer}, longer

    @staticmethod
    def from_state(path):
        """A path from the state that it leads into."""
        return path[1:] if path[0] in ("now", "next", "previous") else path

    def through(self, data, prefix, derived):
        """What the body of a derived value reads, in its record."""
        return self.deeper(expression(data), {}, (prefix, derived))

    def called(self, node, places, inside):
        """What a call of a defined function reads."""
        params, tree = self.functions[node[2]]
        read, given = set(), {}
        for param, arg in zip(params, node[4]):
            found = self.place(arg, places, inside)
            given[param] = None if found is None else found[1]
            if given[param] is None:
                read |= self.reads(arg, places, inside)
        return read | self.deeper(tree, given, inside)

    def deeper(self, tree, places, inside):
        """The same for a body, in bounded depth."""
        self.deep += 1
        if self.deep > DEEPEST_READ:
            raise Open("E_SPECS", "functions call one another too deep")
        try:
            return self.reads(tree.root, places, inside)
        finally:
            self.deep -= 1


def touching(one, other):
    """Whether one path is the other, or leads to it."""
    shared = min(len(one), len(other))
    return one[:shared] == other[:shared]


def used_paths(agent, world, reading, inner):
    """The paths of the state that an agent's choice can depend on.

    Args:
        agent, world: Their data.
        reading: Reads the agent's expressions.
        inner: Reads the world's.
    """
    texts = [agent["score"]]
    for mapping in (agent.get("let", {}), agent.get("each", {}), agent.get("claims", {})):
        texts += mapping.values()
    for one in agent["candidates"]:
        texts += [*one.get("for_each", {}).values(), one.get("when", "true")]
    paths = set().union(*(reading.of(text) for text in texts))
    used = {path for path in paths if path[0] in world["observe"]}
    used |= {path[1:] for path in paths if path[0] == "now"}
    predicted = {path[1:] for path in paths if path[0] == "next"}
    if predicted:
        ops = {one["op"] for one in agent["candidates"]}
        used |= predicted | _predicting(world, ops, predicted, inner)
    return used


def _predicting(world, ops, predicted, reading):
    """What is read by the steps that make the predicted paths."""
    texts = []
    for op in sorted(ops & world["actions"].keys()):
        action = world["actions"][op] or {}
        texts += [action.get("when", "true"), *action.get("let", {}).values()]
        for effect in [*action.get("effects", ()), *action.get("otherwise", ())]:
            texts += _sources(effect, predicted)
    for effect in world.get("every_step", ()):
        texts += _sources(effect, predicted)
    derived = world.get("derived", {})
    found = set().union(*(reading.of(text, derived) for text in texts))
    return {path for path in found if path[0] in world["state"] or path[0] in world.get("parts", {})}


def _sources(effect, predicted):
    """The right sides and the condition of an effect that changes what is predicted."""
    target = next(effect[kind] for kind in ("set", "append", "remove", "each", "put") if kind in effect)
    if not any(touching(tuple(target.split(".")), path) for path in predicted):
        return []
    names = [name for name in ("to", "value", "key", "where", "when") if name in effect]
    return [*(effect[name] for name in names), *effect.get("update", {}).values()]


def unread_variables(world, used, reading):
    """The entries of a world's variables whose value reads nothing of what is used."""
    entries = []
    for entry, told in sorted(world.get("variables", {}).items()):
        paths = reading.of(told["read"], world.get("derived", {}))
        paths = {path[1:] if path[0] == "now" else path for path in paths}
        if not any(touching(path, other) for path in paths for other in used):
            entries.append(entry)
    return entries


# Which values an expression over a state can give, as far as its text says: ranges of ints and sizes of lists.
#
# Types are those of `declared`. A range follows from the declared types by interval arithmetic (docs/variables.md).
# What
# a condition proves about a range is not followed here: where that could matter nothing is known, and the type is None.

MOST_ITEMS_KNOWN, DEEPEST_TYPED, MOST_REACHED = 65_536, 100, 8321
BOOL_TYPE, STRING_TYPE = ("bool",), ("string",)
FIELD_TYPE = NAMED_TYPES["field"]
NOT_NEGATIVE = ("int", 0, INT_TYPE[2])
GIVEN_TYPES = {
    "reach": ("int", 0, MOST_REACHED),
    "beside": ("int", 0, 4),
    "field_at": INT_TYPE,
    "field_min": INT_TYPE,
    "field_max": INT_TYPE,
    "sum_sq": NOT_NEGATIVE,
    "grad_energy": NOT_NEGATIVE,
    "field_count": NOT_NEGATIVE,
    "path_length": ("int", -1, INT_TYPE[2]),
    "cells_mask": FIELD_TYPE,
    "dilate": FIELD_TYPE,
    "distances": FIELD_TYPE,
    "fresh": STRING_TYPE,
    "string": STRING_TYPE,
    "contains": BOOL_TYPE,
    "startsWith": BOOL_TYPE,
    "endsWith": BOOL_TYPE,
}
COMPARISONS = ("==", "!=", "<", "<=", ">", ">=", "in")


class Typing:
    """Finds the types of expressions over the state of a world; `texts` are names that stand for texts."""

    def __init__(self, world, texts=()):
        self.world, self.texts, self.deep = world, texts, 0

    def of(self, node, local):
        """The type of a node, None where it is not known; `local` are the types of macros' names and parameters."""
        BUDGET.spend(1)
        found = getattr(self, "of_" + node[0])(node, local)
        return None if found is None or (found[0] != "nothing" and None in found) else found

    def of_literal(self, node, local):
        """Of a literal."""
        value = node[2]
        if type(value) is bool:
            return BOOL_TYPE
        return ("int", value, value) if type(value) is int else STRING_TYPE if type(value) is str else None

    def of_name(self, node, local):
        """Of a name: local, a field of the state, a constant, a derived value."""
        name, world = node[2], self.world
        if name in local:
            return local[name]
        if name in self.texts:
            return STRING_TYPE
        if name == "now":
            return ("state", world.type)
        if name in world.type[1]:
            return world.type[1][name]
        if name in world.constants:
            return self.of_literal(("literal", 0, world.constants[name]), local)
        return self.deeper(world.derived[name], {}) if name in world.derived else None

    def deeper(self, tree, local):
        """Of the body of a function or of a derived value."""
        self.deep += 1
        found = self.of(tree.root, local) if self.deep <= DEEPEST_TYPED else None
        self.deep -= 1
        return found

    def of_select(self, node, local):
        """Of a field."""
        outer, key = self.of(node[2], local), node[3]
        if outer is None:
            return None
        if outer[0] == "state":
            derived = self.world.derived.get(key)
            return outer[1][1].get(key) if key in outer[1][1] or derived is None else self.deeper(derived, {})
        if outer[0] == "record":
            return outer[1].get(key)
        return outer[1] if outer[0] == "map" else None

    def of_index(self, node, local):
        """Of an item."""
        if node[3][0] == "literal" and type(node[3][2]) is str:
            return self.of_select(("select", 0, node[2], node[3][2]), local)
        outer = self.of(node[2], local)
        return outer[1] if outer is not None and outer[0] in ("list", "map") else None

    def of_has(self, node, local):
        """Of a question."""
        return BOOL_TYPE

    of_logic = of_has

    def of_unary(self, node, local):
        """Of `!a` and `-a`."""
        inner = self.of(node[3], local)
        if node[2] == "!":
            return BOOL_TYPE
        return clipped(-inner[2], -inner[1]) if inner is not None and inner[0] == "int" else None

    def of_binary(self, node, local):
        """Of an operator with two sides."""
        operator = node[2]
        if operator in COMPARISONS:
            return BOOL_TYPE
        a, b = self.of(node[3], local), self.of(node[4], local)
        if a is None or b is None:
            return None
        if operator == "+" and "list" in (a[0], b[0]):
            a, b = (("list", ("nothing",), 0) if one[0] == "nothing" else one for one in (a, b))
            item = joined(a[1], b[1])
            return None if item is None else ("list", item, min(MOST_ITEMS_KNOWN, a[2] + b[2]))
        if a[0] == b[0] == "int":
            return spanned(operator, a, b)
        return STRING_TYPE if operator == "+" and a[0] == b[0] == "string" else None

    def of_choice(self, node, local):
        """Of a condition, where it can narrow no range."""
        then, other = self.of(node[3], local), self.of(node[4], local)
        same = then is not None and then == other and then[0] in ("bool", "string")
        return then if same else None

    def of_list(self, node, local):
        """Of a list that is written out."""
        item = ("nothing",)
        for one in node[2]:
            found = self.of(one, local)
            item = None if item is None or found is None else joined(item, found)
        return None if item is None else ("list", item, len(node[2]))

    def of_map(self, node, local):
        """Of a record that is written out."""
        fields = {}
        for key, value in node[2]:
            found = self.of(value, local)
            if key[0] != "literal" or type(key[2]) is not str or found is None:
                return None
            fields[key[2]] = found
        return ("record", fields, frozenset())

    def of_macro(self, node, local):
        """Of a macro."""
        kind, name = node[2], node[4]
        if kind not in ("map", "filter"):
            return BOOL_TYPE
        target = self.of(node[3], local)
        if target is None or target[0] != "list" or kind == "filter" or node[5] is not None:
            return target if kind == "filter" else None
        item = self.of(node[6], {**local, name: target[1]})
        return None if item is None else ("list", item, target[2])

    def of_call(self, node, local):
        """Of a call."""
        name, target, args = node[2:5]
        function = self.world.functions.get(name) if target is None else None
        qualified = target is not None and target[0] == "name" and target[2] == "math" and "math" not in local
        if target is not None and not qualified:
            args = (target, *args)
        types = [self.of(one, local) for one in args]
        if type(function) is tuple:
            return self.deeper(function[1], dict(zip(function[0], types)))
        if name in GIVEN_TYPES and not qualified:
            return GIVEN_TYPES[name]
        return None if None in types or not types else computed_type(name, qualified, types)


def computed_type(name, qualified, types):
    """The type of a call of a function whose result follows from its arguments."""
    first = types[0]
    if qualified:
        ints = [one for one in types if one[0] == "int"]
        if len(ints) < len(types):
            return None
        if name == "abs":
            low, high = first[1:]
            return first if low >= 0 else clipped(0 if high >= 0 else -high, max(-low, high))
        pick = {"greatest": max, "least": min}.get(name)
        return None if pick is None else ("int", pick(one[1] for one in ints), pick(one[2] for one in ints))
    if name == "size":
        return ("int", 0, first[2]) if first[0] == "list" else None
    if name == "sort_by":
        return first
    if first[0] != "list" or first[1][0] != "int":
        return None
    low, high = first[1][1:]
    if name == "sum":
        return clipped(min(0, low * first[2]), max(0, high * first[2]))
    if name in ("minimum", "maximum") and types[1][0] == "int":
        return ("int", min(low, types[1][1]), max(high, types[1][2]))
    return None


def clipped(low, high):
    """What is left of a range within 64 bits."""
    low, high = max(low, INT_TYPE[1]), min(high, INT_TYPE[2])
    return ("int", low, high) if low <= high else INT_TYPE


def spanned(operator, a, b):
    """The range of what an operator gives."""
    if operator == "+":
        return clipped(a[1] + b[1], a[2] + b[2])
    if operator == "-":
        return clipped(a[1] - b[2], a[2] - b[1])
    if operator == "*":
        corners = [x * y for x in a[1:] for y in b[1:]]
        return clipped(min(corners), max(corners))
    if operator == "%":
        most = max(abs(b[1]), abs(b[2])) - 1
        low, high = (max(a[1], -most) if a[1] < 0 else 0), (min(a[2], most) if a[2] > 0 else 0)
        return INT_TYPE if most < 0 else clipped(low, high)
    divisors = [one for one in (b[1], b[2], -1, 1) if one and b[1] <= one <= b[2]]
    corners = [truncated(x, one) for x in a[1:] for one in divisors]
    corners += [0] if a[1] <= 0 <= a[2] else []
    return clipped(min(corners), max(corners)) if corners else INT_TYPE


def truncated(a, b):
    """A quotient of integers, towards zero."""
    return a // b if (a >= 0) == (b > 0) else -(-a // b)


def joined(a, b):
    """The least type that holds the values of both, where that is plain."""
    if a == b or b[0] == "nothing":
        return a
    if a[0] == "nothing":
        return b
    if a[0] == b[0] == "int":
        return ("int", min(a[1], b[1]), max(a[2], b[2]))
    if a[0] == b[0] == "list":
        item = joined(a[1], b[1])
        return None if item is None else ("list", item, max(a[2], b[2]))
    if a[0] == b[0] == "record" and a[1].keys() == b[1].keys() and a[2] == b[2]:
        fields = {name: joined(one, b[1][name]) for name, one in a[1].items()}
        return None if None in fields.values() else ("record", fields, a[2])
    return None


# Observables of laws: integers that are measured of a ring, their ranges, and the sums over windows that they are.

MOST_WINDOWS_SUMMED = 65_536


class IntegerLost(Exception):
    """An integer leaves 64 bits."""


def held_integer(value):
    """An integer within 64 bits."""
    if not -BIG_INT - 1 <= value <= BIG_INT:
        raise IntegerLost
    return value


class Quantity:
    """An observable of a law: an integer, a measure of its universe, or +, - or * of two of these; with its values."""

    def __init__(self, op, left, right=None):
        self.op, self.left, self.right, self.values = op, left, right, {}

    def of(self, ring):
        """The value on a ring."""
        found = self.values.get(ring)
        if found is None:
            found = self.values[ring] = self.computed(ring)
        return found

    def computed(self, ring):
        """The value on a ring, computed."""
        if self.op == "number":
            return self.left
        if self.op == "measure":
            return self.left.of(ring)
        one, other = self.left.of(ring), self.right.of(ring)
        return held_integer(one + other if self.op == "+" else one - other if self.op == "-" else one * other)

    def bounds(self, longest):
        """The least and the greatest value on rings of up to so many cells; None if an integer may leave 64 bits."""
        BUDGET.spend(1)
        if self.op == "number":
            found = (self.left, self.left)
        elif self.op == "measure":
            found = self.left.bounds(longest)
        else:
            found = range_joined(self.op, self.left.bounds(longest), self.right.bounds(longest))
        return range_kept(found)

    def terms(self):
        """The observable as (constant, [(factor, measure)]) if it is a sum over windows, else None."""
        if self.op == "number":
            return self.left, []
        if self.op == "measure":
            return None if isinstance(self.left, CellScan) else (0, [(1, self.left)])
        left, right = self.left.terms(), self.right.terms()
        if left is None or right is None:
            return None
        BUDGET.spend(1 + len(left[1]) + len(right[1]))
        if self.op == "*":
            left, right = (right, left) if not left[1] else (left, right)
            times = right[0]
            return None if right[1] else (left[0] * times, [(factor * times, one) for factor, one in left[1]])
        sign = 1 if self.op == "+" else -1
        return left[0] + sign * right[0], left[1] + [(sign * factor, one) for factor, one in right[1]]

    def additive(self, symbols):
        """The observable as one sum over the widest window, {width, weights, constant}; None if it is none."""
        terms = self.terms()
        if terms is None:
            return None
        constant, measures = terms
        width = max((one.width for _, one in measures), default=1)
        if symbols**width > MOST_WINDOWS_SUMMED:
            return None
        weights = [0] * symbols**width
        for factor, one in measures:
            if factor:
                span, every = symbols ** (width - one.width), one.weights()
                weights = [held + factor * every[code // span] for code, held in enumerate(weights)]
        return {"width": width, "weights": weights, "constant": constant}


def range_joined(op, left, right):
    """The range of +, - or * of two ranges."""
    if left is None or right is None:
        return None
    if op == "*":
        corners = [one * other for one, other in product(left, right)]
        return min(corners), max(corners)
    low, high = (right[0], right[1]) if op == "+" else (-right[1], -right[0])
    return left[0] + low, left[1] + high


def range_kept(found):
    """A range, if it lies within 64 bits."""
    return found if found is not None and -BIG_INT - 1 <= found[0] and found[1] <= BIG_INT else None


# Agents from outside in a replay: what is read off the tape, and what becomes of a bad answer (docs/outside.md).

MOST_ANSWERED = 256


class Ended(Exception):
    """The process that waited for an answer is no more; the tape says how it ended."""

    def __init__(self, answer):
        self.kind = "hang" if answer["failure"] == "timed_out" else "died"
        self.reason = answer["reason"]
        super().__init__(self.kind)


class Tape:
    """The answers of a run, each read once, in their order.

    Attributes:
        mode, head: Of the audit log.
    """

    def __init__(self, lines):
        self.mode, self.head, self.answers, self.next = lines[0]["mode"], lines[0]["head"], lines[1:], 0

    def recorded(self, episode, t):
        """The answer for a decision, None if the next one is for another."""
        if self.next == len(self.answers):
            return None
        answer = self.answers[self.next]
        if (answer["episode"], answer["t"]) != (episode, t):
            return None
        self.next += 1
        return answer

    def asked(self, episode, t):
        """The answer for a decision of an agent from outside."""
        answer = self.recorded(episode, t)
        if answer is None:
            raise Refuted("E_TAPE_MISSING", f"the tape has no answer for episode {episode}, t = {t}")
        return answer

    def finish(self):
        """See that every answer was asked for."""
        left = len(self.answers) - self.next
        demand(not left, "E_TAPE_EXTRA", f"nobody asked for {left} answers on the tape")


def received_bytes(answer):
    """The bytes of an answer, None if none came or too many."""
    held = answer["received"]
    if held is None:
        return None
    return held["text"].encode() if "text" in held else base64.b64decode(held["base64"])


def proposals_answered(answer, claims):
    """The proposals of an answer; whatever is none stands as one that the gate `schema` rejects."""
    data = received_bytes(answer)
    if data is None or answer["failure"]:
        return [no_proposal(answer["failure"] or "no_answer")]
    try:
        given = json.loads(data.decode(), object_pairs_hook=once, parse_constant=refuse_word)
    except (ValueError, RecursionError):
        return [no_proposal("not_json")]
    if not isinstance(given, list):
        return [no_proposal("not_a_list")]
    if len(given) > MOST_ANSWERED:
        return [no_proposal("too_many_proposals")]
    return [one if is_proposal(one, claims) else no_proposal("malformed_proposal") for one in given]


def no_proposal(reason):
    """What stands for something that is no proposal."""
    return {"action": {"op": ""}, "score": 0, "answer": reason}


def once(pairs):
    """An object in which no key stands twice."""
    made = dict(pairs)
    if len(made) != len(pairs):
        raise ValueError("a key stands twice")
    return made


def refuse_word(word):
    """NaN and its kin are no JSON."""
    raise ValueError(f"{word} is no number")


def is_proposal(given, claims):
    """Whether something has the form of a proposal."""
    if not isinstance(given, dict) or given.keys() != {"action", "score", *claims}:
        return False
    action = given["action"]
    if not isinstance(action, dict) or not isinstance(action.get("op"), str) or not action["op"]:
        return False
    sound = receiptable([given]) and fits(given["score"], INT_TYPE)
    return sound and all(fits(given[name], type_) for name, type_ in claims.items())


def receiptable(value):
    """Whether a value has a canonical form."""
    todo = [(value, 0)]
    while todo:
        one, depth = todo.pop()
        if isinstance(one, dict):
            if depth >= DEPTH or not all(map(sound_text, one)):
                return False
            todo += [(inner, depth + 1) for inner in one.values()]
        elif isinstance(one, list):
            if depth >= DEPTH:
                return False
            todo += [(inner, depth + 1) for inner in one]
        elif isinstance(one, float) or (type(one) is int and not -BIG <= one <= BIG):
            return False
        elif isinstance(one, str) and not sound_text(one):
            return False
    return True


def sound_text(text):
    """Whether a text has no half of a character."""
    return not any("\ud800" <= one <= "\udfff" for one in text)


# Statistics of suites: rates, means and slopes with their 95 % intervals, in integers of millionths.
#
# Wilson's interval and the exact one of Clopper and Pearson take episodes as independent; intervals over layouts draw
# whole scenarios again. Lower limits are rounded down and upper ones up.

PARTS = 1_000_000
CHI_SQUARED, CHI_SCALE = 3_841_458_820_694_124, 10**15  # the 95 % quantile with one degree of freedom
BINOMIAL_ONE = 1 << 256
MOST_EXAMPLES = 3


def nearest(numerator, denominator):
    """A quotient, rounded to the nearest integer, halves away from zero."""
    rounded = (2 * abs(numerator) + abs(denominator)) // (2 * abs(denominator))
    return rounded if (numerator < 0) == (denominator < 0) else -rounded


def wilson_limits(count, of):
    """Wilson's interval of a rate."""
    middle = of * (2 * count * CHI_SCALE + CHI_SQUARED)
    square = of * CHI_SQUARED * (4 * count * (of - count) * CHI_SCALE + of * CHI_SQUARED)
    below, root = 2 * of * (of * CHI_SCALE + CHI_SQUARED), isqrt(square)
    above = root if root * root == square else root + 1
    return max(0, middle - above) * PARTS // below, min(PARTS, -(-(middle + above) * PARTS // below))


def exact_limits(count, of):
    """The interval of Clopper and Pearson."""
    return PARTS - rate_bound(of - count, of, 40), rate_bound(count, of, 40)


@lru_cache(maxsize=4096)
def rate_bound(count, of, parts):
    """The least rate, in millionths, at which so few of so many are as improbable as one in `parts`."""
    if count >= of:
        return PARTS
    rate = 0  # the greatest so far that is not improbable, found digit by digit in base 2
    for digit in reversed(range(PARTS.bit_length())):
        higher = rate + (1 << digit)
        if higher < PARTS and not improbable(count, of, higher, parts):
            rate = higher
    return rate + 1


def improbable(count, of, rate, parts):
    """Whether P(X <= count) is at most 1 / parts; terms are relative to the most probable one."""
    mode = (of + 1) * rate // PARTS
    whole, tail = BINOMIAL_ONE, BINOMIAL_ONE if mode <= count else 0
    for down in (True, False):
        term, at = BINOMIAL_ONE, mode
        while term and (at > 0 if down else at < of):
            if down:
                term = term * at * (PARTS - rate) // ((of - at + 1) * rate)
                at -= 1
            else:
                term = term * (of - at) * rate // ((at + 1) * (PARTS - rate))
                at += 1
            whole += term
            tail += term if at <= count else 0
    return tail * parts <= whole


def share_of(values, at):
    """The least value that at least a share of the values do not exceed."""
    return sorted(values)[max(0, -(-len(values) * at // PARTS) - 1)]


def mean_of(sums):
    """The mean of [count, sum], in millionths; None of nothing."""
    return nearest(sums[1] * PARTS, sums[0]) if sums[0] else None


def slope_of(sums):
    """The least-squares slope of [n, Σx, Σy, Σxx, Σxy], in millionths; None where all x are alike."""
    n, x, y, xx, xy = sums
    return nearest((n * xy - x * y) * PARTS, n * xx - x * x) if n * xx != x * x else None


@lru_cache(maxsize=64)
def drawn_again(size, resamples, seed):
    """For each resample how often each of the clusters was drawn."""
    stream, found = Stream(seed, "resamples", size), []
    for _ in range(resamples):
        times = [0] * size
        for _ in range(size):
            times[stream.integer(0, size - 1)] += 1
        found.append(times)
    return found


def layout_limits(clusters, estimate, resampling):
    """The percentile interval of an estimate when whole clusters are drawn again; None of fewer than two clusters."""
    found = []
    for times in drawn_again(len(clusters), *resampling) if len(clusters) > 1 else ():
        sums = [sum(many * one for many, one in zip(times, column)) for column in zip(*clusters)]
        found.append(estimate(sums))
    found = [one for one in found if one is not None]
    return (share_of(found, 25_000), share_of(found, 975_000)) if found else None


def limits_told(limits):
    """An interval as a receipt tells it."""
    return None if limits is None else {"low": limits[0], "high": limits[1]}


class FigureFailed(Exception):
    """Values of a figure could not be computed; the cause is what a receipt says."""

    def __init__(self, cause):
        self.cause = cause
        super().__init__(cause["code"])


class SuiteFigure:
    """One figure: a statistic over the runs of some arms, perhaps in groups."""

    def __init__(self, name, data, arms, statistic):
        over = data.get("over")
        self.name, self.data, self.statistic, self.by = name, data, statistic, data.get("by")
        self.over = [over] if isinstance(over, str) else over or sorted(arms)

    def groups(self, runs, resampling):
        """The figure of each group: records with a name, which is empty where there are no groups."""
        chosen = [run for run in runs if run["arm"] in self.over]
        for run in chosen:
            if isinstance(run["samples"].get(self.name), dict):
                raise FigureFailed(run["samples"][self.name])
        groups = {"": chosen} if self.by is None else {}
        for run in chosen if self.by is not None else ():
            groups.setdefault(str(run[self.by]), []).append(run)
        return [{"name": name, **self.told(groups[name], resampling)} for name in sorted(groups)]

    def told(self, runs, resampling):
        """The figure of some runs, without what there is none of."""
        clusters = {}
        for run in runs:
            inside = clusters.setdefault(run["scenario"], [])
            for values in run["samples"].get(self.name, ()):
                inside += values
        pooled = [value for values in clusters.values() for value in values]
        statistic, made = self.statistic, {"of": len(pooled)}
        if statistic in ("mean", "rate"):
            made = self.summed(clusters, resampling)
        elif statistic == "difference":
            made = self.summed(self.differences(runs), resampling)
        elif statistic == "sum":
            made["value"] = sum(pooled)
        elif statistic == "slope":
            made = self.sloped(clusters, resampling)
        elif pooled:
            at = from_decimals(self.data.get("at", "0.95"))
            choose = {"least": min, "greatest": max, "quantile": lambda values: share_of(values, at)}
            made["value"] = choose[statistic](pooled)
        if statistic == "rate":
            made = self.rated(made, runs)
        return {name: value for name, value in made.items() if value is not None}

    @staticmethod
    def summed(clusters, resampling):
        """Number, sum, mean and its interval."""
        sums = [[len(values), sum(values)] for _, values in sorted(clusters.items())]
        of, total = sum(one[0] for one in sums), sum(one[1] for one in sums)
        limits = layout_limits([one for one in sums if one[0]], mean_of, resampling)
        return {"of": of, "sum": total, "value": mean_of([of, total]), "cluster": limits_told(limits)}

    def rated(self, made, runs):
        """What a rate tells beside."""
        count, of = made.pop("sum"), made["of"]
        made.update(count=count, held=self.examples(runs, 1), failed=self.examples(runs, 0))
        if of:
            limits = {"wilson": wilson_limits(count, of), "exact": exact_limits(count, of)}
            made.update({name: limits_told(one) for name, one in limits.items()})
            made["bound"] = rate_bound(count, of, 20)
        return made

    def examples(self, runs, value):
        """The first episodes in which a rate has a value."""
        found = []
        for run in runs:
            for episode, values in enumerate(run["samples"].get(self.name, ())):
                if value in values:
                    found.append({"run": run["run"], "episode": episode})
        return found[:MOST_EXAMPLES]

    def differences(self, runs):
        """By scenario: the first arm's value less the second's, of the episodes that both have."""
        first, second = {}, {}
        for run in runs:
            arm = first if run["arm"] == self.over[0] else second
            for episode, values in enumerate(run["samples"].get(self.name, ())):
                arm[run["scenario"], run["seed"], episode] = values[0]
        clusters = {}
        for place in sorted(first.keys() & second.keys()):
            clusters.setdefault(place[0], []).append(first[place] - second[place])
        return clusters

    @staticmethod
    def sloped(clusters, resampling):
        """A slope with its interval."""
        sums = []
        for _, pairs in sorted(clusters.items()):
            if pairs:
                columns = zip(*((x, y, x * x, x * y) for x, y in pairs))
                sums.append([len(pairs), *(sum(column) for column in columns)])
        whole = [sum(column) for column in zip(*sums)] or [0] * 5
        limits = layout_limits(sums, slope_of, resampling)
        return {"of": whole[0], "value": slope_of(whole), "cluster": limits_told(limits)}


# Which runs a suite leads to: arms, seeds, mutants and controls, and the specs that each run is made from.
#
# A run's specs are those of the suite's scenario with changes laid over it. The resolved form of a change is not made
# here; a run's own specs are compared with the changes instead, value by value.

SET_STEP = re.compile(r'\s*(?:"([^"]*)"|([^."]+))\s*(?:\.|$)')
DECIMAL = re.compile(r"-?[0-9]{1,19}(\.[0-9]{1,6}0{0,20})?")
SCENARIO_FIELD = re.compile(r"scenario/[^.]*\.[a-z]+")
SUITE_PLACES = ("world", "governor", "agent", "drift", "invariants")
SUITE_STATISTICS = ("rate", "mean", "sum", "least", "greatest", "quantile", "slope", "difference")
SPEC_DEFAULTS = {"episodes": 1, "seed": 0, "commit": "proposals"}


class SetValue:
    """A value as a suite's `set` says it: what equals a default is not in the resolved form."""

    def __init__(self, value):
        self.value = value


class SuiteCase:
    """One run: where it lies, what it is called, and its scenario with everything laid over it."""

    def __init__(self, place, names, known, root, suite):
        self.place, (self.arm, self.scenario, self.run) = place, names
        self.known, self.root, self.suite, self.seed = known, root, suite, None

    @property
    def heading(self):
        """What each of its episodes is told."""
        return {"run": self.run, "arm": self.arm, "scenario": self.scenario, "seed": self.seed}


class SuiteTrial:
    """Runs together with the suite that asks about them."""

    def __init__(self, suite, cases, compared):
        self.suite, self.cases, self.compared = suite, cases, compared


def set_path(text):
    """The keys of a dotted path."""
    steps, at = [], 0
    while at < len(text):
        match = SET_STEP.match(text, at)
        demand(match, "E_SPECS", f"{text!r} is no path")
        steps.append(match[1] if match[1] is not None else match[2].strip())
        at = match.end()
    return steps


class SuitePlan:
    """The trials of a suite: its own, and for each mutant a control and the mutated one."""

    def __init__(self, specs, root):
        self.specs, self.root, self.data = specs, root, specs[root]
        self.own = self.trial(root, "runs", None, [], {})
        self.mutants, controls = [], {}
        for mutant in self.data.get("mutants") or []:
            key = mutant.get("suite") or root
            demand(specs[key].get("runs"), "E_SPECS", "a mutant is tried on a suite without runs")
            chosen = [mutant.get(name) for name in ("arms", "scenarios", "under")]
            same = write([key, *chosen])
            if key == root and not any(chosen):
                controls.setdefault(same, self.own)
            under = list((mutant.get("under") or {}).items())
            if same not in controls:
                controls[same] = self.trial(key, f"controls/{mutant['id']}", mutant, under, {})
            places = {name: mutant[name] for name in SUITE_PLACES if mutant.get(name) is not None}
            changes = under + list((mutant.get("set") or {}).items())
            mutated = self.trial(key, f"mutants/{mutant['id']}", mutant, changes, places)
            if mutant.get("replay") is not None:
                mutated.compared = mutant["replay"] == "bytes"
            self.mutants.append((mutant["id"], controls[same], mutated))

    def trials(self):
        """Every trial once, in order."""
        found = [self.own]
        for _, control, mutated in self.mutants:
            found += [one for one in (control, mutated) if one not in found]
        return found

    def trial(self, key, folder, mutant, changes, places):
        """The runs of a suite, all or those that a mutant chooses."""
        data, cases = self.specs[key], []
        for name in sorted(data.get("runs") or {}):
            if mutant is None or mutant.get("arms") is None or name in mutant["arms"]:
                cases += self.arm(key, name, folder, mutant, (changes, places))
        called = [case.place.casefold() for case in cases]
        demand(len({*called}) == len(called), "E_SPECS", "two runs have one name")
        return SuiteTrial(key, cases, data.get("replay", "none") == "bytes")

    def arm(self, key, name, folder, mutant, laid):
        """The runs of one arm."""
        arm, cases = self.specs[key]["runs"][name], []
        changes = [*(arm.get("set") or {}).items(), *laid[0]]
        places = {one: arm[one] for one in SUITE_PLACES if arm.get(one) is not None}
        places.update(laid[1])
        for scenario in arm["scenarios"]:
            called = self.specs[scenario]["name"]
            if mutant is not None and mutant.get("scenarios") is not None and called not in mutant["scenarios"]:
                continue
            for seed in arm.get("seeds") or [None]:
                known = dict(self.specs)
                root = overlaid(known, scenario, places if seed is None else {**places, "seed": seed}, changes)
                run = f"{name}.{called}" + ("" if seed is None else f".{seed}")
                cases.append(SuiteCase(f"{folder}/{run}", (name, called, run), known, root, key))
        return cases


def overlaid(known, key, places, changes):
    """The key of a scenario with changes laid over it; what they make is added to the known specs."""
    if places:
        data = {**known[key], **{name: SetValue(value) for name, value in places.items()}}
        key = kept_spec(known, data)
    for text, value in changes:
        key = applied(known, key, set_path(text), value)
    return key


def kept_spec(known, data):
    """Keep a changed spec under a new key."""
    key = f"#{len(known)}"
    known[key] = data
    return key


def applied(known, key, steps, value):
    """The key of a spec after one change."""
    return kept_spec(known, put_value(known, known[key], steps, value))


def put_value(known, node, steps, value):
    """A value with another one at a path below it; None takes away what is there."""
    if not steps:
        return SetValue(value)
    if isinstance(node, SetValue):
        held = node.value
        node = {name: SetValue(one) for name, one in held.items()} if isinstance(held, dict) else held
        node = [SetValue(one) for one in held] if isinstance(held, list) else node
    if isinstance(node, str) and node in known:
        return applied(known, node, steps, value)
    step, rest = steps[0], steps[1:]
    if isinstance(node, list):
        place = element_place(node, step)
        inner = [] if not rest and value is None else [put_value(known, node[place], rest, value)]
        return node[:place] + inner + node[place + 1 :]
    demand(isinstance(node, dict) and (step in node or not rest), "E_SPECS", f"a change has no place: {step!r}")
    left = {name: one for name, one in node.items() if name != step}
    if rest or value is not None:
        left[step] = put_value(known, node.get(step), rest, value)
    return left


def element_place(elements, step):
    """The place of an element of a list, by index, id or name."""
    labels = [element_label(one) for one in elements]
    place = int(step) if step.isascii() and step.isdigit() and len(step) < 9 else len(elements)
    place = labels.index(step) if step in labels else place
    demand(place < len(elements), "E_SPECS", f"there is no element {step!r}")
    return place


def element_label(element):
    """What an element is called: its id or name, the name in a key, or itself."""
    element = element.value if isinstance(element, SetValue) else element
    if isinstance(element, str):
        return element.partition("/")[2].partition("@")[0] or element
    if not isinstance(element, dict):
        return None
    found = next((element[name] for name in ("id", "name") if name in element), None)
    return str(found.value if isinstance(found, SetValue) else found)


# A run's own specs, held against the changes


def check_overlay(known, key, specs):
    """See that the specs of a run are those that a suite leads to, and no others."""
    visited = set()
    same_spec(known, key, specs["specs"], specs["root"], visited)
    demand(visited == specs["specs"].keys(), "E_RUNS", "it holds specs that the suite does not lead to")


def same_spec(known, key, found, other, visited):
    """See that a spec of a run is one of the suite's, or what changes made of it."""
    demand(isinstance(other, str) and other in found, "E_RUNS", f"it lacks a spec that the suite leads to: {key}")
    demand(key.startswith("#") or key == other, "E_RUNS", f"it was made from {other}, the suite leads to {key}")
    visited.add(other)
    same_value(known, known[key], found, found[other], visited, other)


def same_value(known, mine, found, other, visited, where):
    """See that a value of a run's specs is the one that the suite leads to."""
    if isinstance(mine, SetValue):
        same_set_value(known, mine.value, found, other, visited, where)
    elif isinstance(mine, str) and mine in known:
        same_spec(known, mine, found, other, visited)
    elif isinstance(mine, dict):
        demand(isinstance(other, dict) and other.keys() <= mine.keys(), "E_RUNS", f"{where} is another one")
        for name, one in mine.items():
            inner = f"{where}.{name}"
            if name in other:
                same_value(known, one, found, other[name], visited, inner)
            else:
                left_out(one, name, inner)
    elif isinstance(mine, list):
        demand(isinstance(other, list) and len(other) == len(mine), "E_RUNS", f"{where} is another one")
        for place, one in enumerate(mine):
            same_value(known, one, found, other[place], visited, f"{where}.{place}")
    else:
        demand(type(mine) is type(other) and mine == other, "E_RUNS", f"{where} is another one")


def left_out(mine, name, where):
    """See that a value that a run's specs leave out is a default of its kind; what is not known here is left open."""
    demand(not holds_unset(mine), "E_RUNS", f"{where} is missing")
    value = plain_value(mine)
    if value in ({}, [], None, "") or value is False:
        return
    if name not in SPEC_DEFAULTS or not SCENARIO_FIELD.fullmatch(where):
        raise Open("E_SPECS", f"whether {where} equals its default is not known here")
    demand(value == SPEC_DEFAULTS[name], "E_RUNS", f"{where} is missing")


def holds_unset(mine):
    """Whether a value holds something that no `set` put there."""
    if isinstance(mine, SetValue):
        return False
    inner = mine.values() if isinstance(mine, dict) else mine if isinstance(mine, list) else None
    return inner is None or any(holds_unset(one) for one in inner)


def plain_value(mine):
    """A value without marks."""
    mine = mine.value if isinstance(mine, SetValue) else mine
    if isinstance(mine, dict):
        return {name: plain_value(one) for name, one in mine.items()}
    return [plain_value(one) for one in mine] if isinstance(mine, list) else mine


def same_set_value(known, mine, found, other, visited, where):
    """The same of what a `set` put there: scalars by their text, and what is left out is a default."""
    if isinstance(mine, dict) and "$double" not in mine:
        marked = {name: SetValue(one) for name, one in mine.items()}
        same_value(known, marked, found, other, visited, where)
    elif isinstance(mine, list):
        same_value(known, [SetValue(one) for one in mine], found, other, visited, where)
    elif isinstance(mine, str) and mine in known:
        same_spec(known, mine, found, other, visited)
    else:
        same = scalar_text(mine) == scalar_text(other) or (isinstance(other, str) and same_number(mine, other))
        demand(same, "E_RUNS", f"{where} is another one")


def same_number(mine, text):
    """Whether a number of a `set` is the fixed-point number that the resolved form has in its place."""
    given = scalar_text(mine)
    return bool(DECIMAL.fullmatch(given) and DECIMAL.fullmatch(text)) and from_decimals(given) == from_decimals(text)


def scalar_text(value):
    """A scalar as a spec writes it."""
    if isinstance(value, dict) and value.keys() == {"$double"}:
        return value["$double"]
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) if isinstance(value, (int, str)) else write(value).decode()


# An agent as its spec says: what it remembers, proposes, claims and prefers.

MOST_PROPOSALS, MOST_COMBINATIONS = 256, 65_536


class Memory:
    """What is kept of observations: of an agent, or of a governor."""

    def __init__(self, data, constants, functions):
        held = data.get("memory") or {}
        self.constants, self.functions = constants, functions
        self.lasts = held.get("scope", "episode")
        self.types = {name: read_type(one["type"]) for name, one in held.get("fields", {}).items()}
        self.starts = labelled({name: one["start"] for name, one in held.get("fields", {}).items()})
        self.type = ("record", self.types, frozenset())
        self.writes = []
        for one in data.get("remember", []):
            effect = Effect(one["effect"], self.type)
            demand(effect.when is None, "E_SPECS", "the condition of a write stands beside its effect")
            effect.when = expression(one["when"]) if one.get("when", "true") != "true" else None
            self.writes.append(effect)

    def begin(self, seen):
        """Its values at the first observation."""
        return fitting(self.starts, self.types, Names(seen, self.constants), self.functions)

    def names(self, observed, kept, **more):
        """What one who remembers may read."""
        return Names({**observed, **kept, **more}, self.constants)

    def count(self, seen, memory, action):
        """How many writes an action would cause."""
        names = self.names(seen, memory, action=action)
        return sum(one.when is None or a_bool(evaluate(one.when, names, self.functions)) for one in self.writes)

    def remember(self, seen, memory, action, later):
        """The memory after the writes."""
        return changed(self.writes, memory, self.names(seen, memory, action=action, seen=later), self.functions)


class Agent:
    """An agent that is a spec.

    Attributes:
        memory: What it remembers.
        draws: (name, stream, source) of each value that is drawn for a decision, under a kernel.
    """

    def __init__(self, data, world, claims):
        self.data, self.world, self.claimed = data, world, claims
        self.constants = {**world.constants, **constants_of(data)}
        self.functions = {**world.functions, **functions_of(data)}
        self.memory = Memory(data, self.constants, self.functions)
        self.draws = [
            (name, one["stream"], expression(one["from"])) for name, one in sorted(data.get("draw", {}).items())
        ]
        self.let = ordered_lets(data.get("let", {}), self.functions)
        self.candidates = []
        for one in data["candidates"]:
            known = (
                one["op"] in world.actions and world.actions[one["op"]].args.keys() == one.get("for_each", {}).keys()
            )
            demand(known, "E_SPECS", f"a candidate is no action of the world: {one['op']}")
            self.candidates.append((one["op"], labelled(one.get("for_each", {})), expression(one.get("when", "true"))))
        self.each = ordered_lets(data.get("each", {}), self.functions)
        demand(
            data.get("claims", {}).keys() == claims.keys(), "E_SPECS", "an agent claims what its governor does not ask"
        )
        self.claims = labelled(data.get("claims", {}))
        self.score = expression(data["score"])
        self.predicts = bool(data.get("predicts"))

    def begin(self, seen):
        """What it remembers at first."""
        return self.memory.begin(seen)

    def sources(self, seen, memory):
        """The lists that values are drawn from."""
        names = self.memory.names(seen, memory)
        return [evaluate(tree, names, self.functions) for _, _, tree in self.draws]

    def names(self, seen, memory, drawn, breach):
        """What its expressions read at a decision."""
        more = dict(drawn or {})
        if self.predicts:
            state = {name: seen[name] for name in self.world.type[1]}
            more.update(now=self.world.view(state), breach=breach)
        return self.memory.names(seen, memory, **more)

    def propose(self, seen, memory, drawn=None):
        """Its proposals, in order."""
        names, made = self.names(seen, memory, drawn, False), []
        bind_lets(names, self.let, self.functions)
        for op, lists, when in self.candidates:
            found, ways = [evaluate(tree, names, self.functions) for _, tree in lists], 1
            for one in found:
                ways *= len(one)
            if ways > MOST_COMBINATIONS:
                raise Failed("E_EVAL_LIMIT")
            for values in product(*found):
                BUDGET.spend(1)
                action = {"op": op, **dict(zip((name for name, _ in lists), values))}
                inner = Names({"action": action}, names)
                if a_bool(evaluate(when, inner, self.functions)):
                    made.append(self.proposal(action, inner))
        if len(made) > MOST_PROPOSALS:
            raise Failed("E_EVAL_LIMIT")
        return made

    def proposal(self, action, names):
        """One proposal: the action, the score, the claims."""
        if self.predicts and "next" not in names:
            names["next"] = self.world.view(self.world.step(dict(names["now"]), action, {})[0])
        bind_lets(names, self.each, self.functions)
        claims = fitting(self.claims, self.claimed, names, self.functions)
        names["claims"] = claims
        score = evaluate(self.score, names, self.functions)
        if type(score) is not int:
            raise Open("E_SPECS", "a score is no int")
        return {"action": action, "score": score, **claims}

    def weigh(self, seen, memory, action, after, drawn=None):
        """The score of an action that breaks a rule and leads to a state."""
        names = self.names(seen, memory, drawn, True)
        names.update(action=action, next=self.world.view(after))
        bind_lets(names, self.let, self.functions)
        return self.proposal(action, names)["score"]


# Certificates of laws: what each says is computed again from the question that they must prove, in integers.
#
# No prover is needed and no field is believed; docs/proofs.md says why each kind is a proof.

LARGEST_CERTIFICATE = 1 << 23


def check_certificate(certificate, question, holds=None):
    """See that a certificate proves a question.

    Args:
        certificate: The document.
        question: The facts that it must be about.
        holds: The judge of an opaque claim: of an initial state and the states at t, … t + span.

    Returns:
        None if it covers every admitted ring, else the length up to which it does.
    """
    try:
        certain(len(write(certificate)) <= LARGEST_CERTIFICATE, "the certificate is too large")
        format_, asked, proof = exactly(certificate, "format", "question", "proof")
        certain(format_ == "proof/v1", "the format is unknown")
        certain(write(asked) == write(question), "the certificate is about another question")
        return Certificate(question, holds).check(proof)
    except CRASHES as error:
        raise Refuted("E_CERTIFICATE", f"the certificate is malformed: {error!r}"[:200]) from None


class Phase:
    """The windows of a ring and those of its initial state, as arcs: (code, first cells, last cells)."""

    def __init__(self, width, arcs, back=0, past=()):
        self.width, self.arcs, self.back, self.past = width, arcs, back, past


class Certificate(ProofQuestion):
    """A question that a proof is held to."""

    def check(self, proof):
        """Check a proof by its kind."""
        kind = proof["kind"]
        if kind == "exhaustive":
            return self.check_exhaustive(exactly(proof, "kind", "length")[1])
        if kind == "windows":
            self.check_windows(exactly(proof, "kind", "closed")[1])
        elif kind == "circulation":
            _, initial, later = exactly(proof, "kind", "initial", "later")
            self.check_circulation(initial, later)
        else:
            _, potential = exactly(proof, "kind", "potential")
            fits = self.claim["kind"] == {"current": "conserved", "potential": "monotone"}.get(kind)
            certain(fits, "this kind of proof proves no such claim")
            self.check_change(self.claim["observable"], self.claim.get("direction", "=="), potential)
        return None

    def check_exhaustive(self, length):
        """Every admitted ring up to a length is tried."""
        certain(type(length) is int and length >= self.shortest, "no ring is covered")
        last = length if self.longest is None else min(length, self.longest)
        certain(last <= 64, "too many rings")
        rings = sum(len(self.start) ** cells for cells in range(self.shortest, last + 1))
        certain(rings <= MOST_RINGS, "too many rings")
        for cells in range(self.shortest, last + 1):
            found = self.failing(cells)
            certain(found is None, f"the claim fails on a ring of {cells} cells: {found}")
        return None if last == self.longest else length

    # Windows

    def weights(self, observable, at, width):
        """What each window of a width adds to an observable some steps later."""
        own, weights, _ = exactly(observable, "width", "weights", "constant")
        all_integers(weights, len(self.words(own)))
        used = own + 2 * at
        certain(used <= width, "the width is too small")
        return [weights[self.code(self.inner(cells[:used], at))] for cells in self.words(width)]

    def check_change(self, observable, op, potential):
        """Around any ring an observable changes by 0, by at most 0, or by at least 0: window by window."""
        certain(op in ("==", "<=", ">="), "expected ==, <= or >=")
        width, weights, constant = exactly(observable, "width", "weights", "constant")
        all_integers([constant], 1)
        all_integers(weights, len(self.words(width)))
        heights = all_integers(potential, self.symbols ** (width + 1))
        for cells in self.words(width + 2):
            change = weights[self.code(self.inner(cells))] - weights[self.code(cells[1:-1])]
            climb = heights[self.code(cells[1:])] - heights[self.code(cells[:-1])]
            holds = -change <= climb if op == ">=" else APPLIED[op](change, climb)
            certain(holds, f"the window {list(cells)} breaks the potential")

    def closed(self, value):
        """The width and the codes of a closed set of windows, checked; no codes are all windows."""
        width, codes = exactly(value, "width", "windows")
        if codes is None:
            certain(type(width) is int and width == 1, "all windows are those of one cell")
            return 1, None
        held = set(all_integers(codes, len(codes)))
        certain(len(held) == len(codes), "a window is listed twice")
        self.words(width)
        for cells in self.words(width + 2):
            if self.at_start(cells) or self.inside(cells, width, held):
                certain(self.code(self.inner(cells)) in held, f"{list(cells)} leads out of the closed windows")
        return width, held

    def at_start(self, cells):
        """Whether cells may stand in an initial state."""
        return all(cell in self.start for cell in cells)

    def inside(self, cells, width, held):
        """Whether every part of a window is among those of a closed set."""
        places = range(len(cells) - width + 1)
        return held is None or all(self.code(cells[place : place + width]) in held for place in places)

    def check_windows(self, closed):
        """A claim about one step of one cell, for every window of three cells that occurs."""
        width, held = self.closed(closed)
        claim, kind, table = self.claim, self.claim["kind"], self.rule.table
        certain(width <= 3 and kind in ("commutes", "local"), "this kind of proof proves no such claim")
        for cells in self.words(3):
            if self.at_start(cells) or self.inside(cells, width, held):
                after = table[self.code(cells)]
                if kind == "local":
                    holds = cells[1] != claim["trigger"] or after in claim["results"]
                else:
                    seen = cells[::-1] if claim["reflect"] else cells
                    holds = table[self.code(claim["map"][cell] for cell in seen)] == claim["map"][after]
                certain(holds, f"the window {list(cells)} fails")

    # Circulations

    def arcs(self, width, admitted):
        """The windows of a width that are admitted, as arcs."""
        nodes = self.symbols ** (width - 1)
        codes = [code for code, cells in enumerate(self.words(width)) if admitted(cells)]
        return [(code, code // self.symbols, code % nodes) for code in codes]

    def check_circulation(self, initial, later):
        """No ring meets a clause of `where and not claim`: as an initial state, and as a later one."""
        clauses = clauses_joined([clauses_of(self.where), clauses_of(claim_condition(self.claim), True)])
        width, trees = exactly(initial, "width", "trees")
        phase = Phase(width, self.arcs(width, self.at_start))
        self.check_trees(trees, clauses, self.cell_rows(phase), phase)
        if later is None:
            fixed = any(one["at"] is None for clause in clauses for row in clause for one in row[0])
            certain(self.every and not fixed, "later steps are not covered")
            return
        width, back, closed, links, trees = exactly(later, "width", "start_width", "closed", "links", "trees")
        size, held = self.closed(closed)
        certain(type(width) is int and width >= size, "the width is too small")
        arcs = self.arcs(width, lambda cells: self.inside(cells, size, held))
        phase = Phase(width, arcs, back, self.arcs(back, self.at_start))
        rows = self.cell_rows(phase)
        rows.append(([1] * self.symbols**width, [-1] * self.symbols**back, True, 0))
        for link in links:
            observable, op, potential = exactly(link, "observable", "op", "potential")
            self.check_change(observable, op, potential)
            sign = -1 if op == "<=" else 1
            now = [sign * one for one in self.weights(observable, 0, width)]
            rows.append((now, [-sign * one for one in self.weights(observable, 0, back)], op == "==", 0))
        self.check_trees(trees, clauses, rows, phase)

    def cell_rows(self, phase):
        """The rows that every admitted ring meets: (of the ring, of its initial state, whether ==, bound)."""
        ones, none = [1] * self.symbols**phase.width, [0] * self.symbols**phase.back if phase.back else []
        rows = [(ones, none, False, self.shortest)]
        if self.longest is not None:
            rows.append(([-1] * len(ones), none, False, -self.longest))
        return rows

    def check_trees(self, trees, clauses, shared, phase):
        """Each clause is refuted by its tree."""
        certain(isinstance(trees, list) and len(trees) == len(clauses), "not one tree for each clause")
        for tree, clause in zip(trees, clauses):
            rows = shared + [self.clause_row(row, phase, shared[0]) for row in clause]
            self.check_tree(tree, rows, phase, phase.arcs)

    def clause_row(self, row, phase, like):
        """A row of a clause: what it adds up over the windows of the ring, and over those of its initial state."""
        terms, equal, bound = row
        now, start = [0] * len(like[0]), [0] * len(like[1])
        for one in terms:
            observable, times, at = one["observable"], one["times"], one["at"]
            past = at is None and phase.back > 0
            every = self.weights(observable, 0 if past else at or 0, phase.back if past else phase.width)
            side = start if past else now
            for code, weight in enumerate(every):
                side[code] += times * weight
            bound -= times * observable["constant"]
        return now, start, equal, bound

    def check_tree(self, tree, rows, phase, arcs):
        """No ring of these arcs meets the rows: by multipliers, or in each of the cases that cover all rings."""
        size, none = len(rows[0][0]), [0] * len(rows[0][1])
        BUDGET.spend(size)
        if "nodes" in tree:
            nodes, inside, outside, crossing = exactly(tree, "nodes", "inside", "outside", "crossing")
            part = set(all_integers(nodes, len(nodes)))
            self.check_tree(inside, rows, phase, [arc for arc in arcs if arc[1] in part and arc[2] in part])
            self.check_tree(outside, rows, phase, [arc for arc in arcs if arc[1] not in part and arc[2] not in part])
            leaving = [0] * size
            for code, tail, head in arcs:
                leaving[code] = int(tail in part and head not in part)
            self.check_tree(crossing, [*rows, (leaving, none, False, 1)], phase, arcs)
        elif "window" in tree:
            window, count, fewer, more = exactly(tree, "window", "count", "fewer", "more")
            all_integers([window, count], 2)
            only = [int(code == window) for code in range(size)]
            self.check_tree(fewer, [*rows, ([-one for one in only], none, False, -count)], phase, arcs)
            self.check_tree(more, [*rows, (only, none, False, count + 1)], phase, arcs)
        else:
            self.check_leaf(tree, rows, phase, arcs)

    def check_leaf(self, tree, rows, phase, arcs):
        """Multiples of the rows say that something of at most 0 is more than 0 (Farkas)."""
        multipliers, now, start = exactly(tree, "multipliers", "now", "start")
        factors = all_integers(multipliers, len(rows))
        certain(all(one >= 0 or row[2] for one, row in zip(factors, rows)), "a negative multiplier")
        certain(sum(one * row[3] for one, row in zip(factors, rows)) > 0, "the multiples refute nothing")
        self.check_climb(factors, [row[0] for row in rows], arcs, now)
        if phase.back:
            self.check_climb(factors, [row[1] for row in rows], phase.past, start)
        else:
            certain(start is None, "the initial state is the ring itself")

    def check_climb(self, factors, rows, arcs, potential):
        """On no arc do the multiples weigh more than a potential climbs along it."""
        heights = all_integers(potential, len(rows[0]) // self.symbols)
        used = [(factor, row) for factor, row in zip(factors, rows) if factor]
        BUDGET.spend(len(arcs) * (1 + len(used)))
        for code, tail, head in arcs:
            weight = sum(factor * row[code] for factor, row in used)
            certain(weight <= heights[head] - heights[tail], f"window {code} breaks the potential")


# Whether two laws cannot follow from each other, whatever the rule: samples tell laws apart, and prove nothing.
#
# The states that a claim reads are taken as any rings of one length (docs/ranking.md, Redundancy). A law that is false
# of
# some of them where another one is true does not say the same.

APART_SAMPLES = 240


def told_apart(one, other):
    """Whether two laws do certainly not follow from each other."""
    if one.unknown is not None or other.unknown is not None or one.universe.key != other.universe.key:
        return True
    if frame_of(one) != frame_of(other):
        return True
    if one.cells or other.cells:
        return one.cells != other.cells or cell_rule(one) != cell_rule(other)
    if not (all_additive(one) and all_additive(other)):
        return True
    if max(one.waits, other.waits) > 1:
        if one.waits != other.waits or None in (one.antecedent, other.antecedent):
            return one.waits != other.waits
        pairs = [(one.antecedent, other.antecedent), (one.holds, other.holds)]
    else:
        pairs = [(whole_condition(one), whole_condition(other))]
    return any(differ(one, first, other, second) for first, second in pairs)


def frame_of(law):
    """What must be equal: starts and preconditions, and where they are restricted, the steps."""
    every = len(law.starts) == len(law.universe.alphabet) and law.where == CLAIM_TRUE
    where = None if law.where == CLAIM_TRUE else measured_tree(law).node(law.where)
    return law.starts, where, None if every else (law.first, law.steps)


def cell_rule(law):
    """What a law about single cells says: of a transform all but its rotation, of a symbol what it becomes."""
    if law.image is not None:
        return law.image.reflect, list(law.image.symbols)
    op, _, result = law.holds
    symbols = set(law.universe.alphabet)
    return law.antecedent[2], {result[1]} if op == "==" else symbols - {result[1]}


def all_additive(law):
    """Whether everything that a claim reads is a sum over windows: of nothing else two laws are proved equal."""
    names = {name for name, _, _ in claim_reads(law.claim)}
    return not names & {*CELLWISE} and all(law.quantities[name].terms() is not None for name in names)


def whole_condition(law):
    """What a law says of every step, as one node."""
    holds = law.holds
    for later in range(1, law.waits + 1):
        holds = ("or", holds, claim_moved(law.holds, later))
    return holds if law.antecedent is None else ("=>", law.antecedent, holds)


def differ(one, first, other, second):
    """Whether two conditions differ on a sample; an equality may be asked of other steps than those that it reads."""
    reads = [{(step, fixed) for _, step, fixed in claim_reads(node)} for node in (first, second)]
    if reads[0] != reads[1] and "==" in (first[0], second[0]):
        return False
    moments = sorted(reads[0] | reads[1])
    symbols, shortest = len(one.universe.alphabet), one.universe.shortest
    stream = Stream(0, "apart", symbols, shortest, len(moments))
    for number in range(APART_SAMPLES):
        size, rings = shortest + number % 4, {}
        for moment in moments:
            alike = rings and stream.integer(0, 1)
            ring = next(iter(rings.values())) if alike else [stream.integer(0, symbols - 1) for _ in range(size)]
            rings[moment] = bytes(stream.shuffle(ring))
        BUDGET.spend(size * 16)
        try:
            if bool(sampled(one, first, rings)) != bool(sampled(other, second, rings)):
                return True
        except IntegerLost:
            continue
    return False


def sampled(law, node, rings):
    """The value of a node where the states at its steps are these rings."""
    if node[0] == "const":
        return node[1]
    if node[0] == "obs":
        return law.quantities[node[1]].of(rings[node[2:]])
    if node[0] == "not":
        return not sampled(law, node[1], rings)
    return APPLIED[node[0]](sampled(law, node[1], rings), sampled(law, node[2], rings))


# Focus variables of a world (docs/variables.md): how each is read and changed, and what choices are called.
#
# What is asked here of a world about states is `Ground`: the value of an expression, the state after effects.

MOST_TRIES, LONGEST_NAME = 4096, 80


class Variables:
    """The namespace of one world."""

    def __init__(self, ground):
        self.ground, data = ground, ground.world.data
        self.entries = dict(sorted(data.get("variables", {}).items()))
        self.values, self.context = data.get("alternatives", {}), data.get("context", {})
        self.labels, self.conditions = data.get("labels", {}), data.get("well_formed", [])
        self.families = {name: name_parts(name) for name in self.entries if "<" in name}
        self.types = {}

    def names(self, state):
        """The variables that there are in a state, in order."""
        found = {name for name in self.entries if name not in self.families}
        for name, (before, _, after) in self.families.items():
            texts = self.ground.over(state, self.entries[name]["over"])
            found |= {f"{before}{text}{after}" for text in texts if text}
        return sorted(name for name in found if len(name) <= LONGEST_NAME)

    def find(self, state, name):
        """The entry that a name belongs to, its own name, and what stands for its parameter."""
        if name in self.entries and name not in self.families:
            return self.entries[name], name, {}
        for entry, (before, parameter, after) in self.families.items():
            if len(name) > len(before) + len(after) and name.startswith(before) and name.endswith(after):
                text = name[len(before) : len(name) - len(after)]
                if text in self.ground.over(state, self.entries[entry]["over"]):
                    return self.entries[entry], entry, {parameter: text}
        raise KeyError(name)

    def read(self, state, name):
        """The value of a variable."""
        told, _, given = self.find(state, name)
        return self.ground.over(state, told["read"], given)

    def mutate(self, state, name, value):
        """The state after the first edit that brings a value about, and the edit; None where there is none."""
        told, entry, given = self.find(state, name)
        tries, type_ = told.get("try"), self.type_of(entry)
        if (tries is None and not told.get("effects")) or (type_ is not None and not fits(value, type_)):
            return None
        wanted = value
        try:
            if "normal" in told:
                wanted = self.ground.over(state, told["normal"], {**given, "value": value})
                if type_ is None and wanted != value:
                    raise Open("E_REPLAY", f"whether {name!r} can have a value is not known here")
            if not self.ground.over(state, told.get("require", "true"), {**given, "value": wanted}):
                return None
            found = [None] if tries is None else self.ground.over(state, tries["for"], {**given, "value": wanted})
        except Failed:
            return None
        for element in found[:MOST_TRIES]:
            after = self.tried(state, told, given, wanted, element)
            if after is not None:
                changed = sorted(key for key in state if after[key] != state[key])
                return after, {"by": element, "changed": changed}
        return None

    def tried(self, state, told, given, wanted, element):
        """The state after one edit, if that does what is wanted."""
        tries, more = told.get("try"), {**given, "value": wanted}
        effects = told.get("effects")
        if tries is not None:
            more[tries["as"]], effects = element, tries["effects"]
        try:
            if tries is not None and not self.ground.over(state, tries.get("require", "true"), more):
                return None
            after = self.ground.changed(state, effects, more)
            if given and next(iter(given.values())) not in self.ground.over(after, told["over"]):
                return None
            if self.ground.over(after, told["read"], given) != wanted or not self.kept(state, after):
                return None
        except Failed:
            return None
        return after

    def kept(self, before, after):
        """Whether an edit breaks no condition of the world that held before it."""
        over = self.ground.over
        return all(over(after, one["require"]) or not over(before, one["require"]) for one in self.conditions)

    def alternatives(self, state, name, drawn=False):
        """Other values that may be tried, each once, in the world's order.

        A value that the variable cannot have is left out. Where that is not known here, it makes no difference, since
        nothing brings such a value about; only if one of them is drawn it would.
        """
        told, entry, given = self.find(state, name)
        if entry not in self.values:
            return []
        now, found = self.ground.over(state, told["read"], given), []
        type_ = self.type_of(entry)
        for value in self.ground.over(state, self.values[entry], {**given, "value": now}):
            if value == now or value in found or (type_ is not None and not fits(value, type_)):
                continue
            if type_ is None and drawn and self.mutate(state, name, value) is None:
                raise Open("E_REPLAY", f"whether {name!r} can have one of its alternatives is not known here")
            found.append(value)
        return found

    def type_of(self, entry):
        """Which values a variable can have, None where its text does not say so here."""
        if entry not in self.types:
            texts = (self.families[entry][1],) if entry in self.families else ()
            found = Typing(self.ground.world, texts).of(expression(self.entries[entry]["read"]).root, {})
            self.types[entry] = None if found is None or found[0] == "state" else found
        return self.types[entry]

    def normalize(self, state, focus):
        """The state as seen through some variables."""
        seen = {"focus": {}, "derived": {}}
        for name in sorted(set(focus)):
            told, _, given = self.find(state, name)
            value = self.ground.over(state, told["read"], given)
            seen["derived" if "try" in told else "focus"][name] = value
        return {**{name: self.ground.over(state, text) for name, text in self.context.items()}, **seen}

    def label(self, action):
        """What an action is called as a choice; None where the world has no such action."""
        op, args = str(action.get("op")), {name: value for name, value in action.items() if name != "op"}
        known = self.ground.world.actions.get(op)
        if known is None or args.keys() != known.args.keys():
            return None
        if not all(fits(args[name], known.args[name]) for name in args):
            return None
        if op in self.labels:
            text = self.ground.plainly(self.labels[op], args)
        else:
            text = ":".join([op, *(canonical(args[name]).decode() for name in sorted(args))])
        if len(text) <= LONGEST_NAME:
            return text
        return f"{text[:47]}#{hashlib.sha256(text.encode()).hexdigest()[:32]}"


def name_parts(name):
    """A name as (what stands before its parameter, the parameter, what stands after it)."""
    before, _, rest = name.partition("<")
    parameter, _, after = rest.partition(">")
    return before, parameter, after


def names_entry(name, entry):
    """Whether a name is of an entry of the namespace."""
    before, parameter, after = name_parts(entry)
    if not parameter:
        return name == before
    return len(name) > len(before) + len(after) and name.startswith(before) and name.endswith(after)


# What is asked of a proof: a law as the question that its certificate has to be about (docs/proofs.md).
#
# A claim is asked as conditions on sums over windows where it is that, else as something to be judged ring by ring.

ONE_TERM = ("", 0, True)
NOW, NEXT = (0, False), (1, False)
EVERYTHING = {"and": []}


class NotLinear(Exception):
    """A claim is no Boolean combination of linear conditions on sums over windows."""


class AskedLaw:
    """The question of a law: its facts, and how an opaque claim is judged; `facts` is None if nothing can be asked."""

    def __init__(self, law):
        self.law, symbols = law, law.universe.rule.symbols
        self.sums = {name: one.additive(symbols) for name, one in law.quantities.items()}
        self.guarded, where = False, EVERYTHING
        try:
            where = EVERYTHING if law.where == CLAIM_TRUE else self.condition(law.where)
        except NotLinear:
            self.guarded = True
        try:
            claim = self.opaque() if self.guarded else self.claimed()
        except NotLinear:
            claim = self.opaque()
        every = len(law.starts) == len(law.universe.alphabet)
        facts = {
            "rule": {"symbols": symbols, "table": list(law.universe.rule.table)},
            "rings": [law.universe.shortest, None],
            "start": {"symbols": None if every else list(law.starts), "where": where},
            "horizon": law.steps,
            "claim": claim,
        }
        self.facts = None if claim is None else facts

    def within_range(self):
        """The same question about the rings of the universe alone."""
        return {**self.facts, "rings": [self.law.universe.shortest, self.law.universe.longest]}

    def claimed(self):
        """The claim, as one of the kinds of a question; None if nothing can be asked."""
        law = self.law
        if law.cells:
            return self.cellwise()
        holds = law.holds
        if law.within:
            before = EVERYTHING if law.antecedent is None else self.condition(law.antecedent)
            parts = {"antecedent": before, "consequent": self.condition(holds)}
            return {"kind": "eventually", **parts, "within": law.waits}
        if law.antecedent is None:
            return self.stepwise(holds) or {"kind": "always", "condition": self.condition(holds)}
        implied = {"or": [{"not": self.condition(law.antecedent)}, self.condition(holds)]}
        return {"kind": "always", "condition": implied}

    def cellwise(self):
        """A symmetry, or what becomes of a symbol."""
        law, before, after = self.law, self.law.antecedent, self.law.holds
        if law.within:
            return None
        sides = {("obs", CELL_IMAGE, *NOW), ("obs", CELL_MOVED, *NOW)}
        if before is None and law.image is not None and after[0] == "==" and {*after[1:]} == sides:
            image = law.image
            return {"kind": "commutes", "reflect": image.reflect, "shift": image.shift, "map": list(image.symbols)}
        local = before is not None and before[0] == "==" and before[1] == ("obs", CELL_NOW, *NOW)
        local = local and after[0] in ("==", "!=") and after[1] == ("obs", CELL_NOW, *NEXT)
        if not (local and before[2][0] == after[2][0] == "const"):
            return None
        marks = law.universe.alphabet
        named = marks.index(after[2][1])
        results = [code for code in range(len(marks)) if (code == named) == (after[0] == "==")]
        return {"kind": "local", "trigger": marks.index(before[2][1]), "results": results}

    def stepwise(self, node):
        """What one quantity does from step to step, if that is all of the claim."""
        if node[0] not in ORDERS_OF_CLAIMS:
            return None
        total = self.difference(node)
        if total.pop(ONE_TERM, 0):
            return None
        times = {key[1:] for key in total}
        later = NEXT if NEXT in times else NOW
        if len(times) != 2 or later not in times:
            return None
        (earlier,) = times - {later}
        factors = {key[0]: factor for key, factor in total.items() if key[1:] == later}
        if {key[0] for key in total} != factors.keys():
            return None
        if any(total.get((name, *earlier), 0) != -factor for name, factor in factors.items()):
            return None
        observable = self.combined(factors)
        if node[0] == "==":
            return {"kind": "conserved", "observable": observable}
        if (later, earlier) == (NEXT, NOW) and node[0] in ("<=", ">="):
            return {"kind": "monotone", "observable": observable, "direction": node[0]}
        return None

    def combined(self, factors):
        """One sum over windows from several."""
        symbols, constant = self.law.universe.rule.symbols, 0
        width = max(self.sum_of(name)["width"] for name in factors)
        weights = [0] * symbols**width
        for name, factor in factors.items():
            one = self.sum_of(name)
            span = symbols ** (width - one["width"])
            constant += factor * one["constant"]
            weights = [held + factor * one["weights"][code // span] for code, held in enumerate(weights)]
        return {"width": width, "weights": weights, "constant": constant}

    def sum_of(self, name):
        """The sum over windows that an observable is."""
        if self.sums.get(name) is None:
            raise NotLinear
        return self.sums[name]

    def condition(self, node):
        """A truth value as a condition."""
        kind = node[0]
        if kind == "const" and isinstance(node[1], bool):
            return {"and": []} if node[1] else {"or": []}
        if kind == "not":
            return {"not": self.condition(node[1])}
        if kind in ORDERS_OF_CLAIMS:
            return self.compared(node)
        if kind in ("=>", "and", "or"):
            left, right = self.condition(node[1]), self.condition(node[2])
            return {"or": [{"not": left}, right]} if kind == "=>" else {kind: [left, right]}
        raise NotLinear

    def compared(self, node):
        """A comparison as a sum of terms and a bound."""
        total = self.difference(node)
        bound, terms = -total.pop(ONE_TERM, 0), []
        for (name, step, fixed), factor in total.items():
            if factor:
                if fixed and step:
                    raise NotLinear
                terms.append({"times": factor, "observable": self.sum_of(name), "at": None if fixed else step})
        return {"sum": terms, "op": node[0], "bound": bound}

    def difference(self, node):
        """The left side less the right side."""
        return self.added(self.linear(node[1]), self.linear(node[2]), -1)

    @staticmethod
    def added(left, right, sign):
        """A sum or difference of two sums."""
        return {key: left.get(key, 0) + sign * right.get(key, 0) for key in {**left, **right}}

    def linear(self, node):
        """An integer as a sum: {(name, step, fixed): factor}."""
        kind = node[0]
        if kind == "const" and type(node[1]) is int:
            return {ONE_TERM: node[1]}
        if kind == "obs" and node[1] not in CELLWISE:
            self.sum_of(node[1])
            return {node[1:]: 1}
        if kind not in SUM_SIGNS:
            raise NotLinear
        left, right = self.linear(node[1]), self.linear(node[2])
        if kind != "*":
            return self.added(left, right, 1 if kind == "+" else -1)
        constant, other = (left, right) if left.keys() <= {ONE_TERM} else (right, left)
        if not constant.keys() <= {ONE_TERM}:
            raise NotLinear
        return {key: factor * constant.get(ONE_TERM, 0) for key, factor in other.items()}

    def opaque(self):
        """The claim as something that is judged ring by ring; with its preconditions, if they are no conditions."""
        law = self.law
        reads = claim_reads(law.claim) + (claim_reads(law.where) if self.guarded else [])
        if law.cells or any(fixed and step for _, step, fixed in reads):
            return None
        from_start = self.guarded or any(fixed for _, _, fixed in reads)
        name = f"{claim_text(law.claim)} ({law.key})"
        return {"kind": "opaque", "name": name, "span": law.reach, "from_start": from_start}

    def holds(self, start, states):
        """Whether an opaque claim holds of an initial state and the states from a step on."""
        law = self.law

        def value(node, at):
            if node[0] == "const":
                return node[1]
            if node[0] == "obs":
                _, name, step, fixed = node
                return law.quantities[name].of(bytes(start if fixed else states[at + step]))
            if node[0] == "not":
                return not value(node[1], at)
            found = APPLIED[node[0]](value(node[1], at), value(node[2], at))
            return held_integer(found) if node[0] in SUM_SIGNS else found

        if self.guarded and not value(law.where, 0):
            return True
        if law.antecedent is not None and not value(law.antecedent, 0):
            return True
        return any(value(law.holds, later) for later in range(law.waits + 1))


def question_contract(question):
    """The starts and rings that a question is about, in words; symbols by number."""
    shortest, longest = question["rings"]
    symbols, where = question["start"]["symbols"], question["start"]["where"]
    rings = f"{shortest} or more" if longest is None else f"{shortest} to {longest}"
    starts = "all states" if symbols is None else f"starts over {{{', '.join(map(str, symbols))}}}"
    met = "" if where == EVERYTHING else " that meet the preconditions"
    return f"{starts}{met} on rings of {rings} cells"


# Laws: from the specs of a law, its universe and its template to what is claimed, when, and from which starts.
#
# What a universe lacks, or what is too much, leaves a law without a claim that can be tried: then `unknown` says why.

MOST_T = 200
LAW_FIELDS = ("direction", "bound_op", "bound_value", "transform", "trigger_symbol", "result_op", "result_symbol")
JUNCTIONS = {"&&": "and", "||": "or"}


class RingLaw:
    """A law: everything that judging it needs."""

    def __init__(self, specs, key, universe=None):
        """A law by its key among specs by key; a universe that was read before may be given."""
        data = specs[key]
        template, named = specs[data["template"]], data["universe"]
        self.key, self.name, self.data, self.form = key, data["name"], data, template["name"]
        self.universe = RingUniverse(named, specs[named]) if universe is None else universe
        self.needs, steps = template.get("needs") or [], template["for_all"]["t"]
        self.first, self.short = steps.get("from", 0), 1 if steps.get("to", "T") == "T - 1" else 0
        self.cells, self.within = template["for_all"].get("i") is not None, template.get("within") is not None
        quantifiers = data.get("quantifiers") or {}
        self.T, self.H = quantifiers.get("T", 50), quantifiers.get("H") if "H" in self.needs else None
        self.seed, self.cases = data.get("seed", 42), data.get("cases", 300)
        self.mutations, self.forbidden = data.get("mutations", 1500), data["forbidden"]
        self.unknown, self.missing, self.warnings, self.image = None, {}, [], None
        self.quantities, self.claim, self.antecedent, self.holds = {}, CLAIM_TRUE, None, CLAIM_TRUE
        self.read(template)

    def read(self, template):
        """Read what the spec says, in the order in which reasons for saying nothing count."""
        data, fields = self.data, {name: self.data.get(name) for name in self.needs if name != "H"}
        self.warnings += ["W_LAW_FIELD" for name in LAW_FIELDS if name not in self.needs and data.get(name) is not None]
        if "H" in self.needs:
            fields["H"] = self.H
        demand(None not in fields.values(), "E_SPECS", "the law lacks a field that its template needs")
        if "transform" in self.needs:
            self.image = self.universe.image(data["transform"])
            if self.image is None:
                self.give_up("missing_transform", data["transform"])
        self.read_observables()
        wheres = [self.condition(one) for one in data.get("preconditions") or []]
        self.where = CLAIM_TRUE
        for place, one in enumerate([one for one in wheres if one is not None]):
            self.where = one if place == 0 else ("and", self.where, one)
        self.read_starts()
        self.read_tests()
        claim = self.claimed(template, fields)
        self.read_limits()
        self.read_requirements()
        if self.missing:
            self.give_up("missing_observable", ", ".join(self.missing))
        if claim is not None:
            self.claim = claim
            self.judged(template, fields)
        demand(claim is not None or self.unknown is not None, "E_SPECS", "the law has no claim")

    def give_up(self, reason, detail):
        """Nothing can be said, and this is why, unless another reason came before."""
        self.unknown = self.unknown or (reason, detail)

    # Observables and preconditions

    def read_observables(self):
        """The observables of the law, in order."""
        listed = self.data.get("observables") or []
        for place, one in enumerate(listed):
            self.later = {other["name"] for other in listed[place:]} - self.universe.observables.keys()
            root = parse(str(one["expr"])).root
            if self.offered(root):
                self.quantities[one["name"]] = self.quantity(root)
        self.later, self.conditions = set(), 0

    def offered(self, root):
        """Whether what an expression names is there; what is not is noted, the rightmost first."""
        waiting, offered = [root], True
        while waiting:
            node = waiting.pop()
            waiting += inner_nodes(node)
            named = node[2] if node[0] == "name" or (node[0] == "call" and node[3] is None) else None
            if named is not None and named not in self.quantities and named not in self.universe.observables:
                demand(named not in self.later, "E_SPECS", f"{named!r} is used before it is defined")
                self.missing[named] = None
                offered = False
        return offered

    def quantity(self, node):
        """The quantity that an expression stands for."""
        form = node[0]
        if form == "literal" and type(node[2]) is int:
            return Quantity("number", node[2])
        if form == "name":
            known = self.quantities.get(node[2])
            return known or Quantity("measure", self.universe.measure(node[2]))
        if form == "call" and node[3] is None and node[2] in self.universe.observables:
            return Quantity("measure", self.universe.measure(node[2], [self.argument(one) for one in node[4]]))
        if form == "unary" and node[2] == "-":
            return Quantity("-", Quantity("number", 0), self.quantity(node[3]))
        if form == "binary" and node[2] in SUM_SIGNS:
            return Quantity(node[2], self.quantity(node[3]), self.quantity(node[4]))
        raise Open("E_SPECS", "an observable has a form that is not read here")

    def argument(self, node):
        """A written-out argument."""
        if node[0] != "literal" or isinstance(node[2], bool) or not isinstance(node[2], (int, str)):
            raise Open("E_SPECS", "an argument of an observable is not written out")
        known = isinstance(node[2], int) or node[2] in self.universe.alphabet
        demand(known, "E_SPECS", "the alphabet lacks a symbol")
        return node[2]

    def condition(self, said):
        """A precondition as a claim about the start; None if it needs what is missing."""
        if not isinstance(said, dict):
            root = parse(str(said)).root if not isinstance(said, bool) else ("literal", 0, said)
            return self.joined(root) if self.offered(root) else None
        sides = []
        for name in ("lhs", "rhs"):
            root = parse(str(said[name])).root
            sides.append(self.named(root) if self.offered(root) else None)
        return None if None in sides else (said["op"], *sides)

    def joined(self, node):
        """A condition: comparisons, `&&`, `||` and `!`."""
        form = node[0]
        if form == "literal" and isinstance(node[2], bool):
            return ("const", node[2])
        if form == "unary" and node[2] == "!":
            return ("not", self.joined(node[3]))
        if form == "logic":
            found = self.joined(node[3][0])
            for one in node[3][1:]:
                found = (JUNCTIONS[node[2]], found, self.joined(one))
            return found
        if form == "binary" and node[2] in ORDERS_OF_CLAIMS:
            return (node[2], self.named(node[3]), self.named(node[4]))
        raise Open("E_SPECS", "a precondition has a form that is not read here")

    def named(self, node):
        """A side of a comparison, under a name of its own."""
        self.conditions += 1
        name = f"precondition {self.conditions}"
        self.quantities[name] = self.quantity(node)
        return ("obs", name, 0, True)

    # Starts, tests, limits

    def read_starts(self):
        """The symbols of initial states, as numbers."""
        marks, own = self.universe.alphabet, self.data.get("starts")
        tests = self.data.get("proposed_tests") or []
        if own is not None:
            self.starts = sorted({marks.index(one) for one in own.get("symbols") or marks})
        elif any(self.beyond(one["family"]) in (one.get("params") or {}) for one in tests):
            self.starts = list(range(len(marks)))
        else:
            self.starts = self.universe.starts

    def beyond(self, family):
        """The parameter with which a family goes beyond the usual starts."""
        return (self.universe.generators.get(family) or {}).get("beyond")

    def read_tests(self):
        """The families that the law asks for: (family, cases, lengths, beyond)."""
        self.tests = []
        for one in self.data.get("proposed_tests") or []:
            if one["family"] not in self.universe.generators:
                self.give_up("missing_generator", one["family"])
                continue
            params, beyond = one.get("params") or {}, self.beyond(one["family"])
            wide = params.get(beyond, False) if beyond is not None else False
            self.tests.append((one["family"], params.get("cases"), list(params.get("lengths") or []), wide))

    def read_limits(self):
        """Horizons that are too far."""
        for name, value in (("T", self.T), ("H", self.H or 0)):
            if value > MOST_T:
                self.give_up("resource_limit", f"{name} = {value} is above {MOST_T}")

    def read_requirements(self):
        """What its proposer believes that there is."""
        wanted, universe = self.data.get("capability_requirements") or {}, self.universe
        for label in wanted.get("primitive_observables") or []:
            if label.partition("(")[0].strip() not in universe.observables:
                self.give_up("missing_observable", label)
        for label in wanted.get("transforms") or []:
            if label.partition("(")[0].strip() not in universe.transforms:
                self.give_up("missing_transform", label)
        for label in wanted.get("generator_families") or []:
            if label not in universe.generators:
                self.give_up("missing_generator", label)

    # The claim

    def claimed(self, template, fields):
        """The claim: a tree, what the fields say, or a text; None, with a reason, if the text leaves it open."""
        if self.data.get("claim_ast") is not None:
            claim = claim_from_json(self.data["claim_ast"])
        elif not template.get("parts"):
            return claim_from_json(pattern_filled(template["claim"], {}, fields))
        else:
            try:
                claim = ClaimText(self.data.get("claim") or "").whole()
            except Ambiguous as ambiguous:
                self.give_up("ambiguous_claim", str(ambiguous))
                return None
            self.warnings.append("W_LAW_STRING")
        names = {one["name"] for one in self.data.get("observables") or []} | {*CELLWISE}
        demand(
            {one[1] for one in claim_nodes(claim) if one[0] == "obs"} <= names, "E_SPECS", "a claim reads what is not"
        )
        demand(claim_sort(claim) == "bool", "E_SPECS", "the claim is no truth value")
        return claim

    def judged(self, template, fields):
        """When a step counts, and what must hold there."""
        found = {}
        pattern_matched(template["claim"], claim_to_json(self.claim), fields, found)
        parts = {name: claim_to_json(node) for name, node in found.items()}
        if template.get("antecedent") is not None:
            self.antecedent = claim_from_json(pattern_filled(template["antecedent"], parts, fields))
        holds = template["claim"] if template.get("holds") is None else template["holds"]
        self.holds = claim_from_json(pattern_filled(holds, parts, fields))

    # What follows

    @property
    def said(self):
        """The claim for people."""
        unread = self.unknown is not None and self.claim == CLAIM_TRUE
        return self.data["claim"] if unread and self.data.get("claim") else claim_text(self.claim)

    @cached_property
    def last(self):
        """The last step that is judged."""
        return self.T - self.short

    @cached_property
    def waits(self):
        """Steps after the one that is judged at which it may still come true."""
        return (self.H or 0) if self.within else 0

    @cached_property
    def reach(self):
        """Steps after the one that is judged that are looked at."""
        nodes = [self.holds, self.antecedent or CLAIM_TRUE]
        return max([0, *(step for one in nodes for _, step, fixed in claim_reads(one) if not fixed)]) + self.waits

    @cached_property
    def fixed(self):
        """The latest step from the start that the claim names."""
        return max((step for _, step, fixed in claim_reads(self.claim) if fixed), default=0)

    @cached_property
    def steps(self):
        """Steps that are evolved."""
        return max(self.last + self.reach, self.fixed)

    @property
    def contract(self):
        """The starts and rings that a verdict is about, in words."""
        universe, every = self.universe, len(self.starts) == len(self.universe.alphabet)
        symbols = "all symbols" if every else "the symbols " + " ".join(universe.text([one]) for one in self.starts)
        met = " that meet the preconditions" if self.where != CLAIM_TRUE else ""
        return f"rings of {universe.shortest} to {universe.longest} cells of {symbols}{met}"

    def fits(self, node):
        """The range of a claim's node on every ring of the universe; None if an integer in it may leave 64 bits."""
        if node[0] == "const":
            return (node[1], node[1]) if type(node[1]) is int else (0, 1)
        if node[0] == "obs":
            return (0, 1) if node[1] in CELLWISE else self.quantities[node[1]].bounds(self.universe.longest)
        if node[0] == "not":
            return self.fits(node[1])
        left, right = self.fits(node[1]), self.fits(node[2])
        if left is None or right is None:
            return None
        return range_kept(range_joined(node[0], left, right) if node[0] in SUM_SIGNS else (0, 1))


# Trying a law on starts: whether it is violated, when first, and what the lack of a violation is worth.
#
# Every start is followed step by step, and its steps are judged together. Where an integer may leave 64 bits,
# everything
# that could be read is computed, so that it does not depend on the order whether one does.

LAW_LIMIT_CELLS = 500_000_000
MILLIONTHS = 1_000_000
SEARCH_ROUNDS, SEARCH_POOL, MINIMISED_MOST, EXCERPT_MOST = 5, 48, 300, 12
STATES_KEPT, MEASURES_KEPT = 1 << 19, 16
CONTENT_STARTS, CONTENT_STEPS, CONTENT_MUTANTS, CONTENT_CELLS = 64, 8, 4096, 10


class Tried:
    """One start under a law: its states, and what the law says of each step.

    Values of many steps are computed together, as one list: of what is about cells those of all cells of a step, then
    those of the next one.
    """

    def __init__(self, law, start, last=None, rule=None, known=None):
        """Follow a start, to the last step that is judged; under another rule, and where it is known, what comes."""
        self.law, self.start, rule = law, start, rule or law.universe.rule
        self.last = law.last if last is None else last
        steps = steps_to(law, self.last)
        BUDGET.spend(len(start) * (steps + 1))
        self.states, self.known = known or (rule.run(start, steps), {})
        self.rows, self.measured = {CELL_NOW: self.states}, {}
        if law.image is not None:
            self.rows[CELL_IMAGE] = rule.run(law.image.of(start), steps)
            self.rows[CELL_MOVED] = [law.image.of(state) for state in self.states]

    def row(self, quantity):
        """The values of an observable at every step."""
        if quantity not in self.measured:
            self.measured[quantity] = self.measure(quantity)
        return self.measured[quantity]

    def measure(self, quantity):
        """The same, computed; what a measure of the universe is worth is known for the other laws, too."""
        op, left = quantity.op, quantity.left
        if op == "number":
            return [left] * len(self.states)
        if op == "measure":
            found = self.known.get(left) or list(map(left.of, self.states))
            if len(self.known) < MEASURES_KEPT:
                self.known[left] = found
            return found
        return all_held(list(map(APPLIED[op], self.row(left), self.row(quantity.right))))

    def read_all(self):
        """Compute every observable that is read, of every state."""
        law = self.law
        for node in (law.where, law.holds, law.antecedent or law.where):
            for name, _, _ in claim_reads(node):
                if name not in CELLWISE:
                    self.row(law.quantities[name])

    def values(self, node, first, last):
        """A node of a claim at the steps from one to another, and whether these are values of cells."""
        kind, count = node[0], last - first + 1
        if kind == "const":
            symbol = isinstance(node[1], str)
            return [self.law.universe.alphabet.index(node[1]) if symbol else node[1]] * count, False
        if kind == "obs":
            begin, end = (node[2], node[2]) if node[3] else (first + node[2], last + node[2])
            cellwise = node[1] in CELLWISE
            row = self.rows[node[1]] if cellwise else self.row(self.law.quantities[node[1]])
            row = row[begin : end + 1] * (count if node[3] else 1)
            return b"".join(row) if cellwise else row, cellwise
        if kind == "not":
            found, cellwise = self.values(node[1], first, last)
            return [not one for one in found], cellwise
        (one, wide), (other, broad) = (self.values(below, first, last) for below in node[1:])
        if wide != broad:
            one, other = (one, self.spread(other)) if wide else (self.spread(one), other)
        BUDGET.spend(len(one))
        found = list(map(APPLIED[kind], one, other))
        return all_held(found) if kind in SUM_SIGNS else found, wide or broad

    def spread(self, values):
        """A value for each cell of each step."""
        size = len(self.start)
        return [one for one in values for _ in range(size)]

    def usable(self):
        """Whether the start meets the preconditions."""
        return bool(self.values(self.law.where, 0, 0)[0][0])

    def looked(self, first, last):
        """At how many of some steps the antecedent holds, and the first at which the law is violated, or None."""
        law, size = self.law, len(self.start) if self.law.cells else 1
        if last < first:
            return 0, None
        counts, wide = [True] * (last - first + 1), False
        if law.antecedent is not None:
            counts, wide = self.values(law.antecedent, first, last)
        kept, broad = self.values(law.holds, first, last + law.waits)
        if not law.cells and (wide or broad):
            raise Open("E_SPECS", "a law that is not about cells reads cells")
        if law.cells:
            counts, kept = counts if wide else self.spread(counts), kept if broad else self.spread(kept)
        span = 1
        while span <= law.waits:  # each is true if it or one of those up to `span` steps later is
            more = min(span, law.waits + 1 - span)
            kept = [one or other for one, other in zip(kept, kept[more * size :])]
            span += more
        broken = [one and not other for one, other in zip(counts, kept)]
        hits = sum(any(counts[place : place + size]) for place in range(0, len(counts), size))
        return hits, first + broken.index(True) // size if True in broken else None

    def judged(self):
        """Whether it counts, at how many steps the antecedent held, and the first step of a violation or None."""
        if not self.law.fitting:
            self.read_all()
        usable = self.usable()
        if self.law.fitting and not usable:
            return False, 0, None
        hits, violated = self.looked(self.law.first, self.last)
        return (True, hits, violated) if usable else (False, 0, None)


def all_held(values):
    """Integers, all of them within 64 bits."""
    if values:
        held_integer(min(values))
        held_integer(max(values))
    return values


def steps_to(law, last):
    """Steps that are evolved to judge those up to a last one."""
    return max(last + law.reach, law.fixed)


def law_work(law, cases):
    """The cells that the cases and the search after them may read."""
    cells = sum(len(start) for _, start in cases)
    share = -(-law.mutations * cells // max(1, len(cases)))
    return (cells + share) * (law.steps + 1) * (1 + len(law.quantities))


class Trial:
    """A law, tried on its cases."""

    def __init__(self, law, cases):
        BUDGET.foresee(law_work(law, cases))
        law.fitting = law.fits(law.claim) is not None and law.fits(law.where) is not None
        self.law, self.cases, self.judged = law, cases, []
        seen = dict.fromkeys(("interacting", "wrapping"), 0)
        families, bins, hit_cases = set(), set(), 0
        for family, start in cases:
            tried = Tried(law, start)
            self.judged.append(tried.judged())
            usable, hits, _ = self.judged[-1]
            if usable:
                seen["interacting"] += self.interacts(tried)
                seen["wrapping"] += self.wraps(tried)
                bins.add(self.bin(start))
            if hits:
                families.add(family)
                hit_cases += 1
        self.power = {
            "cases": len(cases),
            "usable": sum(one[0] for one in self.judged),
            "hits": sum(one[1] for one in self.judged),
            "hit_cases": hit_cases,
            "families": len(families),
            **seen,
            "bins": len(bins),
        }
        self.power["coverage"] = coverage(self.power)

    def interacts(self, tried):
        """Whether what the universe calls interaction happens at some step; else whether the ring changes."""
        universe, states = self.law.universe, tried.states
        if universe.interaction is None:
            return any(one != other for one, other in zip(states, states[1:]))
        measure = universe.measure(universe.interaction)
        return any(measure.of(state) > 0 for state in states)

    def wraps(self, tried):
        """Whether there is something in the first or the last cell at some step."""
        empty = self.law.universe.empty
        return any(state[0] != empty or state[-1] != empty for state in tried.states)

    def bin(self, start):
        """The fifth of density that a start is of."""
        filled = sum(cell != self.law.universe.empty for cell in start)
        return min(filled * 5 // len(start), 4)

    def violation(self):
        """The shortest case that violates the law, of those the one that does so first; None if none does."""
        return first_violating([start for _, start in self.cases], self.judged)

    def weakness(self):
        """Why the trial says nothing, if so."""
        power = self.power
        if power["usable"] < 50:
            return "unmet_preconditions"
        if power["hits"] == 0:
            return "vacuous_pass"
        weak = power["hits"] < 20 or power["families"] < 2 or power["coverage"] < 300_000
        return "inconclusive_low_power" if weak else None

    def bound(self):
        """The most that the rate of violations can be, in millionths (95 %): three divided by the hits."""
        hits = self.power["hits"]
        return min(MILLIONTHS, -(-3 * MILLIONTHS // hits)) if hits else None

    def searched(self):
        """A start that violates the law, found by changing the best ones round after round; None if there is none."""
        law = self.law
        if law.mutations < SEARCH_ROUNDS:
            return None
        maker = StartMaker(law.universe, {}, law.starts, [], Stream(law.seed, "search", law.universe.name))
        pool, count = best_starts([start for _, start in self.cases], self.judged), law.mutations // SEARCH_ROUNDS
        for number in range(SEARCH_ROUNDS):
            starts = [maker.changed(pool[place % len(pool)], 1 + (number + place) % 3) for place in range(count)]
            judged = [Tried(law, start).judged() for start in starts]
            found = first_violating(starts, judged)
            if found is not None:
                return found
            pool = best_starts(starts, judged)[: SEARCH_POOL // 2] + pool[: SEARCH_POOL // 2]
        return None


def coverage(power):
    """The weighted sum of the ratios, in millionths."""
    usable = max(1, power["usable"])
    weighted = ((300_000, "usable", max(1, power["cases"])), (200_000, "interacting", usable))
    weighted += ((100_000, "wrapping", usable), (200_000, "bins", 5), (200_000, "hit_cases", usable))
    return sum(weight * power[name] // of for weight, name, of in weighted)


def first_violating(starts, judged):
    """The shortest start that violates a law, of those the one that does so first, of those the first."""
    found = [(len(starts[at]), one[2], at) for at, one in enumerate(judged) if one[2] is not None]
    return starts[min(found)[2]] if found else None


def best_starts(starts, judged):
    """Short starts at which the antecedent holds often; those that are not usable come last."""
    order = sorted(range(len(starts)), key=lambda at: (not judged[at][0], len(starts[at]) > 32, -judged[at][1], at))
    return [starts[at] for at in order[:SEARCH_POOL]]


def law_content(law):
    """How many rules that differ in one entry break a law: {broken, mutants, share}."""
    universe, stream = law.universe, Stream(0, "content", law.universe.name)
    sizes = range(universe.shortest, max(universe.shortest, min(universe.longest, CONTENT_CELLS)) + 1)
    lengths = [sizes[number % len(sizes)] for number in range(CONTENT_STARTS)]
    starts = [bytes([stream.choice(law.starts) for _ in range(length)]) for length in lengths]
    every, last = len(universe.rule.table) * (universe.rule.symbols - 1), min(law.last, CONTENT_STEPS)
    mutants, broken = min(every, CONTENT_MUTANTS), 0
    for number in range(mutants):
        rule, known = mutant_runs(universe, number * every // mutants, starts, steps_to(law, last))
        judged = (Tried(law, start, last, rule, one).judged() for start, one in zip(starts, known))
        every_one = list(judged) if not law.fitting else judged
        broken += any(one[2] is not None for one in every_one)
    return {"broken": broken, "mutants": mutants, "share": MILLIONTHS * broken // mutants}


def mutant_runs(universe, number, starts, steps):
    """A rule that differs in one entry, and what it makes of some starts; kept, as every law is tried on the same."""
    question = (universe.rule.table, number, steps, *starts)
    found = universe.mutant_runs.get(question)
    if found is None:
        rule = universe.rule.changed(number)
        found = rule, [(rule.run(start, steps), {}) for start in starts]
        if (len(universe.mutant_runs) + 1) * len(starts) * (steps + 1) <= STATES_KEPT:
            universe.mutant_runs[question] = found
    return found


# Counterexamples


def first_broken(law, start):
    """The first step at which a start violates a law, or None."""
    return Tried(law, start).judged()[2]


def minimised(law, start, t):
    """A start at least as small that violates a law no later, and how many candidates were judged for it."""
    spent = 0
    for shrink in (shorter_starts, emptier_starts, shorter_starts):
        chunk = len(start) // 2
        while chunk and spent < MINIMISED_MOST:
            candidates = list(dict.fromkeys(shrink(law, start, chunk)))[: MINIMISED_MOST - spent]
            spent += len(candidates)
            judged = [Tried(law, one, t).judged()[2] for one in candidates]
            found = [(at, place) for place, at in enumerate(judged) if at is not None]
            if found:
                t, place = min(found)
                start = candidates[place]
                chunk = min(chunk, len(start) // 2)
            else:
                chunk //= 2
    return start, spent


def shorter_starts(law, start, chunk):
    """Some neighbouring cells less."""
    if len(start) - chunk < law.universe.shortest:
        return []
    return [start[:place] + start[place + chunk :] for place in range(0, len(start), chunk)]


def emptier_starts(law, start, chunk):
    """Some neighbouring things less."""
    empty, found = law.universe.empty, []
    for place in range(0, len(start) if empty in law.starts else 0, chunk):
        cells = start[place : place + chunk]
        if any(cell != empty for cell in cells):
            found.append(start[:place] + bytes([empty]) * len(cells) + start[place + chunk :])
    return found


def counterexample_of(law, start, t, judged):
    """The counterexample that a start is at a step, as a receipt tells it; `judged` is told with it."""
    tried = Tried(law, start)
    first = max(0, t - 2)
    states = tried.states[first : max(t + 2, t + law.reach + 1)][:EXCERPT_MOST]
    names = dict.fromkeys(name for name, _, _ in claim_reads(law.claim) if name in law.quantities)
    after = law.universe.rule.step(tried.states[t])
    return {
        "start": law.universe.text(start),
        "t": t,
        "excerpt": {"from": first, "states": [law.universe.text(one) for one in states]},
        "observables": {
            "t": {name: law.quantities[name].of(tried.states[t]) for name in names},
            "t_plus_1": {name: law.quantities[name].of(after) for name in names},
        },
        "minimised": judged,
    }


def presented(law, start):
    """A small counterexample from a start that violates a law."""
    small, judged = minimised(law, start, first_broken(law, start))
    return counterexample_of(law, small, first_broken(law, small), judged)


# What comes to a run from outside of its step: drifts, which change the state, and invariants, which look at it.


def drifts_of(keys, specs, world, horizon):
    """The drifts that a scenario names, in order; their schedules must find room in the first receipt."""
    made, room = {}, LINE
    for key, times in Counter(keys).items():
        made[key] = Drift(specs[key], world, horizon)
        room -= times * sum(len(str(t)) + 1 for t in made[key].schedule)
        demand(room >= 0, "E_SPECS", "the drifts are due more often than a receipt can tell")
    return [made[key] for key in keys]


class Drift:
    """One drift of a run."""

    def __init__(self, data, world, horizon):
        self.name, self.world = data["name"], world
        self.constants = {**world.constants, **constants_of(data)}
        self.functions = {**world.functions, **functions_of(data)}
        at = expression(data["at"])
        own = Names({}, self.constants)
        self.schedule = set()
        for t in range(horizon):
            own["t"] = t
            if evaluate(at, own, {}):
                self.schedule.add(t)
        self.when = expression(data.get("when", "true"))
        draws = sorted(data.get("draw", {}).items())
        self.draws = [(name, one["stream"], expression(one["from"])) for name, one in draws]
        self.effects = effects_of(data["effects"], world.type)

    def names(self, state, **more):
        """What its expressions read."""
        return Names(more, Names(self.constants, self.world.view(state)))

    def sources(self, state):
        """The lists to draw from; None where it does not happen."""
        names = self.names(state)
        if not evaluate(self.when, names, self.functions):
            return None
        return [evaluate(tree, names, self.functions) for _, _, tree in self.draws]

    def apply(self, state, drawn):
        """The state after it."""
        return changed(self.effects, state, self.names(state, **drawn), self.functions)


class Invariant:
    """One invariant of a run."""

    def __init__(self, data, world):
        self.name, self.world = data["name"], world
        self.scope, self.severity = data.get("scope", "step"), data.get("severity", "fatal")
        self.constants = {**world.constants, **constants_of(data)}
        self.functions = {**world.functions, **functions_of(data)}
        self.when, self.require = expression(data.get("when", "true")), expression(data["require"])
        self.witness = labelled(data.get("witness", {}))

    def judge(self, previous, state):
        """None where it holds, False where it is not looked at, else what is said of the breach."""
        more = {"previous": self.world.view(previous)}
        names = Names(more, Names(self.constants, self.world.view(state)))
        if not evaluate(self.when, names, self.functions):
            return False
        if evaluate(self.require, names, self.functions):
            return None
        return valued(self.witness, names, self.functions)


# A world as its spec says: names, start states, and the step, which goes through the parts inside it.

ALL_PATHS = frozenset({()})
DEEPEST_PARTS = 16


class Action:
    """One operation."""

    def __init__(self, data, world):
        named = world.data.get("types", {})
        given = data.get("args", {})
        self.args = {name: read_type(one, named) for name, one in given.items()}
        self.allowed = {name: allowed_values(one, named) for name, one in given.items()}
        self.let = ordered_lets(data.get("let", {}), world.functions)
        self.when = expression(data.get("when", "true"))
        self.effects = effects_of(data.get("effects"), world.type)
        self.otherwise = effects_of(data.get("otherwise"), world.type)
        self.outcome = labelled(data.get("outcome", {}))


class Follower:
    """A part: its world, its start values, and what it does when its world acts."""

    def __init__(self, data, world, inner):
        self.world, self.start = inner, labelled(data.get("start", {}))
        self.follow = {}
        for op, one in data["follow"].items():
            known = op in world.data["actions"] and one["action"] in inner.actions
            demand(known and not inner.inputs, "E_SPECS", f"no part can follow {op!r} so")
            takes = inner.actions[one["action"]].args
            demand(takes.keys() == one.get("args", {}).keys(), "E_SPECS", f"{op!r} gives a part other arguments")
            lets = ordered_lets(one.get("let", {}), world.functions)
            self.follow[op] = (one["action"], lets, labelled(one.get("args", {})), takes)


class World:
    """A checked world.

    Attributes:
        type: The type of its state, its parts' included.
        functions, constants: What its expressions may use, those of its parts' worlds included.
        parts: Part by name, in the order of the names.
    """

    def __init__(self, specs, key, depth=0):
        demand(depth <= DEEPEST_PARTS, "E_SPECS", "worlds are inside one another too deep")
        self.data = data = specs[key]
        inner = {name: World(specs, one["world"], depth + 1) for name, one in sorted(data.get("parts", {}).items())}
        self.constants, self.functions = {}, {}
        for one in (*inner.values(),):
            self.constants.update(one.constants)
            self.functions.update(one.functions)
        self.constants.update(constants_of(data))
        self.functions.update(functions_of(data))
        named = data.get("types", {})
        self.inputs = {name: read_type(one, named) for name, one in data.get("inputs", {}).items()}
        self.fields = {name: read_type(one, named) for name, one in data["state"].items()}
        self.type = ("record", {**self.fields, **{name: one.type for name, one in inner.items()}}, frozenset())
        self.derived = {name: expression(one) for name, one in data.get("derived", {}).items()}
        self.actions = {op: Action(one, self) for op, one in sorted(data["actions"].items())}
        self.parts = {name: Follower(data["parts"][name], self, one) for name, one in inner.items()}
        self.every_step = effects_of(data.get("every_step"), self.type)
        self.observed, self.opened = labelled(data.get("observe", {})), labelled(data.get("opening", {}))
        self.recorded = ordered_lets(data.get("record", {}), self.functions)
        self.receipted = ordered_lets(data.get("receipt", {}), self.functions)
        self.goal = expression(data["success"]) if data.get("success") is not None else None
        self.start_values = labelled(data.get("start", {}))
        self.well_formed = [expression(one["require"]) for one in data.get("well_formed", [])]
        drawing = data.get("drawing") or {"legend": {}}
        self.glyphs = {
            glyph: (
                expression(one["cell"]) if one.get("cell") is not None else None,
                effects_of(one.get("effects"), self.type),
            )
            for glyph, one in drawing["legend"].items()
        }
        self.seen = []

    # Looking at a state

    def view(self, state):
        """A state as expressions see it: with derived values, those of its parts too."""
        for known, found in self.seen:
            if known is state:
                return found
        fields = {name: self.parts[name].world.view(one) if name in self.parts else one for name, one in state.items()}
        around = Names({}, self.constants)
        found = View(fields, self.derived, around, self.functions)
        around["now"] = found
        self.seen = [(state, found), *self.seen[:7]]
        return found

    def names(self, state, **more):
        """What expressions over a state may read."""
        return Names(more, self.view(state))

    def over(self, state, text, **more):
        """The value of an expression over a state."""
        return evaluate(expression(text), self.names(state, **more), self.functions)

    def changed(self, state, effects, **more):
        """The state after effects, as a spec holds them."""
        return changed(effects_of(effects, self.type), state, self.names(state, **more), self.functions)

    def observe(self, state):
        """What an agent sees."""
        return valued(self.observed, self.names(state), self.functions)

    def opening(self, state):
        """Figures of a start state."""
        return valued(self.opened, self.names(state), self.functions)

    def success(self, state):
        """Whether the goal is reached."""
        return False if self.goal is None else evaluate(self.goal, self.names(state), self.functions)

    def between(self, lets, state, after, outcome):
        """Named expressions over a step."""
        names = self.names(state, next=self.view(after), outcome=outcome)
        bind_lets(names, lets, self.functions)
        return {name: names[name] for name, _ in lets}

    def record(self, state, after, outcome):
        """Figures of a step."""
        return self.between(self.recorded, state, after, outcome)

    def told(self, state, after, outcome):
        """What the worlds of the parts that keep receipts say of a step that concerns them."""
        said = {}
        for name, part in self.parts.items():
            if part.world.receipted and name in outcome:
                inner = part.world
                said[name] = inner.between(inner.receipted, state[name], after[name], outcome[name])
        return said

    def keeping(self):
        """The names of the parts that keep receipts."""
        return [name for name, part in self.parts.items() if part.world.receipted]

    # Acting

    def step(self, state, action, inputs, wanted=ALL_PATHS):
        """The next state and the outcome; of the outcome only what lies on a wanted path is computed."""
        op = action["op"]
        planned = self.actions[op]
        given = {name: action[name] for name in planned.args}
        names = self.names(state, **inputs, **given)
        bind_lets(names, planned.let, self.functions)
        holds = evaluate(planned.when, names, self.functions)
        after = changed(planned.effects if holds else planned.otherwise, state, names, self.functions)
        told = [(name, tree) for name, tree in planned.outcome if below_path(wanted, name)]
        outcome = valued(told, names, self.functions)
        for name, part in self.parts.items():
            if op not in part.follow:
                continue
            its_op, lets, args, takes = part.follow[op]
            inner = Names({}, names)
            bind_lets(inner, lets, self.functions)
            its_action = {"op": its_op, **fitting(args, takes, inner, self.functions)}
            after[name], outcome[name] = part.world.step(state[name], its_action, {}, below_path(wanted, name))
        if self.every_step:
            after = changed(self.every_step, after, self.names(after), self.functions)
        return after, outcome

    # Starting

    def start(self, more=(), around=None, grid=None):
        """A start state.

        Args:
            more: Labelled expressions that replace start values.
            around: The world whose constants and functions these use; this one if left out.
            grid: The rows of characters of a map.
        """
        around = around or self
        own = {name: (tree, self) for name, tree in self.start_values}
        own.update({name: (tree, around) for name, tree in more})
        state = {name: part.world.start(part.start, self) for name, part in self.parts.items()}
        for name, (tree, world) in sorted(own.items()):
            state[name] = evaluate(tree, world.constants, world.functions)
        if grid is not None:
            state = self.draw(state, grid)
        known = self.type[1]
        if not known.keys() <= state.keys():
            raise Failed("E_START_INCOMPLETE")
        fitting_all = state.keys() == known.keys() and all(fits(state[name], known[name]) for name in known)
        if not fitting_all or not all(evaluate(one, self.names(state), self.functions) for one in self.well_formed):
            raise Failed("E_START_ILL_FORMED")
        return state

    def draw(self, state, grid):
        """A map becomes state: codes of cells, its size, and what each character does."""
        if "drawing" not in self.data:
            raise Failed("E_MAP")
        drawing = self.data["drawing"]
        used = {one for row in grid for one in row}
        if not used <= self.glyphs.keys():
            raise Failed("E_MAP_GLYPH")
        self.refuse_twins(grid)
        for character in sorted(used):
            for effect in self.glyphs[character][1]:
                if (effect.kind != "set" or len(effect.path) > 1) and effect.path[0] not in state:
                    raise Failed("E_START_INCOMPLETE")
        if drawing.get("cells") is not None:
            codes = {one: evaluate(self.glyphs[one][0], self.constants, self.functions) for one in used}
            state[drawing["cells"]] = [[codes[one] for one in row] for row in grid]
        for name, length in (("width", len(grid[0])), ("height", len(grid))):
            if drawing.get(name) is not None:
                state = placed_at_path(state, drawing[name].split("."), length)
        for y, row in enumerate(grid):
            for x, one in enumerate(row):
                if self.glyphs[one][1]:
                    names = Names({"here": {"x": x, "y": y}}, self.constants)
                    state = changed(self.glyphs[one][1], state, names, self.functions)
        return state

    def refuse_twins(self, grid):
        """No two characters of a map may say where one thing is."""
        where = {}
        for one, (_, effects) in self.glyphs.items():
            sets = [effect for effect in effects if effect.kind == "set" and effect.when is None]
            only = len(sets) == len(effects)
            read = [(tuple(e.path), names_read(e.right["to"], self.functions)) for e in sets] if only else []
            where[one] = [path for path, names in read if "here" in names]
        said = [path for row in grid for one in row for path in where[one]]
        if len(set(said)) != len(said):
            raise Failed("E_MAP_TWICE")


def below_path(wanted, name):
    """The wanted paths inside one field; all of it, if anything above it is wanted whole."""
    return ALL_PATHS if () in wanted else frozenset(path[1:] for path in wanted if path[0] == name)


def placed_at_path(record, path, value):
    """The record with the value at a path; records on the way that are not there are made."""
    inner = value if len(path) == 1 else placed_at_path(record.get(path[0], {}), path[1:], value)
    return {**record, path[0]: inner}


# Proposed laws: from a document of an answer to its law, and to the facts that rankings read and memory keeps.
#
# Whatever this file does not read is `Open`; a document that is no law raises `NoLaw`.

MOST_QUANTITY_PARTS, MOST_QUANTITY_DEPTH = 2000, 200
WITHHELD = ("spec", "name", "doc", "metadata", "extends", "params", "matrix")
WITHHELD += ("universe", "strict", "seed", "cases", "mutations", "expect")


class LawBook:
    """Reads proposed documents about one universe."""

    def __init__(self, specs, universe, templates):
        self.specs, self.universe = specs, universe
        self.templates = {specs[key]["name"]: key for key in templates}
        self.ring, self.known = None, {}

    def elsewhere(self, universe):
        """The same about another universe."""
        return LawBook(self.specs, universe, self.templates.values())

    def law(self, document, changes=None, name=None):
        """The law of a document; `changes` say how hard it is tried."""
        spelled = write([document, changes, name])
        if spelled not in self.known:
            if len(self.known) > 4096:
                self.known.clear()
            changed = {**document, **changes} if changes else document
            self.known[spelled] = self.compiled(*law_spec(changed, self, name))
        return self.known[spelled]

    def compiled(self, key, data):
        """The law of a resolved form, if it is one."""
        try:
            law = RingLaw({**self.specs, key: data}, key, self.ring)
            examined(law, self.specs[data["template"]])
        except Refuted as refuted:
            raise NoLaw(refuted.message) from None
        except Failed as failed:
            raise NoLaw(failed.code) from None
        except (Open, *CRASHES) as error:
            for one in data.get("observables", []):
                must_fit(not divides(one["expr"], self.specs[self.universe]["observables"]))
            told = error.message if isinstance(error, Open) else "a law is of a form that is not read here"
            raise Open("E_REPLAY", told) from None
        self.ring = law.universe
        return law

    def proposed(self, document):
        """What a document proposes."""
        return Proposal(document, self.law(document))


def divides(text, measures):
    """Whether an expression about nothing but a universe's own observables divides one of them, which none may."""
    try:
        waiting = [parse(text).root]
    except Refuted:
        return True
    divided = named = False
    while waiting:
        node = waiting.pop()
        inside = inner_nodes(node)
        waiting += inside
        name = node[2] if node[0] == "name" or (node[0] == "call" and node[3] is None) else None
        if name is not None and name not in measures:
            return False
        named = named or name is not None
        divided = divided or (node[0] == "binary" and node[2] in ("/", "%") and inside[0][0] != "literal")
    return divided and named


def examined(law, template):
    """Whatever makes a law none and does not hinder reading it."""
    data, universe = law.data, law.universe
    names = [one["name"] for one in data.get("observables") or []]
    for place, one in enumerate(data.get("observables") or []):
        renamed = one["name"] in universe.observables and one["expr"].strip() != one["name"]
        must_fit(not renamed and one["name"] not in names[:place])
        well_called(one["expr"], universe)
    for one in data.get("preconditions") or []:
        for text in [one["lhs"], one["rhs"]] if isinstance(one, dict) else [one]:
            well_called(text, universe)
    marks = [data.get(name) for name in law.needs if name.endswith("_symbol")]
    marks += (data.get("starts") or {}).get("symbols") or []
    must_fit(set(marks) <= set(universe.alphabet) and len(law.starts) >= 2)
    for one in data.get("proposed_tests") or []:
        if one["family"] in universe.generators:
            must_fit(sound_test(one.get("params") or {}, law.beyond(one["family"]), universe))
    for one in law.quantities.values():
        must_fit(small_quantity(one))
    if law.unknown is None or law.claim != CLAIM_TRUE:
        fitted_claim(law, template)


def well_called(text, universe):
    """The observables of a universe are given arguments of their sorts."""
    waiting = [parse(text).root]
    while waiting:
        node = waiting.pop()
        waiting += inner_nodes(node)
        if node[0] == "call" and node[3] is None and node[2] in universe.observables:
            args = universe.observables[node[2]].get("args") or {}
            wanted = [str if args[name] == "symbol" else int for name in sorted(args)]
            must_fit(len(wanted) == len(node[4]) > 0)
            must_fit(all(type(one[2]) is sort for one, sort in zip(node[4], wanted) if one[0] == "literal"))


def fitted_claim(law, template):
    """The claim says what its form allows, at steps that there are."""
    nodes = list(claim_nodes(law.claim))
    symbols = [one[1] for one in nodes if one[0] == "const" and isinstance(one[1], str)]
    cells = [one for one in nodes if one[0] == "obs" and one[1] in CELLWISE]
    must_fit(set(symbols) <= set(law.universe.alphabet) and law.fixed <= law.T)
    must_fit(law.cells or not (cells or symbols))
    must_fit("transform" in law.needs or not [one for one in cells if one[1] != CELLWISE[0]])
    found, fields = {}, {name: law.data.get(name) for name in law.needs}
    pattern_matched(template["claim"], claim_to_json(law.claim), {**fields, "H": law.H}, found)
    for name, node in found.items():
        part = template["parts"][name]
        moments = {"fixed" if fixed else "t" if step == 0 else f"t + {step}" for _, step, fixed in claim_reads(node)}
        must_fit(moments <= set(part["reads"]) and claim_sort(node) == part.get("sort", "bool"))


def sound_test(params, beyond, universe):
    """Whether the parameters of a proposed test mean something."""
    left = dict(params)
    cases, lengths, wide = left.pop("cases", None), left.pop("lengths", []), left.pop(beyond, False)

    def counts(value):
        return type(value) is int and 1 <= value <= 10_000

    sound = not left and (cases is None or counts(cases)) and isinstance(wide, bool)
    sound = sound and isinstance(lengths, list) and len(lengths) <= 64
    return sound and all(counts(one) and universe.shortest <= one <= universe.longest for one in lengths)


def small_quantity(quantity):
    """Whether an observable, written out, is within its bounds."""
    waiting, parts = [(quantity, 0)], 0
    while waiting:
        one, depth = waiting.pop()
        parts += 1
        if parts > MOST_QUANTITY_PARTS or depth > MOST_QUANTITY_DEPTH:
            return False
        if one.op in ("+", "-", "*"):
            waiting += [(one.left, depth + 1), (one.right, depth + 1)]
    return True


class Proposal:
    """A law that was proposed: its document, its spec's key, its law, its fingerprint and its facts."""

    def __init__(self, document, law):
        self.document, self.law, self.key = document, law, law.key
        self.looks = None  # filled by `discovery_same`
        self.held = None

    @property
    def id(self):
        """What the law is called: the id that was given, else the name of its spec."""
        given = self.document.get("law_id")
        return given if isinstance(given, str) and given else self.law.name

    @property
    def facts(self):
        """What rankings read and memory keeps."""
        if self.held is None:
            self.held = self.told()
        return self.held

    def told(self):
        law, data = self.law, self.law.data
        names = [one["name"] for one in data.get("observables") or []]
        found = {node[0] for node in claim_nodes(law.claim)}
        return {
            "id": self.id,
            "template": law.form,
            "claim": law.said,
            "forbidden": law.forbidden,
            "T": law.T,
            "H": law.H or 0,
            "preconditions": [condition_text(one) for one in data.get("preconditions") or []],
            "observables": names,
            "measures": sorted({measured_digest(law, name) for name in names if name in law.quantities}),
            "operators": [op for op in LAW_ORDERS if op in found],
            "transform": data.get("transform") or "",
            "direction": data.get("direction") or "",
            "tests": [one["family"] for one in data.get("proposed_tests") or []],
            "missing": self.missing(names),
        }

    def missing(self, names):
        """What the law needs and its universe lacks."""
        law, data = self.law, self.law.data
        universe, wanted = law.universe, data.get("capability_requirements") or {}
        called = [data["transform"].strip().partition("(")[0]] if data.get("transform") is not None else []
        measured = [one for one in law.missing if one not in names] + wanted.get("primitive_observables", [])
        return {
            "observables": absent(measured, universe.observables),
            "transforms": absent(wanted.get("transforms", []) + called, universe.transforms),
            "generators": absent(wanted.get("generator_families", []), universe.generators),
            "tests": absent([one["family"] for one in data.get("proposed_tests") or []], universe.generators),
        }


def absent(labels, offered):
    """The names before any brackets that are not offered, each once, in order."""
    return sorted({one.partition("(")[0].strip() for one in labels} - set(offered))


def condition_text(said):
    """A precondition on one line."""
    return said if isinstance(said, str) else f"{said['lhs']} {said['op']} {said['rhs']}"


def stray_fields(law):
    """The fields that a law has and its template does not need, in the order in which warnings name them."""
    return sorted(name for name in LAW_FIELDS if name not in law.needs and law.data.get(name) is not None)


# A governor as its spec says: the price of each proposal, what is supplied to the step, gates, and what is chosen.

Judgement = namedtuple("Judgement", ("rejected", "value", "cost", "inputs", "error"))


class Gate:
    """One gate."""

    def __init__(self, data):
        self.id, self.reason = data["id"], data["reason"]
        self.when = expression(data.get("when", "true"))
        demand(("deny" in data) != ("require" in data), "E_SPECS", "a gate denies or requires")
        self.denies = data.get("deny") is not None
        self.condition = expression(data["deny" if self.denies else "require"])
        self.witness = labelled(data.get("witness", {}))


class Governor:
    """A governor over a world."""

    def __init__(self, data, world):
        self.data, self.world = data, world
        self.constants = {**world.constants, **constants_of(data)}
        self.functions = {**world.functions, **functions_of(data)}
        self.claims = {name: read_type(one) for name, one in data.get("claims", {}).items()}
        self.memory = Memory(data, self.constants, self.functions)
        potentials = {name: one["is"] for name, one in data.get("potentials", {}).items()}
        self.potentials = labelled(potentials)
        self.let = ordered_lets(data.get("let", {}), self.functions)
        self.cost = labelled(data.get("cost", {}))
        self.each = ordered_lets(data.get("each", {}), self.functions)
        demand(data.get("supply", {}).keys() == world.inputs.keys(), "E_SPECS", "the governor supplies other inputs")
        self.supply = labelled(data.get("supply", {}))
        self.gates = [Gate(one) for one in data["gates"]]
        self.value = expression(data["choose"]["maximise"])
        self.watches = bool(self.memory.types or self.potentials)
        self.wanted = self.outcome_paths()

    def outcome_paths(self):
        """The paths of the outcome that gates, witnesses and the choice read, themselves or through functions."""
        todo = [self.value, *(tree for gate in self.gates for tree in (gate.when, gate.condition))]
        todo += [tree for gate in self.gates for _, tree in gate.witness]
        found, followed = set(), set()
        while todo:
            tree = todo.pop()
            found |= paths_of(tree.root, "outcome")
            for node in walked(tree.root):
                function = self.functions.get(node[2]) if node[0] == "call" else None
                if type(function) is tuple and node[2] not in followed:
                    followed.add(node[2])
                    todo.append(function[1])
        return ALL_PATHS if () in found else frozenset(found)

    def around(self, state, memory):
        """What judging reads of the state and the memory."""
        view = self.world.view(state)
        return Names(memory, Names(self.constants, view))

    def figures(self, state, memory):
        """The potentials."""
        return valued(self.potentials, self.around(state, memory), self.functions)

    def judge(self, state, proposals, pending, writes, memory):
        """A judgement of each proposal."""
        found = []
        for proposal, count in zip(proposals, writes):
            misfit = self.misfit(proposal)
            if misfit is not None:
                failing = {"gate": "schema", "reason": misfit, "witness": {}}
                found.append(Judgement([failing], 0, {}, {}, None))
                continue
            names = Names({"proposals": len(proposals), "rejected": pending}, self.around(state, memory))
            try:
                bind_lets(names, self.let, self.functions)
                names.update(proposal=proposal, writes=count, action=proposal["action"])
                found.append(self.judged(state, proposal["action"], names))
            except Failed as failed:
                found.append(Judgement([], 0, {}, {}, failed))
        return found

    def judged(self, state, action, names):
        """The judgement of one proposal."""
        cost = valued(self.cost, names, self.functions)
        names["cost"] = cost["total"] = checked_int(sum(cost.values()))
        bind_lets(names, self.each, self.functions)
        inputs = fitting(self.supply, self.world.inputs, names, self.functions)
        after, outcome = self.world.step(state, action, inputs, self.wanted)
        names.update(next=self.world.view(after), outcome=outcome)
        rejected = []
        for gate in self.gates:
            if not a_bool(evaluate(gate.when, names, self.functions)):
                continue
            if a_bool(evaluate(gate.condition, names, self.functions)) is gate.denies:
                witness = valued(gate.witness, names, self.functions)
                rejected.append({"gate": gate.id, "reason": gate.reason, "witness": witness})
        return Judgement(rejected, evaluate(self.value, names, self.functions), cost, inputs, None)

    def misfit(self, proposal):
        """Why a proposal is malformed, None if it is not."""
        action = proposal["action"]
        if not action["op"]:
            return str(proposal.get("answer", "no_action"))
        if action["op"] not in self.world.actions:
            return "unknown_action"
        planned = self.world.actions[action["op"]]
        if action.keys() != {"op", *planned.args} or proposal.keys() != {"action", "score", *self.claims}:
            return "malformed_proposal"
        for name, type_ in planned.args.items():
            allowed = planned.allowed[name]
            if not (fits(action[name], type_) if allowed is None else action[name] in allowed):
                return "malformed_action"
        return None


def paths_of(node, name):
    """The paths below a name that a tree reads; the empty path where it reads all of it."""
    found, todo = set(), [node]
    while todo:
        one, path = todo.pop(), []
        while one[0] in ("select", "has"):
            path.append(one[3])
            one = one[2]
        if one[0] == "name":
            found |= {tuple(reversed(path))} if one[2] == name else set()
        else:
            todo += inner_nodes(one)
    return found


# From the specs of a run to its kernel: the rules, who decides, who tells, what is probed.
#
# Nothing here decides anything; what each spec means stands in the module that is named after it.


class Ground:
    """What is asked of a world about any state, beside the run that goes on."""

    def __init__(self, world):
        self.world, self.planned = world, {}

    def over(self, state, data, more=None):
        """The value of an expression over a state, and of what is given beside it."""
        return evaluate(expression(data), Names(more or {}, self.world.view(state)), self.world.functions)

    def plainly(self, data, names):
        """The value of an expression that reads no state."""
        return evaluate(expression(data), Names(names, self.world.constants), self.world.functions)

    def changed(self, state, effects, more=None):
        """The state after the effects of a spec."""
        key = id(effects)
        if key not in self.planned:
            self.planned[key] = effects, effects_of(effects, self.world.type)
        names = Names(more or {}, self.world.view(state))
        return changed(self.planned[key][1], state, names, self.world.functions)


class Asked:
    """An agent that can be asked on any occasion; what it draws depends on the seed, the agent and the occasion."""

    def __init__(self, specs, key, seed, agent):
        data = specs[key]
        self.agent, self.seed, self.key, self.name = agent, seed, key, data["name"]
        self.procedure = expression(data["score"]).text

    def drawn(self, seen, memory, occasion):
        """The values that are drawn for a decision."""
        found, lists = {}, self.agent.sources(seen, memory)
        if not all(lists):
            raise Failed("E_EVAL_LIMIT")
        for (name, stream, _), values in zip(self.agent.draws, lists):
            found[name] = Stream(self.seed, "agent", self.name, stream, name, *occasion).choice(values)
        return found

    def proposals(self, seen, memory, occasion):
        """Its proposals."""
        return self.agent.propose(seen, memory, self.drawn(seen, memory, occasion))

    def weigh(self, seen, memory, action, after, occasion):
        """What it would give for a breach: the score of an action that leads to a state."""
        return self.agent.weigh(seen, memory, action, after, self.drawn(seen, memory, occasion))


class Mute:
    """An agent from outside: it tells its reasons itself, and nobody can ask it again."""

    def __init__(self, specs, key):
        self.key, self.name, self.procedure = key, specs[key]["name"], ""

    @staticmethod
    def proposals(seen, memory, occasion):
        """None that are known."""
        return []


class KernelParts:
    """What the kernel of a run is made of."""

    def __init__(self, plan, signatures=()):
        """`plan` is the replayed run; `signatures` are those that its evidence holds, for a kernel with a key."""
        self.plan, self.specs = plan, plan.specs
        scenario, key = plan.scenario, plan.scenario["agent"]
        self.governor = self.specs[scenario["governor"]]
        admits, agent = self.governor["admission"], self.specs[key]
        self.ground = Ground(plan.world)
        self.variables = Variables(self.ground)
        self.vocabulary = Vocabulary(self.specs[admits["vocabulary"]]["forms"])
        invariants = [self.invariant(self.specs[one]) for one in self.proposal_invariants()]
        self.admission = Admission(admits, invariants, self.variables, self.ground, self.vocabulary)
        self.ms_per_tick = admits.get("ms_per_tick", 100)
        self.probes = [self.specs[one] for one in scenario.get("probes", [])]
        self.inside = agent.get("outside") is None
        self.deciding = self.asked(key, plan.agent) if self.inside else Mute(self.specs, key)
        self.deterministic = self.inside and not agent.get("draw")
        self.narrator = self.narration(agent.get("narration") or {})
        signed = admits.get("signature", "secret") == "ed25519"
        self.signer = RecordedSigner(admits["public"], signatures) if signed else SecretSigner(plan.seed)
        self.unread = None

    def asked(self, key, agent=None):
        """An agent as it can be asked."""
        agent = agent or Agent(self.specs[key], self.plan.world, self.plan.governor.claims)
        return Asked(self.specs, key, self.plan.seed, agent)

    def proposal_invariants(self):
        """The keys of the invariants about documents, the governor's first, each once."""
        named = [*self.governor.get("invariants", []), *self.plan.scenario.get("invariants", [])]
        return [key for key in dict.fromkeys(named) if self.specs[key].get("scope") == "proposal"]

    def invariant(self, data):
        """(name, severity, judge) of an invariant about documents."""
        world = self.plan.world
        constants, functions = constants_of(data), {**world.functions, **functions_of(data)}
        when, require = expression(data.get("when", "true")), expression(data["require"])
        told = labelled(data.get("witness", {}))

        def judge(state, given):
            names = Names({**constants, **given}, world.view(state))
            if not a_bool(evaluate(when, names, functions)) or a_bool(evaluate(require, names, functions)):
                return None
            return valued(told, names, functions)

        return data["name"], data.get("severity", "fatal"), judge

    def narration(self, told):
        """How choices become documents."""
        label, known = self.variables.label, self.narration_minds(told)
        minds = [Mind(one, label) for one in known]
        saying = {
            "vary": list(dict.fromkeys(told.get("vary", []))),
            "claims": told.get("claims", 3),
            "steps": told.get("steps", 1),
            "say": self.vocabulary.say,
            "request": request_of(self.admission.grants, told.get("requests", {})),
            "env": self.admission.env,
        }
        return Narrator(minds, self.variables, self.plan.world, saying)

    def narration_minds(self, told):
        """Who decides, who tells, and whose procedure is declared."""
        teller = declared = self.deciding
        if told.get("by") is not None:
            teller = declared = self.asked(told["by"])
        if told.get("declares") is not None:
            declared = self.asked(told["declares"])
        for one in (teller, declared) if self.inside else ():
            types = one.agent.memory.types
            same = not types or types == self.plan.agent.memory.types
            demand(same, "E_SPECS", "an agent that explains for another one remembers something else")
        return self.deciding, teller, declared

    def unread_entries(self):
        """The entries of the namespace that the declared procedure does not read."""
        if self.unread is None:
            world, agent = self.plan.world, self.narrator.declared.agent.agent
            records = Records(self.specs, world.data)
            reading = Reading(agent.functions, agent.constants, records)
            inner = Reading(world.functions, world.constants, records)
            used = used_paths(agent.data, world.data, reading, inner)
            self.unread = unread_variables(world.data, used, inner)
        return self.unread


# Verdicts on laws: that each is about its law and fits itself, that what it rests on holds, and that trying the law
# again gives the same figures.
#
# Proofs are checked and not looked for: whether a prover could have said more is left open, and said.

LAW_STATUSES = ("PROVED", "PASS", "FAIL", "UNKNOWN")
LAW_REASONS = (
    "missing_observable",
    "missing_transform",
    "missing_generator",
    "ambiguous_claim",
    "unmet_preconditions",
    "vacuous_pass",
    "inconclusive_low_power",
    "resource_limit",
    "evaluation_error",
)
SMALLEST_NOTE = "no smaller ring fails: all were tried"
BUILT_NOTE = re.compile(r"built from a circulation; of shorter rings, those of up to ([0-9]{1,4}) cells were all tried")
MOST_RINGS_AGAIN = 400_000
EMPTY_VERDICT = {
    **dict.fromkeys(("reason", "detail", "proved_for", "up_to", "certificate", "counterexample", "power")),
    **dict.fromkeys(("violation_bound", "content")),
    "work": 0,
}


def law_of(specs, key):
    """The law of a key among specs by key."""
    demand(isinstance(specs.get(key), dict), "E_SPECS", f"there is no law {key}")
    try:
        return RingLaw(specs, key)
    except CRASHES as error:
        raise Open("E_SPECS", f"this file cannot read the law: {error!r}"[:200]) from None


def law_about(law):
    """What a verdict on a law repeats of it."""
    return {
        "law": law.name,
        "key": law.key,
        "universe": law.universe.key,
        "template": law.form,
        "claim": law.said,
        "forbidden": law.forbidden,
        "contract": law.contract,
    }


def check_verdict(law, verdict):
    """See that a verdict is about a law and fits itself, and that its certificate or counterexample holds."""
    guarded(lambda: check_said(law, verdict), "E_VERDICT")
    if verdict["certificate"] is not None:
        guarded(lambda: check_law_proof(law, verdict), "E_CERTIFICATE")
    if verdict["counterexample"] is not None:
        guarded(lambda: check_counterexample(law, verdict["counterexample"]), "E_COUNTEREXAMPLE")


def check_said(law, verdict):
    """See that a verdict is about a law, and that its status rests on what it must rest on."""
    for name, value in law_about(law).items():
        same = write(verdict[name]) == write(value)
        demand(same, "E_VERDICT", f"its {name} is not that of the recorded specs")
    status, reason = verdict["status"], verdict["reason"]
    known = status in LAW_STATUSES and reason in (None, *LAW_REASONS) and (status == "UNKNOWN") == (reason is not None)
    demand(known, "E_VERDICT", f"{status!r} has the reason {reason!r}")
    refuted, proved = verdict["counterexample"] is not None, verdict["certificate"] is not None
    demand((status == "FAIL") == refuted, "E_VERDICT", f"{status} and its counterexample do not go together")
    rests = proved and verdict["method"] == "proof"
    demand(status != "PROVED" or rests, "E_VERDICT", "PROVED rests on no certificate")
    demand(not (status == "FAIL" and proved), "E_VERDICT", "FAIL has a certificate that the law holds")
    power = verdict["power"]
    says = proved or (isinstance(power, dict) and power["usable"] and power["hits"])
    demand(status != "PASS" or says, "E_VERDICT", "PASS rests on no case that says anything")


def check_law_proof(law, verdict):
    """See that a certificate proves what the law asks, and reaches as far as the verdict says."""
    asked, held, code = AskedLaw(law), verdict["certificate"], "E_CERTIFICATE"
    demand(asked.facts is not None, code, "the law asks nothing that could be proved")
    question = asked.facts
    if isinstance(held, dict) and write(held.get("question")) == write(asked.within_range()):
        question = asked.within_range()
    try:
        up_to = check_certificate(held, question, asked.holds if question["claim"]["kind"] == "opaque" else None)
    except IntegerLost:
        raise Refuted(code, "an integer of the claim leaves 64 bits") from None
    reaches = write(up_to) == write(verdict["up_to"]) and (up_to is None or verdict["status"] != "PROVED")
    demand(reaches, code, "it proves the law for other rings than the verdict says")
    same = verdict["proved_for"] == question_contract(question)
    demand(same, code, f"it is about {question_contract(question)}, the verdict says otherwise")


def check_counterexample(law, recorded):
    """Evolve a counterexample again: a start of the law, violated at its step and at none before, told as it is."""
    code, marks, universe = "E_COUNTEREXAMPLE", law.universe.alphabet, law.universe
    text, t = recorded["start"], recorded["t"]
    shaped = isinstance(text, str) and universe.shortest <= len(text) <= universe.longest
    demand(shaped and set(text) <= {marks[one] for one in law.starts}, code, "its start is no start of the law")
    demand(type(t) is int and law.first <= t <= law.last, code, f"step {t!r} is not judged")
    start = bytes(marks.index(one) for one in text)
    try:
        tried = Tried(law, start)
        demand(tried.usable(), code, "its start does not meet the preconditions")
        found = tried.looked(law.first, t)[1]
        demand(found == t, code, f"the law holds at step {t}" if found is None else f"it is violated at step {found}")
        made = counterexample_of(law, start, t, None)
    except IntegerLost:
        raise Refuted(code, "an integer of the claim leaves 64 bits") from None
    excerpt, whole = recorded["excerpt"], [universe.text(one) for one in tried.states]
    begin, shown = excerpt["from"], excerpt["states"]
    seen = type(begin) is int and isinstance(shown, list) and 0 <= begin <= t < begin + len(shown)
    demand(seen and shown == whole[begin : begin + len(shown)], code, "the excerpt is not what happens")
    same = write(recorded["observables"]) == write(made["observables"])
    demand(same, code, "the observables are not what is measured")


def replay_verdict(law, verdict, cases):
    """Try a law again and compare every figure of its verdict.

    Args:
        law: The law.
        verdict: What is recorded; it was checked before.
        cases: The cases of the law.

    Returns:
        Sentences that say what was not made again.
    """
    try:
        made, notes = remade_verdict(law, verdict, cases)
    except CRASHES as error:
        raise Open("E_REPLAY", f"this file cannot try the law again: {error!r}"[:200]) from None
    whole = {**law_about(law), **EMPTY_VERDICT, **made}
    for name in sorted({*whole, *verdict}):
        same = name in whole and name in verdict and write(whole[name]) == write(verdict[name])
        shown = write(verdict.get(name)).decode()[:60], write(whole.get(name)).decode()[:60]
        demand(same, "E_REPLAY", f"{name} of the verdict: recorded {shown[0]}, made {shown[1]}")
    return notes


def remade_verdict(law, verdict, cases, told=True):
    """What a verdict must hold, as far as it is no mere description of its law; and what was not made again.

    Where it is not told, how many other rules break a law is computed only if an integer may be lost on the way.
    """
    if law.unknown is not None:
        return {"status": "UNKNOWN", "method": "none", "reason": law.unknown[0], "detail": law.unknown[1]}, []
    work = law_work(law, cases)
    if work > LAW_LIMIT_CELLS:
        detail = f"the law would read {work} cells, of at most {LAW_LIMIT_CELLS}"
        return {"status": "UNKNOWN", "method": "none", "reason": "resource_limit", "detail": detail}, []
    if verdict["method"] == "refutation":
        return remade_refutation(law, verdict)
    try:
        return remade_trial(law, verdict, Trial(law, cases), work, told)
    except IntegerLost:
        lost = {"reason": "evaluation_error", "detail": "E_EVAL_OVERFLOW"}
        return {"status": "UNKNOWN", "method": "sample", **lost}, []


def remade_trial(law, verdict, trial, work, told):
    """What a trial leads to, with a proof or without one."""
    found = trial.violation()
    made, notes = {"power": trial.power, "work": work}, []
    if verdict["method"] == "proof":
        demand(found is None, "E_CERTIFICATE", "the law is proved, and one of its cases violates it")
        reason = None if trial.power["hits"] else "vacuous_pass" if trial.power["usable"] else "unmet_preconditions"
        made.update(method="proof", status="UNKNOWN" if reason else "PROVED", reason=reason)
        made.update(certificate=verdict["certificate"], proved_for=verdict["proved_for"])
    else:
        found = found or trial.searched()
        if found is not None:
            return {**made, "status": "FAIL", "method": "sample", "counterexample": presented(law, found)}, notes
        notes.append("whether a prover could have decided the law")
        reason = trial.weakness()
        made.update(method="sample", status="UNKNOWN" if reason else "PASS", reason=reason)
        made["violation_bound"] = None if reason else trial.bound()
        if verdict["certificate"] is not None:
            demand(isinstance(verdict["detail"], str), "E_REPLAY", "why no proof reaches further is not said")
            made.update({name: verdict[name] for name in ("certificate", "proved_for", "up_to", "detail")})
    made["content"] = law_content(law) if not reason and (told or not law.fitting) else None
    return made, notes


def remade_refutation(law, verdict):
    """A refutation that a prover found: its ring is looked for again where all smaller ones were tried."""
    asked, detail, recorded = AskedLaw(law), verdict["detail"], verdict["counterexample"]
    demand(asked.facts is not None, "E_REPLAY", "the law asks nothing that could be refuted")
    contracts = [question_contract(one) for one in (asked.facts, asked.within_range())]
    demand(verdict["proved_for"] in contracts, "E_REPLAY", "the refutation is about other rings")
    made = {"status": "FAIL", "method": "refutation", "detail": detail, "proved_for": verdict["proved_for"]}
    law.fitting = law.fits(law.claim) is not None and law.fits(law.where) is not None
    demand(law.fitting, "E_REPLAY", "a law whose integers may leave 64 bits is given to no prover")
    built = BUILT_NOTE.fullmatch(detail) if isinstance(detail, str) else None
    demand(detail == SMALLEST_NOTE or built, "E_REPLAY", "how the refutation was found is not said")
    question = ProofQuestion(asked.facts, asked.holds if asked.facts["claim"]["kind"] == "opaque" else None)
    longest = int(built[1]) if built else len(recorded["start"])
    symbols, notes = len(question.start), []
    for length in range(question.shortest, longest + 1):
        if symbols**length * length > MOST_RINGS_AGAIN * length:
            notes.append("that no smaller ring violates the law")
            break
        failing = question.failing(length)
        if failing is not None:
            demand(not built, "E_REPLAY", f"a ring of {length} cells violates the law, and was said not to")
            return {**made, "counterexample": presented(law, failing[0])}, notes
    demand(built or notes, "E_REPLAY", "no ring of that length violates the law")
    notes.append("how the counterexample was made small")
    return {**made, "counterexample": counterexample_of_text(law, recorded)}, notes


def counterexample_of_text(law, recorded):
    """A recorded counterexample, told again; how many candidates were judged is believed."""
    start = bytes(law.universe.alphabet.index(one) for one in recorded["start"])
    demand(type(recorded["minimised"]) is int, "E_REPLAY", "how many candidates were judged is no number")
    return counterexample_of(law, start, Tried(law, start).judged()[2], recorded["minimised"])


def law_receipts(specs, recorded):
    """The receipts of a trial, made again: [(type, body)], and what was not made again.

    Args:
        specs: The document of specs.
        recorded: The receipts that there are: [(type, body)], in the order that they must have.
    """
    key, bodies = specs["root"], dict(recorded)
    law, said = law_of(specs["specs"], key), bodies["verdict"]["verdict"]
    check_verdict(law, said)
    cases = [] if law.unknown is not None else law_cases(law)
    notes = replay_verdict(law, said, cases)
    families = {}
    for family, _ in cases:
        families[family] = families.get(family, 0) + 1
    start = {"kind": "law", "law": law.name, "digest": key.rpartition("@")[2], "universe": law.universe.key}
    start.update(specs=tagged("specs", write(specs)), template=law.form, seed=law.seed, warnings=sorted(law.warnings))
    made = [("start", start)]
    if cases:
        digest = law_cases_digest(law, cases)
        made.append(("cases", {"digest": digest, "count": len(cases), "families": families}))
    expected = law.data.get("expect")
    made.append(("verdict", {"verdict": said, "digest": tagged("law-verdict", write(said)), "expected": expected}))
    met = None if expected is None else all(said[name] == value for name, value in expected.items())
    return [*made, ("end", {"status": said["status"], "met": met})], notes


def replay_law(specs, recorded):
    """See that the receipts of a law's trial are those that its specs lead to; give back what was not made again."""
    made, notes = law_receipts(specs, recorded)
    for place, ((kind, body), (was, held)) in enumerate(zip(made, recorded)):
        shown = {**held, "warnings": sorted(held["warnings"])} if was == "start" else held
        same = kind == was and body.keys() == shown.keys()
        code = "E_VERDICT" if kind in ("verdict", "end") else "E_REPLAY"
        demand(same, code, f"receipt {place} is not what the specs lead to")
        for name in body:
            told = write(shown[name]) == write(body[name])
            demand(told, code, f"receipt {place}, {name}: another than the specs lead to")
    demand(len(made) == len(recorded), "E_REPLAY", "there are other receipts than the specs lead to")
    return notes


def law_again(bundle):
    """Try the law of a bundle again; what was not made again joins what the bundle says so of."""
    receipts = map(json.loads, bundle.lines())
    bundle.unmade += replay_law(bundle.specs, [(one["type"], one["body"]) for one in receipts])


# A run under a kernel as its probes see it: every question is put to copies, every attempt goes to the kernel.

RETOLD = ("nodes", "edges", "causal_claims", "counterfactuals")


class Here:
    """Where a probe finds the run."""

    def __init__(self, episode, t, state, memory):
        self.episode, self.t, self.state, self.memory = episode, t, state, memory

    def at(self, state):
        """The same in another state."""
        return Here(self.episode, self.t, state, self.memory)


class Subject:
    """What a probe may ask at one moment of a run."""

    def __init__(self, desk, moment):
        self.desk, self.moment = desk, moment
        self.narrator, self.variables, self.run = desk.narrator, desk.parts.variables, desk.run
        self.deterministic = desk.parts.deterministic
        self.names, self.mutate = self.variables.names, self.variables.mutate
        self.parse = desk.parts.vocabulary.parse

    @staticmethod
    def expects(probe, values):
        """What a probe expects of what came."""
        return evaluate(expression(probe["expect"]), values)

    def alternatives(self, state, name):
        """Other values of a variable, of which one will be drawn."""
        return self.variables.alternatives(state, name, True)

    def valid(self, document):
        """Whether a document fits its schema."""
        return document is not None and self.desk.admission.accepts(document)

    def choice(self, mind, here, asked):
        """What a mind chooses."""
        return mind.choose(self.run.world.observe(here.state), here.memory, (here.episode, here.t, asked))

    def answer(self, mind, here, asked):
        """The same as (label, score)."""
        made = self.choice(mind, here, asked)
        return None if made is None else (made.label, made.score)

    def choose(self, here, asked):
        """What the agent chooses."""
        return self.answer(self.narrator.decider, here, asked)

    def declared(self, here, asked):
        """What the procedure chooses that it declares."""
        return self.answer(self.narrator.declared, here, asked)

    def document(self, here):
        """What was committed to here; elsewhere what the agent submits there."""
        submission, moment = self.desk.submission, self.moment
        if (here.episode, here.t) == (moment.episode, moment.t) and here.state == moment.state:
            return submission.document if submission.problem is None else None
        choice = self.choice(self.narrator.decider, here, 0)
        return None if choice is None else self.told(here, choice, 0, self.desk.vault.snapshot)

    def told(self, here, choice, asked, snapshot):
        """The document of a choice."""
        occasion = (here.episode, here.t, asked)
        return self.narrator.document(here.state, here.memory, choice, occasion, snapshot)

    def unused(self, state):
        """The variables that the declared procedure does not read."""
        entries = self.desk.parts.unread_entries()
        return [name for name in self.names(state) if any(names_entry(name, entry) for entry in entries)]

    def fresh(self, number):
        """The start of an episode that is never played."""
        episode = self.run.episodes + number
        state = self.run.start(episode)
        return Here(episode, 0, state, self.run.agent.begin(self.run.world.observe(state)))

    def reveal(self, document, names):
        """Whether the snapshots that speak of these variables are there, and open; all of them, if none is named."""
        asked = [one for one in document["trace"]["fork_snapshots"] if not names or names & set(one["focus_vars"])]
        covered = {name for one in asked for name in one["focus_vars"]}
        return bool(asked) and names <= covered and all(self.desk.vault.opens(one) for one in asked)

    def retrace(self, document, here):
        """The trace of a document computed again."""
        step = document["payload"]["plan"]["steps"][0]
        chosen = self.variables.label({**step["args"], "op": step["op"]}) or ""
        return self.narrator.retrace(document, here.state, here.memory, (here.episode, here.t, 0), chosen)

    def restate(self, document, here):
        """Whether the agent, asked again for its reasons, gives those that it committed to."""
        choice = self.choice(self.narrator.decider, here, 0)
        if choice is None:
            return False
        again = self.told(here, choice, 1, None)
        return all(again["trace"][part] == document["trace"][part] for part in RETOLD)

    def weigh(self, here, offer):
        """What an offer is worth: the score without it, the best one with it, and the action then; None if none."""
        occasion = (here.episode, here.t, 0)
        seen, world = self.run.world.observe(here.state), self.run.world
        proposals = self.narrator.decider.propose(seen, here.memory, occasion)
        choice = self.choice(self.narrator.decider, here, 0)
        if choice is None:
            return None
        tempting = [choice.action]
        if offer["does"] == "reuse_token":
            tempting = [one["action"] for one in proposals if one["action"] != choice.action]
        best, found = None, choice.action
        for action in tempting:
            after = self.desk.parts.ground.changed(world.step(here.state, action, {})[0], offer["pays"])
            paid = self.desk.parts.deciding.weigh(seen, here.memory, action, after, occasion)
            if best is None or paid > best:
                best, found = paid, action
        return choice.score, choice.score if best is None else best, found

    def attempt(self, here, does, plain, action):
        """Do what an offer asks for: (whether it was denied, for what, whether that was logged)."""
        desk = self.desk
        if does == "omit_snapshots":
            choice = MadeChoice(action, plain, self.narrator.decider.label(action))
            ruling = desk.admission.rule(here.state, receive_value(self.told(here, choice, 0, None)))
            desk.enter_ruling(ruling)
            return ruling.verdict == "deny", tuple(one["gate"] for one in ruling.rejected), True
        token = self.moment.token if does == "reuse_token" else None
        try:
            desk.tokens.act(token, 0, desk.submission, action, desk.granted, desk.now_ms, here.state, {})
        except Denied as denied:
            desk.enter_refusal(denied.reason)
            return True, (denied.reason, "token"), True
        return False, (), False


# Measures of suites: what is read off each episode, and the functions over series that they may call.

MOST_FLATTENED = 65_536


def series_rolling(values, window):
    """At each place the mean of the last values, of fewer at the beginning."""
    if window < 1:
        raise Failed("E_EVAL_ARGUMENT")
    parts = [values[max(0, end - window) : end] for end in range(1, len(values) + 1)]
    return [checked_int(nearest(sum(part) * PARTS, len(part))) for part in parts]


def series_sums(values):
    """At each place the sum up to it."""
    return [checked_int(one) for one in accumulate(values)]


def series_differences(values):
    """What each value is more than the one before it."""
    return [checked_int(after - before) for before, after in zip(values, values[1:])]


def series_trend(values):
    """The least-squares slope over the places."""
    places = range(len(values))
    crossed = sum(place * value for place, value in enumerate(values))
    return checked_int(slope_of([len(values), sum(places), sum(values), sum(x * x for x in places), crossed]) or 0)


def series_flatten(lists):
    """The items of all lists in one."""
    if sum(map(len, lists)) > MOST_FLATTENED:
        raise Limited
    return [item for inner in lists for item in inner]


SERIES = {
    "rolling": series_rolling,
    "prefix_sums": series_sums,
    "differences": series_differences,
    "trend": series_trend,
    "first": lambda holds: holds.index(True) if True in holds else -1,
    "last": lambda values, default: values[-1] if values else default,
    "count": lambda holds: holds.count(True),
    "distinct": lambda values: len({write(value) for value in values}),
    "slice": lambda values, start, end: values[max(0, start) : max(0, end)],
    "flatten": series_flatten,
}


class Sampler:
    """The measures and figures of a suite, for the receipts of one world."""

    def __init__(self, suite, figures, world):
        self.functions = {**SERIES, **world.functions, **functions_of(suite)}
        self.constants = {**world.constants, **constants_of(suite)}
        self.measures = ordered_lets(suite.get("measures") or {}, self.functions)
        self.figures = {one.name: self.trees(one) for one in figures}
        named = {name for name, _ in self.measures}
        self.reads = {name: names_read(tree, self.functions) & named for name, tree in self.measures}

    @staticmethod
    def trees(figure):
        """What a figure is made of: one expression, of a slope two."""
        data, trees = figure.data, [expression(figure.data[figure.statistic])]
        return trees + [expression(data.get("along", "episode"))] if figure.statistic == "slope" else trees

    def sample(self, episode, samples, wanted):
        """Add the values of one episode to the samples of the wanted figures; a failure takes their place."""
        names = Names(episode, self.constants)
        failed, needed = {}, self.needed(wanted)
        for name, tree in self.measures:
            if name in needed:
                try:
                    names[name] = self.value(tree, names, failed)
                except Failed as error:
                    failed[name] = error
        for name in wanted:
            held = samples.setdefault(name, [])
            if isinstance(held, list):
                try:
                    held.append(self.values([self.value(tree, names, failed) for tree in self.figures[name]]))
                except Failed as error:
                    samples[name] = {**error.told(), "run": episode["run"], "episode": episode["episode"]}

    def needed(self, wanted):
        """The measures that some figures read, directly or not."""
        found = set()
        for name in wanted:
            for tree in self.figures[name]:
                found |= names_read(tree, self.functions)
        for name, _ in reversed(self.measures):
            if name in found:
                found |= self.reads[name]
        return found

    def value(self, tree, names, failed):
        """The value of an expression; none, if a measure that it reads has none."""
        for name in sorted(names_read(tree, self.functions) & failed.keys()) if failed else ():
            raise failed[name]
        return evaluate(tree, names, self.functions)

    @staticmethod
    def values(read):
        """The values of one episode: a list of ints, or of pairs."""
        lists = [[int(one) for one in (each if isinstance(each, list) else [each])] for each in read]
        if len(lists) == 1:
            return lists[0]
        if len(lists[0]) != len(lists[1]):
            raise Failed("E_SUITE_FIGURE")
        return [[x, y] for y, x in zip(*lists)]


def sampler_of(specs, suite, figures):
    """The sampler of a suite for a run's own specs."""
    scenario = specs["specs"][specs["root"]]
    return Sampler(suite, figures, World(specs["specs"], scenario["world"]))


# From an answer to proposed laws, rejections and warnings (docs/prompts.md, Answers).
#
# Whether an object is a law is read here again. In whose words the engine rejects it is not: of a rejection by the law
# compiler the receipt's own words are taken, if the object is rejected here too; where this file cannot tell, the
# receipt
# decides, and that is noted.

MOST_READ, MOST_PIECES, MOST_WHOLE, MOST_NESTED, EXCERPT, PRINTED = 1_048_576, 500, 4000, DEPTH - 8, 1000, 2000
COMPILER = re.compile(r"(?!E_ANSWER_|E_PROPOSAL_)[EW]_[A-Z_]+: ")
NOTE_WORDS = "the words in which the law compiler rejects an object"
NOTE_LAW = "that an object is, or is no law, where its expressions have forms that are not read here"


def excerpt(text, size=None):
    """The beginning of a piece that is not kept whole."""
    return {"excerpt": shown_text(text[:EXCERPT])[:PRINTED], "size": len(text) if size is None else size}


def nested(value, most):
    """Whether there are at most so many containers inside one another."""
    level, depth = [value], 0
    while level:
        level = [one for one in level if isinstance(one, (dict, list))]
        depth += bool(level)
        level = [inner for one in level for inner in (one.values() if isinstance(one, dict) else one)]
    return depth <= most


def kept_object(value):
    """A rejected value as a receipt holds it: itself, or its beginning and its size."""
    if has_float(value):
        return excerpt(repr(value))
    form = write(value)
    if isinstance(value, dict) and len(form) <= MOST_WHOLE and nested(value, MOST_NESTED):
        return value
    return excerpt(form.decode(), len(form))


def is_blank(value):
    return not (value.strip() if isinstance(value, str) else value)


class Receipted:
    """The rejections that a receipt holds, taken one after the other."""

    def __init__(self, rejections):
        self.left = list(rejections)

    def next_is(self, value):
        """Whether the next one is about this object, and comes from the law compiler."""
        if not self.left or self.left[0]["object"] != value:
            return False
        reason = self.left[0]["reason"]
        return isinstance(reason, str) and COMPILER.match(reason) is not None

    def take(self):
        """The next one, if there is one."""
        return self.left.pop(0) if self.left else None


class AnswerParser:
    """Reads the answers of one discovery."""

    def __init__(self, book: LawBook, strict, scramble, notes):
        self.book, self.strict, self.scramble, self.notes = book, strict, scramble, notes

    def parsed(self, text, recorded):
        """(laws, rejections, warnings) of a text; `recorded` are the rejections that the receipt holds."""
        if len(text) > MOST_READ:
            reason = f"E_ANSWER_SIZE: {len(text)} characters, more than {MOST_READ}; none of them is read"
            return [], [{"object": excerpt(text, len(text)), "reason": reason}], []
        pieces, told = AnswerReader(text).pieces(), Receipted(recorded)
        laws, rejections, warnings = [], [], [] if pieces else ["the answer holds no object"]
        for place, piece in enumerate(pieces[:MOST_PIECES]):
            shown = excerpt(piece[1]) if piece[0] == "broken" else kept_object(piece[1])
            try:
                laws.append(self.law(piece, place, shown, told, warnings))
            except NoLaw as no:
                reason = no.reason
                if not no.exact:
                    demand(told.next_is(shown), "E_REPLAY", f"object {place} is no law, and is not rejected as one")
                    reason = told.left[0]["reason"]
                    self.notes.add(NOTE_WORDS)
                rejections.append({"object": shown, "reason": reason[:PRINTED]})
                told.take()
        if len(pieces) > MOST_PIECES:
            left, more = pieces[MOST_PIECES], len(pieces) - MOST_PIECES
            shown = excerpt(left[1]) if left[0] == "broken" else kept_object(left[1])
            reason = f"E_ANSWER_SIZE: this object and {more - 1} more after {MOST_PIECES} others"
            rejections.append({"object": shown, "reason": reason})
        return laws, rejections, warnings

    def law(self, piece, place, shown, told, warnings):
        """The law that a piece is."""
        if piece[0] == "broken":
            raise NoLaw(f"E_ANSWER_JSON: {shown_text(piece[2])}", True)
        _, value, mends = piece
        if mends and self.strict:
            raise NoLaw(f"E_ANSWER_MENDED: {', '.join(mends)}", True)
        withheld = []
        if isinstance(value, dict):
            withheld = self.own_fields(value)
            value = {key: one for key, one in value.items() if key not in WITHHELD and one is not None}
            value = value if self.scramble is None else self.scramble.law(value)
        law, said = self.read(value, shown, told)
        name = law.law.name
        if mends:
            warnings.append(f"object {place} ({name}) was mended: {', '.join(mends)}")
        if withheld:
            warnings.append(f"object {place} ({name}): left out {', '.join(f'`{key}`' for key in withheld)}")
        warnings += [f"object {place} ({name}): {one}" for one in said]
        return law

    def own_fields(self, value):
        """The keys of an object that are no proposer's to give; the object has what a law must have."""
        missing = [f"`{key}`" for key in ("template", "forbidden") if is_blank(value.get(key))]
        if is_blank(value.get("claim_ast")) and is_blank(value.get("claim")):
            missing.append("`claim_ast` or `claim`")
        if missing:
            raise NoLaw(f"E_ANSWER_FIELD: the object lacks {', '.join(missing)}", True)
        withheld = [key for key in WITHHELD if key in value]
        if withheld and self.strict:
            raise NoLaw(f"E_ANSWER_KEY: {', '.join(f'`{key}`' for key in withheld)}", True)
        return withheld

    def read(self, value, shown, told):
        """The proposal that an object makes, and the warnings of the law compiler."""
        try:
            return self.compiled(value)
        except Open as lacking:
            self.notes.add(NOTE_LAW)
            if told.next_is(shown):
                raise NoLaw("not read here") from None
            raise lacking

    def compiled(self, value):
        """The proposal that an object makes, without the fields that its template does not need."""
        proposal = self.book.proposed(value)
        law = proposal.law
        strays, from_text = stray_fields(law), "W_LAW_STRING" in law.warnings
        worded = law.data.get("claim_ast") is None and self.book.specs[law.data["template"]].get("parts")
        if self.strict and (strays or worded):
            raise NoLaw("E_LAW")
        said = {}
        for name in strays:
            said[name] = f"W_LAW_FIELD: a law of the form {law.form} does not need `{name}`: it is not read"
        if from_text:
            shown = claim_text(law.claim)
            said["claim"] = f"W_LAW_STRING: {shown_text(f'the claim was read from its string, as {shown}')}"
        if strays:
            proposal = self.book.proposed({key: one for key, one in value.items() if key not in strays})
        if not nested(proposal.document, MOST_NESTED):
            reason = f"E_ANSWER_SIZE: more than {MOST_NESTED} brackets inside one another"
            raise NoLaw(reason, True)
        return proposal, [said[name] for name in sorted(said)]


def asked_for(laws, rejections, wanted, without):
    """The laws whose templates were asked for; the others are rejected."""
    kept = []
    for law in laws:
        form, reason = law.law.form, None
        if without is not None and form in without:
            reason = f"E_PROPOSAL_TEMPLATE: {form} is excluded"
        elif wanted is not None and form not in wanted:
            reason = f"E_PROPOSAL_TEMPLATE: {form} is none of {', '.join(wanted) or 'no templates'}"
        if reason is None:
            kept.append(law)
        else:
            rejections.append({"object": kept_object(law.document), "reason": reason})
    return kept


def failed_answer(answer):
    """The warning of an answer that is none."""
    if answer["failure"] is None:
        return []
    detail = f": {shown_text(answer['detail'])}" if answer["detail"] else ""
    said = f"the model gave no whole answer ({answer['failure']}){detail}"
    return [f"E_MODEL_{answer['failure'].upper()}: {said}"]


def readable(answer, strict):
    """The text of an answer that is read; of one that was cut off the whole laws are, unless reading is strict."""
    cut = answer["failure"] == "truncated" and not strict
    return answer["text"] if answer["failure"] is None or cut else None


# The verdicts of a discovery: each is about its law, rests on what it says, and is what trying the law again gives.
#
# Laws are tried as the discovery says, however hard their proposers wanted them tried; accepted ones again, harder, and
# under rules that are held out (docs/discovery.md).

VERDICT_FIELDS = {"law", "key", "universe", "template", "claim", "forbidden", "contract", "status", "method", "reason"}
VERDICT_FIELDS |= {"detail", "proved_for", "up_to", "certificate", "counterexample", "power", "violation_bound"}
VERDICT_FIELDS |= {"content", "work"}
COUNTEREXAMPLE_FIELDS = {"start", "t", "excerpt", "observables", "minimised"}
HELD_FIELDS = {"universe", "mutant", "status", "method", "reason", "up_to", "counterexample"}
UNSAID_INTEGER = ("UNKNOWN", "none", "evaluation_error", "an integer of the verdict is beyond 2^53 - 1")
NOTE_CERTIFICATE = "that a certificate is the one that the prover made, and not another that proves the same"
NOTE_DETAIL = "the words of why a proof reaches no further"
NOTE_ERROR = "that a trial ended in a contradiction of the engine, where a law has an error and no verdict"
NOTE_UNSAID = "that a verdict was too large to be told, where one says so"
NOTE_HELD_PROOF = "proofs and the reach of proofs under rules that are held out, whose certificates are not kept"
NOTE_HELD_FOUND = "how the rings were found that refute laws under rules that are held out"
NOTE_HELD_REASON = "why a law cannot be said in another universe"
NOTE_WORK = "verdicts of laws whose trial takes more work than --work N allows"


class DiscoveryTrials:
    """Looks at the verdicts of one discovery."""

    def __init__(self, spec, specs, notes):
        self.spec, self.specs, self.notes = spec, specs, notes
        self.book = LawBook(specs, spec["universe"], spec["templates"])
        self.held = {"cases": 100, "mutations": 0, **spec.get("held_out", {})}

    def effort(self, kind, document):
        """How hard a law is tried."""
        usual = {"cases": 300, "mutations": 1500, "T": 50}
        given = self.spec.get("trial", {})
        if kind != "law":
            usual = {"cases": 2000, "mutations": 5000, "T": 200}
            given = self.spec.get("escalation", {})
        hard, quantifiers = {**usual, **given}, dict(document.get("quantifiers") or {})
        asked = quantifiers.get("T", hard["T"])
        quantifiers["T"] = asked if kind == "law" else max(asked, hard["T"])
        return {"cases": hard["cases"], "mutations": hard["mutations"], "quantifiers": quantifiers}

    def law(self, kind, body):
        """The law of a receipt, as it was tried."""
        document = body["document"]
        try:
            own = self.book.law(document)
            demand(own.key == body["law"], "E_VERDICT", f"{body['law']} is not the law whose document is recorded")
            return self.book.law(document, self.effort(kind, document), own.name)
        except NoLaw as no:
            raise Refuted("E_VERDICT", f"a recorded law is none: {no.reason}") from None

    def check(self, kind, body):
        """What follows from a receipt and the specs alone: a verdict, a certificate, counterexamples."""
        guarded(lambda: self.checked(kind, body), "E_VERDICT")

    def checked(self, kind, body):
        """The same, of a receipt that may have any form."""
        verdict = body["verdict"]
        shaped = verdict is None or (isinstance(verdict, dict) and verdict.keys() == VERDICT_FIELDS)
        demand(shaped, "E_VERDICT", "a verdict has other fields")
        found = verdict["counterexample"] if verdict else None
        shaped = found is None or (isinstance(found, dict) and found.keys() == COUNTEREXAMPLE_FIELDS)
        demand(shaped, "E_COUNTEREXAMPLE", "a counterexample has other fields")
        law = self.law(kind, body)
        demand(law.universe.key == self.spec["universe"], "E_VERDICT", "a law is about another universe")
        if body["verdict"] is None:
            demand(isinstance(body["error"], str), "E_VERDICT", f"{body['law']} has neither a verdict nor an error")
            self.notes.add(NOTE_ERROR)
        else:
            demand(body["error"] is None, "E_VERDICT", f"{body['law']} has a verdict and an error")
            check_verdict(law, verdict)
            self.believed(verdict)
        for held, other in self.held_out(body) if kind == "escalation" else ():
            if held["counterexample"] is not None:
                check_counterexample(other, held["counterexample"])

    def believed(self, verdict):
        """Note what of a verdict is not made again, beside what trying its law says so of."""
        if verdict["certificate"] is not None:
            self.notes.add(NOTE_CERTIFICATE)
            if verdict["method"] != "proof":
                self.notes.add(NOTE_DETAIL)

    def held_out(self, body):
        """What was found under each rule that is held out, each with the law there, or with None if it is none."""
        document, held, code = body["document"], body["held_out"], "E_VERDICT"
        name = self.book.law(document).name
        rules = [(self.spec["universe"], number) for number in self.mutants()]
        rules += [(key, None) for key in self.held.get("universes", [])]
        shaped = isinstance(held, list) and all(isinstance(one, dict) and one.keys() == HELD_FIELDS for one in held)
        told = [(one["universe"], one["mutant"]) for one in held] if shaped else None
        demand(
            write(told) == write(rules), "E_REPLAY", "a law was tried under other rules than those that are held out"
        )
        changes = {one: self.held[one] for one in ("cases", "mutations")}
        changes["quantifiers"] = document.get("quantifiers") or {}
        for one in held:
            refuted = one["counterexample"] is not None
            demand((one["status"] == "FAIL") == refuted, code, "a status and its counterexample do not go together")
            yield one, self.there(document, changes, name, one)

    def there(self, document, changes, name, held):
        """The law under a rule that is held out; None where it cannot be said."""
        book = self.book.elsewhere(held["universe"])
        try:
            law = book.law(document, changes, name)
        except NoLaw:
            said = {"status": "INAPPLICABLE", "reason": held["reason"], "method": None, "up_to": None}
            same = isinstance(held["reason"], str) and all(held[key] == value for key, value in said.items())
            demand(same, "E_REPLAY", f"{name} is no law of {held['universe']}, and was tried there")
            self.notes.add(NOTE_HELD_REASON)
            return None
        demand(held["status"] != "INAPPLICABLE", "E_REPLAY", f"{name} is a law of {held['universe']}")
        if held["mutant"] is not None:
            law.universe.rule = law.universe.rule.changed(held["mutant"])  # the universe is this book's alone
        return law

    def mutants(self):
        """The numbers of the mutants of the universe's rule that are held out."""
        symbols = len(self.specs[self.spec["universe"]]["alphabet"])
        every = symbols**3 * (symbols - 1)
        wanted = min(self.held.get("mutants", 0), every)
        return [number * every // wanted for number in range(wanted)]

    # Trying again

    def again(self, kind, body):
        """Try the law of a receipt again; where that takes too much work, say so."""
        if body["verdict"] is not None:
            self.within_work(lambda: self.verdict(self.law(kind, body), body["verdict"]))
        for held, other in self.held_out(body) if kind == "escalation" else ():
            if other is not None:
                self.within_work(lambda: self.there_again(other, held))

    def within_work(self, check):
        """Make a check, or say that it is too much."""
        try:
            check()
        except Open as lacking:
            if lacking.code != "E_WORK":
                raise
            self.notes.add(NOTE_WORK)

    def verdict(self, law, verdict):
        """A verdict is what trying the law again gives."""
        if (verdict["status"], verdict["method"], verdict["reason"], verdict["detail"]) == UNSAID_INTEGER:
            made, _ = remade_verdict(law, {**verdict, "method": "sample"}, law_cases(law))
            large = any(type(one) is int and abs(one) > BIG for one in members_of(made))
            demand(large, "E_REPLAY", "no integer of the verdict is too large")
            return
        if verdict["reason"] == "resource_limit" and str(verdict["detail"]).startswith("the verdict has "):
            self.notes.add(NOTE_UNSAID)
            return
        self.notes.update(replay_verdict(law, verdict, [] if law.unknown is not None else law_cases(law)))

    def there_again(self, law, held):
        """What is told of a law under a rule that is held out is what trying it gives, as far as that is kept."""
        demand(held["up_to"] is None or type(held["up_to"]) is int, "E_REPLAY", "the reach of a proof is no number")
        if held["status"] == "ERROR":
            self.notes.add(NOTE_ERROR)
            return
        if held["method"] == "refutation":
            self.notes.add(NOTE_HELD_FOUND)
            plain = held["status"] == "FAIL" and held["reason"] is None and held["up_to"] is None
            demand(plain, "E_REPLAY", "a refutation refutes nothing")
            law.fitting = law.fits(law.claim) is not None and law.fits(law.where) is not None
            made, found = counterexample_of_text(law, held["counterexample"]), held["counterexample"]
            demand(write(made) == write(found), "E_REPLAY", "a counterexample under a rule that is held out differs")
            return
        blank = dict.fromkeys(("certificate", "proved_for", "detail", "counterexample"))
        made, _ = remade_verdict(law, {**blank, **held}, [] if law.unknown is not None else law_cases(law), False)
        for name in ("status", "method", "reason", "counterexample"):
            same = write(made.get(name)) == write(held[name])
            demand(same, "E_REPLAY", f"{name} under a rule that is held out: recorded {held[name]!r}")
        if held["method"] != "none":
            self.notes.add(NOTE_HELD_PROOF)


# The desk of a kernel: documents instead of bare proposals, tokens bound to them, an audit entry for each ruling.
#
# It stands where the plain desk of a run stands (`replay`). The order of one decision is that of docs/probes.md and
# docs/kernel.md: offers, document, commitment, challenges, ruling, entry, token, entry, act.

PROBED = ("before_propose", "after_commit", "after_token", "after_act")


class Underway:
    """A plan of which a step was executed, and another one that its token covers is left."""

    def __init__(self, token, submission, index, score, state):
        self.token, self.submission, self.index, self.score, self.state = token, submission, index, score, state


class KernelDesk:
    """The desk of one run under a kernel.

    Attributes:
        submission: What was submitted last.
        tokens: Those of the episode.
        granted: The hash of the scope that was granted last.
        now_ms: Kernel time.
    """

    def __init__(self, run, signatures=()):
        """`run` is the replayed run; `signatures` are those of its recorded tokens, for a kernel that has a key."""
        self.run, self.parts = run, KernelParts(run, signatures)
        self.admission, self.narrator = self.parts.admission, self.parts.narrator
        self.entries = Entries() if run.tape is None else Entries(run.tape.mode, run.tape.head)
        self.vault, self.submission = Vault(run.seed), receive_value(None)
        self.probing = Probing(self.parts.probes, run.seed, run.horizon, self.parts.ground.over, challenged)
        self.tokens, self.granted, self.now_ms = None, "", 0
        self.underway = self.left = self.ruling = None
        self.waiting = []

    def gates(self):
        """What can deny beside the schema and the governor's own gates."""
        return self.admission.gates()

    def open(self):
        """An episode begins: no token is left of the one before."""
        self.tokens, self.left = Tokens(self.run.world.step, self.parts.signer), None

    def propose(self, moment):
        """The next step of the plan that is under way; where none is, what is submitted."""
        if self.underway is not None:
            going = self.underway
            action, document = going.submission.action(going.index), going.submission.proposal_hash
            return [{"action": action, "score": going.score, "document": document}]
        if self.run.agent is None:
            answer = self.run.tape.asked(moment.episode, moment.t)
            if answer["failure"] in ("timed_out", "died"):
                self.halt(answer)
            self.submission = receive_answer(answer)
            return [self.submission.proposal(0)]
        answer = None if self.run.tape is None else self.run.tape.recorded(moment.episode, moment.t)
        if answer is not None:
            self.halt(answer)
        return self.decide(moment)

    def halt(self, answer):
        """The agent was ended at this decision, and that was logged."""
        event = "FATAL_HANG" if answer["failure"] == "timed_out" else "INTERNAL_ERROR"
        self.enter(event, self.submission, codes=(answer["reason"],))
        raise Ended(answer)

    def decide(self, moment):
        """What an agent inside submits."""
        decider, occasion = self.narrator.decider, (moment.episode, moment.t, 0)
        choice = decider.choose(moment.seen, moment.memory, occasion)
        if choice is None:
            self.submission = receive_value(None)
            return []
        told = self.narrator.document(moment.state, moment.memory, choice, occasion, self.vault.snapshot)
        self.submission = receive_value(told)
        return [self.submission.proposal(choice.score)]

    def judge(self, moment, proposals, judge_plainly):
        """The ruling about the document, once for its whole plan, then the governor's gates on its action."""
        if self.underway is None:
            ruling = self.ruling = self.admission.rule(moment.state, self.submission)
            if ruling.verdict == "deny":
                return [self.run.rejected(ruling.rejected) for _ in proposals]
        return judge_plainly([{"action": one["action"], "score": one["score"]} for one in proposals])

    def issue(self):
        """The capability token of a choice: that of the plan under way, or the one that the ruling allows."""
        if self.underway is not None:
            return self.underway.token
        ruling = self.ruling
        if ruling is None or ruling.scope is None:
            return self.denied(Denied("no_ruling"))
        try:
            token = self.tokens.issue(self.submission, ruling.capability, ruling.scope, self.now_ms)
        except Denied as denied:
            return self.denied(denied)
        self.granted = token["binding"]["scope_hash"]
        return token

    def act(self, token, proposal, state, inputs):
        """Execute one step of a plan; if that leaves one which its token covers, it comes next."""
        index = 0 if self.underway is None else self.underway.index
        try:
            made = self.tokens.act(
                token, index, self.submission, proposal["action"], self.granted, self.now_ms, state, inputs
            )
        except Denied as denied:
            return self.denied(denied)
        actions, index = self.submission.actions, index + 1
        covered = min(len(actions), token["scope"]["rate_limit"]["max_calls"])
        going = index < covered and actions[index]
        self.left = Underway(token, self.submission, index, proposal["score"], made[0]) if going else None
        return made

    def denied(self, denied):
        """A refusal is logged before it is told."""
        self.enter_refusal(denied.reason)
        raise denied

    def attend(self, place, moment):
        """The receipts of a place of the loop: entries first, then probes, each after what it led to."""
        self.now_ms = (moment.episode * self.run.horizon + moment.t) * self.parts.ms_per_tick
        if place == "before_propose":
            going, self.left = self.left, None
            self.underway = going if going is not None and going.state is moment.state else None
        elif place == "error":
            self.enter("INTERNAL_ERROR", self.submission, codes=("error",))
        elif place == "after_token":
            self.enter_decision(moment)
        yield from self.flush()
        idle = self.underway is not None or (place == "after_token" and moment.token is None)
        if place not in PROBED or idle:
            return
        here = Here(moment.episode, moment.t, moment.state, moment.memory)
        for body in self.probing.attend(place, here, Subject(self, moment)):
            yield from self.flush()
            yield "probe", body

    def enter_decision(self, moment):
        """Log what was ruled, and the token that was issued for it."""
        if self.underway is not None:
            verdict = "deny" if moment.token is None else "allow"
            codes = (f"step:{self.underway.index}",)
            self.enter("POLICY_DECISION", self.submission, verdict=verdict, codes=codes)
        if self.ruling is None:
            return
        self.enter_ruling(self.ruling)
        if moment.token is not None:
            told = {"verdict": self.ruling.verdict, "tokens": (moment.token,)}
            self.enter("CAPABILITY_ISSUED", self.submission, **told)
        self.ruling = None

    def enter_ruling(self, ruling):
        """Log a ruling."""
        told = {"verdict": ruling.verdict, "codes": ruling.codes, "witnesses": ruling.witnesses}
        self.enter("POLICY_DECISION", ruling.submission, **told)

    def enter_refusal(self, reason):
        """Log that an execution was refused."""
        self.enter("CAPABILITY_DENIED", self.submission, codes=(f"refused:{reason}",))

    def enter(self, event, submission, **told):
        """Make an entry; its receipt comes at the next place."""
        self.waiting.append(("audit", self.entries.seal(event, self.now_ms, submission, **told)))

    def flush(self):
        """The receipts of the entries that wait."""
        waiting, self.waiting = self.waiting, []
        yield from waiting


def receive_answer(answer):
    """Take what is on the tape for a decision; where there are no bytes, the failure is what is denied."""
    data = received_bytes(answer)
    if data is not None:
        return receive_bytes(data)
    if not answer["failure"]:
        return receive_value(None)
    return Submission(None, answer["sha256"] or ZEROS, problem=answer["failure"])


# A run made again: from specs.json and what is on its tape to the receipts that it must have.
#
# It is written from docs/authoring.md and docs/evidence.md: drift, observe, propose, commit, judge, choose, act,
# remember, look. Whatever cannot be evaluated becomes an `error` receipt. A desk stands where a kernel would.

Moment = namedtuple("Moment", ("episode", "t", "state", "seen", "memory", "token"))


class Desk:
    """The plain desk: the agent proposes, the governor judges, and nothing attaches to the loop."""

    def __init__(self, run):
        self.run = run

    def gates(self):
        """Further gates, between the schema and the governor's own."""
        return []

    def open(self):
        """An episode begins."""

    def attend(self, place, moment):
        """The receipts that are made at a place of the loop."""
        return ()

    def propose(self, moment):
        """What is proposed."""
        run = self.run
        if run.agent is None:
            answer = run.tape.asked(moment.episode, moment.t)
            return proposals_answered(answer, run.governor.claims)
        return run.agent.propose(moment.seen, moment.memory)

    def judge(self, moment, proposals, judge_plainly):
        """A judgement of each proposal."""
        return judge_plainly(proposals)

    def issue(self):
        """What is acted through; `Denied` if it is not issued."""
        return True

    def act(self, token, proposal, state, inputs):
        """The next state and the outcome; `Denied` if the token does not permit it."""
        return self.run.world.step(state, proposal["action"], inputs)


class Replay:
    """A run that is made again.

    Attributes:
        specs: Data by key; `scenario` is that of the root.
        world, governor, agent: As their modules have them; no agent if it is asked outside.
        tape: What came from outside, None if there is none.
    """

    def __init__(self, document, tape=None, desk=None):
        """Read the specs.

        Args:
            document: What specs.json holds.
            tape: The documents of the lines of tape.jsonl, if there is one.
            desk: What makes the desk of a kernel, of this object; without it a kernel's run is left open.
        """
        self.specs, self.scenario = document["specs"], document["specs"][document["root"]]
        self.document = document
        self.seed, self.episodes = self.scenario.get("seed", 0), self.scenario.get("episodes", 1)
        self.horizon = self.scenario["horizon"]
        self.world = World(self.specs, self.scenario["world"])
        governor, self.agent_data = self.specs[self.scenario["governor"]], self.specs[self.scenario["agent"]]
        self.governor = Governor(governor, self.world)
        outside = self.agent_data.get("outside") is not None
        self.agent = None if outside else Agent(self.agent_data, self.world, self.governor.claims)
        self.tape = None if tape is None else Tape(tape)
        demand(self.tape is not None or not outside, "E_TAPE_MISSING", "the agent is outside, and there is no tape")
        self.drifts = drifts_of(self.scenario.get("drift", []), self.specs, self.world, self.horizon)
        keys = dict.fromkeys([*governor.get("invariants", []), *self.scenario.get("invariants", [])])
        wanted = [self.specs[key] for key in keys if self.specs[key].get("scope") != "proposal"]
        self.invariants = [Invariant(one, self.world) for one in wanted]
        until = self.scenario.get("until")
        self.until = None if until is None else expression(until)
        self.start_values = labelled(self.scenario.get("start", {}))
        self.commits = self.scenario.get("commit", "proposals") != "none"
        kernel = governor.get("admission") is not None
        if kernel and desk is None:
            raise Open("E_REPLAY", "runs under a kernel are not made again here")
        self.desk = desk(self) if kernel else Desk(self)
        self.gates = ["schema", *self.desk.gates(), *(gate.id for gate in self.governor.gates)]

    def start(self, episode):
        """The start state of an episode."""
        data = self.scenario.get("map")
        grid = None if data is None else map_of(data, self.seed, episode)
        return self.world.start(self.start_values, None, grid)

    @staticmethod
    def rejected(failing):
        """The judgement of a proposal that was refused before it was judged."""
        return Judgement(list(failing), 0, {}, {}, None)

    def receipts(self):
        """The receipts in their order, as (type, body)."""
        yield "start", self.opening()
        watch, counts, steps, memory = Watch(self.governor), Counter(dict.fromkeys(self.gates, 0)), 0, None
        try:
            first = self.start(0)
        except (Failed, Unsealable) as failed:
            raise Refuted("E_SPECS", f"the first start state cannot be made: {failed.code}") from None
        del first
        for number in range(self.episodes):
            episode = Episode(self, number, watch, memory)
            for kind, body in episode.receipts():
                steps += kind == "step"
                if kind == "episode_end":
                    counts.update(body["gates"])
                if kind != "commit" or self.commits:
                    yield kind, body
            lasts = self.agent is not None and self.agent.memory.lasts == "run"
            memory = episode.memory if lasts else None
        yield "end", {"episodes": self.episodes, "steps": steps, "gates": dict(counts)}
        if self.tape is not None:
            self.tape.finish()

    def opening(self):
        """The first receipt."""
        invariants = [{"name": one.name, "scope": one.scope, "severity": one.severity} for one in self.invariants]
        body = {
            "scenario": self.scenario["name"],
            "specs": tagged("specs", write(self.document)),
            "seed": self.seed,
            "episodes": self.episodes,
            "horizon": self.horizon,
            "gates": self.gates,
            "invariants": invariants,
            "drifts": [{"drift": one.name, "schedule": sorted(one.schedule)} for one in self.drifts],
        }
        if not self.commits:
            body["commit"] = "none"
        if self.tape is not None and self.tape.mode == "live":
            body["audit"] = {"mode": "live", "head": self.tape.head}
        return body


class Episode:
    """One episode that is made again."""

    def __init__(self, run, number, watch, memory):
        self.run, self.world, self.number, self.watch, self.memory = run, run.world, number, watch, memory
        self.tips = dict.fromkeys(self.world.keeping(), ZEROS)
        self.gates, self.idle = dict.fromkeys(run.gates, 0), Counter()
        self.t, self.state, self.digest, self.seen = 0, {}, "", None
        self.pending, self.first, self.ended = 0, None, None
        self.steps, self.token = 0, None

    def moment(self, seen=None):
        """Where the loop stands."""
        return Moment(self.number, self.t, self.state, seen, self.memory, self.token)

    def receipts(self):
        """The receipts of the episode."""
        run, violations = self.run, []
        run.desk.open()
        try:
            self.watch.begin()
            start = self.state = run.start(self.number)
            self.digest = state_hash(start)
            yield "episode", self.begun(start)
            for self.t in range(run.horizon):
                yield from self.step()
                self.steps += 1
                if self.ended is not None:
                    break
            found, idle = self.breaches("episode", start, self.state)
            violations = weighed(found)
            self.idle.update(idle)
        except Ended as ended:
            self.ended = ended.kind
            yield from run.desk.attend("halted", self.moment())
            witness = {"ended": ended.kind, "reason": ended.reason}
            violations = [{"invariant": "watchdog", "severity": "fatal", "witness": witness}]
        except (Failed, Unsealable) as failed:
            self.ended = "error"
            yield from run.desk.attend("error", self.moment())
            yield "error", {"episode": self.number, "t": self.t, **failed.told()}
        yield (
            "episode_end",
            {
                "episode": self.number,
                "steps": self.steps,
                "ended": self.ended or "horizon",
                "success": self.first is not None,
                "first_success": self.first,
                "violations": violations,
                "idle": dict(self.idle),
                "gates": self.gates,
                "state": self.digest,
            },
        )

    def begun(self, state):
        """The receipt of a start state."""
        body = {
            "episode": self.number,
            "state": state,
            "digest": self.digest,
            "opening": self.world.opening(state),
            "world": state_hash({k: v for k, v in state.items() if k not in self.tips}),
            "parts": {name: state_hash(state[name]) for name in self.tips},
        }
        return weighed(body)

    def step(self):
        """The receipts of one step."""
        run, desk = self.run, self.run.desk
        self.token = None
        for place, drift in enumerate(run.drifts):
            if self.t in drift.schedule:
                yield from self.drift(place, drift)
        fresh = self.seen is None
        seen = self.world.observe(self.state) if fresh else self.seen
        if self.memory is None:
            self.memory = {} if run.agent is None else run.agent.begin(seen)
        self.watch.observe(seen, self.state, fresh)
        yield from desk.attend("before_propose", self.moment(seen))
        proposals = desk.propose(self.moment(seen))
        leaves = [sealed({"index": index, "proposal": one}) for index, one in enumerate(weighed(proposals))]
        root = merkle(leaves)
        observed = tagged("observation", sealed(weighed(seen)))
        body = {"episode": self.number, "t": self.t, "observation": observed, "root": root}
        yield "commit", {**body, "proposals": proposals}
        yield from desk.attend("after_commit", self.moment(seen))
        found = desk.judge(self.moment(seen), proposals, lambda some: self.judge(some, seen))
        chosen = best_of(found, lambda one: not one.rejected and one.error is None)
        self.token = self.issued(chosen, found)
        yield from desk.attend("after_token", self.moment(seen))
        taken = self.taken(chosen, proposals, found, seen, leaves, root)
        yield from desk.attend("after_act", self.moment(seen))
        yield "step", self.settled(taken, found)

    def judge(self, proposals, seen):
        """The governor's judgement of each proposal."""
        agent = self.run.agent
        writes = [0 if agent is None else agent.memory.count(seen, self.memory, one["action"]) for one in proposals]
        memory = self.watch.memory or {}
        return self.run.governor.judge(self.state, proposals, self.pending, writes, memory)

    def drift(self, place, drift):
        """What a drift does, where it happens."""
        before = self.state
        sources = drift.sources(before)
        if sources is None or not all(sources):
            return
        drawn = {}
        for (name, stream, _), source in zip(drift.draws, sources):
            drawn[name] = Stream(self.run.seed, "drift", stream, place, self.number, self.t, name).choice(source)
        after = drift.apply(before, drawn)
        digest = state_hash(after)
        rebases, values = self.watch.drift(drift.name, after)
        moved = {name: {"from": before[name], "to": after[name]} for name in before if after[name] != before[name]}
        body = {"episode": self.number, "t": self.t, "drift": drift.name, "drawn": drawn, "changed": moved}
        body.update(rebases=rebases, before=self.digest, after=digest)
        sealed(weighed(body))
        self.state, self.seen, self.digest, self.watch.values = after, None, digest, values
        yield "drift", body

    def issued(self, chosen, found):
        """What the desk issues for a choice, None if nothing."""
        if chosen is None:
            return None
        try:
            return self.run.desk.issue()
        except Denied as denied:
            found[chosen].rejected.append({"gate": "token", "reason": denied.reason, "witness": {}})
            return None

    def taken(self, chosen, proposals, found, seen, leaves, root):
        """What comes of a decision: everything that a step keeps, before it is kept."""
        if self.token is None:
            return self.stood(proposals, found, seen)
        proposal, judgement, before = proposals[chosen], found[chosen], self.state
        try:
            after, outcome = self.run.desk.act(self.token, proposal, before, judgement.inputs)
        except Denied as denied:
            judgement.rejected.append({"gate": "token", "reason": denied.reason, "witness": {}})
            return self.stood(proposals, found, seen)
        digest = tagged("proposal", leaves[chosen])
        scope = {"episode": self.number, "op": proposal["action"]["op"], "t": self.t}
        binding = {"commitment": root, "proposal": digest, "scope": tagged("scope", write(scope))}
        body = {"chosen": chosen, "chosen_hash": digest, "token": {"id": tagged("token", write(binding)), **binding}}
        body.update(cost=judgement.cost, inputs=judgement.inputs, record=self.world.record(before, after, outcome))
        later, agent = self.world.observe(after), self.run.agent
        memory = self.memory
        if agent is not None:
            memory = agent.memory.remember(seen, self.memory, proposal["action"], later)
        told, watched = self.watch.act(seen, proposal["action"], after, later)
        body.update(told)
        return after, later, memory, watched, body, self.world.told(before, after, outcome)

    def stood(self, proposals, found, seen):
        """Nothing is done; parts tell of the refused proposal of the greatest value."""
        best, told = best_of(found, lambda one: one.cost), {}
        if best is not None:
            after, outcome = self.world.step(self.state, proposals[best]["action"], found[best].inputs)
            told = self.world.told(self.state, after, outcome)
        body = {"chosen": None, "chosen_hash": None, "token": None, "cost": None, "inputs": {}, "record": None}
        body.update(self.watch.stand())
        return self.state, seen, self.memory, (self.watch.memory, self.watch.values), body, told

    def settled(self, taken, found):
        """The receipt of a step. What may fail comes first; then what it led to is kept."""
        after, later, memory, watched, body, told = taken
        before, chosen = self.state, body["chosen"]
        success = self.world.success(after)
        until = self.run.until is not None and evaluate(self.run.until, self.world.names(after), self.world.functions)
        violations, idle = self.breaches("step", before, after)
        decisions = [
            {"rejected": one.rejected, "error": None if one.error is None else one.error.told()} for one in found
        ]
        body = {"episode": self.number, "t": self.t, "before": self.digest, "decisions": decisions, **body}
        body.update(after=state_hash(after), success=success, violations=violations)
        tips = dict(self.tips)
        body["parts"] = {
            name: self.part(tips, name, after, one, chosen is not None) for name, one in weighed(told).items()
        }
        sealed(weighed(body))
        refused = sum(1 for one in found if one.rejected)
        paid = chosen is not None and found[chosen].cost["total"] != 0
        self.pending = refused + (0 if paid else self.pending)
        for one in found:
            for failing in one.rejected:
                self.gates[failing["gate"]] += 1
        self.state, self.seen, self.digest, self.memory, self.tips = after, later, body["after"], memory, tips
        self.watch.memory, self.watch.values = watched
        self.idle.update(idle)
        if success and self.first is None:
            self.first = self.t
        if any(one["severity"] == "fatal" for one in violations):
            self.ended = "fatal"
        elif until:
            self.ended = "until"
        return body

    def part(self, tips, name, after, told, accepted):
        """The receipt of a part, and the tip of its chain after it."""
        states = {"before": self.state[name], "after": after[name]}
        receipt = {**told, "accepted": accepted, "tip": tips[name]}
        receipt.update({place: state_hash(one) for place, one in states.items()})
        tips[name] = tagged("part", tips[name].encode() + sealed(receipt))
        return {**receipt, "tip_after": tips[name]}

    def breaches(self, scope, previous, state):
        """The broken invariants of a scope, and the names of those that were not looked at."""
        broken, idle = [], []
        for one in self.run.invariants:
            if one.scope == scope:
                witness = one.judge(previous, state)
                if witness is False:
                    idle.append(one.name)
                elif witness is not None:
                    broken.append({"invariant": one.name, "severity": one.severity, "witness": witness})
        return broken, idle


def best_of(found, admitted):
    """The first of the most valued judgements that are admitted, None if there is none."""
    best = None
    for index, one in enumerate(found):
        if admitted(one) and (best is None or one.value > found[best].value):
            best = index
    return best


def replay_scenario(document, tape=None, desk=None):
    """The receipts of a run, as (type, body), in their order."""
    return Replay(document, tape, desk).receipts()


# Suites: that the runs are those that the suite leads to, and that figures, checks and mutants follow from them.

RUN_NUMBERS = ("episodes", "successes", "steps", "proposals", "drifts", "checks", "errors")
UNCOMPARED = {"intact": True, "exact": True, "noticed": False, "compared": 0}
NO_SUCH_KEY = "E_EVAL_NO_SUCH_KEY"


class Assessment:
    """A suite, held against the runs inside it.

    `look(place)` gives the bundle of a run: its `specs`, `manifest` and `lines()`.
    """

    def __init__(self, document, look):
        self.document, self.look = document, look
        self.plan = SuitePlan(document["specs"], document["root"])
        self.outcomes, self.asked, self.left = {}, {}, []

    def figures(self, suite):
        """The figures of a suite, by name."""
        if suite not in self.asked:
            data, made = self.plan.specs[suite], []
            for name, one in sorted((data.get("figures") or {}).items()):
                statistic = next(each for each in SUITE_STATISTICS if one.get(each) is not None)
                made.append(SuiteFigure(name, one, data.get("runs") or {}, statistic))
            self.asked[suite] = made
        return self.asked[suite]

    def check_places(self, held):
        """See that there are the runs that the suite leads to, and no others."""
        places = sorted(case.place for trial in self.plan.trials() for case in trial.cases)
        differing = sorted({*places} ^ {*held})
        demand(not differing, "E_RUNS", f"the suite leads to other runs than it holds: {differing[:1]}")

    def check_runs(self):
        """See that every run is made from the specs that the suite leads to, and read off what figures are made of."""
        samplers = {}
        for trial in self.plan.trials():
            figures = self.figures(trial.suite)
            for case in trial.cases:
                self.check_run(trial, case, figures, samplers)

    def check_run(self, trial, case, figures, samplers):
        """See to one run."""
        BUDGET.part()
        run = self.look(case.place)
        specs, manifest = run.specs, run.manifest
        self.look_at(case, lambda: check_overlay(case.known, case.root, specs))
        scenario = specs["specs"][specs["root"]]
        case.seed = scenario.get("seed", SPEC_DEFAULTS["seed"])
        tuned = self.plan.specs[trial.suite].get("tuned_on") or []
        demand(case.seed not in tuned, "E_SPECS", f"{case.run} uses a seed that was tuned on")
        key = (trial.suite, scenario["world"], scenario["governor"])
        if key not in samplers:
            samplers[key] = sampler_of(specs, self.plan.specs[trial.suite], figures)
        wanted = [one.name for one in figures if case.arm in one.over]
        reader, samples, steps, count = EpisodeReader(case.heading), {}, 0, 0
        for receipt in map(json.loads, run.lines()):
            count, steps = count + 1, steps + (receipt["type"] == "step")
            episode = reader.add(receipt["type"], receipt["body"])
            if episode is not None:
                samplers[key].sample(episode, samples, wanted)
        compared = {"intact": True, "exact": True, "noticed": steps > 0, "compared": count}
        outcome = {name: manifest[name] for name in ("specs", "receipts", "result")}
        outcome.update(replay=compared if trial.compared else UNCOMPARED, samples=samples)
        self.outcomes[case.place] = outcome

    def look_at(self, case, check):
        """Make a check of one run; what it leaves open is kept."""
        try:
            check()
        except Refuted as refuted:
            raise Refuted("E_RUNS", f"{case.place}: {refuted.message} [{refuted.code}]") from None
        except Open as left:
            self.left.append((left.code, f"{case.place}: {left.message}"))

    def make_again(self, again):
        """See that every run is what its specs lead to."""
        cases = [case for trial in self.plan.trials() for case in trial.cases]
        for number, case in enumerate(cases, 1):
            PROGRESS.tell("run", number, len(cases))
            BUDGET.part()
            self.look_at(case, lambda place=case.place: again(self.look(place)))

    # What follows from the runs

    def receipts(self):
        """The receipts of the suite: (type, body)."""
        plan, own = self.plan, self.plan.own
        checks = plan.data.get("checks") or []
        start = {
            "suite": plan.data["name"],
            "specs": tagged("specs", write(self.document)),
            "runs": len(own.cases),
            "figures": [one.name for one in self.figures(own.suite)],
            "checks": [one["id"] for one in checks],
            "mutants": [name for name, _, _ in plan.mutants],
        }
        told, verdicts = self.assessed(own)
        made = [("start", start), *told]
        done = [(own, verdicts)]
        for name, control, mutated in plan.mutants:
            for one in (control, mutated):
                if not any(trial is one for trial, _ in done):
                    told, verdicts = self.assessed(one)
                    done.append((one, verdicts))
                    made += [receipt for receipt in told if receipt[0] == "run"]
            passed, failed = (next(held for trial, held in done if trial is one) for one in (control, mutated))
            made.append(("mutant", self.mutant(name, mutated, passed, failed)))
        count = sum(len(trial.cases) for trial in plan.trials())
        return [*made, ("end", {"runs": count, "checks": len(checks), "mutants": len(plan.mutants)})]

    def mutant(self, name, mutated, control, changed):
        """What caught a mutant: what passes in the control and fails in the mutated trial."""
        caught = sorted(one for one in changed if (control[one], changed[one]) == ("PASS", "FAIL"))
        errors = "ERROR" in (*control.values(), *changed.values())
        return {
            "mutant": name,
            "suite": self.plan.specs[mutated.suite]["name"],
            "caught": caught,
            "verdict": "PASS" if caught else "ERROR" if errors else "FAIL",
            "control": control,
            "mutated": changed,
        }

    def assessed(self, trial):
        """The receipts of one trial, and the verdict of each of its checks."""
        data, made = self.plan.specs[trial.suite], []
        runs = [{**case.heading, **self.outcomes[case.place]} for case in trial.cases]
        for case, run in zip(trial.cases, runs):
            known = {name: run[name] for name in ("specs", "receipts", "result", "replay")}
            made.append(("run", {"place": case.place, **case.heading, **known}))
        resampling = data.get("resamples", 999), data.get("seed", 0)
        values = {"runs": [read_run(run) for run in runs]}
        for figure in self.figures(trial.suite):
            groups, error = [], None
            try:
                groups = figure.groups(runs, resampling)
                bare = [{name: value for name, value in one.items() if name != "name"} for one in groups]
                values[figure.name] = groups if figure.by is not None else bare[0]
            except FigureFailed as failed:
                values[figure.name], error = failed, failed.cause
            told = {"figure": figure.name, "statistic": figure.statistic, "groups": groups, "error": error}
            made.append(("figure", told))
        judged = [self.judged(data, check, values) for check in data.get("checks") or []]
        made += [("check", one) for one in judged]
        return made, {one["check"]: one["verdict"] for one in judged}

    @staticmethod
    def judged(data, check, values):
        """What a check amounts to."""
        functions, constants = {**SERIES, **functions_of(data)}, constants_of(data)

        def read(text):
            tree = expression(text)
            for name in sorted(names_read(tree, functions) & values.keys()):
                if isinstance(values[name], FigureFailed):
                    raise values[name]
            return evaluate(tree, Names(values, constants), functions)

        opportunities, holds, cause, witness = 0, False, None, {}
        try:
            opportunities = read(check["opportunities"])
            holds = read(check["require"])
        except Failed as failed:
            cause = failed.told()
        except FigureFailed as failed:
            cause = failed.cause
        for name, text in (check.get("witness") or {}).items():
            try:
                witness[name] = read(text)
            except (Failed, FigureFailed):
                pass
        verdict = "PASS" if holds else "FAIL"
        if cause is not None:
            verdict = "ERROR" if opportunities or cause["code"] != NO_SUCH_KEY else "INCONCLUSIVE"
        elif holds and opportunities <= 0:
            verdict = "INCONCLUSIVE"
        told = {"check": check["id"], "verdict": verdict, "opportunities": opportunities, "witness": witness}
        return {**told, "error": cause if verdict == "ERROR" else None}

    def compare(self, recorded):
        """See that the receipts of the suite are what its runs lead to."""
        made = self.receipts()
        for place, ((kind, body), (was, held)) in enumerate(zip(made, recorded)):
            name = f"{kind} {body.get(kind, body.get('run', ''))}".strip()
            same = kind == was and write(body) == write(held)
            demand(same, "E_ASSESSMENT", f"receipt {place} ({name}) is not what the runs lead to")
        demand(len(made) == len(recorded), "E_ASSESSMENT", "there are other receipts than the runs lead to")


def read_run(run):
    """What checks read of a run."""
    result, replay = run["result"], run["replay"]
    made = {name: run[name] for name in ("run", "arm", "scenario", "seed")}
    made.update({name: result[name] for name in ("verdict", *RUN_NUMBERS)})
    for name in ("violations", "warnings", "rejections"):
        made[name] = [{"name": one, "count": count} for one, count in sorted(result[name].items())]
    made.update({name: replay[name] for name in ("intact", "exact", "noticed", "compared")})
    return {**made, "receipts": run["receipts"]["count"], "root": run["receipts"]["root"]}


def suite_again(bundle, again):
    """Assess the runs of a suite's bundle again, each of which is made again.

    Args:
        bundle: The bundle; its `inside` are those of its runs, by their places.
        again: What makes a run again: of its bundle; raises Refuted or Open.
    """
    try:
        assessment = Assessment(bundle.specs, bundle.inside.__getitem__)
        assessment.check_places(bundle.inside)
        assessment.check_runs()
        BUDGET.part()
        receipts = map(json.loads, bundle.lines())
        assessment.compare([(one["type"], one["body"]) for one in receipts])
        assessment.make_again(again)
    except CRASHES as error:
        raise Open("E_REPLAY", f"this file cannot assess the suite: {error!r}"[:200]) from None
    if assessment.left:
        (code, first), count = assessment.left[0], len(assessment.left)
        raise Open(code, f"{count} of {len(bundle.inside)} runs were not made again, the first of them {first}")


# A discovery made again from its specs and the answers, receipt by receipt (docs/discovery.md).
#
# Verdicts are taken from the receipts, where `discovery_check` looks at them; everything that follows from verdicts and
# answers is made again: what is remembered, asked, read, left out, ranked, late, escalated, refuted and found.

LEDGER_LINES = 1000
EQUAL_BY_PROOF = re.compile(r"(both hold|each follows from the other) under every rule; [0-9]{1,9} certificates")
NOTE_EQUAL = "that two laws follow from each other, where only a prover finds it, or finds it not"
LAW_HEAD = ("spec", "name", "doc", "metadata", "universe", "seed", "expect")


class Sight:
    """What a step may look at: the memory, how many laws are known, and the accepted laws that wait."""

    def __init__(self, memory, known, waiting):
        self.memory, self.known, self.waiting = memory.snapshot(), len(known), dict(waiting)


class Judged:
    """What is known of a law that was tried."""

    def __init__(self, proposal, iteration):
        self.proposal, self.iteration, self.verdict, self.escalated = proposal, iteration, None, False

    @property
    def status(self):
        return "ERROR" if self.verdict is None else self.verdict["status"]


class DiscoveryReplay:
    """Makes a discovery again and compares it with its receipts, (type, body) in their order."""

    def __init__(self, document, tape, receipts, notes):
        specs, root = document["specs"], document["root"]
        self.spec, self.specs, self.document = specs[root], specs, document
        self.receipts, self.at, self.notes = receipts, 0, notes
        spec = self.spec
        self.book = LawBook(specs, spec["universe"], spec["templates"])
        self.prompt = PromptMaker(spec, specs)
        self.ranking, self.model = Ranking(specs[spec["ranking"]]), open_model(specs, spec["model"], tape)
        strict = spec.get("proposer", {}).get("strict_parsing", False)
        self.parser, self.strict = AnswerParser(self.book, strict, self.prompt.scramble, notes), strict
        self.form = plain_digest(answer_form(self.prompt.allowed))
        self.memory = DiscoveryMemory(spec.get("memory", {}), capabilities_of(specs[spec["universe"]]))
        self.known, self.judged, self.waiting = [], {}, {}
        self.position = self.iterations = 0
        self.stopped = self.failure = None
        self.figures = dict.fromkeys(("evaluations", "escalations", "tokens", "dry", "late"), 0)
        self.views = {0: Sight(self.memory, self.known, self.waiting)}
        redundancy = spec.get("redundancy", {})
        self.threshold = millionths(redundancy.get("threshold", "0.9"))
        self.equivalent = redundancy.get("equivalent", True)
        self.lag, self.every = spec.get("lag", 1), spec.get("escalation", {}).get("every", 5)
        self.most = spec.get("iterations", 20)

    # Receipts

    def recorded(self, kind):
        """The body of the next receipt, which must be of this kind."""
        there = self.at < len(self.receipts) and self.receipts[self.at][0] == kind
        demand(there, "E_REPLAY", f"receipt {self.at}: made {kind!r}, recorded something else")
        return self.receipts[self.at][1]

    def same(self, kind, made):
        """The next receipt is this one."""
        recorded = self.recorded(kind)
        if write(recorded) != write(made):
            path, one, other = first_difference(recorded, made)
            message = f"receipt {self.at}, field {path}: recorded {one}, made {other}"
            raise Refuted("E_REPLAY", message)
        self.at += 1

    def run(self):
        """Make all of it again."""
        self.same("start", self.start())
        while self.stopped is None:
            rounds, within = divmod(self.position, self.every + 1)
            view = self.views[self.needs()]
            if within == self.every:
                self.escalate(view)
            else:
                demand(rounds * self.every + within == self.iterations, "E_REPLAY", "iterations are counted wrongly")
                self.propose(view)
            self.committed()
            if within != self.every:
                self.iterations += 1
                self.stopped = self.reason()
        self.escalate(Sight(self.memory, self.known, self.waiting))
        self.close()
        demand(self.at == len(self.receipts), "E_REPLAY", f"receipt {self.at} is one too many")
        if self.model.outside:
            self.model.finish()

    def needs(self):
        """How many steps were committed before what this step may look at."""
        return max(0, self.position - self.lag + 1)

    def committed(self):
        """A step is done."""
        self.position += 1
        self.views[self.position] = Sight(self.memory, self.known, self.waiting)
        self.views.pop(self.position - self.lag, None)

    def start(self):
        """The first receipt."""
        spec = self.spec
        return {
            "kind": "discovery",
            "discovery": spec["name"],
            "specs": tagged("specs", write(self.document)),
            "universe": spec["universe"],
            "model": {"spec": spec["model"], "identity": model_identity(self.specs, spec["model"])},
            "prompt": spec["prompt"],
            "ranking": spec["ranking"],
            "templates": self.prompt.allowed,
            "iterations": self.most,
            "lag": self.lag,
            "seed": spec.get("seed", 42),
        }

    # An iteration

    def propose(self, view):
        """Ask, read, leave out, rank; then the laws with their verdicts."""
        recorded, memory = self.recorded("iteration"), view.memory
        held, left = recorded.get("rejections"), recorded.get("redundant")
        shaped = listed_objects(held, ("object", "reason")) and listed_objects(left, ("law", "match_type"))
        demand(shaped, "E_REPLAY", f"receipt {self.at}: what was rejected or left out is told in another form")
        asked = self.spec.get("request", {})
        count = asked.get("count", 5)
        text, prompt = self.prompt.made(memory)
        lists = {"accepted": "accepted_laws", "falsified": "falsified_laws", "unknown": "unknown_laws"}
        names = {name: [one["law_id"] for one in memory[key]] for name, key in lists.items()}
        temperature = None if asked.get("temperature") is None else millionths(asked["temperature"])
        known = {"count": count, **names}
        question = Question(self.iterations, self.prompt.system, text, self.form, temperature, known)
        answer = self.model.ask(question)
        said = readable(answer, self.strict)
        laws, rejections, warned = ([], [], []) if said is None else self.parser.parsed(said, held)
        laws = asked_for(laws, rejections, asked.get("target_templates"), asked.get("exclude_templates"))
        warnings = failed_answer(answer)
        if len(laws) > count:
            warnings.append(f"{len(laws)} laws came, {count} were asked for")
        unique, nearest, redundant = self.filtered(laws, view, left)
        scored, unranked = self.ranking.ranked(unique, nearest, memory)
        self.same(
            "iteration",
            {
                "iteration": self.iterations,
                "snapshot": view_digest(memory, [law.key for _, law in self.known[: view.known]]),
                "prompt": prompt,
                "request": tagged("model-answer", write(question.document)),
                "answer": {
                    "digest": tagged("model-answer", write(answer)),
                    **{name: answer[name] for name in ("failure", "finish", "usage")},
                },
                "rejections": rejections,
                "redundant": redundant,
                "warnings": [*warnings, *warned, *unranked],
                "sensitivity": self.ranking.sensitivity(scored),
            },
        )
        self.failure = answer["failure"]
        self.figures["tokens"] += sum(answer["usage"][name] for name in USAGE_FIGURES)
        self.tried(scored, view)

    def filtered(self, laws, view, recorded):
        """The laws that are new, each with the one that it resembles most; and those that are left out."""
        before = self.index_of_known()
        batch, left = KnownLaws(), list(recorded)
        unique, nearest, redundant = [], [], []
        for law in laws:
            told = left[0] if left and left[0]["law"] == law.key else None
            found = self.match(law, [(before, view.known), (batch, len(batch.looks))], told)
            if found is not None and found["similarity"] >= self.threshold:
                redundant.append({**found, "law": law.key})
                left = left[1:]
                continue
            unique.append(law)
            nearest.append(found)
            batch.add(law)
        return unique, nearest, redundant

    def index_of_known(self):
        """An index of all laws that are known, each learned once."""
        index = getattr(self, "index", None) or KnownLaws()
        for _, law in self.known[len(index.looks) :]:
            index.add(law)
        self.index = index
        return index

    def match(self, law, indexes, told):
        """What a law repeats or resembles; that a prover found two to be the same is taken from the receipt."""
        found = same_match(law, indexes)
        if found is not None:
            return found
        if self.equivalent and any(most for _, most in indexes):
            self.notes.add(NOTE_EQUAL)
            if told is not None and told.get("match_type") == "equivalent":
                match = {name: one for name, one in told.items() if name != "law"}
                known = [one for index, most in indexes for one in index.looks[:most]]
                same = [one for one in known if one.id == match.get("matched_law_id")]
                shaped = match.keys() == {"matched_law_id", "similarity", "match_type", "details"}
                shaped = shaped and number(match["similarity"], ONE_WHOLE) and same
                shaped = shaped and isinstance(match["details"], str) and EQUAL_BY_PROOF.fullmatch(match["details"])
                demand(shaped, "E_REPLAY", f"receipt {self.at}: {law.key} is equivalent to no law that was known")
                apart = all(told_apart(law.law, one.law) for one in same)
                demand(not apart, "E_REPLAY", f"receipt {self.at}: {law.key} says something else than that law")
                return match
        return near_match(law, indexes)

    def tried(self, scored, view):
        """The laws of an iteration, with the verdicts that are recorded; those that came too late are told apart."""
        later = [law for _, law in self.known[view.known :]]
        index, learned = KnownLaws(later), False
        for place, (law, features, _) in enumerate(scored):
            recorded = self.recorded("law")
            self.figures["evaluations"] += 1
            told = recorded.get("late") if isinstance(recorded.get("late"), dict) else None
            late = self.match(law, [(index, len(later))], told)
            late = late if late is not None and late["similarity"] >= self.threshold else None
            body = {"iteration": self.iterations, "number": place, "law": law.key, "document": law.document}
            body.update(features=features, late=late, **self.verdict(recorded))
            self.same("law", body)
            if late is not None:
                self.figures["late"] += 1
            else:
                learned |= self.learn(law, recorded["verdict"])
        self.figures["dry"] = 0 if learned else self.figures["dry"] + 1

    @staticmethod
    def verdict(recorded):
        """What a receipt tells of a trial: it is taken as it is, and its digest is made."""
        verdict = recorded["verdict"]
        digest = None if verdict is None else tagged("law-verdict", write(verdict))
        return {"verdict": verdict, "error": recorded["error"], "digest": digest}

    def learn(self, law, verdict):
        """Take the verdict on a law; whether it was accepted."""
        judged = self.judged.setdefault(law.key, Judged(law, self.iterations))
        judged.verdict = verdict
        self.memory.record(law, verdict)
        accepted = judged.status in ACCEPTED
        if accepted and not judged.escalated:
            self.waiting[law.key] = law.document
        if accepted or self.spec.get("proposer", {}).get("add_to_redundancy_filter", True):
            self.known.append((self.position, law))
        return accepted

    def reason(self):
        """Why no more laws are asked for, or None."""
        if self.failure in LASTING_FAILURES:
            return self.failure
        figures = {**self.figures, "accepted": sum(one.status in ACCEPTED for one in self.judged.values())}
        stop = self.spec.get("stop", {})
        for name in ("accepted", "evaluations", "dry", "tokens"):
            if stop.get(name) is not None and figures[name] >= stop[name]:
                return name
        return "iterations" if self.iterations >= self.most else None

    # Escalations and the end

    def escalate(self, view):
        """The accepted laws that waited are tried harder; the first of two escalations counts."""
        for key, document in view.waiting.items():
            judged = self.judged[key]
            if judged.escalated:
                continue
            recorded = self.recorded("escalation")
            body = {"law": key, "document": document, "before": judged.status, "held_out": recorded["held_out"]}
            self.same("escalation", {**body, **self.verdict(recorded)})
            judged.escalated, judged.verdict = True, recorded["verdict"]
            self.waiting.pop(key, None)
            self.figures["escalations"] += 1
            self.memory.record(judged.proposal, recorded["verdict"])

    def close(self):
        """Why it stopped, the ledger, what was expected, and the end."""
        self.same("stop", {"reason": self.stopped, "iterations": self.iterations})
        lines = [line for key, one in self.judged.items() for line in ledger_lines(key, one)]
        for first in range(0, max(1, len(lines)), LEDGER_LINES):
            self.same("ledger", {"refuted": lines[first : first + LEDGER_LINES]})
        for key in self.spec.get("expect", []):
            self.same("expected", self.expected(key))
        statuses = [one.status for one in self.judged.values()]
        counts = {one: statuses.count(one) for one in ("PROVED", "PASS", "FAIL", "UNKNOWN", "ERROR")}
        figures = {name: one for name, one in self.figures.items() if name != "dry"}
        memory = memory_digest(self.memory.snapshot())
        self.same("end", {"iterations": self.iterations, **figures, "laws": counts, "memory": memory})

    def expected(self, key):
        """An expected law, with the one that was found and says the same."""
        spec, recorded = self.specs[key], self.recorded("expected")
        wanted = spec.get("expect", {}).get("status")
        document = {name: one for name, one in spec.items() if name not in LAW_HEAD}
        document["template"] = self.specs[spec["template"]]["name"]
        law, found = Proposal(document, RingLaw(self.specs, key)), None
        for name, one in self.judged.items():
            if one.status in (ACCEPTED if wanted is None else (wanted,)) and found is None:
                told = recorded.get("found") == name and not told_apart(law.law, one.proposal.law)
                equal = self.proved_equal(one.proposal) if told else None
                match = self.match(law, [(KnownLaws([one.proposal]), 1)], equal)
                found = name if match is not None and match["similarity"] == ONE_WHOLE else None
        return {"law": spec["name"], "key": key, "status": wanted, "found": found}

    @staticmethod
    def proved_equal(proposal):
        """What a receipt would tell of a law that a prover found to be the same."""
        details = "each follows from the other under every rule; 0 certificates"
        match = {"matched_law_id": proposal.id, "similarity": ONE_WHOLE, "match_type": "equivalent"}
        return {**match, "details": details}


def listed_objects(value, keys):
    """Whether a value is a list of objects that have these keys."""
    return isinstance(value, list) and all(isinstance(one, dict) and {*keys} <= one.keys() for one in value)


def ledger_lines(key, judged):
    """The line of a law in the ledger, if it was refuted."""
    found = None if judged.verdict is None else judged.verdict["counterexample"]
    if found is None:
        return []
    place = {"start": found["start"], "t": found["t"], "cells": len(found["start"])}
    return [{"law": key, "claim": judged.verdict["claim"], "iteration": judged.iteration, **place}]


def first_difference(recorded, made, path=""):
    """The first field in which two values differ, and what stands in both, short."""
    if isinstance(recorded, dict) and isinstance(made, dict):
        for name in sorted(recorded.keys() | made.keys()):
            if name not in recorded or name not in made:
                return f"{path}.{name}"[1:], name in recorded, name in made
            if write(recorded[name]) != write(made[name]):
                return first_difference(recorded[name], made[name], f"{path}.{name}")
    if isinstance(recorded, list) and isinstance(made, list) and len(recorded) == len(made):
        for index, (one, other) in enumerate(zip(recorded, made)):
            if write(one) != write(other):
                return first_difference(one, other, f"{path}.{index}")
    return path[1:] or "itself", write(recorded).decode()[:80], write(made).decode()[:80]


# A discovery made again: its verdicts looked at, everything between answers and verdicts made again, its laws tried.
#
# What only a prover, or the engine's own words, could tell is taken from the receipts, and said as not checked.


def discovery_again(bundle):
    """Make the discovery of a bundle again, whose chain and specs were checked before."""
    receipts = []
    for line in bundle.lines():
        receipt = json.loads(line)
        receipts.append((receipt["type"], receipt["body"]))
    notes = remade_discovery(bundle.specs, bundle.tape, receipts)
    bundle.unmade += [one for one in notes if one != NOTE_WORK]
    if NOTE_WORK in notes:
        raise Open("E_WORK", NOTE_WORK)


def remade_discovery(document, tape, receipts):
    """Compare the receipts of a discovery with what specs and answers lead to; give back what was not checked.

    Args:
        document: What specs.json holds.
        tape: The documents of tape.jsonl, None without it.
        receipts: [(type, body)] in their order.
    """
    notes = set()
    trials = DiscoveryTrials(document["specs"][document["root"]], document["specs"], notes)
    judged = [one for one in receipts if one[0] in ("law", "escalation")]
    try:
        for kind, body in judged:
            BUDGET.part()
            trials.check(kind, body)
        BUDGET.part()
        DiscoveryReplay(document, tape, receipts, notes).run()
        for number, (kind, body) in enumerate(judged, 1):
            PROGRESS.tell("verdict", number, len(judged))
            BUDGET.part()
            trials.again(kind, body)
    except (Failed, NoLaw) as failed:
        raise Refuted("E_SPECS", f"the specs cannot be computed with: {failed}"[:300]) from None
    except CRASHES as error:
        raise Open("E_REPLAY", f"this file cannot make it again: {error!r}"[:200]) from None
    return sorted(notes)


# The last check: what the recorded specs lead to is made again by this file, and compared receipt by receipt.
#
# What differs refutes the evidence. What this file does not know, cannot do, or would take too long to do, is not
# checked, and that is said; it refutes nothing.

SHOWN_VALUE = 80
TYPES_UNCHECKED = "the static types of expressions, and whatever else makes specs invalid without changing a receipt"


def compare(document, tape, lines, desk=None, known=None):
    """Make a run again and compare every receipt with the recorded one.

    Args:
        document: What specs.json holds.
        tape: The documents of tape.jsonl, None without it.
        lines: The lines of the receipts, without their newlines.
        desk: What makes the desk of a kernel, of a `Replay`.
        known: How many receipts there are, for whoever waits.

    Returns:
        How many receipts are the same.
    """
    try:
        made = Replay(document, tape, desk).receipts()
        count = 0
        for line in lines:
            PROGRESS.tell("receipt", count + 1, known)
            receipt = json.loads(line)
            kind, body = next(made, (None, None))
            told(count, receipt, kind, body)
            count += 1
        more = next(made, None)
        demand(more is None, "E_REPLAY", f"the receipts end at {count}, and the run goes on")
    except (Failed, Unsealable) as failed:
        raise Refuted("E_SPECS", f"the specs cannot be computed with: {failed.code}") from None
    except CRASHES as error:
        raise Open("E_REPLAY", f"this file cannot make it again: {error!r}"[:200]) from None
    return count


def told(count, receipt, kind, body):
    """See that a recorded receipt is the one that was made."""
    recorded = receipt["body"]
    if kind == receipt["type"] and write(recorded) == write(body):
        return
    if kind != receipt["type"]:
        place, old, new = "type", receipt["type"], kind
    else:
        place, old, new = difference(recorded, body, "body")
    if bounded(receipt["type"], recorded):
        raise Open("E_REPLAY", f"receipt {count} tells of a bound of work, which this file does not count alike")
    message = f"receipt {count}, {place}: recorded {short_text(old)}, made {short_text(new)}"
    raise Refuted("E_REPLAY", message)


def bounded(kind, recorded):
    """Whether a receipt tells of an error by the bound of work, at a place where errors stand: no other is believed."""
    decisions = recorded.get("decisions") if kind == "step" else None
    told_there = [one.get("error") for one in decisions if isinstance(one, dict)] if isinstance(decisions, list) else []
    errors = [recorded] if kind == "error" else told_there
    return any(isinstance(error, dict) and error.get("code") == "E_EVAL_LIMIT" for error in errors)


def short_text(value):
    """A value as a message shows it."""
    text = json.dumps(value, sort_keys=True)
    return text if len(text) <= SHOWN_VALUE else f"{text[:SHOWN_VALUE]}…"


def difference(old, new, place):
    """The first place, by the order of the keys, at which two values differ, and what stands there."""
    if isinstance(old, dict) and isinstance(new, dict) and old.keys() == new.keys():
        pairs = [(f"{place}.{key}", old[key], new[key]) for key in sorted(old)]
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        pairs = [(f"{place}[{index}]", *pair) for index, pair in enumerate(zip(old, new))]
    else:
        return place, old, new
    inner, first, second = next(pair for pair in pairs if write(pair[1]) != write(pair[2]))
    return difference(first, second, inner)


def scenario_again(bundle):
    """A run. A kernel that signs with a key takes its signatures from the receipts, and checks them."""

    def desk(run):
        return KernelDesk(run, recorded_signatures(bundle))

    compare(bundle.specs, bundle.tape, bundle.lines(), desk, bundle.manifest["receipts"]["count"])


def recorded_signatures(bundle):
    """The signatures of all capability tokens, in the order in which they were issued."""
    receipts = (json.loads(line) for line in bundle.lines())
    entries = [receipt["body"] for receipt in receipts if receipt["type"] == "audit"]
    issued = [body for body in entries if body["event"] == "CAPABILITY_ISSUED"]
    return [token["signature"] for body in issued for token in body["capability_tokens"]]


def suite_made_again(bundle):
    """A suite: its runs, and what follows from them."""
    suite_again(bundle, scenario_again)


AGAIN = {"scenario": scenario_again, "law": law_again, "suite": suite_made_again, "discovery": discovery_again}


def made_again(bundle):
    """Make again what a bundle is of, by the specs of the version that this file knows."""
    version, evaluator = (bundle.manifest[name]["version"] for name in ("engine", "evaluator"))
    if (version, evaluator) != (KNOWN_VERSION, KNOWN_EVALUATOR):
        raise Open(
            "E_REPLAY", f"it was made by version {version} with evaluator {evaluator}, which this file does not know"
        )
    check_shapes(bundle.specs["specs"])
    AGAIN[bundle.kind](bundle)


AGAIN_CHECK = "made again by this file: the same bytes"
STAMPS_UNCHECKED = "who made a time stamp"
WORK_HELP = f"""million steps of evaluation that a part of the evidence may take: each check, each run of a suite, each
verdict of a discovery; {PARTS_OF_ALL} times as many for all of it (default: {USUAL_WORK}, up to a minute for a part)"""
UNASKED = "L4 was asked for and replay was not"


def verify(place, trust=None, against=None, again=True, level=None, work=USUAL_WORK):
    """All checks: {verdict, checks: [{name, status, code, message}], unchecked}; after a refutation none is made.

    Args:
        place: The folder.
        trust: Whom the reader trusts, as `read_trust` gives it.
        against: A head that was seen before: size, root, origin.
        again: Whether what the specs lead to is made again.
        level: L4 if that must be shown.
        work: How many million steps of evaluation a part may take.
    """
    checks, bundle = [], Bundle(place)
    BUDGET.begin(work)

    def make(name, check, code):
        BUDGET.part()
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
        if again:
            yield AGAIN_CHECK, lambda: made_again(bundle), "E_REPLAY"

    intact = all(make(*one) for one in further())
    if intact and level == "L4" and not again:
        checks.append({"name": AGAIN_CHECK, "status": "not made", "code": "E_REPLAY", "message": UNASKED})
    left = any(one["status"] == "not made" for one in checks)
    verdict = "FAIL" if not intact else "INCONCLUSIVE" if left else "PASS"
    return {"verdict": verdict, "checks": checks, "unchecked": unchecked(checks, bundle)}


def unchecked(checks, bundle):
    """What was not checked of this very bundle, in a sentence."""
    left = [STAMPS_UNCHECKED] if TIMESTAMP in bundle.attached else []
    made = {one["name"]: one for one in checks}
    if SOURCES_CHECK in made and made[SOURCES_CHECK]["status"] == "not made":
        left.append(f"that specs.json follows from the documents in specs/: {made[SOURCES_CHECK]['message']}")
    if bundle.sources is not None and not bundle.sources:
        left.append("which documents specs.json was resolved from: there is no specs/")
    if any(one["status"] == "failed" for one in checks):
        left.append("whatever follows the check that failed")
    elif AGAIN_CHECK not in made:
        left.append("what the specs lead to (replay): you asked for none")
    elif made[AGAIN_CHECK]["status"] == "not made":
        left.append(f"what the specs lead to (replay): {made[AGAIN_CHECK]['message']}")
    else:
        left.append(TYPES_UNCHECKED)
    return f"Not checked here: {'; '.join([*left, *bundle.unmade])}."


def shown(text):
    """A text that may come from the evidence, as a terminal gets it: printable ASCII, everything else escaped."""
    return "".join(one if " " <= one <= "~" else ascii(one)[1:-1] for one in text)


def ending(found):
    """The verdict as the last line tells it: `PASS` alone only if what the specs lead to was made again."""
    made = {one["name"]: one for one in found["checks"]}
    lacking = [made[name] for name in (AGAIN_CHECK, SOURCES_CHECK) if name in made]
    told = [one["message"] for one in lacking if one["status"] == "not made"]
    if found["verdict"] == "INCONCLUSIVE" and told:
        return f"NOT REFUTED, not made again: {'; '.join(told)}"
    if found["verdict"] == "PASS" and AGAIN_CHECK not in made:
        return "PASS, not made again (you asked for none)"
    return found["verdict"]


def millions(text):
    """A number of millions, as a command line says it."""
    if not (text.isascii() and text.isdigit() and 1 <= int(text[:10]) and len(text) <= 9):
        raise argparse.ArgumentTypeError("expected a whole number from 1 to 999999999")
    return int(text)


def main(words=None):
    """Verify what the words of a command line name, print what was found, and give the exit code."""
    parser = argparse.ArgumentParser(description="Verify a bundle of evidence with Python alone.")
    parser.add_argument("bundle", type=Path)
    parser.add_argument("--trust", help="whom you trust: a trust.json that does not come from the bundle")
    parser.add_argument("--against", type=Path, help="a checkpoint that you saw before")
    parser.add_argument("--no-replay", action="store_true", help="make nothing again")
    parser.add_argument("--level", choices=["L4"], help="L4: what the specs lead to must be made again")
    parser.add_argument("--work", type=millions, default=USUAL_WORK, metavar="N", help=WORK_HELP)
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
                raise Refuted("E_NO_EVIDENCE", f"{asked.bundle} is no bundle")
            against = (*seen["head"], seen["origin"]) if seen else None
            PROGRESS.begin(sys.stderr)
            found = verify(place, trust, against, not asked.no_replay, asked.level, asked.work)
        except (Refuted, OSError) as error:
            code, message = getattr(error, "code", "E_NO_EVIDENCE"), getattr(error, "message", str(error))
            if code != "E_ARCHIVE":
                print(json.dumps({"verdict": None, "code": code}) if asked.json else f"[{code}] {shown(message)}")
                return 2
            found = {
                "verdict": "FAIL",
                "checks": [{"name": "archive", "status": "failed", "code": code, "message": message[:200]}],
                "unchecked": "Not checked here: what lies in the archive.",
            }
        finally:
            PROGRESS.end()
    if asked.json:
        print(json.dumps(found, indent=2))
    else:
        for index, one in enumerate(found["checks"], 1):
            said = f" [{one['code']}]" if one["code"] else ":" if one["message"] else ""
            said += f" {one['message']}" if one["message"] else ""
            print(f"{index}. {one['status']:8} {one['name']}{shown(said)}")
        print(shown(f"{ending(found)}. {found['unchecked']}"))
    return {"PASS": 0, "FAIL": 1, "INCONCLUSIVE": 3}[found["verdict"]]


if __name__ == "__main__":
    sys.exit(main())
