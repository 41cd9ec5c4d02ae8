"""`extends` and `use`: a document built on another one of its kind, or on the definitions of libraries.

Mappings merge recursively, a mapping merges into a list of items by their `id`, `{add: [...]}` appends to any list,
everything else is replaced. Documents merge as written, before params and references.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from specledger.core.diagnostics import Diagnostics, code
from specledger.load.composing import is_by_cases
from specledger.load.document import Document, DocumentSource, Node, ResolvedRef
from specledger.load.findings import describe, place_of
from specledger.load.library import E_REF_KIND, E_REF_NAME, SUFFIXES, kind_of
from specledger.load.overrides import has_items
from specledger.load.shapes import Shape
from specledger.spec.base import SpecKinds

_SHARED: Final = ("types", "constants", "functions")
"""What a library defines."""

MAX_CHAIN: Final = 32
"""Documents that extend one another."""

E_EXTENDS_TYPE = code("E_EXTENDS_TYPE", "`extends` is not the name of a spec")
E_EXTENDS_CYCLE = code("E_EXTENDS_CYCLE", "Documents extend one another in a circle")
E_EXTENDS_DEPTH = code("E_EXTENDS_DEPTH", "A chain of `extends` that is too long")
E_EXTENDS_USE = code("E_EXTENDS_USE", "`use` cannot add definitions of a library")
E_EXTENDS_ITEM = code("E_EXTENDS_ITEM", "An item is taken away that is not there")


class Template(Struct, frozen=True):
    """A document with all that it extends.

    Attributes:
        path: Its file, links followed.
        root: The merged tree, without `extends`.
        leads: Where its `extends` and `use`, and those of what they lead to, lead.
    """

    document: Document
    path: Path
    kind: str
    root: Node
    leads: frozenset[ResolvedRef] = frozenset()

    @property
    def name(self) -> str:
        """Its name, or its file where it has none."""
        return name_of(self.document) or self.document.path


class Templates:
    """Reads documents and merges them with what they extend, each once."""

    def __init__(self, library: DocumentSource, kinds: SpecKinds, diagnostics: Diagnostics) -> None:
        self._library = library
        self._kinds = kinds
        self._diagnostics = diagnostics
        self._done: dict[Path, Template | None] = {}

    def read(self, path: Path, reference: Node | None = None, kind: str | None = None) -> Template | None:
        """The template in a file, or None after its findings were reported."""
        template = self._build(path, (), reference)
        if template is None or reference is None:
            return template
        return template if self._is_meant(template, reference, kind or template.kind) else None

    def _build(self, path: Path, chain: tuple[Path, ...], reference: Node | None) -> Template | None:
        real = self._library.real(path)
        if real not in self._done:
            document = self._library.read(path, None if reference is None else reference.span)
            self._done[real] = None if document is None else self._extend(document, (*chain, real))
        return self._done[real]

    def _extend(self, document: Document, chain: tuple[Path, ...]) -> Template | None:
        kind, path = kind_of(document), chain[-1]
        own = self._with_libraries(document.root, kind, chain)
        if own is None:
            return None
        root, leads = own
        node = root.child("extends")
        if node is None:
            return Template(document, path, kind, root, leads)
        template = None if node.flawed else self._base(node, kind, chain)
        if template is None:
            return None
        lead, base = template
        merged = self._merge(base.root, root, (Shape(self._kinds[kind].model),))
        return Template(document, path, kind, _without(merged, "extends"), base.leads | leads | {lead})

    def _with_libraries(
        self, root: Node, kind: str, chain: tuple[Path, ...]
    ) -> tuple[Node, frozenset[ResolvedRef]] | None:
        """A document with the definitions of the libraries that it uses, and where these lead."""
        node, leads = root.child("use"), frozenset[ResolvedRef]()
        if node is None:
            return root, leads
        if not node.elements or any(not isinstance(element.value, str) for element in node.elements):
            message = "`use` is not a list of libraries"
            self._diagnostics.error(
                E_EXTENDS_USE, message, place_of(node), expected="[name, ...]", found=describe(node)
            )
            return None
        sections = [name for name in _SHARED if name in self._kinds[kind].model.model_fields]
        if "functions" not in sections:
            self._diagnostics.error(E_EXTENDS_USE, f"the kind {kind} has no functions", node.key_span)
            return None
        root = _without(root, "use")
        for element in node.elements:
            resolved = self._base(element, "library", chain)
            if resolved is None:
                return None
            leads |= resolved[1].leads | {resolved[0]}
            root = self._define(root, resolved[1].root, sections, element)
        return root, leads

    def _define(self, root: Node, library: Node, sections: Sequence[str], reference: Node) -> Node:
        """A document with the definitions of one library."""
        members = dict(root.members)
        for section in sections:
            given, own = library.child(section), members.get(section)
            if given is None:
                continue
            for name in sorted(given.members.keys() & (own.members if own is not None else {}).keys()):
                if own is not None and own.members[name] is not given.members[name]:
                    message = f"{name!r} of the library `{reference.value}` is defined here, too"
                    related = (("in the library", given.members[name].key_span),)
                    self._diagnostics.error(E_EXTENDS_USE, message, own.members[name].key_span, related=related)
            members[section] = given if own is None else replace(own, value={**given.members, **own.members})
        return replace(root, value=members)

    def _base(self, node: Node, kind: str, chain: tuple[Path, ...]) -> tuple[ResolvedRef, Template] | None:
        """The document that `extends` or one element of `use` names."""
        if not isinstance(node.value, str):
            message = "`extends` is not the name of a spec"
            self._diagnostics.error(E_EXTENDS_TYPE, message, place_of(node), expected="text", found=describe(node))
            return None
        lead = self._library.find(node, kind)
        if lead is None:
            return None
        if lead.real in chain:
            circle = " -> ".join(self._name(link) for link in (*chain[chain.index(lead.real) :], lead.real))
            self._diagnostics.error(E_EXTENDS_CYCLE, f"documents extend one another: {circle}", node.span)
            return None
        if len(chain) >= MAX_CHAIN:
            self._diagnostics.error(E_EXTENDS_DEPTH, f"more than {MAX_CHAIN} documents extend one another", node.span)
            return None
        base = self._build(lead.path, chain, node)
        return (lead, base) if base is not None and self._is_meant(base, node, kind) else None

    def _merge(self, base: Node | None, over: Node, shapes: tuple[Shape, ...]) -> Node:
        """The second tree laid over the first: mappings merge member by member, everything else replaces.

        Each value keeps the place that it comes from; a merged mapping has the place of the second.

        `shapes` is what may stand here.
        """
        added = over.members.get("add") if len(over.members) == 1 else None
        if added is not None and added.elements and (_is_list(shapes) if base is None else base.is_list):
            return replace(base or added, value=(*(base.elements if base else ()), *added.elements), key=over.key)
        if base is None:
            return over
        if over.is_mapping and has_items(base) and not is_by_cases(over):
            return self._merge_items(base, over, shapes)
        if not base.is_mapping or not over.is_mapping:
            return over
        members = dict(base.members)
        for key, node in over.members.items():
            members[key] = self._merge(members.get(key), node, _inside(shapes, key))
        return replace(over, value=members, flawed=base.flawed or over.flawed)

    def _merge_items(self, base: Node, over: Node, shapes: tuple[Shape, ...]) -> Node:
        """A mapping laid over a list of items: it changes those that it names, null takes one away.

        Others are added at the end, in alphabetical order, since the members of a mapping have none.
        """
        changes = dict(over.members)
        items = []
        for item in base.elements:
            change = changes.pop(str(item.members["id"].value), None)
            if change is None or change.value is not None:
                items.append(
                    item if change is None else self._merge(item, replace(change, key=None), _inside(shapes, 0))
                )
        for name in sorted(changes):
            change = changes[name]
            if change.value is None:
                ids = ", ".join(str(item.members["id"].value) for item in base.elements)
                hint = f"there is {ids}"
                self._diagnostics.error(E_EXTENDS_ITEM, f"there is no item {name!r} here", change.key_span, hint=hint)
            elif change.is_mapping:
                named = Node(change.key or change.place, "plain", name)
                items.append(replace(change, key=None, value={"id": named, **change.members}))
            else:
                items.append(replace(change, key=None))
        return replace(base, value=tuple(items), key=over.key, flawed=base.flawed or over.flawed)

    def _is_meant(self, template: Template, reference: Node, kind: str) -> bool:
        """Whether a template is what a reference says; this is reported."""
        target = str(reference.value)
        if template.kind != kind:
            message = f"{template.document.path} is of the kind {template.kind}"
            expected = f"a spec of the kind {kind}"
            self._diagnostics.error(E_REF_KIND, message, reference.span, expected=expected)
            return False
        if not target.endswith(SUFFIXES) and name_of(template.document) not in (target, None):
            message = f"the spec in {template.document.path} has the name `{template.name}`"
            hint = "name the file as the spec, or refer to it by its path"
            self._diagnostics.error(E_REF_NAME, message, reference.span, expected=f"the name `{target}`", hint=hint)
            return False
        return True

    def _name(self, path: Path) -> str:
        document = self._library.read(path)
        return (None if document is None else name_of(document)) or path.name


def name_of(document: Document) -> str | None:
    """The name that a document says it has."""
    node = document.root.child("name")
    return node.value if node is not None and isinstance(node.value, str) else None


def _inside(shapes: tuple[Shape, ...], step: str | int) -> tuple[Shape, ...]:
    return tuple(inner for shape in shapes for inner in shape.inside(step))


def _is_list(shapes: tuple[Shape, ...]) -> bool:
    """Whether only a list may stand here."""
    leaves = [leaf for shape in shapes for leaf in shape.leaves]
    return bool(leaves) and all(leaf.elements for leaf in leaves)


def _without(root: Node, key: str) -> Node:
    return replace(root, value={name: node for name, node in root.members.items() if name != key})
