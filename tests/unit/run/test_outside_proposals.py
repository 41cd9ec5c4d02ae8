"""What of an answer has the form of a proposal."""

import pytest

from specledger.core.canonical import MAX_INTEGER
from specledger.expr import INT, STRING
from specledger.run.outside_proposals import _is_proposal

GO = {"action": {"op": "go"}, "score": 1, "why": "near", "cost": 2}

FORMS = {
    "all that is declared": (GO, True),
    "with arguments": ({**GO, "action": {"op": "go", "n": [1]}}, True),
    "no object": ([GO], False),
    "a claim less": ({key: GO[key] for key in ("action", "score", "why")}, False),
    "a claim more": ({**GO, "more": 1}, False),
    "no score": ({key: GO[key] for key in ("action", "why", "cost")}, False),
    "an action that is a text": ({**GO, "action": "go"}, False),
    "an action without an operation": ({**GO, "action": {"n": 1}}, False),
    "an operation that is a number": ({**GO, "action": {"op": 1}}, False),
    "the operation of nothing": ({**GO, "action": {"op": ""}}, False),
    "a score that is a text": ({**GO, "score": "1"}, False),
    "a score that is a truth": ({**GO, "score": True}, False),
    "a score beyond all": ({**GO, "score": MAX_INTEGER + 1}, False),
    "a decimal": ({**GO, "score": 0.5}, False),
    "the first claim of another type": ({**GO, "why": 1}, False),
    "the second claim of another type": ({**GO, "cost": "2"}, False),
    "half a character in an argument": ({**GO, "action": {"op": "go", "n": "\ud800"}}, False),
}


@pytest.mark.parametrize(("given", "expected"), FORMS.values(), ids=FORMS)
def test_what_has_the_form_of_a_proposal(given, expected):
    assert _is_proposal(given, {"why": STRING, "cost": INT}) == expected
