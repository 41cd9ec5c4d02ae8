"""Write a project folder: the files of a start in `specs/new/project`, and the JSON Schemas of all kinds.

In the shipped folder a name that begins with `dot-` stands for one that begins with a dot.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

import msgspec
from msgspec import Struct

from specledger.core.canonical import pretty
from specledger.core.diagnostics import Diagnostic, Diagnostics, Rejected, code
from specledger.kinds import KINDS
from specledger.load.input_filter import read_text
from specledger.load.shipped import find_specs
from specledger.load.yaml_reader import parse
from specledger.pipeline.editor_schemas import NAMES, schema_file, write_schemas, yaml_schemas

E_INIT = code("E_INIT", "a project cannot be written here")

SETTINGS: Final = Path(".vscode/settings.json")
"""Which schema is of which files, for VS Code."""
GOLDENS: Final = Path("fixtures/golden")
"""Where a project keeps its goldens."""
STARTS: Final = "starts.yaml"
_OF_EVERY_START: Final = "every"
_OF_EDITORS: Final = "editors"
_DOT: Final = "dot-"
_COMPILED: Final = "__pycache__"
"""What an installation writes beside the Python files of a start."""


class Edit(Struct, frozen=True):
    """A change of one text of a file, by which the run of a start passes."""

    file: str
    replace: str
    by: str


class Start(Struct, frozen=True):
    """What a project begins with: `run` names its scenario, which fails for a `reason` until the edit is made.

    Attributes:
        yours: By file what to change in it for a project of one's own, in the order in which to do it.
    """

    doc: str
    run: str
    reason: str
    edit: Edit
    yours: dict[str, str]

    def own_files(self) -> list[str]:
        """A line for each file to change, with what to change in it."""
        wide = max(map(len, self.yours))
        return [f"  {file:<{wide}}  # {what}" for file, what in self.yours.items()]


class Project(Struct, frozen=True):
    """What was written: new files without schemas, and files that existed."""

    start: Start
    written: tuple[Path, ...]
    kept: tuple[Path, ...]

    def line(self, folder: Path) -> int | None:
        """The line of the edit; None where the file is one that was kept and no longer has the text."""
        lines = (folder / self.start.edit.file).read_text(encoding="utf-8").splitlines()
        return next((number for number, text in enumerate(lines, 1) if self.start.edit.replace in text), None)


def starts() -> Mapping[str, Start]:
    """What a project can begin with, by name; Rejected as E_INIT if the shipped files are missing."""
    file = _shipped() / STARTS
    text = read_text(file.read_bytes(), str(file), Diagnostics())
    document = None if text is None else parse(text, str(file), Diagnostics())
    return msgspec.convert({} if document is None else document.root.plain(), dict[str, Start])


def editors() -> tuple[str, ...]:
    """The editors whose settings for `spec lsp` can be written; Rejected as E_INIT if the shipped files are missing."""
    return tuple(sorted(folder.name for folder in (_shipped() / _OF_EDITORS).iterdir()))


def write_project(folder: Path, name: str = "world", editor: str | None = None) -> Project:
    """Write a project whose run fails until one edit is made; files that exist are kept.

    `editor` is one whose settings for `spec lsp` are written; else VS Code is told which schema is of which files.

    Raises:
        Rejected: E_INIT.
        KeyError: There is no start of this name.
        OSError: A file cannot be written.
    """
    shipped, start = _shipped(), starts()[name]
    resolved = folder.resolve()
    if resolved == resolved.parent or (folder.exists() and not folder.is_dir()):
        what = "the root of the file system" if resolved == resolved.parent else "not a folder"
        raise Rejected([Diagnostic(E_INIT, f"{folder} is {what}", hint="name another folder: spec init DIR")])
    files = [*_files(shipped / _OF_EVERY_START), *_files(shipped / name)]
    files += [] if editor is None else _files(shipped / _OF_EDITORS / editor)
    _refuse_links(folder, [*(target for _, target in files), *map(schema_file, KINDS), NAMES, SETTINGS, GOLDENS])
    written: list[Path] = []
    kept: list[Path] = []
    for source, target in files:
        (written if _write_new(folder / target, source.read_bytes()) else kept).append(target)
    if editor is None:
        settings = pretty({"yaml.schemas": yaml_schemas()}).encode()
        (written if _write_new(folder / SETTINGS, settings) else kept).append(SETTINGS)
    write_schemas(folder)
    return Project(start, tuple(sorted(written)), tuple(kept))


def _shipped() -> Path:
    specs = find_specs()
    if specs is None:
        raise Rejected([Diagnostic(E_INIT, "the shipped files are missing")])
    return specs / "new" / "project"


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
        if file.is_file() and _COMPILED not in file.parts:
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
