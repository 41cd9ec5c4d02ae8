"""What a document may say of a severity and of an ending is what receipts say."""

from typing import get_args

from specledger.core.events import Ended, Severity
from specledger.spec import scenario
from specledger.spec.invariant import Invariant


def words(model, field):
    """The words of a field that is a `Literal`, perhaps with None."""
    annotation = model.model_fields[field].annotation
    found = [argument for argument in get_args(annotation) if isinstance(argument, str)]
    return found or [word for part in get_args(annotation) for word in get_args(part)]


def test_severities():
    assert words(Invariant, "severity") == [*Severity]


def test_endings():
    assert words(scenario.Expectation, "ended") == [*Ended]
