"""A run whose agent is a model that Inspect asks, or that asks it about what a recorded agent did.

The first is made twice, as every live run is: first with the model, then from its answers, which is what the evidence
holds and what replay makes again. There is no deadline: Inspect has its own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final, TypeVar

from msgspec.structs import replace

from specledger.compile.scenario import compile_scenario
from specledger.core.diagnostics import Diagnostic, Rejected, code
from specledger.kinds.running import Finished, RunOptions
from specledger.load import Bundle
from specledger.oracles.answer import Answer, Asked, Exchange
from specledger.oracles.model import ModelAnswer, ModelRequest
from specledger.oracles.model_agent import ModelAgent, ModelPlan
from specledger.oracles.recording import Oracle, Place, Tape
from specledger.pipeline.checking import annotated
from specledger.pipeline.executing import execute
from specledger.pipeline.trying import one_of
from specledger.run.scenario_run import make_run
from specledger.wings.trajectories.lines import read_lines
from specledger.wings.trajectories.model import Trajectory

E_INSPECT_AGENT = code("E_INSPECT_AGENT", "an agent that Inspect cannot ask")

ANNOTATION: Final = "inspect"

Ask = Callable[[ModelRequest], ModelAnswer]
Made = TypeVar("Made")


def load_asked(scenario: str, agent: str | None, overrides: Sequence[str]) -> Bundle:
    """The bundle of a scenario with an agent that is a model."""
    bundle = one_of(scenario, "scenario", [f"agent={agent or annotated('agent', ANNOTATION).main.name}", *overrides])
    plan = compile_scenario(bundle)
    if plan.outside is None or plan.outside.model is None:
        message = f"{bundle.specs[bundle.main.refs['agent',]].name} is no model"
        raise Rejected([Diagnostic(E_INSPECT_AGENT, message, bundle.main.span("agent"))])
    return bundle


def load_recorded(scenario: str, overrides: Sequence[str]) -> Bundle | None:
    """The bundle of a scenario whose recorded calls the evaluated model is asked about; None where nothing is recorded.

    A model is not taken for deterministic, unless a change says so.
    """
    bundle = one_of(scenario, "scenario", overrides)
    if "agent" not in bundle.main.data:
        return None
    agent = bundle.specs[bundle.main.refs["agent",]]
    if "trajectories" not in agent.data:
        return None
    if not agent.data["trajectories"].get("asks"):
        message = f"{agent.name} names no model that is asked about its calls (`asks`)"
        raise Rejected([Diagnostic(E_INSPECT_AGENT, message, bundle.main.span("agent"))])
    stand_in = annotated("agent", ANNOTATION)
    model = stand_in.specs[stand_in.main.refs["outside", "model"]].name
    changes = [f"{_ASKS}.model={model}"]
    if not any(change.startswith(f"{_ASKS}.deterministic") for change in overrides):
        changes.append(f"{_ASKS}.deterministic=false")
    return one_of(scenario, "scenario", [*overrides, *changes])


_ASKS: Final = "agent.trajectories.asks"


def run_about(bundle: Bundle, log: Path, folder: Path, ask: Ask) -> Finished:
    """Ask about the calls of the trajectories of a log, and write the evidence."""
    return execute(bundle, folder, RunOptions(trajectories=(log,), asked=_Model(ask)))


def trajectories_of(bundle: Bundle, logs: Sequence[Path]) -> list[Trajectory]:
    """The trajectories of logs, or of those that the agent of a bundle of `load_recorded` names."""
    recording = compile_scenario(bundle).recording
    assert recording is not None  # noqa: S101 - see `load_recorded`
    with TemporaryDirectory() as folder:
        path = Path(folder) / "trajectories.jsonl"
        recording.store(logs, path)
        with path.open("rb") as file:
            return list(read_lines(file))


def run_asked(bundle: Bundle, folder: Path, ask: Ask) -> Finished:
    """Run a bundle of `load_asked`, and write the evidence; `ask` is called from this thread, a question at a time."""
    plan = compile_scenario(bundle)
    assert plan.outside is not None and plan.outside.model is not None  # noqa: S101, PT018 - see `load_asked`
    oracle, tape = Oracle(Tape()), Tape()
    oracle.live = asking = _Asking(plan.outside.model, ask)
    for _ in make_run(bundle, replace(plan, oracle=oracle)):
        pass
    for exchange in asking.exchanges:
        tape.add(exchange)
    return execute(bundle, folder, RunOptions(tape=tape))


class _Asking:
    """The sessions of one run with a model, and everything that was said in them, in order in `exchanges`."""

    def __init__(self, plan: ModelPlan, ask: Ask) -> None:
        self._plan = replace(plan, model=lambda _record: _Model(ask))
        self._sessions: dict[int, ModelAgent] = {}
        self.exchanges: list[Exchange] = []

    def ask(self, position: Place, asked: Asked, message: bytes) -> Answer:
        """Send a message to a session, and keep what is said."""
        answer = self._sessions.setdefault(asked.session, ModelAgent(self._plan)).exchange(message)
        self.exchanges.append(Exchange(position.episode, position.t, asked, answer))
        return answer

    def end(self, session: int) -> None:
        """Forget a session."""
        self._sessions.pop(session, None)

    def watch(self, position: Place, work: Callable[[], Made]) -> Made:
        """Let the agent inside decide; there is none."""
        return work()


class _Model:
    """The model of a session: passes each request to Inspect."""

    def __init__(self, ask: Ask) -> None:
        self.ask = ask
