"""Suites: what is measured over the receipts of many runs, with which certainty, and what the figures must satisfy.

Decides how receipts become episodes that expressions read, how their values become figures with intervals, and what a
check and a mutant amount to. Refuses to know how runs are made and how receipts are kept: it is given their bodies.
"""
