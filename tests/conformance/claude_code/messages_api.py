"""A small server of the Messages API on the loopback interface: it answers as a model is said to, and keeps what it was sent."""

import json
import threading
from collections.abc import Callable, Iterator, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Block = dict[str, Any]

USAGE = {"input_tokens": 10, "output_tokens": 10}


def tool_use(number: int, tool: str, **arguments: Any) -> Block:
    """A call of a tool, as a model asks for it."""
    return {"type": "tool_use", "id": f"toolu_{number:024}", "name": tool, "input": arguments}


def text(words: str) -> Block:
    """What a model says."""
    return {"type": "text", "text": words}


def script(*answers: Sequence[Block]) -> Callable[[dict[str, Any]], Sequence[Block]]:
    """A model that gives answers in their order, whatever it is asked."""
    left = list(answers)
    return lambda _: left.pop(0) if left else [text("done")]


class MessagesApi:
    """Gives what a model answers to requests that have tools; to any other one, a short text."""

    def __init__(self, model: Callable[[dict[str, Any]], Sequence[Block]]) -> None:
        """Answer by a model, which gives the blocks of the answer to the body of a request."""
        self._model = model
        self._lock = threading.Lock()
        self.requests: list[dict[str, Any]] = []
        api = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers.get("content-length", 0))) or b"{}")
                if self.path.startswith("/v1/messages/count_tokens"):
                    self._send("application/json", json.dumps({"input_tokens": 10}).encode())
                elif not self.path.startswith("/v1/messages"):
                    self._send("application/json", b"{}")
                else:
                    blocks = api.answer(body)
                    if body.get("stream"):
                        self._send("text/event-stream", b"".join(events(blocks, body["model"])))
                    else:
                        self._send("application/json", json.dumps(message(blocks, body["model"])).encode())

            def do_GET(self) -> None:
                self._send("application/json", b"{}")

            def do_HEAD(self) -> None:
                self._send("application/json", b"")

            def _send(self, kind: str, data: bytes) -> None:
                self.send_response(200)
                self.send_header("content-type", kind)
                self.send_header("content-length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *_: Any) -> None:
                """Say nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def answer(self, body: dict[str, Any]) -> Sequence[Block]:
        """The blocks that answer a request."""
        with self._lock:
            if not body.get("tools"):
                return [text("ok")]
            self.requests.append(body)
            return self._model(body)

    def tool_results(self) -> dict[str, Block]:
        """What came back from each call, as the last request has it."""
        contents = [message["content"] for message in self.requests[-1]["messages"]]
        blocks = [block for content in contents if isinstance(content, list) for block in content]
        return {block["tool_use_id"]: block for block in blocks if block["type"] == "tool_result"}

    def close(self) -> None:
        """End the server."""
        self._server.shutdown()
        self._server.server_close()


def message(blocks: Sequence[Block], model: str) -> dict[str, Any]:
    """An answer in one piece."""
    stop = "tool_use" if any(block["type"] == "tool_use" for block in blocks) else "end_turn"
    head = {"id": "msg_1", "type": "message", "role": "assistant", "model": model, "stop_sequence": None}
    return {**head, "content": list(blocks), "stop_reason": stop, "usage": USAGE}


def events(blocks: Sequence[Block], model: str) -> Iterator[bytes]:
    """An answer as server-sent events."""
    whole = message(blocks, model)
    yield event("message_start", message={**whole, "content": [], "stop_reason": None})
    for index, block in enumerate(blocks):
        if block["type"] == "text":
            empty, delta = {**block, "text": ""}, {"type": "text_delta", "text": block["text"]}
        else:
            empty = {**block, "input": {}}
            delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
        yield event("content_block_start", index=index, content_block=empty)
        yield event("content_block_delta", index=index, delta=delta)
        yield event("content_block_stop", index=index)
    yield event("message_delta", delta={"stop_reason": whole["stop_reason"], "stop_sequence": None}, usage=USAGE)
    yield event("message_stop")


def event(kind: str, **fields: Any) -> bytes:
    """One server-sent event."""
    return f"event: {kind}\ndata: {json.dumps({'type': kind, **fields})}\n\n".encode()
