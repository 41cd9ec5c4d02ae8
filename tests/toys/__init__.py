"""Small specs for tests: `climb`, the smallest scenario; `small`, the smallest discovery; a world of one number."""

import copy
import json
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from specledger.compile.scenario import compile_scenario
from specledger.kinds import load

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
    """Write the world of one number; keywords replace keys of one document, as in `governor={"gates": [...]}`."""
    documents = copy.deepcopy(NUMBER)
    for kind, change in changes.items():
        documents.setdefault(kind, {}).update(change)
    return write_specs(folder, documents)


def plan_of(path, *settings):
    """The compiled plan of a scenario file."""
    return compile_scenario(load(str(path), set=list(settings))[0])


@cache
def shipped_plan(name, *settings):
    """The compiled plan of a shipped scenario, compiled once for each set of changes."""
    return plan_of(ROOT / "specs" / "scenario" / f"{name}.yaml", *settings)
