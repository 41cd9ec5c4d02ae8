"""The files for continuous integration do what their page says: the hooks of pre-commit and the steps of the action."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from tests.toys import CLIMB

ROOT = Path(__file__).parents[2]
HOOKS = {hook["id"]: hook for hook in yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))}
ACTION = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
PAGE = (ROOT / "docs/ci.md").read_text(encoding="utf-8")


@pytest.fixture
def shell(tmp_path):
    """Run a shell script in a project in which `spec` is this checkout's: (status, what it printed)."""
    shutil.copytree(CLIMB, tmp_path / "specs/scenario")
    command = tmp_path / "bin/spec"
    command.parent.mkdir()
    command.write_text(f'#!/bin/sh\nexec {sys.executable} -m specledger "$@"\n', encoding="utf-8")
    command.chmod(0o755)
    known = {"PATH": f"{command.parent}:{os.environ['PATH']}", "PYTHONPATH": str(ROOT / "engine")}

    def run(script, **environment):
        words = ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", "-c", script]
        env = os.environ | known | environment
        done = subprocess.run(words, cwd=tmp_path, env=env, capture_output=True, text=True, timeout=120, check=False)
        return done.returncode, done.stdout + done.stderr

    return run


def test_the_page_names_the_hooks_and_the_inputs():
    assert set(re.findall(r"^ +- id: (\S+)", PAGE, re.MULTILINE)) == set(HOOKS)
    assert set(re.findall(r"^\| `([\w-]+)` \| (?:`|none)", PAGE, re.MULTILINE)) == set(ACTION["inputs"])


def test_a_hook_sees_specs_and_nothing_else():
    pattern = re.compile(HOOKS["spec-check"]["files"])
    seen = [
        "specs/world/tank.yaml",
        "some/project/specs/law/one.yml",
        "docs/a.yaml",
        "specs/readme.md",
        "myspecs/a.yaml",
    ]
    assert [path for path in seen if pattern.search(path)] == seen[:2]


@pytest.mark.slow
def test_hooks_pass_and_fail(shell, tmp_path):
    check = f"{HOOKS['spec-check']['entry']} specs/scenario/stairs.yaml specs/scenario/climb.yaml"
    golden = HOOKS["spec-golden"]["entry"]
    assert shell(check)[0] == 0
    assert shell(f"cp specs/scenario/climb.yaml . && rm specs/scenario/*.yaml && {golden}")[0] != 0
    assert shell(check)[0] != 0


@pytest.mark.slow
def test_the_steps_of_the_action_run(shell):
    script = ACTION["runs"]["steps"][-1]["run"]
    assert "${{" not in script
    given = {"CHECK": "specs", "RUN": "specs/scenario/climb.yaml", "GOLDEN": "false"}
    status, said = shell(script, **given)
    assert (status, "L4 reached" in said) == (0, True), said
    assert shell(script, **(given | {"CHECK": "specs/nothing.yaml"}))[0] == 2
    assert shell(script, **(given | {"RUN": "", "GOLDEN": "true"}))[0] != 0
