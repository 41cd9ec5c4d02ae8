"""Rewrite specs: laid out for `spec fmt` and editors, without names of keys that were replaced for `spec migrate`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from difflib import unified_diff
from pathlib import Path
from typing import Any

from msgspec import Struct

from specledger.core.diagnostics import Diagnostics
from specledger.kinds import KINDS
from specledger.load import Search
from specledger.load.document import Document
from specledger.load.input_filter import admit
from specledger.load.layout import comments, layout
from specledger.load.library import Library, has_head
from specledger.load.shapes import ModelType
from specledger.load.yaml_reader import parse
from specledger.spec.renames import Rename


class Rewritten(Struct, frozen=True):
    """A file with its text as it is, line breaks as in the file, and as it should be."""

    file: str
    before: str
    after: str

    @property
    def changes(self) -> bool:
        """Whether the text is another one."""
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


def rewrite_files(
    files: Sequence[str], diagnostics: Diagnostics, rewrite: Callable[[Document], str]
) -> Iterator[Rewritten]:
    """The files that can be read as specs, rewritten one by one; what `spec check` says of the others is a finding."""
    for file in files:
        findings = Diagnostics()
        library = Library(Search.at(Path(file).parent), KINDS, findings, allow_outside=True)
        document = library.read(Path(file))
        if document is not None and not findings.has_errors:
            before = library.kept[library.real(Path(file))].decode("utf-8")
            yield Rewritten(file, before, rewrite(document))
        diagnostics.extend(findings.sorted())


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
    text = layout(document, _model(document))
    read = parse(text, document.path, Diagnostics())
    if read is None or read.root.plain() != document.root.plain() or comments(read) != comments(document):
        raise RuntimeError(f"the layout of {document.path} would change its meaning")
    return text


def migrate_document(document: Document) -> str:
    """The text of a document whose head names a kind, with new names of keys in place of those that were replaced.

    Nothing but these keys is changed; a document that has the new name already is left alone.

    Raises:
        RuntimeError: Values or comments would change; that is a defect of this package.
    """
    text, members = document.text, document.root.members
    wanted: dict[str, Any] = document.root.plain()
    for rename in renames_in(document):
        key = members[rename.old].key
        assert key is not None  # noqa: S101 - a member of a mapping has a key
        text = f"{text[: key.start]}{rename.new}{text[key.end :]}"
        wanted = {rename.new if name == rename.old else name: value for name, value in wanted.items()}
    read = parse(text, document.path, Diagnostics())
    if read is None or read.root.plain() != wanted or comments(read) != comments(document):
        raise RuntimeError(f"the migration of {document.path} would change its meaning")
    return text


def renames_in(document: Document) -> list[Rename]:
    """The renames of its kind that a document needs, the last key first, so that the places of the others stay."""
    members = document.root.members
    renames: Sequence[Rename] = getattr(_model(document), "renames", ())
    needed = [
        rename for rename in renames if {rename.old, rename.beside} <= members.keys() and rename.new not in members
    ]
    return sorted(needed, key=lambda rename: members[rename.old].place.start, reverse=True)


def _model(document: Document) -> ModelType:
    kind = str(document.root.members["spec"].value).partition("/")[0]
    return KINDS[kind].model
