"""What a world is and does, and what a drift does to it, in sentences made from their expressions.

Left out are the picture and the units of a world, which say how reports show it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from specledger.kinds.explained_effects import ALWAYS, draws, effect
from specledger.kinds.explained_rules import names
from specledger.kinds.explained_types import type_name
from specledger.lang.english import amount, condition, one_line, value
from specledger.lang.phrases import code, quoted
from specledger.lang.statement import Statement, listed
from specledger.load import Bundle
from specledger.spec.drift import Drift
from specledger.spec.types import TypeSpec
from specledger.spec.world import Action, Condition, Effect, Part, Variable, View, World


def world(bundle: Bundle) -> Iterator[Statement]:
    """The state, how it begins, what each action and each step does, what is seen, and when the goal is reached."""
    model = bundle.main.model
    assert isinstance(model, World)  # noqa: S101 - it was loaded as one
    yield Statement("Its state has these fields", tuple(_typed(model.state)))
    yield from _start(model)
    if model.inputs:
        yield Statement("At every step the governor supplies these", tuple(_typed(model.inputs)))
    for name, action in model.actions.items():
        yield _action(name, action)
    if model.every_step:
        yield _done("After every action", model.every_step)
    if model.chance is not None:
        yield Statement("By chance, after that", (*draws(model.chance.draw), *map(effect, model.chance.effects)))
    for name, part in model.parts.items():
        yield _part(name, part)
    yield from _seen(model)
    if model.success is not None:
        yield condition(model.success).after("The goal is reached where ")
    yield from _reasons(model)
    for name, given in model.types.items():
        yield Statement(f"The type {code(name)} is {type_name(given)}")
    yield from names(model.derived, model.functions, model.constants)


def drift(bundle: Bundle) -> Iterator[Statement]:
    """When it is due, what is drawn, what it changes."""
    model = bundle.main.model
    assert isinstance(model, Drift)  # noqa: S101 - it was loaded as one
    if model.at == ALWAYS:
        yield Statement("It is due at every step")
    else:
        yield condition(model.at).after("It is due at a step where ")
    if model.when != ALWAYS:
        yield condition(model.when).after("Then it happens only where ")
    yield from draws(model.draw)
    yield _done("When it happens", model.effects)
    yield from names(model.functions, model.constants)


def _start(model: World) -> Iterator[Statement]:
    if model.draw:
        yield Statement("For each episode", tuple(draws(model.draw)))
    if model.start:
        yield Statement("At the start of an episode", tuple(_named(model.start)))
    for glyph, put in model.drawing.legend.items() if model.drawing is not None else ():
        parts = [*map(effect, put.effects)]
        parts += [amount(put.cell).after("the code of its cell is ")] if put.cell is not None else []
        head = f"A cell that is drawn as {quoted(glyph)}"
        yield Statement(f"{head} does this", tuple(parts)) if parts else Statement(f"{head} is empty")
    for rule in model.well_formed:
        yield _well_formed(rule)


def _well_formed(rule: Condition) -> Statement:
    told = f", and the finding says {quoted(rule.message)}" if rule.message is not None else ""
    return condition(rule.require).after(f"By {code(rule.id)}, a start is refused{told}, unless ")


def _action(name: str, action: Action) -> Statement:
    head = f"Action {code(name)}{'' if action.doc is None else f', {quoted(action.doc)},'}"
    parts = [Statement(f"it takes {code(arg)}: {type_name(given)}") for arg, given in action.args.items()]
    parts += [Statement(f"it gets back {code(key)}: {type_name(given)}") for key, given in action.result.items()]
    parts += [
        amount(text).after(f"in a simulation it gets back {code(key)}: ") for key, text in action.simulate.items()
    ]
    if action.draw and not action.chance:
        parts.append(Statement("for that, there are draws", tuple(draws(action.draw))))
    if action.when != ALWAYS and (action.effects or action.otherwise):
        parts.append(condition(action.when).after("it works only where "))
    parts += map(effect, action.effects)
    if action.otherwise:
        parts.append(_done("where it does not work", action.otherwise))
    if action.chance:
        parts.append(Statement("then, by chance", (*draws(action.draw), *map(effect, action.chance))))
    parts += [amount(text).after(f"it reports {code(key)}: ") for key, text in action.outcome.items()]
    parts += names(action.let)
    changes = action.effects or action.otherwise or action.chance
    if not parts:
        return Statement(f"{head} changes nothing")
    return Statement(f"{head} does this" if changes else f"{head} changes nothing by itself", tuple(parts))


def _part(name: str, part: Part) -> Statement:
    of = str(part.world).partition("/")[2].partition("@")[0] or str(part.world)
    parts = [amount(text).after(f"at the start, {code(key)} is ") for key, text in part.start.items()]
    for action, coupling in part.follow.items():
        does = f"when the action is {code(action)}, it does {code(coupling.action)}"
        parts += [Statement(does, tuple(_named(coupling.args))), *names(coupling.let)]
    return Statement(f"Part {code(name)} is the world {code(of)}", tuple(parts))


def _seen(model: World) -> Iterator[Statement]:
    if model.observe:
        yield _labelled("An agent sees", model.observe)
    for agent, view in (model.agents or {}).items():
        yield from _view(agent, view)
    for head, labels in (
        ("The receipt of an episode begins with", model.opening),
        ("The receipt of a step records", model.record),
        ("Where it is a part, the receipt of a step records", model.receipt),
    ):
        if labels:
            yield _labelled(head, labels)


def _view(agent: str, view: View) -> Iterator[Statement]:
    if view.observe:
        yield _labelled(f"Agent {code(agent)} also sees", view.observe)
    if view.actions is not None:
        yield Statement(f"Agent {code(agent)} may do {listed(map(code, view.actions))} and nothing else")


def _reasons(model: World) -> Iterator[Statement]:
    for name, variable in model.variables.items():
        yield _variable(name, variable)
    if model.context:
        yield _labelled("Every look at the state has", model.context)
    for name, text in model.alternatives.items():
        yield amount(text).after(f"A challenge may give {code(name)} one of these values: ")
    for name, text in model.labels.items():
        yield amount(text).after(f"As a choice, {code(name)} is called ")


def _variable(name: str, variable: Variable) -> Statement:
    doc = "" if variable.doc is None else f", {quoted(variable.doc)}"
    parts = [amount(variable.read).after("it is ")]
    if variable.over is not None:
        parts.append(amount(variable.over).after("its name holds one of "))
    if variable.normal is not None:
        parts.append(amount(variable.normal).after("a value is brought into the form of "))
    if variable.require != ALWAYS:
        parts.append(condition(variable.require).after("a value may be tried only where "))
    if variable.effects is not None:
        parts.append(_done("to give it a value", variable.effects))
    if variable.attempts is not None:
        tried = variable.attempts
        which = "" if tried.require == ALWAYS else f" for which {one_line(tried.require)}"
        head = f"to give it a value, this is tried with each {code(tried.element)} of {value(tried.each)}{which}"
        parts.append(_done(head, tried.effects))
    return Statement(f"A reason may name {code(name)}{doc}", tuple(parts))


def _done(head: str, effects: Iterable[Effect]) -> Statement:
    """What effects do; on the same line if it is one."""
    said = [*map(effect, effects)]
    return said[0].after(f"{head}, ") if len(said) == 1 else Statement(head, tuple(said))


def _labelled(head: str, labels: Mapping[str, str]) -> Statement:
    """What stands under labels; on the same line if each is named as what it shows."""
    if all(name == text for name, text in labels.items()):
        return Statement(f"{head} {listed(map(code, labels))}")
    return Statement(f"{head} these", tuple(_named(labels)))


def _named(given: Mapping[str, str]) -> Iterator[Statement]:
    for name, text in given.items():
        yield Statement(code(name)) if name == text else amount(text).after(f"{code(name)} is ")


def _typed(given: Mapping[str, TypeSpec]) -> Iterator[Statement]:
    for name, type_ in given.items():
        yield Statement(f"{code(name)} is {type_name(type_)}")
