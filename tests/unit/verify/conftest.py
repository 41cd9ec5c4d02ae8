"""Bundles of a small run, and a forger who knows every public rule of evidence and has no key.

The forger shares no code with the engine but the folds of a result and of failing cases: digests, chain and Merkle tree are computed here.
"""

import hashlib
import json
import shutil
from collections import Counter
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest

import engine.verify.bundle
from engine.evidence.counterexamples import counterexamples, may_fail
from engine.evidence.result import Tally
from engine.pipeline import execute, load_runs

HELP = ("sha256sums", "VERIFY.md")
SCENARIO = Path(__file__).parents[1] / "pipeline" / "climb" / "climb.yaml"

VARIANTS = {
    "climb": [],
    "other seed": ["seed=4"],
    "stuck": ["governor.with.stamina=2"],
    "failing": ["agent.with.fear=2"],
    "small": ["episodes=1", "horizon=2"],
}


def canonical(value):
    """The one form that is hashed; all keys here are ASCII, all numbers integers."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


def tagged(noun, data):
    return hashlib.sha256(f"specledger/{noun}/v1".encode() + b"\x00" + data).hexdigest()


def merkle(leaves):
    """The root of RFC 6962, section 2.1, as hex."""

    def root(hashes):
        if len(hashes) < 2:
            return hashes[0] if hashes else hashlib.sha256().digest()
        split = 1 << ((len(hashes) - 1).bit_length() - 1)
        return hashlib.sha256(b"\x01" + root(hashes[:split]) + root(hashes[split:])).digest()

    return root([hashlib.sha256(b"\x00" + leaf).digest() for leaf in leaves]).hex()


class Forger:
    """One bundle in hand: its files, its receipts as values, and the seals."""

    def __init__(self, folder):
        self.folder = folder
        self.manifest = json.loads(self.read("manifest.json"))
        self.receipts = [json.loads(line) for line in self.lines]

    def read(self, name):
        return (self.folder / name).read_bytes()

    def write(self, name, data):
        (self.folder / name).write_bytes(data)

    def replace(self, name, old, new, count=1):
        """Change a text in a file, which must be there."""
        data = self.read(name)
        assert old in data
        self.write(name, data.replace(old, new, count))

    @property
    def lines(self):
        return self.read("receipts.jsonl").splitlines()

    @lines.setter
    def lines(self, lines):
        self.write("receipts.jsonl", b"".join(line + b"\n" for line in lines))

    def bodies(self, type_):
        return [receipt["body"] for receipt in self.receipts if receipt["type"] == type_]

    def list_files(self):
        """Let the manifest name the files as they are now, and write it."""
        names = [name for name in self.names() if name not in ("manifest.json", *HELP)]
        self.manifest["files"] = [
            {"path": name, "sha256": hashlib.sha256(self.read(name)).hexdigest(), "size": len(self.read(name))}
            for name in sorted(names)
        ]
        self.write("manifest.json", canonical(self.manifest) + b"\n")

    def names(self):
        paths = (path for path in self.folder.rglob("*") if path.is_file())
        return [path.relative_to(self.folder).as_posix() for path in paths]

    def show_failing(self):
        """Let the failing cases be those that the receipts show, as far as they have their form."""
        shutil.rmtree(self.folder / "counterexamples", ignore_errors=True)
        if may_fail("scenario", self.manifest["result"]):
            for name, data in counterexamples("scenario", self.lines).items():
                (self.folder / name).parent.mkdir(exist_ok=True)
                self.write(name, data)

    def rewrite_manifest(self):
        self.write("manifest.json", canonical(self.manifest) + b"\n")

    def rewrite(self):
        """Write the receipts as they are, without a look at their chain."""
        self.lines = [canonical(receipt) for receipt in self.receipts]
        self.list_files()

    def seal(self, **last):
        """Chain the receipts anew, add up their result if they have one, and make manifest and file list fit.

        Args:
            last: Fields that the last receipt claims instead of the right ones.
        """
        prev, lines = "0" * 64, []
        for number, receipt in enumerate(self.receipts):
            receipt |= {"seq": number, "prev": prev, "run": self.manifest["run"]}
            receipt.update(last if number == len(self.receipts) - 1 else {})
            lines.append(canonical(receipt))
            prev = hashlib.sha256(b"\0" + lines[-1]).hexdigest()
        self.lines = lines
        self.manifest["receipts"] = {"count": len(lines), "head": prev, "root": merkle(lines)}
        with suppress(AttributeError, IndexError, KeyError, TypeError, ValueError):
            self.manifest["result"] = self.add_up()
            self.show_failing()
        self.list_files()

    def recount(self):
        """Let every episode and the run say what their steps come to: rejections, successes, and how they ended."""
        with suppress(AttributeError, IndexError, KeyError, TypeError):
            start = self.bodies("start")[0]
            gates, first, steps = Counter(dict.fromkeys(start["gates"], 0)), None, 0
            total = Counter(gates)
            for receipt in self.receipts:
                body = receipt["body"]
                if receipt["type"] == "step":
                    for decision in body["decisions"]:
                        for failing in decision["rejected"]:
                            gates[failing["gate"]] += 1
                    first = body["t"] if body["success"] and first is None else first
                    steps += 1
                elif receipt["type"] == "episode_end":
                    body |= {"gates": dict(gates), "first_success": first, "success": first is not None}
                    if body["ended"] == "horizon" and steps < start["horizon"]:
                        body["ended"] = "until"
                    total.update(gates)
                    gates, first, steps = Counter(dict.fromkeys(gates, 0)), None, 0
                elif receipt["type"] == "end":
                    body["gates"] = dict(total)

    def add_up(self):
        tally = Tally()
        for receipt in self.receipts:
            tally.add(receipt["type"], receipt["body"])
        canonical(tally.result())
        return tally.result()

    def commit(self, commit):
        """The leaves of a proposal set, after its root was made to fit."""
        leaves = [canonical({"index": i, "proposal": proposal}) for i, proposal in enumerate(commit["proposals"])]
        commit["root"] = merkle(leaves)
        return leaves

    def bind(self, commit, step):
        """Bind a decision to its proposal set: root, digest of what is chosen, token."""
        leaf = self.commit(commit)[step["chosen"]]
        op = commit["proposals"][step["chosen"]]["action"]["op"]
        scope = tagged("scope", canonical({"episode": step["episode"], "op": op, "t": step["t"]}))
        binding = {"commitment": commit["root"], "proposal": tagged("proposal", leaf), "scope": scope}
        step["chosen_hash"] = binding["proposal"]
        step["token"] = {"id": tagged("token", canonical(binding)), **binding}

    def chain_parts(self):
        """Chain the receipts of the world's parts anew."""
        tips: dict[tuple[int, str], str] = {}
        for step in self.bodies("step"):
            for name, receipt in step["parts"].items():
                bare = {key: value for key, value in receipt.items() if key != "tip_after"}
                bare["tip"] = tips.get((step["episode"], name), "0" * 64)
                tips[step["episode"], name] = tip = tagged("part", bare["tip"].encode() + canonical(bare))
                receipt.update(bare, tip_after=tip)

    def replace_specs(self, change):
        """Change the resolved specs; their keys, their digest and the run's name are made to fit."""
        document = json.loads(self.read("specs.json"))
        change(document)
        specs = document["specs"]
        waiting = list(specs)
        while waiting:  # a key holds the digest of its spec, and stands in the specs that refer to it
            key = waiting.pop(0)
            data = specs.pop(key)
            new = f"{key.partition('@')[0]}@{tagged('spec', canonical(data))[:16]}"
            text = canonical({"root": document["root"], "specs": specs | {new: data}})
            document = json.loads(text.replace(key.encode(), new.encode()))
            if new != key:
                waiting = list(document["specs"])
            specs = document["specs"]
        self.write("specs.json", canonical(document) + b"\n")
        self.manifest["specs"] = tagged("specs", canonical(document))
        self.manifest["run"] = tagged("run", self.manifest["specs"].encode())[:32]


@pytest.fixture(scope="session")
def bundles(tmp_path_factory):
    """One untouched bundle of each variant, by name."""
    folder = tmp_path_factory.mktemp("bundles")
    for name, changes in VARIANTS.items():
        (bundle,) = load_runs([str(SCENARIO)], changes)
        execute(replace(bundle, sources={}), folder / name)  # as of specs from no file; sources are looked at elsewhere
        for help_ in HELP:  # what covers a bundle from outside is looked at elsewhere
            (folder / name / help_).unlink()
    return {name: folder / name for name in VARIANTS}


@pytest.fixture(scope="session")
def copy(bundles):
    """Put a copy of a bundle at a place, in the hands of a forger."""
    return lambda variant, place: Forger(shutil.copytree(bundles[variant], place))


@pytest.fixture
def specs_once(monkeypatch):
    """Specs that stay as they are, are read and compiled once: most of the time of a verification."""
    known: dict[str, object] = {}

    def remember(name):
        make = getattr(engine.verify.bundle, name)
        monkeypatch.setattr(
            engine.verify.bundle, name, lambda *given: known.get(name) or known.setdefault(name, make(*given))
        )

    remember("rebuild")
    remember("plan_again")


@pytest.fixture
def forge(copy, tmp_path):
    """A forger with a copy of a bundle of its own."""
    return lambda variant="climb": copy(variant, tmp_path / "bundle")
