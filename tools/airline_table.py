"""What `examples/tau2/airline.yaml` makes of tau2's gold calls: `python -m tools.airline_table` prints it."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Final

from specledger.core.diagnostics import Diagnostics
from specledger.kinds import KINDS
from specledger.load import load
from specledger.wings.trajectories.reading import read_logs
from specledger.wings.trajectories.rules.compile import compile_policy
from specledger.wings.trajectories.scan import RuleCount, scan
from tools.airline import read_lines

POLICY: Final = Path(__file__).resolve().parents[1] / "examples" / "tau2" / "airline.yaml"


def counts() -> dict[str, RuleCount]:
    """By rule the counts of its outcomes."""
    bundle, *_ = load(str(POLICY), KINDS)
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "gold.jsonl"
        log.write_bytes(b"".join(line + b"\n" for line in read_lines()))
        return scan(compile_policy(bundle.main, Diagnostics()), read_logs([log], "openai")).rules


def text(rules: dict[str, RuleCount]) -> str:
    """A table in Markdown."""
    lines = ["| rule | opportunities | held | broken | not judged |", "| --- | --- | --- | --- | --- |"]
    for name, count in rules.items():
        lines.append(f"| {name} | {count.opportunities} | {count.held} | {count.broken} | {count.unjudged} |")
    sums = [
        sum(column)
        for column in zip(*((c.opportunities, c.held, c.broken, c.unjudged) for c in rules.values()), strict=True)
    ]
    return "\n".join([*lines, f"| all | {' | '.join(map(str, sums))} |"])


if __name__ == "__main__":
    print(text(counts()))
