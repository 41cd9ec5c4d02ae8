"""The models of the kinds `probe` and `vocabulary`."""
