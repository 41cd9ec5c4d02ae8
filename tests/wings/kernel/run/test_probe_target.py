"""What probes learn of a run under a kernel: documents, choices, commitments, traces, tokens and attempts."""

from types import SimpleNamespace
from typing import Any

import pytest

from specledger.core.digest import hash_json
from specledger.run.controller import Moment
from specledger.wings.kernel.probes.target import Answer, Attempt, Reply, Situation
from specledger.wings.kernel.reasons.narration import write_trace
from specledger.wings.kernel.reasons.procedure import Choice, DecisionPoint
from specledger.wings.kernel.run.probe_target import KernelProbeTarget
from tests.wings.kernel.reasons.small_world import STATE, VIEWS, WORDS, narration, procedure

HERE = Situation(0, 4, STATE, {})


class Agent:
    """Chooses to wait, and submits a document elsewhere; keeps what it is asked."""

    deterministic, promised = True, False
    chosen: Any = Choice({"op": "wait"}, 3, "wait")
    stated: Any = None
    again: Any = None

    def __init__(self, nonces=()):
        self.nonces, self.asked = dict(nonces), []

    def choose(self, situation, asked):
        self.asked.append((situation, asked))
        return self.chosen

    def document(self, situation, choice):
        return ("document", situation, choice)

    def directions(self, situation):
        return {"level": "increases"}

    def confidences(self, situation):
        return self.stated

    def restate(self, situation):
        return self.again

    def reveal(self, snapshot, challenge):
        self.asked.append((snapshot["commitment"], challenge))
        return self.nonces.get(snapshot["commitment"], b"")

    def offer(self, *asked):
        return asked


def target_of(agent: Any = None, declared=True, valid=True, **parts):
    vocabulary = SimpleNamespace(
        read=lambda claim, _: None if claim["says"] is None else {"counterfactual": claim["says"]}
    )
    kernel = SimpleNamespace(
        narration=narration(declared=procedure("told") if declared else None),
        admission=SimpleNamespace(accepts=lambda document: valid),
        vocabulary=vocabulary,
        is_choice=lambda name: name == "wait",
        unused=lambda state: ["flag"],
    )
    plan = SimpleNamespace(episodes=3, start=lambda episode: {"level": episode})
    actor = SimpleNamespace(observe=lambda state: ("saw", state), begin=lambda seen: ("knows", seen))
    challenges = SimpleNamespace(challenge=lambda reference: f"challenge of {reference}")
    given = {"kernel": kernel, "plan": plan, "actor": actor, "challenges": challenges, "agent": agent or Agent()}
    controller: Any = SimpleNamespace(**{**given, **parts})
    return KernelProbeTarget(controller).at(Moment(0, 4, STATE, None, {}))


SUBMITTED = SimpleNamespace(document={"a": 1}, problem=None)
REFUSED = SimpleNamespace(document={"a": 1}, problem="it has no canonical form")
# Where the document is the submission: at this step of this episode, in this state.
DOCUMENTS = {
    "the decision": (HERE, SUBMITTED, {"a": 1}),
    "the decision, which has no canonical form": (HERE, REFUSED, None),
    "an equal state, which is another object": (HERE._replace(state={**STATE}), SUBMITTED, {"a": 1}),
    "another memory": (HERE._replace(memory={"x": 1}), SUBMITTED, {"a": 1}),
    "another state": (HERE._replace(state={**STATE, "level": 9}), SUBMITTED, "asked"),
    "another step": (HERE._replace(t=5), SUBMITTED, "asked"),
    "another episode": (HERE._replace(episode=1), SUBMITTED, "asked"),
}


@pytest.mark.parametrize(("where", "submission", "found"), DOCUMENTS.values(), ids=DOCUMENTS)
def test_the_document_of_a_situation_is_what_was_submitted_or_what_is_submitted_there(where, submission, found):
    agent = Agent()
    expected = ("document", where, Agent.chosen) if found == "asked" else found
    assert target_of(agent, submission=submission).document(where) == expected
    assert agent.asked == ([(where, 0)] if found == "asked" else [])


def test_an_agent_that_chooses_nothing_submits_nothing_and_gives_no_answer():
    agent = Agent()
    agent.chosen = None
    target = target_of(agent, submission=SUBMITTED)
    assert target.document(HERE._replace(t=5)) is None
    assert target.choose(HERE, 2) is None
    assert agent.asked == [(HERE._replace(t=5), 0), (HERE, 2)]


def test_choices_of_the_agent_and_of_what_it_declares():
    target = target_of()
    assert target.choose(HERE, 1) == Answer("wait", 3)
    assert target.declared(HERE, 0) == Answer("move 2", 2)
    assert target.declared(HERE._replace(memory={"tired": 9}), 0) == Answer("wait", 9)


@pytest.mark.parametrize(
    ("document", "valid", "found"), [({}, True, True), ({}, False, False), (None, True, False), (None, False, False)]
)
def test_a_document_is_valid_if_there_is_one_and_its_schema_accepts_it(document, valid, found):
    assert target_of(valid=valid).valid(document) is found


def test_what_is_known_of_agent_and_world():
    target = target_of()
    assert (target.deterministic, target.promised, target.declares) == (True, False, True)
    assert not target_of(declared=False).declares
    assert [target.is_choice("wait"), target.is_choice("fly")] == [True, False]
    assert (target.names(STATE), target.unused(STATE)) == (["level", "flag"], ["flag"])
    assert target.alternatives(STATE, "level") == [9, 7, 1, 2]
    assert target.toward(STATE, "level", "decreases") == [1, 2]
    assert target.toward(STATE, "level", "increases") == [9, 7]
    assert target.mutate(STATE, "level", 13) is None
    assert target.mutate(STATE, "level", 9) == ({**STATE, "level": 9}, {"changed": {"level": {}}})
    assert target.directions(HERE) == {"level": "increases"}
    assert target.read({"says": "cf-1"}, []) == {"counterfactual": "cf-1"}


CLAIMS = [
    {"says": "cf-0", "confidence": 0.5},
    {"says": None, "confidence": 0.6},
    {"says": "cf-2", "confidence": 0.1234566},
    {"says": "cf-3", "confidence": 1},
]
# A statement says them; of a document they are those of claims that can be read.
CONFIDENCES: dict[str, Any] = {
    "stated": ({"cf-0": 7}, {"cf-0": 7}),
    "none stated": ({}, {}),
    "in a document": (None, {"cf-0": 500_000, "cf-2": 123_457, "cf-3": 1_000_000}),
}


@pytest.mark.parametrize(("stated", "found"), CONFIDENCES.values(), ids=CONFIDENCES)
def test_confidences_of_a_statement_or_a_document(stated, found):
    agent = Agent()
    agent.stated = stated
    document = {"trace": {"causal_claims": CLAIMS, "counterfactuals": []}}
    assert target_of(agent).confidences(document, HERE) == found


def test_a_fresh_episode_lies_beyond_those_of_the_run():
    state = {"level": 5}
    assert target_of().fresh(2) == Situation(5, 0, state, ("knows", ("saw", state)))


def snapshot(name, *focus):
    return {"nonce_ref": f"n-{name}", "commitment": name, "focus_vars": [*focus]}


ONE, TWO, NONE = snapshot("one", "level"), snapshot("two", "flag", "level"), snapshot("none")
NONCES = {"one": b"1", "two": b"2", "none": b"3"}
# The snapshots of a document, the variables whose commitments are to open, the nonces, whether they do, what is asked.
REVEALED: dict[str, Any] = {
    "all of them": ([ONE, TWO], [], NONCES, True, ["one", "two"]),
    "those of a variable": ([ONE, TWO], ["flag"], NONCES, True, ["two"]),
    "all that hold a variable": ([ONE, TWO, NONE], ["level"], NONCES, True, ["one", "two"]),
    "a variable that none holds": ([ONE], ["flag"], NONCES, False, []),
    "two variables, of which one is held": ([ONE], ["level", "flag"], NONCES, False, []),
    "two variables in two snapshots": ([ONE, snapshot("two", "flag")], ["level", "flag"], NONCES, True, ["one", "two"]),
    "no snapshots": ([], [], NONCES, False, []),
    "the first does not open": ([ONE, TWO], [], {"two": b"2"}, False, ["one"]),
    "the second does not open": ([ONE, TWO], [], {"one": b"1"}, False, ["one", "two"]),
    "both by one nonce": ([ONE, TWO], [], {"one": b"1", "two": b"1"}, False, ["one", "two"]),
}


@pytest.mark.parametrize(("snapshots", "variables", "nonces", "opens", "asked"), REVEALED.values(), ids=REVEALED)
def test_commitments_open_by_a_nonce_each(snapshots, variables, nonces, opens, asked):
    agent = Agent(nonces)
    target = target_of(agent)
    document = {"trace": {"fork_snapshots": snapshots}}
    for _ in range(2):  # each is asked for once
        assert target.reveal(document, variables) is opens
        assert agent.asked == [(name, f"challenge of n-{name}") for name in asked]


RESTATED = {
    "the same": ({}, True, True),
    "other commitments": ({"fork_snapshots": [1]}, True, True),
    "no valid document": ({}, False, False),
    "other nodes": ({"nodes": [1]}, True, False),
    "other edges": ({"edges": [1]}, True, False),
    "other claims": ({"causal_claims": [1]}, True, False),
    "other counterfactuals": ({"counterfactuals": [1]}, True, False),
}


@pytest.mark.parametrize(("changes", "valid", "same"), RESTATED.values(), ids=RESTATED)
def test_reasons_are_restated_but_for_their_commitments(changes, valid, same):
    trace: Any = {name: [] for name in ("nodes", "edges", "causal_claims", "counterfactuals", "fork_snapshots")}
    agent = Agent()
    agent.again = {"trace": {**trace, **changes}}
    assert target_of(agent, valid=valid).restate({"trace": trace}, HERE) is same


def replayed(focus: Any = ("level",), step: Any = None, output=None, chosen="move 2"):
    """The trace of the declared procedure here, with another focus or digest, for a plan of one step."""
    proposals = procedure().propose(VIEWS.observe(STATE), {}, DecisionPoint(0, 4))
    known = [*focus] if isinstance(focus, tuple) else focus
    digest = hash_json({"level": 3}) if output is None else output
    nodes, edges = write_trace(procedure("told"), proposals, known, digest, chosen, WORDS)
    steps = [{"op": "move", "args": {"by": 2}} if step is None else step]
    document = {"payload": {"plan": {"steps": steps}}, "trace": {"nodes": nodes, "edges": edges}}
    return target_of().replay(document, HERE)


REPLAYED: dict[str, Any] = {
    "as it is computed": ({}, {"equal": 5, "nodes": 5, "ends": True}),
    "another digest": ({"output": "ab"}, {"equal": 4, "nodes": 5, "ends": True}),
    "a variable that there is not": ({"focus": ("depth",)}, {"equal": 4, "nodes": 5, "ends": True}),
    "of two variables one that there is not": ({"focus": ("level", "depth")}, {"equal": 4, "nodes": 5, "ends": True}),
    "an unknown variable has the empty digest": (
        {"focus": ("level", "depth"), "output": ""},
        {"equal": 5, "nodes": 5, "ends": True},
    ),
    "what is no list has the empty digest": (
        {"focus": "level", "output": ""},
        {"equal": 5, "nodes": 5, "ends": True},
    ),
    "no variables": ({"focus": (), "output": hash_json({})}, {"equal": 5, "nodes": 5, "ends": True}),
    "another choice than the plan's": (
        {"step": {"op": "wait", "args": {}}},
        {"equal": 5, "nodes": 5, "ends": False},
    ),
    "a plan with an operation that there is not": (
        {"step": {"op": "fly", "args": {}}},
        {"equal": 5, "nodes": 5, "ends": False},
    ),
    "a plan that lacks an argument": (
        {"step": {"op": "move", "args": {}}},
        {"equal": 5, "nodes": 5, "ends": False},
    ),
    "a plan whose argument is called op": (
        {"step": {"op": "move", "args": {"op": "wait", "by": 2}}},
        {"equal": 5, "nodes": 5, "ends": True},
    ),
}


@pytest.mark.parametrize(("changes", "found"), REPLAYED.values(), ids=REPLAYED)
def test_a_trace_is_computed_again(changes, found):
    assert replayed(**changes) == found


OWN = {"token": "own"}


@pytest.mark.parametrize(
    ("sort", "issued", "found"),
    [
        ("own", OWN, OWN),
        ("own", None, None),
        ("stale", OWN, ("stale", OWN)),
        ("other", None, ("other", None)),
    ],
)
def test_tokens_that_an_offer_hands_out(sort, issued, found):
    target = target_of(token_of=lambda sort, own: (sort, own))
    token = None if issued is None else SimpleNamespace(token=issued)
    assert target.at(Moment(0, 4, STATE, None, {}, token)).token(sort) == found
    offer: Any = "offer"
    assert target.offer(HERE, offer, OWN) == (HERE, "offer", OWN)


def test_what_becomes_of_an_attempt():
    def ruled(state, document):
        return SimpleNamespace(allowed=document["allowed"], rejected=[{"gate": "schema"}, {"gate": "i3"}])

    target = target_of(try_document=ruled, try_action=lambda token, action, state: action["refused"])
    assert target.attempt(HERE, Reply(document={"allowed": False})) == Attempt(True, ("schema", "i3"), True)
    assert target.attempt(HERE, Reply(document={"allowed": True})) == Attempt(False, ("schema", "i3"), True)
    assert target.attempt(HERE, Reply(action={"refused": "expired"})) == Attempt(True, ("expired", "token"), True)
    assert target.attempt(HERE, Reply(action={"refused": ""})) == Attempt(False, (), False)
