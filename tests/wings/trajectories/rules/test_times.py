"""Rules over time: how long ago an approval was, how many calls are within an hour; without a stamp they are unjudged."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from specledger.core.diagnostics import Diagnostics
from specledger.core.unknown import Unknown
from specledger.kinds import load
from specledger.wings.trajectories.model import Call, Message, Result, Speaker
from specledger.wings.trajectories.rules.compile import compile_policy
from specledger.wings.trajectories.rules.plans import Status
from specledger.wings.trajectories.rules.windows import Window
from tests.toys import findings_of

MINUTE = 60_000_000
HOURLY = "{when: {tool: pay}, memory: {paid: {count: {}, within: 3600}}, require: paid <= 3, else: '{paid} in an hour'}"
SUM = (
    "{when: {tool: pay}, read: {amount: {path: args.amount, as: int}}, "
    "memory: {paid: {sum: amount, within: 3600}}, require: paid <= 100, else: '{paid} in an hour'}"
)
RECENT = (
    "{when: {tool: pay}, read: {at: {path: time, as: number}}, "
    "after: {tool: ask, read: {asked: {path: time, as: number}}, if: at - asked <= 600.0}}"
)
AT_NIGHT = "{when: {tool: pay, if: at < 3600.0}, read: {at: {path: time, as: number}}, require: 'false'}"
SAID = "{when: {message: assistant}, read: {at: {path: time, as: number}}, require: at < 60.0}"


def policy_of(tmp_path, rule):
    path = tmp_path / "rules.yaml"
    path.write_text(f"spec: policy/v1\nname: rules\nrules:\n  a: {rule}\n", encoding="utf-8")
    diagnostics = Diagnostics()
    policy = compile_policy(load(path)[0].main, diagnostics)
    diagnostics.raise_if_errors()
    return policy


def statuses(tmp_path, rule, entries):
    session = policy_of(tmp_path, rule).begin()
    return [outcome for entry in entries for outcome in session.hear(entry)]


def pay(number, minute, amount=1):
    time = minute * MINUTE if isinstance(minute, int) else minute
    return Call(str(number), "pay", {"amount": amount}, time=time)


def test_calls_within_an_hour_are_counted(tmp_path):
    calls = [pay(number, minute) for number, minute in enumerate([0, 20, 40, 60, 61, 300])]
    outcomes = statuses(tmp_path, HOURLY, calls)
    assert [outcome.status.value for outcome in outcomes] == ["held", "held", "held", "broken", "broken", "held"]
    assert outcomes[3].reason == "4 in an hour", "a call of an hour ago is within an hour"


def test_sums_within_an_hour(tmp_path):
    outcomes = statuses(tmp_path, SUM, [pay(1, 0, 60), pay(2, 30, 40), pay(3, 59, 1), pay(4, 95, 59)])
    assert [outcome.status.value for outcome in outcomes] == ["held", "held", "broken", "held"]


def test_an_approval_is_not_older_than_ten_minutes(tmp_path):
    ask = Call("0", "ask", {}, time=0)
    outcomes = statuses(tmp_path, RECENT, [ask, pay(1, 10), pay(2, 11)])
    assert [outcome.status for outcome in outcomes] == [Status.HELD, Status.BROKEN]


def test_a_condition_reads_the_time(tmp_path):
    outcomes = statuses(tmp_path, AT_NIGHT, [pay(1, 59), pay(2, 60)])
    assert [outcome.call for outcome in outcomes] == ["1"]


def test_a_message_has_a_time(tmp_path):
    said = [Message(Speaker.ASSISTANT, "done", time=time) for time in (0, MINUTE, "")]
    outcomes = statuses(tmp_path, SAID, said)
    assert [outcome.status.value for outcome in outcomes] == ["held", "broken", "unjudged"]


@pytest.mark.parametrize(
    ("rule", "calls", "reason"),
    [
        (HOURLY, [pay(1, "")], "time is not recorded"),
        (HOURLY, [pay(1, "soon")], "time is no time stamp: 'soon'"),
        (RECENT, [Call("0", "ask", {}, time=0), pay(1, "")], "time is not recorded"),
        (RECENT, [Call("0", "ask", {}), pay(1, 5)], "time is not recorded"),
        (AT_NIGHT, [pay(1, "")], "time is not recorded"),
    ],
)
def test_without_a_stamp_the_rule_is_not_judged_and_names_the_field(tmp_path, rule, calls, reason):
    (outcome,) = statuses(tmp_path, rule, calls)
    assert (outcome.status, outcome.reason) == (Status.UNJUDGED, reason)


def test_a_call_without_a_stamp_leaves_later_counts_open(tmp_path):
    outcomes = statuses(tmp_path, HOURLY, [pay(1, ""), pay(2, 5)])
    assert [outcome.status for outcome in outcomes] == [Status.UNJUDGED] * 2


def test_a_denied_call_is_not_counted(tmp_path):
    session = policy_of(tmp_path, HOURLY).begin(retracts=True)
    outcomes = []
    for number in range(6):
        outcomes += session.hear(pay(number, "" if number == 2 else number))
        session.hear(Result(str(number), "", denied=number % 2 == 0))
    assert [outcome.status.value for outcome in outcomes] == ["held", "held", "unjudged", "held", "held", "held"]


@pytest.mark.medium
@given(
    st.lists(st.tuples(st.integers(0, 30), st.integers(-5, 5), st.booleans()), max_size=40),
    st.integers(1, 20),
)
@settings(max_examples=200)
def test_a_window_is_what_adding_up_anew_gives(calls, span):
    kept: list[tuple[int, int]] = []
    window = Window(span)
    for number, (time, value, denied) in enumerate(calls):
        counted = [value for earlier, value in kept if earlier >= time - span]
        assert window.add(number, time, value) == sum(counted) + value
        if denied:
            window.forget(number)
        else:
            kept.append((time, value))
        window.forget(number - 1)


@given(st.lists(st.booleans(), max_size=20))
def test_a_window_is_unknown_from_the_first_call_on_that_is(known):
    window, open_ = Window(5), False
    for number, is_known in enumerate(known):
        open_ = open_ or not is_known
        total = window.add(number, number if is_known else Unknown("time is not recorded"), 1)
        assert (type(total) is Unknown) == open_


WRONG = {
    "a time as another type": (AT_NIGHT.replace("as: number", "as: text"), "E_POLICY_VALUE", "number of seconds"),
    "a time as a pattern": (AT_NIGHT.replace("as: number", "matches: 'a'"), "E_POLICY_VALUE", "number of seconds"),
    "a part of a time": (AT_NIGHT.replace("path: time", "path: time.hour"), "E_POLICY_PATH", "`time` has no parts"),
    "values of a time": ("{each: time, require: 'true'}", "E_POLICY_PATH", "cannot be read here"),
    "no time at all": (HOURLY.replace("3600", "0"), "E_SPEC_VALUE", "`within`"),
    "a time as words": (HOURLY.replace("3600", "an hour"), "E_SPEC_TYPE", "`within`"),
    "equal calls within a time": (HOURLY.replace("count", "repeats"), "E_SPEC_UNKNOWN_KEY", "`within`"),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_forms_have_a_code_and_a_place(tmp_path, name):
    rule, code, words = WRONG[name]
    findings_of(policy_of, tmp_path, rule, code=code, words=words, file="rules.yaml")
