"""The references among the specs of a project: where each name is written, and what depends on a file."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path

from msgspec import Struct

from specledger.core.diagnostics import Diagnostics
from specledger.core.spans import Span
from specledger.kinds import KINDS
from specledger.load import Search
from specledger.load.document import Document, Node
from specledger.load.library import Library, kind_of
from specledger.load.shapes import Shape, shapes_at
from specledger.pipeline.targets import expand_targets


class Reference(Struct, frozen=True):
    """A name or a path that stands for a spec of a kind.

    Attributes:
        file: The file in which it is written, links followed.
        written: The name or the path.
        start: Where it begins in the text of the file, and `end` where it ends, with quotation marks.
        span: The place of it with quotation marks, and `text_span` without them.
        leads: The file that it leads to, links followed; None if there is none.
    """

    file: Path
    kind: str
    written: str
    start: int
    end: int
    span: Span
    text_span: Span
    leads: Path | None


class References:
    """All references in some files, and in the files that these refer to."""

    def __init__(self, files: Iterable[Path], search: Search) -> None:
        """Read the files; those that cannot be read have no references."""
        self._search = search
        self._library = Library(search, KINDS, Diagnostics(), allow_outside=True)
        self._of: dict[Path, tuple[Reference, ...]] = {}
        self._kinds: dict[Path, str] = {}
        todo = list(files)
        while todo:
            file = todo.pop()
            if (real := self._library.real(file)) not in self._of:
                self._of[real] = tuple(self._read(file))
                todo += [reference.leads for reference in self._of[real] if reference.leads is not None]

    @classmethod
    def of_project(cls, project: Path, unsaved: Mapping[Path, bytes] | None = None) -> References:
        """The references in all specs of a project."""
        files = [Path(file) for file in expand_targets([str(project)]).files]
        return cls([*files, *(unsaved or ())], Search.at(project, unsaved or {}))

    def update(self, file: Path, search: Search) -> None:
        """Read one file anew, of which the search may have a text that is not saved."""
        self._search = search
        self._library = Library(search, KINDS, Diagnostics(), allow_outside=True)
        self._of[self._library.real(file)] = tuple(self._read(file))

    def files(self) -> tuple[Path, ...]:
        """The files that were read, links followed."""
        return tuple(self._of)

    def leads_nowhere(self, file: Path) -> bool:
        """Whether a file refers to a spec that there is not."""
        return any(reference.leads is None for reference in self.inside(file))

    def kind(self, file: Path) -> str | None:
        """The kind of the spec in a file; None if it cannot be read as one."""
        return self._kinds.get(self._library.real(file))

    def document(self, file: Path) -> Document | None:
        """The document in a file, if it can be read as a spec."""
        return Library(self._search, KINDS, Diagnostics(), allow_outside=True).read(file)

    def inside(self, file: Path) -> tuple[Reference, ...]:
        """The references that are written in a file."""
        return self._of.get(self._library.real(file), ())

    def to(self, file: Path) -> list[Reference]:
        """The references that lead to a file."""
        real = self._library.real(file)
        return [reference for references in self._of.values() for reference in references if reference.leads == real]

    def dependents(self, files: Collection[Path]) -> set[Path]:
        """The files themselves, and all that refer to one of them, directly or through others."""
        known = {self._library.real(file) for file in files}
        todo = [*known]
        while todo:
            more = {reference.file for reference in self.to(todo.pop())} - known
            known |= more
            todo += more
        return known

    def _read(self, file: Path) -> Iterator[Reference]:
        document = self._library.read(file)
        real = self._library.real(file)
        self._kinds.pop(real, None)
        if document is not None and kind_of(document) in KINDS:
            self._kinds[real] = kind_of(document)
            for kind, node in _referring(document):
                if isinstance(node.value, str) and "${" not in node.value:
                    lead = self._library.find(node, kind)
                    leads, at = None if lead is None else lead.real, node.place
                    yield Reference(real, kind, node.value, at.start, at.end, node.span, node.text.span(), leads)
        self._library.forget(file)


def _referring(document: Document) -> Iterator[tuple[str, Node]]:
    """Each text of a document that stands for a spec, with the kind of the spec."""
    root, kind = document.root, kind_of(document)
    if (extends := root.child("extends")) is not None:
        yield kind, extends
    for library in root.members["use"].elements if "use" in root.members else ():
        yield "library", library
    placeholders: dict[str, str] = {}
    for wanted, node in _below(root, (Shape(KINDS[kind].model),)):
        yield wanted, node
        if isinstance(node.value, str) and node.value.startswith("${"):
            placeholders[node.value[2:-1]] = wanted
    for name, wanted in placeholders.items():
        for section, step in (("params", "default"), ("params", "enum"), ("matrix", None)):
            value = root.child(section)
            value = None if value is None else value.child(name)
            value = value.child(step) if value is not None and step is not None else value
            for node in () if value is None else value.elements or (value,):
                yield wanted, node


def _below(node: Node, shapes: tuple[Shape, ...]) -> Iterator[tuple[str, Node]]:
    kind = next((shape.reference for shape in shapes if shape.reference), None)
    if kind is not None:
        name = node.child("use") if node.is_mapping else node
        if name is not None:
            yield kind, name
        return
    changes = [key for key in ("set", "under") if any(_holds_changes(shape, key) for shape in shapes)]
    for key, member in node.members.items():
        if key in changes:
            for path, value in member.members.items():
                yield from _below(value, shapes_at(KINDS["scenario"].model, tuple(path.split("."))))
        else:
            yield from _below(member, tuple(inner for shape in shapes for inner in shape.inside(key)))
    for index, element in enumerate(node.elements):
        yield from _below(element, tuple(inner for shape in shapes for inner in shape.inside(index)))


def _holds_changes(shape: Shape, key: str) -> bool:
    """Whether the values under a key take places of a scenario, by dotted paths: in arms and mutants of a suite."""
    return any(
        leaf.model is not None and {"set", "agent"} <= {*leaf.fields} and key in leaf.fields for leaf in shape.leaves
    )
