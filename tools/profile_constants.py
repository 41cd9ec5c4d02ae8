"""The constants that a spec states, and what each could be in its place.

They are the numbers and truth values of YAML, and those in expressions, without names, seeds of streams and prose.
"""

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

import yaml

PROSE = frozenset({"doc", "spec", "name", "says", "section", "source", "why", "message", "hint", "reason", "title"})
PROSE |= {"drawing", "label", "text", "forbidden", "id", "stream"}
NUMBER = re.compile(r"(?<![\w.'\"$])\d+(?:\.\d+)?(?![\w.])|\b(?:true|false)\b")
QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"")


class Constant(NamedTuple):
    """One stated constant: from which to which character of its file, what stands there, and what else could."""

    start: int
    end: int
    old: str
    new: str


class Line(NamedTuple):
    """Where a constant stands: the line without its margin, which of equal lines it is, and from which character on."""

    text: str
    occurrence: int
    column: int
    number: int


def constants(text: str) -> list[Constant]:
    """The constants of a spec in the order of the file."""
    stated: list[Constant] = []
    for key, node in scalars(yaml.compose(text, yaml.SafeLoader)):
        start, end = node.start_mark.index, node.end_mark.index
        if key in PROSE:
            continue
        quote = 1 if node.style in ("'", '"') else 0
        inside = text[start + quote : end - quote]
        hidden = [match.span() for match in QUOTED.finditer(inside)]
        for match in NUMBER.finditer(inside):
            if not any(low <= match.start() < high for low, high in hidden):
                at = start + quote + match.start()
                stated.append(Constant(at, at + len(match[0]), match[0], other(match[0])))
    return sorted(stated)


def scalars(node: Any, key: str = "") -> Iterator[tuple[str, Any]]:
    """Each value of a document that is a scalar, with the nearest key that it stands under."""
    if isinstance(node, yaml.MappingNode):
        for name, value in node.value:
            yield from scalars(value, str(name.value))
    elif isinstance(node, yaml.SequenceNode):
        for value in node.value:
            yield from scalars(value, key)
    elif node is not None:
        yield key, node


def other(said: str) -> str:
    """A constant that says something else."""
    if said in ("true", "false"):
        return "false" if said == "true" else "true"
    if "." in said:
        places = len(said.partition(".")[2])
        return f"{float(said) * 2 or 1:.{places}f}"
    return str(int(said) * 2 or 1)


def changed(text: str, constant: Constant) -> str:
    """A spec that says something else in the place of a constant."""
    return text[: constant.start] + constant.new + text[constant.end :]


def line_of(text: str, constant: Constant) -> Line:
    """The line that a constant stands on."""
    start = text.rfind("\n", 0, constant.start) + 1
    end = text.find("\n", constant.start)
    whole = text[start : end if end >= 0 else len(text)]
    line = whole.strip()
    before = [item.strip() for item in text[:start].splitlines()]
    column = constant.start - start - (len(whole) - len(whole.lstrip()))
    return Line(line, before.count(line), column, len(before) + 1)
