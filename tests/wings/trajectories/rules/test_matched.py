"""`same` of a source: only results of calls that have something in common with the call now count."""

import re
from pathlib import Path

import pytest

from specledger.core.diagnostics import Diagnostics, Rejected
from specledger.kinds import load
from specledger.wings.trajectories.model import Call, Result
from specledger.wings.trajectories.mutants.rules import rule_mutants
from specledger.wings.trajectories.rules.accesses import accesses
from specledger.wings.trajectories.rules.compile import compile_policy
from specledger.wings.trajectories.rules.plans import Status
from tests.wings.trajectories.rules.test_withheld import DIGEST, outcomes

ROOT = Path(__file__).resolve().parents[4]
(SHOWN,) = (
    block
    for block in re.findall(
        r"^```yaml\n(.*?)^```$", (ROOT / "docs/policies.md").read_text(encoding="utf-8"), re.M | re.S
    )
    if "name: refunds" in block
)
HELD, BROKEN, UNJUDGED = Status.HELD, Status.BROKEN, Status.UNJUDGED
OURS, THEIRS = "GB29NWBK60161331926819", "DE89370400440532013000"


def look(number, of, iban=None, **more):
    call = Call(str(number), "get_customer", {"customer_id": of}, **more)
    return [call] if iban is None else [call, Result(str(number), {"iban": iban})]


def refund(of=1, iban=OURS, **more):
    return Call("9", "refund", {"customer_id": of, "iban": iban}, **more)


CASES = {
    "it is on file for this customer": ([*look(1, 1, OURS)], refund(), HELD),
    "in another spelling": ([*look(1, 1, "GB29 NWBK 6016 1331 9268 19")], refund(), HELD),
    "it is on file for another customer": ([*look(1, 2, OURS), *look(2, 1, THEIRS)], refund(), BROKEN),
    "this customer was never looked up": ([*look(1, 2, OURS)], refund(), BROKEN),
    "the later of two results": ([*look(1, 1, THEIRS), *look(2, 1, OURS)], refund(), HELD),
    "its result is not recorded": ([*look(1, 1)], refund(), UNJUDGED),
    "another result is not recorded": ([*look(1, 2)], refund(), BROKEN),
    "the customer of this call is withheld": ([*look(1, 1, OURS)], refund(of=DIGEST), UNJUDGED),
    "the customer of this call is absent": ([*look(1, 1, OURS)], refund(of=None), UNJUDGED),
    "the customer of the other call is withheld": ([*look(1, DIGEST, OURS)], refund(), UNJUDGED),
    "its result, too, is not recorded": ([*look(1, DIGEST)], refund(), UNJUDGED),
    "it is on file, and another is withheld": ([*look(1, DIGEST, THEIRS), *look(2, 1, OURS)], refund(), HELD),
    "the arguments of the other call are not recorded": ([Call("1", "get_customer"), Result("1", {"iban": OURS})], refund(), UNJUDGED),
    "the other call is parallel": ([*look(1, 1, OURS, batch=1)], refund(batch=1), BROKEN),
    "the other call is parallel and withheld": ([*look(1, DIGEST, OURS, batch=1)], refund(batch=1), BROKEN),
    "a customer is a text here and a number there": ([*look(1, "1", OURS)], refund(), HELD),
    "a customer is an object": ([*look(1, {"id": 1}, OURS)], refund(of={"id": 1}), HELD),
    "a customer is another object": ([*look(1, {"id": 2}, OURS)], refund(of={"id": 1}), BROKEN),
}  # fmt: skip


def shown(tmp_path):
    (tmp_path / "shown.yaml").write_text(SHOWN, encoding="utf-8")
    return load(tmp_path / "shown.yaml")[0].main


@pytest.mark.parametrize("case", CASES)
def test_the_shown_rule_finds_an_account_by_its_customer(tmp_path, case):
    before, call, status = CASES[case]
    session = compile_policy(shown(tmp_path), Diagnostics()).begin()
    (outcome,) = [outcome for entry in [*before, call] for outcome in session.hear(entry)]
    assert outcome.status is status, outcome
    withheld = any(DIGEST in entry.arguments.values() for entry in (*before, call) if isinstance(entry, Call) and isinstance(entry.arguments, dict))  # fmt: skip
    assert outcome.withheld is (withheld and status is UNJUDGED)
    if status is HELD:
        assert outcome.source.startswith("iban of a result (get_customer, call ")


FORMS = {
    "of paths of other names": ("from: [{text_of: look, same: {args.id: args.of}}]", {"id": 7}, {"of": 7, "to": "Ann Lee"}, HELD),
    "of another one": ("from: [{text_of: look, same: {args.id: args.of}}]", {"id": 8}, {"of": 7, "to": "Ann Lee"}, BROKEN),
    "that forbids": ("not_from: [{text_of: look, least: 5, same: args.id}]", {"id": 7}, {"id": 7, "to": "for Ann Lee"}, BROKEN),
    "that forbids another one": ("not_from: [{text_of: look, least: 5, same: args.id}]", {"id": 7}, {"id": 8, "to": "for Ann Lee"}, HELD),
    "that forbids what nobody knows": ("not_from: [{text_of: look, least: 5, same: args.id}]", {"id": 7}, {"to": "for Ann Lee"}, UNJUDGED),
    "with a condition": ("from: [{text_of: look, same: args.id, read: {open: {path: args.open, as: bool}}, if: open}]", {"id": 7, "open": False}, {"id": 7, "to": "Ann Lee"}, BROKEN),
}  # fmt: skip


@pytest.mark.parametrize("case", FORMS)
def test_every_source_that_is_a_result_takes_it(tmp_path, case):
    demand, theirs, ours, status = FORMS[case]
    heard = [Call("1", "look", theirs), Result("1", "The customer is Ann Lee."), Call("2", "pay", ours)]
    (outcome,) = outcomes(tmp_path, f"{{when: {{tool: pay}}, each: args.to, {demand}}}", heard)
    assert outcome.status is status, outcome


def test_a_call_that_was_denied_is_forgotten(tmp_path):
    session = compile_policy(shown(tmp_path), Diagnostics()).begin(retracts=True)
    denied = [Call("1", "get_customer", {"customer_id": 1}), Result("1", "no", denied=True)]
    (outcome,) = [outcome for entry in [*denied, refund()] for outcome in session.hear(entry)]
    assert outcome.status is BROKEN


def test_what_it_compares_is_read_of_both_calls(tmp_path):
    reads = {access.key: set(access.arguments) for access in accesses(shown(tmp_path).model, "on-file")}
    assert reads == {"when": {("iban",), ("customer_id",)}, "from": {("customer_id",)}}


def test_a_mutant_drops_it(tmp_path):
    assert "from[0].same dropped" in [mutant.text for mutant in rule_mutants(shown(tmp_path), "on-file")]


def test_it_is_explained(tmp_path, spec):
    shown(tmp_path)
    said = " ".join(spec("explain", tmp_path / "shown.yaml").out.split())
    assert "the results of `get_customer` with the same `args.customer_id` at `iban`" in said


WRONG = {
    "of a result": ("{when: {tool: pay}, each: args.to, from: [{text_of: look, same: result.id}]}", "E_POLICY_PATH"),
    "of a message": ("{when: {message: assistant}, each: text, from: [{text_of: look, same: args.id}]}", "E_POLICY_FORM"),
    "of a message, after": ("{when: {message: assistant}, after: {tool: look, same: args.id}}", "E_POLICY_FORM"),
    "of a message, read": ("{when: {message: assistant}, read: {a: {path: result, as: text, of: look, same: args.id}}, require: a == ''}", "E_POLICY_FORM"),
    "of the request": ("{when: {tool: pay}, each: args.to, from: [{set: a, same: args.id}]}", "E_SPEC_UNKNOWN_KEY"),
}  # fmt: skip


@pytest.mark.parametrize("case", WRONG)
def test_what_cannot_be_compared_is_refused(tmp_path, case):
    rule, code = WRONG[case]
    with pytest.raises(Rejected) as refused:
        outcomes(tmp_path, rule, [])
    assert [finding.code for finding in refused.value.diagnostics] == [code]
    assert all(finding.span is not None and finding.hint for finding in refused.value.diagnostics)


MISTAKES = {
    "an unknown key": ("{result_of: look, feild: name}", "E_SPEC_UNKNOWN_KEY", "did you mean `field`?"),
    "a misspelt source": ("{result_off: look, field: name}", "E_SPEC_VALUE", "did you mean `result_of`?"),
    "a misspelt word": ("requst", "E_SPEC_VALUE", "did you mean `request`?"),
    "a missing key": ("{result_of: look}", "E_SPEC_MISSING_KEY", "write `field: ...`"),
    "several paths": ("{text_of: look, same: [args.id]}", "E_SPEC_TYPE", "it is one alone: write `args.id`"),
    "a number": ("3", "E_SPEC_VALUE", ""),
}


@pytest.mark.parametrize("key", ["from", "not_from"])
@pytest.mark.parametrize("case", MISTAKES)
def test_a_mistake_in_a_source_is_told_by_its_place_and_what_was_meant(tmp_path, key, case):
    source, code, hint = MISTAKES[case]
    rule = f"{{when: {{tool: pay}}, each: args.to, {key}: [request, {source}]}}"
    with pytest.raises(Rejected) as refused:
        outcomes(tmp_path, rule, [])
    (finding,) = refused.value.diagnostics
    assert finding.span is not None
    assert finding.span.start.column > len("  a: ") + rule.index("[request, ")
    assert (finding.code, hint in (finding.hint or "")) == (code, True), finding
