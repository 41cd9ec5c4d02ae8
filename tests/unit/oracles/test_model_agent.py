"""A model as an agent, over real HTTP in both wire formats: messages in, statements out, and nothing trusted."""

import json
from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from specledger.compile.scenario import compile_scenario
from specledger.core.canonical import canonical_bytes, parse_json
from specledger.core.digest import sha256_hex
from specledger.gates.documents import shipped_schemas
from specledger.kinds import load
from specledger.oracles.answer import received
from specledger.oracles.gemini import GeminiClient
from specledger.oracles.model import Call, ModelAnswer
from specledger.oracles.model_agent import ModelAgent
from specledger.oracles.model_replay import ModelReplay
from specledger.oracles.openai import OpenAIClient
from specledger.oracles.recording import TapeError
from specledger.oracles.service import ADDRESS, OPENAI_ADDRESS
from specledger.oracles.service_client import ServiceClient
from specledger.run.session import ANSWERS, PROTOCOL, greeting
from specledger.spec.model import GeminiConfig, OpenAIConfig
from specledger.wings.kernel.plan import kernel_of
from specledger.wings.kernel.reasons.procedure import DecisionPoint
from tests.loopback_model import BEHAVIOURS, HIDDEN, narration, obedient
from tests.unit.oracles.loopback import KEY, Said, Service

pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning")


@cache
def plan():
    (bundle,) = load("axion-panel", kind="scenario", set=["agent=candid-model", "governor=axion-kernel-patient"])
    return compile_scenario(bundle)


class Conversation:
    """One session, and the numbers of its messages."""

    def __init__(self, model, service=None, **changes):
        self.service = service
        asked = plan().outside.model
        self.agent = ModelAgent(replace(asked, model=lambda _record: model, **changes))
        self.number, self.exchanges = 0, []
        self.hello = self.say("hello", protocol=PROTOCOL, **greeting(plan()))

    def answer(self, type_, **fields):
        self.number += 1
        message = canonical_bytes({"type": type_, "id": self.number, **fields})
        self.exchanges.append((message, self.agent.exchange(message)))
        return self.exchanges[-1][1]

    def say(self, type_, **fields):
        answer = self.answer(type_, **fields)
        assert answer.received is not None, answer
        body = parse_json(answer.received)
        assert body["id"] == self.number
        schema = ANSWERS.get(type_, {}).get(body["type"])
        assert schema is None or shipped_schemas("protocol").check(schema)(body), body
        return body

    def decide(self, episode=0, t=0):
        return self.answer("decide", **question(episode, t))


def question(episode=0, t=0):
    state = plan().start(episode)
    views = kernel_of(plan().actors[0]).narration.views
    shown = {"observation": views.observe(state), "env": views.env(state), "variables": views.describe(state)}
    return {"episode": episode, "t": t, **shown}


@pytest.fixture(params=["openai", "gemini"])
def converse(request):
    """A session with a behaviour behind one of the wire formats."""
    opened = []

    def make(behaviour, **settings):
        service = Service(behaviour)
        if request.param == "openai":
            known = {"OPENAI_API_KEY": KEY, OPENAI_ADDRESS: f"{service.address}v1"}
            client: ServiceClient = OpenAIClient(OpenAIConfig(model="made-up", **settings), environment=known)
        else:
            known = {"GEMINI_API_KEY": KEY, ADDRESS: service.address}
            client = GeminiClient(GeminiConfig(**settings), environment=known)
        made = Conversation(client, service)
        opened.append((service, made))
        return made

    yield make
    for service, made in opened:
        made.agent.close()
        service.close()


@pytest.mark.medium
def test_a_decision_is_stated_committed_to_and_opened(converse):
    said = converse(BEHAVIOURS["faithful"])
    assert (said.hello["state"], said.hello["can"]) == ("none", ["claims", "commit"])
    stated = parse_json(said.decide().received)
    assert stated["action"] == narration("honest").choose(plan().start(0), {}, DecisionPoint(0, 0)).action
    assert [claim["variable"] for claim in stated["claims"]] == ["hazards.at", "objects.at", "walls.nearby"]
    opened = said.say("reveal", commitment=stated["commitment"], nonce_ref="x")
    payload = {"action": stated["action"], "claims": stated["claims"]}
    assert opened["payload"] == payload
    assert stated["commitment"] == sha256_hex(bytes.fromhex(opened["nonce"]) + canonical_bytes(payload))


def test_no_nonce_is_used_twice_and_none_is_shown_before_it_is_asked_for(converse):
    said = converse(BEHAVIOURS["faithful"])
    answers = [said.decide(t=t).received for t in range(3)]
    made = [said.say("reveal", commitment=parse_json(one)["commitment"], nonce_ref="x") for one in answers]
    nonces = {one["nonce"] for one in made}
    assert len(nonces) == 3
    asked = json.dumps([body for _, _, body in said.service.requests])
    assert not [nonce for nonce in nonces if nonce in asked + b"".join(answers).decode()]
    assert said.answer("reveal", commitment="0" * 64, nonce_ref="x").failure == "raised"


def test_a_counterfactual_question_looks_like_a_decision(converse):
    said = converse(BEHAVIOURS["faithful"])
    stated = parse_json(said.decide().received)
    asked = question()
    again = said.say("ask", observation=asked["observation"], env=asked["env"])
    restated = said.say("restate", of=2)
    assert "commitment" not in again
    assert ModelAnswer.read(again["source"]["answer"]).usable
    assert [one["claims"] for one in (again, restated)] == [stated["claims"]] * 2
    first, second, third = (body for _, _, body in said.service.requests)
    assert first == second == third


FAULTS = {
    "refusing": ("raised", "no_call"),
    "broken": ("not_json", "arguments"),
    "slow": ("raised", "timed_out"),
}


@pytest.mark.parametrize("name", FAULTS)
def test_what_is_no_statement_is_a_fault_of_the_agent(name, converse):
    said = converse(BEHAVIOURS[name], deadline_ms=300 if name == "slow" else 30_000)
    answer = said.decide()
    if name == "broken" and answer.reason == "no_call":
        assert isinstance(said.agent._model, GeminiClient)  # whose shape holds no broken arguments
        return
    assert (answer.failure, answer.reason) == FAULTS[name]
    assert parse_json(answer.received).keys() == {"source"}


def test_reasons_in_other_words_are_no_claims(converse):
    stated = parse_json(converse(BEHAVIOURS["chatty"]).decide().received)
    assert (stated["action"]["op"], stated["claims"]) == ("move", [])


def test_the_model_follows_its_prompt(converse):
    candid = converse(obedient)
    candid.decide()
    assert HIDDEN not in json.dumps(candid.service.requests[0][2])


class Fixed:
    """A model that gives one answer."""

    def __init__(self, *calls, text=""):
        self.given = ModelAnswer(text, calls=tuple(Call(*call) for call in calls))

    def ask(self, request):
        self.asked = request
        return self.given


REASONS = {
    "becomes": ("IF self.energy becomes 5 THEN CHOICE wait", {"variable": "self.energy", "becomes": 5, "choice": "wait"}),
    "direction": ("IF self.energy increases THEN CHOICE wait", {"variable": "self.energy", "direction": "increases", "choice": "wait"}),
    "removed": ("IF objects.at is removed THEN CHOICE wait", {"variable": "objects.at", "direction": "removed", "choice": "wait"}),
    "white space": ("  IF a becomes [1, {}] THEN CHOICE b \n", {"variable": "a", "becomes": [1, {}], "choice": "b"}),
    "no number of JSON": ("IF a becomes [1e400] THEN CHOICE b", None),
    "no JSON": ("IF a becomes soon THEN CHOICE b", None),
    "prose": ("I moved because the coin is near.", None),
    "two of them": ("IF a increases THEN CHOICE b IF a increases THEN CHOICE c", None),
    "no choice": ("IF a increases THEN CHOICE", None),
    "too long": (f"IF {'a' * 81} increases THEN CHOICE b", None),
}  # fmt: skip


@pytest.mark.parametrize("name", REASONS)
@pytest.mark.parametrize("where", ["argument", "text"])
def test_reasons_are_read_by_the_vocabulary(name, where):
    text, claim = REASONS[name]
    said = json.dumps({"reasons": [text]} if where == "argument" else {})
    stated = Conversation(Fixed(("wait", said), text=text if where == "text" else ""))
    assert parse_json(stated.decide().received)["claims"] == ([] if claim is None else [claim])


ARGUMENTS = {
    "the name of another operation": ('{"op": "noop"}', "not_json"),
    "a list": ("[]", "not_json"),
    "a key twice": ('{"a": 1, "a": 2}', "not_json"),
    "no number": ('{"a": NaN}', "not_json"),
    "nothing": ("", ""),
    "unknown": ('{"a": 1}', ""),
}


@pytest.mark.parametrize("name", ARGUMENTS)
def test_arguments_are_a_proposal_or_a_fault(name):
    text, failure = ARGUMENTS[name]
    assert Conversation(Fixed(("wait", text))).decide().failure == failure


@pytest.mark.medium
@given(st.text(max_size=200), st.text(max_size=40), st.text(max_size=200))
def test_nothing_that_a_model_says_raises(text, name, arguments):
    said = Conversation(Fixed((name, arguments), text=text.encode(errors="replace").decode()))
    answer = said.decide()
    assert answer.failure in ("", "raised", "not_json")


@pytest.mark.medium
@given(st.lists(st.text(max_size=60), max_size=5))
def test_claims_have_the_form_of_the_protocol(words):
    said = Conversation(Fixed(("wait", json.dumps({"reasons": words}))))
    body = parse_json(said.decide().received)
    assert shipped_schemas("protocol").check(ANSWERS["decide"]["statement"])(body)


def test_operations_are_functions_with_typed_arguments():
    model = Fixed(("wait", "{}"))
    Conversation(model).decide()
    tools = {tool.name: tool.parameters for tool in model.asked.tools}
    assert set(tools) == {one["op"] for one in plan().outside.operations}
    assert tools["move"]["properties"]["dir"] == {"type": "string", "enum": ["N", "E", "S", "W"]}
    assert tools["use_tool"]["properties"]["at"]["properties"] == {"x": {"type": "integer"}, "y": {"type": "integer"}}
    assert all("reasons" in tool["required"] for tool in tools.values())


def test_a_model_without_a_kernel_proposes():
    said = Conversation(Fixed(("wait", '{"claims": {"top": 3}}')))
    asked = {name: value for name, value in question().items() if name != "env"}
    assert said.say("decide", **asked)["proposals"] == [{"action": {"op": "wait"}, "score": 0, "top": 3}]


def offered(accept, **offer):
    said = Conversation(Fixed(("wait", json.dumps({"accept": accept, "reasons": ["IF a increases THEN CHOICE b"]}))))
    asked = {name: value for name, value in question().items() if name in ("observation", "env")}
    answer = said.answer("offer", **asked, offer={"text": "It saves 5 energy.", "promises": [], **offer})
    return said, answer, parse_json(answer.received)


CALL: dict = {"does": "call", "call": {"token": {"id": "x"}, "action": "chosen"}}
EDIT = {"does": "edit", "edit": [{"op": "remove", "path": "/trace"}]}


@pytest.mark.parametrize(
    ("accept", "offer", "type_"),
    [(False, CALL, "declined"), (False, EDIT, "declined"), (True, CALL, "call"), (True, EDIT, "statement")],
)
def test_an_offer_is_declined_or_taken_as_it_was_made(accept, offer, type_):
    said, _, body = offered(accept, **offer)
    assert body["type"] == type_
    assert shipped_schemas("protocol").check(ANSWERS["offer"][type_])(body)
    assert body.get("token") == (CALL["call"]["token"] if type_ == "call" else None)
    assert body.get("takes") is (True if type_ == "statement" else None)
    assert "It saves 5 energy." in said.agent._model.asked.prompt
    assert said.agent._model.asked.tools[0].parameters["properties"]["accept"]["type"] == "boolean"


@pytest.mark.parametrize("accept", [None, "yes", 1])
def test_an_offer_without_a_clear_answer_is_a_fault(accept):
    _, answer, body = offered(accept, **EDIT)
    assert (answer.failure, answer.reason, list(body)) == ("not_json", "accept", ["source"])


def test_a_text_alone_is_no_action(converse):
    assert converse(lambda _asked: Said("[1]")).decide().reason == "no_call"


def recorded(**changes):
    """The exchanges of a session, the last one of which is changed."""
    reason = "IF a increases THEN CHOICE b"
    said = Conversation(Fixed(("wait", json.dumps({"reasons": [reason]}))), identity={})
    said.decide()
    said.decide(t=1)
    message, answer = said.exchanges[-1]
    body = parse_json(answer.received)
    for name, value in changes.items():
        body[name] = value(body[name])
    return [*said.exchanges[:-1], (message, received(canonical_bytes(body)))]


def replayed(exchanges):
    replay = ModelReplay(replace(plan().outside.model, identity={}))
    for message, answer in exchanges:
        replay.check(0, message, answer)


CHANGES: dict[str, dict] = {
    "the action": {"action": lambda action: {**action, "op": "noop"}},
    "the claims": {"claims": lambda claims: []},
    "the commitment": {"commitment": lambda digest: digest[::-1]},
    "the model's answer": {
        "source": lambda one: {**one, "answer": {**one["answer"], "calls": [{"name": "noop", "arguments": "{}"}]}}
    },
    "no answer of a model": {"source": lambda one: {**one, "answer": {}}},
    "another request": {"source": lambda one: {**one, "request": "0" * 64}},
    "no source": {"source": lambda one: None},
}


def test_a_tape_is_replayed_from_what_the_model_said():
    replayed(recorded())


@pytest.mark.parametrize("name", CHANGES)
def test_a_tape_that_was_changed_is_refuted(name):
    with pytest.raises(TapeError, match="E_TAPE_MODEL"):
        replayed(recorded(**CHANGES[name]))


def test_another_prompt_is_refuted():
    exchanges = recorded()
    message = parse_json(exchanges[-1][0])
    message["observation"]["tick"] += 1
    with pytest.raises(TapeError, match="another one than the recorded"):
        replayed([*exchanges[:-1], (canonical_bytes(message), exchanges[-1][1])])
