"""A forger: one bundle in hand, and everything in it that can be computed without the engine and without a key.

A bundle is made to fit again after a change: digests, chain, Merkle root, result, failing cases, file list. The engine
is used for the folds of a result and of failing cases alone, so that what it gets wrong is not forged wrong as well.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from specledger.evidence.counterexamples import Cases, parts_of
from specledger.evidence.kind import RUN, SUITE, ReceiptKind
from specledger.wings.discovery.result import DISCOVERY
from specledger.wings.laws.result import LAW

MANIFEST: Final = "manifest.json"
COVERS: Final = ("checkpoint", "attestation.dsse.json", "manifest.json.dsse.json")
HELP: Final = ("sha256sums", "VERIFY.md")
OUTSIDE: Final = (MANIFEST, *COVERS, "timestamp.tsr", *HELP)
"""What a manifest does not list."""
RUNS: Final = ("runs", "controls", "mutants")
"""The folders of a suite that hold bundles, of which its manifest lists the manifests."""


def canonical(value: Any) -> bytes:
    """The one spelling of a value with integers only."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


def tagged(noun: str, data: bytes) -> str:
    """A digest under a domain tag of version 1."""
    return hashlib.sha256(f"specledger/{noun}/v1".encode() + b"\0" + data).hexdigest()


def sha256(data: bytes) -> str:
    """SHA-256 as 64 digits."""
    return hashlib.sha256(data).hexdigest()


def merkle(leaves: Sequence[bytes]) -> str:
    """The root of RFC 6962, section 2.1, over at least one leaf."""

    def root(hashes: Sequence[bytes]) -> bytes:
        if len(hashes) == 1:
            return hashes[0]
        split = 1 << ((len(hashes) - 1).bit_length() - 1)
        return hashlib.sha256(b"\1" + root(hashes[:split]) + root(hashes[split:])).digest()

    return root([hashlib.sha256(b"\0" + leaf).digest() for leaf in leaves]).hex() if leaves else sha256(b"")


KINDS = {kind.name: kind for kind in (RUN, LAW, DISCOVERY, SUITE)}


class Forger:
    """A bundle in a folder, its manifest and its receipts as values.

    Attributes:
        folder: Where it lies.
        manifest: What its manifest says; `save` and `relist` write it.
        receipts: What its lines say; `seal` writes them.
        recipe: What cannot be committed, by the names of `case.json`: `links` and `pad`.
    """

    def __init__(self, folder: Path) -> None:
        """Read a bundle that is whole."""
        self.folder = folder
        self.manifest = json.loads(self.read(MANIFEST))
        self.receipts = [json.loads(line) for line in self.lines]
        self.recipe: dict[str, dict[str, Any]] = {}

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
        self.write(MANIFEST, canonical(self.manifest) + b"\n")

    def relist(self) -> None:
        """Let the manifest list the files that are there as they are now, in the order of their paths, and write it."""
        self.manifest["files"] = [self.entry(name) for name in self.names() if self.is_listed(name)]
        self.save()

    def names(self) -> list[str]:
        """The paths of all files, in their order."""
        return sorted(path.relative_to(self.folder).as_posix() for path in self.folder.rglob("*") if path.is_file())

    def entry(self, name: str) -> dict[str, Any]:
        """What a manifest says of a file."""
        data = self.read(name) + b"x" * self.recipe.get("pad", {}).get(name, 0)
        return {"path": name, "sha256": sha256(data), "size": len(data)}

    @staticmethod
    def is_listed(name: str) -> bool:
        """Whether a manifest lists a file of this path: of the bundles inside a suite's their manifests alone."""
        if name.partition("/")[0] in RUNS:
            return name.endswith(f"/{MANIFEST}")
        return name not in OUTSIDE

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
        with suppress(AttributeError, IndexError, KeyError, TypeError, ValueError):
            self.manifest["result"] = self.add_up()
            self.show_failing()
        self.relist()

    @property
    def kind(self) -> ReceiptKind:
        """The kind that the manifest names."""
        return KINDS[self.manifest.get("kind", "scenario")]

    def add_up(self) -> dict[str, Any]:
        """What the receipts come to, by the rule of their kind."""
        tally = self.kind.tally()
        for receipt in self.receipts:
            tally.add(receipt["type"], receipt["body"])
        canonical(tally.result())
        return tally.result()

    def leave_out(self, folder: str) -> None:
        """Take the files of a folder away, if there is one."""
        shutil.rmtree(self.folder / folder, ignore_errors=True)

    def show_failing(self) -> None:
        """Let the failing cases be those that the receipts show."""
        kind = self.kind
        cases = Cases(kind.cases)
        for receipt in self.receipts if kind.may_fail(self.manifest["result"]) else ():
            cases.add(receipt["type"], receipt["body"])
        self.leave_out("counterexamples")
        for name, parts in parts_of(cases.kept, self.lines):
            self.write(name, b"".join(parts))

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

    def recount(self, *, steps: bool = True) -> None:
        """Let every episode and the run say what their steps come to: rejections, successes, and how they ended.

        Args:
            steps: Whether they also say how many there are.
        """
        start = self.first("start")
        gates, first, made = Counter(dict.fromkeys(start["gates"], 0)), None, 0
        total = Counter(gates)
        for receipt in self.receipts:
            body = receipt["body"]
            if receipt["type"] == "step":
                for failing in (failing for one in body["decisions"] for failing in one["rejected"]):
                    gates[failing["gate"]] += 1
                first = body["t"] if body["success"] and first is None else first
                made += 1
            elif receipt["type"] == "episode_end":
                body |= {"gates": dict(gates), "first_success": first, "success": first is not None}
                body |= {"steps": made} if steps else {}
                if body["ended"] == "horizon" and made < start["horizon"]:
                    body["ended"] = "until"
                total.update(gates)
                gates, first, made = Counter(dict.fromkeys(gates, 0)), None, 0
            elif receipt["type"] == "end":
                body |= {"gates": dict(total)} | ({"steps": len(self.bodies("step"))} if steps else {})

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
