"""Rules on the gold calls of tau2's airline tasks: which are judged, and which need a record that nobody read."""

import json
from collections import Counter
from pathlib import Path

import pytest

from specledger.core.diagnostics import Diagnostics
from specledger.kinds import KINDS
from specledger.load import load
from specledger.wings.trajectories.model import Call, Message, Result, Speaker
from specledger.wings.trajectories.rules.compile import compile_policy
from tools.airline import read_lines
from tools.airline_table import POLICY, counts, text

ROOT = Path(__file__).resolve().parents[3]
WRITES = {
    "book_reservation": 9,
    "cancel_reservation": 13,
    "send_certificate": 3,
    "update_reservation_baggages": 6,
    "update_reservation_flights": 21,
    "update_reservation_passengers": 3,
}


def test_the_page_shows_the_table():
    assert text(counts()) in (ROOT / "docs/corpus.md").read_text(encoding="utf-8")


def test_every_unjudged_opportunity_is_of_a_record_that_was_never_read():
    reasons = {reason for count in counts().values() for reason in count.reasons}
    assert reasons
    assert all(reason.startswith("the record was never read") for reason in reasons)


def test_the_kept_calls_are_the_gold_writes():
    chats = [json.loads(line)["messages"] for line in read_lines()]
    tools = Counter(call["function"]["name"] for chat in chats for m in chat for call in m.get("tool_calls") or ())
    assert len(chats) == 43
    assert {tool: tools[tool] for tool in WRITES} == WRITES
    assert not [m for chat in chats for m in chat if m["role"] == "tool" and m["content"].startswith("Error")]


def test_half_of_the_changes_come_after_their_record_was_read():
    changes = []
    for line in read_lines():
        read = set()
        for message in json.loads(line)["messages"]:
            for call in message.get("tool_calls") or ():
                name, id_ = call["function"]["name"], json.loads(call["function"]["arguments"]).get("reservation_id")
                if name == "get_reservation_details":
                    read.add(id_)
                elif id_ is not None:
                    changes.append(id_ in read)
    page = (ROOT / "docs/corpus.md").read_text(encoding="utf-8")
    assert f"of {len(changes)} changes of a reservation, {sum(changes)} come after its record was read" in page


RECORD = {"reservation_id": "X", "user_id": "ann", "cabin": "economy", "insurance": "no", "total_baggages": 2}
RECORD |= {"created_at": "2024-05-02T03:10:19", "flights": [{"flight_number": "HAT1"}]}


def judged(rule, call, record=None, tool="get_reservation_details"):
    bundle, *_ = load(str(POLICY), KINDS)
    session = compile_policy(bundle.main, Diagnostics()).begin()
    session.hear(Message(Speaker.USER, "I am ann."))
    if record is not None:
        session.hear(Call("0", tool, {"reservation_id": "X", "user_id": "ann"}))
        session.hear(Result("0", json.dumps(record)))
    outcomes = session.hear(Call("1", *call))
    return next((outcome.status.value for outcome in outcomes if outcome.rule == rule), None)


CANCEL = ("cancel_reservation", {"reservation_id": "X"})
BAGS = ("update_reservation_baggages", {"reservation_id": "X", "total_baggages": 1, "payment_id": "certificate_1"})
MOVE = (
    "update_reservation_flights",
    {"reservation_id": "X", "flights": [{"flight_number": "HAT2"}], "payment_id": "g"},
)
PEOPLE = [{"first_name": "A"}] * 6
BOOK = ("book_reservation", {"user_id": "eve", "cabin": "basic_economy", "passengers": PEOPLE, "total_baggages": 1, "nonfree_baggages": 0, "payment_methods": [{"payment_id": "g1"}]})  # fmt: skip
USER = {"user_id": "eve", "membership": "regular", "payment_methods": {"g2": {"id": "g2"}}}


@pytest.mark.parametrize(
    ("rule", "call", "record", "status"),
    [
        ("cancel-if-allowed", CANCEL, RECORD | {"insurance": "yes"}, "held"),
        ("cancel-if-allowed", CANCEL, RECORD | {"cabin": "business"}, "held"),
        ("cancel-if-allowed", CANCEL, RECORD | {"created_at": "2024-05-14T15:00:00"}, "held"),
        ("cancel-if-allowed", CANCEL, RECORD | {"created_at": "2024-05-14T14:59:59"}, "unjudged"),
        ("cancel-if-allowed", CANCEL, None, "unjudged"),
        ("bags-are-only-added", BAGS, RECORD, "broken"),
        ("bags-are-only-added", BAGS, RECORD | {"total_baggages": 1}, "held"),
        ("no-certificate-for-updates", BAGS, None, "broken"),
        ("basic-economy-keeps-its-flights", MOVE, RECORD | {"cabin": "basic_economy"}, "broken"),
        ("basic-economy-keeps-its-flights", MOVE, RECORD, None),
        ("at-most-five-passengers", BOOK, None, "broken"),
        ("the-user-gave-the-id", BOOK, None, "broken"),
        ("regular-members-pay-bags", BOOK, None, "unjudged"),
    ],
)
def test_rules_can_be_broken(rule, call, record, status):
    assert judged(rule, call, record) == status


@pytest.mark.parametrize(
    ("rule", "status"), [("regular-members-pay-bags", "broken"), ("payment-of-the-profile", "broken")]
)
def test_rules_on_the_profile_can_be_broken(rule, status):
    bundle, *_ = load(str(POLICY), KINDS)
    session = compile_policy(bundle.main, Diagnostics()).begin()
    session.hear(Call("0", "get_user_details", {"user_id": "eve"}))
    session.hear(Result("0", json.dumps(USER)))
    outcomes = {outcome.rule: outcome.status.value for outcome in session.hear(Call("1", *BOOK))}
    assert outcomes[rule] == status
