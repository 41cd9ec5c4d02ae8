"""What an agent from outside is asked under a kernel, and what becomes of each of its answers; nobody is asked."""

from types import SimpleNamespace
from typing import Any

import pytest

from specledger.core.binding import GENESIS
from specledger.core.canonical import canonical_bytes
from specledger.core.floats import FLOATS_ANYWHERE
from specledger.oracles.answer import Answer, Unanswered
from specledger.oracles.recording import Place
from specledger.run.controller import Moment
from specledger.run.session import AgentFault, AgentReply
from specledger.wings.kernel.documents.digests import receive
from specledger.wings.kernel.documents.snapshots import Challenges, commit
from specledger.wings.kernel.probes.json_patch import NotApplicable
from specledger.wings.kernel.probes.planned_offer import PlannedOffer
from specledger.wings.kernel.probes.target import Reply, Situation
from specledger.wings.kernel.reasons.procedure import Choice
from specledger.wings.kernel.reasons.statement import commitment_of
from specledger.wings.kernel.run import outside_agent
from specledger.wings.kernel.run.outside_agent import OutsideAgent
from tests.wings.kernel.reasons.small_world import STATE, VIEWS, narration

OTHER = {**STATE, "level": 9}
FAULT = AgentFault("wrong_form", Answer(None, "wrong_form"))
SHOWN = VIEWS.shown(STATE)
CLAIM = {"variable": "level", "becomes": 9, "choice": "wait"}
DENIED = [{"gate": "high", "reason": "too_high"}]


class Scripted:
    """A session that gives the answers of a list, and keeps what was asked."""

    def __init__(self, answers, said):
        self.answers, self.said, self.asked, self.noted = [*answers], said, [], []
        self.bears = None

    def begin(self, position):
        pass

    def note(self, position, type_, reason):
        self.noted.append((type_, reason))

    def faults(self):
        return [{"t": 0}]

    def _answer(self, *asked):
        self.asked.append(asked)
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    def tell(self, position, type_, fields, *, keep=False):
        return self._answer("tell", type_, fields, keep)

    def suppose(self, position, type_, fields, *, fresh=None, keep=False):
        return self._answer("suppose", type_, fields, fresh, keep)

    def follow(self, position, reply, type_, fields):
        return self._answer("follow", reply.id, type_, fields)


def answer(type_="statement", number=5, **fields):
    body: Any = {"type": type_, "id": number, **fields}
    return AgentReply(body, f"sha-{number}", number, 0, canonical_bytes(body, FLOATS_ANYWHERE))


def stating(*claims, action: Any = "move 2", number=5, **fields):
    return answer("statement", number, action=action, claims=[*claims], **fields)


def agent_of(monkeypatch, *answers, said: Any = None, least=0, abstains=False, on_denied="tell", probes=()):
    session = Scripted(answers, {} if said is None else said)
    monkeypatch.setattr(outside_agent, "Session", lambda *_, halting: session)
    kernel: Any = SimpleNamespace(
        narration=narration(least=least, abstains=abstains),
        probes=[*probes],
        gate_docs={"high": "the level stays below 5", "empty": ""},
    )
    plan: Any = SimpleNamespace(episodes=2, on_denied=on_denied)
    actor: Any = None
    challenges = Challenges()
    return OutsideAgent(plan, actor, kernel, challenges), session, challenges


def moment(t=0, state: Any = STATE, episode=0):
    return Moment(episode, t, state, None, {})


def situation(t=0, state: Any = STATE, episode=0):
    return Situation(episode, t, state, {})


def decide(agent, t=0, state: Any = STATE, episode=0):
    return agent.decide(moment(t, state, episode), Place(episode, t, 0))


def question(t=0, state: Any = STATE, episode=0, **more):
    return {"episode": episode, "t": t, **VIEWS.shown(state), **more}


@pytest.mark.parametrize("probes", [(), ("a probe",)])
def test_a_decision_is_told_and_kept_where_probes_may_ask(monkeypatch, probes):
    agent, session, _ = agent_of(monkeypatch, stating(), probes=probes)
    submitted = decide(agent, 3)
    assert session.asked == [("tell", "decide", question(3), bool(probes))]
    assert (submitted.score, submitted.submission.document["payload"]["intent"]) == (0, "move 2")
    assert (agent.prevented, session.noted, agent.faults()) == ("", [], [{"t": 0}])


@pytest.mark.parametrize(
    ("sha", "hashed"), [("", GENESIS), ("ab" * 32, "ab" * 32)], ids=["nothing came", "something came"]
)
def test_an_agent_fault_is_a_submission_without_a_document(monkeypatch, sha, hashed):
    fault = AgentFault("not_json", SimpleNamespace(sha256=sha))  # type: ignore[arg-type]
    agent, _, _ = agent_of(monkeypatch, fault, stating())
    submission = decide(agent).submission
    assert (submission.document, submission.proposal_hash, submission.trace_hash) == (None, hashed, GENESIS)
    assert (submission.problem.code, agent.prevented) == ("not_json", "not_json")
    assert agent.choose(situation(), 0) is None
    assert agent.restate(situation()) is None
    assert (agent.directions(situation()), agent.confidences(situation())) == ({}, None)
    decide(agent, 1)
    assert agent.prevented == ""


# Who abstains where fewer claims than demanded can be read: a program only if it tried to state more.
ABSTAINED = {
    "one of two can be read": (False, stating(CLAIM, {**CLAIM, "variable": "depth"}), "unread_claims"),
    "a program gives one of two": (False, stating(CLAIM), ""),
    "a model gives one of two": (True, stating(CLAIM), "too_few_claims"),
    "an action that there is not": (True, stating(CLAIM, CLAIM, action="fly"), ""),
}


@pytest.mark.parametrize(("abstains", "reply", "reason"), ABSTAINED.values(), ids=ABSTAINED)
def test_a_statement_with_too_few_claims_is_counted_as_a_fault(monkeypatch, abstains, reply, reason):
    agent, session, _ = agent_of(monkeypatch, reply, least=2, abstains=abstains)
    decide(agent)
    assert agent.prevented == reason
    assert session.noted == ([("decide", reason)] if reason else [])


def test_claims_that_cannot_be_read_are_counted_until_they_are_told(monkeypatch):
    wrong = [{**CLAIM, "variable": "depth"}, {**CLAIM, "choice": "fly"}, {**CLAIM, "variable": "width"}]
    first, second = stating(*wrong, unread=2, further_calls=3), stating({**CLAIM, "becomes": "x"}, unread=1)
    agent, _, _ = agent_of(monkeypatch, first, second, FAULT)
    decide(agent, 0)
    decide(agent, 1)
    assert list(agent.unread().items()) == [("becomes", 1), ("call", 3), ("choice", 1), ("form", 3), ("variable", 2)]
    decide(agent, 2)
    assert agent.unread() == {}


def test_a_statement_without_such_claims_counts_none(monkeypatch):
    agent, _, _ = agent_of(monkeypatch, stating(CLAIM))
    decide(agent)
    assert agent.unread() == {}


def test_a_document_has_no_claims_to_be_read(monkeypatch):
    agent, _, _ = agent_of(monkeypatch, answer("document", document={}, unread=4), said={"can": ["document"]})
    decide(agent)
    assert agent.unread() == {}


# What is shown of the gates that denied the decision before: their own words, else those of the reason, else none.
TOLD = {
    "the gate has words": (DENIED, [{**DENIED[0], "doc": "the level stays below 5"}]),
    "the reason has words": (
        [{"gate": "empty", "reason": "no_capability"}],
        [{"gate": "empty", "reason": "no_capability", "doc": "this action is not permitted here"}],
    ),
    "neither has": ([{"gate": "scope", "reason": "x"}], [{"gate": "scope", "reason": "x"}]),
    "nothing denied it": ([], None),
}


@pytest.mark.parametrize(("rejected", "shown"), TOLD.values(), ids=TOLD)
def test_the_next_question_says_which_gates_denied_the_last_decision(monkeypatch, rejected, shown):
    agent, session, _ = agent_of(monkeypatch, stating(), stating(), stating())
    decide(agent, 0)
    agent.hear(rejected)
    decide(agent, 1)
    decide(agent, 2)
    more = {} if shown is None else {"denied": shown}
    assert [fields for _, _, fields, _ in session.asked] == [question(0), question(1, **more), question(2)]


def test_nothing_is_said_of_denials_where_the_run_does_not_tell_nor_in_another_episode(monkeypatch):
    agent, session, _ = agent_of(monkeypatch, stating(), stating(), on_denied="wait")
    decide(agent, 0)
    agent.hear(DENIED)
    decide(agent, 1)
    assert [fields for _, _, fields, _ in session.asked] == [question(0), question(1)]
    agent, session, _ = agent_of(monkeypatch, stating(), stating())
    decide(agent, 4)
    agent.hear(DENIED)
    decide(agent, 0, episode=1)
    assert session.asked[1][2] == question(0, episode=1)


def test_a_decision_that_is_begun_twice_keeps_what_is_told(monkeypatch):
    agent, session, _ = agent_of(monkeypatch, stating(), stating())
    decide(agent, 0)
    agent.hear(DENIED)
    agent.begin(Place(0, 1, 0))
    decide(agent, 1)
    assert session.asked[1][2] == question(1, denied=[{**DENIED[0], "doc": "the level stays below 5"}])


CHOSEN = Choice({"op": "move", "by": 2}, 0, "move 2")
DISGUISED: dict[str, Any] = {"can": ["disguise"]}
# Of a situation: the number of earlier questions there, what is asked, of which episode, and whether it is kept.
QUESTIONS = {
    "another state": (situation(state=OTHER), 0, {}, ("ask", VIEWS.shown(OTHER), None, False)),
    "this state again": (situation(), 1, {}, ("ask", SHOWN, None, False)),
    "another state, disguised": (situation(state=OTHER), 0, DISGUISED, ("decide", question(state=OTHER), None, False)),
    "this state again, disguised": (situation(), 1, DISGUISED, ("decide", question(), None, False)),
    "the last episode of the run": (situation(episode=1), 0, {}, ("ask", SHOWN, None, False)),
    "an episode of its own": (situation(episode=2), 0, {}, ("decide", question(episode=2), 2, True)),
    "an episode of its own, again": (situation(episode=2), 1, {}, ("ask", SHOWN, 2, False)),
    "an episode of its own, again, disguised": (
        situation(episode=2),
        1,
        DISGUISED,
        ("decide", question(episode=2), 2, False),
    ),
}


@pytest.mark.parametrize(("where", "asked", "said", "question_"), QUESTIONS.values(), ids=QUESTIONS)
def test_a_question_about_a_situation(monkeypatch, where, asked, said, question_):
    agent, session, _ = agent_of(monkeypatch, stating(), stating(action="wait"), said=said)
    decide(agent)
    assert agent.choose(where, asked) == Choice({"op": "wait"}, 0, "wait")
    assert session.asked[1:] == [("suppose", *question_)]


def test_what_was_decided_in_a_situation_is_not_asked_again(monkeypatch):
    agent, session, _ = agent_of(monkeypatch, stating(), stating(action="wait", number=6), FAULT)
    decide(agent)
    assert agent.choose(situation(), 0) == CHOSEN
    assert agent.choose(situation(episode=2), 0).label == "wait"
    assert agent.choose(situation(episode=2), 0).label == "wait"
    assert agent.document(situation(episode=2), CHOSEN)["payload"]["intent"] == "wait"
    assert agent.document(situation(), CHOSEN)["payload"]["intent"] == "move 2"
    assert agent.document(situation(1), CHOSEN) is None
    assert len(session.asked) == 2
    with pytest.raises(Unanswered) as caught:
        agent.choose(situation(1), 0)
    assert str(caught.value) == "agent_fault"


def test_a_situation_of_the_decision_before_is_forgotten(monkeypatch):
    agent, _, _ = agent_of(monkeypatch, stating(), stating(action="wait"))
    decide(agent)
    agent.choose(situation(episode=2), 0)
    agent.begin(Place(0, 0, 1))
    assert agent.document(situation(), CHOSEN) is not None
    agent.begin(Place(0, 1, 0))
    assert agent.document(situation(), CHOSEN) is None
    assert agent.document(situation(episode=2), CHOSEN) is None


DOCUMENT: Any = {
    "payload": {"plan": {"steps": [{"op": "move", "args": {"by": 1}}, {"op": "wait", "args": {}}]}},
    "trace": {"fork_snapshots": []},
}
# Which choice an answer to a question is.
ANSWERED = {
    "a statement": (stating(), "move 2"),
    "a statement of no action": (stating(action="fly"), None),
    "a document": (answer("document", document=DOCUMENT), "move 1"),
    "a document without a plan": (answer("document", document={}), None),
    "a document whose step is none": (
        answer("document", document={"payload": {"plan": {"steps": [{"op": "wait"}]}}}),
        None,
    ),
    "a document of no action": (
        answer("document", document={"payload": {"plan": {"steps": [{"op": "fly", "args": {}}]}}}),
        None,
    ),
}


@pytest.mark.parametrize(("reply", "label"), ANSWERED.values(), ids=ANSWERED)
def test_an_answer_is_the_choice_of_its_first_action(monkeypatch, reply, label):
    agent, _, _ = agent_of(monkeypatch, reply, said={"can": ["document"]})
    chosen = agent.choose(situation(), 0)
    assert (None if chosen is None else chosen.label) == label


# What must be declared beforehand, and under which code an answer is denied.
RECEIVED = {
    "a document that was declared": (["document"], answer("document", document=DOCUMENT), None),
    "a document that was not": (["plans"], answer("document", document=DOCUMENT), "not_declared"),
    "a plan that was declared": (["plans"], stating(then=["wait"]), None),
    "a plan that was not": (["document"], stating(then=["wait"]), "not_declared"),
    "an action that there is not": ([], stating(action="fly"), "unknown_action"),
    "a fraction of too many decimals": ([], stating({**CLAIM, "confidence": 0.1234567891}), "not_exact"),
}


@pytest.mark.parametrize(("can", "reply", "code"), RECEIVED.values(), ids=RECEIVED)
def test_an_answer_that_was_not_declared_or_says_nothing_is_denied(monkeypatch, can, reply, code):
    agent, _, _ = agent_of(monkeypatch, reply, said={"can": can})
    submission = decide(agent).submission
    assert (None if submission.problem is None else submission.problem.code) == code
    assert submission.proposal_hash == (reply.sha256 if code else receive(submission.document).proposal_hash)


def test_a_commitment_that_was_made_before_is_denied(monkeypatch):
    one, two = "11" * 32, "22" * 32
    answers = [stating(commitment=each) for each in (one, two, one, one)] + [stating()]
    agent, _, _ = agent_of(monkeypatch, *answers)
    problems = [decide(agent, t).submission.problem for t in range(5)]
    codes = [None if problem is None else problem.code for problem in problems]
    assert codes == [None, None, "commitment_reused", "commitment_reused", None]


def test_what_a_statement_says_of_directions_and_confidences(monkeypatch):
    up = {"variable": "level", "direction": "increases", "choice": "wait", "confidence": 0.5}
    agent, _, _ = agent_of(monkeypatch, stating(up), answer("document", document=DOCUMENT), said={"can": ["document"]})
    decide(agent)
    assert agent.directions(situation()) == {"level": "increases"}
    assert agent.confidences(situation()) == {"cf-0": 500_000}
    assert (agent.directions(situation(1)), agent.confidences(situation(1))) == ({}, None)
    decide(agent, 1)
    assert (agent.directions(situation(1)), agent.confidences(situation(1))) == ({}, None)


def test_what_an_agent_restates_is_asked_about_its_own_answer(monkeypatch):
    agent, session, _ = agent_of(monkeypatch, stating(number=8), stating(action="wait"), FAULT)
    decide(agent)
    assert agent.restate(situation())["payload"]["intent"] == "wait"
    assert session.asked[1] == ("follow", 8, "restate", {"of": 8})
    assert agent.restate(situation(1)) is None
    with pytest.raises(Unanswered) as caught:
        agent.restate(situation())
    assert str(caught.value) == "agent_fault"


NONCE = b"n" * 32
TEXT = b'{"action":"move 2","claims":[]}'
COMMITMENT = commitment_of(NONCE, TEXT)
SAID = {"action": "move 2", "claims": []}
# What opens the commitment of a statement: the nonce with the payload that it covers.
REVEALED = {
    "the payload": (NONCE, SAID, True),
    "another nonce": (b"m" * 32, SAID, False),
    "another payload": (NONCE, {**SAID, "action": "wait"}, False),
    "more than the payload": (NONCE, {**SAID, "note": "x"}, False),
    "no payload": (NONCE, None, False),
    "a payload without canonical form": (NONCE, {**SAID, "claims": [0.1234567891]}, False),
}


@pytest.mark.parametrize(("nonce", "payload", "opened"), REVEALED.values(), ids=REVEALED)
def test_what_opens_the_commitment_of_a_statement(monkeypatch, nonce, payload, opened):
    revealed = answer("reveal", nonce=nonce.hex(), **({} if payload is None else {"payload": payload}))
    agent, session, challenges = agent_of(monkeypatch, stating(commitment=COMMITMENT, number=8), revealed)
    decide(agent)
    (snapshot,) = agent.document(situation(), CHOSEN)["trace"]["fork_snapshots"]
    found = agent.reveal(snapshot, challenges.challenge(snapshot["nonce_ref"]))
    assert found == (nonce if opened else b"")
    fields = {"commitment": COMMITMENT, "nonce_ref": "statement:sha-8"}
    assert session.asked[1:] == [("follow", 8, "reveal", fields)]


def test_the_numbers_of_a_payload_may_be_covered_as_they_were_written(monkeypatch):
    payload = {"action": "move 2", "claims": [{**CLAIM, "becomes": 9}]}
    written = b'{"action":"move 2","claims":[{"becomes":9.0,"choice":"wait","variable":"level"}]}'
    body: Any = {"type": "statement", "id": 5, **payload, "commitment": commitment_of(NONCE, written)}
    received = written[:-1] + b',"id":5,"type":"statement"}'
    reply = AgentReply(body, "sha-5", 5, 0, received)
    revealed = answer("reveal", nonce=NONCE.hex(), payload=payload)
    agent, _, challenges = agent_of(monkeypatch, reply, revealed)
    decide(agent)
    (snapshot,) = agent.document(situation(), CHOSEN)["trace"]["fork_snapshots"]
    assert agent.reveal(snapshot, challenges.challenge("x")) == NONCE


def test_nobody_is_asked_for_a_nonce_without_a_challenge_or_of_a_snapshot_that_was_not_submitted(monkeypatch):
    agent, session, challenges = agent_of(monkeypatch, stating(commitment=COMMITMENT))
    decide(agent)
    (snapshot,) = agent.document(situation(), CHOSEN)["trace"]["fork_snapshots"]
    closed = challenges.challenge("x")
    challenges.close(closed)
    assert agent.reveal(snapshot, closed) == b""
    assert agent.reveal({**snapshot, "commitment": "00" * 32}, challenges.challenge("x")) == b""
    assert len(session.asked) == 1


@pytest.mark.parametrize(("nonce", "opened"), [(NONCE, True), (b"m" * 32, False), (NONCE[1:], False)])
def test_a_snapshot_of_a_document_is_opened_by_its_nonce_alone(monkeypatch, nonce, opened):
    digest = "ab" * 32
    snapshot = {"state_digest": digest, "focus_vars": ["level"], "nonce_ref": "n"}
    snapshot |= {"commitment": commit(NONCE, digest, ["level"])}
    document = {**DOCUMENT, "trace": {"fork_snapshots": [snapshot]}}
    replies = [answer("document", document=document), answer("reveal", nonce=nonce.hex())]
    agent, _, challenges = agent_of(monkeypatch, *replies, said={"can": ["document"]})
    decide(agent)
    assert agent.reveal(snapshot, challenges.challenge("n")) == (nonce if opened else b"")


def offered(*, edit=False, refuses=False):
    def patch(state, document):
        if refuses:
            raise NotApplicable("there is no such place")
        return {**document, "edited": True}

    call = None if edit else SimpleNamespace(action="chosen")
    spec: Any = SimpleNamespace(text="Take it.", call=call, edit=[SimpleNamespace(path="/edited")] if edit else None)
    return PlannedOffer(spec, lambda state: state, patch, {"pays": [], "edit": ["e"]})


CALLED = answer("call", action={"op": "wait"}, token={"t": 1})
OFFERED: dict[str, Any] = {
    "it declines": (offered(), answer("declined"), Reply()),
    "it calls as it was offered": (offered(), CALLED, Reply(token={"t": 1}, action={"op": "wait"}, taken=True)),
    "it calls without a token": (
        offered(),
        answer("call", action={"op": "wait"}),
        Reply(token=None, action={"op": "wait"}, taken=True),
    ),
    "it calls where an edit was offered": (
        offered(edit=True),
        CALLED,
        Reply(token={"t": 1}, action={"op": "wait"}, taken=False),
    ),
    "it states no action": (offered(), stating(action="fly"), None),
    "it states no action, and takes it": (offered(edit=True), stating(action="fly", takes=True), None),
}


@pytest.mark.parametrize(("offer", "reply", "found"), OFFERED.values(), ids=OFFERED)
def test_the_answer_to_an_offer(monkeypatch, offer, reply, found):
    agent, session, _ = agent_of(monkeypatch, reply)
    assert agent.offer(situation(), offer, {"t": 1}) == found
    assert session.asked == [("suppose", "offer", {**SHOWN, "offer": offer.message({"t": 1})}, None, False)]


@pytest.mark.parametrize(
    ("edit", "takes", "edited"),
    [(True, True, True), (True, False, False), (False, True, False), (False, False, False)],
)
def test_what_is_stated_is_edited_only_where_an_edit_was_offered_and_is_taken(monkeypatch, edit, takes, edited):
    reply = stating(takes=True) if takes else stating()
    agent, _, _ = agent_of(monkeypatch, reply)
    found = agent.offer(situation(), offered(edit=edit), None)
    assert (found.document["payload"]["intent"], found.document.get("edited", False)) == ("move 2", edited)
    assert found == Reply(document=found.document, taken=edited)


def test_an_offer_that_is_not_answered_or_cannot_be_made(monkeypatch):
    agent, _, _ = agent_of(monkeypatch, FAULT, stating(takes=True))
    with pytest.raises(Unanswered) as caught:
        agent.offer(situation(), offered(), None)
    assert str(caught.value) == "agent_fault"
    with pytest.raises(NotApplicable):
        agent.offer(situation(), offered(edit=True, refuses=True), None)


@pytest.mark.parametrize(
    ("said", "deterministic"),
    [({}, False), ({"deterministic": True}, True), ({"deterministic": 1}, False), ({"deterministic": False}, False)],
)
def test_an_agent_is_deterministic_if_it_says_so(monkeypatch, said, deterministic):
    agent, session, _ = agent_of(monkeypatch, said=said)
    assert (agent.deterministic, agent.promised) == (deterministic, True)
    agent.on_borne_halt(print)
    assert session.bears is print
