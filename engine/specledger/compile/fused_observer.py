"""Everything that is looked at after a step, in one generated function that shares what its parts have in common.

Decides which looks can be joined. It is a short cut: where it has no value, each look is taken by itself in the loop's
order, so that whatever fails is told as it would have been without it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from specledger.compile.plan import Looked, State
from specledger.expr import Checked, Emitter
from specledger.gates.invariant import Invariant
from specledger.lang.bind import bind, emit_let, emit_record, fields_of
from specledger.lang.scope import Let
from specledger.worlds.model import World


def compile_look(
    world: World, until: Checked | None, invariants: Sequence[Invariant], like: State | None
) -> Callable[[State, State, dict[str, Any]], Looked | None] | None:
    """`(state, next state, outcome) -> what is seen there`, None where any of it cannot be had so fast.

    Args:
        world: The world.
        until: When an episode ends early.
        invariants: Those that are looked at after each step, in their order.
        like: A state with the sizes to be expected.

    Returns:
        The function; None if there are parts whose receipts depend on the action that was taken.
    """
    parts = {name: part for name, part in world.parts.items() if part.world.receipt.items}
    if any(part.follow.keys() != world.actions.keys() for part in parts.values()):
        return None
    emitter = Emitter(sized=True)
    look = _Look(emitter, world, like)
    seen = look.seen(world.observe)
    record = look.told(world.record, look.between)
    told = {name: look.told(part.world.receipt, look.inside(name)) for name, part in parts.items()}
    holds = [look.holds(each) for each in (world.success, until)]
    found = [look.breach(invariant) for invariant in invariants]
    of_parts = ", ".join(f"{emitter.constant(name)}: {local}" for name, local in told.items())
    look.lines.append(f"return {record}, {seen}, {{{of_parts}}}, {holds[0]}, {holds[1]}, [{', '.join(found)}]")
    name = emitter.function("look", look.params, look.lines)
    fast = emitter.build({name: _apart})[name]

    def looked(state: State, after: State, outcome: dict[str, Any]) -> Looked | None:
        made = fast(state, after, outcome)
        return None if made is None else Looked(*made)

    return looked


def _apart(*_: object) -> None:
    """What decides where the fast function fails: nothing is known then."""


class _Look:
    """Writes the function.

    Attributes:
        params: The locals of the state, the next state and the outcome.
        lines: Its body.
        after, between: The sources of what reads the next state, and of what reads a step.
    """

    def __init__(self, emitter: Emitter, world: World, like: State | None) -> None:
        self._emitter = emitter
        self._world = world
        self.params = state, after, outcome = [emitter.local(hint) for hint in ("state", "next", "outcome")]
        emitter.expect(state, like)
        emitter.expect(after, like)
        self.lines: list[str] = []
        fields = world.state.fields
        self.after = {"now": after, "previous": state, **fields_of(emitter, after, fields)}
        self.between = {"now": state, "next": after, "outcome": outcome, **fields_of(emitter, state, fields)}

    def inside(self, part: str) -> dict[str, str]:
        """The sources of what reads the step of a part."""
        held = [self._emitter.local(hint) for hint in ("state", "next", "outcome")]
        key = self._emitter.constant(part)
        self.lines += [f"{local} = {param}[{key}]" for local, param in zip(held, self.params, strict=True)]
        state, after, outcome = held
        fields = fields_of(self._emitter, state, self._world.parts[part].world.state.fields)
        return {"now": state, "next": after, "outcome": outcome, **fields}

    def seen(self, observe: Let) -> str:
        """A local that holds labelled expressions over the next state."""
        lines, names = bind(self._emitter, observe.variables, self.after)
        self.lines += lines
        return self._set("seen", emit_record(self._emitter, observe, names))

    def told(self, let: Let, sources: dict[str, str]) -> str:
        """A local that holds named expressions, which may read each other."""
        lines, names = bind(self._emitter, let.variables, sources)
        self.lines += [*lines, *emit_let(self._emitter, let, names)]
        display = ", ".join(f"{self._emitter.constant(name)}: {names[name]}" for name, _ in let)
        return self._set("told", f"{{{display}}}")

    def holds(self, predicate: Checked | None) -> str:
        """A local that holds whether a predicate of the next state does; without one it does not."""
        if predicate is None:
            return self._set("holds", "False")
        lines, names = bind(self._emitter, predicate.variables, self.after)
        self.lines += lines
        return self._set("holds", self._emitter.expression(predicate, names))

    def breach(self, invariant: Invariant) -> str:
        """A local that holds what an invariant's function gives."""
        emitter = self._emitter
        read = invariant.when.variables | invariant.require.variables | invariant.witness.variables
        lines, names = bind(emitter, read, self.after)
        self.lines += lines
        found = self._set("found", "None")
        broken = f"if not {emitter.expression(invariant.require, names)}:"
        witness = f"    {found} = {emit_record(emitter, invariant.witness, names)}"
        if invariant.when.text.value == "true":
            self.lines += [broken, witness]
        else:
            self.lines += [f"if not {emitter.expression(invariant.when, names)}:", f"    {found} = False"]
            self.lines += [f"el{broken}", witness]
        return found

    def _set(self, hint: str, value: str) -> str:
        local = self._emitter.local(hint)
        self.lines.append(f"{local} = {value}")
        return local
