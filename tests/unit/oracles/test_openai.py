"""The client of OpenAI-compatible endpoints against a real server: failures are answers, and the key is nowhere."""

import gzip
import json
import logging
import sys
import time
from urllib.parse import quote

import pytest
from msgspec.structs import asdict

from specledger.core.diagnostics import Rejected
from specledger.oracles.cassette import CassetteModel
from specledger.oracles.failures import MOST_TEXT
from specledger.oracles.model import Call, ModelAnswer, ModelRequest, TokenUsage, Tool, estimate_tokens
from specledger.oracles.openai import OpenAIClient
from specledger.oracles.service import HIDDEN, LOCAL_KEY, OPENAI_SERVICE, Key, openai_access
from specledger.spec.model import OpenAIConfig
from tests.unit.oracles.loopback import KEY, FakeClock, Reply, called, completion, refusal, response

MOVE = Tool("move", "go one step", {"type": "object", "properties": {"dir": {"enum": ["N", "S"]}}})
REQUEST = ModelRequest(3, "be brief", "propose a law", {"type": "array"})
OFFER = ModelRequest(0, "act", "where to?", tools=(MOVE,))
GOOD = Reply(completion("[1]"))
BUSY = Reply({"error": {"message": "slow down", "type": "requests"}}, 429)

REPLIES = {
    "no choices": (Reply(completion() | {"choices": []}), "empty", "no choice"),
    "no text": (Reply(completion()), "empty", "no text"),
    "an empty text": (Reply(completion("")), "empty", "no text"),
    "refusal": (Reply(completion(refusal="I will not")), "withheld", "refusal: I will not"),
    "filtered": (Reply(completion("x", "content_filter")), "withheld", "content_filter"),
    "too few tokens": (Reply(completion("[1", "length")), "truncated", ""),
    "no JSON": (Reply(b"<html>"), "malformed", "no JSON"),
    "deep": (Reply(b"[" * 200_000), "malformed", "no JSON"),
    "a key twice": (Reply(b'{"choices": [], "choices": []}'), "malformed", "no JSON"),
    "another shape": (Reply({"choices": 7}), "malformed", "no choices"),
    "a list": (Reply([1]), "malformed", "no choices"),
    "a message of another shape": (Reply({"choices": [{"message": [{"content": 1}]}]}), "empty", "no text"),
    "wrong key": (Reply({"error": {"message": "who", "type": "auth"}}, 401), "unauthorised", "HTTP 401 auth: who"),
    "no such model": (Reply({"error": {"message": "?"}}, 404), "invalid", "HTTP 404 ?"),
    "an error of another shape": (Reply(b"[[1], 2]", 422), "invalid", "HTTP 422"),
    "always busy": (BUSY, "rate_limited", "HTTP 429 requests: slow down"),
    "always down": (Reply(b"oops", 503), "unavailable", "HTTP 503"),
    "compressed": (Reply(gzip.compress(b"{}"), headers={"Content-Encoding": "gzip"}), "malformed", "EncodedError"),
    "too much over HTTP": (Reply(completion("x" * 5_000_000)), "too_large", "TooLargeError"),
    "too much text": (Reply(completion("x" * MOST_TEXT)), "too_large", ""),
    "closed in mid-answer": (Reply(completion("[1]"), ending="cut"), "cut_off", "RemoteProtocolError"),
    "another protocol": (Reply(ending="no_http"), "cut_off", "RemoteProtocolError"),
    "redirect": (Reply(b"", 307, {"Location": "https://example.org/"}), "redirected", "HTTP 307"),
}


@pytest.mark.parametrize("name", REPLIES)
def test_what_goes_wrong_is_an_answer_with_a_reason(name, service, openai_with):
    reply, failure, detail = REPLIES[name]
    service.will(reply)
    answer = openai_with(retries=1).ask(REQUEST)
    assert (answer.failure, answer.detail) == (failure, detail)
    assert ModelAnswer.read(answer.document()) == answer


def test_what_is_sent(service, openai_with, monkeypatch):
    monkeypatch.setenv("OPENAI_ORG_ID", "an-organisation")
    monkeypatch.setenv("OPENAI_ADMIN_KEY", "another-key")
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", "Authorization: Bearer stolen\nX-More: yes")
    service.will(GOOD)
    openai_with(seed=5, reasoning_effort="low", tokens_field="max_tokens").ask(REQUEST)
    ((path, headers, body),) = service.requests
    assert path == "/v1/chat/completions"
    assert headers["Authorization"] == f"Bearer {KEY}"
    assert {name.lower() for name in headers} == {
        *("host", "content-type", "content-length", "accept", "accept-encoding", "connection"),
        *("authorization", "user-agent"),
    }
    assert body == {
        "model": "made-up",
        "messages": [{"role": "system", "content": "be brief"}, {"role": "user", "content": "propose a law"}],
        "temperature": 0.7,
        "top_p": 0.95,
        "max_tokens": 8192,
        "seed": 5,
        "reasoning_effort": "low",
        "response_format": {"type": "json_schema", "json_schema": {"name": "answer", "schema": {"type": "array"}}},
    }


@pytest.mark.medium
def test_functions_are_offered_and_calls_are_read(service, openai_with, ask_with):
    arguments = '{"dir":"N"}'
    service.will(Reply(completion("because", calls=[("move", arguments)])))
    answer = openai_with().ask(OFFER)
    assert answer == ModelAnswer(
        "because", usage=TokenUsage(7, 3, 2), finish="tool_calls", calls=(Call("move", arguments),)
    )
    assert ModelAnswer.read(answer.document()) == answer
    body = service.requests[-1][2]
    assert body["tools"] == [{"type": "function", "function": asdict(MOVE)}]
    assert (body["tool_choice"], body["parallel_tool_calls"]) == ("required", False)
    service.will(Reply(response(called("move", dir="N"))))
    assert ask_with().ask(OFFER).calls == (Call("move", arguments),)
    body = service.requests[-1][2]
    declared = {"name": "move", "description": "go one step", "parameters_json_schema": MOVE.parameters}
    assert body["tools"] == [{"functionDeclarations": [declared]}]
    assert body["toolConfig"] == {"functionCallingConfig": {"mode": "ANY"}}
    assert "responseMimeType" not in body["generationConfig"]


@pytest.mark.parametrize("arguments", ["{", "", "[1]", "\ud800", '{"a": 1}' * 9])
def test_broken_arguments_are_kept_as_text(arguments, service, openai_with):
    service.will(Reply(completion(calls=[("move", arguments)])))
    (call,) = openai_with().ask(OFFER).calls
    assert call.arguments == arguments.replace("\ud800", "\ufffd")


def test_calls_of_a_model_that_was_offered_nothing_are_dropped(service, openai_with):
    service.will(Reply(completion("x", calls=[("move", "{}")])))
    assert openai_with().ask(REQUEST).calls == ()


@pytest.mark.parametrize("told", [None, [], {"prompt_tokens": -1, "completion_tokens": 2}, {"prompt_tokens": True}])
def test_usage_that_is_not_told_is_estimated(told, service, openai_with):
    service.will(Reply(completion("[1]") | {"usage": told}))
    asked = estimate_tokens(REQUEST.system) + estimate_tokens(REQUEST.prompt)
    assert openai_with().ask(REQUEST).usage == TokenUsage(asked, 1, 0, estimated=True)


def test_it_is_asked_again_and_may_be_asked_to_wait(service, openai_with, clock):
    service.will(BUSY, Reply(b"{}", 429, {"Retry-After": "7"}), Reply(b"", 500), GOOD)
    assert openai_with().ask(REQUEST).text == "[1]"
    assert clock.waits == [1.0, 7.0, 4.0]


@pytest.mark.parametrize("ending", ["nothing", "hangs", "drips"])
def test_a_slow_service(ending, service, openai_with):
    service.will(Reply(b" " * 10, ending=ending))
    assert openai_with(deadline_ms=200).ask(REQUEST).failure == "timed_out"


LIMITS: dict[str, tuple[dict, str]] = {
    "tokens": ({"limits": {"tokens": 24}}, "limits.tokens: 24 of 24"),
    "money": (
        {"limits": {"money": 0.00003}, "price": {"input": 1, "output": 2}},
        "limits.money: 34 of 30 millionths",  # 2 * (7 * 1 + 5 * 2), thinking included
    ),
}


@pytest.mark.parametrize("name", LIMITS)
def test_what_a_run_may_use_is_limited(name, service, openai_with):
    settings, detail = LIMITS[name]
    service.will(GOOD)
    client = openai_with(**settings)
    assert [client.ask(REQUEST).failure for _ in range(4)] == [None, None, "over_limit", "over_limit"]
    assert client.ask(REQUEST).detail == detail
    assert len(service.requests) == 2


def test_a_limit_of_money_needs_a_price():
    with pytest.raises(ValueError, match="needs a `price`"):
        OpenAIConfig.model_validate({"model": "x", "limits": {"money": 1}})


@pytest.mark.parametrize("day", ["2026-13-01", "2026-02-30", "1.11.2026", "2026-1-1"])
def test_the_date_of_a_price_is_a_day_of_the_calendar(day):
    with pytest.raises(ValueError, match="as_of"):
        OpenAIConfig.model_validate({"model": "x", "price": {"input": 1, "output": 1, "as_of": day}})


def test_calls_are_spaced_and_slots_are_given_back(service, openai_with, clock, monkeypatch, tmp_path):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    service.will(GOOD)
    first, second = (openai_with(per_minute=30, concurrency=1) for _ in range(2))
    assert [client.ask(REQUEST).usable for client in (first, second, first)] == [True] * 3
    assert clock.waits == [2.0, 2.0]


ODD_KEY = "s/k+q=7&w%2f\\\"'e"
AS_IT_IS, ESCAPED = ODD_KEY, "".join(f"\\u{ord(one):04X}" for one in ODD_KEY)
SPELLINGS = {
    "as it is": AS_IT_IS,
    "escaped": ESCAPED,
    "escaped in part": ESCAPED[:12] + ODD_KEY[2:-6] + ESCAPED[-36:],
    "in JSON": json.dumps(ODD_KEY),
    "in JSON in JSON": json.dumps(json.dumps(ODD_KEY)),
    "escaped escapes": ESCAPED.replace("\\", "\\u005c"),
    "in a URL": quote(ODD_KEY, safe=""),
    "in a URL, in small letters": quote(ODD_KEY, safe="/").lower(),
    "in a URL twice": quote(quote(ODD_KEY, safe=""), safe=""),
}


@pytest.mark.parametrize("name", SPELLINGS)
def test_a_key_is_hidden_in_every_spelling(name):
    hidden = Key(ODD_KEY).hide(f"<{SPELLINGS[name]}>")
    assert hidden.strip('<>\\"') == HIDDEN


def test_a_decoded_argument_does_not_hold_the_key(service, openai_with):
    escaped = "".join(f"\\u{ord(one):04x}" for one in KEY)
    service.will(Reply(completion(calls=[("move", f'{{"dir": "{escaped}"}}')])))
    (call,) = openai_with().ask(OFFER).calls
    assert json.loads(call.arguments) == {"dir": HIDDEN}


@pytest.mark.parametrize("text", ["\\" * 15_000, "%" * 15_000, "%25" * 10_000, "\\u005c" * 5_000])
def test_hiding_a_key_takes_little_time(text):
    begin = time.process_time()
    for key in (ODD_KEY, "\\" * 12 + "x", "%" * 12 + "x", "%25" * 5 + "x"):
        assert HIDDEN not in Key(key).hide(text)
    assert time.process_time() - begin < 5


ECHOES = {
    "text": Reply(completion(KEY)),
    "call": Reply(completion(calls=[(KEY, KEY)])),
    "finish": Reply(completion("x", KEY)),
    "refusal": Reply(completion(refusal=KEY)),
    "error": Reply({"error": {"message": f"the key {KEY}", "type": KEY, "code": KEY}}, 403),
    "error of its own": Reply(KEY.encode(), 500),
    "no JSON": Reply(f"{KEY}{{".encode()),
    "gemini": Reply(refusal(403, KEY, KEY), 403),
}


@pytest.mark.parametrize("name", ECHOES)
def test_the_key_is_nowhere(name, service, openai_with, tmp_path, caplog, capfd):
    caplog.set_level(logging.DEBUG)
    service.will(ECHOES[name])
    client = openai_with(retries=1)
    record = tmp_path / "record.jsonl"
    answer = CassetteModel(record, {}, lambda: client).ask(OFFER)
    written = [repr(answer), json.dumps(answer.document()), record.read_text(), caplog.text, *capfd.readouterr()]
    written += [repr(client), repr(vars(client))]
    sent = [json.dumps(body) + path for path, _, body in service.requests]
    assert not [text for text in [*written, *sent] if KEY in text]
    assert CassetteModel(record, {}).ask(OFFER) == answer


ACCESS = {
    "the service itself": (None, None, {}, OPENAI_SERVICE),
    "named in the spec": (f"{OPENAI_SERVICE}/", None, {}, f"{OPENAI_SERVICE}/"),
    "as the environment says": (None, None, {"OPENAI_BASE_URL": "https://example.org/v1"}, "https://example.org/v1"),
    "allowed by the environment": (
        "https://a.org/v1/",
        "A_API_KEY",
        {"OPENAI_BASE_URL": "https://a.org/v1"},
        "https://a.org/v1/",
    ),
    "this machine": ("http://127.0.0.1:8000/v1", None, {}, "http://127.0.0.1:8000/v1"),
    "a stranger": ("https://example.org/v1", None, {}, None),
    "another key to the service": (None, "A_API_KEY", {}, None),
    "in the clear": (None, None, {"OPENAI_BASE_URL": "http://example.org/v1"}, None),
    "a user in it": ("https://user@api.openai.com/v1", None, {}, None),
}


@pytest.mark.parametrize("name", ACCESS)
def test_where_a_key_may_be_sent(name):
    endpoint, key, environment, address = ACCESS[name]
    known = {"OPENAI_API_KEY": KEY, "A_API_KEY": KEY, **environment}
    if address is not None:
        found, held = openai_access(endpoint, key, known)
        assert (found, held.reveal()) == (address, KEY)
        return
    with pytest.raises(Rejected, match="E_MODEL_ADDRESS") as caught:
        openai_access(endpoint, key, known)
    assert KEY not in repr(caught.value)


def test_a_local_service_needs_no_key_and_another_one_does():
    assert openai_access("http://localhost:1/v1", None, {})[1].reveal() == LOCAL_KEY
    with pytest.raises(Rejected, match="OPENAI_API_KEY is not set"):
        openai_access(None, None, {})


@pytest.mark.parametrize("name", ["HOME", "AWS_SECRET_ACCESS_KEY", "api_key", "A_API_KEY_FILE"])
def test_a_spec_can_name_no_other_variable(name):
    with pytest.raises(ValueError, match="key"):
        OpenAIConfig(model="x", key=name)


def test_a_missing_package_is_one_line(monkeypatch):
    monkeypatch.setitem(sys.modules, "openai", None)
    with pytest.raises(Rejected, match="E_MODEL_PACKAGE") as caught:
        OpenAIClient(OpenAIConfig(model="x", endpoint="http://localhost:1"), environment={}, clock=FakeClock())
    (found,) = caught.value.diagnostics
    assert found.message == "the package `openai` is not installed: pip install 'specledger[openai]'"
