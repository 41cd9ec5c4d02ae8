"""Write a first spec of a kind, and describe the keys of a kind.

First specs are the files `specs/new/<kind>/*.yaml`; descriptions of keys are those of the models.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cache
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from typing import Any, Final

from msgspec import Struct

import specledger
from specledger.core.canonical import canonical_bytes
from specledger.core.diagnostics import Diagnostic, Rejected, code, suggest
from specledger.core.floats import FLOATS_ANYWHERE
from specledger.core.wing import is_in_missing_wing, missing_wings, starts
from specledger.evidence.receipts import ReceiptTypes
from specledger.evidence.receipts.schemas import schema_of
from specledger.kinds import KINDS
from specledger.load.library import SUFFIXES, project_of
from specledger.load.schemas import schema_for
from specledger.load.shapes import Shape
from specledger.load.shipped import find_schemas, find_specs
from specledger.pipeline.editor_schemas import schema_file
from specledger.spec.base import QFixed, format_qfixed

E_NEW_KIND = code("E_NEW_KIND", "There is no first spec of this kind")
E_NEW_NAME = code("E_NEW_NAME", "This cannot be the name of a spec")
E_NEW_EXISTS = code("E_NEW_EXISTS", "The file exists")
E_EXPLAIN_PATH = code("E_EXPLAIN_PATH", "There is no such key")

RECEIPTS: Final = "receipts/"
"""What the path of a field of a receipt begins with, before the name of the kind of evidence."""

_FIXED: Final = set(Shape.of(QFixed).marks)
_FORMS: Final = {
    r"^[A-Za-z][A-Za-z0-9_]*$": "a name",
    r"^[A-Za-z][A-Za-z0-9_-]*$": "a name, also with hyphens",
    r"^[a-z][a-z0-9]*([_-][a-z0-9]+)*$": "words in small letters, joined by hyphens or underscores",
    r"^[A-Za-z][A-Za-z0-9_]*(\.[A-Za-z][A-Za-z0-9_]*)*$": "a name, or a path of names with dots",
}
"""The usual patterns of texts in words."""

_LIMITS: Final = {
    "minimum": "at least {}",
    "maximum": "at most {}",
    "minLength": "{} characters or more",
    "maxLength": "at most {} characters",
}
_NAME_LINE: Final = re.compile(r"^name:[^\n]*$", re.MULTILINE)


@cache
def load_codes() -> None:
    """Import every module below the command line, so that all diagnostic codes are registered.

    A module of an extra or of a wing that is not installed registers none.
    """
    for module in walk_packages(specledger.__path__, "specledger."):
        if module.name.split(".")[1] not in ("cli", "pytest_plugin", "__main__"):
            try:
                import_module(module.name)
            except ModuleNotFoundError as error:
                name = error.name or ""
                if name.partition(".")[0] == "specledger" and not is_in_missing_wing(name):
                    raise


def kinds_with_start() -> tuple[str, ...]:
    """The kinds with a first spec."""
    return tuple(kind for kind in KINDS if _start_of(kind) is not None)


def write_new(kind: str, name: str | None = None, out: Path | None = None, tools: Sequence[Path] = ()) -> Path:
    """Write a first spec of a kind. By default the file is named after the spec, and the spec after the file.

    Where there is a folder `specs`, it is written to the folder of its kind below that.

    Args:
        kind: The kind.
        name: Its name.
        out: The file.
        tools: Lists of tools, or logs, of which the spec is made; else it is the one that is shipped.

    Returns:
        The file that was written.

    Raises:
        Rejected: E_NEW_KIND, E_NEW_NAME, E_NEW_EXISTS, or there are no tools.
        OSError: The file cannot be written.
    """
    start = _start_of(kind)
    if start is None:
        near = suggest(kind, kinds_with_start())
        hint = f"did you mean `{near}`?" if near else f"there is {', '.join(kinds_with_start())}"
        message = f"no first spec of the kind {kind} is shipped" if kind in KINDS else f"there is no kind {kind}"
        raise Rejected([Diagnostic(E_NEW_KIND, message, hint=hint)])
    name = name or (start.stem if out is None else out.stem)
    rule = schema_for(kind, KINDS[kind].model)["definitions"]["Document"]["properties"]["name"]
    if not re.fullmatch(rule["pattern"].removeprefix("^").removesuffix("$"), name) or len(name) > rule["maxLength"]:
        raise Rejected([Diagnostic(E_NEW_NAME, f"{name!r} is no name", hint="for instance `my-first-one`")])
    folder = Path("specs", kind) if Path("specs").is_dir() else Path()
    file = folder / (name + SUFFIXES[0]) if out is None else out
    if file.suffix not in SUFFIXES:
        raise Rejected([Diagnostic(E_NEW_NAME, f"{file} is no YAML file", hint=f"{file.name}{SUFFIXES[0]}")])
    if tools:
        text = _of_tools(kind, name, tools)
    else:
        text = _NAME_LINE.sub(f"name: {name}", start.read_text(encoding="utf-8"), count=1)
    _write_fresh(file, _modeline(kind, file) + text, name if out is None else file.stem)
    return file


def _of_tools(kind: str, name: str, tools: Sequence[Path]) -> str:
    """The text of a spec that is made of lists of tools."""
    makers = starts()
    if kind not in makers:
        hint = f"what is made of them: {', '.join(makers)}" if makers else missing_wings() or None
        raise Rejected([Diagnostic(E_NEW_KIND, f"no first spec of the kind {kind} is made of tools", hint=hint)])
    return makers[kind](tools, name)


def _write_fresh(file: Path, text: str, stem: str) -> None:
    """Write a file that does not exist."""
    file.parent.mkdir(parents=True, exist_ok=True)
    try:
        with file.open("x", encoding="utf-8", newline="\n") as stream:
            stream.write(text)
    except FileExistsError:
        other = file.with_name(f"{stem}-2{file.suffix}")
        hint = f"nothing is written over a file: name another one, such as --out {other}"
        raise Rejected([Diagnostic(E_NEW_EXISTS, f"{file} exists", hint=hint)]) from None


def _modeline(kind: str, file: Path) -> str:
    """The comment by which editors find the JSON Schema of a file: of its project, else of this installation."""
    project, data = project_of(file.parent), find_schemas()
    own = None if project is None else project / schema_file(kind)
    if own is not None and own.is_file():
        location = Path(os.path.relpath(own, file.parent)).as_posix()
    elif data is not None:
        location = (data / "kinds" / f"{kind}.schema.json").as_uri()
    else:
        return ""
    return f"# yaml-language-server: $schema={location}\n"


def _start_of(kind: str) -> Path | None:
    folder = find_specs()
    files = [] if folder is None or kind not in KINDS else sorted((folder / "new" / kind).glob("*" + SUFFIXES[0]))
    return files[0] if files else None


def about_kinds() -> Mapping[str, str]:
    """What each kind of spec is, in a sentence: what the first line of its model's module says after the colon."""
    firsts = {
        name: (sys.modules[kind.model.__module__].__doc__ or "").partition("\n")[0] for name, kind in KINDS.items()
    }
    return {kind: text.partition(": ")[2] for kind, text in firsts.items()}


class Described(Struct, frozen=True):
    """The description of one key of a kind, or of one field of a receipt.

    Attributes:
        type: The allowed values, in words.
        default: The default as JSON text, or None.
        doc: Its meaning, as its model has it; of a value under a name that the author chooses it may be empty.
    """

    path: str
    type: str
    required: bool
    default: str | None
    allowed: tuple[str, ...]
    doc: str
    keys: tuple[str, ...]


def describe(path: str) -> Described:
    """Describe a path such as `scenario.probes` or `governor.gates.deny`; of a receipt `receipts/run.step.chosen`."""
    kind, *steps = path.split(".")
    return describe_key(kind, steps)


def describe_key(kind: str, steps: Sequence[str]) -> Described:
    """Describe the key to which some steps lead in documents of a kind, or in receipts.

    Raises:
        Rejected: E_EXPLAIN_PATH, if there is none.
    """
    path, types = ".".join([kind, *steps]), _receipts().get(kind)
    if kind not in KINDS and types is None:
        raise _missing(path, kind, [*KINDS, *_receipts()], "kind")
    node = _Node.of_receipts(kind, types) if types else _Node.of_kind(kind)
    for step in steps:
        below = node.below(step)
        if below is None:
            raise _missing(path, step, node.names(), "key")
        node = below
    default = node.schema.get("default")
    return Described(
        path=path,
        type=node.words() if steps else "what receipts hold, by their types" if types else "a document",
        required=node.required,
        default=None if default is None else node.show(default),
        allowed=tuple(node.allowed()),
        doc=node.about(),
        keys=node.names(),
    )


def keys_named(name: str) -> list[Described]:
    """The keys of this name at the top of documents, of each kind that has it."""
    fields = {kind: KINDS[kind].model.model_fields.items() for kind in KINDS}
    having = [kind for kind, of in fields.items() if any(name == (field.alias or own) for own, field in of)]
    return [describe(f"{kind}.{name}") for kind in having]


def fields_named(name: str) -> list[Described]:
    """The fields of this name in receipts, the first one of each meaning."""
    bodies = [f"{kind}.{type_}" for kind, types in _receipts().items() for type_ in types]
    having = (describe(f"{body}.{name}") for body in bodies if name in describe(body).keys)
    return list({field.doc: field for field in reversed([*having])}.values())[::-1]


def _receipts() -> Mapping[str, ReceiptTypes]:
    """The types of receipts by the path that describes them: `receipts/run`."""
    return {f"{RECEIPTS}{name}": types for name, types in KINDS.receipts().items()}


@cache
def _receipt_schema(kind: str) -> Mapping[str, Any]:
    return schema_of(kind.removeprefix(RECEIPTS), _receipts()[kind])


@cache
def _schema(kind: str) -> Mapping[str, Any]:
    return KINDS[kind].model.model_json_schema(by_alias=True, ref_template="{model}")


def _missing(path: str, step: str, known: Collection[str], what: str) -> Rejected:
    near = suggest(step, known)
    hint = f"did you mean `{near}`?" if near else f"there is {', '.join(known)}" if known else "nothing is below it"
    return Rejected([Diagnostic(E_EXPLAIN_PATH, f"there is no {what} `{step}` in `{path}`", hint=hint)])


class _Node(Struct, frozen=True):
    """A node of a model: its JSON Schema and its annotations."""

    schema: Mapping[str, Any]
    shapes: tuple[Shape, ...]
    known: Mapping[str, Any]
    required: bool = True

    @classmethod
    def of_kind(cls, kind: str) -> _Node:
        """The documents of a kind."""
        schema = _schema(kind)
        return cls(schema, (Shape(KINDS[kind].model),), schema.get("$defs", {}))

    @classmethod
    def of_receipts(cls, kind: str, types: ReceiptTypes) -> _Node:
        """The bodies of receipts, by their types."""
        schema = _receipt_schema(kind)
        known = {f"#/$defs/{name}": below for name, below in schema["$defs"].items()}
        bodies = {type_: {"$ref": f"#/$defs/{class_.__name__}"} for type_, class_ in types.items()}
        return cls({"description": schema["description"], "type": "object", "properties": bodies}, (), known)

    def names(self) -> tuple[str, ...]:
        """The keys here, or those of an item of a list or of a mapping of free names."""
        own = {key: None for leaf in self._leaves() for key in leaf.get("properties", ())}
        return tuple(own) or tuple(key for inside in self._items() for key in inside.names())

    def below(self, step: str) -> _Node | None:
        """The node under a key; names that authors choose and indices may be left out."""
        for leaf in self._leaves():
            if step in leaf.get("properties", {}):
                shapes = tuple(inner for shape in self.shapes for inner in shape.inside(step))
                return _Node(leaf["properties"][step], shapes, self.known, step in leaf.get("required", ()))
        items = list(self._items())
        if step.isdigit() or not self.names():
            return items[0] if items else None
        node = next((node for item in items for node in [item.below(step)] if node), None)
        named = any(leaf.get("type") == "object" and "properties" not in leaf for leaf in self._leaves())
        return node or (items[0] if named and suggest(step, self.names()) is None else None)

    def allowed(self) -> Iterator[str]:
        """The values of an enumeration."""
        for leaf in self._leaves():
            yield from map(str, leaf.get("enum", [leaf["const"]] if "const" in leaf else []))

    def show(self, value: Any) -> str:
        """A value as it is written in documents."""
        if any(_FIXED.issubset(shape.marks) for shape in self.shapes):
            return format_qfixed(value)
        return canonical_bytes(value, FLOATS_ANYWHERE).decode()

    def about(self) -> str:
        """What a key means; of a value under a free name what its model is, and empty if it has none."""
        models = (leaf.get("description", "") for leaf in self._leaves() if "properties" in leaf)
        doc = self.schema.get("description") or next(models, "")
        return "" if doc == self.schema.get("$comment") else " ".join(doc.split())

    def words(self) -> str:
        """The allowed values in a few words."""
        kinds = {shape.reference: None for shape in self.shapes if shape.reference}
        if kinds:
            return f"a reference to a spec of the kind {', '.join(kinds)}"
        return " or ".join(dict.fromkeys(self._word(leaf) for leaf in self._leaves()))

    def _word(self, leaf: Mapping[str, Any]) -> str:
        items = list(_Node(leaf, self.shapes, self.known)._items())
        if leaf.get("type") == "array":
            return "a list; each item: " + " or ".join(item.words() for item in items)
        if "properties" in leaf:
            return f"a mapping of the keys {', '.join(leaf['properties'])}"
        if leaf.get("type") == "object":
            return "a mapping of names; each value: " + (" or ".join(item.words() for item in items) or "anything")
        if "enum" in leaf or "const" in leaf:
            return "one of the allowed values"
        if "$comment" in leaf:
            return str(leaf["$comment"])
        words = {"string": "text", "integer": "an integer", "number": "a number", "boolean": "true or false"}
        pattern = leaf.get("pattern")
        word = _FORMS.get(str(pattern)) or words.get(str(leaf.get("type")), "anything")
        limits = [template.format(leaf[name]) for name, template in _LIMITS.items() if name in leaf]
        return ", ".join([word, *limits, *([] if pattern is None or pattern in _FORMS else [f"of the form {pattern}"])])

    def _leaves(self) -> Iterator[Mapping[str, Any]]:
        """The alternatives of this node, with names of models resolved."""
        waiting = [self.schema]
        while waiting:
            schema = waiting.pop(0)
            branches = [*schema.get("anyOf", ()), *schema.get("oneOf", ())]
            if "$ref" in schema:
                branches.append(self.known[schema["$ref"]])
            if branches:
                waiting = branches + waiting
            elif schema.get("type") != "null":
                yield schema

    def _items(self) -> Iterator[_Node]:
        """The items of a list, or the values of a mapping of free names."""
        for leaf in self._leaves():
            if isinstance(leaf.get("items"), Mapping):
                shapes = tuple(inner for shape in self.shapes for inner in shape.inside(0))
                yield _Node(leaf["items"], shapes, self.known)
            free = [leaf.get("additionalProperties"), *leaf.get("patternProperties", {}).values()]
            for inside in free:
                if isinstance(inside, Mapping):
                    shapes = tuple(inner for shape in self.shapes for inner in shape.inside("*"))
                    yield _Node(inside, shapes, self.known)
