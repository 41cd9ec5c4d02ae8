"""Only checks that passed make a pass."""

from itertools import permutations

import pytest

from specledger.core.events import Event
from specledger.core.verdict import Exit, Verdict, combine, exit_code

P, F, I, E = Verdict.PASS, Verdict.FAIL, Verdict.INCONCLUSIVE, Verdict.ERROR  # noqa: E741

WHOLES = {
    "nothing checked": ([], I),
    "one pass": ([P], P),
    "all pass": ([P, P], P),
    "one fails": ([P, F, P], F),
    "one is open": ([P, I], I),
    "a failure outweighs an open one": ([I, F], F),
    "an error is no refutation": ([F, E], E),
    "an error outweighs all": ([P, I, F, E], E),
}


@pytest.mark.parametrize(("parts", "whole"), WHOLES.values(), ids=WHOLES)
def test_combine(parts, whole):
    assert {combine(order) for order in permutations(parts)} == {whole}
    assert combine(iter(parts)) is whole


def test_combining_in_groups_changes_nothing():
    for a in Verdict:
        for b in Verdict:
            for c in Verdict:
                assert combine([combine([a, b]), c]) is combine([a, b, c])


def test_exit_codes_are_those_of_the_design():
    assert {verdict.value: int(exit_code(verdict)) for verdict in Verdict} == {
        "PASS": 0,
        "FAIL": 1,
        "INCONCLUSIVE": 3,
        "ERROR": 4,
    }
    assert (Exit.INVALID, Exit.INTERRUPTED, Exit.TERMINATED) == (2, 130, 143)


def test_an_event_is_frozen():
    event = Event("step", {"t": 1})
    with pytest.raises(AttributeError):
        event.type = "other"  # type: ignore[misc]
    assert event == Event("step", {"t": 1}) != Event("step", {"t": 2})
