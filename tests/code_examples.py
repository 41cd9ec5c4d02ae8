"""Runs the examples of `docs/codes.yaml` as a reader would, and tells which codes each command gives.

`spec …` runs in this process, and so does `python -m tools.…`; other lines are given to a shell. The first command of an
example that needs no file is run once for all examples that begin with it.
"""

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from specledger.load.doc_pages import CodePage

ROOT = Path(__file__).parents[1]

_CODE = re.compile(r"\b[EW]_[A-Z0-9_]+\b")
_SHELL = re.compile(r"[|<>&]|\$\(|^[A-Z_]+=")
"""What a line has that needs a shell, outside quotes."""
_QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"")

Spec = Callable[..., Any]
"""The fixture `spec`."""


def codes_in(text: str) -> set[str]:
    """The diagnostic codes that a text names."""
    return set(_CODE.findall(text))


class ExampleRunner:
    """Runs examples in fresh folders."""

    def __init__(self, shared: Path) -> None:
        self._shared = shared
        self._first: dict[str, tuple[Path, str]] = {}

    def run(self, page: CodePage, folder: Path, spec: Spec) -> Iterator[tuple[str, str]]:
        """Each command of an example with what it printed."""
        for name, text in page.files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        first, *lines = page.commands()
        if first.startswith("spec run ") and not page.files:
            yield first, self._shared_run(first, folder, spec)
        else:
            lines.insert(0, first)
        for line in lines:
            yield line, _run(line, folder, spec)

    def _shared_run(self, line: str, folder: Path, spec: Spec) -> str:
        if line not in self._first:
            place = self._shared / str(len(self._first))
            place.mkdir()
            self._first[line] = place, _run(line, place, spec)
        place, printed = self._first[line]
        shutil.copytree(place, folder, dirs_exist_ok=True, symlinks=True)
        return printed


def _run(line: str, folder: Path, spec: Spec) -> str:
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        words = shlex.split(line)
        if not _SHELL.search(_QUOTED.sub("", line)):
            if words[0] == "spec":
                done = spec(*words[1:])
                return str(done.out + done.err)
            if words[:2] == ["python", "-m"] and words[2].startswith("tools."):
                import_module(words[2]).main(words[3:])
                return ""
        return _in_shell(line, folder)


def _in_shell(line: str, folder: Path) -> str:
    own = {name: value for name, value in os.environ.items() if not name.startswith("COVERAGE_PROCESS")}
    path = f"{Path(sys.executable).parent}{os.pathsep}{own['PATH']}"
    done = subprocess.run(["sh", "-c", line], cwd=folder, env=own | {"PATH": path}, capture_output=True, check=False)
    return (done.stdout + done.stderr).decode("utf-8", "replace")
