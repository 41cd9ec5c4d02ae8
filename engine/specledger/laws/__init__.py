"""Universes, templates and laws of ring automata: checks, cases, proofs and verdicts.

Source: law proposer, sections 5, 6 and 13.
"""
