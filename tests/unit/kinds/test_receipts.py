"""The types of receipts: strict schemas follow from them, which every pinned receipt meets and no altered one does."""

import json
from functools import cache
from pathlib import Path
from typing import Any, get_args, is_typeddict

import jsonschema_rs
import pytest

from specledger.core.canonical import pretty
from specledger.core.docstrings import attributes_of
from specledger.core.typed_dicts import fields_of
from specledger.evidence.receipts.schemas import schema_of
from specledger.kinds import KINDS

ROOT = Path(__file__).resolve().parents[3]
FOLDERS = ("golden", "misbehaviour", "suites", "laws", "discovery", "tampered/bases", "guard")
RECEIPTS = KINDS.receipts()
TYPES = [(kind, type_) for kind, types in RECEIPTS.items() for type_ in types]
NAMES = {"scenario": "run", "suite": "suite", "law": "law", "discovery": "discovery"}


@cache
def validator(kind):
    return jsonschema_rs.Draft202012Validator(schema_of(kind, RECEIPTS[kind]))


@cache
def pinned():
    """The lines of every pinned run, suite, law and discovery, by kind."""
    lines: dict[str, list[dict[str, Any]]] = {kind: [] for kind in RECEIPTS}
    files = [path for folder in FOLDERS for path in sorted((ROOT / "fixtures" / folder).rglob("*.jsonl"))]
    for path in files:
        read = [json.loads(line) for line in path.read_bytes().splitlines()]
        if "type" in read[0]:  # the others are audit logs and tapes
            lines[next(kind for name, kind in NAMES.items() if name in read[0]["body"])] += read
    return lines


@cache
def example(kind, type_):
    return next(line for line in pinned()[kind] if line["type"] == type_)


@pytest.mark.parametrize("kind", RECEIPTS)
def test_the_files_are_those_that_the_types_give(kind):
    written = (ROOT / "schemas/receipts" / f"{kind}.schema.json").read_text(encoding="utf-8")
    command = f"spec schema receipts/{kind} > schemas/receipts/{kind}.schema.json"
    assert written == pretty(schema_of(kind, RECEIPTS[kind])), f"write it again: {command}"


def classes_in(class_, known):
    """A class of receipts and those that its fields hold."""
    if is_typeddict(class_) and class_ not in known:
        known.add(class_)
        for field in fields_of(class_).values():
            classes_in(field.type, known)
    for argument in get_args(class_):
        classes_in(argument, known)
    return known


@pytest.mark.parametrize("kind", RECEIPTS)
def test_docstrings_describe_exactly_the_fields_of_their_class(kind):
    classes = set().union(*(classes_in(class_, set()) for class_ in RECEIPTS[kind].values()))
    assert len(classes) > 4
    for class_ in classes:
        assert attributes_of(class_.__doc__).keys() == fields_of(class_).keys(), class_


def test_the_place_of_a_receipt_is_described_in_the_same_words():
    classes = set().union(*(classes_in(class_, set()) for class_ in RECEIPTS["run"].values()))
    texts = [(name, text) for class_ in classes for name, text in attributes_of(class_.__doc__).items()]
    assert {name: {text for other, text in texts if other == name} for name in ("episode", "t", "agent")} == {
        "episode": {"The episode, counted from 0."},
        "t": {"The step, counted from 0 in the episode."},
        "agent": {"The name of the agent, if there are several."},
    }


def test_there_are_no_other_files():
    assert {path.name for path in (ROOT / "schemas/receipts").iterdir()} == {f"{kind}.schema.json" for kind in RECEIPTS}


@pytest.mark.parametrize("kind", RECEIPTS)
def test_every_pinned_receipt_is_of_its_type(kind):
    lines = pinned()[kind]
    assert {line["type"] for line in lines} == set(RECEIPTS[kind])
    wrong = [(line["type"], error.message) for line in lines for error in validator(kind).iter_errors(line)]
    assert wrong[:5] == []


@pytest.mark.parametrize(("kind", "type_"), TYPES)
def test_a_receipt_without_a_field_is_not_of_its_type(kind, type_):
    line = example(kind, type_)
    required = [name for name, field in fields_of(RECEIPTS[kind][type_]).items() if not field.optional]
    assert required
    for name in required:
        body = {key: value for key, value in line["body"].items() if key != name}
        assert not validator(kind).is_valid({**line, "body": body}), name


@pytest.mark.parametrize(("kind", "type_"), TYPES)
def test_a_receipt_with_another_field_is_not_of_its_type(kind, type_):
    line = example(kind, type_)
    assert validator(kind).is_valid(line)
    assert not validator(kind).is_valid({**line, "body": {**line["body"], "more": 0}})


@pytest.mark.parametrize(
    ("kind", "type_", "change"),
    [
        ("run", "step", {"success": 1}),
        ("run", "step", {"violations": [{"invariant": "a", "severity": "grave", "witness": {}}]}),
        ("run", "step", {"decisions": [{"rejected": [], "error": "E_X"}]}),
        ("run", "episode_end", {"ended": "somehow"}),
        ("run", "probe", {"verdict": "MAYBE"}),
        ("run", "probe", {"evidence": {"taken": "no"}}),
        ("suite", "check", {"opportunities": "3"}),
        ("law", "end", {"status": "TRUE"}),
        ("discovery", "stop", {"reason": None}),
    ],
)
def test_a_receipt_with_a_wrong_value_is_not_of_its_type(kind, type_, change):
    line = example(kind, type_)
    assert not validator(kind).is_valid({**line, "body": {**line["body"], **change}})
