"""The only module that knows the order of the stages: load, compile, run, seal, verify, pin.

Doors call these functions and show what they return; nothing here prints, and nothing here knows arguments or exit
codes.
"""

from engine.pipeline.golden import Pin, pin, pin_matches
from engine.pipeline.stages import (
    CheckedSpec,
    Finished,
    Incident,
    case_name,
    check,
    demo_case,
    execute,
    load_cases,
    load_scenarios,
    place_cases,
    verify,
)

__all__ = [
    "CheckedSpec",
    "Finished",
    "Incident",
    "Pin",
    "case_name",
    "check",
    "demo_case",
    "execute",
    "load_cases",
    "load_scenarios",
    "pin",
    "pin_matches",
    "place_cases",
    "verify",
]
