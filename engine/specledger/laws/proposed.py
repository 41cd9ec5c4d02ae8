"""Proposed tests: the families of cases that a law asks for.

Decides which parameters of a test mean something. Refuses to know how cases are made.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from specledger.laws.law import Test
from specledger.laws.universe import Universe

MAX_CASES: Final = 10_000
"""Cases of one test."""

MAX_LENGTHS: Final = 64
"""Lengths that one test names."""


def read_test(family: str, given: Mapping[str, Any], beyond: str | None, universe: Universe) -> Test | str:
    """A test, or what is wrong with it.

    Args:
        family: A family of the universe.
        given: Its parameters as they were written.
        beyond: The parameter with which the family makes starts with symbols that starts leave out, if it has one.
        universe: What the law is about.
    """
    params = dict(given)
    cases, lengths = params.pop("cases", None), params.pop("lengths", [])
    wide = params.pop(beyond, False) if beyond is not None else False
    if params:
        return f"the test has no parameter {sorted(params)[0]!r}"
    ring = range(universe.shortest, universe.longest + 1)
    sound = isinstance(lengths, list) and len(lengths) <= MAX_LENGTHS and isinstance(wide, bool)
    if not sound or not (cases is None or _is_count(cases)):
        return "the test has a parameter with such a value"
    if not all(_is_count(each) and each in ring for each in lengths):
        return "the test has a parameter with such a value"
    return Test(family, cases, tuple(lengths), wide)


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= MAX_CASES
