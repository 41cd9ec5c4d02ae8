"""What an editor has open: texts that are not saved, findings about them, and the references of their project."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from msgspec import Struct

from specledger.core.diagnostics import Diagnostic, Diagnostics, Severity
from specledger.expr.check.checker import Checked, observed
from specledger.expr.check.tree import Typed, walk
from specledger.kinds import KINDS
from specledger.load import Search
from specledger.load.document import Document
from specledger.load.input_filter import MAX_BYTES, admit
from specledger.load.library import has_head, project_of, show
from specledger.load.yaml_reader import parse
from specledger.pipeline.checking import check
from specledger.pipeline.references import References

_MOST_DEPENDENTS: Final = 3
"""Specs that are checked for one change, beside the changed one: all would take long where many refer to it."""


class Findings(Struct, frozen=True):
    """The findings of one check by file, and the typed expressions of the file that was checked."""

    by_file: dict[Path, list[Diagnostic]]
    typed: tuple[Checked, ...]


class Workspace:
    """The texts that an editor has open, by their files with links followed."""

    def __init__(self) -> None:
        """Begin with nothing open."""
        self.unsaved: dict[Path, bytes] = {}
        self._references: dict[Path, References] = {}

    def put(self, file: Path, text: str) -> None:
        """Keep a text that is not saved, or saved and open."""
        self.unsaved[file.resolve()] = text.encode("utf-8", "surrogatepass")[: MAX_BYTES + 1]
        for project, references in self._references.items():
            if file.resolve().is_relative_to(project.resolve()):
                references.update(file, Search.at(project, self._inside(project)))

    def drop(self, file: Path) -> None:
        """Forget a text: the file on the disk counts again."""
        self.unsaved.pop(file.resolve(), None)
        self.forget_references()

    def forget_references(self) -> None:
        """Read all files anew when they are asked for next: some may be new, or gone."""
        self._references.clear()

    def text(self, file: Path) -> str:
        """The text that is open, or the one on the disk; empty if it cannot be read, or is too large for a spec."""
        try:
            data = self.unsaved.get(file.resolve())
            if (file.stat().st_size if data is None else len(data)) > MAX_BYTES:
                return ""
            return (file.read_bytes() if data is None else data).decode("utf-8").replace("\r\n", "\n")
        except (OSError, ValueError):
            return ""

    def search(self, file: Path) -> Search:
        """Where names of a file are looked for."""
        return Search.at(file.parent, self.unsaved)

    def document(self, file: Path) -> Document | None:
        """The document of a text, if it can be read as a spec."""
        diagnostics = Diagnostics()
        text = admit(self.text(file), show(file), diagnostics)
        document = None if text is None else parse(text, show(file), diagnostics)
        return document if document is not None and has_head(document, KINDS, diagnostics) else None

    def references(self, file: Path) -> References:
        """The references of the project of a file."""
        project = project_of(file.parent) or file.parent
        if project not in self._references:
            self._references[project] = References.of_project(project, self._inside(project))
        return self._references[project]

    def check(self, file: Path) -> Findings:
        """Check a file, and what refers to it, so that its expressions are typed where they are used."""
        targets = [show(file), *map(show, self._users(file))]
        typed: list[Checked] = []

        def keep(checked: Checked) -> None:
            if checked.text.file == targets[0]:
                typed.append(checked)

        with observed(keep):
            _, diagnostics = check(targets, search=self.search(file))
        by_file: dict[Path, list[Diagnostic]] = {file.resolve(): []}
        for diagnostic in diagnostics:
            path = file if diagnostic.span is None else Path(diagnostic.span.file)
            by_file.setdefault(path.resolve(), []).append(diagnostic)
        if any(diagnostic.severity is Severity.ERROR for diagnostic in by_file[file.resolve()]):
            by_file = {file.resolve(): by_file[file.resolve()]}
        return Findings(by_file, tuple(typed))

    def typed_at(self, file: Path, offset: int) -> tuple[str, Typed] | None:
        """The innermost typed part of an expression at an offset of a file, with its text."""
        document = self.document(file)
        if document is None:
            return None
        position = document.root.place.source.position(offset)
        parts = [
            (part.end - part.start, checked.text.value[part.start : part.end], part)
            for checked in self.check(file).typed
            for part in _covering(checked, (position.line, position.column))
        ]
        if not parts:
            return None
        _, text, part = min(parts, key=lambda part: part[0])
        return text, part

    def _users(self, file: Path) -> list[Path]:
        """Some specs in which the expressions of a file are typed, those first that refer to it themselves."""
        references = self.references(file)
        direct = {reference.file for reference in references.to(file)}
        users = references.dependents([file]) - {file.resolve()}
        typing = [user for user in users if self._types(references, user)]
        return sorted(typing, key=lambda user: (user not in direct, user))[:_MOST_DEPENDENTS]

    def _types(self, references: References, user: Path) -> bool:
        """Whether a check of a spec types what it refers to, and does not compile many others that can be run."""
        name = references.kind(user)
        kind = None if name is None else KINDS[name]
        many = any(KINDS[reference.kind].runs for reference in references.inside(user) if reference.kind in KINDS)
        return kind is not None and kind.compiles_alone and not many

    def _inside(self, project: Path) -> dict[Path, bytes]:
        real = project.resolve()
        return {file: data for file, data in self.unsaved.items() if file.is_relative_to(real)}


def _covering(checked: Checked, position: tuple[int, int]) -> Iterator[Typed]:
    """The parts of an expression whose text is at a line and a column."""
    for part in walk(checked.root):
        if 0 <= part.start < part.end <= len(checked.text.value):
            span = checked.text.span(part.start, part.end)
            if (span.start.line, span.start.column) <= position <= (span.end.line, span.end.column):
                yield part
