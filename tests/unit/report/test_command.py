"""`spec report`: what it writes where, and how it ends."""

from functools import partial

import pytest

from specledger.core.verdict import Exit
from tests.unit.report.rendering import report_of, text_of


@pytest.fixture
def report(spec):
    """Run `spec report WORDS...`: its status and what it said."""
    return partial(spec, "report", "--workers", "1")


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["{heights}/runs/long.climb.3", "--format", "svg"], "E_PICTURE_NONE"),
        (["{trap}", "--format", "svg", "--episode", "1"], "E_REPORT_EPISODE"),
        (["{trap}/nothing", "--format", "svg"], "E_NO_EVIDENCE"),
        (["{trap}", "--format", "pdf"], "E_USAGE"),
    ],
)
def test_what_cannot_be_done_is_said_with_its_code(words, code, report, trap, heights):
    status, said, complained = report(*(word.format(trap=trap, heights=heights) for word in words))
    assert (status, said) == (Exit.INVALID, "")
    assert f"error[{code}]" in complained
    assert "\\n" not in complained


@pytest.mark.medium
def test_the_command_writes_the_report_of_several_bundles(report, trap, heights):
    written = report(trap, heights, "--format", "json")
    assert written == (Exit.CONFORMS, text_of("json", report_of(trap, heights)), "")


@pytest.mark.parametrize(
    ("name", "words", "begins"),
    [
        ("a.html", [], "<!doctype html>"),
        ("a.HTML", [], "<!doctype html>"),
        ("a.svg", [], "<svg"),
        ("a.md", [], "# `concave`: PASS"),
        ("a.json", [], "{"),
        ("a.xml", [], "<?xml"),
        ("a.sarif", [], "{"),
        ("a.txt", [], "# `concave`: PASS"),
        ("html", [], "# `concave`: PASS"),
        ("a.html", ["--format", "markdown"], "# `concave`: PASS"),
    ],
)
def test_the_format_follows_the_name_of_the_file(name, words, begins, report, trap, tmp_path):
    assert report(trap, "--out", tmp_path / name, *words).status == Exit.CONFORMS
    assert (tmp_path / name).read_text(encoding="utf-8").startswith(begins)


@pytest.mark.medium
def test_several_bundles_or_a_profile_are_summed_up_like_a_step(report, trap, tmp_path):
    report(trap, trap, "--format", "github", "--out", tmp_path / "summary")
    status, said, _ = report(trap, trap, "--format", "markdown")
    assert (status, said) == (Exit.CONFORMS, (tmp_path / "summary").read_text(encoding="utf-8"))
    rules = "  - {id: a, section: s, says: whole, status: shown, evidence: [{check: evidence}]}\n"
    (tmp_path / "rules.yaml").write_text(f"spec: profile/v1\nname: rules\nsource: s\ncontrols:\n{rules}")
    status, said, _ = report(trap, "--format", "markdown", "--profile", tmp_path / "rules.yaml")
    assert (status, said.startswith("# `rules`: PASS (not replayed)\n")) == (Exit.CONFORMS, True)


@pytest.mark.medium
def test_the_summary_of_a_step_goes_where_github_says(report, trap, tmp_path, monkeypatch):
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "summary"))
    (tmp_path / "summary").write_text("earlier\n")
    assert report(trap, "--format", "github", "--replay") == (Exit.CONFORMS, "", "")
    assert (tmp_path / "summary").read_text(encoding="utf-8").startswith("earlier\n# `concave`: PASS (replayed)\n")
    assert report(trap, "--format", "github", "--out", tmp_path / "own", "--replay") == (Exit.CONFORMS, "", "")
    assert (tmp_path / "own").read_text(encoding="utf-8").startswith("# `concave`: PASS (replayed)\n")


def test_one_refuted_bundle_is_enough_to_tell_nothing(report, trap, forge, tmp_path):
    copy = forge(trap, lambda told: None)
    (copy / "receipts.jsonl").write_bytes((copy / "receipts.jsonl").read_bytes()[:-9])
    status, said, complained = report(trap, copy, "--format", "json", "--out", tmp_path / "file")
    assert (status, said) == (Exit.FINDINGS, "")
    assert f"error[E_FILES]: {copy} is refuted" in complained
    assert not (tmp_path / "file").exists()


@pytest.mark.parametrize(
    ("words", "part"),
    [
        (["{trap}", "{trap}", "--format", "svg"], "one bundle"),
        (["{trap}", "--format", "svg", "--profile", "x"], "no profile"),
        (["{trap}", "--format", "markdown", "--profile", "no-such-profile"], "E_REF_MISSING"),
        (["{trap}", "--format", "oscal", "--date", "20260131"], "no date"),
        (["{trap}", "--format", "oscal", "--date", "2026-02-30"], "no date"),
        (["{trap}", "--format", "junit", "--out", "{trap}/r"], "is inside the bundle"),
    ],
)
def test_what_cannot_be_asked_for_is_said(words, part, report, trap):
    status, said, complained = report(*(word.format(trap=trap) for word in words))
    assert status == Exit.INVALID
    assert ("E_" in said) == ("junit" in words)
    assert part in complained
