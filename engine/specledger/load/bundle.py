"""The closed set of resolved specs that a run needs, and its digest.

The resolved form is what is hashed, stored in evidence and read back. A bundle from evidence is validated exactly as
one from files.

The data of a spec are its model's values by the keys of documents, without those that equal their defaults. They hold
no floats: a number with a decimal point is `{"$double": "0.5"}`, the shortest decimal text of the binary64, because the
canonical form would merge 6.0 with 6. A reference is the key of another spec of the bundle.

A key is `<kind>/<name>@<16 hexadecimal digits>`, the digits from the digest of the spec's data: the same spec has the
same key in every bundle, two specs of one name have different ones, and no circle can be closed.
"""

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from msgspec import Struct, field
from pydantic import BaseModel

from specledger.core.canonical import canonical_bytes
from specledger.core.diagnostics import Diagnostic, Rejected, code
from specledger.core.digest import tagged
from specledger.core.spans import Span, Text
from specledger.load.changed import changes_at, keys_in
from specledger.load.document import Node, Path
from specledger.load.findings import place_of
from specledger.load.shapes import Shape
from specledger.spec.base import Spec, SpecKinds

SPEC_TAG: Final = "specledger/spec/v1"
BUNDLE_TAG: Final = "specledger/specs/v1"
MAX_VALUES: Final = 400_000
"""Values and keys of all specs that are loaded together; each takes about 300 bytes."""
MAX_EXPRESSIONS: Final = 1_048_576
"""Characters of all expressions of a bundle; a character takes a hundred bytes and more once it is checked."""
DOUBLE: Final = "$double"
"""The key that marks a double in resolved data; no mapping of a document may have it."""

E_EXPRESSIONS = code("E_EXPRESSIONS", "Too many expressions")
E_SPEC_RESERVED_KEY = code("E_SPEC_RESERVED_KEY", "A key that is reserved")


class ReservedKey(ValueError):  # noqa: N818 - says what was found
    """A mapping has the reserved key."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.path = path


class Resolved(Struct, frozen=True, eq=False):
    """One spec after `extends`, params, references and changes.

    Attributes:
        model: The validated model; a field that is a reference holds a key.
        data: The resolved form as JSON values; the same for the same meaning, wherever it was written.
        origins: The node that each path of the resolved form was written as; empty for a bundle from evidence.
        refs: The key of the spec that is referred to, by the reference's path.
    """

    kind: str
    name: str
    key: str
    model: Spec
    data: Mapping[str, Any]
    refs: Mapping[Path, str]
    origins: Mapping[Path, Node] = field(default_factory=dict)

    def text(self, *path: str | int) -> Text:
        """A scalar with the place of each of its characters, for a diagnostic about an expression.

        A value that was not written (a default, or any value of a bundle from evidence) is its own source, in a file
        that is called by the spec's key and the path.

        Args:
            path: The keys and indices as documents spell them: `("actions", "move", "when")`.

        Raises:
            KeyError: There is no scalar at the path, neither written nor by default.
        """
        node = self.origins.get(path)
        if node is not None and node.style not in ("block", "flow"):
            return node.text
        value: Any = self.model
        for step in path:
            value = _inside(value, step, path)
        if value is None or not isinstance(value, str | int | float):
            raise KeyError(path)
        written = {True: "true", False: "false"}[value] if isinstance(value, bool) else str(value)
        return Text.inline(written, self._file(path))

    def expressions(self) -> Iterator[tuple[Path, str]]:
        """The spec's expressions by their paths, those aside that were left out."""
        return find_expressions(Shape(type(self.model)), self.data)

    def span(self, *path: str | int) -> Span:
        """Where to point for a value: a scalar itself, a collection's key; for an unwritten one what is above it."""
        for length in range(len(path), -1, -1):
            node = self.origins.get(path[:length])
            if node is not None:
                return place_of(node)
        return Text.inline("", self._file(path)).span()

    def _file(self, path: Path) -> str:
        return f"<{self.key} {'.'.join(map(str, path))}>" if path else f"<{self.key}>"


class LoadedKind(NamedTuple):
    """The model of a kind whose specs were read."""

    model: type[Spec]


class Bundle(Struct, frozen=True, eq=False):
    """The spec that was asked for and all that it refers to, directly or not.

    Attributes:
        root: The key of the spec that was asked for.
        digest: Identifies the whole, as 64 lower-case hexadecimal digits. It depends on the resolved forms alone.
        case: The id of the matrix case, such as `seed=1,map=a`, or an empty text.
        sources: The documents that it was resolved from and what resolves them again, as files by their paths; empty
            where there were none, as for a bundle from evidence or for a part of another one.
    """

    root: str
    specs: Mapping[str, Resolved]
    digest: str
    case: str = ""
    sources: Mapping[str, bytes] = field(default_factory=dict)

    @property
    def main(self) -> Resolved:
        """The spec that was asked for."""
        return self.specs[self.root]

    @property
    def kinds(self) -> SpecKinds:
        """The kinds of its specs."""
        return {spec.kind: LoadedKind(type(spec.model)) for spec in self.specs.values()}

    @property
    def seeds(self) -> list[int]:
        """The seed of the spec that was asked for, if it has one."""
        seed = getattr(self.main.model, "seed", None)
        return [seed] if isinstance(seed, int) else []

    @property
    def uses(self) -> dict[str, Span]:
        """The place of the first reference to each document other than the main one, by the document's path."""
        uses: dict[str, Span] = {}
        for spec in self.specs.values():
            for path, key in spec.refs.items():
                reference, root = spec.origins.get(path), self.specs[key].origins.get(())
                if reference is not None and root is not None and key != self.root:
                    uses.setdefault(root.place.source.file, place_of(reference))
        return uses

    def document(self) -> dict[str, Any]:
        """The resolved form of the whole as JSON values: `{"root": key, "specs": {key: data}}`."""
        return {"root": self.root, "specs": {key: dict(spec.data) for key, spec in self.specs.items()}}


def gather(root: str, known: Mapping[str, Resolved], case: str = "") -> Bundle:
    """The bundle of a spec and of those among the known ones that it refers to.

    Raises:
        Rejected: E_EXPRESSIONS, if there are too many.
    """
    reached = {root: known[root]}
    waiting = [root]
    while waiting:
        for key in known[waiting.pop()].refs.values():
            if key not in reached:
                reached[key] = known[key]
                waiting.append(key)
    specs = dict(sorted(reached.items()))
    form = canonical_bytes({"root": root, "specs": {key: spec.data for key, spec in specs.items()}})
    if len(form) > MAX_EXPRESSIONS:
        _bound_expressions(specs)
    return Bundle(root, specs, tagged(BUNDLE_TAG, form), case)


def _bound_expressions(specs: Mapping[str, Resolved]) -> None:
    left = MAX_EXPRESSIONS
    for spec in specs.values():
        for path, text in spec.expressions():
            left -= len(str(text))
            if left < 0:
                message = f"the expressions of all specs have more than {MAX_EXPRESSIONS} characters"
                hint = "name what they repeat with `functions`, and put long lists into `constants`"
                raise Rejected([Diagnostic(E_EXPRESSIONS, message, spec.span(*path), hint=hint)])


def key_of(kind: str, name: str, data: Mapping[str, Any]) -> str:
    """The key of a spec.

    Raises:
        NotCanonical: The data have no canonical form.
    """
    return f"{kind}/{name}@{tagged(SPEC_TAG, canonical_bytes(data))[:16]}"


def dump(model: Spec, known: Mapping[str, str] = MappingProxyType({})) -> dict[str, Any]:
    """The resolved form of a validated spec; for a key that is known, its object is used again.

    Raises:
        ReservedKey: A mapping has the key that marks doubles.
    """
    data: dict[str, Any] = encode(model.model_dump(mode="json", by_alias=True, exclude_defaults=True), (), known)
    return data


def restore(model: type[Spec], data: Mapping[str, Any]) -> Spec:
    """The spec of a resolved form, whose mappings are in the order of their keys, however they were written.

    Raises:
        ValidationError: The data are not valid.
    """
    return model.model_validate(decode(data))


def encode(value: Any, path: Path = (), known: Mapping[str, str] = MappingProxyType({})) -> Any:
    """JSON values with doubles marked and keys sorted; for a key that is known, its object is used again.

    Raises:
        ReservedKey: A mapping has the key that marks doubles.
    """
    if isinstance(value, float):
        return {DOUBLE: repr(value)}
    if isinstance(value, list):
        return [encode(element, (*path, index), known) for index, element in enumerate(value)]
    if isinstance(value, dict):
        if DOUBLE in value:
            raise ReservedKey(path)
        return {known.get(key, key): encode(value[key], (*path, key), known) for key in sorted(value)}
    return value


def decode(value: Any) -> Any:
    """JSON values with the marked doubles read and keys sorted; what `encode` would mark otherwise stays as it is."""
    if isinstance(value, list):
        return [decode(element) for element in value]
    if isinstance(value, dict):
        text = value.get(DOUBLE)
        if len(value) == 1 and isinstance(text, str):
            return _read_double(text, value)
        return {key: decode(value[key]) for key in sorted(value)}
    return value


def values_in(data: Any) -> int:
    """The values and keys of a resolved form."""
    if isinstance(data, dict):
        return 1 + len(data) + sum(map(values_in, data.values()))
    return 1 + sum(map(values_in, data)) if isinstance(data, list) else 1


def find_references(shape: Shape, value: Any, path: Path = ()) -> Iterator[tuple[Path, str]]:
    """The paths of a value at which a model has references, with the kinds that they refer to."""
    if shape.reference is not None:
        yield path, shape.reference
        return
    if changes_at(shape) is not None:
        yield from () if isinstance(value, Node) else keys_in(value, path)
        return
    for step, member in _steps(value):
        references = {
            item: None for inner in shape.inside(step) for item in find_references(inner, member, (*path, step))
        }
        yield from references


def find_expressions(shape: Shape, value: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """The scalars of a value at which a model has expressions, by their paths."""
    inside = value.value if isinstance(value, Node) else value
    if shape.expression and not isinstance(inside, Mapping | list | tuple):
        yield path, value
    for step, member in _steps(value):
        expressions = {
            at: expression
            for inner in shape.inside(step)
            for at, expression in find_expressions(inner, member, (*path, step))
        }
        yield from expressions.items()


def _steps(value: Any) -> list[tuple[str | int, Any]]:
    """What is directly below a node or a JSON value, by key or index."""
    inside = value.value if isinstance(value, Node) else value
    if isinstance(inside, Mapping):
        return list(inside.items())
    return list(enumerate(inside)) if isinstance(inside, list | tuple) else []


def _read_double(text: str, marked: dict[str, Any]) -> Any:
    try:
        number = float(text)
    except ValueError:
        return marked
    return number if repr(number) == text and number - number == 0 else marked


def _inside(value: Any, step: str | int, path: Path) -> Any:
    """The member of a model, mapping or list that documents call by this key."""
    if isinstance(value, BaseModel):
        fields = type(value).model_fields
        names = [name for name, field in fields.items() if step == (field.alias or name)]
        if names:
            return getattr(value, names[0])
    if isinstance(value, list):
        value = dict(enumerate(value))
    if isinstance(value, Mapping) and step in value:
        return value[step]
    raise KeyError(path)
