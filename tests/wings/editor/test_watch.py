"""`spec watch`: a saved file is checked, and what it touches is run."""

import subprocess
import sys
from pathlib import Path
from threading import Event, Thread

import pytest

from specledger.wings.editor.watch import Watch, _may_run

GOVERNOR, SCENARIO = "specs/governor/careful.yaml", "specs/scenario/first.yaml"


@pytest.fixture
def watch(project):
    """A watch whose commands are noted; a check finds an error in a file that holds `WRONG`."""

    class Noted(Watch):
        def __init__(self):
            self.commands: list[tuple] = []
            self.said: list[str] = []
            super().__init__(["."], self.command, self.said.append)

        def command(self, *words):
            self.commands.append(words)
            wrong = any("WRONG" in Path(word).read_text(encoding="utf-8") for word in words if Path(word).is_file())
            return 2 if wrong else 0

    noted = Noted()
    noted.start()
    return noted


def save(file, text="# changed\n"):
    path = Path(file)
    path.write_text(path.read_text(encoding="utf-8") + text, encoding="utf-8")


@pytest.mark.medium
def test_everything_is_checked_first_and_nothing_without_a_change(watch):
    assert watch.commands == [("check", ".")]
    assert watch.look() is False
    assert len(watch.commands) == 1


@pytest.mark.medium
def test_a_change_is_checked_and_run_with_what_depends_on_it(watch):
    save(GOVERNOR)
    assert watch.look()
    assert watch.commands[1:] == [("check", GOVERNOR, SCENARIO), ("run", SCENARIO)]
    assert watch.said[-1] == f"changed: {GOVERNOR}"
    assert watch.look() is False


@pytest.mark.medium
def test_nothing_is_run_where_the_check_finds_an_error(watch):
    save(GOVERNOR, "# WRONG\n")
    watch.look()
    assert watch.commands[1:] == [("check", GOVERNOR, SCENARIO)]


@pytest.mark.medium
def test_new_files_and_files_that_are_gone_are_changes(watch):
    Path("specs/governor/new.yaml").write_text(Path(GOVERNOR).read_text(encoding="utf-8"), encoding="utf-8")
    watch.look()
    assert watch.commands[-1] == ("check", "specs/governor/new.yaml")
    Path(GOVERNOR).unlink()
    watch.look()
    assert ("check", SCENARIO) in watch.commands


@pytest.mark.parametrize(
    ("text", "runs"),
    [
        ("spec: scenario/v1\nname: a\n", True),
        ("# a comment\nspec:   'law/v1'\n", True),
        ("spec: world/v1\n", False),
        ("spec: nothing/v1\n", False),
        ("name: scenario/v1\n", False),
        ("", False),
    ],
)
def test_a_spec_is_run_if_its_kind_can_be(tmp_path, text, runs):
    (tmp_path / "a.yaml").write_text(text, encoding="utf-8")
    assert _may_run(tmp_path / "a.yaml") is runs


@pytest.mark.medium
def test_the_command_watches_until_it_is_ended(project):
    command = [sys.executable, "-m", "specledger", "watch"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, bufsize=1)
    assert process.stdout is not None
    output, ready, ran = process.stdout, Event(), Event()
    lines: list[str] = []

    def read():
        for line in output:
            lines.append(line)
            if line.startswith("watching"):
                ready.set()
            if "FAIL" in line or "PASS" in line:
                ran.set()

    reader = Thread(target=read)
    reader.start()
    try:
        assert ready.wait(60), lines
        save(GOVERNOR)
        assert ran.wait(60), lines
    finally:
        process.terminate()
        process.wait(30)
        reader.join(30)
        output.close()
    assert f"changed: {GOVERNOR}\n" in lines
    assert lines[-1] == "ended\n"
    assert not any(line.startswith("error") for line in lines), "to end it is no mistake"
    assert process.returncode == 0
