"""Mutants of rules and of logs: whether a change of either changes what the rules say."""
