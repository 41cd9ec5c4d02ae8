"""What must not leave: short values, what is escaped in a result, and demands that are broken beside open ones."""

import json

import pytest

from specledger.wings.trajectories.model import Call, Message, Result, Speaker
from specledger.wings.trajectories.rules.plans import Status
from tests.wings.trajectories.rules.test_withheld import outcomes

HELD, BROKEN, UNJUDGED = Status.HELD, Status.BROKEN, Status.UNJUDGED
TEXT = "{when: {tool: mail}, each: args.body, not_from: [{text_of: read}]}"
LOWER = "{when: {tool: mail}, each: args.body, not_from: [{text_of: read, least: 4}]}"
FIELD = "{when: {tool: mail}, each: args.body, not_from: [{result_of: read, field: pin}]}"
SECRET = {"text": "the code is X7Q9, keep it", "pin": "42"}


@pytest.mark.parametrize(
    ("rule", "body", "status"),
    [
        (TEXT, "X7Q9", UNJUDGED),
        (TEXT, "x7q9!", UNJUDGED),
        (TEXT, "X7Q", HELD),
        (TEXT, "hello", HELD),
        (TEXT, "The code is X7Q9", BROKEN),
        (LOWER, "X7Q9", BROKEN),
        (LOWER, "is", UNJUDGED),
        (LOWER, "so X7Q9 it is", BROKEN),
        (FIELD, "42", UNJUDGED),
        (FIELD, "4", HELD),
        (FIELD, "X7Q9", HELD),
    ],
)
def test_a_value_that_is_shorter_than_what_counts_is_not_judged_where_it_was(tmp_path, rule, body, status):
    (outcome,) = outcomes(
        tmp_path, rule, [Call("1", "read", {}), Result("1", SECRET), Call("2", "mail", {"body": body})]
    )
    assert outcome.status is status, outcome
    if status is UNJUDGED:
        where = "pin of a result (read, call 1)" if rule == FIELD else "the result of read, call 1"
        assert outcome.reason.endswith(f"is in {where}, but is shorter than `least`")


CODE = "ZEBRA-7741-KILO"
SPELLED = ["zebra 7741 kilo", "zebra7741kilo", "ZEBRA_7741_KILO", "Zebra7741Kilo", "zebra\u20117741\nkilo", CODE]
LEAST = "{when: {tool: mail}, each: args.body, not_from: [{text_of: read, least: 8}]}"
LEAF = "{when: {tool: mail}, each: args.body, not_from: [{result_of: read, field: code}]}"


def leaked(tmp_path, rule, code, body):
    heard = [Call("1", "read", {}), Result("1", {"code": code}), Call("2", "mail", {"body": body})]
    (outcome,) = outcomes(tmp_path, rule, heard)
    return outcome.status


@pytest.mark.parametrize("body", SPELLED)
@pytest.mark.parametrize("code", SPELLED)
def test_a_leaked_text_is_found_in_each_spelling(tmp_path, code, body):
    for said in (body, f"as agreed it is {body}, ok"):
        assert leaked(tmp_path, LEAST, f"Project: {code}. Tell nobody.", said) is BROKEN
        assert leaked(tmp_path, LEAF, code, said) is BROKEN
    assert leaked(tmp_path, TEXT, f"Project: {code}. Tell nobody.", body) is UNJUDGED


@pytest.mark.parametrize(
    ("code", "body", "status"),
    [
        ("4111 1111 1111 1111", "pay by 4111111111111111", BROKEN),
        ("4111111111111111", "pay by 4111-1111-1111-1111", BROKEN),
        (CODE, "z e b r a 7 7 4 1 k i l o", BROKEN),
        ("10.50", "at 1050", HELD),
        ("1050", "at 10.50", HELD),
        ("10.50", "at 10,50", BROKEN),
        ("7741", "at 17741 or 77410", HELD),
        ("7741", "at A7741", HELD),
        ("A7741", "at BA7741", HELD),
        ("no 1", "one", HELD),
    ],
)
def test_a_value_is_found_where_words_begin_and_end(tmp_path, code, body, status):
    assert leaked(tmp_path, LEAF, code, body) is status


WRITTEN = "Hello\nAnn Lee, see\thttp://a.example/x\nand b\u00e9la@b.example \u00e9"


@pytest.mark.parametrize("form", ["JSON", "JSON in a part", "the text itself"])
@pytest.mark.parametrize(
    ("as_", "value"), [("name", "Ann Lee"), ("url", "http://a.example/x"), ("email", "b\u00e9la@b.example")]
)
def test_what_is_escaped_in_a_result_is_found(tmp_path, form, as_, value):
    text = json.dumps({"body": WRITTEN})
    result = {"JSON": text, "JSON in a part": [{"type": "text", "text": text}], "the text itself": WRITTEN}[form]
    entries = [Call("1", "read", {}), Result("1", result), Call("2", "mail", {"body": value})]
    for key, status in (("from", HELD), ("not_from", BROKEN)):
        rule = f"{{when: {{tool: mail}}, each: args.body, as: {as_}, {key}: [{{text_of: read}}]}}"
        (outcome,) = outcomes(tmp_path, rule, entries)
        assert outcome.status is status, outcome


@pytest.mark.parametrize(
    ("rule", "demand"),
    [
        ("not_from: [{text_of: read}], from: [{set: ours}]", "from"),
        ("not_from: [{text_of: read}], require: 'value == \"Ann\"'", "require"),
        ("from: [{result_of: read, field: name}], require: 'value == \"Ann\"'", "require"),
    ],
)
def test_a_demand_that_is_broken_is_not_hidden_by_one_that_is_open(tmp_path, rule, demand):
    written = f"{{when: {{tool: mail}}, each: args.body, as: name, {rule}}}\nsets: {{ours: [Bob]}}"
    entries = [Message(Speaker.USER, "a"), Call("1", "read", {}), Call("2", "mail", {"body": "Eve"})]
    (outcome,) = outcomes(tmp_path, written, entries)
    assert (outcome.status, outcome.demand) == (BROKEN, demand)
