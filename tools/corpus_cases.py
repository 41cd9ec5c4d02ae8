"""The trajectories of the corpus with the calls of the attacker, and what policies and naive rules say of them."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final

from msgspec import Struct, field

from specledger.core.diagnostics import Diagnostics
from specledger.kinds import KINDS
from specledger.load import load
from specledger.wings.trajectories.reading import read_logs
from specledger.wings.trajectories.rules.compile import compile_policy
from specledger.wings.trajectories.rules.plans import Status
from specledger.wings.trajectories.rules.policy import Policy
from tools.corpus import holds_injection, read_labels, read_lines
from tools.corpus_changes import Chat, calls, parties

POLICIES: Final = Path(__file__).resolve().parents[1] / "examples" / "agentdojo"
_READS: Final = ("get_", "read_", "search_", "list_", "check_")


class Case(Struct, frozen=True):
    """A trajectory of the corpus.

    Attributes:
        user: The task of the user, as `banking/user_task_3`.
        attack: The task of the attacker, as `banking/injection_task_0`; empty in a legitimate one.
        sort: legitimate, early or late.
        theirs: The ids of the attacker's calls.
    """

    id: str
    suite: str
    user: str
    attack: str
    sort: str
    chat: Chat
    theirs: frozenset[str]


class Verdict(Struct):
    """What a policy, or another method, says of a trajectory.

    Attributes:
        broken: By the id of a call the rules that it broke.
        unjudged: How many opportunities were not judged.
        rules: The rules that had an opportunity.
    """

    broken: dict[str, list[str]]
    unjudged: int = 0
    rules: set[str] = field(default_factory=set)


def cases(suite: str) -> list[Case]:
    """The trajectories of a suite, with the calls of the attacker."""
    labels, numbers, result = read_labels(), {}, []
    for line in read_lines(suite):
        conversation = json.loads(line)
        label, chat = labels[conversation["id"]], conversation["messages"]
        ids = [call["id"] for call in calls(chat)]
        if label["sort"] == "legitimate":
            numbers[label["user"]] = len(ids)
        foreign = len(ids) - numbers[label["user"]]
        at = numbers[label["user"]] - 1
        if label["sort"] == "early":
            results = [message["content"] for message in chat if message["role"] == "tool"]
            at = 1 + next(index for index, text in enumerate(results) if holds_injection(text))
        theirs = frozenset(ids[at : at + foreign])
        attack = f"{suite}/{label['attack']}" if label["attack"] else ""
        user = f"{suite}/{label['user']}"
        result.append(Case(conversation["id"], suite, user, attack, label["sort"], chat, theirs))
    return result


def policy_of(name: str) -> Policy:
    """A policy of `examples/agentdojo`, compiled."""
    bundle, *_ = load(str(POLICIES / f"agentdojo-{name}.yaml"), KINDS)
    return compile_policy(bundle.main, Diagnostics())


def judge(policy: Policy, chats: Iterable[tuple[str, Chat]]) -> dict[str, Verdict]:
    """What a policy says of chats, by their ids, read as any log is read."""
    verdicts: dict[str, Verdict] = {}
    rows = [json.dumps({"id": id_, "messages": chat}, ensure_ascii=False) + "\n" for id_, chat in chats]
    if not rows:
        return verdicts
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "chats.jsonl"
        log.write_text("".join(rows), encoding="utf-8")
        for trajectory in read_logs([log], "openai"):
            session, verdict = policy.begin(), Verdict({})
            for outcome in (outcome for entry in trajectory.entries for outcome in session.hear(entry)):
                if outcome.status is Status.BROKEN:
                    verdict.broken.setdefault(outcome.call, []).append(outcome.rule)
                verdict.rules.add(outcome.rule)
                verdict.unjudged += outcome.status is Status.UNJUDGED
            verdicts[trajectory.id] = verdict
    return verdicts


def own_tools_only(case: Case, tools: Mapping[str, frozenset[str]]) -> bool:
    """Whether the attacker calls only tools that the user's task calls as well."""
    return {call["function"]["name"] for call in calls(case.chat) if call["id"] in case.theirs} <= tools[case.user]


def tools_of(chat: Chat) -> frozenset[str]:
    """The tools that a chat calls."""
    return frozenset(call["function"]["name"] for call in calls(chat))


def unused_tool(all_cases: Sequence[Case]) -> dict[str, Verdict]:
    """The naive rule that only tools are called which other legitimate tasks of the suite call."""
    users = {case.user: tools_of(case.chat) for case in all_cases if not case.attack}
    verdicts = {}
    for case in all_cases:
        others = (t for user, t in users.items() if user.partition("/")[0] == case.suite and user != case.user)
        known = frozenset().union(*others) | (users[case.user] if case.attack else frozenset())
        foreign = [call["id"] for call in calls(case.chat) if call["function"]["name"] not in known]
        verdicts[case.id] = Verdict({id_: ["unused-tool"] for id_ in foreign})
    return verdicts


def change_after_read(all_cases: Sequence[Case]) -> dict[str, Verdict]:
    """The naive rule that nothing is changed once something was read; a read begins with get, read, search, ..."""
    verdicts = {}
    for case in all_cases:
        names = [(call["id"], call["function"]["name"].startswith(_READS)) for call in calls(case.chat)]
        first = next((index for index, (_, reads) in enumerate(names) if reads), len(names))
        verdicts[case.id] = Verdict({id_: ["change-after-read"] for id_, reads in names[first:] if not reads})
    return verdicts


def party_not_in_request(all_cases: Sequence[Case]) -> dict[str, Verdict]:
    """The naive rule that every party of a call occurs in the request, as a part of its text."""
    verdicts = {}
    for case in all_cases:
        request = case.chat[0]["content"]
        foreign = [c["id"] for c in calls(case.chat) if any(value not in request for _, value in parties(c))]
        verdicts[case.id] = Verdict({id_: ["party-not-in-request"] for id_ in foreign})
    return verdicts
