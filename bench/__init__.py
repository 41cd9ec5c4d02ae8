"""Benchmarks: the engine next to peers that do the same work, measured in one run and reported as ratios; no time is asserted."""
