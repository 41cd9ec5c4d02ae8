"""The verification of evidence: numbered checks with stable codes, first of the files alone, then by replay.

`receipts` and what it imports need only `core` and `evidence`, no engine.
"""
