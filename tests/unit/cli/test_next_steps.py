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


@pytest.mark.medium
@pytest.mark.usefixtures("ran")
def test_what_to_do_instead_is_said(spec):
    for case, (words, hint) in HINTS.items():
        done = spec(*words)
        assert (done.status, done.out) == (2, ""), case
        assert hint in done.err, (case, done.err)


@pytest.mark.medium
def test_a_difference_in_a_long_text_is_seen(spec, project, edit):
    edit("climb.yaml", "doc: The", "doc: " + "very " * 400 + "good. The")
    spec("run", "climb.yaml", "--out", "a")
    edit("climb.yaml", "very good", "very bad")
    spec("run", "climb.yaml", "--out", "b")
    (found,) = spec("diff", "a", "b", "--format=json").json["specs"]
    assert ("good" in found["first"], "bad" in found["second"]) == (True, True)
