"""Cases of a matrix: what each has, and references to all cases."""

from collections.abc import Callable, Mapping

from msgspec import Struct, field
from msgspec.structs import replace
from pydantic import BaseModel

from specledger.load.bundle import find_references
from specledger.load.document import Node, Path
from specledger.load.params import Param
from specledger.load.shapes import Shape, shapes_at
from specledger.spec.base import FixedConstant, RefTo


class Case(Struct, frozen=True):
    """One case: its id, such as `seed=1,map=a`, and its arguments."""

    id: str = ""
    arguments: Mapping[str, Node] = field(default_factory=dict)


Cases = Callable[[Node, str], tuple[tuple[Case, ...], Mapping[str, Param]] | None]
"""The cases and the parameters of what a reference to a kind leads to, or None after findings were reported."""


def spread(root: Node, model: type[BaseModel], cases_of: Cases) -> tuple[Node, dict[Path, Path]]:
    """The tree with an entry for each case, called `<entry>.<case>`, and the paths of such references.

    Returns:
        The tree, and by the path of each reference to a case the path that it was written at.
    """
    written: dict[Path, Path] = {}
    for path, kind in list(find_references(Shape(model), root)):
        labels = _labels(model, path)
        if labels is None:
            continue
        node, entry = root.at(path), path[:-1]
        expanded = cases_of(node, kind)
        if expanded is None:
            root = root.put(path, replace(node, flawed=True))
            continue
        entries = {}
        for case in expanded[0]:
            name = f"{entry[-1]}.{case.id}" if case.id else str(entry[-1])
            entries[name] = _entry(root.at(entry), str(path[-1]), labels, case, expanded[1])
            written[(*entry[:-1], name, path[-1])] = path
        around = root.at(entry[:-1])
        members = {
            name: entry_node
            for key, member in around.members.items()
            for name, entry_node in (entries.items() if key == entry[-1] else [(key, member)])
        }
        root = root.put(entry[:-1], replace(around, value=members))
    return root, written


def _labels(model: type[BaseModel], path: Path) -> str | None:
    """The key that gets the values of a case, if a reference at this path means every case of a matrix."""
    marks = (mark for shape in shapes_at(model, path) for mark in shape.marks)
    return next((mark.cases for mark in marks if isinstance(mark, RefTo) and mark.cases), None)


def _entry(entry: Node, key: str, labels: str, case: Case, params: Mapping[str, Param]) -> Node:
    """An entry whose reference means one case."""
    if not case.arguments:
        return entry
    node = entry.members[key]
    target, given = node.members.get("use", node), node.members.get("with")
    arguments = replace(node, style="flow", value={**({} if given is None else given.members), **case.arguments})
    reference = replace(node, style="flow", value={"use": replace(target, key=None), "with": arguments})
    values = {
        name: replace(argument, value=_label(argument, params[name].type)) for name, argument in case.arguments.items()
    }
    return replace(entry, value={**entry.members, key: reference, labels: replace(node, style="flow", value=values)})


def _label(node: Node, type_: str) -> bool | int | str:
    """A value as receipts hold it: a qfixed as millionths, a double as text."""
    if type_ == "qfixed":
        return FixedConstant.model_validate({"qfixed": node.value}).qfixed
    value = node.value
    return value if isinstance(value, bool | int) else str(value)
