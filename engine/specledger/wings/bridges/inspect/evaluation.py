"""The Inspect AI side: a solver that lets the evaluated model act in a run, and a scorer that reads the verdict.

The run is synchronous, so it has a thread of its own; its questions go back to Inspect's event loop.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from anyio import from_thread, to_thread
from inspect_ai import Task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import ChatMessageSystem, ChatMessageUser, ModelOutput, get_model
from inspect_ai.scorer import CORRECT, INCORRECT, Score, Scorer, Target, accuracy, scorer, stderr
from inspect_ai.solver import Generate, Solver, TaskState, solver
from inspect_ai.tool import ToolInfo, ToolParams

from specledger.core.canonical import canonical_bytes
from specledger.core.floats import FLOATS_ANYWHERE
from specledger.core.verdict import Verdict
from specledger.kinds.running import Finished
from specledger.load import Bundle
from specledger.oracles.failures import BLOCKED, TRUNCATED, UNAVAILABLE
from specledger.oracles.model import Call, ModelAnswer, ModelRequest, TokenUsage, answered, failed
from specledger.wings.bridges.inspect.asking import run_about, run_asked, trajectories_of
from specledger.wings.bridges.inspect.messages import played, recorded
from specledger.wings.trajectories.lines import write_lines
from specledger.wings.trajectories.model import Trajectory

_RESULT: Final = "specledger"
"""The key of a sample's metadata with the result of its run."""

_STOPS: Final = {"content_filter": BLOCKED, "max_tokens": TRUNCATED, "model_length": TRUNCATED}
_VALUES: Final = {Verdict.PASS: CORRECT, Verdict.FAIL: INCORRECT}
"""What is neither a pass nor a refutation has no score."""


def evaluation(bundles: Sequence[Bundle], out: Path) -> Task:
    """The task with one sample for each bundle; its evidence goes to a folder in `out`."""
    named = {_name(bundle): bundle for bundle in bundles}
    samples = [Sample(input=bundle.main.model.doc or name, id=name) for name, bundle in named.items()]
    return Task(MemoryDataset(samples), solver=_play(named, out), scorer=_verdict(), name=bundles[0].main.name)


def examination(bundles: Sequence[Bundle], logs: Sequence[Path], out: Path) -> Task:
    """The task with one sample for each trajectory and bundle, whose messages are the trajectory."""
    named, samples = dict[str, tuple[Bundle, Trajectory]](), []
    for bundle in bundles:
        for number, trajectory in enumerate(trajectories_of(bundle, logs)):
            name = f"{_name(bundle)}-{number}"
            named[name] = bundle, trajectory
            samples.append(Sample(input=recorded(trajectory), id=name, metadata={"trajectory": trajectory.id}))
    return Task(MemoryDataset(samples), solver=_examine(named, out), scorer=_verdict(), name=bundles[0].main.name)


def _name(bundle: Bundle) -> str:
    return f"{bundle.main.name}-{bundle.main.model.model_dump()['seed']}"


@solver
def _play(bundles: dict[str, Bundle], out: Path) -> Solver:
    """Play the run of a sample with the evaluated model."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        name = str(state.sample_id)
        model = str(state.model).replace("/", "-")
        folder = out / f"{name}-{model}-{state.epoch}"
        finished = await to_thread.run_sync(run_asked, bundles[name], folder, _ask)
        state.messages = [*state.messages, *played(finished.place)]
        return _ended(state, finished)

    return solve


@solver
def _examine(named: dict[str, tuple[Bundle, Trajectory]], out: Path) -> Solver:
    """Ask the evaluated model about the calls of a sample's trajectory."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        name = str(state.sample_id)
        bundle, trajectory = named[name]
        folder = out / f"{name}-{str(state.model).replace('/', '-')}-{state.epoch}"
        with TemporaryDirectory() as written:
            log = Path(written) / "trajectory.jsonl"
            log.write_bytes(b"".join(write_lines([trajectory])))
            finished = await to_thread.run_sync(run_about, bundle, log, folder, _ask)
        return _ended(state, finished)

    return solve


def _ended(state: TaskState, finished: Finished) -> TaskState:
    state.metadata[_RESULT] = _document(finished)
    state.output = ModelOutput.from_content(str(state.model), finished.verdict.value)
    return state


@scorer(metrics=[accuracy(), stderr()])
def _verdict() -> Scorer:

    async def score(state: TaskState, target: Target) -> Score:
        result = state.metadata[_RESULT]
        fields = {"answer": result["verdict"], "explanation": "\n".join(result["incidents"]), "metadata": result}
        value = _VALUES.get(Verdict(result["verdict"]))
        return Score.unscored(reason="inconclusive", **fields) if value is None else Score(value=value, **fields)

    return score


def _ask(request: ModelRequest) -> ModelAnswer:
    """Ask from the thread of a run."""
    return from_thread.run(_generate, request)


async def _generate(request: ModelRequest) -> ModelAnswer:
    """Ask the evaluated model: one function is to be called, and none is executed."""
    tools = [
        ToolInfo(name=tool.name, description=tool.description, parameters=ToolParams.model_validate(tool.parameters))
        for tool in request.tools
    ]
    messages = [ChatMessageSystem(content=request.system), ChatMessageUser(content=request.prompt)]
    return _answer(await get_model().generate(messages, tools=tools, tool_choice="any"))


def _answer(output: ModelOutput) -> ModelAnswer:
    """What a model of Inspect answered, as the engine knows answers."""
    spent = output.usage
    usage = TokenUsage(0, 0) if spent is None else TokenUsage(spent.input_tokens, spent.output_tokens)
    if output.error is not None or output.empty:
        return failed(UNAVAILABLE, output.error or "no choices", usage)
    if output.stop_reason in _STOPS:
        return failed(_STOPS[output.stop_reason], "", usage, output.stop_reason, output.completion)
    calls = [
        Call(call.function, call.parse_error or canonical_bytes(call.arguments, FLOATS_ANYWHERE).decode())
        for call in output.message.tool_calls or []
    ]
    return answered(output.completion, usage, output.stop_reason, calls)


def _document(finished: Finished) -> dict[str, Any]:
    return {
        "verdict": finished.verdict.value,
        "evidence": str(finished.place),
        "specs": finished.manifest["specs"],
        "root": finished.manifest["receipts"]["root"],
        "incidents": [str(incident) for incident in finished.incidents],
    }
