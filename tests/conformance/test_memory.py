"""The worst inputs of commands: none takes more memory than is promised, and none passes for what it does not hold."""

import pytest

from bench.peak import spent
from bench.worst_inputs import MOST_MEMORY, WORST, words_of

_STATUSES = {"verify of what is forged": (1, 2, 3), **dict.fromkeys(("check", "verify", "report", "diff"), (0,))}

pytestmark = [pytest.mark.slow, pytest.mark.wing("trajectories")]


@pytest.mark.parametrize("name", WORST)
def test_a_command_holds_no_more_than_is_promised(tmp_path, name):
    took = spent(words_of(name, tmp_path), room=8 * MOST_MEMORY)  # a machine that runs out of it ends others
    assert took.memory < MOST_MEMORY
    assert took.status in _STATUSES.get(name.partition(":")[0], (1, 3))
