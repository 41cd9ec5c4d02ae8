"""A service on this machine that speaks the REST shapes of the Gemini API, well or badly, as a test tells it."""

import json
import socket
import threading
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

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
    """The replies to come, the last one again and again; the requests that came."""

    def __init__(self):
        self.replies: list[Reply] = []
        self.requests: list[tuple] = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                outer.requests.append((self.path, dict(self.headers), json.loads(body or b"null")))
                reply = outer.replies.pop(0) if len(outer.replies) > 1 else outer.replies[0]
                self.close_connection = True
                with suppress(OSError):  # whoever asked may be gone
                    reply.send(self)

            do_GET = do_POST  # noqa: N815 - the name is that of the standard library

            def log_message(self, *arguments):
                pass

        self.server = Server(("127.0.0.1", 0), Handler)
        self.thread = threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.01})
        self.thread.start()

    @property
    def address(self):
        return f"http://127.0.0.1:{self.server.server_port}/"

    def will(self, *replies):
        self.replies[:] = replies

    def close(self):
        self.server.release.set()
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()


class FakeClock:
    """Time passes by waiting, and by so much whenever somebody looks."""

    def __init__(self, step=0.0):
        self.time, self.step, self.waits = 0.0, step, []

    def now(self):
        self.time += self.step
        return self.time

    def wait(self, seconds):
        self.waits.append(seconds)
        self.time += seconds
