"""What a universe is: its ring, its rule, what can be measured of a state and how a state can be changed, in sentences.

Left out are the generators, which say where cases come from.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from specledger.kinds.explained_rules import names
from specledger.lang.english import amount, condition, value
from specledger.lang.phrases import code, quoted
from specledger.lang.statement import Statement, listed
from specledger.load import Bundle
from specledger.wings.laws.spec.universe import Primitive, Transform, Transition, Universe

_SCANS: Final = {
    "first": "the place of the first cell",
    "last": "the place of the last cell",
    "longest": "the length of the longest run of cells",
    "extent": "the distance from the first to the last cell",
}


def universe(bundle: Bundle) -> Iterator[Statement]:
    """The ring, one step of a cell, each observable, each transform."""
    model = bundle.main.model
    assert isinstance(model, Universe)  # noqa: S101 - it was loaded as one
    symbols = listed(map(quoted, model.alphabet), "or")
    yield Statement(f"A state is a ring of {model.ring.min} to {model.ring.max} cells, each with the symbol {symbols}")
    if model.starts.symbols is not None:
        yield Statement(f"A start has no other symbols than {listed(map(quoted, model.starts.symbols))}")
    yield _transition(model.transition)
    yield from names(model.transition.let)
    for name, primitive in model.observables.items():
        yield _primitive(name, primitive)
    for name, transform in model.transforms.items():
        yield _transform(name, transform)
    if model.interaction is not None:
        yield Statement(f"Something happens where {code(model.interaction)} is not 0")


def _transition(transition: Transition) -> Statement:
    head = "In every step a cell becomes "
    if transition.next is not None:
        return amount(transition.next).after(head)
    if transition.number is not None:
        return Statement(f"{head}what the elementary rule {transition.number} says")
    rows = (Statement(f"{quoted(cells)} gives {quoted(to)}") for cells, to in (transition.table or {}).items())
    return Statement(f"{head}what the table gives of it and its neighbours, from left to right", tuple(rows))


def _primitive(name: str, given: Primitive) -> Statement:
    head = f"{code(name)}{f' of {listed(map(code, given.args))}' if given.args else ''} is"
    if given.pattern is not None:
        return Statement(f"{head} how often the pattern {quoted(given.pattern)} occurs")
    if given.where is not None:
        return condition(given.where).after(f"{head} {_SCANS[str(given.scan)]} for which ")
    window = given.window
    cells = f"the cells {listed(map(code, window))}" if isinstance(window, list) else f"{value(str(window))} cells `w`"
    if given.count == "true":
        return Statement(f"{head} the number of cells")
    if given.count is not None and isinstance(window, list) and len(window) == 1:
        return condition(given.count).after(f"{head} the number of cells {code(window[0])} for which ")
    if given.count is not None:
        return condition(given.count).after(f"{head} how often it holds of {cells} that ")
    return amount(str(given.sum)).after(f"{head} the sum, over {cells}, of ")


def _transform(name: str, given: Transform) -> Statement:
    done = ["reflects it"] if given.reflect else []
    done += [f"moves it to the right by {value(given.shift)} cells"] if given.shift != "0" else []
    if given.map:
        exchanged = listed(f"{quoted(before)} to {quoted(after)}" for before, after in given.map.items())
        done.append(f"changes {exchanged}")
    default = [f"{code(key)} is {at}" for key, at in given.default.items()]
    which = f", where {listed(default)} if nothing else is said" if default else ""
    changes = ", then ".join(done) if done else "changes nothing"
    return Statement(f"The transform {code(name)} of a state {changes}{which}")
