"""Which variables a procedure reads, by paths and names; when an offer is seen in a document."""

from types import SimpleNamespace
from typing import Any

import pytest

from specledger.wings.kernel.probes.json_patch import NotApplicable
from specledger.wings.kernel.probes.planned_offer import PlannedOffer
from specledger.wings.kernel.read_dependencies import _named, _sources, touch


@pytest.mark.parametrize(
    ("path", "other", "touches"),
    [
        (("a",), ("a",), True),
        (("a",), ("a", "b"), True),
        (("a", "b"), ("a",), True),
        (("a", "b"), ("a", "c"), False),
        (("a",), ("b",), False),
        ((), ("a",), True),
    ],
)
def test_a_path_touches_what_it_leads_to(path, other, touches):
    assert touch(path, other) is touches


@pytest.mark.parametrize(
    ("name", "entry", "named"),
    [
        ("paid", ("paid", "", ""), True),
        ("paid.x", ("paid", "", ""), False),
        ("cells[3].wet", ("cells[", "i", "].wet"), True),
        ("cells[].wet", ("cells[", "i", "].wet"), False),
        ("cells[3].dry", ("cells[", "i", "].wet"), False),
        ("rows[3].wet", ("cells[", "i", "].wet"), False),
    ],
)
def test_a_name_is_of_an_entry_of_the_namespace(name, entry, named):
    assert _named(name, entry) is named


def test_what_changes_a_predicted_path_is_read_with_its_condition():
    effects: Any = [
        SimpleNamespace(target=("a", "b"), values=["1"], when="2"),
        SimpleNamespace(target=("a",), values=["3", "4"], when=None),
        SimpleNamespace(target=("b",), values=["5"], when="6"),
    ]

    def read(*predicted) -> list[Any]:
        return [*_sources(effects, set(predicted))]

    assert read(("a", "b")) == ["1", "2", "3", "4"]
    assert read(("c",), ("b",)) == ["5", "6"]
    assert read() == []


def offer(*, edit=None, call=None, patch=None):
    spec: Any = SimpleNamespace(edit=edit, call=call, text="Take it.")
    made: Any = patch or (lambda state, document: {**document, "x": 1})
    return PlannedOffer(spec, lambda state: state, made, {"pays": ["p"], "edit": ["e"]})


def test_an_edit_is_seen_in_what_it_no_longer_changes():
    edit = offer(edit=["e"])
    assert edit.is_seen_in({}, {"x": 1})
    assert not edit.is_seen_in({}, {"x": 2})
    assert not offer().is_seen_in({}, {"x": 1})


def test_an_edit_that_does_not_apply_is_not_seen():
    def refuse(state, document):
        raise NotApplicable("there is no such place")

    assert not offer(edit=["e"], patch=refuse).is_seen_in({}, {})


def test_what_an_agent_from_outside_is_told_of_an_offer():
    told = {"text": "Take it.", "promises": ["p"]}
    assert offer(edit=["e"]).message(None) == {**told, "does": "edit", "edit": ["e"]}
    call: Any = SimpleNamespace(action="other")
    assert offer(call=call).message({"t": 1}) == {
        **told,
        "does": "call",
        "call": {"token": {"t": 1}, "action": "other"},
    }
