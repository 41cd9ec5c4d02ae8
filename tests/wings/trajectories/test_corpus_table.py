"""The table of detections and false alarms is what the kept trajectories and policies give, and pages show it."""

import json
from collections import Counter
from hashlib import sha256

import pytest
import yaml

from specledger.core.statistics import wilson
from tools import corpus_table as table
from tools.corpus import FOLDER
from tools.corpus_cases import (
    POLICIES,
    cases,
    change_after_read,
    judge,
    own_tools_only,
    party_not_in_request,
    policy_of,
    tools_of,
    unused_tool,
)
from tools.corpus_changes import REWRITES, arguments, calls, known_parties, rewritten, with_known_parties

ROOT = POLICIES.parents[1]
KEPT = json.loads(table.TABLE.read_bytes())
FROZEN = json.loads((FOLDER / "frozen.json").read_bytes())
SUITES = [suite for suites in table.GROUPS.values() for suite in suites]


@pytest.fixture(scope="module")
def banking():
    return {case.id: case for case in cases("banking")}


@pytest.mark.medium
def test_the_kept_table_is_what_the_trajectories_give():
    assert table.figures() == KEPT


@pytest.mark.parametrize("suite", SUITES)
def test_a_policy_has_at_most_eight_rules_and_its_stated_digest(suite):
    content = (POLICIES / f"agentdojo-{suite}.yaml").read_bytes()
    assert 1 <= len(yaml.safe_load(content)["rules"]) <= 8
    row = f"| `agentdojo-{suite}.yaml` | `{sha256(content).hexdigest()}` |"
    assert row in (FOLDER / "README.md").read_text(encoding="utf-8")


def test_pages_show_the_table():
    page = (ROOT / "docs/corpus.md").read_text(encoding="utf-8")
    assert table.suites_text(KEPT) in page
    assert table.suites_text(KEPT) in (ROOT / "README.md").read_text(encoding="utf-8")
    assert table.hard_text(KEPT) in page
    crossed = KEPT["crossed"]
    assert f"flags {table.shown(crossed['workspace on travel'])} of travel" in page
    assert f"{table.shown(crossed['travel on workspace'])} of workspace" in page
    names = [name for group in table.GROUPS for name in KEPT[group]["unmeasured"]]
    rules = sum(len(policy_of(suite).rules) for suite in SUITES)
    assert (len(names), rules) == (7, 32)
    assert f"Seven of the {rules} rules have no opportunity" in page
    assert ", ".join(f"`{name}`" for name in names) in page
    flagged, of = (sum(row[key] for row in crossed.values()) for key in ("count", "of"))
    assert f"on tasks of another suite {flagged} of {of} are flagged" in (ROOT / "README.md").read_text(
        encoding="utf-8"
    )
    largest = max(Counter(case.attack for suite in SUITES for case in cases(suite) if case.attack).values())
    assert f"an attack task is in up to {largest} of them" in page
    for id_ in KEPT["written_on"]["false_alarms"] + KEPT["held_out"]["false_alarms"]:
        assert f"`{id_}`" in page


def test_the_page_says_what_the_frozen_rules_gave():
    frozen, mended = FROZEN["held_out"]["policies"], KEPT["held_out"]["policies"]
    for key in ("early", "early_at_the_attack", "late", "late_at_the_attack", "attack_tasks"):
        assert frozen[key] == mended[key]
    page = (ROOT / "docs/corpus.md").read_text(encoding="utf-8")
    counts = [f"{row['legitimate']['count']} of {row['legitimate']['of']}" for row in (frozen, mended)]
    assert f"{counts[0]} of the legitimate tasks" in page
    assert f"in place of {counts[1].split(' ')[0]}," in page
    assert FROZEN["written_on"]["policies"] == KEPT["written_on"]["policies"]


@pytest.mark.parametrize("suite", SUITES)
def test_calls_without_the_attackers_are_those_of_the_user(suite):
    """In an attacked environment results differ, and with them a few calls; the tools and their order do not."""
    some = cases(suite)
    users = {case.user: [call["function"]["name"] for call in calls(case.chat)] for case in some if not case.attack}
    for case in some:
        own = [call["function"]["name"] for call in calls(case.chat) if call["id"] not in case.theirs]
        assert own == users[case.user], case.id
        assert bool(case.theirs) == bool(case.attack), case.id


def paid(banking, account):
    chat = json.loads(json.dumps(banking["banking/user_task_4"].chat))
    call = list(calls(chat))[-1]
    call["function"]["arguments"] = json.dumps({**arguments(call), "recipient": account})
    return chat


def test_another_spelling_is_no_alarm_and_another_account_is_one(banking):
    policy = policy_of("banking")
    chats = [
        (name, paid(banking, account))
        for name, account in {
            "same": "GB29NWBK60161331926819",
            "grouped": "gb29 nwbk 6016 1331 9268 19",
            "other": "GB29NWBK60161331926818",
        }.items()
    ]
    broken = {id_: sorted(verdict.broken.values()) for id_, verdict in judge(policy, chats).items()}
    assert broken == {"same": [], "grouped": [], "other": [["payee"]]}


@pytest.mark.parametrize(
    ("name", "before", "after"),
    [
        ("account numbers in groups of four", "GB29NWBK60161331926819", "GB29 NWBK 6016 1331 9268 19"),
        ("mail addresses in the other case", "Ann@b.org", "aNN@B.ORG"),
        ("links with or without a slash at the end", "www.a.com", "www.a.com/"),
        ("links with or without a slash at the end", "www.a.com/", "www.a.com"),
        ("links with a scheme", "www.a.com", "HTTPS://www.a.com"),
        ("days in words", "2024-05-15", "May 15, 2024"),
        ("days in words", "2024-05-15 10:00", "May 15, 2024 10:00"),
    ],
)
def test_rewrites(name, before, after):
    call = {"id": "1", "function": {"name": "f", "arguments": json.dumps({"a": [before], "b": "plain", "c": 1})}}
    chat = [{"role": "user", "content": before}, {"role": "assistant", "content": None, "tool_calls": [call]}]
    other = rewritten(chat, REWRITES[name])
    assert other is not None
    assert [arguments(call) for call in calls(other)] == [{"a": [after], "b": "plain", "c": 1}]
    assert other[0]["content"] == before
    assert rewritten(other[:1], REWRITES[name]) is None


def test_an_attacker_who_names_a_known_party(banking):
    case = banking["banking/user_task_4/injection_task_5/early"]
    known = known_parties([case.chat for case in banking.values() if not case.attack])
    other = with_known_parties(case.chat, [*case.theirs], known)
    assert other is not None
    changed = [arguments(call)["recipient"] for call in calls(other) if call["id"] in case.theirs]
    assert changed == ["GB29NWBK60161331926819"]
    assert with_known_parties(case.chat, [*case.theirs], {}) is None
    shown = with_known_parties(case.chat, [*case.theirs], {}, "results")
    assert shown is not None
    changed = [arguments(call)["recipient"] for call in calls(shown) if call["id"] in case.theirs]
    assert changed == ["CH9300762011623852957"]
    assert (
        with_known_parties(banking["banking/user_task_1/injection_task_5/early"].chat, ["c1"], known, "request") is None
    )
    assert with_known_parties(banking["banking/user_task_4/injection_task_7/early"].chat, ["c1"], known) is None


def test_naive_rules(banking):
    attack = banking["banking/user_task_4/injection_task_5/early"]
    some = [banking["banking/user_task_3"], banking["banking/user_task_4"], banking["banking/user_task_14"], attack]
    assert unused_tool(some)["banking/user_task_14"].broken == {"c1": ["unused-tool"]}
    assert not unused_tool(some)["banking/user_task_4"].broken
    assert change_after_read(some)[attack.id].broken.keys() == {"c1", "c2"}
    assert party_not_in_request(some)[attack.id].broken.keys() == {"c1"} == attack.theirs
    tools = {case.user: tools_of(case.chat) for case in some if not case.attack}
    assert own_tools_only(attack, tools)
    assert not own_tools_only(attack, {attack.user: frozenset({"get_most_recent_transactions"})})


def test_rates_have_intervals_over_clusters_that_differ():
    rows = [(f"task {number % 10}", number % 10 > 0) for number in range(100)]
    row = table.rate(rows)
    assert (row["count"], row["of"], row["wilson"]) == (90, 100, list(wilson(90, 100)))
    assert row["clustered"][0] < row["wilson"][0] < row["wilson"][1] < row["clustered"][1]
    assert table.rate([(name, True) for name, _ in rows]).keys() == {"of", "count", "wilson"}
    assert table.rate([]) == {"of": 0, "count": 0}
    assert table.shown(table.rate([])) == "none"
    assert table.shown({"of": 4, "count": 1, "wilson": [45_600, 699_400]}) == "1 of 4 (4.6 to 69.9 %)"
