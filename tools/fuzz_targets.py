"""What reads inputs from outside, and what holds whatever they are."""

from __future__ import annotations

import asyncio
import io
import json
import re
import shutil
import sys
from collections.abc import Iterable, Mapping, Sequence
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any, Final
from unittest.mock import patch

from specledger.core.canonical import NotCanonical, canonical_bytes, parse_canonical
from specledger.core.log_json import parse_log_json
from specledger.kinds import load
from specledger.oracles.answer import received
from specledger.wings.guard import hook
from specledger.wings.guard.protocol import Refusal, read_message
from specledger.wings.guard.service import GuardService
from tools.fuzz_forged import Forged
from tools.fuzz_mcp import Authoring
from tools.fuzz_target import ROOT, TOY, Target, bytes_of, command, findings_of

_MOST_SEED: Final = 12_000  # bytes


class Specs(Target):
    """A spec file: findings have lines in it, and two checks say the same."""

    name = "spec"

    def seeds(self) -> list[bytes]:
        """As in `Target`."""
        files = [*(ROOT / "specs").rglob("*.yaml"), *(ROOT / "tests/toys").rglob("*.yaml")]
        return [path.read_bytes() for path in sorted(files) if path.stat().st_size < _MOST_SEED]

    def run(self, data: bytes) -> None:
        """As in `Target`."""
        file = self.folder / "given.yaml"
        file.write_bytes(data)
        status, output, messages = command("check", file, "--format", "json")
        if not output:
            assert status == 2, messages
            return
        findings = findings_of(output)
        assert (status == 0) == (not any(finding["severity"] == "error" for finding in findings)), output
        for finding in findings:
            assert finding["file"] is None or finding["line"] >= 1, finding
        if len(data) % 4 == 0:
            assert command("check", file, "--format", "json") == (status, output, messages), "two checks differ"


class Runs(Target):
    """A part of a scenario: it runs twice with the same bytes, which are verified, or says why it does not."""

    name = "run"

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.specs = folder / "specs"
        shutil.copytree(TOY, self.specs)

    def seeds(self) -> list[bytes]:
        """As in `Target`."""
        return [path.read_bytes() for path in sorted(TOY.glob("*.yaml"))]

    def run(self, data: bytes) -> None:
        """As in `Target`."""
        kind = re.match(rb"spec: ([a-z]+)/v1\s+name: ([a-z]+)\s", data)
        names = {path.stem: path for path in TOY.glob("*.yaml")}
        file = self.specs / f"{kind[2].decode() if kind and kind[2].decode() in names else 'climb'}.yaml"
        before = file.read_bytes()
        outputs = [self.folder / name for name in ("one", "two")]
        try:
            file.write_bytes(data)
            limits = ("--set=episodes=1", "--set=horizon=3", "--workers=1")
            ended = [command("run", self.specs / "climb.yaml", *limits, "--out", folder)[0] for folder in outputs]
            assert ended[0] == ended[1], "two runs end otherwise"
            bundles = [bytes_of(folder) for folder in outputs if folder.exists()]
            assert len(bundles) in (0, 2), "one of two runs has evidence"
            if bundles:
                assert bundles[0] == bundles[1], "two runs have other bytes"
                status, output, _ = command("verify", outputs[0], "--format", "json")
                assert status in (0, 3), f"evidence that was just written is not verified: {output[-1500:]}"
        finally:
            file.write_bytes(before)
            for folder in outputs:
                shutil.rmtree(folder, ignore_errors=True)


class Bundles(Target):
    """A file of a bundle: no changed bundle is verified whose result is another one.

    The first line of an input says which file it is.
    """

    name = "bundle"

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.whole, self.given = folder / "whole", folder / "given"
        status, _, messages = command("run", TOY / "climb.yaml", "--out", self.whole)
        assert self.whole.exists(), (status, messages)
        self.names = bytes_of(self.whole).keys()
        self.result = json.loads((self.whole / "manifest.json").read_bytes())["result"]

    def seeds(self) -> list[bytes]:
        """As in `Target`."""
        return [name.encode() + b"\n" + data for name, data in sorted(bytes_of(self.whole).items())]

    def run(self, data: bytes) -> None:
        """As in `Target`."""
        name, _, content = data.partition(b"\n")
        shutil.rmtree(self.given, ignore_errors=True)
        shutil.copytree(self.whole, self.given)
        known = name.decode("ascii", "replace")
        file = self.given / (known if known in self.names else "receipts.jsonl")
        same = file.read_bytes() == content
        file.write_bytes(content)
        status, output, _ = command("verify", self.given, "--format", "json")
        if output:
            json.loads(output)
        if status == 0 and not same:
            result = json.loads((self.given / "manifest.json").read_bytes())["result"]
            assert result == self.result, "a changed bundle is verified, and its result is another one"


class Logs(Target):
    """A log of an agent: findings, or canonical lines, which are read again as themselves."""

    name = "log"

    def seeds(self) -> list[bytes]:
        """As in `Target`."""
        files = [path for path in (ROOT / "fixtures/trajectories").rglob("*.json*") if path.stat().st_size < _MOST_SEED]
        return [path.read_bytes() for path in sorted(files) if path.suffix != ".xz"]

    def run(self, data: bytes) -> None:
        """As in `Target`."""
        log, lines, again = self.folder / "log.jsonl", self.folder / "lines.jsonl", self.folder / "again.jsonl"
        log.write_bytes(data)
        for path in (lines, again):
            path.unlink(missing_ok=True)
        command("import", log, "--out", lines)
        if lines.exists():
            command("import", lines, "--out", again)
            assert again.read_bytes() == lines.read_bytes(), "canonical lines are read as other ones"


class Guards(Target):
    """Messages to a guard: each has an answer or a refusal, and the guard that goes on afterwards says the same."""

    name = "guard"

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        (self.bundle,) = load(ROOT / "tests/wings/guard/office/specs/scenario/office.yaml")
        self.number = 0

    def seeds(self) -> list[bytes]:
        """As in `Target`."""
        begin: dict[str, Any] = {"type": "begin", "id": 1, "protocol": "specledger/guard/v1", "conversation": "c"}
        rest: list[dict[str, Any]] = [
            {"type": "say", "speaker": "user", "text": "Send it to ann@example.com", "unless_argument": "body"},
            {"type": "ask", "tool": "send_email", "call": "1", "arguments": {"to": "ann@example.com", "body": "x"}},
            {"type": "report", "call": "1", "content": "sent", "error": False},
            {"type": "ask", "tool": "read_file", "arguments": {"path": "a"}, "batch": 3, "wait_ms": 0},
            {"type": "note", "code": "E_TOOL_CHANGED", "message": "changed"},
            {"type": "end"},
        ]
        messages = [begin, *({**message, "id": 2, "conversation": "c"} for message in rest)]
        lines = [json.dumps(message).encode() + b"\n" for message in messages]
        return [b"".join(lines), *(lines[0] + line for line in lines), b"".join(lines[:3] * 2)]

    def run(self, data: bytes) -> None:
        """As in `Target`."""
        self.number += 1
        logs = self.folder / f"guard{self.number}"
        for name in ("logs", "sealed"):
            (logs / name).mkdir(parents=True)
        asyncio.run(self._answer(data.splitlines()[:20], logs))
        shutil.rmtree(logs)

    async def _answer(self, lines: Iterable[bytes], logs: Path) -> None:
        service = GuardService(self.bundle, logs)
        try:
            for line in lines:
                try:
                    answer = await service.answer(read_message(line))
                except Refusal:
                    continue
                assert answer["type"] != "decision" or answer["decision"] in ("allow", "deny"), answer
        finally:
            service.close()
        again = GuardService(self.bundle, logs)
        try:
            left = await again.seal_left()
            assert all(answer["type"] == "ended" for answer in left.values()), left
        finally:
            again.close()


class Hooks(Target):
    """An event of Claude Code and a guard's answer: a call that nobody allowed is denied."""

    name = "hook"

    def seeds(self) -> list[bytes]:
        """As in `Target`."""
        event = {"session_id": "s", "hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_use_id": "t"}
        events: list[dict[str, Any]] = [
            {**event, "tool_input": {"command": "ls"}},
            {**event, "hook_event_name": "UserPromptSubmit", "prompt": "<x> do"},
            {**event, "hook_event_name": "PostToolUse", "tool_response": {"stdout": "a"}},
            {**event, "hook_event_name": "PostToolBatch", "tool_calls": [{"tool_use_id": "t", "tool_response": 1}]},
            {**event, "hook_event_name": "SessionEnd"},
        ]
        answers: list[dict[str, Any]] = [
            {"type": "decision", "decision": "allow", "receipt": "r", "reason": "", "unjudged": False},
            {"type": "decision", "decision": "deny", "receipt": "r", "reason": "no"},
            {"type": "error", "code": "E_GUARD_CALL", "message": "m"},
        ]
        return [
            json.dumps(event).encode() + b"\n" + json.dumps(answer).encode() for event in events for answer in answers
        ]

    def run(self, data: bytes) -> None:
        """As in `Target`."""
        given, _, answered = data.partition(b"\n")
        answer = _read(answered)
        answer = answer if isinstance(answer, dict) and isinstance(answer.get("type"), str) else {"type": "error"}

        class Stub:
            def __init__(self, *_: Any, **__: Any) -> None:
                pass

            def __enter__(self) -> Stub:
                return self

            def __exit__(self, *_: object) -> None:
                pass

            def tell(self, kind: str, **_: Any) -> dict[str, Any]:
                return {"type": "begun"} if kind == "begin" else answer

        out = io.TextIOWrapper(io.BytesIO(), write_through=True)
        with (
            patch.object(hook, "Guard", Stub),
            patch.object(sys, "stdin", io.TextIOWrapper(io.BytesIO(given))),
            redirect_stdout(out),
        ):
            assert hook.main(["--socket", "s", "--fail", "closed"]) == 0
        output = out.buffer.getvalue()
        reply = json.loads(output) if output else {}
        event = _read(given)
        kind = event.get("hook_event_name") if isinstance(event, dict) else None
        allowed = answer.get("type") == "decision" and answer.get("decision") == "allow"
        if kind == "PreToolUse" and not allowed:
            assert reply["hookSpecificOutput"]["permissionDecision"] == "deny", reply


def _read(data: bytes) -> Any:
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        return None


class Answers(Target):
    """Bytes that an agent outside answers: they are an answer or a fault of the agent."""

    name = "answer"

    def seeds(self) -> list[bytes]:
        """As in `Target`."""
        return [b'{"proposals":[{"op":"climb","args":{"by":1},"claims":{"top":1}}]}', b"[]", b'{"proposals":[]}']

    def run(self, data: bytes) -> None:
        """As in `Target`."""
        assert received(data).size == len(data)
        for parse in (parse_canonical, parse_log_json):
            try:
                document = parse(data)
            except (NotCanonical, ValueError):
                continue
            if parse is parse_canonical:
                assert canonical_bytes(document) == canonical_bytes(parse(canonical_bytes(document)))


_ALL: Final[Sequence[type[Target]]] = (Specs, Runs, Bundles, Forged, Logs, Guards, Hooks, Authoring, Answers)
TARGETS: Final[Mapping[str, type[Target]]] = {target.name: target for target in _ALL}
