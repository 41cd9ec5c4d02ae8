"""The door of the command line: arguments, environment, exit codes, and how findings and results are shown.

Decides nothing about specs. Everything is imported when a command needs it, so that `--help` and `--version` are quick.
"""
