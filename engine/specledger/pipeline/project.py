"""Write a project folder: the files of `specs/new/project`, the JSON Schemas of all kinds, and the goldens.

In the shipped folder a name that begins with `dot-` stands for one that begins with a dot.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from msgspec import Struct

from specledger.core.canonical import pretty
from specledger.core.diagnostics import Diagnostic, Rejected, code
from specledger.kinds import KINDS
from specledger.load.schemas import schema_for
from specledger.load.shipped import find_specs
from specledger.pipeline.checking import load_runs
from specledger.pipeline.golden import pin

E_INIT = code("E_INIT", "a project cannot be written here")

SCHEMAS: Final = Path(".specledger/schemas")
"""Where a project keeps the JSON Schemas for editors."""
GOLDENS: Final = Path("fixtures/golden")
"""Where a project keeps its goldens."""
_DOT: Final = "dot-"


class Project(Struct, frozen=True):
    """What was written: new files without schemas, files that existed, and the scenarios with their verdicts."""

    written: tuple[Path, ...]
    kept: tuple[Path, ...]
    scenarios: tuple[tuple[str, str], ...]


def schema_file(kind: str) -> Path:
    """The JSON Schema of a kind in a project."""
    return SCHEMAS / f"{kind}.schema.json"


def write_project(folder: Path) -> Project:
    """Write a project with a scenario that runs, and pin its result; files that exist are kept.

    Raises:
        Rejected: E_INIT; a kept spec is invalid.
        OSError: A file cannot be written.
    """
    shipped = find_specs()
    if shipped is None:
        raise Rejected([Diagnostic(E_INIT, "the shipped files are missing")])
    resolved = folder.resolve()
    if resolved == resolved.parent or (folder.exists() and not folder.is_dir()):
        what = "the root of the file system" if resolved == resolved.parent else "not a folder"
        raise Rejected([Diagnostic(E_INIT, f"{folder} is {what}", hint="name another folder: spec init DIR")])
    files = list(_files(shipped / "new" / "project"))
    _refuse_links(folder, [*(target for _, target in files), *map(schema_file, KINDS), GOLDENS])
    written: list[Path] = []
    kept: list[Path] = []
    for source, target in files:
        (written if _write_new(folder / target, source.read_bytes()) else kept).append(target)
    for name, kind in KINDS.items():
        _write(folder / schema_file(name), pretty(schema_for(name, kind.model)).encode())
    scenarios = []
    for target in (path for path in written if path.parts[:2] == ("specs", "scenario")):
        for bundle in load_runs([str(folder / target)]):
            pinned = pin(bundle)
            pinned.write(folder / GOLDENS)
            written += [GOLDENS / f"{pinned.name}.json", GOLDENS / f"{pinned.name}.jsonl"]
            scenarios.append((pinned.name, str(pinned.tree["result"]["verdict"])))
    return Project(tuple(sorted(written)), tuple(kept), tuple(scenarios))


def _refuse_links(folder: Path, targets: Sequence[Path]) -> None:
    """Check that nothing is written through a symbolic link, which may lead out of the folder; Rejected as E_INIT."""
    paths = [folder / part for target in targets for part in (*reversed(target.parents), target)]
    paths += (folder / GOLDENS).glob("*")
    link = next((path for path in paths if path.is_symlink()), None)
    if link is not None:
        hint = "remove the link, or name the folder that it leads to"
        raise Rejected([Diagnostic(E_INIT, f"{link} is a symbolic link", hint=hint)])


def _files(folder: Path) -> Iterator[tuple[Path, Path]]:
    """Each shipped file with its path in a project."""
    for file in sorted(folder.rglob("*")):
        if file.is_file():
            parts = (
                part.replace(_DOT, ".", 1) if part.startswith(_DOT) else part for part in file.relative_to(folder).parts
            )
            yield file, Path(*parts)


def _write_new(path: Path, data: bytes) -> bool:
    """Write a file unless it exists."""
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        with path.open("xb") as stream:
            stream.write(data)
    except FileExistsError:
        return False
    return True


def _write(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
