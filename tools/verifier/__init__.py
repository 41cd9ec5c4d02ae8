"""The sources of `tools/verify.py`, which `python -m tools.verifier.build` joins into one file."""
