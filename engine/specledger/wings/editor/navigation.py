"""Where a name leads, and what changes if a spec gets another name."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from msgspec import Struct

from specledger.core.diagnostics import Diagnostic, Rejected, code
from specledger.core.spans import Span
from specledger.kinds import KINDS
from specledger.load.library import kind_of, project_of
from specledger.load.schemas import schema_for
from specledger.pipeline.references import Reference
from specledger.wings.editor.cursor import node_at
from specledger.wings.editor.project import Workspace

E_RENAME = code("E_RENAME", "a spec cannot have this name")

_SUFFIX: Final = re.compile(r"\.ya?ml$")


class Rename(Struct, frozen=True):
    """What a new name changes: texts at places, and the name of a file."""

    edits: tuple[tuple[Path, Span, str], ...]
    before: Path
    after: Path


def definition(workspace: Workspace, file: Path, offset: int) -> tuple[Path, Span] | None:
    """The file that the name under a cursor leads to, and the place of the name there."""
    reference = _reference_at(workspace, file, offset)
    if reference is None or reference.leads is None:
        return None
    leads = workspace.references(file).document(reference.leads)
    return None if leads is None else (reference.leads, leads.root.at(("name",)).span)


def renamed_at(workspace: Workspace, file: Path, offset: int) -> tuple[Path, Span] | None:
    """The file of the spec whose name is under a cursor, and the place of that name; None where no name is."""
    document = workspace.document(file)
    hit = None if document is None else node_at(document, offset)
    if hit is None:
        return None
    if hit[0] == ("name",):
        return file.resolve(), hit[1].span
    reference = _reference_at(workspace, file, offset)
    leads = None if reference is None else reference.leads
    return None if reference is None or leads is None else (leads, reference.span)


def rename(workspace: Workspace, file: Path, offset: int, name: str) -> Rename:
    """What changes if the spec whose name is under a cursor gets another one.

    Raises:
        Rejected: E_RENAME: there is no name, it is no name, another spec has it, or the spec is not of this project.
    """
    named = renamed_at(workspace, file, offset)
    references = workspace.references(file)
    document = None if named is None else references.document(named[0])
    if named is None or document is None:
        raise _refused("there is no name of a spec here")
    target, kind = named[0], kind_of(document)
    rule = schema_for(kind, KINDS[kind].model)["definitions"]["Document"]["properties"]["name"]
    if not re.fullmatch(rule["pattern"].removeprefix("^").removesuffix("$"), name) or len(name) > rule["maxLength"]:
        raise _refused(f"{name!r} is no name", "lower case, words joined by - or _")
    project = project_of(file.parent)
    if project is None or not target.is_relative_to(project.resolve()):
        raise _refused(f"{target.stem} is not a spec of this project")
    after = target.with_name(name + target.suffix)
    if after.exists():
        raise _refused(f"there is a {kind} {name} already")
    own = document.root.at(("name",)).text.span()
    edits = [(target, own, name)]
    edits += [(reference.file, reference.text_span, _renamed(reference, name)) for reference in references.to(target)]
    return Rename(tuple(dict.fromkeys(edits)), target, after)


def _renamed(reference: Reference, name: str) -> str:
    """What stands for a name, or for a path to its file."""
    written = reference.written
    suffix = _SUFFIX.search(written)
    return f"{written[: written.rfind('/') + 1]}{name}{suffix[0]}" if suffix is not None else name


def _reference_at(workspace: Workspace, file: Path, offset: int) -> Reference | None:
    inside = workspace.references(file).inside(file)
    return next((use for use in inside if use.start <= offset <= use.end), None)


def _refused(message: str, hint: str | None = None) -> Rejected:
    return Rejected([Diagnostic(E_RENAME, message, hint=hint)])
