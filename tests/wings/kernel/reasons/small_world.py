"""A world of two variables and two operations, as a narration sees it, for tests of what is said about it."""

from typing import Any

from specledger.core.digest import hash_json
from specledger.core.floats import FLOATS_ANYWHERE
from specledger.expr import BOOL, INT, RecordType
from specledger.lang.notation import Notation, Taken
from specledger.wings.kernel.reasons.claims import Views
from specledger.wings.kernel.reasons.narration import Narration
from specledger.wings.kernel.reasons.procedure import Procedure
from specledger.wings.kernel.spec.vocabulary import TraceWords

STATE = {"level": 3, "flag": False}
WORDS = TraceWords()
OPERATIONS = {
    "move": Taken(RecordType("move", {"by": INT}), {"by": (1, 2)}),
    "wait": Taken(RecordType("wait", {}), {}),
}


ALTERNATIVES: dict[str, list[Any]] = {"level": [9, 7, 1, 2], "flag": [True]}


def label(action):
    """`move 2`; an operation that the world lacks is looked up in vain."""
    return " ".join([action["op"], *(str(action[name]) for name in OPERATIONS[action["op"]].args.fields)])


def mutate(state, name, value):
    return None if value == 13 else ({**state, name: value}, {"changed": {} if state[name] == value else {name: {}}})


VIEWS = Views(
    observe=lambda state: {"seen": state},
    env=lambda state: {"shows": state},
    names=lambda state: [*state],
    notation=Notation(OPERATIONS, label),
    type=lambda state, name: BOOL if name == "flag" else INT,
    describe=lambda state: {name: {"value": value} for name, value in state.items()},
    alternatives=lambda state, name: ALTERNATIVES[name],
    read=lambda state, name: state[name],
    mutate=mutate,
    normalize=lambda state, names: {name: state[name] for name in names},
)


def propose(seen, memory, point):
    """`move 2` is best, as long as the level is below 5; what is remembered raises the score of waiting."""
    level = seen["seen"]["level"]
    return [
        {"action": {"op": "wait"}, "score": memory.get("tired", 0)},
        {"action": {"op": "move", "by": 2}, "score": 5 - level},
    ]


def procedure(name="decider"):
    return Procedure(name, f"agent/{name}", "5 - level", propose, label)


def say(effect):
    return f"{effect['counterfactual']}|{effect['variable']}|{effect['direction']}|{effect['choice']}"


def narration(**parts: Any) -> Narration:
    given: dict[str, Any] = {
        "decider": procedure(),
        "teller": procedure(),
        "declared": None,
        "views": VIEWS,
        "vary": ("level", "flag"),
        "least": 0,
        "derive": lambda *_: ([], []),
        "say": say,
        "request": lambda action: {"for": action["op"]},
        "commit": lambda trace: hash_json(trace, FLOATS_ANYWHERE),
    }
    return Narration(**{**given, **parts})
