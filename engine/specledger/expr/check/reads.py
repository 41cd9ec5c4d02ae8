"""Which data an expression reads.

Decides the variables that must be bound, and the paths of fields that are read as far as known before it runs: through
called functions (a parameter stands for the place it is given) and derived values. A path ends at the first index,
macro or whole use of a value. Refuses to know values.
"""

from __future__ import annotations

from collections.abc import Mapping

from specledger.expr.check.tree import DefinedCall, Path, Present, Slot, Typed, Variable, parts, path_of, walk

_Places = Mapping[Slot, Path]


def captures_of(body: Typed) -> tuple[Variable, ...]:
    """The variables that a body needs around it, its callees included, by name."""
    found: dict[str, Variable] = {}
    for node in walk(body):
        if isinstance(node, Variable):
            found.setdefault(node.name, node)
        elif isinstance(node, DefinedCall) and node.record is None:
            for variable in node.instance.captures:
                found.setdefault(variable.name, variable)
    return tuple(found[name] for name in sorted(found))


def variables_of(root: Typed) -> frozenset[str]:
    """Names of the variables that an evaluation needs."""
    return frozenset(variable.name for variable in captures_of(root))


def reads_of(root: Typed) -> frozenset[Path]:
    """Paths that an evaluation may read."""
    return frozenset(_reads(root, {}, ()))


def _reads(node: Typed, places: _Places, prefix: Path) -> set[Path]:
    place = path_of(node)
    if isinstance(node, Present):
        asked = path_of(node.operand)
        place = asked and (asked[0], (*asked[1], node.key))
    if place is not None:
        path = _path(place, places, prefix)
        return set() if path is None else {path}
    found: set[Path] = set()
    if not isinstance(node, DefinedCall):
        for part in parts(node):
            found |= _reads(part, places, prefix)
        return found
    inner: dict[Slot, Path] = {}
    for slot, arg in zip(node.instance.params, node.args, strict=True):
        given = path_of(arg)
        path = given and _path(given, places, prefix)
        if path is None:
            found |= _reads(arg, places, prefix)
        else:
            inner[slot] = path
    if node.record is None:
        return found | _reads(node.instance.body, inner, prefix)
    given = path_of(node.record)
    path = given and _path(given, places, prefix)
    if path is None:
        return found | _reads(node.record, places, prefix)
    return found | _reads(node.instance.body, inner, path)


def _path(place: tuple[Slot | str, Path], places: _Places, prefix: Path) -> Path | None:
    """A place as a path from a variable; None for the variable of a macro."""
    root, keys = place
    if isinstance(root, str):
        return (*prefix, root, *keys)
    return None if root not in places else places[root] + keys
