"""Statements around expressions: declarations of types and constants, `let`, and simultaneous effects.

Decides how a spec's small statements become checked plans and then lines of generated Python. Refuses to know which
kind of spec they stand in.
"""
