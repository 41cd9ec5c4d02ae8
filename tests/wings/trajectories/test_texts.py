"""What scans, coverage and mutants say to people: which lines appear when, and what of long lists is left out."""

from collections import Counter

import pytest

from specledger.core.events import Severity
from specledger.core.spans import Position, Span
from specledger.core.verdict import Verdict
from specledger.wings.trajectories.coverage import Coverage, Missing, Misspelt, RuleCoverage
from specledger.wings.trajectories.coverage_text import coverage_text, misfits_text, mutants_document, mutants_text
from specledger.wings.trajectories.findings import located
from specledger.wings.trajectories.mutants.mutation import Mutants, RuleMutation
from specledger.wings.trajectories.scan import Breach, RuleCount, Scan, Unread
from specledger.wings.trajectories.scan_text import scan_document, scan_text
from specledger.wings.trajectories.tools.fit import Misfit

PLACE = Span("p.yaml", Position(4, 3), Position(4, 7))
NAME = Span("p.yaml", Position(5, 9), Position(5, 12))


def rule(**changes):
    given = {"rule": "p.r", "place": PLACE, "calls": 1, "opportunities": 1, "reachable": True, "breakable": True}
    return RuleCoverage(**{**given, "missing": (), **changes})


def missing(key, tool, meant=""):
    return Missing(key, tool, NAME, meant)


RULES = {
    "one that was reached": ({}, []),
    "no opportunity yet": (
        {"reason": "no call", "opportunities": 0},
        ["p.yaml:4:3: p.r has no opportunity yet: no call"],
    ),
    "never": (
        {"reason": "no call", "reachable": False, "hint": "did you mean `pay`?"},
        ["p.yaml:4:3: p.r can never have an opportunity: no call; did you mean `pay`?"],
    ),
    "tools that were never called": (
        {"missing": (missing("when", "pai", "pay"), missing("after", "x"), missing("since", "y"))},
        [
            "p.yaml:5:9: p.r names pai (when), which was never called; did you mean pay?",
            "p.yaml:5:9: p.r names tools that were never called: x (after), y (since)",
        ],
    ),
    "the tool that it is about is said once": (
        {"reason": "no call", "missing": (missing("when", "pai"), missing("after", "look"))},
        [
            "p.yaml:4:3: p.r has no opportunity yet: no call",
            "p.yaml:5:9: p.r names tools that were never called: look (after)",
        ],
    ),
    "only the tool that it is about": (
        {"reason": "no call", "missing": (missing("when", "pai"),)},
        ["p.yaml:4:3: p.r has no opportunity yet: no call"],
    ),
    "the tool of which the reason speaks": (
        {
            "reason": "no tool is pai",
            "breakable": False,
            "place": NAME,
            "missing": (missing("not_after", "pai", "pay"),),
        },
        ["p.yaml:5:9: p.r can never be broken: no tool is pai"],
    ),
    "arguments that no call has": (
        {"misspelt": (Misspelt("args.amont", NAME, "args.amount"),)},
        ["p.yaml:5:9: p.r reads args.amont, which no call has; did you mean args.amount?"],
    ),
    "never broken": (
        {"breakable": False, "reason": "its `require` is always true"},
        ["p.yaml:4:3: p.r can never be broken: its `require` is always true"],
    ),
}


@pytest.mark.parametrize(("changes", "lines"), RULES.values(), ids=RULES)
def test_what_is_said_of_a_rule_that_could_notice_nothing(changes, lines):
    assert list(coverage_text(Coverage((rule(**changes),), {}, {}))) == lines


@pytest.mark.parametrize(("number", "more"), [(20, ""), (21, " and 1 more")])
def test_of_long_lists_twenty_are_shown(number, more):
    names = [f"t{index:02}" for index in range(number)]
    unknown = tuple(missing("after", name) for name in names)
    lines = coverage_text(Coverage((rule(missing=unknown),), dict.fromkeys(names, 2), {"pay": tuple(names)}))
    shown = names[:20]
    assert list(lines) == [
        f"p.yaml:5:9: p.r names tools that were never called: {', '.join(f'{name} (after)' for name in shown)}{more}",
        f"tools that no rule names: {', '.join(f'{name} 2' for name in shown)}{more}",
        f"arguments that no rule reads: {', '.join(f'pay.{name}' for name in shown)}{more}",
    ]
    misfits = [Misfit("pay", "`args.to` is missing", "a.json", 0, name, 1) for name in names]
    said = list(misfits_text(misfits))
    assert said[:2] == [
        f"a.json, call {name}: 1 call of pay that does not fit: `args.to` is missing" for name in names[:2]
    ]
    assert said[20:] == [f"and{rest} that do not fit" for rest in [more[4:]] if rest]


def test_calls_that_do_not_fit_are_counted_at_the_line_of_the_first():
    (line,) = misfits_text([Misfit("pay", "`args.to` is missing", "a.jsonl", 7, "c1", 2)])
    assert line == "a.jsonl:7, call c1: 2 calls of pay that do not fit: `args.to` is missing"


@pytest.mark.parametrize(
    ("place", "text"),
    [
        (("a.json", 3, "a.json:2", "c"), "a.json:3, call c"),
        (("a.json", 3, "a.json:2", ""), "a.json:3"),
        (("a.json", 0, "a.json", "c"), "a.json, call c"),
        (("a.json", 0, "a.json:1", "c"), "a.json, call c"),
        (("a.json", 0, "a.json:2", "c"), "a.json, trajectory 2, call c"),
        (("a.json", 0, "own", ""), "a.json, trajectory own"),
        (("a.json", 0, "", ""), "a.json"),
    ],
)
def test_where_a_call_is(place, text):
    assert located(*place) == text


def mutants(*, stopped=False, **rules):
    return Mutants(7, 3, rules, stopped)


def test_a_table_of_mutants_says_which_rules_noticed_nothing():
    reached = RuleMutation({"without `require`": "one"}, ["with b"], Counter(drop=2, time=1), Counter(drop=1))
    idle = RuleMutation({}, [f"change {number}" for number in range(7)], Counter(value=3), Counter())
    none = RuleMutation()
    assert list(mutants_text(mutants(reached=reached, idle=idle, none=none, stopped=True))) == [
        "mutants, at most 3 of each sort for each rule, by the seed 7: noticed of tried",
        "rule     of the rule  drop  repeat  swap  time  value",
        "reached          1/2   1/2       -     -   0/1      -",
        "idle             0/7     -       -     -     -    0/3",
        "none             0/0     -       -     -     -      -",
        "no mutant of a trajectory changed a verdict of: idle, none",
        "no mutant of the rule itself changed a verdict of: idle",
        "reached: no verdict differs with with b",
        *[f"idle: no verdict differs with change {number}" for number in range(5)],
        "idle: and 2 mutants more",
        "the mutants ended at their bound of work: fewer logs, or fewer mutants, are judged to the end",
    ]


def test_mutants_that_are_all_noticed_need_no_remark():
    rule = RuleMutation({"a": "one"}, [], Counter(drop=1), Counter(drop=1))
    assert len(list(mutants_text(mutants(r=rule)))) == 3
    document = mutants_document(mutants(r=rule))
    assert (document["seed"], document["most"], document["stopped"]) == (7, 3, False)
    assert document["rules"]["r"] == {
        "noticed": [{"change": "a", "trajectory": "one"}],
        "unnoticed": [],
        "reached": True,
        "trajectories": {"drop": {"tried": 1, "noticed": 1}},
    }


def breach(number, **changes):
    given = {"rule": "r", "trajectory": f"t{number}", "file": "a.json", "line": number, "call": "c", "tool": "pay"}
    return Breach(**{**given, "reason": "too much", **changes})


def counted(broken=0, held=0, unjudged=0, severity=Severity.FATAL, **more):
    return RuleCount(severity, held, broken, unjudged, **more)


def scan(rule, **changes):
    return Scan({"r": rule}, trajectories=1, calls=Counter(pay=2), formats=Counter(openai=1), **changes)


@pytest.mark.parametrize(("number", "more"), [(5, []), (6, ["  and 1 more"])])
def test_five_breaches_of_a_rule_are_shown(number, more):
    rule = counted(broken=number, breaches=[breach(index) for index in range(1, number + 1)])
    lines = scan_text(scan(rule), "p").split("\n")
    start = lines.index("r: broken")
    assert lines[start + 1 : start + 6 + len(more)] == [
        *[f"  a.json:{index}, call c pay: too much" for index in range(1, 6)],
        *more,
    ]
    assert lines[start + 6 + len(more)] == ""


def test_a_breach_of_a_message_has_no_tool_and_a_long_name_is_cut():
    long = "x" * 81
    rule = counted(broken=3, breaches=[breach(1, tool=""), breach(2, tool=long), breach(3, tool=long[:80])])
    lines = scan_text(scan(rule), "p").split("\n")
    assert [line for line in lines if line.startswith("  a.json")] == [
        "  a.json:1, call c: too much",
        f"  a.json:2, call c {long[:80]}...: too much",
        f"  a.json:3, call c {long[:80]}: too much",
    ]


def test_rules_that_do_not_fail_a_run_and_rules_that_could_not_be_broken_are_marked():
    warns = counted(held=1, severity=Severity.WARN)
    harmless = counted(held=1, breakable=False)
    idle = counted(breakable=False)
    result = Scan({"w": warns, "h": harmless, "i": idle}, trajectories=2, formats=Counter(openai=2), denied=1)
    lines = scan_text(result, "p").split("\n")
    assert lines[0] == "p  PASS  2 trajectories (openai 2), 0 calls, 1 more denied by a guard"
    assert lines[1] == "no opportunity, so the verdict says nothing of: i"
    assert [line.split("  ")[0] for line in lines[3:7]] == ["rule", "w (warns)", "h (could not be broken)", "i"]
    assert lines[8:] == [
        "h could not be broken by these logs: no tool of its `not_after` was called",
    ]


def test_why_a_rule_was_not_judged_is_said_most_frequent_first():
    reasons = Counter({f"reason {number}": 1 for number in range(5)}) + Counter({"often": 3})
    lines = scan_text(scan(counted(held=1, unjudged=8, reasons=reasons, withheld=1)), "p").split("\n")
    told = [line for line in lines if line.startswith("r was")]
    assert told == [
        "r was not judged 3 times: often",
        *[f"r was not judged 1 time: reason {number}" for number in range(4)],
        "r was judged 1 time before a value was withheld, and not checked again",
    ]
    assert lines[-1] == "tools that were called: pay 2"


def test_of_the_tools_that_were_called_twenty_are_shown_most_frequent_first():
    result = scan(counted(held=1))
    result.calls = Counter({f"t{number:02}": number for number in range(1, 22)})
    assert scan_text(result, "p").split("\n")[-1] == "tools that were called: " + ", ".join(
        f"t{number:02} {number}" for number in range(21, 1, -1)
    )


@pytest.mark.parametrize(("number", "more"), [(2, []), (3, ["  and 1 more"])])
def test_what_could_not_be_read_is_counted_by_its_code(number, more):
    places = ["a.json:1: no object", "a.json:2: no object"]
    first = [Unread("a.json:1", "a.json", line, "no object") for line in (1, 2)]
    result = scan(counted(held=1), findings=Counter(E_LOG_CANONICAL=number), unread={"E_LOG_CANONICAL": first})
    lines = scan_text(result, "p").split("\n")
    start = lines.index(f"not read: E_LOG_CANONICAL (Lines that are no canonical trajectories) {number}")
    assert lines[start + 1 :] == [f"  {place}" for place in places] + more
    assert result.verdict is Verdict.INCONCLUSIVE
    assert scan_document(result, "p")["unread"]["E_LOG_CANONICAL"][1] == {
        "trajectory": "a.json:1",
        "file": "a.json",
        "line": 2,
        "message": "no object",
    }


VERDICTS = {
    "held": (counted(held=1), {}, Verdict.PASS),
    "broken": (counted(held=1, broken=1), {}, Verdict.FAIL),
    "not always judged": (counted(held=1, unjudged=1), {}, Verdict.INCONCLUSIVE),
    "broken, and not always judged": (counted(broken=1, unjudged=1), {}, Verdict.FAIL),
    "never judged": (counted(), {}, Verdict.INCONCLUSIVE),
    "only warnings": (counted(broken=1, severity=Severity.WARN), {}, Verdict.INCONCLUSIVE),
    "a call that does not fit": (counted(held=1), {"misfits": 1}, Verdict.INCONCLUSIVE),
    "broken in a log that was not read whole": (counted(broken=1), {"findings": Counter(E=1)}, Verdict.FAIL),
}


@pytest.mark.parametrize(("rule", "more", "verdict"), VERDICTS.values(), ids=VERDICTS)
def test_the_verdict_of_a_scan(rule, more, verdict):
    assert scan(rule, **more).verdict is verdict


def test_a_document_says_what_is_not_usual():
    usual = scan_document(scan(counted(held=1)), "p")
    assert "denied" not in usual
    assert not {"withheld", "breakable"} & usual["rules"]["r"].keys()
    other = scan_document(scan(counted(held=2, withheld=1, breakable=False), denied=2), "p")
    assert (other["denied"], other["rules"]["r"]["withheld"], other["rules"]["r"]["breakable"]) == (2, 1, False)
    assert (other["policy"], other["verdict"], other["rules"]["r"]["opportunities"]) == ("p", "PASS", 2)
