"""Reasons: how an agent states them, and how claims about them are derived and read."""
