"""Named expressions and effects where some of the values that they read are unknown.

It does what generated code does, expression by expression. An effect that reads an unknown value makes the whole field
that it changes unknown: a top-level member of its record, so that unknown never stands deeper.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any

from msgspec.structs import replace

from specledger.core.unknown import Unknown
from specledger.expr.eval.evaluator import evaluate_known, touched
from specledger.expr.generate.compiler import compile_function
from specledger.expr.generate.emitter import Emitter
from specledger.lang.effects import PlannedEffect, emit_effects
from specledger.lang.scope import Let


def three_valued(
    fast: Callable[..., Any], known: Callable[..., Any], holds: Callable[..., object]
) -> Callable[..., Any]:
    """A function that is generated where nothing that it is given is unknown, which `holds` says, else `known`."""

    def call(*given: Any) -> Any:
        return known(*given) if holds(*given) else fast(*given)

    return call


def any_unknown(*records: Any) -> bool:
    """Whether a record has an unknown member."""
    for record in records:
        if type(record) is dict:
            for member in record.values():  # of few members: `in map(type, ...)` takes twice the time
                if type(member) is Unknown:
                    return True
        elif type(record) is Unknown:
            return True
    return False


def with_let(let: Let, names: Mapping[str, Any]) -> dict[str, Any]:
    """Names, with those that further expressions define."""
    after = dict(names)
    for name, checked in let:
        after[name] = evaluate_known(checked, after)
    return after


def known_record(fields: Let, names: Mapping[str, Any]) -> dict[str, Any]:
    """A record of expressions that do not read each other."""
    return {name: evaluate_known(checked, names) for name, checked in fields}


def known_effects(effects: Sequence[PlannedEffect], names: Mapping[str, Any], record: Mapping[str, Any]) -> Any:
    """A changed copy of a record; every right side reads `names`."""
    after = dict(record)
    for effect in effects:
        when = True if effect.when is None else evaluate_known(effect.when, names)
        if when is False:
            continue
        field = effect.target[0]
        unknown = when if type(when) is Unknown else _read(effect, names)
        replaced = effect.kind == "set" and len(effect.target) == 1 and type(when) is not Unknown
        if unknown is None and not replaced and type(after[field]) is Unknown:
            continue
        if unknown is not None:
            after[field] = unknown
        else:
            call, order = _compiled(effect)
            after = call(*(names[name] for name in order), after)
    return after


def unknown_effects(effects: Sequence[PlannedEffect], unknown: Unknown, record: Mapping[str, Any]) -> dict[str, Any]:
    """A copy of a record in which all that effects may change is unknown: whether they are made is."""
    return {**record, **{effect.target[0]: unknown for effect in effects}}


def _read(effect: PlannedEffect, names: Mapping[str, Any]) -> Unknown | None:
    """The first unknown that the right sides of an effect may read."""
    return next(filter(None, (touched(checked, names) for checked in effect.values)), None)


@lru_cache(maxsize=4096)
def _compiled(effect: PlannedEffect) -> tuple[Callable[..., Any], tuple[str, ...]]:
    """One effect, which holds already, as a function of the names that it reads, in their order, and the record."""
    made = replace(effect, when=None)
    order = tuple(sorted(made.variables))

    def compose(emitter: Emitter) -> str:
        names = {name: emitter.local(name) for name in order}
        record = emitter.local("record")
        lines = emit_effects(emitter, [made], names, record)
        return emitter.function("effect", [*names.values(), record], [*lines, f"return {record}"])

    return compile_function(compose), order
