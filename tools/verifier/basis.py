"""What every check rests on: refusals, canonical JSON, digests, the Merkle tree, and reading files."""

import base64
import hashlib
import json
import re

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
