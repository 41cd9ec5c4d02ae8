"""What is handed to Inspect AI and taken from it, with stand-ins for its classes that keep what they are given."""

import asyncio
import importlib
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from specledger.core.verdict import Verdict
from specledger.oracles.model import ModelRequest, Tool
from specledger.wings.trajectories.model import (
    WITHHELD_TEXT,
    Call,
    Entry,
    Message,
    Result,
    Speaker,
    Trajectory,
    Withheld,
)

WING = "specledger.wings.bridges.inspect"
NAMES = {
    "inspect_ai": ["Task"],
    "inspect_ai.dataset": ["MemoryDataset", "Sample"],
    "inspect_ai.model": [
        "ChatMessage", "ChatMessageAssistant", "ChatMessageSystem", "ChatMessageTool", "ChatMessageUser", "ModelOutput",
    ],
    "inspect_ai.scorer": ["Score", "Scorer", "Target"],
    "inspect_ai.solver": ["Generate", "Solver", "TaskState"],
    "inspect_ai.tool": ["ToolCall", "ToolCallError", "ToolInfo", "ToolParams"],
}  # fmt: skip


class Kept:
    """Keeps what it is made of."""

    def __init__(self, *given, **named):
        self.given = given
        vars(self).update(named)

    @classmethod
    def model_validate(cls, document):
        return cls(document)

    @classmethod
    def from_content(cls, model, content):
        return cls(model, content)

    @classmethod
    def unscored(cls, **named):
        return cls(value=None, **named)


def unchanged(*given, **named):
    """A decorator that changes nothing, with or without arguments."""
    return given[0] if given and callable(given[0]) else lambda function: function


@pytest.fixture
def wing(monkeypatch):
    """Modules of the wing, by name, that have the stand-ins."""
    pytest.importorskip("anyio")
    for name, classes in NAMES.items():
        module: Any = ModuleType(name)
        for class_ in classes:
            setattr(module, class_, type(class_, (Kept,), {}))
        monkeypatch.setitem(sys.modules, name, module)
    scorer: Any = sys.modules["inspect_ai.scorer"]
    scorer.CORRECT, scorer.INCORRECT, scorer.scorer = "C", "I", unchanged
    scorer.accuracy = scorer.stderr = lambda: None
    solver: Any = sys.modules["inspect_ai.solver"]
    solver.solver = unchanged
    model: Any = sys.modules["inspect_ai.model"]
    model.get_model = lambda: None
    parts = [f"{WING}.{part}" for part in ("messages", "evaluation")]
    for part in parts:
        monkeypatch.delitem(sys.modules, part, raising=False)
    package = importlib.import_module(WING)
    yield SimpleNamespace(**{part.rpartition(".")[2]: importlib.import_module(part) for part in parts})
    for part in parts:
        sys.modules.pop(part, None)
        vars(package).pop(part.rpartition(".")[2], None)


def told(message):
    """A message as what it is and what it holds."""
    kind = type(message).__name__.removeprefix("ChatMessage")
    calls = [(call.id, call.function, call.arguments) for call in getattr(message, "tool_calls", ())]
    answered = (message.tool_call_id, message.function, message.error and message.error.given) if kind == "Tool" else ()
    return (kind, message.content, *([calls] if calls else []), *answered)


ENTRIES: list[Entry] = [
    Message(Speaker.SYSTEM, "Be brief."),
    Message(Speaker.USER, "Pay."),
    Call("1", "pay", {"sum": {"$number": "1.5"}, "all": [{"$number": "2"}, 3]}, 1),
    Call("2", "look", {"$literal": {"$number": "x"}}, 1),
    Call("9", "spy", {}, 1, actor="other"),
    Call("3", "wait", Withheld("ab"), 2),
    Call("8", "spy", {}, 3, actor="other"),
    Result("1", {"ok": True}),
    Result("2", error=True),
    Result("3", "no", denied=True),
    Result("8", "seen"),
    Result("7", "of no call"),
    Message(Speaker.USER, "Not heard.", actor="other"),
    Message(Speaker.ASSISTANT, "Done."),
]


def test_a_trajectory_becomes_the_messages_that_it_was(wing):
    messages = wing.messages.recorded(Trajectory("t", "f", "openai", ENTRIES))
    assert [told(message) for message in messages] == [
        ("System", "Be brief."),
        ("User", "Pay."),
        ("Assistant", "", [("1", "pay", {"sum": 1.5, "all": [2.0, 3]}), ("2", "look", {"$number": "x"})]),
        ("Assistant", "", [("3", "wait", {})]),
        ("Tool", '{"ok":true}', "1", "pay", None),
        ("Tool", "(not recorded)", "2", "look", ("unknown", "(not recorded)")),
        ("Tool", "no", "3", "wait", ("unknown", "no")),
        ("Assistant", "Done."),
    ]


VALUES = [
    (1, 1),
    ("a", "a"),
    (None, None),
    ({"$number": "0.25"}, 0.25),
    ({"$withheld": "ab"}, WITHHELD_TEXT),
    ({"$literal": {"$withheld": "ab"}}, {"$withheld": "ab"}),
    ({"$number": "1", "b": 2}, {"$number": "1", "b": 2}),
    ([{"a": {"$number": "1e2"}}, []], [{"a": 100.0}, []]),
]


@pytest.mark.parametrize(("value", "document"), VALUES)
def test_a_value_becomes_what_its_document_said(wing, value, document):
    assert wing.messages.plain(value) == document


def step(chosen, rejected=(), t=0):
    decision = {"rejected": [{"gate": gate, "reason": reason} for gate, reason in rejected]}
    return {"episode": 2, "t": t, "chosen": chosen, "decisions": [decision], "record": {"b": 1, "a": "x"}}


PROPOSALS = [{"action": {"op": "go", "by": 1}}, {"action": {"op": "wait"}}]
STEPS = {
    "the second was chosen": (step(1, t=4), [("2-4", "wait", {})], '{"a":"x","b":1}', "wait", None),
    "the first was chosen": (step(0), [("2-0", "go", {"by": 1})], '{"a":"x","b":1}', "go", None),
    "all were rejected": (
        step(None, [("fence", "near"), ("purse", "poor")]),
        [("2-0", "go", {"by": 1})],
        "rejected by fence: near, purse: poor",
        "go",
        ("unknown", "rejected by fence: near, purse: poor"),
    ),
    "nothing was admitted": (
        step(None),
        [("2-0", "go", {"by": 1})],
        "nothing was admitted",
        "go",
        ("unknown", "nothing was admitted"),
    ),
}


@pytest.mark.parametrize(("body", "calls", "text", "tool", "error"), STEPS.values(), ids=STEPS)
def test_a_step_becomes_a_call_and_its_result(wing, monkeypatch, body, calls, text, tool, error):
    receipts = [
        ("step", body),
        ("commit", {"proposals": PROPOSALS}),
        ("step", body),
        ("commit", {"proposals": []}),
        ("step", body),
    ]
    monkeypatch.setattr(wing.messages, "bodies_in", lambda folder, *types: iter(receipts))
    assert [told(message) for message in wing.messages.played(Path("run"))] == [
        ("Assistant", "", calls),
        ("Tool", text, calls[0][0], tool, error),
    ]


def output(**changes):
    call = SimpleNamespace(function="go", parse_error=None, arguments={"by": 1.5})
    fields = {
        "usage": SimpleNamespace(input_tokens=7, output_tokens=3), "error": None, "empty": False, "stop_reason": "stop",
        "completion": "I go.", "message": SimpleNamespace(tool_calls=[call]),
    } | changes  # fmt: skip
    return SimpleNamespace(**fields)


ANSWERS = {
    "a call": ({}, (None, "I go.", [("go", '{"by":1.5}')])),
    "no call": ({"message": SimpleNamespace(tool_calls=None)}, (None, "I go.", [])),
    "a call that cannot be read": (
        {"message": SimpleNamespace(tool_calls=[SimpleNamespace(function="go", parse_error="no JSON", arguments={})])},
        (None, "I go.", [("go", "no JSON")]),
    ),
    "an error": ({"error": "down"}, ("unavailable", None, [])),
    "nothing": ({"empty": True}, ("unavailable", None, [])),
    "a filter": ({"stop_reason": "content_filter"}, ("blocked", None, [])),
    "too many tokens": ({"stop_reason": "max_tokens"}, ("truncated", None, [])),
    "too long a prompt": ({"stop_reason": "model_length"}, ("truncated", None, [])),
}


@pytest.mark.parametrize(("changes", "expected"), ANSWERS.values(), ids=ANSWERS)
def test_what_a_model_said(wing, changes, expected):
    answer = wing.evaluation._answer(output(**changes))
    failure, text, calls = expected
    assert (answer.failure or None) == failure
    assert failure is not None or answer.text == text
    assert [(call.name, call.arguments) for call in answer.calls] == calls
    assert (answer.usage.prompt_tokens, answer.usage.output_tokens) == (7, 3)


def test_what_is_not_counted_is_zero(wing):
    usage = wing.evaluation._answer(output(usage=None)).usage
    assert (usage.prompt_tokens, usage.output_tokens) == (0, 0)


def test_a_model_is_asked_with_the_tools_and_one_of_them_is_to_be_called(wing, monkeypatch):
    asked = []

    class Model:
        async def generate(self, messages, **named):
            asked.append((messages, named))
            return output()

    monkeypatch.setattr(wing.evaluation, "get_model", Model)
    request = ModelRequest(0, "Be brief.", "Go?", tools=(Tool("go", "Goes.", {"type": "object"}),))
    assert asyncio.run(wing.evaluation._generate(request)).text == "I go."
    ((messages, named),) = asked
    assert [told(message) for message in messages] == [("System", "Be brief."), ("User", "Go?")]
    (tool,) = named["tools"]
    assert (tool.name, tool.description, tool.parameters.given) == ("go", "Goes.", ({"type": "object"},))
    assert named["tool_choice"] == "any"


def finished(verdict):
    manifest = {"specs": "s" * 64, "receipts": {"root": "r" * 64}}
    return SimpleNamespace(verdict=verdict, place=Path("out/run"), manifest=manifest, incidents=["one", "two"])


@pytest.mark.parametrize(("verdict", "value"), [("PASS", "C"), ("FAIL", "I"), ("INCONCLUSIVE", None), ("ERROR", None)])
def test_the_score_is_the_verdict_or_there_is_none(wing, verdict, value):
    state = SimpleNamespace(model="mock/one", metadata={}, output=None)
    assert wing.evaluation._ended(state, finished(Verdict(verdict))) is state
    assert state.output.given == ("mock/one", verdict)
    score = asyncio.run(wing.evaluation._verdict()(state, None))
    assert (score.value, score.answer, score.explanation) == (value, verdict, "one\ntwo")
    assert score.metadata == {
        "verdict": verdict, "evidence": "out/run", "specs": "s" * 64, "root": "r" * 64, "incidents": ["one", "two"],
    }  # fmt: skip
    assert getattr(score, "reason", None) == (None if value else "inconclusive")


def bundle(name, seed, doc=None):
    model = SimpleNamespace(doc=doc, model_dump=lambda: {"seed": seed})
    return SimpleNamespace(main=SimpleNamespace(name=name, model=model))


def test_each_bundle_is_a_sample_that_is_played_into_a_folder_of_its_own(wing, monkeypatch):
    task = wing.evaluation.evaluation([bundle("climb", 3, "Climb."), bundle("climb", 4)], Path("out"))
    (samples,) = task.given[0].given
    assert [(sample.input, sample.id) for sample in samples] == [("Climb.", "climb-3"), ("climb-4", "climb-4")]
    assert task.name == "climb"
    ran = []

    def run(bundle, folder, ask):
        ran.append((bundle.main.model.model_dump()["seed"], folder))
        return finished(Verdict.PASS)

    monkeypatch.setattr(wing.evaluation, "run_asked", run)
    monkeypatch.setattr(wing.evaluation, "played", lambda place: [place])
    state = SimpleNamespace(sample_id="climb-4", model="mock/one", epoch=2, messages=["hello"], metadata={})
    asyncio.run(task.solver(state, None))
    assert ran == [(4, Path("out/climb-4-mock-one-2"))]
    assert state.messages == ["hello", Path("out/run")]


def test_each_trajectory_is_a_sample_that_is_asked_about(wing, monkeypatch):
    trajectories = [Trajectory(name, "f", "openai", [Message(Speaker.USER, name)]) for name in ("a", "b")]
    monkeypatch.setattr(wing.evaluation, "trajectories_of", lambda bundle, logs: trajectories)
    task = wing.evaluation.examination([bundle("climb", 3)], [Path("log")], Path("out"))
    (samples,) = task.given[0].given
    assert [(sample.id, sample.metadata) for sample in samples] == [
        ("climb-3-0", {"trajectory": "a"}),
        ("climb-3-1", {"trajectory": "b"}),
    ]
    assert [told(message) for sample in samples for message in sample.input] == [("User", "a"), ("User", "b")]
    ran = []

    def run(bundle, log, folder, ask):
        ran.append((log.read_bytes(), folder))
        return finished(Verdict.FAIL)

    monkeypatch.setattr(wing.evaluation, "run_about", run)
    state = SimpleNamespace(sample_id="climb-3-1", model="mock/one", epoch=1, messages=["hello"], metadata={})
    asyncio.run(task.solver(state, None))
    ((log, folder),) = ran
    assert (b'"a"' in log, b'"b"' in log) == (False, True)
    assert (folder, state.messages) == (Path("out/climb-3-1-mock-one-1"), ["hello"])
    assert state.metadata["specledger"]["verdict"] == "FAIL"
