"""Binding: the locals of a generated function that hold the variables its expressions read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from specledger.core.weight import MEMBER, OBJECT, room_of_key
from specledger.expr import BOOL, IntType, RecordType, Type
from specledger.expr.generate.emitter import Emitter
from specledger.lang.scope import Let


def fields_of(emitter: Emitter, record: str, names: Iterable[str]) -> dict[str, str]:
    """Python sources that read the fields of a local record: `position` -> `state['position']`."""
    return {name: f"{record}[{emitter.constant(name)}]" for name in names}


def bind(emitter: Emitter, needed: Iterable[str], sources: Mapping[str, str]) -> tuple[list[str], dict[str, str]]:
    """Lines that load each needed variable into a local once, and the local of each.

    Args:
        emitter: Where the lines will stand.
        needed: The variables that expressions read; those without a source are bound elsewhere.
        sources: Python source of each variable.
    """
    lines, names = [], {}
    for name in sorted(set(needed) & sources.keys()):
        names[name] = emitter.local(name)
        lines.append(f"{names[name]} = {sources[name]}")
    return lines, names


class Preload:
    """Variables loaded once, ahead of code that tries several things on the same record.

    Attributes:
        lines: Lines that load them; they stand before that code.
    """

    def __init__(self, emitter: Emitter) -> None:
        self._emitter = emitter
        self._loaded: dict[str, str] = {}
        self.lines: list[str] = []

    def load(self, needed: Iterable[str], sources: Mapping[str, str]) -> dict[str, str]:
        """The local of each needed variable; each source is loaded once."""
        wanted = {name: sources[name] for name in sorted(set(needed) & sources.keys())}
        lines, names = bind(self._emitter, wanted.keys(), {n: s for n, s in wanted.items() if s not in self._loaded})
        self.lines += lines
        self._loaded |= {wanted[name]: local for name, local in names.items()}
        return {name: self._loaded[source] for name, source in wanted.items()}


def emit_let(emitter: Emitter, let: Let, names: dict[str, str]) -> list[str]:
    """Lines that evaluate named expressions in order; `names` gains a local for each."""
    lines = []
    for name, checked in let:
        local = emitter.local(name)
        lines += emitter.assign(local, checked, names)
        names[name] = local
    return lines


def emit_charge(keep: str, source: str, type_: Type) -> str:
    """Source of a value of a type for which `keep` charges an allowance, unless it is always small."""
    if isinstance(type_, IntType) or type_ == BOOL:
        return source
    scalar = isinstance(type_, RecordType) and all(isinstance(inner, IntType) for inner in type_.fields.values())
    if isinstance(type_, RecordType) and scalar and not type_.optional:
        return f"{keep}({source}, {MEMBER + OBJECT + sum(room_of_key(name) + MEMBER for name in type_.fields)})"
    return f"{keep}({source})"


def charge_fields(emitter: Emitter, keep: str, record: str, let: Let) -> list[str]:
    """Lines that charge an allowance for the fields of a local record which named expressions gave."""
    sources = ((checked, f"{record}[{emitter.constant(name)}]") for name, checked in let)
    return [line for checked, source in sources if (line := emit_charge(keep, source, checked.type)) != source]


def emit_record(emitter: Emitter, let: Let, names: Mapping[str, str], keep: str = "") -> str:
    """A Python dict display of named expressions that do not read each other; each value is given to `keep`, if any."""
    values = {name: emitter.expression(checked, names) for name, checked in let}
    values = {
        name: emit_charge(keep, values[name], checked.type) if keep else emitter.hold(checked, values[name])
        for name, checked in let
    }
    return "{" + ", ".join(f"{emitter.constant(name)}: {value}" for name, value in values.items()) + "}"
