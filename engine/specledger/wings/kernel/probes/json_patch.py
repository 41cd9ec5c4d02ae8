"""JSON Patch: a list of operations that turns one JSON document into another; the document itself stays as it is.

Source: RFC 6902, JSON Patch; RFC 6901, JSON Pointer.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from specledger.core.canonical import NotCanonical, canonical_bytes
from specledger.core.floats import FLOATS_ANYWHERE
from specledger.core.weight import MAX_WEIGHT
from specledger.expr.eval.values import weight

Pointer = tuple[str, ...]


class NotApplicable(LookupError):  # noqa: N818 - says what was found
    """An operation that cannot be done on this document, or a `test` that fails."""


class Operation(NamedTuple):
    """One operation.

    Attributes:
        op: `add`, `remove`, `replace`, `move`, `copy` or `test`.
        source: From where, of `move` and `copy`.
        value: `document -> value`, of `add`, `replace` and `test`.
    """

    op: str
    path: Pointer
    source: Pointer
    value: Callable[[Any], Any]


def read_pointer(text: str) -> Pointer:
    """The keys of a JSON Pointer: `/a~1b/0` is `("a/b", "0")`."""
    return tuple(part.replace("~1", "/").replace("~0", "~") for part in text.split("/")[1:])


def apply_patch(patch: Sequence[Operation], document: Any) -> Any:
    """The document after all operations, in order.

    Raises:
        NotApplicable: One of them cannot be done, or leaves a document, or tests values, of more than `MAX_WEIGHT`.
    """
    known: dict[int, tuple[int, Any]] = {}  # copies share their parts: each is weighed once in a patch
    left = MAX_WEIGHT
    for operation in patch:
        if operation.op == "test":
            values = _find(document, operation.path), operation.value(document)
            left -= sum(weight(value, known) for value in values)
            if left < 0:
                raise NotApplicable(f"the tested values weigh more than {MAX_WEIGHT}")
            _test(*values)
            continue
        document = _OPERATIONS[operation.op](document, operation)
        if weight(document, known) > MAX_WEIGHT:
            raise NotApplicable(f"the document weighs more than {MAX_WEIGHT}")
    return document


def _add(document: Any, operation: Operation) -> Any:
    return _put(document, operation.path, operation.value(document))


def _remove(document: Any, operation: Operation) -> Any:
    _find(document, operation.path)
    return _without(document, operation.path)


def _replace(document: Any, operation: Operation) -> Any:
    value = operation.value(document)
    _find(document, operation.path)
    if not operation.path:
        return value
    return _changed(document, operation.path, lambda holder, key: _set(holder, key, value))


def _move(document: Any, operation: Operation) -> Any:
    if operation.path[: len(operation.source)] == operation.source != operation.path:
        raise NotApplicable("a value cannot be moved into itself")
    value = _find(document, operation.source)
    return _put(_without(document, operation.source), operation.path, value)


def _copy(document: Any, operation: Operation) -> Any:
    return _put(document, operation.path, _find(document, operation.source))


def _test(given: Any, wanted: Any) -> None:
    try:
        equal = canonical_bytes(given, FLOATS_ANYWHERE) == canonical_bytes(wanted, FLOATS_ANYWHERE)
    except NotCanonical as problem:
        raise NotApplicable(str(problem)) from problem
    if not equal:
        raise NotApplicable("the value is another one")


_OPERATIONS = {"add": _add, "remove": _remove, "replace": _replace, "move": _move, "copy": _copy}


def _find(document: Any, path: Pointer) -> Any:
    for key in path:
        if isinstance(document, dict) and key in document:
            document = document[key]
        elif isinstance(document, list):
            document = document[_index(key, len(document) - 1)]
        else:
            raise NotApplicable(key)
    return document


def _put(document: Any, path: Pointer, value: Any) -> Any:
    """The document with a value added, which in a list moves those behind it."""
    if not path:
        return value

    def added(holder: Any, key: str) -> Any:
        if isinstance(holder, dict):
            return {**holder, key: value}
        index = len(holder) if key == "-" else _index(key, len(holder))
        return [*holder[:index], value, *holder[index:]]

    return _changed(document, path, added)


def _without(document: Any, path: Pointer) -> Any:
    if not path:
        raise NotApplicable("the whole document cannot be removed")

    def removed(holder: Any, key: str) -> Any:
        if isinstance(holder, dict):
            return {name: value for name, value in holder.items() if name != key}
        index = _index(key, len(holder) - 1)
        return [*holder[:index], *holder[index + 1 :]]

    return _changed(document, path, removed)


def _changed(document: Any, path: Pointer, change: Callable[[Any, str], Any]) -> Any:
    """The document with the object or list that holds the end of a path replaced."""
    if not isinstance(document, dict | list):
        raise NotApplicable(path[0])
    if len(path) == 1:
        return change(document, path[0])
    return _set(document, path[0], _changed(_find(document, path[:1]), path[1:], change))


def _set(holder: Any, key: str, value: Any) -> Any:
    if isinstance(holder, dict):
        return {**holder, key: value}
    index = _index(key, len(holder) - 1)
    return [*holder[:index], value, *holder[index + 1 :]]


def _index(key: str, most: int) -> int:
    """A place in a list: decimal digits without leading zeros, at most `most`."""
    if not (key.isascii() and key.isdigit()) or (key[0] == "0" and key != "0") or len(key) > 9 or int(key) > most:
        raise NotApplicable(key)
    return int(key)
