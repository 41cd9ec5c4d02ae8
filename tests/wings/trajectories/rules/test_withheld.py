"""A withheld value is never judged, wherever it stands: it neither breaks a rule nor lets it hold."""

import pytest

from specledger.core.diagnostics import Diagnostics
from specledger.kinds import load
from specledger.wings.trajectories.model import Call, Message, Result, Speaker
from specledger.wings.trajectories.rules.compile import compile_policy
from specledger.wings.trajectories.rules.plans import Status

DIGEST = {"$withheld": "0" * 64}
ASKED = Message(Speaker.USER, "Pay Ann.")
FROM_REQUEST = "{when: {tool: pay}, each: args.to, as: name, from: [request]}"
FROM_LEAVES = "{when: {tool: pay}, each: args.**, as: name, from: [request]}"
MATCHES = '{when: {tool: pay}, read: {bad: {path: args.to, matches: Eve}}, require: "!bad"}'
FROM_RESULT = "{when: {tool: pay}, each: args.to, as: name, from: [{result_of: look, field: name}]}"
FROM_TEXT = "{when: {tool: pay}, each: args.to, as: name, from: [{text_of: look}]}"


def outcomes(tmp_path, rule, entries):
    path = tmp_path / "rules.yaml"
    path.write_text(f"spec: policy/v1\nname: rules\nrules:\n  a: {rule}\n", encoding="utf-8")
    (bundle,) = load(path)
    diagnostics = Diagnostics()
    session = compile_policy(bundle.main, diagnostics).begin()
    diagnostics.raise_if_errors()
    return [outcome for entry in entries for outcome in session.hear(entry)]


@pytest.mark.parametrize(
    ("rule", "before", "arguments"),
    [
        (FROM_REQUEST, [], {"to": DIGEST}),
        (FROM_REQUEST, [], {"to": ["Ann", DIGEST]}),
        (FROM_LEAVES, [], {"to": DIGEST}),
        (MATCHES, [], {"to": DIGEST}),
        (FROM_RESULT, [Call("1", "look", {}), Result("1", {"name": DIGEST})], {"to": "Ann"}),
        (FROM_TEXT, [Call("1", "look", {}), Result("1", [{"name": DIGEST}])], {"to": "Ann"}),
    ],
)
def test_a_rule_that_reads_a_withheld_value_is_not_judged(tmp_path, rule, before, arguments):
    (outcome,) = outcomes(tmp_path, rule, [ASKED, *before, Call("2", "pay", arguments)])
    assert (outcome.status, outcome.withheld) == (Status.UNJUDGED, True), outcome
    assert "is withheld" in outcome.reason


def test_a_text_that_looks_like_a_digest_in_a_result_is_a_text(tmp_path):
    before = [Call("1", "look", {}), Result("1", '{"$withheld": "Ann"}')]
    (outcome,) = outcomes(tmp_path, FROM_RESULT, [ASKED, *before, Call("2", "pay", {"to": "Ann"})])
    assert outcome.status is Status.BROKEN


@pytest.mark.parametrize("to", [{"name": "Eve"}, [["Eve"]], {}], ids=str)
def test_what_is_no_text_is_matched_by_no_pattern_and_judged_by_none(tmp_path, to):
    (outcome,) = outcomes(tmp_path, MATCHES, [ASKED, Call("2", "pay", {"to": to})])
    assert (outcome.status, outcome.reason) == (Status.UNJUDGED, "args.to is no text")
