"""Bundles with exactly one fault: what a verifier of evidence is tested by."""
