"""The resolved form -> a bundle, without reading files.

The document is untrusted. It must be exactly what `Bundle.document` writes (valid, closed, without superfluous specs or
values equal to their defaults), so that a bundle has one form and one digest.
"""

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any, Final

from pydantic import ValidationError

from specledger.core.canonical import NotCanonical, canonical_bytes
from specledger.core.diagnostics import MOST_FINDINGS, Diagnostics, code
from specledger.load.bundle import (
    MAX_VALUES,
    Bundle,
    ReservedKey,
    Resolved,
    dump,
    find_references,
    gather,
    key_of,
    restore,
    values_in,
)
from specledger.load.document import Path
from specledger.load.resolve import MAX_SPECS
from specledger.load.shapes import Shape
from specledger.spec.base import SpecKinds

E_SPEC_RESOLVED_FORM = code("E_SPEC_RESOLVED_FORM", "Not the resolved form of a bundle of specs")

NONE: Final[Mapping[str, Resolved]] = MappingProxyType({})


def bundle_from_document(data: object, kinds: SpecKinds, known: Mapping[str, Resolved] = NONE) -> Bundle:
    """Rebuild a bundle from its resolved form.

    `data` is what `Bundle.document` returned, perhaps after a way through JSON; anything at all, since it is not
    trusted. The data of the specs in `known`, which were resolved before, are not looked at.

    Returns:
        The bundle, with the same digest; its specs have no places in files.

    Raises:
        Rejected: The data are not the resolved form of any bundle; it carries all findings.
    """
    diagnostics = Diagnostics(MOST_FINDINGS)
    root, documents = _open(data, diagnostics)
    diagnostics.raise_if_errors()
    specs: dict[str, Resolved] = {}
    for key, document in sorted(documents.items()):
        spec = known.get(key) or _restore(key, document, documents, kinds, diagnostics)
        if spec is not None:
            specs[key] = spec
    diagnostics.raise_if_errors()
    bundle = gather(root, specs)
    for key in sorted(set(specs) - set(bundle.specs)):
        _refuse(diagnostics, key, (), "nothing refers to it")
    diagnostics.raise_if_errors()
    return bundle


def _open(data: object, diagnostics: Diagnostics) -> tuple[str, Mapping[str, Any]]:
    """The root's key and the specs' data, if the outer form is right."""
    try:
        canonical_bytes(data)
    except NotCanonical as error:
        diagnostics.error(E_SPEC_RESOLVED_FORM, f"no canonical JSON: {error}")
        return "", {}
    root = data.get("root") if isinstance(data, dict) else None
    specs = data.get("specs") if isinstance(data, dict) else None
    if not isinstance(data, dict) or set(data) != {"root", "specs"} or not isinstance(specs, dict):
        diagnostics.error(E_SPEC_RESOLVED_FORM, "the outer form is wrong", expected="{root: key, specs: {key: data}}")
        return "", {}
    if not isinstance(root, str) or root not in specs:
        diagnostics.error(E_SPEC_RESOLVED_FORM, "the root is not among the specs")
    if len(specs) > MAX_SPECS or sum(map(values_in, specs.values())) > MAX_VALUES:
        message = f"more than {MAX_SPECS} specs, or {MAX_VALUES} values and keys in them"
        diagnostics.error(E_SPEC_RESOLVED_FORM, message)
    return str(root), specs


def _restore(
    key: str, data: Any, documents: Mapping[str, Any], kinds: SpecKinds, diagnostics: Diagnostics
) -> Resolved | None:
    """One spec, or None after its findings were reported."""
    head = data.get("spec") if isinstance(data, dict) else None
    kind = head.removesuffix("/v1") if isinstance(head, str) else ""
    if kind not in kinds or head != f"{kind}/v1":
        _refuse(diagnostics, key, ("spec",), "there is no such kind of spec")
        return None
    try:
        model = restore(kinds[kind].model, data)
        form = dump(model, {key: key for key in _keys(data)})
    except ValidationError as error:
        for item in error.errors(include_url=False, include_input=False, include_context=False):
            _refuse(diagnostics, key, item["loc"], item["msg"])
        return None
    except ReservedKey as error:
        _refuse(diagnostics, key, error.path, "a marked double that is not written as one")
        return None
    if form != data or canonical_bytes(form) != canonical_bytes(data):
        _refuse(diagnostics, key, (), "the data are not in the resolved form")
        return None
    if key != key_of(kind, model.name, form):
        _refuse(diagnostics, key, (), "the key is not that of the data")
        return None
    refs: dict[Path, str] = {}
    for path, wanted in find_references(Shape(kinds[kind].model), form):
        target = refs[path] = str(_at(form, path))
        if target not in documents or target.partition("/")[0] != wanted:
            _refuse(diagnostics, key, path, f"no key of a {wanted} in the bundle")
    return Resolved(kind, model.name, key, model, form, refs)


def _keys(data: Any) -> Iterator[str]:
    """The keys of all mappings."""
    if isinstance(data, dict):
        yield from data
    for inner in data.values() if isinstance(data, dict) else data if isinstance(data, list) else ():
        if isinstance(inner, dict | list):
            yield from _keys(inner)


def _at(data: Any, path: Path) -> Any:
    for step in path:
        data = data[step]
    return data


def _refuse(diagnostics: Diagnostics, key: str, path: Path, message: str) -> None:
    location = ".".join(str(step) for step in path)
    diagnostics.error(E_SPEC_RESOLVED_FORM, f"{key}{': ' + location if location else ''}: {message}")
