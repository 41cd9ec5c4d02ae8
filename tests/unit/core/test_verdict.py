"""Only checks that passed make a pass."""

from itertools import permutations

import pytest

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


def test_exit_codes_are_those_of_the_design():
    assert {verdict.value: int(exit_code(verdict)) for verdict in Verdict} == {
        "PASS": 0,
        "FAIL": 1,
        "INCONCLUSIVE": 3,
        "ERROR": 4,
    }
    assert (Exit.INVALID, Exit.INTERRUPTED, Exit.TERMINATED) == (2, 130, 143)
