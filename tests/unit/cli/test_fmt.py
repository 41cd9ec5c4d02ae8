"""`spec fmt`: files are laid out, or told apart; what cannot be read is reported as `spec check` does."""

import pytest

LAID_OUT = "spec: governor/v1\nname: a\ngates: []\nchoose: {maximise: 1}\n"
OTHER = "spec: governor/v1\nname: a\n\n\nchoose: {maximise: 1} # why\ngates: []\n"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "specs/governor").mkdir(parents=True)
    (tmp_path / "specs/governor/a.yaml").write_text(LAID_OUT)
    (tmp_path / "specs/governor/b.yaml").write_text(OTHER)
    return tmp_path / "specs/governor"


def test_files_are_laid_out(spec, folder):
    done = spec("fmt", ".")
    assert (done.status, done.err) == (0, "")
    assert done.out == "formatted specs/governor/b.yaml\n2 files: 1 changed, 1 not\n"
    assert (folder / "a.yaml").read_text() == LAID_OUT
    text = (folder / "b.yaml").read_text()
    assert text.startswith("spec: governor/v1\nname: a\n")
    assert text.index("gates") < text.index("choose")
    assert spec("fmt", ".").out == "2 files: 0 changed, 2 not\n"


@pytest.mark.parametrize("option", ["--check", "--diff"])
def test_nothing_is_written_where_it_is_only_asked(spec, folder, option):
    done = spec("fmt", option, ".")
    assert done.status == 1
    assert "would change specs/governor/b.yaml" in done.out
    assert ("+gates: []" in done.out) == (option == "--diff")
    assert (folder / "b.yaml").read_text() == OTHER
    assert spec("fmt", option, "specs/governor/a.yaml").status == 0


def test_the_digest_stays(spec, folder):
    before = spec("show", "specs/governor/b.yaml").out
    spec("fmt", ".")
    assert spec("show", "specs/governor/b.yaml").out == before


@pytest.mark.parametrize(
    "text",
    [
        "spec: governor/v1\nname: [\n",
        "spec: governer/v1\nname: a\n",
        "name: a\n",
        "spec: governor/v1\nname: a\ngates: []\nchoose: {maximise: 1}\nlet: &x {}\n",
    ],
)
def test_a_file_that_cannot_be_read_is_reported_as_a_check_does(spec, folder, text):
    (folder / "b.yaml").write_text(text)
    done = spec("fmt", "specs/governor/b.yaml")
    assert (done.status, done.err) == (2, spec("check", "specs/governor/b.yaml").err)
    assert (folder / "b.yaml").read_text() == text


def test_the_other_files_are_laid_out_beside_a_wrong_one(spec, folder):
    (folder / "c.yaml").write_text("spec: governor/v1\nname: [\n")
    assert spec("fmt", ".").status == 2
    assert spec("fmt", "--check", "specs/governor/b.yaml").status == 0


def test_line_breaks_of_another_system_become_plain_ones(spec, folder):
    (folder / "a.yaml").write_bytes(LAID_OUT.replace("\n", "\r\n").encode())
    assert spec("fmt", "--check", "specs/governor/a.yaml").status == 1
    spec("fmt", "specs/governor/a.yaml")
    assert (folder / "a.yaml").read_bytes() == LAID_OUT.encode()


def test_no_file_is_nothing_checked(spec, folder):
    assert spec("fmt", "*.yaml").status == 3
