"""`spec run --log` and `spec verify --log`: announced before, entered after, also where no result came."""

import json

import pytest

from tests import toys

SMALL = toys.SMALL / "small.yaml"


@pytest.fixture
def entries(tmp_path):
    """The type and body of each line of the log."""

    def read():
        lines = (tmp_path / "log").read_bytes().splitlines()
        return [(line["type"], line["body"]) for line in map(json.loads, lines)]

    return read


def test_a_run_is_announced_and_entered_and_verify_tells_which_attempt_it_is(spec, climb, tmp_path, entries):
    run = ["run", climb, "--log", tmp_path / "log"]
    assert spec(*run, "--out", tmp_path / "one", "--set", "governor.with.stamina=2").status == 1
    assert spec(*run, "--out", tmp_path / "two", "--purpose", "a release").status == 0
    types = [type_ for type_, _ in entries()]
    assert types == ["log", "attempt", "result", "attempt", "result"]
    assert entries()[3][1]["purpose"] == "a release"
    done = spec("verify", tmp_path / "two", "--log", tmp_path / "log")
    assert done.status == 0
    assert "attempt 2 of 2 of scenario climb" in done.out
    assert "FAIL in line 1" in done.out
    other = spec("verify", tmp_path / "two", "--log", tmp_path / "log", "--log-head", "0" * 64)
    assert (other.status, "E_RUNLOG_REWRITTEN" in other.out) == (1, True)


def test_what_was_announced_is_run_though_its_evidence_is_there(spec, climb, tmp_path):
    run = ["run", climb, "--resume", "--out", tmp_path / "one"]
    outcomes = [spec(*run, *more) for more in ([], [], ["--log", tmp_path / "log"])]
    assert ["nothing was run" in done.err for done in outcomes] == [False, True, False]
    assert spec("verify", tmp_path / "one", "--log", tmp_path / "log").status == 0


@pytest.mark.medium
def test_a_run_that_came_to_nothing_stays_an_attempt(spec, climb, tmp_path, entries):
    (tmp_path / "foreign").mkdir()
    (tmp_path / "foreign" / "letter").write_text("x")
    run = ["run", climb, "--log", tmp_path / "log", "--out"]
    assert spec(*run, tmp_path / "foreign").status == 2
    assert [type_ for type_, _ in entries()] == ["log", "attempt"]
    assert spec(*run, tmp_path / "one").status == 0
    assert "1 without a result, in line 1" in spec("verify", tmp_path / "one", "--log", tmp_path / "log").out


def test_what_cannot_be_announced_is_not_run(spec, climb, tmp_path):
    (tmp_path / "log").write_text("no log\n")
    done = spec("run", climb, "--log", tmp_path / "log", "--out", tmp_path / "one")
    assert (done.status, "E_RUNLOG" in done.err) == (2, True)
    assert not (tmp_path / "one").exists()


def test_a_suite_is_announced_with_the_seeds_of_all_its_runs(spec, project, tmp_path, entries):
    (project / "heights.yaml").write_text(
        "spec: suite/v1\nname: heights\nruns: {a: {scenarios: [climb], seeds: [3, 4]}, b: {scenarios: [climb], seeds: [9]}}\n"
        "measures: {high: 'steps.map(s, s.record.reached)'}\nfigures: {top: {greatest: high}}\n"
        "checks: [{id: climbs, require: top.value > 2, opportunities: top.of}]\n"
    )
    assert (
        spec("run", "heights.yaml", "--workers", "1", "--log", tmp_path / "log", "--out", tmp_path / "one").status == 0
    )
    assert entries()[1][1]["seeds"] == [3, 4, 9]
    assert spec("verify", tmp_path / "one", "--workers", "1", "--log", tmp_path / "log").status == 0


def test_a_log_is_verified_alone(spec, climb, tmp_path):
    log = tmp_path / "log"
    spec("run", climb, "--log", log, "--purpose", "a release", "--out", tmp_path / "one")
    done = spec("verify", log, "--format", "json")
    (attempt,) = done.json["facts"]["runlog"]["attempts"]
    assert (done.status, attempt["name"], attempt["purpose"], attempt["verdict"]) == (0, "climb", "a release", "PASS")
    head = done.json["facts"]["runlog"]["head"]
    assert f"head {head}" in spec("verify", log).out
    assert spec("verify", log, "--log-head", head).status == 0
    assert spec("verify", log, "--log-head", "0" * 64).status == 1
    log.write_bytes(log.read_bytes().replace(b"climb", b"clamb"))
    done = spec("verify", log)
    assert (done.status, "[E_RUNLOG]" in done.out) == (1, True)


@pytest.mark.medium
@pytest.mark.parametrize("command", ["run", "discover"])
def test_a_discovery_is_announced_and_entered(spec, tmp_path, entries, command):
    words = ["--workers", "1", "--log", tmp_path / "log", "--purpose", "a look", "--out", tmp_path / "one"]
    assert spec(command, SMALL, *words).status == 0
    assert [type_ for type_, _ in entries()] == ["log", "attempt", "result"]
    assert (entries()[1][1]["kind"], entries()[1][1]["purpose"]) == ("discovery", "a look")
    assert spec("verify", tmp_path / "one", "--workers", "1", "--log", tmp_path / "log").status == 0


UNUSED = {
    "a purpose without a log": ["run", "CLIMB", "--purpose", "x"],
    "a purpose of a discovery without a log": ["discover", SMALL, "--purpose", "x"],
    "a head without a log": ["verify", "BUNDLE", "--log-head", "0" * 64],
    "a log for an inclusion proof": ["verify", "BUNDLE", "--inclusion", "--log", "log"],
    "a judge for an inclusion proof": ["verify", "BUNDLE", "--inclusion", "--judge"],
}


@pytest.mark.parametrize("words", UNUSED.values(), ids=UNUSED)
def test_an_option_that_would_say_nothing_is_refused(spec, climb, tmp_path, words):
    done = spec(*({"CLIMB": climb, "BUNDLE": tmp_path}.get(str(word), word) for word in words))
    assert (done.status, "E_USAGE" in done.err) == (2, True)


def test_signatures_that_a_run_replaces_by_none_are_missed_aloud(spec, climb, tmp_path):
    key, place = tmp_path / "key.pem", tmp_path / "one"
    spec("keys", "new", key)
    assert "W_COVER_LOST" not in spec("run", climb, "--sign", key, "--out", place).err
    assert "W_COVER_LOST" not in spec("run", climb, "--sign", key, "--out", place).err
    done = spec("run", climb, "--out", place, "--format", "json")
    assert (done.status, "W_COVER_LOST" in done.err, "attestation.dsse.json" in done.err) == (0, True, True)
    assert "W_COVER_LOST" not in spec("run", climb, "--out", place).err
