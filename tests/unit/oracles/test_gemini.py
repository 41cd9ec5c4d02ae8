"""The real client against a real server: whatever the service does is an answer with a reason, and the key is nowhere."""

import gzip
import json
import logging
import socket
import sys
import threading
from contextlib import closing

import pytest

from specledger.core.canonical import canonical_bytes
from specledger.core.diagnostics import Rejected, render
from specledger.kinds import load
from specledger.oracles.cassette import CassetteModel
from specledger.oracles.failures import FAILURES, MOST_TEXT
from specledger.oracles.gemini import GeminiClient
from specledger.oracles.model import ModelAnswer, ModelRequest, TokenUsage, Tool, estimate_tokens
from specledger.oracles.service import ADDRESS, MOST_BODY, SERVICE, address_of
from specledger.oracles.service_client import service_identity
from specledger.spec.model import GeminiConfig
from tests.toys import findings_of
from tests.unit.oracles.loopback import KEY, FakeClock, Reply, candidate, refusal, response, usage

REQUEST = ModelRequest(3, "be brief", "propose a law", {"type": "array"})
GOOD = Reply(response(candidate("[1]"), **usage()))
BUSY = Reply(refusal(429, "RESOURCE_EXHAUSTED", "slow down"), 429)
DOWN = Reply(refusal(503, "UNAVAILABLE", "out of order"), 503)
WRONG_KEY = [{"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "API_KEY_INVALID"}]
LAWS = "[" + ",".join(['{"template":"invariant","forbidden":"<>"}'] * 3) + "]"
FIVE_MB = "x" * 5_000_000

REPLIES = {
    "blocked prompt": ([Reply({"promptFeedback": {"blockReason": "SAFETY"}})], "blocked", "SAFETY"),
    "blocked for a new reason": ([Reply({"promptFeedback": {"blockReason": "\x1b[2J"}})], "blocked", "\x1b[2J"),
    "no candidates": ([Reply(response(**usage()))], "empty", "no candidate"),
    "nothing at all": ([Reply({})], "empty", "no candidate"),
    "no text": ([Reply(response({"content": {"role": "model"}, "finishReason": "STOP"}))], "empty", "no text"),
    "no content": ([Reply(response({"finishReason": "STOP"}))], "empty", "no text"),
    "safety": ([Reply(response(candidate("[{", "SAFETY")))], "withheld", "SAFETY"),
    "a new word": ([Reply(response(candidate("[{", "WHATEVER")))], "withheld", "WHATEVER"),
    "too few tokens": ([Reply(response(candidate("[{", "MAX_TOKENS")))], "truncated", ""),
    "no JSON": ([Reply(b"<html>busy</html>")], "malformed", None),
    "half of JSON": ([Reply(b'{"candidates": [')], "malformed", None),
    "an empty body": ([Reply(b"")], "empty", "no candidate"),
    "JSON of another shape": ([Reply({"candidates": 7})], "malformed", None),
    "a list": ([Reply(b"[1, 2]")], "empty", None),
    "no UTF-8": ([Reply(b'{"promptFeedback": {"blockReason": "\xff"}}')], "blocked", "\ufffd"),
    "deep": ([Reply(b"[" * 200_000)], "malformed", None),
    "an error that is no JSON": ([Reply(b"\xff\xfe", 400)], "invalid", None),
    "an error of another shape": ([Reply(b"[[1], 2]", 404)], "invalid", None),
    "compressed": ([Reply(gzip.compress(b"{}"), headers={"Content-Encoding": "gzip"})], "malformed", "EncodedError"),
    "no content status": ([Reply(status=204)], "malformed", "HTTP 204"),
    "wrong key": ([Reply(refusal(400, "INVALID_ARGUMENT", "no", details=WRONG_KEY), 400)], "unauthorised", None),
    "no key": ([Reply(refusal(401, "UNAUTHENTICATED", "who"), 401)], "unauthorised", "HTTP 401 UNAUTHENTICATED: who"),
    "may not": ([Reply(refusal(403, "PERMISSION_DENIED", "no"), 403)], "unauthorised", None),
    "bad request": ([Reply(refusal(400, "INVALID_ARGUMENT", "top_k"), 400)], "invalid", None),
    "no such model": ([Reply(refusal(404, "NOT_FOUND", "?"), 404)], "invalid", "HTTP 404 NOT_FOUND: ?"),
    "always busy": ([BUSY], "rate_limited", "HTTP 429 RESOURCE_EXHAUSTED: slow down"),
    "always down": ([DOWN], "unavailable", "HTTP 503 UNAVAILABLE: out of order"),
    "busy, then a wrong key": ([BUSY, Reply(refusal(403, "X", "no"), 403)], "unauthorised", None),
    "5 MB over HTTP": ([Reply(response(candidate(FIVE_MB)))], "too_large", "TooLargeError"),
    "5 MB of an error": ([Reply(FIVE_MB.encode(), 500)], "too_large", "TooLargeError"),
    "more text than is kept": ([Reply(response(candidate("x" * MOST_TEXT)))], "too_large", None),
    "closed in mid-answer": ([Reply(response(candidate("[1]")), ending="cut")], "cut_off", "RemoteProtocolError"),
    "closed before": ([Reply(ending="unsaid")], "cut_off", "RemoteProtocolError"),
    "another protocol": ([Reply(ending="no_http")], "cut_off", "RemoteProtocolError"),
}


@pytest.mark.parametrize("name", REPLIES)
def test_what_goes_wrong_is_an_answer_with_a_reason(name, service, ask_with):
    replies, failure, detail = REPLIES[name]
    service.will(*replies)
    client = ask_with(retries=2)
    answer = client.ask(REQUEST)
    assert answer.failure == failure, answer
    assert detail is None or answer.detail == detail
    assert ModelAnswer.read(answer.document()) == answer
    assert client.last_usage == answer.usage


def test_every_failure_of_a_service_is_shown():
    shown = {failure for _, failure, _ in REPLIES.values()} | {"timed_out", "refused", "redirected"}
    assert shown == FAILURES.keys() - {"exhausted", "over_limit"}


def test_a_good_answer(service, ask_with):
    service.will(Reply(response(candidate(LAWS), **usage())))
    client = ask_with()
    answer = client.ask(REQUEST)
    assert answer == ModelAnswer(LAWS, usage=TokenUsage(7, 3, 2), finish="STOP")
    assert client.last_usage == TokenUsage(7, 3, 2)


def test_what_is_sent(service, ask_with):
    service.will(GOOD)
    ask_with(thinking_budget=256).ask(REQUEST)
    ((path, headers, body),) = service.requests
    assert path == "/v1beta/models/gemini-2.5-flash:generateContent"
    assert (headers["x-goog-api-key"], headers["Accept-Encoding"]) == (KEY, "identity")
    assert body["contents"] == [{"parts": [{"text": "propose a law"}], "role": "user"}]
    assert body["systemInstruction"]["parts"] == [{"text": "be brief"}]
    assert body["generationConfig"] == {
        "temperature": 0.7,
        "topP": 0.95,
        "topK": 40,
        "maxOutputTokens": 8192,
        "responseMimeType": "application/json",
        "responseJsonSchema": {"type": "array"},
        "thinkingConfig": {"thinking_budget": 256},  # the service reads both spellings
    }


@pytest.mark.parametrize("version", ["v1beta", "v1"])
def test_each_version_of_the_interface_is_spoken(version, service, ask_with):
    call = {"functionCall": {"name": "wait", "args": {"reasons": []}}}
    answer = response({"content": {"role": "model", "parts": [call]}, "finishReason": "STOP"}, **usage())
    service.will(Reply(answer))
    tool = Tool("wait", "do nothing", {"type": "object", "properties": {"reasons": {"type": "array"}}})
    said = ask_with(api_version=version).ask(ModelRequest(0, "be brief", "act", tools=(tool,)))
    assert [(each.name, each.arguments) for each in said.calls] == [("wait", '{"reasons":[]}')]
    ((path, _, body),) = service.requests
    assert path == f"/{version}/models/gemini-2.5-flash:generateContent"
    assert [part["text"] for part in body["contents"][0]["parts"]] == ["act"]
    assert body["tools"][0]["functionDeclarations"][0]["name"] == "wait"
    assert body["toolConfig"]["functionCallingConfig"]["mode"] == "ANY"


def test_the_version_of_the_interface_does_not_change_who_answers():
    versions = [service_identity("gemini", GeminiConfig(api_version=version)) for version in ("v1beta", "v1")]
    assert versions[0] == versions[1]


@pytest.mark.parametrize(
    ("settings", "request_", "sent"),
    [
        ({"json_mode": False}, REQUEST, {"temperature": 0.7}),
        ({"json_mode": False}, ModelRequest(0, "", "p", temperature=0), {"temperature": 0.0}),
        ({"temperature": 1.5, "json_mode": False}, ModelRequest(0, "", "p"), {"temperature": 1.5}),
    ],
)
def test_settings_and_what_is_left_out(settings, request_, sent, service, ask_with):
    service.will(GOOD)
    ask_with(**settings).ask(request_)
    body = service.requests[0][2]
    assert body["generationConfig"] == {"topP": 0.95, "topK": 40, "maxOutputTokens": 8192, **sent}
    assert ("systemInstruction" in body) == bool(request_.system)


def test_the_defaults_are_those_of_the_seed():
    config = GeminiConfig()
    shown = (config.model, config.temperature, config.top_p, config.top_k, config.max_output_tokens)
    assert shown == ("gemini-2.5-flash", 700_000, 950_000, 40, 8192)
    assert (config.json_mode, config.thinking_budget) == (True, None)


def test_thoughts_are_no_part_of_the_text_and_parts_are_joined(service, ask_with):
    parts = [{"text": "hm", "thought": True}, {"text": "[1"}, {"functionCall": {"name": "f"}}, {"text": ",2]"}]
    service.will(Reply(response({"content": {"parts": parts}, "finishReason": "STOP"})))
    assert ask_with().ask(REQUEST).text == "[1,2]"


def test_what_came_before_a_failure_is_kept(service, ask_with):
    service.will(Reply(response(candidate('[{"a": 1}, {', "MAX_TOKENS"), **usage())))
    answer = ask_with().ask(REQUEST)
    assert (answer.text, answer.finish, answer.usable) == ('[{"a": 1}, {', "MAX_TOKENS", False)
    assert answer.usage == TokenUsage(7, 3, 2)


def test_control_characters_are_kept_and_never_printed_raw(service, ask_with):
    text = '["\x1b[31m\x00\u202e", "\ud800"]'
    service.will(Reply(response(candidate(text))))
    answer = ask_with().ask(REQUEST)
    assert answer.text == text.replace("\ud800", "\ufffd")
    canonical_bytes(answer.document())
    assert "\x1b" not in repr(answer)


@pytest.mark.parametrize(
    "told",
    [{}, {"usageMetadata": {}}, {"usageMetadata": {"promptTokenCount": -1, "candidatesTokenCount": 2**60}}],
    ids=["nothing", "no figures", "figures that cannot be"],
)
def test_usage_that_is_not_told_is_estimated(told, service, ask_with):
    service.will(Reply(response(candidate("[1]"), **told)))
    asked = estimate_tokens(REQUEST.system) + estimate_tokens(REQUEST.prompt)
    assert ask_with().ask(REQUEST).usage == TokenUsage(asked, 1, 0, estimated=True)


# Retries and deadlines


@pytest.mark.parametrize("bad", [BUSY, DOWN, Reply(b"oops", 500), Reply(b"", 502)])
def test_it_is_asked_again(bad, service, ask_with, clock):
    service.will(bad, bad, GOOD)
    assert ask_with().ask(REQUEST).text == "[1]"
    assert clock.waits == [1.0, 2.0]
    assert len(service.requests) == 3
    assert service.requests[0][2] == service.requests[2][2]


@pytest.mark.parametrize(("retries", "waits"), [(0, []), (1, [1.0]), (6, [1.0, 2.0, 4.0, 8.0, 16.0])])
def test_it_is_not_asked_for_ever(retries, waits, service, ask_with, clock):
    service.will(BUSY)
    assert ask_with(retries=retries).ask(REQUEST).failure == "rate_limited"
    assert clock.waits == waits  # a minute is all there is: 30 seconds more would be too late
    assert len(service.requests) == len(waits) + 1


@pytest.mark.parametrize(
    ("asked", "waits"), [("7", [7.0]), ("0", [1.0]), ("61", []), ("soon", [1.0]), ("-5", [1.0]), ("9" * 40, [1.0])]
)
def test_the_service_may_ask_to_wait(asked, waits, service, ask_with, clock):
    service.will(Reply(b"{}", 429, {"Retry-After": asked}), GOOD)
    answer = ask_with().ask(REQUEST)
    assert clock.waits == waits
    assert answer.usable == bool(waits)


@pytest.mark.parametrize("failure", ["wrong key", "bad request", "blocked prompt", "no JSON", "closed before"])
def test_what_would_not_help_is_not_repeated(failure, service, ask_with, clock):
    service.will(*REPLIES[failure][0])
    ask_with().ask(REQUEST)
    assert (len(service.requests), clock.waits) == (1, [])


def test_a_header_that_comes_a_byte_at_a_time(service, ask_with):
    service.will(Reply(ending="drips"))
    end = threading.Timer(20, service.server.release.set)
    end.start()
    answer = ask_with(deadline_ms=200).ask(REQUEST)
    end.cancel()
    assert (answer.failure, answer.detail) == ("timed_out", "LateError")
    assert not service.server.release.is_set()


def test_a_service_that_never_comes_to_an_end(service, ask_with):
    service.will(Reply(b" " * 1_000_000))
    answer = ask_with(clock=FakeClock(step=25.0)).ask(REQUEST)
    assert (answer.failure, answer.detail) == ("timed_out", "LateError")


def test_nobody_listens(ask_with):
    with socket.socket() as taken:  # nobody else can listen there meanwhile
        taken.bind(("127.0.0.1", 0))
        answer = ask_with(environment={ADDRESS: f"http://127.0.0.1:{taken.getsockname()[1]}/"}).ask(REQUEST)
    assert (answer.failure, answer.detail) == ("refused", "ConnectError")


# The key


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_is_not_followed(status, service, elsewhere, ask_with):
    elsewhere.will(GOOD)
    service.will(Reply(b"", status, {"Location": elsewhere.address}))
    answer = ask_with().ask(REQUEST)
    assert (answer.failure, answer.detail) == ("redirected", f"HTTP {status}")
    assert elsewhere.requests == []


ECHOES = {
    "text": Reply(response(candidate(f'["{KEY}"]'))),
    "finish": Reply(response(candidate("x", KEY))),
    "block": Reply({"promptFeedback": {"blockReason": KEY}}),
    "error": Reply(refusal(403, KEY, f"the key {KEY} is wrong", details=[KEY]), 403),
    "error of its own": Reply(KEY.encode(), 500),
    "redirect": Reply(b"", 307, {"Location": f"https://example.org/?key={KEY}"}),
    "shape": Reply({"candidates": KEY}),
    "no JSON": Reply(f"{KEY}{{".encode()),
    "cut": Reply(KEY.encode(), ending="cut"),
}


@pytest.mark.parametrize("name", [*ECHOES, "wrong key", "always busy", "compressed", "closed before"])
def test_the_key_is_nowhere(name, service, ask_with, tmp_path, caplog, capfd):
    caplog.set_level(logging.DEBUG)
    service.will(*([ECHOES[name]] if name in ECHOES else REPLIES[name][0]))
    client = ask_with(retries=1)
    record = tmp_path / "record.jsonl"
    answer = CassetteModel(record, {}, lambda: client).ask(REQUEST)
    written = [repr(answer), json.dumps(answer.document()), record.read_text(), caplog.text, *capfd.readouterr()]
    written += [repr(client), repr(vars(client))]
    sent = [json.dumps(body) + path for path, _, body in service.requests]
    assert not [text for text in [*written, *sent] if KEY in text]
    assert all(headers["x-goog-api-key"] == KEY for _, headers, _ in service.requests)


@pytest.mark.parametrize(
    ("environment", "used"),
    [
        ({"GEMINI_API_KEY": "first-key", "GOOGLE_API_KEY": "second-key"}, "first-key"),
        ({"GOOGLE_API_KEY": "second-key"}, "second-key"),
        ({"GEMINI_API_KEY": "  ", "GOOGLE_API_KEY": "second-key\n"}, "second-key"),
    ],
)
def test_which_key_is_used_without_a_warning(environment, used, service, monkeypatch, caplog, recwarn):
    caplog.set_level(logging.WARNING)
    for name in ("GEMINI_API_KEY", "GOOGLE_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    for name, value in {**environment, ADDRESS: service.address, "GOOGLE_GENAI_USE_VERTEXAI": "true"}.items():
        monkeypatch.setenv(name, value)
    service.will(GOOD)
    with closing(GeminiClient(GeminiConfig())) as client:
        assert client.ask(REQUEST).usable
    ((path, headers, _),) = service.requests
    assert (path.rpartition("/")[0], headers["x-goog-api-key"]) == ("/v1beta/models", used)
    assert (caplog.text, list(recwarn)) == ("", [])


def test_the_package_records_nothing_whatever_the_environment_says(service, ask_with, monkeypatch, tmp_path):
    monkeypatch.setenv("GOOGLE_GENAI_CLIENT_MODE", "record")
    monkeypatch.setenv("GOOGLE_GENAI_REPLAYS_DIRECTORY", str(tmp_path))
    monkeypatch.setenv("GOOGLE_GENAI_REPLAY_ID", "shown")
    service.will(GOOD)
    assert ask_with().ask(REQUEST).usable
    assert list(tmp_path.iterdir()) == []


def test_in_the_clear_there_is_no_proxy(service, elsewhere, ask_with, monkeypatch):
    for name in ("no_proxy", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, elsewhere.address)
    elsewhere.will(GOOD)
    service.will(GOOD)
    assert ask_with().ask(REQUEST).usable
    assert (len(service.requests), elsewhere.requests) == (1, [])


@pytest.mark.parametrize("environment", [{}, {"GEMINI_API_KEY": ""}, {"GEMINI_API_KEY": " ", "GOOGLE_API_KEY": ""}])
def test_no_key_is_a_mistake_of_the_user(environment):
    (found,) = findings_of(GeminiClient, GeminiConfig(), environment=environment)
    assert (found.code, "GEMINI_API_KEY" in found.message) == ("E_MODEL_KEY", True)


@pytest.mark.parametrize("text", ["short", "two words here", "a\nb: c-d-e-f", "schl\u00fcssel-lang", "x" * 513])
def test_what_cannot_be_a_key_is_not_shown(text):
    with pytest.raises(Rejected) as caught:
        GeminiClient(GeminiConfig(), text)
    (found,) = caught.value.diagnostics
    assert (found.code, found.expected) == ("E_MODEL_KEY", "8 to 512 printable characters without spaces")
    assert text not in render(found, lambda _: None) + repr(caught.value)


ADDRESSES = {
    "https://example.org": True,
    "https://example.org:8443/gemini/": True,
    "http://127.0.0.1:8080": True,
    "http://localhost:1/": True,
    "http://[::1]:8080/": True,
    "http://example.org": False,
    "http://127.0.0.1.example.org/": False,
    "http://localhost@example.org/": False,
    "https://user:word@example.org/": False,
    "https://example.org/?to=x": False,
    "https://example.org/#x": False,
    "https://example.org:99999/": False,
    "https://": False,
    "//example.org": False,
    "ftp://127.0.0.1/": False,
    "file:///etc/passwd": False,
    "https://[oops/": False,
}


@pytest.mark.parametrize(("address", "good"), ADDRESSES.items())
def test_where_a_key_may_be_sent(address, good):
    if good:
        assert address_of({ADDRESS: address}) == address
        return
    with pytest.raises(Rejected, match="E_MODEL_ADDRESS"):
        address_of({ADDRESS: address})


def test_without_an_address_it_is_the_service_itself():
    assert address_of({}) == address_of({ADDRESS: " "}) == SERVICE


@pytest.mark.parametrize(
    "line",
    [
        *("base_url: https://example.org", "api_key: a-secret-key", "http_options: {}", "headers: {a: b}"),
        *("model: ../../evil", "model: https://example.org/", "model: a/b", "model: 'a?b'", "model: 'a:b'", "model: '.x'"),
        *("model: a%2fb", "model: '@x'", "temperature: 2.1", "top_p: -0.1", "top_k: 0", "retries: 99", "deadline_ms: 0"),
    ],
)  # fmt: skip
def test_a_spec_cannot_say_where_the_key_goes(line, tmp_path):
    file = tmp_path / "stranger.yaml"
    file.write_text(f"spec: model/v1\nname: stranger\ngemini: {{{line}}}\n", encoding="utf-8")
    assert "a-secret-key" not in findings_of(load, file)[0].message


def test_the_package_is_not_installed(monkeypatch):
    monkeypatch.setitem(sys.modules, "google", None)
    with pytest.raises(Rejected, match="E_MODEL_PACKAGE"):
        GeminiClient(GeminiConfig(), KEY)


# The seed's methods


def test_generate(service, ask_with):
    service.will(GOOD)
    assert ask_with().generate("p", "s", 0.25).text == "[1]"
    assert service.requests[0][2]["generationConfig"]["temperature"] == 0.25


@pytest.mark.parametrize(
    ("reply", "value", "failure"),
    [
        (GOOD, [1], None),
        (Reply(response(candidate("[1, 2"))), None, "malformed"),
        (Reply(response(candidate('{"a":1,"a":2}'))), None, "malformed"),
        (Reply(response(candidate("[" * 100_000))), None, "malformed"),
        (Reply(response(candidate("[1]", "SAFETY"))), None, "withheld"),
    ],
)
def test_generate_json(reply, value, failure, service, ask_with):
    service.will(reply)
    made, answer = ask_with().generate_json("p", "s")
    assert (made, answer.failure) == (value, failure)
    assert answer.text is not None


@pytest.mark.parametrize(
    ("reply", "count", "estimated"),
    [
        (Reply({"totalTokens": 31}), 31, False),
        (Reply({"totalTokens": -1}), 2, True),
        (Reply({}), 2, True),
        (DOWN, 2, True),
        (Reply(ending="unsaid"), 2, True),
        (Reply(b"{"), 2, True),
    ],
)
def test_tokens_are_counted_or_estimated(reply, count, estimated, service, ask_with):
    service.will(reply)
    client = ask_with()
    assert (client.count_tokens("\u00fcber 7"), client.count_estimated) == (count, estimated)
    assert len(service.requests) == 1


def test_a_count_that_does_not_come_is_estimated(service, ask_with):
    service.will(Reply(ending="nothing"))
    client = ask_with(deadline_ms=100)
    assert (client.count_tokens("12345"), client.count_estimated) == (2, True)


# Who answers


def test_identity_is_what_an_answer_depends_on():
    patient, other = (GeminiConfig(deadline_ms=100, retries=0), GeminiConfig(top_k=41))
    assert service_identity("gemini", GeminiConfig()) == service_identity("gemini", patient)
    assert service_identity("gemini", GeminiConfig()) != service_identity("gemini", other)


def test_a_body_may_be_as_long_as_the_longest_text_needs(service, ask_with):
    text = "<" * (MOST_TEXT - 2)
    body = json.dumps(response(candidate(text))).replace("<", "\\u003c").encode()
    assert 6 * MOST_TEXT < len(body) < MOST_BODY
    service.will(Reply(body))
    assert ask_with().ask(REQUEST).text == text
