"""`python -m bench.decisions`: full decisions of the pseudo-axion kernel a second, on one core.

A decision is what the shipped kernel does with a proposal of a shipped agent once it came: received and hashed, validated
by its schema, judged by every invariant, given a token, entered in the audit log (a ruling and an issued token, written
at once and synced once an episode), and acted upon through the token. How the agent comes to its proposal is not in it:
a run of the scenario is made once, and its proposals are then decided upon again and again. Neither are the receipts of
the run, probes, and compiling.

Proposals of the shipped agent have about 4.4 KB. The aim is stated for 3 KB; the same agent comes nearer to that if it
only waits or moves, and makes one claim. `--as-shipped` leaves it as it is.
"""

from __future__ import annotations

import argparse
import json
import platform
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from bench.clock import Piece, measure
from specledger.compile.plan import Plan
from specledger.compile.scenario import compile_scenario
from specledger.core.entries import Mode
from specledger.kinds import load
from specledger.run.controller import Moment
from specledger.run.loop import run
from specledger.wings.kernel.audit.log import AuditLog
from specledger.wings.kernel.documents.digests import receive
from specledger.wings.kernel.documents.schemas import axion
from specledger.wings.kernel.run.controller import KernelController
from specledger.wings.kernel.run.document_agent import SpecAgent, Submitted

SCENARIO = "specs/scenario/axion-hazard.yaml"
SHORTER = (
    "agent.candidates=[{op: wait}, {op: move, for_each: {dir: \"['N', 'E', 'S', 'W']\"}, when: may_move(action.dir)}]",
    "agent.narration.claims=1",
)
HORIZON = 50
AIM = 4_000


class Case(NamedTuple):
    """One decision that is made again: when and in which state, and what was submitted."""

    moment: Moment
    document: Any


class Recorder(SpecAgent):
    """The agent of the run whose proposals are kept."""

    cases: list[Case]

    def submit(self, moment: Moment) -> Submitted | None:
        """The agent's document, kept in a form that shares nothing with anything."""
        made = super().submit(moment)
        if made is not None:
            self.cases.append(Case(moment, json.loads(json.dumps(made.submission.document))))
        return made


class Submitting(SpecAgent):
    """An agent that submits a document that was made before."""

    ready: Any = None

    def submit(self, moment: Moment) -> Submitted:
        """The document."""
        return Submitted(receive(self.ready), 0)


def record(episodes: int, more: Sequence[str] = ()) -> tuple[Plan, list[list[Case]]]:
    """The plan of the scenario without probes, and the cases of a run, by episode."""
    sets = ["probes=[]", f"episodes={episodes}", f"horizon={HORIZON}", *more]
    plan = compile_scenario(load(SCENARIO, set=sets)[0])
    cases: list[Case] = []
    Recorder.cases = cases
    for _ in run(plan, controllers=[KernelController(plan, plan.actors[0], Recorder)]):
        pass
    return plan, [[case for case in cases if case.moment.episode == number] for number in range(episodes)]


def decide(controller: KernelController, log: AuditLog, episode: list[Case]) -> int:
    """Decide on every proposal of an episode, and give how many were carried out."""
    agent, done = controller.agent, 0
    assert isinstance(agent, Submitting)
    controller.begin()
    for asked, document in episode:
        agent.ready, moment = document, asked
        log_all(controller.events_at("before_propose", moment), log)
        proposals = controller.propose(moment)
        (judgement,) = controller.judge(moment, proposals, 0, [0], None)
        if not judgement.rejected:
            moment = moment._replace(token=controller.issue("", "", ""))
        log_all(controller.events_at("after_token", moment), log)
        if moment.token is not None:
            controller.act(moment.token, 0, proposals[0], "", moment.state, judgement.inputs)
            done += 1
    log.sync()
    return done


def log_all(events: Iterator[Any], log: AuditLog) -> None:
    """Append what a controller enters."""
    for event in events:
        log.append(event.body)


def pieces_of(plan: Plan, episodes: list[list[Case]], path: Path) -> list[Piece]:
    """What is measured: the whole, and the parts that hashing, the schema and the invariants have in it."""
    controller = KernelController(plan, plan.actors[0], Submitting)
    cases = [case for episode in episodes for case in episode]
    submissions = [receive(case.document) for case in cases]
    admission = controller.kernel.admission

    def full() -> int:
        path.unlink(missing_ok=True)
        made = KernelController(plan, plan.actors[0], Submitting)
        with AuditLog(path, Mode.SIMULATED, axion().check("audit_entry")) as log:
            return sum(decide(made, log, episode) for episode in episodes)

    return [
        Piece("full decisions", full),
        Piece("  received", lambda: len([receive(case.document) for case in cases])),
        Piece("  schema", lambda: len([admission.accepts(case.document) for case in cases])),
        Piece(
            "  ruled",
            lambda: len([admission.rule(c.moment.state, s) for c, s in zip(cases, submissions, strict=True)]),
        ),
    ]


def main() -> int:
    """Measure and print; 1 if a proposal was denied, so that less was measured than is said."""
    parser = argparse.ArgumentParser(prog="python -m bench.decisions", description=__doc__)
    parser.add_argument("--episodes", type=int, default=8, help="episodes of 50 decisions in a round (default 8)")
    parser.add_argument("--rounds", type=int, default=7, help="rounds that are counted (default 7)")
    parser.add_argument("--as-shipped", action="store_true", help="take the agent as it is: proposals of 4.4 KB")
    options = parser.parse_args()
    plan, episodes = record(options.episodes, () if options.as_shipped else SHORTER)
    cases = [case for episode in episodes for case in episode]
    with tempfile.TemporaryDirectory() as folder:
        pieces = pieces_of(plan, episodes, Path(folder) / "audit.log.jsonl")
        if pieces[0].work() != len(cases):
            print("Some proposals were denied, so nothing is measured.")
            return 1
        measured = measure(pieces, options.rounds)
    size = sum(len(receive(case.document).form or b"") for case in cases) // len(cases)
    print(f"Proposals of {size:,} bytes, {len(cases):,} a round, n = {options.rounds} rounds in turns\n")
    for one in measured:
        print(f"{one.name:<16}{one.rate:>10,.0f} /s{one.cpu_rate:>12,.0f} per CPU second")
    reached = "reached" if measured[0].cpu_rate >= AIM else "missed"
    print(f"\nAim: {AIM:,} full decisions a second of one core: {reached}.")
    print(f"{platform.python_implementation()} {platform.python_version()}, {platform.machine()}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
