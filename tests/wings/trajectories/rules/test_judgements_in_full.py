"""What rules make of calls and messages: each outcome with its words, its value, its source and what it demands."""

import pytest

from specledger.wings.trajectories.model import Call, Message, Result, Speaker
from tests.wings.trajectories.rules.test_withheld import outcomes

SYSTEM, USER, ASSISTANT = Speaker


def pay(number, batch=0, /, **arguments):
    return Call(str(number), "pay", arguments, batch)


def ask(number, batch=0, /, **arguments):
    return Call(str(number), "ask", arguments, batch)


def look(number):
    return Call(str(number), "look", {})


def came(number, content=""):
    return Result(str(number), content)


FROM_REQUEST = "{when: {tool: pay}, each: args.to, from: [request]}"

# a rule, what it hears, and its outcomes: the call, what became of it, why, the value, its source, what is demanded
JUDGED = {
    "a value that the request has": (
        FROM_REQUEST, [Message(USER, "pay Ann"), pay(1, to="Ann")],
        [('1', "held", '', 'Ann', 'a message of the user', '')],
    ),
    "a value that nothing has": (
        FROM_REQUEST, [Message(USER, "pay Ann"), pay(1, to="Bob")],
        [('1', "broken", 'a does not hold', 'Bob', 'nothing before', 'from')],
    ),
    "a value that another text has": (
        FROM_REQUEST, [Message(USER, "pay"), look(0), came(0, "Bob"), pay(1, to="Bob")],
        [('1', "broken", 'a does not hold', 'Bob', 'the result of look, call 0', 'from')],
    ),
    "a request to a subagent": (
        FROM_REQUEST, [Message(USER, "pay Ann", "sub"), pay(1, to="Ann")],
        [('1', "broken", 'a does not hold', 'Ann', 'a message of the user', 'from')],
    ),
    "no value": (
        FROM_REQUEST, [pay(1, to=[])],
        [],
    ),
    "no argument": (
        FROM_REQUEST, [pay(1)],
        [],
    ),
    "arguments that are no object": (
        FROM_REQUEST, [Call("1", "pay", "Ann")],
        [('1', 'unjudged', 'the arguments are no object', '', '', '')],
    ),
    "arguments that were not recorded": (
        FROM_REQUEST, [Call("1", "pay")],
        [('1', 'unjudged', 'args is not recorded', '', '', '')],
    ),
    "a value that is an object": (
        FROM_REQUEST, [pay(1, to={"a": 1})],
        [('1', 'unjudged', 'a value is neither a text nor a number', '', '', '')],
    ),
    "the second value is wrong": (
        FROM_REQUEST, [Message(USER, "Ann"), pay(1, to=["Ann", "Bob", "Eve"])],
        [('1', "broken", 'a does not hold', 'Bob', 'nothing before', 'from')],
    ),
    "a wrong value after an unknown one": (
        "{when: {tool: pay}, each: args.to, from: [{result_of: look, field: name}, request]}", [Message(USER, "Ann"), look(0), pay(1, to=["Bob", "Ann"])],
        [('1', 'unjudged', 'the result of look, call 0 is not recorded', 'Bob', '', '')],
    ),
    "a value of 200 characters": (
        FROM_REQUEST, [pay(1, to="x"*200)],
        [('1', "broken", 'a does not hold', "x" * 200, 'nothing before', 'from')],
    ),
    "a value of 201 characters": (
        FROM_REQUEST, [pay(1, to="x"*201)],
        [('1', "broken", 'a does not hold', "x" * 200 + "...", 'nothing before', 'from')],
    ),
    "a value of 200 characters that is there": (
        FROM_REQUEST, [Message(USER, "x"*200), pay(1, to="x"*200)],
        [('1', "held", '', "x" * 200, 'a message of the user', '')],
    ),
    "what must come before each of what may serve": (
        "{when: {tool: pay}, after: {tool: [ask, look], since: ask}}", [ask(1), pay(2), look(3), pay(4), ask(5), pay(6)],
        [('2', "broken", 'a does not hold', '', '', 'after'), ('4', "held", '', '', 'look, call 3', ''), ('6', "broken", 'a does not hold', '', '', 'after')],
    ),
    "a long value that is there": (
        FROM_REQUEST, [Message(USER, "x"*201), pay(1, to="x"*201)],
        [('1', "held", '', "x" * 200 + "...", 'a message of the user', '')],
    ),
    "a value of a type": (
        "{when: {tool: pay}, each: args.amount, as: number, from: [request]}", [Message(USER, "pay 12.50 EUR"), pay(1, amount="12.5"), pay(2, amount="12.51"), pay(3, amount="much")],
        [('1', "held", '', '12.5', 'a message of the user', ''), ('2', "broken", 'a does not hold', '12.51', 'nothing before', 'from'), ('3', 'unjudged', "'much' is no number", '', '', '')],
    ),
    "a value that is required": (
        "{when: {tool: pay}, each: args.to, require: \"value == 'Ann'\"}", [pay(1, to="Ann"), pay(2, to="ann"), pay(3, to=["Ann", "Bob"])],
        [('1', "held", '', 'Ann', '', ''), ('2', "broken", 'a does not hold', 'ann', '', 'require'), ('3', "broken", 'a does not hold', 'Bob', '', 'require')],
    ),
    "a message with names": (
        "{when: {tool: pay}, each: args.to, from: [request], else: '{tool} to {value} of {source}'}", [pay(1, to="{tool} {source}")],
        [('1', "broken", 'pay to {tool} {source} of nothing before', '{tool} {source}', 'nothing before', 'from')],
    ),
    "a message with what is read": (
        "{when: {tool: pay}, read: {n: {path: args.n, as: int}, q: {path: args.q, as: number}, t: {path: args.t, as: text}}, require: n > 5, else: '{n} {q} {t}'}", [pay(1, n=5, q={"$number": "2.5"}, t="a"), pay(2, n=6), pay(3, n=4), pay(4)],
        [('1', "broken", '5 2.5 a', '', '', 'require'), ('2', "held", '', '', '', ''), ('3', "broken", '4 unknown unknown', '', '', 'require'), ('4', 'unjudged', 'args.n is absent', '', '', '')],
    ),
    "a long value in a message": (
        "{when: {tool: pay}, read: {t: {path: args.t, as: text}}, require: \"t == ''\", else: '{t}.'}", [pay(1, t="x"*400), pay(2, t="x"*401)],
        [('1', "broken", "x" * 400 + ".", '', '', 'require'), ('2', "broken", "x" * 400 + ".", '', '', 'require')],
    ),
    "several values": (
        "{when: {tool: pay}, read: {n: {path: 'args.n', as: int}}, require: n > 5}", [pay(1, n=[6, 7]), pay(2, n=[6]), pay(3, n=[]), pay(4, n="a"), pay(5, n=None)],
        [('1', 'unjudged', 'args.n has several values', '', '', ''), ('2', "held", '', '', '', ''), ('3', 'unjudged', 'args.n is absent', '', '', ''), ('4', 'unjudged', 'args.n is no int', '', '', ''), ('5', 'unjudged', 'args.n is absent', '', '', '')],
    ),
    "a pattern": (
        "{when: {tool: pay}, read: {ok: {path: args.t, matches: '^a'}}, require: ok}", [pay(1, t="ab"), pay(2, t="ba"), pay(3, t=["ab", "ba"]), pay(4, t=["ab", "ac"]), pay(5, t={}), pay(6, t=None), pay(7)],
        [('1', "held", '', '', '', ''), ('2', "broken", 'a does not hold', '', '', 'require'), ('3', 'unjudged', 'args.t has several values, and only some match: write `several: all` or `several: any`', '', '', ''), ('4', "held", '', '', '', ''), ('5', 'unjudged', 'args.t is no text', '', '', ''), ('6', 'unjudged', 'args.t is absent', '', '', ''), ('7', 'unjudged', 'args.t is absent', '', '', '')],
    ),
    "a condition": (
        "{when: {tool: pay, if: n > 5}, read: {n: {path: args.n, as: int}}, require: false}", [pay(1, n=5), pay(2, n=6), pay(3, n="x"), pay(4)],
        [('2', "broken", 'a does not hold', '', '', 'require'), ('3', 'unjudged', 'args.n is no int', '', '', ''), ('4', 'unjudged', 'args.n is absent', '', '', '')],
    ),
    "a message of the agent": (
        "{when: {message: assistant, matches: 'sorry'}, require: false}", [Message(ASSISTANT, "I am sorry"), Message(ASSISTANT, "fine"), Message(USER, "sorry")],
        [('', "broken", 'a does not hold', '', '', 'require')],
    ),
    "what must come before": (
        "{when: {tool: pay}, after: {tool: ask}}", [pay(1), ask(2), pay(3), pay(4)],
        [('1', "broken", 'a does not hold', '', '', 'after'), ('3', "held", '', '', 'ask, call 2', ''), ('4', "held", '', '', 'ask, call 2', '')],
    ),
    "what must come before in another message": (
        "{when: {tool: pay}, after: {tool: ask}}", [ask(2, 1), pay(3, 1), pay(4, 2)],
        [('3', "broken", 'a does not hold (ask, call 2, stands in the same message: it is parallel, not before)', '', 'ask, call 2, stands in the same message: it is parallel, not before', 'after'), ('4', "held", '', '', 'ask, call 2', '')],
    ),
    "what must come before each": (
        "{when: {tool: pay}, after: {tool: ask, since: pay}}", [ask(2), pay(3), pay(4), ask(5), pay(6)],
        [('3', "held", '', '', 'ask, call 2', ''), ('4', "broken", 'a does not hold', '', '', 'after'), ('6', "held", '', '', 'ask, call 5', '')],
    ),
    "what must come before with the same argument": (
        "{when: {tool: pay}, after: {tool: ask, same: args.to}}", [ask(1, to="Ann"), pay(2, to="Ann"), pay(3, to="Bob"), pay(4), ask(5, to="Bob"), pay(6, to="Bob"), pay(7, to="Ann")],
        [('2', "held", '', '', 'ask, call 1', ''), ('3', "broken", 'a does not hold', '', '', 'after'), ('4', 'unjudged', 'args.to is absent', '', '', ''), ('6', "held", '', '', 'ask, call 5', ''), ('7', "held", '', '', 'ask, call 1', '')],
    ),
    "what must have succeeded": (
        "{when: {tool: pay}, after: {tool: ask, read: {e: {path: result, matches: 'yes'}}, if: e}}", [ask(1), pay(2), came(1, "yes"), pay(3), ask(4), came(4, "no"), pay(5)],
        [('2', 'unjudged', 'result is not recorded', '', '', ''), ('3', "held", '', '', 'ask, call 1', ''), ('5', "held", '', '', 'ask, call 1', '')],
    ),
    "what failed": (
        "{when: {tool: pay}, after: {tool: ask, read: {e: {path: result, matches: 'yes'}}, if: e}}", [ask(1), came(1, "no"), pay(2)],
        [('2', "broken", 'a does not hold', '', '', 'after')],
    ),
    "what must not come before": (
        "{when: {tool: pay}, not_after: {tool: ask}}", [pay(1), ask(2), pay(3)],
        [('1', "held", '', '', '', ''), ('3', "broken", 'a does not hold', '', 'ask, call 2', 'not_after')],
    ),
    "before and required": (
        "{when: {tool: pay}, read: {n: {path: args.n, as: int}}, after: {tool: ask}, require: n > 5}", [pay(0), pay(1, n=5), pay(2, n=6), ask(3), pay(4, n=5), pay(5, n=6), pay(6)],
        [('0', "broken", 'a does not hold', '', '', 'after'), ('1', "broken", 'a does not hold', '', '', 'require'), ('2', "broken", 'a does not hold', '', '', 'after'), ('4', "broken", 'a does not hold', '', '', 'require'), ('5', "held", '', '', '', ''), ('6', 'unjudged', 'args.n is absent', '', '', '')],
    ),
    "not from a result": (
        "{when: {tool: pay}, each: args.memo, not_from: [{text_of: look}]}", [look(1), came(1, "the secret code is 4711 for all"), pay(2, memo="hello"), pay(3, memo="the secret code is 4711 for all")],
        [('2', "held", '', 'hello', '', ''), ('3', "broken", 'a does not hold', 'the secret code is 4711 for all', 'the result of look, call 1', 'not_from')],
    ),
    "not from a field": (
        "{when: {tool: pay}, each: args.to, not_from: [{result_of: look, field: name}]}", [look(1), came(1, {"name": "Bob Alone Jones"}), pay(2, to="Ann"), pay(3, to="Bob Alone Jones")],
        [('2', "held", '', 'Ann', '', ''), ('3', "broken", 'a does not hold', 'Bob Alone Jones', 'name of a result (look, call 1)', 'not_from')],
    ),
    "not from an answer that is missing": (
        "{when: {tool: pay}, each: args.to, not_from: [{result_of: look, field: name}]}", [look(1), came(1), pay(2, to="Ann")],
        [('2', "held", '', 'Ann', '', '')],
    ),
    "a count": (
        "{when: {tool: pay}, memory: {n: {count: {}}}, require: n <= 2, else: '{n}'}", [pay(1), pay(2), pay(3), pay(4)],
        [('1', "held", '', '', '', ''), ('2', "held", '', '', '', ''), ('3', "broken", '3', '', '', 'require'), ('4', "broken", '4', '', '', 'require')],
    ),
    "a sum": (
        "{when: {tool: pay}, read: {a: {path: args.a, as: int}}, memory: {n: {sum: a}}, require: n <= 10, else: '{n}'}", [pay(1, a=4), pay(2, a=6), pay(3, a=1), pay(4, a=-1), pay(5), pay(6, a=0)],
        [('1', "held", '', '', '', ''), ('2', "held", '', '', '', ''), ('3', "broken", '11', '', '', 'require'), ('4', "held", '', '', '', ''), ('5', 'unjudged', 'args.a is absent', '', '', ''), ('6', 'unjudged', 'args.a is absent', '', '', '')],
    ),
    "calls in a row": (
        "{when: {tool: pay}, memory: {n: {repeats: {}}}, require: n <= 2, else: '{n}'}", [pay(1, a=1), pay(2, a=1), pay(3, a=1), pay(4, a=2), pay(5, a=1)],
        [('1', "held", '', '', '', ''), ('2', "held", '', '', '', ''), ('3', "broken", '3', '', '', 'require'), ('4', "held", '', '', '', ''), ('5', "held", '', '', '', '')],
    ),
    "calls that are alike": (
        "{when: {tool: pay}, memory: {n: {repeats: {}}}, require: n <= 1, else: '{n}'}", [pay(1, a=1), pay(2, a=True), pay(3, a=[1]), pay(4, a=[True]), pay(5, a={"b": 1}), pay(6, a={"b": True}), pay(7, a={"b": True}), Call("8", "pay"), pay(9, a={"b": True}), pay(10, a=1)],
        [('1', "held", '', '', '', ''), ('2', "held", '', '', '', ''), ('3', "held", '', '', '', ''), ('4', "held", '', '', '', ''), ('5', "held", '', '', '', ''), ('6', "held", '', '', '', ''), ('7', "broken", '2', '', '', 'require'), ('8', 'unjudged', 'args is not recorded', '', '', ''), ('9', 'unjudged', 'args is not recorded', '', '', ''), ('10', "held", '', '', '', '')],
    ),
    "an earlier call that is read": (
        "{when: {tool: pay}, read: {n: {path: result.n, as: int, of: ask, same: args.to}}, require: n > 5, else: '{n}'}", [ask(1, to="a"), came(1, {"n": 5}), ask(2, to="b"), came(2, {"n": 6}), ask(7, to="d"), pay(8, to="d"), pay(3, to="a"), pay(4, to="b"), pay(5, to="c"), pay(6)],
        [('8', 'unjudged', 'result is not recorded', '', '', ''), ('3', "broken", '5', '', '', 'require'), ('4', "held", '', '', '', ''), ('5', 'unjudged', 'the record was never read: no call of ask for it', '', '', ''), ('6', 'unjudged', 'args.to is absent', '', '', '')],
    ),
    "an address in a text": (
        "{when: {tool: pay}, each: args.t, as: [emails, urls], from: [request]}", [Message(USER, "mail a@x.org"), pay(1, t="to a@x.org or A@X.ORG"), pay(2, t="to b@x.org, see https://x.org/a"), pay(3, t="nobody"), pay(4, t="")],
        [('1', "held", '', 'a@x.org', 'a message of the user', ''), ('2', "broken", 'a does not hold', 'b@x.org', 'nothing before', 'from')],
    ),
    "a name or a number": (
        "{when: {tool: pay}, each: args.t, as: [number, email], from: [request]}", [Message(USER, "5 to a@x.org"), pay(1, t="5.0"), pay(2, t="A@x.org"), pay(3, t="Ann"), pay(4, t=5)],
        [('1', "held", '', '5', 'a message of the user', ''), ('2', "held", '', 'a@x.org', 'a message of the user', ''), ('3', 'unjudged', "'Ann' is no number or email", '', '', ''), ('4', "held", '', '5', 'a message of the user', '')],
    ),
    "no value is there": (
        "{when: {tool: pay}, each: 'args.**', from: [request]}", [pay(1), pay(2, a=""), pay(3, a="x")],
        [('3', "broken", 'a does not hold', 'x', 'nothing before', 'from')],
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", JUDGED)
def test_what_a_rule_makes_of_what_it_hears(tmp_path, case):
    rule, heard, expected = JUDGED[case]
    told = [
        (outcome.call, outcome.status.value, outcome.reason, outcome.value, outcome.source, outcome.demand)
        for outcome in outcomes(tmp_path, rule, heard)
    ]
    assert told == expected
