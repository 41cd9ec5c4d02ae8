"""The specs that a name can refer to: those of the project and the shipped ones, with a line about each."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from pathlib import Path

from msgspec import Struct

from specledger.core.diagnostics import Diagnostics
from specledger.kinds import KINDS, MODELS, Kinds
from specledger.load import Search
from specledger.load.document import Document
from specledger.load.library import SUFFIXES, Library


class ListedSpec(Struct, frozen=True):
    """A spec that can be referred to by its name.

    Attributes:
        kind, name: What a reference says.
        file: Where it is.
        shipped: Whether it comes with the package.
        summary: The first sentence of its `doc`, or an empty text; of a file that cannot be read, that it cannot.
    """

    kind: str
    name: str
    file: Path
    shipped: bool
    summary: str


def list_specs(kind: str | None = None, search: Search | None = None, kinds: Kinds = KINDS) -> Iterator[ListedSpec]:
    """The specs of one kind or of all kinds, by kind and name; a project's spec hides a shipped one of its name.

    Only the head of each file is looked at: what is listed may still have mistakes.
    """
    search = search or Search.at(Path())
    library = Library(search, MODELS, Diagnostics())
    for one in (kind,) if kind is not None else tuple(kinds):
        found: dict[str, ListedSpec] = {}
        for root in (search.shipped, search.project):
            for file in _files(root, one):
                found[file.stem] = ListedSpec(
                    one, file.stem, file, root == search.shipped, _summary(library.read(file))
                )
        yield from (found[name] for name in sorted(found))


def spec_names(kinds: Collection[str], search: Search | None = None) -> tuple[str, ...]:
    """The names of the specs of some kinds, by their files alone, each once: first the project's, then shipped ones."""
    search = search or Search.at(Path())
    places = [(root, kind) for root in (search.project, search.shipped) for kind in kinds]
    return tuple(dict.fromkeys(file.stem for root, kind in places for file in _files(root, kind)))


def _files(root: Path | None, kind: str) -> list[Path]:
    folder = None if root is None else root / kind
    if folder is None or not folder.is_dir():
        return []
    return sorted(file for file in folder.iterdir() if file.suffix in SUFFIXES and file.is_file())


def _summary(document: Document | None) -> str:
    if document is None:
        return "(cannot be read: `spec check` says why)"
    doc = document.root.child("doc")
    text = doc.plain() if doc is not None else None
    return re.split(r"(?<=\.) ", " ".join(text.split()), maxsplit=1)[0] if isinstance(text, str) else ""
