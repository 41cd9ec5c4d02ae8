"""Suites: figures over the receipts of many runs, with intervals, and the checks on them."""
