"""The schemas of canonical lines and of results: what is written is valid, and other values are not."""

import json
from pathlib import Path

import jsonschema
import pytest
from msgspec.structs import fields

from specledger.core.diagnostics import Diagnostics
from specledger.kinds import load
from specledger.wings.trajectories.formats.compile import compile_format
from specledger.wings.trajectories.lines import write_lines
from specledger.wings.trajectories.model import Call, Finding, Kept, Message, Result, Trajectory
from specledger.wings.trajectories.reading import READERS, read_logs
from specledger.wings.trajectories.withholding import Withholding

ROOT = Path(__file__).parents[3]
LOGS = ROOT / "fixtures/trajectories"
DOCUMENT = json.loads((ROOT / "schemas/trajectories/line.schema.json").read_text(encoding="utf-8"))
SCHEMA = jsonschema.Draft202012Validator(DOCUMENT)


def valid(lines):
    return [json.loads(line) for line in lines if not SCHEMA.is_valid(json.loads(line))]


def test_it_is_a_schema():
    jsonschema.Draft202012Validator.check_schema(DOCUMENT)


@pytest.mark.parametrize("name", [name for name in READERS if name not in ("canonical", "inspect")])
def test_lines_of_each_reader_are_valid(name):
    files = sorted((LOGS / name).iterdir())
    lines = list(write_lines(read_logs(files)))
    assert len(lines) > 4
    assert valid(lines) == []
    withheld = map(Withholding(["arguments", "result"], b"0" * 32).apply, read_logs(files))
    assert valid(write_lines(withheld)) == []


@pytest.mark.parametrize("file", sorted(path.name for path in (LOGS / "formats").iterdir()))
def test_lines_of_each_format_are_valid(file):
    reader = compile_format(load(Path(file).stem, kind="format")[0].main, Diagnostics())
    assert valid(write_lines(read_logs([LOGS / "formats" / file], reader))) == []


@pytest.mark.parametrize("kind", [Message, Call, Result, Finding, Kept, Trajectory])
def test_it_names_each_field_of_the_model(kind):
    described = DOCUMENT["$defs"][kind.__name__.lower()]
    named = {field.name: field.required for field in fields(kind) if field.name != "entries"}
    assert set(described["properties"]) == set(named)
    assert set(described["required"]) == {name for name, required in named.items() if required}


WRONG = [
    {"format": "specledger/trajectories/v2"},
    {"call": {"id": "a"}},
    {"call": {"id": "a", "tool": "b", "batch": 0}},
    {"call": {"id": "a", "tool": "b", "arguments": 1.5}},
    {"call": {"id": "a", "tool": "b", "arguments": {"$number": 1}}},
    {"call": {"id": "a", "tool": "b", "arguments": {"x": {"$number": "one"}}}},
    {"call": {"id": "a", "tool": "b", "arguments": 2**53}},
    {"message": {"speaker": "tool", "text": "a"}},
    {"finding": {"code": "E_OTHER", "message": "a"}},
    {"end": -1},
    {"end": 1, "format": "specledger/trajectories/v1"},
    {"result": {"call": "a", "content": {"$withheld": "a"}}},
    [],
]


@pytest.mark.parametrize("line", WRONG, ids=json.dumps)
def test_what_is_no_line_is_not_valid(line):
    assert not SCHEMA.is_valid(line)


@pytest.mark.parametrize("more", [(), ("--mutants", "5"), ("--tools", str(LOGS / "atif/run.json"))])
def test_results_are_as_their_schemas_say(spec, tmp_path, more):
    schemas = {
        name: jsonschema.Draft202012Validator(json.loads((ROOT / f"schemas/results/{name}.schema.json").read_text()))
        for name in ("scan", "policy-diff")
    }
    start = (ROOT / "specs/new/policy/new-policy.yaml").read_text(encoding="utf-8")
    for name, text in (("old", start), ("new", start.replace("calls <= 40", "calls <= 0"))):
        (tmp_path / f"{name}.yaml").write_text(text, encoding="utf-8")
    logs = str(LOGS / "openai")
    (tmp_path / "broken.json").write_text('{"messages": [', encoding="utf-8")
    words = ["scan", logs, str(tmp_path / "broken.json"), "--policy", str(tmp_path / "new.yaml"), "--output", "json"]
    scanned = json.loads(spec(*words, *more).out)
    schemas["scan"].validate(scanned)
    assert scanned["unread"]
    assert scanned["rules"]["forty"]["breaches"]
    words = [str(tmp_path / "old.yaml"), str(tmp_path / "new.yaml"), "--logs", logs, "--format", "json"]
    compared = json.loads(spec("diff", *words).out)
    schemas["policy-diff"].validate(compared)
    assert compared["flips"]
    assert not schemas["scan"].is_valid(compared)
    assert not schemas["policy-diff"].is_valid({**compared, "same": 0})
