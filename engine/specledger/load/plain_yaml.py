"""YAML that is data from outside, such as the result of a tool: bounded, without places, and never a reason to stop.

Plain scalars are null, true, false, integers or `{"$number": text}`; everything else is text, dates included.
"""

from __future__ import annotations

import re
from typing import Any, Final

import yaml

from specledger.core.log_json import NUMBER
from specledger.load.scalars import _DECIMAL, _INTEGER
from specledger.spec.base import INTEGER_LIMIT

MOST_TEXT: Final = 4_000_000
MOST_DEPTH: Final = 40
MOST_NODES: Final = 400_000

_WORDS: Final = {"null": None, "~": None, "": None, "true": True, "false": False}


class NotPlain(ValueError):  # noqa: N818 - says what was found
    """A text that is not read as YAML, and why."""


def read_plain(text: str) -> Any:
    """The value of a text; aliases are refused, and so are tags and keys that are no text.

    Raises:
        NotPlain: It is no YAML, or beyond a bound.
    """
    if len(text) > MOST_TEXT:
        raise NotPlain(f"more than {MOST_TEXT} characters")
    loader: Any = yaml.CSafeLoader if yaml.__with_libyaml__ else yaml.SafeLoader
    root: list[Any] = []
    stack: list[Any] = [root]
    keys: list[Any] = [None]
    nodes = 0
    try:
        for event in yaml.parse(text, Loader=loader):
            nodes += 1
            if nodes > MOST_NODES or len(stack) > MOST_DEPTH:
                raise NotPlain("too many values, or too deep")
            if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None) or getattr(event, "tag", None):
                raise NotPlain("an alias, an anchor or a tag")
            if isinstance(event, yaml.ScalarEvent):
                _put(stack[-1], keys, scalar(event.value, plain=event.style in (None, "")))
            elif isinstance(event, yaml.SequenceStartEvent | yaml.MappingStartEvent):
                opened: Any = [] if isinstance(event, yaml.SequenceStartEvent) else {}
                _put(stack[-1], keys, opened)
                stack.append(opened)
                keys.append(None)
            elif isinstance(event, yaml.SequenceEndEvent | yaml.MappingEndEvent):
                stack.pop()
                keys.pop()
    except (yaml.YAMLError, RecursionError) as error:
        raise NotPlain("no YAML") from error
    if len(root) != 1:
        raise NotPlain("not one document")
    return root[0]


def scalar(text: str, *, plain: bool) -> Any:
    """The value of a scalar."""
    if not plain:
        return text
    if text.lower() in _WORDS:
        return _WORDS[text.lower()]
    if _INTEGER.fullmatch(text) and len(text) < 17 and abs(int(text)) <= INTEGER_LIMIT:
        return int(text)
    return {NUMBER: text} if _DECIMAL.fullmatch(text) or re.fullmatch("-?[0-9]{16,400}", text) else text


def _put(target: Any, keys: list[Any], value: Any) -> None:
    if isinstance(target, list):
        target.append(value)
    elif keys[-1] is None:
        if isinstance(value, dict) and NUMBER in value:
            value = value[NUMBER]
        if not isinstance(value, str | int):
            raise NotPlain("a key that is no text")
        keys[-1] = str(value)
    else:
        if keys[-1] in target:
            raise NotPlain("a key is given twice")
        target[keys[-1]] = value
        keys[-1] = None
