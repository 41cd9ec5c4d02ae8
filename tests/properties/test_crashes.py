"""Writers of evidence end at any operation, on a disk that loses what was not synced."""

import pytest

from tests import crashes
from tests.crash_writers import WRITERS
from tests.planted_faults import FAULTS

FEW = {name: 12 if "bundle" in name or name == "seal" else 60 for name in WRITERS}
MANY = {name: 900 if "bundle" in name or name == "seal" else 5500 for name in WRITERS}


@pytest.mark.parametrize("name", WRITERS)
def test_nothing_that_was_acknowledged_is_lost_and_nothing_half_written_counts(name, tmp_path):
    crashes.explore(name, range(FEW[name]), tmp_path / "root")


@pytest.mark.slow
@pytest.mark.parametrize("name", WRITERS)
def test_nothing_is_lost_in_100_000_crashes(name, tmp_path):
    assert crashes.explore(name, range(FEW[name], MANY[name]), tmp_path / "root") > MANY[name]


@pytest.mark.parametrize("planted", FAULTS)
def test_a_planted_fault_is_noticed(planted, tmp_path):
    name, _ = FAULTS[planted]
    assert crashes.find(name, planted, range(400), tmp_path / "root") is not None


def test_a_schedule_is_the_same_each_time(tmp_path):
    name, planted = "audit log", "an entry is not synced"
    seeds = [crashes.find(name, planted, range(400), tmp_path / "root") for _ in range(2)]
    assert seeds[0] == seeds[1]
    with pytest.raises(AssertionError, match=f"again: python -m tests.crashes '{name}' {seeds[0]} '{planted}'"):
        crashes.explore(name, [seeds[0]], tmp_path / "root", planted)
