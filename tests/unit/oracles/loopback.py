"""A service on this machine that speaks the shapes of the Gemini API and of chat completions, well or badly.

It sends the replies that a test lists, or answers by a behaviour: a function of what was asked, whichever the shape.
"""

import json
import socket
import threading
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import NamedTuple

from specledger.oracles.retry_clock import Clock

KEY = "a-secret-key-of-nobody-4711"


def candidate(text, finish="STOP", **more):
    return {"content": {"role": "model", "parts": [{"text": text}]}, "finishReason": finish, "index": 0, **more}


def response(*candidates, **more):
    return {"candidates": list(candidates), "modelVersion": "made-up", **more}


def usage(prompt=7, output=3, thoughts=2):
    counts = {"promptTokenCount": prompt, "candidatesTokenCount": output, "thoughtsTokenCount": thoughts}
    return {"usageMetadata": {**counts, "totalTokenCount": prompt + output + thoughts}}


def refusal(status, word, message, **more):
    return {"error": {"code": status, "status": word, "message": message, **more}}


def called(name, **arguments):
    return {"content": {"parts": [{"functionCall": {"name": name, "args": arguments}}]}, "finishReason": "STOP"}


def completion(text=None, finish="stop", calls=(), usage=(7, 5, 2), **more):
    """A chat completion; each call is a name and its arguments as text."""
    functions = [{"id": "c", "type": "function", "function": {"name": n, "arguments": a}} for n, a in calls]
    message = {"role": "assistant", "content": text, **({"tool_calls": functions} if functions else {}), **more}
    prompt, output, thinking = usage
    counts = {"prompt_tokens": prompt, "completion_tokens": output, "total_tokens": prompt + output}
    counts["completion_tokens_details"] = {"reasoning_tokens": thinking}
    choice = {"index": 0, "message": message, "finish_reason": "tool_calls" if functions else finish}
    return {"id": "x", "object": "chat.completion", "model": "made-up", "choices": [choice], "usage": counts}


class Asked(NamedTuple):
    """What was asked, whichever the shape: the texts, and the functions that were offered."""

    system: str
    prompt: str
    tools: dict[str, dict]


class Said(NamedTuple):
    """What a behaviour answers: a text, and calls as (name, arguments as JSON text)."""

    text: str = ""
    calls: tuple[tuple[str, str], ...] = ()


def asked_in(path, body):
    """What a request asks."""
    if path.endswith("/chat/completions"):
        texts = {message["role"]: message["content"] for message in body["messages"]}
        tools = {tool["function"]["name"]: tool["function"]["parameters"] for tool in body.get("tools", ())}
        return Asked(texts.get("system", ""), texts["user"], tools)
    declared = [one for tool in body.get("tools", ()) for one in tool["functionDeclarations"]]
    system = "".join(part["text"] for part in body.get("systemInstruction", {}).get("parts", ()))
    prompt = "".join(part["text"] for content in body["contents"] for part in content["parts"])
    return Asked(system, prompt, {one["name"]: one.get("parameters_json_schema", {}) for one in declared})


def reply_to(path, said, prompt_tokens):
    """What a behaviour said, in the shape of the request; arguments that are no JSON object are text in Gemini's."""
    output_tokens = -(-len(said.text + "".join(arguments for _, arguments in said.calls)) // 4)
    if path.endswith("/chat/completions"):
        return Reply(completion(said.text or None, calls=said.calls, usage=(prompt_tokens, output_tokens, 0)))
    parts = [{"text": said.text}] if said.text else []
    for name, arguments in said.calls:
        try:
            parts.append({"functionCall": {"name": name, "args": json.loads(arguments)}})
        except ValueError:
            parts.append({"text": arguments})
    return Reply(
        response(
            {"content": {"role": "model", "parts": parts}, "finishReason": "STOP"},
            **usage(prompt_tokens, output_tokens, 0),
        )
    )


class Reply:
    """What is sent: a status, a body, headers; then perhaps something bad."""

    def __init__(self, body=b"", status=200, headers=(), ending="whole"):
        self.body = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.status = status
        self.headers = {"Content-Type": "application/json", **dict(headers)}
        self.ending = ending

    def send(self, handler):
        if self.ending == "nothing":  # not even a status
            handler.server.release.wait()
            return
        if self.ending == "drips":  # a header without end, a byte at a time
            handler.wfile.write(b"HTTP/1.1 200 OK\r\nX-Long: ")
            while not handler.server.release.wait(0.02):
                handler.wfile.write(b"a")
            return
        if self.ending == "no_http":
            handler.wfile.write(b"hello\r\n\r\n")
            return
        if self.ending == "unsaid":
            handler.connection.shutdown(socket.SHUT_RDWR)
            return
        handler.send_response(self.status)
        for name, value in self.headers.items():
            handler.send_header(name, value)
        handler.send_header("Content-Length", str(len(self.body) + (self.ending in ("cut", "hangs"))))
        handler.end_headers()
        handler.wfile.write(self.body)
        if self.ending == "hangs":
            handler.wfile.flush()
            handler.server.release.wait()


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.release = threading.Event()


class Service:
    """The replies to come, the last one again and again, or those of a behaviour; the requests that came."""

    def __init__(self, behaviour=None, port=0):
        self.behaviour = behaviour
        self.replies: list[Reply] = []
        self.requests: list[tuple] = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                asked = json.loads(body or b"null")
                outer.requests.append((self.path, dict(self.headers), asked))
                reply = outer.reply(self.path, asked)
                self.close_connection = True
                with suppress(OSError):  # whoever asked may be gone
                    reply.send(self)

            do_GET = do_POST  # noqa: N815 - the name is that of the standard library

            def log_message(self, *arguments):
                pass

        self.server = Server(("127.0.0.1", port), Handler)
        self.thread = threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.01})
        self.thread.start()

    @property
    def address(self):
        return f"http://127.0.0.1:{self.server.server_port}/"

    def reply(self, path, body):
        if self.behaviour is not None:
            said = self.behaviour(asked_in(path, body))
            return said if isinstance(said, Reply) else reply_to(path, said, -(-len(json.dumps(body)) // 4))
        return self.replies.pop(0) if len(self.replies) > 1 else self.replies[0]

    def will(self, *replies):
        self.replies[:] = replies

    def close(self):
        self.server.release.set()
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()


class FakeClock(Clock):
    """Time passes by waiting, and by so much whenever somebody looks."""

    def __init__(self, step=0.0):
        self.time, self.step, self.waits = 0.0, step, []

    def now(self):
        self.time += self.step
        return self.time

    def wait(self, seconds):
        self.waits.append(seconds)
        self.time += seconds
