"""Wrong input of every sort: a code, a place where there is one, the right status, and never a traceback."""

import json
import re

import pytest

SCENARIO = "climb.yaml"


def replace(name, old, new):
    def change(folder):
        text = (folder / name).read_text(encoding="utf-8")
        assert old in text
        (folder / name).write_text(text.replace(old, new), encoding="utf-8")

    return change


def write(name, data):
    return lambda folder: (folder / name).write_bytes(data)


def write_scenario(name, **fields):
    """A gridworld scenario of its own."""
    base = {
        "spec": "scenario/v1",
        "name": name,
        "world": "governed-gridworld",
        "governor": "lexicographic",
        "agent": "greedy",
        "map": {"drawing": "S.\n.G"},
        "horizon": 2,
    }
    return write(f"{name}.yaml", json.dumps(base | fields).encode())


def nothing(folder):
    pass


# One of each layer that refuses; what each layer refuses is in its own tests.
SPECS = {
    "an unknown key": (replace(SCENARIO, "horizon: 3", "horizn: 3"), [SCENARIO], "E_SPEC_UNKNOWN_KEY", "climb.yaml:10:1"),
    "a missing reference": (replace(SCENARIO, "world: stairs", "world: stair"), [SCENARIO], "E_REF_MISSING", "climb.yaml:4:8"),
    "an expression of a wrong type": (replace("climber.yaml", "score: action.by", "score: action.by + 'x'"), [SCENARIO], "E_EXPR_TYPE", "climber.yaml:9:8"),
    "a negative budget": (nothing, ["simple", "--set", "world.with.budget=-1"], "E_PARAM_RANGE", "--set world.with.budget:1:19"),
    "a map without a start": (write_scenario("grid", map={"drawing": "..\n.G"}), ["grid.yaml"], "E_START_INCOMPLETE", "grid.yaml:1:"),
    "a file that is no UTF-8": (write(SCENARIO, b"spec: scenario/v1\nname: caf\xe9\n"), [SCENARIO], "E_YAML_ENCODING", "climb.yaml:2:10"),
    "a text that steers a terminal": (write(SCENARIO, b"spec: scenario/v1\nname: \x1b[31mred\n"), [SCENARIO], "E_YAML_CONTROL", "climb.yaml:2:7"),
    "a folder without anything to run": (lambda folder: (folder / "empty").mkdir(), ["./empty"], "E_CHECK_NONE", None),
    "a file that is not there": (nothing, ["nowhere.yaml"], "E_SPEC_FILE", None),
    "a change of nothing": (nothing, [SCENARIO, "--set", "horizn=3"], "E_SET_PATH", "--set horizn:1:1"),
}  # fmt: skip


@pytest.mark.parametrize("name", SPECS)
def test_a_wrong_spec(spec, project, name):
    change, words, code, place = SPECS[name]
    change(project)
    done = spec("run", *words, "--format", "json")
    assert done.status == 2
    found = [finding for finding in done.json["diagnostics"] if finding["code"].startswith(code)]
    assert found, done.json
    assert found[0]["message"]
    if place is not None:
        at = "{file}:{line}:{column}".format(**found[0])
        assert at.startswith(place)
        assert re.search(rf"^{re.escape(place)}.*error\[{code}", done.err, re.MULTILINE)
    assert "Traceback" not in done.err
    assert re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", done.out + done.err) is None
    assert not (project / "out").exists()


@pytest.mark.usefixtures("project")
def test_evidence_that_steers_a_terminal_is_shown_as_it_is(spec, project):
    spec("run", SCENARIO, "--out", "here")
    (project / "here" / "\x1b[2J\u202e\udcff").write_bytes(b"")
    done = spec("verify", "here")
    assert (done.status, done.err) == (1, "")
    assert "not listed: \\x1b[2J\\u202e\\udcff" in done.out
    message = spec("verify", "here", "--format", "json").json["checks"][1]["message"]
    assert message == "not listed: \x1b[2J\u202e\\udcff", "in JSON only what is no character is escaped twice"


USAGE = [
    ["run"],
    ["run", "--colour"],
    ["run", SCENARIO, "--seed", "x"],
    ["run", SCENARIO, "--format", "yaml"],
    ["explain", "E_NOTHING_OF_THIS_KIND"],
    ["schema", "galaxy"],
    ["\x1b[31m"],
]


@pytest.mark.usefixtures("project")
@pytest.mark.parametrize("words", USAGE, ids=" ".join)
def test_a_wrong_command_line(spec, words):
    done = spec(*words)
    assert (done.status, done.out) == (2, "")
    assert done.err.startswith("error[E_USAGE]: ")
    assert "`--help`" in done.err
    assert "\x1b" not in done.err


MENDS = {
    "a world to run": (["run", "ice"], "`ice` is of the kind world"),
    "a place that holds something else": (["run", SCENARIO, "--out", SCENARIO], "name another folder by --out"),
    "a key that is not there": (["run", SCENARIO, "--sign", "no.pem"], "`spec keys new no.pem`"),
    "a term that there is not": (["explain", "qwertz"], "`spec explain codes` and `spec explain kinds`"),
    "a shipped spec that is nearer than a kind": (["explain", "pursuits"], "did you mean pursuit?"),
    "a shard alone": (["merge", "one", "--out", "all"], "--shard 2/2 makes it"),
    "a shard twice": (["merge", "one", "one", "--out", "all"], "leave one of the two out"),
    "shards of two runs": (["merge", "one", "other", "--out", "all"], "with the same options"),
}


@pytest.mark.usefixtures("project")
@pytest.mark.parametrize(("words", "mend"), MENDS.values(), ids=MENDS)
def test_a_refusal_says_what_to_do(spec, words, mend):
    if words[0] == "merge":
        for out, shard, seed in (("one", "1/2", "1"), ("other", "2/2", "2")):
            done = spec("run", SCENARIO, "--episodes", "4", "--shard", shard, "--seed", seed, "--out", out)
            assert done.status == 0, done.err
    done = spec(*words)
    assert (done.status, done.out) == (2, "")
    assert mend in done.err.replace("\n", " ")


def test_a_name_that_is_no_text_can_be_said_in_json(spec, project):
    """A byte of a file's name that is no UTF-8 reaches Python as half of a surrogate pair."""
    done = spec("run", SCENARIO, "--out", "caf\udce9", "--format", "json")
    assert (done.status, done.json["runs"][0]["evidence"]) == (0, "caf\\udce9")
    assert (project / "caf\udce9" / "manifest.json").exists()
    assert spec("verify", "caf\udce9").status == 0
    done = spec("check", "caf\udce9.yaml", "--format", "json")
    assert done.codes == ["E_SPEC_FILE"]
    assert "caf\\udce9.yaml" in done.err


def test_an_option_is_shown_with_the_place_in_it(spec):
    done = spec("check", "scenario/two-tank", "--set", "horizn=3")
    assert "1 | horizn=3\n  | ^^^^^^\n" in done.err


def test_a_finding_in_a_referenced_file_names_the_reference(spec, tmp_path):
    (tmp_path / "world.yaml").write_text("spec: world/v1\nname: world\nstate: {n: itn}\nactions: {go: {}}\n")
    main = tmp_path / "main.yaml"
    lines = ["spec: scenario/v1", "name: main", "world: ./world.yaml", "governor: free-choice", "agent: greedy"]
    main.write_text("\n".join([*lines, "horizon: 5", ""]))
    done = spec("check", str(main))
    assert "world.yaml:3:12: error[E_DECLARATION]" in done.err
    assert f"note: used at {main}:3\n" in done.err


@pytest.fixture
def drafts(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, state in (("good", "{n: int}"), ("bad", "{n: itn}"), ("worse", "{n: boool}")):
        text = f"spec: world/v1\nname: {name}\nstate: {state}\nactions: {{go: {{}}}}\n"
        (tmp_path / f"{name}.yaml").write_text(text)
    (tmp_path / "ci.yaml").write_text("on: push\n")
    (tmp_path / "empty").mkdir()


@pytest.mark.usefixtures("drafts")
def test_a_folder_is_checked_whole_with_a_count(spec):
    done = spec("check", ".")
    assert done.status == 2
    assert done.out.endswith("checked 3 files: 1 ok, 2 with errors; skipped 1 YAML file without a spec\n")
    assert ("bad.yaml:3:12: error" in done.err, "worse.yaml:3:12: error" in done.err) == (True, True)
    assert spec("check", "good.yaml", "goo*.yaml").status == 0
    assert spec("check", ".", "--format=json").json["skipped"] == ["ci.yaml"]


@pytest.mark.usefixtures("drafts")
@pytest.mark.parametrize(
    ("words", "status"), [(["empty"], 3), (["x*.yaml"], 3), (["good.yaml", "x*.yaml"], 2)], ids=str
)
def test_checking_nothing_is_no_pass(spec, words, status):
    done = spec("check", *words)
    assert (done.status, "E_CHECK_NONE" in done.err) == (status, True)
