"""What is done with logs: imported, judged by rules, run with evidence, verified with replay."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from bench.trajectories_rules import rules
from specledger.core.binding import (
    leaves_of,
    observation_digest,
    proposal_digest,
    scope_digest,
    set_root,
    state_digest,
    token_id,
)
from specledger.core.canonical import parse_canonical, parse_written
from specledger.core.diagnostics import Diagnostics
from specledger.core.events import Event
from specledger.evidence.chain import Chain
from specledger.kinds import load
from specledger.kinds.running import RunOptions
from specledger.pipeline.executing import execute
from specledger.pipeline.verifying import verify
from specledger.wings.trajectories.lines import write_lines
from specledger.wings.trajectories.reading import read_logs
from specledger.wings.trajectories.rules.compile import compile_policy
from specledger.wings.trajectories.rules.policy import Policy
from specledger.wings.trajectories.scan import scan


def write_specs(folder: Path, number: int) -> None:
    """Write a policy of so many rules, and a scenario with it."""
    folder.mkdir(parents=True, exist_ok=True)
    _write(folder / "policy.yaml", {"spec": "policy/v1", "name": "policy", **rules(number)})
    scenario = {"extends": "recorded-calls", "policies": ["policy.yaml"]}
    _write(folder / "scenario.yaml", {"spec": "scenario/v1", "name": "scenario", **scenario})


def _write(path: Path, document: dict[str, Any]) -> None:
    path.write_text(json.dumps(document), encoding="utf-8")


def policy_of(folder: Path) -> Policy:
    """The policy in a folder, compiled."""
    return compile_policy(load(str(folder / "policy.yaml"))[0].main, Diagnostics())


def import_logs(logs: Path) -> int:
    """Read logs and write their canonical lines; their bytes."""
    return sum(map(len, write_lines(read_logs([logs]))))


def run_logs(logs: Path, folder: Path) -> None:
    """A recording run with its evidence."""
    shutil.rmtree(folder / "out", ignore_errors=True)
    execute(load(str(folder / "scenario.yaml"))[0], folder / "out", RunOptions(trajectories=(logs,)))


def verify_run(folder: Path) -> None:
    """The verification of the last run, replay included."""
    verdict = verify(folder / "out").verdict
    if verdict != "PASS":
        sys.exit(f"the evidence is {verdict}")


def events_of(folder: Path) -> list[Event]:
    """The events of the last run, read back from its receipts."""
    lines = (folder / "out" / "receipts.jsonl").read_bytes().splitlines()
    return [Event(receipt["type"], receipt["body"]) for receipt in map(parse_written, lines)]


def seal_and_check(events: Sequence[Event]) -> None:
    """What a run with evidence and its verification do at least: digests and lines made twice, and read once.

    Nothing is read from a log, judged or compared, and no state is made.
    """
    lines: list[bytes] = []
    for _ in ("run", "replay"):
        chain = Chain("0" * 32)
        lines.clear()
        for event in events:
            if event.type == "commit":
                _bind(event.body)
            lines.append(chain.seal(event))
    for line in lines:
        parse_canonical(line)


def _bind(commit: Mapping[str, Any]) -> None:
    """Make the digests of one decision, about a state of one number."""
    leaves, state = leaves_of(commit["proposals"]), {"calls": commit["t"]}
    root, proposal = set_root(leaves), proposal_digest(leaves[0])
    scope = scope_digest(commit["episode"], commit["t"], commit["proposals"][0]["action"]["op"])
    token_id(proposal, root, scope)
    observation_digest(state)
    state_digest(state)


def do(name: str, logs: Path, folder: Path | None) -> None:
    """A piece of work by its name."""
    if name == "import":
        import_logs(logs)
        return
    assert folder is not None, "the work needs a policy"
    if name == "scan":
        scan(policy_of(folder), read_logs([logs]))
    elif name == "run":
        run_logs(logs, folder)
    else:
        verify_run(folder)
