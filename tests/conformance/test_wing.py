"""The wing of docs/wings.md is installed as a package of somebody else, and its kind is checked, run, verified and reported."""

import json
import os
import re
import subprocess
import sys

import pytest

FILES = {"toml": "pyproject.toml", "python": "dice_wing/__init__.py", "yml": "fair.yaml"}


@pytest.fixture(scope="module")
def root(pytestconfig):
    return pytestconfig.rootpath


@pytest.fixture(scope="module")
def packages(root, tmp_path_factory):
    """A folder with the installed wing."""
    folder = tmp_path_factory.mktemp("packages")
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-build-isolation", "--target"]
    subprocess.run([*command, str(folder), str(root / "examples/wing")], check=True, capture_output=True)
    return folder


@pytest.fixture
def spec(packages, root, tmp_path):
    """`spec` with the wing: (exit code, standard output, standard error)."""

    def run(*words, wing=True):
        environment = {**os.environ, **({"PYTHONPATH": str(packages)} if wing else {})}
        command = [sys.executable, "-m", "specledger", *words]
        done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, env=environment, check=False)
        return done.returncode, done.stdout, done.stderr

    (tmp_path / "fair.yaml").write_bytes((root / "examples/wing/fair.yaml").read_bytes())
    return run


def test_the_page_shows_the_files(root):
    page = (root / "docs/wings.md").read_text(encoding="utf-8")
    shown = dict(re.findall(r"```(toml|python|yml)\n(.*?)```", page, re.DOTALL))
    assert shown == {
        language: (root / "examples/wing" / file).read_text(encoding="utf-8") for language, file in FILES.items()
    }


@pytest.mark.slow
def test_its_kind_is_run_verified_and_reported(spec, tmp_path):
    code, out, err = spec("run", "fair.yaml", "--out", "out")
    assert (code, err) == (0, "")
    assert out.startswith("fair  PASS  12 throws, sum 42\n")
    code, out, _ = spec("verify", "out")
    assert code == 0
    assert "replay gives the same bytes" in out
    code, out, _ = spec("report", "out", "--format", "json")
    assert code == 0
    assert "dice/sides" in json.dumps(json.loads(out))


@pytest.mark.slow
def test_changed_receipts_are_refuted(spec, tmp_path):
    spec("run", "fair.yaml", "--out", "out")
    file = tmp_path / "out/receipts.jsonl"
    file.write_bytes(re.sub(rb'"shows":\d', b'"shows":1', file.read_bytes(), count=1))
    assert spec("verify", "out")[0] == 1


@pytest.mark.slow
def test_a_wrong_document_is_a_finding_of_the_wing(spec, tmp_path):
    (tmp_path / "fair.yaml").write_text("spec: dice/v1\nname: fair\nseed: 7\nsides: 1\n", encoding="utf-8")
    code, _, err = spec("check", "fair.yaml")
    assert code == 2
    assert "fair.yaml:4:8: error[E_DICE]: a die has two sides at least" in err


@pytest.mark.slow
def test_without_the_wing_there_is_no_such_kind(spec):
    code, _, err = spec("check", "fair.yaml", wing=False)
    assert code == 2
    assert "E_SPEC_KIND" in err
