"""Validation errors of pydantic as findings with the keys and places of the document.

For a union the error of the intended member is chosen; an unknown key gets a suggestion.
"""

import re
from collections.abc import Mapping, Sequence
from itertools import islice
from pathlib import PurePath
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace
from pydantic import BaseModel, ValidationError

from specledger.core.diagnostics import MOST_FINDINGS, Diagnostics, code, suggest
from specledger.core.spans import Span
from specledger.load.document import Node, Path
from specledger.load.other_words import hint_of_substitution, meant_key, meant_value
from specledger.load.shapes import Shape, find_key, known_keys, shapes_at
from specledger.spec.base import SpecKinds

E_SPEC_UNKNOWN_KEY = code("E_SPEC_UNKNOWN_KEY", "A key that the kind does not know")
E_SPEC_MISSING_KEY = code("E_SPEC_MISSING_KEY", "A required key is missing")
E_SPEC_TYPE = code("E_SPEC_TYPE", "A value of the wrong type")
E_SPEC_VALUE = code("E_SPEC_VALUE", "A value that is not allowed here")

_MISFITS: Final = {
    "model_type": "a mapping",
    "model_attributes_type": "a mapping",
    "dict_type": "a mapping",
    "mapping_type": "a mapping",
    "list_type": "a list",
    "tuple_type": "a list",
    "string_type": "text",
    "int_type": "an integer",
    "int_from_float": "an integer",
    "float_type": "a number",
    "bool_type": "true or false",
    "none_required": "null",
}
"""pydantic's errors about a value's type, and what was expected."""
_LIMITS: Final = {
    "greater_than": ("gt", "more than {}"),
    "greater_than_equal": ("ge", "at least {}"),
    "less_than": ("lt", "less than {}"),
    "less_than_equal": ("le", "at most {}"),
    "too_short": ("min_length", "{} or more elements"),
    "too_long": ("max_length", "no more than {} elements"),
    "string_too_short": ("min_length", "{} or more characters"),
    "string_too_long": ("max_length", "no more than {} characters"),
    "string_pattern_mismatch": ("pattern", "text that matches {}"),
    "literal_error": ("expected", "{}"),
    "enum": ("expected", "{}"),
}
"""Its errors about a value's size, the limit's name in its context, and the message for the limit."""
_EMPTIED: Final = "`[]` is an empty list; `--set path.ELEMENT=null` takes one element away, by its index or its id"
_MOST_ITEMS: Final = 3 * MOST_FINDINGS
"""Errors of pydantic that are looked at: several can be one finding, and more findings are not told."""
_SHOWN: Final = 40  # characters of a found text
_SHOWN_KEYS: Final = 6  # keys of a found mapping


class _Finding(Struct, frozen=True):
    """One error; `choices` are the members of unions on the way: (depth of the union in the path, member's label)."""

    path: Path
    sort: str
    message: str
    context: Mapping[str, Any]
    choices: tuple[tuple[int, str], ...]
    on_key: bool = False
    expected: str | None = None


def report(
    error: ValidationError, model: type[BaseModel], root: Node, kinds: SpecKinds, diagnostics: Diagnostics
) -> None:
    """Report a document's validation errors at their places."""
    items = error.errors(include_url=False, include_input=False)[:_MOST_ITEMS]
    findings = _select([_locate(item, model) for item in items])
    meant = {
        (*finding.path[:-1], near)
        for finding in findings
        if finding.sort == "extra_forbidden" and (near := _near(finding, model, root)) is not None
    }
    findings = _paired(findings, model, root)
    reported = set()
    for finding in findings:
        if finding.sort == "missing" and finding.path in meant:
            continue  # the misspelt key says it all
        node = _nearest(root, finding.path)
        written = (finding.sort, node.span, *(str(step).partition(".")[0] for step in finding.path))
        if not node.flawed and written not in reported:  # an entry that is made for each case is written once
            reported.add(written)
            _tell(finding, node, model, root, kinds, diagnostics)


def _paired(findings: Sequence[_Finding], model: type[BaseModel], root: Node) -> list[_Finding]:
    """The findings; where a mapping has one strange key and lacks one, the one was probably meant to be the other."""
    strange: dict[Path, list[_Finding]] = {}
    missing: dict[Path, list[_Finding]] = {}
    for finding in findings:
        group = {"extra_forbidden": strange, "missing": missing}.get(finding.sort)
        if group is not None:
            group.setdefault(finding.path[:-1], []).append(finding)
    joined = {}
    for path in strange.keys() & missing.keys():
        if len(strange[path]) == len(missing[path]) == 1 and _near(strange[path][0], model, root) is None:
            joined[strange[path][0].path] = missing[path][0].path
    return [
        replace(finding, expected=str(joined[finding.path][-1])) if finding.path in joined else finding
        for finding in findings
        if finding.sort != "missing" or finding.path not in joined.values()
    ]


def place_of(node: Node) -> Span:
    """Where to point for a value: a scalar itself, a collection's key, else the line that a collection begins in."""
    if node.style in ("block", "flow") and node.key is not None:
        return node.key.span
    span = node.span
    if span.start.line == span.end.line:
        return span
    source, start = node.place.source, node.place.start
    return source.span(start, max(source.text.find("\n", start), start))


def describe(node: Node) -> str:
    """What was found, in a few words."""
    value = node.value
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, str):
        return f"the text `{value}`" if len(value) <= _SHOWN else f"the text `{value[:_SHOWN]}...`"
    if isinstance(value, int | float):
        return f"the number {value}"
    if node.is_list:
        return "a list" if node.elements else "an empty list"
    keys = [*list(node.members)[:_SHOWN_KEYS], *(["..."] if len(node.members) > _SHOWN_KEYS else [])]
    return f"a mapping with the keys {', '.join(keys)}" if keys else "an empty mapping"


def _locate(item: Any, model: type[BaseModel]) -> _Finding:
    """Translate an error's path, in which names of union members and marks of keys stand between the keys."""
    shape: Shape | None = Shape(model)
    path: list[str | int] = []
    choices = []
    on_key = False
    for step in item["loc"]:
        if step == "[key]":
            on_key = True
        elif shape is not None and len(shape.branches()) > 1:
            choices.append((len(path), str(step)))
            shape = shape.branch(str(step))
        else:
            path.append(step)
            shape = next(iter(shape.inside(step)), None) if shape is not None else None
    return _Finding(tuple(path), item["type"], item["msg"], item.get("ctx", {}), tuple(choices), on_key)


def _select(found: Sequence[_Finding]) -> list[_Finding]:
    """Keep of each union the errors of the one member that the author probably meant."""
    selected: list[_Finding] = []
    unions: dict[Path, dict[str, list[_Finding]]] = {}
    for finding in found:
        if not finding.choices:
            selected.append(finding)
            continue
        (depth, label), *rest = finding.choices
        members = unions.setdefault(finding.path[:depth], {})
        members.setdefault(label, []).append(replace(finding, choices=tuple(rest)))
    for path, members in unions.items():
        candidates = [_select(findings) for findings in members.values()]
        fitting = [
            findings for findings in candidates if not all(f.path == path and f.sort in _MISFITS for f in findings)
        ]
        best = min(fitting, key=len) if fitting else [_merge(path, candidates)]
        selected += best
    return selected


def _merge(path: Path, candidates: list[list[_Finding]]) -> _Finding:
    """One error for a value that has none of the types of a union."""
    wanted = {finding.expected or _MISFITS[finding.sort]: None for findings in candidates for finding in findings}
    return _Finding(path, "model_type", "", {}, (), expected=_either(list(wanted)))


def _either(words: list[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}"


def _tell(
    finding: _Finding,
    node: Node,
    model: type[BaseModel],
    root: Node,
    kinds: SpecKinds,
    diagnostics: Diagnostics,
) -> None:
    name = _name(finding.path)
    if finding.sort == "extra_forbidden":
        near = finding.expected or _near(finding, model, root)
        known = known_keys(shapes_at(model, finding.path[:-1]))
        meant = meant_key(str(finding.path[-1]), known)
        hint = meant or (f"did you mean `{near}`?" if near else _unknown(finding, model, known, kinds))
        diagnostics.error(E_SPEC_UNKNOWN_KEY, f"unknown key `{finding.path[-1]}`", node.key_span, hint=hint)
    elif finding.sort == "missing":
        message = f"{_name(finding.path[:-1])} lacks the key `{finding.path[-1]}`"
        diagnostics.error(E_SPEC_MISSING_KEY, message, place_of(node), hint=add_key(finding.path, root))
    elif finding.sort in _MISFITS:
        expression = any(shape.expression for shape in shapes_at(model, finding.path))
        expected = finding.expected or ("an expression, as text" if expression else _MISFITS[finding.sort])
        message = f"{name} is of the wrong type"
        hint = _reshaped(node, expected, shapes_at(model, finding.path))
        diagnostics.error(E_SPEC_TYPE, message, place_of(node), expected=expected, found=describe(node), hint=hint)
    elif finding.on_key:
        message = f"the key `{finding.path[-1]}` is not allowed"
        diagnostics.error(E_SPEC_VALUE, message, node.key_span, expected=_limit(finding))
    else:
        limit = _limit(finding)
        message = _refusal(finding, node, name, limit)
        hint = _as_name(node, "-") if name == "`name`" else _as_word(finding, node)
        if finding.sort in ("literal_error", "enum", "union_key"):
            hint = _correction(node, limit) or _example(shapes_at(model, finding.path))
        diagnostics.error(E_SPEC_VALUE, message, place_of(node), expected=limit, found=describe(node), hint=hint)


def add_key(path: Path, root: Node) -> str:
    """What to write for a key that is missing at a path of a document, and what says what may stand there."""
    if path == ("name",):
        return f"write `name: {PurePath(root.place.source.file).stem}`: a spec has the name of its file"
    kind = str(root.members["spec"].value).partition("/")[0]
    steps = ".".join([kind, *(step for step in path if isinstance(step, str))])
    return f"write `{path[-1]}: ...`; `spec explain {steps}` says what may stand there"


def _reshaped(node: Node, expected: str, shapes: tuple[Shape, ...]) -> str | None:
    """How to write a value as what was expected."""
    written = _source(node)
    known = {name for shape in shapes for leaf in shape.leaves for name in leaf.fields}
    if expected == "a list":
        return _EMPTIED if node.value is None else "a list is `[a, b]`, or lines that begin with `- `"
    fixed = node.members.get("qfixed") if node.is_mapping and len(node.members) == 1 else None
    if expected.startswith("an expression") and fixed is not None:
        return f"write the number alone: `{fixed.value}`; `{{qfixed: ...}}` is for constants"
    if expected.startswith("an expression") and node.style == "flow":
        return f'quote the expression: "{written}"' if len(written) <= _SHOWN and '"' not in written else "quote it"
    if expected == "an integer" and re.fullmatch(r"-?[0-9]{1,18}", str(node.value)):
        return f"write {node.value} without quotes"
    if isinstance(node.value, str) and (substituted := hint_of_substitution(node.value)):
        return substituted
    if expected == "text" and type(node.value) in (int, float):
        return f'quote it: "{node.value}"'
    if node.is_list and expected == "text or a mapping" and "enum" not in known and len(node.elements) > 0:
        one = _source(node.elements[0])
        return f"it is one alone: write `{one}`; of several, each has an entry of its own, such as an arm of a suite"
    if expected == "text or a mapping" and "enum" in known and not node.is_list:
        return "write a type, such as `int`; its value at the start stands in `start`"
    if node.is_list and expected == "text or a mapping" and "enum" in known:
        return f"write `{{enum: [{', '.join(map(_source, node.elements))}]}}`"
    if node.is_list and expected in ("an integer", "text"):
        return "one value stands here; for several, declare a parameter in `params` and its values in `matrix`"
    if expected == "a mapping":
        return _example(shapes) or "a mapping is `{key: value}`, or lines of the form `key: value`"
    return None


def _source(node: Node) -> str:
    """A value as it is written."""
    return node.place.source.text[node.place.start : node.place.end]


def _as_name(node: Node, joint: str) -> str | None:
    """A name that is near to a text that is none."""
    words = re.findall(r"[a-z0-9]+", str(node.value).lower())
    meant = joint.join(words)
    return f"write `{meant}`" if words and words[0][0].isalpha() and meant != node.value else None


def _as_word(finding: _Finding, node: Node) -> str | None:
    """The same for a text that must be one word of letters, digits and underscores, or `module:name`."""
    pattern = str(finding.context.get("pattern", ""))
    if "[0-9]{4}-[0-9]{2}-[0-9]{2}" in pattern:
        return 'write year, month and day in quotes: "2027-12-31"'
    if finding.sort == "string_pattern_mismatch" and isinstance(node.value, str) and len(node.value) <= _SHOWN:
        joined = ":".join(node.value.rsplit(".", 1))
        if joined != node.value and ":" in pattern and re.fullmatch(pattern, joined):
            return f"write `{joined}`"
    word = finding.sort == "string_pattern_mismatch" and isinstance(node.value, str)
    underscored = word and re.fullmatch(pattern, "a_b") and not re.fullmatch(pattern, "a-b")
    return _as_name(node, "_") if underscored else None


def _example(shapes: tuple[Shape, ...]) -> str | None:
    """How the first of several mappings begins that may stand at a place."""
    for shape in (leaf for outer in shapes for leaf in outer.leaves):
        if shape.model is not None:
            fields = shape.model.model_fields
            other = [key for key in fields if key != "doc"][:1]
            needed = [field.alias or key for key, field in fields.items() if field.is_required()] or other
            return f"write for instance `{{{', '.join(f'{key}: ...' for key in needed)}}}`" if needed else None
    return None


def _refusal(finding: _Finding, node: Node, name: str, limit: str | None) -> str:
    """What is wrong with a value: it is none of a few words, or beyond a limit, or what the model says of it."""
    if limit is None:
        return finding.message.removeprefix("Value error, ")
    if finding.sort in ("literal_error", "enum") and isinstance(node.value, str):
        return f"`{node.value[:_SHOWN]}` is not one of {limit.replace(' or ', ', ')}"
    return f"the value of {name} is not allowed"


def _name(path: Path) -> str:
    """What a path's end is called: the innermost key, with the indices after it."""
    keys = [index for index, step in enumerate(path) if isinstance(step, str)]
    if not keys:
        return "the document"
    return f"`{path[keys[-1]]}{''.join(f'[{index}]' for index in path[keys[-1] + 1 :])}`"


def _limit(finding: _Finding) -> str | None:
    """What is allowed, as far as pydantic or the model says it."""
    if finding.sort in _LIMITS:
        name, pattern = _LIMITS[finding.sort]
        return pattern.format(finding.context.get(name))
    message = finding.message.removeprefix("Value error, ")
    return message.removeprefix("expected ") if message.startswith("expected ") else None


def _correction(node: Node, limit: str | None) -> str | None:
    """The allowed word that was probably meant by a text, or by one of a mapping's first keys."""
    words = re.findall(r"[\w-]+", limit or "")
    known = (
        ["none"]
        if node.value is None
        else [node.value]
        if isinstance(node.value, str)
        else [*islice(node.members, _SHOWN_KEYS)]
    )
    near = [suggest(word, words) for word in known if node.value is None or word not in words]
    meant = meant_value(node.value, limit) if isinstance(node.value, str) and limit else None
    return meant or next((f"did you mean `{word}`?" for word in near if word is not None), None)


def _near(finding: _Finding, model: type[BaseModel], root: Node) -> str | None:
    """The key that an unknown one was probably meant to be; none that its mapping has already."""
    taken = _nearest(root, finding.path[:-1]).members
    return suggest(
        str(finding.path[-1]), [key for key in known_keys(shapes_at(model, finding.path[:-1])) if key not in taken]
    )


def _unknown(finding: _Finding, model: type[BaseModel], known: tuple[str, ...], kinds: SpecKinds) -> str | None:
    """Where a key belongs that is unknown at a place, as far as any kind has it, and the keys that are known there."""
    key = str(finding.path[-1])
    path = find_key(Shape(model), key) if key not in known else None
    before = key.split(":", maxsplit=1)[0]
    if before != key and before in known:
        return f"a space belongs after the colon: `{before}: …`"
    inside = {name: shapes_at(model, (*finding.path[:-1], name)) for name in known}
    own = [name for name, shapes in inside.items() if any(leaf.is_mapping for shape in shapes for leaf in shape.leaves)]
    if len(finding.path) > 1 and len(own) == 1:
        belongs = f"a name of your own belongs in `{own[0]}`"
    elif path is not None:
        belongs = f"`{key}` belongs " + (f"in `{'.'.join(path[:-1])}`" if path[1:] else "at the top of the document")
    else:
        owners = [f"`{name}`" for name, kind in kinds.items() if key in Shape(kind.model).fields]
        belongs = f"`{key}` is a key of the kind {_either(owners)}" if 0 < len(owners) <= _SHOWN_KEYS else ""
    listing = f"known keys: {', '.join(known)}" if known else ""
    return "; ".join(words for words in (belongs, listing) if words) or None


def _nearest(root: Node, path: Path) -> Node:
    """The value at a path, or the deepest one on the way to it."""
    node = root
    for step in path:
        child = node.child(step)
        if child is None:
            return node
        node = child
    return node
