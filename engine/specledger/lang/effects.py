"""Effects: simultaneous changes of a record, checked against its type and written as Python lines.

Every right side reads the record as it was before the list of effects; the changes themselves are made in order.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from msgspec import Struct

from specledger.core.canonical import NotCanonical, canonical_bytes
from specledger.core.diagnostics import code, suggest
from specledger.expr.check.checker import Checked
from specledger.expr.check.relations import conformer, contains
from specledger.expr.check.types import BOOL, MISTAKEN, STRING, IntType, ListType, MapType, RecordType, Type
from specledger.expr.errors import EvaluationError
from specledger.expr.generate.emitter import Emitter
from specledger.lang.scope import Let, Path, Scope
from specledger.spec.world import AppendEffect, EachEffect, Effect, PutEffect, RemoveEffect, SetEffect

_LONGEST: Final = 80
"""Characters of a value in a message."""

E_EFFECT_TARGET = code("E_EFFECT_TARGET", "unknown target of an effect")
E_EVAL_STATE = code("E_EVAL_STATE", "value outside its declared type")


class PlannedEffect(Struct, frozen=True):
    """One checked effect.

    Attributes:
        kind: `set`, `append`, `remove`, `each` or `put`.
        target: Path of the field that changes.
        values: The right sides: `[to]`, `[value]`, `[where]`, `[where, *updates]` or `[key, value]`.
        element: The name of a list's element in `where` and `update`.
        updates: The fields that `each` changes, in the order of their values.
    """

    kind: str
    target: tuple[str, ...]
    type: Type
    when: Checked | None
    values: tuple[Checked, ...]
    element: str = ""
    updates: tuple[str, ...] = ()

    @property
    def variables(self) -> frozenset[str]:
        """The names that must be bound, the element's aside."""
        read = frozenset[str]().union(*(checked.variables for checked in self.values))
        return (read - {self.element}) | (self.when.variables if self.when else frozenset())

    @property
    def clock(self) -> frozenset[str]:
        """The names of the clock of the run that it may read."""
        return frozenset[str]().union(*(checked.clock for checked in (*self.values, self.when) if checked))


def check_effects(
    effects: Sequence[Effect], record: RecordType, scope: Scope, *path: str | int
) -> tuple[PlannedEffect, ...]:
    """Check a list of effects on a record; wrong ones are findings and left out."""
    planned = [check_effect(effect, record, scope, *path, index) for index, effect in enumerate(effects)]
    return tuple(effect for effect in planned if effect is not None)


def check_effect(effect: Effect, record: RecordType, scope: Scope, *path: str | int) -> PlannedEffect | None:
    """Check every expression of an effect on a record; None, with findings, if one or the target is wrong."""
    kind, needed = _KINDS[type(effect)]
    dotted = str(getattr(effect, kind))
    type_ = _target(kind, needed, dotted, record, scope, path)
    inside = _inside(type_)
    when = scope.expression(*path, "when", expect=BOOL) if effect.when is not None else None
    values: list[Checked | None] = []
    element = ""
    updates: tuple[str, ...] = ()
    if isinstance(effect, SetEffect):
        values.append(scope.expression(*path, "to", expect=type_))
    elif isinstance(effect, PutEffect):
        values.append(scope.expression(*path, "key", expect=STRING))
        values.append(scope.expression(*path, "value", expect=inside))
    elif isinstance(effect, AppendEffect):
        values.append(scope.expression(*path, "value", expect=inside))
    else:
        element, updates, values = _check_elements(effect, inside, scope, path)
    checked = tuple(value for value in values if value is not None)
    if type_ is MISTAKEN or len(checked) < len(values) or (effect.when is not None and when is None):
        return None
    return PlannedEffect(kind, tuple(dotted.split(".")), type_, when, checked, element, updates)


def _check_elements(
    effect: RemoveEffect | EachEffect, item: Type, scope: Scope, path: Path
) -> tuple[str, tuple[str, ...], list[Checked | None]]:
    """The element's name, the fields that are changed, and the right sides of an effect on elements of a list."""
    inner = scope.declare({effect.element: item}, *path)
    values = [inner.expression(*path, "where", expect=BOOL)]
    if isinstance(effect, RemoveEffect):
        return effect.element, (), values
    if not isinstance(item, RecordType) and item is not MISTAKEN:
        scope.wrong(E_EFFECT_TARGET, "`each` updates fields, but the list's items have none", *path)
        item = MISTAKEN
        values.append(None)
    fields = item.fields if isinstance(item, RecordType) else {}
    updates = tuple(sorted(effect.update))
    for name in updates:
        if name not in fields and item is not MISTAKEN:
            near = suggest(name, fields)
            scope.wrong(E_EFFECT_TARGET, f"the list's items have no field {name!r}", *path, "update", name, near=near)
            values.append(None)
        values.append(inner.expression(*path, "update", name, expect=fields.get(name)))
    return effect.element, updates, values


def _inside(type_: Type) -> Type:
    """The type of what a list or a map holds."""
    if isinstance(type_, ListType):
        return type_.item
    return type_.value if isinstance(type_, MapType) else MISTAKEN


_KINDS: Final[Mapping[type, tuple[str, type[Type] | None]]] = {
    SetEffect: ("set", None),
    AppendEffect: ("append", ListType),
    RemoveEffect: ("remove", ListType),
    EachEffect: ("each", ListType),
    PutEffect: ("put", MapType),
}
"""The key of each sort of effect, which names the field that changes, and what that field must be."""


def _target(kind: str, needed: type[Type] | None, dotted: str, record: RecordType, scope: Scope, path: Path) -> Type:
    """The type of the field that an effect changes; a mistaken one, with a finding, if it cannot be changed so."""
    type_: Type = record
    names = dotted.split(".")
    for depth, name in enumerate(names, start=1):
        if type_ is MISTAKEN:
            return MISTAKEN
        known = type_.fields if isinstance(type_, RecordType) else {}
        if name not in known:
            hint = suggest(name, known)
            scope.diagnostics.error(
                E_EFFECT_TARGET,
                f"there is no field {dotted!r} to change",
                scope.source.span(*path, kind),
                hint=f"did you mean {hint!r}?" if hint else None,
                expected=f"one of {', '.join(sorted(known))}" if known else "a field of a record",
            )
            return MISTAKEN
        optional = isinstance(type_, RecordType) and name in type_.optional
        if optional and (depth < len(names) or kind != "set"):
            scope.diagnostics.error(
                E_EFFECT_TARGET,
                f"{name!r} may be missing: it can only be set, as a whole",
                scope.source.span(*path, kind),
            )
            return MISTAKEN
        type_ = known[name]
    if needed is not None and type_ is not MISTAKEN and not isinstance(type_, needed):
        noun = "map" if needed is MapType else "list"
        scope.diagnostics.error(
            E_EFFECT_TARGET, f"`{kind}` needs a {noun}, but {dotted!r} is {type_}", scope.source.span(*path, kind)
        )
        return MISTAKEN
    return type_


def emit_effects(
    emitter: Emitter, effects: Sequence[PlannedEffect], names: Mapping[str, str], record: str, *, copied: bool = False
) -> list[str]:
    """Lines that replace the local `record` by a changed copy; the caller's own copy stays as it was.

    Args:
        emitter: Where the lines will stand.
        effects: The effects, all reading `names`.
        names: Local of every variable read.
        record: The local that holds the record.
        copied: Whether it holds a copy already, which these lines may change.
    """
    if not effects:
        return []
    reading: list[str] = []
    changing: list[str] = [] if copied else [f"{record} = {{**{record}}}"]
    fresh: set[tuple[str, ...]] = {()}
    for effect in effects:
        guard = ""
        if effect.when is not None:
            guard = emitter.local("when")
            reading.append(f"{guard} = {emitter.expression(effect.when, names)}")
        changing += _copies(emitter, effect.target[:-1], record, fresh)
        read, change = _change(emitter, effect, names, _place(emitter, record, effect.target), guard)
        reading += read
        changing += [f"if {guard}:", *(f"    {line}" for line in change)] if guard else change
        # What was set may be shared with the record before: an effect below it needs copies of its own.
        fresh -= {prefix for prefix in fresh if prefix[: len(effect.target)] == effect.target}
    return reading + changing


def _place(emitter: Emitter, record: str, target: tuple[str, ...]) -> str:
    return record + "".join(f"[{emitter.constant(name)}]" for name in target)


def _copies(emitter: Emitter, parents: tuple[str, ...], record: str, fresh: set[tuple[str, ...]]) -> list[str]:
    """Lines that copy the records on the way to a nested field, once each."""
    lines = []
    for depth in range(1, len(parents) + 1):
        prefix = parents[:depth]
        if prefix not in fresh:
            fresh.add(prefix)
            target = _place(emitter, record, prefix)
            lines.append(f"{target} = {{**{target}}}")
    return lines


def _change(
    emitter: Emitter, effect: PlannedEffect, names: Mapping[str, str], target: str, guard: str
) -> tuple[list[str], list[str]]:
    """The lines that read the right sides, and those that make one change."""
    if effect.kind in ("remove", "each"):
        return [], _change_elements(emitter, effect, names, target)
    value = emitter.local("value")
    read = emitter.assign(value, effect.values[-1], names, guard)
    declared = effect.type
    if isinstance(declared, ListType | MapType) and effect.kind != "set":
        declared = declared.item if isinstance(declared, ListType) else declared.value
    right = effect.values[-1]
    name = ".".join(effect.target)
    fits = demand(emitter, value, declared, right, name if effect.kind == "set" else f"an item of {name}")
    if effect.kind == "set":
        return read, [*fits, f"{target} = {value}"]
    if isinstance(effect.type, ListType) and effect.kind == "append":
        full = _refusal(emitter, target, effect.type, right, name)
        return read, [*fits, f"{target} = [*{target}, {value}]", f"len({target}) <= {effect.type.most} or {full}"]
    key = emitter.local("key")
    read += emitter.assign(key, effect.values[0], names, guard)
    return read, [*fits, f"{target} = {{**{target}, {key}: {value}}}"]


def _change_elements(emitter: Emitter, effect: PlannedEffect, names: Mapping[str, str], target: str) -> list[str]:
    """Lines of a loop over a list: where the condition holds, an element is dropped or some of its fields replaced."""
    element, kept = emitter.local(effect.element), emitter.local("kept")
    inner = {**names, effect.element: element}
    where = emitter.expression(effect.values[0], inner)
    lines = [f"{kept} = []", f"for {element} in {target}:"]
    if effect.kind == "remove":
        lines += [f"    if not {where}:", f"        {kept}.append({element})"]
    else:
        item = effect.type.item if isinstance(effect.type, ListType) else effect.type
        fields = item.fields if isinstance(item, RecordType) else {}
        locals_ = [emitter.local(name) for name in effect.updates]
        lines.append(f"    if {where}:")
        for name, local, checked in zip(effect.updates, locals_, effect.values[1:], strict=True):
            lines.append(f"        {local} = {emitter.expression(checked, inner)}")
            label = f"{name} of an item of {'.'.join(effect.target)}"
            lines += [f"        {line}" for line in demand(emitter, local, fields[name], checked, label)]
        pairs = ", ".join(f"{emitter.constant(n)}: {v}" for n, v in zip(effect.updates, locals_, strict=True))
        lines += [f"        {element} = {{**{element}, {pairs}}}", f"    {kept}.append({element})"]
    return [*lines, f"{target} = {kept}"]


def demand(emitter: Emitter, value: str, declared: Type, right: Checked, label: str) -> list[str]:
    """A line that refuses a value outside its declared type; none where the expression is proved to fit."""
    if contains(declared, right.type):
        return []
    refusal = _refusal(emitter, value, declared, right, label)
    if isinstance(declared, IntType) and isinstance(right.type, IntType):
        refusal = f"{declared.low} <= {value} <= {declared.high} or {refusal}"
    return [refusal]


def emit_fitting(
    emitter: Emitter, fields: Let, declared: Mapping[str, Type], names: Mapping[str, str]
) -> tuple[list[str], str]:
    """Lines that evaluate labelled expressions and refuse what leaves its declared type, and the dict display of them.

    Args:
        emitter: Where the lines will stand.
        fields: The expressions.
        declared: The type that each must keep, on which readers rely.
        names: Local of every variable read.
    """
    lines, pairs = [], []
    for name, checked in fields:
        local = emitter.local(name)
        lines += [*emitter.assign(local, checked, names), *demand(emitter, local, declared[name], checked, name)]
        pairs.append(f"{emitter.constant(name)}: {local}")
    return lines, "{" + ", ".join(pairs) + "}"


def _refusal(emitter: Emitter, value: str, declared: Type, right: Checked, label: str) -> str:
    words = f"{declared.low}..{declared.high}" if isinstance(declared, IntType) else f"its declared type {declared}"

    fits = conformer(declared)

    def fit(given: object) -> None:
        if not fits(given):
            raise EvaluationError(E_EVAL_STATE, f"{label} would be {_shown(given)}, outside {words}", 0, right.text)

    return f"{emitter.bind(fit, 'fit')}({value})"


def _shown(value: object) -> str:
    try:
        text = canonical_bytes(value).decode()
    except NotCanonical:  # an integer beyond those of receipts
        text = repr(value)
    return text if len(text) <= _LONGEST else text[: _LONGEST - 3] + "..."
