"""The first sentences of a discovery's page."""

import pytest

from specledger.wings.discovery.finding import discovery_finding


@pytest.mark.parametrize(
    ("laws", "expected", "sentences"),
    [
        ({}, [], []),
        ({"PROVED": 0, "FAIL": 0}, [False], ["0 of 1 expected law found."]),
        (
            {"FAIL": 14, "PASS": 1, "PROVED": 17, "UNKNOWN": 4},
            [True, True, False],
            [
                "36 laws tried: 17 proved for all rings, 1 without a counterexample in the cases that were tried, "
                "14 refuted by a ring, 4 not decided.",
                "2 of 3 expected laws found.",
            ],
        ),
        ({"ERROR": 1}, [], ["1 law tried: 1 with an error."]),
    ],
)
def test_what_became_of_the_laws_is_said_first(laws, expected, sentences):
    assert discovery_finding(laws, expected) == sentences
