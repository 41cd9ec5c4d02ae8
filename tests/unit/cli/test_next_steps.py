"""What is said where people commonly go wrong after the first run: each message names what to do instead."""

import pytest

HINTS = {
    "a name beside its file": (["run", "evening"], "did you mean the file evening.yaml?"),
    "a spec that is verified": (["verify", "climb.yaml"], "run by `spec run climb.yaml`"),
    "a bundle with a misspelt name": (["verify", "out/clmb"], "did you mean `out/climb`?"),
    "a folder of bundles": (["report", "out", "--format", "html"], "there are bundles in it: `out/climb`"),
    "a folder of no bundle": (["trace", "empty"], "`spec run FILE --out DIR` writes a bundle"),
    "a trace of a suite": (["trace", "out/suite"], "spec trace out/suite/runs/plain.climb.1, the first of 2"),
    "a field without its receipt": (
        ["trace", "out/climb", "--field", "record.reached"],
        "did you mean `step.record.reached`?",
    ),
    "a misspelt field": (["trace", "out/climb", "--field", "step.recod"], "did you mean `step.record`?"),
    "a field of no receipt": (
        ["trace", "out/climb", "--step", "1", "--field", "x"],
        "begins with the type of a receipt",
    ),
    "a step that is none": (["trace", "out/climb", "--step", "one"], "no step such as 22 or 0:22"),
    "a step of another episode": (["trace", "out/climb", "--step", "1:0", "--episode", "0"], "is not in --episode 0"),
    "a world without a start": (["check", "pond.yaml"], "write `start: {level: ...}` in the world or in the scenario"),
}
SUITE = "spec: suite/v1\nname: suite\nruns: {plain: {scenarios: [climb], seeds: [1, 2]}}\nfigures: {reached: {rate: success}}\n"
POND = (
    "spec: world/v1\nname: water\nstate: {level: int}\nactions: {go: {}}\n",
    "spec: scenario/v1\nname: pond\nworld: water\nagent: {use: climber}\ngovernor: free-choice\nhorizon: 1\n",
)


@pytest.fixture
def ran(spec, project):
    (project / "evening.yaml").write_text((project / "climb.yaml").read_text().replace("name: climb", "name: evening"))
    (project / "suite.yaml").write_text(SUITE)
    (project / "water.yaml").write_text(POND[0])
    (project / "pond.yaml").write_text(POND[1])
    (project / "empty").mkdir()
    spec("run", "climb.yaml", "suite.yaml", "--workers", "1")
    return project


@pytest.mark.usefixtures("ran")
def test_what_to_do_instead_is_said(spec):
    for case, (words, hint) in HINTS.items():
        done = spec(*words)
        assert (done.status, done.out) == (2, ""), case
        assert hint in done.err, (case, done.err)


@pytest.mark.usefixtures("ran")
def test_the_state_after_a_step_is_shown(spec):
    lines = spec("trace", "out/climb", "--episode", "0", "--field", "state.n").out.splitlines()
    assert [line.split() for line in lines] == [["0:0", "1"], ["0:1", "2"], ["0:2", "3"]], lines
    whole = spec("trace", "out/climb", "--step", "0:1", "--format=json").json["step"]
    assert (whole[-1]["type"], whole[-1]["body"]["n"]) == ("state", 2)
    assert "state  after receipt" in spec("trace", "out/climb", "--step", "1").out
    assert spec("trace", "out/climb", "--step", "0:1", "--field", "state.n").out == "2\n"


@pytest.mark.usefixtures("ran")
def test_a_drift_is_named_once(spec):
    (line, *_) = (line for line in spec("trace", "out/climb").out.splitlines() if "drift" in line)
    assert line.split()[1:3] == ["drift", "shift"]


def test_an_error_of_a_run_says_where_its_expression_is(spec, project, edit):
    edit("climber.yaml", "score: action.by", "score: 1 / (action.by - action.by)")
    done = spec("run", "climb.yaml")
    assert done.status == 4
    assert "(climber.yaml:9:8)" in done.out


def test_a_difference_in_a_long_text_is_seen(spec, project, edit):
    edit("climb.yaml", "doc: The", "doc: " + "very " * 400 + "good. The")
    spec("run", "climb.yaml", "--out", "a")
    edit("climb.yaml", "very good", "very bad")
    spec("run", "climb.yaml", "--out", "b")
    (found,) = spec("diff", "a", "b", "--format=json").json["specs"]
    assert ("good" in found["first"], "bad" in found["second"]) == (True, True)
