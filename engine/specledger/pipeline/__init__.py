"""The only module that knows the order of the stages: load, compile, run, seal, verify, pin.

Doors call these functions and show what they return; nothing here prints, and nothing here knows arguments or exit
codes.
"""

import specledger.laws.candidate  # noqa: F401 - programs read laws by it; its code has a page like every other
from specledger.pipeline.authoring import describe, kinds_with_start, write_new
from specledger.pipeline.discovery import DiscoveryOptions
from specledger.pipeline.golden import NOT_PINNED, Pin, pin, pin_matches
from specledger.pipeline.live import SIMULATED, RunOptions
from specledger.pipeline.preview import preview
from specledger.pipeline.runners import RUNNERS, Finished, Incident
from specledger.pipeline.stages import (
    CheckedSpec,
    case_name,
    check,
    demo_case,
    execute,
    load_cases,
    load_runs,
    place_cases,
    seal_evidence,
    verify,
)

__all__ = [
    "NOT_PINNED",
    "RUNNERS",
    "SIMULATED",
    "CheckedSpec",
    "DiscoveryOptions",
    "Finished",
    "Incident",
    "Pin",
    "RunOptions",
    "case_name",
    "check",
    "demo_case",
    "describe",
    "execute",
    "kinds_with_start",
    "load_cases",
    "load_runs",
    "pin",
    "pin_matches",
    "place_cases",
    "preview",
    "seal_evidence",
    "verify",
    "write_new",
]
