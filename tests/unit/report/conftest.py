"""A bundle of one episode in a trap with two drifts, one of a small suite, and a hand that seals receipts again."""

import hashlib
import json
import shutil
from pathlib import Path

import pytest

from engine.evidence.counterexamples import counterexamples, may_fail
from engine.evidence.result import Tally
from engine.load import load
from engine.pipeline import execute

CLIMB = Path(__file__).parents[1] / "pipeline" / "climb"
SUITE = """
spec: suite/v1
name: heights
runs: {long: {scenarios: [climb], seeds: [3, 4]}}
measures:
  heights: "steps.map(s, s.record.reached)"
figures:
  arrives: {rate: success}
  high: {mean: heights}
  never: {rate: "steps.map(s, s.record.reached > 99)"}
  nothing: {mean: "heights.filter(h, h > 99)"}
checks:
  - {id: climbs, require: high.value > 0, opportunities: high.of, witness: {height: high.value}}
mutants:
  - {id: no-bound, set: {governor.gates.tired: null, agent.candidates: [{op: climb, for_each: {by: "[0]"}}]}}
"""


def canonical(value):
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


def merkle(leaves):
    if len(leaves) == 1:
        return hashlib.sha256(b"\x00" + leaves[0]).digest()
    left = 1 << (len(leaves) - 1).bit_length() - 1
    return hashlib.sha256(b"\x01" + merkle(leaves[:left]) + merkle(leaves[left:])).digest()


def read_receipts(place):
    return [json.loads(line) for line in (place / "receipts.jsonl").read_bytes().splitlines()]


@pytest.fixture(scope="session")
def read():
    """Read the receipts of a bundle."""
    return read_receipts


@pytest.fixture(scope="session")
def trap(tmp_path_factory):
    """The evidence of the picture in docs/reports.md."""
    bundle = load("concave", kind="scenario", set=["seed=1", "horizon=100"])[0]
    return execute(bundle, tmp_path_factory.mktemp("report") / "trap").place


@pytest.fixture(scope="session")
def heights(tmp_path_factory):
    """The evidence of a suite with a mutant."""
    folder = tmp_path_factory.mktemp("suite")
    shutil.copytree(CLIMB, folder / "project")
    (folder / "project" / "heights.yaml").write_text(SUITE.lstrip(), encoding="utf-8")
    return execute(load(folder / "project" / "heights.yaml")[0], folder / "heights").place


@pytest.fixture
def forge(tmp_path):
    """A copy of a bundle after a change of its receipts, with chain, root and result made to fit."""

    def make(place, change):
        copy = shutil.copytree(place, tmp_path / "forged")
        for name in ("sha256sums", "VERIFY.md"):  # they follow from the rest, and nothing depends on them
            (copy / name).unlink(missing_ok=True)
        receipts, head, lines, tally = read_receipts(copy), "0" * 64, [], Tally()
        change({type_: [one["body"] for one in receipts if one["type"] == type_] for type_ in ("start", "episode",
            "drift", "step", "episode_end")})  # fmt: skip
        for receipt in receipts:
            lines.append(canonical({**receipt, "prev": head}))
            head = hashlib.sha256(b"\0" + lines[-1]).hexdigest()
            tally.add(receipt["type"], receipt["body"])
        data = b"".join(line + b"\n" for line in lines)
        (copy / "receipts.jsonl").write_bytes(data)
        manifest = json.loads((copy / "manifest.json").read_bytes())
        manifest["receipts"] = {"count": len(lines), "head": head, "root": merkle(lines).hex()}
        manifest["result"] = tally.result()
        shutil.rmtree(copy / "counterexamples", ignore_errors=True)
        for name, case in (counterexamples("scenario", lines) if may_fail("scenario", tally.result()) else {}).items():
            (copy / name).parent.mkdir(exist_ok=True)
            (copy / name).write_bytes(case)
        paths = sorted(path.relative_to(copy).as_posix() for path in copy.rglob("*") if path.is_file())
        manifest["files"] = [
            {
                "path": path,
                "sha256": hashlib.sha256((copy / path).read_bytes()).hexdigest(),
                "size": (copy / path).stat().st_size,
            }
            for path in paths
            if path != "manifest.json"
        ]
        (copy / "manifest.json").write_bytes(canonical(manifest) + b"\n")
        return copy

    return make
