"""Focus variables: quantities of a world that reasons may name, how each is read, and how it gets another value.

An edit of the primary state counts only if the variable then reads as wanted and the state breaks no condition of the
world that it satisfied before; otherwise the value is unreachable, which is neither a pass nor a failure. The module
also gives the normal form of a state seen through some variables, and the labels of actions.

Source: toy-pseudo-axion, `normalize_state` and `mutate`; interventions on derived quantities as edits of primary ones.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from itertools import islice
from typing import Any, Final

from specledger.core.canonical import canonical_bytes
from specledger.core.digest import sha256_hex
from specledger.expr import Checked, Emitter, EvaluationError, Type, compile_function, conforms
from specledger.expr.generate.compiler import compile_functions
from specledger.lang.bind import bind, fields_of
from specledger.lang.effects import PlannedEffect, emit_effects
from specledger.lang.notation import Notation, Taken
from specledger.worlds.emit import UnknownActionError, compile_over, compile_predicate
from specledger.worlds.json_schema import json_schema
from specledger.worlds.model import PlannedVariable, World
from specledger.worlds.namespace import DERIVED, FOCUS, split_name

MOST_TRIES: Final = 4096
"""Edits that are tried for one wanted value."""

_WORD: Final = re.compile(r"[^A-Za-z0-9_]")
_LITERAL: Final = re.compile(r"""\s*['"](\w+)""", re.ASCII)
"""What ends the first word of a label, and the first word of the text with which an expression begins."""

MOST_NAME: Final = 80
"""Characters of a variable's name and of a label, as schemas of proposals allow them."""

State = dict[str, Any]


class UnknownVariableError(LookupError):
    """A name that is no variable in this state: not in the namespace, or of a thing that is not there."""


class Variables:
    """The compiled namespace of a world. States are plain JSON and are never changed in place.

    Attributes:
        notation: Reads what agents outside write for the world's actions.
    """

    def __init__(self, world: World) -> None:
        """Take a checked world; each variable is compiled when it is first asked for."""
        self._world = world
        self._plain = {planned.name: planned for planned in world.namespace.variables if not planned.parameter}
        self._families = [planned for planned in world.namespace.variables if planned.parameter]
        self._made: dict[str, Mapping[str, Callable[..., Any]]] = {}
        self._context = compile_over(world, world.namespace.context)
        self._labels = {op: _labelling(world, op, checked) for op, checked in world.namespace.labels}
        begins = [(op, _LITERAL.match(checked.text.value)) for op, checked in world.namespace.labels]
        self._free_labels = not all(match and match[1] == op for op, match in begins)
        taken = {op: Taken(action.args, action.allowed) for op, action in world.actions.items()}
        self.notation = Notation(taken, self.label)

    def names(self, state: State) -> list[str]:
        """The variables that there are in a state, sorted; a name longer than 80 characters is left out.

        Raises:
            EvaluationError: An `over` that cannot be evaluated.
        """
        names = set(self._plain)
        for planned in self._families:
            before, _, after = split_name(planned.name)
            names |= {f"{before}{text}{after}" for text in self._functions(planned)["over"](state) if text}
        return sorted(name for name in names if len(name) <= MOST_NAME)

    def entries(self, name: str) -> list[PlannedVariable]:
        """The entries of `variables` of which a name is in some state."""
        if name in self._plain:
            return [self._plain[name]]
        halves = ((planned, split_name(planned.name)) for planned in self._families)
        return [planned for planned, (before, _, after) in halves if name.startswith(before) and name.endswith(after)]

    def read(self, state: State, name: str) -> Any:
        """The value of a variable.

        Raises:
            UnknownVariableError: There is no such variable in this state.
        """
        planned, given = self._find(state, name)
        return self._functions(planned)["read"](state, *given)

    def type(self, state: State, name: str) -> Type:
        """The type of a variable.

        Raises:
            UnknownVariableError: There is no such variable in this state.
        """
        return self._find(state, name)[0].read.type

    def describe(self, state: State) -> dict[str, dict[str, Any]]:
        """What a state's variables are, by name: `{type, doc, value}`; for readers who know neither spec nor types.

        The type is a JSON Schema. In the line of documentation the parameter of a name is filled in. A value that
        cannot be evaluated in this state is left out.
        """
        described = {}
        for name in self.names(state):
            planned, given = self._find(state, name)
            said = planned.doc.replace(f"<{planned.parameter}>", given[0]) if given else planned.doc
            described[name] = {"type": json_schema(planned.read.type), "doc": said}
            with suppress(EvaluationError):
                described[name]["value"] = self._functions(planned)["read"](state, *given)
        return described

    def mutate(self, state: State, name: str, value: Any) -> tuple[State, dict[str, Any]] | None:
        """The state after the first edit with which a variable reads as wanted.

        `value` may be any JSON value, since it may come from outside.

        Returns:
            The new state and the edit `{variable, value, by, changed}`: `value` in its normal form, `by` the element
            that a derived variable's `try` took (None for others), `changed` per field of the state `{from, to}`. None
            if the value is unreachable: no value of this variable, refused by its `require`, given by no edit, or by
            none that can be evaluated.

        Raises:
            UnknownVariableError: There is no such variable in this state.
        """
        planned, given = self._find(state, name)
        functions = self._functions(planned)
        if "change" not in functions or not conforms(value, planned.read.type):
            return None
        try:
            wanted = functions["normal"](state, *given, value) if "normal" in functions else value
            if not functions["require"](state, *given, wanted):
                return None
            tried = functions["each"](state, *given, wanted) if "each" in functions else [None]
        except EvaluationError:
            return None
        for element in islice(tried, MOST_TRIES):
            arguments = (*given, wanted, element) if "each" in functions else (*given, wanted)
            after = self._tried(planned, state, given, wanted, arguments)
            if after is not None:
                changed = {key: {"from": state[key], "to": after[key]} for key in state if after[key] != state[key]}
                return after, {"variable": name, "value": wanted, "by": element, "changed": changed}
        return None

    def alternatives(self, state: State, name: str) -> list[Any]:
        """The values other than the present one that a challenge may try, in the world's order, each once.

        Raises:
            UnknownVariableError: There is no such variable in this state.
        """
        planned, given = self._find(state, name)
        functions = self._functions(planned)
        if "alternatives" not in functions:
            return []
        now = functions["read"](state, *given)
        values: list[Any] = []
        for value in functions["alternatives"](state, *given, now):
            if value != now and value not in values and conforms(value, planned.read.type):
                values.append(value)
        return values

    def normalize(self, state: State, focus: Iterable[str]) -> dict[str, Any]:
        """The state as seen through some variables: the context, then `focus` and `derived` values by name.

        The order in which variables are named, or named twice, makes no difference.

        Raises:
            UnknownVariableError: One of them is no variable in this state.
        """
        seen: dict[str, dict[str, Any]] = {FOCUS: {}, DERIVED: {}}
        for name in sorted(set(focus)):
            planned, given = self._find(state, name)
            value = self._functions(planned)["read"](state, *given)
            seen[FOCUS if planned.attempts is None else DERIVED][name] = value
        return {**self._context(state), **seen}

    def label(self, action: Mapping[str, Any]) -> str:
        """An action as a choice: what the world's `labels` say, else `op` with its arguments in order of their names.

        A label longer than 80 characters is cut and ends in its digest.

        Raises:
            UnknownActionError: The world has no such action, or it takes other arguments.
        """
        op = str(action.get("op"))
        planned = self._world.actions.get(op)
        args = {name: value for name, value in action.items() if name != "op"}
        if planned is None or not conforms(args, planned.args):
            raise UnknownActionError(op)
        text = self._labels[op](args) if op in self._labels else _plain_label(op, args)
        return text if len(text) <= MOST_NAME else f"{text[:47]}#{sha256_hex(text.encode())[:32]}"

    def may_be_choice(self, label: str) -> bool:
        """Whether a label may be that of an action: its first word is an operation, or a label begins otherwise."""
        return self._free_labels or _WORD.split(label, maxsplit=1)[0] in self._world.actions

    def _find(self, state: State, name: str) -> tuple[PlannedVariable, tuple[str, ...]]:
        """The entry that a name belongs to, with the text of its parameter."""
        if name in self._plain:
            return self._plain[name], ()
        for planned in self._families:
            before, _, after = split_name(planned.name)
            if len(name) > len(before) + len(after) and name.startswith(before) and name.endswith(after):
                text = name[len(before) : len(name) - len(after)]
                if text in self._functions(planned)["over"](state):
                    return planned, (text,)
        raise UnknownVariableError(name)

    def _functions(self, planned: PlannedVariable) -> Mapping[str, Callable[..., Any]]:
        if planned.name not in self._made:
            self._made[planned.name] = _compiled(self._world, planned)
        return self._made[planned.name]

    def _tried(
        self,
        planned: PlannedVariable,
        state: State,
        given: tuple[str, ...],
        wanted: Any,
        arguments: tuple[Any, ...],
    ) -> State | None:
        """The state after one edit, if that does what is wanted; what cannot be evaluated does not."""
        functions = self._functions(planned)
        try:
            if "may" in functions and not functions["may"](state, *arguments):
                return None
            after: State = functions["change"](state, *arguments)
            there = "over" not in functions or given[0] in functions["over"](after)
            if not there or functions["read"](after, *given) != wanted or not self._kept(planned, state, after):
                return None
        except EvaluationError:
            return None
        return after

    def _kept(self, planned: PlannedVariable, before: State, after: State) -> bool:
        """Whether an edit breaks none of the world's conditions that held before it and read what it changes."""
        effects = planned.effects if planned.attempts is None else planned.attempts.effects
        changed = {"now", *(effect.target[0] for effect in effects)}
        conditions = (holds for reads, holds in self._conditions if not changed.isdisjoint(reads))
        return all(holds(after) or not holds(before) for holds in conditions)

    @cached_property
    def _conditions(self) -> list[tuple[frozenset[str], Callable[[State], bool]]]:
        """What each condition of the world reads, and the condition."""
        return [
            (condition.require.variables, compile_predicate(self._world, condition.require, default=True))
            for condition in self._world.well_formed
        ]


def _plain_label(op: str, args: Mapping[str, Any]) -> str:
    return ":".join([op, *(canonical_bytes(args[name]).decode() for name in sorted(args))])


def _labelling(world: World, op: str, checked: Checked) -> Callable[[Mapping[str, Any]], str]:
    """`arguments -> label`."""

    def compose(emitter: Emitter) -> str:
        args = emitter.local("args")
        lines, names = bind(emitter, checked.variables, fields_of(emitter, args, world.actions[op].args.fields))
        return emitter.function("label", [args], [*lines, f"return {emitter.expression(checked, names)}"])

    return compile_function(compose)


def _compiled(world: World, planned: PlannedVariable) -> Mapping[str, Callable[..., Any]]:
    """The functions of one entry by their roles; each takes the state, then what `given` and the role add."""
    given = (planned.parameter,) if planned.parameter else ()
    valued = (*given, "value")
    expressions: list[tuple[str, Checked | None, tuple[str, ...]]] = [
        ("over", planned.over, ()),
        ("read", planned.read, given),
        ("normal", planned.normal, valued),
        ("require", planned.require, valued),
        ("alternatives", planned.alternatives, valued),
    ]
    effects, changing = planned.effects, valued
    if planned.attempts is not None:
        effects, changing = planned.attempts.effects, (*valued, planned.attempts.element)
        expressions += [("each", planned.attempts.each, valued), ("may", planned.attempts.require, changing)]

    def compose(emitter: Emitter) -> dict[str, str]:
        compiled = {
            role: _value(emitter, world, role, checked, params)
            for role, checked, params in expressions
            if checked is not None
        }
        return {**compiled, "change": _change(emitter, world, effects, changing)} if effects else compiled

    return compile_functions(compose)


def _value(emitter: Emitter, world: World, role: str, checked: Checked, params: Sequence[str]) -> str:
    state, lines, names = _bound(emitter, world, checked.variables, params)
    taken = [names[name] for name in params]
    return emitter.function(role, [state, *taken], [*lines, f"return {emitter.expression(checked, names)}"])


def _change(emitter: Emitter, world: World, effects: Sequence[PlannedEffect], params: Sequence[str]) -> str:
    needed = frozenset[str]().union(*(effect.variables for effect in effects))
    state, lines, names = _bound(emitter, world, needed, params)
    after = emitter.local("after")
    lines += [f"{after} = {state}", *emit_effects(emitter, effects, names, after), f"return {after}"]
    return emitter.function("change", [state, *(names[name] for name in params)], lines)


def _bound(
    emitter: Emitter, world: World, needed: Iterable[str], params: Sequence[str]
) -> tuple[str, list[str], dict[str, str]]:
    """The local of the state, lines that load what is needed of it, and the local of every name."""
    state = emitter.local("state")
    lines, names = bind(emitter, needed, {"now": state, **fields_of(emitter, state, world.state.fields)})
    return state, lines, {**names, **{name: emitter.local(name) for name in params}}
