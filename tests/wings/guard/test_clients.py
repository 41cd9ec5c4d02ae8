"""Clients of a guard in Python: an OpenAI-compatible loop against a service on the loopback interface, and LangGraph."""

import importlib.util
import json
from contextlib import closing
from pathlib import Path

import pytest

from specledger.pipeline.verifying import verify
from specledger.wings.guard.client import Denied, Guard, NoAnswerError
from tests.unit.oracles.loopback import Said, Service, reply_to
from tests.wings.guard.conftest import KNOWN, OTHER

EXAMPLES = Path(__file__).parents[3] / "examples/guard"


def example(name):
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Money:
    """A tool that notes what it sent."""

    def __init__(self):
        self.sent = []

    def __call__(self, amount, to):
        self.sent.append(to)
        return "sent"


def check(office, money):
    assert money.sent == [KNOWN]
    (evidence,) = (office / "guard/sealed").iterdir()
    assert verify(evidence).verdict == "PASS"
    result = json.loads((evidence / "manifest.json").read_text())["result"]
    assert result["guard"] == {"made": 1, "denied": 1, "bypassed": 0}


@pytest.mark.medium
def test_a_loop_over_a_model_asks_before_it_executes(process_of, office):
    openai = pytest.importorskip("openai", reason="the extra `openai`")
    guard, money = process_of(), Money()

    class Payer(Service):
        def reply(self, path, body):
            results = [message["content"] for message in body["messages"] if message["role"] == "tool"]
            calls = [{"amount": 5, "to": OTHER}, {"amount": 5, "to": KNOWN}][len(results) :]
            said = Said(calls=(("send_money", json.dumps(calls[0])),)) if calls else Said(f"Done: {results}")
            return reply_to(path, said, 1)

    with closing(Payer()) as service:
        client = openai.OpenAI(base_url=service.address, api_key="none")
        said = example("openai_loop").run(
            client, "any", f"Pay 5 to {KNOWN}.", {"send_money": money}, [], str(guard.path)
        )
    assert "denied: payments.payee" in said
    check(office, money)


def test_a_node_of_a_graph_asks_before_it_executes(process_of, office):
    pytest.importorskip("langgraph", reason="langgraph is not installed")
    from langchain_core.messages import AIMessage  # type: ignore[import-not-found]
    from langgraph.graph import END, START, MessagesState, StateGraph  # type: ignore[import-not-found]

    guard, money = process_of(), Money()
    with Guard(str(guard.path)) as connection, connection.conversation() as talk:
        graph = StateGraph(MessagesState)
        graph.add_node("tools", example("langgraph_node").guarded_tools({"send_money": money}, talk))
        graph.add_edge(START, "tools")
        graph.add_edge("tools", END)
        calls = [
            {"name": "send_money", "args": {"amount": 5, "to": to}, "id": to, "type": "tool_call"}
            for to in (OTHER, KNOWN)
        ]
        done = graph.compile().invoke({"messages": [AIMessage("", tool_calls=calls)]})
    assert [message.content[:6] for message in done["messages"][1:]] == ["denied", "sent"]
    check(office, money)


@pytest.mark.medium
def test_a_client_tells_what_a_tool_did(process_of, office):
    guard = Guard(str(process_of().path))

    def fail(**_):
        raise OSError("no network")

    with guard.conversation("mine") as talk:
        talk.say("user", f"Pay 5 to {OTHER}.")
        with pytest.raises(OSError, match="no network"):
            talk.call("send_money", {"amount": 5, "to": OTHER}, fail)
        with pytest.raises(Denied, match="approved: not_approved"):
            talk.call("send_money", {"amount": 500, "to": OTHER}, fail)
        with pytest.raises(NoAnswerError, match="E_GUARD_CALL"):
            talk.report("again")
    with pytest.raises(NoAnswerError, match="E_GUARD_SEALED"):
        guard.conversation("mine")
    guard.close()
    with pytest.raises(NoAnswerError, match="no guard answers"):
        Guard(str(office / "nobody"))
    assert verify(office / "guard/sealed/mine").verdict == "PASS"


@pytest.mark.medium
@pytest.mark.parametrize("number", [float("nan"), float("inf"), -float("inf")])
def test_a_number_that_json_lacks_is_no_null(process_of, number):
    paid = []
    with Guard(str(process_of().path)) as connection, pytest.raises(NoAnswerError, match="no number of JSON"):
        connection.conversation("a").call(
            "send_money", {"to": "x", "amount": [number]}, lambda **given: paid.append(given)
        )
    assert paid == []
