"""Evidence that no run leaves, and that takes most memory to be read: whole, with receipts that a stranger wrote.

`FORGED` has them by name. What is forged has a chain, a head and a list of files that fit; whether it is refuted is for
`spec verify` to say, and is not what is measured here.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

from specledger.core.canonical import Written
from specledger.core.digest import file_digest
from specledger.core.events import Event
from specledger.evidence.bundle import BundleWriter
from specledger.evidence.chain import Chain

Receipts = Iterator[tuple[str, Any]]
"""Types and bodies of receipts."""
Forger = Callable[[list[tuple[str, Any]], int], Receipts]
"""`(honest receipts, bytes) -> forged ones`, of so many bytes together, about."""

_LISTS: Final = b"[" + b",".join([b"[]"] * 330_000) + b"]"
"""A value of a megabyte that takes most memory for its bytes."""
_LAID: Final = len(_LISTS)

_SPECS: Final = {
    "world.yaml": "spec: world/v1\nname: world\nstate: {x: int}\nstart: {x: 0}\nactions: {add: {effects: [{set: x, to: x + 1}]}}\n",
    "agent.yaml": "spec: agent/v1\nname: agent\ncandidates: [{op: add}]\nscore: '1'\n",
    "governor.yaml": (
        "spec: governor/v1\nname: governor\ngates: [{id: gate, require: x >= 0, reason: low}]\nchoose: {maximise: proposal.score}\n"
    ),
    "invariant.yaml": "spec: invariant/v1\nname: invariant\nrequire: x >= 0\nseverity: warn\n",
    "scenario.yaml": (
        "spec: scenario/v1\nname: scenario\nworld: world\nagent: agent\ngovernor: governor\nepisodes: 1\nhorizon: 3\n"
        "invariants: [invariant]\ncommit: none\n"
    ),
    "suite.yaml": (
        "spec: suite/v1\nname: suite\nruns: {arm: {scenarios: [scenario]}}\nmeasures: {x: steps.size()}\n"
        "figures: {f: {mean: x}}\nchecks: [{id: c, require: f.of > 0, opportunities: f.of}]\n"
    ),
}


def _with_lists(body: Any, name: str) -> Any:
    """A body with a field that holds a megabyte of lists."""
    form = json.dumps({**body, name: "@"}, sort_keys=True, separators=(",", ":")).encode()
    return Written(form.replace(b'"@"', _LISTS))


def _runs(honest: list[tuple[str, Any]], size: int) -> Receipts:
    """Receipts of runs of a suite that nobody made."""
    for type_, body in honest:
        if type_ == "end":
            for number in range(size // _LAID):
                yield "run", _with_lists({**dict(honest)["run"], "place": f"runs/{number}"}, "replay")
        yield type_, body


def _names(honest: list[tuple[str, Any]], size: int) -> Receipts:
    """Ends of episodes that name what was not read, always something else."""
    kinds = dict(honest)
    each, count = 20_000, max(1, size // 300_000)
    yield "start", {**kinds["start"], "episodes": count, "horizon": 0}
    for number in range(count):
        unread = {f"{number * each + index:x}": 1 for index in range(each)}
        yield "episode", {**kinds["episode"], "episode": number}
        ended = {**kinds["episode_end"], "episode": number, "steps": 0, "state": kinds["episode"]["digest"]}
        yield "episode_end", {**ended, "unread": unread, "first_success": None, "success": False, "idle": {}}
    yield "end", {**kinds["end"], "episodes": count, "steps": 0}


def _commitments(honest: list[tuple[str, Any]], size: int) -> Receipts:
    """Commitments of very many agents that decide together."""
    kinds = dict(honest)
    names = [f"a{number}" for number in range(size // _LAID)]
    start = {name: value for name, value in kinds["start"].items() if name != "commit"}
    yield "start", {**start, "agents": names, "turns": "simultaneous"}
    yield "episode", kinds["episode"]
    for name in names:
        yield "commit", _with_lists({"episode": 0, "t": 0, "agent": name, "observation": "", "root": ""}, "proposals")
    yield "end", kinds["end"]


def _steps(changed: Callable[[int], Any]) -> Forger:
    """Steps of about a megabyte, of which each says something else."""

    def forge(honest: list[tuple[str, Any]], size: int) -> Receipts:
        kinds = dict(honest)
        start, count = kinds["start"], kinds["start"]["episodes"]
        yield "start", start
        total = dict.fromkeys(start["gates"], 0)
        for episode in range(count):
            yield "episode", {**kinds["episode"], "episode": episode}
            gates, state = dict.fromkeys(start["gates"], 0), kinds["episode"]["digest"]
            for t in range(_HORIZON):
                step = {**kinds["step"], "episode": episode, "t": t, "before": state, "after": state}
                step |= changed(episode * _HORIZON + t)
                for decision in step["decisions"]:
                    for failing in decision["rejected"]:
                        gates[failing["gate"]] += 1
                yield "step", step
            total = {gate: number + gates[gate] for gate, number in total.items()}
            yield (
                "episode_end",
                {**kinds["episode_end"], "episode": episode, "state": state, "gates": gates, "idle": {}},
            )
        yield "end", {**kinds["end"], "episodes": count, "steps": count * _HORIZON, "gates": total}

    return forge


_HORIZON: Final = 3
_MADE: Final[dict[str, Any]] = {"cost": {}, "error": None, "rejected": [], "value": 0}
"""What is decided about a proposal that is admitted."""


def _record(number: int) -> Any:
    return {"record": {"lists": [[]] * 330_000}}


def _witnesses(number: int) -> Any:
    witness = {f"w{number}_{index}": "x" * 80 for index in range(10_000)}
    return {"violations": [{"invariant": "invariant", "severity": "warn", "witness": witness}]}


def _violations(number: int) -> Any:
    return {"violations": [{"invariant": "invariant", "severity": "warn", "witness": {}}] * 14_000}


def _decisions(number: int) -> Any:
    rejected = [
        {**_MADE, "rejected": [{"gate": "gate", "reason": f"r{number}_{index}", "witness": {}}]}
        for index in range(9_000)
    ]
    return {"decisions": [_MADE, *rejected]}


def _tape(folder: Path, size: int) -> None:
    """Put a tape beside a run that asked nobody: answers to messages of a megabyte each."""
    head = {"format": "specledger/tape/v2", "head": "0" * 64, "mode": "simulated"}
    answer = {"failure": None, "reason": "", "received": None, "sha256": None, "size": 0}
    with (folder / "tape.jsonl").open("w", encoding="utf-8") as file:
        file.write(json.dumps(head, sort_keys=True, separators=(",", ":")) + "\n")
        for seq in range(size // 1_000_000):
            asked = {"seq": seq, "episode": 0, "t": 0, "session": 0, "message": "m" * 1_000_000, "question": ""}
            file.write(json.dumps({**asked, **answer}, sort_keys=True, separators=(",", ":")) + "\n")


FORGED: Final[dict[str, tuple[str, Forger | None]]] = {
    "runs of a suite that nobody made": ("suite.yaml", _runs),
    "names, all different": ("scenario.yaml", _names),
    "commitments of many agents": ("scenario.yaml", _commitments),
    "a tape of long messages": ("scenario.yaml", None),
    "steps with large records": ("scenario.yaml", _steps(_record)),
    "steps with long witnesses": ("scenario.yaml", _steps(_witnesses)),
    "steps with many violations": ("scenario.yaml", _steps(_violations)),
    "steps with many rejections": ("scenario.yaml", _steps(_decisions)),
}
"""By name: what the honest bundle is a run of, and how its receipts are forged; of None its tape is."""


def forged(name: str, folder: Path, size: int) -> Path:
    """Write the evidence of a name, of so many bytes, into a folder."""
    for file, text in _SPECS.items():
        (folder / file).write_text(text, encoding="utf-8")
    target, forger = FORGED[name]
    bundle = folder / "bundle"
    length = [f"--set=episodes={max(1, size // _LAID // _HORIZON)}"] if target == "scenario.yaml" else []
    words = [sys.executable, "-m", "specledger", "run", str(folder / target), *length, f"--out={bundle}"]
    subprocess.run(words, check=True, stdout=subprocess.DEVNULL)
    if forger is None:
        _tape(bundle, size)
        _seal(bundle, None)
        return bundle
    lines = (bundle / "receipts.jsonl").read_bytes().splitlines()
    honest = [(receipt["type"], receipt["body"]) for receipt in map(json.loads, lines)]
    if target == "suite.yaml":
        _seal(bundle, forger(honest, size))
        return bundle
    specs, manifest = (json.loads((bundle / name).read_bytes()) for name in ("specs.json", "manifest.json"))
    with BundleWriter(folder / "forged", manifest["run"], specs, manifest["specs"]) as writer:
        for type_, body in forger(honest, size):
            writer.add(Event(type_, body))
        writer.finish()
    return folder / "forged"


def _seal(bundle: Path, receipts: Receipts | None) -> None:
    """Write receipts anew, and a manifest that lists the files as they are."""
    manifest = json.loads((bundle / "manifest.json").read_bytes())
    for name in ("sha256sums", "VERIFY.md"):
        (bundle / name).unlink()
    if receipts is not None:
        chain = Chain(manifest["run"])
        with (bundle / "receipts.jsonl").open("wb") as file:
            for type_, body in receipts:
                file.write(chain.seal(Event(type_, body)) + b"\n")
        manifest["receipts"] = {"count": chain.count, "head": chain.head, "root": chain.root}
    listed = {entry["path"] for entry in manifest["files"]} | {
        name for name in ("tape.jsonl",) if (bundle / name).exists()
    }
    manifest["files"] = [
        {"path": name, "sha256": file_digest(bundle / name), "size": (bundle / name).stat().st_size}
        for name in sorted(listed)
    ]
    (bundle / "manifest.json").write_text(
        json.dumps(manifest, sort_keys=True, separators=(",", ":")) + "\n", encoding="utf-8"
    )
