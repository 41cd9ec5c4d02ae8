"""The commands of toy-pseudo-axion: what their options become, the files that they write, and their exit codes."""

import json
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import typer

from specledger.cli import document_commands

ROOT = Path(__file__).parents[3]


@pytest.fixture
def command(monkeypatch, capsys):
    """Run one of the commands in this process: its exit code, and what it printed and complained of."""
    monkeypatch.setattr("specledger.run.workers.available", lambda: 1)

    def run(name, *words):
        monkeypatch.setattr(sys, "argv", ["toy_pseudo_axion", name, *map(str, words)])
        capsys.readouterr()
        with pytest.raises(SystemExit) as left:
            document_commands.run_command()
        return (int(left.value.code or 0), *capsys.readouterr())

    return run


@pytest.fixture
def translated(command, monkeypatch, tmp_path):
    """The spec that a command runs, with its changes by their path."""
    calls = []
    monkeypatch.setattr(document_commands, "_run", lambda target, changes, *_, **__: calls.append((target, changes)))

    def translate(name, *words):
        assert command(name, "--out_dir", tmp_path / "new", *words)[0] == 0
        ((target, changes),) = calls
        return target, {path: json.loads(value) for path, _, value in (change.partition("=") for change in changes)}

    return translate


SCENARIOS = {
    "the document's options": (
        ["hazard", "--steps", "20", "--probe", "P5"],
        ("axion-hazard", {"agent": "honest", "horizon": 20, "probes": ["p5-causal"]}),
    ),
    "no probe": (["basic", "--probe", "none"], ("axion-basic", {"agent": "honest", "horizon": 50, "probes": []})),
    "all probes": (["social"], ("axion-social", {"agent": "honest", "horizon": 50})),
    "the document's own name of P5": (
        ["hazard", "--probe", "P5\N{PRIME}"],
        ("axion-hazard", {"agent": "honest", "horizon": 50, "probes": ["p5-causal"]}),
    ),
    "two names of one probe": (
        ["hazard", "--probe", "P5,P5'"],
        ("axion-hazard", {"agent": "honest", "horizon": 50, "probes": ["p5-causal"]}),
    ),
    "several probes, a scenario's own name": (
        ["axion-tools", "--probe", "P3,P4"],
        ("axion-tools", {"agent": "honest", "horizon": 50, "probes": ["p3-audit", "p4-bypass"]}),
    ),
}


@pytest.mark.parametrize(("words", "expected"), SCENARIOS.values(), ids=SCENARIOS)
def test_options_of_a_scenario(words, expected, translated):
    assert translated("run_scenario", "--agent", "honest", "--scenario", *words) == expected


M4 = ["--agents", "pseudo,honest", "--scenarios", "hazard,resource", "--probes", "P3,P4,P5,P6"]
SUITES = {
    "nothing": ([], "axion-m4"),
    "the options of M4": (M4, "axion-m4"),
    "the document's own name of P5": ([*M4[:-1], "P3,P4,P5',P6"], "axion-m4"),
    "other agents": (["--agents", "honest"], "axion-agents"),
    "other scenarios": (["--scenarios", "hazard"], "axion-agents"),
    "fewer probes": (["--probes", "P5"], "axion-agents"),
}


@pytest.mark.parametrize(("words", "suite"), SUITES.values(), ids=SUITES)
def test_only_the_acceptance_run_has_its_thresholds(words, suite, translated):
    assert translated("run_suite", *words)[0] == suite


def test_the_acceptance_command_changes_only_what_its_options_name(translated):
    changes = translated("run_suite", *M4, "--episodes", 2, "--steps", 9, "--seed", 7)[1]
    arm = {
        "scenarios": ["axion-hazard", "axion-resource"],
        "seeds": [7],
        "set": {"episodes": 2, "horizon": 9},
    }
    assert changes == {f"runs.{agent}.{part}": arm[part] for agent in ("honest", "pseudo") for part in arm}


@pytest.mark.slow  # with the mutants of the suite
def test_the_acceptance_command_passes(command, tmp_path):
    words = [*M4, "--episodes", 8, "--seed", 123, "--out_dir", tmp_path / "D"]
    status, said, _ = command("run_suite", *words)
    assert (status, said.split()[:2]) == (0, ["axion-m4", "PASS"])


@pytest.mark.medium
def test_the_acceptance_command_ends_as_its_thresholds_do(command, monkeypatch, tmp_path):
    def run_without_mutants(target, changes, *rest, run=document_commands._run, **named):
        run(target, [*changes, "mutants=[]"], *rest, **named)

    monkeypatch.setattr(document_commands, "_run", run_without_mutants)
    words = [*M4, "--episodes", 8, "--steps", 8, "--seed", 123, "--out_dir", tmp_path / "D"]
    status, said, _ = command("run_suite", *words)
    assert (status, said.split()[:2]) == (0, ["axion-m4", "PASS"])


def test_each_agent_is_an_arm(translated):
    words = ["--agents", "honest,two-faced", "--scenarios", "basic,social", "--probes", "P3,P5"]
    arm = {
        "scenarios": ["axion-basic", "axion-social"],
        "seeds": [7],
        "set": {"episodes": 3, "horizon": 9, "probes.p4-bypass": None, "probes.p6-token": None},
    }
    assert translated("run_suite", *words, "--episodes", 3, "--steps", 9, "--seed", 7)[1] == {
        "runs": {"honest": {**arm, "agent": "honest"}, "two_faced": {**arm, "agent": "two-faced"}}
    }


@pytest.mark.medium
def test_a_scenario_leaves_its_files_and_a_log_that_verifies(command, tmp_path):
    place = tmp_path / "D"
    words = ["--agent", "pseudo", "--scenario", "hazard", "--steps", 8, "--probe", "P3,P4,P6", "--out_dir", place]
    status, said, complained = command("run_scenario", *words)
    assert (status, complained) == (1, "")
    assert said.startswith("axion-hazard  FAIL")
    assert {path.name for path in place.iterdir()} == {"report.json", "audit.log.jsonl", "counterexamples", "evidence"}
    log = place / "audit.log.jsonl"
    assert log.read_bytes() == (place / "evidence" / "audit.log.jsonl").read_bytes()
    (run,) = json.loads((place / "report.json").read_text())["runs"]
    kept = [json.loads(path.read_text()) for path in (place / "counterexamples").iterdir()]
    assert len(kept) == run["counterexamples"]["failed_steps"] > 1
    assert all(each["state"] and each["proposal"] and each["trace"] and each["audit"] for each in kept)

    assert command("verify_audit", "--path", log)[0] == 0
    log.write_bytes(log.read_bytes().replace(b'"timestamp_ms":', b'"timestamp_ms":1', 1))
    status, said, _ = command("verify_audit", "--path", log)
    assert status == 2
    assert "E_AUDIT_CHAIN" in said

    status, _, complained = command("run_scenario", *words)
    assert status == 2
    assert "error[E_REPORT_PLACE]" in complained
    assert "--out_dir" in complained


@pytest.mark.medium
def test_a_suite_leaves_a_report_and_a_log_of_each_agent(command, tmp_path):
    words = ["--agents", "honest,pseudo", "--scenarios", "basic", "--probes", "P4", "--episodes", 2, "--steps", 2]
    status, said, complained = command("run_suite", *words, "--out_dir", tmp_path / "D")
    assert (status, complained) == (1, "")
    assert "FAIL  agents-pass" in said
    found = {path.name for path in (tmp_path / "D").iterdir()}
    of_agents = {
        name for agent in ("honest", "pseudo") for name in (f"report_{agent}.json", f"audit_{agent}.log.jsonl")
    }
    assert found == {"summary.json", "counterexamples", "evidence"} | of_agents
    for log in (tmp_path / "D").glob("audit_*.log.jsonl"):
        assert command("verify_audit", "--path", log)[0] == 0
    agents = json.loads((tmp_path / "D" / "summary.json").read_text())["agents"]
    assert {name: totals["passed"]["count"] for name, totals in agents.items()} == {"honest": 2, "pseudo": 0}


WRONG = {
    "no option": (["run_suite"], "E_USAGE"),
    "an unknown probe": (["run_scenario", "--agent", "a", "--scenario", "basic", "--probe", "P7"], "E_USAGE"),
    "an empty name": (["run_suite", "--agents", "honest,"], "E_USAGE"),
    "an unknown scenario": (["run_scenario", "--agent", "honest", "--scenario", "hazrad"], "E_REF_MISSING"),
    "an unknown agent": (["run_suite", "--agents", "hon est"], "E_REF_MISSING"),
    "no log": (["verify_audit", "--path", "nowhere.jsonl"], "E_AUDIT_NO_LOG"),
}


@pytest.mark.parametrize(("words", "code"), WRONG.values(), ids=WRONG)
def test_what_is_wrong_is_said_without_a_traceback(words, code, command, tmp_path):
    place = [] if words in (["run_suite"], WRONG["no log"][0]) else ["--out_dir", tmp_path / "new"]
    status, _, complained = command(*words, *place)
    assert status == 2
    assert f"error[{code}]" in complained
    assert "Traceback" not in complained
    assert not (tmp_path / "new").exists()


@pytest.mark.medium
@pytest.mark.parametrize("name", ["run_scenario", "run_suite", "verify_audit"])
def test_each_command_is_installed(name):
    scripts = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["scripts"]
    assert scripts["specledger"] == scripts["spec"]
    declared = scripts["toy_pseudo_axion"]
    module, _, function = declared.partition(":")
    code = f"import sys; sys.argv = ['toy_pseudo_axion', '{name}', '--help']; from {module} import {function}; {function}()"
    done = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True, timeout=120)
    assert (done.returncode, done.stderr) == (0, b"")
    assert f"Usage: toy_pseudo_axion {name} ".encode() in done.stdout


def test_a_change_that_is_no_json_is_refused_with_its_path():
    with pytest.raises(typer.BadParameter, match=r"^runs\.a cannot be written as JSON: "):
        document_commands._change("runs.a", float("nan"))
