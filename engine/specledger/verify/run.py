"""Evidence of a run: its audit log, its first receipt, replay from its specs and its recording, and the judge.

A suite tests replay on each of its runs: the run is reproduced, and an altered copy is noticed. The copy has another
success in one step of the middle and is sealed again from there, so that its chain is valid.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cached_property, partial
from itertools import chain
from pathlib import Path
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from specledger.compile.plan import Plan, PlannedRecording
from specledger.compile.plan_cache import CompileScenario
from specledger.core.canonical import parse_canonical
from specledger.core.diagnostics import Rejected
from specledger.core.entries import Mode
from specledger.core.events import Event
from specledger.evidence.chain import Chain
from specledger.evidence.kind import RUN as RUN_RECEIPTS
from specledger.evidence.layout import (
    AUDIT_LOG,
    MANIFEST,
    MAX_LINE,
    MAX_SPECS,
    MORE,
    RECEIPTS,
    SPECS,
    TAPE,
    TRAJECTORIES,
)
from specledger.evidence.receipts import typed
from specledger.evidence.receipts.kernel import AUDIT, AuditEntry
from specledger.evidence.result import Tally
from specledger.load import Bundle
from specledger.oracles.model_replay import ModelReplay
from specledger.oracles.recording import E_TAPE_FORM, E_TAPE_MISSING, Oracle, Tape, TapeError
from specledger.oracles.tape_file import read_tape
from specledger.run.executor import Executor, spread
from specledger.run.loop import bounds_of, read_events, run_episode, separate, write_event
from specledger.run.scenario_run import EpisodeChunks, join_run, make_run
from specledger.run.workers import ALONE
from specledger.spec.base import SpecKinds
from specledger.verify import check_names
from specledger.verify.checks import E_MANIFEST, E_REPLAY, E_SPECS, E_TRAJECTORIES, Broken, Lacking, Verification
from specledger.verify.extension import check_audit_log
from specledger.verify.judge import RunJudge, judge_lines
from specledger.verify.judged import Count
from specledger.verify.kind import Checked, EvidenceKind, Resources
from specledger.verify.manifest import MAX_MANIFEST, other_maker, read_document
from specledger.verify.rebuilding import invalid, rebuild
from specledger.verify.receipts import Receipts, follow, link
from specledger.verify.recorded import compile_recorded
from specledger.verify.replay import Made, compare, first_difference, make_again
from specledger.verify.run_order import RunOrder

_STEP: Final = b'"type":"step"}'
"""The end of the line of a step: `type` is the last key of a canonical receipt."""


class RunContent(Struct, frozen=True):
    """A run that compiles again."""

    checked: Checked[RunOrder, Any]
    specs: Bundle
    make: Made
    executor: Executor

    def check(self, verification: Verification, obstacle: str | None) -> RunContent:
        """Check the audit log, and the first receipt if the run is not replayed although it could be."""
        listing, order = self.checked.listing, self.checked.order
        if order.entries or AUDIT_LOG in listing.more:
            step = partial(check_audit_log, self.checked.folder / AUDIT_LOG, order.entries, order.head)
            verification.attempt(check_names.AUDIT_LOG, step)
        if obstacle is not None and other_maker(self.checked.manifest) is None:
            with verification.check(check_names.START):
                self._check_start()
        return self

    def _check_start(self) -> None:
        """The first receipt states the length of the run and its gates; it is made before anything is run."""
        replayed, recorded = next(self.lines()), next(self.checked.receipts.lines())
        if replayed != recorded:
            raise Broken(E_REPLAY, first_difference(0, replayed, recorded))

    def lines(self) -> Iterator[bytes]:
        """The receipts as the run is made again."""
        return make_again(self.make, self.specs.digest)

    def replay(self) -> str:
        """Compare every receipt."""
        return f"{compare(self.lines(), self.checked.receipts.lines())} receipts"

    def judge(self, obstacle: str | None) -> Count:
        """Judge every gate's decision, every invariant and every probe."""
        if obstacle is not None:
            raise Lacking(f"what is judged are the states that replay makes, and {obstacle}")
        return judge_run(self.specs, self.checked.folder, self.checked.receipts, self.executor)


def compile_run(checked: Checked[RunOrder, Any], specs: Bundle, resources: Resources) -> RunContent:
    """Compile the recorded specs."""
    try:
        plan = resources.plan(specs)
    except Rejected as rejected:
        raise invalid(rejected) from None
    make = made_again(plan, specs, checked.folder, checked.receipts, resources.executor)
    return RunContent(checked, specs, make, resources.executor)


def made_again(plan: Plan, specs: Bundle, folder: Path, receipts: Receipts, executor: Executor = ALONE) -> Made:
    """What makes a recorded run again.

    Where a kernel signed with a key, the recorded signatures are used and verified: the key is not here.

    Raises:
        Broken: E_TRAJECTORIES; E_TAPE_FORM; E_TAPE_MISSING, if the agent is outside and there is no recording.
    """
    if plan.signed:
        plan = replace(plan, signatures=signatures_of(receipts))
    if plan.recording is not None:
        plan = plan.replaying(_recorded(plan.recording, folder / TRAJECTORIES))
    elif (folder / TRAJECTORIES).exists():
        raise Broken(E_TRAJECTORIES, "the agent is no recording, and the evidence holds trajectories")
    try:
        tape = read_tape(folder / TAPE) if (folder / TAPE).exists() else None
    except TapeError as error:
        raise Broken(error.code, error.message) from None
    if tape is None and plan.answered:
        raise Broken(E_TAPE_MISSING, "somebody outside was asked, and the evidence holds no tape of the answers")
    if tape is not None and tape.mode is Mode.LIVE and not plan.logged:
        raise Broken(E_TAPE_FORM, "the tape is of a live audit log, and a run without a kernel has no log")
    return lambda progress: _play(plan, tape, lambda again: make_run(specs, again, progress, executor))


def _recorded(recording: PlannedRecording, path: Path) -> PlannedRecording:
    """The recording that the evidence of a run holds."""
    if not path.exists():
        raise Broken(E_TRAJECTORIES, "the agent is a recording, and the evidence holds no trajectories")
    try:
        return recording.read(path)
    except ValueError as error:
        raise Broken(E_TRAJECTORIES, f"trajectories: {error}") from None


def _play(plan: Plan, tape: Tape | None, make: Callable[[Plan], Iterator[Event]]) -> Iterator[Event]:
    """The events of a run whose answers from outside come from its recording."""
    if tape is None:
        yield from make(plan)
        return
    asked = None if plan.outside is None else plan.outside.model
    oracle = Oracle(tape, None if asked is None else ModelReplay(asked).check)
    try:
        yield from make(replace(plan, oracle=oracle))
        oracle.finish()
    except TapeError as error:
        raise Broken(error.code, error.message) from None


def judge_run(specs: Bundle, folder: Path, receipts: Receipts, executor: Executor = ALONE) -> Count:
    """Judge every verdict of a run, which is made again for that."""
    plan = compile_recorded(specs)
    if in_chunks(plan, executor):
        return judge_chunks(specs, plan, receipts.lines(), executor)
    make = partial(made_again, specs=specs, folder=folder, receipts=receipts)
    return judge_lines(specs, plan, make, receipts.lines())


_WORTH: Final = 500
"""Steps from which several processes are used: one step takes about 25 times as long to judge as to run."""


class JudgedChunks(EpisodeChunks):
    """Judges chunks of the episodes of one scenario; each process compiles its plan and its expressions once."""

    entry = "judged chunks"

    @cached_property
    def _judge(self) -> RunJudge:
        return RunJudge(self._bundle, self._plan)

    def __call__(self, item: Sequence[int]) -> Any:
        """The events of the episodes from one number to before another, and the count of what was judged."""
        judge, lines = self._judge, []
        for number in range(*item):
            for event in run_episode(judge.plan, number):
                lines.append(write_event(event))
                judge.see(event)
        return {"events": b"".join(lines), "count": judge.count.drain()}


def in_chunks(plan: Plan, executor: Executor) -> bool:
    """Whether a run is judged in chunks."""
    few = min(plan.episodes, executor.width) < 2 or plan.episodes * plan.horizon < _WORTH
    return not few and plan.outside is None and separate(plan)


def judge_chunks(specs: Bundle, plan: Plan, recorded: Iterable[bytes], executor: Executor) -> Count:
    """Make a run again in chunks, judge each verdict, and compare every receipt with the recorded one."""
    count = Count()

    def episodes() -> Iterator[Event]:
        bounds = bounds_of(range(plan.episodes), plan.horizon, executor.width)
        yield from chain.from_iterable(map(taken, spread(JudgedChunks(specs), bounds, executor)))

    def taken(result: Mapping[str, Any]) -> Iterator[Event]:
        count.take(Count.of(result["count"]))
        return read_events(result["events"].splitlines())

    compare(make_again(lambda _: join_run(specs, plan, episodes()), specs.digest), recorded)
    return count


def signatures_of(receipts: Receipts) -> tuple[str, ...]:
    """The signatures of the tokens in the audit entries of a run, in order; a malformed entry holds none."""
    signatures: list[str] = []
    for type_, body in receipts.contents():
        if type_ == AUDIT:
            with suppress(LookupError, TypeError):
                signatures += [str(token["signature"]) for token in typed(AuditEntry, body)["capability_tokens"]]
    return tuple(signatures)


RUN: Final = EvidenceKind(
    RUN_RECEIPTS, RunOrder, compile_run, files=MORE, describe=RunOrder.describe, know=RunOrder.know
)


def try_replay(folder: Path, kinds: SpecKinds, compile_plan: CompileScenario) -> dict[str, Any]:
    """Read a run back from its evidence, check its chain, make it again, and compare; then an altered copy."""
    manifest = read_document(folder / MANIFEST, MAX_MANIFEST, E_MANIFEST)
    receipts = Receipts(folder / RECEIPTS, manifest["run"])
    intact = True
    try:
        link(receipts)
        follow(receipts, RunOrder(), Tally())
    except Broken:
        intact = False
    specs = rebuild(read_document(folder / SPECS, MAX_SPECS, E_SPECS), kinds)
    replayed = make_again(made_again(compile_plan(specs), specs, folder, receipts), specs.digest)
    return {"intact": intact, **try_lines(replayed, list(receipts.lines()), manifest["run"])}


def try_lines(replayed: Iterable[bytes], recorded: Sequence[bytes], run: str) -> dict[str, Any]:
    """Compare a run with what making it again gives, and then an altered copy of it.

    Returns:
        `exact`: no difference was found. `compared`: how many receipts were compared. `noticed`: that the bytes of the
        altered copy are others was found.
    """
    again = list(replayed)
    result: dict[str, Any] = {"exact": True, "compared": 0, "noticed": False}
    try:
        result["compared"] = compare(again, recorded)
    except Broken:
        result["exact"] = False
    try:
        compare(again, altered(recorded, run))
    except Broken:
        result["noticed"] = True
    return result


def altered(lines: Sequence[bytes], run: str) -> Iterator[bytes]:
    """A copy of a run in which one step claims the opposite of its success, sealed again from there on."""
    steps = [number for number, line in enumerate(lines) if line.endswith(_STEP)]
    middle = steps[len(steps) // 2] if steps else len(lines)
    yield from lines[:middle]
    chain = Chain(run)
    for number, line in enumerate(lines[middle:], middle):
        receipt: Any = parse_canonical(line, limit=MAX_LINE)
        if number == middle:
            chain.count, chain.head = number, receipt["prev"]
            receipt["body"]["success"] = not receipt["body"]["success"]
        yield chain.seal(Event(receipt["type"], receipt["body"]))
