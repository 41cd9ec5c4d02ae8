"""What is said about the place under a cursor: a key, the spec that a name stands for, the type of an expression."""

from __future__ import annotations

from pathlib import Path

from specledger.core.diagnostics import Rejected
from specledger.load.library import kind_of, show
from specledger.pipeline.authoring import describe_key
from specledger.wings.editor.cursor import node_at
from specledger.wings.editor.project import Workspace


def hover(workspace: Workspace, file: Path, offset: int) -> str | None:
    """A text in Markdown about an offset of a file; None if there is nothing to say."""
    document = workspace.document(file)
    hit = None if document is None else node_at(document, offset)
    if document is None or hit is None:
        return None
    path, node, on_key = hit
    if on_key:
        return _about_key(kind_of(document), path)
    references = workspace.references(file)
    for reference in references.inside(file):
        if (reference.start, reference.end) == (node.place.start, node.place.end) and reference.leads is not None:
            leads = references.document(reference.leads)
            doc = None if leads is None else leads.root.child("doc")
            about = f"\n\n{doc.plain()}" if doc is not None and isinstance(doc.value, str) else ""
            return f"**{reference.kind}** `{node.value}`, {show(reference.leads)}{about}"
    typed = workspace.typed_at(file, offset)
    if typed is not None:
        text, part = typed
        return f"```cel\n{text}\n```\n\nis of the type `{part.type}`"
    return _about_key(kind_of(document), path)


def _about_key(kind: str, path: tuple[str | int, ...]) -> str | None:
    try:
        described = describe_key(kind, [str(step) for step in path])
    except Rejected:
        return None
    needed = "required" if described.required else f"default `{described.default}`" if described.default else "optional"
    allowed = f"\n\nOne of {', '.join(f'`{value}`' for value in described.allowed)}." if described.allowed else ""
    return f"**{path[-1]}**: {described.type} ({needed})\n\n{described.doc}{allowed}".strip()
