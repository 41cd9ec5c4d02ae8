"""The stages in order: load, check, compile, run, seal, verify, pin.

The command line calls these modules and prints what they return. Nothing here prints or knows about arguments or exit
codes.
"""
