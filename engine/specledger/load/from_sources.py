"""Sources -> the bundle that they resolve to: the door for whoever has sources from somebody else.

Decides that nothing but the sources is read, that every one of them is needed, and that they say in one way alone how
they are resolved. Refuses to open any file; what somebody else wrote is bounded as everybody's documents are.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from specledger.core.diagnostics import MOST_FINDINGS, Diagnostics
from specledger.core.spans import Span
from specledger.load.bundle import Bundle, gather
from specledger.load.document import Document, Node
from specledger.load.document_source import ResolvedRef
from specledger.load.head import has_head, kind_of
from specledger.load.input_filter import read_text
from specledger.load.library import E_REF_MISSING
from specledger.load.overrides import read_changes
from specledger.load.resolve import Resolver
from specledger.load.sources import FORMAT, Link, Sources, lookup
from specledger.load.tree import parse
from specledger.spec.base import Models

_KEYS: Final = {"format", "main", "case", "set", "links"}
_LINK: Final = {"from", "kind", "target", "to"}


class InvalidSources(ValueError):  # noqa: N818 - says what the sources are, not that the engine failed
    """They are no sources, or not those of one bundle alone; the text says why."""


def read_sources(origin: Any, documents: Mapping[str, bytes]) -> Sources:
    """The sources that somebody kept.

    Args:
        origin: What says how they are resolved, as JSON.
        documents: Their bytes by their paths.

    Raises:
        InvalidSources: It is not what `Sources.origin` gives for such documents.
    """
    if not isinstance(origin, dict) or origin.keys() != _KEYS or origin["format"] != FORMAT:
        raise InvalidSources(f"what says how they are resolved has the keys {', '.join(sorted(_KEYS))}")
    if not all(isinstance(text, str) for text in (origin["main"], origin["case"], *_list(origin["set"]))):
        raise InvalidSources("main, case and what is set are texts")
    links = tuple(_link(link) for link in _list(origin["links"]))
    if list(links) != sorted(links) or len({(one.source, one.kind, one.target) for one in links}) < len(links):
        raise InvalidSources("links are sorted, and no reference leads to two documents")
    named = {origin["main"], *(link.source for link in links), *(link.to for link in links)}
    if not named <= documents.keys():
        raise InvalidSources(f"{min(named - documents.keys())} is none of the sources")
    return Sources(origin["main"], origin["case"], tuple(origin["set"]), links, documents)


def load_sources(sources: Sources, models: Models) -> Bundle:
    """Resolve sources again.

    Raises:
        InvalidSources: Something in them is not needed for that.
        Rejected: They resolve to nothing; it carries all findings.
    """
    diagnostics = Diagnostics(MOST_FINDINGS)
    changes = read_changes(sources.settings, diagnostics)
    shelf = _Kept(sources, models, diagnostics)
    resolver = Resolver(shelf, models, diagnostics)
    cases = resolver.cases(Path(sources.main), changes, sources.case)
    diagnostics.raise_if_errors()
    if not cases:
        raise InvalidSources(f"there is no case {sources.case!r}")
    idle = sorted({*sources.documents} - shelf.read_so_far) or sorted(link.target for link in shelf.links.values())
    if idle:
        raise InvalidSources(f"nothing leads to {idle[0]}")
    return gather(cases[0].key, resolver.specs, cases[0].id)


class _Kept:
    """Sources as whoever resolves them sees them.

    Attributes:
        links: The links that were not followed yet.
        read_so_far: The documents that were read.
    """

    def __init__(self, sources: Sources, models: Models, diagnostics: Diagnostics) -> None:
        self._sources = sources
        self._models = models
        self._diagnostics = diagnostics
        self._documents: dict[str, Document | None] = {}
        self._known = frozenset(sources.documents)
        self._all = {(link.source, link.kind, link.target): link for link in sources.links}
        self.links = dict(self._all)
        self.read_so_far: set[str] = set()

    def read(self, path: Path, span: Span | None = None) -> Document | None:
        name = path.as_posix()
        if name not in self.read_so_far:
            self.read_so_far.add(name)
            self._documents[name] = self._read(name)
        return self._documents[name]

    def _read(self, name: str) -> Document | None:
        text = read_text(self._sources.documents[name], name, self._diagnostics)
        document = None if text is None else parse(text, name, self._diagnostics)
        if document is None or not has_head(document, self._models, self._diagnostics):
            return None
        if kind_of(document) != name.partition("/")[0]:
            raise InvalidSources(f"{name} is of the kind {kind_of(document)}")
        return document

    def find(self, node: Node, kind: str) -> ResolvedRef | None:
        target = str(node.value)
        written = node.place.source.file
        source = written if written in self._known else self._sources.main
        own = lookup(kind, target, self._known)
        link = self._all.get((source, kind, target))
        self.links.pop((source, kind, target), None)
        if link is not None and link.to == own:
            raise InvalidSources(f"the link to {own} says nothing")
        found = own if link is None else link.to
        if found is None:
            self._diagnostics.error(E_REF_MISSING, f"there is no {kind} `{target}`", node.span)
            return None
        return ResolvedRef(Path(source), kind, target, Path(found), Path(found))

    def real(self, path: Path) -> Path:
        return path


def _list(value: Any) -> Sequence[Any]:
    if not isinstance(value, list):
        raise InvalidSources("what is set, and the links, are lists")
    return value


def _link(value: Any) -> Link:
    if not isinstance(value, dict) or value.keys() != _LINK or not all(isinstance(one, str) for one in value.values()):
        raise InvalidSources(f"a link has the keys {', '.join(sorted(_LINK))}")
    return Link(value["from"], value["kind"], value["target"], value["to"])
