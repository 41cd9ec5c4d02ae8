"""Which verdict the second evaluator expects of a gate and an invariant, and what it counts beside them."""

from types import SimpleNamespace
from typing import Any

import pytest

from specledger.core.unknown import Unknown
from specledger.expr import INT, EvaluationError, RecordType
from specledger.verify import judge as module
from specledger.verify.judge import RunJudge, _ActorJudge, given_by
from specledger.verify.judged import Count

STATE = RecordType("state", {"x": INT, "y": INT})


class Told(Count):
    """A count that keeps what was compared in place of counting it."""

    def compare(self, what, recorded, verdict, names, rules):
        kept.append((what, recorded, verdict()))


kept: list[tuple[str, str, str]] = []


@pytest.fixture(autouse=True)
def empty():
    kept.clear()


class Known:
    """Names in which expressions are their own values."""

    def __init__(self, *given):
        self.given, self.bound = given, {}

    def truth_if_known(self, value):
        return value

    def inner(self, *given):
        return Known(*self.given, *given)

    def bind(self, **values):
        self.bound |= values


# Of a gate: when it concerns, its condition, whether it rejects where that holds, and the verdict.
GATES: dict[str, tuple[Any, Any, bool, str]] = {
    "it denies what holds": (True, True, True, "rejected"),
    "it denies what does not hold": (True, False, True, "admitted"),
    "it requires what holds": (True, True, False, "admitted"),
    "it requires what does not hold": (True, False, False, "rejected"),
    "it does not concern": (False, True, True, "admitted"),
    "it does not concern, and its condition is not known": (False, None, True, "admitted"),
    "its condition is not known": (True, None, True, "unjudged"),
    "whether it concerns is not known": (None, True, True, "unjudged"),
    "whether it concerns is not known, and it would admit": (None, False, True, "admitted"),
    "neither is known": (None, None, False, "unjudged"),
}


def gate(id_, when=True, condition: Any = False, rejects=True):
    return SimpleNamespace(id=id_, when=when, condition=condition, rejects=rejects)


def governor_of(*gates, first=False) -> Any:
    return SimpleNamespace(gates=gates, first=first, let=(), each=(), cost=())


def actor_judge(governor, step: Any = None, judgements: Any = (), name="", controller: Any = None):
    actor: Any = SimpleNamespace(name=name, step=step, judge=lambda *_: [*judgements], controller=None)
    made = _ActorJudge.__new__(_ActorJudge)
    made._governor, made._state, made._count, made._reference = governor, STATE, Told(), None  # type: ignore[assignment]
    made._step, made._judge = actor.step, actor.judge
    made._who, made._given, made._judgements = f"agent {name}, " if name else "", None, []
    made.controller = controller
    return made


@pytest.mark.parametrize(("when", "condition", "rejects", "verdict"), GATES.values(), ids=GATES)
def test_the_verdict_of_a_gate(when, condition, rejects, verdict):
    names: Any = Known()
    made = actor_judge(governor_of(gate("g", when, condition, rejects)))
    made._gates(made._governor, names, {"g": "rejected"}, "here")
    made._gates(made._governor, names, {}, "there")
    assert kept == [("gate g (here)", "rejected", verdict), ("gate g (there)", "admitted", verdict)]


# Gates that were recorded as rejecting, whether the first one alone is told, and the gates that are judged.
FIRST: dict[str, tuple[dict[str, str], bool, list[str]]] = {
    "none rejected": ({}, True, ["a", "b", "c"]),
    "the first rejected": ({"a": "rejected"}, True, ["a"]),
    "the second rejected": ({"b": "rejected"}, True, ["a", "b"]),
    "the last rejected": ({"c": "rejected"}, True, ["a", "b", "c"]),
    "one was not judged": ({"b": "unjudged"}, True, ["a", "b"]),
    "all are told": ({"a": "rejected"}, False, ["a", "b", "c"]),
}


@pytest.mark.parametrize(("recorded", "first", "judged"), FIRST.values(), ids=FIRST)
def test_gates_after_the_one_that_rejected_did_not_judge(recorded, first, judged):
    names: Any = Known()
    made = actor_judge(governor_of(*map(gate, "abc"), first=first))
    made._gates(made._governor, names, recorded, "here")
    assert [what for what, _, _ in kept] == [f"gate {name} (here)" for name in judged]


# Of an invariant: when it concerns, what it requires, what our judge said, and both verdicts.
INVARIANTS: dict[str, tuple[Any, Any, Any, str, str]] = {
    "it holds": (True, True, None, "holds", "holds"),
    "it is broken": (True, False, {"x": 1}, "broken", "broken"),
    "it is broken without a witness": (True, False, {}, "broken", "broken"),
    "it is idle": (False, True, False, "idle", "idle"),
    "it is idle, and what it requires is not known": (False, None, False, "idle", "idle"),
    "it holds, whether or not it concerns": (None, True, None, "holds", "holds"),
    "what it requires is not known": (True, None, Unknown("no sum"), "unjudged", "unjudged"),
    "whether it concerns is not known": (None, False, Unknown("no sum"), "unjudged", "unjudged"),
    "we disagree": (True, False, None, "holds", "broken"),
}


@pytest.mark.parametrize(("when", "require", "outcome", "recorded", "verdict"), INVARIANTS.values(), ids=INVARIANTS)
def test_the_verdict_of_an_invariant(monkeypatch, when, require, outcome, recorded, verdict):
    seen = []

    def names(*given):
        seen.append(given)
        return Known(*given)

    monkeypatch.setattr(module, "Names", names)
    made = RunJudge.__new__(RunJudge)
    made.count, made._state, made._reference = Told(), STATE, None  # type: ignore[assignment]
    invariant: Any = SimpleNamespace(when=when, require=require, monitor=None)
    made._invariants = {"few": invariant}
    assert made._judge_invariant("few", lambda *_: outcome, {"x": 0}, {"x": 1, "z": 9}) is outcome
    assert kept == [("invariant few", recorded, verdict)]
    assert seen == [(None, {"x": 1, "now": {"x": 1, "z": 9}, "previous": {"x": 0}}, {})]
    assert made.count.without == {}
    invariant.monitor = SimpleNamespace(let=[("counts", "x > 0")])
    made._judge_invariant("few", lambda *_: outcome, {"x": 0}, {"x": 1}, {"most": 3})
    assert seen[1] == (None, {"x": 1, "now": {"x": 1}, "previous": {"x": 0}, "most": 3}, {"counts": "x > 0"})
    assert made.count.without == {"memories of invariants, which replay makes": 1}


def rejecting(*gates, unjudged=()):
    return {"rejected": [{"gate": name} for name in gates], "unjudged": [{"gate": name} for name in unjudged]}


def test_what_no_expression_says_is_counted_of_each_decision():
    controller: Any = SimpleNamespace(ruled=frozenset({"i3"}))
    made = actor_judge(governor_of(gate("a")), controller=controller)
    body: Any = {"decisions": [rejecting("a"), rejecting("i3", "scope"), rejecting("schema")]}
    made.see(body)
    assert made._count.without == {"the schema gate": 3, "the scope gate": 1}
    plain = actor_judge(governor_of(gate("a")))
    plain.see(body)
    assert plain._count.without == {"the schema gate": 3, "the scope gate": 1, "the i3 gate": 1}
    assert kept == []


ACTION = {"op": "go", "n": 1}
PROPOSALS: Any = [{"action": ACTION, "score": 1}, {"action": ACTION, "score": 2}, {"action": ACTION, "score": 3}]


def test_each_proposal_is_judged_unless_its_schema_or_an_error_did(monkeypatch):
    given = []

    def names(*values):
        given.append(values)
        return Known(*values)

    monkeypatch.setattr(module, "Names", names)

    def step(state, op, action, inputs):
        given.append((state, op, action, inputs))
        return {"x": 2}, {"was": 1}

    judgements = [SimpleNamespace(error=None, inputs={"n": number}) for number in range(3)]
    judgements[2].error = "an error"
    made = actor_judge(governor_of(gate("a"), gate("b")), step, judgements, name="hare")
    made._judged({"x": 1}, PROPOSALS, 4, [7, 8, 9], {"tired": 1})
    body: Any = {
        "episode": 2,
        "t": 5,
        "decisions": [rejecting("b", unjudged=["a"]), rejecting("schema"), rejecting()],
    }
    made.see(body)
    shared = {"x": 1, "now": {"x": 1}, "tired": 1, "proposals": 3, "rejected": 4}
    assert given == [(None, shared, {}), ({"x": 1}, "go", ACTION, {"n": 0})]
    assert kept == [
        ("gate a (episode 2, step 5, agent hare, proposal 0)", "unjudged", "admitted"),
        ("gate b (episode 2, step 5, agent hare, proposal 0)", "rejected", "admitted"),
    ]
    assert made._count.open == {"the engine could not evaluate it": 2}
    made.see(body)  # what was given is judged once
    assert len(kept) == 2


def test_a_call_that_failed_leads_to_no_state(monkeypatch):
    made_names = []

    def names(*values):
        made_names.append(Known(*values))
        return made_names[-1]

    def fail(*_):
        raise EvaluationError("E_EVAL_DIV", "x / 0")

    monkeypatch.setattr(module, "Names", names)
    monkeypatch.setattr(Known, "inner", lambda self, *given: names(*given))
    made = actor_judge(governor_of(gate("a")), fail, [SimpleNamespace(error=None, inputs={})])
    made._judged({"x": 1}, PROPOSALS[:1], 0, [7])
    body: Any = {"episode": 0, "t": 0, "decisions": [rejecting()]}
    made.see(body)
    assert made_names[1].bound == {"next": None, "outcome": None}
    assert made_names[1].given[0] == {"proposal": PROPOSALS[0], "action": ACTION, "writes": 7}
    assert kept == [("gate a (episode 0, step 0, proposal 0)", "admitted", "admitted")]


def test_events_go_to_the_judge_of_their_agent():
    seen = []
    made = RunJudge.__new__(RunJudge)
    made.count = Count()
    judges: Any = {
        name: SimpleNamespace(
            see=lambda body, name=name: seen.append((name, "step", body["t"])),
            controller=SimpleNamespace(see=lambda body, name=name: seen.append((name, "probe", body["t"]))),
        )
        for name in ("", "hare")
    }
    made._actors = judges
    events: list[tuple[str, dict[str, Any]]] = [
        ("step", {"t": 0}),
        ("probe", {"t": 1, "agent": "hare"}),
        ("step", {"t": 2, "agent": "hare"}),
        ("probe", {"t": 3}),
        ("drift", {"t": 4}),
        ("rules", {"held": {"a": 2, "b": 3}, "broken": [1], "unjudged": [1, 2]}),
    ]
    for type_, body in events:
        event: Any = SimpleNamespace(type=type_, body=body)
        made.see(event)
    assert seen == [("", "step", 0), ("hare", "probe", 1), ("hare", "step", 2), ("", "probe", 3)]
    assert made.count.without == {"rules of policies": 8}


@pytest.mark.parametrize(
    ("state", "given"),
    [
        ({"x": 1, "y": 2}, {"x": 1, "y": 2, "now": {"x": 1, "y": 2}}),
        ({"x": 1, "z": 3}, {"x": 1, "now": {"x": 1, "z": 3}}),
    ],
)
def test_expressions_read_the_fields_of_a_state_and_all_of_it(state, given):
    assert given_by(state, STATE) == given
