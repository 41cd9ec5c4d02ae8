"""`python -m bench.worst_sessions`: the most memory of commands that stay: a guard, a language server, `spec watch`.

Each is driven to its bounds: a guard by conversations and unfinished messages, the others by changes of a large spec.
"""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Thread
from typing import Any, Final

from bench.peak import held_by
from bench.worst_inputs import constants

_GUARDED: Final = {
    "agent.yaml": "spec: agent/v1\nname: agent\ntrajectories: {otherwise: call}\n",
    "policy.yaml": (
        "spec: policy/v1\nname: policy\nrules:\n"
        "  name: {when: {tool: send}, each: args.to, as: name, from: [request, {text_of: any}]}\n"
    ),
    "scenario.yaml": (
        "spec: scenario/v1\nname: scenario\nworld: any-call\ngovernor: any-action\nagent: agent\npolicies: [policy]\n"
    ),
}
_CONVERSATIONS: Final = 8
_UNFINISHED: Final = 40
"""Messages of seven megabytes whose end does not come."""
_CHANGES: Final = 25


class Peak:
    """Reads again and again how much memory a process and all that it started hold."""

    def __init__(self, words: list[str], folder: Path) -> None:
        command = [sys.executable, "-m", "specledger", *words]
        self.process = subprocess.Popen(
            command, cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        self.most = 0
        self._thread = Thread(target=self._read)
        self._thread.start()

    def _read(self) -> None:
        while self.process.poll() is None:
            self.most = max(self.most, held_by(self.process.pid))
            time.sleep(0.02)

    def end(self) -> int:
        """End the process; the most that it held, in bytes."""
        self.process.terminate()
        self._thread.join()
        return self.most


@contextmanager
def _answering(place: Path) -> Iterator[Any]:
    """Asks a guard: a function from the fields of a message to its answer."""
    with socket.socket(socket.AF_UNIX) as channel:
        channel.connect(str(place))
        with channel.makefile("rwb") as file:

            def ask(**fields: Any) -> Any:
                file.write(json.dumps({"id": 1, **fields}).encode() + b"\n")
                file.flush()
                return json.loads(file.readline())

            yield ask


def _talk(place: Path) -> None:
    """Say new words in a conversation until the guard takes no more."""
    with _answering(place) as ask:
        name = ask(type="begin", protocol="specledger/guard/v1")["conversation"]
        for number in range(100):
            text = "\U0001f600" + f"{name} word{number} " * 200_000
            if ask(type="say", conversation=name, speaker="user", text=text)["type"] == "error":
                return


def guard(folder: Path) -> int:
    """A guard whose conversations and unanswered messages are at their bounds."""
    for name, text in _GUARDED.items():
        (folder / name).write_text(text, encoding="utf-8")
    place = folder / "s"
    peak = Peak(["guard", str(folder / "scenario.yaml"), f"--out={folder / 'out'}", f"--socket={place}"], folder)
    while not place.exists():
        time.sleep(0.1)
    threads = [Thread(target=_talk, args=(place,)) for _ in range(_CONVERSATIONS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    channels = [socket.socket(socket.AF_UNIX) for _ in range(_UNFINISHED)]
    for channel in channels:
        channel.settimeout(2)
        with suppress(OSError):
            channel.connect(str(place))
            channel.sendall(b'{"id":1,"type":"say","text":"' + b"[" * 7_000_000)
    most = peak.end()
    for channel in channels:
        channel.close()
    return most


def language_server(folder: Path) -> int:
    """A language server whose editor opens a large spec and changes it."""
    file = constants(folder, 60_000).parent / "i0.yaml"
    peak = Peak(["lsp"], folder)
    incoming, outgoing = peak.process.stdout, peak.process.stdin
    assert incoming is not None, "it is a pipe"
    assert outgoing is not None, "it is a pipe"

    def send(**message: Any) -> None:
        form = json.dumps({"jsonrpc": "2.0", **message}).encode()
        outgoing.write(b"Content-Length: %d\r\n\r\n%b" % (len(form), form))
        outgoing.flush()

    def answered(number: int) -> None:
        while True:
            size = 0
            while line := incoming.readline().strip():
                size = int(line.partition(b":")[2]) if line.lower().startswith(b"content-length") else size
            if json.loads(incoming.read(size)).get("id") == number:
                return

    send(id=0, method="initialize", params={"processId": None, "rootUri": folder.as_uri(), "capabilities": {}})
    answered(0)
    send(method="initialized", params={})
    text, named = file.read_text(encoding="utf-8"), {"uri": file.as_uri()}
    send(
        method="textDocument/didOpen",
        params={"textDocument": {**named, "languageId": "yaml", "version": 0, "text": text}},
    )
    for number in range(1, _CHANGES + 1):
        changed = [{"text": text.replace("x >= 0", f"x >= {number}")}]
        send(
            method="textDocument/didChange",
            params={"textDocument": {**named, "version": number}, "contentChanges": changed},
        )
        send(method="textDocument/didSave", params={"textDocument": named})
        position = {"textDocument": named, "position": {"line": 2, "character": 10}}
        send(id=number, method="textDocument/hover", params=position)
        answered(number)
    return peak.end()


def watch(folder: Path) -> int:
    """`spec watch` of a large spec whose agent changes."""
    constants(folder, 3_100_000)
    peak = Peak(["watch", str(folder)], folder)
    agent = folder / "agent.yaml"
    for number in range(_CHANGES):
        time.sleep(1)
        agent.write_text(
            f"spec: agent/v1\nname: agent\ncandidates: [{{op: add}}]\nscore: '{number}'\n", encoding="utf-8"
        )
    return peak.end()


def main() -> None:
    """Print a row for each."""
    for session in (guard, language_server, watch):
        with tempfile.TemporaryDirectory() as folder:
            print(f"| {session.__name__} | {session(Path(folder)) / 1e6:.0f} MB |", flush=True)


if __name__ == "__main__":
    main()
