"""The JSON output of every command follows its published schema."""

import json
import shutil
from pathlib import Path

import jsonschema
import pytest
from referencing import Registry, Resource

from specledger.cli.main import command_line

FOLDER = Path(__file__).parents[3] / "schemas" / "results"
SCHEMAS = {path.name.partition(".")[0]: json.loads(path.read_text(encoding="utf-8")) for path in FOLDER.glob("*.json")}
REGISTRY = Registry().with_resources((one["$id"], Resource.from_contents(one)) for one in SCHEMAS.values())

OUTPUTS = {
    "check": [["check", "."], ["check", "climb.yaml", "bad.yaml"]],
    "run": [
        ["run", "climb.yaml"],
        ["run", "climb.yaml", "--set", "agent.with.fear=2"],
        ["run", "new-law.yaml"],
        ["run", "stated-reasons", "--episodes", "1"],
    ],
    "golden": [["golden", "climb.yaml"], ["golden", "--update", "climb.yaml"], ["golden", "climb.yaml"]],
    "plan": [["plan", "climb.yaml", "hazard", "two-tank"]],
    "ls": [["ls"], ["ls", "world"]],
    "trace": [
        ["trace", "out/climb"],
        ["trace", "out/climb", "--step", "0:1"],
        ["trace", "out/climb", "--step", "1", "--field", "step.cost"],
        ["trace", "out/climb", "--field", "state.n"],
    ],
    "agent-check": [["agent", "check", "climber.yaml", "--scenario", "climb.yaml"]],
    "diff": [["diff", "out/climb", "out/climb"]],
    "verification": [
        ["verify", "out/climb"],
        ["verify", "out/climb", "--no-replay"],
        ["verify", "out/climb", "--against", "out/climb", "--level", "L1"],
        ["verify", "out/climb", "--judge"],
        ["verify", "out/climb", "--proof", "2"],
        ["verify", "--inclusion", "proof.json"],
        ["verify", "broken.log"],
        ["verify", "runs.log"],
        ["verify", "broken"],
    ],
    "verifications": [["verify", "out/climb", "out/climb"], ["verify", "out/climb", "nowhere"]],
    "report": [["report", "out/climb"]],
    "diagnostics": [
        ["run", "nowhere"],
        ["check", "climb.yaml", "--fly"],
        ["verify", "nowhere"],
        ["plan", "bad.yaml"],
        ["trace", "out/climb", "--field", "x"],
        ["diff", "out/climb", "nowhere"],
        ["ls", "worlds"],
        ["agent", "check", "climber.yaml"],
    ],
}


def check(name, document):
    jsonschema.Draft202012Validator(SCHEMAS[name], registry=REGISTRY).validate(document)


@pytest.fixture
def ran(spec, project):
    (project / "bad.yaml").write_text("spec: world/v1\nname: bad\nstate: {n: itn}\nactions: {go: {}}\n")
    (project / "other.yaml").write_text("on: push\n")
    assert spec("run", "climb.yaml", "--log", "runs.log").status == 0
    (project / "proof.json").write_text(spec("verify", "out/climb", "--proof", "3").out)
    (project / "broken.log").write_bytes(b'{"prev_entry_hash":1}\n')
    shutil.copytree(project / "out/climb", project / "broken")
    (project / "broken" / "specs.json").write_bytes(b"{}\n")
    assert spec("new", "law").status == 0
    return project


@pytest.mark.medium
@pytest.mark.usefixtures("ran")
def test_every_output_follows_its_schema(spec):
    for name, lines in OUTPUTS.items():
        for words in lines:
            done = spec(*words, "--format=json")
            check(name, done.json)


@pytest.mark.medium
@pytest.mark.usefixtures("ran")
def test_discoveries_and_resolved_specs_do_too(spec):
    check("run", spec("discover", "kinetic-enumerated", "--iterations", "1", "--workers", "1", "--format=json").json)
    check("show", spec("show", "climb.yaml").json)
    jsonschema.Draft7Validator.check_schema(spec("schema", "world").json)


def test_every_command_that_writes_json_is_in_the_table():
    told = {words[0] for lines in OUTPUTS.values() for words in lines} | {"discover"}
    app = command_line()
    made = {
        one.name for one in app.registered_commands if any("format" in name for name in one.callback.__annotations__)
    }
    assert made <= told
    assert {one.typer_instance.info.name for one in app.registered_groups if one.typer_instance} == {"agent", "keys"}


@pytest.mark.parametrize("name", SCHEMAS)
def test_a_schema_refuses_what_is_not_so(name):
    jsonschema.Draft202012Validator.check_schema(SCHEMAS[name])
    with pytest.raises(jsonschema.ValidationError):
        check(name, {})
