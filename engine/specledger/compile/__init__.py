"""Compiles a bundle of resolved specs to a plan: data and functions, nothing that executes in the loop."""
