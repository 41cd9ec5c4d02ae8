"""A peer that decides calls: Cedar, by its binding `cedarpy`, behind the same lines over a socket as a guard.

Its policies say of one call what ten rules of `bench.trajectories_rules` say: it has no memory of a conversation, so
what came before a call is gathered by hand and given with it, and nothing is logged.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from importlib.util import find_spec
from typing import Any, Final

from bench.trajectories_rules import TEN

FOUND: Final = find_spec("cedarpy") is not None
MISSING: Final = "cedarpy is not installed: pip install 'specledger[bench]'"

_POLICIES: Final = {
    "payee": '{ !context.names.contains(context.to) && context.tool == "pay" }',
    "sum": '{ context.tool == "pay" && context.spent > 900 }',
    "count": "{ context.calls > 49 }",
    "repeats": "{ context.equal > 3 }",
    "approval": '{ context.tool == "pay" && context.amount > 100 && !context.approved }',
    "folder": '{ context.tool == "write" && !(context.file like "/srv/*") }',
    "command": '{ context.tool == "shell" && context.command like "*rm -rf*" }',
    "secret": '{ context.tool == "mail" && context.leaks }',
    "link": '{ context.tool == "open" && !context.linked }',
    "late": '{ context.tool == "mail" && context.vault }',
}


def policies(number: int) -> str:
    """So many policies, which forbid: ten, or those ten again under other names; and one that permits the rest."""
    forbids = [
        f'@id("{name}-{copy}") forbid(principal, action, resource) when {_POLICIES[name]};'
        for copy in range(number // 10)
        for name in TEN
    ]
    return "\n".join(["permit(principal, action, resource);", *forbids])


class Past:
    """What of a conversation the policies read, gathered by hand."""

    def __init__(self) -> None:
        self._texts = ""
        self._names: set[str] = set()
        self._keys: set[str] = set()
        self._tools: dict[str, str] = {}
        self._calls = self._spent = self._equal = 0
        self._last = ""
        self._approved = self._vault = False

    def context(self, message: dict[str, Any]) -> dict[str, Any]:
        """The context of a call."""
        tool, arguments = message["tool"], message["arguments"]
        self._tools[message["call"]] = tool
        same = json.dumps([tool, arguments])
        amount = arguments.get("amount", 0)
        spent = self._spent + amount if tool == "pay" else self._spent
        body, url = arguments.get("body", ""), arguments.get("url", "")
        return {
            "tool": tool,
            "to": arguments.get("to", ""),
            "names": sorted(self._names),
            "spent": spent,
            "calls": self._calls + 1,
            "equal": self._equal + 1 if same == self._last else 1,
            "amount": amount,
            "approved": self._approved,
            "file": arguments.get("file", ""),
            "command": arguments.get("command", ""),
            "leaks": any(key in body for key in self._keys),
            "linked": url in self._texts,
            "vault": self._vault,
        }

    def made(self, message: dict[str, Any], context: dict[str, Any]) -> None:
        """Remember a call that is allowed."""
        self._spent, self._calls = context["spent"], context["calls"]
        self._equal, self._last = context["equal"], json.dumps([message["tool"], message["arguments"]])
        self._vault = self._vault or message["tool"] == "vault"

    def said(self, text: str) -> None:
        """Remember what the user wrote."""
        self._texts += text
        self._names |= {word.strip(",.").lower() for word in text.split()}

    def came_back(self, message: dict[str, Any]) -> None:
        """Remember a result."""
        tool, content = self._tools[message["call"]], message["content"]
        if tool == "contacts":
            self._names |= {row["name"] for row in json.loads(content)}
        elif tool == "approve":
            self._approved = self._approved or json.loads(content)["ok"]
        elif tool == "search":
            self._texts += content
        elif tool == "vault":
            self._keys.add(json.loads(content)["key"])


def decider(number: int) -> Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]:
    """Answers the lines of a client by so many policies."""
    import cedarpy

    compiled, nobody = cedarpy.PolicySet.from_str(policies(number)), cedarpy.Entities.from_json_str("[]")

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        pasts: dict[str, Past] = {}
        while line := await reader.readline():
            message = json.loads(line)
            past = pasts.setdefault(message["conversation"], Past())
            answer: dict[str, Any] = {"type": "noted"}
            if message["type"] == "say" and message["speaker"] == "user":
                past.said(message["text"])
            elif message["type"] == "report":
                past.came_back(message)
            elif message["type"] == "ask":
                context = past.context(message)
                who = {"principal": 'Agent::"a"', "action": 'Action::"call"', "resource": 'Tool::"t"'}
                allowed = cedarpy.is_authorized({**who, "context": context}, compiled, nobody).allowed
                if allowed:
                    past.made(message, context)
                answer = {"type": "decision", "decision": "allow" if allowed else "deny", "call": message["call"]}
            writer.write(json.dumps(answer).encode() + b"\n")
        writer.close()

    return answer
