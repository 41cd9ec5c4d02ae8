"""What an agent varies to find its reasons, checked against the variables of its world.

Each counterfactual of a document is a variable with another value. An agent that finds none gives no document that fits
its schema, and every proposal would be denied.
"""

from __future__ import annotations

from collections.abc import Sequence

from specledger.core.diagnostics import Diagnostics
from specledger.gates.invariant import E_ADMISSION
from specledger.load import Resolved
from specledger.worlds.model import PlannedVariable, World
from specledger.worlds.variables import Variables


def check_varied(
    names: Sequence[str], agent: Resolved, world: World, variables: Variables, diagnostics: Diagnostics
) -> None:
    """Report the names where none is a variable of the world, or none of which another value can be supposed.

    Some may be unknown, and some may have one value only: one agent may serve several worlds.
    """
    entries = {name: found for name in names if (found := variables.entries(name))}
    if not entries:
        message = "the world has none of these variables, so the agent has no reason to state"
        known = ", ".join(variable.name for variable in world.namespace.variables)
        hint = f"the world has {known}" if known else "declare `variables` and `alternatives` in the world"
        diagnostics.error(E_ADMISSION, message, agent.span("narration", "vary"), hint=hint)
    elif not any(map(_can_be_another, (entry for found in entries.values() for entry in found))):
        name = next(iter(entries))
        lacks = _lacks(entries[name][0])
        message = f"no other value of `{name}` can be supposed, since the world {world.name!r} has no {lacks[0]} of it"
        at = ("narration", "vary", names.index(name))
        diagnostics.error(E_ADMISSION, f"{message}: every proposal would be denied", agent.span(*at), hint=lacks[1])


def _can_be_another(entry: PlannedVariable) -> bool:
    return entry.alternatives is not None and (bool(entry.effects) or entry.attempts is not None)


def _lacks(entry: PlannedVariable) -> tuple[str, str]:
    """What an entry lacks, and what to write in the world."""
    if entry.alternatives is None:
        return "`alternatives`", f'write in the world `alternatives: {{{entry.name}: "[...]"}}`, a list of other values'
    return "`effects`", f"write in the world, in `{entry.name}`, `effects: [{{set: FIELD, to: value}}]`"
