"""What a target of the fuzzer is, and what no input may do to a command."""

from __future__ import annotations

import io
import json
import os
import re
import sys
from abc import ABC, abstractmethod
from collections.abc import Mapping
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any, Final
from unittest.mock import patch

from specledger.cli.main import _guarded

ROOT: Final = Path(__file__).parents[1]
STATUSES: Final = frozenset({0, 1, 2, 3, 4})
TOY: Final = ROOT / "tests/toys/climb"
_CODE: Final = re.compile(r"[EWI]_[A-Z0-9_]+")


class Target(ABC):
    """Something that reads inputs."""

    name: str

    def __init__(self, folder: Path) -> None:
        """Prepare in a folder, which is made."""
        folder.mkdir(parents=True)
        self.folder = folder

    @abstractmethod
    def seeds(self) -> list[bytes]:
        """Inputs to be changed."""

    @abstractmethod
    def run(self, data: bytes) -> None:
        """Give an input; an exception if something does not hold."""


def command(*words: Any) -> tuple[int, str, str]:
    """Run `spec` in this process: status, output and messages; what must never be is raised."""
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True) for _ in range(2))
    with (
        patch.object(sys, "argv", ["spec", *map(str, words)]),
        patch.dict(os.environ, {"SPECLEDGER_TRACEBACK": "1"}),
        patch("specledger.run.workers.available", lambda: 1),
        redirect_stdout(out),
        redirect_stderr(err),
    ):
        status = int(_guarded())
    output, messages = (stream.buffer.getvalue().decode() for stream in (out, err))
    assert status in STATUSES, f"status {status}: {messages[-2000:]}"
    assert "Traceback" not in messages, messages
    assert status not in (1, 2) or output or messages, f"status {status} without a word"
    return status, output, messages


def findings_of(output: str) -> list[Mapping[str, Any]]:
    """The findings of a command, each with a code and a message."""
    findings = json.loads(output)["diagnostics"]
    for finding in findings:
        assert _CODE.fullmatch(finding["code"]), finding
        assert finding["message"], finding
    return findings  # type: ignore[no-any-return]


def bytes_of(folder: Path) -> dict[str, bytes]:
    """The files of a folder."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
