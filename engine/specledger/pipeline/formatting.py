"""Lay out specs: whole files for `spec fmt`, and texts that an editor has not saved."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import unified_diff
from pathlib import Path

from msgspec import Struct

from specledger.core.diagnostics import Diagnostics
from specledger.kinds import KINDS
from specledger.load import Search
from specledger.load.document import Document
from specledger.load.input_filter import admit
from specledger.load.layout import comments, layout
from specledger.load.library import Library, has_head
from specledger.load.yaml_reader import parse


class Formatted(Struct, frozen=True):
    """A file with its text as it is, line breaks as in the file, and as it should be laid out."""

    file: str
    before: str
    after: str

    @property
    def changes(self) -> bool:
        """Whether the layout is another one."""
        return self.before != self.after

    def diff(self) -> str:
        """The change as a unified diff, without a line break at its end."""
        lines = unified_diff(
            self.before.splitlines(), self.after.splitlines(), f"a/{self.file}", f"b/{self.file}", lineterm=""
        )
        return "\n".join(lines)

    def write(self) -> None:
        """Write the file; OSError if that is not possible."""
        Path(self.file).write_text(self.after, encoding="utf-8", newline="\n")


def format_files(files: Sequence[str], diagnostics: Diagnostics) -> list[Formatted]:
    """The files that can be read as specs, laid out; what `spec check` says of the others is a finding."""
    formatted = []
    for file in files:
        findings = Diagnostics()
        library = Library(Search.at(Path(file).parent), KINDS, findings, allow_outside=True)
        document = library.read(Path(file))
        if document is not None and not findings.has_errors:
            before = library.kept[library.real(Path(file))].decode("utf-8")
            formatted.append(Formatted(file, before, format_document(document)))
        diagnostics.extend(findings.sorted())
    return formatted


def format_text(text: str, file: str) -> str | None:
    """A text laid out; None if it cannot be read as a spec."""
    diagnostics = Diagnostics()
    admitted = admit(text, file, diagnostics)
    document = None if admitted is None else parse(admitted, file, diagnostics)
    if document is None or not has_head(document, KINDS, diagnostics) or diagnostics.has_errors:
        return None
    return format_document(document)


def format_document(document: Document) -> str:
    """The text of a document whose head names a kind, laid out.

    Raises:
        RuntimeError: The layout would change values or comments; that is a defect of this package.
    """
    kind = str(document.root.members["spec"].value).partition("/")[0]
    text = layout(document, KINDS[kind].model)
    read = parse(text, document.path, Diagnostics())
    if read is None or read.root.plain() != document.root.plain() or comments(read) != comments(document):
        raise RuntimeError(f"the layout of {document.path} would change its meaning")
    return text
