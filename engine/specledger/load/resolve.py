"""Documents -> resolved specs: merged, filled with arguments, changed, with references replaced by keys, validated.

All mistakes of all files are found in one pass.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path as FilePath
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace
from pydantic import ValidationError

from specledger.core.diagnostics import Diagnostics, code
from specledger.core.spans import Span, Text
from specledger.load.bundle import (
    DOUBLE,
    E_SPEC_RESERVED_KEY,
    MAX_VALUES,
    ReservedKey,
    Resolved,
    dump,
    find_expressions,
    find_references,
    key_of,
    restore,
    values_in,
)
from specledger.load.cases import Case, spread
from specledger.load.changed import changes_inside, references_of_changes
from specledger.load.composing import compose
from specledger.load.document import DocumentSource, Node, Origins, Path, ResolvedRef
from specledger.load.extends import Template, Templates
from specledger.load.findings import place_of, report
from specledger.load.matrix import E_MATRIX_PLACE, choose_cases, expand
from specledger.load.overrides import E_SET_PATH, IN_THE_MATRIX, Change, apply
from specledger.load.params import Param, bind, declare, substitute
from specledger.load.shapes import Shape
from specledger.load.yaml_reader import E_YAML_DEPTH, MAX_DEPTH
from specledger.spec.base import SpecKinds

MAX_SPECS: Final = 8192
"""Specs that one load resolves, each matrix case and each set of arguments counted."""
MAX_NESTING: Final = 32
"""References inside one another."""

E_REF_CYCLE = code("E_REF_CYCLE", "Specs refer to one another in a circle")
E_REF_LIMIT = code("E_REF_LIMIT", "Too many references")


class _Prepared(Struct, frozen=True):
    """A template with its declarations read."""

    template: Template
    params: Mapping[str, Param]
    declared: frozenset[str]
    matrix: Node | None
    root: Node


class _Done(Struct):
    """What became of a document with its arguments: its key, and where the references on the way led."""

    key: str | None = None
    leads: frozenset[ResolvedRef] = frozenset()


class ResolvedCase(Struct, frozen=True):
    """One case of a document: its id, its key, and where the references of it and of what it refers to lead."""

    id: str
    key: str
    leads: frozenset[ResolvedRef]


@dataclass(slots=True)
class Resolver:
    """Resolves specs, each with the same arguments and changes once.

    Attributes:
        library: What documents are read from.
        uses: The place of the first reference to each document, by the document's path as shown to people.
    """

    library: DocumentSource
    kinds: SpecKinds
    diagnostics: Diagnostics
    specs: dict[str, Resolved] = field(default_factory=dict)
    uses: dict[str, Span] = field(default_factory=dict)
    _prepared: dict[FilePath, _Prepared] = field(default_factory=dict)
    _done: dict[tuple[Any, ...], _Done] = field(default_factory=dict)
    _values: int = 0
    _open: list[tuple[FilePath, str]] = field(default_factory=list)
    _axes: Mapping[str, Node] = field(default_factory=dict)
    _wrong: list[tuple[str, Node]] = field(default_factory=list)
    _templates: Templates = field(init=False)

    def __post_init__(self) -> None:
        self._templates = Templates(self.library, self.kinds, self.diagnostics)

    def cases(
        self, file: FilePath, changes: Sequence[Change], only: str | None = None, having: str | None = None
    ) -> list[ResolvedCase]:
        """The cases of a document; without those that have findings.

        `only` is the id of the one case that is resolved, `having` are values of those that are, such as `seed=1`; None
        for all.
        """
        template = self._templates.read(file)
        if template is None:
            return []
        prepared = self._prepare(template)
        cases = self._expanded(prepared)
        if having is not None:
            cases = choose_cases(cases, having, prepared.root, self.diagnostics)
        given, inner = _split(changes, self.diagnostics)
        for name, value in given.items():
            if any(name in case.arguments for case in cases):
                message = f"`{name}` is an axis of the matrix"
                self.diagnostics.error(E_SET_PATH, message, value.key_span, hint=IN_THE_MATRIX)
        resolved = []
        for case in cases:
            if only is None or case.id == only:
                self._axes = case.arguments if only is None else {}  # what was recorded is resolved as it was then
                done = self._resolve(prepared, {**given, **case.arguments}, inner, None)
                if done.key is not None:
                    resolved.append(ResolvedCase(case.id, done.key, done.leads))
        return resolved

    def see_expressions(self, see: Callable[[Text, Diagnostics], object]) -> None:
        """Have every expression looked at, those in specs that have findings included.

        Args:
            see: Reports what is wrong with an expression that was written somewhere; is not asked about one of which
                a finding was reported already.
        """
        reported = {diagnostic.span for diagnostic in self.diagnostics.sorted()}
        trees = [*self._wrong, *((spec.kind, spec.origins[()]) for spec in self.specs.values())]
        seen = set()
        for kind, root in trees:
            for _, node in find_expressions(Shape(self.kinds[kind].model), root):
                written = (node.place.source.file, node.place.start, node.place.end, node.value)
                if written not in seen and not node.flawed and place_of(node) not in reported:
                    seen.add(written)
                    see(node.text, self.diagnostics)

    def _prepare(self, template: Template) -> _Prepared:
        if template.path not in self._prepared:
            members = dict(template.root.members)
            node, matrix = members.pop("params", None), members.pop("matrix", None)
            declared = frozenset(() if node is None else node.members)
            root = replace(template.root, value=members)
            params = declare(node, self.diagnostics)
            self._prepared[template.path] = _Prepared(template, params, declared, matrix, root)
        return self._prepared[template.path]

    def _expanded(self, prepared: _Prepared) -> tuple[Case, ...]:
        matrix = prepared.matrix
        return (Case(),) if matrix is None else expand(matrix, prepared.params, self.diagnostics)

    def _resolve(
        self, prepared: _Prepared, arguments: Mapping[str, Node], changes: tuple[Change, ...], at: Span | None
    ) -> _Done:
        """What a document with these arguments and changes becomes; without a key after its findings were reported."""
        template = prepared.template
        values = bind(prepared.params, arguments, template.name, at, self.diagnostics)
        identity = (template.path, _freeze(values), _freeze_changes(changes))
        if identity not in self._done:
            if len(self._done) >= MAX_SPECS or self._values > MAX_VALUES:
                self._refuse_more(at)
                return _Done()
            self._done[identity] = _Done()
            self._open.append((template.path, template.name))
            self._done[identity] = self._build(prepared, values, changes)
            self._open.pop()
        return self._done[identity]

    def _refuse_more(self, at: Span | None) -> None:
        message = f"more than {MAX_SPECS} specs, or {MAX_VALUES} values and keys in them"
        hint = "split what is loaded together: fewer cases of a matrix, shorter lists of constants"
        self.diagnostics.error(E_REF_LIMIT, message, at, hint=hint)

    def _build(self, prepared: _Prepared, values: Mapping[str, Node], changes: tuple[Change, ...]) -> _Done:
        model = self.kinds[prepared.template.kind].model
        root = substitute(prepared.root, values, prepared.declared, self.diagnostics)
        root, handed_on = apply(root, model, changes, self.diagnostics, self._axes)
        root, cases = spread(compose(root, (Shape(model),), self.diagnostics), model, self._cases_of)
        refs: dict[Path, str] = {}
        leads = set(prepared.template.leads)
        keyed: dict[Path, Node] = {}
        changed = references_of_changes(root, Shape(model), self.kinds) if changes_inside(model) else ()
        for path, kind in (*find_references(Shape(model), root), *changed):
            node = root.at(path)
            done = self._follow(node, kind, handed_on.get(cases.get(path, path), ()), case=path in cases)
            key = done.key
            if not done.leads <= leads:
                leads |= done.leads
            if _is_reference(node):
                keyed[path] = replace(node, style="plain", value=key or "unresolved", flawed=key is None)
            if key is not None:
                refs[path] = key
        return _Done(self._finish(prepared.template.kind, root.put_all(keyed), refs), frozenset(leads))

    def _cases_of(self, node: Node, kind: str) -> tuple[tuple[Case, ...], Mapping[str, Param]] | None:
        """The cases and the parameters of what a reference leads to, or None after findings were reported."""
        if node.flawed or not _is_reference(node):
            return (Case(),), {}
        target, arguments = _parts(node)
        resolved = self._find(target, kind)
        if resolved is None:
            return None
        template = resolved[1]
        prepared = self._prepare(template)
        cases = self._expanded(prepared)
        for name, value in arguments.items():
            if any(name in case.arguments for case in cases):
                message = f"`{name}` is an axis of the matrix of `{template.name}`"
                self.diagnostics.error(E_MATRIX_PLACE, message, value.key_span)
        return (cases, prepared.params) if cases else None

    def _follow(self, node: Node, kind: str, changes: tuple[Change, ...], *, case: bool) -> _Done:
        """What a reference leads to, without a key if to nothing; one of a wrong shape is left to validation."""
        nothing = _Done()
        if node.flawed or not _is_reference(node):
            return nothing
        target, arguments = _parts(node)
        resolved = self._find(target, kind)
        if resolved is None:
            return nothing
        lead, template = resolved
        self.uses.setdefault(template.root.place.source.file, target.span)
        files = [path for path, _ in self._open]
        if template.path in files:
            circle = " -> ".join([*(name for _, name in self._open[files.index(template.path) :]), template.name])
            self.diagnostics.error(E_REF_CYCLE, f"specs refer to one another: {circle}", target.span)
            return nothing
        if len(self._open) >= MAX_NESTING:
            self.diagnostics.error(E_REF_LIMIT, f"references nested more than {MAX_NESTING} deep", target.span)
            return nothing
        prepared = self._prepare(template)
        if prepared.matrix is not None and not case:
            related = (("the matrix", prepared.matrix.key_span),)
            message = f"`{template.name}` has a matrix"
            hint = "every case of a scenario is taken by `cases` of an arm of a suite"
            self.diagnostics.error(E_MATRIX_PLACE, message, target.span, hint=hint, related=related)
            return nothing
        done = self._resolve(prepared, arguments, changes, target.span)
        return _Done(done.key, done.leads | {lead})

    def _find(self, target: Node, kind: str) -> tuple[ResolvedRef, Template] | None:
        """What the text of a reference leads to, or None after findings were reported."""
        lead = None if target.flawed else self.library.find(target, kind)
        template = None if lead is None else self._templates.read(lead.path, target, kind)
        return None if lead is None or template is None else (lead, template)

    def _finish(self, kind: str, root: Node, refs: Mapping[Path, str]) -> str | None:
        """Validate a tree and keep what it became."""
        model_type = self.kinds[kind].model
        deepest: tuple[Path, Node] = (), root
        keys: dict[str, str] = {}
        nodes = 0
        for path, node in root.walk():
            nodes += 1 + len(node.members)
            keys.update(zip(node.members, node.members, strict=True))
            deepest = (path, node) if len(path) > len(deepest[0]) else deepest
        if len(deepest[0]) > MAX_DEPTH:
            message = f"more than {MAX_DEPTH} collections inside one another"
            self.diagnostics.error(E_YAML_DEPTH, message, place_of(deepest[1]))
            return None
        try:
            model = model_type.model_validate(root.plain())
        except ValidationError as error:
            report(error, model_type, root, self.kinds, self.diagnostics)
            self._wrong.append((kind, root))
            return None
        try:
            data = dump(model, keys)
        except ReservedKey as error:
            location = root.at((*error.path, DOUBLE)).key_span
            self.diagnostics.error(E_SPEC_RESERVED_KEY, f"the key `{DOUBLE}` is reserved", location)
            return None
        self._values += max(nodes, values_in(data))  # a number with a decimal point is three in the resolved form
        if self._values > MAX_VALUES:
            self._refuse_more(place_of(root))
            return None
        key = key_of(kind, model.name, data)
        if key not in self.specs:
            self.specs[key] = Resolved(kind, model.name, key, restore(model_type, data), data, refs, Origins(root))
        return key


def _split(changes: Sequence[Change], diagnostics: Diagnostics) -> tuple[dict[str, Node], tuple[Change, ...]]:
    """The arguments that changes give to the spec itself, and the other changes."""
    given, inner = {}, []
    for change in changes:
        step = change.argument
        if step is not None:
            given[step.key] = replace(change.value, key=step.place)
        elif change.steps[0].key in ("with", "extends", "use", "params", "matrix"):
            message = f"`{change.steps[0].key}` is not part of the resolved spec"
            hint = "give an argument by with.param=value"
            diagnostics.error(E_SET_PATH, message, change.steps[0].place.span, hint=hint)
        else:
            inner.append(change)
    return given, tuple(inner)


def _is_reference(node: Node) -> bool:
    """Whether a node has a reference's shape: a text, or {use: text, with: mapping}."""
    if isinstance(node.value, str):
        return True
    if not {"use"} <= set(node.members) <= {"use", "with"}:
        return False
    arguments = node.members.get("with")
    return isinstance(node.members["use"].value, str) and (arguments is None or arguments.is_mapping)


def _parts(node: Node) -> tuple[Node, Mapping[str, Node]]:
    """The text of a reference and its arguments."""
    arguments = node.members.get("with")
    return node.members.get("use", node), {} if arguments is None else arguments.members


def _freeze(values: Mapping[str, Node]) -> tuple[Any, ...]:
    """What makes two sets of arguments the same: their values and types."""
    return tuple((name, repr(values[name].value)) for name in sorted(values))


def _freeze_changes(changes: tuple[Change, ...]) -> tuple[Any, ...]:
    return tuple((tuple(step.key for step in change.steps), repr(change.value.plain())) for change in changes)
