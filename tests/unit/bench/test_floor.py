"""What the floor of a step is measured from: the outermost calls of one run, which give the same again."""

from bench.floor import Calls, digesting, digests_of, generated
from specledger.core import canonical
from specledger.core.events import Event
from specledger.evidence import chain
from specledger.expr.generate.emitter import Emitter


def test_the_outermost_calls_are_recorded_and_called_again():
    calls, seen = Calls(), list[int]()
    inner = calls.wrap(seen.append)
    outer = calls.wrap(lambda value: inner(value + 1))
    outer(0)
    assert calls.kept == []
    calls.record(lambda: outer(1))
    outer(5)
    assert [call.args for call in calls.kept] == [(1,)]
    calls.again()
    assert seen == [1, 2, 6, 2]


def test_generated_functions_call_one_another_as_they_are():
    calls = Calls()
    with generated(calls):
        emitter = Emitter()
        x = emitter.local("x")
        one = emitter.function("one", [x], [f"return {x} + 1"])
        two = emitter.function("two", [x], [f"return {one}({x}) + 1"])
        functions = emitter.build()
    calls.record(lambda: functions[two](1))
    (call,) = calls.kept
    assert (call.args, call(), call.func.__globals__[one] in calls.wrapped) == ((1,), 3, False)


def test_digests_are_recorded_with_the_events_of_the_work():
    calls, events = digests_of(lambda: [Event("end", {})])
    assert (calls.kept, [event.type for event in events]) == ([], ["end"])


def test_digests_of_all_modules_are_told_from_what_else_is_called():
    calls = Calls()
    with digesting(calls):
        calls.record(lambda: vars(chain)["canonical_ints"]({"x": 1}))
    calls.record(lambda: calls.wrap(len)("text"))
    digests, others = calls.split()
    assert ([call.func for call in digests.kept], [call.func for call in others.kept]) == (
        [canonical.canonical_ints],
        [len],
    )
