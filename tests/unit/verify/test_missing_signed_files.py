"""A signed bundle holds all files of a seal, or none: whichever is missing is named before anything is read."""

from itertools import combinations
from pathlib import Path

import pytest

from specledger.verify.checks import Broken
from specledger.verify.signed import SIGNED, check_seals

PARTS = [part for size in (1, 2) for part in combinations(SIGNED, size)]


@pytest.mark.parametrize("covers", PARTS)
def test_a_file_of_a_seal_that_is_missing_is_named(covers):
    missing = next(name for name in SIGNED if name not in covers)
    with pytest.raises(Broken, match=f"{missing} is missing: a signed bundle holds checkpoint, attestation"):
        check_seals(Path("nowhere"), {}, covers)


def test_a_bundle_that_is_not_sealed_has_nothing_to_read():
    seals = check_seals(Path("nowhere"), {}, ())
    assert (seals.time, seals.note) == (None, None)
