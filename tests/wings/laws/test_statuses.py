"""What a law may expect is what a verdict says, but for an error."""

from typing import get_args

from specledger.wings.laws.receipts import LawStatus
from specledger.wings.laws.spec.law import Expectation


def test_the_statuses_of_an_expectation_are_those_of_verdicts():
    expected = get_args(Expectation.model_fields["status"].annotation)
    assert list(expected) == [status for status in LawStatus if status is not LawStatus.ERROR]
