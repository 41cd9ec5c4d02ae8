"""`spec run --changed`: what differs from a commit, and what depends on it."""

import subprocess
from pathlib import Path

import pytest

from specledger.pipeline.changes import touched_runs
from specledger.pipeline.project import write_project


def git(*words):
    identity = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", *identity, *words], check=True, capture_output=True)


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A project with two scenarios, of which only one names an invariant; everything is committed."""
    monkeypatch.chdir(tmp_path)
    write_project(tmp_path)
    first = Path("specs/scenario/first.yaml").read_text(encoding="utf-8")
    second = first.replace("name: first", "name: second").replace("governor: careful", "governor: other")
    Path("specs/scenario/second.yaml").write_text(second, encoding="utf-8")
    governor = Path("specs/governor/careful.yaml").read_text(encoding="utf-8")
    Path("specs/governor/other.yaml").write_text(governor.replace("name: careful", "name: other"), encoding="utf-8")
    git("init", "--initial-branch", "main")
    git("add", "-A")
    git("commit", "-m", "all")
    return tmp_path


def edit(file):
    path = Path(file)
    path.write_text(path.read_text(encoding="utf-8") + "# changed\n", encoding="utf-8")
    return path.resolve()


FIRST, SECOND = "specs/scenario/first.yaml", "specs/scenario/second.yaml"


@pytest.mark.medium
@pytest.mark.parametrize(
    ("file", "runs"),
    [
        (FIRST, [FIRST]),
        ("specs/governor/careful.yaml", [FIRST]),
        ("specs/governor/other.yaml", [SECOND]),
        ("specs/world/tank.yaml", [FIRST, SECOND]),
        ("README.md", []),
    ],
)
def test_what_depends_on_a_change_is_run(project, file, runs):
    assert touched_runs(["."], {edit(file)}) == runs


@pytest.mark.medium
def test_a_spec_that_is_gone_touches_what_refers_to_it(project):
    gone = Path("specs/governor/other.yaml").resolve()
    gone.unlink()
    assert touched_runs(["."], {gone}) == [SECOND]


@pytest.mark.medium
@pytest.mark.wing("trajectories")
def test_a_log_touches_what_reads_it(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_project(tmp_path, "logs")
    assert touched_runs(["."], {edit("logs/monday.json")}) == ["specs/scenario/week.yaml"]
    assert touched_runs(["."], {edit("README.md")}) == []


@pytest.mark.medium
@pytest.mark.parametrize(
    ("body", "file", "runs"),
    [
        ("outside: {command: [python3, walker.py]}", "walker.py", [FIRST, SECOND]),
        ("outside: {python: 'agents.walker:act'}", "agents/walker.py", [FIRST, SECOND]),
        ("outside: {command: [python3, walker.py]}", "other.py", []),
    ],
)
def test_a_program_touches_the_agent_that_it_is(project, body, file, runs):
    Path("specs/agent/filler.yaml").write_text(f"spec: agent/v1\nname: filler\n{body}\n", encoding="utf-8")
    path = Path(file)
    path.parent.mkdir(exist_ok=True)
    path.write_text("", encoding="utf-8")
    assert touched_runs(["."], {path.resolve()}) == runs


class TestCommand:
    @pytest.mark.medium
    def test_nothing_that_changed_is_nothing_that_was_run(self, spec, project):
        done = spec("run", ".", "--changed")
        assert (done.status, done.out) == (3, "")
        assert "nothing of . changed since HEAD" in done.err
        assert not Path("out").exists()

    @pytest.mark.medium
    def test_what_is_not_committed_and_what_is_new(self, spec, project):
        edit("specs/governor/other.yaml")
        assert spec("run", ".", "--changed").status == 1
        assert [path.name for path in Path("out").iterdir()] == ["second"]
        third = Path(FIRST).read_text(encoding="utf-8").replace("name: first", "name: third")
        Path("specs/scenario/third.yaml").write_text(third, encoding="utf-8")
        spec("run", ".", "--changed")
        assert sorted(path.name for path in Path("out").iterdir()) == ["second", "third"]

    @pytest.mark.medium
    def test_another_commit_is_compared_with(self, spec, project):
        edit("specs/governor/careful.yaml")
        git("checkout", "-b", "work")
        git("commit", "-am", "governor")
        assert spec("run", ".", "--changed").status == 3
        assert spec("run", "first", "second", "--changed", "--since", "main").status == 1
        assert [path.name for path in Path("out").iterdir()] == ["first"]

    @pytest.mark.medium
    @pytest.mark.parametrize("commit", ["nothing", "--help", "main:README.md"])
    def test_a_commit_that_is_none(self, spec, project, commit):
        done = spec("run", ".", "--changed", f"--since={commit}")
        assert (done.status, "error[E_CHANGED]" in done.err) == (2, True)

    @pytest.mark.medium
    def test_outside_a_repository(self, spec, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        write_project(tmp_path)
        done = spec("run", ".", "--changed")
        assert (done.status, "error[E_CHANGED]" in done.err) == (2, True)
