"""The only module that knows the order of the stages: load, compile, run, seal, verify, pin.

Doors call these functions and show what they return; nothing here prints, and nothing here knows arguments or exit
codes.
"""

from engine.pipeline.golden import Pin, pin, pin_matches
from engine.pipeline.stages import CheckedSpec, Finished, check, compile_case, demo_case, execute, load_cases, verify

__all__ = [
    "CheckedSpec",
    "Finished",
    "Pin",
    "check",
    "compile_case",
    "demo_case",
    "execute",
    "load_cases",
    "pin",
    "pin_matches",
    "verify",
]
