"""A log that cannot be written says why, in the words of the system."""

from types import SimpleNamespace
from typing import Any

import pytest

from specledger.core.diagnostics import Rejected
from specledger.wings.kernel.audit.log import AuditLog

PLACE: Any = SimpleNamespace(path="log")


def test_a_full_disk_is_told_in_the_words_of_the_system():
    with pytest.raises(Rejected) as rejected, AuditLog._writing(PLACE):
        raise OSError(28, "No space left on device")
    assert "No space left on device" in str(rejected.value.diagnostics[0].message)
