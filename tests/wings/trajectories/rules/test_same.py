"""`same` compares values by the type with which the rules of the policy read them, not by their text."""

import pytest

from specledger.core.diagnostics import Diagnostics
from specledger.kinds import load
from specledger.wings.trajectories.model import Call, Result
from specledger.wings.trajectories.rules.compile import compile_policy
from specledger.wings.trajectories.rules.plans import Status

SPACED, PLAIN, OTHER = "GB29 NWBK 6016 1331 9268 19", "GB29NWBK60161331926819", "DE89370400440532013000"
KNOWN = "known: {when: {tool: pay}, each: args.to, as: iban, from: [{result_of: look, field: iban}]}"
TEXTS = KNOWN.replace("as: iban", "as: text")
MAILS = KNOWN.replace("known", "mailed").replace("as: iban", "as: email")
AFTER = "asked: {when: {tool: pay}, after: {tool: ask, same: args.to}}"
NAMED = "asked: {when: {tool: pay}, after: {tool: ask, same: {args.account: args.to}}}"
RECORD = "asked: {when: {tool: pay}, read: {ok: {path: result.ok, as: bool, of: ask, same: args.to}}, require: ok}"
READ = "asked: {when: {tool: pay}, after: {tool: ask, read: {to: {path: args.to, as: iban}}, same: args.to}}"
HELD, BROKEN, UNJUDGED = Status.HELD, Status.BROKEN, Status.UNJUDGED


@pytest.mark.parametrize(
    ("rules", "asked", "paid", "status"),
    [
        ((KNOWN, AFTER), SPACED, PLAIN, HELD),
        ((KNOWN, AFTER), PLAIN, SPACED, HELD),
        ((KNOWN, AFTER), SPACED, OTHER, BROKEN),
        ((KNOWN, AFTER), "Ann", "Ann", HELD),
        ((KNOWN, NAMED), SPACED, PLAIN, HELD),
        ((KNOWN, RECORD), SPACED, PLAIN, HELD),
        ((KNOWN, RECORD), SPACED, OTHER, UNJUDGED),
        ((READ,), SPACED, PLAIN, HELD),
        ((TEXTS, AFTER), SPACED, PLAIN, BROKEN),
        ((AFTER,), SPACED, PLAIN, BROKEN),
        ((KNOWN, MAILS, AFTER), SPACED, PLAIN, BROKEN),
    ],
)
def test_values_are_the_same_by_their_type(tmp_path, rules, asked, paid, status):
    path = tmp_path / "rules.yaml"
    path.write_text("\n  ".join(["spec: policy/v1\nname: rules\nrules:", *rules]) + "\n", encoding="utf-8")
    session = compile_policy(load(path)[0].main, Diagnostics()).begin()
    for entry in (Call("1", "ask", {"to": asked, "account": asked}), Result("1", {"ok": True})):
        session.hear(entry)
    (outcome,) = (outcome for outcome in session.hear(Call("2", "pay", {"to": paid})) if outcome.rule == "asked")
    assert outcome.status is status
