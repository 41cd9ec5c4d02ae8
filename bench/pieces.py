"""What is measured: the engine, the hand-written loop, MiniGrid, and the parts of verifying."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

from bench.clock import Piece
from bench.handwritten import Run
from bench.task import Task
from specledger.compile.plan import Plan
from specledger.core.events import Event
from specledger.evidence.bundle import BundleWriter
from specledger.evidence.chain import Chain, run_id
from specledger.evidence.layout import RECEIPTS
from specledger.evidence.result import Tally
from specledger.load import Bundle
from specledger.run.loop import run
from specledger.verify.receipts import Receipts, follow, link
from specledger.verify.replay import compare, make_again
from specledger.verify.run_order import RunOrder

ENGINE: Final = "engine"
BUNDLE: Final = "engine, writing a bundle"
HANDWRITTEN: Final = "hand-written loop"
MINIGRID: Final = "MiniGrid, bare steps"
LINKS: Final = "verify: chain of lines"
CHAIN: Final = "verify: all but replay"
REPLAY: Final = "verify: replay"


def run_engine(plan: Plan) -> tuple[dict[str, Any], dict[str, Any]]:
    """Run a plan, seal and count every event: (count, head and root, the result)."""
    return seal(plan.specs, run(plan))


def seal(specs: str, events: Iterable[Event]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Seal and count the events of a run: (count, head and root, the result)."""
    chain, tally = Chain(run_id(specs)), Tally()
    for event in events:
        chain.seal(event)
        tally.add(event.type, event.body)
    return {"count": chain.count, "head": chain.head, "root": chain.root}, tally.result()


def run_handwritten(task: Task) -> tuple[dict[str, Any], dict[str, Any]]:
    """Run a task by hand: (count, head and root, the result)."""
    made = Run(task)
    for _ in made.receipts():
        pass
    return made.chain.receipts(), made.result()


def write_bundle(bundle: Bundle, plan: Plan, place: Path) -> dict[str, Any]:
    """Run a plan into a bundle on the disk and give its manifest."""
    with BundleWriter(place, run_id(bundle.digest), bundle.document(), bundle.digest) as writer:
        for event in run(plan):
            writer.add(event)
        return writer.finish()


def check_chain(place: Path, specs: str) -> int:
    """Check a bundle's receipts without the engine and give the number of steps."""
    receipts = Receipts(place / RECEIPTS, run_id(specs))
    link(receipts)
    tally = Tally()
    follow(receipts, RunOrder(), tally)
    steps: int = tally.result()["steps"]
    return steps


def check_links(place: Path, specs: str, steps: int) -> int:
    """Check numbers, run, digests and the Merkle root of a bundle's lines, and nothing of what they say."""
    receipts = Receipts(place / RECEIPTS, run_id(specs))
    assert link(receipts).root
    return steps


def replay(plan: Plan, place: Path, steps: int) -> int:
    """Run a plan again and compare it with a bundle's receipts."""
    made = make_again(lambda _progress: run(plan), plan.specs)
    compare(made, Receipts(place / RECEIPTS, run_id(plan.specs)).lines())
    return steps


def prepare(bundle: Bundle, plan: Plan, task: Task, folder: Path) -> tuple[list[Piece], str | None]:
    """All pieces, and why MiniGrid is not among them, if it is not."""
    kept, scratch = folder / "kept", folder / "scratch"
    steps: int = write_bundle(bundle, plan, kept)["result"]["steps"]
    pieces = [
        Piece(ENGINE, lambda: _steps(run_engine(plan))),
        Piece(BUNDLE, lambda: int(write_bundle(bundle, plan, scratch)["result"]["steps"])),
        Piece(HANDWRITTEN, lambda: _steps(run_handwritten(task))),
        Piece(LINKS, lambda: check_links(kept, bundle.digest, steps)),
        Piece(CHAIN, lambda: check_chain(kept, bundle.digest)),
        Piece(REPLAY, lambda: replay(plan, kept, steps)),
    ]
    try:
        from bench import minigrid_steps
    except ImportError as error:
        return pieces, f"not measured, it cannot be imported ({error}): pip install '.[bench]'"
    return [*pieces, Piece(MINIGRID, minigrid_steps.prepare(task))], None


def size_of(folder: Path) -> int:
    """Bytes of the receipts that are checked."""
    return (folder / "kept" / RECEIPTS).stat().st_size


def _steps(made: tuple[dict[str, Any], dict[str, Any]]) -> int:
    steps: int = made[1]["steps"]
    return steps
