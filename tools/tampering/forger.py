"""A forger: one bundle in hand, everything in it that can be computed without the engine, and two published keys.

Decides how a bundle is made to fit again after a change: chain, Merkle root, result, file list, checkpoint, envelopes.
Refuses to use the engine for any of it but the folds of a result and of failing cases, so that what the engine gets
wrong is not forged wrong as well.
"""

from __future__ import annotations

import base64
import hashlib
import json
import shutil
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from engine.evidence.counterexamples import counterexamples, may_fail
from engine.evidence.result import TALLIES

ORIGIN: Final = "conformance.example/{run}"
COVERS: Final = ("checkpoint", "attestation.dsse.json", "manifest.json.dsse.json")
MEDIA: Final = "application/vnd.in-toto+json"
TEST_RESULT: Final = "https://in-toto.io/attestation/test-result/v0.1"
OSCAL: Final = "https://oscal-compass.github.io/compliance-trestle/predicates/oscal-signing/v1"
ORDER: Final = 2**252 + 27742317777372353535851937790883648493
"""The order of the group of Ed25519 (RFC 8032, 5.1)."""


class TestKey:
    """A key that everybody knows: its seed is SHA-256 of a sentence that says so. It signs nothing but test cases.

    Attributes:
        public: The raw public key, 32 bytes.
        id: SHA-256 of it.
    """

    __test__ = False

    def __init__(self, name: str) -> None:
        """Derive the key of a name."""
        seed = hashlib.sha256(f"specledger conformance TEST KEY {name}, published, never to be trusted".encode())
        self._private = Ed25519PrivateKey.from_private_bytes(seed.digest())
        self.public = self._private.public_key().public_bytes_raw()
        self.id = hashlib.sha256(self.public).hexdigest()

    def sign(self, data: bytes) -> bytes:
        """The signature over data, always the same one."""
        return self._private.sign(data)


ONE, TWO, STRANGER = TestKey("one"), TestKey("two"), TestKey("stranger")


def canonical(value: Any) -> bytes:
    """The one spelling of a value with integers only."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


def tagged(noun: str, data: bytes) -> str:
    """A digest under a domain tag of version 1."""
    return hashlib.sha256(f"specledger/{noun}/v1".encode() + b"\0" + data).hexdigest()


def sha256(data: bytes) -> str:
    """SHA-256 as 64 digits."""
    return hashlib.sha256(data).hexdigest()


def b64(data: bytes) -> str:
    """Standard base64 with padding."""
    return base64.b64encode(data).decode()


def merkle(leaves: Sequence[bytes]) -> str:
    """The root of RFC 6962, section 2.1, over at least one leaf."""

    def root(hashes: Sequence[bytes]) -> bytes:
        if len(hashes) == 1:
            return hashes[0]
        split = 1 << ((len(hashes) - 1).bit_length() - 1)
        return hashlib.sha256(b"\1" + root(hashes[:split]) + root(hashes[split:])).digest()

    return root([hashlib.sha256(b"\0" + leaf).digest() for leaf in leaves]).hex() if leaves else sha256(b"")


def pae(payload: bytes, media: str = MEDIA) -> bytes:
    """What a signature of an envelope is over."""
    return b"DSSEv1 %d %b %d %b" % (len(media), media.encode(), len(payload), payload)


def trust(*keys: TestKey, **more: Any) -> bytes:
    """A trust file; `more` replaces its fields and adds others."""
    listed = [{"id": key.id, "public": b64(key.public)} for key in keys]
    made = {"format": "specledger/trust/v1", "origin": ORIGIN, "keys": listed, "threshold": 1, **more}
    return json.dumps(made, indent=2).encode() + b"\n"


class Forger:
    """A bundle in a folder, its manifest and its receipts as values.

    Attributes:
        folder: Where it lies.
        manifest: What its manifest says; `sign` and `relist` write it.
        receipts: What its lines say; `seal` writes them.
        keys: Who signs.
        archived: Whether the bundle is asked for as one zip file, and how its bytes are changed then.
        recipe: What cannot be committed, by the names of `case.json`: `links` and `pad`.
        options: Files that the reader brings, by the names of his options: `trust`, `against`.
    """

    def __init__(self, folder: Path) -> None:
        """Read a bundle that is whole."""
        self.folder = folder
        self.manifest = json.loads(self.read("manifest.json"))
        self.receipts = [json.loads(line) for line in self.lines]
        self.keys: Sequence[TestKey] = (ONE,)
        self.archived: Callable[[bytes], bytes] | None = None
        self.recipe: dict[str, dict[str, Any]] = {}
        self.options: dict[str, bytes] = {}

    def read(self, name: str) -> bytes:
        """The bytes of a file."""
        return (self.folder / name).read_bytes()

    def write(self, name: str, data: bytes) -> None:
        """Replace a file, or add one."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)

    def remove(self, name: str) -> None:
        """Take a file away."""
        (self.folder / name).unlink()

    def swap(self, name: str, old: bytes, new: bytes) -> None:
        """Replace the first occurrence of a text in a file, which must be there."""
        data = self.read(name)
        if old not in data:
            raise LookupError(f"{old!r} is not in {name}")
        self.write(name, data.replace(old, new, 1))

    @property
    def lines(self) -> list[bytes]:
        """The lines of the receipts."""
        return self.read("receipts.jsonl").split(b"\n")[:-1]

    @lines.setter
    def lines(self, lines: Iterable[bytes]) -> None:
        self.write("receipts.jsonl", b"".join(line + b"\n" for line in lines))

    def bodies(self, type_: str) -> list[Any]:
        """The bodies of all receipts of a type."""
        return [receipt["body"] for receipt in self.receipts if receipt["type"] == type_]

    def first(self, type_: str) -> Any:
        """The body of the first receipt of a type."""
        return self.bodies(type_)[0]

    def save(self) -> None:
        """Write the manifest as it is."""
        self.write("manifest.json", canonical(self.manifest) + b"\n")

    def relist(self) -> None:
        """Let the manifest list its files as they are now, in the order of their paths, and write it."""
        self.manifest["files"].sort(key=lambda entry: str(entry["path"]))
        for entry in self.manifest["files"]:
            data = self.read(entry["path"]) + b"x" * self.recipe.get("pad", {}).get(entry["path"], 0)
            entry |= {"sha256": sha256(data), "size": len(data)}
        self.save()

    def seal(self, number: int = -1, **fields: Any) -> None:
        """Chain the receipts anew, add up their result if they have one, and make the manifest fit.

        Args:
            number: One receipt that claims other fields than the right ones; what follows is chained to it.
            fields: These fields.
        """
        prev, lines = "0" * 64, []
        for at, receipt in enumerate(self.receipts):
            receipt.update({"seq": at, "prev": prev, "run": self.manifest["run"]})
            receipt.update(fields if at == number % len(self.receipts) else {})
            lines.append(canonical(receipt))
            prev = hashlib.sha256(b"\0" + lines[-1]).hexdigest()
        self.lines = lines
        self.manifest["receipts"] = {"count": len(lines), "head": prev, "root": merkle(lines)}
        with suppress(AttributeError, IndexError, KeyError, TypeError):
            self.manifest["result"] = self.add_up()
            self.show_failing()
        self.relist()

    def add_up(self) -> dict[str, Any]:
        """What the receipts come to, by the rule of their kind."""
        tally = TALLIES[self.manifest.get("kind", "scenario")]()
        for receipt in self.receipts:
            tally.add(receipt["type"], receipt["body"])
        canonical(tally.result())
        return tally.result()

    def include(self, name: str, data: bytes) -> None:
        """Add a file that the manifest lists."""
        self.write(name, data)
        self.manifest["files"].append({"path": name, "sha256": "", "size": 0})

    def leave_out(self, folder: str) -> None:
        """Take the files of a folder away, and what the manifest says of them."""
        shutil.rmtree(self.folder / folder, ignore_errors=True)
        listed = self.manifest["files"]
        self.manifest["files"] = [entry for entry in listed if not str(entry["path"]).startswith(f"{folder}/")]

    def show_failing(self) -> None:
        """Let the failing cases be those that the receipts show."""
        kind = self.manifest.get("kind", "scenario")
        found = counterexamples(kind, self.lines) if may_fail(kind, self.manifest["result"]) else {}
        self.leave_out("counterexamples")
        for name, data in found.items():
            self.include(name, data)

    def rehead(self) -> None:
        """Let the manifest tell the head of the lines as they are, whatever is in them."""
        lines = self.lines
        head = hashlib.sha256(b"\0" + lines[-1]).hexdigest() if lines else "0" * 64
        self.manifest["receipts"] = {"count": len(lines), "head": head, "root": merkle(lines)}
        self.relist()

    def respell(self, number: int, old: bytes, new: bytes) -> None:
        """Spell a line otherwise, and let everything after it fit: the next line names its digest, the head is its own.

        Args:
            number: The line; -1 is the last one.
            old: What stands there, once at least.
            new: What stands there instead.
        """
        lines = self.lines
        number %= len(lines)
        if old not in lines[number]:
            raise LookupError(f"{old!r} is not in line {number}")
        lines[number] = lines[number].replace(old, new, 1)
        for at in range(number + 1, len(lines)):
            lines[at] = canonical(self.receipts[at] | {"prev": hashlib.sha256(b"\0" + lines[at - 1]).hexdigest()})
        self.lines = lines
        self.rehead()

    def recount(self) -> None:
        """Let every episode and the run say what their steps come to: rejections, successes, and how they ended."""
        start = self.first("start")
        gates, first, steps = Counter(dict.fromkeys(start["gates"], 0)), None, 0
        total = Counter(gates)
        for receipt in self.receipts:
            body = receipt["body"]
            if receipt["type"] == "step":
                for failing in (failing for one in body["decisions"] for failing in one["rejected"]):
                    gates[failing["gate"]] += 1
                first = body["t"] if body["success"] and first is None else first
                steps += 1
            elif receipt["type"] == "episode_end":
                body |= {"gates": dict(gates), "first_success": first, "success": first is not None, "steps": steps}
                if body["ended"] == "horizon" and steps < start["horizon"]:
                    body["ended"] = "until"
                total.update(gates)
                gates, first, steps = Counter(dict.fromkeys(gates, 0)), None, 0
            elif receipt["type"] == "end":
                body |= {"gates": dict(total), "steps": len(self.bodies("step"))}

    def bind(self, commit: Any, step: Any) -> None:
        """Bind a decision to its proposal set: root, digest of what is chosen, token."""
        leaves = [canonical({"index": at, "proposal": one}) for at, one in enumerate(commit["proposals"])]
        commit["root"] = merkle(leaves)
        op = commit["proposals"][step["chosen"]]["action"]["op"]
        scope = tagged("scope", canonical({"episode": step["episode"], "op": op, "t": step["t"]}))
        proposal = tagged("proposal", leaves[step["chosen"]])
        binding = {"commitment": commit["root"], "proposal": proposal, "scope": scope}
        step["chosen_hash"] = proposal
        step["token"] = {"id": tagged("token", canonical(binding)), **binding}

    def chain_parts(self) -> None:
        """Chain the receipts of the world's parts anew."""
        tips: dict[tuple[int, str], str] = {}
        for step in self.bodies("step"):
            for name, receipt in step["parts"].items():
                bare = {key: value for key, value in receipt.items() if key != "tip_after"}
                bare["tip"] = tips.get((step["episode"], name), "0" * 64)
                tips[step["episode"], name] = tip = tagged("part", bare["tip"].encode() + canonical(bare))
                receipt.update(bare, tip_after=tip)

    def respec(self, change: Callable[[Any], None]) -> None:
        """Change the resolved specs; their keys, their digest, the run and the first receipt are made to fit.

        What they were resolved from says something else then, so it is left out.
        """
        self.leave_out("specs")
        document = json.loads(self.read("specs.json"))
        change(document)
        waiting = list(document["specs"])
        while waiting:  # a key holds the digest of its spec, and stands in the specs that refer to it
            key = waiting.pop(0)
            data = document["specs"].pop(key)
            new = f"{key.partition('@')[0]}@{tagged('spec', canonical(data))[:16]}"
            text = canonical(document | {"specs": document["specs"] | {new: data}})
            document = json.loads(text.replace(key.encode(), new.encode()))
            if new != key:
                waiting = list(document["specs"])
        self.write("specs.json", canonical(document) + b"\n")
        self.manifest["specs"] = tagged("specs", canonical(document))
        self.manifest["run"] = tagged("run", self.manifest["specs"].encode())[:32]
        self.first("start")["specs"] = self.manifest["specs"]

    # What covers the manifest

    @property
    def origin(self) -> str:
        """The origin of the checkpoint."""
        return ORIGIN.replace("{run}", self.manifest["run"])

    def note(self, **other: Any) -> bytes:
        """The text of the checkpoint.

        Args:
            other: `origin`, `size` or `root` (hexadecimal) where it tells another one.
        """
        head = self.manifest["receipts"]
        told = {"origin": self.origin, "size": head["count"], "root": head["root"], **other}
        return f"{told['origin']}\n{told['size']}\n{b64(bytes.fromhex(told['root']))}\n".encode()

    def note_line(self, key: TestKey, raw: bytes, name: str | None = None, hint: bytes | None = None) -> bytes:
        """A signature line of the checkpoint, under the name and the hint of a key unless others are given."""
        named = self.origin if name is None else name
        own = hashlib.sha256(named.encode() + b"\n\x01" + key.public).digest()[:4] if hint is None else hint
        return f"\u2014 {named} {b64(own + raw)}\n".encode()

    def statement(self, name: str, /, **changes: Any) -> bytes:
        """The payload of an envelope, which follows from the manifest's bytes.

        Args:
            name: The envelope's file.
            changes: Fields of the statement that say something else.
        """
        data, result = self.read("manifest.json"), self.manifest["result"]
        outcome = ("WARNED" if result.get("warnings") else "PASSED") if result["verdict"] == "PASS" else "FAILED"
        specs = next(one["sha256"] for one in self.manifest["files"] if one["path"] == "specs.json")
        tested = {"configuration": [{"digest": {"sha256": specs}, "name": "specs.json"}], "result": outcome}
        signed = {"canonicalization": "RFC8785", "digestAlgorithm": "sha256", "digestSource": "canonical-json"}
        type_, subject, predicate = {
            COVERS[1]: (TEST_RESULT, data, tested),
            COVERS[2]: (OSCAL, data[:-1], {**signed, "tool": "specledger"}),
        }[name]
        made = {
            "_type": "https://in-toto.io/Statement/v1",
            "predicate": predicate,
            "predicateType": type_,
            "subject": [{"digest": {"sha256": sha256(subject)}, "name": "manifest.json"}],
        }
        return canonical(made | changes)

    def envelope(self, name: str, payload: bytes, pairs: Sequence[tuple[str, bytes]], /, **changes: Any) -> None:
        """Write an envelope.

        Args:
            name: Its file.
            payload: Its payload.
            pairs: Key ids and signatures, in this order.
            changes: Fields of the envelope that say something else.
        """
        listed = [{"keyid": key, "sig": b64(raw)} for key, raw in pairs]
        made = {"payload": b64(payload), "payloadType": MEDIA, "signatures": listed}
        self.write(name, canonical(made | changes) + b"\n")

    def signed(self, name: str, payload: bytes) -> list[tuple[str, bytes]]:
        """The right signatures over the payload of an envelope, in the order of the ids."""
        return sorted((key.id, key.sign(pae(payload))) for key in self.keys)

    def sign(self) -> None:
        """Cover the bundle as it is: a checkpoint and two envelopes by all the keys."""
        text = self.note()
        self.write(COVERS[0], text + b"\n" + b"".join(self.note_line(key, key.sign(text)) for key in self.keys))
        for name in COVERS[1:]:
            payload = self.statement(name)
            self.envelope(name, payload, self.signed(name, payload))

    def sums(self) -> None:
        """Write `sha256sums` anew: every other file, by the bytes of its path."""
        paths = {path.relative_to(self.folder).as_posix() for path in self.folder.rglob("*") if path.is_file()}
        listed = (f"{sha256(self.read(name))}  {name}\n" for name in sorted(paths - {"sha256sums"}))
        self.write("sha256sums", "".join(listed).encode())
