"""Of known laws that another law resembles equally, the one that was learned first is told."""

import pytest

from specledger.wings.discovery.redundancy import NEAR, RedundancyDetector

NEW = "count('>') + count('X')"
EQUAL = ["count('>')", "count('X')"]


@pytest.fixture
def laws(conserved):
    """A law, and two that have equally much in common with it."""
    return conserved(NEW), *(conserved(expr, law_id=f"law-{place}") for place, expr in enumerate(EQUAL))


@pytest.mark.parametrize("swapped", [False, True])
def test_the_first_of_equally_near_laws_is_told(laws, swapped):
    new, *known = laws
    detector = RedundancyDetector()
    for law in (first := known[::-1] if swapped else known):
        detector.add_known_law(law)
    match = detector.nearest(new)
    assert match is not None
    assert (match.match_type, match.matched_law_id) == (NEAR, first[0].document["law_id"])


def test_a_known_law_comes_before_an_equally_near_one_of_the_batch(laws):
    new, first, second = laws
    detector = RedundancyDetector()
    detector.add_known_law(second)
    nearest = detector.filter_batch([first, new]).nearest
    assert nearest[1] is not None
    assert nearest[1].matched_law_id == second.document["law_id"]
