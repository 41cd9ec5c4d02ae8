"""First specs of a list of tools: a world with an action for each, and a policy with rules to begin with."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from msgspec import UNSET, Struct

from specledger.core.canonical import canonical_bytes
from specledger.core.diagnostics import printable
from specledger.expr.check.environment import ENGINE_NAMES, Environment
from specledger.wings.trajectories.tools.lists import Tool, read_tools
from specledger.wings.trajectories.tools.types import ANYTHING, IDENTIFIER, Types, TypeText

_PLAIN_SCALAR: Final = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
_WORDS: Final = frozenset({"true", "false", "null", "yes", "no", "on", "off", "y", "n"})
_COUNTERS: Final = ("calls", "number_of_calls", "calls_so_far")
_DOC: Final = 100
_RECIPIENT: Final = re.compile(
    r"(^|_)(e?mails?|recipients?|cc|bcc|participants?|attendees?|receivers?|addressees?|payees?|beneficiar(y|ies)|ibans?"
    r"|accounts?)(_|$)|^to$|(^|_)(mail|send|sent|pay|paid|transfer)_to$|^to_(address|addresses|account|email|name|user)"
)
"""Names of arguments that say to whom something goes."""
_PLACES: Final = (
    ("url", re.compile(r"(^|_)(url|uri|link|website)(_|$)")),
    ("path", re.compile(r"(^|_)(path|file|file_path|folder|directory)(_|$)")),
)
_COMPARED: Final = {"recipient": "[email, iban, text]", "url": "[url, text]", "path": "path"}
_CAMEL: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


def new_world(files: Sequence[Path], name: str) -> str:
    """The text of a world with an action for each tool; Rejected if there is none."""
    tools = read_tools(files)
    members = {tool.name: _members(tool) for tool in tools.values()}
    names = {argument for arguments in members.values() for argument in arguments}
    counter = next(word for word in (*_COUNTERS, "calls_of_all_tools_so_far") if word not in names)
    agreed = _agreed(members)
    lines = [
        "spec: world/v1",
        f"name: {name}",
        "doc: What an agent does with its tools. Arguments and results that not every call has are comments.",
        f"state: {{{counter}: int}} # add what rules must remember, and change it by `effects` of the actions",
        f"start: {{{counter}: 0}}",
        "actions:",
    ]
    taken: set[str] = set()
    for tool in tools.values():
        lines += _action(tool, members[tool.name], agreed, _free(tool.name, taken))
    lines += [f"every_step: [{{set: {counter}, to: {counter} + 1}}]", f"observe: {{{counter}: {counter}}}"]
    return "\n".join(lines) + "\n"


class _Argument(Struct, frozen=True):
    """An argument of a tool, as an action has it."""

    name: str
    type: TypeText
    required: bool
    remark: str


def _members(tool: Tool) -> dict[str, _Argument]:
    """The arguments of a tool by the names that an action can give them."""
    taken: set[str] = set()
    members = {} if tool.arguments is UNSET else Types(tool.arguments).members()
    return {_free(name, taken): _Argument(name, *member) for name, member in members.items()}


def _agreed(members: Mapping[str, Mapping[str, _Argument]]) -> dict[str, TypeText]:
    """The one type that arguments of a name have in all actions: one that no rule reads where tools disagree."""
    types: dict[str, TypeText] = {}
    for arguments in members.values():
        for own, argument in arguments.items():
            types[own] = _both(types.get(own, argument.type), argument.type)
    return types


def _both(one: TypeText, other: TypeText) -> TypeText:
    """The narrowest type for the values of two types: a number for numbers, otherwise one that no rule reads."""
    sorts = {sort if isinstance(sort := _sort(type_), str) else "" for type_ in (one, other)}
    if one == other or not sorts <= {"int", "qfixed"}:
        return one if one == other else ANYTHING
    return "qfixed" if "qfixed" in sorts else "int"


def _sort(type_: TypeText) -> TypeText:
    return "int" if isinstance(type_, dict) and type_.get("type") == "integer" else type_


def _free(word: str, taken: set[str]) -> str:
    """An identifier for a word, which nothing else has."""
    plain = re.sub(r"[^A-Za-z0-9_]", "_", word)[:70]
    plain = plain if IDENTIFIER.fullmatch(plain) else f"t_{plain}"
    name, number = plain, 1
    while name in taken or name in ENGINE_NAMES or Environment().conflict(name) is not None:
        number += 1
        name = f"{plain}_{number}"
    taken.add(name)
    return name


def _action(tool: Tool, members: Mapping[str, _Argument], agreed: Mapping[str, TypeText], action: str) -> Iterator[str]:
    doc = printable(" ".join(tool.doc.split()))
    named = f"the tool {printable(tool.name)}" if action != tool.name else ""
    about = ": ".join(word for word in (named, doc[:_DOC] + ("..." if len(doc) > _DOC else "")) if word)
    if about:
        yield f"  # {about}"
    lines = [_argument(own, argument, agreed[own]) for own, argument in members.items()]
    declared = [line for line in lines if not line.lstrip().startswith("#")]
    result = {} if tool.result is UNSET else Types(tool.result).members()
    fields = {name: type_ for name, (type_, required, _) in result.items() if required and IDENTIFIER.fullmatch(name)}
    yield f"  {action}:" if declared or fields else f"  {action}: {{}}"
    if lines:
        yield "    args:" if declared else "    # args:"
    yield from declared
    yield from (line for line in lines if line not in declared)
    yield f"    result: {_flow(fields)}" if fields else "    # result: {text: string}"


def _argument(own: str, argument: _Argument, agreed: TypeText) -> str:
    """The line of an argument; a comment where not every call has it."""
    remarks = [f"the argument {printable(argument.name)}"] if own != argument.name else []
    remarks += [] if argument.required else ["may be left out"]
    remarks += [argument.remark] if argument.remark else []
    widened = agreed not in (argument.type, "qfixed")
    remarks += ["tools disagree about its type"] if widened else []
    line = f"{own}: {_flow(agreed)}"
    left_out = "" if argument.required and own == argument.name else "# "
    remark = f" # {'; '.join(remarks)}" if remarks else ""
    return f"      {left_out}{line}{remark}"


def _flow(value: Any) -> str:
    """A value as YAML on one line."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_flow(key)}: {_flow(member)}" for key, member in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_flow, value)) + "]"
    if isinstance(value, str) and _PLAIN_SCALAR.fullmatch(value) and value.casefold() not in _WORDS:
        return value
    return canonical_bytes(value).decode()


def new_policy(files: Sequence[Path], name: str) -> str:
    """The text of a policy over tools: how often they are called, and where parties and places come from."""
    tools = read_tools(files)
    lines = [
        "spec: policy/v1",
        f"name: {name}",
        "doc: Rules to begin with, made of a list of tools; keep those that are meant.",
        f"# tools: {', '.join(map(printable, tools))}",
        "rules:",
        "  few-calls:",
        "    memory: {calls: {count: {}}, equal: {repeats: {}}}",
        "    require: calls <= 40 && equal <= 3",
        '    else: "call {calls}, the same one {equal} times in a row"',
    ]
    taken = {"few-calls"}
    for tool in tools.values():
        for word, sort, arguments in _origins(tool):
            lines += _origin_rule(tool.name, word, sort, arguments, taken)
    return "\n".join(lines) + "\n"


def _origins(tool: Tool) -> Iterator[tuple[str, str, list[str]]]:
    """What of a tool comes from somewhere: a word for it, its type, its arguments; all recipients are one."""
    members = {} if tool.arguments is UNSET else Types(tool.arguments).members()
    texts = {name: _snake(name) for name, (type_, _, _) in members.items() if _is_text(type_)}
    free = {name: _snake(name) for name, (type_, _, _) in members.items() if type_ == ANYTHING}
    recipients = [name for name, word in (texts | free).items() if _RECIPIENT.search(word)]
    if recipients:
        yield recipients[0] if len(recipients) == 1 else "recipients", "recipient", recipients
    for name, word in texts.items():
        sort = next((sort for sort, pattern in _PLACES if pattern.search(word)), None)
        if sort is not None and name not in recipients:
            yield name, sort, [name]


def _snake(name: str) -> str:
    """A name in small letters with `_` between its words: of `ccList` and `cc list` the same."""
    return re.sub(r"[^a-z0-9]+", "_", _CAMEL.sub("_", name).lower())


def _is_text(type_: TypeText) -> bool:
    return type_ == "string" or (isinstance(type_, dict) and type_.get("items") == "string")


def _origin_rule(tool: str, word: str, sort: str, arguments: Sequence[str], taken: set[str]) -> Iterator[str]:
    plain = re.sub(r"[^a-z0-9]+", "-", f"{tool}-{word}".lower()).strip("-")[:60] or "rule"
    plain = plain if plain[0].isalpha() else f"t-{plain}"
    name, number = plain, 1
    while name in taken:
        number += 1
        name = f"{plain}-{number}"
    taken.add(name)
    paths = [_path(argument) for argument in arguments if '"' not in argument]
    if not paths:
        return
    yield f"  {name}:"
    yield f"    when: {{tool: {_flow(tool)}}}"
    yield f"    each: {paths[0] if len(paths) == 1 else '[' + ', '.join(paths) + ']'}"
    yield f"    as: {_COMPARED[sort]}"
    yield "    from: [request, {text_of: any}] # narrow it to results that may name one"
    yield '    else: "{value} occurs only in {source}"'


def _path(argument: str) -> str:
    """The path of an argument as YAML."""
    plain = re.fullmatch(r"[A-Za-z_$][\w$-]*", argument, re.ASCII)
    return f"args.{argument}" if plain else _flow(f'args["{argument}"]')
