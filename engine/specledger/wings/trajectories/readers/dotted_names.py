"""Objects and lists that are written as attributes with dots in their names, `llm.input_messages.0.message.role`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

Wrong = Callable[[str], None]
"""Told what cannot be read, and where it is."""

_MOST_DIGITS: Final = 9
_MOST_LEVELS: Final = 8
WRAPPERS: Final = ("message", "tool_call", "message_content")
"""The names that OpenInference puts around each object of a list."""


def grown(values: Mapping[str, Any], where: str, wrong: Wrong) -> dict[str, Any]:
    """The object that names with dots stand for."""
    tree: dict[str, Any] = {}
    for name, value in values.items():
        *path, last = name.split(".", _MOST_LEVELS)
        node: Any = tree
        for step in path:
            node = node.setdefault(step, {}) if isinstance(node, dict) else None
        if not isinstance(node, dict) or last in node:
            wrong(f"`{where}.{name[:200]}` is both a value and more than one")
        else:
            node[last] = value
    return tree


def is_index(text: str) -> bool:
    """Whether a step of a name is the index of a list."""
    return text.isascii() and text.isdecimal() and len(text) <= _MOST_DIGITS


def in_order(tree: dict[str, Any], where: str, wrong: Wrong) -> list[Any]:
    """The members of a numbered list; what it leaves out is said."""
    indexes = sorted((int(key), key) for key in tree if is_index(key))
    for expected, (index, _) in enumerate(indexes):
        if index != expected:
            wrong(f"`{where}` has no index {expected}, but {index}")
            break
    return [plain_of(tree[key], f"{where}.{key}", wrong) for _, key in indexes]


def plain_of(node: Any, where: str, wrong: Wrong) -> Any:
    """A node without the names that OpenInference puts around each object, its numbered members as lists."""
    if isinstance(node, list):
        return [plain_of(grown(part, where, wrong) if isinstance(part, dict) else part, where, wrong) for part in node]
    if not isinstance(node, dict):
        return node
    node = next((node[wrapper] for wrapper in WRAPPERS if isinstance(node.get(wrapper), dict)), node)
    return {
        key: in_order(value, f"{where}.{key}", wrong)
        if isinstance(value, dict) and value and all(map(is_index, value))
        else plain_of(value, f"{where}.{key}", wrong)
        for key, value in node.items()
    }
