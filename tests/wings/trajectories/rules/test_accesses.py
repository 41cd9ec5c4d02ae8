"""Which arguments a path of a rule reads, and to which it may lead."""

import pytest

from specledger.wings.trajectories.rules.accesses import Access, reaches
from specledger.wings.trajectories.rules.paths import ANY, LEAVES

READ_AND_REACHED = {
    "the argument itself": (("to",), ("to",), True, True),
    "another argument": (("to",), ("cc",), False, False),
    "what the argument stands in": (("memo",), ("memo", "a"), True, True),
    "what stands in the argument": (("memo", "a"), ("memo",), False, True),
    "another part of it": (("memo", "a"), ("memo", "b"), False, False),
    "any element": (("to", ANY), ("to", ANY), True, True),
    "one element of a list": (("to", 0), ("to", ANY), True, True),
    "a key in place of an element": (("to", "a"), ("to", ANY), False, False),
    "every text": ((LEAVES,), ("memo", "a"), True, True),
    "every text in the argument": (("memo", LEAVES), ("memo",), True, True),
    "every text in another one": (("memo", LEAVES), ("to",), False, False),
    "all arguments": ((), ("to",), True, True),
}


@pytest.mark.parametrize("case", READ_AND_REACHED)
def test_a_path_reads_an_argument_at_it_or_above_it_and_reaches_it_from_below(case):
    steps, argument, read, reached = READ_AND_REACHED[case]
    access = Access("read", ("pay",), lambda name: True, {}, False, {steps: ()})
    assert access.reads(argument) is read
    assert reaches(steps, argument) is reached
