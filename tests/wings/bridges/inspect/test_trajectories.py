"""Inspect AI tasks about trajectories: each is a sample that the evaluated model is asked about, and the log gives it back."""

import json
from pathlib import Path
from typing import Any, cast

import pytest

from specledger import inspect
from specledger.compile.model import compile_model
from specledger.core.diagnostics import Rejected
from specledger.kinds import load
from specledger.oracles.model import ModelRequest, Tool
from specledger.pipeline.verifying import verify
from specledger.wings.trajectories.model import Call, Entry, Message, Result, Speaker, Trajectory, Withheld
from specledger.wings.trajectories.reading import read_logs
from tests.wings.bridges.inspect.mocks import mocked

inspect_ai = pytest.importorskip("inspect_ai", reason="the extra `inspect` is not installed; `make inspect` does so")
pytestmark = pytest.mark.filterwarnings("ignore")  # those of the other package are not ours

ROOT = Path(__file__).parents[4]
LOGS = sorted((ROOT / "specs/agent/recorded-decisions").glob("*.json"))
SURE = ["agent.trajectories.asks.deterministic=true"]


def scripted(name):
    """A shipped script as a model of the provider `mockllm`."""
    from inspect_ai.model import ModelOutput, ModelUsage, get_model

    (bundle,) = load(name, kind="model")
    script = compile_model(bundle, bundle.root).open(False)

    def answer(messages, tools, _choice, _config):
        offered = tuple(
            Tool(tool.name, tool.description, tool.parameters.model_dump(exclude_none=True)) for tool in tools
        )
        said = script.ask(ModelRequest(0, messages[0].text, messages[1].text, tools=offered))
        (call,) = said.calls
        output = ModelOutput.for_tool_call("mockllm/model", call.name, json.loads(call.arguments), content="")
        output.usage = ModelUsage(input_tokens=7, output_tokens=3, total_tokens=10)  # it would fetch a tokenizer
        return output

    return get_model("mockllm/model", custom_outputs=answer, memoize=False)


def evaluated(folder, model, **options):
    """The one log of a task of recorded decisions."""
    task = inspect.task("recorded-decisions", out=folder / "out", **options)
    (log,) = inspect_ai.eval(
        task, model=model, log_dir=str(folder / "logs"), log_format="eval", display="none", max_samples=1
    )
    assert log.status == "success", log.error
    return log


def said(trajectories):
    """What was called, and what came back, of trajectories."""
    return [[entry for entry in each.entries if isinstance(entry, Call | Result)] for each in trajectories]


def comparable(entries):
    return [(e.tool, e.arguments) if isinstance(e, Call) else (e.call, e.content) for e in entries]


@pytest.mark.parametrize(("name", "score"), [("decides-faithfully", "C"), ("decides-post-hoc", "I")])
def test_each_trajectory_is_a_sample_and_the_score_is_the_verdict_of_its_challenges(tmp_path, name, score):
    log = evaluated(tmp_path, scripted(name), trajectories=LOGS[:2], set=SURE)
    assert [value.value for sample in log.samples for value in sample.scores.values()] == [score] * 2
    assert all(sample.model_usage for sample in log.samples)  # what was asked went through Inspect
    places = sorted((tmp_path / "out").iterdir())
    assert len(places) == 2
    assert all(verify(place).intact for place in places)


def test_the_log_of_a_task_gives_the_trajectories_back(tmp_path):
    """Without `trajectories` those of the scenario's own agent are taken."""
    evaluated(tmp_path, scripted("decides-faithfully"), set=SURE)
    given = said(read_logs(LOGS))
    returned = said(read_logs([next((tmp_path / "logs").glob("*.eval"))]))
    assert [comparable(entries) for entries in returned] == [comparable(entries) for entries in given]


def test_a_model_that_acted_leaves_its_actions_as_calls(tmp_path):
    task = inspect.task("axion-hazard", set=["episodes=1", "horizon=4", "probes=[]"], seeds=[3], out=tmp_path / "out")
    (log,) = inspect_ai.eval(task, model=mocked("faithful"), log_dir=str(tmp_path), log_format="eval", display="none")
    assert log.status == "success", log.error
    (trajectory,) = read_logs([next(tmp_path.glob("*.eval"))])
    (place,) = (tmp_path / "out").iterdir()
    receipts = [json.loads(line) for line in (place / "receipts.jsonl").read_bytes().splitlines()]
    acted = [line["body"]["proposals"][0]["action"] for line in receipts if line["type"] == "commit"]
    calls = [entry for entry in trajectory.entries if isinstance(entry, Call)]
    assert [{"op": call.tool, **dict(cast("Any", call.arguments))} for call in calls] == acted
    results = [entry for entry in trajectory.entries if isinstance(entry, Result)]
    assert [result.call for result in results] == [call.id for call in calls]


def test_a_recording_that_names_no_model_is_refused():
    with pytest.raises(Rejected, match="E_INSPECT_AGENT"):
        inspect.task("recorded-calls")


def test_the_messages_of_a_trajectory():
    from specledger.wings.bridges.inspect.messages import recorded

    entries: list[Entry] = [
        Message(Speaker.SYSTEM, "Be brief."),
        Message(Speaker.USER, "Pay."),
        Call("1", "pay", {"sum": {"$number": "1.5"}, "to": Withheld("ab").digest}, 1),
        Call("2", "look", {"$literal": {"$number": "x"}}, 1),
        Call("9", "spy", {}, 1, actor="other"),
        Result("1", {"ok": True}),
        Result("2", error=True),
        Message(Speaker.USER, "Not heard.", actor="other"),
        Message(Speaker.ASSISTANT, "Done."),
    ]
    messages = recorded(Trajectory("t", "f", "openai", entries))
    assert [(each.role, each.text) for each in messages] == [
        ("system", "Be brief."),
        ("user", "Pay."),
        ("assistant", ""),
        ("tool", '{"ok":true}'),
        ("tool", "(not recorded)"),
        ("assistant", "Done."),
    ]
    assert [(call.function, call.arguments) for call in messages[2].tool_calls] == [
        ("pay", {"sum": 1.5, "to": "ab"}),
        ("look", {"$number": "x"}),
    ]
    assert (messages[3].error, messages[4].error.type) == (None, "unknown")
