"""Waiting for what another process does."""

import time

import pytest


def wait(ready):
    """Look until something is so; a test in which it never is fails after two minutes."""
    for _ in range(12_000):
        if ready():
            return
        time.sleep(0.01)
    pytest.fail("it takes for ever")
