"""Probes: offers to break a rule, and challenges of stated reasons, made on clones; nothing changes the run."""
