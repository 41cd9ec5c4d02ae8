"""How long texts of a spec may be, between what numbers lie, and what stands for a key that is left out."""

import pytest
from pydantic import TypeAdapter, ValidationError

from specledger.spec import (
    agent,
    base,
    governor,
    invariant,
    model,
    picture,
    profile,
    prompt,
    scenario,
    suite,
    types,
    world,
)

# name: (type, the longest text that it takes is so long, a text of a given length)
TEXTS = {
    "a word of a command": (agent.Word, 4096, "a".ljust),
    "an environment variable": (agent.Variable, 200, "A".ljust),
    "a pattern of logs": (agent.LogPattern, 1024, "a".ljust),
    "a tool": (agent.ToolName, 200, "a".ljust),
    "the name of a spec": (base.Name, 80, "a".ljust),
    "an identifier": (base.Identifier, 80, "a".ljust),
    "a path of fields": (base.FieldPath, 200, "a".ljust),
    "an id": (base.Id, 120, "a".ljust),
    "a reason": (base.Reason, 120, "a".ljust),
    "an expression": (base.Expression, 8192, "a".ljust),
    "a score": (base.Score, 8192, "a".ljust),
    "the variable of a key": (model.KeyVariable, 100, lambda length, fill: "A" * (length - 8) + "_API_KEY"),
    "the name of a model": (model.ModelName, 120, "a".ljust),
    "a line of a profile": (profile.Line, 1000, "a".ljust),
    "a test": (profile.CheckName, 300, lambda length, fill: "tests/a.py::".ljust(length, "a")),
    "a check of evidence": (profile.EvidenceName, 200, "a".ljust),
    "a type of receipts": (profile.ReceiptType, 40, "a".ljust),
    "words of a prompt": (prompt.Words, 65_536, "a".ljust),
    "a fact of a prompt": (prompt.Place, 120, "a".ljust),
    "a character of a map": (scenario.Character, 1, "a".ljust),
    "a path of a spec": (suite.SpecPath, 300, "a".ljust),
    "an arm": (suite.ArmName, 201, "a".ljust),
    "a trajectory": (suite.TrajectoryId, 1000, "a".ljust),
    "a type": (types.TypeName, 80, "a".ljust),
    "a line of a world": (world.Line, 400, "a".ljust),
    "a variable": (world.VariableName, 80, "a".ljust),
}


@pytest.mark.parametrize(("type_", "most", "text"), TEXTS.values(), ids=TEXTS)
def test_a_text_has_one_character_at_least_and_so_many_at_most(type_, most, text):
    reader = TypeAdapter(type_)
    longest = text(most, "a")
    assert reader.validate_python(longest) == longest
    for wrong in ("", text(most + 1, "a")):
        with pytest.raises(ValidationError):
            reader.validate_python(wrong)


def test_one_character_is_enough():
    for type_ in (agent.Word, agent.LogPattern, base.Name, base.Expression, base.Score, profile.Line, prompt.Words):
        assert TypeAdapter(type_).validate_python("a") == "a"
    for type_ in (scenario.Character, suite.SpecPath, suite.TrajectoryId, world.Line):
        assert TypeAdapter(type_).validate_python("a") == "a"


NUMBERS = {
    "a probability": (model.Probability, "0", "1", "0.000001"),
    "a temperature": (model.Temperature, "0", "2", "0.000001"),
    "an amount of money": (model.Money, "0", "1000000", "0.000001"),
    "the side of a map": (scenario.MapSize, 3, 256, 1),
    "a seed": (suite.Seed, 0, 2**53 - 1, 1),
}


@pytest.mark.parametrize(("type_", "least", "most", "step"), NUMBERS.values(), ids=NUMBERS)
def test_a_number_lies_between_two(type_, least, most, step):
    reader = TypeAdapter(type_)
    beyond = (least - 1, most + 1) if isinstance(step, int) else (f"-{step}", f"{most}{step[1:]}")
    for right in (least, most):
        reader.validate_python(right)
    for wrong in beyond:
        with pytest.raises(ValidationError):
            reader.validate_python(wrong)


@pytest.mark.parametrize(
    ("value", "fits"),
    [([0, 255], True), ([-1, 255], False), ([0, 256], False), ([0], False), ([0, 1, 2], False), ([7, 7], True)],
)
def test_some_columns_are_the_first_and_the_last(value, fits):
    reader = TypeAdapter(scenario.Part)
    if fits:
        assert reader.validate_python(value) == value
    else:
        with pytest.raises(ValidationError):
            reader.validate_python(value)


@pytest.mark.parametrize(("count", "fits"), [(0, False), (1, True), (4096, True), (4097, False)])
def test_a_list_to_draw_from_has_elements(count, fits):
    reader = TypeAdapter(world.Elements)
    if fits:
        assert len(reader.validate_python([1] * count)) == count
    else:
        with pytest.raises(ValidationError):
            reader.validate_python([1] * count)


@pytest.mark.parametrize(("value", "fits"), [(0, True), (-1, False)])
def test_a_list_may_have_no_elements_and_not_fewer(value, fits):
    if fits:
        assert types.Schema.model_validate({"type": "array", "maxItems": value}).max_items == value
    else:
        with pytest.raises(ValidationError):
            types.Schema.model_validate({"type": "array", "maxItems": value})


GRANT = {"allowed_ops": ["go"], "max_calls": 1, "per_ms": 1, "expiry_ms": 1}
SCENARIO = {"spec": "scenario/v1", "name": "a", "world": "a", "agent": "a", "governor": "a"}

# name: (model, the keys that it needs, what stands for others that are left out)
DEFAULTS = {
    "an agent": (
        agent.Agent,
        {"spec": "agent/v1", "name": "a", "candidates": [{"op": "go"}], "score": "0"},
        {"predicts": False, "candidates": [agent.Candidate(op="go")], "memory": None, "narration": None},
    ),
    "a candidate": (agent.Candidate, {"op": "go"}, {"when": "true", "for_each": {}}),
    "an explanation": (
        agent.Narration,
        {"vary": ["x"]},
        {"claims": 3, "steps": 1, "nonces": "fresh", "confidence": None, "by": None, "declares": None},
    ),
    "an agent from outside": (
        agent.Outside,
        {"command": ["a"]},
        {"deadline_ms": 200, "start_ms": 2_000, "environment": [], "deterministic": False, "prompt": None},
    ),
    "a model that is asked again": (
        agent.AskedAgain,
        {"model": "m", "prompt": "p"},
        {"deterministic": False, "tools": {}, "compare": {}},
    ),
    "an admission": (
        governor.Admission,
        {"document": "d", "env": "now", "vocabulary": "v"},
        {
            "counterfactuals": 3,
            "ms_per_tick": 100,
            "watchdog_ms": 200,
            "signature": "secret",
            "public": None,
            "key": None,
            "grants": {},
            "free": {},
        },
    ),
    "an invariant": (
        invariant.Invariant,
        {"spec": "invariant/v1", "name": "a", "require": "true"},
        {"scope": "step", "severity": "fatal", "when": "true", "after_fatal": "judged", "remember": [], "witness": {}},
    ),
    "a service": (
        model.Service,
        {},
        {
            "temperature": 700_000,
            "top_p": 950_000,
            "seed": None,
            "max_output_tokens": 8192,
            "json_mode": True,
            "deadline_ms": 60_000,
            "retries": 3,
            "per_minute": None,
            "concurrency": None,
            "key": None,
            "limits": model.Limits(tokens=None, money=None),
            "price": None,
        },
    ),
    "a Gemini model": (
        model.GeminiConfig,
        {},
        {"model": "gemini-2.5-flash", "api_version": "v1beta", "top_k": 40, "thinking_budget": None},
    ),
    "a model behind an endpoint": (
        model.OpenAIConfig,
        {"model": "m"},
        {
            "endpoint": None,
            "tokens_field": "max_completion_tokens",
            "tool_choice": "required",
            "reasoning_effort": None,
        },
    ),
    "a scripted text": (model.ScriptedText, {"text": "a"}, {"times": 1}),
    "scripted laws": (model.ScriptedLaws, {"laws": []}, {"times": 1}),
    "a scripted failure": (model.ScriptedFailure, {"failure": "empty"}, {"detail": "", "text": None}),
    "a script": (model.Script, {"answers": [{"text": "a"}]}, {"rules": [], "then": "exhausted"}),
    "a chart": (picture.Chart, {"of": "x"}, {"unit": 1}),
    "a maze": (scenario.Maze, {"maze": "."}, {"loops": 0}),
    "a limit of faults": (scenario.FaultLimit, {"most": 1}, {"most_in_episode": None, "then": "inconclusive"}),
    "a guard": (scenario.Guard, {}, {"fail": "closed", "deadline_ms": 2_000, "tools": "all"}),
    "a map": (scenario.Map, {"drawing": "."}, {"vary": "run", "generate": None}),
    "a scenario": (
        scenario.Scenario,
        SCENARIO,
        {
            "seed": 0,
            "episodes": 1,
            "counterexamples": 25,
            "horizon": None,
            "turns": "order",
            "commit": "proposals",
            "agent_faults": "inconclusive",
            "on_denied": "fatal",
        },
    ),
    "a figure": (
        suite.Figure,
        {"mean": "x"},
        {"at": 950_000, "clusters": "scenario", "along": "episode", "by": None, "over": None},
    ),
    "a check of a suite": (
        suite.Check,
        {"id": "a", "require": "true", "opportunities": "1"},
        {"least": 1, "witness": {}, "doc": None},
    ),
    "an action": (world.Action, {}, {"when": "true", "args": {}, "effects": [], "otherwise": [], "doc": None}),
    "an effect on elements": (
        world.EachEffect,
        {"each": "a", "as": "e", "update": {"n": "1"}},
        {"where": "true", "when": None},
    ),
}


@pytest.mark.parametrize(("kind", "needed", "left_out"), DEFAULTS.values(), ids=DEFAULTS)
def test_what_is_left_out_has_a_default(kind, needed, left_out):
    document = kind.model_validate(needed)
    assert {name: getattr(document, name) for name in left_out} == left_out


@pytest.mark.parametrize("key", ["agent", "governor"])
def test_one_agent_and_its_governor_are_needed(key):
    with pytest.raises(ValidationError) as error:
        scenario.Scenario.model_validate({name: value for name, value in SCENARIO.items() if name != key})
    assert [(one["loc"], one["type"]) for one in error.value.errors()] == [((key,), "missing")]


@pytest.mark.parametrize(
    ("value", "error"),
    [(1, "string"), (True, "string"), (None, "string")],
)
def test_values_are_not_coerced_between_types(value, error):
    with pytest.raises(ValidationError, match=error):
        model.ScriptedText.model_validate({"text": value})
    with pytest.raises(ValidationError, match="integer"):
        model.ScriptedText.model_validate({"text": "a", "times": "1"})


def test_a_document_cannot_be_changed():
    text = model.ScriptedText.model_validate({"text": "a"})
    with pytest.raises(ValidationError, match="frozen"):
        text.times = 2  # type: ignore[misc]


def test_a_key_with_another_name_has_only_that_name():
    with pytest.raises(ValidationError, match="max_items"):
        types.Schema.model_validate({"max_items": 3})


def test_the_keys_of_changes_come_last():
    assert suite.Overlay.keys_come_last
    assert not base.Model.keys_come_last
