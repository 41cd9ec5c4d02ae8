"""What a datum may say: the pydantic models of every kind, and `KINDS`, the one table of them.

Decides shapes, defaults and simple bounds. Refuses to know files, names in scope, or what any expression means.
"""
