"""The command line: arguments, environment, exit codes, and printing.

Each command imports what it needs when it runs, so that commands start quickly.
"""
