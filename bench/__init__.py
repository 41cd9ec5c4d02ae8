"""Benchmarks: the engine next to peers that do the same work, measured in one run and told as ratios.

Decides what is measured beside what, and says what a figure does not show. Refuses to assert a time.
"""
