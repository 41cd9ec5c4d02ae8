"""What ships the package is in order: the image is made of all that the wheel needs, workflows are pinned and call what exists."""

import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
DOCKERFILE = (ROOT / "Dockerfile").read_text(encoding="utf-8")
IGNORED = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
COPIED = [source for line in re.findall(r"^COPY (.+) \S+$", DOCKERFILE, re.MULTILINE) for source in line.split()]
TEMPLATE = ROOT / "specs/new/project/every/dot-github/workflows/specs.yml"
WORKFLOWS = {
    path.name: path for path in (*sorted((ROOT / ".github/workflows").glob("*.yml")), ROOT / "action.yml", TEMPLATE)
}
TARGETS = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))


def jobs_of(name):
    return yaml.safe_load(WORKFLOWS[name].read_text(encoding="utf-8"))["jobs"]


def test_what_the_image_is_made_of_exists_and_reaches_the_builder():
    assert {"engine", "specs", "schemas", "docs", "pyproject.toml"} <= set(COPIED)
    assert [source for source in COPIED if not (ROOT / source).exists()] == []
    assert {line[1:] for line in IGNORED if line.startswith("!")} == set(COPIED)


def test_the_image_runs_the_command_as_a_user_without_rights():
    users = re.findall(r"^USER (\S+)$", DOCKERFILE, re.MULTILINE)
    assert users == ["10001"]
    assert f"--uid {users[0]} " in DOCKERFILE
    assert 'ENTRYPOINT ["spec"]' in DOCKERFILE
    tags = re.findall(r"^FROM (\S+)", DOCKERFILE, re.MULTILINE)
    assert len(set(tags)) == 1
    assert re.fullmatch(r"python:3\.\d+-slim-\w+", tags[0])


@pytest.mark.slow
def test_what_the_image_is_made_of_gives_the_wheel_of_the_checkout(tmp_path):
    for source in COPIED:
        if (ROOT / source).is_dir():
            shutil.copytree(ROOT / source, tmp_path / source, ignore=shutil.ignore_patterns("__pycache__", "pictures"))
        else:
            shutil.copy(ROOT / source, tmp_path)
    contents: list[dict[str, bytes]] = []
    for folder in (tmp_path, ROOT):
        out = tmp_path / f"dist-{len(contents)}"
        command = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(out)]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        with zipfile.ZipFile(*out.glob("*.whl")) as archive:
            contents.append({name: archive.read(name) for name in archive.namelist()})
    assert contents[0] == contents[1]


@pytest.mark.parametrize("name", WORKFLOWS)
def test_actions_are_pinned_to_a_commit(name):
    uses = re.findall(r"^\s*- uses: (.+)$", WORKFLOWS[name].read_text(encoding="utf-8"), re.MULTILINE)
    assert uses
    assert [line for line in uses if not re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40} # v[\d.]+", line)] == []


@pytest.mark.parametrize("name", sorted(WORKFLOWS.keys() - {"action.yml"}))
def test_workflows_have_no_rights_and_call_what_exists(name):
    workflow = yaml.safe_load(WORKFLOWS[name].read_text(encoding="utf-8"))
    assert workflow["permissions"] == {"contents": "read"}
    commands = [step["run"] for job in workflow["jobs"].values() for step in job["steps"] if "run" in step]
    assert commands
    assert [
        command for command in commands if (found := re.match(r"make (\S+)", command)) and found[1] not in TARGETS
    ] == []
    assert [command for command in commands if command.startswith(".") and not (ROOT / command).is_file()] == []
    assert all("${{" not in command for command in commands), "an expression in a command is read as a part of it"


def test_the_matrix_has_every_version_of_python_that_the_package_declares(project_classifiers):
    matrix = jobs_of("ci.yml")["test"]["strategy"]["matrix"]
    assert matrix["python"] == project_classifiers
    assert {"ubuntu-latest", "macos-latest"} <= set(matrix["os"])
    wheel = jobs_of("ci.yml")["wheel"]["strategy"]["matrix"]
    assert wheel["python"] == [project_classifiers[0], project_classifiers[-1]]
    assert "windows-latest" in wheel["os"]


@pytest.fixture
def project_classifiers():
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    return re.findall(r'"Programming Language :: Python :: (3\.\d+)"', text)


def test_the_placeholder_is_said_to_be_one():
    pages = [page for page in ROOT.glob("docs/*.md") if re.search(r"\bOWNER\b", page.read_text(encoding="utf-8"))]
    assert pages
    assert all("`OWNER` is a placeholder" in page.read_text(encoding="utf-8") for page in pages)
