"""The audit log of the decisions of kernels."""
