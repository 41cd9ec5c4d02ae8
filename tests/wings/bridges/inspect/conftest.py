"""Inspect AI leaves streams to the garbage collector, which warns of them whenever it comes to them."""

import gc
import warnings


def pytest_configure(config):
    """Let it: nothing of ours opens these streams."""
    config.addinivalue_line("filterwarnings", "ignore:Unclosed <MemoryObject:ResourceWarning")


def pytest_unconfigure():
    """What is left of them is collected before pytest looks for warnings a last time."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        while gc.collect():
            pass
