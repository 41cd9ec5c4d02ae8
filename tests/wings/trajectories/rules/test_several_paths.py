"""A rule over the values at several paths: each value counts, and there is an opportunity where one path leads to one."""

import pytest

from specledger.core.diagnostics import Rejected
from specledger.wings.trajectories.model import Call, Message, Speaker
from specledger.wings.trajectories.rules.plans import Status
from tests.wings.trajectories.rules.test_withheld import DIGEST, outcomes
from tests.wings.trajectories.test_scan import chat

HELD, BROKEN, UNJUDGED = Status.HELD, Status.BROKEN, Status.UNJUDGED
RULE = "{when: {tool: mail}, each: [args.to, args.cc], as: email, from: [request]}"
SENT = {
    "both were named": ({"to": "ann@a.example", "cc": ["bob@a.example"]}, [HELD]),
    "one of the second was not": ({"to": "ann@a.example", "cc": ["eve@b.example"]}, [BROKEN]),
    "the first was not": ({"to": "eve@b.example", "cc": []}, [BROKEN]),
    "the second alone": ({"cc": "bob@a.example"}, [HELD]),
    "one is withheld": ({"to": "ann@a.example", "cc": DIGEST}, [UNJUDGED]),
    "one is withheld, and the other was not named": ({"to": "eve@b.example", "cc": DIGEST}, [BROKEN]),
    "the first is withheld, and the other was not named": ({"to": DIGEST, "cc": "eve@b.example"}, [BROKEN]),
    "one of a list is withheld": ({"to": [DIGEST, "eve@b.example"]}, [BROKEN]),
    "one of a list is withheld, the other named": ({"to": [DIGEST, "bob@a.example"]}, [UNJUDGED]),
    "one is no address, and the other was not named": ({"to": "Ann", "cc": "eve@b.example"}, [BROKEN]),
    "one is no address": ({"to": "Ann", "cc": "bob@a.example"}, [UNJUDGED]),
    "all are withheld": ({"to": DIGEST, "cc": DIGEST}, [UNJUDGED]),
    "neither": ({"to": None, "cc": []}, []),
}


@pytest.mark.parametrize("case", SENT)
def test_every_value_at_each_path_is_judged(tmp_path, case):
    arguments, expected = SENT[case]
    asked = Message(Speaker.USER, "Write to ann@a.example and bob@a.example.")
    assert [o.status for o in outcomes(tmp_path, RULE, [asked, Call("1", "mail", arguments)])] == expected


def test_what_is_said_is_of_the_value_that_is_there(tmp_path):
    asked = Message(Speaker.USER, "Write to ann@a.example.")
    rule = RULE.replace("from: [request]", "from: [request], after: {tool: look}")
    call = Call("1", "mail", {"to": "ann@a.example", "cc": ["eve@b.example", DIGEST]})
    (outcome,) = outcomes(tmp_path, rule, [asked, call])
    assert (outcome.status, outcome.value, outcome.demand, outcome.withheld) == (BROKEN, "eve@b.example", "from", False)
    (outcome,) = outcomes(tmp_path, rule, [asked, Call("1", "mail", {"cc": DIGEST})])
    assert (outcome.status, outcome.reason, outcome.withheld) == (UNJUDGED, "args.cc is withheld", True)
    (outcome,) = outcomes(tmp_path, rule, [asked, Call("1", "mail", {"to": "Ann", "cc": DIGEST})])
    assert (outcome.reason, outcome.withheld) == ("args.cc is withheld", True)


def test_a_path_that_is_none_is_refused_at_its_place(tmp_path):
    with pytest.raises(Rejected) as refused:
        outcomes(tmp_path, RULE.replace("args.cc", "cc"), [])
    (finding,) = refused.value.diagnostics
    assert finding.span is not None
    assert (finding.code, finding.span.start.line) == ("E_POLICY_PATH", 4)
    assert finding.span.start.column == len("  a: " + RULE.partition("args.cc")[0]) + 1


TOLD = {
    "one is misspelt": ("[args.to, args.ccs]", ({"to": "a", "cc": "b"},), "reads args.ccs, which no call has; did you mean args.cc?"),
    "all are absent": ("[args.tos, args.ccs]", ({"to": "a", "cc": "b"},), "`args.tos` and `args.ccs` is absent in all 1 call of its tools; did you mean `args.to`?"),
}  # fmt: skip


@pytest.mark.parametrize("case", TOLD)
def test_a_scan_tells_what_no_call_has(spec, tmp_path, monkeypatch, case):
    each, calls, line = TOLD[case]
    monkeypatch.chdir(tmp_path)
    rule = RULE.replace("[args.to, args.cc]", each).replace("email", "text")
    (tmp_path / "rules.yaml").write_text(f"spec: policy/v1\nname: rules\nrules:\n  a: {rule}\n", encoding="utf-8")
    (tmp_path / "chat.json").write_text(chat(*(("mail", arguments) for arguments in calls)), encoding="utf-8")
    assert line in spec("scan", "chat.json", "--policy", "rules.yaml").out
