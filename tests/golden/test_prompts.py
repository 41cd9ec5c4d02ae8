"""The texts of the shipped prompts are the snapshots in `fixtures/prompts`."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from specledger.kinds import load
from specledger.lang.choices import Choices
from specledger.oracles.decision_prompt import DecisionPrompt
from specledger.spec.agent import AskedAgain
from specledger.spec.prompt import Prompt
from specledger.wings.challenges.transcript import before, sentences
from specledger.wings.challenges.wording import Wording
from specledger.wings.discovery.prompt import PromptBuilder, ProposalRequest, compile_prompt
from specledger.wings.trajectories.model import Call, Entry, Message, Result, Speaker
from tests.pins import file_in
from tests.wings.discovery import shipped

FOLDER = Path("fixtures/prompts")
PROMPTS = sorted(path.stem for path in Path("specs/prompt").glob("*.yaml"))
LISTS = ("accepted_laws", "falsified_laws", "unknown_laws", "counterexamples")


def written(name):
    """A prompt with three entries of each list: enough to see how they are written."""
    spec = load(f"specs/prompt/{name}.yaml")[0].main
    assert isinstance(spec.model, Prompt)
    if spec.model.about == "decisions":
        return decided(spec.model)
    if spec.model.about == "calls":
        return called(spec.model)
    remembered = shipped.snapshot()
    few = replace(remembered, **{each: getattr(remembered, each)[:3] for each in LISTS})
    told = PromptBuilder(compile_prompt(spec, shipped.universe()[1], shipped.offered(), 42, 8000)).build(
        few, ProposalRequest(exclude_templates=("monotone",))
    )
    return "".join(f"=== {part} ===\n{getattr(told, part)}" for part in ("system", "static", "dynamic"))


def decided(prompt):
    """A prompt about decisions, asked about a small observation and with an offer."""
    operations = [
        {"op": "move", "args": {"dir": ["N", "E"]}, "doc": "go one cell"},
        {"op": "pickup", "args": {"id": "string"}},
    ]
    told = {
        "scenario": "somewhere",
        "operations": operations,
        "variables": {
            "self.pos": {"type": {}, "doc": "the cell of `self`", "value": {"x": 1, "y": 2}},
            "hazards.at": {"type": {}, "doc": "", "value": []},
        },
        "counterfactuals": 3,
    }
    choices = {
        "move": Choices(("move:N", "move:E"), listed=True),
        "pickup": Choices(("pickup:<id>",), listed=False),
    }
    made = DecisionPrompt(prompt, ["IF <variable> <direction> THEN CHOICE <choice>"], told, choices)
    denied = [{"gate": "axion-i3", "reason": "broken", "doc": "There is a record."}]
    seen = {"self": {"x": 1, "y": 2}}
    text = made.text({"observation": seen, "offer": {"text": "It saves 5 energy."}, "denied": denied})
    return f"=== system ===\n{made.system}=== question ===\n{text}"


def called(prompt):
    """A prompt about calls, asked about the second call of a small log, and for the reasons of that."""
    asked = AskedAgain(model="m", prompt="p", tools={"ask": "Asks the owner."})
    second = Call("2", "pay", {"to": "Alice"}, batch=1)
    log: list[Entry] = [
        Message(Speaker.USER, "Pay the bill. Be quick."),
        Call("1", "look", {"id": 7}),
        Result("1", "A bill of Alice.\nThe sum is 250."),
        second,
    ]
    told = sentences(before(log, second))
    assert told is not None
    words, texts = Wording(asked, prompt, log), {line.id: line.text for line in told}
    why = words.why(told, texts, {"choice": "pay", "arguments": {"to": "Alice"}})
    question = words.question(told, texts)
    return f"=== system ===\n{words.system}=== question ===\n{question}=== reasons ===\n{why.removeprefix(question)}"


@pytest.mark.parametrize("name", PROMPTS)
def test_a_prompt_is_the_pinned_one(name, snapshot):
    assert written(name) == snapshot(name=name, extension_class=file_in(FOLDER, "txt"))


def test_nothing_else_is_pinned():
    assert {path.name for path in FOLDER.iterdir()} == {f"{name}.txt" for name in PROMPTS}
