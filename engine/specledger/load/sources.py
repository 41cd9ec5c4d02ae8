"""The sources of a bundle: the documents that it was resolved from, and how to resolve them again.

Documents are named `<kind>/<file name>`, which says nothing about the machine. A link tells where a reference led if
its name alone does not. The same files give the same sources wherever they are stored. Resolving sources reads no
files, and every source must be needed.
"""

import re
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Any, Final, Literal

from msgspec import Struct, ValidationError, convert, field, to_builtins

from specledger.core.canonical import canonical_bytes
from specledger.core.diagnostics import MOST_FINDINGS, Diagnostics
from specledger.core.spans import Span
from specledger.load.bundle import Bundle, gather
from specledger.load.document import Document, Node, ResolvedRef
from specledger.load.input_filter import read_text
from specledger.load.library import E_REF_MISSING, SUFFIXES, Library, has_head, kind_of
from specledger.load.overrides import read_changes
from specledger.load.resolve import Resolver
from specledger.load.yaml_reader import parse
from specledger.spec.base import SpecKinds

ORIGIN: Final = "origin.json"
"""The file beside the documents that says how they are resolved."""

_FILE: Final = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,79}")
"""File names that are kept, their ending aside."""
_OTHER: Final = "source"


class Link(Struct, frozen=True, order=True, forbid_unknown_fields=True):
    """Where a reference leads, if not to the document of its own name.

    Attributes:
        source: The document that it is written in; one in `--set` is written in the document that was asked for.
        kind: The kind of spec that it means.
        target: Its text.
        to: The document that it leads to.
    """

    source: str = field(name="from")
    kind: str
    target: str
    to: str


class _Origin(Struct, frozen=True, forbid_unknown_fields=True):
    """How the documents are resolved, as JSON.

    Attributes:
        main: The document that was asked for.
        case: The id of the matrix case, or an empty text.
        set: The changes of `--set`, in order.
        links: Where references lead that do not lead to the document of their own name, sorted.
    """

    format: Literal["specledger/sources/v1"]
    main: str
    case: str
    set: tuple[str, ...]
    links: tuple[Link, ...]


def _lookup(kind: str, target: str, known: Collection[str]) -> str | None:
    """The document of a reference's own name, if there is one among those that are known."""
    paths = [f"{kind}/{target}{suffix}" for suffix in SUFFIXES]
    return next((path for path in paths if path in known), None)


def sources_of(
    library: Library, main: Path, leads: Iterable[ResolvedRef], case: str, settings: tuple[str, ...]
) -> dict[str, bytes]:
    """The sources of a bundle that was resolved without a finding: its documents, and how they are resolved."""
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
    links = (
        Link(names[reference.source], reference.kind, reference.target, names[reference.real]) for reference in ways
    )
    other = sorted({link for link in links if _lookup(link.kind, link.target, known) != link.to})
    origin = _Origin("specledger/sources/v1", names[first], case, settings, tuple(other))
    documents = {name: library.kept[file] for file, name in names.items()}
    return {ORIGIN: canonical_bytes(to_builtins(origin)) + b"\n", **dict(sorted(documents.items()))}


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


class InvalidSources(ValueError):  # noqa: N818 - says what the sources are, not that the engine failed
    """They are no sources, or not those of one bundle alone; the text says why."""


def load_sources(origin: Any, documents: Mapping[str, bytes], kinds: SpecKinds) -> Bundle:
    """Resolve sources again that somebody kept: what says how they are resolved, and the documents by their paths.

    Raises:
        InvalidSources: They are not what `sources_of` gives, or something in them is not needed.
        Rejected: They resolve to nothing; it carries all findings.
    """
    parsed = _read_origin(origin, documents)
    diagnostics = Diagnostics(MOST_FINDINGS)
    changes = read_changes(parsed.set, diagnostics)
    library = _SourceDocuments(parsed, documents, kinds, diagnostics)
    resolver = Resolver(library, kinds, diagnostics)
    cases = resolver.cases(Path(parsed.main), changes, parsed.case)
    diagnostics.raise_if_errors()
    if not cases:
        raise InvalidSources(f"there is no case {parsed.case!r}")
    unread = documents.keys() - library.read_so_far
    idle = sorted(unread) or sorted(link.target for link in library.links.values())
    if idle:
        raise InvalidSources(f"nothing leads to {idle[0]}")
    return gather(cases[0].key, resolver.specs, cases[0].id)


def _read_origin(origin: Any, documents: Mapping[str, bytes]) -> _Origin:
    try:
        parsed = convert(origin, _Origin)
    except ValidationError as error:
        raise InvalidSources(f"what says how they are resolved: {error}") from None
    links = parsed.links
    if list(links) != sorted(links) or len(
        {(reference.source, reference.kind, reference.target) for reference in links}
    ) < len(links):
        raise InvalidSources("links are sorted, and no reference leads to two documents")
    named = {parsed.main, *(link.source for link in links), *(link.to for link in links)}
    if not named <= documents.keys():
        raise InvalidSources(f"{min(named - documents.keys())} is none of the sources")
    return parsed


class _SourceDocuments:
    """Documents read from sources.

    Attributes:
        links: The links that were not followed yet.
    """

    def __init__(
        self, origin: _Origin, sources: Mapping[str, bytes], kinds: SpecKinds, diagnostics: Diagnostics
    ) -> None:
        self._main = origin.main
        self._sources = sources
        self._kinds = kinds
        self._diagnostics = diagnostics
        self._documents: dict[str, Document | None] = {}
        self._all = {(link.source, link.kind, link.target): link for link in origin.links}
        self.links = dict(self._all)
        self.read_so_far: set[str] = set()

    def read(self, path: Path, span: Span | None = None) -> Document | None:
        name = path.as_posix()
        if name not in self.read_so_far:
            self.read_so_far.add(name)
            self._documents[name] = self._read(name)
        return self._documents[name]

    def _read(self, name: str) -> Document | None:
        text = read_text(self._sources[name], name, self._diagnostics)
        document = None if text is None else parse(text, name, self._diagnostics)
        if document is None or not has_head(document, self._kinds, self._diagnostics):
            return None
        if kind_of(document) != name.partition("/")[0]:
            raise InvalidSources(f"{name} is of the kind {kind_of(document)}")
        return document

    def find(self, node: Node, kind: str) -> ResolvedRef | None:
        target = str(node.value)
        written = node.place.source.file
        source = written if written in self._sources else self._main
        own = _lookup(kind, target, self._sources)
        link = self._all.get((source, kind, target))
        self.links.pop((source, kind, target), None)
        if link is not None and link.to == own:
            raise InvalidSources(f"the link to {own} says nothing")
        target_file = own if link is None else link.to
        if target_file is None:
            self._diagnostics.error(E_REF_MISSING, f"there is no {kind} `{target}`", node.span)
            return None
        return ResolvedRef(Path(source), kind, target, Path(target_file), Path(target_file))

    def real(self, path: Path) -> Path:
        return path
