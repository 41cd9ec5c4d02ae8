"""The tutorial is followed to the letter: its files are written, its commands are run, and they print what it shows."""

import re
import sys
from pathlib import Path

import pytest

from specledger.cli.main import _guarded

PAGE = (Path(__file__).parents[2] / "docs/tutorial.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```$", PAGE, re.M | re.S)


def pattern(shown):
    """What is shown as a pattern; `...` stands for anything."""
    return re.compile(re.escape(shown.rstrip("\n")).replace(re.escape("..."), ".*?"), re.S)


def test_every_block_is_run():
    assert {language for language, _ in BLOCKS} == {"console", "yaml"}
    assert PAGE.count("```") == 2 * len(BLOCKS)


@pytest.mark.slow
def test_the_tutorial_is_true(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)

    def run(command):
        words, _, target = command.partition(" > ")
        program, *arguments = words.split()
        if program == "mkdir":
            Path(*arguments).mkdir()
        elif program == "cd":
            monkeypatch.chdir(*arguments)
        else:
            assert program == "spec"
            monkeypatch.setattr(sys, "argv", ["spec", *arguments])
            capsys.readouterr()
            _guarded()
            said = capsys.readouterr()
            if not target:
                return said.out + said.err
            Path(target).write_text(said.out, encoding="utf-8")
        return ""

    for language, block in BLOCKS:
        if language == "yaml":
            kind, name = (line.partition(": ")[2] for line in block.splitlines()[:2])
            file = Path("specs", kind.removesuffix("/v1"), f"{name}.yaml")
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(block, encoding="utf-8")
            continue
        for command, shown in re.findall(r"^\$ ([^\n]*)\n((?:(?!\$ ).*\n)*)", block, re.M):
            said = run(command)
            assert pattern(shown).fullmatch(said.rstrip("\n")), f"$ {command}\n{said}\n--- instead of ---\n{shown}"
    assert "<title>" in Path("heating.html").read_text(encoding="utf-8")
