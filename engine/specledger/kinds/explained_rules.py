"""What governors, invariants, agents and libraries say, in sentences made from their expressions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from specledger.core.diagnostics import counted
from specledger.core.events import Severity
from specledger.kinds.explained_effects import ALWAYS, writes
from specledger.kinds.explained_types import type_name
from specledger.lang.english import amount, condition, definition, value
from specledger.lang.phrases import code, quoted
from specledger.lang.statement import Statement, listed
from specledger.load import Bundle
from specledger.spec.agent import Agent
from specledger.spec.base import FixedConstant, format_qfixed
from specledger.spec.governor import Gate, Governor
from specledger.spec.invariant import Invariant
from specledger.spec.library import Library
from specledger.spec.world import Function

_MOST_ITEMS = 12  # of a constant that is a list


def governor(bundle: Bundle) -> Iterator[Statement]:
    """The gates, what is charged, what is chosen."""
    model = bundle.main.model
    assert isinstance(model, Governor)  # noqa: S101 - it was loaded as one
    for gate in model.gates:
        yield _gate(gate)
    if model.mode == "first" and len(model.gates) > 1:
        yield Statement("The first gate that rejects a proposal is the only one that is told")
    chosen = amount(model.choose.maximise)
    yield chosen.after("Of what no gate rejects, the first with the greatest value is chosen; the value is ")
    if model.cost:
        items = tuple(amount(text).after(f"{code(name)}: ") for name, text in model.cost.items())
        yield Statement("A proposal costs the sum of these items", items)
    yield from writes(model.remember)
    if model.invariants:
        yield Statement(f"Every run under it looks at {listed(map(_name, model.invariants))}")
    yield from names(model.let, model.each, model.functions, model.constants)


def _gate(gate: Gate) -> Statement:
    """`Gate `near` rejects a proposal if ...`; with what it is about where it has a `when`."""
    rule = gate.deny if gate.deny is not None else gate.require
    word = "if" if gate.deny is not None else "unless"
    where = condition(gate.when)
    head = f"Gate {code(gate.id)} rejects a proposal"
    demand = condition(str(rule))
    if gate.when == ALWAYS:
        return demand.after(f"{head} {word} ")
    if where.parts:
        return Statement(f"{head} where what follows first holds, {word} what follows second does", (where, demand))
    return demand.after(f"Where {where.text}, {head[0].lower()}{head[1:]} {word} ")


def invariant(bundle: Bundle) -> Iterator[Statement]:
    """What must hold, where it is judged, and what a breach does."""
    model = bundle.main.model
    assert isinstance(model, Invariant)  # noqa: S101 - it was loaded as one
    yield from _demand(model)
    yield Statement(f"A breach {Severity(model.severity).impact.said}")
    yield from writes(model.remember)
    yield from names(model.functions, model.constants)


def _demand(model: Invariant) -> Iterator[Statement]:
    where = condition(model.when)
    if model.when != ALWAYS:
        yield where.after("It is judged only where ")
    if model.require is not None:
        at = {"step": "After every step", "episode": "At the end of every episode", "proposal": "In every document"}
        yield condition(model.require).after(f"{at[model.scope]}, it must be so that ")
    elif model.within is not None:
        after, later = condition(model.within.after), f"at most {counted(model.within.steps, 'step')} later"
        demand = condition(model.within.require)
        if after.parts:
            yield after.after("It begins in a state in which ")
            yield demand.after(f"There, or {later}, it must be so that ")
        else:
            yield demand.after(f"In a state in which {after.text}, or {later}, it must be so that ")
    elif model.at_most is not None:
        times = f"At most {counted(model.at_most.times, 'time')} in an episode"
        yield condition(model.at_most.count).after(f"{times} it may be so that ")
    elif model.mean is not None:
        bounds = [
            f"{words} {value(bound)}"
            for words, bound in (("at least", model.mean.min), ("at most", model.mean.max))
            if bound is not None
        ]
        yield Statement(f"Over an episode the mean of {value(model.mean.of)} must be {listed(bounds)}")


def agent(bundle: Bundle) -> Iterator[Statement]:
    """What it proposes and how it scores that."""
    model = bundle.main.model
    assert isinstance(model, Agent)  # noqa: S101 - it was loaded as one
    if model.score is None:
        how = "is read from logs" if model.trajectories is not None else "is asked outside"
        yield Statement(f"What it proposes {how}")
        return
    for candidate in model.candidates:
        lists = [f"{code(name)} from {value(text)}" for name, text in candidate.for_each.items()]
        head = f"It proposes {code(candidate.op)}{f' with {listed(lists)}' if lists else ''}"
        yield Statement(head) if candidate.when == ALWAYS else condition(candidate.when).after(f"{head} where ")
    written = bundle.main.origins.get(("score",))
    if written is not None and written.composed is not None and written.composed.terms:
        terms = tuple(amount(text).after(f"{code(name)}: ") for name, text in written.composed.terms)
        yield Statement("It scores a proposal by the sum of these", terms)
    else:
        yield amount(model.score).after("It scores a proposal by ")
    yield from writes(model.remember)
    yield from names(model.let, model.each, model.claims, model.functions, model.constants)


def library(bundle: Bundle) -> Iterator[Statement]:
    """What its names stand for."""
    model = bundle.main.model
    assert isinstance(model, Library)  # noqa: S101 - it was loaded as one
    for name, given in model.types.items():
        yield Statement(f"The type {code(name)} is {type_name(given)}")
    yield from names(model.functions, model.constants)


def names(*groups: Mapping[str, Any]) -> Iterator[Statement]:
    """What the names of a spec stand for."""
    for group in groups:
        for name, meant in group.items():
            yield _meaning(name, meant)


def _meaning(name: str, meant: Any) -> Statement:
    if isinstance(meant, Function):
        of = f" of {listed(map(code, meant.args))}" if meant.args else ""
        said = definition(name, meant.body)
        return Statement(f"{code(name)}{of}{said.text.removeprefix(code(name))}", said.parts)
    if isinstance(meant, FixedConstant):
        return Statement(f"{code(name)} is {format_qfixed(meant.qfixed)}")
    if isinstance(meant, list):
        plain = len(meant) <= _MOST_ITEMS and meant and not any(isinstance(item, list) for item in meant)
        items = listed(map(_constant, meant)) if plain else f"{len(meant)} entries"
        return Statement(f"{code(name)} is the list of {items}")
    if isinstance(meant, bool | int | float):
        return Statement(f"{code(name)} is {_constant(meant)}")
    return definition(name, str(meant))


def _constant(given: Any) -> str:
    if isinstance(given, bool):
        return "true" if given else "false"
    return quoted(given) if isinstance(given, str) else f"minus {-given}" if given < 0 else str(given)


def _name(key: object) -> str:
    kind, _, rest = str(key).partition("/")
    return f"{kind} {code(rest.partition('@')[0])}"
