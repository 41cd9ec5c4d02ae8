"""Every variable of a measure with its type, and the types of all records that it leads to."""

from typing import Any

import pytest

from specledger.expr import INT, STRING, ListType, MapType, RecordType, Type
from specledger.suites.episode_types import Grammar, types_of

GRAMMAR = Grammar(
    state=RecordType("state", {"x": INT}),
    action=RecordType("action", {"op": STRING, "n": INT}, frozenset({"n"})),
    record={"was": INT},
    cost=RecordType("cost", {"total": INT}),
    parts={"tank": {"level": INT}},
    changed={"x": STRING},
)


def shown(type_: Type) -> Any:
    """A type as a value: of a record its name and its fields, those that may be missing with a question mark."""
    if isinstance(type_, RecordType):
        optional = {name: "?" if name in type_.optional else "" for name in type_.fields}
        return type_.name, {f"{name}{optional[name]}": shown(inner) for name, inner in type_.fields.items()}
    if isinstance(type_, ListType):
        return [shown(type_.item)]
    return {"*": shown(type_.value)} if isinstance(type_, MapType) else str(type_)


def texts(*names):
    return dict.fromkeys(names, "string")


def numbers(*names):
    return dict.fromkeys(names, "int")


REBASE = ("rebase", {"agent?": "string", "potential": "string", "cause": "string", "from": "int", "to": "int"})
BREACH = ("breach", texts("invariant", "severity"))
ANSWERS = ("answers", numbers("asked", "moved"))
STEP: Any = {
    **{"t": "int", "agent": "string"},
    **numbers("chosen", "proposals", "admitted", "errors"),
    "rejections": [("rejection", {"proposal": "int", "gate": "string", "reason": "string"})],
    **dict.fromkeys(("bound", "success"), "bool"),
    "violations": [BREACH],
    "action?": ("action", {"op": "string", "n?": "int"}),
    "cost?": ("cost", {"total": "int"}),
    "record?": ("record", {"was": "int"}),
    "parts": ("parts", {"tank?": ("tank", {"level": "int", "accepted": "bool"})}),
    "potentials": {"*": ("potential", numbers("from", "to"))},
    "rebases": [REBASE],
}
PROBE: Any = {
    **{"probe": "string", "agent": "string", "t": "int"},
    **texts("verdict", "cause", "answers"),
    **numbers("nodes", "equal", "questions", "unmoved", "vague", "held", "tested"),
    "claims": [("claim", {"confidence": "int", "held": "bool"})],
    "changes": ("answers", numbers("asked", "moved", "missed")),
    "same": ANSWERS,
    "placebo": ANSWERS,
}
RULE: Any = {**texts("rule", "severity"), **numbers("held", "broken", "unjudged"), "calls": ["string"]}
EPISODE: Any = {
    **texts("run", "arm", "scenario"),
    **numbers("seed", "horizon", "episode"),
    **{"ended": "string", "success": "bool", "first_success": "int"},
    "breaches": [BREACH],
    "start": ("state", {"x": "int"}),
    "steps": [("step", STEP)],
    "drifts": [
        (
            "drift",
            {
                **{"drift": "string", "t": "int", "end": "int"},
                "changed": ("changed", {"x?": ("change", texts("from", "to"))}),
                "rebases": [REBASE],
            },
        )
    ],
    "stretches": [("stretch", {"drift": "string", "t": "int", "end": "int"})],
    "probes": [("probe", PROBE)],
    "entries": [
        (
            "entry",
            {
                **texts("event", "verdict"),
                "codes": ["string"],
                "witnesses": [("witness", texts("invariant", "severity"))],
            },
        )
    ],
    "trajectory": ("trajectory", {**texts("id", "file", "format", "gap"), "unread": "int", "label?": "string"}),
    "rules": [("rule", RULE)],
    "spent": (
        "spent",
        numbers("messages", "sent", "received", "calls", "input_tokens", "output_tokens", "cost"),
    ),
}


@pytest.mark.parametrize("name", EPISODE)
def test_the_type_of_a_variable_of_a_measure(name):
    assert shown(types_of(GRAMMAR)[name]) == EPISODE[name]


def test_there_are_no_other_variables():
    assert list(types_of(GRAMMAR)) == list(EPISODE)
