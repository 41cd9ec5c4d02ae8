"""Growth is measured by commands that work, and its exponent is that of the work without the start of the process."""

import pytest

from bench.growth import AXES, exponent, spent


@pytest.mark.parametrize("start", [0.0, 1.3])
@pytest.mark.parametrize("power", [1, 1.5, 2])
def test_the_exponent_does_not_count_the_start(power, start):
    assert exponent([start + 0.1 * n**power for n in (0, 30, 60, 120)], 2) == pytest.approx(power)


def test_times_that_are_mostly_start_have_no_exponent():
    assert exponent([1.0, 1.1, 1.2, 1.4], 2) is None


@pytest.mark.slow
@pytest.mark.parametrize("axis", AXES, ids=lambda axis: axis.name)
def test_every_axis_measures_a_command_that_works(axis, tmp_path):
    if axis.before is not None:
        spent(axis.before(tmp_path, 4))
    seconds, megabytes = spent(axis.command(tmp_path, 8))
    assert seconds > 0
    assert megabytes > 0
