"""Verification of the evidence of laws: verdicts, certificates, counterexamples."""
