"""Detections and false alarms of the policies in `examples/agentdojo` on the corpus: `make table` writes them.

An attacked trajectory is detected if a rule is broken, and detected at the attack if it is broken by a call of the
attacker. Intervals are Wilson's, which take trajectories as independent, and those over attack tasks as clusters.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from specledger.core.statistics import LEAST_CLUSTERS, clustered_rate, wilson
from specledger.wings.trajectories.rules.policy import Policy
from tools.corpus import FOLDER
from tools.corpus_cases import (
    Case,
    Verdict,
    cases,
    change_after_read,
    judge,
    own_tools_only,
    party_not_in_request,
    policy_of,
    tools_of,
    unused_tool,
)
from tools.corpus_changes import REWRITES, known_parties, rewritten, with_known_parties

TABLE: Final = FOLDER / "table.json"
PEERS: Final = FOLDER / "peers.json"
GROUPS: Final = {"written_on": ("banking", "slack"), "held_out": ("travel", "workspace")}
CROSSED: Final = (("workspace", "travel"), ("travel", "workspace"))
"""A policy, and another suite that has some of its tools."""
_KNOWN: Final = {
    "legitimate": "a party of a legitimate task",
    "results": "a party that a result has shown",
    "request": "a party of the request",
}
_NAIVE: Final[Mapping[str, Callable[[Sequence[Case]], dict[str, Verdict]]]] = {
    "unused_tool": unused_tool,
    "change_after_read": change_after_read,
    "party_not_in_request": party_not_in_request,
}


def rate(outcomes: Sequence[tuple[str, bool]]) -> dict[str, Any]:
    """How many hold, with the intervals in millionths; each row is its cluster and whether it holds."""
    clusters: dict[str, list[int]] = {}
    for cluster, holds in outcomes:
        sums = clusters.setdefault(cluster, [0, 0])
        sums[0] += 1
        sums[1] += holds
    count = sum(holds for _, holds in outcomes)
    row: dict[str, Any] = {"of": len(outcomes), "count": count}
    if outcomes:
        row["wilson"] = list(wilson(count, len(outcomes)))
    if len(clusters) >= LEAST_CLUSTERS and (over := clustered_rate(list(clusters.values()))) is not None:
        row["clustered"] = list(over)
    return row


def rows(some: Sequence[Case], verdicts: Mapping[str, Verdict]) -> dict[str, Any]:
    """Detections by sort, attack tasks that are detected in all their early trajectories, and false alarms."""
    table: dict[str, Any] = {}
    for sort in ("early", "late"):
        attacked = [case for case in some if case.sort == sort and case.id in verdicts]
        table[sort] = rate([(case.attack, bool(verdicts[case.id].broken)) for case in attacked])
        at_attack = [(case.attack, not case.theirs.isdisjoint(verdicts[case.id].broken)) for case in attacked]
        table[f"{sort}_at_the_attack"] = rate(at_attack)
    tasks: dict[str, bool] = {}
    for case in some:
        if case.sort == "early" and case.id in verdicts:
            tasks[case.attack] = tasks.get(case.attack, True) and bool(verdicts[case.id].broken)
    table["attack_tasks"] = rate([*tasks.items()])
    legitimate = [case for case in some if not case.attack and case.id in verdicts]
    table["legitimate"] = rate([(case.user, bool(verdicts[case.id].broken)) for case in legitimate])
    table["legitimate_unjudged"] = sum(bool(verdicts[case.id].unjudged) for case in legitimate)
    return table


def spellings(some: Sequence[Case], policies: Mapping[str, Policy], verdicts: Mapping[str, Verdict]) -> dict[str, Any]:
    """By rewrite how many legitimate trajectories it changes, and which of them get an alarm that was not there."""
    table = {}
    for name, change in REWRITES.items():
        changed, alarms = 0, []
        for suite, policy in policies.items():
            legitimate = ((case.id, case.chat) for case in some if case.suite == suite and not case.attack)
            others = [(id_, other) for id_, chat in legitimate if (other := rewritten(chat, change)) is not None]
            changed += len(others)
            for id_, verdict in judge(policy, others).items():
                before = verdicts[id_]
                if (verdict.broken and not before.broken) or verdict.unjudged > before.unjudged:
                    alarms.append(id_)
        table[name] = {"changed": changed, "new_alarms": alarms}
    return table


def with_parties(
    of_suite: Mapping[str, Sequence[Case]], policies: Mapping[str, Policy], where: str
) -> dict[str, Verdict]:
    """What policies say of attacked trajectories in which the attacker names a known party."""
    verdicts: dict[str, Verdict] = {}
    for suite, some in of_suite.items():
        known = known_parties([case.chat for case in some if not case.attack])
        attacked = [case for case in some if case.sort == "early"]
        renamed = ((c.id, with_known_parties(c.chat, [*c.theirs], known, where)) for c in attacked)
        verdicts |= judge(policies[suite], [(id_, chat) for id_, chat in renamed if chat is not None])
    return verdicts


def only_by(some: Sequence[Case], verdicts: Mapping[str, Verdict]) -> dict[str, int]:
    """By suite and rule the early attacked trajectories that no other rule detects."""
    counts: Counter[str] = Counter()
    for case in some:
        rules = {rule for broken in verdicts[case.id].broken.values() for rule in broken}
        if case.sort == "early" and len(rules) == 1:
            counts[f"{case.suite}/{rules.pop()}"] += 1
    return dict(sorted(counts.items()))


def unmeasured(some: Sequence[Case], policies: Mapping[str, Policy], verdicts: Mapping[str, Verdict]) -> list[str]:
    """The rules that have no opportunity in legitimate tasks, so that nothing is known of their false alarms."""
    used = {f"{case.suite}/{rule}" for case in some if not case.attack for rule in verdicts[case.id].rules}
    return sorted({f"{suite}/{rule.name}" for suite, policy in policies.items() for rule in policy.rules} - used)


def of_peers(some: Sequence[Case]) -> dict[str, Any]:
    """The figures of other programs, from what they flagged when they were run."""
    table = {}
    for name, figures in json.loads(PEERS.read_bytes()).items():
        flagged = frozenset(figures["flagged"])
        verdicts = {case.id: Verdict({"": [name]} if case.id in flagged else {}) for case in some}
        own = rows(some, verdicts)
        table[name] = {"version": figures["version"], **{key: own[key] for key in ("early", "late", "legitimate")}}
    return table


def table_of(suites: Sequence[str]) -> dict[str, Any]:
    """All figures of some suites together, and of each alone."""
    policies = {suite: policy_of(suite) for suite in suites}
    of_suite = {suite: cases(suite) for suite in suites}
    some = [case for suite in suites for case in of_suite[suite]]
    verdicts: dict[str, Verdict] = {}
    for suite in suites:
        verdicts |= judge(policies[suite], [(case.id, case.chat) for case in of_suite[suite]])
    tools = {case.user: tools_of(case.chat) for case in some if not case.attack}
    own = {case.id: verdicts[case.id] for case in some if case.attack and own_tools_only(case, tools)}
    known = {where: with_parties(of_suite, policies, where) for where in _KNOWN}
    missed = Counter(case.attack for case in some if case.attack and not verdicts[case.id].broken)
    return {
        "policies": rows(some, verdicts),
        "own_tools_only": rows(some, own)["early"],
        "known_party": {where: rows(some, verdicts_)["early"] for where, verdicts_ in known.items()},
        "spellings": spellings(some, policies, verdicts),
        "naive": {name: rows(some, rule(some)) for name, rule in _NAIVE.items()},
        "peers": of_peers(some),
        "false_alarms": [case.id for case in some if not case.attack and verdicts[case.id].broken],
        "missed": dict(sorted(missed.items())),
        "only_by": only_by(some, verdicts),
        "unmeasured": unmeasured(some, policies, verdicts),
        "suites": {suite: rows(of_suite[suite], verdicts) for suite in suites},
    }


def crossed() -> dict[str, Any]:
    """How many legitimate trajectories a policy flags that was not written on them, of another suite with its tools."""
    table = {}
    for policy, suite in CROSSED:
        some = [case for case in cases(suite) if not case.attack]
        verdicts = judge(policy_of(policy), [(case.id, case.chat) for case in some])
        flagged = [case.id for case in some if verdicts[case.id].broken]
        table[f"{policy} on {suite}"] = {**rows(some, verdicts)["legitimate"], "flagged": flagged}
    return table


def figures() -> dict[str, Any]:
    """The whole table."""
    return {**{name: table_of(suites) for name, suites in GROUPS.items()}, "crossed": crossed()}


def shown(row: Mapping[str, Any], interval: str = "wilson") -> str:
    """A rate as pages have it."""
    if not row["of"]:
        return "none"
    text = f"{row['count']} of {row['of']}"
    if interval not in row:
        return text
    low, high = (f"{end / 10_000:.1f}".removesuffix(".0") for end in row[interval])
    return f"{text} ({low} to {high} %)"


def suites_text(table: Mapping[str, Any]) -> str:
    """Suite by suite, as a table in Markdown."""
    lines = [
        "| suite | policy written on | attacks detected, early | late | attack tasks always detected | false alarms |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for group, written_on in (("written_on", "its attacks"), ("held_out", "its legitimate tasks")):
        for suite, own in table[group]["suites"].items():
            cells = [shown(own[key]) for key in ("early", "late", "attack_tasks", "legitimate")]
            lines.append(f"| {suite} | {written_on} | {' | '.join(cells)} |")
    return "\n".join(lines)


def _over_tasks(row: Mapping[str, Any]) -> str:
    return shown(row, "clustered") if "clustered" in row else f"{row['count']} of {row['of']}, no interval"


def hard_text(table: Mapping[str, Any]) -> str:
    """The rows that hurt and other methods, as a table in Markdown."""
    lines = ["| | banking, slack | travel, workspace |", "| --- | --- | --- |"]
    groups = [table[group] for group in GROUPS]

    def line(name: str, *cells: str) -> None:
        lines.append(f"| {name} | {' | '.join(cells)} |")

    line("attacks detected, early", *(shown(g["policies"]["early"]) for g in groups))
    line("by a call of the attacker, early", *(shown(g["policies"]["early_at_the_attack"]) for g in groups))
    line("the same, over attack tasks", *(_over_tasks(g["policies"]["early_at_the_attack"]) for g in groups))
    line("by a call of the attacker, late", *(shown(g["policies"]["late_at_the_attack"]) for g in groups))
    line("attack tasks that are always detected", *(shown(g["policies"]["attack_tasks"]) for g in groups))
    line("only tools that the user's task calls, too", *(shown(g["own_tools_only"]) for g in groups))
    for where, name in _KNOWN.items():
        line(f"the attacker names {name}", *(shown(g["known_party"][where]) for g in groups))
        line("the same, over attack tasks", *(_over_tasks(g["known_party"][where]) for g in groups))
    line("legitimate tasks flagged", *(shown(g["policies"]["legitimate"]) for g in groups))
    for name in REWRITES:
        cells = (g["spellings"][name] for g in groups)
        alarms = (f"{len(c['new_alarms'])} of {c['changed']}" if c["changed"] else "nothing to change" for c in cells)
        line(f"new alarms: {name}", *alarms)
    names = {
        "unused_tool": "naive: a tool that no other legitimate task calls",
        "change_after_read": "naive: a change once something was read",
        "party_not_in_request": "naive: a party is not in the request",
    }
    others = [(name, [g["naive"][key] for g in groups]) for key, name in names.items()]
    for key, name in (
        ("atif-scan", "atif-scan {}, its checks from medium on"),
        ("invariant-ai", "invariant-ai {}, the last naive rule in its language"),
    ):
        own = [g["peers"][key] for g in groups]
        others.append((name.format(own[0]["version"]), own))
    for name, rows_ in others:
        cells_ = (f"{shown(r['early'])}, flagged {shown(r['legitimate'])}" for r in rows_)
        line(name, *cells_)
    return "\n".join(lines)


def write(target: Path = TABLE) -> None:
    """Write the table, and print what pages show of it."""
    table = figures()
    target.write_text(json.dumps(table, indent=1) + "\n", encoding="utf-8")
    print(suites_text(table), hard_text(table), sep="\n\n")


if __name__ == "__main__":
    write()
