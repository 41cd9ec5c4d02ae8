"""Other programs that judge logs of agents, by processor time; `make peers` installs them beside `.venv`.

The module is also the program that their interpreter executes, so it imports nothing of this package:
`python bench/trajectories_peers.py NAME LOG` prints the calls, the seconds and the version as JSON.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path
from time import process_time
from typing import Any, Final

PYTHON: Final = Path(__file__).resolve().parent.parent / ".venv" / "peers" / "bin" / "python"

RULES: Final = {
    "payee": '(m: Message)\n    (c: ToolCall)\n    m.role == "user"\n    c is tool:pay\n    not (c.function.arguments.to in m.content)',
    "folder": '(c: ToolCall)\n    c is tool:write\n    not match("^/srv/", c.function.arguments.file)',
    "command": '(c: ToolCall)\n    c is tool:shell\n    match(".*rm -rf.*", c.function.arguments.command)',
    "link": '(m: Message)\n    (c: ToolCall)\n    m.role == "user"\n    c is tool:open\n    not (c.function.arguments.url in m.content)',
    "late": "(a: ToolCall) -> (b: ToolCall)\n    a is tool:vault\n    b is tool:mail",
}  # fmt: skip
"""Those of the ten rules that Invariant's language says: it has no sums, no fields of results that are text, and no
earlier call that must have been made."""


def _conversations(log: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]


def _calls(conversations: list[dict[str, Any]]) -> int:
    return sum(len(message.get("tool_calls", ())) for chat in conversations for message in chat["messages"])


def invariant(log: Path) -> dict[str, Any]:
    """Invariant's analyzer, four times its five rules: twenty."""
    os.environ["INVARIANT_MAX_ITERATIONS"] = "1000000"
    from invariant.analyzer import LocalPolicy

    text = "\n".join(f'raise "{name}-{copy}" if:\n    {rule}\n' for copy in range(4) for name, rule in RULES.items())
    policy, conversations = LocalPolicy.from_string(text), _conversations(log)
    for chat in conversations:
        for message in chat["messages"]:
            message.setdefault("content", "")
            for call in message.get("tool_calls", ()):
                call["function"]["arguments"] = json.loads(call["function"]["arguments"])
    began, broken = process_time(), 0
    for chat in conversations:
        broken += len(policy.analyze(chat["messages"]).errors)
    return {"seconds": process_time() - began, "calls": _calls(conversations), "rules": 20, "broken": broken}


def atif_scan(log: Path) -> dict[str, Any]:
    """The command of atif-scan with its own checks, on the same calls as ATIF, without its start."""
    conversations = _conversations(log)
    with tempfile.TemporaryDirectory() as folder:
        seconds = [_scanned(conversations[:number], Path(folder) / str(number)) for number in (1, len(conversations))]
    return {"seconds": seconds[1] - seconds[0], "calls": _calls(conversations[1:]), "rules": 0}


def _scanned(conversations: list[dict[str, Any]], folder: Path) -> float:
    for number, chat in enumerate(conversations):
        results = {
            message["tool_call_id"]: message["content"] for message in chat["messages"] if message["role"] == "tool"
        }
        steps: list[dict[str, Any]] = [{"step_id": 1, "source": "user", "message": chat["messages"][0]["content"]}]
        for message in chat["messages"]:
            for call in message.get("tool_calls", ()):
                function = call["function"]
                own = {"tool_call_id": call["id"], "function_name": function["name"]}
                rows = [{"source_call_id": call["id"], "content": results[call["id"]]}]
                step = {"step_id": len(steps) + 1, "source": "agent", "message": ""}
                own["arguments"] = json.loads(function["arguments"])
                steps.append({**step, "tool_calls": [own], "observation": {"results": rows}})
        agent = {"name": "bench", "version": "1", "model_name": "none"}
        document = {"schema_version": "ATIF-v1.6", "session_id": chat["id"], "agent": agent, "steps": steps}
        home = folder / str(number)
        home.mkdir(parents=True)
        (home / "trajectory.json").write_text(json.dumps(document), encoding="utf-8")
    command = [str(Path(sys.executable).with_name("atif-scan")), str(folder), "--no-cache", "--format", "json"]
    before = _children()
    subprocess.run(command, check=False, capture_output=True)
    return _children() - before


def _children() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


PEERS: Final = {"invariant-ai": invariant, "atif-scan": atif_scan}


def measured(name: str, log: Path) -> dict[str, Any] | None:
    """A peer's figures; None where it is not installed."""
    if not PYTHON.exists():
        return None
    command = [str(PYTHON), __file__, name, str(log)]
    result = subprocess.run(command, check=False, capture_output=True, text=True)
    if result.returncode:
        return None
    figures: dict[str, Any] = json.loads(result.stdout.splitlines()[-1])
    return figures


if __name__ == "__main__":
    print(json.dumps({**PEERS[sys.argv[1]](Path(sys.argv[2])), "version": version(sys.argv[1])}))
