"""The tutorials are followed to the letter: their files are written, their commands are run, and print what is shown."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from specledger.cli.main import _guarded

DOCS = Path(__file__).parents[2] / "docs"
PAGES = {name: (DOCS / name).read_text(encoding="utf-8") for name in ("tutorial.md", "agent-logs.md")}
WRITTEN = {"tutorial.md": "heating.html", "agent-logs.md": "payments.html"}
"""The page that each of them writes at last."""
LANGUAGES = {"tutorial.md": {"console", "yaml"}, "agent-logs.md": {"console", "yaml", "json"}}


BLOCK = r"(?:`([^`\n]+)`:\n\n)?^```(\w+)\n(.*?)^```$"
EDIT = r"In `([^`\n]+)` write `([^`\n]+)` for `([^`\n]+)`"
EDITS = {"tutorial.md": 1, "agent-logs.md": 1}
"""How many edits of a file the sentences of each page ask for."""


def blocks(name):
    """The language, the file that the sentence before it names, and the text of each block of a page."""
    return re.findall(BLOCK, PAGES[name], re.M | re.S)


def edits(name):
    """What the sentences of a page ask for: the file, the new text and the old one."""
    return re.findall(EDIT, re.sub(BLOCK, "", PAGES[name], flags=re.M | re.S))


def pattern(shown):
    """What is shown as a pattern; `...` stands for anything."""
    return re.compile(re.escape(shown.rstrip("\n")).replace(re.escape("..."), ".*?"), re.S)


def file_of(named, language, block):
    """Where a block of a file goes: a log where the text says, a spec where specs of its kind and name are found."""
    if language == "json":
        return Path(named)
    kind, name = (line.partition(": ")[2] for line in block.splitlines()[:2])
    return Path("specs", kind.removesuffix("/v1"), f"{name}.yaml")


@pytest.mark.parametrize("name", PAGES)
def test_every_block_is_run(name):
    assert {language for _, language, _ in blocks(name)} == LANGUAGES[name]
    assert PAGES[name].count("```") == 2 * len(blocks(name))
    assert len(edits(name)) == EDITS[name]


@pytest.mark.slow
@pytest.mark.parametrize("name", PAGES)
def test_the_tutorial_is_true(name, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)

    def run(command):
        words, _, target = command.partition(" > ")
        program, *arguments = words.split()
        if program == "mkdir":
            Path(*arguments).mkdir()
        elif program == "cd":
            monkeypatch.chdir(*arguments)
        elif program == "openssl":
            Path(target).write_bytes(subprocess.run(words.split(), check=True, capture_output=True).stdout)
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

    for edited, new, old, named, language, block in re.findall(f"{EDIT}|{BLOCK}", PAGES[name], re.M | re.S):
        if edited:
            text = Path(edited).read_text(encoding="utf-8")
            assert text.count(old) == 1
            Path(edited).write_text(text.replace(old, new), encoding="utf-8")
            continue
        if language != "console":
            file = file_of(named, language, block)
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(block, encoding="utf-8")
            continue
        for command, shown in re.findall(r"^\$ ([^\n]*)\n((?:(?!\$ ).*\n)*)", block, re.M):
            said = run(command)
            assert pattern(shown).fullmatch(said.rstrip("\n")), f"$ {command}\n{said}\n--- instead of ---\n{shown}"
    assert "<title>" in Path(WRITTEN[name]).read_text(encoding="utf-8")
