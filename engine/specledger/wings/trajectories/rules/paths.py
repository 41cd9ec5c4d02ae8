"""Paths to values of calls, results and messages: `args.recipients[*].mail`, `args.**`, `result["a b"]`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any, Final

from msgspec import UNSET, Struct

from specledger.core.log_json import NUMBER, WITHHELD
from specledger.core.unknown import Unknown
from specledger.wings.trajectories.model import Withheld
from specledger.wings.trajectories.rules.nested import json_inside

_STEP: Final = re.compile(r"""\.([A-Za-z_$][\w$-]*)|\[(\*)\]|\["([^"\]]+)"\]|\.(\*\*|\*)|\[([0-9]{1,6})\]""")
ROOTS: Final = ("args", "result", "text", "tool", "error", "request", "time")
"""What paths of rules begin with."""
_ROOT: Final = re.compile("[a-z]+")
MOST_LEAVES: Final = 100_000
"""Values that one path leads to at most."""
_DEEPEST: Final = 64


class PathError(ValueError):
    """A path that is not written as one; `at` is the offset of what is wrong."""

    def __init__(self, message: str, at: int) -> None:
        super().__init__(message)
        self.at = at


class Path(Struct, frozen=True):
    """A path: its root, and steps: a key, an index, `*` (every element or member) or `**` (every leaf below)."""

    text: str
    root: str
    steps: tuple[str | int, ...]
    wild: bool


ANY: Final = "\0*"
LEAVES: Final = "\0**"


def parse_path(text: str, roots: tuple[str, ...] = ROOTS) -> Path:
    """Read a path that begins with one of some roots.

    Raises:
        PathError: It is not written as one.
    """
    root = _ROOT.match(text)
    if root is None or root[0] not in roots:
        raise PathError(f"a path begins with {', '.join(roots[:-1])} or {roots[-1]}", 0)
    at, steps = root.end(), []
    while at < len(text):
        step = _STEP.match(text, at)
        if step is None:
            raise PathError('expected `.name`, `[*]`, `[0]`, `.*`, `.**` or `["a name"]`', at)
        name, every, quoted, wild, index = step.groups()
        steps.append(
            ANY if every or wild == "*" else LEAVES if wild else int(index) if index is not None else name or quoted
        )
        at = step.end()
    if steps and root[0] in ("text", "tool", "error", "request", "time"):
        raise PathError(f"`{root[0]}` has no parts", root.end())
    return Path(text, root[0], tuple(steps), ANY in steps or LEAVES in steps)


Reader = Callable[[Any], list[Any] | Unknown]
"""Gives the values that a path leads to below its root; none where all are absent or null."""


def compile_path(path: Path, *, gaps: bool = False, digests: bool = False) -> Reader:
    """A function from the value of the root to the values at the path; a list at its end stands for its elements.

    With `gaps` None stands where one of several values is null or absent, but below `**`, which is what is there. With
    `digests` what is withheld is among them; otherwise all of them are unknown by it.
    """
    steps, text = path.steps, path.text
    gaps = gaps and LEAVES not in steps
    gap = (None,) if gaps else ()
    withheld, missing = Unknown(f"{text} is withheld", withheld=True), Unknown(f"{path.root} is not recorded")

    def read(value: Any) -> list[Any] | Unknown:
        if value is UNSET:
            return missing
        nodes = [value]
        for step in steps:
            nodes = [
                inner for node in nodes for inner in (tuple(below(node, step)) or gap if gaps else below(node, step))
            ]
            if len(nodes) > MOST_LEAVES:
                return Unknown(f"{text} has more than {MOST_LEAVES} values")
        flat = [leaf for node in nodes for leaf in ((node or gap) if type(node) is list else (node,))]
        if not gaps or all(leaf is None for leaf in flat):
            flat = [leaf for leaf in flat if leaf is not None]
        return withheld if not digests and any(map(is_withheld, flat)) else flat

    if len(steps) != 1 or path.wild or not isinstance(steps[0], str):
        return read
    key = steps[0]

    def read_member(value: Any) -> list[Any] | Unknown:
        leaf = value.get(key) if type(value) is dict else value
        if type(leaf) is str:
            return [leaf] if type(value) is dict else []
        return read(value)

    return read_member


def below(node: Any, step: str | int) -> Iterator[Any]:
    """What one step leads to from a value; a text that is JSON is read as what it says."""
    if type(node) is str and step != LEAVES:
        node = json_inside(node)
    if is_withheld(node):
        yield node
    elif step == LEAVES:
        yield from leaves(node)
    elif step == ANY:
        yield from node if type(node) is list else node.values() if type(node) is dict and not is_number(node) else ()
    elif type(step) is int:
        if type(node) is list and step < len(node):
            yield node[step]
    elif type(node) is dict and step in node:
        yield node[step]


def is_number(node: Any) -> bool:
    """Whether a value is a number that is no integer of JSON readers: `{"$number": text}`."""
    return type(node) is dict and len(node) == 1 and NUMBER in node


def is_withheld(node: Any) -> bool:
    """Whether a digest stands in the place of a value: of all arguments, of a result, or `{"$withheld": digest}`."""
    return type(node) is Withheld or (type(node) is dict and len(node) == 1 and WITHHELD in node)


def leaves(node: Any) -> Iterator[Any]:
    """The values below a node, withheld ones too: no lists or objects, at most `MOST_LEAVES` + 1, at most 64 deep."""
    waiting, number = [(node, 0)], 0
    while waiting and number <= MOST_LEAVES:
        inner, depth = waiting.pop()
        number += 1
        if type(inner) is list and depth < _DEEPEST:
            waiting += [(element, depth + 1) for element in reversed(inner)]
        elif type(inner) is dict and depth < _DEEPEST and not is_number(inner) and not is_withheld(inner):
            waiting += [(element, depth + 1) for element in reversed(inner.values())]
        elif type(inner) not in (list, dict) or is_number(inner) or is_withheld(inner):
            yield inner
