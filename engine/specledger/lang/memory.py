"""Memory: what is kept from step to step of what was observed; checked against an observation's type, then written.

Whoever remembers sees the fields of the observation and of the memory, functions and constants, and nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from specledger.core.diagnostics import code
from specledger.expr.check.types import RecordType, Type
from specledger.expr.generate.compiler import compile_function
from specledger.expr.generate.emitter import Emitter
from specledger.lang.bind import bind, fields_of
from specledger.lang.effects import PlannedEffect, check_effect, emit_effects, emit_fitting
from specledger.lang.scope import Fields, Let, Scope
from specledger.spec.invariant import InvariantMemory
from specledger.spec.memory import Memory as MemorySpec
from specledger.spec.memory import Write

E_MEMORY = code("E_MEMORY", "a memory write cannot be made")

EPISODE: Final = "episode"
"""The scope of a memory that begins anew in every episode."""


class Memory(Struct, frozen=True):
    """A checked memory.

    Attributes:
        scope: `episode` or `run`: when it begins anew.
        start: Its values at the first observation.
        writes: What is written after acting, each where its `when` holds.
    """

    observation: RecordType
    type: RecordType
    scope: str
    start: Let
    writes: tuple[PlannedEffect, ...]

    def sources(self, emitter: Emitter, seen: str, memory: str) -> dict[str, str]:
        """Python sources of all that one who remembers may read, from the locals of observation and memory."""
        return {
            **fields_of(emitter, seen, self.observation.fields),
            **fields_of(emitter, memory, self.type.fields),
        }


def check_fields(spec: MemorySpec | InvariantMemory | None, scope: Scope) -> tuple[Mapping[str, Type], Let, Scope]:
    """Check what a memory holds: its types, its start values, and the scope in which its fields are visible."""
    if spec is None:
        return {}, Fields(), scope
    types = scope.types({name: field.type for name, field in spec.fields.items()}, "memory", "fields")
    starts = []
    for name in sorted(types):
        checked = scope.expression("memory", "fields", name, "start", expect=types[name])
        if checked is not None:
            starts.append((name, checked))
    return types, Fields(tuple(starts)), scope.declare(types, "memory", "fields")


def check_writes(
    writes: Sequence[Write], memory: Mapping[str, Type], scope: Scope, **later: Type
) -> dict[int, PlannedEffect]:
    """Check the writes of a memory in a scope that sees its fields; effects, unlike conditions, also read `later`.

    Returns:
        Those that can be made, each under its index.
    """
    planned = {}
    record, seeing = RecordType("memory", memory), scope.within(**later)
    for index, write in enumerate(writes):
        if write.effect.when is not None:
            scope.wrong(E_MEMORY, "move this condition up to the write", "remember", index, "effect", "when")
        when = scope.condition(write.when, "remember", index, "when")
        effect = check_effect(write.effect, record, seeing, "remember", index, "effect")
        if when is not None and effect is not None:
            planned[index] = replace(effect, when=when)
    return planned


def compile_begin(memory: Memory) -> Callable[[dict[str, Any]], dict[str, Any]]:
    """`observation -> memory` at the first observation."""

    def compose(emitter: Emitter) -> str:
        seen = emitter.local("observation")
        lines, names = bind(emitter, memory.start.variables, fields_of(emitter, seen, memory.observation.fields))
        more, display = emit_fitting(emitter, memory.start, memory.type.fields, names)
        return emitter.function("begin", [seen], [*lines, *more, f"return {display}"])

    return compile_function(compose)


def compile_writes(memory: Memory) -> Callable[..., int]:
    """`(observation, memory, action) -> the number of memory writes that the action would cause`."""

    def compose(emitter: Emitter) -> str:
        seen, remembered, action = (emitter.local(hint) for hint in ("observation", "memory", "action"))
        whens = [write.when for write in memory.writes if write.when is not None]
        read = frozenset[str]().union(*(when.variables for when in whens))
        lines, names = bind(emitter, read, {**memory.sources(emitter, seen, remembered), "action": action})
        count = " + ".join(f"(1 if {emitter.expression(when, names)} else 0)" for when in whens) or "0"
        return emitter.function("writes", [seen, remembered, action], [*lines, f"return {count}"])

    return compile_function(compose)


def compile_remember(memory: Memory) -> Callable[..., dict[str, Any]]:
    """`(observation, memory, action, new observation) -> memory`."""

    def compose(emitter: Emitter) -> str:
        hints = ("observation", "memory", "action", "seen", "after")
        seen, remembered, action, later, after = (emitter.local(hint) for hint in hints)
        read = frozenset[str]().union(*(write.variables for write in memory.writes))
        sources = {**memory.sources(emitter, seen, remembered), "action": action, "seen": later}
        lines, names = bind(emitter, read, sources)
        lines += [f"{after} = {remembered}", *emit_effects(emitter, memory.writes, names, after), f"return {after}"]
        return emitter.function("remember", [seen, remembered, action, later], lines)

    return compile_function(compose)
