"""Agents: memory, proposals, scores and claims, computed from observations alone."""
