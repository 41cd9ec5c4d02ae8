"""The door of agents from outside, of live runs, and of audit logs."""

import pytest

pytestmark = pytest.mark.filterwarnings("ignore:.*use of fork:DeprecationWarning")  # a test runner may have threads

AGENT = """
def decide(message):
    if message["type"] != "decide":
        return {"type": "hello", "name": "north"} if message["type"] == "hello" else {"type": "ready"}
    return {"type": "proposals", "proposals": [{"action": {"op": "move", "dir": "N"}, "score": 0}]}
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "northward.py").write_text(AGENT, encoding="utf-8")
    (tmp_path / "north.yaml").write_text(
        "spec: agent/v1\nname: north\noutside: {python: 'northward:decide', deadline_ms: 20000}\n", encoding="utf-8"
    )
    (tmp_path / "walk.yaml").write_text(
        "spec: scenario/v1\nname: walk\nextends: toy-basic\nagent: north\nepisodes: 1\nhorizon: 3\n", encoding="utf-8"
    )
    (tmp_path / "judged.yaml").write_text(
        "spec: scenario/v1\nname: judged\nextends: axion-basic\ngovernor: patient\nepisodes: 1\nhorizon: 3\n",
        encoding="utf-8",
    )
    (tmp_path / "patient.yaml").write_text(  # a live run is timed, and this machine may be busy
        "spec: governor/v1\nname: patient\nextends: axion-kernel\nadmission: {watchdog_ms: 20000}\n", encoding="utf-8"
    )
    return tmp_path


@pytest.mark.medium
def test_an_agent_outside_runs_only_with_leave(spec, folder):
    refused = spec("run", "walk.yaml", "--out", "out", "--format", "json")
    assert (refused.status, refused.codes) == (2, ["E_AGENT_UNTRUSTED"])
    assert not (folder / "out").exists()
    shown = spec("run", "walk.yaml", "--out", "out")
    assert "north would execute northward:decide" in shown.err
    assert "--trust-agent" in shown.err
    allowed = spec("run", "walk.yaml", "--out", "out", "--trust-agent")
    assert (allowed.status, allowed.err) == (0, "")
    assert (folder / "out/tape.jsonl").is_file()
    assert spec("verify", "out").status == 0
    again = spec("run", "walk.yaml", "--out", "out", "--trust-agent")  # a bundle with a tape is a bundle
    assert again.status == 0


@pytest.mark.medium
def test_a_live_run_goes_on_with_the_log_beside_its_bundle(spec, folder):
    for count in (1, 2):
        done = spec("run", "judged.yaml", "--out", "out", "--live")
        assert done.status in (0, 3)
        assert done.err == ""
        assert len((folder / "out.audit.log.jsonl").read_bytes().splitlines()) == 6 * count
    log = folder / "out.audit.log.jsonl"
    log.write_bytes(log.read_bytes() + b'{"cap')
    done = spec("run", "judged.yaml", "--out", "out", "--live")
    assert "W_AUDIT_TORN" in done.err
    assert spec("verify", "out").status == 0
    assert spec("run", "walk.yaml", "--live", "--trust-agent", "--out", "other", "--format", "json").codes == ["E_LIVE"]
