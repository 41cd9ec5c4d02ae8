"""What coding agents do with the specs of one folder, by the commands of `spec`: check, explain, run, verify, report.

Each call is a process of its own in the folder, with a deadline. Its arguments are names, or paths inside the folder.
It gets no `--trust-agent`, and no environment variable that could hold a key: nothing from outside is executed, and no
service is asked.
"""

from __future__ import annotations

import asyncio
import codecs
import os
import signal
import sys
from asyncio import StreamReader
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from msgspec import Struct

from specledger.core.diagnostics import Diagnostic, Rejected, code
from specledger.kinds import KINDS
from specledger.load.library import SUFFIXES, project_of

E_MCP_FOLDER = code("E_MCP_FOLDER", "a folder that an agent cannot be given")
E_MCP_PATH = code("E_MCP_PATH", "an argument that leads out of the folder")

RUNS: Final = Path("out", "mcp")
"""Where the evidence of runs goes, below the folder."""
_MOST_OUTPUT: Final = 200_000
"""Characters of an answer at most."""
_PIECE: Final = 1 << 16
_MOST_ARGUMENT: Final = 1_000
_ENVIRONMENT: Final = ("PATH", "PYTHONPATH", "TMPDIR", "SYSTEMROOT")
_MEANINGS: Final = {
    0: "conforms",
    1: "findings, or refuted",
    2: "wrong usage or invalid input",
    3: "inconclusive, or nothing was checked",
    4: "something could not be evaluated",
}


class Answer(Struct, frozen=True):
    """What a command gave.

    Attributes:
        exit_code: Its exit code, with what it means; -1 where it was ended at the deadline.
        output: What it printed, findings included.
    """

    exit_code: int
    meaning: str
    output: str
    bundle: str | None = None


class AuthoringTools:
    """The tools, bounded to a folder."""

    def __init__(self, folder: Path, deadline_s: int) -> None:
        """Serve a folder.

        Raises:
            Rejected: E_MCP_FOLDER: it is no folder with specs of its own, so that references could lead out of it.
        """
        self._folder = folder.resolve()
        self._deadline_s = deadline_s
        if not (self._folder / "specs").is_dir() or project_of(self._folder) != self._folder:
            hint = "name the folder of a project: `spec init DIR` makes one"
            raise Rejected([Diagnostic(E_MCP_FOLDER, f"{folder} has no folder `specs`", hint=hint)])
        if self._folder.name in KINDS:
            message = f"a folder with the name of a kind, {self._folder.name}, is read as a part of the folder above it"
            raise Rejected([Diagnostic(E_MCP_FOLDER, message, hint="give the folder another name")])

    async def check(self, targets: Sequence[str] = (".",)) -> Answer:
        """Check specs without running them: findings as JSON, each with code, folder, what was expected, and a hint."""
        return await self._run("check", "--format", "json", "--", *map(self._target, targets))

    async def explain(self, what: str) -> Answer:
        """Explain a code such as E_CHAIN, a kind, a key such as scenario.probes, a term, or `codes` and `kinds`."""
        return await self._run("explain", "--", _plain(what))

    async def run(self, target: str, seed: int | None = None, episodes: int | None = None) -> Answer:
        """Run a scenario, suite or law, and write its evidence to a new folder, which is named in the answer."""
        folder = self._new_place(Path(target).stem)
        options = [f"--{name}={value}" for name, value in (("seed", seed), ("episodes", episodes)) if value is not None]
        answer = await self._run("run", *options, "--out", folder.as_posix(), "--", self._target(target))
        written = folder.as_posix() if (self._folder / folder).exists() else None
        return Answer(answer.exit_code, answer.meaning, answer.output, written)

    async def verify(self, bundle: str, *, replay: bool = True) -> Answer:
        """Verify an evidence bundle: its chain, result, specs and replay, and what was not checked."""
        return await self._run("verify", "--replay" if replay else "--no-replay", "--", self._inside(bundle))

    async def report(self, bundle: str) -> Answer:
        """Report an evidence bundle in Markdown: checks, failures and where they are."""
        return await self._run("report", "--format", "markdown", "--", self._inside(bundle))

    async def _run(self, *words: str) -> Answer:
        environment = {name: os.environ[name] for name in _ENVIRONMENT if name in os.environ}
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "specledger",
            *words,
            cwd=self._folder,
            env={**environment, "NO_COLOR": "1"},
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            start_new_session=True,
        )
        try:
            async with asyncio.timeout(self._deadline_s):
                printed, findings = await asyncio.gather(_read(process.stdout), _read(process.stderr))
                await process.wait()
        except TimeoutError:
            return Answer(-1, f"not finished after {self._deadline_s} seconds, and ended", "")
        finally:
            if process.returncode is None:
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
                await process.wait()
        status = process.returncode or 0
        parts = [printed] if "json" in words else [printed, findings]
        text, left = "".join(kept for kept, _ in parts), sum(more for _, more in parts)
        left += max(0, len(text) - _MOST_OUTPUT)
        cut = f"\n... and {left} characters more" if left else ""
        return Answer(status, _MEANINGS.get(status, "internal error"), text[:_MOST_OUTPUT] + cut)

    def _target(self, written: str) -> str:
        """A name of a spec, or a path in the folder, without links that lead out of it."""
        if "/" not in written and not written.endswith(SUFFIXES) and not (self._folder / written).exists():
            return _plain(written)
        target = self._inside(written)
        for file in _files(self._folder / target):
            if not file.resolve().is_relative_to(self._folder):
                raise _outside(written, f"{file.relative_to(self._folder)} is a link that leads out of the folder")
        return target

    def _inside(self, written: str) -> str:
        """A path in the folder."""
        path = Path(_plain(written))
        if path.is_absolute() or ".." in path.parts or "\\" in written:
            raise _outside(written, "a path is relative to the folder, and has no `..`")
        if not (self._folder / path).resolve().is_relative_to(self._folder):
            raise _outside(written, "it leads out of the folder")
        return path.as_posix()

    def _new_place(self, name: str) -> Path:
        """A folder below `RUNS` that does not exist."""
        stem = "".join(letter for letter in name if letter.isalnum() or letter in "-_")[:80] or "run"
        number = 1
        while (self._folder / RUNS / f"{stem}-{number}").exists():
            number += 1
        folder = RUNS / f"{stem}-{number}"
        self._inside(folder.as_posix())
        return folder


async def _read(stream: StreamReader | None) -> tuple[str, int]:
    """What a process writes, until it ends: no more of it than an answer holds, and how many characters more it was."""
    assert stream is not None  # noqa: S101 - it is a pipe
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    kept, left, piece = "", 0, b"-"
    while piece:
        piece = await stream.read(_PIECE)
        text = decoder.decode(piece, final=not piece)
        left += max(0, len(text) - (_MOST_OUTPUT - len(kept)))
        kept += text[: _MOST_OUTPUT - len(kept)]
    return kept, left


def _plain(written: str) -> str:
    if not written or len(written) > _MOST_ARGUMENT or not written.isprintable():
        raise _outside(written[:80], "an argument has 1 to 1000 characters that can be printed")
    return written


def _files(folder: Path) -> Iterator[Path]:
    """The files at a folder that a check would read."""
    if folder.is_dir():
        for parent, _, names in os.walk(folder):
            yield from (Path(parent, name) for name in names if name.endswith(SUFFIXES))
    elif folder.exists():
        yield folder


def _outside(written: str, hint: str) -> Rejected:
    return Rejected([Diagnostic(E_MCP_PATH, f"{written!r} cannot be used here", hint=hint)])
