"""Results that are JSON or YAML as text, as values."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from msgspec import UNSET

from specledger.core.canonical import NotCanonical
from specledger.core.log_json import parse_log_json
from specledger.core.unknown import Unknown
from specledger.load.plain_yaml import NotPlain, read_plain
from specledger.wings.trajectories.model import Withheld
from specledger.wings.trajectories.rules.nested import MOST, json_inside
from specledger.wings.trajectories.rules.paths import ANY, MOST_LEAVES, is_number

_LOOKS_LIKE_YAML: Final = re.compile(r"\s*(?:- |[\w\"'][^\n:]{0,200}:(?:[ \n]|$)|\{|\[)")
_BEGINNING: Final = 100
_FENCED: Final = re.compile(r"\s*```(?:json|yaml)?[ \t]*\r?\n(.*)\n\s*```\s*", re.DOTALL | re.IGNORECASE)


def structured(content: Any) -> Any:
    """A result as a value: a text that is JSON or YAML is read, another one stays; Unknown beyond a bound."""
    if content is UNSET or type(content) is Withheld:
        return content
    if type(content) is not str:
        return content
    fenced = _FENCED.fullmatch(content) if "```" in content[:_BEGINNING] else None
    if fenced is not None:
        value = structured(fenced[1])
        return content if type(value) is str else value
    if not _LOOKS_LIKE_YAML.match(content):
        return content
    if len(content) > MOST:
        return Unknown("the result is too large to be read as JSON or YAML")
    try:
        value = parse_log_json(content.encode())
    except NotCanonical:
        return Unknown("the result is too large, or nested too deeply")
    except ValueError:
        pass
    else:
        return value if type(value) is not str else structured(value)
    if (lines := _lines(content)) is not None:
        return lines
    try:
        value = read_plain(content)
    except NotPlain as error:
        return content if str(error) == "no YAML" else Unknown(f"the result is not read as YAML: {error}")
    return value if type(value) in (dict, list) else content


def _lines(content: str) -> list[Any] | None:
    """The values of JSON lines; None if a text is no such lines."""
    if content[:_BEGINNING].lstrip()[:1] not in ("{", "["):
        return None
    values = []
    for line in content.splitlines():
        value = json_inside(line)
        if value is None and line.strip():
            return None
        values += [] if value is None else [value]
    return values


def _is_branch(value: Any) -> bool:
    return type(value) is list or (type(value) is dict and not is_number(value))


def at_fields(value: Any, fields: tuple[tuple[str, ...], ...]) -> Iterator[Any]:
    """The values below keys: a field is the last keys of the way to a value, in lists or not.

    `ANY` alone stands for the elements of a value that is a list.
    """
    ends = {field[-1] for field in fields}
    waiting: list[tuple[Any, tuple[str, ...]]] = [(value, ())]
    number = 0
    while waiting and number <= MOST_LEAVES:
        node, way = waiting.pop()
        number += 1
        if type(node) is list:
            below = way or (ANY,)
            waiting += [(element, way if _is_branch(element) else below) for element in reversed(node)]
        elif _is_branch(node) and len(way) < 64:
            waiting += [(member, (*way, key)) for key, member in reversed(node.items())]
        else:
            if type(node) is str and (inside := json_inside(node)) is not None:
                waiting.append((inside, way))
            if way and way[-1] in ends and any(way[-len(field) :] == field for field in fields):
                yield node
