"""`params`: values that a document leaves to those who refer to it. `${param}` replaces a whole value only."""

import re
from collections.abc import Collection, Mapping
from operator import is_
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace
from pydantic import ValidationError

from specledger.core.diagnostics import Diagnostics, code, suggest
from specledger.core.spans import Span
from specledger.load.document import Node
from specledger.load.findings import describe, place_of
from specledger.spec.base import FixedConstant

TYPES: Final = ("int", "bool", "string", "qfixed", "double", "expression")
"""The types that a parameter may have."""

E_PARAM_DECLARATION = code("E_PARAM_DECLARATION", "A parameter is declared wrongly")
E_PARAM_MISSING = code("E_PARAM_MISSING", "An argument is missing")
E_PARAM_UNKNOWN = code("E_PARAM_UNKNOWN", "A parameter that is not declared")
E_PARAM_TYPE = code("E_PARAM_TYPE", "An argument of the wrong type")
E_PARAM_RANGE = code("E_PARAM_RANGE", "An argument outside the declared range")
E_PARAM_PARTIAL = code("E_PARAM_PARTIAL", "A parameter inside a longer text")

_NAME: Final = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,79}")
_WHOLE: Final = re.compile(r"\$\{([^{}]*)\}")
_BARE: Final = re.compile(r"\{([^{}]*)\}")
_FREE: Final = ("doc", "metadata")  # text for people, in which `${` is only text
_WITHOUT_BOUNDS: Final = ("bool", "string", "expression")
_PARTS: Final = ("type", "default", "minimum", "maximum", "enum")


class Param(Struct, frozen=True):
    """One declared parameter; the bounds and `words` are comparable values as `_measure` gives them."""

    name: str
    type: str
    place: Span
    default: Node | None = None
    minimum: Any = None
    maximum: Any = None
    words: tuple[Any, ...] | None = None

    def check(self, node: Node, diagnostics: Diagnostics) -> Node | None:
        """The argument as a value of this parameter, or None after a finding was reported."""
        if node.flawed:
            return None
        value = _measure(node.value, self.type)
        if value is None:
            message = f"`{self.name}` takes a value of the type {self.type}"
            diagnostics.error(E_PARAM_TYPE, message, place_of(node), expected=self.type, found=describe(node))
            return None
        expected = None
        if self.minimum is not None and value < self.minimum[0]:
            expected = f"at least {self.minimum[1]}"
        elif self.maximum is not None and value > self.maximum[0]:
            expected = f"at most {self.maximum[1]}"
        elif self.words is not None and value not in [word for word, _ in self.words]:
            expected = f"one of {', '.join(str(shown) for _, shown in self.words)}"
        if expected is not None:
            message = f"`{self.name}` does not take this value"
            diagnostics.error(E_PARAM_RANGE, message, node.span, expected=expected, found=describe(node))
            return None
        return replace(node, value=float(value)) if self.type == "double" else node


def declare(node: Node | None, diagnostics: Diagnostics) -> dict[str, Param]:
    """The parameters that a document declares, without those whose declaration is wrong."""
    if node is None or node.flawed:
        return {}
    if not node.is_mapping:
        _refuse(node, "`params` is no mapping of names to types", diagnostics)
        return {}
    declared = {name: _declare(name, member, diagnostics) for name, member in node.members.items()}
    diagnostics.refused |= {f"${name}" for name, param in declared.items() if param is None}
    return {name: param for name, param in declared.items() if param is not None}


def bind(
    params: Mapping[str, Param], arguments: Mapping[str, Node], owner: str, at: Span | None, diagnostics: Diagnostics
) -> dict[str, Node]:
    """The value of each parameter: the argument, or else the default."""
    for name, node in arguments.items():
        if name not in params and f"${name}" not in diagnostics.refused:
            near = suggest(name, params)
            hint = f"did you mean `{near}`?" if near else f"it has {', '.join(params) or 'none'}"
            diagnostics.error(E_PARAM_UNKNOWN, f"`{owner}` has no parameter `{name}`", node.key_span, hint=hint)
    values = {}
    for name, param in params.items():
        given = arguments.get(name)
        if given is None and param.default is None:
            related = (("it is declared here", param.place),)
            message = f"`{owner}` needs a value for its parameter `{name}`"
            default = f"give it a default: `{name}: {{type: {param.type}, default: ...}}`"
            hint = default if at is None else f"write `with: {{{name}: ...}}`"
            diagnostics.error(
                E_PARAM_MISSING, message, at or param.place, expected=param.type, related=related, hint=hint
            )
            continue
        value = param.default if given is None else param.check(given, diagnostics)
        if value is not None:
            values[name] = value
    return values


def substitute(root: Node, values: Mapping[str, Node], declared: Collection[str], diagnostics: Diagnostics) -> Node:
    """The tree with the values in place of `${param}`.

    A declared name without a value was reported and leaves a `flawed` node.
    """

    def visit(node: Node) -> Node:
        if isinstance(node.value, str):
            return fill(node, node.value)
        if node.is_list:
            elements = tuple(map(visit, node.elements))
            return node if all(map(is_, elements, node.elements)) else replace(node, value=elements)
        if node.is_mapping:
            members = {key: visit(member) for key, member in node.members.items() if has_name(key, member)}
            whole = len(members) == len(node.members)
            same = whole and all(map(is_, members.values(), node.members.values()))
            return node if same else replace(node, value=members)  # so that documents share what is alike
        return node

    def has_name(key: str, member: Node) -> bool:
        if "${" in key:
            _refuse_partial(member.key_span, diagnostics)
        return "${" not in key

    def fill(node: Node, text: str) -> Node:
        bare = _BARE.fullmatch(text)
        if bare is not None and bare[1] in declared:
            message, hint = f"`{text}` is no parameter without a `$`", f"write `${text}`"
            diagnostics.error(E_PARAM_UNKNOWN, message, node.span, hint=hint)
            return replace(node, flawed=True)
        if "${" not in text or node.flawed:
            return node
        match = _WHOLE.fullmatch(text)
        if match is None:
            _refuse_partial(node.span, diagnostics)
        elif match[1] in values:
            return replace(values[match[1]], key=node.key)
        elif match[1] not in declared:
            near = suggest(match[1], declared)
            hint = f"did you mean `{near}`?" if near else "declare it under `params`"
            diagnostics.error(E_PARAM_UNKNOWN, f"there is no parameter `{match[1]}`", node.span, hint=hint)
        return replace(node, flawed=True)

    members = {key: node if key in _FREE else visit(node) for key, node in root.members.items()}
    return replace(root, value=members)


def _declare(name: str, node: Node, diagnostics: Diagnostics) -> Param | None:
    """One parameter, or None after a finding was reported."""
    if not _NAME.fullmatch(name):
        diagnostics.error(E_PARAM_DECLARATION, f"`{name}` cannot be a parameter's name", node.key_span)
        return None
    parts = node.members if node.is_mapping else {"type": node}
    sort = parts.get("type")
    if sort is None or sort.value not in TYPES:
        hint = suggest(str(sort.value), TYPES) if sort is not None else None
        _refuse(sort or node, f"`{name}` has no type", diagnostics, f"did you mean `{hint}`?" if hint else None)
        return None
    for key, part in parts.items():
        if key not in _PARTS:
            near = suggest(key, _PARTS)
            _refuse(part, f"a parameter has no `{key}`", diagnostics, f"did you mean `{near}`?" if near else None)
            return None
    bounds: dict[str, Any] = {}
    for key in ("minimum", "maximum"):
        if key in parts:
            bounds[key] = _bound(name, str(sort.value), parts[key], diagnostics)
    if "enum" in parts:
        bounds["words"] = _words(name, str(sort.value), parts["enum"], diagnostics)
    if None in bounds.values():
        return None
    param = Param(name, str(sort.value), node.key_span, None, **bounds)
    if "default" not in parts:
        return param
    default = param.check(parts["default"], diagnostics)
    return None if default is None else replace(param, default=default)


def _bound(name: str, sort: str, node: Node, diagnostics: Diagnostics) -> tuple[Any, Any] | None:
    value = _measure(node.value, sort) if sort not in _WITHOUT_BOUNDS else None
    if value is None:
        _refuse(
            node,
            f"the bound of `{name}` is no {sort}" if sort not in _WITHOUT_BOUNDS else f"the type {sort} has no bounds",
            diagnostics,
        )
        return None
    return value, node.value


def _words(name: str, sort: str, node: Node, diagnostics: Diagnostics) -> tuple[tuple[Any, Any], ...] | None:
    values = [(_measure(word.value, sort), word.value) for word in node.elements]
    if not values or any(value is None for value, _ in values):
        _refuse(node, f"the `enum` of `{name}` is no list of {sort}", diagnostics)
        return None
    return tuple(values)


def _measure(value: object, sort: str) -> Any:
    """The value as what its type compares by, or None if it is of another type."""
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if sort == "int":
        return value if isinstance(value, int) and number else None
    if sort == "bool":
        return value if isinstance(value, bool) else None
    if sort == "string":
        return value if isinstance(value, str) else None
    if sort == "expression":
        return value if isinstance(value, str | int | float) else None
    if sort == "double":
        return float(value) if isinstance(value, int | float) and number else None
    try:
        return FixedConstant.model_validate({"qfixed": value}).qfixed
    except ValidationError:
        return None


def _refuse(node: Node, message: str, diagnostics: Diagnostics, hint: str | None = None) -> None:
    expected = f"a type ({', '.join(TYPES)}) or {{type, default, minimum, maximum, enum}}"
    diagnostics.error(E_PARAM_DECLARATION, message, place_of(node), expected=expected, found=describe(node), hint=hint)


def _refuse_partial(span: Span, diagnostics: Diagnostics) -> None:
    hint = "let the parameter be the whole value, `${name}`; in an expression, give it to a constant and use that"
    diagnostics.error(E_PARAM_PARTIAL, "`${...}` replaces a whole value only", span, hint=hint)
