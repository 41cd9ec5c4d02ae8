"""Writers of evidence end at any operation, on a disk that loses what was not synced."""

import pytest

from tests import crash_processes, crashes
from tests.crash_pipelines import PIPELINES
from tests.crash_processes import CONTESTS
from tests.crash_writers import WRITERS
from tests.planted_faults import FAULTS
from tests.planted_races import RACES

FEW, MANY = 12, 720
MORE = {"audit log": 6800, "audit log of a simulated run": 6800, "guard log": 6800, "cassette": 6800, "run log": 3500}
"""Schedules of the writers whose crashes take under two milliseconds."""
RARE = "an earlier bundle is removed before it is out of the way"


@pytest.mark.medium
@pytest.mark.parametrize("name", WRITERS)
def test_nothing_that_was_acknowledged_is_lost_and_nothing_half_written_counts(name, tmp_path):
    crashes.explore(name, range(5 * FEW if name in MORE else FEW), tmp_path / "root")


@pytest.mark.slow
@pytest.mark.parametrize("name", WRITERS)
def test_nothing_is_lost_in_100_000_crashes(name, tmp_path):
    schedules = MORE.get(name, MANY)
    assert crashes.explore(name, range(schedules), tmp_path / "root") > 2.8 * schedules


@pytest.mark.medium
@pytest.mark.parametrize("name", PIPELINES)
@pytest.mark.parametrize("schedules", [2, pytest.param(120, marks=pytest.mark.slow)])
def test_what_is_run_merged_or_sealed_is_whole_or_absent(name, schedules, tmp_path):
    crashes.explore(name, range(schedules), tmp_path / "root")


@pytest.mark.medium
@pytest.mark.parametrize("name", CONTESTS)
@pytest.mark.parametrize("schedules", [3, pytest.param(400, marks=pytest.mark.slow)])
def test_processes_that_write_at_once_lose_nothing(name, schedules, tmp_path):
    crash_processes.explore(name, range(schedules), tmp_path / "root")


@pytest.mark.parametrize("planted", RACES)
def test_a_planted_race_is_noticed(planted, tmp_path):
    name, _ = RACES[planted]
    seed = crash_processes.find(name, planted, range(200), tmp_path / "root")
    assert seed is not None
    assert crash_processes.find(name, planted, [seed], tmp_path / "root") == seed


@pytest.mark.parametrize(
    "planted", [pytest.param(name, marks=[pytest.mark.slow] if name == RARE else []) for name in FAULTS]
)
def test_a_planted_fault_is_noticed(planted, tmp_path):
    name, _ = FAULTS[planted]
    assert crashes.find(name, planted, range(800), tmp_path / "root") is not None


def test_a_schedule_is_the_same_each_time(tmp_path):
    name, planted = "audit log", "an entry is not synced"
    seeds = [crashes.find(name, planted, range(400), tmp_path / "root") for _ in range(2)]
    assert seeds[0] == seeds[1]
    with pytest.raises(AssertionError, match=f"again: python -m tests.crashes '{name}' {seeds[0]} '{planted}'"):
        crashes.explore(name, [seeds[0]], tmp_path / "root", planted)
