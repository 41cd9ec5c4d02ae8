"""Challenges of recorded decisions: a model is asked which call it makes where a recording made one, and why.

It uses the wings `kernel`, whose probes it makes, and `trajectories`, whose recordings they are about.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Final

from specledger.core.wing import Wing

if TYPE_CHECKING:
    from specledger.compile.extension import RecordedDecisions


def _recorded_decisions() -> RecordedDecisions:
    from specledger.wings.challenges.compile import RECORDED_DECISIONS

    return RECORDED_DECISIONS


def _prompts() -> Mapping[str, Callable[..., object]]:
    from specledger.wings.challenges.wording import check_call_prompt

    return {"calls": check_call_prompt}


WING: Final = Wing("challenges", prompts=_prompts, recorded_decisions=_recorded_decisions)
