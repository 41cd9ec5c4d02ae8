"""Checks of evidence: numbered, each with a stable code; the chain alone first, then replay from the resolved specs.

Everything below `verify.receipts` needs only `core`, `evidence` and the commitment rules, no engine. Decides what is
checked and in which order. Refuses to believe anything that it can recompute.
"""
