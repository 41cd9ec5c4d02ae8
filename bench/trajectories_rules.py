"""Logs of an agent, rules over them, and the same rules by hand in plain Python."""

from __future__ import annotations

import json
import posixpath
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final, cast

from specledger.wings.trajectories.model import Call, Message, Result, Speaker, Trajectory

CALLS: Final = 50
"""Calls of a trajectory."""
_NAMES: Final = ("alice", "bob", "carol", "dave")

TEN: Final[dict[str, dict[str, Any]]] = {
    "payee": {"when": {"tool": "pay"}, "each": "args.to", "from": ["request", {"result_of": "contacts", "field": "name"}]},
    "sum": {"when": {"tool": "pay"}, "read": {"amount": {"path": "args.amount", "as": "int"}}, "memory": {"spent": {"sum": "amount"}}, "require": "spent <= 900"},
    "count": {"memory": {"calls": {"count": {}}}, "require": "calls <= 49"},
    "repeats": {"memory": {"equal": {"repeats": {}}}, "require": "equal <= 3"},
    "approval": {
        "when": {"tool": "pay", "if": "amount > 100"},
        "read": {"amount": {"path": "args.amount", "as": "int"}},
        "after": {"tool": "approve", "read": {"ok": {"path": "result.ok", "as": "bool"}}, "if": "ok"},
    },
    "folder": {"when": {"tool": "write"}, "read": {"file": {"path": "args.file", "as": "text"}}, "require": "file.startsWith('/srv/')"},
    "command": {"when": {"tool": "shell"}, "read": {"wipes": {"path": "args.command", "matches": "\\brm\\s+-rf\\b"}}, "require": "!wipes"},
    "secret": {"when": {"tool": "mail"}, "each": "args.body", "not_from": [{"result_of": "vault", "field": "key"}]},
    "link": {"when": {"tool": "open"}, "each": "args.url", "from": ["request", {"text_of": "search"}]},
    "late": {"when": {"tool": "mail"}, "not_after": {"tool": "vault"}},
}  # fmt: skip


def rules(number: int) -> dict[str, Any]:
    """A policy of so many rules: ten, or those ten again under other names."""
    names = [f"{name}-{copy}" for copy in range(number // 10) for name in TEN]
    return {"rules": {name: TEN[name.partition("-")[0]] for name in names}}


def call(number: int) -> tuple[str, dict[str, Any], Any]:
    """The tool, the arguments and the result of a call of a trajectory; a result that is a text stands for itself."""
    at, name = number % 10, _NAMES[number // 10 % 4]
    made: tuple[tuple[str, dict[str, Any], Any], ...] = (
        ("contacts", {"query": name}, [{"name": "alice", "mail": "a@example.org"}, {"name": "bob", "mail": "b@example.org"}]),
        ("approve", {"amount": 150}, {"ok": number % 20 == 1}),
        ("pay", {"to": name, "amount": 50 + number}, {"state": "sent", "id": number}),
        ("search", {"query": f"offers {number}"}, f"An offer of the week stands at https://shop.example/{number} and costs {number} euros. " * 4),
        ("open", {"url": f"https://shop.example/{number - 1 - number % 3}"}, "A page with words about what it sells. " * 8),
        ("shell", {"command": "rm -rf /tmp/x" if number % 30 == 5 else f"ls -l folder{number}"}, "total 0\n" * 5),
        ("write", {"file": f"/{'srv' if number % 20 == 6 else 'etc'}/f{number}", "text": "some lines of text\n" * 5}, "written"),
        ("vault", {"name": "token"}, {"key": f"sk-{number:08d}-abcdefgh"}) if number > 30 else ("read", {"file": "a"}, "text " * 30),
        ("mail", {"to": name, "body": f"The key is sk-{number - 1:08d}-abcdefgh, {name}." if number % 20 == 18 else "Good morning."}, "sent"),
        ("read", {"file": "same"}, "The same text each time. " * 6),
    )  # fmt: skip
    return made[at]


def conversation(number: int) -> dict[str, Any]:
    """A conversation of `CALLS` calls as chat messages."""
    messages: list[dict[str, Any]] = [{"role": "user", "content": f"Pay carol, and look at offer {number}."}]
    for index in range(CALLS):
        tool, arguments, result = call(index)
        function = {"name": tool, "arguments": json.dumps(arguments)}
        messages.append(
            {"role": "assistant", "tool_calls": [{"id": f"c{index}", "type": "function", "function": function}]}
        )
        content = result if isinstance(result, str) else json.dumps(result)
        messages.append({"role": "tool", "tool_call_id": f"c{index}", "content": content})
    return {"id": f"log-{number}", "messages": messages}


def write_logs(path: Path, calls: int) -> None:
    """Write chat messages with so many calls, `CALLS` in each conversation."""
    with path.open("w", encoding="utf-8") as file:
        file.writelines(f"{json.dumps(conversation(number))}\n" for number in range(calls // CALLS))


class ByHand:
    """The ten rules in plain Python, for one trajectory."""

    def __init__(self) -> None:
        """Begin with nothing read."""
        self.outcomes: Counter[tuple[str, bool]] = Counter()
        self._request, self._searched, self._tools = "", "", dict[str, str]()
        self._names, self._keys = set[str](), set[str]()
        self._calls = self._spent = self._equal = 0
        self._last: tuple[str, Any] | None = None
        self._approved = self._vault = False

    def hear(self, entry: object) -> None:
        """Judge a call, or learn from a message or a result."""
        if isinstance(entry, Message):
            self._request += str(entry.text).lower() if entry.speaker is Speaker.USER else ""
        elif isinstance(entry, Call):
            self._judge(entry.tool, cast("dict[str, Any]", entry.arguments))
            self._tools[entry.id] = entry.tool
        elif isinstance(entry, Result):
            self._learn(self._tools[entry.call], entry.content)

    def _learn(self, tool: str, text: Any) -> None:
        if tool == "contacts":
            self._names.update(row["name"] for row in json.loads(text))
        elif tool == "approve":
            self._approved = self._approved or json.loads(text)["ok"]
        elif tool == "search":
            self._searched += text.lower()
        elif tool == "vault":
            self._keys.add(json.loads(text)["key"])

    def _judge(self, tool: str, arguments: Mapping[str, Any]) -> None:
        say = self._say
        self._calls += 1
        self._equal = self._equal + 1 if self._last == (tool, arguments) else 1
        self._last = (tool, arguments)
        say("count", self._calls <= 49)
        say("repeats", self._equal <= 3)
        if tool == "pay":
            to, amount = arguments["to"].lower(), arguments["amount"]
            self._spent += amount
            say("payee", to in self._names or _has_words(self._request, to))
            say("sum", self._spent <= 900)
            if amount > 100:
                say("approval", self._approved)
        elif tool == "write":
            say("folder", posixpath.normpath(arguments["file"]).startswith("/srv/"))
        elif tool == "shell":
            say("command", re.search(r"\brm\s+-rf\b", arguments["command"]) is None)
        elif tool == "mail":
            say("secret", not any(key in arguments["body"] for key in self._keys))
            say("late", not self._vault)
        elif tool == "open":
            url = arguments["url"].lower()
            say("link", _has_words(self._request, url) or _has_words(self._searched, url))
        elif tool == "vault":
            self._vault = True

    def _say(self, rule: str, held: bool) -> None:
        self.outcomes[rule, held] += 1


def _has_words(text: str, words: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(words)}(?!\w)", text) is not None


def by_hand(trajectories: Iterable[Trajectory], copies: int) -> Counter[tuple[str, bool]]:
    """What the ten rules, so many times, say of trajectories."""
    outcomes: Counter[tuple[str, bool]] = Counter()
    for trajectory in trajectories:
        sessions = [ByHand() for _ in range(copies)]
        for entry in trajectory.entries:
            for session in sessions:
                session.hear(entry)
        for session in sessions:
            outcomes.update(session.outcomes)
    return outcomes
