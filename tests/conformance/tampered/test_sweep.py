"""A flipped bit anywhere in a small signed bundle is refused, and nothing crashes."""

import pytest

from tests.conformance.tampered.sweep import VERIFIERS, bundle, sweep

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("helped", [True, False], ids=["with help for people", "without"])
def test_no_flipped_bit_is_accepted(tmp_path, helped):
    """A sample; `python -m tests.conformance.tampered.sweep` takes every byte."""
    laid = bundle(tmp_path, helped)
    assert [verify(laid).exit for verify in VERIFIERS.values()] == [0, 0]
    flips, counts = sweep(laid, stride=97, first=41)
    assert flips > 80
    assert counts["engine"] == {"refused": flips}
    assert counts["tool"].keys() == {"refused"}
