"""What reports show of probes."""
