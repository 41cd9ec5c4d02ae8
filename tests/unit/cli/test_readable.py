"""What commands print is for people: short digests, lines that fit, figures in units, and a page with a name."""

import io
import os
import re
import subprocess
import sys

import pytest

from specledger.cli import output
from specledger.cli.output import fitted
from specledger.cli.report import page_beside

DIGEST = re.compile(r"\b[0-9a-f]{64}\b")


@pytest.fixture
def evidence(spec, climb, tmp_path):
    assert spec("run", climb, "-o", tmp_path / "here").status == 0
    return tmp_path / "here"


@pytest.mark.parametrize(
    "words",
    [
        ("run", "{climb}", "--out", "{tmp}/again"),
        ("check", "{climb}"),
        ("plan", "{climb}"),
        ("verify", "{bundle}"),
        ("trace", "{bundle}", "--step", "0:1"),
    ],
    ids=lambda words: words[0],
)
def test_only_what_readers_compare_is_a_whole_digest_unless_others_are_asked_for(
    words, spec, climb, evidence, tmp_path
):
    given = [word.format(climb=climb, tmp=tmp_path, bundle=evidence) for word in words]
    done = spec(*given)
    lines = [line for line in done.out.splitlines() if not re.match("to compare|  specs ", line)]
    assert (done.status, DIGEST.findall("\n".join(lines))) == (0, [])
    assert "\u2026" in done.out
    assert DIGEST.search(spec(*given, "--verbose").out)


def test_a_failed_check_names_whole_digests(spec, evidence):
    receipts = evidence / "receipts.jsonl"
    receipts.write_bytes(receipts.read_bytes().replace(b'"t":1', b'"t":2', 1))
    done = spec("verify", evidence)
    assert done.status == 1
    assert DIGEST.search(done.out)


def test_a_step_is_told_in_words(spec, evidence):
    lines = spec("trace", evidence, "--step", "0:1").out.splitlines()
    heads = [line.split()[0] for line in lines if line and not line.startswith(" ")]
    assert heads == ["drift", "commit", "step", "state", "digests"]
    assert any(re.fullmatch(r"  cost: .*total \d+(\.\d+)?", line) for line in lines)
    assert not any(mark in line for line in lines for mark in '{}"')


def test_a_missing_episode_says_how_many_there_are(spec, evidence):
    for words in (("--episode", "9"), ("--step", "9:0")):
        done = spec("trace", evidence, *words)
        assert (done.status, "the episodes 0 to 1" in done.err) == (2, True)
    done = spec("trace", evidence, "--step", "0:99")
    assert "it has the steps 0 to " in done.err


@pytest.mark.medium
def test_a_page_without_a_file_is_written_beside_the_bundle_and_named(spec, evidence, monkeypatch):
    monkeypatch.chdir(evidence.parent)
    done = spec("report", "here", "--format", "html")
    assert (done.status, done.out) == (0, "wrote here.html\n")
    page = evidence.with_name("here.html").read_text()
    assert page.startswith("<!doctype html>")
    assert spec("report", "here", "--format", "html", "-o", "-").out == page
    assert spec("report", "here", "--format", "html", "-o", "other.html").out == ""
    assert (evidence.parent / "other.html").read_text() == page
    assert spec("verify", "here").status == 0


def test_thepage_beside_a_run_of_a_suite_is_not_written_into_the_suite(evidence):
    assert page_beside(evidence / "runs" / "one") == evidence.with_name("one.html").resolve()
    assert page_beside(evidence) == evidence.with_name("here.html").resolve()


def test_lines_fit_the_terminal(monkeypatch):
    monkeypatch.setattr(output, "columns", lambda: 40)
    row = "    PASS  short  a text that has more words than fit on this line"
    folded = fitted(f"head\n{row}").split("\n")
    assert folded == [
        "head",
        "    PASS  short  a text that has more",
        "                 words than fit on this",
        "                 line",
    ]
    late = "  a first column of 24 character  another that is cut here"  # its last column begins beyond the half
    assert fitted(late).split("\n") == ["  a first column of 24 character", "    another that is cut here"]
    assert fitted("  names: " + ", ".join(["name"] * 9)).split("\n")[1].startswith("    name")
    assert fitted("  " + "x" * 60) == "  " + "x" * 60
    monkeypatch.setattr(output, "columns", lambda: None)
    assert fitted(row) == row


@pytest.mark.parametrize(
    ("screen", "variable", "width"),
    [(False, None, None), (False, "wide", None), (False, "100", 100), (True, "100", 100)],
    ids=["a pipe", "a pipe and no number", "a pipe as wide as asked", "a terminal as wide as asked"],
)
def test_a_pipe_has_a_width_only_if_one_is_set(screen, variable, width, monkeypatch):
    stream = io.StringIO()
    monkeypatch.setattr(stream, "isatty", lambda: screen)
    monkeypatch.setattr(sys, "stdout", stream)
    if variable is not None:
        monkeypatch.setenv("COLUMNS", variable)
    assert output.columns() == width


def test_tests_give_commands_no_width():
    shown = subprocess.run(
        [sys.executable, "-c", "import os; print(os.environ.get('COLUMNS'))"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert shown.stdout.strip() == "None"
    assert "COLUMNS" not in os.environ


def test_a_list_of_specs_fits_the_terminal(spec, monkeypatch):
    monkeypatch.setattr("specledger.cli.authoring.columns", lambda: 60)
    assert max(map(len, spec("ls", "world").out.splitlines())) <= 60


EXPLAINED = {
    "p5-causal": "probe p5-causal (Challenges the reasons that an agent states",
    "goal-drift": "drift goal-drift (Every N steps",
    "agent.params": "agent.params\n  value: ",
    "horizon": "scenario.horizon: an integer, at least 1",
    "probes": "scenario.probes: ",
    "scenario.matrix": "scenario.matrix\n  value: ",
    "world.extends": "world.extends\n  value: ",
    "suite.use": "suite.use\n  value: ",
}


@pytest.mark.parametrize("name", EXPLAINED)
def test_names_of_specs_and_keys_of_every_kind_are_explained(name, spec):
    done = spec("explain", name)
    assert (done.status, done.out.startswith(EXPLAINED[name])) == (0, True)


def test_a_misspelt_spec_is_suggested(spec):
    assert "did you mean p5-causal?" in spec("explain", "p5-casual").err


WIDE = (
    "p5-causal",
    "lexicographic",
    "agent.params",
    "scenario.horizon",
    "kinds",
    "codes",
    "E_ADMISSION",
    "gate",
    "world",
)


@pytest.mark.parametrize("name", WIDE)
def test_explanations_fit_a_narrow_terminal(name, spec, monkeypatch):
    monkeypatch.setenv("COLUMNS", "60")
    text = spec("explain", name).out.split("Example:")[0]
    assert [line for line in text.splitlines() if len(line) > 60] == []


@pytest.mark.parametrize("words", [("verify",), ("trace", "--step", "0:1")], ids=lambda words: words[0])
@pytest.mark.parametrize("width", [60, 100])
def test_lines_about_evidence_fit_the_terminal(words, width, spec, evidence, monkeypatch):
    monkeypatch.setenv("COLUMNS", str(width))
    monkeypatch.chdir(evidence.parent)
    lines = spec(words[0], evidence.name, *words[1:]).out.splitlines()
    assert lines
    assert [line for line in lines if len(line) > width and not DIGEST.search(line)] == []


@pytest.mark.medium
def test_a_plan_leaves_out_what_the_name_of_a_run_says(spec, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    lines = spec("plan", "axion-m4").out.splitlines()
    assert lines[3].split() == ["run", "episodes", "horizon", "most", "steps"]
    assert lines[4].split() == ["honest.axion-hazard.240917", "100", "20", "2000"]


def test_a_page_is_asked_of_the_command_that_writes_it(spec):
    assert "hint: `spec report BUNDLE --format html`" in spec("run", "hazard", "--format", "html").err
    assert "hint: `spec report FIRST SECOND --format html` writes" in spec("diff", "a", "b", "--format", "html").err
