"""What verification of a run under a kernel adds: receipts of probes, verdicts of the second evaluator."""
