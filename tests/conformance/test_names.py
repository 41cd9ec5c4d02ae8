"""The page of the source documents' names: each of its lines runs."""

import re
import shlex
import sys
from pathlib import Path

import pytest

from specledger.cli import document_commands

ROOT = Path(__file__).resolve().parents[2]
ROWS = [
    row.strip("| \n").split(" | ")
    for row in (ROOT / "docs" / "names.md").read_text(encoding="utf-8").splitlines()
    if row.startswith("| ") and not row.startswith(("| name |", "| ---"))
]
LINES = list(dict.fromkeys(line.strip("`") for *_, line in ROWS))


def test_every_row_has_a_name_what_is_here_and_a_line():
    assert len(ROWS) > 45
    for row in ROWS:
        assert len(row) == 3, row
        assert re.fullmatch(r"`[^`]+`", row[2]), row


@pytest.mark.parametrize("line", LINES)
def test_the_line_runs(line, spec, monkeypatch, tmp_path):
    name, *words = shlex.split(line) if not line.startswith("from ") else [""]
    if name == "spec":
        out = ["--out", tmp_path / "out"] if words[0] == "run" else []
        assert spec(*words, *out).status == 0
    elif name:
        where = [tmp_path / "out" if word.startswith("out/") else word for word in words]
        monkeypatch.setattr("specledger.run.workers.available", lambda: 1)
        monkeypatch.setattr(sys, "argv", [name, *map(str, where)])
        with pytest.raises(SystemExit) as left:
            document_commands.run_command(name)
        assert not left.value.code
    else:
        exec(line, {})
