"""`spec report`: what it writes where, and how it ends."""

import sys

import pytest

from specledger.cli.main import _guarded
from specledger.core.verdict import Exit
from tests.unit.report.rendering import report_of, text_of


@pytest.fixture
def report(monkeypatch, capsys):
    """Run `spec report WORDS...`: its status and what it said."""

    def run(*words):
        monkeypatch.setattr(sys, "argv", ["spec", "report", *map(str, words)])
        capsys.readouterr()
        status = _guarded()
        return status, *capsys.readouterr()

    return run


def test_a_picture_goes_to_a_file_or_is_said(report, trap, tmp_path):
    picture = text_of("svg", report_of(trap))
    assert report(trap, "--format", "svg") == (Exit.CONFORMS, picture, "")
    assert report(trap, "--format", "svg", "--episode", "0", "--out", tmp_path / "e.svg") == (Exit.CONFORMS, "", "")
    assert (tmp_path / "e.svg").read_bytes() == picture.encode()


def test_a_summary_of_a_run_and_of_a_suite(report, trap, heights):
    for place in (trap, heights):
        status, said, _ = report(place, "--format", "markdown", "--workers", "1")
        assert (status, said) == (Exit.CONFORMS, text_of("markdown", report_of(place)))


@pytest.mark.parametrize("format_", ["svg", "markdown"])
def test_refuted_evidence_is_a_finding_and_nothing_is_written(format_, report, trap, forge, tmp_path):
    copy = forge(trap, lambda told: None)
    lines = (copy / "receipts.jsonl").read_bytes()
    (copy / "receipts.jsonl").write_bytes(lines.replace(b'"reward":1', b'"reward":2', 1))
    status, said, complained = report(copy, "--format", format_, "--out", tmp_path / "e")
    assert (status, said) == (Exit.FINDINGS, "")
    assert "[E_FILES]" in complained
    assert "REFUTED" in complained
    assert not (tmp_path / "e").exists()


def test_a_report_does_not_break_its_evidence(report, trap):
    status, _, complained = report(trap, "--format", "svg", "--out", trap / "e.svg")
    assert status == Exit.INVALID
    assert "E_REPORT_PLACE" in complained
    assert not (trap / "e.svg").exists()


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["{heights}", "--format", "svg"], "E_REPORT_KIND"),
        (["{heights}/runs/long.climb.3", "--format", "svg"], "E_PICTURE_NONE"),
        (["{trap}", "--format", "svg", "--episode", "1"], "E_REPORT_EPISODE"),
        (["{trap}/nothing", "--format", "svg"], "E_NO_EVIDENCE"),
        (["{trap}"], "E_USAGE"),
        (["{trap}", "--format", "pdf"], "E_USAGE"),
    ],
)
def test_what_cannot_be_done_is_said_with_its_code(words, code, report, trap, heights):
    status, said, complained = report(*(word.format(trap=trap, heights=heights) for word in words))
    assert (status, said) == (Exit.INVALID, "")
    assert f"error[{code}]" in complained
    assert "\\n" not in complained


@pytest.mark.parametrize(
    "code", ["E_PICTURE", "E_PICTURE_NONE", "E_REPORT_KIND", "E_REPORT_EPISODE", "E_REPORT_RECEIPTS", "E_REPORT_PLACE"]
)
def test_its_codes_are_explained(code, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["spec", "explain", code])
    assert _guarded() == Exit.CONFORMS
    assert capsys.readouterr().out.startswith(f"{code}: ")
