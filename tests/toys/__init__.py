"""Small specs for tests: `climb`, the smallest scenario; `small`, the smallest discovery; a world of one number."""

import copy
import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from specledger.compile.scenario import compile_scenario
from specledger.core.diagnostics import Rejected
from specledger.evidence.result import Tally
from specledger.kinds import load
from specledger.run.loop import run

ROOT = Path(__file__).parents[2]
CLIMB = Path(__file__).parent / "climb"
"""A scenario with a part, a drift, a rejection and a check. Variants of it are made by `--set`."""
SMALL = Path(__file__).parent / "small"
"""A discovery with a scripted model."""

NUMBER: dict[str, dict[str, Any]] = {
    "world": {
        "state": {"x": "int", "purse": "int"},
        "start": {"x": 0, "purse": 100},
        "inputs": {"price": "int"},
        "actions": {"add": {"args": {"n": "int"}, "effects": [{"set": "x", "to": "x + n"}], "outcome": {"was": "x"}}},
        "observe": {"x": "x"},
    },
    "agent": {"candidates": [{"op": "add", "for_each": {"n": "[1, 2, 3]"}}], "score": "action.n"},
    "governor": {"supply": {"price": "0"}, "gates": [], "choose": {"maximise": "proposal.score"}},
    "scenario": {"world": "world", "governor": "governor", "agent": "agent", "horizon": 4},
}
"""A world of one number: a document of each kind."""


FREE: dict[str, Any] = {"gates": [], "choose": {"maximise": "0"}}
"""A governor that admits everything and takes the first proposal."""


def documents_of(world, agent, governor=FREE, others=(), **scenario) -> dict[str, dict[str, Any]]:
    """A document of each kind for one step in a world; `others` by `kind/name`, keywords go into the scenario."""
    body = {"world": "world", "governor": "governor", "agent": "agent", "horizon": 1, **scenario}
    return {"world": world, "agent": agent, "governor": governor, "scenario": body, **dict(others)}


def findings_of(call, *args, code=None, words="", file="", **named):
    """The findings of a call that is rejected; with a code, one of them has it, these words and a place in this file."""
    with pytest.raises(Rejected) as rejected:
        call(*args, **named)
    found = rejected.value.diagnostics
    if code is not None:
        first = next((one for one in found if one.code == code), None)
        assert first is not None, found
        assert words in first.message
        assert file in str(first.span)
    return found


def told_of(call, *args, **named) -> list[str]:
    """What a rejected call says in full: of each finding the code, the text at its place, the message, what was
    expected and found, the hint, and what stands at related places."""
    return [in_full(finding) for finding in findings_of(call, *args, **named)]


def in_full(finding) -> str:
    """All that a finding says, its place as the text that stands there."""
    said = f"{finding.code} at `{_text_at(finding.span)}`: {finding.message}"
    for label in ("expected", "found", "hint"):
        if (words := getattr(finding, label)) is not None:
            said += f" | {label}: {words}"
    return said + "".join(f" | {words}: `{_text_at(span)}`" for words, span in finding.related)


def _text_at(span) -> str:
    """What stands at a span, to the end of its first line."""
    if span is None:
        return ""
    row = Path(span.file).read_text(encoding="utf-8").splitlines()[span.start.line - 1]
    return row[span.start.column - 1 : span.end.column - 1 if span.end.line == span.start.line else None]


def write_specs(folder: Path, documents: dict[str, dict[str, Any]]) -> Path:
    """Write specs by their kind, or `kind/name`, and return the file of the scenario that is named after its kind."""
    for key, document in documents.items():
        kind, _, name = key.partition("/")
        (folder / kind).mkdir(parents=True, exist_ok=True)
        whole = {"spec": f"{kind}/v1", "name": name or kind, **document}
        text = yaml.safe_dump(json.loads(json.dumps(whole)), sort_keys=False)  # nothing shared: no anchors
        (folder / kind / f"{name or kind}.yaml").write_text(text, encoding="utf-8")
    return folder / "scenario" / "scenario.yaml"


def compile_specs(folder: Path, documents: dict[str, dict[str, Any]]):
    """The compiled plan of a scenario that is written first."""
    return plan_of(write_specs(folder, documents))


def number_scenario(folder: Path, **changes: dict[str, Any]) -> Path:
    """Write the world of one number; keywords replace keys of one document, as in `governor={"gates": [...]}`,
    or leave them out, as in `scenario={"horizon": None}`."""
    documents = copy.deepcopy(NUMBER)
    for kind, change in changes.items():
        document = documents.setdefault(kind, {})
        document.update(change)
        documents[kind] = {key: value for key, value in document.items() if value is not None}
    return write_specs(folder, documents)


def plan_of(path, *settings):
    """The compiled plan of a scenario file."""
    return compile_scenario(load(str(path), set=list(settings))[0])


def followed(plan, events):
    """Each event of a run of one actor, with the state before it and after it, made again from the receipts."""
    state: Any = None
    proposals: list[Any] = []
    for event in events:
        body, before = event.body, state
        if event.type == "episode":
            state = copy.deepcopy(body["state"])
        elif event.type == "drift":
            state = state | {name: change["to"] for name, change in body["changed"].items()}
        elif event.type == "commit":
            proposals = body["proposals"]
        elif event.type == "step" and body["chosen"] is not None:
            action = proposals[body["chosen"]]["action"]
            state, _ = plan.actors[0].step(state, action["op"], action, body["inputs"])
        yield event, before, state


def bodies(plan, kind="step"):
    """The bodies of the events of a type, in a run of a plan."""
    return [event.body for event in run(plan) if event.type == kind]


def result(plan):
    """The result of a run of a plan."""
    tally = Tally()
    for event in run(plan):
        tally.add(event.type, event.body)
    return tally.result()


@cache
def shipped_plan(name, *settings):
    """The compiled plan of a shipped scenario, compiled once for each set of changes."""
    return plan_of(ROOT / "specs" / "scenario" / f"{name}.yaml", *settings)
