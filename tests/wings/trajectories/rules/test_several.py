"""A pattern over several values: all of them, any of them, or not judged where only some match."""

import pytest

from specledger.core.diagnostics import Rejected
from specledger.wings.trajectories.model import Call
from specledger.wings.trajectories.rules.plans import Status
from tests.wings.trajectories.rules.test_withheld import outcomes

INSIDE, OUTSIDE = "Ann <ann@Our-Office.example>", "berg@supplier.example"
HELD, BROKEN, UNJUDGED = Status.HELD, Status.BROKEN, Status.UNJUDGED
RECIPIENTS = {
    "one inside": (INSIDE, HELD, HELD, HELD),
    "one outside": (OUTSIDE, BROKEN, BROKEN, BROKEN),
    "all inside": ([INSIDE, INSIDE], HELD, HELD, HELD),
    "all outside": ([OUTSIDE, OUTSIDE], BROKEN, BROKEN, BROKEN),
    "some outside": ([INSIDE, OUTSIDE], UNJUDGED, BROKEN, HELD),
    "inside and no text": ([INSIDE, {}], UNJUDGED, UNJUDGED, HELD),
    "outside and no text": ([OUTSIDE, {}], UNJUDGED, BROKEN, UNJUDGED),
    "none": ([], UNJUDGED, UNJUDGED, UNJUDGED),
    "null": (None, UNJUDGED, UNJUDGED, UNJUDGED),
    "nulls": ([None, None], UNJUDGED, UNJUDGED, UNJUDGED),
    "inside and null": ([INSIDE, None], UNJUDGED, UNJUDGED, HELD),
    "outside and null": ([OUTSIDE, None], UNJUDGED, BROKEN, UNJUDGED),
    "inside and an empty list": ([INSIDE, []], UNJUDGED, UNJUDGED, HELD),
}


def rule(several, matches=r"matches: '(?i)@our-office\.example>?$'", path="args.to"):
    added = f", several: {several}" if several else ""
    return f"{{when: {{tool: mail}}, read: {{inside: {{path: {path}, {matches}{added}}}}}, require: inside}}"


@pytest.mark.parametrize("to", RECIPIENTS)
@pytest.mark.parametrize(("several", "column"), [(None, 1), ("all", 2), ("any", 3)])
def test_a_pattern_over_recipients(tmp_path, to, several, column):
    (outcome,) = outcomes(tmp_path, rule(several), [Call("1", "mail", {"to": RECIPIENTS[to][0]})])
    assert outcome.status is RECIPIENTS[to][column], outcome


PEOPLE = {
    "both": ([{"mail": INSIDE}, {"mail": INSIDE}], HELD),
    "one has none": ([{"mail": INSIDE}, {}], UNJUDGED),
    "one is null": ([{"mail": INSIDE}, {"mail": None}], UNJUDGED),
    "one has an empty list": ([{"mail": INSIDE}, {"mail": []}], UNJUDGED),
    "nobody": ([], UNJUDGED),
}


@pytest.mark.parametrize("to", PEOPLE)
def test_what_one_of_several_lacks_matches_nothing(tmp_path, to):
    judged = rule("all", path='"args.to[*].mail"')
    (outcome,) = outcomes(tmp_path, judged, [Call("1", "mail", {"to": PEOPLE[to][0]})])
    assert outcome.status is PEOPLE[to][1], outcome


def test_below_every_value_null_is_none(tmp_path):
    """`**` is what is there: an optional argument that is null leaves no rule over all values unjudged."""
    (outcome,) = outcomes(tmp_path, rule("all", path='"args.**"'), [Call("1", "mail", {"to": INSIDE, "cc": None})])
    assert outcome.status is HELD


def test_the_reason_says_that_a_value_is_null(tmp_path):
    (outcome,) = outcomes(tmp_path, rule("all"), [Call("1", "mail", {"to": [INSIDE, None]})])
    assert outcome.reason == "args.to has a value that is null or absent"


def test_the_reason_says_what_to_write(tmp_path):
    (outcome,) = outcomes(tmp_path, rule(None), [Call("1", "mail", {"to": [INSIDE, OUTSIDE]})])
    assert "args.to has several values, and only some match: write `several: all` or" in outcome.reason


@pytest.mark.parametrize(
    "wrong",
    [rule("all", "as: bool"), rule("all", path="request"), rule("some")],
    ids=["a type", "the request", "no such word"],
)
def test_a_wrong_several_is_refused_at_its_place(tmp_path, wrong):
    with pytest.raises(Rejected) as refused:
        outcomes(tmp_path, wrong, [])
    (finding,) = refused.value.diagnostics
    assert finding.span is not None
    assert finding.span.start.line == 4
    assert "`several`" in finding.message + (finding.hint or "") or "some" in finding.message


@pytest.mark.parametrize("element", ["@our-office.example", "our-office.example"])
def test_a_domain_among_addresses_names_the_rule_for_it(tmp_path, element):
    text = (
        f'{{when: {{tool: mail}}, each: args.to, as: email, from: [{{set: office}}]}}\nsets: {{office: ["{element}"]}}'
    )
    with pytest.raises(Rejected) as refused:
        outcomes(tmp_path, text, [])
    (finding,) = refused.value.diagnostics
    demand = 'value.endsWith("@our-office.example")'
    assert demand in (finding.hint or "")
    advised = f"{{when: {{tool: mail}}, each: args.to, as: email, require: '{demand}'}}"
    calls = [Call("1", "mail", {"to": [INSIDE]}), Call("2", "mail", {"to": [INSIDE, OUTSIDE]})]
    assert [outcome.status for outcome in outcomes(tmp_path, advised, calls)] == [HELD, BROKEN]
