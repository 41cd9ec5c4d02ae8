"""The controller of a recording, step by step: proposals, what rules hear, decisions of a guard, choices, findings."""

from types import SimpleNamespace
from typing import Any

import pytest

from specledger.compile.plan import Judgement
from specledger.core.unknown import Unknown
from specledger.expr import INT, STRING, EvaluationError, RecordType
from specledger.run.controller import Moment, Unrecorded
from specledger.wings.trajectories.model import GUARDED, Call, Finding, Message, Result, Speaker, Trajectory
from specledger.wings.trajectories.recording.controller import UNFIT, RecordedController
from specledger.wings.trajectories.rules.plans import Outcome, Status

EMPTY = RecordType("result", {})
ACTIONS = {
    "pay": SimpleNamespace(args=RecordType("pay", {"sum": INT}), result=RecordType("result", {"ok": INT})),
    "look": SimpleNamespace(args=RecordType("look", {}), result=EMPTY),
    "other": SimpleNamespace(args=RecordType("other", {"tool": STRING}), result=EMPTY),
}
BROKEN = Outcome("paid", Status.BROKEN, "it is late", call="c1")
HELD = Outcome("calm", Status.HELD)
MOMENT = Moment(0, 3, {}, None, None)


class Heard:
    """The session of a policy that says these outcomes of a call, and of everything else that it held."""

    def __init__(self, outcomes, policy):
        self.outcomes, self.policy, self.entries = outcomes, policy, []

    def hear(self, entry):
        self.entries.append(entry)
        return self.outcomes if type(entry) is Call else [HELD]


class Policy:
    """A policy that keeps its session, and with what it began."""

    name = "p"

    def __init__(self, *outcomes):
        self.outcomes = [*outcomes]

    def begin(self, **began):
        self.began, self.session = began, Heard(self.outcomes, self)
        return self.session


def controller(*entries, otherwise: Any = "other", format_="otel", policies: Any = (), **parts):
    world: Any = SimpleNamespace(actions=ACTIONS)
    judged = parts.pop("judged", [Judgement([], 0, {}, {})])
    actor: Any = SimpleNamespace(judge=lambda *asked: judged, step=None)
    trajectories = iter([Trajectory("1", "log.json", format_, entries)])
    made = RecordedController(actor, world, otherwise, policies, trajectories, log=("s", "ab" * 32), **parts)
    made.begin()
    return made


def call(tool="pay", name="c1", late=False, **arguments):
    return Call(name, tool, arguments, late=late)


def action(op, **arguments):
    return [{"action": {"op": op, **arguments}, "score": 0}]


NOT_THERE, OTHER_TYPE = (
    Unknown("args.sum is not recorded"),
    Unknown("args.sum is of another type than its action declares"),
)
# A call, the action of other tools, and the action that is proposed.
PROPOSED: dict[str, tuple[Call, Any, Any]] = {
    "its own action": (call(sum=3), "other", action("pay", sum=3)),
    "an argument more than the action has": (call(sum=3, to="x"), "other", action("pay", sum=3)),
    "an argument that is not recorded": (call(), "other", action("pay", sum=NOT_THERE)),
    "no arguments": (call("look"), "other", action("look")),
    "a tool without an action": (call("fly", sum=3), "other", action("other", tool="fly")),
    "a tool of the name of the other action": (call("other", sum=3), "other", action("other", tool="other")),
    "the same where there is no other action": (Call("c1", "other", {"tool": "x"}), None, action("other", tool="x")),
}


@pytest.mark.parametrize(("made", "otherwise", "proposed"), PROPOSED.values(), ids=PROPOSED)
def test_a_call_is_proposed_as_an_action(made, otherwise, proposed):
    recorded = controller(made, otherwise=otherwise)
    assert recorded.propose(MOMENT) == proposed
    assert recorded.opening() == {"trajectory": {"id": "1", "file": "log.json", "format": "otel"}}


def test_a_tool_that_the_world_cannot_follow_ends_an_episode_unless_a_guard_wrote_it():
    with pytest.raises(Unrecorded) as caught:
        controller(call("fly"), otherwise=None).propose(MOMENT)
    assert caught.value.gap == {"reason": "unknown_tool", "call": "c1", "tool": "fly"}
    guarded = controller(call("fly"), otherwise=None, format_=GUARDED)
    assert guarded.propose(MOMENT) == []
    assert guarded._gap == "unknown_tool"


def test_calls_are_proposed_in_turn_and_no_more_than_there_are():
    recorded = controller(Message(Speaker.USER, "go"), call(sum=1), Result("c1"), call("look", "c2"))
    assert recorded.propose(MOMENT) == action("pay", sum=1)
    assert recorded.propose(MOMENT) == action("look")
    with pytest.raises(AssertionError, match="as many steps as its trajectory has calls"):
        recorded.propose(MOMENT)


DENIED = Result("c1", "no", denied=True)
WRONG = call(sum="x")
# Entries and what is counted of them once the first call was proposed.
COUNTED: dict[str, tuple[list[Any], dict[str, int]]] = {
    "nothing": ([call(sum=1)], {}),
    "an argument of another type": ([WRONG], {"args.sum is of another type than its action declares": 1}),
    "one that is not recorded": ([call()], {}),
    "one of a call that was denied": ([WRONG, DENIED], {}),
    "one of a tool without an action": ([call("fly", sum="x")], {}),
    "findings before the call": (
        [Finding("E_A", "a"), Finding("E_A", "b"), call(sum=1), Finding("E_B", "c")],
        {"E_A": 2},
    ),
}


@pytest.mark.parametrize(("entries", "counted"), COUNTED.values(), ids=COUNTED)
def test_what_does_not_fit_is_counted_once(entries, counted):
    recorded = controller(*entries)
    recorded.propose(MOMENT)
    assert recorded.unknown() == counted
    assert recorded.unknown() == {}


@pytest.mark.parametrize(
    ("problems", "counted"),
    [
        (None, {}),
        (lambda entry, more: iter(()), {}),
        (lambda entry, more: iter(["a", "b"]), {UNFIT: 1}),
    ],
)
def test_a_call_that_does_not_fit_the_listed_tools_is_counted(problems, counted):
    recorded = controller(Message(Speaker.USER, "go"), call(sum=1), problems=problems)
    recorded.propose(MOMENT)
    assert recorded.unknown() == counted


def events(recorded, hook):
    return [
        (event.type, event.body["t"], event.body["held"], event.body["broken"])
        for event in recorded.events_at(hook, MOMENT)
    ]


LATE = [{"rule": "p.paid", "call": "c1", "reason": "it is late", "value": "", "severity": "fatal", "source": ""}]


def test_rules_hear_every_entry_and_are_told_after_the_act():
    policy = Policy(BROKEN)
    asked, made, back = Message(Speaker.USER, "go"), call(sum=1), Result("c1")
    recorded = controller(asked, made, back, policies=[policy])
    recorded.propose(MOMENT)
    assert events(recorded, "after_commit") == []
    assert events(recorded, "after_token") == []
    assert events(recorded, "after_act") == [("rules", 3, {"p.calm": 1}, LATE)]
    assert events(recorded, "after_act") == []
    assert policy.session.entries == [asked, made]
    assert events(recorded, "end") == [("rules", 3, {"p.calm": 1}, [])]
    assert policy.session.entries == [asked, made, back]


def test_what_rules_say_of_a_call_that_was_denied_is_left_out():
    recorded = controller(Message(Speaker.USER, "go"), call(sum=1), DENIED, policies=[Policy(BROKEN)])
    recorded.propose(MOMENT)
    assert events(recorded, "after_act") == [("rules", 3, {"p.calm": 1}, [])]


@pytest.mark.parametrize(("format_", "retracts"), [("otel", False), (GUARDED, True)])
def test_sessions_take_back_what_a_guard_denied(format_, retracts):
    policy = Policy()
    controller(Message(Speaker.USER, "go"), call(sum=1), policies=[policy], format_=format_)
    assert policy.began == {"retracts": retracts, "messages": True}


def test_who_asks_about_calls_is_asked_after_the_commitment_alone():
    asked = []

    def about(*told):
        asked.append(told)
        return ["event"]

    questions: Any = SimpleNamespace(about=about)
    recorded = controller(call(sum=1), Result("c1"))
    assert recorded.attaches == {"after_act", "end"}
    recorded.question(questions)
    assert recorded.attaches == {"after_act", "after_commit", "end"}
    recorded.propose(MOMENT)
    assert list(recorded.events_at("after_commit", MOMENT)) == ["event"]
    assert list(recorded.events_at("after_token", MOMENT)) == []
    assert asked == [(MOMENT, (call(sum=1), Result("c1")), call(sum=1))]


def judgement(cost: Any = None, error: Any = None, unjudged: Any = (), **inputs):
    return Judgement([], 0, {"total": 1} if cost is None else cost, inputs, error, [*unjudged])


FAILED = EvaluationError("E_EVAL_DIV", "x / 0", 0)
GAP = {"gate": "g", "reason": "r"}
FITS = Result("c1", {"ok": 1})
# A call with its result, its judgement, whether it is executed, and the inputs of the step.
CHOSEN: dict[str, tuple[list[Any], Judgement, Any, dict[str, Any], dict[str, int]]] = {
    "it is executed": ([call(sum=1), FITS], judgement(price=4), 0, {"price": 4, "result": {"ok": 1}}, {}),
    "of an action without a result": ([call("look"), Result("c1", "seen")], judgement(price=4), 0, {"price": 4}, {}),
    "without a result": (
        [call(sum=1)],
        judgement(),
        0,
        {"result": {"ok": Unknown("the result is not recorded")}},
        {},
    ),
    "with a result of another type": (
        [call(sum=1), Result("c1", {"ok": "x"})],
        judgement(),
        0,
        {"result": {"ok": Unknown("result.ok is of another type than its action declares")}},
        {"result.ok is of another type than its action declares": 1},
    ),
    "of two results the first counts": (
        [call(sum=1), FITS, Result("c1", {"ok": 2})],
        judgement(),
        0,
        {"result": {"ok": 1}},
        {},
    ),
    "it failed": ([call(sum=1), Result("c1", {"ok": 1}, error=True)], judgement(), None, {"result": {"ok": 1}}, {}),
    "it is said not to have failed": (
        [call(sum=1), Result("c1", {"ok": 1}, error=False)],
        judgement(),
        0,
        {"result": {"ok": 1}},
        {},
    ),
    "it could not be judged": ([call(sum=1), FITS], judgement(error=FAILED), None, {"result": {"ok": 1}}, {}),
    "its price is not known": ([call(sum=1), FITS], judgement(cost={}), None, {"result": {"ok": 1}}, {}),
    "it was denied": ([call(sum=1), DENIED], judgement(price=4), None, {"price": 4}, {}),
}


@pytest.mark.parametrize(("entries", "judged", "chosen", "inputs", "counted"), CHOSEN.values(), ids=CHOSEN)
def test_a_call_is_executed_with_its_result_unless_it_was_denied_or_failed(entries, judged, chosen, inputs, counted):
    recorded = controller(*entries)
    recorded.propose(MOMENT)
    judgements = [judged]
    assert recorded.choose(judgements) == chosen
    assert judgements[0].inputs == inputs
    assert recorded.unknown() == counted
    assert recorded.choose([]) is None


@pytest.mark.parametrize(("back", "left"), [(DENIED, []), (FITS, [GAP])])
def test_what_could_not_be_judged_of_a_denied_call_leaves_nothing_open(back, left):
    recorded = controller(call(sum=1), back)
    recorded.propose(MOMENT)
    judgements = [judgement(unjudged=[GAP])]
    recorded.choose(judgements)
    assert judgements[0].unjudged == left


def guarded(
    *entries, judged: Any = None, policies: Any = (), otherwise: Any = "other", closed=True, foresee: Any = None
):
    """What a guard decides of the first call: the body of the receipt, without its digest, and what is counted."""
    recorded = controller(*entries, format_=GUARDED, policies=policies, otherwise=otherwise, closed=closed)
    proposals = recorded.propose(MOMENT)
    recorded.actor.judge = lambda *_: [judgement() if judged is None else judged]
    recorded.judge(MOMENT, proposals, 0, [], None) if proposals else None
    (event,) = recorded.guard(MOMENT, (lambda inputs: ([], [])) if foresee is None else foresee)
    assert event.type == "guard"
    assert len(event.body.pop("receipt")) == 64
    return event.body, recorded.unknown()


def decided(decision="allow", denied_by=(), unjudged=(), made=True, cause="rules", tool="pay"):
    body = {"episode": 0, "t": 3, "call": "c1", "tool": tool, "decision": decision}
    return {**body, "denied_by": [*denied_by], "unjudged": [*unjudged], "made": made, "cause": cause}


def objection(of, name, reason):
    return {"of": of, "name": name, "reason": reason}


RULE = objection("rule", "p.paid", "it is late")
WARNED = Outcome("paid", Status.BROKEN, "it is late", call="c1", severity="warn")
UNKNOWN_SUM = objection("world", "pay", "args.sum is not recorded")
NO_ACTION = objection("world", "fly", "unknown_tool")
# What a guard decides: entries, the outcomes of the rules, other parts, the receipt, and what is counted.
DECIDED: dict[str, tuple[list[Any], list[Any], dict[str, Any], dict[str, Any], dict[str, int]]] = {
    "nothing objects": ([call(sum=1)], [], {}, decided(), {}),
    "a rule objects": ([call(sum=1), DENIED], [BROKEN], {}, decided("deny", [RULE], made=False), {}),
    "a rule objects, and the call was made": ([call(sum=1)], [BROKEN], {}, decided("deny", [RULE]), {}),
    "a rule warns": ([call(sum=1)], [WARNED], {}, decided(), {}),
    "an argument is not known": ([call()], [], {}, decided("deny", [], [UNKNOWN_SUM]), {}),
    "an argument is not known, and the guard is open": (
        [call()],
        [],
        {"closed": False},
        decided("allow", [], [UNKNOWN_SUM]),
        {},
    ),
    "no action follows, and the call was made": (
        [call("fly")],
        [],
        {"otherwise": None},
        decided("deny", [], [NO_ACTION], tool="fly"),
        {"unknown_tool": 1},
    ),
    "no action follows, and the call was denied": (
        [call("fly"), DENIED],
        [],
        {"otherwise": None},
        decided("deny", [], [NO_ACTION], made=False, tool="fly"),
        {},
    ),
    "the decision came too late": ([call(sum=1, late=True)], [], {}, decided(cause="deadline"), {}),
    "a gate rejects it": (
        [call(sum=1)],
        [],
        {"judged": Judgement([{"gate": "g", "reason": "high", "witness": {}}], 0, {"total": 1}, {})},
        decided("deny", [objection("gate", "g", "high")]),
        {},
    ),
}


@pytest.mark.parametrize(("entries", "outcomes", "parts", "body", "counted"), DECIDED.values(), ids=DECIDED)
def test_what_a_guard_decided_is_decided_again(entries, outcomes, parts, body, counted):
    assert guarded(*entries, policies=[Policy(*outcomes)], **parts) == (body, counted)


def test_invariants_are_foreseen_with_a_result_of_which_nothing_is_known():
    seen = []

    def foresee(inputs):
        seen.append(inputs)
        return [], []

    guarded(call(sum=1), FITS, judged=judgement(price=4), foresee=foresee)
    guarded(call("look"), FITS, judged=judgement(price=4), foresee=foresee)
    assert seen == [{"price": 4, "result": {"ok": Unknown("the result is not recorded")}}, {"price": 4}]


def test_without_a_guard_nothing_is_decided_again():
    recorded = controller(call(sum=1))
    recorded.propose(MOMENT)
    assert list(recorded.guard(MOMENT, lambda inputs: ([], []))) == []


def test_the_digests_of_a_guards_lines_depend_on_what_was_heard_and_on_the_deadline():
    def digest(*entries):
        recorded = controller(*entries, format_=GUARDED)
        recorded.judge(MOMENT, recorded.propose(MOMENT), 0, [], None)
        (event,) = recorded.guard(MOMENT, lambda inputs: ([], []))
        return event.body["receipt"]

    plain = digest(call(sum=1))
    assert digest(call(sum=1)) == plain
    assert digest(call(sum=1), Result("c1", 5)) == plain
    assert (
        len({plain, digest(call(sum=2)), digest(Finding("E_A", "a"), call(sum=1)), digest(call(sum=1, late=True))}) == 4
    )
