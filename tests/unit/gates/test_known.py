"""Gates and invariants where some of what they read is unknown: what every completion says is said, and nothing else."""

from itertools import product

import pytest
from msgspec.structs import replace

from specledger.core.diagnostics import Diagnostics
from specledger.core.spans import Text
from specledger.core.unknown import Unknown
from specledger.expr import BOOL, INT, Environment, EvaluationError, RecordType, check
from specledger.gates.governor import Governor, PlannedGate
from specledger.gates.invariant import Invariant
from specledger.gates.known import known_invariant, known_judge, known_potentials, recorded_judge
from specledger.lang.memory import Memory
from specledger.lang.scope import Fields, Let

WHEN, THEN, PRICE = (Unknown(f"{name} is not recorded") for name in ("when", "then", "price"))
STATE = {"w": True, "c": True, "d": True, "p": 3}
ACTION = {"op": "go"}
NOTHING = RecordType("nothing", {})
MEMORY = Memory(NOTHING, NOTHING, "episode", Let(), ())


def expression(text):
    names = {"w": BOOL, "c": BOOL, "d": BOOL, "p": INT, "cost": INT, "next": RecordType("next", {"x": INT})}
    diagnostics = Diagnostics()
    checked = check(Text.inline(text), Environment(names), diagnostics)
    assert checked is not None, diagnostics.sorted()
    return checked


def gate(id_, condition, *, rejects=True, when="true"):
    return PlannedGate(id_, f"{id_}.", expression(when), expression(condition), rejects, fields(p="p"))


def fields(**texts):
    return Fields(tuple((name, expression(text)) for name, text in texts.items()))


def governor(*gates, first=False, **changed):
    cost, supply = (changed.get(name, fields()) for name in ("cost", "supply"))
    return Governor({}, MEMORY, (), Let(), Let(), cost, Let(), supply, gates, first, expression("p"))


def judged(rules, state, step=None, memory=None):
    """The one judgement of a proposal: which gates reject it, its value, its cost, and what is not judged and why."""
    judge = known_judge(rules, step, predicts=step is not None)
    ((against, value, cost, inputs, error, unjudged),) = judge(state, [{"action": ACTION}], 1, 0, [0], memory)
    assert error is None
    reasons = {rejection["gate"]: rejection["reason"] for rejection in against}
    assert reasons == {id_: f"{id_}." for id_ in reasons}
    return list(reasons), value, cost, inputs, [(gap["gate"], gap["reason"]) for gap in unjudged]


def completions(*values):
    return product(*([True, False] if type(value) is Unknown else [value] for value in values))


CASES = list(product((True, False, WHEN), (True, False, THEN)))


@pytest.mark.parametrize(("when", "then"), CASES)
def test_an_invariant_is_broken_where_every_completion_breaks_it(when, then):
    judge = known_invariant(Invariant(expression("w"), expression("c"), fields(p="p")))
    found = judge(STATE, {**STATE, "w": when, "c": then})
    broken = {w and not c for w, c in completions(when, then)}
    if len(broken) == 2:
        assert found is (WHEN if when is WHEN else THEN)
    elif broken == {True}:
        assert found == {"p": 3}
    else:
        assert found is (False if when is False else None)  # False: it was not looked at


@pytest.mark.parametrize("rejects", [True, False], ids=["deny", "require"])
@pytest.mark.parametrize(("when", "then"), CASES)
def test_a_gate_rejects_where_every_completion_does(when, then, rejects):
    rules = governor(gate("g", "c", rejects=rejects, when="w"))
    against, *_, unjudged = judged(rules, {**STATE, "w": when, "c": then})
    fails = {w and c is rejects for w, c in completions(when, then)}
    assert against == ["g"] * (fails == {True})
    assert unjudged == [("g", (WHEN if when is WHEN else THEN).reason)] * (len(fails) == 2)


@pytest.mark.parametrize("price", [3, PRICE], ids=["a price", "an unknown price"])
@pytest.mark.parametrize("first", [False, True], ids=["all", "first"])
def test_of_several_gates_the_first_ends_the_judgement_where_it_may_be_the_last(first, price):
    """A price that is unknown is not judged, and leaves the gates to judge."""
    rules = governor(gate("a", "w"), gate("b", "c"), gate("c", "d"), first=first, cost=fields(fee="p", base="1"))
    for states in product((False, True, THEN), repeat=3):
        against, value, cost, _, unjudged = judged(rules, {**dict(zip("wcd", states, strict=True)), "p": price})
        seen = list(zip("abc", states, strict=True))
        if first:
            seen = seen[: next((index + 1 for index, (_, fails) in enumerate(seen) if fails is not False), 3)]
        assert against == [name for name, fails in seen if fails is True]
        gaps = [("cost", PRICE.reason)] * (price is PRICE)
        assert unjudged == gaps + [(name, THEN.reason) for name, fails in seen if fails is THEN]
        known = {"base": 1} if price is PRICE else {"fee": 3, "base": 1}
        assert (value, cost) == (0 if price is PRICE else 3, {**known, "total": sum(known.values())})


def test_a_sum_with_an_unknown_price_is_unknown_to_gates():
    rules = governor(gate("dear", "cost > 3"), cost=fields(fee="p", base="1"))
    assert judged(rules, STATE)[0] == ["dear"]
    assert judged(rules, {**STATE, "p": PRICE})[-1] == [("cost", PRICE.reason), ("dear", PRICE.reason)]


def test_what_a_step_leads_to_may_be_unknown():
    rules = governor(gate("far", "next.x > 5"), supply=fields(price="p"))
    calls = []

    def step(after):
        def stepped(*given):
            calls.append(given)
            return {"x": after}, {}

        return stepped

    assert [judged(rules, STATE, step(after))[0] for after in (5, 6)] == [[], ["far"]]
    assert judged(rules, STATE, step(THEN))[-1] == [("far", THEN.reason)]
    assert calls == [(STATE, "go", ACTION, {"price": 3})] * 3


def no_step(*given):
    pytest.fail("nothing reads what an action leads to")


def reached(state=STATE, memory=None, action=ACTION, error=None):
    """Whether a recording is judged by generated code; else the judgement in three values is."""
    by = []

    def fast(*given):
        by.append("fast")
        if error is not None:
            raise EvaluationError(error, "")
        return []

    judge = recorded_judge(fast, governor(gate("g", "c")), no_step, "E_ABSENT")
    found = judge(state, [{"action": {"op": "wait"}}, {"action": action}], 2, 0, [0, 0], memory)
    return by, len(found)


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ({}, (["fast"], 0)),
        ({"state": {**STATE, "c": THEN}}, ([], 2)),
        ({"memory": {"m": THEN}}, ([], 2)),
        ({"action": {"op": "go", "n": THEN}}, ([], 2)),
        ({"error": "E_ABSENT"}, (["fast"], 2)),
    ],
    ids=["nothing unknown", "a state", "a memory", "an argument", "a result that is absent"],
)
def test_three_values_are_used_only_where_something_is_unknown(changed, expected):
    assert reached(**changed) == expected


def test_another_error_of_judging_is_one():
    with pytest.raises(EvaluationError, match="E_OTHER"):
        reached(error="E_OTHER")


@pytest.mark.parametrize("memory", [None, {}, {"p": 5}])
def test_potentials_read_the_state_and_what_is_remembered(memory):
    rules = replace(governor(), potentials=fields(height="p", dear="cost + 1"))
    found = known_potentials(rules)({**STATE, "cost": PRICE}, memory)
    assert found == {"height": 5 if memory else 3, "dear": PRICE}
