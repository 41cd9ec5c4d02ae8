"""In-toto statements of a report, each in an envelope that a key signs."""

import json

import pytest

from specledger.evidence.envelope import read_envelope
from specledger.evidence.keys import load_key


@pytest.fixture
def evidence(spec, tmp_path):
    assert spec("run", "thin-ice", "--out", tmp_path / "out").status in (0, 1)
    return tmp_path / "out"


def test_each_statement_is_signed(spec, evidence, tmp_path):
    from specledger.evidence.keys import verify

    assert spec("keys", "new", tmp_path / "key.pem").status == 0
    words = ("report", evidence, "--format", "in-toto", "--date", "2026-05-14")
    plain, signed = spec(*words), spec(*words, "--sign", tmp_path / "key.pem")
    statements, lines = plain.out.splitlines(), signed.out.splitlines(keepends=True)
    assert len(statements) == len(lines) == 2
    key = load_key(str(tmp_path / "key.pem"))
    for statement, line in zip(statements, lines, strict=True):
        envelope = read_envelope(line.encode())
        assert envelope.payload.decode() == statement
        (signature,) = envelope.signatures
        assert signature.key == key.id
        assert verify(key.public, signature.raw, envelope.signed)
    types = [json.loads(line)["predicateType"].rpartition("attestation/")[2] for line in statements]
    assert types == ["test-result/v0.1", "svr/v0.2"]


def test_nothing_else_is_signed(spec, evidence, tmp_path):
    done = spec("report", evidence, "--format", "json", "--sign", tmp_path / "key.pem")
    assert done.status == 2
    assert "--sign is for --format in-toto" in done.err


def test_a_key_that_is_none(spec, evidence, tmp_path):
    assert "E_KEY" in spec("report", evidence, "--format", "in-toto", "--sign", tmp_path / "none.pem").err


@pytest.mark.medium
@pytest.mark.parametrize(("words", "result"), [((), "WARNED"), (("--replay",), "PASSED")])
def test_what_was_not_made_again_is_passed_with_a_warning(spec, tmp_path, words, result):
    assert spec("run", "hazard", "--set", "horizon=5", "--out", tmp_path / "out").status == 0
    done = spec("report", tmp_path / "out", "--format", "in-toto", *words)
    assert json.loads(done.out)["predicate"]["result"] == result


@pytest.mark.medium
@pytest.mark.parametrize(("words", "looks"), [((), "open"), (("--replay",), "good")])
def test_the_verdict_of_a_page_looks_sure_only_where_runs_were_made_again(spec, tmp_path, words, looks):
    assert spec("run", "hazard", "--set", "horizon=5", "--out", tmp_path / "out").status == 0
    page = tmp_path / "page.html"
    assert spec("report", tmp_path / "out", "--format", "html", "--out", page, *words).status == 0
    head = page.read_text(encoding="utf-8").partition("<h1>")[2].partition("</h1>")[0]
    assert f'class="mark {looks}"' in head
    assert "PASS" in head
