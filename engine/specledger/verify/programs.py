"""Which programs and functions answered a run: the command that the specs name, and the files that the tape names."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from specledger.core.canonical import canonical_bytes
from specledger.evidence.layout import MAX_SPECS, SPECS, TAPE
from specledger.oracles.recording import TapeError
from specledger.oracles.tape_file import read_head
from specledger.verify.checks import E_SPECS
from specledger.verify.manifest import read_document

NO_PROGRAM: Final = "none, since no program answered"
"""What stands for the program of evidence that asked none."""
WAYS: Final = ("command", "python")
"""How an agent outside is asked that is no model; a program has one of these, and `files`."""


def programs_of(folder: Path, listed: Iterable[str]) -> list[Mapping[str, Any]]:
    """The different programs of a bundle and of those in it; `listed` are the paths of its files."""
    folders = (folder / path.removesuffix(TAPE) for path in listed if path.rpartition("/")[2] == TAPE)
    return in_order(program for inside in folders for program in _programs(inside))


def in_order(programs: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Programs in the order of their canonical forms, without repetition."""
    unique = {canonical_bytes(dict(program)): program for program in programs}
    return [unique[form] for form in sorted(unique)]


def _programs(folder: Path) -> Iterator[Mapping[str, Any]]:
    document = read_document(folder / SPECS, MAX_SPECS, E_SPECS)
    agent = document["specs"].get(document["specs"][document["root"]].get("agent"), {})
    asked = agent.get("outside", {})
    try:
        files = dict(read_head(folder / TAPE).programs)
    except TapeError:  # a discovery has another tape
        return
    yield from ({way: asked[way], "files": files} for way in WAYS if way in asked)


def program_words(programs: Sequence[Mapping[str, Any]]) -> str:
    """Programs in words: what was started or called, and its files with their whole digests."""
    return ", ".join(map(_words, programs)) or NO_PROGRAM


def _words(program: Mapping[str, Any]) -> str:
    called = shlex.join(program["command"]) if "command" in program else program["python"]
    files = [f"{shlex.quote(path)} {digest}" for path, digest in sorted(program["files"].items())]
    return f"`{called}` with {' and '.join(files) or 'no file of it'}"
