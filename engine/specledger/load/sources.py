"""What a bundle of specs was resolved from: the bytes of its documents, and what else it takes to resolve them again.

Decides how documents are called where their files are not: `<kind>/<file name>`, which says nothing of the machine, and
where a reference led that such a name alone does not tell. The same files give the same sources wherever they lie.
Refuses to know what the documents say, and where sources are kept.
"""

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from specledger.core.canonical import canonical_bytes
from specledger.load.document_source import ResolvedRef
from specledger.load.head import kind_of
from specledger.load.library import SUFFIXES, Library

FORMAT: Final = "specledger/sources/v1"
ORIGIN: Final = "origin.json"
"""The file beside the documents that says how they are resolved."""

_FILE: Final = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,79}")
"""File names that are kept, their ending aside."""
_OTHER: Final = "source"


@dataclass(frozen=True, slots=True, order=True)
class Link:
    """Where a reference leads, if not to the document of its own name.

    Attributes:
        source: The document that it is written in; one in `--set` is written in the document that was asked for.
        kind: The kind of spec that it means.
        target: Its text.
        to: The document that it leads to.
    """

    source: str
    kind: str
    target: str
    to: str

    def document(self) -> dict[str, str]:
        """The link as JSON."""
        return {"from": self.source, "kind": self.kind, "target": self.target, "to": self.to}


@dataclass(frozen=True, slots=True)
class Sources:
    """What one bundle was resolved from.

    Attributes:
        main: The document that was asked for.
        case: The id of the matrix case, or an empty text.
        settings: The changes of `--set`, in order.
        links: Where references lead that do not lead to the document of their own name, sorted.
        documents: The bytes of each document by its path.
    """

    main: str
    case: str
    settings: tuple[str, ...]
    links: tuple[Link, ...]
    documents: Mapping[str, bytes]

    def origin(self) -> dict[str, Any]:
        """How the documents are resolved, as JSON."""
        return {
            "format": FORMAT,
            "main": self.main,
            "case": self.case,
            "set": list(self.settings),
            "links": [link.document() for link in self.links],
        }

    def files(self) -> dict[str, bytes]:
        """The documents, and the file that says how they are resolved, by their paths."""
        return {ORIGIN: canonical_bytes(self.origin()) + b"\n", **self.documents}


def lookup(kind: str, target: str, known: Collection[str]) -> str | None:
    """The document of a reference's own name, if there is one among those that are known."""
    paths = [f"{kind}/{target}{suffix}" for suffix in SUFFIXES]
    return next((path for path in paths if path in known), None)


def sources_of(
    library: Library, main: Path, leads: Iterable[ResolvedRef], case: str, settings: tuple[str, ...]
) -> Sources:
    """The sources of a bundle that was resolved without a finding.

    Args:
        library: What its files were read from.
        main: The file that was asked for.
        leads: Where the references on the way led.
        case: The id of the matrix case.
        settings: The changes of `--set`, in order.
    """
    first, ways = library.real(main), sorted(set(leads), key=lambda lead: (lead.kind, lead.target))
    used = {first, *(lead.real for lead in ways)}
    names: dict[Path, str] = {}
    taken: set[str] = set()
    for file in library.kept:
        if file in used:
            document = library.read(file)
            assert document is not None  # noqa: S101 - specs were resolved from it
            names[file] = _name(kind_of(document), file.name, taken)
            taken.add(names[file].casefold())
    known = frozenset(names.values())
    links = (Link(names[one.source], one.kind, one.target, names[one.real]) for one in ways)
    other = sorted({link for link in links if lookup(link.kind, link.target, known) != link.to})
    documents = {name: library.kept[file] for file, name in names.items()}
    return Sources(names[first], case, settings, tuple(other), dict(sorted(documents.items())))


def _name(kind: str, file: str, taken: Collection[str]) -> str:
    """What a document is called: by its file if that is a plain name, and with a number if another one has its name."""
    stem, dot, ending = file.rpartition(".")
    plain = dot + ending in SUFFIXES and _FILE.fullmatch(stem)
    stem, suffix = (stem, dot + ending) if plain else (_OTHER, SUFFIXES[0])
    name, number = f"{kind}/{stem}{suffix}", 1
    while name.casefold() in taken:
        number += 1
        name = f"{kind}/{stem}-{number}{suffix}"
    return name
