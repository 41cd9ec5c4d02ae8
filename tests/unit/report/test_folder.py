"""The folder of files that a report makes: where it may be, and what it holds of a run without a kernel."""

import json

import pytest

from specledger.core.diagnostics import Rejected
from specledger.core.verdict import Exit
from specledger.kinds import load
from specledger.pipeline.executing import execute
from specledger.report.agent_metrics import RunMetrics
from specledger.report.formats import FORMATS
from specledger.report.formats.output import Options
from tests.unit.report.rendering import report_of


@pytest.mark.medium
def test_the_files_are_written_as_they_are_made(spec, heights, tmp_path):
    done = spec("report", heights, "--format", "folder", "--out", tmp_path / "new" / "files")
    assert (done.status, done.err) == (Exit.CONFORMS, "")
    made = FORMATS["folder"].write(report_of(heights)).files
    written = {
        path.relative_to(tmp_path / "new/files").as_posix(): path for path in tmp_path.rglob("*") if path.is_file()
    }
    assert {name: path.read_bytes() for name, path in written.items()} == made


@pytest.mark.medium
def test_the_summary_says_whether_the_runs_were_replayed(spec, heights, tmp_path):
    for number, (options, words) in enumerate([((), "not replayed"), (("--replay",), "replayed")]):
        spec("report", heights, "--format", "folder", "--out", tmp_path / str(number), *options)
        assert json.loads((tmp_path / str(number) / "summary.json").read_text())["replay"] == words


def test_without_a_kernel_there_is_no_log_and_nothing_to_pass(trap):
    made = FORMATS["folder"].write(report_of(trap)).files
    (name,) = (path for path in made if path.startswith("report_"))
    assert not any(path.startswith("audit_") for path in made)
    report = json.loads(made[name])
    assert report["total"]["passed"] == {"count": 0, "of": 0, "value": None, "wilson": None}
    assert {episode["passed"] for episode in report["episodes"]} == {None}


@pytest.mark.parametrize("place", ["nowhere", "full", "file", "bundle"])
def test_other_places_are_refused(place, spec, heights, tmp_path):
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine.txt").write_text("mine")
    (tmp_path / "file").write_text("mine")
    words = [] if place == "nowhere" else ["--out", heights / "files" if place == "bundle" else tmp_path / place]
    done = spec("report", heights, "--format", "folder", *words)
    assert (done.status, "error[E_REPORT_PLACE]" in done.err) == (Exit.INVALID, True)
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["file", "full", "mine.txt"]
    assert not (heights / "files").exists()


def test_receipts_of_another_form_are_said_to_be_so(trap, monkeypatch):
    def misread(account, type_, body):
        raise KeyError(type_)

    report = report_of(trap)
    monkeypatch.setattr(RunMetrics, "add", misread)
    with pytest.raises(Rejected, match="E_REPORT_RECEIPTS"):
        FORMATS["folder"].write(report)


def test_a_step_that_an_error_ended_is_a_counterexample():
    account = RunMetrics("run", "scenario", [], 1)
    account.add("episode", {"episode": 0})
    account.add("commit", {"proposals": [{"document": "no document"}]})
    account.add("error", {"episode": 0, "t": 3, "code": "E_SOMETHING", "expression": None})
    (found,) = account.counterexamples
    assert (found["t"], found["error"], found["proposal"], found["state"]) == (3, "E_SOMETHING", "no document", None)
    assert account.failed == 1


@pytest.mark.medium
@pytest.mark.parametrize(("most", "kept"), [(0, 0), (1, 1), (100, 3)])
def test_a_scenario_says_how_many_counterexamples_are_kept(most, kept, tmp_path):
    sets = ["agent=pseudo", "horizon=20", "probes.p5-causal=null", f"counterexamples={most}"]
    bundle = load("axion-hazard", kind="scenario", set=sets)[0]
    made = FORMATS["folder"].write(report_of(execute(bundle, tmp_path / "run").place)).files
    assert sum(path.startswith("counterexamples/") for path in made) == kept
    assert json.loads(made["summary.json"])["most_counterexamples"] == most
    (run,) = json.loads(made["report_pseudo.json"])["runs"]
    assert run["counterexamples"] == {"failed_steps": 3, "kept": kept}


def test_a_whole_folder_holds_every_counterexample_and_says_no_bound(tmp_path):
    sets = ["agent=pseudo", "horizon=20", "probes.p5-causal=null", "counterexamples=1"]
    bundle = load("axion-hazard", kind="scenario", set=sets)[0]
    report = report_of(execute(bundle, tmp_path / "run").place)
    made = FORMATS["folder"].write(report, Options(whole=True)).files
    assert sum(path.startswith("counterexamples/") for path in made) == 3
    assert json.loads(made["summary.json"])["most_counterexamples"] is None
