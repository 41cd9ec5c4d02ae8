"""Property tests draw the same examples on every machine, at whatever speed it has."""

from hypothesis import settings

settings.register_profile("deterministic", derandomize=True, deadline=None, database=None, max_examples=100)
settings.load_profile("deterministic")
