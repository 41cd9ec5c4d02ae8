"""Goldens: the digests and the canonical receipts of a scenario, pinned in files that a change must be accepted into.

A pin is `<name>.json`, a small tree of digests, beside `<name>.jsonl`, the receipts themselves: the tree says that
something changed, the receipts say what.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Any

from engine.core.canonical import parse_canonical, pretty
from engine.core.merkle import Tree
from engine.evidence.chain import Chain, run_id
from engine.evidence.result import Tally
from engine.load import Bundle
from engine.pipeline.stages import compile_case
from engine.run.loop import run
from engine.verify.replay import first_difference


@dataclass(frozen=True, slots=True)
class Pin:
    """What is pinned of one case.

    Attributes:
        name: The file name without its ending: the scenario's name, and the case in a matrix.
        tree: Digests of specs, episodes and receipts, and the result.
        receipts: The canonical lines.
    """

    name: str
    tree: dict[str, Any]
    receipts: tuple[bytes, ...]

    def write(self, folder: Path) -> None:
        """Accept the pin into a folder.

        Raises:
            OSError: If the folder cannot be written.
        """
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{self.name}.jsonl").write_bytes(b"".join(line + b"\n" for line in self.receipts))
        (folder / f"{self.name}.json").write_text(pretty(self.tree), encoding="utf-8")


def pin(bundle: Bundle) -> Pin:
    """Run a case and give what is to be pinned of it.

    Raises:
        Rejected: If it does not compile.
    """
    plan = compile_case(bundle)
    chain, tally = Chain(run_id(bundle.digest)), Tally()
    episodes: list[Tree] = []
    lines = []
    for event in run(plan):
        line = chain.seal(event)
        tally.add(event.type, event.body)
        lines.append(line)
        if event.type == "episode":
            episodes.append(Tree())
        if episodes and event.type != "end":
            episodes[-1].append(line)
    tree = {
        "scenario": plan.name,
        "case": bundle.case,
        "specs": bundle.digest,
        "episodes": [episode.root().hex() for episode in episodes],
        "receipts": {"count": chain.count, "head": chain.head, "root": chain.root},
        "result": tally.result(),
    }
    name = plan.name if not bundle.case else f"{plan.name}.{bundle.case.replace(',', '.')}"
    return Pin(name, tree, tuple(lines))


def pin_matches(made: Pin, folder: Path) -> str | None:
    """Compare a pin with the accepted one.

    Returns:
        None if they are the same, else words for the first difference: the receipt, its step and the field.
    """
    try:
        tree = (folder / f"{made.name}.json").read_text(encoding="utf-8")
        accepted = (folder / f"{made.name}.jsonl").read_bytes().splitlines()
    except OSError:
        return "nothing is pinned yet"
    if tree == pretty(made.tree) and tuple(accepted) == made.receipts:
        return None
    for number, (new, old) in enumerate(zip_longest(made.receipts, accepted)):
        if new != old:
            return f"{_step(new or old)}{first_difference(number, new, old)}"
    return "the receipts are the same, the tree of digests differs"


def _step(line: bytes | None) -> str:
    """Which step a receipt is about, as a prefix."""
    receipt = parse_canonical(line or b"null")
    body = receipt.get("body", {}) if isinstance(receipt, dict) else {}
    return f"episode {body['episode']}, step {body['t']}: " if "t" in body else ""
