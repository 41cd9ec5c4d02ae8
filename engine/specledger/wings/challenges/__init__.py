"""Challenges of calls of a recording: a model is asked which call it makes where one was recorded, and why.

It uses the wings `kernel`, whose probes it makes, and `trajectories`, whose recordings they are about.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Final

from specledger.core.wing import Wing

if TYPE_CHECKING:
    from specledger.compile.extension import CallProbes


def _call_probes() -> CallProbes:
    from specledger.wings.challenges.compile import CALL_PROBES

    return CALL_PROBES


def _prompts() -> Mapping[str, Callable[..., object]]:
    from specledger.wings.challenges.wording import check_call_prompt

    return {"calls": check_call_prompt}


WING: Final = Wing("challenges", prompts=_prompts, call_probes=_call_probes)
