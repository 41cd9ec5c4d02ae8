"""What questions cost: messages and bytes of every agent, calls, tokens and money of models, from recorded answers alone."""

import json

import pytest

from specledger.oracles.answer import Answer, received
from specledger.oracles.model import TokenUsage, answered
from specledger.oracles.spending import Spending

CALLED = {
    "id": 1,
    "type": "declined",
    "source": {"request": "0" * 64, "answer": answered("x", TokenUsage(100, 20, 5)).document()},
}


def said(document):
    return received(json.dumps(document).encode())


def test_messages_and_bytes_are_counted_since_the_last_time():
    spending = Spending()
    spending.add(10, received(b"abc"))
    spending.add(20, Answer(None, "timed_out", "timeout"))
    assert spending.take() == {"messages": 2, "sent": 30, "received": 3}
    assert spending.take() == {"messages": 0, "sent": 0, "received": 0}


def test_of_a_model_thinking_is_output_and_every_call_is_priced():
    spending = Spending(model=True, price=lambda asked, answered: 2 * asked + answered)
    spending.add(1, said(CALLED))
    spending.add(1, said({"id": 2, "type": "ready"}))  # which asks no model
    found = spending.take()
    assert {name: found[name] for name in ("messages", "calls", "input_tokens", "output_tokens", "cost")} == {
        "messages": 2, "calls": 1, "input_tokens": 100, "output_tokens": 25, "cost": 225,
    }  # fmt: skip
    assert "cost" not in Spending(model=True).take()


FORGED = {
    "no JSON": b"{",
    "a list": b"[]",
    "no source": b"{}",
    "a source that is none": b'{"source": 7}',
    "negative tokens": json.dumps(CALLED).replace("100", "-100").encode(),
    "tokens in words": json.dumps(CALLED).replace("100", '"many"').encode(),
    "deep": b'{"source": ' + b"[" * 5000 + b"]" * 5000 + b"}",
}


@pytest.mark.parametrize("data", FORGED.values(), ids=FORGED)
def test_an_answer_that_states_no_usage_counts_no_call(data):
    spending = Spending(model=True)
    spending.add(1, received(data))
    assert spending.take() == {
        "messages": 1, "sent": 1, "received": len(data), "calls": 0, "input_tokens": 0, "output_tokens": 0,
    }  # fmt: skip
